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

// one is the number 1 in the type of x.
func one(x *node) *node { return x.Graph.Number(1, x.DType, false) }

// over reduces x over axes, which stay with size 1.
func over(d *op.Def, x *node, axes ...int) *node {
	return op.Apply(d, op.Reduction{Axes: axes, Keep: true}, x)
}

// single turns a formula of one result into one of a list.
func single(f func(x []*node) *node) func(x []*node) []*node {
	return func(x []*node) []*node { return []*node{f(x)} }
}
