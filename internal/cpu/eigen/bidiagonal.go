package eigen

import "math"

// bidiagonalize reduces the rows x cols matrix a, rows >= cols, to a real upper bidiagonal one,
// Q^H*A*P, with the diagonal d and the elements e[:cols-1] right of it. It overwrites a. Panels of
// columns and rows are reduced together, as tridiagonalize does; the source is the same.
func bidiagonalize[T number](m *Machine, rows, cols int, a []T, d, e []float64) (q, p *reflections[T]) {
	b := &bidiagonalization[T]{m: m, rows: rows, cols: cols, a: a, d: d, e: e,
		q: newReflections[T](cols, rows, 0), p: newReflections[T](max(cols-1, 0), cols, 1)}
	nb := blockOf
	if cols < 2*smallest {
		nb = 4
	}
	b.x, b.y = make([]T, nb*rows), make([]T, nb*cols)
	for from := 0; from < cols; from += nb {
		end := min(from+nb, cols)
		for j := from; j < end; j++ {
			b.column(from, j)
			if j < cols-1 {
				b.row(from, j)
			}
		}
		b.trailing(from, end)
	}
	return b.q, b.p
}

// A bidiagonalization is a matrix during the reduction. In a panel the matrix stays as it was; what is
// read of it is corrected by u*y^H + x*w^H for each reflection u from the left and w from the right.
type bidiagonalization[T number] struct {
	m          *Machine
	rows, cols int
	a          []T
	d, e       []float64
	q, p       *reflections[T]
	x, y       []T // one a row, of the panel
}

// vectors returns u, y, x and w of column k in a panel that begins at from. w of the last column is nil.
func (b *bidiagonalization[T]) vectors(from, k int) (u, y, x, w []T) {
	u = b.q.v[k*b.rows : (k+1)*b.rows]
	y = b.y[(k-from)*b.cols : (k-from+1)*b.cols]
	x = b.x[(k-from)*b.rows : (k-from+1)*b.rows]
	if k < b.cols-1 {
		w = b.p.v[k*b.cols : (k+1)*b.cols]
	}
	return
}

// column reduces column j, and computes y.
func (b *bidiagonalization[T]) column(from, j int) {
	u, y, _, _ := b.vectors(from, j)
	c := u[j:]
	for i := range c {
		c[i] = b.a[(j+i)*b.cols+j]
	}
	for k := from; k < j; k++ {
		uk, yk, xk, wk := b.vectors(from, k)
		add(c, -conj(yk[j]), uk[j:])
		add(c, -conj(wk[j]), xk[j:])
	}
	b.d[j], b.q.tau[j] = reflector(c)
	clear(y[:j+1])
	y = y[j+1:]
	if len(y) == 0 {
		return
	}
	adjointTimes(b.m, y, b.a[j*b.cols+j+1:], b.cols, c)
	for k := from; k < j; k++ {
		uk, yk, xk, wk := b.vectors(from, k)
		add(y, -dot(uk[j:], c), yk[j+1:])
		add(y, -dot(xk[j:], c), wk[j+1:])
	}
	scale(y, b.q.tau[j])
}

// row reduces row j, and computes x.
func (b *bidiagonalization[T]) row(from, j int) {
	_, _, x, w := b.vectors(from, j)
	r := w[j+1:]
	copy(r, b.a[j*b.cols+j+1:(j+1)*b.cols])
	conjugate(r)
	for k := from; k <= j; k++ {
		uk, yk, xk, wk := b.vectors(from, k)
		add(r, -conj(uk[j]), yk[j+1:])
		if k < j {
			add(r, -conj(xk[j]), wk[j+1:])
		}
	}
	b.e[j], b.p.tau[j] = reflector(r)
	clear(x[:j+1])
	x = x[j+1:]
	if len(x) == 0 {
		return
	}
	gemv(b.m, x, b.a[(j+1)*b.cols+j+1:], b.cols, r)
	for k := from; k <= j; k++ {
		uk, yk, xk, wk := b.vectors(from, k)
		add(x, -dot(yk[j+1:], r), uk[j+1:])
		if k < j {
			add(x, -dot(wk[j+1:], r), xk[j+1:])
		}
	}
	scale(x, b.p.tau[j])
}

