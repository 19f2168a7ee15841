package sparse

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/product"
	"weft/internal/cpu/tile"
	"weft/internal/fma"
	"weft/internal/jit"
	"weft/internal/mem"
)

// An Element is a type that factorizations compute with.
type Element interface {
	float32 | float64 | complex128
}

// A Stop returns an error where a computation is to end early, which then returns that error.
type Stop func() error

// A CholeskyPlan is what a factorization L*L^H of a Hermitian matrix takes from its sparsity pattern alone.
type CholeskyPlan struct {
	Order []int32 // the row and column in each place of the factored matrix
	lower *lower
	nodes []node
	of    []int32 // the node of a column
	size  int     // elements of the factor
	most  int     // elements of the largest update of a node by another
}

// PlanCholesky plans the factorization of a matrix whose lower triangle has a pattern. It is in the order given, up to an
// order that changes no fill-in. An error says that memory does not suffice for entries of size bytes, which are counted
// before rows of the factor are made.
func PlanCholesky(p *Pattern, order []int32, size int) (*CholeskyPlan, error) {
	c := &CholeskyPlan{Order: make([]int32, len(order))}
	for k, i := range postorder(tree(&permuted(p, order).rows)) {
		c.Order[k] = order[i]
	}
	c.lower = permuted(p, c.Order)
	var err error
	if c.nodes, c.of, err = nodes(c.lower, tree(&c.lower.rows), size); err != nil {
		return nil, err
	}
	for _, d := range c.nodes {
		c.size += len(d.rows) * d.width
		for i, r := range d.rows[d.width:] { // the rows of a node that one update reaches
			if i == 0 || c.of[r] != c.of[d.rows[d.width+i-1]] {
				n := 1
				for d.width+i+n < len(d.rows) && c.of[d.rows[d.width+i+n]] == c.of[r] {
					n++
				}
				c.most = max(c.most, (len(d.rows)-d.width-i)*n)
			}
		}
	}
	return c, nil
}

// Entries returns the number of entries of the factor, stored zeros among them.
func (c *CholeskyPlan) Entries() int {
	n := 0
	for _, d := range c.nodes {
		n += len(d.rows)*d.width - d.width*(d.width-1)/2
	}
	return n
}

// A Cholesky is a factor.
type Cholesky[T Element] struct {
	*CholeskyPlan
	x []T // elements of nodes
	k *kernels[T]
}

// Factor computes the factor of a matrix whose lower triangle has these values. bad is the row of the matrix with a pivot
// that is not positive, or -1. An error says that memory does not suffice, or is of stop.
//
// Nodes are computed one after the other from all before them. Source: Ng, Peyton, "Block sparse Cholesky algorithms on
// advanced uniprocessor computers", SIAM J. Sci. Comput. 14, 1993.
func Factor[T Element](c *CholeskyPlan, values []T, stop Stop) (f *Cholesky[T], bad int, err error) {
	var zero T
	if err := mem.CheckHeap((c.size + c.most) * int(unsafe.Sizeof(zero))); err != nil {
		return nil, -1, err
	}
	f = &Cholesky[T]{c, mem.MakeHuge[T](c.size), kernelsOf[T]()}
	update, where := make([]T, c.most), make([]int32, len(c.of))
	bad = -1
	_, err = c.sweep(stop, func(s int) { f.load(&c.nodes[s], where, values) }, func(s, from, lo, hi int) {
		f.update(&c.nodes[s], &c.nodes[from], lo, hi, where, update)
	}, func(s int) bool {
		if j := f.eliminate(&c.nodes[s]); j >= 0 {
			bad = int(c.Order[c.nodes[s].first+j])
		}
		return bad < 0
	})
	if bad >= 0 || err != nil {
		return nil, bad, err
	}
	return f, -1, nil
}

// sweep begins each node s, updates it by rows lo to hi-1 of each earlier node that has rows there, which are columns of s,
// and eliminates it. It returns false where eliminate does, or with the error of stop, which it calls before each node.
func (c *CholeskyPlan) sweep(stop Stop, begin func(s int), update func(s, from, lo, hi int), eliminate func(s int) bool) (bool, error) {
	first, next, done := make([]int32, len(c.nodes)), make([]int32, len(c.nodes)), make([]int, len(c.nodes))
	for s := range first {
		first[s] = -1
	}
	wait := func(d int32) { // puts a node into the list of the next one that it updates
		if rest := c.nodes[d].rows[done[d]:]; len(rest) > 0 {
			s := c.of[rest[0]]
			next[d], first[s] = first[s], d
		}
	}
	for s := range c.nodes {
		if err := stop(); err != nil {
			return false, err
		}
		m := &c.nodes[s]
		begin(s)
		for d := first[s]; d >= 0; {
			after := next[d]
			rows, lo := c.nodes[d].rows, done[d]
			hi := lo
			for hi < len(rows) && int(rows[hi]) < m.first+m.width {
				hi++
			}
			update(s, int(d), lo, hi)
			done[d] = hi
			wait(d)
			d = after
		}
		if !eliminate(s) {
			return false, nil
		}
		done[s] = m.width
		wait(int32(s))
	}
	return true, nil
}

