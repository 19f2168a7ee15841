package interpolate

import (
	"fmt"
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/sparse"
)

// An EndCondition is the value of a derivative of a spline at one end.
type EndCondition struct {
	Order int          // of the derivative, 1 or more
	Value *weft.Tensor // of the shape of a value; nil is 0
}

// Periodic is a [Kind] of [MakeInterpSpline] alone: values and derivatives of both ends are equal. So the first and the
// last value of y must be.
const Periodic Kind = "periodic"

// InterpSplineOpts are the options of [MakeInterpSpline].
type InterpSplineOpts struct {
	K *int         // the degree, 3 if it is nil
	T *weft.Tensor // knots; nil: chosen for the kind, or for the conditions one at each x
	// Kind is the kind of the ends: NotAKnot if it is empty, Natural, Clamped or Periodic. Natural and Clamped are
	// conditions of cubic splines: the second, or the first, derivative of both ends is 0.
	Kind        Kind
	Start, End  []EndCondition // in place of Kind
	Extrapolate bool           // as in [BSplineOpts]; a periodic spline repeats
}

// MakeInterpSpline returns the spline of degree K through the points (x[i], y[i]), x [n] ascending and y [n ...]. A
// spline has n+K+1 knots for n values without conditions at the ends, and one more for each of these. It has gradients
// with respect to y and the values of conditions. It panics with a [*weft.Error] for bad arguments, and where knots and
// points do not determine the spline. SciPy's make_interp_spline.
func MakeInterpSpline(x, y *weft.Tensor, opts ...InterpSplineOpts) *BSpline {
	const name = "interpolate.makeinterpspline"
	o := array.Options(name, opts)
	k := array.Or(o.K, 3)
	checkDegree(name, k)
	at := ascending(name, "x", x, 1)
	values, rest := ordinates(name, y, len(at))
	start, end := ends(name, &o, k)
	t := interpKnots(name, at, k, o)
	conditions := len(start) + len(end)
	if o.Kind == Periodic {
		conditions = k - 1
	}
	if o.Kind == Periodic {
		first, last := values.Detach().At(0), values.Detach().At(-1)
		if !first.AllClose(last, weft.CloseOpts{Absolute: new(1e-15)}) {
			array.Failf(name, "y", "has different values at the first and the last x: want equal ones, since the spline is periodic")
		}
	}
	n := len(t) - k - 1
	if n != len(at)+conditions {
		array.Failf(name, "T", "has %d knots, for %d coefficients of degree %d: x has %d elements, the ends %d conditions", len(t), n, k, len(at), conditions)
	}
	if k == 0 {
		return newBSpline(t, values, 0, rest, BSplineOpts{Extrapolate: o.Extrapolate})
	}
	c := &collocation{t: t, k: k}
	var right []*weft.Tensor
	add := func(list []EndCondition, arg string, x float64) {
		for i, e := range list {
			c.row(x, e.Order, 1)
			c.end()
			v := weft.ZerosOf(weft.Float64, 1, array.Size(rest))
			if e.Value != nil {
				w, of := ordinates(name, e.Value.Reshape(append([]int{1}, e.Value.Shape()...)...), 1)
				if !array.Equal(of, rest) {
					array.Failf(name, fmt.Sprintf("%s[%d].Value", arg, i), "has shape %s: want that of a value of y, %s", array.ShapeString(of), array.ShapeString(rest))
				}
				v = w
			}
			right = append(right, v)
		}
	}
	add(start, "Start", t[k])
	if o.Kind == Periodic {
		for order := 1; order < k; order++ {
			c.row(t[k], order, 1)
			c.row(t[n], order, -1)
			c.end()
		}
		right = append(right, weft.ZerosOf(weft.Float64, conditions, array.Size(rest)))
	}
	for i, v := range at {
		if v < t[k] || v > t[n] {
			array.Failf(name, "x", "has %v at %d: want numbers from %v to %v, between the knots", v, i, t[k], t[n])
		}
		c.row(v, 0, 1)
		c.end()
	}
	right = append(right, values)
	add(end, "End", t[n])
	matrix := sparse.NewCSR(weft.FromSlice(c.values), c.columns, c.offsets(), n, n)
	var coefficients *weft.Tensor
	if err := weft.Try(func() { coefficients = sparse.Solve(matrix, weft.Cat(right, 0)) }); err != nil {
		array.Failf(name, "x", "does not determine the spline: want a point between knots t[i] and t[i+k+1] for each i")
	}
	return newBSpline(t, coefficients, k, rest, BSplineOpts{Extrapolate: o.Extrapolate && o.Kind != Periodic, Periodic: o.Kind == Periodic})
}

