// Package eigen computes eigenvalues, singular values and functions of matrices in host memory.
//
// # Bits
//
// All computation is in float64 and complex128, whatever the element type of the array: the
// callers convert, and round results once. Loops in Go round each product before it is added,
// by an explicit conversion, since compilers for some processors fuse the two otherwise. Large
// products go through package product. So results depend neither on the processor nor on the
// number of threads.
//
// # Layout
//
// Matrices are row-major slices with a leading dimension. Sets of vectors (eigenvectors,
// reflectors) are stored one a row, so that rotations and updates work on contiguous memory.
//
// # Scaling
//
// Callers scale a matrix by a power of two so that its largest element is near 1 ([scaleOf]).
// Sums of squares then neither overflow, nor underflow where it matters.
package eigen
