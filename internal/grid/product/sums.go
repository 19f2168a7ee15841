package product

import (
	"slices"

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
		col = w.Add(w.Mul(across, w.I32(int32(s.warpCols()))), w.Mul(inCol, w.I32(2)))
	} else {
		m, n := w.run(s.rows), w.run(s.cols)
		for i := range s.rows {
			for j := range s.cols / n {
				add(i/m*(s.m*m/s.rows)+i%m, j*(s.n*n/s.cols), n)
			}
		}
		lane, warp := w.split(w.thread, grid.Warp)
		x, y := w.split(lane, s.beside)
		right, down := w.split(warp, s.n/s.cols/s.beside)
		x, y = w.Add(x, w.Mul(right, w.I32(int32(s.beside)))), w.Add(y, w.Mul(down, w.I32(int32(grid.Warp/s.beside))))
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
	if w.mma == grid.M16N8K8 {
		return 8
	}
	return 4
}

// warpCols is the number of columns of a warp, of float64.
func (s *tileShape) warpCols() int { return s.n * s.down * grid.Warp / s.threads }

// fragments returns how many matrices of mma.sync a warp has, one below the other, beside each
// other, and by terms of a tile.
func (w *writer) fragments() (high, wide, deep int) {
	s := w.shape
	return s.m / s.down / w.mmaRows(), s.warpCols() / 8, s.depth / w.mmaTerms()
}

