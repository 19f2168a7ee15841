package signal

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/ndimage"
)

// A Sweep says how the frequency of [Chirp] changes.
type Sweep string

const (
	Linear      Sweep = "linear"      // f0 + (f1-f0)*t/t1
	Quadratic   Sweep = "quadratic"   // a parabola with its vertex at 0, or at t1
	Logarithmic Sweep = "logarithmic" // f0 * (f1/f0)^(t/t1): f0 and f1 have one sign, and are not 0
	Hyperbolic  Sweep = "hyperbolic"  // f0*f1*t1 / ((f0-f1)*t + f1*t1): neither is 0
)

// ChirpOpts are the options of [Chirp].
type ChirpOpts struct {
	Method    Sweep   // empty means Linear
	Phi       float64 // phase at time 0, in degrees
	VertexEnd bool    // the vertex of Quadratic is at t1
}

// Chirp returns the cosine at times t, of any shape, whose frequency is f0 at time 0 and f1 at t1. It panics with
// *[weft.Error] for numbers that are not finite, t1 of 0, frequencies that a method excludes, and complex times.
func Chirp(t *weft.Tensor, f0, t1, f1 float64, opts ...ChirpOpts) *weft.Tensor {
	const name = "signal.chirp"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	t = times(name, t)
	finite(name, "f0", f0)
	finite(name, "t1", t1)
	finite(name, "f1", f1)
	finite(name, "Phi", o.Phi)
	if t1 == 0 {
		array.Failf(name, "t1", "is 0")
	}
	steady := func() *weft.Tensor { return t.Mul(f0) }
	var turns *weft.Tensor
	switch o.Method {
	case "", Linear:
		turns = t.Mul(t.Mul((f1 - f0) / (2 * t1)).Add(f0))
	case Quadratic:
		beta := (f1 - f0) / 3 / t1 / t1
		if o.VertexEnd {
			back := t.Mul(-1).Add(t1)
			turns = t.Mul(f1).Add(back.Mul(back).Mul(back).Sub(t1 * t1 * t1).Mul(beta))
		} else {
			turns = t.Mul(t.Mul(t).Mul(beta).Add(f0))
		}
	case Logarithmic:
		if !(f0*f1 > 0) {
			array.Failf(name, "f1", "is %v for f0 %v, want one sign and not 0 for logarithmic", f1, f0)
		}
		if turns = steady(); f0 != f1 {
			rate := ln(f1/f0) / t1
			turns = t.Mul(rate).Expm1().Mul(f0 / rate)
		}
	case Hyperbolic:
		if f0 == 0 || f1 == 0 {
			array.Failf(name, "f1", "is %v for f0 %v, want both not 0 for hyperbolic", f1, f0)
		}
		if turns = steady(); f0 != f1 {
			end := -f1 * t1 / (f0 - f1) // where the frequency is infinite
			turns = t.Mul(-1 / end).Add(1).Abs().Log().Mul(-end * f0)
		}
	default:
		array.Failf(name, "Method", "is %q, want linear, quadratic, logarithmic or hyperbolic", string(o.Method))
	}
	return turns.Mul(2 * math.Pi).Add(o.Phi * (math.Pi / 180)).Cos()
}

// times checks an argument of real times.
func times(name string, t *weft.Tensor) *weft.Tensor {
	t = numbers(name, "t", t)
	if t.DType().Complex() {
		array.Failf(name, "t", "is %s, want real numbers", t.DType())
	}
	return t
}

func finite(name, arg string, x float64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		array.Failf(name, arg, "is %v, want a finite number", x)
	}
}

// SawtoothOpts are the options of [Sawtooth].
type SawtoothOpts struct {
	Width *weft.Tensor // the rising part of a period, from 0 to 1, in any shape that broadcasts with t; nil means 1
}

