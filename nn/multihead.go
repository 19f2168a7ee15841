package nn

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// MultiheadAttentionOpts are the options of [NewMultiheadAttention].
type MultiheadAttentionOpts struct {
	NoBias     bool
	BatchFirst bool            // [batch, steps, width] rather than [steps, batch, width]
	KDim       *int            // the width of keys; nil is that of queries
	VDim       *int            // the width of values; nil is that of queries
	Dropout    float64         // the probability with which a weight is set to 0 in training
	Weight     Init            // draws the weights; nil is [XavierUniform], and [FanInUniform] for the last projection
	Generator  *weft.Generator // what they, and Dropout, are drawn from; nil is the default generator
}

// MultiheadAttention is attention with several heads. Each head sees a part of
// projections of queries, keys and values; another projection puts the results together.
// Projections are one matrix InProjWeight, or three where keys or values have another width.
type MultiheadAttention struct {
	InProjWeight *weft.Tensor // [3*width, width]: queries', keys', values' weights; nil where they are apart
	QProjWeight  *weft.Tensor // [width, width], nil with InProjWeight
	KProjWeight  *weft.Tensor // [width, keys' width], nil with InProjWeight
	VProjWeight  *weft.Tensor // [width, values' width], nil with InProjWeight
	InProjBias   *weft.Tensor // [3*width], nil for none
	OutProj      *Linear
	Heads        int // divides the width
	BatchFirst   bool
	Drop         *Dropout // drops attention weights by its P and Generator; nil for none
}

// NewMultiheadAttention returns a layer of float32 parameters. It panics with *weft.Error
// if heads do not divide the width.
func NewMultiheadAttention(width, heads int, opts ...MultiheadAttentionOpts) *MultiheadAttention {
	const name = "multihead_attention"
	defer array.Named(name).End()
	if width < 1 || heads < 1 || width%heads != 0 {
		array.Failf(name, "heads", "is %d, which does not divide the width %d", heads, width)
	}
	o := array.Options(name, opts)
	k, v := array.Or(o.KDim, width), array.Or(o.VDim, width)
	if k < 1 {
		array.Failf(name, "KDim", "is %d, want 1 or more", k)
	}
	if v < 1 {
		array.Failf(name, "VDim", "is %d, want 1 or more", v)
	}
	in := o.Weight
	if in == nil {
		in = XavierUniform
	}
	out := Opts{NoBias: o.NoBias, Weight: o.Weight, Bias: Constant(0), Generator: o.Generator}
	m := &MultiheadAttention{Heads: heads, BatchFirst: o.BatchFirst}
	if k == width && v == width {
		m.InProjWeight = Param(in(o.Generator, 3*width, width))
	} else {
		m.QProjWeight = Param(in(o.Generator, width, width))
		m.KProjWeight = Param(in(o.Generator, width, k))
		m.VProjWeight = Param(in(o.Generator, width, v))
	}
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
	// KeyPadding is [batch, keys], or [keys] without a batch: bool, or floats that are added to the scores.
	KeyPadding *weft.Tensor
	// Mask is [queries, keys] or [batch*heads, queries, keys]: bool, or floats that are
	// added to the scores.
	Mask   *weft.Tensor
	Causal bool // query i sees the keys up to number i alone, and all keys of the cache
	// Cache, if not nil, has keys and values of the calls before. The call adds its own at the
	// end, and queries see all. Masks count keys from the first in the cache.
	Cache *KVCache
}

// Attend maps queries [steps, batch, width], and keys and values [keys, batch, width], to
// the shape of the queries. All three may lack the axis of the batch: it is a batch of one then, in
// the cache too. It panics with *weft.Error if shapes or element types do not fit.
func (m *MultiheadAttention) Attend(q, k, v *weft.Tensor, opts ...AttendOpts) *weft.Tensor {
	return CallAll(m, []*weft.Tensor{q, k, v}, func(in []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{m.attend(in[0], in[1], in[2], opts)}
	})[0]
}

func (m *MultiheadAttention) attend(q, k, v *weft.Tensor, opts []AttendOpts) *weft.Tensor {
	const name = "multihead_attention"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if in, batched := m.unsqueezed([]*weft.Tensor{q, k, v}, &o); batched {
		return m.attend(in[0], in[1], in[2], []AttendOpts{o}).Squeeze(m.batchAxis())
	}
	h, how := m.split(q, k, v, o)
	return m.join(ScaledDotProductAttention(h[0], h[1], h[2], how))
}

