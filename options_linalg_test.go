package weft_test

import (
	"math"
	"os"
	"path/filepath"

	"weft"
	"weft/fft"
	"weft/kernel"
	"weft/linalg"
	"weft/ndimage"
	"weft/onnx"
	"weft/polynomial"
	filters "weft/signal"
	"weft/sparse"
)

// linalgOptionCases are the options of package linalg.
var linalgOptionCases = map[string]optionCase{
	"linalg.VanderOpts": optionsOf(func(o linalg.VanderOpts) []float64 {
		return weft.Data[float64](linalg.Vander(weft.From([]float64{1, 2, 3}), o).Contiguous())
	}, map[string]optionField{"N": {def: new(3), zero: func() []float64 { return []float64{} }}}),
	"linalg.VectorNormOpts": optionsOf(func(o linalg.VectorNormOpts) []float64 {
		return []float64{linalg.VectorNorm(weft.From([]float64{3, 0, 4}), o).Item()}
	}, map[string]optionField{"Ord": {def: new(2.0), zero: func() []float64 { return []float64{2} }}}),
	"linalg.LstSqOpts": optionsOf(func(o linalg.LstSqOpts) []float64 {
		_, _, rank, _ := linalg.LstSq(weft.From([][]float64{{1, 0}, {0, 1e-20}}), weft.From([]float64{1, 1}), o)
		return []float64{rank.Item()}
	}, map[string]optionField{"RTol": {def: new(0x1p-51), zero: func() []float64 { return []float64{2} }}}),
	"polynomial.FitOpts": optionsOf(func(o polynomial.FitOpts) []float64 {
		return weft.Data[float64](polynomial.Fit(weft.From([]float64{1, 1, 1 + 0x1p-51}), weft.From([]float64{2, 2, 3}), 1, o).Contiguous())
	}, map[string]optionField{"RTol": {def: new(0x3p-52), loose: true}}),
	"polynomial.SeriesOpts": optionsOf(func(o polynomial.SeriesOpts) []float64 {
		return weft.Data[float64](polynomial.Chebyshev.FitSeries(weft.From([]float64{1, 1, 1 + 0x1p-51}), weft.From([]float64{2, 2, 3}), 1, o).Coef.Contiguous())
	}, map[string]optionField{
		"RTol":   {in: polynomial.SeriesOpts{Domain: &[2]float64{-1, 1}}, def: new(0x3p-52), loose: true},
		"Domain": {def: &[2]float64{1, 1 + 0x1p-51}, refused: true},
	}),
	"polynomial.IntOpts": optionsOf(func(o polynomial.IntOpts) []float64 {
		return weft.Data[float64](polynomial.Int(weft.From([]float64{1, 2}), o).Contiguous())
	}, map[string]optionField{"Lower": {zero: func() []float64 { return []float64{0, 1, 1} }}, "Constant": {zero: func() []float64 { return []float64{0, 1, 1} }}}),
	"linalg.RankOpts": optionsOf(func(o linalg.RankOpts) []float64 {
		return []float64{linalg.MatrixRank(weft.From([][]float64{{1, 0}, {0, 1e-20}}), o).Item()}
	}, map[string]optionField{"RTol": {def: new(0x1p-51), zero: func() []float64 { return []float64{2} }}}),
}

// exportOptionCases are the options of package onnx: what they give is the size of the file of external data, 0 for none.
var exportOptionCases = map[string]optionCase{
	"onnx.SaveOpts": optionsOf(func(o onnx.SaveOpts) []float64 {
		dir, err := os.MkdirTemp("", "weft")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		w, path := weft.Ones(2), filepath.Join(dir, "m.onnx")
		if err := onnx.Save(path, func(x *weft.Tensor) *weft.Tensor { return x.Mul(w) }, []any{weft.Ones(2)}, o); err != nil {
			panic(err)
		}
		info, err := os.Stat(path + ".data")
		if err != nil {
			return []float64{0}
		}
		return []float64{float64(info.Size())}
	}, map[string]optionField{"ExternalFrom": {def: new(1 << 10), zero: func() []float64 { return []float64{8} }}}),
}

