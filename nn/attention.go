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
	return p.MatMul(v)
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

// MultiheadAttentionOpts are the options of [NewMultiheadAttention].
type MultiheadAttentionOpts struct {
	NoBias     bool
	BatchFirst bool            // [batch, steps, width] rather than [steps, batch, width]
	Dropout    float64         // the probability with which a weight is set to 0 in training
	Weight     Init            // draws the weights; nil is [XavierUniform], and [FanInUniform] for the last projection
	Generator  *weft.Generator // what they, and Dropout, are drawn from; nil is the default generator
}

// MultiheadAttention is attention with several heads. Each head sees a part of
// projections of queries, keys and values; another projection puts the results together.
type MultiheadAttention struct {
	InProjWeight *weft.Tensor // [3*width, width]: queries', keys', values' weights
	InProjBias   *weft.Tensor // [3*width], nil for none
	OutProj      *Linear
	Heads        int // divides the width
	BatchFirst   bool
	Drop         *Dropout // drops attention weights by its P and Generator; nil for none
}

// NewMultiheadAttention returns a layer of float32 parameters. It panics with *weft.Error
// if heads do not divide the width.
func NewMultiheadAttention(width, heads int, opts ...MultiheadAttentionOpts) *MultiheadAttention {
	defer array.Named("multihead_attention").End()
	if width < 1 || heads < 1 || width%heads != 0 {
		array.Failf("multihead_attention", "heads", "is %d, which does not divide the width %d", heads, width)
	}
	o := array.Options("multihead_attention", opts)
	in := o.Weight
	if in == nil {
		in = XavierUniform
	}
	out := Opts{NoBias: o.NoBias, Weight: o.Weight, Bias: Constant(0), Generator: o.Generator}
	m := &MultiheadAttention{Heads: heads, BatchFirst: o.BatchFirst, InProjWeight: Param(in(o.Generator, 3*width, width))}
	if !o.NoBias {
		m.InProjBias = Param(weft.Zeros(3 * width))
	}
	m.OutProj = NewLinear(width, width, out)
	if o.Dropout != 0 {
		m.Drop = &Dropout{P: o.Dropout, Generator: o.Generator}
	}
	return m
}

// Forward is [MultiheadAttention.Attend] of x to itself without masks.
func (m *MultiheadAttention) Forward(x *weft.Tensor) *weft.Tensor {
	return m.Attend(x, x, x, AttendOpts{})
}

// AttendOpts are the options of [MultiheadAttention.Attend]. As in PyTorch, masks of bool
// are true where a key is NOT seen, other than that of [ScaledDotProductAttention].
type AttendOpts struct {
	KeyPadding *weft.Tensor // [batch, keys]: bool, or floats that are added to the scores
	// Mask is [queries, keys] or [batch*heads, queries, keys]: bool, or floats that are
	// added to the scores.
	Mask   *weft.Tensor
	Causal bool // query i sees the keys up to number i alone
}

