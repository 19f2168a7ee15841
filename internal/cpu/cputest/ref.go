// Package cputest is what the tests of the CPU's routines share: sums by their definition,
// every instruction set in turn, memory beside inaccessible pages, benchmarks.
package cputest

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/fma"
	"weft/internal/jit"
	"weft/internal/mem/guard"
	"weft/internal/par"
)

// side is how many sums RefDots computes side by side.
const side = 4

// RefDots sums products of xs with each of as many vectors as out has elements, which lie one
// behind another in ys, by the rule of the package comment. Blocks that are zero count as +0
// if positive is set. Each sum waits for its last addition, so that several side by side take
// little more time than one.
func RefDots[E tile.Element](out, xs, ys []E, limit int, positive bool) {
	k := len(xs)
	for at := 0; at < len(out); at += side {
		n := min(side, len(out)-at)
		var sums [side]E
		for p0 := 0; p0 < k || p0 == 0; p0 += limit {
			p1 := min(k, p0+limit)
			var rows [side][]E
			for i := range rows { // those that are not wanted are the last one once more
				first := (at + min(i, n-1)) * k
				rows[i] = ys[first+p0 : first+p1]
			}
			var blocks [side]E
			switch x := any(xs[p0:p1]).(type) {
			case []float32:
				chains32(any(&blocks).(*[side]float32), x, any(&rows).(*[side][]float32))
			case []float64:
				chains64(any(&blocks).(*[side]float64), x, any(&rows).(*[side][]float64))
			}
			for i, block := range blocks {
				if positive && block == 0 {
					block = 0
				}
				if p0 > 0 {
					sums[i] += block
				} else {
					sums[i] = block
				}
			}
		}
		copy(out[at:at+n], sums[:])
	}
}

// chains32 are chains of fused multiply-adds, each over a row.
func chains32(v *[side]float32, x []float32, rows *[side][]float32) {
	a, b, c, d := rows[0][:len(x)], rows[1][:len(x)], rows[2][:len(x)], rows[3][:len(x)]
	var va, vb, vc, vd float32
	for i, x := range x {
		p := float64(x)
		sa, sb, sc, sd := p*float64(a[i])+float64(va), p*float64(b[i])+float64(vb), p*float64(c[i])+float64(vc), p*float64(d[i])+float64(vd)
		if fma.Hard32(sa) || fma.Hard32(sb) || fma.Hard32(sc) || fma.Hard32(sd) {
			va, vb, vc, vd = fma.Float32(x, a[i], va), fma.Float32(x, b[i], vb), fma.Float32(x, c[i], vc), fma.Float32(x, d[i], vd)
			continue
		}
		va, vb, vc, vd = float32(sa), float32(sb), float32(sc), float32(sd)
	}
	*v = [side]float32{va, vb, vc, vd}
}

func chains64(v *[side]float64, x []float64, rows *[side][]float64) {
	a, b, c, d := rows[0][:len(x)], rows[1][:len(x)], rows[2][:len(x)], rows[3][:len(x)]
	var va, vb, vc, vd float64
	for i, x := range x {
		va, vb, vc, vd = math.FMA(x, a[i], va), math.FMA(x, b[i], vb), math.FMA(x, c[i], vc), math.FMA(x, d[i], vd)
	}
	*v = [side]float64{va, vb, vc, vd}
}

// A Memo keeps what was computed from inputs, so that tests that try the same inputs on every
// instruction set compute it once.
type Memo struct {
	seed maphash.Seed
	kept map[uint64]any
}

// Recall returns the result of compute for inputs and key, and keeps it for later calls with the
// same inputs and key.
func Recall[E tile.Element](m *Memo, key string, inputs [][]E, compute func() []E) []E {
	if m.kept == nil {
		m.seed, m.kept = maphash.MakeSeed(), map[uint64]any{}
	}
	var h maphash.Hash
	h.SetSeed(m.seed)
	size := DtypeOf[E]().Size()
	fmt.Fprint(&h, key, size)
	for _, x := range inputs {
		fmt.Fprint(&h, " ", len(x))
		h.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*size))
	}
	out, ok := m.kept[h.Sum64()].([]E)
	if !ok {
		out = compute()
		m.kept[h.Sum64()] = out
	}
	return out
}

func DtypeOf[E tile.Element]() array.DType {
	if unsafe.Sizeof(E(0)) == 4 {
		return array.Float32
	}
	return array.Float64
}

// normals are numbers of the normal distribution. Their count is a prime, so that no row length of a
// test divides it and a wrong index reads a wrong number.
var normals = sync.OnceValue(func() []float64 {
	r, x := rand.New(rand.NewPCG(1, 1)), make([]float64, 65521)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
})

