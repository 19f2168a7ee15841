package sparse

import (
	"math"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// The gradient of a solution x of a*x = b comes from the equation, not from the iterations: that of b is the solution
// of the adjoint equations a^H*g = dx, and what a was computed from has the gradient of -a(x) with respect to g.

// A method solves equations.
type method = func(a Operator, b *weft.Tensor, opts ...SolverOpts) (Solution, error)

// An inverse is a linear function of vectors and its adjoint. Each solves equations to at most a length of the
// residual that does not count.
type inverse struct {
	name           string
	solve, adjoint func(b *weft.Tensor, atol float64) (Solution, error)
}

// of applies the inverse, with gradients of any order in b.
func (v inverse) of(b *weft.Tensor, atol float64) *weft.Tensor {
	f := &weft.Func{Name: v.name,
		Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
			s, err := v.solve(x[0].Detach(), atol)
			if err != nil {
				array.Failf(v.name, "", "the adjoint equations of the gradient: %v", err)
			}
			return s.X
		},
		Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{inverse{v.name, v.adjoint, v.solve}.of(dy, 0)}
		}}
	return f.Apply(b)
}

// differentiable returns a solution x with gradients to second order. residual is b - a*x, recorded, and v the
// inverse of a at the solution, a constant. A step x + v(residual(x)) of Newton's method leaves x as it is and makes
// derivatives right to one more order. A constant x has derivatives of order 0 right.
func differentiable(x *weft.Tensor, residual func(x *weft.Tensor) *weft.Tensor, v inverse, rtol float64) *weft.Tensor {
	if !core.GradOn() {
		return x
	}
	r := residual(x)
	if !r.RequiresGrad() {
		return x
	}
	// What the second step leaves of a gradient to the first is the residual of its adjoint equations, unless
	// gradients of gradients are wanted. It need not be solved for again.
	var left atomic.Uint64
	step := func(x, r *weft.Tensor, second bool) *weft.Tensor {
		f := &weft.Func{Name: v.name,
			Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Clone() },
			Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
				atol := math.Float64frombits(left.Swap(0))
				if second {
					atol = 0
					left.Store(math.Float64bits(8 * rtol * length(dy.Detach())))
				}
				return []*weft.Tensor{dy, inverse{v.name, v.adjoint, v.solve}.of(dy, atol)}
			}}
		return f.Apply(x, r)
	}
	x = step(x, r, false)
	return step(x, residual(x), true)
}

// withGradient gives a converged solution its gradient. by solves equations with a, and with its adjoint.
func (s *solver) withGradient(by method, adjoint, preconditioner Operator, out Solution, err error) (Solution, error) {
	if err != nil {
		return out, err
	}
	solve := func(a, m Operator) func(b *weft.Tensor, atol float64) (Solution, error) {
		return func(b *weft.Tensor, atol float64) (Solution, error) {
			if a == nil {
				array.Failf(s.name, "Adjoint", "is nil: the gradient of the solution needs it")
			}
			return by(a, b, SolverOpts{RTol: s.o.RTol, ATol: atol, MaxIter: s.o.MaxIter, Restart: s.o.Restart, Preconditioner: m})
		}
	}
	v := inverse{s.name, solve(s.given, s.o.Preconditioner), solve(adjoint, preconditioner)}
	out.X = differentiable(out.X, func(x *weft.Tensor) *weft.Tensor { return s.right.Sub(s.given(x).To(x.DType())) }, v, s.rtol)
	return out, nil
}

// lsqrGradient gives a least squares solution its gradient, by the normal equations a^H*(b - a*x) = damp^2*x.
func (s *solver) lsqrGradient(a, adjoint Operator, damp, rtol float64, out Solution, err error) (Solution, error) {
	if err != nil {
		return out, err
	}
	normal := func(x *weft.Tensor) *weft.Tensor {
		y := adjoint(a(x)).To(x.DType())
		if damp != 0 {
			y = y.Add(x.Mul(damp * damp))
		}
		return y
	}
	solve := func(b *weft.Tensor, atol float64) (Solution, error) {
		most := 10 * max(b.Dim(0), s.b.Dim(0))
		return CG(normal, b, SolverOpts{RTol: &rtol, ATol: atol, MaxIter: &most})
	}
	out.X = differentiable(out.X, func(x *weft.Tensor) *weft.Tensor {
		g := adjoint(s.right.Sub(a(x))).To(x.DType())
		if damp != 0 {
			g = g.Sub(x.Mul(damp * damp))
		}
		return g
	}, inverse{s.name, solve, solve}, rtol)
	return out, nil
}
