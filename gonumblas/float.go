package gonumblas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Dgemm computes c = alpha*op(a)*op(b) + beta*c, op(a) being m x k and op(b) k x n.
func (Implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsymm computes c = alpha*a*b + beta*c, or with s Right alpha*b*a + beta*c, from a triangle of a symmetric a.
func (Implementation) Dsymm(s blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !symm(false, s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Dsymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsyrk computes a triangle of c = alpha*op(a)*op(a)^T + beta*c, op(a) being n x k.
func (Implementation) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if !rank(false, false, ul, t, n, k, alpha, a, lda, nil, 0, beta, c, ldc) {
		own.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Dsyr2k computes a triangle of c = alpha*op(a)*op(b)^T + alpha*op(b)*op(a)^T + beta*c, op(a) and op(b) being n x k.
func (Implementation) Dsyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !rank(false, true, ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Dsyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dtrmm computes b = alpha*op(a)*b, or with s Right alpha*b*op(a), for a triangular a.
func (Implementation) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if !triangle(false, gonum.Implementation.Dtrmm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		own.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Dtrsm solves op(a)*x = alpha*b, or with s Right x*op(a) = alpha*b, for a triangular a. b becomes x.
func (Implementation) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if !triangle(true, gonum.Implementation.Dtrsm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		own.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Sgemm computes c = alpha*op(a)*op(b) + beta*c, op(a) being m x k and op(b) k x n.
func (Implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Ssymm computes c = alpha*a*b + beta*c, or with s Right alpha*b*a + beta*c, from a triangle of a symmetric a.
func (Implementation) Ssymm(s blas.Side, ul blas.Uplo, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !symm(false, s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Ssymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Ssyrk computes a triangle of c = alpha*op(a)*op(a)^T + beta*c, op(a) being n x k.
func (Implementation) Ssyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32, c []float32, ldc int) {
	if !rank(false, false, ul, t, n, k, alpha, a, lda, nil, 0, beta, c, ldc) {
		own.Ssyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Ssyr2k computes a triangle of c = alpha*op(a)*op(b)^T + alpha*op(b)*op(a)^T + beta*c, op(a) and op(b) being n x k.
func (Implementation) Ssyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !rank(false, true, ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Ssyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Strmm computes b = alpha*op(a)*b, or with s Right alpha*b*op(a), for a triangular a.
func (Implementation) Strmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int) {
	if !triangle(false, gonum.Implementation.Strmm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		own.Strmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Strsm solves op(a)*x = alpha*b, or with s Right x*op(a) = alpha*b, for a triangular a. b becomes x.
func (Implementation) Strsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int) {
	if !triangle(true, gonum.Implementation.Strsm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		own.Strsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}
