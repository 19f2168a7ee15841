package ragged

import (
	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// reduce runs a reduction over the rows of the items of a level.
func (l *List) reduce(name string, d *op.Def, level []int) *weft.Tensor {
	c := l.single(name)
	p := l.whole(l.levelOf(name, level))
	return apply(d, nil, c.live, p.tensor())[0]
}

// Sum returns the sum of the rows of each item, [items, inner...]; an empty item gives 0. level
// says which items: 0 (outermost, the default) to Depth-1, or -1 for the last. The result has the
// element type of [weft.Tensor.Sum]. l.Data().Sum() is the sum of all rows.
func (l *List) Sum(level ...int) *weft.Tensor { return l.reduce("sum", op.SegmentSum, level) }

// Prod returns the product of the rows of each item, 1 of none: see [List.Sum].
func (l *List) Prod(level ...int) *weft.Tensor { return l.reduce("prod", op.SegmentProd, level) }

// Mean returns the mean of the rows of each item, NaN of none: see [List.Sum].
func (l *List) Mean(level ...int) *weft.Tensor { return l.reduce("mean", op.SegmentMean, level) }

// Max returns the greatest of the rows of each item, column by column, NaN if one is, and of none
// the least number of the type, for floats -Inf: see [List.Sum]. Equal ones share the gradient.
func (l *List) Max(level ...int) *weft.Tensor { return l.reduce("max", op.SegmentMax, level) }

// Min returns the least of the rows of each item, NaN if one is, and of none the greatest number
// of the type, for floats +Inf: see [List.Sum].
func (l *List) Min(level ...int) *weft.Tensor { return l.reduce("min", op.SegmentMin, level) }

// ArgMax returns the place in its item, int64, of the first of the greatest rows, column by column;
// NaN counts as greatest; -1 of none: see [List.Sum].
func (l *List) ArgMax(level ...int) *weft.Tensor { return l.reduce("argmax", op.SegmentArgMax, level) }

// ArgMin returns the place in its item, int64, of the first of the least rows: see [List.ArgMax].
func (l *List) ArgMin(level ...int) *weft.Tensor { return l.reduce("argmin", op.SegmentArgMin, level) }

// LogSumExp returns log(sum(exp(x))) over the rows of each item, -Inf of none: see [List.Sum].
func (l *List) LogSumExp(level ...int) *weft.Tensor {
	return l.reduce("logsumexp", op.SegmentLogSumExp, level)
}

// Softmax returns a list of the same items, exp(x) / sum(exp(x)) over the rows of each item of a
// level, 0 (outermost, if none is given) to Depth-1.
func (l *List) Softmax(level ...int) *List {
	return l.with(column{live: l.reduce("softmax", op.SegmentSoftmax, level)})
}

// LogSoftmax is log(softmax(x)): see [List.Softmax].
func (l *List) LogSoftmax(level ...int) *List {
	return l.with(column{live: l.reduce("logsoftmax", op.SegmentLogSoftmax, level)})
}

// Sort returns the rows of each item of the last level in ascending order, column by column, and
// the places in the item, int64, at which they were, so that l.Index(places) is values, where rows
// are numbers. Equal rows stay in order; NaN counts as greater than every number. Gradients go
// back to those places.
func (l *List) Sort(opts ...weft.SortOpts) (values, places *List) {
	o := array.Options("ragged.sort", opts)
	c := l.single("sort")
	l.check("sort")
	r := apply(op.SegmentSort, op.ItemOrder{Descending: o.Descending}, c.live, l.part.tensor())
	return l.with(column{live: r[0]}), l.with(column{live: r[1]})
}

// ArgSort returns the second result of Sort: the places, int64, of the rows in order.
func (l *List) ArgSort(opts ...weft.SortOpts) *List {
	o := array.Options("ragged.argsort", opts)
	l.notNil("argsort")
	_, places := l.Sort(o)
	return places
}
