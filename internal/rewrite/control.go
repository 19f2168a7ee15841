package rewrite

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Loops and branches: what their functions compute, and what need not be computed in them.

var controlRules = []*Rule{
	canon(Exact, "functions of loops and branches", "the body of a loop, the sides of a branch -> rewritten by the same rules", func(c *Context, n *ir.Node) *ir.Node {
		switch a := n.Attrs.(type) {
		case op.Looping:
			if f := c.function(a.Body); f != a.Body {
				a.Body = f
				return c.g.Several(n.Op, a, n.Results, n.Args...)
			}
		case op.Branches:
			b := op.Branches{Then: c.function(a.Then), Else: c.function(a.Else)}
			if b != a {
				return c.g.Several(n.Op, b, n.Results, n.Args...)
			}
		}
		return nil
	}, op.Loop, op.Branch),
	canon(Exact, "gradients of its own", "a value whose gradient is not that of its operations, or that has none -> the value: gradients have been taken", func(c *Context, n *ir.Node) *ir.Node {
		return n.Args[0]
	}, op.Own, op.Stop),
	canon(Exact, "unread argument of a loop", "a sequence or a constant that no step reads -> none", func(c *Context, n *ir.Node) *ir.Node {
		l := c.openLoop(n)
		read := ir.Reach(l.outs)
		for i, x := range l.ins {
			if l.kinds[i] != 'c' && !(x.ID < len(read) && read[x.ID]) {
				return l.close(c, n)
			}
		}
		return nil
	}, op.Loop),
	canon(Exact, "the same in each step", "what a step computes of constants alone -> computed once, before the loop", func(c *Context, n *ir.Node) *ir.Node {
		l := c.openLoop(n)
		from := l.frontier(func(x *ir.Node) bool { return l.of[x.ID] == ofConst && op.Of(x) != op.Host })
		if len(from) == 0 {
			return nil
		}
		outer := op.Import(c.g, from, func(x *ir.Node) *ir.Node { return l.outer[x.Arg()] })
		l.become(from, 'k', outer)
		return l.close(c, n)
	}, op.Loop),
	canon(Exact, "products of all steps", "in each step f(x_t)@w -> one product of all rows of f(x), before the loop", func(c *Context, n *ir.Node) *ir.Node {
		l := c.openLoop(n)
		if !l.known() {
			return nil
		}
		from := l.frontier(func(x *ir.Node) bool {
			return product2(x) && l.of[x.ID]&^ofConst == ofSeq && l.of[x.Args[0].ID]|l.of[x.Args[1].ID] != 0 &&
				(l.of[x.Args[0].ID]&ofSeq == 0 || l.of[x.Args[1].ID]&ofSeq == 0) &&
				l.a.Steps*x.Size()*x.DType.Size() <= mostBefore && l.spreads(x)
		})
		if len(from) == 0 {
			return nil
		}
		all := op.Batch(c.g, from, l.a.Steps, func(x *ir.Node) op.Batched {
			return op.Batched{Node: l.outer[x.Arg()], Lead: l.kinds[x.Arg()] == 's'}
		})
		outer := make([]*ir.Node, len(all))
		for i, x := range all {
			outer[i] = x.Node
		}
		l.become(from, 's', outer)
		return l.close(c, n)
	}, op.Loop),
	canon(Exact, "products after all steps", "g(y_t@w) that is kept of each step, and nothing else -> y_t is kept, one product and g of it after the loop", productsAfter, op.Loop),
	canon(Exact, "known condition", "a branch on a constant -> the side that it takes", func(c *Context, n *ir.Node) *ir.Node {
		if v, ok := number(n.Args[0]); ok {
			f := n.Attrs.(op.Branches).Else
			if v.Int != 0 {
				f = n.Attrs.(op.Branches).Then
			}
			return c.together(n, f.Inline(c.g, n.Args[1:]))
		}
		return nil
	}, op.Branch),
	canon(Exact, "equal sides", "a result of a branch that both sides compute alike -> computed without it", func(c *Context, n *ir.Node) *ir.Node {
		a := n.Attrs.(op.Branches)
		g, in := inputs(a.Then.Args)
		x, y := c.inline(a.Then, g, in), c.inline(a.Else, g, in)
		var left []int
		for i := range x {
			if x[i] != y[i] {
				left = append(left, i)
			}
		}
		if len(left) == len(x) {
			return nil
		}
		outs := op.Import(c.g, x, func(in *ir.Node) *ir.Node { return n.Args[1+in.Arg()] })
		if len(left) > 0 {
			b := op.Branches{Then: op.NewFunction(a.Then.Args, pick(x, left)), Else: op.NewFunction(a.Then.Args, pick(y, left))}
			for i, y := range op.ApplyAll(op.Branch, b, n.Args...) {
				outs[left[i]] = y
			}
		}
		return c.together(n, outs)
	}, op.Branch),
	canon(Exact, "unread argument of a branch", "an argument that no side reads -> none", func(c *Context, n *ir.Node) *ir.Node {
		a := n.Attrs.(op.Branches)
		var read []int
		args := []*ir.Node{n.Args[0]}
		var types []ir.Type
		at := make([]int, len(a.Then.Args))
		for i, t := range a.Then.Args {
			if reads(a.Then, i) || reads(a.Else, i) {
				at[i] = len(read)
				read, args, types = append(read, i), append(args, n.Args[1+i]), append(types, t)
			}
		}
		if len(read) == len(at) {
			return nil
		}
		less := func(f *op.Function) *op.Function {
			h := f.WithArgs(types, at)
			c.makers.keep(f.Nodes(), h.Nodes())
			return h
		}
		return c.g.Several(op.Branch, op.Branches{Then: less(a.Then), Else: less(a.Else)}, n.Results, args...)
	}, op.Branch),
	canon(Exact, "branch on what is known", "within a side of a branch on b, b and branches on b -> what b is there", func(c *Context, n *ir.Node) *ir.Node {
		a := n.Attrs.(op.Branches)
		at := slices.Index(n.Args[1:], n.Args[0])
		if at < 0 || !reads(a.Then, at) && !reads(a.Else, at) {
			return nil
		}
		knowing := func(f *op.Function, yes bool) *op.Function {
			g, in := inputs(f.Args)
			in[at] = truth(in[at], yes)
			return op.NewFunction(f.Args, c.inline(f, g, in))
		}
		return c.g.Several(op.Branch, op.Branches{Then: knowing(a.Then, true), Else: knowing(a.Else, false)}, n.Results, n.Args...)
	}, op.Branch),
	canon(Exact, "branches on one condition", "a branch on b of results of a branch on b, which nothing else needs -> one branch", func(c *Context, n *ir.Node) *ir.Node {
		a := n.Attrs.(op.Branches)
		for _, x := range n.Args[1:] {
			m := x
			if x.Op == ir.Result {
				m = x.Args[0]
			}
			if m == x || m.Op != op.Branch || m.Args[0] != n.Args[0] || !c.alone(n, m) {
				continue
			}
			// The arguments of the first, then arguments of the second that are not its results.
			b := m.Attrs.(op.Branches)
			args := slices.Clone(m.Args)
			types := slices.Clone(b.Then.Args)
			var from []int // of each argument of the second: the result, or beyond them an argument
			for i, y := range n.Args[1:] {
				if y.Op == ir.Result && y.Args[0] == m {
					from = append(from, y.Arg())
					continue
				}
				from = append(from, len(m.Results)+len(types))
				args, types = append(args, y), append(types, a.Then.Args[i])
			}
			both := func(first, second *op.Function) *op.Function {
				g, in := inputs(types)
				outs := append(c.inline(first, g, in[:len(first.Args)]), in...)
				return op.NewFunction(types, c.inline(second, g, pick(outs, from)))
			}
			return c.g.Several(op.Branch, op.Branches{Then: both(b.Then, a.Then), Else: both(b.Else, a.Else)}, n.Results, args...)
		}
		return nil
	}, op.Branch),
}

