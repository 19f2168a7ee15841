package weft_test

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/half"
	"weft/internal/device"
	"weft/internal/tensortest"
)

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// formulas elementwise in a and b, beside the same in Go.
var elementwise = []struct {
	text string
	want func(a, b float64) float64
}{
	{"a", func(a, b float64) float64 { return a }},
	{"a+1", func(a, b float64) float64 { return a + 1 }},
	{"2*a + 3*b", func(a, b float64) float64 { return 2*a + 3*b }},
	{"a - b*2 - 1", func(a, b float64) float64 { return a - b*2 - 1 }},
	{"a / b", func(a, b float64) float64 { return a / b }},
	{"1/3*a", func(a, b float64) float64 { return 1.0 / 3 * a }},
	{"-a*a", func(a, b float64) float64 { return -a * a }},
	{"-(a+b)*+b", func(a, b float64) float64 { return -(a + b) * b }},
	{"a % b", func(a, b float64) float64 { return a - math.Floor(a/b)*b }},
	{"mod(a, 0.5)", func(a, b float64) float64 { return a - math.Floor(a/0.5)*0.5 }},
	{"pow(a, 2) + pow(b, 2) + 2*a*b", func(a, b float64) float64 { return a*a + b*b + 2*a*b }},
	{"2*a + pow(b, 10)", func(a, b float64) float64 { return 2*a + math.Pow(b, 10) }},
	{"pow(abs(a)+0.1, b)", func(a, b float64) float64 { return math.Pow(math.Abs(a)+0.1, b) }},
	{"pow(b, -2)", func(a, b float64) float64 { return 1 / (b * b) }},
	{"pow(b, 3.0)", func(a, b float64) float64 { return b * b * b }},
	{"pow(2, a)", func(a, b float64) float64 { return math.Exp2(a) }},
	{"exp(-a*a)*sin(a) + log1p(abs(a))", func(a, b float64) float64 { return math.Exp(-a*a)*math.Sin(a) + math.Log1p(math.Abs(a)) }},
	{"exp(2)*a", func(a, b float64) float64 { return math.Exp(2) * a }},
	{"sqrt(2)*a", func(a, b float64) float64 { return math.Sqrt2 * a }},
	{"2*pi*a + e", func(a, b float64) float64 { return 2*math.Pi*a + math.E }},
	{"a < b", func(a, b float64) float64 { return b2f(a < b) }},
	{"a <= 0.5 && b > 1 || !(a != b)", func(a, b float64) float64 { return b2f(a <= 0.5 && b > 1 || a == b) }},
	{"(a < 0) == (b < 1.2)", func(a, b float64) float64 { return b2f((a < 0) == (b < 1.2)) }},
	{"a >= b == true", nil}, // refused: comparisons do not chain
	{"where(a > 0, a, b)", func(a, b float64) float64 {
		if a > 0 {
			return a
		}
		return b
	}},
	{"where(a > 0, 1, 0)", func(a, b float64) float64 { return b2f(a > 0) }},
	{"max(a, 0)", func(a, b float64) float64 { return math.Max(a, 0) }},
	{"min(a, b) - max(-0.5, b)", func(a, b float64) float64 { return math.Min(a, b) - math.Max(-0.5, b) }},
	{"a<-1", func(a, b float64) float64 { return b2f(a < -1) }},
	{"a<-b", func(a, b float64) float64 { return b2f(a < -b) }},
	{"a<--b && b>-1", func(a, b float64) float64 { return b2f(a < b && b > -1) }},
	{"a--b+++1---b", func(a, b float64) float64 { return a + b + 1 - b }},
	{"var<-1", nil}, // var is a function
	{"minimum(a, b) + maximum(a, 0)", func(a, b float64) float64 { return math.Min(a, b) + math.Max(a, 0) }},
	{"clamp(a, -0.5, 0.5)", func(a, b float64) float64 { return math.Max(-0.5, math.Min(0.5, a)) }},
	{"floordiv(a, b)", func(a, b float64) float64 { return math.Floor(a / b) }},
	{"atan2(a, b) + tanh(a)", func(a, b float64) float64 { return math.Atan2(a, b) + math.Tanh(a) }},
	{"floor(a) + ceil(a) + round(a) + trunc(a)", func(a, b float64) float64 {
		return math.Floor(a) + math.Ceil(a) + math.RoundToEven(a) + math.Trunc(a)
	}},
	{"float64(a)*0 + float32(b)", func(a, b float64) float64 { return b }},
	{"(2 + 3*4 - 10/4)*a", func(a, b float64) float64 { return 11.5 * a }},
	{"0x10*a + 1_000", func(a, b float64) float64 { return 16*a + 1000 }},
	{"relu(a) + sigmoid(a) + square(b)", func(a, b float64) float64 { return math.Max(a, 0) + 1/(1+math.Exp(-a)) + b*b }},
	{"isnan(a/0*0) && isfinite(b)", func(a, b float64) float64 { return 1 }},
	{"a\n\t+ // a comment\n\tb", nil}, // a formula ends with its line
	{"a +\n\tb // a comment", func(a, b float64) float64 { return a + b }},
	{"(1 - true)*a", func(a, b float64) float64 { return 0 }},
}

