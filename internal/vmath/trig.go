package vmath

import (
	"math"

	"weft/internal/loop"
)

// Half pi as a sum of floats. Each is below the exact rest, so that the sign of
// a zero comes through; the second is so short that its product with any count
// below the bound for hugeAngle is exact.
var (
	halfPi32 = [3]float64{0x1.921fb4p+0, 0x1.444p-24, 0x1.68c234p-39}
	halfPi64 = [3]float64{0x1.921fb54442d18p+0, 0x1.1a62633p-54, 0x1.45c06e0e68948p-86}
)

// A period is what angleOf takes multiples of out of an argument.
type period int

const (
	byPi       period = iota // count*pi
	byHalfPi                 // count*pi/2
	byEighthPi               // count*pi/8, of float32
	byOddPi                  // (count+1/2)*pi
)

// bits is the logarithm to base two of how many are in pi.
func (by period) bits() int { return [...]int{0, 1, 3, 0}[by] }

// An angle is what is left of an argument: hi-nlo. The low bits of count tell how
// many multiples were taken out, modulo as many as are in two pi.
type angle struct{ hi, nlo, count loop.Value }

// angleOf takes the nearest multiple out of x, which for byOddPi is not negative.
// Without low, hi is all.
func (f *form) angleOf(x loop.Value, by period, low bool) angle {
	magic := f.c(f.shift)
	unit := math.Ldexp(1, -by.bits())
	inv := f.c(1 / math.Pi / unit)
	var t, k loop.Value
	if by == byOddPi {
		t = f.Add(f.Fma(x, inv, f.c(-0.5)), magic)
		k = f.Add(f.Sub(t, magic), f.c(0.5))
	} else {
		t = f.Fma(x, inv, magic)
		k = f.Sub(t, magic)
	}
	parts := pick(f, halfPi32, halfPi64)
	part := func(i int) float64 { return parts[i] * 2 * unit }
	// The first step is exact: what is left is a multiple of the last bit of pi
	// or of x, and below two. So is the second where it cancels; elsewhere nlo is
	// exactly what it rounds.
	r := f.Fma(k, f.c(-part(0)), x)
	hi := f.Fma(k, f.c(-part(1)), r)
	var nlo loop.Value
	if low {
		nlo = f.Fma(k, f.c(part(2)), f.Fma(k, f.c(part(1)), f.Sub(hi, r)))
	} else {
		hi = f.Fma(k, f.c(-part(2)), hi)
	}

	a := f.Abs(x)
	v := f.If(f.large(a), func() []loop.Value {
		w := f.hugeAngle(a, by, low)
		s := f.sign(x)
		n := f.Select(f.Lt(x, f.c(0)), f.Sub(f.n(0), w.count), w.count)
		out := []loop.Value{f.flip(w.hi, s), n}
		if low {
			out = append(out, f.flip(w.nlo, s))
		}
		return out
	}, func() []loop.Value {
		out := []loop.Value{hi, f.toInt(t)}
		if low {
			out = append(out, nlo)
		}
		return out
	})
	return angle{v[0], v[len(v)-1], v[1]}
}

// lowBit is the lowest bit of n at the place of the sign.
func (f *form) lowBit(n loop.Value) loop.Value {
	return f.Shl(n, f.n(f.mant+f.expBits()))
}

// sinOf is sin(hi) of float64, its sign changed when count is odd, for |hi| up to
// pi/2. Zero keeps its sign.
func (f *form) sinOf(w angle) loop.Value {
	z := f.Mul(w.hi, w.hi)
	y := f.Sub(w.hi, f.Fma(f.Mul(z, w.hi), f.poly(z, negated(sin64)), f.c(0)))
	return f.flip(y, f.lowBit(w.count))
}

// tableSin is the sine of hi-nlo + count*pi/8 of float32. With the signs as they are
// zero keeps its own.
func (f *form) tableSin(w angle) loop.Value {
	z := f.Mul(w.hi, w.hi)
	nsin, cos := f.Lookup(sin32Table, w.count), f.Lookup(cos32Table, w.count)
	// The least terms come first.
	n := f.Fma(f.Mul(nsin, z), f.poly(z, cos32Rest), f.Lookup(sin32Low, w.count))
	n = f.Fma(cos, f.Fma(f.Mul(z, w.hi), f.poly(z, negated(sin32Rest)), w.nlo), n)
	return f.Sub(f.Fma(cos, w.hi, f.Neg(n)), nsin)
}

// negated returns the coefficients of the negative polynomial.
func negated(coef []float64) []float64 {
	out := make([]float64, len(coef))
	for i, c := range coef {
		out[i] = -c
	}
	return out
}

// Sin is the sine of x in radians.
func Sin(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	if f.wide {
		return f.sinOf(f.angleOf(x, byPi, false))
	}
	return f.tableSin(f.angleOf(x, byEighthPi, true))
}

// Cos is the cosine of x in radians.
func Cos(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	if f.wide {
		// sin(r + (n+1/2)*pi + pi/2) = -(-1)^n sin(r)
		return f.Neg(f.sinOf(f.angleOf(f.Abs(x), byOddPi, false)))
	}
	w := f.angleOf(f.Abs(x), byEighthPi, true)
	w.count = f.Add(w.count, f.n(4))
	return f.tableSin(w)
}

// Tan is the tangent of x in radians.
func Tan(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	w := f.angleOf(f.Abs(x), byHalfPi, true)
	z := f.Mul(w.hi, w.hi)
	// lo counts with 1+tan^2, for which a parabola does.
	lo := f.Neg(f.Fma(f.Mul(z, f.c(16/(math.Pi*math.Pi))), w.nlo, w.nlo))
	cube := f.Mul(z, w.hi)
	if !f.wide {
		// The roundings of square and cube count only where the polynomial is
		// about 0.44, towards pi/4.
		e := f.Fma(f.Fma(w.hi, w.hi, f.Neg(z)), w.hi, f.Fma(z, w.hi, f.Neg(cube)))
		lo = f.Fma(e, f.c(0.44), lo)
	}
	t, low := f.fastSum(w.hi, f.Fma(cube, f.poly(z, pick(f, tan32, tan64)), lo))
	// tan(r + pi/2) = -1/tan(r), corrected by what the quotient lacks.
	q := f.Div(f.c(-1), t)
	q = f.Fma(q, f.Fma(q, low, f.Fma(q, t, f.c(1))), q)
	odd := f.Ne(f.And(w.count, f.n(1)), f.n(0))
	return f.flip(f.Select(odd, q, t), f.sign(x))
}
