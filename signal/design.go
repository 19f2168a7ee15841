package signal

import (
	"math"

	"weft/internal/array"
)

// A BType says which frequencies a filter passes.
type BType string

const (
	LowPass  BType = "lowpass"
	HighPass BType = "highpass"
	BandPass BType = "bandpass"
	BandStop BType = "bandstop"
)

// IIROpts are the options of designs.
type IIROpts struct {
	BType BType    // empty means LowPass, or BandPass for two frequencies
	FS    *float64 // sampling rate, the unit of frequencies; nil means 2, so that they are parts of half of it
}

// A ZPK is a digital filter as the zeros and poles of its transfer function, and its gain.
type ZPK struct {
	Z, P []complex128
	K    float64
}

// Butter designs a Butterworth filter of order n with the critical frequencies wn, one or, for bands, two,
// where the gain is 1/sqrt(2). The order of bands is 2*n. Frequencies are parts of half of the sampling rate
// unless IIROpts.FS gives the rate. [ZPK.SOS] makes sections for [SOSFiltFilt], [ZPK.TF] coefficients for [FiltFilt].
//
// It panics with *[weft.Error] for orders that are
// not 1 to 500, and frequencies that do not ascend between 0 and half of the sampling rate.
func Butter(n int, wn []float64, opts ...IIROpts) ZPK {
	const name = "signal.butter"
	o := checkDesign(name, n, wn, opts)
	p := make([]complex128, n)
	for i := range p {
		im, re := sincos(math.Pi * float64(2*i+1-n) / float64(2*n))
		p[i] = complex(-re, -im)
	}
	return digital(ZPK{P: p, K: 1}, wn, o)
}

// Cheby1 designs a Chebyshev filter of type I: rp is the greatest loss in the passband, in decibels, and wn
// the frequencies where the loss first exceeds it. It panics as [Butter] does, and for losses that are not
// positive.
func Cheby1(n int, rp float64, wn []float64, opts ...IIROpts) ZPK {
	const name = "signal.cheby1"
	o := checkDesign(name, n, wn, opts)
	checkLoss(name, "rp", rp)
	eps := math.Sqrt(expm1(0.1 * rp * math.Ln10))
	mu := asinh(1/eps) / float64(n)
	f := ZPK{K: 1}
	sh, ch := sinhcosh(mu)
	for i := range n {
		s, c := sincos(math.Pi * float64(2*i+1-n) / float64(2*n))
		f.P = append(f.P, complex(-sh*c, -ch*s))
	}
	f.K = real(negated(f.P))
	if n%2 == 0 {
		f.K /= math.Sqrt(1 + float64(eps*eps))
	}
	return digital(f, wn, o)
}

// Cheby2 designs a Chebyshev filter of type II: rs is the least loss in the stopband, in decibels, and wn
// the frequencies where the loss first reaches it. It panics as [Cheby1] does.
func Cheby2(n int, rs float64, wn []float64, opts ...IIROpts) ZPK {
	const name = "signal.cheby2"
	o := checkDesign(name, n, wn, opts)
	checkLoss(name, "rs", rs)
	mu := asinh(math.Sqrt(expm1(0.1*rs*math.Ln10))) / float64(n)
	var f ZPK
	sh, ch := sinhcosh(mu)
	for i := range n {
		m := 2*i + 1 - n
		s, c := sincos(math.Pi * float64(m) / float64(2*n))
		if m != 0 {
			f.Z = append(f.Z, complex(0, 1/s))
		}
		f.P = append(f.P, divide(1, complex(-sh*c, -ch*s)))
	}
	f.K = real(divide(negated(f.P), negated(f.Z)))
	return digital(f, wn, o)
}

// negated is the product of -x.
func negated(x []complex128) complex128 {
	y := complex(1, 0)
	for _, v := range x {
		y = multiply(y, -v)
	}
	return y
}

func checkLoss(name, arg string, x float64) {
	if !(x > 0) || x > 1000 {
		array.Failf(name, arg, "is %v, want a loss in decibels above 0, at most 1000", x)
	}
}

// checkDesign refuses orders and frequencies out of range.
func checkDesign(name string, n int, wn []float64, opts []IIROpts) IIROpts {
	o := array.Options(name, opts)
	if n < 1 || n > 500 {
		array.Failf(name, "n", "is %d, want an order of 1 to 500", n)
	}
	return checkBand(name, wn, o)
}

