package saved

import (
	"math"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
)

// Numbers that depend on free lengths. A function is traced for several sets of lengths. Where the
// graphs differ in a number, an expression over lengths and over sizes of earlier values must give all
// of them.

// An expr is floor((Scale * the product of Factors + Offset) / Over).
type expr struct {
	Scale   int64  `json:"scale"`
	Factors []atom `json:"of"`
	Offset  int64  `json:"plus,omitempty"`
	Over    int64  `json:"over,omitempty"` // 0 and 1: not divided
}

// An atom is the size of an axis of the value of a node, or length number Axis if Node is -1.
type atom struct {
	Node int `json:"value"`
	Axis int `json:"axis"`
}

// known are atoms, each with its value in every trial. No two have the same values.
type known struct {
	atoms  []atom
	values [][]int64
}

func (k *known) add(a atom, values []int64) {
	if !varies(values) || slices.ContainsFunc(k.values, func(v []int64) bool { return slices.Equal(v, values) }) {
		return
	}
	k.atoms, k.values = append(k.atoms, a), append(k.values, values)
}

func varies(v []int64) bool {
	return slices.ContainsFunc(v, func(x int64) bool { return x != v[0] })
}

// unify makes one graph of the graphs of all trials, in which numbers that differ are expressions.
func unify(trials []*graph, lengths [][]int, built [][]*ir.Node) *graph {
	k := &known{}
	for i := range lengths[0] {
		values := make([]int64, len(lengths))
		for t := range lengths {
			values[t] = int64(lengths[t][i])
		}
		k.add(atom{-1, i}, values)
	}
	return k.unify(trials, built)
}

// differ refuses functions that do other operations for other lengths.
func differ(what, line string) {
	array.Failf("save", "", "the function does not do the same for all lengths: %s%s. Fix the length that decides it, or compute it without a branch of Go", what, line)
}

// unify fits node by node. built has the nodes of each trial, for the sizes of their values.
func (k *known) unify(trials []*graph, built [][]*ir.Node) *graph {
	first := trials[0]
	out := &graph{Outs: first.Outs}
	for _, g := range trials[1:] {
		if len(g.Nodes) != len(first.Nodes) {
			differ(countsOf(first, g), "")
		}
		if !slices.Equal(g.Outs, first.Outs) {
			differ("it returns other values", "")
		}
	}
	for i, n := range first.Nodes {
		tokens := make([][]token, len(trials))
		for t, g := range trials {
			m := &g.Nodes[i]
			if m.Op != n.Op || !slices.Equal(m.Args, n.Args) || m.DType != n.DType || m.Weak != n.Weak || len(m.Attrs) != len(n.Attrs) {
				differ("operation "+n.Op+" is "+m.Op+" or has other arguments", n.line)
			}
			tokens[t] = m.Attrs
		}
		n.Attrs = k.tokens(tokens, &n)
		out.Nodes = append(out.Nodes, n)
		for axis := range built[0][i].Shape {
			values := make([]int64, len(trials))
			for t := range trials {
				if s := built[t][i].Shape; axis < len(s) {
					values[t] = int64(s[axis])
				}
			}
			k.add(atom{i, axis}, values)
		}
	}
	return out
}

func countsOf(a, b *graph) string {
	for i := range min(len(a.Nodes), len(b.Nodes)) {
		if a.Nodes[i].Op != b.Nodes[i].Op {
			return "it does " + a.Nodes[i].Op + a.Nodes[i].line + ", and for other lengths " + b.Nodes[i].Op + b.Nodes[i].line
		}
	}
	return "it does more operations for some"
}

// tokens fits the attributes of a node.
func (k *known) tokens(all [][]token, n *node) []token {
	if len(all[0]) == 0 {
		return nil
	}
	out := slices.Clone(all[0])
	for i := range out {
		values := make([]int64, len(all))
		float := out[i].kind == tokenFloat
		for t := range all {
			x := &all[t][i]
			if x.kind != out[i].kind || x.text != out[i].text || x.kind == tokenLen && x.int != out[i].int {
				differ("a parameter of "+n.Op+" differs", n.line)
			}
			if values[t] = x.int; float {
				values[t] = int64(x.float)
			}
		}
		switch {
		case out[i].kind == tokenFunction:
			out[i].fn = k.function(all, i, n)
			continue
		case float && sameFloats(all, i), !float && !varies(values):
			continue
		}
		for t := range all {
			if float && float64(values[t]) != all[t][i].float {
				array.Failf("save", "", "the number %v of %s depends on a free length, and not as a whole number%s", all[t][i].float, n.Op, n.line)
			}
		}
		e := k.fit(values)
		if e == nil {
			array.Failf("save", "", "a number of %s depends on free lengths in no way that was found: it is %v for the lengths tried%s. Fix one of the lengths", n.Op, values, n.line)
		}
		if out[i] = (token{kind: tokenSized, expr: e}); float {
			out[i].kind = tokenSizedFloat
		}
	}
	return out
}

