package moves

import (
	"fmt"
	"slices"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// tileVariant is a kernel whose blocks of threads turn a tile around in shared memory: they read along
// the rows' neighbours, and write along the columns' neighbours.
type tileVariant struct {
	unit int // bytes of an element
	pack int // elements that are read and written at a time
	axes int // of the box of tiles
}

func (v tileVariant) name() string { return fmt.Sprintf("transpose_%d_%d_%d", v.unit, v.pack, v.axes) }

// side returns the number of rows and columns of a tile. Threads have more small elements on their
// way than large ones.
func (v tileVariant) side() int {
	if v.unit*v.pack <= 2 {
		return 64
	}
	return grid.Warp * v.pack
}

// pitch returns the bytes from line to line in shared memory. They are an odd number of words, or of
// larger elements, so that the elements of a column lie in different banks.
func (v tileVariant) pitch() int { return v.side()*v.unit + max(4, v.unit) }

// The first row and column of a tile, which the box of tiles has beside the operands of Copy.
const (
	ofRow = copyOperands + iota
	ofColumn
	tileOperands
)

// The argument block of a tiled copy. Steps are in bytes.
const (
	tileTo         = 0 // addresses
	tileFrom       = 8
	tileRow        = 16 // the first row and column of the first tile
	tileColumn     = 24
	tileToRow      = 32 // steps from row to row
	tileFromRow    = 40
	tileToColumn   = 48 // steps from column to column
	tileFromColumn = 56
	tileRows       = 64 // sizes
	tileColumns    = 68
	tileBox        = 72
)

// tiled returns the launches of a transpose, one block for each element of the box of tiles.
func tiled(b box, size int, begin []int, row, column int) (list []grid.Launch) {
	v := tileVariant{unit: size, pack: packOf(b, size, begin, row, column)}
	side := v.side()
	t := box{count: slices.Clone(b.count), steps: make([][]int, tileOperands)}
	for k := range t.steps {
		if t.steps[k] = make([]int, len(b.count)); k < copyOperands {
			copy(t.steps[k], b.steps[k])
		}
	}
	for _, x := range [...][2]int{{row, ofRow}, {column, ofColumn}} {
		d := x[0]
		t.count[d] = grid.Ceil(b.count[d], side)
		t.steps[ofTo][d] *= side
		t.steps[ofFrom][d] *= side
		t.steps[x[1]][d] = side
	}
	t.joined().each(append(slices.Clone(begin), 0, 0), func(t box, begin []int) {
		v.axes = len(t.count)
		var a grid.Args
		a.Long(begin...)
		a.Long(b.steps[ofTo][row], b.steps[ofFrom][row], b.steps[ofTo][column], b.steps[ofFrom][column])
		a.Short(b.count[row], b.count[column])
		t.append(&a)
		list = append(list, grid.NewLaunch(v.name(), v.lower, array.Size(t.count), a))
	})
	return list
}

// packOf returns how many elements of a transpose make up a word of 4 bytes, 1 where they do not lie
// so.
func packOf(b box, size int, begin []int, row, column int) int {
	pack := 4 / max(size, 1)
	if pack <= 1 || b.steps[ofFrom][row] != size || b.steps[ofTo][column] != size || b.count[row]%pack != 0 || b.count[column]%pack != 0 {
		return 1
	}
	all := begin[ofTo] | begin[ofFrom]
	for d := range b.count {
		if d != column {
			all |= b.steps[ofTo][d]
		}
		if d != row {
			all |= b.steps[ofFrom][d]
		}
	}
	if all%4 != 0 {
		return 1
	}
	return pack
}

// A tileWriter writes a kernel of tiles.
type tileWriter struct {
	writer
	v             tileVariant
	at            []grid.Reg // of the block in the box of tiles
	lane, warp    grid.Reg
	rows, columns grid.Reg // of the tile and behind it
}

// lower returns the kernel.
func (v tileVariant) lower() *grid.Kernel {
	w := tileWriter{writer: writer{grid.NewBuilder(v.name(), threads)}, v: v}
	w.K.Args = tileBox + boxBytes(v.axes, tileOperands)
	w.K.Shared = v.side() * v.pitch()
	w.at = w.position(w.Block(), v.axes, tileBox)
	left := func(size, first, operand int) grid.Reg {
		return w.Sub(w.short(size), w.Do(loop.OpCvt, loop.I32, 0, w.walk(w.long(first), w.at, operand, tileBox)))
	}
	w.rows, w.columns = left(tileRows, tileRow, ofRow), left(tileColumns, tileColumn, ofColumn)
	w.lane = w.And(w.Thread(), w.I32(grid.Warp-1))
	w.warp = w.Do(loop.OpShrU, loop.I32, 0, w.Thread(), w.I32(5))
	if v.pack > 1 {
		w.words()
	} else {
		w.elements()
	}
	return w.K
}

// plus returns an I32 plus a constant.
func (w *tileWriter) plus(x grid.Reg, n int) grid.Reg { return w.Add(x, w.I32(int32(n))) }

// shared returns where a thread's first element is in shared memory, by the bytes from lane to lane and
// from warp to warp.
func (w *tileWriter) shared(lane, warp int) grid.Reg {
	return w.Wide(w.Add(w.Mul(w.lane, w.I32(int32(lane))), w.Mul(w.warp, w.I32(int32(warp)))))
}

// address returns begin, moved by numbers of lanes and of lines.
func (w *tileWriter) address(begin, lane, line grid.Reg, stepLane, stepLine int) grid.Reg {
	begin = w.Add(begin, w.Mul(w.Wide(lane), w.long(stepLane)))
	return w.Add(begin, w.Mul(w.Wide(line), w.long(stepLine)))
}

// elements turns the tile around element by element. A warp has one line at a time, and each lane has
// some elements of it.
func (w *tileWriter) elements() {
	v := w.v
	type element struct {
		lane, line int // from the thread's first
		value      []grid.Reg
	}
	var all []element
	for line := 0; line < v.side(); line += threads / grid.Warp {
		for x := 0; x < v.side(); x += grid.Warp {
			all = append(all, element{lane: x, line: line})
		}
	}
	begin := w.walk(w.long(tileFrom), w.at, ofFrom, tileBox)
	for i := range all {
		e := &all[i]
		lane, line := w.plus(w.lane, e.lane), w.plus(w.warp, e.line)
		in := w.And(w.Lt(lane, w.rows), w.Lt(line, w.columns))
		e.value = w.load(v.unit, w.address(begin, lane, line, tileFromRow, tileFromColumn), in)
	}
	el, typ, n := unit(v.unit)
	put := w.shared(v.unit, v.pitch())
	for _, e := range all {
		w.Store(grid.Shared, el, put, e.lane*v.unit+e.line*v.pitch(), grid.NoReg, e.value...)
	}
	w.Barrier()
	get := w.shared(v.pitch(), v.unit)
	begin = w.walk(w.long(tileTo), w.at, ofTo, tileBox)
	for _, e := range all {
		x := w.LoadN(grid.Shared, el, typ, n, get, e.lane*v.pitch()+e.line*v.unit, grid.NoReg)
		lane, line := w.plus(w.lane, e.lane), w.plus(w.warp, e.line)
		in := w.And(w.Lt(lane, w.columns), w.Lt(line, w.rows))
		w.store(v.unit, w.address(begin, lane, line, tileToColumn, tileToRow), in, x)
	}
}

// words turns the tile around by words of several elements. A thread reads one line for each element of
// a word, one below the other, and turns them around in registers. In shared memory word g of row
// pack*x + j lies on line j*Warp + x, so that lanes use different banks.
func (w *tileWriter) words() {
	pack := w.v.pack
	groups := threads / grid.Warp // groups of lines that the block has at a time
	times := func(x grid.Reg) grid.Reg { return w.Mul(x, w.I32(int32(pack))) }
	lane := times(w.lane)
	begin := w.walk(w.long(tileFrom), w.at, ofFrom, tileBox)
	const line = 4*grid.Warp + 4 // bytes
	var all [][]grid.Reg
	for g := 0; g < grid.Warp; g += groups {
		first := times(w.plus(w.warp, g))
		in := w.And(w.Lt(lane, w.rows), w.Lt(first, w.columns))
		var words []grid.Reg
		for k := range pack {
			words = append(words, w.load(4, w.address(begin, lane, w.plus(first, k), tileFromRow, tileFromColumn), in)...)
		}
		all = append(all, words)
	}
	put := w.shared(line, 4)
	for i, words := range all {
		for j, x := range w.turned(words) {
			w.Store(grid.Shared, grid.W32, put, 4*groups*i+line*grid.Warp*j, grid.NoReg, x)
		}
	}
	w.Barrier()
	get := w.shared(4, line)
	begin = w.walk(w.long(tileTo), w.at, ofTo, tileBox)
	for x := 0; x < grid.Warp; x += groups {
		for j := range pack {
			word := w.Load(grid.Shared, grid.W32, loop.I32, get, line*(x+grid.Warp*j), grid.NoReg)
			row := w.plus(times(w.plus(w.warp, x)), j)
			in := w.And(w.Lt(lane, w.columns), w.Lt(row, w.rows))
			w.store(4, w.address(begin, lane, row, tileToColumn, tileToRow), in, []grid.Reg{word})
		}
	}
}

// turned returns words whose element k of word j is element j of word k. It exchanges halves of
// the words of the first half with the words of the second, then quarters in each half.
func (w *tileWriter) turned(words []grid.Reg) []grid.Reg {
	words = slices.Clone(words)
	shift := func(op loop.Op, x grid.Reg, bits int) grid.Reg {
		return w.Do(op, loop.I32, 0, x, w.I32(int32(bits)))
	}
	for apart, bits := len(words)/2, 16; apart > 0; apart, bits = apart/2, bits/2 {
		low := int32(0xffff)
		if bits == 8 {
			low = 0xff00ff
		}
		for j := range words {
			if j&apart != 0 {
				continue
			}
			x, y := words[j], words[j+apart]
			words[j] = w.Or(w.And(x, w.I32(low)), shift(loop.OpShl, w.And(y, w.I32(low)), bits))
			words[j+apart] = w.Or(w.And(shift(loop.OpShrU, x, bits), w.I32(low)), w.And(y, w.I32(^low)))
		}
	}
	return words
}
