package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Cumulative results have the shape of t. Element i is computed from elements 0 to i along the
// axis, which may count from the back. Bits depend neither on threads nor on the processor.

// CumSum returns the sums of each element and all before it along an axis. Integers and
// Bool give int64, Uint64 uint64; float16 and bfloat16 are added in float32 and rounded at the
// end.
//
// Floats are added in blocks of 64 bytes: pairs first, then runs of 4, 8 and so on. The sums of 16
// blocks are added in order, then the sums of 16 such groups, and so on. An element is the result
// of at most A = 4 + 17L additions, where L is the number of levels of groups: 5 for a million
// elements. So the error is at most A * 2^-24 (float32) or A * 2^-53 (float64) times the sum of
// magnitudes. The order is the same along every axis, for every layout and device. The gradient
// uses it from the end.
func (t *Tensor) CumSum(axis int) *Tensor { return t.along(op.CumSum, axis) }

// CumProd returns the products of each element and all before it along an axis. Types are
// as for CumSum. Products are taken in order; of float32 they are kept in float64, and each is
// rounded. The gradient is exact at zeros too.
func (t *Tensor) CumProd(axis int) *Tensor { return t.along(op.CumProd, axis) }

// CumMax returns the greatest of each element and all before it along an axis, and where it
// was, int64: at the last place of equal ones. From a NaN on there is nothing but NaN.
// Gradients go back to those places.
func (t *Tensor) CumMax(axis int) (values, index *Tensor) { return t.placedAlong(op.CumMax, axis) }

// CumMin is [Tensor.CumMax] for the least elements: the least of each element and all before it
// along an axis, in t's shape and type, and int64 places. It panics with *[Error] if the axis is
// out of range.
func (t *Tensor) CumMin(axis int) (values, index *Tensor) { return t.placedAlong(op.CumMin, axis) }

// along applies an operation that has an axis as its attribute.
func (t *Tensor) along(d *op.Def, axis int) *Tensor {
	t.c().Check(d.Name)
	return (*Tensor)(core.WithAttrs(d, op.Axis(array.Axis(d.Name, axis, t.Rank())), t.c()))
}

// placedAlong is along for an operation that gives elements and where they were.
func (t *Tensor) placedAlong(d *op.Def, axis int) (values, index *Tensor) {
	t.c().Check(d.Name)
	r := core.ApplyAll(d, op.Axis(array.Axis(d.Name, axis, t.Rank())), core.Operand{T: t.c()})
	return (*Tensor)(r[0]), (*Tensor)(r[1])
}
