package convolution

import (
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/jit"
)

// planned has geometries whose plans have pixels, exchanged axes and channels in the vectors, long rows and large planes.
var planned = []Geometry{
	{N: 1, C: 1, H: 1, W: 640, O: 258, KH: 1, KW: 256, StrideW: 128},
	{N: 1, C: 129, H: 1, W: 4, O: 128, KH: 1, KW: 3, PadW: 1},
	{N: 2, C: 3, H: 100, W: 5, O: 7, KH: 3, KW: 2, PadH: 1, PadW: 1},
	{N: 1, C: 64, H: 9, W: 9, O: 96, KH: 1, KW: 1},
	{N: 1, C: 8, H: 9, W: 9, O: 12, KH: 3, KW: 3, Groups: 2, StrideH: 2, StrideW: 2},
	{N: 1, C: 1, H: 1, W: 40_001, O: 1, KH: 1, KW: 11},
	{N: 1, C: 1, H: 2, W: 90_001, O: 3, KH: 2, KW: 5, PadW: 2, StrideW: 2},
	{N: 1, C: 1, H: 210, W: 200, O: 2, KH: 2, KW: 2},
}

// Goroutines that share plans, and images with other strides of a geometry, get the bits of the first call.
func TestPlansAreShared(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		for seed, g := range planned {
			r := rand.New(rand.NewPCG(uint64(seed), 3))
			x := cputest.Random[float32](r, g.N*g.C*g.H*g.W)
			w := cputest.Random[float32](r, g.O*(g.C/max(g.Groups, 1))*g.KH*g.KW)
			const gap = 3 // columns between the rows of the other image
			wide := make([]float32, g.N*g.C*g.H*(g.W+gap))
			for i, v := range x {
				wide[i/g.W*(g.W+gap)+i%g.W] = v
			}
			run := func(x []float32, pitch, threads int) []float32 {
				y := make([]float32, g.N*g.O*g.OutH()*g.OutW())
				Convolution{ISA: isa, DType: array.Float32, Geometry: g, Threads: threads}.Forward(
					ContiguousImage(unsafe.Pointer(&y[0]), g.O, g.OutH(), g.OutW()), ContiguousImage(unsafe.Pointer(&x[0]), g.C, g.H, pitch),
					unsafe.Pointer(&w[0]))
				return y
			}
			want := run(x, g.W, 1)
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					from, pitch := x, g.W
					if i%2 > 0 {
						from, pitch = wide, g.W+gap
					}
					for at, v := range run(from, pitch, 1+i/4) {
						if !cputest.SameBits(v, want[at]) {
							t.Errorf("%+v, row pitch %d: element %d is %v, not %v", g, pitch, at, v, want[at])
							return
						}
					}
				})
			}
			all.Wait()
			made := plans.Stats().Made
			if run(x, g.W, 1); plans.Stats().Made != made {
				t.Errorf("%+v: the plan was not kept", g)
			}
		}
	})
}

// A plan that is larger than planBytes is made at each call, and its convolution is the same.
func TestLargePlansAreNotKept(t *testing.T) {
	isa := jit.Chosen().ISA
	if isa == jit.Portable {
		t.Skip("SKIPPED: no machine code, so no plans")
	}
	g := Geometry{N: 1, C: 1024, H: 4, W: 4, O: 16, KH: 3, KW: 3, StrideH: 2, StrideW: 2}
	x, w := make([]float32, g.C*g.H*g.W), make([]float32, g.O*g.C*g.KH*g.KW)
	for i := range x {
		x[i] = 1
	}
	for i := range w {
		w[i] = 1
	}
	for range 2 {
		y := make([]float32, g.O*g.OutH()*g.OutW())
		Convolution{ISA: isa, DType: array.Float32, Geometry: g, Threads: 1}.Forward(
			ContiguousImage(unsafe.Pointer(&y[0]), g.O, g.OutH(), g.OutW()), ContiguousImage(unsafe.Pointer(&x[0]), g.C, g.H, g.W), unsafe.Pointer(&w[0]))
		for i, v := range y {
			if v != float32(g.C*g.KH*g.KW) {
				t.Fatalf("element %d is %v, not %d", i, v, g.C*g.KH*g.KW)
			}
		}
	}
	c := &correlation{}
	c.ready(&Convolution{ISA: isa, DType: array.Float32, Geometry: g})
	c.n, c.outC, c.outH, c.outW, c.stepY, c.stepX = 1, g.O, 1, 1, 1, 1
	if keep(c, 1, func(to []term) []term { return make([]term, planBytes) }) != nil {
		t.Error("a plan beyond planBytes is kept")
	}
}
