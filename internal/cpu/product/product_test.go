package product

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem/guard"
	"weft/internal/numbers"
)

func TestProductSizes(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		testSizes[float32](t, isa)
		testSizes[float64](t, isa)
	})
}

// testSizes goes through all m and n up to 70 with some k, and all k with some m
// and n, the layouts changing with the size.
func testSizes[E tile.Element](t *testing.T, isa jit.ISA) {
	r := rand.New(rand.NewPCG(1, 2))
	at := 0
	try := func(m, n, k int) {
		at++
		la, lb, lc := at%len(layouts), at/3%len(layouts), at/7%len(layouts)
		a, b, c := newTestMat[E](r, la, m, k), newTestMat[E](r, lb, k, n), newTestMat[E](r, lc, m, n)
		checkProduct(t, m, n, k, a, b, c, [...]int{1, 2, 5}[at%3])
	}
	step := 1
	if isa == jit.Portable || testing.Short() {
		step = 5
	}
	for m := 0; m <= 70; m += step {
		for n := 0; n <= 70; n++ {
			try(m, n, [...]int{0, 1, 2, 3, 4, 5, 7, 16, 19}[(m+n)%9])
		}
	}
	for k := 0; k <= 70; k += step {
		try(15, 35, k)
		try(1, 35, k)
		try(19, 1, k)
	}
}

func TestProductLarge(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		defer func(old int) { prefetchFrom = old }(prefetchFrom)
		for _, prefetchFrom = range []int{prefetchFrom, 0} {
			testLarge[float32](t, isa)
			testLarge[float64](t, isa)
		}
	})
}

// testLarge tries sizes with several blocks of k, of rows and of columns.
func testLarge[E tile.Element](t *testing.T, isa jit.ISA) {
	r := rand.New(rand.NewPCG(3, 4))
	sizes := [][3]int{{3, 5, 1300}, {40, 50, 1025}, {129, 67, 257}, {1, 300, 1111}, {300, 1, 700}, {5, 200, 600}, {200, 5, 600}}
	if isa != jit.Portable {
		sizes = append(sizes, [3]int{260, 100, 400}, [3]int{1100, 40, 10}, [3]int{30, 2100, 10}, [3]int{97, 130, 256})
	}
	at := 0
	for _, s := range sizes {
		m, n, k := s[0], s[1], s[2]
		for _, l := range [][3]int{{0, 0, 0}, {1, 0, 1}, {0, 1, 0}, {4, 4, 4}, {2, 3, 2}} {
			at++
			a, b, c := newTestMat[E](r, l[0], m, k), newTestMat[E](r, l[1], k, n), newTestMat[E](r, l[2], m, n)
			checkProduct(t, m, n, k, a, b, c, [...]int{1, 2, 5}[at%3])
		}
	}
}

// TestProductFewRows tries few rows with a B that is read only once, in both orientations,
// with tails of k and of columns, in the caches and not.
func TestProductFewRows(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		defer func(old int) { cachedBytes = old }(cachedBytes)
		for _, cachedBytes = range []int{cachedBytes, 0} {
			testNarrow[float32](t)
			testNarrow[float64](t)
		}
	})
}

func testNarrow[E tile.Element](t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for m := 1; m <= 9; m++ {
		for i, s := range [][2]int{{1100, 270 + m}, {277 - m, 1057}, {600, 530}} {
			n, k := s[0], s[1]
			if i != m%3 && cputest.UnderTest == jit.Portable {
				continue
			}
			for _, layout := range []int{m % 2, 2 + m%2} {
				a, b, c := newTestMat[E](r, layout, m, k), newTestMat[E](r, (layout+m)%4, k, n), newTestMat[E](r, 0, m, n)
				checkProduct(t, m, n, k, a, b, c, [...]int{1, 2, 5}[(m+n)%3])
			}
		}
	}
}

// TestProductFewResults multiplies matrices with few results and many terms: whole and partial groups of
// blocks, terms after the last block, and all layouts.
func TestProductFewResults(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		testByBlocks[float32](t)
		testByBlocks[float64](t)
	})
}

