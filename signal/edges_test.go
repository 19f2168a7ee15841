package signal_test

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"weft"
	"weft/signal"
)

// wave is n elements of a type: sines, and cosines as imaginary parts.
func wave(d weft.DType, n int) *weft.Tensor {
	at := weft.ArangeOf[int](weft.Float64, n).Mul(0.37)
	if d.Complex() {
		return weft.Complex(at.Sin(), at.Mul(1.3).Cos()).To(d)
	}
	return at.Sin().To(d)
}

// TestConvolutionMethods compares both methods with sums of complex128 on both sides of the sizes where the
// choice changes.
func TestConvolutionMethods(t *testing.T) {
	for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.Complex64, weft.Complex128} {
		for _, m := range []int{1, 9, 300, 1000} {
			a, b := wave(d, 1100), wave(d, m)
			x, y := elements(a), elements(b)
			want := make([]complex128, len(x)+m-1)
			for i := range x {
				for k := range y {
					want[i+k] += x[i] * y[k]
				}
			}
			tol := 1e-13
			if d == weft.Float32 || d == weft.Complex64 {
				tol = 2e-6
			}
			exact := encoded{Shape: []int{len(want)}}
			for _, v := range want {
				exact.C = append(exact.C, real(v), imag(v))
			}
			for _, method := range []signal.Method{signal.Direct, signal.FFT, signal.Auto} {
				got := signal.Convolve(a, b, signal.ConvolveOpts{Method: method})
				if got.DType() != d {
					t.Errorf("%s of %s gives %s", method, d, got.DType())
				}
				compare(t, string(method)+" of "+d.String(), []*weft.Tensor{got}, []encoded{exact}, tol)
			}
		}
	}
}

