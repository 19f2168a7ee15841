package linalg

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// matrix returns an argument with elements that the routines take: integers as float32. It panics unless
// the argument has two axes or more.
func matrix(opName, arg string, t *weft.Tensor) *weft.Tensor {
	t = numbers(opName, arg, t)
	if t.Rank() < 2 {
		array.Failf(opName, arg, "has shape %s, want a matrix in the last two axes", array.ShapeString(t.Shape()))
	}
	return t
}

// square is matrix for square ones.
func square(opName, arg string, t *weft.Tensor) *weft.Tensor {
	t = matrix(opName, arg, t)
	if t.Dim(-1) != t.Dim(-2) {
		array.Failf(opName, arg, "has shape %s, want square matrices in the last two axes", array.ShapeString(t.Shape()))
	}
	return t
}

// numbers returns an argument as floats or complex numbers.
func numbers(opName, arg string, t *weft.Tensor) *weft.Tensor {
	(*core.Tensor)(t).CheckArgument(opName, arg)
	if !t.DType().Differentiable() {
		t = t.To(weft.Float32)
	}
	return t
}

// meet returns two arguments of one element type whose axes before the last two are equal.
func meet(opName string, a, b *weft.Tensor) (x, y *weft.Tensor) {
	d := array.Promote(a.DType(), b.DType())
	a, b = a.To(d), b.To(d)
	s, t := a.Shape(), b.Shape()
	if !array.Broadcasts(s[:len(s)-2], t[:len(t)-2]) {
		array.Failf(opName, "", "axes before the last two do not broadcast: %s and %s", array.ShapeString(s), array.ShapeString(t))
	}
	batch := array.Broadcast(opName, s[:len(s)-2], t[:len(t)-2])
	return spread(a, batch), spread(b, batch)
}

// spread expands the axes before the last two to batch.
func spread(t *weft.Tensor, batch []int) *weft.Tensor {
	s := t.Shape()
	if array.Equal(s[:len(s)-2], batch) {
		return t
	}
	return t.Expand(append(append([]int{}, batch...), s[len(s)-2:]...)...)
}

// adjoint is the conjugate transpose.
func adjoint(t *weft.Tensor) *weft.Tensor {
	if t.DType().Complex() {
		t = t.Conj()
	}
	return t.Transpose(-1, -2)
}

// apply computes an operation of one result.
func apply(d *op.Def, a interface{ AppendKey([]byte) []byte }, ts ...*weft.Tensor) *weft.Tensor {
	return (*weft.Tensor)(core.WithAttrs(d, a, core.Inner(ts)...))
}
