// Package conv computes two-dimensional convolutions and their gradients on a GPU: kernels of
// package grid with the bits of the CPU's convolutions.
//
// # Bits
//
// The order of sums is that of package internal/cpu/convolution. A sum is cut into blocks of
// numbers.KBlock terms, each a chain of fused multiply-adds in ascending order. Blocks are added in
// ascending order. Terms in the padding count: they are 0 times a weight, which is NaN for an infinite
// one. In a convolution and in the gradient of the input a block that is -0 counts as +0, and in the
// gradient of the weights where the CPU leaves out terms in the padding.
//
// Winograd's algorithm computes the shapes that package numbers names, and only their images whose
// results are finite.
//
// # How
//
//   - A convolution and its gradients are matrix products of package product, whose right operand is
//     read from pictures and never stored ([product.Windows]).
//   - Filters of one tap on large pictures are products of matrices.
//   - The gradient of the input of a strided convolution is a product for each phase: the elements
//     that the same taps reach.
//   - Where there are few results of many terms, as in the gradient of the weights, blocks of terms are
//     computed side by side. A second kernel adds them in order.
//   - Narrow groups, as in depthwise convolutions, would waste the tile of a product: there a thread
//     computes a result by itself.
package conv
