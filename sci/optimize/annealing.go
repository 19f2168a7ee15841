package optimize

import (
	"context"
	"math"
	"math/rand/v2"

	"weft"
	"weft/internal/array"
)

// DualAnnealingOpts are the options of [DualAnnealing].
type DualAnnealingOpts struct {
	MaxIter          int          // rounds, of two evaluations for each unknown; 1000 if it is 0
	MaxEvals         int          // evaluations after which no further round begins; 10,000,000 if it is 0
	InitialTemp      float64      // 5230 if it is 0
	RestartTempRatio float64      // below this part of InitialTemp the annealing begins anew at a drawn point; 2e-5 if it is 0, below 1
	Visit            float64      // the shape of the steps: above 1 and below 3, with longer ones for a greater shape; 2.62 if it is 0
	Accept           *float64     // below 1: the lower it is, the fewer steps uphill are taken; -5 if it is nil
	NoLocalSearch    bool         // no searches by [Minimize]
	Seed             uint64       // of the draws: the same seed has the same result
	X0               *weft.Tensor // where the search begins; nil: a drawn point
	// Callback, unless it is nil, gets each better point and ends the search by true, which is not an error.
	Callback func(m *Minimum) bool
	Context  context.Context // ends the search, if it is not nil; see [ConvergenceError.Err]
}

// DualAnnealing searches the least value of f, which returns one number, between bounds, which must be finite. It is
// generalized simulated annealing (Tsallis, Stariolo, "Generalized simulated annealing", Physica A 233, 1996): random
// steps with heavy tails, whose size and chance to go uphill fall with a temperature. A local search by L-BFGS-B
// follows each better point, where f has gradients (Xiang et al., "Generalized simulated annealing algorithm and its
// application to the Thomson model", Phys. Lett. A 233, 1997). f may have many local minima; NaN counts as +Inf.
//
// Steps of the result are rounds. To use all of them is not an error. It returns a [*ConvergenceError] and the best
// point where the context ends, or where f is not finite at 1000 points drawn to begin from. It panics with a
// [*weft.Error] for bad arguments. SciPy's dual_annealing.
func DualAnnealing(f func(x *weft.Tensor) *weft.Tensor, bounds Bounds, opts ...DualAnnealingOpts) (*Minimum, error) {
	const name = "optimize.dualannealing"
	array.Given(name, "f", f != nil)
	o := array.Options(name, opts)
	a := newAnnealing(name, f, bounds, o)
	if err := a.begin(); err != nil {
		return a.minimum(), err
	}
	rounds, evals := limit(name, "MaxIter", o.MaxIter, 1000), limit(name, "MaxEvals", o.MaxEvals, 1e7)
	for cold := 0; a.steps < rounds && a.count < evals && !a.stopped && !math.IsInf(a.best.value, -1); cold++ {
		if err := ended(name, o.Context); err != nil {
			return a.minimum(), err
		}
		temperature := a.temperature(cold)
		if temperature < a.restart {
			cold = -1
			if err := a.draw(); err != nil {
				return a.minimum(), err
			}
			continue
		}
		if !a.round(temperature, cold) {
			return a.minimum(), ended(name, o.Context)
		}
		a.steps++
	}
	return a.minimum(), nil
}

// A place is a point with its value.
type place struct {
	x     []float64
	value float64
}

// An annealing is the state of the search.
type annealing struct {
	name                string
	f                   func(x *weft.Tensor) *weft.Tensor
	shape               []int
	lower, upper, width []float64
	free                []int // unknowns that are not fixed
	o                   DualAnnealingOpts
	initial, restart    float64
	visit, accept       float64
	r                   *rand.Rand

	at, best     place
	grad         *weft.Tensor // at best, where a local search found it
	still        int          // rounds without a better point
	stopped      bool         // by the callback
	noGradient   bool
	steps, count int
}

