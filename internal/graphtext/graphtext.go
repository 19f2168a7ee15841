// Package graphtext shows graphs as text: as a tree, as formulas, and in Graphviz' language.
// All that prints a graph of tensors, be it for weft eval --explain, [weft.Formula.Explain]
// or a page of weft view, prints it here.
package graphtext

import (
	"fmt"
	"strconv"
	"strings"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Names say what leaves are called, and what else is known of nodes. The zero Names call
// inputs in0, in1, ... and numbers num0, num1, ...
type Names struct {
	Inputs  []string // by number of the array
	Scalars []string // by number of the Go number
	// Named gives names to nodes, which get lines of their own in formulas.
	Named map[*ir.Node]string
	// Note is what else is said of a node, such as the line that it comes from; nil or
	// "" for nothing.
	Note func(n *ir.Node) string
	// Maker names the rule that made a node, also of the functions of loops and branches; nil or "" for
	// none.
	Maker func(n *ir.Node) string
}

// Remark returns what is said of a node behind its type: its note, and the rule that made it.
func (s *Names) Remark(n *ir.Node) string {
	note := ""
	if s.Note != nil {
		note = s.Note(n)
	}
	if s.Maker != nil {
		if by := s.Maker(n); by != "" {
			note = strings.TrimSpace(note + "  by " + by)
		}
	}
	return note
}

// leaf is the name of an input or scalar.
func (s *Names) leaf(n *ir.Node) string {
	list, kind := s.Inputs, "in"
	if n.Op != ir.Input {
		list, kind = s.Scalars, "num"
	}
	if i := n.Arg(); i < len(list) && list[i] != "" {
		return list[i]
	}
	return kind + strconv.Itoa(n.Arg())
}

// Title is what a node is: its operation with attributes, or the leaf that it is.
func (s *Names) Title(n *ir.Node) string {
	switch n.Op {
	case ir.Input, ir.Scalar:
		return s.leaf(n)
	case ir.Between:
		lo, hi := n.Bounds()
		return fmt.Sprintf("%d <= %s <= %d", lo, s.leaf(n), hi)
	case ir.Const:
		return constant(n)
	case ir.Result:
		return fmt.Sprint("result", n.Arg())
	}
	if b, ok := n.Attrs.(op.Body); ok {
		return "kernel " + b.Name()
	}
	return n.Op.OpName() + attributes(n.Attrs)
}

// Type is the element type and shape of a node's value, or of its values.
func Type(n *ir.Node) string {
	if n.Results == nil {
		return array.TypeString(n.DType, n.Shape)
	}
	var each []string
	for _, t := range n.Results {
		each = append(each, array.TypeString(t.DType, t.Shape))
	}
	return "(" + strings.Join(each, ", ") + ")"
}

// maxAttributes bounds the text of attributes.
const maxAttributes = 100

// attributes returns the attributes of an operation in braces, "" if it has none.
func attributes(a ir.Attrs) string {
	var s string
	switch a := a.(type) {
	case nil:
		return ""
	case op.To:
		s = array.DType(a).String()
	case op.Axis, op.Offset, op.Count, op.Power:
		s = fmt.Sprintf("%d", a)
	case op.Shape:
		return array.ShapeString(a)
	case op.Order:
		return array.ShapeString(a)
	case op.Looping:
		s = looping(a)
	case op.Branches:
		return ""
	case op.Group:
		s = fmt.Sprintf("%d:%d", a.Lo, a.Hi)
	case op.Window:
		var axes []string
		for i, n := range a.Count {
			axes = append(axes, fmt.Sprintf("%d+%dx%d", a.Start[i], n, a.Step[i]))
		}
		s = strings.Join(axes, ", ")
	default:
		s = strings.Trim(fmt.Sprintf("%+v", a), "{}")
	}
	if s == "" {
		return ""
	}
	if len(s) > maxAttributes {
		s = s[:maxAttributes] + "..."
	}
	return "{" + s + "}"
}

// constant is a number as formulas write it.
func constant(n *ir.Node) string {
	v := n.Value()
	switch {
	case n.DType == array.Bool:
		return strconv.FormatBool(v.Int != 0)
	case !n.DType.Float():
		return strconv.FormatInt(v.Int, 10)
	case v.Float != v.Float:
		return "(0.0 / 0.0)"
	case v.Float-v.Float != 0:
		if v.Float < 0 {
			return "(-1.0 / 0.0)"
		}
		return "(1.0 / 0.0)"
	}
	s := strconv.FormatFloat(v.Float, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// uses returns how often a node is read by those that outs need, by node ID; being an
// output counts as one.
func uses(outs []*ir.Node) []int {
	need := ir.Reach(outs)
	count := make([]int, len(need))
	for id, is := range need {
		if is {
			for _, a := range outs[0].Graph.Nodes[id].Args {
				count[a.ID]++
			}
		}
	}
	for _, o := range outs {
		count[o.ID]++
	}
	return count
}

// order returns the nodes that outs need, arguments first.
func order(outs []*ir.Node) []*ir.Node {
	var list []*ir.Node
	for id, is := range ir.Reach(outs) {
		if is {
			list = append(list, outs[0].Graph.Nodes[id])
		}
	}
	return list
}

// isLeaf reports a node that has a name of its own.
func isLeaf(n *ir.Node) bool {
	return n.Op == ir.Input || n.Op == ir.Scalar || n.Op == ir.Const || n.Op == ir.Between
}

// outputs is the names of outputs: out, or out0, out1, ...
func outputs(outs []*ir.Node) []string {
	if len(outs) == 1 {
		return []string{"out"}
	}
	names := make([]string, len(outs))
	for i := range names {
		names[i] = fmt.Sprint("out", i)
	}
	return names
}
