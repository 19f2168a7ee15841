package gonumblas

import (
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/mat"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mapped"
)

// FromDense returns a float64 tensor of m's shape on m's memory, whatever its stride: nothing is copied,
// and writes show on both sides. The tensor keeps the memory alive. Gradients do not see what is
// written through m, as with [weft.FromSlice]. On a device whose memory the host does not reach it is a copy. It panics
// with a [*weft.Error] if m is nil.
func FromDense(m *mat.Dense) *weft.Tensor {
	const name = "gonumblas.fromdense"
	array.Given(name, "m", m != nil)
	raw := m.RawMatrix()
	return strided(name, raw.Data, raw.Stride, raw.Rows, raw.Cols)
}

// FromCDense is [FromDense] for complex128.
func FromCDense(m *mat.CDense) *weft.Tensor {
	const name = "gonumblas.fromcdense"
	array.Given(name, "m", m != nil)
	raw := m.RawCMatrix()
	return strided(name, raw.Data, raw.Stride, raw.Rows, raw.Cols)
}

// FromVecDense is [FromDense] for a vector: the tensor has one axis, whose stride is the vector's increment.
func FromVecDense(v *mat.VecDense) *weft.Tensor {
	const name = "gonumblas.fromvecdense"
	array.Given(name, "v", v != nil)
	raw := v.RawVector()
	if raw.N == 0 {
		return weft.FromSlice([]float64{})
	}
	return weft.FromSlice(raw.Data).AsStrided(0, []int{raw.N}, []int{raw.Inc})
}

func strided[T float64 | complex128](name string, data []T, stride, rows, cols int) *weft.Tensor {
	defer array.Named(name).End()
	if rows == 0 || cols == 0 {
		return weft.FromSlice([]T{}, rows, cols)
	}
	return weft.FromSlice(data).AsStrided(0, []int{rows, cols}, []int{stride, 1})
}

// BorrowDense lends f the matrix t, float64 of two axes, as gonum's, without a copy. Rows may be any distance
// apart. f may write, and must keep neither the matrix nor its memory. As with [weft.Borrow], lazy
// results that read t are computed before, a tracked array counts all of t as written, and the tape
// does not see writes. It panics with a [*weft.Error] if t has another type or another number of
// axes, if its elements do not lie side by side in rows (t.Contiguous() copies), or if the host does not reach its memory.
func BorrowDense(t *weft.Tensor, f func(m *mat.Dense)) {
	const name = "gonumblas.borrowdense"
	array.Given(name, "f", f != nil)
	lend(name, t, 2, func(data []float64, v *array.View) {
		m := new(mat.Dense)
		if len(data) > 0 {
			m.SetRawMatrix(blas64.General{Rows: v.Shape[0], Cols: v.Shape[1], Stride: rowStride(v), Data: data})
		}
		f(m)
	})
}

// BorrowCDense is [BorrowDense] for complex128.
func BorrowCDense(t *weft.Tensor, f func(m *mat.CDense)) {
	const name = "gonumblas.borrowcdense"
	array.Given(name, "f", f != nil)
	lend(name, t, 2, func(data []complex128, v *array.View) {
		m := new(mat.CDense)
		if len(data) > 0 {
			m.SetRawCMatrix(cblas128.General{Rows: v.Shape[0], Cols: v.Shape[1], Stride: rowStride(v), Data: data})
		}
		f(m)
	})
}

// BorrowVecDense is [BorrowDense] for a tensor of one axis, whose elements may be any distance apart.
func BorrowVecDense(t *weft.Tensor, f func(v *mat.VecDense)) {
	const name = "gonumblas.borrowvecdense"
	array.Given(name, "f", f != nil)
	lend(name, t, 1, func(data []float64, v *array.View) {
		m := new(mat.VecDense)
		if len(data) > 0 {
			m.SetRawVector(blas64.Vector{N: v.Shape[0], Inc: max(1, v.Strides[0]), Data: data})
		}
		f(m)
	})
}

// rowStride is the stride of rows as gonum wants it, also where there is one row.
func rowStride(v *array.View) int { return max(v.Strides[0], v.Shape[1]) }

// lend calls f with the memory from t's first to its last element, empty if there are none.
func lend[T float64 | complex128](name string, t *weft.Tensor, axes int, f func(data []T, v *array.View)) {
	if mapped.Any() {
		defer mapped.Explain()
	}
	array.Given(name, "t", t != nil)
	c := (*core.Tensor)(t)
	v, done := c.Lend()
	defer done()
	switch want := core.DTypeFor[T](); {
	case v.DType != want:
		array.Failf(name, "t", "is %s: want %s", v.DType, want)
	case len(v.Shape) != axes:
		array.Failf(name, "t", "has shape %s: want %d axes", array.ShapeString(v.Shape), axes)
	case !c.Reached():
		array.Failf(name, "t", "is on %s, whose memory the host does not reach: On(weft.CPU) copies it", t.Device())
	}
	if t.Size() == 0 {
		f(nil, &v)
		return
	}
	good := v.Shape[0] == 1 || v.Strides[0] > 0
	if axes == 2 {
		good = (v.Shape[1] == 1 || v.Strides[1] == 1) && (v.Shape[0] == 1 || v.Strides[0] >= v.Shape[1])
	}
	if !good {
		array.Failf(name, "t", "has strides %v, which gonum does not have: use Contiguous", v.Strides)
	}
	core.ComputeReaders(v.Store)
	lo, hi := v.Span()
	if m := v.Store.Monitor(); m != nil {
		start, stop := lo*v.DType.Size(), hi*v.DType.Size()
		m.Lend(start, stop)
		defer m.Return(start, stop)
	}
	f(unsafe.Slice((*T)(v.Ptr()), hi-lo), &v)
	core.KeepAlive(c)
}
