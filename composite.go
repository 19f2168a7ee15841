package weft

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// A Composite is a formula with one or more results that are computed together by one
// plan and recorded for gradients, such as a normalisation with its mean and variance.
// It is for packages of this module; users have [Expr] and [Func].
type Composite struct{ def *op.Def }

// NewComposite returns the formula that compose builds from nodes of its arguments.
// gradient, which may be nil, sets the gradients of the arguments; without it the parts
// are differentiated and what they need is computed again.
func NewComposite(name string, compose func(args []*ir.Node) []*ir.Node, gradient func(v *op.VJP)) *Composite {
	h := uint64(0xc0135)
	for _, c := range []byte(name) {
		h = mix(h, uint64(c))
	}
	d := &op.Def{Name: name, Hash: h, Class: op.Composite, Arity: -1, VJP: gradient}
	if compose != nil {
		d.ComposeAll = func(args []*ir.Node, _ ir.Attrs) []*ir.Node { return compose(args) }
	}
	return &Composite{d}
}

// Apply computes the formula of args, tensors or Go numbers. Numbers are given at run
// time: another value needs no other plan.
func (c *Composite) Apply(args ...any) []*Tensor {
	if c == nil || c.def == nil || c.def.ComposeAll == nil {
		array.Failf("composite", "", "the Composite is nil or composes nothing")
	}
	if len(args) == 0 {
		array.Failf(c.def.Name, "", "has no arguments")
	}
	ops := make([]operand, len(args))
	for i, x := range args {
		ops[i] = asOperand(c.def.Name, x)
	}
	return applyAll(c.def, nil, ops...)
}
