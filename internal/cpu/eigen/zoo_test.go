package eigen

import (
	"math"
	"math/rand/v2"
	"testing"

	"weft/internal/jit"
)

var machine = &Machine{ISA: jit.ISAs()[len(jit.ISAs())-1]}

// A named matrix of the tests.
type sample[T number] struct {
	name string
	n    int
	a    []T
}

func random[T number](r *rand.Rand, n int) []T {
	a := make([]T, n)
	for i := range a {
		switch p := any(&a[i]).(type) {
		case *float64:
			*p = r.NormFloat64()
		case *complex128:
			*p = complex(r.NormFloat64(), r.NormFloat64())
		}
	}
	return a
}

// zoo returns square matrices on which algorithms for eigenvalues fail when they are wrong.
func zoo[T number]() []sample[T] {
	r := rand.New(rand.NewPCG(1, 2))
	var list []sample[T]
	put := func(name string, n int, f func(i, j int) T) {
		a := make([]T, n*n)
		for i := range n {
			for j := range n {
				a[i*n+j] = f(i, j)
			}
		}
		list = append(list, sample[T]{name, n, a})
	}
	num := func(x float64) T { return of[T](x) }
	for _, n := range []int{1, 2, 3, 4, 5, 8, 13, 31, 50, 100, 131} {
		list = append(list, sample[T]{"random", n, random[T](r, n*n)})
	}
	for _, n := range []int{1, 7, 60} {
		put("zero", n, func(i, j int) T { return 0 })
		put("identity", n, func(i, j int) T { return num(float64(bool2(i == j))) })
		put("ones", n, func(i, j int) T { return num(1) })
	}
	for _, n := range []int{12, 60} {
		put("graded", n, func(i, j int) T { return mul(random[T](r, 1)[0], num(math.Pow(10, -float64(i+j)))) })
		put("hilbert", n, func(i, j int) T { return num(1 / float64(i+j+1)) })
		put("jordan", n, func(i, j int) T { return num(float64(bool2(i == j || j == i+1))) })
		put("cycle", n, func(i, j int) T { return num(float64(bool2((i+1)%n == j))) })
		put("shift", n, func(i, j int) T { return num(float64(bool2(i+1 == j))) })
		put("block", n, func(i, j int) T { return num(float64(bool2(i/2 == j/2)) * float64(1+i%2)) })
	}
	put("wilkinson", 21, func(i, j int) T {
		switch {
		case i == j:
			return num(math.Abs(float64(i - 10)))
		case i == j+1 || j == i+1:
			return num(1)
		}
		return 0
	})
	put("frank", 12, func(i, j int) T {
		if j < i-1 {
			return 0
		}
		return num(float64(12 - max(i, j)))
	})
	u := random[T](r, 40*3)
	put("rank three", 40, func(i, j int) T {
		var s T
		for k := range 3 {
			s += mul(u[i*3+k], conj(u[j*3+k]))
		}
		return s
	})
	for _, n := range []int{3, 5, 20} {
		for _, size := range []float64{1e-3, 1e-6, 1e-9, 1e-13} {
			put("near the identity", n, func(i, j int) T {
				return num(float64(bool2(i == j))) + mul(random[T](r, 1)[0], num(size))
			})
		}
	}
	put("huge", 9, func(i, j int) T { return mul(random[T](r, 1)[0], num(1e300)) })
	put("tiny", 9, func(i, j int) T { return mul(random[T](r, 1)[0], num(1e-300)) })
	return list
}

func bool2(b bool) int {
	if b {
		return 1
	}
	return 0
}

func times3[T number](n, k, m int, a, b []T) []T {
	c := make([]T, n*m)
	for i := range n {
		for p := range k {
			for j := range m {
				c[i*m+j] += mul(a[i*k+p], b[p*m+j])
			}
		}
	}
	return c
}

func adjoint[T number](n, m int, a []T) []T {
	b := make([]T, n*m)
	for i := range n {
		for j := range m {
			b[j*n+i] = conj(a[i*m+j])
		}
	}
	return b
}

