package fft

import "unsafe"

// A chirp transforms rows of any length n as a convolution: with c[k] = exp(-i pi k*k/n),
//
//	y[k] = c[k] times the sum of (x[j] c[j]) times the conjugate of c[k-j]
type chirp struct {
	long    *plan          // of at least 2n-1
	c       unsafe.Pointer // n factors
	filters unsafe.Pointer // the transform of the conjugates, over the long length
}

// NextFast returns the least length from n on whose prime factors are 2, 3 and 5, for which transforms
// are fast.
func NextFast(n int) int {
	for best := max(n, 1); ; best++ {
		m := best
		for _, f := range []int{2, 3, 5} {
			for m%f == 0 {
				m /= f
			}
		}
		if m == 1 {
			return best
		}
	}
}

// longLength is the length of a chirp's convolution: a power of two, or three or five times one.
func longLength(n int) int {
	best := 0
	for _, f := range []int{1, 3, 5} {
		m := 16 * f
		for m < n {
			m *= 2
		}
		if best == 0 || m < best {
			best = m
		}
	}
	return best
}

func newChirp(p *plan) *chirp {
	n := p.n
	w := roots(2 * n)
	m := longLength(2*n - 1)
	c := make([]float64, 2*n)
	around := make([]float64, 2*m)
	square := 0 // k*k modulo 2n
	for k := range n {
		c[2*k], c[2*k+1] = w[2*square], w[2*square+1]
		for _, at := range []int{k, (m - k) % m} {
			around[2*at], around[2*at+1] = c[2*k], -c[2*k+1]
		}
		square = (square + 2*k + 1) % (2 * n)
	}
	filters := make([]float64, 2*m)
	Transform{ISA: p.isa, Size: 8, N: m, Scale: 1 / float64(m)}.Rows(unsafe.Pointer(&filters[0]), unsafe.Pointer(&around[0]), 1, 16*m, 16*m)
	h := &chirp{long: planFor(p.isa, p.size, m), c: p.table(c), filters: p.table(filters)}
	p.bytes += h.long.bytes
	return h
}

func (h *chirp) row(p *plan, t Transform, dst, src unsafe.Pointer, s *scratch) {
	if p.size == 4 {
		chirpRow[float32](h, p, t, dst, src, s)
	} else {
		chirpRow[float64](h, p, t, dst, src, s)
	}
}

func chirpRow[T float](h *chirp, p *plan, t Transform, dst, src unsafe.Pointer, s *scratch) {
	n, m := p.n, h.long.n
	whole := pool.Get().(*scratch)
	defer pool.Put(whole)
	memory := whole.at(4 * m * p.size)
	numbers := func(at unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(at), 2*n) }
	x, z := numbers(memory, m), numbers(unsafe.Add(memory, 2*m*p.size), m)
	c, filters := numbers(h.c, n), numbers(h.filters, m)
	in, out := numbers(src, n), numbers(dst, n)
	re, im := 0, 1
	if t.Inverse {
		re, im = 1, 0
	}
	for k := 0; k < 2*n; k += 2 {
		x[k], x[k+1] = times(in[k+re], in[k+im], c[k], c[k+1])
	}
	clear(x[2*n:])
	h.long.alone(Transform{}, unsafe.Pointer(&z[0]), unsafe.Pointer(&x[0]), s)
	for k := 0; k < 2*m; k += 2 {
		z[k], z[k+1] = times(z[k], z[k+1], filters[k], filters[k+1])
	}
	h.long.alone(Transform{Inverse: true}, unsafe.Pointer(&x[0]), unsafe.Pointer(&z[0]), s)
	for k := 0; k < 2*n; k += 2 {
		a, b := times(x[k], x[k+1], c[k], c[k+1])
		if t.Scale != 0 {
			a, b = a*T(t.Scale), b*T(t.Scale)
		}
		out[k+re], out[k+im] = a, b
	}
}

// times multiplies complex numbers. All products are rounded.
func times[T float](a, b, c, d T) (re, im T) { return T(a*c) - T(b*d), T(a*d) + T(b*c) }
