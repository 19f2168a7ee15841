package sorting

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// give writes the kernel of results of sorted records: part row j is the j-th record from one on.
func (w *writer) give() {
	w.ForElement(argPart, func(e grid.Element) {
		row, column := w.Wide(e.Row), w.Wide(e.Col)
		sorted := w.Add(w.Mul(e.Plane, w.Wide(w.Arg(loop.I32, argInner))), column)
		r := w.loadRecord(argFrom, w.Add(w.Mul(sorted, w.long(argPitch)), w.Add(row, w.long(argRun))), grid.NoReg)
		w.result(e.Plane, row, column, w.Const(loop.B, 1), r)
	})
}

// search writes the kernel of searches: part row r is searched for in row r of sorted elements, whose pitch is
// 0 if there is one row alone.
func (w *writer) search() {
	w.ForElement(argPart, func(e grid.Element) {
		number := w.Wide(e.Number)
		rank := func(addr grid.Reg) grid.Reg {
			x := w.Load(grid.Global, w.elem, w.t, addr, 0, grid.NoReg)
			sign := w.Const(w.t, 1<<(8*w.t.Size()-1))
			return w.Do(loop.OpXor, w.t, 0, w.Rank(w.v.DType, x), sign)
		}
		k := rank(w.Moved(w.long(argY), number, w.size))
		row := w.Moved(w.long(argX), w.Mul(e.Plane, w.long(argPitch)), w.size)
		right := w.Lt(w.I32(0), w.Arg(loop.I32, argSide))
		first, left, one := w.Copy(w.I64(0)), w.Copy(w.long(argN)), w.I64(1)
		w.While(false, func() grid.Reg { return w.Lt(w.I64(0), left) }, func() {
			half := w.Do(loop.OpShrU, loop.I64, 0, w.Add(left, one), one)
			x := rank(w.Moved(row, w.Sub(w.Add(first, half), one), w.size))
			before := w.Or(w.Lt(x, k), w.And(right, w.Eq(x, k)))
			w.Set(first, w.Select(before, w.Add(first, half), first))
			w.Set(left, w.Sub(left, half))
		})
		w.Store(grid.Global, grid.W64, w.Moved(w.long(argPlaces), number, 8), 0, grid.NoReg, first)
	})
}
