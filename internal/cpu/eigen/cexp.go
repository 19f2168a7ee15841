package eigen

import (
	"math"

	"weft/internal/fma"
)

// Exponentials of complex numbers, with the same bits on every processor.

// mostAngle bounds angles whose sines have digits: sinCos subtracts multiples of pi/2 in three parts.
const mostAngle = 1 << 50

// sinCos returns the sine and the cosine of an angle of at most mostAngle, within a few units in the last place of 1.
// Source: Cody and Waite, Software Manual for the Elementary Functions, 1980, on the reduction; the fused multiply-add
// makes its first step exact.
func sinCos(x float64) (sin, cos float64) {
	const p1, p2, p3 = 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110 // of pi/2
	q := math.RoundToEven(x * (2 / math.Pi))
	r := math.FMA(-q, p3, math.FMA(-q, p2, math.FMA(-q, p1, x)))
	s, c, z := 1.0, 1.0, float64(r*r)
	for i := 9.0; i > 0; i-- {
		s = 1 - float64(z*s)/float64(2*i*(2*i+1))
		c = 1 - float64(z*c)/float64(2*i*(2*i-1))
	}
	s *= r
	switch int64(q) & 3 {
	case 1:
		return c, -s
	case 2:
		return -s, -c
	case 3:
		return -c, s
	}
	return s, c
}

// cexp is e^z.
func cexp(z complex128) complex128 {
	if imag(z) == 0 {
		return complex(exp(real(z)), imag(z))
	}
	s, c := sinCos(imag(z))
	e := exp(real(z))
	if math.IsInf(e, 1) { // a product with a small cosine or sine may be in range
		e = exp(real(z) / 2)
		return complex(float64(e*c)*e, float64(e*s)*e)
	}
	return complex(float64(e*c), float64(e*s))
}

// cexpDifference is the divided difference (exp(a)-exp(b)) / (a-b), for equal numbers exp(a).
func cexpDifference(a, b complex128) complex128 {
	if imag(a) == 0 && imag(b) == 0 {
		return complex(expDifference(real(a), real(b)), 0)
	}
	d := a - b
	x, y := float64(real(d)/2), float64(imag(d)/2)
	if math.Abs(x) > 0.5 || math.Abs(y) > 0.5 {
		if low := exp(min(real(a), real(b))); math.IsInf(low, 1) {
			return cexp(a)
		}
		p, q := cexp(a), cexp(b)
		if math.Abs(x) > 0.5 || modulus(p-q) > 0.25*modulus(p) { // else the difference has few digits
			return fma.Quotient(p-q, d)
		}
	}
	// exp((a+b)/2) * sinh(d/2)/(d/2), where sinh(x+iy) = sinh x * cos y + i * cosh x * sin y.
	middle := cexp(b + complex(x, y))
	if q := times(complex(x, y), complex(x, y)); math.Abs(y) <= 0.5 {
		s := complex(1, 0)
		for i := 10.0; i > 0; i-- {
			s = 1 + times(q, s)/complex(float64(2*i*(2*i+1)), 0)
		}
		return times(middle, s)
	}
	z, sinh, cosh := float64(x*x), 1.0, 1.0
	for i := 8.0; i > 0; i-- {
		sinh = 1 + float64(z*sinh)/float64(2*i*(2*i+1))
		cosh = 1 + float64(z*cosh)/float64(2*i*(2*i-1))
	}
	sin, cos := sinCos(y)
	return times(middle, fma.Quotient(complex(float64(float64(x*sinh)*cos), float64(cosh*sin)), complex(x, y)))
}
