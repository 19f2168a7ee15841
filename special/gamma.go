package special

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// An argument is a parameter's name and its value, a *weft.Tensor or a Go number.
type argument struct {
	name  string
	value any
}

// several applies an operation to tensors and numbers. Where all are numbers the result is 0-d.
func several(name string, d *op.Def, args ...argument) *weft.Tensor {
	defer array.Named(name).End()
	operands, some := make([]core.Operand, len(args)), false
	for i, a := range args {
		operands[i] = core.AsOperand[weft.Tensor](name, a.name, a.value)
		some = some || operands[i].T != nil
	}
	if !some {
		operands[0].T = (*core.Tensor)(weft.Scalar(args[0].value))
	}
	return (*weft.Tensor)(core.Apply(d, nil, operands...))
}

// GammaInc is the lower incomplete gamma function of a and x divided by gamma(a): from 0 at x = 0 to 1.
// It is NaN where a or x is negative. The gradient by a has no gradient by a itself.
func GammaInc(a, x any) *weft.Tensor {
	return several("special.gammainc", op.GammaInc, argument{"a", a}, argument{"x", x})
}

// GammaIncC is 1-GammaInc(a, x) without a cancellation.
func GammaIncC(a, x any) *weft.Tensor {
	return several("special.gammaincc", op.GammaIncC, argument{"a", a}, argument{"x", x})
}

// GammaIncInv is the x with GammaInc(a, x) = p: NaN where p is not from 0 to 1 or a is not above 0.
func GammaIncInv(a, p any) *weft.Tensor {
	return several("special.gammaincinv", op.GammaIncInv, argument{"a", a}, argument{"p", p})
}

// GammaIncCInv is the x with GammaIncC(a, x) = q: NaN where q is not from 0 to 1 or a is not above 0.
func GammaIncCInv(a, q any) *weft.Tensor {
	return several("special.gammainccinv", op.GammaIncCInv, argument{"a", a}, argument{"q", q})
}

// Beta is gamma(a)*gamma(b)/gamma(a+b).
func Beta(a, b any) *weft.Tensor {
	return several("special.beta", op.Beta, argument{"a", a}, argument{"b", b})
}

// BetaLn is the logarithm of the absolute value of [Beta], also where that underflows.
func BetaLn(a, b any) *weft.Tensor {
	return several("special.betaln", op.BetaLn, argument{"a", a}, argument{"b", b})
}

// BetaInc is the incomplete beta function of a, b and x divided by beta(a, b): from 0 at x = 0 to 1 at
// x = 1, and NaN outside. It has no gradient by a and b.
func BetaInc(a, b, x any) *weft.Tensor {
	return several("special.betainc", op.BetaInc, argument{"a", a}, argument{"b", b}, argument{"x", x})
}

// BetaIncInv is the x with BetaInc(a, b, x) = p: NaN where p is not from 0 to 1 or a or b is not above 0. Parameters
// of about 0.01, whose x is a high power of p, leave errors of some 50 units in the last place.
// It has no gradient by a and b.
func BetaIncInv(a, b, p any) *weft.Tensor {
	return several("special.betaincinv", op.BetaIncInv, argument{"a", a}, argument{"b", b}, argument{"p", p})
}

// Zeta is Hurwitz' zeta function, the sum of (k+q)^-x over k from 0 on, for x above 1; with q = 1 it is
// Riemann's. It is NaN for x below 1. It has no gradient by x.
func Zeta(x, q any) *weft.Tensor {
	return several("special.zeta", op.Zeta, argument{"x", x}, argument{"q", q})
}
