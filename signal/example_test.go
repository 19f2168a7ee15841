package signal_test

import (
	"fmt"
	"math"

	"weft"
	"weft/signal"
)

func ExampleLFilter() {
	b, a := weft.From([]float64{1}), weft.From([]float64{1, -0.5}) // y[n] = x[n] + y[n-1]/2
	x := weft.From([]float64{8, 0, 0, 0, 0, 0})
	y, zf := signal.LFilter(b, a, x.Slice(weft.Range(0, 3)))
	rest, _ := signal.LFilter(b, a, x.Slice(weft.Range(3, 6)), signal.FilterOpts{Zi: zf})
	fmt.Println(y, rest)
	// Output: [8. 4. 2.] [1.   0.5  0.25]
}

func ExampleSOSFilt() {
	sos := signal.Butter(4, []float64{0.2}).SOS()
	y, _ := signal.SOSFilt(sos, weft.OnesOf(weft.Float64, 200))
	fmt.Printf("%.6f\n", weft.At[float64](y, 199)) // low frequencies pass
	// Output: 1.000000
}

func ExampleLFilterZi() {
	b, a := signal.Butter(2, []float64{0.3}).TF()
	y, _ := signal.LFilter(b, a, weft.OnesOf(weft.Float64, 3), signal.FilterOpts{Zi: signal.LFilterZi(b, a)})
	fmt.Printf("%.6f\n", weft.Data[float64](y)) // no transient
	// Output: [1.000000 1.000000 1.000000]
}

func ExampleSOSFiltFilt() {
	t := weft.ArangeOf[int](weft.Float64, 200)
	slow, fast := t.Mul(0.05).Sin(), t.Mul(2.5).Sin()
	y := signal.SOSFiltFilt(signal.Butter(4, []float64{0.2}).SOS(), slow.Add(fast))
	fmt.Println(y.Sub(slow).Abs().Slice(weft.Range(50, 150)).Max().Item() < 0.001)
	// Output: true
}

func ExampleFiltFilt() {
	b, a := signal.Butter(2, []float64{0.3}).TF()
	y := signal.FiltFilt(b, a, weft.OnesOf(weft.Float64, 20))
	fmt.Printf("%.6f\n", y.Mean().Item())
	// Output: 1.000000
}

func ExampleButter() {
	b, a := signal.Butter(2, []float64{0.4}).TF()
	fmt.Printf("%.4f %.4f\n", weft.Data[float64](b), weft.Data[float64](a))
	// Output: [0.2066 0.4131 0.2066] [1.0000 -0.3695 0.1958]
}

func ExampleConvolve() {
	a, b := weft.From([]float64{1, 2, 3}), weft.From([]float64{0, 1, 0.5})
	fmt.Println(signal.Convolve(a, b, signal.ConvolveOpts{Mode: signal.Same}))
	// Output: [1.  2.5 4. ]
}

func ExampleOAConvolve() {
	x, h := weft.Ones(10000), weft.FromSlice([]float32{0.5, 0.5}, 2)
	y := signal.OAConvolve(x, h, signal.ConvolveOpts{Mode: signal.Same})
	fmt.Println(y.Shape(), y.At(5000).Item())
	// Output: [10000] 1
}

func ExampleCorrelationLags() {
	x := weft.From([]float64{0, 0, 0, 1, 2, 1})
	y := weft.From([]float64{0, 1, 2, 1, 0, 0}) // x, two samples earlier
	at := signal.Correlate(x, y).ArgMax().ItemInt()
	fmt.Println(weft.At[int64](signal.CorrelationLags(6, 6), int(at)))
	// Output: 2
}

func ExampleFindPeaks() {
	x := weft.From([]float64{0, 2, 0, 5, 1, 3, 0})
	peaks := signal.FindPeaks(x, signal.PeakOpts{Prominence: []float64{2}})
	height, _, _ := signal.PeakProminences(x, peaks)
	fmt.Println(peaks, height)
	// Output: [1 3 5] [2. 5. 2.]
}

