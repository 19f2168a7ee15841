package conv_test

import (
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	cpu "weft/internal/cpu/convolution"
	"weft/internal/grid/conv"
)

// The shapes of Winograd's algorithm, one picture of two with results that are not finite, and shapes
// beside them.
func TestWinogradConvolutions(t *testing.T) {
	g := newGPU(t, 9)
	r := rand.New(rand.NewPCG(10, 10))
	for i, c := range []cpu.Geometry{
		{N: 2, C: 32, O: 32, H: 7, W: 6, PadH: 1, PadW: 1},
		{N: 1, C: 32, O: 32, H: 6, W: 5, PadH: 1, PadW: 2},
		{N: 1, C: 64, O: 64, H: 6, W: 6, PadH: 1, PadW: 1, Groups: 2},
		{N: 1, C: 31, O: 32, H: 6, W: 6, PadH: 1, PadW: 1},
	} {
		c.KH, c.KW = 3, 3
		back, values := conv.SetLimits(16*4*64*(1+7*i), 64<<20, 1<<24), usual
		if i == 0 {
			back()
			back, values = conv.SetLimits(64<<20, 64<<20, 1), wild
		}
		of := [3]array.DType{array.Float32, pick(r, array.Float32, array.Float16), array.Float32}
		g.check(r, testCase{Geometry: c, d: array.Float32, of: of, layouts: [4]int{i, i, i, i}, values: values})
		back()
	}
}

// Strides and dilations with and without a common divisor: phases of several taps, of one and of none,
// as products and, where there are many phases, without.
func TestPhases(t *testing.T) {
	g := newGPU(t, 9)
	r := rand.New(rand.NewPCG(4, 4))
	for _, c := range []cpu.Geometry{
		{N: 2, C: 3, O: 5, H: 9, W: 11, KH: 4, KW: 5, StrideH: 2, StrideW: 3, PadH: 1, PadW: 2},
		{N: 1, C: 2, O: 17, H: 14, W: 13, KH: 3, KW: 3, StrideH: 4, StrideW: 3, DilationH: 2, DilationW: 3, PadH: 2, PadW: 1},
		{N: 2, C: 4, O: 6, H: 7, W: 7, KH: 1, KW: 1, StrideH: 2, StrideW: 2, Groups: 2},
		{N: 1, C: 2, O: 3, H: 12, W: 11, KH: 3, KW: 2, StrideH: 5, StrideW: 6, DilationH: 3, DilationW: 4},
		{N: 1, C: 2, O: 3, H: 3, W: 4, KH: 2, KW: 2, StrideH: 7, StrideW: 7, PadH: 5, PadW: 6, DilationH: 6, DilationW: 4},
		{N: 1, C: 2, O: 3, H: 4, W: 5, KH: 3, KW: 2, StrideH: 1 << 29, StrideW: 1 << 28, PadH: 1 << 29, PadW: 1 << 28},
		{N: 1, C: 2, O: 2, H: 4, W: 5, KH: 3, KW: 2, StrideH: 1 << 29, StrideW: 1 << 28, PadH: 1 << 29, PadW: 1 << 28, Groups: 2},
		{N: 1, C: 1, O: 3, H: 4, W: 4, KH: 2, KW: 2, StrideH: 60, StrideW: 60, PadH: 60, PadW: 60},
		{N: 1, C: 4, O: 2, H: 4, W: 5, KH: 3, KW: 3, PadH: 1 << 29, PadW: 1 << 29, DilationH: 1 << 29, DilationW: 1 << 29, Groups: 2},
	} {
		for _, d := range []array.DType{array.Float32, array.Float64} {
			g.check(r, testCase{Geometry: c, d: d, of: of(d), layouts: [4]int{plain, gaps, plain, gaps}, values: usual})
			g.check(r, testCase{Geometry: c, d: d, of: of(d), values: tiny})
		}
	}
}

