package special

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// unary applies an operation to x.
func unary(name string, d *op.Def, x *weft.Tensor) *weft.Tensor {
	defer array.Named(name).End()
	return (*weft.Tensor)(core.Apply(d, nil, core.Of(name, (*core.Tensor)(x))))
}

// Gamma is the gamma function: infinite at 0 with the sign of x, and NaN at negative integers. Of complex numbers
// it is exp(LogGamma(x)), whose error grows with the logarithm, and NaN at 0 too. Formulas have its parts as
// gamma_real(x, y) and gamma_imag(x, y).
func Gamma(x *weft.Tensor) *weft.Tensor { return unary("special.gamma", op.Gamma, x) }

// ErfcInv is the inverse of [weft.Tensor.Erfc], infinite at 0 and 2 and NaN outside.
func ErfcInv(x *weft.Tensor) *weft.Tensor { return unary("special.erfcinv", op.Erfcinv, x) }

// Erfcx is exp(x*x)*erfc(x), which neither underflows nor cancels for large x.
func Erfcx(x *weft.Tensor) *weft.Tensor { return unary("special.erfcx", op.Erfcx, x) }

// Ndtr is the distribution function of the normal distribution, with all digits of its lower tail.
func Ndtr(x *weft.Tensor) *weft.Tensor { return unary("special.ndtr", op.Ndtr, x) }

// LogNdtr is the logarithm of [Ndtr], also where that underflows.
func LogNdtr(x *weft.Tensor) *weft.Tensor { return unary("special.log_ndtr", op.LogNdtr, x) }

// Ndtri is the inverse of [Ndtr]: infinite at 0 and 1, and NaN outside.
func Ndtri(x *weft.Tensor) *weft.Tensor { return unary("special.ndtri", op.Ndtri, x) }

// Dawsn is Dawson's integral, exp(-x*x) times the integral of exp(t*t) from 0 to x.
func Dawsn(x *weft.Tensor) *weft.Tensor { return unary("special.dawsn", op.Dawsn, x) }

// Exp1 is the exponential integral E1, the integral of exp(-t)/t from x on: infinite at 0 and NaN below.
func Exp1(x *weft.Tensor) *weft.Tensor { return unary("special.exp1", op.Exp1, x) }

// Expi is the exponential integral Ei, the principal value of the integral of exp(t)/t up to x: minus
// infinity at 0.
func Expi(x *weft.Tensor) *weft.Tensor { return unary("special.expi", op.Expi, x) }

// Sici returns the sine and the cosine integral. The cosine integral is minus infinity at 0 and NaN
// below.
func Sici(x *weft.Tensor) (si, ci *weft.Tensor) {
	return unary("special.sici", op.Si, x), unary("special.sici", op.Ci, x)
}

// Spence is the integral of ln(t)/(1-t) from 1 to x, the dilogarithm of 1-x: NaN below 0.
func Spence(x *weft.Tensor) *weft.Tensor { return unary("special.spence", op.Spence, x) }

// EllipK is the complete elliptic integral of the first kind of the parameter m, the square of the
// modulus: infinite at 1 and NaN above.
func EllipK(m *weft.Tensor) *weft.Tensor { return unary("special.ellipk", op.EllipK, m) }

// EllipE is the complete elliptic integral of the second kind of the parameter m, the square of the
// modulus: 1 at 1 and NaN above.
func EllipE(m *weft.Tensor) *weft.Tensor { return unary("special.ellipe", op.EllipE, m) }

// EllipKInc is the incomplete elliptic integral of the first kind, of 1/sqrt(1-m*sin(t)^2) from 0 to phi: NaN for m
// above 1.
func EllipKInc(phi, m any) *weft.Tensor {
	return several("special.ellipkinc", op.EllipKInc, argument{"phi", phi}, argument{"m", m})
}

// EllipEInc is the incomplete elliptic integral of the second kind, of sqrt(1-m*sin(t)^2) from 0 to phi: NaN for m
// above 1.
func EllipEInc(phi, m any) *weft.Tensor {
	return several("special.ellipeinc", op.EllipEInc, argument{"phi", phi}, argument{"m", m})
}

// LambertW is a branch of Lambert's function, a w with w*exp(w) = x. Of real x branch 0 has w of at least -1 for x of
// at least -1/e, branch -1 has w of at most -1 for x from -1/e to 0. Elsewhere they are NaN, where SciPy gives complex
// numbers, and another branch panics. Complex x have all branches.
func LambertW(x *weft.Tensor, branch int) *weft.Tensor {
	const name = "special.lambertw"
	if x != nil && x.DType().Complex() {
		defer array.Named(name).End()
		return (*weft.Tensor)(core.Apply(op.LambertWComplex, op.Count(branch), core.Of(name, (*core.Tensor)(x))))
	}
	switch branch {
	case 0:
		return unary(name, op.LambertW, x)
	case -1:
		return unary(name, op.LambertWMinus, x)
	}
	array.Failf(name, "branch", "is %d, want 0 or -1: the real ones", branch)
	return nil
}

// Expn is the exponential integral of order n, the integral of exp(-x*t)/t^n over t from 1 on. The order is
// rounded down to a whole number, from -50 on. It is NaN for x below 0, and has no gradient by n.
func Expn(n, x any) *weft.Tensor {
	return several("special.expn", op.Expn, argument{"n", n}, argument{"x", x})
}
