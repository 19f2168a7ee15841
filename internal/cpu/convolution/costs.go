package convolution

// Constants that decide how work is cut and which of several algorithms runs. None of them
// influences a bit of a result: package numbers has the constants that do. The measurements
// are in docs/decisions/0008 and docs/performance.md.
const (
	// tasksPerThread is how many tasks each thread should have: a thread that starts late, or
	// runs on a slow core, leaves some to the others.
	tasksPerThread = 4

	// threadedWeights is the least number of weights that several threads pack: copying these
	// 256 KB takes some 10 us, and waking a thread takes as long.
	threadedWeights = 64 << 10
)

// Correlations, with pixels in the vectors.
const (
	bandSource    = 512 << 10 // bytes of a band's copied pixels: half of the L2 cache
	bandVectors   = 8         // of pixels, the least of a band: below it packed weights are read too often
	halvedVectors = 16        // of pixels, from which a band may be cut in two for more threads
	tilesBytes    = 32 << 10  // of the source of tiles that go through a panel together: most of the L1 cache
	exchangeBytes = 512 << 10 // largest image, and largest result, whose axes are exchanged: both fit in the L2 cache
	exchangeCost  = 3         // half cycles to copy one element with a scalar load and store
	maxSegments   = 3         // rows of pixels in a vector, as many as a tile.Place has Parts
)

// bandMost is the most vectors of a band. A list of them takes 56 KB, so that it stays in the L2 cache and its plan
// is kept. Tests set it.
var bandMost = 1 << 10

// Channels in the vectors.
const (
	channelTerms  = 48        // the least terms of a sum: with fewer, what is around a tile outweighs what full vectors save
	channelSums   = 128 << 10 // bytes of a task's sums, which lie in the L2 cache beside a block of weights
	channelRows   = 4         // of a band that is cut no further for threads
	channelSource = 512 << 10 // bytes of a task's source, which its strips read again: they lie in the L2 cache too
	termLoads     = 8         // overhead of a term, in loads

	// The estimate for pixels in the vectors leaves out their copy with zeros around. So channels
	// in the vectors may cost channelMargin hundredths of it.
	channelMargin = 105
)

// Images in the vectors.
const (
	imageTask     = 1 << 20 // bytes of a task: the L2 cache
	transposeCost = 10      // half cycles of a vector, to transpose it
	imageTenths   = 9       // of the estimate for pixels, below which that for images has to be
)

// Gradients of weights.
const (
	stridedRows   = 14       // the most of a tile whose rows of A have a stride: each of five registers addresses three
	maxBlockSums  = 64 << 20 // bytes of the sums of all blocks, beyond which threads share panels, not blocks
	tapProduct    = 4        // a product of taps, in units of their costs; loads take as long
	tapMerge      = 2        // merging a segment of a vector with others, under a mask
	sharesOfPanel = 2        // tasks a thread, where each packs its operands anew
	blocksShare   = 8        // tasks a thread of blocks, which cost nothing but their sums
)

// Planes of depthwise convolutions.
const (
	planeTaps      = 5 // of a row and of a column at most, for which there are masks
	planeSteps     = 2 // the greatest step between results
	planesTogether = 4 // planes that a kernel goes down together
	planesTask     = 8 // planes of a task
	planeWork      = 3 // multiply-adds of a product that take as long as a tap, which is a load for each
	planeWidth     = 6 // the least of a result: vectors of a row of four lanes take 1.5 times as long as vectors of channels

	// planeBytes is about what a kernel reads and writes from the top to the bottom, as the next
	// column of vectors finds the same lines in the L2 cache; planeRows are the least, since
	// above them some rows are read again.
	planeBytes = 96 << 10
	planeRows  = 8
)

// Groups in the vectors.
const (
	narrowChannels = 8               // the most of a group, of the source and of the result
	halfChannels   = 3               // up to this many channels, half of the lanes may be idle: other ways take at least twice the time
	narrowBytes    = 192 << 10       // about what the pixels of a task may take, in the L2 cache
	narrowMost     = 8 * narrowBytes // what a task of a single row may take: beyond it lies out of the caches
	narrowStep     = 64              // the greatest step between pixels or taps
	narrowRows     = 8               // of a band that is cut no further for threads
)

// Winograd's algorithm.
const (
	// winogradVectors is how many vectors of output channels a product computes at a time.
	winogradVectors = 2

	// winogradBytes is about how large the transformed source of a band may be: sizes between
	// 256 KB and 1.1 MB make a difference of 5 % (AMD EPYC with AVX-512, 2026-11).
	winogradBytes = 896 << 10

	// winogradTasks are the least tasks of a thread, winogradBand the rows of tiles of a band
	// that is cut no further for them: bands transform the pixels between them twice.
	winogradTasks, winogradBand = 2, 2

	// winogradThreaded is the number of pairs of channels from which threads transform the
	// weights: nine weights each, as threadedWeights.
	winogradThreaded = 8 << 10
)