// Attend maps queries [steps, batch, width], and keys and values [keys, batch, width], to
// the shape of the queries. It panics with *weft.Error if shapes or element types do not
// fit.
func (m *MultiheadAttention) Attend(q, k, v *weft.Tensor, opts ...AttendOpts) *weft.Tensor {
	defer array.Named("multihead_attention").End()
	o := array.Options("multihead_attention", opts)
	const name = "multihead_attention"
	if m == nil || m.InProjWeight == nil || m.OutProj == nil {
		failNil(name, "NewMultiheadAttention")
	}
	w := m.InProjWeight
	if w.Rank() != 2 || w.Dim(0) != 3*w.Dim(1) || m.Heads < 1 || w.Dim(1)%m.Heads != 0 {
		array.Failf(name, "InProjWeight", "has shape %s, want [3*width width], width a multiple of %d heads", array.ShapeString(w.Shape()), m.Heads)
	}
	width := w.Dim(1)
	for i, t := range []*weft.Tensor{q, k, v} {
		what := []string{"q", "k", "v"}[i]
		if t == nil {
			array.Failf(name, what, "is nil")
		}
		if t.Rank() != 3 || t.Dim(2) != width {
			array.Failf(name, what, "has shape %s, want [steps batch %d] (BatchFirst: [batch steps %d])", array.ShapeString(t.Shape()), width, width)
		}
	}
	batchAxis := 1
	if m.BatchFirst {
		batchAxis = 0
	}
	batch, steps, keys := q.Dim(batchAxis), q.Dim(1-batchAxis), k.Dim(1-batchAxis)
	if k.Dim(batchAxis) != batch || v.Dim(batchAxis) != batch || v.Dim(1-batchAxis) != keys {
		array.Failf(name, "k", "has shape %s, q %s and v %s", array.ShapeString(k.Shape()), array.ShapeString(q.Shape()), array.ShapeString(v.Shape()))
	}
	heads := func(x *weft.Tensor) *weft.Tensor { // [batch, heads, steps, part]
		x = x.Unflatten(2, m.Heads, width/m.Heads)
		if m.BatchFirst {
			return x.Transpose(1, 2)
		}
		return x.Permute(1, 2, 0, 3)
	}
	var parts []*weft.Tensor
	if q == k && k == v {
		parts = q.Linear(w, m.InProjBias).Chunk(2, 3)
	} else {
		for i, t := range []*weft.Tensor{q, k, v} {
			rows := weft.Range(i*width, (i+1)*width)
			var b *weft.Tensor
			if m.InProjBias != nil {
				b = m.InProjBias.Slice(rows)
			}
			parts = append(parts, t.Linear(w.Slice(rows), b))
		}
	}
	attend := AttentionOpts{Causal: o.Causal, Mask: m.mask(o, batch, steps, keys)}
	if m.Drop != nil && !m.Drop.eval {
		attend.Dropout, attend.Generator = m.Drop.P, m.Drop.Generator
	}
	y := ScaledDotProductAttention(heads(parts[0]), heads(parts[1]), heads(parts[2]), attend)
	if m.BatchFirst {
		y = y.Transpose(1, 2)
	} else {
		y = y.Permute(2, 0, 1, 3)
	}
	return m.OutProj.Forward(y.Flatten(2))
}

// mask is what masks of bool or floats add to the scores [batch, heads, steps, keys]; nil
// for nothing. A mask of bool alone becomes one of [ScaledDotProductAttention].
func (m *MultiheadAttention) mask(o AttendOpts, batch, steps, keys int) *weft.Tensor {
	const name = "multihead_attention"
	var masks []*weft.Tensor
	if p := o.KeyPadding; p != nil {
		if !array.Equal(sizes(p), []int{batch, keys}) {
			array.Failf(name, "KeyPadding", "has shape %s, want [%d %d]", array.ShapeString(p.Shape()), batch, keys)
		}
		masks = append(masks, p.Reshape(batch, 1, 1, keys))
	}
	if a := o.Mask; a != nil {
		switch {
		case array.Equal(sizes(a), []int{steps, keys}):
		case array.Equal(sizes(a), []int{batch * m.Heads, steps, keys}):
			a = a.Reshape(batch, m.Heads, steps, keys)
		default:
			array.Failf(name, "Mask", "has shape %s, want [%d %d] or [%d %d %d]", array.ShapeString(a.Shape()), steps, keys, batch*m.Heads, steps, keys)
		}
		masks = append(masks, a)
	}
	bools := true
	for _, a := range masks {
		if a.DType() != weft.Bool && !a.DType().Float() {
			array.Failf(name, "Mask", "has elements of type %s, want bool or floats", a.DType())
		}
		bools = bools && a.DType() == weft.Bool
	}
	d := m.InProjWeight.DType()
	var sum *weft.Tensor
	for _, a := range masks {
		switch {
		case bools:
			a = a.LogicalNot()
		case a.DType() == weft.Bool:
			a = weft.Where(a, math.Inf(-1), 0.0)
		}
		if !bools && a.DType() != d {
			a = a.To(d)
		}
		switch {
		case sum == nil:
			sum = a
		case bools:
			sum = sum.LogicalAnd(a)
		default:
			sum = sum.Add(a)
		}
	}
	return sum
}
