package rewrite_test

import (
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/optest"
	"weft/internal/rewrite"
)

// forms are the ways to write the functions of testdata/stable.txt, none of them stable.
var forms = map[string][]func(x *node) *node{
	"softplus":    {func(x *node) *node { return f("log", plus(f("exp", x), 1)) }, func(x *node) *node { return f("log1p", f("exp", x)) }, func(x *node) *node { return f("log", add(num(x, 1), f("exp", x))) }},
	"logsigmoid":  {func(x *node) *node { return f("log", f("sigmoid", x)) }, func(x *node) *node { return f("log", byHand(x)) }, func(x *node) *node { return neg(f("log", plus(f("exp", neg(x)), 1))) }},
	"logsigmoid-": {func(x *node) *node { return f("log", sub(num(x, 1), f("sigmoid", x))) }, func(x *node) *node { return f("log", sub(num(x, 1), byHand(x))) }, func(x *node) *node { return f("log1p", neg(f("sigmoid", x))) }},
	"sigmoid":     {byHand, func(x *node) *node { return div(f("exp", x), plus(f("exp", x), 1)) }, func(x *node) *node { return f("reciprocal", plus(f("exp", neg(x)), 1)) }},
	"expm1":       {func(x *node) *node { return sub(f("exp", x), num(x, 1)) }, func(x *node) *node { return plus(f("exp", x), -1) }},
	"log1p":       {func(x *node) *node { return f("log", plus(x, 1)) }},
	"erfc":        {func(x *node) *node { return sub(num(x, 1), f("erf", x)) }, func(x *node) *node { return plus(f("erf", neg(x)), 1) }},
	"erfm1":       {func(x *node) *node { return sub(f("erf", x), num(x, 1)) }, func(x *node) *node { return sub(num(x, -1), f("erf", neg(x))) }},
	"erfcm1":      {func(x *node) *node { return sub(f("erfc", x), num(x, 1)) }, func(x *node) *node { return plus(f("erfc", x), -1) }},
	"log2pexp":    {func(x *node) *node { return f("log", plus(f("exp", x), 2)) }, func(x *node) *node { return f("log", add(num(x, 2), f("exp", x))) }},
	"logthree": {func(x *node) *node {
		return f("log", add(add(f("exp", x), f("exp", mul(x, num(x, 2)))), f("exp", div(x, num(x, 2)))))
	}},
	"logmeanexp": {func(x *node) *node {
		return f("log", op.Apply(op.Lookup("mean"), op.Reduction{}, f("exp", x)))
	}, func(x *node) *node {
		return f("log", div(op.Apply(op.Sum, op.Reduction{Axes: []int{-1}, Keep: true}, f("exp", x)), num(x, float64(x.Size()))))
	}},
	"logerfc":  {func(x *node) *node { return f("log", sub(num(x, 1), f("erf", x))) }, func(x *node) *node { return f("log", f("erfc", x)) }},
	"log1mexp": {func(x *node) *node { return f("log", sub(num(x, 1), f("exp", x))) }},
	"logsumexp": {func(x *node) *node { return f("log", op.Apply(op.Sum, op.Reduction{}, f("exp", x))) }, func(x *node) *node {
		return f("log", op.Apply(op.Sum, op.Reduction{Axes: []int{-1}, Keep: true}, f("exp", x)))
	}},
	"softmax": {func(x *node) *node {
		return div(f("exp", x), op.Apply(op.Sum, op.Reduction{Axes: []int{-1}, Keep: true}, f("exp", x)))
	}, func(x *node) *node { return div(f("exp", x), op.Apply(op.Sum, nil, f("exp", x))) }, func(x *node) *node {
		return mul(f("exp", x), f("reciprocal", op.Apply(op.Sum, nil, f("exp", x))))
	}},
	"logsoftmax": {func(x *node) *node {
		return f("log", div(f("exp", x), op.Apply(op.Sum, op.Reduction{Axes: []int{-1}, Keep: true}, f("exp", x))))
	}, func(x *node) *node { return sub(x, f("log", op.Apply(op.Sum, nil, f("exp", x)))) }},
}

func f(name string, x *node) *node  { return apply(op.Lookup(name), x) }
func plus(x *node, k float64) *node { return add(x, num(x, k)) }
func byHand(x *node) *node          { return div(num(x, 1), plus(f("exp", neg(x)), 1)) }
func list(s string) (v []float64) {
	return parse(s, func(e string) float64 { x, _ := strconv.ParseFloat(e, 64); return x })
}
func exactly(s string) (v []*big.Float) {
	return parse(s, func(e string) *big.Float { x, _, _ := big.ParseFloat(e, 10, 120, 0); return x })
}
func parse[T any](s string, p func(string) T) (v []T) {
	for _, e := range strings.Split(s, ",") {
		v = append(v, p(e))
	}
	return v
}

// Values and gradients of unstable forms are, rewritten, finite and right to 2 units in the
// last place, on every element type and backend. The gradients are built of the unstable
// form, and rewritten with it. Where a gradient is a difference, units of its terms count; for
// the logarithm of a softmax or a mean, units of the sum inside it, 1 at least.
func TestStable(t *testing.T) {
	text, err := os.ReadFile("testdata/stable.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		w := strings.Fields(line)
		d := map[string]array.DType{"f64": array.Float64, "f32": array.Float32}[w[1]]
		x, dy := list(w[2]), list(w[3])
		for k, form := range forms[w[0]] {
			seen[w[0]]++
			g := ir.New()
			in := g.Input(0, d, []int{len(x)})
			y := form(in)
			dyn := g.Input(1, d, y.Shape)
			dx := op.Gradient([]*node{y}, []*node{dyn}, []*node{in})[0]
			args := []*optest.Array{{DType: d, Shape: in.Shape, F: x}, {DType: d, Shape: y.Shape, F: dy}}
			res := rewrite.Run([]*node{y, dx}, rewrite.Stable)
			for _, dev := range []device.Device{oracle, best()} {
				got, err := optest.Compute(dev, res.Outs, args)
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range [][]*big.Float{exactly(w[4]), exactly(w[5])} {
					for e, v := range want {
						scale := 0.0
						if i == 0 && (w[0] == "logsoftmax" || w[0] == "logmeanexp") {
							scale = 1
						}
						if i == 1 && strings.HasSuffix(w[0], "softmax") {
							scale = largest(dy)
							if y, _ := exactly(w[4])[e].Float64(); w[0] == "softmax" {
								scale *= y
							}
						}
						if u := ulps(d, got[i].F[e], v, scale); !(u <= 2) {
							t.Errorf("%s, form %d, %s at %v (%s): %v, want %.20g: %.2f units\n%s", w[0], k, [...]string{"value", "gradient"}[i], x[e], d, got[i].F[e], v, u, show(res.Outs[i]))
						}
					}
				}
			}
		}
	}
	for name := range forms {
		if seen[name] == 0 {
			t.Errorf("no vectors of %s", name)
		}
	}
}

func largest(x []float64) (m float64) {
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

// ulps is the distance of x from want in units in the last place of a type at want, or at
// scale if that is greater.
func ulps(d array.DType, x float64, want *big.Float, scale float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Inf(1)
	}
	w, _ := want.Float64()
	digits, least := 52, -1074
	if d == array.Float32 {
		digits, least = 23, -149
	}
	unit := math.Ldexp(1, max(math.Ilogb(max(math.Abs(w), scale, 1e-320))-digits, least))
	diff, _ := new(big.Float).Sub(new(big.Float).SetFloat64(x), want).Float64()
	return math.Abs(diff) / unit
}
