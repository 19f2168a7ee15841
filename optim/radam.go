package optim

import (
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// RAdamOpts are the options of [RAdam].
type RAdamOpts struct {
	LR          *float64 // nil means 1e-3
	Beta1       *float64 // decay of the mean gradient, in [0, 1); nil means 0.9
	Beta2       *float64 // decay of the mean squared gradient, in [0, 1); nil means 0.999
	Eps         *float64 // nil means 1e-8
	WeightDecay float64
	Decoupled   bool // takes the decay of weights out of the gradient, as in AdamW
	Maximize    bool // goes up the gradient
}

// RAdam is Adam that divides by the root of the mean square only when enough steps have been taken
// to know it (Liu et al., On the variance of the adaptive learning rate and beyond, 2020). With the
// gradient g, w the parameter and t the number of steps that it has taken, this one included:
//
//	g = g + WeightDecay*w                Decoupled: w = w - LR*WeightDecay*w; Maximize: g = -g + ...
//	m = Beta1*m + (1-Beta1)*g            0 at first
//	v = Beta2*v + (1-Beta2)*g*g          0 at first
//	R = 2/(1-Beta2) - 1
//	r = R - 2*t*Beta2^t/(1-Beta2^t)
//	w = w - LR*m/(1-Beta1^t)             r > 5: times sqrt((1-Beta2^t)*(r-4)*(r-2)*R/((R-4)*(R-2)*r)) / (sqrt(v) + Eps)
//
// This is PyTorch's form.
type RAdam = Method[RAdamOpts]

// NewRAdam returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewRAdam(params iter.Seq2[string, *weft.Tensor], opts ...RAdamOpts) *RAdam {
	return newMethod(params, opts)
}

func (RAdamOpts) name() string     { return "radam" }
func (o RAdamOpts) rate() *float64 { return o.LR }

func (o RAdamOpts) filled() RAdamOpts {
	o.LR = new(notNegative("radam", "LR", array.Or(o.LR, 1e-3)))
	o.Beta1 = new(requireFraction("radam", "Beta1", array.Or(o.Beta1, 0.9)))
	o.Beta2 = new(requireFraction("radam", "Beta2", array.Or(o.Beta2, 0.999)))
	o.Eps = new(notNegative("radam", "Eps", array.Or(o.Eps, 1e-8)))
	notNegative("radam", "WeightDecay", o.WeightDecay)
	return o
}

func (RAdamOpts) slots(*param) []slot { return []slot{{name: "mean"}, {name: "square"}} }

// rates are numbers of the step of p that comes: what the mean gradient is multiplied by, bias
// corrections included, and 1 and 0 where the root of the mean square divides, else 0 and 1.
func (o *RAdamOpts) rates(m *moment, p *param) []*core.HostNumber {
	c, beta := core.HostConst, *o.Beta2
	most := 2/(1-beta) - 1
	last := p.lacking(beta)
	length := c(most).Sub(c(2).Mul(p.next()).Mul(c(beta).Power(p.next())).Div(last))
	up := length.Sub(c(4)).Mul(length.Sub(c(2))).Mul(c(most))
	rectified := last.Mul(up.Div(c(float64((most - 4) * (most - 2))).Mul(length))).Sqrt()
	short := length.AtMost(c(5))
	rate := m.rate.Mul(short.Choose(c(1), rectified)).Div(p.lacking(*o.Beta1))
	return []*core.HostNumber{rate, short.Choose(c(0), c(1)), short}
}

func (o RAdamOpts) update(m *moment) update {
	decay, shrink := o.WeightDecay, core.Num(1)
	if o.Decoupled {
		decay, shrink = 0, core.Live(m.shrink(o.WeightDecay))
	}
	return update{rule: rule{radam, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		if p.numbers == nil {
			p.numbers = o.rates(m, p)
		}
		list = append(numbers(append(list, operand(p.w), operand(g)), decay, sign(o.Maximize)), shrink)
		list = numbers(list, *o.Beta1, 1-*o.Beta1, *o.Beta2, 1-*o.Beta2, *o.Eps)
		return p.kept(p.live(list))
	}}}
}

// Arguments: parameter, gradient, decay, sign, shrinking, the betas each with what it lacks to 1,
// epsilon, rate, 1 and 0 if the root divides, else 0 and 1, mean, mean square.
var radam = core.NewFused("radam", func(x []*ir.Node) []*ir.Node {
	g := decayed(x)
	m := add(mul(x[13], x[5]), mul(g, x[6]))
	v := add(mul(x[14], x[7]), mul(mul(g, g), x[8]))
	by := add(mul(add(sqrt(v), x[9]), x[11]), x[12])
	return []*ir.Node{sub(mul(x[0], x[4]), mul(div(m, by), x[10])), m, v}
})
