package sparse

import (
	"slices"
	"unsafe"

	"weft/internal/mem"
)

// An LUPlan is the part of a factorization by blocks that depends on the sparsity pattern of a square matrix alone: the
// nodes of the pattern of a^T + a. Pivots are chosen within nodes.
type LUPlan struct {
	*CholeskyPlan
	to      []int64 // where each entry of the matrix goes in the columns of nodes, or the complement of that in rows of U^H
	at      []int   // of a node's rows of U^H and of its packed triangle of U, the last node's first, as solutions read them
	behind  int     // elements of all nodes' U
	scratch int     // elements that products need
}

// IsNearlySymmetric reports that half of the entries beside the diagonal of a square pattern have an entry in the mirrored
// place, and nine tenths of the diagonal are there.
// Source: Davis, "Algorithm 832: UMFPACK V4.3", ACM TOMS 30, 2004, section 2.
func (p *Pattern) IsNearlySymmetric() bool {
	n := p.rows()
	next, end := slices.Clone(p.Off[:n]), p.Off[1:] // each column's first entry below what was looked for in it
	off, paired := 0, 0
	for j := range n {
		for _, i := range p.Idx[p.Off[j]:p.Off[j+1]] {
			if int(i) == j {
				continue
			}
			off++
			for next[i] < end[i] && int(p.Idx[next[i]]) < j {
				next[i]++
			}
			if next[i] < end[i] && int(p.Idx[next[i]]) == j {
				paired++
			}
		}
	}
	return 2*paired >= off && p.HasDiagonal()
}

// HasDiagonal reports that nine tenths of the diagonal of a square pattern have entries.
func (p *Pattern) HasDiagonal() bool {
	n, diagonal := p.rows(), 0
	for j := range n {
		if _, ok := slices.BinarySearch(p.Idx[p.Off[j]:p.Off[j+1]], int32(j)); ok {
			diagonal++
		}
	}
	return 10*diagonal >= 9*n
}

// PlanLU plans a factorization by blocks of a matrix of compressed columns whose rows ascend. It eliminates unknowns in the
// order given, up to an order that changes no fill-in. An error says that memory does not suffice for entries of size bytes.
func PlanLU(p *Pattern, order []int32, size int) (*LUPlan, error) {
	n := p.rows()
	if err := mem.CheckHeap(3*8*len(p.Idx) + 16*n); err != nil {
		return nil, err
	}
	both := &Pattern{Off: make([]int64, 1, n+1), Idx: make([]int32, 0, len(p.Idx)), Cols: n}
	for i, meets := range p.Symmetric() {
		for _, j := range meets {
			if int(j) < i {
				both.Idx = append(both.Idx, j)
			}
		}
		both.Idx = append(both.Idx, int32(i))
		both.Off = append(both.Off, int64(len(both.Idx)))
	}
	c, err := PlanCholesky(both, order, 2*size)
	if err != nil {
		return nil, err
	}
	c.lower = nil // of both: entries of the matrix have their own places
	l := &LUPlan{CholeskyPlan: c, to: make([]int64, len(p.Idx)), at: make([]int, len(c.nodes)), scratch: c.most}
	for s := len(c.nodes) - 1; s >= 0; s-- {
		d := &c.nodes[s]
		l.at[s] = l.behind
		l.behind += (len(d.rows)-d.width)*d.width + d.width*(d.width+1)/2
		l.scratch = max(l.scratch, min(len(d.rows), 256)*d.width)
	}
	place := make([]int32, n)
	for k, i := range c.Order {
		place[i] = int32(k)
	}
	for j := range n {
		for e := p.Off[j]; e < p.Off[j+1]; e++ {
			l.to[e] = l.entry(place[p.Idx[e]], place[j])
		}
	}
	return l, nil
}

// entry returns where an element of the matrix in its new order goes, for elements above the nodes' triangles its complement.
func (l *LUPlan) entry(row, col int32) int64 {
	s := l.of[min(row, col)]
	d := &l.nodes[s]
	if int(row)-d.first < d.width {
		if k := int(col) - d.first; k >= d.width {
			k, _ = slices.BinarySearch(d.rows, col)
			return ^int64(l.at[s] + (k-d.width)*d.width + int(row) - d.first)
		}
		return int64(d.at + (int(row)-d.first)*d.width + int(col) - d.first)
	}
	k, _ := slices.BinarySearch(d.rows, row)
	return int64(d.at + k*d.width + int(col) - d.first)
}

