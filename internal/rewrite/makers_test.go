package rewrite_test

import (
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/rewrite"
)

// ruleOf returns the name of the rule that made the one node of an operation among outs and what
// they are computed from.
func ruleOf(t *testing.T, res *rewrite.Result, outs []*node, d *op.Def) string {
	t.Helper()
	name, found := "", 0
	for id, need := range ir.Reach(outs) {
		if n := outs[0].Graph.Nodes[id]; need && op.Of(n) == d {
			found++
			if r := res.Rule(n); r != nil {
				name = r.Name
			}
		}
	}
	if found != 1 {
		t.Fatalf("%d nodes of %s", found, d.Name)
	}
	return name
}

// A result names the rule that made each node: nodes as they were given have none, of new
// arguments too, and nodes that were made keep theirs when a later rule changes their arguments.
func TestRuleOfNode(t *testing.T) {
	g := ir.New()
	x := g.Input(0, array.Float64, []int{9})
	soft := apply(op.Log, add(apply(op.Exp, mul(x, num(x, 1))), num(x, 1)))
	y := apply(op.Sin, mul(soft, soft))
	res := rewrite.Run([]*node{y, apply(op.Tan, apply(op.Log, apply(op.Exp, x)))}, rewrite.Stable)
	for d, want := range map[*op.Def]string{op.Softplus: "softplus", op.Square: "product with itself", op.Sin: "", op.Tan: ""} {
		if got := ruleOf(t, res, res.Outs, d); got != want {
			t.Errorf("%s is made by %q, want %q", d.Name, got, want)
		}
	}
	for _, n := range res.Outs[0].Graph.Nodes {
		if n.Op == ir.Input && res.Rule(n) != nil {
			t.Errorf("the input is made by %s", res.Rule(n).Name)
		}
	}
}

// Nodes of the functions of branches name their rules too.
func TestRuleOfNodeInBranch(t *testing.T) {
	types := []ir.Type{{DType: array.Float64, Shape: []int{9}}}
	side := func(f func(x *node) *node) *op.Function {
		g := ir.New()
		return op.NewFunction(types, []*node{f(g.Input(0, array.Float64, []int{9}))})
	}
	g := ir.New()
	c, x := g.Input(0, array.Bool, nil), g.Input(1, array.Float64, []int{9})
	y := op.ApplyAll(op.Branch, op.Branches{
		Then: side(func(x *node) *node { return apply(op.Log, add(apply(op.Exp, x), num(x, 1))) }),
		Else: side(func(x *node) *node { return apply(op.Sin, x) }),
	}, c, x)
	res := rewrite.Run(y, rewrite.Stable)
	for res.Outs[0].Op == ir.Result {
		res.Outs[0] = res.Outs[0].Args[0]
	}
	b := res.Outs[0].Attrs.(op.Branches)
	if got := ruleOf(t, res, b.Then.Nodes(), op.Softplus); got != "softplus" {
		t.Errorf("softplus in a branch is made by %q", got)
	}
	if got := ruleOf(t, res, b.Else.Nodes(), op.Sin); got != "" {
		t.Errorf("the sine in a branch is made by %q", got)
	}
}

// A rule that takes a loop apart and makes it anew leaves nodes of the step the names of their rules: here
// sin(k), which is the same in each step, moves out after the step has become a softplus.
func TestRuleOfNodeInStepMadeAnew(t *testing.T) {
	g, b := ir.New(), ir.New()
	x := b.Input(0, array.Float64, []int{9})
	k := b.Input(1, array.Float64, []int{9})
	next := add(apply(op.Log, add(apply(op.Exp, x), num(x, 1))), apply(op.Sin, k))
	f := op.NewFunction([]ir.Type{{DType: array.Float64, Shape: []int{9}}, {DType: array.Float64, Shape: []int{9}}}, []*node{next})
	res := rewrite.Run(op.ApplyAll(op.Loop, op.Looping{Body: f, Steps: 3, Carries: 1}, g.Input(0, array.Float64, []int{9}), g.Input(1, array.Float64, []int{9}))[:1], rewrite.Stable)
	loop := res.Outs[0]
	for loop.Op != op.Loop {
		loop = loop.Args[0]
	}
	body := loop.Attrs.(op.Looping).Body.Nodes()
	for id, need := range ir.Reach(body) {
		if need && body[0].Graph.Nodes[id].Op == op.Sin {
			t.Fatal("the sine is computed in each step")
		}
	}
	if got := ruleOf(t, res, body, op.Softplus); got != "softplus" {
		t.Errorf("softplus in a step is made by %q", got)
	}
}
