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

// erfcxOf is exp(a^2)*erfc(a) at a+alo for 0 <= a <= 30 of float64 as q + rest*inv. Without alo a is
// exact.
//
// It is P/(1+2a), where P = (1+2a)*exp(a^2)*erfc(a) varies by a quarter
// only and is a polynomial in (a-4)/(a+4) (after Shepherd and Laframboise,
// "Chebyshev approximation of (1+2x)exp(x^2)erfc x", Math. Comp. 36, 1981).
func (f *form) erfcxOf(a, alo loop.Value) (q, rest, inv loop.Value) {
	four, one, two := f.c(4), f.c(1), f.c(2)
	num, den := f.Sub(a, four), f.Add(a, four)
	t := f.Div(num, den)
	w := f.poly(t, erfcx64[2:])
	c := f.c(erfcx64[0])
	wt := f.Mul(w, t)
	p, plo := f.fastSum(c, wt)
	plo = f.Add(plo, f.Fma(w, t, f.Sub(f.c(erfcx64[1]), wt)))
	// What t lacks, as far as it matters: near a = 0, where P is steep.
	low := f.Add(f.Fma(f.Neg(t), den, num), f.Sub(a, f.Add(num, four)))
	low = f.Fma(f.Neg(t), f.Sub(a, f.Sub(den, four)), low)
	plo = f.Fma(low, f.poly(t, erfcxSlope), plo)
	d := f.Fma(a, two, one)
	dlo := f.Fma(a, two, f.Sub(one, d))
	if alo != loop.NoValue { // matters where P hardly varies
		dlo = f.Fma(alo, two, dlo)
	}
	inv = f.Div(one, d)
	q = f.Mul(p, inv)
	rem := f.Fma(f.Neg(q), dlo, f.Fma(f.Neg(q), d, p))
	return q, f.Add(rem, plo), inv
}

// erfcOf is erfc(a+alo) for 0 <= a <= 30 of float64, given minus the square as h+l.
func (f *form) erfcOf(a, alo, h, l loop.Value) tail {
	e := f.reduce(h)
	// e^(h+l) = (1+r+v)*2^k, and a sum of r and v would round once more.
	v := f.Mul(f.Mul(e.r, e.r), f.poly(e.r, exp64))
	l = f.Add(l, f.low(e))
	v = f.Add(v, f.Fma(f.Add(e.r, v), l, l))
	q, rest, inv := f.erfcxOf(a, alo)
	return tail{q, f.Fma(q, e.r, f.Fma(rest, inv, f.Mul(q, v))), e.bits}
}

// erfcShort is erfcOf good for a float32 result.
func (f *form) erfcShort(a, h loop.Value) tail {
	e := f.reduce(h)
	u := f.Fma(f.Mul(e.r, e.r), f.poly(e.r, expShort), e.r)
	t := f.Div(f.Sub(a, f.c(4)), f.Add(a, f.c(4)))
	q := f.Div(f.poly(t, erfcxShort), f.Fma(a, f.c(2), f.c(1)))
	return tail{q, f.Mul(q, u), e.bits}
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
	var w tail
	if t == loop.F32 {
		w = f.erfcShort(a, h)
	} else {
		w = f.erfcOf(a, loop.NoValue, h, f.Neg(f.Fma(a, a, h)))
	}
	y := f.value(w)
	return b.Cvt(t, f.Select(f.Lt(x, f.c(0)), f.Sub(f.c(2), y), y))
}

// Gelu is x times the normal distribution's value at x. It is -0 at minus infinity.
func Gelu(b *loop.Builder, x loop.Value) loop.Value {
	if b.Type(x) == loop.F32 {
		return gelu32(b, x)
	}
	f := of(b, x)
	x = f.Max(f.c(-39), x)
	a := f.Min(f.c(39), f.Abs(x))
	h := f.Mul(f.Mul(a, a), f.c(-0.5))
	arg := f.Mul(a, f.c(1/math.Sqrt2))
	neg := f.Lt(x, f.c(0))
	one := f.c(1)
	arglo := f.Fma(a, f.c(-0x1.bdd3413b26456p-55), f.Fma(a, f.c(1/math.Sqrt2), f.Neg(arg)))
	w := f.erfcOf(arg, arglo, h, f.Neg(f.Fma(f.Mul(a, f.c(0.5)), a, h)))
	w.bits = f.Sub(w.bits, f.n(1)) // half of it
	// The factor x comes before the scaling, which may round.
	s1, s2 := f.halves(w.bits)
	hi, lo := f.fastSum(one, f.Neg(f.Mul(f.Mul(w.hi, s1), s2)))
	lo = f.Sub(lo, f.Mul(f.Mul(w.lo, s1), s2))
	hi, lo = f.Select(neg, w.hi, hi), f.Select(neg, w.lo, lo)
	s1, s2 = f.Select(neg, s1, one), f.Select(neg, s2, one)
	p := f.Mul(x, hi)
	y := f.Add(p, f.Fma(x, lo, f.Fma(x, hi, f.Neg(p))))
	y = f.withSign(f.Mul(f.Mul(y, s1), s2), f.sign(x)) // of a zero, which the sum loses
	return f.Select(f.Lt(f.c(39), x), x, y)
}
