package optimize

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"weft"
)

// reflective is the method of Branch, Coleman, Li, "A subspace, interior, and conjugate gradient method for large-scale
// bound-constrained minimization problems" (SIAM J. Sci. Comput. 21, 1999), with exact steps in a trust region. Points
// stay strictly between their bounds. Unknowns are scaled by roots of their distances from the bounds that the gradient
// points away from, so that steps do not end there. A step that would leave the bounds is cut, or reflected at the
// first one.
type reflective struct {
	s            *squares
	lower, upper []float64 // of the free unknowns
	all          []float64 // all unknowns
	free         []int     // unknowns whose bounds differ

	x, r, g []float64
	cost    float64
	jac     *mat.Dense // by all unknowns
	j       *mat.Dense // by the free ones

	d, curve   []float64 // scales, and the diagonal that the scaling adds to the Hessian
	optimality float64   // the greatest element of the gradient times its distance
	radius     float64
}

// searchBounded is LeastSquares with bounds.
func (s *squares) searchBounded(x, lower, upper []float64, ftol, xtol, gtol float64, most int) (*Fit, error) {
	t := &reflective{s: s, all: x}
	for i := range x {
		x[i] = max(lower[i], min(upper[i], x[i]))
		if lower[i] < upper[i] {
			t.free, t.lower, t.upper = append(t.free, i), append(t.lower, lower[i]), append(t.upper, upper[i])
			t.x = append(t.x, x[i])
		}
	}
	t.inside(t.x, 1e-10)
	t.spread(t.x)
	t.r = s.residuals(x)
	if t.cost = half(t.r); !finite(t.cost) {
		return nil, &ConvergenceError{Op: s.name, Reason: "the residuals at the starting point are not finite: look for NaN in the data and in f"}
	}
	t.derive()
	if len(t.free) == 0 {
		return t.fit(xtol), nil
	}
	if t.radius = t.scaled(t.x); !(t.radius > 0) || !finite(t.radius) {
		t.radius = 1
	}
	for ; s.steps < most; s.steps++ {
		if err := ended(s.name, s.ctx); err != nil {
			return t.fit(xtol), err
		}
		switch {
		case !finite(t.optimality) || !finite(norm(t.j.RawMatrix().Data)):
			return t.fit(xtol), &ConvergenceError{Op: s.name, Reason: "derivatives of f are not finite"}
		case t.optimality <= gtol:
			return t.fit(xtol), nil
		}
		done, err := t.step(ftol, xtol)
		if done || err != nil {
			s.steps++
			return t.fit(xtol), err
		}
	}
	return t.fit(xtol), &ConvergenceError{Op: s.name, Reason: afterSteps(most)}
}

// step tries steps in smaller and smaller regions up to one that makes the sum of squares smaller.
func (t *reflective) step(ftol, xtol float64) (done bool, err error) {
	m, ok := t.model()
	if !ok {
		return false, &ConvergenceError{Op: t.s.name, Reason: "derivatives of f have no singular values"}
	}
	theta := max(0.995, 1-t.optimality)
	for range 200 {
		h, predicted := m.choose(t, m.within(t.radius), theta)
		next := make([]float64, len(t.x))
		for i := range next {
			next[i] = t.x[i] + t.d[i]*h[i]
		}
		t.inside(next, 0)
		t.spread(next)
		r := t.s.residuals(t.all)
		cost, size := half(r), length(h)
		if !finite(cost) {
			t.radius = size / 4
			continue
		}
		gain := t.cost - cost
		ratio := gain / predicted
		if predicted <= 0 {
			ratio = 0
			if gain == 0 {
				ratio = 1
			}
		}
		atEdge := size > 0.95*t.radius
		switch {
		case ratio < 0.25:
			t.radius = size / 4
		case ratio > 0.75 && atEdge:
			t.radius *= 2
		}
		moved := floats.Distance(next, t.x, 2)
		still := moved <= xtol*(xtol+length(t.x))
		small := gain < ftol*t.cost && ratio > 0.25
		if gain > 0 {
			t.x, t.r, t.cost = next, r, cost
			t.derive()
			return still || small, nil
		}
		if still || small || t.radius == 0 {
			t.spread(t.x)
			return true, nil
		}
	}
	t.spread(t.x)
	return false, &ConvergenceError{Op: t.s.name, Reason: "no step makes the sum of squares smaller"}
}

// spread puts the free unknowns among all.
func (t *reflective) spread(x []float64) {
	for k, i := range t.free {
		t.all[i] = x[k]
	}
}

// inside moves elements strictly between their bounds, by a share of a bound's size or the next number.
func (t *reflective) inside(x []float64, share float64) {
	for i := range x {
		lower, upper := t.lower[i], t.upper[i]
		if low := max(lower+share*max(1, math.Abs(lower)), math.Nextafter(lower, upper)); x[i] < low {
			x[i] = low
		}
		if high := min(upper-share*max(1, math.Abs(upper)), math.Nextafter(upper, lower)); x[i] > high {
			x[i] = high
		}
		if !(x[i] > lower && x[i] < upper) {
			x[i] = lower + (upper-lower)/2
		}
	}
}