// load puts the matrix's elements into a node, and sets where its rows are.
func (f *Cholesky[T]) load(m *node, where []int32, values []T) {
	for k, i := range m.rows {
		where[i] = int32(k)
	}
	x := f.elements(m)
	for j := range m.width {
		cols := &f.lower.cols
		for k := cols.Off[m.first+j]; k < cols.Off[m.first+j+1]; k++ {
			v := f.lower.from[k]
			at := int(where[cols.Idx[k]])*m.width + j
			if v < 0 {
				x[at] = f.k.conj(values[^v])
			} else {
				x[at] = values[v]
			}
		}
	}
}

func (f *Cholesky[T]) elements(m *node) []T { return f.x[m.at : m.at+len(m.rows)*m.width] }

// update subtracts from a node what rows lo to hi-1 of an earlier one, which are columns of the node, make of its rows.
func (f *Cholesky[T]) update(m, from *node, lo, hi int, where []int32, s []T) {
	n, x := hi-lo, f.elements(m)
	rows := from.rows[lo:]
	s = s[:len(rows)*n]
	own := f.elements(from)[lo*from.width:]
	f.k.gram(s, own, own, len(rows), n, from.width)
	for i, r := range rows {
		row := x[int(where[r])*m.width:][:m.width]
		for j, c := range rows[:n] {
			row[int(c)-m.first] -= s[i*n+j]
		}
	}
}

// eliminate factors the triangle of a node and divides the rows below it. It returns the first column whose pivot is not
// positive, or -1.
func (f *Cholesky[T]) eliminate(m *node) int {
	x, w := f.elements(m), m.width
	for i := range m.rows {
		row := x[i*w : (i+1)*w]
		for j := range min(i, w) {
			row[j] = f.k.divide(row[j]-f.k.dot(row[:j], x[j*w:], true), x[j*w+j])
		}
		if i < w {
			d := f.k.real(row[i] - f.k.dot(row[:i], row, true))
			if !(d > 0) || math.IsInf(d, 1) {
				return i
			}
			row[i] = f.k.fromReal(math.Sqrt(d))
			clear(row[i+1:])
		}
	}
	return -1
}

// Solve replaces width right sides b, rows of that many elements, by the solutions x of a*x = b.
func (f *Cholesky[T]) Solve(b []T, width int) {
	if width == 0 {
		return
	}
	y, by := gathered(b, f.Order, width), f.k.byRows()
	for s := range f.nodes {
		m := &f.nodes[s]
		x, w := f.elements(m), m.width
		own := y[m.first*width:][:w*width]
		for i := range w {
			row := own[i*width:][:width]
			f.k.subtract(row, x[i*w:i*w+i], own)
			f.k.divideBy(row, x[i*w+i])
		}
		f.k.subtractRows(by, y, m.rows[w:], x[w*w:], own, width)
	}
	for s := len(f.nodes) - 1; s >= 0; s-- {
		m := &f.nodes[s]
		x, w := f.elements(m), m.width
		own := y[m.first*width:][:w*width]
		f.k.spreadRows(by, own, x[w*w:], m.rows[w:], y, width)
		for i := w - 1; i >= 0; i-- {
			row := own[i*width:][:width]
			f.k.divideBy(row, x[i*w+i])
			f.k.spread(own, x[i*w:i*w+i], row)
		}
	}
	scattered(b, y, f.Order, width)
}

// gathered returns rows of a matrix in an order.
func gathered[T Element](b []T, order []int32, width int) []T {
	y := make([]T, len(b))
	if width == 1 {
		for k, i := range order {
			y[k] = b[i]
		}
		return y
	}
	for k, i := range order {
		copy(y[k*width:][:width], b[int(i)*width:])
	}
	return y
}

// scattered is the inverse of gathered: it writes rows of y to b.
func scattered[T Element](b, y []T, order []int32, width int) {
	if width == 1 {
		for k, i := range order {
			b[i] = y[k]
		}
		return
	}
	for k, i := range order {
		copy(b[int(i)*width:][:width], y[k*width:])
	}
}

