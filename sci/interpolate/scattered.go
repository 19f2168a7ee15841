package interpolate

import (
	"cmp"
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// scattered returns points of shape [n k] as finite numbers, and values of shape [n ...] as a matrix with the axes of
// one value.
func scattered(name string, points, values *weft.Tensor) (p, v *weft.Tensor, rest []int) {
	(*core.Tensor)(points).CheckArgument(name, "points")
	if points.DType().Complex() || points.Rank() != 2 || points.Size() == 0 {
		array.Failf(name, "points", "is %s of shape %s: want real numbers, a row for each point", points.DType(), array.ShapeString(points.Shape()))
	}
	p = points.Detach().To(weft.Float64).Contiguous()
	if p.IsFinite().All().Item() == 0 {
		array.Failf(name, "points", "has coordinates that are not finite")
	}
	if values == nil {
		return p, nil, nil
	}
	n := points.Dim(0)
	if values.DType().Complex() || values.Rank() == 0 || values.Dim(0) != n {
		array.Failf(name, "values", "is %s of shape %s: want real numbers, one or more for each of %d points", values.DType(), array.ShapeString(values.Shape()), n)
	}
	rest = values.Shape()[1:]
	return p, values.To(weft.Float64).Reshape(n, array.Size(rest)), rest
}

// meshOf returns the triangles of points in the plane.
func meshOf(name string, p *weft.Tensor) *mesh {
	if p.Dim(1) != 2 || p.Dim(0) > 1<<28 {
		array.Failf(name, "points", "has shape %s: want 2 coordinates for each of at most 2^28 points", array.ShapeString(p.Shape()))
	}
	m := triangulate(weft.Data[float64](p))
	if m == nil {
		array.Failf(name, "points", "are all on a line: want 3 or more that are not")
	}
	return m
}

// Delaunay returns the triangles of Delaunay's triangulation of points, [n 2], in the plane: int64 of shape [t 3], the
// places of their vertices counter-clockwise. No point is inside the circle of a triangle, exactly. Where four or more
// points are on one circle, any of their triangulations is right. Of equal points the first counts. It panics with a
// [*weft.Error] for bad arguments, and where all points are on a line. SciPy's spatial.Delaunay has them as simplices.
func Delaunay(points *weft.Tensor) *weft.Tensor {
	const name = "interpolate.delaunay"
	p, _, _ := scattered(name, points, nil)
	m := meshOf(name, p)
	var list []int64
	for t, v := range m.v {
		if !m.infinite(int32(t)) {
			list = append(list, int64(v[0]), int64(v[1]), int64(v[2]))
		}
	}
	return weft.FromSlice(list, len(list)/3, 3)
}

// A LinearNDInterpolator is a linear function on each triangle of scattered points. It may be used by several goroutines.
type LinearNDInterpolator struct {
	points, values *weft.Tensor // points are scaled by the mesh
	rest           []int
	mesh           *mesh
}

// NewLinearNDInterpolator returns an interpolator of values at points, [n ...] and [n 2] for n points in any order: on
// each triangle of their Delaunay triangulation the values lie on the plane through its three vertices. It has
// gradients with respect to the values. It panics with a [*weft.Error] for bad arguments, and where all points are on a
// line. SciPy's LinearNDInterpolator in two dimensions; for others there is [NewRBFInterpolator].
func NewLinearNDInterpolator(points, values *weft.Tensor) *LinearNDInterpolator {
	return linearND("interpolate.newlinearndinterpolator", points, values)
}

func linearND(name string, points, values *weft.Tensor) *LinearNDInterpolator {
	(*core.Tensor)(values).CheckArgument(name, "values")
	l := &LinearNDInterpolator{}
	l.points, l.values, l.rest = scattered(name, points, values)
	l.mesh = meshOf(name, l.points)
	l.points = l.points.Mul(l.mesh.scale)
	return l
}

// At returns the values at x, of shape [... 2]: float64 of shape [...] followed by the axes of a value, NaN outside of
// the hull of all points. Within some roundings of the hull a place is inside. It has derivatives with respect to x.
func (l *LinearNDInterpolator) At(x *weft.Tensor) *weft.Tensor {
	return l.at("interpolate.at", x, math.NaN())
}

// at is At with a value outside of the hull.
func (l *LinearNDInterpolator) at(name string, x *weft.Tensor, fill float64) *weft.Tensor {
	rows, shape := coordinates(name, x, 2)
	count := rows.Dim(0)
	triangles, inside := l.triangles(rows)
	var p, v [3]*weft.Tensor
	for k := range p {
		corner := make([]int64, count)
		for i, t := range triangles {
			if inside[i] {
				corner[i] = int64(l.mesh.v[t][k])
			}
		}
		index := weft.FromSlice(corner, count)
		p[k], v[k] = l.points.IndexSelect(0, index), l.values.IndexSelect(0, index)
	}
	in := weft.FromSlice(inside, count).Reshape(-1, 1)
	b := barycentric(in, rows.Mul(l.mesh.scale), p)
	y := v[0].Add(b[1].Mul(v[1].Sub(v[0]))).Add(b[2].Mul(v[2].Sub(v[0])))
	return weft.Where(in, y, fill).Reshape(append(shape, l.rest...)...)
}

// triangles returns the triangle at each row, and whether there is one.
func (l *LinearNDInterpolator) triangles(rows *weft.Tensor) (triangles []int32, inside []bool) {
	triangles, inside = make([]int32, rows.Dim(0)), make([]bool, rows.Dim(0))
	at := int32(0)
	for i, p := 0, weft.Data[float64](rows.Detach().Contiguous()); i < len(inside); i++ {
		if math.IsNaN(p[2*i]) || math.IsNaN(p[2*i+1]) || math.IsInf(p[2*i], 0) || math.IsInf(p[2*i+1], 0) {
			continue
		}
		at, inside[i] = l.mesh.find(p[2*i], p[2*i+1], at)
		triangles[i] = at
	}
	return triangles, inside
}

// barycentric returns the barycentric coordinates, [count 1] each, of rows in triangles with corners p, where in says
// that there is one.
func barycentric(in, rows *weft.Tensor, p [3]*weft.Tensor) (b [3]*weft.Tensor) {
	column := func(x *weft.Tensor, k int) *weft.Tensor { return x.Slice(weft.All, weft.Range(k, k+1)) }
	cross := func(a, b *weft.Tensor) *weft.Tensor {
		return column(a, 0).Mul(column(b, 1)).Sub(column(a, 1).Mul(column(b, 0)))
	}
	along, across, from := p[1].Sub(p[0]), p[2].Sub(p[0]), weft.Where(in, rows, 0).Sub(p[0])
	area := weft.Where(in, cross(along, across), 1)
	b[1], b[2] = cross(from, across).Div(area), cross(along, from).Div(area)
	b[0] = b[1].Add(b[2]).Neg().Add(1)
	return b
}

// find returns the triangle at a place, and whether it is in one or within roundings of one at the hull.
func (m *mesh) find(x, y float64, from int32) (t int32, inside bool) {
	if t = m.locate(x, y, from); !m.infinite(t) {
		return t, true
	}
	for _, t := range append([]int32{t}, m.near[t][:]...) {
		if !m.infinite(t) {
			continue
		}
		for i, v := range m.v[t] {
			if v == int32(len(m.start)-1) {
				if t := m.near[t][i]; m.close(t, x, y) {
					return t, true
				}
			}
		}
	}
	return t, false
}

// close reports whether all shares of the vertices of a triangle are above -1e-13, at a place outside.
func (m *mesh) close(t int32, x, y float64) bool {
	v := m.v[t]
	area := func(a, b [2]float64) float64 { return a[0]*b[1] - a[1]*b[0] }
	to := m.way(x, y)
	a, b, c := to(v[0]), to(v[1]), to(v[2])
	s := [3]float64{area(b, c), area(c, a), area(a, b)}
	return min(s[0], s[1], s[2]) >= -1e-13*(s[0]+s[1]+s[2])
}

// way returns the function of the scaled ways from a place to points.
func (m *mesh) way(x, y float64) func(k int32) [2]float64 {
	x, y = float64(x*m.scale), float64(y*m.scale)
	return func(k int32) [2]float64 {
		return [2]float64{float64(m.x[2*k]*m.scale) - x, float64(m.x[2*k+1]*m.scale) - y}
	}
}

// A NearestNDInterpolator has the value of the nearest of scattered points. It may be used by several goroutines.
type NearestNDInterpolator struct {
	points []float64
	k      int
	most   float64 // the greatest size of a coordinate
	values *weft.Tensor
	rest   []int
	order  []int64 // of the points in a k-d tree: the middle of a range parts both halves
}

// NewNearestNDInterpolator returns an interpolator of values at points, [n ...] and [n k] for n points of k coordinates
// in any order. It has gradients with respect to the values. It panics with a [*weft.Error] for bad arguments. SciPy's
// NearestNDInterpolator.
func NewNearestNDInterpolator(points, values *weft.Tensor) *NearestNDInterpolator {
	return nearestND("interpolate.newnearestndinterpolator", points, values)
}

func nearestND(name string, points, values *weft.Tensor) *NearestNDInterpolator {
	(*core.Tensor)(values).CheckArgument(name, "values")
	p, v, rest := scattered(name, points, values)
	n := &NearestNDInterpolator{points: weft.Data[float64](p), k: p.Dim(1), values: v, rest: rest, order: make([]int64, p.Dim(0))}
	for i := range n.order {
		n.order[i] = int64(i)
	}
	for _, v := range n.points {
		n.most = max(n.most, math.Abs(v))
	}
	n.part(n.order, 0)
	return n
}

// part sorts a range by one axis and its halves by the next.
func (n *NearestNDInterpolator) part(order []int64, axis int) {
	if len(order) < 2 {
		return
	}
	slices.SortFunc(order, func(a, b int64) int {
		return cmp.Or(cmp.Compare(n.points[int(a)*n.k+axis], n.points[int(b)*n.k+axis]), cmp.Compare(a, b))
	})
	half := len(order) / 2
	n.part(order[:half], (axis+1)%n.k)
	n.part(order[half+1:], (axis+1)%n.k)
}

// search improves best, the place of a point, and its squared distance, of coordinates times scale.
func (n *NearestNDInterpolator) search(order []int64, axis int, x []float64, scale float64, best int64, least float64) (int64, float64) {
	if len(order) == 0 {
		return best, least
	}
	half := len(order) / 2
	i := order[half]
	p, d := n.points[int(i)*n.k:][:n.k], 0.0
	for k, v := range x {
		apart := float64(v*scale) - float64(p[k]*scale)
		d += float64(apart * apart)
	}
	if d < least || d == least && i < best || best < 0 {
		best, least = i, d
	}
	first, then := order[:half], order[half+1:]
	apart := float64(x[axis]*scale) - float64(p[axis]*scale)
	if apart > 0 {
		first, then = then, first
	}
	best, least = n.search(first, (axis+1)%n.k, x, scale, best, least)
	if float64(apart*apart) <= least {
		best, least = n.search(then, (axis+1)%n.k, x, scale, best, least)
	}
	return best, least
}

// At returns the values at x, of shape [... k]: float64 of shape [...] followed by the axes of a value. Of equally near
// points it is the first. NaN has NaN.
func (n *NearestNDInterpolator) At(x *weft.Tensor) *weft.Tensor {
	rows, shape := coordinates("interpolate.at", x, n.k)
	at := make([]int64, rows.Dim(0))
	for i, p := 0, weft.Data[float64](rows.Detach().Contiguous()); i < len(at); i++ {
		if x := p[i*n.k:][:n.k]; !slices.ContainsFunc(x, math.IsNaN) {
			at[i], _ = n.search(n.order, 0, x, unitScale(append([]float64{n.most}, x...)), -1, math.Inf(1))
		}
	}
	missing := rows.Detach().IsNaN().Any(1).Reshape(-1, 1)
	return weft.Where(missing, math.NaN(), n.values.IndexSelect(0, weft.FromSlice(at, len(at)))).Reshape(append(shape, n.rest...)...)
}

// GridDataOpts are the options of [GridData].
type GridDataOpts struct {
	Method    GridMethod // Linear if it is empty: on triangles, in the plane, as is CloughTocher
	FillValue *float64   // the value outside of the hull, which Nearest does not have; NaN if it is nil
	Rescale   bool       // coordinates are divided by their ranges first, so that units do not count
}

// GridData returns values at x, of shape [... k], by interpolation of values at scattered points, [n ...] and [n k]. It
// is [NewLinearNDInterpolator], [NewNearestNDInterpolator] or [NewCloughTocher2DInterpolator] with At, and panics as
// these do. SciPy's griddata.
func GridData(points, values, x *weft.Tensor, opts ...GridDataOpts) *weft.Tensor {
	const name = "interpolate.griddata"
	o := array.Options(name, opts)
	p, _, _ := scattered(name, points, nil)
	rows, _ := coordinates(name, x, p.Dim(1))
	x = rows.Reshape(x.Shape()...)
	if o.Rescale {
		if p.Abs().Max().Item() > 1e300 { // so that ranges are finite
			p, x = p.Mul(0.25), x.Mul(0.25)
		}
		low := p.Min(0)
		width := p.Max(0).Sub(low)
		width = weft.Where(width.Eq(0), 1, width)
		p, x = p.Sub(low).Div(width), x.Sub(low).Div(width)
	}
	switch o.Method {
	case "", Linear:
		return linearND(name, p, values).at(name, x, array.Or(o.FillValue, math.NaN()))
	case CloughTocher:
		return cloughTocher(name, p, values).at(name, x, array.Or(o.FillValue, math.NaN()))
	case Nearest:
		return nearestND(name, p, values).At(x)
	}
	array.Failf(name, "Method", "%q is unknown: want linear, nearest or cubic", o.Method)
	return nil
}
