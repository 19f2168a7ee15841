// Package written holds functions of packages math and math/cmplx in the language of
// kernels. It is source for the front end; that it is a Go package lets tests call it.
package written

import "math"

// pow2 is 2^k for k from -1022 to 1023.
func pow2(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }

// exponent is k with 2^k <= |x| < 2^(k+1), of a number that is finite and not 0.
func exponent(x float64) int {
	e := int(math.Float64bits(x) >> 52 & 0x7ff)
	if e == 0 {
		e = int(math.Float64bits(x*0x1p64)>>52&0x7ff) - 64
	}
	return e - 1023
}

// scaled is x*2^k where neither x nor the result is so small that bits are lost, for k
// from -2044 to 2046.
func scaled(x float64, k int) float64 {
	h := k / 2
	return x * pow2(h) * pow2(k-h)
}

func ordinary(x float64) bool { return x != 0 && math.Abs(x) <= math.MaxFloat64 }

func Mod(x, y float64) float64 {
	r, d := math.Abs(x), math.Abs(y)
	if y == 0 || !(r <= math.MaxFloat64) || y != y {
		return math.NaN()
	}
	for r >= d {
		// As many bits of the quotient as a number has, less a few; r - q*s has no error.
		s := d
		if k := exponent(r) - exponent(d) - 51; k > 0 {
			s = scaled(d, k)
		}
		r = math.FMA(-math.Trunc(r/s), s, r)
		if r < 0 {
			r += s
		}
	}
	if math.Signbit(x) {
		return -r
	}
	return r
}

func Remainder(x, y float64) float64 {
	if y == 0 || !(math.Abs(x) <= math.MaxFloat64) || y != y {
		return math.NaN()
	}
	if math.IsInf(y, 0) {
		return x
	}
	r, d := math.Abs(x), math.Abs(y)
	if d <= math.MaxFloat64/2 {
		r = Mod(r, d+d)
	}
	if r > d-r {
		r -= d
		if r >= d-r {
			r -= d
		}
	}
	if math.Signbit(x) {
		return -r
	}
	return r
}

func Frexp(f float64) (frac float64, exp int) {
	if !ordinary(f) {
		return f, 0
	}
	exp = exponent(f) + 1
	return scaled(f, -exp), exp
}

func Ldexp(frac float64, exp int) float64 {
	if !ordinary(frac) {
		return frac
	}
	m, e := Frexp(frac)
	exp = min(max(exp, -5000), 5000) + e - 1
	if exp > 1023 {
		return math.Copysign(math.Inf(1), frac)
	}
	// One rounding, in the last product.
	return 2 * m * pow2(max(exp, -1022)) * pow2(min(max(exp+1022, -100), 0))
}

func Modf(f float64) (int float64, frac float64) {
	int = math.Trunc(f)
	return int, math.Copysign(f-int, f)
}

func Logb(x float64) float64 {
	if x == 0 {
		return math.Inf(-1)
	}
	if !ordinary(x) {
		return x * x
	}
	return float64(exponent(x))
}

func Ilogb(x float64) int {
	if x == 0 {
		return math.MinInt32
	}
	if !ordinary(x) {
		return math.MaxInt32
	}
	return exponent(x)
}

func Nextafter(x, y float64) (r float64) {
	if x != x || y != y {
		return math.NaN()
	}
	if x == y {
		return x
	}
	if x == 0 {
		return math.Copysign(math.SmallestNonzeroFloat64, y)
	}
	if (y > x) == (x > 0) {
		return math.Float64frombits(math.Float64bits(x) + 1)
	}
	return math.Float64frombits(math.Float64bits(x) - 1)
}

func Nextafter32(x, y float32) (r float32) {
	if x != x || y != y {
		return float32(math.NaN())
	}
	if x == y {
		return x
	}
	if x == 0 {
		return float32(math.Copysign(math.SmallestNonzeroFloat32, float64(y)))
	}
	if (y > x) == (x > 0) {
		return math.Float32frombits(math.Float32bits(x) + 1)
	}
	return math.Float32frombits(math.Float32bits(x) - 1)
}

func Pow10(n int) float64 {
	if n < -323 {
		return 0
	}
	if n > 308 {
		return math.Inf(1)
	}
	return math.Pow(10, float64(n))
}

// ComplexDiv is the quotient of complex numbers as Go's runtime computes it: by R. L.
// Smith's algorithm (1962), and where that gives NaN twice, by the rules of C99's Annex G.
func ComplexDiv(a, b, c, d float64) (e, f float64) {
	if math.Abs(c) >= math.Abs(d) {
		ratio := d / c
		den := c + ratio*d
		e = (a + b*ratio) / den
		f = (b - a*ratio) / den
	} else {
		ratio := c / d
		den := d + ratio*c
		e = (a*ratio + b) / den
		f = (b*ratio - a) / den
	}
	if e != e && f != f {
		infN := math.IsInf(a, 0) || math.IsInf(b, 0)
		infM := math.IsInf(c, 0) || math.IsInf(d, 0)
		inf := math.Inf(1)
		switch {
		case c == 0 && d == 0 && (a == a || b == b):
			e = math.Copysign(inf, c) * a
			f = math.Copysign(inf, c) * b
		case infN && math.Abs(c) <= math.MaxFloat64 && math.Abs(d) <= math.MaxFloat64:
			a, b = unit(a), unit(b)
			e = inf * (a*c + b*d)
			f = inf * (b*c - a*d)
		case infM && math.Abs(a) <= math.MaxFloat64 && math.Abs(b) <= math.MaxFloat64:
			c, d = unit(c), unit(d)
			e = 0 * (a*c + b*d)
			f = 0 * (b*c - a*d)
		}
	}
	return e, f
}

// unit is 1 for an infinity and 0 for others, with the sign.
func unit(x float64) float64 {
	if math.IsInf(x, 0) {
		return math.Copysign(1, x)
	}
	return math.Copysign(0, x)
}
