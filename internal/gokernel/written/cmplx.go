package written

import "math"

// The functions of math/cmplx, by formulas over real functions of the parts. Inverse
// functions follow W. Kahan, "Branch cuts for complex elementary functions" (1987), which
// keeps the sign of zero on the cuts.

func CmplxAbs(x complex128) float64 { return math.Hypot(real(x), imag(x)) }

func CmplxPhase(x complex128) float64 { return math.Atan2(imag(x), real(x)) }

func CmplxPolar(x complex128) (r, θ float64) { return CmplxAbs(x), CmplxPhase(x) }

func CmplxRect(r, θ float64) complex128 { return complex(r*math.Cos(θ), r*math.Sin(θ)) }

func CmplxConj(x complex128) complex128 { return complex(real(x), -imag(x)) }

func CmplxInf() complex128 { return complex(math.Inf(1), math.Inf(1)) }

func CmplxNaN() complex128 { return complex(math.NaN(), math.NaN()) }

func CmplxIsInf(x complex128) bool { return math.IsInf(real(x), 0) || math.IsInf(imag(x), 0) }

func CmplxIsNaN(x complex128) bool {
	return !CmplxIsInf(x) && (real(x) != real(x) || imag(x) != imag(x))
}

func timesI(x complex128) complex128      { return complex(-imag(x), real(x)) }
func timesMinusI(x complex128) complex128 { return complex(imag(x), -real(x)) }

func CmplxExp(x complex128) complex128 {
	re, im := real(x), imag(x)
	if im == 0 {
		return complex(math.Exp(re), im)
	}
	if math.IsInf(re, -1) && !(math.Abs(im) <= math.MaxFloat64) {
		return complex(0, math.Copysign(0, im))
	}
	if math.IsInf(re, 1) && !(math.Abs(im) <= math.MaxFloat64) {
		return complex(re, math.NaN())
	}
	if math.IsInf(re, -1) {
		return complex(math.Copysign(0, math.Cos(im)), math.Copysign(0, math.Sin(im)))
	}
	// A large power of e is taken apart: the cosine may bring it back into range.
	up := 1.0
	if re > 700 {
		re, up = re-700, 0x1.d945df4f8ec8ep+1009
	}
	r := math.Exp(re)
	return complex(r*math.Cos(im)*up, r*math.Sin(im)*up)
}

func CmplxLog(x complex128) complex128 {
	a, b := math.Abs(real(x)), math.Abs(imag(x))
	long, short := math.Max(a, b), math.Min(a, b)
	r := math.Hypot(a, b)
	re := math.Log(r)
	if r > 0.7 && r < 1.5 { // from the distance to 1
		re = 0.5 * math.Log1p((long-1)*(long+1)+short*short)
	}
	return complex(re, math.Atan2(imag(x), real(x)))
}

func CmplxLog10(x complex128) complex128 {
	z := CmplxLog(x)
	return complex(math.Log10E*real(z), math.Log10E*imag(z))
}

func CmplxSqrt(x complex128) complex128 {
	re, im := real(x), imag(x)
	if math.IsInf(im, 0) {
		return complex(math.Inf(1), im)
	}
	if math.IsInf(re, -1) && im == im {
		return complex(0, math.Copysign(math.Inf(1), im))
	}
	if math.IsInf(re, 1) && im == im {
		return complex(re, math.Copysign(0, im))
	}
	if re == 0 && im == 0 {
		return complex(0, im)
	}
	// A sixteenth: the sum of a length and a part must not overflow. Of small numbers a
	// large multiple, so that no bits are lost. Roots of the scales have no error.
	by, back := 0x1p-4, 0x1p+2
	if math.Abs(re) < 0x1p-900 && math.Abs(im) < 0x1p-900 {
		by, back = 0x1p120, 0x1p-60
	}
	re, im = re*by, im*by
	twice := math.Sqrt(2 * (math.Hypot(re, im) + math.Abs(re))) // the greater part, twice
	long, short := twice*0.5*back, im/twice*back
	if re >= 0 {
		return complex(long, short)
	}
	return complex(math.Abs(short), math.Copysign(long, im))
}

func CmplxSinh(x complex128) complex128 {
	re, im := real(x), imag(x)
	if im == 0 {
		return complex(math.Sinh(re), im)
	}
	if re == 0 && !(math.Abs(im) <= math.MaxFloat64) {
		return complex(re, math.NaN())
	}
	if math.IsInf(re, 0) && !(math.Abs(im) <= math.MaxFloat64) {
		return complex(re, math.NaN())
	}
	return complex(math.Sinh(re)*math.Cos(im), math.Cosh(re)*math.Sin(im))
}

