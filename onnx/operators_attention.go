package onnx

import (
	"math"

	"weft"
	"weft/nn"
)

// Attention and what goes with it.
var attentionOperators = []operator{
	{name: "Attention", since: 23, run: attention},
	{name: "CausalConvWithState", since: 27, run: causalConvWithState},
	{name: "LinearAttention", since: 27, run: linearAttention},
	{name: "RotaryEmbedding", since: 23, run: rotaryEmbedding},
}

// heads gives x [batch length heads*width] the axes [batch heads length width].
func (c *call) heads(x *weft.Tensor, heads int) *weft.Tensor {
	if x.Rank() != 3 || heads < 1 || x.Dim(2)%heads != 0 {
		c.fail("a tensor of the shape %v does not have %d heads along its last of 3 axes", x.Shape(), heads)
	}
	return x.Reshape(x.Dim(0), x.Dim(1), heads, x.Dim(2)/heads).Permute(0, 2, 1, 3)
}

// joined gives x [batch heads length width] the axes [batch length heads*width].
func joined(x *weft.Tensor) *weft.Tensor {
	return x.Permute(0, 2, 1, 3).Reshape(x.Dim(0), x.Dim(2), x.Dim(1)*x.Dim(3))
}

// An attentionCall describes attention of q [B H Q W] to k [B G K W] and v [B G K O], where G divides H.
type attentionCall struct {
	q, k, v *weft.Tensor
	scale   float64
	softcap float64 // 0 for none
	allowed *weft.Tensor
	bias    *weft.Tensor // added to the scores, of q's element type
	causal  bool         // query i sees keys up to i
	soften  weft.DType   // in which the softmax is computed, if it is not q's
	sink    *weft.Tensor // a score of each head whose weight goes to no value
	mode    int          // what scores returns beside the result: -1 for nothing
}

// allow lets queries see what they saw and ok lets them see.
func (s *attentionCall) allow(ok *weft.Tensor) {
	if s.allowed != nil {
		ok = s.allowed.LogicalAnd(ok)
	}
	s.allowed = ok
}

// run returns the result [B H Q O], and scores [B H Q K] as the mode says: 0 as they are, 1 capped,
// 2 capped and biased, 3 after the softmax.
func (s *attentionCall) run() (y, scores *weft.Tensor) {
	q, k, v := s.q, s.k, s.v
	d := q.DType()
	if s.mode < 0 && s.softcap == 0 && s.sink == nil && (s.soften == d || d.Half() && s.soften == weft.Float32) && v.DType() == d {
		mask := s.allowed
		if s.bias != nil {
			mask = s.bias
			if s.allowed != nil {
				mask = weft.Where(s.allowed, s.bias, weft.FullOf(d, math.Inf(-1)))
			}
		}
		return nn.ScaledDotProductAttention(q, k, v, nn.AttentionOpts{Mask: mask, Causal: s.causal, Scale: &s.scale, Grouped: q.Dim(1) != k.Dim(1)}), nil
	}
	if s.causal {
		s.allow(keysUpTo(q.Dim(2), k.Dim(2), 0))
	}
	if n := q.Dim(1) / max(k.Dim(1), 1); n > 1 {
		k, v = k.RepeatInterleave(1, n), v.RepeatInterleave(1, n)
	}
	root := math.Sqrt(s.scale)
	x := q.Mul(root).MatMul(k.Mul(root).Transpose(2, 3))
	scores = x
	if s.softcap > 0 {
		x = x.Div(s.softcap).Tanh().Mul(s.softcap)
	}
	if s.mode == 1 {
		scores = x
	}
	if s.bias != nil {
		x = x.Add(s.bias)
	}
	// A query that may see no key gets zeros, also where its scores are not numbers.
	allowed := s.allowed
	if s.bias != nil {
		seen := s.bias.Ne(math.Inf(-1))
		if allowed != nil {
			seen = allowed.LogicalAnd(seen)
		}
		allowed = seen
	}
	if s.allowed != nil {
		x = weft.Where(s.allowed, x, weft.FullOf(d, math.Inf(-1)))
	}
	if s.mode == 2 {
		scores = x
	}
	x = x.To(s.soften)
	keys := x.Dim(3)
	if s.sink != nil {
		column := s.sink.To(s.soften).Reshape(1, s.sink.Size(), 1, 1).Expand(x.Dim(0), x.Dim(1), x.Dim(2), 1)
		x = weft.Cat([]*weft.Tensor{x, column}, 3)
	}
	p := x.Softmax(3).Slice(weft.Ellipsis, weft.Range(0, keys))
	if allowed != nil {
		p = weft.Where(allowed.Any(-1).Unsqueeze(-1), p, weft.ZerosOf(p.DType()))
	}
	p = p.To(d)
	if s.mode == 3 {
		scores = p
	}
	return p.MatMul(v).To(d), scores
}