// ordinates returns y as a float64 matrix of n rows, and the axes of a value.
func ordinates(name string, y *weft.Tensor, n int) (values *weft.Tensor, rest []int) {
	(*core.Tensor)(y).CheckArgument(name, "y")
	if y.DType().Complex() || y.Rank() == 0 || y.Dim(0) != n {
		array.Failf(name, "y", "is %s of shape %s: want real numbers, one or more for each of the %d elements of x", y.DType(), array.ShapeString(y.Shape()), n)
	}
	rest = y.Shape()[1:]
	values = y.To(weft.Float64).Reshape(n, array.Size(rest))
	if values.Detach().IsFinite().All().Item() == 0 {
		array.Failf(name, "y", "has numbers that are not finite")
	}
	return values, rest
}

// ends returns the conditions at the ends, and sets Kind where it is empty.
func ends(name string, o *InterpSplineOpts, k int) (start, end []EndCondition) {
	check := func(arg string, list []EndCondition) {
		for i, e := range list {
			if e.Order < 1 || e.Order > k {
				array.Failf(name, arg, "has order %d at %d: want 1 to the degree, %d", e.Order, i, k)
			}
		}
	}
	check("Start", o.Start)
	check("End", o.End)
	if len(o.Start)+len(o.End) > 0 {
		if o.Kind != "" {
			array.Failf(name, "Kind", "is given with Start or End: want one")
		}
		return o.Start, o.End
	}
	switch o.Kind {
	case "", NotAKnot:
	case Natural, Clamped:
		order := 1
		if o.Kind == Natural {
			order = 2
		}
		if k < order {
			array.Failf(name, "Kind", "%s is for a degree of %d or more, not %d", o.Kind, order, k)
		}
		return []EndCondition{{Order: order}}, []EndCondition{{Order: order}}
	case Periodic:
		if k == 0 {
			array.Failf(name, "Kind", "periodic is for a degree of 1 or more, not 0")
		}
	default:
		array.Failf(name, "Kind", "%q is unknown: want not-a-knot, natural, clamped or periodic", o.Kind)
	}
	return nil, nil
}

// interpKnots returns the knots of a spline through points at x.
func interpKnots(name string, x []float64, k int, o InterpSplineOpts) []float64 {
	if o.T != nil {
		if k == 0 {
			array.Failf(name, "T", "is given for degree 0, whose pieces begin at x")
		}
		return knotVector(name, o.T, k)
	}
	m := len(x)
	least := max(2, k+1)
	if o.Kind != NotAKnot && o.Kind != "" || len(o.Start)+len(o.End) > 0 {
		least = 2
	}
	if m < least {
		array.Failf(name, "x", "has %d elements: want %d or more for degree %d", m, least, k)
	}
	middle := slices.Clone(x[1 : m-1])
	switch {
	case k == 0:
		return append(slices.Clone(x), x[m-1])
	case o.Kind == Periodic:
		return circle(x, k)
	case least > 2 && k%2 == 1: // not a knot
		half := (k + 1) / 2
		middle = x[half : m-half]
	case least > 2:
		half := k / 2
		middle = make([]float64, m-1-k)
		for i := range middle {
			middle[i] = (x[i+half] + x[i+half+1]) / 2
		}
	}
	t := slices.Repeat([]float64{x[0]}, k+1)
	return append(append(t, middle...), slices.Repeat([]float64{x[m-1]}, k+1)...)
}

