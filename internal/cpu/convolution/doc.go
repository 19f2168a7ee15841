// Package convolution computes two-dimensional convolutions and their gradients over raw
// memory, from the tiles of package tile.
//
// # Bits
//
// Convolutions are sums as those of products, see package product, but for float32 with kernels of three by three,
// steps of one and numbers of channels that are multiples of 32, with six by six results
// an image and more: these are computed by Winograd's F(2x2, 3x3), whose sums over channels are
// products too. Its error is about that of the direct sum for 64 channels and twice
// that for 256, but relative to the pixels of a tile of four by four rather than those of a
// result: beside large pixels small ones lose digits. An image of which a result would not
// be finite is computed directly. The order of everything is fixed, and nothing but the shape
// of an image decides which way is taken, so the bits are those of every other path.
//
// # How
//
// There is no patch matrix. Forward, and for the gradient of the input, a
// vector holds output channels where these fill it and the sums are long, and pixels are
// broadcast from the image (channelRun), or, where padding is much of small pictures, a
// vector holds the same pixel of many images (imageRun); padding then costs nothing. Else
// a vector holds neighbouring output pixels, and the row of B for a term is the image
// itself, moved (correlation); or tiles are transformed, see above (winograd). For the
// gradient of the weights a vector holds output channels, and patches are broadcast from
// the image (gradWeight); or, where there are few channels, taps, and the gradient of the
// result is broadcast (tapTiling).
//
// Convolutions in groups are those of each group, one after the other or as tasks of one run.
// Narrow groups, of a channel or a few, as those of depthwise convolutions, have their groups in
// the vectors (groupRun, groupGrad), with the orders of all sums as above. With AVX-512
// depthwise ones of up to five taps a side read planes where they lie (planeRun).
//
// Images of float16 and bfloat16 become float32 some at a time (inPieces), or, for the gradient of
// the weights, where they are packed or copied with the zeros around them.
//
// Threads share tasks that are bands of images, or blocks of terms whose sums are added in
// order afterwards.
package convolution
