package weft

import (
	"slices"

	"weft/internal/array"
	"weft/internal/eager"
	"weft/internal/ir"
	"weft/internal/op"
)

// What package sym replays expressions by.
func init() {
	eager.Infer = func(types []ir.Type, f func([]*Tensor) []*Tensor) []ir.Type {
		outer := tracingHere()
		tr := newTrace(nil)
		defer func() {
			tr.end()
			if outer != nil {
				running.Store(tr.thread, outer)
			}
		}()
		ts := make([]*Tensor, len(types))
		for i, t := range types {
			array.CheckShape("sym", t.Shape, t.DType)
			ts[i] = &Tensor{v: tr.fresh(t.DType, t.Shape)}
		}
		outs := f(ts)
		res := make([]ir.Type, len(outs))
		for i, t := range outs {
			res[i] = ir.Type{DType: t.v.DType, Shape: t.v.Shape}
		}
		return res
	}
	eager.Function = functionOf
	eager.Jacobian = func(y *Tensor, x []*Tensor, create bool) []*Tensor {
		m := y.Size()
		out := make([]*Tensor, len(x))
		if y.node() != nil && m > 0 {
			seeds := Eye(m).To(y.v.DType).on(y.v.Store.Device).Reshape(append([]int{m}, y.v.Shape...)...)
			out = walkRows("jacobian", []*Tensor{y}, x, GradOpts{Seeds: []*Tensor{seeds}, Create: create, Retain: true, AllowUnused: true}, m)
		}
		for i, g := range out {
			shape := append(slices.Clone(y.v.Shape), x[i].v.Shape...)
			if g == nil {
				array.CheckShape("jacobian", shape, x[i].v.DType)
				out[i] = ZerosOf(x[i].v.DType, shape...)
			} else {
				out[i] = g.Reshape(shape...)
			}
		}
		return out
	}
}

// functionOf is eager.Function.
func functionOf(name string, line *uintptr, types []ir.Type, f func([]*Tensor) []*Tensor) *op.Function {
	own := false
	fn := tracedFunction(name, line, types, func(tr *trace, ts []*Tensor) []*Tensor {
		for _, t := range ts {
			if t.v.DType.Differentiable() {
				t.RequireGrad()
			}
		}
		outs := f(ts)
		own = tr.cuts > 0 || ownGradients(outs)
		return outs
	})
	if !own {
		return fn
	}
	// The tape knows gradients that operations do not.
	args := slices.Clone(types)
	for _, t := range fn.Results {
		if t.DType.Differentiable() {
			args = append(args, t)
		}
	}
	return fn.WithGradient(tracedFunction(name, line, args, func(_ *trace, ts []*Tensor) []*Tensor {
		var in, ends, seeds []*Tensor
		for _, t := range ts[:len(types)] {
			if t.v.DType.Differentiable() {
				in = append(in, t.RequireGrad())
			}
		}
		outs := f(ts[:len(types)])
		k := len(types)
		for _, y := range outs {
			if !y.v.DType.Differentiable() {
				continue
			}
			if y.node() != nil {
				ends, seeds = append(ends, y), append(seeds, ts[k])
			}
			k++
		}
		grads := make([]*Tensor, len(in))
		if len(ends) > 0 {
			grads = GradAll(ends, in, GradOpts{Seeds: seeds, AllowUnused: true})
		}
		for i, d := range grads {
			if d == nil {
				grads[i] = ZerosLike(in[i])
			}
		}
		return append(slices.Clone(outs), grads...)
	}))
}

// ownGradients reports that a gradient on the tape behind outs is a Go function.
func ownGradients(outs []*Tensor) bool {
	seen := map[*gradNode]bool{}
	var walk func(n *gradNode) bool
	walk = func(n *gradNode) bool {
		if n == nil || seen[n] {
			return false
		}
		seen[n] = true
		return n.back != nil || slices.ContainsFunc(n.in, walk)
	}
	return slices.ContainsFunc(outs, func(t *Tensor) bool { return walk(t.node()) })
}

// tracedFunction is what f does with tensors of these types as a function of the graph.
func tracedFunction(name string, line *uintptr, types []ir.Type, f func(tr *trace, ts []*Tensor) []*Tensor) *op.Function {
	outer := tracingHere()
	tr := newTrace(line)
	defer func() {
		tr.end()
		if outer != nil {
			running.Store(tr.thread, outer)
		}
	}()
	ts := make([]*Tensor, len(types))
	for i, t := range types {
		array.CheckShape(name, t.Shape, t.DType)
		v := array.View{Store: tr.storage(array.Size(t.Shape) * t.DType.Size()), DType: t.DType, Shape: t.Shape, Strides: array.RowMajor(t.Shape)}
		tr.input(source{kind: fromArgument, index: i, at: v})
		ts[i] = &Tensor{v: v}
	}
	outs := f(tr, ts)
	if tr.refused != nil {
		panic(tr.refused)
	}
	nodes := make([]*ir.Node, len(outs))
	for i, t := range outs {
		nodes[i] = tr.value(&t.v)
	}
	switch {
	case tr.numbers > 0 || len(tr.host) > 0:
		array.Failf(name, "", "the function draws random numbers, or does what every call does on the host: make what it needs outside, a sequence of draws with an element for each step")
	case len(tr.sources) > len(types):
		array.Failf(name, "", "the function uses a tensor that is no variable%s: make it one with Const or Shared outside", at(tr.sources[len(types)].pc))
	}
	return op.NewFunction(types, nodes)
}
