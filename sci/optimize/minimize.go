package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	gonum "gonum.org/v1/gonum/optimize"

	"weft"
	"weft/internal/array"
)

// A Method is an algorithm of [Minimize].
type Method string

// The methods of [Minimize]. LBFGSB is that of package optimize itself. All but NelderMead use gradients; Newton also
// uses Hessians.
const (
	BFGS       Method = "BFGS"
	LBFGS      Method = "L-BFGS"
	CG         Method = "CG"
	Newton     Method = "Newton"
	NelderMead Method = "Nelder-Mead"
	LBFGSB     Method = "L-BFGS-B" // takes bounds
)

// MinimizeOpts are the options of [Minimize].
type MinimizeOpts struct {
	Method  Method          // BFGS if it is empty, L-BFGS-B with Bounds
	Bounds  *Bounds         // of the elements of x, for L-BFGS-B; x0 is moved between them
	GTol    float64         // the greatest element of the gradient at a minimum, or with bounds of its allowed part; 1e-5 if it is 0. NelderMead ignores it
	MaxIter int             // the most steps; 200 for each element of x0 if it is 0
	Context context.Context // ends the search, if it is not nil
}

// A Minimum is a result of [Minimize].
type Minimum struct {
	X         *weft.Tensor // float64, of x0's shape
	Value     float64      // f(X)
	Grad      *weft.Tensor // the gradient at X; nil with NelderMead
	Steps     int
	FuncEvals int // evaluations of f, with or without its gradient
}

// Minimize searches a local minimum of f, which returns one number, from x0 on. f must be made of operations of
// tensors, so that its gradient is known; NelderMead takes any function. It returns a [*ConvergenceError] and the best
// point where the method stops early, and panics with a [*weft.Error] for bad arguments. SciPy's minimize.
func Minimize(f func(x *weft.Tensor) *weft.Tensor, x0 *weft.Tensor, opts ...MinimizeOpts) (*Minimum, error) {
	const name = "optimize.minimize"
	array.Given(name, "f", f != nil)
	o := array.Options(name, opts)
	first, at := start(name, "x0", x0)
	if o.Bounds != nil && o.Method == "" {
		o.Method = LBFGSB
	}
	if o.Method == LBFGSB {
		return minimizeBounded(name, f, first, at, o)
	}
	if o.Bounds != nil {
		array.Failf(name, "Bounds", "are given with %s: only L-BFGS-B takes them", o.Method)
	}
	settings := &gonum.Settings{GradientThreshold: positive(name, "GTol", o.GTol, 1e-5), MajorIterations: limit(name, "MaxIter", o.MaxIter, 200*len(at)), Converger: gonum.NeverTerminate{},
		Recorder: &stalling{most: 200 + 2*len(at)}}
	var method gonum.Method
	switch o.Method {
	case "", BFGS:
		method = &gonum.BFGS{}
	case LBFGS:
		method = &gonum.LBFGS{}
	case CG:
		method = &gonum.CG{}
	case Newton:
		method = &gonum.Newton{}
	case NelderMead:
		method = &gonum.NelderMead{}
		settings.Converger = &gonum.FunctionConverge{Absolute: 1e-12, Relative: 1e-12, Iterations: 20 * len(at)}
	default:
		array.Failf(name, "Method", "%q is unknown: want BFGS, L-BFGS, L-BFGS-B, CG, Newton or Nelder-Mead", o.Method)
	}
	e := &evaluations{f: f, shape: first.Shape(), ctx: o.Context}
	begin := *e.at(at, o.Method != NelderMead) // here, so that what f panics with is the caller's
	problem := gonum.Problem{Status: e.status, Func: func(x []float64) float64 { return e.guarded(x, o.Method != NelderMead).value }}
	if o.Method != NelderMead {
		problem.Grad = func(grad, x []float64) { copy(grad, e.guarded(x, true).grad) }
	}
	if o.Method == Newton {
		problem.Hess = func(h *mat.SymDense, x []float64) {
			s := make([]float64, len(x)*len(x))
			e.guard(func() { s = weft.Data[float64](weft.Hessian(e.scalar, e.tensor(x)).Detach()) })
			for i := range x {
				for j := i; j < len(x); j++ {
					h.SetSym(i, j, s[i*len(x)+j])
				}
			}
		}
	}
	r, err := gonum.Minimize(problem, at, settings, method)
	if e.panicked != nil {
		panic(e.panicked)
	}
	if r == nil { // there was no step
		m := &Minimum{X: e.tensor(at), Value: begin.value, FuncEvals: e.count}
		if begin.grad != nil {
			m.Grad = e.tensor(begin.grad)
		}
		if err := ended(name, o.Context); err != nil {
			return m, err
		}
		return m, &ConvergenceError{Op: name, Reason: err.Error()}
	}
	m := &Minimum{X: e.tensor(r.X), Value: r.F, Steps: r.MajorIterations, FuncEvals: e.count}
	if o.Method != NelderMead {
		last := e.at(r.X, true)
		m.Grad = e.tensor(last.grad)
		// A line search may fail where rounding ends it, at a minimum.
		if norm(last.grad) <= settings.GradientThreshold {
			return m, nil
		}
	}
	if err := ended(name, o.Context); err != nil {
		return m, err
	}
	if err != nil {
		return m, &ConvergenceError{Op: name, Reason: err.Error()}
	}
	if o.Method != NelderMead || r.Status == gonum.IterationLimit {
		return m, &ConvergenceError{Op: name, Reason: r.Status.String()}
	}
	return m, nil
}