// Lower returns the factor in compressed columns: rows, offsets, values.
func (f *Cholesky[T]) Lower() (idx []int32, off []int64, values []T) {
	off = make([]int64, 1, len(f.of)+1)
	n := f.Entries()
	idx, values = make([]int32, 0, n), make([]T, 0, n)
	for s := range f.nodes {
		m := &f.nodes[s]
		x := f.elements(m)
		for j := range m.width {
			for i := j; i < len(m.rows); i++ {
				idx, values = append(idx, m.rows[i]), append(values, x[i*m.width+j])
			}
			off = append(off, int64(len(idx)))
		}
	}
	return idx, off, values
}

// kernels are the inner loops of factorizations for one type of elements. They round products before they add them.
type kernels[T Element] struct {
	conj     func(x T) T
	real     func(x T) float64
	fromReal func(x float64) T
	divide   func(x, y T) T
	// dot is the sum of x[i]*y[i], of the conjugate of y[i] if asked for.
	dot func(x, y []T, conjugate bool) T
	// gram sets s, [m n], to the products of the rows of x, [m k], with the conjugates of the rows of y, [n k].
	gram func(s, x, y []T, m, n, k int)
	// subtract takes l*x from y, for rows of x.
	subtract func(y, l, x []T)
	// spread takes the conjugate of l times y from the rows of x.
	spread   func(x, l, y []T)
	divideBy func(y []T, d T)
	// scatter takes a*l from the elements of x at indices.
	scatter func(x []T, idx []int32, l []T, a T)
	// panel takes the products of rows of l, k elements each that lie stride elements apart, with k rows of u from the rows of
	// x that rows names. Rows of u and x have 64 bytes.
	panel func(x []T, rows []int32, l []T, stride int, u []T, k int)
	// byRows returns functions for one solution.
	byRows func() rowFuncs[T]
	// lower solves L*x = y in place for the triangle L below the diagonal of the square l, with ones on it. nil: row by row.
	lower func(y, l []T)
	// upper solves U*x = y in place for the packed triangle u. nil: row by row of the square.
	upper func(y, u []T)
	// reduce takes the products of elements from lo on of the rows of x, of w elements, with the conjugates of above from the
	// element behind them.
	reduce func(x []T, w, lo int, above []T)
	// size orders numbers by absolute value, complex ones by the sum of the absolute values of their parts, as LAPACK chooses pivots.
	size func(x T) float64
}

// rowFuncs are products of rows with one vector.
type rowFuncs[T Element] struct {
	// dot takes the products of rows l with x from elements of y, whose numbers are rows.
	dot func(y []T, rows []int32, l, x []T)
	// spread takes the conjugates of rows l, times elements of y, whose numbers are rows, from x.
	spread func(x, l []T, rows []int32, y []T)
}

func kernelsOf[T Element]() *kernels[T] {
	switch any(*new(T)).(type) {
	case float32:
		return any(realKernels[float32](array.Float32)).(*kernels[T])
	case float64:
		return any(realKernels[float64](array.Float64)).(*kernels[T])
	}
	return any(complexKernels()).(*kernels[T])
}

// productFrom is the number of multiply-adds from which a product goes through package product.
const productFrom = 4096

func realKernels[T float32 | float64](d array.DType) *kernels[T] {
	return &kernels[T]{
		conj: func(x T) T { return x }, real: func(x T) float64 { return float64(x) }, fromReal: func(x float64) T { return T(x) },
		divide: func(x, y T) T { return x / y },
		dot:    func(x, y []T, _ bool) T { return dotReal(x, y) },
		gram: func(s, x, y []T, m, n, k int) {
			if m*n*k >= productFrom {
				a, b := tile.Mat{Ptr: unsafe.Pointer(&x[0]), Row: k, Col: 1}, tile.Mat{Ptr: unsafe.Pointer(&y[0]), Row: 1, Col: k}
				product.Product{ISA: jit.Chosen().ISA, DType: d, M: m, N: n, K: k, A: a, B: b, C: tile.Mat{Ptr: unsafe.Pointer(&s[0]), Row: n, Col: 1}}.Run()
				return
			}
			gramReal(s, x, y, m, n, k)
		},
		subtract: func(y, l, x []T) {
			if len(y) == 1 {
				y[0] -= dotReal(l, x)
				return
			}
			for j, a := range l {
				axpyReal(y, -a, x[j*len(y):])
			}
		},
		spread: func(x, l, y []T) {
			if len(y) == 1 {
				axpyReal(x[:len(l)], -y[0], l)
				return
			}
			for j, a := range l {
				axpyReal(x[j*len(y):][:len(y)], -a, y)
			}
		},
		divideBy: func(y []T, d T) {
			for j := range y {
				y[j] /= d
			}
		},
		scatter: func(x []T, idx []int32, l []T, a T) {
			l = l[:len(idx)]
			for e, i := range idx {
				x[i] -= T(l[e] * a)
			}
		},
		size: func(x T) float64 { return math.Abs(float64(x)) },
		byRows: func() rowFuncs[T] {
			p := newRowProducts[T](d)
			return rowFuncs[T]{p.dot, p.spread}
		},
		panel: func(x []T, rows []int32, l []T, stride int, u []T, k int) {
			panelRows(jit.Chosen().ISA, d, x, rows, l, stride, u, k)
		},
		lower:  lowerReal[T],
		upper:  upperReal[T],
		reduce: reduceReal[T],
	}
}