// derive computes the Jacobian, gradient and scales at x.
func (t *reflective) derive() {
	t.jac = t.s.jacobian(t.all, len(t.r))
	t.j = mat.NewDense(len(t.r), max(1, len(t.free)), nil)
	for k, i := range t.free {
		t.j.SetCol(k, mat.Col(nil, i, t.jac))
	}
	t.g = gradient(t.j, t.r)
	t.d, t.curve, t.optimality = make([]float64, len(t.x)), make([]float64, len(t.x)), 0
	for i := range t.x {
		g, v := t.g[i], 1.0
		switch {
		case g < 0 && !math.IsInf(t.upper[i], 1):
			v = t.upper[i] - t.x[i]
			t.curve[i] = -g
		case g > 0 && !math.IsInf(t.lower[i], -1):
			v = t.x[i] - t.lower[i]
			t.curve[i] = g
		}
		t.d[i] = math.Sqrt(v)
		t.optimality = max(t.optimality, math.Abs(g*v))
	}
}

// scaled is the length of x in scaled unknowns.
func (t *reflective) scaled(x []float64) float64 {
	return length(floats.DivTo(make([]float64, len(x)), x, t.d))
}

// fit returns what has been found. An unknown is active within a share of its size from a bound that is the nearer one.
func (t *reflective) fit(share float64) *Fit {
	f := t.s.fit(t.all, t.r, t.jac, t.cost)
	f.Optimality = t.optimality
	active := make([]int64, len(t.all))
	for i := range active {
		active[i] = -1 // bounds are equal
	}
	for k, i := range t.free {
		low, high := t.x[k]-t.lower[k], t.upper[k]-t.x[k]
		switch {
		case !math.IsInf(low, 1) && low <= min(high, share*max(1, math.Abs(t.lower[k]))):
			active[i] = -1
		case !math.IsInf(high, 1) && high <= min(low, share*max(1, math.Abs(t.upper[k]))):
			active[i] = 1
		default:
			active[i] = 0
		}
	}
	f.ActiveMask = weft.FromSlice(active, t.s.shape...)
	return f
}

// A reflectiveModel is the quadratic model g*h + |J*h|^2/2 + curve*h^2/2 of scaled steps h, by singular values.
type reflectiveModel struct {
	a      *mat.Dense // the scaled Jacobian above the root of the curve
	g      []float64  // the scaled gradient
	u      []float64  // U^T*r
	values []float64
	v      mat.Dense
	alpha  float64 // the last damping
}

func (t *reflective) model() (m *reflectiveModel, ok bool) {
	rows, n := t.j.Dims()
	m = &reflectiveModel{a: mat.NewDense(rows+n, n, nil), g: floats.MulTo(make([]float64, n), t.d, t.g)}
	for k := range n {
		for i := range rows {
			m.a.Set(i, k, t.j.At(i, k)*t.d[k])
		}
		m.a.Set(rows+k, k, math.Sqrt(t.curve[k]))
	}
	var svd mat.SVD
	if !svd.Factorize(m.a, mat.SVDThin) {
		return nil, false
	}
	var u mat.Dense
	svd.UTo(&u)
	svd.VTo(&m.v)
	m.values = svd.Values(nil)
	m.u = gradient(u.Slice(0, rows, 0, n).(*mat.Dense), t.r)
	return m, true
}

// damped returns the least point of the model plus alpha*|h|^2/2, in terms of V.
func (m *reflectiveModel) damped(alpha float64) []float64 {
	h := make([]float64, len(m.values))
	for i, s := range m.values {
		if s > 0 {
			h[i] = -s * m.u[i] / (s*s + alpha)
		}
	}
	return h
}

// within returns the least point of the model with a length of at most radius, by Newton's method for the damping
// (Moré, "The Levenberg-Marquardt algorithm: implementation and theory", 1978).
func (m *reflectiveModel) within(radius float64) []float64 {
	excess := func(alpha float64) (phi, slope float64, h []float64) {
		h = m.damped(alpha)
		size := length(h)
		for i, s := range m.values {
			slope -= h[i] / size * h[i] / (s*s + alpha)
		}
		return size - radius, slope, h
	}
	back := func(h []float64) []float64 {
		var y mat.VecDense
		y.MulVec(&m.v, mat.NewVecDense(len(h), h))
		return y.RawVector().Data
	}
	n := len(m.values)
	low, high := 0.0, length(m.g)/radius
	if full := m.values[n-1] > 0x1p-52*float64(n)*m.values[0]; full {
		phi, slope, h := excess(0)
		if phi <= 0 {
			m.alpha = 0
			return back(h)
		}
		low = -phi / slope
	}
	h := m.damped(high)
	for range 20 {
		if !(m.alpha > low && m.alpha < high) {
			m.alpha = max(0.001*high, math.Sqrt(low*high))
		}
		phi, slope, at := excess(m.alpha)
		if h = at; math.Abs(phi) < 0.01*radius || !finite(slope) || slope == 0 {
			break
		}
		if phi < 0 {
			high = m.alpha
		}
		ratio := phi / slope
		low = max(low, m.alpha-ratio)
		m.alpha -= (phi + radius) * ratio / radius
	}
	if size := length(h); size > 0 {
		floats.Scale(radius/size, h)
	}
	return back(h)
}