// Groups of one channel and of several, without tiles, with several blocks of terms and parts of the
// sums of blocks.
func TestNarrowGroups(t *testing.T) {
	g := newGPU(t, 9)
	r := rand.New(rand.NewPCG(5, 4))
	for i, c := range []cpu.Geometry{
		{N: 3, C: 5, O: 5, H: 11, W: 12, KH: 3, KW: 3, PadH: 1, PadW: 1, Groups: 5},
		{N: 2, C: 3, O: 6, H: 17, W: 16, KH: 5, KW: 2, PadH: 2, StrideH: 2, Groups: 3},
		{N: 1, C: 60, O: 2, H: 4, W: 4, KH: 3, KW: 3, PadH: 1, PadW: 1, Groups: 2},
		{N: 1, C: 2, O: 60, H: 4, W: 4, KH: 3, KW: 3, PadH: 1, PadW: 1, DilationW: 2, Groups: 2},
	} {
		back := conv.SetLimits(1<<20, 400, 1+3*i)
		for _, d := range types {
			g.check(r, testCase{Geometry: c, d: d[0], of: [3]array.DType(d[1:]), layouts: [4]int{r.IntN(numLayouts), plain, plain, plain}, values: pick(r, usual, special, tiny)})
		}
		g.check(r, testCase{Geometry: c, d: array.Float32, of: of(array.Float32), values: tiny})
		back()
	}
}

// The gradient of the weights with many terms: blocks side by side in one part and in several, and
// all in one product where there is no memory for two. Blocks that are -0 have a sum of -0.
func TestWeightsOfManyTerms(t *testing.T) {
	g := newGPU(t, 9)
	r := rand.New(rand.NewPCG(6, 4))
	c := cpu.Geometry{N: 5, C: 3, O: 4, H: 12, W: 13, KH: 2, KW: 3, PadH: 1, PadW: 1}
	for _, parts := range []int{1, 600, 1 << 20} {
		for _, d := range []array.DType{array.Float32, array.Float64} {
			back := conv.SetLimits(1<<20, parts, 1<<24)
			g.check(r, testCase{Geometry: c, d: d, of: of(d), layouts: [4]int{pick(r, plain, channelsLast)}, values: pick(r, usual, special)})
			g.check(r, testCase{Geometry: c, d: d, of: of(d), values: tiny})
			back()
		}
	}
}

// Filters of one tap: products of matrices where the pixels of pictures form a row, and else of windows.
func TestPoints(t *testing.T) {
	g := newGPU(t, 9)
	r := rand.New(rand.NewPCG(8, 4))
	for i, c := range []cpu.Geometry{
		{N: 2, C: 5, O: 7, H: 8, W: 16, KH: 1, KW: 1},
		{N: 3, C: 10, O: 12, H: 132, W: 1, KH: 1, KW: 1, Groups: 2},
		{N: 1, C: 280, O: 3, H: 1, W: 130, KH: 1, KW: 1, DilationH: 2},
	} {
		for _, layout := range []int{plain, channelsLast, gaps} {
			d := types[(i+layout)%len(types)]
			g.check(r, testCase{Geometry: c, d: d[0], of: [3]array.DType(d[1:]), layouts: [4]int{layout, plain, plain, layout}, values: pick(r, usual, special)})
		}
		g.check(r, testCase{Geometry: c, d: array.Float32, of: of(array.Float32), values: tiny})
	}
}

// Few results of many terms: blocks of terms side by side where the result is dense, in order where it
// is not.
func TestManyTerms(t *testing.T) {
	g := newGPU(t, 9)
	r := rand.New(rand.NewPCG(9, 4))
	for _, c := range []cpu.Geometry{
		{N: 2, C: 30, O: 31, H: 5, W: 4, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 1, C: 60, O: 62, H: 4, W: 5, KH: 3, KW: 3, StrideH: 2, Groups: 2},
	} {
		for _, layout := range []int{plain, gaps} {
			d := pick(r, array.Float32, array.Float64)
			g.check(r, testCase{Geometry: c, d: d, of: of(d), layouts: [4]int{plain, layout, plain, layout}, values: pick(r, usual, special)})
		}
		g.check(r, testCase{Geometry: c, d: array.Float32, of: of(array.Float32), values: tiny})
	}
}
