package interp

import (
	"math"
	"math/big"

	"weft/internal/array"
	"weft/internal/loop"
)

// What an operation gives, worked out with math/big from the definitions in
// package loop. Values are bits.

// exact is enough bits that a sum of two products of float64 is exact, exact32
// of float32.
const (
	exact   = 5000
	exact32 = 800
)

// floatOf returns the value as a big.Float; not for NaN.
func floatOf(t loop.Type, x uint64) *big.Float {
	f := new(big.Float).SetPrec(exact)
	if t == loop.F32 {
		return f.SetPrec(exact32).SetFloat64(float64(math.Float32frombits(uint32(x))))
	}
	return f.SetFloat64(math.Float64frombits(x))
}

func isNaN(t loop.Type, x uint64) bool {
	if t == loop.F32 {
		return uint32(x)<<1 > 255<<24
	}
	return t == loop.F64 && x<<1 > 2047<<53
}

func nan(t loop.Type) uint64 {
	if t == loop.F32 {
		return 0x7fc00000
	}
	return 0x7ff8 << 48
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

func intOf(t loop.Type, x uint64) *big.Int {
	switch t {
	case loop.B:
		return big.NewInt(int64(x))
	case loop.I8:
		return big.NewInt(int64(int8(x)))
	case loop.I16:
		return big.NewInt(int64(int16(x)))
	case loop.I32:
		return big.NewInt(int64(int32(x)))
	}
	return big.NewInt(int64(x))
}

// unsignedOf is intOf of a value without sign.
func unsignedOf(t loop.Type, x uint64) *big.Int { return new(big.Int).SetUint64(wrap(t, intOf(t, x))) }

func width(t loop.Type) uint { return uint(8 * t.Size()) }

// wrap returns the low bits of a number.
func wrap(t loop.Type, x *big.Int) uint64 {
	m := new(big.Int).Lsh(big.NewInt(1), width(t))
	return new(big.Int).Mod(x, m).Uint64()
}

func truthBits(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// reference returns the result of an operation of type t whose first operand has
// type from; imm is that of the instruction.
func reference(op loop.Op, imm uint64, t, from loop.Type, a, b, c uint64) (bits uint64) {
	switch op {
	case loop.OpSelect:
		if a != 0 {
			return b
		}
		return c
	case loop.OpBits:
		return a
	case loop.OpLookup:
		if t == loop.F32 {
			return uint64(math.Float32bits(float32(primes[a&15])))
		}
		return math.Float64bits(primes[a&7])
	case loop.OpCvt:
		return refCvt(t, from, imm, a)
	case loop.OpRound:
		return refRound(array.DType(imm), a)
	case loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe, loop.OpLtU, loop.OpLeU:
		var r int
		switch {
		case from.Float():
			if isNaN(from, a) || isNaN(from, b) {
				return truthBits(op == loop.OpNe)
			}
			r = floatOf(from, a).Cmp(floatOf(from, b))
		case op == loop.OpLtU || op == loop.OpLeU:
			r = unsignedOf(from, a).Cmp(unsignedOf(from, b))
		default:
			r = intOf(from, a).Cmp(intOf(from, b))
		}
		return truthBits(map[loop.Op]bool{loop.OpEq: r == 0, loop.OpNe: r != 0, loop.OpLt: r < 0, loop.OpLe: r <= 0, loop.OpLtU: r < 0, loop.OpLeU: r <= 0}[op])
	}
	if t.Float() {
		return refFloat(op, t, a, b, c)
	}
	return refInt(op, t, a, b)
}

func refCvt(t, from loop.Type, kind, a uint64) uint64 {
	if !from.Float() {
		x := intOf(from, a)
		if kind&loop.FromUnsigned != 0 {
			x = unsignedOf(from, a)
		}
		if t.Float() {
			return nearest(t, new(big.Float).SetPrec(exact).SetInt(x))
		}
		return wrap(t, x)
	}
	if isNaN(from, a) {
		if t.Float() {
			return nan(t)
		}
		return 0
	}
	x := floatOf(from, a)
	if t.Float() {
		return nearest(t, x)
	}
	least := new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), width(t)-1))
	greatest := new(big.Int).Not(least)
	if kind&loop.ToUnsigned != 0 {
		least, greatest = new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), width(t)), big.NewInt(1))
	}
	if x.IsInf() {
		if x.Signbit() {
			return wrap(t, least)
		}
		return wrap(t, greatest)
	}
	i, _ := x.Int(nil)
	if i.Cmp(least) < 0 {
		i = least
	}
	if i.Cmp(greatest) > 0 {
		i = greatest
	}
	return wrap(t, i)
}

