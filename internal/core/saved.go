package core

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/rewrite"
	"weft/internal/saved"
)

// Compiled functions as data: what a trace recorded becomes a [saved.Program].

func init() { saved.Register[RangeCheck]("range check") }

// A TracedGraph is the graph of a function for arguments of certain shapes, without a plan.
type TracedGraph struct {
	e    *Entry
	of   *CompiledFunc
	args []ir.Type

	sizes []sizeGraph // that are values, in the order in which the function asked for them

	generators []*Generator // of the numbers of [TracedGraph.Program]
	host       hostNumbers
}

// A sizeGraph is a size on which the recording depends: its number there, and what computes it in calls.
type sizeGraph struct {
	n     int
	graph *TracedGraph
}

// AddSize says that the recording has n where calls have what graph computes.
func (r *TracedGraph) AddSize(n int, graph *TracedGraph) {
	r.sizes = append(r.sizes, sizeGraph{n, graph})
}

// Types returns the types of the tensors in the arguments of a call.
func (c *GoFunc[F]) Types(args []any) []ir.Type {
	g, _ := c.supplied(args)
	return typesOf(g.Tensors)
}

// supplied returns the tensors and constants in the arguments of a call, and the arguments as values.
func (c *GoFunc[F]) supplied(args []any) (*Supplied, []reflect.Value) {
	if len(args) != len(c.in) && (!c.t.IsVariadic() || len(args) < len(c.in)-1) {
		array.Failf("save", "args", "are %d, the function takes %d", len(args), len(c.in))
	}
	g := &Supplied{}
	values := make([]reflect.Value, len(args))
	for i, x := range args {
		want := c.argument(i)
		if x != nil && !reflect.TypeOf(x).AssignableTo(want) {
			array.Failf("save", "args", "argument %d is %T, want %s", i, x, want)
		}
		values[i] = reflect.New(want).Elem()
		if x != nil {
			values[i].Set(reflect.ValueOf(x))
		}
		collect[F](g, values[i])
	}
	return g, values
}

// Record runs the function on abstract tensors in the places of those in args, of their types but for
// the shapes, and returns its graph.
func (c *GoFunc[F]) Record(args []any, shape func(i int) []int) *TracedGraph {
	g, values := c.supplied(args)
	types := typesOf(g.Tensors)
	for i := range types {
		types[i].Shape = shape(i)
	}
	return c.recorded(g, types, func(args []*Tensor) ([]*Tensor, any, error) { return c.on(args, values) })
}

// Record runs the function on abstract tensors of these types and returns its graph.
func (f *Func) Record(types []ir.Type) *TracedGraph {
	return f.CompiledFunc.recorded(&Supplied{}, types, f.body)
}

// RecordAs is Record of another body, as [Func.CallAs] runs it.
func (f *Func) RecordAs(types []ir.Type, body func(args []*Tensor) []*Tensor) *TracedGraph {
	return f.CompiledFunc.recorded(&Supplied{}, types, func(args []*Tensor) ([]*Tensor, any, error) { return body(args), nil, nil })
}

func typesOf(ts []*Tensor) []ir.Type {
	types := make([]ir.Type, len(ts))
	for i, t := range ts {
		types[i] = ir.Type{DType: t.v.DType, Shape: t.v.Shape}
	}
	return types
}

// abstract returns tensors of these types without memory, in row-major order.
func abstract(types []ir.Type) []*Tensor {
	ts := make([]*Tensor, len(types))
	for i, t := range types {
		n := array.CheckShape("compile", t.Shape, t.DType)
		st := array.NewAbstract(n*t.DType.Size(), 0, nil, func() {})
		ts[i] = New(array.View{Store: st, DType: t.DType, Shape: t.Shape, Strides: array.RowMajor(t.Shape)}, nil, nil, false)
	}
	return ts
}

func (c *CompiledFunc) recorded(g *Supplied, types []ir.Type, f body) *TracedGraph {
	if TracingHere() != nil {
		array.Failf("save", "", "is called inside a compiled function%s", Here())
	}
	g.Tensors = abstract(types)
	sig := g.signature(mode{})
	var e *Entry
	if array.Try(func() { e = c.record(g, sig, f, apartTight) }) != nil { // something lies behind that tensor
		e = c.record(g, sig, f, apart)
	}
	if e.Err != nil {
		panic(&array.Error{Op: "save", Msg: "the function returned an error", Err: e.Err})
	}
	return &TracedGraph{e: e, of: c, args: types}
}

// Results returns the number of results.
func (r *TracedGraph) Results() int { return len(r.e.roots) }

// line returns the line of the user that a node comes from, as part of a message.
func (r *TracedGraph) line(n *ir.Node) string {
	if n.ID < len(r.e.From) {
		return At(r.e.From[n.ID].pc)
	}
	return ""
}

