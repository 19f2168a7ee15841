package main

import (
	"maps"
	"math"
	"slices"

	"weft"
	"weft/bench/worker"
	"weft/nn"
	"weft/optim"
)

// Layers of package nn, forward and backward to inputs and parameters, and a step of a
// recommender that reads a few rows of two tables.

func init() {
	lstm := func(layers, in, hidden, steps int) func(p worker.Params) (*worker.Case, error) {
		return func(p worker.Params) (*worker.Case, error) {
			l := nn.NewLSTM(in, hidden, nn.RNNOpts{Layers: new(layers)})
			return layerCase(l, l.Forward, random(p.DType, 1, steps, p.N, in)), nil
		}
	}
	worker.Cases["lstm 2x512 and back"] = lstm(2, 512, 512, 25)
	worker.Cases["lstm 64 to 128 and back"] = lstm(1, 64, 128, 50)
	worker.Cases["batch norm 64x28^2 and back"] = func(p worker.Params) (*worker.Case, error) {
		l := nn.NewBatchNorm2d(64)
		return layerCase(l, l.Forward, random(p.DType, 1, p.N, 64, 28, 28)), nil
	}
	worker.Cases["layer norm 512 and back"] = func(p worker.Params) (*worker.Case, error) {
		l := nn.NewLayerNorm([]int{512})
		return layerCase(l, l.Forward, random(p.DType, 1, p.N, 512)), nil
	}
	attention := func(length int, causal bool) func(p worker.Params) (*worker.Case, error) {
		return func(p worker.Params) (*worker.Case, error) {
			qkv := random(p.DType, 1, 3, p.N, 8, length, 64)
			return layerCase(nil, func(x *weft.Tensor) *weft.Tensor {
				parts := x.Unbind(0)
				return nn.ScaledDotProductAttention(parts[0], parts[1], parts[2], nn.AttentionOpts{Causal: causal})
			}, qkv), nil
		}
	}
	worker.Cases["attention 8x256x64 and back"] = attention(256, false)
	worker.Cases["causal attention 8x1024x64 and back"] = attention(1024, true)
	worker.Cases["recommender step"] = func(p worker.Params) (*worker.Case, error) {
		const rows, width = 100_000, 64
		users, items := table(rows, width, 2), table(rows, width, 3)
		u, i := indices(p.N, 4, rows), indices(p.N, 5, rows)
		y := random(p.DType, 6, p.N).Gt(0).To(weft.Float32)
		opt := optim.NewAdam(nn.Params([]any{users, items}), optim.AdamOpts{LR: new(rate), Sparse: true})
		step := func() float64 {
			s := weft.NewScope()
			defer s.Close()
			z := s.Track(users.Forward(u)).Mul(items.Forward(i)).Sum(1)
			l := nn.BCEWithLogits(z, y)
			opt.ZeroGrad()
			l.Backward()
			opt.Step()
			return l.Item()
		}
		return &worker.Case{
			Run: func() { step() },
			Check: func() []float64 {
				losses := make([]float64, checkedSteps)
				for i := range losses {
					losses[i] = step()
				}
				return losses
			},
		}, nil
	}
}

func table(rows, width, seed int) *nn.Embedding {
	return &nn.Embedding{Weight: nn.Param(uniform(rows*width, "float32", seed, -0.1, 0.1, rows, width)), Sparse: true}
}

// layerCase is a pass through a layer and back.
func layerCase(l nn.Layer, f func(x *weft.Tensor) *weft.Tensor, x *weft.Tensor) *worker.Case {
	wrt := []*weft.Tensor{x.RequireGrad()}
	if l != nil {
		params := maps.Collect(nn.Params(l))
		for i, name := range slices.Sorted(maps.Keys(params)) {
			p := params[name]
			if p.Rank() > 1 {
				bound := 1 / math.Sqrt(float64(p.Dim(1)))
				p.Detach().Assign(uniform(p.Size(), "float32", 10+i, -bound, bound, p.Shape()...))
			} else if _, ok := l.(*nn.LSTM); ok {
				p.Detach().Zero()
			}
			wrt = append(wrt, p)
		}
	}
	s := weft.NewScope()
	dy := random("float32", 2, f(s.Track(x)).Shape()...)
	s.Close()
	run := func(use func(y *weft.Tensor, grads []*weft.Tensor)) {
		s := weft.NewScope()
		defer s.Close()
		y := f(s.Track(x))
		weft.BackwardWith([]*weft.Tensor{y}, weft.GradOpts{Seeds: []*weft.Tensor{dy}})
		if use != nil {
			var grads []*weft.Tensor
			for _, t := range wrt {
				grads = append(grads, t.Grad())
			}
			use(y, grads)
		}
		for _, t := range wrt {
			t.SetGrad(nil)
		}
	}
	return &worker.Case{
		Run: func() { run(nil) },
		Check: func() (out []float64) {
			run(func(y *weft.Tensor, grads []*weft.Tensor) {
				out = slices.Concat(summary(y.Detach()), summary(grads[0].Detach()))
			})
			return out
		},
	}
}