func ExamplePeakProminences() {
	x := weft.From([]float64{0, 2, 1, 5, 3, 4, 0})
	height, left, right := signal.PeakProminences(x, signal.FindPeaks(x))
	fmt.Println(height, left, right)
	// Output: [1. 5. 1.] [0 0 4] [2 6 6]
}

func ExamplePeakWidths() {
	x := weft.From([]float64{0, 1, 2, 1, 0, 4, 0})
	widths, heights, left, right := signal.PeakWidths(x, signal.FindPeaks(x))
	fmt.Println(widths, heights, left, right)
	// Output: [2. 1.] [1. 2.] [1.  4.5] [3.  5.5]
}

func ExampleSavgolFilter() {
	x := weft.From([]float64{0, 1, 4, 9, 16, 25, 36}) // a parabola stays
	y := signal.SavgolFilter(x, 5, 2)
	fmt.Printf("%.4f\n", y.Sub(x).Abs().Max().Item())
	// Output: 0.0000
}

func ExampleGetWindow() {
	fmt.Printf("%.2f\n", weft.Data[float64](signal.GetWindow("hann", 4)))
	// Output: [0.00 0.50 1.00 0.50]
}

func ExampleLombScargle() {
	times := weft.From([]float64{0, 0.3, 1.1, 1.9, 2.2, 3.7, 4.1, 5, 5.6, 7})
	freqs := weft.From([]float64{1, 2, 3}) // angular
	p := signal.LombScargle(times, times.Mul(2).Sin().Add(5), freqs, signal.LombScargleOpts{Normalize: "normalize", FloatingMean: true})
	fmt.Println(p.ArgMax(0), p.At(1).Mul(100).Round())
	// Output: 1 100.0
}

func ExampleWelch() {
	x := weft.ArangeOf[int](weft.Float64, 1024).Mul(2 * 3.141592653589793 * 100 / 1000).Sin() // 100 Hz at 1000
	f, p := signal.Welch(x, signal.SpectrumOpts{FS: new(1000.0), NPerSeg: 200})
	fmt.Println(weft.At[float64](f, int(p.ArgMax().ItemInt())))
	// Output: 100
}

func ExampleHilbert() {
	x := weft.ArangeOf[int](weft.Float64, 64).Mul(2 * 3.141592653589793 / 16).Cos()
	fmt.Printf("%.4f\n", signal.Hilbert(x).Abs().Mean().Item()) // the envelope
	// Output: 1.0000
}

func ExampleResample() {
	fmt.Printf("%.2f\n", weft.Data[float64](signal.Resample(weft.From([]float64{3, 2, 1, 2}), 8)))
	// Output: [3.00 2.71 2.00 1.29 1.00 1.29 2.00 2.71]
}

func ExampleDetrend() {
	fmt.Printf("%.4f\n", signal.Detrend(weft.From([]float64{1, 3, 5, 7})).Abs().Max().Item())
	// Output: 0.0000
}

func ExampleFirWin() {
	h := signal.FirWin(5, []float64{0.5})
	fmt.Printf("%.3f\n", weft.Data[float64](h.Contiguous()))
	// Output: [0.000 0.204 0.593 0.204 0.000]
}

func ExampleFreqZ() {
	b, a := signal.Butter(2, []float64{0.25}).TF()
	_, h := signal.FreqZ(b, a, signal.FreqZOpts{N: new(4)}) // the second frequency is the critical one
	fmt.Printf("%.3f\n", weft.Data[float64](h.Abs().Contiguous()))
	// Output: [1.000 0.707 0.169 0.029]
}

func ExampleSOSFreqZ() {
	sos := signal.Cheby1(6, 1, []float64{0.5}).SOS()
	_, h := signal.SOSFreqZ(sos, signal.FreqZOpts{W: weft.From([]float64{0.5}), FS: new(2.0)})
	fmt.Printf("%.3f dB\n", 20*h.Abs().Log10().Item())
	// Output: -1.000 dB
}

