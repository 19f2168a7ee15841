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

// global is what testdata/global.py wrote.
var global = func() (s struct {
	Cases []struct {
		Cost     [][]float64
		Row, Col []int64
		Up       [2][]int64
	}
	Ties   [][]float64
	Least  float64
	Minima map[string]struct {
		X     []float64
		Value float64
	}
}) {
	text, err := os.ReadFile("testdata/global.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(err)
	}
	return s
}()

// TestLinearSumAssignment compares pairs with SciPy's, and sums where costs are equal.
func TestLinearSumAssignment(t *testing.T) {
	for _, c := range global.Cases {
		cost := weft.From(c.Cost)
		for _, up := range []bool{false, true} {
			want := fmt.Sprint(c.Row, c.Col)
			if up {
				want = fmt.Sprint(c.Up[0], c.Up[1])
			}
			rows, cols, err := LinearSumAssignment(cost, AssignmentOpts{Maximize: up})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(weft.Data[int64](rows), weft.Data[int64](cols)); got != want {
				t.Errorf("%v, Maximize %v: %s, SciPy's %s", cost.Shape(), up, got, want)
			}
		}
	}
	rows, cols, err := LinearSumAssignment(weft.From(global.Ties).To(weft.Int8))
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, r := range weft.Data[int64](rows) {
		sum += global.Ties[r][weft.Data[int64](cols)[i]]
	}
	if sum != global.Least {
		t.Error(sum, global.Least)
	}
}

// TestAssignmentForbidden holds that infinities forbid pairs, and what is returned where none remain.
func TestAssignmentForbidden(t *testing.T) {
	inf := math.Inf(1)
	cost := weft.From([][]float64{{inf, 1, inf}, {inf, 2, 3}})
	_, cols, err := LinearSumAssignment(cost)
	if err != nil || fmt.Sprint(cols) != "[1 2]" {
		t.Error(cols, err)
	}
	if rows, _, err := LinearSumAssignment(cost.Transpose(0, 1).Neg(), AssignmentOpts{Maximize: true}); err != nil || fmt.Sprint(rows) != "[1 2]" {
		t.Error(rows, err)
	}
	var e *ProgramError
	if _, _, err := LinearSumAssignment(weft.From([][]float64{{inf, 1}, {inf, 2}})); !errors.As(err, &e) || e.Status != Infeasible {
		t.Error(err)
	}
	if rows, cols, err := LinearSumAssignment(weft.Zeros(0, 3)); err != nil || rows.Size()+cols.Size() != 0 {
		t.Error(rows, cols, err)
	}
}

// functions with many minima, of vectors along the last axis.
var functions = map[string]struct {
	f            func(x *weft.Tensor) *weft.Tensor
	lower, upper []float64
	popSize      int
}{
	"rastrigin": {func(x *weft.Tensor) *weft.Tensor {
		return x.Square().Sub(x.Mul(2 * math.Pi).Cos().Mul(10)).Add(10).Sum(-1)
	}, []float64{-5.12, -5.12, -5.12}, []float64{5.12, 5.12, 5.12}, 10},
	"ackley": {func(x *weft.Tensor) *weft.Tensor {
		return x.Square().Mean(-1).Sqrt().Mul(-0.2).Exp().Mul(-20).Sub(x.Mul(2 * math.Pi).Cos().Mean(-1).Exp()).Add(20 + math.E)
	}, []float64{-32, -32}, []float64{20, 20}, 10},
	"eggholder": {func(x *weft.Tensor) *weft.Tensor {
		column := func(k int64) *weft.Tensor { return x.IndexSelect(-1, weft.FromSlice([]int64{k}, 1)).Sum(-1) }
		a, b := column(0), column(1).Add(47)
		return b.Mul(a.Div(2).Add(b).Abs().Sqrt().Sin()).Add(a.Mul(a.Sub(b).Abs().Sqrt().Sin())).Neg()
	}, []float64{-512, -512}, []float64{512, 512}, 40},
}

// TestDifferentialEvolution compares global minima with SciPy's, by both strategies and many vectors at once.
func TestDifferentialEvolution(t *testing.T) {
	for name, c := range functions {
		want := global.Minima[name]
		bounds := Bounds{weft.From(c.lower), weft.From(c.upper)}
		for _, s := range []Strategy{Best1Bin, Rand1Bin} {
			o := DifferentialEvolutionOpts{Strategy: s, Seed: 2, PopSize: c.popSize, Vectorized: true}
			if s == Rand1Bin {
				o.PopSize, o.Tol = max(20, 2*c.popSize), new(1e-4)
			}
			m, err := DifferentialEvolution(c.f, bounds, o)
			if err != nil || math.Abs(m.Value-want.Value) > 1e-6*(1+math.Abs(want.Value)) || m.X.Sub(weft.From(want.X)).Abs().Max().Item() > 1e-4 {
				t.Errorf("%s, %s: %v of %v after %d steps, %v; SciPy's %v", name, s, m.Value, m.X, m.Steps, err, want)
			}
		}
	}
}

