package looptest

import (
	"math"
	"math/big"

	"weft/internal/array"
	"weft/internal/loop"
)

// exact is enough bits that a product of two float64 plus another is exact.
const exact = 5000

// float computes an operation on floats.
func float(op loop.Op, t loop.Type, a, b, c uint64) uint64 {
	sign := uint64(1) << (width(t) - 1)
	switch op {
	case loop.OpNeg:
		return a ^ sign
	case loop.OpAbs:
		return a &^ sign
	case loop.OpMin, loop.OpMax:
		x, y := Float(t, a), Float(t, b)
		switch {
		case x != x || y != y:
			return floatBits(t, math.NaN())
		case op == loop.OpMin && x < y, op == loop.OpMax && x > y:
			return a
		}
		return b
	case loop.OpFma:
		return fma(t, a, b, c)
	}
	if t == loop.F32 {
		x, y := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))
		return uint64(math.Float32bits(rounded(op, x, y)))
	}
	return math.Float64bits(rounded(op, math.Float64frombits(a), math.Float64frombits(b)))
}

// rounded computes an operation whose exact result is rounded once to F. Go and IEEE 754
// define its arithmetic so.
func rounded[F float32 | float64](op loop.Op, x, y F) F {
	switch op {
	case loop.OpAdd:
		return x + y
	case loop.OpSub:
		return x - y
	case loop.OpMul:
		return x * y
	case loop.OpDiv:
		return x / y
	case loop.OpSqrt:
		// Rounding twice is rounding once for square roots: float64 has more than twice
		// the digits of float32 (Figueroa 1995, When is double rounding innocuous?).
		return F(math.Sqrt(float64(x)))
	case loop.OpLogB:
		if x == 0 || math.IsInf(float64(x), 0) {
			return -1
		}
		_, e := math.Frexp(float64(x))
		return F(e-1) + 0*x // NaN stays NaN
	case loop.OpScaleB:
		const beyond = 5000 // the exponents of float64 and float32
		if x != x || y != y {
			return x + y
		}
		return F(math.Ldexp(float64(x), int(min(max(float64(y), -beyond), beyond))))
	case loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint:
		return F(whole(op, float64(x)))
	}
	panic(op.String())
}

// whole returns the whole number that op rounds x to, with the sign of x.
func whole(op loop.Op, x float64) float64 {
	if !(math.Abs(x) < 1<<52) { // whole, infinite or NaN
		return x
	}
	i := int64(x)
	rest := x - float64(i) // exact
	switch {
	case op == loop.OpFloor && rest < 0:
		i--
	case op == loop.OpCeil && rest > 0:
		i++
	case op == loop.OpRint && (rest > 0.5 || rest == 0.5 && i%2 != 0):
		i++
	case op == loop.OpRint && (rest < -0.5 || rest == -0.5 && i%2 != 0):
		i--
	}
	return math.Copysign(float64(i), x)
}

// fma returns a*b+c rounded once.
func fma(t loop.Type, a, b, c uint64) uint64 {
	x, y, z := Float(t, a), Float(t, b), Float(t, c)
	switch finite := x-x == 0 && y-y == 0; {
	case !finite || z != z:
		return floatBits(t, x*y+z) // infinite or NaN
	case math.IsInf(z, 0):
		return c
	}
	p := new(big.Float).SetPrec(exact).SetFloat64(x)
	p.Mul(p, new(big.Float).SetFloat64(y))
	p.Add(p, new(big.Float).SetFloat64(z))
	if t == loop.F32 {
		r, _ := p.Float32()
		return uint64(math.Float32bits(r))
	}
	r, _ := p.Float64()
	return math.Float64bits(r)
}

// Fma32 returns a*b+c rounded once.
func Fma32(a, b, c float32) float32 {
	bits := func(x float32) uint64 { return floatBits(loop.F32, float64(x)) }
	return math.Float32frombits(uint32(Eval(loop.OpFma, 0, loop.F32, loop.F32, bits(a), bits(b), bits(c))))
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
