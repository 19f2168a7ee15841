package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// assignOp computes d of t and x into t.
func (t *Tensor) assignOp(d *op.Def, name string, x any) *Tensor {
	defer array.Named(name).End()
	o := core.AsOperand[Tensor](name, "x", x)
	return (*Tensor)(t.c().AssignAs(d, nil, name, core.Operand{T: t.c()}, o))
}

// Assign writes x, a *Tensor or a Go number, broadcast to t's shape, into t, and
// returns t. Overlapping memory is right: x.Slice(Range(1, n)).Assign(x.Slice(Range(0, n-1))).
// A float cannot be written into integers, nor a complex number into others.
func (t *Tensor) Assign(x any) *Tensor {
	return (*Tensor)(t.c().Assigned("assign", "x", core.AsOperand[Tensor]("assign", "x", x), (*core.Tensor).CopyFrom))
}

// Set writes v, a *Tensor or a Go number, at the given indices of the first axes, as NumPy's
// x[i, j] = v: one element where there is an index for each axis, else the sub-array there, to
// whose shape v broadcasts. Negative indices count from the back. It returns t. The element
// is converted to t's type; a float is refused for integers, as is a Go integer that t's type
// does not hold. It panics if an index is out of range, and says which. A gradient flows on to
// v where t is part of a recorded computation, as with [Tensor.Assign]; a leaf is written
// inside [WithoutGrad]. [Tensor.Slice] with Assign writes spans, [Tensor.IndexPut]
// arrays of places.
//
//	x.Set(1.5, 2, -1) // x[2, -1] = 1.5
//	x.Set(row, 0)     // x[0] = row
func (t *Tensor) Set(v any, index ...int) *Tensor {
	t.c().Check("set")
	t.c().NotExpanded("set")
	t.c().AtAs("set", index).Assigned("set", "v", core.AsOperand[Tensor]("set", "v", v), (*core.Tensor).CopyFrom)
	return t
}

// In-place arithmetic: each writes the result into t and returns it. x is a
// *Tensor or a Go number that broadcasts to t's shape.

// AddAssign writes t + x into t and returns t. x, a tensor or a Go number, broadcasts to t's
// shape and does not change its type: a float x is refused for integers. The write is recorded
// for gradients. It panics with *[Error] otherwise, and for a leaf that requires a gradient,
// which is written inside [WithoutGrad].
func (t *Tensor) AddAssign(x any) *Tensor { return t.assignOp(op.Add, "addassign", x) }

// SubAssign writes t - x into t and returns t. x, a tensor or a Go number, broadcasts to t's
// shape and does not change its type: a float x is refused for integers. The write is recorded
// for gradients. It panics with *[Error] otherwise, and for a leaf that requires a gradient,
// which is written inside [WithoutGrad].
func (t *Tensor) SubAssign(x any) *Tensor { return t.assignOp(op.Sub, "subassign", x) }

// MulAssign writes t * x into t and returns t. x, a tensor or a Go number, broadcasts to t's
// shape and does not change its type: a float x is refused for integers. The write is recorded
// for gradients. It panics with *[Error] otherwise, and for a leaf that requires a gradient,
// which is written inside [WithoutGrad].
func (t *Tensor) MulAssign(x any) *Tensor { return t.assignOp(op.Mul, "mulassign", x) }

// DivAssign writes t / x into t and returns t. t must hold floats or complex numbers; x, a
// tensor or a Go number, broadcasts to t's shape. It panics with *[Error] otherwise, and for a
// leaf that requires a gradient.
func (t *Tensor) DivAssign(x any) *Tensor { return t.assignOp(op.Div, "divassign", x) }

// Update writes f(t) into t, f being one of the methods, such as
// (*Tensor).Relu: the in-place form of any elementwise method, and of those that change
// some elements, such as [Tensor.IndexPut] and [Tensor.MaskedFill]. Of a tracked array
// ([Track]) the bytes are marked that change.
func (t *Tensor) Update(f func(*Tensor) *Tensor) *Tensor {
	t.c().Writable("update")
	if f == nil {
		array.Failf("update", "f", "is nil: want a method such as (*Tensor).Relu")
	}
	before := core.TapeSeq.Load()
	r := f(t)
	r.c().NotNil("update")
	if core.GradOn() {
		r.c().Node().KeepOldSince(before, t.v().Store)
	}
	return (*Tensor)(t.c().Assigned("update", "f", core.Of("update", r.c()), (*core.Tensor).UpdateFrom))
}

// Zero writes 0 everywhere and returns t; views of the same memory show it. It panics with
// *[Error] for memory that must not be written and for leaves, as [Tensor.Assign] does.
func (t *Tensor) Zero() *Tensor {
	defer array.Named("zero").End()
	return t.Assign(0)
}

// Fill writes a Go number, or a tensor that broadcasts, everywhere and returns t:
// [Tensor.Assign] by another name. A float is refused for integers, as is an integer that t's
// type does not hold.
func (t *Tensor) Fill(x any) *Tensor {
	defer array.Named("fill").End()
	return t.Assign(x)
}

// Version returns how often the memory of t was written in place, through t or any view of it: PyTorch's
// _version. The backward pass refuses a value that was written after an operation saved it. A call of a
// compiled function counts as one write or more of each tensor that it writes. It panics with *[Error]
// inside a compiled function, which runs once for many calls.
func (t *Tensor) Version() int {
	t.c().Check("version")
	core.RefuseRead("version", t.c())
	return int(t.v().Store.Version())
}
