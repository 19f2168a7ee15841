package hostile

import (
	"reflect"

	"weft/fft"
)

// The exports of package fft.

var fftFunctions = []row[any]{
	{"fft.DCT", fft.DCT},
	{"fft.DST", fft.DST},
	{"fft.FFT", fft.FFT},
	{"fft.FFT2", fft.FFT2},
	{"fft.FFTFreq", fft.FFTFreq},
	{"fft.FFTN", fft.FFTN},
	{"fft.FFTShift", fft.FFTShift},
	{"fft.HFFT", fft.HFFT},
	{"fft.IDCT", fft.IDCT},
	{"fft.IDST", fft.IDST},
	{"fft.IFFT", fft.IFFT},
	{"fft.IFFT2", fft.IFFT2},
	{"fft.IFFTN", fft.IFFTN},
	{"fft.IFFTShift", fft.IFFTShift},
	{"fft.IHFFT", fft.IHFFT},
	{"fft.IRFFT", fft.IRFFT},
	{"fft.IRFFT2", fft.IRFFT2},
	{"fft.IRFFTN", fft.IRFFTN},
	{"fft.ISTFT", fft.ISTFT},
	{"fft.NextFastLen", fft.NextFastLen},
	{"fft.RFFT", fft.RFFT},
	{"fft.RFFT2", fft.RFFT2},
	{"fft.RFFTFreq", fft.RFFTFreq},
	{"fft.RFFTN", fft.RFFTN},
	{"fft.STFT", fft.STFT},
}

var fftTypes = []row[reflect.Type]{
	{"fft.CosineOpts", reflect.TypeFor[fft.CosineOpts]()},
	{"fft.FreqOpts", reflect.TypeFor[fft.FreqOpts]()},
	{"fft.NOpts", reflect.TypeFor[fft.NOpts]()},
	{"fft.Norm", reflect.TypeFor[fft.Norm]()},
	{"fft.Opts", reflect.TypeFor[fft.Opts]()},
	{"fft.STFTOpts", reflect.TypeFor[fft.STFTOpts]()},
}
