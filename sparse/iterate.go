package sparse

import (
	"errors"
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// An Operator is a linear function of vectors. The method value m.MatMul is the operator of a matrix, and any function
// of tensors can be one, so a matrix need not exist.
type Operator = func(x *weft.Tensor) *weft.Tensor

// ErrNotConverged is what the error of an iteration matches that ended before it converged.
var ErrNotConverged = errors.New("did not converge")

// SolverOpts are the options of [CG], [BiCGSTAB], [GMRES], [MINRES].
type SolverOpts struct {
	X0      *weft.Tensor // where to begin; zeros if nil
	RTol    *float64     // converged where the residual's norm is at most RTol times that of b, 1e-5 if nil,
	ATol    float64      // or at most ATol
	MaxIter *int         // 10 times the number of unknowns if nil
	Restart *int         // of GMRES: the number of vectors it keeps, 20 if nil
	// Preconditioner returns about the solution of a*z = x; nil for x itself. CG and MINRES need a symmetric
	// positive definite one.
	Preconditioner Operator
	// Adjoint is the conjugate transpose of a, of a matrix m the method m.H().MatMul, for the gradient of
	// [BiCGSTAB] and [GMRES]. AdjointPreconditioner is that of Preconditioner, nil for none. [CG] and [MINRES] need
	// neither.
	Adjoint, AdjointPreconditioner Operator
	// Callback, if not nil, is called after each iteration with the norm of the residual, and ends the
	// iteration by returning false.
	Callback func(iteration int, residual float64) bool
}

// A Solution is the result of an iteration. If it converged, gradients of X to second order flow to the right side and to
// what the operator computes with, such as the values of a matrix. They take a solution of the adjoint equations, with
// the same options, and are as near as it: a smaller RTol makes them better. A backward pass panics with *[weft.Error]
// if that does not converge.
type Solution struct {
	X          *weft.Tensor
	Iterations int
	Residual   float64 // norm of b - a*x, of the last iteration
	Converged  bool
}

// A solver is the state that iterations share.
type solver struct {
	name          string
	a, m          Operator
	b             *weft.Tensor
	given         Operator     // a
	right         *weft.Tensor // b, with its history
	rtol          float64
	o             SolverOpts
	limit         float64 // of the residual
	most, restart int
	out           Solution
	why           string // it ended
}

// begin checks arguments and prepares the first residual.
func begin(name string, a Operator, b *weft.Tensor, opts []SolverOpts) (s *solver, r *weft.Tensor) {
	o := array.Options(name, opts)
	array.Given(name, "a", a != nil)
	right := numbers(name, "b", b, 1)
	b = right.Detach()
	if b.DType().Half() {
		array.Failf(name, "b", "is %s: iterations need float32 or float64", b.DType())
	}
	rtol := 1e-5
	if o.RTol != nil {
		rtol = *o.RTol
	}
	if !(rtol >= 0) || !(o.ATol >= 0) {
		array.Failf(name, "RTol", "and ATol are %g and %g, want numbers from 0 on", rtol, o.ATol)
	}
	n := b.Dim(0)
	s = &solver{name: name, b: b, given: a, right: right, rtol: rtol, o: o, most: 10 * n, restart: 20}
	if o.MaxIter != nil {
		if s.most = *o.MaxIter; s.most < 0 {
			array.Failf(name, "MaxIter", "is %d, want a number from 0 on", s.most)
		}
	}
	if o.Restart != nil {
		if s.restart = *o.Restart; s.restart < 1 {
			array.Failf(name, "Restart", "is %d, want a number from 1 on", s.restart)
		}
	}
	s.a = s.checked("a", a)
	if s.m = func(x *weft.Tensor) *weft.Tensor { return x }; o.Preconditioner != nil {
		s.m = s.checked("Preconditioner", o.Preconditioner)
	}
	s.limit = max(rtol*length(b), o.ATol)
	s.out.X, r = weft.ZerosOf(b.DType(), n), b
	if o.X0 != nil {
		x := numbers(name, "X0", o.X0, 1)
		if x.Dim(0) != n {
			array.Failf(name, "X0", "has shape %s, want that of b, %s", array.ShapeString(x.Shape()), array.ShapeString(b.Shape()))
		}
		s.out.X = x.Detach().To(b.DType())
		r = b.Sub(s.a(s.out.X))
	}
	s.out.Residual = length(r)
	s.out.Converged = s.within(s.out.Residual)
	return s, r
}

// checked refuses results of an operator that do not fit.
func (s *solver) checked(arg string, f Operator) Operator {
	return func(x *weft.Tensor) *weft.Tensor {
		y := f(x)
		if y == nil || !array.Equal(y.Shape(), x.Shape()) {
			array.Failf(s.name, arg, "does not give a vector of shape %s", array.ShapeString(x.Shape()))
		}
		return y.Detach().To(x.DType())
	}
}

// within reports that a residual is small enough. The limit is infinite where b is: nothing is near it then.
func (s *solver) within(residual float64) bool {
	return residual <= s.limit && !math.IsInf(residual, 1)
}

// step counts an iteration whose residual has a norm, and reports whether to go on.
func (s *solver) step(residual float64) bool {
	s.out.Iterations++
	s.out.Residual = residual
	s.out.Converged = s.within(residual)
	switch {
	case s.out.Converged:
		return false
	case math.IsNaN(residual) || math.IsInf(residual, 0):
		s.why = "the residual is not finite"
	case s.o.Callback != nil && !s.o.Callback(s.out.Iterations, residual):
		s.why = "the callback ended it"
	case s.out.Iterations >= s.most:
		s.why = fmt.Sprintf("%d iterations left a residual of %.3g, more than %.3g", s.out.Iterations, residual, s.limit)
	default:
		return true
	}
	return false
}

// end returns the solution, and the error of one that has not converged.
func (s *solver) end() (Solution, error) {
	if s.out.Converged {
		return s.out, nil
	}
	return s.out, fmt.Errorf("%s: %w: %s", s.name, ErrNotConverged, s.why)
}

// iterate runs f without gradients while the solution has not converged.
func (s *solver) iterate(f func()) (Solution, error) {
	switch {
	case s.out.Converged:
	case s.most == 0:
		s.why = "it may take no iterations"
	default:
		weft.WithoutGrad(f)
	}
	return s.end()
}

// A scalar is a number of the recurrences: complex where the vectors are.
type scalar = complex128

// dot is the product of two vectors. It conjugates the first one.
func dot(x, y *weft.Tensor) scalar {
	if x.DType().Complex() {
		return x.VDot(y).ItemComplex()
	}
	return complex(x.Dot(y).Item(), 0)
}

// length is the Euclidean norm, in range where squares of elements are not.
func length(x *weft.Tensor) float64 {
	n := x.Norm(2).Item()
	if (n == 0 || math.IsInf(n, 1)) && x.Size() > 0 {
		if top := x.Abs().Max().Item(); top > 0 && !math.IsInf(top, 1) {
			return x.Div(top).Norm(2).Item() * top
		}
	}
	return n
}

// times is a number times a vector.
func times(x *weft.Tensor, a scalar) *weft.Tensor {
	if x.DType().Complex() {
		return x.Mul(a)
	}
	return x.Mul(real(a))
}

// plus is x + a*y.
func plus(x *weft.Tensor, a scalar, y *weft.Tensor) *weft.Tensor { return x.Add(times(y, a)) }

// CG solves a*x = b by conjugate gradients, for a symmetric or Hermitian positive definite a. Of a [Matrix] m, a is
// m.MatMul. b is a vector [n] of float32, float64, complex64 or complex128, and so is the solution's X. The error,
// which matches [ErrNotConverged], says why an iteration ended without convergence; the solution is the last then.
//
// It panics with *[weft.Error] where a is nil, b is not such a vector or a does not keep its shape, and for options
// out of range.
//
// Source: Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems", 1952.
func CG(a Operator, b *weft.Tensor, opts ...SolverOpts) (Solution, error) {
	s, r := begin("sparse.cg", a, b, opts)
	out, err := s.iterate(func() {
		z := s.m(r)
		p, rz := z, dot(r, z)
		for {
			q := s.a(p)
			pq := dot(p, q)
			if real(pq) <= 0 || real(rz) <= 0 {
				s.why = "the matrix or the preconditioner is not positive definite"
				return
			}
			alpha := rz / pq
			s.out.X = plus(s.out.X, alpha, p)
			r = plus(r, -alpha, q)
			if !s.step(length(r)) {
				return
			}
			z = s.m(r)
			next := dot(r, z)
			p = plus(z, next/rz, p)
			rz = next
		}
	})
	return s.withGradient(CG, a, s.o.Preconditioner, out, err)
}

// BiCGSTAB solves a*x = b by stabilised biconjugate gradients, for any square a. Errors are as for [CG].
//
// Source: van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG", 1992.
func BiCGSTAB(a Operator, b *weft.Tensor, opts ...SolverOpts) (Solution, error) {
	s, r := begin("sparse.bicgstab", a, b, opts)
	out, err := s.iterate(func() {
		shadow, p, v := r, r, r
		rho, alpha, omega := scalar(1), scalar(1), scalar(1)
		for first := true; ; first = false {
			next := dot(shadow, r)
			if next == 0 || omega == 0 {
				s.why = "the iteration broke down: a product is 0"
				return
			}
			if !first {
				p = plus(r, next/rho*(alpha/omega), plus(p, -omega, v))
			}
			rho = next
			y := s.m(p)
			v = s.a(y)
			d := dot(shadow, v)
			if d == 0 {
				s.why = "the iteration broke down: a product is 0"
				return
			}
			alpha = rho / d
			half := plus(r, -alpha, v)
			s.out.X = plus(s.out.X, alpha, y)
			if n := length(half); n <= s.limit {
				s.step(n)
				return
			}
			z := s.m(half)
			t := s.a(z)
			tt := dot(t, t)
			if tt == 0 {
				s.why = "the iteration broke down: a product is 0"
				return
			}
			omega = dot(t, half) / tt
			s.out.X = plus(s.out.X, omega, z)
			r = plus(half, -omega, t)
			if !s.step(length(r)) {
				return
			}
		}
	})
	return s.withGradient(BiCGSTAB, s.o.Adjoint, s.o.AdjointPreconditioner, out, err)
}

// GMRES solves a*x = b by generalised minimal residuals, for any square a. It keeps Restart vectors, and then
// begins again from what it has. The preconditioner stands on the right, so a residual is b - a*x. Errors
// are as for [CG].
//
// Source: Saad and Schultz, "GMRES: a generalized minimal residual algorithm", 1986.
func GMRES(a Operator, b *weft.Tensor, opts ...SolverOpts) (Solution, error) {
	s, r := begin("sparse.gmres", a, b, opts)
	restart := min(s.restart, max(b.Dim(0), 1))
	out, err := s.iterate(func() {
		for s.cycle(r, restart) || s.out.Converged {
			r = s.b.Sub(s.a(s.out.X))
			// What recurrences say may differ from the residual itself: that of a singular matrix is far from 0.
			s.out.Residual = length(r)
			s.out.Converged = s.within(s.out.Residual)
			switch {
			case s.out.Converged:
				return
			case s.out.Residual-s.out.Residual != 0:
				s.why = "the residual is not finite"
				return
			case s.out.Iterations >= s.most:
				s.why = fmt.Sprintf("%d iterations left a residual of %.3g, more than %.3g", s.out.Iterations, s.out.Residual, s.limit)
				return
			}
		}
	})
	return s.withGradient(GMRES, s.o.Adjoint, s.o.AdjointPreconditioner, out, err)
}

// cycle is one cycle of GMRES from residual r. It reports whether another one may help.
func (s *solver) cycle(r *weft.Tensor, restart int) bool {
	beta := length(r)
	if beta == 0 {
		s.out.Converged = true
		return false
	}
	basis := []*weft.Tensor{times(r, complex(1/beta, 0))}
	var h [][]scalar // columns of the triangle
	var cs []float64
	var sn []scalar
	g := []scalar{complex(beta, 0)}
	more := true
	for j := 0; j < restart && more; j++ {
		w := s.a(s.m(basis[j]))
		col := make([]scalar, j+1)
		for range 2 { // twice is enough: Giraud and others, 2005
			for i, v := range basis {
				d := dot(v, w)
				col[i] += d
				w = plus(w, -d, v)
			}
		}
		next := length(w)
		for i := range cs {
			col[i], col[i+1] = complex(cs[i], 0)*col[i]+sn[i]*col[i+1], -conj(sn[i])*col[i]+complex(cs[i], 0)*col[i+1]
		}
		c, t := givens(col[j], next)
		cs, sn = append(cs, c), append(sn, t)
		col[j] = complex(c, 0)*col[j] + t*complex(next, 0)
		h = append(h, col)
		g = append(g, -conj(t)*g[j])
		g[j] *= complex(c, 0)
		more = s.step(abs(g[j+1]))
		if col[j] == 0 {
			s.why, more = "the iteration broke down: the matrix is singular", false
			s.out.Converged = false
			h, g = h[:j], g[:j+1]
			break
		}
		if next == 0 {
			break
		}
		basis = append(basis, times(w, complex(1/next, 0)))
	}
	// Back substitution.
	n := len(h)
	y := make([]scalar, n)
	for i := n - 1; i >= 0; i-- {
		t := g[i]
		for k := i + 1; k < n; k++ {
			t -= h[k][i] * y[k]
		}
		y[i] = t / h[i][i]
	}
	sum := weft.ZerosOf(r.DType(), r.Dim(0))
	for i, c := range y {
		sum = plus(sum, c, basis[i])
	}
	s.out.X = s.out.X.Add(s.m(sum))
	return more
}

func conj(z scalar) scalar { return complex(real(z), -imag(z)) }
func abs(z scalar) float64 { return math.Hypot(real(z), imag(z)) }

// givens returns the rotation that makes (a, b) a multiple of (1, 0), for b not negative.
func givens(a scalar, b float64) (c float64, s scalar) {
	n := math.Hypot(abs(a), b)
	switch {
	case n == 0:
		return 1, 0
	case a == 0:
		return 0, 1
	}
	return abs(a) / n, a / complex(abs(a), 0) * complex(b/n, 0)
}

// MINRES solves a*x = b by minimal residuals, for a symmetric or Hermitian a, which need not be definite. With
// a preconditioner the residual is measured in its norm. Errors are as for [CG].
//
// Source: Paige and Saunders, "Solution of sparse indefinite systems of linear equations", 1975.
func MINRES(a Operator, b *weft.Tensor, opts ...SolverOpts) (Solution, error) {
	s, r := begin("sparse.minres", a, b, opts)
	out, err := s.iterate(func() {
		z := s.m(r)
		beta := math.Sqrt(real(dot(r, z)))
		if !(beta > 0) {
			s.why = "the preconditioner is not positive definite"
			return
		}
		before, now := weft.ZerosOf(r.DType(), r.Dim(0)), r // residual vectors, whose lengths are beta
		w1, w2 := before, before
		last, phi, delta, epsilon := 0.0, beta, 0.0, 0.0
		cs, sn := -1.0, 0.0
		for {
			v := times(z, complex(1/beta, 0))
			y := s.a(v)
			if last != 0 {
				y = plus(y, complex(-beta/last, 0), before)
			}
			alpha := real(dot(v, y))
			y = plus(y, complex(-alpha/beta, 0), now)
			before, now = now, y
			z = s.m(now)
			last = beta
			square := real(dot(now, z))
			if square < 0 {
				s.why = "the preconditioner is not positive definite"
				return
			}
			beta = math.Sqrt(square)
			// The rotations of the last step, and the next one.
			older := epsilon
			delta0 := cs*delta + sn*alpha
			gamma0 := sn*delta - cs*alpha
			epsilon, delta = sn*beta, -cs*beta
			gamma := math.Hypot(gamma0, beta)
			if gamma == 0 {
				s.why = "the iteration broke down: the matrix is singular"
				return
			}
			cs, sn = gamma0/gamma, beta/gamma
			step := cs * phi
			phi *= sn
			w := plus(plus(v, complex(-older, 0), w1), complex(-delta0, 0), w2)
			w = times(w, complex(1/gamma, 0))
			w1, w2 = w2, w
			s.out.X = plus(s.out.X, complex(step, 0), w)
			if !s.step(phi) {
				return
			}
			if beta == 0 {
				s.why = "the iteration broke down: the matrix is singular"
				return
			}
		}
	})
	return s.withGradient(MINRES, a, s.o.Preconditioner, out, err)
}

// LSQROpts are the options of [LSQR].
type LSQROpts struct {
	Damp     float64  // the square of Damp*|x| is added to that of the residual
	ATol     *float64 // converged where |A^H r| is at most ATol*|A||r|, 1e-6 if nil,
	BTol     *float64 // or |r| at most BTol*|b| + ATol*|A||x|, 1e-6 if nil
	MaxIter  *int     // twice the number of unknowns if nil
	Callback func(iteration int, residual float64) bool
}

// LSQR returns the least squares solution x of a*x = b, of the least length where there are several. adjoint
// is the conjugate transpose of a: of a matrix m, m.MatMul and m.H().MatMul. Gradients come from the normal equations,
// which [CG] solves, so the columns of a must be linearly independent or Damp not 0. Errors are as for [CG].
//
// Source: Paige and Saunders, "LSQR: an algorithm for sparse linear equations and sparse least squares", 1982.
func LSQR(a, adjoint Operator, b *weft.Tensor, opts ...LSQROpts) (Solution, error) {
	const name = "sparse.lsqr"
	o := array.Options(name, opts)
	array.Given(name, "a", a != nil)
	array.Given(name, "adjoint", adjoint != nil)
	right := numbers(name, "b", b, 1)
	b = right.Detach()
	if o.MaxIter != nil && *o.MaxIter < 0 || math.IsNaN(o.Damp) {
		array.Failf(name, "MaxIter", "or Damp is not a number from 0 on")
	}
	atol, btol := 1e-6, 1e-6
	if o.ATol != nil {
		atol = *o.ATol
	}
	if o.BTol != nil {
		btol = *o.BTol
	}
	if !(atol >= 0) || !(btol >= 0) {
		array.Failf(name, "ATol", "and BTol are %g and %g, want numbers from 0 on", atol, btol)
	}
	s := &solver{name: name, b: b, right: right}
	weft.WithoutGrad(func() { s.lsqr(a, adjoint, o, atol, btol) })
	out, err := s.end()
	return s.lsqrGradient(a, adjoint, o.Damp, min(atol, btol), out, err)
}

func (s *solver) lsqr(a, adjoint Operator, o LSQROpts, atol, btol float64) {
	u, beta := unit(s.b)
	first := beta
	v := adjoint(u)
	(*core.Tensor)(v).CheckArgument(s.name, "adjoint")
	if v.Rank() != 1 {
		array.Failf(s.name, "adjoint", "gives shape %s, want a vector", array.ShapeString(v.Shape()))
	}
	s.out.X, s.out.Residual = weft.ZerosOf(v.DType(), v.Dim(0)), beta
	most := 2 * v.Dim(0)
	if o.MaxIter != nil {
		most = *o.MaxIter
	}
	v, alpha := unit(v)
	if alpha == 0 || beta == 0 {
		s.out.Converged = true
		return
	}
	if most == 0 {
		s.why = "it may take no iterations"
		return
	}
	w, phi, rho := v, beta, alpha
	size, solution, damped := 0.0, 0.0, 0.0 // squares of |A|, |x|, and what damping adds
	for {
		y := a(v)
		if y == nil || !array.Equal(y.Shape(), s.b.Shape()) {
			array.Failf(s.name, "a", "does not give a vector of shape %s", array.ShapeString(s.b.Shape()))
		}
		u, beta = unit(plus(y, complex(-alpha, 0), u))
		size += alpha*alpha + beta*beta + o.Damp*o.Damp
		v, alpha = unit(plus(adjoint(u), complex(-beta, 0), v))
		if o.Damp != 0 {
			r := math.Hypot(rho, o.Damp)
			psi := o.Damp / r * phi
			phi, rho = rho/r*phi, r
			damped += psi * psi
		}
		r := math.Hypot(rho, beta)
		c, sn := rho/r, beta/r
		theta := sn * alpha
		step := c * phi
		rho, phi = -c*alpha, sn*phi
		s.out.X = plus(s.out.X, complex(step/r, 0), w)
		w = plus(v, complex(-theta/r, 0), w)
		s.out.Iterations++
		s.out.Residual = math.Sqrt(phi*phi + damped)
		solution = length(s.out.X)
		normal := alpha * math.Abs(c*phi)
		norm := math.Sqrt(size)
		switch {
		case s.out.Residual <= btol*first+atol*norm*solution, normal <= atol*norm*s.out.Residual:
			s.out.Converged = true
			return
		case math.IsNaN(s.out.Residual) || math.IsInf(s.out.Residual, 0):
			s.why = "the residual is not finite"
			return
		case o.Callback != nil && !o.Callback(s.out.Iterations, s.out.Residual):
			s.why = "the callback ended it"
			return
		case s.out.Iterations >= most:
			s.why = fmt.Sprintf("%d iterations left a residual of %.3g", s.out.Iterations, s.out.Residual)
			return
		}
	}
}

// unit returns a vector of length 1 in the direction of x, and the length of x; zeros stay.
func unit(x *weft.Tensor) (*weft.Tensor, float64) {
	n := length(x)
	if n == 0 {
		return x, 0
	}
	return times(x, complex(1/n, 0)), n
}
