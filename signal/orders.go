package signal

import (
	"math"

	"weft/internal/array"
)

// OrdOpts are the options of [ButtOrd], [Cheb1Ord], [Cheb2Ord] and [EllipOrd].
type OrdOpts struct {
	FS *float64 // sampling rate, the unit of frequencies; nil means 2, so that they are parts of half of it
}

// ButtOrd returns the least order n of a Butterworth filter that loses at most gpass decibels in the passband and at
// least gstop in the stopband, and the critical frequencies wn for [Butter]. wp and ws are the edges of passband and
// stopband, one frequency each, or two for bands. The filter is a low pass where wp is below ws, else a high pass; of
// two frequencies a band pass where ws surrounds wp, else a band stop.
//
// It panics with *[weft.Error] for frequencies that do not ascend between 0 and half of the sampling rate, bands where
// neither surrounds the other, and losses that are not 0 < gpass < gstop.
func ButtOrd(wp, ws []float64, gpass, gstop float64, opts ...OrdOpts) (n int, wn []float64) {
	e := newEdges("signal.buttord", wp, ws, gpass, gstop, opts)
	n = e.order(func(nat float64) float64 { return ln(e.stop/e.pass) / (2 * ln(nat)) })
	w := exp(-ln(e.pass) / float64(2*n))
	return n, e.frequencies(e.critical(w))
}

// Cheb1Ord is [ButtOrd] for [Cheby1], whose frequencies are the edges of the passband. It panics as ButtOrd does.
func Cheb1Ord(wp, ws []float64, gpass, gstop float64, opts ...OrdOpts) (n int, wn []float64) {
	e := newEdges("signal.cheb1ord", wp, ws, gpass, gstop, opts)
	n = e.order(e.chebyshev)
	return n, e.frequencies(e.wp)
}

// Cheb2Ord is [ButtOrd] for [Cheby2], whose frequencies are the edges of the stopband. It panics as ButtOrd does.
func Cheb2Ord(wp, ws []float64, gpass, gstop float64, opts ...OrdOpts) (n int, wn []float64) {
	e := newEdges("signal.cheb2ord", wp, ws, gpass, gstop, opts)
	n = e.order(e.chebyshev)
	_, c := sinhcosh(acosh(math.Sqrt(e.stop/e.pass)) / float64(n))
	return n, e.frequencies(e.critical(c))
}

// EllipOrd is [ButtOrd] for [Ellip], whose frequencies are the edges of the passband. It panics as ButtOrd does.
func EllipOrd(wp, ws []float64, gpass, gstop float64, opts ...OrdOpts) (n int, wn []float64) {
	e := newEdges("signal.ellipord", wp, ws, gpass, gstop, opts)
	k1, k1c := math.Sqrt(e.pass/e.stop), math.Sqrt(excess(gpass, gstop)/e.stop)
	n = e.order(func(nat float64) float64 {
		k, kc := 1/nat, math.Sqrt(float64((nat-1)*(nat+1)))/nat
		return agm(1, k) * agm(1, k1c) / (agm(1, kc) * agm(1, k1))
	})
	return n, e.frequencies(e.wp)
}

// edges are the edges of bands as analog frequencies, and losses as ratios of power less 1.
type edges struct {
	name       string
	kind       BType
	wp, ws     []float64
	pass, stop float64
	fs         float64
}

