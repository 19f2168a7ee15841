package ndimage

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// GreyOpts are the options of grey morphology. The window is Structure's, else Footprint's, else the sizes'.
type GreyOpts struct {
	Footprint *weft.Tensor // the elements of the window that count
	Structure *weft.Tensor // what is added to the elements of a window, or taken from them; 0 if nil
	Mode      Mode         // what is read beyond the edges; Reflect if empty
	Cval      float64      // the value of Constant
	Origin    []int        // how many elements windows lie before their centre, in each axis; 0 if nil
	Axes      []int        // the axes that are filtered; all if nil
}

// grey is erosion (kind 0) or dilation (kind 1).
func grey(name string, x *weft.Tensor, size []int, o GreyOpts, kind int) *weft.Tensor {
	defer array.Named(name).End()
	ordered(name, x)
	turn := kind == 1
	if o.Structure == nil {
		p, w := WindowOpts{Footprint: o.Footprint, Mode: o.Mode, Cval: o.Cval, Origin: o.Origin, Axes: o.Axes}.window(name, x, size, turn)
		if x.Size() == 0 {
			return x.Clone()
		}
		return p.extreme(x, w, folds[kind]).Clone()
	}
	s := o.Structure
	(*core.Tensor)(s).CheckArgument(name, "Structure")
	f := o.Footprint
	if f == nil {
		core.OutsideTrace(func() { f = weft.OnesLike(s).To(weft.Bool) })
	}
	if !array.Equal(f.Shape(), s.Shape()) {
		array.Failf(name, "Footprint", "has shape %s, Structure %s", array.ShapeString(f.Shape()), array.ShapeString(s.Shape()))
	}
	p, w := WindowOpts{Footprint: f, Mode: o.Mode, Cval: o.Cval, Origin: o.Origin, Axes: o.Axes}.window(name, x, nil, turn)
	if x.Size() == 0 {
		return x.Clone()
	}
	if turn {
		for a := range s.Rank() {
			s = s.Flip(a)
		}
	} else {
		s = s.Neg()
	}
	s = s.Reshape(-1)
	at := make([]int64, len(w.at))
	for i, k := range w.at {
		at[i] = int64(k)
	}
	s = s.IndexSelect(0, weft.FromSlice(at, len(at)).On(s.Device()))
	return inFloats(x, func(x *weft.Tensor) *weft.Tensor {
		return folded(w.taps(), kind, p.extended(x, w), s.To(x.DType()))
	})
}

// GreyErosion returns the least element of each window, less Structure. Size may be nil where the options
// give the window. It panics with *[weft.Error] where shapes do not fit.
func GreyErosion(x *weft.Tensor, size []int, opts ...GreyOpts) *weft.Tensor {
	return grey("ndimage.grey_erosion", x, size, array.Options("ndimage.grey_erosion", opts), 0)
}

// GreyDilation returns the greatest element of each window turned around, plus Structure turned around. See
// [GreyErosion].
func GreyDilation(x *weft.Tensor, size []int, opts ...GreyOpts) *weft.Tensor {
	return grey("ndimage.grey_dilation", x, size, array.Options("ndimage.grey_dilation", opts), 1)
}

// twice is a grey operation of each kind, one behind the other.
func twice(name string, x *weft.Tensor, size []int, opts []GreyOpts, first int) *weft.Tensor {
	o := array.Options(name, opts)
	return grey(name, grey(name, x, size, o, first), size, o, 1-first)
}

// GreyOpening is an erosion and then a dilation: bright spots smaller than the window go.
func GreyOpening(x *weft.Tensor, size []int, opts ...GreyOpts) *weft.Tensor {
	return twice("ndimage.grey_opening", x, size, opts, 0)
}

// GreyClosing is a dilation and then an erosion: dark spots smaller than the window go.
func GreyClosing(x *weft.Tensor, size []int, opts ...GreyOpts) *weft.Tensor {
	return twice("ndimage.grey_closing", x, size, opts, 1)
}

// MorphologicalGradient is the difference of dilation and erosion.
func MorphologicalGradient(x *weft.Tensor, size []int, opts ...GreyOpts) *weft.Tensor {
	const name = "ndimage.morphological_gradient"
	o := array.Options(name, opts)
	return difference(grey(name, x, size, o, 1), grey(name, x, size, o, 0))
}

// MorphologicalLaplace is the sum of dilation and erosion less twice the array.
func MorphologicalLaplace(x *weft.Tensor, size []int, opts ...GreyOpts) *weft.Tensor {
	const name = "ndimage.morphological_laplace"
	defer array.Named(name).End()
	if ordered(name, x).DType() == weft.Bool {
		array.Failf(name, "x", "is bool, whose elements have no differences")
	}
	o := array.Options(name, opts)
	return grey(name, x, size, o, 1).Add(grey(name, x, size, o, 0)).Sub(x).Sub(x)
}

// WhiteTophat is the array less its opening: bright spots smaller than the window stay.
func WhiteTophat(x *weft.Tensor, size []int, opts ...GreyOpts) *weft.Tensor {
	return difference(x, twice("ndimage.white_tophat", x, size, opts, 0))
}

// BlackTophat is the closing less the array: dark spots smaller than the window stay.
func BlackTophat(x *weft.Tensor, size []int, opts ...GreyOpts) *weft.Tensor {
	return difference(twice("ndimage.black_tophat", x, size, opts, 1), x)
}

// difference is a - b, of truth values where they differ.
func difference(a, b *weft.Tensor) *weft.Tensor {
	if a.DType() == weft.Bool {
		return a.Ne(b)
	}
	return a.Sub(b)
}
