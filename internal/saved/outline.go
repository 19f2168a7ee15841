package saved

import "weft/internal/ir"

// An Outline is the graph of a program for writers of other formats. Numbers that depend on free lengths
// are expressions there.
type Outline struct {
	Steps []Step
	Outs  []int // the steps of the results, by number of the result

	exprs []*Expr
}

// A Step is a node of the graph. Steps that it reads come before it.
type Step struct {
	// Node has the operation and the type of the value for the lengths of the program's example.
	Node *ir.Node
	Args []int // the numbers of the steps that it reads
	// Attrs are the parameters. [Outline.Expr] tells an integer that depends on lengths.
	Attrs ir.Attrs
	// Value is the number that a constant is, nil for one that does not depend on lengths.
	Value *Expr
}

// firstKey stands in attributes for the first expression, the integers below it for others. No size, axis
// or stride is so low.
const firstKey = -1 << 30

// Expr returns the expression that an integer of attributes stands for, nil if it is a number.
func (o *Outline) Expr(n int) *Expr {
	if i := firstKey - n; i >= 0 && i < len(o.exprs) {
		return o.exprs[i]
	}
	return nil
}

// Outline returns the graph of the program. It panics with *array.Error where the graph, with the lengths
// of the example, is not one that operations give.
func (p *Program) Outline() *Outline {
	_, nodes := p.plain(p.Example)
	o := &Outline{Outs: p.Graph.Outs}
	key := func(x *Expr) int64 {
		o.exprs = append(o.exprs, x)
		return int64(firstKey - len(o.exprs) + 1)
	}
	for i := range p.Graph.Nodes {
		n := &p.Graph.Nodes[i]
		s := Step{Node: nodes[i], Args: n.Args, Attrs: nodes[i].Attrs}
		switch {
		case nodes[i].Op == ir.Const:
			s.Value = n.Attrs[0].expr
		case sized(n.Attrs):
			d := decoder{in: n.Attrs, env: &env{lengths: p.Example, nodes: nodes[:i], sized: key}}
			s.Attrs = d.attrs()
		}
		o.Steps = append(o.Steps, s)
	}
	return o
}

// sized reports whether a parameter depends on lengths. Functions have lengths of their own.
func sized(attrs []token) bool {
	has := false
	for _, t := range attrs {
		if t.kind == tokenFunction {
			return false
		}
		has = has || t.expr != nil
	}
	return has
}
