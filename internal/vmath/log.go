package vmath

import (
	"math"

	"weft/internal/loop"
)

// Logarithms. A positive normal number is 2^k*m with m about 1, so its logarithm is
// k*log(2) + log(m): an exact large term and a small one, which a polynomial gives.
//
// Two ways to make log(m) small enough for a short polynomial:
//   - natural logarithms (lnSum) multiply m by a factor c of a table, so that c*m = 1+r with
//     |r| about 1/16 at most: ln(m) = ln(1+r) - ln(c), and -ln(c) is in a table as well;
//   - the other bases (logSum) take m-1 as it is, between -5/16 and 3/8, with a longer
//     polynomial: powers of two then have m = 1, and their log2 is exact.
//
// Both return a sum hi + lo with a small lo; the caller rounds once by adding them up.

// A base holds the constants of logarithms to a base g. Of two numbers the first is for
// float32, the second for float64.
type base struct {
	// log_g(2) is top + end; top has so few bits that its product with an exponent is exact.
	top, end [2]float64
	// log_g(e), which turns natural logarithms into those to base g, is scale + scale2.
	scale, scale2 [2]float64
	// In float32 (log_g(1+x) - x*log_g(e))/x^2 is a polynomial with these coefficients:
	// that of the natural logarithm times scale would round once more.
	tail []float64
}

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

// split returns s = 2^-k and -k for a positive normal number u = 2^k*m below 2^(bias-1),
// where k is such that least <= m < 2*least: u*s is m, exactly.
func (f *form) split(u loop.Value, least float64) (s, nk loop.Value) {
	// The bits of a float, as an integer, grow by 1<<mant when it doubles. So bits(1) +
	// bits(2*least) - 1 - bits(u) has in its upper part the exponent's bits of 2^-k: less by
	// one exactly when u reaches the next 2^k*least.
	top := f.n(f.bias<<f.mant + f.bitsOf(least) + 1<<f.mant - 1)
	s = f.toFloat(f.And(f.Sub(top, f.toInt(u)), f.n(-1<<f.mant)))
	return s, f.LogB(s)
}

// lnSum is the natural logarithm of 2^by*y as hi + lo. u is y rounded to a float, normal and
// below 2^(bias-1): what k and the factor are found from. less computes y*s - 1 for a
// given s with y*s about 1, so that y may have more digits than a float, as Log1p's 1+x
// does. by may be left out (loop.NoValue).
func (f *form) lnSum(u loop.Value, less func(s loop.Value) loop.Value, by loop.Value) (hi, lo loop.Value) {
	// u = 2^k*m, and the table has a factor for each of 16 or 8 intervals of m between 3/4 and
	// 3/2. They are equally long in the bits of m. So subtract from the bits of u the bits of
	// the lower end of the first interval (half an interval below 3/4): the difference has k in
	// its upper part and behind it the number of the interval.
	index := pick[int64](f, 4, 3)
	shift := f.mant - index
	d := f.Add(f.toInt(u), f.n(1<<(shift-1)-f.bitsOf(0.75)))
	whole, interval := f.And(d, f.n(-1<<f.mant)), f.ShrU(d, f.n(shift))
	// s is the factor times 2^-k: k is subtracted from its exponent.
	s := f.toFloat(f.Sub(f.toInt(f.Lookup(pick(f, ln32Factors, ln64Factors), interval)), whole))
	// k as a float, in a unit that costs nothing: float32 converts whole, which is k*2^23, and
	// float64, where not every processor can convert integers, takes the exponent of 2^-k.
	var k loop.Value
	unit := 0x1p-23
	if f.wide {
		k, unit = f.LogB(f.toFloat(f.Sub(f.n(f.bias<<f.mant), whole))), -1
	} else {
		k = f.Cvt(f.t, whole)
	}
	if by != loop.NoValue {
		k = f.Fma(by, f.c(1/unit), k)
	}
	r := less(s)
	// h = k*ln(2) - ln(factor) is exact: both terms are multiples of one small power of two
	// and need few bits.
	h := f.Fma(k, f.c(unit*pick(f, natural.top[0], natural.top[1])), f.Lookup(pick(f, ln32Logs, ln64Logs), interval))
	hi = f.Add(h, r)
	lo = f.Add(f.Sub(h, hi), r) // what hi has rounded away (Dekker)
	lo = f.Fma(k, f.c(unit*pick(f, natural.end[0], natural.end[1])), lo)
	if !f.wide {
		return hi, f.Fma(f.Mul(r, r), f.poly(r, lnRest32), lo)
	}
	// With q = r/(2+r): ln(1+r) = 2*atanh(q) = r - q*(r - q^2*L(q^2)), L being lnRest64.
	q := f.Div(r, f.Add(r, f.c(2)))
	z := f.Mul(q, q)
	return hi, f.Fma(f.Neg(q), f.Fma(f.Neg(z), f.poly(z, lnRest64), r), lo)
}

// lnTail is ln(1+m1) - m1 in float64, for m1 in [-1/3, 3/8).
func (f *form) lnTail(m1 loop.Value) loop.Value {
	// With s = m1/(2+m1): ln(1+m1) = 2*atanh(s) = m1 - m1^2/2 + s*(m1^2/2 + s^2*L(s^2)), L
	// being log64.
	s := f.Div(m1, f.Add(m1, f.c(2)))
	z := f.Mul(s, s)
	half := f.Mul(f.Mul(m1, m1), f.c(0.5))
	inner := f.Fma(z, f.poly(z, log64), half)
	return f.Fma(s, inner, f.Neg(half))
}

