package sparse

import (
	"slices"
	"unsafe"

	"weft/internal/mem"
)

// A PanelLU is factors of a square matrix: rows and columns of the matrix in another order are L*U. Consecutive columns of L
// with the same rows, or nearly so, are blocks, whose triangles hold that part of U too.
type PanelLU[T Element] struct {
	Rows, Cols []int32 // the row and the column of the matrix in each place
	blocks     []block[T]
	of         []int32    // the block of a place
	u          columns[T] // above the blocks' triangles
	k          *kernels[T]
}

// A block is columns of L from first on.
type block[T Element] struct {
	first, width int
	rows         []int32 // the block's pivots first
	x            []T     // len(rows) rows of width elements
	search       []int32 // what a search follows: the rows below the pivots, or those with a place of them
}

// A panelLU is the state of a factorization. Rows are numbered as in the matrix; those whose place is negative have not been
// chosen as pivots. A panel is columns that are computed together.
type panelLU[T Element] struct {
	*PanelLU[T]
	width int // columns of a panel
	place []int32
	x     []T // the panel: a row of width elements for each row of the matrix

	mark    []int32 // of rows: 1 more than the last column that reached one from outside its panel
	here    []int32 // of rows: 1 more than the last column that has one
	seen    []int32 // of blocks: 1 more than the last column that reached one
	low     []int32 // of blocks: the first place that the column reached
	joined  []int32 // of blocks: 1 more than the first column of the last panel that reached one
	lowest  []int32 // of blocks: the first place that the panel reached
	touched []int32 // of blocks: how many columns of the panel reached one
	stack   []int32
	next    []int32 // of blocks: where the search goes on

	reached []int32     // blocks that reach the panel, ascending
	own     [][]reach   // blocks that reach each column, ascending
	open    [][]int32   // rows without a place that each column reaches from outside its panel
	inside  []column[T] // of the panel
	current open[T]     // the last block, which may get more columns
	upper   []T         // rows of U
	iota    []int32
	arena   []T
	indices []int32
}

// A reach says from which place on a block reaches a column.
type reach struct{ block, low int32 }

// A column is one of L in the panel: its pivot, and the rows below it with their elements.
type column[T Element] struct {
	pivot int32
	block int32
	rows  []int32
	l     []T
}

// An open block has rows of maxPanelBlock elements.
type open[T Element] struct {
	exists bool
	rows   []int32
	x      []T
}

// maxPanelBlock is the most columns of a block.
const maxPanelBlock = 64

// openStride is the distance of rows of an open block. It is not a power of 2, so that rows lie in different sets of caches.
const openStride = maxPanelBlock + 8

// FactorPanels computes factors as [FactorLU] does, by panels of columns and blocks of L. Neighbours in the order should
// have similar rows, as [Pattern.ColumnOrder] makes them.
//
// Sources: Demmel, Eisenstat, Gilbert, Li, Liu, "A supernodal approach to sparse partial pivoting", SIAM J. Matrix Anal.
// Appl. 20, 1999; Eisenstat, Liu, "Exploiting structural symmetry in a sparse partial pivoting code", SIAM J. Sci. Comput.
// 14, 1993.
func FactorPanels[T Element](p *Pattern, values []T, order []int32, threshold float64, stop Stop) (f *PanelLU[T], bad int, err error) {
	n, width := p.rows(), panelBytes/int(unsafe.Sizeof(*new(T)))
	if err := mem.CheckHeap(n * (panelBytes + 40)); err != nil {
		return nil, -1, err
	}
	f = &PanelLU[T]{Rows: make([]int32, n), Cols: order, of: make([]int32, n), k: kernelsOf[T]()}
	f.u.off = make([]int64, 1, n+1)
	w := &panelLU[T]{PanelLU: f, width: width, place: make([]int32, n), x: mem.MakeHuge[T](n * width), mark: make([]int32, n), here: make([]int32, n),
		own: make([][]reach, width), open: make([][]int32, width), inside: make([]column[T], width), upper: make([]T, maxPanelBlock*width)}
	for i := range w.place {
		w.place[i] = -1
	}
	for i := range int32(maxPanelBlock) {
		w.iota = append(w.iota, i)
	}
	for k := 0; k < n; k += width {
		if err := stop(); err != nil {
			return nil, -1, err
		}
		m := min(width, n-k)
		w.begin(p, values, k, order[k:k+m])
		w.update(m)
		for c := range m {
			bad, err := w.factor(k+c, c, threshold)
			if err != nil || bad >= 0 {
				return nil, bad, err
			}
		}
		w.clear(m)
	}
	if err := w.close(); err != nil {
		return nil, -1, err
	}
	for b := range f.blocks {
		for i, r := range f.blocks[b].rows {
			f.blocks[b].rows[i] = w.place[r]
		}
		f.blocks[b].search = nil
	}
	return f, -1, nil
}

