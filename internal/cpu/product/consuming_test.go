package product

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
)

// A consumer is an epilogue that is the only reader of the result. Pieces lie where RunAt says.
// It adds twice what it reads to got, so an element that is read twice shows there. aside
// counts the pieces that do not lie in the result.
type consumer struct {
	c, got []float32 // the result in its place, what was read
	cols   int
	aside  atomic.Int64
}

func (p *consumer) Run(r0, r1, c0, c1 int) {
	p.RunAt(unsafe.Pointer(&p.c[r0*p.cols+c0]), p.cols*4, r0, r1, c0, c1)
	p.aside.Add(-1)
}

func (p *consumer) RunAt(at unsafe.Pointer, bytes, r0, r1, c0, c1 int) {
	p.aside.Add(1)
	for r := r0; r < r1; r++ {
		row := unsafe.Slice((*float32)(unsafe.Add(at, (r-r0)*bytes)), c1-c0)
		for i, x := range row {
			p.got[r*p.cols+c0+i] += 2 * x
		}
	}
}

func (p *consumer) Consumes() bool         { return true }
func (p *consumer) Beside() unsafe.Pointer { return unsafe.Pointer(&p.got[0]) }
func (p *consumer) Work() int              { return 1 }

// A consuming epilogue gets each piece of the result once, with the bits that the
// result has without it, wherever they are.
func TestConsumingEpilogue(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		aside := 0
		for seed, s := range [][4]int{{300, 200, 60, 1}, {500, 784, 60, 1}, {130, 1100, 3, 2}, {300, 200, 256, 1}, {300, 200, 300, 1}, {7, 5000, 40, 3}, {1, 40000, 9, 1}, {40000, 1, 9, 1}} {
			m, n, k, batch := s[0], s[1], s[2], s[3]
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			a, b := cputest.Random[float32](r, batch*m*k), cputest.Random[float32](r, batch*k*n)
			want, c := make([]float32, batch*m*n), make([]float32, batch*m*n)
			mat := func(s []float32, cols int) tile.Mat { return tile.Mat{Ptr: unsafe.Pointer(&s[0]), Row: cols, Col: 1} }
			p := Product{ISA: isa, DType: array.Float32, M: m, N: n, K: k, A: mat(a, k), B: mat(b, n), C: mat(want, n),
				Batch: Batch{Count: []int{batch}, A: []int{m * k}, B: []int{k * n}, C: []int{m * n}}, Threads: 3}
			p.Run()
			epilogue := &consumer{c: c, got: make([]float32, len(c)), cols: n}
			p.C, p.Epilogue = mat(c, n), epilogue
			p.Run()
			aside += int(epilogue.aside.Load())
			for i := range want {
				if !cputest.SameBits(epilogue.got[i], 2*want[i]) {
					t.Fatalf("%d of %dx%dx%d: element %d is %v, not %v", batch, m, k, n, i, epilogue.got[i], 2*want[i])
				}
			}
		}
		if isa != jit.Portable && aside == 0 {
			t.Error("no piece was anywhere else than in the result")
		}
	})
}
