package main

import (
	"fmt"
	"iter"

	"weft"
	"weft/bench/worker"
	"weft/optim"
)

// Whole training steps as compiled functions; the yardstick is the same step, eager, in a
// scope. Both train parameters of their own from the same start.

// A net is parameters and what becomes of a batch.
type net struct {
	params []*weft.Tensor
	loss   func(x, y *weft.Tensor) *weft.Tensor
	x, y   *weft.Tensor
	rate   float64
}

func init() {
	compiledStep("compiled mlp step", mlpNet)
	compiledStep("compiled deep mlp step", func(p worker.Params) net {
		sizes := []int{784, 1000, 1000, 1000, 10}
		var params []*weft.Tensor
		for i, n := range sizes[1:] {
			w, b := layer(2+i, sizes[i], n, n, sizes[i])
			params = append(params, w, b)
		}
		return net{params, func(x, y *weft.Tensor) *weft.Tensor {
			for i := 0; i < len(params); i += 2 {
				if i > 0 {
					x = x.Tanh()
				}
				x = x.Linear(params[i], params[i+1])
			}
			return weft.CrossEntropy(x, y)
		}, weft.FromSlice(worker.Pattern[float32](p.N*784, 1), p.N, 784), classes(p.N), rate}
	})
	compiledStep("compiled lenet step", func(p worker.Params) net {
		w1, b1 := layer(2, 25, 150, 6, 1, 5, 5)
		w2, b2 := layer(3, 150, 400, 16, 6, 5, 5)
		w3, b3 := layer(4, 400, 120, 120, 400)
		w4, b4 := layer(5, 120, 84, 84, 120)
		w5, b5 := layer(6, 84, 10, 10, 84)
		pool := weft.PoolOpts{Window: [2]int{2, 2}}
		return net{[]*weft.Tensor{w1, b1, w2, b2, w3, b3, w4, b4, w5, b5}, func(x, y *weft.Tensor) *weft.Tensor {
			h := x.Conv2d(w1, b1, weft.ConvOpts{}).Tanh().MaxPool2d(pool)
			h = h.Conv2d(w2, b2, weft.ConvOpts{}).Tanh().MaxPool2d(pool).Flatten(1)
			return weft.CrossEntropy(h.Linear(w3, b3).Tanh().Linear(w4, b4).Tanh().Linear(w5, b5), y)
		}, weft.FromSlice(worker.Pattern[float32](p.N*32*32, 1), p.N, 1, 32, 32), classes(p.N), rate}
	})
	compiledStep("compiled logistic step", func(p worker.Params) net {
		x := uniform(p.N*784, p.DType, 1, -1, 1, p.N, 784)
		w, b := uniform(784, p.DType, 3, -0.05, 0.05), weft.ZerosOf(x.DType())
		return net{[]*weft.Tensor{w, b}, func(x, y *weft.Tensor) *weft.Tensor {
			return weft.Expr("mean(softplus(z)-y*z)+0.01*sum(w*w)", weft.Vars{"z": x.MatMul(w).Add(b), "y": y, "w": w})
		}, x, random(p.DType, 2, p.N).Gt(0).To(x.DType()), 0.1}
	})
	worker.Cases["compiled call"] = func(p worker.Params) (*worker.Case, error) {
		f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Mul(2).Add(1) })
		x := uniform(p.N, "float32", 1, -1, 1)
		return &worker.Case{Run: func() {
			if _, err := f.Call(x); err != nil {
				panic(err)
			}
		}}, nil
	}
}

func mlpNet(p worker.Params) net {
	w1, b1 := layer(2, 784, 500, 500, 784)
	w2, b2 := layer(3, 500, 10, 10, 500)
	return net{[]*weft.Tensor{w1, b1, w2, b2}, func(x, y *weft.Tensor) *weft.Tensor {
		return weft.CrossEntropy(x.Linear(w1, b1).Tanh().Linear(w2, b2), y)
	}, weft.FromSlice(worker.Pattern[float32](p.N*784, 1), p.N, 784), classes(p.N), rate}
}

// compiledStep registers the training of what make makes.
func compiledStep(name string, make func(p worker.Params) net) {
	worker.Also[name] = append(worker.Also[name], yardstick)
	worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
		a, b := make(p), make(p)
		step := weft.Compile(a.step())
		run := func() float64 {
			l, err := step.Call(a.x, a.y)
			if err != nil {
				panic(err)
			}
			return l.Item()
		}
		eager := b.step()
		return &worker.Case{
			Run: func() { run() },
			Also: map[string]func(){yardstick: func() {
				s := weft.NewScope()
				defer s.Close()
				eager(s.Track(b.x), b.y).Item()
			}},
			Check: func() []float64 {
				var losses [checkedSteps]float64
				for i := range losses {
					losses[i] = run()
				}
				return losses[:]
			},
		}, nil
	}
}

// step is a step of training.
func (n net) step() func(x, y *weft.Tensor) *weft.Tensor {
	opt := optim.NewSGD(named(n.params), optim.SGDOpts{LR: new(n.rate)})
	return func(x, y *weft.Tensor) *weft.Tensor {
		l := n.loss(x, y)
		l.Backward()
		opt.Step()
		opt.ZeroGrad()
		return l
	}
}

// named marks parameters and gives them names.
func named(params []*weft.Tensor) iter.Seq2[string, *weft.Tensor] {
	return func(yield func(string, *weft.Tensor) bool) {
		for i, p := range params {
			if !yield(fmt.Sprint(i), p.RequireGrad()) {
				return
			}
		}
	}
}
