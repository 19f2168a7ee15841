package rewrite

import (
	"weft/internal/ir"
	"weft/internal/op"
)

// Rules of loops that look at the whole graph: at which results are read.

var loopRules = []*Rule{
	{Name: "unread results of a loop", Doc: "states and values by step of a loop that neither the graph nor a later step reads -> none (Theano's ScanSaveMem)",
		Phase: Canonicalise, Level: Exact, Graph: unreadResults},
}

// unreadResults is a rule: a loop that computes something unread becomes one that does not.
func unreadResults(c *Context, reach []bool) (ps []replacement) {
	for _, n := range loops(c.g, reach) {
		c.from = c.origin[n.ID]
		ps = append(ps, withoutUnread(n, reach)...)
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
func withoutUnread(n *ir.Node, reach []bool) (ps []replacement) {
	read := resultsRead(n, reach)
	l := open(n)
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