// A BlockLU holds the factors of a matrix by the nodes of a plan. Rows of a node's triangle are in the order of their pivots.
type BlockLU[T Element] struct {
	*LUPlan
	x, u  []T     // columns of nodes, and what is of U alone
	pivot []int32 // the row of a node's triangle that each row changed places with, one after the other
	k     *kernels[T]
}

// parts returns the rows of a node's columns of L, whose first width hold U's triangle too, and of its rows of U^H.
func (f *BlockLU[T]) parts(s int) (l, u []T) {
	m := &f.nodes[s]
	size := len(m.rows) * m.width
	return f.x[m.at : m.at+size], f.u[f.at[s] : f.at[s]+size-m.width*m.width]
}

// triangle returns the packed triangle of a node's U, column by column from the last.
func (f *BlockLU[T]) triangle(s int) []T {
	m := &f.nodes[s]
	at := f.at[s] + (len(m.rows)-m.width)*m.width
	return f.u[at : at+m.width*(m.width+1)/2]
}

// pack copies the triangle of a node's U.
func (f *BlockLU[T]) pack(s int) {
	l, _ := f.parts(s)
	to, w := f.triangle(s), f.nodes[s].width
	for j := w - 1; j >= 0; j-- {
		for i := range j + 1 {
			to[i] = l[i*w+j]
		}
		to = to[j+1:]
	}
}

// FactorBlocks computes factors of a matrix with these values. The pivot of a column is the element of the diagonal if
// that is at least threshold times the largest of the column, else the largest in the node's triangle. FactorBlocks
// returns nil where the latter is below the threshold, 0 or NaN: [FactorLU] chooses among all rows. An error says that
// memory does not suffice, or is of stop.
//
// Source: Schenk, Gärtner, Fichtner, "Efficient sparse LU factorization with left-right looking strategy on shared
// memory multiprocessors", BIT 40, 2000, where small pivots are perturbed.
func FactorBlocks[T Element](plan *LUPlan, values []T, threshold float64, stop Stop) (*BlockLU[T], error) {
	var zero T
	if err := mem.CheckHeap((plan.size + plan.behind + plan.scratch) * int(unsafe.Sizeof(zero))); err != nil {
		return nil, err
	}
	f := &BlockLU[T]{plan, mem.MakeHuge[T](plan.size), mem.MakeHuge[T](plan.behind), make([]int32, len(plan.of)), kernelsOf[T]()}
	for e, to := range plan.to {
		if to < 0 {
			f.u[^to] = f.k.conj(values[e])
		} else {
			f.x[to] = values[e]
		}
	}
	p := &panel[T]{k: f.k, threshold: threshold, scratch: make([]T, plan.scratch), column: make([]T, maxWidth)}
	where := make([]int32, len(plan.of))
	done, err := plan.sweep(stop, func(s int) {
		for k, i := range plan.nodes[s].rows {
			where[i] = int32(k)
		}
	}, func(s, from, lo, hi int) { f.update(s, from, lo, hi, where, p.scratch) }, func(s int) bool {
		m := &plan.nodes[s]
		p.x, p.u = f.parts(s)
		p.width, p.pivot = m.width, f.pivot[m.first:m.first+m.width]
		if !p.factor(0, m.width) {
			return false
		}
		p.solve(0, m.width)
		f.pack(s)
		return true
	})
	if !done {
		return nil, err
	}
	return f, nil
}

// update subtracts from node s the products of rows lo to hi-1 of an earlier node, which are columns of s, with its later rows.
func (f *BlockLU[T]) update(s, from, lo, hi int, where []int32, scratch []T) {
	m, d := &f.nodes[s], &f.nodes[from]
	n, w := hi-lo, d.width
	l, u := f.parts(from)
	toL, toU := f.parts(s)
	cols, rows := d.rows[lo:hi], d.rows[lo:]
	f.k.gram(scratch[:len(rows)*n], l[lo*w:], u[(lo-w)*w:], len(rows), n, w)
	scatterRows(toL, scratch, rows, cols, where, 0, m)
	if rows = d.rows[hi:]; len(rows) > 0 {
		f.k.gram(scratch[:len(rows)*n], u[(hi-w)*w:], l[lo*w:], len(rows), n, w)
		scatterRows(toU, scratch, rows, cols, where, m.width, m)
	}
}

