package interpolate

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/linalg"
)

// A Kernel is a function of the distance r, times Epsilon, of an [RBFInterpolator].
type Kernel string

// The kernels of [NewRBFInterpolator].
const (
	ThinPlateSpline     Kernel = "thin_plate_spline" // r^2*log(r)
	LinearKernel        Kernel = "linear"            // -r
	Cubic               Kernel = "cubic"             // r^3
	Quintic             Kernel = "quintic"           // -r^5
	Multiquadric        Kernel = "multiquadric"      // -sqrt(1 + r^2)
	InverseMultiquadric Kernel = "inverse_multiquadric"
	InverseQuadratic    Kernel = "inverse_quadratic" // 1/(1 + r^2)
	Gaussian            Kernel = "gaussian"          // exp(-r^2)
)

// RBFOpts are the options of [NewRBFInterpolator].
type RBFOpts struct {
	Kernel    Kernel   // ThinPlateSpline if it is empty
	Epsilon   *float64 // nil: 1, which is only for kernels whose shape does not depend on it
	Smoothing float64  // 0: values are met exactly
	Degree    *int     // of the polynomial that is added, -1 for none; nil: the least that the kernel needs, and 0 or more
}

// An RBFInterpolator is a sum of radial functions around points and a polynomial, which goes through values at the points.
// It may be used by several goroutines.
type RBFInterpolator struct {
	points, weights, factors *weft.Tensor
	shift, scale             *weft.Tensor
	powers                   [][]int
	kernel                   func(square *weft.Tensor) *weft.Tensor
	epsilon                  float64
	rest                     []int
}

// kernels returns what a kernel is of the square of r, the least degree it needs, and whether Epsilon changes more than
// scale.
func kernels(k Kernel) (f func(s *weft.Tensor) *weft.Tensor, least int, shaped bool) {
	// Roots and logarithms have no derivatives at 0.
	safe := func(g func(s *weft.Tensor) *weft.Tensor) func(s *weft.Tensor) *weft.Tensor {
		return func(s *weft.Tensor) *weft.Tensor {
			zero := s.Detach().Eq(0)
			return weft.Where(zero, 0, g(weft.Where(zero, 1, s)))
		}
	}
	switch k {
	case "", ThinPlateSpline:
		return safe(func(s *weft.Tensor) *weft.Tensor { return s.Mul(s.Log()).Mul(0.5) }), 1, false
	case LinearKernel:
		return safe(func(s *weft.Tensor) *weft.Tensor { return s.Sqrt().Neg() }), 0, false
	case Cubic:
		return safe(func(s *weft.Tensor) *weft.Tensor { return s.Mul(s.Sqrt()) }), 1, false
	case Quintic:
		return safe(func(s *weft.Tensor) *weft.Tensor { return s.Square().Mul(s.Sqrt()).Neg() }), 2, false
	case Multiquadric:
		return func(s *weft.Tensor) *weft.Tensor { return s.Add(1).Sqrt().Neg() }, 0, true
	case InverseMultiquadric:
		return func(s *weft.Tensor) *weft.Tensor { return s.Add(1).Rsqrt() }, -1, true
	case InverseQuadratic:
		return func(s *weft.Tensor) *weft.Tensor { return s.Add(1).Reciprocal() }, -1, true
	case Gaussian:
		return func(s *weft.Tensor) *weft.Tensor { return s.Neg().Exp() }, -1, true
	}
	return nil, 0, false
}

