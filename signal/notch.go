package signal

import (
	"math"

	"weft"
	"weft/internal/array"
)

// NotchOpts are the options of [IIRNotch] and [IIRPeak].
type NotchOpts struct {
	FS *float64 // sampling rate, the unit of frequencies; nil means 2, so that they are parts of half of it
}

// IIRNotch designs a filter of second order that removes the frequency w0 and passes all others. q is w0 divided by the
// width of the band in which the gain is below 1/sqrt(2). Coefficients b and a are for [LFilter], [3], float64.
//
// It panics with *[weft.Error] for w0 outside of 0 to half of the sampling rate, for q that is not positive, and for q
// whose band is as wide as half of the sampling rate or so narrow that rounding makes the filter unstable. Source: S. J.
// Orfanidis, "Introduction to Signal Processing", 1996, section 11.3.
func IIRNotch(w0, q float64, opts ...NotchOpts) (b, a *weft.Tensor) {
	const name = "signal.iirnotch"
	defer array.Named(name).End()
	g, c := resonance(name, w0, q, opts)
	return weft.From([]float64{g, -2 * c * g, g}), weft.From([]float64{1, -2 * g * c, float64(2*g) - 1})
}

// IIRPeak designs a filter of second order that passes the frequency w0 with gain 1 and removes 0 and half of the
// sampling rate. q is w0 divided by the width of the band in which the gain is above 1/sqrt(2). Coefficients b and a
// are for [LFilter], [3], float64. It panics as [IIRNotch] does.
func IIRPeak(w0, q float64, opts ...NotchOpts) (b, a *weft.Tensor) {
	const name = "signal.iirpeak"
	defer array.Named(name).End()
	g, c := resonance(name, w0, q, opts)
	return weft.From([]float64{1 - g, 0, g - 1}), weft.From([]float64{1, -2 * g * c, float64(2*g) - 1})
}

// resonance returns the gain and the cosine of the frequency of a resonance.
func resonance(name string, w0, q float64, opts []NotchOpts) (gain, cos float64) {
	fs := array.Or(array.Options(name, opts).FS, 2)
	checkRate(name, fs)
	checkAscending(name, "w0", []float64{w0}, fs)
	w := w0 / (fs / 2)
	beta := halfBand(name, w, q)
	_, cos = sincos(math.Pi * w)
	return 1 / (1 + beta), cos
}

// halfBand is the tangent of a quarter of a turn times w/q, w being a part of half of the sampling rate: the analog
// width of a band.
func halfBand(name string, w, q float64) float64 {
	if !(q > 0) || q > math.MaxFloat64 {
		array.Failf(name, "q", "is %v, want a positive number", q)
	}
	if !(w/q < 1) {
		array.Failf(name, "q", "is %v, want more than %v: the band would be half of the sampling rate wide", q, w)
	}
	s, c := sincos(math.Pi * (w / q) / 2)
	if s/c < 0x1p-52 {
		array.Failf(name, "q", "is %v: the band is too narrow for float64, and the filter would be unstable", q)
	}
	return s / c
}

// CombOpts are the options of [IIRComb].
type CombOpts struct {
	Peak bool // pass bands, and nothing else; else remove them
	// PassZero passes frequency 0, else that is removed. Bands are at the multiples of w0, from 0 on, where Peak and
	// PassZero are equal, and else at the odd multiples of w0/2.
	PassZero bool
	FS       *float64 // sampling rate, the unit of frequencies; nil means 2
}

// IIRComb designs a filter that removes 0, w0 and all its multiples, or passes them and nothing else. The sampling rate is a
// multiple n of w0. q is w0 divided by the width of each band, as for [IIRNotch]. Coefficients b and a are for
// [LFilter], [n+1], float64.
//
// It panics with *[weft.Error] for w0 outside of 0 to half of the sampling rate or without a whole multiple that is the
// sampling rate, for rates above 2^24*w0, and for q as [IIRNotch] does. Source: S. J. Orfanidis, "Introduction to Signal
// Processing", 1996, section 11.5.
func IIRComb(w0, q float64, opts ...CombOpts) (b, a *weft.Tensor) {
	const name = "signal.iircomb"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	fs := array.Or(o.FS, 2)
	checkRate(name, fs)
	checkAscending(name, "w0", []float64{w0}, fs)
	n := math.RoundToEven(fs / w0)
	if n > 1<<24 {
		array.Failf(name, "w0", "is %v, want at least FS/2^24, which is %v", w0, fs/(1<<24))
	}
	if math.Abs(w0-fs/n)/fs > 1e-14 {
		array.Failf(name, "w0", "is %v, want a frequency that divides the sampling rate FS, %v", w0, fs)
	}
	beta := halfBand(name, 1, q)
	first, last := 1/(1+beta), 1/(1+beta)
	if o.Peak {
		first, last = beta/(1+beta), -beta/(1+beta)
	}
	feedback := (1 - beta) / (1 + beta)
	if o.Peak == o.PassZero {
		last, feedback = -last, -feedback
	}
	cb, ca := make([]float64, int(n)+1), make([]float64, int(n)+1)
	cb[0], cb[int(n)] = first, last
	ca[0], ca[int(n)] = 1, feedback
	return weft.From(cb), weft.From(ca)
}
