package core

import (
	"math"

	"weft/internal/array"
	"weft/internal/op"
)

// PlacesFrom is an argument of op that must hold integers, which say places along an axis.
func PlacesFrom(opName, arg string, t *Tensor) *Tensor {
	t.CheckArgument(opName, arg)
	if !t.v.DType.Integer() {
		array.Failf(opName, arg, "has elements of type %s, want integers", t.v.DType)
	}
	defer array.Named(opName).End() // of the conversion
	return Places(t)
}

// Places returns integers of any type as indices for operations: int32 and int64 unchanged, others as
// int64. A uint64 above MaxInt64 becomes MaxInt64, which is out of range for every axis.
func Places(t *Tensor) *Tensor {
	switch t.v.DType {
	case array.Int32, array.Int64:
		return t
	case array.Uint64:
		t = Apply(op.Minimum, nil, Operand{T: t}, Whole(math.MaxInt64))
	}
	return t.To(array.Int64)
}

// IndexSelect does what weft.Tensor.IndexSelect says.
func (t *Tensor) IndexSelect(axis int, index *Tensor) *Tensor {
	t.Check("index_select")
	return WithAttrs(op.IndexSelect, op.Axis(array.Axis("index_select", axis, t.Rank())), t, PlacesFrom("index_select", "index", index))
}
