package special

import (
	"math"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// operand is an argument as a tensor of floats: a number becomes 0-d, of x's type where x is a tensor.
func operand(name string, a argument, beside ...any) *weft.Tensor {
	o := core.AsOperand[weft.Tensor](name, a.name, a.value)
	if o.T == nil {
		for _, b := range beside {
			if t, ok := b.(*weft.Tensor); ok && t != nil && t.DType().Float() {
				return weft.ScalarOf(t.DType(), a.value)
			}
		}
		return weft.Scalar(a.value).To(weft.Float32)
	}
	t := (*weft.Tensor)(o.T)
	if t.DType().Complex() {
		array.Failf(name, a.name, "is %s, want real numbers", t.DType())
	}
	if !t.DType().Float() {
		return t.To(weft.Float32)
	}
	return t
}

// written computes the function of formulas that has the name behind "special.", of floats.
func written(name string, args ...argument) *weft.Tensor {
	defer array.Named(name).End()
	vars, names := weft.Vars{}, make([]string, len(args))
	values := make([]any, len(args))
	for i, a := range args {
		values[i], names[i] = a.value, a.name
	}
	for _, a := range args {
		vars[a.name] = operand(name, a, values...)
	}
	return weft.Expr(strings.TrimPrefix(name, "special.")+"("+strings.Join(names, ", ")+")", vars)
}

// LogGamma is the logarithm of gamma(x). For complex x it is the branch without a cut but the negative real line, and
// NaN at the poles; its errors are a few units in the last place of the result's absolute value, more beside zeros.
// For real x below 0 it is NaN, where SciPy's needs complex x. The logarithm of gamma's absolute value is
// [weft.Tensor.Lgamma]. Formulas have the parts of complex results as loggamma_real(x, y) and loggamma_imag(x, y).
func LogGamma(x *weft.Tensor) *weft.Tensor {
	if x != nil && x.DType().Complex() {
		return unary("special.loggamma", op.LogGammaComplex, x)
	}
	return written("special.loggamma", argument{"x", x})
}

// RGamma is 1/gamma(x), which is 0 at 0, the negative integers and minus infinity. Its first two derivatives exist
// at the integers from -170 to 0 too, and are 0 at those below and where gamma(1-x) overflows x's type.
func RGamma(x *weft.Tensor) *weft.Tensor {
	return written("special.rgamma", argument{"x", x})
}

// Factorial is n! = gamma(n+1), also of numbers that are not whole; below 0 it is 0, as in SciPy. Whole
// numbers up to 18 give exact results.
func Factorial(n *weft.Tensor) *weft.Tensor {
	return written("special.factorial", argument{"n", n})
}

// Factorial2 is the double factorial n*(n-2)*(n-4)*... of whole n; below 0 it is 0. Odd n have
// 2^(n/2+1/2)/sqrt(pi)*gamma(n/2+1), even ones 2^(n/2)*gamma(n/2+1).
func Factorial2(n *weft.Tensor) *weft.Tensor {
	return written("special.factorial2", argument{"n", n})
}

// Binom is the binomial coefficient gamma(n+1)/(gamma(k+1)*gamma(n-k+1)) of real numbers. Whole
// coefficients below 2^50 are exact. Gradients are NaN at the poles of a gamma function, as at k = -1.
func Binom(n, k any) *weft.Tensor {
	return several("special.binom", op.Binom, argument{"n", n}, argument{"k", k})
}

// Comb is the number of ways to choose k of n things: [Binom], but 0 where k is above n or one is below 0.
func Comb(n, k any) *weft.Tensor {
	return written("special.comb", argument{"n", n}, argument{"k", k})
}

// Perm is the number of ordered ways to choose k of n things, n*(n-1)*...*(n-k+1): 0 where k is above n or
// one is below 0.
func Perm(n, k any) *weft.Tensor {
	return written("special.perm", argument{"n", n}, argument{"k", k})
}

// Poch is Pochhammer's symbol gamma(x+m)/gamma(x), the rising factorial. Gradients are NaN at the poles of a gamma
// function, as at x = -1.
func Poch(x, m any) *weft.Tensor {
	return several("special.poch", op.Poch, argument{"x", x}, argument{"m", m})
}

// PolyGamma is derivative n of the digamma function. It panics where n is negative.
func PolyGamma(n int, x *weft.Tensor) *weft.Tensor {
	defer array.Named("special.polygamma").End()
	if n < 0 {
		array.Failf("special.polygamma", "n", "is %d, want 0 or more", n)
	}
	x = operand("special.polygamma", argument{"x", x})
	switch n {
	case 0:
		return x.Digamma()
	case 1:
		return x.Trigamma()
	}
	f := math.Gamma(float64(n) + 1)
	if n%2 == 0 {
		f = -f
	}
	z := Zeta(float64(n+1), x.To(weft.Float64))
	return z.Mul(f).To(x.DType())
}
