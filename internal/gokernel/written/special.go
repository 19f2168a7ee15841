package written

import "math"

// Special functions of package kernel, which Go's math has not. In plain Go they are these
// functions; compiled they are too, but for Digamma and Trigamma, which have formulas.

// KernelDigamma is the derivative of the logarithm of the gamma function: by recurrence up to 10,
// then its asymptotic series (DLMF 5.11.2); below 0 by reflection (DLMF 5.5.4).
func KernelDigamma(x float64) float64 {
	switch {
	case x == 0:
		return -1 / x
	case math.IsInf(x, -1) || x < 0 && x == math.Floor(x):
		return math.NaN()
	case x < 0:
		r := x - math.RoundToEven(x)
		return KernelDigamma1(1-x) - math.Pi/math.Tan(math.Pi*r)
	}
	return KernelDigamma1(x)
}

// KernelDigamma1 is KernelDigamma above 0.
func KernelDigamma1(x float64) float64 {
	below := 0.0
	for x < 10 {
		below += 1 / x
		x++
	}
	t := 1 / (x * x)
	s := t * (1.0/12 - t*(1.0/120-t*(1.0/252-t*(1.0/240-t*(1.0/132-t*(691.0/32760-t*(1.0/12)))))))
	return math.Log(x) - 0.5/x - s - below
}

// KernelTrigamma is the derivative of KernelDigamma (DLMF 5.15.5, 5.15.6, 5.15.8).
func KernelTrigamma(x float64) float64 {
	switch {
	case x == 0 || x < 0 && x == math.Floor(x) && !math.IsInf(x, -1):
		return math.Inf(1)
	case math.IsInf(x, -1):
		return math.NaN()
	case x < 0:
		s := math.Sin(math.Pi*(x-math.RoundToEven(x))) / math.Pi
		return 1/(s*s) - KernelTrigamma1(1-x)
	}
	return KernelTrigamma1(x)
}

// KernelTrigamma1 is KernelTrigamma above 0.
func KernelTrigamma1(x float64) float64 {
	below := 0.0
	for x < 12 {
		below += 1 / (x * x)
		x++
	}
	t := 1 / (x * x)
	s := t * (1.0/6 - t*(1.0/30-t*(1.0/42-t*(1.0/30-t*(5.0/66-t*(691.0/2730-t*(7.0/6)))))))
	return 1/x + t/2 + s/x + below
}

// KernelErfcx is exp(x*x)*erfc(x): up to 10 by M. M. Shepherd and J. G. Laframboise, Math. Comp.
// 36 (1981), beyond by the asymptotic series (DLMF 7.12.1), and below 0 as 2exp(x*x)-erfcx(-x).
func KernelErfcx(x float64) float64 {
	if x != x {
		return x
	}
	a := math.Abs(x)
	y := 0.0
	if a <= 10 {
		y = erfcxNear(((a-4)/(a+4)+2.0/7)*1.4) / (1 + 2*a)
	} else {
		t := 0.5 / a / a
		s := 1.0
		for k := 12; k > 0; k-- {
			s = 1 - float64(2*k-1)*t*s
		}
		y = s * (0.5 * 2 / math.SqrtPi) / a
	}
	if x < 0 {
		h := a * a
		e := math.Exp(h)
		if e > math.MaxFloat64 {
			return e
		}
		return 2*math.FMA(e, math.FMA(a, a, -h), e) - y
	}
	return y
}

// decay is log(x/a)-(x-a)/a, the exponent of the incomplete gamma functions divided by a: near
// x = a by the series of the inverse hyperbolic tangent of (x-a)/(x+a).
func decay(a, x float64) float64 {
	if x < 0.5*a || x > 2*a {
		return math.Log(x/a) - (x-a)/a
	}
	s := (x - a) / (x + a)
	z := s * s
	sum := 1.0 / 35
	for k := 33; k >= 3; k -= 2 {
		sum = sum*z + 1/float64(k)
	}
	return 2*s*z*sum - s*((x-a)/a)
}

// stirling is ln(gamma(a)) less its leading terms, from 8 on (DLMF 5.11.1).
func stirling(a float64) float64 {
	t := 1 / (a * a)
	return (1.0/12 - t*(1.0/360-t*(1.0/1260-t*(1.0/1680-t*(1.0/1188-t*(691.0/360360-t*(1.0/156-t*(3617.0/122400)))))))) / a
}

// lgamma1 is ln(gamma(1+a)) for 0 <= a <= 2, which is small where a is.
func lgamma1(a float64) float64 {
	if a <= 0.5 {
		return a * lgamma1Over(4*a-1)
	}
	y, _ := math.Lgamma(1 + a)
	return y
}

// gammaFactor is x^a*exp(-x)/gamma(1+a), for positive numbers.
func gammaFactor(a, x float64) float64 {
	if x > a+800 && x > 3*a+800 {
		return 0
	}
	if a < 10 {
		return math.Pow(x, a) * math.Exp(-x) / math.Gamma(1+a)
	}
	return math.Exp(a*decay(a, x)-stirling(a)) / math.Sqrt(2*math.Pi*a)
}

// gammaSeries is the incomplete gamma function P(a, x) by its power series (DLMF 8.11.4).
func gammaSeries(a, x float64) float64 {
	t, s, n := 1.0, 1.0, a
	for t > s*0x1p-56 {
		n++
		t *= x / n
		s += t
	}
	return s * gammaFactor(a, x)
}