// Program returns the recording as data. inputs and outputs name the arguments and the results. name
// gives the name of captured memory, "" if it has none. It panics with *array.Error, which lists all
// calls into Go, if the function cannot run without this program.
func (r *TracedGraph) Program(inputs, outputs []string, name func(t *Tensor) string) *saved.Program {
	e := r.e
	p := &saved.Program{Name: r.of.Name, Hold: r.of.Hold, State: []saved.State{}, Sources: []int{}}
	rules := e.options.rules()
	level := rewrite.LevelOf(rules)
	if p.Level = level.String(); !slices.Equal(rules, rewrite.UpTo(level)) {
		p.Rules = []string{}
		for _, rule := range rules {
			p.Rules = append(p.Rules, rule.Name)
		}
	}
	for i, t := range r.args {
		in := saved.Value{Name: inputs[i], DType: t.DType.String(), Shape: []saved.Size{}}
		for _, n := range t.Shape {
			in.Shape = append(in.Shape, saved.Size{Size: n})
		}
		p.Inputs = append(p.Inputs, in)
	}
	var outs []*ir.Node
	for i, x := range e.roots {
		o := saved.Output{Value: saved.Value{Name: outputs[i]}, Result: len(outs), Input: max(x.arg, 0)}
		switch {
		case x.out >= 0:
			outs = append(outs, e.Outs[x.out])
		case x.arg >= 0:
			o.Result = -1
		default:
			array.Failf("save", "", "result %d is nil", i)
		}
		p.Outputs = append(p.Outputs, o)
	}
	for i, src := range e.into {
		if src >= 0 {
			p.Writes = append(p.Writes, saved.Write{Result: len(outs), Source: src})
			outs = append(outs, e.Outs[i])
		}
	}
	r.refuse(outs)
	r.sources(p, name)
	r.numbers(p)
	p.SetGraph(outs, r.line)
	return p
}

// Verify panics with *array.Error unless the graph of p for these lengths is that of the recording.
func (r *TracedGraph) Verify(p *saved.Program, lengths []int) { p.Verify(r.outs(), lengths) }

// outs are the results that the graph computes, and what is written behind them.
func (r *TracedGraph) outs() (outs []*ir.Node) {
	for _, x := range r.e.roots {
		if x.out >= 0 {
			outs = append(outs, r.e.Outs[x.out])
		}
	}
	for i, src := range r.e.into {
		if src >= 0 {
			outs = append(outs, r.e.Outs[i])
		}
	}
	return outs
}

// refuse lists all that a program by itself cannot do.
func (r *TracedGraph) refuse(outs []*ir.Node) {
	list := saved.Unknown(outs, r.line)
	for _, l := range r.e.live {
		if l.draw == nil && l.number == nil {
			if s := "the step of a Scheduler whose schedule or optimizer is not of package optim, or is a Lambda" + At(l.pc); !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	for _, l := range r.e.leaves {
		if l.read && (l.grad != nil || l.final != nil) {
			list = append(list, "a gradient that calls add to: clear it with ZeroGrad before the function is saved, and at its end")
			break
		}
	}
	if len(list) > 0 {
		array.Failf("save", "", "%s calls back into Go, which a file cannot hold: %s", r.of.Name, strings.Join(list, "; "))
	}
}

// sources lists what the graph reads.
func (r *TracedGraph) sources(p *saved.Program, name func(t *Tensor) string) {
	taken := map[string]bool{}
	for i := range r.e.sources {
		s := &r.e.sources[i]
		if s.Kind == FromArgument {
			p.Sources = append(p.Sources, s.Index)
			continue
		}
		t := &Tensor{v: s.At}
		x := saved.State{Name: name(t), DType: s.At.DType.String(), Shape: s.At.Shape, View: s.At}
		if x.Name == "" {
			x.Name = fmt.Sprintf("constant %d", len(p.State))
		}
		for base, i := x.Name, 2; taken[x.Name]; i++ { // several variables may have one name
			x.Name = fmt.Sprintf("%s %d", base, i)
		}
		taken[x.Name] = true
		p.Sources = append(p.Sources, ^len(p.State))
		p.State = append(p.State, x)
	}
}

// numbers lists what calls compute before they run, and draws. The generators and variables have their
// values when the file is written.
func (r *TracedGraph) numbers(p *saved.Program) {
	for _, l := range r.e.live {
		switch {
		case l.set != nil:
			p.Sets = append(p.Sets, saved.Set{At: len(p.Numbers), Variable: r.host.variable(l.set), To: r.host.formula(l.number)})
		case l.number != nil:
			p.Numbers = append(p.Numbers, saved.Number{Kind: "formula", Formula: r.host.formula(l.number)})
		case l.draw != nil:
			at := slices.Index(r.generators, l.draw.From)
			if at < 0 {
				at = len(r.generators)
				r.generators = append(r.generators, l.draw.From)
			}
			d := saved.Number{Kind: "seed", Generator: at, Count: l.draw.Count, Short: l.draw.Short}
			p.Numbers = append(p.Numbers, d, saved.Number{Kind: "draw"})
		}
	}
	p.Generators, p.Variables = make([]saved.Generator, len(r.generators)), make([]saved.Variable, len(r.host.variables))
}
