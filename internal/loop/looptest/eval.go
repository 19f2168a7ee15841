package looptest

import (
	"math"
	mathbits "math/bits"

	"weft/internal/array"
	"weft/internal/loop"
)

// Eval returns the result of a pure operation on lanes a, b and c, as bits. The type of the
// result is t, that of the first operand from, and imm is that of the instruction. OpLookup is
// up to the caller, who has the table. A NaN that is computed has any bits.
func Eval(op loop.Op, imm uint64, t, from loop.Type, a, b, c uint64) uint64 {
	switch op {
	case loop.OpSelect:
		if a != 0 {
			return b
		}
		return c
	case loop.OpBits:
		return a
	case loop.OpCvt:
		return convert(t, from, imm, a)
	case loop.OpRound:
		d := array.DType(imm)
		return floatBits(loop.F32, Half(d, ToHalf(d, Float(loop.F32, a))))
	case loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe, loop.OpLtU, loop.OpLeU:
		return compare(op, from, a, b)
	}
	switch {
	case t.Float():
		return float(op, t, a, b, c)
	case t == loop.B:
		return truth(op, a, b)
	case op >= loop.OpQuoU && op <= loop.OpMaxU || op == loop.OpMulHiU || op == loop.OpRotL || op == loop.OpShrU:
		return unsigned(op, t, a, b)
	case op == loop.OpPopCount || op == loop.OpLzCnt || op == loop.OpTzCnt:
		return count(op, t, a)
	}
	return integer(op, t, a, b)
}

// IsNaN reports whether a lane is NaN.
func IsNaN(t loop.Type, x uint64) bool {
	if t == loop.F32 {
		return uint32(x)<<1 > 255<<24
	}
	return t == loop.F64 && x<<1 > 2047<<53
}

// Float returns a lane of a float type as a number.
func Float(t loop.Type, x uint64) float64 {
	if t == loop.F32 {
		return float64(math.Float32frombits(uint32(x)))
	}
	return math.Float64frombits(x)
}

