package eigen

import "math"

// Singular computes the singular values of the rows x cols matrix a, descending, into s. Unless u and vh are
// nil it computes the left vectors into the uCols columns of u and the right ones,
// conjugated, into the vRows rows of vh: the first min(rows, cols) belong to values, the others
// complete the bases. It overwrites a, whose elements are finite, and reports convergence.
//
// The first of the largest elements of each left vector is real and positive.
func Singular[T number](m *Machine, rows, cols int, a []T, s []float64, u []T, uCols int, vh []T, vRows int) bool {
	k := min(rows, cols)
	vectors := u != nil || vh != nil // one of them is nil where it has 0 elements
	exponent := scaleOf(largest(a))
	ldexp(a, exponent)
	// Vectors in rows: left of length rows, right of length cols, not conjugated.
	var left, right []T
	ok := true
	switch {
	case rows < cols: // that of a^H, whose left and right vectors are swapped
		t := make([]T, len(a))
		for i := range rows {
			for j := range cols {
				t[j*rows+i] = conj(a[i*cols+j])
			}
		}
		right, left, ok = singularTall(m, cols, rows, t, s, vectors)
	default:
		left, right, ok = singularTall(m, rows, cols, a, s, vectors)
	}
	ldexp(s[:k], -exponent)
	if !ok || !vectors {
		return ok
	}
	for i := range k {
		p := fixPhase(left[i*rows : (i+1)*rows])
		if p != of[T](1) {
			scale(right[i*cols:(i+1)*cols], p)
		}
	}
	left = completeBasis(left, k, uCols, rows)
	right = completeBasis(right, k, vRows, cols)
	for j := range uCols {
		for i := range rows {
			u[i*uCols+j] = left[j*rows+i]
		}
	}
	copy(vh, right)
	conjugate(vh[:vRows*cols])
	return true
}

// FixPhases makes the first of the largest elements of each of the k columns of u, rows x k, real and positive, and turns
// the rows of vh, k x cols, so that the product of both stays.
func FixPhases[T number](rows, k, cols int, u, vh []T) {
	column := make([]T, rows)
	for j := range k {
		for i := range rows {
			column[i] = u[i*k+j]
		}
		p := fixPhase(column)
		if p == of[T](1) {
			continue
		}
		for i, x := range column {
			u[i*k+j] = x
		}
		scale(vh[j*cols:(j+1)*cols], conj(p))
	}
}

// singularTall decomposes a matrix with rows >= cols, which it overwrites. It returns the left vectors
// in rows of length rows and the right ones in rows of length cols.
func singularTall[T number](m *Machine, rows, cols int, a []T, s []float64, vectors bool) (left, right []T, ok bool) {
	if cols <= bidiagonalLeaf {
		g := make([]T, cols*rows) // columns of a
		for i := range rows {
			for j := range cols {
				g[j*rows+i] = a[i*cols+j]
			}
		}
		return singularRows(g, cols, rows, s, vectors)
	}
	e := make([]float64, cols)
	q, p := bidiagonalize(m, rows, cols, a, s, e)
	defer q.free()
	defer p.free()
	buffer, free := scratch[float64](2 * cols * cols)
	defer free()
	clear(buffer)
	u, v := buffer[:cols*cols], buffer[cols*cols:]
	if !bidiagonalVectors(m, cols, 0, s, e, u, v) {
		return nil, nil, false
	}
	if !vectors {
		return nil, nil, true
	}
	left, right = make([]T, cols*rows), make([]T, cols*cols)
	for i := range cols {
		for j := range cols {
			left[i*rows+j] = of[T](u[i*cols+j])
			right[i*cols+j] = of[T](v[i*cols+j])
		}
	}
	q.apply(m, left, cols)
	p.apply(m, right, cols)
	return left, right, true
}

// singularRows computes the decomposition of the matrix whose n columns, of length dim >= n, are
// the rows of g, which it overwrites. It returns the left vectors in rows of length dim and the right
// ones in rows of length n.
func singularRows[T number](g []T, n, dim int, s []float64, vectors bool) (left, right []T, ok bool) {
	var v []T
	if vectors {
		v = make([]T, n*n)
		for i := range n {
			v[i*n+i] = of[T](1)
		}
	}
	if !jacobi(g, n, dim, v) {
		return nil, nil, false
	}
	order, norms := make([]int, n), make([]float64, n)
	for i := range n {
		order[i], norms[i] = i, math.Sqrt(square(g[i*dim:(i+1)*dim]))
	}
	insertionByNorm(order, norms)
	for i, from := range order {
		s[i] = norms[from]
	}
	if !vectors {
		return nil, nil, true
	}
	left, right = make([]T, n*dim), make([]T, n*n)
	rank := 0
	for i, from := range order {
		copy(right[i*n:(i+1)*n], v[from*n:(from+1)*n])
		// A vector far below what rounding leaves has no direction.
		if s[i] > negligible {
			copy(left[i*dim:(i+1)*dim], g[from*dim:(from+1)*dim])
			scale(left[i*dim:(i+1)*dim], of[T](1/s[i]))
			rank = i + 1
		}
	}
	return completeBasis(left[:rank*dim], rank, n, dim), right, true
}

