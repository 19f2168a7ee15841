// Package gonumblas puts weft's matrix products below gonum. One import makes mat.Dense.Mul, the factorizations of
// package mat and everything else that stands on gonum's BLAS faster:
//
//	import _ "weft/gonumblas"
//
// The import registers [Implementation] with packages blas64, blas32, cblas128 and cblas64.
// [FromDense], [BorrowDense] and their like share memory between gonum's matrices and weft's tensors.
//
// # What is computed where
//
// Level 3 runs on weft's kernels, on all threads: products, products with symmetric and Hermitian matrices,
// updates of rank k and 2k, products with triangular matrices and their equations. Small problems, and Level 1 and 2,
// run gonum's own code. So do calls with invalid arguments: they panic with gonum's messages.
//
// # Numbers
//
// Results are within the usual error bounds of a product and have other last bits than gonum's. They
// do not depend on the number of threads. gonum's own code skips terms whose factor from A is 0; weft's
// products do not, so that 0*Inf and 0*NaN give NaN as IEEE 754 says. What is outside of a triangle is never read.
package gonumblas

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/blas/cblas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// Implementation is an implementation of blas.Float64, blas.Float32, blas.Complex128 and blas.Complex64. Its zero value
// is ready to use, from several goroutines. Other methods are promoted from gonum's implementation.
type Implementation struct{ gonum.Implementation }

// own is gonum's implementation.
var own gonum.Implementation

func init() {
	blas64.Use(Implementation{})
	blas32.Use(Implementation{})
	cblas128.Use(Implementation{})
	cblas64.Use(Implementation{})
}
