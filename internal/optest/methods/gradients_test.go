package methods_test

import (
	"bufio"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/half"
	"weft/internal/array"
	"weft/internal/op"
	"weft/internal/optest"
	"weft/internal/tensortest"
)

// edges are the functions of testdata/gradients.txt.
var edges = map[string]func(x []*weft.Tensor) *weft.Tensor{
	"square2": power(2), "cube": power(3), "one": power(1), "zero": power(0), "minus": power(-1), "half": power(0.5), "threehalf": power(1.5),
	"mul":           func(x []*weft.Tensor) *weft.Tensor { return x[0].Mul(x[1]) },
	"div":           func(x []*weft.Tensor) *weft.Tensor { return x[0].Div(x[1]) },
	"atan2":         func(x []*weft.Tensor) *weft.Tensor { return x[0].Atan2(x[1]) },
	"pow":           func(x []*weft.Tensor) *weft.Tensor { return x[0].Pow(x[1]) },
	"maximum":       func(x []*weft.Tensor) *weft.Tensor { return x[0].Maximum(x[1]) },
	"minimum":       func(x []*weft.Tensor) *weft.Tensor { return x[0].Minimum(x[1]) },
	"remainder":     func(x []*weft.Tensor) *weft.Tensor { return x[0].Mod(x[1]) },
	"hypot":         func(x []*weft.Tensor) *weft.Tensor { return x[0].Mul(x[0]).Add(x[1].Mul(x[1])).Sqrt() },
	"clamp":         func(x []*weft.Tensor) *weft.Tensor { return x[0].Clamp(x[1], x[2]) },
	"clamp_numbers": func(x []*weft.Tensor) *weft.Tensor { return x[0].Clamp(-1, 2) },
	"where":         func(x []*weft.Tensor) *weft.Tensor { return weft.Where(x[0].Gt(0), x[0].Log(), weft.ZerosLike(x[0])) },
	"where_plain": func(x []*weft.Tensor) *weft.Tensor {
		return weft.Where(weft.FromSlice([]bool{true, false, true}), x[0], x[1])
	},
	"prod": rows(func(x *weft.Tensor) *weft.Tensor { return x.Prod(1) }), "max": rows(func(x *weft.Tensor) *weft.Tensor { return x.Max(1) }), "min": rows(func(x *weft.Tensor) *weft.Tensor { return x.Min(1) }),
	"var": rows(func(x *weft.Tensor) *weft.Tensor { return x.Var(1) }), "std": rows(func(x *weft.Tensor) *weft.Tensor { return x.Std(1) }),
	"svar": rows(func(x *weft.Tensor) *weft.Tensor { return x.SampleVar(1) }), "sstd": rows(func(x *weft.Tensor) *weft.Tensor { return x.SampleStd(1) }),
	"var1": column(func(x *weft.Tensor) *weft.Tensor { return x.Var(1) }), "std1": column(func(x *weft.Tensor) *weft.Tensor { return x.Std(1) }),
	"svar1": column(func(x *weft.Tensor) *weft.Tensor { return x.SampleVar(1) }), "sstd1": column(func(x *weft.Tensor) *weft.Tensor { return x.SampleStd(1) }),
	"logsumexp":   rows(func(x *weft.Tensor) *weft.Tensor { return x.LogSumExp(1) }),
	"softmax":     rows(func(x *weft.Tensor) *weft.Tensor { return x.Softmax(1).Mul(tensortest.Vector(1, 2, 4)) }),
	"log_softmax": rows(func(x *weft.Tensor) *weft.Tensor { return x.LogSoftmax(1).Mul(tensortest.Vector(1, 2, 4)) }),
	"norm":        rows(func(x *weft.Tensor) *weft.Tensor { return x.Mul(x).Sum(1).Sqrt() }),
	"cross_entropy": rows(func(x *weft.Tensor) *weft.Tensor {
		return weft.CrossEntropy(x, weft.FromSlice([]int64{1, 2, 1, 0, 0, 0}))
	}),
	"cross_entropy_hit": rows(func(x *weft.Tensor) *weft.Tensor {
		return weft.CrossEntropy(x, weft.FromSlice([]int64{0, 0, 0, 0, 0, 0}))
	}),
}

var overRows = map[string]bool{"prod": true, "max": true, "min": true, "var": true, "std": true, "svar": true, "sstd": true, "logsumexp": true,
	"softmax": true, "log_softmax": true, "norm": true, "cross_entropy": true, "cross_entropy_hit": true}

