package linalg

import (
	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// CholeskyOpts are the options of [Cholesky].
type CholeskyOpts struct {
	Upper bool // the result is the upper triangular factor U with U^H * U = a
}

// Cholesky returns the lower triangular factors L with L * L^H = a, in the shape of a, [... n n]. It reads
// the lower triangle of a, which it takes to be symmetric, or Hermitian if it is complex. The gradient is
// symmetric, or Hermitian.
//
// It panics with *[weft.Error] where a matrix is not positive definite or a has other shapes.
func Cholesky(a *weft.Tensor, opts ...CholeskyOpts) *weft.Tensor {
	const name = "linalg.cholesky"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	l := apply(op.Cholesky, nil, square(name, "a", a))
	if o.Upper {
		return adjoint(l)
	}
	return l
}

// CholeskySolveOpts are the options of [CholeskySolve].
type CholeskySolveOpts struct {
	Upper bool // the factor is upper triangular, U with U^H * U = a
}

// CholeskySolve returns the solutions x of a * x = b for the factors l of [Cholesky] of a, [... n n]. b is
// [n], a vector for each matrix, or [... n k].
//
// It panics with *[weft.Error] where an element of the diagonal is 0, or shapes do not fit.
func CholeskySolve(l, b *weft.Tensor, opts ...CholeskySolveOpts) *weft.Tensor {
	const name = "linalg.cholesky_solve"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	first, second := op.Triangle{Lower: true}, op.Triangle{Lower: true, Adjoint: true}
	if o.Upper {
		first, second = op.Triangle{Adjoint: true}, op.Triangle{}
	}
	l = square(name, "l", l)
	b = numbers(name, "b", b)
	if d := weft.PromoteTypes(l.DType(), b.DType()); d.Half() {
		return CholeskySolve(unhalved(l), unhalved(b), o).To(d)
	}
	return equations(name, l, b, func(l, b *weft.Tensor) *weft.Tensor {
		return apply(op.SolveTriangular, second, l, apply(op.SolveTriangular, first, l, b))
	})
}