func newEdges(name string, wp, ws []float64, gpass, gstop float64, opts []OrdOpts) *edges {
	defer array.Named(name).End()
	o := array.Options(name, opts)
	checkLosses(name, "gpass", "gstop", gpass, gstop)
	if len(ws) != len(wp) {
		array.Failf(name, "ws", "has %s, wp %d", array.Count(len(ws), "number"), len(wp))
	}
	e := &edges{name: name, pass: expm1(0.1 * gpass * math.Ln10), stop: expm1(0.1 * gstop * math.Ln10), fs: array.Or(o.FS, 2)}
	analog := func(arg string, w []float64) (out []float64) {
		if len(w) != 1 && len(w) != 2 {
			array.Failf(name, arg, "has %s, want one or two", array.Count(len(w), "number"))
		}
		checkRate(name, e.fs)
		checkAscending(name, arg, w, e.fs)
		for _, x := range w {
			s, c := sincos(math.Pi * x / e.fs)
			out = append(out, s/c)
		}
		return out
	}
	e.wp, e.ws = analog("wp", wp), analog("ws", ws)
	lower := wp[0] < ws[0]
	switch {
	case len(wp) == 1 && lower:
		e.kind = LowPass
	case len(wp) == 1:
		e.kind = HighPass
	case lower && ws[1] < wp[1]:
		e.kind = BandStop
	case ws[0] < wp[0] && wp[1] < ws[1]:
		e.kind = BandPass
	}
	if wp[0] == ws[0] || e.kind == "" {
		array.Failf(name, "ws", "is %v for wp %v, want one band inside the other", ws, wp)
	}
	return e
}

// natural is the edge of the stopband of a low pass whose passband ends at 1, for edges wp of the passband.
func (e *edges) natural(wp []float64) float64 {
	nat := math.Inf(1)
	for _, s := range e.ws {
		switch e.kind {
		case LowPass:
			nat = s / wp[0]
		case HighPass:
			nat = wp[0] / s
		default:
			r := (float64(s*s) - float64(wp[0]*wp[1])) / (s * (wp[0] - wp[1]))
			if e.kind == BandStop {
				r = 1 / r
			}
			nat = min(nat, math.Abs(r))
		}
	}
	return nat
}

// order returns the order for a measure of the natural frequency. The edges of a band stop's passband move toward its
// stopband, to where the measure is least: first the lower one, then the upper one.
func (e *edges) order(measure func(nat float64) float64) int {
	if e.kind == BandStop {
		for i := range 2 {
			e.wp[i] = least(e.wp[i], e.ws[i], func(w float64) float64 {
				moved := []float64{e.wp[0], e.wp[1]}
				moved[i] = w
				return measure(e.natural(moved))
			})
		}
	}
	n := math.Ceil(measure(e.natural(e.wp)))
	if !(n < 1<<20) {
		array.Failf(e.name, "ws", "is so near to wp that the order is above 2^20")
	}
	return max(int(n), 1)
}

func (e *edges) chebyshev(nat float64) float64 {
	return acosh(math.Sqrt(e.stop/e.pass)) / acosh(nat)
}

// critical is the edges of the passband where that of the low pass of the natural frequency is w.
func (e *edges) critical(w float64) []float64 {
	switch p := e.wp; e.kind {
	case LowPass:
		return []float64{p[0] * w}
	case HighPass:
		return []float64{p[0] / w}
	case BandStop:
		return around(float64(p[0]*p[1]), (p[1]-p[0])/w)
	default:
		return around(float64(p[0]*p[1]), (p[1]-p[0])*w)
	}
}

// around is the two frequencies that differ by width and have a product.
func around(product, width float64) []float64 {
	high := width/2 + math.Sqrt(float64(width*width)/4+product)
	return []float64{product / high, high}
}

// frequencies turns analog frequencies into digital ones.
func (e *edges) frequencies(w []float64) []float64 {
	out := make([]float64, len(w))
	for i, x := range w {
		out[i] = atan(x) / math.Pi * e.fs
	}
	return out
}

// least is where f is least between two numbers, by golden section.
func least(a, b float64, f func(x float64) float64) float64 {
	const part = 0.6180339887498949
	x, y := b-part*(b-a), a+part*(b-a)
	fx, fy := f(x), f(y)
	for range 80 {
		if fx < fy {
			b, y, fy = y, x, fx
			x = b - part*(b-a)
			fx = f(x)
		} else {
			a, x, fx = x, y, fy
			y = a + part*(b-a)
			fy = f(y)
		}
	}
	return (a + b) / 2
}
