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

// ClipNormOpts are the options of [ClipNorm].
type ClipNormOpts struct {
	// Power is p of the norm (sum of |x|^p)^(1/p), more than 0; math.Inf(1) is the greatest magnitude.
	// nil means 2.
	Power *float64
	// MustBeFinite panics with *weft.Error, and leaves the gradients as they are, if the norm is NaN or
	// infinite. A compiled function refuses it.
	MustBeFinite bool
}

// ClipNorm divides the gradients of params, as nn.Params gives them, so that the norm of all
// of them together is at most a limit, and returns what it was: PyTorch's clip_grad_norm_, between
// Backward and Step. Without options the norm is the root of the sum of their elements' squares. The
// gradients are read once, and written only where the norm is greater: an infinite limit measures alone.
// If the norm is NaN or infinite, gradients become NaN and 0, as there. In a compiled function the norm
// is not known as a Go number, and is NaN. It panics with *weft.Error if the limit is negative or NaN,
// or an option is out of range.
func ClipNorm(params iter.Seq2[string, *weft.Tensor], limit float64, opts ...ClipNormOpts) (norm float64) {
	const name = "clip_norm"
	notNegative(name, "limit", limit)
	o := array.Options(name, opts)
	n := normOf(array.Or(o.Power, 2))
	if o.MustBeFinite {
		core.RefuseHost(name, "decides by whether the norm is finite, which")
	}
	forGrads(name, params, func(grads []*weft.Tensor) {
		parts := grads[0].Device().ZerosOf(weft.Float64, len(grads))
		n.each.IntoAll(func(yield func([]*core.Tensor, []core.Operand) bool) {
			for i, g := range grads {
				if g.Size() == 0 {
					continue
				}
				if !yield([]*core.Tensor{(*core.Tensor)(parts.Slice(weft.Index(i)))}, numbers([]core.Operand{operand(g)}, n.args...)) {
					return
				}
			}
		})
		if core.TracingHere() != nil {
			// Times one no bit changes.
			scale := weft.ScalarOf(weft.Float64, limit).Div(n.traced(parts, len(grads)).Add(1e-6))
			rewriteGrads(scaled, grads, func(g *weft.Tensor) core.Operand { return operand(weft.Where(scale.Ge(1), 1.0, scale).To(g.DType())) })
			norm = math.NaN()
			return
		}
		norm = n.whole(weft.Data[float64](parts))
		if o.MustBeFinite && (math.IsNaN(norm) || math.IsInf(norm, 0)) {
			array.Failf(name, "params", "have gradients whose norm is %v", norm)
		}
		if scale := limit / (norm + 1e-6); !(scale >= 1) {
			rewriteGrads(scaled, grads, func(*weft.Tensor) core.Operand { return core.Num(scale) })
		}
	})
	return norm
}

// A gradNorm computes a norm from a number of each gradient.
type gradNorm struct {
	each  *core.Fused // of a gradient and args
	args  []float64
	power float64
}

func normOf(power float64) gradNorm {
	switch {
	case !(power > 0):
		array.Failf("clip_norm", "Power", "is %v, want more than 0", power)
	case power == 2:
		return gradNorm{squares, nil, power}
	case math.IsInf(power, 1):
		return gradNorm{greatest, nil, power}
	}
	return gradNorm{powers, []float64{power}, power}
}

// whole is the norm of all.
func (n gradNorm) whole(parts []float64) float64 {
	sum := 0.0
	for _, x := range parts {
		if n.each == greatest {
			sum = max(sum, x)
		} else {
			sum += x
		}
	}
	switch n.each {
	case greatest:
		return sum
	case squares:
		return math.Sqrt(sum)
	}
	return weft.ScalarOf(weft.Float64, sum).Pow(1 / n.power).Item() // the same bits everywhere
}

// traced is [gradNorm.whole] in a compiled function.
func (n gradNorm) traced(parts *weft.Tensor, count int) *weft.Tensor {
	sum := parts.Slice(weft.Index(0))
	for i := 1; i < count; i++ {
		if x := parts.Slice(weft.Index(i)); n.each == greatest {
			sum = sum.Maximum(x)
		} else {
			sum = sum.Add(x)
		}
	}
	switch n.each {
	case greatest:
		return sum
	case squares:
		return sum.Sqrt()
	}
	return sum.Pow(1 / n.power)
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
	powers = core.NewFused("powers", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Sum, op.Reduction{}, op.Apply(op.Pow, nil, magnitude(op.Convert(x[0], array.Float64)), op.Convert(x[1], array.Float64)))}
	})
	greatest = core.NewFused("greatest", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Convert(op.Apply(op.Max, op.Reduction{}, magnitude(x[0])), array.Float64)}
	})
	scaled  = core.NewFused("scaled", func(x []*ir.Node) []*ir.Node { return []*ir.Node{mul(x[0], x[1])} })
	limited = core.NewFused("limited", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Minimum, nil, op.Apply(op.Maximum, nil, x[0], op.Apply(op.Neg, nil, x[1])), x[1])}
	})
)
