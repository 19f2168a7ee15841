package special

import (
	"weft"
	"weft/internal/array"
)

// Orthogonal polynomials by their recurrences of three terms (DLMF 18.9).

// maxDegree bounds the degrees.
const maxDegree = 10_000

// recurrence is the polynomial of degree n: of degree 0 it is 1, of degree 1 what the formula first gives, and of
// degree k+1 what the formula next gives of k, x, the last polynomial p and the one before, q.
func recurrence(name string, n int, x *weft.Tensor, first, next string, more ...argument) *weft.Tensor {
	defer array.Named(name).End()
	if n < 0 || n > maxDegree {
		array.Failf(name, "n", "is %d, want 0 to %d", n, maxDegree)
	}
	x = operand(name, argument{"x", x})
	vars := weft.Vars{"x": x}
	for _, a := range more {
		vars[a.name] = a.value
	}
	q := weft.Expr("0*x + 1", vars)
	if n == 0 {
		return q
	}
	p := weft.Expr(first, vars)
	for k := 1; k < n; k++ {
		vars["k"], vars["p"], vars["q"] = float64(k), p, q
		p, q = weft.Expr(next, vars), p
	}
	return p
}

// EvalLegendre is Legendre's polynomial of degree n at x. It panics where n is not from 0 to
// 10,000.
func EvalLegendre(n int, x *weft.Tensor) *weft.Tensor {
	return recurrence("special.eval_legendre", n, x, "x", "((2*k + 1)*x*p - k*q)/(k + 1)")
}

// EvalChebyT is Chebyshev's polynomial of the first kind of degree n at x. It panics where n is not from 0 to
// 10,000.
func EvalChebyT(n int, x *weft.Tensor) *weft.Tensor {
	return recurrence("special.eval_chebyt", n, x, "x", "2*x*p - q")
}

// EvalChebyU is Chebyshev's polynomial of the second kind of degree n at x. It panics where n is not from 0 to
// 10,000.
func EvalChebyU(n int, x *weft.Tensor) *weft.Tensor {
	return recurrence("special.eval_chebyu", n, x, "2*x", "2*x*p - q")
}

// EvalHermite is Hermite's polynomial of degree n at x, which belongs to the weight exp(-x*x). It panics where n is
// not from 0 to 10,000.
func EvalHermite(n int, x *weft.Tensor) *weft.Tensor {
	return recurrence("special.eval_hermite", n, x, "2*x", "2*x*p - 2*k*q")
}

// EvalHermiteNorm is Hermite's polynomial of degree n at x, which belongs to the weight exp(-x*x/2). It panics where
// n is not from 0 to 10,000.
func EvalHermiteNorm(n int, x *weft.Tensor) *weft.Tensor {
	return recurrence("special.eval_hermitenorm", n, x, "x", "x*p - k*q")
}

// EvalLaguerre is Laguerre's polynomial of degree n at x. It panics where n is not from 0 to
// 10,000.
func EvalLaguerre(n int, x *weft.Tensor) *weft.Tensor {
	return genLaguerre("special.eval_laguerre", n, 0, x)
}

// EvalGenLaguerre is the generalised Laguerre polynomial of degree n and parameter alpha at x. It panics where n is
// not from 0 to 10,000.
func EvalGenLaguerre(n int, alpha float64, x *weft.Tensor) *weft.Tensor {
	return genLaguerre("special.eval_genlaguerre", n, alpha, x)
}

func genLaguerre(name string, n int, alpha float64, x *weft.Tensor) *weft.Tensor {
	return recurrence(name, n, x, "a + 1 - x", "((2*k + 1 + a - x)*p - (k + a)*q)/(k + 1)", argument{"a", alpha})
}

// EvalGegenbauer is Gegenbauer's polynomial of degree n and parameter alpha at x. It panics where n is not from 0 to
// 10,000.
func EvalGegenbauer(n int, alpha float64, x *weft.Tensor) *weft.Tensor {
	return recurrence("special.eval_gegenbauer", n, x, "2*a*x", "(2*(k + a)*x*p - (k + 2*a - 1)*q)/(k + 1)", argument{"a", alpha})
}
