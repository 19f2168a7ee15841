package optimize

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"weft"
)

// annealed is what testdata/anneal.py wrote.
var annealed = func() (s struct {
	Dual, Hop map[string]struct {
		X     []float64
		Value float64
	}
}) {
	text, err := os.ReadFile("testdata/anneal.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(err)
	}
	return s
}()

// waves has many minima in one funnel.
func waves(x *weft.Tensor) *weft.Tensor {
	a, b := x.At(0), x.At(1)
	return a.Mul(14.5).Sub(0.3).Cos().Add(b.Add(0.2).Mul(b)).Add(a.Add(0.2).Mul(a))
}

func far(m *Minimum, x []float64, value float64) bool {
	return !(math.Abs(m.Value-value) <= 1e-6*(1+math.Abs(value)) && m.X.Sub(weft.From(x)).Abs().Max().Item() <= 1e-4)
}

// bestOfSeeds compares the best of three searches, which SciPy's minima are too.
func bestOfSeeds(t *testing.T, name string, x []float64, value float64, search func(seed uint64) (*Minimum, error)) {
	var best *Minimum
	for seed := range uint64(3) {
		m, err := search(seed)
		if err != nil {
			t.Error(name, err)
		}
		if best == nil || m.Value < best.Value {
			best = m
		}
		if !far(m, x, value) {
			return
		}
	}
	t.Errorf("%s: %v of %v; SciPy's %v of %v", name, best.Value, best.X, value, x)
}

// TestDualAnnealing compares global minima with SciPy's.
func TestDualAnnealing(t *testing.T) {
	for name, want := range annealed.Dual {
		f, bounds := waves, Bounds{weft.Full(-5, 2), weft.Full(5, 2)}
		o := DualAnnealingOpts{MaxIter: 300}
		if c, ok := functions[name]; ok {
			f, bounds = c.f, Bounds{weft.From(c.lower), weft.From(c.upper)}
		}
		if name == "eggholder" {
			o.MaxIter = 1000
		}
		bestOfSeeds(t, name, want.X, want.Value, func(seed uint64) (*Minimum, error) {
			o.Seed = seed
			return DualAnnealing(f, bounds, o)
		})
	}
}

// TestBasinHopping compares global minima with SciPy's.
func TestBasinHopping(t *testing.T) {
	for name, want := range annealed.Hop {
		f, x0 := waves, weft.From([]float64{1, 1})
		if c, ok := functions[name]; ok {
			f, x0 = c.f, weft.From([]float64{1.1, -0.9, 2.2})
		}
		bestOfSeeds(t, name, want.X, want.Value, func(seed uint64) (*Minimum, error) {
			m, err := BasinHopping(f, x0, BasinHoppingOpts{Seed: seed})
			if norm(weft.Data[float64](m.Grad)) > 1e-5 || m.Steps != 100 {
				t.Error(name, m)
			}
			return m, err
		})
	}
}

