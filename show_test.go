package weft

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// A compiled function shows the lines of the user, from the trace to the plan.
func TestCompiledShows(t *testing.T) {
	w := noise(1, .1, 20, 5).RequireGrad()
	step := Compile(func(x *Tensor) *Tensor {
		y := x.MatMul(w)         // line A
		z := y.Mul(1).Tanh()     // line B
		loss := z.Square().Sum() // line C
		loss.Backward()
		WithoutGrad(func() { w.SubAssign(w.Grad().Mul(0.1)) })
		w.SetGrad(nil)
		return loss
	})
	var e *Error
	if err := step.View(io.Discard, nil); !errors.As(err, &e) {
		t.Errorf("View before the first call: %v", err)
	}
	if err := Try(func() { step.Explain() }); !errors.As(err, &e) {
		t.Errorf("Explain before the first call: %v", err)
	}
	x := noise(2, 1, 30, 20)
	p := StartProfile(ProfileOpts{})
	for range 3 {
		if _, err := step.Call(x); err != nil {
			t.Fatal(err)
		}
	}
	p.Stop()
	s := step.Explain()
	for _, want := range []string{"dot(arg0, ", "tanh", "show_test.go:16", "show_test.go:17", "show_test.go:18", "step 0", "reduce_sum"} {
		if !strings.Contains(s, want) {
			t.Errorf("Explain has no %q:\n%.3000s", want, s)
		}
	}
	var page strings.Builder
	if err := step.View(&page, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name":"traced"`, `"name":"canonicalise"`, `"name":"rewritten"`, `"name":"plan"`, "show_test.go:16", "GB/s"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	// The profile knows the function, its kernels, and what compiling it took.
	if r := find(t, p.Operations(), step.c.Name); r.Calls != 3 || r.Flops < 3*3*2*30*20*5/2 {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"trace", "rewrite: canonicalise", "plan", "kernels"} {
		find(t, p.Phases(), name)
	}
	if len(p.Rules()) == 0 || !slices.ContainsFunc(p.Rules(), func(r ProfileRow) bool { return r.Calls > 0 }) {
		t.Errorf("rules: %v", p.Rules())
	}
	if s := p.String(); !strings.Contains(s, "rules of rewriting") || !strings.Contains(s, "rewrite: merge") {
		t.Error(s)
	}
}

func ExampleCompiled_Explain() {
	f := Compile(func(x, y *Tensor) *Tensor { return x.Mul(x).Add(y.Mul(x)).Exp() })
	f.Call(Ones(3), Ones(3))
	formula, _, _ := strings.Cut(f.Explain(), "\n")
	fmt.Println(formula)
	// Output: out = exp(square(arg0) + arg0 * arg1)
}

func ExampleFormula_View() {
	f, _ := ParseExpr("exp(-x*x)*sin(x)")
	var page strings.Builder
	err := f.View(&page, Vars{"x": Ones(1000)})
	fmt.Println(strings.HasPrefix(page.String(), "<!doctype html>"), err)
	// Output: true <nil>
}