// values returns n numbers of both signs, none of them 0, and their float64.
func waveValues(n int, seed float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(float32(3*math.Sin(seed+1.7*float64(i)) + 0.01))
	}
	return out
}

func of(d weft.DType, x []float64, shape ...int) *weft.Tensor {
	return weft.FromSlice(x, shape...).To(d)
}

func near(got, want, tol float64) bool {
	return got == want || math.Abs(got-want) <= tol*math.Max(1, math.Abs(want)) || math.IsNaN(got) && math.IsNaN(want)
}

func TestExprElementwise(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		for _, d := range []weft.DType{weft.Float32, weft.Float64} {
			tol := 2e-6
			if d == weft.Float64 {
				tol = 4e-15
			}
			for _, n := range []int{0, 1, 37} {
				x, y := waveValues(n, 1), waveValues(n, 2)
				a, b := of(d, x), of(d, y)
				for _, c := range elementwise {
					if c.want == nil {
						if _, err := weft.ParseExpr(c.text); err == nil {
							t.Errorf("%q was read", c.text)
						}
						continue
					}
					got := weft.Data[float64](weft.Expr(c.text, weft.Vars{"a": a, "b": b, "unused": 1}).To(weft.Float64))
					for i := range got {
						want := c.want(x[i], y[i])
						if !near(got[i], want, tol) {
							t.Errorf("%s %q at %v, %v: %v, want %v", d, c.text, x[i], y[i], got[i], want)
							break
						}
					}
					if len(got) != n {
						t.Errorf("%q: %d elements of %d", c.text, len(got), n)
					}
				}
			}
		}
	})
}

func TestExprIntegers(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		a, b := weft.FromSlice([]int64{7, -7, 0, 3}), weft.FromSlice([]int64{2, 2, 5, -1})
		for _, c := range []struct {
			text string
			want []float64
			d    weft.DType
		}{
			{"2*a - b", []float64{12, -16, -5, 7}, weft.Int64},
			{"a % b", []float64{1, 1, 0, 0}, weft.Int64},
			{"floordiv(a, b)", []float64{3, -4, 0, -3}, weft.Int64},
			{"a / b", []float64{3.5, -3.5, 0, -3}, weft.Float32},
			{"0.5 * a", []float64{3.5, -3.5, 0, 1.5}, weft.Float32},
			{"float64(a)/3*3", []float64{7, -7, 0, 3}, weft.Float64},
			{"pow(a, 2)", []float64{49, 49, 0, 9}, weft.Int64},
			{"pow(a, 2.0)", []float64{49, 49, 0, 9}, weft.Float32},
			{"pow(a*a, 0.5)", []float64{7, 7, 0, 3}, weft.Float32},
			{"a + 9007199254740993 - 9007199254740992", []float64{8, -6, 1, 4}, weft.Int64},
			{"a == 3", []float64{0, 0, 0, 1}, weft.Bool},
			{"int32(a) + 1", []float64{8, -6, 1, 4}, weft.Int32},
			{"uint8(300) + uint8(a*0)", []float64{44, 44, 44, 44}, weft.Uint8},
			{"int32(1e300) - int32(a*0)", []float64{math.MaxInt32, math.MaxInt32, math.MaxInt32, math.MaxInt32}, weft.Int32},
			{"int32(3e9) + int32(-3e9) + int32(a*0)", []float64{-1, -1, -1, -1}, weft.Int32},
			{"uint8(a*0 + 50) < 300", []float64{1, 1, 1, 1}, weft.Bool},
			{"sum(a < b)", []float64{2}, weft.Int64},
			{"where(a > 0, a, 0.5)", []float64{7, 0.5, 0.5, 3}, weft.Float32},
			{"bool(a) || false", []float64{1, 1, 0, 1}, weft.Bool},
		} {
			r := weft.Expr(c.text, weft.Vars{"a": a, "b": b})
			got := weft.Data[float64](r.To(weft.Float64))
			if r.DType() != c.d || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%q is %s %v, want %s %v", c.text, r.DType(), got, c.d, c.want)
			}
		}
	})
}

