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

// TestExpOfComplexTriangle demands digits of the diagonal and of the elements beside it where diagonal elements differ much, are
// equal, and differ by near a period. The values are mpmath's.
func TestExpOfComplexTriangle(t *testing.T) {
	for _, c := range []struct{ a, want []complex128 }{
		{[]complex128{-40 + 3i, 3 - 1i, 1 + 2i, 0, 0.5 + 200i, 7, 0, 0, 30 - 5i},
			[]complex128{-4.2058388356392464108e-18 + 5.9952778674792024912e-19i, -0.023978024757072293481 - 0.009852772695029232556i, 0,
				0, 0.80323668260699184749 - 1.4398238295616446269i, -328223230400.52737665 + 150741592388.57098441i, 0, 0, 3031348734692.4452643 + 10247519886794.411069i}},
		{[]complex128{0.25 + 1i, 2 + 1i, 1i, 0, 0.25 + 1.5i, 3, 0, 0, 0.5 + 1e6i},
			[]complex128{0.69376189342968565147 + 1.0804701318986034959i, -0.40451192148757482311 + 2.8124116821711556911i, 0,
				0, 0.090828364846697030945 + 1.2808089158182041004i, -5.5735592124902790034e-6 - 4.3608523142406683047e-6i, 0, 0, 1.5444431580374949713 - 0.57704173163664217564i}},
		{[]complex128{0, 2 + 1i, 0, 0, 0x1p-30 + 0x1p-31i, 0, 0, 0, 0},
			[]complex128{1, 2.000000000698491931 + 1.000000000931322575i, 0, 0, 1.0000000009313225749 + 4.6566128774142012699e-10i, 0, 0, 0, 1}},
		{[]complex128{0.25 + 1.5i, 2 + 1i, 0, 0, 0.25 + 7.75i, 3, 0, 0, 300 + 2i},
			[]complex128{0.090828364846697030945 + 1.2808089158182041004i, 0.0056013791785401745093 - 0.01417780158336613421i, 0, 0, 0.13327459277828758461 + 1.2770901117853468689i, -8.4260820484009610644e+127 + 1.7515529598649442028e+128i, 0, 0, -8.0833459960531792914e+129 + 1.7662433229911585913e+130i}},
	} {
		for _, lower := range []bool{false, true} {
			if lower {
				transpose(c.a, 3)
				transpose(c.want, 3)
			}
			x := make([]complex128, 9)
			if !Exp(machine, 3, c.a, x) {
				t.Fatal("no exponential")
			}
			for i, w := range c.want {
				if w != 0 && !(modulus(x[i]-w) <= 16*epsilon*modulus(w)) {
					t.Errorf("lower %v, element %d: %v, want %v", lower, i, x[i], w)
				}
			}
		}
	}
}

// TestSinCos compares with values of mpmath.
func TestSinCos(t *testing.T) {
	for _, c := range [][3]float64{
		{0, 0, 1},
		{0.001, 0.00099999983333334168748, 0.99999950000004166667},
		{0.7, 0.64421768723769101971, 0.76484218728448845486},
		{3, 0.1411200080598672221, -0.98999249660044545727},
		{100, -0.50636564110975879366, 0.8623188722876839341},
		{10000000000, -0.48750602508751069153, 0.87311962267685600118},
		{1000000000000000, 0.85827279317023583552, -0.51319373778697025223},
		{-123456.789, 0.99866408234322452531, 0.051672532718701382663},
		{1125899906842623, -0.46227333401011552846, 0.88673748351085969296},
	} {
		if sin, cos := sinCos(c[0]); !(math.Abs(sin-c[1]) <= 2*epsilon && math.Abs(cos-c[2]) <= 2*epsilon) {
			t.Errorf("%v: %v and %v, want %v and %v", c[0], sin, cos, c[1], c[2])
		}
	}
}
