package sym_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/sym"
)

// operations returns the operations that a function of x runs, and its result.
func operations(t *testing.T, x, y *sym.Var, at *weft.Tensor) (ops []string, out *weft.Tensor) {
	t.Helper()
	f, err := sym.Function(sym.In(x), sym.Out(y), sym.IgnoreUnused)
	if err != nil {
		t.Fatal(err)
	}
	res, err := f.Debug(weft.DebugOpts{Watch: func(s weft.DebugStep) { ops = append(ops, s.Op) }}).Call(at)
	if err != nil {
		t.Fatal(err)
	}
	return ops, res[0]
}

// constants are the ways to give a number k to an operation of x, a vector of three elements.
var constants = []struct {
	name string
	of   func(x *sym.Var, k float64) any
}{
	{"number", func(_ *sym.Var, k float64) any { return k }},
	{"scalar", func(x *sym.Var, k float64) any { return sym.Const(weft.ScalarOf(x.DType(), k)) }},
	{"scalar of the other type", func(x *sym.Var, k float64) any { return sym.Const(weft.ScalarOf(weft.Float64, k)) }},
	{"vector of one element", func(x *sym.Var, k float64) any { return sym.Const(weft.FullOf(x.DType(), k, 1)) }},
	{"vector", func(x *sym.Var, k float64) any { return sym.Const(weft.FullOf(x.DType(), k, 3)) }},
	{"expanded vector", func(x *sym.Var, k float64) any { return sym.Const(weft.FullOf(x.DType(), k, 1).Expand(3)) }},
	{"tensor", func(x *sym.Var, k float64) any { return weft.FullOf(x.DType(), k, 3) }},
	{"named", func(x *sym.Var, k float64) any { return sym.Const(weft.ScalarOf(x.DType(), k)).As("k") }},
	{"computed", func(x *sym.Var, k float64) any {
		return sym.Const(weft.ScalarOf(x.DType(), k/2)).Add(sym.Const(weft.ScalarOf(x.DType(), k/2)))
	}},
	{"like x", func(x *sym.Var, k float64) any { return sym.FullLike(x, k) }},
}

