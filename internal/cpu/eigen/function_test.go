package eigen

import (
	"math"
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

// TestExpOfTriangle demands digits of each element of the exponential of a real triangular matrix, below or above the
// diagonal, whose diagonal elements differ much. The values are mpmath's.
func TestExpOfTriangle(t *testing.T) {
	a := []float64{-40, 3, 1, 0, 0.5, 7, 0, 0, 30}
	want := []float64{4.2483542552915889953e-18, 0.12212750153334282538, 261339935286.64672927, 0, 1.6487212707001281468, 2535773629513.8879315, 0, 0, 10686474581524.462147}
	for _, lower := range []bool{false, true} {
		if lower {
			transpose(a, 3)
			transpose(want, 3)
		}
		x := make([]float64, 9)
		if !Exp(machine, 3, a, x) {
			t.Fatal("no exponential")
		}
		for i, w := range want {
			if !(math.Abs(x[i]-w) <= 8*epsilon*math.Abs(w)) {
				t.Errorf("lower %v, element %d: %v, want %v", lower, i, x[i], w)
			}
		}
	}
}