// TestMistakesAreTyped holds errors to the argument that they name.
func TestMistakesAreTyped(t *testing.T) {
	x, none := wave(weft.Float64, 9), weft.Zeros(0)
	for name, c := range map[string]struct {
		arg string
		f   func()
	}{
		"method":     {"Method", func() { signal.Convolve(x, x, signal.ConvolveOpts{Method: "sums"}) }},
		"mode":       {"Mode", func() { signal.Correlate(x, x, signal.ConvolveOpts{Mode: "most"}) }},
		"valid rows": {"Mode", func() { signal.Convolve2D(weft.Ones(2, 5), weft.Ones(3, 4), signal.ConvolveOpts{Mode: signal.Valid}) }},
		"valid lags": {"Mode", func() { signal.Correlate2D(weft.Ones(2, 5), weft.Ones(3, 4), signal.ConvolveOpts{Mode: signal.Valid}) }},
		"valid boxes": {"Mode", func() {
			signal.FFTConvolve(weft.Ones(2, 5, 1), weft.Ones(2, 4, 2), signal.ConvolveOpts{Mode: signal.Valid})
		}},
		"empty":         {"b", func() { signal.Convolve(x, none) }},
		"matrix":        {"a", func() { signal.Convolve(x.Reshape(3, 3), x) }},
		"order":         {"n", func() { signal.Butter(0, []float64{0.2}) }},
		"frequency":     {"wn", func() { signal.Butter(2, []float64{math.NaN()}) }},
		"window":        {"window", func() { signal.GetWindow("curtain", 4) }},
		"std":           {"Std", func() { signal.GetWindow("gaussian", 4, signal.WindowOpts{Std: new(-1.0)}) }},
		"even window":   {"window", func() { signal.SavgolFilter(x, 4, 2) }},
		"empty spectra": {"NPerSeg", func() { signal.Welch(none) }},
		"times":         {"y", func() { signal.LombScargle(weft.Ones(3), x, x) }},
		"no times":      {"x", func() { signal.LombScargle(none, none, x) }},
		"normalize":     {"Normalize", func() { signal.LombScargle(x, x, x, signal.LombScargleOpts{Normalize: "no"}) }},
		"lomb weights":  {"Weights", func() { signal.LombScargle(x, x, x, signal.LombScargleOpts{Weights: none}) }},
		"overlap":       {"NOverlap", func() { signal.Welch(x, signal.SpectrumOpts{NOverlap: new(9)}) }},
		"short window":  {"Window", func() { signal.Welch(x, signal.SpectrumOpts{Window: "curtain", NPerSeg: 1}) }},
		"short kaiser":  {"Beta", func() { signal.GetWindow("kaiser", 1) }},
		"no window":     {"Window", func() { signal.Welch(x, signal.SpectrumOpts{Window: "curtain"}) }},
		"kaiser":        {"Beta", func() { signal.Spectrogram(x, signal.SpectrumOpts{Window: "kaiser"}) }},
		"distance":      {"Distance", func() { signal.FindPeaks(x, signal.PeakOpts{Distance: math.NaN()}) }},
		"places":        {"peaks", func() { signal.PeakWidths(x, weft.From([]int64{9})) }},
		"coefficients":  {"a", func() { signal.LFilter(x, none, x) }},
		"sections":      {"sos", func() { signal.SOSFilt(weft.Ones(2, 5), x) }},
		"even taps":     {"n", func() { signal.FirWin(8, []float64{0.2}, signal.FirWinOpts{BType: signal.HighPass}) }},
		"rate":          {"Up", func() { signal.UpFirDn(x, x, signal.UpFirDnOpts{Up: new(0)}) }},
		"up":            {"up", func() { signal.ResamplePoly(x, 0, 2) }},
		"no samples":    {"x", func() { signal.ResamplePoly(none, 3, 2) }},
		"q":             {"q", func() { signal.Decimate(x, 0) }},
		"even median":   {"size", func() { signal.MedFilt(x, 4) }},
		"zero first":    {"a", func() { signal.TF2ZPK(x, weft.From([]float64{0, 1})) }},
		"NaN":           {"b", func() { signal.TF2SOS(weft.From([]float64{math.NaN()}), weft.Ones(1)) }},
		"five columns":  {"sos", func() { signal.SOS2TF(weft.Ones(2, 5)) }},
		"losses":        {"rs", func() { signal.Ellip(3, 40, 1, []float64{0.2}) }},
		"Bessel order":  {"n", func() { signal.Bessel(101, []float64{0.2}) }},
		"Bessel norm":   {"Norm", func() { signal.Bessel(2, []float64{0.2}, signal.BesselOpts{Norm: "gain"}) }},
		"same edges":    {"ws", func() { signal.ButtOrd([]float64{0.2}, []float64{0.2}, 1, 40) }},
		"crossed bands": {"ws", func() { signal.Cheb1Ord([]float64{0.2, 0.4}, []float64{0.3, 0.5}, 1, 40) }},
		"edge":          {"wp", func() { signal.Cheb2Ord([]float64{math.NaN()}, []float64{0.2}, 1, 40) }},
		"least loss":    {"gstop", func() { signal.EllipOrd([]float64{0.2}, []float64{0.3}, 40, 1) }},
		"near edges":    {"ws", func() { signal.ButtOrd([]float64{0.2}, []float64{math.Nextafter(0.2, 1)}, 1, 40) }},
		"no sweep":      {"Method", func() { signal.Chirp(x, 1, 2, 3, signal.ChirpOpts{Method: "cubic"}) }},
		"no time":       {"t1", func() { signal.Chirp(x, 1, 0, 3) }},
		"signs":         {"f1", func() { signal.Chirp(x, 1, 2, -3, signal.ChirpOpts{Method: signal.Logarithmic}) }},
		"complex times": {"t", func() { signal.Sawtooth(x.To(weft.Complex64)) }},
		"level":         {"BWR", func() { signal.GaussPulse(x, signal.GaussPulseOpts{BWR: new(0.0)}) }},
		"place":         {"At", func() { signal.UnitImpulse([]int{3}, signal.UnitImpulseOpts{At: []int{3}}) }},
		"no elements":   {"shape", func() { signal.UnitImpulse([]int{3, 0}) }},
		"window size":   {"Size", func() { signal.Wiener(x, signal.WienerOpts{Size: []int{0}}) }},
		"noise":         {"Noise", func() { signal.Wiener(x, signal.WienerOpts{Noise: new(math.NaN())}) }},
		"less noise":    {"Noise", func() { signal.Wiener(x, signal.WienerOpts{Noise: new(-1.0)}) }},
		"frequencies":   {"N", func() { signal.FreqZ(x, x, signal.FreqZOpts{N: new(0)}) }},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || e.Arg != c.arg {
			t.Errorf("%s: %v, want an error of %s", name, err, c.arg)
		}
	}
}