func ExampleTF2ZPK() {
	f := signal.TF2ZPK(weft.From([]float64{2, 1}), weft.From([]float64{1, -0.25}))
	fmt.Printf("%.2f %.2f %v\n", f.Z, f.P, f.K)
	// Output: [(-0.50+0.00i)] [(0.25+0.00i)] 2
}

func ExampleTF2SOS() {
	fmt.Println(signal.TF2SOS(weft.From([]float64{2, 1}), weft.From([]float64{1, -0.25})))
	// Output: [[ 2.    1.    0.    1.   -0.25  0.  ]]
}

func ExampleSOS2TF() {
	b, a := signal.SOS2TF(weft.From([][]float64{{1, 2, 0, 1, 0.5, 0}, {1, 0, 0, 1, 0.25, 0}}))
	fmt.Println(b, a)
	// Output: [1. 2. 0. 0. 0.] [1.    0.75  0.125 0.    0.   ]
}

func ExampleUpFirDn() {
	x := weft.From([]float64{1, 2, 3})
	fmt.Println(signal.UpFirDn(weft.From([]float64{1, 1}), x, signal.UpFirDnOpts{Up: new(2)})) // each sample twice
	// Output: [1. 1. 2. 2. 3. 3.]
}

func ExampleResamplePoly() {
	x := weft.ArangeOf[int](weft.Float64, 441).Mul(0.02).Sin()
	fmt.Println(signal.ResamplePoly(x, 160, 147).Shape()) // from 44.1 to 48 kHz
	// Output: [480]
}

func ExampleDecimate() {
	x := weft.OnesOf(weft.Float64, 100)
	fmt.Printf("%.2f\n", weft.Data[float64](signal.Decimate(x, 25).Contiguous())) // the filter of order 8 loses 0.05 dB, twice
	// Output: [0.99 0.99 0.99 0.99]
}

func ExampleMedFilt() {
	fmt.Println(signal.MedFilt(weft.From([]float64{1, 9, 2, 3, 4}), 3))
	// Output: [1. 2. 3. 3. 3.]
}

func ExampleMedFilt2D() {
	x := weft.Ones(3, 3).Add(weft.From([][]float32{{0, 0, 0}, {0, 8, 0}, {0, 0, 0}}))
	fmt.Println(weft.At[float32](signal.MedFilt2D(x, 3), 1, 1))
	// Output: 1
}

func ExampleEllip() {
	f := signal.Ellip(4, 1, 60, []float64{0.3})
	_, h := signal.SOSFreqZ(f.SOS(), signal.FreqZOpts{W: weft.From([]float64{0, 0.3, 0.7}), FS: new(2.0)})
	fmt.Printf("%.1f dB\n", weft.Data[float64](h.Abs().Log10().Mul(20).Contiguous()))
	// Output: [-1.0 -1.0 -60.9] dB
}

func ExampleBessel() {
	f := signal.Bessel(3, []float64{100}, signal.BesselOpts{FS: new(1000.0), Norm: signal.MagNorm})
	_, h := signal.SOSFreqZ(f.SOS(), signal.FreqZOpts{W: weft.From([]float64{100}), FS: new(1000.0)})
	fmt.Printf("%.3f\n", h.Abs().Item())
	// Output: 0.707
}

func ExampleButtOrd() {
	n, wn := signal.ButtOrd([]float64{40}, []float64{150}, 3, 60, signal.OrdOpts{FS: new(1000.0)})
	fmt.Printf("%d %.2f\n", n, wn)
	// Output: 5 [40.02]
}

func ExampleCheb1Ord() {
	fmt.Println(signal.Cheb1Ord([]float64{0.2}, []float64{0.3}, 3, 40))
	// Output: 6 [0.2]
}

func ExampleCheb2Ord() {
	n, wn := signal.Cheb2Ord([]float64{0.2}, []float64{0.3}, 3, 40)
	fmt.Printf("%d %.3f\n", n, wn)
	// Output: 6 [0.275]
}