func TestExprReductions(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		x := waveValues(12, 3)
		a := weft.FromSlice(x, 3, 4)
		row := func(f func(r []float64) float64) []float64 {
			return []float64{f(x[:4]), f(x[4:8]), f(x[8:])}
		}
		sum := func(r []float64) (s float64) {
			for _, v := range r {
				s += v
			}
			return s
		}
		variance := func(r []float64) (s float64) {
			m := sum(r) / float64(len(r))
			for _, v := range r {
				s += (v - m) * (v - m) / float64(len(r))
			}
			return s
		}
		expSum := func(r []float64) (s float64) {
			for _, v := range r {
				s += math.Exp(v)
			}
			return s
		}
		for _, c := range []struct {
			text  string
			shape string
			want  []float64
		}{
			{"sum(a)", "[]", []float64{sum(x)}},
			{"sum(a, 0, 1)", "[]", []float64{sum(x)}},
			{"sum(2*a, 1)", "[3]", row(func(r []float64) float64 { return 2 * sum(r) })},
			{"sum_keep(a, -1)", "[3 1]", row(sum)},
			{"mean(a, 1) + 1", "[3]", row(func(r []float64) float64 { return sum(r)/4 + 1 })},
			{"amax(a, 1)", "[3]", row(func(r []float64) float64 { return math.Max(math.Max(r[0], r[1]), math.Max(r[2], r[3])) })},
			{"amin(a, 1)", "[3]", row(func(r []float64) float64 { return math.Min(math.Min(r[0], r[1]), math.Min(r[2], r[3])) })},
			{"prod(a, 1)", "[3]", row(func(r []float64) float64 { return r[0] * r[1] * r[2] * r[3] })},
			{"var(a, 1)", "[3]", row(variance)},
			{"std(a, 1)", "[3]", row(func(r []float64) float64 { return math.Sqrt(variance(r)) })},
			{"sample_var(a, 1)", "[3]", row(func(r []float64) float64 { return variance(r) * 4 / 3 })},
			{"logsumexp(a, 1)", "[3]", row(func(r []float64) float64 { return math.Log(expSum(r)) })},
			{"log(sum(exp(a), 1))", "[3]", row(func(r []float64) float64 { return math.Log(expSum(r)) })},
			{"sum(softmax(a, 1)*0 + log_softmax(a, 1), 1)", "[3]", row(func(r []float64) float64 { return sum(r) - 4*math.Log(expSum(r)) })},
			{"sum(pow(a - mean_keep(a, 1), 2), 1)/4", "[3]", row(variance)},
			// Operations with loops and branches on one value a row.
			{"mod(sum_keep(a, 1), 2)", "[3 1]", row(func(r []float64) float64 { return sum(r) - 2*math.Floor(sum(r)/2) })},
			{"sum(a*0 + sin(sum_keep(round(a), 1)*1e15), 1)", "[3]", row(func(r []float64) (s float64) {
				for _, v := range r {
					s += math.RoundToEven(v) * 1e15
				}
				return 4 * math.Sin(s)
			})},
			{"all(a < 4)", "[]", []float64{1}},
			{"any(a > 4, 1)", "[3]", []float64{0, 0, 0}},
			{"dot(a, a*0 + 1) * 0", "", nil},
			{"dot(a, a) ", "", nil},
		} {
			if c.want == nil {
				if err := weft.Try(func() { weft.Expr(c.text, a) }); err == nil || !strings.Contains(err.Error(), "matmul: inner sizes differ, 4 and 3: [3 4] x [3 4]") {
					t.Errorf("%q: %v", c.text, err)
				}
				continue
			}
			r := weft.Expr(c.text, a)
			got := weft.Data[float64](r.To(weft.Float64))
			if fmt.Sprint(r.Shape()) != c.shape {
				t.Errorf("%q has shape %v, want %s", c.text, r.Shape(), c.shape)
				continue
			}
			for i := range got {
				if !near(got[i], c.want[i], 1e-14) {
					t.Errorf("%q: %v, want %v", c.text, got, c.want)
					break
				}
			}
		}
		v := weft.FromSlice([]float64{1, 2, 3, 4})
		got := weft.Data[float64](weft.Expr("dot(a, v) - sum(a*v, 1)", a, v))
		for _, g := range got {
			if math.Abs(g) > 1e-14 {
				t.Errorf("dot and sum of products differ by %v", got)
			}
		}
		if got := weft.Data[int64](weft.Expr("argmax(a, 1)", weft.FromSlice([]float64{1, 5, 2, 9, 8, 7}, 2, 3))); got[0] != 1 || got[1] != 0 {
			t.Errorf("argmax: %v", got)
		}
	})
}

