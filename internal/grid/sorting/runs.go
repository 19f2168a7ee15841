package sorting

import (
	"encoding/binary"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// Runs marks in a sorted row of N elements where runs of equal elements begin, and numbers the runs.
// Addresses are of the memory of a GPU.
type Runs struct {
	DType          array.DType
	N              int
	Sorted, Places uint64
	First, Numbers uint64 // results: bool by position, int64 by place
	Sums           uint64 // int64: between Marks and Number they are to become the sums of all up to each
	Report         uint64 // of a [grid.Report], of places that are out of range
}

// Marks returns the launches that write marks, as bool and as int64.
func (r Runs) Marks() []grid.Launch {
	v := Variant{Kind: Mark, DType: r.DType}
	v.DType = v.kernelType(r.DType)
	return r.launches(v)
}

// Number returns the launches that write numbers. Requires: sums of the marks are done.
func (r Runs) Number() []grid.Launch { return r.launches(Variant{Kind: Number, DType: array.Uint64}) }

func (r Runs) launches(v Variant) (list []grid.Launch) {
	for _, part := range grid.Parts(r.N, 1, 1, maxRows) {
		b := make([]byte, argBytes)
		for at, x := range map[int]uint64{argX: r.Sorted, argY: r.First, argPlaces: r.Places, argFrom: r.Sums, argFrom + 8: r.Report, argTo: r.Numbers, argN: uint64(r.N)} {
			binary.LittleEndian.PutUint64(b[at:], x)
		}
		part.Append(b[:argPart])
		list = append(list, v.launch(part.Blocks(threads), b))
	}
	return list
}

// mark writes the kernel of marks.
func (w *writer) mark() {
	w.ForElement(argPart, func(e grid.Element) {
		i := e.Plane
		inside := w.Lt(w.I64(0), i)
		addr := w.Moved(w.long(argX), i, w.size)
		own := w.Rank(w.v.DType, w.Load(grid.Global, w.elem, w.t, addr, 0, grid.NoReg))
		before := w.Rank(w.v.DType, w.Load(grid.Global, w.elem, w.t, w.Sub(addr, w.I64(int64(w.size))), 0, inside))
		first := w.Or(w.Not(inside), w.Do(loop.OpNe, loop.B, 0, own, before))
		mark := w.Do(loop.OpCvt, loop.I32, 0, first)
		w.Store(grid.Global, grid.U8, w.Moved(w.long(argY), i, 1), 0, grid.NoReg, mark)
		w.Store(grid.Global, grid.W64, w.Moved(w.long(argFrom), i, 8), 0, grid.NoReg, w.Wide(mark))
	})
}

// number writes the kernel of the numbers of runs.
func (w *writer) number() {
	w.ForElement(argPart, func(e grid.Element) {
		i := e.Plane
		place := w.Load(grid.Global, grid.W64, loop.I64, w.Moved(w.long(argPlaces), i, 8), 0, grid.NoReg)
		sum := w.Load(grid.Global, grid.W64, loop.I64, w.Moved(w.long(argFrom), i, 8), 0, grid.NoReg)
		inside := w.Do(loop.OpLtU, loop.B, 0, place, w.long(argN))
		w.Store(grid.Global, grid.W64, w.Moved(w.long(argTo), place, 8), 0, inside, w.Sub(sum, w.I64(1)))
		w.If(w.Not(inside), false, func() { w.Report(w.long(argFrom+8), place, i) }, nil)
	})
}
