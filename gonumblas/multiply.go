package gonumblas

import (
	"runtime"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/product"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/par"
)

// An element is the type of a matrix's elements.
type element interface {
	float32 | float64 | complex64 | complex128
}

// A matrix is rows of elements that lie side by side, stride elements from row to row.
type matrix[T element] struct {
	x      []T
	stride int
}

// from returns the part of m from element (i, j) on, which is an element of m.
func (m matrix[T]) from(i, j int) matrix[T] { return matrix[T]{m.x[i*m.stride+j:], m.stride} }

// A factor is a matrix as it is, transposed, conjugated, or both.
type factor[T element] struct {
	matrix[T]
	transposed, conjugated bool
}

// from returns the part of f from element (i, j) on.
func (f factor[T]) from(i, j int) factor[T] {
	if f.transposed {
		i, j = j, i
	}
	f.matrix = f.matrix.from(i, j)
	return f
}

// turned returns the transpose of f, or with conjugate the conjugate transpose.
func (f factor[T]) turned(conjugate bool) factor[T] {
	f.transposed, f.conjugated = !f.transposed, f.conjugated != conjugate
	return f
}

// mat returns the elements of a real factor as an operand of a product.
func (f factor[T]) mat() tile.Mat {
	m := tile.Mat{Ptr: unsafe.Pointer(unsafe.SliceData(f.x)), Row: f.stride, Col: 1}
	if f.transposed {
		m = m.T()
	}
	return m
}

// scratch returns memory for n elements of arbitrary values. free gives it back.
func scratch[T element](n int) (s []T, free func()) {
	b := tile.Alloc(max(n, 1) * int(unsafe.Sizeof(*new(T))))
	return unsafe.Slice((*T)(b.Ptr()), n), func() { mem.Free(b) }
}

// isComplex reports whether T is complex, and realType the type of its parts.
func isComplex[T element]() bool {
	switch any(*new(T)).(type) {
	case complex64, complex128:
		return true
	}
	return false
}

func realType[T element]() array.DType {
	switch any(*new(T)).(type) {
	case float32, complex64:
		return array.Float32
	}
	return array.Float64
}

// run computes the product c = a*b of real matrices.
func run(d array.DType, m, n, k int, c, a, b tile.Mat, epilogue tile.Epilogue) {
	product.Product{ISA: jit.Chosen().ISA, DType: d, M: m, N: n, K: k, A: a, B: b, C: c, Epilogue: epilogue}.Run()
}

// panelElements bounds the scratch memory of multiply, in elements.
const panelElements = 4 << 20

// multiply computes c = alpha*a*b + beta*c. a is m x k, b is k x n; no size is 0, and c shares no memory
// with a and b. With beta 0 the elements of c are not read.
func multiply[T element](c matrix[T], m, n, k int, alpha T, a, b factor[T], beta T) {
	defer runtime.KeepAlive([]any{&c, &a, &b})
	if isComplex[T]() {
		switch c := any(c).(type) {
		case matrix[complex64]:
			multiplyComplex[complex64, float32](c, m, n, k, any(alpha).(complex64), any(a).(factor[complex64]), any(b).(factor[complex64]), any(beta).(complex64))
		case matrix[complex128]:
			multiplyComplex[complex128, float64](c, m, n, k, any(alpha).(complex128), any(a).(factor[complex128]), any(b).(factor[complex128]), any(beta).(complex128))
		}
		return
	}
	d := realType[T]()
	if alpha == 1 && beta == 0 {
		run(d, m, n, k, factor[T]{matrix: c}.mat(), a.mat(), b.mat(), nil)
		return
	}
	rows := min(m, max(256, panelElements/n))
	t, free := scratch[T](rows * n)
	defer free()
	for i := 0; i < m; i += rows {
		h := min(rows, m-i)
		e := &update[T]{c: c.from(i, 0), t: matrix[T]{t, n}, alpha: alpha, beta: beta}
		run(d, h, n, k, factor[T]{matrix: e.t}.mat(), a.from(i, 0).mat(), b.mat(), e)
	}
}

// An update adds a product to what c has: the epilogue of the product, which runs on pieces while they are in
// a cache.
type update[T element] struct {
	c, t        matrix[T] // the product is in t, unless RunAt says where
	alpha, beta T
}

func (u *update[T]) Work() int              { return 1 }
func (u *update[T]) Consumes() bool         { return true }
func (u *update[T]) Beside() unsafe.Pointer { return nil }

// Run updates rows r0 to r1-1, columns c0 to c1-1.
func (u *update[T]) Run(r0, r1, c0, c1 int) {
	for r := r0; r < r1; r++ {
		combine(u.c.x[r*u.c.stride:][c0:c1], u.t.x[r*u.t.stride:][c0:c1], u.alpha, u.beta)
	}
}

// RunAt is Run on a product whose rows begin at at, row bytes apart.
func (u *update[T]) RunAt(at unsafe.Pointer, row, r0, r1, c0, c1 int) {
	for r := r0; r < r1; r++ {
		combine(u.c.x[r*u.c.stride:][c0:c1], unsafe.Slice((*T)(unsafe.Add(at, (r-r0)*row)), c1-c0), u.alpha, u.beta)
	}
}

