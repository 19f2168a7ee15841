package linalg

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/fma"
	"weft/internal/mem"
	"weft/internal/par"
)

// A number is the type of elements that algorithms compute with.
type number interface {
	float32 | float64 | complex128
}

// A matrix is rows of elements that lie side by side, ld elements from row to row.
type matrix[T number] struct {
	x              []T
	rows, cols, ld int
}

// row returns row i.
func (m matrix[T]) row(i int) []T { return m.x[i*m.ld : i*m.ld+m.cols] }

// sub returns the rows x cols matrix whose first element is (i, j).
func (m matrix[T]) sub(i, j, rows, cols int) matrix[T] {
	if rows == 0 || cols == 0 {
		return matrix[T]{nil, rows, cols, m.ld}
	}
	return matrix[T]{m.x[i*m.ld+j : (i+rows-1)*m.ld+j+cols], rows, cols, m.ld}
}

// An operand is a matrix as a factor: as it is, transposed (t) and conjugated (c).
type operand[T number] struct {
	matrix[T]
	t, c bool
}

// sub returns the rows x cols part of the operand from (i, j) on.
func (o operand[T]) sub(i, j, rows, cols int) operand[T] {
	if o.t {
		i, j, rows, cols = j, i, cols, rows
	}
	o.matrix = o.matrix.sub(i, j, rows, cols)
	return o
}

// at returns element (i, j) of the operand.
func (o operand[T]) at(i, j int) T {
	if o.t {
		i, j = j, i
	}
	if x := o.x[i*o.ld+j]; o.c {
		return conj(x)
	} else {
		return x
	}
}

// alloc returns scratch memory for n elements, whose values are arbitrary. free gives it back.
func alloc[T number](n int) (s []T, free func()) {
	if n == 0 {
		return nil, func() {}
	}
	b := tile.Alloc(n * int(unsafe.Sizeof(*new(T))))
	return unsafe.Slice((*T)(b.Ptr()), n), func() { mem.Free(b) }
}

// typeOf is the element type of T.
func typeOf[T number]() array.DType {
	switch any(*new(T)).(type) {
	case float32:
		return array.Float32
	case float64:
		return array.Float64
	}
	return array.Complex128
}

func conj[T number](x T) T {
	if z, ok := any(x).(complex128); ok {
		return any(complex(real(z), -imag(z))).(T)
	}
	return x
}

// re is the real part.
func re[T number](x T) float64 {
	switch x := any(x).(type) {
	case float32:
		return float64(x)
	case float64:
		return x
	}
	return real(any(x).(complex128))
}

// fromReal is a real number as T.
func fromReal[T number](x float64) T {
	switch any(*new(T)).(type) {
	case float32:
		return any(float32(x)).(T)
	case float64:
		return any(x).(T)
	}
	return any(complex(x, 0)).(T)
}

// magnitude orders numbers by size: the absolute value, of a complex number the sum of the absolute values of its parts,
// as LAPACK chooses pivots.
func magnitude[T number](x T) float64 {
	switch x := any(x).(type) {
	case float32:
		return math.Abs(float64(x))
	case float64:
		return math.Abs(x)
	}
	z := any(x).(complex128)
	return math.Abs(real(z)) + math.Abs(imag(z))
}

// quotient is x/y.
func quotient[T number](x, y T) T {
	if w, ok := any(y).(complex128); ok {
		return any(fma.Quotient(any(x).(complex128), w)).(T)
	}
	return x / y
}

// times is x*y, rounded before anything is added to it.
func times[T number](x, y T) T {
	switch x := any(x).(type) {
	case float32:
		return any(float32(x * any(y).(float32))).(T)
	case float64:
		return any(float64(x * any(y).(float64))).(T)
	}
	z := any(x).(complex128)
	w := any(y).(complex128)
	return any(complex(float64(real(z)*real(w))-float64(imag(z)*imag(w)), float64(real(z)*imag(w))+float64(imag(z)*real(w)))).(T)
}

// A view is one matrix of an argument or a result.
type view struct {
	at       unsafe.Pointer
	dtype    array.DType
	row, col int // strides in elements
}

// matrixAt returns matrix i of v, a vector counting as a matrix of one column if rank is 1.
func matrixAt(v *array.View, i, rank int) view {
	n := len(v.Shape) - rank
	off := 0
	for d := n - 1; d >= 0; d-- {
		off += i % v.Shape[d] * v.Strides[d]
		i /= v.Shape[d]
	}
	w := view{at: codegen.Ptr(v), dtype: v.DType, row: v.Strides[n], col: 1}
	if rank == 2 {
		w.col = v.Strides[n+1]
	}
	w.at = unsafe.Add(w.at, off*v.DType.Size())
	return w
}

