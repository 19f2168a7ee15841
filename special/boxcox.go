package special

import (
	"fmt"

	"weft"
)

// BoxCox is Box and Cox's transformation (x^lambda - 1)/lambda of x, and log(x) where lambda is 0. It is NaN for
// x below 0.
func BoxCox(x, lambda any) *weft.Tensor {
	return formula("special.boxcox", powerOf("log(x)"), argument{"x", x}, argument{"lambda", lambda})
}

// BoxCox1p is [BoxCox] of 1+x, exact for small x.
func BoxCox1p(x, lambda any) *weft.Tensor {
	return formula("special.boxcox1p", powerOf("log1p(x)"), argument{"x", x}, argument{"lambda", lambda})
}

// InvBoxCox is the inverse of [BoxCox] by x: (1 + lambda*y)^(1/lambda), and exp(y) where lambda is 0.
func InvBoxCox(y, lambda any) *weft.Tensor {
	return formula("special.inv_boxcox", "exp("+rootLog+")", argument{"y", y}, argument{"lambda", lambda})
}

// InvBoxCox1p is the inverse of [BoxCox1p] by x, exact for small y.
func InvBoxCox1p(y, lambda any) *weft.Tensor {
	return formula("special.inv_boxcox1p", "expm1("+rootLog+")", argument{"y", y}, argument{"lambda", lambda})
}

// ExpRel is (exp(x)-1)/x, without a cancellation: 1 at 0.
func ExpRel(x *weft.Tensor) *weft.Tensor {
	return formula("special.exprel", "where(abs(x) < 0.25, "+expSeries("x")+", where(x == inf, inf, expm1(x)/where(abs(x) < 0.25, 1, x)))", argument{"x", x})
}

// The quotients below lose the digits of their derivatives near 0, where their power series have them.

// expSeries is the formula of (exp(x)-1)/x for x up to 1/4: the sum of x^k/(k+1)!.
func expSeries(x string) string {
	text := "1"
	for k := 13; k > 1; k-- {
		text = fmt.Sprintf("(1 + %s*%s/%d)", x, text, k)
	}
	return text
}

// powerOf is the formula of (exp(lambda*log)-1)/lambda, and log where lambda is 0.
func powerOf(log string) string {
	near := "(abs(lambda*" + log + ") < 0.25)"
	return "where(" + near + ", " + log + "*" + expSeries("where("+near+", lambda*"+log+", 0)") +
		", where(lambda == 0, " + log + ", expm1(lambda*" + log + ")/where(" + near + " || (lambda == 0), 1, lambda)))"
}

// rootLog is the formula of log1p(lambda*y)/lambda, and y where lambda is 0. Its series is the sum of
// (-lambda*y)^k/(k+1).
var rootLog = func() string {
	const near = "(abs(lambda*y) < 0.02)"
	const v = "where(" + near + ", lambda*y, 0)"
	text := "1/10"
	for k := 9; k > 0; k-- {
		text = fmt.Sprintf("(1/%d - %s*%s)", k, v, text)
	}
	return "where(" + near + ", y*" + text + ", where(lambda == 0, y, log1p(lambda*y)/where(" + near + " || (lambda == 0), 1, lambda)))"
}()
