package sparse

import (
	"fmt"
	"math"
	"sync"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A Format says how a [Matrix] is stored.
type Format uint8

const (
	CSR Format = iota // compressed rows: entries row by row, offsets of rows, indices of columns
	CSC               // compressed columns: entries column by column, offsets of columns, indices of rows
	COO               // coordinates: the row and the column of each entry, in any order
	BSR               // compressed rows of blocks of one size
)

// String returns SciPy's name of the format.
func (f Format) String() string {
	if int(f) < len(formats) {
		return formats[f]
	}
	return fmt.Sprintf("Format(%d)", int(f))
}

var formats = [...]string{"csr", "csc", "coo", "bsr"}

// maxSize is the greatest number of rows and columns: indices are int32.
const maxSize = math.MaxInt32

// A Matrix is a sparse matrix: values at entries, zeros elsewhere. It does not change. Its values are a tensor,
// so they have gradients; its sparsity pattern, the rows and columns of the entries, is fixed. Entries of equal row
// and column add: [Matrix.Coalesce] adds them up.
//
// The zero Matrix is not usable; make one with [NewCSR], [NewCSC], [NewCOO], [NewBSR] or [FromDense].
type Matrix struct {
	format     Format
	rows, cols int
	values     *weft.Tensor // [entries], or [blocks r c]
	*pattern
}

// A pattern says where the entries of a matrix are. Matrices share it.
type pattern struct {
	offsets *core.Offsets // nil for COO
	indices *weft.Tensor  // int32: columns; rows for CSC; columns of blocks for BSR
	rowsOf  *weft.Tensor  // int32: rows of entries, for COO alone

	once, rowsOnce, orderOnce sync.Once
	host, hostRows            []int32
	canonical                 bool // ascending indices, each once

	turnOnce sync.Once
	turned   *turn
}

// index returns the indices where Go can read them.
func (p *pattern) index() []int32 {
	p.once.Do(func() {
		if p.host == nil {
			p.host = weft.Data[int32](p.indices)
		}
	})
	return p.host
}

// rowIndex returns the rows of the entries of a COO matrix.
func (p *pattern) rowIndex() []int32 {
	p.rowsOnce.Do(func() {
		if p.hostRows == nil {
			p.hostRows = weft.Data[int32](p.rowsOf)
		}
	})
	return p.hostRows
}

// isCanonical reports that the indices of compressed entries ascend and differ.
func (p *pattern) isCanonical() bool {
	p.orderOnce.Do(func() {
		off, idx := p.offsets.Ints(), p.index()
		p.canonical = true
		for i := range len(off) - 1 {
			for k := off[i] + 1; k < off[i+1]; k++ {
				if idx[k] <= idx[k-1] {
					p.canonical = false
					return
				}
			}
		}
	})
	return p.canonical
}

// compressedPattern is a pattern in Go memory. The caller must not write it afterwards.
func compressedPattern(idx []int32, off []int64, canonical bool) *pattern {
	o := core.OffsetsOf((*core.Tensor)(weft.FromSlice(off)), off)
	p := &pattern{offsets: o, indices: weft.FromSlice(idx), host: idx}
	if canonical {
		p.orderOnce.Do(func() { p.canonical = true })
	}
	return p
}

// NewCSR returns a matrix [rows cols] of compressed rows. Row i has the entries offsets[i] to offsets[i+1]-1.
// values is a vector of floats or complex numbers, indices the column of each entry. indices and offsets
// are []int, []int32, []int64 or vectors of int32 or int64; they are copied. offsets begins with 0, ascends and ends with the number of entries. Columns of a row may be in any
// order.
//
// It panics with *[weft.Error] where an index is not in the matrix or offsets do not fit.
func NewCSR(values *weft.Tensor, indices, offsets any, rows, cols int) *Matrix {
	return compressed("sparse.newcsr", CSR, values, indices, offsets, rows, cols)
}

// NewCSC returns a matrix [rows cols] of compressed columns: as [NewCSR] with the offsets of columns, and the
// row of each entry as index.
func NewCSC(values *weft.Tensor, indices, offsets any, rows, cols int) *Matrix {
	return compressed("sparse.newcsc", CSC, values, indices, offsets, rows, cols)
}

// NewBSR returns a matrix [rows cols] of compressed rows of blocks: values is [blocks r c], where r divides
// rows and c divides cols; indices and offsets are of blocks, as in [NewCSR].
func NewBSR(values *weft.Tensor, indices, offsets any, rows, cols int) *Matrix {
	return compressed("sparse.newbsr", BSR, values, indices, offsets, rows, cols)
}

func compressed(name string, f Format, values *weft.Tensor, indices, offsets any, rows, cols int) *Matrix {
	checkSize(name, rows, cols)
	rank := 1
	if f == BSR {
		rank = 3
	}
	values = numbers(name, "values", values, rank)
	major, minor := rows, cols
	switch f {
	case CSC:
		major, minor = cols, rows
	case BSR:
		r, c := values.Dim(1), values.Dim(2)
		if r == 0 || c == 0 || rows%r != 0 || cols%c != 0 {
			array.Failf(name, "values", "has blocks of %dx%d, which do not divide a matrix of %dx%d", r, c, rows, cols)
		}
		major, minor = rows/r, cols/c
	}
	idx := indexVector(name, "indices", indices, minor)
	off := longs(name, "offsets", offsets)
	if len(off) != major+1 {
		array.Failf(name, "offsets", "are %d numbers, want %d: one more than %d", len(off), major+1, major)
	}
	if len(idx) != values.Dim(0) {
		array.Failf(name, "indices", "are %d numbers for %d values", len(idx), values.Dim(0))
	}
	for i, o := range off {
		switch {
		case i == 0 && o != 0:
			array.Failf(name, "offsets", "begin with %d, want 0", o)
		case i > 0 && o < off[i-1]:
			array.Failf(name, "offsets", "do not ascend: number %d is %d after %d", i, o, off[i-1])
		}
	}
	if last := off[major]; last != int64(len(idx)) {
		array.Failf(name, "offsets", "end with %d, want the number of entries, %d", last, len(idx))
	}
	return &Matrix{format: f, rows: rows, cols: cols, values: values, pattern: compressedPattern(idx, off, false)}
}

// NewCOO returns a matrix [rows cols] of coordinates: values is a vector of floats or complex numbers, row and
// col are the row and the column of each, as indices of [NewCSR]. Entries may be in any order, and several may have
// the same row and column.
func NewCOO(values *weft.Tensor, row, col any, rows, cols int) *Matrix {
	const name = "sparse.newcoo"
	checkSize(name, rows, cols)
	values = numbers(name, "values", values, 1)
	r := indexVector(name, "row", row, rows)
	c := indexVector(name, "col", col, cols)
	if len(r) != values.Dim(0) {
		array.Failf(name, "row", "are %d numbers for %d values", len(r), values.Dim(0))
	}
	if len(c) != values.Dim(0) {
		array.Failf(name, "col", "are %d numbers for %d values", len(c), values.Dim(0))
	}
	return cooOf(values, r, c, nil, nil, rows, cols)
}

func cooOf(values *weft.Tensor, r, c []int32, rt, ct *weft.Tensor, rows, cols int) *Matrix {
	if rt == nil {
		rt = weft.FromSlice(r)
	}
	if ct == nil {
		ct = weft.FromSlice(c)
	}
	return &Matrix{format: COO, rows: rows, cols: cols, values: values, pattern: &pattern{indices: ct, rowsOf: rt, host: c, hostRows: r}}
}

// FromDense returns the elements of a matrix that are not 0, NaN among them, in compressed rows. The gradient
// of the values flows back to x.
func FromDense(x *weft.Tensor) *Matrix {
	const name = "sparse.fromdense"
	x = numbers(name, "x", x, 2)
	rows, cols := x.Dim(0), x.Dim(1)
	checkSize(name, rows, cols)
	core.CheckHeap(name, rows+1, array.Int64)
	at := weft.Data[int64](x.Detach().Ne(0).Contiguous().Reshape(rows * cols).NonZero().Reshape(-1))
	idx, off := make([]int32, len(at)), make([]int64, rows+1)
	for i, k := range at {
		idx[i] = int32(k % int64(cols))
		off[k/int64(cols)+1]++
	}
	for i := range rows {
		off[i+1] += off[i]
	}
	values := x.Reshape(rows*cols).IndexSelect(0, weft.FromSlice(at))
	return &Matrix{format: CSR, rows: rows, cols: cols, values: values, pattern: compressedPattern(idx, off, true)}
}

func checkSize(name string, rows, cols int) {
	for i, n := range [2]int{rows, cols} {
		if arg := [2]string{"rows", "cols"}[i]; n < 0 || n > maxSize {
			array.Failf(name, arg, "is %d, want 0 to %d: indices are int32", n, maxSize)
		}
	}
}

// numbers returns values as floats or complex numbers with a number of axes; integers as float32.
func numbers(name, arg string, t *weft.Tensor, rank int) *weft.Tensor {
	onHost(name, arg, t)
	if t.Rank() != rank {
		array.Failf(name, arg, "has shape %s, want %d axes", array.ShapeString(t.Shape()), rank)
	}
	return floats(t)
}

// onHost refuses a tensor of a device other than the CPU, where the sparsity patterns are.
func onHost(name, arg string, t *weft.Tensor) {
	(*core.Tensor)(t).CheckArgument(name, arg)
	if t.Device() != weft.CPU {
		array.Failf(name, arg, "is on %s, and sparse matrices are on the CPU: On moves a tensor", t.Device())
	}
}

// floats returns t, integers as float32.
func floats(t *weft.Tensor) *weft.Tensor {
	if !t.DType().Differentiable() {
		t = t.To(weft.Float32)
	}
	return t
}

// indexVector returns indices below n in new memory.
func indexVector(name, arg string, x any, n int) []int32 {
	var out []int32
	t, given := x.(*weft.Tensor)
	switch {
	case given && t != nil && t.Rank() == 1 && t.DType() == weft.Int32:
		out = weft.Data[int32](t)
		for i, k := range out {
			inRange(name, arg, i, int64(k), n)
		}
		return out
	default:
		long := longs(name, arg, x)
		out = make([]int32, len(long))
		for i, k := range long {
			inRange(name, arg, i, k, n)
			out[i] = int32(k)
		}
	}
	return out
}

func inRange(name, arg string, i int, k int64, n int) {
	if uint64(k) >= uint64(n) {
		array.Failf(name, arg, "number %d is %d, want 0 to %d", i, k, n-1)
	}
}

// longs returns a vector of integers in new memory.
func longs(name, arg string, x any) []int64 {
	switch x := x.(type) {
	case []int64:
		return append([]int64{}, x...)
	case []int32:
		return widened(x)
	case []int:
		return widened(x)
	case *weft.Tensor:
		if x != nil && x.Rank() == 1 && (x.DType() == weft.Int32 || x.DType() == weft.Int64) {
			return weft.Data[int64](x.To(weft.Int64))
		}
		if x != nil {
			array.Failf(name, arg, "is %s, want a vector of int32 or int64", array.TypeString(x.DType(), x.Shape()))
		}
	}
	array.Failf(name, arg, "is %T, want []int, []int32, []int64 or a vector of int32 or int64", x)
	return nil
}

func widened[I int | int32](x []I) []int64 {
	out := make([]int64, len(x))
	for i, k := range x {
		out[i] = int64(k)
	}
	return out
}

// notNil panics for a nil matrix, or one that no constructor made.
func (m *Matrix) notNil(name, arg string) {
	array.Given(name, arg, m != nil)
	if m.pattern == nil {
		array.Failf(name, arg, "is a zero Matrix: make one with NewCSR or another constructor")
	}
}

// Format returns how m is stored.
func (m *Matrix) Format() Format { m.notNil("sparse.format", "m"); return m.format }

// Shape returns the number of rows and of columns.
func (m *Matrix) Shape() []int { m.notNil("sparse.shape", "m"); return []int{m.rows, m.cols} }

// DType returns the element type.
func (m *Matrix) DType() weft.DType { m.notNil("sparse.dtype", "m"); return m.values.DType() }

// NNZ returns the number of entries, stored zeros among them; those in blocks too.
func (m *Matrix) NNZ() int { m.notNil("sparse.nnz", "m"); return m.values.Size() }

// Values returns the values, one an entry, or [blocks r c]. They are m's own: gradients flow through them.
func (m *Matrix) Values() *weft.Tensor { m.notNil("sparse.values", "m"); return m.values }

// Indices returns a copy of the indices, int32: columns of entries, rows for CSC, columns of blocks for BSR.
func (m *Matrix) Indices() *weft.Tensor { m.notNil("sparse.indices", "m"); return m.indices.Clone() }

// Offsets returns a copy of the offsets, int64, of rows, columns for CSC, or rows of blocks. It panics for COO.
func (m *Matrix) Offsets() *weft.Tensor {
	m.notNil("sparse.offsets", "m")
	if m.format == COO {
		array.Failf("sparse.offsets", "m", "is of format coo, which has none")
	}
	return (*weft.Tensor)(m.offsets.T).Clone()
}

// Coords returns copies of the row and the column, int32, of each entry.
func (m *Matrix) Coords() (row, col *weft.Tensor) {
	m.notNil("sparse.coords", "m")
	c := m.To(COO)
	return c.rowsOf.Clone(), c.indices.Clone()
}

// WithValues returns a matrix with other values and the same pattern.
func (m *Matrix) WithValues(values *weft.Tensor) *Matrix {
	const name = "sparse.withvalues"
	m.notNil(name, "m")
	values = numbers(name, "values", values, m.values.Rank())
	if !array.Equal(values.Shape(), m.values.Shape()) {
		array.Failf(name, "values", "has shape %s, want %s", array.ShapeString(values.Shape()), array.ShapeString(m.values.Shape()))
	}
	return m.with(values)
}

func (m *Matrix) with(values *weft.Tensor) *Matrix {
	return &Matrix{format: m.format, rows: m.rows, cols: m.cols, values: values, pattern: m.pattern}
}

// As returns m with values of another element type.
func (m *Matrix) As(d weft.DType) *Matrix {
	m.notNil("sparse.as", "m")
	if !d.Differentiable() {
		array.Failf("sparse.as", "d", "is %s, want a float or complex type", d)
	}
	return m.with(m.values.To(d))
}

// String describes m in a line.
func (m *Matrix) String() string {
	if m == nil || m.pattern == nil {
		return "sparse.Matrix(nil)"
	}
	return fmt.Sprintf("sparse %s %s[%d %d] with %d entries", m.format, m.values.DType(), m.rows, m.cols, m.values.Size())
}
