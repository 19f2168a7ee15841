package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// IndexSelect returns the sub-arrays of t at the places of a vector of integers
// along an axis; negative ones count from the back. It panics if one is out of
// range.
func (t *Tensor) IndexSelect(axis int, index *Tensor) *Tensor {
	return (*Tensor)(t.c().IndexSelect(axis, index.c()))
}

// IndexAdd returns t with the sub-arrays of x added at the places of a vector of
// integers along an axis; where places repeat, in ascending order of position. x
// has t's shape but for the axis, where it is as long as index. The element types
// of t and x meet by promotion.
func (t *Tensor) IndexAdd(axis int, index, x *Tensor) *Tensor {
	t.c().Check("index_add")
	x.c().CheckArgument("index_add", "x")
	ts := core.Meet("index_add", inner([]*Tensor{t, x}))
	t, x = (*Tensor)(ts[0]), (*Tensor)(ts[1])
	a := array.Axis("index_add", axis, t.Rank())
	if x.Rank() != t.Rank() {
		array.Failf("index_add", "x", "has shape %s, the receiver %s: want as many dimensions", array.ShapeString(x.v().Shape), array.ShapeString(t.v().Shape))
	}
	return (*Tensor)(core.WithAttrs(op.Lookup("index_add"), op.Target{Axis: a, Shape: t.v().Shape}, x.c(), core.PlacesFrom("index_add", "index", index.c()), t.c()))
}

// Gather returns, for each element of index, the element of t at the same position, except that
// index gives the position along the axis: result[i][j] = t[index[i][j]][j] for axis 0. index holds
// integers of any type.
func (t *Tensor) Gather(axis int, index *Tensor) *Tensor {
	t.c().Check("gather")
	return (*Tensor)(core.WithAttrs(op.Gather, op.Axis(array.Axis("gather", axis, t.Rank())), t.c(), core.PlacesFrom("gather", "index", index.c())))
}

// ScatterAdd returns t with the elements of x added where Gather with the same
// index would read, in row-major order. x has the shape of index, which has as many
// dimensions as t and is not larger outside the axis. The element types of t and x
// meet by promotion.
func (t *Tensor) ScatterAdd(axis int, index, x *Tensor) *Tensor {
	defer array.Named("scatter_add").End()
	t.c().Check("scatter_add")
	x.c().CheckArgument("scatter_add", "x")
	ts := core.Meet("scatter_add", inner([]*Tensor{t, x}))
	t, x = (*Tensor)(ts[0]), (*Tensor)(ts[1])
	a := array.Axis("scatter_add", axis, t.Rank())
	return (*Tensor)(core.WithAttrs(op.ScatterAdd, op.Axis(a), x.c(), core.PlacesFrom("scatter_add", "index", index.c()), t.c()))
}

// NonZero returns the row-major positions, a vector of int64, of the elements that are not 0, of
// any type; NaN is not 0. How many there are is counted at once, so it is refused in compiled
// functions.
func (t *Tensor) NonZero() *Tensor {
	defer array.Named("nonzero").End()
	t.c().Check("nonzero")
	m := t.Contiguous()
	if m.v().DType != Bool {
		m = m.Ne(0)
	}
	return (*Tensor)(core.WithAttrs(op.NonZero, op.Count(countTrue(m)), m.c()))
}

// countTrue reads how many elements of a mask are true.
func countTrue(m *Tensor) int {
	return int((*Tensor)(core.WithAttrs(op.CountTrue, nil, m.c())).ItemInt())
}

// MaskSelect returns a vector of the elements of t where mask, a Bool tensor, is true, in
// row-major order; both broadcast. It is NumPy's x[mask], and has gradients. How many there are
// is counted at once. It panics with *[Error] where shapes do not broadcast, or mask is not
// Bool.
func (t *Tensor) MaskSelect(mask *Tensor) *Tensor {
	defer array.Named("mask_select").End()
	t.c().Check("mask_select")
	mask.c().CheckArgument("mask_select", "mask")
	if mask.v().DType != Bool {
		array.Failf("mask_select", "mask", "has elements of type %s, want bool", mask.v().DType)
	}
	s := array.Broadcast("mask_select", t.v().Shape, mask.v().Shape)
	m := mask.Expand(s...).Contiguous()
	return (*Tensor)(core.WithAttrs(op.MaskSelect, op.Count(countTrue(m)), t.Expand(s...).c(), m.c()))
}
