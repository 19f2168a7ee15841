package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

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
		array.Failf(name, "index", "has shape %s, the receiver %s: want as many dimensions", array.ShapeString(index.v().Shape), array.ShapeString(t.v().Shape))
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
	if len(o.T.View().Shape) == 0 {
		o.T = (*Tensor)(o.T).Expand(index.v().Shape...).c()
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
)

// ScatterOpts are the options of [Tensor.ScatterReduce].
type ScatterOpts struct {
	Reduce ScatterOp
	// ExcludeSelf leaves out what t has at places that values are for: PyTorch's
	// include_self=False.
	ExcludeSelf bool
}

// ScatterReduce returns t with the sum, mean, least or greatest of what is there and of the
// elements of x for it, at each place where [Tensor.Gather] with the same index reads. x
// has the shape of index, which has as many dimensions as t and is not larger outside the
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
	ts := meets(name, inner([]*Tensor{t, x}))
	t, x = (*Tensor)(ts[0]), (*Tensor)(ts[1])
	d := t.v().DType
	sum := func() *Tensor {
		if !o.ExcludeSelf {
			return t.ScatterAdd(a, index, x)
		}
		none := core.Full(name, asOperand(name, "", false), t.v().Store.Device, Bool, t.v().Shape)
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
	}
	array.Failf(name, "Reduce", "%d is none of ScatterSum, ScatterMean, ScatterMin and ScatterMax", o.Reduce)
	return nil
}
