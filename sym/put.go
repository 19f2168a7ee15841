package sym

import (
	"slices"

	"weft"
	"weft/internal/array"
)

// Values with a part written, whose bounds may be variables.

// IndexPut is [weft.Tensor.IndexPut] of variables: Theano's set_subtensor. An index may be a [Span],
// whose bounds are variables, beside Spans and ints.
//
//	x.IndexPut(0, sym.Range(i, i.Add(2))) // x[i:i+2] = 0
func (v *Var) IndexPut(x any, index ...any) *Var {
	o := operation{name: "indexput"}
	self, value, at := o.putting(v, x, index)
	return o.one(func(ts []*weft.Tensor) *weft.Tensor { return self(ts).IndexPut(value(ts), at(ts)...) })
}

// IndexPutAdd is [weft.Tensor.IndexPutAdd] of variables: Theano's inc_subtensor. Its indices are as for
// [Var.IndexPut].
func (v *Var) IndexPutAdd(x any, index ...any) *Var {
	o := operation{name: "indexputadd"}
	self, value, at := o.putting(v, x, index)
	return o.one(func(ts []*weft.Tensor) *weft.Tensor { return self(ts).IndexPutAdd(value(ts), at(ts)...) })
}

// putting notes the arguments of an operation that writes x at an index of v.
func (o *operation) putting(v *Var, x any, index []any) (self func([]*weft.Tensor) *weft.Tensor, value func([]*weft.Tensor) any, at func([]*weft.Tensor) []any) {
	v.notNil(o.name)
	index = v.withoutSpans(o.name, index)
	return o.arg(v), o.any(x), o.anys(index)
}

// withoutSpans returns an index that selects the same without a [Span]. From the first Span or int to the
// last, each part of an axis becomes a vector of places along an axis of its own, as np.ix_ makes them.
func (v *Var) withoutSpans(opName string, index []any) []any {
	if !slices.ContainsFunc(index, func(x any) bool { _, ok := x.(Span); return ok }) {
		return index
	}
	index = v.wholeIndex(opName, index)
	first, last, parts := len(index), 0, 0
	for i, x := range index {
		if _, ok := x.(Span); ok || isPlace(x) {
			first, last = min(first, i), i
		}
	}
	for _, x := range index[first : last+1] {
		if !isPlace(x) {
			parts++
		}
	}
	var out []any
	axis, part := 0, 0
	for i, x := range index {
		s, plain := x.(weft.Span)
		isNew := plain && partOf(s).NewAxis
		switch {
		case i < first || i > last || isPlace(x):
			out = append(out, x)
		case isNew:
			part++
		default:
			shape := slices.Repeat([]any{1}, parts)
			shape[part] = -1
			out = append(out, Arange(v.Len(axis)).Slice(x).Reshape(shape...))
			part++
		}
		if !isNew {
			axis++
		}
	}
	return out
}

// wholeIndex returns an index of Spans and ints with whole axes in the place of an ellipsis.
func (v *Var) wholeIndex(opName string, index []any) []any {
	used, ellipsis := 0, -1
	for i, x := range index {
		switch x := x.(type) {
		case int, Span:
			used++
		case weft.Span:
			switch p := partOf(x); {
			case p.Ellipsis && ellipsis >= 0:
				array.Failf(opName, "index", "has two ellipses")
			case p.Ellipsis:
				ellipsis = i
			case !p.NewAxis:
				used++
			}
		default:
			array.Failf(opName, "index", "argument %d is %T: beside a sym.Span stand Spans and ints alone", i, x)
		}
	}
	if used > len(v.shape) {
		array.Failf(opName, "index", "is for %d axes, %s has %d%s", used, v, len(v.shape), v.where())
	}
	if ellipsis < 0 {
		return index
	}
	return slices.Concat(index[:ellipsis], slices.Repeat([]any{weft.All}, len(v.shape)-used), index[ellipsis+1:])
}

// isPlace reports an index of one place, whose axis disappears.
func isPlace(x any) bool {
	if _, ok := x.(int); ok {
		return true
	}
	s, ok := x.(weft.Span)
	return ok && partOf(s).Index
}
