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
