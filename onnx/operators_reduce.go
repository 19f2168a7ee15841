package onnx

import "weft"

// Reductions, and what orders elements.
var reduceOperators = []operator{
	{name: "ReduceMean", run: reduction(18, (*weft.Tensor).MeanKeep), reads: []int{1}},
	{name: "ReduceSum", run: reduction(13, (*weft.Tensor).SumKeep), reads: []int{1}},
}

// reduction is a reduction whose axes are an input since an opset, and an attribute before. f keeps the axes.
func reduction(since int, f func(x *weft.Tensor, axes ...int) *weft.Tensor) func(c *call) []Value {
	return func(c *call) []Value {
		x := c.tensor(0)
		keep, empty := c.attrBool("keepdims", true), c.attrBool("noop_with_empty_axes", false)
		var axes []int
		if c.opset() < since {
			axes = c.attrInts("axes")
		} else {
			axes = c.intsOr(1)
		}
		if len(axes) == 0 {
			if empty {
				return []Value{c.value(0)}
			}
			for i := range x.Rank() {
				axes = append(axes, i)
			}
		}
		axes = c.axes(axes, x.Rank())
		y := x
		if len(axes) > 0 {
			y = f(x, axes...).To(x.DType())
		}
		if !keep && len(axes) > 0 {
			y = y.Squeeze(axes...)
		}
		return tensors(y)
	}
}