// fftOptionCases are the options of package fft.
var fftOptionCases = map[string]optionCase{
	"fft.Opts": optionsOf(func(o fft.Opts) []float64 {
		return values(fft.FFT(signal(), o).Abs())
	}, map[string]optionField{
		"N":    {zero: func() []float64 { return values(fft.FFT(signal(), fft.Opts{N: 7}).Abs()) }},
		"Axis": {def: new(-1)},
	}),
	"fft.CosineOpts": optionsOf(func(o fft.CosineOpts) []float64 {
		return values(fft.DCT(signal(), o))
	}, map[string]optionField{
		"Type": {def: new(2), refused: true},
		"N":    {zero: func() []float64 { return values(fft.DCT(signal(), fft.CosineOpts{N: 7})) }},
		"Axis": {def: new(-1)},
	}),
	"fft.FreqOpts": optionsOf(func(o fft.FreqOpts) []float64 {
		return values(fft.FFTFreq(5, o))
	}, map[string]optionField{"Spacing": {def: new(1.0), refused: true}}),
	"fft.STFTOpts": optionsOf(framed, map[string]optionField{
		"NFFT":      {in: frames, refused: true},
		"HopLength": {in: frames, zero: func() []float64 { return framed(fft.STFTOpts{NFFT: 4, HopLength: 1}) }},
		"WinLength": {in: frames, zero: func() []float64 { return framed(fft.STFTOpts{NFFT: 4, WinLength: 4}) }},
		"Length":    {in: frames, zero: func() []float64 { return framed(fft.STFTOpts{NFFT: 4, Length: 7}) }},
	}),
}

// frames are the options of short-time transforms that have frames of four samples.
var frames = fft.STFTOpts{NFFT: 4}

// signal returns two rows of seven samples.
func signal() *weft.Tensor { return weft.ArangeOf[int](weft.Float64, 14).Sin().Reshape(2, 7) }

// framed returns the short-time transform of a signal, and the signal that it gives back.
func framed(o fft.STFTOpts) []float64 {
	z := fft.STFT(signal(), o)
	return values(z.Abs(), fft.ISTFT(z, o))
}

// secondDifferences is the Laplacian of a line of n points.
func secondDifferences(n int) *sparse.Matrix {
	return sparse.Diags([]*weft.Tensor{weft.From([]float64{2}), weft.From([]float64{-1}), weft.From([]float64{-1})}, []int{0, 1, -1}, n, n)
}

// iterations are how many an iteration took, and whether it converged.
func iterations(s sparse.Solution, err error) []float64 {
	if err != nil {
		return []float64{float64(s.Iterations), 0}
	}
	return []float64{float64(s.Iterations), 1}
}

