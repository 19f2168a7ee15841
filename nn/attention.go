package nn

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// AttentionOpts are the options of [ScaledDotProductAttention].
type AttentionOpts struct {
	// Mask broadcasts to [..., queries, keys]: bool, true where a query may see a key, or
	// floats that are added to the scores. Nil: a query sees all keys.
	Mask *weft.Tensor
	// Causal lets query i see the keys up to number i alone.
	Causal    bool
	Scale     *float64        // a factor of the scores; nil means 1/sqrt(width)
	Dropout   float64         // the probability with which a weight is set to 0
	Grouped   bool            // k and v have fewer heads, axis -3, each for a group of neighbours among q's
	Generator *weft.Generator // chooses them; nil is the default generator
}

// ScaledDotProductAttention is softmax(q k^T * scale) v over the keys that each query may see
// (Vaswani et al., Attention is all you need, 2017). q [..., queries, width], k [..., keys, width]
// and v [..., keys, out] give [..., queries, out]. Axes before the last two broadcast. A query that
// sees no key gets zeros. Memory is linear in queries and in keys, forward and back, unless the mask
// needs a gradient. It panics with *weft.Error if shapes or element types do not fit.
func ScaledDotProductAttention(q, k, v *weft.Tensor, opts ...AttentionOpts) *weft.Tensor {
	defer array.Named("attention").End()
	const name = "attention"
	o := array.Options(name, opts)
	for i, t := range []*weft.Tensor{q, k, v} {
		what := []string{"q", "k", "v"}[i]
		if t == nil {
			array.Failf(name, what, "is nil")
		}
		if t.Rank() < 2 || !t.DType().Float() || t.DType() != q.DType() {
			array.Failf(name, what, "is %s, want floats [... length width] of one type", array.TypeString(t.DType(), t.Shape()))
		}
	}
	group := 1
	if o.Grouped {
		group = groupOf(q, k, "k")
		if n := groupOf(q, v, "v"); n != group {
			array.Failf(name, "v", "has shape %s: want heads, axis -3, as k %s has", array.ShapeString(v.Shape()), array.ShapeString(k.Shape()))
		}
	}
	width := q.Dim(q.Rank() - 1)
	if k.Dim(k.Rank()-1) != width || k.Dim(k.Rank()-2) != v.Dim(v.Rank()-2) {
		array.Failf(name, "k", "has shape %s: want the width of q %s and the length of v %s", array.ShapeString(k.Shape()), array.ShapeString(q.Shape()), array.ShapeString(v.Shape()))
	}
	if !(o.Dropout >= 0 && o.Dropout <= 1) {
		array.Failf(name, "Dropout", "%v is not a probability: want 0 to 1", o.Dropout)
	}
	lead := q.Shape()[:q.Rank()-2]
	if group == 1 {
		lead = array.Broadcast(name, lead, k.Shape()[:k.Rank()-2])
	} else {
		lead = append(array.Broadcast(name, lead[:len(lead)-1], k.Shape()[:k.Rank()-3]), lead[len(lead)-1])
	}
	checkMask(o.Mask, q, append(slices.Clone(lead), q.Dim(-2), k.Dim(-2)))
	if o.Dropout > 0 && !array.BroadcastsTo(sizes(v)[:v.Rank()-2], lead) { // one set of weights for several values
		if group > 1 {
			k, v = k.RepeatInterleave(-3, group), v.RepeatInterleave(-3, group)
		}
		return weightsOfScores(q, k, o).MatMul(v)
	}
	if group == 1 {
		return attend(q, k, v, o)
	}
	// A group of heads is an axis along which keys and values do not move.
	q = q.Unflatten(-3, k.Dim(-3), group)
	if m := o.Mask; m != nil && m.Rank() > 2 {
		if m.Dim(-3) == 1 {
			o.Mask = m.Unsqueeze(-3)
		} else {
			o.Mask = m.Unflatten(-3, k.Dim(-3), group)
		}
	}
	y := attend(q, k.Unsqueeze(-3), v.Unsqueeze(-3), o)
	shape, n := y.Shape(), y.Rank()
	return y.Reshape(append(append(shape[:n-4], q.Dim(-4)*q.Dim(-3)), y.Dim(-2), y.Dim(-1))...)
}