// begin loads the columns of a panel, which begins in place k, and finds the blocks that reach them.
func (w *panelLU[T]) begin(p *Pattern, values []T, k int, cols []int32) {
	w.reached = w.reached[:0]
	for c, col := range cols {
		w.open[c], w.own[c] = w.open[c][:0], w.own[c][:0]
		mark := int32(k+c) + 1
		lo, hi := p.Off[col], p.Off[col+1]
		for e := lo; e < hi; e++ {
			i := p.Idx[e]
			w.x[int(i)*w.width+c] = values[e]
			if w.place[i] >= 0 {
				w.search(c, w.place[i], mark)
			} else if w.mark[i] != mark {
				w.mark[i] = mark
				w.open[c] = append(w.open[c], i)
			}
		}
		slices.SortFunc(w.own[c], func(a, b reach) int { return int(a.block) - int(b.block) })
		for i, r := range w.own[c] {
			low := w.low[r.block]
			w.own[c][i].low = low
			if w.joined[r.block] != int32(k)+1 {
				w.joined[r.block], w.lowest[r.block], w.touched[r.block] = int32(k)+1, low, 0
				w.reached = append(w.reached, r.block)
			}
			w.lowest[r.block] = min(w.lowest[r.block], low)
			w.touched[r.block]++
		}
	}
	slices.Sort(w.reached)
}

// search goes through blocks from a place, depth first.
func (w *panelLU[T]) search(c int, place, mark int32) {
	if !w.visit(c, place, mark) {
		return
	}
	for len(w.stack) > 0 {
		b := w.stack[len(w.stack)-1]
		list, deeper := w.blocks[b].search, false
		e := int(w.next[b])
		for ; e < len(list) && !deeper; e++ {
			r := list[e]
			if q := w.place[r]; q >= 0 {
				deeper = w.visit(c, q, mark)
			} else if w.mark[r] != mark {
				w.mark[r] = mark
				w.open[c] = append(w.open[c], r)
			}
		}
		w.next[b] = int32(e)
		if !deeper {
			w.stack = w.stack[:len(w.stack)-1]
		}
	}
}

// visit notes that a column reaches a place, and reports whether its block is new.
func (w *panelLU[T]) visit(c int, place, mark int32) bool {
	b := w.of[place]
	if w.seen[b] == mark {
		w.low[b] = min(w.low[b], place)
		return false
	}
	w.seen[b], w.low[b], w.next[b] = mark, place, 0
	w.own[c] = append(w.own[c], reach{b, 0})
	w.stack = append(w.stack, b)
	return true
}

// elements returns the elements of a block, row by row, and the distance of rows.
func (w *panelLU[T]) elements(b int32) (rows []int32, x []T, stride int) {
	if w.current.exists && int(b) == len(w.blocks)-1 {
		return w.current.rows, w.current.x, openStride
	}
	return w.blocks[b].rows, w.blocks[b].x, w.blocks[b].width
}