// rareSpecials returns random numbers, a few of them zero, tiny, or not finite.
func rareSpecials[E tile.Element](r *rand.Rand, n int) []E {
	s := cputest.Random[E](r, n)
	for range 3 {
		s[r.IntN(n)] = []E{0, E(math.Copysign(0, -1)), 1e-44, E(math.Inf(1)), E(math.NaN())}[r.IntN(5)]
	}
	return s
}

func testByBlocks[E tile.Element](t *testing.T) {
	r := rand.New(rand.NewPCG(26, 5))
	defer func(old int64) { codegen.GeneralWork = old }(codegen.GeneralWork)
	for i, k := range []int{2047, 2048, 2049, 4096, 5000, 8 * 1024, 9999, 40000} {
		for _, s := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {3, 1}, {2, 2}, {1, 5}, {3, 3}, {2, 4}} {
			m, n := s[0], s[1]
			if (i+m+n)%4 > 0 && m+n > 2 {
				continue
			}
			for layout := range len(layouts) {
				a, b, c := newTestMat[E](r, layout, m, k), newTestMat[E](r, (layout+i)%len(layouts), k, n), newTestMat[E](r, (layout+m)%len(layouts), m, n)
				checkProduct(t, m, n, k, a, b, c, [...]int{1, 2, 5}[i%3])
			}
			a, b := testMatOf(rareSpecials[E], r, k, 1, m, k), testMatOf(rareSpecials[E], r, 1, k, k, n)
			checkProduct(t, m, n, k, a, b, newTestMat[E](r, 0, m, n), 2)
			p := Product{ISA: cputest.UnderTest, DType: cputest.DtypeOf[E](), M: m, N: n, K: k, A: a.mat(), B: b.mat()}
			codegen.GeneralWork = 0
			if want := k >= blockLeast*numbers.KBlock && (p.DType == array.Float32 || m+n <= 2); want && !p.byBlocks() {
				t.Errorf("%dx%dx%d of %s is not computed by blocks", m, k, n, p.DType)
			}
		}
	}
}

// TestRowTimesColumns tries a single row times columns that lie side by side: in the caches and not,
// with addresses that share sets of the first one, and so long that an entry ends within them.
func TestRowTimesColumns(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		defer func(old int) { cachedBytes = old }(cachedBytes)
		for _, cachedBytes = range []int{cachedBytes, 0} {
			testDots[float32](t)
			testDots[float64](t)
		}
	})
}

func testDots[E tile.Element](t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	for i, s := range [][3]int{{53, 784, 784}, {47, 1024, 1024}, {29, 1289, 1280}, {38, 512, 512}, {100, 71, 70}, {27, 11003, 11003}, {18, 35000, 34816}} {
		n, step, k := s[0], s[1], s[2]
		a, b, c := newTestMat[E](r, i%2, 1, k), testMatOf(cputest.Random[E], r, 1, step, k, n), newTestMat[E](r, i%2, 1, n)
		d := cputest.DtypeOf[E]()
		checkOf(t, [2]array.DType{d, d}, 1, n, k, a, b, c.clone(), 1)
		checkProduct(t, 1, n, k, a, b, c, 1+i%2)
		if d == array.Float32 {
			for _, of := range halfTypes[:3] {
				checkOf(t, of, 1, n, k, a, b, c, 1+i%2)
			}
		}
	}
}

// TestProductBatch compares batches, with broadcasting in every operand, with the single
// products.
func TestProductBatch(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		testBatch[float32](t)
		testBatch[float64](t)
	})
}

