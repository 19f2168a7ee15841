package weft

import (
	"math"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/exec"
	"weft/internal/op"
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

// asOperand turns the argument arg, of type any, into an operand of op.
func asOperand(opName, arg string, x any) core.Operand {
	switch x := x.(type) {
	case *Tensor:
		x.c().Argument(opName, arg)
		return core.Operand{T: x.c()}
	case float64:
		return core.Operand{Num: exec.Number{Float: x, Kind: array.CatFloat}}
	case int:
		return core.Whole(int64(x))
	case float32:
		return core.Operand{Num: exec.Number{Float: float64(x), Kind: array.CatFloat}}
	case bool:
		if x {
			return core.Operand{Num: exec.Number{Int: 1, Kind: array.CatBool}}
		}
		return core.Operand{Num: exec.Number{Kind: array.CatBool}}
	case int64:
		return core.Whole(x)
	case int32:
		return core.Whole(int64(x))
	case int16:
		return core.Whole(int64(x))
	case int8:
		return core.Whole(int64(x))
	case uint8:
		return core.Whole(int64(x))
	case uint16:
		return core.Whole(int64(x))
	case uint32:
		return core.Whole(int64(x))
	case uint64:
		return core.Operand{Num: exec.Number{Int: int64(x), Kind: array.CatInt, Big: x > math.MaxInt64}}
	case uint:
		return asOperand(opName, arg, uint64(x))
	case complex128:
		return core.Operand{Num: exec.Number{Float: real(x), Kind: array.CatComplex}, Imag: imag(x)}
	case complex64:
		return asOperand(opName, arg, complex128(x))
	case half.Float16:
		return core.Operand{Num: exec.Number{Float: float64(x.Float32()), Kind: array.CatFloat}}
	case half.BFloat16:
		return core.Operand{Num: exec.Number{Float: float64(x.Float32()), Kind: array.CatFloat}}
	case liveNumber:
		return core.Operand{Num: x.Number}
	}
	if x == nil {
		core.FailNilArgument(opName, arg)
	}
	array.Failf(opName, arg, "takes a *Tensor or a Go number (bool, integer, float or complex), not %T", x)
	return core.Operand{}
}

// unary, binary and ternary are what most methods are.
func unary(d *op.Def, t *Tensor) *Tensor {
	return (*Tensor)(core.Apply(d, nil, core.TensorOperand(d.Name, t.c())))
}

func binary(d *op.Def, t *Tensor, x any) *Tensor {
	return (*Tensor)(core.Apply(d, nil, core.TensorOperand(d.Name, t.c()), asOperand(d.Name, "x", x)))
}