// update takes the products of all blocks before the panel from its m columns.
func (w *panelLU[T]) update(m int) {
	for _, b := range w.reached {
		rows, x, stride := w.elements(b)
		width := w.blocks[b].width
		from := int(w.lowest[b]) - w.blocks[b].first
		if n := width - from; w.touched[b] == 1 && n*(len(rows)-from) < 64 {
			w.updateOne(b, rows, x, stride, from, m)
			continue
		}
		u := w.upper[:(width-from)*w.width]
		for i, r := range rows[from:width] {
			copy(u[i*w.width:], w.x[int(r)*w.width:][:w.width])
		}
		w.triangle(u, x[from*stride+from:], stride)
		for i, r := range rows[from:width] {
			copy(w.x[int(r)*w.width:], u[i*w.width:(i+1)*w.width])
		}
		if len(rows) > width {
			w.k.panel(w.x, rows[width:], x[width*stride+from:], stride, u, width-from)
		}
	}
}

// updateOne updates the only column that a small block reaches.
func (w *panelLU[T]) updateOne(b int32, rows []int32, x []T, stride, from, m int) {
	c := 0
	for ; c < m; c++ {
		if at, ok := slices.BinarySearchFunc(w.own[c], b, func(r reach, b int32) int { return int(r.block) - int(b) }); ok && w.own[c][at].block == b {
			break
		}
	}
	for j := from; j < w.blocks[b].width; j++ {
		u := w.x[int(rows[j])*w.width+c]
		for i := j + 1; i < len(rows); i++ {
			at := int(rows[i])*w.width + c
			w.x[at] = MultiplyAdd(-x[i*stride+j], u, w.x[at])
		}
	}
}

// triangle multiplies rows of u by the inverse of the triangle below the diagonal of l, with ones on it.
func (w *panelLU[T]) triangle(u, l []T, stride int) {
	n := len(u) / w.width
	for lo := 0; lo < n; lo += narrow {
		hi := min(lo+narrow, n)
		if lo > 0 {
			w.k.panel(u, w.iota[lo:hi], l[lo*stride:], stride, u, lo)
		}
		for i := lo + 1; i < hi; i++ {
			row := u[i*w.width:][:w.width]
			for j := lo; j < i; j++ {
				a, from := l[i*stride+j], u[j*w.width:][:w.width]
				for c := range row {
					row[c] -= T(a * from[c])
				}
			}
		}
	}
}

// factor computes column c of the panel, which is in place k. bad is the column of the matrix that has no pivot, or -1.
func (w *panelLU[T]) factor(k, c int, threshold float64) (bad int, err error) {
	own := &w.inside[c]
	w.collect(k, c)
	own.pivot = w.choose(k, c, threshold)
	if own.pivot < 0 {
		return int(w.Cols[k]), nil
	}
	extends := w.extends(k, c)
	if !extends {
		if err := w.close(); err != nil {
			return -1, err
		}
	}
	w.place[own.pivot], w.Rows[k] = int32(k), own.pivot
	if err := w.storeUpper(k, c, extends); err != nil {
		return -1, err
	}
	w.storeLower(k, c, extends)
	w.pushRight(c)
	w.prune(k, c)
	return -1, nil
}

// collect makes the rows of a column: rows reached from outside the panel, and rows of columns in the panel.
func (w *panelLU[T]) collect(k, c int) {
	mark := int32(k) + 1
	rows := w.inside[c].rows[:0]
	add := func(list []int32) {
		for _, r := range list {
			if w.here[r] != mark {
				w.here[r] = mark
				rows = append(rows, r)
			}
		}
	}
	add(w.open[c])
	for j := range c {
		from := &w.inside[j]
		if w.here[from.pivot] != mark {
			continue
		}
		if j+1 < c && w.inside[j+1].block == from.block { // whose rows are the same
			if next := w.inside[j+1].pivot; w.here[next] != mark {
				w.here[next] = mark
				rows = append(rows, next)
			}
			continue
		}
		add(from.rows)
	}
	kept := rows[:0]
	for _, r := range rows {
		if w.place[r] < 0 {
			kept = append(kept, r)
		}
	}
	w.inside[c].rows = kept
}

