package saved

import (
	"slices"

	"weft/internal/ir"
)

// An Outline is the graph of a program for writers of other formats. Numbers that depend on free lengths
// are expressions there.
type Outline struct {
	Steps []Step
	Outs  []int // the steps of the results, by number of the result

	exprs *[]*Expr // shared by the outlines of functions
}

// A Step is a node of the graph. Steps that it reads come before it.
type Step struct {
	// Node has the operation and the type of the value for the lengths of the program's example.
	Node *ir.Node
	Args []int // the numbers of the steps that it reads
	// Attrs are the parameters. [Outline.Expr] tells an integer that depends on lengths. Where
	// one does, functions among them are nil: Bodies has them.
	Attrs ir.Attrs
	// Value is the number that a constant is, nil for one that does not depend on lengths.
	Value *Expr
	// Bodies are the functions among the parameters, in order. Their inputs are the arguments of the functions.
	Bodies []*Outline
}

// firstKey stands in attributes for the first expression, the integers below it for others. No size, axis
// or stride is so low.
const firstKey = -1 << 30

// Expr returns the expression that an integer of attributes stands for, nil if it is a number.
func (o *Outline) Expr(n int) *Expr {
	if i := firstKey - n; i >= 0 && i < len(*o.exprs) {
		return (*o.exprs)[i]
	}
	return nil
}

// Outline returns the graph of the program. It panics with *array.Error where the graph, with the lengths
// of the example, is not one that operations give.
func (p *Program) Outline() *Outline {
	_, nodes := p.plain(p.Example)
	o := &Outline{exprs: new([]*Expr)}
	o.fill(p.Graph, &env{lengths: p.Example, nodes: nodes})
	return o
}

// fill lists a graph whose nodes were built in e.
func (o *Outline) fill(g *graph, e *env) {
	o.Outs = g.Outs
	key := func(x *Expr) int64 {
		*o.exprs = append(*o.exprs, x)
		return int64(firstKey - len(*o.exprs) + 1)
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		s := Step{Node: e.nodes[i], Args: n.Args, Attrs: e.nodes[i].Attrs}
		before := env{lengths: e.lengths, nodes: e.nodes[:i], depth: e.depth}
		attrs, sized := slices.Clone(n.Attrs), false
		for k := range attrs {
			t := &attrs[k]
			if t.kind == tokenFunction && t.fn != nil {
				inner := &env{lengths: e.lengths, depth: e.depth + 1}
				t.fn.buildIn(&before, inner)
				body := &Outline{exprs: o.exprs}
				body.fill(t.fn.Body, inner)
				s.Bodies = append(s.Bodies, body)
				t.fn = nil
			}
			sized = sized || t.expr != nil
		}
		switch {
		case s.Node.Op == ir.Const:
			s.Value = n.Attrs[0].expr
		case sized:
			before.sized = key
			d := decoder{in: attrs, env: &before}
			s.Attrs = d.attrs()
		}
		o.Steps = append(o.Steps, s)
	}
}
