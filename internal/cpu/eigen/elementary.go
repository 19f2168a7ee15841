package eigen

import "math"

// Elementary functions with the same bits on every processor: package math has assembly for some, and its
// Go code may fuse products into sums. Their errors are about an ulp. Products that are added are rounded first.

// series is x * (1 + z/d(1) + z^2/d(2) + ... + z^terms/d(terms)), with d(k) = 2k+1 and x^2 = |z|: the inverse
// hyperbolic tangent of x for z > 0, the inverse tangent for z < 0.
func series(x, z float64, terms int) float64 {
	sum := 0.0
	for k := terms; k > 0; k-- {
		sum = float64(z * (1/float64(2*k+1) + sum))
	}
	return x + float64(x*sum)
}

// ln is the natural logarithm of a number >= 0.
func ln(x float64) float64 {
	if x == 0 || x != x || math.IsInf(x, 0) {
		return math.Log(x)
	}
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	s := (m - 1) / (m + 1)                                   // at most 0.172
	const high, low = 0x1.62e42feep-1, 0x1.a39ef35793c76p-33 // of ln 2; e*high is exact
	return float64(float64(e)*high) + (2*series(s, float64(s*s), 12) + float64(float64(e)*low))
}

// exp is e^x within 2 units in the last place.
func exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	const high, low = 6.93147180369123816490e-01, 1.90821492927058770002e-10 // ln 2; products of high are exact
	k := math.Round(x / math.Ln2)
	r := (x - float64(k*high)) - float64(k*low)
	y := 1.0
	for i := 14.0; i > 0; i-- { // Horner's scheme of r^i/i!
		y = 1 + float64(r*y)/i
	}
	return math.Ldexp(y, int(k))
}

// expDifference is the divided difference (exp(a)-exp(b)) / (a-b), for equal numbers exp(a).
func expDifference(a, b float64) float64 {
	d := a - b
	if math.Abs(d) > 1 {
		if low := exp(min(a, b)); math.IsInf(low, 1) {
			return low
		}
		return (exp(a) - exp(b)) / d
	}
	// exp((a+b)/2) * sinh(d/2)/(d/2)
	q, y := float64(d*d)/4, 1.0
	for i := 9.0; i > 0; i-- {
		y = 1 + float64(q*y)/float64(2*i*(2*i+1))
	}
	return exp(b+float64(d/2)) * y
}

// log2 is the logarithm to base 2 of a number >= 0, exact for powers of 2 that are not below 0x1p-1022.
func log2(x float64) float64 {
	m, e := math.Frexp(x)
	if m == 0.5 {
		return float64(e - 1)
	}
	return ln(m)/math.Ln2 + float64(e)
}

// ln1p is ln(1+x) for x > -1, accurate near 0.
func ln1p(x float64) float64 {
	if math.Abs(x) > 0.5 {
		return ln(1 + x) // below -0.5 the sum is exact
	}
	s := x / (2 + x) // at most 1/3
	return 2 * series(s, float64(s*s), 17)
}

// arctan2 is the angle of the point (x, y), from -pi to pi.
func arctan2(y, x float64) float64 {
	a, b := math.Abs(y), math.Abs(x)
	if !(a > 0 && b > 0) || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return math.Atan2(y, x) // multiples of pi/4, NaN
	}
	t := min(a, b) / max(a, b)
	angle := 0.0
	if t > 0.42 { // atan t = pi/4 + atan((t-1)/(t+1))
		const low = 3.061616997868383e-17 // of pi/4
		u := (t - 1) / (t + 1)
		angle = math.Pi/4 + (series(u, -float64(u*u), 22) + low)
	} else {
		angle = series(t, -float64(t*t), 22)
	}
	if a > b {
		angle = math.Pi/2 - angle
	}
	if x < 0 {
		angle = math.Pi - angle
	}
	return math.Copysign(angle, y)
}

// root is the k-th root of a number >= 0, k > 1, by Newton's method from above.
func root(x float64, k int) float64 {
	if x == 0 || x != x || math.IsInf(x, 0) {
		return x
	}
	_, e := math.Frexp(x)
	y := math.Ldexp(1, int(math.Ceil(float64(e)/float64(k))))
	for {
		power := x
		for range k - 1 {
			power /= y
		}
		next := (float64(float64(k-1)*y) + power) / float64(k)
		if !(next < y) {
			return y
		}
		y = next
	}
}