func ExampleEllipOrd() {
	fmt.Println(signal.EllipOrd([]float64{0.2}, []float64{0.3}, 3, 40))
	// Output: 4 [0.2]
}

func ExampleChirp() {
	t := weft.From([]float64{0, 0.5, 1})
	fmt.Printf("%.2f\n", weft.Data[float64](signal.Chirp(t, 1, 1, 3).Contiguous()))
	// Output: [1.00 -0.00 1.00]
}

func ExampleSawtooth() {
	t := weft.From([]float64{0, 0.5, 1, 1.5, 2}).Mul(math.Pi)
	fmt.Println(signal.Sawtooth(t), signal.Sawtooth(t, signal.SawtoothOpts{Width: weft.From(0.5)}))
	// Output: [-1.  -0.5  0.   0.5 -1. ] [-1.  0.  1.  0. -1.]
}

func ExampleSquare() {
	t := weft.From([]float64{0, 0.5, 1, 1.5, 2}).Mul(math.Pi)
	fmt.Println(signal.Square(t), signal.Square(t, signal.SquareOpts{Duty: weft.From(0.7)}))
	// Output: [ 1.  1. -1. -1.  1.] [ 1.  1.  1. -1.  1.]
}

func ExampleGaussPulse() {
	_, _, envelope := signal.GaussPulse(weft.From([]float64{-0.001, 0, 0.001}))
	fmt.Printf("%.3f\n", weft.Data[float64](envelope.Contiguous()))
	// Output: [0.409 1.000 0.409]
}

func ExampleUnitImpulse() {
	fmt.Println(signal.UnitImpulse([]int{5}, signal.UnitImpulseOpts{Middle: true}))
	// Output: [0. 0. 1. 0. 0.]
}

func ExampleWiener() {
	x := weft.From([]float64{0, 1, 0, 1, 10, 11, 10, 11})
	fmt.Printf("%.1f\n", weft.Data[float64](signal.Wiener(x, signal.WienerOpts{Noise: new(0.5)}).Contiguous()))
	// Output: [0.3 0.3 0.7 1.1 9.9 10.3 10.7 10.9]
}

func ExampleIIRNotch() {
	b, a := signal.IIRNotch(50, 30, signal.NotchOpts{FS: new(1000.0)}) // removes hum of 50 Hz
	_, h := signal.FreqZ(b, a, signal.FreqZOpts{W: weft.From([]float64{40, 50, 60}), FS: new(1000.0)})
	fmt.Printf("%.3f\n", weft.Data[float64](h.Abs()))
	// Output: [0.997 0.000 0.996]
}

func ExampleIIRPeak() {
	b, a := signal.IIRPeak(50, 30, signal.NotchOpts{FS: new(1000.0)})
	_, h := signal.FreqZ(b, a, signal.FreqZOpts{W: weft.From([]float64{40, 50, 60}), FS: new(1000.0)})
	fmt.Printf("%.3f\n", weft.Data[float64](h.Abs()))
	// Output: [0.074 1.000 0.090]
}

func ExampleIIRComb() {
	b, a := signal.IIRComb(250, 20, signal.CombOpts{FS: new(1000.0)}) // removes 0, 250 and 500 Hz
	fmt.Printf("%.4f %.4f\n", weft.Data[float64](b), weft.Data[float64](a))
	// Output: [0.9270 0.0000 0.0000 0.0000 -0.9270] [1.0000 0.0000 0.0000 0.0000 -0.8541]
}

func ExampleGroupDelay() {
	b := signal.FirWin(21, []float64{0.3}) // symmetric: all frequencies are delayed by 10 samples
	w, gd := signal.GroupDelay(b, weft.From([]float64{1}), signal.FreqZOpts{N: new(3), FS: new(2.0)})
	fmt.Printf("%.3f %.3f\n", weft.Data[float64](w), weft.Data[float64](gd))
	// Output: [0.000 0.333 0.667] [10.000 10.000 10.000]
}
