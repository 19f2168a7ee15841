package weft

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"weft/internal/core"
	"weft/internal/formula"
	"weft/internal/graphtext"
)

// reread evaluates what Explain writes of a formula, line by line, and returns the result;
// nil if some line is beyond the language.
func reread(t *testing.T, text string, vars Vars) *Tensor {
	t.Helper()
	f, err := ParseExpr(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	v, ops := f.bind([]any{vars}, nil)
	var names graphtext.Names
	names.Inputs, names.Scalars = v.Labels()
	known := Vars{}
	for k, x := range vars {
		known[k] = x
	}
	var last *Tensor
	for _, l := range graphtext.Formulas(core.Lookup(v.Def, nil, ops).Graph(), names) {
		if !l.Readable {
			if !strings.ContainsAny(l.Text, "[{") && !strings.Contains(l.Text, "complex(") {
				t.Errorf("%q became %q: what of it is not in the language?", text, l.Text)
			}
			return nil
		}
		y, err := ParseExpr(l.Text)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, l.Text, err)
		}
		z, err := y.Eval(known)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, l.Text, err)
		}
		known[l.Name], last = z, z
	}
	return last
}

// The formulas of Explain are formulas: Expr reads them, and computes the same bits.
func TestExplainedFormulasReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 12)
	for i := range x {
		x[i] = 4*r.Float64() - 2
	}
	vars := Vars{
		"x": FromSlice(x, 3, 4).To(Float32), "y": FromSlice(x, 4, 3).T().Clone().Add(0.5), "r": FromSlice(x[:4]).To(Float32),
		"n": FromSlice(x, 3, 4).Mul(10).To(Int32), "b": FromSlice(x, 3, 4).Gt(0), "u": FromSlice(x, 3, 4).Square().Mul(9).To(Uint8), "lr": 0.3, "k": 3,
	}
	arrays := []string{"x", "y", "r", "n", "b", "u"}
	read, count := 0, 0
	check := func(text string) {
		t.Helper()
		var want *Tensor
		if err := Try(func() { want = Expr(text, vars) }); err != nil {
			return // of types or shapes that do not fit
		}
		count++
		got := reread(t, text, vars)
		if got == nil {
			return
		}
		read++
		if Digest(got) != Digest(want) {
			t.Errorf("%q read back: %v, want %v", text, got, want)
		}
	}
	// Every function of the language, of every array.
	for _, name := range formula.Functions() {
		for _, a := range arrays {
			for _, args := range []string{"", ", 0", ", 1", ", " + a, ", x", ", 0, 1", ", 0.5, 2"} {
				check(name + "(" + a + args + ")")
			}
		}
	}
	// Every nesting of operators: parentheses are neither too many nor too few to be the
	// same tree.
	ops := []string{"+", "-", "*", "/", "%", "<", ">=", "==", "&&", "||", "&", "|", "^", "<<", ">>"}
	for _, p := range ops {
		for _, q := range ops {
			check("(n " + p + " u) " + q + " n")
			check("n " + p + " (u " + q + " n)")
			check("x " + p + " (y " + q + " lr*2)")
			check("-x " + p + " -(y " + q + " -2.5)")
		}
	}
	for range 300 {
		check(randomFormula(r, 4))
	}
	for _, text := range []string{"sum(x, 0, 1)", "sum(sum_keep(x, 1), 0)", "amax_keep(x) - x", "logsumexp(x*2*lr, 1)", "softmax(x, 0) + softmax(x, 0)",
		"!(x > 0 && y < 1)", "(1.0/0.0)*x", "x - 1e-30", "pow(x, -3)", "pow(abs(x), 0.3)", "where(b, x, 0.0)*k", "dot(x, pow(y, 2)/3)", "^n &^ u", "std(x, 0) + var(y)"} {
		check(text)
	}
	if count < 1000 || read < count*8/10 {
		t.Errorf("%d of %d formulas were readable", read, count)
	}
}

func randomFormula(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(6) == 0 {
		return []string{"x", "y", "r", "2", "0.5", "lr", "k", "-1.5"}[r.IntN(8)]
	}
	a, b := randomFormula(r, depth-1), randomFormula(r, depth-1)
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("exp(-abs(%s))", a)
	case 1:
		return fmt.Sprintf("where(%s < %s, %s, %s)", a, b, b, a)
	case 2:
		return fmt.Sprintf("-(%s)", a)
	}
	return fmt.Sprintf("(%s) %s (%s)", a, []string{"+", "-", "*", "/"}[r.IntN(4)], b)
}

// A golden text: what Explain shows before the plan.
func TestExplainShowsTheGraph(t *testing.T) {
	f, err := ParseExpr("softmax(x*x, 1) - 2*lr*mean_keep(x, 0)")
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Explain(Vars{"x": Ones(3, 4), "lr": 0.5})
	if err != nil {
		t.Fatal(err)
	}
	want := `t1 = x * x
t2 = exp(t1 - max_keep(t1, 1))
out = t2 / sum_keep(t2, 1) - (2 * lr) * (sum_keep(x, 0) / 3.0)

sub #1 float32[3 4]
├─ div #2 float32[3 4]
│  ├─ exp #3 float32[3 4], read 2 times
│  │  └─ sub #4 float32[3 4]
│  │     ├─ mul #5 float32[3 4], read 2 times
│  │     │  ├─ x #6 float32[3 4]
│  │     │  └─ x #6 ^
│  │     └─ reduce_max{1:2} #7 float32[3 1]
│  │        └─ mul #5 ^
│  └─ reduce_sum{1:2} #8 float32[3 1]
│     └─ exp #3 ^
└─ mul #9 float32[1 4]
   ├─ (2 * lr) #10 float32[]
   └─ div #11 float32[1 4]
      ├─ reduce_sum{0:1} #12 float32[1 4]
      │  └─ x #6 ^
      └─ 3.0 #13 float32[]

step 0: `
	if !strings.HasPrefix(s, want) {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}