// value returns the model at h.
func (m *reflectiveModel) value(h []float64) float64 {
	return floats.Dot(m.g, h) + half(mulVec(m.a, h))
}

// least returns the least point of the model at from+t*along for t of low to high, and the value there.
func (m *reflectiveModel) least(from, along []float64, low, high float64) (h []float64, value float64) {
	at := func(t float64) []float64 { return floats.AddScaledTo(make([]float64, len(along)), from, t, along) }
	step := mulVec(m.a, along)
	slope := floats.Dot(m.g, along) + floats.Dot(step, mulVec(m.a, from))
	value = math.Inf(1)
	ends := []float64{low, high}
	if t := -slope / floats.Dot(step, step); t > low && t < high {
		ends = append(ends, t)
	}
	for _, t := range ends {
		if v := m.value(at(t)); v < value {
			h, value = at(t), v
		}
	}
	return h, value
}

// choose returns the best of the step h cut at the bounds, of one reflected there, and of one along the gradient, with
// what the model says it gains.
func (m *reflectiveModel) choose(t *reflective, h []float64, theta float64) (best []float64, predicted float64) {
	n := len(h)
	stride, hits := t.toBound(t.x, h)
	if stride >= 1 {
		if inside := floats.AddScaledTo(make([]float64, n), t.x, 1, floats.MulTo(make([]float64, n), t.d, h)); t.strictly(inside) {
			return h, -m.value(h)
		}
	}
	stride = min(stride, 1)
	cut := floats.ScaleTo(make([]float64, n), stride, h)
	mirrored := append([]float64(nil), h...)
	for i, hit := range hits {
		if hit {
			mirrored[i] = -mirrored[i]
		}
	}
	best = floats.ScaleTo(make([]float64, n), theta, cut)
	value := m.value(best)
	take := func(h []float64, v float64) {
		if v < value {
			best, value = h, v
		}
	}
	edge := floats.AddTo(make([]float64, n), t.x, floats.MulTo(make([]float64, n), t.d, cut))
	for i := range hits {
		edge[i] = max(t.lower[i], min(t.upper[i], edge[i]))
	}
	bound, _ := t.toBound(edge, mirrored)
	end := min(theta*bound, toSphere(cut, mirrored, t.radius))
	if start := (1 - theta) * stride / end; end > 0 && start <= end {
		take(m.least(cut, mirrored, start, end))
	}
	down := floats.ScaleTo(make([]float64, n), -1, m.g)
	bound, _ = t.toBound(t.x, down)
	take(m.least(make([]float64, n), down, 0, min(theta*bound, t.radius/length(down))))
	return best, -value
}

func (t *reflective) strictly(x []float64) bool {
	for i, v := range x {
		if !(v > t.lower[i] && v < t.upper[i]) {
			return false
		}
	}
	return true
}

// toBound returns how many scaled steps h go from x to the first bound, and which unknowns are there.
func (t *reflective) toBound(x, h []float64) (stride float64, hits []bool) {
	strides := make([]float64, len(x))
	stride = math.Inf(1)
	for i := range x {
		strides[i] = math.Inf(1)
		if s := t.d[i] * h[i]; s != 0 {
			strides[i] = max((t.lower[i]-x[i])/s, (t.upper[i]-x[i])/s)
		}
		stride = min(stride, strides[i])
	}
	hits = make([]bool, len(x))
	for i, s := range strides {
		hits[i] = s == stride && !math.IsInf(s, 1)
	}
	return stride, hits
}

// toSphere returns the greater t where |from+t*along| is radius.
func toSphere(from, along []float64, radius float64) float64 {
	a, b, c := floats.Dot(along, along), floats.Dot(from, along), floats.Dot(from, from)-radius*radius
	root := math.Sqrt(max(0, b*b-a*c))
	if b > 0 { // no cancellation
		return -c / (b + root)
	}
	return (root - b) / a
}

func mulVec(a *mat.Dense, x []float64) []float64 {
	var y mat.VecDense
	y.MulVec(a, mat.NewVecDense(len(x), x))
	return y.RawVector().Data
}
