package weft

import (
	"fmt"
	"strings"
	"testing"
)

// A formula gives what the methods give, in every combination of types: the same type and
// the same bits, or a refusal from both. A float64 array beside them changes nothing.
func TestExprTypesAreThoseOfMethods(t *testing.T) {
	binaries := []struct {
		text string
		do   func(a *Tensor, b any) *Tensor
	}{
		{"x + y", (*Tensor).Add}, {"x - y", (*Tensor).Sub}, {"x * y", (*Tensor).Mul}, {"x / y", (*Tensor).Div}, {"x % y", (*Tensor).Mod},
		{"floordiv(x, y)", (*Tensor).FloorDiv}, {"max(x, y)", (*Tensor).Maximum}, {"minimum(x, y)", (*Tensor).Minimum}, {"atan2(x, y)", (*Tensor).Atan2},
		{"pow(x, y)", (*Tensor).Pow}, {"x == y", (*Tensor).Eq}, {"x < y", (*Tensor).Lt}, {"x >= y", (*Tensor).Ge}, {"x && y", (*Tensor).LogicalAnd}, {"x || y", (*Tensor).LogicalOr},
		{"x & y", (*Tensor).BitAnd}, {"x | y", (*Tensor).BitOr}, {"x ^ y", (*Tensor).BitXor}, {"x << y", (*Tensor).Shl}, {"x >> y", (*Tensor).Shr},
		{"where(x, y, 0.3)", func(a *Tensor, b any) *Tensor { return Where(a, b, 0.3) }},
		{"where(x, 0.1, y)", func(a *Tensor, b any) *Tensor { return Where(a, 0.1, b) }},
		{"clamp(x, y, 2)", func(a *Tensor, b any) *Tensor { return a.Clamp(b, 2) }},
		{"clamp(x, 0.1, y)", func(a *Tensor, b any) *Tensor { return a.Clamp(0.1, b) }},
	}
	var arrays []*Tensor
	for _, d := range []DType{Bool, Uint8, Int16, Int32, Int64, Uint64, Float32, Float64} {
		arrays = append(arrays, From([]float64{0, 1, 2.7, 5, 7}).To(d), ScalarOf(Float64, 3.3).To(d))
	}
	numbers := []struct {
		text  string
		value any
	}{{"0.1", 0.1}, {"3", 3}, {"true", true}, {"2.0", 2.0}}
	wide := []*Tensor{nil, From([]float64{1, 2, 3, 4, 5}), From([]float32{1, 2, 3, 4, 5})}
	checks := 0
	check := func(text string, vars Vars, want func() *Tensor) {
		t.Helper()
		checks++
		var w, g *Tensor
		werr := Try(func() { w = want() })
		gerr := Try(func() { g = Expr(text, vars) })
		var types []string
		for _, n := range []string{"x", "y", "z"} {
			if v, ok := vars[n].(*Tensor); ok && v != nil {
				types = append(types, fmt.Sprintf("%s %s of %d dimensions", n, v.DType(), v.Rank()))
			} else if !ok && vars[n] != nil {
				types = append(types, fmt.Sprintf("%s=%v", n, vars[n]))
			}
		}
		name := text + " with " + strings.Join(types, ", ")
		switch {
		case (werr != nil) != (gerr != nil):
			t.Errorf("%s: formula %v, methods %v", name, gerr, werr)
		case werr != nil:
		case g.DType() != w.DType() || Digest(g) != Digest(w):
			t.Errorf("%s: formula %s %v, methods %s %v", name, g.DType(), g, w.DType(), w)
		}
	}
	for _, b := range binaries {
		for _, x := range arrays {
			for _, z := range wide {
				// With a third array the same formula has a float64 in it.
				after, then := "", func(y *Tensor) *Tensor { return y }
				if z != nil {
					after, then = " + z", func(y *Tensor) *Tensor { return y.Add(z) }
				}
				for _, y := range arrays {
					check("("+b.text+")"+after, Vars{"x": x, "y": y, "z": z}, func() *Tensor { return then(b.do(x, y)) })
				}
				for _, n := range numbers {
					want := func() *Tensor { return then(b.do(x, n.value)) }
					check("("+strings.ReplaceAll(b.text, "y", n.text)+")"+after, Vars{"x": x, "z": z}, want)
					if !strings.HasPrefix(b.text, "pow") { // a method looks at the exponent, a formula at its text
						check("("+b.text+")"+after, Vars{"x": x, "y": n.value, "z": z}, want)
					}
				}
			}
		}
	}
	for _, f := range []struct {
		text string
		do   func(a *Tensor) *Tensor
	}{
		{"-x", (*Tensor).Neg}, {"abs(x)", (*Tensor).Abs}, {"exp(x)", (*Tensor).Exp}, {"sqrt(x)", (*Tensor).Sqrt}, {"!x", (*Tensor).LogicalNot}, {"^x", (*Tensor).BitNot}, {"pop_count(x)", (*Tensor).PopCount}, {"floor(x)", (*Tensor).Floor},
		{"relu(x)", (*Tensor).Relu}, {"sum(x)", func(a *Tensor) *Tensor { return a.Sum() }}, {"mean(x)", func(a *Tensor) *Tensor { return a.Mean() }},
		{"max(x)", func(a *Tensor) *Tensor { return a.Max() }}, {"prod(x)", func(a *Tensor) *Tensor { return a.Prod() }}, {"all(x)", func(a *Tensor) *Tensor { return a.All() }},
		{"argmax(x)", func(a *Tensor) *Tensor { return a.ArgMax() }}, {"rsqrt(x)", (*Tensor).Rsqrt}, {"sigmoid(x)", (*Tensor).Sigmoid}, {"logsumexp(x)", func(a *Tensor) *Tensor { return a.LogSumExp() }},
	} {
		for _, x := range arrays {
			check(f.text, Vars{"x": x}, func() *Tensor { return f.do(x) })
			check("x &^ y", Vars{"x": x, "y": arrays[4]}, func() *Tensor { return x.BitAnd(arrays[4].BitNot()) })
			check("("+f.text+") * 0.1 + z", Vars{"x": x, "z": wide[1]}, func() *Tensor { return f.do(x).Mul(0.1).Add(wide[1]) })
		}
	}
	t.Logf("%d formulas", checks)
}
