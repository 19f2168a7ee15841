package eigen

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/product"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem"
)

// A Machine is what products run on.
type Machine struct {
	ISA     jit.ISA
	Threads int // the most threads a product uses; 0: all
}

// scratch returns memory for n elements with arbitrary values. free gives it back.
func scratch[T number](n int) (s []T, free func()) {
	if n == 0 {
		return nil, func() {}
	}
	b := tile.Alloc(n * int(unsafe.Sizeof(*new(T))))
	return unsafe.Slice((*T)(b.Ptr()), n), func() { mem.Free(b) }
}

// subtractRows subtracts c[0]*x[0] + c[1]*x[1] + ... from y, x being rows ld elements apart.
func subtractRows[T number](m *Machine, y, c, x []T, ld int) {
	if y, ok := any(y).([]float64); ok {
		tile.SubtractRows(m.ISA, y, any(c).([]float64), any(x).([]float64), ld)
		return
	}
	for i, a := range c {
		add(y, -a, x[i*ld:i*ld+len(y)])
	}
}

// smallest is the size from which products and blocked algorithms pay.
const smallest = 48

// A mat is a matrix in a slice, with the steps from row to row and column to column.
type mat[T number] struct {
	data     []T
	row, col int
}

// gemm computes c = a*b, where a is rows x inner, b inner x cols, and c is contiguous.
func gemm[T number](m *Machine, rows, cols, inner int, a, b mat[T], c []T) {
	if rows == 0 || cols == 0 {
		return
	}
	if inner == 0 {
		clear(c[:rows*cols])
		return
	}
	switch c := any(c).(type) {
	case []float64:
		a, b := any(a).(mat[float64]), any(b).(mat[float64])
		product.Product{ISA: m.ISA, DType: array.Float64, M: rows, N: cols, K: inner, Threads: m.Threads,
			A: tile.Mat{Ptr: unsafe.Pointer(&a.data[0]), Row: a.row, Col: a.col},
			B: tile.Mat{Ptr: unsafe.Pointer(&b.data[0]), Row: b.row, Col: b.col},
			C: tile.Mat{Ptr: unsafe.Pointer(&c[0]), Row: cols, Col: 1}}.Run()
	case []complex128:
		complexProduct(m, rows, cols, inner, any(a).(mat[complex128]), any(b).(mat[complex128]), c)
	}
}

// complexProduct computes the parts of a complex product from four real ones.
func complexProduct(m *Machine, rows, cols, inner int, a, b mat[complex128], c []complex128) {
	part := func(a mat[complex128], p int) tile.Mat {
		return tile.Mat{Ptr: unsafe.Add(unsafe.Pointer(&a.data[0]), 8*p), Row: 2 * a.row, Col: 2 * a.col}
	}
	out := make([]float64, 4*rows*cols)
	for i, p := range [4][2]int{{0, 0}, {1, 1}, {0, 1}, {1, 0}} {
		product.Product{ISA: m.ISA, DType: array.Float64, M: rows, N: cols, K: inner, Threads: m.Threads,
			A: part(a, p[0]), B: part(b, p[1]),
			C: tile.Mat{Ptr: unsafe.Pointer(&out[i*rows*cols]), Row: cols, Col: 1}}.Run()
	}
	n := rows * cols
	for i := range c[:n] {
		c[i] = complex(out[i]-out[n+i], out[2*n+i]+out[3*n+i])
	}
}

// gemv computes y = a*x for a row-major matrix with leading dimension ld.
func gemv[T number](m *Machine, y, a []T, ld int, x []T) {
	if len(y) == 0 {
		return
	}
	if _, ok := any(x).([]float64); ok && len(x) >= smallest {
		gemm(m, len(y), 1, len(x), mat[T]{a, ld, 1}, mat[T]{x, 1, 1}, y)
		return
	}
	for i := range y {
		y[i] = dotPlain(a[i*ld:i*ld+len(x)], x)
	}
}

// dots computes the sums of conj(row i of a)*x, rows being ld apart.
func dots[T number](m *Machine, y, a []T, ld int, x []T) {
	if _, ok := any(x).([]float64); ok {
		gemv(m, y, a, ld, x)
		return
	}
	for i := range y {
		y[i] = dot(a[i*ld:i*ld+len(x)], x)
	}
}

// multiply computes c = a*b of square contiguous matrices.
func multiply[T number](m *Machine, c, a, b []T, n int) {
	gemm(m, n, n, n, mat[T]{a, n, 1}, mat[T]{b, n, 1}, c)
}
