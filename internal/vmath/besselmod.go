package vmath

import (
	"math"

	"weft/internal/loop"
)

// Modified Bessel functions of orders 0 and 1, computed in float64. Each is a table of pieces beside the
// origin and the square root's product with an exponential and a piecewise polynomial in 1/x far out.
// K has a logarithm at 0: below 1/2 that is computed apart (DLMF 10.31).
type modified struct {
	i, ie, iFar  [][]float64
	k, kFar      [][]float64
	iNear, kRest []float64
	order        int
}

var modifieds = [2]modified{
	{i0Pieces, i0ePieces, i0eFar, k0ePieces, k0eFar, i0Near, k0Rest, 0},
	{i1Pieces, i1ePieces, i1eFar, k1ePieces, k1eFar, i1Near, k1Rest, 1},
}

const (
	// wholeEnd is where pieces around whole numbers end.
	wholeEnd = 7.5
	// halvesEnd is where pieces of half octaves from 1/2 on end.
	halvesEnd = 8
	// farScale is the number of pieces of the functions of 1/x from there on to 1.
	farScale = 56
	// expMost is a number whose exponential, also divided by it, overflows.
	expMost = 720
)

// wholePiece is the value of pieces around whole numbers, for a from 0 to 7.5.
func (f *form) wholePiece(p [][]float64, a loop.Value) sum {
	a = f.Min(f.c(wholeEnd), a)
	return f.piece(p, gammaArg{y: a, index: f.toInt(f.Add(a, f.c(f.shift)))})
}

// halfPiece is the value of pieces of half octaves, which a is in.
func (f *form) halfPiece(p [][]float64, a loop.Value) sum {
	return f.piece(p, gammaArg{y: a, index: f.ShrU(f.toInt(a), f.n(f.mant-1))})
}

// farPiece is the value of pieces around the first eight multiples of 1/scale.
func (f *form) farPiece(p [][]float64, t loop.Value, scale float64) sum {
	return f.piece(p, gammaArg{y: t, index: f.toInt(f.Fma(t, f.c(scale), f.c(f.shift)))})
}

// overRoot is s/sqrt(x).
func (f *form) overRoot(s sum, x loop.Value) sum {
	root := f.Sqrt(x)
	q := f.Div(s.hi, root)
	rootLo := f.Div(f.Fma(f.Neg(root), root, x), f.Add(root, root))
	rest := f.Add(f.Fma(f.Neg(q), root, s.hi), f.Fma(f.Neg(q), rootLo, s.lo))
	return sum{q, f.Div(rest, root)}
}

// over is s/x.
func (f *form) over(s sum, x loop.Value) sum {
	q := f.Div(s.hi, x)
	return sum{q, f.Div(f.Add(f.Fma(f.Neg(q), x, s.hi), s.lo), x)}
}

// timesExp is s*e^(p+plo), rounded once.
func (f *form) timesExp(s sum, p, plo loop.Value) loop.Value {
	w, e := f.expRest(p, plo)
	return f.ScaleB(f.Add(s.hi, f.Fma(s.hi, w, f.Fma(s.lo, w, s.lo))), e.k)
}

// lnPair is ln(v) for positive finite v, its hi the rounded logarithm.
func (f *form) lnPair(v loop.Value) sum {
	ln := f.lnOf(v)
	hi, lo := f.fastSum(ln.hi, ln.lo)
	return sum{hi, lo}
}

// rounded is hi + lo.
func (f *form) rounded(s sum) loop.Value { return f.Add(s.hi, s.lo) }

func besselI(b *loop.Builder, x loop.Value, o *modified, scaled bool) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Abs(x)
		table := o.i
		if scaled {
			table = o.ie
		}
		v := f.rare(f.reaches(a, wholeEnd), f.rounded(f.wholePiece(table, a)), func() loop.Value {
			c := f.clamp(a, wholeEnd, math.MaxFloat64)
			far := f.overRoot(f.farPiece(o.iFar, f.Div(f.c(1), c), farScale), c)
			var y loop.Value
			if scaled {
				y = f.Select(f.Eq(a, f.inf()), f.c(0), f.rounded(far))
			} else {
				y = f.Select(f.Lt(f.c(expMost), a), f.inf(), f.timesExp(far, c, f.c(0)))
			}
			y = f.Select(f.Eq(a, a), y, a)
			return f.Select(f.reaches(a, wholeEnd), y, f.rounded(f.wholePiece(table, a)))
		})
		if o.order == 1 {
			v = f.flip(v, f.sign(x))
		}
		return v
	})
}

