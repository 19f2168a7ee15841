package graphtext

import (
	"fmt"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/formula"
	"weft/internal/ir"
	"weft/internal/op"
)

// A Line is a formula that has a name.
type Line struct {
	Name, Text string
	// Readable holds where weft.Expr reads the text, given the names in it.
	Readable bool
	DType    array.DType
}

// maxText is the length in bytes from which an expression gets a line of its own.
const maxText = 400

// Formulas shows outs as formulas, each a line: first what several others read, under the
// names t1, t2, ..., last the outputs. Where the language of weft.Expr has the operations
// it reads the lines, one after the other, and computes the same bits; operations that it
// lacks are written as calls with their attributes in braces.
func Formulas(outs []*ir.Node, names Names) []Line {
	if len(outs) == 0 {
		return nil
	}
	w := &formulas{names: names, of: map[*ir.Node]expression{}, uses: uses(outs)}
	for _, n := range order(outs) {
		e := w.write(n)
		// What is computed from numbers alone has the type of the arrays that it meets: on
		// a line of its own it would have another.
		if name := names.Named[n]; name != "" && !w.taken(name) {
			e = w.line(n, name, e)
		} else if len(n.Args) > 0 && (w.uses[n.ID] > 1 && !n.Weak || n.Results == nil && len(e.text) > maxText) {
			e = w.named(n, e)
		}
		w.of[n] = e
	}
	for i, name := range outputs(outs) {
		e := w.of[outs[i]]
		w.lines = append(w.lines, Line{name, e.text, e.readable, outs[i].DType})
	}
	return w.lines
}

// Formula is [Formulas] as text, "name = formula" a line.
func Formula(outs []*ir.Node, names Names) string {
	var b strings.Builder
	for _, l := range Formulas(outs, names) {
		fmt.Fprintf(&b, "%s = %s\n", l.Name, l.Text)
	}
	return b.String()
}

// An expression is the text of a node.
type expression struct {
	text     string
	prec     int // of its outermost operator; atom if it needs no parentheses
	readable bool
}

// atom is above the precedence of Go's operators.
const atom = 8

type formulas struct {
	names Names
	of    map[*ir.Node]expression
	uses  []int
	lines []Line
	count int
}

// named gives an expression a line and returns its name.
func (w *formulas) named(n *ir.Node, e expression) expression {
	name := ""
	for name == "" || w.taken(name) {
		w.count++
		name = fmt.Sprint("t", w.count)
	}
	return w.line(n, name, e)
}

// line writes an expression on a line under a name, which it returns.
func (w *formulas) line(n *ir.Node, name string, e expression) expression {
	w.lines = append(w.lines, Line{name, e.text, e.readable, n.DType})
	return expression{name, atom, !n.Weak}
}

func (w *formulas) taken(name string) bool {
	for _, l := range w.lines {
		if l.Name == name {
			return true
		}
	}
	for _, list := range [][]string{w.names.Inputs, w.names.Scalars} {
		for _, s := range list {
			if s == name {
				return true
			}
		}
	}
	return false
}

// reductions are the primitives of reductions by the name that formulas have for them.
var reductions = map[string]string{
	"reduce_sum": "sum", "reduce_prod": "prod", "reduce_min": "amin", "reduce_max": "amax", "reduce_all": "all", "reduce_any": "any",
}

// hidden reports a reduction that its one reader, which drops the axes or goes on over
// others, writes as part of its own.
func (w *formulas) hidden(n *ir.Node) bool {
	_, ok := reductions[n.Op.OpName()]
	return ok && w.uses[n.ID] == 1
}

func (w *formulas) write(n *ir.Node) expression {
	switch n.Op {
	case ir.Input, ir.Scalar:
		return expression{w.names.leaf(n), atom, true}
	case ir.Const:
		s := constant(n)
		prec := atom
		if s[0] == '-' {
			prec = atom - 1
		}
		return expression{s, prec, true}
	case op.Cast:
		return w.call(n.DType.String(), "", true, n)
	case op.PowInt:
		return w.call("pow", fmt.Sprint(int(n.Attrs.(op.Power))), true, n)
	case op.Reshape:
		if e, ok := w.dropped(n); ok {
			return e
		}
	}
	if _, ok := reductions[n.Op.OpName()]; ok {
		return w.reduced(n, n.Shape, "_keep")
	}
	if b, ok := n.Attrs.(op.Body); ok {
		return w.call(b.Name(), "", false, n)
	}
	d := op.Of(n)
	s, ok := formula.Spelling{}, false
	if d != nil {
		s, ok = formula.Spell(d)
		ok = ok && (d != op.MatMul2 || n.Rank() == 2)
	}
	switch {
	case !ok:
		return w.call(w.names.Title(n), "", false, n)
	case !s.Operator:
		return w.call(s.Name, "", true, n)
	case len(n.Args) == 1:
		e := w.of[n.Args[0]]
		return expression{s.Name + e.above(atom-1), atom - 1, e.readable}
	}
	x, y := w.of[n.Args[0]], w.of[n.Args[1]]
	left := s.Precedence
	if d.Rule == op.Compare {
		left++ // comparisons do not chain
	}
	return expression{x.above(left) + " " + s.Name + " " + y.above(s.Precedence+1), s.Precedence, x.readable && y.readable}
}

