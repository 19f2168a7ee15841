package main

import (
	"fmt"
	"math"

	"weft"
	"weft/bench/worker"
	"weft/optim"
)

// Training steps; README.md gives the networks. A step is written as a user
// writes it: the temporaries belong to a scope that ends with the step.

const (
	rate         = 0.01
	checkedSteps = 3
)

func init() {
	worker.Cases["mlp step"] = func(p worker.Params) (*worker.Case, error) {
		x := weft.FromSlice(worker.Pattern[float32](p.N*784, 1), p.N, 784)
		w1, b1 := layer(2, 784, 500, 500, 784)
		w2, b2 := layer(3, 500, 10, 10, 500)
		return classifier(p.N, []*weft.Tensor{w1, b1, w2, b2}, func(s *weft.Scope) *weft.Tensor {
			return s.Track(x).Linear(w1, b1).Tanh().Linear(w2, b2)
		}), nil
	}
	worker.Cases["lenet step"] = func(p worker.Params) (*worker.Case, error) {
		x := weft.FromSlice(worker.Pattern[float32](p.N*32*32, 1), p.N, 1, 32, 32)
		w1, b1 := layer(2, 25, 150, 6, 1, 5, 5)
		w2, b2 := layer(3, 150, 400, 16, 6, 5, 5)
		w3, b3 := layer(4, 400, 120, 120, 400)
		w4, b4 := layer(5, 120, 84, 84, 120)
		w5, b5 := layer(6, 84, 10, 10, 84)
		pool := weft.PoolOpts{Window: [2]int{2, 2}}
		params := []*weft.Tensor{w1, b1, w2, b2, w3, b3, w4, b4, w5, b5}
		return classifier(p.N, params, func(s *weft.Scope) *weft.Tensor {
			h := s.Track(x).Conv2d(w1, b1, weft.ConvOpts{}).Tanh().MaxPool2d(pool)
			h = h.Conv2d(w2, b2, weft.ConvOpts{}).Tanh().MaxPool2d(pool).Flatten(1)
			return h.Linear(w3, b3).Tanh().Linear(w4, b4).Tanh().Linear(w5, b5)
		}), nil
	}
	worker.Cases["convnet step"] = func(p worker.Params) (*worker.Case, error) {
		x := weft.FromSlice(worker.Pattern[float32](p.N*256*256, 1), p.N, 1, 256, 256)
		w1, b1 := layer(2, 49, 294, 6, 1, 7, 7)
		w2, b2 := layer(3, 294, 784, 16, 6, 7, 7)
		w3, b3 := layer(4, 16*44*44, 10, 10, 16*44*44)
		pool := weft.PoolOpts{Window: [2]int{5, 5}}
		return classifier(p.N, []*weft.Tensor{w1, b1, w2, b2, w3, b3}, func(s *weft.Scope) *weft.Tensor {
			h := s.Track(x).Conv2d(w1, b1, weft.ConvOpts{}).MaxPool2d(pool).Tanh()
			return h.Conv2d(w2, b2, weft.ConvOpts{}).Tanh().Flatten(1).Linear(w3, b3)
		}), nil
	}
	worker.Cases["logistic step"] = func(p worker.Params) (*worker.Case, error) {
		x := uniform(p.N*784, p.DType, 1, -1, 1, p.N, 784)
		y := random(p.DType, 2, p.N).Gt(0).To(x.DType())
		w, b := uniform(784, p.DType, 3, -0.05, 0.05), weft.ZerosOf(x.DType())
		loss := func(s *weft.Scope) *weft.Tensor {
			z := s.Track(x).MatMul(w).Add(b)
			return weft.Expr("mean(softplus(z)-y*z)+0.01*sum(w*w)", weft.Vars{"z": z, "y": y, "w": w})
		}
		return training(0.1, []*weft.Tensor{w, b}, loss), nil
	}
	worker.Cases["scalar chain"] = func(p worker.Params) (*worker.Case, error) {
		x := weft.ScalarOf(weft.Float32, 0.5).RequireGrad()
		run := func() (y, dx float64) {
			s := weft.NewScope()
			h := s.Track(x)
			for range p.N / 2 {
				h = h.Mul(0.99).Add(0.01)
			}
			h.Backward()
			y, dx = h.Item(), x.Grad().Item()
			x.SetGrad(nil)
			s.Close()
			return y, dx
		}
		return &worker.Case{
			Run:   func() { run() },
			Check: func() []float64 { y, dx := run(); return []float64{y, dx} },
		}, nil
	}
}

// layer returns the weights of a layer, outputs first, and its bias of zeros.
func layer(seed, fanIn, fanOut int, shape ...int) (w, b *weft.Tensor) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	bound := math.Sqrt(6 / float64(fanIn+fanOut))
	return uniform(n, "float32", seed, -bound, bound, shape...), weft.Zeros(shape[0])
}

// classifier is training on a batch of n samples by cross-entropy.
func classifier(n int, params []*weft.Tensor, logits func(s *weft.Scope) *weft.Tensor) *worker.Case {
	y := classes(n)
	return training(rate, params, func(s *weft.Scope) *weft.Tensor { return weft.CrossEntropy(logits(s), y) })
}

func classes(n int) *weft.Tensor {
	p := make([]int64, n)
	for i := range p {
		p[i] = int64(i % 10)
	}
	return weft.FromSlice(p)
}

func training(rate float64, params []*weft.Tensor, forward func(s *weft.Scope) *weft.Tensor) *worker.Case {
	step := stepper(rate, params, true, forward)
	return &worker.Case{
		Run: func() { step() },
		Check: func() []float64 {
			losses := make([]float64, checkedSteps)
			for i := range losses {
				losses[i] = step()
			}
			return losses
		},
	}
}

// stepper returns a training step, which returns the loss; unless scoped, forward
// is given nil and what the step leaves behind is left to the collector.
func stepper(rate float64, params []*weft.Tensor, scoped bool, forward func(s *weft.Scope) *weft.Tensor) func() float64 {
	opt := optim.NewSGD(func(yield func(string, *weft.Tensor) bool) {
		for i, p := range params {
			if !yield(fmt.Sprint(i), p.RequireGrad()) {
				return
			}
		}
	}, optim.SGDOpts{LR: new(rate)})
	return func() float64 {
		var s *weft.Scope
		if scoped {
			s = weft.NewScope()
			defer s.Close()
		}
		l := forward(s)
		l.Backward()
		opt.Step()
		opt.ZeroGrad()
		return l.Item()
	}
}
