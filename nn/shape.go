package nn

import (
	"fmt"
	"slices"

	"weft"
	"weft/internal/array"
)

// Layers and functions that give elements another shape.

// Flatten merges axes, all but the first if not asked otherwise.
type Flatten struct {
	Start *int // the first axis that is merged; nil means 1
	End   *int // the last one; nil means the last of x
}

// Forward maps [batch, ...] to [batch, features].
func (l Flatten) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Flatten.forward) }

func (l Flatten) forward(x *weft.Tensor) *weft.Tensor {
	start := array.Or(l.Start, 1)
	if l.End == nil {
		return x.Flatten(start)
	}
	const name = "flatten"
	defer array.Named(name).End()
	if x == nil {
		array.Failf(name, "x", "is nil")
	}
	r := x.Rank()
	from, to := start, *l.End
	if from < 0 {
		from += r
	}
	if to < 0 {
		to += r
	}
	if from < 0 || to >= r || from > to {
		array.Failf(name, "End", "is %d, Start %d: want axes of shape %s in order", *l.End, start, array.ShapeString(sizes(x)))
	}
	s := sizes(x)
	return x.Reshape(slices.Concat(s[:from], []int{array.Size(s[from : to+1])}, s[to+1:])...)
}

// Unflatten divides an axis into several of the given sizes; one may be -1: what is left.
type Unflatten struct {
	Axis  int
	Sizes []int
}

// Forward maps [... n ...] to [... Sizes ...].
func (l Unflatten) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Unflatten.forward) }

func (l Unflatten) forward(x *weft.Tensor) *weft.Tensor { return x.Unflatten(l.Axis, l.Sizes...) }

// OneHot maps integers [...] to int64 [..., classes]: 1 at the element's place of the last axis,
// 0 elsewhere. -1 classes are one more than the greatest element, which is read. It panics with
// *weft.Error if an element is not from 0 to classes-1.
func OneHot(x *weft.Tensor, classes int) *weft.Tensor {
	const name = "one_hot"
	defer array.Named(name).End()
	if x == nil || !x.DType().Integer() {
		array.Failf(name, "x", "is %s, want integers", describe(x))
	}
	x = asIndices(x).To(weft.Int64)
	if classes == -1 {
		if x.Size() == 0 {
			array.Failf(name, "classes", "is -1, and x has no elements: give their number")
		}
		classes = int(x.Max().ItemInt()) + 1
	}
	if classes < 1 && x.Size() > 0 || classes < 0 {
		array.Failf(name, "classes", "is %d, want 1 or more, or -1", classes)
	}
	x = checkRange(x, name, "x", 0, int64(classes-1), fmt.Sprintf("has %%d, want 0 to %d", classes-1))
	return x.Unsqueeze(-1).Eq(x.Device().Arange(classes)).To(weft.Int64)
}

// ones returns n sizes of 1.
func ones(n int) []int { return slices.Repeat([]int{1}, n) }