// attend computes attention of arguments whose axes before the last two broadcast.
func attend(q, k, v *weft.Tensor, o AttentionOpts) *weft.Tensor {
	const name = "attention"
	apart := func(t *weft.Tensor) []int { return sizes(t)[:t.Rank()-2] }
	lead := array.Broadcast(name, apart(q), apart(k), apart(v))
	spread := func(t *weft.Tensor, rows, cols int) *weft.Tensor {
		if shape := append(slices.Clone(lead), rows, cols); !array.Equal(sizes(t), shape) {
			return t.Expand(shape...)
		}
		return t
	}
	args := []*weft.Tensor{spread(q, q.Dim(-2), q.Dim(-1)), spread(k, k.Dim(-2), k.Dim(-1)), spread(v, v.Dim(-2), v.Dim(-1))}
	if o.Mask != nil {
		args = append(args, spread(o.Mask, q.Dim(-2), k.Dim(-2)))
	}
	list := operands(name, args...)
	if o.Dropout > 0 {
		g := o.Generator
		if g == nil {
			g = weft.DefaultGenerator()
		}
		seed, draw := (*core.Generator)(g).Words(name)
		list = append(list, seed, draw)
	}
	return (*weft.Tensor)(core.Apply(op.Attention, op.Attending{Scale: scaleOf(q, o), Causal: o.Causal, Drop: o.Dropout}, list...))
}

// scaleOf returns the factor of scores.
func scaleOf(q *weft.Tensor, o AttentionOpts) float64 {
	return array.Or(o.Scale, 1/math.Sqrt(float64(max(q.Dim(-1), 1))))
}

// groupOf returns the number of q's heads for each head of x, keys or values.
func groupOf(q, x *weft.Tensor, arg string) int {
	n := x.Rank()
	if n < 3 || q.Rank() < 3 || x.Dim(n-3) < 1 || q.Dim(-3)%x.Dim(n-3) != 0 {
		array.Failf("attention", arg, "has shape %s: want a number of heads, axis -3, that divides q's %s", array.ShapeString(x.Shape()), array.ShapeString(q.Shape()))
	}
	return q.Dim(-3) / x.Dim(n-3)
}

// checkMask refuses a mask that does not fit scores of that shape.
func checkMask(m, q *weft.Tensor, scores []int) {
	const name = "attention"
	switch {
	case m == nil:
	case m.DType() != weft.Bool && m.DType() != q.DType():
		array.Failf(name, "Mask", "has elements of type %s, want bool or %s", m.DType(), q.DType())
	case !array.BroadcastsTo(sizes(m), scores):
		array.Failf(name, "Mask", "has shape %s, which does not broadcast to the scores' %s", array.ShapeString(m.Shape()), array.ShapeString(scores))
	}
}

// weightsOfScores returns the weights of values, [..., queries, keys].
func weightsOfScores(q, k *weft.Tensor, o AttentionOpts) *weft.Tensor {
	const name = "attention"
	scores := q.MatMul(k.Transpose(-2, -1))
	checkMask(o.Mask, q, sizes(scores))
	args := append(operands(name, scores), core.Num(scaleOf(q, o)))
	weights := plainWeights
	if o.Causal {
		weights = causalWeights
	}
	if o.Mask != nil {
		args = append(args, core.Of(name, (*core.Tensor)(o.Mask)))
	}
	p := first(weights, args...)
	if o.Dropout > 0 {
		p = p.Dropout(o.Dropout, o.Generator)
	}
	return p
}

var (
	plainWeights  = attentionWeights("attention", false)
	causalWeights = attentionWeights("causal_attention", true)
)

// attentionWeights is softmax over the last axis of scores times a factor, plus or under
// a mask; zeros where all is masked.
func attentionWeights(name string, causal bool) core.Composite {
	return core.NewComposite(name, asList(func(x []*node) *node {
		var mask *node
		if len(x) > 2 {
			mask = x[2]
		}
		return op.AttentionWeights(x[0], x[1], mask, causal)
	}), func(v *op.VJP) {
		ds := op.AttentionWeightsBack(v.Y, v.DY)
		v.Set(0, func() *node { return mul(ds, v.X[1]) })
		if len(v.X) > 2 {
			v.Set(2, func() *node { return ds })
		}
	})
}
