package optimize

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"weft"
	"weft/internal/array"
)

// A Strategy says how [DifferentialEvolution] makes trial vectors. Each takes elements of a mutant with the probability
// Recombination, at least one, and the others of the vector that it may replace.
type Strategy string

// The strategies. a and b are vectors drawn from the population, as is the one to start from with Rand1Bin.
const (
	Best1Bin Strategy = "best1bin" // the best vector + F*(a - b)
	Rand1Bin Strategy = "rand1bin" // a drawn vector + F*(a - b)
)

// DifferentialEvolutionOpts are the options of [DifferentialEvolution].
type DifferentialEvolutionOpts struct {
	Strategy      Strategy     // Best1Bin if it is empty
	MaxIter       int          // the most generations; 1000 if it is 0
	PopSize       int          // vectors for each unknown that is not fixed, 5 in all at least; 15 if it is 0
	Tol           *float64     // the search ends where the deviation of all values is at most ATol + Tol times their mean's magnitude; 0.01 if it is nil
	ATol          float64      // 0 or more
	Mutation      *[2]float64  // F is drawn between them, once a generation, from 0 to 2; {0.5, 1} if it is nil
	Recombination *float64     // a probability; 0.7 if it is nil
	Seed          uint64       // of the draws: the same seed has the same result
	X0            *weft.Tensor // takes the place of one drawn vector; nil: none
	// Vectorized says that f takes many vectors at once, stacked along a new first axis, and returns one number for
	// each. Then a generation is made of the one before as a whole; without it a better vector counts at once.
	Vectorized bool
	NoPolish   bool // no search by [Minimize] from the best vector at the end
	// Callback, unless it is nil, gets the best vector after each generation and ends the search by true, which is not
	// an error.
	Callback func(m *Minimum) bool
	Context  context.Context // ends the search, if it is not nil; see [ConvergenceError.Err]
}

// DifferentialEvolution searches the least value of f, which returns one number, between bounds, which must be finite.
// It changes a population of vectors, drawn by Latin hypercubes, by differences between them (Storn, Price,
// "Differential evolution", J. Global Optim. 11, 1997). f may have many local minima and needs no gradient; NaN counts
// as +Inf. At the end [Minimize] searches from the best vector on by L-BFGS-B, where f has gradients. Steps of the
// result are generations. It returns a [*ConvergenceError] and the best point after MaxIter generations, or where the
// context ends, and panics with a [*weft.Error] for bad arguments. SciPy's differential_evolution.
func DifferentialEvolution(f func(x *weft.Tensor) *weft.Tensor, bounds Bounds, opts ...DifferentialEvolutionOpts) (*Minimum, error) {
	const name = "optimize.differentialevolution"
	array.Given(name, "f", f != nil)
	o := array.Options(name, opts)
	e := newEvolution(name, f, bounds, o)
	e.begin()
	most := limit(name, "MaxIter", o.MaxIter, 1000)
	var err error
	for {
		if e.converged() {
			break
		}
		if err = ended(name, o.Context); err != nil {
			break
		}
		if e.steps == most {
			err = &ConvergenceError{Op: name, Reason: afterSteps(most)}
			break
		}
		if !e.generation() {
			err = ended(name, o.Context)
			break
		}
		e.steps++
		if o.Callback != nil && o.Callback(e.minimum()) {
			break
		}
	}
	m := e.minimum()
	if !o.NoPolish && (err == nil || o.Context == nil || o.Context.Err() == nil) && finite(m.Value) {
		e.polish(m)
	}
	return m, err
}

// An evolution is a population while it changes. Vectors have elements from 0 to 1 between the bounds.
type evolution struct {
	name                string
	f                   func(x *weft.Tensor) *weft.Tensor
	shape               []int
	lower, upper, width []float64
	o                   DifferentialEvolutionOpts
	tol, cross          float64
	mutation            [2]float64
	r                   *rand.Rand

	x            [][]float64
	value        []float64
	best         int
	steps, count int
}

func newEvolution(name string, f func(x *weft.Tensor) *weft.Tensor, bounds Bounds, o DifferentialEvolutionOpts) *evolution {
	e := &evolution{name: name, f: f, o: o, r: rand.New(rand.NewPCG(o.Seed, 0x77656674))}
	e.shape, e.lower, e.upper, e.width = box(name, bounds)
	switch o.Strategy {
	case "", Best1Bin, Rand1Bin:
	default:
		array.Failf(name, "Strategy", "%q is unknown: want best1bin or rand1bin", o.Strategy)
	}
	e.tol, e.cross, e.mutation = array.Or(o.Tol, 0.01), array.Or(o.Recombination, 0.7), array.Or(o.Mutation, [2]float64{0.5, 1})
	if !(e.tol >= 0) {
		array.Failf(name, "Tol", "is %v: want a number from 0 on", e.tol)
	}
	if !(o.ATol >= 0) {
		array.Failf(name, "ATol", "is %v: want a number from 0 on", o.ATol)
	}
	if !(e.cross >= 0 && e.cross <= 1) {
		array.Failf(name, "Recombination", "is %v: want a probability", e.cross)
	}
	if !(e.mutation[0] >= 0 && e.mutation[0] <= e.mutation[1] && e.mutation[1] <= 2) {
		array.Failf(name, "Mutation", "is %v: want two numbers in order, from 0 to 2", e.mutation)
	}
	return e
}

