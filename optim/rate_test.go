package optim

import (
	"testing"

	"weft"
	"weft/nn"
)

// An optimizer may be made without a learning rate where a schedule sets it; one that has none
// takes no step, a rate of 0 is one.
func TestRateFromSchedule(t *testing.T) {
	made := func(o SGDOpts) (*weft.Tensor, *SGD) {
		w := nn.Param(weft.Ones(2))
		return w, NewSGD(nn.Params([]*weft.Tensor{w}), o)
	}
	step := func(w *weft.Tensor, opt *SGD) error {
		w.Sum().Backward()
		return weft.Try(opt.Step)
	}
	w, opt := made(SGDOpts{})
	if err := step(w, opt); err == nil {
		t.Error("an optimizer without a rate took a step")
	}
	NewScheduler(opt, OneCycle{Steps: 10, Max: 0.5, Div: 2})
	w.SetGrad(nil)
	if err := step(w, opt); err != nil || w.At(0).Item() != 0.75 {
		t.Errorf("with the rate 0.25 of a schedule: %v, %v", err, w)
	}
	opt.SetLR(0)
	if err := step(w, opt); err != nil || w.At(0).Item() != 0.75 {
		t.Errorf("with a rate of 0: %v, %v", err, w)
	}

	_, opt = made(SGDOpts{})
	for name, s := range map[string]Schedule{"factor": Exponential{Gamma: 0.5}, "in a sequence": Sequence{Schedules: []Schedule{StepDecay{Every: 1, Gamma: 0.5}}}} {
		if err := weft.Try(func() { NewScheduler(opt, s) }); err == nil {
			t.Errorf("%s: a schedule multiplies a rate that was not given", name)
		}
	}
	warm := NewScheduler(opt, Linear{Steps: 2, To: 1}) // 0 at first with any rate
	if err := weft.Try(warm.Step); err == nil {
		t.Error("warming up multiplies a rate that was not given")
	}
	v := nn.Param(weft.Ones(2))
	if err := weft.Try(func() { opt.AddGroup(nn.Params([]*weft.Tensor{v}), SGDOpts{LR: 1}) }); err == nil {
		t.Error("a group has a ratio to a rate that was not given")
	}

	// Loading the state of an optimizer without a rate gives none.
	_, from := made(SGDOpts{})
	w, opt = made(SGDOpts{})
	if err := opt.LoadState(from.State()); err != nil {
		t.Fatal(err)
	}
	if err := step(w, opt); err == nil {
		t.Error("a state without a rate gave one")
	}
}
