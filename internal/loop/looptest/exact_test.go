package looptest

import (
	"cmp"
	"math"
	"math/big"

	"weft/internal/loop"
)

// What follows computes the operations exactly by math/big, and rounds once. Eval is
// compared with it.

// exact32 is enough bits that a sum of two products of float32 is exact; exact does it for
// float64.
const exact32 = 800

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

// signed returns a lane of an integer type, with its sign, as a big.Int.
func signed(t loop.Type, x uint64) *big.Int { return big.NewInt(Int(t, x)) }

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

// exactCompare computes a comparison.
func exactCompare(op loop.Op, t loop.Type, a, b uint64) uint64 {
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

// exactConvert computes a conversion.
func exactConvert(t, from loop.Type, kind, a uint64) uint64 {
	if !from.Float() {
		x := signed(from, a)
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

// exactSigned computes an operation on integers.
func exactSigned(op loop.Op, t loop.Type, x, y *big.Int) uint64 {
	z := new(big.Int)
	outside := y.Sign() < 0 || y.Cmp(big.NewInt(int64(width(t)))) >= 0
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
	case loop.OpMin, loop.OpMax:
		z = x
		if x.Cmp(y) < 0 == (op == loop.OpMax) {
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
	case loop.OpMulHi:
		z.Rsh(z.Mul(x, y), width(t)) // rounds down
	default:
		panic(op.String())
	}
	return wrap(t, z)
}

// exactUnsigned computes an operation on integers without sign.
func exactUnsigned(op loop.Op, t loop.Type, a, b uint64) uint64 {
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

// exactFloat computes an operation on floats.
func exactFloat(op loop.Op, t loop.Type, a, b, c uint64) (result uint64) {
	nan := floatBits(t, math.NaN())
	sign := uint64(1) << (width(t) - 1)
	switch op {
	case loop.OpNeg:
		return a ^ sign
	case loop.OpAbs:
		return a &^ sign
	}
	operands := [3]uint64{a, b, c}
	n := operandsOf(op)
	for _, v := range operands[:n] {
		if IsNaN(t, v) {
			return nan
		}
	}
	x, z := number(t, a), new(big.Float)
	z.SetPrec(x.Prec())
	y := x
	if n > 1 {
		y = number(t, b)
	}
	// What is not a number in the end is a panic in math/big.
	defer func() {
		if e := recover(); e != nil {
			if _, ok := e.(big.ErrNaN); !ok {
				panic(e)
			}
			result = nan
		}
	}()
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
	case loop.OpAdd:
		z.Add(x, y)
	case loop.OpSub:
		z.Sub(x, y)
	case loop.OpMul:
		z.Mul(x, y)
	case loop.OpDiv:
		z.SetPrec(300).Quo(x, y)
	case loop.OpFma:
		z.Add(new(big.Float).SetPrec(x.Prec()).Mul(x, y), number(t, c))
	case loop.OpSqrt:
		switch {
		case x.Sign() == 0:
			return a
		case x.Sign() < 0:
			return nan
		}
		z.SetPrec(300).Sqrt(x)
	case loop.OpLogB:
		z.SetInt64(int64(x.MantExp(nil) - 1))
	case loop.OpScaleB:
		k, _ := y.Int64() // any beyond the bound
		z.SetMantExp(x, int(min(max(k, -1<<20), 1<<20)))
	case loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint:
		if x.IsInf() {
			return a
		}
		return nearest(t, z.SetInt(round(op, x))) | a&sign // zeros keep the sign
	default:
		panic(op.String())
	}
	return nearest(t, z)
}

// operandsOf returns the number of operands of an operation on floats.
func operandsOf(op loop.Op) int {
	switch op {
	case loop.OpFma:
		return 3
	case loop.OpSqrt, loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint, loop.OpLogB:
		return 1
	}
	return 2
}

// round returns the whole number that op rounds a finite x to.
func round(op loop.Op, x *big.Float) *big.Int {
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
	return i
}
