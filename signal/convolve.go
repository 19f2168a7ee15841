package signal

import (
	"weft"
	"weft/internal/array"
)

// A Mode says which part of a convolution is the result.
type Mode string

const (
	Full  Mode = "full"  // all: n+m-1 elements of n and m
	Same  Mode = "same"  // the middle, in the size of the first argument
	Valid Mode = "valid" // where one argument lies within the other: |n-m|+1 elements
)

// A Method says how a convolution is computed.
type Method string

const (
	Auto   Method = "auto"   // the faster one, by the sizes
	Direct Method = "direct" // sums of products
	FFT    Method = "fft"    // Fourier transforms
)

// ConvolveOpts are the options of convolutions and correlations.
type ConvolveOpts struct {
	Mode   Mode   // empty means Full
	Method Method // of Convolve and Correlate; empty means Auto
}

// Convolve returns the convolution of two signals along one axis, [n] and [m]: the sums over i of
// a[k-i]*b[i].
//
// [Direct] sums in the type of the arguments: each result has an error relative to the sum of the sizes of its
// own products. [FFT] has errors relative to the greatest result, so small results beside large ones lose
// digits. [Auto] takes FFT where that is faster by an estimate of both times: where the shorter argument has more than
// some hundred numbers. By FFT a NaN or an infinity reaches all results of its block of the longer argument, or of
// everything where there is one block, as in SciPy; by Direct those alone whose window has it.
//
// For a batch with one filter, and other values beyond the edges, see ndimage.Convolve1D; for several axes see
// [FFTConvolve]. It panics with *[weft.Error] for shapes that do not fit, unknown modes and unknown methods.
func Convolve(a, b *weft.Tensor, opts ...ConvolveOpts) *weft.Tensor {
	const name = "signal.convolve"
	defer array.Named(name).End()
	c := meet(vectorOf(name, "a", a), vectorOf(name, "b", b))
	return convolvedBy(name, c[0], c[1], array.Options(name, opts))
}

// Correlate returns the cross-correlation of two signals along one axis, [n] and [m]: the sums over i of
// a[i+k]*conj(b[i]) for the lags k from -(m-1) on. It panics as [Convolve] does.
func Correlate(a, b *weft.Tensor, opts ...ConvolveOpts) *weft.Tensor {
	const name = "signal.correlate"
	defer array.Named(name).End()
	c := meet(vectorOf(name, "a", a), vectorOf(name, "b", b))
	return convolvedBy(name, c[0], reversed(c[1]), array.Options(name, opts))
}

// reversed is the conjugate of b, turned round.
func reversed(b *weft.Tensor) *weft.Tensor {
	if b.DType().Complex() {
		b = b.Conj()
	}
	return b.Flip(0)
}

// convolvedBy convolves vectors by the method of the options.
func convolvedBy(name string, a, b *weft.Tensor, o ConvolveOpts) *weft.Tensor {
	n, m := a.Dim(0), b.Dim(0)
	var y *weft.Tensor
	switch o.Method {
	case "", Auto:
		if transforms(a.DType(), n, m) {
			y = overlapAdded(a, b)
		} else {
			y = convolved(a, b)
		}
	case Direct:
		y = convolved(a, b)
	case FFT:
		y = overlapAdded(a, b)
	default:
		array.Failf(name, "Method", "is %q, want auto, direct or fft", string(o.Method))
	}
	return inMode(name, y, n, m, o.Mode)
}

// convolved is the full convolution of vectors, by sums: the longer one is padded.
func convolved(a, b *weft.Tensor) *weft.Tensor {
	if a.Dim(0) < b.Dim(0) {
		a, b = b, a
	}
	m := b.Dim(0) - 1
	return summed(padded(a, 0, m, m), b.Flip(0))
}

// summed is the sums over i of u[... k+i]*v[i], without conjugates, for each k at which v lies within u.
func summed(u, v *weft.Tensor) *weft.Tensor {
	m, last := v.Dim(0), u.Rank()-1
	return correlated(u, v.Reshape(1, m), 1).Reshape(shapeOf(u.Shape()[:last], u.Dim(last)-m+1)...)
}

// correlated is the sums over i of u[... k*step+i]*w[c i], without conjugates, for each c and each k at which w lies within
// u: [... c k]. Complex numbers are two channels.
func correlated(u, w *weft.Tensor, step int) *weft.Tensor {
	d, shape, c, m := u.DType(), u.Shape(), w.Dim(0), w.Dim(1)
	n := shape[len(shape)-1]
	lead := shape[:len(shape)-1]
	out, o := shapeOf(lead, c, (n-m)/step+1), weft.Conv1dOpts{Stride: &step}
	if array.Size(lead) == 0 {
		return weft.ZerosOf(d, out...).On(u.Device())
	}
	if !d.Complex() {
		if d.Half() {
			u, w = u.To(weft.Float32), w.To(weft.Float32)
		}
		return u.Reshape(-1, 1, n).Conv1d(w.Reshape(c, 1, m), nil, o).Reshape(out...).To(d)
	}
	re, im := w.Real(), w.Imag()
	w = weft.Cat([]*weft.Tensor{weft.Stack([]*weft.Tensor{re, im.Neg()}, 1), weft.Stack([]*weft.Tensor{im, re}, 1)}, 0)
	y := weft.Stack([]*weft.Tensor{u.Real().Reshape(-1, n), u.Imag().Reshape(-1, n)}, 1).Conv1d(w, nil, o)
	return weft.Complex(part(y, 1, 0, c), part(y, 1, c, 2*c)).Reshape(out...)
}