// sparseOptionCases are the options of package sparse.
var sparseOptionCases = map[string]optionCase{
	"sparse.SolverOpts": optionsOf(func(o sparse.SolverOpts) []float64 {
		a := secondDifferences(30)
		b := weft.ArangeOf(weft.Float64, 30)
		return append(iterations(sparse.CG(a.MatMul, b, o)), iterations(sparse.GMRES(a.MatMul, b, o))...)
	}, map[string]optionField{
		"RTol":    {def: new(1e-5), loose: true},
		"ATol":    {in: sparse.SolverOpts{RTol: new(1e-9)}},
		"MaxIter": {def: new(300), zero: func() []float64 { return []float64{0, 0, 0, 0} }},
		"Restart": {def: new(20), refused: true},
	}),
	"sparse.LSQROpts": optionsOf(func(o sparse.LSQROpts) []float64 {
		a := sparse.VStack(secondDifferences(20), sparse.Eye(20))
		b := weft.ArangeOf(weft.Float64, 40)
		exact := a.MatMul(weft.ArangeOf(weft.Float64, 20))
		h := a.H().MatMul
		return append(iterations(sparse.LSQR(a.MatMul, h, b, o)), iterations(sparse.LSQR(a.MatMul, h, exact, o))...)
	}, map[string]optionField{
		"Damp":    {},
		"ATol":    {def: new(1e-6), loose: true},
		"BTol":    {in: sparse.LSQROpts{ATol: new(1e-12)}, def: new(1e-6), loose: true},
		"MaxIter": {def: new(40), zero: func() []float64 { return []float64{0, 0, 0, 0} }},
	}),
	"sparse.LUOpts": optionsOf(func(o sparse.LUOpts) []float64 {
		rows, _ := sparse.LU(sparse.FromDense(weft.From([][]float64{{1, 4}, {2, 1}})), o).Perm()
		return []float64{float64(rows[0]), float64(rows[1])}
	}, map[string]optionField{"PivotThreshold": {in: sparse.LUOpts{Ordering: sparse.Natural}, def: new(1.0), zero: func() []float64 { return []float64{0, 1} }}}),
	"sparse.EigshOpts": optionsOf(func(o sparse.EigshOpts) []float64 {
		w, _, err := sparse.Eigsh(secondDifferences(40).MatMul, weft.ZerosOf(weft.Float64, 40), 2, o)
		if err != nil {
			return []float64{0}
		}
		return append(values(w), 1)
	}, map[string]optionField{
		"Vectors": {def: new(20), refused: true},
		"Tol":     {in: sparse.EigshOpts{MaxIter: new(8)}, def: new(1e-14), loose: true},
		"MaxIter": {def: new(1000), zero: func() []float64 { return []float64{0} }},
	}),
}

