package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// SortOpts are the options of [Tensor.Sort].
type SortOpts struct {
	Descending bool // the greatest first
}

// Sort returns the elements of t in ascending order along an axis, which may count
// from the back, and the int64 places along the axis at which they were, so that
// t.Gather(axis, index) is values. Equal elements stay in order. NaN counts as
// greater than every number. Gradients go back to those places.
func (t *Tensor) Sort(axis int, opts ...SortOpts) (values, index *Tensor) {
	o := array.Options("sort", opts)
	t.c().Check("sort")
	a := op.Sorting{Axis: array.Axis("sort", axis, len(t.v().Shape)), Descending: o.Descending}
	r := core.ApplyAll(op.Sort, a, core.Operand{T: t.c()})
	return (*Tensor)(r[0]), (*Tensor)(r[1])
}

// ArgSort returns the second result of [Tensor.Sort] along an axis, which may count from the
// back: the places, int64, of the elements in order, in t's shape.
func (t *Tensor) ArgSort(axis int, opts ...SortOpts) *Tensor {
	defer array.Named("argsort").End()
	o := array.Options("argsort", opts)
	t.c().Check("argsort")
	_, index := t.Sort(axis, o)
	return index
}

// TopKOpts are the options of [Tensor.TopK].
type TopKOpts struct {
	Smallest bool // the least elements, in ascending order
}

// TopK returns the k greatest elements along an axis, which may count from the back, the
// greatest first, and the int64 places at which they were: the first k results of Sort,
// also in the order of equal elements and with NaN as the greatest. The axis has size k in
// the results. Gradients go back to those places.
func (t *Tensor) TopK(k, axis int, opts ...TopKOpts) (values, index *Tensor) {
	o := array.Options("topk", opts)
	t.c().Check("topk")
	a := op.Selection{Axis: array.Axis("topk", axis, t.Rank()), Count: k, Smallest: o.Smallest}
	r := core.ApplyAll(op.TopK, a, core.Operand{T: t.c()})
	return (*Tensor)(r[0]), (*Tensor)(r[1])
}

// KthValue returns the k-th least elements along an axis, which may count from the back and
// is gone from the results, and the int64 places at which they were: element k-1 of the
// results of Sort, with NaN as the greatest. Gradients go back to those places. It panics with
// *Error where k is not from 1 to the size of the axis.
func (t *Tensor) KthValue(k, axis int) (values, index *Tensor) {
	t.c().Check("kthvalue")
	at := array.Axis("kthvalue", axis, t.Rank())
	if k < 1 {
		array.Failf("kthvalue", "k", "%d is not from 1 to %d, the size of axis %d", k, t.v().Shape[at], at)
	}
	r := core.ApplyAll(op.KthValue, op.Ranks{Axis: at, At: []int{k - 1}}, core.Operand{T: t.c()})
	return (*Tensor)((*Tensor)(r[0]).Squeeze(at).c().Own()), (*Tensor)((*Tensor)(r[1]).Squeeze(at).c().Own())
}

// MaxWithIndex returns the greatest elements along an axis, which may count from the back
// and is gone from the results, and the int64 places at which they were: the first of
// equal ones. A NaN counts as greatest. Gradients go back to those places. It panics with
// *Error where there is no element.
func (t *Tensor) MaxWithIndex(axis int) (values, index *Tensor) {
	return t.placedAlong(op.MaxWithIndex, axis)
}

// MinWithIndex is [Tensor.MaxWithIndex] for the least elements along an axis, with their int64
// places; a NaN counts as least. It panics with *[Error] where there is no element.
func (t *Tensor) MinWithIndex(axis int) (values, index *Tensor) {
	return t.placedAlong(op.MinWithIndex, axis)
}

// SearchOpts are the options of [Tensor.SearchSorted].
type SearchOpts struct {
	Right bool // behind equal elements, not before them
}

// SearchSorted returns, in the shape of x, the int64 places at which the elements of x go
// into t, which is sorted in ascending order, NaN last. t is one row, or has the axes of x
// but for the last, so that each row of x has a row of its own. Element types meet by
// promotion. What t that is not sorted gives is not specified.
func (t *Tensor) SearchSorted(x *Tensor, opts ...SearchOpts) *Tensor {
	defer array.Named("searchsorted").End()
	o := array.Options("searchsorted", opts)
	t.c().Check("searchsorted")
	x.c().CheckArgument("searchsorted", "x")
	ts := core.MeetWhole("searchsorted", core.Inner([]*Tensor{t, x}))
	return (*Tensor)(core.WithAttrs(op.SearchSorted, op.Search{Right: o.Right}, ts...))
}

// Unique returns the different elements of t in ascending order, all axes flattened; for
// each element of t, in its shape, the int64 place of its value among them; and how often
// each occurs, int64. Complex numbers are in ascending order of real, then of imaginary parts.
// Zeros of both signs are one value, the first that occurs, and so are NaNs, which come last. Of complex NaNs the
// value is the first in order, as NumPy's with return_inverse: a NaN as imaginary part alone comes before one as real part.
// values[inverse] is t, and the gradient of values goes to the first element of each in order.
func (t *Tensor) Unique() (values, inverse, counts *Tensor) {
	defer array.Named("unique").End()
	t.c().Check("unique")
	n := t.Size()
	if t.v().DType.Complex() {
		if n == 0 {
			return t.Reshape(0).Clone(), t.Device().ZerosOf(Int64, t.v().Shape...), t.Device().ZerosOf(Int64, 0)
		}
		return t.uniqueComplex()
	}
	sorted, places := t.Reshape(n).Sort(0, SortOpts{})
	if n == 0 {
		return sorted, places.Reshape(t.v().Shape...), places
	}
	r := core.ApplyAll(op.Runs, nil, core.Operand{T: sorted.c()}, core.Operand{T: places.c()})
	starts, inverse := (*Tensor)(r[0]).NonZero(), (*Tensor)(r[1].Reshape(t.v().Shape...).Own())
	values = sorted.IndexSelect(0, starts)
	counts = starts.Slice(Range(1, End)).Pad(float64(n), 0, 1).Sub(starts)
	return values, inverse, counts
}