// The program of Theano's tutorial: a product, a sigmoid and a loss.
func TestExprLogistic(t *testing.T) {
	x, w := weft.FromSlice(waveValues(12, 1), 4, 3), weft.FromSlice(waveValues(3, 2))
	y := weft.FromSlice([]float64{0, 1, 1, 0})
	w.RequireGrad()
	p := weft.Expr("1 / (1 + exp(-dot(x, w) - b))", weft.Vars{"x": x, "w": w, "b": 0.25})
	loss := weft.Expr("mean(-y*log(p) - (1-y)*log(1-p))", weft.Vars{"y": y, "p": p})
	loss.Backward()
	// The gradient is X^T (p - y) / n.
	px, xs, ys := weft.Data[float64](p), weft.Data[float64](x), weft.Data[float64](y)
	for j, g := range weft.Data[float64](w.Grad()) {
		want := 0.0
		for i := range 4 {
			want += xs[3*i+j] * (px[i] - ys[i]) / 4
		}
		if !near(g, want, 1e-10) { // 1-p has lost digits where p is near 1
			t.Errorf("gradient %d is %v, want %v", j, g, want)
		}
	}
}

func TestExprViews(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		a := weft.FromSlice(waveValues(12, 1), 3, 4)
		v := weft.FromSlice(waveValues(4, 2))
		got := weft.Expr("2*a + v", a.T(), v.Unsqueeze(1))
		if fmt.Sprint(got.Shape()) != "[4 3]" {
			t.Fatalf("shape %v", got.Shape())
		}
		as, vs, gs := weft.Data[float64](a), weft.Data[float64](v), weft.Data[float64](got)
		for i := range 4 {
			for j := range 3 {
				if want := 2*as[4*j+i] + vs[i]; gs[3*i+j] != want {
					t.Fatalf("at %d, %d: %v, want %v", i, j, gs[3*i+j], want)
				}
			}
		}
	})
}

// What is made of numbers alone is computed once, in float64.
func TestExprNumbers(t *testing.T) {
	x := weft.FromSlice([]float32{1, 3})
	lr, n := 0.1, 3
	got := weft.Data[float32](weft.Expr("lr*(n+1)/2*x", weft.Vars{"lr": lr, "n": n, "x": x}))
	for i, v := range []float64{1, 3} {
		if want := float32(lr*float64(n+1)/2) * float32(v); got[i] != want {
			t.Errorf("%v, want %v", got[i], want)
		}
	}
	if r := weft.Expr("1/3"); r.DType() != weft.Float64 || r.Item() != 1.0/3 || r.Rank() != 0 {
		t.Errorf("1/3 is %s %v", r.DType(), r)
	}
	for _, c := range []struct {
		text string
		want float64
		d    weft.DType
	}{
		{"7 % n + floordiv(-7, n)", 7%3 - 3, weft.Int64},
		{"-7 % n", 2, weft.Int64},
		{"-7.5 % n", 1.5, weft.Float64},
		{"pow(n, 4)", 81, weft.Int64},
		{"pow(n, -1)", 1.0 / 3, weft.Float64},
		{"pow(n*0.5, 3)", 3.375, weft.Float64},
		{"minimum(n, 2.5) + maximum(n, 4)", 6.5, weft.Float64},
		{"n > 2 && !(n == 4) || false", 1, weft.Bool},
		{"n*n - abs(-n) + square(n)", 15, weft.Int64},
		{"sqrt(n*12)", 6, weft.Float64},
		{"exp(n*0.0)", 1, weft.Float64},
		{"(n != 3) + 0", 0, weft.Int64},
		{"n <= 3 == true", 0, 0},
	} {
		if c.d == 0 {
			if _, err := weft.ParseExpr(c.text); err == nil {
				t.Errorf("%q was read", c.text)
			}
			continue
		}
		if r := weft.Expr(c.text, weft.Vars{"n": n}); r.DType() != c.d || r.Item() != c.want {
			t.Errorf("%q is %s %v, want %s %v", c.text, r.DType(), r, c.d, c.want)
		}
	}
	// A number is multiplied in the same order as an array.
	a := weft.FromSlice([]float64{1.1})
	if x, y := weft.Expr("pow(n, 13)", 1.1).Item(), weft.Expr("pow(a, 13)", a).Item(); x != y {
		t.Errorf("pow of a number %v, of an array %v", x, y)
	}
}