// checkBand refuses frequencies out of range, and says which band they mean.
func checkBand(name string, wn []float64, o IIROpts) IIROpts {
	band := o.BType == BandPass || o.BType == BandStop
	switch o.BType {
	case "":
		o.BType = LowPass
		if len(wn) == 2 {
			o.BType, band = BandPass, true
		}
	case LowPass, HighPass, BandPass, BandStop:
	default:
		array.Failf(name, "BType", "is %q, want lowpass, highpass, bandpass or bandstop", string(o.BType))
	}
	if want := 1 + one(band); len(wn) != want {
		array.Failf(name, "wn", "has %s, want %d for %s", array.Count(len(wn), "number"), want, string(o.BType))
	}
	fs := array.Or(o.FS, 2)
	checkRate(name, fs)
	checkAscending(name, "wn", wn, fs)
	return o
}

// checkRate refuses sampling rates that are not positive.
func checkRate(name string, fs float64) {
	if !(fs > 0) || fs > math.MaxFloat64 {
		array.Failf(name, "FS", "is %v, want a positive sampling rate", fs)
	}
}

// checkAscending refuses frequencies that do not ascend between 0 and half of the sampling rate.
func checkAscending(name, arg string, wn []float64, fs float64) {
	before := 0.0
	for _, w := range wn {
		if !(w > before && w < fs/2) {
			array.Failf(name, arg, "has %v, want ascending frequencies between 0 and %v, half of the sampling rate FS", w, fs/2)
		}
		before = w
	}
}

// digital transforms an analog prototype with cutoff 1 to the band of a digital filter, by the bilinear
// transform at sampling rate 2. Source: Oppenheim and Schafer, "Discrete-Time Signal Processing", 3rd
// edition, chapter 7.
func digital(f ZPK, wn []float64, o IIROpts) ZPK {
	w := make([]float64, len(wn))
	for i, x := range wn {
		s, c := sincos(math.Pi * x / array.Or(o.FS, 2))
		w[i] = 4 * s / c
	}
	degree := len(f.P) - len(f.Z)
	switch o.BType {
	case LowPass:
		f = ZPK{scaled(f.Z, w[0]), scaled(f.P, w[0]), f.K * power(w[0], degree)}
	case HighPass:
		k := f.K * real(divide(negated(f.Z), negated(f.P)))
		f = ZPK{append(inverted(f.Z, w[0]), make([]complex128, degree)...), inverted(f.P, w[0]), k}
	case BandPass:
		bw, wo := w[1]-w[0], math.Sqrt(w[0]*w[1])
		f = ZPK{append(split(scaled(f.Z, bw/2), wo), make([]complex128, degree)...), split(scaled(f.P, bw/2), wo), f.K * power(bw, degree)}
	case BandStop:
		bw, wo := w[1]-w[0], math.Sqrt(w[0]*w[1])
		k := f.K * real(divide(negated(f.Z), negated(f.P)))
		f = ZPK{split(inverted(f.Z, bw/2), wo), split(inverted(f.P, bw/2), wo), k}
		for range degree {
			f.Z = append(f.Z, complex(0, wo), complex(0, -wo))
		}
	}
	gain := complex(1, 0)
	turn := func(x []complex128, count int) []complex128 {
		y := make([]complex128, 0, count)
		for _, v := range x {
			y = append(y, divide(4+v, 4-v))
		}
		for len(y) < count {
			y = append(y, -1)
		}
		return y
	}
	for i, p := range f.P {
		if i < len(f.Z) {
			gain = multiply(gain, 4-f.Z[i])
		}
		gain = divide(gain, 4-p)
	}
	return ZPK{turn(f.Z, len(f.P)), turn(f.P, len(f.P)), f.K * real(gain)}
}

func scaled(x []complex128, by float64) []complex128 {
	y := make([]complex128, len(x))
	for i, v := range x {
		y[i] = complex(real(v)*by, imag(v)*by)
	}
	return y
}

// inverted is by/x.
func inverted(x []complex128, by float64) []complex128 {
	y := make([]complex128, len(x))
	for i, v := range x {
		y[i] = divide(complex(by, 0), v)
	}
	return y
}

// split is the two frequencies around wo for each of x.
func split(x []complex128, wo float64) []complex128 {
	var low, high []complex128
	for _, v := range x {
		s := root(multiply(v, v) - complex(float64(wo*wo), 0))
		low, high = append(low, v+s), append(high, v-s)
	}
	return append(low, high...)
}
