// Package special has the special functions of mathematical physics and statistics, under the names of
// scipy.special in Go case. It has the gamma and beta family with its incomplete functions and their inverses, and
// Bessel's, Airy's and Struve's functions. Others are hypergeometric functions, Faddeeva's function, exponential,
// elliptic and Fresnel's integrals, the normal distribution, combinatorics.
//
//	y := special.GammaInc(2.5, x)       // the distribution function of gamma numbers
//	k := special.K0e(x)                 // exp(x)*K0(x)
//	z := weft.Expr("ndtri(p) + i0e(x)", weft.Vars{"p": p, "x": x}) // also in formulas, by SciPy's names
//
// Functions take arrays of any shape; several arguments broadcast and promote as in methods of
// [weft.Tensor]. An argument of type any is a *weft.Tensor or a Go number. Float16, bfloat16, float32
// and float64 keep their type, integers and Bool give float32. Complex numbers are refused except where a
// function says otherwise. Functions
// are vectorised, the same bits come on every processor, and gradients exist to any order except where
// a function says otherwise.
//
// What arrays have as methods is not here again: [weft.Tensor.Erf], [weft.Tensor.Erfc],
// [weft.Tensor.Erfinv], [weft.Tensor.Sigmoid] (SciPy's expit), [weft.Tensor.Softmax],
// [weft.Tensor.LogSumExp], [weft.Tensor.Lgamma] (gammaln), [weft.Tensor.Digamma] (psi).
//
// # Accuracy
//
// All is computed in float64, so float32 results are the exact ones rounded, but next to zeros. The
// test of this package compares each function with mpmath, and with SciPy's errors on the same arguments.
//
// Functions panic with *[weft.Error], whose operation is special.name.
package special
