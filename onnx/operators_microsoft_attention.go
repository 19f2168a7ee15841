package onnx

import (
	"math"

	"weft"
)

// Attention of the domain com.microsoft.

// headScale returns the factor of scores: attribute scale, or 1/sqrt(width) if that is 0.
func (c *call) headScale(width int) float64 {
	if s := c.attrFloat("scale", 0); s != 0 {
		return s
	}
	return 1 / math.Sqrt(float64(max(width, 1)))
}

// addBias adds b to the bias of the scores.
func (s *attentionCall) addBias(b *weft.Tensor) {
	if b = b.To(s.q.DType()); s.bias != nil {
		b = s.bias.Add(b)
	}
	s.bias = b
}

// keyMask adds the filter value to scores of keys that a mask leaves out: [batch] has numbers of keys, [2 batch]
// their ends and then their starts, [batch keys] and [batch queries keys] are 0 where a key is left out.
func (c *call) keyMask(s *attentionCall, m *weft.Tensor) {
	filter := c.attrFloat("mask_filter_value", -10000)
	if m == nil {
		return
	}
	batch, keys := s.q.Dim(0), s.k.Dim(2)
	var seen *weft.Tensor
	at := weft.ArangeOf(weft.Int64, keys)
	column := func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Int64).Reshape(batch, 1, 1, 1) }
	switch {
	case m.Rank() == 1 && m.Dim(0) == batch:
		seen = at.Lt(column(m))
	case m.Rank() == 1 && m.Dim(0) == 2*batch:
		seen = at.Lt(column(m.Slice(weft.Range(0, batch)))).LogicalAnd(at.Ge(column(m.Slice(weft.Range(batch, 2*batch)))))
	case m.Rank() == 2 && m.Dim(1) == keys:
		seen = m.Ne(0).Unsqueeze(1).Unsqueeze(1)
	case m.Rank() == 3 && m.Dim(2) == keys:
		seen = m.Ne(0).Unsqueeze(1)
	default:
		c.fail("the mask has the shape %v: there are %d sequences with %d keys", m.Shape(), batch, keys)
	}
	s.addBias(weft.Where(seen, weft.ZerosOf(s.q.DType()), weft.FullOf(s.q.DType(), filter)))
}

// finish runs attention that may be unidirectional, after keys that are past.
func (c *call) finish(s *attentionCall, past int) (y, scores *weft.Tensor) {
	if c.attrBool("unidirectional", false) {
		s.allow(keysUpTo(s.q.Dim(2), s.k.Dim(2), past))
	}
	s.scale, s.soften = c.headScale(s.q.Dim(3)), s.q.DType()
	y, scores = s.run()
	return joined(y), scores
}

// headsOf is attention of projections [batch length heads*width] with what Attention and QAttention share.
func (c *call) headsOf(q, k, v, mask, past, bias *weft.Tensor) []Value {
	c.need("num_heads")
	n := c.attrInt("num_heads", 0)
	if c.attrInt("do_rotary", 0) != 0 || c.attrInt("past_present_share_buffer", 0) != 0 {
		c.fail("rotary embeddings and buffers that past and present share (do_rotary, past_present_share_buffer) are not computed")
	}
	s := &attentionCall{q: c.heads(q, n), k: c.heads(k, n), v: c.heads(v, n), mode: -1}
	before := 0
	if past != nil {
		if past.Rank() != 5 || past.Dim(0) != 2 {
			c.fail("past has the shape %v: want [2 batch heads length width]", past.Shape())
		}
		before = past.Dim(3)
		s.k = weft.Cat([]*weft.Tensor{past.At(0), s.k}, 2)
		s.v = weft.Cat([]*weft.Tensor{past.At(1), s.v}, 2)
	}
	c.keyMask(s, mask)
	if bias != nil {
		s.addBias(bias)
	}
	y, _ := c.finish(s, before)
	if !c.wants(1) {
		return tensors(y)
	}
	return tensors(y, weft.Stack([]*weft.Tensor{s.k, s.v}, 0))
}

// thirds splits projections of queries, keys and values along the last axis.
func (c *call) thirds(x *weft.Tensor, sizes []int) (q, k, v *weft.Tensor) {
	if n := x.Dim(-1); sizes == nil {
		sizes = []int{n / 3, n / 3, n / 3}
	}
	if len(sizes) != 3 || sizes[0]+sizes[1]+sizes[2] != x.Dim(-1) {
		c.fail("queries, keys and values have %v elements, all %d", sizes, x.Dim(-1))
	}
	parts := x.Split(-1, sizes...)
	return parts[0], parts[1], parts[2]
}

