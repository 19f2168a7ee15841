package linalg

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/cpu/eigen"
	"weft/internal/jit"
)

// Eigenvalues, singular values and functions of matrices. They are computed in float64 and complex128
// (package eigen), and rounded once.

// wide is the type of elements that package eigen computes with.
type wide interface{ float64 | complex128 }

const (
	notFinite    = "has elements that are not finite"
	notConverged = "has no decomposition: the iteration did not converge"
)

// spectral calls f for each matrix of a, copied to contiguous memory, in the type that its elements
// have in package eigen. work is a matrix's multiply-adds.
func spectral(isa jit.ISA, a *array.View, work int, realOnes func(m *eigen.Machine, i int, x []float64) string, complexOnes func(m *eigen.Machine, i int, x []complex128) string) error {
	r := len(a.Shape)
	rows, cols, batch := a.Shape[r-2], a.Shape[r-1], a.Shape[:r-2]
	if a.DType.Complex() {
		return each("a", batch, 4*work, func(i, threads int) string { return spectralAt(isa, threads, a, i, rows, cols, complexOnes) })
	}
	return each("a", batch, work, func(i, threads int) string { return spectralAt(isa, threads, a, i, rows, cols, realOnes) })
}

func spectralAt[T wide](isa jit.ISA, threads int, a *array.View, i, rows, cols int, f func(m *eigen.Machine, i int, x []T) string) string {
	x, free := alloc[T](rows * cols)
	defer free()
	if len(x) > 0 {
		load(matrix[T]{x, rows, cols, cols}, matrixAt(a, i, 2))
	}
	if !eigen.Finite(x) {
		return notFinite
	}
	return f(&eigen.Machine{ISA: isa, Threads: threads}, i, x)
}

// put stores a contiguous matrix, or a vector if rank is 1, as matrix i of a result.
func put[T wide](out *array.View, i, rank int, x []T) {
	if len(x) == 0 {
		return
	}
	cols := 1
	if rank == 2 {
		cols = out.Shape[len(out.Shape)-1]
	}
	store(matrixAt(out, i, rank), matrix[T]{x, len(x) / cols, cols, cols})
}

// Eigh computes eigenvalues of Hermitian matrices, whose lower triangles are read, and their
// eigenvectors unless v is nil.
func Eigh(isa jit.ISA, w, v, a *array.View) error {
	n := a.Shape[len(a.Shape)-1]
	key, out := lanesKey{isa, array.Float64, eighLanes, n, n, 0}, []lanesArray{vectors(w)}
	if v != nil {
		key.w = n
		out = append(out, matrices(v))
	}
	one := func(m *eigen.Machine, i int, x []float64) string { return eighAt(m, i, n, x, w, v) }
	if alone, ok := realLanes(key, 30*n*n*n, a, out); ok {
		return only("a", a.Shape[:len(a.Shape)-2], alone, func(i, threads int) string { return spectralAt(isa, threads, a, i, n, n, one) })
	}
	return spectral(isa, a, 4*n*n*n, one, func(m *eigen.Machine, i int, x []complex128) string { return eighAt(m, i, n, x, w, v) })
}

// realLanes is lanes for matrices that are not complex.
func realLanes(key lanesKey, perMatrix int, a *array.View, out []lanesArray) (alone []int, ok bool) {
	if a.DType.Complex() {
		return nil, false
	}
	return lanes(key, perMatrix, []lanesArray{matrices(a)}, out, nil)
}

func eighAt[T wide](m *eigen.Machine, i, n int, x []T, w, v *array.View) string {
	for r := range n {
		x[r*n+r] = eigen.Real(x[r*n+r])
		for c := range r {
			x[c*n+r] = conj(x[r*n+c])
		}
	}
	values := make([]float64, n)
	var vectors []T
	if v != nil {
		var free func()
		vectors, free = alloc[T](n * n)
		defer free()
	}
	small, ok := any(x).([]float64)
	if ok = ok && isSmallEigh(n); ok {
		v, _ := any(vectors).([]float64)
		ok = smallEigh(n, append([]float64(nil), small...), values, v)
	}
	if !ok && !eigen.Hermitian(m, n, x, values, vectors) {
		return notConverged
	}
	put(w, i, 1, values)
	if v != nil {
		put(v, i, 2, vectors)
	}
	return ""
}

