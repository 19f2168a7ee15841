package vmath

import (
	"math"

	"weft/internal/loop"
)

// ln(2) with enough trailing zeros that its product with any exponent is exact,
// and the rest.
const (
	ln2Top32 = 0x1.62e4p-1
	ln2End32 = 0x1.7f7d1cf79abcap-20
	ln2Top64 = 0x1.62e42fefa38p-1
	ln2End64 = 0x1.ef35793c7673p-45
)

// split cuts a positive normal number u = 2^k*m, 0.75 <= m < 1.5: kbits is k at
// the place of the exponent (low bits zero), kf is k.
func (f *form) split(u loop.Value) (kbits, kf loop.Value) {
	ix := f.Sub(f.toInt(u), f.n(pick[int64](f, 0x3f400000, 0x3fe8<<48)))
	kbits = f.And(ix, f.n(-1<<f.mant))
	if !f.wide {
		return kbits, f.Cvt(f.t, f.Shr(ix, f.n(f.mant)))
	}
	// Not every processor converts 64-bit integers or shifts their sign in: add
	// 2^10 to k and put it into the low bits of a float of that step.
	k := f.ShrU(f.Add(ix, f.n(0x400<<52)), f.n(f.mant))
	k = f.Or(k, f.n(0x433<<52))
	return kbits, f.Sub(f.toFloat(k), f.c(0x1p52+1024))
}

// lnSum is k*ln(2) + ln(1+m1) as hi + lo, for m1 in [-0.25, 0.5).
func (f *form) lnSum(kf, m1 loop.Value) (hi, lo loop.Value) {
	hi, lo = f.fastSum(f.Mul(kf, f.c(pick(f, ln2Top32, ln2Top64))), m1)
	lo = f.Fma(kf, f.c(pick(f, ln2End32, ln2End64)), lo)
	sq := f.Mul(m1, m1)
	if !f.wide {
		q := f.Fma(m1, f.poly(m1, log32), f.c(-0.5))
		return hi, f.Fma(sq, q, lo)
	}
	// With s = m1/(2+m1): ln(1+m1) = m1 - m1^2/2 + s*(m1^2/2 + s^2*L(s^2)).
	s := f.Div(m1, f.Add(m1, f.c(2)))
	z := f.Mul(s, s)
	half := f.Mul(sq, f.c(0.5))
	inner := f.Fma(z, f.poly(z, log64), half)
	return hi, f.Fma(s, inner, f.Sub(lo, half))
}

// lnMain is ln(x) for positive normal x.
func (f *form) lnMain(x loop.Value) loop.Value {
	kb, kf := f.split(x)
	m1 := f.Sub(f.toFloat(f.Sub(f.toInt(x), kb)), f.c(1))
	return f.Add(f.lnSum(kf, m1))
}

// abnormal reports what is not a positive normal number.
func (f *form) abnormal(x loop.Value) loop.Value {
	// From the bits of the least normal number on, as unsigned: those of
	// infinity, of NaN and negative numbers are beyond.
	top := pick[int64](f, math.MinInt32, math.MinInt64)
	span := pick[int64](f, 0x7f000000, 0x7fe<<52)
	d := f.Add(f.toInt(x), f.n(top-1<<f.mant))
	return f.Le(f.n(top+span), d)
}

// Log is the natural logarithm.
func Log(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	return f.rare(f.abnormal(x), f.lnMain(x), func() loop.Value { return f.lnAny(x) })
}

// lnAny is ln(x) for what abnormal reports.
func (f *form) lnAny(x loop.Value) loop.Value {
	u := f.Mul(x, f.c(math.Ldexp(1, int(f.mant+1)))) // a normal number
	kb, kf := f.split(u)
	m1 := f.Sub(f.toFloat(f.Sub(f.toInt(u), kb)), f.c(1))
	y := f.Add(f.lnSum(f.Sub(kf, f.c(float64(f.mant+1))), m1))
	return f.lnEdges(x, y)
}

// lnEdges is y, but the value of a logarithm where x is zero, infinite, negative
// or NaN.
func (f *form) lnEdges(x, y loop.Value) loop.Value {
	y = f.Select(f.Eq(x, f.inf()), x, y)
	y = f.Select(f.Eq(x, f.c(0)), f.c(math.Inf(-1)), y)
	return f.Select(f.Ge(x, f.c(0)), y, f.nan())
}

// Log1p is ln(1+x), accurate near zero.
func Log1p(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	big := f.c(pick(f, 0x1p126, 0x1p1022))
	ok := f.And(f.Lt(f.c(-1), x), f.Lt(x, big))
	y := f.rare(f.Not(ok), f.ln1pMain(x), func() loop.Value {
		u := f.Add(x, f.c(1))
		return f.lnEdges(u, f.lnMain(u))
	})
	return f.withSign(y, f.sign(x))
}

// ln1pMain is ln(1+x) for -1 < x < 2^(bias-1), but for the sign of zero.
func (f *form) ln1pMain(x loop.Value) loop.Value {
	return f.Add(f.ln1pSum(x))
}

func (f *form) ln1pSum(x loop.Value) (hi, lo loop.Value) {
	kb, kf := f.split(f.Add(x, f.c(1)))
	// m - 1 = 2^-k*(1+x) - 1 = 2^-k*x + (2^-k - 1): exact, since for m in
	// [0.75, 1.5) the sum obeys Sterbenz's lemma where it does not vanish.
	s := f.toFloat(f.Sub(f.n(f.bias<<f.mant), kb))
	return f.lnSum(kf, f.Fma(x, s, f.Sub(s, f.c(1))))
}
