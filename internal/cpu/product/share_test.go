package product

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/numbers"
)

// setShared makes B shared from its first byte on, in panels of at most bytes bytes.
func setShared(t *testing.T, bytes int) {
	least, most := sharedLeast, sharedMost
	sharedLeast, sharedMost = 0, bytes
	t.Cleanup(func() { sharedLeast, sharedMost = least, most })
}

// A product whose tasks share the panels of B is the product by definition, in one round of terms and in several.
func TestSharedPanels(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		if isa == jit.Portable {
			return // it packs nothing
		}
		testShared[float32](t)
		testShared[float64](t)
	})
}

func testShared[E tile.Element](t *testing.T) {
	r := rand.New(rand.NewPCG(12, 8))
	for i, s := range [][3]int{{130, 72, 600}, {75, 33, 512}, {230, 70, 257}} {
		m, n, k := s[0], s[1], s[2]
		block := tile.Ceil(n, 16) * 16 * numbers.KBlock * int(unsafe.Sizeof(E(0))) // at least the panels of a block of terms
		for rounds, bytes := range []int{block, 1 << 30} {
			setShared(t, bytes)
			threads, lb := 2+(i+rounds)%2, 1+2*rounds
			a, b, c := newTestMat[E](r, i%len(layouts), m, k), newTestMat[E](r, lb, k, n), newTestMat[E](r, 0, m, n)
			d := cputest.DtypeOf[E]()
			p := Product{ISA: cputest.UnderTest, DType: d, M: m, N: n, K: k, A: a.mat(), B: b.mat(), C: c.mat()}
			p.Of[0], p.Of[1] = d, d
			j := p.job()
			if j.plan(1, threads, false); !j.sharePays() {
				t.Fatalf("%dx%dx%d of layout %s: panels are not shared", m, k, n, layouts[lb].name)
			}
			checkProduct(t, m, n, k, a, b, c, threads)
		}
	}
}

// Batches, epilogues and products that are added have the bits of tasks that pack their own panels.
func TestSharedPanelsLikeOwn(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(12, 9))
		const count, m, n, k = 2, 330, 72, 600
		a, b, start := cputest.Random[float64](r, count*m*k), cputest.Random[float64](r, k*n), cputest.Random[float64](r, count*(m+1)*n)
		for _, add := range []bool{false, true} {
			run := func(threads int) []float64 {
				c := slices.Clone(start)
				p := Product{ISA: isa, DType: cputest.DtypeOf[float64](), M: m, N: n, K: k, Threads: threads, Add: add}
				p.A, p.B, p.C = tile.Mat{Ptr: unsafe.Pointer(&a[0]), Row: k, Col: 1}, tile.Mat{Ptr: unsafe.Pointer(&b[0]), Row: 1, Col: k}, tile.Mat{Ptr: unsafe.Pointer(&c[0]), Row: n, Col: 1}
				p.Batch = Batch{Count: []int{count}, A: []int{m * k}, B: []int{0}, C: []int{m * n}}
				if add { // rows of C that do not follow one another, which are not folded
					p.Batch.C[0] += n
				} else {
					p.Epilogue = cputest.Epilogue[float64]{Data: c, Cols: n}
				}
				p.Run()
				return c
			}
			setShared(t, 1<<18)
			sharedLeast = math.MaxInt // the first run packs for itself
			want := run(1)
			sharedLeast = 0
			for _, threads := range []int{2, 3} {
				for at, v := range run(threads) {
					if !cputest.SameBits(v, want[at]) {
						t.Fatalf("add %v, %d threads: element %d is %v, not %v", add, threads, at, v, want[at])
					}
				}
			}
		}
	})
}
