package optim

import (
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// ASGDOpts are the options of [ASGD].
type ASGDOpts struct {
	LR          *float64 // nil means 1e-2
	Lambda      *float64 // decay of weights and of the rate; nil means 1e-4
	Alpha       *float64 // power of the decay of the rate; nil means 0.75
	Start       *float64 // the step from which parameters are averaged; nil means 1e6
	WeightDecay float64
	Maximize    bool // goes up the gradient
}

// ASGD is stochastic gradient descent that also averages the parameters (Polyak and Juditsky,
// Acceleration of stochastic approximation by averaging, 1992). With the gradient g, w the
// parameter and t the number of steps that it has taken before this one:
//
//	g = g + WeightDecay*w                  Maximize: g = -g + WeightDecay*w
//	e = LR/(1+Lambda*LR*t)^Alpha
//	w = w - Lambda*e*w - e*g
//	a = a + (w-a)/max(1, t-Start)          w as long as that is 1
//
// This is PyTorch's form, in which a change of the learning rate comes a step later. The averages
// are in the state, as "average." and the parameter's name.
type ASGD = Method[ASGDOpts]

// NewASGD returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewASGD(params iter.Seq2[string, *weft.Tensor], opts ...ASGDOpts) *ASGD {
	return newMethod(params, opts)
}

func (ASGDOpts) name() string     { return "asgd" }
func (o ASGDOpts) rate() *float64 { return o.LR }

func (o ASGDOpts) filled() ASGDOpts {
	o.LR = new(notNegative("asgd", "LR", array.Or(o.LR, 1e-2)))
	o.Lambda = new(notNegative("asgd", "Lambda", array.Or(o.Lambda, 1e-4)))
	o.Alpha = new(notNegative("asgd", "Alpha", array.Or(o.Alpha, 0.75)))
	o.Start = new(notNegative("asgd", "Start", array.Or(o.Start, 1e6)))
	notNegative("asgd", "WeightDecay", o.WeightDecay)
	return o
}

func (ASGDOpts) slots(*param) []slot { return []slot{{name: "average"}} }

func (o ASGDOpts) update(m *moment) update {
	lambda, one := core.HostConst(*o.Lambda), core.HostConst(1)
	return update{rule: rule{asgd, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		if p.numbers == nil {
			rate := m.rate.Div(one.Add(lambda.Mul(m.rate).Mul(p.steps.Number())).Pow(core.HostConst(*o.Alpha)))
			averaged := p.steps.Number().Sub(core.HostConst(*o.Start))
			first := averaged.AtMost(one) // the average is the parameter
			p.numbers = []*core.HostNumber{one.Sub(lambda.Mul(rate)), rate, first.Choose(one, one.Div(averaged)), first.Choose(core.HostConst(0), one)}
		}
		return p.kept(p.live(numbers(append(list, operand(p.w), operand(g)), o.WeightDecay, sign(o.Maximize))))
	}}}
}

// Arguments: parameter, gradient, decay, sign, shrinking, rate, part of the parameter in the average,
// 1 or 0 to forget the average before, average.
var asgd = core.NewFused("asgd", func(x []*ir.Node) []*ir.Node {
	w := sub(mul(x[0], x[4]), mul(decayed(x), x[5]))
	a := mul(x[8], x[7])
	return []*ir.Node{w, add(a, mul(sub(w, a), x[6]))}
})

// RpropOpts are the options of [Rprop].
type RpropOpts struct {
	LR       *float64 // the first length of steps; nil means 1e-2
	Shrink   *float64 // of a step when the sign of the gradient changes, in (0, 1); nil means 0.5
	Grow     *float64 // of a step when it does not, above 1; nil means 1.2
	Least    *float64 // length of a step; nil means 1e-6
	Greatest *float64 // length of a step; nil means 50
	Maximize bool     // goes up the gradient
}

// Rprop takes steps whose length depends on the signs of the gradient alone, element by element
// (Riedmiller and Braun, A direct adaptive method for faster backpropagation learning: the RPROP
// algorithm, 1993). It needs the gradient of all data. With the gradient g, p the one before, s the
// length of a step and w the parameter:
//
//	s = s * (g*p > 0: Grow; g*p < 0: Shrink; else 1)    LR at first; limited to Least and Greatest
//	g = 0 where g*p < 0                                 Maximize: g = -g before all
//	w = w - s*sign(g)
//
// This is PyTorch's form. The learning rate counts at the first step of a parameter alone.
type Rprop = Method[RpropOpts]

// NewRprop returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewRprop(params iter.Seq2[string, *weft.Tensor], opts ...RpropOpts) *Rprop {
	return newMethod(params, opts)
}

func (RpropOpts) name() string     { return "rprop" }
func (o RpropOpts) rate() *float64 { return o.LR }

func (o RpropOpts) filled() RpropOpts {
	o.LR = new(notNegative("rprop", "LR", array.Or(o.LR, 1e-2)))
	o.Shrink, o.Grow = new(array.Or(o.Shrink, 0.5)), new(array.Or(o.Grow, 1.2))
	if !(*o.Shrink > 0 && *o.Shrink < 1 && *o.Grow > 1) {
		array.Failf("rprop", "Shrink", "and Grow are %v and %v, want more than 0 and less than 1, and more than 1", *o.Shrink, *o.Grow)
	}
	o.Least = new(notNegative("rprop", "Least", array.Or(o.Least, 1e-6)))
	o.Greatest = new(array.Or(o.Greatest, 50))
	if !(*o.Greatest >= *o.Least) {
		array.Failf("rprop", "Greatest", "is %v, want at least the least, %v", *o.Greatest, *o.Least)
	}
	return o
}

func (RpropOpts) slots(*param) []slot { return []slot{{name: "gradient"}, {name: "length"}} }

func (o RpropOpts) update(m *moment) update {
	return update{rule: rule{rprop, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		list = numbers(append(list, operand(p.w), operand(g)), sign(o.Maximize), *o.Shrink, *o.Grow, *o.Least, *o.Greatest)
		if p.numbers == nil { // in the first step
			p.numbers = []*core.HostNumber{core.HostConst(1).AtMost(p.steps.Number()).Choose(core.HostConst(0), m.rate)}
		}
		return p.kept(p.live(list))
	}}}
}

// Arguments: parameter, gradient, sign, shrinking, growth, the least and the greatest length, what
// lengths begin with or 0, the gradient before, lengths.
var rprop = core.NewFused("rprop", func(x []*ir.Node) []*ir.Node {
	g := mul(x[1], x[2])
	both := mul(g, x[8])
	zero := constant(g, 0)
	turned := op.Apply(op.Lt, nil, both, zero)
	factor := where(turned, x[3], where(op.Apply(op.Gt, nil, both, zero), x[4], constant(g, 1)))
	length := op.Apply(op.Minimum, nil, maximum(mul(add(x[9], x[7]), factor), x[5]), x[6])
	g = where(turned, zero, g)
	return []*ir.Node{sub(x[0], mul(op.Apply(op.Sign, nil, g), length)), g, length}
})