// A new number runs the code that was compiled for the last one.
func TestExprCompilesOnce(t *testing.T) {
	x := weft.FromSlice(waveValues(5, 1)).RequireGrad()
	step := func(lr float64) {
		weft.Expr("sum(x - lr*2*sin(x))", weft.Vars{"x": x, "lr": lr}).Backward()
	}
	step(0.1)
	step(0.2) // adds to the gradient, which the first did not
	was := device.Get(0).Counters().Compiled.Load()
	for i := range 10 {
		step(float64(i))
	}
	if n := device.Get(0).Counters().Compiled.Load() - was; n != 0 {
		t.Errorf("%d kernels were compiled again", n)
	}
}

func TestExprIsOneKernel(t *testing.T) {
	a, b := weft.FromSlice(waveValues(100, 1)), weft.FromSlice(waveValues(100, 2))
	for _, text := range []string{
		"2*a + 3*b", "pow(a,2)+pow(b,2)+2*a*b", "exp(-a*a)*sin(a)+log1p(abs(a)) + b*0",
		"(a+1)*(b+2)*(a+3)*(b+4)*(a+5)*(b+6)*(a+7)*(b+8)*(a+9)*(b+10) - (a-1)*(b-2)*(a-3)*(b-4)",
		"exp(a - max_keep(a, 0))/sum_keep(exp(a - max_keep(a, 0)), 0) + 0*b", "a - log(mean_keep(b, 0))", "where(a < b && a > 0, a, b)/(1 + a*a)",
	} {
		f, err := weft.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Explain(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(s, "step 1") || !strings.Contains(s, "step 0") {
			t.Errorf("%q is not one kernel:\n%s", text, s)
		}
	}
}

// On a hit Expr allocates what an eager operation does.
func TestExprAllocations(t *testing.T) {
	a, b := weft.FromSlice(waveValues(10, 1)), weft.FromSlice(waveValues(10, 2))
	add := testing.AllocsPerRun(100, func() { a.Add(b) })
	if n := testing.AllocsPerRun(100, func() { weft.Expr("2*a+3*b", a, b) }); n > add {
		t.Errorf("%v allocations, add makes %v", n, add)
	}
	vars := weft.Vars{"a": a, "b": b}
	if n := testing.AllocsPerRun(100, func() { weft.Expr("2*a+3*b", vars) }); n > add {
		t.Errorf("%v allocations with Vars, add makes %v", n, add)
	}
}

func TestExprGradients(t *testing.T) {
	for _, text := range []string{
		"2*a + 3*b", "a*b + a", "exp(-a*a)*sin(b)", "pow(a, 3)/(1 + b*b)", "pow(a*a + 1, b)", "where(a > 0, a*b, a)",
		"log1p(abs(a)) + sqrt(b*b + 1)", "sum(a*b, 1)", "softmax(a, 1)*b", "logsumexp(a*b, 0)", "dot(a, b)*a", "mean_keep(a, 1)*b",
		"tanh(a)*2*n + n*n*b", "maximum(a, b) - minimum(a, 0.25)", "clamp(a, -1, b)", "var(a, 1)*sum(b, 0)", "1/(1 + exp(-dot(a, b)))",
		"prod(a, 1)", "max(a)*b", "b", "a % 2.5",
	} {
		f, err := weft.ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		x, y := waveValues(9, 1), waveValues(9, 5)
		vars := func(x, y []float64) weft.Vars {
			return weft.Vars{"a": weft.FromSlice(x, 3, 3), "b": weft.FromSlice(y, 3, 3), "n": 1.5}
		}
		eval := func(v weft.Vars) *weft.Tensor {
			out, err := f.Eval(v)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		weights := func(out *weft.Tensor) *weft.Tensor { return weft.FromSlice(waveValues(out.Size(), 7), out.Shape()...) }
		value := func(x, y []float64) float64 {
			out := eval(vars(x, y))
			return out.Mul(weights(out)).Sum().Item()
		}
		v := vars(x, y)
		a, b := v["a"].(*weft.Tensor).RequireGrad(), v["b"].(*weft.Tensor).RequireGrad()
		out := eval(v)
		grads := weft.Grad(out.Mul(weights(out)).Sum(), []*weft.Tensor{a, b}, weft.GradOpts{AllowUnused: true, Create: true})
		// The second order, by the gradient of a weighted sum of the gradient.
		var second []*weft.Tensor
		var along func(x, y []float64) float64
		if g := grads[0]; g != nil && g.RequiresGrad() {
			second = weft.Grad(g.Mul(weights(g)).Sum(), []*weft.Tensor{a, b}, weft.GradOpts{AllowUnused: true})
			along = func(x, y []float64) float64 {
				v := vars(x, y)
				a := v["a"].(*weft.Tensor).RequireGrad()
				out := eval(v)
				g := weft.Grad(out.Mul(weights(out)).Sum(), []*weft.Tensor{a})[0]
				return g.Mul(weights(g)).Sum().Item()
			}
		}
		compare := func(order string, grads []*weft.Tensor, value func(x, y []float64) float64) {
			for k, in := range [][]float64{x, y} {
				for i := range in {
					was, h := in[i], 1e-5
					in[i] = was + h
					up := value(x, y)
					in[i] = was - h
					down := value(x, y)
					in[i] = was
					got := 0.0
					if grads[k] != nil {
						got = weft.Data[float64](grads[k])[i]
					}
					if want := (up - down) / (2 * h); !near(got, want, 1e-5) {
						t.Errorf("%q: %s gradient of argument %d at %d: %v, finite difference %v", text, order, k, i, got, want)
						return
					}
				}
			}
		}
		compare("first", grads, value)
		if second != nil {
			compare("second", second, along)
		}
	}
}

// A sum is one level of a formula, however many terms it has.
func TestExprOfManyTerms(t *testing.T) {
	const n = 900
	x := weft.FromSlice([]float64{1, -3}).RequireGrad()
	y := weft.Expr("x"+strings.Repeat("-x", n), x)
	y.Sum().Backward()
	for i, v := range []float64{1, -3} {
		if got := weft.At[float64](y, i); got != v*(1-n) || weft.At[float64](x.Grad(), i) != 1-n {
			t.Errorf("%v and the gradient %v, want %v and %v", got, weft.At[float64](x.Grad(), i), v*(1-n), 1-n)
		}
	}
}

func TestExprErrors(t *testing.T) {
	a, b := weft.Ones(2, 3), weft.Ones(4)
	for _, c := range []struct {
		text string
		args []any
		want string
	}{
		{"a + b", []any{a, b}, "expr: column 3: add: shapes do not broadcast: [2 3] and [4]\n\ta + b\n\t  ^"},
		{"2*a - dot(a, b)", []any{a, b}, "expr: column 7: matmul: inner sizes differ, 3 and 4: [2 3] x [4]\n\t2*a - dot(a, b)\n\t      ^"},
		{"1 + sum(a, 2)", []any{a}, "expr: column 5: sum: axis: 2 is out of range"},
		{"mean(a < 1)", []any{a}, "expr: column 1: mean: takes floats, got bool"},
		{"alpha*x", []any{weft.Vars{"alhpa": 1, "x": a}}, "expr: column 1: alpha has no value: did you mean alhpa?\n\talpha*x\n\t^"},
		{"x*sin", []any{weft.Vars{"x": a}}, "expr: column 3: sin has no value: it is a function and needs arguments"},
		{"a + b", []any{a}, `expr: "a + b" takes 2 values, for [a b] in this order, got 1`},
		{"1", []any{a}, `expr: "1" takes no values, got 1`},
		{"e*x", []any{weft.Vars{"x": a, "e": 2}}, `expr: e is a constant in "e*x" and cannot be given a value: choose another name`},
		{"a + b", []any{a, "x"}, "expr: column 5: b is string: want a *Tensor or a Go number"},
		{"a + b", []any{a, nil}, "expr: column 5: b is <nil>: want a *Tensor or a Go number"},
		{"a + b", []any{(*weft.Tensor)(nil), 1}, "expr: column 1: a is a nil tensor"},
		{"-(a > 0)", []any{a}, "expr: column 1: neg: is not defined for bool"},
		{"a +\n b", []any{a, b}, "expr: line 1, column 3: add: shapes do not broadcast: [2 3] and [4]\n\ta +\n\t  ^"},
	} {
		f, err := weft.ParseExpr(c.text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Eval(c.args...)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s", c.text, err, c.want)
		}
		if _, ok := err.(*weft.Error); !ok {
			t.Errorf("%q: the error is %T", c.text, err)
		}
		again := weft.Try(func() { weft.Expr(c.text, c.args...) })
		if again == nil || again.Error() != err.Error() {
			t.Errorf("%q: Expr panics with %v, Eval returns %v", c.text, again, err)
		}
	}
	if err := weft.Try(func() { weft.Expr("a +") }); err == nil {
		t.Error("Expr of no formula did not panic with *Error")
	}
}

func TestFormula(t *testing.T) {
	f, err := weft.ParseExpr("b*a + b + pi")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(f.Names(), f); got != "[b a] b*a + b + pi" {
		t.Error(got)
	}
	a := weft.Ones(4, 5)
	operations, bytes, err := f.Work(a, 2)
	if err != nil || operations != 3*20 || bytes != 2*4*20 {
		t.Errorf("%d operations, %d bytes, %v", operations, bytes, err)
	}
	if g, _ := weft.ParseExpr("b*a + b + pi"); g != f {
		t.Error("the same text is read twice")
	}
	m, _ := weft.ParseExpr("sum(dot(a, b))")
	if operations, _, _ := m.Work(weft.Ones(3, 4), weft.Ones(4, 5)); operations != 2*3*4*5+15 {
		t.Errorf("%d operations of a matrix product and a sum", operations)
	}
	p, _ := weft.ParseExpr("pow(a, 10)")
	if operations, _, _ := p.Work(weft.Ones(7)); operations != 4*7 {
		t.Errorf("%d operations of a tenth power", operations)
	}
}

// The cache of formulas is bounded, and formulas stay usable beyond it. A formula that is cached
// is parsed to the same pointer again. Parsing from the newest text on, each miss can only evict.
func TestFormulaCacheIsBounded(t *testing.T) {
	const most = 1 << 12 // of the cache
	first, _ := weft.ParseExpr("a + 0.0")
	text := func(i int) string { return fmt.Sprintf("a + %d.5", i) }
	made := make([]*weft.Formula, 2*most)
	for i := range made {
		f, err := weft.ParseExpr(text(i))
		if err != nil {
			t.Fatal(err)
		}
		made[i] = f
	}
	kept := 0
	for i := len(made) - 1; i >= 0; i-- {
		if f, _ := weft.ParseExpr(text(i)); f == made[i] {
			kept++
		}
	}
	if kept > most || kept == 0 {
		t.Errorf("%d formulas are kept, want 1 to %d", kept, most)
	}
	if r, err := first.Eval(2.0); err != nil || r.Item() != 2 {
		t.Errorf("%v, %v", r, err)
	}
	var names []string
	for i := range 7 {
		names = append(names, fmt.Sprintf("x%d", i))
	}
	f, _ := weft.ParseExpr(strings.Join(names, " + "))
	for mask := range 1 << 7 {
		vars := weft.Vars{}
		for i, n := range names {
			vars[n] = 1
			if mask>>i&1 != 0 {
				vars[n] = weft.Ones()
			}
		}
		if r, err := f.Eval(vars); err != nil || r.Item() != 7 {
			t.Fatalf("%v, %v", r, err)
		}
	}
}

func TestExprConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			x := weft.FromSlice([]float64{float64(g)}).RequireGrad()
			for i := range 50 {
				y := weft.Expr(fmt.Sprintf("x*x*%d + n", i%10), weft.Vars{"x": x, "n": i})
				if y.Item() != float64(g*g*(i%10)+i) {
					t.Errorf("%v", y)
				}
				if d := weft.Grad(y, []*weft.Tensor{x})[0].Item(); d != float64(2*g*(i%10)) {
					t.Errorf("derivative %v", d)
				}
			}
		}()
	}
	wg.Wait()
}

