package moves

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// A Mode is what [Places] does with indices in range.
type Mode uint8

const (
	Put    Mode = iota // writes them
	Add                // adds them to what is there
	Check              // nothing
	Within             // writes them as they are, in their own type
	numModes
)

// Places are indices along an axis, counted from the front and multiplied by a weight, as contiguous
// int64. An index out of range counts as 0. Of Within, range is from Weight to Along, both included.
type Places struct {
	Mode          Mode
	Index         array.DType // Int32 or Int64
	Count         []int       // the shape of the indices and of the result
	Out           uint64      // not of Check
	At            Array
	Along, Weight int    // the size of the axis; the weight
	Report        uint64 // the address of a [grid.Report]; positions are row-major
}

// placesVariant is a kernel of [Places].
type placesVariant struct {
	mode  Mode
	index array.DType
	axes  int
	each  int // indices of a thread
}

func (v placesVariant) name() string {
	return fmt.Sprintf("places_%d_%s_%d_%d", v.mode, v.index, v.axes, v.each)
}

// The argument block of Places.
const (
	placesOut    = 0 // addresses
	placesAt     = 8
	placesFirst  = 16 // the position of the first index
	placesReport = 24 // address
	placesAlong  = 32 // the size of the axis
	placesWeight = 40
	placesNumber = 48 // of indices
	placesBox    = 56 // with the steps of the indices, in bytes
)

// Launches returns the launches of p on a GPU with a number of multiprocessors.
func (p Places) Launches(processors int) (list []grid.Launch) {
	if array.Size(p.Count) == 0 {
		return nil
	}
	b := box{p.Count, [][]int{scaled(p.At.Strides, p.Index.Size())}}.joined()
	first := 0
	size := (placesVariant{mode: p.Mode, index: p.Index}).result().Size()
	b.each([]int{int(p.At.Addr)}, func(b box, begin []int) {
		n := array.Size(b.count)
		v := placesVariant{p.Mode, p.Index, len(b.count), eachFor(n, len(b.count), processors)}
		var a grid.Args
		a.Long(int(p.Out)+size*first, begin[0], first, int(p.Report), p.Along, p.Weight)
		a.Short(n)
		a.Pad()
		b.append(&a)
		first += n
		list = append(list, grid.NewLaunch(v.name(), v.lower, grid.Ceil(n, threads*v.each), a))
	})
	return list
}

// lower returns the kernel.
func (v placesVariant) lower() *grid.Kernel {
	w := writer{grid.NewBuilder(v.name(), threads)}
	w.K.Args = placesBox + boxBytes(v.axes, 1)
	first := w.Add(w.Mul(w.Block(), w.I32(int32(threads*v.each))), w.Thread())
	number := func(i int) grid.Reg { return w.Add(first, w.I32(int32(threads*i))) }
	to := func(i int) grid.Reg {
		return w.Add(w.long(placesOut), w.Mul(w.Wide(number(i)), w.I64(int64(v.result().Size()))))
	}
	type item struct{ in, raw, old grid.Reg }
	items := make([]item, v.each)
	for i := range items {
		x := &items[i]
		x.in = w.Lt(number(i), w.short(placesNumber))
		x.raw = w.index(v.index, w.walk(w.long(placesAt), w.position(number(i), v.axes, placesBox), 0, placesBox), x.in)
		if v.mode == Add {
			x.old = w.Load(grid.Global, grid.W64, loop.I64, to(i), 0, x.in)
		}
	}
	for i, x := range items {
		value, bad := w.placed(v, x.raw, x.old, x.in)
		if v.mode != Check {
			w.Store(grid.Global, v.result(), to(i), 0, x.in, value)
		}
		w.If(bad, false, func() {
			w.Report(w.long(placesReport), x.raw, w.Add(w.long(placesFirst), w.Wide(number(i))))
		}, nil)
	}
	return w.K
}

// placed returns what is written for an index, and whether it is out of range.
func (w writer) placed(v placesVariant, raw, old, in grid.Reg) (value, bad grid.Reg) {
	if v.mode == Within {
		bad = w.And(in, w.Or(w.Lt(raw, w.long(placesWeight)), w.Lt(w.long(placesAlong), raw)))
		if v.index == array.Int32 {
			return w.Do(loop.OpCvt, loop.I32, 0, raw), bad
		}
		return raw, bad
	}
	index, bad := w.checked(raw, w.long(placesAlong), in)
	if v.mode == Check {
		return grid.NoReg, bad
	}
	if value = w.Select(bad, w.I64(0), w.Mul(index, w.long(placesWeight))); v.mode == Add {
		value = w.Add(value, old)
	}
	return value, bad
}

// result is how an element of the result is stored.
func (v placesVariant) result() grid.Elem {
	if v.mode == Within && v.index == array.Int32 {
		return grid.W32
	}
	return grid.W64
}

// index loads an index as an I64.
func (w writer) index(d array.DType, addr, pred grid.Reg) grid.Reg {
	if d == array.Int32 {
		return w.Wide(w.Load(grid.Global, grid.W32, loop.I32, addr, 0, pred))
	}
	return w.Load(grid.Global, grid.W64, loop.I64, addr, 0, pred)
}

// checked returns an index counted from the front, and whether it is out of range for size where in
// holds.
func (w writer) checked(raw, size, in grid.Reg) (index, bad grid.Reg) {
	index = w.Select(w.Lt(raw, w.I64(0)), w.Add(raw, size), raw)
	return index, w.And(in, w.Do(loop.OpLeU, loop.B, 0, size, index))
}
