package ndimage

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// InterpolationOpts are the options of functions that evaluate arrays between elements.
type InterpolationOpts struct {
	Order       *int    // of the spline, 0 to 5; 3 if nil
	Mode        Mode    // what lies beyond the edges; Constant if empty
	Cval        float64 // the value of Constant
	NoPrefilter bool    // the array has a spline's coefficients, as SplineFilter gives them
	GridMode    bool    // of Zoom: elements are areas, whose edges stay where they are, not points
}

// A resampled is an array that a spline is evaluated from.
type resampled struct {
	name string
	x    *weft.Tensor // the coefficients, Float64
	s    sampling
	d    weft.DType // of the result
}

// of prepares the spline through x.
func (o InterpolationOpts) of(name string, x *weft.Tensor) resampled {
	if input(name, x); x.DType().Complex() {
		array.Failf(name, "x", "is %s, want real numbers", x.DType())
	}
	if x.Rank() == 0 {
		array.Failf(name, "x", "has no axes")
	}
	order := 3
	if o.Order != nil {
		order = *o.Order
	}
	checkSpline(name, order)
	r := resampled{name: name, x: x.To(weft.Float64), d: x.DType(), s: sampling{order: order, mode: o.Mode.checked(name, Constant), cval: o.Cval}}
	if r.s.mode == GridMirror {
		r.s.mode = Reflect
	}
	if order > 1 && !o.NoPrefilter && x.Size() > 0 {
		if r.s.mode == Nearest || r.s.mode == GridConstant { // what a spline has no closed form for
			r.s.pad = 12
			for a, n := range x.Shape() {
				r.x = stretch(name, r.x, a, -r.s.pad, n+r.s.pad, r.s.mode, o.Cval)
			}
		}
		r.x = coefficients(r.x, order, r.s.mode)
	}
	r.s.in, r.s.slopes = r.x.Shape(), make([]int, x.Rank())
	return r
}

// at returns the spline at places, or where the attribute says.
func (r resampled) at(out []int, places ...*weft.Tensor) *weft.Tensor {
	array.CheckShape(r.name, out, weft.Float64)
	r.s.out = out
	var y *weft.Tensor
	if r.x.Size() == 0 || array.Size(out) == 0 {
		y = r.x.Device().FullOf(weft.Float64, r.s.cval, out...)
	} else {
		y = (*weft.Tensor)(core.WithAttrs(sampleDef, r.s, core.Inner(append([]*weft.Tensor{r.x.Contiguous()}, places...))...))
	}
	if r.d.Integer() { // to the nearest, halves away from 0
		y = weft.Where(y.Ge(0), y.Add(0.5), y.Sub(0.5))
	} else if r.d == weft.Bool {
		return y.Ge(0.5)
	}
	return y.To(r.d)
}

// MapCoordinates returns x at coordinates, [axes of x, ...], by a spline of some order, in x's type and the shape
// of coordinates without its first axis. Results of integer types are rounded to the nearest, Bool is true from 0.5
// on. All is computed in float64. It has gradients of any order with respect to x and, as far as the spline is smooth, to coordinates.
// A coordinate that is NaN gives Cval.
//
// It panics with *[weft.Error] where coordinates does not have a row for each axis of x.
func MapCoordinates(x, coordinates *weft.Tensor, opts ...InterpolationOpts) *weft.Tensor {
	const name = "ndimage.map_coordinates"
	defer array.Named(name).End()
	r := array.Options(name, opts).of(name, x)
	(*core.Tensor)(coordinates).CheckArgument(name, "coordinates")
	if coordinates.Rank() < 2 || coordinates.Dim(0) != x.Rank() || coordinates.DType().Complex() {
		array.Failf(name, "coordinates", "is %s, want real numbers with a row for each of %d axes", array.TypeString(coordinates.DType(), coordinates.Shape()), x.Rank())
	}
	return r.at(coordinates.Shape()[1:], coordinates.To(weft.Float64).Contiguous())
}

// finite checks numbers of an argument.
func finite(name, arg string, list []float64) {
	for _, x := range list {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			array.Failf(name, arg, "has %g", x)
		}
	}
}

// scaled sets places that are a multiple of the index plus an offset along each axis.
func (r *resampled) scaled(scale, offset []float64) {
	n := len(scale)
	r.s.matrix, r.s.offset = make([]float64, n*n), offset
	for i, v := range scale {
		r.s.matrix[i*n+i] = v
	}
}

// Zoom returns x enlarged by a factor along each axis, or one for all: axes get the nearest whole number of
// elements, halves to even, and their first and last elements stay where they are. See [MapCoordinates].
func Zoom(x *weft.Tensor, zoom []float64, opts ...InterpolationOpts) *weft.Tensor {
	const name = "ndimage.zoom"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	input(name, x)
	factors := each(name, "zoom", zoom, x.Rank(), 1)
	finite(name, "zoom", factors)
	same := !o.NoPrefilter
	out, scale, offset := x.Shape(), make([]float64, x.Rank()), make([]float64, x.Rank())
	for i, f := range factors {
		n := out[i]
		m := math.RoundToEven(float64(n) * f)
		if f < 0 || m > 1<<40 {
			array.Failf(name, "zoom", "is %g along axis %d of %d elements", f, i, n)
		}
		out[i] = int(m)
		same = same && f == 1
		from, to := float64(n-1), m-1
		if o.GridMode {
			from, to = float64(n), m
		}
		if scale[i] = 1; to != 0 {
			scale[i] = from / to
		}
		if o.GridMode {
			offset[i] = float64(0.5*scale[i]) - 0.5
		}
	}
	r := o.of(name, x)
	if same {
		return x.Clone()
	}
	r.scaled(scale, offset)
	return r.at(out)
}

