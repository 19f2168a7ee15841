package sym

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/graphtext"
	"weft/internal/htmlview"
	"weft/internal/ir"
	"weft/internal/op"
)

// Expressions as text, as they were written: before a function rewrites them.

// DebugPrint shows what variables are computed from as a tree, a line each: the operation with its
// Go arguments, a number, the type, and the line of the program. A variable that is read again
// is the number with ^. What loops and branches run stands below.
func DebugPrint(vars ...*Var) string {
	d := draw("debugprint", vars)
	var b strings.Builder
	b.WriteString(graphtext.Tree(d.outs, d.names))
	for _, a := range d.inner {
		for i, s := range a.bodies {
			title := "a step"
			if len(a.bodies) > 1 {
				title = [...]string{"then", "else"}[i]
			}
			fmt.Fprintf(&b, "\n%s of %s%s:\n", title, a.name, at(a.pc))
			b.WriteString(DebugPrint(s.outs...))
		}
	}
	return b.String()
}

// Pretty shows what variables are computed from as formulas, a line each: first what is read
// several times, under the names t1, t2, ..., last the variables.
func Pretty(vars ...*Var) string {
	d := draw("pretty", vars)
	return graphtext.Formula(d.outs, d.names)
}

// DOT shows what variables are computed from in the language of Graphviz.
func DOT(vars ...*Var) string {
	d := draw("dot", vars)
	return graphtext.DOT(d.outs, d.names)
}

// A drawing is a graph of variables in the form that package graphtext shows.
type drawing struct {
	outs  []*ir.Node
	names graphtext.Names
	inner []*apply // loops and branches
}

// named is an operation that has no row in the op table.
type named string

// OpName implements ir.Op.
func (n named) OpName() string { return string(n) }

// goArgs are the Go arguments of a drawn operation. The identifier keeps operations apart that were
// written twice.
type goArgs struct {
	text string
	id   uint64
}

// AppendKey implements ir.Attrs.
func (g goArgs) AppendKey(k []byte) []byte { return append(ir.Int(k, int(g.id)), g.text...) }

// String returns the Go arguments alone.
func (g goArgs) String() string { return g.text }

// draw makes the drawing of variables.
func draw(opName string, vars []*Var) *drawing {
	for _, v := range vars {
		v.notNil(opName)
	}
	d := &drawing{names: graphtext.Names{Named: map[*ir.Node]string{}}}
	g := ir.New()
	nodes := map[*Var]*ir.Node{}
	lines := map[*ir.Node]string{}
	for _, v := range order(vars) {
		if nodes[v] != nil {
			continue
		}
		a := v.from
		if a == nil {
			nodes[v] = g.Input(len(d.names.Inputs), v.dtype, v.shape)
			d.names.Inputs = append(d.names.Inputs, v.drawn())
			continue
		}
		if a.name == "as" {
			nodes[v] = nodes[a.args[0]]
			d.name(nodes[v], v.name)
			continue
		}
		made := a.draw(g, nodes)
		for i, o := range a.outs {
			nodes[o] = made[i]
			lines[made[i]] = array.ShortPlace(a.pc)
		}
		if len(a.bodies) > 0 {
			d.inner = append(d.inner, a)
		}
	}
	for _, v := range vars {
		d.outs = append(d.outs, nodes[v])
	}
	d.names.Note = func(n *ir.Node) string {
		if name := d.names.Named[n]; name != "" {
			return name + "  " + lines[n]
		}
		return lines[n]
	}
	return d
}

// name gives a node the name of a variable, unless it has one.
func (d *drawing) name(n *ir.Node, name string) {
	if len(n.Args) > 0 && d.names.Named[n] == "" {
		d.names.Named[n] = name
	}
}

// drawn is what drawings call a variable that is not computed.
func (v *Var) drawn() string {
	switch {
	case v.name != "":
		return v.name
	case v.role == constant && v.kept.Size() == 1 && v.dtype != weft.Bool:
		return strings.Trim(v.kept.Reshape().String(), "[]")
	case v.role == constant:
		return "constant"
	case v.role == shared:
		return "shared"
	}
	return "input"
}

