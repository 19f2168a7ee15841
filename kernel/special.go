package kernel

import "weft/internal/gokernel/written"

// Special functions for kernels, which Go's math has not. They have derivatives by all of their
// arguments. In plain Go and compiled they give the same bits, but for Digamma and Trigamma, which
// differ by a few units in the last place.

// Digamma returns the derivative of the logarithm of the gamma function at x, which MATLAB calls
// psi. At 0 it is infinite, at negative integers NaN.
func Digamma(x float64) float64 { return written.KernelDigamma(x) }

// Trigamma returns the derivative of [Digamma] at x, MATLAB's psi(1, x). At 0 and at negative
// integers it is infinite.
func Trigamma(x float64) float64 { return written.KernelTrigamma(x) }

// Erfcx returns exp(x*x)*erfc(x), which neither underflows nor cancels for large x.
func Erfcx(x float64) float64 { return written.KernelErfcx(x) }

// GammaInc returns the lower incomplete gamma function of a and x, divided by gamma(a): from 0 at
// x = 0 to 1. MATLAB's gammainc takes x first. It is NaN where a or x is negative.
func GammaInc(a, x float64) float64 { return written.KernelGammaInc(a, x) }

// GammaIncC returns 1-GammaInc(a, x) without cancellation, MATLAB's gammainc(x, a, 'upper').
func GammaIncC(a, x float64) float64 { return written.KernelGammaIncC(a, x) }

// Beta returns gamma(a)*gamma(b)/gamma(a+b). It is NaN where a or b is negative.
func Beta(a, b float64) float64 { return written.KernelBeta(a, b) }

// LogBeta returns the logarithm of [Beta], MATLAB's betaln, also where Beta underflows.
func LogBeta(a, b float64) float64 { return written.KernelLogBeta(a, b) }
