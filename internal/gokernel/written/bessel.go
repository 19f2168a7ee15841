package written

import "math"

// Bessel functions of any order, by recurrence from the functions of orders 0 and 1, which have
// formulas. The recurrence runs upward where that is stable, else downward, normalized by a sum
// that is 1.
//
// Terms are pairs of numbers; the second is the rounding error of the first, so that no error
// adds up over the steps. For orders from -400 to 400 and arguments from 1e-3 to 1e6 the error is
// at most 4 units in the last place: of the result if the argument is below the order, and of the
// amplitude of the oscillation above it.

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
		t, low := 1.0, 0.0
		for k := 1; k <= n && t != 0; k++ {
			c, cl := quotient(x, float64(2*k))
			t, low = product(c, cl, t, low)
		}
		return sign * (t + (low - t*(x*x/float64(4*n+4))))
	}
	if float64(n) <= x {
		a, b, al, bl := math.J0(x), math.J1(x), 0.0, 0.0
		for k := 1; k < n; k++ {
			next, low := step(k, x, b, bl, a, al)
			a, al, b, bl = b, bl, next, low
		}
		return sign * b
	}
	next, nextLow, f, low := 0.0, 0.0, 1e-250, 0.0
	sum, sumLow, at, atLow := 0.0, 0.0, 0.0, 0.0
	for k := 2 * ((n + 60 + int(math.Sqrt(40*float64(n)))) / 2); k > 0; k-- {
		before, beforeLow := step(k, x, f, low, next, nextLow)
		if k%2 == 0 {
			sum, sumLow = total(sum, sumLow, 2*f, 2*low)
		}
		if k == n {
			at, atLow = f, low
		}
		next, nextLow, f, low = f, low, before, beforeLow
		if math.Abs(f) > 1e200 { // by a power of two, which rounds nothing
			next, nextLow, f, low = next*0x1p-660, nextLow*0x1p-660, f*0x1p-660, low*0x1p-660
			sum, sumLow, at, atLow = sum*0x1p-660, sumLow*0x1p-660, at*0x1p-660, atLow*0x1p-660
		}
	}
	sum, sumLow = total(sum, sumLow, f, low)
	q := at / sum
	return sign * (q + (math.FMA(-q, sum, at)+(atLow-q*sumLow))/sum)
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
	a, b, al, bl := math.Y0(x), math.Y1(x), 0.0, 0.0
	if n == 0 {
		return a
	}
	for k := 1; k < n && !math.IsInf(b, 0); k++ {
		next, low := step(k, x, b, bl, a, al)
		a, al, b, bl = b, bl, next, low
	}
	return sign * b
}

// step returns 2k/x (b+bl) - (a+al): the function of order k+1 from orders k and k-1, or of order
// k-1 from orders k and k+1. The second number is 0 if the first is infinite.
func step(k int, x, b, bl, a, al float64) (float64, float64) {
	c, cl := quotient(float64(2*k), x)
	p, pl := product(c, cl, b, bl)
	return total(p, pl, -a, -al)
}

// quotient returns a/b and what rounding took from it.
func quotient(a, b float64) (float64, float64) {
	q := a / b
	return q, math.FMA(-q, b, a) / b
}

// product returns (a+al) (b+bl) as two numbers.
func product(a, al, b, bl float64) (float64, float64) {
	p := a * b
	low := math.FMA(a, b, -p) + (a*bl + al*b)
	return rest(p, low)
}

// total returns a+al + b+bl as two numbers.
func total(a, al, b, bl float64) (float64, float64) {
	s := a + b
	t := s - a
	low := (a - (s - t)) + (b - t) + (al + bl)
	return rest(s, low)
}

// rest returns a+low as the number next to it and what is left; low is much less than a.
func rest(a, low float64) (float64, float64) {
	s := a + low
	if s-s != 0 {
		return a, 0
	}
	return s, low - (s - a)
}
