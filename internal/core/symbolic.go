package core

import (
	"slices"

	"weft/internal/array"
	"weft/internal/eager"
	"weft/internal/ir"
	"weft/internal/op"
)

// FunctionOf is eager.Function. The tape says which values have gradients, or none, that their
// operations do not.
func FunctionOf(name string, line *uintptr, types []ir.Type, f func([]*Tensor) []*Tensor) (*op.Function, []eager.Drawing) {
	return tracedFunction(name, line, types, len(types), func(_ *Trace, ts []*Tensor) []*Tensor {
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
func tracedFunction(name string, line *uintptr, types []ir.Type, first int, f func(tr *Trace, ts []*Tensor) []*Tensor) (*op.Function, []eager.Drawing) {
	outer := TracingHere()
	tr := NewTrace(line)
	tr.Callee = true
	defer func() {
		tr.End()
		if outer != nil {
			Running.Store(tr.Thread, outer)
		}
	}()
	ts := make([]*Tensor, len(types))
	for i, t := range types {
		array.CheckShape(name, t.Shape, t.DType)
		v := array.View{Store: tr.Storage(array.Size(t.Shape) * t.DType.Size()), DType: t.DType, Shape: t.Shape, Strides: array.RowMajor(t.Shape)}
		tr.Input(Source{Kind: FromArgument, Index: i, At: v})
		ts[i] = &Tensor{v: v}
	}
	var outs []*Tensor
	Recording(true, func() { outs = f(tr, ts) })
	if tr.Refused != nil {
		panic(tr.Refused)
	}
	nodes := make([]*ir.Node, len(outs))
	for i, t := range outs {
		nodes[i] = tr.Value(&t.v)
	}
	switch {
	case len(tr.Host) > 0:
		array.Failf(name, "", "the function does what every call does on the host, such as counting steps: do it outside")
	case len(tr.Sources) > len(types):
		array.Failf(name, "", "the function uses a tensor that is not a variable%s: make it one with Const or Shared outside", At(tr.Sources[len(types)].Pc))
	}
	if tr.Numbers > 0 && first == len(types) {
		types = slices.Concat(types, slices.Repeat([]ir.Type{{DType: array.Int64, Shape: []int{}}}, tr.Numbers))
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
