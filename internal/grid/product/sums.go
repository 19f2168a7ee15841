package product

import (
	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// initSums makes the sums of a thread, and returns the first of its rows and columns in the tile.
func (w *writer) initSums() (row, col grid.Reg) {
	add := func(row, col, n int) {
		g := group{row: row, col: col}
		for range n {
			g.sum = append(g.sum, w.Copy(w.zero()))
		}
		w.sums = append(w.sums, g)
	}
	s := w.shape
	if w.v.DType == array.Float64 {
		high, wide, _ := w.fragments()
		for i := range high {
			for j := range wide {
				for half := range w.mmaRows() / 8 {
					add(i*w.mmaRows()+8*half, 8*j, 2)
				}
			}
		}
		lane, warp := w.split(w.thread, grid.Warp)
		down, across := w.split(warp, s.down)
		inRow, inCol := w.laneOf(lane)
		row = w.Add(w.Mul(down, w.I32(int32(s.m/s.down))), inRow)
		col = w.Add(w.Mul(across, w.I32(int32(s.n*s.down/warps))), w.Mul(inCol, w.I32(2)))
	} else {
		m, n := w.run(s.rows), w.run(s.cols)
		for i := range s.rows {
			for j := range s.cols / n {
				add(i/m*(s.m*m/s.rows)+i%m, j*(s.n*n/s.cols), n)
			}
		}
		x, y := w.split(w.thread, s.n/s.cols)
		row, col = w.Mul(y, w.I32(int32(m))), w.Mul(x, w.I32(int32(n)))
	}
	return row, col
}

// run is how many of a thread's rows or columns are neighbours: they are read together.
func (w *writer) run(n int) int { return min(n, lanes(w.v.DType)) }

// laneOf splits the number of a lane as the shapes of mma.sync do: eight rows, four terms.
func (w *writer) laneOf(lane grid.Reg) (row, term grid.Reg) {
	term, row = w.split(lane, 4)
	return row, term
}

// mmaRows and mmaTerms are the sizes of the matrices of mma.sync.
func (w *writer) mmaRows() int {
	if w.mma == grid.M8N8K4 {
		return 8
	}
	return 16
}

func (w *writer) mmaTerms() int {
	if w.mma == grid.M8N8K4 {
		return 4
	}
	return 8
}

// fragments returns how many matrices of mma.sync a warp has, one below the other, beside each
// other, and by terms of a tile.
func (w *writer) fragments() (high, wide, deep int) {
	s := w.shape
	return s.m / s.down / w.mmaRows(), s.n * s.down / warps / 8, depth / w.mmaTerms()
}

// initTotals makes room for the sums of blocks, and sets them to -0.
func (w *writer) initTotals() {
	switch {
	case !w.v.Blocks:
	case w.shape.sumsShared:
		w.totals = w.K.Shared
		n := 0
		for _, g := range w.sums {
			n += len(g.sum)
		}
		w.K.Shared += n * threads * w.size
		at, zero := w.total(), w.minusZero()
		for i := range n {
			w.Store(grid.Shared, w.elem(), at, i*threads*w.size, grid.NoReg, zero)
		}
	default:
		for i := range w.sums {
			g := &w.sums[i]
			for range g.sum {
				g.both = append(g.both, w.Copy(w.minusZero()))
			}
		}
	}
}

// total returns the place (I64) of the thread's first sum of blocks in shared memory.
func (w *writer) total() grid.Reg {
	return w.Wide(w.Add(w.Mul(w.thread, w.I32(int32(w.size))), w.I32(int32(w.totals))))
}

// endBlock adds a block to the sum of blocks before it, and begins the next one.
func (w *writer) endBlock() {
	at, n := grid.NoReg, 0
	if w.totals > 0 {
		at = w.total()
	}
	for _, g := range w.sums {
		for i, r := range g.sum {
			if w.totals == 0 {
				w.Update(g.both[i], loop.OpAdd, g.both[i], w.signed(r))
			} else {
				before := w.Load(grid.Shared, w.elem(), w.t, at, n*threads*w.size, grid.NoReg)
				w.Store(grid.Shared, w.elem(), at, n*threads*w.size, grid.NoReg, w.Add(before, w.signed(r)))
			}
			w.Set(r, w.zero())
			n++
		}
	}
}

// signed returns the sum of a block as it counts: -0 as +0 where the variant demands it.
func (w *writer) signed(sum grid.Reg) grid.Reg {
	if w.v.Positive {
		return w.Add(sum, w.zero())
	}
	return sum
}

// multiply adds the products of a tile of A and of B to the sums.
func (w *writer) multiply(row, col grid.Reg) {
	if w.v.DType == array.Float64 {
		w.multiplyMatrices()
		return
	}
	s := w.shape
	a, b := w.from(row), w.from(col)
	m, n := w.run(s.rows), w.run(s.cols)
	for k := range depth {
		var x, y []grid.Reg
		for i := range s.rows / m {
			x = append(x, w.LoadN(grid.Shared, w.elem(), w.t, m, a, w.a.offsetOf(w.size, k, i*(s.m*m/s.rows)), grid.NoReg)...)
		}
		for j := range s.cols / n {
			y = append(y, w.LoadN(grid.Shared, w.elem(), w.t, n, b, w.b.offsetOf(w.size, k, j*(s.n*n/s.cols)), grid.NoReg)...)
		}
		for i := range s.rows {
			for j := range s.cols {
				r := w.sums[(i*s.cols+j)/n].sum[j%n]
				w.Update(r, loop.OpFma, x[i], y[j], r)
			}
		}
	}
}

// from returns the place in the buffer (I64) of a place in a tile (I32).
func (w *writer) from(place grid.Reg) grid.Reg {
	return w.Wide(w.Add(w.Mul(place, w.I32(int32(w.size))), w.buffer))
}

// offsetOf returns the bytes in the buffer from a place of the first term to a place behind it, of
// another term.
func (s *side) offsetOf(size, term, place int) int { return s.offset + (term*s.pitch()+place)*size }

// multiplyMatrices is multiply by mma.sync. A lane holds element i of A at row lane/4 + 8*(i%2) and
// term lane%4 + 4*(i/2), or at term lane%4 of eight rows alone, and B by columns in the same way.
func (w *writer) multiplyMatrices() {
	s := w.shape
	high, wide, deep := w.fragments()
	lane, warp := w.split(w.thread, grid.Warp)
	down, across := w.split(warp, s.down)
	eighth, term := w.laneOf(lane)
	first := func(o *side, warp grid.Reg, places int) grid.Reg {
		place := w.Add(w.Mul(warp, w.I32(int32(places))), eighth)
		return w.from(w.Add(place, w.Mul(term, w.I32(int32(o.pitch())))))
	}
	a, b := first(&w.a, down, s.m/s.down), first(&w.b, across, s.n*s.down/warps)
	halves, fours := w.mmaRows()/8, w.mmaTerms()/4
	load := func(addr grid.Reg, o *side, k, place int) grid.Reg {
		return w.Load(grid.Shared, w.elem(), w.t, addr, o.offsetOf(w.size, k, place), grid.NoReg)
	}
	for d := range deep {
		k := d * w.mmaTerms()
		left, right := make([][]grid.Reg, high), make([][]grid.Reg, wide)
		for i := range left {
			for e := range halves * fours {
				left[i] = append(left[i], load(a, &w.a, k+4*(e/halves), i*w.mmaRows()+8*(e%halves)))
			}
		}
		for j := range right {
			for e := range fours {
				right[j] = append(right[j], load(b, &w.b, k+4*e, 8*j))
			}
		}
		for i := range left {
			for j := range right {
				var sum []grid.Reg
				for half := range halves {
					sum = append(sum, w.sums[(i*wide+j)*halves+half].sum...)
				}
				w.Ins(grid.Ins{Op: grid.MMA, Imm: int64(w.mma), Regs: sum, AB: append(append([]grid.Reg(nil), left[i]...), right[j]...)})
			}
		}
	}
}

// store writes the sums to C.
func (w *writer) store(row, col grid.Reg) {
	strideRow, strideCol := w.Arg(loop.I64, argStrides+32), grid.NoReg
	if !w.v.Windows {
		strideCol = w.Arg(loop.I64, argStrides+40)
	}
	row, col = w.Add(w.m0, row), w.Add(w.n0, col)
	address := w.addresses(row, col, strideRow, strideCol)
	rowsLeft, colsLeft := w.Sub(w.Arg(loop.I32, argM), row), w.Sub(w.Arg(loop.I32, argN), col)
	n := 0
	for _, g := range w.sums {
		x := g.sum
		switch {
		case w.totals > 0:
			x = nil
			for range g.sum {
				x = append(x, w.Load(grid.Shared, w.elem(), w.t, w.total(), n*threads*w.size, grid.NoReg))
				n++
			}
		case w.v.Blocks:
			x = g.both
		case w.v.Positive:
			x = nil
			for _, r := range g.sum {
				x = append(x, w.signed(r))
			}
		}
		inRow := w.Lt(w.I32(int32(g.row)), rowsLeft)
		if w.v.Vector {
			w.Store(grid.Global, w.elem(), address(g, 0), 0, w.And(inRow, w.Lt(w.I32(int32(g.col)), colsLeft)), x...)
			continue
		}
		for j, r := range x {
			w.Store(grid.Global, w.elem(), address(g, j), 0, w.And(inRow, w.Lt(w.I32(int32(g.col+j)), colsLeft)), r)
		}
	}
}

// addresses returns what gives the address of column j of a group in C, in ascending order of j; row
// and col are the first of the thread.
func (w *writer) addresses(row, col, strideRow, strideCol grid.Reg) func(g group, j int) grid.Reg {
	if w.v.Windows {
		return w.addressesOfColumns(row, col, strideRow)
	}
	start := w.Add(w.pointer(2), w.Add(w.Mul(w.Wide(row), strideRow), w.Mul(w.Wide(col), strideCol)))
	var at grid.Reg
	return func(g group, j int) grid.Reg {
		if j > 0 {
			at = w.Add(at, strideCol)
		} else {
			at = w.Add(start, w.Add(w.Mul(strideRow, w.I64(int64(g.row))), w.Mul(strideCol, w.I64(int64(g.col)))))
		}
		return at
	}
}
