package main

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"weft"
	"weft/bench/worker"
	"weft/models"
	"weft/nn"
	"weft/optim"
)

// Training steps of published networks as compiled functions, and BERT on texts. Dropout is off, so that
// losses can be compared.

// A network is a module, its loss of a batch, and its optimizer.
type network struct {
	module any
	loss   func(x ...*weft.Tensor) *weft.Tensor
	batch  []*weft.Tensor
	opt    func(params iter.Seq2[string, *weft.Tensor]) optimizer
}

type optimizer interface {
	Step()
	ZeroGrad()
}

func init() {
	networks := map[string]func(n int) network{
		"alexnet step": func(n int) network {
			return pictureNet(models.NewAlexNet(models.AlexNetOpts{Weight: nn.Constant(0), Dropout: new(0.0)}), n)
		},
		"resnet50 step": func(n int) network {
			return pictureNet(models.NewResNet50(models.ResNetOpts{Weight: nn.Constant(0)}), n)
		},
		"mobilenet v2 step": func(n int) network {
			return pictureNet(models.NewMobileNetV2(models.MobileNetOpts{Weight: nn.Constant(0), Dropout: new(0.0)}), n)
		},
		"gnmt step": translator,
		"ncf step":  recommender,
		"gpt2 step": language,
	}
	for name, make := range networks {
		worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
			return make(p.N).step(name != "ncf step" && name != "gnmt step"), nil
		}
	}
	worker.Cases["bert of 128"] = func(p worker.Params) (*worker.Case, error) {
		net := models.NewBert(models.BertOpts{Weight: nn.Constant(0), Dropout: new(0.0), AttentionDropout: new(0.0)})
		fill(net)
		nn.Eval(net)
		x := indices(p.N*128, 4, 30522).Reshape(p.N, 128)
		f := weft.Compile(func(x *weft.Tensor) (y *weft.Tensor) {
			weft.WithoutGrad(func() { y = net.Forward(x) })
			return y
		}).Func()
		return &worker.Case{Run: func() { f(x).Release() }, Check: func() []float64 { return summary(f(x)) }}, nil
	}
}

// step is a training step, compiled or in a scope.
func (n network) step(compiled bool) *worker.Case {
	fill(n.module)
	nn.Train(n.module)
	opt := n.opt(nn.Params(n.module))
	step := func(batch []*weft.Tensor) *weft.Tensor {
		l := n.loss(batch...)
		l.Backward()
		opt.Step()
		opt.ZeroGrad()
		return l
	}
	run := func() float64 {
		s := weft.NewScope()
		defer s.Close()
		tracked := make([]*weft.Tensor, len(n.batch))
		for i, t := range n.batch {
			tracked[i] = s.Track(t)
		}
		return step(tracked).Item()
	}
	if compiled {
		f := weft.Compile(step).Func()
		run = func() float64 { return f(n.batch).Item() }
	}
	return &worker.Case{Run: func() { run() }, Check: func() []float64 {
		losses := make([]float64, checkedSteps)
		for i := range losses {
			losses[i] = run()
		}
		return losses
	}}
}

// fill writes matrices, tables and filters; biases are 0 and other vectors 1.
func fill(module any) {
	params := maps.Collect(nn.Params(module))
	for i, name := range slices.Sorted(maps.Keys(params)) {
		p := params[name]
		switch {
		case p.Rank() > 1:
			bound := 1 / math.Sqrt(float64(p.Size()/p.Dim(0)))
			p.Detach().Assign(random("float32", 10+i, p.Shape()...).Mul(bound))
		case strings.Contains(name, "bias"):
			p.Detach().Zero()
		default:
			p.Detach().Fill(1)
		}
	}
}

// pictureNet sees pictures of 224x224.
func pictureNet(net nn.Layer, n int) network {
	x := random("float32", 1, n, 3, 224, 224)
	return network{net, func(x ...*weft.Tensor) *weft.Tensor { return nn.CrossEntropy(net.Forward(x[0]), x[1]) },
		[]*weft.Tensor{x, classes(n)}, func(params iter.Seq2[string, *weft.Tensor]) optimizer {
			return optim.NewSGD(params, optim.SGDOpts{LR: new(0.001), Momentum: 0.9})
		}}
}

// adamOf is Adam, also of gradients that are rows.
func adamOf(sparse bool) func(params iter.Seq2[string, *weft.Tensor]) optimizer {
	return func(params iter.Seq2[string, *weft.Tensor]) optimizer {
		return optim.NewAdam(params, optim.AdamOpts{LR: new(0.001), Sparse: sparse})
	}
}

// texts are n texts of tokens.
func texts(n, steps, seed, vocab int) *weft.Tensor {
	return indices(n*steps, seed, vocab).Reshape(n, steps)
}

// translator is GNMT with two layers of 512 on each side, of texts of 25. Its step is not compiled: there
// each step of a layer copies the outputs so far.
func translator(n int) network {
	const vocab, steps = 8192, 25
	net := models.NewGNMT(models.GNMTOpts{Vocab: new(vocab), Width: new(512), Layers: new(2), Weight: nn.Constant(0), Dropout: new(0.0)})
	return network{net, func(x ...*weft.Tensor) *weft.Tensor {
		return nn.CrossEntropy(net.Logits(x[0], nil, x[1]).Reshape(n*steps, vocab), x[2].Reshape(n*steps))
	}, []*weft.Tensor{texts(n, steps, 4, vocab), texts(n, steps, 5, vocab), texts(n, steps, 6, vocab)}, adamOf(false)}
}

// recommender is NeuMF on MovieLens 20M's numbers of users and items. Gradients of tables are rows, so
// its step is not compiled.
func recommender(n int) network {
	const users, items = 138_493, 26_744
	net := models.NewNCF(users, items, models.NCFOpts{Weight: nn.Constant(0), Sparse: true})
	y := random("float32", 6, n).Gt(0).To(weft.Float32)
	return network{net, func(x ...*weft.Tensor) *weft.Tensor { return nn.BCEWithLogits(net.Forward(x[0], x[1]), x[2]) },
		[]*weft.Tensor{indices(n, 4, users), indices(n, 5, items), y}, adamOf(true)}
}

// language is GPT-2 small on texts of 64.
func language(n int) network {
	const vocab, steps = 50257, 64
	net := models.NewGPT2(models.GPT2Opts{Weight: nn.Constant(0), EmbeddingDropout: new(0.0), AttentionDropout: new(0.0), ResidualDropout: new(0.0)})
	return network{net, func(x ...*weft.Tensor) *weft.Tensor {
		return nn.CrossEntropy(net.Forward(x[0]).Reshape(n*steps, vocab), x[1].Reshape(n*steps))
	}, []*weft.Tensor{texts(n, steps, 4, vocab), texts(n, steps, 5, vocab)}, func(params iter.Seq2[string, *weft.Tensor]) optimizer {
		return optim.NewAdam(params, optim.AdamOpts{LR: new(0.0001), WeightDecay: 0.01, Decoupled: true})
	}}
}