// logSum is the logarithm to base g, 2 or 10, of 2^k*(1+m1) as hi + lo, for m1 in
// [-5/16, 3/8). nk is -k.
func (f *form) logSum(g *base, nk, m1 loop.Value) (hi, lo loop.Value) {
	of := func(c [2]float64) loop.Value { return f.c(pick(f, c[0], c[1])) }
	ntop := nk
	if g != &binary {
		ntop = f.Mul(nk, of(g.top))
	}
	p := f.Mul(m1, of(g.scale))
	hi = f.Sub(p, ntop)
	lo = f.Sub(p, f.Add(hi, ntop)) // what hi has rounded away (Dekker)
	if g != &binary {
		lo = f.Fma(nk, f.Neg(of(g.end)), lo)
	}
	// Of m1*scale, which p rounds, the rest; and m1 times the rest of scale.
	lo = f.Add(lo, f.Fma(m1, of(g.scale2), f.Fma(m1, of(g.scale), f.Neg(p))))
	if !f.wide {
		return hi, f.Fma(f.Mul(m1, m1), f.poly(m1, g.tail), lo)
	}
	return hi, f.Fma(f.lnTail(m1), of(g.scale), lo)
}

// normal cuts a positive normal number x = 2^k*(1+m1) below 2^(bias-1) into what logSum
// takes for 2^by*x: nk = -k-by and m1, where least <= 1+m1 < 2*least. m1 is exact.
func (f *form) normal(x loop.Value, least float64, by loop.Value) (nk, m1 loop.Value) {
	s, nk := f.split(x, least)
	if by != loop.NoValue {
		nk = f.Sub(nk, by)
	}
	return nk, f.Fma(x, s, f.c(-1))
}

// logNormal is the logarithm of 2^by*x for positive normal x below 2^(bias-1).
func (f *form) logNormal(g *base, x, by loop.Value) loop.Value {
	if g == &natural {
		return f.Add(f.lnSum(x, func(s loop.Value) loop.Value { return f.Fma(x, s, f.c(-1)) }, by))
	}
	// Between 11/16 and 11/8 the errors of float32 are about as large at both ends, and below
	// 1 ULP; an interval further up or down has a worse end.
	nk, m1 := f.normal(x, 0.6875, by)
	return f.Add(f.logSum(g, nk, m1))
}

// abnormal reports what is not a positive normal number below 2^(bias-1).
func (f *form) abnormal(x loop.Value) loop.Value {
	// One comparison for both ends: the bits of x less the bits of the least normal number,
	// taken as unsigned. The difference is at least span for what is too large, infinite or NaN,
	// and wraps round to large numbers for what is too small, zero or negative. There is no
	// unsigned comparison, so top turns the order of unsigned numbers into the order of signed ones.
	top := pick[int64](f, math.MinInt32, math.MinInt64)
	span := (2*f.bias - 2) << f.mant
	d := f.Add(f.toInt(x), f.n(top-1<<f.mant))
	return f.Lt(f.n(top+span-1), d)
}

// scaled is a positive x = 2^by*u with u normal and below 2^(bias-1).
func (f *form) scaled(x loop.Value) (u, by loop.Value) {
	up := float64(f.mant + 1)
	small := f.Lt(x, f.c(1))
	u = f.Mul(x, f.Select(small, f.c(math.Exp2(up)), f.c(math.Exp2(-up))))
	return u, f.Select(small, f.c(-up), f.c(up))
}

// logEdges is y, but the value of a logarithm where x is zero, infinite, negative
// or NaN.
func (f *form) logEdges(x, y loop.Value) loop.Value {
	y = f.Select(f.Eq(x, f.inf()), x, y)
	y = f.Select(f.Eq(x, f.c(0)), f.c(math.Inf(-1)), y)
	return f.Select(f.Ge(x, f.c(0)), y, f.nan())
}

func (f *form) log(g *base, x loop.Value) loop.Value {
	return f.rare(f.abnormal(x), f.logNormal(g, x, loop.NoValue), func() loop.Value {
		u, by := f.scaled(x)
		return f.logEdges(x, f.logNormal(g, u, by))
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
	unsigned := f.signOf(x) > 0
	u := f.Add(x, f.c(1))
	y := f.Add(f.ln1pSum(x))
	ln := func() loop.Value { return f.logNormal(&natural, f.Mul(u, f.c(0x1p-4)), f.c(4)) }
	if unsigned {
		return f.rare(f.large(x), y, func() loop.Value {
			return f.rare(f.reaches(x, pick(f, 0x1p126, 0x1p1022)), y, func() loop.Value {
				return f.Select(f.Lt(u, f.inf()), ln(), u)
			})
		})
	}
	y = f.rare(f.abnormal(u), y, func() loop.Value { return f.logEdges(u, ln()) })
	return f.withSign(y, f.sign(x)) // of a zero, which the sum loses
}

// ln1pSum is ln(1+x) as hi + lo for -1 < x < 2^(bias-1), but for the sign of zero.
func (f *form) ln1pSum(x loop.Value) (hi, lo loop.Value) {
	// 2^-k*c*(1+x) - 1 = s*x + (s - 1): one rounding, as s has few bits.
	return f.lnSum(f.Add(x, f.c(1)), func(s loop.Value) loop.Value { return f.Fma(x, s, f.Sub(s, f.c(1))) }, loop.NoValue)
}
