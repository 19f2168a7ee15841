package product_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	cpu "weft/internal/cpu/product"
	"weft/internal/cpu/tile"
	"weft/internal/cudart"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/product"
	"weft/internal/jit"
)

// A gpu is a simulated one.
type gpu struct {
	*gridtest.Launcher
}

func newGPU(t *testing.T, major int) *gpu { return &gpu{gridtest.NewLauncher(t, major, 0)} }

// A matrix is an operand in memory of the host, with its strides.
type matrix struct {
	d        array.DType
	data     []byte
	first    int // element
	row, col int
	batch    []int
}

// kinds of strides.
const (
	plain = iota
	transposed
	padded // to whole vectors
	odd    // by one element
	gaps
	negative
	broadcast
	numKinds
)

// newMatrix returns a matrix of noise: rows x cols for each element of a batch.
func newMatrix(chance *rand.Rand, d array.DType, kind, rows, cols int, batch []int, aligned bool) *matrix {
	m := &matrix{d: d, row: cols, col: 1}
	span := max(rows*cols, 1)
	switch kind {
	case transposed:
		m.row, m.col = 1, rows
	case padded:
		m.row = (cols + 3) / 4 * 4
		span = rows * m.row
	case odd:
		m.row = cols + 1
		span = rows*m.row + 1
	case gaps:
		m.row, m.col = 3*cols+1, 3
		span = rows*m.row + 1
	case negative:
		m.row, m.col = -cols, -1
		m.first = span - 1
	case broadcast:
		m.row = 0
	}
	m.batch = make([]int, len(batch))
	for i := len(batch) - 1; i >= 0; i-- {
		if m.batch[i] = span; kind == broadcast && i == 0 {
			m.batch[i] = 0
		}
		span = span * max(batch[i], 1)
		if !aligned {
			span += chance.IntN(3) * chance.IntN(3)
		}
	}
	if !aligned {
		m.first += chance.IntN(4) / 3
	}
	m.data = make([]byte, (span+4)*d.Size())
	for i := range span + 4 {
		m.set(i, noise(chance))
	}
	return m
}

// noise returns numbers whose sums and products are of all kinds: usual, zero, tiny, infinite.
func noise(chance *rand.Rand) float64 {
	switch chance.IntN(300) {
	case 0:
		return math.Copysign(0, -1)
	case 1:
		return 0
	case 2:
		return chance.NormFloat64() * 0x1p-130
	case 3:
		return math.Inf(1 - 2*chance.IntN(2)*chance.IntN(2))
	}
	return chance.NormFloat64()
}

func (m *matrix) set(i int, x float64) {
	p := unsafe.Pointer(&m.data[i*m.d.Size()])
	switch m.d {
	case array.Float64:
		*(*float64)(p) = x
	case array.Float32:
		*(*float32)(p) = float32(x)
	case array.BFloat16:
		*(*uint16)(p) = uint16(math.Float32bits(float32(x)) >> 16)
	default:
		*(*uint16)(p) = uint16(half.NewFloat16(x))
	}
}

// fill sets all elements.
func (m *matrix) fill(f func() float64) {
	for i := range len(m.data) / m.d.Size() {
		m.set(i, f())
	}
}

func (m *matrix) ptr() unsafe.Pointer { return unsafe.Pointer(&m.data[m.first*m.d.Size()]) }

// A testCase is a product.
type testCase struct {
	d       array.DType
	of      [2]array.DType
	tile    product.Tile
	m, n, k int
	kinds   [3]int
	batch   []int
	values  values
	apart   bool // blocks of terms are, without a batch
	aligned bool // to vectors, so far as sizes allow
}

// values says what the elements are.
type values int

const (
	special  values = iota // infinities too
	tiny                   // products are less than the least number, so every sum is -0
	usual                  // their size differs
	usualToo               // random cases have them twice as often
	numValues
)