func difference[T number](a, b []T) float64 {
	d := 0.0
	for i := range a {
		if e := abs(a[i] - b[i]); e > d || e != e {
			d = e
		}
	}
	return d
}

// checkUnitary checks that the columns of the n x k matrix u are orthonormal.
func checkUnitary[T number](t *testing.T, what string, n, k int, u []T) {
	t.Helper()
	p := times3(k, n, k, adjoint(n, k, u), u)
	for i := range k {
		p[i*k+i] -= of[T](1)
	}
	if d := largest(p); !(d <= 8*epsilon*float64(n+4)) {
		t.Errorf("%s: orthogonal up to %.3g eps*n", what, d/epsilon/float64(n))
	}
}

func TestHermitianResiduals(t *testing.T) {
	testHermitian[float64](t)
	testHermitian[complex128](t)
}

func testHermitian[T number](t *testing.T) {
	for _, s := range zoo[T]() {
		n := s.n
		a := make([]T, n*n)
		for i := range n {
			for j := range n {
				a[i*n+j] = mul(of[T](0.5), s.a[i*n+j]) + mul(of[T](0.5), conj(s.a[j*n+i]))
			}
		}
		w, w2, v := make([]float64, n), make([]float64, n), make([]T, n*n)
		if !Hermitian(machine, n, append([]T(nil), a...), w, v) || !Hermitian(machine, n, append([]T(nil), a...), w2, nil) {
			t.Errorf("%s %d: not converged", s.name, n)
			continue
		}
		checkUnitary(t, s.name, n, n, v)
		norm := frobenius(a)
		av := times3(n, n, n, a, v)
		vw := append([]T(nil), v...)
		for i := range n {
			for j := range n {
				vw[i*n+j] = mul(vw[i*n+j], of[T](w[j]))
			}
		}
		if d := difference(av, vw) / norm; !(d <= 8*epsilon*float64(n+4)) {
			t.Errorf("%T %s %d: residual %.3g eps*n", a, s.name, n, d/epsilon/float64(n))
		}
		for i := range n {
			if i > 0 && w[i] < w[i-1] {
				t.Errorf("%s %d: not ascending", s.name, n)
			}
			if d := math.Abs(w[i]-w2[i]) / norm; d > 8*epsilon*float64(n) {
				t.Errorf("%s %d: values alone differ by %.3g", s.name, n, d)
			}
		}
	}
}

func TestSingularResiduals(t *testing.T) {
	testSingular[float64](t)
	testSingular[complex128](t)
}

func testSingular[T number](t *testing.T) {
	for _, s := range zoo[T]() {
		for _, shape := range [][2]int{{s.n, s.n}, {s.n, (s.n + 1) / 2}, {(s.n + 2) / 3, s.n}} {
			rows, cols := shape[0], shape[1]
			a := make([]T, rows*cols)
			for i := range rows {
				copy(a[i*cols:(i+1)*cols], s.a[i*s.n:])
			}
			k := min(rows, cols)
			v, v2 := make([]float64, k), make([]float64, k)
			u, vh := make([]T, rows*rows), make([]T, cols*cols)
			if !Singular(machine, rows, cols, append([]T(nil), a...), v, u, rows, vh, cols) ||
				!Singular(machine, rows, cols, append([]T(nil), a...), v2, nil, 0, nil, 0) {
				t.Errorf("%s %v: not converged", s.name, shape)
				continue
			}
			checkUnitary(t, s.name+" u", rows, rows, u)
			checkUnitary(t, s.name+" v", cols, cols, vh)
			norm := frobenius(a)
			usv := make([]T, rows*cols)
			for i := range rows {
				for p := range k {
					for j := range cols {
						usv[i*cols+j] += mul(mul(u[i*rows+p], of[T](v[p])), vh[p*cols+j])
					}
				}
			}
			if d := difference(a, usv) / norm; !(d <= 8*epsilon*float64(s.n+4)) {
				t.Errorf("%T %s %v: residual %.3g eps*n", a, s.name, shape, d/epsilon/float64(s.n))
			}
			for i := range k {
				if i > 0 && v[i] > v[i-1] {
					t.Errorf("%s %v: not descending", s.name, shape)
				}
				if d := math.Abs(v[i]-v2[i]) / norm; d > 8*epsilon*float64(s.n) {
					t.Errorf("%s %v: values alone differ by %.3g", s.name, shape, d)
				}
			}
		}
	}
}