// NewRBFInterpolator returns an interpolator of values at points, [n ...] and [n k] for n points of k coordinates in
// any order. It solves one system of n equations and a few for the polynomial. It has gradients with respect to the
// values. It panics with a [*weft.Error] for bad arguments, and where the points do not determine the polynomial.
// SciPy's RBFInterpolator without neighbors.
func NewRBFInterpolator(points, values *weft.Tensor, opts ...RBFOpts) *RBFInterpolator {
	const name = "interpolate.newrbfinterpolator"
	o := array.Options(name, opts)
	kernel, least, shaped := kernels(o.Kernel)
	if kernel == nil {
		array.Failf(name, "Kernel", "%q is unknown: want a Kernel such as thin_plate_spline, linear or gaussian", o.Kernel)
	}
	(*core.Tensor)(points).CheckArgument(name, "points")
	(*core.Tensor)(values).CheckArgument(name, "values")
	if points.DType().Complex() || points.Rank() != 2 || points.Size() == 0 {
		array.Failf(name, "points", "is %s of shape %s: want real numbers, a row for each point", points.DType(), array.ShapeString(points.Shape()))
	}
	n, k := points.Dim(0), points.Dim(1)
	if values.DType().Complex() || values.Rank() == 0 || values.Dim(0) != n {
		array.Failf(name, "values", "is %s of shape %s: want real numbers, one or more for each of %d points", values.DType(), array.ShapeString(values.Shape()), n)
	}
	r := &RBFInterpolator{kernel: kernel, epsilon: 1, rest: values.Shape()[1:]}
	switch {
	case o.Epsilon != nil:
		if r.epsilon = *o.Epsilon; !(r.epsilon > 0) || math.IsInf(r.epsilon, 1) {
			array.Failf(name, "Epsilon", "is %v: want a finite number above 0", r.epsilon)
		}
	case shaped:
		array.Failf(name, "Epsilon", "must be given for the kernel %q", o.Kernel)
	}
	if !(o.Smoothing >= 0) || math.IsInf(o.Smoothing, 1) {
		array.Failf(name, "Smoothing", "is %v: want a finite number from 0 on", o.Smoothing)
	}
	degree := max(0, least)
	if o.Degree != nil {
		if degree = *o.Degree; degree < -1 || degree > 20 {
			array.Failf(name, "Degree", "is %d: want -1 to 20", degree)
		}
	}
	r.powers = powersUpTo(degree, k)
	m := len(r.powers)
	if m > n {
		array.Failf(name, "points", "are %d: want %d or more for a polynomial of degree %d", n, m, degree)
	}
	r.points = points.Detach().To(weft.Float64).Contiguous()
	low, high := r.points.Min(0), r.points.Max(0)
	r.shift, r.scale = low.Add(high).Div(2), high.Sub(low).Div(2)
	r.scale = weft.Where(r.scale.Eq(0), 1, r.scale)
	left := r.radial(r.points).Add(weft.EyeOf(weft.Float64, n).Mul(o.Smoothing))
	right := values.To(weft.Float64).Reshape(n, array.Size(r.rest))
	if m > 0 {
		p := r.polynomial(r.points)
		left = weft.Cat([]*weft.Tensor{weft.Cat([]*weft.Tensor{left, p}, 1), weft.Cat([]*weft.Tensor{p.T(), weft.ZerosOf(weft.Float64, m, m)}, 1)}, 0)
		right = weft.Cat([]*weft.Tensor{right, weft.ZerosOf(weft.Float64, m, right.Dim(1))}, 0)
	}
	var solution *weft.Tensor
	if err := weft.Try(func() { solution = linalg.Solve(left, right) }); err != nil {
		array.Failf(name, "points", "are twice the same, or do not determine a polynomial of degree %d", degree)
	}
	r.weights, r.factors = solution.Slice(weft.Range(0, n)), solution.Slice(weft.Range(n, n+m))
	return r
}

// powersUpTo returns the exponents of all monomials of k variables up to a degree.
func powersUpTo(degree, k int) (list [][]int) {
	var add func(at []int, left int)
	add = func(at []int, left int) {
		if len(at) == k {
			list = append(list, append([]int(nil), at...))
			return
		}
		for p := range left + 1 {
			add(append(at, p), left-p)
		}
	}
	if degree >= 0 {
		add(nil, degree)
	}
	return list
}

// radial returns the kernel of the distances of x from all points.
func (r *RBFInterpolator) radial(x *weft.Tensor) *weft.Tensor {
	d := x.Reshape(x.Dim(0), 1, x.Dim(1)).Sub(r.points).Mul(r.epsilon)
	return r.kernel(d.Square().Sum(2))
}

// polynomial returns all monomials at x.
func (r *RBFInterpolator) polynomial(x *weft.Tensor) *weft.Tensor {
	at := x.Sub(r.shift).Div(r.scale)
	columns := make([]*weft.Tensor, len(r.powers))
	for i, p := range r.powers {
		columns[i] = weft.OnesOf(weft.Float64, x.Dim(0))
		for axis, n := range p {
			for range n {
				columns[i] = columns[i].Mul(at.Slice(weft.All, weft.Range(axis, axis+1)).Reshape(-1))
			}
		}
	}
	return weft.Stack(columns, 1)
}

// At returns the values at x, of shape [... k]: float64 of shape [...] followed by the axes of a value. It has
// derivatives with respect to x.
func (r *RBFInterpolator) At(x *weft.Tensor) *weft.Tensor {
	rows, shape := coordinates("interpolate.at", x, r.points.Dim(1))
	y := r.radial(rows).MatMul(r.weights)
	if len(r.powers) > 0 {
		y = y.Add(r.polynomial(rows).MatMul(r.factors))
	}
	return y.Reshape(append(shape, r.rest...)...)
}
