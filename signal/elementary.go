package signal

import "math"

// Elementary functions of designs with the same bits on every processor: package math has assembly for some,
// and on arm64 Go fuses products into sums. Series are Taylor's, after reduction to small arguments; errors are
// a few units of the last place. A product that is added is rounded first, or part of math.FMA.

// taylor is 1 + z/d(1)*(1 + z/d(2)*(1 + ...)) to d(terms).
func taylor(z float64, terms int, d func(k int) float64) float64 {
	sum := 1.0
	for k := terms; k > 0; k-- {
		sum = math.FMA(z/d(k), sum, 1)
	}
	return sum
}

// sincos is the sine and the cosine of an angle of at most some turns.
func sincos(x float64) (s, c float64) {
	const high, low = 0x1.921fb544p+0, 0x1.0b4611a626331p-34 // of pi/2
	k := math.Round(x / (math.Pi / 2))
	r := math.FMA(-k, low, math.FMA(-k, high, x))
	z := -float64(r * r)
	s = r * taylor(z, 10, func(k int) float64 { return float64(2 * k * (2*k + 1)) })
	c = taylor(z, 10, func(k int) float64 { return float64(2 * k * (2*k - 1)) })
	switch int(k) & 3 {
	case 1:
		return c, -s
	case 2:
		return -s, -c
	case 3:
		return -c, s
	}
	return s, c
}

// expm1 is exp(x) - 1, accurate near 0.
func expm1(x float64) float64 {
	e, k := exponential(x)
	if k == 0 {
		return e
	}
	return float64(math.Ldexp(1+e, k)) - 1
}

// exp is the exponential function, to full relative accuracy where it is near 0.
func exp(x float64) float64 {
	e, k := exponential(x)
	return math.Ldexp(1+e, k)
}

// exponential returns e and k for which exp(x) is (1+e)*2^k, e being within 0.42 of 0.
func exponential(x float64) (e float64, k int) {
	const high, low = 0x1.62e42feep-1, 0x1.a39ef35793c76p-33 // of ln 2
	n := math.Round(x / math.Ln2)
	r := math.FMA(-n, low, math.FMA(-n, high, x))
	return r * taylor(r, 17, func(k int) float64 { return float64(k + 1) }), int(n)
}

// ln1p is ln(1+x) for x >= 0: 2*atanh(x/(2+x)), of x within a factor of 2 of 1.
func ln1p(x float64) float64 {
	e := 0
	if x > 1 {
		m := 0.0
		m, e = math.Frexp(1 + x)
		m, e = 2*m, e-1
		x = m - 1
	}
	s := x / (2 + x) // at most 1/3
	z, sum := float64(s*s), 0.0
	for k := 17; k > 0; k-- {
		sum = float64(z * (1/float64(2*k+1) + sum))
	}
	return math.FMA(float64(e), math.Ln2, 2*math.FMA(s, sum, s))
}

// ln is the natural logarithm of a positive number.
func ln(x float64) float64 {
	if x < 1 {
		return -ln1p((1 - x) / x)
	}
	return ln1p(x - 1)
}

// acosh is the inverse hyperbolic cosine of x >= 1.
func acosh(x float64) float64 {
	if x > 1e8 {
		return ln1p(x-1) + math.Ln2
	}
	return ln1p(x - 1 + math.Sqrt(float64((x-1)*(x+1))))
}

// atan is the inverse tangent of x >= 0: Euler's series after two halvings of the angle.
func atan(x float64) float64 {
	if x > 1 {
		return math.Pi/2 - atan(1/x)
	}
	for range 2 {
		x /= 1 + math.Sqrt(1+float64(x*x))
	}
	z, sum := float64(x*x), 0.0 // z is at most 0.04
	for k := 14; k > 0; k-- {
		sum = float64(z * (1/float64(2*k+1) - sum))
	}
	return 4 * float64(x*(1-sum))
}

// asinh is the inverse hyperbolic sine of x >= 0.
func asinh(x float64) float64 {
	if x > 1e8 {
		return ln1p(x-1) + math.Ln2
	}
	square := float64(x * x)
	return ln1p(x + square/(1+math.Sqrt(1+square)))
}

// sinhcosh is the hyperbolic sine and cosine of x >= 0.
func sinhcosh(x float64) (s, c float64) {
	e := expm1(x)
	return (e + e/(e+1)) / 2, (e + 1 + 1/(e+1)) / 2
}

// power is x^n of n >= 0.
func power(x float64, n int) float64 {
	y := 1.0
	for range n {
		y *= x
	}
	return y
}

// multiply is a*b, its products rounded.
func multiply(a, b complex128) complex128 {
	return complex(float64(real(a)*real(b))-float64(imag(a)*imag(b)), float64(real(a)*imag(b))+float64(imag(a)*real(b)))
}

// divide is a/b, both scaled by a power of two that makes the larger part of b about 1.
func divide(a, b complex128) complex128 {
	_, e := math.Frexp(max(math.Abs(real(b)), math.Abs(imag(b))))
	re, im := math.Ldexp(real(b), -e), math.Ldexp(imag(b), -e)
	q := multiply(a, complex(re, -im))
	size := float64(re*re) + float64(im*im)
	return complex(math.Ldexp(real(q)/size, -e), math.Ldexp(imag(q)/size, -e))
}

// modulus is the absolute value of a finite number.
func modulus(z complex128) float64 {
	_, e := math.Frexp(max(math.Abs(real(z)), math.Abs(imag(z))))
	re, im := math.Ldexp(real(z), -e), math.Ldexp(imag(z), -e)
	return math.Ldexp(math.Sqrt(float64(re*re)+float64(im*im)), e)
}

// root is the square root with a real part that is not negative.
func root(z complex128) complex128 {
	t := math.Sqrt((modulus(z) + math.Abs(real(z))) / 2)
	if t == 0 {
		return 0
	}
	u := imag(z) / (2 * t)
	if real(z) >= 0 {
		return complex(t, u)
	}
	return complex(math.Abs(u), math.Copysign(t, imag(z)))
}