// unsqueezed returns queries, keys and values [length, width] as a batch of one, and changes options
// alike. ok is false if one of the three is not such a matrix.
func (m *MultiheadAttention) unsqueezed(in []*weft.Tensor, o *AttendOpts) (batch []*weft.Tensor, ok bool) {
	for _, t := range in {
		if m == nil || t == nil || t.Rank() != 2 {
			return nil, false
		}
	}
	for i, t := range in {
		if k := slices.Index(in[:i], t); k >= 0 {
			batch = append(batch, batch[k]) // the same tensor stays the same
		} else {
			batch = append(batch, t.Unsqueeze(m.batchAxis()))
		}
	}
	if p := o.KeyPadding; p != nil {
		if p.Rank() != 1 {
			array.Failf("multihead_attention", "KeyPadding", "has shape %s, want [keys]: q has no batch", array.ShapeString(p.Shape()))
		}
		o.KeyPadding = p.Unsqueeze(0)
	}
	return batch, true
}

// batchAxis is the axis of the batch in queries, keys, values and results.
func (m *MultiheadAttention) batchAxis() int {
	if m.BatchFirst {
		return 0
	}
	return 1
}

// AttendWeights is [MultiheadAttention.Attend] that also returns the weights of values, [batch,
// heads, steps, keys], behind dropout. Their mean over heads is what PyTorch returns by default.
func (m *MultiheadAttention) AttendWeights(q, k, v *weft.Tensor, opts ...AttendOpts) (y, weights *weft.Tensor) {
	out := CallAll(m, []*weft.Tensor{q, k, v}, func(in []*weft.Tensor) []*weft.Tensor {
		y, weights := m.attendWeights(in[0], in[1], in[2], opts)
		return []*weft.Tensor{y, weights}
	})
	return out[0], out[1]
}

func (m *MultiheadAttention) attendWeights(q, k, v *weft.Tensor, opts []AttendOpts) (y, weights *weft.Tensor) {
	const name = "multihead_attention"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if in, batched := m.unsqueezed([]*weft.Tensor{q, k, v}, &o); batched {
		y, weights = m.attendWeights(in[0], in[1], in[2], []AttendOpts{o})
		return y.Squeeze(m.batchAxis()), weights.Squeeze(0)
	}
	h, how := m.split(q, k, v, o)
	weights = weightsOfScores(h[0], h[1], how)
	return m.join(weights.MatMul(h[2])), weights
}

// join puts the results of heads, [batch, heads, steps, part], together.
func (m *MultiheadAttention) join(y *weft.Tensor) *weft.Tensor {
	if m.BatchFirst {
		y = y.Transpose(1, 2)
	} else {
		y = y.Permute(2, 0, 1, 3)
	}
	return m.OutProj.Forward(y.Flatten(2))
}

// width returns the width of queries and results. It panics if weights are missing or do not fit.
func (m *MultiheadAttention) width() int {
	const name = "multihead_attention"
	if m == nil || m.OutProj == nil || m.InProjWeight == nil && (m.QProjWeight == nil || m.KProjWeight == nil || m.VProjWeight == nil) {
		failNil(name, "NewMultiheadAttention")
	}
	if w := m.InProjWeight; w != nil {
		if w.Rank() != 2 || w.Dim(0) != 3*w.Dim(1) || m.Heads < 1 || w.Dim(1)%m.Heads != 0 {
			array.Failf(name, "InProjWeight", "has shape %s, want [3*width width], width a multiple of %d heads", array.ShapeString(w.Shape()), m.Heads)
		}
		return w.Dim(1)
	}
	w := m.QProjWeight
	if w.Rank() != 2 || w.Dim(0) != w.Dim(1) || m.Heads < 1 || w.Dim(1)%m.Heads != 0 {
		array.Failf(name, "QProjWeight", "has shape %s, want [width width], width a multiple of %d heads", array.ShapeString(w.Shape()), m.Heads)
	}
	for i, p := range []*weft.Tensor{m.KProjWeight, m.VProjWeight} {
		if p.Rank() != 2 || p.Dim(0) != w.Dim(0) {
			array.Failf(name, []string{"KProjWeight", "VProjWeight"}[i], "has shape %s, want %d rows", array.ShapeString(p.Shape()), w.Dim(0))
		}
	}
	return w.Dim(1)
}

