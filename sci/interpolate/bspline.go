package interpolate

import (
	"math"
	"sort"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/sparse"
)

// BSplineOpts are the options of [NewBSpline].
type BSplineOpts struct {
	Extrapolate bool // continues the first and last pieces outside of the base interval; by default results are NaN there
	Periodic    bool // repeats the base interval instead
}

// A BSpline is a sum of basis splines with knots t, each times a coefficient. [NewBSpline], [MakeInterpSpline] and
// [MakeLSQSpline] make it. Its base interval goes from knot k to knot n, for degree k and n coefficients. It may be
// used by several goroutines.
type BSpline struct {
	t     []float64
	knots *weft.Tensor // t
	c     *weft.Tensor // float64, [n, all numbers of a value]
	k     int
	rest  []int // the axes of a value
	o     BSplineOpts
}

// NewBSpline returns the spline of degree k with knots t, in order, of n+k+1 elements, and coefficients c, [n ...].
// Further rows of c are not used, so that what SciPy's splrep returns fits. Values have the axes of c behind the first.
// Knots have no gradients, coefficients do. It panics with a [*weft.Error] for bad arguments. SciPy's BSpline(t, c, k).
func NewBSpline(t, c *weft.Tensor, k int, opts ...BSplineOpts) *BSpline {
	const name = "interpolate.newbspline"
	o := array.Options(name, opts)
	if o.Periodic && o.Extrapolate {
		array.Failf(name, "Extrapolate", "is set with Periodic: want one")
	}
	knots := knotVector(name, t, k)
	n := len(knots) - k - 1
	(*core.Tensor)(c).CheckArgument(name, "c")
	if c.DType().Complex() || c.Rank() == 0 || c.Dim(0) < n {
		array.Failf(name, "c", "is %s of shape %s: want real numbers, %d along the first axis for %d knots of degree %d", c.DType(), array.ShapeString(c.Shape()), n, len(knots), k)
	}
	rest := c.Shape()[1:]
	return newBSpline(knots, c.To(weft.Float64).Slice(weft.Range(0, n)).Reshape(n, array.Size(rest)), k, rest, o)
}

func newBSpline(t []float64, c *weft.Tensor, k int, rest []int, o BSplineOpts) *BSpline {
	return &BSpline{t, weft.FromSlice(t), c, k, rest, o}
}

// knotVector returns the knots of a spline of degree k.
func knotVector(name string, t *weft.Tensor, k int) []float64 {
	checkDegree(name, k)
	knots := vector(name, "t", t)
	if len(knots) < 2*k+2 {
		array.Failf(name, "t", "has %d elements: want %d or more for degree %d", len(knots), 2*k+2, k)
	}
	for i, v := range knots {
		if math.IsNaN(v) || math.IsInf(v, 0) || i > 0 && v < knots[i-1] {
			array.Failf(name, "t", "has %v at %d: want finite numbers that do not descend", v, i)
		}
	}
	if n := len(knots) - k - 1; !(knots[k] < knots[n]) {
		array.Failf(name, "t", "has %v at %d and at %d: want two different knots between", knots[k], k, n)
	}
	return append([]float64(nil), knots...)
}

func checkDegree(name string, k int) {
	if k < 0 || k > maxDegree {
		array.Failf(name, "k", "is %d: want a degree from 0 to %d", k, maxDegree)
	}
}

// maxDegree bounds the degrees of splines, whose basis splines are ill-conditioned beyond.
const maxDegree = 64

// Knots returns the knots, float64 of shape [n+k+1].
func (b *BSpline) Knots() *weft.Tensor { return weft.FromSlice(append([]float64(nil), b.t...)) }

// Coeffs returns the coefficients, float64 of shape [n ...].
func (b *BSpline) Coeffs() *weft.Tensor {
	return b.c.Reshape(append([]int{b.c.Dim(0)}, b.rest...)...)
}

// Degree returns the degree k of the pieces.
func (b *BSpline) Degree() int { return b.k }

// span returns the first and the last knot that begins a piece of the base interval. Pieces of degree 0 may be a point.
func span(t []float64, k int) (first, last int) {
	first, last = k, len(t)-k-2
	if k == 0 {
		return first, last
	}
	for t[first+1] == t[first] {
		first++
	}
	for t[last+1] == t[last] {
		last--
	}
	return first, last
}