// signalOptionCases are the options of package signal.
var signalOptionCases = map[string]optionCase{
	"signal.AxisOpts": optionsOf(func(o filters.AxisOpts) []float64 { return values(filters.Resample(signal(), 3, o)) }, map[string]optionField{
		"Axis": {def: new(-1), zero: func() []float64 { return values(filters.Resample(signal().T(), 3).T()) }}}),
	"signal.DetrendOpts": optionsOf(func(o filters.DetrendOpts) []float64 { return values(filters.Detrend(signal(), o)) }, map[string]optionField{
		"Axis": {def: new(-1), zero: func() []float64 { return values(filters.Detrend(signal().T()).T()) }}}),
	"signal.FilterOpts": optionsOf(func(o filters.FilterOpts) []float64 {
		y, _ := filters.LFilter(weft.From([]float64{1, 1}), weft.From([]float64{1, 0.5}), signal(), o)
		return values(y)
	}, map[string]optionField{"Axis": {def: new(-1), loose: true}}),
	"signal.FiltFiltOpts": optionsOf(func(o filters.FiltFiltOpts) []float64 {
		return values(filters.FiltFilt(weft.From([]float64{1, 1}), weft.From([]float64{1, 0.5}), signal(), o))
	}, map[string]optionField{
		"Axis":   {in: filters.FiltFiltOpts{PadLen: new(1)}, def: new(-1), loose: true},
		"PadLen": {def: new(6), loose: true},
	}),
	"signal.IIROpts": optionsOf(func(o filters.IIROpts) []float64 { return []float64{filters.Butter(2, []float64{0.2}, o).K} }, map[string]optionField{
		"FS": {def: new(2.0), refused: true}}),
	"signal.BesselOpts": optionsOf(func(o filters.BesselOpts) []float64 { return []float64{filters.Bessel(2, []float64{0.2}, o).K} }, map[string]optionField{
		"FS": {def: new(2.0), refused: true}}),
	"signal.OrdOpts": optionsOf(func(o filters.OrdOpts) []float64 {
		_, w := filters.ButtOrd([]float64{0.2}, []float64{0.3}, 1, 40, o)
		return w
	}, map[string]optionField{"FS": {def: new(2.0), refused: true}}),
	"signal.NotchOpts": optionsOf(func(o filters.NotchOpts) []float64 {
		b, _ := filters.IIRNotch(0.3, 5, o)
		return values(b)
	}, map[string]optionField{"FS": {def: new(2.0), refused: true}}),
	"signal.CombOpts": optionsOf(func(o filters.CombOpts) []float64 {
		b, _ := filters.IIRComb(0.5, 5, o)
		return values(b)
	}, map[string]optionField{"FS": {def: new(2.0), refused: true}}),
	"signal.ChirpOpts": optionsOf(func(o filters.ChirpOpts) []float64 { return values(filters.Chirp(signal(), 1, 2, 3, o)) }, map[string]optionField{
		"Phi": {}}),
	"signal.GaussPulseOpts": optionsOf(func(o filters.GaussPulseOpts) []float64 {
		i, _, _ := filters.GaussPulse(signal(), o)
		return values(i)
	}, map[string]optionField{
		"FC":  {def: new(1000.0), zero: func() []float64 { return values(weft.OnesLike(signal())) }},
		"BW":  {def: new(0.5), refused: true},
		"BWR": {def: new(-6.0), refused: true},
	}),
	"signal.WienerOpts": optionsOf(func(o filters.WienerOpts) []float64 { return values(filters.Wiener(signal(), o)) }, map[string]optionField{
		"Noise": {zero: func() []float64 { return values(signal()) }}}),
	"signal.WindowOpts": optionsOf(func(o filters.WindowOpts) []float64 {
		window := "tukey"
		if o.Beta != nil {
			window = "kaiser"
		} else if o.Std != nil {
			window = "gaussian"
		}
		return values(filters.GetWindow(window, 9, o))
	}, map[string]optionField{
		"Alpha": {def: new(0.5), zero: func() []float64 { return values(filters.GetWindow("boxcar", 9)) }},
		"Beta":  {zero: func() []float64 { return values(filters.GetWindow("boxcar", 9)) }},
		"Std":   {refused: true},
	}),
	"signal.PeakOpts": optionsOf(foundPeaks, map[string]optionField{
		"Distance":  {zero: func() []float64 { return foundPeaks(filters.PeakOpts{}) }},
		"WLen":      {zero: func() []float64 { return foundPeaks(filters.PeakOpts{WLen: 100}) }},
		"RelHeight": {def: new(0.5), loose: true},
	}),
	"signal.SavgolOpts": optionsOf(func(o filters.SavgolOpts) []float64 {
		return append(values(filters.SavgolCoeffs(5, 2, o)), values(filters.SavgolFilter(signal(), 5, 2, o))...)
	}, map[string]optionField{
		"Deriv": {},
		"Delta": {def: new(1.0), refused: true},
		"Pos":   {def: new(2), loose: true},
		"Axis":  {in: filters.SavgolOpts{Mode: "nearest"}, def: new(-1), loose: true},
	}),
	"signal.SpectrumOpts": optionsOf(welch, map[string]optionField{
		"FS":       {def: new(1.0), refused: true},
		"NPerSeg":  {zero: func() []float64 { return welch(filters.SpectrumOpts{NPerSeg: 7}) }},
		"NOverlap": {in: filters.SpectrumOpts{NPerSeg: 4}, def: new(2), loose: true},
	}),
	"signal.FirWinOpts": optionsOf(func(o filters.FirWinOpts) []float64 {
		if o.Beta != nil {
			o.Window = "kaiser"
		}
		return values(filters.FirWin(9, []float64{0.2}, o))
	}, map[string]optionField{
		"FS": {def: new(2.0), refused: true},
		"Beta": {zero: func() []float64 {
			return values(filters.FirWin(9, []float64{0.2}, filters.FirWinOpts{Window: "boxcar"}))
		}},
	}),
	"signal.FreqZOpts": optionsOf(func(o filters.FreqZOpts) []float64 {
		w, h := filters.FreqZ(weft.From([]float64{1, 1}), weft.From([]float64{1, 0.5}), o)
		return append(values(w), values(h.Abs())...)
	}, map[string]optionField{"N": {def: new(512), refused: true}, "FS": {def: new(2 * math.Pi), refused: true}}),
	"signal.UpFirDnOpts": optionsOf(func(o filters.UpFirDnOpts) []float64 {
		return values(filters.UpFirDn(weft.From([]float64{1, 2}), signal(), o))
	}, map[string]optionField{"Up": {def: new(1), refused: true}, "Down": {def: new(1), refused: true}, "Axis": {def: new(-1), loose: true}}),
	"signal.ResamplePolyOpts": optionsOf(func(o filters.ResamplePolyOpts) []float64 {
		return values(filters.ResamplePoly(signal(), 3, 2, o))
	}, map[string]optionField{"Axis": {def: new(-1), loose: true}}),
	"signal.DecimateOpts": optionsOf(func(o filters.DecimateOpts) []float64 {
		o.Delay = true
		return values(filters.Decimate(signal(), 2, o))
	}, map[string]optionField{"N": {def: new(8), refused: true}, "Axis": {def: new(-1), loose: true}}),
}

