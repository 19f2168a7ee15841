package convolution

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/product"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
)

// BenchmarkPortableLeNet runs the products of a training step of a LeNet for images of
// 28x28 without machine code. Of the gradients of the convolutions, three quarters
// are 0, as they are behind max pooling.
func BenchmarkPortableLeNet(b *testing.B) {
	const batch = 64
	r := rand.New(rand.NewPCG(1, 2))
	first := Geometry{N: batch, C: 1, H: 28, W: 28, O: 6, KH: 5, KW: 5}
	second := Geometry{N: batch, C: 6, H: 12, W: 12, O: 16, KH: 5, KW: 5}
	vector := func(n int) unsafe.Pointer { return unsafe.Pointer(&cputest.Random[float32](r, n)[0]) }
	pooled := func(n int) unsafe.Pointer {
		v := cputest.Random[float32](r, n)
		for i := range v {
			if i%4 != 0 {
				v[i] = 0
			}
		}
		return unsafe.Pointer(&v[0])
	}
	d := array.Float32
	for _, threads := range []int{1, 2} {
		step := map[string]func(){}
		for i, g := range []Geometry{first, second} {
			oh, ow := g.OutH(), g.OutW()
			in := ContiguousImage(vector(g.N*g.C*g.H*g.W), g.C, g.H, g.W)
			dx := ContiguousImage(vector(g.N*g.C*g.H*g.W), g.C, g.H, g.W)
			out := ContiguousImage(vector(g.N*g.O*oh*ow), g.O, oh, ow)
			grad := ContiguousImage(pooled(g.N*g.O*oh*ow), g.O, oh, ow)
			w, dw := vector(g.O*g.C*g.KH*g.KW), vector(g.O*g.C*g.KH*g.KW)
			step[fmt.Sprint("conv", i+1)] = func() { Convolution{ISA: jit.Portable, DType: d, Geometry: g, Threads: threads}.Forward(out, in, w) }
			step[fmt.Sprint("weight", i+1)] = func() {
				Convolution{ISA: jit.Portable, DType: d, Geometry: g, Threads: threads}.GradWeight(dw, in, grad)
			}
			if i > 0 {
				step["input2"] = func() { Convolution{ISA: jit.Portable, DType: d, Geometry: g, Threads: threads}.GradInput(dx, grad, w) }
			}
		}
		var linear []func()
		for _, s := range [][2]int{{256, 120}, {120, 84}, {84, 10}} {
			in, out := s[0], s[1]
			x, w, y := tile.Mat{Ptr: vector(batch * in), Row: in, Col: 1}, tile.Mat{Ptr: vector(out * in), Row: in, Col: 1}, tile.Mat{Ptr: vector(batch * out), Row: out, Col: 1}
			dx, dw := tile.Mat{Ptr: vector(batch * in), Row: in, Col: 1}, tile.Mat{Ptr: vector(out * in), Row: in, Col: 1}
			linear = append(linear, func() {
				product.Product{ISA: jit.Portable, DType: d, M: batch, N: out, K: in, A: x, B: w.T(), C: y, Threads: threads}.Run()
				product.Product{ISA: jit.Portable, DType: d, M: batch, N: in, K: out, A: y, B: w, C: dx, Threads: threads}.Run()
				product.Product{ISA: jit.Portable, DType: d, M: out, N: in, K: batch, A: y.T(), B: x, C: dw, Threads: threads}.Run()
			})
		}
		step["linear"] = func() {
			for _, f := range linear {
				f()
			}
		}
		parts := []string{"conv1", "conv2", "linear", "input2", "weight2", "weight1"}
		for _, part := range append(parts, "all") {
			b.Run(fmt.Sprintf("%s/T%d", part, threads), func(b *testing.B) {
				for b.Loop() {
					if part != "all" {
						step[part]()
						continue
					}
					for _, p := range parts {
						step[p]()
					}
				}
				b.ReportMetric(batch*float64(b.N)/b.Elapsed().Seconds(), "images/s")
			})
		}
	}
}
