package looptest

import (
	"cmp"
	"math"
	"math/big"

	"weft/internal/array"
	"weft/internal/loop"
)

// exact is enough bits that a sum of two products of float64 is exact, exact32
// of float32.
const (
	exact   = 5000
	exact32 = 800
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

// number returns a lane as a big.Float; not for NaN.
func number(t loop.Type, x uint64) *big.Float {
	f := new(big.Float).SetPrec(exact)
	if t == loop.F32 {
		f.SetPrec(exact32)
	}
	return f.SetFloat64(Float(t, x))
}

// nearest rounds to nearest even.
func nearest(t loop.Type, f *big.Float) uint64 {
	if t == loop.F32 {
		x, _ := f.Float32()
		return uint64(math.Float32bits(x))
	}
	x, _ := f.Float64()
	return math.Float64bits(x)
}

// whole returns a lane of an integer type, with its sign, as a big.Int.
func whole(t loop.Type, x uint64) *big.Int { return big.NewInt(Int(t, x)) }

// natural returns a lane of an integer type, without sign, as a big.Int.
func natural(t loop.Type, x uint64) *big.Int { return new(big.Int).SetUint64(Cut(t, int64(x))) }

// wrap returns the low bits of a number.
func wrap(t loop.Type, x *big.Int) uint64 {
	if x.IsInt64() {
		return Cut(t, x.Int64())
	}
	m := new(big.Int).Lsh(big.NewInt(1), width(t))
	return m.Mod(x, m).Uint64()
}

func compare(op loop.Op, t loop.Type, a, b uint64) uint64 {
	var r int
	switch {
	case t.Float():
		if IsNaN(t, a) || IsNaN(t, b) {
			return bits(op == loop.OpNe)
		}
		r = number(t, a).Cmp(number(t, b))
	case op == loop.OpLtU || op == loop.OpLeU:
		r = cmp.Compare(Cut(t, int64(a)), Cut(t, int64(b)))
	default:
		r = cmp.Compare(Int(t, a), Int(t, b))
	}
	switch op {
	case loop.OpEq:
		return bits(r == 0)
	case loop.OpNe:
		return bits(r != 0)
	case loop.OpLt, loop.OpLtU:
		return bits(r < 0)
	}
	return bits(r <= 0)
}

func convert(t, from loop.Type, kind, a uint64) uint64 {
	if !from.Float() {
		x := whole(from, a)
		if kind&loop.FromUnsigned != 0 {
			x = natural(from, a)
		}
		if t.Float() {
			return nearest(t, new(big.Float).SetPrec(exact).SetInt(x))
		}
		return wrap(t, x)
	}
	if IsNaN(from, a) {
		if t.Float() {
			return floatBits(t, math.NaN())
		}
		return 0
	}
	x := number(from, a)
	if t.Float() {
		return nearest(t, x)
	}
	least := new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), width(t)-1))
	greatest := new(big.Int).Not(least)
	if kind&loop.ToUnsigned != 0 {
		least, greatest = new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), width(t)), big.NewInt(1))
	}
	i, _ := x.Int(nil) // truncates; nil if infinite
	switch {
	case i == nil && x.Signbit() || i != nil && i.Cmp(least) < 0:
		i = least
	case i == nil || i.Cmp(greatest) > 0:
		i = greatest
	}
	return wrap(t, i)
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
	return exactly(op, t, whole(t, a), whole(t, b))
}

// exactly computes an operation on integers whose exact result may need more bits.
func exactly(op loop.Op, t loop.Type, x, y *big.Int) uint64 {
	z := new(big.Int)
	outside := y.Sign() < 0 || y.Cmp(big.NewInt(int64(width(t)))) >= 0
	switch op {
	case loop.OpQuo:
		if y.Sign() != 0 {
			z.Quo(x, y)
		}
	case loop.OpRem:
		if y.Sign() != 0 {
			z.Rem(x, y)
		}
	case loop.OpShl:
		if !outside {
			z.Lsh(x, uint(y.Int64()))
		}
	case loop.OpShr:
		switch {
		case !outside:
			z.Rsh(x, uint(y.Int64()))
		case x.Sign() < 0:
			z.SetInt64(-1)
		}
	case loop.OpMulHi:
		z.Rsh(z.Mul(x, y), width(t)) // rounds down
	default:
		panic(op.String())
	}
	return wrap(t, z)
}

// unsigned computes an operation on integers without sign.
func unsigned(op loop.Op, t loop.Type, a, b uint64) uint64 {
	a, b = Cut(t, int64(a)), Cut(t, int64(b))
	x, y, z := natural(t, a), natural(t, b), new(big.Int)
	switch op {
	case loop.OpMulHiU:
		z.Rsh(z.Mul(x, y), width(t))
	case loop.OpRotL:
		z.Lsh(x, uint(b%uint64(width(t))))
		z.Or(z, new(big.Int).Rsh(z, width(t)))
	case loop.OpShrU:
		if b < uint64(width(t)) {
			z.Rsh(x, uint(b))
		}
	case loop.OpQuoU:
		if b != 0 {
			z.Quo(x, y)
		}
	case loop.OpRemU:
		if b != 0 {
			z.Rem(x, y)
		}
	case loop.OpMinU:
		z = x
		if y.Cmp(x) < 0 {
			z = y
		}
	case loop.OpMaxU:
		z = x
		if y.Cmp(x) > 0 {
			z = y
		}
	default:
		panic(op.String())
	}
	return wrap(t, z)
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
