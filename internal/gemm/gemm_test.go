package gemm

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestSizes(t *testing.T) {
	everyISA(t, func(t *testing.T, isa ISA) {
		testSizes[float32](t, isa)
		testSizes[float64](t, isa)
	})
}

// testSizes goes through all m and n up to 70 with some k, and all k with some m
// and n, the layouts changing with the size.
func testSizes[E element](t *testing.T, isa ISA) {
	r := rand.New(rand.NewPCG(1, 2))
	at := 0
	try := func(m, n, k int) {
		at++
		la, lb, lc := at%len(layouts), at/3%len(layouts), at/7%len(layouts)
		a, b, c := newTestMat[E](r, la, m, k), newTestMat[E](r, lb, k, n), newTestMat[E](r, lc, m, n)
		ep, bias := testEpilogue[E](r, at, m, n)
		checkProduct(t, m, n, k, a, b, c, ep, bias, [...]int{1, 2, 5}[at%3])
	}
	step := 1
	if isa == Portable || testing.Short() {
		step = 7
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

// testEpilogue returns one of the epilogues and the bias of an element.
func testEpilogue[E element](r *rand.Rand, which, m, n int) (*Epilogue, func(i, j int) *E) {
	ep := &Epilogue{Accumulate: which&4 != 0}
	if which&8 != 0 {
		ep.Act = Relu
	}
	stride := 1 + which/16%2
	switch which % 4 {
	case 0:
		return nil, nil
	case 1:
		v := random[E](r, m*stride+1)
		ep.Bias, ep.BiasStride, ep.BiasPerRow = unsafe.Pointer(&v[0]), stride, true
		return ep, func(i, j int) *E { return &v[i*stride] }
	case 2:
		v := random[E](r, n*stride+1)
		ep.Bias, ep.BiasStride = unsafe.Pointer(&v[0]), stride
		return ep, func(i, j int) *E { return &v[j*stride] }
	}
	return ep, nil
}

func TestLarge(t *testing.T) {
	everyISA(t, func(t *testing.T, isa ISA) {
		testLarge[float32](t, isa)
		testLarge[float64](t, isa)
	})
}

// testLarge tries sizes with several blocks of k, of rows and of columns.
func testLarge[E element](t *testing.T, isa ISA) {
	r := rand.New(rand.NewPCG(3, 4))
	sizes := [][3]int{{3, 5, 1300}, {40, 50, 1025}, {129, 67, 513}, {1, 300, 1111}, {300, 1, 700}, {5, 200, 600}, {200, 5, 600}}
	if isa != Portable {
		sizes = append(sizes, [3]int{260, 200, 600}, [3]int{1100, 40, 30}, [3]int{30, 2100, 30}, [3]int{97, 130, 256})
	}
	at := 0
	for _, s := range sizes {
		m, n, k := s[0], s[1], s[2]
		for _, l := range [][3]int{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 1}, {4, 4, 4}, {2, 3, 2}} {
			at++
			a, b, c := newTestMat[E](r, l[0], m, k), newTestMat[E](r, l[1], k, n), newTestMat[E](r, l[2], m, n)
			ep, bias := testEpilogue[E](r, at, m, n)
			checkProduct(t, m, n, k, a, b, c, ep, bias, [...]int{1, 2, 5}[at%3])
		}
	}
}