func CmplxCosh(x complex128) complex128 {
	re, im := real(x), imag(x)
	if re == 0 && !(math.Abs(im) <= math.MaxFloat64) {
		return complex(math.NaN(), re*math.Copysign(0, im))
	}
	if math.IsInf(re, 0) && !(math.Abs(im) <= math.MaxFloat64) {
		return complex(math.Inf(1), math.NaN())
	}
	if im == 0 {
		return complex(math.Cosh(re), im*math.Copysign(0, re))
	}
	return complex(math.Cosh(re)*math.Cos(im), math.Sinh(re)*math.Sin(im))
}

func CmplxTanh(x complex128) complex128 {
	re, im := real(x), imag(x)
	if im == 0 {
		return complex(math.Tanh(re), im)
	}
	if math.Abs(re) > 20 { // where exponentials of squares would overflow
		one := math.Copysign(1, re)
		if !(math.Abs(im) <= math.MaxFloat64) {
			return complex(one, math.Copysign(0, im))
		}
		return complex(one, 4*math.Sin(im)*math.Cos(im)*math.Exp(-2*math.Abs(re)))
	}
	t := math.Tan(im)
	s := math.Sinh(re)
	if math.Abs(t) > 1 { // by the cotangent, which does not overflow
		c := 1 / t
		beta := c*c + 1
		den := c*c + beta*s*s
		return complex(beta*math.Sqrt(1+s*s)*s/den, c/den)
	}
	beta := 1 + t*t
	den := 1 + beta*s*s
	return complex(beta*math.Sqrt(1+s*s)*s/den, t/den)
}

func CmplxSin(x complex128) complex128 { return timesMinusI(CmplxSinh(timesI(x))) }

func CmplxCos(x complex128) complex128 { return CmplxCosh(timesI(x)) }

func CmplxTan(x complex128) complex128 { return timesMinusI(CmplxTanh(timesI(x))) }

func CmplxCot(x complex128) complex128 { return 1 / CmplxTan(x) }

func CmplxAsin(x complex128) complex128 {
	above := CmplxSqrt(complex(1+real(x), imag(x)))
	below := CmplxSqrt(complex(1-real(x), -imag(x)))
	re := math.Atan2(real(x), real(above)*real(below)-imag(above)*imag(below))
	return complex(re, math.Asinh(real(below)*imag(above)-imag(below)*real(above)))
}

func CmplxAcos(x complex128) complex128 {
	above := CmplxSqrt(complex(1+real(x), imag(x)))
	below := CmplxSqrt(complex(1-real(x), -imag(x)))
	re := 2 * math.Atan2(real(below), real(above))
	return complex(re, math.Asinh(real(above)*imag(below)-imag(above)*real(below)))
}

func CmplxAcosh(x complex128) complex128 {
	up := CmplxSqrt(complex(real(x)+1, imag(x)))
	down := CmplxSqrt(complex(real(x)-1, imag(x)))
	re := math.Asinh(real(down)*real(up) + imag(down)*imag(up))
	return complex(re, 2*math.Atan2(imag(down), real(up)))
}

func CmplxAtanh(x complex128) complex128 {
	a, b := real(x), imag(x)
	if large := math.Max(math.Abs(a), math.Abs(b)); large > 0x1p60 { // 1/x, and a quarter of a circle
		re := 0.0
		if large <= math.MaxFloat64 {
			p, q := a/large, b/large
			re = p / (p*p + q*q) / large
		}
		return complex(math.Copysign(re, a), math.Copysign(math.Pi/2, b))
	}
	re := 0.0
	if a < 0 {
		re = -math.Log1p(-4 * a / ((1+a)*(1+a) + b*b))
	} else {
		re = math.Log1p(4 * a / ((1-a)*(1-a) + b*b))
	}
	return complex(0.25*re, 0.5*math.Atan2(2*b, (1-a)*(1+a)-b*b))
}

func CmplxAsinh(x complex128) complex128 { return timesMinusI(CmplxAsin(timesI(x))) }

func CmplxAtan(x complex128) complex128 { return timesMinusI(CmplxAtanh(timesI(x))) }

func CmplxPow(x, y complex128) complex128 {
	if y == 0 {
		return 1
	}
	if x == 0 {
		if real(y) < 0 {
			if imag(y) == 0 {
				return complex(math.Inf(1), 0)
			}
			return CmplxInf()
		}
		if real(y) > 0 {
			return 0
		}
		return CmplxNaN()
	}
	l := CmplxLog(x)
	return CmplxExp(complex(real(y)*real(l)-imag(y)*imag(l), real(y)*imag(l)+imag(y)*real(l)))
}