// Shift returns x moved by a number of elements along each axis, or one number for all. See [MapCoordinates].
func Shift(x *weft.Tensor, shift []float64, opts ...InterpolationOpts) *weft.Tensor {
	const name = "ndimage.shift"
	defer array.Named(name).End()
	r := array.Options(name, opts).of(name, x)
	by := each(name, "shift", shift, x.Rank(), 0)
	finite(name, "shift", by)
	scale, offset := make([]float64, len(by)), make([]float64, len(by))
	for i, v := range by {
		scale[i], offset[i] = 1, -v
	}
	r.scaled(scale, offset)
	return r.at(x.Shape())
}

// AffineTransform returns x at matrix times index plus offset, for each index of the result, which has shape, or x's shape
// where that is nil. Matrix has a row for each axis of x and a column for each of the result. Offset has a number for
// each axis of x, or one for all; it may be nil. See [MapCoordinates].
//
// It panics with *[weft.Error] where sizes do not fit or numbers are not finite.
func AffineTransform(x *weft.Tensor, matrix [][]float64, offset []float64, shape []int, opts ...InterpolationOpts) *weft.Tensor {
	const name = "ndimage.affine_transform"
	defer array.Named(name).End()
	r := array.Options(name, opts).of(name, x)
	if shape == nil {
		shape = x.Shape()
	}
	if len(matrix) != x.Rank() || len(shape) == 0 {
		array.Failf(name, "matrix", "has %d rows, want one for each of %d axes", len(matrix), x.Rank())
	}
	for i, row := range matrix {
		if len(row) != len(shape) {
			array.Failf(name, "matrix", "has %d numbers in row %d, want one for each of %d axes of the result", len(row), i, len(shape))
		}
		finite(name, "matrix", row)
		r.s.matrix = append(r.s.matrix, row...)
	}
	r.s.offset = each(name, "offset", offset, x.Rank(), 0)
	finite(name, "offset", r.s.offset)
	for _, n := range shape {
		if n < 0 {
			array.Failf(name, "shape", "is %v", shape)
		}
	}
	return r.at(append([]int{}, shape...))
}

// RotateOpts are the options of [Rotate].
type RotateOpts struct {
	Axes      [2]int // the plane that is turned; the first two axes if both are 0
	KeepShape bool   // the result has x's shape; else one that holds all of it
	Order     *int   // of the spline, 0 to 5; 3 if nil
	Mode      Mode   // what lies beyond the edges; Constant if empty
	Cval      float64
}

// Rotate returns x turned by an angle in degrees in a plane of two axes around its centre. See [MapCoordinates].
func Rotate(x *weft.Tensor, angle float64, opts ...RotateOpts) *weft.Tensor {
	const name = "ndimage.rotate"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if input(name, x); x.Rank() < 2 {
		array.Failf(name, "x", "has %d axes, want 2 or more", x.Rank())
	}
	finite(name, "angle", []float64{angle})
	if o.Axes == [2]int{} {
		o.Axes = [2]int{0, 1}
	}
	a, b := array.Axis(name, o.Axes[0], x.Rank()), array.Axis(name, o.Axes[1], x.Rank())
	if a == b {
		array.Failf(name, "Axes", "are one axis, %d", a)
	}
	a, b = min(a, b), max(a, b)
	c, s := cosine(angle)
	in, out := x.Shape(), x.Shape()
	h, w := float64(in[a]), float64(in[b])
	if !o.KeepShape {
		span := func(p, q float64) int {
			return int(max(0, p, q, p+q) - min(0, p, q, p+q) + 0.5)
		}
		out[a], out[b] = span(float64(c*h), float64(s*w)), span(float64(-s*h), float64(c*w))
	}
	n := x.Rank()
	r := InterpolationOpts{Order: o.Order, Mode: o.Mode, Cval: o.Cval}.of(name, x)
	r.s.matrix, r.s.offset = make([]float64, n*n), make([]float64, n)
	for i := range n {
		r.s.matrix[i*n+i] = 1
	}
	r.s.matrix[a*n+a], r.s.matrix[a*n+b], r.s.matrix[b*n+a], r.s.matrix[b*n+b] = c, s, -s, c
	y, z := float64(out[a]-1)/2, float64(out[b]-1)/2
	r.s.offset[a] = (h-1)/2 - (float64(c*y) + float64(s*z))
	r.s.offset[b] = (w-1)/2 - (float64(-s*y) + float64(c*z))
	return r.at(out)
}

// cosine returns cosine and sine of an angle in degrees, exact at right angles.
func cosine(angle float64) (c, s float64) {
	switch angle = math.Mod(angle, 360); angle {
	case 0:
		return 1, 0
	case 90, -270:
		return 0, 1
	case 180, -180:
		return -1, 0
	case 270, -90:
		return 0, -1
	}
	s, c = math.Sincos(angle * (math.Pi / 180))
	return c, s
}
