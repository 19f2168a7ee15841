package gonumblas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Zgemm computes c = alpha*op(a)*op(b) + beta*c, op(a) being m x k and op(b) k x n.
func (Implementation) Zgemm(tA, tB blas.Transpose, m, n, k int, alpha complex128, a []complex128, lda int, b []complex128, ldb int, beta complex128, c []complex128, ldc int) {
	if !gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Zgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Zsymm computes c = alpha*a*b + beta*c, or with s Right alpha*b*a + beta*c, from a triangle of a symmetric a.
func (Implementation) Zsymm(s blas.Side, ul blas.Uplo, m, n int, alpha complex128, a []complex128, lda int, b []complex128, ldb int, beta complex128, c []complex128, ldc int) {
	if !symm(false, s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Zsymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Zhemm computes c = alpha*a*b + beta*c, or with s Right alpha*b*a + beta*c, from a triangle of a Hermitian a.
func (Implementation) Zhemm(s blas.Side, ul blas.Uplo, m, n int, alpha complex128, a []complex128, lda int, b []complex128, ldb int, beta complex128, c []complex128, ldc int) {
	if !symm(true, s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Zhemm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Zsyrk computes a triangle of c = alpha*op(a)*op(a)^T + beta*c, op(a) being n x k.
func (Implementation) Zsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha complex128, a []complex128, lda int, beta complex128, c []complex128, ldc int) {
	if !rank(false, false, ul, t, n, k, alpha, a, lda, nil, 0, beta, c, ldc) {
		own.Zsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Zherk computes a triangle of c = alpha*op(a)*op(a)^H + beta*c, op(a) being n x k.
func (Implementation) Zherk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []complex128, lda int, beta float64, c []complex128, ldc int) {
	if !rank(true, false, ul, t, n, k, complex(alpha, 0), a, lda, nil, 0, complex(beta, 0), c, ldc) {
		own.Zherk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Zsyr2k computes a triangle of c = alpha*op(a)*op(b)^T + alpha*op(b)*op(a)^T + beta*c, op(a) and op(b) being n x k.
func (Implementation) Zsyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha complex128, a []complex128, lda int, b []complex128, ldb int, beta complex128, c []complex128, ldc int) {
	if !rank(false, true, ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Zsyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Zher2k computes a triangle of c = alpha*op(a)*op(b)^H + conj(alpha)*op(b)*op(a)^H + beta*c, op(a) and op(b) being n x k.
func (Implementation) Zher2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha complex128, a []complex128, lda int, b []complex128, ldb int, beta float64, c []complex128, ldc int) {
	if !rank(true, true, ul, t, n, k, alpha, a, lda, b, ldb, complex(beta, 0), c, ldc) {
		own.Zher2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Ztrmm computes b = alpha*op(a)*b, or with s Right alpha*b*op(a), for a triangular a.
func (Implementation) Ztrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha complex128, a []complex128, lda int, b []complex128, ldb int) {
	if !triangle(false, gonum.Implementation.Ztrmm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		own.Ztrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Ztrsm solves op(a)*x = alpha*b, or with s Right x*op(a) = alpha*b, for a triangular a. b becomes x.
func (Implementation) Ztrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha complex128, a []complex128, lda int, b []complex128, ldb int) {
	if !triangle(true, gonum.Implementation.Ztrsm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		own.Ztrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Cgemm computes c = alpha*op(a)*op(b) + beta*c, op(a) being m x k and op(b) k x n.
func (Implementation) Cgemm(tA, tB blas.Transpose, m, n, k int, alpha complex64, a []complex64, lda int, b []complex64, ldb int, beta complex64, c []complex64, ldc int) {
	if !gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Cgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Csymm computes c = alpha*a*b + beta*c, or with s Right alpha*b*a + beta*c, from a triangle of a symmetric a.
func (Implementation) Csymm(s blas.Side, ul blas.Uplo, m, n int, alpha complex64, a []complex64, lda int, b []complex64, ldb int, beta complex64, c []complex64, ldc int) {
	if !symm(false, s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Csymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Chemm computes c = alpha*a*b + beta*c, or with s Right alpha*b*a + beta*c, from a triangle of a Hermitian a.
func (Implementation) Chemm(s blas.Side, ul blas.Uplo, m, n int, alpha complex64, a []complex64, lda int, b []complex64, ldb int, beta complex64, c []complex64, ldc int) {
	if !symm(true, s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Chemm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Csyrk computes a triangle of c = alpha*op(a)*op(a)^T + beta*c, op(a) being n x k.
func (Implementation) Csyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha complex64, a []complex64, lda int, beta complex64, c []complex64, ldc int) {
	if !rank(false, false, ul, t, n, k, alpha, a, lda, nil, 0, beta, c, ldc) {
		own.Csyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Cherk computes a triangle of c = alpha*op(a)*op(a)^H + beta*c, op(a) being n x k.
func (Implementation) Cherk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []complex64, lda int, beta float32, c []complex64, ldc int) {
	if !rank(true, false, ul, t, n, k, complex(alpha, 0), a, lda, nil, 0, complex(beta, 0), c, ldc) {
		own.Cherk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Csyr2k computes a triangle of c = alpha*op(a)*op(b)^T + alpha*op(b)*op(a)^T + beta*c, op(a) and op(b) being n x k.
func (Implementation) Csyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha complex64, a []complex64, lda int, b []complex64, ldb int, beta complex64, c []complex64, ldc int) {
	if !rank(false, true, ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc) {
		own.Csyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Cher2k computes a triangle of c = alpha*op(a)*op(b)^H + conj(alpha)*op(b)*op(a)^H + beta*c, op(a) and op(b) being n x k.
func (Implementation) Cher2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha complex64, a []complex64, lda int, b []complex64, ldb int, beta float32, c []complex64, ldc int) {
	if !rank(true, true, ul, t, n, k, alpha, a, lda, b, ldb, complex(beta, 0), c, ldc) {
		own.Cher2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Ctrmm computes b = alpha*op(a)*b, or with s Right alpha*b*op(a), for a triangular a.
func (Implementation) Ctrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha complex64, a []complex64, lda int, b []complex64, ldb int) {
	if !triangle(false, gonum.Implementation.Ctrmm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		own.Ctrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Ctrsm solves op(a)*x = alpha*b, or with s Right x*op(a) = alpha*b, for a triangular a. b becomes x.
func (Implementation) Ctrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha complex64, a []complex64, lda int, b []complex64, ldb int) {
	if !triangle(true, gonum.Implementation.Ctrsm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		own.Ctrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}
