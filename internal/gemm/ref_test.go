package gemm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/interp"
	"weft/internal/jit"
)

// refSum sums k products by the rule of the package comment. Blocks
// that are zero count as +0 if positive is set.
func refSum[E element](k, limit int, positive bool, term func(p int) (x, y E)) E {
	xs, ys := make([]E, k), make([]E, k)
	for p := range k {
		xs[p], ys[p] = term(p)
	}
	return refDot(xs, ys, limit, positive)
}

func refDot[E element](xs, ys []E, limit int, positive bool) E {
	var sum E
	for p0 := 0; p0 < len(xs) || p0 == 0; p0 += limit {
		p1 := min(len(xs), p0+limit)
		block := E(0)
		switch x := any(xs[p0:p1]).(type) {
		case []float32:
			var v float32
			for i, y := range any(ys[p0:p1]).([]float32) {
				v = interp.Fma32(x[i], y, v)
			}
			block = E(v)
		case []float64:
			var v float64
			for i, y := range any(ys[p0:p1]).([]float64) {
				v = math.FMA(x[i], y, v)
			}
			block = E(v)
		}
		if positive && block == 0 {
			block = 0
		}
		if p0 > 0 {
			sum += block
		} else {
			sum = block
		}
	}
	return sum
}

func dtypeOf[E element]() array.DType {
	if unsafe.Sizeof(E(0)) == 4 {
		return array.Float32
	}
	return array.Float64
}

func random[E element](r *rand.Rand, n int) []E {
	s := make([]E, n)
	for i := range s {
		s[i] = E(r.NormFloat64())
	}
	return s
}

func sameBits[E element](a, b E) bool {
	if a != a || b != b {
		return a != a && b != b
	}
	return math.Float64bits(float64(a)) == math.Float64bits(float64(b))
}

// underTest is the instruction set that tests compute with.
var underTest = jit.Chosen().ISA

// everyISA runs f under each instruction set that this machine has.
func everyISA(t *testing.T, f func(t *testing.T, isa jit.ISA)) {
	defer func(old jit.ISA) { underTest = old }(underTest)
	hot, cold := threadHot, threadCold
	defer func() { threadHot, threadCold = hot, cold }()
	threadHot, threadCold = 0, 0 // no product is too small for threads
	for _, isa := range []jit.ISA{jit.Portable, jit.AVX2, jit.AVX512} {
		t.Run(isa.String(), func(t *testing.T) {
			if !slices.Contains(jit.ISAs(), isa) {
				t.Skipf("SKIPPED: this machine runs no %s kernels", isa)
			}
			underTest = isa
			f(t, isa)
		})
	}
}

// A testMat is a matrix in a slice with gaps.
type testMat[E element] struct {
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

func newTestMat[E element](r *rand.Rand, layout, rows, cols int) testMat[E] {
	row, col := layouts[layout].f(rows, cols)
	return testMatOf(random[E], r, row, col, rows, cols)
}

func testMatOf[E element](fill func(*rand.Rand, int) []E, r *rand.Rand, row, col, rows, cols int) testMat[E] {
	lo, hi := 0, 0
	for _, s := range [...]int{row * max(rows-1, 0), col * max(cols-1, 0)} {
		lo, hi = lo+min(s, 0), hi+max(s, 0)
	}
	return testMat[E]{fill(r, hi-lo+1), -lo, row, col}
}

func (m testMat[E]) mat() Mat {
	return Mat{unsafe.Pointer(&m.data[m.origin]), m.row, m.col}
}

func (m testMat[E]) at(i, j int) *E { return &m.data[m.origin+i*m.row+j*m.col] }

func (m testMat[E]) clone() testMat[E] {
	m.data = append([]E(nil), m.data...)
	return m
}

// checkProduct computes one product and compares it with the definition, and what
// lies between the elements of C with what was there.
func checkProduct[E element](t *testing.T, m, n, k int, a, b, c testMat[E], bias Bias, element func(i, j int) *E, threads int) {
	t.Helper()
	before := c.clone()
	d := dtypeOf[E]()
	Product{ISA: underTest, DType: d, M: m, N: n, K: k, A: a.mat(), B: b.mat(), C: c.mat(), Bias: bias, Threads: threads}.Run()
	row, column := make([]E, k), make([]E, n*k)
	for j := range n {
		for p := range k {
			column[j*k+p] = *b.at(p, j)
		}
	}
	for i := range m {
		for p := range k {
			row[p] = *a.at(i, p)
		}
		for j := range n {
			v := refDot(row, column[j*k:(j+1)*k], KBlock(d), false)
			if element != nil {
				v += *element(i, j)
			}
			if got := *c.at(i, j); !sameBits(got, v) {
				t.Fatalf("%dx%dx%d: element %d,%d is %v, not %v", m, k, n, i, j, got, v)
			}
			*before.at(i, j) = *c.at(i, j)
		}
	}
	for i, v := range before.data {
		if !sameBits(c.data[i], v) {
			t.Fatalf("%dx%dx%d: memory between the elements of C changed", m, k, n)
		}
	}
}
