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

func ExampleIFFT() {
	z := weft.FromSlice([]complex128{6, -2i, -2, 2i})
	fmt.Println(fft.IFFT(z).Real())
	fmt.Println(fft.IFFT(z, fft.Opts{Norm: fft.Ortho}).Real())
	// Output:
	// [1. 3. 1. 1.]
	// [2. 6. 2. 2.]
}

func ExampleIRFFT() {
	x := weft.FromSlice([]float64{1, 2, 3, 4, 5})
	// The length of the result does not follow from that of the transform: 5 and 4 numbers have 3.
	fmt.Println(fft.IRFFT(fft.RFFT(x), fft.Opts{N: 5}))
	// Output: [1. 2. 3. 4. 5.]
}

func ExampleHFFT() {
	// A signal whose other half is its conjugate has a real spectrum.
	z := weft.FromSlice([]complex128{1, 2i, 3})
	fmt.Println(fft.HFFT(z))
	// Output: [ 4.  2.  4. -6.]
}

func ExampleIHFFT() {
	fmt.Println(fft.IHFFT(weft.FromSlice([]float64{4, 2, 4, -6})).Abs())
	// Output: [1. 2. 3.]
}

func ExampleFFT2() {
	x := weft.From([][]float64{{1, 2}, {3, 4}})
	fmt.Println(fft.FFT2(x).Real())
	// Output:
	// [[10. -2.]
	//  [-4.  0.]]
}

func ExampleIFFT2() {
	z := weft.From([][]complex128{{10, -2}, {-4, 0}})
	fmt.Println(fft.IFFT2(z).Real())
	// Output:
	// [[1. 2.]
	//  [3. 4.]]
}

func ExampleFFTN() {
	x := weft.OnesOf(weft.Float64, 2, 3, 4)
	z := fft.FFTN(x, fft.NOpts{Axes: []int{0, 2}})
	fmt.Println(z.Shape(), z.At(0, 1, 0), z.At(1, 1, 0))
	// Output: [2 3 4] (8+0j) 0j
}

func ExampleIFFTN() {
	x := weft.OnesOf(weft.Float64, 2, 3, 4)
	fmt.Println(fft.IFFTN(fft.FFTN(x)).Sub(x).Abs().Max())
	// Output: 0.0
}

func ExampleRFFT2() {
	// Half of the last axis is left out: it holds conjugates.
	fmt.Println(fft.RFFT2(weft.From([][]float64{{1, 2, 0, 1}, {3, 4, 0, 1}})))
	// Output:
	// [[12.+0.j  4.-4.j -4.+0.j]
	//  [-4.+0.j -2.+2.j  0.+0.j]]
}

func ExampleIRFFT2() {
	x := weft.From([][]float64{{1, 2, 0, 1}, {3, 4, 0, 1}})
	fmt.Println(fft.IRFFT2(fft.RFFT2(x)))
	// Output:
	// [[1. 2. 0. 1.]
	//  [3. 4. 0. 1.]]
}

func ExampleRFFTN() {
	x := weft.OnesOf(weft.Float64, 2, 3, 4)
	z := fft.RFFTN(x)
	fmt.Println(z.Shape(), z.At(0, 0, 0))
	// Output: [2 3 3] (24+0j)
}

func ExampleIRFFTN() {
	x := weft.OnesOf(weft.Float64, 2, 3, 5)
	z := fft.RFFTN(x)
	fmt.Println(fft.IRFFTN(z).Shape(), fft.IRFFTN(z, fft.NOpts{N: []int{2, 3, 5}}).Shape())
	// Output: [2 3 4] [2 3 5]
}

func ExampleDCT() {
	x := weft.FromSlice([]float64{1, 2, 4})
	fmt.Printf("%.3f\n", weft.Data[float64](fft.DCT(x)))
	// Type 1 is the transform of x and its mirror image, 1 2 4 2.
	fmt.Println(fft.DCT(x, fft.CosineOpts{Type: new(1)}))
	// Output:
	// [14.000 -5.196 1.000]
	// [ 9. -3.  1.]
}

func ExampleIDCT() {
	fmt.Println(fft.IDCT(weft.FromSlice([]float64{8, 0, 0, 0})))
	// Output: [1. 1. 1. 1.]
}

func ExampleDST() {
	x := weft.FromSlice([]float64{1, 2, 4})
	fmt.Printf("%.3f\n", weft.Data[float64](fft.DST(x)))
	// Output: [9.000 -5.196 6.000]
}

func ExampleIDST() {
	fmt.Println(fft.IDST(weft.FromSlice([]float64{0, 0, 0, 8})))
	// Output: [ 1. -1.  1. -1.]
}

func ExampleFFTShift() {
	fmt.Println(fft.FFTShift(fft.FFTFreq(5)))
	// Output: [-0.4 -0.2  0.   0.2  0.4]
}

func ExampleIFFTShift() {
	f := fft.FFTFreq(5)
	fmt.Println(fft.IFFTShift(fft.FFTShift(f)))
	// Output: [ 0.   0.2  0.4 -0.4 -0.2]
}

func ExampleFFTFreq() {
	// Samples every 0.5 seconds: frequencies in hertz.
	fmt.Println(fft.FFTFreq(4, fft.FreqOpts{Spacing: new(0.5)}))
	// Output: [ 0.   0.5 -1.  -0.5]
}

func ExampleRFFTFreq() {
	fmt.Println(fft.RFFTFreq(4))
	// Output: [0.   0.25 0.5 ]
}

func ExampleNextFastLen() {
	// A prime length takes longer than the next product of small primes.
	fmt.Println(fft.NextFastLen(997))
	// Output: 1000
}

func ExampleISTFT() {
	x := weft.Arange(64)
	o := fft.STFTOpts{NFFT: 16, Length: 64}
	y := fft.ISTFT(fft.STFT(x, o), o)
	fmt.Println(y.Shape(), y.Sub(x).Abs().Max().Item() < 1e-4)
	// Output: [64] true
}