// circle returns the knots of a periodic spline: one at each point, for even degrees between the points, and k more at
// both ends by going on around.
func circle(x []float64, k int) []float64 {
	m := len(x)
	at := slices.Clone(x)
	if k%2 == 0 {
		for i := 1; i < m-1; i++ {
			at[i] -= (x[i] - x[i-1]) / 2
		}
	}
	t := make([]float64, m+2*k)
	copy(t[k:], at)
	for i := range k {
		j := m - 2 - i%(m-1)
		t[k-1-i] = t[k-i] - (at[j+1] - at[j])
		j = i % (m - 1)
		t[m+k+i] = t[m+k+i-1] + (at[j+1] - at[j])
	}
	return t
}

// A collocation is the matrix of the equations of a spline through points, in compressed rows.
type collocation struct {
	t       []float64
	k       int
	values  []float64
	columns []int
	ends    []int
}

// row adds the derivatives of all basis splines at x, times sign, to the row at the end.
func (c *collocation) row(x float64, order int, sign float64) {
	at := place(c.t, c.k, x)
	begin := len(c.values)
	c.values = append(c.values, make([]float64, c.k+1)...)
	basis(c.values[begin:], c.t, c.k, at, order, x)
	for j := range c.k + 1 {
		c.values[begin+j] *= sign
		c.columns = append(c.columns, at-c.k+j)
	}
}

func (c *collocation) end() { c.ends = append(c.ends, len(c.values)) }

func (c *collocation) offsets() []int { return append([]int{0}, c.ends...) }

// LSQSplineOpts are the options of [MakeLSQSpline].
type LSQSplineOpts struct {
	Weights     *weft.Tensor // of the differences, [m], above 0; nil: all are 1
	Extrapolate bool         // as in [BSplineOpts]
}

// MakeLSQSpline returns the spline of degree k with knots t that makes the sum of the squares of w*(y - f(x)) least, x
// [m] in order and y [m ...]. For each basis spline, from t[i] to t[i+k+1], there must be a point between that no other
// needs (the condition of Schoenberg and Whitney). The normal equations are solved by Cholesky's factors, and the
// solution refined twice with residuals. It has gradients with respect to y. It panics with a [*weft.Error] for bad
// arguments, and where points do not determine the spline. SciPy's make_lsq_spline.
func MakeLSQSpline(x, y, t *weft.Tensor, k int, opts ...LSQSplineOpts) *BSpline {
	const name = "interpolate.makelsqspline"
	o := array.Options(name, opts)
	knots := knotVector(name, t, k)
	at := vector(name, "x", x)
	values, rest := ordinates(name, y, len(at))
	for i, v := range at {
		if math.IsNaN(v) || i > 0 && v < at[i-1] {
			array.Failf(name, "x", "has %v at %d: want numbers that do not descend", v, i)
		}
	}
	n := len(knots) - k - 1
	next := 0
	for i := range n { // a point for each basis spline
		for next < len(at) && at[next] <= knots[i] && !(i == 0 && at[next] == knots[0]) && !(k == 0 && at[next] == knots[i]) {
			next++
		}
		if next == len(at) || at[next] >= knots[i+k+1] && !(i == n-1 && at[next] == knots[n]) {
			array.Failf(name, "t", "has no element of x of its own between knots %d and %d, %v and %v: take fewer knots there", i, i+k+1, knots[i], knots[i+k+1])
		}
		next++
	}
	a := design(name, at, knots, k)
	if o.Weights != nil {
		w := vector(name, "Weights", o.Weights)
		if len(w) != len(at) {
			array.Failf(name, "Weights", "has %d elements, x %d", len(w), len(at))
		}
		for i, v := range w {
			if !(v > 0) || math.IsInf(v, 1) {
				array.Failf(name, "Weights", "has %v at %d: want finite numbers above 0", v, i)
			}
		}
		column := weft.FromSlice(slices.Clone(w), len(w), 1)
		a, values = a.MulDense(column), values.Mul(column)
	}
	across := a.T()
	var c *weft.Tensor
	if err := weft.Try(func() {
		factors := sparse.Cholesky(across.Dot(a))
		c = factors.Solve(across.MatMul(values))
		for range 2 {
			c = c.Add(factors.Solve(across.MatMul(values.Sub(a.MatMul(c)))))
		}
	}); err != nil {
		array.Failf(name, "x", "does not determine the spline to the digits of float64: %v", err)
	}
	return newBSpline(knots, c, k, rest, BSplineOpts{Extrapolate: o.Extrapolate})
}
