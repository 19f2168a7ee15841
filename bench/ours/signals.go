package main

import (
	"weft"
	"weft/bench/worker"
	"weft/fft"
	"weft/ndimage"
	"weft/signal"
)

// Fourier transforms, filters of signals and of pictures, beside SciPy's and PyTorch's.

// complexes is random numbers of seeds 1 and 2 as real and imaginary parts.
func complexes(d string, shape ...int) *weft.Tensor {
	part := "float64"
	if d == "complex64" {
		part = "float32"
	}
	return weft.Complex(random(part, 1, shape...), random(part, 2, shape...))
}

func init() {
	one := func(p worker.Params) func() *weft.Tensor {
		x := complexes(p.DType, p.N)
		return func() *weft.Tensor { return fft.FFT(x) }
	}
	eager("fft", one)
	eager("fft of a prime", one)
	eager("fft of 1000 rows of 16", func(p worker.Params) func() *weft.Tensor {
		x := complexes(p.DType, p.N, 16)
		return func() *weft.Tensor { return fft.FFT(x) }
	})
	eager("fft2 1000x1000", func(p worker.Params) func() *weft.Tensor {
		x := complexes(p.DType, p.N, 1000)
		return func() *weft.Tensor { return fft.FFT2(x) }
	})
	eager("rfft 1000x1024", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N, 1024)
		return func() *weft.Tensor { return fft.RFFT(x) }
	})
	eager("irfft 1000x1024", func(p worker.Params) func() *weft.Tensor {
		x := fft.RFFT(random(p.DType, 1, p.N, 1024))
		return func() *weft.Tensor { return fft.IRFFT(x) }
	})
	eager("dct 1000x1024", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N, 1024)
		return func() *weft.Tensor { return fft.DCT(x) }
	})
}

func init() {
	one := func(name string, f func(x *weft.Tensor) *weft.Tensor) {
		eager("signal "+name, func(p worker.Params) func() *weft.Tensor {
			x := random(p.DType, 1, p.N)
			return func() *weft.Tensor { return f(x) }
		})
	}
	low := signal.Butter(4, []float64{0.25})
	b, a := low.TF()
	sos := signal.Butter(8, []float64{0.25}).SOS()
	first := func(y, _ *weft.Tensor) *weft.Tensor { return y }
	one("lfilter", func(x *weft.Tensor) *weft.Tensor { return first(signal.LFilter(b, a, x)) })
	one("sosfilt", func(x *weft.Tensor) *weft.Tensor { return first(signal.SOSFilt(sos, x)) })
	one("filtfilt", func(x *weft.Tensor) *weft.Tensor { return signal.FiltFilt(b, a, x) })
	one("find_peaks", func(x *weft.Tensor) *weft.Tensor {
		return signal.FindPeaks(x, signal.PeakOpts{Height: []float64{0.5}, Distance: 10})
	})
	one("welch", func(x *weft.Tensor) *weft.Tensor {
		f, p := signal.Welch(x, signal.SpectrumOpts{NPerSeg: 1024})
		f.Release()
		return p
	})
	one("resample", func(x *weft.Tensor) *weft.Tensor { return signal.Resample(x, x.Size()*3/4) })
	one("resample_poly", func(x *weft.Tensor) *weft.Tensor { return signal.ResamplePoly(x, 3, 4) })
	one("medfilt", func(x *weft.Tensor) *weft.Tensor { return signal.MedFilt(x, 5) })
	one("savgol", func(x *weft.Tensor) *weft.Tensor { return signal.SavgolFilter(x, 11, 3) })
	one("hilbert", func(x *weft.Tensor) *weft.Tensor { return signal.Hilbert(x) })
	for name, m := range map[string]int{"31": 31, "1000": 1000, "its size": 0} {
		eager("signal convolve by "+name, func(p worker.Params) func() *weft.Tensor {
			size := m
			if size == 0 {
				size = p.N
			}
			x, y := random(p.DType, 1, p.N), random(p.DType, 2, size)
			return func() *weft.Tensor { return signal.Convolve(x, y) }
		})
	}
}

func init() {
	one := func(name string, f func(x *weft.Tensor) *weft.Tensor) {
		eager("ndimage "+name, func(p worker.Params) func() *weft.Tensor {
			x := random(p.DType, 1, p.N, p.N)
			return func() *weft.Tensor { return f(x) }
		})
	}
	window := func(n int) []int { return []int{n, n} }
	one("gaussian_filter", func(x *weft.Tensor) *weft.Tensor { return ndimage.GaussianFilter(x, []float64{2, 2}) })
	one("uniform_filter 15", func(x *weft.Tensor) *weft.Tensor { return ndimage.UniformFilter(x, window(15)) })
	one("median_filter 3", func(x *weft.Tensor) *weft.Tensor { return ndimage.MedianFilter(x, window(3)) })
	one("median_filter 5", func(x *weft.Tensor) *weft.Tensor { return ndimage.MedianFilter(x, window(5)) })
	one("sobel", func(x *weft.Tensor) *weft.Tensor { return ndimage.Sobel(x, 0) })
	one("laplace", func(x *weft.Tensor) *weft.Tensor { return ndimage.Laplace(x) })
	one("grey_dilation 5", func(x *weft.Tensor) *weft.Tensor { return ndimage.GreyDilation(x, window(5)) })
	one("grey_opening 5", func(x *weft.Tensor) *weft.Tensor { return ndimage.GreyOpening(x, window(5)) })
	one("distance_transform_edt", func(x *weft.Tensor) *weft.Tensor {
		d, at := ndimage.DistanceTransformEDT(x.Gt(-0.9))
		at.Release()
		return d
	})
	one("binary_erosion", func(x *weft.Tensor) *weft.Tensor { return ndimage.BinaryErosion(x.Gt(-0.9)) })
	one("label", func(x *weft.Tensor) *weft.Tensor {
		l, _ := ndimage.Label(x.Gt(0))
		return l
	})
	order := 1
	one("zoom 2", func(x *weft.Tensor) *weft.Tensor { return ndimage.Zoom(x, []float64{2, 2}) })
	one("zoom 2, linear", func(x *weft.Tensor) *weft.Tensor {
		return ndimage.Zoom(x, []float64{2, 2}, ndimage.InterpolationOpts{Order: &order})
	})
	one("rotate", func(x *weft.Tensor) *weft.Tensor { return ndimage.Rotate(x, 30) })
	one("correlate1d 31", func(x *weft.Tensor) *weft.Tensor {
		return ndimage.Correlate1D(x, weft.ArangeOf[float64](weft.Float64, 31), 1)
	})
	eager("ndimage correlate 7x7", func(p worker.Params) func() *weft.Tensor {
		x, w := random(p.DType, 1, p.N, p.N), random(p.DType, 2, 7, 7)
		return func() *weft.Tensor { return ndimage.Correlate(x, w) }
	})
	eager("ndimage map_coordinates", func(p worker.Params) func() *weft.Tensor {
		x, at := random(p.DType, 1, p.N, p.N), random("float64", 2, 2, p.N, p.N).Add(1).Mul(float64(p.N)/2-1)
		return func() *weft.Tensor { return ndimage.MapCoordinates(x, at, ndimage.InterpolationOpts{Order: &order}) }
	})
}
