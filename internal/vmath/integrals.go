package vmath

import (
	"math"

	"weft/internal/loop"
)

// Exponential, sine, cosine and Dawson's integrals and the dilogarithm, computed in float64.

// Constants in two floats: Euler's, pi^2/6, pi/2, the zeros of Ei and Ci and 1 over them.
const (
	euler, eulerLo           = 0x1.2788cfc6fb619p-1, -0x1.6cb90701fbfabp-58
	piSixth, piSixthLo       = 0x1.a51a6625307d3p+0, 0x1.1873d8912200cp-55
	halfPi, halfPiLo         = 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54
	expiZero, expiZeroLo     = 0x1.7d72952b4b5fcp-2, 0x1.e4c986021c6f2p-57
	ciZero, ciZeroLo         = 0x1.3ba69b6517559p-1, -0x1.844beee0210fep-55
	overCiZero, overCiZeroLo = 0x1.9f3e611cad397p+0, -0x1.814ca93a6c797p-54
	overExpiZero, overZeroLo = 0x1.579e09014632dp+1, 0x1.e603b03864deap-54
)

// exp1Sum is e^x*E1(x) for x from 1/2 on.
func (f *form) exp1Sum(x loop.Value) sum {
	c := f.clamp(x, halvesEnd, math.MaxFloat64)
	far := f.over(f.farPiece(exp1Far, f.Div(f.c(1), c), farScale), c)
	mid := f.halfPiece(exp1Pieces, f.clamp(x, 0.5, halvesEnd-0x1p-50))
	return f.choose(f.Le(f.c(halvesEnd), x), far, mid)
}

// exp1Of is E1(x) for x of at least 0.
func (f *form) exp1Of(x loop.Value) loop.Value {
	v := f.timesExp(f.exp1Sum(x), f.Neg(x), f.c(0))
	v = f.rare(f.Lt(x, f.c(0.5)), v, func() loop.Value {
		c := f.clamp(x, 5e-324, 0.5)
		ln := f.lnPair(c)
		hi, lo := f.twoSum(f.Neg(ln.hi), f.c(-euler))
		hi, rest := f.twoSum(hi, f.Mul(c, f.poly(c, einNear)))
		y := f.Add(hi, f.Add(rest, f.Sub(f.Sub(lo, ln.lo), f.c(eulerLo))))
		return f.Select(f.Lt(x, f.c(0.5)), y, v)
	})
	return f.Select(f.Eq(x, f.c(0)), f.inf(), f.Select(f.Eq(x, f.inf()), f.c(0), v))
}

// Exp1 is the exponential integral E1: infinite at 0 and NaN below.
func Exp1(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		return f.Select(f.Ge(x, f.c(0)), f.exp1Of(f.Max(f.c(0), x)), f.nan())
	})
}

// lnRatio is ln(x*(by+byLo)) for positive finite x: accurate too where that is near 0.
func (f *form) lnRatio(x loop.Value, by, byLo float64) (hi, lo loop.Value) {
	tiny := f.Lt(x, f.c(0x1p-900))
	u := f.Mul(x, f.Select(tiny, f.c(0x1p120), f.c(1)))
	r := f.Mul(u, f.c(by))
	rest := f.Fma(u, f.c(byLo), f.Fma(u, f.c(by), f.Neg(r)))
	hi, lo = f.lnSum(r, func(s loop.Value) loop.Value { return f.Fma(rest, s, f.Fma(r, s, f.c(-1))) }, f.Select(tiny, f.c(-120), f.c(0)))
	return f.fastSum(hi, lo)
}

// expiOf is Ei(x) for x of at least 0.
func (f *form) expiOf(x loop.Value) loop.Value {
	c := f.clamp(x, 16, math.MaxFloat64)
	far := f.over(f.farPiece(expiFar, f.Div(f.c(1), c), 2*farScale), c)
	mid := f.halfPiece(expiPieces, f.clamp(x, 1, 16-0x1p-49))
	v := f.timesExp(f.choose(f.Le(f.c(16), x), far, mid), x, f.c(0))
	return f.rare(f.Lt(x, f.c(1)), v, func() loop.Value {
		// ln(x/z) + (x-z)*g(x), both of one sign.
		c := f.clamp(x, 5e-324, 1)
		ln, lnlo := f.lnRatio(c, overExpiZero, overZeroLo)
		d := f.Sub(f.Sub(c, f.c(expiZero)), f.c(expiZeroLo))
		s, rest := f.twoSum(ln, f.Mul(d, f.poly(c, expiNear)))
		y := f.Add(s, f.Add(rest, lnlo))
		y = f.Select(f.Eq(x, f.c(0)), f.c(math.Inf(-1)), y)
		return f.Select(f.Lt(x, f.c(1)), y, v)
	})
}

// Expi is the exponential integral Ei, the principal value: minus infinity at 0.
func Expi(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		v := f.rare(f.Lt(x, f.c(0)), f.expiOf(f.Max(f.c(0), x)), func() loop.Value {
			return f.Select(f.Lt(x, f.c(0)), f.Neg(f.exp1Of(f.Max(f.c(0), f.Neg(x)))), f.expiOf(f.Max(f.c(0), x)))
		})
		v = f.Select(f.Lt(f.c(expMost), x), f.inf(), v)
		return f.Select(f.Eq(x, x), v, x)
	})
}

// waveScale is the number of pieces of functions of 1/x^2 from 7.5 on to 1.
const waveScale = 400

