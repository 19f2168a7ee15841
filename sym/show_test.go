package sym_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/rewrite"
	"weft/internal/tensortest"
	"weft/sym"
)

// An expression as it was written: as a tree and as formulas.
func ExampleDebugPrint() {
	x, w := sym.Matrix("x", weft.Float32), sym.Shared("w", weft.Zeros(3))
	p := x.MatMul(w).Sigmoid().As("p")
	fmt.Print(sym.DebugPrint(p.Sum(0)))
	fmt.Print(sym.Pretty(p.Log().Sub(p)))
	// Output:
	// sum{0} #1 float32[]  show_test.go:20
	// └─ sigmoid #2 float32[?]  p  show_test.go:19
	//    └─ matmul #3 float32[?]  show_test.go:19
	//       ├─ x #4 float32[? ?]
	//       └─ w #5 float32[3]
	// p = sigmoid(matmul(x, w))
	// out = log(p) - p
}

// What a function computes in place of what was written.
func ExampleFn_Explain() {
	x := sym.Vector("x", weft.Float64)
	f, err := sym.Function(sym.In(x), sym.Out(x.Exp().Add(1).Log()))
	if err != nil {
		panic(err)
	}
	f.Call(weft.FromSlice([]float64{1, 1000}))
	before, _, _ := strings.Cut(f.Explain(), "\n\nout") // the kernel and its machine code follow
	fmt.Println(strings.Join(strings.Split(before, "\n")[:5], "\n"))
	// Output:
	// as traced:
	// out = log(exp(x) + 1.0)
	//
	// as planned:
	// out = softplus(x)
}

func TestPrettyReadsBack(t *testing.T) {
	x, y := sym.Vector("x", weft.Float64), sym.Vector("y", weft.Float64)
	z := x.Mul(2).Sub(y.Exp()).Div(x.Square().Add(1.5)).Maximum(y.Neg())
	text, ok := strings.CutPrefix(strings.TrimSpace(sym.Pretty(z)), "out = ")
	if !ok {
		t.Fatalf("%q", text)
	}
	f, err := sym.Function(sym.In(x, y), sym.Out(z, sym.Expr(text, weft.Vars{"x": x, "y": y})))
	if err != nil {
		t.Fatal(err)
	}
	a, b := tensortest.Noise(1, 1, 7).To(weft.Float64), tensortest.Noise(2, 1, 7).To(weft.Float64)
	out, err := f.Call(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := weft.Data[float64](out[1]), weft.Data[float64](out[0]); !slices.Equal(got, want) {
		t.Errorf("%s gives %v, want %v", text, got, want)
	}
}

// Variables that are not read again, and equal ones that were written twice, have lines of their own.
func TestDebugPrintKeepsWhatWasWritten(t *testing.T) {
	x := sym.Vector("x", weft.Float32)
	text := sym.DebugPrint(x.Exp().Add(x.Exp()))
	if n := strings.Count(text, "exp"); n != 2 || strings.Contains(text, "exp #2 ^") {
		t.Errorf("want two lines of exp:\n%s", text)
	}
}

func TestDebugPrintOfLoopsAndBranches(t *testing.T) {
	x, h := sym.Matrix("x", weft.Float32), sym.Vector("h", weft.Float32)
	r := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h}}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Add(s.X[0]).Tanh()}}
	})
	y := sym.IfElse(h.Sum().Gt(0), func() []*sym.Var { return []*sym.Var{r.Last[0].Cos()} }, func() []*sym.Var { return []*sym.Var{h.Sin()} })
	text := sym.DebugPrint(y...)
	for _, want := range []string{"ifelse", "a step of scan", "tanh", "then of ifelse", "cos", "else of ifelse", "sin"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if s := sym.DebugPrint(h.Slice(weft.Range(1, weft.End), weft.NewAxis)); !strings.Contains(s, "slice{1:, None}") {
		t.Errorf("%s", s)
	}
}

