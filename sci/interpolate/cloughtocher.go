package interpolate

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/sparse"
)

// A CloughTocher2DInterpolator is a smooth function of cubic pieces on triangles of scattered points. It may be used by
// several goroutines.
type CloughTocher2DInterpolator struct {
	linear *LinearNDInterpolator
	slopes *weft.Tensor // of the values at the scaled points, [2n, all numbers of a value]: along x of all points, then along y
}

// NewCloughTocher2DInterpolator returns an interpolator of values at points, [n ...] and [n 2] for n points in any
// order. On each triangle of their Delaunay triangulation it has three cubic polynomials that join with continuous
// slopes (Alfeld, "A trivariate Clough-Tocher scheme for tetrahedral data", Comput. Aided Geom. Des. 1, 1984). Slopes
// at the points bend the edges least (Nielson, "A method for interpolating scattered data based upon a minimum norm
// network", Math. Comp. 40, 1983); their equations are solved as a whole. Results have gradients with respect to the
// values. It panics with a [*weft.Error] for bad arguments, and where all points are on a line. SciPy's
// CloughTocher2DInterpolator with a small tol.
func NewCloughTocher2DInterpolator(points, values *weft.Tensor) *CloughTocher2DInterpolator {
	return cloughTocher("interpolate.newcloughtocher2dinterpolator", points, values)
}

func cloughTocher(name string, points, values *weft.Tensor) *CloughTocher2DInterpolator {
	(*core.Tensor)(values).CheckArgument(name, "values")
	c := &CloughTocher2DInterpolator{linear: linearND(name, points, values)}
	m, n := c.linear.mesh, points.Dim(0)
	// Each edge, of direction e and length L, adds (4 e.g1 + 2 e.g2 - 6 rise) e / L^3 to the equations of the slopes g1
	// at one end, and the like at the other.
	var matrix, right entries
	joined := make([]bool, n)
	for t, v := range m.v {
		for k := range 3 {
			i, j := int(v[(k+1)%3]), int(v[(k+2)%3])
			if m.infinite(int32(t)) || i > j && !m.infinite(m.near[t][k]) {
				continue // the edge comes with the triangle beyond
			}
			joined[i], joined[j] = true, true
			e := m.way(m.x[2*i], m.x[2*i+1])(int32(j))
			cube := math.Pow(math.Hypot(e[0], e[1]), 3)
			for a := range 2 {
				for b := range 2 {
					w := e[a] * e[b] / cube
					matrix.add(a*n+i, b*n+i, 4*w)
					matrix.add(a*n+j, b*n+j, 4*w)
					matrix.add(a*n+i, b*n+j, 2*w)
					matrix.add(a*n+j, b*n+i, 2*w)
				}
				for _, row := range []int{a*n + i, a*n + j} {
					right.add(row, j, 6*e[a]/cube)
					right.add(row, i, -6*e[a]/cube)
				}
			}
		}
	}
	for i, is := range joined {
		if !is { // equal to a point before
			matrix.add(i, i, 1)
			matrix.add(n+i, n+i, 1)
		}
	}
	if err := weft.Try(func() {
		c.slopes = sparse.Cholesky(matrix.of(2*n, 2*n)).Solve(right.of(2*n, n).MatMul(c.linear.values))
	}); err != nil {
		array.Failf(name, "points", "have no slopes to the digits of float64: %v", err)
	}
	return c
}

// entries are the entries of a sparse matrix. Entries of one place add up.
type entries struct {
	row, col []int
	value    []float64
}

func (e *entries) add(row, col int, value float64) {
	e.row, e.col, e.value = append(e.row, row), append(e.col, col), append(e.value, value)
}

func (e *entries) of(rows, cols int) *sparse.Matrix {
	return sparse.NewCOO(weft.FromSlice(e.value), e.row, e.col, rows, cols).To(sparse.CSR).Coalesce()
}

// At returns the values at x, of shape [... 2]: float64 of shape [...] followed by the axes of a value, NaN outside of
// the hull of all points. It has derivatives with respect to x. The first ones are continuous. It panics with a
// [*weft.Error] for other shapes and complex numbers.
func (c *CloughTocher2DInterpolator) At(x *weft.Tensor) *weft.Tensor {
	return c.at("interpolate.at", x, math.NaN())
}

