package sym_test

import (
	"math"
	"os"
	"testing"

	"weft"
	"weft/sym"
)

// TestGradientOfStabilisedFunction takes gradients where the function as written overflows, or divides 0 by
// 0: wherever the value is a number, so is the gradient, and it is right. NaN stays NaN.
func TestGradientOfStabilisedFunction(t *testing.T) {
	if os.Getenv("WEFT_COMPILE") == "off" {
		t.Skip("SKIPPED: with WEFT_COMPILE=off nothing is rewritten")
	}
	one := func(float64) float64 { return 1 }
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	over := func(k float64) func(x float64) float64 { return func(x float64) float64 { return k / x } }
	any := []float64{-1e300, -1e200, -1000, -50, -1, -1e-3, -1e-200, 1e-200, 1e-3, 1, 50, 1000, 1e200, 1e300}
	positive, negative := any[7:], any[:7]
	for _, c := range []struct {
		text string
		at   []float64
		want func(x float64) float64
	}{
		{"log(exp(x))", any, one}, {"log1p(expm1(x))", any, one}, {"log2(exp2(x))", any, one}, {"sinh(asinh(x))", any, one}, {"asinh(sinh(x))", any, one},
		{"tan(atan(x))", any, one}, {"atanh(tanh(x))", any, one}, {"erfinv(erf(x))", any, one},
		{"exp(log(x))", positive, one}, {"expm1(log1p(x))", positive, one}, {"square(sqrt(x))", positive, one}, {"cosh(acosh(x))", []float64{1.5, 1000, 1e200, 1e300}, one},
		{"sqrt(x*x)", any, func(x float64) float64 { return math.Copysign(1, x) }}, {"log(sqrt(x))", positive, over(0.5)}, {"log(1/x)", positive, over(-1)},
		{"log(x*x)", any, over(2)}, {"log(pow(x, 3))", positive, over(3)}, {"log(pow(x, 6))", any, over(6)},
		{"log(exp(x)-exp(2*x))", negative, func(x float64) float64 { return 1 - 1/math.Expm1(-x) }}, {"log(exp(2*x)-exp(x))", positive, func(x float64) float64 { return 1 - 1/math.Expm1(-x) }},
		{"log(1+exp(x))", any, sigmoid}, {"log(exp(x)+exp(2*x))", any, func(x float64) float64 { return 1 + sigmoid(x) }}, {"log(1-sigmoid(x))", any, func(x float64) float64 { return -sigmoid(x) }},
	} {
		x := sym.New("x", weft.Float64, len(c.at)+1)
		y := sym.Expr(c.text, weft.Vars{"x": x})
		f, err := sym.Function(sym.In(x), sym.Out(y, sym.Grad(y.Sum(), []*sym.Var{x})[0]))
		if err != nil {
			t.Fatal(err)
		}
		out, err := f.Call(weft.FromSlice(append([]float64{math.NaN()}, c.at...)))
		if err != nil {
			t.Fatal(err)
		}
		values, slopes := weft.Data[float64](out[0]), weft.Data[float64](out[1])
		if values[0] == values[0] || slopes[0] == slopes[0] {
			t.Errorf("%s at NaN is %v, its gradient %v", c.text, values[0], slopes[0])
		}
		for i, at := range c.at {
			want := c.want(at)
			if v, s := values[i+1], slopes[i+1]; v-v == 0 && !(math.Abs(s-want) <= 1e-9*math.Abs(want)) {
				t.Errorf("%s at %v is %v: its gradient is %v, want %v", c.text, at, v, s, want)
			}
		}
	}
}
