package core

import (
	"weft/internal/array"
	"weft/internal/op"
)

// Elementwise methods take a *Tensor or a Go number as second operand, broadcast
// by NumPy's rule and promote by PyTorch's: bool < integer < float, a Go number
// or a 0-d tensor does not widen its own category. They panic with *Error when
// shapes do not broadcast, and when a Go integer does not fit the integer type of the
// result; comparisons and limits (Clamp, Minimum, Maximum) take it as the number it is.

// Cat does what weft.Cat says.
func Cat(ts []*Tensor, axis int) *Tensor {
	defer array.Named("cat").End()
	return Joined("cat", ts, axis)
}

// Joined joins tensors along an axis. opName is in errors.
func Joined(opName string, ts []*Tensor, axis int) *Tensor {
	in := MeetWhole(opName, ts)
	axis = array.Axis(opName, axis, len(in[0].v.Shape))
	return WithAttrs(op.Cat, op.Axis(axis), in...)
}

// Meet converts tensors to the type in which they meet.
func Meet(opName string, ts []*Tensor) []*Tensor {
	defer array.Named(opName).End() // of the conversions
	SomeTensors(opName, ts)
	d := ts[0].v.DType
	for _, t := range ts {
		d = array.Promote(d, t.v.DType)
	}
	out := make([]*Tensor, len(ts))
	for i, t := range ts {
		out[i] = t.To(d)
	}
	return out
}

// MeetWhole is meet for operations that keep or order elements: integers keep their values.
func MeetWhole(opName string, ts []*Tensor) []*Tensor {
	SomeTensors(opName, ts)
	types := make([]array.DType, len(ts))
	for i, t := range ts {
		types[i] = t.v.DType
	}
	op.NoCommon(opName, types...)
	return Meet(opName, ts)
}

// SomeTensors refuses an empty list and nil tensors.
func SomeTensors(opName string, ts []*Tensor) {
	if len(ts) == 0 {
		array.Failf(opName, "", "takes one tensor or more, got none")
	}
	for i, t := range ts {
		if t == nil {
			array.Failf(opName, "", "tensor %d is nil", i)
		}
	}
}

// Stack does what weft.Stack says.
func Stack(ts []*Tensor, axis int) *Tensor {
	defer array.Named("stack").End()
	SomeTensors("stack", ts)
	in := make([]*Tensor, len(ts))
	for i, t := range ts {
		if !array.Equal(t.v.Shape, ts[0].v.Shape) {
			array.Failf("stack", "", "tensor %d has shape %s, tensor 0 %s: want equal shapes", i, array.ShapeString(t.v.Shape), array.ShapeString(ts[0].v.Shape))
		}
		in[i] = t.Unsqueeze(axis)
	}
	return Cat(in, array.Axis("stack", axis, len(ts[0].v.Shape)+1))
}
