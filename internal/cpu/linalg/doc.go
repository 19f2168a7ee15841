// Package linalg computes factorizations of matrices and solutions of equations over raw memory: the
// routines behind package linalg of the module.
//
// # Algorithms
//
// Matrices are cut into blocks. Updates of blocks are matrix products of internal/cpu/product. Within a
// block a few functions of rows do the work (rows.go): each result is one chain of fused multiply-adds in
// ascending order, or a sum over a fixed number of lanes. Sources: Golub and Van Loan, "Matrix
// Computations", 4th edition; Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition; the
// files name others.
//
// Small real matrices are factored side by side, one in each lane of a vector (lanes.go): Cholesky, LU and QR as a
// matrix alone, eigenvalues and singular values by Jacobi's rotations (jacobi.go). Matrices out of the range
// of these algorithms are left to the general ones.
//
// # Bits
//
// Results depend on the matrix alone: neither on the number of threads, nor on the instruction set, nor on
// the place in a batch. complex64 is computed in complex128 and rounded once at the end.
//
// # Errors
//
// A routine that fails names the first matrix of the batch at which it does, by its indices.
package linalg