// choose returns the row of a column's pivot, -1 if all elements are 0. NaN is taken before numbers, so that it comes out.
func (w *panelLU[T]) choose(k, c int, threshold float64) int32 {
	best, most := int32(-1), 0.0
	for _, i := range w.inside[c].rows {
		if a := w.k.size(w.x[int(i)*w.width+c]); a > most || a != a {
			if best, most = i, a; a != a {
				return best
			}
		}
	}
	col := w.Cols[k]
	if best >= 0 && w.place[col] < 0 && w.here[col] == int32(k)+1 {
		if a := w.k.size(w.x[int(col)*w.width+c]); a >= threshold*most && a > 0 {
			return col
		}
	}
	return best
}

// extends reports whether column k belongs to the block of the column before: it has that one's rows, and few others.
func (w *panelLU[T]) extends(k, c int) bool {
	if !w.current.exists {
		return false
	}
	b := &w.blocks[len(w.blocks)-1]
	if b.width == maxPanelBlock || w.here[w.Rows[k-1]] != int32(k)+1 {
		return false
	}
	below := len(w.current.rows) - b.width
	more := len(w.inside[c].rows) - below
	return more >= 0 && (more == 0 || more*b.width*relaxed <= len(w.inside[c].rows)*(b.width+1))
}

// relaxed is the inverse of the largest share of zeros that a column may add to a block.
var relaxed = 16

// storeUpper stores what column k has of U, but for the triangle of a block that it extends.
func (w *panelLU[T]) storeUpper(k, c int, extends bool) error {
	last := int32(len(w.blocks) - 1) // the block that column k extends
	first, inside := k-c, 0          // of the panel; columns inside it that are not in the block
	if !extends {
		inside = c
	} else if f := w.blocks[last].first; f > first {
		inside = f - first
	}
	if err := w.u.room(inside + maxPanelBlock*len(w.own[c])); err != nil {
		return err
	}
	idx, x := w.u.idx, w.u.x // which have room
	for _, r := range w.own[c] {
		if extends && r.block == last {
			continue
		}
		b := &w.blocks[r.block]
		q := int(r.low)
		for _, row := range w.Rows[q:min(b.first+b.width, first)] {
			idx, x = append(idx, int32(q)), append(x, w.x[int(row)*w.width+c])
			q++
		}
	}
	for j := range inside {
		if r := w.inside[j].pivot; w.here[r] == int32(k)+1 {
			idx, x = append(idx, int32(first+j)), append(x, w.x[int(r)*w.width+c])
		}
	}
	w.u.idx, w.u.x, w.u.off = idx, x, append(w.u.off, int64(len(idx)))
	return nil
}

// storeLower divides column k by its pivot and adds it to the open block, or opens a block.
func (w *panelLU[T]) storeLower(k, c int, extends bool) {
	own, cur := &w.inside[c], &w.current
	if !extends {
		w.blocks = append(w.blocks, block[T]{first: k})
		cur.exists, cur.rows = true, cur.rows[:0]
		w.seen, w.low, w.joined = append(w.seen, 0), append(w.low, 0), append(w.joined, 0)
		w.lowest, w.touched, w.next = append(w.lowest, 0), append(w.touched, 0), append(w.next, 0)
	}
	at := int32(len(w.blocks) - 1)
	b := &w.blocks[at]
	j := b.width
	have := len(cur.rows)
	if extends && have-j < len(own.rows) || !extends {
		for _, r := range cur.rows[j:] {
			w.here[r] = 0
		}
		for _, r := range own.rows {
			if w.here[r] != 0 {
				cur.rows = append(cur.rows, r)
			}
		}
		for _, r := range own.rows {
			w.here[r] = int32(k) + 1
		}
		if need := len(cur.rows) * openStride; need > len(cur.x) {
			cur.x = append(cur.x, make([]T, max(need, 2*len(cur.x))-len(cur.x))...)
		}
		for i := have; i < len(cur.rows); i++ {
			clear(cur.x[i*openStride:][:j])
		}
	}
	p := j + slices.Index(cur.rows[j:], own.pivot)
	cur.rows[j], cur.rows[p] = cur.rows[p], cur.rows[j]
	swapRows(cur.x, j, p, openStride)
	for i, r := range cur.rows[:j+1] {
		cur.x[i*openStride+j] = w.x[int(r)*w.width+c]
	}
	d := w.x[int(own.pivot)*w.width+c]
	own.rows, own.l = append(own.rows[:0], cur.rows[j+1:]...), own.l[:0]
	for i, r := range own.rows {
		l := w.k.divide(w.x[int(r)*w.width+c], d)
		own.l = append(own.l, l)
		cur.x[(j+1+i)*openStride+j] = l
	}
	b.width++
	b.rows, b.search = cur.rows, cur.rows[j+1:]
	own.block, w.of[k] = at, at
}