// combine computes y = alpha*x + beta*y. With beta 0 y is not read.
func combine[T element](y, x []T, alpha, beta T) {
	if beta == 0 {
		for i, v := range x[:len(y)] {
			y[i] = alpha * v
		}
		return
	}
	n := len(y)
	switch y := any(y).(type) {
	case []float64:
		if beta != 1 {
			own.Dscal(n, any(beta).(float64), y, 1)
		}
		own.Daxpy(n, any(alpha).(float64), any(x).([]float64), 1, y, 1)
	case []float32:
		if beta != 1 {
			own.Sscal(n, any(beta).(float32), y, 1)
		}
		own.Saxpy(n, any(alpha).(float32), any(x).([]float32), 1, y, 1)
	case []complex128:
		if beta != 1 {
			own.Zscal(n, any(beta).(complex128), y, 1)
		}
		own.Zaxpy(n, any(alpha).(complex128), any(x).([]complex128), 1, y, 1)
	case []complex64:
		if beta != 1 {
			own.Cscal(n, any(beta).(complex64), y, 1)
		}
		own.Caxpy(n, any(alpha).(complex64), any(x).([]complex64), 1, y, 1)
	}
}

// multiplyComplex is multiply for complex elements, as one product of real matrices of twice the sizes: the parts
// of a and c lie side by side as they are, and for each element x+iy of alpha*b the right factor has the block
//
//	 x y
//	-y x
func multiplyComplex[T complex64 | complex128, R float32 | float64](c matrix[T], m, n, k int, alpha T, a, b factor[T], beta T) {
	right, free := scratch[R](4 * k * n)
	defer free()
	expandRight(right, k, n, alpha, b)
	left := tile.Mat{Ptr: unsafe.Pointer(unsafe.SliceData(a.x)), Row: 2 * a.stride, Col: 1}
	if a.transposed || a.conjugated {
		plain, free := scratch[T](m * k)
		defer free()
		gather(matrix[T]{plain, k}, m, k, a)
		left = tile.Mat{Ptr: unsafe.Pointer(unsafe.SliceData(plain)), Row: 2 * k, Col: 1}
	}
	b2 := tile.Mat{Ptr: unsafe.Pointer(unsafe.SliceData(right)), Row: 2 * n, Col: 1}
	d := realType[T]()
	size := int(unsafe.Sizeof(*new(R)))
	if beta == 0 {
		run(d, m, 2*n, 2*k, tile.Mat{Ptr: unsafe.Pointer(unsafe.SliceData(c.x)), Row: 2 * c.stride, Col: 1}, left, b2, nil)
		return
	}
	rows := min(m, max(256, panelElements/n))
	t, free := scratch[T](rows * n)
	defer free()
	for i := 0; i < m; i += rows {
		h := min(rows, m-i)
		run(d, h, 2*n, 2*k, tile.Mat{Ptr: unsafe.Pointer(unsafe.SliceData(t)), Row: 2 * n, Col: 1}, left.Offset(i*left.Row, size), b2, nil)
		eachRow(h, n, func(r int) { combine(c.x[(i+r)*c.stride:][:n], t[r*n:][:n], 1, beta) })
	}
}

// eachRow calls f for all rows, on several threads where work, a row's in multiply-adds, pays them.
func eachRow(rows, work int, f func(r int)) {
	threads := tile.ThreadsFor(rows*work, 0)
	if threads == 1 {
		for r := range rows {
			f(r)
		}
		return
	}
	par.Run(rows, max(1, tile.TaskWork/max(work, 1)), threads, func(_, begin, end int) {
		for r := begin; r < end; r++ {
			f(r)
		}
	})
}

// expandRight writes the real right factor of [multiplyComplex] for alpha*b.
func expandRight[T complex64 | complex128, R float32 | float64](to []R, k, n int, alpha T, b factor[T]) {
	eachRow(k, 4*n, func(l int) {
		upper, lower := to[2*l*2*n:][:2*n], to[(2*l+1)*2*n:][:2*n]
		at, step := l*b.stride, 1
		if b.transposed {
			at, step = l, b.stride
		}
		for j := range n {
			z := complex128(b.x[at+j*step])
			if b.conjugated {
				z = complex(real(z), -imag(z))
			}
			if alpha != 1 {
				z = complex128(alpha * T(z))
			}
			x, y := R(real(z)), R(imag(z))
			upper[2*j], upper[2*j+1] = x, y
			lower[2*j], lower[2*j+1] = -y, x
		}
	})
}

// gather writes the m x n elements of f to to.
func gather[T element](to matrix[T], m, n int, f factor[T]) {
	eachRow(m, n, func(i int) {
		row := to.x[i*to.stride:][:n]
		if f.transposed {
			for j := range row {
				row[j] = f.x[j*f.stride+i]
			}
		} else {
			copy(row, f.x[i*f.stride:])
		}
		if f.conjugated {
			for j, z := range row {
				row[j] = conj(z)
			}
		}
	})
}

func conj[T element](x T) T {
	switch z := any(x).(type) {
	case complex128:
		return any(complex(real(z), -imag(z))).(T)
	case complex64:
		return any(complex(real(z), -imag(z))).(T)
	}
	return x
}

// realPart returns x without its imaginary part.
func realPart[T element](x T) T {
	switch z := any(x).(type) {
	case complex128:
		return any(complex(real(z), 0)).(T)
	case complex64:
		return any(complex(real(z), 0)).(T)
	}
	return x
}
