package eigen

import (
	"cmp"
	"math"
	"slices"

	"weft/internal/fma"
)

// Eliminate solves a*x = b for n x n matrices by elimination with row exchanges. It overwrites a, and b
// by x. It reports false for a singular a.
func Eliminate[T number](n int, a, b []T) bool {
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if abs(a[i*n+k]) > abs(a[best*n+k]) {
				best = i
			}
		}
		if abs(a[best*n+k]) == 0 {
			return false
		}
		if best != k {
			swap(a[k*n:(k+1)*n], a[best*n:(best+1)*n])
			swap(b[k*n:(k+1)*n], b[best*n:(best+1)*n])
		}
		for i := k + 1; i < n; i++ {
			f := divide(a[i*n+k], a[k*n+k])
			add(a[i*n+k:(i+1)*n], -f, a[k*n+k:(k+1)*n])
			add(b[i*n:(i+1)*n], -f, b[k*n:(k+1)*n])
		}
	}
	for k := n - 1; k >= 0; k-- {
		scale(b[k*n:(k+1)*n], divide(of[T](1), a[k*n+k]))
		for i := range k {
			add(b[i*n:(i+1)*n], -a[i*n+k], b[k*n:(k+1)*n])
		}
	}
	return true
}

// padeLimits are the norms up to which the Padé approximants of exp of degree 3, 5, 7, 9 and 13 have
// backward errors below 2^-53.
var padeLimits = [5]float64{1.495585217958292e-2, 2.539398330063230e-1, 9.504178996162932e-1, 2.097847961257068, 4.25}

// Exp computes the exponential of the n x n matrix a into x, by scaling and squaring. It reports false
// if a linear system is singular, which finite matrices do not give. Source: Al-Mohy and
// Higham, "A new scaling and squaring algorithm for the matrix exponential", SIAM J. Matrix Anal.
// 31, 2009; products a^8 and a^10 are formed where the paper estimates their norms.
func Exp[T number](m *Machine, n int, a, x []T) bool {
	if n == 0 {
		return true
	}
	a, restore := arranged(n, a)
	power := func(p, q []T) []T {
		c := make([]T, n*n)
		multiply(m, c, p, q, n)
		return c
	}
	rootOf := func(p []T, k int) float64 { return root(oneNorm(n, p), k) }
	a2 := power(a, a)
	powers := [][]T{nil, a2}
	var d4, d6 float64
	for i, degree := range []int{3, 5, 7, 9} {
		switch i {
		case 0:
			powers = append(powers, power(a2, a2))
			d4 = rootOf(powers[2], 4)
		case 1:
			powers = append(powers, power(powers[2], a2))
			d6 = rootOf(powers[3], 6)
		case 3:
			powers = append(powers, power(powers[2], powers[2]))
		}
		eta := max(d4, d6)
		if i == 0 {
			eta = max(d4, rootOf(a2, 2))
		}
		if eta <= padeLimits[i] && extraScaling(n, a, degree) == 0 {
			u, v := padeParts(n, padeCoefficients(degree), powers)
			ok := padeSolve(n, power(a, u), v, x)
			exactDiagonals(n, a, x, 0)
			restore(x)
			return ok
		}
	}
	d8 := rootOf(powers[4], 8)
	d10 := rootOf(power(powers[2], powers[3]), 10)
	eta := min(max(d4, d6), max(d6, d8), max(d8, d10))
	scaling := 0
	if eta > padeLimits[4] {
		_, e := math.Frexp(eta / padeLimits[4])
		scaling = e
	}
	b := append([]T(nil), a...)
	ldexp(b, -scaling)
	if extra := extraScaling(n, b, 13); extra > 0 {
		ldexp(b, -extra)
		scaling += extra
	}
	for k := 1; k <= 3; k++ {
		ldexp(powers[k], -2*k*scaling)
	}
	c := padeCoefficients(13)
	p2, p4, p6 := powers[1], powers[2], powers[3]
	combine := func(c2, c4, c6 float64) []T {
		s := make([]T, n*n)
		add(s, of[T](c2), p2)
		add(s, of[T](c4), p4)
		add(s, of[T](c6), p6)
		return s
	}
	u, v := power(p6, combine(c[9], c[11], c[13])), power(p6, combine(c[8], c[10], c[12]))
	add(u, of[T](1), combine(c[3], c[5], c[7]))
	add(v, of[T](1), combine(c[2], c[4], c[6]))
	for i := range n {
		u[i*n+i] += of[T](c[1])
		v[i*n+i] += of[T](c[0])
	}
	if !padeSolve(n, power(b, u), v, x) {
		return false
	}
	exactDiagonals(n, a, x, scaling)
	for k := scaling - 1; k >= 0; k-- {
		copy(x, power(x, x))
		exactDiagonals(n, a, x, k)
	}
	restore(x)
	return true
}

