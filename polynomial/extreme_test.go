package polynomial_test

import (
	"errors"
	"math"
	"testing"

	"weft"
	"weft/polynomial"
)

func TestHugeDegreesGiveErrors(t *testing.T) {
	x := weft.FromSlice([]float64{1, 2})
	for name, f := range map[string]func(){
		"power":          func() { polynomial.Pow(x, 1<<62) },
		"degree":         func() { polynomial.Fit(x, x, 1<<62) },
		"greatest":       func() { polynomial.Fit(x, x, math.MaxInt) },
		"more than here": func() { polynomial.Fit(x, x, 1<<45) },
	} {
		var typed *weft.Error
		if err := weft.Try(f); !errors.As(err, &typed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The table of all products of these would have 10^10 elements. Coefficients of 1 + x + ... squared ascend to
// the middle and descend.
func TestMulOfManyCoefficients(t *testing.T) {
	const n, m = 100000, 3
	batch := weft.FromSlice([]float64{1, 0, 2, 1, 1, 1}, 2, m)
	y := polynomial.Mul(weft.OnesOf(weft.Float64, 1, n), batch)
	for row, want := range [][]float64{{1, 1, 3, 3, 2, 2}, {1, 2, 3, 3, 2, 1}} {
		v := weft.Data[float64](y)[row*(n+m-1):][:n+m-1]
		for i, at := range []int{0, 1, 2, n - 1, n, n + 1} {
			if v[at] != want[i] {
				t.Errorf("row %d: coefficient %d is %v, want %v", row, at, v[at], want[i])
			}
		}
	}
	const k = 5000
	v := weft.Data[float64](polynomial.Mul(weft.OnesOf(weft.Float64, k), weft.OnesOf(weft.Float64, k)))
	for i, c := range v {
		if want := float64(min(i+1, 2*k-1-i)); c != want {
			t.Fatalf("coefficient %d is %v, want %v", i, c, want)
		}
	}
}

func TestErrorsNameArguments(t *testing.T) {
	good, flat, nan := weft.FromSlice([]float64{1, 2, 3}), weft.FromSlice([]float64{1, 2, 0}), weft.FromSlice([]float64{1, math.NaN(), 2})
	both := func(x *weft.Tensor) *weft.Tensor { return weft.Stack([]*weft.Tensor{good, x}, 0) }
	for want, f := range map[string]func(){
		"polynomial.div: c2: polynomial has a last coefficient of 0":                                 func() { polynomial.Div(good, flat) },
		"polynomial.div: c2: polynomial [1] has a last coefficient of 0":                             func() { polynomial.Div(both(good), both(flat)) },
		"polynomial.roots: c: polynomial has a last coefficient of 0, or one that is not finite":     func() { polynomial.Roots(flat) },
		"polynomial.roots: c: polynomial [1] has a last coefficient of 0, or one that is not finite": func() { polynomial.Roots(both(nan)) },
		"polynomial.fit: x: has powers, or weights, that are not finite":                             func() { polynomial.Fit(nan, good, 1) },
	} {
		if err := weft.Try(f); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
