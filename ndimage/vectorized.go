package ndimage

import (
	"weft"
	"weft/internal/array"
)

// Filter1DOpts are the options of [GenericFilter1D].
type Filter1DOpts struct {
	Axis   *int    // the axis of the lines; the last if nil
	Mode   Mode    // what is read beyond the edges; Reflect if empty
	Cval   float64 // the value of Constant
	Origin int     // how many elements windows lie before their centre
}

// GenericFilter1D returns a function of lines. It gets all lines of x along an axis at once, as the last axis, each extended by the size-1
// elements that windows of size elements read beyond its ends: [... n+size-1]. It returns a line of n elements for each. The result has x's
// shape and the function's type; the function's operations fuse, run on every device and have gradients. It panics with *[weft.Error] for
// a function that returns another shape. SciPy's generic_filter1d.
func GenericFilter1D(x *weft.Tensor, f func(lines *weft.Tensor) *weft.Tensor, size int, opts ...Filter1DOpts) *weft.Tensor {
	const name = "ndimage.generic_filter1d"
	o := array.Options(name, opts)
	array.Given(name, "f", f != nil)
	axis := array.Axis(name, array.Or(o.Axis, -1), input(name, x).Rank())
	p := FilterOpts{Mode: o.Mode, Cval: o.Cval, Origin: []int{o.Origin}, Axes: []int{axis}}.on(name, x.Rank())
	var y *weft.Tensor
	want := x.MoveAxis(axis, -1).Shape()
	if size < 1 {
		array.Failf(name, "size", "is %d, want at least 1", size)
	}
	before := reach(name, "size", size, o.Origin)
	if x.Dim(axis) == 0 { // f gets lines of one element, whose results have the type
		shape := x.Shape()
		shape[axis] = 1
		return along(GenericFilter1D(x.Device().ZerosOf(x.DType(), shape...), f, size, o), axis, 0, 0)
	}
	y = f(stretch(name, x, axis, -before, x.Dim(axis)+size-1-before, p.modes[0], o.Cval).MoveAxis(axis, -1))
	array.Given(name, "the result of f", y != nil)
	if !array.Equal(y.Shape(), want) {
		array.Failf(name, "f", "returns shape %s, want %s", array.ShapeString(y.Shape()), array.ShapeString(want))
	}
	return y.MoveAxis(-1, axis)
}

// GenericLaplace returns the sum over the axes of a second derivative, which gets x, the axis, and options with the edges. SciPy's
// generic_laplace.
func GenericLaplace(x *weft.Tensor, second func(x *weft.Tensor, axis int, opts ...BorderOpts) *weft.Tensor, opts ...BorderOpts) *weft.Tensor {
	const name = "ndimage.generic_laplace"
	return summedOf(name, x, second, array.Options(name, opts), func(v *weft.Tensor) *weft.Tensor { return v })
}

// GenericGradientMagnitude returns the root of the sum over the axes of the squares of a derivative, such as [Sobel] or [Prewitt], which gets x,
// the axis, and options with the edges. Integers become float32. SciPy's generic_gradient_magnitude.
func GenericGradientMagnitude(x *weft.Tensor, derivative func(x *weft.Tensor, axis int, opts ...BorderOpts) *weft.Tensor, opts ...BorderOpts) *weft.Tensor {
	const name = "ndimage.generic_gradient_magnitude"
	return summedOf(name, x, derivative, array.Options(name, opts), (*weft.Tensor).Square).Sqrt()
}

func summedOf(name string, x *weft.Tensor, f func(x *weft.Tensor, axis int, opts ...BorderOpts) *weft.Tensor, o BorderOpts, of func(v *weft.Tensor) *weft.Tensor) *weft.Tensor {
	array.Given(name, "the derivative", f != nil)
	p := o.on(name, x)
	return p.summed(x, func(i int) *weft.Tensor {
		v := f(x, p.axes[i], BorderOpts{Mode: p.modes[i], Cval: p.cval})
		array.Given(name, "the result of the derivative", v != nil)
		if !array.Equal(v.Shape(), x.Shape()) {
			array.Failf(name, "the derivative", "returns shape %s, want %s", array.ShapeString(v.Shape()), array.ShapeString(x.Shape()))
		}
		return of(v)
	})
}

// VectorizedFilter returns a function of the window of each element: size has the window's length along each axis that is filtered. The function gets
// windows of many elements at once, their elements along the last axis, and reduces that axis, as (*weft.Tensor).Max does with -1:
//
//	ndimage.VectorizedFilter(x, func(w *weft.Tensor) *weft.Tensor { return w.Std(-1) }, []int{3, 3})
//
// The result has x's shape and the function's type; the function's operations run on every device and have gradients. Windows of some
// rows are in memory at once. [GenericFilter] takes a compiled function of one window and needs no copies. It panics with *[weft.Error] for a
// function that returns another shape. SciPy's vectorized_filter.
func VectorizedFilter(x *weft.Tensor, f func(windows *weft.Tensor) *weft.Tensor, size []int, opts ...FilterOpts) *weft.Tensor {
	const name = "ndimage.vectorized_filter"
	o := array.Options(name, opts)
	array.Given(name, "f", f != nil)
	p := o.on(name, input(name, x).Rank())
	w := p.around("size", size, x.Rank(), false, nil)
	shape := x.Shape()
	reduced := func(windows *weft.Tensor, want []int) *weft.Tensor {
		y := f(windows)
		array.Given(name, "the result of f", y != nil)
		if !array.Equal(y.Shape(), want) {
			array.Failf(name, "f", "returns shape %s, want %s: without the last axis of its argument", array.ShapeString(y.Shape()), array.ShapeString(want))
		}
		return y
	}
	if x.Size() == 0 || x.Rank() == 0 {
		return reduced(weft.ZerosLike(x).Unsqueeze(-1).Expand(append(append([]int{}, shape...), len(w.at))...).Add(x.Unsqueeze(-1)), shape)
	}
	extended := p.extended(x, w)
	rows := max(1, windowsBlock/len(w.at)*shape[0]/x.Size())
	var parts []*weft.Tensor
	for at := 0; at < shape[0]; at += rows {
		n := min(rows, shape[0]-at)
		windows := along(extended, 0, at, at+n+w.size[0]-1)
		for axis, k := range w.size {
			windows = windows.SlidingWindowView(axis, k)
		}
		part := append([]int{n}, shape[1:]...)
		parts = append(parts, reduced(windows.Reshape(append(append([]int{}, part...), len(w.at))...), part))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return weft.Cat(parts, 0)
}

// windowsBlock is the number of elements of windows that are in memory at once.
const windowsBlock = 1 << 22
