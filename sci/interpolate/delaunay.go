package interpolate

import (
	"cmp"
	"math"
	"math/big"
	"slices"
)

// mesh is the Delaunay triangulation of points in the plane, built by adding points one by one (Bowyer, "Computing
// Dirichlet tessellations"; Watson, "Computing the n-dimensional Delaunay tessellation"; both Computer Journal 24,
// 1981). A point at infinity, vertex n, makes triangles with all edges of the hull, so that each edge has two sides.
// All decisions are exact, so that any points have a valid mesh.
type mesh struct {
	x     []float64  // coordinates of n points
	v     [][3]int32 // vertices of triangles, counter-clockwise
	near  [][3]int32 // the triangle beyond the edge opposite each vertex
	mark  []int32    // triangles that the point p is in conflict with have p+1, the others around -p-1
	start []int32    // of new triangles by their second vertex
	scale float64    // a power of two: products of scaled coordinates do not overflow
}

// triangulate returns the mesh of finite points, without those that are there twice, or nil if all are on a line.
func triangulate(x []float64) *mesh {
	n := int32(len(x) / 2)
	m := &mesh{x: x, start: make([]int32, n+1), scale: unitScale(x)}
	order := m.curve()
	var c int
	for c = 2; c < len(order) && m.orient(order[0], order[1], order[c]) == 0; c++ {
	}
	if c >= len(order) {
		return nil
	}
	p, q, r := order[0], order[1], order[c]
	if m.orient(p, q, r) < 0 {
		p, q = q, p
	}
	m.v = [][3]int32{{p, q, r}, {q, p, n}, {r, q, n}, {p, r, n}}
	m.near = [][3]int32{{2, 3, 1}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}}
	m.mark = make([]int32, 4)
	at := int32(0)
	for i, p := range order {
		if i != 0 && i != 1 && i != c {
			at = m.insert(p, at)
		}
	}
	return m
}

// unitScale returns the power of two that makes the greatest number about 1, or 1 where squares and cubes have room anyway.
func unitScale(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	_, e := math.Frexp(most)
	if e > -250 && e < 250 || most == 0 {
		return 1
	}
	return math.Ldexp(1, max(-1022, min(1022, -e)))
}

// curve returns the points in the order of Hilbert's curve, where neighbours follow each other, the first ones of those
// that are equal.
func (m *mesh) curve() []int32 {
	low, high := [2]float64{m.x[0], m.x[1]}, [2]float64{m.x[0], m.x[1]}
	for i, v := range m.x {
		low[i%2], high[i%2] = min(low[i%2], v), max(high[i%2], v)
	}
	cell := func(i int32, axis int) uint32 {
		width := high[axis]/2 - low[axis]/2
		if width == 0 {
			return 0
		}
		return uint32((m.x[2*int(i)+axis]/2 - low[axis]/2) / width * 65535)
	}
	type place struct {
		key uint32
		i   int32
	}
	order := make([]place, len(m.x)/2)
	for i := range order {
		order[i] = place{hilbert(cell(int32(i), 0), cell(int32(i), 1)), int32(i)}
	}
	slices.SortFunc(order, func(a, b place) int {
		switch {
		case a.key != b.key:
			return cmp.Compare(a.key, b.key)
		case m.before(a.i, b.i):
			return -1
		case m.before(b.i, a.i):
			return 1
		}
		return int(a.i - b.i)
	})
	var list []int32
	for _, p := range order {
		if k := len(list); k == 0 || m.before(list[k-1], p.i) || m.before(p.i, list[k-1]) {
			list = append(list, p.i)
		}
	}
	return list
}