func testBatch[E tile.Element](t *testing.T) {
	d := cputest.DtypeOf[E]()
	hot := tile.ThreadHot
	defer func() { tile.ThreadHot = hot }()
	for seed := range uint64(60) {
		tile.ThreadHot = hot
		of := [2]array.DType{d, d}
		if d == array.Float32 && seed%2 > 0 { // any bits are halves
			of = halfTypes[seed/2%uint64(len(halfTypes))]
		}
		r := rand.New(rand.NewPCG(seed, 7))
		m, n, k := 1+r.IntN(40), 1+r.IntN(40), r.IntN(40)
		count := make([]int, r.IntN(4))
		if seed%4 == 1 { // many small ones, which are computed side by side
			tile.ThreadHot = 8 * 20 * 20 * 12 // so that a chunk is several
			m, n, k, count = 1+r.IntN(20), 1+r.IntN(20), r.IntN(12), []int{3, 40}[seed/4%2:]
		}
		total := 1
		for i := range count {
			if seed%4 != 1 {
				count[i] = r.IntN(4)
			}
			total *= count[i]
		}
		// strides returns strides for matrices of each elements one after another; some are broadcast.
		strides := func(each int, broadcast bool) []int {
			s := make([]int, len(count))
			for i := len(s) - 1; i >= 0; i-- {
				s[i] = each
				if broadcast && r.IntN(3) == 0 {
					s[i] = 0
				}
				each *= count[i]
			}
			return s
		}
		a, b, c := cputest.Random[E](r, total*m*k+1), cputest.Random[E](r, total*k*n+1), cputest.Random[E](r, total*m*n+1)
		batch := Batch{Count: count, A: strides(m*k, true), B: strides(k*n, true), C: strides(m*n, false)}
		if seed%5 == 0 {
			batch.A = nil
		}
		var epilogue tile.Epilogue
		if seed%3 == 0 {
			epilogue = cputest.Epilogue[E]{Data: c, Cols: n}
		}
		before := append([]E(nil), c...)
		mat := func(s []E, cols int) tile.Mat { return tile.Mat{Ptr: unsafe.Pointer(&s[0]), Row: cols, Col: 1} }
		p := Product{ISA: cputest.UnderTest, DType: d, Of: of, M: m, N: n, K: k, A: mat(a, k), B: mat(b, n), C: mat(c, n), Batch: batch, Epilogue: epilogue, Threads: 1 + r.IntN(5)}
		cputest.BothKernels(t, c, p.Run)
		for i := range total {
			o := batch.at(i, sizes{of[0].Size(), of[1].Size(), d.Size()}, &operands{a: mat(a, k), b: mat(b, n), c: mat(before, n)})
			Product{ISA: cputest.UnderTest, DType: d, Of: of, M: m, N: n, K: k, A: o.a, B: o.b, C: o.c, Threads: 1}.Run()
		}
		if epilogue != nil {
			cputest.Epilogue[E]{Data: before, Cols: n}.Run(0, total*m, 0, n)
		}
		for i := range c {
			if !cputest.SameBits(c[i], before[i]) {
				t.Fatalf("seed %d, %v of %dx%dx%d: element %d is %v, not %v", seed, count, m, k, n, i, c[i], before[i])
			}
		}
	}
}

// TestProductBatchSmallerThanThreads multiplies fewer small matrices than there are threads: each product
// is cut into several tasks, and the epilogue runs once on each element and nowhere else.
func TestProductBatchSmallerThanThreads(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		const count, n = 60, 26
		r := rand.New(rand.NewPCG(16, 17))
		a, b := cputest.Random[float32](r, count*n*n), cputest.Random[float32](r, count*n*n)
		got, want := make([]float32, 5*count*n*n), make([]float32, count*n*n)
		for i := range got {
			got[i] = 7 // behind the last product as well, where memory of others is
		}
		mat := func(x []float32, i int) tile.Mat { return tile.Mat{Ptr: unsafe.Pointer(&x[i*n*n]), Row: n, Col: 1} }
		step := []int{n * n}
		Product{ISA: isa, DType: array.Float32, M: n, N: n, K: n, A: mat(a, 0), B: mat(b, 0), C: mat(got, 0), Threads: 64, Epilogue: cputest.Epilogue[float32]{Data: got, Cols: n},
			Batch: Batch{Count: []int{count}, A: step, B: step, C: step}}.Run()
		for i := range count {
			Product{ISA: isa, DType: array.Float32, M: n, N: n, K: n, A: mat(a, i), B: mat(b, i), C: mat(want, i), Threads: 1}.Run()
		}
		cputest.Epilogue[float32]{Data: want, Cols: n}.Run(0, count*n, 0, n)
		want = append(want, 7)
		for i, x := range got {
			if y := want[min(i, count*n*n)]; !cputest.SameBits(x, y) {
				t.Fatalf("element %d is %v, not %v", i, x, y)
			}
		}
	})
}

