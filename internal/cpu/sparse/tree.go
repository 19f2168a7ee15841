package sparse

import (
	"slices"

	"weft/internal/mem"
)

// A lower is the lower triangle of a symmetric matrix in another order, by rows and by columns. Its entries come from
// the entries of the matrix: from[k] is an entry's number, or its complement for one that was above the diagonal.
type lower struct {
	rows Pattern
	cols Pattern // indices are rows
	from []int64 // of the entries by columns
}

// permuted returns the lower triangle of a matrix, given by its lower triangle, with row and column order[k] in place k.
func permuted(p *Pattern, order []int32) *lower {
	n := p.rows()
	place := make([]int32, n)
	for k, i := range order {
		place[i] = int32(k)
	}
	rows, cols := make([]int64, n+1), make([]int64, n+1)
	each := func(f func(row, col int32, k int64)) {
		for i := range n {
			for k := p.Off[i]; k < p.Off[i+1]; k++ {
				a, b := place[i], place[p.Idx[k]]
				if a < b {
					f(b, a, ^k)
				} else {
					f(a, b, k)
				}
			}
		}
	}
	each(func(row, col int32, _ int64) {
		rows[row+1]++
		cols[col+1]++
	})
	for i := range n {
		rows[i+1] += rows[i]
		cols[i+1] += cols[i]
	}
	l := &lower{Pattern{rows, make([]int32, len(p.Idx)), n}, Pattern{cols, make([]int32, len(p.Idx)), n}, make([]int64, len(p.Idx))}
	atRow, atCol := slices.Clone(rows), slices.Clone(cols)
	each(func(row, col int32, k int64) {
		l.rows.Idx[atRow[row]] = col
		atRow[row]++
		l.cols.Idx[atCol[col]], l.from[atCol[col]] = row, k
		atCol[col]++
	})
	return l
}

// tree returns the elimination tree of a symmetric matrix from the rows of its lower triangle: the parent of each column,
// or -1. Source: Liu, "A compact row storage scheme for Cholesky factors using elimination trees", ACM TOMS 12, 1986.
func tree(p *Pattern) []int32 {
	parent, ancestor := make([]int32, p.rows()), make([]int32, p.rows())
	for k := range p.rows() {
		parent[k], ancestor[k] = -1, -1
		for _, j := range p.Idx[p.Off[k]:p.Off[k+1]] {
			for j >= 0 && int(j) < k {
				up := ancestor[j]
				ancestor[j] = int32(k)
				if up < 0 {
					parent[j] = int32(k)
				}
				j = up
			}
		}
	}
	return parent
}

// postorder returns the columns with children before parents, subtree by subtree.
func postorder(parent []int32) []int32 {
	n := len(parent)
	child, next := make([]int32, n), make([]int32, n)
	for i := range child {
		child[i] = -1
	}
	root := int32(-1)
	for i := n - 1; i >= 0; i-- {
		if p := parent[i]; p >= 0 {
			next[i], child[p] = child[p], int32(i)
		} else {
			next[i], root = root, int32(i)
		}
	}
	out := make([]int32, 0, n)
	var stack []int32
	for r := root; r >= 0; r = next[r] {
		for stack = append(stack, r); len(stack) > 0; {
			i := stack[len(stack)-1]
			if c := child[i]; c >= 0 {
				child[i] = next[c]
				stack = append(stack, c)
				continue
			}
			stack = stack[:len(stack)-1]
			out = append(out, i)
		}
	}
	return out
}

// counts returns the number of entries below the diagonal of each column of the factor, from the columns of the lower
// triangle and its elimination tree, which are in postorder. Column j is a leaf of the tree of row i where no column that
// i has seen is below j. Each leaf adds a path of columns to the row, which joins the previous leaf's path at an ancestor.
//
// Source: Gilbert, Ng, Peyton, "An efficient algorithm to compute row and column counts for sparse Cholesky
// factorization", SIAM J. Matrix Anal. Appl. 15, 1994.
func counts(cols *Pattern, parent []int32) []int32 {
	n := cols.rows()
	block := make([]int32, 5*n)
	take := func() []int32 {
		s := block[:n:n]
		block = block[n:]
		return s
	}
	out, first, most, last, ancestor := take(), take(), take(), take(), take() // most and last are of rows
	for j := range n {
		first[j], most[j], last[j], ancestor[j] = int32(j), -1, -1, int32(j)
	}
	for j, up := range parent {
		if first[j] == int32(j) {
			out[j] = 1 // a leaf of the elimination tree
		}
		if up >= 0 {
			first[up] = min(first[up], first[j])
		}
	}
	for j, up := range parent {
		if up >= 0 {
			out[up]-- // the diagonal of j is not in the column of its parent
		}
		for _, i := range cols.Idx[cols.Off[j]:cols.Off[j+1]] {
			if int(i) == j || first[j] <= most[i] {
				continue
			}
			out[j]++
			if p := last[i]; p >= 0 {
				q := p
				for q != ancestor[q] {
					q = ancestor[q]
				}
				for p != q {
					p, ancestor[p] = ancestor[p], q
				}
				out[q]--
			}
			most[i], last[i] = first[j], int32(j)
		}
		if up >= 0 {
			ancestor[j] = up
		}
	}
	for j, up := range parent {
		if up >= 0 {
			out[up] += out[j]
		}
	}
	for j := range out {
		out[j]-- // the diagonal
	}
	return out
}