// mostBefore is how many bytes of products of all steps are kept at most.
const mostBefore = 1 << 28

// together is what takes the place of an operation with several results where each is computed
// by itself: its arguments are those results. [Context.copy] resolves it, so that it is in no
// graph that leaves the package.
type together struct{}

func (together) OpName() string { return "together" }

func (c *Context) together(n *ir.Node, outs []*ir.Node) *ir.Node {
	return c.g.Several(together{}, nil, n.Results, outs...)
}

// function is a function rewritten by the rules of c.
func (c *Context) function(f *op.Function) *op.Function {
	if g := c.functions[f]; g != nil {
		return g
	}
	inner := newContext(c.inner(), nil)
	inner.makers = c.makers
	res := inner.run(f.Nodes())
	g := f
	if len(res.Report.Rules) > 0 {
		g = op.NewFunction(f.Args, res.Outs)
	}
	for i := range c.uses {
		for _, u := range res.Report.Rules {
			if u.Rule == c.uses[i].Rule {
				c.uses[i].Count += u.Count
				c.uses[i].Time += u.Time
				c.uses[i].Spent = c.uses[i].Spent || u.Spent
			}
		}
	}
	c.tried += res.Report.Tried
	if c.functions == nil {
		c.functions = map[*op.Function]*op.Function{}
	}
	c.functions[f], c.functions[g] = g, g
	return g
}

