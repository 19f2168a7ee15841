package signal

import (
	"weft"
	"weft/fft"
	"weft/internal/array"
)

// SpectrumOpts are the options of [Welch], [Periodogram], [CSD], [Coherence] and [Spectrogram]. Segments run along
// the last axis.
type SpectrumOpts struct {
	FS *float64 // sampling rate; nil means 1
	// Window is a name of [GetWindow]. Empty means "hann", "boxcar" in Periodogram, and in Spectrogram "tukey" with
	// an Alpha of 0.25.
	Window     string
	WindowOpts WindowOpts // parameters of Window
	NPerSeg    int        // samples of a segment, at most all of them; 0 means 256. Periodogram ignores it
	NOverlap   *int       // samples that segments share; nil means half, and an eighth in Spectrogram. Periodogram ignores it
	Detrend    string     // what is taken from each segment: "constant", the default, its mean; "none"
	Scaling    string     // "density", the default, or "spectrum"
}

// segmented is a plan for spectra of segments.
type segmented struct {
	SpectrumOpts
	n, step int
	fs      float64
	window  *weft.Tensor
}

func segmentsOf(name string, x *weft.Tensor, o SpectrumOpts) segmented {
	s := segmented{SpectrumOpts: o, n: o.NPerSeg, fs: array.Or(o.FS, 1)}
	size := x.Dim(-1)
	if s.n == 0 {
		s.n = 256
	}
	s.n = min(s.n, size)
	if s.n < 1 {
		array.Failf(name, "NPerSeg", "is %d for %s, want 1 or more", o.NPerSeg, array.Count(size, "sample"))
	}
	overlap := array.Or(o.NOverlap, s.n/2)
	if overlap < 0 || overlap >= s.n {
		array.Failf(name, "NOverlap", "is %d, want 0 to %d", overlap, s.n-1)
	}
	s.step = s.n - overlap
	if !(s.fs > 0) || s.fs-s.fs != 0 {
		array.Failf(name, "FS", "is %v, want a positive sampling rate", s.fs)
	}
	switch o.Detrend {
	case "", "constant", "none":
	default:
		array.Failf(name, "Detrend", "is %q, want constant or none", o.Detrend)
	}
	switch o.Scaling {
	case "", "density", "spectrum":
	default:
		array.Failf(name, "Scaling", "is %q, want density or spectrum", o.Scaling)
	}
	if s.Window == "" {
		s.Window = "hann"
	}
	s.window = windowSamples(name, "Window", s.Window, s.n, o.WindowOpts)
	return s
}

// frequencies returns the frequencies of the results: [n/2+1], float64, on the device of the signal.
func (s *segmented) frequencies(x *weft.Tensor) *weft.Tensor {
	return fft.RFFTFreq(s.n, fft.FreqOpts{Spacing: new(1 / s.fs)}).On(x.Device())
}

// transform is the transforms of segments: [... segments n/2+1].
func (s *segmented) transform(x *weft.Tensor) *weft.Tensor {
	last := x.Rank() - 1
	count := (x.Dim(-1)-s.n)/s.step + 1
	var rows []*weft.Tensor
	for i := range count {
		rows = append(rows, part(x, last, i*s.step, i*s.step+s.n))
	}
	y := weft.Stack(rows, last)
	if s.Detrend != "none" {
		y = y.Sub(y.Mean(-1).Unsqueeze(-1))
	}
	return fft.RFFT(y.Mul(s.window.To(x.DType()).On(x.Device())))
}

// power is the product of one transform with the conjugate of another, scaled, for one side.
func (s *segmented) power(x, y *weft.Tensor) *weft.Tensor {
	twice := make([]float64, s.n/2+1)
	for i := range twice {
		twice[i] = 2
	}
	twice[0] = 1
	if s.n%2 == 0 {
		twice[s.n/2] = 1
	}
	by := s.window.Square().Sum().Mul(s.fs)
	if s.Scaling == "spectrum" {
		by = s.window.Sum().Square()
	}
	factor := weft.FromSlice(twice, len(twice)).Div(by).On(x.Device())
	if x == y {
		re, im := x.Real(), x.Imag()
		return re.Square().Add(im.Square()).Mul(factor.To(re.DType()))
	}
	return x.Conj().Mul(y).Mul(factor.To(x.DType()))
}

