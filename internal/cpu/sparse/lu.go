package sparse

import (
	"slices"
	"unsafe"

	"weft/internal/mem"
)

// An LU is factors of a square matrix: rows and columns of the matrix in another order are L*U.
type LU[T Element] struct {
	Rows, Cols []int32 // the row and the column of the matrix in each place
	l, u       columns[T]
	diagonal   []T // of U; that of L is ones
	k          *kernels[T]
}

// columns are compressed columns that grow.
type columns[T Element] struct {
	off []int64
	idx []int32
	x   []T
}

// room makes room for n entries more.
func (c *columns[T]) room(n int) error {
	have := len(c.idx) + n
	if have <= cap(c.idx) {
		return nil
	}
	want := max(have, 2*cap(c.idx), 1024)
	var zero T
	if err := mem.CheckHeap(want * (4 + int(unsafe.Sizeof(zero)))); err != nil {
		return err
	}
	c.idx, c.x = slices.Grow(c.idx, want-len(c.idx)), slices.Grow(c.x, want-len(c.x))
	return nil
}

func (c *columns[T]) add(i int32, x T) { c.idx, c.x = append(c.idx, i), append(c.x, x) }

func (c *columns[T]) column(k int) ([]int32, []T) {
	return c.idx[c.off[k]:c.off[k+1]], c.x[c.off[k]:c.off[k+1]]
}

// Cliques returns the columns of each row of a pattern of compressed columns: what the columns meet in the product of the
// transposed matrix and the matrix.
func (p *Pattern) Cliques() [][]int32 {
	count := make([]int32, p.Cols)
	for _, i := range p.Idx {
		count[i]++
	}
	block, out := make([]int32, len(p.Idx)), make([][]int32, p.Cols)
	for i, n := range count {
		out[i], block = block[:0:n], block[n:]
	}
	for j := range p.rows() {
		for _, i := range p.Idx[p.Off[j]:p.Off[j+1]] {
			out[i] = append(out[i], int32(j))
		}
	}
	return out
}

// A luWork is the state of a factorization. Rows are numbered as in the matrix. A row whose place is negative has not been
// chosen as a pivot.
type luWork[T Element] struct {
	*LU[T]
	place  []int32
	x      []T     // the column
	mark   []int32 // 1 more than the last column that reached a row
	pruned []int64 // entries of a column of L that a search follows
	stack  []int32
	next   []int64 // the entry where the search goes on
	order  []int32 // columns of L that reach the column, each after what it needs, from the back
	open   []int32 // rows without a place that it reaches
}

// FactorLU computes factors of a square matrix of compressed columns, in an order of its columns. The pivot of a column
// is the element of the matrix's diagonal if that is at least threshold times the largest, else the largest. bad is the
// column of the matrix that has none, or -1. An error says that memory does not suffice, or is of stop, which is called
// before each column.
//
// Sources: Gilbert, Peierls, "Sparse partial pivoting in time proportional to arithmetic operations", SIAM J. Sci. Stat.
// Comput. 9, 1988; Eisenstat, Liu, "Exploiting structural symmetry in a sparse partial pivoting code", ibid. 14, 1993.
func FactorLU[T Element](p *Pattern, values []T, order []int32, threshold float64, stop Stop) (f *LU[T], bad int, err error) {
	n := p.rows()
	f = &LU[T]{Rows: make([]int32, n), Cols: order, diagonal: make([]T, n), k: kernelsOf[T]()}
	f.l.off, f.u.off = make([]int64, 1, n+1), make([]int64, 1, n+1)
	w := &luWork[T]{LU: f, place: make([]int32, n), x: make([]T, n), mark: make([]int32, n), pruned: make([]int64, n), next: make([]int64, n)}
	for i := range w.place {
		w.place[i] = -1
	}
	for k, col := range order {
		if err := stop(); err != nil {
			return nil, -1, err
		}
		lo, hi := p.Off[col], p.Off[col+1]
		w.reach(int32(k)+1, p.Idx[lo:hi])
		for e := lo; e < hi; e++ {
			w.x[p.Idx[e]] = values[e]
		}
		for i := len(w.order) - 1; i >= 0; i-- {
			j := int(w.order[i])
			idx, l := f.l.column(j)
			f.k.scatter(w.x, idx, l, w.x[f.Rows[j]])
		}
		pivot := w.pivot(col, threshold)
		if pivot < 0 {
			return nil, int(col), nil
		}
		if err := f.u.room(len(w.order)); err != nil {
			return nil, -1, err
		}
		if err := f.l.room(len(w.open)); err != nil {
			return nil, -1, err
		}
		w.store(k, pivot)
	}
	for e, i := range f.l.idx {
		f.l.idx[e] = w.place[i]
	}
	return f, -1, nil
}