// unstable are expressions that lose digits or overflow as they are written, with the constants as
// variables, and their values in float64.
var unstable = []struct {
	text string
	k    []float64
	x    [3]float64
	want func(x float64) float64
}{
	{"log(k0+x)", []float64{1}, [3]float64{1e-20, 0.5, -1e-9}, math.Log1p},
	{"log(k0-x)", []float64{1}, [3]float64{1e-20, 0.5, -1e-9}, func(x float64) float64 { return math.Log1p(-x) }},
	{"log(k0+exp(x))", []float64{1}, [3]float64{1000, 1, -50}, func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }},
	{"log(k0-exp(x))", []float64{1}, [3]float64{-1e-20, -1, -50}, func(x float64) float64 {
		if x > -math.Ln2 {
			return math.Log(-math.Expm1(x))
		}
		return math.Log1p(-math.Exp(x))
	}},
	{"exp(x)-k0", []float64{1}, [3]float64{1e-20, 1, -1e-9}, math.Expm1},
	{"exp(x)+k0", []float64{-1}, [3]float64{1e-20, 1, -1e-9}, math.Expm1},
	{"k0-exp(x)", []float64{1}, [3]float64{1e-20, 1, -1e-9}, func(x float64) float64 { return -math.Expm1(x) }},
	{"k0-sigmoid(x)", []float64{1}, [3]float64{50, 1, 80}, func(x float64) float64 { return 1 / (1 + math.Exp(x)) }},
	{"log(k0-sigmoid(x))", []float64{1}, [3]float64{50, 1, 800}, func(x float64) float64 { return -max(x, 0) - math.Log1p(math.Exp(-math.Abs(x))) }},
	{"k0-erf(x)", []float64{1}, [3]float64{5, 1, 8}, math.Erfc},
	{"erf(x)-k0", []float64{1}, [3]float64{5, 1, 8}, func(x float64) float64 { return -math.Erfc(x) }},
	{"erfc(x)-k0", []float64{1}, [3]float64{1e-9, 1, -1e-5}, func(x float64) float64 { return -math.Erf(x) }},
	{"k0-erfc(x)", []float64{2}, [3]float64{-5, 1, -8}, func(x float64) float64 { return math.Erfc(-x) }},
	{"log(k0+exp(x))", []float64{2}, [3]float64{1000, 1, -50}, func(x float64) float64 {
		return max(x, math.Ln2) + math.Log1p(math.Exp(-math.Abs(x-math.Ln2)))
	}},
	{"k0/(k1+exp(-x))", []float64{1, 1}, [3]float64{-30, 0, 5}, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
	{"log(k0/(k1+exp(-x)))", []float64{1, 1}, [3]float64{-800, 0, 5}, func(x float64) float64 { return min(x, 0) - math.Log1p(math.Exp(-math.Abs(x))) }},
	{"x*k0", []float64{1}, [3]float64{1, 2, 3}, func(x float64) float64 { return x }},
	{"x+k0", []float64{0}, [3]float64{1, 2, 3}, func(x float64) float64 { return x }},
	{"x-k0", []float64{0}, [3]float64{1, 2, 3}, func(x float64) float64 { return x }},
	{"x/k0", []float64{1}, [3]float64{1, 2, 3}, func(x float64) float64 { return x }},
	{"k0/x", []float64{1}, [3]float64{1, 2, 3}, func(x float64) float64 { return 1 / x }},
	{"x/k0", []float64{8}, [3]float64{1, 2, 3}, func(x float64) float64 { return x / 8 }},
	{"x*k0", []float64{-1}, [3]float64{1, 2, 3}, func(x float64) float64 { return -x }},
	{"pow(x, k0)", []float64{2}, [3]float64{1, 2, 3}, func(x float64) float64 { return x * x }},
	{"pow(x, k0)", []float64{3}, [3]float64{1, 2, 3}, func(x float64) float64 { return x * x * x }},
	{"pow(x, k0)", []float64{-1}, [3]float64{1, 2, 3}, func(x float64) float64 { return 1 / x }},
	{"pow(x, k0)", []float64{0}, [3]float64{1, 2, 3}, func(x float64) float64 { return 1 }},
	{"(x+k0)*k1*k2", []float64{0, 2, 3}, [3]float64{1, 2, 3}, func(x float64) float64 { return 6 * x }},
	{"x+exp(k0)*k1", []float64{0, 2}, [3]float64{1, 2, 3}, func(x float64) float64 { return x + 2 }},
	{"where(k0 < k1, x, exp(x))", []float64{1, 2}, [3]float64{1, 2, 3}, func(x float64) float64 { return x }},
	{"-(x*k0)", []float64{3}, [3]float64{1, 2, 3}, func(x float64) float64 { return -3 * x }},
}

// A constant is rewritten as a number is, in whatever way it is given: the same operations run, and
// give the same bits, which are right.
func TestConstantIsRewrittenAsNumber(t *testing.T) {
	if os.Getenv("WEFT_COMPILE") == "off" {
		t.Skip("SKIPPED: with WEFT_COMPILE=off nothing is rewritten")
	}
	for _, d := range []weft.DType{weft.Float64, weft.Float32} {
		for _, c := range unstable {
			x := sym.New("x", d, 3)
			at := weft.FromSlice(slices.Clone(c.x[:])).To(d)
			text := c.text
			for i, k := range c.k {
				text = strings.ReplaceAll(text, fmt.Sprint("k", i), fmt.Sprintf("(%v)", k))
			}
			ops, want := operations(t, x, sym.Expr(text, weft.Vars{"x": x}), at)
			for i, v := range weft.Data[float64](want.To(weft.Float64)) {
				in := at.At(i).Item()
				tolerance := map[weft.DType]float64{weft.Float64: 1e-14, weft.Float32: 1e-6}[d]
				if w := c.want(in); math.Abs(v-w) > tolerance*math.Abs(w) && math.Abs(w) > 1e-37 {
					t.Errorf("%s of %v, %s: %v, want %v", text, in, d, v, w)
				}
			}
			for _, way := range constants {
				given := weft.Vars{"x": x}
				for i, k := range c.k {
					given[fmt.Sprint("k", i)] = way.of(x, k)
				}
				got, out := operations(t, x, sym.Expr(c.text, given), at)
				if !slices.Equal(got, ops) {
					t.Errorf("%s, %s, of a %s: runs %v, with the number in the text %v", text, d, way.name, got, ops)
				}
				if weft.Digest(out) != weft.Digest(want) {
					t.Errorf("%s, %s, of a %s: %v, with the number in the text %v", text, d, way.name, out, want)
				}
			}
		}
	}
}

