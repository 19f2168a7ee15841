package convolution

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/packed"
)

// Convolutions whose weights are kept have the bits of those that pack, in every way that packs: pixels, channels
// and images in the vectors, Winograd's, groups; also for weights that are not finite.
func TestKeptWeights(t *testing.T) {
	defer func(n int) { aheadFrom = n }(aheadFrom)
	aheadFrom = 0
	geometries := []Geometry{
		{N: 2, C: 3, H: 30, W: 31, O: 24, KH: 5, KW: 3, PadH: 2, PadW: 1},
		{N: 1, C: 96, H: 14, W: 14, O: 64, KH: 1, KW: 1},
		{N: 2, C: 300, H: 7, W: 7, O: 64, KH: 3, KW: 3, PadH: 1, PadW: 1, StrideH: 2, StrideW: 2},
		{N: 2, C: 64, H: 9, W: 8, O: 96, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 1, C: 64, H: 9, W: 8, O: 192, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 1, C: 300, H: 7, W: 7, O: 128, KH: 3, KW: 3, PadH: 1, PadW: 1, StrideH: 2, StrideW: 2},
		{N: 1, C: 300, H: 7, W: 7, O: 128, KH: 1, KW: 1},
		{N: 40, C: 16, H: 5, W: 5, O: 16, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 1, C: 192, H: 9, W: 9, O: 128, KH: 2, KW: 2, Groups: 2},
		{N: 1, C: 64, H: 1, W: 4, O: 129, KH: 1, KW: 3, PadW: 1},
	}
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		before := packed.Made()
		for seed, g := range geometries {
			for _, wild := range []bool{false, true} {
				testKept(t, isa, uint64(seed), g, wild)
			}
		}
		if n := packed.Made() - before; isa != jit.Portable && n < 10 {
			t.Errorf("%d copies were made", n)
		}
	})
}

func testKept(t *testing.T, isa jit.ISA, seed uint64, g Geometry, wild bool) {
	r := rand.New(rand.NewPCG(seed, 2))
	count := g.O * (g.C / max(g.Groups, 1)) * g.KH * g.KW
	x, values := cputest.Random[float32](r, g.N*g.C*g.H*g.W), cputest.Random[float32](r, count)
	if wild {
		values[count/2] = float32(math.Inf(1))
	}
	lease, err := mem.Lend(4 * count)
	if err != nil {
		t.Fatal(err)
	}
	copy(unsafe.Slice((*float32)(lease.Ptr()), count), values)
	view := array.View{Store: array.NewStorage(lease.Ptr(), 4*count, lease), DType: array.Float32, Shape: []int{count}, Strides: []int{1}}
	packed.Keep(view.Store)
	packed.Of(&view) // the first use
	results := g.N * g.O * g.OutH() * g.OutW()
	want, y := make([]float32, results), make([]float32, results)
	image := func(s []float32, c, h, w int) Image { return ContiguousImage(unsafe.Pointer(&s[0]), c, h, w) }
	c := Convolution{ISA: isa, DType: array.Float32, Geometry: g, Threads: 1}
	c.Forward(image(want, g.O, g.OutH(), g.OutW()), image(x, g.C, g.H, g.W), unsafe.Pointer(&values[0]))
	for _, threads := range []int{1, 3, 1} {
		clear(y)
		if c.Kept = packed.Of(&view); !c.Kept.Kept() {
			t.Fatal("nothing is kept from the second use on")
		}
		c.Threads = threads
		c.Forward(image(y, g.O, g.OutH(), g.OutW()), image(x, g.C, g.H, g.W), lease.Ptr())
		for i := range want {
			if !cputest.SameBits(y[i], want[i]) {
				t.Fatalf("%+v, %d threads, wild %v: element %d is %v, not %v", g, threads, wild, i, y[i], want[i])
			}
		}
	}
}