// begin draws the population: each of its strata along each axis has one vector.
func (e *evolution) begin() {
	free := 0
	for _, w := range e.width {
		if w > 0 {
			free++
		}
	}
	size := max(5, limit(e.name, "PopSize", e.o.PopSize, 15)*free)
	e.x, e.value = make([][]float64, size), make([]float64, size)
	for i := range e.x {
		e.x[i] = make([]float64, len(e.lower))
	}
	for j := range e.lower {
		for i, stratum := range e.r.Perm(size) {
			e.x[i][j] = (float64(stratum) + e.r.Float64()) / float64(size)
		}
	}
	if e.o.X0 != nil {
		for j, v := range within(e.name, e.o.X0, e.shape, e.lower, e.upper) {
			if e.x[0][j] = 0; e.width[j] > 0 {
				e.x[0][j] = (v - e.lower[j]) / e.width[j]
			}
		}
	}
	for i := range e.value {
		e.value[i] = math.Inf(1)
	}
	if e.o.Vectorized {
		copy(e.value, e.many(e.x))
	}
	for i, x := range e.x {
		if !e.o.Vectorized {
			if i > 0 && ended(e.name, e.o.Context) != nil {
				break
			}
			e.value[i] = e.one(x)
		}
		if e.value[i] < e.value[e.best] {
			e.best = i
		}
	}
}

// scaled returns a vector between the bounds.
func (e *evolution) scaled(x []float64) []float64 {
	y := make([]float64, len(x))
	for j, v := range x {
		y[j] = max(e.lower[j], min(e.upper[j], e.lower[j]+float64(v*e.width[j])))
	}
	return y
}

func (e *evolution) one(x []float64) (value float64) {
	e.count++
	weft.WithoutGrad(func() { value = number(e.name, e.f(weft.FromSlice(e.scaled(x), e.shape...))) })
	return orInf(value)
}

func (e *evolution) many(x [][]float64) []float64 {
	e.count += len(x)
	var all []float64
	for _, v := range x {
		all = append(all, e.scaled(v)...)
	}
	var y *weft.Tensor
	weft.WithoutGrad(func() { y = e.f(weft.FromSlice(all, append([]int{len(x)}, e.shape...)...)) })
	if y == nil || y.Size() != len(x) || y.DType().Complex() {
		array.Failf(e.name, "f", "does not return a real number for each of %d vectors, stacked along the first axis", len(x))
	}
	values := append([]float64(nil), weft.Data[float64](y.Detach().To(weft.Float64).Reshape(-1))...)
	for i, v := range values {
		values[i] = orInf(v)
	}
	return values
}

func orInf(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x
}

// generation tries to replace each vector, and reports whether the context let it do so for all.
func (e *evolution) generation() bool {
	scale := e.mutation[0] + e.r.Float64()*(e.mutation[1]-e.mutation[0])
	if e.o.Vectorized {
		trials := make([][]float64, len(e.x))
		for i := range trials {
			trials[i] = e.trial(i, scale)
		}
		for i, v := range e.many(trials) {
			e.take(i, trials[i], v)
		}
		return true
	}
	for i := range e.x {
		if ended(e.name, e.o.Context) != nil {
			return false
		}
		trial := e.trial(i, scale)
		e.take(i, trial, e.one(trial))
	}
	return true
}

func (e *evolution) take(i int, x []float64, value float64) {
	if value <= e.value[i] {
		if e.x[i], e.value[i] = x, value; value <= e.value[e.best] {
			e.best = i
		}
	}
}

// trial returns the vector that may replace vector i.
func (e *evolution) trial(i int, scale float64) []float64 {
	var drawn [3]int // different ones, and not i
	for k := range drawn {
		drawn[k] = i
		for drawn[k] == i || slices.Contains(drawn[:k], drawn[k]) {
			drawn[k] = e.r.IntN(len(e.x))
		}
	}
	from := e.x[e.best]
	if e.o.Strategy == Rand1Bin {
		from = e.x[drawn[2]]
	}
	a, b := e.x[drawn[0]], e.x[drawn[1]]
	x := append([]float64(nil), e.x[i]...)
	always := e.r.IntN(len(x))
	for j := range x {
		if u := e.r.Float64(); j != always && u >= e.cross {
			continue
		}
		if x[j] = from[j] + float64(scale*(a[j]-b[j])); !(x[j] >= 0 && x[j] <= 1) {
			x[j] = e.r.Float64()
		}
	}
	return x
}

// converged reports whether all values are nearly equal.
func (e *evolution) converged() bool {
	mean := 0.0
	for _, v := range e.value {
		mean += v / float64(len(e.value))
	}
	if !finite(mean) {
		return false
	}
	squares := 0.0
	for _, v := range e.value {
		squares += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(squares/float64(len(e.value))) <= e.o.ATol+float64(e.tol*math.Abs(mean))
}

// minimum is the best vector.
func (e *evolution) minimum() *Minimum {
	return &Minimum{X: weft.FromSlice(e.scaled(e.x[e.best]), e.shape...), Value: e.value[e.best], Steps: e.steps, FuncEvals: e.count}
}

// polish goes on from the best vector, and keeps a better one.
func (e *evolution) polish(m *Minimum) {
	f := e.f
	if e.o.Vectorized {
		f = func(x *weft.Tensor) *weft.Tensor {
			return e.f(x.Reshape(append([]int{1}, e.shape...)...)).Reshape()
		}
	}
	var better *Minimum
	if err := weft.Try(func() {
		b := &Bounds{Lower: weft.FromSlice(e.lower, e.shape...), Upper: weft.FromSlice(e.upper, e.shape...)}
		better, _ = Minimize(f, m.X, MinimizeOpts{Bounds: b, Context: e.o.Context})
	}); err != nil {
		return // f has no gradient
	}
	m.FuncEvals += better.FuncEvals
	if better.Value <= m.Value {
		m.X, m.Value, m.Grad = better.X, better.Value, better.Grad
	}
}