// At returns the values at x: float64 of x's shape followed by the axes of a value. It has gradients with respect to x
// and to the coefficients, of every order, by the recurrence of Cox and de Boor (de Boor, "A practical guide to
// splines", 2001, chapter X). It panics with a [*weft.Error] for complex numbers.
func (b *BSpline) At(x *weft.Tensor) *weft.Tensor {
	const name = "interpolate.bspline.at"
	(*core.Tensor)(x).CheckArgument(name, "x")
	if x.DType().Complex() {
		array.Failf(name, "x", "is %s: want real numbers", x.DType())
	}
	shape := append(x.Shape(), b.rest...)
	v := x.To(weft.Float64).Reshape(-1)
	low, high := b.base()
	if b.o.Periodic {
		v = v.Sub(v.Detach().Sub(low).Div(high - low).Floor().Mul(high - low))
	}
	d := v.Detach()
	inside := d.IsNaN().LogicalNot()
	if !b.o.Extrapolate && !b.o.Periodic {
		inside = d.Ge(low).LogicalAnd(d.Le(high))
	}
	v = weft.Where(inside, v, low) // so that gradients of the coefficients stay finite
	first, last := span(b.t, b.k)
	place := b.knots.SearchSorted(v.Detach().Contiguous(), weft.SearchOpts{Right: true}).Sub(1).Clamp(first, last)
	// knot[i] is i-k+1 knots from the one that begins the piece.
	knot := make([]*weft.Tensor, 2*b.k)
	for i := range knot {
		knot[i] = b.knots.IndexSelect(0, place.Add(i-b.k+1))
	}
	weights := []*weft.Tensor{weft.OnesOf(weft.Float64, v.Size())}
	for degree := 1; degree <= b.k; degree++ {
		next := make([]*weft.Tensor, degree+1)
		for r, w := range weights {
			right, left := knot[r+b.k], knot[r+b.k-degree]
			w = w.Div(right.Sub(left))
			up, down := v.Sub(left).Mul(w), right.Sub(v).Mul(w)
			if next[r+1] = up; r == 0 {
				next[0] = down
			} else {
				next[r] = next[r].Add(down)
			}
		}
		weights = next
	}
	var sum *weft.Tensor
	for j, w := range weights {
		term := w.Reshape(-1, 1).Mul(b.c.IndexSelect(0, place.Add(j-b.k)))
		if sum == nil {
			sum = term
		} else {
			sum = sum.Add(term)
		}
	}
	return weft.Where(inside.Reshape(-1, 1), sum, math.NaN()).Reshape(shape...)
}

// base returns the ends of the base interval.
func (b *BSpline) base() (low, high float64) { return b.t[b.k], b.t[len(b.t)-b.k-1] }

// Derivative returns the derivative of an order from 0 to k, a spline of lower degree. It panics with a [*weft.Error]
// for another order, and where the spline has jumps at a knot of the base interval.
func (b *BSpline) Derivative(order int) *BSpline {
	const name = "interpolate.bspline.derivative"
	if order < 0 || order > b.k {
		array.Failf(name, "order", "is %d: want 0 to the degree, %d", order, b.k)
	}
	t, c, k := b.t, b.c, b.k
	for range order {
		n := len(t) - k - 1
		scale := make([]float64, n-1)
		for i := range scale {
			width := t[i+k+1] - t[i+1]
			if width == 0 {
				array.Failf(name, "order", "is %d: the spline jumps at knot %v", order, t[i+1])
			}
			scale[i] = float64(k) / width
		}
		c = c.Diff(0, 1).Mul(weft.FromSlice(scale, n-1, 1))
		t, k = t[1:len(t)-1], k-1
	}
	return newBSpline(t, c, k, b.rest, b.o)
}

