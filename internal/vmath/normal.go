package vmath

import (
	"math"

	"weft/internal/loop"
)

// Functions of the normal distribution beside the error function, computed in float64.

// 1/sqrt(pi) and 1/sqrt(2) in two floats.
const (
	overRootPi, overRootPiLo = 0x1.20dd750429b6dp-1, 0x1.1ae3a914fed80p-57
	overRoot2, overRoot2Lo   = 0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55
)

// erfcxEnd is where erfcxOf ends and the asymptotic series begins.
const erfcxEnd = 28

// erfcxSum is exp(a^2)*erfc(a) at a+alo for a of at least 0.
func (f *form) erfcxSum(a, alo loop.Value) sum {
	q, rest, inv := f.erfcxOf(f.Min(f.c(erfcxEnd), a), alo)
	near := sum{q, f.Mul(rest, inv)}
	c := f.clamp(a, erfcxEnd, math.MaxFloat64)
	s := f.over(sum{f.c(overRootPi), f.c(overRootPiLo)}, c)
	// DLMF 7.12.1, of t = 1/(2a^2).
	t := f.Div(f.Div(f.c(0.5), c), c)
	w := f.Mul(f.Neg(t), f.poly(f.Neg(t), []float64{1, 3, 15, 105, 945, 10395, 135135}))
	if alo != loop.NoValue {
		w = f.Sub(w, f.Div(alo, c))
	}
	return f.choose(f.Lt(a, f.c(erfcxEnd)), near, sum{s.hi, f.Fma(s.hi, w, s.lo)})
}

// Erfcx is exp(x*x)*erfc(x), which neither underflows nor cancels for large x.
func Erfcx(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Abs(x)
		y := f.rounded(f.erfcxSum(a, loop.NoValue))
		y = f.Select(f.Eq(a, f.inf()), f.c(0), y)
		y = f.rare(f.Lt(x, f.c(0)), y, func() loop.Value {
			c := f.Min(f.c(30), a)
			h := f.Mul(c, c)
			up := f.timesExp(sum{f.c(2), f.c(0)}, h, f.Fma(c, c, f.Neg(h)))
			return f.Select(f.Lt(x, f.c(0)), f.Sub(up, y), y)
		})
		return f.Select(f.Eq(x, x), y, x)
	})
}

// overRootOf2 returns a/sqrt(2).
func (f *form) overRootOf2(a loop.Value) sum {
	hi := f.Mul(a, f.c(overRoot2))
	return sum{hi, f.Fma(a, f.c(overRoot2Lo), f.Fma(a, f.c(overRoot2), f.Neg(hi)))}
}

// Ndtr is the distribution function of the normal distribution.
func Ndtr(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Min(f.c(39), f.Abs(x))
		h := f.Mul(f.Mul(a, a), f.c(-0.5))
		arg := f.overRootOf2(a)
		w := f.erfcOf(arg.hi, arg.lo, h, f.Neg(f.Fma(f.Mul(a, f.c(0.5)), a, h)))
		w.bits = f.Sub(w.bits, f.n(1))
		y := f.value(w)
		y = f.Select(f.Lt(x, f.c(0)), y, f.Sub(f.c(1), y))
		return f.Select(f.Eq(x, x), y, x)
	})
}

// LogNdtr is the logarithm of [Ndtr].
func LogNdtr(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Min(f.c(math.MaxFloat64), f.Abs(x))
		half := f.Mul(a, f.c(0.5))
		h := f.Neg(f.Mul(a, half))
		l := f.Neg(f.Fma(half, a, h))
		arg := f.overRootOf2(a)
		// Below 0 ln(erfcx(a/sqrt(2))/2) - a^2/2, both of one sign.
		s := f.erfcxSum(arg.hi, arg.lo)
		hi, lo := f.lnSum(s.hi, func(v loop.Value) loop.Value { return f.Fma(s.lo, v, f.Fma(s.hi, v, f.c(-1))) }, f.c(-1))
		top, rest := f.twoSum(h, hi)
		below := f.Add(top, f.Add(rest, f.Add(lo, l)))
		below = f.Select(f.Lt(h, f.c(-1e290)), h, below)
		above := Log1p(f.Builder, f.Neg(Ndtr(f.Builder, f.Neg(a))))
		y := f.Select(f.Lt(x, f.c(0)), below, above)
		y = f.Select(f.Eq(x, f.c(math.Inf(-1))), x, y)
		return f.Select(f.Eq(x, x), y, x)
	})
}

// ndtriFrom is where the pieces of ndtri begin.
const ndtriFrom = 0x1p-9

// Ndtri is the inverse of [Ndtr], infinite at 0 and 1. For the smaller tail q from ndtriFrom on it is q-1/2 times a
// polynomial of q, one for each octave: neither a logarithm nor a root. Of 1000 uniform numbers 4 are further out.
func Ndtri(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		q := f.Min(x, f.Sub(f.c(1), x))
		octave := f.ShrU(f.Sub(f.toInt(q), f.n(1)), f.n(f.mant))
		at := func(j int) loop.Value { return f.Lookup(ndtriPieces[j], octave) }
		u, last := f.Sub(q, at(0)), len(ndtriPieces)-1
		rest := at(last)
		for j := last - 1; j >= 2; j-- {
			rest = f.Fma(rest, u, at(j))
		}
		d := f.Sub(q, f.c(0.5))
		dlo := f.Sub(q, f.Add(d, f.c(0.5)))
		hi := f.Mul(d, at(1))
		lo := f.Fma(dlo, at(1), f.Fma(d, at(1), f.Neg(hi)))
		y := f.Add(hi, f.Fma(d, rest, lo))
		y = f.Select(f.Lt(f.c(0.5), x), f.Neg(y), y)
		far := f.Not(f.Lt(f.c(ndtriFrom), q))
		return f.rare(far, y, func() loop.Value {
			z := Erfcinv(f.Builder, f.Add(x, x))
			r := f.Sub(f.c(0), f.Fma(z, f.c(2*overRoot2), f.Mul(z, f.c(2*overRoot2Lo))))
			return f.Select(far, f.Select(f.Lt(f.Abs(z), f.inf()), r, f.Neg(z)), y)
		})
	})
}
