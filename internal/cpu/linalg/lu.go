package linalg

import (
	"fmt"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
)

// base is the number of columns that are factored without products.
const base = 16

// LUFactor computes out, with the lower triangle L, whose diagonal of ones is not stored, and the upper
// triangle U, where L*U is a after row exchanges: of row i with row pivots[i], i ascending. Each pivot is
// the first element of the greatest magnitude in its column.
func LUFactor(isa jit.ISA, out, pivots, a *array.View) error {
	r := len(a.Shape)
	m, n := a.Shape[r-2], a.Shape[r-1]
	batch, work := a.Shape[:r-2], m*n*min(m, n)/2
	one := func(i, threads int) string { return luFactorAt(kit[complex128]{isa, threads}, out, pivots, a, i) }
	switch out.DType {
	case array.Float32:
		one = func(i, threads int) string { return luFactorAt(kit[float32]{isa, threads}, out, pivots, a, i) }
	case array.Float64:
		one = func(i, threads int) string { return luFactorAt(kit[float64]{isa, threads}, out, pivots, a, i) }
	}
	key := lanesKey{isa, out.DType, luLanes, m, n, 0}
	if alone, ok := lanes(key, n*n*n/3, []lanesArray{matrices(a)}, []lanesArray{matrices(out)}, pivots); ok {
		return only("a", batch, alone, one)
	}
	if out.DType.Complex() {
		work *= 4
	}
	return each("a", batch, work, one)
}

func luFactorAt[T number](k kit[T], out, pivots, a *array.View, i int) string {
	r := len(a.Shape)
	m, n := a.Shape[r-2], a.Shape[r-1]
	if m*n == 0 {
		return ""
	}
	f, done := result[T](matrixAt(out, i, 2), m, n)
	defer done()
	k.load(f, matrixAt(a, i, 2))
	k.lu(f, pivotsAt(pivots, i))
	return ""
}

// pivotsAt returns the pivots of matrix i.
func pivotsAt(v *array.View, i int) []int64 {
	n := v.Shape[len(v.Shape)-1]
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*int64)(codegen.Ptr(v)), v.Size())[i*n:][:n]
}

// Solve computes x with a*x = b, and the factors and pivots of a as LUFactor does. It fails where a is
// singular: where a pivot is 0.
func Solve(isa jit.ISA, x, factors, pivots, a, b *array.View) error {
	one := func(i, threads int) string {
		return solveAt(kit[complex128]{isa, threads}, x, factors, pivots, a, b, i)
	}
	switch x.DType {
	case array.Float32:
		one = func(i, threads int) string {
			return solveAt(kit[float32]{isa, threads}, x, factors, pivots, a, b, i)
		}
	case array.Float64:
		one = func(i, threads int) string {
			return solveAt(kit[float64]{isa, threads}, x, factors, pivots, a, b, i)
		}
	}
	r := len(a.Shape)
	n, w, batch := a.Shape[r-1], b.Shape[r-1], a.Shape[:r-2]
	in, out := []lanesArray{matrices(a), matrices(b)}, []lanesArray{matrices(factors), matrices(x)}
	if alone, ok := lanes(lanesKey{isa, x.DType, solveLanes, n, n, w}, n*n*(n/3+w), in, out, pivots); ok {
		return only("a", batch, alone, one)
	}
	return each("a", batch, solveWork(a, b), one)
}

// solveWork is the multiply-adds of a solution.
func solveWork(a, b *array.View) int {
	n, w := a.Shape[len(a.Shape)-1], b.Shape[len(b.Shape)-1]
	work := n * n * (n/3 + w)
	if a.DType.Complex() {
		work *= 4
	}
	return work
}

// solveEach calls the function of the type of x for each matrix.
func solveEach(isa jit.ISA, x, a, b *array.View, f32 func(k kit[float32], i int) string, f64 func(k kit[float64], i int) string, c func(k kit[complex128], i int) string) error {
	batch, work := a.Shape[:len(a.Shape)-2], solveWork(a, b)
	switch x.DType {
	case array.Float32:
		return each("a", batch, work, func(i, threads int) string { return f32(kit[float32]{isa, threads}, i) })
	case array.Float64:
		return each("a", batch, work, func(i, threads int) string { return f64(kit[float64]{isa, threads}, i) })
	}
	return each("a", batch, work, func(i, threads int) string { return c(kit[complex128]{isa, threads}, i) })
}

