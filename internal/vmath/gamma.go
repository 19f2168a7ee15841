package vmath

import (
	"math"

	"weft/internal/loop"
)

// The gamma family. All of it is computed in float64, which is then exact enough for
// float32. Three ways, by a = |x|:
//   - in [3/4, 19/4) a polynomial for each of eight intervals, whose coefficients are looked
//     up; where the function has a zero the interval lies around it, so that the relative
//     error is small;
//   - below as far as 0 the same polynomials of 1+a and one step of the recurrence;
//   - above, Stirling's formula, whose correction is a fitted polynomial in 1/a^2.
//
// Negative x take the reflection formula. Its sines are of the distance to the nearest integer,
// which is exact. Two terms may cancel: near the zeros of lgamma below -2, and near the zeros of
// digamma below 0, the error is small relative to the terms, not to the result.

// A sum is hi + lo, with a small lo.
type sum struct{ hi, lo loop.Value }

func (f *form) choose(c loop.Value, x, y sum) sum {
	return sum{f.Select(c, x.hi, y.hi), f.Select(c, x.lo, y.lo)}
}

// A gammaArg holds what all functions of this family need of the argument a, which is at least 0.
type gammaArg struct{ a, low, far, y, index loop.Value }

func (f *form) gammaArg(a loop.Value) gammaArg {
	low := f.Lt(a, f.c(0.75))
	// 1+y is a, or 1+a where that is low.
	y := f.Select(low, a, f.Sub(a, f.c(1)))
	return gammaArg{a, low, f.Le(f.c(4.75), a), y, f.toInt(f.Fma(y, f.c(2), f.c(f.shift)))}
}

// piece returns the value of a piecewise polynomial at 1+y.
func (f *form) piece(p [][]float64, g gammaArg) sum {
	at := func(j int) loop.Value { return f.Lookup(p[j], g.index) }
	d := f.Sub(f.Sub(g.y, at(0)), at(1))
	s := at(len(p) - 1)
	for j := len(p) - 2; j >= 4; j-- {
		s = f.Fma(s, d, at(j))
	}
	hi, lo := f.fastSum(at(2), f.Fma(s, d, at(3)))
	return sum{hi, lo}
}

// lnOf returns ln(v) for positive finite v.
func (f *form) lnOf(v loop.Value) sum {
	tiny, huge := f.Lt(v, f.c(0x1p-960)), f.Lt(f.c(0x1p960), v)
	u := f.Mul(v, f.Select(tiny, f.c(0x1p120), f.Select(huge, f.c(0x1p-120), f.c(1))))
	by := f.Select(tiny, f.c(-120), f.Select(huge, f.c(120), f.c(0)))
	hi, lo := f.lnSum(u, func(s loop.Value) loop.Value { return f.Fma(u, s, f.c(-1)) }, by)
	return sum{hi, lo}
}

// lgammaOf is ln(gamma(a)) for a of at least 0 and up to 2^1015, and near is ln(gamma(1+a))
// for a below 3/4.
func (f *form) lgammaOf(a loop.Value) (y, near sum, g gammaArg) {
	g = f.gammaArg(a)
	near = f.piece(lgammaPieces, g)
	ln := f.lnOf(a)
	hi, lo := f.fastSum(f.Neg(ln.hi), near.hi)
	below := sum{hi, f.Add(lo, f.Sub(near.lo, ln.lo))}

	// (a-1/2)(ln(a)-1) + ln(2 pi)/2-1/2 + P(1/a^2)/a
	b, blo := f.fastSum(ln.hi, f.c(-1))
	b, blo = f.fastSum(b, f.Add(blo, ln.lo))
	m := f.Sub(a, f.c(0.5))
	p := f.Mul(m, b)
	plo := f.Fma(m, blo, f.Fma(m, b, f.Neg(p)))
	hi, lo = f.fastSum(p, f.c(halfLn2Pi))
	inv := f.Div(f.c(1), a)
	lo = f.Add(lo, f.Fma(inv, f.poly(f.Mul(inv, inv), lgammaFar), f.Add(plo, f.c(halfLn2PiLo))))
	y = f.choose(g.low, below, f.choose(g.far, sum{hi, lo}, near))
	return y, near, g
}

// ln(2 pi)/2 - 1/2 in two floats.
const halfLn2Pi, halfLn2PiLo = 0x1.acfe390c97d69p-2, 0x1.3494bc9001442p-56

// sinPi is sin(pi*r)/pi for |r| up to 1/2.
func (f *form) sinPi(r loop.Value) sum {
	z := f.Mul(r, r)
	hi, lo := f.fastSum(r, f.Mul(f.Mul(z, r), f.poly(z, sinPi64)))
	return sum{hi, lo}
}

// fromInteger returns a minus the integer nearest to it, which is exact.
func (f *form) fromInteger(a loop.Value) loop.Value { return f.Sub(a, f.Rint(a)) }

// in64 computes a function in float64 for x of either type.
func in64(b *loop.Builder, x loop.Value, fn func(f *form, x loop.Value) loop.Value) loop.Value {
	return b.Cvt(b.Type(x), fn(formOf(b, loop.F64), b.Cvt(loop.F64, x)))
}

