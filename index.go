package weft

import (
	"math"

	"weft/internal/array"
	"weft/internal/op"
)

// placesFrom is an argument of op that must hold integers, which say places along an axis.
func placesFrom(opName, arg string, t *Tensor) *Tensor {
	t.checkArgument(opName, arg)
	if !t.v.DType.Integer() {
		array.Failf(opName, arg, "has elements of type %s, want integers", t.v.DType)
	}
	return places(t)
}

// places returns integers of any type as indices for operations: int32 and int64 unchanged, others as
// int64. A uint64 above MaxInt64 becomes MaxInt64, which is out of range for every axis.
func places(t *Tensor) *Tensor {
	switch t.v.DType {
	case Int32, Int64:
		return t
	case Uint64:
		t = apply(op.Minimum, nil, operand{t: t}, whole(math.MaxInt64))
	}
	return t.To(Int64)
}

// IndexSelect returns the sub-arrays of t at the places of a vector of integers
// along an axis; negative ones count from the back. It panics if one is out of
// range.
func (t *Tensor) IndexSelect(axis int, index *Tensor) *Tensor {
	t.check("index_select")
	return withAttrs(op.IndexSelect, op.Axis(array.Axis("index_select", axis, t.Rank())), t, placesFrom("index_select", "index", index))
}

// IndexAdd returns t with the sub-arrays of x added at the places of a vector of
// integers along an axis; where places repeat, in ascending order of position. x
// has t's shape but for the axis, where it is as long as index. The element types
// of t and x meet by promotion.
func (t *Tensor) IndexAdd(axis int, index, x *Tensor) *Tensor {
	t.check("index_add")
	x.checkArgument("index_add", "x")
	ts := meet("index_add", []*Tensor{t, x})
	t, x = ts[0], ts[1]
	a := array.Axis("index_add", axis, t.Rank())
	if x.Rank() != t.Rank() {
		array.Failf("index_add", "x", "has shape %s, the receiver %s: want as many dimensions", array.ShapeString(x.v.Shape), array.ShapeString(t.v.Shape))
	}
	return withAttrs(op.Lookup("index_add"), op.Target{Axis: a, Shape: t.v.Shape}, x, placesFrom("index_add", "index", index), t)
}

// Gather returns, for each element of index, the element of t at the same position, except that
// index gives the position along the axis: result[i][j] = t[index[i][j]][j] for axis 0. index holds
// integers of any type.
func (t *Tensor) Gather(axis int, index *Tensor) *Tensor {
	t.check("gather")
	return withAttrs(op.Gather, op.Axis(array.Axis("gather", axis, t.Rank())), t, placesFrom("gather", "index", index))
}

// ScatterAdd returns t with the elements of x added where Gather with the same
// index would read, in row-major order. x has the shape of index, which has as many
// dimensions as t and is not larger outside the axis. The element types of t and x
// meet by promotion.
func (t *Tensor) ScatterAdd(axis int, index, x *Tensor) *Tensor {
	defer array.Named("scatter_add").End()
	t.check("scatter_add")
	x.checkArgument("scatter_add", "x")
	ts := meet("scatter_add", []*Tensor{t, x})
	t, x = ts[0], ts[1]
	a := array.Axis("scatter_add", axis, t.Rank())
	return withAttrs(op.ScatterAdd, op.Axis(a), x, placesFrom("scatter_add", "index", index), t)
}

// NonZero returns the row-major positions, a vector of int64, of the elements that are not 0, of
// any type; NaN is not 0. How many there are is counted at once, so it is refused in compiled
// functions.
func (t *Tensor) NonZero() *Tensor {
	defer array.Named("nonzero").End()
	t.check("nonzero")
	m := t.Contiguous()
	if m.v.DType != Bool {
		m = m.Ne(0)
	}
	return withAttrs(op.NonZero, op.Count(countTrue(m)), m)
}

// countTrue reads how many elements of a mask are true.
func countTrue(m *Tensor) int {
	return int(withAttrs(op.CountTrue, nil, m).ItemInt())
}

// MaskSelect returns a vector of the elements of t where mask, a Bool tensor, is true, in
// row-major order; both broadcast. It is NumPy's x[mask], and has gradients. How many there are
// is counted at once. It panics with *[Error] where shapes do not broadcast, or mask is not
// Bool.
func (t *Tensor) MaskSelect(mask *Tensor) *Tensor {
	defer array.Named("mask_select").End()
	t.check("mask_select")
	mask.checkArgument("mask_select", "mask")
	if mask.v.DType != Bool {
		array.Failf("mask_select", "mask", "has elements of type %s, want bool", mask.v.DType)
	}
	s := array.Broadcast("mask_select", t.v.Shape, mask.v.Shape)
	m := mask.Expand(s...).Contiguous()
	return withAttrs(op.MaskSelect, op.Count(countTrue(m)), t.Expand(s...), m)
}
