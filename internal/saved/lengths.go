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

// An Expr is floor((Scale * the product of Factors + And + Offset) / Over), its remainder by Mod, not
// below Least and not above Most.
type Expr struct {
	Scale   int64  `json:"scale"`
	Factors []Atom `json:"of"`
	Offset  int64  `json:"plus,omitempty"`
	Over    int64  `json:"over,omitempty"` // 0 and 1: not divided
	And     *Expr  `json:"and,omitempty"`
	Mod     int64  `json:"mod,omitempty"` // 0 and 1: no remainder is taken
	Least   *Expr  `json:"least,omitempty"`
	Most    *Expr  `json:"most,omitempty"`
}

// An Atom is the size of an axis of the value of a node, or length number Axis if Node is -1.
type Atom struct {
	Node int `json:"value"`
	Axis int `json:"axis"`
}

// known are atoms, each with its value in every trial. No two have the same values.
type known struct {
	atoms  []Atom
	values [][]int64
}

func (k *known) add(a Atom, values []int64) {
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
		k.add(Atom{-1, i}, values)
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
			k.add(Atom{i, axis}, values)
		}
	}
	return out
}

// Like reports that two programs have the same operations with the same arguments.
func (p *Program) Like(q *Program) bool {
	return slices.EqualFunc(p.Graph.Nodes, q.Graph.Nodes, func(a, b node) bool { return a.Op == b.Op && slices.Equal(a.Args, b.Args) })
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

// manyTrials is how many values it takes to look for expressions that fit fewer by chance.
const manyTrials = 8

// fit returns an expression with these values, nil if none is found: the simplest one first.
func (k *known) fit(v []int64) *Expr {
	one := func(scale, offset, over int64, of ...Atom) *Expr {
		return &Expr{Scale: scale, Factors: of, Offset: offset, Over: over}
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
			pairs = append(pairs, monomial{p, []Atom{k.atoms[i], k.atoms[j]}})
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
		single[i] = monomial{k.values[i], []Atom{k.atoms[i]}}
	}
	for _, p := range append(single, pairs...) {
		for over := int64(2); over <= 64; over++ {
			if scale, offset, ok := quotient(p.values, v, over); ok {
				return one(scale, offset, over, p.atoms...)
			}
		}
	}
	if len(v) < manyTrials {
		return nil
	}
	for _, find := range []func(v []int64) *Expr{k.sum, k.remainder, k.bounded, k.ofTwo, k.longSum} {
		if e := find(v); e != nil {
			return e
		}
	}
	return nil
}

// longSum finds a multiple of an atom plus a sum of two or a quotient.
func (k *known) longSum(v []int64) *Expr {
	for i, a := range k.values {
		for scale := int64(1); scale <= 4; scale++ {
			rest := make([]int64, len(v))
			for t := range v {
				rest[t] = v[t] - scale*a[t]
			}
			and := k.sum(rest)
			for j := 0; j < len(k.values) && and == nil; j++ {
				for over := int64(2); over <= 4 && and == nil; over++ {
					if by, offset, ok := quotient(k.values[j], rest, over); ok {
						and = &Expr{Scale: by, Factors: []Atom{k.atoms[j]}, Offset: offset, Over: over}
					}
				}
			}
			if and != nil {
				return &Expr{Scale: scale, Factors: []Atom{k.atoms[i]}, And: and}
			}
		}
	}
	return nil
}

// remainder finds an atom's remainder by a number.
func (k *known) remainder(v []int64) *Expr {
	for i, a := range k.values {
		for by := slices.Max(v) + 1; by > 1 && by <= 64; by++ {
			if !slices.ContainsFunc(v, func(x int64) bool { return x < 0 }) && equalAt(v, func(t int) int64 { return a[t] % by }) {
				return &Expr{Scale: 1, Factors: []Atom{k.atoms[i]}, Mod: by}
			}
		}
	}
	return nil
}

// ofTwo finds the lesser or the greater of two atoms.
func (k *known) ofTwo(v []int64) *Expr {
	for i, a := range k.values {
		for j, b := range k.values[:i] {
			first, second := &Expr{Scale: 1, Factors: []Atom{k.atoms[j]}}, &Expr{Scale: 1, Factors: []Atom{k.atoms[i]}}
			switch {
			case equalAt(v, func(t int) int64 { return min(a[t], b[t]) }):
				first.Most = second
				return first
			case equalAt(v, func(t int) int64 { return max(a[t], b[t]) }):
				first.Least = second
				return first
			}
		}
	}
	return nil
}

func equalAt(v []int64, f func(t int) int64) bool {
	for t := range v {
		if v[t] != f(t) {
			return false
		}
	}
	return true
}

// sum finds a sum of two atoms, each with a scale, and a constant.
func (k *known) sum(v []int64) *Expr {
	for i, a := range k.values {
		for j, b := range k.values[:i] {
			scale, offset, and, ok := plane(b, a, v)
			if ok {
				return &Expr{Scale: scale, Factors: []Atom{k.atoms[j]}, Offset: offset, And: &Expr{Scale: and, Factors: []Atom{k.atoms[i]}}}
			}
		}
	}
	return nil
}

// plane returns the whole numbers with v = scale*a + and*b + offset, if there are such.
func plane(a, b, v []int64) (scale, offset, and int64, ok bool) {
	for t := 2; t < len(v); t++ {
		a1, b1, v1 := a[1]-a[0], b[1]-b[0], v[1]-v[0]
		a2, b2, v2 := a[t]-a[0], b[t]-b[0], v[t]-v[0]
		d := a1*b2 - a2*b1
		if d == 0 {
			continue
		}
		scale, and = (v1*b2-v2*b1)/d, (a1*v2-a2*v1)/d
		offset = v[0] - scale*a[0] - and*b[0]
		for t := range v {
			if scale*a[t]+and*b[t]+offset != v[t] {
				return 0, 0, 0, false
			}
		}
		return scale, offset, and, true
	}
	return 0, 0, 0, false
}

// bounded finds a line, or a sum of two atoms, that is cut off at the least or at the greatest of the
// values.
func (k *known) bounded(v []int64) *Expr {
	for _, least := range []bool{true, false} {
		bound := slices.Max(v)
		if least {
			bound = slices.Min(v)
		}
		inner := &known{atoms: k.atoms, values: make([][]int64, len(k.values))} // where it is not cut off
		var rest []int64
		for t := range v {
			if v[t] != bound {
				rest = append(rest, v[t])
				for i, a := range k.values {
					inner.values[i] = append(inner.values[i], a[t])
				}
			}
		}
		if len(rest) < 2 {
			continue
		}
		e := inner.linear(rest)
		if e == nil || !equalAt(v, func(t int) int64 {
			n := k.at(e, t)
			if least {
				return max(n, bound)
			}
			return min(n, bound)
		}) {
			continue
		}
		if limit := (&Expr{Offset: bound}); least {
			e.Least = limit
		} else {
			e.Most = limit
		}
		return e
	}
	return nil
}

// linear finds a line or a sum of two atoms. Few values are enough for the simplest lines alone.
func (k *known) linear(v []int64) *Expr {
	for i, a := range k.values {
		if scale, offset, ok := line(a, v); ok && (scale == 1 || len(v) > 3) {
			return &Expr{Scale: scale, Factors: []Atom{k.atoms[i]}, Offset: offset}
		}
	}
	if len(v) < 5 {
		return nil
	}
	return k.sum(v)
}

// at is the value of a linear expression in a trial.
func (k *known) at(e *Expr, t int) int64 {
	value := func(a Atom) int64 { return k.values[slices.Index(k.atoms, a)][t] }
	n := e.Scale*value(e.Factors[0]) + e.Offset
	if e.And != nil {
		n += e.And.Scale * value(e.And.Factors[0])
	}
	return n
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
	atoms  []Atom
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
