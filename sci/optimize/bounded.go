package optimize

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// bounded is the method of Byrd, Lu, Nocedal, Zhu, "A limited memory algorithm for bound constrained optimization"
// (SIAM J. Sci. Comput. 16, 1995): a quadratic model of the last steps, its first minimum along the projected gradient,
// and its minimum over the elements that are not at a bound there. B is theta*I - W*M*W^T. gonum has L-BFGS without
// bounds.
type bounded struct {
	name         string
	e            *evaluations
	lower, upper []float64
	x, g         []float64
	value        float64

	s, y  [][]float64 // the last steps, and the changes of the gradient
	theta float64
	w     [][]float64 // a row for each element
	m     *mat.Dense
}

// pairsKept is the number of steps that the model remembers.
const pairsKept = 10

// search runs until no element of the projected gradient is above gtol.
func (b *bounded) search(gtol float64, most int) (steps int, err error) {
	b.clip(b.x)
	b.evaluate(b.x)
	b.theta = 1
	b.model()
	for ; ; steps++ {
		if !finite(b.value) || !finite(norm(b.g)) {
			return steps, &ConvergenceError{Op: b.name, Reason: "f or its gradient is not finite"}
		}
		if norm(b.projected()) <= gtol {
			return steps, nil
		}
		if err := ended(b.name, b.e.ctx); err != nil {
			return steps, err
		}
		if steps == most {
			return steps, &ConvergenceError{Op: b.name, Reason: afterSteps(most)}
		}
		cauchy, c := b.cauchy()
		d := b.inner(cauchy, c)
		floats.Sub(d, b.x)
		x, g, value := b.x, b.g, b.value
		if !b.line(d) {
			if len(b.s) == 0 {
				return steps, &ConvergenceError{Op: b.name, Reason: "no step makes the value smaller"}
			}
			b.s, b.y, b.theta = nil, nil, 1 // from the gradient again
			b.model()
			continue
		}
		if value-b.value <= 0x1p-50*max(math.Abs(value), math.Abs(b.value), 1) && norm(b.projected()) <= 1e3*gtol {
			return steps + 1, nil // rounding ends it
		}
		b.remember(floats.SubTo(make([]float64, len(x)), b.x, x), floats.SubTo(make([]float64, len(g)), b.g, g))
	}
}

func (b *bounded) clip(x []float64) {
	for i := range x {
		x[i] = max(b.lower[i], min(b.upper[i], x[i]))
	}
}

func (b *bounded) evaluate(x []float64) {
	at := b.e.at(x, true)
	b.x, b.value, b.g = slices.Clone(x), at.value, slices.Clone(at.grad)
}

// projected returns the step of the gradient that the bounds allow.
func (b *bounded) projected() []float64 {
	p := make([]float64, len(b.x))
	for i, g := range b.g {
		p[i] = max(b.lower[i], min(b.upper[i], b.x[i]-g)) - b.x[i]
	}
	return p
}

// remember adds a step to the model, unless the curvature along it is not positive.
func (b *bounded) remember(s, y []float64) {
	if !(floats.Dot(s, y) > 0x1p-52*floats.Dot(y, y)) {
		return
	}
	if b.s, b.y = append(b.s, s), append(b.y, y); len(b.s) > pairsKept {
		b.s, b.y = b.s[1:], b.y[1:]
	}
	b.theta = floats.Dot(y, y) / floats.Dot(s, y)
	b.model()
}

// model computes W and M.
func (b *bounded) model() {
	k := len(b.s)
	b.w, b.m = make([][]float64, len(b.x)), nil
	if k == 0 {
		return
	}
	for i := range b.w {
		b.w[i] = make([]float64, 2*k)
		for j := range k {
			b.w[i][j], b.w[i][k+j] = b.y[j][i], b.theta*b.s[j][i]
		}
	}
	inverse := mat.NewDense(2*k, 2*k, nil)
	for i := range k {
		for j := range k {
			sy := floats.Dot(b.s[i], b.y[j])
			if i == j {
				inverse.Set(i, i, -sy)
			}
			if i > j {
				inverse.Set(k+i, j, sy)
				inverse.Set(j, k+i, sy)
			}
			inverse.Set(k+i, k+j, b.theta*floats.Dot(b.s[i], b.s[j]))
		}
	}
	b.m = &mat.Dense{}
	if err := b.m.Inverse(inverse); err != nil {
		if _, poor := err.(mat.Condition); !poor || !finite(mat.Norm(b.m, 1)) {
			b.s, b.y, b.theta, b.m = nil, nil, 1, nil
			b.model()
		}
	}
}

// times returns M*v.
func (b *bounded) times(v []float64) []float64 {
	if b.m == nil {
		return nil
	}
	var y mat.VecDense
	y.MulVec(b.m, mat.NewVecDense(len(v), v))
	return y.RawVector().Data
}

