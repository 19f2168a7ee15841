package main

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"weft"
	"weft/bench/worker"
	"weft/optim"
)

// Works of routines in shapes that are not the usual ones: windows that overlap and means
// of windows, pictures whose channels change places, kernels and pictures that are not square,
// products by a vector, and steps over many small parameters.

func init() {
	for name, c := range map[string]struct {
		channels, size, window, stride, padding int
		max                                     bool
	}{
		"max pool 64x56^2 3x3 by 2 and back": {64, 56, 3, 2, 1, true},
		"max pool 64x28^2 3x3 by 1 and back": {64, 28, 3, 1, 1, true},
		"avg pool 64x28^2 2x2 and back":      {64, 28, 2, 2, 0, false},
		"avg pool 64x56^2 3x3 by 2 and back": {64, 56, 3, 2, 1, false},
	} {
		worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
			o := weft.PoolOpts{Window: [2]int{c.window, c.window}, Stride: new([2]int{c.stride, c.stride}), Padding: [2]int{c.padding, c.padding}}
			return backCase(4, func(x *weft.Tensor) *weft.Tensor {
				if c.max {
					return x.MaxPool2d(o)
				}
				return x.AvgPool2d(o)
			}, random(p.DType, 1, p.N, c.channels, c.size, c.size)), nil
		}
	}
	for name, c := range map[string]struct{ channels, size int }{"3x224^2": {3, 224}, "4x224^2": {4, 224}, "16x56^2": {16, 56}} {
		eager("to channels first "+name, func(p worker.Params) func() *weft.Tensor {
			x := elements(p.N*c.size*c.size*c.channels, p.DType, 1).Reshape(p.N, c.size, c.size, c.channels).Permute(0, 3, 1, 2)
			return func() *weft.Tensor { return x.Contiguous() }
		})
		eager("to channels last "+name, func(p worker.Params) func() *weft.Tensor {
			x := elements(p.N*c.size*c.size*c.channels, p.DType, 1).Reshape(p.N, c.channels, c.size, c.size).Permute(0, 2, 3, 1)
			return func() *weft.Tensor { return x.Contiguous() }
		})
	}
	for name, c := range map[string]struct {
		in, h, w, out, kh, kw int
	}{
		"conv 64x56^2 to 64 3x1":  {64, 56, 56, 64, 3, 1},
		"conv 16x56^2 to 32 5x5":  {16, 56, 56, 32, 5, 5},
		"conv 64x4x224 to 64 3x3": {64, 4, 224, 64, 3, 3},
	} {
		inputs := func(p worker.Params) (x, w, b *weft.Tensor, o weft.ConvOpts) {
			o = weft.ConvOpts{Padding: [2]int{c.kh / 2, c.kw / 2}}
			return random(p.DType, 1, p.N, c.in, c.h, c.w), random(p.DType, 2, c.out, c.in, c.kh, c.kw), random(p.DType, 3, c.out), o
		}
		eager(name, func(p worker.Params) func() *weft.Tensor {
			x, w, b, o := inputs(p)
			return func() *weft.Tensor { return x.Conv2d(w, b, o) }
		})
		worker.Cases[name+" and back"] = func(p worker.Params) (*worker.Case, error) {
			x, w, b, o := inputs(p)
			return backCase(4, func(x *weft.Tensor) *weft.Tensor { return x.Conv2d(w, b, o) }, x, w), nil
		}
	}
	for _, s := range [][3]int{{1000, 1000, 1}, {1, 1000, 1000}} {
		eager(fmt.Sprintf("matmul %dx%dx%d", s[0], s[1], s[2]), func(p worker.Params) func() *weft.Tensor {
			return product(p, []int{s[0], s[1]}, []int{s[1], s[2]})
		})
	}
	// steps adds a case: steps of an optimizer over n parameters whose gradients stay as they are.
	steps := func(name string, size int, optimizer func(params iter.Seq2[string, *weft.Tensor]) interface{ Step() }) {
		worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
			params := make([]*weft.Tensor, p.N)
			for i := range params {
				params[i] = uniform(size, p.DType, 1+i, -1, 1).RequireGrad()
				params[i].SetGrad(uniform(size, p.DType, 1001+i, -1, 1))
			}
			opt := optimizer(named(params))
			return &worker.Case{
				Run: opt.Step,
				Check: func() []float64 {
					for range checkedSteps {
						opt.Step()
					}
					return slices.Concat(summary(params[0].Detach()), summary(params[p.N-1].Detach()))
				},
			}, nil
		}
	}
	steps("sgd with momentum of 1e5", 100_000, func(params iter.Seq2[string, *weft.Tensor]) interface{ Step() } {
		return optim.NewSGD(params, optim.SGDOpts{LR: new(rate), Momentum: 0.9})
	})
	adam := func(params iter.Seq2[string, *weft.Tensor]) interface{ Step() } {
		return optim.NewAdam(params, optim.AdamOpts{LR: new(0.001)})
	}
	steps("adam of 1e4", 10_000, adam)
	steps("adam of 1e5", 100_000, adam)
	steps("lion of 1e5", 100_000, func(params iter.Seq2[string, *weft.Tensor]) interface{ Step() } {
		return optim.NewLion(params, optim.LionOpts{LR: new(0.001)})
	})
	worker.Cases["ema of 1e5"] = func(p worker.Params) (*worker.Case, error) {
		means, params := make([]*weft.Tensor, p.N), make([]*weft.Tensor, p.N)
		for i := range params {
			means[i], params[i] = weft.ZerosOf(weft.Float32, 100_000), uniform(100_000, p.DType, 1+i, -1, 1)
		}
		a := optim.NewAverage(named(means), named(params), optim.AverageOpts{Decay: new(0.9)})
		return &worker.Case{
			Run: a.Update,
			Check: func() []float64 {
				for range checkedSteps {
					a.Update()
				}
				return slices.Concat(summary(means[0]), summary(means[p.N-1]))
			},
		}, nil
	}
}

// backCase is f of wrt[0] and back to all of wrt, with a seed for the gradient of the result.
// It checks the result and the gradients. Gradients after the first are divided by the root of the
// number of terms in their sums.
func backCase(seed int, f func(x *weft.Tensor) *weft.Tensor, wrt ...*weft.Tensor) *worker.Case {
	for _, t := range wrt {
		t.RequireGrad()
	}
	y := f(wrt[0])
	dy := random(wrt[0].DType().String(), seed, y.Shape()...)
	scale := 1 / math.Sqrt(float64(y.Size()/y.Dim(1)))
	y.Release()
	run := func() []*weft.Tensor {
		y := f(wrt[0])
		return append(weft.GradAll([]*weft.Tensor{y}, wrt, weft.GradOpts{Seeds: []*weft.Tensor{dy}}), y)
	}
	return &worker.Case{
		Run: func() {
			for _, t := range run() {
				t.Release()
			}
		},
		Check: func() (s []float64) {
			for i, t := range run() {
				if i > 0 && i < len(wrt) {
					t = t.Mul(scale)
				}
				s = slices.Concat(s, summary(t.Detach()))
			}
			return s
		},
	}
}
