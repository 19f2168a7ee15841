package sym

import (
	"weft"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// The engine behind tensors, which replays expressions.

// sizes returns t's shape without a copy. Callers must not write to it.
func sizes(t *weft.Tensor) []int { return (*core.Tensor)(t).Sizes() }

// call computes an operation of tensors and returns its results.
func call(d *op.Def, a ir.Attrs, args []*weft.Tensor) []*weft.Tensor {
	ops := make([]core.Operand, len(args))
	for i, t := range args {
		ops[i] = core.Of(d.Name, (*core.Tensor)(t))
	}
	return core.Outer[weft.Tensor](core.Call(d, a, nil, ops...))
}
