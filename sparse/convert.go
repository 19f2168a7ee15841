package sparse

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A turn is the pattern of a compressed matrix by its other axis: entry k there is entry order[k] here. Entries
// of one place keep their order, and indices ascend.
type turn struct {
	order    []int64
	orderT   *weft.Tensor
	*pattern // of the other format
}

// turnOf sorts entries by their other axis, of n indices, by counting.
func (p *pattern) turnOf(n int) *turn {
	p.turnOnce.Do(func() {
		off, idx := p.offsets.Ints(), p.index()
		core.CheckHeap("sparse.to", 2*(n+len(idx)), array.Int64)
		to := make([]int64, n+1)
		for _, k := range idx {
			to[k+1]++
		}
		for i := range n {
			to[i+1] += to[i]
		}
		next := slices.Clone(to[:n])
		order, other := make([]int64, len(idx)), make([]int32, len(idx))
		for i := range len(off) - 1 {
			for k := off[i]; k < off[i+1]; k++ {
				at := next[idx[k]]
				next[idx[k]]++
				order[at], other[at] = k, int32(i)
			}
		}
		p.turned = &turn{order: order, orderT: weft.FromSlice(order), pattern: compressedPattern(other, to, false)}
	})
	return p.turned
}

// minor is the number of indices of a compressed matrix of single entries.
func (m *Matrix) minor() int {
	if m.format == CSC {
		return m.rows
	}
	return m.cols
}

// To returns m in another format, the same entries in another order; values have gradients. Blocks are not
// made so: see [Matrix.ToBSR].
func (m *Matrix) To(f Format) *Matrix {
	const name = "sparse.to"
	m.notNil(name, "m")
	if f > COO {
		array.Failf(name, "f", "is %s, want csr, csc or coo: ToBSR makes blocks", f)
	}
	switch {
	case m.format == f:
		return m
	case m.format == BSR:
		return m.unblocked().To(f)
	case m.format == COO:
		return m.compress().To(f)
	case f == COO:
		major := make([]int32, m.values.Dim(0))
		off := m.offsets.Ints()
		for i := range len(off) - 1 {
			for k := off[i]; k < off[i+1]; k++ {
				major[k] = int32(i)
			}
		}
		if m.format == CSC {
			return cooOf(m.values, m.index(), major, m.indices, nil, m.rows, m.cols)
		}
		return cooOf(m.values, major, m.index(), nil, m.indices, m.rows, m.cols)
	}
	t := m.turnOf(m.minor())
	return &Matrix{format: f, rows: m.rows, cols: m.cols, values: m.values.IndexSelect(0, t.orderT), pattern: t.pattern}
}

// compress returns a matrix of coordinates in compressed rows. Entries of a row keep their order.
func (m *Matrix) compress() *Matrix {
	row, col := m.rowIndex(), m.index()
	core.CheckHeap("sparse.to", 2*(m.rows+len(col)), array.Int64)
	off := make([]int64, m.rows+1)
	ascends := true
	for i, r := range row {
		off[r+1]++
		ascends = ascends && (i == 0 || row[i-1] <= r)
	}
	for i := range m.rows {
		off[i+1] += off[i]
	}
	if ascends {
		p := compressedPattern(col, off, false)
		p.indices = m.indices
		return &Matrix{format: CSR, rows: m.rows, cols: m.cols, values: m.values, pattern: p}
	}
	next := slices.Clone(off[:m.rows])
	order, idx := make([]int64, len(row)), make([]int32, len(row))
	for k, r := range row {
		at := next[r]
		next[r]++
		order[at], idx[at] = int64(k), col[k]
	}
	return &Matrix{format: CSR, rows: m.rows, cols: m.cols, values: m.values.IndexSelect(0, weft.FromSlice(order)), pattern: compressedPattern(idx, off, false)}
}

// unblocked returns a matrix of blocks in compressed rows of entries.
func (m *Matrix) unblocked() *Matrix {
	r, c := m.values.Dim(1), m.values.Dim(2)
	off, idx := m.offsets.Ints(), m.index()
	n := len(idx) * r * c
	core.CheckHeap("sparse.to", 2*n+m.rows, array.Int64)
	order, cols, rows := make([]int64, 0, n), make([]int32, 0, n), make([]int64, 1, m.rows+1)
	for b := range len(off) - 1 {
		for i := range r {
			for k := off[b]; k < off[b+1]; k++ {
				for j := range c {
					order = append(order, (k*int64(r)+int64(i))*int64(c)+int64(j))
					cols = append(cols, idx[k]*int32(c)+int32(j))
				}
			}
			rows = append(rows, int64(len(cols)))
		}
	}
	values := m.values.Reshape(n).IndexSelect(0, weft.FromSlice(order))
	return &Matrix{format: CSR, rows: m.rows, cols: m.cols, values: values, pattern: compressedPattern(cols, rows, m.isCanonical())}
}

