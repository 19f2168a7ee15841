package fft

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// A Norm says which transforms are multiplied by a factor, so that both together give back the argument.
type Norm string

const (
	Backward Norm = "backward" // inverse ones by 1/n
	Ortho    Norm = "ortho"    // both by 1/sqrt(n)
	Forward  Norm = "forward"  // forward ones by 1/n
)

// Opts are the options of a transform along one axis.
type Opts struct {
	// N is the number of elements that are transformed: zeros are added behind, or elements cut off. Of
	// IRFFT and HFFT it is the length of the result. 0 means the size of the axis; for IRFFT and HFFT
	// 2*(size-1).
	N    int
	Axis *int // nil means the last one
	Norm Norm // empty means Backward
}

// numbers returns an argument as floats or complex numbers that transforms take.
func numbers(opName, arg string, t *weft.Tensor) *weft.Tensor {
	(*core.Tensor)(t).CheckArgument(opName, arg)
	if !t.DType().Differentiable() {
		return t.To(weft.Float32)
	}
	if t.DType() == weft.Float16 || t.DType() == weft.BFloat16 {
		return t.To(weft.Float32)
	}
	return t
}

// realOnly is numbers, and refuses complex ones.
func realOnly(opName string, t *weft.Tensor) *weft.Tensor {
	t = numbers(opName, "x", t)
	if t.DType().Complex() {
		array.Failf(opName, "x", "has elements of type %s, want real numbers", t.DType())
	}
	return t
}

// complexOf is numbers as complex ones.
func complexOf(opName string, t *weft.Tensor) *weft.Tensor {
	t = numbers(opName, "x", t)
	if !t.DType().Complex() {
		t = t.To(t.DType().WithParts())
	}
	return t
}

func apply(d *op.Def, a ir.Attrs, t *weft.Tensor) *weft.Tensor {
	return (*weft.Tensor)(core.WithAttrs(d, a, (*core.Tensor)(t)))
}

// normOf is the factor of a transform; inverse ones have that of forward ones with the norm turned round.
func normOf(opName string, n Norm, inverse bool) op.FourierNorm {
	switch n {
	case "", Backward, Forward:
		if (n == Forward) != inverse {
			return op.ByLength
		}
		return op.NoNorm
	case Ortho:
		return op.ByRoot
	}
	array.Failf(opName, "Norm", "is %q, want backward, ortho or forward", string(n))
	return 0
}

// axisOf is the axis of options, counted from the front.
func (o Opts) axisOf(opName string, t *weft.Tensor) int {
	return array.Axis(opName, array.Or(o.Axis, -1), t.Rank())
}

// cut is the elements of an axis from one to before another, step apart.
func cut(t *weft.Tensor, axis, from, to int, step ...int) *weft.Tensor {
	spans := make([]weft.Span, axis+1)
	for i := range spans {
		spans[i] = weft.All
	}
	spans[axis] = weft.Range(from, to, step...)
	return t.Slice(spans...)
}

// fit pads an axis with zeros, or cuts it, to n elements. Requires n > 0.
func fit(t *weft.Tensor, axis, n int) *weft.Tensor {
	switch size := t.Dim(axis); {
	case size > n:
		return cut(t, axis, 0, n)
	case size < n:
		pads := make([]int, 2*t.Rank())
		pads[2*axis+1] = n - size
		return t.Pad(0, pads...)
	}
	return t
}

// lengthOf is N, or the default where it is 0. It refuses lengths below 1.
func (o Opts) lengthOf(opName string, def int) int {
	n := o.N
	if n == 0 {
		n = def
	}
	if n < 1 {
		array.Failf(opName, "N", "is %d, want 1 or more elements to transform", n)
	}
	return n
}

// FFT returns the transform of x along an axis, exponents having a negative sign: y[k] is the sum of
// x[j]*exp(-2i*pi*j*k/n), in the shape of x but for N elements along the axis. It panics with
// *[weft.Error] for 0-d tensors, an axis or length out of range and an unknown norm.
func FFT(x *weft.Tensor, opts ...Opts) *weft.Tensor {
	return along("fft.fft", op.Fourier{}, x, array.Options("fft.fft", opts))
}

// IFFT returns the inverse of [FFT]: exponents have a positive sign, and the factor is 1/n by default. It
// panics as FFT does.
func IFFT(x *weft.Tensor, opts ...Opts) *weft.Tensor {
	return along("fft.ifft", op.Fourier{Inverse: true}, x, array.Options("fft.ifft", opts))
}

// along is the complex transform along one axis.
func along(opName string, a op.Fourier, x *weft.Tensor, o Opts) *weft.Tensor {
	defer array.Named(opName).End()
	x = complexOf(opName, x)
	a.Axis, a.Norm = o.axisOf(opName, x), normOf(opName, o.Norm, a.Inverse)
	return apply(op.FFT, a, fit(x, a.Axis, o.lengthOf(opName, x.Dim(a.Axis))))
}

// RFFT returns the first N/2+1 elements of the [FFT] of real numbers, complex64 or complex128, along the axis: the
// others are their conjugates. It panics as FFT does, and for complex numbers.
func RFFT(x *weft.Tensor, opts ...Opts) *weft.Tensor {
	return forwardReal("fft.rfft", x, array.Options("fft.rfft", opts), false)
}

// IRFFT returns the real numbers whose [RFFT] is x: N along the axis, by default 2*(size-1) for its size.
// Imaginary parts of the first element and, for an even N, the last one do not count. It panics as FFT does.
func IRFFT(x *weft.Tensor, opts ...Opts) *weft.Tensor {
	return inverseReal("fft.irfft", x, array.Options("fft.irfft", opts), true)
}

// HFFT returns the [FFT] of numbers that begin with x. The others are conjugates of the first ones, so that
// the result is real: N numbers along the axis, by default 2*(size-1). It panics as FFT does.
func HFFT(x *weft.Tensor, opts ...Opts) *weft.Tensor {
	return inverseReal("fft.hfft", x, array.Options("fft.hfft", opts), false)
}

// IHFFT returns the inverse of [HFFT]: the first N/2+1 elements of the [IFFT] of real numbers. It panics as
// FFT does, and for complex numbers.
func IHFFT(x *weft.Tensor, opts ...Opts) *weft.Tensor {
	return forwardReal("fft.ihfft", x, array.Options("fft.ihfft", opts), true)
}

// forwardReal is the half transform of real numbers; conjugated it is that with a positive sign.
func forwardReal(opName string, x *weft.Tensor, o Opts, conjugate bool) *weft.Tensor {
	defer array.Named(opName).End()
	x = realOnly(opName, x)
	a := op.Fourier{Axis: o.axisOf(opName, x), Norm: normOf(opName, o.Norm, conjugate)}
	y := apply(op.RFFT, a, fit(x, a.Axis, o.lengthOf(opName, x.Dim(a.Axis))))
	if conjugate {
		return y.Conj()
	}
	return y
}

// inverseReal is the transform of a half to real numbers, inverse or forward.
func inverseReal(opName string, x *weft.Tensor, o Opts, inverse bool) *weft.Tensor {
	defer array.Named(opName).End()
	x = complexOf(opName, x)
	a := op.Fourier{Axis: o.axisOf(opName, x), Norm: normOf(opName, o.Norm, inverse)}
	a.N = o.lengthOf(opName, 2*(x.Dim(a.Axis)-1))
	if !inverse {
		x = x.Conj()
	}
	return apply(op.IRFFT, a, fit(x, a.Axis, a.N/2+1))
}
