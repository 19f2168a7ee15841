package device

// A Model is what plans are made by: the costs of a device and what it can do. No part of a model
// changes a bit of a result. What defines bits is in package numbers.
type Model struct {
	Costs
	Caps
}

// Caps say what a device can do beyond running programs and routines.
type Caps struct {
	// Epilogue holds if routines of tiled operations run [Call.Epilogue] on finished pieces of their
	// result. Plans for other devices have the same work as a kernel behind the routine.
	Epilogue bool
	// Looped holds if column reductions have each kind of their steps once, for loops around them.
	Looped bool
}

// Costs are what work costs on a device, so far as that decides how a graph is cut into work. Sizes
// are in bytes unless a field says otherwise. Costs of elements are rough vector instructions, as
// of op.CostOf.
type Costs struct {
	// Line is what memory moves at a time. Temporaries are aligned to it, and rows that are shorter
	// are not written in place into wider rows.
	Line int

	// Band is the size of arrays over which work may pass again and again at the price of a near
	// cache: a tile of several steps of a stencil.
	Band int
	// Rows is the size of neighbouring rows that a stencil reads at once from the nearest cache.
	Rows int
	// Far is the size of arrays from which passes over all of them come from beyond the near
	// caches, so that work goes by bands.
	Far int

	// Transpose is the size from which a copy between different axes, or an operand that is read
	// across, is the work of the copy routine.
	Transpose int
	// TransposedEpilogue is the size from which a kernel that alone reads such a copy runs as
	// its epilogue: a smaller copy is still in a near cache.
	TransposedEpilogue int
	// ReadTogether is the size of all operands of each of two kernels from which they are launched
	// together to read a common array once.
	ReadTogether int
	// Gather is the size of what a place gathers from which the kernel that reads the elements
	// gathers them itself: a place is read, written and read again, gathered elements would be
	// written and read.
	Gather int

	// Scores is the size of all scores of an attention from which its routine pays. Smaller ones, and
	// all where it is 0 because the device has no such routine, are computed by the formula.
	Scores int
	// WakeMulAdds is the number of multiply-adds of products for which it can pay to wake workers.
	// Smaller products are launched together.
	WakeMulAdds int
	// PartRows and PartElements: a reduction of at most PartRows rows, each of at least
	// PartElements elements, is cut into parts that run side by side.
	PartRows, PartElements int

	// ShortRow is the number of elements of the longest rows for which kernels of their length
	// are compiled, at most 256. It takes ShortElements elements to pay for compiling one
	// more, or ShortWork as the product of elements and their cost in a user's loop.
	ShortRow, ShortElements, ShortWork int

	// A value is recomputed by each of its readers if that costs at most Recompute, takes at most
	// RecomputeOps operations on one array, and other operands have at most the
	// RecomputeBroadcast-th part of its elements.
	Recompute, RecomputeOps, RecomputeBroadcast int
	// Store is the cost of a user's function from which its result is stored for the second pass
	// of a row, and not computed again.
	Store int
}
