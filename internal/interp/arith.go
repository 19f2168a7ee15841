package interp

import (
	"weft/half"
	"weft/internal/array"
	"weft/internal/loop"
)

// The functions here do one operation for all lanes of d. An operand has as many
// values as d, or one that stands for all of them; but not both operands of a
// binary operation, whose result would then be one value as well.

type number interface{ integer | float }

type integer interface{ signed | unsigned }

type signed interface{ int8 | int16 | int32 | int64 }

// unsigned types stand for values of the integer types where an operation takes them
// to be without sign, and uint8 for truth values.
type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

type float interface{ float32 | float64 }

// unary and binary make steps of functions over lanes.
func unary[T, D any](f func(d []D, a []T)) step {
	return func(m *machine, in *instr) { f(vec[D](m, in.d), vec[T](m, in.a)) }
}

func binary[T, D any](f func(d []D, a, b []T)) step {
	return func(m *machine, in *instr) { f(vec[D](m, in.d), vec[T](m, in.a), vec[T](m, in.b)) }
}

// pureStep returns the step of an operation without effect. t is the type of the
// result and from that of the first operand.
func pureStep(in *loop.Ins, from loop.Type) step {
	op, t := in.Op, in.Type
	switch op {
	case loop.OpSelect:
		return sized(t, selectStep[uint8], selectStep[uint16], selectStep[uint32], selectStep[uint64])
	case loop.OpBits:
		return sized(t, nil, nil, unary(copyVec[uint32]), unary(copyVec[uint64]))
	case loop.OpCvt:
		return cvtStep(t, from, in.Imm)
	case loop.OpRound:
		if array.DType(in.Imm) == array.Float16 {
			return round(half.NewFloat16[float32])
		}
		return round(half.NewBFloat16[float32])
	case loop.OpLtU, loop.OpLeU:
		signed := op - loop.OpLtU + loop.OpLt
		return sized(from, compareStep[uint8](signed), compareStep[uint16](signed), compareStep[uint32](signed), compareStep[uint64](signed))
	case loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe:
		switch from {
		case loop.B:
			if op == loop.OpEq {
				return binary(eqvB)
			}
			return binary(xorB)
		case loop.F32:
			return compareStep[float32](op)
		case loop.F64:
			return compareStep[float64](op)
		}
		return sized(from, compareStep[int8](op), compareStep[int16](op), compareStep[int32](op), compareStep[int64](op))
	}
	switch t {
	case loop.B:
		switch op {
		case loop.OpAnd:
			return binary(and[uint8])
		case loop.OpOr:
			return binary(or[uint8])
		case loop.OpXor:
			return binary(xorB)
		}
		return unary(notB)
	case loop.I8:
		return intStep[int8, uint8](op)
	case loop.I16:
		return intStep[int16, uint16](op)
	case loop.I32:
		return intStep[int32, uint32](op)
	case loop.I64:
		return intStep[int64, uint64](op)
	case loop.F32:
		switch op {
		case loop.OpNeg:
			return unary(negF32)
		case loop.OpAbs:
			return unary(absF32)
		case loop.OpMin:
			return binary(minF32)
		case loop.OpMax:
			return binary(maxF32)
		case loop.OpDiv:
			return binary(div[float32])
		case loop.OpFma:
			return fma32Step
		case loop.OpLogB:
			return unary(logB32)
		case loop.OpScaleB:
			return binary(scaleB32)
		}
		if s := roundStep[float32](op); s != nil {
			return s
		}
		return numberStep[float32](op)
	}
	switch op {
	case loop.OpNeg:
		return unary(negF64)
	case loop.OpAbs:
		return unary(absF64)
	case loop.OpMin:
		return binary(minF64)
	case loop.OpMax:
		return binary(maxF64)
	case loop.OpDiv:
		return binary(div[float64])
	case loop.OpFma:
		return fma64Step
	case loop.OpLogB:
		return unary(logB64)
	case loop.OpScaleB:
		return binary(scaleB64)
	}
	if s := roundStep[float64](op); s != nil {
		return s
	}
	return numberStep[float64](op)
}

// lookupStep returns the step that reads a table, which goes by bits.
func lookupStep(t loop.Table) step {
	if t.Type == loop.F32 {
		return unary(lookup[uint32](t))
	}
	return unary(lookup[uint64](t))
}

func lookup[T uint32 | uint64](t loop.Table) func(d, i []T) {
	entries := make([]T, len(t.Bits))
	for j, x := range t.Bits {
		entries[j] = T(x)
	}
	return func(d, i []T) {
		i = i[:len(d)]
		last := T(len(entries) - 1) // a power of two less one
		for j := range d {
			d[j] = entries[i[j]&last]
		}
	}
}

func numberStep[T number](op loop.Op) step {
	switch op {
	case loop.OpAdd:
		return binary(add[T])
	case loop.OpSub:
		return binary(sub[T])
	case loop.OpMul:
		return binary(mul[T])
	}
	panic("interp: no step for " + op.String())
}

func add[T number](d, a, b []T) {
	if len(a) == 1 {
		a, b = b, a
	}
	a = a[:len(d)]
	if len(b) == 1 {
		y := b[0]
		for i := range d {
			d[i] = a[i] + y
		}
		return
	}
	b = b[:len(d)]
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func sub[T number](d, a, b []T) {
	switch {
	case len(b) == 1:
		a, y := a[:len(d)], b[0]
		for i := range d {
			d[i] = a[i] - y
		}
	case len(a) == 1:
		x, b := a[0], b[:len(d)]
		for i := range d {
			d[i] = x - b[i]
		}
	default:
		a, b := a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = a[i] - b[i]
		}
	}
}

func mul[T number](d, a, b []T) {
	if len(a) == 1 {
		a, b = b, a
	}
	a = a[:len(d)]
	if len(b) == 1 {
		y := b[0]
		for i := range d {
			d[i] = a[i] * y
		}
		return
	}
	b = b[:len(d)]
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func div[T float](d, a, b []T) {
	switch {
	case len(b) == 1:
		a, y := a[:len(d)], b[0]
		for i := range d {
			d[i] = a[i] / y
		}
	case len(a) == 1:
		x, b := a[0], b[:len(d)]
		for i := range d {
			d[i] = x / b[i]
		}
	default:
		a, b := a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = a[i] / b[i]
		}
	}
}
