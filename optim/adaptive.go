package optim

import (
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// RMSpropOpts are the options of [RMSprop].
type RMSpropOpts struct {
	LR          *float64 // nil means 1e-2
	Alpha       *float64 // decay of the mean squared gradient, in [0, 1); nil means 0.99
	Eps         *float64 // nil means 1e-8
	Momentum    float64  // in [0, 1)
	WeightDecay float64
	Centered    bool // divides by the root of the variance, not of the mean square
	Maximize    bool // goes up the gradient
}

// RMSprop divides by the root of the mean squared gradient (Hinton, Neural networks for
// machine learning, lecture 6, 2012; centred: Graves, Generating sequences with recurrent
// neural networks, 2013). With the gradient g and w the parameter:
//
//	g = g + WeightDecay*w                Maximize: g = -g + WeightDecay*w
//	v = Alpha*v + (1-Alpha)*g*g          0 at first
//	s = sqrt(v) + Eps                    Centered: sqrt(v - m*m) + Eps, m = m + (1-Alpha)*(g-m)
//	w = w - LR*g/s                       Momentum: w - LR*b, b = Momentum*b + g/s
//
// This is PyTorch's form.
type RMSprop = Method[RMSpropOpts]

// NewRMSprop returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewRMSprop(params iter.Seq2[string, *weft.Tensor], opts ...RMSpropOpts) *RMSprop {
	return newMethod(params, opts)
}

func (RMSpropOpts) name() string     { return "rmsprop" }
func (o RMSpropOpts) rate() *float64 { return o.LR }

func (o RMSpropOpts) filled() RMSpropOpts {
	o.LR = new(notNegative("rmsprop", "LR", array.Or(o.LR, 1e-2)))
	o.Alpha = new(requireFraction("rmsprop", "Alpha", array.Or(o.Alpha, 0.99)))
	o.Eps = new(notNegative("rmsprop", "Eps", array.Or(o.Eps, 1e-8)))
	requireFraction("rmsprop", "Momentum", o.Momentum)
	notNegative("rmsprop", "WeightDecay", o.WeightDecay)
	return o
}

func (o RMSpropOpts) slots(*param) []slot {
	s := []slot{{name: "square"}}
	if o.Centered {
		s = append(s, slot{name: "mean"})
	}
	if o.Momentum > 0 {
		s = append(s, slot{name: "momentum"})
	}
	return s
}

func (o RMSpropOpts) update(m *moment) update {
	return update{rule: rule{rmsprop[bit(o.Centered)][bit(o.Momentum > 0)], func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		list = append(numbers(append(list, operand(p.w), operand(g)), o.WeightDecay, sign(o.Maximize)), core.Live(m.rate))
		return p.kept(numbers(list, *o.Alpha, 1-*o.Alpha, *o.Eps, o.Momentum))
	}}}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// By whether it is centred and has a momentum. Arguments: parameter, gradient, weight decay,
// sign, rate, alpha and what it lacks to 1, epsilon, momentum, mean square, mean, velocity.
var rmsprop = [2][2]*core.Fused{
	{rmspropFused("rmsprop", false, false), rmspropFused("rmsprop_momentum", false, true)},
	{rmspropFused("rmsprop_centered", true, false), rmspropFused("rmsprop_centered_momentum", true, true)},
}

func rmspropFused(name string, centered, momentum bool) *core.Fused {
	return core.NewFused(name, func(x []*ir.Node) []*ir.Node {
		g := decayed(x)
		v := add(mul(x[9], x[5]), mul(mul(g, g), x[6]))
		out, by := []*ir.Node{nil, v}, v
		if centered {
			mean := add(x[10], mul(sub(g, x[10]), x[6]))
			out, by = append(out, mean), sub(v, mul(mean, mean))
		}
		down := div(g, add(sqrt(by), x[7]))
		if momentum {
			down = add(mul(x[len(x)-1], x[8]), down)
			out = append(out, down)
		}
		out[0] = sub(x[0], mul(down, x[4]))
		return out
	})
}

// AdagradOpts are the options of [Adagrad].
type AdagradOpts struct {
	LR          *float64 // nil means 1e-2
	LRDecay     float64  // the rate of step t is LR/(1+(t-1)*LRDecay)
	WeightDecay float64
	Initial     float64  // what the sum of squared gradients begins with
	Eps         *float64 // nil means 1e-10
	Maximize    bool     // goes up the gradient
}

// Adagrad divides by the root of the sum of squared gradients (Duchi et al., Adaptive
// subgradient methods for online learning and stochastic optimization, 2011). With the
// gradient g and w the parameter:
//
//	g = g + WeightDecay*w                Maximize: g = -g + WeightDecay*w
//	v = v + g*g                          Initial at first
//	w = w - LR/(1+(t-1)*LRDecay) * g/(sqrt(v) + Eps)
//
// This is PyTorch's form. A gradient that is kept as rows changes those rows alone if there is
// no decay of weights.
type Adagrad = Method[AdagradOpts]

// NewAdagrad returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewAdagrad(params iter.Seq2[string, *weft.Tensor], opts ...AdagradOpts) *Adagrad {
	return newMethod(params, opts)
}

func (AdagradOpts) name() string     { return "adagrad" }
func (o AdagradOpts) rate() *float64 { return o.LR }

func (o AdagradOpts) filled() AdagradOpts {
	o.LR = new(notNegative("adagrad", "LR", array.Or(o.LR, 1e-2)))
	o.Eps = new(notNegative("adagrad", "Eps", array.Or(o.Eps, 1e-10)))
	notNegative("adagrad", "LRDecay", o.LRDecay)
	notNegative("adagrad", "WeightDecay", o.WeightDecay)
	notNegative("adagrad", "Initial", o.Initial)
	return o
}

func (o AdagradOpts) slots(*param) []slot { return []slot{{name: "sum", first: o.Initial}} }

func (o AdagradOpts) update(m *moment) update {
	r := rule{adagrad, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		if p.numbers == nil {
			p.numbers = []*core.HostNumber{m.rate.Div(core.HostConst(1).Add(p.steps.Number().Mul(core.HostConst(o.LRDecay))))}
		}
		rate := core.Live(p.numbers[0])
		list = append(numbers(append(list, operand(p.w), operand(g)), o.WeightDecay, sign(o.Maximize)), rate)
		return p.kept(numbers(list, *o.Eps))
	}}
	if o.WeightDecay != 0 {
		return update{rule: r}
	}
	return update{rule: r, rows: r}
}

// Arguments: parameter, gradient, weight decay, sign, rate, epsilon, sum of squares.
var adagrad = core.NewFused("adagrad", func(x []*ir.Node) []*ir.Node {
	g := decayed(x)
	v := add(x[6], mul(g, g))
	return []*ir.Node{sub(x[0], mul(div(g, add(sqrt(v), x[5])), x[4])), v}
})