// TestDualAnnealingOptions holds what options say: seeds, starting points, callbacks, restarts, NaN, fixed unknowns and
// functions without gradients.
func TestDualAnnealingOptions(t *testing.T) {
	c := functions["ackley"]
	bounds := Bounds{weft.From(c.lower), weft.From(c.upper)}
	run := func(o DualAnnealingOpts) *Minimum {
		m, err := DualAnnealing(c.f, bounds, o)
		if err != nil {
			t.Error(err)
		}
		return m
	}
	o := DualAnnealingOpts{Seed: 7, MaxIter: 4, NoLocalSearch: true}
	same, again := run(o), run(o)
	o.Seed = 8
	other := run(o)
	if fmt.Sprint(weft.Data[float64](same.X)) != fmt.Sprint(weft.Data[float64](again.X)) || same.Value == other.Value || same.FuncEvals != 1+4*4 || same.Steps != 4 || same.Grad != nil {
		t.Error(same, again, other)
	}
	last, calls := math.Inf(1), 0
	m := run(DualAnnealingOpts{X0: weft.From([]float64{3, 4}), Callback: func(m *Minimum) bool {
		if calls++; !(m.Value < last) {
			t.Error("not better:", m.Value, last)
		}
		last = m.Value
		return calls == 3
	}})
	if calls != 3 || m.Value != last || m.Steps > 100 {
		t.Error(m, calls)
	}
	if m := run(DualAnnealingOpts{MaxEvals: 50, NoLocalSearch: true}); m.FuncEvals < 50 || m.FuncEvals > 54 {
		t.Error(m.FuncEvals)
	}
	// A high ratio begins anew again and again; other shapes stay within the bounds.
	for _, visit := range []float64{1.01, 1 + 2.0/3, 2.62, 2.99} {
		f := func(x *weft.Tensor) *weft.Tensor {
			for i, v := range weft.Data[float64](x.Detach()) {
				if !(v >= c.lower[i] && v <= c.upper[i]) {
					t.Error("outside:", x)
				}
			}
			return c.f(x)
		}
		if m, err := DualAnnealing(f, bounds, DualAnnealingOpts{RestartTempRatio: 0.9, Visit: visit, MaxIter: 20}); err != nil || !(m.Value < 12) {
			t.Error(visit, m, err)
		}
	}
	// One unknown is fixed, half of the values are NaN, and there is no gradient.
	f := func(x *weft.Tensor) *weft.Tensor { return weft.Scalar(math.Sqrt(x.At(0).Item()) + x.At(1).Item()) }
	m, err := DualAnnealing(f, Bounds{weft.From([]float64{-1, 3}), weft.From([]float64{1, 3})}, DualAnnealingOpts{MaxIter: 200})
	if err != nil || math.Abs(m.Value-3) > 0.1 || m.X.At(1).Item() != 3 {
		t.Error(m, err)
	}
	var e *ConvergenceError
	nan := func(x *weft.Tensor) *weft.Tensor { return x.Sum().Mul(math.NaN()) }
	if m, err := DualAnnealing(nan, bounds); !errors.As(err, &e) || m.X == nil || m.FuncEvals != 1000 {
		t.Error(m, err)
	}
	down := func(x *weft.Tensor) *weft.Tensor { return x.Sum().Abs().Neg().Mul(math.Inf(1)) }
	if m, err := DualAnnealing(down, bounds); err != nil || !math.IsInf(m.Value, -1) {
		t.Error(m, err)
	}
}

// TestBasinHoppingOptions holds what options say: seeds, bounds, own steps, callbacks, sizes of hops, and functions
// that are NaN.
func TestBasinHoppingOptions(t *testing.T) {
	x0 := weft.From([]float64{1, 1})
	run := func(o BasinHoppingOpts) *Minimum {
		m, err := BasinHopping(waves, x0, o)
		if err != nil {
			t.Error(err)
		}
		return m
	}
	a, b, c := run(BasinHoppingOpts{MaxIter: 3, Seed: 5}), run(BasinHoppingOpts{MaxIter: 3, Seed: 5}), run(BasinHoppingOpts{MaxIter: 3, Seed: 6})
	if fmt.Sprint(weft.Data[float64](a.X)) != fmt.Sprint(weft.Data[float64](b.X)) || a.FuncEvals != b.FuncEvals || a.FuncEvals == c.FuncEvals {
		t.Error(a, b, c)
	}
	var list []bool
	var values []float64
	m := run(BasinHoppingOpts{T: new(0.0), Seed: 2, MaxIter: 30, Callback: func(m *Minimum, accepted bool) bool {
		list, values = append(list, accepted), append(values, m.Value)
		return len(list) == 21
	}})
	low := values[0]
	for i, v := range values[1:] {
		if list[i+1] != (v <= low) {
			t.Error("without temperature", v, "after", low, "accepted:", list[i+1])
		}
		low = min(low, v)
	}
	if m.Steps != 20 || m.Value != low {
		t.Error(m, low)
	}
	if m := run(BasinHoppingOpts{MaxStill: 2, StepSize: 1e-9, MaxIter: 50, Interval: 1}); m.Steps > 10 {
		t.Error(m)
	}
	steps := 0
	run(BasinHoppingOpts{MaxIter: 5, TakeStep: func(x *weft.Tensor) *weft.Tensor { steps++; return x.Mul(0.5) }})
	if steps != 5 {
		t.Error(steps)
	}
	bounds := &Bounds{Lower: weft.Full(0.875, 2)}
	if m := run(BasinHoppingOpts{Local: MinimizeOpts{Bounds: bounds}}); m.X.Min().Item() < 0.875 {
		t.Error(m)
	}
	var e *ConvergenceError
	nan := func(x *weft.Tensor) *weft.Tensor { return x.Sum().Mul(math.NaN()) }
	if m, err := BasinHopping(nan, x0, BasinHoppingOpts{MaxIter: 3}); !errors.As(err, &e) || m.Steps != 3 || !math.IsInf(m.Value, 1) {
		t.Error(m, err)
	}
}

