package eigen

import (
	"math"

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
			return padeSolve(n, power(a, u), v, x)
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
	for range scaling {
		copy(x, power(x, x))
	}
	return true
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
			if b, c := a[k*n+k+1], a[(k+1)*n+k]; c != 0 {
				c, s := givens(complex(0, math.Sqrt(math.Abs(b))*math.Sqrt(math.Abs(c))), complex(c, 0))
				conj := complex(real(s), -imag(s))
				rotateComplex(t[k*n+k:(k+1)*n], t[(k+1)*n+k:(k+2)*n], c, s)
				for i := range k + 2 {
					rotateComplex(t[i*n+k:i*n+k+1], t[i*n+k+1:i*n+k+2], c, conj)
				}
				rotateComplex(zt[k*n:(k+1)*n], zt[(k+1)*n:(k+2)*n], c, conj)
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
	a = append([]T(nil), a...)
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

// logLimit is the distance from the identity up to which the Padé approximant of degree 7 of log has
// errors below 2^-53. Source: Higham, Functions of Matrices, table 11.1.
const logLimit = 2.64e-1

// The nodes and weights of the Gauss-Legendre rule with 7 points on 0 to 1.
var legendreNodes = [7]float64{0.0254460438286207377, 0.129234407200302780, 0.297077424311301417, 0.5,
	0.702922575688698583, 0.870765592799697220, 0.974553956171379262}
var legendreWeights = [7]float64{0.0647424830844348466, 0.139852695744638334, 0.190915025252559473, 0.208979591836734694,
	0.190915025252559473, 0.139852695744638334, 0.0647424830844348466}

// Log computes the principal logarithm of the n x n matrix a into x, nil if it did, by inverse scaling
// and squaring: square roots of the Schur form until it is near the identity, then the Padé approximant
// as partial fractions. Source: Higham, Functions of Matrices, 2008, chapter 11.
func Log[T number](m *Machine, n int, a, x []T) *Trouble {
	// Near the ends of the range that of a*2^exponent is computed, which is that of a plus a multiple of the
	// identity. Others are not scaled: small eigenvalues of a graded matrix would vanish.
	exponent := scaleOf(largest(a))
	if exponent > -900 && exponent < 400 {
		exponent = 0
	}
	a = append([]T(nil), a...)
	ldexp(a, exponent)
	t, zt, negative, ok := triangular(m, n, a)
	if !ok || negative != 0 {
		return &Trouble{Diverged: !ok, Negative: math.Ldexp(negative, -exponent)}
	}
	diagonal := make([]complex128, n)
	for i := range n {
		if diagonal[i] = t[i*n+i]; diagonal[i] == 0 {
			return &Trouble{Singular: true}
		}
	}
	super := make([]complex128, n) // elements right of the diagonal
	for i := 0; i+1 < n; i++ {
		super[i] = t[i*n+i+1]
	}
	roots := 0
	for ; roots < 100; roots++ {
		for i := range n {
			t[i*n+i] -= 1
		}
		if oneNorm(n, t) <= logLimit {
			break
		}
		for i := range n {
			t[i*n+i] += 1
		}
		if !sqrtTriangular(n, t) {
			return &Trouble{Singular: true}
		}
	}
	sum, y := make([]complex128, n*n), make([]complex128, n*n)
	for k, node := range legendreNodes {
		logFraction(n, t, y, node)
		add(sum, complex(legendreWeights[k], 0), y)
	}
	ldexp(sum, roots)
	// The diagonal and the elements beside it have formulas without cancellation.
	logs := make([]complex128, n)
	for i, d := range diagonal {
		logs[i] = logarithm(d)
		sum[i*n+i] = logs[i] - complex(float64(float64(exponent)*math.Ln2), 0)
	}
	for i := 0; i+1 < n; i++ {
		sum[i*n+i+1] = times(super[i], logSlope(diagonal[i], diagonal[i+1], logs[i], logs[i+1]))
	}
	back(m, n, sum, zt, x)
	return nil
}

// logFraction computes y = (I + node*t)^-1 * t of the upper triangular t, row by row from the last.
func logFraction(n int, t, y []complex128, node float64) {
	for i := n - 1; i >= 0; i-- {
		row := y[i*n : (i+1)*n]
		copy(row, t[i*n:(i+1)*n])
		for k := i + 1; k < n; k++ {
			f := t[i*n+k]
			add(row[k:], complex(-node*real(f), -node*imag(f)), y[k*n+k:(k+1)*n])
		}
		d := t[i*n+i]
		inverse := fma.Quotient(1, complex(1+float64(node*real(d)), float64(node*imag(d))))
		scale(row[i:], inverse)
	}
}

// logarithm is the principal logarithm.
func logarithm(a complex128) complex128 {
	return complex(ln(modulus(a)), arctan2(imag(a), real(a)))
}

// logSlope is (log b - log a)/(b - a), for equal numbers the derivative. Source: Higham,
// Functions of Matrices, 11.6.2.
func logSlope(a, b, logA, logB complex128) complex128 {
	if a == b {
		return fma.Quotient(1, a)
	}
	if modulus(a) < modulus(b)/2 || modulus(b) < modulus(a)/2 {
		return fma.Quotient(logB-logA, b-a)
	}
	z := fma.Quotient(b-a, b+a)
	// log b - log a = 2*atanh(z) up to a multiple of 2*pi*i.
	turns := math.Ceil((imag(logB-logA) - math.Pi) / (2 * math.Pi))
	s := artanh(z) + complex(0, float64(math.Pi*turns))
	return fma.Quotient(complex(2*real(s), 2*imag(s)), b-a)
}

// artanh is the inverse hyperbolic tangent of a number below 1 in size, accurate near 0.
func artanh(z complex128) complex128 {
	x, y := real(z), imag(z)
	s := float64(y * y)
	re := ln1p(4*x/(float64((1-x)*(1-x))+s)) / 4
	im := arctan2(2*y, float64((1-x)*(1+x))-s) / 2
	return complex(re, im)
}
