package fft

import (
	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// NOpts are the options of a transform along several axes.
type NOpts struct {
	// N are the numbers of elements along the axes, as [Opts] has it for one; nil means their sizes, and
	// of IRFFTN 2*(size-1) along the last one.
	N    []int
	Axes []int // nil means the last len(N) axes, or without N all of them; in the 2-d functions the last two
	Norm Norm  // empty means Backward
}

// axes are the axes of options, and the lengths along them, 0 for the default.
func (o NOpts) axes(opName string, x *weft.Tensor, def int) (axes, n []int) {
	axes = o.Axes
	if axes == nil {
		count := def
		if o.N != nil {
			count = len(o.N)
		}
		if count > x.Rank() {
			array.Failf(opName, "x", "has shape %s, want %s or more", array.ShapeString(x.Shape()), array.Count(count, "axis"))
		}
		for i := range count {
			axes = append(axes, i-count)
		}
	}
	if o.N != nil && len(o.N) != len(axes) {
		array.Failf(opName, "N", "has %d lengths for %s", len(o.N), array.Count(len(axes), "axis"))
	}
	if len(axes) == 0 {
		array.Failf(opName, "Axes", "has none, want one or more")
	}
	n = o.N
	if n == nil {
		n = make([]int, len(axes))
	}
	return axes, n
}

func two(opName string, opts []NOpts, x *weft.Tensor) NOpts {
	o := array.Options(opName, opts)
	if o.Axes == nil {
		o.Axes = []int{-2, -1}
	}
	if len(o.Axes) != 2 {
		array.Failf(opName, "Axes", "has %d, want 2", len(o.Axes))
	}
	return o
}

// FFT2 is [FFT] along two axes, the last two by default.
func FFT2(x *weft.Tensor, opts ...NOpts) *weft.Tensor {
	return complexN("fft.fft2", x, two("fft.fft2", opts, x), false)
}

// IFFT2 is the inverse of [FFT2].
func IFFT2(x *weft.Tensor, opts ...NOpts) *weft.Tensor {
	return complexN("fft.ifft2", x, two("fft.ifft2", opts, x), true)
}

// FFTN is [FFT] along several axes, all by default. It panics as FFT does, and where the number of lengths
// differs from the number of axes.
func FFTN(x *weft.Tensor, opts ...NOpts) *weft.Tensor {
	return complexN("fft.fftn", x, array.Options("fft.fftn", opts), false)
}

// IFFTN is the inverse of [FFTN].
func IFFTN(x *weft.Tensor, opts ...NOpts) *weft.Tensor {
	return complexN("fft.ifftn", x, array.Options("fft.ifftn", opts), true)
}

func complexN(opName string, x *weft.Tensor, o NOpts, inverse bool) *weft.Tensor {
	defer array.Named(opName).End()
	x = complexOf(opName, x)
	axes, n := o.axes(opName, x, x.Rank())
	return together(opName, x, axes, n, o.Norm, inverse)
}

// together transforms complex numbers along axes, from the last to the first, by one operation.
func together(opName string, x *weft.Tensor, axes, n []int, norm Norm, inverse bool) *weft.Tensor {
	a := op.Fourier{Inverse: inverse, Norm: normOf(opName, norm, inverse)}
	for i := len(axes) - 1; i >= 0; i-- {
		axis := array.Axis(opName, axes[i], x.Rank())
		x = fit(x, axis, Opts{N: n[i]}.lengthOf(opName, x.Dim(axis)))
		if i == len(axes)-1 {
			a.Axis = axis
		} else {
			a.More = append(a.More, axis)
		}
	}
	return apply(op.FFT, a, x)
}

// RFFT2 is [RFFTN] along two axes, the last two by default.
func RFFT2(x *weft.Tensor, opts ...NOpts) *weft.Tensor {
	return realN("fft.rfft2", x, two("fft.rfft2", opts, x))
}

// IRFFT2 is [IRFFTN] along two axes, the last two by default.
func IRFFT2(x *weft.Tensor, opts ...NOpts) *weft.Tensor {
	return inverseRealN("fft.irfft2", x, two("fft.irfft2", opts, x))
}

// RFFTN is [RFFT] along the last of several axes and [FFT] along the others, all axes by default.
func RFFTN(x *weft.Tensor, opts ...NOpts) *weft.Tensor {
	return realN("fft.rfftn", x, array.Options("fft.rfftn", opts))
}

func realN(opName string, x *weft.Tensor, o NOpts) *weft.Tensor {
	defer array.Named(opName).End()
	x = realOnly(opName, x)
	axes, n := o.axes(opName, x, x.Rank())
	k := len(axes) - 1
	x = RFFT(x, Opts{N: n[k], Axis: &axes[k], Norm: o.Norm})
	if k == 0 {
		return x
	}
	return together(opName, x, axes[:k], n[:k], o.Norm, false)
}

// IRFFTN is the inverse of [RFFTN]: [IFFT] along all but the last of several axes, then [IRFFT] along that.
func IRFFTN(x *weft.Tensor, opts ...NOpts) *weft.Tensor {
	return inverseRealN("fft.irfftn", x, array.Options("fft.irfftn", opts))
}

func inverseRealN(opName string, x *weft.Tensor, o NOpts) *weft.Tensor {
	defer array.Named(opName).End()
	x = complexOf(opName, x)
	axes, n := o.axes(opName, x, x.Rank())
	k := len(axes) - 1
	if k > 0 {
		x = together(opName, x, axes[:k], n[:k], o.Norm, true)
	}
	return IRFFT(x, Opts{N: n[k], Axis: &axes[k], Norm: o.Norm})
}