// reach finds the columns of L and the open rows that a column's entries reach.
func (w *luWork[T]) reach(mark int32, rows []int32) {
	w.order, w.open = w.order[:0], w.open[:0]
	for _, i := range rows {
		if w.mark[i] != mark {
			w.search(i, mark)
		}
	}
}

// search goes through L from a row, depth first.
func (w *luWork[T]) search(i, mark int32) {
	w.mark[i] = mark
	if w.place[i] < 0 {
		w.open = append(w.open, i)
		return
	}
	w.stack = append(w.stack[:0], w.place[i])
	w.next[w.place[i]] = w.l.off[w.place[i]]
	for len(w.stack) > 0 {
		j := w.stack[len(w.stack)-1]
		e, deeper := w.next[j], false
		for ; e < w.pruned[j] && !deeper; e++ {
			r := w.l.idx[e]
			if w.mark[r] == mark {
				continue
			}
			w.mark[r] = mark
			if c := w.place[r]; c >= 0 {
				w.next[c] = w.l.off[c]
				w.stack = append(w.stack, c)
				deeper = true
			} else {
				w.open = append(w.open, r)
			}
		}
		w.next[j] = e
		if !deeper {
			w.stack = w.stack[:len(w.stack)-1]
			w.order = append(w.order, j)
		}
	}
}

// pivot chooses the row of a column's pivot, -1 if all elements are 0. NaN is taken before numbers, so that it comes
// out.
func (w *luWork[T]) pivot(col int32, threshold float64) int32 {
	best, most := int32(-1), 0.0
	for _, i := range w.open {
		if a := w.k.size(w.x[i]); a > most || a != a {
			if best, most = i, a; a != a {
				return best
			}
		}
	}
	if best >= 0 && w.place[col] < 0 && w.mark[col] == w.mark[best] && w.k.size(w.x[col]) >= threshold*most && w.k.size(w.x[col]) > 0 {
		return col
	}
	return best
}

// store makes column k of the factors, and prunes columns of L.
func (w *luWork[T]) store(k int, pivot int32) {
	var zero T
	w.place[pivot], w.Rows[k] = int32(k), pivot
	for i := len(w.order) - 1; i >= 0; i-- {
		j := w.order[i]
		w.u.add(j, w.x[w.Rows[j]])
		w.x[w.Rows[j]] = zero
	}
	w.u.off = append(w.u.off, int64(len(w.u.idx)))
	d := w.x[pivot]
	w.diagonal[k] = d
	for _, i := range w.open {
		if i != pivot {
			w.l.add(i, w.k.divide(w.x[i], d))
		}
		w.x[i] = zero
	}
	w.l.off = append(w.l.off, int64(len(w.l.idx)))
	w.pruned[k] = w.l.off[k+1]
	for _, j := range w.order {
		if w.pruned[j] == w.l.off[j+1] {
			w.prune(int(j), pivot)
		}
	}
}

// prune moves entries of rows with a place to the front of a column of L that has an entry in the pivot's row. Column k
// has the others too, so that a search finds them there.
func (w *luWork[T]) prune(j int, pivot int32) {
	idx, x := w.l.column(j)
	if !slices.Contains(idx, pivot) {
		return
	}
	front := 0
	for e, i := range idx {
		if w.place[i] >= 0 {
			idx[e], idx[front] = idx[front], idx[e]
			x[e], x[front] = x[front], x[e]
			front++
		}
	}
	w.pruned[j] = w.l.off[j] + int64(front)
}