func newAnnealing(name string, f func(x *weft.Tensor) *weft.Tensor, bounds Bounds, o DualAnnealingOpts) *annealing {
	a := &annealing{name: name, f: f, o: o, r: rand.New(rand.NewPCG(o.Seed, 0x77656674))}
	a.shape, a.lower, a.upper, a.width = box(name, bounds)
	for i, w := range a.width {
		if w > 0 {
			a.free = append(a.free, i)
		}
	}
	a.initial = positive(name, "InitialTemp", o.InitialTemp, 5230)
	ratio := positive(name, "RestartTempRatio", o.RestartTempRatio, 2e-5)
	if ratio >= 1 {
		array.Failf(name, "RestartTempRatio", "is %v: want a number below 1", ratio)
	}
	a.restart = a.initial * ratio
	if a.visit = positive(name, "Visit", o.Visit, 2.62); !(a.visit > 1 && a.visit < 3) {
		array.Failf(name, "Visit", "is %v: want a number above 1 and below 3", a.visit)
	}
	if a.accept = array.Or(o.Accept, -5); !(a.accept < 1) || math.IsInf(a.accept, 0) {
		array.Failf(name, "Accept", "is %v: want a finite number below 1", a.accept)
	}
	return a
}

// box returns bounds that are finite, and their widths.
func box(name string, bounds Bounds) (shape []int, lower, upper, width []float64) {
	array.Given(name, "bounds.Lower", bounds.Lower != nil)
	array.Given(name, "bounds.Upper", bounds.Upper != nil)
	shape = array.Broadcast(name, bounds.Lower.Shape(), bounds.Upper.Shape())
	lower, upper = bounds.of(name, shape)
	width = make([]float64, len(lower))
	for i := range width {
		if width[i] = upper[i] - lower[i]; !finite(lower[i]) || !finite(width[i]) {
			array.Failf(name, "bounds", "of element %d are %v and %v: want finite numbers", i, lower[i], upper[i])
		}
	}
	return shape, lower, upper, width
}

// within returns X0 as numbers, which must be between the bounds.
func within(name string, x0 *weft.Tensor, shape []int, lower, upper []float64) []float64 {
	first, at := start(name, "X0", x0)
	if !array.Equal(first.Shape(), shape) {
		array.Failf(name, "X0", "has shape %s: want that of the bounds, %s", array.ShapeString(first.Shape()), array.ShapeString(shape))
	}
	for j, v := range at {
		if !(v >= lower[j] && v <= upper[j]) {
			array.Failf(name, "X0", "has %v at %d: want numbers between the bounds", v, j)
		}
	}
	return append([]float64(nil), at...)
}

// begin evaluates f at X0, or where it is drawn.
func (a *annealing) begin() error {
	a.best = place{a.lower, math.Inf(1)}
	if a.o.X0 == nil {
		return a.draw()
	}
	x := within(a.name, a.o.X0, a.shape, a.lower, a.upper)
	a.at = place{x, a.value(x)}
	a.best = a.at
	return nil
}

// draw begins at a drawn point with a finite value.
func (a *annealing) draw() error {
	const most = 1000
	for n := range most {
		if n > 0 {
			if err := ended(a.name, a.o.Context); err != nil {
				return err
			}
		}
		x := append([]float64(nil), a.lower...)
		for _, i := range a.free {
			x[i] = min(a.upper[i], a.lower[i]+float64(a.r.Float64()*a.width[i]))
		}
		if a.at = (place{x, a.value(x)}); !math.IsInf(a.at.value, 1) {
			a.take(a.at)
			return nil
		}
	}
	if finite(a.best.value) {
		return nil
	}
	return &ConvergenceError{Op: a.name, Reason: "f is not finite at 1000 points"}
}

func (a *annealing) value(x []float64) (value float64) {
	a.count++
	weft.WithoutGrad(func() { value = number(a.name, a.f(a.tensor(x))) })
	return orInf(value)
}

func (a *annealing) tensor(x []float64) *weft.Tensor {
	return weft.FromSlice(append([]float64(nil), x...), a.shape...)
}

func (a *annealing) minimum() *Minimum {
	return &Minimum{X: a.tensor(a.best.x), Value: a.best.value, Grad: a.grad, Steps: a.steps, FuncEvals: a.count}
}

// take keeps a better point, and reports whether it is one.
func (a *annealing) take(p place) bool {
	if !(p.value < a.best.value) {
		return false
	}
	a.best, a.grad = p, nil
	if a.o.Callback != nil && a.o.Callback(a.minimum()) {
		a.stopped = true
	}
	return true
}

