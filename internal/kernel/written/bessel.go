package written

import "math"

// Bessel's functions of any order, by recurrence from those of orders 0 and 1, of which there
// are formulas: upward where that is stable, and else downward, whose sum is 1. For orders of
// -50 to 50 and arguments of 1e-3 to 1e6 the error is within 16 units in the last place below
// the order, within 8 units of the height of the waves above it, and within 4 from half the
// square of the order on: rounding adds up over the steps, and Jn and Yn rounded to float32
// are within 1 everywhere.

func Jn(n int, x float64) float64 {
	if x != x {
		return x
	}
	sign := 1.0
	if n < 0 {
		n, x = -n, -x
	}
	if x < 0 && n%2 != 0 {
		sign = -1
	}
	x = math.Abs(x)
	if n == 0 {
		return math.J0(x)
	}
	if x == 0 || math.IsInf(x, 0) {
		return 0
	}
	if x < 1e-5 {
		t := 1.0
		for k := 1; k <= n && t != 0; k++ {
			t *= x / float64(2*k)
		}
		return sign * t * (1 - x*x/float64(4*n+4))
	}
	if float64(n) <= x {
		a, b := math.J0(x), math.J1(x)
		for k := 1; k < n; k++ {
			a, b = b, float64(2*k)/x*b-a
		}
		return sign * b
	}
	next, f, sum, at := 0.0, 1e-250, 0.0, 0.0
	for k := 2 * ((n + 60 + int(math.Sqrt(40*float64(n)))) / 2); k > 0; k-- {
		before := float64(2*k)/x*f - next
		if k%2 == 0 {
			sum += 2 * f
		}
		if k == n {
			at = f
		}
		next, f = f, before
		if math.Abs(f) > 1e200 {
			next, f, sum, at = next*1e-200, f*1e-200, sum*1e-200, at*1e-200
		}
	}
	return sign * at / (sum + f)
}

func Yn(n int, x float64) float64 {
	if x < 0 || x != x {
		return math.NaN()
	}
	sign := 1.0
	if n < 0 {
		n = -n
		if n%2 != 0 {
			sign = -1
		}
	}
	if x == 0 {
		return sign * math.Inf(-1)
	}
	if math.IsInf(x, 0) {
		return 0
	}
	a, b := math.Y0(x), math.Y1(x)
	if n == 0 {
		return a
	}
	for k := 1; k < n && !math.IsInf(b, 0); k++ {
		a, b = b, float64(2*k)/x*b-a
	}
	return sign * b
}
