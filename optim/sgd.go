package optim

import (
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// SGDOpts are the options of [SGD].
type SGDOpts struct {
	LR          *float64 // nil means 1e-3
	Momentum    float64  // in [0, 1)
	Dampening   float64  // of the momentum
	WeightDecay float64
	// Nesterov looks ahead along the momentum, which must not be 0 (Sutskever et
	// al., On the importance of initialization and momentum in deep learning, 2013).
	// There is no dampening then.
	Nesterov bool
	Maximize bool // goes up the gradient
}

// SGD is stochastic gradient descent. With the gradient g and w the parameter:
//
//	g = g + WeightDecay*w                 Maximize: g = -g + WeightDecay*w
//	v = Momentum*v + (1-Dampening)*g      g at first
//	w = w - LR*v                          Nesterov: w - LR*(g + Momentum*v)
//
// This is PyTorch's form, in which the learning rate multiplies the velocity. A gradient that
// is kept as rows changes those rows alone if there is neither momentum nor decay.
type SGD = Method[SGDOpts]

// NewSGD returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewSGD(params iter.Seq2[string, *weft.Tensor], opts ...SGDOpts) *SGD {
	return newMethod(params, opts)
}

func (SGDOpts) name() string     { return "sgd" }
func (o SGDOpts) rate() *float64 { return o.LR }

func (o SGDOpts) filled() SGDOpts {
	o.LR = new(notNegative("sgd", "LR", array.Or(o.LR, 1e-3)))
	requireFraction("sgd", "Momentum", o.Momentum)
	requireFraction("sgd", "Dampening", o.Dampening)
	notNegative("sgd", "WeightDecay", o.WeightDecay)
	if o.Nesterov && (o.Momentum == 0 || o.Dampening != 0) {
		array.Failf("sgd", "Nesterov", "needs a momentum and no dampening")
	}
	return o
}

func (o SGDOpts) slots(*param) []slot {
	if o.Momentum == 0 {
		return nil
	}
	return []slot{{name: "momentum"}}
}

func (o SGDOpts) update(m *moment) update {
	plain := rule{sgdPlain, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		return append(numbers(append(list, operand(p.w), operand(g)), o.WeightDecay, sign(o.Maximize)), core.Live(m.rate))
	}}
	switch {
	case o.Momentum == 0 && o.WeightDecay == 0:
		return update{rule: plain, rows: plain}
	case o.Momentum == 0:
		return update{rule: plain}
	}
	f := sgdMomentum
	if o.Nesterov {
		f = sgdNesterov
	}
	return update{rule: rule{f, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		if p.numbers == nil { // 1 in the first step
			p.numbers = []*core.HostNumber{core.HostConst(1).AtMost(p.steps.Number()).Choose(core.HostConst(1-o.Dampening), core.HostConst(1))}
		}
		return append(numbers(p.kept(plain.args(list, p, g)), o.Momentum), core.Live(p.numbers[0]))
	}}}
}

// Arguments: parameter, gradient, weight decay, sign, learning rate, velocity, momentum, what
// the velocity takes of the gradient.
var (
	sgdPlain = core.NewFused("sgd", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{sub(x[0], mul(decayed(x), x[4]))}
	})
	sgdMomentum = core.NewFused("sgd_momentum", func(x []*ir.Node) []*ir.Node {
		v := add(mul(x[5], x[6]), mul(decayed(x), x[7]))
		return []*ir.Node{sub(x[0], mul(v, x[4])), v}
	})
	sgdNesterov = core.NewFused("sgd_nesterov", func(x []*ir.Node) []*ir.Node {
		g := decayed(x)
		v := add(mul(x[5], x[6]), mul(g, x[7]))
		return []*ir.Node{sub(x[0], mul(add(g, mul(v, x[6])), x[4])), v}
	})
)
