package eigen

// Hessenberg reduces the n x n matrix a to Hessenberg form, Q^H*A*Q, in place. Unless q is nil it
// stores Q there. Source: Golub and Van Loan, 7.4.
func Hessenberg[T number](m *Machine, n int, a, q []T) {
	if n == 0 {
		return
	}
	var r *reflections[T]
	if n > 2 {
		r = &reflections[T]{v: make([]T, (n-2)*n), tau: make([]T, n-2), dim: n, shift: 1}
		y, row := make([]T, n), make([]T, n)
		for j := range n - 2 {
			v := r.v[j*n : (j+1)*n]
			for i := j + 1; i < n; i++ {
				v[i] = a[i*n+j]
			}
			x := v[j+1:]
			beta, tau := reflector(x)
			r.tau[j] = tau
			// From the left: A -= conj(tau)*v*(v^H*A), on the columns behind j.
			clear(row[j+1:])
			for i := j + 1; i < n; i++ {
				add(row[j+1:], conj(v[i]), a[i*n+j+1:(i+1)*n])
			}
			for i := j + 1; i < n; i++ {
				add(a[i*n+j+1:(i+1)*n], -mul(conj(tau), v[i]), row[j+1:])
			}
			// From the right: A -= tau*(A*v)*v^H.
			gemv(m, y, a[j+1:], n, x)
			copy(row[j+1:], x)
			conjugate(row[j+1:])
			for i := range n {
				add(a[i*n+j+1:(i+1)*n], -mul(tau, y[i]), row[j+1:])
			}
			a[(j+1)*n+j] = of[T](beta)
			for i := j + 2; i < n; i++ {
				a[i*n+j] = of[T](0)
			}
		}
	}
	if q == nil {
		return
	}
	clear(q)
	for i := range n {
		q[i*n+i] = of[T](1)
	}
	if r != nil {
		r.apply(m, q, n) // rows of q are columns of Q: transpose
		for i := range n {
			for j := range i {
				q[i*n+j], q[j*n+i] = q[j*n+i], q[i*n+j]
			}
		}
	}
}

// ScaledHessenberg is [Hessenberg] for matrices with elements of any size.
func ScaledHessenberg[T number](m *Machine, n int, a, q []T) {
	exponent := scaleOf(largest(a))
	ldexp(a, exponent)
	Hessenberg(m, n, a, q)
	ldexp(a, -exponent)
}
