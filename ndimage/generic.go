package ndimage

import (
	"weft"
	"weft/internal/array"
	"weft/kernel"
)

// GenericOpts are the options of [GenericFilter].
type GenericOpts struct {
	Args         []any    // Go numbers for the parameters of the function behind its neighbourhood
	Neighborhood [][2]int // as in kernel.StencilOpts: needed where the offsets that are read are not constant
	Mode         Mode     // what is read beyond the edges; Reflect if empty
	Modes        []Mode   // a mode for each axis, instead of Mode
	Cval         float64  // the value of Constant
	Origin       []int    // how many elements windows lie before their centre, in each axis; 0 if nil
}

// GenericFilter returns a function of the neighbourhood of each element. It is a compiled function: its first
// parameter is a kernel.Near1 to Near6 of x's rank and element type, and the window is what it reads. The result has
// x's shape and the type of the function's result. It fuses, runs on every device and has gradients, as
// [kernel.Func.Stencil], which has its own borders; these are SciPy's, for each axis, with origins.
//
// A compiled function does not panic while it runs: package kernel says what 1/0 and indices outside give. GenericFilter
// panics with *[weft.Error] for a function that is nil, not a stencil of one result, or of another rank or element type.
func GenericFilter(x *weft.Tensor, f *kernel.Func, opts ...GenericOpts) *weft.Tensor {
	const name = "ndimage.generic_filter"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	p := FilterOpts{Mode: o.Mode, Modes: o.Modes, Cval: o.Cval, Origin: o.Origin}.on(name, input(name, x).Rank())
	compiled(name, f)
	if !f.IsStencil() || f.Results() != 1 {
		array.Failf(name, "f", "is %s, want a function of a neighbourhood (kernel.Near1 to Near6) with one result", f.Name())
	}
	near := o.Neighborhood
	if near == nil {
		near = f.Neighborhood()
	}
	if len(near) != x.Rank() {
		array.Failf(name, "f", "is %s, whose neighbourhood has %d axes, for an input with %d", f.Name(), len(near), x.Rank())
	}
	w := window{size: make([]int, len(near)), before: make([]int, len(near))}
	moved := make([][2]int, len(near))
	for i, r := range near {
		if r[0] > r[1] || r[0] < -maxReach || r[1] > maxReach || p.origin[i] < -maxReach || p.origin[i] > maxReach {
			array.Failf(name, "Neighborhood", "runs from %d to %d along axis %d, with origin %d", r[0], r[1], i, p.origin[i])
		}
		w.size[i], w.before[i] = r[1]-r[0]+1, p.origin[i]-r[0]
		moved[i] = [2]int{r[0], r[1]}
	}
	if x.Size() == 0 {
		return f.Stencil(append([]any{x}, append(o.Args, kernel.StencilOpts{Neighborhood: moved})...)...)
	}
	args := append([]any{p.extended(x, w)}, o.Args...)
	return f.Stencil(append(args, kernel.StencilOpts{Border: kernel.Valid, Neighborhood: moved})...)
}

// compiled refuses a nil function.
func compiled(name string, f *kernel.Func) {
	if f == nil {
		array.Failf(name, "f", "is nil, want a function of package kernel")
	}
}

// GeometricOpts are the options of [GeometricTransform].
type GeometricOpts struct {
	Args        []any   // Go numbers for the parameters of the function behind the indices
	Shape       []int   // of the result; that of x if nil
	Order       *int    // of the spline, 0 to 5; 3 if nil
	Mode        Mode    // what lies beyond the edges; Constant if empty
	Cval        float64 // the value of Constant
	NoPrefilter bool    // the array has a spline's coefficients, as SplineFilter gives them
}

// GeometricTransform returns x at the place that a function gives for each index of the result. It is a compiled
// function: it takes the index as a float64 for each axis of the result, and returns a float64 for each axis of x. See
// [MapCoordinates].
//
// A compiled function does not panic while it runs. GeometricTransform panics with *[weft.Error] for a function that is
// nil or has other parameters or results, and for sizes below 0.
func GeometricTransform(x *weft.Tensor, f *kernel.Func, opts ...GeometricOpts) *weft.Tensor {
	const name = "ndimage.geometric_transform"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	r := InterpolationOpts{Order: o.Order, Mode: o.Mode, Cval: o.Cval, NoPrefilter: o.NoPrefilter}.of(name, x)
	compiled(name, f)
	shape := o.Shape
	if shape == nil {
		shape = x.Shape()
	}
	if n := len(f.Params()); n != len(shape)+len(o.Args) || len(shape) == 0 || f.IsStencil() {
		array.Failf(name, "f", "is %s, which takes %s, want numbers: an index for each of %d axes of the result and %d of Args", f.Name(), array.Count(n, "argument"), len(shape), len(o.Args))
	}
	if f.Results() != x.Rank() {
		array.Failf(name, "f", "is %s, which has %s, want one for each of %d axes", f.Name(), array.Count(f.Results(), "result"), x.Rank())
	}
	array.CheckShape(name, append([]int{len(shape)}, shape...), weft.Float64)
	var args []any
	for a, n := range shape {
		along := ones(len(shape))
		along[a] = n
		args = append(args, weft.ArangeOf[int](weft.Float64, n).On(x.Device()).Reshape(along...))
	}
	places := f.MapAll(append(args, o.Args...)...)
	for i := range places {
		places[i] = places[i].To(weft.Float64)
	}
	return r.at(append([]int{}, shape...), weft.Stack(places, 0).Contiguous())
}