// The largest formulas that are read are planned and run in reasonable time, and
// more numbers than a kernel has room for are spread over several.
func TestExprOfLargestFormulas(t *testing.T) {
	x := weft.FromSlice([]float64{1, 2})
	if got := weft.Data[float64](weft.Expr("x"+strings.Repeat(" + x*2 - x*2", 120), x)); got[0] != 1 || got[1] != 2 {
		t.Errorf("%v", got)
	}
	if got := weft.Expr(strings.Repeat("(", 190)+"x"+strings.Repeat("+1)", 190), x); got.Sum().Item() != 383 {
		t.Errorf("%v", got)
	}
	var terms []string
	vars := weft.Vars{"x": x}
	for i := range 60 {
		terms = append(terms, fmt.Sprintf("n%d*x", i))
		vars[fmt.Sprintf("n%d", i)] = float64(i)
	}
	if got := weft.Expr(strings.Join(terms, "+"), vars); got.Sum().Item() != 3*59*60/2 {
		t.Errorf("%v", got)
	}
	var arrays []string
	for i := range 60 {
		arrays = append(arrays, fmt.Sprintf("a%d", i))
		vars[arrays[i]] = weft.FromSlice([]float64{float64(i), 1}).RequireGrad()
	}
	sum := weft.Expr(strings.Join(arrays, "+"), vars).Sum()
	if sum.Item() != 59*60/2+60 {
		t.Errorf("%v", sum)
	}
	sum.Backward()
	if g := vars["a59"].(*weft.Tensor).Grad(); g == nil || g.Sum().Item() != 2 {
		t.Errorf("the gradient of the last of many arrays is %v", g)
	}
}