// A node that a rule made names it, in text and in pages.
func TestShowingNamesRules(t *testing.T) {
	x := sym.Vector("x", weft.Float64)
	f, err := sym.Function(sym.In(x), sym.Out(x.Exp().Add(1).Log()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Call(weft.Ones(3).To(weft.Float64)); err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := f.View(&page, nil); err != nil {
		t.Fatal(err)
	}
	rule := ""
	for _, r := range rewrite.Rules() {
		if strings.Contains(r.Doc, "softplus(x)") && strings.Contains(f.Explain(), "softplus #1 float64[3]  show_test.go:100  by "+r.Name+"\n") {
			rule = r.Name
		}
	}
	if rule == "" || !strings.Contains(f.DOT(), rule) {
		t.Errorf("no rule behind softplus:\n%s", f.Explain())
	}
}

func TestShowingFunctions(t *testing.T) {
	x, w := sym.Vector("input", weft.Float32), sym.Shared("weight", weft.Ones(3))
	f, err := sym.Function(sym.In(x), sym.Out(x.Mul(w).Sum()), sym.Updates{w: w.Add(x)}, sym.Named("step"))
	if err != nil {
		t.Fatal(err)
	}
	if err := weft.Try(func() { f.Explain() }); err == nil || !strings.Contains(err.Error(), "not called yet") {
		t.Errorf("Explain before a call: %v", err)
	}
	p := weft.StartProfile()
	if _, err := f.Call(weft.Ones(3)); err != nil {
		t.Fatal(err)
	}
	p.Stop()
	var page bytes.Buffer
	if err := f.View(&page, p); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"Explain": f.Explain(), "DOT": f.DOT(), "View": page.String()} {
		for _, want := range []string{"input", "weight", "show_test.go:"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q", what, want)
			}
		}
	}
	if err := f.View(nil, nil); err == nil {
		t.Error("View into nil gave no error")
	}
}

// Functions whose sizes are values are shown too, and functions of shared variables that grow.
func TestShowingSizedFunctions(t *testing.T) {
	x, i := sym.Matrix("rows", weft.Float32), sym.Scalar("i", weft.Int64)
	grown := sym.Shared("grown", weft.Zeros(2), sym.Any)
	for name, v := range map[string]*sym.Var{
		"rows":  x.Slice(sym.Range(i.Mul(4), i.Add(1).Mul(4))).Sum(0),
		"grown": sym.Zeros(i.Add(2)).Sum().Add(grown.Add(1).Sum()),
	} {
		f, err := sym.Function(sym.In(x, i), sym.Out(v), sym.IgnoreUnused)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Call(weft.Ones(10, 2), 1); err != nil {
			t.Fatal(err)
		}
		var page bytes.Buffer
		if err := f.View(&page, nil); err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"Explain": f.Explain(), "DOT": f.DOT(), "View": page.String(), "DebugPrint": sym.DebugPrint(v)} {
			if !strings.Contains(text, name) {
				t.Errorf("%s has no %q", what, name)
			}
		}
	}
}

// Explain shows the functions of loops and branches below their nodes. Rules that took a loop apart and
// made it anew leave the names of the rules that made nodes of its step.
func TestExplainShowsFunctionsOfLoops(t *testing.T) {
	x, w, c := sym.Vector("x", weft.Float64), sym.Vector("w", weft.Float64), sym.Scalar("c", weft.Float64)
	r := sym.Scan(sym.ScanOpts{Initial: []any{x}, Sequences: []any{w}}, func(s sym.Step) sym.Next {
		y := s.H[0].Exp().Add(1).Log().Add(w.Sum().Mul(1)).Add(s.X[0])
		return sym.Next{H: []*sym.Var{y.Mul(1)}, Out: []*sym.Var{y.Mul(y), y}}
	})
	either := sym.IfElse(c.Gt(0), func() []*sym.Var { return []*sym.Var{r.Out[0].Sin()} }, func() []*sym.Var { return []*sym.Var{r.Out[0].Exp().Add(1).Log()} })
	f, err := sym.Function(sym.In(x, w, c), sym.Out(r.Last[0], either[0]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Call(weft.Zeros(3).To(weft.Float64), weft.Zeros(4).To(weft.Float64), 1); err != nil {
		t.Fatal(err)
	}
	got := f.Explain()
	for _, want := range []string{
		"each step:\n" +
			"   │    next state0 = add #3 float64[3], read 2 times  by order of operands\n" +
			"   │    ├─ x0 #4 float64[]\n" +
			"   │    └─ add #5 float64[3]  by order of operands\n" +
			"   │       ├─ constant0 #6 float64[]\n" +
			"   │       └─ softplus #7 float64[3]  by softplus\n" +
			"   │          └─ state0 #8 float64[3]\n" +
			"   │    kept0 = square #9 float64[3]  by product with itself\n" +
			"   │    └─ add #3 ^\n" +
			"   ├─ w #10 float64[4]\n",
		"then:\n", "result0 = sin", "else:\n", "result0 = softplus",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("Explain lacks\n%s", want)
		}
	}
	if t.Failed() {
		t.Log(got[:strings.Index(got, "step 0")])
	}
}
