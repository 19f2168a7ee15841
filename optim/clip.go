package optim

import (
	"iter"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// ClipNorm divides the gradients of params, as nn.Params gives them, so that the norm of all
// of them together, the root of the sum of their elements' squares, is at most a limit, and
// returns what it was: PyTorch's clip_grad_norm_, between Backward and Step. The gradients are
// read once, and written only where the norm is greater. If the norm is NaN or infinite,
// gradients become NaN and 0, as there. In a compiled function the norm is not known as a Go
// number, and is NaN. It panics with *weft.Error if the limit is negative or NaN.
func ClipNorm(params iter.Seq2[string, *weft.Tensor], limit float64) (norm float64) {
	notNegative("clip_norm", "limit", limit)
	forGrads("clip_norm", params, func(grads []*weft.Tensor) {
		sums := weft.ZerosOf(weft.Float64, len(grads))
		if len(grads) > 0 {
			sums = grads[0].Device().ZerosOf(weft.Float64, len(grads))
		}
		squares.IntoAll(func(yield func([]*core.Tensor, []core.Operand) bool) {
			for i, g := range grads {
				if !yield([]*core.Tensor{(*core.Tensor)(sums.Slice(weft.Index(i)))}, []core.Operand{operand(g)}) {
					return
				}
			}
		})
		if core.TracingHere() != nil {
			var sum *weft.Tensor
			for i := range grads {
				if s := sums.Slice(weft.Index(i)); sum == nil {
					sum = s
				} else {
					sum = sum.Add(s)
				}
			}
			// Times one no bit changes.
			scale := weft.ScalarOf(weft.Float64, limit).Div(sum.Sqrt().Add(1e-6))
			rewriteGrads(scaled, grads, func(g *weft.Tensor) core.Operand { return operand(weft.Where(scale.Ge(1), 1.0, scale).To(g.DType())) })
			norm = math.NaN()
			return
		}
		sum := 0.0
		for _, s := range weft.Data[float64](sums) {
			sum += s
		}
		norm = math.Sqrt(sum)
		if scale := limit / (norm + 1e-6); !(scale >= 1) {
			rewriteGrads(scaled, grads, func(*weft.Tensor) core.Operand { return core.Num(scale) })
		}
	})
	return norm
}

// ClipValue limits the elements of the gradients of params, as nn.Params gives them, to
// [-limit, limit]. It panics with *weft.Error if the limit is negative or NaN.
func ClipValue(params iter.Seq2[string, *weft.Tensor], limit float64) {
	notNegative("clip_value", "limit", limit)
	forGrads("clip_value", params, func(grads []*weft.Tensor) {
		rewriteGrads(limited, grads, func(*weft.Tensor) core.Operand { return core.Num(limit) })
	})
}

// forGrads calls f with the gradients of the parameters that have one. Of a sparse gradient f gets
// the rows.
func forGrads(opName string, params iter.Seq2[string, *weft.Tensor], f func(grads []*weft.Tensor)) {
	if params == nil {
		array.Failf(opName, "params", "is nil: nn.Params returns the parameters of a module")
	}
	var list []*param
	seen := map[*weft.Tensor]bool{}
	for name, t := range params {
		if t == nil {
			array.Failf(opName, "params", "%q is nil", name)
		}
		requireReal(opName, name, t)
		if !seen[t] {
			seen[t] = true
			list = append(list, &param{name: name, t: t})
		}
	}
	borrow(list, true, func(all []grad) {
		var grads []*weft.Tensor
		for _, g := range all {
			if g.t != nil {
				grads = append(grads, g.t.Detach())
			}
		}
		if len(grads) > 0 {
			f(grads)
		}
	})
}

// rewriteGrads replaces each gradient g by the formula f of g and x(g).
func rewriteGrads(f *core.Fused, grads []*weft.Tensor, x func(g *weft.Tensor) core.Operand) {
	f.IntoAll(func(yield func([]*core.Tensor, []core.Operand) bool) {
		for _, g := range grads {
			if !yield([]*core.Tensor{(*core.Tensor)(g)}, []core.Operand{operand(g), x(g)}) {
				return
			}
		}
	})
}

var (
	squares = core.NewFused("squares", func(x []*ir.Node) []*ir.Node {
		wide := op.Convert(x[0], array.Float64)
		return []*ir.Node{op.Apply(op.Sum, op.Reduction{}, mul(wide, wide))}
	})
	scaled  = core.NewFused("scaled", func(x []*ir.Node) []*ir.Node { return []*ir.Node{mul(x[0], x[1])} })
	limited = core.NewFused("limited", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Minimum, nil, op.Apply(op.Maximum, nil, x[0], op.Apply(op.Neg, nil, x[1])), x[1])}
	})
)
