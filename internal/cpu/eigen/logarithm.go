package eigen

import (
	"math"

	"weft/internal/fma"
)

// logLimit is the distance from the identity up to which the Padé approximant of degree 7 of log has
// errors below 2^-53. Source: Higham, Functions of Matrices, 2008, table 11.1.
const logLimit = 2.64e-1

// The nodes and weights of the Gauss-Legendre rule with 7 points on 0 to 1.
var legendreNodes = [7]float64{0.0254460438286207377, 0.129234407200302780, 0.297077424311301417, 0.5,
	0.702922575688698583, 0.870765592799697220, 0.974553956171379262}
var legendreWeights = [7]float64{0.0647424830844348466, 0.139852695744638334, 0.190915025252559473, 0.208979591836734694,
	0.190915025252559473, 0.139852695744638334, 0.0647424830844348466}

// Log computes the principal logarithm of the n x n matrix a into x, nil if it did, by inverse scaling
// and squaring: square roots of the Schur form until it is near the identity, then the Padé approximant
// as partial fractions. Diagonals are computed from the eigenvalues, without cancellation. Source: Al-Mohy and
// Higham, "Improved inverse scaling and squaring algorithms for the matrix logarithm", SIAM J. Sci. Comput.
// 34, 2012.
func Log[T number](m *Machine, n int, a, x []T) *Trouble {
	if logNearIdentity(n, a, x) {
		return nil
	}
	// Near the ends of the range that of a*2^exponent is computed, which is that of a plus a multiple of the
	// identity. Others are not scaled: small eigenvalues of a graded matrix would vanish.
	exponent := scaleOf(largest(a))
	if exponent > -900 && exponent < 400 {
		exponent = 0
	}
	a, restore := arranged(n, a)
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
	roots, off := 0, make([]complex128, n*n) // off is the 2^roots-th root minus the identity
	for ; ; roots++ {
		copy(off, t)
		for i, d := range diagonal {
			off[i*n+i] = rootMinusOne(d, roots)
		}
		if roots == 100 || isNearIdentity(m, n, off) {
			break
		}
		if !sqrtTriangular(n, t) {
			return &Trouble{Singular: true}
		}
	}
	sum, y := make([]complex128, n*n), make([]complex128, n*n)
	for k, node := range legendreNodes {
		logFraction(n, off, y, node)
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
	restore(x)
	return nil
}

// logNearIdentity computes the logarithm of a matrix near the identity into x, from its exact difference and
// without the errors of a Schur form. It reports false for others.
func logNearIdentity[T number](n int, a, x []T) bool {
	off := append([]T(nil), a...)
	for i := range n {
		off[i*n+i] -= of[T](1)
	}
	if !(oneNorm(n, off) <= logLimit) {
		return false
	}
	clear(x)
	left, right := make([]T, n*n), make([]T, n*n)
	for k, node := range legendreNodes {
		clear(left)
		add(left, of[T](node), off)
		for i := range n {
			left[i*n+i] += of[T](1)
		}
		copy(right, off)
		if !Eliminate(n, left, right) {
			return false
		}
		add(x, of[T](legendreWeights[k]), right)
	}
	return true
}

// isNearIdentity reports whether the Padé approximant serves for the upper triangular I + off: off or roots of
// the norms of its powers are small, and all eigenvalues.
func isNearIdentity(m *Machine, n int, off []complex128) bool {
	for i := range n {
		if !(modulus(off[i*n+i]) <= logLimit) {
			return false
		}
	}
	if oneNorm(n, off) <= logLimit {
		return true
	}
	p, q := make([]complex128, n*n), make([]complex128, n*n)
	multiply(m, p, off, off, n)
	second := root(oneNorm(n, p), 2)
	multiply(m, q, p, off, n)
	third := root(oneNorm(n, q), 3)
	if max(second, third) <= logLimit {
		return true
	}
	multiply(m, q, p, p, n)
	return max(third, root(oneNorm(n, q), 4)) <= logLimit
}

// rootMinusOne is the 2^k-th principal root of a number other than 0, minus 1, without cancellation. Source:
// Al-Mohy, "A more accurate Briggs method for the logarithm", Numer. Algorithms 59, 2012.
func rootMinusOne(a complex128, k int) complex128 {
	if k > 0 && real(a) < 0 {
		a, k = squareRoot(a), k-1
	}
	off, product := a-1, complex(1, 0)
	for range k {
		a = squareRoot(a)
		product = times(product, 1+a)
	}
	return fma.Quotient(off, product)
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
