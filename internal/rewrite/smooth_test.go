package rewrite_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/optest"
	"weft/internal/rewrite"
)

// smooth returns a random formula without jumps over float64 numbers, with what rules of all
// levels look for, and its gradients.
func smooth(seed uint64) ([]*node, []*optest.Array) {
	r := rand.New(rand.NewPCG(seed, 21))
	g := ir.New()
	rows, cols := 1+r.IntN(3), 2+r.IntN(4)
	var pool []*node
	for i, s := range [][]int{{rows, cols}, {rows, cols}, {cols}, {rows, 1}, {}}[:2+r.IntN(4)] {
		pool = append(pool, g.Input(i, array.Float64, s))
	}
	wrt := append([]*node(nil), pool...)
	x := make([]*optest.Array, len(pool))
	for i, p := range pool {
		x[i] = optest.Random(r, p.DType, p.Shape, [2]float64{-2, 2}, 0)
	}
	any := func() *node { return pool[len(pool)-1-r.IntN(min(4, len(pool)))] }
	pick := func(defs ...*op.Def) *op.Def { return defs[r.IntN(len(defs))] }
	for range 3 + r.IntN(9) {
		x, y := any(), any()
		if r.IntN(4) == 0 {
			y = num(x, []float64{1, -1, 2, 0.5, 3}[r.IntN(5)])
		}
		if r.IntN(2) == 0 {
			x, y = y, x
		}
		var n *node
		switch k := r.IntN(14); {
		case k < 5:
			if !array.Broadcasts(x.Shape, y.Shape) {
				continue
			}
			n = apply(pick(op.Add, op.Sub, op.Mul, op.Div, op.Add, op.Sub, op.Mul), x, y)
		case k < 9:
			n = apply(pick(op.Exp, op.Exp, op.Log, op.Log, op.Sigmoid, op.Log1p, op.Expm1, op.Softplus, op.Tanh, op.Erf, op.Erfc, op.Sqrt), x)
		case k < 11:
			n = apply(pick(op.Neg, op.Square, op.Reciprocal), x)
		default:
			e := any()
			if len(e.Shape) == 0 {
				continue
			}
			axis := op.Reduction{Axes: []int{r.IntN(len(e.Shape))}, Keep: r.IntN(3) > 0}
			switch r.IntN(4) {
			case 0:
				n = op.Apply(op.Sum, axis, e)
			case 1:
				n = op.Apply(op.Sum, axis, apply(op.Exp, e))
			case 2:
				axis.Keep = true
				n = div(apply(op.Exp, e), op.Apply(op.Sum, axis, apply(op.Exp, e)))
			default:
				n = op.Apply(op.Softmax, op.Reduction{Axes: axis.Axes}, e)
			}
		}
		if n.Op == ir.Const {
			continue
		}
		pool = append(pool, n)
	}
	outs := pool[len(pool)-1:]
	for _, d := range op.Gradient(outs, []*node{expandTo(num(outs[0], 1), outs[0].Shape...)}, wrt) {
		if d != nil {
			outs = append(outs[:len(outs):len(outs)], d)
		}
	}
	return outs, x
}