// ColumnBound returns the entries of the triangular factor of a^T*a for a pattern of compressed columns in an order of the
// columns. It bounds U of each choice of pivots.
//
// Source: Gilbert, Li, Ng, Peyton, "Computing row and column counts for sparse QR and LU factorization", BIT 41, 2001.
func (p *Pattern) ColumnBound(order []int32) int {
	l := p.joined(order)
	ordered := permuted(l, postorder(tree(l)))
	entries := p.Cols
	for _, k := range counts(&ordered.cols, tree(&ordered.rows)) {
		entries += int(k)
	}
	return entries
}

// ColumnOrder returns an order of columns with the same bound on fill-in in which columns with similar rows are neighbours:
// a postorder of the elimination tree of a^T*a.
func (p *Pattern) ColumnOrder(order []int32) []int32 {
	out := postorder(tree(p.joined(order)))
	for k, i := range out {
		out[k] = order[i]
	}
	return out
}

// joined returns the lower triangle of a symmetric pattern whose triangular factor is that of a^T*a in an order of the
// columns. The columns that a row has are joined to the first of them alone: to eliminate that one joins them all.
func (p *Pattern) joined(order []int32) *Pattern {
	first := make([]int32, p.Cols)
	for i := range first {
		first[i] = -1
	}
	l := &Pattern{Off: make([]int64, 1, len(order)+1), Idx: make([]int32, 0, len(p.Idx)+len(order)), Cols: p.Cols}
	for k, col := range order {
		for _, i := range p.Idx[p.Off[col]:p.Off[col+1]] {
			if first[i] < 0 {
				first[i] = int32(k)
			} else {
				l.Idx = append(l.Idx, first[i])
			}
		}
		l.Idx = append(l.Idx, int32(k))
		l.Off = append(l.Off, int64(len(l.Idx)))
	}
	return l
}

// A node is consecutive columns of a factor that have the same rows below them, or nearly so: zeros are stored. Its
// elements are len(rows) rows of width, and the first width of them form a triangle.
type node struct {
	first, width int
	rows         []int32 // ascending, the node's columns first
	at           int     // of its elements in the factor
}

// maxWidth is the most columns of a node. Wider ones are cut, so that most work is products.
const maxWidth = 64

// A span is a node before its rows are known.
type span struct{ first, width, below, zeros int }

func (s span) size() int { return s.width*(s.width+1)/2 + s.width*s.below }

// spans returns the nodes of a factor. A node joins its parent where few zeros come of it.
// Source: Ashcraft, Grimes, "The influence of relaxed supernode partitions on the multifrontal method", ACM TOMS 15, 1989.
func spans(parent, below []int32) (out []span) {
	for j := range parent {
		if last := len(out) - 1; j > 0 && int(parent[j-1]) == j && below[j-1] == below[j]+1 && out[last].first+out[last].width == j {
			out[last].width++
			out[last].below--
			continue
		}
		out = append(out, span{first: j, width: 1, below: int(below[j])})
	}
	all := out
	out = nil
	for _, s := range all {
		for len(out) > 0 {
			t := out[len(out)-1]
			if up := int(parent[t.first+t.width-1]); up < s.first || up >= s.first+s.width {
				break
			}
			both := span{t.first, t.width + s.width, s.below, 0}
			both.zeros = both.size() - t.size() - s.size() + t.zeros + s.zeros
			share := float64(both.zeros) / float64(both.size())
			if !(both.width <= 4 || both.width <= 16 && share < 0.2 || both.width <= 48 && share < 0.1 || share < 0.05) {
				break
			}
			out, s = out[:len(out)-1], both
		}
		out = append(out, s)
	}
	return out
}

// nodes returns the nodes of a factor with their rows, and the node of each column. An error says that memory does not
// suffice for the factor's entries of size bytes or for the rows.
func nodes(l *lower, parent []int32, size int) (out []node, of []int32, err error) {
	n := len(parent)
	below := counts(&l.cols, parent)
	entries := n
	for _, k := range below {
		entries += int(k)
	}
	if err := mem.CheckHeap(entries * size); err != nil {
		return nil, nil, err
	}
	list, total := spans(parent, below), 0
	for _, x := range list {
		total += x.width + x.below
	}
	if err := mem.CheckHeap(4 * (total + 2*n)); err != nil {
		return nil, nil, err
	}
	of = make([]int32, n)
	for s, x := range list {
		for j := range x.width {
			of[x.first+j] = int32(s)
		}
	}
	rows := make([][]int32, len(list))
	child, next := make([]int32, len(list)), make([]int32, len(list))
	for i := range child {
		child[i] = -1
	}
	mark := make([]int32, n)
	for s, x := range list {
		end := int32(x.first + x.width)
		r := make([]int32, x.width, x.width+x.below)
		for j := range r {
			r[j] = int32(x.first + j)
		}
		add := func(idx []int32) {
			for _, i := range idx {
				if i >= end && mark[i] != int32(s)+1 {
					mark[i] = int32(s) + 1
					r = append(r, i)
				}
			}
		}
		add(l.cols.Idx[l.cols.Off[x.first]:l.cols.Off[end]])
		for c := child[s]; c >= 0; c = next[c] {
			add(rows[c])
		}
		slices.Sort(r[x.width:])
		if rows[s] = r; len(r) > x.width {
			up := of[r[x.width]]
			next[s], child[up] = child[up], int32(s)
		}
	}
	at := 0
	for s, x := range list {
		parts := (x.width + maxWidth - 1) / maxWidth
		for p := range parts {
			from, to := x.width*p/parts, x.width*(p+1)/parts
			m := node{x.first + from, to - from, rows[s][from:], at}
			at += len(m.rows) * m.width
			for j := range m.width {
				of[m.first+j] = int32(len(out))
			}
			out = append(out, m)
		}
	}
	return out, of, nil
}
