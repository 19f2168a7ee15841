package eigen

import (
	"math"

	"weft/internal/par"
)

// A secular is the equation 1 + sum of weights[i]/(p(i)-x) = 0 of a rank-one update of a diagonal
// matrix, whose roots are separated by the poles p. Poles and roots are d[i] and x; if squared is set
// they are d[i]^2 and x^2, all not negative, as singular values need. d ascends strictly.
//
// A root is held as a distance from the nearest pole, so that its differences from all poles have
// small relative errors. Sources: Gu and Eisenstat, "A divide-and-conquer algorithm for the symmetric
// tridiagonal eigenproblem", SIAM J. Matrix Anal. 16, 1995, and "... for the bidiagonal SVD",
// the same volume; Li, "Solving secular equations stably and efficiently", LAPACK Working Note 89,
// 1993.
type secular struct {
	d, weights []float64
	squared    bool
}

// differences stores p(i)-x for the root at distance tau from d[k].
func (s *secular) differences(to []float64, k int, tau float64) {
	o := s.d[k]
	if s.squared {
		for i, p := range s.d {
			to[i] = ((p - o) - tau) * (p + o + tau)
		}
		return
	}
	for i, p := range s.d {
		to[i] = (p - o) - tau
	}
}

// A secularSum is the value of the equation and of its derivative, split at a pole.
type secularSum struct {
	psi, phi, dpsi, dphi float64
}

// evaluate sums the terms up to pole j and those behind.
func (s *secular) evaluate(delta []float64, j int) (v secularSum) {
	for i := 0; i <= j; i++ {
		r := 1 / delta[i]
		t := float64(s.weights[i] * r)
		v.psi += t
		v.dpsi += float64(t * r)
	}
	for i := len(delta) - 1; i > j; i-- {
		r := 1 / delta[i]
		t := float64(s.weights[i] * r)
		v.phi += t
		v.dphi += float64(t * r)
	}
	return v
}

// solve computes root j, in ascending order, as d[k] + tau. It stores the differences of all poles from it.
func (s *secular) solve(j int, delta []float64) (k int, tau float64) {
	n := len(s.d)
	k = j
	if n == 1 {
		tau = s.step(0, 0, s.weights[0])
		s.differences(delta, 0, tau)
		return 0, tau
	}
	var lo, hi float64
	if j == n-1 {
		for _, w := range s.weights {
			hi += w
		}
		if s.squared {
			hi /= s.d[j] + math.Sqrt(float64(s.d[j]*s.d[j])+hi)
		}
		hi += float64(4 * epsilon * hi)
		tau = hi / 2
	} else {
		half := float64((s.d[j+1] - s.d[j]) / 2)
		s.differences(delta, j, half)
		v := s.evaluate(delta, j)
		if 1+v.psi+v.phi >= 0 {
			hi = half
		} else {
			k, lo = j+1, -half
		}
		tau = (lo + hi) / 2
	}
	// The poles whose model is interpolated: those beside the root.
	left, right := j, j+1
	if j == n-1 {
		left, right = j-1, j
	}
	split := left
	for range 100 {
		s.differences(delta, k, tau)
		v := s.evaluate(delta, split)
		f := 1 + v.psi + v.phi
		if math.Abs(f) <= 2*epsilon*(1+math.Abs(v.psi)+math.Abs(v.phi)) {
			break
		}
		if f < 0 {
			lo = tau
		} else {
			hi = tau
		}
		next := (lo + hi) / 2
		if t := s.step(k, tau, middleWay(f, v, delta[left], delta[right], j == n-1)); t > lo && t < hi {
			next = t
		}
		if next == tau || next == lo || next == hi || math.Abs(hi-lo) <= epsilon/2*max(math.Abs(lo), math.Abs(hi)) {
			break
		}
		tau = next
	}
	s.differences(delta, k, tau)
	return k, tau
}

// step returns the distance from d[k] of the root estimate that lies eta behind the one at tau.
func (s *secular) step(k int, tau, eta float64) float64 {
	if !s.squared {
		return tau + eta
	}
	x := s.d[k] + tau
	r := float64(x*x) + eta
	if r < 0 {
		return math.Inf(-1)
	}
	return tau + eta/(x+math.Sqrt(r))
}

// middleWay returns the step to the root of c + s/(p-x) + t/(q-x) that has the value f and the
// derivatives of both parts, for poles at distances p and q. Source: Li, section 4.
func middleWay(f float64, v secularSum, p, q float64, last bool) float64 {
	a := float64((p+q)*f) - float64(float64(p*q)*(v.dpsi+v.dphi))
	b := float64(float64(p*q) * f)
	c := f - float64(p*v.dpsi) - float64(q*v.dphi)
	disc := math.Sqrt(math.Abs(float64(a*a) - float64(4*float64(b*c))))
	if last {
		if c = math.Abs(c); a >= 0 {
			return (a + disc) / (2 * c)
		}
		return 2 * b / (a - disc)
	}
	if a <= 0 {
		return (a - disc) / (2 * c)
	}
	return 2 * b / (a + disc)
}

// A merged is the solution of a secular equation, the roots in ascending order.
type merged struct {
	roots []float64
	// delta holds in row j the differences of all poles from root j.
	delta []float64
	z     []float64 // square roots of the weights for which the computed roots are exact
	free  func()    // gives the memory of delta back
}

// solveAll solves for all roots. The result has the signs of z.
func (s *secular) solveAll(m *Machine, z []float64) merged {
	n := len(s.d)
	r := merged{roots: make([]float64, n), z: make([]float64, n)}
	r.delta, r.free = scratch[float64](n * n)
	one := func(_, begin, end int) {
		for j := begin; j < end; j++ {
			k, tau := s.solve(j, r.delta[j*n:(j+1)*n])
			r.roots[j] = s.d[k] + tau
		}
	}
	m.spread(n, 5*n*n, one)
	// The weights whose exact roots are the computed ones (Loewner's formula).
	product := func(_, begin, end int) {
		for i := begin; i < end; i++ {
			p := math.Abs(r.delta[i*n+i])
			for j := range n {
				if j == i {
					continue
				}
				gap := s.d[j] - s.d[i]
				if s.squared {
					gap *= s.d[j] + s.d[i]
				}
				p *= math.Abs(r.delta[j*n+i] / gap)
			}
			r.z[i] = math.Copysign(math.Sqrt(p), z[i])
		}
	}
	m.spread(n, n*n, product)
	return r
}

// spread runs f over ranges of n items, on the threads of m if the work pays them.
func (m *Machine) spread(n, work int, f func(worker, begin, end int)) {
	if m.Threads == 1 || work < 1<<16 {
		f(0, 0, n)
		return
	}
	par.Run(n, max(1, n/32), m.Threads, f)
}
