package sym

import (
	"unsafe"

	"weft"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// The engine behind tensors, which replays expressions.

// inner is ts as the engine has them: the same memory.
func inner(ts []*weft.Tensor) []*core.Tensor { return *(*[]*core.Tensor)(unsafe.Pointer(&ts)) }

// outer is ts as users have them: the same memory.
func outer(ts []*core.Tensor) []*weft.Tensor { return *(*[]*weft.Tensor)(unsafe.Pointer(&ts)) }

// sizes are those of t's axes, without a copy: nobody writes to the slice.
func sizes(t *weft.Tensor) []int { return (*core.Tensor)(t).Sizes() }

// call computes an operation of tensors and returns its results.
func call(d *op.Def, a ir.Attrs, args []*weft.Tensor) []*weft.Tensor {
	ops := make([]core.Operand, len(args))
	for i, t := range args {
		ops[i] = core.Of(d.Name, (*core.Tensor)(t))
	}
	return outer(core.Call(d, a, nil, ops...))
}
