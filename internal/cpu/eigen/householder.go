package eigen

import (
	"math"

	"weft/internal/fma"
)

// reflector makes the Householder reflection H = I - tau*v*v^H whose H^H maps x to beta*e1 with
// real beta. It replaces x by v, whose first element is 1. Source: Golub and Van Loan, Matrix
// Computations, 4th edition, 5.1; the complex form is that of Lehoucq, "The computation of
// elementary unitary matrices", 1996.
func reflector[T number](x []T) (beta float64, tau T) {
	var zero T
	if len(x) == 0 {
		return 0, zero
	}
	alpha, rest := x[0], square(x[1:])
	x[0] = of[T](1)
	imaginary := abs(alpha - of[T](re(alpha)))
	if float64(re(alpha)*re(alpha))+float64(imaginary*imaginary)+rest < leastSquare {
		x[0] = alpha
		return tinyReflector(x)
	}
	if rest == 0 && imaginary == 0 {
		clear(x[1:])
		return re(alpha), zero
	}
	beta = -math.Copysign(math.Sqrt(float64(re(alpha)*re(alpha))+float64(imaginary*imaginary)+rest), re(alpha))
	b := of[T](beta)
	tau = divide(b-alpha, b)
	scale(x[1:], divide(of[T](1), alpha-b))
	return beta, tau
}

// leastSquare is the sum of squares below which underflow may have taken digits from it.
const leastSquare = 0x1p-900

// tinyReflector is reflector for elements whose squares may underflow.
func tinyReflector[T number](x []T) (beta float64, tau T) {
	exponent := scaleOf(largest(x))
	if exponent == 0 {
		x[0] = of[T](1)
		return 0, tau
	}
	ldexp(x, exponent)
	beta, tau = reflector(x)
	return math.Ldexp(beta, -exponent), tau
}

func divide[T number](a, b T) T {
	if x, ok := any(a).(complex128); ok {
		return any(fma.Quotient(x, any(b).(complex128))).(T)
	}
	return a / b
}

// reflect applies I - tau*v*v^H to z.
func reflect[T number](z, v []T, tau T) {
	add(z, -mul(tau, dot(v, z)), v)
}

// blockOf is the number of reflections that are applied together.
const blockOf = 32

// A reflections is a product H0*H1*... of Householder reflections I - tau*v*v^H.
type reflections[T number] struct {
	v   []T // one vector a row; vector i is zero before element i+shift
	tau []T
	dim int
	// shift is the index of the first element of vector 0 that is not zero.
	shift int
	free  func() // gives the memory of v back
}

// newReflections returns count reflections of vectors that are zero.
func newReflections[T number](count, dim, shift int) *reflections[T] {
	v, free := scratch[T](count * dim)
	clear(v)
	return &reflections[T]{v: v, tau: make([]T, count), dim: dim, shift: shift, free: free}
}

// apply multiplies each row of z, a vector of length dim, by the product of the reflections.
// Rows i of z that are zero before element i may pass identity, which saves work: then z is
// square and starts as the identity.
func (r *reflections[T]) apply(m *Machine, z []T, rows int) {
	n, count := r.dim, len(r.tau)
	if count == 0 || rows == 0 {
		return
	}
	if rows < smallest || count < smallest/2 {
		for k := range rows {
			row := z[k*n : (k+1)*n]
			for j := count - 1; j >= 0; j-- {
				from := j + r.shift
				reflect(row[from:], r.v[j*n+from:(j+1)*n], r.tau[j])
			}
		}
		return
	}
	for at := (count - 1) / blockOf * blockOf; at >= 0; at -= blockOf {
		r.applyBlock(m, z, rows, at, min(at+blockOf, count))
	}
}

// applyBlock applies the reflections from to end, as I - V*T*V^H with the compact representation
// of Schreiber and Van Loan, "A storage-efficient WY representation for products of Householder
// transformations", SIAM J. Sci. Stat. Comput. 10, 1989.
func (r *reflections[T]) applyBlock(m *Machine, z []T, rows, from, end int) {
	n, k := r.dim, end-from
	lo := from + r.shift
	w := n - lo
	v := r.v[from*n+lo:]
	buffer, free := scratch[T](k*w + 2*rows*k + rows*w)
	defer free()
	c, s, u, p := buffer[:k*w], buffer[k*w:][:rows*k], buffer[k*w+rows*k:][:rows*k], buffer[k*w+2*rows*k:]
	for j := range k {
		copy(c[j*w:(j+1)*w], v[j*n:j*n+w])
	}
	conjugate(c)
	t := make([]T, k*k)
	g := make([]T, k*k) // products of the vectors
	gemm(m, k, k, w, mat[T]{c, w, 1}, mat[T]{v, 1, n}, g)
	for j := range k {
		tau := r.tau[from+j]
		t[j*k+j] = tau
		for i := range j {
			t[i*k+j] = g[i*k+j]
		}
		for i := range j {
			var s T
			for p := i; p < j; p++ {
				s += mul(t[i*k+p], t[p*k+j])
			}
			t[i*k+j] = -mul(tau, s)
		}
	}
	// s = z * conj(V): rows x k. Then z -= s * T^T * V^T.
	gemm(m, rows, k, w, mat[T]{z[lo:], n, 1}, mat[T]{c, 1, w}, s)
	gemm(m, rows, k, k, mat[T]{s, k, 1}, mat[T]{t, 1, k}, u)
	gemm(m, rows, w, k, mat[T]{u, k, 1}, mat[T]{v, n, 1}, p)
	one := []T{of[T](1)}
	for i := range rows {
		subtractRows(m, z[i*n+lo:(i+1)*n], one, p[i*w:(i+1)*w], w)
	}
}