// inMode is the part of a full convolution that a mode asks for.
func inMode(name string, y *weft.Tensor, n, m int, mode Mode) *weft.Tensor {
	switch mode {
	case "", Full:
		return y
	case Same:
		return part(y, 0, (m-1)/2, (m-1)/2+n)
	case Valid:
		return part(y, 0, min(n, m)-1, max(n, m))
	}
	array.Failf(name, "Mode", "is %q, want full, same or valid", string(mode))
	return nil
}

// CorrelationLags returns the lags of the elements of [Correlate] of n and m samples, int64. It panics with
// *[weft.Error] for sizes below 1 and unknown modes.
func CorrelationLags(n, m int, opts ...ConvolveOpts) *weft.Tensor {
	const name = "signal.correlation_lags"
	o := array.Options(name, opts)
	if n < 1 || m < 1 {
		array.Failf(name, "n", "and m are %d and %d, want 1 or more samples", n, m)
	}
	array.CheckShape(name, []int{n, m}, weft.Int64)
	return inMode(name, weft.ArangeOf[int](weft.Int64, 1-m, n), n, m, o.Mode)
}

// matrixOf returns an argument as numbers in two axes, neither empty.
func matrixOf(name, arg string, t *weft.Tensor) *weft.Tensor {
	t = numbers(name, arg, t)
	if t.Rank() != 2 || t.Size() == 0 {
		array.Failf(name, arg, "has shape %s, want numbers along two axes", array.ShapeString(t.Shape()))
	}
	return t
}

// Convolve2D returns the convolution of two matrices, [n m] and [p q], beyond whose edges are zeros. It
// panics with *[weft.Error] for other shapes and unknown modes. [Valid] requires that one matrix is at least as large
// as the other along both axes.
func Convolve2D(a, b *weft.Tensor, opts ...ConvolveOpts) *weft.Tensor {
	const name = "signal.convolve2d"
	defer array.Named(name).End()
	c := meet(matrixOf(name, "a", a), matrixOf(name, "b", b))
	return convolved2D(name, c[0], c[1], array.Options(name, opts).Mode)
}

// Correlate2D returns the cross-correlation of two matrices, with the conjugate of b. For [Same] the middle
// of an even size is its later half, as SciPy has it. It panics as [Convolve2D] does.
func Correlate2D(a, b *weft.Tensor, opts ...ConvolveOpts) *weft.Tensor {
	const name = "signal.correlate2d"
	defer array.Named(name).End()
	c := meet(matrixOf(name, "a", a), matrixOf(name, "b", b))
	b = c[1].Flip(0, 1)
	if b.DType().Complex() {
		b = b.Conj()
	}
	mode := array.Options(name, opts).Mode
	if mode != Same {
		return convolved2D(name, c[0], b, mode)
	}
	y := convolved2D(name, c[0], b, Full)
	for i, n := range c[0].Shape() {
		y = part(y, i, b.Dim(i)/2, b.Dim(i)/2+n)
	}
	return y
}

// convolved2D convolves the rows of the result's width one behind the other, as vectors.
func convolved2D(name string, a, b *weft.Tensor, mode Mode) *weft.Tensor {
	checkWithin(name, a.Shape(), b.Shape(), mode)
	rows, width := a.Dim(0)+b.Dim(0)-1, a.Dim(1)+b.Dim(1)-1
	row := func(t *weft.Tensor) *weft.Tensor {
		flat := padded(t, 1, 0, width-t.Dim(1)).Reshape(t.Dim(0) * width)
		return part(flat, 0, 0, t.Dim(0)*width-(width-t.Dim(1)))
	}
	y := convolved(row(a), row(b)).Reshape(rows, width)
	return cutTo(name, y, a.Shape(), b.Shape(), mode)
}

// checkWithin panics unless one of two shapes is at least as large as the other along every axis, which Valid needs.
func checkWithin(name string, n, m []int, mode Mode) {
	if mode != Valid {
		return
	}
	larger, smaller := true, true
	for i := range n {
		larger, smaller = larger && n[i] >= m[i], smaller && n[i] <= m[i]
	}
	if !larger && !smaller {
		array.Failf(name, "Mode", "is valid, but of shapes %s and %s neither lies within the other", array.ShapeString(n), array.ShapeString(m))
	}
}

// cutTo is the part of a full convolution of several axes that a mode asks for.
func cutTo(name string, y *weft.Tensor, n, m []int, mode Mode) *weft.Tensor {
	for i := range n {
		from, to := 0, n[i]+m[i]-1
		switch mode {
		case "", Full:
		case Same:
			from, to = (m[i]-1)/2, (m[i]-1)/2+n[i]
		case Valid:
			from, to = min(n[i], m[i])-1, max(n[i], m[i])
		default:
			array.Failf(name, "Mode", "is %q, want full, same or valid", string(mode))
		}
		y = part(y, i, from, to)
	}
	return y
}

// FFTConvolve returns the convolution of a and b, which have the same number of axes, over all of them, by
// Fourier transforms. [Convolve] does so too along one axis where it is faster. Errors are relative to the
// greatest result. It panics with *[weft.Error] for shapes that do not fit and unknown modes. [Valid] requires that one
// argument is at least as large as the other along every axis.
func FFTConvolve(a, b *weft.Tensor, opts ...ConvolveOpts) *weft.Tensor {
	const name = "signal.fftconvolve"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	c := meet(numbers(name, "a", a), numbers(name, "b", b))
	n, m := c[0].Shape(), c[1].Shape()
	if len(n) != len(m) || len(n) == 0 || a.Size() == 0 || b.Size() == 0 {
		array.Failf(name, "b", "has shape %s, and a %s: want the same number of axes, none empty", array.ShapeString(m), array.ShapeString(n))
	}
	checkWithin(name, n, m, o.Mode)
	return cutTo(name, fftConvolved(c[0], c[1]), n, m, o.Mode)
}
