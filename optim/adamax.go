package optim

import (
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// AdamaxOpts are the options of [Adamax].
type AdamaxOpts struct {
	LR          *float64 // nil means 2e-3
	Beta1       *float64 // decay of the mean gradient, in [0, 1); nil means 0.9
	Beta2       *float64 // decay of the greatest magnitude, in [0, 1); nil means 0.999
	Eps         *float64 // nil means 1e-8
	WeightDecay float64
	Maximize    bool // goes up the gradient
}

// Adamax is the form of Adam that divides by the greatest magnitude of the gradient, which decays
// (Kingma and Ba, Adam: A method for stochastic optimization, 2015, section 7). With the gradient
// g, w the parameter and t the number of steps that it has taken, this one included:
//
//	g = g + WeightDecay*w                Maximize: g = -g + WeightDecay*w
//	m = Beta1*m + (1-Beta1)*g            0 at first
//	u = max(Beta2*u, |g| + Eps)          0 at first
//	w = w - LR/(1-Beta1^t) * m/u
//
// This is PyTorch's form.
type Adamax = Method[AdamaxOpts]

// NewAdamax returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewAdamax(params iter.Seq2[string, *weft.Tensor], opts ...AdamaxOpts) *Adamax {
	return newMethod(params, opts)
}

func (AdamaxOpts) name() string     { return "adamax" }
func (o AdamaxOpts) rate() *float64 { return o.LR }

func (o AdamaxOpts) filled() AdamaxOpts {
	o.LR = new(notNegative("adamax", "LR", array.Or(o.LR, 2e-3)))
	o.Beta1 = new(requireFraction("adamax", "Beta1", array.Or(o.Beta1, 0.9)))
	o.Beta2 = new(requireFraction("adamax", "Beta2", array.Or(o.Beta2, 0.999)))
	o.Eps = new(notNegative("adamax", "Eps", array.Or(o.Eps, 1e-8)))
	notNegative("adamax", "WeightDecay", o.WeightDecay)
	return o
}

func (AdamaxOpts) slots(*param) []slot { return []slot{{name: "mean"}, {name: "greatest"}} }

func (o AdamaxOpts) update(m *moment) update {
	beta1 := *o.Beta1
	return update{rule: rule{adamax, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		if p.numbers == nil {
			p.numbers = []*core.HostNumber{m.rate.Div(p.lacking(beta1))}
		}
		return p.kept(p.live(numbers(append(list, operand(p.w), operand(g)), o.WeightDecay, sign(o.Maximize), beta1, 1-beta1, *o.Beta2, *o.Eps)))
	}}}
}

// Arguments: parameter, gradient, decay, sign, the first beta and what it lacks to 1, the second,
// epsilon, rate, mean, greatest magnitude.
var adamax = core.NewFused("adamax", func(x []*ir.Node) []*ir.Node {
	g := decayed(x)
	m := add(mul(x[9], x[4]), mul(g, x[5]))
	u := maximum(mul(x[10], x[6]), add(magnitude(g), x[7]))
	return []*ir.Node{sub(x[0], mul(div(m, u), x[8])), m, u}
})

// AdadeltaOpts are the options of [Adadelta].
type AdadeltaOpts struct {
	LR          *float64 // nil means 1
	Rho         *float64 // decay of the mean squares, in [0, 1]; nil means 0.9
	Eps         *float64 // nil means 1e-6
	WeightDecay float64
	Maximize    bool // goes up the gradient
}

// Adadelta scales the gradient by the root of the mean squared change over that of the mean squared
// gradient (Zeiler, ADADELTA: An adaptive learning rate method, 2012). With the gradient g and w
// the parameter:
//
//	g = g + WeightDecay*w                Maximize: g = -g + WeightDecay*w
//	v = Rho*v + (1-Rho)*g*g              0 at first
//	d = sqrt(u + Eps)/sqrt(v + Eps) * g
//	u = Rho*u + (1-Rho)*d*d              0 at first
//	w = w - LR*d
//
// This is PyTorch's form.
type Adadelta = Method[AdadeltaOpts]

// NewAdadelta returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewAdadelta(params iter.Seq2[string, *weft.Tensor], opts ...AdadeltaOpts) *Adadelta {
	return newMethod(params, opts)
}

func (AdadeltaOpts) name() string     { return "adadelta" }
func (o AdadeltaOpts) rate() *float64 { return o.LR }

func (o AdadeltaOpts) filled() AdadeltaOpts {
	o.LR = new(notNegative("adadelta", "LR", array.Or(o.LR, 1)))
	o.Rho = new(notNegative("adadelta", "Rho", array.Or(o.Rho, 0.9)))
	if *o.Rho > 1 {
		array.Failf("adadelta", "Rho", "is %v, want 0 to 1", *o.Rho)
	}
	o.Eps = new(notNegative("adadelta", "Eps", array.Or(o.Eps, 1e-6)))
	notNegative("adadelta", "WeightDecay", o.WeightDecay)
	return o
}

func (AdadeltaOpts) slots(*param) []slot { return []slot{{name: "square"}, {name: "change"}} }

func (o AdadeltaOpts) update(m *moment) update {
	return update{rule: rule{adadelta, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		list = numbers(append(list, operand(p.w), operand(g)), o.WeightDecay, sign(o.Maximize), *o.Rho, 1-*o.Rho, *o.Eps)
		return p.kept(append(list, core.Live(m.rate)))
	}}}
}

// Arguments: parameter, gradient, decay, sign, rho and what it lacks to 1, epsilon, rate, mean
// square of the gradient, and of the change.
var adadelta = core.NewFused("adadelta", func(x []*ir.Node) []*ir.Node {
	g := decayed(x)
	v := add(mul(x[8], x[4]), mul(mul(g, g), x[5]))
	d := mul(div(sqrt(add(x[9], x[6])), sqrt(add(v, x[6]))), g)
	u := add(mul(x[9], x[4]), mul(mul(d, d), x[5]))
	return []*ir.Node{sub(x[0], mul(d, x[7])), v, u}
})
