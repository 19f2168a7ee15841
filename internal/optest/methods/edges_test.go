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
		`padmode: mode: "bogus" is not`:                    func() { weft.Scalar(1).PadMode("bogus", nil) },
		"padmode: pads: surround axis 0, which has no":     func() { weft.Zeros(0).PadMode("linear_ramp", []int{1, 0}) },
		"padmode: pads: [1] has 1 numbers, want two":       func() { x.PadMode("edge", []int{1}) },
		"padmode: pads: [1 -1] has a negative":             func() { x.PadMode("edge", []int{1, -1}) },
		"padmode: Odd: belongs to the modes reflect, sy":   func() { x.PadMode("edge", []int{1, 1}, weft.PadOpts{Odd: true}) },
		"padmode: Lengths: belongs to the modes maximum":   func() { x.PadMode("reflect", []int{1, 1}, weft.PadOpts{Lengths: []int{1}}) },
		"padmode: Lengths: has 3 numbers, want one, or":    func() { x.PadMode("mean", []int{1, 1}, weft.PadOpts{Lengths: []int{1, 1, 1}}) },
		"padmode: Lengths: has 0, want 1 or more":          func() { x.PadMode("mean", []int{1, 1}, weft.PadOpts{Lengths: []int{1, 0}}) },
		"padmode: Values: belongs to the modes linear_r":   func() { x.PadMode("mean", []int{1, 1}, weft.PadOpts{Values: []float64{1}}) },
		"padmode: Values: has 0 numbers, want one, or two": func() { x.PadMode("constant", []int{1, 1}, weft.PadOpts{Values: []float64{}}) },
		"nan_corrected_var: correction: -1 is negative":    func() { x.NanCorrectedVar(-1) },
		"nan_corrected_std: correction: -2 is negative":    func() { x.NanCorrectedStdKeep(-2, 0) },
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

// TestCdistOfEmptyRows: the greatest difference of rows without elements is 0, as their sum is.
func TestCdistOfEmptyRows(t *testing.T) {
	x := weft.ZerosOf(weft.Float64, 3, 0).RequireGrad()
	for _, p := range []float64{0, 0.5, 1, 2, 3, math.Inf(1)} {
		d := x.Cdist(weft.ZerosOf(weft.Float64, 2, 0), p)
		if !slices.Equal(d.Shape(), []int{3, 2}) || !slices.Equal(weft.Data[float64](d), make([]float64, 6)) {
			t.Errorf("distances of order %v are %v of shape %v, want zeros", p, d, d.Shape())
		}
		d.Sum().Backward()
	}
	if n := x.Pdist(math.Inf(1)); !slices.Equal(weft.Data[float64](n), make([]float64, 3)) {
		t.Errorf("distances of pairs are %v, want zeros", n)
	}
}

// TestSetXor1DPutsNaNLast has complex numbers whose imaginary part alone is NaN: like [weft.Tensor.Unique] puts them,
// and as NumPy's setxor1d does, they come behind all others.
func TestSetXor1DPutsNaNLast(t *testing.T) {
	nan := math.NaN()
	a := weft.From([]complex128{complex(-5, nan), 2 + 1i, 1})
	b := weft.From([]complex128{1, -3})
	got := weft.Data[complex128](weft.SetXor1D(a, b))
	if len(got) != 3 || got[0] != -3 || got[1] != 2+1i || real(got[2]) != -5 || !math.IsNaN(imag(got[2])) {
		t.Errorf("elements of one set alone are %v, want -3, 2+1i and NaN", got)
	}
	if none := weft.SetXor1D(b, b); none.Size() != 0 || none.DType() != weft.Complex128 {
		t.Errorf("of equal sets it is %v of type %s", none, none.DType())
	}
}
