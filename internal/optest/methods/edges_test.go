package methods_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
)

// TestNanFormsBetweenInfinities: quantiles are infinite beside an infinity, and halves of the range do not overflow.
func TestNanFormsBetweenInfinities(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		x       []float64
		q, want float64
	}{
		{[]float64{-inf, 1, nan}, 0.25, -inf}, {[]float64{1, nan, inf}, 0.25, inf}, {[]float64{inf, nan, inf}, 0.5, inf},
		{[]float64{-1.7e308, nan, 1.7e308}, 0.5, 0}, {[]float64{-inf, inf}, 0.5, nan},
	} {
		if got := weft.FromSlice(c.x).NanQuantile(c.q).Item(); got != c.want && !(got != got && c.want != c.want) {
			t.Errorf("NanQuantile(%v) of %v is %v, want %v", c.q, c.x, got, c.want)
		}
	}
}

// TestNanFormsOfComplex: a complex number with a part that is NaN is left out, as in NumPy.
func TestNanFormsOfComplex(t *testing.T) {
	x := weft.FromSlice([]complex128{complex(math.NaN(), 1), 2i, 3})
	for i, c := range []struct {
		got  *weft.Tensor
		want complex128
	}{{x.NanSum(), 3 + 2i}, {x.NanProd(), 6i}} {
		if got := weft.Data[complex128](c.got)[0]; got != c.want {
			t.Errorf("case %d is %v, want %v", i, got, c.want)
		}
	}
}

// TestArrayMistakes: errors name the function and the argument.
func TestArrayMistakes(t *testing.T) {
	x := weft.FromSlice([]float64{1, 2})
	for want, f := range map[string]func(){
		"choose: t: has -1, want 0 to 1":                   func() { weft.From([]int{-1, 0}).Choose(tensors{x, x}) },
		"choose: t: has 2, want 0 to 1":                    func() { weft.From([]int{0, 2}).Choose(tensors{x, x}) },
		"nanpercentile: p: 150 is not":                     func() { x.NanPercentile(150) },
		"nanargmax: has no value where all elements are":   func() { weft.FromSlice([]float64{math.NaN(), 1, math.NaN(), math.NaN()}).Reshape(2, 2).NanArgMax(1) },
		"nanargmin: has no value where all elements ar":    func() { weft.Scalar(math.NaN()).NanArgMinKeep() },
		"eye: Columns: -1 is negative":                     func() { weft.Eye(2, weft.EyeOpts{Columns: new(-1)}) },
		"interp: Period: is -Inf, want":                    func() { weft.Ones(2).Interp(weft.Ones(2), weft.Ones(2), weft.InterpOpts{Period: new(math.Inf(-1))}) },
		"interp: Period: is 1e-50, which is 0 in float32":  func() { weft.Ones(2).Interp(weft.Ones(2), weft.Ones(2), weft.InterpOpts{Period: new(1e-50)}) },
		"interp: Period: is 0, want":                       func() { weft.Ones(2).Interp(weft.Ones(2), weft.Ones(2), weft.InterpOpts{Period: new(0.0)}) },
		`padmode: mode: "bogus" is not`:                    func() { weft.Scalar(1).PadMode("bogus") },
		"padmode: pads: surround axis 0, which has no":     func() { weft.Zeros(0).PadMode("linear_ramp", 1, 0) },
		"insert: places: 4 is out of range for axis 0 of ": func() { x.Insert(0, []int{4}, 1.) },
	} {
		err := weft.Try(f)
		if e := (*weft.Error)(nil); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// TestInterpGradientsBeyondEnds has queries that are not finite: they must not make gradients of ordinates NaN.
func TestInterpGradientsBeyondEnds(t *testing.T) {
	for q, want := range map[float64][]float64{math.Inf(-1): {1, 0, 0}, math.Inf(1): {0, 0, 1}, math.NaN(): {0, 0, 0}, 0.5: {0.5, 0.5, 0}} {
		y := weft.FromSlice([]float64{0, 10, 30}).RequireGrad()
		v := weft.FromSlice([]float64{q}).Interp(weft.FromSlice([]float64{0, 1, 2}), y)
		if got := weft.Data[float64](weft.Grad(v.Sum(), []*weft.Tensor{y})[0]); !slices.Equal(got, want) {
			t.Errorf("at %v the gradient is %v, want %v", q, got, want)
		}
	}
}