// hilbert returns the place of a cell of a grid of 65536 x 65536 along Hilbert's curve.
func hilbert(x, y uint32) (d uint32) {
	for s := uint32(1 << 15); s > 0; s /= 2 {
		right, up := x&s != 0, y&s != 0
		switch {
		case right && !up:
			d += 3 * s * s
			x, y = s-1-x&(s-1), s-1-y&(s-1)
			x, y = y, x
		case !up:
			x, y = y&(s-1), x&(s-1)
		case right:
			d += 2 * s * s
			x, y = x&(s-1), y&(s-1)
		default:
			d += s * s
			x, y = x&(s-1), y&(s-1)
		}
	}
	return d
}

// before orders points by their coordinates.
func (m *mesh) before(a, b int32) bool {
	return m.x[2*a] < m.x[2*b] || m.x[2*a] == m.x[2*b] && m.x[2*a+1] < m.x[2*b+1]
}

func (m *mesh) infinite(t int32) bool {
	return max(m.v[t][0], m.v[t][1], m.v[t][2]) == int32(len(m.start)-1)
}

// insert adds a point that is not there yet: triangles whose circle it is in give way to triangles of their outer edges
// with it. It returns one of them.
func (m *mesh) insert(p, from int32) int32 {
	in, out := p+1, -p-1
	cavity := []int32{m.locate(m.x[2*p], m.x[2*p+1], from)}
	m.mark[cavity[0]] = in
	type edge struct{ from, to, beyond int32 }
	var edges []edge
	for k := 0; k < len(cavity); k++ {
		c := cavity[k]
		for i, t := range m.near[c] {
			if m.mark[t] != in && m.mark[t] != out {
				if m.mark[t] = out; m.conflict(t, p) {
					m.mark[t] = in
					cavity = append(cavity, t)
				}
			}
			if m.mark[t] == out {
				edges = append(edges, edge{m.v[c][(i+1)%3], m.v[c][(i+2)%3], t})
			}
		}
	}
	for len(cavity) < len(edges) {
		cavity = append(cavity, int32(len(m.v)))
		m.v, m.near, m.mark = append(m.v, [3]int32{}), append(m.near, [3]int32{}), append(m.mark, 0)
	}
	for k, e := range edges {
		t := cavity[k]
		m.v[t], m.near[t] = [3]int32{p, e.from, e.to}, [3]int32{e.beyond, 0, 0}
		m.start[e.from] = t
		for i := range 3 {
			if m.v[e.beyond][(i+1)%3] == e.to && m.v[e.beyond][(i+2)%3] == e.from {
				m.near[e.beyond][i] = t
			}
		}
	}
	for k, e := range edges {
		next := m.start[e.to]
		m.near[cavity[k]][1], m.near[next][2] = next, cavity[k]
	}
	return cavity[0]
}

// locate returns the triangle that has the point x, y, or if it is outside an infinite one whose edge it is beyond. It walks
// from a triangle over edges that the point is beyond; in Delaunay triangulations such walks end.
func (m *mesh) locate(x, y float64, t int32) int32 {
	far := int32(len(m.start) - 1)
	for i := range 3 {
		if m.v[t][i] == far {
			t = m.near[t][i]
			break
		}
	}
walk:
	for {
		for i := range 3 {
			a, b := m.v[t][(i+1)%3], m.v[t][(i+2)%3]
			if orientation(m.x[2*a], m.x[2*a+1], m.x[2*b], m.x[2*b+1], x, y) < 0 {
				if t = m.near[t][i]; m.infinite(t) {
					return t
				}
				continue walk
			}
		}
		return t
	}
}

// conflict reports whether p is inside the circle of a triangle. The circle of an infinite one is what is beyond its
// edge, and the edge.
func (m *mesh) conflict(t, p int32) bool {
	v, far := m.v[t], int32(len(m.start)-1)
	for i := range 3 {
		if v[i] != far {
			continue
		}
		a, b := v[(i+1)%3], v[(i+2)%3]
		o := m.orient(a, b, p)
		return o > 0 || o == 0 && m.before(a, p) == m.before(p, b)
	}
	var c [8]float64
	for i, k := range [4]int32{v[0], v[1], v[2], p} {
		c[2*i], c[2*i+1] = m.x[2*k], m.x[2*k+1]
	}
	return inCircle(&c) > 0
}