func sameFloats(all [][]token, i int) bool {
	return !slices.ContainsFunc(all, func(t []token) bool { return floatText(t[i].float) != floatText(all[0][i].float) })
}

// function fits the function that a node runs. Sizes in its graph belong to its own values.
func (k *known) function(all [][]token, i int, n *node) *function {
	f := all[0][i].fn
	if f == nil {
		return nil
	}
	out := &function{Args: slices.Clone(f.Args)}
	bodies, nodes := make([]*graph, len(all)), make([][]*ir.Node, len(all))
	for t := range all {
		g := all[t][i].fn
		if g == nil || len(g.Args) != len(f.Args) {
			differ("the function of "+n.Op+" takes other arguments", n.line)
		}
		bodies[t] = g.Body
		inner := &env{}
		g.buildIn(&env{}, inner)
		nodes[t] = inner.nodes
	}
	for a := range f.Args {
		shapes := make([][]token, len(all))
		for t := range all {
			g := all[t][i].fn
			if g.Args[a].DType != f.Args[a].DType || len(g.Args[a].Shape) != len(f.Args[a].Shape) {
				differ("the function of "+n.Op+" takes other arguments", n.line)
			}
			shapes[t] = g.Args[a].Shape
		}
		if s := k.tokens(shapes, n); s != nil {
			out.Args[a].Shape = s
		}
	}
	inner := &known{}
	for j, a := range k.atoms {
		if a.Node < 0 {
			inner.add(a, k.values[j])
		}
	}
	out.Body = inner.unify(bodies, nodes)
	return out
}

// fit returns an expression with these values, nil if none is found: the simplest one first.
func (k *known) fit(v []int64) *expr {
	one := func(scale, offset, over int64, of ...atom) *expr {
		return &expr{Scale: scale, Factors: of, Offset: offset, Over: over}
	}
	for i, a := range k.values { // the latest would be as good: the first is a length of the caller
		if slices.Equal(a, v) {
			return one(1, 0, 0, k.atoms[i])
		}
	}
	for i, a := range k.values {
		if scale, offset, ok := line(a, v); ok && (offset == 0 || len(k.atoms) > 0) {
			return one(scale, offset, 0, k.atoms[i])
		}
	}
	var pairs []monomial
	for i, a := range k.values {
		for j := i; j < len(k.values); j++ {
			p := times(a, k.values[j])
			pairs = append(pairs, monomial{p, []atom{k.atoms[i], k.atoms[j]}})
			if scale, offset, ok := line(p, v); ok {
				return one(scale, offset, 0, k.atoms[i], k.atoms[j])
			}
		}
	}
	for _, p := range pairs {
		for j, b := range k.values {
			if scale, offset, ok := line(times(p.values, b), v); ok && offset == 0 {
				return one(scale, 0, 0, append(slices.Clone(p.atoms), k.atoms[j])...)
			}
		}
	}
	single := make([]monomial, len(k.atoms))
	for i := range k.atoms {
		single[i] = monomial{k.values[i], []atom{k.atoms[i]}}
	}
	for _, p := range append(single, pairs...) {
		for over := int64(2); over <= 64; over++ {
			if scale, offset, ok := quotient(p.values, v, over); ok {
				return one(scale, offset, over, p.atoms...)
			}
		}
	}
	return nil
}

// quotient returns the whole numbers with v = floor((scale*a + offset) / over), if there are such. Of
// several offsets it takes 0 or over-1, which round down and up, and no other.
func quotient(a, v []int64, over int64) (scale, offset int64, ok bool) {
	far := 0
	for t := range a {
		if a[t] > a[far] {
			far = t
		}
	}
	if a[far] <= 0 || v[far] <= 0 {
		return 0, 0, false
	}
	scale = (2*v[far]*over + a[far]) / (2 * a[far])
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	for t := range a {
		o := over*v[t] - scale*a[t]
		least, most = max(least, o), min(most, o+over-1)
	}
	for _, o := range []int64{0, over - 1, least} {
		if scale > 0 && least <= o && o <= most && (o != least || least == most || o == 0 || o == over-1) {
			return scale, o, true
		}
	}
	return 0, 0, false
}

// A monomial is the product of several atoms, with its values.
type monomial struct {
	values []int64
	atoms  []atom
}

func times(a, b []int64) []int64 {
	out := make([]int64, len(a))
	for i := range a {
		out[i] = a[i] * b[i]
	}
	return out
}

// line returns the whole numbers with v = scale*a + offset, if there are such.
func line(a, v []int64) (scale, offset int64, ok bool) {
	at := slices.IndexFunc(a, func(x int64) bool { return x != a[0] })
	if at < 0 || (v[at]-v[0])%(a[at]-a[0]) != 0 {
		return 0, 0, false
	}
	scale = (v[at] - v[0]) / (a[at] - a[0])
	offset = v[0] - scale*a[0]
	for t := range a {
		if scale == 0 || scale*a[t]+offset != v[t] {
			return 0, 0, false
		}
	}
	return scale, offset, true
}
