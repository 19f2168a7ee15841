package rewrite

import (
	"weft/internal/ir"
	"weft/internal/op"
)

// Rules of loops that look at the whole graph: at which results are read.

var loopRules = []*Rule{
	{Name: "unread results of a loop", Doc: "states and values by step of a loop that neither the graph nor a later step reads -> none (Theano's ScanSaveMem)",
		Phase: Canonicalise, Level: Exact, Graph: unreadResults},
	{Name: "loops over the same steps", Doc: "loops over the same steps, none computed from another, whose steps compute something alike -> one loop (Theano's ScanMerge)",
		Phase: Specialise, Level: Exact, Graph: mergeLoops},
}

// unreadResults is a rule: a loop that computes something unread becomes one that does not.
func unreadResults(c *Context, reach []bool) (ps []replacement) {
	for _, n := range loops(c.g, reach) {
		c.from = c.origin[n.ID]
		ps = append(ps, c.withoutUnread(n, reach)...)
		c.note()
	}
	return ps
}

// loops lists the loops of a graph among the nodes that reach marks.
func loops(g *ir.Graph, reach []bool) (out []*ir.Node) {
	for id, need := range reach {
		if n := g.Nodes[id]; need && n.Op == op.Loop {
			out = append(out, n)
		}
	}
	return out
}

// resultsRead returns, for each result of n, the node that is it among those that reach marks,
// nil for a result that nothing reads.
func resultsRead(n *ir.Node, reach []bool) []*ir.Node {
	read := make([]*ir.Node, len(n.Results))
	for id := n.ID + 1; id < len(reach); id++ {
		if r := n.Graph.Nodes[id]; reach[id] && r.Op == ir.Result && r.Args[0] == n {
			read[r.Arg()] = r
		}
	}
	return read
}

// withoutUnread replaces a loop by one without unread carries and values by step: it returns what
// takes the places of the results that are read, nil if all are. A carry is read if its last value
// or its values by step are, or if a step computes from it what is read.
func (c *Context) withoutUnread(n *ir.Node, reach []bool) (ps []replacement) {
	read := resultsRead(n, reach)
	l := c.openLoop(n)
	m, kept := l.a.Carries, l.a.Kept()
	want := make([]bool, len(l.outs)) // of the body's results
	for j := range m {
		want[j] = read[j] != nil || read[m+j] != nil
	}
	for k := range kept {
		want[m+k] = read[2*m+k] != nil
	}
	if l.a.Until {
		want[m+kept] = true
	}
	for again := true; again; {
		again = false
		inside := ir.Reach(marked(l.outs, want))
		for j := range m {
			if in := l.ins[l.a.Seqs+j]; !want[j] && in.ID < len(inside) && inside[in.ID] {
				want[j], again = true, true
			}
		}
	}
	outs := marked(l.outs, want)
	if len(outs) == len(l.outs) {
		return nil
	}
	place := make([]int, len(want)) // of a result of the body among those that stay
	carries := 0
	for i, at := 0, 0; i < len(want); i++ {
		if place[i] = at; want[i] {
			at++
		}
		if i < m && want[i] {
			carries++
		}
		if i < m && !want[i] {
			l.kinds[l.a.Seqs+i] = 'k' // which no step reads
		}
	}
	l.outs = outs
	res := l.apply(n)
	if res == nil {
		return nil
	}
	for i, r := range read {
		switch {
		case r == nil:
		case i < m:
			ps = append(ps, replacement{r, res[place[i]]})
		case i < 2*m:
			ps = append(ps, replacement{r, res[carries+place[i-m]]})
		case i < 2*m+kept:
			ps = append(ps, replacement{r, res[carries+place[i-m]]})
		default: // the number of steps
			ps = append(ps, replacement{r, res[len(res)-1]})
		}
	}
	return ps
}

// marked returns the elements of a list that which says.
func marked(list []*ir.Node, which []bool) (out []*ir.Node) {
	for i, x := range list {
		if which[i] {
			out = append(out, x)
		}
	}
	return out
}

// mergeMost is the size in bytes of the results of loops that are merged, at most. Beyond what caches hold
// two loops one after the other are as fast, and need less memory at a time.
const mergeMost = 1 << 20

// resultSize is the size in bytes of the results of a loop that are read.
func resultSize(n *ir.Node, reach []bool) (size int) {
	for _, r := range resultsRead(n, reach) {
		if r != nil {
			size += r.Size() * r.DType.Size()
		}
	}
	return size
}

// A loopKind is what loops that can be merged have in common. The level counts loops before it, each
// computed from the one before. Loops of one level are not computed from each other.
type loopKind struct {
	level, steps int
	reverse      bool
	count        *ir.Node // with Counted
}

