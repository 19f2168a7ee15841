package vmath

import (
	"math"

	"weft/internal/loop"
)

// Bessel functions of orders 0 and 1, computed in float64 also for float32. Below 7.5 they are
// piecewise polynomials as in the gamma family, one piece around each zero. From there on they are
// waves whose amplitude and phase are polynomials in 1/x^2. Near zeros of the waves the error is
// small relative to the amplitude.
type bessel struct {
	j, y                [][]float64
	height, phase, rest []float64
	order               int
}

var bessels = [2]bessel{
	{j0Pieces, y0Pieces, besselHeight0, besselPhase0, y0Rest, 0},
	{j1Pieces, y1Pieces, besselHeight1, besselPhase1, y1Rest, 1},
}

// pi/4 and 3pi/4 in two floats.
const (
	quarterPi, quarterPiLo = 0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55
	threePi4, threePi4Lo   = 0x1.2d97c7f3321d2p1, 0x1.a79394c9e8a0ap-54
)

// wave returns a Bessel function for x from 7.5 on: its amplitude times sin(x+pi/4+phase) or, if
// not ahead, times sin(x-pi/4+phase).
func (f *form) wave(o *bessel, x loop.Value, ahead bool) loop.Value {
	inv := f.Div(f.c(1), x)
	t := f.Mul(inv, inv)
	y := f.sinAround(x, f.Mul(inv, f.poly(t, o.phase)), ahead)
	return f.Mul(f.Div(f.poly(t, o.height), f.Sqrt(x)), y)
}

// sinAround is sin(x+pi/4+phase) or, if not ahead, sin(x-pi/4+phase), for |phase| up to 1/2.
func (f *form) sinAround(x, phase loop.Value, ahead bool) loop.Value {
	w := f.angleOf(x, byPi, true)
	// A quarter less or three quarters more of pi: what is nearer to 0.
	v, s := f.Add(w.hi, phase), 1.0
	beyond := f.Lt(f.c(quarterPi), v)
	if !ahead {
		s = -1
		beyond = f.Lt(v, f.c(-quarterPi))
	}
	c, clo := f.Select(beyond, f.c(-s*threePi4), f.c(s*quarterPi)), f.Select(beyond, f.c(-s*threePi4Lo), f.c(s*quarterPiLo))
	hi, lo := f.twoSum(w.hi, c)
	hi, rest := f.twoSum(hi, phase)
	hi, lo = f.twoSum(hi, f.Add(rest, f.Add(lo, f.Sub(clo, w.nlo))))
	y := f.sinOf(angle{hi: hi, count: f.n(0)})
	y = f.Add(y, f.Mul(lo, f.Fma(f.Mul(hi, hi), f.c(-4/(math.Pi*math.Pi)), f.c(1))))
	return f.flip(y, f.lowBit(f.Add(w.count, f.Select(beyond, f.n(1), f.n(0)))))
}

// besselPiece returns the value of the piecewise polynomial for a from 0 to 7.5.
func (f *form) besselPiece(p [][]float64, a loop.Value) loop.Value {
	s := f.piece(p, gammaArg{y: a, index: f.toInt(f.Add(a, f.c(f.shift)))})
	return f.Add(s.hi, s.lo)
}

func besselJ(b *loop.Builder, x loop.Value, o *bessel) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Abs(x)
		v := f.rare(f.reaches(a, 7.5), f.besselPiece(o.j, f.Min(f.c(7.5), a)), func() loop.Value {
			return f.Select(f.Eq(a, f.inf()), f.c(0), f.wave(o, f.Max(f.c(7.5), a), o.order == 0))
		})
		if o.order == 1 {
			v = f.flip(v, f.sign(x))
		}
		return v
	})
}

func besselY(b *loop.Builder, x loop.Value, o *bessel) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		v := f.besselPiece(o.y, f.clamp(x, 1.5, 7.5))
		v = f.rare(f.Lt(x, f.c(1.5)), v, func() loop.Value {
			c := f.clamp(x, 5e-324, 1.5)
			s := f.lnOf(c)
			z := f.Mul(c, c)
			ln := f.Mul(f.Add(s.hi, s.lo), f.besselPiece(o.j, c))
			rest := f.poly(z, o.rest)
			if o.order == 0 {
				return f.Fma(ln, f.c(2/math.Pi), rest)
			}
			return f.Sub(f.Fma(ln, f.c(2/math.Pi), f.Mul(c, rest)), f.Div(f.c(2/math.Pi), c))
		})
		v = f.rare(f.Le(f.c(7.5), x), v, func() loop.Value {
			y := f.wave(o, f.Max(f.c(7.5), x), o.order == 1)
			if o.order == 1 {
				y = f.Neg(y)
			}
			return f.Select(f.Eq(x, f.inf()), f.c(0), y)
		})
		v = f.Select(f.Eq(x, f.c(0)), f.c(math.Inf(-1)), v)
		return f.Select(f.Ge(x, f.c(0)), v, f.nan())
	})
}

// J0 is Bessel's function of the first kind of order 0, and 0 at infinity.
func J0(b *loop.Builder, x loop.Value) loop.Value { return besselJ(b, x, &bessels[0]) }

// J1 is Bessel's function of the first kind of order 1, with the sign of x.
func J1(b *loop.Builder, x loop.Value) loop.Value { return besselJ(b, x, &bessels[1]) }

// Y0 is Bessel's function of the second kind of order 0: minus infinity at 0, and NaN below.
func Y0(b *loop.Builder, x loop.Value) loop.Value { return besselY(b, x, &bessels[0]) }

// Y1 is Bessel's function of the second kind of order 1: minus infinity at 0, and NaN below.
func Y1(b *loop.Builder, x loop.Value) loop.Value { return besselY(b, x, &bessels[1]) }
