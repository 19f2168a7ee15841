package vmath

import "weft/internal/loop"

// piecewise is a piecewise polynomial for the logarithm to base 2 of a float32 function. Each
// polynomial serves an interval of width 1/scale around a multiple of 1/scale. Each of the tables
// has the entry of interval i at i mod 16:
//   - table 0: the center c of the polynomial
//   - table 1: a multiple of 1/16 near the value at c, plus 1.5*2^19
//   - table 2: the value at c less that multiple
//   - table j from 3 on: the coefficient of (x-c)^(j-2)
type piecewise struct {
	scale  float64
	tables [][]float64
}

// exp2Of returns 2^p(x) as t*(1+v) with |v| < 1/40. t is the integer with the bits of the float,
// whose exponent may be out of range.
func (f *form) exp2Of(p *piecewise, x loop.Value) (t, v loop.Value) {
	i := f.toInt(f.Fma(x, f.c(p.scale), f.c(f.shift)))
	at := func(j int) loop.Value { return f.Lookup(p.tables[j], i) }
	d := f.Sub(x, at(0))
	start, slope, curve := at(1), at(3), at(4)
	// The nearest multiple of 1/16 is in the low bits of n; a parabola tells which.
	n := f.Fma(d, f.Fma(curve, d, slope), start)
	whole := f.Sub(n, start)
	sq := f.Mul(d, d)
	last := len(p.tables) - 1
	s := at(last)
	if (last-4)%2 == 1 {
		s = f.Fma(s, d, at(last-1))
		last--
	}
	for j := last - 2; j >= 4; j -= 2 {
		s = f.Fma(s, sq, f.Fma(at(j+1), d, at(j)))
	}
	r := f.Fma(sq, s, f.Add(f.Fma(d, slope, f.Neg(whole)), at(2)))
	return f.exp2Step(f.toInt(n)), f.poly(r, exp2Rest32)
}

// exp2Step returns the bits of 2^(n/16) for the low bits of n, less a small correction that
// exp2Rest32 adds.
func (f *form) exp2Step(n loop.Value) loop.Value {
	return f.Add(f.toInt(f.Lookup(exp2Steps32, n)), f.Shl(n, f.n(19)))
}

// times returns x*t*(1+v).
func (f *form) times(x, t, v loop.Value) loop.Value {
	return f.Fma(x, t, f.Mul(f.Mul(x, t), v))
}

// gelu32 returns x times the cumulative normal distribution. From 5.6 on that is x; there v
// is above 0, so that infinity stays.
func gelu32(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	t, v := f.exp2Of(&phi, f.Min(f.c(5.6), x))
	y := f.times(x, f.toFloat(t), v)
	return f.rare(f.Lt(x, f.c(-8)), y, func() loop.Value {
		// Down to where the result is less than half of the least number, and 2^64
		// times as large until the end.
		x := f.Max(f.c(-14.4), x)
		t, v := f.exp2Of(&phiFar, x)
		y := f.times(x, f.toFloat(f.Add(t, f.n(64<<23))), v)
		return f.Mul(y, f.c(0x1p-64))
	})
}
