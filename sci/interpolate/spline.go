// Package interpolate puts curves and B-splines through points, smooths them, and interpolates on grids and between
// scattered points. The curves of [New] are gonum's (gonum.org/v1/gonum/interp). All are evaluated at tensors of any
// shape, with gradients with respect to these.
package interpolate

import (
	"math"

	"gonum.org/v1/gonum/interp"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A Kind is a kind of curve.
type Kind string

// The kinds of [New].
const (
	NotAKnot Kind = "not-a-knot" // cubic spline whose first two and last two pieces are one; SciPy's CubicSpline
	Natural  Kind = "natural"    // cubic spline without curvature at the ends
	Clamped  Kind = "clamped"    // cubic spline without slope at the ends
	Akima    Kind = "akima"      // Akima's curve, which overshoots less; SciPy's Akima1DInterpolator
	Monotone Kind = "monotone"   // Fritsch and Butland's curve, monotone where the points are; SciPy's PchipInterpolator
)

// Opts are the options of [New].
type Opts struct {
	Kind Kind // NotAKnot if it is empty
	// Extrapolate continues the first and last pieces outside of the points. By default results are NaN there; SciPy's
	// CubicSpline and PchipInterpolator extrapolate by default.
	Extrapolate bool
}

// A Curve is a piecewise cubic polynomial through points, smooth between the pieces. [New] and [MakeSmoothingSpline]
// make it. It may be used by several goroutines.
type Curve struct {
	x, y, slope *weft.Tensor // points and derivatives there, float64
	extrapolate bool
}

// New returns a curve through the points (x[i], y[i]), x ascending. Both are vectors of the same size, of 2 elements or
// more; Akima needs 3, NotAKnot 4. The curve has no gradient with respect to them. It panics with a [*weft.Error] for
// bad arguments.
func New(x, y *weft.Tensor, opts ...Opts) *Curve {
	const name = "interpolate.new"
	o := array.Options(name, opts)
	values := vector(name, "y", y)
	least := 2
	switch o.Kind {
	case "", NotAKnot:
		least = 4
	case Akima:
		least = 3
	}
	at := ascending(name, "x", x, least)
	if len(at) != len(values) {
		array.Failf(name, "y", "has %d elements, x %d", len(values), len(at))
	}
	var f interp.FittablePredictor
	switch o.Kind {
	case "", NotAKnot:
		f = new(interp.NotAKnotCubic)
	case Natural:
		f = new(interp.NaturalCubic)
	case Clamped:
		f = new(interp.ClampedCubic)
	case Akima:
		f = new(interp.AkimaSpline)
	case Monotone:
		f = new(interp.FritschButland)
	default:
		array.Failf(name, "Kind", "%q is unknown: want not-a-knot, natural, clamped, akima or monotone", o.Kind)
	}
	if err := f.Fit(at, values); err != nil {
		array.Failf(name, "y", "no curve goes through the points: %v", err)
	}
	slope := make([]float64, len(at))
	for i, v := range at {
		slope[i] = f.(interp.DerivativePredictor).PredictDerivative(v)
	}
	return &Curve{weft.FromSlice(at), weft.FromSlice(values), weft.FromSlice(slope), o.Extrapolate}
}

func vector(name, arg string, x *weft.Tensor) []float64 {
	(*core.Tensor)(x).CheckArgument(name, arg)
	if x.Rank() != 1 || x.DType().Complex() {
		array.Failf(name, arg, "is %s of shape %s: want a vector of real numbers", x.DType(), array.ShapeString(x.Shape()))
	}
	return weft.Data[float64](x.Detach().To(weft.Float64))
}

// ascending is vector for least or more numbers in ascending order.
func ascending(name, arg string, x *weft.Tensor, least int) []float64 {
	at := vector(name, arg, x)
	if len(at) < least {
		array.Failf(name, arg, "has %d elements: want %d or more", len(at), least)
	}
	for i, v := range at {
		if math.IsNaN(v) || math.IsInf(v, 0) || i > 0 && v <= at[i-1] {
			array.Failf(name, arg, "has %v at %d: want finite numbers, ascending", v, i)
		}
	}
	return at
}

// At returns the curve at x, float64 of x's shape. It has derivatives of every order with respect to x.
func (c *Curve) At(x *weft.Tensor) *weft.Tensor {
	p := c.pieces("interpolate.at", x)
	return p.y.Add(p.t.Mul(p.u.Add(p.t.Mul(p.a.Add(p.t.Mul(p.b))))))
}

// Derivative returns the first derivative of the curve at x, float64 of x's shape.
func (c *Curve) Derivative(x *weft.Tensor) *weft.Tensor {
	p := c.pieces("interpolate.derivative", x)
	return p.u.Add(p.t.Mul(p.a.Mul(2).Add(p.t.Mul(p.b).Mul(3)))).Div(p.h)
}

// pieces are the polynomials y + u*t + a*t^2 + b*t^3 at many arguments, h being their widths and t from 0 to 1.
type pieces struct{ h, t, y, u, a, b *weft.Tensor }

func (c *Curve) pieces(name string, x *weft.Tensor) pieces {
	(*core.Tensor)(x).CheckArgument(name, "x")
	if x.DType().Complex() {
		array.Failf(name, "x", "is %s: want real numbers", x.DType())
	}
	x = x.To(weft.Float64)
	shape := x.Shape()
	flat := x.Reshape(-1)
	place := c.x.SearchSorted(flat.Detach(), weft.SearchOpts{Right: true}).Sub(1).Clamp(0, c.x.Size()-2)
	next := place.Add(1)
	pick := func(v, at *weft.Tensor) *weft.Tensor { return v.IndexSelect(0, at).Reshape(shape...) }
	x0, y0 := pick(c.x, place), pick(c.y, place)
	h, rise := pick(c.x, next).Sub(x0), pick(c.y, next).Sub(y0)
	u, v := pick(c.slope, place).Mul(h), pick(c.slope, next).Mul(h)
	b := u.Add(v).Sub(rise.Mul(2))
	t := x.Sub(x0).Div(h)
	if !c.extrapolate {
		t = weft.Where(x.Detach().Ge(c.x.At(0)).LogicalAnd(x.Detach().Le(c.x.At(-1))), t, math.NaN())
	}
	return pieces{h, t, y0, u, rise.Sub(u).Sub(b), b}
}