// Entries returns the number of entries of both factors, without the ones on the diagonal of L.
func (f *LU[T]) Entries() int { return len(f.l.idx) + len(f.u.idx) + len(f.diagonal) }

// Solve replaces width right sides b, rows of that many elements, by the solutions of a*x = b or of a^H*x = b.
func (f *LU[T]) Solve(b []T, width int, adjoint bool) {
	from, to := f.Rows, f.Cols
	if adjoint {
		from, to = to, from
	}
	y := gathered(b, from, width)
	row := func(k int) []T { return y[k*width : (k+1)*width] }
	n := len(f.diagonal)
	if adjoint {
		for k := range n {
			f.k.collect(y, &f.u, k, width)
			f.k.divideBy(row(k), f.k.conj(f.diagonal[k]))
		}
		for k := n - 1; k >= 0; k-- {
			f.k.collect(y, &f.l, k, width)
		}
	} else {
		for k := range n {
			f.k.distribute(y, &f.l, k, width)
		}
		for k := n - 1; k >= 0; k-- {
			f.k.divideBy(row(k), f.diagonal[k])
			f.k.distribute(y, &f.u, k, width)
		}
	}
	scattered(b, y, to, width)
}

// distribute takes the products of column k with row k of y from the rows of the column's entries.
func (k *kernels[T]) distribute(y []T, c *columns[T], at, width int) {
	idx, x := c.column(at)
	own := y[at*width:][:width]
	if width == 1 {
		k.scatter(y, idx, x, own[0])
		return
	}
	for e, i := range idx {
		k.subtract(y[int(i)*width:][:width], x[e:e+1], own)
	}
}

// collect takes the products of the conjugate of column k with the rows of its entries from row k of y.
func (k *kernels[T]) collect(y []T, c *columns[T], at, width int) {
	idx, x := c.column(at)
	own := y[at*width:][:width]
	for e, i := range idx {
		k.spread(own, x[e:e+1], y[int(i)*width:][:width])
	}
}

// Perm returns the row and the column of the matrix in each place of the factors.
func (f *LU[T]) Perm() (rows, cols []int32) { return f.Rows, f.Cols }

// Lower returns L, with its ones, in compressed columns of ascending rows.
func (f *LU[T]) Lower() Triangular[T] {
	one := f.k.fromReal(1)
	return sortedColumns(&f.l, len(f.diagonal), func(int) T { return one }, true)
}

// Upper returns U in compressed columns of ascending rows.
func (f *LU[T]) Upper() Triangular[T] {
	return sortedColumns(&f.u, len(f.diagonal), func(k int) T { return f.diagonal[k] }, false)
}

// Triangular is a triangular matrix in compressed columns.
type Triangular[T Element] struct {
	Idx    []int32
	Off    []int64
	Values []T
}

// sortedColumns adds a diagonal, which is first or last in its column, and sorts the rows of each column.
func sortedColumns[T Element](c *columns[T], n int, diagonal func(k int) T, first bool) (t Triangular[T]) {
	t.Idx, t.Off, t.Values = make([]int32, 0, len(c.idx)+n), make([]int64, 1, n+1), make([]T, 0, len(c.idx)+n)
	var order []int
	for k := range n {
		idx, x := c.column(k)
		order = order[:0]
		for e := range idx {
			order = append(order, e)
		}
		slices.SortFunc(order, func(a, b int) int { return int(idx[a]) - int(idx[b]) })
		if first {
			t.Idx, t.Values = append(t.Idx, int32(k)), append(t.Values, diagonal(k))
		}
		for _, e := range order {
			t.Idx, t.Values = append(t.Idx, idx[e]), append(t.Values, x[e])
		}
		if !first {
			t.Idx, t.Values = append(t.Idx, int32(k)), append(t.Values, diagonal(k))
		}
		t.Off = append(t.Off, int64(len(t.Idx)))
	}
	return t
}
