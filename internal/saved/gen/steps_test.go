package main_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// methods are optimizers that a saved step can go on with, and what compiled steps do after each.
func methods() map[string]func(net nn.Sequential) (optim.Optimizer, func()) {
	plain := func(make func(net nn.Sequential) optim.Optimizer) func(net nn.Sequential) (optim.Optimizer, func()) {
		return func(net nn.Sequential) (optim.Optimizer, func()) { return make(net), func() {} }
	}
	scheduled := func(s optim.Schedule) func(net nn.Sequential) (optim.Optimizer, func()) {
		return func(net nn.Sequential) (optim.Optimizer, func()) {
			opt := optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.2), Momentum: 0.5})
			return opt, optim.NewScheduler(opt, s).Step
		}
	}
	all := map[string]func(net nn.Sequential) (optim.Optimizer, func()){
		"sgd": plain(func(net nn.Sequential) optim.Optimizer { return optim.NewSGD(nn.Params(net)) }),
		"momentum": plain(func(net nn.Sequential) optim.Optimizer {
			return optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1), Momentum: 0.9, Dampening: 0.3, WeightDecay: 0.01})
		}),
		"nesterov": plain(func(net nn.Sequential) optim.Optimizer {
			return optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1), Momentum: 0.9, Nesterov: true})
		}),
		"adam": plain(func(net nn.Sequential) optim.Optimizer { return optim.NewAdam(nn.Params(net)) }),
		"adamw": plain(func(net nn.Sequential) optim.Optimizer {
			return optim.NewAdam(nn.Params(net), optim.AdamOpts{LR: new(0.01), WeightDecay: 0.1, Decoupled: true, AMSGrad: true})
		}),
		"rmsprop": plain(func(net nn.Sequential) optim.Optimizer {
			return optim.NewRMSprop(nn.Params(net), optim.RMSpropOpts{Momentum: 0.5, Centered: true})
		}),
		"adagrad": plain(func(net nn.Sequential) optim.Optimizer {
			return optim.NewAdagrad(nn.Params(net), optim.AdagradOpts{LRDecay: 0.1})
		}),
		"radam": plain(func(net nn.Sequential) optim.Optimizer {
			return optim.NewRAdam(nn.Params(net), optim.RAdamOpts{Beta2: new(0.9)})
		}),
		"adamax":   plain(func(net nn.Sequential) optim.Optimizer { return optim.NewAdamax(nn.Params(net)) }),
		"adadelta": plain(func(net nn.Sequential) optim.Optimizer { return optim.NewAdadelta(nn.Params(net)) }),
		"asgd": plain(func(net nn.Sequential) optim.Optimizer {
			return optim.NewASGD(nn.Params(net), optim.ASGDOpts{Start: new(2.0)})
		}),
		"rprop":     plain(func(net nn.Sequential) optim.Optimizer { return optim.NewRprop(nn.Params(net)) }),
		"adafactor": plain(func(net nn.Sequential) optim.Optimizer { return optim.NewAdafactor(nn.Params(net)) }),
		"lion":      plain(func(net nn.Sequential) optim.Optimizer { return optim.NewLion(nn.Params(net)) }),
		"lamb":      plain(func(net nn.Sequential) optim.Optimizer { return optim.NewLAMB(nn.Params(net)) }),
		"nadam": plain(func(net nn.Sequential) optim.Optimizer {
			return optim.NewNAdam(nn.Params(net), optim.NAdamOpts{WeightDecay: 0.1, Decoupled: true})
		}),
		"groups": plain(func(net nn.Sequential) optim.Optimizer {
			opt := optim.NewAdam(nn.Params(net[0]), optim.AdamOpts{LR: new(0.01)})
			opt.AddGroup(func(yield func(string, *weft.Tensor) bool) {
				for name, p := range nn.Params(net[2]) {
					if !yield("last."+name, p) {
						return
					}
				}
			}, optim.AdamOpts{LR: new(0.03)})
			return opt
		}),
	}
	for name, s := range map[string]optim.Schedule{
		"step decay": optim.StepDecay{Every: 2, Gamma: 0.7}, "multi step": optim.MultiStep{Steps: []int{1, 3, 5}, Gamma: 0.5}, "exponential": optim.Exponential{Gamma: 0.9},
		"cosine": optim.Cosine{Steps: 5, Min: 0.01}, "linear": optim.Linear{Steps: 5, From: 0.1, To: 1}, "one cycle": optim.OneCycle{Steps: 8, Max: 0.3, ThreePhase: true},
		"constant": optim.Constant{Steps: 3, Factor: 0.5}, "polynomial": optim.Polynomial{Steps: 7, Power: new(1.5)}, "warm cosine": optim.WarmCosine{Warm: 2, Steps: 7},
		"restarts": optim.WarmRestarts{Steps: 2, Mult: new(2)}, "cyclic": optim.Cyclic{Min: 0.1, Max: 0.3, Up: new(2), Halve: true}, "chain": optim.Chain{optim.Constant{Steps: 3, Factor: 0.5}, optim.Exponential{Gamma: 0.9}},
		"sequence": optim.Sequence{Schedules: []optim.Schedule{optim.Linear{Steps: 2, From: 0.5, To: 1}, optim.Cosine{Steps: 4}, optim.Exponential{Gamma: 0.5}}, Steps: []int{2, 5}},
	} {
		all[name] = scheduled(s)
	}
	return all
}

