package eigen

import (
	"math"
	"slices"
	"sort"
)

const epsilon = 0x1p-52

// sweepsPerValue bounds the iterations for one eigenvalue.
const sweepsPerValue = 60

// tridiagonalValues replaces d by the eigenvalues, in no order, of the symmetric tridiagonal
// matrix with diagonal d and subdiagonal e[:n-1]. It reports convergence.
func tridiagonalValues(d, e []float64) bool { return implicitQL(d, e, nil, 0) }

// implicitQL diagonalises a symmetric tridiagonal matrix by the implicit QL method with Wilkinson's
// shift. Rows of z, of length ld, are rotated along: rows of the identity become eigenvectors.
// e[len(d)-1] is overwritten. Source: Golub and Van Loan, 8.3.
func implicitQL(d, e, z []float64, ld int) bool {
	n := len(d)
	if n == 0 {
		return true
	}
	e[n-1] = 0
	for l := range n {
		for iteration := 0; ; iteration++ {
			m := l
			for ; m < n-1; m++ {
				if s := math.Abs(d[m]) + math.Abs(d[m+1]); math.Abs(e[m]) <= epsilon/2*s || math.Abs(e[m]) < 1e-300 {
					e[m] = 0
					break
				}
			}
			if m == l {
				break
			}
			if iteration == sweepsPerValue {
				return false
			}
			smallFirst(d[l:m+1], e[l:m], z[l*ld:], ld)
			g := (d[l+1] - d[l]) / (2 * e[l])
			r := length(g, 1)
			g = d[m] - d[l] + e[l]/(g+math.Copysign(r, g))
			s, c, p := 1.0, 1.0, 0.0
			i := m - 1
			for ; i >= l; i-- {
				f, b := float64(s*e[i]), float64(c*e[i])
				r = length(f, g)
				e[i+1] = r
				if r == 0 {
					d[i+1] -= p
					e[m] = 0
					break
				}
				s, c = f/r, g/r
				g = d[i+1] - p
				r = float64((d[i]-g)*s) + float64(2*c*b)
				p = float64(s * r)
				d[i+1] = g + p
				g = float64(c*r) - b
				if z != nil {
					rotate(z[(i+1)*ld:(i+2)*ld], z[i*ld:(i+1)*ld], c, s)
				}
			}
			if r == 0 && i >= l {
				continue
			}
			d[l] -= p
			e[l], e[m] = g, 0
		}
	}
	return true
}

// smallFirst reverses a tridiagonal matrix whose first row is far larger than its last, with the rows of z: the shift
// comes from the first one, and beside a large shift the rotations of much smaller rows would underflow.
// Source: LAPACK's choice between QL and QR steps, dsteqr.
func smallFirst(d, e, z []float64, ld int) {
	n := len(d)
	if first, last := math.Abs(d[0])+math.Abs(e[0]), math.Abs(d[n-1])+math.Abs(e[n-2]); !(first*0x1p-100 > last) {
		return
	}
	slices.Reverse(d)
	slices.Reverse(e)
	for i := 0; ld > 0 && i < n/2; i++ {
		x, y := z[i*ld:(i+1)*ld], z[(n-1-i)*ld:(n-i)*ld]
		for c := range x {
			x[c], y[c] = y[c], x[c]
		}
	}
}

// leaf is the size up to which QL iterations solve a tridiagonal problem.
const leaf = 32

