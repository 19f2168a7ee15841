package product

import (
	"math/bits"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// A way is how the threads of a block read a tile of an operand.
type way struct {
	lanes               int // elements that are read at a time
	across              int // threads along the contiguous elements
	reads               int // of all threads
	count               int // of one thread
	stepPlace, stepTerm int // from a read of a thread to its next one: one of them is 0
}

// way returns how a tile with a number of places is read.
func (l Layout) way(width int, t tileShape) way {
	s, depth, threads := way{lanes: 1}, t.depth, t.threads
	if l.Vector {
		s.lanes = lanes(l.Of)
	}
	s.reads = width * depth / s.lanes
	s.count = max(1, s.reads/threads)
	if l.AlongK {
		s.across = depth / s.lanes
		s.stepPlace = threads / s.across
	} else {
		s.across = width / s.lanes
		s.stepTerm = threads / s.across
	}
	return s
}

// A side is the way of A's or B's tiles through a thread's registers into shared memory, where an
// element lies at term*pitch + place; its place is the row of A or the column of B.
type side struct {
	Layout
	way
	operand int // 0 is A, 1 is B
	width   int // places of a tile
	depth   int // terms of a tile
	offset  int // bytes, in a buffer of shared memory
	rule    rule

	placesLeft grid.Reg   // I32: places of the operand from the thread's first on
	term       grid.Reg   // I32: of the thread's first element in a tile
	busy       grid.Reg   // B: the thread's elements belong to the tile; NoReg where the elements of all threads do
	at         grid.Reg   // I64: the address of its first element in the next tile
	to         grid.Reg   // I32: the place of its first element in shared memory, in the buffer written last
	from       grid.Reg   // I32: the place of the thread's first factor, in the buffer read last
	staged     []grid.Reg // elements on their way
	columns    []column   // of windows: those that the thread reads
}

// pitch is the distance of two terms in shared memory, in elements. Four more than the tile has
// places: lanes that read four terms of eight places, or write them, use different banks.
func (s *side) pitch() int { return pitch(s.width) }

func pitch(width int) int { return width + 4 }

// bytes returns the size of a tile in shared memory.
func (s *side) bytes(size int) int { return s.pitch() * s.depth * size }

// log2 returns the logarithm of a power of two.
func log2(n int) int32 { return int32(bits.TrailingZeros(uint(n))) }

// split returns the remainder and the quotient of an I32 and a power of two.
func (w *writer) split(x grid.Reg, n int) (rem, quo grid.Reg) {
	return w.And(x, w.I32(int32(n-1))), w.Do(loop.OpShrU, loop.I32, 0, x, w.I32(log2(n)))
}

// side prepares the reading of operand 0 or 1.
func (w *writer) side(operand int, l Layout, rule rule, width, offset int) side {
	s := side{Layout: l, way: l.way(width, w.shape), operand: operand, width: width, depth: w.shape.depth, offset: offset, rule: rule, busy: grid.NoReg}
	if s.reads < w.shape.threads {
		s.busy = w.Lt(w.thread, w.I32(int32(s.reads)))
	}
	x, y := w.split(w.thread, s.across)
	across := x
	x = w.Mul(x, w.I32(int32(s.lanes)))
	place := y
	if s.term = x; !l.AlongK {
		place, s.term = x, y
	} else if n := w.banks() / (4 * s.lanes); n < s.across {
		// Terms that are n reads apart are in the same banks, so they are of different places.
		_, far := w.split(across, n)
		place = w.Do(loop.OpXor, loop.I32, 0, y, w.Mul(far, w.I32(int32(w.banks()/s.across))))
	}
	first, size := w.m0, argM
	if operand == 1 {
		first, size = w.n0, argN
	}
	first = w.Add(first, place)
	s.placesLeft = w.Sub(w.Arg(loop.I32, size), first)
	w.start(&s, first)
	s.to = w.Copy(w.Mul(w.Add(w.Mul(s.term, w.I32(int32(s.pitch()))), place), w.I32(int32(w.size))))
	for range s.count * s.lanes {
		s.staged = append(s.staged, w.Var(w.t))
	}
	return s
}

// start sets the place of the thread's first element in memory; first is its row or column of C.
func (w *writer) start(s *side, first grid.Reg) {
	if s.rule == pixels {
		w.startColumns(s, first)
		return
	}
	stridePlace, strideTerm := w.Arg(loop.I64, argStrides+16*s.operand), w.Arg(loop.I64, argStrides+16*s.operand+8)
	if s.rule == digits {
		s.at = w.Add(w.pointer(s.operand), w.Mul(w.Wide(first), stridePlace))
		return
	}
	term := s.term
	if w.v.Windows {
		term = w.Add(term, w.firstTerm)
	}
	s.at = w.Copy(w.Add(w.pointer(s.operand), w.Add(w.Mul(w.Wide(first), stridePlace), w.Mul(w.Wide(term), strideTerm))))
}

// banks is the number of elements that shared memory moves at a time.
func (w *writer) banks() int { return 128 / w.size }

// termsFrom returns the number of terms from a tile's first one on, depth or more if the tile is full. A
// tile is counted from 0. Behind the last one it is 0.
func (w *writer) termsFrom(tile grid.Reg) grid.Reg {
	deep, depth := w.Arg(loop.I32, argDeep), w.I32(int32(w.shape.depth))
	if w.v.Windows {
		left := w.Sub(w.Sub(w.Arg(loop.I32, argTerms), w.firstTerm), w.Mul(tile, depth))
		return w.Select(w.Lt(tile, deep), left, w.I32(0))
	}
	last := w.Select(w.Lt(tile, deep), w.Arg(loop.I32, argLast), w.I32(0))
	return w.Select(w.Lt(w.Add(tile, w.I32(1)), deep), depth, last)
}

// fetch begins to read the tiles of a number, from 0, and moves on. It reads nothing behind the last
// tile.
func (w *writer) fetch(tile grid.Reg) {
	terms := w.termsFrom(tile)
	for _, s := range []*side{&w.a, &w.b} {
		locate := w.locate(s, tile)
		for i := range s.count {
			at, exists := locate(i)
			pred := w.And(w.inside(s, i, terms), exists())
			w.Ins(grid.Ins{Op: grid.Load, Space: grid.Global, Elem: elems[s.Of], A: at, Pred: pred, Regs: s.staged[i*s.lanes : (i+1)*s.lanes]})
		}
		if s.rule == strides {
			w.Update(s.at, loop.OpAdd, s.at, w.Arg(loop.I64, argNext+16*s.operand+8))
		}
	}
}

// locate returns what gives the address of the thread's read i of a tile, and whether its row or
// column exists. Reads are asked for in ascending order.
func (w *writer) locate(s *side, tile grid.Reg) func(i int) (at grid.Reg, exists func() grid.Reg) {
	if s.rule == pixels {
		return w.locatePixels(s, tile)
	}
	at := s.at
	return func(i int) (grid.Reg, func() grid.Reg) {
		switch {
		case s.rule == digits && (i == 0 || s.stepTerm > 0):
			at = w.Add(s.at, w.offset(w.termDigits(s, tile, i, argTermA), argTermStrideA))
		case i > 0:
			at = w.Add(at, w.Arg(loop.I64, argNext+16*s.operand))
		}
		return at, func() grid.Reg { return w.Lt(w.I32(int32(i*s.stepPlace)), s.placesLeft) }
	}
}

// inside returns whether read i of the thread is of a tile with a number of terms.
func (w *writer) inside(s *side, i int, terms grid.Reg) grid.Reg {
	return w.Lt(w.Add(s.term, w.I32(int32(i*s.stepTerm))), terms)
}

// put waits for the tiles of a number, and writes them to shared memory.
func (w *writer) put(tile grid.Reg) {
	terms := w.termsFrom(tile)
	for _, s := range []*side{&w.a, &w.b} {
		to := w.Wide(s.to)
		for i := range s.count {
			regs := s.staged[i*s.lanes : (i+1)*s.lanes]
			if s.operand == 0 {
				inside := w.inside(s, i, terms)
				for _, r := range regs {
					w.Set(r, w.Select(inside, r, w.minusZero()))
				}
			}
			at := s.offset + (i*s.stepTerm*s.pitch()+i*s.stepPlace)*w.size
			if !s.AlongK {
				w.Store(grid.Shared, w.elem(), to, at, s.busy, regs...)
				continue
			}
			for j, r := range regs {
				w.Store(grid.Shared, w.elem(), to, at+j*s.pitch()*w.size, s.busy, r)
			}
		}
	}
}

// elem is an element in shared memory and in C.
func (w *writer) elem() grid.Elem { return elems[w.v.DType] }

// zero and minusZero are constants of the sums' type.
func (w *writer) zero() grid.Reg { return w.Const(w.t, 0) }

func (w *writer) minusZero() grid.Reg {
	if w.v.DType == array.Float64 {
		return w.Const(w.t, 1<<63)
	}
	return w.Const(w.t, 1<<31)
}
