package moves

import (
	"fmt"
	"slices"

	"weft/internal/array"
	"weft/internal/grid"
)

// An Array is an array in the memory of a GPU: the address of its first element, and its strides in
// elements.
type Array struct {
	Addr    uint64
	Strides []int
}

// A Take reads elements at indices. Element p of the result, which is contiguous, is X's at p, moved
// along an axis by the index at p. X has stride 0 along that axis, and Step elements from index to
// index. Index and Position are walked by the same p; Position is what a report says of an index.
type Take struct {
	Size        int         // of an element, in bytes
	Index       array.DType // Int32 or Int64
	Count       []int       // the shape of the result
	Out         uint64
	X, At       Array
	Position    []int
	Along, Step int    // the size of the axis, and the stride of X along it
	Report      uint64 // the address of a [grid.Report]
}

// takeVariant is a kernel of [Take].
type takeVariant struct {
	unit  int // bytes that a thread moves at a time
	index array.DType
	axes  int
	each  int // units of a thread
}

func (v takeVariant) name() string {
	return fmt.Sprintf("take_%d_%s_%d_%d", v.unit, v.index, v.axes, v.each)
}

// The argument block of Take.
const (
	takeOut    = 0 // addresses
	takeX      = 8
	takeAt     = 16
	takeFirst  = 24 // the position of the first index
	takeReport = 32 // address
	takeAlong  = 40 // the size of the axis
	takeStep   = 48 // bytes of X from index to index
	takeUnits  = 56 // their number
	takeBox    = 64
)

// Operands of the box of Take: X and the indices with steps of bytes, and the position.
const (
	ofX = iota
	ofAt
	ofPosition
	takeOperands
)

// manyEach is the number of units of a thread where there are enough to fill the GPU, and at most
// fewAxes: the coordinates of more take registers that a thread does not have.
const (
	manyEach = 4
	fewAxes  = 3
)

// eachFor returns the number of units of a thread, for a number of units, of axes and of multiprocessors.
func eachFor(n, axes, processors int) int {
	if axes > fewAxes || n < 8*threads*manyEach*processors {
		return 1
	}
	return manyEach
}

// Launches returns the launches of t on a GPU with a number of multiprocessors.
func (t Take) Launches(processors int) (list []grid.Launch) {
	if array.Size(t.Count) == 0 {
		return nil
	}
	b := box{t.Count, [][]int{scaled(t.X.Strides, t.Size), scaled(t.At.Strides, t.Index.Size()), t.Position}}.joined()
	size := t.widen(&b)
	b.each([]int{int(t.X.Addr), int(t.At.Addr), 0}, func(b box, begin []int) {
		n := array.Size(b.count)
		v := takeVariant{size, t.Index, len(b.count), eachFor(n, len(b.count), processors)}
		var a grid.Args
		a.Long(int(t.Out), begin[ofX], begin[ofAt], begin[ofPosition], int(t.Report), t.Along, t.Step*t.Size)
		a.Short(n)
		a.Pad()
		b.append(&a)
		t.Out += uint64(n * size)
		list = append(list, grid.NewLaunch(v.name(), v.lower, grid.Ceil(n, threads*v.each), a))
	})
	return list
}

// scaled returns strides times n.
func scaled(strides []int, n int) []int {
	out := slices.Clone(strides)
	for i := range out {
		out[i] *= n
	}
	return out
}

// widen joins elements that have one index into units of up to 16 bytes, and returns their size.
func (t *Take) widen(b *box) int {
	last := len(b.count) - 1
	x := b.steps[ofX]
	if x[last] != t.Size || b.steps[ofAt][last] != 0 || b.steps[ofPosition][last] != 0 {
		return t.Size
	}
	size := power(b.count[last]*t.Size|int(t.X.Addr)|int(t.Out)|t.Step*t.Size, 16)
	for _, s := range x[:last] {
		size = power(s, size)
	}
	if size > t.Size {
		b.count[last] /= size / t.Size
		x[last] = size
		*b = b.joined()
	}
	return max(size, t.Size)
}

// lower returns the kernel. Loads of all units of a thread stand before the stores, so that they wait
// together.
func (v takeVariant) lower() *grid.Kernel {
	w := writer{grid.NewBuilder(v.name(), threads)}
	w.K.Args = takeBox + boxBytes(v.axes, takeOperands)
	first := w.Add(w.Mul(w.Block(), w.I32(int32(threads*v.each))), w.Thread())
	n := w.short(takeUnits)
	type item struct {
		number, in, bad grid.Reg
		index, from     grid.Reg
		value           []grid.Reg
	}
	items := make([]item, v.each)
	for i := range items {
		x := &items[i]
		x.number = w.Add(first, w.I32(int32(threads*i)))
		x.in = w.Lt(x.number, n)
		at := w.position(x.number, v.axes, takeBox)
		x.index = w.index(v.index, w.walk(w.long(takeAt), at, ofAt, takeBox), x.in)
		x.from = w.walk(w.long(takeX), at, ofX, takeBox)
	}
	anyBad := grid.NoReg
	for i := range items {
		x := &items[i]
		x.index, x.bad = w.checked(x.index, w.long(takeAlong), x.in)
		x.value = w.load(v.unit, w.Add(x.from, w.Mul(x.index, w.long(takeStep))), w.And(x.in, w.Not(x.bad)))
		if anyBad == grid.NoReg {
			anyBad = x.bad
		} else {
			anyBad = w.Or(anyBad, x.bad)
		}
	}
	for i := range items {
		x := &items[i]
		to := w.Add(w.long(takeOut), w.Mul(w.Wide(x.number), w.I64(int64(v.unit))))
		w.store(v.unit, to, x.in, x.value)
	}
	w.If(anyBad, false, func() {
		for i := range items {
			x := &items[i]
			w.If(x.bad, false, func() { // what it takes is computed anew, and so in no register before
				at := w.position(x.number, v.axes, takeBox)
				raw := w.index(v.index, w.walk(w.long(takeAt), at, ofAt, takeBox), grid.NoReg)
				w.Report(w.long(takeReport), raw, w.walk(w.long(takeFirst), at, ofPosition, takeBox))
			}, nil)
		}
	}, nil)
	return w.K
}
