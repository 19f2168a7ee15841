// Package grown makes large graphs of many operations, for tests and measurements of the cost of
// planning and rewriting. It is a package of its own so that tests of package plan need not compile
// the conformance suite.
package grown

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// A Graph is a graph of many operations: a value of 32 by 32 numbers with the
// gradients of all inputs.
type Graph struct {
	Outs  []*ir.Node
	Ins   []plan.Sig
	Nodes int // operations that the outputs need
}

// Kinds are the kinds of large graphs.
var Kinds = []string{"chain", "residual", "tower", "fan-out"}

// Grow returns a graph of a kind with at least n operations, and few more:
//   - chain: elementwise operations, each of the one before and of the first value;
//   - residual: blocks of layer norm and two linear layers beside the value;
//   - tower: linear layers and relu;
//   - fan-out: a sum over functions of the first value.
func Grow(kind string, least int) *Graph {
	for steps := least / 20; ; steps += max(steps/8, 1) {
		if g := grow(kind, steps); g.Nodes >= least {
			return g
		}
	}
}

func grow(kind string, steps int) *Graph {
	const n = 32
	g, out := ir.New(), &Graph{}
	apply := func(d *op.Def, x ...*ir.Node) *ir.Node { return op.Apply(d, nil, x...) }
	input := func(shape ...int) *ir.Node {
		out.Ins = append(out.Ins, plan.Sig{DType: array.Float32, Shape: shape, Strides: array.RowMajor(shape)})
		return g.Input(len(out.Ins)-1, array.Float32, shape)
	}
	number := func(x float64) *ir.Node { return g.Number(x, array.Float32, false) }
	linear := func(x *ir.Node) *ir.Node { return apply(op.Linear, x, input(n, n), input(n)) }
	norm := func(x *ir.Node) *ir.Node {
		mean := op.Reduction{Axes: []int{1}, Keep: true}
		d := apply(op.Sub, x, op.Apply(op.Mean, mean, x))
		v := op.Apply(op.Mean, mean, apply(op.Square, d))
		return apply(op.Add, apply(op.Mul, apply(op.Mul, d, apply(op.Rsqrt, apply(op.Add, v, number(1e-5)))), input(n)), input(n))
	}
	first := apply(op.Exp, input(n, n))
	x := first
	for i := range steps {
		switch kind {
		case "chain":
			x = apply(op.Tanh, apply(op.Add, apply(op.Mul, x, x), first))
		case "residual":
			x = apply(op.Add, x, linear(apply(op.Relu, linear(norm(x)))))
		case "tower":
			x = apply(op.Relu, linear(x))
		case "fan-out":
			x = apply(op.Add, x, apply(op.Tanh, apply(op.Mul, first, number(1+1/float64(1+i)))))
		default:
			panic("grown: no graph of kind " + kind)
		}
	}
	wrt := make([]*ir.Node, len(out.Ins))
	for i, s := range out.Ins {
		wrt[i] = g.Input(i, s.DType, s.Shape)
	}
	out.Outs = append(op.Gradient([]*ir.Node{x}, []*ir.Node{input(n, n)}, wrt), x)
	for id, need := range ir.Reach(out.Outs) {
		if need && op.Of(g.Nodes[id]) != nil {
			out.Nodes++
		}
	}
	return out
}
