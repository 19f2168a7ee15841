package optim

import (
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// NAdamOpts are the options of [NAdam].
type NAdamOpts struct {
	LR            *float64 // nil means 2e-3
	Beta1         *float64 // decay of the mean gradient, in [0, 1); nil means 0.9
	Beta2         *float64 // decay of the mean squared gradient, in [0, 1); nil means 0.999
	Eps           *float64 // nil means 1e-8
	WeightDecay   float64
	MomentumDecay *float64 // nil means 0.004
	Decoupled     bool     // takes the decay of weights out of the gradient, as in AdamW
	Maximize      bool     // goes up the gradient
}

// NAdam is Adam with Nesterov's momentum (Dozat, Incorporating Nesterov momentum into Adam,
// 2016). With the gradient g, w the parameter and t the number of steps that it has taken,
// this one included:
//
//	g = g + WeightDecay*w                Decoupled: w = w - LR*WeightDecay*w; Maximize: g = -g + ...
//	u(t) = Beta1*(1 - 0.96^(t*MomentumDecay)/2)
//	P = u(1)*...*u(t)
//	m = Beta1*m + (1-Beta1)*g            0 at first
//	v = Beta2*v + (1-Beta2)*g*g          0 at first
//	s = sqrt(v/(1-Beta2^t)) + Eps
//	w = w - LR*(1-u(t))/(1-P) * g/s - LR*u(t+1)/(1-P*u(t+1)) * m/s
//
// This is PyTorch's form.
type NAdam = Method[NAdamOpts]

// NewNAdam returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewNAdam(params iter.Seq2[string, *weft.Tensor], opts ...NAdamOpts) *NAdam {
	return newMethod(params, opts)
}

func (NAdamOpts) name() string     { return "nadam" }
func (o NAdamOpts) rate() *float64 { return o.LR }

func (o NAdamOpts) filled() NAdamOpts {
	o.LR = new(notNegative("nadam", "LR", array.Or(o.LR, 2e-3)))
	o.Beta1 = new(requireFraction("nadam", "Beta1", array.Or(o.Beta1, 0.9)))
	o.Beta2 = new(requireFraction("nadam", "Beta2", array.Or(o.Beta2, 0.999)))
	o.Eps = new(notNegative("nadam", "Eps", array.Or(o.Eps, 1e-8)))
	o.MomentumDecay = new(notNegative("nadam", "MomentumDecay", array.Or(o.MomentumDecay, 4e-3)))
	notNegative("nadam", "WeightDecay", o.WeightDecay)
	return o
}

func (NAdamOpts) slots(*param) []slot { return []slot{{name: "mean"}, {name: "square"}} }

// ln096 is the natural logarithm of 0.96.
const ln096 = -0.040821994520255166

// base is 0.96 to the power MomentumDecay.
func (o *NAdamOpts) base() float64 {
	return weft.ScalarOf(weft.Float64, float64(*o.MomentumDecay*ln096)).Exp().Item() // the same bits everywhere
}

// momentum returns u(t).
func (o *NAdamOpts) momentum(base float64, t *core.HostNumber) *core.HostNumber {
	return core.HostConst(*o.Beta1).Mul(core.HostConst(1).Sub(core.HostConst(0.5).Mul(core.HostConst(base).Power(t))))
}

// upTo returns the product of the momenta of the steps that p has taken.
func (o *NAdamOpts) upTo(p *param) float64 {
	base, product := o.base(), 1.0
	for t := 1.0; t <= p.steps.Value && product > 0; t++ {
		product = float64(product * o.momentum(base, core.HostConst(t)).Value())
	}
	return product
}

// rates are numbers of the step of p that comes: what Beta2 lacks to 1, the rates of the gradient and of
// its mean, and the product of the momenta with that of the step.
func (o *NAdamOpts) rates(m *moment, p *param) []*core.HostNumber {
	var base float64
	core.OutsideTrace(func() { base = o.base() })
	one, t := core.HostConst(1), p.next()
	now, next := o.momentum(base, t), o.momentum(base, t.Add(one))
	product := p.product.Number().Mul(now)
	return []*core.HostNumber{p.lacking(*o.Beta2), m.rate.Mul(one.Sub(now)).Div(one.Sub(product)), m.rate.Mul(next).Div(one.Sub(product.Mul(next))), product}
}

func (o NAdamOpts) update(m *moment) update {
	decay, shrink := o.WeightDecay, core.Num(1)
	if o.Decoupled {
		decay, shrink = 0, core.Live(m.shrink(o.WeightDecay))
	}
	// The same for all parameters, but the last three where some have taken fewer steps.
	same := []core.Operand{core.Num(decay), core.Num(sign(o.Maximize)), shrink, core.Num(*o.Beta1), core.Num(1 - *o.Beta1), core.Num(*o.Beta2), core.Num(1 - *o.Beta2), core.Num(*o.Eps), {}, {}, {}}
	n := -1.0
	return update{rule: rule{nadam, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		if p.numbers == nil {
			p.numbers = o.rates(m, p)
		}
		if n != p.steps.Value || core.TracingHere() != nil {
			n = p.steps.Value
			for i := range 3 {
				same[8+i] = core.Live(p.numbers[i])
			}
		}
		return p.kept(append(append(list, operand(p.w), operand(g)), same...))
	}}, counts: func(p *param) { core.SetInCalls(&p.product, p.numbers[3]) }}
}

// Arguments: parameter, gradient, decay, sign, shrinking, the betas each with what it lacks to
// 1, epsilon, bias correction of the mean square, rates of the gradient and of its mean, mean,
// mean square.
var nadam = core.NewFused("nadam", func(x []*ir.Node) []*ir.Node {
	g := decayed(x)
	m := add(mul(x[13], x[5]), mul(g, x[6]))
	v := add(mul(x[14], x[7]), mul(mul(g, g), x[8]))
	by := add(sqrt(div(v, x[10])), x[9])
	w := sub(mul(x[0], x[4]), mul(div(g, by), x[11]))
	return []*ir.Node{sub(w, mul(div(m, by), x[12])), m, v}
})
