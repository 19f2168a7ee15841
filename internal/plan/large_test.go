package plan_test

import (
	"fmt"
	"runtime/debug"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/optest/grown"
	"weft/internal/plan"
)

// Planning looks at as many nodes for each one of a large graph as of a small one,
// and makes kernels as large, without nesting calls.
func TestPlanningTimeIsLinear(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 19))
	for _, kind := range grown.Kinds {
		var looks, fused [2]float64
		for i, least := range []int{1_000, 12_000} {
			g := grown.Grow(kind, least)
			p, visits := plan.BuildCounted(g.Outs, g.Ins, plan.OnCPU)
			if err := plan.Check(p); err != nil {
				t.Errorf("%s of %d nodes: %v", kind, g.Nodes, err)
			}
			looks[i], fused[i] = float64(visits)/float64(g.Nodes), float64(g.Nodes)/float64(len(p.Steps))
		}
		if looks[1] > 1.5*looks[0] || fused[1] < 0.9*fused[0] {
			t.Errorf("%s: %.0f looks and %.1f nodes a step in a small graph, %.0f and %.1f in a large one", kind, looks[0], fused[0], looks[1], fused[1])
		}
		t.Logf("%s: %.0f and %.0f looks a node, %.1f and %.1f nodes a step", kind, looks[0], looks[1], fused[0], fused[1])
	}
}

// Values with very many paths to them: following each path would never end.
func TestManyPaths(t *testing.T) {
	apply := func(d *op.Def, x ...*ir.Node) *ir.Node { return op.Apply(d, nil, x...) }
	over := func(d *op.Def, x *ir.Node, axis int) *ir.Node {
		return op.Apply(d, op.Reduction{Axes: []int{axis}, Keep: true}, x)
	}
	squares := func(x *ir.Node) *ir.Node {
		for range 100 {
			x = apply(op.Mul, x, x)
		}
		return x
	}
	for name, c := range map[string]struct {
		f     func(x *ir.Node) *ir.Node
		steps int
	}{
		"elements":           {squares, 1},
		"before a reduction": {func(x *ir.Node) *ir.Node { return over(op.Sum, squares(x), 1) }, 1},
		"of a row":           {func(x *ir.Node) *ir.Node { return apply(op.Sub, x, squares(over(op.Max, x, 1))) }, 1},
		"behind one": {func(x *ir.Node) *ir.Node {
			return over(op.Sum, squares(apply(op.Sub, x, over(op.Max, x, 1))), 1)
		}, 1},
		"of columns": {func(x *ir.Node) *ir.Node { return squares(over(op.Max, x, 0)) }, 1},
		// Each product depends on the last in two ways. One kernel, its epilogue, computes both.
		"routines": {func(x *ir.Node) *ir.Node {
			for range 100 {
				x = apply(op.MatMul, apply(op.Exp, x), apply(op.Relu, x))
			}
			return x
		}, 101},
	} {
		g := ir.New()
		s := []int{8, 8}
		out := c.f(g.Input(0, array.Float32, s))
		p := plan.Build([]*ir.Node{out}, []plan.Sig{{DType: array.Float32, Shape: s, Strides: array.RowMajor(s)}}, nil, plan.OnCPU)
		if err := plan.Check(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(p.Steps) != c.steps {
			t.Errorf("%s: %d steps, want %d", name, len(p.Steps), c.steps)
		}
	}
}

// Windows on windows, as deep as one likes.
func TestDeepWindows(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 19))
	g := ir.New()
	s := []int{8, 4}
	x := g.Input(0, array.Float32, s)
	for range 20_000 {
		x = op.Transpose(op.Narrow(x, 0, 0, x.Shape[0]), 0, 1)
	}
	y := op.Apply(op.Exp, nil, x)
	p := plan.Build([]*ir.Node{y, x}, []plan.Sig{{DType: array.Float32, Shape: s, Strides: array.RowMajor(s)}}, nil, plan.OnCPU)
	if err := plan.Check(p); err != nil || len(p.Steps) != 2 {
		t.Errorf("%d steps, want 2: %v", len(p.Steps), err)
	}
}

// BenchmarkPlan plans graphs of three sizes. A node costs as much in a large one as
// in a small one.
func BenchmarkPlan(b *testing.B) {
	defer func(v bool) { plan.Verify = v }(plan.Verify)
	plan.Verify = false
	for _, kind := range grown.Kinds {
		for _, least := range []int{2_000, 20_000, 200_000} {
			b.Run(fmt.Sprintf("%s/%d", kind, least), func(b *testing.B) {
				g := grown.Grow(kind, least)
				var p *plan.Plan
				for b.Loop() {
					p = plan.Build(g.Outs, g.Ins, nil, plan.OnCPU)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(g.Nodes), "us/node")
				b.ReportMetric(float64(g.Nodes)/float64(len(p.Steps)), "nodes/step")
			})
		}
	}
}