// insertionByNorm sorts order by descending norms; equal ones stay.
func insertionByNorm(order []int, norms []float64) {
	for i := 1; i < len(order); i++ {
		for j := i; j > 0 && norms[order[j]] > norms[order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
}

// maxSweeps bounds the sweeps over all pairs of rows.
const maxSweeps = 60

// jacobi makes the n rows of g, of length dim, orthogonal by plane rotations of pairs, and rotates
// the rows of v along unless it is nil. It reports convergence. Source: Hestenes, "Inversion of
// matrices by biorthogonalization and related results", 1958; the criterion is that of Demmel
// and Veselic, "Jacobi's method is more accurate than QR", SIAM J. Matrix Anal. 13, 1992.
func jacobi[T number](g []T, n, dim int, v []T) bool {
	norms := make([]float64, n)
	tolerance := epsilon * math.Sqrt(float64(max(dim, 4)))
	for range maxSweeps {
		for i := range n {
			norms[i] = square(g[i*dim : (i+1)*dim])
		}
		rotated := false
		for p := range n - 1 {
			// The row of largest norm comes first: de Rijk's pivoting.
			best := p
			for i := p + 1; i < n; i++ {
				if norms[i] > norms[best] {
					best = i
				}
			}
			if best != p {
				swap(g[p*dim:(p+1)*dim], g[best*dim:(best+1)*dim])
				norms[p], norms[best] = norms[best], norms[p]
				if v != nil {
					swap(v[p*n:(p+1)*n], v[best*n:(best+1)*n])
				}
			}
			x := g[p*dim : (p+1)*dim]
			for q := p + 1; q < n; q++ {
				y := g[q*dim : (q+1)*dim]
				alpha, beta := norms[p], norms[q]
				if min(alpha, beta) < negligible*negligible {
					continue
				}
				gamma := dot(x, y)
				size := abs(gamma)
				if size <= tolerance*math.Sqrt(alpha)*math.Sqrt(beta) {
					continue
				}
				rotated = true
				if _, isReal := any(gamma).(float64); !isReal {
					phase := divide(conj(gamma), of[T](size))
					scale(y, phase)
					if v != nil {
						scale(v[q*n:(q+1)*n], phase)
					}
				} else {
					size = re(gamma)
				}
				zeta := (beta - alpha) / (2 * size)
				t := math.Copysign(1/(math.Abs(zeta)+length(1, zeta)), zeta)
				c := 1 / math.Sqrt(1+float64(t*t))
				s := -float64(c * t)
				rotate(x, y, c, s)
				if v != nil {
					rotate(v[p*n:(p+1)*n], v[q*n:(q+1)*n], c, s)
				}
				norms[p], norms[q] = square(x), square(y)
			}
		}
		if !rotated {
			return true
		}
	}
	return false
}

func swap[T number](x, y []T) {
	for i, a := range x {
		x[i], y[i] = y[i], a
	}
}

// completeBasis returns want orthonormal vectors of length dim, one a row: the have rows of x and
// others orthogonal to them.
func completeBasis[T number](x []T, have, want, dim int) []T {
	if have == want {
		return x
	}
	x = append(x[:have*dim:have*dim], make([]T, (want-have)*dim)...)
	rest := make([]float64, dim) // squared norms of the unit vectors orthogonal to the basis
	for i := range rest {
		rest[i] = 1
	}
	take := func(row []T) {
		for i, a := range row {
			s := abs(a)
			rest[i] -= float64(s * s)
		}
	}
	for k := range have {
		take(x[k*dim : (k+1)*dim])
	}
	for k := have; k < want; k++ {
		at := 0
		for i, r := range rest {
			if r > rest[at] {
				at = i
			}
		}
		row := x[k*dim : (k+1)*dim]
		row[at] = of[T](1)
		for range 2 { // twice is enough
			for j := range k {
				y := x[j*dim : (j+1)*dim]
				add(row, -dot(y, row), y)
			}
			scale(row, of[T](1/math.Sqrt(square(row))))
		}
		take(row)
	}
	return x
}