// Random returns n numbers of the normal distribution: a slice of normals with a start drawn from r.
// Drawing each number took a quarter of the time of the matmul tests.
func Random[E tile.Element](r *rand.Rand, n int) []E {
	s, from := make([]E, n), normals()
	at := r.IntN(len(from))
	for i := range s {
		s[i] = E(from[at])
		if at++; at == len(from) {
			at = 0
		}
	}
	return s
}

func SameBits[E tile.Element](a, b E) bool {
	if a != a || b != b {
		return a != a && b != b
	}
	return math.Float64bits(float64(a)) == math.Float64bits(float64(b))
}

// UnderTest is the instruction set that tests compute with.
var UnderTest = jit.Chosen().ISA

// EveryISA runs f under each instruction set that this machine has.
func EveryISA(t *testing.T, f func(t *testing.T, isa jit.ISA)) {
	defer func(old jit.ISA) { UnderTest = old }(UnderTest)
	hot, cold := tile.ThreadHot, tile.ThreadCold
	defer func() { tile.ThreadHot, tile.ThreadCold = hot, cold }()
	tile.ThreadHot, tile.ThreadCold = 0, 0 // no product is too small for threads
	for _, isa := range []jit.ISA{jit.Portable, jit.AVX2, jit.AVX512} {
		t.Run(isa.String(), func(t *testing.T) {
			if !slices.Contains(jit.ISAs(), isa) {
				t.Skipf("SKIPPED: this machine runs no %s kernels", isa)
			}
			UnderTest = isa
			f(t, isa)
		})
	}
}

// BothKernels calls f, which computes result from other memory, with general kernels alone and then
// with a kernel for each size. It fails unless both give the same bits.
func BothKernels[E tile.Element](t *testing.T, result []E, f func()) {
	t.Helper()
	if UnderTest == jit.Portable {
		f()
		return
	}
	defer func(old int64) { codegen.GeneralWork = old }(codegen.GeneralWork)
	codegen.GeneralWork = math.MaxInt64
	f()
	general := slices.Clone(result)
	codegen.GeneralWork = 0
	f()
	for i, v := range result {
		if !SameBits(general[i], v) {
			t.Fatalf("general kernels and kernels for sizes: element %d is %v and %v", i, general[i], v)
		}
	}
}

// An Epilogue multiplies what it runs on by -2. So the values show whether it ran exactly once
// on each element, after the element was written.
type Epilogue[E tile.Element] struct {
	Data []E // of the whole result
	Cols int
}

func (t Epilogue[E]) Run(r0, r1, c0, c1 int) {
	for r := r0; r < r1; r++ {
		row := t.Data[r*t.Cols:][:t.Cols]
		for i := range row[c0:c1] {
			row[c0+i] *= -2
		}
	}
}

func (Epilogue[E]) Work() int { return 1 }

// EveryGuard runs tests on machine code, with general kernels and those for sizes, with memory before and behind an inaccessible page.
func EveryGuard(t *testing.T, tests ...func(t *testing.T, place func(int) (*guard.Buffer, error))) {
	if !guard.Available {
		t.Skip("SKIPPED: no guard pages here")
	}
	EveryISA(t, func(t *testing.T, isa jit.ISA) {
		if isa == jit.Portable {
			t.Skip("SKIPPED: no machine code that could stray")
		}
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer par.SetPanicOnFault(par.SetPanicOnFault(true))
		defer func(old int64) { codegen.GeneralWork = old }(codegen.GeneralWork)
		for _, codegen.GeneralWork = range []int64{math.MaxInt64, 0} {
			for _, place := range []func(int) (*guard.Buffer, error){guard.End, guard.Start} {
				for _, f := range tests {
					f(t, place)
				}
			}
		}
	})
}

// LargestGuarded is the most bytes of an operand of guardedMemory.
const LargestGuarded = 1 << 22

// GuardedMemory returns a function that gives n elements of operand i, one of four, against
// an inaccessible page.
func GuardedMemory(t *testing.T, size int, place func(int) (*guard.Buffer, error)) func(i, n int) unsafe.Pointer {
	t.Helper()
	var ops [4][]byte
	for i := range ops {
		b, err := place(LargestGuarded)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		ops[i] = b.Bytes()
	}
	probe, _ := place(size)
	atEnd := uintptr(probe.Ptr())&4095 != 0
	probe.Close()
	return func(i, n int) unsafe.Pointer {
		if atEnd {
			return unsafe.Pointer(unsafe.SliceData(ops[i][LargestGuarded-n*size:]))
		}
		return unsafe.Pointer(unsafe.SliceData(ops[i]))
	}
}
