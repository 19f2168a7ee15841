package ndimage

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A Mode says what is read beyond the ends of an axis. The empty Mode is the default of each function.
type Mode string

const (
	Reflect      Mode = "reflect"       // d c b a | a b c d | d c b a: turned around at the edge
	Constant     Mode = "constant"      // k k k k | a b c d | k k k k: Cval
	Nearest      Mode = "nearest"       // a a a a | a b c d | d d d d: the last element
	Mirror       Mode = "mirror"        // d c b | a b c d | c b a: turned around at the last element
	Wrap         Mode = "wrap"          // a b c d | a b c d | a b c d: the other end
	GridMirror   Mode = "grid-mirror"   // Reflect
	GridConstant Mode = "grid-constant" // Constant, also between elements where a function interpolates
	GridWrap     Mode = "grid-wrap"     // Wrap, with the period of a grid where a function interpolates
)

var allModes = []Mode{Reflect, Constant, Nearest, Mirror, Wrap, GridMirror, GridConstant, GridWrap}

// checked returns a mode, or the default for the empty one.
func (m Mode) checked(name string, or Mode) Mode {
	if m == "" {
		return or
	}
	if !slices.Contains(allModes, m) {
		array.Failf(name, "Mode", "%q is not one of %v", string(m), allModes)
	}
	return m
}

// grid returns the mode that reads the same elements at indices.
func (m Mode) grid() Mode {
	switch m {
	case GridMirror:
		return Reflect
	case GridConstant:
		return Constant
	case GridWrap:
		return Wrap
	}
	return m
}

// source returns the place that is read for place i of an axis of n > 0 elements, -1 for Cval.
func (m Mode) source(i, n int) int {
	if i >= 0 && i < n {
		return i
	}
	around := func(i, period int) int {
		if i %= period; i < 0 {
			i += period
		}
		return i
	}
	switch m.grid() {
	case Constant:
		return -1
	case Wrap:
		return around(i, n)
	case Reflect:
		if i = around(i, 2*n); i >= n {
			i = 2*n - 1 - i
		}
		return i
	case Mirror:
		if n == 1 {
			return 0
		}
		if i = around(i, 2*n-2); i >= n {
			i = 2*n - 2 - i
		}
		return i
	}
	return min(max(i, 0), n-1)
}

// maxReach bounds windows along an axis: an array is extended by that much.
const maxReach = 1 << 24

// stretch returns elements lo to below hi of an axis, which may lie outside of it.
func stretch(name string, x *weft.Tensor, axis, lo, hi int, m Mode, cval float64) *weft.Tensor {
	n := x.Dim(axis)
	if lo >= 0 && hi <= n {
		return along(x, axis, lo, hi)
	}
	shape := x.Shape()
	shape[axis] = hi - lo
	array.CheckShape(name, shape, x.DType())
	if m.grid() == Constant {
		pads := make([]int, 2*x.Rank())
		a, b := min(max(lo, 0), n), max(min(hi, n), 0)
		if a >= b {
			return x.Device().FullOf(x.DType(), cval, shape...)
		}
		pads[2*axis], pads[2*axis+1] = a-lo, hi-b
		return along(x, axis, a, b).Pad(cval, pads...)
	}
	at := make([]int64, hi-lo)
	for j := range at {
		at[j] = int64(m.source(lo+j, n))
	}
	return x.IndexSelect(axis, weft.FromSlice(at, len(at)).On(x.Device()))
}

// along returns elements lo to below hi of an axis.
func along(x *weft.Tensor, axis, lo, hi int) *weft.Tensor {
	if lo == 0 && hi == x.Dim(axis) {
		return x
	}
	spans := make([]weft.Span, x.Rank())
	for i := range spans {
		spans[i] = weft.All
	}
	spans[axis] = weft.Range(lo, hi)
	return x.Slice(spans...)
}

// input checks an argument.
func input(name string, x *weft.Tensor) *weft.Tensor {
	(*core.Tensor)(x).CheckArgument(name, "x")
	return x
}

// axesOf returns the axes that a filter works along, counted from 0: all if none are given.
func axesOf(name string, given []int, rank int) []int {
	var axes []int
	if given == nil {
		for a := range rank {
			axes = append(axes, a)
		}
		return axes
	}
	for _, a := range given {
		a = array.Axis(name, a, rank)
		if slices.Contains(axes, a) {
			array.Failf(name, "Axes", "%v has axis %d twice", given, a)
		}
		axes = append(axes, a)
	}
	return axes
}

// each returns a number for each of n axes from a list of n, or of one.
func each[T any](name, arg string, list []T, n int, or T) []T {
	out := make([]T, n)
	for i := range out {
		switch {
		case list == nil:
			out[i] = or
		case len(list) == 1:
			out[i] = list[0]
		case len(list) == n:
			out[i] = list[i]
		default:
			array.Failf(name, arg, "has %d numbers, want one or one for each of %d axes", len(list), n)
		}
	}
	return out
}

// FilterOpts are the options of filters whose windows are sizes or arrays.
type FilterOpts struct {
	Mode   Mode    // what is read beyond the edges; Reflect if empty
	Modes  []Mode  // a mode for each axis, instead of Mode
	Cval   float64 // the value of Constant
	Origin []int   // how many elements windows lie before their centre, in each axis; 0 if nil
	Axes   []int   // the axes that are filtered; all if nil
}

// A plane is what a filter does along each of its axes.
type plane struct {
	name   string
	axes   []int
	modes  []Mode
	origin []int
	cval   float64
}

// on checks the options for an array of that rank.
func (o FilterOpts) on(name string, rank int) plane {
	p := plane{name: name, axes: axesOf(name, o.Axes, rank), cval: o.Cval}
	p.modes = each(name, "Modes", o.Modes, len(p.axes), o.Mode)
	for i, m := range p.modes {
		p.modes[i] = m.checked(name, Reflect)
	}
	p.origin = each(name, "Origin", o.Origin, len(p.axes), 0)
	return p
}

// reach returns how far a window of size elements with that origin reads before its place.
func reach(name, arg string, size, origin int) int {
	if size > maxReach {
		array.Failf(name, arg, "has %d elements along an axis, more than %d", size, maxReach)
	}
	before := size/2 + origin
	if before < 0 || before >= size {
		array.Failf(name, "Origin", "is %d, which puts a window of %d elements beside its place", origin, size)
	}
	return before
}
