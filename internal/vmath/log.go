package vmath

import (
	"math"

	"weft/internal/loop"
)

// A base is that of a logarithm.
type base struct {
	top, end      [2]float64 // its logarithm of 2, as a sum whose first term times an exponent is exact
	scale, scale2 [2]float64 // its logarithm of e, as a sum
	tail          []float64  // of float32, in its own base: scaling ln's would round once more
}

// The second numbers are those of float64.
var (
	natural = base{
		top: [2]float64{0x1.62e4p-1, 0x1.62e42fefa38p-1}, end: [2]float64{0x1.7f7d1cf79abcap-20, 0x1.ef35793c7673p-45},
	}
	binary = base{
		top: [2]float64{1, 1}, scale: [2]float64{0x1.715476p+0, 0x1.71547652b82fep+0}, scale2: [2]float64{0x1.4ae0cp-26, 0x1.777d0ffda0d24p-56}, tail: log232,
	}
	decimal = base{
		top: [2]float64{0x1.344p-2, 0x1.34413509f78p-2}, end: [2]float64{0x1.3509f8p-18, 0x1.fef311f12b358p-46},
		scale: [2]float64{0x1.bcb7b2p-2, 0x1.bcb7b1526e50ep-2}, scale2: [2]float64{-0x1.5b235ep-27, 0x1.95355baaafad3p-57}, tail: log1032,
	}
)

// split cuts a positive normal number u = 2^k*m, least <= m < 2*least: kbits is k
// at the place of the exponent (low bits zero), kf is k.
func (f *form) split(u loop.Value, least float64) (kbits, kf loop.Value) {
	ix := f.Sub(f.toInt(u), f.n(f.bitsOf(least)))
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

// lnTail is ln(1+m1) - m1, plus rest, for m1 in [-1/3, 1/2), or in float32
// [-1/4, 1/2).
func (f *form) lnTail(m1, rest loop.Value) loop.Value {
	sq := f.Mul(m1, m1)
	if !f.wide {
		q := f.Fma(m1, f.poly(m1, log32), f.c(-0.5))
		return f.Fma(sq, q, rest)
	}
	// With s = m1/(2+m1): ln(1+m1) = m1 - m1^2/2 + s*(m1^2/2 + s^2*L(s^2)).
	s := f.Div(m1, f.Add(m1, f.c(2)))
	z := f.Mul(s, s)
	half := f.Mul(sq, f.c(0.5))
	inner := f.Fma(z, f.poly(z, log64), half)
	return f.Fma(s, inner, f.Sub(rest, half))
}

// logSum is the logarithm of 2^kf*(1+m1) as hi + lo, for m1 in [-1/4, 1/2) or,
// other than natural, in [-5/16, 3/8).
func (f *form) logSum(g *base, kf, m1 loop.Value) (hi, lo loop.Value) {
	of := func(c [2]float64) loop.Value { return f.c(pick(f, c[0], c[1])) }
	top := kf
	if g != &binary {
		top = f.Mul(kf, of(g.top))
	}
	if g == &natural {
		hi, lo = f.fastSum(top, m1)
		return hi, f.lnTail(m1, f.Fma(kf, of(g.end), lo))
	}
	p := f.Mul(m1, of(g.scale))
	hi, lo = f.fastSum(top, p)
	if g == &decimal {
		lo = f.Fma(kf, of(g.end), lo)
	}
	lo = f.Add(lo, f.Fma(m1, of(g.scale2), f.Fma(m1, of(g.scale), f.Neg(p))))
	if !f.wide {
		return hi, f.Fma(f.Mul(m1, m1), f.poly(m1, g.tail), lo)
	}
	return hi, f.Fma(f.lnTail(m1, f.c(0)), of(g.scale), lo)
}

// normal is a positive normal number x = 2^(kf-by)*(1+m1), least <= 1+m1 < 2*least.
func (f *form) normal(x loop.Value, least, by float64) (kf, m1 loop.Value) {
	kb, kf := f.split(x, least)
	if by != 0 {
		kf = f.Add(kf, f.c(by))
	}
	return kf, f.Sub(f.toFloat(f.Sub(f.toInt(x), kb)), f.c(1))
}

// logNormal is the logarithm of 2^by*x for positive normal x.
func (f *form) logNormal(g *base, x loop.Value, by float64) loop.Value {
	least := 0.75
	if g != &natural {
		least = 0.6875 // float32 needs the interval in which errors balance
	}
	kf, m1 := f.normal(x, least, by)
	return f.Add(f.logSum(g, kf, m1))
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

// logEdges is y, but the value of a logarithm where x is zero, infinite, negative
// or NaN.
func (f *form) logEdges(x, y loop.Value) loop.Value {
	y = f.Select(f.Eq(x, f.inf()), x, y)
	y = f.Select(f.Eq(x, f.c(0)), f.c(math.Inf(-1)), y)
	return f.Select(f.Ge(x, f.c(0)), y, f.nan())
}

func (f *form) log(g *base, x loop.Value) loop.Value {
	return f.rare(f.abnormal(x), f.logNormal(g, x, 0), func() loop.Value {
		up := float64(f.mant + 1) // makes subnormal numbers normal
		return f.logEdges(x, f.logNormal(g, f.Mul(x, f.c(math.Ldexp(1, int(up)))), -up))
	})
}

// Log is the natural logarithm.
func Log(b *loop.Builder, x loop.Value) loop.Value { return of(b, x).log(&natural, x) }

// Log2 is the logarithm to base 2; it is exact for powers of two.
func Log2(b *loop.Builder, x loop.Value) loop.Value { return of(b, x).log(&binary, x) }

// Log10 is the logarithm to base 10.
func Log10(b *loop.Builder, x loop.Value) loop.Value { return of(b, x).log(&decimal, x) }

// Log1p is ln(1+x), accurate near zero.
func Log1p(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	big := f.c(pick(f, 0x1p126, 0x1p1022))
	ok := f.And(f.Lt(f.c(-1), x), f.Lt(x, big))
	y := f.rare(f.Not(ok), f.Add(f.ln1pSum(x)), func() loop.Value {
		u := f.Add(x, f.c(1))
		return f.logEdges(u, f.logNormal(&natural, u, 0))
	})
	return f.withSign(y, f.sign(x)) // of a zero, which the sum loses
}

// ln1pSum is ln(1+x) as hi + lo for -1 < x < 2^(bias-1), but for the sign of zero.
func (f *form) ln1pSum(x loop.Value) (hi, lo loop.Value) {
	kb, kf := f.split(f.Add(x, f.c(1)), 0.75)
	// m - 1 = 2^-k*(1+x) - 1 = 2^-k*x + (2^-k - 1): exact, since for m in
	// [0.75, 1.5) the sum obeys Sterbenz's lemma unless its second term is zero.
	s := f.toFloat(f.Sub(f.n(f.bias<<f.mant), kb))
	return f.logSum(&natural, kf, f.Fma(x, s, f.Sub(s, f.c(1))))
}
