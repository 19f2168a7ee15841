package special

import (
	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// Distribution functions under SciPy's names, from the incomplete gamma and beta functions.

// composed applies an operation to formulas of the arguments.
func composed(name string, d *op.Def, args []argument, formulas ...string) *weft.Tensor {
	defer array.Named(name).End()
	operands := make([]argument, len(formulas))
	for i, text := range formulas {
		operands[i] = argument{text, formula(name, text, args...)}
	}
	return several(name, d, operands...)
}

// StdTr is the distribution function of Student's t with df degrees of freedom at t. A t beyond 1e154 counts
// as infinite. It has no gradient by df.
func StdTr(df, t any) *weft.Tensor {
	return several("special.stdtr", op.StudentCDF, argument{"df", df}, argument{"t", t})
}

// StdTrIt is the inverse of [StdTr] by t. It has no gradient by df.
func StdTrIt(df, p any) *weft.Tensor {
	return several("special.stdtrit", op.StudentInverse, argument{"df", df}, argument{"p", p})
}

// ChDtr is the distribution function of chi squared with v degrees of freedom at x.
func ChDtr(v, x any) *weft.Tensor {
	return formula("special.chdtr", "gammainc(0.5*v, 0.5*x)", argument{"v", v}, argument{"x", x})
}

// ChDtrC is 1-ChDtr(v, x) without a cancellation.
func ChDtrC(v, x any) *weft.Tensor {
	return formula("special.chdtrc", "gammaincc(0.5*v, 0.5*x)", argument{"v", v}, argument{"x", x})
}

// ChDtrI is the inverse of [ChDtrC] by x.
func ChDtrI(v, p any) *weft.Tensor {
	return formula("special.chdtri", "2*gammainccinv(0.5*v, p)", argument{"v", v}, argument{"p", p})
}

// FDtr is the distribution function of the F distribution with dfn and dfd degrees of freedom at x, by which alone it
// has a gradient.
func FDtr(dfn, dfd, x any) *weft.Tensor {
	return several("special.fdtr", op.FisherCDF, argument{"dfn", dfn}, argument{"dfd", dfd}, argument{"x", x})
}

// FDtrC is 1-FDtr(dfn, dfd, x) without a cancellation.
func FDtrC(dfn, dfd, x any) *weft.Tensor {
	return several("special.fdtrc", op.FisherSurvival, argument{"dfn", dfn}, argument{"dfd", dfd}, argument{"x", x})
}

// FDtrI is the inverse of [FDtr] by x.
func FDtrI(dfn, dfd, p any) *weft.Tensor {
	// Halves of tiny degrees would lose digits. Where dfd alone is tiny, probabilities are multiples of it, and those
	// beyond it make x infinite.
	const first, second = "0.5*where(dfn < 1e-270, 1e210*dfn, dfn)", "0.5*where(dfd < 1e-270, 1e210*dfd, dfd)"
	const level = "where(dfn < 1e-270, p, where(dfd < 1e-270, where(p < 1e-211, 1e210*p, where(p < 1, 0.5*(p+1), p)), p))"
	root := composed("special.fdtri", op.BetaRoot, []argument{{"dfn", dfn}, {"dfd", dfd}, {"p", p}}, first, second, level)
	const odds = "where(dfn < 1e-270, dfd/dfn*root*root, where(dfd < 1e-270, where(root < 1e140, root*root/dfn*dfd, root/dfn*dfd*root), dfd/dfn*root*root))"
	return formula("special.fdtri", "where(root == 0, 0*dfd*dfn, "+odds+")", argument{"dfn", dfn}, argument{"dfd", dfd}, argument{"root", root})
}

// BDtr is the probability of at most floor(k) successes of n trials that succeed with probability p: NaN where p
// is not from 0 to 1.
func BDtr(k, n, p any) *weft.Tensor {
	return trials("special.bdtr", "where(k >= n, 1, c)", k, n, p, "1 - p", "p", rest, "floor(k) + 1")
}

// BDtrC is 1-BDtr(k, n, p) without a cancellation.
func BDtrC(k, n, p any) *weft.Tensor {
	return trials("special.bdtrc", "where(k >= n, 0, c)", k, n, p, "p", "1 - p", "floor(k) + 1", rest)
}

// rest is n-floor(k), or 1 where that may not be above 0: there the value has no part of it, but derivatives do.
const rest = "where(k >= n, 1, n - floor(k))"

// trials is a formula of k, n and c, the beta distribution's function of formulas of k, n and p.
func trials(name, text string, k, n, p any, formulas ...string) *weft.Tensor {
	c := composed(name, op.BetaCDF, []argument{{"k", k}, {"n", n}, {"p", p}}, formulas...)
	return formula(name, "where(p < 0, nan, where(p > 1, nan, "+text+"))", argument{"k", k}, argument{"n", n}, argument{"p", p}, argument{"c", c})
}

// PDtr is the probability that a Poisson number with rate m is at most floor(k).
func PDtr(k, m any) *weft.Tensor {
	return formula("special.pdtr", "gammaincc(floor(k) + 1, m)", argument{"k", k}, argument{"m", m})
}

// PDtrC is 1-PDtr(k, m) without a cancellation.
func PDtrC(k, m any) *weft.Tensor {
	return formula("special.pdtrc", "gammainc(floor(k) + 1, m)", argument{"k", k}, argument{"m", m})
}