// tridiagonalVectors computes the eigenvalues of the symmetric tridiagonal matrix with diagonal d
// and subdiagonal e, ascending, into d, and the eigenvectors into the rows of z, which is 0. Both parts
// around a subdiagonal element are solved, and joined by a correction of rank one. Source:
// Cuppen, "A divide and conquer method for the symmetric tridiagonal eigenproblem", Numer. Math.
// 36, 1981, with the stable vectors of package secular's sources.
func tridiagonalVectors(m *Machine, d, e, z []float64) bool {
	n := len(d)
	if n <= leaf {
		for i := range n {
			z[i*n+i] = 1
		}
		if !implicitQL(d, e, z, n) {
			return false
		}
		order := ascending(d)
		values, rows := append([]float64(nil), d...), append([]float64(nil), z...)
		for i, from := range order {
			d[i] = values[from]
			copy(z[i*n:(i+1)*n], rows[from*n:(from+1)*n])
		}
		return true
	}
	h := n / 2
	rho := e[h-1]
	d[h-1] -= math.Abs(rho)
	d[h] -= math.Abs(rho)
	buffer, free := scratch[float64](h*h + (n-h)*(n-h))
	defer free()
	clear(buffer)
	z1, z2 := buffer[:h*h], buffer[h*h:]
	if !tridiagonalVectors(m, d[:h], e[:h], z1) || !tridiagonalVectors(m, d[h:], e[h:], z2) {
		return false
	}
	j := join{n: n, supports: [2]support{{z1, h, 0, h}, {z2, n - h, h, n - h}}}
	u := make([]float64, n)
	for i := range h {
		u[i] = z1[i*h+h-1]
	}
	for i := range n - h {
		u[h+i] = math.Copysign(1, rho) * z2[i*(n-h)]
	}
	return j.tridiagonal(m, d, u, math.Abs(rho), z)
}

// ascending returns the indices of d in ascending order of the values.
func ascending(d []float64) []int {
	order := make([]int, len(d))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return d[order[i]] < d[order[j]] })
	return order
}

// tridiagonal solves diag(d) + rho*u*u^T, in the basis of the join's vectors: it stores the eigenvalues,
// ascending, into d and the eigenvectors into the rows of z.
func (b *join) tridiagonal(m *Machine, d, u []float64, rho float64, z []float64) bool {
	n := b.n
	norm := math.Sqrt(square(u))
	for i := range u {
		u[i] /= norm
	}
	rho *= float64(norm * norm)
	tolerance := 8 * epsilon * max(largest(d), rho)
	b.mixed = map[int][]float64{}
	var keep, drop []int
	for _, i := range ascending(d) {
		if rho*math.Abs(u[i]) <= tolerance {
			drop = append(drop, i)
			continue
		}
		if len(keep) > 0 {
			p := keep[len(keep)-1]
			r := length(u[i], u[p])
			c, s := u[i]/r, -u[p]/r
			if math.Abs(float64((d[i]-d[p])*c)*s) <= tolerance {
				// Equal poles: a rotation makes the weight of one 0.
				u[i], u[p] = r, 0
				b.rotate(p, i, c, s)
				dp, di := d[p], d[i]
				d[p] = float64(dp*float64(c*c)) + float64(di*float64(s*s))
				d[i] = float64(dp*float64(s*s)) + float64(di*float64(c*c))
				keep[len(keep)-1] = i
				drop = append(drop, p)
				continue
			}
		}
		keep = append(keep, i)
	}
	k := len(keep)
	var values []float64
	var vectors []float64
	if k > 0 {
		s := secular{d: make([]float64, k), weights: make([]float64, k)}
		w := make([]float64, k)
		for at, i := range keep {
			s.d[at], w[at] = d[i], u[i]
			s.weights[at] = rho * float64(u[i]*u[i])
		}
		r := s.solveAll(m, w)
		defer r.free()
		values, vectors = r.roots, r.delta
		for j := range k {
			row := vectors[j*k : (j+1)*k]
			for i, z := range r.z {
				row[i] = z / row[i]
			}
			scale(row, 1/math.Sqrt(square(row)))
		}
	}
	for _, i := range drop {
		values = append(values, d[i])
	}
	place := make([]int, n) // of each value
	for at, from := range ascending(values) {
		d[at], place[from] = values[from], at
	}
	b.combine(m, keep, vectors, func(j int) []float64 { return z[place[j]*n : (place[j]+1)*n] })
	for at, i := range drop {
		b.row(i, z[place[k+at]*n:(place[k+at]+1)*n])
	}
	return true
}