// pushRight takes the products of a column with its row of U from the rows of the columns right of it in the panel.
func (w *panelLU[T]) pushRight(c int) {
	var zero T
	own := &w.inside[c]
	u, any := w.upper[:w.width], false
	copy(u, w.x[int(own.pivot)*w.width:])
	for i := range u {
		if i <= c {
			u[i] = zero
		}
		any = any || u[i] != zero
	}
	if any && len(own.rows) > 0 {
		w.k.panel(w.x, own.rows, own.l, 1, u, 1)
	}
}

// prune shortens what searches follow in blocks that reach column k and have its pivot's row: the column has their other
// rows without a place.
func (w *panelLU[T]) prune(k, c int) {
	at := w.inside[c].block
	for _, r := range w.own[c] {
		w.pruneBlock(r.block, at, k)
	}
	for j := range c {
		if from := &w.inside[j]; from.block != at && w.here[from.pivot] == int32(k)+1 {
			w.pruneBlock(from.block, at, k)
		}
	}
}

func (w *panelLU[T]) pruneBlock(b, at int32, k int) {
	m := &w.blocks[b]
	if b == at || len(m.search) != len(m.rows)-m.width || !slices.Contains(m.search, w.Rows[k]) {
		return
	}
	kept := []int32{}
	for _, r := range m.search {
		if w.place[r] >= 0 {
			kept = append(kept, r)
		}
	}
	m.search = kept
}

// close copies the open block into its own memory.
func (w *panelLU[T]) close() error {
	if !w.current.exists {
		return nil
	}
	cur, b := &w.current, &w.blocks[len(w.blocks)-1]
	cur.exists = false
	n := len(cur.rows) * b.width
	if n > len(w.arena) {
		want := max(n, min(1<<20, max(1<<12, len(w.u.x))))
		if err := mem.CheckHeap(want * int(unsafe.Sizeof(*new(T)))); err != nil {
			return err
		}
		w.arena = mem.MakeHuge[T](want)
	}
	b.x, w.arena = w.arena[:n:n], w.arena[n:]
	if len(cur.rows) > len(w.indices) {
		w.indices = make([]int32, max(len(cur.rows), 1<<12))
	}
	rows := w.indices[:len(cur.rows):len(cur.rows)]
	w.indices = w.indices[len(cur.rows):]
	copy(rows, cur.rows)
	b.rows, b.search = rows, rows[b.width:]
	for i := range rows {
		copy(b.x[i*b.width:(i+1)*b.width], cur.x[i*openStride:])
	}
	return nil
}

// clear clears the rows of the panel that its m columns reached.
func (w *panelLU[T]) clear(m int) {
	for _, b := range w.reached {
		d := &w.blocks[b]
		for q := int(w.lowest[b]); q < d.first+d.width; q++ {
			clear(w.x[int(w.Rows[q])*w.width:][:w.width])
		}
	}
	for c := range m {
		clear(w.x[int(w.inside[c].pivot)*w.width:][:w.width])
		for _, r := range w.inside[c].rows {
			clear(w.x[int(r)*w.width:][:w.width])
		}
	}
}

// Entries returns the number of entries of both factors, stored zeros among them, without the ones on the diagonal of L.
func (f *PanelLU[T]) Entries() int {
	n := len(f.u.idx)
	for i := range f.blocks {
		n += len(f.blocks[i].x)
	}
	return n
}

