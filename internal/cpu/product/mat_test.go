package product

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
	"weft/internal/numbers"
)

// A testMat is a matrix in a slice with gaps.
type testMat[E tile.Element] struct {
	data     []E
	origin   int
	row, col int
}

// layouts of an operand: the strides for r rows and c columns.
var layouts = []struct {
	name string
	f    func(r, c int) (row, col int)
}{
	{"rows", func(r, c int) (int, int) { return c, 1 }},
	{"columns", func(r, c int) (int, int) { return 1, r }},
	{"rows with gaps", func(r, c int) (int, int) { return c + 3, 1 }},
	{"columns with gaps", func(r, c int) (int, int) { return 1, r + 5 }},
	{"gaps", func(r, c int) (int, int) { return 2*c + 1, 2 }},
	{"up", func(r, c int) (int, int) { return -c, 1 }},
	{"backwards", func(r, c int) (int, int) { return c, -1 }},
	{"columns up", func(r, c int) (int, int) { return -1, r }},
}

func newTestMat[E tile.Element](r *rand.Rand, layout, rows, cols int) testMat[E] {
	row, col := layouts[layout].f(rows, cols)
	return testMatOf(cputest.Random[E], r, row, col, rows, cols)
}

func testMatOf[E tile.Element](fill func(*rand.Rand, int) []E, r *rand.Rand, row, col, rows, cols int) testMat[E] {
	lo, hi := 0, 0
	for _, s := range [...]int{row * max(rows-1, 0), col * max(cols-1, 0)} {
		lo, hi = lo+min(s, 0), hi+max(s, 0)
	}
	return testMat[E]{fill(r, hi-lo+1), -lo, row, col}
}

func (m testMat[E]) mat() tile.Mat {
	return tile.Mat{Ptr: unsafe.Pointer(&m.data[m.origin]), Row: m.row, Col: m.col}
}

func (m testMat[E]) at(i, j int) *E { return &m.data[m.origin+i*m.row+j*m.col] }

func (m testMat[E]) clone() testMat[E] {
	m.data = append([]E(nil), m.data...)
	return m
}

// checkProduct computes one product and compares it with the definition, and what
// lies between the elements of C with what was there.
// Products of float32 are tried once more with halves for the factors, or for one of them.
func checkProduct[E tile.Element](t *testing.T, m, n, k int, a, b, c testMat[E], threads int) {
	t.Helper()
	d := cputest.DtypeOf[E]()
	checkOf(t, [2]array.DType{d, d}, m, n, k, a, b, c.clone(), threads)
	if d == array.Float32 {
		checkOf(t, halfTypes[(m+2*n+k)%len(halfTypes)], m, n, k, a, b, c, threads)
	}
}

var halfTypes = [...][2]array.DType{{array.Float16, array.Float16}, {array.BFloat16, array.BFloat16}, {array.BFloat16, array.Float32}, {array.Float32, array.Float16}, {array.Float16, array.BFloat16}}

// halved returns where the elements of m are as d, and m with what they are then: m itself
// if d is its own type.
func (m testMat[E]) halved(d array.DType) (tile.Mat, testMat[E]) {
	if !d.Half() {
		return m.mat(), m
	}
	m = m.clone()
	bits := make([]uint16, len(m.data))
	for i, x := range m.data {
		if d == array.Float16 {
			h := half.NewFloat16(float32(x))
			bits[i], m.data[i] = uint16(h), E(h.Float32())
		} else {
			h := half.NewBFloat16(float32(x))
			bits[i], m.data[i] = uint16(h), E(h.Float32())
		}
	}
	return tile.Mat{Ptr: unsafe.Pointer(&bits[m.origin]), Row: m.row, Col: m.col}, m
}

func checkOf[E tile.Element](t *testing.T, of [2]array.DType, m, n, k int, a, b, c testMat[E], threads int) {
	t.Helper()
	before := c.clone()
	d := cputest.DtypeOf[E]()
	fa, a := a.halved(of[0])
	fb, b := b.halved(of[1])
	p := Product{ISA: cputest.UnderTest, DType: d, Of: of, M: m, N: n, K: k, A: fa, B: fb, C: c.mat(), Threads: threads}
	if c.row == n && c.col == 1 && (m+n+k)%4 > 0 {
		p.Epilogue = cputest.Epilogue[E]{Data: c.data[c.origin:], Cols: n}
	}
	cputest.BothKernels(t, c.data, p.Run)
	want := wantOf(m, n, k, a, b)
	for i := range m {
		for j := range n {
			v := want[i*n+j]
			if p.Epilogue != nil {
				v *= -2
			}
			if got := *c.at(i, j); !cputest.SameBits(got, v) {
				t.Fatalf("%dx%dx%d of %v: element %d,%d is %v, not %v", m, k, n, of, i, j, got, v)
			}
			*before.at(i, j) = *c.at(i, j)
		}
	}
	for i, v := range before.data {
		if !cputest.SameBits(c.data[i], v) {
			t.Fatalf("%dx%dx%d: memory between the elements of C changed", m, k, n)
		}
	}
}

// wanted keeps products by definition, since AVX2 and AVX-512 must give the same ones.
var wanted cputest.Memo

// wantOf is the product by its definition, row by row.
func wantOf[E tile.Element](m, n, k int, a, b testMat[E]) []E {
	rows, columns := make([]E, m*k), make([]E, n*k)
	for i := range m {
		for q := range k {
			rows[i*k+q] = *a.at(i, q)
		}
	}
	for j := range n {
		for q := range k {
			columns[j*k+q] = *b.at(q, j)
		}
	}
	return cputest.Recall(&wanted, fmt.Sprint(m, " ", n, " ", k), [][]E{rows, columns}, func() []E {
		out := make([]E, m*n)
		for i := range m {
			cputest.RefDots(out[i*n:][:n], rows[i*k:][:k], columns, numbers.KBlock, false)
		}
		return out
	})
}
