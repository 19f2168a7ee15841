package ndimage

import (
	"weft"
	"weft/internal/array"
)

// BorderOpts are the options of filters that only ask what lies beyond the edges.
type BorderOpts struct {
	Mode  Mode    // what is read beyond the edges; Reflect if empty
	Modes []Mode  // a mode for each axis, instead of Mode
	Cval  float64 // the value of Constant
	Axes  []int   // the axes that are filtered, or whose derivatives are summed; all if nil
}

func (o BorderOpts) on(name string, x *weft.Tensor) plane {
	return FilterOpts{Mode: o.Mode, Modes: o.Modes, Cval: o.Cval, Axes: o.Axes}.on(name, input(name, x).Rank())
}

// three correlates x with three weights along an axis.
func (p plane) three(x *weft.Tensor, i int, a, b, c float64) *weft.Tensor {
	return filterLine(p.name, x, weft.From([]float64{a, b, c}).On(x.Device()), p.axes[i], 1, 0, p.modes[i], p.cval)
}

// slope is a difference along an axis, smoothed along the others.
func slope(name string, x *weft.Tensor, axis int, o BorderOpts, centre float64) *weft.Tensor {
	defer array.Named(name).End()
	p := o.on(name, x)
	axis = array.Axis(name, axis, x.Rank())
	y := x
	for i, a := range p.axes {
		if a == axis {
			y = p.three(y, i, -1, 0, 1)
		}
	}
	for i, a := range p.axes {
		if a != axis {
			y = p.three(y, i, 1, centre, 1)
		}
	}
	return y
}

// Sobel returns Sobel's derivative along an axis: the difference of neighbours, smoothed by 1, 2, 1 along the
// other axes. Results of unsigned integers wrap: convert to a float first.
func Sobel(x *weft.Tensor, axis int, opts ...BorderOpts) *weft.Tensor {
	return slope("ndimage.sobel", x, axis, array.Options("ndimage.sobel", opts), 2)
}

// Prewitt returns Prewitt's derivative along an axis: the difference of neighbours, summed over three elements
// along the other axes. Results of unsigned integers wrap: convert to a float first.
func Prewitt(x *weft.Tensor, axis int, opts ...BorderOpts) *weft.Tensor {
	return slope("ndimage.prewitt", x, axis, array.Options("ndimage.prewitt", opts), 1)
}

// summed adds up f of each axis.
func (p plane) summed(x *weft.Tensor, f func(i int) *weft.Tensor) *weft.Tensor {
	var y *weft.Tensor
	for i := range p.axes {
		if v := f(i); y == nil {
			y = v
		} else {
			y = y.Add(v)
		}
	}
	if y == nil {
		return weft.ZerosLike(x)
	}
	return y
}

// Laplace returns the sum of second differences along the axes.
func Laplace(x *weft.Tensor, opts ...BorderOpts) *weft.Tensor {
	const name = "ndimage.laplace"
	defer array.Named(name).End()
	p := array.Options(name, opts).on(name, x)
	return p.summed(x, func(i int) *weft.Tensor { return p.three(x, i, 1, -2, 1) })
}

// derived is x smoothed by a Gaussian and differentiated along p.axes[i].
func (p plane) derived(x *weft.Tensor, sigma []float64, i, order int, o GaussianOpts) *weft.Tensor {
	o.Order = make([]int, len(p.axes))
	o.Order[i] = order
	return gaussianFilter(p.name, x, sigma, o)
}

// GaussianLaplace returns the sum of second derivatives of x smoothed by a Gaussian. The options' Order is not
// used.
func GaussianLaplace(x *weft.Tensor, sigma []float64, opts ...GaussianOpts) *weft.Tensor {
	const name = "ndimage.gaussian_laplace"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	p := BorderOpts{Axes: o.Axes}.on(name, x)
	return p.summed(x, func(i int) *weft.Tensor { return p.derived(x, sigma, i, 2, o) })
}

// GaussianGradientMagnitude returns the length of the gradient of x smoothed by a Gaussian. The options' Order
// is not used.
func GaussianGradientMagnitude(x *weft.Tensor, sigma []float64, opts ...GaussianOpts) *weft.Tensor {
	const name = "ndimage.gaussian_gradient_magnitude"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	p := BorderOpts{Axes: o.Axes}.on(name, x)
	y := p.summed(x, func(i int) *weft.Tensor {
		v := p.derived(x, sigma, i, 1, o)
		return v.Mul(v)
	})
	if d := x.DType(); d.Integer() || d == weft.Bool {
		return y.To(weft.Float64).Sqrt().To(weft.Int64).To(d)
	}
	return y.Sqrt()
}
