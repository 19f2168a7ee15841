package eigen

import (
	"math"

	"weft/internal/fma"
)

// Schur computes the Schur form of the n x n matrix a in place: a = Z*T*Z^H with unitary Z, which it
// stores unless z is nil. A complex T is upper triangular. A real one is upper
// quasi-triangular: a pair of complex eigenvalues is a 2x2 block with equal diagonal elements and
// off-diagonal ones of opposite signs. The elements of a are finite. Schur reports convergence.
func Schur[T number](m *Machine, n int, a, z []T) bool {
	exponent := scaleOf(largest(a))
	ldexp(a, exponent)
	Hessenberg(m, n, a, z)
	transpose(z, n)
	ok := false
	switch a := any(a).(type) {
	case []float64:
		ok = francis(n, a, any(z).([]float64))
	case []complex128:
		ok = singleShift(n, a, any(z).([]complex128))
	}
	transpose(z, n)
	ldexp(a, -exponent)
	return ok
}

// transpose transposes the n x n matrix z, unless it is nil.
func transpose[T number](z []T, n int) {
	if z == nil {
		return
	}
	for i := range n {
		for j := range i {
			z[i*n+j], z[j*n+i] = z[j*n+i], z[i*n+j]
		}
	}
}

// negligible is the size of subdiagonal elements that count as 0 in a matrix whose largest element is
// near 1. The squares of larger ones do not underflow.
const negligible = 1e-140

// activeBlock sets subdiagonal elements of the Hessenberg matrix h that are negligible to 0, upwards
// from row hi, and returns the first row of the block that ends at hi. norm is that of the matrix.
// Source: Ahues and Tisseur, "A new deflation criterion for the QR algorithm", LAPACK Working
// Note 122, 1997.
func activeBlock[T number](n int, h []T, hi int, norm float64) int {
	for lo := hi; lo > 0; lo-- {
		below := abs(h[lo*n+lo-1])
		if below == 0 {
			return lo
		}
		p, q := h[(lo-1)*n+lo-1], h[lo*n+lo]
		s := abs(p) + abs(q)
		if s == 0 {
			s = norm
		}
		if below > epsilon*s && below > negligible {
			continue
		}
		above := abs(h[(lo-1)*n+lo])
		ab, ba := max(below, above), min(below, above)
		aa, bb := max(abs(q), abs(p-q)), min(abs(q), abs(p-q))
		if s = aa + bb; s == 0 || float64(ba*(ab/s)) <= max(negligible, float64(epsilon*(bb*(aa/s)))) {
			h[lo*n+lo-1] = of[T](0)
			return lo
		}
	}
	return 0
}

// francis reduces the real Hessenberg matrix h to quasi-triangular form by implicit double shifts. The
// rows of zt, the columns of Z, are transformed along. Source: Golub and Van Loan, 7.5.
func francis(n int, h, zt []float64) bool {
	norm := largest(h)
	for hi, iteration := n-1, 0; hi > 0; {
		lo := activeBlock(n, h, hi, norm)
		if lo >= hi-1 {
			if lo == hi-1 {
				splitBlock(n, h, zt, lo)
				hi--
			}
			hi, iteration = hi-1, 0
			continue
		}
		if iteration++; iteration > 30*max(10, n) {
			return false
		}
		p, q, r, s := h[(hi-1)*n+hi-1], h[(hi-1)*n+hi], h[hi*n+hi-1], h[hi*n+hi]
		if iteration%10 == 0 { // exceptional shifts break cycles
			t := math.Abs(r) + math.Abs(h[(hi-1)*n+hi-2])
			p = float64(0.75*t) + s
			q, r, s = float64(-0.4375*t), t, p
		}
		a, b, c, d := h[lo*n+lo], h[lo*n+lo+1], h[(lo+1)*n+lo], h[(lo+1)*n+lo+1]
		// By differences of diagonal elements: products cancel in matrices near a multiple of the identity.
		doubleSweep(n, h, zt, lo, hi, [3]float64{
			float64((a-p)*(a-s)) - float64(q*r) + float64(b*c), float64(c * ((a - p) + (d - s))), float64(c * h[(lo+2)*n+lo+1])})
	}
	return true
}