// gramReal computes a small product. Four elements of a row are four chains of sums.
func gramReal[T float32 | float64](s, x, y []T, m, n, k int) {
	for i := range m {
		a, to := x[i*k:i*k+k], s[i*n:i*n+n]
		j := 0
		for ; j+4 <= n; j += 4 {
			b := y[j*k : (j+4)*k]
			b0, b1, b2, b3 := b[:k], b[k:2*k], b[2*k:3*k], b[3*k:]
			b0, b1, b2, b3 = b0[:len(a)], b1[:len(a)], b2[:len(a)], b3[:len(a)]
			var s0, s1, s2, s3 T
			for p, v := range a {
				s0 += T(v * b0[p])
				s1 += T(v * b1[p])
				s2 += T(v * b2[p])
				s3 += T(v * b3[p])
			}
			to[j], to[j+1], to[j+2], to[j+3] = s0, s1, s2, s3
		}
		for ; j < n; j++ {
			to[j] = dotReal(a, y[j*k:])
		}
	}
}

// lowerReal takes two rows at once, after the first: four chains of sums.
func lowerReal[T float32 | float64](y, l []T) {
	w, i := len(y), 1
	for ; i+1 < w; i += 2 {
		x, a, b := y[:i], l[i*w:][:i], l[(i+1)*w:][:i]
		a, b = a[:len(x)], b[:len(x)]
		s0, t0 := T(a[0]*x[0]), T(b[0]*x[0])
		var s1, t1 T
		for j := 1; j+1 < len(x); j += 2 {
			s0 += T(a[j] * x[j])
			t0 += T(b[j] * x[j])
			s1 += T(a[j+1] * x[j+1])
			t1 += T(b[j+1] * x[j+1])
		}
		y[i] -= s0 + s1
		y[i+1] -= (t0 + t1) + T(l[(i+1)*w+i]*y[i])
	}
	if i < w {
		y[i] -= dotReal(l[i*w:][:i], y)
	}
}

// upperReal takes two columns at once.
func upperReal[T float32 | float64](y, u []T) {
	j := len(y) - 1
	for ; j > 0; j -= 2 {
		a, b := u[:j+1], u[j+1:2*j+1]
		u = u[2*j+1:]
		p := y[j] / a[j]
		y[j] = p
		q := (y[j-1] - T(a[j-1]*p)) / b[j-1]
		y[j-1] = q
		x := y[:j-1]
		a, b = a[:len(x)], b[:len(x)]
		for i := range x {
			x[i] -= T(a[i]*p) + T(b[i]*q)
		}
	}
	if j == 0 {
		y[0] /= u[0]
	}
}

func reduceReal[T float32 | float64](x []T, w, lo int, above []T) {
	n := len(above)
	for at := lo; at+n < len(x); at += w {
		row := x[at : at+n+1]
		s := row[n]
		for p, v := range above {
			s -= T(row[p] * v)
		}
		row[n] = s
	}
}

func dotReal[T float32 | float64](x, y []T) T {
	y = y[:len(x)]
	var s0, s1, s2, s3 T
	i := 0
	for ; i+4 <= len(x); i += 4 {
		x, y := x[i:i+4:i+4], y[i:i+4:i+4]
		s0 += T(x[0] * y[0])
		s1 += T(x[1] * y[1])
		s2 += T(x[2] * y[2])
		s3 += T(x[3] * y[3])
	}
	for ; i < len(x); i++ {
		s0 += T(x[i] * y[i])
	}
	return (s0 + s1) + (s2 + s3)
}

