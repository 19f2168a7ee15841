package ragged

import (
	"weft"
	"weft/internal/array"
)

// offsetsOf are the offsets of items of the given sizes, int64 [items].
func offsetsOf(sizes *weft.Tensor) *weft.Tensor {
	return weft.Cat([]*weft.Tensor{weft.ZerosOf(weft.Int64, 1), sizes.CumSum(0)}, 0)
}

// spread gives each row the value of its item: [items] to [rows].
func (p *partition) spread(x *weft.Tensor) *weft.Tensor {
	return x.RepeatInterleave(0, p.sizes())
}

// sizes are the lengths of items, int64 [items].
func (p *partition) sizes() *weft.Tensor {
	return p.t.Slice(weft.Range(1, weft.End)).Sub(p.t.Slice(weft.Range(0, -1)))
}

// places says where rows of some items of p, by their numbers, come from, and gives the
// partition that they have.
func (p *partition) places(items *weft.Tensor) (rows *weft.Tensor, out *partition) {
	first := p.t.Slice(weft.Range(0, -1)).IndexSelect(0, items)
	out = &partition{t: offsetsOf(p.sizes().IndexSelect(0, items))}
	n := int(out.t.At(-1).ItemInt())
	return weft.Arange(n).Add(out.spread(first.Sub(out.t.Slice(weft.Range(0, -1))))), out
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
	t := weft.From(at)
	return l.take(t.Add(t.Lt(0).To(weft.Int64).Mul(n)))
}

// take returns items whose numbers, int64 from 0 on, are in range.
func (l *List) take(items *weft.Tensor) *List {
	out := &List{}
	for _, p := range l.levels() {
		var q *partition
		items, q = p.places(items)
		out.outer = append(out.outer, q)
	}
	out.part, out.outer = out.outer[len(l.outer)], out.outer[:len(l.outer)]
	out.rows = items.Dim(0)
	for _, c := range l.cols {
		out.cols = append(out.cols, column{name: c.name, live: c.live.IndexSelect(0, items), own: true})
	}
	return out
}

// pick returns the items of a run.
func (l *List) pick(r run) *List {
	return l.take(weft.Arange(r.count).Mul(r.step).Add(r.first))
}
