// Package numbers holds the constants that define the bits of results. They are the same on
// every processor, device, backend and number of threads. Whoever changes one of them changes
// what weft computes.
//
// Everything else that decides how work is cut costs time alone. It belongs to the device
// (device.Costs) or to the processor (package processor).
package numbers

// A row reduction: the sum, product or extreme of elements that lie side by side (loop.OpReduce).
//
// A row is cut into blocks of [Block] elements. Element i of a block belongs to virtual lane
// i mod V, where V is [VirtualBytes] over the size of an element. A lane combines its elements
// in ascending order, beginning with the identity. The lanes are folded in halves: lane l with
// lane l+V/2, then with l+V/4, and so on. Blocks are combined by an aligned binary tree of
// neighbours.
const (
	Block        = 4096
	VirtualBytes = 256
)

// PartLen is the length of the parts of a long row that run side by side. It is [Block] times a
// power of two, so each part is a subtree of the row's tree, and the sum is that of the row.
const PartLen = 8 * Block

// ColumnBlock is the number of rows that a column reduction combines one by one, in ascending
// order. Blocks of rows are combined by the same tree as blocks of a row. A reduction is one of
// columns if an axis longer than 1 follows the reduced axes in the logical shape. Processors
// prefetch about this number of streams.
const ColumnBlock = 16

// KBlock is the number of terms in one chain of fused multiply-adds. An element of a matrix
// product or of a convolution is a sum over k. Each block of KBlock terms is one chain in
// ascending order, beginning with +0, and blocks are added in ascending order. A strip of B with
// KBlock terms, two vectors wide, takes 32 KB: it stays in the first cache.
const KBlock = 256

// A cumulative sum of floats adds in this order along every axis. An element is the result of at
// most log2(block) + 16*levels additions. Parts of a sequence can be added in parallel: Blelloch,
// Prefix sums and their applications, 1990.
//
// A sequence is cut into blocks of [ScanBlockBytes], from where the scan starts; the last one may
// be short. Inside a block, pairs are scanned first, then runs of 4, 8 and so on. Each step adds
// the last sum of the lower half to all sums of the upper half. The last sum of a block is the
// block's total. A group is [ScanGroup] neighbouring blocks; the next level groups 16 groups, and
// so on. A group's total is the sum of its parts' totals, added in order. The carry into a part is
// the carry into its group, plus the totals of earlier parts of the group, added in order. An
// element's result is the carry into its block plus its running sum inside the block. An empty sum
// is -0, the neutral element of float addition.
const (
	ScanBlockBytes = 64
	ScanGroup      = 16
)

// Running results of a user's function combine [ScanTreeWidth] neighbours in order. The running
// results of these groups are found in the same way. They go before the results inside each
// group, and elements behind the last group follow one by one.
const ScanTreeWidth = 4

// Winograd's algorithm F(2x2, 3x3) computes other sums than the direct convolution. It is used
// if and only if all of this holds:
//   - the elements are float32, the filters are 3x3, strides and dilations are 1;
//   - the numbers of input and output channels of a group are positive multiples of
//     [WinogradChannels];
//   - the height and width of a result are at least [WinogradSide].
//
// An image whose result is not finite is computed directly. WinogradChannels is a multiple of
// both vectors of 16 floats that a product computes at a time. With sides of 5 and less the
// algorithm takes up to 1.7 times the time of the direct sum.
const (
	WinogradChannels = 32
	WinogradSide     = 6
)

// A convolution that visits few taps inside its image, compared with the taps of its padded image,
// leaves out the terms in the padding. Its sums have the order and the blocks of other ways, and
// so their bits, except for the sign of a sum of weights' gradients that is zero. The geometry of
// one image decides: the taps per tap inside the image exceed [SparseRatio] and there are more
// than [SparseVisits] of them, or the padded image has more than [SparsePixels] pixels and more
// than [SparseSpan] times the pixels of image and result.
const (
	SparseRatio  = 64.0
	SparseVisits = 1 << 22
	SparseSpan   = 16.0
	SparsePixels = 1 << 20
)
