package kerneltest

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math"
)

// A value is a bool or a number of a predeclared Go type, also where its type is a named
// one over it, or []any, the fields of a struct or the elements of an array. Arrays that
// a kernel is given are values of the types of package weft/kernel.

type integer interface {
	int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64
}

type float interface{ float32 | float64 }

type complexes interface{ complex64 | complex128 }

// clone copies what assignment copies.
func clone(v any) any {
	if s, ok := v.([]any); ok {
		c := make([]any, len(s))
		for i, x := range s {
			c[i] = clone(x)
		}
		return c
	}
	return v
}

// equal is ==.
func equal(x, y any) bool {
	if s, ok := x.([]any); ok {
		for i, e := range s {
			if !equal(e, y.([]any)[i]) {
				return false
			}
		}
		return true
	}
	return x == y
}

// binary is x op y of operands of one type; not shifts.
func binary(op token.Token, x, y any) any {
	switch op {
	case token.EQL:
		return equal(x, y)
	case token.NEQ:
		return !equal(x, y)
	}
	switch a := x.(type) {
	case int:
		return integers(op, a, y.(int))
	case int8:
		return integers(op, a, y.(int8))
	case int16:
		return integers(op, a, y.(int16))
	case int32:
		return integers(op, a, y.(int32))
	case int64:
		return integers(op, a, y.(int64))
	case uint:
		return integers(op, a, y.(uint))
	case uint8:
		return integers(op, a, y.(uint8))
	case uint16:
		return integers(op, a, y.(uint16))
	case uint32:
		return integers(op, a, y.(uint32))
	case uint64:
		return integers(op, a, y.(uint64))
	case float32:
		return floats(op, a, y.(float32))
	case float64:
		return floats(op, a, y.(float64))
	case complex64:
		return complexNumbers(op, a, y.(complex64))
	case complex128:
		return complexNumbers(op, a, y.(complex128))
	}
	panic(fmt.Sprintf("%v of %T", op, x))
}

func integers[T integer](op token.Token, a, b T) any {
	switch op {
	case token.ADD:
		return a + b
	case token.SUB:
		return a - b
	case token.MUL:
		return a * b
	case token.QUO:
		if b == 0 {
			return T(0)
		}
		return a / b
	case token.REM:
		if b == 0 {
			return T(0)
		}
		return a % b
	case token.AND:
		return a & b
	case token.OR:
		return a | b
	case token.XOR:
		return a ^ b
	case token.AND_NOT:
		return a &^ b
	case token.LSS:
		return a < b
	case token.LEQ:
		return a <= b
	case token.GTR:
		return a > b
	case token.GEQ:
		return a >= b
	}
	panic(op.String())
}

func floats[T float](op token.Token, a, b T) any {
	switch op {
	case token.ADD:
		return a + b
	case token.SUB:
		return a - b
	case token.MUL:
		return a * b
	case token.QUO:
		return a / b
	case token.LSS:
		return a < b
	case token.LEQ:
		return a <= b
	case token.GTR:
		return a > b
	case token.GEQ:
		return a >= b
	}
	panic(op.String())
}

func complexNumbers[T complexes](op token.Token, a, b T) any {
	switch op {
	case token.ADD:
		return a + b
	case token.SUB:
		return a - b
	case token.MUL:
		return a * b
	case token.QUO:
		return a / b
	}
	panic(op.String())
}

// shift is x op n, where a negative count shifts everything out.
func shift(op token.Token, x, n any) any {
	count, ok := toUint(n)
	if !ok {
		count = math.MaxUint64
	}
	switch a := x.(type) {
	case int:
		return shifted(op, a, count)
	case int8:
		return shifted(op, a, count)
	case int16:
		return shifted(op, a, count)
	case int32:
		return shifted(op, a, count)
	case int64:
		return shifted(op, a, count)
	case uint:
		return shifted(op, a, count)
	case uint8:
		return shifted(op, a, count)
	case uint16:
		return shifted(op, a, count)
	case uint32:
		return shifted(op, a, count)
	case uint64:
		return shifted(op, a, count)
	}
	panic(fmt.Sprintf("shift of %T", x))
}

func shifted[T integer](op token.Token, a T, count uint64) any {
	if op == token.SHL {
		return a << count
	}
	return a >> count
}

// toUint returns a count, and false if it is negative.
func toUint(v any) (uint64, bool) {
	switch n := v.(type) {
	case uint64:
		return n, true
	case uint:
		return uint64(n), true
	case uint32:
		return uint64(n), true
	case uint16:
		return uint64(n), true
	case uint8:
		return uint64(n), true
	}
	n := toInt(v)
	return uint64(n), n >= 0
}

// toInt returns an integer of any type by its 64 bits.
func toInt(v any) int64 {
	switch n := v.(type) {
	case int:
		return int64(n)
	case int8:
		return int64(n)
	case int16:
		return int64(n)
	case int32:
		return int64(n)
	case int64:
		return n
	case uint:
		return int64(n)
	case uint8:
		return int64(n)
	case uint16:
		return int64(n)
	case uint32:
		return int64(n)
	case uint64:
		return int64(n)
	}
	panic(fmt.Sprintf("%T is not an integer", v))
}

