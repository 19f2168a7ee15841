package sparse

import (
	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// sameShape panics unless b is a matrix of m's shape.
func (m *Matrix) sameShape(name string, b *Matrix) {
	m.notNil(name, "m")
	b.notNil(name, "b")
	if m.rows != b.rows || m.cols != b.cols {
		array.Failf(name, "b", "is [%d %d], want [%d %d]", b.rows, b.cols, m.rows, m.cols)
	}
}

// A merge is the union of the patterns of two coalesced matrices of one format: where the entries of each go.
type merge struct {
	pattern *pattern
	a, b    []int64
	// both are entries of a and b at one place, in ascending order.
	bothA, bothB []int64
}

// merged walks through two coalesced matrices row by row.
func merged(a, b *Matrix) *merge {
	oa, ob, ia, ib := a.offsets.Ints(), b.offsets.Ints(), a.index(), b.index()
	m := &merge{a: make([]int64, len(ia)), b: make([]int64, len(ib))}
	idx, off := make([]int32, 0, len(ia)+len(ib)), make([]int64, 1, len(oa))
	for i := range len(oa) - 1 {
		p, q := oa[i], ob[i]
		for p < oa[i+1] || q < ob[i+1] {
			at := int64(len(idx))
			switch {
			case q == ob[i+1] || p < oa[i+1] && ia[p] < ib[q]:
				idx, m.a[p] = append(idx, ia[p]), at
				p++
			case p == oa[i+1] || ib[q] < ia[p]:
				idx, m.b[q] = append(idx, ib[q]), at
				q++
			default:
				idx, m.a[p], m.b[q] = append(idx, ia[p]), at, at
				m.bothA, m.bothB = append(m.bothA, p), append(m.bothB, q)
				p, q = p+1, q+1
			}
		}
		off = append(off, int64(len(idx)))
	}
	m.pattern = compressedPattern(idx, off, true)
	return m
}

// aligned returns two matrices coalesced, in the format of the first if that is compressed columns, else in
// compressed rows.
func aligned(a, b *Matrix) (x, y *Matrix) {
	f := CSR
	if a.format == CSC {
		f = CSC
	}
	return a.To(f).Coalesce(), b.To(f).Coalesce()
}

// union returns f of the values of two matrices at the entries of either, 0 where one has no entry.
func (m *Matrix) union(name string, b *Matrix, f func(x, y *weft.Tensor) *weft.Tensor) *Matrix {
	defer array.Named(name).End()
	m.sameShape(name, b)
	x, y := aligned(m, b)
	u, v := meet(x.values, y.values)
	var at *merge
	if x.pattern == y.pattern {
		return x.with(f(u, v))
	}
	at = merged(x, y)
	n := at.pattern.indices.Dim(0)
	spread := func(v *weft.Tensor, to []int64) *weft.Tensor {
		return weft.ZerosOf(v.DType(), n).IndexAdd(0, weft.FromSlice(to), v)
	}
	out := &Matrix{format: x.format, rows: m.rows, cols: m.cols, pattern: at.pattern}
	out.values = f(spread(u, at.a), spread(v, at.b))
	return out
}

// Add returns m+b, with entries where either has one.
func (m *Matrix) Add(b *Matrix) *Matrix {
	return m.union("sparse.add", b, func(x, y *weft.Tensor) *weft.Tensor { return x.Add(y) })
}

// Sub returns m-b, with entries where either has one.
func (m *Matrix) Sub(b *Matrix) *Matrix {
	return m.union("sparse.sub", b, func(x, y *weft.Tensor) *weft.Tensor { return x.Sub(y) })
}

// Maximum returns the greater elements of m and b, with entries where either has one; NaN if one is.
func (m *Matrix) Maximum(b *Matrix) *Matrix {
	return m.union("sparse.maximum", b, func(x, y *weft.Tensor) *weft.Tensor { return x.Maximum(y) })
}

// Minimum returns the lesser elements of m and b, with entries where either has one; NaN if one is.
func (m *Matrix) Minimum(b *Matrix) *Matrix {
	return m.union("sparse.minimum", b, func(x, y *weft.Tensor) *weft.Tensor { return x.Minimum(y) })
}

// Mul returns the elementwise product of m and b, with entries where both have one.
func (m *Matrix) Mul(b *Matrix) *Matrix {
	const name = "sparse.mul"
	defer array.Named(name).End()
	m.sameShape(name, b)
	x, y := aligned(m, b)
	u, v := meet(x.values, y.values)
	if x.pattern == y.pattern {
		return x.with(u.Mul(v))
	}
	at := merged(x, y)
	out := x.filteredBy(at.bothA)
	out.values = u.IndexSelect(0, weft.FromSlice(at.bothA)).Mul(v.IndexSelect(0, weft.FromSlice(at.bothB)))
	return out
}

// filteredBy returns the entries of a compressed matrix at ascending positions.
func (m *Matrix) filteredBy(keep []int64) *Matrix {
	next := 0
	return m.filtered(func(_ int, k int64) bool {
		if next < len(keep) && keep[next] == k {
			next++
			return true
		}
		return false
	})
}

// dense checks a dense matrix that broadcasts to m's shape, and returns it expanded.
func (m *Matrix) dense(name string, x *weft.Tensor) *weft.Tensor {
	m.notNil(name, "m")
	onHost(name, "x", x)
	s := m.Shape()
	if x.Rank() > 2 || !array.Broadcasts(x.Shape(), s) || !array.Equal(array.Broadcast(name, x.Shape(), s), s) {
		array.Failf(name, "x", "has shape %s, which does not broadcast to %s", array.ShapeString(x.Shape()), array.ShapeString(s))
	}
	return floats(x).Expand(s...)
}

// at returns the elements of a dense matrix at m's entries.
func (m *Matrix) at(x *weft.Tensor) *weft.Tensor {
	row, col := m.rowsOf, m.indices
	return x.Index(row.To(weft.Int64), col.To(weft.Int64))
}

// MulDense returns m with its values times the elements of x at its entries, in coordinates. x broadcasts to
// m's shape: [rows 1] scales rows, [cols] scales columns.
func (m *Matrix) MulDense(x *weft.Tensor) *Matrix {
	const name = "sparse.muldense"
	defer array.Named(name).End()
	x = m.dense(name, x)
	c := m.To(COO)
	return c.with(c.values.Mul(c.at(x)))
}

// AddDense returns m+x, a dense matrix. x broadcasts to m's shape.
func (m *Matrix) AddDense(x *weft.Tensor) *weft.Tensor {
	const name = "sparse.adddense"
	defer array.Named(name).End()
	x = m.dense(name, x)
	return m.ToDense().Add(x)
}

// Scale returns m times a number, which is a Go number or a tensor without axes.
func (m *Matrix) Scale(s any) *Matrix {
	const name = "sparse.scale"
	defer array.Named(name).End()
	m.notNil(name, "m")
	v := m.values.Mul(s)
	if !array.Equal(v.Shape(), m.values.Shape()) {
		array.Failf(name, "s", "is not a number")
	}
	return m.with(v)
}

// Neg returns -m.
func (m *Matrix) Neg() *Matrix { m.notNil("sparse.neg", "m"); return m.with(m.values.Neg()) }

// Map returns m with f of its values, at its entries alone: f(0) does not count, as in Theano's structured
// functions. f gets a tensor of all values, and must keep its shape. m should be coalesced.
func (m *Matrix) Map(f func(values *weft.Tensor) *weft.Tensor) *Matrix {
	const name = "sparse.map"
	m.notNil(name, "m")
	array.Given(name, "f", f != nil)
	v := f(m.values)
	if v == nil || !array.Equal(v.Shape(), m.values.Shape()) {
		array.Failf(name, "f", "does not keep the shape of the values, %s", array.ShapeString(m.values.Shape()))
	}
	return m.with(floats(v))
}

// axisOf checks that there is one axis at most, and returns it, -1 without one.
func axisOf(name string, axis []int) int {
	if len(axis) == 0 {
		return -1
	}
	if len(axis) > 1 || axis[0] < -2 || axis[0] > 1 {
		array.Failf(name, "axis", "is %v, want 0 or 1", axis)
	}
	return (axis[0] + 2) % 2
}

// Sum returns the sum of all elements, or along axis 0, [cols], or axis 1, [rows].
func (m *Matrix) Sum(axis ...int) *weft.Tensor {
	const name = "sparse.sum"
	m.notNil(name, "m")
	switch axisOf(name, axis) {
	case 0:
		return m.sumAlong(CSC, m.cols)
	case 1:
		return m.sumAlong(CSR, m.rows)
	}
	return m.values.Sum()
}

// sumAlong adds up the entries of each of n rows or columns: runs of them where the format has these, else at their
// indices. The other size, which may be far greater than the number of entries, takes no memory.
func (m *Matrix) sumAlong(runs Format, n int) *weft.Tensor {
	if m.format > CSC {
		m = m.To(CSR)
	}
	if m.format == runs {
		return apply(op.SegmentSum, nil, m.values, (*weft.Tensor)(m.offsets.T))
	}
	return weft.ZerosOf(m.values.DType(), n).IndexAdd(0, m.indices, m.values)
}

// Mean returns the mean of all elements, zeros among them, or along an axis as [Matrix.Sum].
func (m *Matrix) Mean(axis ...int) *weft.Tensor {
	const name = "sparse.mean"
	m.notNil(name, "m")
	n := m.rows * m.cols
	if a := axisOf(name, axis); a >= 0 {
		n = m.Shape()[a]
	}
	return m.Sum(axis...).Div(float64(n))
}

// extreme returns the extreme of all elements along an axis, zeros among them.
func (m *Matrix) extreme(name string, greatest bool, axis []int) *weft.Tensor {
	m.notNil(name, "m")
	if m.values.DType().Complex() {
		array.Failf(name, "m", "is complex, which has no order")
	}
	a := axisOf(name, axis)
	n := m.rows * m.cols
	if a >= 0 {
		n = m.Shape()[a]
	}
	if n == 0 {
		array.Failf(name, "m", "is [%d %d], which has no elements to compare", m.rows, m.cols)
	}
	best := func(x, y *weft.Tensor) *weft.Tensor {
		if greatest {
			return x.Maximum(y)
		}
		return x.Minimum(y)
	}
	if a < 0 {
		c := m.To(CSR).Coalesce()
		zero := weft.ScalarOf(c.values.DType(), 0)
		v := c.values
		if c.values.Size() < n {
			v = weft.Cat([]*weft.Tensor{v, zero.Reshape(1)}, 0)
		}
		if greatest {
			return v.Max()
		}
		return v.Min()
	}
	f, lines := CSR, m.rows
	if a == 0 {
		f, lines = CSC, m.cols
	}
	c := m.To(f).Coalesce()
	full := make([]bool, lines) // lines without zeros
	off := c.offsets.Ints()
	for i := range lines {
		full[i] = off[i+1]-off[i] == int64(n)
	}
	d := op.SegmentMin
	if greatest {
		d = op.SegmentMax
	}
	v := apply(d, nil, c.values, (*weft.Tensor)(c.offsets.T))
	return weft.Where(weft.FromSlice(full), v, best(v, weft.ScalarOf(v.DType(), 0)))
}

// Max returns the greatest of all elements, zeros among them, or along an axis as [Matrix.Sum]; NaN if one is.
func (m *Matrix) Max(axis ...int) *weft.Tensor { return m.extreme("sparse.max", true, axis) }

// Min returns the least of all elements, zeros among them, or along an axis as [Matrix.Sum]; NaN if one is.
func (m *Matrix) Min(axis ...int) *weft.Tensor { return m.extreme("sparse.min", false, axis) }

// Norm returns the Frobenius norm.
func (m *Matrix) Norm() *weft.Tensor {
	m.notNil("sparse.norm", "m")
	return m.To(CSR).Coalesce().values.Norm(2)
}
