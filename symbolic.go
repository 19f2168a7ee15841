package weft

import (
	"slices"

	"weft/internal/array"
	"weft/internal/eager"
	"weft/internal/exec"
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
		var outs []*Tensor
		recording(true, func() { outs = f(ts) })
		res := make([]ir.Type, len(outs))
		for i, t := range outs {
			res[i] = ir.Type{DType: t.v.DType, Shape: t.v.Shape}
		}
		return res
	}
	eager.Function = functionOf
	eager.Draws = func(d eager.Drawing, n int) (seed, numbers *Tensor) {
		x := d.(drawing)
		each := x.count
		x.count *= n
		var a, b exec.Number
		var first *Tensor
		tr := tracingHere()
		if tr == nil {
			s := x.from.skip(x.count)
			if a, b = word(s.Seed).num, word(s.Draw).num; x.short {
				b.Int &= low32
			}
			seed, first = ScalarOf(Int64, a.Int), ScalarOf(Int64, b.Int)
		} else {
			a, b = tr.draws(x)
			seed, first = &Tensor{v: tr.scalar(a, Int64)}, &Tensor{v: tr.scalar(b, Int64)}
		}
		// Each run goes on where the one before it ended.
		return seed, OnesOf(Int64, n).CumSum(0).Sub(1).Mul(each).Add(first)
	}
	eager.Constant = func(t *Tensor) (*Tensor, bool) {
		if tr := tracingHere(); tr != nil {
			return tr.fixed(t)
		}
		return t, false
	}
	eager.Jacobian = func(y *Tensor, x []*Tensor, create bool) []*Tensor {
		m := y.Size()
		out := make([]*Tensor, len(x))
		if y.node() != nil && m > 0 {
			seeds := Eye(m).To(y.v.DType).on(y.v.Store.Device).Reshape(append([]int{m}, y.v.Shape...)...)
			out = walkRows("jacobian", []*Tensor{y}, x, walkOpts{seeds: []*Tensor{seeds}, create: create, retain: true, allowUnused: true}, m)
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

// functionOf is eager.Function. The tape says which values have gradients, or none, that their
// operations do not.
func functionOf(name string, line *uintptr, types []ir.Type, f func([]*Tensor) []*Tensor) (*op.Function, []eager.Drawing) {
	return tracedFunction(name, line, types, len(types), func(_ *trace, ts []*Tensor) []*Tensor {
		for _, t := range ts {
			if t.v.DType.Differentiable() {
				t.RequireGrad()
			}
		}
		return f(ts)
	})
}

// tracedFunction is what f does with tensors of these types as a function of the graph. What
// it draws it does with two arguments more each, the seed and the number of the draw, which
// stand before argument number first of these.
func tracedFunction(name string, line *uintptr, types []ir.Type, first int, f func(tr *trace, ts []*Tensor) []*Tensor) (*op.Function, []eager.Drawing) {
	outer := tracingHere()
	tr := newTrace(line)
	tr.callee = true
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
	var outs []*Tensor
	recording(true, func() { outs = f(tr, ts) })
	if tr.refused != nil {
		panic(tr.refused)
	}
	nodes := make([]*ir.Node, len(outs))
	for i, t := range outs {
		nodes[i] = tr.value(&t.v)
	}
	switch {
	case len(tr.host) > 0:
		array.Failf(name, "", "the function does what every call does on the host, such as counting steps: do it outside")
	case len(tr.sources) > len(types):
		array.Failf(name, "", "the function uses a tensor that is not a variable%s: make it one with Const or Shared outside", at(tr.sources[len(types)].pc))
	}
	if tr.numbers > 0 && first == len(types) {
		types = slices.Concat(types, slices.Repeat([]ir.Type{{DType: Int64, Shape: []int{}}}, tr.numbers))
	}
	g := ir.New()
	nodes = op.Import(g, nodes, func(n *ir.Node) *ir.Node {
		if n.Op == ir.Input {
			return g.Input(n.Arg(), n.DType, n.Shape)
		}
		return g.Input(first+n.Arg(), n.DType, n.Shape)
	})
	drawn := make([]eager.Drawing, len(tr.drawn))
	for i, d := range tr.drawn {
		drawn[i] = d
	}
	return op.NewFunction(types, nodes), drawn
}
