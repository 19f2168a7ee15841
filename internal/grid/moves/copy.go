package moves

import (
	"cmp"
	"fmt"
	"slices"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// A Copy copies elements between arrays of any strides that do not overlap.
type Copy struct {
	Size     int // of an element, in bytes
	Count    []int
	To, From Array
}

// Operands of the box of Copy, with steps of bytes. The box of tiles has the first row and column of a
// tile beside them.
const (
	ofTo = iota
	ofFrom
	copyOperands

	ofRow = iota - 1
	ofColumn
	tileOperands
)

// sector is the size of the pieces in which a GPU reads memory. Elements that lie further apart gain
// nothing by being read together.
const sector = 32

// fewRows is the number of rows or columns up to which a transpose needs no tiles: that many rows are
// read or written at the same time, each of them in order.
const fewRows = 15

// Launches returns the launches of c on a GPU with a number of multiprocessors.
func (c Copy) Launches(processors int) []Launch {
	if array.Size(c.Count) == 0 {
		return nil
	}
	b := box{c.Count, [][]int{scaled(c.To.Strides, c.Size), scaled(c.From.Strides, c.Size)}}.sorted(ofTo)
	begin := []int{int(c.To.Addr), int(c.From.Addr)}
	size := widenCopy(&b, c.Size, begin)
	// Neighbours in the result are columns, neighbours in the argument rows.
	column, row := len(b.count)-1, b.finest(ofFrom)
	if row == column || abs(b.steps[ofFrom][row]) >= sector || abs(b.steps[ofTo][column]) >= sector || b.count[column] <= fewRows {
		return linear(b, size, begin, processors)
	}
	if b.count[row] <= fewRows {
		return linear(b.sorted(ofFrom), size, begin, processors)
	}
	return tiled(b, size, begin, row, column)
}

func abs(x int) int { return max(x, -x) }

// sorted returns the box with its axes in the order of an operand's steps, the smallest last, and
// joined.
func (b box) sorted(operand int) box {
	b = b.joined()
	order := make([]int, len(b.count))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Compare(abs(b.steps[operand][y]), abs(b.steps[operand][x]))
	})
	return b.only(order).joined()
}

// only returns the box with these axes alone.
func (b box) only(axes []int) box {
	pick := func(x []int) (out []int) {
		for _, d := range axes {
			out = append(out, x[d])
		}
		return out
	}
	out := box{count: pick(b.count)}
	for _, s := range b.steps {
		out.steps = append(out.steps, pick(s))
	}
	return out
}

// finest returns the axis of an operand's smallest step, the last one if all are 0.
func (b box) finest(operand int) int {
	best := len(b.count) - 1
	for d, n := range b.steps[operand] {
		if n != 0 && (b.steps[operand][best] == 0 || abs(n) < abs(b.steps[operand][best])) {
			best = d
		}
	}
	return best
}

// widenCopy joins elements that are neighbours in both arrays into units of up to 16 bytes, and returns
// their size.
func widenCopy(b *box, size int, begin []int) int {
	last := len(b.count) - 1
	if b.steps[ofTo][last] != size || b.steps[ofFrom][last] != size {
		return size
	}
	wide := power(b.count[last]*size|begin[ofTo]|begin[ofFrom], 16)
	for k := range b.steps {
		for _, s := range b.steps[k][:last] {
			wide = power(s, wide)
		}
	}
	if wide <= size {
		return size
	}
	b.count[last] /= wide / size
	b.steps[ofTo][last], b.steps[ofFrom][last] = wide, wide
	*b = b.joined()
	return wide
}

// linearVariant is a kernel whose neighbouring threads copy neighbouring units.
type linearVariant struct {
	unit int // bytes that a thread moves at a time
	axes int
	each int // units of a thread
}

func (v linearVariant) name() string { return fmt.Sprintf("copy_%d_%d_%d", v.unit, v.axes, v.each) }

// The argument block of a linear copy.
const (
	linearTo    = 0 // addresses
	linearFrom  = 8
	linearUnits = 16 // their number
	linearBox   = 24
)

func linear(b box, size int, begin []int, processors int) (list []Launch) {
	b.each(begin, func(b box, begin []int) {
		n := array.Size(b.count)
		v := linearVariant{size, len(b.count), eachFor(n, len(b.count), processors)}
		var a arguments
		a.long(begin...)
		a.short(n)
		a.pad()
		b.append(&a)
		list = append(list, Launch{v.name(), v.lower, ceil(n, threads*v.each), a})
	})
	return list
}

// lower returns the kernel. Loads stand before the stores, so that they wait together.
func (v linearVariant) lower() *grid.Kernel {
	w := writer{grid.NewBuilder(v.name(), threads)}
	w.K.Args = linearBox + boxBytes(v.axes, copyOperands)
	first := w.Add(w.Mul(w.Block(), w.I32(int32(threads*v.each))), w.Thread())
	var stores []func()
	for i := range v.each {
		number := w.Add(first, w.I32(int32(threads*i)))
		in := w.Lt(number, w.short(linearUnits))
		at := w.position(number, v.axes, linearBox)
		x := w.load(v.unit, w.walk(w.long(linearFrom), at, ofFrom, linearBox), in)
		stores = append(stores, func() { w.store(v.unit, w.walk(w.long(linearTo), at, ofTo, linearBox), in, x) })
	}
	for _, f := range stores {
		f()
	}
	return w.K
}