// TestDifferentialEvolutionOptions holds what options say: seeds, starting points, callbacks, NaN, fixed unknowns and
// functions without gradients.
func TestDifferentialEvolutionOptions(t *testing.T) {
	c := functions["ackley"]
	bounds := Bounds{weft.From(c.lower), weft.From(c.upper)}
	same, _ := DifferentialEvolution(c.f, bounds, DifferentialEvolutionOpts{Seed: 7, NoPolish: true, MaxIter: 5})
	again, _ := DifferentialEvolution(c.f, bounds, DifferentialEvolutionOpts{Seed: 7, NoPolish: true, MaxIter: 5})
	other, _ := DifferentialEvolution(c.f, bounds, DifferentialEvolutionOpts{Seed: 8, NoPolish: true, MaxIter: 5})
	if same.X.Sub(again.X).Abs().Max().Item() != 0 || same.X.Sub(other.X).Abs().Max().Item() == 0 || same.FuncEvals != again.FuncEvals || same.Grad != nil {
		t.Error(same, again, other)
	}
	calls := 0
	m, err := DifferentialEvolution(c.f, bounds, DifferentialEvolutionOpts{NoPolish: true, X0: weft.From([]float64{0.01, 0}), Callback: func(m *Minimum) bool {
		calls++
		return m.Steps == 2
	}})
	if err != nil || calls != 2 || m.Steps != 2 || m.Value > c.f(weft.From([]float64{0.01, 0})).Item() || m.FuncEvals != 3*30 {
		t.Error(m, calls, err)
	}
	var e *ConvergenceError
	if m, err := DifferentialEvolution(c.f, bounds, DifferentialEvolutionOpts{MaxIter: 1}); !errors.As(err, &e) || e.Reason != "1 steps" || m.Steps != 1 {
		t.Error(m, err)
	}
	// One unknown is fixed, half of the values are NaN, and there is no gradient.
	f := func(x *weft.Tensor) *weft.Tensor { return weft.Scalar(math.Sqrt(x.At(0).Item()) + x.At(1).Item()) }
	m, err = DifferentialEvolution(f, Bounds{weft.From([]float64{-1, 3}), weft.From([]float64{1, 3})}, DifferentialEvolutionOpts{ATol: 1e-3})
	if err != nil || math.Abs(m.Value-3) > 0.1 || m.X.At(1).Item() != 3 {
		t.Error(m, err)
	}
}

// TestDifferentialEvolutionWithinBounds holds that f gets no x beyond bounds whose difference and sum are rounded up.
func TestDifferentialEvolutionWithinBounds(t *testing.T) {
	bounds := Bounds{weft.From([]float64{-0.1}), weft.From([]float64{0.3})}
	most := 0.0
	f := func(x *weft.Tensor) *weft.Tensor {
		most = max(most, x.Detach().Item())
		return x.Neg().Sum()
	}
	m, err := DifferentialEvolution(f, bounds, DifferentialEvolutionOpts{X0: bounds.Upper})
	if err != nil || most != 0.3 || m.X.Item() != 0.3 {
		t.Error(m, err, most)
	}
}

// TestContexts holds that searches end with their context, and return the best point and the cause.
func TestContexts(t *testing.T) {
	cause := errors.New("enough")
	x0 := weft.From([]float64{-1.2, 1, -1, 1.5})
	for name, search := range map[string]func(ctx context.Context, count func()) (*weft.Tensor, error){
		"least squares": func(ctx context.Context, count func()) (*weft.Tensor, error) {
			fit, err := LeastSquares(func(x *weft.Tensor) *weft.Tensor { count(); return x.Pow(3).Sub(x) }, x0, LeastSquaresOpts{Context: ctx})
			return fit.X, err
		},
		"least squares within bounds": func(ctx context.Context, count func()) (*weft.Tensor, error) {
			fit, err := LeastSquares(func(x *weft.Tensor) *weft.Tensor { count(); return x.Pow(3).Sub(x) }, x0, LeastSquaresOpts{Context: ctx, Bounds: &Bounds{Upper: weft.Scalar(9)}})
			return fit.X, err
		},
		"root": func(ctx context.Context, count func()) (*weft.Tensor, error) {
			return Root(func(x *weft.Tensor) *weft.Tensor { count(); return x.Pow(3).Sub(5) }, x0, RootOpts{Context: ctx})
		},
		"evolution": func(ctx context.Context, count func()) (*weft.Tensor, error) {
			m, err := DifferentialEvolution(func(x *weft.Tensor) *weft.Tensor { count(); return rosenbrock(x) }, Bounds{x0.Sub(3), x0.Add(3)}, DifferentialEvolutionOpts{Context: ctx})
			return m.X, err
		},
	} {
		check(t, name, cause, search)
	}
	for _, m := range []Method{BFGS, LBFGS, CG, Newton, NelderMead, LBFGSB} {
		check(t, string(m), cause, func(ctx context.Context, count func()) (*weft.Tensor, error) {
			m, err := Minimize(func(x *weft.Tensor) *weft.Tensor { count(); return rosenbrock(x) }, x0, MinimizeOpts{Method: m, Context: ctx, GTol: 1e-14})
			return m.X, err
		})
	}
}

