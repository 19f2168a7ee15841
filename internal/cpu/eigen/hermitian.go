package eigen

import (
	"math"
	"sort"
)

// Hermitian computes the eigenvalues of the n x n matrix a, which is Hermitian, in ascending order
// into w, and unless v is nil the eigenvectors into the columns of v. It overwrites a. It
// reports whether the iteration converged. The elements of a are finite.
//
// An eigenvector has norm 1, and the first of its largest elements is real and positive.
func Hermitian[T number](m *Machine, n int, a []T, w []float64, v []T) bool {
	if n == 0 {
		return true
	}
	exponent := scaleOf(largest(a))
	ldexp(a, exponent)
	e := make([]float64, n)
	r := tridiagonalize(m, n, a, w, e)
	defer r.free()
	if v == nil {
		ok := tridiagonalValues(w, e)
		sort.Float64s(w)
		ldexp(w, -exponent)
		return ok
	}
	z, free := scratch[float64](n * n)
	defer free()
	clear(z)
	if !tridiagonalVectors(m, w, e, z) {
		return false
	}
	ldexp(w, -exponent)
	rows, ok := any(z).([]T)
	if !ok {
		var free func()
		rows, free = scratch[T](n * n)
		defer free()
		for i, x := range z {
			rows[i] = of[T](x)
		}
	}
	r.apply(m, rows, n)
	for k := range n {
		fixPhase(rows[k*n : (k+1)*n])
	}
	storeTransposed(v, rows, n)
	return true
}

// storeTransposed stores the transposed n x n matrix a into to, by squares that caches hold.
func storeTransposed[T number](to, a []T, n int) {
	const side = 16
	for i0 := 0; i0 < n; i0 += side {
		for j0 := 0; j0 < n; j0 += side {
			for i := i0; i < min(i0+side, n); i++ {
				for j := j0; j < min(j0+side, n); j++ {
					to[i*n+j] = a[j*n+i]
				}
			}
		}
	}
}

// nearlyEqual is the ratio of absolute values from which two elements count as equally large: rounding
// does not decide then which one fixes a phase.
const nearlyEqual = 1 - 0x1p-30

// fixPhase multiplies x by the number of absolute value 1 that makes the first of its largest elements
// real and positive, and returns that number.
func fixPhase[T number](x []T) T {
	one := of[T](1)
	most := largestModulus(x)
	if most == 0 {
		return one
	}
	at := 0
	for abs(x[at]) < nearlyEqual*most {
		at++
	}
	size := of[T](abs(x[at]))
	p := divide(conj(x[at]), size)
	if p != one {
		scale(x, p)
		x[at] = size
	}
	return p
}

// largestModulus is the greatest absolute value of an element.
func largestModulus[T number](x []T) float64 {
	c, ok := any(x).([]complex128)
	if !ok {
		return largest(x)
	}
	most := 0.0
	for _, a := range c {
		most = max(most, float64(real(a)*real(a))+float64(imag(a)*imag(a)))
	}
	return math.Sqrt(most)
}

// tridiagonalize reduces the Hermitian matrix a to a real tridiagonal one, Q^H*A*Q, with the
// diagonal d and the subdiagonal e[:n-1]. It returns Q as reflections and overwrites a.
//
// Columns are reduced in panels: within a panel the matrix stays as it was, and the updates
// v*w^H + w*v^H of the panel's columns are applied to what is read. Source: Dongarra,
// Sorensen and Hammarling, "Block reduction of matrices to condensed forms for eigenvalue
// computations", J. Comp. Appl. Math. 27, 1989.
func tridiagonalize[T number](m *Machine, n int, a []T, d, e []float64) *reflections[T] {
	r := newReflections[T](n-1, n, 1)
	nb := blockOf
	if n < 2*smallest {
		nb = 4
	}
	w := make([]T, nb*n) // vectors w of the panel, one a row
	for from := 0; from < n-1; from += nb {
		end := min(from+nb, n-1)
		for j := from; j < end; j++ {
			tridiagonalColumn(m, n, a, d, e, r, w, from, j)
		}
		applyPanel(m, n, a, r.v[from*n:end*n], w[:(end-from)*n], end)
	}
	d[n-1] = re(a[n*n-1])
	return r
}

// tridiagonalColumn reduces column j of the panel that begins at column from.
func tridiagonalColumn[T number](m *Machine, n int, a []T, d, e []float64, r *reflections[T], w []T, from, j int) {
	v := r.v[j*n : (j+1)*n]
	k := j - from
	vs, ws := r.v[from*n+j:], w[j:] // the panel's vectors from row j on, n apart
	f := make([]T, 2*k)
	f, g := f[:k], f[k:]
	c := v[j:]
	copy(c, a[j*n+j:(j+1)*n]) // a row of the Hermitian matrix is its column, conjugated
	conjugate(c)
	for p := range k {
		f[p], g[p] = conj(ws[p*n]), conj(vs[p*n])
	}
	subtractRows(m, c, f, vs, n)
	subtractRows(m, c, g, ws, n)
	d[j] = re(c[0])
	var zero T
	c[0] = zero
	x := v[j+1:]
	beta, tau := reflector(x)
	e[j], r.tau[j] = beta, tau
	y := w[k*n+j+1 : (k+1)*n]
	clear(w[k*n : k*n+j+1])
	adjointTimes(m, y, a[(j+1)*n+j+1:], n, x)
	vs, ws = vs[1:], ws[1:]
	if k > 0 {
		dots(m, f, ws, n, x)
		dots(m, g, vs, n, x)
		subtractRows(m, y, f, vs, n)
		subtractRows(m, y, g, ws, n)
	}
	scale(y, tau)
	half := mul(conj(tau), dot(x, y))
	add(y, -mul(of[T](0.5), half), x)
}

// applyPanel subtracts v*w^H + w*v^H from the trailing matrix, whose first row and column is from.
func applyPanel[T number](m *Machine, n int, a, v, w []T, from int) {
	k, s := len(v)/n, n-from
	if s < smallest {
		for p := range k {
			vp, wp := v[p*n+from:(p+1)*n], w[p*n+from:(p+1)*n]
			vc, wc := append([]T(nil), vp...), append([]T(nil), wp...)
			conjugate(vc)
			conjugate(wc)
			for i := range s {
				row := a[(from+i)*n+from : (from+i+1)*n]
				add(row, -vp[i], wc)
				add(row, -wp[i], vc)
			}
		}
		return
	}
	buffer, free := scratch[T](4*k*s + s*s)
	defer free()
	left, right, out := buffer[:2*k*s], buffer[2*k*s:4*k*s], buffer[4*k*s:]
	for p := range k {
		vp, wp := v[p*n+from:(p+1)*n], w[p*n+from:(p+1)*n]
		copy(left[p*s:], vp)
		copy(left[(k+p)*s:], wp)
		copy(right[p*s:], wp)
		copy(right[(k+p)*s:], vp)
	}
	conjugate(right)
	gemm(m, s, s, 2*k, mat[T]{left, 1, s}, mat[T]{right, s, 1}, out)
	one := []T{of[T](1)}
	for i := range s {
		subtractRows(m, a[(from+i)*n+from:(from+i+1)*n], one, out[i*s:(i+1)*s], s)
	}
}