// tileVariant is a kernel whose blocks of threads turn a tile around in shared memory: they read along
// the rows' neighbours, and write along the columns' neighbours.
type tileVariant struct {
	unit int // bytes of an element
	axes int // of the box of tiles
}

func (v tileVariant) name() string { return fmt.Sprintf("transpose_%d_%d", v.unit, v.axes) }

// side returns the number of rows and columns of a tile. Threads have more small elements on their
// way than large ones.
func (v tileVariant) side() int {
	if v.unit <= 2 {
		return 64
	}
	return 32
}

// pitch returns the bytes from row to row in shared memory. They are an odd number of words, or of
// larger elements, so that the elements of a column lie in different banks.
func (v tileVariant) pitch() int { return v.side()*v.unit + max(4, v.unit) }

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
func tiled(b box, size int, begin []int, row, column int) (list []Launch) {
	v := tileVariant{unit: size}
	side := v.side()
	t := box{count: slices.Clone(b.count), steps: make([][]int, tileOperands)}
	for k := range t.steps {
		if t.steps[k] = make([]int, len(b.count)); k < copyOperands {
			copy(t.steps[k], b.steps[k])
		}
	}
	for _, x := range [...][2]int{{row, ofRow}, {column, ofColumn}} {
		d := x[0]
		t.count[d] = ceil(b.count[d], side)
		t.steps[ofTo][d] *= side
		t.steps[ofFrom][d] *= side
		t.steps[x[1]][d] = side
	}
	t.joined().each(append(slices.Clone(begin), 0, 0), func(t box, begin []int) {
		v.axes = len(t.count)
		var a arguments
		a.long(begin...)
		a.long(b.steps[ofTo][row], b.steps[ofFrom][row], b.steps[ofTo][column], b.steps[ofFrom][column])
		a.short(b.count[row], b.count[column])
		t.append(&a)
		list = append(list, Launch{v.name(), v.lower, array.Size(t.count), a})
	})
	return list
}

// lower returns the kernel.
func (v tileVariant) lower() *grid.Kernel {
	w := writer{grid.NewBuilder(v.name(), threads)}
	w.K.Args = tileBox + boxBytes(v.axes, tileOperands)
	w.K.Shared = v.side() * v.pitch()
	at := w.position(w.Block(), v.axes, tileBox)
	narrow := func(x grid.Reg) grid.Reg { return w.Do(loop.OpCvt, loop.I32, 0, x) }
	rows := w.Sub(w.short(tileRows), narrow(w.walk(w.long(tileRow), at, ofRow, tileBox)))
	columns := w.Sub(w.short(tileColumns), narrow(w.walk(w.long(tileColumn), at, ofColumn, tileBox)))
	lane := w.And(w.Thread(), w.I32(grid.Warp-1))
	warp := w.Do(loop.OpShrU, loop.I32, 0, w.Thread(), w.I32(5))

	// A warp has one line at a time. Each lane has some elements of it.
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
	// address returns where an element is whose lanes have one step, whose lines another.
	address := func(begin grid.Reg, e *element, stepLane, stepLine int) grid.Reg {
		begin = w.Add(begin, w.Mul(w.Wide(w.Add(lane, w.I32(int32(e.lane)))), w.long(stepLane)))
		return w.Add(begin, w.Mul(w.Wide(w.Add(warp, w.I32(int32(e.line)))), w.long(stepLine)))
	}
	inside := func(e *element, lanes, lines grid.Reg) grid.Reg {
		return w.And(w.Lt(w.Add(lane, w.I32(int32(e.lane))), lanes), w.Lt(w.Add(warp, w.I32(int32(e.line))), lines))
	}
	// shared returns where a thread's first element is, and how far behind it another one.
	shared := func(stepLane, stepLine int) (first grid.Reg, offset func(e *element) int) {
		x := w.Add(w.Mul(lane, w.I32(int32(stepLane))), w.Mul(warp, w.I32(int32(stepLine))))
		return w.Wide(x), func(e *element) int { return e.lane*stepLane + e.line*stepLine }
	}
	el, typ, n := unit(v.unit)
	begin := w.walk(w.long(tileFrom), at, ofFrom, tileBox)
	for i := range all {
		e := &all[i]
		e.value = w.load(v.unit, address(begin, e, tileFromRow, tileFromColumn), inside(e, rows, columns))
	}
	put, offset := shared(v.unit, v.pitch())
	for i := range all {
		w.Store(grid.Shared, el, put, offset(&all[i]), grid.NoReg, all[i].value...)
	}
	w.Barrier()
	get, offset := shared(v.pitch(), v.unit)
	begin = w.walk(w.long(tileTo), at, ofTo, tileBox)
	for i := range all {
		e := &all[i]
		x := w.LoadN(grid.Shared, el, typ, n, get, offset(e), grid.NoReg)
		w.store(v.unit, address(begin, e, tileToColumn, tileToRow), inside(e, columns, rows), x)
	}
	return w.K
}