func packedAttention(c *call) []Value {
	x := c.tensor(0).MatMul(c.tensor(1))
	if b := c.optional(2); b != nil {
		x = x.Add(b)
	}
	c.attrInt("rotary_embedding_dim", 0)
	q, k, v := c.thirds(x, c.attrInts("qkv_hidden_sizes"))
	return c.headsOf(q, k, v, c.optional(3), c.optional(4), c.optional(5))
}

func quantizedAttention(c *call) []Value {
	x := c.wholeProduct(c.tensor(0), c.tensor(1), c.optional(6), c.optional(7)).To(weft.Float32)
	x = x.Mul(c.tensor(3).Reshape().Mul(c.tensor(4))).Add(c.tensor(2))
	q, k, v := c.thirds(x, nil)
	return c.headsOf(q, k, v, c.optional(5), c.optional(8), nil)
}

// multiHeadAttention takes projections apart, or packed: [batch length heads 3 width], or keys and values
// [batch length heads 2 width], or keys and values that have the axes of heads already.
func multiHeadAttention(c *call) []Value {
	q, k, v := c.tensor(0), c.optional(1), c.optional(2)
	c.need("num_heads")
	n := c.attrInt("num_heads", 0)
	flat := func(x *weft.Tensor, i int) *weft.Tensor {
		part := x.Slice(weft.All, weft.All, weft.All, weft.Index(i))
		return part.Reshape(part.Dim(0), part.Dim(1), part.Dim(2)*part.Dim(3))
	}
	if q.Rank() == 5 {
		q, k, v = flat(q, 0), flat(q, 1), flat(q, 2)
	} else if k != nil && k.Rank() == 5 {
		k, v = flat(k, 0), flat(k, 1)
	}
	if k == nil || v == nil {
		c.fail("there are no keys or values")
	}
	if b := c.optional(3); b != nil {
		m := q.Dim(2)
		values := b.Dim(0) - 2*m
		bq, bk, bv := c.thirds(b, []int{m, m, values})
		q = q.Add(bq)
		if k.Rank() == 3 {
			k, v = k.Add(bk), v.Add(bv)
		}
	}
	s := &attentionCall{q: c.heads(q, n), k: k, v: v, mode: -1}
	if k.Rank() == 3 {
		s.k, s.v = c.heads(k, n), c.heads(v, n)
	}
	before := 0
	if c.has(6) {
		if c.has(8) || c.has(9) {
			c.fail("buffers that past and present share (past_sequence_length, cache_indirection) are not computed")
		}
		before = c.tensor(6).Dim(2)
		s.k = weft.Cat([]*weft.Tensor{c.tensor(6), s.k}, 2)
		s.v = weft.Cat([]*weft.Tensor{c.tensor(7), s.v}, 2)
	}
	c.keyMask(s, c.optional(4))
	if c.has(5) {
		s.addBias(c.tensor(5))
	}
	if c.wants(3) {
		s.mode = 0
	}
	y, scores := c.finish(s, before)
	return tensors(y, s.k, s.v, scores)
}

// cachedRotary has positions [batch length], or the first position.
func cachedRotary(c *call) []Value {
	x, positions, cos, sin := c.tensor(0), c.tensor(1), c.tensor(2), c.tensor(3)
	heads, size := c.attrInt("num_heads", 0), c.attrInt("rotary_embedding_dim", 0)
	interleaved := c.attrBool("interleaved", false)
	c.attrFloat("scale", 1)
	if c.attrInt("is_packed_batching", 0) != 0 {
		c.fail("packed batches are not computed")
	}
	flat := x.Rank() == 3
	if flat {
		if heads == 0 {
			heads = x.Dim(2) / max(2*cos.Dim(1), 1)
		}
		x = c.heads(x, heads)
	}
	if positions.Size() == 1 && positions.Rank() < 2 {
		positions = positions.Reshape(1, 1).Add(weft.ArangeOf(positions.DType(), x.Dim(2)))
	}
	y := c.rotated(x, rowsAt(cos, positions), rowsAt(sin, positions), size, interleaved)
	if flat {
		y = joined(y)
	}
	return tensors(y)
}