// distances are [queries keys], or [B 1 queries keys] if offset has an element for each of B: how far a query
// stands after a key, where the first query stands at offset.
func distances(queries, keys int, offset any) *weft.Tensor {
	i := weft.ArangeOf(weft.Int64, queries).Reshape(queries, 1)
	return i.Add(offset).Sub(weft.ArangeOf(weft.Int64, keys))
}

// keysUpTo is true where a query does not stand before a key.
func keysUpTo(queries, keys int, offset any) *weft.Tensor {
	return distances(queries, keys, offset).Ge(0)
}

// scoresOf reads inputs 0 to 2, with 3 or 4 axes, and says that the result has the former.
func (c *call) scoresOf() (s *attentionCall, flat bool) {
	s = &attentionCall{q: c.tensor(0), k: c.tensor(1), v: c.tensor(2), mode: -1}
	qHeads, kvHeads := c.attrInt("q_num_heads", 0), c.attrInt("kv_num_heads", 0)
	if flat = s.q.Rank() == 3; flat {
		s.q, s.k, s.v = c.heads(s.q, qHeads), c.heads(s.k, kvHeads), c.heads(s.v, kvHeads)
	}
	if s.q.Rank() != 4 || s.k.Rank() != 4 || s.v.Rank() != 4 {
		c.fail("Q, K and V have %d, %d and %d axes: want 3 or 4 each", s.q.Rank(), s.k.Rank(), s.v.Rank())
	}
	if s.k.Dim(1) < 1 || s.q.Dim(1)%s.k.Dim(1) != 0 || s.v.Dim(1) != s.k.Dim(1) {
		c.fail("there are %d heads of queries, %d of keys and %d of values: want the latter to be one number that divides the first", s.q.Dim(1), s.k.Dim(1), s.v.Dim(1))
	}
	s.soften = s.q.DType()
	return s, flat
}

func attention(c *call) []Value {
	s, flat := c.scoresOf()
	s.softcap = c.attrFloat("softcap", 0)
	s.scale = 1 / math.Sqrt(float64(max(s.q.Dim(3), 1)))
	if c.given("scale") {
		s.scale = c.attrFloat("scale", 0)
	}
	if to := ElementType(c.attrInt("softmax_precision", 0)); to != Undefined {
		if !to.DType().Float() || elementOf(to.DType()) != to {
			c.fail("softmax_precision is the %v: want floats", to)
		}
		s.soften = to.DType()
	}
	mode := c.attrInt("qk_matmul_output_mode", 0)
	if mode < 0 || mode > 3 {
		c.fail("qk_matmul_output_mode is %d: want 0 to 3", mode)
	}
	if c.wants(3) {
		s.mode = mode
	}
	var offset any = 0
	var nonpad *weft.Tensor
	if c.has(4) != c.has(5) {
		c.fail("past_key and past_value are given one without the other")
	}
	if c.has(4) {
		offset = c.tensor(4).Dim(2)
		s.k, s.v = weft.Cat([]*weft.Tensor{c.tensor(4), s.k}, 2), weft.Cat([]*weft.Tensor{c.tensor(5), s.v}, 2)
	}
	queries, keys := s.q.Dim(2), s.k.Dim(2)
	if c.has(6) {
		if c.has(4) {
			c.fail("nonpad_kv_seqlen is given with past_key")
		}
		nonpad = c.tensor(6).To(weft.Int64).Reshape(-1, 1, 1, 1)
		offset = nonpad.Sub(queries)
	}
	if c.has(3) {
		c.attentionMask(s, c.tensor(3))
	}
	if c.attrBool("is_causal", false) {
		if s.causal = offset == 0; !s.causal {
			s.allow(keysUpTo(queries, keys, offset))
		}
	}
	if left := c.attrInt("left_window_size", -1); left >= 0 {
		s.allow(distances(queries, keys, offset).Le(left))
	}
	if right := c.attrInt("right_window_size", -1); right >= 0 {
		s.allow(distances(queries, keys, offset).Ge(-right))
	}
	if nonpad != nil {
		s.allow(weft.ArangeOf(weft.Int64, keys).Lt(nonpad))
	}
	y, scores := s.run()
	if flat {
		y = joined(y)
	}
	return tensors(y, s.k, s.v, scores)
}

