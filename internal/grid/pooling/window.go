package pooling

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// A window is what lies of a window inside the picture.
type window struct {
	top, left   grid.Reg // of all of it, which may lie in the padding
	first, last grid.Reg // rows inside
	from, to    grid.Reg // columns inside, to being the last
}

// window returns the window of a row and column of windows.
func (w *writer) window(row, col grid.Reg) (n window) {
	n.top = w.Sub(w.Mul(row, w.arg(argStepH)), w.arg(argPadH))
	n.left = w.Sub(w.Mul(col, w.arg(argStepW)), w.arg(argPadW))
	n.first, n.last = w.inside(n.top, argKH, argH)
	n.from, n.to = w.inside(n.left, argKW, argW)
	return n
}

// inside returns the first and the last place of a window that lie in the picture.
func (w *writer) inside(at grid.Reg, places, size int) (first, last grid.Reg) {
	return w.most(at, w.zero), w.Sub(w.least(w.Add(at, w.arg(places)), w.arg(size)), w.one)
}

// bytes returns the size of an element as a number of bytes to move by.
func (w *writer) bytes() grid.Reg { return w.I64(int64(w.size)) }

// max returns the maximum of the element's window.
func (w *writer) max() grid.Reg {
	lowest := w.bits(0xFF800000, 0xFFF0<<48)
	best := w.Copy(lowest)
	win, x := w.window(w.row, w.col), w.planeOf(0, argPlaneX)
	if w.v.Side > 0 {
		places := w.places(win, x)
		for col := range w.v.Side {
			for row := range w.v.Side {
				p := places[row][col]
				w.Update(best, loop.OpMax, best, w.Select(p.inside, p.x, lowest))
			}
		}
		return best
	}
	rowBytes := w.Arg(loop.I64, argRowX)
	w.walk(win.from, win.to, false, w.at(x, win.first, win.from, argRowX), w.bytes(), grid.NoReg, func(_, addr grid.Reg) {
		w.walk(win.first, win.last, false, addr, rowBytes, grid.NoReg, func(_, addr grid.Reg) {
			w.Update(best, loop.OpMax, best, w.load(addr))
		})
	})
	return best
}

// mean returns the mean of the element's window. Places in the padding add 0.
func (w *writer) mean() grid.Reg {
	sum := w.Copy(w.minusZero())
	win, x := w.window(w.row, w.col), w.planeOf(0, argPlaneX)
	if w.v.Side > 0 {
		for _, row := range w.places(win, x) {
			for _, p := range row {
				w.Update(sum, loop.OpAdd, sum, p.x)
			}
		}
		return w.Mul(sum, w.Arg(w.t, argScale))
	}
	whole := w.And(w.whole(win.first, win.last, argKH), w.whole(win.from, win.to, argKW))
	w.Set(sum, w.Select(whole, sum, w.bits(0, 0)))
	w.walk(win.first, win.last, false, w.at(x, win.first, win.from, argRowX), w.Arg(loop.I64, argRowX), grid.NoReg, func(_, addr grid.Reg) {
		w.walk(win.from, win.to, false, addr, w.bytes(), grid.NoReg, func(_, addr grid.Reg) {
			w.Update(sum, loop.OpAdd, sum, w.load(addr))
		})
	})
	return w.Mul(sum, w.Arg(w.t, argScale))
}

// whole reports whether the count of the numbers from first to last equals an argument.
func (w *writer) whole(first, last grid.Reg, arg int) grid.Reg {
	return w.Eq(w.Sub(last, first), w.Sub(w.arg(arg), w.one))
}

// A place is an element of a window, 0 in the padding.
type place struct{ x, inside grid.Reg }

// places reads all elements of a window of a known size, by row and column.
func (w *writer) places(win window, x grid.Reg) (out [][]place) {
	addr := w.at(x, win.top, win.left, argRowX)
	if w.v.Pairs {
		all := w.Const(loop.B, 1)
		for row := range w.v.Side {
			if row > 0 {
				addr = w.Add(addr, w.Arg(loop.I64, argRowX))
			}
			v := w.LoadN(grid.Global, w.elem, w.t, w.v.Side, addr, 0, grid.NoReg)
			out = append(out, []place{{v[0], all}, {v[1], all}})
		}
		return out
	}
	var inCol []grid.Reg
	for col := range w.v.Side {
		inCol = append(inCol, w.below(win.left, col, argW))
	}
	for row := range w.v.Side {
		if row > 0 {
			addr = w.Add(addr, w.Arg(loop.I64, argRowX))
		}
		inRow := w.below(win.top, row, argH)
		var line []place
		for col := range w.v.Side {
			inside := w.And(inRow, inCol[col])
			line = append(line, place{w.Load(grid.Global, w.elem, w.t, addr, col*w.size, inside), inside})
		}
		out = append(out, line)
	}
	return out
}

// below reports whether x+n lies in a size.
func (w *writer) below(x grid.Reg, n, size int) grid.Reg {
	return w.Do(loop.OpLtU, loop.B, 0, w.Add(x, w.I32(int32(n))), w.arg(size))
}

// pick returns the element of dx at the first place of the window that has the maximum, 0 if there
// is none.
func (w *writer) pick() grid.Reg {
	win, x := w.window(w.row, w.col), w.planeOf(0, argPlaneX)
	y := w.key(w.load(w.at(w.planeOf(1, argPlaneY), w.row, w.col, argRowY)))
	toDX := w.Sub(w.Arg(loop.I64, argPtr+24), w.Arg(loop.I64, argPtr+8))
	result, found := w.Copy(w.bits(0, 0)), w.Copy(w.Const(loop.B, 0))
	w.walk(win.first, win.last, false, w.at(x, win.first, win.from, argRowX), w.Arg(loop.I64, argRowX), found, func(_, addr grid.Reg) {
		w.walk(win.from, win.to, false, addr, w.bytes(), found, func(_, addr grid.Reg) {
			w.If(w.Eq(w.key(w.load(addr)), y), false, func() {
				w.Set(result, w.load(w.Add(addr, toDX)))
				w.Set(found, w.Const(loop.B, 1))
			}, nil)
		})
	})
	return result
}

// key returns the bits of a float, the same of every NaN.
func (w *writer) key(x grid.Reg) grid.Reg {
	t := loop.I32
	if w.size == 8 {
		t = loop.I64
	}
	nan := w.Do(loop.OpNe, loop.B, 0, x, x)
	return w.Select(nan, w.Const(t, ^uint64(0)), w.Do(loop.OpBits, t, 0, x))
}