// doubleSweep chases the bulge that the reflection of first makes from row lo to row hi.
func doubleSweep(n int, h, zt []float64, lo, hi int, first [3]float64) {
	x := first
	for k := lo; k < hi; k++ {
		w := min(3, hi-k+1)
		if k > lo {
			for i := range w {
				x[i] = h[(k+i)*n+k-1]
			}
		}
		if most := largest(x[:w]); most > 0 {
			for i := range w {
				x[i] /= most
			}
		}
		if w == 2 {
			x[2] = 0
		}
		_, tau := reflector(x[:w])
		v1, v2 := x[1], x[2]
		if tau == 0 {
			continue
		}
		rows := [3][]float64{h[k*n : (k+1)*n], h[(k+1)*n : (k+2)*n], nil}
		if w == 3 {
			rows[2] = h[(k+2)*n : (k+3)*n]
		}
		reflectRows(rows, max(k-1, lo), tau, v1, v2)
		for i := range min(k+3, hi) + 1 {
			r := h[i*n+k : i*n+k+w]
			s := r[0] + float64(v1*r[1])
			if w == 3 {
				s += float64(v2 * r[2])
			}
			s *= tau
			r[0] -= float64(s * 1)
			r[1] -= float64(s * v1)
			if w == 3 {
				r[2] -= float64(s * v2)
			}
		}
		if zt != nil {
			rows = [3][]float64{zt[k*n : (k+1)*n], zt[(k+1)*n : (k+2)*n], nil}
			if w == 3 {
				rows[2] = zt[(k+2)*n : (k+3)*n]
			}
			reflectRows(rows, 0, tau, v1, v2)
		}
		if k > lo {
			for i := 1; i < w; i++ {
				h[(k+i)*n+k-1] = 0
			}
		}
	}
}

// reflectRows applies I - tau*v*v^T with v = (1, v1, v2) to the columns from on of two or three rows.
func reflectRows(rows [3][]float64, from int, tau, v1, v2 float64) {
	a, b := rows[0][from:], rows[1][from:]
	b = b[:len(a)]
	if rows[2] == nil {
		for i, x := range a {
			y := b[i]
			s := float64((x + float64(v1*y)) * tau)
			a[i] = x - s
			b[i] = y - float64(s*v1)
		}
		return
	}
	c := rows[2][from:][:len(a)]
	for i, x := range a {
		y, z := b[i], c[i]
		s := float64((x + float64(v1*y) + float64(v2*z)) * tau)
		a[i] = x - s
		b[i] = y - float64(s*v1)
		c[i] = z - float64(s*v2)
	}
}

// splitBlock rotates the 2x2 block at row k so that it is upper triangular, if its eigenvalues are
// real, or has equal diagonal elements.
func splitBlock(n int, h, zt []float64, k int) {
	a, b, c, d := h[k*n+k], h[k*n+k+1], h[(k+1)*n+k], h[(k+1)*n+k+1]
	if c == 0 {
		return
	}
	p := (a - d) / 2
	s := max(math.Abs(p), math.Abs(b), math.Abs(c))
	disc := float64(p/s*p) + float64(b/s*c)
	if disc < 0 {
		// The angle t with (a-d)*cos(2t) + (b+c)*sin(2t) = 0 makes the diagonal equal.
		sigma := b + c
		if t := length(sigma, a-d); t > 0 && p != 0 {
			cs := math.Sqrt(0.5 * (1 + math.Abs(sigma)/t))
			sn := -p / (t * cs)
			if sigma < 0 {
				sn = -sn
			}
			rotateBlock(n, h, zt, k, cs, sn)
		}
		mean := float64(h[k*n+k]/2) + float64(h[(k+1)*n+k+1]/2)
		h[k*n+k], h[(k+1)*n+k+1] = mean, mean
		b, c = h[k*n+k+1], h[(k+1)*n+k]
		if b != 0 && c != 0 && (b > 0) != (c > 0) {
			return
		}
		if c == 0 {
			return
		}
		p, s = 0, max(math.Abs(b), math.Abs(c))
		disc = float64(b / s * c)
	}
	z := p + math.Copysign(math.Sqrt(s)*math.Sqrt(disc), p)
	t := length(z, c)
	rotateBlock(n, h, zt, k, z/t, c/t)
	h[(k+1)*n+k] = 0
}