// What is computed from constants alone is computed once, whatever computes it, and equal constants
// are one.
func TestConstantsAreFolded(t *testing.T) {
	if os.Getenv("WEFT_COMPILE") == "off" {
		t.Skip("SKIPPED: with WEFT_COMPILE=off nothing is rewritten")
	}
	x := sym.New("x", weft.Float64, 3)
	at := weft.FromSlice([]float64{1, 2, 3})
	vec := func(v ...float64) *sym.Var { return sym.Const(weft.FromSlice(v)) }
	sorted, _ := vec(3, 1, 2).Sort(0, weft.SortOpts{})
	m := weft.FromSlice([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3)
	for _, c := range []struct {
		name string
		y    *sym.Var
		ops  []string
		want []float64
	}{
		{"exp of a vector", x.Add(vec(0, 1, 2).Exp()), []string{"add"}, []float64{2, 2 + math.E, 3 + math.Exp(2)}},
		{"product of matrices", x.Add(sym.Const(m).MatMul(vec(1, 0, 1))), []string{"add"}, []float64{5, 12, 19}},
		{"sum and sort", x.Mul(sorted.CumSum(0)), []string{"mul"}, []float64{1, 6, 18}},
		{"result of one value", x.Mul(vec(3, 1, 2).Sum().Div(6)), nil, []float64{1, 2, 3}},
		{"gather", x.Add(vec(3, 1, 2).IndexSelect(0, sym.Const(weft.FromSlice([]int64{2, 2, 0})))), []string{"add"}, []float64{3, 4, 6}},
		{"equal constants", x.Mul(vec(1, 2, 3)).Sub(x.Mul(vec(1, 2, 3))).Add(x.Mul(vec(1, 2, 3))), []string{"mul"}, []float64{1, 4, 9}},
		{"in a loop", sym.Scan(sym.ScanOpts{Steps: new(3), Initial: []any{x}}, func(s sym.Step) sym.Next {
			one := sym.Const(weft.ScalarOf(weft.Float64, 1.0))
			return sym.Next{H: []*sym.Var{s.H[0].Mul(one).Add(one.Sub(1))}}
		}).Last[0], nil, []float64{1, 2, 3}},
	} {
		ops, out := operations(t, x, c.y, at)
		if c.name != "in a loop" && c.name != "equal constants" && !slices.Equal(ops, c.ops) {
			t.Errorf("%s: runs %v, want %v", c.name, ops, c.ops)
		}
		if c.name == "equal constants" && slices.Contains(ops[1:], "mul") {
			t.Errorf("%s: runs %v, the product more than once", c.name, ops)
		}
		for i, v := range weft.Data[float64](out) {
			if math.Abs(v-c.want[i]) > 1e-14*math.Abs(c.want[i]) {
				t.Errorf("%s: %v, want %v", c.name, out, c.want)
				break
			}
		}
	}
}

// What each call does is not folded: draws, and operations of one's own.
func TestCallsOfConstantsAreNotFolded(t *testing.T) {
	ones := sym.Const(weft.Ones(1000))
	calls := 0
	own := &sym.Op{Name: "own", Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) { calls++; return x, nil }}
	f, err := sym.Function(sym.In(), sym.Out(ones.Dropout(0.5, nil), ones.Dropout(0.5, weft.NewGenerator(1)), sym.NewRandomStreams(1).Bernoulli(ones.Mul(0.5)), own.Apply(ones.Exp())[0]))
	if err != nil {
		t.Fatal(err)
	}
	calls = 0 // a test value may have been computed, if another test asked for some
	var last []*weft.Tensor
	for range 2 {
		out, err := f.Call()
		if err != nil {
			t.Fatal(err)
		}
		for i := range last {
			if same := weft.Digest(out[i]) == weft.Digest(last[i]); same != (i == 3) {
				t.Errorf("result %d: equal in two calls: %v", i, same)
			}
		}
		last = out
	}
	if calls != 2 {
		t.Errorf("an operation of one's own was called %d times in 2 calls", calls)
	}
}