// scatterRows subtracts rows of s from elements of a node. x begins with the node's row number skip.
func scatterRows[T Element](x, s []T, rows, cols, where []int32, skip int, m *node) {
	n := len(cols)
	for i, r := range rows {
		row, from := x[(int(where[r])-skip)*m.width:][:m.width], s[i*n:(i+1)*n]
		for j, c := range cols {
			row[int(c)-m.first] -= from[j]
		}
	}
}

// A panel is a node that is factored: rows x of its columns, and rows u of the columns that its rows have beyond them, of the
// conjugate transpose.
type panel[T Element] struct {
	k         *kernels[T]
	x, u      []T
	width     int
	pivot     []int32
	threshold float64
	scratch   []T // for a product with all rows and half of the columns
	column    []T
}

// narrow is the number of columns up to which a panel is factored column by column.
const narrow = 8

// factor eliminates columns lo to hi-1 of the panel. It returns false where no row of the triangle has a large enough pivot.
// Source: Toledo, "Locality of reference in LU decomposition with partial pivoting", SIAM J. Matrix Anal. Appl. 18, 1997.
func (p *panel[T]) factor(lo, hi int) bool {
	if hi-lo <= narrow {
		for j := lo; j < hi; j++ {
			if !p.eliminate(lo, j) {
				return false
			}
		}
		return true
	}
	mid := lo + (hi-lo)/2
	if !p.factor(lo, mid) {
		return false
	}
	w, n := p.width, hi-mid
	for i := lo + 1; i < mid; i++ { // rows of U
		for q := lo; q < i; q++ {
			p.k.subtract(p.x[i*w+mid:i*w+hi], p.x[i*w+q:i*w+q+1], p.x[q*w+mid:q*w+hi])
		}
	}
	right := make([]T, n*(mid-lo))
	for j := range n {
		for q := lo; q < mid; q++ {
			right[j*(mid-lo)+q-lo] = p.k.conj(p.x[q*w+mid+j])
		}
	}
	p.subtract(p.x, mid, len(p.x)/w, lo, mid, right, mid, n)
	return p.factor(mid, hi)
}

// subtract takes from columns to to to+n-1 of rows first to end-1 of x the products of their columns lo to hi-1 with the
// conjugates of the rows of y.
func (p *panel[T]) subtract(x []T, first, end, lo, hi int, y []T, to, n int) {
	w, k := p.width, hi-lo
	step := max(1, len(p.scratch)/(n+k))
	for ; first < end; first += step {
		m := min(step, end-first)
		own, s := p.scratch[:m*k], p.scratch[m*k:m*(k+n)]
		for i := range m {
			copy(own[i*k:(i+1)*k], x[(first+i)*w+lo:])
		}
		p.k.gram(s, own, y, m, n, k)
		for i := range m {
			row, from := x[(first+i)*w+to:][:n], s[i*n:(i+1)*n]
			for j := range row {
				row[j] -= from[j]
			}
		}
	}
}

// eliminate chooses the pivot of column j, whose columns before lo are subtracted.
func (p *panel[T]) eliminate(lo, j int) bool {
	w, x := p.width, p.x
	above := p.column[:j-lo]
	for i := range above { // of U
		at := (lo+i)*w + j
		x[at] -= p.k.dot(x[(lo+i)*w+lo:][:i], above, true)
		above[i] = p.k.conj(x[at])
	}
	if len(above) > 0 {
		p.k.reduce(x[j*w:], w, lo, above)
	}
	most, own, best, diagonal := 0.0, 0.0, -1, 0.0
	for i := j; i < len(x)/w; i++ {
		a := p.k.size(x[i*w+j])
		if a != a {
			return false
		}
		if most = max(most, a); i < w && a > own {
			own, best = a, i
		}
		if i == j {
			diagonal = a
		}
	}
	if best < 0 || own < p.threshold*most {
		return false
	}
	if diagonal > 0 && diagonal >= p.threshold*most {
		best = j
	}
	p.pivot[j] = int32(best)
	if best != j {
		swapRows(x, best, j, w)
		for i := 0; i < len(p.u); i += w {
			p.u[i+best], p.u[i+j] = p.u[i+j], p.u[i+best]
		}
	}
	d := x[j*w+j]
	for at := (j+1)*w + j; at < len(x); at += w {
		x[at] = p.k.divide(x[at], d)
	}
	return true
}