// differs says why a gradient is not PyTorch's on purpose; empty if it must be.
func differs(name string, at []float64, got float64) string {
	has := func(is func(x float64) bool) bool { return slices.ContainsFunc(at, is) }
	special := has(func(x float64) bool { return x-x != 0 }) // NaN or infinite
	switch name {
	case "relu", "maximum", "minimum", "clamp":
		if has(math.IsNaN) && got == 0 {
			return "nothing flows through a comparison with NaN"
		}
		if name == "clamp" && (at[0] == at[1] || at[0] == at[2]) {
			return "at a bound x has all of it, whether the bound is a tensor or a number"
		}
	case "clamp_numbers":
		if (at[0] == -1 || at[0] == 2) && got == 1 {
			return "as with bounds that are tensors"
		}
	case "half", "threehalf":
		if at[0] < 0 && special && got == got {
			return "a power of -Inf is one of Inf, as C has it"
		}
	case "prod", "var", "svar":
		if special {
			return "quotients and sums of infinities"
		}
		if name == "prod" && at[0] == 1e300 && got > 0 {
			return "the product overflows before a factor is taken out"
		}
	case "logsumexp":
		if at[0] == 1e300 && got == 0.5 {
			return "the sum has two equal terms"
		}
	}
	return ""
}

func power(y float64) func(x []*weft.Tensor) *weft.Tensor {
	return func(x []*weft.Tensor) *weft.Tensor { return x[0].Pow(y) }
}

func rows(f func(x *weft.Tensor) *weft.Tensor) func(x []*weft.Tensor) *weft.Tensor {
	return func(x []*weft.Tensor) *weft.Tensor { return f(x[0].Reshape(-1, 3)) }
}

func column(f func(x *weft.Tensor) *weft.Tensor) func(x []*weft.Tensor) *weft.Tensor {
	return func(x []*weft.Tensor) *weft.Tensor { return f(x[0].Reshape(-1, 1)) }
}

func init() {
	for name, f := range map[string]func(*weft.Tensor) *weft.Tensor{"abs": (*weft.Tensor).Abs, "sqrt": (*weft.Tensor).Sqrt, "rsqrt": (*weft.Tensor).Rsqrt, "reciprocal": (*weft.Tensor).Reciprocal, "square": (*weft.Tensor).Square,
		"exp": (*weft.Tensor).Exp, "expm1": (*weft.Tensor).Expm1, "exp2": (*weft.Tensor).Exp2, "log": (*weft.Tensor).Log, "log1p": (*weft.Tensor).Log1p, "log2": (*weft.Tensor).Log2, "log10": (*weft.Tensor).Log10,
		"sin": (*weft.Tensor).Sin, "cos": (*weft.Tensor).Cos, "tan": (*weft.Tensor).Tan, "asin": (*weft.Tensor).Asin, "acos": (*weft.Tensor).Acos, "atan": (*weft.Tensor).Atan, "sinh": (*weft.Tensor).Sinh, "cosh": (*weft.Tensor).Cosh,
		"tanh": (*weft.Tensor).Tanh, "erf": (*weft.Tensor).Erf, "sigmoid": (*weft.Tensor).Sigmoid, "relu": (*weft.Tensor).Relu, "gelu": (*weft.Tensor).Gelu, "silu": (*weft.Tensor).Silu, "softplus": (*weft.Tensor).Softplus} {
		edges[name] = func(x []*weft.Tensor) *weft.Tensor { return f(x[0]) }
	}
}

