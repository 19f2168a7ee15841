package ndimage

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/special"
)

// FourierOpts are the options of filters of Fourier transforms.
type FourierOpts struct {
	N    *int // the transform is that of N real elements along Axis, as fft.RFFT gives it; nil means one of all axes, as of fft.FFTN
	Axis *int // the axis of N; nil means the last one
}

// frequencies returns for each axis its length before the transform, and the frequencies of its elements, as whole numbers of
// turns, in a shape that broadcasts with x.
func (o FourierOpts) frequencies(name string, x *weft.Tensor) (lengths []float64, k []*weft.Tensor) {
	axis := -1
	if o.N != nil {
		axis = array.Axis(name, array.Or(o.Axis, -1), x.Rank())
		if *o.N < 1 {
			array.Failf(name, "N", "is %d, want at least 1", *o.N)
		}
		if n := x.Dim(axis); n != *o.N/2+1 {
			array.Failf(name, "N", "is %d, whose transform has %d elements, for an axis of %d", *o.N, *o.N/2+1, n)
		}
	}
	for a, n := range x.Shape() {
		along := ones(x.Rank())
		along[a] = n
		at := make([]float64, n)
		for i := range at {
			if at[i] = float64(i); a != axis && i >= (n+1)/2 {
				at[i] -= float64(n)
			}
		}
		length := float64(n)
		if a == axis {
			length = float64(*o.N)
		}
		lengths, k = append(lengths, length), append(k, weft.FromSlice(at, n).On(x.Device()).Reshape(along...))
	}
	return lengths, k
}

// fourier checks the argument of a filter of Fourier transforms: integers become float64. It returns factors that each
// axis has from one number for each axis, or one for all, times the frequencies as parts of the sampling rate.
func fourier(name, arg string, x *weft.Tensor, per []float64, opts []FourierOpts) (*weft.Tensor, []*weft.Tensor) {
	o := array.Options(name, opts)
	if !input(name, x).DType().Differentiable() {
		x = x.To(weft.Float64)
	}
	if per == nil {
		array.Failf(name, arg, "is nil, want numbers")
	}
	per = each(name, arg, per, x.Rank(), 0)
	finite(name, arg, per)
	lengths, k := o.frequencies(name, x)
	for i := range k {
		k[i] = k[i].Mul(per[i] / lengths[i])
	}
	return x, k
}

// sizes refuses sizes below 0.
func sizes(name string, size []float64) {
	for _, v := range size {
		if v < 0 {
			array.Failf(name, "size", "has %g, want 0 or more", v)
		}
	}
}

// times multiplies x with real factors, in x's type.
func times(x *weft.Tensor, factors ...*weft.Tensor) *weft.Tensor {
	for _, f := range factors {
		x = x.Mul(f.To(x.DType()))
	}
	return x.Clone()
}

// FourierGaussian multiplies the Fourier transform of an array by that of a Gaussian with a standard deviation sigma along
// each axis, or one for all; its sign does not count. It panics with *[weft.Error] for numbers that are not finite or not one
// for each axis, and where N real elements do not have N/2+1 along Axis.
func FourierGaussian(x *weft.Tensor, sigma []float64, opts ...FourierOpts) *weft.Tensor {
	const name = "ndimage.fourier_gaussian"
	defer array.Named(name).End()
	x, k := fourier(name, "sigma", x, sigma, opts)
	for i := range k {
		k[i] = k[i].Mul(k[i]).Mul(-2 * math.Pi * math.Pi).Exp()
	}
	return times(x, k...)
}

// FourierUniform multiplies the Fourier transform of an array by that of a box of size elements along each axis, or one size
// for all. It panics as [FourierGaussian] does, and for sizes below 0.
func FourierUniform(x *weft.Tensor, size []float64, opts ...FourierOpts) *weft.Tensor {
	const name = "ndimage.fourier_uniform"
	defer array.Named(name).End()
	x, k := fourier(name, "size", x, size, opts)
	sizes(name, size)
	for i := range k {
		k[i] = k[i].Sinc()
	}
	return times(x, k...)
}

// FourierEllipsoid multiplies the Fourier transform of an array with one to three axes by that of an ellipsoid of size
// elements along each axis, or one size for all. It panics as [FourierUniform] does, and for other numbers of axes.
func FourierEllipsoid(x *weft.Tensor, size []float64, opts ...FourierOpts) *weft.Tensor {
	const name = "ndimage.fourier_ellipsoid"
	defer array.Named(name).End()
	if n := input(name, x).Rank(); n < 1 || n > 3 {
		array.Failf(name, "x", "has %d axes, want 1 to 3", n)
	}
	x, k := fourier(name, "size", x, size, opts)
	sizes(name, size)
	sum := k[0].Mul(k[0])
	for _, v := range k[1:] {
		sum = sum.Add(v.Mul(v))
	}
	r := sum.Sqrt().Mul(math.Pi)
	at0 := r.Eq(0)
	safe := weft.Where(at0, 1, r)
	var f *weft.Tensor
	switch len(k) {
	case 1:
		f = safe.Sin().Div(safe)
	case 2:
		f = special.J1(safe).Mul(2).Div(safe)
	default:
		f = safe.Sin().Sub(safe.Mul(safe.Cos())).Mul(3).Div(safe.Mul(safe).Mul(safe))
	}
	return times(x, weft.Where(at0, 1, f))
}

// FourierShift multiplies the Fourier transform of an array by that of a shift by a number of elements along each axis, or
// one number for all. The result is complex. It panics as [FourierGaussian] does.
func FourierShift(x *weft.Tensor, shift []float64, opts ...FourierOpts) *weft.Tensor {
	const name = "ndimage.fourier_shift"
	defer array.Named(name).End()
	x, k := fourier(name, "shift", x, shift, opts)
	d := weft.Complex128
	if x.DType() != weft.Float64 && x.DType() != weft.Complex128 {
		d = weft.Complex64
	}
	turns := weft.ScalarOf(weft.Float64, 0).On(x.Device())
	for _, v := range k {
		turns = turns.Add(v)
	}
	return x.To(d).Mul(weft.Polar(weft.OnesLike(turns), turns.Mul(-2*math.Pi)).To(d))
}
