package special

import (
	"fmt"

	"weft"
)

// XLog1PY is x*log1p(y), and 0 where x is 0, unless y is NaN.
func XLog1PY(x, y any) *weft.Tensor {
	return formula("special.xlog1py", "where((x == 0) && (y == y), 0*x, x*log1p(where((x == 0) && (y == y), 0, y)))", argument{"x", x}, argument{"y", y})
}

// Entr is -x*log(x): 0 at 0 and minus infinity below.
func Entr(x *weft.Tensor) *weft.Tensor {
	return formula("special.entr", "where(x > 0, -x*log(where(x > 0, x, 1)), where(x == 0, 0, where(x < 0, -inf, nan)))", argument{"x", x})
}

// xLogRatio is x*log(x/y) for x and y above 0, from two logarithms where the quotient underflows or overflows. Where x is near
// y the logarithm has what the quotient was rounded by: x - y is exact, and so is the quotient less 1.
const xLogRatio = "x*where((x/where(y > 0, y, 1) > 1e-37) && (x/where(y > 0, y, 1) < inf), log(where((x > 0) && (y > 0), x/where(y > 0, y, 1), 1)) + " +
	"where(" + nearRatio + ", ((x - y) - (x/where(" + nearRatio + ", y, 1) - 1)*y)/where(" + nearRatio + ", x, 1), 0), log(where(x > 0, x, 1)) - log(where(y > 0, y, 1)))"

// nearRatio holds where x and y differ by a factor below 2.
const nearRatio = "(x > 1e-30) && (y > 1e-30) && (x < 2*y) && (y < 2*x) && (x < 1e30)"

// divergence is x*log(x/y) - x + y by a series where x is near y, so that nothing cancels: with s = (x-y)/(x+y), z = s*s and
// p(z) = (artanh(s)-s)/s^3 it is (x+y)*z*(1 + (z+s)*p(z)). The formula has s as an argument.
func divergence() string {
	p := "0"
	for n := 37; n >= 3; n -= 2 {
		p = fmt.Sprintf("(%.17g + s*s*%s)", 1/float64(n), p)
	}
	return "where(" + nearRatio + ", (x + y)*s*s*(1 + (s*s + s)*" + p + "), " + xLogRatio + " - x + y)"
}

// RelEntr is x*log(x/y): 0 for x = 0 and y from 0 on, and infinite where x or y is below 0 or y alone is 0.
func RelEntr(x, y any) *weft.Tensor {
	return formula("special.rel_entr", "where((x > 0) && (y > 0), "+xLogRatio+", where((x == 0) && (y >= 0), 0, where((x == x) && (y == y), inf, nan)))",
		argument{"x", x}, argument{"y", y})
}

// KLDiv is x*log(x/y) - x + y: y for x = 0 and y from 0 on, and infinite where x or y is below 0 or y alone
// is 0.
func KLDiv(x, y any) *weft.Tensor {
	s := formula("special.kl_div", "where("+nearRatio+", (x - y)/where("+nearRatio+", x + y, 1), 0)", argument{"x", x}, argument{"y", y})
	return formula("special.kl_div", "where((x > 0) && (y > 0), "+divergence()+", where((x == 0) && (y >= 0), y, where((x == x) && (y == y), inf, nan)))",
		argument{"x", x}, argument{"y", y}, argument{"s", s})
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