// inline adds a function of args to a graph. Its nodes keep the rules that made them.
func (c *Context) inline(f *op.Function, g *ir.Graph, args []*ir.Node) []*ir.Node {
	outs := f.Inline(g, args)
	c.makers.keep(f.Nodes(), outs)
	return outs
}

// alone reports that nothing but n uses the results of m.
func (c *Context) alone(n, m *ir.Node) bool {
	users := int32(0)
	seen := map[*ir.Node]bool{}
	for _, x := range n.Args {
		if x.Op == ir.Result && x.Args[0] == m && !seen[x] {
			seen[x] = true
			users++
		}
	}
	for x := range seen {
		used := int32(0)
		for _, y := range n.Args {
			if y == x {
				used++
			}
		}
		if c.users[x.ID] > used {
			return false
		}
	}
	return c.users[m.ID] <= users
}

func inputs(types []ir.Type) (*ir.Graph, []*ir.Node) {
	g := ir.New()
	in := make([]*ir.Node, len(types))
	for i, t := range types {
		in[i] = g.Input(i, t.DType, t.Shape)
	}
	return g, in
}

// reads reports that a function computes something of argument i.
func reads(f *op.Function, i int) bool {
	nodes := f.Nodes()[0].Graph.Nodes
	for id, need := range ir.Reach(f.Nodes()) {
		if need && nodes[id].Op == ir.Input && nodes[id].Arg() == i {
			return true
		}
	}
	return false
}

func pick[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = list[k]
	}
	return out
}

// What a node of a loop's body is computed from.
const (
	ofSeq uint8 = 1 << iota
	ofCarry
	ofConst
)

// An opened loop is one whose body is taken apart: input i of its graph is what outer[i] is
// in the graph around it, in the way that kinds[i] says as in [op.NewBody].
type opened struct {
	a     op.Looping
	outs  []*ir.Node
	ins   []*ir.Node
	kinds []byte
	outer []*ir.Node
	of    []uint8 // by ID of a node that outs need
	need  []bool

	makers makers
}