// exactDiagonals writes the diagonal of the exponential x of a/2^k, and the elements right of it, where a is upper
// triangular. Scaling and squaring would lose digits of them where diagonal elements of a differ much. Source:
// Al-Mohy and Higham, as at Exp, section 2.
func exactDiagonals[T number](n int, a, x []T, k int) {
	for i := range n {
		for _, v := range a[i*n : i*n+i] {
			if v != of[T](0) {
				return
			}
		}
	}
	if b, ok := any(a).([]float64); ok {
		writeDiagonals(n, b, any(x).([]float64), exp, expDifference, func(v float64) float64 { return math.Ldexp(v, -k) })
		return
	}
	b := any(a).([]complex128)
	for i := range n {
		if math.Abs(imag(b[i*n+i])) > mostAngle {
			return
		}
	}
	half := func(v complex128) complex128 { return complex(math.Ldexp(real(v), -k), math.Ldexp(imag(v), -k)) }
	writeDiagonals(n, b, any(x).([]complex128), cexp, cexpDifference, half)
}

// writeDiagonals writes functions of elements of a, scaled, to the diagonal of x and right of it.
func writeDiagonals[T number](n int, a, x []T, f func(T) T, difference func(a, b T) T, scaled func(T) T) {
	for i := range n {
		d := scaled(a[i*n+i])
		x[i*n+i] = f(d)
		if i+1 < n && a[i*n+i+1] != of[T](0) {
			x[i*n+i+1] = mul(scaled(a[i*n+i+1]), difference(d, scaled(a[(i+1)*n+i+1])))
		}
	}
}

// padeCoefficients returns the coefficients of the numerator of degree m, the first being 1.
func padeCoefficients(m int) []float64 {
	b := make([]float64, m+1)
	b[0] = 1
	for j := 1; j <= m; j++ {
		b[j] = b[j-1] * float64(m-j+1) / float64((2*m-j+1)*j)
	}
	return b
}

// padeParts returns u and v such that the numerator is a*u + v and the denominator v - a*u.
func padeParts[T number](n int, c []float64, powers [][]T) (u, v []T) {
	u, v = make([]T, n*n), make([]T, n*n)
	for i := range n {
		u[i*n+i], v[i*n+i] = of[T](c[1]), of[T](c[0])
	}
	for k := 1; 2*k+1 < len(c); k++ {
		add(u, of[T](c[2*k+1]), powers[k])
		add(v, of[T](c[2*k]), powers[k])
	}
	return u, v
}

// padeSolve computes x = (v-u)^-1 * (v+u).
func padeSolve[T number](n int, u, v, x []T) bool {
	copy(x, v)
	add(x, of[T](1), u)
	add(v, of[T](-1), u)
	return Eliminate(n, v, x)
}

// oneNorm is the largest sum of absolute values of a column.
func oneNorm[T number](n int, a []T) float64 {
	sums := make([]float64, n)
	for i := range n {
		for j, x := range a[i*n : (i+1)*n] {
			sums[j] += abs(x)
		}
	}
	return largest(sums)
}

// extraScaling returns how often a must be halved so that the approximant of degree m is exact although
// powers of |a| are larger than the powers of a.
func extraScaling[T number](n int, a []T, m int) int {
	norm := oneNorm(n, a)
	if norm == 0 {
		return 0
	}
	// The norm of |a|^(2m+1): row sums of the transposed powers, which are not negative. They are
	// scaled in each step, and logarithms counted.
	sums, next, log := make([]float64, n), make([]float64, n), 0.0
	for i := range sums {
		sums[i] = 1
	}
	for range 2*m + 1 {
		clear(next)
		for i, s := range sums {
			for j, x := range a[i*n : (i+1)*n] {
				next[j] += float64(s * abs(x))
			}
		}
		e := scaleOf(largest(next))
		ldexp(next, e)
		log -= float64(e)
		sums, next = next, sums
	}
	most := largest(sums)
	if most == 0 {
		return 0
	}
	// 1/c is binomial(2m, m) * (2m+1)!.
	for k := 1; k <= m; k++ {
		log -= log2(float64(m+k)) - log2(float64(k))
	}
	for k := 2; k <= 2*m+1; k++ {
		log -= log2(float64(k))
	}
	log += log2(most) - log2(norm) + 53
	return max(0, int(math.Ceil(log/float64(2*m))))
}

