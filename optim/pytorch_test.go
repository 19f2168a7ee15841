package optim_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/optim"
)

// vectors are what PyTorch computes; see testdata/pytorch.py.
type vectors struct {
	Start      [][]float64
	Grads      [][][]float64
	Optimizers []struct {
		Kind        string
		Opts, Group json.RawMessage
		Values      [][][]float64
	}
	Table   [][]float64
	Rows    [][]int64
	Weights [][][]float64
	Sparse  []struct {
		Kind   string
		Opts   json.RawMessage
		Values [][][]float64
	}
	Schedules map[string][]float64
	Metrics   []*float64
	LBFGS     []struct {
		Opts   optim.LBFGSOpts
		Losses []float64
		Values [][]float64
		Calls  int
	}
	Clipping []struct {
		Limit, Norm, Power float64 // a power of -1 is infinite
		ByNorm, ByValue    [][]float64
	}
	Averages [2][]float64 // with equal weights, and with a decay of 0.9
}

func pytorch(t *testing.T) (v vectors) {
	t.Helper()
	b, err := os.ReadFile("testdata/pytorch.json")
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func decoded[O any](t *testing.T, b json.RawMessage) (o O) {
	t.Helper()
	if err := json.Unmarshal(b, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func make2[O any, M interface {
	optim.Optimizer
	AddGroup(iter.Seq2[string, *weft.Tensor], ...O)
}](t *testing.T, make func(iter.Seq2[string, *weft.Tensor], ...O) M, first, second iter.Seq2[string, *weft.Tensor], o, p json.RawMessage) optim.Optimizer {
	t.Helper()
	m := make(first, decoded[O](t, o))
	if second != nil {
		m.AddGroup(second, decoded[O](t, p))
	}
	return m
}

// newOptimizer makes an optimizer of some parameters, and a group of others if second is not nil.
func newOptimizer(t *testing.T, kind string, first, second iter.Seq2[string, *weft.Tensor], o, p json.RawMessage) optim.Optimizer {
	t.Helper()
	switch kind {
	case "sgd":
		return make2(t, optim.NewSGD, first, second, o, p)
	case "adam":
		return make2(t, optim.NewAdam, first, second, o, p)
	case "nadam":
		return make2(t, optim.NewNAdam, first, second, o, p)
	case "rmsprop":
		return make2(t, optim.NewRMSprop, first, second, o, p)
	case "adagrad":
		return make2(t, optim.NewAdagrad, first, second, o, p)
	case "radam":
		return make2(t, optim.NewRAdam, first, second, o, p)
	case "adamax":
		return make2(t, optim.NewAdamax, first, second, o, p)
	case "adadelta":
		return make2(t, optim.NewAdadelta, first, second, o, p)
	case "asgd":
		return make2(t, optim.NewASGD, first, second, o, p)
	case "rprop":
		return make2(t, optim.NewRprop, first, second, o, p)
	case "adafactor":
		return make2(t, optim.NewAdafactor, first, second, o, p)
	case "lion":
		return make2(t, optim.NewLion, first, second, o, p)
	case "lamb":
		return make2(t, optim.NewLAMB, first, second, o, p)
	case "muon":
		return make2(t, optim.NewMuon, first, second, o, p)
	}
	t.Fatalf("no optimizer %q", kind)
	return nil
}

func named(ts ...*weft.Tensor) iter.Seq2[string, *weft.Tensor] {
	return func(yield func(string, *weft.Tensor) bool) {
		for i, w := range ts {
			if !yield(fmt.Sprint("w", i, w.Rank()), w) {
				return
			}
		}
	}
}

// TestOptimizersAsPyTorch takes ten steps of each optimizer with each option. After the sixth
// step another optimizer loads the state and goes on.
func TestOptimizersAsPyTorch(t *testing.T) {
	v := pytorch(t)
	for _, c := range v.Optimizers {
		for _, d := range []weft.DType{weft.Float64, weft.Float32} {
			what := fmt.Sprintf("%s %s %s %s", c.Kind, d, c.Opts, c.Group)
			bound := 1e-12
			if d == weft.Float32 {
				bound = 2e-4
			}
			w := []*weft.Tensor{weft.FromSlice(slices.Clone(v.Start[0])).To(d).RequireGrad(), weft.FromSlice(slices.Clone(v.Start[1]), 1, 3).To(d).RequireGrad()}
			create := func() optim.Optimizer {
				if c.Group != nil {
					return newOptimizer(t, c.Kind, named(w[0]), named(w[1]), c.Opts, c.Group)
				}
				return newOptimizer(t, c.Kind, named(w...), nil, c.Opts, nil)
			}
			opt := create()
			for step, want := range c.Values {
				for i := range w {
					w[i].SetGrad(weft.FromSlice(v.Grads[step][i], w[i].Shape()...).To(d))
				}
				if step == 4 {
					w[0].SetGrad(nil)
				}
				opt.Step()
				if step == 6 {
					opt.SetLR(opt.LR() * 0.5)
				}
				for i := range w {
					tensortest.Near(t, fmt.Sprintf("%s, step %d, parameter %d", what, step, i), w[i], want[i], bound)
				}
				if step == 5 {
					saved := opt.State()
					opt = create()
					if err := opt.LoadState(saved); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
				}
			}
		}
	}
}

// TestRowsAsPyTorch takes steps with gradients that are kept as rows.
func TestRowsAsPyTorch(t *testing.T) {
	v := pytorch(t)
	var table []float64
	for _, row := range v.Table {
		table = append(table, row...)
	}
	for _, c := range v.Sparse {
		w := weft.FromSlice(slices.Clone(table), len(v.Table), 2).RequireGrad().SparseGrad()
		opt := newOptimizer(t, c.Kind, named(w), nil, c.Opts, nil)
		for step, want := range c.Values {
			opt.ZeroGrad()
			var weights, values []float64
			for _, row := range v.Weights[step] {
				weights = append(weights, row...)
			}
			for _, row := range want {
				values = append(values, row...)
			}
			w.IndexSelect(0, weft.FromSlice(v.Rows[step])).Mul(weft.FromSlice(weights, len(v.Rows[step]), 2)).Sum().Backward()
			opt.Step()
			if !weft.BorrowRows(w, func(_, _ *weft.Tensor) {}) {
				t.Fatalf("%s %s: the rows became an array", c.Kind, c.Opts)
			}
			tensortest.Near(t, fmt.Sprintf("%s %s, step %d", c.Kind, c.Opts, step), w, values, 1e-12)
		}
	}
}

// TestRowsAsArrays takes steps by methods that change all rows: these make arrays of gradients
// that are kept as rows.
func TestRowsAsArrays(t *testing.T) {
	for name, create := range map[string]func(iter.Seq2[string, *weft.Tensor]) optim.Optimizer{
		"momentum": func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer {
			return optim.NewSGD(p, optim.SGDOpts{LR: new(0.1), Momentum: 0.9})
		},
		"decay": func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer {
			return optim.NewAdagrad(p, optim.AdagradOpts{LR: new(0.1), WeightDecay: 0.5})
		},
		"rmsprop": func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer {
			return optim.NewRMSprop(p, optim.RMSpropOpts{LR: new(0.1)})
		},
	} {
		var got [2][]float64
		for i := range got {
			w := weft.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 3, 2).RequireGrad()
			if i == 1 {
				w.SparseGrad()
			}
			opt := create(named(w))
			for step := range 4 {
				opt.ZeroGrad()
				w.IndexSelect(0, weft.FromSlice([]int64{int64(step % 3), 1})).Square().Sum().Backward()
				opt.Step()
			}
			got[i] = weft.Data[float64](w)
		}
		if fmt.Sprint(got[0]) != fmt.Sprint(got[1]) {
			t.Errorf("%s: %v with rows, %v with arrays", name, got[1], got[0])
		}
	}
}

func TestSchedulesAsPyTorch(t *testing.T) {
	v := pytorch(t)
	schedules := map[string]optim.Schedule{
		"step":             optim.StepDecay{Every: 3, Gamma: 0.5},
		"multistep":        optim.MultiStep{Steps: []int{2, 3, 8, 50}, Gamma: 0.1},
		"constant":         optim.Constant{Steps: 7, Factor: 0.25},
		"exponential":      optim.Exponential{Gamma: 0.9},
		"polynomial":       optim.Polynomial{Steps: 60},
		"polynomial_power": optim.Polynomial{Steps: 60, Power: new(2.5)},
		"cosine":           optim.Cosine{Steps: 99, Min: 0.01},
		"restarts":         optim.WarmRestarts{Steps: 12, Min: 0.01},
		"restarts_longer":  optim.WarmRestarts{Steps: 5, Mult: new(3)},
		"linear":           optim.Linear{Steps: 5, From: 0.25, To: 1},
		"lambda":           optim.Lambda(func(e int) float64 { return 1 / (1 + float64(e)) }),
		"multiplicative":   optim.Multiplicative(func(e int) float64 { return float64(e) / (1 + float64(e)) }),
		"sequence":         optim.Sequence{Schedules: []optim.Schedule{optim.Linear{Steps: 4, From: 0.1, To: 1}, optim.Cosine{Steps: 60}, optim.Exponential{Gamma: 0.5}}, Steps: []int{4, 60}},
		"chain":            optim.Chain{optim.Constant{Steps: 20, Factor: 0.1}, optim.Exponential{Gamma: 0.9}, optim.Linear{Steps: 40, From: 0.5, To: 1}},
		"warm_cosine":      optim.WarmCosine{Warm: 10, Steps: 90},
		"warm_cosine_from": optim.WarmCosine{Warm: 20, Steps: 99, From: 0.1, Min: 0.01},
		"cyclic":           optim.Cyclic{Min: 0.01, Max: 0.2, Up: new(7)},
		"cyclic_halves":    optim.Cyclic{Min: 0.01, Max: 0.2, Up: new(7), Down: new(15), Halve: true},
		"cyclic_gamma":     optim.Cyclic{Min: 0.01, Max: 0.2, Up: new(7), Down: new(4), Gamma: new(0.97)},
		"onecycle":         optim.OneCycle{Steps: 100, Max: 0.5},
		"onecycle_linear":  optim.OneCycle{Steps: 100, Max: 0.5, Warm: new(0.4), Linear: true, Div: new(10.0), FinalDiv: new(100.0)},
		"onecycle_three":   optim.OneCycle{Steps: 100, Max: 0.5, ThreePhase: true},
	}
	plateaus := map[string]optim.PlateauOpts{
		"plateau":          {Patience: new(2), Factor: new(0.5)},
		"plateau_cooldown": {Patience: new(1), Cooldown: 3, Threshold: new(0.5), Absolute: true, Min: 0.05},
		"plateau_greatest": {Greatest: true, Patience: new(0), Factor: new(0.9), Threshold: new(0.2)},
	}
	if len(schedules)+len(plateaus) != len(v.Schedules) {
		t.Fatalf("%d schedules, PyTorch has %d", len(schedules)+len(plateaus), len(v.Schedules))
	}
	w := weft.Zeros(1).RequireGrad()
	check := func(name string, step int, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("%s, step %d: rate %v, want %v", name, step, got, want)
		}
	}
	for name, s := range schedules {
		opt := optim.NewSGD(named(w), optim.SGDOpts{LR: new(0.3)})
		sc := optim.NewScheduler(opt, s)
		for step, want := range v.Schedules[name] {
			check(name, step, opt.LR(), want)
			sc.Step()
			if step == 4 { // another one goes on
				saved := sc.State()
				opt = optim.NewSGD(named(w), optim.SGDOpts{LR: new(7.0)})
				sc = optim.NewScheduler(opt, s)
				if err := sc.LoadState(saved); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
	for name, o := range plateaus {
		opt := optim.NewSGD(named(w), optim.SGDOpts{LR: new(0.3)})
		p := optim.NewPlateau(opt, o)
		for step, want := range v.Schedules[name] {
			metric := math.NaN()
			if m := v.Metrics[step]; m != nil {
				metric = *m
			}
			p.Step(metric)
			check(name, step, opt.LR(), want)
			saved := p.State()
			p = optim.NewPlateau(opt, o)
			if err := p.LoadState(saved); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

// TestLBFGSAsPyTorch finds the same ways down a valley with the same numbers of evaluations.
func TestLBFGSAsPyTorch(t *testing.T) {
	for _, c := range pytorch(t).LBFGS {
		w := weft.FromSlice([]float64{-1.2, 1, 0.5, 2}).RequireGrad()
		v := weft.FromSlice([]float64{0.5, -3}, 1, 2).RequireGrad()
		opt := optim.NewLBFGS(named(w, v), c.Opts)
		calls := 0
		closure := func() *weft.Tensor {
			calls++
			opt.ZeroGrad()
			a, b := w.Slice(weft.Range(0, 3)), w.Slice(weft.Range(1, 4))
			loss := b.Sub(a.Square()).Square().Mul(100).Sum().Add(weft.Scalar(1.0).Sub(a).Square().Sum()).
				Add(v.Square().Sum()).Add(v.Sum().Mul(w.Slice(weft.Index(0))).Mul(0.1))
			loss.Backward()
			return loss
		}
		for step, want := range c.Values {
			// Rounding errors grow along a way.
			loss := opt.Step(closure)
			if math.Abs(loss-c.Losses[step]) > 1e-6*(1+math.Abs(c.Losses[step])) {
				t.Fatalf("%+v, step %d: loss %v, want %v", c.Opts, step, loss, c.Losses[step])
			}
			tensortest.Near(t, fmt.Sprintf("%+v, step %d", c.Opts, step), weft.Cat([]*weft.Tensor{w.Detach(), v.Detach().Flatten(0)}, 0), want, 1e-6)
			saved := opt.State()
			opt = optim.NewLBFGS(named(w, v), c.Opts)
			if err := opt.LoadState(saved); err != nil {
				t.Fatal(err)
			}
		}
		if calls != c.Calls {
			t.Errorf("%+v: %d evaluations, PyTorch %d", c.Opts, calls, c.Calls)
		}
	}
}

func TestClippingAsPyTorch(t *testing.T) {
	v := pytorch(t)
	for _, c := range v.Clipping {
		w := []*weft.Tensor{weft.ZerosOf(weft.Float64, 3).RequireGrad(), weft.ZerosOf(weft.Float64, 1, 3).RequireGrad(), weft.Zeros(2).RequireGrad()}
		set := func() {
			for i := range 2 {
				w[i].SetGrad(weft.FromSlice(slices.Clone(v.Grads[0][i]), w[i].Shape()...))
			}
		}
		power := c.Power
		if power < 0 {
			power = math.Inf(1)
		}
		opts := optim.ClipNormOpts{Power: &power, MustBeFinite: true}
		set()
		if norm := optim.ClipNorm(named(w...), c.Limit, opts); math.Abs(norm-c.Norm) > 1e-13 {
			t.Errorf("power %v: norm %v, want %v", power, norm, c.Norm)
		}
		for i := range 2 {
			tensortest.Near(t, fmt.Sprintf("norm %v at most %v", power, c.Limit), w[i].Grad(), c.ByNorm[i], 1e-14)
		}
		set()
		opts.MustBeFinite = false
		weft.Compile(func() *weft.Tensor { optim.ClipNorm(named(w...), c.Limit, opts); return w[0].Grad() }).Func()()
		for i := range 2 {
			tensortest.Near(t, fmt.Sprintf("compiled, norm %v at most %v", power, c.Limit), w[i].Grad(), c.ByNorm[i], 1e-14)
		}
		set()
		optim.ClipValue(named(w...), c.Limit)
		for i := range 2 {
			tensortest.Near(t, fmt.Sprintf("values at most %v", c.Limit), w[i].Grad(), c.ByValue[i], 0)
		}
	}
}

// TestClipRows clips gradients that are kept as rows, which stay so.
func TestClipRows(t *testing.T) {
	w := weft.ZerosOf(weft.Float64, 5, 2).RequireGrad().SparseGrad()
	w.IndexSelect(0, weft.FromSlice([]int64{1, 3, 1})).Mul(3).Sum().Backward() // 6 6 and 3 3
	if norm := optim.ClipNorm(named(w), 1); math.Abs(norm-math.Sqrt(90)) > 1e-14 {
		t.Errorf("norm %v", norm)
	}
	optim.ClipValue(named(w), 0.5)
	if !weft.BorrowRows(w, func(_, _ *weft.Tensor) {}) {
		t.Error("the rows became an array")
	}
	a, b := 0.5, 3/math.Sqrt(90)
	tensortest.Near(t, "rows", w.Grad(), []float64{0, 0, a, a, 0, 0, b, b, 0, 0}, 1e-6)
}
