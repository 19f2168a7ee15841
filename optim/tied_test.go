package optim_test

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// often yields a parameter under several names, and the last name twice.
func often(w *weft.Tensor, names ...string) iter.Seq2[string, *weft.Tensor] {
	return func(yield func(string, *weft.Tensor) bool) {
		for _, name := range append(names, names[len(names)-1]) {
			if !yield(name, w) {
				return
			}
		}
	}
}

// TestTiedParameter steps a parameter that is given once, under two names, and as a module holds it
// twice: the same weights, and a state under the first name.
func TestTiedParameter(t *testing.T) {
	steps := func(o optim.Optimizer, w *weft.Tensor) []float64 {
		for range 3 {
			o.ZeroGrad()
			w.Square().Sum().Backward()
			o.Step()
		}
		return weft.Data[float64](w.Detach())
	}
	type params = iter.Seq2[string, *weft.Tensor]
	for name, make := range map[string]func(p params) optim.Optimizer{
		"sgd":       func(p params) optim.Optimizer { return optim.NewSGD(p, optim.SGDOpts{LR: new(0.1), Momentum: 0.9}) },
		"adam":      func(p params) optim.Optimizer { return optim.NewAdam(p, optim.AdamOpts{LR: new(0.1)}) },
		"nadam":     func(p params) optim.Optimizer { return optim.NewNAdam(p, optim.NAdamOpts{LR: new(0.1)}) },
		"rmsprop":   func(p params) optim.Optimizer { return optim.NewRMSprop(p, optim.RMSpropOpts{LR: new(0.1)}) },
		"adagrad":   func(p params) optim.Optimizer { return optim.NewAdagrad(p, optim.AdagradOpts{LR: new(0.1)}) },
		"radam":     func(p params) optim.Optimizer { return optim.NewRAdam(p) },
		"adamax":    func(p params) optim.Optimizer { return optim.NewAdamax(p) },
		"adadelta":  func(p params) optim.Optimizer { return optim.NewAdadelta(p) },
		"asgd":      func(p params) optim.Optimizer { return optim.NewASGD(p) },
		"rprop":     func(p params) optim.Optimizer { return optim.NewRprop(p) },
		"adafactor": func(p params) optim.Optimizer { return optim.NewAdafactor(p) },
		"lion":      func(p params) optim.Optimizer { return optim.NewLion(p) },
		"lamb":      func(p params) optim.Optimizer { return optim.NewLAMB(p) },
		"group": func(p params) optim.Optimizer {
			o := optim.NewSGD(only(nn.Param(weft.Ones(1))), optim.SGDOpts{LR: new(0.1)})
			o.AddGroup(p, optim.SGDOpts{})
			return o
		},
	} {
		made := func(f func(w *weft.Tensor) params) ([]float64, []string) {
			w := nn.Param(weft.FromSlice([]float64{1, -2}))
			o := make(f(w))
			return steps(o, w), slices.Sorted(maps.Keys(o.State()))
		}
		want, state := made(func(w *weft.Tensor) params { return often(w, "a") })
		for how, f := range map[string]func(w *weft.Tensor) params{
			"two names": func(w *weft.Tensor) params { return often(w, "a", "b") },
			"module":    func(w *weft.Tensor) params { return nn.Params(&struct{ A, B *weft.Tensor }{w, w}) },
		} {
			if got, names := made(f); !slices.Equal(got, want) || !slices.Equal(names, state) {
				t.Errorf("%s of %s: %v with the state %v, want %v with %v", name, how, got, names, want, state)
			}
		}
	}

	w := nn.Param(weft.FromSlice([]float64{3, 4}))
	l := optim.NewLBFGS(often(w, "a", "b"), optim.LBFGSOpts{})
	l.Step(func() *weft.Tensor {
		l.ZeroGrad()
		loss := w.Square().Sum()
		loss.Backward()
		return loss
	})
	if got := l.State()["gradient"].Size(); got != 2 || w.Square().Sum().Item() > 1e-10 {
		t.Errorf("LBFGS: a gradient of %d numbers, and %v is the least", got, w)
	}
	w.SetGrad(weft.FromSlice([]float64{3, 4}))
	if got := optim.ClipNorm(often(w, "a", "b"), 100); got != 5 {
		t.Errorf("the norm of [3 4] given twice is %v", got)
	}
}

func only(w *weft.Tensor) iter.Seq2[string, *weft.Tensor] { return nn.Params([]*weft.Tensor{w}) }

// TestParameterInTwoGroups is an error that names both, and leaves the optimizer as it was.
func TestParameterInTwoGroups(t *testing.T) {
	w, v := nn.Param(weft.Ones(1)), nn.Param(weft.Ones(1))
	o := optim.NewSGD(often(w, "a"), optim.SGDOpts{LR: new(0.5)})
	both := func(yield func(string, *weft.Tensor) bool) { _ = yield("v", v) && yield("b", w) }
	err := weft.Try(func() { o.AddGroup(both, optim.SGDOpts{}) })
	var e *weft.Error
	if !errors.As(err, &e) || e.Op != "sgd" || e.Arg != "params" || e.Msg != `"b" is in another group already, as "a": it would be stepped twice` {
		t.Fatalf("%v", err)
	}
	w.SetGrad(weft.Ones(1))
	v.SetGrad(weft.Ones(1))
	o.Step()
	if w.Item() != 0.5 || v.Item() != 1 {
		t.Errorf("after the error a step gives %v and %v, want 0.5 and 1", w.Item(), v.Item())
	}
}
