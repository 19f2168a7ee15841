// Package resample resizes pictures on the CPU: the width, then the height, each as a product with a matrix
// of few weights.
//
// Float32 is a chain of fused multiply-adds in ascending order, so results have the bits of a matrix
// product. Uint8 is computed in whole numbers, with weights of 15 bits, and rounded after each axis, as
// Pillow and torchvision do.
package resample
