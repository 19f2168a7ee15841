package nn

import (
	"math"

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
// sees no key gets zeros. It panics with *weft.Error if shapes or element types do not fit.
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
	if o.Grouped {
		k, v = repeatHeads(q, k, "k"), repeatHeads(q, v, "v")
	}
	width := q.Dim(q.Rank() - 1)
	if k.Dim(k.Rank()-1) != width || k.Dim(k.Rank()-2) != v.Dim(v.Rank()-2) {
		array.Failf(name, "k", "has shape %s: want the width of q %s and the length of v %s", array.ShapeString(k.Shape()), array.ShapeString(q.Shape()), array.ShapeString(v.Shape()))
	}
	if !(o.Dropout >= 0 && o.Dropout <= 1) {
		array.Failf(name, "Dropout", "%v is not a probability: want 0 to 1", o.Dropout)
	}
	if splitsHeads(q, k, v) && o.Mask == nil && o.Dropout == 0 {
		return attendByHeadGroups(q, k, v, o.Causal, array.Or(o.Scale, 1/math.Sqrt(float64(width))))
	}
	return weightsOfScores(q, k, o).MatMul(v)
}

// repeatHeads returns x, keys or values, with each head once for each of its group of q's.
func repeatHeads(q, x *weft.Tensor, arg string) *weft.Tensor {
	n := x.Rank()
	if n < 3 || q.Rank() < 3 || x.Dim(n-3) < 1 || q.Dim(-3)%x.Dim(n-3) != 0 {
		array.Failf("attention", arg, "has shape %s: want a number of heads, axis -3, that divides q's %s", array.ShapeString(x.Shape()), array.ShapeString(q.Shape()))
	}
	return x.RepeatInterleave(n-3, q.Dim(-3)/x.Dim(n-3))
}

// weightsOfScores returns the weights of values, [..., queries, keys].
func weightsOfScores(q, k *weft.Tensor, o AttentionOpts) *weft.Tensor {
	const name = "attention"
	width := q.Dim(q.Rank() - 1)
	scores := q.MatMul(k.Transpose(-2, -1))
	args := append(operands(name, scores), core.Num(array.Or(o.Scale, 1/math.Sqrt(float64(max(width, 1))))))
	weights := plainWeights
	if o.Causal {
		weights = causalWeights
	}
	if m := o.Mask; m != nil {
		if m.DType() != weft.Bool && m.DType() != scores.DType() {
			array.Failf(name, "Mask", "has elements of type %s, want bool or %s", m.DType(), scores.DType())
		}
		if !array.BroadcastsTo(sizes(m), sizes(scores)) {
			array.Failf(name, "Mask", "has shape %s, which does not broadcast to the scores' %s", array.ShapeString(m.Shape()), array.ShapeString(scores.Shape()))
		}
		args = append(args, core.Of(name, (*core.Tensor)(m)))
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
		s := mul(x[0], x[1])
		if len(x) > 2 {
			if m := x[2]; m.DType == array.Bool {
				s = apply(op.Where, m, s, s.Graph.Number(math.Inf(-1), s.DType, false))
			} else {
				s = add(s, m)
			}
		}
		return softmaxOfSeen(s, causal)
	}), func(v *op.VJP) {
		ds := softmaxBack(v.Y, v.DY)
		v.Set(0, func() *node { return mul(ds, v.X[1]) })
		if len(v.X) > 2 {
			v.Set(2, func() *node { return ds })
		}
	})
}

// softmaxOfSeen is softmax of scores over the last axis, causally of those up to the row's
// number alone; zeros where all scores are -inf.
func softmaxOfSeen(s *node, causal bool) *node {
	g := s.Graph
	none := g.Number(math.Inf(-1), s.DType, false)
	last := len(s.Shape) - 1
	if s.Shape[last] == 0 {
		return s // no keys
	}
	if causal {
		seen := apply(op.Ge, op.Apply(op.Iota, op.Axis(last-1), s), op.Apply(op.Iota, op.Axis(last), s))
		s = apply(op.Where, seen, s, none)
	}
	top := reduceOver(op.Max, s, last)
	e := apply(op.Exp, sub(s, apply(op.Where, apply(op.Eq, top, none), g.Number(0, s.DType, false), top)))
	sum := reduceOver(op.Sum, e, last)
	return div(e, apply(op.Where, apply(op.Eq, sum, g.Number(0, s.DType, false)), oneLike(sum), sum))
}

// softmaxBack returns the gradient of scores whose softmax is p.
func softmaxBack(p, dp *node) *node {
	return mul(p, sub(dp, reduceOver(op.Sum, mul(dp, p), len(p.Shape)-1)))
}

// Scores of many heads at once go through memory between matmuls and softmax, three times forward
// and five times backward. So the same operations compute a few heads at a time, whose scores stay
// in a near cache.

// splitsHeads reports whether attention computes a few heads at a time: shapes are equal but for
// the last two axes, and there are many scores. A function that is traced is planned whole.
func splitsHeads(q, k, v *weft.Tensor) bool {
	n := q.Rank() - 2
	if n < 1 || q.DType() != weft.Float32 && q.DType() != weft.Float64 || k.Rank() != n+2 || v.Rank() != n+2 || core.TracingHere() != nil {
		return false
	}
	heads := sizes(q)[:n]
	if !array.Equal(sizes(k)[:n], heads) || !array.Equal(sizes(v)[:n], heads) {
		return false
	}
	costs := (*core.Tensor)(q).Costs()
	return array.Size(heads)*headBytes(q, k) >= costs.Far && headBytes(q, k) <= 2*costs.Band
}