// mergeLoops is a rule: loops over the same steps become one, in which a step does
// what their steps did.
func mergeLoops(c *Context, reach []bool) (ps []replacement) {
	list := loops(c.g, reach)
	if len(list) < 2 {
		return nil
	}
	level := make([]int, len(reach))
	for id, need := range reach {
		n := c.g.Nodes[id]
		for _, a := range n.Args {
			if need {
				level[id] = max(level[id], level[a.ID])
			}
		}
		if need && n.Op == op.Loop {
			level[id]++
		}
	}
	var kinds []loopKind
	groups := map[loopKind][]*ir.Node{}
	for _, n := range list {
		a := n.Attrs.(op.Looping)
		if a.Until || a.Steps < 2 || hasHost(a.Body.Nodes()) {
			continue
		}
		k := loopKind{level: level[n.ID], steps: a.Steps, reverse: a.Reverse}
		if a.Counted {
			k.count = n.Args[len(n.Args)-1]
		}
		if groups[k] == nil {
			kinds = append(kinds, k)
		}
		groups[k] = append(groups[k], n)
	}
	for _, k := range kinds {
		for rest := groups[k]; len(rest) > 1; {
			m := &merge{makers: c.makers, g: ir.New(), inputs: map[mergeInput]*ir.Node{}}
			m.add(rest[0], reach)
			var apart []*ir.Node
			for _, n := range rest[1:] {
				if size := m.size + resultSize(n, reach); size > mergeMost || !m.shares(n) {
					apart = append(apart, n)
					continue
				}
				m.add(n, reach)
			}
			if len(m.list) > 1 {
				c.from = c.origin[rest[0].ID]
				ps = append(ps, m.apply(reach)...)
				c.note()
			}
			rest = apart
		}
	}
	return ps
}

// hasHost reports that outs are computed by functions of the user.
func hasHost(outs []*ir.Node) bool {
	for id, need := range ir.Reach(outs) {
		if need && outs[0].Graph.Nodes[id].Op == op.Host {
			return true
		}
	}
	return false
}

// A merge is loops on the way to be one.
type merge struct {
	list          []*ir.Node
	size          int       // of their results, in bytes
	g             *ir.Graph // of the body
	inputs        map[mergeInput]*ir.Node
	outer         []*ir.Node // what the loop is given for its inputs
	kinds         []byte     // as in [op.NewBody]
	carries, kept []*ir.Node // results of the body
	makers        makers     // nil for a trial
}

// A mergeInput is a sequence or a constant of a loop.
type mergeInput struct {
	of   *ir.Node
	kind byte
}

// inline adds what a step of a loop computes to the body.
func (m *merge) inline(n *ir.Node) (a op.Looping, outs []*ir.Node) {
	a = n.Attrs.(op.Looping)
	in := make([]*ir.Node, len(a.Body.Args))
	for i, t := range a.Body.Args {
		kind := byte('k')
		switch {
		case i < a.Seqs:
			kind = 's'
		case i < a.Seqs+a.Carries:
			kind = 'c'
		}
		key := mergeInput{n.Args[i], kind}
		if in[i] = m.inputs[key]; in[i] != nil {
			continue
		}
		in[i] = m.g.Input(len(m.outer), t.DType, t.Shape)
		m.outer, m.kinds = append(m.outer, n.Args[i]), append(m.kinds, kind)
		if kind != 'c' {
			m.inputs[key] = in[i]
		}
	}
	outs = a.Body.Inline(m.g, in)
	m.makers.keep(a.Body.Nodes(), outs)
	return a, outs
}

// shares reports that a step of n computes, element by element, something that the steps of the others
// compute too. Then kernels become one. Without that one loop is slower than two: its kernels run side by
// side, which takes longer than the launch of one (275 ns a step of two small loops, 150 ns of each after
// the other; EPYC, 2026-11-27).
func (m *merge) shares(n *ir.Node) bool {
	trial := &merge{g: ir.New(), inputs: map[mergeInput]*ir.Node{}}
	for _, x := range m.list {
		trial.inline(x)
	}
	before := len(trial.g.Nodes)
	_, outs := trial.inline(n)
	for id, need := range ir.Reach(outs) {
		if x := trial.g.Nodes[id]; need && id < before && op.Of(x) != nil && op.Of(x).Class == op.Pointwise {
			return true
		}
	}
	return false
}

// add makes the loop n one of those that become one.
func (m *merge) add(n *ir.Node, reach []bool) {
	m.size += resultSize(n, reach)
	a, outs := m.inline(n)
	m.list = append(m.list, n)
	m.carries, m.kept = append(m.carries, outs[:a.Carries]...), append(m.kept, outs[a.Carries:]...)
}

// apply makes the loop and returns what takes the places of the results of the others.
func (m *merge) apply(reach []bool) (ps []replacement) {
	first := m.list[0].Attrs.(op.Looping)
	k := len(m.carries)
	all := op.Looping{Steps: first.Steps, Reverse: first.Reverse, Counted: first.Counted}
	outer := m.outer
	all.Body, all.Seqs, all.Carries = op.NewBody(&outer, m.kinds, append(m.carries, m.kept...))
	m.makers.keep(append(m.carries, m.kept...), all.Body.Nodes())
	if first.Counted {
		outer = append(outer, m.list[0].Args[len(m.list[0].Args)-1])
	}
	if len(outer) == 0 {
		return nil
	}
	res := op.ApplyAll(op.Loop, all, outer...)
	carry, keep := 0, 0
	for _, n := range m.list {
		a := n.Attrs.(op.Looping)
		for i, r := range resultsRead(n, reach) {
			switch {
			case r == nil:
			case i < a.Carries:
				ps = append(ps, replacement{r, res[carry+i]})
			case i < 2*a.Carries:
				ps = append(ps, replacement{r, res[k+carry+i-a.Carries]})
			default:
				ps = append(ps, replacement{r, res[2*k+keep+i-2*a.Carries]})
			}
		}
		carry, keep = carry+a.Carries, keep+a.Kept()
	}
	return ps
}