// groupQueryAttention has a cache of keys and values, which may be longer than what it holds.
func groupQueryAttention(c *call) []Value {
	q, total := c.tensor(0), c.int(6)
	n, groups := c.attrInt("num_heads", 0), c.attrInt("kv_num_heads", 0)
	if q.Rank() != 3 || n < 1 || n > q.Dim(2) || groups < 1 || n%groups != 0 {
		c.fail("num_heads is %d, kv_num_heads %d, and the query has the shape %v: want heads along its last of 3 axes, and groups of them", n, groups, q.Shape())
	}
	if c.attrInt("kv_cache_bit_width", 0) != 0 || c.attrInt("qk_output", 0) != 0 || c.has(14) || c.has(15) {
		c.fail("quantised caches, normalised projections and scores are not computed")
	}
	s := &attentionCall{mode: -1, softcap: c.attrFloat("softcap", 0), sink: c.optional(11)}
	if c.attrInt("smooth_softmax", 0) > 0 && s.sink == nil {
		s.sink = weft.Zeros(n)
	}
	if c.has(1) {
		s.q, s.k, s.v = c.heads(q, n), c.heads(c.tensor(1), groups), c.heads(c.tensor(2), groups)
	} else {
		width := q.Dim(-1) / (n + 2*groups)
		a, b, v := c.thirds(q, []int{n * width, groups * width, groups * width})
		s.q, s.k, s.v = c.heads(a, n), c.heads(b, groups), c.heads(v, groups)
	}
	batch, length := s.q.Dim(0), s.q.Dim(2)
	if total < length {
		c.fail("total_sequence_length is %d: the query has %d", total, length)
	}
	// start is where the new keys stand: at 0 in a first call, in which sequences may be padded at their ends.
	start := weft.ZerosOf(weft.Int64, batch, 1)
	if total != length {
		start = c.tensor(5).To(weft.Int64).Reshape(batch, 1).Add(1 - length)
	}
	positions := start.Add(weft.ArangeOf(weft.Int64, length))
	turned := c.attrBool("rotary_interleaved", false)
	if c.attrBool("do_rotary", false) {
		at := positions
		if c.has(9) {
			at = c.tensor(9)
		}
		cos, sin := rowsAt(c.tensor(7), at), rowsAt(c.tensor(8), at)
		size := 2 * cos.Dim(-1)
		s.q, s.k = c.rotated(s.q, cos, sin, size, turned), c.rotated(s.k, cos, sin, size, turned)
	}
	s.k, s.v = c.cached(3, s.k, start, total), c.cached(4, s.v, start, total)
	keys := s.k.Dim(2)
	first := start.Reshape(batch, 1, 1, 1)
	s.allow(keysUpTo(length, keys, first))
	if w := c.attrInt("local_window_size", -1); w > 0 {
		s.allow(distances(length, keys, first).Lt(w))
	}
	if c.has(10) {
		b := c.tensor(10)
		if missing := keys - b.Dim(-1); missing > 0 {
			b = b.Pad(0, 0, 0, 0, 0, 0, 0, 0, missing)
		}
		s.addBias(b)
	}
	s.scale, s.soften = c.headScale(s.q.Dim(3)), s.q.DType()
	y, _ := s.run()
	return tensors(joined(y), s.k, s.v)
}

// cached puts x [batch heads length width] into the cache that is input i, at start [batch 1] of each sequence.
// The result has the length of the cache, or total if that is more.
func (c *call) cached(i int, x, start *weft.Tensor, total int) *weft.Tensor {
	past := c.optional(i)
	if past == nil && total == x.Dim(2) {
		return x
	}
	if past == nil {
		past = x.Slice(weft.All, weft.All, weft.Range(0, 0))
	}
	keys := max(total, past.Dim(2))
	past = past.Pad(0, 0, 0, 0, 0, 0, keys-past.Dim(2), 0, 0)
	at := weft.ArangeOf(weft.Int64, keys)
	fresh := at.Ge(start).LogicalAnd(at.Lt(start.Add(x.Dim(2))))
	index := weft.Where(fresh, at.Sub(start).Add(keys), at)
	shape := []int{x.Dim(0), x.Dim(1), keys, x.Dim(3)}
	return weft.Cat([]*weft.Tensor{past, x}, 2).TakeAlongAxis(2, index.Reshape(x.Dim(0), 1, keys, 1).Expand(shape...))
}
