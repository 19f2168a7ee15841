package optim

import (
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// LionOpts are the options of [Lion].
type LionOpts struct {
	LR          *float64 // nil means 1e-4
	Beta1       *float64 // part of the mean gradient in a step, in [0, 1); nil means 0.9
	Beta2       *float64 // decay of the mean gradient, in [0, 1); nil means 0.99
	WeightDecay float64  // of weights, apart from the gradient
	Maximize    bool     // goes up the gradient
}

// Lion takes steps of one length along the signs of a mean gradient, the only thing that it keeps
// (Chen et al., Symbolic discovery of optimization algorithms, 2023). With the gradient g and w the
// parameter:
//
//	w = w - LR*WeightDecay*w - LR*sign(Beta1*m + (1-Beta1)*g)      Maximize: g = -g before all
//	m = Beta2*m + (1-Beta2)*g                                      0 at first
type Lion = Method[LionOpts]

// NewLion returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewLion(params iter.Seq2[string, *weft.Tensor], opts ...LionOpts) *Lion {
	return newMethod(params, opts)
}

func (LionOpts) name() string     { return "lion" }
func (o LionOpts) rate() *float64 { return o.LR }

func (o LionOpts) filled() LionOpts {
	o.LR = new(notNegative("lion", "LR", array.Or(o.LR, 1e-4)))
	o.Beta1 = new(requireFraction("lion", "Beta1", array.Or(o.Beta1, 0.9)))
	o.Beta2 = new(requireFraction("lion", "Beta2", array.Or(o.Beta2, 0.99)))
	notNegative("lion", "WeightDecay", o.WeightDecay)
	return o
}

func (LionOpts) slots(*param) []slot { return []slot{{name: "mean"}} }

func (o LionOpts) update(m *moment) update {
	shrink, rate := core.Live(m.shrink(o.WeightDecay)), core.Live(m.rate)
	return update{rule: rule{lion, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		list = numbers(append(list, operand(p.w), operand(g)), sign(o.Maximize), *o.Beta1, 1-*o.Beta1, *o.Beta2, 1-*o.Beta2)
		return p.kept(append(list, shrink, rate))
	}}}
}

// Arguments: parameter, gradient, sign, the betas each with what it lacks to 1, shrinking, rate,
// mean.
var lion = core.NewFused("lion", func(x []*ir.Node) []*ir.Node {
	g := mul(x[1], x[2])
	step := op.Apply(op.Sign, nil, add(mul(x[9], x[3]), mul(g, x[4])))
	return []*ir.Node{sub(mul(x[0], x[7]), mul(step, x[8])), add(mul(x[9], x[5]), mul(g, x[6]))}
})

// LAMBOpts are the options of [LAMB].
type LAMBOpts struct {
	LR          *float64 // nil means 1e-3
	Beta1       *float64 // decay of the mean gradient, in [0, 1); nil means 0.9
	Beta2       *float64 // decay of the mean squared gradient, in [0, 1); nil means 0.999
	Eps         *float64 // nil means 1e-6
	WeightDecay float64
	Maximize    bool // goes up the gradient
}

// LAMB is Adam whose steps are as long as a part of the parameter, for large batches (You et al.,
// Large batch optimization for deep learning: Training BERT in 76 minutes, 2020). With the gradient
// g, w the parameter and t the number of steps that it has taken, this one included:
//
//	m = Beta1*m + (1-Beta1)*g            0 at first; Maximize: g = -g before
//	v = Beta2*v + (1-Beta2)*g*g          0 at first
//	u = m/(1-Beta1^t) / (sqrt(v/(1-Beta2^t)) + Eps) + WeightDecay*w
//	w = w - LR*|w|/|u| * u               LR*u if one of the norms is 0
//
// Norms are of all elements of a parameter. The paper's function of |w| is |w| itself here.
type LAMB = Method[LAMBOpts]

// NewLAMB returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewLAMB(params iter.Seq2[string, *weft.Tensor], opts ...LAMBOpts) *LAMB {
	return newMethod(params, opts)
}

func (LAMBOpts) name() string     { return "lamb" }
func (o LAMBOpts) rate() *float64 { return o.LR }

func (o LAMBOpts) filled() LAMBOpts {
	o.LR = new(notNegative("lamb", "LR", array.Or(o.LR, 1e-3)))
	o.Beta1 = new(requireFraction("lamb", "Beta1", array.Or(o.Beta1, 0.9)))
	o.Beta2 = new(requireFraction("lamb", "Beta2", array.Or(o.Beta2, 0.999)))
	o.Eps = new(notNegative("lamb", "Eps", array.Or(o.Eps, 1e-6)))
	notNegative("lamb", "WeightDecay", o.WeightDecay)
	return o
}

func (LAMBOpts) slots(*param) []slot { return []slot{{name: "mean"}, {name: "square"}} }

func (o LAMBOpts) update(m *moment) update {
	beta1, beta2, rate := *o.Beta1, *o.Beta2, core.Live(m.rate)
	return update{rule: rule{lamb, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		list = numbers(append(list, operand(p.w), operand(g)), sign(o.Maximize), o.WeightDecay, beta1, 1-beta1, beta2, 1-beta2, *o.Eps)
		if p.numbers == nil {
			p.numbers = []*core.HostNumber{p.lacking(beta1), p.lacking(beta2)}
		}
		return p.kept(p.live(append(list, rate)))
	}}}
}

// Arguments: parameter, gradient, sign, weight decay, the betas each with what it lacks to 1,
// epsilon, rate, bias corrections of both means, mean, mean square.
var lamb = core.NewFused("lamb", func(x []*ir.Node) []*ir.Node {
	w, g := x[0], mul(x[1], x[2])
	m := add(mul(x[12], x[4]), mul(g, x[5]))
	v := add(mul(x[13], x[6]), mul(mul(g, g), x[7]))
	u := add(div(div(m, x[10]), add(sqrt(div(v, x[11])), x[8])), mul(w, x[3]))
	long, size := norm(u), norm(w)
	both := mul(long, size)
	trust := where(op.Apply(op.Gt, nil, both, constant(both, 0)), div(size, long), constant(both, 1))
	return []*ir.Node{sub(w, mul(u, mul(trust, x[9]))), m, v}
})