// TestProductSpecialValues puts infinities, NaN, zeros of both signs and subnormals in, which must
// meet the same operations on every path.
func TestProductSpecialValues(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		testSpecial[float32](t)
		testSpecial[float64](t)
	})
}

func testSpecial[E tile.Element](t *testing.T) {
	fill := func(r *rand.Rand, n int) []E {
		s := make([]E, n)
		tiny := E(1e-30)
		if unsafe.Sizeof(tiny) == 8 {
			tiny = E(math.Ldexp(1, -600))
		}
		for i := range s {
			s[i] = [...]E{0, E(math.Copysign(0, -1)), 1, -1, tiny, -tiny, E(r.NormFloat64()), 3}[r.IntN(8)]
			if r.IntN(150) == 0 {
				s[i] = [...]E{E(math.Inf(1)), E(math.Inf(-1)), E(math.NaN())}[r.IntN(3)]
			}
		}
		return s
	}
	r := rand.New(rand.NewPCG(8, 8))
	for i := range 60 {
		m, n, k := 1+r.IntN(20), 1+r.IntN(50), r.IntN(20)
		if i%2 == 0 {
			m = 1
		}
		a := testMatOf(fill, r, k, 1, m, k)
		b := testMatOf(fill, r, []int{n, 1}[i%2], []int{1, k}[i%2], k, n)
		c := testMatOf(fill, r, n, 1, m, n)
		checkProduct(t, m, n, k, a, b, c, 1)
	}
}

// TestProductStaysInOperands puts every operand against an inaccessible page, at its end and at its
// beginning.
func TestProductStaysInOperands(t *testing.T) {
	cputest.EveryGuard(t, testGuard[float32], testGuard[float64])
}

func testGuard[E tile.Element](t *testing.T, place func(int) (*guard.Buffer, error)) {
	d := cputest.DtypeOf[E]()
	operand, halfOperand := cputest.GuardedMemory(t, d.Size(), place), cputest.GuardedMemory(t, 2, place)
	r := rand.New(rand.NewPCG(10, 11))
	try := func(m, n, k int) {
		t.Helper()
		defer func() {
			if e := recover(); e != nil {
				t.Fatalf("%s %dx%dx%d: %v", d, m, k, n, e)
			}
		}()
		of := [2]array.DType{d, d}
		if d == array.Float32 && r.IntN(2) == 0 {
			of = halfTypes[r.IntN(len(halfTypes))]
		}
		at := func(i, n int) unsafe.Pointer {
			if of[i].Half() {
				return halfOperand(i, n)
			}
			return operand(i, n)
		}
		a, b, c := tile.Mat{Ptr: at(0, m*k), Row: k, Col: 1}, tile.Mat{Ptr: at(1, k*n), Row: n, Col: 1}, tile.Mat{Ptr: operand(2, m*n), Row: n, Col: 1}
		if r.IntN(2) == 0 {
			a.Row, a.Col = 1, m
		}
		if r.IntN(2) == 0 {
			b.Row, b.Col = 1, k
		}
		if r.IntN(2) == 0 {
			c.Row, c.Col = 1, m
		}
		Product{ISA: cputest.UnderTest, DType: d, Of: of, M: m, N: n, K: k, A: a, B: b, C: c, Threads: 1 + r.IntN(2)}.Run()
	}
	for range 400 {
		try(1+r.IntN(70), 1+r.IntN(70), 1+r.IntN(40))
		try(1+r.IntN(9), 1+r.IntN(70), 1+r.IntN(70))
	}
	for range 2 * len(halfTypes) {
		try(3, 700, 377)
		try(7, 333, 511)
		try(1, 511, 533)
	}
	for range 20 {
		try(1, 1+r.IntN(60), 480+r.IntN(100))
		try(1, 1+r.IntN(60), 1024)
	}
	for range 20 {
		try(1+r.IntN(3), 1+r.IntN(3), 2048+r.IntN(4096))
	}
	try(130, 300, 300)
}

