package interpolate

import (
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A GridMethod says how a [RegularGridInterpolator] or [GridData] goes from point to point.
type GridMethod string

// The methods of [NewRegularGridInterpolator].
const (
	Linear  GridMethod = "linear"  // along each axis
	Nearest GridMethod = "nearest" // the value of the nearest point; in the middle the lower one
	// CloughTocher is for [GridData] alone: smooth, by cubic polynomials on triangles in the plane.
	CloughTocher GridMethod = "cubic"
)

// GridOpts are the options of [NewRegularGridInterpolator].
type GridOpts struct {
	Method      GridMethod // Linear if it is empty
	Extrapolate bool       // continues the outer cells outside of the grid; by default results are NaN there
}

// A RegularGridInterpolator interpolates values on a grid whose axes have points of any distances. It may be used by
// several goroutines.
type RegularGridInterpolator struct {
	points  []*weft.Tensor
	values  *weft.Tensor // [all points, all numbers at a point]
	rest    []int        // the axes of a value
	strides []int
	o       GridOpts
}

// NewRegularGridInterpolator returns an interpolator of values of shape [n0 n1 ... nk ...], points having k+1 ascending
// vectors of n0, n1, ... nk elements, 2 or more of each. Further axes of values stay. It panics with a [*weft.Error]
// for bad arguments. SciPy's RegularGridInterpolator.
func NewRegularGridInterpolator(points []*weft.Tensor, values *weft.Tensor, opts ...GridOpts) *RegularGridInterpolator {
	const name = "interpolate.newregulargridinterpolator"
	o := array.Options(name, opts)
	switch o.Method {
	case "":
		o.Method = Linear
	case Linear, Nearest:
	default:
		array.Failf(name, "Method", "%q is unknown: want linear or nearest", o.Method)
	}
	(*core.Tensor)(values).CheckArgument(name, "values")
	if values.DType().Complex() {
		array.Failf(name, "values", "is %s: want real numbers", values.DType())
	}
	if len(points) == 0 || len(points) > values.Rank() {
		array.Failf(name, "points", "has %d vectors, values %d axes", len(points), values.Rank())
	}
	g := &RegularGridInterpolator{o: o, strides: make([]int, len(points)), rest: values.Shape()[len(points):]}
	all := 1
	for i := len(points) - 1; i >= 0; i-- {
		p := ascending(name, fmt.Sprintf("points[%d]", i), points[i], 2)
		if len(p) != values.Dim(i) {
			array.Failf(name, fmt.Sprintf("points[%d]", i), "has %d elements, axis %d of values %d", len(p), i, values.Dim(i))
		}
		g.strides[i] = all
		all *= len(p)
	}
	for _, p := range points {
		g.points = append(g.points, p.Detach().To(weft.Float64).Contiguous())
	}
	g.values = values.To(weft.Float64).Reshape(all, array.Size(g.rest))
	return g
}

// At returns the values at x, of shape [... k], k being the number of axes of the grid: float64 of shape [...] followed
// by the axes of a value. It has gradients with respect to x, with Linear, and to the values of the grid.
func (g *RegularGridInterpolator) At(x *weft.Tensor) *weft.Tensor {
	const name = "interpolate.at"
	k := len(g.points)
	x, shape := coordinates(name, x, k)
	place := weft.ZerosOf(weft.Int64, x.Dim(0)) // of the lowest corner
	parts := make([]*weft.Tensor, k)
	inside := weft.OnesOf(weft.Bool, x.Dim(0))
	for i, p := range g.points {
		v := x.Slice(weft.All, weft.Range(i, i+1)).Reshape(-1)
		d := v.Detach()
		inside = inside.LogicalAnd(d.Ge(p.At(0)).LogicalAnd(d.Le(p.At(-1))))
		at := p.SearchSorted(d.Contiguous(), weft.SearchOpts{Right: true}).Sub(1).Clamp(0, p.Size()-2)
		low := p.IndexSelect(0, at)
		parts[i] = v.Sub(low).Div(p.IndexSelect(0, at.Add(1)).Sub(low))
		if g.o.Method == Nearest {
			parts[i] = parts[i].Detach().Gt(0.5).To(weft.Float64)
		}
		place = place.Add(at.Mul(g.strides[i]))
	}
	var sum *weft.Tensor
	for corner := range 1 << k {
		at := place
		var weight *weft.Tensor
		for i, t := range parts {
			if corner>>i&1 == 0 {
				t = t.Neg().Add(1)
			} else {
				at = at.Add(g.strides[i])
			}
			if weight == nil {
				weight = t
			} else {
				weight = weight.Mul(t)
			}
		}
		v := g.values.IndexSelect(0, at)
		if g.o.Method == Nearest { // what is not chosen may be NaN
			v = weft.Where(weight.Reshape(-1, 1).Ne(0), v, 0)
		}
		if v = v.Mul(weight.Reshape(-1, 1)); sum == nil {
			sum = v
		} else {
			sum = sum.Add(v)
		}
	}
	if g.o.Extrapolate { // Nearest chooses a point for NaN too
		inside = x.Detach().IsNaN().Any(1).LogicalNot()
	}
	sum = weft.Where(inside.Reshape(-1, 1), sum, math.NaN())
	return sum.Reshape(append(shape, g.rest...)...)
}

// coordinates returns points of k coordinates as rows, and the shape of all points.
func coordinates(name string, x *weft.Tensor, k int) (rows *weft.Tensor, shape []int) {
	(*core.Tensor)(x).CheckArgument(name, "x")
	if x.DType().Complex() || x.Rank() == 0 || x.Dim(-1) != k {
		array.Failf(name, "x", "is %s of shape %s: want real numbers, %d along the last axis", x.DType(), array.ShapeString(x.Shape()), k)
	}
	shape = x.Shape()[:x.Rank()-1]
	return x.To(weft.Float64).Reshape(array.Size(shape), k), shape
}