func axpyReal[T float32 | float64](y []T, a T, x []T) {
	x = x[:len(y)]
	for j := range y {
		y[j] += T(a * x[j])
	}
}

func complexKernels() *kernels[complex128] {
	type z = complex128
	return &kernels[z]{
		conj: conj, real: func(x z) float64 { return real(x) }, fromReal: func(x float64) z { return complex(x, 0) },
		divide: fma.Quotient,
		dot: func(x, y []z, conjugate bool) (s z) {
			for i, x := range x {
				b := y[i]
				if conjugate {
					b = conj(b)
				}
				s = MultiplyAdd(x, b, s)
			}
			return s
		},
		gram: gramComplex,
		subtract: func(y, l, x []z) {
			for j, a := range l {
				axpy(y, -a, x[j*len(y):])
			}
		},
		spread: func(x, l, y []z) {
			for j, a := range l {
				axpy(x[j*len(y):][:len(y)], -conj(a), y)
			}
		},
		divideBy: func(y []z, d z) {
			for j := range y {
				y[j] = fma.Quotient(y[j], d)
			}
		},
		scatter: func(x []z, idx []int32, l []z, a z) {
			for e, i := range idx {
				x[i] = MultiplyAdd(-l[e], a, x[i])
			}
		},
		size:   func(x z) float64 { return math.Abs(real(x)) + math.Abs(imag(x)) },
		panel:  panelComplex,
		byRows: func() rowFuncs[z] { return rowFuncs[z]{complexDot, complexSpread} },
		reduce: func(x []z, w, lo int, above []z) {
			n := len(above)
			for at := lo; at+n < len(x); at += w {
				for p, v := range above {
					x[at+n] = MultiplyAdd(-x[at+p], conj(v), x[at+n])
				}
			}
		},
	}
}

func complexDot(y []complex128, rows []int32, l, x []complex128) {
	for i, r := range rows {
		for j, a := range l[i*len(x) : (i+1)*len(x)] {
			y[r] = MultiplyAdd(-a, x[j], y[r])
		}
	}
}

func complexSpread(x, l []complex128, rows []int32, y []complex128) {
	for i, r := range rows {
		for j, a := range l[i*len(x) : (i+1)*len(x)] {
			x[j] = MultiplyAdd(-conj(a), y[r], x[j])
		}
	}
}

// panelComplex multiplies by parts where that is worth it.
func panelComplex(x []complex128, rows []int32, l []complex128, stride int, u []complex128, k int) {
	const w = panelBytes / 16
	if len(rows)*k*w < productFrom/4 {
		for i, r := range rows {
			row := x[int(r)*w:][:w]
			for p, a := range l[i*stride:][:k] {
				axpy(row, -a, u[p*w:])
			}
		}
		return
	}
	left, right, s := make([]complex128, len(rows)*k), make([]complex128, w*k), make([]complex128, len(rows)*w)
	for i := range rows {
		copy(left[i*k:(i+1)*k], l[i*stride:])
	}
	for p := range k {
		for c := range w {
			right[c*k+p] = conj(u[p*w+c])
		}
	}
	gramComplex(s, left, right, len(rows), w, k)
	for i, r := range rows {
		row := x[int(r)*w:][:w]
		for c := range row {
			row[c] -= s[i*w+c]
		}
	}
}

func conj(x complex128) complex128 { return complex(real(x), -imag(x)) }

// gramComplex computes a product of complex numbers by real products of their parts: of [re im] with themselves, and with
// [im -re].
func gramComplex(s, x, y []complex128, m, n, k int) {
	if m*n*k < productFrom/4 {
		for i := range m {
			for j := range n {
				var sum complex128
				for p := range k {
					sum = MultiplyAdd(x[i*k+p], conj(y[j*k+p]), sum)
				}
				s[i*n+j] = sum
			}
		}
		return
	}
	turned := make([]complex128, n*k)
	for i, v := range y[:n*k] {
		turned[i] = complex(-imag(v), real(v))
	}
	a := tile.Mat{Ptr: unsafe.Pointer(&x[0]), Row: 2 * k, Col: 1}
	for part, b := range [2][]complex128{y, turned} {
		to := tile.Mat{Ptr: unsafe.Add(unsafe.Pointer(&s[0]), 8*part), Row: 2 * n, Col: 2}
		product.Product{ISA: jit.Chosen().ISA, DType: array.Float64, M: m, N: n, K: 2 * k, A: a,
			B: tile.Mat{Ptr: unsafe.Pointer(&b[0]), Row: 1, Col: 2 * k}, C: to}.Run()
	}
}
