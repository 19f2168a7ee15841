package sym_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/sym"
)

// valueAt compiles y of x with options and returns its value at a number.
func valueAt(t *testing.T, x, y *sym.Var, at float64, opts ...sym.Option) float64 {
	t.Helper()
	f, err := sym.Function(sym.In(x), sym.Out(y), append(opts, sym.IgnoreUnused)...)
	if err != nil {
		t.Fatal(err)
	}
	var got float64
	for _, g := range []*sym.Fn{f, f.Debug(weft.DebugOpts{Verify: true}), must(f.Copy())} {
		out, err := g.Call(at)
		if err != nil {
			t.Fatal(err)
		}
		if v := out[0].Item(); g == f {
			got = v
		} else if v != got && !(v != v && got != got) {
			t.Errorf("a copy gives %v, the function %v", v, got)
		}
	}
	return got
}

// A mode decides what rules change: values at which exact, stable and fast results differ.
func TestModes(t *testing.T) {
	x := sym.Scalar("x", weft.Float64)
	soft := x.Exp().Add(1).Log()
	difference := x.Sub(x)
	c := sym.Const(weft.FromSlice([]float64{1000, 2}, 2))
	constant := c.Exp().Add(1).Log().Max().Add(x)
	inf, nan := math.Inf(1), math.NaN()
	for i, w := range []struct {
		y    *sym.Var
		at   float64
		opts []sym.Option
		want float64
	}{
		{soft, 1000, nil, 1000},
		{soft, 1000, []sym.Option{sym.Stable}, 1000},
		{soft, 1000, []sym.Option{sym.Exact}, inf},
		{soft, 1000, []sym.Option{sym.Fast}, 1000},
		{soft, 1000, []sym.Option{sym.Excluding("softplus")}, inf},
		{soft, 1000, []sym.Option{sym.Exact, sym.Including("softplus")}, 1000},
		{difference, inf, nil, nan},
		{difference, inf, []sym.Option{sym.Fast}, 0},
		{difference, inf, []sym.Option{sym.Including("difference of equals")}, 0},
		{difference, inf, []sym.Option{sym.Fast, sym.Excluding("difference of equals", "terms")}, nan},
		{constant, 0, nil, 1000},
		{constant, 0, []sym.Option{sym.Exact}, inf},
		{constant, 0, []sym.Option{sym.Fast}, 1000},
		{constant, 0, []sym.Option{sym.Excluding("softplus")}, inf},
	} {
		if got := valueAt(t, x, w.y, w.at, w.opts...); got != w.want && !(got != got && w.want != w.want) {
			t.Errorf("row %d: %v, want %v", i, got, w.want)
		}
	}
}

// The mode of a function holds in the steps of its loops.
func TestModeOfLoop(t *testing.T) {
	x := sym.Scalar("x", weft.Float64)
	y := sym.Scan(sym.ScanOpts{Steps: new(2), Initial: []any{x}}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Exp().Add(1).Log()}}
	}).Last[0]
	if got := valueAt(t, x, y, 1000); got != 1000 {
		t.Errorf("a stable function gives %v", got)
	}
	if got := valueAt(t, x, y, 1000, sym.Exact); !math.IsInf(got, 1) {
		t.Errorf("an exact function gives %v", got)
	}
}

// Rules that there are not are errors that suggest rules.
func TestUnknownRules(t *testing.T) {
	x := sym.Scalar("x", weft.Float64)
	for _, w := range []struct {
		opts []sym.Option
		want string
	}{
		{[]sym.Option{sym.Including("softpls")}, `there is no rule "softpls": did you mean "softplus"`},
		{[]sym.Option{sym.Excluding("product exponentials")}, `"product of exponentials"`},
		{[]sym.Option{sym.Excluding("local_mul_canonizer")}, `docs/from-theano.md shows what sym does for Theano's`},
		{[]sym.Option{sym.Excluding("zq")}, `there is no rule "zq" (sym.Rules lists them)`},
		{[]sym.Option{sym.Excluding("softplus"), sym.Including("softplus")}, `"softplus" is both included and excluded`},
		{[]sym.Option{sym.Mode(7)}, "is 7: want sym.Exact, sym.Stable or sym.Fast"},
	} {
		_, err := sym.Function(sym.In(x), sym.Out(x.Exp()), w.opts...)
		var e *weft.Error
		if !errors.As(err, &e) || e.Op != "function" || !strings.Contains(err.Error(), w.want) {
			t.Errorf("got %v, want %s", err, w.want)
		}
	}
}

// Every rule can be excluded: functions run without it and give what they should.
func TestEveryRuleExcluded(t *testing.T) {
	x := sym.Matrix("x", weft.Float64)
	w := sym.Shared("w", weft.FromSlice([]float64{1, 2, 3, 4}, 2, 2))
	h := sym.Scan(sym.ScanOpts{Steps: new(3), Initial: []any{x}}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].MatMul(w).Tanh()}}
	}).Last[0]
	cost := sym.DisconnectedGrad(h).Add(h.Softmax(1).Log()).Sum()
	g := sym.Grad(cost, []*sym.Var{w})[0]
	at := weft.FromSlice([]float64{0.1, -0.2, 0.3, 0.4}, 2, 2)
	var want []*weft.Tensor
	for _, r := range append([]sym.Rule{{}}, sym.Rules()...) {
		opts := []sym.Option{sym.Fast}
		if r.Name != "" {
			opts = append(opts, sym.Excluding(r.Name))
		}
		f, err := sym.Function(sym.In(x), sym.Out(cost, g), opts...)
		if err != nil {
			t.Fatal(err)
		}
		out, err := f.Call(at)
		if err != nil {
			t.Fatalf("without %q: %v", r.Name, err)
		}
		if want == nil {
			want = out
		}
		for i := range out {
			if d := out[i].Sub(want[i]).Abs().Max().Item(); !(d < 1e-12) {
				t.Errorf("without %q result %d differs by %v", r.Name, i, d)
			}
		}
	}
}

