package plot

import (
	"fmt"
	"math"
	"strconv"
)

// An axis maps numbers in [lo, hi] to pixels in [from, to].
type axis struct {
	lo, hi   float64
	from, to float64
	log      bool
	whole    bool // ticks are integers
}

// span makes an axis that holds numbers, with room for a margin at the ends, or has limits.
func span(values []float64, log bool, limits *[2]float64, margin float64) axis {
	a := axis{lo: math.Inf(1), hi: math.Inf(-1), log: log}
	for _, v := range values {
		if finite(v) && (!log || v > 0) {
			a.lo, a.hi = min(a.lo, v), max(a.hi, v)
		}
	}
	if limits != nil && finite(limits[0]) && finite(limits[1]) && limits[0] != limits[1] && (!log || limits[0] > 0 && limits[1] > 0) {
		a.lo, a.hi = limits[0], limits[1]
		return a
	}
	switch {
	case a.lo > a.hi && log:
		a.lo, a.hi = 0.1, 1
	case a.lo > a.hi:
		a.lo, a.hi = 0, 1
	case log:
		// A flat curve gets a whole decade, so that some grid line falls into it.
		if a.hi < a.lo*2 {
			a.lo = a.hi / 10
		}
		f := math.Pow(a.hi/a.lo, margin)
		a.lo, a.hi = max(a.lo/f, math.SmallestNonzeroFloat64), min(a.hi*f, math.MaxFloat64)
	default:
		if a.lo == a.hi {
			d := max(math.Abs(a.lo)/2, 0.5)
			a.lo, a.hi = a.lo-d, a.hi+d
		}
		d := a.hi/2 - a.lo/2 // the difference may be above the greatest number
		a.lo, a.hi = max(a.lo-2*d*margin, -math.MaxFloat64), min(a.hi+2*d*margin, math.MaxFloat64)
	}
	return a
}

// at returns the pixel of a number, and NaN for a number that has none.
func (a *axis) at(v float64) float64 {
	if a.log {
		if !(v > 0) {
			return math.NaN()
		}
		return a.from + (math.Log(v)-math.Log(a.lo))/(math.Log(a.hi)-math.Log(a.lo))*(a.to-a.from)
	}
	return a.from + (v/2-a.lo/2)/(a.hi/2-a.lo/2)*(a.to-a.from)
}

// A tick is a number with a grid line.
type tick struct {
	v    float64
	text string
}

// ticks returns at most about n numbers of the axis that are easy to read.
func (a *axis) ticks(n int) []tick {
	lo, hi := min(a.lo, a.hi), max(a.lo, a.hi)
	if a.log {
		if t := decades(lo, hi, n); len(t) >= 2 {
			return t
		}
	}
	width := hi - lo
	if !finite(width) || width <= 0 || n < 1 {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(width/float64(n))))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if s := step * m; width/s <= float64(n) && (!a.whole || s == math.Floor(s)) {
			step = s
			break
		}
	}
	if a.whole {
		step = math.Ceil(step)
	}
	digits := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	if s := step * math.Pow(10, float64(digits)); math.Abs(s-math.Round(s)) > 1e-6 {
		digits++ // 2.5
	}
	far := max(math.Abs(lo), math.Abs(hi))
	var out []tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+step*1e-9 && len(out) < 100; k++ {
		v := k * step
		text := strconv.FormatFloat(v, 'f', digits, 64)
		if far >= 1e6 || far < 1e-3 {
			text = strconv.FormatFloat(v, 'g', 6, 64)
		}
		if k == 0 {
			v, text = 0, "0"
		}
		out = append(out, tick{v, text})
	}
	return out
}

// ticksIn returns ticks for a length in pixels, with about a distance between them.
func (a *axis) ticksIn(length, distance float64) []tick {
	return a.ticks(max(2, int(length/distance)))
}

// decades returns powers of ten, with 2 and 5 times them where there is room.
func decades(lo, hi float64, n int) (out []tick) {
	first, last := math.Floor(math.Log10(lo)), math.Log10(hi)
	factors, stride := []float64{1, 2, 5}, 1.0
	if span := last - first; span > 2.5 || 3*span > float64(2*n) {
		factors = factors[:1]
		stride = max(1, math.Ceil(span/float64(max(n, 1))))
	}
	for e := first; e <= last; e += stride {
		for _, m := range factors {
			// Parsed rather than computed, so that 0.001 prints as such.
			v, err := strconv.ParseFloat(fmt.Sprintf("%ge%g", m, e), 64)
			if err == nil && v >= lo && v <= hi {
				out = append(out, tick{v, strconv.FormatFloat(v, 'g', -1, 64)})
			}
		}
	}
	return out
}