func TestSchurResiduals(t *testing.T) {
	testSchur[float64](t)
	testSchur[complex128](t)
}

func testSchur[T number](t *testing.T) {
	_, isComplex := any(make([]T, 0)).([]complex128)
	for _, s := range zoo[T]() {
		n := s.n
		f, z := append([]T(nil), s.a...), make([]T, n*n)
		if !Schur(machine, n, f, z) {
			t.Errorf("%s %d: not converged", s.name, n)
			continue
		}
		checkUnitary(t, s.name, n, n, z)
		back := times3(n, n, n, times3(n, n, n, z, f), adjoint(n, n, z))
		if d := difference(back, s.a) / frobenius(s.a); !(d <= 8*epsilon*float64(n+4)) {
			t.Errorf("%T %s %d: residual %.3g eps*n", s.a, s.name, n, d/epsilon/float64(n))
		}
		for i := range n {
			for j := range i {
				x := f[i*n+j]
				if x == 0 {
					continue
				}
				if isComplex || j < i-1 || i > 1 && f[(i-1)*n+i-2] != 0 || f[(i-1)*n+i-1] != f[i*n+i] || re(x) > 0 == (re(f[j*n+i]) > 0) {
					t.Errorf("%T %s %d: %d,%d is not of a Schur form", s.a, s.name, n, i, j)
				}
			}
		}
	}
}

func TestGeneralResiduals(t *testing.T) {
	testGeneral[float64](t)
	testGeneral[complex128](t)
}

func testGeneral[T number](t *testing.T) {
	for _, s := range zoo[T]() {
		n := s.n
		w, w2, v := make([]complex128, n), make([]complex128, n), make([]complex128, n*n)
		if !General(machine, n, append([]T(nil), s.a...), w, v) || !General(machine, n, append([]T(nil), s.a...), w2, nil) {
			t.Errorf("%s %d: not converged", s.name, n)
			continue
		}
		a := make([]complex128, n*n)
		for i, x := range s.a {
			switch x := any(x).(type) {
			case float64:
				a[i] = complex(x, 0)
			case complex128:
				a[i] = x
			}
		}
		av := times3(n, n, n, a, v)
		norm := frobenius(s.a)
		for k := range n {
			size := 0.0
			for i := range n {
				av[i*n+k] -= v[i*n+k] * w[k]
				size += real(v[i*n+k])*real(v[i*n+k]) + imag(v[i*n+k])*imag(v[i*n+k])
			}
			if math.Abs(size-1) > 1e-14 {
				t.Errorf("%s %d: vector %d has the squared norm %v", s.name, n, k, size)
			}
			if d := modulus(w[k]-w2[k]) / norm; d > 8*epsilon*float64(n) && s.name == "random" {
				t.Errorf("%s %d: values alone differ by %.3g", s.name, n, d)
			}
		}
		if d := largest(av) / norm; !(d <= 16*epsilon*float64(n+4)) {
			t.Errorf("%T %s %d: residual %.3g eps*n", s.a, s.name, n, d/epsilon/float64(n))
		}
	}
}

// frobenius is the norm, not 0.
func frobenius[T number](a []T) float64 {
	m := largest(a)
	if m == 0 {
		return 1
	}
	b := append([]T(nil), a...)
	e := scaleOf(m)
	ldexp(b, e)
	return math.Ldexp(math.Sqrt(square(b)), -e)
}
