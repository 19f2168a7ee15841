package core

import (
	"math"
	"reflect"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/exec"
)

// What operations take: tensors and Go numbers, and how the face gives them.

// An Operand is an argument of an operation: a tensor or a Go number.
type Operand struct {
	T    *Tensor
	Num  exec.Number
	Imag float64 // of a complex number
}

// numbers appends the numbers that stand for an operand: a complex one is two.
func (o *Operand) numbers(to []exec.Number) []exec.Number {
	if o.Num.Kind != array.CatComplex {
		return append(to, o.Num)
	}
	return append(to, exec.Number{Float: o.Num.Float, Kind: array.CatFloat}, exec.Number{Float: o.Imag, Kind: array.CatFloat})
}

// Of returns a tensor as an operand of an operation by that name. It refuses nil, which must not be
// taken for a number.
func Of(opName string, t *Tensor) Operand {
	t.NotNil(opName)
	return Operand{T: t}
}

func failNil(opName string) {
	array.Failf(opName, "", "the tensor is nil (a Grad is nil until Backward has reached its leaf)")
}

// FailNilArgument panics: the argument arg of an operation is nil.
func FailNilArgument(opName, arg string) {
	array.Failf(opName, arg, "is nil (a Grad is nil until Backward has reached its leaf)")
}

// Argument refuses a nil tensor and the zero Tensor as the argument arg of op.
func (t *Tensor) Argument(opName, arg string) {
	if t == nil {
		FailNilArgument(opName, arg)
	}
	if t.v.Store == nil {
		array.Failf(opName, arg, "is the zero Tensor: functions such as Zeros and From make one")
	}
}

// Num is a Go float as an operand.
func Num(x float64) Operand { return Operand{Num: exec.Number{Float: x, Kind: array.CatFloat}} }

// Whole is a Go integer as an operand.
func Whole(x int64) Operand { return Operand{Num: exec.Number{Int: x, Kind: array.CatInt}} }

// WeakType is the element type that stands for a Go number in promotion.
func (o *Operand) WeakType() array.DType {
	if o.Num.Big {
		return array.Uint64
	}
	return weakType(o.Num.Kind)
}

func weakType(c array.Category) array.DType {
	return [...]array.DType{array.CatBool: array.Bool, array.CatInt: array.Int64, array.CatFloat: array.Float32, array.CatComplex: array.Complex64}[c]
}

// AsOperand returns the argument arg of an operation, a face's tensor or a Go number, as an
// operand. It refuses nil and values of other types.
func AsOperand[F Face](opName, arg string, x any) Operand {
	switch x := x.(type) {
	case *F:
		t := (*Tensor)(unsafe.Pointer(x))
		t.Argument(opName, arg)
		return Operand{T: t}
	case float64:
		return Operand{Num: exec.Number{Float: x, Kind: array.CatFloat}}
	case int:
		return Whole(int64(x))
	case float32:
		return Operand{Num: exec.Number{Float: float64(x), Kind: array.CatFloat}}
	case bool:
		if x {
			return Operand{Num: exec.Number{Int: 1, Kind: array.CatBool}}
		}
		return Operand{Num: exec.Number{Kind: array.CatBool}}
	case int64:
		return Whole(x)
	case int32:
		return Whole(int64(x))
	case int16:
		return Whole(int64(x))
	case int8:
		return Whole(int64(x))
	case uint8:
		return Whole(int64(x))
	case uint16:
		return Whole(int64(x))
	case uint32:
		return Whole(int64(x))
	case uint64:
		return Operand{Num: exec.Number{Int: int64(x), Kind: array.CatInt, Big: x > math.MaxInt64}}
	case uint:
		return AsOperand[F](opName, arg, uint64(x))
	case complex128:
		return Operand{Num: exec.Number{Float: real(x), Kind: array.CatComplex}, Imag: imag(x)}
	case complex64:
		return AsOperand[F](opName, arg, complex128(x))
	case half.Float16:
		return Operand{Num: exec.Number{Float: float64(x.Float32()), Kind: array.CatFloat}}
	case half.BFloat16:
		return Operand{Num: exec.Number{Float: float64(x.Float32()), Kind: array.CatFloat}}
	case Operand:
		return x
	}
	if x == nil {
		FailNilArgument(opName, arg)
	}
	hint := ""
	if k := reflect.TypeOf(x).Kind(); k == reflect.Slice || k == reflect.Array {
		hint = " (weft.From makes a *Tensor)"
	}
	array.Failf(opName, arg, "takes a *Tensor or a Go number (bool, integer, float or complex), not %T%s", x, hint)
	return Operand{}
}

// A Face is the tensor type that users see, which has the struct of [Tensor]. Package core cannot
// name it: package weft imports core.
type Face interface{ ~fields }

func inner[F Face](t *F) *Tensor { return (*Tensor)(unsafe.Pointer(t)) }

func outer[F Face](t *Tensor) *F { return (*F)(unsafe.Pointer(t)) }

// Inner returns tensors of the face as the engine has them. Both slices have the same memory.
func Inner[F Face](ts []*F) []*Tensor { return *(*[]*Tensor)(unsafe.Pointer(&ts)) }

// Outer returns tensors as the face F has them. Both slices have the same memory.
func Outer[F Face](ts []*Tensor) []*F { return *(*[]*F)(unsafe.Pointer(&ts)) }
