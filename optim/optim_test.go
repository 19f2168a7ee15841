package optim_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

var makers = map[string]func(m any) optim.Optimizer{
	"sgd": func(m any) optim.Optimizer { return optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(0.1)}) },
	"momentum": func(m any) optim.Optimizer {
		return optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(0.1), Momentum: 0.9})
	},
	"adam":    func(m any) optim.Optimizer { return optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(0.01)}) },
	"nadam":   func(m any) optim.Optimizer { return optim.NewNAdam(nn.Params(m), optim.NAdamOpts{LR: new(0.01)}) },
	"adagrad": func(m any) optim.Optimizer { return optim.NewAdagrad(nn.Params(m), optim.AdagradOpts{LR: new(0.01)}) },
	"rmsprop": func(m any) optim.Optimizer {
		return optim.NewRMSprop(nn.Params(m), optim.RMSpropOpts{LR: new(0.01), Momentum: 0.9, Centered: true})
	},
	"radam":     func(m any) optim.Optimizer { return optim.NewRAdam(nn.Params(m), optim.RAdamOpts{LR: new(0.01)}) },
	"adamax":    func(m any) optim.Optimizer { return optim.NewAdamax(nn.Params(m), optim.AdamaxOpts{}) },
	"adadelta":  func(m any) optim.Optimizer { return optim.NewAdadelta(nn.Params(m), optim.AdadeltaOpts{}) },
	"asgd":      func(m any) optim.Optimizer { return optim.NewASGD(nn.Params(m), optim.ASGDOpts{Start: new(2.0)}) },
	"rprop":     func(m any) optim.Optimizer { return optim.NewRprop(nn.Params(m), optim.RpropOpts{}) },
	"adafactor": func(m any) optim.Optimizer { return optim.NewAdafactor(nn.Params(m), optim.AdafactorOpts{}) },
	"lion":      func(m any) optim.Optimizer { return optim.NewLion(nn.Params(m), optim.LionOpts{LR: new(0.01)}) },
	"lamb":      func(m any) optim.Optimizer { return optim.NewLAMB(nn.Params(m), optim.LAMBOpts{LR: new(0.01)}) },
}

// problem is a regression, and step one step on it inside a scope.
func problem() (m *nn.Linear, step func(opt optim.Optimizer)) {
	g := weft.NewGenerator(1)
	m = nn.NewLinear(5, 3, nn.Opts{Generator: g})
	x, y := g.Randn(20, 5), g.Randn(20, 3)
	return m, func(opt optim.Optimizer) {
		s := weft.NewScope()
		defer s.Close()
		loss := nn.MSE(m.Forward(s.Track(x)), y)
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
	}
}

// TestResume takes ten steps at once and in two halves with a state between.
func TestResume(t *testing.T) {
	for name, newOpt := range makers {
		t.Run(name, func(t *testing.T) {
			whole, step := problem()
			opt := newOpt(whole)
			for range 10 {
				step(opt)
				opt.SetLR(opt.LR() * 0.9)
			}
			first, step := problem()
			opt = newOpt(first)
			for range 5 {
				step(opt)
				opt.SetLR(opt.LR() * 0.9)
			}
			saved := opt.State()
			second, step := problem()
			if err := nn.LoadState(second, nn.State(first), true); err != nil {
				t.Fatal(err)
			}
			opt = newOpt(second)
			if err := opt.LoadState(saved); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				step(opt)
				opt.SetLR(opt.LR() * 0.9)
			}
			if a, b := weft.Data[float32](whole.Weight), weft.Data[float32](second.Weight); !slices.Equal(a, b) {
				t.Errorf("unbroken\n%v, resumed\n%v", a, b)
			}
		})
	}
}

func TestOptimizersLowerTheLoss(t *testing.T) {
	for name, newOpt := range makers {
		m, step := problem()
		before := weft.Data[float32](m.Weight)
		opt := newOpt(m)
		for range 3 {
			step(opt)
		}
		if slices.Equal(before, weft.Data[float32](m.Weight)) || !m.Weight.IsLeaf() || !m.Weight.RequiresGrad() {
			t.Errorf("%s: the parameter did not change, or is not a leaf any more", name)
		}
	}
}

