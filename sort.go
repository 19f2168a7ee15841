package weft

import (
	"weft/internal/array"
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
func (t *Tensor) Sort(axis int, o SortOpts) (values, index *Tensor) {
	t.check("sort")
	a := op.Sorting{Axis: array.Axis("sort", axis, len(t.v.Shape)), Descending: o.Descending}
	r := applyAll(op.Sort, a, operand{t: t})
	return r[0], r[1]
}