// rotateBlock applies a rotation to rows and columns k and k+1.
func rotateBlock(n int, h, zt []float64, k int, c, s float64) {
	rotate(h[k*n+k:(k+1)*n], h[(k+1)*n+k:(k+2)*n], c, s)
	for i := range k + 2 {
		x, y := h[i*n+k], h[i*n+k+1]
		h[i*n+k], h[i*n+k+1] = float64(c*x)+float64(s*y), float64(c*y)-float64(s*x)
	}
	if zt != nil {
		rotate(zt[k*n:(k+1)*n], zt[(k+1)*n:(k+2)*n], c, s)
	}
}

// singleShift reduces the complex Hessenberg matrix h to upper triangular form by implicit shifts.
// The rows of zt, the columns of Z, are transformed along. Source: Golub and Van Loan, 7.5.
func singleShift(n int, h, zt []complex128) bool {
	norm := largest(h)
	for hi, iteration := n-1, 0; hi > 0; {
		lo := activeBlock(n, h, hi, norm)
		if lo == hi {
			hi, iteration = hi-1, 0
			continue
		}
		if iteration++; iteration > 30*max(10, n) {
			return false
		}
		shift := h[hi*n+hi]
		if iteration%10 == 0 {
			shift += complex(float64(0.75*math.Abs(real(h[hi*n+hi-1]))), float64(0.5*math.Abs(imag(h[hi*n+hi-1]))))
		} else if f := times(h[hi*n+hi-1], h[(hi-1)*n+hi]); f != 0 {
			// The eigenvalue of the last 2x2 block that is next to its last element.
			p := (h[(hi-1)*n+hi-1] - shift) / 2
			root := squareRoot(times(p, p) + f)
			if real(p)*real(root) < -(imag(p) * imag(root)) {
				root = -root
			}
			shift -= fma.Quotient(f, p+root)
		}
		x, y := h[lo*n+lo]-shift, h[(lo+1)*n+lo]
		for k := lo; k < hi; k++ {
			if k > lo {
				x, y = h[k*n+k-1], h[(k+1)*n+k-1]
			}
			c, s := givens(x, y)
			from := max(k-1, lo)
			rotateComplex(h[k*n+from:(k+1)*n], h[(k+1)*n+from:(k+2)*n], c, s)
			if k > lo {
				h[(k+1)*n+k-1] = 0
			}
			t := complex(real(s), -imag(s))
			for i := range min(k+2, hi) + 1 {
				rotateComplex(h[i*n+k:i*n+k+1], h[i*n+k+1:i*n+k+2], c, t)
			}
			if zt != nil {
				rotateComplex(zt[k*n:(k+1)*n], zt[(k+1)*n:(k+2)*n], c, t)
			}
		}
	}
	return true
}

// givens returns c and s such that -conj(s)*x + c*y = 0 and c^2 + |s|^2 = 1.
func givens(x, y complex128) (c float64, s complex128) {
	ax, ay := modulus(x), modulus(y)
	r := length(ax, ay)
	switch {
	case r == 0 || ay == 0:
		return 1, 0
	case ax == 0:
		return 0, complex(real(y)/ay, -imag(y)/ay)
	}
	return ax / r, times(complex(real(x)/ax, imag(x)/ax), complex(real(y)/r, -imag(y)/r))
}

// rotateComplex replaces x by c*x + s*y and y by c*y - conj(s)*x.
func rotateComplex(x, y []complex128, c float64, s complex128) {
	y = y[:len(x)]
	t := complex(-real(s), imag(s))
	for i, a := range x {
		b := y[i]
		x[i] = complex(float64(c*real(a)), float64(c*imag(a))) + times(s, b)
		y[i] = complex(float64(c*real(b)), float64(c*imag(b))) + times(t, a)
	}
}

// squareRoot is the principal square root, with rounded products.
func squareRoot(a complex128) complex128 {
	x, y := real(a), imag(a)
	if x == 0 && y == 0 {
		return complex(0, y)
	}
	r := length(x, y)
	if x >= 0 {
		t := math.Sqrt(float64(r/2) + float64(x/2))
		return complex(t, y/(2*t))
	}
	t := math.Sqrt(float64(r/2) - float64(x/2))
	return complex(math.Abs(y)/(2*t), math.Copysign(t, y))
}
