package gokernel

import (
	"math"

	"weft/internal/loop"
)

// Scalar operations on loop values. What has constants as operands is computed here: so
// loops with constant bounds unroll, and offsets of neighbours are known.

func bits32(f float32) uint64 { return uint64(math.Float32bits(f)) }
func bits64(f float64) uint64 { return math.Float64bits(f) }

// known returns the bits of a constant.
func (l *lowerer) known(v loop.Value) (uint64, bool) {
	if v < 0 {
		return 0, false
	}
	in := &l.b.Program().Ins[v]
	return in.Imm, in.Op == loop.OpConst
}

// knownInt is the value of an integer constant with a sign.
func (l *lowerer) knownInt(v loop.Value) (int64, bool) {
	x, ok := l.known(v)
	if !ok || !l.b.Type(v).Int() {
		return 0, false
	}
	return extend(x, l.b.Type(v)), true
}

func (l *lowerer) knownBool(v loop.Value) (val, ok bool) {
	x, ok := l.known(v)
	return x != 0, ok
}

// knownFloat is the value of a float constant.
func (l *lowerer) knownFloat(v loop.Value) (float64, bool) {
	x, ok := l.known(v)
	switch {
	case !ok:
		return 0, false
	case l.b.Type(v) == loop.F32:
		return float64(math.Float32frombits(uint32(x))), true
	case l.b.Type(v) == loop.F64:
		return math.Float64frombits(x), true
	}
	return 0, false
}

func extend(x uint64, t loop.Type) int64 {
	rest := 64 - 8*t.Size()
	return int64(x<<rest) >> rest
}

func (l *lowerer) flag(x bool) loop.Value { return l.b.Bool(x) }

// zero is the zero of a type.
func (l *lowerer) zero(t loop.Type) loop.Value { return l.b.ConstBits(t, 0) }

func (l *lowerer) int(t loop.Type, x int64) loop.Value { return l.b.Int(t, x) }

// bin is a two-operand instruction, folded.
func (l *lowerer) bin(op loop.Op, x, y loop.Value) loop.Value {
	t := l.b.Type(x)
	a, ka := l.known(x)
	b, kb := l.known(y)
	if ka && kb {
		if t == loop.B {
			if r, ok := foldBool(op, a, b); ok {
				return l.flag(r)
			}
		} else if t.Int() {
			if r, truth, ok := foldInt(op, t, a, b); ok && truth {
				return l.flag(r != 0)
			} else if ok {
				return l.int(t, int64(r))
			}
		} else if r, truth, ok := foldFloat(op, t, a, b); ok && truth {
			return l.flag(r != 0)
		} else if ok {
			return l.b.ConstBits(t, r)
		}
	}
	if x == y && (op == loop.OpAnd || op == loop.OpOr) {
		return x
	}
	if t == loop.B {
		if ka && !kb {
			x, y, b, kb = y, x, a, true // these operations commute
		}
		if kb {
			switch {
			case op == loop.OpAnd && b == 0, op == loop.OpOr && b == 1:
				return l.flag(b == 1)
			case op == loop.OpAnd, op == loop.OpOr, op == loop.OpXor && b == 0, op == loop.OpNe && b == 0, op == loop.OpEq && b == 1:
				return x
			case op == loop.OpXor, op == loop.OpNe, op == loop.OpEq:
				return l.not(x)
			}
		}
	}
	if t.Int() {
		switch {
		case kb && b == 0 && (op == loop.OpAdd || op == loop.OpSub || op == loop.OpShl || op == loop.OpShr || op == loop.OpShrU || op == loop.OpOr || op == loop.OpXor):
			return x
		case ka && a == 0 && (op == loop.OpAdd || op == loop.OpOr || op == loop.OpXor):
			return y
		case kb && b == 1 && op == loop.OpMul:
			return x
		case ka && a == 1 && op == loop.OpMul:
			return y
		case op == loop.OpMul && (ka && a == 0 || kb && b == 0):
			return l.zero(t)
		}
	}
	l.spend(1)
	return l.b.Binary(op, x, y)
}

func foldBool(op loop.Op, a, b uint64) (r, ok bool) {
	switch op {
	case loop.OpAnd:
		return a&b != 0, true
	case loop.OpOr:
		return a|b != 0, true
	case loop.OpXor, loop.OpNe:
		return a != b, true
	case loop.OpEq:
		return a == b, true
	}
	return false, false
}

