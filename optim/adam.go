package optim

import (
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// AdamOpts are the options of [Adam].
type AdamOpts struct {
	LR          *float64 // nil means 1e-3
	Beta1       *float64 // decay of the mean gradient, in [0, 1); nil means 0.9
	Beta2       *float64 // decay of the mean squared gradient, in [0, 1); nil means 0.999
	Eps         *float64 // nil means 1e-8
	WeightDecay float64
	// Decoupled takes the decay out of the gradient, which makes it AdamW
	// (Loshchilov and Hutter, Decoupled weight decay regularization, 2019).
	Decoupled bool
	// AMSGrad divides by the greatest mean square so far (Reddi et al., On the
	// convergence of Adam and beyond, 2018).
	AMSGrad  bool
	Maximize bool // goes up the gradient
	// Sparse lets gradients that are kept as rows ([weft.Tensor.SparseGrad]) change those
	// rows of the parameter and of its means alone, as PyTorch's SparseAdam: the means of
	// other rows do not decay. Without it such gradients are refused. It goes with
	// neither WeightDecay nor AMSGrad.
	Sparse bool
}

// Adam is the optimizer of Kingma and Ba, Adam: A method for stochastic
// optimization, 2015. With the gradient g, w the parameter and t the number of
// steps that it has taken, this one included:
//
//	g = g + WeightDecay*w               Decoupled: w = w - LR*WeightDecay*w; Maximize: g = -g + ...
//	m = Beta1*m + (1-Beta1)*g           0 at first
//	v = Beta2*v + (1-Beta2)*g*g         0 at first
//	w = w - LR/(1-Beta1^t) * m/(sqrt(v)/sqrt(1-Beta2^t) + Eps)
//
// This is PyTorch's order of operations. Rows of a parameter (Sparse) are divided by
// (sqrt(v) + Eps)/sqrt(1-Beta2^t), as they are there.
type Adam = Method[AdamOpts]

// NewAdam returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewAdam(params iter.Seq2[string, *weft.Tensor], opts ...AdamOpts) *Adam {
	return newMethod(params, opts)
}

func (AdamOpts) name() string     { return "adam" }
func (o AdamOpts) rate() *float64 { return o.LR }

func (o AdamOpts) filled() AdamOpts {
	o.LR = new(notNegative("adam", "LR", array.Or(o.LR, 1e-3)))
	o.Beta1 = new(requireFraction("adam", "Beta1", array.Or(o.Beta1, 0.9)))
	o.Beta2 = new(requireFraction("adam", "Beta2", array.Or(o.Beta2, 0.999)))
	o.Eps = new(notNegative("adam", "Eps", array.Or(o.Eps, 1e-8)))
	notNegative("adam", "WeightDecay", o.WeightDecay)
	if o.Sparse && (o.WeightDecay != 0 || o.AMSGrad) {
		array.Failf("adam", "Sparse", "goes with neither WeightDecay nor AMSGrad, which change all rows")
	}
	return o
}

func (o AdamOpts) slots(*param) []slot {
	s := []slot{{name: "mean"}, {name: "square"}}
	if o.AMSGrad {
		s = append(s, slot{name: "max_square"})
	}
	return s
}

func (o AdamOpts) update(m *moment) update {
	decay, shrink := o.WeightDecay, core.Num(1)
	if o.Decoupled {
		decay, shrink = 0, core.Live(m.shrink(o.WeightDecay))
	}
	beta1, beta2, eps := *o.Beta1, *o.Beta2, *o.Eps
	// The same for all parameters, but root and rate where some have taken fewer steps.
	same := []core.Operand{core.Num(decay), core.Num(sign(o.Maximize)), shrink, core.Num(beta1), core.Num(1 - beta1), core.Num(beta2), core.Num(1 - beta2), {}, core.Num(eps), {}}
	n := -1.0
	all := func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		if n != p.steps.Value || core.TracingHere() != nil {
			n = p.steps.Value
			if p.numbers == nil {
				p.numbers = []*core.HostNumber{core.HostConst(1).Div(p.lacking(beta2).Sqrt()), m.rate.Div(p.lacking(beta1))}
			}
			same[7], same[9] = core.Live(p.numbers[0]), core.Live(p.numbers[1])
		}
		return p.kept(append(append(list, operand(p.w), operand(g)), same...))
	}
	u := update{rule: rule{adam, all}}
	switch {
	case o.AMSGrad:
		u.f = adamMax
	case o.Sparse:
		u.rows = rule{adamRows, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
			rate := m.rate.Mul(p.lacking(beta2).Sqrt()).Div(p.lacking(beta1))
			return p.kept(numbers(append(list, operand(p.w), operand(g)), sign(o.Maximize), 1-beta1, 1-beta2, eps, rate.Value()))
		}}
		return u
	}
	u.noRows = "give the option Sparse"
	if o.AMSGrad || o.WeightDecay != 0 {
		u.noRows = "weight decay and AMSGrad change all rows"
	}
	return u
}

// shrink is what decoupled decay multiplies a parameter by.
func (m *moment) shrink(decay float64) *core.HostNumber {
	return core.HostConst(1).Sub(m.rate.Mul(core.HostConst(decay)))
}

// lacking is 1 - beta^t in step t, which comes.
func (p *param) lacking(beta float64) *core.HostNumber {
	return core.HostConst(1).Sub(core.HostConst(beta).Power(p.next()))
}

// Arguments: parameter, gradient, decay, sign, shrinking, the betas each with what it lacks to
// 1, bias correction of the root, epsilon, rate, mean, mean square, and the greatest of these.
var (
	adam    = core.NewFused("adam", func(x []*ir.Node) []*ir.Node { return adamNodes(x, nil) })
	adamMax = core.NewFused("adam_max", func(x []*ir.Node) []*ir.Node { return adamNodes(x, x[14]) })
)

func adamNodes(x []*ir.Node, most *ir.Node) []*ir.Node {
	w, g := x[0], decayed(x)
	m := add(mul(x[12], x[5]), mul(g, x[6]))
	v := add(mul(x[13], x[7]), mul(mul(g, g), x[8]))
	out := []*ir.Node{nil, m, v}
	by := v
	if most != nil {
		by = op.Apply(op.Maximum, nil, most, v)
		out = append(out, by)
	}
	down := mul(div(m, add(mul(sqrt(by), x[9]), x[10])), x[11])
	out[0] = sub(mul(w, x[4]), down)
	return out
}

// Arguments: parameter, gradient, sign, what the betas lack to 1, epsilon, rate, mean, mean
// square; of some rows.
var adamRows = core.NewFused("adam_rows", func(x []*ir.Node) []*ir.Node {
	g := mul(x[1], x[2])
	m := add(x[7], mul(sub(g, x[7]), x[3]))
	v := add(x[8], mul(sub(mul(g, g), x[8]), x[4]))
	return []*ir.Node{sub(x[0], mul(div(m, add(sqrt(v), x[5])), x[6])), m, v}
})
