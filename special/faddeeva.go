package special

import (
	"weft"
	"weft/internal/op"
)

// Wofz is Faddeeva's function w(z) = exp(-z*z)*erfc(-iz) of complex z, complex128 for complex128 and float64,
// otherwise complex64. Its parts have errors of a few units in the last place, each its own, in the upper half
// plane; below they are relative to the greater part and to 2*exp(-z*z). Formulas have the parts as
// wofz_real(x, y) and wofz_imag(x, y).
func Wofz(z *weft.Tensor) *weft.Tensor { return unary("special.wofz", op.Wofz, z) }

// VoigtProfile is the density at x of the sum of a normal number of standard deviation sigma and a Cauchy number
// of half width gamma, which are 0 or more: the Voigt profile of spectral lines. Where sigma is 0 it is Cauchy's
// density, with a first gradient by all three.
func VoigtProfile(x, sigma, gamma any) *weft.Tensor {
	return several("special.voigt_profile", op.VoigtProfile, argument{"x", x}, argument{"sigma", sigma}, argument{"gamma", gamma})
}

// Erfi is the imaginary error function, 2/sqrt(pi) times the integral of exp(t*t) from 0 to x.
func Erfi(x *weft.Tensor) *weft.Tensor { return unary("special.erfi", op.Erfi, x) }
