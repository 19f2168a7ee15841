package weft_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"weft"
	"weft/half"
)

// The mean of the two elements in the middle is infinite where one of them is, finite where their
// difference overflows, and NaN of infinities of both signs; elsewhere a quantile lies between.
func TestMedianOfInfinitiesAndOfGreatNumbers(t *testing.T) {
	inf, most := math.Inf(1), math.MaxFloat64
	for _, c := range []struct {
		x       []float64
		q, want float64
	}{
		{[]float64{0, inf}, 0.5, inf}, {[]float64{-inf, 0}, 0.5, -inf}, {[]float64{-inf, inf}, 0.5, math.NaN()}, {[]float64{inf, inf}, 0.5, inf}, {[]float64{-inf, -inf}, 0.5, -inf},
		{[]float64{0, inf}, 0.25, inf}, {[]float64{0, inf}, 0.75, inf}, {[]float64{0, inf}, 0, 0}, {[]float64{0, inf}, 1, inf}, {[]float64{-inf, 0}, 1, 0},
		{[]float64{-most, most}, 0.5, 0}, {[]float64{-most, most}, 0.25, -most / 2}, {[]float64{most, most}, 0.5, most}, {[]float64{most / 2, most}, 0.5, most / 4 * 3},
		{[]float64{1, 2, inf, inf}, 0.5, inf}, {[]float64{1, math.NaN(), inf}, 0.5, math.NaN()}, {[]float64{1, 2}, 0.5, 1.5},
	} {
		x := weft.FromSlice(c.x).RequireGrad()
		y := x.Quantile(c.q)
		if got := y.Item(); !(math.Abs(got-c.want) <= 1e-15*math.Abs(c.want)) && got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("quantile %v of %v is %v, want %v", c.q, c.x, got, c.want)
		}
		if c.q == 0.5 {
			if got := x.Median().Item(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("median of %v is %v, want %v", c.x, got, c.want)
			}
		}
		y.Backward()
		if g := x.Grad(); !math.IsNaN(c.want) && g.IsNaN().Any().Item() != 0 {
			t.Errorf("quantile %v of %v has the gradient %v", c.q, c.x, g)
		}
	}
}

// Halves are rounded once, from the exact value.
func TestMedianOfHalvesIsRoundedOnce(t *testing.T) {
	g := weft.NewGenerator(3)
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16} {
		for range 200 {
			x := g.Randn(4).Mul(100).To(d)
			wide := x.To(weft.Float64)
			for _, q := range []float64{0.5, 0.25, 0.1} {
				exact := float32(wide.Quantile(q).Item())
				want := float64(half.NewFloat16(exact).Float32())
				if d == weft.BFloat16 {
					want = float64(half.NewBFloat16(exact).Float32())
				}
				if got := x.Quantile(q).Item(); got != want {
					t.Errorf("quantile %v of %s %v is %v, want %v", q, d, x, got, want)
				}
			}
		}
	}
}

// What would drop imaginary parts is refused, whatever they are, and says what to take instead.
func TestComplexNumbersDoNotBecomeRealUnsaid(t *testing.T) {
	z := weft.FromSlice([]complex128{1 + 2i, 3})
	real := func(d weft.DType) *weft.Tensor { return weft.ZerosOf(d, 2) }
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16, weft.Float32, weft.Float64, weft.Int8, weft.Int64, weft.Uint64} {
		for what, f := range map[string]func(){
			"to": func() { z.To(d) }, "assign": func() { real(d).Assign(z) }, "set": func() { real(d).Set(z.Slice(weft.Index(0)), 1) },
			"addassign": func() { real(d).AddAssign(z) }, "index_put": func() { real(d).IndexPut(z, []int{0, 1}) },
			"scatter": func() { real(d).Scatter(0, weft.FromSlice([]int64{0, 1}), z) },
		} {
			var e *weft.Error
			if err := weft.Try(f); !errors.As(err, &e) || e.Op != what || !strings.Contains(err.Error(), d.String()) {
				t.Errorf("%s of complex numbers and %s: %v", what, d, err)
			}
		}
	}
	if err := weft.Try(func() { weft.Expr("float32(z)", weft.Vars{"z": z}) }); err == nil || !strings.Contains(err.Error(), "Real") {
		t.Errorf("float32(z): %v", err)
	}
	if got := weft.Data[bool](weft.FromSlice([]complex128{0, 2i}).To(weft.Bool)); got[0] || !got[1] {
		t.Errorf("complex numbers as bool: %v", got)
	}
	x := weft.Ones(2).RequireGrad() // and back through a conversion to complex
	x.To(weft.Complex64).Mul(1i + 2).Real().Sum().Backward()
	if g := x.Grad(); g.DType() != weft.Float32 || g.Sum().Item() != 4 {
		t.Errorf("gradient %v", g)
	}
}

// Formulas hold every int64, in every base, and print what they read.
func TestFormulaOfTheLeastInteger(t *testing.T) {
	for text, want := range map[string]int64{
		"-9223372036854775808": math.MinInt64, "-0x8000000000000000": math.MinInt64, "-(9223372036854775807)": -math.MaxInt64, "9223372036854775807": math.MaxInt64,
		"-9223372036854775808 + 1": math.MinInt64 + 1, "+-9223372036854775808": math.MinInt64, "-9_223_372_036_854_775_808": math.MinInt64,
	} {
		if got := weft.Expr(text).ItemInt(); got != want {
			t.Errorf("%s is %d", text, got)
		}
		x := weft.FromSlice([]int64{math.MinInt64, 0, math.MaxInt64})
		for i, got := range weft.Data[bool](weft.Expr("x == ("+text+")", weft.Vars{"x": x})) {
			if got != (weft.Data[int64](x)[i] == want) {
				t.Errorf("x == (%s): %v at %d", text, got, i)
			}
		}
	}
	for _, text := range []string{"9223372036854775808", "-9223372036854775809", "0 - 9223372036854775808"} {
		if err := weft.Try(func() { weft.Expr(text) }); err == nil || !strings.Contains(err.Error(), "does not fit int64") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
