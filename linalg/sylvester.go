package linalg

import (
	"weft"
	"weft/internal/array"
)

// SolveSylvester returns the solutions x of a * x + x * b = q, [... n m], for a [... n n], b [... m m] and
// q [... n m]. It computes complex Schur forms of a and b and solves between their triangles. Sources: Bartels
// and Stewart, "Solution of the matrix equation AX + XB = C", 1972; Jonsson and Kågström, "Recursive blocked
// algorithms for solving triangular systems", 2002. Gradients are right to second order.
//
// It panics with *[weft.Error] where an eigenvalue of a is the negative of one of b, so that a diagonal
// element is 0, where elements of a or b are not finite, or shapes do not fit.
func SolveSylvester(a, b, q *weft.Tensor) *weft.Tensor {
	const name = "linalg.solve_sylvester"
	defer array.Named(name).End()
	a, b, q = square(name, "a", a), square(name, "b", b), matrix(name, "q", q)
	return solveSylvester(name, a, b, q, false)
}

// SolveContinuousLyapunov returns the solutions x of a * x + x * a^H = q, [... n n], for a and q [... n n].
// It has the method of [SolveSylvester], and gradients to second order.
//
// It panics with *[weft.Error] where an eigenvalue of a is the negative conjugate of another, so that a
// diagonal element is 0, where elements of a are not finite, or shapes do not fit.
func SolveContinuousLyapunov(a, q *weft.Tensor) *weft.Tensor {
	const name = "linalg.solve_continuous_lyapunov"
	defer array.Named(name).End()
	a, q = square(name, "a", a), square(name, "q", q)
	return solveSylvester(name, a, nil, q, false)
}

// SolveDiscreteLyapunov returns the solutions x of a * x * a^H - x + q = 0, [... n n], for a and q [... n n]. It
// solves with the complex Schur form of a, as [SolveSylvester] does. Gradients are right to second order.
//
// It panics with *[weft.Error] where an eigenvalue of a times the conjugate of another is 1, so that a diagonal
// element is 0, where elements of a are not finite, or shapes do not fit.
func SolveDiscreteLyapunov(a, q *weft.Tensor) *weft.Tensor {
	const name = "linalg.solve_discrete_lyapunov"
	defer array.Named(name).End()
	a, q = square(name, "a", a), square(name, "q", q)
	return solveSylvester(name, a, nil, q, true)
}

// solveSylvester checks that shapes fit and makes types and axes before the last two equal. A nil b is a^H.
func solveSylvester(name string, a, b, q *weft.Tensor, discrete bool) *weft.Tensor {
	n, m, last := a.Dim(-1), a.Dim(-1), "a"
	if b != nil {
		m, last = b.Dim(-1), "b"
	}
	if q.Dim(-2) != n || q.Dim(-1) != m {
		array.Failf(name, "q", "has shape %s, want %d rows as a and %d columns as %s", array.ShapeString(q.Shape()), n, m, last)
	}
	d := array.Promote(a.DType(), q.DType())
	if b != nil {
		d = array.Promote(d, b.DType())
	}
	if d.Half() {
		if b != nil {
			b = unhalved(b)
		}
		return solveSylvester(name, unhalved(a), b, unhalved(q), discrete).To(d)
	}
	a, q = meet(name, a.To(d), q)
	if b != nil {
		a, b = meet(name, a, b.To(d))
		a, q = meet(name, a, q)
	}
	e := newSylvester(a, b, discrete)
	if discrete {
		q = q.Neg()
	}
	return e.solve(q)
}

// A sylvester is the left side of a * x + x * b = q, or of a * x * b - x = q if it is discrete.
type sylvester struct {
	discrete bool
	a, b     *weft.Tensor
	t, z     *weft.Tensor // a = z * t * z^H, without gradient
	l, w     *weft.Tensor // b = w * l * w^H, l lower triangular, without gradient
}

func newSylvester(a, b *weft.Tensor, discrete bool) *sylvester {
	e := &sylvester{discrete: discrete, a: a, b: b}
	e.t, e.z = Schur(a.Detach(), SchurOpts{Complex: true})
	if b == nil {
		e.b, e.l, e.w = adjoint(a), adjoint(e.t), e.z
		return e
	}
	form := naming("b", func() [2]*weft.Tensor {
		u, w := Schur(adjoint(b.Detach()), SchurOpts{Complex: true})
		return [2]*weft.Tensor{u, w}
	})
	e.l, e.w = adjoint(form[0]), form[1]
	return e
}

// solve refines the solution twice. The factors have no gradient, but the residual has: each step of x + inverse(q -
// left side of x) adds one order of derivatives to x, and removes rounding.
func (e *sylvester) solve(q *weft.Tensor) *weft.Tensor {
	x := e.inverse(q.Detach())
	for range 2 {
		x = x.Add(e.inverse(q.Sub(e.left(x))))
	}
	return x
}

func (e *sylvester) left(x *weft.Tensor) *weft.Tensor {
	if e.discrete {
		return e.a.MatMul(x).MatMul(e.b).Sub(x)
	}
	return e.a.MatMul(x).Add(x.MatMul(e.b))
}

// inverse solves by the factors.
func (e *sylvester) inverse(q *weft.Tensor) *weft.Tensor {
	y := e.triangular(e.l, adjoint(e.z).MatMul(q.To(e.t.DType())).MatMul(e.w))
	x := e.z.MatMul(y).MatMul(adjoint(e.w))
	if !q.DType().Complex() {
		return x.Real()
	}
	return x
}

// triangular solves for the triangles t and l. It halves the columns: the right half depends on itself alone.
func (e *sylvester) triangular(l, f *weft.Tensor) *weft.Tensor {
	m := f.Dim(-1)
	if f.Size() == 0 {
		return f
	}
	if m == 1 {
		eye := e.t.Device().EyeOf(e.t.DType(), e.t.Dim(-1))
		if e.discrete {
			return SolveTriangular(e.t.Mul(l).Sub(eye), f)
		}
		return SolveTriangular(e.t.Add(eye.Mul(l)), f)
	}
	k := m / 2
	lower := rows(l, k, m-k)
	right := e.triangular(columns(lower, k, m-k), columns(f, k, m-k))
	known := right.MatMul(columns(lower, 0, k))
	if e.discrete {
		known = e.t.MatMul(known)
	}
	left := e.triangular(columns(rows(l, 0, k), 0, k), columns(f, 0, k).Sub(known))
	return weft.Cat([]*weft.Tensor{left, right}, -1)
}