// Lgamma is ln(|gamma(x)|), infinite at 0 and the negative integers, at both infinities and
// from where it exceeds the largest number.
func Lgamma(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Abs(x)
		y, near, g := f.lgammaOf(f.Min(f.c(0x1p1015), a))
		v := f.rare(f.Lt(x, f.c(0)), f.Add(y.hi, y.lo), func() loop.Value {
			// gamma(-a) = -1/(sin(pi a)/pi * gamma(1+a))
			r := f.fromInteger(a)
			s := f.Abs(f.sinPi(r).hi)
			ln := f.lnOf(f.Select(g.low, s, f.Mul(s, a)))
			y := f.choose(g.low, near, y)
			hi, lo := f.twoSum(f.Neg(ln.hi), f.Neg(y.hi))
			v := f.Add(hi, f.Sub(lo, f.Add(ln.lo, y.lo)))
			v = f.Select(f.Eq(r, f.c(0)), f.inf(), v)
			return f.Select(f.Lt(x, f.c(0)), v, f.Add(y.hi, y.lo))
		})
		v = f.Select(f.Eq(a, f.c(0)), f.inf(), v)
		return f.Select(f.Lt(f.c(lgammaMost), a), f.inf(), v)
	})
}

// Lgamma1p is ln(gamma(1+x)), accurate where x is small. Requires x of at least 0.
func Lgamma1p(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		_, near, g := f.lgammaOf(f.Min(f.c(0.75), x))
		return f.Select(g.low, f.Add(near.hi, near.lo), Lgamma(b, f.Add(x, f.c(1))))
	})
}

// lgammaMost is the largest number whose lgamma is finite.
const lgammaMost = 0x1.754d9278b51a7p+1014

// Digamma is the derivative of ln(gamma(x)). At -0 and 0 it is infinite, with the sign
// that is not x's, and at negative integers and minus infinity, where it has no limit, NaN: as
// PyTorch and SciPy have it.
func Digamma(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Abs(x)
		g := f.gammaArg(a)
		near := f.piece(digammaPieces, g)
		inv := f.Div(f.c(1), a)
		ln := f.lnOf(a)
		t := f.Mul(inv, inv)
		far := sum{ln.hi, f.Sub(ln.lo, f.Fma(t, f.poly(t, digammaFar), f.Mul(inv, f.c(0.5))))}
		mid := f.choose(g.far, far, near)
		v := f.Add(mid.hi, mid.lo)
		v = f.Select(g.low, f.Add(f.Sub(near.lo, inv), near.hi), v)
		v = f.rare(f.Lt(x, f.c(0)), v, func() loop.Value {
			// digamma(-a) = digamma(1+a) + pi/tan(pi*a), and digamma(1+a) = digamma(a) + 1/a
			r := f.fromInteger(a)
			c, s := f.sinPi(f.Sub(f.c(0.5), f.Abs(r))), f.sinPi(r)
			q := f.Div(c.hi, s.hi)
			qlo := f.Div(f.Fma(f.Neg(q), s.lo, f.Add(f.Fma(f.Neg(q), s.hi, c.hi), c.lo)), s.hi)
			cot := f.Mul(q, f.c(math.Pi))
			lo := f.Fma(qlo, f.c(math.Pi), f.Fma(q, f.c(0x1.1a62633145c07p-53), f.Fma(q, f.c(math.Pi), f.Neg(cot))))
			lo = f.Add(lo, f.Add(mid.lo, f.Select(g.low, f.c(0), inv)))
			hi, rest := f.twoSum(cot, mid.hi)
			n := f.Select(f.Lt(f.Abs(cot), f.inf()), f.Add(hi, f.Add(rest, lo)), cot)
			h := f.Sub(f.Sub(x, f.c(digammaRoot)), f.c(digammaRootLow))
			n = f.Select(f.Lt(f.Abs(h), f.c(0x1p-5)), f.Mul(h, f.poly(h, digammaByRoot)), n)
			n = f.Select(f.Eq(r, f.c(0)), f.nan(), n)
			return f.Select(f.Lt(x, f.c(0)), n, v)
		})
		v = f.Select(f.Eq(a, f.inf()), f.Select(f.Lt(x, f.c(0)), f.nan(), x), v)
		return f.Select(f.Eq(x, f.c(0)), f.Div(f.c(-1), x), v)
	})
}

// digammaRoot and digammaRootLow are the zero of digamma between -1 and 0. The difference of two large numbers has few digits
// by there; digammaByRoot are Taylor's coefficients about it, polygamma(n)/n! for n from 1 on.
const digammaRoot, digammaRootLow = -0x1.02172b05ee260p-1, -0x1.2cd704405bff6p-57