// openLoop takes the body of a loop apart. Its nodes keep the rules that made them.
func (c *Context) openLoop(n *ir.Node) *opened {
	l := &opened{a: n.Attrs.(op.Looping), makers: c.makers}
	g, in := inputs(l.a.Body.Args)
	l.ins = in
	for i := range in {
		kind := byte('k')
		switch {
		case i < l.a.Seqs:
			kind = 's'
		case i < l.a.Seqs+l.a.Carries:
			kind = 'c'
		}
		l.kinds, l.outer = append(l.kinds, kind), append(l.outer, n.Args[i])
	}
	l.outs = c.inline(l.a.Body, g, in)
	l.need = ir.Reach(l.outs)
	l.of = make([]uint8, len(l.need))
	for id, need := range l.need {
		if !need {
			continue
		}
		x := g.Nodes[id]
		if x.Op == ir.Input {
			l.of[id] = map[byte]uint8{'s': ofSeq, 'c': ofCarry, 'k': ofConst}[l.kinds[x.Arg()]]
		}
		for _, y := range x.Args {
			l.of[id] |= l.of[y.ID]
		}
	}
	return l
}

// known reports that the number of steps is, and that there are some.
func (l *opened) known() bool { return !l.a.Until && !l.a.Counted && l.a.Steps > 1 }

// frontier are the nodes that which holds for and that are computed from no such, the last ones:
// no other one is computed from them. What only shows elements otherwise is none.
func (l *opened) frontier(which func(x *ir.Node) bool) []*ir.Node {
	g := l.ins[0].Graph
	below := make([]bool, len(l.need)) // something that is on the list is computed from it
	var out []*ir.Node
	for id := len(l.need) - 1; id >= 0; id-- {
		x := g.Nodes[id]
		if !l.need[id] || x.Op == ir.Input || x.Op == ir.Result || x.Results != nil {
			continue
		}
		if !below[id] && !shows(x) && which(x) {
			out = append(out, x)
			below[id] = true
		}
		if below[id] {
			for _, y := range x.Args {
				below[y.ID] = true
			}
		}
	}
	slices.Reverse(out)
	return out
}

// shows reports an operation that shows elements of its argument otherwise.
func shows(x *ir.Node) bool {
	d := op.Of(x)
	return d != nil && d.Class == op.View
}

func product2(x *ir.Node) bool { return x.Op == op.MatMul2 && len(x.Shape) == 2 }

// spreads reports that x, and what it is computed from, are operations whose elements are the
// same to the bit whether steps are computed one by one or side by side.
func (l *opened) spreads(x *ir.Node) bool {
	seen := map[*ir.Node]bool{}
	var ok func(x *ir.Node) bool
	ok = func(x *ir.Node) bool {
		if seen[x] || l.of[x.ID]&ofSeq == 0 || x.Op == ir.Input {
			return true
		}
		seen[x] = true
		if d := op.Of(x); d == nil || x.Results != nil || d.Class != op.Pointwise && d.Class != op.View && !product2(x) {
			return false
		}
		for i, y := range x.Args {
			if op.Of(x).Class == op.Pointwise && op.SeenBy(x, i) != op.ByElement || !ok(y) {
				return false
			}
		}
		return true
	}
	return ok(x)
}

// become makes nodes of the body arguments of the loop. Requires that none is computed from
// another.
func (l *opened) become(from []*ir.Node, kind byte, outer []*ir.Node) {
	in := make([]*ir.Node, len(from))
	for i, x := range from {
		in[i] = x.Graph.Input(len(l.ins), x.DType, x.Shape)
		l.ins, l.kinds, l.outer = append(l.ins, in[i]), append(l.kinds, kind), append(l.outer, outer[i])
	}
	before := l.outs
	l.outs = op.Replace(before, from, in)
	l.makers.keep(before, l.outs)
}

// apply is the loop of what l has become.
func (l *opened) apply(n *ir.Node) []*ir.Node {
	args := slices.Clone(l.outer)
	a := l.a
	a.Body, a.Seqs, a.Carries = op.NewBody(&args, l.kinds, l.outs)
	l.makers.keep(l.outs, a.Body.Nodes())
	if a.Counted {
		args = append(args, n.Args[len(n.Args)-1])
	}
	if len(args) == 0 {
		return nil
	}
	return op.ApplyAll(op.Loop, a, args...)
}

