package linalg

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/product"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/par"
)

// A kit is what the algorithms work with: an instruction set and the most threads, 0 for all.
type kit[T number] struct {
	isa     jit.ISA
	threads int
}

// blockSize is the number of rows or columns of a block.
const blockSize = 64

// A failure is why a matrix has no result. Its text begins with the matrix.
type failure struct {
	matrix int // of the batch
	text   string
}

// each calls f for each matrix of a batch, whose shape is that of the axes before the last two, with the
// threads that f may use. work is a matrix's in multiply-adds. It returns the failure of the first
// matrix that fails: f returns "" or what is wrong with it.
func each(arg string, shape []int, work int, f func(i, threads int) string) error {
	n := array.Size(shape)
	var bad *failure
	var mu sync.Mutex
	do := func(i, threads int) bool {
		text := f(i, threads)
		if text == "" {
			return true
		}
		mu.Lock()
		defer mu.Unlock()
		if bad == nil || i < bad.matrix {
			bad = &failure{i, text}
		}
		return false
	}
	threads := tile.ThreadsFor(n*work, 0)
	if n < threads || threads == 1 {
		for i := range n {
			if !do(i, threads) {
				break
			}
		}
	} else {
		par.Run(n, max(1, min(n/threads, tile.TaskWork/max(work, 1))), threads, func(_, begin, end int) {
			for i := begin; i < end; i++ {
				do(i, 1)
			}
		})
	}
	if bad == nil {
		return nil
	}
	return bad.error(arg, shape)
}

// only calls f for some matrices of a batch, and returns the failure of the first that fails.
func only(arg string, shape, matrices []int, f func(i, threads int) string) error {
	slices.Sort(matrices)
	for _, i := range matrices {
		if text := f(i, 1); text != "" {
			return (&failure{i, text}).error(arg, shape)
		}
	}
	return nil
}

// error names the matrix.
func (f *failure) error(arg string, shape []int) error {
	which := "the matrix"
	if len(shape) > 0 {
		at := make([]int, len(shape))
		for i, d := f.matrix, len(shape)-1; d >= 0; d-- {
			at[d] = i % shape[d]
			i /= shape[d]
		}
		which = fmt.Sprintf("matrix %v of the batch", at)
	}
	return array.Errorf("", arg, "%s %s", which, f.text)
}

// multiply computes c = a*b. c shares no memory with a and b.
func (k *kit[T]) multiply(c matrix[T], a, b operand[T]) {
	if c.rows == 0 || c.cols == 0 {
		return
	}
	if typeOf[T]() == array.Complex128 {
		k.multiplyComplex(c, a, b)
		return
	}
	k.real(c.rows, c.cols, a.inner(), matOf(c), a.mat(), b.mat(), false)
}

// real computes a product of real matrices, or adds it to c.
func (k *kit[T]) real(m, n, inner int, c, a, b tile.Mat, add bool) {
	d := typeOf[T]()
	if d.Complex() {
		d = d.Part()
	}
	product.Product{ISA: k.isa, DType: d, M: m, N: n, K: inner, A: a, B: b, C: c, Add: add, Threads: k.threads}.Run()
}

func matOf[T number](m matrix[T]) tile.Mat {
	return tile.Mat{Ptr: unsafe.Pointer(unsafe.SliceData(m.x)), Row: m.ld, Col: 1}
}

// inner returns the number of terms of a product whose left factor is o.
func (o operand[T]) inner() int {
	if o.t {
		return o.rows
	}
	return o.cols
}

func (o operand[T]) mat() tile.Mat {
	m := matOf(o.matrix)
	if o.t {
		m = m.T()
	}
	return m
}

// parts returns the real and the imaginary parts of complex elements as matrices.
func parts(m tile.Mat) (re, im tile.Mat) {
	m.Row, m.Col = 2*m.Row, 2*m.Col
	re, im = m, m
	if m.Ptr != nil {
		im = m.Offset(1, 8)
	}
	return re, im
}

// multiplyComplex computes c = a*b by four products of parts.
func (k *kit[T]) multiplyComplex(c matrix[T], a, b operand[T]) {
	size := c.rows * c.cols
	s, free := alloc[float64](4 * size)
	defer free()
	ar, ai := parts(a.mat())
	br, bi := parts(b.mat())
	for i, f := range [4][2]tile.Mat{{ar, br}, {ai, bi}, {ar, bi}, {ai, br}} {
		k.real(c.rows, c.cols, a.inner(), tile.Mat{Ptr: unsafe.Pointer(&s[i*size]), Row: c.cols, Col: 1}, f[0], f[1], false)
	}
	rr, ii, ri, ir := s[:size], s[size:2*size], s[2*size:3*size], s[3*size:]
	for i := range c.rows {
		row := any(c.row(i)).([]complex128)
		for j := range row {
			at := i*c.cols + j
			x, y, z := ii[at], ri[at], ir[at]
			if a.c != b.c {
				x = -x
			}
			if b.c {
				y = -y
			}
			if a.c {
				z = -z
			}
			row[j] = complex(rr[at]-x, y+z)
		}
	}
}

// addProduct computes c += a*b for real matrices.
func (k *kit[T]) addProduct(c matrix[T], a, b operand[T]) {
	if c.rows > 0 && c.cols > 0 {
		k.real(c.rows, c.cols, a.inner(), matOf(c), a.mat(), b.mat(), true)
	}
}

// negated returns -o as a copy.
func (o operand[T]) negated() (n operand[T], free func()) {
	s, free := alloc[T](o.rows * o.cols)
	n = o
	n.matrix = matrix[T]{s, o.rows, o.cols, o.cols}
	negate(n.matrix, o.matrix)
	return n, free
}

// negate writes -from to to.
func negate[T number](to, from matrix[T]) {
	for i := range from.rows {
		row := to.row(i)
		for j, x := range from.row(i) {
			row[j] = -x
		}
	}
}

// subtractProduct computes c -= a*b.
func (k *kit[T]) subtractProduct(c matrix[T], a, b operand[T]) {
	if c.rows == 0 || c.cols == 0 {
		return
	}
	if !typeOf[T]().Complex() {
		smaller := &b
		if c.rows < c.cols {
			smaller = &a
		}
		minus, free := smaller.negated()
		defer free()
		*smaller = minus
		k.addProduct(c, a, b)
		return
	}
	s, free := alloc[T](c.rows * c.cols)
	defer free()
	t := matrix[T]{s, c.rows, c.cols, c.cols}
	k.multiply(t, a, b)
	for i := range c.rows {
		k.subtractRows(c.row(i), []T{fromReal[T](1)}, t.row(i), t.ld)
	}
}

// columns calls f for ranges of n columns, on several threads where work, a column's in multiply-adds,
// pays them.
func (k *kit[T]) columns(n, work int, f func(lo, hi int)) {
	const width = 128
	threads := tile.ThreadsFor(n*work, k.threads)
	if threads == 1 || n <= width {
		for lo := 0; lo < n; lo += width {
			f(lo, min(lo+width, n))
		}
		return
	}
	par.Run(n, width, threads, func(_, begin, end int) {
		for lo := begin; lo < end; lo += width {
			f(lo, min(lo+width, end))
		}
	})
}