// Where a formula and its gradients can be computed as they are written, stable and fast
// rules compute the same; where a number comes out stable rules keep one.
func TestSmooth(t *testing.T) {
	seeds := 1500
	if n, err := strconv.Atoi(os.Getenv("WEFT_GRAPHS")); err == nil {
		seeds = n
	}
	fired := map[string]int{}
	compared := 0
	for seed := range uint64(seeds) {
		outs, x := smooth(seed)
		// All nodes, whose sizes say how many digits there are.
		var all []*node
		for id, need := range ir.Reach(outs) {
			if n := outs[0].Graph.Nodes[id]; need && n.Op != ir.Const && n.DType == array.Float64 {
				all = append(all, n)
			}
		}
		scale := 1.0
		for _, v := range compute(t, all, x) {
			for _, f := range v.F {
				if f = math.Abs(f); f == f {
					scale = max(scale, f, 1/max(f, 1e-300))
				}
			}
		}
		if scale > 1e4 {
			continue // digits are lost on the way
		}
		want := compute(t, outs, x)
		for _, l := range []rewrite.Level{rewrite.Stable, rewrite.Fast} {
			res := rewrite.Run(outs, l)
			for _, u := range res.Report.Rules {
				fired[u.Name] += u.Count
			}
			got := compute(t, res.Outs, x)
			for i := range want {
				for k, w := range want[i].F {
					g := got[i].F[k]
					if !(math.Abs(g-w) <= 1e-7*scale) && w == w {
						t.Fatalf("seed %d, %s, output %d: %v becomes %v\n%s\nbecomes\n%s", seed, l, i, w, g, show(outs[i]), show(res.Outs[i]))
					}
					compared++
				}
			}
		}
	}
	t.Logf("%d numbers compared", compared)
	for _, r := range rewrite.Rules() {
		if r.Level > rewrite.Exact && fired[r.Name] == 0 {
			t.Logf("no formula has what the rule %q looks for", r.Name)
		}
	}
}

// TestSmoothRows puts random formulas of float64 numbers from 0 to 1 into the rows of rules that are
// not exact, and compares values and gradients before and after all stable and all fast rules, in
// which other rules may come first. Each such rule fires on some row, but for "x less logsumexp",
// which needs what "logsumexp" makes: TestStable has that.
func TestSmoothRows(t *testing.T) {
	fired := map[string]bool{}
	for i, w := range rows {
		if find(w.rule).Level == rewrite.Exact {
			continue
		}
		w.types = strings.NewReplacer("f32", "f64", "bf16", "f64", "f16", "f64").Replace(w.types)
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			x := w.inputs(ir.New())
			args, wrt := slices.Clone(x), []*node(nil)
			in := values(r, x, false)
			for k, a := range x {
				if a.DType != array.Float64 {
					continue
				}
				in[k] = optest.Random(r, a.DType, a.Shape, [2]float64{0.2, 0.8}, 0)
				wrt = append(wrt, a)
				switch r.IntN(4) {
				case 0:
					args[k] = apply(op.Sigmoid, a)
				case 1:
					args[k] = apply(op.Mul, apply(op.Exp, neg(a)), a)
				case 2:
					args[k] = apply(op.Sub, num(a, 1), a)
				}
			}
			outs := []*node{w.before(args)}
			if outs[0].DType != array.Float64 {
				continue
			}
			for _, d := range op.Gradient(outs, []*node{expandTo(num(outs[0], 1), outs[0].Shape...)}, wrt) {
				if d != nil {
					outs = append(outs, d)
				}
			}
			want := compute(t, outs, in)
			for _, l := range []rewrite.Level{rewrite.Stable, rewrite.Fast} {
				if seed%2 == 0 { // the value alone, whose parts nothing else uses
					outs, want = outs[:1], want[:1]
				}
				res := rewrite.Run(outs, l)
				for _, u := range res.Report.Rules {
					fired[u.Name] = true
				}
				got := compute(t, res.Outs, in)
				for k := range want {
					for e, v := range want[k].F {
						if g := got[k].F[e]; v == v && !math.IsInf(v, 0) && !(math.Abs(g-v) <= 1e-9*max(1, math.Abs(v))) {
							t.Fatalf("row %d, %s, seed %d, %s, output %d: %v becomes %v\n%s\nbecomes\n%s", i, w.rule, seed, l, k, v, g, show(outs[k]), show(res.Outs[k]))
						}
					}
				}
			}
		}
	}
	for _, r := range rewrite.Rules() {
		if r.Level > rewrite.Exact && !fired[r.Name] && r.Name != "x less logsumexp" {
			t.Errorf("the rule %q fires on no row", r.Name)
		}
	}
}
