package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// The engine behind the face: a Tensor is a core.Tensor with the methods that a user sees.

func (t *Tensor) c() *core.Tensor { return (*core.Tensor)(t) }

func (s *Scope) c() *core.Scope { return (*core.Scope)(s) }

func (s *Stream) c() *core.Stream { return (*core.Stream)(s) }

func (g *Generator) c() *core.Generator { return (*core.Generator)(g) }

// v is the strided window on memory that t is.
func (t *Tensor) v() *array.View { return (*core.Tensor)(t).View() }

// made returns a tensor of a view that belongs to no scope and has no history.
func made(v array.View) *Tensor { return (*Tensor)(core.New(v, nil, nil, false)) }

// unary, binary and ternary are what most methods are.
func unary(d *op.Def, t *Tensor) *Tensor {
	return (*Tensor)(core.Apply(d, nil, core.Of(d.Name, t.c())))
}

func binary(d *op.Def, t *Tensor, x any) *Tensor {
	return (*Tensor)(core.Apply(d, nil, core.Of(d.Name, t.c()), core.AsOperand[Tensor](d.Name, "x", x)))
}