// close is apply for a loop with the same results.
func (l *opened) close(c *Context, n *ir.Node) *ir.Node {
	res := l.apply(n)
	if res == nil {
		return nil
	}
	return res[0].Args[0]
}

// behind returns the product of what the carries decide and a constant that y is computed from,
// element by element, with nothing else that they decide: nil if there is none, or something
// else needs it, or what is computed from it.
func (l *opened) behind(y *ir.Node, users []int) *ir.Node {
	for users[y.ID] == 1 {
		if product2(y) && l.of[y.Args[0].ID]&ofCarry != 0 && l.of[y.Args[1].ID]&^ofConst == 0 {
			return y
		}
		if d := op.Of(y); d == nil || y.Results != nil || d.Class != op.Pointwise && !shows(y) {
			return nil
		}
		var next *ir.Node
		for i, x := range y.Args {
			switch {
			case l.of[x.ID]&ofCarry != 0 && next == nil && op.SeenBy(y, i) == op.ByElement:
				next = x
			case l.of[x.ID]&ofCarry != 0 || op.SeenBy(y, i) != op.ByElement || !l.spreads(x):
				return nil
			}
		}
		if y = next; y == nil {
			return nil
		}
	}
	return nil
}

// productsAfter is a rule.
func productsAfter(c *Context, n *ir.Node) *ir.Node {
	l := c.openLoop(n)
	if !l.known() {
		return nil
	}
	m, kept := l.a.Carries, l.a.Kept()
	users := make([]int, len(l.need))
	g := l.ins[0].Graph
	for id, need := range l.need {
		if need {
			for _, y := range g.Nodes[id].Args {
				users[y.ID]++
			}
		}
	}
	for _, y := range l.outs {
		users[y.ID]++
	}
	after := make([]*ir.Node, kept) // the product behind what is kept
	some := false
	for i, y := range l.outs[m : m+kept] {
		if y = l.behind(y, users); y != nil && l.a.Steps*y.Args[0].Size()*y.DType.Size() <= mostBefore {
			after[i], some = y, true
		}
	}
	if !some {
		return nil
	}
	// What is kept instead: the first factor, as it is before it is shown otherwise.
	outs := slices.Clone(l.outs[:m])
	number := func(y *ir.Node) int {
		if i := slices.Index(outs[m:], y); i >= 0 {
			return i
		}
		outs = append(outs, y)
		return len(outs) - m - 1
	}
	at := make([]int, kept)
	factor := make([]*ir.Node, kept)
	for i, y := range l.outs[m : m+kept] {
		if after[i] != nil {
			y = after[i].Args[0]
			for shows(y) {
				y = y.Args[0]
			}
			factor[i] = y
		}
		at[i] = number(y)
	}
	whole := l.outs[m : m+kept]
	l.outs = outs
	res := l.apply(n)
	if res == nil {
		return nil
	}
	final := slices.Clone(res[:2*m])
	for i, y := range whole {
		by := res[2*m+at[i]]
		if after[i] != nil {
			// The product as a function of the factor, of all steps.
			in := g.Input(len(l.ins), factor[i].DType, factor[i].Shape)
			one := op.Replace([]*ir.Node{y}, []*ir.Node{factor[i]}, []*ir.Node{in})
			by = op.Batch(c.g, one, l.a.Steps, func(x *ir.Node) op.Batched {
				if x == in {
					return op.Batched{Node: by, Lead: true}
				}
				return op.Batched{Node: l.outer[x.Arg()], Lead: l.kinds[x.Arg()] == 's'}
			})[0].Raise(l.a.Steps)
		}
		final = append(final, by)
	}
	for i, y := range final {
		t := n.Results[i]
		if y.DType != t.DType || !array.Equal(y.Shape, t.Shape) {
			return nil
		}
	}
	return c.together(n, final)
}