func check(t *testing.T, name string, cause error, search func(ctx context.Context, count func()) (*weft.Tensor, error)) {
	ctx, cancel := context.WithCancelCause(t.Context())
	n := 0
	x, err := search(ctx, func() {
		if n++; n == 6 {
			cancel(cause)
		}
	})
	var e *ConvergenceError
	if !errors.Is(err, cause) || !errors.As(err, &e) || x == nil || n > 60 {
		t.Errorf("%s: %v, %v after %d evaluations", name, x, err, n)
	}
	if x, err := search(ctx, func() {}); !errors.Is(err, cause) || x == nil {
		t.Errorf("%s with a context that has ended: %v, %v", name, x, err)
	}
}

// TestGlobalMistakes compares what is said of bad arguments.
func TestGlobalMistakes(t *testing.T) {
	f := func(x *weft.Tensor) *weft.Tensor { return x.Sum() }
	zero, one := weft.Zeros(2), weft.Ones(2)
	evolve := func(o DifferentialEvolutionOpts) { DifferentialEvolution(f, Bounds{zero, one}, o) }
	for want, f := range map[string]func(){
		"optimize.linearsumassignment: cost: is nil":                               func() { LinearSumAssignment(nil) },
		"optimize.linearsumassignment: cost: is float32 of shape [2]":              func() { LinearSumAssignment(zero) },
		"optimize.linearsumassignment: cost: has NaN at [2 0]":                     func() { LinearSumAssignment(weft.From([][]float64{{1}, {2}, {math.NaN()}})) },
		"optimize.linearsumassignment: cost: has +Inf at [0 0]":                    func() { LinearSumAssignment(weft.Full(math.Inf(1), 1, 1), AssignmentOpts{Maximize: true}) },
		"optimize.differentialevolution: f: is nil":                                func() { DifferentialEvolution(nil, Bounds{zero, one}) },
		"optimize.differentialevolution: bounds.Upper: is nil":                     func() { DifferentialEvolution(f, Bounds{Lower: zero}) },
		"optimize.differentialevolution: bounds: of element 1 are 0 and +Inf":      func() { DifferentialEvolution(f, Bounds{zero, weft.From([]float64{1, math.Inf(1)})}) },
		"optimize.differentialevolution: Strategy: \"no\" is unknown":              func() { evolve(DifferentialEvolutionOpts{Strategy: "no"}) },
		"optimize.differentialevolution: Tol: is -1":                               func() { evolve(DifferentialEvolutionOpts{Tol: new(-1.0)}) },
		"optimize.differentialevolution: ATol: is NaN":                             func() { evolve(DifferentialEvolutionOpts{ATol: math.NaN()}) },
		"optimize.differentialevolution: Recombination: is 2":                      func() { evolve(DifferentialEvolutionOpts{Recombination: new(2.0)}) },
		"optimize.differentialevolution: Mutation: is [1 0.5]":                     func() { evolve(DifferentialEvolutionOpts{Mutation: &[2]float64{1, 0.5}}) },
		"optimize.differentialevolution: PopSize: is -1":                           func() { evolve(DifferentialEvolutionOpts{PopSize: -1}) },
		"optimize.differentialevolution: MaxIter: is -1":                           func() { evolve(DifferentialEvolutionOpts{MaxIter: -1}) },
		"optimize.differentialevolution: X0: has shape [3]":                        func() { evolve(DifferentialEvolutionOpts{X0: weft.Zeros(3)}) },
		"optimize.differentialevolution: X0: has 2 at 0":                           func() { evolve(DifferentialEvolutionOpts{X0: one.Mul(2)}) },
		"optimize.differentialevolution: f: does not return a real number for eac": func() { evolve(DifferentialEvolutionOpts{Vectorized: true}) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}