// Antiderivative returns the antiderivative of an order, 0 or more, a spline of higher degree that is 0 at the first
// knot. That of a periodic spline is not periodic: it is NaN outside of the base interval. It panics with a
// [*weft.Error] for a bad order.
func (b *BSpline) Antiderivative(order int) *BSpline {
	const name = "interpolate.bspline.antiderivative"
	if order < 0 || b.k+order > maxDegree {
		array.Failf(name, "order", "is %d: want 0 to %d, for degrees up to %d", order, maxDegree-b.k, maxDegree)
	}
	t, c, k, o := b.t, b.c, b.k, b.o
	if order > 0 {
		o.Periodic = false
	}
	for range order {
		n := len(t) - k - 1
		scale := make([]float64, n)
		for i := range scale {
			scale[i] = (t[i+k+1] - t[i]) / float64(k+1)
		}
		sums := c.Mul(weft.FromSlice(scale, n, 1)).CumSum(0)
		c = weft.Cat([]*weft.Tensor{weft.ZerosOf(weft.Float64, 1, c.Dim(1)), sums}, 0)
		t, k = append(append([]float64{t[0]}, t...), t[len(t)-1]), k+1
	}
	return newBSpline(t, c, k, b.rest, o)
}

// Integrate returns the integral from low to high, float64 of the shape of a value; it is negative where high is below
// low. Without Extrapolate and Periodic the spline counts as 0 outside of the base interval. It has gradients with
// respect to the coefficients, and panics with a [*weft.Error] for limits that are not finite. SciPy's integrate.
func (b *BSpline) Integrate(low, high float64) *weft.Tensor {
	const name = "interpolate.bspline.integrate"
	finite := func(arg string, v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			array.Failf(name, arg, "is %v: want a finite number", v)
		}
	}
	finite("low", low)
	finite("high", high)
	sum := b.Antiderivative(1)
	sum.o.Extrapolate = true
	from, to := b.base()
	until := func(x float64) *weft.Tensor {
		switch {
		case b.o.Periodic:
			turns := math.Floor((x - from) / (to - from))
			ends := sum.At(weft.From([]float64{from, to, x - turns*(to-from)}))
			return ends.At(1).Sub(ends.At(0)).Mul(turns).Add(ends.At(2))
		case !b.o.Extrapolate:
			x = max(from, min(to, x))
		}
		return sum.At(weft.ScalarOf(weft.Float64, x))
	}
	return until(high).Sub(until(low))
}

// basis writes the derivatives of an order of the k+1 basis splines that are not 0 in the piece that begins at knot place.
func basis(out, t []float64, k, place, order int, x float64) {
	out[0] = 1
	for degree := 1; degree <= k; degree++ {
		saved := 0.0
		for r := range degree {
			right, left := t[place+r+1], t[place+r+1-degree]
			w := out[r] / (right - left)
			if degree > k-order { // a derivative of the splines of one degree less
				w *= float64(degree)
				out[r], saved = saved-w, w
			} else {
				out[r], saved = saved+float64((right-x)*w), (x-left)*w
			}
		}
		out[degree] = saved
	}
}

// place returns the knot that begins the piece at x, in the base interval.
func place(t []float64, k int, x float64) int {
	first, last := span(t, k)
	return max(first, min(last, sort.Search(len(t), func(i int) bool { return t[i] > x })-1))
}

// DesignMatrix returns the values of all basis splines of degree k with knots t at x, [m]: a sparse matrix [m n] for
// n+k+1 knots, in compressed rows of k+1 elements. Its product with coefficients is the spline at x. It has no
// gradients, and panics with a [*weft.Error] for bad arguments and where an element of x is outside of the base
// interval. SciPy's BSpline.design_matrix.
func DesignMatrix(x, t *weft.Tensor, k int) *sparse.Matrix {
	const name = "interpolate.designmatrix"
	knots := knotVector(name, t, k)
	return design(name, vector(name, "x", x), knots, k)
}

func design(name string, x, t []float64, k int) *sparse.Matrix {
	n := len(t) - k - 1
	values, columns, offsets := make([]float64, len(x)*(k+1)), make([]int, len(x)*(k+1)), make([]int, len(x)+1)
	for i, v := range x {
		if !(v >= t[k] && v <= t[n]) {
			array.Failf(name, "x", "has %v at %d: want numbers from %v to %v, between the knots", v, i, t[k], t[n])
		}
		at := place(t, k, v)
		basis(values[i*(k+1):], t, k, at, 0, v)
		for j := range k + 1 {
			columns[i*(k+1)+j] = at - k + j
		}
		offsets[i+1] = (i + 1) * (k + 1)
	}
	return sparse.NewCSR(weft.FromSlice(values), columns, offsets, len(x), n)
}