// SVD computes singular values, and unless u is nil singular vectors.
func SVD(isa jit.ISA, u, s, vh, a *array.View) error {
	r := len(a.Shape)
	rows, cols := a.Shape[r-2], a.Shape[r-1]
	work, k := 8*rows*cols*min(rows, cols), min(rows, cols)
	key, out := lanesKey{isa, array.Float64, svdLanes, rows, cols, 0}, []lanesArray{vectors(s)}
	if u != nil {
		key.w = k
		out = append(out, matrices(u), matrices(vh))
	}
	one := func(m *eigen.Machine, i int, x []float64) string { return svdAt(m, i, rows, cols, x, u, s, vh) }
	if u == nil || u.Shape[r-1] == k && vh.Shape[r-2] == k {
		if alone, ok := realLanes(key, 5*work, a, out); ok {
			return only("a", a.Shape[:r-2], alone, func(i, threads int) string { return spectralAt(isa, threads, a, i, rows, cols, one) })
		}
	}
	return spectral(isa, a, work, one, func(m *eigen.Machine, i int, x []complex128) string { return svdAt(m, i, rows, cols, x, u, s, vh) })
}

func svdAt[T wide](m *eigen.Machine, i, rows, cols int, x []T, u, s, vh *array.View) string {
	k := min(rows, cols)
	values, left, right, uCols, vRows := make([]float64, k), []T(nil), []T(nil), 0, 0
	if u != nil {
		uCols, vRows = u.Shape[len(u.Shape)-1], vh.Shape[len(vh.Shape)-2]
		var freeLeft, freeRight func()
		left, freeLeft = alloc[T](rows * uCols)
		defer freeLeft()
		right, freeRight = alloc[T](vRows * cols)
		defer freeRight()
	}
	small, ok := any(x).([]float64)
	if ok = ok && isSmallSVD(rows, cols) && (u == nil || uCols == k && vRows == k); ok {
		l, _ := any(left).([]float64)
		r, _ := any(right).([]float64)
		ok = smallSVD(rows, cols, small, l, values, r)
	}
	converged := ok
	if thin := u == nil || uCols == k && vRows == k; !ok && thin {
		ok, converged = svdTall(m, rows, cols, x, values, left, right)
	}
	if !ok {
		converged = eigen.Singular(m, rows, cols, x, values, left, uCols, right, vRows)
	}
	if !converged {
		return notConverged
	}
	put(s, i, 1, values)
	if u != nil {
		put(u, i, 2, left)
		put(vh, i, 2, right)
	}
	return ""
}

// PInv computes pseudo-inverses by thin singular value decompositions, which it stores too. Singular values up to
// cutoff times the largest count as 0.
func PInv(isa jit.ISA, out, u, s, vh, a *array.View, cutoff float64) error {
	if err := SVD(isa, u, s, vh, a); err != nil {
		return err
	}
	one := func(i, threads int) string { return pinvAt(kit[complex128]{isa, threads}, out, u, s, vh, i, cutoff) }
	switch out.DType {
	case array.Float32:
		one = func(i, threads int) string { return pinvAt(kit[float32]{isa, threads}, out, u, s, vh, i, cutoff) }
	case array.Float64:
		one = func(i, threads int) string { return pinvAt(kit[float64]{isa, threads}, out, u, s, vh, i, cutoff) }
	}
	r := len(s.Shape)
	return each("a", s.Shape[:r-1], array.Size(out.Shape[r-1:])*s.Shape[r-1], one)
}

