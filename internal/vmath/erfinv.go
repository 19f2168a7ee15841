package vmath

import (
	"math"

	"weft/internal/loop"
)

// sqrt(pi)/2 in two floats.
const halfRootPi, halfRootPiLo = 0x1.c5bf891b4ef6bp-1, -0x1.618f13eb7ca89p-55

// erfinvNear is erfinv(x) for |x| up to 1/2.
func (f *form) erfinvNear(x loop.Value) loop.Value {
	z := f.Mul(x, x)
	hi := f.Mul(x, f.c(halfRootPi))
	lo := f.Fma(x, f.c(halfRootPiLo), f.Fma(x, f.c(halfRootPi), f.Neg(hi)))
	return f.Add(hi, f.Fma(f.Mul(z, x), f.poly(z, erfinvNear), lo))
}

// rootLn is s = sqrt(-ln(u*2^by)) as hi + lo, for u = p + plo below 0.76: erfinv(x) is
// between 0.88*s and s for u = 1-x^2.
func (f *form) rootLn(p, plo, by loop.Value) sum {
	hi, lo := f.lnSum(p, func(s loop.Value) loop.Value { return f.Fma(plo, s, f.Fma(p, s, f.c(-1))) }, by)
	w, wlo := f.fastSum(f.Neg(hi), f.Neg(lo))
	s := f.Sqrt(w)
	return sum{s, f.Div(f.Add(f.Fma(f.Neg(s), s, w), wlo), f.Add(s, s))}
}

// erfinvPiece returns s times a ratio, which is a piecewise polynomial of s.
func (f *form) erfinvPiece(p [][]float64, index loop.Value, s sum) loop.Value {
	at := func(j int) loop.Value { return f.Lookup(p[j], index) }
	d := f.Sub(s.hi, at(0))
	q := at(len(p) - 1)
	for j := len(p) - 2; j >= 2; j-- {
		q = f.Fma(q, d, at(j))
	}
	ratio := at(1)
	hi := f.Mul(s.hi, ratio)
	lo := f.Fma(s.hi, ratio, f.Neg(hi))
	return f.Add(hi, f.Fma(s.hi, q, f.Fma(s.lo, ratio, lo)))
}

// erfinvFar is erfinvPiece for s up to 6.3.
func (f *form) erfinvFar(s sum) loop.Value {
	return f.erfinvPiece(erfinvTail, f.toInt(f.Fma(s.hi, f.c(4./3), f.c(f.shift-1))), s)
}

// Erfinv is the inverse of the error function, infinite at -1 and 1.
func Erfinv(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Abs(x)
		c := f.Min(f.c(1-0x1p-53), f.Max(f.c(0.5), a))
		z := f.Mul(c, c)
		p, plo := f.fastSum(f.c(1), f.Neg(z))
		plo = f.Sub(plo, f.Fma(c, c, f.Neg(z)))
		y := f.Select(f.Lt(a, f.c(0.5)), f.erfinvNear(a), f.erfinvFar(f.rootLn(p, plo, loop.NoValue)))
		y = f.Select(f.Lt(a, f.c(1)), y, f.Select(f.Eq(a, f.c(1)), f.inf(), f.nan()))
		return f.withSign(y, f.sign(x))
	})
}

// Erfcinv is the inverse of [Erfc], infinite at 0 and 2.
func Erfcinv(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		near := f.Sub(f.c(1), x)                   // exact from 1/2 to 3/2
		c := f.Min(x, f.Sub(f.c(2), x))            // exact if x is above 1
		c = f.Max(f.c(5e-324), f.Min(f.c(0.5), c)) // 1-(1-x)^2 = x*(2-x)
		tiny := f.Lt(c, f.c(0x1p-900))
		u := f.Select(tiny, f.Mul(c, f.c(0x1p120)), c)
		by := f.Select(tiny, f.c(-120), f.c(0))
		t, tlo := f.fastSum(f.c(2), f.Neg(c))
		p := f.Mul(u, t)
		plo := f.Fma(u, tlo, f.Fma(u, t, f.Neg(p)))
		s := f.rootLn(p, plo, by)
		y := f.rare(f.reaches(s.hi, 6), f.erfinvFar(s), func() loop.Value {
			far := f.erfinvPiece(erfcinvTail, f.toInt(f.Fma(f.Sub(s.hi, f.c(7.5)), f.c(1./3), f.c(f.shift))), s)
			return f.Select(f.Le(f.c(6), s.hi), far, f.erfinvFar(s))
		})
		y = f.Select(f.Lt(f.c(1), x), f.Neg(y), y)
		y = f.Select(f.Lt(f.Abs(near), f.c(0.5)), f.erfinvNear(near), y)
		inside := f.And(f.Lt(f.c(0), x), f.Lt(x, f.c(2)))
		end := f.Select(f.Eq(x, f.c(0)), f.inf(), f.Select(f.Eq(x, f.c(2)), f.c(math.Inf(-1)), f.nan()))
		return f.Select(inside, y, end)
	})
}