// trailing subtracts the corrections of a panel from the rows and columns from end on.
func (b *bidiagonalization[T]) trailing(from, end int) {
	k, r, c := end-from, b.rows-end, b.cols-end
	if c == 0 || r == 0 {
		return
	}
	buffer, free := scratch[T](2*k*(r+c) + r*c)
	defer free()
	left, right, out := buffer[:2*k*r], buffer[2*k*r:][:2*k*c], buffer[2*k*(r+c):]
	for i := range k {
		u, y, x, w := b.vectors(from, from+i)
		copy(left[i*r:(i+1)*r], u[end:])
		copy(left[(k+i)*r:(k+i+1)*r], x[end:])
		copy(right[i*c:(i+1)*c], y[end:])
		copy(right[(k+i)*c:(k+i+1)*c], w[end:]) // c is 0 where w is nil
	}
	conjugate(right)
	if c < smallest {
		for i := range r {
			row := b.a[(end+i)*b.cols+end : (end+i+1)*b.cols]
			for p := range 2 * k {
				add(row, -left[p*r+i], right[p*c:(p+1)*c])
			}
		}
		return
	}
	gemm(b.m, r, c, 2*k, mat[T]{left, 1, r}, mat[T]{right, c, 1}, out)
	one := []T{of[T](1)}
	for i := range r {
		subtractRows(b.m, b.a[(end+i)*b.cols+end:(end+i+1)*b.cols], one, out[i*c:(i+1)*c], c)
	}
}

// adjointTimes computes y = a^H*x for a row-major matrix of len(x) rows.
func adjointTimes[T number](m *Machine, y, a []T, ld int, x []T) {
	if _, ok := any(x).([]float64); ok && len(y) >= smallest {
		gemm(m, 1, len(y), len(x), mat[T]{x, 1, 1}, mat[T]{a, ld, 1}, y)
		return
	}
	clear(y)
	for i, s := range x {
		add(y, conj(s), a[i*ld:i*ld+len(y)])
	}
	conjugate(y)
}

// bidiagonalLeaf is the size up to which plane rotations solve a bidiagonal problem.
const bidiagonalLeaf = 16

// bidiagonalVectors decomposes the upper bidiagonal matrix of n rows and n+extra columns, extra being 0
// or 1, with the diagonal d and the elements e right of it. It stores the singular values, descending,
// into d, the left vectors into the rows of u, and the right ones, with the one that belongs to no
// value, into the rows of v; both are 0 before. The matrix is cut at its middle row: both parts
// are solved, and joined by a secular equation. Source: Gu and Eisenstat, "A divide-and-conquer
// algorithm for the bidiagonal SVD", SIAM J. Matrix Anal. 16, 1995.
func bidiagonalVectors(m *Machine, n, extra int, d, e, u, v []float64) bool {
	w := n + extra
	if n <= bidiagonalLeaf {
		g := make([]float64, n*w)
		for i := range n {
			g[i*w+i] = d[i]
			if i+1 < w {
				g[i*w+i+1] = e[i]
			}
		}
		right, left, ok := singularRows(g, n, w, d, true)
		if !ok {
			return false
		}
		copy(u, left)
		copy(v, completeBasis(right, n, w, w))
		return true
	}
	h := n / 2
	rest := n - h - 1
	alpha, beta := d[h], e[h]
	w1, w2 := h+1, rest+extra
	buffer, free := scratch[float64](h*h + w1*w1 + rest*rest + w2*w2)
	defer free()
	clear(buffer)
	u1, v1 := buffer[:h*h], buffer[h*h:][:w1*w1]
	buffer = buffer[h*h+w1*w1:]
	u2, v2 := buffer[:rest*rest], buffer[rest*rest:]
	if !bidiagonalVectors(m, h, 1, d[:h], e[:h], u1, v1) || !bidiagonalVectors(m, rest, extra, d[h+1:], e[h+1:], u2, v2) {
		return false
	}
	// The middle row in the basis of the right vectors: z, with that of the null vectors first.
	z, values := make([]float64, n), make([]float64, n)
	null := make([]float64, w)
	var other []float64
	last := alpha * v1[h*w1+h]
	copy(null, v1[h*w1:])
	if extra == 1 {
		last2 := beta * v2[rest*w2]
		other = make([]float64, w)
		copy(other[w1:], v2[rest*w2:])
		if r := length(last, last2); r > 0 {
			rotate(null, other, last/r, last2/r)
			last = r
		}
	}
	z[0] = last
	for i := range h {
		z[1+i], values[1+i] = alpha*v1[i*w1+h], d[i]
	}
	for i := range rest {
		z[1+h+i], values[1+h+i] = beta*v2[i*w2], d[h+1+i]
	}
	middle := make([]float64, n)
	middle[h] = 1
	// Vector 0 of both bases stands alone: the null vector, and the middle row's unit vector.
	left := &join{n: n, lead: middle, supports: [2]support{{u1, h, 0, h}, {u2, rest, h + 1, rest}}}
	right := &join{n: w, lead: null, supports: [2]support{{v1, h, 0, w1}, {v2, rest, w1, w2}}}
	joinBidiagonal(m, left, right, values, z, u, v)
	copy(d, values)
	if extra == 1 {
		copy(v[n*w:], other)
	}
	return true
}

