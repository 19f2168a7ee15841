package rewrite_test

import (
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/rewrite"
)

// nest is ((...(x/y0+x/y1)*y0*y1 ...), each product of the one inside with two numbers that
// its terms are divided by: what local_greedy_distributor of Theano takes apart, at each level
// twice what was inside it.
func nest(depth int) (out *node, size int) {
	g := ir.New()
	s := []int{4}
	x := g.Input(0, array.Float32, s)
	for i := range depth {
		y, z := g.Input(2*i+1, array.Float32, s), g.Input(2*i+2, array.Float32, s)
		x = mul(mul(add(div(x, y), div(x, z)), y), z)
	}
	return x, len(g.Nodes)
}

// Distribution, which made seven million nodes of a graph of Theano, keeps within its budget.
func TestDistribution(t *testing.T) {
	for _, depth := range []int{10, 100, 2000} {
		out, size := nest(depth)
		res := rewrite.Run([]*node{out}, rewrite.Fast)
		if res.Report.After > 2*size {
			t.Errorf("%d nodes become %d", size, res.Report.After)
		}
		if per := res.Report.Tried / size; per > 200 {
			t.Errorf("rules looked %d times at each of %d nodes", per, size)
		}
		found := false
		for _, u := range res.Report.Rules {
			found = found || u.Name == "distribution"
		}
		if !found {
			t.Error("distribution did not apply")
		}
	}
}

// Rules that would never end end: one that makes more of everything, one that makes a chain
// longer at each look, two that undo each other.
func TestBudget(t *testing.T) {
	rule := func(name string, f func(n *node) *node, d *op.Def) *rewrite.Rule {
		return &rewrite.Rule{Name: name, Phase: rewrite.Canonicalise, Roots: []*op.Def{d}, Apply: func(_ *rewrite.Context, n *ir.Node) *ir.Node { return f(n) }}
	}
	twice := rule("twice", func(n *node) *node {
		return add(mul(n.Args[0], num(n, float64(n.ID))), mul(n.Args[1], num(n, float64(n.ID)+0.5)))
	}, op.Mul)
	longer := rule("longer", func(n *node) *node { return apply(op.Exp, apply(op.Tanh, n)) }, op.Exp)
	there := rule("there", func(n *node) *node { return apply(op.Cos, n.Args[0]) }, op.Sin)
	back := rule("back", func(n *node) *node { return apply(op.Sin, n.Args[0]) }, op.Cos)
	for name, rules := range map[string][]*rewrite.Rule{"more": {twice}, "longer": {longer}, "in a circle": {there, back}} {
		g := ir.New()
		x := g.Input(0, array.Float32, []int{4})
		y := x
		for range 300 {
			y = apply(op.Sin, apply(op.Exp, mul(y, x)))
		}
		size := len(g.Nodes)
		res := rewrite.RunRules([]*node{y}, rules, nil)
		most := rewrite.Ratio*size + 1000
		for _, u := range res.Report.Rules {
			if u.Count > most {
				t.Errorf("%s: rule %q applied %d times", name, u.Name, u.Count)
			}
			if !u.Spent && name != "in a circle" {
				t.Errorf("%s: rule %q has budget left", name, u.Name)
			}
		}
		if n := len(res.Outs[0].Graph.Nodes); n > 8*most {
			t.Errorf("%s: %d nodes become %d", name, size, n)
		}
		t.Logf("%s: %d nodes become %d, %d looks", name, size, len(res.Outs[0].Graph.Nodes), res.Report.Tried)
	}
}

// Every node of the result comes from one of the graph given: one that was replaced from
// that in whose place it is.
func TestOriginOfNodes(t *testing.T) {
	for seed := range uint64(200) {
		outs, _ := grow(seed)
		for _, l := range []rewrite.Level{rewrite.Exact, rewrite.Fast} {
			res := rewrite.Run(outs, l)
			if len(res.Origin) != len(res.Outs[0].Graph.Nodes) {
				t.Fatalf("seed %d: %d origins of %d nodes", seed, len(res.Origin), len(res.Outs[0].Graph.Nodes))
			}
			for i, n := range res.Outs[0].Graph.Nodes {
				id := int(res.Origin[i])
				if id < 0 || id >= len(outs[0].Graph.Nodes) {
					t.Fatalf("seed %d: node %d comes from %d", seed, i, id)
				}
				if from := outs[0].Graph.Nodes[id]; n.Op == ir.Input && (from.Op != ir.Input || from.Arg() != n.Arg()) {
					t.Fatalf("seed %d: input %d comes from %s", seed, n.Arg(), from)
				}
			}
		}
	}
	g := ir.New()
	x := g.Input(0, array.Float32, []int{4})
	l := apply(op.Log, add(apply(op.Exp, x), num(x, 1))) // the node whose line is to blame
	res := rewrite.Run([]*node{apply(op.Tanh, l)}, rewrite.Stable)
	if n := res.Outs[0].Args[0]; n.Op != op.Softplus || int(res.Origin[n.ID]) != l.ID {
		t.Errorf("%s comes from node %d, want %d", n, res.Origin[n.ID], l.ID)
	}
}

// The same graph becomes the same, and what has been rewritten stays as it is.
func TestRewritingTwiceChangesNothing(t *testing.T) {
	for seed := range uint64(400) {
		outs, _ := grow(seed)
		for _, l := range []rewrite.Level{rewrite.Exact, rewrite.Stable, rewrite.Fast} {
			a, b := rewrite.Run(outs, l), rewrite.Run(outs, l)
			if x, y := a.Outs[0].Graph.String(), b.Outs[0].Graph.String(); x != y {
				t.Fatalf("seed %d becomes\n%s\nand\n%s", seed, x, y)
			}
			c := rewrite.Run(a.Outs, l)
			for _, u := range c.Report.Rules {
				if u.Name != "order of operands" {
					t.Errorf("seed %d, %s: rule %q applies to what was rewritten\n%s", seed, l, u.Name, a.Outs[0].Graph)
				}
			}
		}
	}
}
