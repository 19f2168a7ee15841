package optim

import (
	"fmt"
	"iter"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/device"
	"weft/internal/par"
	"weft/internal/tensortest"
)

// many returns n parameters of mixed sizes with gradients, from 64 to 65,536 elements each.
func many(n int) map[string]*weft.Tensor {
	g := weft.NewGenerator(3)
	ps := map[string]*weft.Tensor{}
	for i := range n {
		size := 64 << (i * 7 % 11)
		w := g.Randn(size).RequireGrad()
		w.SetGrad(g.Randn(size))
		ps[fmt.Sprintf("%02d", i)] = w
	}
	return ps
}

func all(ps map[string]*weft.Tensor) func(func(string, *weft.Tensor) bool) {
	return func(yield func(string, *weft.Tensor) bool) {
		for i := range len(ps) {
			if name := fmt.Sprintf("%02d", i); !yield(name, ps[name]) {
				return
			}
		}
	}
}

// TestStepWakesThreadsOnce holds the promise that parameters share one hand-off to the threads.
func TestStepWakesThreadsOnce(t *testing.T) {
	tensortest.SkipLate(t, "it hands launches over one by one")
	defer par.SetThreads(par.SetThreads(2))
	ps := many(40)
	for name, o := range map[string]Optimizer{
		"sgd":      NewSGD(all(ps), SGDOpts{LR: new(0.1)}),
		"momentum": NewSGD(all(ps), SGDOpts{LR: new(0.1), Momentum: 0.9}),
		"nesterov": NewSGD(all(ps), SGDOpts{LR: new(0.1), Momentum: 0.9, Nesterov: true}),
		"adam":     NewAdam(all(ps), AdamOpts{LR: new(0.1)}),
		"adamw":    NewAdam(all(ps), AdamOpts{LR: new(0.1), WeightDecay: 0.1, Decoupled: true}),
		"amsgrad":  NewAdam(all(ps), AdamOpts{LR: new(0.1), AMSGrad: true}),
		"nadam":    NewNAdam(all(ps), NAdamOpts{LR: new(0.1)}),
		"rmsprop":  NewRMSprop(all(ps), RMSpropOpts{LR: new(0.1), Momentum: 0.9, Centered: true}),
		"adagrad":  NewAdagrad(all(ps), AdagradOpts{LR: new(0.1)}),
		"radam":    NewRAdam(all(ps)),
		"adamax":   NewAdamax(all(ps)),
		"adadelta": NewAdadelta(all(ps)),
		"asgd":     NewASGD(all(ps)),
		"rprop":    NewRprop(all(ps)),
		"lion":     NewLion(all(ps)),
	} {
		o.Step()
		threaded, grouped := device.Get(0).Counters().Threaded.Load(), device.Get(0).Counters().Grouped.Load()
		o.Step()
		threaded, grouped = device.Get(0).Counters().Threaded.Load()-threaded, device.Get(0).Counters().Grouped.Load()-grouped
		if threaded != 1 || grouped != 40 {
			t.Errorf("%s: %d hand-offs, shared by %d launches, want 1 by 40", name, threaded, grouped)
		}
	}
}

// TestAverageWakesThreadsOnce holds the promise that an update is one launch.
func TestAverageWakesThreadsOnce(t *testing.T) {
	tensortest.SkipLate(t, "it hands launches over one by one")
	defer par.SetThreads(par.SetThreads(2))
	a := NewAverage(all(many(40)), all(many(40)), AverageOpts{Decay: new(0.9)})
	a.Update()
	threaded, grouped := device.Get(0).Counters().Threaded.Load(), device.Get(0).Counters().Grouped.Load()
	a.Update()
	if threaded, grouped = device.Get(0).Counters().Threaded.Load()-threaded, device.Get(0).Counters().Grouped.Load()-grouped; threaded != 1 || grouped != 40 {
		t.Errorf("%d hand-offs, shared by %d launches, want 1 by 40", threaded, grouped)
	}
}

