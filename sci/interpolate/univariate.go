package interpolate

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// UnivariateSplineOpts are the options of [NewUnivariateSpline].
type UnivariateSplineOpts struct {
	K *int // the degree, 1 to 5; 3 if it is nil
	// S bounds the sum of the squares of w*(y - f(x)): fewer knots, and a smoother curve, for a greater one. 0 goes
	// through all points. nil is the number of points, which is right for weights of 1/(standard deviation of y).
	S           *float64
	Weights     *weft.Tensor // of the points, above 0; nil: all are 1
	Low, High   *float64     // the base interval, which has all x; nil: the first and the last x
	Extrapolate bool         // as in [BSplineOpts]; SciPy's UnivariateSpline extrapolates by default
}

// A UnivariateSpline is a [BSpline] whose knots were chosen by a bound of the error. [NewUnivariateSpline] makes it. Its
// knots have the ends repeated, as in every B-spline.
type UnivariateSpline struct {
	*BSpline
	residual float64
}

// Residual returns the sum of the squares of w*(y - f(x)). SciPy's get_residual.
func (u *UnivariateSpline) Residual() float64 { return u.residual }

// NewUnivariateSpline returns a spline f near the points (x[i], y[i]), both [m] with m above the degree and x in order.
// The sum of the squares of w*(y - f(x)) is S to a thousandth, or less where a polynomial suffices.
//
// Knots are added where the error is large until least squares have an error of at most S. Then the jumps of the derivative
// of order K at the knots are made as small as S allows (Dierckx, "An algorithm for smoothing, differentiation and
// integration of experimental data using spline functions", J. Comput. Appl. Math. 1, 1975; "A fast algorithm for smoothing
// data on a rectangular grid", SIAM J. Numer. Anal. 19, 1982). Several points may have the same x. If their spread alone is
// more than S, the curve goes through their means.
//
// The spline has no gradients with respect to x, y and the options. It panics with a [*weft.Error] for bad arguments.
// SciPy's UnivariateSpline. Where that takes more than m/2 knots, it differs from SciPy's splrep, whose knots these
// are.
func NewUnivariateSpline(x, y *weft.Tensor, opts ...UnivariateSplineOpts) *UnivariateSpline {
	const name = "interpolate.newunivariatespline"
	o := array.Options(name, opts)
	f := &knotSearch{k: array.Or(o.K, 3)}
	if f.k < 1 || f.k > 5 {
		array.Failf(name, "K", "is %d: want a degree from 1 to 5", f.k)
	}
	f.points(name, x, y, o.Weights)
	m := len(f.x)
	if n := len(f.different); n <= f.k {
		array.Failf(name, "x", "has %d different elements: want %d or more for degree %d", n, f.k+1, f.k)
	}
	f.low, f.high = array.Or(o.Low, f.x[0]), array.Or(o.High, f.x[m-1])
	if !(f.low <= f.x[0]) || math.IsInf(f.low, 0) {
		array.Failf(name, "Low", "is %v: want a finite number up to the first x, %v", f.low, f.x[0])
	}
	if !(f.high >= f.x[m-1]) || math.IsInf(f.high, 0) {
		array.Failf(name, "High", "is %v: want a finite number from the last x on, %v", f.high, f.x[m-1])
	}
	checkSpan(name, f.low, f.high)
	if f.s = array.Or(o.S, float64(x.Size())); !(f.s >= 0) || math.IsInf(f.s, 1) {
		array.Failf(name, "S", "is %v: want a finite number from 0 on", f.s)
	}
	c, residual := f.fit()
	b := newBSpline(f.t, weft.FromSlice(c, len(c), 1), f.k, nil, BSplineOpts{Extrapolate: o.Extrapolate})
	return &UnivariateSpline{b, residual}
}

// checkSpan refuses x whose differences overflow, or have reciprocals that do.
func checkSpan(name string, low, high float64) {
	if span := high - low; math.IsInf(span, 0) || span < 1e-300 {
		array.Failf(name, "x", "goes from %v to %v: want a difference from 1e-300 on that float64 has", low, high)
	}
}

// A knotSearch is a spline of degree k while its knots are chosen.
type knotSearch struct {
	x, y, w   []float64 // points, x in order
	different []float64 // x without repetitions
	low, high float64
	k         int
	s         float64
	t         []float64   // knots
	rows      [][]float64 // of each point: the values of its k+1 basis splines
	first     []int       // of each point: the first of these
}