// besselKNear is K(x) for 0 < x < 1/2.
func (f *form) besselKNear(o *modified, x loop.Value) sum {
	// ln(2/x)
	ln := f.lnPair(x)
	hi, lo := f.twoSum(f.c(ln2Hi64), f.Neg(ln.hi))
	lo = f.Add(lo, f.Sub(f.c(ln2Lo64), ln.lo))
	z := f.Mul(x, x)
	if o.order == 0 {
		s, slo := f.twoSum(hi, f.poly(z, o.kRest))
		return sum{s, f.Add(slo, f.Fma(f.Mul(hi, z), f.poly(z, o.iNear), lo))}
	}
	inv := f.Div(f.c(1), x)
	rest := f.Fma(f.Neg(f.Add(hi, lo)), f.poly(z, o.iNear), f.poly(z, o.kRest))
	return sum{inv, f.Fma(x, rest, f.Mul(inv, f.Fma(f.Neg(inv), x, f.c(1))))}
}

func besselK(b *loop.Builder, x loop.Value, o *modified, scaled bool) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		c := f.clamp(x, halvesEnd, math.MaxFloat64)
		far := f.overRoot(f.farPiece(o.kFar, f.Div(f.c(1), c), farScale), c)
		mid := f.halfPiece(o.k, f.clamp(x, 0.5, halvesEnd-0x1p-50))
		s := f.choose(f.Le(f.c(halvesEnd), x), far, mid)
		v := f.rounded(s)
		if !scaled {
			v = f.timesExp(s, f.Neg(x), f.c(0))
		}
		v = f.rare(f.Lt(x, f.c(0.5)), v, func() loop.Value {
			c := f.clamp(x, 0x1p-1022, 0.5)
			near := f.besselKNear(o, c)
			y := f.rounded(near)
			if scaled {
				y = f.timesExp(near, c, f.c(0))
			}
			if o.order == 0 { // of subnormal numbers the logarithm is left
				ln := f.lnOf(f.Max(f.c(5e-324), x))
				small := f.Sub(f.c(0.1159315156584124488), f.rounded(ln)) // ln(2)-gamma
				y = f.Select(f.Lt(x, f.c(0x1p-1022)), small, y)
			} else {
				y = f.Select(f.Lt(x, f.c(0x1p-1022)), f.Div(f.c(1), f.Abs(x)), y)
			}
			return f.Select(f.Lt(x, f.c(0.5)), y, v)
		})
		v = f.Select(f.Eq(x, f.c(0)), f.inf(), f.Select(f.Eq(x, f.inf()), f.c(0), v))
		return f.Select(f.Ge(x, f.c(0)), v, f.nan())
	})
}

// I0 is the modified Bessel function of the first kind of order 0.
func I0(b *loop.Builder, x loop.Value) loop.Value { return besselI(b, x, &modifieds[0], false) }

// I1 is the modified Bessel function of the first kind of order 1, with the sign of x.
func I1(b *loop.Builder, x loop.Value) loop.Value { return besselI(b, x, &modifieds[1], false) }

// I0e is exp(-|x|) times [I0].
func I0e(b *loop.Builder, x loop.Value) loop.Value { return besselI(b, x, &modifieds[0], true) }

// I1e is exp(-|x|) times [I1].
func I1e(b *loop.Builder, x loop.Value) loop.Value { return besselI(b, x, &modifieds[1], true) }

// K0 is the modified Bessel function of the second kind of order 0: infinite at 0, and NaN below.
func K0(b *loop.Builder, x loop.Value) loop.Value { return besselK(b, x, &modifieds[0], false) }

// K1 is the modified Bessel function of the second kind of order 1: infinite at 0, and NaN below.
func K1(b *loop.Builder, x loop.Value) loop.Value { return besselK(b, x, &modifieds[1], false) }

// K0e is exp(x) times [K0].
func K0e(b *loop.Builder, x loop.Value) loop.Value { return besselK(b, x, &modifieds[0], true) }

// K1e is exp(x) times [K1].
func K1e(b *loop.Builder, x loop.Value) loop.Value { return besselK(b, x, &modifieds[1], true) }
