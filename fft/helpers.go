package fft

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu/fft"
)

// NextFastLen returns the least length from n on whose prime factors are 2, 3 and 5, as SciPy's next_fast_len
// does for real transforms. It panics with
// *[weft.Error] for n below 1.
func NextFastLen(n int) int {
	if n < 1 || n > 1<<60 {
		array.Failf("fft.nextfastlen", "n", "is %d, want 1 to 2^60", n)
	}
	return fft.NextFast(n)
}

// FFTShift moves the element of frequency 0 to the middle of each of the axes, all by default: it rolls
// them by half of their sizes.
func FFTShift(x *weft.Tensor, axes ...int) *weft.Tensor { return shift("fft.fftshift", x, axes, false) }

// IFFTShift is the inverse of [FFTShift].
func IFFTShift(x *weft.Tensor, axes ...int) *weft.Tensor {
	return shift("fft.ifftshift", x, axes, true)
}

func shift(opName string, x *weft.Tensor, axes []int, inverse bool) *weft.Tensor {
	defer array.Named(opName).End()
	(*core.Tensor)(x).CheckArgument(opName, "x")
	for _, a := range array.Axes(opName, axes, x.Rank()) {
		by := x.Dim(a) / 2
		if inverse {
			by = -by
		}
		x = x.Roll(a, by)
	}
	return x
}

// FreqOpts are the options of frequencies.
type FreqOpts struct {
	Spacing *float64   // of samples; nil means 1
	DType   weft.DType // zero means Float64
}

// FFTFreq returns the frequencies of the elements of an [FFT] of n samples, [n], in cycles per unit of the
// spacing d: 0, 1, ... up to the greatest, then the negative ones, each over n*d. It panics with
// *[weft.Error] for n below 1, a spacing that is 0 or not finite, and a type that is not a float.
func FFTFreq(n int, opts ...FreqOpts) *weft.Tensor {
	return frequencies("fft.fftfreq", n, n, n-n/2, opts)
}

// RFFTFreq returns the frequencies of the elements of an [RFFT] of n samples, [n/2+1]. It panics as FFTFreq
// does.
func RFFTFreq(n int, opts ...FreqOpts) *weft.Tensor {
	return frequencies("fft.rfftfreq", n, n/2+1, n/2+1, opts)
}

// frequencies returns count frequencies, positive ones first, the first one 0.
func frequencies(opName string, n, count, positive int, opts []FreqOpts) *weft.Tensor {
	o := array.Options(opName, opts)
	if n < 1 {
		array.Failf(opName, "n", "is %d, want 1 or more", n)
	}
	d := array.Or(o.Spacing, 1)
	if d == 0 || d-d != 0 {
		array.Failf(opName, "Spacing", "is %v, want a finite number other than 0", d)
	}
	if o.DType == array.Invalid {
		o.DType = weft.Float64
	}
	if !o.DType.Float() {
		array.Failf(opName, "DType", "is %s, want floats", o.DType)
	}
	array.CheckShape(opName, []int{count}, weft.Float64)
	core.CheckHeap(opName, 3*count, weft.Float64)
	k := weft.ArangeOf(weft.Float64, positive)
	if count > positive {
		k = weft.Cat([]*weft.Tensor{k, weft.ArangeOf(weft.Float64, positive-count, 0)}, 0)
	}
	return k.Mul(1 / (float64(n) * d)).To(o.DType)
}
