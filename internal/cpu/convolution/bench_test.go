package convolution

import (
	"fmt"
	"testing"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/jit"
)

// BenchmarkConv reports the rates of the three products of a convolution.
func BenchmarkConv(b *testing.B) {
	for _, g := range []Geometry{
		{N: 60, C: 1, H: 32, W: 32, O: 6, KH: 5, KW: 5},
		{N: 60, C: 6, H: 14, W: 14, O: 16, KH: 5, KW: 5},
		{N: 64, C: 1, H: 28, W: 28, O: 6, KH: 5, KW: 5},
		{N: 64, C: 6, H: 12, W: 12, O: 16, KH: 5, KW: 5},
		{N: 60, C: 1, H: 256, W: 256, O: 6, KH: 7, KW: 7},
		{N: 16, C: 3, H: 224, W: 224, O: 64, KH: 7, KW: 7, StrideH: 2, StrideW: 2, PadH: 3, PadW: 3},
		{N: 16, C: 64, H: 56, W: 56, O: 64, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 2, C: 128, H: 28, W: 28, O: 128, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 16, C: 256, H: 14, W: 14, O: 256, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 4, C: 512, H: 7, W: 7, O: 512, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 16, C: 64, H: 56, W: 56, O: 256, KH: 1, KW: 1},
		{N: 4, C: 128, H: 28, W: 28, O: 128, KH: 3, KW: 3, PadH: 1, PadW: 1, StrideH: 2, StrideW: 2},
	} {
		oh, ow := g.OutH(), g.OutW()
		d := array.Float32
		macs := g.N * g.O * oh * ow * g.C * g.KH * g.KW
		for _, threads := range []int{1, 2} {
			x := ContiguousImage(cputest.Buffer(b, d, g.N*g.C*g.H*g.W), g.C, g.H, g.W)
			y := ContiguousImage(cputest.Buffer(b, d, g.N*g.O*oh*ow), g.O, oh, ow)
			w := cputest.Buffer(b, d, g.O*g.C*g.KH*g.KW)
			name := fmt.Sprintf("%dx%dx%dx%d-%d-%dx%d/s%d", g.N, g.C, g.H, g.W, g.O, g.KH, g.KW, max(g.StrideH, 1))
			b.Run(fmt.Sprintf("%s/forward/T%d", name, threads), func(b *testing.B) {
				cputest.Bench(b, d, threads, macs, func() {
					Convolution{ISA: jit.Chosen().ISA, DType: d, Geometry: g, Threads: threads}.Forward(y, x, w)
				})
			})
			b.Run(fmt.Sprintf("%s/input/T%d", name, threads), func(b *testing.B) {
				cputest.Bench(b, d, threads, macs, func() {
					Convolution{ISA: jit.Chosen().ISA, DType: d, Geometry: g, Threads: threads}.GradInput(x, y, w)
				})
			})
			b.Run(fmt.Sprintf("%s/weight/T%d", name, threads), func(b *testing.B) {
				cputest.Bench(b, d, threads, macs, func() {
					Convolution{ISA: jit.Chosen().ISA, DType: d, Geometry: g, Threads: threads}.GradWeight(w, x, y)
				})
			})
		}
	}
}
