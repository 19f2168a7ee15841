package special

import "weft"

// BoxCox is Box and Cox's transformation (x^lambda - 1)/lambda of x, and log(x) where lambda is 0. It is NaN for
// x below 0.
func BoxCox(x, lambda any) *weft.Tensor {
	return formula("special.boxcox", "where(abs(l) < 1e-19, log(x), expm1(l*log(x))/where(abs(l) < 1e-19, 1, l))", argument{"x", x}, argument{"l", lambda})
}

// BoxCox1p is [BoxCox] of 1+x, exact for small x.
func BoxCox1p(x, lambda any) *weft.Tensor {
	return formula("special.boxcox1p", "where(abs(l) < 1e-19, log1p(x), expm1(l*log1p(x))/where(abs(l) < 1e-19, 1, l))", argument{"x", x}, argument{"l", lambda})
}

// InvBoxCox is the inverse of [BoxCox] by x: (1 + lambda*y)^(1/lambda), and exp(y) where lambda is 0.
func InvBoxCox(y, lambda any) *weft.Tensor {
	return formula("special.inv_boxcox", "where(l == 0, exp(y), exp(log1p(l*y)/where(l == 0, 1, l)))", argument{"y", y}, argument{"l", lambda})
}

// InvBoxCox1p is the inverse of [BoxCox1p] by x, exact for small y.
func InvBoxCox1p(y, lambda any) *weft.Tensor {
	return formula("special.inv_boxcox1p", "where(l == 0, expm1(y), where(abs(l*y) < 1e-154, expm1(y), expm1(log1p(l*y)/where(l == 0, 1, l))))", argument{"y", y}, argument{"l", lambda})
}

// ExpRel is (exp(x)-1)/x, without a cancellation: 1 at 0.
func ExpRel(x *weft.Tensor) *weft.Tensor {
	return formula("special.exprel", "where(abs(x) < 1e-16, 1, where(x == inf, inf, expm1(x)/where(abs(x) < 1e-16, 1, x)))", argument{"x", x})
}
