package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"weft/internal/array"
	. "weft/internal/kernel"
	"weft/internal/loop"
)

// sharing runs f with calls that share bodies from such sizes on.
func sharing(body, code int, f func()) {
	a, b, c := SharedBody, SharedCode, SharedBranched
	defer func() { SharedBody, SharedCode, SharedBranched = a, b, c }()
	SharedBody, SharedCode, SharedBranched = body, code, code
	f()
}

const never = 1 << 30

// TestSharedPlainly: functions compute as Go does where all calls that can share a body.
func TestSharedPlainly(t *testing.T) { sharing(1, 1, func() { TestPlainly(t) }) }

// TestSharedDerivatives: derivatives go through bodies that calls share.
func TestSharedDerivatives(t *testing.T) {
	sharing(1, 1, func() { TestDerivatives(t) })
	r := rand.New(rand.NewPCG(8, 8))
	var x, y []float64
	for range 40 {
		x, y = append(x, 2*r.Float64()-1), append(y, 2*r.Float64()-1)
	}
	for _, name := range []string{"Twice", "Branches"} {
		for _, by := range [][]int{{0}, {1}, {0, 1}} {
			var want, got []float64
			sharing(never, never, func() { want = derive(t, name, x, y, by...) })
			sharing(1, 1, func() { got = derive(t, name, x, y, by...) })
			for i := range want {
				if !sameFloat(want[i], got[i]) {
					t.Fatalf("%s by %v at %v, %v: %v, in place %v", name, by, x[i], y[i], got[i], want[i])
				}
			}
		}
	}
}

// lowered is the loop program of a function of float64.
func lowered(t *testing.T, f *Func) *loop.Program {
	t.Helper()
	inst, err := f.Instantiate([]array.DType{array.Float64})
	if err != nil {
		t.Fatal(err)
	}
	b := loop.NewBuilder("f", []loop.Axis{{}}, 0)
	b.Pass(func() { inst.EmitKernel(emitter(b, inst)) })
	return b.Program()
}

// TestSharedSize: calls take a body and a few instructions each, whatever they depend on.
func TestSharedSize(t *testing.T) {
	size := func(calls int, form string) int {
		text, others := "", ""
		for i := range calls {
			s, more, _ := strings.Cut(strings.ReplaceAll(form, "#", fmt.Sprint(i)), "\n")
			text, others = text+s+"\n", others+more+"\n"
		}
		return len(lowered(t, kernelOf(t, `import "math"`, "func F(x float64) float64 {\n"+text+"return x }\nfunc large(x float64) float64 { if x > 1 { x = math.Sin(x) + math.Exp(x) }; return math.Log(x*x + 1) }\n"+others)).Ins)
	}
	for _, form := range []string{
		"x = large(x)",
		"x = large(x) + large(x+#)",
		"y# := large(x); x += y#",
		"if x > # { x = large(x) }",
		"if x > # { x = large(x) } else { x = large(x+1) - # }",
		"if large(x) > # { x++ } else if x < # { x = large(x+#) }",
		"if x > # { return large(x+#) }",
		"if x > # && large(x) > 2 || large(x+#) < 1 { x++ }",
		"switch { case x > #: x = large(x); case large(x) < #: x = large(large(x)); default: x += large(x) }",
		"x = f#(x)\nfunc f#(x float64) float64 { if x > # { return large(x-#) }; return large(x+#) }",
	} {
		one, hundred, many := size(1, "x = large(x)"), size(100, form), 0
		sharing(SharedBody, SharedCode, func() { many = size(20, form) })
		const each = 140 // of four calls at most; in place one alone takes twice as many
		if many > one+20*each || hundred > one+100*each {
			t.Errorf("%s: 20 times %d instructions, 100 times %d, once %d", form, many, hundred, one)
		}
	}
}

// TestSharedDeep: functions that call the next one twice each are there once each.
func TestSharedDeep(t *testing.T) {
	var b strings.Builder
	b.WriteString("func F(x float64) float64 { return f0(x) }\n")
	const n = 30
	for i := range n {
		fmt.Fprintf(&b, "func f%d(x float64) float64 { if x > 0 { return f%d(x) }; return f%d(x+1) }\n", i, i+1, i+1)
	}
	fmt.Fprintf(&b, "func f%d(x float64) float64 { return x }\n", n)
	p := lowered(t, kernelOf(t, "", b.String()))
	if len(p.Ins) > 10000 {
		t.Errorf("%d instructions", len(p.Ins))
	}
}

// TestSharedPlaces: of a place that is carried past calls the bounds would be forgotten, and a
// plain array be refused.
func TestSharedPlaces(t *testing.T) {
	sharing(1, 1, func() {
		f := kernelOf(t, `import "weft/kernel"`, `func F(x float64, a kernel.Array1[float64]) float64 {
	x = G(x)
	n := 2
	x = G(x)
	return x + a.At(n)
}
func G(x float64) float64 { return x*x + x }`)
		if _, err := f.Instantiate([]array.DType{array.Float64, array.Float64}); err != nil {
			t.Error(err)
		}
	})
}

// TestSharedOrder: what is read and drawn is in the order of the source.
func TestSharedOrder(t *testing.T) {
	for _, body := range []string{
		"func F(x float64, e kernel.Elem) float64 { return e.Rand64() + G(e.Rand64()) + G(e.Rand64()) }",
		"func F(x float64, e kernel.Elem) float64 { y := G(x); z := e.Rand64(); return y + G(z) }",
	} {
		var programs [2]string
		for i, code := range []int{1, never} {
			sharing(1, code, func() {
				programs[i] = fmt.Sprint(lowered(t, kernelOf(t, `import "weft/kernel"`, body+"\nvar _ kernel.Elem\nfunc G(x float64) float64 { return x*x + x }")))
			})
		}
		if programs[0] != programs[1] {
			t.Errorf("%s:\n%s\n%s", body, programs[0], programs[1])
		}
	}
}