// triangular returns the Schur form of a as a complex upper triangular matrix t, with the rows of zt being
// the columns of Z. Of a real matrix it also returns the first real eigenvalue that is negative
// and not negligible, or 0; negligible negative ones become 0.
func triangular[T number](m *Machine, n int, a []T) (t, zt []complex128, negative float64, ok bool) {
	z := make([]T, n*n)
	a = append([]T(nil), a...)
	norm := math.Sqrt(square(a))
	if !Schur(m, n, a, z) {
		return nil, nil, 0, false
	}
	transpose(z, n)
	switch a := any(a).(type) {
	case []complex128:
		return a, any(z).([]complex128), 0, true
	case []float64:
		t, zt = make([]complex128, n*n), make([]complex128, n*n)
		for i, x := range a {
			t[i], zt[i] = complex(x, 0), complex(any(z).([]float64)[i], 0)
		}
		for i := range n {
			pair := i+1 < n && a[(i+1)*n+i] != 0 || i > 0 && a[i*n+i-1] != 0
			if x := a[i*n+i]; x < 0 && !pair {
				if -x > float64(n)*epsilon*norm {
					return nil, nil, x, true
				}
				t[i*n+i] = 0
			}
		}
		for k := 0; k+1 < n; k++ {
			if b, below := a[k*n+k+1], a[(k+1)*n+k]; below != 0 {
				c, s := givens(complex(0, math.Sqrt(math.Abs(b))*math.Sqrt(math.Abs(below))), complex(below, 0))
				conj := complex(real(s), -imag(s))
				rotateComplex(t[k*n+k:(k+1)*n], t[(k+1)*n+k:(k+2)*n], c, s)
				for i := range k + 2 {
					rotateComplex(t[i*n+k:i*n+k+1], t[i*n+k+1:i*n+k+2], c, conj)
				}
				rotateComplex(zt[k*n:(k+1)*n], zt[(k+1)*n:(k+2)*n], c, conj)
				// The eigenvalues of the block, without the roundings of the rotations.
				mean, part := a[k*n+k], math.Sqrt(math.Abs(b))*math.Sqrt(math.Abs(below))
				t[k*n+k] = complex(mean, math.Copysign(part, imag(t[k*n+k])))
				t[(k+1)*n+k+1] = complex(mean, -imag(t[k*n+k]))
				t[(k+1)*n+k] = 0
			}
		}
	}
	return t, zt, 0, true
}

// back stores Z*t*Z^H into x, of a real x the real part.
func back[T number](m *Machine, n int, t, zt []complex128, x []T) {
	c, p := make([]complex128, n*n), make([]complex128, n*n)
	gemm(m, n, n, n, mat[complex128]{zt, 1, n}, mat[complex128]{t, n, 1}, p)
	conjugate(zt)
	gemm(m, n, n, n, mat[complex128]{p, n, 1}, mat[complex128]{zt, n, 1}, c)
	switch x := any(x).(type) {
	case []complex128:
		copy(x, c)
	case []float64:
		for i := range x {
			x[i] = real(c[i])
		}
	}
}

// gradedFrom is the ratio of the sizes of rows and columns from which a matrix counts as graded.
const gradedFrom = 1024

