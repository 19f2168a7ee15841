package moves

import (
	"cmp"
	"fmt"
	"slices"

	"weft/internal/array"
	"weft/internal/grid"
)

// A Copy copies elements between arrays of any strides that do not overlap.
type Copy struct {
	Size     int // of an element, in bytes
	Count    []int
	To, From Array
}

// Operands of the box of Copy, with steps of bytes.
const (
	ofTo = iota
	ofFrom
	copyOperands
)

// sector is the size of the pieces in which a GPU reads memory. Elements that lie further apart gain
// nothing by being read together.
const sector = 32

// fewRows is the number of rows or columns up to which a transpose needs no tiles: that many rows are
// read or written at the same time, each of them in order.
const fewRows = 15

// Launches returns the launches of c on a GPU with a number of multiprocessors.
func (c Copy) Launches(processors int) []grid.Launch {
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

func linear(b box, size int, begin []int, processors int) (list []grid.Launch) {
	b.each(begin, func(b box, begin []int) {
		n := array.Size(b.count)
		v := linearVariant{size, len(b.count), eachFor(n, len(b.count), processors)}
		var a grid.Args
		a.Long(begin...)
		a.Short(n)
		a.Pad()
		b.append(&a)
		list = append(list, grid.NewLaunch(v.name(), v.lower, grid.Ceil(n, threads*v.each), a))
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
