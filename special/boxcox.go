package special

import "weft"

// BoxCox is Box and Cox's transformation (x^lambda - 1)/lambda of x, and log(x) where lambda is 0. It is NaN for
// x below 0.
func BoxCox(x, lambda any) *weft.Tensor {
	return written("special.boxcox", argument{"x", x}, argument{"lambda", lambda})
}

// BoxCox1p is [BoxCox] of 1+x, exact for small x.
func BoxCox1p(x, lambda any) *weft.Tensor {
	return written("special.boxcox1p", argument{"x", x}, argument{"lambda", lambda})
}

// InvBoxCox is the inverse of [BoxCox] by x: (1 + lambda*y)^(1/lambda), and exp(y) where lambda is 0.
func InvBoxCox(y, lambda any) *weft.Tensor {
	return written("special.inv_boxcox", argument{"y", y}, argument{"lambda", lambda})
}

// InvBoxCox1p is the inverse of [BoxCox1p] by x, exact for small y.
func InvBoxCox1p(y, lambda any) *weft.Tensor {
	return written("special.inv_boxcox1p", argument{"y", y}, argument{"lambda", lambda})
}

// ExpRel is (exp(x)-1)/x, without a cancellation: 1 at 0.
func ExpRel(x *weft.Tensor) *weft.Tensor {
	return written("special.exprel", argument{"x", x})
}
