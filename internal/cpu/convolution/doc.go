// Package convolution computes two-dimensional convolutions and their gradients over raw
// memory, from the tiles of package tile.
//
// # Bits
//
// Convolutions sum in the order of matrix products; see package product. The exception is
// Winograd's F(2x2, 3x3). It computes float32 convolutions with kernels of three by three and
// strides of one, where the numbers of channels are multiples of 32 and results have at least
// six by six pixels. Its sums over channels are matrix products too. Its error is about that
// of the direct sum for 64 channels, and twice that for 256. But the error is relative to the
// pixels of a tile of four by four, not to the pixels of one result: small pixels beside large
// ones lose digits. An image is computed directly if Winograd's algorithm would give a result
// that is not finite.
//
// The order of all sums is fixed. Only the shape of an image, and whether its results are
// finite, decide between the two algorithms. So all paths give the same bits.
//
// # How
//
// There is no patch matrix (im2col). Forward and the gradient of the input choose what a
// vector holds:
//
//   - output channels, where these fill it and the sums are long; pixels are broadcast from the
//     image (channelRun)
//   - the same pixel of many images, for small images with much padding, which then costs
//     nothing (imageRun)
//   - groups of channels, where a group has few channels, as in depthwise convolutions
//     (groupRun); the order of sums stays
//   - neighbouring pixels of one plane, read where they lie, for depthwise convolutions of up
//     to five taps a side with AVX-512 (planeRun)
//   - neighbouring output pixels otherwise; the row of B for a term is the image itself, at an
//     offset (correlation)
//
// Or tiles are transformed for Winograd's algorithm (winograd). For the gradient of the weights
// a vector holds output channels, and patches are broadcast from the image (gradWeight). With
// few channels it holds taps, and the gradient of the result is broadcast (tapTiling). With
// narrow groups it holds groups (groupGrad).
//
// Other convolutions in groups are computed group by group, one after the other or as tasks of
// one run.
//
// The choice of pixels or output channels with its terms, tiles and tasks is a plan. Forward keeps
// plans by geometry, strides and threads, so that small convolutions do not plan at each call.
//
// Images of float16 and bfloat16 are converted to float32 some at a time (inPieces). The
// gradient of the weights converts them where it packs them or copies them with the zeros
// around them.
//
// Threads share tasks, which are bands of images, or blocks of terms whose sums are added in
// order afterwards.
package convolution