// endsAfter is a context that has ended when it was asked some times.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestMoreContexts holds that functions of numbers, programs, annealing and hops end with their context.
func TestMoreContexts(t *testing.T) {
	cause := errors.New("enough")
	scalar := func(o MinimizeScalarOpts) func(ctx context.Context, count func()) (*weft.Tensor, error) {
		return func(ctx context.Context, count func()) (*weft.Tensor, error) {
			o.Context = ctx
			m, err := MinimizeScalar(func(x float64) float64 { count(); return math.Abs(x - 1e5) }, o)
			return weft.ScalarOf(weft.Float64, m.X), err
		}
	}
	for name, search := range map[string]func(ctx context.Context, count func()) (*weft.Tensor, error){
		"a bracket": scalar(MinimizeScalarOpts{}),
		"brent":     scalar(MinimizeScalarOpts{Bracket: []float64{0, 1.1e5, 3e5}}),
		"golden":    scalar(MinimizeScalarOpts{Method: Golden, Bracket: []float64{0, 1.1e5, 3e5}}),
		"bounded":   scalar(MinimizeScalarOpts{Bounds: []float64{0, 3e5}}),
		"brentq": func(ctx context.Context, count func()) (*weft.Tensor, error) {
			x, err := BrentQ(func(x float64) float64 { count(); return math.Cbrt(x - 1) }, -7, 1e9, BrentQOpts{Context: ctx})
			return weft.ScalarOf(weft.Float64, x), err
		},
		"annealing": func(ctx context.Context, count func()) (*weft.Tensor, error) {
			m, err := DualAnnealing(func(x *weft.Tensor) *weft.Tensor { count(); return waves(x) }, Bounds{weft.Full(-5, 2), weft.Full(5, 2)}, DualAnnealingOpts{Context: ctx})
			return m.X, err
		},
		"hopping": func(ctx context.Context, count func()) (*weft.Tensor, error) {
			m, err := BasinHopping(func(x *weft.Tensor) *weft.Tensor { count(); return waves(x) }, weft.Ones(2), BasinHoppingOpts{Context: ctx})
			return m.X, err
		},
	} {
		check(t, name, cause, search)
	}
	for left := range 3 {
		ctx := &endsAfter{t.Context(), left}
		ub := weft.From([][]float64{{2, 1, 1}, {1, 3, 2}, {2, 1, 3}})
		var e *ConvergenceError
		p, err := LinProg(weft.From([]float64{-2, -3, -4}), LinProgOpts{AUb: ub, BUb: weft.From([]float64{4, 5, 6}), Context: ctx})
		if left < 2 && !errors.As(err, &e) || p == nil || p.Steps != left { // two steps suffice
			t.Error("program", left, p, err)
		}
		ctx = &endsAfter{t.Context(), left}
		x, _, err := NNLS(ub, weft.From([]float64{4, 7, 7}), NNLSOpts{Context: ctx})
		if !errors.As(err, &e) || x.CountNonZero().Item() != float64(left) {
			t.Error("nnls", left, x, err)
		}
	}
}

