package gokernel_test

import (
	"math"
	"reflect"
	"testing"
)

// TestBessel compares with Go's functions, whose error next to zeros is the error of numbers
// around 1.
func TestBessel(t *testing.T) {
	f := kernelOf(t, `import "math"`, `func F(x float64, n int32) (float64, float64, float64, float64, float64, float64) {
	return math.J0(x), math.J1(x), math.Y0(x), math.Y1(x), math.Jn(int(n), x), math.Yn(int(n), x)
}`)
	args := randomArgs(reflect.FuncOf([]reflect.Type{reflect.TypeOf(0.0), reflect.TypeOf(int32(0))}, nil, false), 2000, 5)
	x, n := args[0].Interface().([]float64), args[1].Interface().([]int32)
	for i := range x {
		n[i] = n[i]%60 - 5
		if i%2 == 0 {
			x[i] = float64(i) * 0.05
		}
	}
	evaluate(t, f, args, func(backend string, out columns) {
		for i := range x {
			for k, want := range []float64{math.J0(x[i]), math.J1(x[i]), math.Y0(x[i]), math.Y1(x[i]), math.Jn(int(n[i]), x[i]), math.Yn(int(n[i]), x[i])} {
				got := out[k].Index(i).Float()
				if got == want || got != got && want != want || math.Abs(x[i]) > 1e6 || math.Abs(x[i]) < 1e-307 { // Go's logarithm of subnormal numbers is wrong on amd64
					continue
				}
				if k == 5 && math.Abs(want) > 1e300 || k == 4 && x[i] < 1e-3 {
					continue // next to overflow and underflow
				}
				tol := 2e-14 * math.Abs(want)
				if k < 4 || math.Abs(x[i]) > math.Abs(float64(n[i])) {
					tol += 4e-15 * (1 + math.Sqrt(math.Abs(x[i])))
				}
				if k >= 4 {
					tol *= 40
				}
				if !(math.Abs(got-want) <= tol) {
					t.Fatalf("on %s: result %d of %v, %d is %v, as Go %v", backend, k, x[i], n[i], got, want)
				}
			}
		}
	})
}
