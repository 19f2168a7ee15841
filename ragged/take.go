package ragged

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// offsetsOf are the offsets of items of the given sizes, int64 [items].
func offsetsOf(sizes *weft.Tensor) *weft.Tensor {
	return weft.Cat([]*weft.Tensor{sizes.Device().ZerosOf(weft.Int64, 1), sizes.CumSum(0)}, 0)
}

// sizes are the lengths of items, int64 [items].
func (p *partition) sizes() *weft.Tensor {
	return p.tensor().Slice(weft.Range(1, weft.End)).Sub(p.tensor().Slice(weft.Range(0, -1)))
}

// taken says with which rows some items of p, by their numbers, begin, and gives the partition
// of those that they have together.
func (p *partition) taken(items *weft.Tensor) (first *weft.Tensor, out *partition) {
	return p.tensor().Slice(weft.Range(0, -1)).IndexSelect(0, items), newPartition(offsetsOf(p.sizes().IndexSelect(0, items)))
}

// Take returns the items with the given numbers, []int, []int64 or a tensor of integers of one
// dimension, which may count from the back and repeat: a new list. Gradients flow to the rows
// that were taken.
func (l *List) Take(items any) *List {
	const op = "take"
	l.check(op)
	n := int64(l.Len())
	at := integers(op, "items", items)
	for i, k := range at {
		if k < -n || k >= n {
			array.Failf(op, "items", "number %d is %d, out of range for %d items", i, k, n)
		}
	}
	t := l.device().From(at)
	return l.take(t.Add(t.Lt(0).To(weft.Int64).Mul(n)))
}

// take returns items whose numbers, int64 from 0 on, are in range.
func (l *List) take(items *weft.Tensor) *List {
	out := &List{}
	for _, p := range l.outer {
		first, q := p.taken(items)
		out.outer = append(out.outer, q)
		n := q.total()
		items = l.device().Arange(n).Add(q.spread(first.Sub(q.tensor().Slice(weft.Range(0, -1))), n))
	}
	first, q := l.part.taken(items)
	out.part, out.rows = q, q.total()
	for _, c := range l.cols {
		out.cols = append(out.cols, column{name: c.name, live: apply(op.SegmentTake, op.Rows(out.rows), c.live, first, q.tensor())[0], own: true})
	}
	return out
}

// pick returns the items of a run.
func (l *List) pick(r indexRange) *List {
	return l.take(l.device().Arange(r.count).Mul(r.step).Add(r.first))
}

// Index returns a list of the items' rows at the places that idx, a list of integers with as many
// items, has for each: item i is l[i][idx[i]]. Places count from the start of the item, negative
// ones from its end, and may repeat. Lists of depth above 1 share the levels above the last.
// Gradients flow to the rows that were taken.
func (l *List) Index(idx *List) *List {
	const name = "index"
	l.check(name)
	if idx == nil {
		array.Failf(name, "idx", "is nil")
	}
	c := idx.single(name)
	idx.check(name)
	l.on(name, "idx", idx.device())
	if d := c.live.DType(); !d.Integer() || d == weft.Bool || c.live.Rank() != 1 {
		array.Failf(name, "idx", "has rows %s, want integers", array.TypeString(d, c.live.Shape()[1:]))
	}
	if len(idx.outer) != len(l.outer) || idx.part.Items() != l.part.Items() {
		array.Failf(name, "idx", "has depth %d and %d items in the last level, the list %d and %d", len(idx.outer)+1, idx.part.Items(), len(l.outer)+1, l.part.Items())
	}
	for k := range l.outer {
		if !l.outer[k].same(idx.outer[k]) {
			array.Failf(name, "idx", "has other items in level %d", k)
		}
	}
	places := (*weft.Tensor)(core.Places((*core.Tensor)(c.live))).To(weft.Int64)
	out := idx.with()
	for _, c := range l.cols {
		out.cols = append(out.cols, column{name: c.name, live: apply(indexDef, nil, c.live, l.part.tensor(), places, idx.part.tensor())[0]})
	}
	return out
}

// Mask returns the rows where mask is true, a list of bool of the same items: items keep their
// number and become shorter. With a bool tensor [items] it is the items where mask is true.
func (l *List) Mask(mask any) *List {
	const name = "mask"
	l.check(name)
	switch m := mask.(type) {
	case *weft.Tensor:
		if m == nil || m.DType() != weft.Bool || m.Rank() != 1 || m.Dim(0) != l.Len() {
			array.Failf(name, "mask", "is not a bool tensor of one dimension with %d items", l.Len())
		}
		return l.take(m.NonZero().Reshape(-1))
	case *List:
		if m == nil {
			break
		}
		c := m.single(name)
		m.check(name)
		if c.live.DType() != weft.Bool || c.live.Rank() != 1 || len(m.outer) != len(l.outer) {
			array.Failf(name, "mask", "has rows %s and depth %d, want bool and depth %d", array.TypeString(c.live.DType(), c.live.Shape()[1:]), len(m.outer)+1, len(l.outer)+1)
		}
		l.samePartition(name, "mask", m)
		at := c.live.NonZero().Reshape(-1)
		kept := weft.Cat([]*weft.Tensor{l.device().ZerosOf(weft.Int64, 1), c.live.To(weft.Int64).CumSum(0)}, 0)
		out := &List{outer: l.outer, part: newPartition(kept.IndexSelect(0, l.part.tensor())), rows: at.Dim(0)}
		for _, c := range l.cols {
			out.cols = append(out.cols, column{name: c.name, live: c.live.IndexSelect(0, at)})
		}
		return out
	}
	array.Failf(name, "mask", "is %T: want a list of bool, or a bool tensor with one element an item", mask)
	return nil
}