// unary is op x.
func unary(op token.Token, x any) any {
	switch op {
	case token.NOT:
		return !x.(bool)
	case token.ADD:
		return x
	}
	switch a := x.(type) {
	case int:
		return negated(op, a)
	case int8:
		return negated(op, a)
	case int16:
		return negated(op, a)
	case int32:
		return negated(op, a)
	case int64:
		return negated(op, a)
	case uint:
		return negated(op, a)
	case uint8:
		return negated(op, a)
	case uint16:
		return negated(op, a)
	case uint32:
		return negated(op, a)
	case uint64:
		return negated(op, a)
	case float32:
		return -a
	case float64:
		return -a
	case complex64:
		return -a
	case complex128:
		return -a
	}
	panic(fmt.Sprintf("%v of %T", op, x))
}

func negated[T integer](op token.Token, a T) any {
	if op == token.XOR {
		return ^a
	}
	return -a
}

// convert converts a number to a type with that kind.
func convert(kind types.BasicKind, x any) any {
	switch a := x.(type) {
	case bool:
		return a
	case complex64:
		if kind == types.Complex128 {
			return complex128(a)
		}
		return a
	case complex128:
		if kind == types.Complex64 {
			return complex64(a)
		}
		return a
	case float32:
		return fromFloat(kind, float64(a))
	case float64:
		return fromFloat(kind, a)
	case uint64:
		return fromInt(kind, a)
	case uint:
		return fromInt(kind, a)
	}
	return fromInt(kind, toInt(x))
}

func fromInt[T int64 | uint64 | uint](kind types.BasicKind, a T) any {
	switch kind {
	case types.Int:
		return int(a)
	case types.Int8:
		return int8(a)
	case types.Int16:
		return int16(a)
	case types.Int32:
		return int32(a)
	case types.Int64:
		return int64(a)
	case types.Uint:
		return uint(a)
	case types.Uint8:
		return uint8(a)
	case types.Uint16:
		return uint16(a)
	case types.Uint32:
		return uint32(a)
	case types.Uint64:
		return uint64(a)
	case types.Float32:
		return float32(a)
	case types.Float64:
		return float64(a)
	}
	panic(fmt.Sprint("no number: ", kind))
}

// fromFloat converts toward zero; what an integer type does not hold becomes its least or
// greatest value, and NaN 0.
func fromFloat(kind types.BasicKind, a float64) any {
	var low, high float64 // the least value, and the first beyond the greatest
	switch kind {
	case types.Float32:
		return float32(a)
	case types.Float64:
		return a
	case types.Int8, types.Int16, types.Int32, types.Int, types.Int64:
		bits := map[types.BasicKind]int{types.Int8: 7, types.Int16: 15, types.Int32: 31, types.Int: 63, types.Int64: 63}[kind]
		low, high = math.Ldexp(-1, bits), math.Ldexp(1, bits)
	default:
		bits := map[types.BasicKind]int{types.Uint8: 8, types.Uint16: 16, types.Uint32: 32, types.Uint: 64, types.Uint64: 64}[kind]
		low, high = 0, math.Ldexp(1, bits)
	}
	a = math.Trunc(a)
	switch {
	case a != a:
		return fromInt(kind, int64(0))
	case a < low && low == 0:
		return fromInt(kind, int64(0))
	case a < low:
		return fromInt(kind, int64(low))
	case a >= high && low == 0:
		return fromInt(kind, uint64(math.MaxUint64)) // all bits set
	case a >= high:
		return fromInt(kind, uint64(high)-1)
	case low == 0:
		return fromInt(kind, uint64(a))
	}
	return fromInt(kind, int64(a))
}

// constantOf is a constant as a value of a type with that kind.
func constantOf(kind types.BasicKind, c constant.Value) any {
	switch kind {
	case types.Bool, types.UntypedBool:
		return constant.BoolVal(c)
	case types.Float32:
		f, _ := constant.Float32Val(constant.ToFloat(c))
		return f
	case types.Float64, types.UntypedFloat:
		f, _ := constant.Float64Val(constant.ToFloat(c))
		return f
	case types.Complex64:
		re, _ := constant.Float32Val(constant.Real(constant.ToComplex(c)))
		im, _ := constant.Float32Val(constant.Imag(constant.ToComplex(c)))
		return complex(re, im)
	case types.Complex128, types.UntypedComplex:
		re, _ := constant.Float64Val(constant.Real(constant.ToComplex(c)))
		im, _ := constant.Float64Val(constant.Imag(constant.ToComplex(c)))
		return complex(re, im)
	case types.UntypedInt, types.UntypedRune:
		kind = types.Int
	}
	c = constant.ToInt(c)
	if u, ok := constant.Uint64Val(c); ok {
		return fromInt(kind, u)
	}
	i, _ := constant.Int64Val(c)
	return fromInt(kind, i)
}