// solve multiplies the rows of U by the inverse of columns lo to hi-1 of the triangle of L.
func (p *panel[T]) solve(lo, hi int) {
	w := p.width
	if hi-lo > narrow {
		mid := lo + (hi-lo)/2
		p.solve(lo, mid)
		left := make([]T, 0, (hi-mid)*(mid-lo))
		for i := mid; i < hi; i++ {
			left = append(left, p.x[i*w+lo:i*w+mid]...)
		}
		p.subtract(p.u, 0, len(p.u)/w, lo, mid, left, mid, hi-mid)
		p.solve(mid, hi)
		return
	}
	for at := 0; at < len(p.u); at += w {
		row := p.u[at : at+w]
		for j := lo + 1; j < hi; j++ {
			row[j] -= p.k.dot(row[lo:j], p.x[j*w+lo:], true)
		}
	}
}

// Solve replaces width right sides b, rows of that many elements, by the solutions of a*x = b or of a^H*x = b.
func (f *BlockLU[T]) Solve(b []T, width int, adjoint bool) {
	if width == 0 {
		return
	}
	y := gathered(b, f.Order, width)
	if adjoint {
		f.solveAdjoint(y, width)
	} else {
		f.solve(y, width)
	}
	scattered(b, y, f.Order, width)
}

func (f *BlockLU[T]) solve(y []T, width int) {
	by := f.k.byRows()
	for s := range f.nodes {
		m := &f.nodes[s]
		l, _ := f.parts(s)
		w := m.width
		own := y[m.first*width:][:w*width]
		for j := range w {
			swapRows(own, j, int(f.pivot[m.first+j]), width)
		}
		f.k.solveLower(own, l[:w*w], width)
		f.k.subtractRows(by, y, m.rows[w:], l[w*w:], own, width)
	}
	for s := len(f.nodes) - 1; s >= 0; s-- {
		m := &f.nodes[s]
		l, u := f.parts(s)
		w := m.width
		own := y[m.first*width:][:w*width]
		f.k.spreadRows(by, own, u, m.rows[w:], y, width)
		if width == 1 && f.k.upper != nil {
			f.k.upper(own, f.triangle(s))
			continue
		}
		f.k.solveUpper(own, l[:w*w], width)
	}
}

func (f *BlockLU[T]) solveAdjoint(y []T, width int) {
	by := f.k.byRows()
	for s := range f.nodes {
		m := &f.nodes[s]
		l, u := f.parts(s)
		w := m.width
		own := y[m.first*width:][:w*width]
		for j := range w {
			row := own[j*width : (j+1)*width]
			f.k.divideBy(row, f.k.conj(l[j*w+j]))
			f.k.spread(own[(j+1)*width:], l[j*w+j+1:(j+1)*w], row)
		}
		f.k.subtractRows(by, y, m.rows[w:], u, own, width)
	}
	for s := len(f.nodes) - 1; s >= 0; s-- {
		m := &f.nodes[s]
		l, _ := f.parts(s)
		w := m.width
		own := y[m.first*width:][:w*width]
		f.k.spreadRows(by, own, l[w*w:], m.rows[w:], y, width)
		for i := w - 1; i > 0; i-- {
			f.k.spread(own, l[i*w:i*w+i], own[i*width:][:width])
		}
		for j := w - 1; j >= 0; j-- {
			swapRows(own, j, int(f.pivot[m.first+j]), width)
		}
	}
}

// solveLower multiplies y, rows of width elements, by the inverse of the triangle below the diagonal of l, with ones on it.
func (k *kernels[T]) solveLower(y, l []T, width int) {
	if width == 1 && k.lower != nil {
		k.lower(y, l)
		return
	}
	w := len(y) / width
	for i := range w {
		k.subtract(y[i*width:][:width], l[i*w:i*w+i], y)
	}
}

