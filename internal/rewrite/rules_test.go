package rewrite_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
	"weft/internal/optest"
	"weft/internal/rewrite"
)

// oracle is the interpreter.
var oracle = cpu.New(jit.Portable)

type node = ir.Node

func apply(d *op.Def, x ...*node) *node { return op.Apply(d, nil, x...) }

// num is a constant of the type of x.
func num(x *node, f float64) *node { return x.Graph.Number(f, x.DType, false) }

// A row is a rewrite that a rule must make: of what before builds what after builds.
type row struct {
	rule          string
	types         string // of the arguments, such as "f32[3,4] i64[]"
	before, after func(x []*node) *node
}

// inputs makes the arguments of a row in a graph.
func (r *row) inputs(g *ir.Graph) []*node {
	var out []*node
	for i, s := range strings.Split(r.types, " ") {
		name, dims, _ := strings.Cut(s, "[")
		var shape []int
		for _, d := range strings.FieldsFunc(dims, func(r rune) bool { return r == ',' || r == ']' }) {
			n := 0
			fmt.Sscan(d, &n)
			shape = append(shape, n)
		}
		d := map[string]array.DType{"f32": array.Float32, "f64": array.Float64, "f16": array.Float16, "bf16": array.BFloat16, "i32": array.Int32, "i64": array.Int64, "u8": array.Uint8,
			"i8": array.Int8, "i16": array.Int16, "u64": array.Uint64, "bool": array.Bool, "c64": array.Complex64}[name]
		if d == array.Invalid {
			panic("no type " + name)
		}
		out = append(out, g.Input(i, d, shape))
	}
	return out
}

func find(name string) *rewrite.Rule {
	for _, r := range rewrite.Rules() {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// alone are the rules with which a row is checked: its own and what computes constants.
func alone(name string) []*rewrite.Rule {
	rules := []*rewrite.Rule{find("constant folding")}
	if name != rules[0].Name {
		rules = append([]*rewrite.Rule{find(name)}, rules...)
	}
	return rules
}

// show is a node as an expression.
func show(n *node) string {
	if len(n.Args) == 0 {
		if n.Op == ir.Input {
			return fmt.Sprintf("x%d", n.Arg())
		}
		return fmt.Sprintf("%s%v", n.DType, n.Value())
	}
	s := "(" + n.Op.OpName()
	if n.Attrs != nil {
		s += fmt.Sprint(n.Attrs)
	}
	for _, a := range n.Args {
		s += " " + show(a)
	}
	return s + ")" + array.TypeString(n.DType, n.Shape)
}

// specials are what goes wrong.
var specials = []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-45, -1e-45, 1e-40, 3e38, -3e38, 1e-300, 1e300, 88.8, -104, 710, -746, 0.5, 2, 1e-10, 65504, 6e-8}

// values are arguments of a graph: random ones, with specials if asked for.
func values(r *rand.Rand, args []*node, special bool) []*optest.Array {
	var out []*optest.Array
	for _, a := range args {
		x := optest.Random(r, a.DType, a.Shape, [2]float64{}, 0)
		for i := range x.F {
			if special && r.IntN(2) == 0 {
				x.F[i] = nearest(a.DType, specials[r.IntN(len(specials))])
			}
		}
		for i := range x.I {
			if special && a.DType != array.Bool && r.IntN(4) == 0 {
				lo, hi := a.DType.Limits()
				x.I[i] = []int64{0, 1, lo, hi, max(-1, lo)}[r.IntN(5)]
			}
		}
		out = append(out, x)
	}
	return out
}

func nearest(d array.DType, f float64) float64 {
	if d.Complex() {
		d = d.Part()
	}
	return op.Nearest(d, f)
}

func compute(t *testing.T, outs []*node, x []*optest.Array) []*optest.Array {
	t.Helper()
	res, err := optest.Compute(oracle, outs, x)
	if err != nil {
		t.Fatalf("%v\n%s", err, outs[0].Graph)
	}
	return res
}

// Every rule has a row, makes of it what the row says, and keeps its promise: bits for
// exact ones, values where they are not at the edge of the type for others.
func TestRules(t *testing.T) {
	fired := map[string]int{}
	for i, w := range rows {
		t.Run(fmt.Sprintf("%s/%d", w.rule, i), func(t *testing.T) {
			rule := find(w.rule)
			if rule == nil {
				t.Fatal("there is no such rule")
			}
			g, h := ir.New(), ir.New()
			x, y := w.inputs(g), w.inputs(h)
			before, after := w.before(x), w.after(y)
			res := rewrite.RunRules([]*node{before}, alone(w.rule), nil)
			plain := rewrite.RunRules([]*node{after}, []*rewrite.Rule{find("constant folding")}, nil)
			got, want := show(res.Outs[0]), show(plain.Outs[0])
			if got != want {
				t.Fatalf("%s\nbecomes %s\nwant    %s", show(before), got, want)
			}
			for _, u := range res.Report.Rules {
				fired[u.Name] += u.Count
			}
			r := rand.New(rand.NewPCG(uint64(i), 3))
			for k := range 4 {
				in := values(r, x, rule.Level == rewrite.Exact && k > 0)
				b, a := compute(t, []*node{before}, in)[0], compute(t, res.Outs, in)[0]
				if rule.Level == rewrite.Exact {
					if d := optest.Same(b, a); d != "" {
						t.Fatalf("before and after: %s\n%s\n%s", d, show(before), got)
					}
					continue
				}
				near(t, b, a)
			}
		})
	}
	for _, r := range rewrite.Rules() {
		if fired[r.Name] == 0 {
			t.Errorf("no row shows the rule %q", r.Name)
		}
	}
}

// near demands that values are equal but for rounding, and NaN where the first is.
func near(t *testing.T, a, b *optest.Array) {
	t.Helper()
	eps := map[array.DType]float64{array.Float64: 0x1p-52, array.Float32: 0x1p-23, array.Float16: 0x1p-10, array.BFloat16: 0x1p-7}[a.DType]
	for i := range a.F {
		x, y := a.F[i], b.F[i]
		if x != y && !(x != x && y != y) && !(math.Abs(x-y) <= 32*eps*max(math.Abs(x), 1)) {
			t.Fatalf("element %d: %v before, %v after", i, x, y)
		}
	}
	for i := range a.I {
		if a.I[i] != b.I[i] {
			t.Fatalf("element %d: %v before, %v after", i, a.I[i], b.I[i])
		}
	}
}
