package special

import "weft"

// Distribution functions under SciPy's names, from the incomplete gamma and beta functions.

// StdTr is the distribution function of Student's t with df degrees of freedom at t.
func StdTr(df, t any) *weft.Tensor {
	return formula("special.stdtr", "where(t < 0, 0, 1) + where(t < 0, 0.5, -0.5)*betainc(0.5*df, 0.5 + 0*df, df/(df + t*t))", argument{"df", df}, argument{"t", t})
}

// StdTrIt is the inverse of [StdTr] by t.
func StdTrIt(df, p any) *weft.Tensor {
	return formula("special.stdtrit", "where(p < 0.5, -1, 1)*sqrt(df*where(abs(p - 0.5) > 0.25, 1/betaincinv(0.5*df, 0.5 + 0*df, 2*minimum(p, 1-p)) - 1, betaincinv(0.5 + 0*df, 0.5*df, abs(2*p - 1))/(1 - betaincinv(0.5 + 0*df, 0.5*df, abs(2*p - 1)))))", argument{"df", df}, argument{"p", p})
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

// FDtr is the distribution function of the F distribution with dfn and dfd degrees of freedom at x.
func FDtr(dfn, dfd, x any) *weft.Tensor {
	return formula("special.fdtr", "betainc(0.5*m, 0.5*n, where(x < inf, m*x/(n + m*x), where(x == inf, 1, nan)))", argument{"m", dfn}, argument{"n", dfd}, argument{"x", x})
}

// FDtrC is 1-FDtr(dfn, dfd, x) without a cancellation.
func FDtrC(dfn, dfd, x any) *weft.Tensor {
	return formula("special.fdtrc", "betainc(0.5*n, 0.5*m, n/(n + m*x))", argument{"m", dfn}, argument{"n", dfd}, argument{"x", x})
}

// FDtrI is the inverse of [FDtr] by x.
func FDtrI(dfn, dfd, p any) *weft.Tensor {
	return formula("special.fdtri", "n/m*betaincinv(0.5*m, 0.5*n, p)/(1 - betaincinv(0.5*m, 0.5*n, p))", argument{"m", dfn}, argument{"n", dfd}, argument{"p", p})
}

// BDtr is the probability of at most floor(k) successes of n trials that succeed with probability p.
func BDtr(k, n, p any) *weft.Tensor {
	return formula("special.bdtr", "where(k >= n, 1, betainc(n - floor(k), floor(k) + 1, 1 - p))", argument{"k", k}, argument{"n", n}, argument{"p", p})
}

// BDtrC is 1-BDtr(k, n, p) without a cancellation.
func BDtrC(k, n, p any) *weft.Tensor {
	return formula("special.bdtrc", "where(k >= n, 0, betainc(floor(k) + 1, n - floor(k), p))", argument{"k", k}, argument{"n", n}, argument{"p", p})
}

// PDtr is the probability that a Poisson number with rate m is at most floor(k).
func PDtr(k, m any) *weft.Tensor {
	return formula("special.pdtr", "gammaincc(floor(k) + 1, m)", argument{"k", k}, argument{"m", m})
}

// PDtrC is 1-PDtr(k, m) without a cancellation.
func PDtrC(k, m any) *weft.Tensor {
	return formula("special.pdtrc", "gammainc(floor(k) + 1, m)", argument{"k", k}, argument{"m", m})
}