// temperature falls with the rounds since the annealing began.
func (a *annealing) temperature(cold int) float64 {
	q := a.visit - 1
	return a.initial * math.Expm1(q*math.Ln2) / math.Expm1(q*math.Log(float64(cold)+2))
}

// round takes steps: first of all unknowns, then of one after the other. At its end it may search locally. It reports
// whether the context let it.
func (a *annealing) round(temperature float64, cold int) bool {
	better := cold == 0
	n := len(a.free)
	scale := a.scale(temperature)
	for j := range max(1, 2*n) {
		if ended(a.name, a.o.Context) != nil {
			return false
		}
		x := append([]float64(nil), a.at.x...)
		for k, i := range a.free {
			if j < n || k == j-n {
				x[i] = a.wrapped(i, x[i]+a.step(scale))
			}
		}
		p := place{x, a.value(x)}
		if p.value < a.at.value || a.uphill(p.value-a.at.value, temperature/float64(cold+1)) {
			a.at = p
		}
		if better = a.take(p) || better; a.stopped {
			return true
		}
	}
	// After some rounds without a better point, the search also goes on from where the annealing is.
	const patience = 100
	from := a.best
	if a.still++; !better {
		if a.still%patience != 0 {
			return true
		}
		from = a.at
	} else {
		a.still = 0
	}
	a.local(from)
	return true
}

// uphill draws whether a step to a value that is greater by rise is taken.
func (a *annealing) uphill(rise, temperature float64) bool {
	chance := 1 - (1-a.accept)*rise/temperature
	return a.r.Float64() < math.Pow(max(0, chance), 1/(1-a.accept))
}

// scale returns the scale of the steps at a temperature.
func (a *annealing) scale(temperature float64) float64 {
	q := a.visit
	up := math.Sqrt(math.Pi) * math.Exp(math.Log(temperature)/(q-1)+(4-q)*math.Log(q-1)-(2-q)*math.Ln2/(q-1)) / (3 - q)
	u := 1/(q-1) - 0.5
	gamma, _ := math.Lgamma(2 - u)
	down := math.Pi * (1 - u) / math.Sin(math.Pi*(1-u)) / math.Exp(gamma)
	if math.Abs(1-u) < 1e-12 { // where the sine is 0
		down = 1 / math.Exp(gamma)
	}
	return math.Exp(-(q - 1) * math.Log(down/up) / (3 - q))
}

// step draws a step of one unknown from the visiting distribution.
func (a *annealing) step(scale float64) float64 {
	x, y := a.r.NormFloat64(), a.r.NormFloat64()
	const most = 1e8
	return max(-most, min(most, scale*x/math.Exp((a.visit-1)*math.Log(math.Abs(y))/(3-a.visit))))
}

// wrapped takes what is beyond a bound from the other bound on.
func (a *annealing) wrapped(i int, x float64) float64 {
	if x >= a.lower[i] && x <= a.upper[i] {
		return x
	}
	over := math.Mod(x-a.lower[i], a.width[i])
	if over < 0 {
		over += a.width[i]
	}
	if x = a.lower[i] + over; !(x <= a.upper[i]) {
		return a.upper[i]
	}
	return x
}

// local searches by gradients from p on.
func (a *annealing) local(p place) {
	if a.o.NoLocalSearch || a.noGradient || !finite(p.value) || len(a.free) == 0 {
		return
	}
	var m *Minimum
	if err := weft.Try(func() {
		b := &Bounds{Lower: a.tensor(a.lower), Upper: a.tensor(a.upper)}
		m, _ = Minimize(a.f, a.tensor(p.x), MinimizeOpts{Bounds: b, Context: a.o.Context, MaxIter: max(100, min(1000, 6*len(a.free)))})
	}); err != nil {
		a.noGradient = true
		return
	}
	a.count += m.FuncEvals
	if !(m.Value < p.value) {
		return
	}
	found := place{append([]float64(nil), weft.Data[float64](m.X.Contiguous())...), m.Value}
	if a.at = found; a.take(found) {
		a.grad = m.Grad
	}
}