// foldInt computes an operation on integers; truth says that the result is one.
func foldInt(op loop.Op, t loop.Type, a, b uint64) (r uint64, truth, ok bool) {
	x, y := extend(a, t), extend(b, t)
	width := uint64(8 * t.Size())
	is := func(c bool) (uint64, bool, bool) {
		if c {
			return 1, true, true
		}
		return 0, true, true
	}
	switch op {
	case loop.OpAdd:
		r = a + b
	case loop.OpSub:
		r = a - b
	case loop.OpMul:
		r = a * b
	case loop.OpQuo:
		if y != 0 {
			r = uint64(x / y)
		}
	case loop.OpRem:
		if y != 0 {
			r = uint64(x % y)
		}
	case loop.OpQuoU:
		if b != 0 {
			r = a / b
		}
	case loop.OpRemU:
		if b != 0 {
			r = a % b
		}
	case loop.OpAnd:
		r = a & b
	case loop.OpOr:
		r = a | b
	case loop.OpXor:
		r = a ^ b
	case loop.OpShl:
		if b < width {
			r = a << b
		}
	case loop.OpShrU:
		if b < width {
			r = a >> b
		}
	case loop.OpShr:
		r = uint64(x >> min(b, 63))
	case loop.OpMin:
		r = uint64(min(x, y))
	case loop.OpMax:
		r = uint64(max(x, y))
	case loop.OpMinU:
		r = min(a, b)
	case loop.OpMaxU:
		r = max(a, b)
	case loop.OpEq:
		return is(a == b)
	case loop.OpNe:
		return is(a != b)
	case loop.OpLt:
		return is(x < y)
	case loop.OpLe:
		return is(x <= y)
	case loop.OpLtU:
		return is(a < b)
	case loop.OpLeU:
		return is(a <= b)
	default:
		return 0, false, false
	}
	return r, false, true
}

// foldFloat computes an operation on floats.
func foldFloat(op loop.Op, t loop.Type, a, b uint64) (r uint64, truth, ok bool) {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	if t == loop.F32 {
		x, y = float64(math.Float32frombits(uint32(a))), float64(math.Float32frombits(uint32(b)))
	}
	is := func(c bool) (uint64, bool, bool) {
		if c {
			return 1, true, true
		}
		return 0, true, true
	}
	var z float64 // of float32 the double's rounding is harmless: one operation of twice the digits
	switch op {
	case loop.OpAdd:
		z = x + y
	case loop.OpSub:
		z = x - y
	case loop.OpMul:
		z = x * y
	case loop.OpDiv:
		z = x / y
	case loop.OpEq:
		return is(x == y)
	case loop.OpNe:
		return is(x != y)
	case loop.OpLt:
		return is(x < y)
	case loop.OpLe:
		return is(x <= y)
	default:
		return 0, false, false
	}
	if t == loop.F32 {
		return bits32(float32(z)), false, true
	}
	return bits64(z), false, true
}

func (l *lowerer) and(x, y loop.Value) loop.Value { return l.bin(loop.OpAnd, x, y) }
func (l *lowerer) or(x, y loop.Value) loop.Value  { return l.bin(loop.OpOr, x, y) }

func (l *lowerer) not(x loop.Value) loop.Value {
	if a, ok := l.known(x); ok {
		if l.b.Type(x) == loop.B {
			return l.flag(a == 0)
		}
		return l.int(l.b.Type(x), int64(^a))
	}
	if in := &l.b.Program().Ins[x]; in.Op == loop.OpNot {
		return in.A
	}
	l.spend(1)
	return l.b.Not(x)
}

func (l *lowerer) neg(x loop.Value) loop.Value {
	t := l.b.Type(x)
	if a, ok := l.known(x); ok {
		if t.Int() {
			return l.int(t, -int64(a))
		}
		return l.b.ConstBits(t, a^1<<(8*t.Size()-1))
	}
	l.spend(1)
	return l.b.Neg(x)
}