// Sawtooth returns a wave of period 2*pi at times t, of any shape: it rises from -1 to 1 in the part Width of a period,
// and falls in the rest. A Width outside of 0 to 1 gives NaN. It panics with *[weft.Error] for complex numbers.
func Sawtooth(t *weft.Tensor, opts ...SawtoothOpts) *weft.Tensor {
	const name = "signal.sawtooth"
	defer array.Named(name).End()
	m, w := period(name, t, "Width", array.Options(name, opts).Width, 1)
	up := m.Div(weft.Where(w.Eq(0), 1, w).Mul(math.Pi)).Sub(1)
	down := w.Add(1).Mul(math.Pi).Sub(m).Div(weft.Where(w.Eq(1), 1, w.Mul(-1).Add(1)).Mul(math.Pi))
	return inRange(w, weft.Where(m.Lt(w.Mul(2*math.Pi)), up, down))
}

// SquareOpts are the options of [Square].
type SquareOpts struct {
	Duty *weft.Tensor // the part of a period that is 1, from 0 to 1, in any shape that broadcasts with t; nil means 0.5
}

// Square returns a wave of period 2*pi at times t, of any shape: 1 in the part Duty of a period, then -1. A Duty outside
// of 0 to 1 gives NaN. It panics with *[weft.Error] for complex numbers.
func Square(t *weft.Tensor, opts ...SquareOpts) *weft.Tensor {
	const name = "signal.square"
	defer array.Named(name).End()
	m, w := period(name, t, "Duty", array.Options(name, opts).Duty, 0.5)
	return inRange(w, weft.Where(m.Lt(w.Mul(2*math.Pi)), weft.OnesLike(m), -1))
}

// period returns times inside of a period of 2*pi, and the part of a period that an option says.
func period(name string, t *weft.Tensor, arg string, part *weft.Tensor, or float64) (m, w *weft.Tensor) {
	t = times(name, t)
	if part == nil {
		part = t.Device().FullOf(t.DType(), or)
	}
	part = numbers(name, arg, part)
	if part.DType().Complex() {
		array.Failf(name, arg, "is %s, want real numbers", part.DType())
	}
	both := meet(t, part)
	return both[0].Mod(2 * math.Pi), both[1]
}

// inRange is y where w is from 0 to 1, else NaN.
func inRange(w, y *weft.Tensor) *weft.Tensor {
	return weft.Where(w.Ge(0).LogicalAnd(w.Le(1)), y, math.NaN())
}

// GaussPulseOpts are the options of [GaussPulse].
type GaussPulseOpts struct {
	FC  *float64 // frequency of the carrier, at least 0; nil means 1000
	BW  *float64 // bandwidth as a part of FC, above 0; nil means 0.5
	BWR *float64 // the level at which it is measured, in decibels below 0; nil means -6
}

// GaussPulse returns a sine that a Gaussian modulates, at times t of any shape: the part in phase with the carrier, the
// part a quarter of a period behind it, and the envelope. It panics with *[weft.Error] for options out of range and
// complex times.
func GaussPulse(t *weft.Tensor, opts ...GaussPulseOpts) (i, q, envelope *weft.Tensor) {
	const name = "signal.gausspulse"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	t = times(name, t)
	fc, bw, bwr := array.Or(o.FC, 1000), array.Or(o.BW, 0.5), array.Or(o.BWR, -6)
	finite(name, "FC", fc)
	finite(name, "BW", bw)
	finite(name, "BWR", bwr)
	switch {
	case fc < 0:
		array.Failf(name, "FC", "is %v, want a frequency of at least 0", fc)
	case bw <= 0:
		array.Failf(name, "BW", "is %v, want a part above 0", bw)
	case bwr >= 0:
		array.Failf(name, "BWR", "is %v, want a level below 0", bwr)
	}
	half := math.Pi * fc * bw / 2
	envelope = t.Mul(t).Mul(half * half / (bwr / 20 * math.Ln10)).Exp()
	turns := t.Mul(2 * math.Pi * fc)
	return envelope.Mul(turns.Cos()), envelope.Mul(turns.Sin()), envelope
}

