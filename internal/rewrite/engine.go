package rewrite

import (
	"fmt"
	"slices"
	"time"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// A Context is a graph that rules work in: what they make nodes with and ask about nodes.
type Context struct {
	g *ir.Graph
	*table
	uses  []RuleReport // by number of a rule
	left  []int        // by number of a rule: how often it may still apply
	watch func(r *Rule, before, after *ir.Node)

	// By ID of a node.
	stands  []*ir.Node // what stands for it, once that is settled
	becomes []*ir.Node // by what it was replaced
	open    []bool     // it is being settled
	users   []int32    // how many nodes and outputs use it, roughly
	origin  []int32
	by      []*Rule // the rule that made it, nil for what is as it was given

	phase   Phase
	known   int   // nodes below this number have met the rules of earlier phases
	from    int32 // origin of nodes to come
	maker   *Rule // rule that makes them
	stack   []*ir.Node
	idle    []*ir.Node
	applied int // of rules in the pass
	tried   int
	needed  int // nodes that the outputs need
	most    int // how often a rule may apply, and how many nodes a pass makes while it tries rules
	room    int // how many nodes there may be in this pass
	start   time.Time

	factored *ir.Node // what product was last asked for
	last     product
	sum      total // what was last asked for

	// framed are views beyond which a kernel reads: what they are cut out of is part of the
	// kernel's argument, so that they stay as they are.
	framed map[*ir.Node]bool

	functions map[*op.Function]*op.Function // of loops and branches, rewritten
	makers    makers
}

// makers are the rules that made the nodes of graphs, by ID.
type makers map[*ir.Graph][]*Rule

// of returns the rule that made a node, nil if no rule did or the graph is not known.
func (m makers) of(n *ir.Node) *Rule {
	if list := m[n.Graph]; n.ID < len(list) {
		return list[n.ID]
	}
	return nil
}

// keep gives the copies of nodes the rules that made the originals: of what both from and to are computed
// from, as far as the two graphs are alike.
func (m makers) keep(from, to []*ir.Node) {
	if len(from) == 0 || !slices.ContainsFunc(m[from[0].Graph], func(r *Rule) bool { return r != nil }) {
		return
	}
	type pair struct{ from, to *ir.Node }
	var todo []pair
	for i, n := range from {
		todo = append(todo, pair{n, to[i]})
	}
	seen := map[*ir.Node]bool{}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.from == p.to || seen[p.to] || p.from.Op != p.to.Op || len(p.from.Args) != len(p.to.Args) {
			continue
		}
		seen[p.to] = true
		if r := m.of(p.from); r != nil && m.of(p.to) == nil {
			list := m[p.to.Graph]
			for len(list) <= p.to.ID {
				list = append(list, nil)
			}
			list[p.to.ID] = r
			m[p.to.Graph] = list
		}
		for i, a := range p.from.Args {
			todo = append(todo, pair{a, p.to.Args[i]})
		}
	}
}

func newContext(t *table, watch func(r *Rule, before, after *ir.Node)) *Context {
	c := &Context{g: ir.New(), table: t, uses: make([]RuleReport, len(t.rules)), left: make([]int, len(t.rules)), watch: watch, start: time.Now(), makers: makers{}}
	for i, r := range t.rules {
		c.uses[i].Rule = r
	}
	return c
}

// take copies what outs need into the graph of c, where equal nodes are one, by the rules of
// merging.
func (c *Context) take(outs []*ir.Node) []*ir.Node {
	old, reach := outs[0].Graph.Nodes, ir.Reach(outs)
	fresh := make([]*ir.Node, len(reach))
	nodes, room := 0, 0
	for id, need := range reach {
		if need {
			nodes, room = nodes+1, room+len(old[id].Args)
		}
	}
	c.grow(nodes)
	c.budget(nodes)
	c.frame(old, reach)
	all := make([]*ir.Node, 0, room) // arguments of all nodes
	for id, need := range reach {
		if !need {
			continue
		}
		n := old[id]
		at := len(all)
		for _, a := range n.Args {
			all = append(all, fresh[a.ID])
		}
		args := all[at:len(all):len(all)]
		c.from, c.maker = int32(id), c.makers.of(n)
		m := c.copy(n, args)
		c.note()
		for by := m; by != nil; by = c.tryEarly(m) {
			m = by
		}
		fresh[id] = m
	}
	res := make([]*ir.Node, len(outs))
	for i, o := range outs {
		res[i] = fresh[o.ID]
	}
	return res
}

