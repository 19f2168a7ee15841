package vmath

//go:generate go run ./gen tables.go

import (
	"math"

	"weft/internal/loop"
)

// A form writes a formula of one floating-point type: it is a builder that knows
// the type and what belongs to it.
type form struct {
	*loop.Builder
	t     loop.Type // F32 or F64
	i     loop.Type // the integer as wide
	mant  int64     // bits of the fraction: 23 or 52
	bias  int64     // of the exponent: 127 or 1023
	wide  bool      // F64
	shift float64   // 1.5 * 2^mant: adding it rounds to an integer, kept in the low bits
}

// of returns the form for the type of x; it panics if that is no float.
func of(b *loop.Builder, x loop.Value) *form { return formOf(b, b.Type(x)) }

func formOf(b *loop.Builder, t loop.Type) *form {
	switch t {
	case loop.F32:
		return &form{b, t, loop.I32, 23, 127, false, 0x1.8p23}
	case loop.F64:
		return &form{b, t, loop.I64, 52, 1023, true, 0x1.8p52}
	}
	panic("vmath: operand of type " + t.String())
}

// pick is the float32 or the float64 constant of a formula.
func pick[T any](f *form, narrow, wide T) T {
	if f.wide {
		return wide
	}
	return narrow
}

// c is a floating-point constant.
//
//go:noinline
func (f *form) c(x float64) loop.Value { return f.Float(f.t, x) }

// n is an integer constant.
func (f *form) n(x int64) loop.Value { return f.Int(f.i, x) }

func (f *form) toInt(x loop.Value) loop.Value   { return f.Bits(f.i, x) }
func (f *form) toFloat(x loop.Value) loop.Value { return f.Bits(f.t, x) }

// bitsOf is x rounded to the type, as the integer of the same bits.
func (f *form) bitsOf(x float64) int64 {
	if f.wide {
		return int64(math.Float64bits(x))
	}
	return int64(math.Float32bits(float32(x)))
}

func (f *form) inf() loop.Value { return f.c(math.Inf(1)) }
func (f *form) nan() loop.Value { return f.c(math.NaN()) }

// minNormal is the least normal number, 2^(1-bias).
func (f *form) minNormal() float64 { return pick(f, 0x1p-126, 0x1p-1022) }

// poly is the polynomial with the given coefficients, lowest power first, by
// Horner's rule.
func (f *form) poly(x loop.Value, coef []float64) loop.Value {
	p := f.c(coef[len(coef)-1])
	for i := len(coef) - 2; i >= 0; i-- {
		p = f.Fma(p, x, f.c(coef[i]))
	}
	return p
}

// clamp bounds x by lo and hi, which are not zero. A NaN stays.
func (f *form) clamp(x loop.Value, lo, hi float64) loop.Value {
	return f.Max(f.c(lo), f.Min(f.c(hi), x))
}

// signOf returns 1 for a value that is known not to be negative (nor -0), -1 for one that is
// known not to be positive, NaN aside, and 0 otherwise.
func (f *form) signOf(x loop.Value) int {
	ins := f.Program().Ins
	switch in := &ins[x]; in.Op {
	case loop.OpAbs:
		return 1
	case loop.OpNeg:
		return -f.signOf(in.A)
	case loop.OpMul:
		if in.A == in.B {
			return 1
		}
		if n := &ins[in.A]; n.Op == loop.OpNeg && n.A == in.B {
			return -1
		}
	}
	return 0
}

// opposite returns -x. Requires signOf(x) == -1.
func (f *form) opposite(x loop.Value) loop.Value {
	if in := f.Program().Ins[x]; in.Op == loop.OpNeg {
		return in.A
	} else {
		return f.Mul(in.B, in.B) // of a product of -B and B
	}
}

// sign is the sign bit of x, as an integer.
func (f *form) sign(x loop.Value) loop.Value {
	return f.And(f.toInt(x), f.n(math.MinInt64>>(63-f.mant-f.expBits())))
}

func (f *form) expBits() int64 { return pick[int64](f, 8, 11) }

// withSign sets the sign bit of x where s, made by sign, has it.
func (f *form) withSign(x, s loop.Value) loop.Value {
	return f.toFloat(f.Or(f.toInt(x), s))
}

// flip changes the sign of x where s, made by sign, has it.
func (f *form) flip(x, s loop.Value) loop.Value {
	return f.toFloat(f.Xor(f.toInt(x), s))
}

// fastSum is a+b as its rounded value and the error of that, which is exact
// where |a| >= |b| or a = 0 (Dekker).
func (f *form) fastSum(a, b loop.Value) (hi, lo loop.Value) {
	hi = f.Add(a, b)
	return hi, f.Add(f.Sub(a, hi), b)
}

// reaches reports a >= bound or NaN, for a whose sign bit is not set. Integers
// compare faster.
func (f *form) reaches(a loop.Value, bound float64) loop.Value {
	return f.Lt(f.n(f.bitsOf(bound)-1), f.toInt(a))
}

// large reports a from which on an angle needs more than the main path, for a whose
// sign bit is not set. What has an exception further out asks this first: beside a sine
// of the same argument, that is no comparison more.
func (f *form) large(a loop.Value) loop.Value { return f.reaches(a, pick(f, 0x1p11, 0x1p22)) }

// rare is x, but where cond holds the result of el, which is skipped when no
// lane needs it.
func (f *form) rare(cond, x loop.Value, el func() loop.Value) loop.Value {
	return f.If(cond, func() []loop.Value { return []loop.Value{el()} }, func() []loop.Value { return []loop.Value{x} })[0]
}

// pow2 is 2^k as a float for integer k within the normal range, where kbits is k
// plus the bias plus any multiple of 2^(expBits+1).
func (f *form) pow2(kbits loop.Value) loop.Value {
	return f.toFloat(f.Shl(kbits, f.n(f.mant)))
}
