package weft

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/core"
)

// The engine behind the face: a Tensor is a core.Tensor with the methods that a user sees.

func (t *Tensor) c() *core.Tensor { return (*core.Tensor)(t) }

func (s *Scope) c() *core.Scope { return (*core.Scope)(s) }

func (g *Generator) c() *core.Generator { return (*core.Generator)(g) }

// inner is ts as the engine has them: the same memory.
func inner(ts []*Tensor) []*core.Tensor { return *(*[]*core.Tensor)(unsafe.Pointer(&ts)) }

// outer is ts as the face has them: the same memory.
func outer(ts []*core.Tensor) []*Tensor { return *(*[]*Tensor)(unsafe.Pointer(&ts)) }

// v is the strided window on memory that t is.
func (t *Tensor) v() *array.View { return (*core.Tensor)(t).View() }

// made returns a tensor of a view that belongs to no scope and has no history.
func made(v array.View) *Tensor { return (*Tensor)(core.New(v, nil, nil, false)) }
