package fft_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/fft"
)

// BenchmarkFFT times transforms as users call them. The rows of bench/ are these, beside other libraries.
func BenchmarkFFT(b *testing.B) {
	g := weft.NewGenerator(1)
	for _, d := range []weft.DType{weft.Float32, weft.Float64} {
		row := func(name string, f func(z *weft.Tensor) *weft.Tensor, z *weft.Tensor) {
			b.Run(fmt.Sprint(name, "/", d), func(b *testing.B) {
				f(z).Release()
				for b.Loop() {
					f(z).Release()
				}
			})
		}
		one := func(z *weft.Tensor) *weft.Tensor { return fft.FFT(z) }
		for _, n := range []int{1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1009, 100003} {
			x := g.Randn(2, n).To(d)
			row(fmt.Sprint(n), one, weft.Complex(x.Slice(weft.Index(0)), x.Slice(weft.Index(1))))
		}
		x := g.Randn(1000, 1000).To(d)
		row("1000x1000", func(z *weft.Tensor) *weft.Tensor { return fft.FFT2(z) }, weft.Complex(x, x))
		row("rfft 1000x1024", func(z *weft.Tensor) *weft.Tensor { return fft.RFFT(z) }, g.Randn(1000, 1024).To(d))
	}
}
