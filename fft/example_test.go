package fft_test

import (
	"fmt"
	"math"

	"weft"
	"weft/fft"
)

func ExampleFFT() {
	x := weft.FromSlice([]float64{1, 0, 0, 0})
	fmt.Println(fft.FFT(x))
	fmt.Println(fft.IFFT(fft.FFT(x)).Real())
	// Output:
	// [1.+0.j 1.+0.j 1.+0.j 1.+0.j]
	// [1. 0. 0. 0.]
}

func ExampleRFFT() {
	// The frequency of a tone, sampled 64 times a second.
	x := weft.ArangeOf[int](weft.Float64, 64).Mul(2 * math.Pi * 5 / 64).Sin()
	step := 1.0 / 64
	at := fft.RFFT(x).Abs().ArgMax(0).Item()
	f := weft.Data[float64](fft.RFFTFreq(64, fft.FreqOpts{Spacing: &step}))
	fmt.Println(f[int(at)])
	// Output: 5
}

func ExampleSTFT() {
	x := weft.Ones(100)
	z := fft.STFT(x, fft.STFTOpts{NFFT: 16, HopLength: 4})
	y := fft.ISTFT(z, fft.STFTOpts{NFFT: 16, HopLength: 4})
	fmt.Println(z.Shape(), y.Shape())
	// Output: [9 26] [100]
}
