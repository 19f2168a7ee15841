package weft

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// fastest runs f b.N times and reports the shortest, as a rate if flops is not 0.
func fastest(b *testing.B, flops float64, f func()) {
	f()
	best := math.Inf(1)
	for b.Loop() {
		t := time.Now()
		f()
		best = min(best, float64(time.Since(t)))
	}
	b.ReportMetric(best/1e3, "best-us")
	if flops > 0 {
		b.ReportMetric(flops/best, "GFLOP/s")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkConv measures a convolution and with both gradients, whose seed is given
// or, as a training step would have it, comes from operations behind.
func BenchmarkConv(b *testing.B) {
	for _, c := range []struct{ n, c, size, o, k, stride, pad int }{
		{60, 1, 32, 6, 5, 1, 0}, {60, 6, 14, 16, 5, 1, 0}, {60, 1, 256, 6, 7, 1, 0},
		{16, 64, 56, 64, 3, 1, 1}, {16, 256, 14, 256, 3, 1, 1}, {16, 3, 224, 64, 7, 2, 3}, {16, 64, 56, 256, 1, 1, 0},
	} {
		x, w := noise(1, .1, c.n, c.c, c.size, c.size).RequireGrad(), noise(1, .1, c.o, c.c, c.k, c.k).RequireGrad()
		o := ConvOpts{Stride: [2]int{c.stride, c.stride}, Padding: [2]int{c.pad, c.pad}}
		y := x.NoGrad().Conv2d(w.NoGrad(), nil, o)
		seed := noise(1, .1, y.Shape()...)
		flops := 2 * float64(y.Size()*c.c*c.k*c.k)
		name := fmt.Sprintf("%dx%dx%d-%d-%d", c.n, c.c, c.size, c.o, c.k)
		b.Run(name+"/forward", func(b *testing.B) {
			fastest(b, flops, func() { x.NoGrad().Conv2d(w.NoGrad(), nil, o).Release() })
		})
		backward := func(name string, f func(y *Tensor)) {
			b.Run(name, func(b *testing.B) {
				fastest(b, 3*flops, func() {
					s := NewScope()
					f(s.Track(x).Conv2d(w, nil, o))
					x.SetGrad(nil)
					w.SetGrad(nil)
					s.Close()
				})
			})
		}
		backward(name+"/seeded", func(y *Tensor) { BackwardWith([]*Tensor{y}, GradOpts{Seeds: []*Tensor{seed}}) })
		backward(name+"/summed", func(y *Tensor) { y.Mul(seed).Sum().Backward() })
	}
}

func BenchmarkMaxPool(b *testing.B) {
	x := noise(1, .1, 16, 64, 112, 112)
	o := PoolOpts{Window: [2]int{3, 3}, Stride: [2]int{2, 2}, Padding: [2]int{1, 1}}
	b.Run("forward", func(b *testing.B) { fastest(b, 0, func() { x.MaxPool2d(o).Release() }) })
}