// TestAnnealingMistakes compares what is said of bad arguments.
func TestAnnealingMistakes(t *testing.T) {
	f := func(x *weft.Tensor) *weft.Tensor { return x.Sum() }
	zero, one := weft.Zeros(2), weft.Ones(2)
	dual := func(o DualAnnealingOpts) { DualAnnealing(f, Bounds{zero, one}, o) }
	hop := func(o BasinHoppingOpts) { BasinHopping(f, zero, o) }
	for want, f := range map[string]func(){
		"optimize.dualannealing: f: is nil":                           func() { DualAnnealing(nil, Bounds{zero, one}) },
		"optimize.dualannealing: f: returns float32 of shape [2]":     func() { DualAnnealing(func(x *weft.Tensor) *weft.Tensor { return zero }, Bounds{zero, one}) },
		"optimize.dualannealing: bounds.Lower: is nil":                func() { DualAnnealing(f, Bounds{Upper: zero}) },
		"optimize.dualannealing: Bounds: of element 0 are 1 and 0":    func() { DualAnnealing(f, Bounds{one, zero}) },
		"optimize.dualannealing: MaxIter: is -1":                      func() { dual(DualAnnealingOpts{MaxIter: -1}) },
		"optimize.dualannealing: MaxEvals: is -1":                     func() { dual(DualAnnealingOpts{MaxEvals: -1}) },
		"optimize.dualannealing: InitialTemp: is NaN":                 func() { dual(DualAnnealingOpts{InitialTemp: math.NaN()}) },
		"optimize.dualannealing: RestartTempRatio: is 1":              func() { dual(DualAnnealingOpts{RestartTempRatio: 1}) },
		"optimize.dualannealing: Visit: is 3":                         func() { dual(DualAnnealingOpts{Visit: 3}) },
		"optimize.dualannealing: Accept: is 1":                        func() { dual(DualAnnealingOpts{Accept: new(1.0)}) },
		"optimize.dualannealing: X0: has 2 at 0":                      func() { dual(DualAnnealingOpts{X0: one.Mul(2)}) },
		"optimize.basinhopping: f: is nil":                            func() { BasinHopping(nil, zero) },
		"optimize.basinhopping: x0: is nil":                           func() { BasinHopping(f, nil) },
		"optimize.basinhopping: T: is -1":                             func() { hop(BasinHoppingOpts{T: new(-1.0)}) },
		"optimize.basinhopping: StepSize: is +Inf":                    func() { hop(BasinHoppingOpts{StepSize: math.Inf(1)}) },
		"optimize.basinhopping: Interval: is -1":                      func() { hop(BasinHoppingOpts{Interval: -1}) },
		"optimize.basinhopping: TargetAcceptRate: is 2":               func() { hop(BasinHoppingOpts{TargetAcceptRate: 2}) },
		"optimize.basinhopping: StepwiseFactor: is 1":                 func() { hop(BasinHoppingOpts{StepwiseFactor: 1}) },
		"optimize.basinhopping: Local.Context: is set":                func() { hop(BasinHoppingOpts{Local: MinimizeOpts{Context: t.Context()}}) },
		"optimize.basinhopping: TakeStep: does not return real numbe": func() { hop(BasinHoppingOpts{TakeStep: func(x *weft.Tensor) *weft.Tensor { return nil }}) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// TestMinimizeEnds holds that all methods end where f becomes NaN or infinite, is linear, or is rounded away, and return a finite best point.
func TestMinimizeEnds(t *testing.T) {
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"sqrt":   func(x *weft.Tensor) *weft.Tensor { return x.Sqrt().Sum() },
		"log":    func(x *weft.Tensor) *weft.Tensor { return x.Log().Sum() },
		"huge":   func(x *weft.Tensor) *weft.Tensor { return x.Square().Sum().Mul(1e300) },
		"linear": func(x *weft.Tensor) *weft.Tensor { return x.Sum() },
		"exp":    func(x *weft.Tensor) *weft.Tensor { return x.Mul(1000).Exp().Sum() },
		"hole":   func(x *weft.Tensor) *weft.Tensor { return weft.Where(x.Sum().Gt(0.1), x.Square().Sum(), math.NaN()) },
	} {
		for _, m := range []Method{BFGS, LBFGS, CG, Newton, NelderMead, LBFGSB} {
			for _, x0 := range []*weft.Tensor{weft.ScalarOf(weft.Float64, 0.5), weft.OnesOf(weft.Float64, 2, 2)} {
				n := 0
				r, _ := Minimize(func(x *weft.Tensor) *weft.Tensor {
					if n++; n > 20000 {
						panic("does not end")
					}
					return f(x)
				}, x0, MinimizeOpts{Method: m, MaxIter: 30})
				if math.IsNaN(r.Value) {
					t.Errorf("%s of %s from %v: %v at %v", m, name, x0, r.Value, r.X)
				}
			}
		}
	}
}