// Gradients are PyTorch's also where a function ends, has a corner, or is not finite:
// not NaN where there is a number.
func TestGradientsAtEdges(t *testing.T) {
	f, err := os.Open("testdata/gradients.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var name string
	var xs, want [][]float64
	done := 0
	check := func() {
		if name == "" {
			return
		}
		fn := edges[name]
		if fn == nil {
			t.Errorf("%s is not known", name)
			return
		}
		done++
		in := make([]*weft.Tensor, len(xs))
		for i := range xs {
			in[i] = weft.FromSlice(xs[i]).RequireGrad()
		}
		fn(in).Sum().Backward()
		for i := range in {
			for k, got := range weft.Data[float64](in[i].Grad()) {
				w := want[i][k]
				if same := got == w || got != got && w != w || math.Abs(got-w) <= 1e-12*math.Abs(w)+1e-15; same {
					continue
				}
				at := make([]float64, len(xs))
				for j := range xs {
					at[j] = xs[j][k]
				}
				if overRows[name] {
					at = xs[0][k/3*3 : k/3*3+3]
				}
				if differs(name, at, got) != "" {
					continue
				}
				t.Errorf("%s at %v: gradient %d (element %d) is %v, want %v", name, at, i, k, got, w)
			}
		}
	}
	for s := bufio.NewScanner(f); s.Scan(); {
		kind, rest, _ := strings.Cut(s.Text(), " ")
		var v []float64
		if kind == "x" || kind == "g" {
			for _, w := range strings.Fields(rest) {
				x, err := strconv.ParseFloat(w, 64)
				if err != nil {
					t.Fatal(err)
				}
				v = append(v, x)
			}
		}
		switch kind {
		case "#":
		case "x":
			xs = append(xs, v)
		case "g":
			want = append(want, v)
		default:
			check()
			name, xs, want = kind, nil, nil
		}
	}
	check()
	if done != len(edges) {
		t.Errorf("%d of %d functions were checked", done, len(edges))
	}
}

// precision is half the distance from 1 to the next number of a type.
func precision(d weft.DType) float64 {
	switch d {
	case weft.Float16:
		return 0x1p-11
	case weft.BFloat16:
		return 0x1p-8
	case weft.Float32, weft.Complex64:
		return 0x1p-24
	}
	return 0x1p-53
}

// ofArray is an array of floats as a tensor of type d.
func ofArray(x *optest.Array, d weft.DType) *weft.Tensor {
	return weft.FromSlice(x.F, x.Shape...).To(d)
}

// Operands of several types meet, and the gradient of each has the type, the shape and the value
// that it has where all of them are converted before.
func TestGradientsHaveTheTypesOfTheirOperands(t *testing.T) {
	types := []weft.DType{weft.Float16, weft.BFloat16, weft.Float32, weft.Float64, weft.Complex64, weft.Complex128}
	tested := 0
	for _, d := range op.Table() {
		for _, s := range meetSamples(d) {
			floats := 0
			for i := range s.Shapes {
				if len(s.DTypes) <= i || s.DTypes[i].Float() {
					floats++
				}
			}
			if floats < 2 {
				continue
			}
			for _, a := range types {
				for _, b := range types {
					if a != b && meetOperands(t, d, s, a, b) {
						tested++
					}
				}
			}
		}
	}
	t.Log(tested, "operations on several types")
	if tested < 300 {
		t.Errorf("only %d operations on several types had gradients", tested)
	}
}

// meetSamples are the first two samples of an operation.
func meetSamples(d *op.Def) []op.Sample {
	if d.Samples != nil {
		return d.Samples[:min(len(d.Samples), 2)]
	}
	if d.Class != op.Pointwise && d.Class != op.Composite || d.Arity < 2 {
		return nil
	}
	return []op.Sample{{Shapes: [][]int{{3, 4}, {4}, {3, 1}}[:d.Arity], Attrs: d.Attrs}}
}

func meetOperands(t *testing.T, d *op.Def, s op.Sample, a, b weft.DType) bool {
	r := rand.New(rand.NewPCG(5, 6))
	domain := d.Domain
	if domain == [2]float64{} {
		domain = [2]float64{-2, 2}
	}
	var args, wide []any
	var leaves, refs []*weft.Tensor
	meet, least := array.Promote(a, b), math.Max(precision(a), precision(b))
	whole := weft.Float64
	if meet.Complex() {
		whole = weft.Complex128
	}
	for i, shape := range s.Shapes {
		if array.Size(shape) > 200 {
			return false
		}
		if len(s.DTypes) > i && !s.DTypes[i].Float() {
			x := optest.Random(r, s.DTypes[i], shape, domain, s.Max)
			if s.Ascending {
				return false
			}
			y := weft.FromSlice(x.I, shape...).To(s.DTypes[i])
			args, wide = append(args, y), append(wide, y)
			continue
		}
		x := ofArray(optest.Random(r, weft.Float64, shape, domain, 0), []weft.DType{a, b}[len(leaves)%2]).RequireGrad()
		ref := x.Detach().To(whole).RequireGrad()
		leaves, refs = append(leaves, x), append(refs, ref)
		args, wide = append(args, x), append(wide, ref)
	}
	var ys, zs []*weft.Tensor
	if err := weft.Try(func() { ys = evaluated(d, s.Attrs, args) }); err != nil {
		return false // refused before anything is computed
	}
	if err := weft.Try(func() { zs = evaluated(d, s.Attrs, wide) }); err != nil {
		return false // not defined for what the operands meet in
	}
	var outs, wants, seeds, wantSeeds []*weft.Tensor
	for i, y := range ys {
		if !y.DType().Differentiable() || !zs[i].DType().Differentiable() {
			continue
		}
		w := weft.NewGenerator(uint64(i)).Rand(y.Shape()...).To(y.DType())
		outs, wants = append(outs, y), append(wants, zs[i])
		seeds, wantSeeds = append(seeds, w), append(wantSeeds, w.To(zs[i].DType()))
	}
	if len(outs) == 0 {
		return false
	}
	var got, want []*weft.Tensor
	if err := weft.Try(func() { want = weft.GradAll(wants, refs, weft.GradOpts{Seeds: wantSeeds, AllowUnused: true}) }); err != nil {
		return false // has no gradient
	}
	if err := weft.Try(func() { got = weft.GradAll(outs, leaves, weft.GradOpts{Seeds: seeds, AllowUnused: true, Retain: true}) }); err != nil {
		t.Errorf("%s of %s and %s: %v", d.Name, a, b, err)
		return true
	}
	if a.Float() && b.Float() && !d.NonDifferentiable { // and recorded
		if err := weft.Try(func() {
			for i, g := range weft.GradAll(outs, leaves, weft.GradOpts{Seeds: seeds, AllowUnused: true, Create: true}) {
				if g != nil && (g.DType() != leaves[i].DType() || !array.Equal(g.Shape(), leaves[i].Shape())) {
					t.Errorf("%s of %s and %s: recorded gradient of operand %d is %s", d.Name, a, b, i, array.TypeString(g.DType(), g.Shape()))
				}
			}
		}); err != nil {
			t.Errorf("%s of %s and %s, recorded: %v", d.Name, a, b, err)
		}
	}
	for i, g := range got {
		x := leaves[i]
		if g == nil || want[i] == nil {
			if (g == nil) != (want[i] == nil) {
				t.Errorf("%s of %s and %s: gradient of operand %d is %v, want %v", d.Name, a, b, i, g, want[i])
			}
			continue
		}
		if g.DType() != x.DType() || !array.Equal(g.Shape(), x.Shape()) {
			t.Errorf("%s of %s and %s: gradient of operand %d is %s, want %s", d.Name, a, b, i,
				array.TypeString(g.DType(), g.Shape()), array.TypeString(x.DType(), x.Shape()))
			continue
		}
		if x.Size() == 0 {
			continue
		}
		w := want[i]
		if w.DType().Complex() && !x.DType().Complex() {
			w = w.Real()
		}
		p, q := g.To(w.DType()), w
		limit := 200 * least * (1 + q.Abs().Max().Item())
		if off := p.Sub(q).Abs().Max(); !(off.Item() <= limit) {
			t.Errorf("%s of %s and %s: gradient of operand %d is off by %v:\n%v\nwant\n%v", d.Name, a, b, i, off, g, w)
		}
	}
	return true
}

// What a Func returns as a gradient is converted to the type of its argument.
func TestGradientsOfFuncHaveTheTypesOfItsArguments(t *testing.T) {
	f := &weft.Func{Name: "product",
		Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
			c.Save(x...)
			return x[0].Mul(x[1])
		},
		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{dy.Mul(c.Saved(1)), dy.Mul(c.Saved(0))}
		}}
	x, y := weft.FullOf(weft.Float32, 3, 2).RequireGrad(), weft.FullOf(weft.Float64, 5, 2).RequireGrad()
	var e *weft.Error
	if err := weft.Try(func() { f.Apply(x, y).Sum().Backward() }); errors.As(err, &e) {
		t.Fatal(err)
	}
	if g := x.Grad(); g.DType() != weft.Float32 || g.Sum().Item() != 10 {
		t.Errorf("gradient of float32: %s %v", g.DType(), g)
	}
	if g := y.Grad(); g.DType() != weft.Float64 || g.Sum().Item() != 6 {
		t.Errorf("gradient of float64: %s %v", g.DType(), g)
	}
}

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
func TestComplexToRealIsRefused(t *testing.T) {
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
func TestFormulaOfInt64Limits(t *testing.T) {
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
