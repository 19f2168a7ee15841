package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
)

// An Attending is the attribute of attention.
type Attending struct {
	Scale  float64 // a factor of the scores
	Causal bool    // query i sees the keys up to number i alone
	// Drop is the probability with which a weight is set to 0, the others being divided by 1-Drop, as
	// [Dropout] does. Unless it is 0, seed and draw follow the other arguments.
	Drop float64
}

// AppendKey implements ir.Attrs.
func (a Attending) AppendKey(k []byte) []byte {
	return ir.Float(ir.Flag(ir.Float(k, a.Scale), a.Causal), a.Drop)
}

// Kept returns the factor of weights that are not dropped.
func (a Attending) Kept() float64 {
	if a.Drop < 1 {
		return 1 / (1 - a.Drop)
	}
	return 0
}

// Masked reports whether n arguments, from q on, have a mask.
func (a Attending) Masked(n int) bool {
	if a.Drop > 0 {
		n -= 2
	}
	return n > 3
}

// drop drops elements of p, which is weights or their gradient; x are the arguments from q on.
func (a Attending) drop(p *node, x []*node) *node {
	if a.Drop == 0 {
		return p
	}
	n, g := len(x), p.Graph
	return apply(Dropout, p, x[n-2], x[n-1], g.Number(a.Drop, array.Float32, false), num(p, a.Kept()))
}

// Attention is softmax(q k^T scale) v, and attentionGrad its gradient. Both have a formula of other
// operations, with the scores of all queries and keys, and a routine with the same bits, which never
// holds the scores of more than a few queries. A plan has one of the two, by device and size.
var Attention, attentionGrad *Def

