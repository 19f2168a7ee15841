package eigen

import (
	"math/rand/v2"
	"testing"
)

// TestFunctionsInvert checks sqrt(a)^2 = a and exp(log a) = a for matrices away from the negative axis.
func TestFunctionsInvert(t *testing.T) {
	testFunctions[float64](t)
	testFunctions[complex128](t)
}

func testFunctions[T number](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 3, 6, 20, 70} {
		for _, size := range []float64{1e-8, 0.1, 3} {
			a := random[T](r, n*n)
			for i := range a {
				a[i] = mul(a[i], of[T](size))
			}
			a = times3(n, n, n, a, adjoint(n, n, a))
			for i := range n {
				a[i*n+i] += of[T](1)
				if i+1 < n {
					a[i*n+i+1] += of[T](0.7) // not normal
				}
			}
			x := make([]T, n*n)
			if trouble := Sqrt(machine, n, a, x); trouble != nil {
				t.Fatalf("sqrt of %d: %+v", n, trouble)
			}
			if d := difference(times3(n, n, n, x, x), a) / frobenius(a); d > 100*epsilon*float64(n+1) {
				t.Errorf("%T sqrt of %d, %g: off by %.3g", a, n, size, d)
			}
			l := make([]T, n*n)
			if trouble := Log(machine, n, a, l); trouble != nil {
				t.Fatalf("log of %d: %+v", n, trouble)
			}
			if !Exp(machine, n, l, x) {
				t.Fatalf("exp of %d", n)
			}
			if d := difference(x, a) / frobenius(a); d > 100*epsilon*float64(n+1) {
				t.Errorf("%T exp(log) of %d, %g: off by %.3g", a, n, size, d)
			}
		}
	}
}
