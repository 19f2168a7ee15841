package special

import "weft"

// XLog1PY is x*log1p(y), and 0 where x is 0, unless y is NaN.
func XLog1PY(x, y any) *weft.Tensor {
	return written("special.xlog1py", argument{"x", x}, argument{"y", y})
}

// Entr is -x*log(x): 0 at 0 and minus infinity below.
func Entr(x *weft.Tensor) *weft.Tensor {
	return written("special.entr", argument{"x", x})
}

// RelEntr is x*log(x/y): 0 for x = 0 and y from 0 on, and infinite where x or y is below 0 or y alone is 0.
func RelEntr(x, y any) *weft.Tensor {
	return written("special.rel_entr", argument{"x", x}, argument{"y", y})
}

// KLDiv is x*log(x/y) - x + y: y for x = 0 and y from 0 on, and infinite where x or y is below 0 or y alone
// is 0.
func KLDiv(x, y any) *weft.Tensor {
	return written("special.kl_div", argument{"x", x}, argument{"y", y})
}

// Huber is Huber's loss of r: r*r/2 where |r| is at most delta, else delta*(|r| - delta/2), and infinite
// where delta is below 0.
func Huber(delta, r any) *weft.Tensor {
	return written("special.huber", argument{"delta", delta}, argument{"r", r})
}

// PseudoHuber is delta*delta*(sqrt(1 + (r/delta)^2) - 1): 0 where delta is 0, and infinite where it is below 0.
func PseudoHuber(delta, r any) *weft.Tensor {
	return written("special.pseudo_huber", argument{"delta", delta}, argument{"r", r})
}
