package special

import (
	"weft"
	"weft/internal/op"
)

// Airy returns Airy's functions of real or complex x and their derivatives. Ai falls and Bi grows for positive x; for
// negative x their errors are relative to the height of their waves. They are NaN below -3e10, where float64 does not
// hold the angle of the waves. Formulas have them as airy_ai, airy_aip, airy_bi and airy_bip.
//
// Of complex x the errors are 4 ULP relative to the absolute value, and more only by zeros beyond a size of 9. With a
// part above 3e10 they are NaN, but for Ai and its derivative where those fall to 0, and at real numbers.
func Airy(x *weft.Tensor) (ai, aip, bi, bip *weft.Tensor) {
	const name = "special.airy"
	return unary(name, op.AiryAi, x), unary(name, op.AiryAip, x), unary(name, op.AiryBi, x), unary(name, op.AiryBip, x)
}

// Fresnel returns the integrals of sin(pi*t*t/2) and cos(pi*t*t/2) from 0 to x. Formulas have them as fresnel_s and
// fresnel_c.
func Fresnel(x *weft.Tensor) (s, c *weft.Tensor) {
	return unary("special.fresnel", op.FresnelS, x), unary("special.fresnel", op.FresnelC, x)
}
