package optim

import (
	"iter"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// AdafactorOpts are the options of [Adafactor].
type AdafactorOpts struct {
	LR          *float64 // nil means 1e-2
	Beta2Decay  *float64 // power of the step in the decay of the mean square, 0 or less; nil means -0.8
	Eps         *float64 // the least root of the mean square; nil means the element type's epsilon
	EpsScale    *float64 // the least root mean square of a parameter; nil means 1e-3
	Clip        *float64 // the greatest root mean square of a step, at least 1; nil means 1
	WeightDecay float64  // of weights, apart from the gradient
	Maximize    bool     // goes up the gradient
}

// Adafactor divides by the root of mean squares, and keeps only their means over rows and over
// columns (Shazeer and Stern, Adafactor: Adaptive learning rates with sublinear memory cost, 2018).
// With the gradient g, w the parameter and t the number of steps that it has taken, this one
// included:
//
//	b = t^Beta2Decay
//	a = max(EpsScale, rms(w)) * min(LR, 1/sqrt(t))
//	w = w - LR*WeightDecay*w
//	R = R + b*(mean of g*g over the last axis - R)               0 at first; Maximize: g = -g before
//	C = C + b*(mean of g*g over the axis before it - C)          0 at first
//	v = R*C / max(mean of R, Eps)                                vectors: v = v + b*(g*g - v)
//	u = g / sqrt(max(v, Eps*Eps))
//	w = w - a*u / max(1, rms(u)/Clip)
//
// This is PyTorch's form: relative steps, no momentum.
type Adafactor = Method[AdafactorOpts]

// NewAdafactor returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range or there are no parameters.
func NewAdafactor(params iter.Seq2[string, *weft.Tensor], opts ...AdafactorOpts) *Adafactor {
	return newMethod(params, opts)
}

func (AdafactorOpts) name() string     { return "adafactor" }
func (o AdafactorOpts) rate() *float64 { return o.LR }

func (o AdafactorOpts) filled() AdafactorOpts {
	o.LR = new(notNegative("adafactor", "LR", array.Or(o.LR, 1e-2)))
	o.Beta2Decay = new(array.Or(o.Beta2Decay, -0.8))
	if !(*o.Beta2Decay <= 0) {
		array.Failf("adafactor", "Beta2Decay", "is %v, want 0 or less", *o.Beta2Decay)
	}
	if o.Eps != nil {
		notNegative("adafactor", "Eps", *o.Eps)
	}
	o.EpsScale = new(notNegative("adafactor", "EpsScale", array.Or(o.EpsScale, 1e-3)))
	o.Clip = new(array.Or(o.Clip, 1))
	if !(*o.Clip >= 1) {
		array.Failf("adafactor", "Clip", "is %v, want at least 1", *o.Clip)
	}
	notNegative("adafactor", "WeightDecay", o.WeightDecay)
	return o
}

func (AdafactorOpts) slots(p *param) []slot {
	rank := p.t.Rank()
	if rank < 2 {
		return []slot{{name: "square"}}
	}
	row, column := slices.Clone(sizes(p.t)), slices.Clone(sizes(p.t))
	row[rank-1], column[rank-2] = 1, 1
	return []slot{{name: "row", shape: row}, {name: "column", shape: column}}
}

func (o AdafactorOpts) update(m *moment) update {
	shrink := core.Live(m.shrink(o.WeightDecay))
	return update{rule: rule{adafactor, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		eps := array.Or(o.Eps, array.Epsilon(p.t.DType()))
		list = append(numbers(append(list, operand(p.w), operand(g)), sign(o.Maximize)), shrink)
		if p.numbers == nil {
			p.numbers = []*core.HostNumber{m.rate.Min(core.HostConst(1).Div(p.next().Sqrt())), p.next().Pow(core.HostConst(*o.Beta2Decay))}
		}
		list = numbers(p.live(list), eps, float64(eps*eps), *o.EpsScale, *o.Clip)
		return p.kept(list)
	}}}
}

// Arguments: parameter, gradient, sign, shrinking, rate, part of the mean squares, epsilon and its
// square, least scale, greatest step, then rows and columns, or mean squares of a vector.
var adafactor = core.NewFused("adafactor", func(x []*ir.Node) []*ir.Node {
	w, g := x[0], mul(x[1], x[2])
	scale := mul(maximum(rms(w), x[8]), x[4])
	square := mul(g, g)
	part := func(mean, now *ir.Node) *ir.Node { return add(mean, mul(sub(now, mean), x[5])) }
	var v *ir.Node
	var kept []*ir.Node
	if len(x) == 11 {
		v = part(x[10], square)
		kept = []*ir.Node{v}
	} else {
		row := part(x[10], meanOver(square, -1))
		column := part(x[11], meanOver(square, -2))
		v = div(mul(row, column), maximum(meanOver(row, -2), x[6]))
		kept = []*ir.Node{row, column}
	}
	u := div(g, sqrt(maximum(v, x[7])))
	most := div(rms(u), x[9])
	down := mul(u, div(scale, maximum(most, constant(most, 1))))
	return append([]*ir.Node{sub(mul(w, x[3]), down)}, kept...)
})

func meanOver(x *ir.Node, axis int) *ir.Node {
	return op.Apply(op.Mean, op.Reduction{Axes: []int{axis}, Keep: true}, x)
}

// rms is the root of the mean of all squares.
func rms(x *ir.Node) *ir.Node { return sqrt(op.Apply(op.Mean, op.Reduction{}, mul(x, x))) }

// norm is the root of the sum of all squares.
func norm(x *ir.Node) *ir.Node { return sqrt(op.Apply(op.Sum, op.Reduction{}, mul(x, x))) }
