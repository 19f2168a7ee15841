package eigen

import (
	"math"

	"weft/internal/fma"
)

// General computes the eigenvalues of the n x n matrix a into w, and unless v is nil the
// eigenvectors into the columns of v. It overwrites a, whose elements are finite, and reports
// convergence. Eigenvalues come in the order of the Schur form's diagonal. Eigenvalues of a real matrix that
// are not real are pairs, the one with positive imaginary part first, with conjugate vectors.
//
// An eigenvector has norm 1, and the first of its largest elements is real and positive.
func General[T number](m *Machine, n int, a []T, w, v []complex128) bool {
	if n == 0 {
		return true
	}
	exponent := scaleOf(largest(a))
	ldexp(a, exponent)
	d := balance(n, a)
	var z []T
	if v != nil {
		z = make([]T, n*n)
	}
	if !Schur(m, n, a, z) {
		return false
	}
	switch t := any(a).(type) {
	case []float64:
		quasiValues(n, t, w)
		if v != nil {
			quasiVectors(m, n, t, any(z).([]float64), w, v)
		}
	case []complex128:
		for i := range n {
			w[i] = t[i*n+i]
		}
		if v != nil {
			x := make([]complex128, n*n)
			for k := range n {
				solveTriangular(n, t, k, x)
			}
			multiply(m, v, any(z).([]complex128), x, n)
		}
	}
	if v != nil {
		finishVectors(n, v, d)
		if _, ok := any(a).([]float64); ok {
			for k := range n {
				if imag(w[k]) < 0 { // the conjugate of the one before, exactly
					for i := range n {
						v[i*n+k] = complex(real(v[i*n+k-1]), -imag(v[i*n+k-1]))
					}
				}
			}
		}
	}
	ldexp(w, -exponent)
	return true
}

// balance scales rows and columns of a by powers of two such that their norms are near each other,
// and returns the factors of the columns. Source: James, Langou and Lowery, "On matrix balancing and
// eigenvector computation", 2014.
func balance[T number](n int, a []T) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = 1
	}
	for range 20 {
		done := true
		for i := range n {
			var c, r float64
			for j := range n {
				if j != i {
					x, y := abs(a[j*n+i]), abs(a[i*n+j])
					c += float64(x * x)
					r += float64(y * y)
				}
			}
			c, r = math.Sqrt(c), math.Sqrt(r)
			if c == 0 || r == 0 {
				continue
			}
			f, s := 1.0, c+r
			for c < r/2 {
				f, c, r = f*2, c*2, r/2
			}
			for c >= r*2 {
				f, c, r = f/2, c/2, r*2
			}
			if f == 1 || c+r >= float64(0.95*s) || d[i]*f < 1e-100 || d[i]*f > 1e100 {
				continue
			}
			done = false
			d[i] *= f
			for j := range n {
				if j != i {
					a[j*n+i] = mul(a[j*n+i], of[T](f))
					a[i*n+j] = mul(a[i*n+j], of[T](1/f))
				}
			}
		}
		if done {
			break
		}
	}
	return d
}

// finishVectors undoes the balancing of the columns of v and normalises them.
func finishVectors(n int, v []complex128, d []float64) {
	x := make([]complex128, n)
	for k := range n {
		for i := range n {
			x[i] = complex(float64(real(v[i*n+k])*d[i]), float64(imag(v[i*n+k])*d[i]))
		}
		ldexp(x, scaleOf(largest(x)))
		if s := math.Sqrt(square(x)); s > 0 {
			for i, a := range x {
				x[i] = complex(real(a)/s, imag(a)/s)
			}
		}
		fixPhase(x)
		for i, a := range x {
			v[i*n+k] = a
		}
	}
}

// quasiValues stores the eigenvalues of a real Schur form.
func quasiValues(n int, t []float64, w []complex128) {
	for i := 0; i < n; i++ {
		w[i] = complex(t[i*n+i], 0)
		if i+1 < n && t[(i+1)*n+i] != 0 {
			y := math.Sqrt(math.Abs(t[i*n+i+1])) * math.Sqrt(math.Abs(t[(i+1)*n+i]))
			w[i] = complex(t[i*n+i], y)
			w[i+1] = complex(t[i*n+i], -y)
			i++
		}
	}
}

