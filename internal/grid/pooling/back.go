package pooling

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// holding returns the first and the last of the windows that hold a row or column of the picture.
func (w *writer) holding(at grid.Reg, pad, places, step, count int) (first, last grid.Reg) {
	at = w.Add(at, w.arg(pad))
	beyond := w.Sub(at, w.arg(places)) // from 0 on, the first window has ended
	ended, _ := w.Divide(w.most(beyond, w.zero), step)
	begun, _ := w.Divide(at, step)
	first = w.Select(w.Lt(beyond, w.zero), w.zero, w.Add(ended, w.one))
	return first, w.least(begun, w.Sub(w.arg(count), w.one))
}

// spread returns the gradient of Mean: the sum over the windows that hold the element, by ascending
// places, which are descending windows. Places that no window has at the element add 0.
func (w *writer) spread() grid.Reg {
	low, high := w.holding(w.row, argPadH, argKH, argDivH, argOH)
	left, right := w.holding(w.col, argPadW, argKW, argDivW, argOW)
	all := w.And(w.whole(low, high, argKH), w.whole(left, right, argKW))
	// Windows side by side are put between each other, not added up.
	alone := w.And(w.Eq(w.arg(argKH), w.arg(argStepH)), w.Eq(w.arg(argKW), w.arg(argStepW)))
	some := w.And(w.Le(low, high), w.Le(left, right))
	sum := w.Copy(w.Select(w.Or(all, w.And(alone, some)), w.minusZero(), w.bits(0, 0)))
	scale := w.Arg(w.t, argScale)
	w.walk(low, high, true, w.at(w.planeOf(0, argPlaneY), high, right, argRowY), w.Arg(loop.I64, argRowY), grid.NoReg, func(_, addr grid.Reg) {
		w.walk(left, right, true, addr, w.bytes(), grid.NoReg, func(_, addr grid.Reg) {
			w.Update(sum, loop.OpAdd, sum, w.Mul(w.load(addr), scale))
		})
	})
	return sum
}

// place returns the gradient of Max: the sum over the windows whose first maximum is the element, by
// ascending windows.
func (w *writer) place() grid.Reg {
	low, high := w.holding(w.row, argPadH, argKH, argDivH, argOH)
	left, right := w.holding(w.col, argPadW, argKW, argDivW, argOW)
	x := w.planeOf(0, argPlaneX)
	own := w.key(w.load(w.at(x, w.row, w.col, argRowX)))
	toDY := w.Sub(w.Arg(loop.I64, argPtr+24), w.Arg(loop.I64, argPtr+16))
	sum := w.Copy(w.bits(0, 0))
	w.walk(low, high, false, w.at(w.planeOf(1, argPlaneY), low, left, argRowY), w.Arg(loop.I64, argRowY), grid.NoReg, func(row, addr grid.Reg) {
		w.walk(left, right, false, addr, w.bytes(), grid.NoReg, func(col, addr grid.Reg) {
			w.If(w.Eq(w.key(w.load(addr)), own), false, func() {
				w.If(w.Not(w.before(x, w.window(row, col), own)), false, func() {
					w.Update(sum, loop.OpAdd, sum, w.load(w.Add(addr, toDY)))
				}, nil)
			}, nil)
		})
	})
	return sum
}

// before reports whether an element of a window before the thread's own has the same key.
func (w *writer) before(x grid.Reg, win window, own grid.Reg) grid.Reg {
	found := w.Copy(w.Const(loop.B, 0))
	w.walk(win.first, w.row, false, w.at(x, win.first, win.from, argRowX), w.Arg(loop.I64, argRowX), found, func(row, addr grid.Reg) {
		last := w.Select(w.Eq(row, w.row), w.Sub(w.col, w.one), win.to)
		w.walk(win.from, last, false, addr, w.bytes(), found, func(_, addr grid.Reg) {
			w.Set(found, w.Eq(w.key(w.load(addr)), own))
		})
	})
	return found
}