// gammaFraction is Q(a, x) by Legendre's continued fraction (DLMF 8.9.2), which W. J. Lentz's
// method evaluates.
func gammaFraction(a, x float64) float64 {
	b := x + 1 - a
	c, d := 1e300, 1/b
	h, by := d, 0.0
	// Where a is an integer the fraction ends, but its derivative by a does not: rounds are counted.
	rounds := 10 + 80/x + math.Min(a, 100)/2
	for i := 1.0; i <= rounds || math.Abs(by-1) > 0x1p-52; i++ {
		an := i * (a - i)
		b += 2
		d = an*d + b
		if d == 0 {
			d = 1e-300
		}
		c = b + an/c
		if c == 0 {
			c = 1e-300
		}
		d = 1 / d
		by = c * d
		h *= by
	}
	return h * a * gammaFactor(a, x)
}

// gammaNear is Q(a, x) for small a and x up to about 1: one less x^a/gamma(1+a) is computed
// without cancellation, the rest of the series is added.
func gammaNear(a, x float64) float64 {
	t, s := 1.0, 0.0
	for k := 1.0; math.Abs(t) > 0x1p-60*math.Abs(s) || k < 3; k++ {
		t *= -x / k
		s += t / (a + k)
	}
	l := a*math.Log(x) - lgamma1(a)
	e := math.Expm1(l)
	return -e - (1+e)*a*s
}

// gammaUniform is P(a, x), or Q(a, x) if upper, for large a by Temme's uniform expansion (DLMF
// 8.12.3, 8.12.4); phi is decay(a, x).
func gammaUniform(a, x, phi float64, upper bool) float64 {
	eta := math.Sqrt(-2 * phi)
	if x < a {
		eta = -eta
	}
	z := 1 / a
	s := temme5(eta) + z*temme6(eta)
	s = temme4(eta) + z*s
	s = temme3(eta) + z*s
	s = temme2(eta) + z*s
	s = temme1(eta) + z*s
	s = temme0(eta) + z*s
	e := math.Exp(a * phi)
	r := e * s / math.Sqrt(2*math.Pi*a)
	// erfc(v) is exp(-v*v)*erfcx(v), whose exponent is the exact one.
	v := math.Abs(eta) * math.Sqrt(a/2)
	tail := 0.5 * e * KernelErfcx(v)
	switch {
	case upper && x < a:
		return 1 - tail + r
	case upper:
		return tail + r
	case x < a:
		return tail - r
	}
	return 1 - tail - r
}

// KernelGammaInc is the lower incomplete gamma function P(a, x), divided by gamma(a).
func KernelGammaInc(a, x float64) float64 { return gammaIncomplete(a, x, false) }

// KernelGammaIncC is the upper incomplete gamma function Q(a, x), divided by gamma(a).
func KernelGammaIncC(a, x float64) float64 { return gammaIncomplete(a, x, true) }

// gammaIncomplete chooses the way by a and x after W. Gautschi, "A computational procedure for
// incomplete gamma functions", ACM TOMS 5 (1979): P is computed where it is at most about 1/2,
// and Q elsewhere.
func gammaIncomplete(a, x float64, upper bool) float64 {
	if !(a >= 0) || !(x >= 0) || math.IsInf(a, 1) && math.IsInf(x, 1) {
		return math.NaN()
	}
	one, none := 1.0, 0.0
	if upper {
		one, none = 0, 1
	}
	if a == 0 || math.IsInf(x, 1) {
		return one
	}
	if x == 0 || math.IsInf(a, 1) {
		return none
	}
	if a >= 100 {
		if phi := decay(a, x); phi > -0.5 {
			return gammaUniform(a, x, phi, upper)
		}
	}
	near := a <= 1.1*x // Q is not almost 1
	if x < 0.5 {
		near = a <= -0.4/math.Log(x)
	}
	lower := false // y is P
	y := 0.0
	switch {
	case x <= 1.1 && near && (upper || x > 1 && x > a):
		y = gammaNear(a, x)
	case x < a || x <= 1.1:
		lower, y = true, gammaSeries(a, x)
	default:
		y = gammaFraction(a, x)
	}
	if lower == upper {
		return 1 - y
	}
	return y
}

// KernelLogBeta is the logarithm of KernelBeta: after A. R. DiDonato and A. H. Morris, ACM TOMS 18
// (1992), whose differences of Stirling's series do not cancel.
func KernelLogBeta(a, b float64) float64 {
	a, b = math.Min(a, b), math.Max(a, b)
	switch {
	case a != a || b != b || a < 0 || a == 0 && math.IsInf(b, 1):
		return math.NaN()
	case a == 0:
		return math.Inf(1)
	case math.IsInf(b, 1):
		return math.Inf(-1)
	case b < 10:
		if a < 1e-300 {
			return -math.Log(a)
		}
		return math.Log(betaNear(a, b))
	}
	d := stirling(b) - stirling(a+b)
	if a < 10 {
		l, _ := math.Lgamma(a)
		return l - (b-0.5)*math.Log1p(a/b) - a*(math.Log(a+b)-1) + d
	}
	h := a / b
	u := (a - 0.5) * (math.Log(h) - math.Log1p(h))
	return -0.5*math.Log(b) + 0.918938533204672741780329736405617639 + d + stirling(a) + u - b*math.Log1p(h)
}

// KernelBeta is gamma(a)*gamma(b)/gamma(a+b).
func KernelBeta(a, b float64) float64 {
	if math.Min(a, b) > 0 && math.Max(a, b) < 10 {
		return betaNear(math.Min(a, b), math.Max(a, b))
	}
	return math.Exp(KernelLogBeta(a, b))
}

// betaNear is KernelBeta for 0 < a <= b < 10.
func betaNear(a, b float64) float64 { return math.Gamma(a) * (math.Gamma(b) / math.Gamma(a+b)) }