func (m *mesh) orient(a, b, c int32) int {
	return orientation(m.x[2*a], m.x[2*a+1], m.x[2*b], m.x[2*b+1], m.x[2*c], m.x[2*c+1])
}

// Bounds of the rounding errors of both determinants, relative to the sum of the sizes of their products (Shewchuk,
// "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997). Below tiny, products may
// have lost digits.
const (
	orientError = (3 + 16*0x1p-53) * 0x1p-53
	circleError = (10 + 96*0x1p-53) * 0x1p-53
	tiny        = 1e-200
)

// orientation is 1 where a, b, c turn left, -1 where they turn right, and 0 on a line.
func orientation(ax, ay, bx, by, cx, cy float64) int {
	left, right := float64((ax-cx)*(by-cy)), float64((ay-cy)*(bx-cx))
	d, size := left-right, math.Abs(left)+math.Abs(right)
	switch {
	case size > tiny && math.Abs(d) > orientError*size:
		return sign(d)
	case (ax == cx || by == cy) && (ay == cy || bx == cx):
		return 0
	}
	c := integers(ax, ay, bx, by, cx, cy)
	return det(minus(c[0], c[4]), minus(c[1], c[5]), minus(c[2], c[4]), minus(c[3], c[5])).Sign()
}

// inCircle is 1 where the fourth point is inside the circle of the first three, which turn left, -1 outside and 0 on it.
func inCircle(p *[8]float64) int {
	ax, ay, bx, by, cx, cy := p[0]-p[6], p[1]-p[7], p[2]-p[6], p[3]-p[7], p[4]-p[6], p[5]-p[7]
	part := func(ux, uy, vx, vy, wx, wy float64) (d, size float64) {
		left, right := float64(ux*vy), float64(uy*vx)
		lift := float64(wx*wx) + float64(wy*wy)
		return float64((left - right) * lift), float64((math.Abs(left) + math.Abs(right)) * lift)
	}
	d0, s0 := part(bx, by, cx, cy, ax, ay)
	d1, s1 := part(cx, cy, ax, ay, bx, by)
	d2, s2 := part(ax, ay, bx, by, cx, cy)
	d, size := d0+d1+d2, s0+s1+s2
	if size > tiny && math.Abs(d) > circleError*size {
		return sign(d)
	}
	c := integers(p[:]...)
	for i := range 6 {
		c[i] = minus(c[i], c[6+i%2])
	}
	sum := new(big.Int)
	for i := 0; i < 6; i += 2 {
		j, k := (i+2)%6, (i+4)%6
		lift := new(big.Int).Mul(c[i], c[i])
		lift.Add(lift, new(big.Int).Mul(c[i+1], c[i+1]))
		sum.Add(sum, lift.Mul(lift, det(c[j], c[j+1], c[k], c[k+1])))
	}
	return sum.Sign()
}

func sign(x float64) int {
	if x < 0 {
		return -1
	}
	return 1
}

// integers returns numbers as multiples of one power of two.
func integers(x ...float64) []*big.Int {
	least := math.MaxInt
	for _, v := range x {
		if _, e := math.Frexp(v); v != 0 {
			least = min(least, e)
		}
	}
	whole := make([]*big.Int, len(x))
	for i, v := range x {
		whole[i] = new(big.Int)
		if f, e := math.Frexp(v); v != 0 {
			whole[i].Lsh(whole[i].SetInt64(int64(f*(1<<53))), uint(e-least))
		}
	}
	return whole
}

func minus(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

func det(ax, ay, bx, by *big.Int) *big.Int {
	d := new(big.Int).Mul(ax, by)
	return d.Sub(d, new(big.Int).Mul(ay, bx))
}
