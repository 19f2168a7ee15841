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
	ts := core.Meet("index_add", core.Inner([]*Tensor{t, x}))
	t, x = (*Tensor)(ts[0]), (*Tensor)(ts[1])
	a := array.Axis("index_add", axis, t.Rank())
	if x.Rank() != t.Rank() {
		array.Failf("index_add", "x", "has shape %s, the receiver %s: want the same number of axes", array.ShapeString(x.v().Shape), array.ShapeString(t.v().Shape))
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
// index would read, in row-major order. x has the shape of index, which has t's rank and is not larger outside the axis. The element types of t and x
// meet by promotion.
func (t *Tensor) ScatterAdd(axis int, index, x *Tensor) *Tensor {
	defer array.Named("scatter_add").End()
	t.c().Check("scatter_add")
	x.c().CheckArgument("scatter_add", "x")
	ts := core.Meet("scatter_add", core.Inner([]*Tensor{t, x}))
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

// TakeAlongAxis is [Tensor.Gather] with t and index broadcast against each other outside
// the axis, where Gather takes a smaller index for a part of t: NumPy's take_along_axis. It
// takes the places that ArgMax with the axis kept, or Sort, give.
func (t *Tensor) TakeAlongAxis(axis int, index *Tensor) *Tensor {
	defer array.Named("take_along_axis").End()
	const name = "take_along_axis"
	t.c().Check(name)
	index = (*Tensor)(core.PlacesFrom(name, "index", index.c()))
	a := array.Axis(name, axis, len(t.v().Shape))
	if len(index.v().Shape) != len(t.v().Shape) {
		array.Failf(name, "index", "has shape %s, the receiver %s: want the same number of axes", array.ShapeString(index.v().Shape), array.ShapeString(t.v().Shape))
	}
	x, i := append([]int{}, t.v().Shape...), append([]int{}, index.v().Shape...)
	x[a], i[a] = 1, 1
	s := array.Broadcast(name, x, i)
	x, i = append([]int{}, s...), append([]int{}, s...)
	x[a], i[a] = t.v().Shape[a], index.v().Shape[a]
	return t.Expand(x...).Gather(a, index.Expand(i...))
}

// Scatter returns t with the elements of x written, in row-major order, where
// [Tensor.Gather] with the same index reads: the last for one place stays, and it alone has
// a gradient. x is a tensor of the shape of index, or a Go number. The result has t's
// element type; a float is refused for integers. It is PyTorch's scatter, and NumPy's
// put_along_axis on a copy.
// The axis may count from the back.
func (t *Tensor) Scatter(axis int, index *Tensor, x any) *Tensor {
	t.c().Check("scatter")
	index.c().CheckArgument("scatter", "index")
	o := t.valueFor("scatter", x)
	index = (*Tensor)(core.PlacesFrom("scatter", "index", index.c()))
	a := array.Axis("scatter", axis, len(t.v().Shape))
	if o.T == nil {
		o.T = core.NumberOf("scatter", t.v().Store.Device, o.Num, t.v().DType)
	}
	if o.T.Rank() == 0 {
		o.T = (*Tensor)(o.T).On(t.Device()).Expand(index.v().Shape...).c()
	}
	return (*Tensor)(core.WithAttrs(op.Scatter, op.Axis(a), o.T, index.c(), t.c()))
}

// A ScatterOp says what [Tensor.ScatterReduce] makes of the values for one place.
type ScatterOp uint8

const (
	ScatterSum  ScatterOp = iota
	ScatterMean           // of integers rounded down
	ScatterMin            // NaN if one is; equal ones share the gradient
	ScatterMax            // the same
	ScatterProd           // in row-major order; the gradient of a factor is the product of the others, also of zeros
)

// ScatterOpts are the options of [Tensor.ScatterReduce].
type ScatterOpts struct {
	Reduce ScatterOp
	// ExcludeSelf leaves out what t has at places that values are for: PyTorch's
	// include_self=False.
	ExcludeSelf bool
}

// ScatterReduce returns t with the sum, product, mean, least or greatest of what is there and of the
// elements of x for it, at each place where [Tensor.Gather] with the same index reads. x
// has the shape of index, which has t's rank and is not larger outside the
// axis. The element types of t and x meet by promotion. It is PyTorch's scatter_reduce.
func (t *Tensor) ScatterReduce(axis int, index, x *Tensor, opts ...ScatterOpts) *Tensor {
	defer array.Named("scatter_reduce").End()
	o := array.Options("scatter_reduce", opts)
	const name = "scatter_reduce"
	t.c().Check(name)
	index.c().CheckArgument(name, "index")
	x.c().CheckArgument(name, "x")
	index = (*Tensor)(core.PlacesFrom(name, "index", index.c()))
	a := array.Axis(name, axis, len(t.v().Shape))
	meets := core.Meet
	if o.Reduce != ScatterSum {
		meets = core.MeetWhole
	}
	ts := meets(name, core.Inner([]*Tensor{t, x}))
	t, x = (*Tensor)(ts[0]), (*Tensor)(ts[1])
	d := t.v().DType
	sum := func() *Tensor {
		if !o.ExcludeSelf {
			return t.ScatterAdd(a, index, x)
		}
		none := core.Full(name, core.AsOperand[Tensor](name, "", false), t.v().Store.Device, Bool, t.v().Shape)
		hit := (*Tensor)(none).Scatter(a, index, true)
		return Where(hit, (*Tensor)(core.Full(name, core.Whole(0), t.v().Store.Device, d, nil)), t).ScatterAdd(a, index, x)
	}
	switch o.Reduce {
	case ScatterSum:
		return sum()
	case ScatterMean:
		if d == Bool {
			array.Failf(name, "", "bool has no mean: convert with To first")
		}
		one := core.Full(name, core.Whole(1), t.v().Store.Device, Int64, nil)
		n := (*Tensor)(core.Full(name, core.Whole(0), t.v().Store.Device, Int64, t.v().Shape)).ScatterAdd(a, index, (*Tensor)(one).Expand(index.v().Shape...))
		if o.ExcludeSelf {
			n = n.Maximum(1)
		} else {
			n = n.Add(1)
		}
		if d.Integer() {
			return sum().FloorDiv(n).To(d)
		}
		return sum().Div(n)
	case ScatterMin, ScatterMax:
		extreme := op.ScatterMin
		if o.Reduce == ScatterMax {
			extreme = op.ScatterMax
		}
		return (*Tensor)(core.WithAttrs(extreme, op.Extreme{Axis: a, Alone: o.ExcludeSelf}, x.c(), index.c(), t.c()))
	case ScatterProd:
		return (*Tensor)(core.WithAttrs(op.ScatterProd, op.Extreme{Axis: a, Alone: o.ExcludeSelf}, x.c(), index.c(), t.c()))
	}
	array.Failf(name, "Reduce", "%d is none of ScatterSum, ScatterMean, ScatterMin, ScatterMax and ScatterProd", o.Reduce)
	return nil
}