// joinBidiagonal decomposes the matrix with first row z and diagonal d, whose first element is 0, between the
// bases left and right: it stores singular values, descending, into d and vectors into the rows of u and v.
func joinBidiagonal(m *Machine, left, right *join, d, z, u, v []float64) {
	n := len(d)
	left.mixed, right.mixed = map[int][]float64{}, map[int][]float64{}
	norm := max(largest(d), largest(z))
	tolerance := 8 * epsilon * norm
	var keep, drop []int
	if norm < negligible/epsilon { // squares would underflow
		clear(z)
		drop = append(drop, 0)
	} else {
		if math.Abs(z[0]) <= tolerance {
			z[0] = math.Copysign(tolerance, z[0])
		}
		keep = append(keep, 0)
	}
	for _, i := range ascending(d[1:]) {
		i++
		if math.Abs(z[i]) <= tolerance {
			drop = append(drop, i)
			continue
		}
		// The value 0 of the first column stays the least pole.
		d[i] = max(d[i], tolerance)
		if p := keep[len(keep)-1]; p != 0 && d[i]-d[p] <= tolerance {
			r := length(z[i], z[p])
			c, s := z[i]/r, -z[p]/r
			z[i], z[p] = r, 0
			left.rotate(p, i, c, s)
			right.rotate(p, i, c, s)
			keep[len(keep)-1] = i
			drop = append(drop, p)
			continue
		}
		keep = append(keep, i)
	}
	k := len(keep)
	var values, us, vs []float64
	if k > 0 {
		s := secular{d: make([]float64, k), weights: make([]float64, k), squared: true}
		w := make([]float64, k)
		for at, i := range keep {
			s.d[at], w[at] = d[i], z[i]
			s.weights[at] = z[i] * z[i]
		}
		r := s.solveAll(m, w)
		defer r.free()
		values, vs = r.roots, r.delta
		var free func()
		us, free = scratch[float64](k * k)
		defer free()
		for j := range k {
			row, left := vs[j*k:(j+1)*k], us[j*k:(j+1)*k]
			for i, z := range r.z {
				row[i] = z / row[i]
				left[i] = s.d[i] * row[i]
			}
			left[0] = -1
			scale(row, 1/math.Sqrt(square(row)))
			scale(left, 1/math.Sqrt(square(left)))
		}
	}
	for _, i := range drop {
		values = append(values, d[i])
	}
	place := make([]int, n)
	for at, from := range ascending(values) {
		d[n-1-at], place[from] = values[from], n-1-at
	}
	left.combine(m, keep, us, func(j int) []float64 { return u[place[j]*left.n : (place[j]+1)*left.n] })
	right.combine(m, keep, vs, func(j int) []float64 { return v[place[j]*right.n : (place[j]+1)*right.n] })
	for at, i := range drop {
		left.row(i, u[place[k+at]*left.n:(place[k+at]+1)*left.n])
		right.row(i, v[place[k+at]*right.n:(place[k+at]+1)*right.n])
	}
}
