package product

import (
	"math"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// shape returns the shape of a variant's tile. Windows take registers for places in pictures, so fewer
// blocks of threads fit. Many convolutions have 64 channels: that many rows has the Compact tile. Its
// speed is not measured, and taken to be that of matrices.
func (v Variant) shape() tileShape {
	if !v.Windows {
		return shapes[v.DType][v.Tile]
	}
	return windowShape(v.DType, v.Tile)
}

func windowShape(d array.DType, t Tile) tileShape {
	s := shapes[d][t]
	switch {
	case d != array.Float32:
	case t == Compact:
		s = tileShape{m: 64, n: 128, depth: 8, threads: 128, rows: 8, cols: 8, beside: 8, sumsShared: true, abreast: 2, speed: s.speed}
	case t == Medium:
		s = tileShape{m: 64, n: 64, depth: 8, threads: 128, rows: 8, cols: 4, beside: 8, abreast: 3, speed: s.speed}
	case t == Thin:
		s.abreast = 2
	}
	return s
}

// A rule says where the elements of an operand are.
type rule uint8

const (
	strides rule = iota // a stride for places and one for terms
	digits              // a stride for places and one for each digit of a term
	pixels              // of pictures, by the digits of a place and of a term
)

// rules returns the rules of A and B.
func (w *writer) rules() (a, b rule) {
	if w.v.Digits {
		a = digits
	}
	if w.v.Windows {
		b = pixels
	}
	return a, b
}

// The rest of the argument block of Windows, in order:
//
//   - the first term of the first block of terms, and the number behind the last term of all
//   - divisors for the digits of a term of A, of a column, of a term of B
//   - the line and column of the pixel of column 0 and term 0, the height and width of a picture
//   - lines by the second digit and columns by the third, of a column and of a term
//   - byte strides by digit: of terms of A, of columns and terms of B, of columns of C
const (
	argFirst       = argBytes
	argTerms       = argFirst + 4
	argTermA       = argTerms + 4
	argColumn      = argTermA + axisBytes
	argTermB       = argColumn + axisBytes
	argOrigin      = argTermB + axisBytes
	argPicture     = argOrigin + 8
	argColumnStep  = argPicture + 8
	argTermStep    = argColumnStep + 8
	argTermStrideA = argTermStep + 8
	argColumnB     = argTermStrideA + 24
	argTermStrideB = argColumnB + 24
	argColumnC     = argTermStrideB + 24

	argWindowsBytes = argColumnC + 24
)

// A column is one of B that a thread reads: the address, line and column of its pixel for term 0.
type column struct{ at, y, x grid.Reg }

// startColumns finds the thread's columns of B, the first of them being number first.
func (w *writer) startColumns(s *side, first grid.Reg) {
	n := 1
	if s.stepPlace > 0 {
		n = s.count
	}
	base := w.pointer(s.operand)
	for i := range n {
		d := w.digits(w.Add(first, w.I32(int32(i*s.stepPlace))), argColumn)
		c := column{at: w.Add(base, w.offset(d, argColumnB)), y: w.step(d[1], argColumnStep), x: w.step(d[2], argColumnStep+4)}
		c.y, c.x = w.Add(c.y, w.Arg(loop.I32, argOrigin)), w.Add(c.x, w.Arg(loop.I32, argOrigin+4))
		// A column that does not exist lies above all pictures.
		c.y = w.Select(w.Lt(w.I32(int32(i*s.stepPlace)), s.placesLeft), c.y, w.I32(math.MinInt32))
		s.columns = append(s.columns, c)
	}
}

// step returns a digit times the number at a byte of the argument block.
func (w *writer) step(digit grid.Reg, at int) grid.Reg { return w.Mul(digit, w.Arg(loop.I32, at)) }

// locatePixels is locate for the windows of pictures.
func (w *writer) locatePixels(s *side, tile grid.Reg) func(i int) (at grid.Reg, exists func() grid.Reg) {
	var offset, y, x grid.Reg // of the term
	inside := func(at, step grid.Reg, size int) grid.Reg {
		return w.Do(loop.OpLtU, loop.B, 0, w.Add(at, step), w.Arg(loop.I32, size))
	}
	return func(i int) (grid.Reg, func() grid.Reg) {
		if i == 0 || s.stepTerm > 0 {
			d := w.termDigits(s, tile, i, argTermB)
			offset, y, x = w.offset(d, argTermStrideB), w.step(d[1], argTermStep), w.step(d[2], argTermStep+4)
		}
		c := s.columns[min(i, len(s.columns)-1)]
		return w.Add(c.at, offset), func() grid.Reg {
			return w.And(inside(c.y, y, argPicture), inside(c.x, x, argPicture+4))
		}
	}
}

// termDigits returns the digits of the term of the thread's read i in a tile.
func (w *writer) termDigits(s *side, tile grid.Reg, i, axis int) [3]grid.Reg {
	first := w.Add(w.firstTerm, w.Mul(tile, w.I32(int32(w.shape.depth))))
	return w.digits(w.Add(first, w.Add(s.term, w.I32(int32(i*s.stepTerm)))), axis)
}

// digits returns the three digits of a number, by the divisors at a byte of the argument block.
func (w *writer) digits(x grid.Reg, axis int) (d [3]grid.Reg) {
	x, d[2] = w.Divide(x, axis+grid.DivisorBytes)
	d[0], d[1] = w.Divide(x, axis)
	return d
}

// offset returns the bytes of digits by the strides at a byte of the argument block.
func (w *writer) offset(d [3]grid.Reg, at int) grid.Reg {
	sum := grid.NoReg
	for i, x := range d {
		part := w.Mul(w.Wide(x), w.Arg(loop.I64, at+8*i))
		if i > 0 {
			part = w.Add(sum, part)
		}
		sum = part
	}
	return sum
}

// addressesOfColumns is addresses for the columns of Windows.
func (w *writer) addressesOfColumns(row, col, strideRow grid.Reg) func(g group, j int) grid.Reg {
	start := w.Add(w.pointer(2), w.Mul(w.Wide(row), strideRow))
	known := map[int]grid.Reg{} // by column, from the first of the thread
	return func(g group, j int) grid.Reg {
		at, ok := known[g.col+j]
		if !ok {
			at = w.offset(w.digits(w.Add(col, w.I32(int32(g.col+j))), argColumn), argColumnC)
			known[g.col+j] = at
		}
		return w.Add(w.Add(start, at), w.Mul(strideRow, w.I64(int64(g.row))))
	}
}