// above is the text as an operand of what binds with a precedence.
func (e expression) above(prec int) string {
	if e.prec < prec {
		return "(" + e.text + ")"
	}
	return e.text
}

// call writes a function of a node's arguments, with one more behind them.
func (w *formulas) call(name, more string, readable bool, n *ir.Node) expression {
	var args []string
	typed := -1
	if readable {
		typed = typedConstant(n)
	}
	for i, a := range n.Args {
		text := w.of[a].text
		if i == typed {
			text = a.DType.String() + "(" + text + ")"
		}
		args = append(args, text)
		readable = readable && w.of[a].readable
	}
	if more != "" {
		args = append(args, more)
	}
	return expression{name + "(" + strings.Join(args, ", ") + ")", atom, readable}
}

// typedConstant returns the place of the constant that needs its type to be written, -1 for none. Where constants alone give
// an operation its type, as in where(y < 0, 1.0, 2.0), formulas would read it as float32.
func typedConstant(n *ir.Node) int {
	at := -1
	for i, a := range n.Args {
		switch {
		case a.DType == array.Bool:
		case a.Op != ir.Const || a.Weak || !a.DType.Float() || a.DType == array.Float32:
			return -1
		case at < 0:
			at = i
		}
	}
	return at
}

// dropped writes a reshape that drops axes of size 1 which reductions have left.
func (w *formulas) dropped(n *ir.Node) (expression, bool) {
	x := n.Args[0]
	if !w.hidden(x) || n.Rank() >= x.Rank() {
		return expression{}, false
	}
	e := w.reduced(x, n.Shape, "")
	return e, e.text != ""
}

// reduced writes a reduction, together with the reductions of the same kind that feed it, if the
// result has that shape; no text otherwise.
func (w *formulas) reduced(n *ir.Node, shape []int, keep string) expression {
	// From the whole chain, if one reduction over all its axes makes the same groups of
	// them, else from n alone: other groups are another order of summation.
	x, groups := n.Args[0], []op.Group{trimmed(n)}
	for x.Op == n.Op && w.hidden(x) {
		groups = append(groups, trimmed(x))
		x = x.Args[0]
	}
	if !slices.Equal(groups, regrouped(groups, x.Shape)) {
		x, groups = n.Args[0], groups[:1]
	}
	drop := make([]bool, n.Rank())
	count := 0
	for _, g := range groups {
		for a := g.Lo; a < g.Hi; a++ {
			if x.Shape[a] != 1 {
				drop[a] = true
				count++
			}
		}
	}
	// Axes of size 1 may be among those that are reduced or not.
	want := n.Rank() - len(shape)
	if keep != "" {
		want = max(count, 1)
	}
	for a, size := range x.Shape {
		if size == 1 && count < want {
			drop[a] = true
			count++
		}
	}
	args := w.of[x].text
	var kept []int
	for a, size := range n.Shape {
		if !drop[a] {
			kept = append(kept, size)
		} else if count < n.Rank() {
			args += fmt.Sprint(", ", a)
		}
	}
	if keep == "" && !slices.Equal(kept, shape) {
		return expression{}
	}
	name := reductions[n.Op.OpName()] + keep
	if keep != "" {
		name = strings.Replace(name, "am", "m", 1) // max(x, y) is of two arrays, max_keep(x, 0) cannot be
	}
	return expression{name + "(" + args + ")", atom, w.of[x].readable}
}

// trimmed is the group of a reduction without axes of size 1 at its ends.
func trimmed(n *ir.Node) op.Group {
	g, shape := n.Attrs.(op.Group), n.Args[0].Shape
	for g.Lo < g.Hi && shape[g.Lo] == 1 {
		g.Lo++
	}
	for g.Lo < g.Hi && shape[g.Hi-1] == 1 {
		g.Hi--
	}
	return g
}

// regrouped returns the groups in which a reduction over all the axes of groups goes, the
// one that is reduced last in front.
func regrouped(groups []op.Group, shape []int) []op.Group {
	over := make([]bool, len(shape))
	for _, g := range groups {
		for a := g.Lo; a < g.Hi; a++ {
			over[a] = true
		}
	}
	var out []op.Group
	for a, n := range shape {
		switch {
		case !over[a] || n == 1:
		case len(out) > 0 && !slices.ContainsFunc(shape[out[len(out)-1].Hi:a], func(n int) bool { return n != 1 }):
			out[len(out)-1].Hi = a + 1
		default:
			out = append(out, op.Group{Lo: a, Hi: a + 1})
		}
	}
	return out
}