// TestStepOfAllMatchesStepOfEach steps forty parameters together and each alone; some have no
// gradient in some steps.
func TestStepOfAllMatchesStepOfEach(t *testing.T) {
	for name, make := range map[string]func(iter.Seq2[string, *weft.Tensor]) Optimizer{
		"sgd": func(ps iter.Seq2[string, *weft.Tensor]) Optimizer {
			return NewSGD(ps, SGDOpts{LR: new(0.1), WeightDecay: 0.01})
		},
		"nesterov": func(ps iter.Seq2[string, *weft.Tensor]) Optimizer {
			return NewSGD(ps, SGDOpts{LR: new(0.1), Momentum: 0.9, Nesterov: true})
		},
		"adam":  func(ps iter.Seq2[string, *weft.Tensor]) Optimizer { return NewAdam(ps, AdamOpts{LR: new(0.1)}) },
		"nadam": func(ps iter.Seq2[string, *weft.Tensor]) Optimizer { return NewNAdam(ps, NAdamOpts{LR: new(0.1)}) },
		"adagrad": func(ps iter.Seq2[string, *weft.Tensor]) Optimizer {
			return NewAdagrad(ps, AdagradOpts{LR: new(0.1), LRDecay: 0.1})
		},
		"asgd":      func(ps iter.Seq2[string, *weft.Tensor]) Optimizer { return NewASGD(ps, ASGDOpts{Start: new(1.0)}) },
		"adafactor": func(ps iter.Seq2[string, *weft.Tensor]) Optimizer { return NewAdafactor(ps) },
		"lamb":      func(ps iter.Seq2[string, *weft.Tensor]) Optimizer { return NewLAMB(ps) },
	} {
		for _, threads := range []int{1, 2, 5} {
			old := par.SetThreads(threads)
			together, alone := many(40), many(40)
			whole := make(all(together))
			var parts []Optimizer
			for name, p := range all(alone) {
				parts = append(parts, make(func(yield func(string, *weft.Tensor) bool) { yield(name, p) }))
			}
			for step := range 4 {
				for _, ps := range []map[string]*weft.Tensor{together, alone} {
					g := weft.NewGenerator(uint64(step))
					i := 0
					for _, p := range all(ps) {
						if p.SetGrad(g.Randn(p.Shape()...)); i%7 == step {
							p.SetGrad(nil)
						}
						i++
					}
				}
				whole.Step()
				for _, o := range parts {
					o.Step()
				}
			}
			par.SetThreads(old)
			if weft.DigestNamed(all(together)) != weft.DigestNamed(all(alone)) {
				t.Errorf("%s, %d threads: other parameters together than each alone", name, threads)
			}
			if got := whole.State()["steps.00"].ItemInt(); got != 3 {
				t.Errorf("%s: a parameter with three gradients took %d steps", name, got)
			}
		}
	}
}

// BenchmarkAdam steps forty parameters, 475,264 elements, formula by formula and together.
func BenchmarkAdam(b *testing.B) {
	ps := many(40)
	a := NewAdam(all(ps), AdamOpts{LR: new(1e-3)})
	a.Step()
	var dst [][]*core.Tensor
	var args [][]core.Operand
	for p := range a.all() {
		dst = append(dst, p.places(nil))
		args = append(args, p.kept(numbers([]core.Operand{operand(p.w), operand(p.t.Grad().Detach())}, 0.0, 1.0, 1.0, 0.9, 0.1, 0.999, 0.001, 1.0, 1e-8, 1e-3)))
	}
	for _, threads := range []int{1, 2} {
		for name, step := range map[string]func(){
			"Into": func() {
				for i := range dst {
					adam.Into(dst[i], args[i])
				}
			},
			"IntoAll": func() {
				adam.IntoAll(func(yield func([]*core.Tensor, []core.Operand) bool) {
					for i := range dst {
						yield(dst[i], args[i])
					}
				})
			},
			"Step": a.Step,
		} {
			b.Run(fmt.Sprintf("%s/%dthreads", name, threads), func(b *testing.B) {
				defer par.SetThreads(par.SetThreads(threads))
				b.ReportAllocs()
				for b.Loop() {
					step()
				}
			})
		}
	}
}
