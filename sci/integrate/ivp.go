package integrate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/linalg"
)

// A Method is a method of [SolveIVP].
type Method string

// The methods of [SolveIVP].
const (
	// RK45 is the explicit pair of orders 5 and 4 of Dormand and Prince (1980), with the interpolant of order 4 in
	// Hairer, Nørsett, Wanner, "Solving ordinary differential equations I", II.6. Results carry gradients.
	RK45 Method = "RK45"
	// Rodas3 is an L-stable Rosenbrock method of order 3 for stiff problems (Sandu et al., "Benchmarking stiff ODE solvers
	// for atmospheric chemistry problems II", 1997). Jacobians come from differentiation. Results carry no gradients.
	Rodas3 Method = "Rodas3"
	// Radau is the implicit Runge-Kutta method Radau IIA of order 5 for stiff problems (Hairer, Wanner, "Solving ordinary
	// differential equations II", IV.8): few steps for small tolerances. Jacobians come from differentiation, and are kept
	// while Newton's method converges fast. Results carry no gradients.
	Radau Method = "Radau"
	// BDF has backward differentiation formulas of orders 1 to 5 for stiff problems (Shampine, Reichelt, "The MATLAB ODE
	// suite", SIAM J. Sci. Comput. 18, 1997): one evaluation of f for each of its iterations, which suits large systems.
	// Results carry no gradients.
	BDF Method = "BDF"
)

// SolveIVPOpts are the options of [SolveIVP].
type SolveIVPOpts struct {
	Method    Method                                  // RK45 if it is empty
	RTol      float64                                 // relative tolerance; 1e-3 if it is 0
	ATol      float64                                 // absolute tolerance; 1e-6 if it is 0
	TEval     []float64                               // times of the results, in the order of integration; nil: every step
	FirstStep float64                                 // 0: chosen
	MaxStep   float64                                 // 0: no bound
	MaxSteps  int                                     // the most steps; 100,000 if it is 0
	Event     func(t float64, y *weft.Tensor) float64 // the integration ends where its sign changes; short for one of Events, with Terminal 1
	Events    []Event                                 // what is looked for, with the times in the result
	Context   context.Context                         // ends the integration, if it is not nil: the steps so far are returned beside an [*AccuracyError] with its cause
}

// A Solution is a result of [SolveIVP].
type Solution struct {
	T        []float64      // times
	Y        *weft.Tensor   // float64, [len(T) ...] with y0's shape
	Ended    bool           // by an event, whose time is the last of T
	TEvents  [][]float64    // the times of each event
	YEvents  []*weft.Tensor // of each event y at these times, [times ...] with y0's shape
	Steps    int
	Rejected int // steps that were too long
	Evals    int // evaluations of f
}