// choose is c ? x : y; NoValue is a value that does not matter.
func (l *lowerer) choose(c, x, y loop.Value) loop.Value {
	switch {
	case x == y || y == loop.NoValue:
		return x
	case x == loop.NoValue:
		return y
	}
	if a, ok := l.knownBool(c); ok && a {
		return x
	} else if ok {
		return y
	}
	a, ka := l.known(x)
	b, kb := l.known(y)
	if l.b.Type(x) == loop.B {
		switch {
		case ka && kb && a == b:
			return x
		case ka && a == 1:
			return l.or(c, y)
		case ka:
			return l.and(l.not(c), y)
		case kb && b == 1:
			return l.or(l.not(c), x)
		case kb:
			return l.and(c, x)
		}
	} else if ka && kb && a == b {
		return x
	}
	l.spend(1)
	return l.b.Select(c, x, y)
}

// convert is x of a scalar type as another, by Go's rules.
func (l *lowerer) convert(from, to *ty, x loop.Value) loop.Value {
	if from.t == to.t {
		return x
	}
	sign := 0
	if from.unsigned() {
		sign |= loop.FromUnsigned
	}
	if to.unsigned() {
		sign |= loop.ToUnsigned
	}
	if a, ok := l.known(x); ok {
		switch {
		case from.integer() && to.integer():
			if !from.unsigned() {
				a = uint64(extend(a, from.t))
			}
			return l.int(to.t, int64(a))
		case from.integer() && from.unsigned():
			if to.t == loop.F32 {
				return l.b.ConstBits(to.t, bits32(float32(a)))
			}
			return l.b.ConstBits(to.t, bits64(float64(a)))
		case from.integer():
			if to.t == loop.F32 {
				return l.b.ConstBits(to.t, bits32(float32(extend(a, from.t))))
			}
			return l.b.ConstBits(to.t, bits64(float64(extend(a, from.t))))
		case to.kind == kFloat:
			f, _ := l.knownFloat(x)
			return l.b.Float(to.t, f)
		}
	}
	l.spend(1)
	return l.b.CvtSigned(to.t, x, sign)
}

// intOp is a binary operation of Go on integers of one type.
func (l *lowerer) intOp(op string, t *ty, x, y loop.Value) loop.Value {
	u := t.unsigned()
	pick := func(signed, unsigned loop.Op) loop.Op {
		if u {
			return unsigned
		}
		return signed
	}
	switch op {
	case "+":
		return l.bin(loop.OpAdd, x, y)
	case "-":
		return l.bin(loop.OpSub, x, y)
	case "*":
		return l.bin(loop.OpMul, x, y)
	case "/":
		return l.bin(pick(loop.OpQuo, loop.OpQuoU), x, y)
	case "%":
		return l.bin(pick(loop.OpRem, loop.OpRemU), x, y)
	case "&":
		return l.bin(loop.OpAnd, x, y)
	case "|":
		return l.bin(loop.OpOr, x, y)
	case "^":
		return l.bin(loop.OpXor, x, y)
	case "&^":
		return l.bin(loop.OpAnd, x, l.not(y))
	}
	return loop.NoValue
}

// shift is x << y or x >> y; y is of an integer type of its own.
func (l *lowerer) shift(left bool, t *ty, x loop.Value, of *ty, y loop.Value) loop.Value {
	// A count from the width on, or below zero, shifts everything out.
	if of.t != t.t {
		if of.bits() > t.bits() {
			y = l.bin(loop.OpMinU, y, l.int(of.t, int64(t.bits())))
		}
		y = l.convert(of, scalarType(of.kind, t.t), y)
	}
	op := loop.OpShl
	switch {
	case !left && t.unsigned():
		op = loop.OpShrU
	case !left:
		op = loop.OpShr
	}
	return l.bin(op, x, y)
}

// compare is a comparison of scalars of one type.
func (l *lowerer) compare(op string, t *ty, x, y loop.Value) loop.Value {
	u := t.unsigned()
	lt, le := loop.OpLt, loop.OpLe
	if u {
		lt, le = loop.OpLtU, loop.OpLeU
	}
	switch op {
	case "==":
		return l.bin(loop.OpEq, x, y)
	case "!=":
		return l.bin(loop.OpNe, x, y)
	case "<":
		return l.bin(lt, x, y)
	case "<=":
		return l.bin(le, x, y)
	case ">":
		return l.bin(lt, y, x)
	case ">=":
		return l.bin(le, y, x)
	}
	return loop.NoValue
}