// split returns queries, keys and values of the heads, [batch, heads, steps, part], the cache's keys
// and values included, and how they attend.
func (m *MultiheadAttention) split(q, k, v *weft.Tensor, o AttendOpts) ([]*weft.Tensor, AttentionOpts) {
	const name = "multihead_attention"
	width := m.width()
	widths := []int{width, width, width}
	if m.InProjWeight == nil {
		widths[1], widths[2] = m.KProjWeight.Dim(1), m.VProjWeight.Dim(1)
	}
	for i, t := range []*weft.Tensor{q, k, v} {
		what := []string{"q", "k", "v"}[i]
		if t == nil {
			array.Failf(name, what, "is nil")
		}
		if t.Rank() != 3 || t.Dim(2) != widths[i] {
			array.Failf(name, what, "has shape %s, want [steps batch %d] (BatchFirst: [batch steps %d]), or [steps %d] for all three", array.ShapeString(t.Shape()), widths[i], widths[i], widths[i])
		}
	}
	batchAxis := m.batchAxis()
	batch, steps, keys := q.Dim(batchAxis), q.Dim(1-batchAxis), k.Dim(1-batchAxis)
	if k.Dim(batchAxis) != batch || v.Dim(batchAxis) != batch || v.Dim(1-batchAxis) != keys {
		array.Failf(name, "k", "has shape %s, q %s and v %s", array.ShapeString(k.Shape()), array.ShapeString(q.Shape()), array.ShapeString(v.Shape()))
	}
	fixed := o.Cache.fixed(name, batch, o.Causal)
	var heads []*weft.Tensor
	if fixed {
		keys, heads = 0, m.projectParts(width, q)
	} else {
		heads = m.project(q, k, v, width)
	}
	for i, x := range heads {
		x = x.Unflatten(2, m.Heads, width/m.Heads)
		if m.BatchFirst {
			heads[i] = x.Transpose(1, 2)
		} else {
			heads[i] = x.Permute(1, 2, 0, 3)
		}
	}
	past := o.Cache.Len()
	attend := AttentionOpts{Causal: o.Causal && past == 0, Mask: m.mask(o, batch, steps, past+keys)}
	if o.Causal && past > 0 && steps > 1 {
		attend.Mask = hideLater(attend.Mask, q, steps, past+keys, past)
	}
	if fixed {
		heads = append(heads, o.Cache.Keys, o.Cache.Values)
	} else if o.Cache != nil {
		heads[1], heads[2] = o.Cache.Append(heads[1], heads[2])
	}
	if m.Drop != nil && !m.Drop.eval {
		attend.Dropout, attend.Generator = m.Drop.P, m.Drop.Generator
	}
	return heads, attend
}

// hideLater returns a mask of attention, nil for none, that also hides keys behind the query's, with
// keys of the past before the first query's.
func hideLater(mask, q *weft.Tensor, steps, keys, past int) *weft.Tensor {
	d := q.Device()
	seen := d.Arange(past, past+steps, 1).Unsqueeze(1).Ge(d.Arange(0, keys, 1))
	switch {
	case mask == nil:
		return seen
	case mask.DType() == weft.Bool:
		return mask.LogicalAnd(seen)
	}
	return weft.Where(seen, mask, math.Inf(-1))
}

// project returns the projections of queries, keys and values, of the width of the layer.
func (m *MultiheadAttention) project(q, k, v *weft.Tensor, width int) []*weft.Tensor {
	if w := m.InProjWeight; w != nil && q == k && k == v {
		return q.Linear(w, m.InProjBias).Chunk(2, 3)
	}
	return m.projectParts(width, q, k, v)
}

// projectParts returns the projections of queries, or of queries, keys and values, one by one.
func (m *MultiheadAttention) projectParts(width int, parts ...*weft.Tensor) []*weft.Tensor {
	apart := []*weft.Tensor{m.QProjWeight, m.KProjWeight, m.VProjWeight}
	for i, t := range parts {
		rows := weft.Range(i*width, (i+1)*width)
		var b *weft.Tensor
		if m.InProjBias != nil {
			b = m.InProjBias.Slice(rows)
		}
		if m.InProjWeight != nil {
			apart[i] = m.InProjWeight.Slice(rows)
		}
		parts[i] = t.Linear(apart[i], b)
	}
	return parts
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
	d := m.OutProj.Weight.DType()
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
