package special

import (
	"weft"
	"weft/internal/op"
)

// Distribution functions under SciPy's names, from the incomplete gamma and beta functions.

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
	return written("special.chdtr", argument{"v", v}, argument{"x", x})
}

// ChDtrC is 1-ChDtr(v, x) without a cancellation.
func ChDtrC(v, x any) *weft.Tensor {
	return written("special.chdtrc", argument{"v", v}, argument{"x", x})
}

// ChDtrI is the inverse of [ChDtrC] by x.
func ChDtrI(v, p any) *weft.Tensor {
	return written("special.chdtri", argument{"v", v}, argument{"p", p})
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
	return written("special.fdtri", argument{"dfn", dfn}, argument{"dfd", dfd}, argument{"p", p})
}

// BDtr is the probability of at most floor(k) successes of n trials that succeed with probability p: NaN where p
// is not from 0 to 1.
func BDtr(k, n, p any) *weft.Tensor {
	return written("special.bdtr", argument{"k", k}, argument{"n", n}, argument{"p", p})
}

// BDtrC is 1-BDtr(k, n, p) without a cancellation.
func BDtrC(k, n, p any) *weft.Tensor {
	return written("special.bdtrc", argument{"k", k}, argument{"n", n}, argument{"p", p})
}

// PDtr is the probability that a Poisson number with rate m is at most floor(k).
func PDtr(k, m any) *weft.Tensor {
	return written("special.pdtr", argument{"k", k}, argument{"m", m})
}

// PDtrC is 1-PDtr(k, m) without a cancellation.
func PDtrC(k, m any) *weft.Tensor {
	return written("special.pdtrc", argument{"k", k}, argument{"m", m})
}
