package optim_test

import (
	"math"
	"testing"

	"weft"
	"weft/optim"
)

// one is the parameters of one tensor named w.
func one(w *weft.Tensor) func(func(string, *weft.Tensor) bool) {
	return func(yield func(string, *weft.Tensor) bool) { yield("w", w) }
}

// gradients are what every optimizer is fed, step by step.
var gradients = [][]float64{{0.5, -1, 0.25}, {0.1, 0.2, -3}, {0, 1, 1}, {-0.7, 0.3, 2}, {1e-3, -1e-3, 0}, {2, 2, 2}}

var start = []float64{1, -2, 3}

// check runs an optimizer over the gradients and compares the parameter after
// every step with what the formula gives for one number.
func check(t *testing.T, opt func(p func(func(string, *weft.Tensor) bool)) optim.Optimizer, formula func() func(w, g float64) float64) {
	t.Helper()
	w := weft.FromSlice(append([]float64{}, start...)).RequireGrad()
	o := opt(one(w))
	want := append([]float64{}, start...)
	f := make([]func(w, g float64) float64, len(want))
	for i := range f {
		f[i] = formula()
	}
	for step, g := range gradients {
		w.SetGrad(weft.FromSlice(g))
		o.Step()
		for i := range want {
			want[i] = f[i](want[i], g[i])
		}
		for i, got := range weft.Data[float64](w) {
			if math.Abs(got-want[i]) > 1e-12 {
				t.Fatalf("step %d: element %d is %v, want %v", step, i, got, want[i])
			}
		}
	}
}

func TestSGD(t *testing.T) {
	for name, o := range map[string]optim.SGDOpts{
		"plain":    {LR: new(0.1)},
		"decay":    {LR: new(0.1), WeightDecay: 0.02},
		"momentum": {LR: new(0.05), Momentum: 0.9},
		"all":      {LR: new(0.05), Momentum: 0.8, WeightDecay: 0.01},
		"nesterov": {LR: new(0.05), Momentum: 0.8, WeightDecay: 0.01, Nesterov: true},
	} {
		t.Run(name, func(t *testing.T) {
			check(t,
				func(p func(func(string, *weft.Tensor) bool)) optim.Optimizer { return optim.NewSGD(p, o) },
				func() func(w, g float64) float64 {
					v, first := 0.0, true
					return func(w, g float64) float64 {
						g += o.WeightDecay * w
						if o.Momentum != 0 {
							if v = o.Momentum*v + g; first { // PyTorch begins with the gradient itself
								v, first = g, false
							}
							if o.Nesterov {
								g += o.Momentum * v
							} else {
								g = v
							}
						}
						return w - *o.LR*g
					}
				})
		})
	}
}

// TestSGDComplex goes down the gradient of a sum of squared magnitudes, 2w in PyTorch's convention.
func TestSGDComplex(t *testing.T) {
	w := weft.FromSlice([]complex128{1 + 2i, -3i}).RequireGrad()
	w.SetGrad(weft.FromSlice([]complex128{2 + 4i, -6i}))
	optim.NewSGD(one(w), optim.SGDOpts{LR: new(0.25)}).Step()
	if got := weft.Data[complex128](w); got[0] != 0.5+1i || got[1] != -1.5i {
		t.Errorf("%v", got)
	}
}

func TestSetLR(t *testing.T) {
	w := weft.FromSlice([]float32{1}).RequireGrad()
	o := optim.NewSGD(one(w), optim.SGDOpts{LR: new(0.5)})
	w.SetGrad(weft.FromSlice([]float32{1}))
	o.Step()
	o.SetLR(0.25)
	o.Step()
	if got := w.Item(); got != 0.25 || o.LR() != 0.25 {
		t.Errorf("w is %v, LR %v", got, o.LR())
	}
	if err := weft.Try(func() { o.SetLR(math.NaN()) }); err == nil {
		t.Error("a learning rate of NaN is taken")
	}
	o.ZeroGrad()
	if w.Grad() != nil {
		t.Error("ZeroGrad left a gradient")
	}
	o.Step()
	if got := w.Item(); got != 0.25 {
		t.Errorf("a parameter without gradient changed to %v", got)
	}
}