// cauchy returns the first minimum of the model along the projected gradient, and W^T times the way there.
func (b *bounded) cauchy() (x, c []float64) {
	n, k := len(b.x), 2*len(b.s)
	x, c = slices.Clone(b.x), make([]float64, k)
	d, times, order := make([]float64, n), make([]float64, n), []int{}
	p := make([]float64, k)
	slope := 0.0
	for i, g := range b.g {
		switch {
		case g < 0:
			times[i] = (b.x[i] - b.upper[i]) / g
		case g > 0:
			times[i] = (b.x[i] - b.lower[i]) / g
		default:
			times[i] = math.Inf(1)
		}
		if times[i] > 0 && g != 0 {
			d[i] = -g
			slope -= g * g
			order = append(order, i)
			for j := range p {
				p[j] += b.w[i][j] * d[i]
			}
		}
	}
	sort.Slice(order, func(i, j int) bool { return times[order[i]] < times[order[j]] })
	curve := -b.theta*slope - floats.Dot(p, b.times(p))
	limit := 0x1p-52 * -b.theta * slope // of the curvature, against rounding
	t := 0.0
	for _, i := range order {
		least, step := -slope/max(curve, limit), times[i]-t
		if least < step {
			break
		}
		g := b.g[i]
		x[i] = b.upper[i]
		if g > 0 {
			x[i] = b.lower[i]
		}
		z := x[i] - b.x[i]
		for j := range c {
			c[j] += step * p[j]
		}
		row := b.w[i]
		slope += step*curve + g*g + b.theta*g*z - g*floats.Dot(row, b.times(c))
		curve += -b.theta*g*g - 2*g*floats.Dot(row, b.times(p)) - g*g*floats.Dot(row, b.times(row))
		for j := range p {
			p[j] += g * row[j]
		}
		d[i], t = 0, times[i]
	}
	step := max(0, -slope/max(curve, limit))
	if !finite(step) {
		step = 0
	}
	for i, v := range d {
		if v != 0 {
			x[i] = max(b.lower[i], min(b.upper[i], b.x[i]+(t+step)*v))
		}
	}
	for j := range c {
		c[j] += step * p[j]
	}
	return x, c
}

// inner returns the minimum of the model over the elements of x that are between their bounds, cut at these.
func (b *bounded) inner(x, c []float64) []float64 {
	k := 2 * len(b.s)
	var free []int
	for i, v := range x {
		if v > b.lower[i] && v < b.upper[i] {
			free = append(free, i)
		}
	}
	if k == 0 || len(free) == 0 {
		return x
	}
	mc := b.times(c)
	r, v := make([]float64, len(free)), make([]float64, k)
	square := mat.NewDense(k, k, nil) // of the free rows of W
	for f, i := range free {
		r[f] = b.g[i] + b.theta*(x[i]-b.x[i]) - floats.Dot(b.w[i], mc)
		for j, w := range b.w[i] {
			v[j] += w * r[f]
			for l, z := range b.w[i] {
				square.Set(j, l, square.At(j, l)+w*z/b.theta)
			}
		}
	}
	var left mat.Dense
	left.Mul(b.m, square)
	for j := range k {
		for l := range k {
			left.Set(j, l, -left.At(j, l))
		}
		left.Set(j, j, 1+left.At(j, j))
	}
	var u mat.VecDense
	if err := u.SolveVec(&left, mat.NewVecDense(k, b.times(v))); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			return x
		}
	}
	part, d := 1.0, make([]float64, len(free))
	for f, i := range free {
		d[f] = -r[f]/b.theta - floats.Dot(b.w[i], u.RawVector().Data)/(b.theta*b.theta)
		switch {
		case !finite(d[f]):
			return x
		case d[f] > 0:
			part = min(part, (b.upper[i]-x[i])/d[f])
		case d[f] < 0:
			part = min(part, (b.lower[i]-x[i])/d[f])
		}
	}
	for f, i := range free {
		x[i] = max(b.lower[i], min(b.upper[i], x[i]+part*d[f]))
	}
	return x
}

// line goes along d to a point that meets Wolfe's conditions, within the bounds, and reports whether there is a lower value.
func (b *bounded) line(d []float64) bool {
	slope := floats.Dot(b.g, d)
	if !(slope < 0) {
		return false
	}
	most := math.Inf(1)
	for i, v := range d {
		if v > 0 {
			most = min(most, (b.upper[i]-b.x[i])/v)
		} else if v < 0 {
			most = min(most, (b.lower[i]-b.x[i])/v)
		}
	}
	most = max(most, 1)
	x0, g0, f0 := b.x, b.g, b.value
	at := func(t float64) float64 {
		x := make([]float64, len(x0))
		for i := range x {
			x[i] = x0[i] + t*d[i]
		}
		b.clip(x)
		b.evaluate(x)
		return floats.Dot(b.g, d)
	}
	t := 1.0
	if len(b.s) == 0 {
		t = min(1, 1/length(d))
	}
	lo, hi, best, flo, slo := 0.0, math.Inf(1), 0.0, f0, slope
	for range 40 {
		s := at(t)
		switch {
		case !finite(b.value) || b.value > f0+1e-4*t*slope || b.value >= flo && lo > 0:
			hi = t
		case math.Abs(s) <= -0.9*slope:
			return true
		case s < 0:
			lo, flo, slo, best = t, b.value, s, t
			if t >= most {
				return true
			}
		default:
			return true // the slope is up, and the value low enough
		}
		switch {
		case math.IsInf(hi, 1):
			t = min(2*t, most)
		default:
			w := hi - lo
			t = lo + w/2
			if q := b.value - flo - slo*w; finite(q) && q > 0 { // the minimum of a parabola
				t = lo + max(0.1*w, min(0.9*w, -slo*w*w/(2*q)))
			}
		}
	}
	if best > 0 {
		at(best)
		return b.value < f0
	}
	b.x, b.g, b.value = x0, g0, f0
	return false
}