// A stalling recorder ends a search whose step takes too many evaluations: line searches go on forever where f is NaN or infinite.
type stalling struct{ most, steps, before int }

func (s *stalling) Init() error { return nil }

func (s *stalling) Record(_ *gonum.Location, _ gonum.Operation, stats *gonum.Stats) error {
	count := stats.FuncEvaluations + stats.GradEvaluations
	if stats.MajorIterations > s.steps {
		s.steps, s.before = stats.MajorIterations, count
	}
	if count-s.before > s.most {
		return fmt.Errorf("no step after %d evaluations: f may be NaN or infinite nearby", s.most)
	}
	return nil
}

func minimizeBounded(name string, f func(x *weft.Tensor) *weft.Tensor, first *weft.Tensor, at []float64, o MinimizeOpts) (*Minimum, error) {
	e := &evaluations{f: f, shape: first.Shape(), ctx: o.Context}
	b := &bounded{name: name, e: e, x: append([]float64(nil), at...)}
	limits := o.Bounds
	if limits == nil {
		limits = &Bounds{}
	}
	b.lower, b.upper = limits.of(name, first.Shape())
	steps, err := b.search(positive(name, "GTol", o.GTol, 1e-5), limit(name, "MaxIter", o.MaxIter, 200*len(at)))
	return &Minimum{X: e.tensor(b.x), Value: b.value, Grad: e.tensor(b.g), Steps: steps, FuncEvals: e.count}, err
}

// evaluations are the evaluations of a function with its gradient. The last is kept, since methods ask for value and
// gradient one after the other.
type evaluations struct {
	f     func(x *weft.Tensor) *weft.Tensor
	shape []int
	count int
	last  evaluation

	ctx      context.Context
	panicked any // what f panicked with on one of gonum's goroutines
}

type evaluation struct {
	x, grad []float64
	value   float64
}

// scalar is f, whose value has one element, without axes.
func (e *evaluations) scalar(x *weft.Tensor) *weft.Tensor {
	y := e.f(x)
	number("optimize.minimize", y)
	return y.To(weft.Float64).Reshape()
}

func (e *evaluations) tensor(x []float64) *weft.Tensor {
	return weft.FromSlice(append([]float64(nil), x...), e.shape...)
}

func (e *evaluations) at(x []float64, gradient bool) *evaluation {
	if same(e.last.x, x) && (e.last.grad != nil || !gradient) {
		return &e.last
	}
	e.count++
	t := e.tensor(x)
	e.last = evaluation{x: append([]float64(nil), x...)}
	if !gradient {
		weft.WithoutGrad(func() { e.last.value = e.scalar(t).Item() })
		return &e.last
	}
	y, pull := weft.VJP(e.scalar, t)
	e.last.value = y.Item()
	e.last.grad = weft.Data[float64](pull(weft.OnesOf(weft.Float64)).Detach())
	return &e.last
}

// guarded is at for gonum's goroutines, in which a panic would end the process.
func (e *evaluations) guarded(x []float64, gradient bool) evaluation {
	r := evaluation{value: math.NaN(), grad: make([]float64, len(x))}
	e.guard(func() { r = *e.at(x, gradient) })
	return r
}

// guard calls f unless there was a panic, and keeps its panic.
func (e *evaluations) guard(f func()) {
	defer func() {
		if p := recover(); p != nil {
			e.panicked = p
		}
	}()
	if e.panicked == nil {
		f()
	}
}

// status ends the search after a panic, and with the context.
func (e *evaluations) status() (gonum.Status, error) {
	if e.panicked != nil {
		return gonum.Failure, errors.New("f panicked")
	}
	if err := ended("optimize.minimize", e.ctx); err != nil {
		return gonum.Failure, err
	}
	return gonum.NotTerminated, nil
}

func same(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
