package ragged

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Flatten returns the items of all items: a nested list without its outermost level, on the same
// memory. Of a list of depth 1 that would be rows: see [List.Data].
func (l *List) Flatten() *List {
	l.check("flatten")
	if len(l.outer) == 0 {
		array.Failf("flatten", "", "the list has depth 1: Data returns its rows")
	}
	return l.inner()
}

// Unflatten returns a list one level deeper, on the same memory: its items are sizes of the
// list's, an int that all have or a vector, as [FromSizes] takes them.
func (l *List) Unflatten(sizes any) *List {
	l.check("unflatten")
	out := l.alias()
	out.outer = append([]*partition{divided("unflatten", sizes, l.device(), l.Len())}, l.outer...)
	return out
}

// LocalIndex returns the place of each row in its item of the last level, int64.
func (l *List) LocalIndex() *List {
	l.check("localindex")
	return l.with(column{live: l.places()})
}

// ToPadded returns the list as an array, [items, length, inner...], in which items that are shorter
// are filled with a number at their end, and a mask, bool [items, length], which is true for rows
// of items. length is that of the longest, or what is given, where longer items are cut. Each level
// of a nested list is an axis, with its own length, outermost first. Gradients flow back to rows.
func (l *List) ToPadded(fill any, length ...int) (x, mask *weft.Tensor) {
	const name = "topadded"
	c := l.single(name)
	l.check(name)
	if len(length) != 0 && len(length) != len(l.outer)+1 {
		array.Failf(name, "length", "has %d numbers: want one a level, %d", len(length), len(l.outer)+1)
	}
	for _, n := range length {
		if n < 0 {
			array.Failf(name, "length", "%d is negative", n)
		}
	}
	x = c.live
	no := weft.Scalar(false)
	with := weft.ScalarOf(x.DType(), fill)
	levels := l.levels()
	for k := len(levels) - 1; k >= 0; k-- {
		inner := l.with()
		inner.part = levels[k]
		n := inner.longest()
		if len(length) > 0 {
			n = length[k]
		}
		x = apply(op.SegmentPad, op.PadTo(n), x, with, levels[k].tensor())[0]
		if mask != nil {
			mask = apply(op.SegmentPad, op.PadTo(n), mask, no, levels[k].tensor())[0]
			continue
		}
		mask = inner.part.ahead(n)
	}
	return x, mask
}

// ahead is whether items have a row so far from their begin, bool [items, n].
func (p *partition) ahead(n int) *weft.Tensor {
	sizes, d := p.sizes(), weft.Int64
	if n <= math.MaxInt16 { // as narrow as what is written
		sizes, d = sizes.Minimum(n), weft.Int16
	}
	return sizes.To(d).Unsqueeze(1).Gt(p.tensor().Device().Arange(n).To(d))
}

// FromPadded returns a list of the rows of x, [items, length, inner...], that belong to items.
// sizes are the lengths of items ([]int, []int64 or a tensor of integers of one dimension), which
// select the first rows, or a bool tensor [items, length], as [List.ToPadded] returns, which is
// true where a row belongs. Gradients flow back to x.
func FromPadded(x *weft.Tensor, sizes any) *List {
	const name = "frompadded"
	if x == nil || x.Rank() < 2 {
		array.Failf(name, "x", "has no items and rows: want [items, length, inner...]")
	}
	n, k := x.Dim(0), x.Dim(1)
	if m, ok := sizes.(*weft.Tensor); ok && m != nil && m.DType() == weft.Bool {
		if !array.Equal((*core.Tensor)(m).Sizes(), []int{n, k}) {
			array.Failf(name, "sizes", "is a mask of shape %s, want %s", array.ShapeString(m.Shape()), array.ShapeString([]int{n, k}))
		}
		rows := x.Reshape(append([]int{n * k}, (*core.Tensor)(x).Sizes()[2:]...)...)
		at := m.Reshape(n * k).NonZero().Reshape(-1)
		p := newPartition(offsetsOf(m.To(weft.Int64).Sum(1)))
		return &List{part: p, rows: at.Dim(0), cols: []column{{live: rows.IndexSelect(0, at)}}}
	}
	v := integers(name, "sizes", sizes)
	if len(v) != n {
		array.Failf(name, "sizes", "has %d lengths for %d items", len(v), n)
	}
	offsets := make([]int64, n+1)
	for i, s := range v {
		if s < 0 || s > int64(k) {
			array.Failf(name, "sizes", "number %d is %d, of %d rows", i, s, k)
		}
		offsets[i+1] = offsets[i] + s
	}
	p := partitionOf(x.Device(), offsets)
	rows := int(offsets[n])
	return &List{part: p, rows: rows, cols: []column{{live: apply(op.SegmentUnpad, op.Rows(rows), x, p.tensor())[0]}}}
}

