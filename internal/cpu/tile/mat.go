package tile

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/mem"
)

// A Mat is a matrix in memory: element (i, j) is at i*Row + j*Col elements from
// Ptr. Strides may be negative or 0.
type Mat struct {
	Ptr      unsafe.Pointer
	Row, Col int
}

// T returns the transpose of m.
func (m Mat) T() Mat { return Mat{m.Ptr, m.Col, m.Row} }

// Offset returns m moved by n elements of the given size.
func (m Mat) Offset(n, size int) Mat {
	m.Ptr = unsafe.Add(m.Ptr, n*size)
	return m
}

// An Epilogue is elementwise work on the result of a product or convolution: on each piece as
// soon as it is finished, by the thread that computed it. Run gets rows r0 to r1-1
// and columns c0 to c1-1; all calls together cover the result once. For a product, rows are
// the rows of all matrices of the batch, one after the other. For a convolution, rows are the
// channels of all images, and columns are the pixels.
type Epilogue interface {
	Run(r0, r1, c0, c1 int)
	// Work returns the work per element, in multiply-adds.
	Work() int
}

// A ConsumingEpilogue may be the only reader of a result. Then its pieces need not be stored
// where the result would lie.
type ConsumingEpilogue interface {
	Epilogue
	// Consumes reports that nothing else reads the result.
	Consumes() bool
	// RunAt is Run on a piece whose first element is at at, with rows of row bytes.
	RunAt(at unsafe.Pointer, row, r0, r1, c0, c1 int)
	// Beside returns an array that the epilogue reads together with the result, or nil: such as
	// the weights that a gradient changes. It has as many bytes as the result, in the same
	// order.
	Beside() unsafe.Pointer
}

// EpilogueWork returns the work per element of t, 0 if t is nil.
func EpilogueWork(t Epilogue) int {
	if t == nil {
		return 0
	}
	return t.Work()
}

// CheckType panics with an *array.Error unless products of type d exist.
func CheckType(op string, d array.DType) {
	if d != array.Float32 && d != array.Float64 {
		array.Failf(op, "dtype", "%s: only float32 and float64 have products", d)
	}
}

// CopyMat copies an m x n matrix. src has elements of the type that mach packs.
func CopyMat(mach Machine, m, n int, dst, src Mat) {
	if mach.from.Half() && src.Col == 1 && dst.Col == 1 && mach.ISA != jit.Portable {
		whole := n / mach.Lanes
		mach.PackPanels(Panel{Ptr: dst.Ptr, Pitch: dst.Row * mach.Size, Rows: mach.Lanes, K: m}, mach.VB, src.T(), whole)
		at := whole * mach.Lanes
		if n -= at; n == 0 {
			return
		}
		dst, src = dst.Offset(at, mach.Size), src.Offset(at, mach.from.Size())
	}
	if lanes := mach.Lanes; dst.Row == 1 && src.Col == 1 && m >= lanes && n >= lanes && !mach.from.Half() && mach.ISA != jit.Portable {
		// Squares of vectors are transposed in registers; the last of them end where the matrix
		// does.
		squares := func(i, j, cols, count int) {
			to := Panel{Ptr: dst.Offset(i+j*dst.Col, mach.Size).Ptr, Pitch: dst.Col * mach.Size, Rows: lanes, K: cols}
			mach.PackLines(to, mach.VB, src.Offset(i*src.Row+j, mach.Size), lanes*src.Row*mach.Size, count)
		}
		for _, part := range [2][2]int{{0, m / lanes}, {m - lanes, Bit(m%lanes > 0, 0)}} {
			squares(part[0], 0, n/lanes*lanes, part[1])
			if n%lanes > 0 {
				squares(part[0], n-lanes, lanes, part[1])
			}
		}
		return
	}
	for i := range m {
		to := Panel{Ptr: dst.Offset(i*dst.Row, mach.Size).Ptr, Pitch: dst.Col * mach.Size, Rows: 1, K: n}
		mach.Gather(to, Mat{src.Offset(i*src.Row, mach.from.Size()).Ptr, 0, src.Col})
	}
}

// Alloc returns a block of memory or panics with an *array.Error.
func Alloc(bytes int) mem.Block {
	b, err := mem.Alloc(bytes)
	if err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: "alloc", Msg: "no memory to pack into", Err: err})
	}
	return b
}
