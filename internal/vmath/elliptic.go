package vmath

import (
	"math"

	"weft/internal/loop"
)

// Complete elliptic integrals of the parameter m, computed in float64 from p = 1-m: by pieces of half
// octaves from 1/16 to 1, below as A(p) - ln(p)*B(p) (DLMF 19.12.1), and above by the transformation of
// imaginary moduli (DLMF 19.7.2).

// complementary returns 1-m, or 1 over it where m is negative.
func (f *form) complementary(m loop.Value) (p, q loop.Value) {
	p = f.Sub(f.c(1), m)
	q = f.Select(f.Lt(f.c(1), p), f.Div(f.c(1), p), p)
	return p, f.clamp(q, 5e-324, 1-0x1p-53)
}

// EllipK is the complete elliptic integral of the first kind: infinite at 1 and NaN above.
func EllipK(b *loop.Builder, m loop.Value) loop.Value {
	return in64(b, m, func(f *form, m loop.Value) loop.Value {
		p, q := f.complementary(m)
		s := f.halfPiece(ellipkPieces, f.Max(f.c(1./16), q))
		s = f.rareSum(f.Lt(q, f.c(1./16)), s, func() sum {
			ln := f.lnPair(q)
			c := f.Min(f.c(1./16), q)
			w := f.Neg(f.poly(c, ellipkB))
			t := f.Mul(ln.hi, w)
			hi, lo := f.twoSum(t, f.poly(c, ellipkA))
			lo = f.Add(lo, f.Fma(ln.lo, w, f.Fma(ln.hi, w, f.Neg(t))))
			return f.choose(f.Lt(q, f.c(1./16)), sum{hi, lo}, s)
		})
		v := f.rare(f.Lt(f.c(1), p), f.rounded(s), func() loop.Value {
			v := f.rounded(f.overRoot(s, f.Min(f.c(math.MaxFloat64), p)))
			return f.Select(f.Lt(f.c(1), p), f.Select(f.Eq(p, f.inf()), f.c(0), v), f.rounded(s))
		})
		v = f.Select(f.Eq(p, f.c(0)), f.inf(), v)
		return f.Select(f.Ge(p, f.c(0)), v, f.nan())
	})
}

// rareSum is rare of a sum.
func (f *form) rareSum(cond loop.Value, s sum, el func() sum) sum {
	v := f.If(cond, func() []loop.Value { e := el(); return []loop.Value{e.hi, e.lo} }, func() []loop.Value { return []loop.Value{s.hi, s.lo} })
	return sum{v[0], v[1]}
}

// EllipE is the complete elliptic integral of the second kind: 1 at 1 and NaN above.
func EllipE(b *loop.Builder, m loop.Value) loop.Value {
	return in64(b, m, func(f *form, m loop.Value) loop.Value {
		p, q := f.complementary(m)
		s := f.halfPiece(ellipePieces, f.Max(f.c(1./16), q))
		v := f.rare(f.Lt(q, f.c(1./16)), f.rounded(s), func() loop.Value {
			ln := f.rounded(f.lnOf(q))
			c := f.Min(f.c(1./16), q)
			rest := f.Fma(f.Neg(ln), f.poly(c, ellipeB), f.poly(c, ellipeA))
			return f.Select(f.Lt(q, f.c(1./16)), f.Fma(c, rest, f.c(1)), f.rounded(s))
		})
		v = f.rare(f.Lt(f.c(1), p), v, func() loop.Value {
			return f.Select(f.Lt(f.c(1), p), f.Mul(v, f.Sqrt(p)), v)
		})
		v = f.Select(f.Eq(p, f.c(0)), f.c(1), v)
		return f.Select(f.Ge(p, f.c(0)), v, f.nan())
	})
}
