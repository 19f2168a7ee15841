// Package sparse computes products with sparse matrices in compressed rows.
//
// The bits of a result depend on the matrix alone, not on threads or instruction sets:
//   - A row of real numbers times a vector has 64 bytes of partial sums: 16 of float32, 8 of float64. Entry k is added
//     to partial sum k modulo that number by a fused multiply-add, and halves of the sums are added until one is left.
//   - A row times rows of several elements, or of complex numbers, is, element by element, one chain of fused
//     multiply-adds in the order of the entries. So are all products with a transposed matrix.
//   - An element of a sampled product is the product of two dense rows, with 64 bytes of partial sums.
package sparse