// quasiVectors stores the eigenvectors of Z*T*Z^T, T a real Schur form, into the columns of v. Of a
// pair only the first vector is computed.
func quasiVectors(m *Machine, n int, t, z []float64, w, v []complex128) {
	x := make([]complex128, n*n) // eigenvectors of T in columns
	for k := 0; k < n; k++ {
		solveQuasi(n, t, k, w[k], x)
		if imag(w[k]) != 0 {
			k++
		}
	}
	// The real Z times the parts of x.
	parts, out := make([]float64, 2*n*n), make([]float64, 2*n*n)
	for i, a := range x {
		row, col := i/n, i%n
		parts[row*2*n+col], parts[row*2*n+n+col] = real(a), imag(a)
	}
	gemm(m, n, 2*n, n, mat[float64]{z, n, 1}, mat[float64]{parts, 2 * n, 1}, out)
	for i := range v[:n*n] {
		row, col := i/n, i%n
		v[i] = complex(out[row*2*n+col], out[row*2*n+n+col])
	}
}

// pivot returns a divisor near d that is not too small for the matrix, whose largest element is near 1.
func pivot(d complex128, norm float64) complex128 {
	if least := epsilon * max(norm, 1e-280); modulus(d) < least {
		return complex(least, 0)
	}
	return d
}

// solveTriangular stores the eigenvector of value k of the upper triangular matrix t into column k
// of x.
func solveTriangular(n int, t []complex128, k int, x []complex128) {
	y := make([]complex128, k+1)
	y[k] = 1
	norm := largest(t)
	for i := k - 1; i >= 0; i-- {
		s := dotPlain(t[i*n+i+1:i*n+k+1], y[i+1:])
		y[i] = fma.Quotient(-s, pivot(t[i*n+i]-t[k*n+k], norm))
		if g := modulus(y[i]); g > 1e100 { // stays finite
			ldexp(y[i:], scaleOf(g))
		}
	}
	for i, a := range y {
		x[i*n+k] = a
	}
}

// solveQuasi stores the eigenvector of the value w at row k of the real Schur form t into column
// k of x.
func solveQuasi(n int, t []float64, k int, w complex128, x []complex128) {
	y := make([]complex128, n)
	end, norm := k+1, largest(t)
	y[k] = 1
	if imag(w) != 0 {
		b, c := t[k*n+k+1], t[(k+1)*n+k]
		if math.Abs(b) >= math.Abs(c) {
			y[k+1] = complex(0, imag(w)/b)
		} else {
			y[k], y[k+1] = complex(0, imag(w)/c), 1
		}
		end++
	}
	for i := k - 1; i >= 0; i-- {
		s := realTimes(t[i*n+i+1:i*n+end], y[i+1:end])
		if i == 0 || t[i*n+i-1] == 0 {
			y[i] = fma.Quotient(-s, pivot(complex(t[i*n+i], 0)-w, norm))
			if g := modulus(y[i]); g > 1e100 { // stays finite
				ldexp(y[i:end], scaleOf(g))
			}
			continue
		}
		// A 2x2 block [p q; r p]: two equations by Cramer's rule.
		u := realTimes(t[(i-1)*n+i+1:(i-1)*n+end], y[i+1:end])
		p, q, r := complex(t[i*n+i], 0)-w, t[(i-1)*n+i], t[i*n+i-1]
		// The least singular value of the block is about the determinant over the largest element.
		most := max(modulus(p), math.Abs(q), math.Abs(r), epsilon*norm)
		det := pivot(times(p, p)-complex(float64(q*r), 0), norm*most)
		y[i-1] = fma.Quotient(complex(float64(q*real(s)), float64(q*imag(s)))-times(p, u), det)
		y[i] = fma.Quotient(complex(float64(r*real(u)), float64(r*imag(u)))-times(p, s), det)
		i--
		if g := max(modulus(y[i]), modulus(y[i+1])); g > 1e100 {
			ldexp(y[i:end], scaleOf(g))
		}
	}
	for i, a := range y[:end] {
		x[i*n+k] = a
	}
}

// realTimes is the sum of a[i]*y[i].
func realTimes(a []float64, y []complex128) complex128 {
	var r, m float64
	for i, b := range a {
		r += float64(b * real(y[i]))
		m += float64(b * imag(y[i]))
	}
	return complex(r, m)
}
