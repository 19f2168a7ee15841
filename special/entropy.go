package special

import "weft"

// XLog1PY is x*log1p(y), and 0 where x is 0, unless y is NaN.
func XLog1PY(x, y any) *weft.Tensor {
	return formula("special.xlog1py", "where((x == 0) && (y == y), 0*x, x*log1p(where((x == 0) && (y == y), 0, y)))", argument{"x", x}, argument{"y", y})
}

// Entr is -x*log(x): 0 at 0 and minus infinity below.
func Entr(x *weft.Tensor) *weft.Tensor {
	return formula("special.entr", "where(x > 0, -x*log(where(x > 0, x, 1)), where(x == 0, 0, where(x < 0, -inf, nan)))", argument{"x", x})
}

// xLogRatio is x*log(x/y) for x and y above 0, from two logarithms where the quotient underflows or overflows.
const xLogRatio = "x*where((x/where(y > 0, y, 1) > 1e-37) && (x/where(y > 0, y, 1) < inf), log(where((x > 0) && (y > 0), x/where(y > 0, y, 1), 1)), log(where(x > 0, x, 1)) - log(where(y > 0, y, 1)))"

// RelEntr is x*log(x/y): 0 for x = 0 and y from 0 on, and infinite where x or y is below 0 or y alone is 0.
func RelEntr(x, y any) *weft.Tensor {
	return formula("special.rel_entr", "where((x > 0) && (y > 0), "+xLogRatio+", where((x == 0) && (y >= 0), 0, where((x == x) && (y == y), inf, nan)))",
		argument{"x", x}, argument{"y", y})
}

// KLDiv is x*log(x/y) - x + y: y for x = 0 and y from 0 on, and infinite where x or y is below 0 or y alone
// is 0.
func KLDiv(x, y any) *weft.Tensor {
	return formula("special.kl_div", "where((x > 0) && (y > 0), "+xLogRatio+" - x + y, where((x == 0) && (y >= 0), y, where((x == x) && (y == y), inf, nan)))",
		argument{"x", x}, argument{"y", y})
}

// Huber is Huber's loss of r: r*r/2 where |r| is at most delta, else delta*(|r| - delta/2), and infinite
// where delta is below 0.
func Huber(delta, r any) *weft.Tensor {
	return formula("special.huber", "where(delta < 0, inf, where(abs(r) <= delta, 0.5*r*r, delta*(abs(r) - 0.5*delta)))", argument{"delta", delta}, argument{"r", r})
}

// PseudoHuber is delta*delta*(sqrt(1 + (r/delta)^2) - 1): 0 where delta is 0, and infinite where it is below 0.
func PseudoHuber(delta, r any) *weft.Tensor {
	return formula("special.pseudo_huber", "where(delta < 0, inf, where((delta == 0) || ((r == 0) && (delta != delta)), 0, where(abs(r) < inf, where(abs(r)/where(delta == 0, 1, delta) < 1e20, r*(r/(1 + hypot(1 + 0*r, r/where(delta == 0, 1, delta)))), delta*abs(r)), abs(r))))", argument{"delta", delta}, argument{"r", r})
}