// tryEarly returns what the first rule of merging that applies makes of n, nil if none does.
func (c *Context) tryEarly(n *ir.Node) *ir.Node {
	if by := c.tryAll(c.roots[Merge][op.Of(n)], n); by != nil {
		return by
	}
	if op.Of(n) == nil {
		return nil
	}
	return c.tryAll(c.any[Merge], n)
}

// pass applies rules of phases up to one to what outs need, and returns what takes their
// places and whether any rule applied. In the first pass of a phase nodes that are there
// already have met the rules of earlier phases.
func (c *Context) pass(phase Phase, first bool, outs []*ir.Node) ([]*ir.Node, bool) {
	c.phase, c.applied, c.known = phase, 0, 0
	if first {
		c.known = len(c.g.Nodes)
	}
	clear(c.stands)
	clear(c.becomes)
	clear(c.open)
	clear(c.users)
	c.needed = 0
	reach := ir.Reach(outs)
	for id, need := range reach {
		if need {
			c.needed++
			for _, a := range c.g.Nodes[id].Args {
				c.users[a.ID]++
			}
		}
	}
	for _, o := range outs {
		c.users[o.ID]++
	}
	c.room = len(c.g.Nodes) + c.most
	c.replaceWhole(reach)
	for id, need := range reach {
		if need {
			c.from = c.origin[id]
			c.settle(c.g.Nodes[id])
		}
	}
	res := make([]*ir.Node, len(outs))
	for i, o := range outs {
		res[i] = c.stands[o.ID]
	}
	return res, c.applied > 0
}

// replaceWhole applies the rules of the whole graph. At most one rule replaces a node in a pass.
func (c *Context) replaceWhole(reach []bool) {
	for phase := Canonicalise; phase <= c.phase; phase++ {
		for _, i := range c.whole[phase] {
			e := &c.uses[i]
			if len(c.g.Nodes) > c.room || c.left[i] == 0 {
				e.Spent = true
				continue
			}
			start := time.Since(c.start)
			c.maker = e.Rule
			list := e.Graph(c, reach)
			c.maker = nil
			for _, p := range list {
				if c.becomes[p.node.ID] != nil {
					continue
				}
				if c.watch != nil {
					c.watch(e.Rule, p.node, p.by)
				}
				c.replace(p.node, p.by, p.node.Args)
			}
			if len(list) > 0 {
				e.Count++
				c.left[i]--
				c.applied++
				e.Time += time.Since(c.start) - start
			}
		}
	}
}

// budget sets how often rules may apply in all, by the size of the graph given.
func (c *Context) budget(n int) {
	c.most = 1000 + Ratio*n
	c.room = c.most
	for i := range c.left {
		c.left[i] = c.most
	}
}

// frame finds the views beyond which kernels read.
func (c *Context) frame(nodes []*ir.Node, reach []bool) {
	for id, need := range reach {
		if !need || nodes[id].Op != op.Kernel {
			continue
		}
		for i, a := range nodes[id].Args {
			if op.SeenBy(nodes[id], i) != op.Near {
				continue
			}
			for ; op.Of(a) != nil && op.Of(a).Class == op.View; a = a.Args[0] {
				if c.framed == nil {
					c.framed = map[*ir.Node]bool{}
				}
				c.framed[a] = true
			}
		}
	}
}

// copy is n with other arguments.
func (c *Context) copy(n *ir.Node, args []*ir.Node) *ir.Node {
	m := c.plainCopy(n, args)
	if c.framed[n] {
		c.framed[m] = true
	}
	return m
}

func (c *Context) plainCopy(n *ir.Node, args []*ir.Node) *ir.Node {
	if n.Op == ir.Result && args[0].Op == (together{}) {
		return args[0].Args[n.Arg()]
	}
	return c.g.Copy(n, args)
}

// grow makes room for n more nodes and some that rules make.
func (c *Context) grow(n int) {
	if len(c.rules) > 0 {
		n += n / 8
	}
	c.g.Grow(n)
	c.stands = slices.Grow(c.stands, n)
	c.becomes = slices.Grow(c.becomes, n)
	c.open = slices.Grow(c.open, n)
	c.users = slices.Grow(c.users, n)
	c.origin = slices.Grow(c.origin, n)
	c.by = slices.Grow(c.by, n)
}

