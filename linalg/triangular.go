package linalg

import (
	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// SolveTriangularOpts are the options of [SolveTriangular].
type SolveTriangularOpts struct {
	Lower        bool // a is lower triangular; it is upper triangular if not given
	UnitDiagonal bool // the diagonal of a is ones, and is not read
	Adjoint      bool // the equations are a^H * x = b
}

// SolveTriangular returns the solutions x of a * x = b for triangular matrices a, [... n n]. It reads
// one triangle of a. b is [n], a vector for each matrix, or [... n k].
//
// It panics with *[weft.Error] where an element of the diagonal is 0, or shapes do not fit.
func SolveTriangular(a, b *weft.Tensor, opts ...SolveTriangularOpts) *weft.Tensor {
	const name = "linalg.solve_triangular"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	t := op.Triangle{Lower: o.Lower, Unit: o.UnitDiagonal, Adjoint: o.Adjoint}
	return equations(name, square(name, "a", a), b, func(a, b *weft.Tensor) *weft.Tensor {
		return apply(op.SolveTriangular, t, a, b)
	})
}

// equations solves for b, which may be one vector: solve gets matrices of one batch and type.
func equations(name string, a, b *weft.Tensor, solve func(a, b *weft.Tensor) *weft.Tensor) *weft.Tensor {
	b = numbers(name, "b", b)
	s, vector := b.Shape(), b.Rank() == 1
	if vector {
		b = b.Unsqueeze(1)
	}
	if b.Rank() < 2 {
		array.Failf(name, "b", "has shape %s, want a vector, or a matrix in the last two axes", array.ShapeString(s))
	}
	if n := a.Dim(-2); b.Dim(-2) != n {
		if b.Dim(-1) == n && b.Rank() == a.Rank()-1 {
			array.Failf(name, "b", "has shape %s, want %d rows for a matrix of shape %s: Unsqueeze(-1) makes columns of vectors", array.ShapeString(s), n, array.ShapeString(a.Shape()))
		}
		array.Failf(name, "b", "has shape %s, want %d rows for a matrix of shape %s", array.ShapeString(s), n, array.ShapeString(a.Shape()))
	}
	x := solve(meet(name, a, b))
	if vector {
		x = x.Squeeze(-1)
	}
	return x
}