func pinvAt[T number](k kit[T], out, u, s, vh *array.View, i int, cutoff float64) string {
	r := len(out.Shape)
	n, m, values := out.Shape[r-2], out.Shape[r-1], s.Shape[r-2]
	if n*m == 0 {
		return ""
	}
	x, free := alloc[T](values * (1 + n))
	defer free()
	sizes, right := matrix[T]{x[:values], values, 1, 1}, matrix[T]{x[values:], values, n, n}
	load(sizes, matrixAt(s, i, 1))
	load(right, matrixAt(vh, i, 2))
	most := re(sizes.x[0])
	for j, v := range sizes.x {
		row := right.row(j)
		if !(re(v) > float64(most*cutoff)) {
			clear(row)
			continue
		}
		for l, y := range row {
			row[l] = quotient(y, v)
		}
	}
	left, done := borrowed[T](matrixAt(u, i, 2), m, values)
	defer done()
	left.t, left.c = !left.t, true
	y, finish := result[T](matrixAt(out, i, 2), n, m)
	defer finish()
	k.multiply(y, operand[T]{right, true, true}, left)
	return ""
}

// Eig computes eigenvalues, and unless v is nil eigenvectors; both are complex.
func Eig(isa jit.ISA, w, v, a *array.View) error {
	n := a.Shape[len(a.Shape)-1]
	return spectral(isa, a, 20*n*n*n, func(m *eigen.Machine, i int, x []float64) string {
		return eigAt(m, i, n, x, w, v)
	}, func(m *eigen.Machine, i int, x []complex128) string { return eigAt(m, i, n, x, w, v) })
}

func eigAt[T wide](m *eigen.Machine, i, n int, x []T, w, v *array.View) string {
	values := make([]complex128, n)
	var vectors []complex128
	if v != nil {
		vectors = make([]complex128, n*n)
	}
	if !eigen.General(m, n, x, values, vectors) {
		return notConverged
	}
	put(w, i, 1, values)
	if v != nil {
		put(v, i, 2, vectors)
	}
	return ""
}

// Schur computes Schur forms t and their unitary factors z, or with hessenberg Hessenberg forms.
func Schur(isa jit.ISA, t, z, a *array.View, hessenberg bool) error {
	n := a.Shape[len(a.Shape)-1]
	return spectral(isa, a, 20*n*n*n, func(m *eigen.Machine, i int, x []float64) string {
		return schurAt(m, i, n, x, t, z, hessenberg)
	}, func(m *eigen.Machine, i int, x []complex128) string { return schurAt(m, i, n, x, t, z, hessenberg) })
}

func schurAt[T wide](m *eigen.Machine, i, n int, x []T, t, z *array.View, hessenberg bool) string {
	q := make([]T, n*n)
	if hessenberg {
		eigen.ScaledHessenberg(m, n, x, q)
	} else if !eigen.Schur(m, n, x, q) {
		return notConverged
	}
	put(t, i, 2, x)
	put(z, i, 2, q)
	return ""
}

// A Function is a function of matrices.
type Function int

const (
	Exponential Function = iota
	Logarithm
	SquareRoot
)

// FunctionOf computes a function of square matrices.
func FunctionOf(isa jit.ISA, out, a *array.View, f Function) error {
	n := a.Shape[len(a.Shape)-1]
	return spectral(isa, a, 20*n*n*n, func(m *eigen.Machine, i int, x []float64) string {
		return functionAt(m, i, n, x, out, f)
	}, func(m *eigen.Machine, i int, x []complex128) string { return functionAt(m, i, n, x, out, f) })
}

func functionAt[T wide](m *eigen.Machine, i, n int, x []T, out *array.View, f Function) string {
	y := make([]T, n*n)
	if f == Exponential {
		if !eigen.Exp(m, n, x, y) {
			return "has no exponential: a system of its approximation is singular"
		}
		put(out, i, 2, y)
		return ""
	}
	name, g := "square root", eigen.Sqrt[T]
	if f == Logarithm {
		name, g = "logarithm", eigen.Log[T]
	}
	if trouble := g(m, n, x, y); trouble != nil {
		switch {
		case trouble.Diverged:
			return notConverged
		case trouble.Negative != 0:
			return fmt.Sprintf("has no real %s: %.6g is an eigenvalue; convert it to complex numbers first", name, trouble.Negative)
		}
		return "is singular and has no " + name
	}
	put(out, i, 2, y)
	return ""
}