// Gradients with respect to constants go through what is computed from them.
func TestGradientOfConstant(t *testing.T) {
	for _, at := range []*weft.Tensor{weft.ScalarOf(weft.Float64, 2.0), weft.FromSlice([]float64{1, 2, 3})} {
		c := sym.Const(at)
		x := sym.New("x", weft.Float64, 3)
		cost := sym.Scan(sym.ScanOpts{Steps: new(2), Initial: []any{x}}, func(s sym.Step) sym.Next {
			return sym.Next{H: []*sym.Var{s.H[0].Mul(c)}}
		}).Last[0].Add(c.Exp().Square()).Sum()
		f, err := sym.Function(sym.In(x), sym.Out(sym.Grad(cost, []*sym.Var{c})...))
		if err != nil {
			t.Fatal(err)
		}
		out, err := f.Call(weft.FromSlice([]float64{1, 2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		g := weft.Data[float64](out[0])
		sum := 0.0
		for i := range 3 {
			k := at.Expand(3).At(i).Item()
			sum += 2*k*float64(i+1) + 2*math.Exp(2*k)
		}
		total := 0.0
		for _, v := range g {
			total += v
		}
		if math.Abs(total-sum) > 1e-12*sum {
			t.Errorf("the gradient of %v is %v, want a sum of %v", at, out[0], sum)
		}
	}
}

// SetValue takes a tensor of the variable's type or a Go number, and leaves the value as it was
// where it is given others.
func TestSetValueTypes(t *testing.T) {
	v := sym.Shared("v", weft.FromSlice([]float64{1, 2}))
	for _, bad := range []any{weft.FromSlice([]float64{5}), weft.ScalarOf(weft.Float64, 5.0), weft.FromSlice([]float64{1, 2, 3}), weft.FromSlice([]float32{1, 2}),
		weft.FromSlice([]float64{1, 2}, 1, 2), weft.FromSlice([]int64{1, 2}), (*weft.Tensor)(nil), "5", nil} {
		if err := weft.Try(func() { v.SetValue(bad) }); err == nil {
			t.Errorf("SetValue of %T %v: no error", bad, bad)
		}
	}
	if got := weft.Data[float64](v.Tensor()); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("refused values were written: %v", got)
	}
	v.SetValue(weft.FromSlice([]float64{3, 4}))
	if got := weft.Data[float64](v.Tensor()); !slices.Equal(got, []float64{3, 4}) {
		t.Errorf("%v, want 3 and 4", got)
	}
	v.SetValue(7)
	if got := weft.Data[float64](v.Tensor()); !slices.Equal(got, []float64{7, 7}) {
		t.Errorf("%v, want 7 twice", got)
	}
}

// NoDefaultUpdates holds all random variables: a call draws what the one before it drew, and other
// functions go on from there.
func TestNoDefaultUpdatesHoldsDraws(t *testing.T) {
	for name, draw := range map[string]func() *sym.Var{
		"uniform":  func() *sym.Var { return sym.NewRandomStreams(3).Uniform(weft.Float32, 0, 1, 50) },
		"normal":   func() *sym.Var { return sym.NewRandomStreams(3).Normal(weft.Float64, 0, 1, 50) },
		"integers": func() *sym.Var { return sym.NewRandomStreams(3).Integers(0, 1<<40, 50) },
		"bernoulli": func() *sym.Var {
			return sym.NewRandomStreams(3).Bernoulli(sym.Const(weft.FullOf(weft.Float32, 0.5, 200)))
		},
		"dropout": func() *sym.Var { return sym.Const(weft.Ones(200)).Dropout(0.5, weft.NewGenerator(2)) },
		"mrg":     func() *sym.Var { return sym.NewMRGStreams(3).Uniform(weft.Float32, 0, 1, 50) },
		"in a loop": func() *sym.Var {
			s := sym.NewRandomStreams(4)
			return sym.Scan(sym.ScanOpts{Steps: new(5)}, func(sym.Step) sym.Next {
				return sym.Next{Out: []*sym.Var{s.Uniform(weft.Float32, 0, 1, 4)}}
			}).Out[0]
		},
	} {
		v := draw()
		held, err := sym.Function(sym.In(), sym.Out(v), sym.NoDefaultUpdates{})
		if err != nil {
			t.Fatal(err)
		}
		free, err := sym.Function(sym.In(), sym.Out(v))
		if err != nil {
			t.Fatal(err)
		}
		copied, err := held.Copy(sym.CopyOpts{})
		if err != nil {
			t.Fatal(err)
		}
		call := func(f *sym.Fn) string {
			out, err := f.Call()
			if err != nil {
				t.Fatal(err)
			}
			return weft.Digest(out[0])
		}
		a, b, c, d, e, g := call(held), call(held), call(copied), call(free), call(held), call(free)
		if a != b || a != c || a != d {
			t.Errorf("%s: calls that hold draws differ, or from the next one that does not", name)
		}
		if e != g || e == a {
			t.Errorf("%s: a call that holds draws does not draw what the next one draws", name)
		}
	}
}