func TestLoadStateErrors(t *testing.T) {
	m, step := problem()
	opt := makers["adam"](m)
	step(opt)
	good := opt.State()
	before := weft.Data[float32](good["mean.weight"])
	for name, c := range map[string]struct {
		change func(s map[string]*weft.Tensor)
		want   string
	}{
		"missing":   {func(s map[string]*weft.Tensor) { delete(s, "square.bias") }, `"square.bias" is missing`},
		"extra":     {func(s map[string]*weft.Tensor) { s["mean.x"] = weft.Zeros(1) }, `"mean.x" belongs to no parameter`},
		"shape":     {func(s map[string]*weft.Tensor) { s["mean.weight"] = weft.Zeros(5, 3) }, `"mean.weight" is float32[5 3], want float32[3 5]`},
		"rate":      {func(s map[string]*weft.Tensor) { s["lr"] = weft.ScalarOf(weft.Float64, -1.0) }, `"lr" is -1`},
		"rate type": {func(s map[string]*weft.Tensor) { s["lr"] = weft.Scalar(1) }, `"lr" is int64[], want float64[]`},
		"steps":     {func(s map[string]*weft.Tensor) { s["steps.bias"] = weft.Scalar(-3) }, `"steps.bias" is -3`},
	} {
		s := maps.Clone(good)
		c.change(s)
		err := opt.LoadState(s)
		var e *optim.StateError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if !slices.Equal(before, weft.Data[float32](opt.State()["mean.weight"])) {
			t.Errorf("%s: a refused state changed the optimizer", name)
		}
	}
}