// at is At with a value outside of the hull.
func (c *CloughTocher2DInterpolator) at(name string, x *weft.Tensor, fill float64) *weft.Tensor {
	l := c.linear
	rows, shape := coordinates(name, x, 2)
	count := rows.Dim(0)
	triangles, inside := l.triangles(rows)
	var corners [3][]int64
	var across [3][3][]float64 // for the edge opposite a corner: the way to the centroid beyond, in parts of its ends and the triangle's centroid
	for k := range corners {
		corners[k] = make([]int64, count)
		for a := range across[k] {
			across[k][a] = make([]float64, count)
		}
	}
	for i, p := 0, weft.Data[float64](rows.Detach().Contiguous()); i < count; i++ {
		if !inside[i] {
			for k := range across {
				across[k][2][i] = 1
			}
			continue
		}
		t := triangles[i]
		v := l.mesh.v[t]
		b := l.mesh.shares(v, p[2*i], p[2*i+1])
		last := 0 // the corner with the least share: the piece is opposite
		for k := range b {
			if b[k] < b[last] {
				last = k
			}
		}
		for k := range 3 {
			from := (last + 1 + k) % 3
			corners[k][i] = int64(v[from])
			way := l.mesh.beyond(t, from)
			for a := range way {
				across[k][a][i] = way[a]
			}
		}
	}
	mask := weft.FromSlice(inside, count).Reshape(-1, 1)
	n := l.points.Dim(0)
	var p, f, gx, gy [3]*weft.Tensor
	var way [3][3]*weft.Tensor
	for k := range corners {
		index := weft.FromSlice(corners[k], count)
		p[k], f[k] = l.points.IndexSelect(0, index), l.values.IndexSelect(0, index)
		gx[k], gy[k] = c.slopes.IndexSelect(0, index), c.slopes.IndexSelect(0, index.Add(n))
		for a := range way[k] {
			way[k][a] = weft.FromSlice(across[k][a], count, 1)
		}
	}
	b := barycentric(mask, rows.Mul(l.mesh.scale), p)
	y := cubicPiece(p, f, gx, gy, way, b)
	return weft.Where(mask, y, fill).Reshape(append(shape, l.rest...)...)
}

// shares returns the barycentric coordinates of a place in a triangle.
func (m *mesh) shares(v [3]int32, x, y float64) (b [3]float64) {
	to := m.way(x, y)
	p := [3][2]float64{to(v[0]), to(v[1]), to(v[2])}
	sum := 0.0
	for k := range b {
		q, r := p[(k+1)%3], p[(k+2)%3]
		b[k] = float64(q[0]*r[1]) - float64(q[1]*r[0])
		sum += b[k]
	}
	for k := range b {
		b[k] /= sum
	}
	return b
}

// beyond returns the way from the centroid of a triangle to that beyond the edge opposite corner k, or to the middle of
// an edge of the hull: the parts of the corners k+1 and k+2, and of the centroid itself.
func (m *mesh) beyond(t int32, k int) [3]float64 {
	other := m.near[t][k]
	if m.infinite(other) {
		return [3]float64{0.5, 0.5, -1}
	}
	var x, y float64
	for _, v := range m.v[other] {
		x, y = x+m.x[2*v]/3, y+m.x[2*v+1]/3
	}
	b := m.shares(m.v[t], x, y)
	return [3]float64{b[(k+1)%3] - b[k], b[(k+2)%3] - b[k], 3*b[k] - 1}
}

// cubicPiece returns the values of the cubic polynomials opposite corner 2 at barycentric coordinates b, for corners p
// with values f and slopes.
func cubicPiece(p, f, gx, gy [3]*weft.Tensor, way [3][3]*weft.Tensor, b [3]*weft.Tensor) *weft.Tensor {
	column := func(x *weft.Tensor, k int) *weft.Tensor { return x.Slice(weft.All, weft.Range(k, k+1)) }
	sum := func(x ...*weft.Tensor) *weft.Tensor {
		s := x[0]
		for _, v := range x[1:] {
			s = s.Add(v)
		}
		return s
	}
	// Bézier's coefficients: near[i][j] is next to corner i on the edge to j, in[i] next to it towards the centroid.
	var near [3][3]*weft.Tensor
	var in, middle, deep [3]*weft.Tensor
	for i := range 3 {
		for j := range 3 {
			if i != j {
				e := p[j].Sub(p[i])
				near[i][j] = f[i].Add(gx[i].Mul(column(e, 0)).Add(gy[i].Mul(column(e, 1))).Div(3))
			}
		}
		in[i] = sum(f[i], near[i][(i+1)%3], near[i][(i+2)%3]).Div(3)
	}
	// middle[k] is in the piece opposite k, so that the slope along the way beyond is linear on the edge.
	for k := range 3 {
		i, j := (k+1)%3, (k+2)%3
		di, dj, d := way[k][0], way[k][1], way[k][2]
		ends := sum(di.Mul(f[i]), dj.Mul(near[i][j]), d.Mul(in[i]), di.Mul(near[j][i]), dj.Mul(f[j]), d.Mul(in[j])).Div(2)
		middle[k] = ends.Sub(di.Mul(near[i][j])).Sub(dj.Mul(near[j][i])).Div(d)
	}
	for i := range 3 {
		deep[i] = sum(in[i], middle[(i+1)%3], middle[(i+2)%3]).Div(3)
	}
	center := sum(deep[0], deep[1], deep[2]).Div(3)
	u, v, w := b[0].Sub(b[2]), b[1].Sub(b[2]), b[2].Mul(3)
	uu, vv, ww := u.Square(), v.Square(), w.Square()
	return sum(
		uu.Mul(u).Mul(f[0]), vv.Mul(v).Mul(f[1]), ww.Mul(w).Mul(center),
		uu.Mul(v).Mul(3).Mul(near[0][1]), vv.Mul(u).Mul(3).Mul(near[1][0]),
		uu.Mul(w).Mul(3).Mul(in[0]), vv.Mul(w).Mul(3).Mul(in[1]),
		ww.Mul(u).Mul(3).Mul(deep[0]), ww.Mul(v).Mul(3).Mul(deep[1]),
		u.Mul(v).Mul(w).Mul(6).Mul(middle[2]))
}
