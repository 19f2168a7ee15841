package vmath

import (
	"math"

	"weft/internal/loop"
)

// Half pi as a sum of floats. The second is so short that its product with any
// count below the bound for hugeAngle is exact.
var (
	halfPi32 = [3]float64{0x1.921fb6p+0, -0x1.778000p-25, 0x1.68c234p-39}
	halfPi64 = [3]float64{0x1.921fb54442d18p+0, 0x1.1a62633p-54, 0x1.45c06e0e68948p-86}
)

// A period is what angleOf takes multiples of out of an argument.
type period int

const (
	byHalfPi period = iota // count*pi/2
	byPi                   // count*pi
	byOddPi                // (count+1/2)*pi
)

// An angle is what is left of an argument: hi+lo. The low bits of count tell how
// many multiples were taken out, modulo four for byHalfPi and else modulo two.
type angle struct{ hi, lo, count loop.Value }

// angleOf takes the nearest multiple out of a >= 0.
func (f *form) angleOf(a loop.Value, by period) angle {
	magic := f.c(f.shift)
	unit := 1.0
	if by == byHalfPi {
		unit = 0.5
	}
	inv := f.c(1 / math.Pi / unit)
	var t, k loop.Value
	if by == byOddPi {
		t = f.Add(f.Fma(a, inv, f.c(-0.5)), magic)
		k = f.Add(f.Sub(t, magic), f.c(0.5))
	} else {
		t = f.Fma(a, inv, magic)
		k = f.Sub(t, magic)
	}
	parts := pick(f, halfPi32, halfPi64)
	part := func(i int) loop.Value { return f.c(-parts[i] * 2 * unit) }
	// The first step is exact: what is left is a multiple of the last bit of pi
	// or of a, and below two. So is the second where it cancels; elsewhere lo is
	// exactly what it rounds.
	r := f.Fma(k, part(0), a)
	hi := f.Fma(k, part(1), r)
	lo := f.Fma(k, part(1), f.Sub(r, hi))
	lo = f.Fma(k, part(2), lo)

	huge := f.Not(f.Lt(a, f.c(pick(f, 0x1p11, 0x1p22))))
	v := f.If(huge, func() []loop.Value {
		w := f.hugeAngle(a, by)
		return []loop.Value{w.hi, w.lo, w.count}
	}, func() []loop.Value { return []loop.Value{hi, lo, f.toInt(t)} })
	return angle{v[0], v[1], v[2]}
}

// lowBit is the lowest bit of n at the place of the sign.
func (f *form) lowBit(n loop.Value) loop.Value {
	return f.Shl(n, f.n(f.mant+f.expBits()))
}

// sinOf is sin(hi+lo) of float64, its sign changed when count is odd, for |hi| up
// to pi/2.
func (f *form) sinOf(w angle) loop.Value {
	z := f.Mul(w.hi, w.hi)
	// lo counts with the cosine, for which a parabola does.
	lo := f.Mul(w.lo, f.Fma(z, f.c(-4/(math.Pi*math.Pi)), f.c(1)))
	y := f.Add(w.hi, f.Fma(f.Mul(z, w.hi), f.poly(z, sin64), lo))
	return f.flip(y, f.lowBit(w.count))
}

// quadrant is the sine of hi+lo + count*pi/2 of float32: a polynomial up to pi/2
// would lose too many bits at its end.
func (f *form) quadrant(w angle) loop.Value {
	z := f.Fma(w.hi, w.hi, f.Mul(f.Add(w.lo, w.lo), w.hi))
	s := f.Add(w.hi, f.Fma(f.Mul(z, w.hi), f.poly(z, sin32), w.lo))
	c := f.Fma(z, f.Fma(z, f.poly(z, cos32), f.c(-0.5)), f.c(1))
	odd := f.Ne(f.And(w.count, f.n(1)), f.n(0))
	return f.flip(f.Select(odd, c, s), f.lowBit(f.ShrU(w.count, f.n(1))))
}

// Sin is the sine of x in radians.
func Sin(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	var y loop.Value
	if f.wide {
		y = f.sinOf(f.angleOf(f.Abs(x), byPi))
	} else {
		y = f.quadrant(f.angleOf(f.Abs(x), byHalfPi))
	}
	return f.flip(y, f.sign(x))
}

// Cos is the cosine of x in radians.
func Cos(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	if f.wide {
		// sin(r + (n+1/2)*pi + pi/2) = -(-1)^n sin(r)
		return f.Neg(f.sinOf(f.angleOf(f.Abs(x), byOddPi)))
	}
	w := f.angleOf(f.Abs(x), byHalfPi)
	w.count = f.Add(w.count, f.n(1))
	return f.quadrant(w)
}

// Tan is the tangent of x in radians.
func Tan(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	w := f.angleOf(f.Abs(x), byHalfPi)
	z := f.Mul(w.hi, w.hi)
	// lo counts with 1+tan^2, for which a parabola does.
	lo := f.Fma(f.Mul(z, f.c(16/(math.Pi*math.Pi))), w.lo, w.lo)
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