// draw adds an operation to a drawing and returns its results.
func (a *apply) draw(g *ir.Graph, nodes map[*Var]*ir.Node) []*ir.Node {
	var args []*ir.Node
	var plain []string
	if a.written == nil {
		for _, x := range a.args {
			args = append(args, nodes[x])
		}
	}
	def := op.Lookup(a.name)
	for _, w := range a.written {
		switch {
		case w.at >= 0:
			args = append(args, nodes[a.args[w.at]])
			continue
		case def != nil && len(plain) == 0:
			if n := number(g, w.value); n != nil {
				args = append(args, n)
				continue
			}
		}
		if s := goText(w.value); s != "" {
			plain = append(plain, s)
		}
	}
	var what ir.Op = named(a.name)
	if def != nil && len(plain) == 0 {
		what = def
	}
	attrs := goArgs{strings.Join(plain, ", "), a.outs[0].id}
	if len(a.outs) == 1 {
		o := a.outs[0]
		return []*ir.Node{g.Node(what, attrs, o.dtype, o.shape, false, args...)}
	}
	n := g.Several(what, attrs, typesOf(a.outs), args...)
	var outs []*ir.Node
	for i := range a.outs {
		outs = append(outs, g.Result(n, i))
	}
	return outs
}

// number returns a Go number as a node, nil for another value.
func number(g *ir.Graph, x any) *ir.Node {
	switch v := reflect.ValueOf(x); {
	case v.CanInt():
		return g.Node(ir.Const, ir.Value{Int: v.Int()}, weft.Int64, nil, true)
	case v.CanFloat():
		return g.Node(ir.Const, ir.Value{Float: v.Float()}, weft.Float64, nil, true)
	}
	return nil
}

// goText shows a Go argument, "" for options that were left out.
func goText(x any) string {
	v := reflect.ValueOf(x)
	if !v.IsValid() || v.Kind() == reflect.Slice && v.Len() == 0 {
		return ""
	}
	if v.Kind() == reflect.Slice {
		var each []string
		for i := range v.Len() {
			each = append(each, fmt.Sprintf("%+v", v.Index(i).Interface()))
		}
		return strings.Join(each, ", ")
	}
	return fmt.Sprintf("%+v", x)
}

// argNames returns the names of the inputs, and of open shared variables behind them.
func (f *Fn) argNames(open []*Var) []string {
	names := make([]string, len(f.inputs), len(f.inputs)+len(open))
	for i, p := range f.inputs {
		names[i] = p.Name
	}
	for _, v := range open {
		names = append(names, v.name)
	}
	return names
}

// labels returns the names of the shared variables that roots are computed from, and of more, by
// their memory.
func labels(roots, more []*Var) func(*array.Storage) string {
	names := map[*array.Storage]string{}
	for _, v := range append(order(roots), more...) {
		if v.role == shared && v.name != "" && v.kept != nil {
			names[(*core.Tensor)(v.kept).View().Store] = v.name
		}
	}
	return func(s *array.Storage) string { return names[s] }
}

// latest returns the latest program of the function. It panics if there is none: what needs one.
func (f *Fn) latest(what string) (*core.Func, *core.Entry) {
	f.notNil()
	run := f.run.Load()
	if run == nil {
		array.Failf(f.label(), "", "was freed")
	}
	return run, run.Shown(what)
}

// Explain returns the latest program, as [weft.Compiled.Explain] does: the graph before and after
// rewriting, with names of variables, the lines that made nodes and the rules that rewrote them; the plan, its kernels and their
// machine code. It panics with *[weft.Error] if the function was not called yet; [DebugPrint]
// shows what was written.
func (f *Fn) Explain() string {
	_, e := f.latest("Explain")
	return e.Explain()
}

// DOT returns the graph of the latest program, after rewriting, in the language of Graphviz. It
// panics with *[weft.Error] if the function was not called yet.
func (f *Fn) DOT() string {
	_, e := f.latest("DOT")
	if len(e.Outs) == 0 {
		return graphtext.DOT(nil, graphtext.Names{})
	}
	r, names := e.Planned()
	return graphtext.DOT(r.Outs, names)
}

// View writes a page of HTML that shows the latest program, as [weft.Compiled.View] does: the
// graph before, during and after rewriting and the plan. With a profile under which the
// function was called, which may be nil, kernels are coloured by the time that they took. The error
// is that of w, or an *[weft.Error] if the function was not called yet.
func (f *Fn) View(w io.Writer, p *weft.Profile) error {
	if w == nil {
		return array.Errorf("view", "w", "is nil")
	}
	var page *htmlview.Page
	err := weft.Try(func() {
		run, e := f.latest("View")
		page = e.Page(&run.CompiledFunc, (*core.Profile)(p).Recorder())
	})
	if err != nil {
		return err
	}
	return page.Write(w)
}
