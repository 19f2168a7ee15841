package sparse

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// Eye returns the identity of n rows, float32, in compressed rows.
func Eye(n int) *Matrix {
	checkSize("sparse.eye", n, n)
	core.CheckHeap("sparse.eye", 2*(n+1), array.Int64)
	idx, off := make([]int32, n), make([]int64, n+1)
	for i := range n {
		idx[i], off[i+1] = int32(i), int64(i+1)
	}
	return &Matrix{format: CSR, rows: n, cols: n, values: weft.Ones(n), pattern: compressedPattern(idx, off, true)}
}

// Diags returns a matrix [rows cols], in coordinates, of diagonals: vectors, or tensors of one element, which
// fill theirs. offsets say which: 0 is the main one, k above it for k > 0, -k below it.
func Diags(diagonals []*weft.Tensor, offsets []int, rows, cols int) *Matrix {
	const name = "sparse.diags"
	checkSize(name, rows, cols)
	if len(diagonals) != len(offsets) {
		array.Failf(name, "offsets", "are %d numbers for %d diagonals", len(offsets), len(diagonals))
	}
	values := []*weft.Tensor{weft.Zeros(0)}
	var row, col []int32
	for i, k := range offsets {
		k = min(max(k, -maxSize), maxSize) // beyond the matrix as well, and -k is a number
		array.Given(name, "diagonals", diagonals[i] != nil)
		d := floats(diagonals[i])
		first := max(0, -k)
		n := max(0, min(rows-first, cols-max(0, k)))
		if d.Size() == 1 && d.Rank() <= 1 {
			d = d.Reshape(1).Expand(n)
		}
		if d.Rank() != 1 || d.Dim(0) != n {
			array.Failf(name, "diagonals", "number %d has shape %s, want [%d] for offset %d of a matrix [%d %d]", i, array.ShapeString(d.Shape()), n, k, rows, cols)
		}
		values = append(values, d)
		core.CheckHeap(name, 3*(len(row)+n), array.Int64)
		for j := range n {
			row, col = append(row, int32(first+j)), append(col, int32(max(0, k)+j))
		}
	}
	return cooOf(joined(values), row, col, nil, nil, rows, cols)
}

// joined concatenates vectors, whose types meet.
func joined(v []*weft.Tensor) *weft.Tensor {
	d := v[len(v)-1].DType()
	for _, t := range v {
		if t.Size() > 0 {
			d = array.Promote(d, t.DType())
		}
	}
	for i := range v {
		v[i] = v[i].To(d)
	}
	return weft.Cat(v, 0)
}

// HStack returns matrices side by side, in coordinates.
func HStack(ms ...*Matrix) *Matrix { return stacked("sparse.hstack", ms, false, true) }

// VStack returns matrices one below the other, in coordinates.
func VStack(ms ...*Matrix) *Matrix { return stacked("sparse.vstack", ms, true, false) }

// BlockDiag returns a matrix with others on its diagonal, in coordinates.
func BlockDiag(ms ...*Matrix) *Matrix { return stacked("sparse.blockdiag", ms, true, true) }

// stacked moves each matrix below the one before, right of it, or both.
func stacked(name string, ms []*Matrix, down, right bool) *Matrix {
	if len(ms) == 0 {
		array.Failf(name, "ms", "are none, want one matrix or more")
	}
	var values []*weft.Tensor
	var row, col []int32
	rows, cols := 0, 0
	for i, m := range ms {
		m.notNil(name, "ms")
		if i > 0 && (!down && m.rows != ms[0].rows || !right && m.cols != ms[0].cols) {
			array.Failf(name, "ms", "number %d is [%d %d], which does not fit [%d %d]", i, m.rows, m.cols, ms[0].rows, ms[0].cols)
		}
		r, c := 0, 0
		if down {
			r = rows
		}
		if right {
			c = cols
		}
		rows, cols = max(rows, r+m.rows), max(cols, c+m.cols)
		checkSize(name, rows, cols)
		x := m.To(COO)
		for k, j := range x.index() {
			row, col = append(row, x.rowIndex()[k]+int32(r)), append(col, j+int32(c))
		}
		values = append(values, x.values)
	}
	return cooOf(joined(values), row, col, nil, nil, rows, cols)
}

// Kron returns the Kronecker product of a and b, in coordinates.
func Kron(a, b *Matrix) *Matrix {
	const name = "sparse.kron"
	a.notNil(name, "a")
	b.notNil(name, "b")
	array.CheckShape(name, []int{a.rows, b.rows}, weft.Float32)
	array.CheckShape(name, []int{a.cols, b.cols}, weft.Float32)
	checkSize(name, a.rows*b.rows, a.cols*b.cols)
	x, y := a.To(COO), b.To(COO)
	array.CheckShape(name, []int{x.values.Dim(0), y.values.Dim(0)}, weft.Complex128)
	core.CheckHeap(name, 3*x.values.Dim(0)*y.values.Dim(0), array.Int64)
	var row, col []int32
	for k, j := range x.index() {
		for l, c := range y.index() {
			row = append(row, x.rowIndex()[k]*int32(b.rows)+y.rowIndex()[l])
			col = append(col, j*int32(b.cols)+c)
		}
	}
	u, v := meet(x.values, y.values)
	values := u.Unsqueeze(1).Mul(v).Reshape(len(row))
	return cooOf(values, row, col, nil, nil, a.rows*b.rows, a.cols*b.cols)
}

