package linalg

import (
	"math"

	"weft/internal/array"
	"weft/internal/jit"
)

// PolarFactor computes the nearest matrices with orthonormal columns, or rows where there are fewer of them, by
// thin singular value decompositions, which it stores too: of a = u*diag(s)*vh the product u*vh.
func PolarFactor(isa jit.ISA, out, u, s, vh, a *array.View) error {
	if err := SVD(isa, u, s, vh, a); err != nil {
		return err
	}
	one := func(i, threads int) string { return polarAt(kit[complex128]{isa, threads}, out, u, vh, i) }
	switch out.DType {
	case array.Float32:
		one = func(i, threads int) string { return polarAt(kit[float32]{isa, threads}, out, u, vh, i) }
	case array.Float64:
		one = func(i, threads int) string { return polarAt(kit[float64]{isa, threads}, out, u, vh, i) }
	}
	r := len(s.Shape)
	return each("a", s.Shape[:r-1], array.Size(out.Shape[r-1:])*s.Shape[r-1], one)
}

func polarAt[T number](k kit[T], out, u, vh *array.View, i int) string {
	r := len(out.Shape)
	m, n, values := out.Shape[r-2], out.Shape[r-1], vh.Shape[r-2]
	if m*n == 0 {
		return ""
	}
	left, freeLeft := borrowed[T](matrixAt(u, i, 2), m, values)
	defer freeLeft()
	right, freeRight := borrowed[T](matrixAt(vh, i, 2), values, n)
	defer freeRight()
	y, finish := result[T](matrixAt(out, i, 2), m, n)
	defer finish()
	k.multiply(y, left, right)
	return ""
}

// NuclearNorm computes the sums of singular values, in their order, and stores these too.
func NuclearNorm(isa jit.ISA, out, s, a *array.View) error {
	if err := SVD(isa, nil, s, nil, a); err != nil {
		return err
	}
	r := len(s.Shape)
	n := s.Shape[r-1]
	return each("a", s.Shape[:r-1], n, func(i, _ int) string {
		x, free := alloc[float64](n)
		defer free()
		sum := 0.0
		if n > 0 {
			load(matrix[float64]{x, n, 1, 1}, matrixAt(s, i, 1))
		}
		for _, v := range x {
			sum += v
		}
		store(matrixAt(out, i, 1), matrix[float64]{[]float64{sum}, 1, 1, 1})
		return ""
	})
}

// HermitianSylvester computes the solutions z of h*z + z*h = k for Hermitian positive definite h. Of h the lower
// triangles are read. It stores their eigenvalues w and vectors v too: in the basis of the vectors
// elements of k are divided by sums of two eigenvalues. A sum of 0, up to rounding, makes NaN. Source: Golub and
// Van Loan, Matrix Computations, section 7.6.3.
func HermitianSylvester(isa jit.ISA, z, w, v, h, k *array.View) error {
	if err := Eigh(isa, w, v, h); err != nil {
		return err
	}
	eps := 0x1p-52
	if h.DType.Part() == array.Float32 {
		eps = 0x1p-23
	}
	one := func(i, threads int) string { return sylvesterAt(kit[complex128]{isa, threads}, z, w, v, k, i, eps) }
	switch h.DType {
	case array.Float32:
		one = func(i, threads int) string { return sylvesterAt(kit[float32]{isa, threads}, z, w, v, k, i, eps) }
	case array.Float64:
		one = func(i, threads int) string { return sylvesterAt(kit[float64]{isa, threads}, z, w, v, k, i, eps) }
	}
	r := len(w.Shape)
	n := w.Shape[r-1]
	return each("h", w.Shape[:r-1], 4*n*n*n, one)
}

func sylvesterAt[T number](t kit[T], z, w, v, k *array.View, i int, eps float64) string {
	r := len(z.Shape)
	n := z.Shape[r-1]
	if n == 0 {
		return ""
	}
	x, free := alloc[T](2 * n * n)
	defer free()
	values, freeValues := alloc[float64](n)
	defer freeValues()
	load(matrix[float64]{values, n, 1, 1}, matrixAt(w, i, 1))
	q, freeVectors := borrowed[T](matrixAt(v, i, 2), n, n)
	defer freeVectors()
	right, freeRight := borrowed[T](matrixAt(k, i, 2), n, n)
	defer freeRight()
	a, b := matrix[T]{x[:n*n], n, n, n}, matrix[T]{x[n*n:], n, n, n}
	back := operand[T]{q.matrix, !q.t, !q.c}
	t.multiply(a, back, right)
	t.multiply(b, operand[T]{matrix: a}, q)
	most := 0.0
	for _, v := range values {
		most = max(most, math.Abs(v))
	}
	for r := range n {
		row := b.row(r)
		for c, y := range row {
			sum := values[r] + values[c]
			if !(math.Abs(sum) > float64(eps*float64(most*float64(n)))) {
				sum = math.NaN()
			}
			row[c] = quotient(y, fromReal[T](sum))
		}
	}
	t.multiply(a, q, operand[T]{matrix: b})
	y, finish := result[T](matrixAt(z, i, 2), n, n)
	defer finish()
	t.multiply(y, operand[T]{matrix: a}, back)
	return ""
}