// foundPeaks returns the places of peaks, their prominences and their widths.
func foundPeaks(o filters.PeakOpts) []float64 {
	x := weft.From([]float64{0, 3, 2, 4, 1, 5, 2, 3, 0})
	p := filters.FindPeaks(x, o)
	h, _, _ := filters.PeakProminences(x, p, o)
	w, _, _, _ := filters.PeakWidths(x, p, o)
	return append(append(values(p.To(weft.Float64)), values(h)...), values(w)...)
}

// welch returns the densities of a signal and their frequencies.
func welch(o filters.SpectrumOpts) []float64 {
	f, p := filters.Welch(signal(), o)
	return append(values(f), values(p)...)
}

// peak is a matrix whose only element that is not 0 is in its middle.
func peak() *weft.Tensor {
	x := weft.ZerosOf(weft.Float64, 5, 7)
	x.Set(1, 2, 3)
	return x
}

// pictureFunctions are functions of neighbourhoods and places in pictures.
var pictureFunctions = kernel.MustParse(`package p
	import "weft/kernel"
	func Above[T float32 | float64](x kernel.Near2[T]) T { return x.At(-1, 0) }
	func Beside(i, j float64) (float64, float64) { return i, j - 0.5 }`)

// ndimageOptionCases are the options of package ndimage. What lies beyond the edges is Cval in mode Constant.
var ndimageOptionCases = map[string]optionCase{
	"ndimage.BinaryOpts": optionsOf(func(o ndimage.BinaryOpts) []float64 { return values(ndimage.BinaryDilation(peak(), o)) },
		map[string]optionField{"Iterations": {def: new(1), zero: func() []float64 { return values(weft.OnesLike(peak())) }}}),
	"ndimage.BorderOpts": optionsOf(func(o ndimage.BorderOpts) []float64 { return values(ndimage.Sobel(peak(), 0, o)) },
		map[string]optionField{"Cval": {in: ndimage.BorderOpts{Mode: ndimage.Constant}}}),
	"ndimage.FilterOpts": optionsOf(func(o ndimage.FilterOpts) []float64 { return values(ndimage.UniformFilter(peak(), []int{3}, o)) },
		map[string]optionField{"Cval": {in: ndimage.FilterOpts{Mode: ndimage.Constant}}}),
	"ndimage.FourierOpts": optionsOf(func(o ndimage.FourierOpts) []float64 {
		return values(ndimage.FourierGaussian(peak().Slice(weft.All, weft.Range(0, 5)), []float64{1, 2}, o))
	}, map[string]optionField{
		"N":    {refused: true},
		"Axis": {in: ndimage.FourierOpts{N: new(9)}, def: new(-1), loose: true},
	}),
	"ndimage.GenericOpts": optionsOf(func(o ndimage.GenericOpts) []float64 {
		return values(ndimage.GenericFilter(peak(), pictureFunctions.Func("Above"), o))
	}, map[string]optionField{"Cval": {in: ndimage.GenericOpts{Mode: ndimage.Constant}}}),
	"ndimage.GeometricOpts": optionsOf(func(o ndimage.GeometricOpts) []float64 {
		return values(ndimage.GeometricTransform(peak(), pictureFunctions.Func("Beside"), o))
	}, map[string]optionField{
		"Order": {def: new(3), loose: true},
		"Cval":  {in: ndimage.GeometricOpts{Order: new(1)}},
	}),
	"ndimage.ValueOpts": optionsOf(func(o ndimage.ValueOpts) []float64 {
		return []float64{float64(len(ndimage.ValueIndices(weft.From([]int64{0, 0, 5}), o)))}
	}, map[string]optionField{"Ignore": {zero: func() []float64 { return []float64{1} }}}),
	"ndimage.GaussianOpts": optionsOf(func(o ndimage.GaussianOpts) []float64 { return values(ndimage.GaussianFilter(peak(), []float64{1}, o)) },
		map[string]optionField{
			"Truncate": {def: new(4.0), zero: func() []float64 { return values(peak()) }},
			"Cval":     {in: ndimage.GaussianOpts{Mode: ndimage.Constant}},
		}),
	"ndimage.Gaussian1DOpts": optionsOf(func(o ndimage.Gaussian1DOpts) []float64 { return values(ndimage.GaussianFilter1D(peak(), 1, 0, o)) },
		map[string]optionField{
			"Order":    {zero: func() []float64 { return values(ndimage.GaussianFilter(peak(), []float64{1, 0})) }},
			"Truncate": {def: new(4.0), zero: func() []float64 { return values(peak()) }},
			"Radius":   {def: new(4), zero: func() []float64 { return values(peak()) }},
			"Cval":     {in: ndimage.Gaussian1DOpts{Mode: ndimage.Constant}},
		}),
	"ndimage.GreyOpts": optionsOf(func(o ndimage.GreyOpts) []float64 { return values(ndimage.GreyDilation(peak().Sub(1), []int{3}, o)) },
		map[string]optionField{"Cval": {in: ndimage.GreyOpts{Mode: ndimage.Constant}}}),
	"ndimage.InterpolationOpts": optionsOf(func(o ndimage.InterpolationOpts) []float64 {
		return values(ndimage.Shift(peak(), []float64{0.7}, o))
	}, map[string]optionField{
		"Order": {def: new(3), zero: func() []float64 { return values(ndimage.Shift(peak(), []float64{1})) }},
		"Cval":  {in: ndimage.InterpolationOpts{Order: new(1)}},
	}),
	"ndimage.Filter1DOpts": optionsOf(func(o ndimage.Filter1DOpts) []float64 {
		return values(ndimage.GenericFilter1D(peak(), func(lines *weft.Tensor) *weft.Tensor { return lines.SlidingWindowView(1, 5).Mean(-1) }, 5, o))
	}, map[string]optionField{
		"Axis":   {def: new(-1), loose: true},
		"Cval":   {in: ndimage.Filter1DOpts{Mode: ndimage.Constant}},
		"Origin": {zero: func() []float64 { return values(ndimage.UniformFilter(peak(), []int{1, 5})) }},
	}),
	"ndimage.LineOpts": optionsOf(func(o ndimage.LineOpts) []float64 { return values(ndimage.UniformFilter1D(peak(), 5, 1, o)) },
		map[string]optionField{
			"Cval":   {in: ndimage.LineOpts{Mode: ndimage.Constant}},
			"Origin": {zero: func() []float64 { return values(ndimage.UniformFilter(peak(), []int{1, 5})) }},
		}),
	"ndimage.RotateOpts": optionsOf(func(o ndimage.RotateOpts) []float64 { return values(ndimage.Rotate(peak(), 30, o)) },
		map[string]optionField{
			"Axes":  {zero: func() []float64 { return values(ndimage.Rotate(peak(), 30, ndimage.RotateOpts{Axes: [2]int{0, 1}})) }},
			"Order": {def: new(3)},
			"Cval":  {},
		}),
	"ndimage.SplineOpts": optionsOf(func(o ndimage.SplineOpts) []float64 { return values(ndimage.SplineFilter(peak(), o)) },
		map[string]optionField{"Order": {def: new(3), zero: func() []float64 { return values(peak()) }}}),
	"ndimage.WindowOpts": optionsOf(func(o ndimage.WindowOpts) []float64 {
		return values(ndimage.MaximumFilter(peak().Sub(1), []int{3}, o))
	}, map[string]optionField{"Cval": {in: ndimage.WindowOpts{Mode: ndimage.Constant}}}),
}