func init() {
	Attention = unlisted(Def{Name: "attention", Class: Routine, Arity: -1, Attrs: Attending{},
		Doc: "softmax(q k^T scale) v over the last two axes of q, k, v, and a mask of bool, or of floats that are added to the scores. Axes before them are equal. Weights may be dropped.",
		Typing: Typing{Wide: true, Infer: func(c *Call) (array.DType, []int) {
			c.attending("q", "k", "v")
			q, v := c.Args[0], c.Args[2]
			return q.DType, behind(q, v.Shape[len(v.Shape)-1])
		}},
		ByRoutine:  ByRoutine{Routine: ir.RoutineAttention, Formula: attentionFormula},
		Derivative: Derivative{VJP: attentionVJP},
	})
	attentionGrad = unlisted(Def{Name: "attention_gradient", Class: Routine, Arity: -1, Attrs: Attending{},
		Doc: "The gradients of attention for q, k and v, from that of its result and the arguments of attention.",
		Typing: Typing{Wide: true, Results: 3, InferAll: func(c *Call) (types []ir.Type) {
			c.count(4, 7)
			of := &Call{Def: Attention, Args: c.Args[1:], Attrs: c.Attrs}
			of.attending("q", "k", "v")
			q, v := c.Args[1], c.Args[3]
			c.sameShape("gradient", c.Args[0].Shape, behind(q, v.Shape[len(v.Shape)-1]))
			for _, x := range c.Args[1:4] {
				types = append(types, ir.Type{DType: x.DType, Shape: x.Shape})
			}
			return types
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineAttentionGrad, Formula: func(x []*node, a ir.Attrs) []*node {
			return attentionGradients(x, a.(Attending))[:3]
		}},
		Derivative: Derivative{VJP: attentionGradVJP},
	})
}

// behind is the shape of x with another size of the last axis.
func behind(x *node, size int) []int {
	shape := append([]int(nil), x.Shape...)
	shape[len(shape)-1] = size
	return shape
}

// attending checks the arguments: queries, keys, values, a mask.
func (c *Call) attending(names ...string) {
	a := c.Attrs.(Attending)
	if !(a.Drop >= 0 && a.Drop <= 1) {
		c.Failf("drop", "%v is not a probability: want 0 to 1", a.Drop)
	}
	if a.Drop > 0 {
		c.count(5, 6)
		for _, x := range c.Args[len(c.Args)-2:] {
			if len(x.Shape) > 0 || !x.DType.Integer() {
				c.Failf("draw", "is %s, want integers of no dimensions", array.TypeString(x.DType, x.Shape))
			}
		}
	} else {
		c.count(3, 4)
	}
	q := c.Args[0]
	r := len(q.Shape)
	for i, x := range c.Args[:3] {
		if len(x.Shape) != r || r < 2 || !x.DType.Float() || x.DType != q.DType || !array.Equal(x.Shape[:r-2], q.Shape[:r-2]) {
			c.Failf(names[i], "is %s, want floats [... length width] as q, %s", array.TypeString(x.DType, x.Shape), array.TypeString(q.DType, q.Shape))
		}
	}
	k, v := c.Args[1], c.Args[2]
	if k.Shape[r-1] != q.Shape[r-1] || k.Shape[r-2] != v.Shape[r-2] {
		c.Failf("k", "has shape %s: want the width of q %s and the length of v %s", array.ShapeString(k.Shape), array.ShapeString(q.Shape), array.ShapeString(v.Shape))
	}
	if a.Masked(len(c.Args)) {
		m := c.Args[3]
		if m.DType != array.Bool && m.DType != q.DType {
			c.Failf("mask", "has elements of type %s, want bool or %s", m.DType, q.DType)
		}
		c.sameShape("mask", m.Shape, behind(q, k.Shape[r-2]))
	}
}

// maskOf is the mask among arguments from q on, nil for none.
func maskOf(x []*node, a Attending) *node {
	if a.Masked(len(x)) {
		return x[3]
	}
	return nil
}

// AttentionWeights is softmax of scores times a factor over the last axis: plus a mask of floats, or
// where a mask of bool is true; mask may be nil. Causally, row i has the scores up to number i alone.
// A row without scores has zeros.
func AttentionWeights(scores, scale, mask *node, causal bool) *node {
	s := mul(scores, scale)
	none := num(s, math.Inf(-1))
	switch {
	case mask == nil:
	case mask.DType == array.Bool:
		s = apply(Where, mask, s, none)
	default:
		s = add(s, mask)
	}
	last := len(s.Shape) - 1
	if s.Shape[last] == 0 {
		return s // no keys
	}
	if causal {
		seen := apply(Ge, Apply(Iota, Axis(last-1), s), Apply(Iota, Axis(last), s))
		s = apply(Where, seen, s, none)
	}
	along := Reduction{Axes: []int{last}, Keep: true}
	top := Apply(Max, along, s)
	e := apply(Exp, sub(s, apply(Where, apply(Eq, top, none), num(s, 0), top)))
	sum := Apply(Sum, along, e)
	return apply(Div, e, apply(Where, apply(Eq, sum, num(s, 0)), num(s, 1), sum))
}

// AttentionWeightsBack returns the gradient of masked scores from the weights p and their gradient.
func AttentionWeightsBack(p, dp *node) *node {
	return mul(p, sub(dp, Apply(Sum, Reduction{Axes: []int{len(p.Shape) - 1}, Keep: true}, mul(dp, p))))
}

// positive is x with +0 in the place of -0: then the sign of a zero does not depend on how many
// weights of zero were left out of a sum.
func positive(x *node) *node { return add(x, num(x, 0)) }

func attentionFormula(x []*node, a ir.Attrs) []*node {
	at := a.(Attending)
	p := AttentionWeights(apply(MatMul2, x[0], swapLast(x[1])), num(x[0], at.Scale), maskOf(x, at), at.Causal)
	return []*node{positive(apply(MatMul2, at.drop(p, x), x[2]))}
}

// attentionGradients returns the gradients of q, k, v and a mask of floats from that of the result, q,
// k, v and the mask.
func attentionGradients(x []*node, a Attending) []*node {
	dy, q, k, v := x[0], x[1], x[2], x[3]
	scale := num(q, a.Scale)
	p := AttentionWeights(apply(MatMul2, q, swapLast(k)), scale, maskOf(x[1:], a), a.Causal)
	masked := AttentionWeightsBack(p, a.drop(apply(MatMul2, dy, swapLast(v)), x[1:]))
	ds := mul(masked, scale)
	return []*node{positive(apply(MatMul2, ds, k)), positive(apply(MatMul2, swapLast(ds), q)), positive(apply(MatMul2, swapLast(a.drop(p, x[1:])), dy)), masked}
}

func attentionVJP(v *VJP) {
	x, a := append([]*node{v.DY}, v.X...), v.Node.Attrs.(Attending)
	var d []*node
	if a.Masked(len(v.X)) && v.Need[3] { // a gradient has one element for each score
		d = attentionGradients(x, a)
	} else {
		d = ApplyAll(attentionGrad, a, x...)
	}
	for i := range v.X {
		v.Set(i, func() *node { return d[i] })
	}
}

// attentionGradVJP differentiates the formula.
func attentionGradVJP(v *VJP) {
	apart := ir.New()
	var from, in, wrt, dys []*node
	leaf := func(x *node) *node {
		from = append(from, x)
		return apart.Input(len(from)-1, x.DType, x.Shape)
	}
	for i, x := range v.X {
		in = append(in, leaf(x))
		if v.Need[i] {
			wrt = append(wrt, in[i])
		}
	}
	for _, dy := range v.DYs {
		dys = append(dys, leaf(dy))
	}
	d := attentionGradients(in, v.Node.Attrs.(Attending))[:3]
	grads := Import(v.Node.Graph, Gradient(d, dys, wrt), func(n *node) *node { return from[n.Arg()] })
	for i := range v.X {
		v.Set(i, func() *node {
			if d := grads[0]; d != nil {
				return d
			}
			return zeros(v.Node.Graph, ir.Type{DType: v.X[i].DType, Shape: v.X[i].Shape})
		})
		if v.Need[i] {
			grads = grads[1:]
		}
	}
}

// Scores returns the size in bytes of all scores of a node of [Attention] or of its gradient.
func Scores(n *node) int {
	q, k := n.Args[0], n.Args[1]
	if n.Op == attentionGrad {
		q, k = n.Args[1], n.Args[2]
	}
	r := len(q.Shape)
	return array.Size(q.Shape[:r-1]) * k.Shape[r-2] * q.DType.Size()
}

// Formulas returns outs with their formulas in the places of nodes that have one, except where keep
// holds.
func Formulas(outs []*node, keep func(n *node) bool) []*node {
	reach := ir.Reach(outs)
	replaces := func(n *node) bool { d := Of(n); return d != nil && d.Formula != nil && !keep(n) }
	for id := range reach {
		if reach[id] && replaces(outs[0].Graph.Nodes[id]) {
			return formulas(outs, reach, replaces)
		}
	}
	return outs
}

func formulas(outs []*node, reach []bool, replaces func(n *node) bool) []*node {
	nodes := outs[0].Graph.Nodes[:len(reach)]
	fresh, several := make([]*node, len(nodes)), map[*node][]*node{}
	for id, n := range nodes {
		if !reach[id] {
			continue
		}
		args := make([]*node, len(n.Args))
		for i, a := range n.Args {
			args[i] = fresh[a.ID]
		}
		switch {
		case n.Op == ir.Result && several[n.Args[0]] != nil:
			fresh[id] = several[n.Args[0]][n.Arg()]
		case replaces(n):
			y := Of(n).Formula(args, n.Attrs)
			fresh[id] = y[0]
			if n.Results != nil {
				several[n] = y
			}
		default:
			fresh[id] = rebuilt(n, args)
		}
	}
	res := make([]*node, len(outs))
	for i, o := range outs {
		res[i] = fresh[o.ID]
	}
	return res
}
