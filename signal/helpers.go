package signal

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// numbers returns an argument as floats or complex numbers: integers as float32.
func numbers(name, arg string, t *weft.Tensor) *weft.Tensor {
	(*core.Tensor)(t).CheckArgument(name, arg)
	if !t.DType().Differentiable() {
		t = t.To(weft.Float32)
	}
	return t
}

// signalOf returns an argument as numbers with an axis, and that axis counted from the front.
func signalOf(name, arg string, t *weft.Tensor, axis *int) (*weft.Tensor, int) {
	t = numbers(name, arg, t)
	if t.Rank() == 0 {
		array.Failf(name, arg, "has shape [], want an axis of samples")
	}
	return t, array.Axis(name, array.Or(axis, -1), t.Rank())
}

// vectorOf returns an argument as numbers in one axis, one at least.
func vectorOf(name, arg string, t *weft.Tensor) *weft.Tensor {
	t = numbers(name, arg, t)
	if t.Rank() != 1 || t.Size() == 0 {
		array.Failf(name, arg, "has shape %s, want numbers along one axis", array.ShapeString(t.Shape()))
	}
	return t
}

// meet converts arguments to the type in which they meet.
func meet(ts ...*weft.Tensor) []*weft.Tensor {
	d := ts[0].DType()
	for _, t := range ts[1:] {
		d = array.Promote(d, t.DType())
	}
	out := make([]*weft.Tensor, len(ts))
	for i, t := range ts {
		out[i] = t.To(d)
	}
	return out
}

// apply computes an operation without attributes.
func apply(d *op.Def, ts ...*weft.Tensor) []*weft.Tensor {
	in := make([]core.Operand, len(ts))
	for i, t := range ts {
		in[i] = core.Operand{T: (*core.Tensor)(t)}
	}
	out := core.ApplyAll(d, nil, in...)
	res := make([]*weft.Tensor, len(out))
	for i, t := range out {
		res[i] = (*weft.Tensor)(t)
	}
	return res
}

// part is the elements of an axis from one to before another.
func part(t *weft.Tensor, axis, from, to int) *weft.Tensor {
	spans := make([]weft.Span, axis+1)
	for i := range spans {
		spans[i] = weft.All
	}
	spans[axis] = weft.Range(from, to)
	return t.Slice(spans...)
}

// padded puts zeros around an axis.
func padded(t *weft.Tensor, axis, before, behind int) *weft.Tensor {
	if before == 0 && behind == 0 {
		return t
	}
	pads := make([]int, 2*t.Rank())
	pads[2*axis], pads[2*axis+1] = before, behind
	return t.Pad(0, pads...)
}

// shapeOf joins axes.
func shapeOf(lead []int, tail ...int) []int { return append(append([]int{}, lead...), tail...) }
