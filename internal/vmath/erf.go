package vmath

import (
	"math"

	"weft/internal/loop"
)

// Erf is the error function.
func Erf(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	a := f.Abs(x)
	z := f.Mul(a, a)
	small := f.Fma(a, f.poly(z, pick(f, erf32, erf64)), a)
	// Beyond 1 as 1 - exp(ln(erfc(a))).
	c := f.Min(f.c(pick(f, 3.95, 5.95)), a)
	e := f.reduce(f.poly(c, pick(f, lnErfc32, lnErfc64)))
	u := f.Fma(f.Mul(e.r, e.r), f.poly(e.r, pick(f, exp32, exp64)), e.r)
	s := f.pow2(f.Sub(e.bits, f.n(f.bias)))
	large := f.Sub(f.Sub(f.c(1), s), f.Mul(s, u))
	return f.withSign(f.Select(f.Lt(a, f.c(1)), small, large), f.sign(x))
}

// A tail is (hi+lo)*2^k, k in the low bits of bits as in reduced.
type tail struct{ hi, lo, bits loop.Value }

// erfcOf is erfc(a) for 0 <= a <= 30 of float64, given -a^2 as h+l. With short it
// is good for a float32 result only.
func (f *form) erfcOf(a, h, l loop.Value, short bool) tail {
	e := f.reduce(h)
	expc, scaled := exp64, erfcx64
	if short {
		expc, scaled = expShort, erfcxShort
	}
	u := f.Fma(f.Mul(e.r, e.r), f.poly(e.r, expc), e.r)
	// (1+2a)*exp(a^2)*erfc(a) varies by a quarter only.
	four, one, two := f.c(4), f.c(1), f.c(2)
	num, den := f.Sub(a, four), f.Add(a, four)
	t := f.Div(num, den)
	p := f.poly(t, scaled)
	d := f.Fma(a, two, one)
	inv := f.Div(one, d)
	q := f.Mul(p, inv)
	if short {
		return tail{q, f.Mul(q, u), e.bits}
	}
	// What t lacks, near the left end, where it matters and den is 4; what q
	// lacks; and l, which e^(h+l) turns into a factor.
	low := f.Fma(f.Neg(t), den, num)
	low = f.Add(low, f.Sub(a, f.Add(num, four)))
	low = f.Fma(f.Neg(t), f.Sub(a, f.Sub(den, four)), low)
	dlo := f.Fma(a, two, f.Sub(one, d))
	rem := f.Sub(f.Fma(f.Neg(q), d, p), f.Mul(q, dlo))
	rem = f.Fma(low, f.poly(t, erfcxSlope), rem)
	u = f.Add(u, f.Fma(u, l, f.Add(l, f.low(e))))
	return tail{q, f.Fma(rem, inv, f.Mul(q, u)), e.bits}
}

// value is t, rounded once unless subnormal.
func (f *form) value(t tail) loop.Value {
	s1, s2 := f.halves(t.bits)
	return f.Mul(f.Mul(f.Add(t.hi, t.lo), s1), s2)
}

// Erfc is 1-erf(x), accurate in the tail. float32 is computed in float64.
func Erfc(b *loop.Builder, x loop.Value) loop.Value {
	f := formOf(b, loop.F64)
	t := b.Type(x)
	x = b.Cvt(loop.F64, x)
	a := f.Min(f.c(28), f.Abs(x))
	h := f.Neg(f.Mul(a, a))
	l := f.Neg(f.Fma(a, a, h))
	y := f.value(f.erfcOf(a, h, l, t == loop.F32))
	return b.Cvt(t, f.Select(f.Lt(x, f.c(0)), f.Sub(f.c(2), y), y))
}

// Gelu is x times the normal distribution's value at x: x*erfc(-x/sqrt(2))/2. It
// is -0 at minus infinity. float32 is computed in float64.
func Gelu(b *loop.Builder, x loop.Value) loop.Value {
	f := formOf(b, loop.F64)
	t := b.Type(x)
	x = f.Max(f.c(-39), b.Cvt(loop.F64, x))
	c := f.Min(f.c(39), f.Abs(x))
	a := f.Mul(c, f.c(1/math.Sqrt2))
	h := f.Mul(f.Mul(c, c), f.c(-0.5))
	l := f.Neg(f.Fma(f.Mul(c, f.c(0.5)), c, h))
	w := f.erfcOf(a, h, l, t == loop.F32)
	w.bits = f.Sub(w.bits, f.n(1)) // halved
	neg := f.Lt(x, f.c(0))
	// Below zero the factor x comes before the scaling, which may round.
	q := w
	q.hi = f.Mul(x, w.hi)
	q.lo = f.Fma(x, w.lo, f.Fma(x, w.hi, f.Neg(q.hi)))
	y := f.Select(neg, f.value(q), f.Mul(x, f.Sub(f.c(1), f.value(w))))
	return b.Cvt(t, y)
}