// refRound looks for the nearest number with so many bits, or of the least unit, and
// has infinity above the greatest.
func refRound(d array.DType, a uint64) uint64 {
	bits, least, most := 11, -24, 15 // of the significand; the exponents of the least unit and of the greatest number
	if d == array.BFloat16 {
		bits, least, most = 8, -133, 127
	}
	if isNaN(loop.F32, a) {
		return nan(loop.F32)
	}
	x := floatOf(loop.F32, a)
	if x.IsInf() || x.Sign() == 0 {
		return a
	}
	unit := max(x.MantExp(nil)-bits, least)
	n, _ := new(big.Float).SetPrec(exact32).SetMantExp(new(big.Float).Abs(x), 1-unit).Int(nil) // in halves of the unit, less what is below
	rest := new(big.Float).SetPrec(exact32).SetMantExp(new(big.Float).Abs(x), 1-unit)
	beyond := rest.Cmp(new(big.Float).SetInt(n)) > 0
	half := n.Bit(0) == 1
	n.Rsh(n, 1)
	if half && (beyond || n.Bit(0) == 1) {
		n.Add(n, big.NewInt(1))
	}
	y := new(big.Float).SetPrec(exact32).SetMantExp(new(big.Float).SetInt(n), unit)
	sign := a >> 31 << 31
	if y.MantExp(nil) > most+1 {
		return sign | 255<<23
	}
	return sign | nearest(loop.F32, y)
}

func refInt(op loop.Op, t loop.Type, a, b uint64) uint64 {
	x, y, z := intOf(t, a), intOf(t, b), new(big.Int)
	if t == loop.B {
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
	}
	w := int64(width(t))
	outside := y.Sign() < 0 || y.Cmp(big.NewInt(w)) >= 0
	switch op {
	case loop.OpAdd:
		z.Add(x, y)
	case loop.OpSub:
		z.Sub(x, y)
	case loop.OpMul:
		z.Mul(x, y)
	case loop.OpNeg:
		z.Neg(x)
	case loop.OpAbs:
		z.Abs(x)
	case loop.OpMin:
		z = x
		if y.Cmp(x) < 0 {
			z = y
		}
	case loop.OpMax:
		z = x
		if y.Cmp(x) > 0 {
			z = y
		}
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
	case loop.OpShrU:
		if !outside {
			z.Rsh(new(big.Int).SetUint64(wrap(t, x)), uint(y.Int64()))
		}
	case loop.OpMinU, loop.OpMaxU, loop.OpQuoU, loop.OpRemU, loop.OpMulHiU, loop.OpRotL:
		x, y := unsignedOf(t, a), unsignedOf(t, b)
		switch {
		case op == loop.OpMulHiU:
			z.Rsh(z.Mul(x, y), width(t))
		case op == loop.OpRotL:
			z.Lsh(x, uint(y.Uint64()%uint64(w)))
			z.Or(z, new(big.Int).Rsh(z, width(t)))
		case op == loop.OpQuoU && y.Sign() != 0:
			z.Quo(x, y)
		case op == loop.OpRemU && y.Sign() != 0:
			z.Rem(x, y)
		case op == loop.OpMinU && x.Cmp(y) < 0, op == loop.OpMaxU && x.Cmp(y) > 0:
			z = x
		case op == loop.OpMinU || op == loop.OpMaxU:
			z = y
		}
	case loop.OpMulHi:
		z.Rsh(z.Mul(x, y), width(t)) // rounds down
	case loop.OpPopCount, loop.OpLzCnt, loop.OpTzCnt:
		x := unsignedOf(t, a)
		n := w - int64(x.BitLen())
		if op != loop.OpLzCnt {
			n = 0
			for i := range int(w) {
				if op == loop.OpTzCnt && x.Bit(i) == 1 {
					break
				}
				if op == loop.OpTzCnt || x.Bit(i) == 1 {
					n++
				}
			}
		}
		z.SetInt64(n)
	case loop.OpAnd:
		z.And(x, y)
	case loop.OpOr:
		z.Or(x, y)
	case loop.OpXor:
		z.Xor(x, y)
	case loop.OpNot:
		z.Not(x)
	default:
		panic(op.String())
	}
	return wrap(t, z)
}