// points sets the points.
func (f *knotSearch) points(name string, x, y, weights *weft.Tensor) {
	at, values := vector(name, "x", x), vector(name, "y", y)
	if len(values) != len(at) {
		array.Failf(name, "y", "has %d elements, x %d", len(values), len(at))
	}
	w := slices.Repeat([]float64{1}, len(at))
	if weights != nil {
		if w = vector(name, "Weights", weights); len(w) != len(at) {
			array.Failf(name, "Weights", "has %d elements, x %d", len(w), len(at))
		}
	}
	size := 0.0
	for i := range at {
		if !finite(at[i]) || i > 0 && at[i] < at[i-1] {
			array.Failf(name, "x", "has %v at %d: want finite numbers that do not descend", at[i], i)
		}
		if !finite(values[i]) {
			array.Failf(name, "y", "has %v at %d: want finite numbers", values[i], i)
		}
		if !(w[i] > 0) || math.IsInf(w[i], 1) {
			array.Failf(name, "Weights", "has %v at %d: want finite numbers above 0", w[i], i)
		}
		e := float64(w[i] * values[i])
		size += float64(e * e)
	}
	if !finite(16 * size) {
		array.Failf(name, "y", "has numbers too large for the squares of w*y: want them below 1e150, and S smaller by their square")
	}
	f.x, f.y, f.w = at, values, w
	f.different = slices.Compact(slices.Clone(at))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// boundTolerance is the part of S that the error may differ from it.
const boundTolerance = 0.001

// fit chooses the knots, and returns the coefficients and the error.
func (f *knotSearch) fit() (c []float64, residual float64) {
	most := len(f.different) - f.k - 1 // interior knots of the spline through all points
	ends := func(at float64) []float64 { return slices.Repeat([]float64{at}, f.k+1) }
	knots := func(interior []float64) { f.t = slices.Concat(ends(f.low), interior, ends(f.high)) }
	knots(nil)
	if f.s == 0 {
		knots(f.through())
	}
	acc := boundTolerance * f.s
	inside := []int{len(f.x) - 2} // points between neighbouring knots
	var polynomial, before float64
	for add, step := 0, 0; ; step++ {
		f.basis()
		r, wrong := f.leastSquares()
		c = r.solution()
		if step == 0 {
			polynomial = wrong
		}
		interior := len(f.t) - 2*f.k - 2
		excess := wrong - f.s
		switch {
		case math.Abs(excess) < acc || excess < 0 && interior == 0 || f.s == 0 || excess >= 0 && interior >= most:
			return c, wrong
		case excess < 0:
			return f.smooth(r, polynomial-f.s, excess)
		}
		add = more(add, excess, before-wrong, acc)
		before = wrong
		wrongs := f.parts(c)
		for range add {
			wrongs, inside = f.split(wrongs, inside)
			if len(f.t)-2*f.k-2 >= most {
				knots(f.through())
				break
			}
		}
	}
}

// more returns the number of knots to add, after the last ones made the error smaller by gain.
func more(last int, excess, gain, acc float64) int {
	if last == 0 {
		return 1
	}
	n := 2 * last
	if gain > acc {
		if want := float64(last) * excess / gain; want < float64(n) {
			n = int(want)
		}
	}
	return max(1, last/2, n)
}

// through returns the interior knots of the spline through all points.
func (f *knotSearch) through() []float64 {
	k, x := f.k, f.different
	if k%2 == 1 {
		return slices.Clone(x[(k+1)/2 : len(x)-(k+1)/2])
	}
	t := make([]float64, len(x)-k-1)
	for i := range t {
		t[i] = x[i+k/2]/2 + x[i+k/2+1]/2
	}
	return t
}

// basis computes the basis splines at the points.
func (f *knotSearch) basis() {
	f.rows, f.first = make([][]float64, len(f.x)), make([]int, len(f.x))
	all := make([]float64, len(f.x)*(f.k+1))
	at, last := f.k, len(f.t)-f.k-2
	for i, x := range f.x {
		for at < last && x >= f.t[at+1] {
			at++
		}
		f.rows[i], f.first[i] = all[i*(f.k+1):][:f.k+1], at-f.k
		basis(f.rows[i], f.t, f.k, at, 0, x)
	}
}

// leastSquares returns the triangular equations of the spline of least squares, and its error.
func (f *knotSearch) leastSquares() (r *triangle, wrong float64) {
	r = newTriangle(len(f.t)-f.k-1, f.k+1)
	row := make([]float64, f.k+1)
	for i := range f.x {
		for j, v := range f.rows[i] {
			row[j] = float64(v * f.w[i])
		}
		e := r.add(row, f.first[i], float64(f.y[i]*f.w[i]))
		wrong += float64(e * e)
	}
	return r, wrong
}

// wrong returns the square of a point's error.
func (f *knotSearch) wrong(c []float64, i int) float64 {
	v := 0.0
	for j, b := range f.rows[i] {
		v += float64(b * c[f.first[i]+j])
	}
	e := float64(f.w[i] * (f.y[i] - v))
	return float64(e * e)
}

// parts returns the errors between neighbouring knots. That of a point at a knot goes to both sides.
func (f *knotSearch) parts(c []float64) []float64 {
	list := []float64{0}
	next := f.k + 1
	for i, x := range f.x {
		e := f.wrong(c, i)
		if next < len(f.t)-f.k-1 && x >= f.t[next] {
			list[len(list)-1] += e / 2
			list = append(list, 0)
			next++
			e /= 2
		}
		list[len(list)-1] += e
	}
	return list
}

// split adds a knot at the point in the middle of the interval with the greatest error, which is shared by the numbers
// of points. Requires a point that differs from all knots.
func (f *knotSearch) split(wrongs []float64, inside []int) ([]float64, []int) {
	for {
		worst, begin, from := -1, 0, 0
		for j, e := range wrongs {
			if inside[j] > 0 && !(e < 0) && (worst < 0 || e > wrongs[worst]) {
				worst, from = j, begin
			}
			begin += inside[j] + 1
		}
		n, e := inside[worst], wrongs[worst]
		at := f.middle(from, n)
		if at < 0 {
			wrongs[worst] = -1 // all of its points are at its ends
			continue
		}
		left := at - from - 1
		f.t = slices.Insert(f.t, f.k+1+worst, f.x[at])
		inside[worst] = left
		inside = slices.Insert(inside, worst+1, n-left-1)
		wrongs[worst] = e * float64(left) / float64(n)
		return slices.Insert(wrongs, worst+1, e*float64(n-left-1)/float64(n)), inside
	}
}

// middle returns the place nearest to the middle of n points behind a place whose x differs from those at both ends, or -1.
func (f *knotSearch) middle(from, n int) int {
	half := from + n/2 + 1
	for d := range n {
		for _, at := range [2]int{half + d, half - d} {
			if at > from && at <= from+n && f.x[at] > f.x[from] && f.x[at] < f.x[from+n+1] {
				return at
			}
		}
	}
	return -1
}

// smooth makes the jumps small. The error, less s, of the spline for a weight p of the points falls from none, of a
// polynomial, to few, of least squares; a rational function through three values finds the p where it is 0.
func (f *knotSearch) smooth(r *triangle, none, few float64) (c []float64, residual float64) {
	n, acc := len(r.right), boundTolerance*f.s
	jumps := f.jumps()
	diagonal := 0.0
	for i := range n {
		diagonal += r.row(i)[0]
	}
	p := float64(n) / diagonal
	low, high := [2]float64{0, none}, [2]float64{-1, few} // p and the error; a negative p is infinite
	var below, above bool                                 // low and high have the signs that they should
	const most = 100
	for step := 0; ; step++ {
		g := r.wider()
		row := make([]float64, f.k+2)
		for i, b := range jumps {
			for j, v := range b {
				row[j] = v / p
			}
			g.add(row, i, 0)
		}
		c = g.solution()
		residual = 0
		for i := range f.x {
			residual += f.wrong(c, i)
		}
		at := [2]float64{p, residual - f.s}
		if math.Abs(at[1]) < acc || step == most {
			return c, residual
		}
		if !above {
			if at[1]-high[1] <= acc { // p is too large
				high = at
				if p *= 0.04; p <= low[0] {
					p = 0.9*low[0] + 0.1*at[0]
				}
				continue
			}
			above = at[1] < 0
		}
		if !below {
			if low[1]-at[1] <= acc { // p is too small
				low = at
				if p /= 0.04; high[0] >= 0 && p >= high[0] {
					p = 0.1*at[0] + 0.9*high[0]
				}
				continue
			}
			below = at[1] > 0
		}
		if at[1] >= low[1] || at[1] <= high[1] { // roundings are greater than the differences
			return c, residual
		}
		p = rationalZero(low, at, high)
		if at[1] < 0 {
			high = at
		} else {
			low = at
		}
	}
}

// rationalZero returns the zero of the function (u*p + v)/(p + w) through three points.
func rationalZero(a, b, c [2]float64) float64 {
	b[1], c[1] = b[1]/a[1], c[1]/a[1] // without overflow
	if a[1] = 1; c[0] < 0 {
		return (a[0]*(a[1]-c[1])*b[1] - b[0]*(b[1]-c[1])*a[1]) / ((a[1] - b[1]) * c[1])
	}
	u, v, w := a[1]*(b[1]-c[1]), b[1]*(c[1]-a[1]), c[1]*(a[1]-b[1])
	return -(a[0]*b[0]*w + b[0]*c[0]*u + c[0]*a[0]*v) / (a[0]*u + b[0]*v + c[0]*w)
}

// jumps returns the jumps of derivatives of order k of k+2 basis splines at each interior knot, from the first that
// jumps there on. They are divided by k! and by the k-th power of the mean distance of knots.
func (f *knotSearch) jumps() [][]float64 {
	k := f.k
	n := len(f.t) - k - 1
	scale := float64(n-k) / (f.t[n] - f.t[k])
	list := make([][]float64, 0, n-k-1)
	for l := k + 1; l < n; l++ {
		b := make([]float64, k+2)
		for j := range b {
			first := l - k - 1 + j
			product := 1 / scale
			for i := first; i <= first+k+1; i++ {
				if i != l {
					product *= (f.t[l] - f.t[i]) * scale
				}
			}
			b[j] = (f.t[first+k+1] - f.t[first]) / product
		}
		list = append(list, b)
	}
	return list
}

// A triangle is an upper triangular matrix with a band above its diagonal, and the right side, to which rotations add
// equations (Givens, "Computation of plane unitary rotations", J. SIAM 6, 1958).
type triangle struct {
	width  int
	values []float64
	right  []float64
}

func newTriangle(n, width int) *triangle {
	return &triangle{width, make([]float64, n*width), make([]float64, n)}
}

func (r *triangle) row(i int) []float64 { return r.values[i*r.width:][:r.width] }

// wider returns a copy with one more diagonal.
func (r *triangle) wider() *triangle {
	g := newTriangle(len(r.right), r.width+1)
	copy(g.right, r.right)
	for i := range r.right {
		copy(g.row(i), r.row(i))
	}
	return g
}

// add adds an equation whose row begins at a column, and returns what no solution meets.
func (r *triangle) add(row []float64, at int, right float64) float64 {
	h := slices.Clone(row)
	for ; at < len(r.right); at++ {
		if slices.Max(h) == 0 && slices.Min(h) == 0 {
			break
		}
		if pivot := h[0]; pivot != 0 {
			to := r.row(at)
			length := hypot(pivot, to[0])
			cos, sin := to[0]/length, pivot/length
			turn := func(x, y *float64) {
				*x, *y = float64(cos**x)-float64(sin**y), float64(cos**y)+float64(sin**x)
			}
			turn(&right, &r.right[at])
			to[0] = length
			for i := 1; i < len(h); i++ {
				turn(&h[i], &to[i])
			}
		}
		copy(h, h[1:])
		h[len(h)-1] = 0
	}
	return right
}

// hypot returns the length of a vector, the first not being 0, with the same bits on all processors.
func hypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	big, small := max(x, y), min(x, y)
	ratio := small / big
	return big * math.Sqrt(1+float64(ratio*ratio))
}

// solution returns the solution of the equations.
func (r *triangle) solution() []float64 {
	n := len(r.right)
	c := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		row, v := r.row(i), r.right[i]
		for j := 1; j < len(row) && i+j < n; j++ {
			v -= float64(row[j] * c[i+j])
		}
		if row[0] != 0 {
			c[i] = v / row[0]
		}
	}
	return c
}
