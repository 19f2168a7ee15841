package optim_test

import (
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// TestLROfEmptyOptions compares the rate of empty options with what PyTorch's documentation says
// of lr in torch.optim.
func TestLROfEmptyOptions(t *testing.T) {
	p := nn.Params([]*weft.Tensor{nn.Param(weft.Ones(2))})
	for name, c := range map[string]struct {
		opt  optim.Rated
		want float64
	}{
		"SGD":       {optim.NewSGD(p, optim.SGDOpts{}), 1e-3},
		"Adam":      {optim.NewAdam(p, optim.AdamOpts{}), 1e-3},
		"NAdam":     {optim.NewNAdam(p, optim.NAdamOpts{}), 2e-3},
		"RMSprop":   {optim.NewRMSprop(p, optim.RMSpropOpts{}), 1e-2},
		"Adagrad":   {optim.NewAdagrad(p, optim.AdagradOpts{}), 1e-2},
		"RAdam":     {optim.NewRAdam(p), 1e-3},
		"Adamax":    {optim.NewAdamax(p), 2e-3},
		"Adadelta":  {optim.NewAdadelta(p), 1},
		"ASGD":      {optim.NewASGD(p), 1e-2},
		"Rprop":     {optim.NewRprop(p), 1e-2},
		"Adafactor": {optim.NewAdafactor(p), 1e-2},
		"Lion":      {optim.NewLion(p), 1e-4},
		"LAMB":      {optim.NewLAMB(p), 1e-3},
		"Muon":      {optim.NewMuon(nn.Params([]*weft.Tensor{nn.Param(weft.Ones(2, 2))})), 1e-3},
		"LBFGS":     {optim.NewLBFGS(p, optim.LBFGSOpts{}), 1},
	} {
		if got := c.opt.LR(); got != c.want {
			t.Errorf("%s: the rate is %v, want %v", name, got, c.want)
		}
	}
}

// made returns a parameter of ones and plain SGD of it, and step a step along a gradient of ones.
func made(o optim.SGDOpts) (w *weft.Tensor, opt *optim.SGD, step func() float64) {
	w = nn.Param(weft.OnesOf(weft.Float64, 2))
	opt = optim.NewSGD(nn.Params([]*weft.Tensor{w}), o)
	return w, opt, func() float64 {
		opt.ZeroGrad()
		w.Sum().Backward()
		before := w.At(0).Item()
		opt.Step()
		return before - w.At(0).Item()
	}
}

func alike(x, y float64) bool { return x-y < 1e-12 && y-x < 1e-12 }

// TestLRFromSchedule holds which rate a step has: the default, what a schedule makes of it, and
// what SetLR says.
func TestLRFromSchedule(t *testing.T) {
	_, opt, step := made(optim.SGDOpts{})
	if got := step(); !alike(got, 1e-3) {
		t.Errorf("by default a step is %v, want 1e-3", got)
	}
	optim.NewScheduler(opt, optim.Exponential{Gamma: 0.5}).Step()
	if got := step(); !alike(got, 5e-4) {
		t.Errorf("a schedule that halves the default: a step is %v, want 5e-4", got)
	}
	optim.NewScheduler(opt, optim.OneCycle{Steps: 10, Max: 0.5, Div: new(2.0)})
	if got := step(); !alike(got, 0.25) {
		t.Errorf("a schedule that replaces the rate: a step is %v, want 0.25", got)
	}
	opt.SetLR(0)
	if got := step(); got != 0 {
		t.Errorf("with a rate of 0 a step is %v", got)
	}

	_, opt, step = made(optim.SGDOpts{LR: new(0.0)})
	if got := step(); got != 0 || opt.LR() != 0 {
		t.Errorf("made with a rate of 0: a step is %v, the rate %v", got, opt.LR())
	}
	optim.NewScheduler(opt, optim.Exponential{Gamma: 0.5})
	if got := opt.LR(); got != 0 {
		t.Errorf("a schedule makes %v of a rate of 0", got)
	}
	v := nn.Param(weft.Ones(2))
	if err := weft.Try(func() { opt.AddGroup(nn.Params(map[string]any{"v": v}), optim.SGDOpts{LR: new(1.0)}) }); err == nil {
		t.Error("a group has a ratio to a rate of 0")
	}
	opt.AddGroup(nn.Params(map[string]any{"v": v}), optim.SGDOpts{LR: new(0.0)})

	_, from, _ := made(optim.SGDOpts{LR: new(0.125)})
	_, opt, step = made(optim.SGDOpts{})
	if err := opt.LoadState(from.State()); err != nil {
		t.Fatal(err)
	}
	if got := step(); !alike(got, 0.125) {
		t.Errorf("with the rate 0.125 of a state a step is %v", got)
	}
}

func TestScheduleErrorsNameTheBound(t *testing.T) {
	for want, s := range map[string]optim.Schedule{
		"step_decay: Every: is 0, want at least 1": optim.StepDecay{},
		"cosine: Steps: is 0, want at least 1":     optim.Cosine{},
		"linear: Steps: is -1, want at least 1":    optim.Linear{Steps: -1},
		"one_cycle: Steps: is 1, want at least 2":  optim.OneCycle{Steps: 1},
	} {
		if err := weft.Try(func() { s.At(0, 1) }); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