// headBytes returns the size in bytes of the scores of one head.
func headBytes(q, k *weft.Tensor) int {
	return q.Dim(q.Rank()-2) * k.Dim(k.Rank()-2) * q.DType().Size()
}

// forHeadGroups calls f with the parts of tensors that belong to each group of per heads. Groups
// lie along the last axis of heads, for each index of the axes before it.
func forHeadGroups(per int, f func(part []*weft.Tensor), ts ...*weft.Tensor) {
	if ts[0].Rank() > 3 {
		for i := range ts[0].Dim(0) {
			parts := make([]*weft.Tensor, len(ts))
			for j, t := range ts {
				parts[j] = t.Slice(weft.Index(i))
			}
			forHeadGroups(per, f, parts...)
		}
		return
	}
	for lo, n := 0, ts[0].Dim(0); lo < n; lo += per {
		parts := make([]*weft.Tensor, len(ts))
		for j, t := range ts {
			parts[j] = t.Slice(weft.Range(lo, min(lo+per, n)))
		}
		f(parts)
	}
}

// headGroupForward returns a formula for attention and its weights, of queries, keys, values and a
// factor.
func headGroupForward(causal bool) *core.Fused {
	return core.NewFused("attention", func(x []*node) []*node {
		p := softmaxOfSeen(mul(matmul(x[0], transposeLast(x[1])), x[3]), causal)
		return []*node{matmul(p, x[2]), p}
	})
}

var plainBand, causalBand = headGroupForward(false), headGroupForward(true)

// bandBackward has a formula for each set of queries, keys and values, bits from the lowest, that
// need gradients. Its arguments are the gradient, the weights, queries, keys, values, a factor.
var bandBackward = func() (list [8]*core.Fused) {
	for need := range list {
		list[need] = core.NewFused("attention_gradient", func(x []*node) (out []*node) {
			dy, p, q, k, v := x[0], x[1], x[2], x[3], x[4]
			ds := mul(softmaxBack(p, matmul(dy, transposeLast(v))), x[5])
			if need&1 != 0 {
				out = append(out, matmul(ds, k))
			}
			if need&2 != 0 {
				out = append(out, matmul(transposeLast(ds), q))
			}
			if need&4 != 0 {
				out = append(out, matmul(transposeLast(p), dy))
			}
			return out
		})
	}
	return list
}()

// matmul returns the matrix product of x and y.
func matmul(x, y *node) *node { return apply(op.MatMul, x, y) }

// transposeLast returns x with its last two axes exchanged.
func transposeLast(x *node) *node {
	order := make(op.Order, len(x.Shape))
	for i := range order {
		order[i] = i
	}
	n := len(order)
	order[n-2], order[n-1] = n-1, n-2
	return op.Apply(op.Permute, order, x)
}

// attendByHeadGroups computes attention by groups of heads.
func attendByHeadGroups(q, k, v *weft.Tensor, causal bool, scale float64) *weft.Tensor {
	forward, weights := plainBand, plainWeights
	if causal {
		forward, weights = causalBand, causalWeights
	}
	per := max((*core.Tensor)(q).Costs().Band/headBytes(q, k), 1)
	return (&weft.Func{Name: "attention",
		Forward: func(f *weft.FuncContext, in ...*weft.Tensor) *weft.Tensor {
			q, k, v := in[0], in[1], in[2]
			shape, n := q.Shape(), q.Rank()
			shape[n-1] = v.Dim(n - 1)
			y := unset(q, shape...)
			shape[n-1] = k.Dim(n - 2)
			p := unset(q, shape...)
			forHeadGroups(per, func(t []*weft.Tensor) {
				forward.Into(core.Inner(t[:2]), append(operands("attention", t[2:5]...), core.Num(scale)))
			}, y, p, q, k, v)
			f.Save(q, k, v, p)
			return y
		},
		Backward: func(f *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			q, k, v, p := f.Saved(0), f.Saved(1), f.Saved(2), f.Saved(3)
			if f.Create {
				return byParts(f, dy, func(in []*weft.Tensor) *weft.Tensor {
					return first(weights, append(operands("attention", in[0].MatMul(in[1].Transpose(-2, -1))), core.Num(scale))...).MatMul(in[2])
				}, q, k, v)
			}
			out, ts, need := make([]*weft.Tensor, 3), []*weft.Tensor(nil), 0
			for i, x := range []*weft.Tensor{q, k, v} {
				if f.Need[i] {
					out[i] = unset(x, sizes(x)...)
					ts = append(ts, out[i])
					need |= 1 << i
				}
			}
			results := len(ts)
			forHeadGroups(per, func(t []*weft.Tensor) {
				bandBackward[need].Into(core.Inner(t[:results]), append(operands("attention_gradient", t[results:]...), core.Num(scale)))
			}, append(ts, dy, p, q, k, v)...)
			return out
		},
	}).Apply(q, k, v)
}
