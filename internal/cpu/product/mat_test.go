package product

import (
	"math/rand/v2"
	"testing"
	"unsafe"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
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
func checkProduct[E tile.Element](t *testing.T, m, n, k int, a, b, c testMat[E], threads int) {
	t.Helper()
	before := c.clone()
	d := cputest.DtypeOf[E]()
	p := Product{ISA: cputest.UnderTest, DType: d, M: m, N: n, K: k, A: a.mat(), B: b.mat(), C: c.mat(), Threads: threads}
	if c.row == n && c.col == 1 && (m+n+k)%4 > 0 {
		p.Tail = cputest.Tail[E]{Data: c.data[c.origin:], Cols: n}
	}
	p.Run()
	row, column := make([]E, k), make([]E, n*k)
	for j := range n {
		for q := range k {
			column[j*k+q] = *b.at(q, j)
		}
	}
	for i := range m {
		for q := range k {
			row[q] = *a.at(i, q)
		}
		for j := range n {
			v := cputest.RefDot(row, column[j*k:(j+1)*k], tile.KBlock, false)
			if p.Tail != nil {
				v *= -2
			}
			if got := *c.at(i, j); !cputest.SameBits(got, v) {
				t.Fatalf("%dx%dx%d: element %d,%d is %v, not %v", m, k, n, i, j, got, v)
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