// TestProductWithoutTerms computes sums of no terms from operands that have no memory.
func TestProductWithoutTerms(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		const m, n = 33, 50
		c := make([]float32, m*n)
		for i := range c {
			c[i] = 7
		}
		p := unsafe.Pointer(&c[0])
		Product{ISA: cputest.UnderTest, DType: array.Float32, M: m, N: n, K: 0, A: tile.Mat{Ptr: nil, Row: 1, Col: m}, B: tile.Mat{Ptr: nil, Row: n, Col: 1}, C: tile.Mat{Ptr: p, Row: n, Col: 1}, Threads: 2}.Run()
		for i, v := range c {
			if v != 0 {
				t.Fatalf("element %d is %v, not 0", i, v)
			}
		}
	})
}

func TestProductMisusePanics(t *testing.T) {
	var x [4]float32
	m := tile.Mat{Ptr: unsafe.Pointer(&x), Row: 1, Col: 1}
	for name, f := range map[string]func(){
		"an integer type": func() {
			Product{ISA: cputest.UnderTest, DType: array.Int32, M: 1, N: 1, K: 1, A: m, B: m, C: m, Threads: 1}.Run()
		},
		"a negative size": func() {
			Product{ISA: cputest.UnderTest, DType: array.Float32, M: -1, N: 1, K: 1, A: m, B: m, C: m, Threads: 1}.Run()
		},
		"strides of a batch": func() {
			Product{ISA: cputest.UnderTest, DType: array.Float32, M: 1, N: 1, K: 1, A: m, B: m, C: m, Batch: Batch{Count: []int{2}, C: []int{1, 2}}, Threads: 1}.Run()
		},
		"a broadcast C": func() {
			Product{ISA: cputest.UnderTest, DType: array.Float32, M: 1, N: 1, K: 1, A: m, B: m, C: m, Batch: Batch{Count: []int{2}, C: []int{0}}, Threads: 1}.Run()
		},
		"a result with gaps to add to": func() {
			Product{ISA: cputest.UnderTest, DType: array.Float32, M: 2, N: 2, K: 1, A: m, B: m, C: tile.Mat{Ptr: m.Ptr, Row: 4, Col: 2}, Add: true, Threads: 1}.Run()
		},
		"a negative batch": func() {
			Product{ISA: cputest.UnderTest, DType: array.Float32, M: 1, N: 1, K: 1, A: m, B: m, C: m, Batch: Batch{Count: []int{-2}, C: []int{1}}, Threads: 1}.Run()
		},
	} {
		var e *array.Error
		if err := array.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v is not a *array.Error", name, err)
		}
	}
}

