package special

import (
	"weft"
	"weft/internal/op"
)

// Hyp2F1 is Gauss' hypergeometric function of real numbers, the sum of (a)_k*(b)_k/((c)_k*k!)*x^k, continued to x
// below -1. It is infinite above 1, and where c is a negative whole number or 0, unless a or b ends the sum before.
// Parameters up to some tens err up to some tens of units in the last place. Where its terms are 2^97 times as large as the
// sum it is NaN, as for a = -500.5, b = 500, c = 3 and x = 0.9. It has no gradient by a, b and c.
func Hyp2F1(a, b, c, x any) *weft.Tensor {
	return several("special.hyp2f1", op.Hyp2F1, argument{"a", a}, argument{"b", b}, argument{"c", c}, argument{"x", x})
}

// Hyp1F1 is Kummer's confluent hypergeometric function of real numbers, the sum of (a)_k/((b)_k*k!)*x^k: infinite
// where b is a negative whole number or 0, unless a ends the sum before. Errors grow with parameters whose terms
// cancel, and where they leave few digits it is NaN: as for a = 100, b = 2 and x = -20. It has no gradient by a and b.
func Hyp1F1(a, b, x any) *weft.Tensor {
	return several("special.hyp1f1", op.Hyp1F1, argument{"a", a}, argument{"b", b}, argument{"x", x})
}

// Hyp0F1 is the confluent hypergeometric limit function of real numbers, the sum of x^k/((v)_k*k!): NaN where v is a
// negative whole number or 0. It has no gradient by v.
func Hyp0F1(v, x any) *weft.Tensor {
	return several("special.hyp0f1", op.Hyp0F1, argument{"v", v}, argument{"x", x})
}