// Dawsn is Dawson's integral, exp(-x*x) times the integral of exp(t*t) from 0 to x.
func Dawsn(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Abs(x)
		v := f.rare(f.reaches(a, wholeEnd), f.rounded(f.wholePiece(dawsnPieces, a)), func() loop.Value {
			c := f.clamp(a, wholeEnd, math.MaxFloat64)
			t := f.Div(f.Div(f.c(1), c), c)
			y := f.rounded(f.over(f.farPiece(dawsnFar, t, waveScale), c))
			y = f.Select(f.Eq(a, f.inf()), f.c(0), y)
			y = f.Select(f.Eq(a, a), y, a)
			return f.Select(f.reaches(a, wholeEnd), y, f.rounded(f.wholePiece(dawsnPieces, a)))
		})
		return f.flip(v, f.sign(x))
	})
}

// sinIntegrals returns f(x) and g(x) of DLMF 6.2.17 for x from 7.5 on.
func (f *form) sinIntegrals(x loop.Value) (p, q loop.Value) {
	t := f.Div(f.Div(f.c(1), x), x)
	p = f.rounded(f.over(f.farPiece(sinIntF, t, waveScale), x))
	q = f.Mul(t, f.rounded(f.farPiece(sinIntG, t, waveScale)))
	return p, q
}

// Si is the sine integral, the integral of sin(t)/t from 0 to x.
func Si(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Abs(x)
		v := f.rare(f.reaches(a, wholeEnd), f.rounded(f.wholePiece(siPieces, a)), func() loop.Value {
			c := f.clamp(a, wholeEnd, math.MaxFloat64)
			p, q := f.sinIntegrals(c)
			wave := f.Fma(p, Cos(f.Builder, c), f.Mul(q, Sin(f.Builder, c)))
			hi, lo := f.fastSum(f.c(halfPi), f.Neg(wave))
			y := f.Add(hi, f.Add(lo, f.c(halfPiLo)))
			y = f.Select(f.Eq(a, f.inf()), f.c(halfPi), y)
			y = f.Select(f.Eq(a, a), y, a)
			return f.Select(f.reaches(a, wholeEnd), y, f.rounded(f.wholePiece(siPieces, a)))
		})
		return f.flip(v, f.sign(x))
	})
}

// Ci is the cosine integral, gamma + ln(x) + the integral of (cos(t)-1)/t from 0 to x: minus infinity at 0
// and NaN below. Far out its error is small relative to 1/x, the height of its waves.
func Ci(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		v := f.rounded(f.wholePiece(ciPieces, f.Max(f.c(1.5), x)))
		v = f.rare(f.Lt(x, f.c(1.5)), v, func() loop.Value {
			// ln(x/z) + (x^2-z^2)*h(x^2)
			c := f.clamp(x, 5e-324, 1.5)
			ln, lo := f.lnRatio(c, overCiZero, overCiZeroLo)
			d := f.Mul(f.Sub(f.Sub(c, f.c(ciZero)), f.c(ciZeroLo)), f.Add(c, f.c(ciZero)))
			s, rest := f.twoSum(ln, f.Mul(d, f.poly(f.Mul(c, c), ciNear)))
			y := f.Add(s, f.Add(rest, lo))
			return f.Select(f.Lt(x, f.c(1.5)), y, v)
		})
		v = f.rare(f.Le(f.c(wholeEnd), x), v, func() loop.Value {
			c := f.clamp(x, wholeEnd, math.MaxFloat64)
			p, q := f.sinIntegrals(c)
			y := f.Fma(p, Sin(f.Builder, c), f.Neg(f.Mul(q, Cos(f.Builder, c))))
			y = f.Select(f.Eq(x, f.inf()), f.c(0), y)
			return f.Select(f.Le(f.c(wholeEnd), x), y, v)
		})
		v = f.Select(f.Eq(x, f.c(0)), f.c(math.Inf(-1)), v)
		return f.Select(f.Ge(x, f.c(0)), v, f.nan())
	})
}

// Spence is the integral of ln(t)/(1-t) from 1 to x, the dilogarithm of 1-x: NaN below 0.
func Spence(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		low, high := f.Lt(x, f.c(0.5)), f.Lt(f.c(2), x)
		c := f.clamp(x, 5e-324, 0x1p1000)
		ln := f.lnPair(c)
		v := f.Min(f.c(0.5), f.Select(high, f.Div(f.c(1), c), c))
		u := f.Neg(f.Select(f.Or(low, high), Log1p(f.Builder, f.Neg(v)), f.rounded(ln)))
		// The dilogarithm of 1-exp(-u).
		z := f.Mul(u, u)
		s, slo := f.fastSum(u, f.Fma(f.Mul(z, u), f.poly(z, dilogRest), f.Mul(z, f.c(-0.25))))
		s = f.Add(s, slo)
		// Landen's and the inversion formula (DLMF 25.12.4, 25.12.6).
		p := f.Mul(ln.hi, u)
		hi, lo := f.twoSum(f.c(piSixth), f.Sub(p, s))
		below := f.Add(hi, f.Add(lo, f.c(piSixthLo)))
		square := f.Mul(ln.hi, f.Mul(ln.hi, f.c(-0.5)))
		squareLo := f.Sub(f.Fma(f.Mul(ln.hi, f.c(-0.5)), ln.hi, f.Neg(square)), f.Mul(ln.hi, ln.lo))
		hi, lo = f.twoSum(square, f.c(-piSixth))
		hi, rest := f.twoSum(hi, f.Add(s, p))
		above := f.Add(hi, f.Add(f.Add(rest, lo), f.Sub(squareLo, f.c(piSixthLo))))
		y := f.Select(low, below, f.Select(high, above, s))
		y = f.Select(f.Eq(x, f.c(0)), f.c(piSixth), f.Select(f.Eq(x, f.inf()), f.c(math.Inf(-1)), y))
		return f.Select(f.Ge(x, f.c(0)), y, f.nan())
	})
}
