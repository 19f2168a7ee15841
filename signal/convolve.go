package signal

import (
	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// A Mode says which part of a convolution is the result.
type Mode string

const (
	Full  Mode = "full"  // all: n+m-1 elements of n and m
	Same  Mode = "same"  // the middle, in the size of the first argument
	Valid Mode = "valid" // where one argument lies within the other: |n-m|+1 elements
)

// ConvolveOpts are the options of [Convolve] and [Correlate].
type ConvolveOpts struct {
	Mode Mode // empty means Full
}

// Convolve returns the convolution of two signals along one axis, [n] and [m]: the sums over i of
// a[k-i]*b[i]. Sums go on in order. It panics with *[weft.Error] for shapes that do not fit and unknown modes.
func Convolve(a, b *weft.Tensor, opts ...ConvolveOpts) *weft.Tensor {
	const name = "signal.convolve"
	defer array.Named(name).End()
	c := meet(vectorOf(name, "a", a), vectorOf(name, "b", b))
	return inMode(name, convolved(c[0], c[1]), a.Dim(0), b.Dim(0), array.Options(name, opts).Mode)
}

// Correlate returns the cross-correlation of two signals along one axis, [n] and [m]: the sums over i of
// a[i+k]*conj(b[i]) for the lags k from -(m-1) on. It panics as [Convolve] does.
func Correlate(a, b *weft.Tensor, opts ...ConvolveOpts) *weft.Tensor {
	const name = "signal.correlate"
	defer array.Named(name).End()
	c := meet(vectorOf(name, "a", a), vectorOf(name, "b", b))
	return inMode(name, convolved(c[0], reversed(c[1])), a.Dim(0), b.Dim(0), array.Options(name, opts).Mode)
}

// reversed is the conjugate of b, turned round.
func reversed(b *weft.Tensor) *weft.Tensor {
	if b.DType().Complex() {
		b = b.Conj()
	}
	return b.Flip(0)
}

// convolved is the full convolution of vectors: the longer one is padded.
func convolved(a, b *weft.Tensor) *weft.Tensor {
	if a.Dim(0) < b.Dim(0) {
		a, b = b, a
	}
	m := b.Dim(0) - 1
	return apply(op.Correlate1D, padded(a, 0, m, m), b.Flip(0))[0]
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