var digammaByRoot = []float64{
	0x1.1e12d46d5ae28p+3, -0x1.9e62874978640p-1, 0x1.02118e3b13c53p+5, -0x1.6168d467b7402p+1,
	0x1.008bfe27eb6dcp+7, -0x1.d69d76e6af355p+3, 0x1.00a29e87b803bp+9, -0x1.2d820c764049fp+6,
	0x1.00f1248d61324p+11, -0x1.70940ec54d8e2p+8, 0x1.015556381b62fp+13, -0x1.b3d755c06e49fp+10,
	0x1.01cb924167d4bp+15, -0x1.f73d172a14145p+12, 0x1.02537a3728edcp+17, -0x1.1d63e4561cc7cp+15,
}

// Trigamma is the derivative of [Digamma]. At 0 and the negative integers it is infinite and
// at minus infinity, where it has no limit, NaN.
func Trigamma(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Abs(x)
		g := f.gammaArg(a)
		near := f.piece(trigammaPieces, g)
		inv := f.Div(f.c(1), a)
		t := f.Mul(inv, inv)
		far := sum{inv, f.Mul(t, f.Fma(inv, f.poly(t, trigammaFar), f.c(0.5)))}
		mid := f.choose(g.far, far, near)
		e := f.Fma(f.Neg(inv), a, f.c(1))
		rest := f.Fma(f.Add(e, e), t, f.Fma(inv, inv, f.Neg(t))) // of 1/a^2 beside t
		v := f.Add(mid.hi, mid.lo)
		v = f.Select(g.low, f.Add(t, f.Select(f.Lt(t, f.inf()), f.Add(rest, v), v)), v)
		v = f.rare(f.Lt(x, f.c(0)), v, func() loop.Value {
			// trigamma(-a) = (pi/sin(pi*a))^2 - trigamma(1+a), and trigamma(1+a) = trigamma(a) - 1/a^2
			s := f.sinPi(f.fromInteger(a))
			q := f.Div(f.c(1), s.hi)
			e := f.Fma(f.Neg(q), s.lo, f.Fma(f.Neg(q), s.hi, f.c(1))) // 1/s is q*(1+e)
			sq := f.Mul(q, q)
			lo := f.Fma(f.Add(e, e), sq, f.Fma(q, q, f.Neg(sq)))
			y := f.Sub(f.Add(mid.hi, mid.lo), f.Select(g.low, f.c(0), t))
			n := f.Select(f.Lt(sq, f.inf()), f.Add(sq, f.Sub(lo, y)), sq)
			n = f.Select(f.Eq(a, f.inf()), f.nan(), n)
			return f.Select(f.Lt(x, f.c(0)), n, v)
		})
		return f.Select(f.Eq(a, f.c(0)), f.inf(), v)
	})
}

// Gamma is the gamma function: infinite at 0 and -0 with the sign of x, and NaN, where it has
// no limit, at the negative integers and minus infinity.
func Gamma(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		// Beyond 172 it is infinite, and below -184 less than half of the least number.
		a, one := f.Abs(x), f.c(1)
		c := f.Min(f.c(200), a)
		g := f.gammaArg(c)
		y := f.piece(lgammaPieces, g) // of 1+c where that is low
		// ln(gamma(c)) as lgammaOf has it, by a logarithm with more bits: what it lacks is
		// multiplied with c.
		n := f.Max(f.c(4), c)
		h, l := f.powLn(n, loop.NoValue)
		h, hlo := f.fastSum(h, f.c(-1))
		m := f.Sub(n, f.c(0.5))
		p := f.Mul(m, h)
		plo := f.Fma(m, f.Add(hlo, l), f.Fma(m, h, f.Neg(p)))
		hi, lo := f.fastSum(p, f.c(halfLn2Pi))
		inv := f.Div(one, n)
		lo = f.Add(lo, f.Fma(inv, f.poly(f.Mul(inv, inv), lgammaFar), f.Add(plo, f.c(halfLn2PiLo))))
		y = f.choose(g.far, sum{hi, lo}, y)
		// gamma(c) = gamma(1+c)/c.
		d := f.Select(g.low, c, one)
		value := func(y sum, d loop.Value) loop.Value {
			u, e := f.expSum(y.hi, y.lo)
			return f.ScaleB(f.Div(u, d), e.k)
		}
		v := f.rare(f.Lt(x, f.c(0)), value(y, d), func() loop.Value {
			// gamma(-c) = -1/(sin(pi c)/pi * gamma(1+c))
			r := f.fromInteger(a)
			s := f.sinPi(r)
			half := f.Mul(f.Rint(a), f.c(0.5))
			even := f.Eq(f.Trunc(half), half)
			by := f.Select(g.low, one, c)
			t := f.Mul(s.hi, by)
			tlo := f.Fma(s.lo, by, f.Fma(s.hi, by, f.Neg(t)))
			lo := f.Neg(f.Add(y.lo, f.Div(tlo, t))) // what t lacks goes into the exponent
			n := value(sum{f.Neg(y.hi), lo}, f.Select(even, f.Neg(t), t))
			n = f.Select(f.Or(f.Eq(r, f.c(0)), f.Eq(a, f.inf())), f.nan(), n)
			return f.Select(f.Lt(x, f.c(0)), n, value(y, d))
		})
		return f.Select(f.Eq(a, f.c(0)), f.Div(one, x), v)
	})
}