// FuzzExpr reads hostile formulas and computes those that are none: nothing but
// an error may come of it.
func FuzzExpr(f *testing.F) {
	for _, c := range elementwise {
		f.Add(c.text)
	}
	for _, s := range []string{"sum(a, 1)", "softmax(dot(a, b), -1)", "a**2", "func() { for {} }()", "a[0]", "`a`", "'a'", "1i*a", "a.b(c)",
		"where(a<b, keep(sum(a)), 1e999)", "((((((((((a))))))))))", "a +\n b", "float64(a)%int32(b)", "pow(0, -1)", "mod(a, 0)", "9223372036854775808",
		"struct{}{}", "<-a", "&a", "a /* b */", "\x00", "a\xff", "int64(1e300)", "argmax(a, 0, 1)", "max(a*0, 5)", "pow(a, 64) + pow(b, -64)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := weft.ParseExpr(text)
		if err != nil {
			if _, ok := err.(*weft.Error); !ok {
				t.Fatalf("%q: error of type %T", text, err)
			}
			return
		}
		if len(text) > 200 {
			return // compiling it takes longer than is useful here
		}
		vars := weft.Vars{}
		for i, n := range g.Names() {
			switch i % 5 {
			case 0:
				vars[n] = weft.FromSlice([]float64{-1, 0, 2.5, math.NaN(), math.Inf(1), 1e-300}, 2, 3).RequireGrad()
			case 1:
				vars[n] = weft.FromSlice([]float32{1, -2, 3}).RequireGrad()
			case 2:
				vars[n] = weft.FromSlice([]int32{5, 0, -7}, 3)
			case 3:
				vars[n] = 0.5
			case 4:
				vars[n] = 3
			}
		}
		r, err := g.Eval(vars)
		if err != nil {
			if e, ok := err.(*weft.Error); !ok || e.Kind != weft.Misuse {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if r.RequiresGrad() {
			r.Sum().Backward()
		}
	})
}

// Complex numbers are values of names as they are arguments of methods.
func TestExprOfComplexNumbers(t *testing.T) {
	z := weft.From([]complex64{1 + 2i, -3})
	wide := weft.From([]complex128{1 + 2i, -3})
	x, y := weft.From([]float32{1, 2}), weft.From([]float64{1, 2})
	for _, c := range []struct {
		got, want *weft.Tensor
	}{
		{weft.Expr("z*b", weft.Vars{"z": z, "b": 1i}), z.Mul(1i)},
		{weft.Expr("z*b", z, complex64(1i)), z.Mul(1i)},
		{weft.Expr("z*b + c", weft.Vars{"z": wide, "b": 0.1i, "c": 2}), wide.Mul(0.1i).Add(2)},
		{weft.Expr("x - b", x, 2i), x.Sub(2i)},
		{weft.Expr("y - b", y, 0.1i), y.Sub(weft.From(0.1i))},
		{weft.Expr("a*b", 2, 1i), weft.From(2i)},
		{weft.Expr("x*h", x, half.NewFloat16(0.5)), x.Mul(0.5)},
	} {
		if c.got.DType() != c.want.DType() || weft.Digest(c.got) != weft.Digest(c.want) {
			t.Errorf("%v of %s, want %v of %s", c.got, c.got.DType(), c.want, c.want.DType())
		}
	}
	dst := weft.Zeros(2).To(weft.Complex64)
	f, err := weft.ParseExpr("z*b")
	if err == nil {
		err = f.EvalInto(dst, z, 1i)
	}
	if err != nil || weft.Digest(dst) != weft.Digest(z.Mul(1i)) {
		t.Errorf("EvalInto gives %v, %v", dst, err)
	}
}

// What is called and is not a function is refused with what is wanted.
func TestExprCallsValue(t *testing.T) {
	x := weft.Ones(2)
	for _, f := range []any{"abc", x, 2.0, new(struct{})} {
		want := fmt.Sprintf("expr: soft: is called as a function in \"1+soft(x)\": want a *kernel.Func, got %T", f)
		if err := weft.Try(func() { weft.Expr("1+soft(x)", weft.Vars{"soft": f, "x": x}) }); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