func TestMisuse(t *testing.T) {
	m, _ := problem()
	buffer := &nn.Linear{Weight: weft.Zeros(1)}
	for name, f := range map[string]func(){
		"no parameters": func() { optim.NewSGD(nn.Params(struct{}{}), optim.SGDOpts{}) },
		"buffer":        func() { optim.NewSGD(nn.Buffers(buffer), optim.SGDOpts{}) },
		"rate":          func() { optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(-1.0)}) },
		"momentum":      func() { optim.NewSGD(nn.Params(m), optim.SGDOpts{Momentum: 1}) },
		"nesterov":      func() { optim.NewSGD(nn.Params(m), optim.SGDOpts{Nesterov: true}) },
		"beta":          func() { optim.NewAdam(nn.Params(m), optim.AdamOpts{Beta2: new(1.5)}) },
		"dampened nesterov": func() {
			optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(1.0), Momentum: 0.5, Dampening: 0.5, Nesterov: true})
		},
		"sparse with decay": func() { optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(1.0), Sparse: true, WeightDecay: 1}) },
		"alpha":             func() { optim.NewRMSprop(nn.Params(m), optim.RMSpropOpts{LR: new(1.0), Alpha: new(1.0)}) },
		"initial":           func() { optim.NewAdagrad(nn.Params(m), optim.AdagradOpts{LR: new(1.0), Initial: -1}) },
		"momentum decay":    func() { optim.NewNAdam(nn.Params(m), optim.NAdamOpts{LR: new(1.0), MomentumDecay: new(math.NaN())}) },
		"rate of RMSprop":   func() { optim.NewRMSprop(nn.Params(m), optim.RMSpropOpts{LR: new(math.NaN())}) },
		"a group twice": func() {
			optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(1.0)}).AddGroup(nn.Params(m), optim.SGDOpts{})
		},
		"a group's rate": func() {
			optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(1.0)}).AddGroup(nn.Params(nn.NewLinear(1, 1)), optim.SGDOpts{LR: new(-1.0)})
		},
		"rows without Sparse": func() {
			w := weft.Zeros(3, 2).RequireGrad().SparseGrad()
			w.IndexSelect(0, weft.FromSlice([]int64{1})).Sum().Backward()
			optim.NewAdam(nn.Params([]*weft.Tensor{w}), optim.AdamOpts{LR: new(1.0)}).Step()
		},
		"history":            func() { optim.NewLBFGS(nn.Params(m), optim.LBFGSOpts{History: new(-1)}) },
		"no closure":         func() { optim.NewLBFGS(nn.Params(m), optim.LBFGSOpts{}).Step(nil) },
		"closure of nothing": func() { optim.NewLBFGS(nn.Params(m), optim.LBFGSOpts{}).Step(func() *weft.Tensor { return nil }) },
		"mixed types": func() {
			ts := []*weft.Tensor{weft.Zeros(1).RequireGrad(), weft.ZerosOf(weft.Float64, 1).RequireGrad()}
			optim.NewLBFGS(nn.Params(ts), optim.LBFGSOpts{})
		},
		"complex Adam": func() {
			optim.NewAdam(one(weft.ZerosOf(weft.Complex64, 2).RequireGrad()), optim.AdamOpts{LR: new(1.0)})
		},
		"complex LBFGS":       func() { optim.NewLBFGS(one(weft.ZerosOf(weft.Complex64, 2).RequireGrad()), optim.LBFGSOpts{}) },
		"complex norm":        func() { optim.ClipNorm(one(weft.ZerosOf(weft.Complex64, 2).RequireGrad()), 1) },
		"limit":               func() { optim.ClipNorm(nn.Params(m), -1) },
		"limit of nothing":    func() { optim.ClipValue(nil, 1) },
		"no steps":            func() { optim.StepDecay{Gamma: 1}.At(0, 1) },
		"gamma":               func() { optim.Exponential{Gamma: -1}.At(0, 1) },
		"before the first":    func() { optim.MultiStep{Gamma: 1}.At(-1, 1) },
		"cosine of nothing":   func() { optim.Cosine{}.At(0, 1) },
		"one step":            func() { optim.OneCycle{Steps: 1, Max: 1}.At(0, 1) },
		"all warm":            func() { optim.OneCycle{Steps: 9, Max: 1, Warm: new(0.6), ThreePhase: true}.At(0, 1) },
		"constant of nothing": func() { optim.Constant{Factor: 1}.At(0, 1) },
		"power":               func() { optim.Polynomial{Steps: 3, Power: new(-1.0)}.At(0, 1) },
		"all warm-up":         func() { optim.WarmCosine{Warm: 3, Steps: 3}.At(0, 1) },
		"times less":          func() { optim.WarmRestarts{Steps: 3, Mult: new(0)}.At(0, 1) },
		"no way up":           func() { optim.Cyclic{Max: 1, Up: new(0)}.At(0, 1) },
		"no function":         func() { optim.Multiplicative(nil).At(1, 1) },
		"a chain with a gap":  func() { optim.Chain{nil}.At(1, 1) },
		"a sequence":          func() { optim.Sequence{Schedules: []optim.Schedule{optim.Linear{}}, Steps: []int{1}}.At(0, 1) },
		"no schedule":         func() { optim.NewScheduler(optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(1.0)}), nil) },
		"beta of RAdam":       func() { optim.NewRAdam(nn.Params(m), optim.RAdamOpts{Beta2: new(1.0)}) },
		"eps of Adamax":       func() { optim.NewAdamax(nn.Params(m), optim.AdamaxOpts{Eps: new(-1.0)}) },
		"rho":                 func() { optim.NewAdadelta(nn.Params(m), optim.AdadeltaOpts{Rho: new(1.1)}) },
		"start":               func() { optim.NewASGD(nn.Params(m), optim.ASGDOpts{Start: new(-1.0)}) },
		"growth":              func() { optim.NewRprop(nn.Params(m), optim.RpropOpts{Grow: new(0.9)}) },
		"lengths":             func() { optim.NewRprop(nn.Params(m), optim.RpropOpts{Least: new(2.0), Greatest: new(1.0)}) },
		"power of Adafactor":  func() { optim.NewAdafactor(nn.Params(m), optim.AdafactorOpts{Beta2Decay: new(0.5)}) },
		"clip of Adafactor":   func() { optim.NewAdafactor(nn.Params(m), optim.AdafactorOpts{Clip: new(0.5)}) },
		"beta of Lion":        func() { optim.NewLion(nn.Params(m), optim.LionOpts{Beta1: new(-0.1)}) },
		"decay of LAMB":       func() { optim.NewLAMB(nn.Params(m), optim.LAMBOpts{WeightDecay: -1}) },
		"Muon of a vector":    func() { optim.NewMuon(nn.Params(m)) },
		"iterations":          func() { optim.NewMuon(one(m.Weight), optim.MuonOpts{Iterations: new(100)}) },
		"rate of Muon":        func() { optim.NewMuon(one(m.Weight), optim.MuonOpts{Rate: 3}) },
		"patience": func() {
			optim.NewPlateau(optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(1.0)}), optim.PlateauOpts{Patience: new(-2)})
		},
	} {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: no error", name)
		}
	}
}