// TestFiltFiltExtendsInItsType filters float32 by float64 coefficients: the signal is extended, which rounds, in the type
// of the result, as SciPy does for a float64 signal.
func TestFiltFiltExtendsInItsType(t *testing.T) {
	f, x := signal.Butter(3, []float64{0.4}), wave(weft.Float32, 40)
	b, a := f.TF()
	for _, o := range []signal.FiltFiltOpts{{}, {PadType: "even"}} {
		for name, y := range map[string][2]*weft.Tensor{
			"FiltFilt":    {signal.FiltFilt(b, a, x, o), signal.FiltFilt(b, a, x.To(weft.Float64), o)},
			"SOSFiltFilt": {signal.SOSFiltFilt(f.SOS(), x, o), signal.SOSFiltFilt(f.SOS(), x.To(weft.Float64), o)},
		} {
			if weft.Digest(y[0]) != weft.Digest(y[1]) {
				t.Errorf("%s of float32 with PadType %q is %v, of its float64 %v", name, o.PadType, y[0], y[1])
			}
		}
	}
}

// TestMedFiltKeepsIntegers has elements that no float32 holds.
func TestMedFiltKeepsIntegers(t *testing.T) {
	x := weft.From([]int64{1<<40 + 5, 1<<40 + 1, 1<<40 + 3, -1 << 50, 1<<50 + 1})
	want := []int64{1<<40 + 1, 1<<40 + 3, 1<<40 + 1, 1<<40 + 3, 0} // medians of three, zeros beyond the ends
	got := signal.MedFilt(x)
	if got.DType() != weft.Int64 || !slices.Equal(weft.Data[int64](got), want) {
		t.Errorf("medians are %v, %s, want %v", got, got.DType(), want)
	}
	if m := signal.MedFilt2D(x.Reshape(1, 5), 1, 3); m.DType() != weft.Int64 || !slices.Equal(weft.Data[int64](m), want) {
		t.Errorf("medians of a matrix are %v, %s, want %v", m, m.DType(), want)
	}
}

// TestWindowsOfExtremeParameters has parameters whose formulas overflow: the values are limits.
func TestWindowsOfExtremeParameters(t *testing.T) {
	for _, c := range []struct {
		window string
		opts   signal.WindowOpts
		want   []float64
	}{
		{"tukey", signal.WindowOpts{Sym: true, Alpha: new(1e-320)}, []float64{0, 1, 1, 1, 0}},
		{"kaiser", signal.WindowOpts{Sym: true, Beta: new(1e300)}, []float64{0, 0, 1, 0, 0}},
		{"kaiser", signal.WindowOpts{Sym: true, Beta: new(-1e300)}, []float64{0, 0, 1, 0, 0}},
	} {
		if got := values(signal.GetWindow(c.window, 5, c.opts)); !slices.Equal(got, c.want) {
			t.Errorf("%s is %v, want %v", c.window, got, c.want)
		}
	}
}

// TestEmptyAndNaN filters signals without samples, batches of none, and samples that are not numbers.
func TestEmptyAndNaN(t *testing.T) {
	f := signal.Butter(4, []float64{0.2})
	b, a := f.TF()
	for _, shape := range [][]int{{0}, {3, 0}, {0, 7}} {
		x := weft.ZerosOf(weft.Float64, shape...)
		y, _ := signal.LFilter(b, a, x)
		z, _ := signal.SOSFilt(f.SOS(), x)
		if y.Size()+z.Size() != 0 || y.Rank() != len(shape) || z.Rank() != len(shape) {
			t.Errorf("%v gives %v and %v", shape, y, z)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		x := weft.FromSlice([]float64{1, 2, bad, 1, 2}, 5)
		y, _ := signal.LFilter(b, a, x)
		z, _ := signal.SOSFilt(f.SOS(), x)
		for i := range 5 {
			if finite := func(v float64) bool { return v-v == 0 }; finite(values(y)[i]) != (i < 2) || finite(values(z)[i]) != (i < 2) {
				t.Errorf("%v at 2: filters give %v and %v", bad, y, z)
			}
		}
		if p := signal.FindPeaks(x); bad != bad && p.Size() != 0 {
			t.Errorf("peaks beside NaN: %v", p)
		}
	}
}

func values(t *weft.Tensor) []float64 { return weft.Data[float64](t.Contiguous()) }

// TestSixteenGoroutines computes the same in sixteen goroutines: the bits are equal.
func TestSixteenGoroutines(t *testing.T) {
	x := wave(weft.Float64, 3000)
	run := func() string {
		f := signal.Butter(4, []float64{0.2})
		y, _ := signal.SOSFilt(f.SOS(), x)
		_, p := signal.Welch(signal.SOSFiltFilt(f.SOS(), y))
		return weft.Digest(signal.Convolve(p, x), signal.SavgolFilter(x, 7, 2))
	}
	want := run()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if got := run(); got != want {
				t.Errorf("another digest: %s, want %s", got, want)
			}
		})
	}
	all.Wait()
}

