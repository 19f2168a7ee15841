package ndimage

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// inFloats computes f of x as floats or complex numbers, and returns the result in x's type: whole
// numbers are truncated toward zero, and their lowest bits stay.
func inFloats(x *weft.Tensor, f func(x *weft.Tensor) *weft.Tensor) *weft.Tensor {
	d := x.DType()
	switch {
	case d == weft.Float16 || d == weft.BFloat16:
		return f(x.To(weft.Float32)).To(d)
	case d.Float() || d.Complex():
		return f(x)
	case d == weft.Uint64:
		y := f(x.To(weft.Float64)) // an Int64 does not hold it from 2^63 on; from 2^64 on all bits are lost
		return weft.Where(y.Lt(0x1p63), y.To(weft.Int64).To(d), weft.Where(y.Lt(0x1p64), y, 0).To(d))
	}
	return f(x.To(weft.Float64)).To(weft.Int64).To(d)
}

// wideFor returns x, as floats if w is complex: the result is complex then.
func wideFor(x, w *weft.Tensor) *weft.Tensor {
	switch d := x.DType(); {
	case !w.DType().Complex() || d.Complex():
		return x
	case d == weft.Float16 || d == weft.BFloat16:
		return x.To(weft.Float32)
	case !d.Float():
		return x.To(weft.Float64)
	}
	return x
}

// filterLine correlates x with w along an axis.
func filterLine(name string, x, w *weft.Tensor, axis, before int, pairs int, m Mode, cval float64) *weft.Tensor {
	if w.Size() > maxWindow {
		array.Failf(name, "weights", "have %d elements, more than %d", w.Size(), maxWindow)
	}
	return inFloats(wideFor(x, w), func(x *weft.Tensor) *weft.Tensor {
		w, x := meet(w, x)
		k := w.Size()
		t := tapping{Pairs: pairs, Axis: axis, Reach: make([]int, x.Rank())}
		t.Reach[axis] = k - 1
		for i := range k {
			start := make([]int, x.Rank())
			start[axis] = i
			t.Starts = append(t.Starts, start)
		}
		if x.Size() == 0 {
			return x
		}
		return weighted(t, w, lineParts(name, x, axis, before, k, m, cval)...)
	})
}

// lineParts returns arrays whose windows of k elements along an axis, one behind the other, are the windows of x. A
// long line gives its two ends with what is read beyond them, and x itself.
func lineParts(name string, x *weft.Tensor, axis, before, k int, m Mode, cval float64) (parts []*weft.Tensor) {
	n, after := x.Dim(axis), k-1-before
	if n < 4*k {
		return append(parts, stretch(name, x, axis, -before, n+after, m, cval))
	}
	if before > 0 {
		parts = append(parts, stretch(name, x, axis, -before, k-1, m, cval))
	}
	parts = append(parts, x)
	if after > 0 {
		parts = append(parts, stretch(name, x, axis, n-k+1, n+after, m, cval))
	}
	return parts
}

// LineOpts are the options of filters along one axis.
type LineOpts struct {
	Mode   Mode    // what is read beyond the ends; Reflect if empty
	Cval   float64 // the value of Constant
	Origin int     // how many elements the window lies before its centre
}

// line checks the arguments of a filter along an axis.
func line(name string, x, weights *weft.Tensor, axis int, opts []LineOpts) (o LineOpts, at int) {
	o = array.Options(name, opts)
	o.Mode = o.Mode.checked(name, Reflect)
	input(name, x)
	at = array.Axis(name, axis, x.Rank())
	(*core.Tensor)(weights).CheckArgument(name, "weights")
	if weights.Rank() != 1 || weights.Size() == 0 {
		array.Failf(name, "weights", "has shape %s, want a vector with elements", array.ShapeString(weights.Shape()))
	}
	return o, at
}

// Correlate1D returns the sums of elements along an axis around each element, times weights, in x's shape. It
// panics with *[weft.Error] where weights is not a vector with elements or Origin puts it beside its place.
func Correlate1D(x, weights *weft.Tensor, axis int, opts ...LineOpts) *weft.Tensor {
	const name = "ndimage.correlate1d"
	defer array.Named(name).End()
	o, at := line(name, x, weights, axis, opts)
	return filterLine(name, x, weights, at, reach(name, "weights", weights.Size(), o.Origin), 0, o.Mode, o.Cval)
}

// Convolve1D is [Correlate1D] with the weights turned around.
func Convolve1D(x, weights *weft.Tensor, axis int, opts ...LineOpts) *weft.Tensor {
	const name = "ndimage.convolve1d"
	defer array.Named(name).End()
	o, at := line(name, x, weights, axis, opts)
	return filterLine(name, x, weights.Flip(0), at, reach(name, "weights", weights.Size(), turned(weights.Size(), o.Origin)), 0, o.Mode, o.Cval)
}

// turned is the origin of a window that is turned around.
func turned(size, origin int) int {
	if size%2 == 0 {
		return -origin - 1
	}
	return -origin
}