// Concat joins lists of one depth whose rows have one shape. Along axis 0 the items of one list
// follow the items of the list before. Along axis 1 item i of the result is item i of the first
// list, then item i of the second and so on; all lists must have the same number of items. Element
// types meet as in [weft.Cat], and gradients flow to all.
func Concat(lists []*List, axis int) *List {
	const name = "concat"
	if len(lists) == 0 {
		array.Failf(name, "lists", "are none")
	}
	if axis < 0 || axis > 1 {
		array.Failf(name, "axis", "%d is neither 0 nor 1", axis)
	}
	for i, l := range lists {
		if l == nil {
			array.Failf(name, "lists", "number %d is nil", i)
		}
		l.check(name)
		first := lists[0]
		first.on(name, "lists", l.device())
		switch {
		case len(l.outer) != len(first.outer):
			array.Failf(name, "lists", "number %d has depth %d, the first %d", i, len(l.outer)+1, len(first.outer)+1)
		case !equal(l.Fields(), first.Fields()):
			array.Failf(name, "lists", "number %d has fields %q, the first %q", i, l.Fields(), first.Fields())
		case axis == 1 && l.Len() != first.Len():
			array.Failf(name, "lists", "number %d has %d items, the first %d", i, l.Len(), first.Len())
		}
		for c := range l.cols {
			if a, b := (*core.Tensor)(l.cols[c].live).Sizes()[1:], (*core.Tensor)(first.cols[c].live).Sizes()[1:]; !array.Equal(a, b) {
				array.Failf(name, "lists", "number %d has rows of shape %s, the first %s", i, array.ShapeString(a), array.ShapeString(b))
			}
		}
	}
	out := &List{}
	for k := range lists[0].levels() {
		var parts []*weft.Tensor
		base := 0
		for i, l := range lists {
			p := l.levels()[k]
			o := p.tensor()
			if i > 0 {
				o = o.Slice(weft.Range(1, weft.End)).Add(base)
			}
			parts = append(parts, o)
			base += p.total()
		}
		out.outer = append(out.outer, newPartition(weft.Cat(parts, 0)))
		out.rows = base
	}
	last := len(out.outer) - 1
	out.part, out.outer = out.outer[last], out.outer[:last]
	for c := range lists[0].cols {
		ts := make([]*weft.Tensor, len(lists))
		for i, l := range lists {
			ts[i] = l.cols[c].live
		}
		out.cols = append(out.cols, column{name: lists[0].cols[c].name, live: weft.Cat(ts, 0)})
	}
	if axis == 0 {
		return out
	}
	// Items that belong together come to stand side by side, and are joined.
	n, k := lists[0].Len(), len(lists)
	out = out.take(out.device().Arange(n*k).Reshape(k, n).T().Reshape(n * k))
	first := &out.part
	if len(out.outer) > 0 {
		first = &out.outer[0]
	}
	*first = newPartition((*first).tensor().Slice(weft.Range(0, weft.End, k)).Contiguous())
	return out
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
