package looptest

import (
	"math"
	"math/big"

	"weft/internal/array"
	"weft/internal/loop"
)

// float computes an operation on floats: exactly, then rounded once.
func float(op loop.Op, t loop.Type, a, b, c uint64) (result uint64) {
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

// Fma32 returns a*b+c rounded once.
func Fma32(a, b, c float32) float32 {
	bits := func(x float32) uint64 { return floatBits(loop.F32, float64(x)) }
	return math.Float32frombits(uint32(Eval(loop.OpFma, 0, loop.F32, loop.F32, bits(a), bits(b), bits(c))))
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

// A halfFormat is an IEEE format of 16 bits.
type halfFormat struct {
	infinity uint16    // its bits: a number's are less, a NaN's greater
	numbers  []float64 // from 0 to infinity, by their bits
}

var float16, bfloat16 = newHalfFormat(10, -14), newHalfFormat(7, -126)

// newHalfFormat returns the format with this number of bits of fractions, and this exponent of
// the least normal number.
func newHalfFormat(fraction, least int) *halfFormat {
	h := &halfFormat{infinity: 1<<15 - 1<<fraction}
	for x := range int(h.infinity) {
		exponent, f := x>>fraction, x&(1<<fraction-1)
		if exponent > 0 {
			exponent, f = exponent-1, f+1<<fraction
		}
		h.numbers = append(h.numbers, math.Ldexp(float64(f), exponent+least-fraction))
	}
	h.numbers = append(h.numbers, math.Inf(1))
	return h
}

func formatOf(d array.DType) *halfFormat {
	if d == array.BFloat16 {
		return bfloat16
	}
	return float16
}

// Half returns the number that the bits of a Float16 or BFloat16 stand for.
func Half(d array.DType, x uint16) float64 {
	h, size := formatOf(d), x&0x7FFF
	switch {
	case size > h.infinity:
		return math.NaN()
	case x != size:
		return -h.numbers[size]
	}
	return h.numbers[size]
}

// ToHalf returns the bits of the Float16 or BFloat16 nearest to x, ties to even. It searches
// the numbers of the format, whose bits are in order of size.
func ToHalf(d array.DType, x float64) uint16 {
	h := formatOf(d)
	inf := h.infinity
	sign := uint16(0)
	if math.Signbit(x) {
		sign, x = 1<<15, -x
	}
	if x != x {
		return inf | 1
	}
	lo, hi := uint16(0), inf
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; h.numbers[mid] <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	below, above := h.numbers[lo], h.numbers[hi]
	if x == above {
		return sign | hi
	}
	// Above the greatest number the next step counts, not infinity.
	step := above - below
	if hi == inf {
		step = below - h.numbers[lo-1]
	}
	if rest := x - below; rest > step/2 || rest == step/2 && lo&1 == 1 {
		return sign | hi
	}
	return sign | lo
}