// floatBits returns x, which t holds, as a lane.
func floatBits(t loop.Type, x float64) uint64 {
	if t == loop.F32 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

// Int returns a lane of an integer type with its sign, or a truth value as 0 or 1.
func Int(t loop.Type, x uint64) int64 {
	if t == loop.B {
		return int64(x)
	}
	unused := 64 - width(t)
	return int64(x) << unused >> unused
}

// Cut returns the low bits of x that a lane of type t has.
func Cut(t loop.Type, x int64) uint64 {
	unused := 64 - width(t)
	return uint64(x) << unused >> unused
}

func width(t loop.Type) uint { return uint(8 * t.Size()) }

// bits returns b as a truth value.
func bits(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func compare(op loop.Op, t loop.Type, a, b uint64) uint64 {
	var less, equal bool
	switch {
	case t.Float():
		x, y := Float(t, a), Float(t, b)
		if x != x || y != y {
			return bits(op == loop.OpNe)
		}
		less, equal = x < y, x == y
	case op == loop.OpLtU || op == loop.OpLeU:
		x, y := Cut(t, int64(a)), Cut(t, int64(b))
		less, equal = x < y, x == y
	default:
		x, y := Int(t, a), Int(t, b)
		less, equal = x < y, x == y
	}
	switch op {
	case loop.OpEq:
		return bits(equal)
	case loop.OpNe:
		return bits(!equal)
	case loop.OpLt, loop.OpLtU:
		return bits(less)
	}
	return bits(less || equal)
}

func convert(t, from loop.Type, kind, a uint64) uint64 {
	unsigned := kind&loop.FromUnsigned != 0
	switch {
	case from.Float() && t.Float():
		return floatBits(t, Float(from, a))
	case from.Float():
		return saturate(t, kind&loop.ToUnsigned != 0, Float(from, a))
	case t == loop.F32 && unsigned:
		return uint64(math.Float32bits(float32(Cut(from, int64(a)))))
	case t == loop.F32:
		return uint64(math.Float32bits(float32(Int(from, a))))
	case t == loop.F64 && unsigned:
		return math.Float64bits(float64(Cut(from, int64(a))))
	case t == loop.F64:
		return math.Float64bits(float64(Int(from, a)))
	case unsigned:
		return Cut(t, int64(Cut(from, int64(a))))
	}
	return Cut(t, Int(from, a))
}

// saturate returns x without its fraction as an integer of type t, or the limit that x is
// beyond. NaN becomes 0.
func saturate(t loop.Type, unsigned bool, x float64) uint64 {
	least, end := math.Ldexp(-1, int(width(t))-1), math.Ldexp(1, int(width(t))-1)
	if unsigned {
		least, end = 0, 2*end
	}
	switch {
	case x != x:
		return 0
	case x <= least:
		return Cut(t, int64(least))
	case x < end && unsigned:
		return uint64(x)
	case x < end:
		return Cut(t, int64(x))
	case unsigned:
		return Cut(t, -1)
	}
	return Cut(t, -1) >> 1
}

// truth computes an operation on truth values.
func truth(op loop.Op, a, b uint64) uint64 {
	switch op {
	case loop.OpAnd:
		return a * b
	case loop.OpOr:
		return a + b - a*b
	case loop.OpXor:
		return (a + b) % 2
	case loop.OpNot:
		return 1 - a
	}
	panic(op.String())
}

// integer computes an operation on integers with a sign, or on their bits. They wrap: the
// low bits of a sum, difference or product do not depend on the sign.
func integer(op loop.Op, t loop.Type, a, b uint64) uint64 {
	x, y := Int(t, a), Int(t, b)
	switch op {
	case loop.OpAdd:
		return Cut(t, int64(a+b))
	case loop.OpSub:
		return Cut(t, int64(a-b))
	case loop.OpMul:
		return Cut(t, int64(a*b))
	case loop.OpNeg:
		return Cut(t, int64(-a))
	case loop.OpAbs:
		if x < 0 {
			a = -a
		}
		return Cut(t, int64(a))
	case loop.OpMin:
		return Cut(t, min(x, y))
	case loop.OpMax:
		return Cut(t, max(x, y))
	case loop.OpAnd:
		return a & b
	case loop.OpOr:
		return a | b
	case loop.OpXor:
		return a ^ b
	case loop.OpNot:
		return Cut(t, int64(^a))
	}
	outside := y < 0 || y >= int64(width(t))
	switch {
	case (op == loop.OpQuo || op == loop.OpRem) && y == 0, op == loop.OpShl && outside:
		return 0
	case op == loop.OpQuo:
		return Cut(t, x/y)
	case op == loop.OpRem:
		return Cut(t, x%y)
	case op == loop.OpShl:
		return Cut(t, x<<y)
	case op == loop.OpShr && outside:
		return Cut(t, x>>63)
	case op == loop.OpShr:
		return Cut(t, x>>y)
	case op == loop.OpMulHi:
		return highProduct(t, x, y)
	}
	panic(op.String())
}

// highProduct returns the high half of the product of two integers with signs.
func highProduct(t loop.Type, x, y int64) uint64 {
	if t != loop.I64 {
		return Cut(t, x*y>>width(t))
	}
	hi, _ := mathbits.Mul64(uint64(x), uint64(y))
	// As an integer without sign, a negative number is 1<<64 greater.
	if x < 0 {
		hi -= uint64(y)
	}
	if y < 0 {
		hi -= uint64(x)
	}
	return hi
}

// unsigned computes an operation on integers without sign.
func unsigned(op loop.Op, t loop.Type, a, b uint64) uint64 {
	w := uint64(width(t))
	x, y := Cut(t, int64(a)), Cut(t, int64(b))
	switch op {
	case loop.OpMulHiU:
		hi, lo := mathbits.Mul64(x, y)
		if t == loop.I64 {
			return hi
		}
		return lo >> w
	case loop.OpRotL:
		k := y % w
		return Cut(t, int64(x<<k|x>>(w-k)))
	case loop.OpShrU:
		if y >= w {
			return 0
		}
		return x >> y
	case loop.OpQuoU:
		if y == 0 {
			return 0
		}
		return x / y
	case loop.OpRemU:
		if y == 0 {
			return 0
		}
		return x % y
	case loop.OpMinU:
		return min(x, y)
	case loop.OpMaxU:
		return max(x, y)
	}
	panic(op.String())
}

// count counts bits one by one.
func count(op loop.Op, t loop.Type, a uint64) (n uint64) {
	w := int(width(t))
	switch op {
	case loop.OpPopCount:
		for i := range w {
			n += a >> i & 1
		}
	case loop.OpLzCnt:
		for i := w - 1; i >= 0 && a>>i&1 == 0; i-- {
			n++
		}
	case loop.OpTzCnt:
		for i := 0; i < w && a>>i&1 == 0; i++ {
			n++
		}
	}
	return n
}