func refFloat(op loop.Op, t loop.Type, a, b, c uint64) (bits uint64) {
	sign := uint64(1) << (width(t) - 1)
	switch op {
	case loop.OpNeg:
		return a ^ sign
	case loop.OpAbs:
		return a &^ sign
	}
	operands := map[loop.Op]int{loop.OpFma: 3, loop.OpSqrt: 1, loop.OpFloor: 1, loop.OpCeil: 1, loop.OpTrunc: 1, loop.OpRint: 1}[op]
	if operands == 0 {
		operands = 2
	}
	for _, v := range []uint64{a, b, c}[:operands] {
		if isNaN(t, v) {
			return nan(t)
		}
	}
	x, z := floatOf(t, a), new(big.Float)
	z.SetPrec(x.Prec())
	y, w := x, x
	if operands > 1 {
		y = floatOf(t, b)
	}
	if operands > 2 {
		w = floatOf(t, c)
	}
	switch op {
	case loop.OpMin:
		if x.Cmp(y) < 0 {
			return a
		}
		return b
	case loop.OpMax:
		if x.Cmp(y) > 0 {
			return a
		}
		return b
	}
	// What is not a number in the end is a panic in math/big.
	defer func() {
		if e := recover(); e != nil {
			if _, ok := e.(big.ErrNaN); !ok {
				panic(e)
			}
			bits = nan(t)
		}
	}()
	switch op {
	case loop.OpAdd:
		z.Add(x, y)
	case loop.OpSub:
		z.Sub(x, y)
	case loop.OpMul:
		z.Mul(x, y)
	case loop.OpDiv:
		z.SetPrec(300).Quo(x, y)
	case loop.OpFma:
		z.Add(new(big.Float).SetPrec(x.Prec()).Mul(x, y), w)
	case loop.OpSqrt:
		if x.Sign() == 0 {
			return a
		}
		if x.Sign() < 0 {
			return nan(t)
		}
		z.SetPrec(300).Sqrt(x)
	case loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint:
		if x.IsInf() {
			return a
		}
		i, _ := x.Int(nil)
		rest := new(big.Float).SetPrec(exact).Sub(x, new(big.Float).SetPrec(exact).SetInt(i))
		switch {
		case op == loop.OpFloor && rest.Sign() < 0:
			i.Sub(i, big.NewInt(1))
		case op == loop.OpCeil && rest.Sign() > 0:
			i.Add(i, big.NewInt(1))
		case op == loop.OpRint:
			half := new(big.Float).Abs(rest).Cmp(big.NewFloat(0.5))
			if half > 0 || half == 0 && i.Bit(0) == 1 {
				i.Add(i, big.NewInt(int64(rest.Sign())))
			}
		}
		z.SetInt(i)
		return nearest(t, z) | a&sign // zeros keep the sign
	default:
		panic(op.String())
	}
	return nearest(t, z)
}