// arranged returns a matrix similar to a whose Schur form has small errors, and a function that turns
// functions of it into functions of a. A lower triangular matrix is transposed. Others that are not triangular are
// balanced where that does not magnify errors, and graded ones have their largest rows and columns first.
// Source: Stewart and Sun, Matrix Perturbation Theory, 1990, on graded matrices.
func arranged[T number](n int, a []T) (b []T, restore func(x []T)) {
	b = append([]T(nil), a...)
	upper, lower := true, true
	for i := range n {
		for j := range i {
			upper, lower = upper && a[i*n+j] == of[T](0), lower && a[j*n+i] == of[T](0)
		}
	}
	if upper {
		return b, func([]T) {}
	}
	if lower {
		transpose(b, n)
		return b, func(x []T) { transpose(x, n) }
	}
	exponent := scaleOf(largest(b))
	if max(exponent, -exponent) < 400 {
		exponent = 0 // squares are in range
	}
	ldexp(b, exponent)
	most := largest(b)
	d := balance(n, b)
	size := sizes(n, b)
	if magnified(d, size) > 8*most {
		for i := range d {
			for j := range d {
				b[i*n+j] = mul(b[i*n+j], of[T](d[i]/d[j]))
			}
		}
		for i := range d {
			d[i] = 1
		}
		size = sizes(n, b)
	}
	order := descending(size)
	ldexp(b, -exponent)
	c := make([]T, n*n)
	for i, p := range order {
		for j, q := range order {
			c[i*n+j] = b[p*n+q]
		}
	}
	return c, func(x []T) {
		copy(c, x)
		for i, p := range order {
			for j, q := range order {
				x[p*n+q] = mul(c[i*n+j], of[T](d[p]/d[q]))
			}
		}
	}
}

// sizes returns the largest element of each row and column with the same index.
func sizes[T number](n int, a []T) []float64 {
	size := make([]float64, n)
	for i := range n {
		for j := range n {
			x := abs(a[i*n+j])
			size[i], size[j] = max(size[i], x), max(size[j], x)
		}
	}
	return size
}

// magnified bounds what undoing the balancing factors d makes of errors. Errors of element (i, j) of a balanced
// matrix are roundings of the smaller of size[i] and size[j].
func magnified(d, size []float64) float64 {
	most := 0.0
	for i, x := range d {
		for j, y := range d {
			most = max(most, min(size[i], size[j])*(x/y))
		}
	}
	return most
}

// descending returns the order of rows and columns by size, that of a matrix that is not graded as it is.
func descending(size []float64) []int {
	order := make([]int, len(size))
	for i := range order {
		order[i] = i
	}
	if len(size) > 0 && slices.Max(size) > gradedFrom*slices.Min(size) {
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(size[j], size[i]) })
	}
	return order
}

// A Trouble says why a function of a matrix has no result.
type Trouble struct {
	Diverged bool    // the Schur form was not found
	Negative float64 // a real matrix has this eigenvalue, so that its function is not real
	Singular bool
}

// Sqrt computes the principal square root of the n x n matrix a into x, nil if it did. Source: Björck
// and Hammarling, "A Schur method for the square root of a matrix", Linear Algebra Appl. 52/53,
// 1983. A real matrix goes through the complex form, whose result is real up to rounding.
func Sqrt[T number](m *Machine, n int, a, x []T) *Trouble {
	exponent := scaleOf(largest(a)) / 2 * 2
	a, restore := arranged(n, a)
	ldexp(a, exponent)
	t, zt, negative, ok := triangular(m, n, a)
	if !ok || negative != 0 {
		return &Trouble{Diverged: !ok, Negative: math.Ldexp(negative, -exponent)}
	}
	if !sqrtTriangular(n, t) {
		return &Trouble{Singular: true}
	}
	back(m, n, t, zt, x)
	ldexp(x, -exponent/2)
	restore(x)
	return nil
}

// sqrtTriangular replaces the upper triangular t by its principal square root. It reports false if a
// singular t has none.
func sqrtTriangular(n int, t []complex128) bool {
	// Column by column from the diagonal up; r holds the columns of the root as rows.
	r := make([]complex128, n*n)
	for j := range n {
		col := r[j*n : (j+1)*n]
		col[j] = squareRoot(t[j*n+j])
		for i := j - 1; i >= 0; i-- {
			s := t[i*n+j]
			for k := i + 1; k < j; k++ {
				s -= times(r[k*n+i], col[k])
			}
			d := r[i*n+i] + col[j]
			if d == 0 {
				if s != 0 {
					return false
				}
				continue
			}
			col[i] = fma.Quotient(s, d)
		}
	}
	for i := range n {
		for j := range n {
			t[i*n+j] = r[j*n+i]
		}
	}
	return true
}