// load copies a matrix from memory.
func load[T number](m matrix[T], from view) {
	switch from.dtype {
	case array.Float32:
		loadFrom(m, from, func(x float32) T { return fromReal[T](float64(x)) })
	case array.Float64:
		loadFrom(m, from, func(x float64) T { return fromReal[T](x) })
	case array.Complex64:
		loadFrom(m, from, func(x complex64) T { return any(complex128(x)).(T) })
	default:
		loadFrom(m, from, func(x complex128) T { return any(x).(T) })
	}
}

// load copies a matrix from memory, rows on several threads where that pays.
func (k *kit[T]) load(m matrix[T], from view) {
	const copyWork = 16 // multiply-adds in the time of copying an element
	threads := tile.ThreadsFor(m.rows*m.cols*copyWork, k.threads)
	if threads == 1 {
		load(m, from)
		return
	}
	size := from.dtype.Size()
	par.Run(m.rows, tile.Ceil(m.rows, 4*threads), threads, func(_, begin, end int) {
		part := from
		part.at = unsafe.Add(from.at, begin*from.row*size)
		load(m.sub(begin, 0, end-begin, m.cols), part)
	})
}

// loadFrom copies elements of type S. Elements of type T are copied as they are.
func loadFrom[T number, S float32 | float64 | complex64 | complex128](m matrix[T], from view, convert func(x S) T) {
	size := int(unsafe.Sizeof(*new(S)))
	for i := range m.rows {
		p := unsafe.Add(from.at, i*from.row*size)
		row := m.row(i)
		switch to := any(row).(type) {
		case []S:
			if from.col == 1 {
				copy(to, unsafe.Slice((*S)(p), len(to)))
				continue
			}
			for j := range to {
				to[j] = *(*S)(unsafe.Add(p, j*from.col*size))
			}
		default:
			for j := range row {
				row[j] = convert(*(*S)(unsafe.Add(p, j*from.col*size)))
			}
		}
	}
}

// store copies a matrix to memory.
func store[T number](to view, m matrix[T]) {
	switch to.dtype {
	case array.Float32:
		storeTo(to, m, func(x T) float32 { return float32(re(x)) })
	case array.Float64:
		storeTo(to, m, func(x T) float64 { return re(x) })
	case array.Complex64:
		storeTo(to, m, func(x T) complex64 { return complex64(any(x).(complex128)) })
	default:
		storeTo(to, m, func(x T) complex128 { return any(x).(complex128) })
	}
}

func storeTo[T number, S float32 | float64 | complex64 | complex128](to view, m matrix[T], convert func(x T) S) {
	size := int(unsafe.Sizeof(*new(S)))
	for i := range m.rows {
		p := unsafe.Add(to.at, i*to.row*size)
		row := m.row(i)
		if from, ok := any(row).([]S); ok && to.col == 1 {
			copy(unsafe.Slice((*S)(p), len(from)), from)
			continue
		}
		for j, x := range row {
			*(*S)(unsafe.Add(p, j*to.col*size)) = convert(x)
		}
	}
}

// result returns the matrix at which a result of the shape rows x cols is computed: in its own memory,
// or in scratch memory for a type that is not computed with. done writes it back.
func result[T number](to view, rows, cols int) (m matrix[T], done func()) {
	if to.dtype == typeOf[T]() && (to.col == 1 || cols < 2) && rows*cols > 0 {
		ld := max(to.row, cols)
		return matrix[T]{unsafe.Slice((*T)(to.at), (rows-1)*ld+cols), rows, cols, ld}, func() {}
	}
	x, free := alloc[T](rows * cols)
	m = matrix[T]{x, rows, cols, cols}
	return m, func() {
		store(to, m)
		free()
	}
}

// borrowed returns an argument as an operand: where it lies if rows or columns are side by side, or as a copy.
func borrowed[T number](from view, rows, cols int) (o operand[T], done func()) {
	nothing := func() {}
	if rows*cols == 0 {
		return operand[T]{matrix: matrix[T]{nil, rows, cols, cols}}, nothing
	}
	if from.dtype == typeOf[T]() {
		if (from.col == 1 || cols == 1) && (from.row >= cols || rows == 1) {
			ld := max(from.row, cols)
			return operand[T]{matrix: matrix[T]{unsafe.Slice((*T)(from.at), (rows-1)*ld+cols), rows, cols, ld}}, nothing
		}
		if (from.row == 1 || rows == 1) && (from.col >= rows || cols == 1) {
			ld := max(from.col, rows)
			return operand[T]{matrix: matrix[T]{unsafe.Slice((*T)(from.at), (cols-1)*ld+rows), cols, rows, ld}, t: true}, nothing
		}
	}
	x, free := alloc[T](rows * cols)
	m := matrix[T]{x, rows, cols, cols}
	load(m, from)
	return operand[T]{matrix: m}, free
}

// im is the imaginary part.
func im[T number](x T) float64 {
	if z, ok := any(x).(complex128); ok {
		return imag(z)
	}
	return 0
}