// Rows returns the rows i, in this order, in compressed rows. Numbers below 0 count from the end.
func (m *Matrix) Rows(i ...int) *Matrix {
	const name = "sparse.rows"
	m.notNil(name, "m")
	c := m.To(CSR)
	off, idx := c.offsets.Ints(), c.index()
	var order []int64
	var to []int32
	rows := make([]int64, 1, len(i)+1)
	for _, r := range i {
		r = resolve(name, r, m.rows)
		for k := off[r]; k < off[r+1]; k++ {
			order, to = append(order, k), append(to, idx[k])
		}
		rows = append(rows, int64(len(to)))
	}
	checkSize(name, len(i), m.cols)
	return &Matrix{format: CSR, rows: len(i), cols: m.cols, values: c.values.IndexSelect(0, weft.FromSlice(order)), pattern: compressedPattern(to, rows, false)}
}

// Cols returns the columns j, in this order, in compressed columns. Numbers below 0 count from the end.
func (m *Matrix) Cols(j ...int) *Matrix {
	m.notNil("sparse.cols", "m")
	return m.T().Rows(j...).T()
}

func resolve(name string, i, n int) int {
	if i < -n || i >= n {
		array.Failf(name, "i", "is %d for %d rows or columns", i, n)
	}
	if i < 0 {
		i += n
	}
	return i
}

// Slice returns rows and columns of ranges, as [weft.Tensor.Slice] takes them with step 1: rows from r0 to
// before r1, columns from c0 to before c1. Numbers below 0 count from the end.
func (m *Matrix) Slice(r0, r1, c0, c1 int) *Matrix {
	const name = "sparse.slice"
	m.notNil(name, "m")
	bound := func(i, n int) int {
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	r0, r1, c0, c1 = bound(r0, m.rows), bound(r1, m.rows), bound(c0, m.cols), bound(c1, m.cols)
	r1, c1 = max(r0, r1), max(c0, c1)
	c := m.To(CSR)
	off, idx := c.offsets.Ints(), c.index()
	var order []int64
	var to []int32
	rows := make([]int64, 1, r1-r0+1)
	for i := r0; i < r1; i++ {
		for k := off[i]; k < off[i+1]; k++ {
			if j := int(idx[k]); j >= c0 && j < c1 {
				order, to = append(order, k), append(to, int32(j-c0))
			}
		}
		rows = append(rows, int64(len(to)))
	}
	return &Matrix{format: CSR, rows: r1 - r0, cols: c1 - c0, values: c.values.IndexSelect(0, weft.FromSlice(order)), pattern: compressedPattern(to, rows, false)}
}

// At returns element (i, j), a tensor without axes. Numbers below 0 count from the end.
func (m *Matrix) At(i, j int) *weft.Tensor {
	const name = "sparse.at"
	m.notNil(name, "m")
	i, j = resolve(name, i, m.rows), resolve(name, j, m.cols)
	c := m.To(CSR)
	off := c.offsets.Ints()
	var order []int64
	for k := off[i]; k < off[i+1]; k++ {
		if c.index()[k] == int32(j) {
			order = append(order, k)
		}
	}
	return c.values.IndexSelect(0, weft.FromSlice(order)).Sum()
}

// Diagonal returns the elements of a diagonal: 0 the main one, which is the default, k above it, or -k below it.
func (m *Matrix) Diagonal(k ...int) *weft.Tensor {
	const name = "sparse.diagonal"
	m.notNil(name, "m")
	if len(k) > 1 {
		array.Failf(name, "k", "are %d numbers, want one at most", len(k))
	}
	above := 0
	if len(k) == 1 {
		above = min(max(k[0], -maxSize), maxSize) // beyond the matrix as well, and -above is a number
	}
	first := max(0, -above)
	n := max(0, min(m.rows-first, m.cols-max(0, above)))
	c := m.To(COO)
	var order, to []int64
	for e, j := range c.index() {
		if r := int(c.rowIndex()[e]); int(j)-r == above {
			order, to = append(order, int64(e)), append(to, int64(r-first))
		}
	}
	return weft.ZerosOf(c.values.DType(), n).IndexAdd(0, weft.FromSlice(to), c.values.IndexSelect(0, weft.FromSlice(order)))
}

// Tril returns the entries on and below a diagonal: 0 the main one, k above it, -k below it.
func (m *Matrix) Tril(k int) *Matrix {
	m.notNil("sparse.tril", "m")
	c := m.To(CSR)
	idx := c.index()
	return c.filtered(func(i int, e int64) bool { return int(idx[e])-i <= k })
}

// Triu returns the entries on and above a diagonal: 0 the main one, k above it, -k below it.
func (m *Matrix) Triu(k int) *Matrix {
	m.notNil("sparse.triu", "m")
	c := m.To(CSR)
	idx := c.index()
	return c.filtered(func(i int, e int64) bool { return int(idx[e])-i >= k })
}

// Permute returns m with row rows[i] in the place of row i and column cols[j] in that of column j.
func (m *Matrix) Permute(rows, cols []int) *Matrix {
	const name = "sparse.permute"
	m.notNil(name, "m")
	for i, p := range [2][]int{rows, cols} {
		s := slices.Clone(p)
		slices.Sort(s)
		for k := range s {
			if s[k] != k || len(s) != m.Shape()[i] {
				array.Failf(name, [2]string{"rows", "cols"}[i], "is not a permutation of 0 to %d", m.Shape()[i]-1)
			}
		}
		if len(s) != m.Shape()[i] {
			array.Failf(name, [2]string{"rows", "cols"}[i], "are %d numbers, want %d", len(s), m.Shape()[i])
		}
	}
	return m.Rows(rows...).Cols(cols...).To(CSR)
}
