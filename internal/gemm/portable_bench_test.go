package gemm

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
)

// BenchmarkPortableLeNet runs the products of a training step of a LeNet for images of
// 28x28 without machine code. Of the gradients of the convolutions, three quarters
// are 0, as they are behind max pooling.
func BenchmarkPortableLeNet(b *testing.B) {
	defer SetISA(CurrentISA())
	SetISA(Portable)
	const batch = 64
	r := rand.New(rand.NewPCG(1, 2))
	first := Geometry{N: batch, C: 1, H: 28, W: 28, O: 6, KH: 5, KW: 5}
	second := Geometry{N: batch, C: 6, H: 12, W: 12, O: 16, KH: 5, KW: 5}
	vector := func(n int) unsafe.Pointer { return unsafe.Pointer(&random[float32](r, n)[0]) }
	pooled := func(n int) unsafe.Pointer {
		v := random[float32](r, n)
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
			step[fmt.Sprint("conv", i+1)] = func() { Conv2d(d, out, in, w, g, nil, threads) }
			step[fmt.Sprint("weight", i+1)] = func() { Conv2dGradWeight(d, dw, in, grad, g, false, threads) }
			if i > 0 {
				step["input2"] = func() { Conv2dGradInput(d, dx, grad, w, g, nil, threads) }
			}
		}
		var linear []func()
		for _, s := range [][2]int{{256, 120}, {120, 84}, {84, 10}} {
			in, out := s[0], s[1]
			x, w, y := Mat{vector(batch * in), in, 1}, Mat{vector(out * in), in, 1}, Mat{vector(batch * out), out, 1}
			dx, dw := Mat{vector(batch * in), in, 1}, Mat{vector(out * in), in, 1}
			linear = append(linear, func() {
				Gemm(d, batch, out, in, x, w.T(), y, nil, threads)
				Gemm(d, batch, in, out, y, w, dx, nil, threads)
				Gemm(d, out, in, batch, y.T(), x, dw, nil, threads)
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
