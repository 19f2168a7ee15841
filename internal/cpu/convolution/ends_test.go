package convolution

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/launch"
)

// boundsOf is an epilogue that adds a bias to each channel and holds bounds, in Go or by kernels.
type boundsOf[E tile.Element] struct {
	data, bias []E
	cols       int
	low, high  E
	ends       bool // kernels may do it
	passes     *int // calls of Run
}

func (e boundsOf[E]) Work() int { return 1 }

func (e boundsOf[E]) Run(r0, r1, c0, c1 int) {
	*e.passes++
	for r := r0; r < r1; r++ {
		for c := c0; c < c1; c++ {
			x := e.data[r*e.cols+c] + e.bias[r%len(e.bias)]
			e.data[r*e.cols+c] = min(max(x, e.low), e.high)
		}
	}
}

func (e boundsOf[E]) Ends(at unsafe.Pointer, channels int, d array.DType) (launch.Ends, bool) {
	bits := func(x E) uint64 {
		if d == array.Float32 {
			return uint64(math.Float32bits(float32(x)))
		}
		return math.Float64bits(float64(x))
	}
	return launch.Ends{Bias: unsafe.Pointer(&e.bias[0]), Bounded: true, Low: bits(e.low), High: bits(e.high)}, e.ends && at == unsafe.Pointer(&e.data[0])
}

// Bias and bounds in the registers of kernels have the bits of a pass over the results, also of NaN and for blocks of
// terms. Named geometries leave nothing to a pass.
func TestEnds(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := rand.New(rand.NewPCG(8, 31))
		for _, c := range []struct {
			name string
			Geometry
		}{
			{"pixels", Geometry{N: 1, C: 6, H: 37, W: 30, O: 50, KH: 1, KW: 1}},
			{"short rows", Geometry{N: 2, C: 5, H: 11, W: 9, O: 30, KH: 3, KW: 3, PadH: 1, PadW: 1}},
			{"strides", Geometry{N: 1, C: 3, H: 40, W: 40, O: 32, KH: 3, KW: 3, PadH: 1, PadW: 1, StrideH: 2, StrideW: 2}},
			{"blocks", Geometry{N: 2, C: 300, H: 6, W: 17, O: 7, KH: 1, KW: 2}},
			{"channels", Geometry{N: 1, C: 100, H: 13, W: 14, O: 96, KH: 1, KW: 1}},
			{"channels, block", Geometry{N: 2, C: 600, H: 6, W: 7, O: 32, KH: 1, KW: 1}},
			{"groups", Geometry{N: 2, C: 30, H: 9, W: 14, O: 33, KH: 3, KW: 1, Groups: 3}},
		} {
			testEnds[float32](t, isa, r, c.name, c.Geometry, true)
			testEnds[float64](t, isa, r, c.name, c.Geometry, true)
		}
		planes := isa == jit.AVX512
		testEnds[float32](t, isa, r, "planes", Geometry{N: 2, C: 13, H: 14, W: 20, O: 13, Groups: 13, KH: 3, KW: 3, PadH: 1, PadW: 1}, planes)
		testEnds[float64](t, isa, r, "planes, strides", Geometry{N: 1, C: 9, H: 33, W: 44, O: 9, Groups: 9, KH: 5, KW: 5, PadH: 2, PadW: 2, StrideH: 2, StrideW: 2}, planes)
		testEnds[float32](t, isa, r, "images", Geometry{N: 40, C: 16, H: 4, W: 4, O: 24, KH: 3, KW: 3, PadH: 1, PadW: 1}, false)
		testEnds[float32](t, isa, r, "Winograd", Geometry{N: 1, C: 32, H: 9, W: 8, O: 32, KH: 3, KW: 3, PadH: 1, PadW: 1}, false)
		for range 6 {
			testEnds[float32](t, isa, r, "any", randomGeometry(r), false)
		}
	})
}

// testEnds compares; kernelsAlone says that no pass runs if machine code does.
func testEnds[E tile.Element](t *testing.T, isa jit.ISA, r *rand.Rand, name string, g Geometry, kernelsAlone bool) {
	d := array.Float32
	if unsafe.Sizeof(E(0)) == 8 {
		d = array.Float64
	}
	defaults := Convolution{DType: d, Geometry: g}
	defaults.check("test")
	g = defaults.Geometry
	x := cputest.Random[E](r, g.N*g.C*g.H*g.W)
	x[len(x)/2] = E(math.NaN())
	w := cputest.Random[E](r, g.O*g.C/g.Groups*g.KH*g.KW)
	e := boundsOf[E]{bias: cputest.Random[E](r, g.O), cols: g.OutH() * g.OutW(), low: 0, high: E(len(w)/g.O) / 8}
	var results [2][]E
	passes := 0
	for i := range results {
		e.data, e.ends, e.passes = make([]E, g.N*g.O*e.cols), i == 1, &passes
		results[i] = e.data
		passes = 0
		Convolution{ISA: isa, DType: d, Of: [2]array.DType{d, d}, Threads: 1 + i*2, Geometry: g, Epilogue: e}.Forward(
			ContiguousImage(unsafe.Pointer(&e.data[0]), g.O, g.OutH(), g.OutW()), ContiguousImage(unsafe.Pointer(&x[0]), g.C, g.H, g.W), unsafe.Pointer(&w[0]))
	}
	if kernelsAlone && isa != jit.Portable && passes > 0 {
		t.Errorf("%s of %s, %v: %d passes", name, d, isa, passes)
	}
	for i, want := range results[0] {
		if got := results[1][i]; math.Float64bits(float64(got)) != math.Float64bits(float64(want)) && (got == got || want == want) {
			t.Fatalf("%s of %s, %v, %+v: result %d is %v, by a pass %v", name, d, isa, g, i, got, want)
		}
	}
}