// TestVmap computes rows one by one and under Vmap.
func TestVmap(t *testing.T) {
	rows := wave(weft.Float64, 120).Reshape(3, 40)
	taps := weft.From([]float64{0.5, 0.3, 0.2})
	sos := signal.Butter(3, []float64{0.3}).SOS()
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"convolve": func(x *weft.Tensor) *weft.Tensor { return signal.Convolve(x, taps) },
		"lfilter": func(x *weft.Tensor) *weft.Tensor {
			y, _ := signal.LFilter(taps, weft.From([]float64{1, 0.5}), x)
			return y
		},
		"sosfilt": func(x *weft.Tensor) *weft.Tensor { y, _ := signal.SOSFilt(sos, x); return y },
		"savgol":  func(x *weft.Tensor) *weft.Tensor { return signal.SavgolFilter(x, 5, 2) },
		"welch": func(x *weft.Tensor) *weft.Tensor {
			_, p := signal.Welch(x, signal.SpectrumOpts{NPerSeg: 16})
			return p
		},
		"lombscargle": func(x *weft.Tensor) *weft.Tensor {
			return signal.LombScargle(weft.ArangeOf(weft.Float64, 40), x, weft.From([]float64{0.5, 1, 2}), signal.LombScargleOpts{FloatingMean: true})
		},
	} {
		got := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return f(x[0]) })(rows)
		for i := range 3 {
			want := f(rows.Slice(weft.Range(i, i+1)).Reshape(40).Contiguous())
			row := got.Slice(weft.Range(i, i+1)).Reshape(want.Shape()...)
			if row.Sub(want).Abs().Max().Item() > 1e-14 {
				t.Errorf("%s: row %d is %v, want %v", name, i, row, want)
			}
		}
	}
}

// TestWavesOfPartsOutOfRange demands NaN for a Width or Duty outside of 0 to 1, and gradients that are finite at its ends.
func TestWavesOfPartsOutOfRange(t *testing.T) {
	w := weft.From([]float64{-0.1, 1.1, math.NaN(), 0, 1})
	x := weft.OnesOf(weft.Float64, 5).RequireGrad()
	saw := signal.Sawtooth(x, signal.SawtoothOpts{Width: w})
	saw.Sum().Backward()
	for i, v := range weft.Data[float64](saw.Detach().Contiguous()) {
		if y := weft.At[float64](signal.Square(x, signal.SquareOpts{Duty: w}), i); (i < 3) != math.IsNaN(v) || (i < 3) != math.IsNaN(y) {
			t.Errorf("element %d: %v, %v", i, v, y)
		}
	}
	if g := weft.Data[float64](x.Grad().Contiguous()); math.Abs(g[3]+1/math.Pi) > 1e-15 || math.Abs(g[4]-1/math.Pi) > 1e-15 {
		t.Errorf("gradients %v", g)
	}
}

// TestLongBesselFilters compares the analog delay norm with its definition: a delay of 1 at low frequencies, which is the
// sum of -real(p)/|p|^2 of the poles. Poles of high orders lose all digits in plain float64 arithmetic.
func TestLongBesselFilters(t *testing.T) {
	for _, n := range []int{20, 33, 50} {
		delay := 0.0
		for _, p := range signal.Bessel(n, []float64{1e-3}, signal.BesselOpts{Norm: signal.DelayNorm}).P {
			s := 4 * (p - 1) / (p + 1)
			delay -= real(s) / (real(s)*real(s) + imag(s)*imag(s))
		}
		if want := 1 / (4 * math.Tan(math.Pi*1e-3/2)); math.Abs(delay-want) > 1e-9*want {
			t.Errorf("order %d: delay %v, want %v", n, delay, want)
		}
	}
}

// TestLombScargleInBlocks compares frequencies of two blocks of angles with each alone.
func TestLombScargleInBlocks(t *testing.T) {
	x := weft.ArangeOf(weft.Float64, 1<<16).Mul(0.37)
	y, freqs := x.Mul(0.9).Sin(), weft.ArangeOf(weft.Float64, 20).Add(1).Mul(0.05)
	p := signal.LombScargle(x, y, freqs)
	for _, k := range []int{0, 15, 16, 19} {
		alone := signal.LombScargle(x, y, freqs.Slice(weft.Range(k, k+1)))
		if got, want := p.At(k).Item(), alone.Item(); !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
			t.Errorf("frequency %d has power %v, alone %v", k, got, want)
		}
	}
}