// Names of rules are unique, and every rule says what it does.
func TestRulesAreNamed(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range sym.Rules() {
		if r.Name == "" || r.Doc == "" || seen[r.Name] {
			t.Errorf("rule %q: %q", r.Name, r.Doc)
		}
		seen[r.Name] = true
	}
	if len(seen) < 100 {
		t.Errorf("%d rules", len(seen))
	}
}

func ExampleMode() {
	x := sym.Scalar("x", weft.Float64)
	y := x.Exp().Add(1).Log()
	for _, m := range []sym.Mode{sym.Exact, sym.Stable} {
		f, err := sym.Function(sym.In(x), sym.Out(y), m)
		if err != nil {
			panic(err)
		}
		out, err := f.Call(1000)
		if err != nil {
			panic(err)
		}
		fmt.Println(m, out[0])
	}
	// Output:
	// exact inf
	// stable 1000.0
}

func ExampleExcluding() {
	x := sym.Scalar("x", weft.Float64)
	f, err := sym.Function(sym.In(x), sym.Out(x.Exp().Add(1).Log()), sym.Excluding("softplus"))
	if err != nil {
		panic(err)
	}
	out, err := f.Call(1000)
	if err != nil {
		panic(err)
	}
	fmt.Println(out[0])
	// Output: inf
}

func ExampleIncluding() {
	x := sym.Scalar("x", weft.Float64)
	f, err := sym.Function(sym.In(x), sym.Out(x.Exp().Mul(x.Neg().Exp())), sym.Including("product of exponentials"))
	if err != nil {
		panic(err)
	}
	out, err := f.Call(1000) // exp(0), not 0*Inf
	if err != nil {
		panic(err)
	}
	fmt.Println(out[0])
	// Output: 1.0
}

func ExampleRules() {
	i := slices.IndexFunc(sym.Rules(), func(r sym.Rule) bool { return r.Name == "softplus" })
	r := sym.Rules()[i]
	fmt.Printf("%s (%s): %s\n", r.Name, r.Mode, r.Doc)
	// Output: softplus (stable): log(1+exp(x)), log1p(exp(x)) -> softplus(x)
}

// Debug of a function finds the first infinity or great number, and names the line of the variable.
func TestDebugFindsInfinity(t *testing.T) {
	x := sym.Vector("x", weft.Float64)
	y := x.Exp().Reciprocal().Sum()
	f, err := sym.Function(sym.In(x), sym.Out(y))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []weft.DebugOpts{{Inf: true}, {Big: 1e10}} {
		_, err = f.Debug(o).Call(weft.FromSlice([]float64{1, 1000}))
		if err == nil || !strings.Contains(err.Error(), "exp gives") || !strings.Contains(err.Error(), "the first at [1]") || !strings.Contains(err.Error(), "mode_test.go:") {
			t.Errorf("%+v: got %v", o, err)
		}
		if _, err := f.Debug(o).Call(weft.FromSlice([]float64{1, 2})); err != nil {
			t.Error(err)
		}
	}
}

// A product of matrices with factors and a sum is one routine and its epilogue in fast functions, as
// BLAS's gemm: alpha*a@b + beta*c.
func TestProductWithFactorsIsOneStep(t *testing.T) {
	if os.Getenv("WEFT_COMPILE") == "off" {
		t.Skip("SKIPPED: with WEFT_COMPILE=off nothing is planned")
	}
	a, b, c := sym.Matrix("a", weft.Float64), sym.Matrix("b", weft.Float64), sym.Matrix("c", weft.Float64)
	alpha, beta := sym.Scalar("alpha", weft.Float64), sym.Scalar("beta", weft.Float64)
	g := weft.NewGenerator(3)
	A, B, C := g.RandnOf(weft.Float64, 20, 30), g.RandnOf(weft.Float64, 30, 40), g.RandnOf(weft.Float64, 20, 40)
	want := A.MatMul(B).Mul(-1.5).Add(C.Mul(0.25))
	for name, y := range map[string]*sym.Var{
		"behind the product":  alpha.Mul(a.MatMul(b)).Add(beta.Mul(c)),
		"in an operand":       a.Mul(alpha).MatMul(b).Add(c.Mul(beta)),
		"as a negative":       beta.Mul(c).Sub(a.MatMul(b.Neg().Mul(alpha))),
		"as the divisor of c": a.MatMul(alpha.Mul(b)).Add(c.Div(beta.Reciprocal())),
	} {
		f, err := sym.Function(sym.In(a, b, c, alpha, beta), sym.Out(y), sym.Fast)
		if err != nil {
			t.Fatal(err)
		}
		out, err := f.Call(A, B, C, -1.5, 0.25)
		if err != nil {
			t.Fatal(err)
		}
		if d := out[0].Sub(want).Abs().Max().Item(); !(d < 1e-12) {
			t.Errorf("%s: the result is %v off", name, d)
		}
		if plan := f.Explain(); !strings.Contains(plan, "\nepilogue 0:") || strings.Contains(plan, "\nstep 1:") {
			t.Errorf("%s: not one step with an epilogue:\n%.1500s", name, plan)
		}
	}
}