// trained is a network, its compiled step and a scheduler's step behind it.
func trained(make func(net nn.Sequential) (optim.Optimizer, func())) (step *weft.Compiled[func(x, y *weft.Tensor) *weft.Tensor], params map[string]*weft.Tensor) {
	weft.Seed(3)
	net := nn.Sequential{nn.NewLinear(4, 5), nn.Tanh{}, nn.NewLinear(5, 3)}
	opt, after := make(net)
	params = map[string]*weft.Tensor{}
	for name, p := range nn.Params(net) {
		params[name] = p
	}
	return weft.Compile(func(x, y *weft.Tensor) *weft.Tensor {
		opt.ZeroGrad()
		loss := nn.CrossEntropy(net.Forward(x), y)
		loss.Backward()
		opt.Step()
		after()
		return loss
	}), params
}

// Steps of a loaded program, which is saved and loaded again between two of them, have the bits of steps
// of the program that wrote it.
func TestSavedStepsOfOptimizers(t *testing.T) {
	weft.Seed(4)
	x, y := weft.Randn(6, 4), weft.Randint(0, 3, 6)
	for name, make := range methods() {
		t.Run(name, func(t *testing.T) {
			step, params := trained(make)
			for range 3 {
				if _, err := step.Call(x, y); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(t.TempDir(), "step.weft")
			if err := step.Save(path, []any{x, y}, weft.SaveOpts{Inputs: []string{"x[n 4]", "y[n]"}, Weights: params}); err != nil {
				t.Fatal(err)
			}
			p, err := weft.LoadProgram(path)
			if err != nil {
				t.Fatal(err)
			}
			steps(t, 3, step, p, x, y)
			if err := p.Save(path); err != nil {
				t.Fatal(err)
			}
			if p, err = weft.LoadProgram(path); err != nil {
				t.Fatal(err)
			}
			steps(t, 3, step, p, x, y)
			for name, w := range params {
				if weft.Digest(p.Tensors()[name]) != weft.Digest(w) {
					t.Errorf("%s differs", name)
				}
			}
		})
	}
}

// A step saved before the first one begins where the optimizer does, and a call that is ended is not counted.
func TestSavedStepFromTheStart(t *testing.T) {
	weft.Seed(4)
	x, y := weft.Randn(6, 4), weft.Randint(0, 3, 6)
	step, _ := trained(methods()["adamw"])
	p := load(t, step, []any{x, y}, weft.SaveOpts{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.CallContext(ctx, x, y); err == nil {
		t.Fatal("a call whose context had ended was made")
	}
	step, _ = trained(methods()["adamw"])
	steps(t, 4, step, p, x, y)
}

// Schedules that are functions of Go are refused with the line of their step.
func TestStepsOfGoSchedulesAreRefused(t *testing.T) {
	x, y := weft.Ones(6, 4), weft.Zeros(6).To(weft.Int64)
	half := optim.Lambda(func(step int) float64 { return 0.5 })
	for name, s := range map[string]optim.Schedule{"lambda": half, "lambda in a sequence": optim.Sequence{Schedules: []optim.Schedule{optim.Exponential{Gamma: 1}, half}, Steps: []int{2}}} {
		step, _ := trained(func(net nn.Sequential) (optim.Optimizer, func()) {
			opt := optim.NewAdam(nn.Params(net))
			return opt, optim.NewScheduler(opt, s).Step
		})
		err := step.Save(filepath.Join(t.TempDir(), "f.weft"), []any{x, y})
		if err == nil || !strings.Contains(err.Error(), "calls back into Go") || !strings.Contains(err.Error(), "Lambda (at ") || !strings.Contains(err.Error(), "steps_test.go") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A program that is saved while it is called has its draws and its tensors of one moment.
func TestSaveWhileDrawing(t *testing.T) {
	g, calls := weft.NewGenerator(5), weft.ZerosOf(weft.Int64)
	f := weft.Compile(func() *weft.Tensor {
		calls.AddAssign(1)
		return g.Rand(4)
	})
	dir := t.TempDir()
	p := load(t, f, nil, weft.SaveOpts{Weights: map[string]*weft.Tensor{"calls": calls}})
	var wg sync.WaitGroup
	var over atomic.Bool
	defer wg.Wait()
	defer over.Store(true)
	for range 4 {
		wg.Go(func() {
			for !over.Load() {
				p.Call()
				f.Call()
			}
		})
	}
	save := map[string]func(path string) error{"program": p.Save, "function": func(path string) error {
		return f.Save(path, nil, weft.SaveOpts{Weights: map[string]*weft.Tensor{"calls": calls}})
	}}
	for range 15 {
		for what, save := range save {
			path := filepath.Join(dir, what+".weft")
			if err := save(path); err != nil {
				t.Fatal(err)
			}
			q, err := weft.LoadProgram(path)
			if err != nil {
				t.Fatal(err)
			}
			want := weft.NewGenerator(5)
			want.SetState(weft.GeneratorState{Seed: want.State().Seed, Draw: uint64(q.Tensors()["calls"].ItemInt())})
			got, err := q.Call()
			if err != nil {
				t.Fatal(err)
			}
			same(t, what, got, []*weft.Tensor{want.Rand(4)})
		}
	}
}