// attentionMask takes a mask of booleans, or one that is added, whose last axis may be too short.
func (c *call) attentionMask(s *attentionCall, m *weft.Tensor) {
	if m.Rank() < 1 || m.Rank() > 4 {
		c.fail("the mask has %d axes: want 1 to 4", m.Rank())
	}
	fill := math.Inf(-1)
	if m.DType() == weft.Bool {
		fill = 0
	} else {
		m = m.To(s.q.DType())
	}
	if missing := s.k.Dim(2) - m.Dim(-1); missing > 0 {
		pads := make([]int, 2*m.Rank())
		pads[len(pads)-1] = missing
		m = m.Pad(fill, pads...)
	}
	if m.DType() == weft.Bool {
		s.allow(m)
	} else {
		s.bias = m
	}
}

// rotated is x [... width] whose first axes are turned by cos and sin, which broadcast to half of size.
func (c *call) rotated(x, cos, sin *weft.Tensor, size int, interleaved bool) *weft.Tensor {
	width := x.Dim(-1)
	if size == 0 {
		size = width
	}
	if size < 0 || size > width || size%2 != 0 || cos.Dim(-1) != size/2 || sin.Dim(-1) != size/2 {
		c.fail("%d of %d elements are turned by %d cosines and %d sines: want half their number", size, width, cos.Dim(-1), sin.Dim(-1))
	}
	last := func(t *weft.Tensor, s weft.Span) *weft.Tensor { return t.Slice(weft.Ellipsis, s) }
	turned := last(x, weft.Range(0, size))
	var a, b *weft.Tensor
	if interleaved {
		a, b = last(turned, weft.Range(0, size, 2)), last(turned, weft.Range(1, size, 2))
	} else {
		a, b = last(turned, weft.Range(0, size/2)), last(turned, weft.Range(size/2, size))
	}
	re, im := a.Mul(cos).Sub(b.Mul(sin)), a.Mul(sin).Add(b.Mul(cos))
	if interleaved {
		turned = weft.Stack([]*weft.Tensor{re, im}, -1).Reshape(turned.Shape()...)
	} else {
		turned = weft.Cat([]*weft.Tensor{re, im}, -1)
	}
	if size == width {
		return turned
	}
	return weft.Cat([]*weft.Tensor{turned, last(x, weft.Range(size, width))}, -1)
}

// rowsAt are the rows of a cache [positions width] at positions [batch length], with an axis for the heads.
func rowsAt(cache, positions *weft.Tensor) *weft.Tensor {
	return cache.IndexSelect(0, positions.Flatten(0)).Reshape(positions.Dim(0), 1, positions.Dim(1), cache.Dim(1))
}

func rotaryEmbedding(c *call) []Value {
	x, cos, sin := c.tensor(0), c.tensor(1), c.tensor(2)
	heads, size := c.attrInt("num_heads", 0), c.attrInt("rotary_embedding_dim", 0)
	interleaved := c.attrBool("interleaved", false)
	flat := x.Rank() == 3
	if flat {
		x = c.heads(x, heads)
	}
	if x.Rank() != 4 {
		c.fail("the input has %d axes: want 3 or 4", x.Rank())
	}
	if c.has(3) {
		cos, sin = rowsAt(cos, c.tensor(3)), rowsAt(sin, c.tensor(3))
	} else {
		cos, sin = cos.Unsqueeze(1), sin.Unsqueeze(1)
	}
	y := c.rotated(x, cos, sin, size, interleaved)
	if flat {
		y = joined(y)
	}
	return tensors(y.To(x.DType()))
}