// SolveIVP solves y' = f(t, y), y(t0) = y0 from t0 to t1, which may lie before t0. y is float64 of y0's shape. Step
// sizes keep the root mean square of error/(ATol + RTol*|y|) below 1, as in SciPy's solve_ivp, whose defaults these
// are. With RK45 and a y0, or anything else in f, that requires gradients, they flow through the steps. Times of
// events have no gradients.
//
// It returns an [*AccuracyError] and what is known so far where steps become too small or too many, or f is not finite
// at t0, and panics with a [*weft.Error] for bad arguments.
func SolveIVP(f func(t float64, y *weft.Tensor) *weft.Tensor, t0, t1 float64, y0 *weft.Tensor, opts ...SolveIVPOpts) (*Solution, error) {
	const name = "integrate.solveivp"
	array.Given(name, "f", f != nil)
	(*core.Tensor)(y0).CheckArgument(name, "y0")
	if y0.DType().Complex() || y0.Size() == 0 {
		array.Failf(name, "y0", "is %s of shape %s: want real numbers, one or more", y0.DType(), array.ShapeString(y0.Shape()))
	}
	if !finite(t0) || !finite(t1) {
		array.Failf(name, "t0", "and t1 are %v and %v: want finite numbers", t0, t1)
	}
	o := array.Options(name, opts)
	p := &problem{name: name, f: f, shape: y0.Shape(), end: t1, direction: math.Copysign(1, t1-t0), o: o, t: t0, y: y0.To(weft.Float64).Reshape(-1)}
	p.rtol, p.atol = p.positive("RTol", o.RTol, 1e-3), p.positive("ATol", o.ATol, 1e-6)
	p.longest = p.positive("MaxStep", o.MaxStep, math.Inf(1))
	if o.MaxSteps < 0 {
		array.Failf(name, "MaxSteps", "is %d: want a number of steps", o.MaxSteps)
	}
	p.checkEvents()
	last := t0
	for _, t := range o.TEval {
		if !((t-last)*p.direction >= 0 && (t1-t)*p.direction >= 0) {
			array.Failf(name, "TEval", "has %v, which does not lie between the time before it and t1", t)
		}
		last = t
	}
	switch o.Method {
	case "", RK45:
		p.step, p.order = p.dormandPrince, 5
		return p.solve()
	case Rodas3:
		p.step, p.order = p.rodas3, 3
	case Radau:
		r := &radau{p: p}
		p.step, p.order, p.accepted = r.step, 4, r.accepted
	case BDF:
		b := &bdf{p: p}
		p.step, p.order, p.accepted = b.step, 2, b.accepted
	default:
		array.Failf(name, "Method", "%q is unknown: want RK45, Rodas3, Radau or BDF", o.Method)
	}
	var s *Solution
	var err error
	weft.WithoutGrad(func() { s, err = p.solve() })
	return s, err
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// A problem is an initial value problem while it is solved: at time t, with y and its slope k. y has one axis.
type problem struct {
	name                string
	f                   func(t float64, y *weft.Tensor) *weft.Tensor
	shape               []int
	o                   SolveIVPOpts
	end, direction      float64
	rtol, atol, longest float64

	t    float64
	y, k *weft.Tensor
	s    Solution
	out  []*weft.Tensor

	events []*eventState

	// step tries a step of size h: the values at its end, their errors, the slope there, and values at times within by
	// a fraction.
	step  func(h float64) (y, wrong, k *weft.Tensor, within func(part float64) *weft.Tensor)
	order float64 // one more than that of the error
	// accepted, unless it is nil, takes the step that was tried, with an error of size n, and returns by how much the
	// next one is longer.
	accepted func(n float64) float64
}

func (p *problem) positive(arg string, x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	if !(x > 0) {
		array.Failf(p.name, arg, "is %v: want a number above 0", x)
	}
	return x
}

// slope is f for y with one axis.
func (p *problem) slope(t float64, y *weft.Tensor) *weft.Tensor {
	p.s.Evals++
	k := p.f(t, y.Reshape(p.shape...))
	if k == nil || !array.Equal(k.Shape(), p.shape) || k.DType().Complex() {
		array.Failf(p.name, "f", "does not return real numbers in y's shape, %s", array.ShapeString(p.shape))
	}
	return k.To(weft.Float64).Reshape(-1)
}

// size is the root mean square of x over the tolerance at y and z.
func (p *problem) size(x, y, z *weft.Tensor) (n float64) {
	weft.WithoutGrad(func() {
		scale := y.Abs().Maximum(z.Abs()).Mul(p.rtol).Add(p.atol)
		n = math.Sqrt(x.Div(scale).Square().Mean().Item())
	})
	return n
}

// first chooses the first step (Hairer, Nørsett, Wanner, II.4).
func (p *problem) first() float64 {
	span := math.Abs(p.end - p.t)
	if p.o.FirstStep != 0 {
		return min(p.positive("FirstStep", p.o.FirstStep, 0), span)
	}
	var h float64
	weft.WithoutGrad(func() {
		d0, d1 := p.size(p.y, p.y, p.y), p.size(p.k, p.y, p.y)
		h0 := 0.01 * d0 / d1
		if d0 < 1e-5 || d1 < 1e-5 {
			h0 = 1e-6
		}
		h0 = min(h0, span)
		k := p.slope(p.t+h0*p.direction, p.y.Add(p.k.Mul(h0*p.direction)))
		d2 := p.size(k.Sub(p.k), p.y, p.y) / h0
		h = max(1e-6, h0*1e-3)
		if max(d1, d2) > 1e-15 {
			h = math.Pow(0.01/max(d1, d2), 1/p.order)
		}
		h = min(100*h0, h)
	})
	return min(h, span)
}

// solve integrates.
func (p *problem) solve() (*Solution, error) {
	p.k = p.slope(p.t, p.y)
	most := p.o.MaxSteps
	if most == 0 {
		most = 100_000
	}
	at := 0 // of TEval
	if p.o.TEval == nil {
		p.record(p.t, p.y)
	}
	for ; at < len(p.o.TEval) && p.o.TEval[at] == p.t; at++ {
		p.record(p.t, p.y)
	}
	for _, e := range p.events {
		e.value = e.F(p.t, p.y.Reshape(p.shape...))
	}
	if p.t == p.end {
		return p.result(nil)
	}
	h := p.first()
	if p.k.IsFinite().All().Item() == 0 {
		return p.result(fmt.Errorf("f is not finite at %v", p.t))
	}
	for rejected := false; p.t != p.end; {
		if ctx := p.o.Context; ctx != nil && ctx.Err() != nil {
			return p.result(fmt.Errorf("the context ended at %v: %w", p.t, context.Cause(ctx)))
		}
		if p.s.Steps+p.s.Rejected >= most {
			return p.result(fmt.Errorf("%d steps end at %v", most, p.t))
		}
		h = min(h, p.longest)
		if !(h > 10*math.Abs(math.Nextafter(p.t, p.end)-p.t)) && !(math.Abs(p.end-p.t) <= h) {
			return p.result(fmt.Errorf("the step at %v is too small", p.t))
		}
		next := p.t + h*p.direction
		if (next-p.end)*p.direction >= 0 {
			next = p.end
		}
		length := next - p.t
		if p.accepted != nil && next != p.end {
			length = h * p.direction // the same bits for steps of the same size
		}
		y, wrong, k, within := p.step(length)
		n := p.size(wrong, p.y, y)
		if !(n < 1) { // or NaN
			p.s.Rejected++
			rejected = true
			if h *= max(0.2, 0.9*math.Pow(n, -1/p.order)); !finite(n) {
				h = math.Abs(next-p.t) * 0.2
			}
			continue
		}
		p.s.Steps++
		stop, ended := p.crossing(next, y, within)
		for ; at < len(p.o.TEval) && (p.o.TEval[at]-stop)*p.direction <= 0; at++ {
			p.record(p.o.TEval[at], within((p.o.TEval[at]-p.t)/(next-p.t)))
		}
		if ended {
			p.s.Ended = true
			p.record(stop, within((stop-p.t)/(next-p.t)))
			return p.result(nil)
		}
		grow := min(10, 0.9*math.Pow(n, -1/p.order)) // of n = 0 it is 10
		if rejected {
			grow = min(grow, 1)
		}
		if p.accepted != nil {
			if longer := p.accepted(n); !rejected || longer < 1 {
				grow = longer
			}
		}
		if p.accepted == nil || grow != 1 {
			h = math.Abs(next-p.t) * max(0.2, grow)
		}
		rejected = false
		p.t, p.y, p.k = next, y, k
		if p.o.TEval == nil {
			p.record(p.t, p.y)
		}
	}
	return p.result(nil)
}

func (p *problem) record(t float64, y *weft.Tensor) {
	p.s.T = append(p.s.T, t)
	p.out = append(p.out, y.Reshape(p.shape...))
}

func (p *problem) result(why error) (*Solution, error) {
	p.happened()
	if len(p.out) > 0 {
		p.s.Y = weft.Stack(p.out, 0)
	} else {
		p.s.Y = weft.ZerosOf(weft.Float64, append([]int{0}, p.shape...)...)
	}
	if why != nil {
		return &p.s, &AccuracyError{Op: p.name, Reason: why.Error(), Err: errors.Unwrap(why)}
	}
	return &p.s, nil
}

// Coefficients of [RK45]: stages, the errors of order 4, and the interpolant.
var (
	dormandTimes = [7]float64{0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1}
	dormand      = [7][]float64{{}, {1.0 / 5}, {3.0 / 40, 9.0 / 40}, {44.0 / 45, -56.0 / 15, 32.0 / 9},
		{19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
		{9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
		{35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}}
	dormandErrors = []float64{71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40}
	dormandWithin = []float64{-12715105075.0 / 11282082432, 0, 87487479700.0 / 32700410799, -10690763975.0 / 1880347072, 701980252875.0 / 199316789632,
		-1453857185.0 / 822651844, 69997945.0 / 29380423}
)

// combined returns the sum of c[i]*k[i], times h.
func combined(h float64, c []float64, k []*weft.Tensor) (sum *weft.Tensor) {
	for i, x := range c {
		if x == 0 {
			continue
		}
		if v := k[i].Mul(h * x); sum == nil {
			sum = v
		} else {
			sum = sum.Add(v)
		}
	}
	return sum
}

func (p *problem) dormandPrince(h float64) (y, wrong, k *weft.Tensor, within func(part float64) *weft.Tensor) {
	ks := []*weft.Tensor{p.k}
	for i := 1; i < len(dormand); i++ {
		y = p.y.Add(combined(h, dormand[i], ks))
		ks = append(ks, p.slope(p.t+dormandTimes[i]*h, y))
	}
	last := ks[len(ks)-1]
	start := p.y
	within = func(part float64) *weft.Tensor {
		rise := y.Sub(start)
		a := ks[0].Mul(h).Sub(rise)
		b := rise.Sub(last.Mul(h)).Sub(a)
		c := combined(h, dormandWithin, ks)
		rest := 1 - part
		return start.Add(rise.Add(a.Add(b.Add(c.Mul(rest)).Mul(part)).Mul(rest)).Mul(part))
	}
	return y, combined(h, dormandErrors, ks), last, within
}

// rodas3 solves with 1/(gamma*h) - J, gamma being 1/2, at four stages, where two evaluations of f are shared.
func (p *problem) rodas3(h float64) (y, wrong, k *weft.Tensor, within func(part float64) *weft.Tensor) {
	n := p.y.Size()
	j := weft.Jacobian(func(y *weft.Tensor) *weft.Tensor { return p.slope(p.t, y) }, p.y)
	lu, pivots := linalg.LUFactor(weft.EyeOf(weft.Float64, n).Mul(2 / h).Sub(j))
	if overPole(h, lu, pivots) {
		return p.y, weft.FullOf(weft.Float64, math.Inf(1), n), p.k, nil
	}
	solve := func(b *weft.Tensor) *weft.Tensor { return linalg.LUSolve(lu, pivots, b) }
	d := 1e-8 * max(math.Abs(p.t), math.Abs(h))
	change := p.slope(p.t+d, p.y).Sub(p.k).Div(d) // of f with time
	k1 := solve(p.k.Add(change.Mul(h / 2)))
	k2 := solve(p.k.Add(k1.Mul(4 / h)).Add(change.Mul(h * 3 / 2)))
	k3 := solve(p.slope(p.t+h, p.y.Add(k1.Mul(2))).Add(k1.Sub(k2).Mul(1 / h)))
	stage := p.y.Add(k1.Mul(2)).Add(k3)
	k4 := solve(p.slope(p.t+h, stage).Add(k1.Sub(k2).Sub(k3.Mul(8.0 / 3)).Mul(1 / h)))
	y = stage.Add(k4)
	k = p.slope(p.t+h, y)
	start, slope := p.y, p.k
	within = func(part float64) *weft.Tensor { // Hermite's cubic
		rest := 1 - part
		a := start.Mul((1 + 2*part) * rest * rest).Add(slope.Mul(h * part * rest * rest))
		return a.Add(y.Mul(part * part * (3 - 2*part))).Sub(k.Mul(h * part * part * rest))
	}
	return y, k4, k, within
}

// overPole reports whether the factored matrix 1/(gamma*h) - J has a negative determinant for a positive h, so that an
// odd number of eigenvalues of J is above 1/(gamma*h). There the method's rational function has passed its pole: growth
// beyond all bounds has become a decrease, without an error in the estimate. It is exact for y' = y^2, and would solve
// beyond the pole.
func overPole(h float64, lu, pivots *weft.Tensor) bool {
	over := false
	for i, at := range weft.Data[int64](pivots.Contiguous()) {
		over = over != (lu.At(i, i).Item()*h < 0) != (int(at) != i)
	}
	return over
}
