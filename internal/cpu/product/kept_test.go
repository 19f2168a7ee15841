package product

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/packed"
)

// Products whose panels of B are kept have the bits of those that pack, cut in any way.
func TestKeptPanels(t *testing.T) {
	defer func(n int) { prefetchFrom = n }(prefetchFrom)
	prefetchFrom = 0
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		before := packed.Made()
		for seed, s := range [][3]int{{16, 384, 384}, {128, 768, 300}, {40, 100, 520}, {17, 1111, 257}, {300, 33, 1024}, {64, 2000, 70}} {
			for _, columnMajor := range []bool{false, true} {
				testKept(t, isa, uint64(seed), s, columnMajor)
			}
		}
		if n := packed.Made() - before; isa != jit.Portable && n < 12 {
			t.Errorf("%d copies were made", n)
		}
	})
}

func testKept(t *testing.T, isa jit.ISA, seed uint64, s [3]int, columnMajor bool) {
	m, n, k := s[0], s[1], s[2]
	r := rand.New(rand.NewPCG(seed, 1))
	a, values := cputest.Random[float32](r, m*k), cputest.Random[float32](r, k*n)
	lease, err := mem.Lend(4 * k * n)
	if err != nil {
		t.Fatal(err)
	}
	copy(unsafe.Slice((*float32)(lease.Ptr()), k*n), values)
	view := array.View{Store: array.NewStorage(lease.Ptr(), 4*k*n, lease), DType: array.Float32, Shape: []int{k, n}, Strides: []int{n, 1}}
	b := tile.Mat{Ptr: unsafe.Pointer(&values[0]), Row: n, Col: 1}
	if columnMajor {
		b.Row, b.Col = 1, k
	}
	want, c := make([]float32, m*n), make([]float32, m*n)
	p := Product{ISA: isa, DType: array.Float32, M: m, N: n, K: k, A: tile.Mat{Ptr: unsafe.Pointer(&a[0]), Row: k, Col: 1}, B: b, C: tile.Mat{Ptr: unsafe.Pointer(&want[0]), Row: n, Col: 1}, Threads: 1}
	p.Run()
	packed.Keep(view.Store)
	packed.Of(&view) // the first use
	p.C.Ptr, p.B.Ptr = unsafe.Pointer(&c[0]), lease.Ptr()
	for _, threads := range []int{1, 3, 2} {
		clear(c)
		if p.Kept = packed.Of(&view); !p.Kept.Kept() {
			t.Fatal("nothing is kept from the second use on")
		}
		p.Threads = threads
		p.Run()
		for i := range want {
			if !cputest.SameBits(c[i], want[i]) {
				t.Fatalf("%dx%dx%d, column-major %v, %d threads: element %d is %v, not %v", m, k, n, columnMajor, threads, i, c[i], want[i])
			}
		}
	}
}
