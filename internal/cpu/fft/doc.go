// Package fft computes discrete Fourier transforms of rows on the CPU.
//
// # Algorithms
//
// A length is transformed in one of four ways, which depend on the length alone:
//
//   - Direct: a length of at most directMax with small prime factors, by Stockham's self-sorting
//     algorithm over columns: a vector holds one element of several rows.
//   - Split: a greater such length n = n1*n2 as a matrix. Its columns are transformed, multiplied by
//     powers of the n-th root of unity and transposed; then the columns of the result are transformed.
//     Source: D. H. Bailey, "FFTs in external or hierarchical memory", J. Supercomputing 4, 1990.
//     Groups of rows, and axes that are not the last, do the same arithmetic on vectors of whole rows.
//     Where both factors fill vectors, rows stay in the first-level cache one by one ([steps]).
//   - Long: a row that exceeds the second-level cache as a matrix of about 64 rows. Its columns are read in
//     long pieces, its rows are transformed as above, then it is transposed.
//   - Chirp: any other length, as a convolution of a length with small factors. Source: L. Bluestein,
//     "A linear filtering approach to the computation of discrete Fourier transform", IEEE Trans.
//     Audio Electroacoustics 18, 1970.
//
// Real rows of even length are complex rows of half the length, whose transform is taken apart. Cosine
// transforms reorder a row before and multiply what was taken apart by factors: [Transform.CosineRows].
//
// # Bits
//
// A butterfly is a list of instructions ([body]), which machine code and portable Go run for a
// vector of columns at a time. Products that go into sums are fused or rounded explicitly. So results
// depend on the length alone, not on the instruction set, the number of rows or threads.
//
// Roots of unity are computed with twice the precision and rounded once.
package fft
