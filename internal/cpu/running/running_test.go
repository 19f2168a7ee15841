package running

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/cpu/cputest"
	"weft/internal/cpu/gen"
	"weft/internal/jit"
	"weft/internal/mem/guard"
)

func TestSums(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		t.Run("float32", func(t *testing.T) { testSums[float32](t, isa) })
		t.Run("float64", func(t *testing.T) { testSums[float64](t, isa) })
	})
}

// inBlock is the sum of the first n elements of a block in its order, from the top: the last
// sum of the greatest power of two below n, then that of what follows.
func inBlock[T float](x []T) T {
	n := len(x)
	if n == 1 {
		return x[0]
	}
	half := 1
	for 2*half < n {
		half *= 2
	}
	return inBlock(x[:half]) + inBlock(x[half:])
}

func wanted[T float](x []T) []T {
	y, block := make([]T, len(x)), Block[T]()
	for i := range x {
		begin := i / block * block
		y[i] = inBlock(x[begin : i+1])
		if begin > 0 {
			y[i] = y[begin-1] + y[i]
		}
	}
	return y
}

func same[T float](t *testing.T, got, want []T) {
	t.Helper()
	for i, w := range want {
		g := got[i]
		if g != w && (g == g || w == w) || g == 0 && math.Signbit(float64(g)) != math.Signbit(float64(w)) {
			t.Fatalf("of %d, sum %d is %v, want %v", len(want), i, g, w)
		}
	}
}

func testSums[T float](t *testing.T, isa jit.ISA) {
	size := int(unsafe.Sizeof(T(0)))
	r := rand.New(rand.NewPCG(3, uint64(size)))
	lengths := []int{gen.StreamMin/2/size + 5}
	for n := range 70 {
		lengths = append(lengths, n, n+1000)
	}
	for i, n := range lengths {
		at := guard.End
		if i%2 == 0 {
			at = guard.Start
		}
		row := func() []T {
			b, err := at(n * size)
			if err != nil {
				t.Skip("SKIPPED: no guard pages here")
			}
			t.Cleanup(func() { b.Close() })
			return unsafe.Slice((*T)(b.Ptr()), n)
		}
		if n == 0 {
			Sums[T](isa, nil, nil)
			continue
		}
		x, y := row(), row()
		for k := range x {
			x[k] = T(r.NormFloat64())
			if k < n/3 && i%3 == 0 {
				x[k] = T(math.Copysign(0, -1)) // a sum of zeros keeps their sign
			}
		}
		if i%5 == 4 {
			x[n/2] = T(math.NaN())
			x[n*2/3] = T(math.Inf(1))
		}
		want := wanted(x)
		Sums(isa, y, x)
		same(t, y, want)
		clear(y)
		Sums(jit.Portable, y, x)
		same(t, y, want)
	}
}

// From the end the order is that of the row turned round.
func TestBack(t *testing.T) {
	const n = 77
	x, turned, y, back := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = rand.NormFloat64()
		turned[n-1-i] = x[i]
	}
	Back(y, x)
	for i := range y {
		back[n-1-i] = y[i]
	}
	same(t, back, wanted(turned))
}