// causalConvWithState is a convolution of each channel along the last axis, after the state.
func causalConvWithState(c *call) []Value {
	x, w, bias, past := c.tensor(0), c.tensor(1), c.optional(2), c.optional(3)
	if x.Rank() != 3 || w.Rank() != 3 || w.Dim(0) != x.Dim(1) || w.Dim(1) != 1 || w.Dim(2) < 1 {
		c.fail("the input has the shape %v, the kernels %v: want [batch channels length] and [channels 1 size]", x.Shape(), w.Shape())
	}
	channels, size := x.Dim(1), w.Dim(2)
	if past == nil {
		past = weft.ZerosOf(x.DType(), x.Dim(0), channels, size-1)
	}
	all := weft.Cat([]*weft.Tensor{past, x}, 2)
	y := all.Conv1d(w, bias, weft.Conv1dOpts{Groups: &channels})
	switch a := c.attrString("activation", "none"); a {
	case "none":
	case "silu", "swish":
		y = y.Silu()
	default:
		c.fail("attribute %q is %q", "activation", a)
	}
	n := all.Dim(2)
	return tensors(y, all.Slice(weft.All, weft.All, weft.Range(n-size+1, n)))
}

// linearAttention has a state [batch heads keys values] for the past, which each step changes and reads.
func linearAttention(c *call) []Value {
	q, k, v, past, decay, beta := c.tensor(0), c.tensor(1), c.tensor(2), c.optional(3), c.optional(4), c.optional(5)
	c.need("q_num_heads")
	c.need("kv_num_heads")
	qHeads, heads := c.attrInt("q_num_heads", 0), c.attrInt("kv_num_heads", 0)
	scale := c.attrFloat("scale", 0)
	c.attrInt("chunk_size", 64) // does not change results
	rule := c.attrString("update_rule", "gated_delta")
	gated, delta := rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"
	if !gated && !delta && rule != "linear" {
		c.fail("attribute %q is %q", "update_rule", rule)
	}
	if gated != (decay != nil) || delta != (beta != nil) {
		c.fail("the update rule %q does not go with the inputs decay and beta that are given", rule)
	}
	if heads < 1 || qHeads%heads != 0 {
		c.fail("there are %d heads of queries and %d of keys: want the latter to divide the former", qHeads, heads)
	}
	d := q.DType()
	wide := func(x *weft.Tensor) *weft.Tensor {
		if x.DType().Half() {
			return x.To(weft.Float32)
		}
		return x
	}
	// The first axis is that of time, and vectors have an axis for the other side of the state.
	steps := func(x *weft.Tensor, heads int) *weft.Tensor { return c.heads(wide(x), heads).Permute(2, 0, 1, 3) }
	group := qHeads / heads
	qs, ks, vs := steps(q, qHeads), steps(k, heads), steps(v, heads)
	width := qs.Dim(3)
	if ks.Dim(3) != width {
		c.fail("queries have %d elements, keys %d", width, ks.Dim(3))
	}
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(max(width, 1)))
	}
	given := d
	if past == nil {
		past = weft.ZerosOf(wide(q).DType(), q.Dim(0), heads, width, vs.Dim(3))
	} else {
		given = past.DType()
	}
	if gated {
		decay = steps(decay, heads)
		if n := decay.Dim(3); n != 1 && n != width {
			c.fail("decay has %d elements for each head: want 1 or %d", n, width)
		}
		decay = decay.Exp().Unsqueeze(-1)
	}
	if delta {
		beta = wide(beta).Permute(1, 0, 2).Unsqueeze(-1).Unsqueeze(-1)
	}
	batch, values := q.Dim(0), vs.Dim(3)
	qs = qs.Reshape(qs.Dim(0), batch, heads, group, width).Mul(scale)
	ks, vs = ks.Unsqueeze(-1), vs.Unsqueeze(-2)
	last, outs := weft.ScanSteps(q.Dim(1), func(i *weft.Tensor, state []*weft.Tensor) (next, out []*weft.Tensor) {
		at := func(x *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, i.Reshape(1)).Squeeze(0) }
		s, key, value := state[0], at(ks), at(vs)
		if gated {
			s = s.Mul(at(decay))
		}
		if delta {
			value = value.Sub(s.Mul(key).SumKeep(2)).Mul(at(beta))
		}
		s = s.Add(key.Mul(value))
		return []*weft.Tensor{s}, []*weft.Tensor{at(qs).MatMul(s)}
	}, []*weft.Tensor{wide(past)})
	y := outs[0].Permute(1, 0, 2, 3, 4).Reshape(batch, q.Dim(1), qHeads*values)
	return tensors(y.To(d), last[0].To(given))
}
