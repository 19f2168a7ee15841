package weft_test

import (
	"fmt"
	"iter"
	"maps"
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// A model is a function to train, made anew for each way to run it.
type model struct {
	module  any
	forward func(x *weft.Tensor) *weft.Tensor
	loss    func(y, target *weft.Tensor) *weft.Tensor
	batch   func(g *weft.Generator, n int) (x, target *weft.Tensor)
}

func classes(c int, shape ...int) func(g *weft.Generator, n int) (x, target *weft.Tensor) {
	return func(g *weft.Generator, n int) (x, target *weft.Tensor) {
		return g.Randn(append([]int{n}, shape...)...), g.Randint(0, int64(c), n)
	}
}

func crossEntropy(y, target *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(y, target) }

// models are those of the examples and of the tests of layers, small.
var models = map[string]func(g *weft.Generator) model{
	"logistic": func(g *weft.Generator) model {
		m := &struct{ L *nn.Linear }{nn.NewLinear(7, 1, nn.Opts{Generator: g})}
		return model{m, m.L.Forward, func(y, t *weft.Tensor) *weft.Tensor { return nn.BCEWithLogits(y.Flatten(0), t.To(weft.Float32)) }, classes(2, 7)}
	},
	"mlp": func(g *weft.Generator) model {
		m := &struct{ A, B *nn.Linear }{nn.NewLinear(12, 9, nn.Opts{Generator: g}), nn.NewLinear(9, 4, nn.Opts{Generator: g})}
		return model{m, func(x *weft.Tensor) *weft.Tensor { return m.B.Forward(m.A.Forward(x).Relu()) }, crossEntropy, classes(4, 12)}
	},
	"lenet": func(g *weft.Generator) model {
		o := nn.Conv2dOpts{Opts: nn.Opts{Generator: g}}
		m := &struct {
			A, B *nn.Conv2d
			C    *nn.Linear
		}{nn.NewConv2d(1, 3, 3, o), nn.NewConv2d(3, 4, 3, o), nn.NewLinear(4*2*2, 5, nn.Opts{Generator: g})}
		pool := weft.PoolOpts{Window: [2]int{2, 2}}
		return model{m, func(x *weft.Tensor) *weft.Tensor {
			x = m.A.Forward(x).Tanh().MaxPool2d(pool)
			return m.C.Forward(m.B.Forward(x).Relu().AvgPool2d(pool).Flatten(1))
		}, crossEntropy, classes(5, 1, 14, 14)}
	},
	"batch norm and dropout": func(g *weft.Generator) model {
		m := &struct {
			A, B *nn.Linear
			N    *nn.BatchNorm1d
		}{nn.NewLinear(6, 8, nn.Opts{Generator: g}), nn.NewLinear(8, 3, nn.Opts{Generator: g}), nn.NewBatchNorm1d(8)}
		draws := weft.NewGenerator(77)
		return model{m, func(x *weft.Tensor) *weft.Tensor {
			return m.B.Forward(m.N.Forward(m.A.Forward(x)).Gelu().Dropout(0.4, draws))
		}, crossEntropy, classes(3, 6)}
	},
	"layer norm, noise": func(g *weft.Generator) model {
		m := &struct {
			A *nn.Linear
			N *nn.LayerNorm
		}{nn.NewLinear(6, 3, nn.Opts{Generator: g}), nn.NewLayerNorm([]int{6})}
		draws := weft.NewGenerator(78)
		return model{m, func(x *weft.Tensor) *weft.Tensor {
			return m.A.Forward(m.N.Forward(x.Add(draws.Randn(x.Shape()...).Mul(0.1))))
		}, crossEntropy, classes(3, 6)}
	},
	"lstm": func(g *weft.Generator) model {
		m := &struct {
			R *nn.LSTM
			L *nn.Linear
		}{nn.NewLSTM(4, 5, nn.RNNOpts{Generator: g}), nn.NewLinear(5, 3, nn.Opts{Generator: g})}
		return model{m, func(x *weft.Tensor) *weft.Tensor {
			y, _, _ := m.R.Run(x.Transpose(0, 1), nil, nil)
			return m.L.Forward(y.Slice(weft.Index(-1)))
		}, crossEntropy, classes(3, 6, 4)}
	},
	"unrolled": func(g *weft.Generator) model {
		m := &struct{ In, Rec, Out *nn.Linear }{nn.NewLinear(4, 5, nn.Opts{Generator: g}), nn.NewLinear(5, 5, nn.Opts{Generator: g}), nn.NewLinear(5, 3, nn.Opts{Generator: g})}
		return model{m, func(x *weft.Tensor) *weft.Tensor {
			h := weft.Zeros(x.Dim(0), 5)
			all := weft.Zeros(x.Dim(1), x.Dim(0), 5)
			for i := range x.Dim(1) {
				h = m.In.Forward(x.Slice(weft.All, weft.Index(i))).Add(m.Rec.Forward(h)).Tanh()
				all.Slice(weft.Index(i)).Assign(h)
			}
			return m.Out.Forward(all.Mean(0))
		}, crossEntropy, classes(3, 6, 4)}
	},
	"embedding": func(g *weft.Generator) model {
		m := &struct {
			E *nn.Embedding
			L *nn.Linear
		}{nn.NewEmbedding(11, 4, nn.EmbeddingOpts{Generator: g}), nn.NewLinear(4, 3, nn.Opts{Generator: g})}
		return model{m, func(x *weft.Tensor) *weft.Tensor { return m.L.Forward(m.E.Forward(x).Mean(1)) }, crossEntropy,
			func(g *weft.Generator, n int) (x, target *weft.Tensor) {
				return g.Randint(0, 11, n, 5), g.Randint(0, 3, n)
			}}
	},
	"sparse embedding": func(g *weft.Generator) model {
		e := nn.NewEmbedding(11, 4, nn.EmbeddingOpts{Generator: g})
		e.Sparse = true
		m := &struct {
			E *nn.Embedding
			L *nn.Linear
		}{e, nn.NewLinear(4, 3, nn.Opts{Generator: g})}
		return model{m, func(x *weft.Tensor) *weft.Tensor { return m.L.Forward(m.E.Forward(x).Mean(1)) }, crossEntropy,
			func(g *weft.Generator, n int) (x, target *weft.Tensor) {
				return g.Randint(0, 11, n, 5), g.Randint(0, 3, n)
			}}
	},
	"attention": func(g *weft.Generator) model {
		m := &struct {
			A *nn.MultiheadAttention
			L *nn.Linear
		}{nn.NewMultiheadAttention(4, 2, nn.MultiheadAttentionOpts{Generator: g, BatchFirst: true}), nn.NewLinear(4, 3, nn.Opts{Generator: g})}
		return model{m, func(x *weft.Tensor) *weft.Tensor { return m.L.Forward(m.A.Forward(x).Mean(1)) }, crossEntropy, classes(3, 5, 4)}
	},
}

// optimizers are all that take steps by formulas, with and without options.
var optimizers = map[string]func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer{
	"sgd": func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer {
		return optim.NewSGD(p, optim.SGDOpts{LR: new(0.1)})
	},
	"momentum": func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer {
		return optim.NewSGD(p, optim.SGDOpts{LR: new(0.1), Momentum: 0.9, Dampening: 0.3, WeightDecay: 0.01})
	},
	"nesterov": func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer {
		return optim.NewSGD(p, optim.SGDOpts{LR: new(0.1), Momentum: 0.9, Nesterov: true})
	},
	"adam": func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer {
		return optim.NewAdam(p, optim.AdamOpts{LR: new(0.01)})
	},
	"adamw": func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer {
		return optim.NewAdam(p, optim.AdamOpts{LR: new(0.01), WeightDecay: 0.1, Decoupled: true, AMSGrad: true})
	},
	"nadam": func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer {
		return optim.NewNAdam(p, optim.NAdamOpts{LR: new(0.01)})
	},
	"rmsprop": func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer {
		return optim.NewRMSprop(p, optim.RMSpropOpts{LR: new(0.01), Centered: true, Momentum: 0.5})
	},
	"adagrad": func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer {
		return optim.NewAdagrad(p, optim.AdagradOpts{LR: new(0.1), LRDecay: 0.1})
	},
}

// TestCompileModels trains each model eagerly and compiled, with rates that fall, batches of
// two sizes, gradients that are forgotten first, last or added up: losses, parameters,
// buffers, gradients and the state of the optimizer are the same bits after every step.
func TestCompileModels(t *testing.T) {
	for name, make := range models {
		for how, opt := range optimizers {
			dense := !strings.Contains(name, "sparse")
			if name != "mlp" && how != "sgd" && how != "adam" || !dense && how == "adam" {
				continue
			}
			for _, zero := range []string{"first", "last", "every third"} {
				t.Run(fmt.Sprint(name, "/", how, "/", zero), func(t *testing.T) { trainBothWays(t, make, opt, zero) })
			}
		}
	}
}

func trainBothWays(t *testing.T, make func(g *weft.Generator) model, opt func(p iter.Seq2[string, *weft.Tensor]) optim.Optimizer, zero string) {
	type way struct {
		m    model
		opt  optim.Optimizer
		step func(x, y *weft.Tensor) *weft.Tensor
	}
	var ways [2]way
	for i := range ways {
		m := make(weft.NewGenerator(3))
		o := opt(nn.Params(m.module))
		ways[i] = way{m, o, func(x, y *weft.Tensor) *weft.Tensor {
			if zero == "first" {
				o.ZeroGrad()
			}
			loss := m.loss(m.forward(x), y)
			loss.Backward()
			o.Step()
			if zero == "last" {
				o.ZeroGrad()
			}
			return loss
		}}
	}
	c := weft.Compile(ways[1].step)
	schedule := [2]*optim.Scheduler{optim.NewScheduler(ways[0].opt, optim.Exponential{Gamma: 0.9}), optim.NewScheduler(ways[1].opt, optim.Exponential{Gamma: 0.9})}
	g := weft.NewGenerator(9)
	for step := range 7 {
		n := 6
		if step == 3 {
			n = 4
		}
		x, y := ways[0].m.batch(g, n)
		if zero == "every third" && step%3 == 0 {
			ways[0].opt.ZeroGrad()
			ways[1].opt.ZeroGrad()
		}
		want := ways[0].step(x, y)
		got, err := c.Call(x, y)
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		sameBits(t, fmt.Sprintf("step %d: loss", step), got, want)
		states := [2]map[string]*weft.Tensor{}
		for i, w := range ways {
			states[i] = maps.Clone(nn.State(w.m.module))
			for k, s := range w.opt.State() {
				states[i]["optimizer "+k] = s
			}
			for k, p := range nn.Params(w.m.module) {
				if d := p.Grad(); d != nil {
					states[i]["gradient "+k] = d
				}
			}
			schedule[i].Step()
		}
		if len(states[0]) != len(states[1]) {
			t.Fatalf("step %d: %d tensors of state, want %d", step, len(states[1]), len(states[0]))
		}
		for k, want := range states[0] {
			sameBits(t, fmt.Sprintf("step %d: %s", step, k), states[1][k], want)
		}
		if t.Failed() {
			t.Fatal(c.Why())
		}
	}
}