// spectrumArg returns an argument as real numbers with samples.
func spectrumArg(name, arg string, x *weft.Tensor) *weft.Tensor {
	x, _ = signalOf(name, arg, x, nil)
	if x.DType().Complex() {
		array.Failf(name, arg, "has elements of type %s, want real numbers", x.DType())
	}
	return x
}

// Welch returns frequencies, [k], and the estimate of the power spectral density of real signals,
// [... samples]: [... k], the mean of the [Periodogram] of windowed segments that overlap. It panics with
// *[weft.Error] for options out of range and complex numbers.
func Welch(x *weft.Tensor, opts ...SpectrumOpts) (f, p *weft.Tensor) {
	const name = "signal.welch"
	defer array.Named(name).End()
	x = spectrumArg(name, "x", x)
	s := segmentsOf(name, x, array.Options(name, opts))
	z := s.transform(x)
	return s.frequencies(x), s.power(z, z).Mean(-2)
}

// Periodogram returns frequencies, [k], and the power spectral density of real signals, [... samples], as
// one segment: [... k]. It panics as [Welch] does.
func Periodogram(x *weft.Tensor, opts ...SpectrumOpts) (f, p *weft.Tensor) {
	const name = "signal.periodogram"
	defer array.Named(name).End()
	x = spectrumArg(name, "x", x)
	o := array.Options(name, opts)
	if o.Window == "" {
		o.Window = "boxcar"
	}
	o.NPerSeg, o.NOverlap = x.Dim(-1), nil
	s := segmentsOf(name, x, o)
	z := s.transform(x)
	return s.frequencies(x), s.power(z, z).Squeeze(-2)
}

// CSD returns frequencies and the cross spectral density of two real signals of one shape, by the method
// of [Welch]: complex, [... k]. It panics as Welch does, and for different shapes.
func CSD(x, y *weft.Tensor, opts ...SpectrumOpts) (f, p *weft.Tensor) {
	const name = "signal.csd"
	defer array.Named(name).End()
	x, y = spectrumPair(name, x, y)
	s := segmentsOf(name, x, array.Options(name, opts))
	return s.frequencies(x), s.power(s.transform(x), s.transform(y)).Mean(-2)
}

// Coherence returns frequencies and |Pxy|^2/(Pxx*Pyy) of the densities of [CSD] and [Welch]: from 0 to 1,
// [... k]. It panics as CSD does.
func Coherence(x, y *weft.Tensor, opts ...SpectrumOpts) (f, c *weft.Tensor) {
	const name = "signal.coherence"
	defer array.Named(name).End()
	x, y = spectrumPair(name, x, y)
	s := segmentsOf(name, x, array.Options(name, opts))
	u, v := s.transform(x), s.transform(y)
	cross := s.power(u, v).Mean(-2)
	square := cross.Real().Square().Add(cross.Imag().Square())
	return s.frequencies(x), square.Div(s.power(u, u).Mean(-2)).Div(s.power(v, v).Mean(-2))
}

func spectrumPair(name string, x, y *weft.Tensor) (a, b *weft.Tensor) {
	c := meet(spectrumArg(name, "x", x), spectrumArg(name, "y", y))
	if !array.Equal(x.Shape(), y.Shape()) {
		array.Failf(name, "y", "has shape %s, want %s, that of x", array.ShapeString(y.Shape()), array.ShapeString(x.Shape()))
	}
	return c[0], c[1]
}

// Spectrogram returns frequencies, [k], the times of the middles of segments, [t], and the power spectral
// densities of segments of real signals, [... samples]: [... k t]. Times are float64. It panics as [Welch] does.
func Spectrogram(x *weft.Tensor, opts ...SpectrumOpts) (f, t, p *weft.Tensor) {
	const name = "signal.spectrogram"
	defer array.Named(name).End()
	x = spectrumArg(name, "x", x)
	o := array.Options(name, opts)
	if o.Window == "" {
		o.Window, o.WindowOpts.Alpha = "tukey", new(array.Or(o.WindowOpts.Alpha, 0.25))
	}
	if o.NOverlap == nil {
		n := o.NPerSeg
		if n == 0 {
			n = 256
		}
		o.NOverlap = new(min(n, x.Dim(-1)) / 8)
	}
	s := segmentsOf(name, x, o)
	z := s.transform(x)
	times := weft.ArangeOf[int](weft.Float64, z.Dim(-2)).Mul(float64(s.step)).Add(float64(s.n) / 2).Div(s.fs).On(x.Device())
	return s.frequencies(x), times, s.power(z, z).Transpose(-1, -2)
}
