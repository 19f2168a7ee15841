package vmath

import "weft/internal/loop"

// Logarithms as pairs of floats, for products of powers and gamma functions: their exponents cancel, so that
// each needs more digits than the product. A pair is hi + lo,
// where lo may have any size. All take float64.

// LnPair is ln(v) for positive finite v with an error of 2^-62 or 2^-62 of its value.
func LnPair(b *loop.Builder, v loop.Value) (hi, lo loop.Value) {
	ln := formOf(b, loop.F64).lnOf(v)
	return ln.hi, ln.lo
}

// LgammaPair is ln(gamma(a)) for positive a up to 2^1015, with an error of about 2^-60 of its value.
func LgammaPair(b *loop.Builder, a loop.Value) (hi, lo loop.Value) {
	y, _, _ := formOf(b, loop.F64).lgammaOf(a)
	return y.hi, y.lo
}

// Lgamma1pPair is ln(gamma(1+x)) for x of at least 0, without the rounding of 1+x. ln is ln(x) from 3/4 on.
func Lgamma1pPair(b *loop.Builder, x loop.Value) (hi, lo, ln loop.Value) {
	f := formOf(b, loop.F64)
	y, near, g := f.lgammaOf(x)
	l := f.lnOf(x)
	top, rest := f.twoSum(y.hi, l.hi)
	s := f.choose(g.low, near, sum{top, f.Add(rest, f.Add(y.lo, l.lo))})
	return s.hi, s.lo, l.hi
}

// ExpPair is e^(hi+lo), rounded about once.
func ExpPair(b *loop.Builder, hi, lo loop.Value) loop.Value {
	f := formOf(b, loop.F64)
	hi, lo = f.twoSum(hi, lo)
	u, e := f.expSum(hi, lo)
	return f.ScaleB(u, e.k)
}