// Solve replaces width right sides b, rows of that many elements, by the solutions of a*x = b or of a^H*x = b.
func (f *PanelLU[T]) Solve(b []T, width int, adjoint bool) {
	if width == 0 {
		return
	}
	from, to := f.Rows, f.Cols
	if adjoint {
		from, to = to, from
	}
	y := gathered(b, from, width)
	if adjoint {
		f.solveAdjoint(y, width)
	} else {
		f.solve(y, width)
	}
	scattered(b, y, to, width)
}

func (f *PanelLU[T]) solve(y []T, width int) {
	by := f.k.byRows()
	for i := range f.blocks {
		m := &f.blocks[i]
		w := m.width
		own := y[m.first*width:][:w*width]
		if w == 1 && width == 1 {
			f.k.scatter(y, m.rows[1:], m.x[1:], own[0])
			continue
		}
		f.k.solveLower(own, m.x[:w*w], width)
		f.k.subtractRows(by, y, m.rows[w:], m.x[w*w:], own, width)
	}
	for i := len(f.blocks) - 1; i >= 0; i-- {
		m := &f.blocks[i]
		w := m.width
		f.k.solveUpper(y[m.first*width:][:w*width], m.x[:w*w], width)
		for j := range w {
			f.k.distribute(y, &f.u, m.first+j, width)
		}
	}
}

func (f *PanelLU[T]) solveAdjoint(y []T, width int) {
	by := f.k.byRows()
	for i := range f.blocks {
		m := &f.blocks[i]
		w := m.width
		own := y[m.first*width:][:w*width]
		for j := range w {
			f.k.collect(y, &f.u, m.first+j, width)
		}
		for j := range w {
			row := own[j*width : (j+1)*width]
			f.k.divideBy(row, f.k.conj(m.x[j*w+j]))
			f.k.spread(own[(j+1)*width:], m.x[j*w+j+1:(j+1)*w], row)
		}
	}
	for i := len(f.blocks) - 1; i >= 0; i-- {
		m := &f.blocks[i]
		w := m.width
		own := y[m.first*width:][:w*width]
		f.k.spreadRows(by, own, m.x[w*w:], m.rows[w:], y, width)
		for i := w - 1; i > 0; i-- {
			f.k.spread(own, m.x[i*w:i*w+i], own[i*width:][:width])
		}
	}
}

// Perm returns the row and the column of the matrix in each place of the factors.
func (f *PanelLU[T]) Perm() (rows, cols []int32) { return f.Rows, f.Cols }

// Lower returns L, with its ones, in compressed columns of ascending rows.
func (f *PanelLU[T]) Lower() Triangular[T] {
	l := columns[T]{off: make([]int64, 1, len(f.of)+1)}
	for b := range f.blocks {
		m := &f.blocks[b]
		for j := range m.width {
			for i := j + 1; i < len(m.rows); i++ {
				l.add(m.rows[i], m.x[i*m.width+j])
			}
			l.off = append(l.off, int64(len(l.idx)))
		}
	}
	one := f.k.fromReal(1)
	return sortedColumns(&l, len(f.of), func(int) T { return one }, true)
}

// Upper returns U in compressed columns of ascending rows.
func (f *PanelLU[T]) Upper() Triangular[T] {
	u := columns[T]{off: make([]int64, 1, len(f.of)+1)}
	for b := range f.blocks {
		m := &f.blocks[b]
		for j := range m.width {
			idx, x := f.u.column(m.first + j)
			u.idx, u.x = append(u.idx, idx...), append(u.x, x...)
			for i := range j {
				u.add(int32(m.first+i), m.x[i*m.width+j])
			}
			u.off = append(u.off, int64(len(u.idx)))
		}
	}
	return sortedColumns(&u, len(f.of), func(k int) T {
		m := &f.blocks[f.of[k]]
		j := k - m.first
		return m.x[j*m.width+j]
	}, false)
}
