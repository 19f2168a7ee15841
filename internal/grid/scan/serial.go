package scan

import (
	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// serialDeep is the number of elements of a column that are read at a time.
const serialDeep = 8

// begin returns the register, an F64, in which results are kept. With it the first step gives the
// first element: 1 times it, or 0 times -0 plus it.
func (w *writer) begin() grid.Reg {
	if w.v.Op == Prod {
		return w.Copy(w.F64(1))
	}
	return w.Copy(w.Const(loop.F64, 1<<63))
}

// step moves result on by an element x, and by the factor a of a recurrence. It returns the result as
// an element.
func (w *writer) step(result, x, a grid.Reg) grid.Reg {
	x = w.double(x)
	if w.v.Op == Prod {
		w.Update(result, loop.OpMul, result, x)
	} else {
		w.Update(result, loop.OpAdd, x, w.Mul(w.double(a), result))
	}
	if w.v.DType == array.Float64 {
		return w.Copy(result)
	}
	return w.Do(loop.OpCvt, loop.F32, 0, result)
}

// double returns an element as an F64.
func (w *writer) double(x grid.Reg) grid.Reg {
	if w.v.DType == array.Float64 {
		return x
	}
	return w.Do(loop.OpCvt, loop.F64, 0, x)
}

// factors returns the factors of elements of a column, 0 for the first. The launch has moved the
// address of the factors so that one stands at its element's place.
func (w *writer) factors(place, at grid.Reg, c column, inside []grid.Reg) []grid.Reg {
	if w.v.Op == Prod {
		return make([]grid.Reg, len(inside))
	}
	pred := append([]grid.Reg{w.And(inside[0], w.Lt(w.I64(0), place))}, inside[1:]...)
	return w.loadAll(argA, at, c, pred)
}

// serialColumns writes the kernel of columns that are computed in order.
func (w *writer) serialColumns() {
	w.ForElement(argPart, func(e grid.Element) {
		c, result := w.column(e), w.begin()
		w.walk(c, w.I64(0), w.long(argN), serialDeep, func(place, at grid.Reg, inside []grid.Reg) {
			y := w.loadAll(argX, at, c, inside)
			a := w.factors(place, at, c, inside)
			for k := range y {
				y[k] = w.step(result, y[k], a[k])
			}
			w.storeAll(argY, w.elem, w.size, at, c, inside, y)
		})
	})
}

// pitch is the distance of rows in shared memory, in elements: odd, so that threads that go down a
// column, or along a row, use different banks.
const pitch = grid.Warp + 1

// serialRows writes the kernel of rows that are computed in order. The warp moves 32 elements of its
// rows to shared memory, where each thread computes a row, and back.
func (w *writer) serialRows() {
	lane, n := w.Thread(), w.long(argN)
	square := grid.Warp * pitch * w.size
	w.K.Shared = square
	if w.v.Op == Recurrence {
		w.K.Shared *= 2
	}
	row := w.Mul(w.Wide(w.Block()), w.I64(grid.Warp))
	rows := w.Sub(w.long(argOuter), row)
	result := w.begin()
	across := w.Wide(w.Mul(lane, w.I32(int32(w.size))))
	along := w.Wide(w.Mul(lane, w.I32(int32(pitch*w.size))))
	place := w.Copy(w.Wide(lane)) // of the lane's element of each row
	first := w.Copy(w.I64(0))
	w.While(true, func() grid.Reg { return w.Lt(first, n) }, func() {
		at := place
		if w.v.Reverse {
			at = w.Sub(w.Sub(n, w.I64(1)), place)
		}
		at = w.Add(w.Mul(row, n), at)
		inside := w.Lt(place, n)
		w.load32(argX, at, rows, inside, across, 0)
		if w.v.Op == Recurrence {
			w.load32(argA, at, rows, w.And(inside, w.Lt(w.I64(0), place)), across, square)
		}
		w.WarpBarrier()
		for k := 0; k < grid.Warp; k += serialDeep {
			w.stepRow(result, along, k, square)
		}
		w.WarpBarrier()
		for r := range grid.Warp {
			x := w.Load(grid.Shared, w.elem, w.t, across, r*pitch*w.size, grid.NoReg)
			w.Store(grid.Global, w.elem, w.Moved(w.long(argY), w.rowed(at, r, n), w.size), 0, w.has(rows, r, inside), x)
		}
		w.WarpBarrier()
		w.Update(place, loop.OpAdd, place, w.I64(grid.Warp))
		w.Update(first, loop.OpAdd, first, w.I64(grid.Warp))
	})
}

// rowed returns the number of an element r rows further on.
func (w *writer) rowed(at grid.Reg, r int, n grid.Reg) grid.Reg {
	return w.Add(at, w.Mul(n, w.I64(int64(r))))
}

// has reports whether a lane has an element in row r of those that are left.
func (w *writer) has(rows grid.Reg, r int, inside grid.Reg) grid.Reg {
	return w.And(inside, w.Lt(w.I64(int64(r)), rows))
}

// load32 moves the lane's element of each row to shared memory.
func (w *writer) load32(arg int, at, rows, inside, across grid.Reg, offset int) {
	n := w.long(argN)
	for r := 0; r < grid.Warp; r += serialDeep {
		var x []grid.Reg
		for i := range serialDeep {
			x = append(x, w.Load(grid.Global, w.elem, w.t, w.Moved(w.long(arg), w.rowed(at, r+i, n), w.size), 0, w.has(rows, r+i, inside)))
		}
		for i := range x {
			w.Store(grid.Shared, w.elem, across, offset+(r+i)*pitch*w.size, grid.NoReg, x[i])
		}
	}
}

// stepRow computes elements of a thread's row from the k-th on.
func (w *writer) stepRow(result, along grid.Reg, k, square int) {
	var x, a []grid.Reg
	get := func(offset int) grid.Reg { return w.Load(grid.Shared, w.elem, w.t, along, offset, grid.NoReg) }
	for i := range serialDeep {
		x = append(x, get((k+i)*w.size))
		a = append(a, grid.NoReg)
		if w.v.Op == Recurrence {
			a[i] = get(square + (k+i)*w.size)
		}
	}
	for i := range x {
		w.Store(grid.Shared, w.elem, along, (k+i)*w.size, grid.NoReg, w.step(result, x[i], a[i]))
	}
}