// TestProductsConcurrently runs products of several shapes on several goroutines at once, as
// the first to need their kernels or not.
func TestProductsConcurrently(t *testing.T) {
	const m, n, k = 37, 61, 300
	r := rand.New(rand.NewPCG(12, 12))
	a, b := cputest.Random[float32](r, m*k), cputest.Random[float32](r, k*n)
	mat := func(s []float32, cols int) tile.Mat { return tile.Mat{Ptr: unsafe.Pointer(&s[0]), Row: cols, Col: 1} }
	want := make([]float32, m*n)
	Product{ISA: cputest.UnderTest, DType: array.Float32, M: m, N: n, K: k, A: mat(a, k), B: mat(b, n), C: mat(want, n), Threads: 1}.Run()
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			c := make([]float32, m*n)
			for i := range 20 {
				clear(c)
				rows := 1 + (g*7+i)%m
				Product{ISA: cputest.UnderTest, DType: array.Float32, M: rows, N: n, K: k, A: mat(a, k), B: mat(b, n), C: mat(c, n), Threads: 3}.Run()
				for j, v := range c[:rows*n] {
					if v != want[j] {
						t.Errorf("%d rows: element %d is %v, not %v", rows, j, v, want[j])
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestSmallProductAllocatesNothing keeps a small product free of allocations.
func TestSmallProductAllocatesNothing(t *testing.T) {
	if cputest.UnderTest == jit.Portable {
		t.Skip("SKIPPED: the portable path allocates a closure")
	}
	var x [3][256]float32
	mat := func(i int) tile.Mat { return tile.Mat{Ptr: unsafe.Pointer(&x[i]), Row: 16, Col: 1} }
	f := func() {
		Product{ISA: cputest.UnderTest, DType: array.Float32, M: 16, N: 16, K: 16, A: mat(0), B: mat(1), C: mat(2), Threads: 1}.Run()
	}
	f()
	if n := testing.AllocsPerRun(100, f); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestProductTransposed tries rows that are few with columns that lie side by side in memory, which are
// computed as the transposed product: with rows that fill vectors and not, several pieces, tails
// and batches.
func TestProductTransposed(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		testTurned[float32](t, isa)
		testTurned[float64](t, isa)
	})
}

func testTurned[E tile.Element](t *testing.T, isa jit.ISA) {
	r := rand.New(rand.NewPCG(14, 15))
	d := cputest.DtypeOf[E]()
	at := 0
	for _, m := range []int{4, 9, 15, 16, 17, 24, 31, 32, 33, 64, 65} {
		for i, s := range [][2]int{{700, 90}, {270, 530}, {1100, 257}} {
			if at++; i != at%3 && isa == jit.Portable {
				continue
			}
			n, k := s[0], s[1]
			a, b, c := newTestMat[E](r, at%4, m, k), newTestMat[E](r, 1+at%2*2, k, n), newTestMat[E](r, 0, m, n)
			turned := Product{ISA: isa, DType: d, Of: [2]array.DType{d, d}, M: m, N: n, K: k, A: a.mat(), B: b.mat(), C: c.mat()}
			lanes := isa.VectorBytes() / d.Size()
			if want := isa != jit.Portable && m >= lanes && m <= directColumns*lanes && m > tile.MaxRowsAcross(isa); want && !turned.transposePays() {
				t.Errorf("%dx%dx%d of %s is not turned", m, k, n, d)
			}
			checkProduct(t, m, n, k, a, b, c, 1+at%3)
		}
	}
	if isa == jit.Portable {
		return
	}
	// A batch with an epilogue equals its products one by one.
	const count, m, n, k = 3, 32, 600, 300
	a, b, c := cputest.Random[E](r, count*m*k), cputest.Random[E](r, n*k), cputest.Random[E](r, count*m*n)
	want := append([]E(nil), c...)
	A, B := tile.Mat{Ptr: unsafe.Pointer(&a[0]), Row: 1, Col: m}, tile.Mat{Ptr: unsafe.Pointer(&b[0]), Row: 1, Col: k}
	rows := func(s []E) tile.Mat { return tile.Mat{Ptr: unsafe.Pointer(&s[0]), Row: n, Col: 1} }
	Product{ISA: isa, DType: d, M: m, N: n, K: k, A: A, B: B, C: rows(c), Epilogue: cputest.Epilogue[E]{Data: c, Cols: n}, Threads: 2,
		Batch: Batch{Count: []int{count}, A: []int{m * k}, B: []int{0}, C: []int{m * n}}}.Run()
	for i := range count {
		Product{ISA: isa, DType: d, M: m, N: n, K: k, A: A.Offset(i*m*k, d.Size()), B: B, C: rows(want).Offset(i*m*n, d.Size()), Threads: 1}.Run()
	}
	cputest.Epilogue[E]{Data: want, Cols: n}.Run(0, count*m, 0, n)
	for i, x := range want {
		if !cputest.SameBits(c[i], x) {
			t.Fatalf("batch: element %d is %v, not %v", i, c[i], x)
		}
	}
}