func (c testCase) String() string {
	return fmt.Sprintf("%s of %v, tile %v, %dx%dx%d, kinds %v, batch %v", c.d, c.of, c.tile, c.m, c.n, c.k, c.kinds, c.batch)
}

// check compares a product with the CPU's.
func (g *gpu) check(chance *rand.Rand, c testCase) {
	g.T.Helper()
	a := newMatrix(chance, c.of[0], c.kinds[0], c.m, c.k, c.batch, c.aligned)
	b := newMatrix(chance, c.of[1], c.kinds[1], c.k, c.n, c.batch, c.aligned)
	out := newMatrix(chance, c.d, c.kinds[2], c.m, c.n, c.batch, c.aligned)
	switch c.values {
	case special:
	case tiny:
		x, y := 0x1p-80, -math.SmallestNonzeroFloat32
		if c.d == array.Float64 {
			x, y = 0x1p-600, -0x1p-600
		}
		a.fill(func() float64 { return max(x, map[bool]float64{true: 0x1p-20}[a.d == array.Float16]) })
		b.fill(func() float64 { return y })
	default:
		for _, m := range []*matrix{a, b} {
			m.fill(func() float64 { return math.Ldexp(chance.NormFloat64(), -chance.IntN(2)*10) })
		}
	}
	p := product.Product{DType: c.d, Of: c.of, M: c.m, N: c.n, K: c.k, Batch: product.Batch{c.batch, a.batch, b.batch, out.batch}}
	var addr [3]cudart.Addr
	for i, m := range []*matrix{a, b, out} {
		addr[i] = gridtest.Must(g.C.Alloc(len(m.data)))
		if err := g.C.CopyIn(g.Q, addr[i], unsafe.Pointer(&m.data[0]), len(m.data)); err != nil {
			g.T.Fatal(err)
		}
		*[]*product.Mat{&p.A, &p.B, &p.C}[i] = product.Mat{uint64(addr[i]) + uint64(m.first*m.d.Size()), m.row, m.col}
	}
	scratch := cudart.Addr(0)
	if c.apart && c.k > 256 && len(c.batch) == 0 {
		scratch = gridtest.Must(g.C.Alloc(c.m*c.n*c.d.Size()*((c.k+255)/256) + 1))
	}
	list := p.LaunchesOf(c.tile, g.Major, uint64(scratch))
	g.Run("product", list)
	mat := func(m *matrix) tile.Mat { return tile.Mat{Ptr: m.ptr(), Row: m.row, Col: m.col} }
	cpu.Product{ISA: jit.Portable, DType: c.d, Of: c.of, M: c.m, N: c.n, K: c.k, A: mat(a), B: mat(b), C: mat(out),
		Batch: cpu.Batch{Count: c.batch, A: a.batch, B: b.batch, C: out.batch}}.Run()
	got := make([]byte, len(out.data))
	if err := g.C.CopyOut(g.Q, unsafe.Pointer(&got[0]), addr[2], len(got)); err != nil {
		g.T.Fatal(err)
	}
	size := c.d.Size()
	for i := 0; i < len(got); i += size {
		x, y := word(got[i:], size), word(out.data[i:], size)
		if x != y && !(isNaN(x, size) && isNaN(y, size)) {
			g.T.Fatalf("%v: %v: element %d is %x, want %x", c, list, i/size, x, y)
		}
	}
	for _, x := range addr {
		if err := g.C.Free(x); err != nil {
			g.T.Fatal(err)
		}
	}
}

func word(b []byte, size int) uint64 {
	if size == 8 {
		return *(*uint64)(unsafe.Pointer(&b[0]))
	}
	return uint64(*(*uint32)(unsafe.Pointer(&b[0])))
}

func isNaN(x uint64, size int) bool {
	if size == 8 {
		return math.IsNaN(math.Float64frombits(x))
	}
	return math.IsNaN(float64(math.Float32frombits(uint32(x))))
}