func solveAt[T number](k kit[T], x, factors, pivots, a, b *array.View, i int) string {
	r := len(a.Shape)
	n, w := a.Shape[r-1], b.Shape[r-1]
	if n == 0 {
		return ""
	}
	f, done := result[T](matrixAt(factors, i, 2), n, n)
	defer done()
	k.load(f, matrixAt(a, i, 2))
	p := pivotsAt(pivots, i)
	k.lu(f, p)
	for j := range n {
		if f.x[j*f.ld+j] == 0 {
			return fmt.Sprintf("is singular: pivot %d is 0", j)
		}
	}
	y, stored := result[T](matrixAt(x, i, 2), n, w)
	defer stored()
	k.load(y, matrixAt(b, i, 2))
	k.luSolve(operand[T]{matrix: f}, p, false, y)
	return ""
}

// luSolve solves in place of b equations of factors, or of their conjugate transpose. It returns as solve
// does.
func (k *kit[T]) luSolve(f operand[T], pivots []int64, adjoint bool, b matrix[T]) int {
	if !adjoint {
		k.exchange(b, pivots, false)
		k.solve(f, true, true, b)
		return k.solve(f, false, false, b)
	}
	f.t, f.c = !f.t, true
	zero := k.solve(f, true, false, b)
	if zero == 0 {
		k.solve(f, false, true, b)
		k.exchange(b, pivots, true)
	}
	return zero
}

// LUSolve computes x with a*x = b, or with adjoint a^H*x = b, from the factors and pivots of a.
func LUSolve(isa jit.ISA, x, factors, pivots, b *array.View, adjoint bool) error {
	n := factors.Shape[len(factors.Shape)-1]
	for i := range array.Size(pivots.Shape[:len(pivots.Shape)-1]) {
		for j, p := range pivotsAt(pivots, i) {
			if p < 0 || p >= int64(n) {
				return array.Errorf("", "pivots", "has %d at place %d, want 0 to %d", p, j, n-1)
			}
		}
	}
	return solveEach(isa, x, factors, b, func(k kit[float32], i int) string {
		return luSolveAt(k, x, factors, pivots, b, adjoint, i)
	}, func(k kit[float64], i int) string {
		return luSolveAt(k, x, factors, pivots, b, adjoint, i)
	}, func(k kit[complex128], i int) string {
		return luSolveAt(k, x, factors, pivots, b, adjoint, i)
	})
}

func luSolveAt[T number](k kit[T], x, factors, pivots, b *array.View, adjoint bool, i int) string {
	r := len(factors.Shape)
	n, w := factors.Shape[r-1], b.Shape[r-1]
	if n*w == 0 {
		return ""
	}
	p := pivotsAt(pivots, i)
	f, free := borrowed[T](matrixAt(factors, i, 2), n, n)
	defer free()
	y, done := result[T](matrixAt(x, i, 2), n, w)
	defer done()
	k.load(y, matrixAt(b, i, 2))
	if zero := k.luSolve(f, p, adjoint, y); zero > 0 {
		return fmt.Sprintf("is singular: pivot %d is 0", zero-1)
	}
	return ""
}

// Permutation computes from pivots the order of rows: row i of the factored matrix was row out[i].
func Permutation(out, pivots *array.View) error {
	rows := out.Shape[len(out.Shape)-1]
	n := pivots.Shape[len(pivots.Shape)-1]
	for i := range array.Size(pivots.Shape[:len(pivots.Shape)-1]) {
		order := pivotsAt(out, i)
		for j := range order {
			order[j] = int64(j)
		}
		for j, p := range pivotsAt(pivots, i)[:min(n, rows)] {
			if p < 0 || p >= int64(rows) {
				return array.Errorf("", "pivots", "has %d at place %d, want 0 to %d", p, j, rows-1)
			}
			order[j], order[p] = order[p], order[j]
		}
	}
	return nil
}