// initTotals makes room for the sums of blocks, and sets them to -0.
func (w *writer) initTotals() {
	s := w.shape
	switch {
	case !w.v.Blocks:
	case w.shape.sumsShared:
		w.totals = w.K.Shared
		for i, g := range w.sums {
			n := len(g.sum)
			w.K.Shared += n * s.threads * w.size
			zero := make([]grid.Reg, n)
			for i := range zero {
				zero[i] = w.minusZero()
			}
			w.Store(grid.Shared, w.elem(), w.total(), w.totalOf(i), grid.NoReg, zero...)
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

// total returns the place (I64) of the thread's first group of sums of blocks in shared memory, and
// totalOf the bytes from there to another group. Groups have one size.
func (w *writer) total() grid.Reg {
	return w.Wide(w.Add(w.Mul(w.thread, w.I32(int32(w.size*len(w.sums[0].sum)))), w.I32(int32(w.totals))))
}

func (w *writer) totalOf(group int) int { return group * len(w.sums[0].sum) * w.shape.threads * w.size }

// loadTotal returns the sums of blocks of a group.
func (w *writer) loadTotal(i int) []grid.Reg {
	return w.LoadN(grid.Shared, w.elem(), w.t, len(w.sums[i].sum), w.total(), w.totalOf(i), grid.NoReg)
}

// endBlock adds a block to the sum of blocks before it, and begins the next one.
func (w *writer) endBlock() {
	for i, g := range w.sums {
		sum := g.both
		if w.totals > 0 {
			sum = w.loadTotal(i)
		}
		for j, r := range g.sum {
			w.Update(sum[j], loop.OpAdd, sum[j], w.signed(r))
			w.Set(r, w.zero())
		}
		if w.totals > 0 {
			w.Store(grid.Shared, w.elem(), w.total(), w.totalOf(i), grid.NoReg, sum...)
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

// Factors are the elements of A and B that a thread multiplies in a step: of float32, one term; of
// float64, the terms of a matrix of mma.sync. Of those a lane holds element i of A at row
// lane/4 + 8*(i%2) and term lane%4 + 4*(i/2), or at term lane%4 of eight rows alone, and B by columns
// in the same way.
type factors struct{ a, b [][]grid.Reg }

// factors returns registers.
func (w *writer) factors() factors {
	regs := func(groups, n int) (out [][]grid.Reg) {
		for range groups {
			g := make([]grid.Reg, n)
			for i := range g {
				g[i] = w.Var(w.t)
			}
			out = append(out, g)
		}
		return out
	}
	if w.v.DType == array.Float64 {
		high, wide, _ := w.fragments()
		fours := w.mmaTerms() / 4
		return factors{regs(high, w.mmaRows()/8*fours), regs(wide, fours)}
	}
	s, m, n := w.shape, w.run(w.shape.rows), w.run(w.shape.cols)
	return factors{regs(s.rows/m, m), regs(s.cols/n, n)}
}

// steps is the number of steps of a tile, which is even.
func (w *writer) steps() int {
	if w.v.DType == array.Float64 {
		return w.shape.depth / w.mmaTerms()
	}
	return w.shape.depth
}

// products is the number of parts that the products of a step have: rows of float32, matrices.
func (w *writer) products() int {
	if w.v.DType == array.Float64 {
		high, wide, _ := w.fragments()
		return high * wide
	}
	return w.shape.rows
}

// places finds the thread's first factors in A and B.
func (w *writer) places(row, col grid.Reg) {
	if w.v.DType == array.Float64 {
		lane, warp := w.split(w.thread, grid.Warp)
		down, across := w.split(warp, w.shape.down)
		eighth, term := w.laneOf(lane)
		first := func(s *side, warp grid.Reg, places int) grid.Reg {
			place := w.Add(w.Mul(warp, w.I32(int32(places))), eighth)
			return w.Add(place, w.Mul(term, w.I32(int32(s.pitch()))))
		}
		row, col = first(&w.a, down, w.shape.m/w.shape.down), first(&w.b, across, w.shape.warpCols())
	}
	w.a.from = w.Copy(w.Mul(row, w.I32(int32(w.size))))
	w.b.from = w.Copy(w.Mul(col, w.I32(int32(w.size))))
}

// offsetOf returns the bytes in the buffer from a place of the first term to a place behind it, of
// another term.
func (s *side) offsetOf(size, term, place int) int { return s.offset + (term*s.pitch()+place)*size }

// read reads the factors of a step.
func (w *writer) read(f *factors, step int) {
	at := [2]grid.Reg{w.Wide(w.a.from), w.Wide(w.b.from)}
	load := func(s *side, term, place int, regs ...grid.Reg) {
		w.Ins(grid.Ins{Op: grid.Load, Space: grid.Shared, Elem: w.elem(), A: at[s.operand], Imm: int64(s.offsetOf(w.size, term, place)), Regs: regs})
	}
	s := w.shape
	if w.v.DType == array.Float32 {
		for i, regs := range f.a {
			load(&w.a, step, i*(s.m*len(regs)/s.rows), regs...)
		}
		for j, regs := range f.b {
			load(&w.b, step, j*(s.n*len(regs)/s.cols), regs...)
		}
		return
	}
	k, halves := step*w.mmaTerms(), w.mmaRows()/8
	for i, regs := range f.a {
		for e, r := range regs {
			load(&w.a, k+4*(e/halves), i*w.mmaRows()+8*(e%halves), r)
		}
	}
	for j, regs := range f.b {
		for e, r := range regs {
			load(&w.b, k+4*e, 8*j, r)
		}
	}
}

// multiply adds parts of the products of factors to the sums.
func (w *writer) multiply(f *factors, first, end int) {
	if w.v.DType == array.Float64 {
		halves := w.mmaRows() / 8
		for p := first; p < end; p++ {
			i, j := p/len(f.b), p%len(f.b)
			var sum []grid.Reg
			for half := range halves {
				sum = append(sum, w.sums[p*halves+half].sum...)
			}
			w.Ins(grid.Ins{Op: grid.MMA, Imm: int64(w.mma), Regs: sum, AB: slices.Concat(f.a[i], f.b[j])})
		}
		return
	}
	m, n := len(f.a[0]), len(f.b[0])
	for i := first; i < end; i++ {
		for j := range w.shape.cols {
			r := w.sums[(i*w.shape.cols+j)/n].sum[j%n]
			w.Update(r, loop.OpFma, f.a[i/m][i%m], f.b[j/n][j%n], r)
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
	for i, g := range w.sums {
		x := g.sum
		switch {
		case w.totals > 0:
			x = w.loadTotal(i)
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