// solveUpper multiplies y, rows of width elements, by the inverse of the triangle of l, its diagonal included.
func (k *kernels[T]) solveUpper(y, l []T, width int) {
	w := len(y) / width
	for j := w - 1; j >= 0; j-- {
		row := y[j*width : (j+1)*width]
		k.subtract(row, l[j*w+j+1:(j+1)*w], y[(j+1)*width:])
		k.divideBy(row, l[j*w+j])
	}
}

// subtractRows takes the products of rows l with own, rows of width elements, from rows of y.
func (k *kernels[T]) subtractRows(by rowFuncs[T], y []T, rows []int32, l, own []T, width int) {
	if width == 1 {
		by.dot(y, rows, l, own)
		return
	}
	w := len(own) / width
	for i, r := range rows {
		k.subtract(y[int(r)*width:][:width], l[i*w:(i+1)*w], own)
	}
}

// spreadRows takes the products of the conjugates of rows l, transposed, with rows of y from own.
func (k *kernels[T]) spreadRows(by rowFuncs[T], own, l []T, rows []int32, y []T, width int) {
	if width == 1 {
		by.spread(own, l, rows, y)
		return
	}
	w := len(own) / width
	for i, r := range rows {
		k.spread(own, l[i*w:(i+1)*w], y[int(r)*width:][:width])
	}
}

// swapRows swaps two rows of y.
func swapRows[T any](y []T, i, j, width int) {
	if i != j {
		for c := range width {
			y[i*width+c], y[j*width+c] = y[j*width+c], y[i*width+c]
		}
	}
}

// toPivots moves the rows of the matrix in its new order to the places of their pivots.
func (f *BlockLU[T]) toPivots(rows []int32) {
	for s := range f.nodes {
		m := &f.nodes[s]
		for j := range m.width {
			swapRows(rows[m.first:], j, int(f.pivot[m.first+j]), 1)
		}
	}
}

// Perm returns the row and the column of the matrix in each place of the factors.
func (f *BlockLU[T]) Perm() (rows, cols []int32) {
	rows = slices.Clone(f.Order)
	f.toPivots(rows)
	return rows, f.Order
}

// Entries returns the number of entries of both factors, stored zeros among them, without the ones on the diagonal of L.
func (f *BlockLU[T]) Entries() int { return f.size + f.behind }

// Lower returns L, with its ones, in compressed columns of ascending rows.
func (f *BlockLU[T]) Lower() Triangular[T] {
	n := len(f.of)
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	f.toPivots(rows)
	place := make([]int32, n) // of each row among the pivots
	for k, i := range rows {
		place[i] = int32(k)
	}
	c := columns[T]{off: make([]int64, 1, n+1)}
	for s := range f.nodes {
		m := &f.nodes[s]
		l, _ := f.parts(s)
		for j := range m.width {
			for i := j + 1; i < len(m.rows); i++ {
				row := m.rows[i]
				if i >= m.width {
					row = place[row]
				}
				c.add(row, l[i*m.width+j])
			}
			c.off = append(c.off, int64(len(c.idx)))
		}
	}
	one := f.k.fromReal(1)
	return sortedColumns(&c, n, func(int) T { return one }, true)
}

// Upper returns U in compressed columns of ascending rows.
func (f *BlockLU[T]) Upper() Triangular[T] {
	n := len(f.of)
	t := Triangular[T]{Off: make([]int64, n+1)}
	for s := range f.nodes {
		m := &f.nodes[s]
		for i, r := range m.rows {
			t.Off[r+1] += int64(min(i+1, m.width))
		}
	}
	for k := range n {
		t.Off[k+1] += t.Off[k]
	}
	t.Idx, t.Values = make([]int32, t.Off[n]), make([]T, t.Off[n])
	next := slices.Clone(t.Off[:n])
	for s := range f.nodes {
		m := &f.nodes[s]
		l, u := f.parts(s)
		for i, r := range m.rows {
			for j := range min(i+1, m.width) {
				t.Idx[next[r]] = int32(m.first + j)
				if i < m.width {
					t.Values[next[r]] = l[j*m.width+i]
				} else {
					t.Values[next[r]] = f.k.conj(u[(i-m.width)*m.width+j])
				}
				next[r]++
			}
		}
	}
	return t
}
