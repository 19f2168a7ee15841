package grid

import (
	"weft/internal/loop"
)

// registerType returns the type of the register that holds a value.
func registerType(t loop.Type) loop.Type {
	if narrow(t) {
		return loop.I32
	}
	return t
}

// narrow reports the integers that are kept in wider registers, extended by their sign.
func narrow(t loop.Type) bool { return t == loop.I8 || t == loop.I16 }

// extend returns the low bits of x that a value of type t has, extended by their sign.
func (e *emitter) extend(t loop.Type, x Reg) Reg {
	if !narrow(t) {
		return x
	}
	n := e.I32(int32(32 - 8*t.Size()))
	return e.Do(loop.OpShr, loop.I32, 0, e.Do(loop.OpShl, loop.I32, 0, x, n), n)
}

// mask returns a value of type t without sign.
func (e *emitter) mask(t loop.Type, x Reg) Reg {
	if !narrow(t) {
		return x
	}
	return e.And(x, e.I32(1<<(8*t.Size())-1))
}

// compute returns the result of a pure instruction for one slot.
func (e *emitter) compute(in *loop.Ins, s int) Reg {
	var x []Reg
	for _, o := range in.Operands() {
		if o != loop.NoValue {
			x = append(x, e.get(o, s))
		}
	}
	switch in.Op {
	case loop.OpConst:
		if narrow(in.Type) {
			unused := 32 - 8*in.Type.Size()
			return e.I32(int32(uint32(in.Imm)<<unused) >> unused)
		}
		return e.Const(in.Type, in.Imm)
	case loop.OpScalar:
		return e.scalar(in)
	case loop.OpCvt:
		return e.convert(in.Type, e.p.Ins[in.A].Type, in.Imm, x[0])
	case loop.OpLookup:
		return e.Do(in.Op, in.Type, in.Imm, x...)
	}
	if narrow(in.Type) {
		return e.narrow(in.Op, in.Type, x...)
	}
	return e.Do(in.Op, in.Type, in.Imm, x...)
}

func (e *emitter) scalar(in *loop.Ins) Reg {
	at := argWord(e.p, e.p.ScalarWord(int(in.Imm)))
	switch {
	case in.Type == loop.B:
		return e.Do(loop.OpNe, loop.B, 0, e.And(e.arg(loop.I32, at), e.I32(255)), e.I32(0))
	case narrow(in.Type):
		return e.extend(in.Type, e.arg(loop.I32, at))
	}
	return e.arg(in.Type, at)
}

// narrow returns the result of an operation on integers of 1 or 2 bytes. Those without sign are
// compared with each other as they are, because extension by the sign keeps that order.
func (e *emitter) narrow(op loop.Op, t loop.Type, x ...Reg) Reg {
	do := func(op loop.Op, x ...Reg) Reg { return e.Do(op, loop.I32, 0, x...) }
	width := int32(8 * t.Size())
	switch op {
	case loop.OpMin, loop.OpMax, loop.OpMinU, loop.OpMaxU, loop.OpRem, loop.OpShr, loop.OpAnd, loop.OpOr, loop.OpXor, loop.OpNot, loop.OpSelect:
		return do(op, x...)
	case loop.OpQuoU, loop.OpRemU:
		return e.extend(t, do(op, e.mask(t, x[0]), e.mask(t, x[1])))
	case loop.OpMulHi:
		return do(loop.OpShr, e.Mul(x[0], x[1]), e.I32(width))
	case loop.OpMulHiU:
		return e.extend(t, do(loop.OpShrU, e.Mul(e.mask(t, x[0]), e.mask(t, x[1])), e.I32(width)))
	case loop.OpShrU:
		return e.extend(t, do(op, e.mask(t, x[0]), x[1]))
	case loop.OpRotL:
		n := e.And(x[1], e.I32(width-1))
		y := e.mask(t, x[0])
		return e.extend(t, e.Or(do(loop.OpShl, y, n), do(loop.OpShrU, y, e.Sub(e.I32(width), n))))
	case loop.OpPopCount:
		return do(op, e.mask(t, x[0]))
	case loop.OpLzCnt:
		return e.Sub(do(op, e.mask(t, x[0])), e.I32(32-width))
	case loop.OpTzCnt:
		return do(op, e.Or(x[0], e.I32(1<<width)))
	}
	return e.extend(t, do(op, x...)) // add, sub, mul, neg, abs, quo, shl
}

// convert returns x, of type from, as a value of type t.
func (e *emitter) convert(t, from loop.Type, kind uint64, x Reg) Reg {
	if narrow(from) {
		if kind&loop.FromUnsigned != 0 {
			x = e.mask(from, x)
		}
		kind &^= loop.FromUnsigned
		from = loop.I32
	}
	if !narrow(t) {
		if t == from {
			return x
		}
		return e.Do(loop.OpCvt, t, kind, x)
	}
	switch {
	case from == loop.B:
		return e.Do(loop.OpCvt, loop.I32, 0, x)
	case from == loop.I32:
		return e.extend(t, x)
	case from == loop.I64:
		return e.extend(t, e.Do(loop.OpCvt, loop.I32, 0, x))
	}
	least, most := int32(-1)<<(8*t.Size()-1), int32(1)<<(8*t.Size()-1)-1
	if kind&loop.ToUnsigned != 0 {
		least, most = 0, 1<<(8*t.Size())-1
	}
	x = e.Do(loop.OpCvt, loop.I32, 0, x)
	x = e.Do(loop.OpMin, loop.I32, 0, e.Do(loop.OpMax, loop.I32, 0, x, e.I32(least)), e.I32(most))
	return e.extend(t, x)
}
