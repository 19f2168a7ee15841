// Package cputest is what the tests of the CPU's routines share: sums by their definition,
// every instruction set in turn, memory beside inaccessible pages, benchmarks.
package cputest

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/fma"
	"weft/internal/jit"
	"weft/internal/mem/guard"
	"weft/internal/par"
)

// RefSum sums k products by the rule of the package comment. Blocks
// that are zero count as +0 if positive is set.
func RefSum[E tile.Element](k, limit int, positive bool, term func(p int) (x, y E)) E {
	xs, ys := make([]E, k), make([]E, k)
	for p := range k {
		xs[p], ys[p] = term(p)
	}
	return RefDot(xs, ys, limit, positive)
}

func RefDot[E tile.Element](xs, ys []E, limit int, positive bool) E {
	var sum E
	for p0 := 0; p0 < len(xs) || p0 == 0; p0 += limit {
		p1 := min(len(xs), p0+limit)
		block := E(0)
		switch x := any(xs[p0:p1]).(type) {
		case []float32:
			var v float32
			for i, y := range any(ys[p0:p1]).([]float32) {
				v = fma.Float32(x[i], y, v)
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

func DtypeOf[E tile.Element]() array.DType {
	if unsafe.Sizeof(E(0)) == 4 {
		return array.Float32
	}
	return array.Float64
}

func Random[E tile.Element](r *rand.Rand, n int) []E {
	s := make([]E, n)
	for i := range s {
		s[i] = E(r.NormFloat64())
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

// A Tail multiplies what it runs on by -2: whether it has run once on each element of a
// result, when that was there, shows in its value.
type Tail[E tile.Element] struct {
	Data []E // of the whole result
	Cols int
}

func (t Tail[E]) Run(r0, r1, c0, c1 int) {
	for r := r0; r < r1; r++ {
		row := t.Data[r*t.Cols:][:t.Cols]
		for i := range row[c0:c1] {
			row[c0+i] *= -2
		}
	}
}

func (Tail[E]) Work() int { return 1 }

// EveryGuard runs tests on machine code with memory before and behind an inaccessible page.
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
		for _, place := range []func(int) (*guard.Buffer, error){guard.End, guard.Start} {
			for _, f := range tests {
				f(t, place)
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
