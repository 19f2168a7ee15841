package interpolate

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// BSpline returns the curve as a spline of degree 3 whose inner points are knots twice, with the Extrapolate of the
// curve. So `c.BSpline().Derivative(2).At(x)` is SciPy's c(x, 2). The third derivative jumps at the points, and is
// refused.
func (c *Curve) BSpline() *BSpline {
	x := weft.Data[float64](c.x)
	n := len(x)
	t, b := slices.Repeat(x[:1], 4), make([]float64, 0, 2*n)
	for i, p := range c.bernstein() {
		if i == 0 {
			b = append(b, p[0])
		} else {
			t = append(t, x[i], x[i])
		}
		b = append(b, p[1], p[2])
		if i == n-2 {
			b = append(b, p[3])
		}
	}
	t = append(t, slices.Repeat(x[n-1:], 4)...)
	return newBSpline(t, weft.FromSlice(b, len(b), 1), 3, nil, BSplineOpts{Extrapolate: c.extrapolate})
}

// bernstein returns the pieces of the curve.
func (c *Curve) bernstein() []bernstein {
	x, y, slope := weft.Data[float64](c.x), weft.Data[float64](c.y), weft.Data[float64](c.slope)
	list := make([]bernstein, len(x)-1)
	for i := range list {
		h := x[i+1] - x[i]
		list[i] = bernstein{y[i], y[i] + float64(h*slope[i])/3, y[i+1] - float64(h*slope[i+1])/3, y[i+1]}
	}
	return list
}

// Antiderivative returns the antiderivative of an order, 0 or more: a spline that is 0 at the first point. It panics
// with a [*weft.Error] for a bad order. SciPy's antiderivative.
func (c *Curve) Antiderivative(order int) *BSpline {
	if order < 0 || order > maxDegree-3 {
		array.Failf("interpolate.curve.antiderivative", "order", "is %d: want 0 to %d", order, maxDegree-3)
	}
	return c.BSpline().Antiderivative(order)
}

// Integrate returns the integral from low to high, a float64 tensor of no axes; it is negative where high is below low.
// Without Extrapolate it is NaN for limits outside of the points. It panics with a [*weft.Error] for limits that are
// not finite. SciPy's integrate.
func (c *Curve) Integrate(low, high float64) *weft.Tensor {
	const name = "interpolate.curve.integrate"
	for i, v := range [2]float64{low, high} {
		if !finite(v) {
			array.Failf(name, [2]string{"low", "high"}[i], "is %v: want a finite number", v)
		}
	}
	first, last := c.x.At(0).Item(), c.x.At(-1).Item()
	if !c.extrapolate && !(min(low, high) >= first && max(low, high) <= last) {
		return weft.ScalarOf(weft.Float64, math.NaN())
	}
	return c.BSpline().Integrate(low, high)
}

// Roots returns the x at which the curve is 0, as [Curve.Solve] does. SciPy's roots.
func (c *Curve) Roots() *weft.Tensor { return c.solve("interpolate.curve.roots", 0) }

// Solve returns the x at which the curve is y, ascending, float64 of one axis: within the points, and with Extrapolate
// also outside. Where the curve touches y without crossing it, the value must be y within roundings. A piece that is y
// throughout has no solutions but its ends. It panics with a [*weft.Error] for a y, and for a curve, that is not finite.
// SciPy's solve.
func (c *Curve) Solve(y float64) *weft.Tensor {
	const name = "interpolate.curve.solve"
	if !finite(y) {
		array.Failf(name, "y", "is %v: want a finite number", y)
	}
	return c.solve(name, y)
}

func (c *Curve) solve(name string, y float64) *weft.Tensor {
	pieces, size := c.bernstein(), 0.0
	for _, p := range pieces {
		for i := range p {
			if p[i] -= y; !finite(p[i]) {
				array.Failf(name, "c", "has values that are not finite")
			}
			size = max(size, math.Abs(p[i]))
		}
	}
	for _, p := range pieces {
		for i := range p {
			if size > 0 {
				p[i] /= size
			}
		}
	}
	x := weft.Data[float64](c.x)
	last := len(pieces) - 1
	var roots []float64
	if c.extrapolate {
		for _, v := range slices.Backward(pieces[0].beyond()) {
			roots = append(roots, x[0]-float64(v*(x[1]-x[0])))
		}
	}
	for i, p := range pieces {
		for _, u := range p.roots() {
			at := x[i+1]
			if u < 1 {
				at = x[i] + float64(u*(x[i+1]-x[i]))
			}
			roots = append(roots, at)
		}
	}
	if c.extrapolate {
		back := slices.Clone(pieces[last])
		slices.Reverse(back)
		for _, v := range back.beyond() {
			roots = append(roots, x[last+1]+float64(v*(x[last+1]-x[last])))
		}
	}
	return weft.FromSlice(slices.Compact(roots))
}

// beyond returns the v above 0 for which p is 0 at -v, ascending. With v = w/(1-w), the polynomial times (1-w)^degree is
// a polynomial on [0, 1]. Its root at 1 is none of p's: there the coefficient of the highest power is 0.
func (p bernstein) beyond() (list []float64) {
	q := make(bernstein, len(p))
	for i := range q {
		choose := 1.0 // of i, with the sign of (-1)^j
		for j := range i + 1 {
			q[i] += float64(choose * p[j])
			choose *= -float64(i-j) / float64(j+1)
		}
	}
	for _, w := range q.roots() {
		if w > 0 && w < 1 {
			list = append(list, w/(1-w))
		}
	}
	return list
}