// ToBSR returns m in compressed rows of blocks of r rows and c columns, which must divide m's. A block is
// stored where it has an entry; entries of equal row and column add.
func (m *Matrix) ToBSR(r, c int) *Matrix {
	const name = "sparse.tobsr"
	m.notNil(name, "m")
	if r <= 0 || c <= 0 || m.rows%r != 0 || m.cols%c != 0 {
		array.Failf(name, "r", "and c are %dx%d, which do not divide a matrix of %dx%d", r, c, m.rows, m.cols)
	}
	s := m.To(CSR)
	off, idx := s.offsets.Ints(), s.index()
	core.CheckHeap(name, 2*len(idx)+m.rows/r, array.Int64)
	at := make([]int64, len(idx)) // where an entry goes in the values
	var blocks []int32
	rows := make([]int64, 1, m.rows/r+1)
	place := map[int32]int64{}
	for b := range m.rows / r {
		clear(place)
		first, end := off[b*r], off[(b+1)*r]
		begin := len(blocks)
		for _, k := range idx[first:end] {
			if j := k / int32(c); place[j] == 0 {
				place[j] = 1
				blocks = append(blocks, j)
			}
		}
		slices.Sort(blocks[begin:])
		for i, j := range blocks[begin:] {
			place[j] = int64(begin + i)
		}
		for i := range r {
			for k := off[b*r+i]; k < off[b*r+i+1]; k++ {
				j := idx[k] / int32(c)
				at[k] = (place[j]*int64(r)+int64(i))*int64(c) + int64(idx[k]%int32(c))
			}
		}
		rows = append(rows, int64(len(blocks)))
	}
	array.CheckShape(name, []int{len(blocks), r, c}, s.values.DType())
	zeros := weft.ZerosOf(s.values.DType(), len(blocks)*r*c)
	values := zeros.IndexAdd(0, weft.FromSlice(at), s.values).Reshape(len(blocks), r, c)
	return &Matrix{format: BSR, rows: m.rows, cols: m.cols, values: values, pattern: compressedPattern(blocks, rows, true)}
}

// T returns the transpose: of compressed rows compressed columns with the same values, and the other way
// round.
func (m *Matrix) T() *Matrix {
	m.notNil("sparse.t", "m")
	switch m.format {
	case CSR, CSC:
		return &Matrix{format: CSR + CSC - m.format, rows: m.cols, cols: m.rows, values: m.values, pattern: m.pattern}
	case COO:
		return cooOf(m.values, m.index(), m.rowIndex(), m.indices, m.rowsOf, m.cols, m.rows)
	}
	t := m.turnOf(m.cols / m.values.Dim(2))
	values := m.values.IndexSelect(0, t.orderT).Transpose(1, 2).Contiguous()
	return &Matrix{format: BSR, rows: m.cols, cols: m.rows, values: values, pattern: t.pattern}
}

// H returns the conjugate transpose.
func (m *Matrix) H() *Matrix {
	t := m.T()
	if t.values.DType().Complex() {
		t = t.with(t.values.Conj())
	}
	return t
}

// Coalesce returns m with entries of equal row and column added up, in ascending order: by row, or by column for
// compressed columns. Values that are 0 stay: see [Matrix.Prune].
func (m *Matrix) Coalesce() *Matrix {
	m.notNil("sparse.coalesce", "m")
	if m.format == COO {
		return m.compress().Coalesce().To(COO)
	}
	if m.isCanonical() {
		return m
	}
	// Turned twice, entries of one row are in the order of their columns.
	n := m.minor()
	if m.format == BSR {
		n = m.cols / m.values.Dim(2)
	}
	t := m.turnOf(n)
	back := t.turnOf(m.offsets.Items())
	off, idx := back.offsets.Ints(), back.index()
	order := make([]int64, len(idx))
	for i, k := range back.order {
		order[i] = t.order[k]
	}
	values := m.values.IndexSelect(0, weft.FromSlice(order))
	if back.isCanonical() {
		return &Matrix{format: m.format, rows: m.rows, cols: m.cols, values: values, pattern: back.pattern}
	}
	to, rows, single := make([]int64, len(idx)), make([]int64, 1, len(off)), []int32{}
	for i := range len(off) - 1 {
		for k := off[i]; k < off[i+1]; k++ {
			if k == off[i] || idx[k] != idx[k-1] {
				single = append(single, idx[k])
			}
			to[k] = int64(len(single) - 1)
		}
		rows = append(rows, int64(len(single)))
	}
	s := values.Shape()
	s[0] = len(single)
	values = weft.ZerosOf(values.DType(), s...).IndexAdd(0, weft.FromSlice(to), values)
	return &Matrix{format: m.format, rows: m.rows, cols: m.cols, values: values, pattern: compressedPattern(single, rows, true)}
}

// Prune returns m without the entries that are 0. Entries of equal row and column add up first.
func (m *Matrix) Prune() *Matrix {
	m.notNil("sparse.prune", "m")
	if m.format == BSR || m.format == COO {
		return m.To(CSR).Prune().To(COO)
	}
	c := m.Coalesce()
	keep := weft.Data[bool](c.values.Detach().Ne(0))
	return c.filtered(func(_ int, k int64) bool { return keep[k] })
}

// filtered returns the entries of a compressed matrix for which keep holds, by major index and place.
func (m *Matrix) filtered(keep func(major int, k int64) bool) *Matrix {
	off, idx := m.offsets.Ints(), m.index()
	var order []int64
	var left []int32
	rows := make([]int64, 1, len(off))
	for i := range len(off) - 1 {
		for k := off[i]; k < off[i+1]; k++ {
			if keep(i, k) {
				order, left = append(order, k), append(left, idx[k])
			}
		}
		rows = append(rows, int64(len(left)))
	}
	if len(left) == len(idx) {
		return m
	}
	return &Matrix{format: m.format, rows: m.rows, cols: m.cols, values: m.values.IndexSelect(0, weft.FromSlice(order)), pattern: compressedPattern(left, rows, m.isCanonical())}
}

// ToDense returns the matrix with its zeros, [rows cols]. The gradient of the values is that at their entries.
func (m *Matrix) ToDense() *weft.Tensor {
	const name = "sparse.todense"
	m.notNil(name, "m")
	c := m.To(COO)
	array.CheckShape(name, []int{m.rows, m.cols}, m.values.DType())
	at := c.rowsOf.To(weft.Int64).Mul(m.cols).Add(c.indices.To(weft.Int64))
	return weft.ZerosOf(m.values.DType(), m.rows*m.cols).IndexAdd(0, at, c.values).Reshape(m.rows, m.cols)
}