// UnitImpulseOpts are the options of [UnitImpulse].
type UnitImpulseOpts struct {
	At     []int      // the place of the 1: an index for each axis, or one for all; from the end if negative; nil means 0
	Middle bool       // the place is half of each axis, instead of At
	DType  weft.DType // zero means Float64
}

// UnitImpulse returns an array of zeros with a 1 at one place. It panics with *[weft.Error] for sizes below 1, and places
// outside of the array.
func UnitImpulse(shape []int, opts ...UnitImpulseOpts) *weft.Tensor {
	const name = "signal.unit_impulse"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if o.DType == 0 {
		o.DType = weft.Float64
	}
	array.CheckShape(name, shape, o.DType)
	if o.At != nil && (o.Middle || len(o.At) != 1 && len(o.At) != len(shape)) {
		array.Failf(name, "At", "has %d numbers, want one or one for each of %d axes, and no Middle", len(o.At), len(shape))
	}
	one, pads := make([]int, len(shape)), make([]int, 2*len(shape))
	for i, n := range shape {
		at := 0
		switch {
		case n < 1:
			array.Failf(name, "shape", "is %s, want sizes of at least 1", array.ShapeString(shape))
		case o.Middle:
			at = n / 2
		case o.At != nil:
			at = o.At[min(i, len(o.At)-1)]
		}
		if at < -n || at >= n {
			array.Failf(name, "At", "is %d in an axis of %d elements", at, n)
		}
		if at < 0 {
			at += n
		}
		one[i], pads[2*i], pads[2*i+1] = 1, at, n-1-at
	}
	return weft.OnesOf(o.DType, one...).Pad(0, pads...)
}

// WienerOpts are the options of [Wiener].
type WienerOpts struct {
	Size  []int    // of windows, a number for each axis or one for all; nil means 3
	Noise *float64 // its power; nil means the mean of the variances of all windows
}

// Wiener removes noise from x, of any shape: the mean of the window around each element, and what the element has beyond
// it, in the part of the window's variance that is above the noise. Zeros lie beyond the edges. Integers become
// float32. It panics with *[weft.Error] for complex numbers, sizes below 1, and noise that is negative or not finite.
func Wiener(x *weft.Tensor, opts ...WienerOpts) *weft.Tensor {
	const name = "signal.wiener"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	x = numbers(name, "x", x)
	if x.DType().Complex() {
		array.Failf(name, "x", "is %s, want real numbers", x.DType())
	}
	if o.Size == nil {
		o.Size = []int{3}
	}
	if len(o.Size) != 1 && len(o.Size) != x.Rank() {
		array.Failf(name, "Size", "has %d numbers, want one or one for each of %d axes", len(o.Size), x.Rank())
	}
	for _, n := range o.Size {
		if n < 1 {
			array.Failf(name, "Size", "is %d, want at least 1", n)
		}
	}
	mean := func(x *weft.Tensor) *weft.Tensor {
		return ndimage.UniformFilter(x, o.Size, ndimage.FilterOpts{Mode: ndimage.Constant})
	}
	m := mean(x)
	v := mean(x.Mul(x)).Sub(m.Mul(m))
	var noise *weft.Tensor
	if o.Noise == nil {
		noise = v.Mean()
	} else {
		finite(name, "Noise", *o.Noise)
		if *o.Noise < 0 {
			array.Failf(name, "Noise", "is %v, want a power of 0 or more", *o.Noise)
		}
		noise = x.Device().FullOf(x.DType(), *o.Noise)
	}
	below := v.Le(noise) // equal: 0/0 of a constant signal
	part := noise.Div(weft.Where(below, weft.OnesLike(v), v)).Mul(-1).Add(1)
	return weft.Where(below, m, x.Sub(m).Mul(part).Add(m))
}