// note takes notes of new nodes.
func (c *Context) note() {
	for id := len(c.stands); id < len(c.g.Nodes); id++ {
		c.stands = append(c.stands, nil)
		c.becomes = append(c.becomes, nil)
		c.open = append(c.open, false)
		c.users = append(c.users, 0)
		c.origin = append(c.origin, c.from)
		c.by = append(c.by, c.maker)
		for _, a := range c.g.Nodes[id].Args {
			c.users[a.ID]++
		}
	}
}

// settle applies rules to n, and to what they make, until none applies, and returns what
// stands for n then. It does not nest calls: chains of nodes may be long.
func (c *Context) settle(n *ir.Node) *ir.Node {
	c.stack = append(c.stack[:0], n)
	for len(c.stack) > 0 {
		m := c.stack[len(c.stack)-1]
		switch {
		case c.stands[m.ID] != nil:
			c.stack = c.stack[:len(c.stack)-1]
		case c.becomes[m.ID] != nil:
			r := c.becomes[m.ID]
			switch {
			case c.stands[r.ID] != nil:
				c.stands[m.ID] = c.stands[r.ID]
				c.users[c.stands[r.ID].ID] += c.users[m.ID]
			case c.open[r.ID]:
				c.stands[m.ID] = m // rules went in a circle
			default:
				c.stack = append(c.stack, r)
			}
		default:
			c.visit(m)
		}
	}
	return c.stands[n.ID]
}

// visit does a step for a node that nothing stands for yet.
func (c *Context) visit(n *ir.Node) {
	c.open[n.ID] = true
	ready, same := true, true
	for _, a := range n.Args {
		switch s := c.stands[a.ID]; {
		case s == nil && !c.open[a.ID]:
			c.stack = append(c.stack, a)
			ready = false
		case s != nil && s != a:
			same = false
		}
	}
	if !ready {
		return
	}
	if !same {
		args := slices.Clone(n.Args)
		for i, a := range args {
			if s := c.stands[a.ID]; s != nil {
				args[i] = s
			}
		}
		c.maker = c.by[n.ID]
		m := c.copy(n, args)
		c.note()
		c.replace(n, m, args)
		return
	}
	if m := c.try(n); m != nil {
		c.replace(n, m, n.Args)
		return
	}
	c.stands[n.ID] = n
}

// replace notes that n becomes m and uses its arguments, which stand for its own, no more; nor
// does what nothing uses by that.
func (c *Context) replace(n, m *ir.Node, args []*ir.Node) {
	c.becomes[n.ID] = m
	c.idle = append(c.idle[:0], args...)
	for len(c.idle) > 0 {
		a := c.idle[len(c.idle)-1]
		c.idle = c.idle[:len(c.idle)-1]
		if c.users[a.ID]--; c.users[a.ID] == 0 {
			c.idle = append(c.idle, a.Args...)
		}
	}
}

// try returns what the first rule that applies makes of n, nil if none does.
func (c *Context) try(n *ir.Node) *ir.Node {
	d := op.Of(n)
	if d == nil {
		return nil
	}
	phase := Canonicalise
	if n.ID < c.known {
		phase = c.phase
	}
	for ; phase <= c.phase; phase++ {
		if m := c.tryAll(c.any[phase], n); m != nil {
			return m
		}
		if m := c.tryAll(c.roots[phase][d], n); m != nil {
			return m
		}
	}
	return nil
}

// tryAll returns what the first of some rules that applies makes of n, nil if none does.
func (c *Context) tryAll(numbers []int32, n *ir.Node) *ir.Node {
	if len(numbers) == 0 || c.framed[n] {
		return nil
	}
	start := time.Since(c.start)
	for _, i := range numbers {
		e := &c.uses[i]
		if len(c.g.Nodes) > c.room || c.left[i] == 0 {
			e.Spent = true
			continue
		}
		c.tried++
		m := e.Apply(c, n)
		if m == nil || m == n {
			continue
		}
		if m.Results == nil && (m.DType != n.DType || !array.Equal(m.Shape, n.Shape)) {
			panic(fmt.Sprintf("rewrite: %s makes %s of %s", e.Name, m, n))
		}
		c.maker = e.Rule
		c.note()
		if c.watch != nil {
			c.watch(e.Rule, n, m)
		}
		e.Count++
		c.left[i]--
		c.applied++
		e.Time += time.Since(c.start) - start
		return m
	}
	return nil
}

// once reports that nothing but what is looked at uses n.
func (c *Context) once(n *ir.Node) bool { return c.users[n.ID] <= 1 }
