// Package gemm computes matrix products and convolutions over raw memory.
//
// # Bits
//
// An element of a product has the same bits on every path: portable Go, AVX2 or
// AVX-512, inside or at the edge of a tile, alone or in a batch, with any strides
// and any number of threads. The sum over k is cut into blocks of [KBlock] terms.
// A block is one chain of fused multiply-adds in ascending k that starts from +0;
// the blocks are added in ascending order, ((b0+b1)+b2)+.... Then the bias is
// added. So a part of a product equals the product
// of the parts, and a row does not depend on what else is in the batch. With
// k = 0 the sum is +0. NaN payloads are not part of the promise.
//
// Convolutions have sums of the same kind, but for float32 with kernels of three by three,
// steps of one and numbers of channels that are multiples of 32, with six by six results
// an image and more: these are computed by Winograd's F(2x2, 3x3), whose sums over channels are
// products as above. Its error is about that of the direct sum for 64 channels and twice
// that for 256, but relative to the pixels of a tile of four by four rather than those of a
// result: beside large pixels small ones lose digits. An image of which a result would not
// be finite is computed directly. The order of everything is fixed, and nothing but the shape
// of an image decides which way is taken, so all of the above holds.
//
// # Memory
//
// Operands are pointers with element strides of any sign; nothing outside the
// elements that the strides name is read or written. C must not overlap an
// operand and no two of its elements may share memory. The caller keeps the
// memory alive during the call.
//
// # How
//
// Tiles of C, up to 14 rows and two vectors, or fewer rows and more vectors, are
// computed in registers by code that internal/x86/asm assembles when a tile of that
// shape is first needed (some 35 µs). Operands are read where they lie if that is
// as fast, and otherwise packed, by generated code too: B in strips that stay in the
// first cache, A in blocks of half the second. A few rows times a large B take other
// kernels, which read B once in long runs, or transpose it in registers.
//
// Convolutions make no patch matrix. Forward, and for the gradient of the input, a
// vector holds output channels where these fill it and the sums are long, and pixels are
// broadcast from the image (channelRun), or, where padding is much of small pictures, a
// vector holds the same pixel of many images (imageRun); padding then costs nothing. Else
// a vector holds neighbouring output pixels, and the row of B for a term is the image
// itself, moved (correlation); or tiles are transformed, see above (winograd). For the
// gradient of the weights a vector holds output channels, and patches are broadcast from
// the image (gradWeight); or, where there are few channels, taps, and the gradient of the
// result is broadcast (tapTiling).
//
// Threads share tasks that are rectangles of C, bands of images, or blocks of terms
// whose sums are added in order afterwards. One entry into machine code takes at most
// some 100 µs.
package product
