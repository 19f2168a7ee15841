package nn

import (
	"weft/internal/ir"
	"weft/internal/op"
)

// Nodes of the formulas that layers are made of.

type node = ir.Node

func add(x, y *node) *node { return op.Apply(op.Add, nil, x, y) }
func sub(x, y *node) *node { return op.Apply(op.Sub, nil, x, y) }
func mul(x, y *node) *node { return op.Apply(op.Mul, nil, x, y) }
func div(x, y *node) *node { return op.Apply(op.Div, nil, x, y) }

func apply(d *op.Def, x ...*node) *node { return op.Apply(d, nil, x...) }

// oneLike returns the number 1 in the type of x.
func oneLike(x *node) *node { return x.Graph.Number(1, x.DType, false) }

// reduceOver reduces x over axes, which stay with size 1.
func reduceOver(d *op.Def, x *node, axes ...int) *node {
	return op.Apply(d, op.Reduction{Axes: axes, Keep: true}, x)
}

// asList returns a formula of one result as a formula of a list of results.
func asList(f func(x []*node) *node) func(x []*node) []*node {
	return func(x []*node) []*node { return []*node{f(x)} }
}
