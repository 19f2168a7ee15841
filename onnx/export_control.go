package onnx

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/saved"
)

// Loops and branches as Loop and If, whose subgraphs read the constants of a loop and the arguments of a branch by
// their names in the graph around.

// inside begins the graph of a function with these arguments. What is made of the graph around is there too; what the
// function makes is not known outside of it.
func (e *exporter) inside(body *saved.Outline, args []exportValue) *exporter {
	in := *e
	in.outline, in.args, in.values = body, args, nil
	in.graph = &graphProto{name: e.unique(fmt.Sprint("body_", len(e.graph.nodes)))}
	in.cache = map[string]string{}
	for k, name := range e.cache {
		in.cache[k] = name
	}
	return &in
}

// done ends the graph that inside began. Constants and weights that it reads are the model's.
func (e *exporter) done(in *exporter) *graphProto {
	e.missing, e.used = in.missing, in.used
	for k, name := range in.cache {
		for _, t := range e.root.initializers {
			if t.name == name {
				e.cache[k] = name
			}
		}
	}
	return in.graph
}

// results writes the steps of a function and returns its results.
func (e *exporter) results() []exportValue {
	for i := range e.outline.Steps {
		e.step(i)
	}
	out := make([]exportValue, len(e.outline.Outs))
	for i, at := range e.outline.Outs {
		out[i] = e.values[at]
	}
	return out
}

// typeOf is a type as a message. Sizes are known where a program has no free lengths.
func (e *exporter) typeOf(t ir.Type) *typeProto {
	p := &typeProto{tensor: elementOf(t.DType), ranked: true}
	for _, n := range t.Shape {
		p.shape = append(p.shape, dimProto{size: int64(n), known: len(e.p.Lengths) == 0})
	}
	return p
}

// take declares an input of a subgraph.
func (e *exporter) take(base string, t ir.Type) exportValue {
	name := e.unique(base)
	e.graph.inputs = append(e.graph.inputs, &valueProto{name, e.typeOf(t)})
	return exportValue{name: name, node: &ir.Node{Op: ir.Input, DType: t.DType, Shape: t.Shape}}
}

// give declares an output of a subgraph, which must be made in it.
func (e *exporter) give(name string, t ir.Type) {
	out := e.put("Identity", []string{name})
	e.graph.outputs = append(e.graph.outputs, &valueProto{out, e.typeOf(t)})
}

// known are arguments with names; constants are written.
func (x *exportNode) known(args []exportValue) []exportValue {
	out := make([]exportValue, len(args))
	for i, a := range args {
		out[i] = exportValue{name: x.as(a, a.node.DType), node: &ir.Node{Op: ir.Input, DType: a.node.DType, Shape: a.node.Shape}}
	}
	return out
}

// exportBranch writes a branch. The subgraphs have no inputs.
func exportBranch(x *exportNode) string {
	args := x.known(x.args[1:])
	var graphs [2]*graphProto
	for i, body := range x.bodies {
		in := x.inside(body, args)
		for k, v := range in.results() {
			in.give(in.as(v, x.node.Results[k].DType), x.node.Results[k])
		}
		graphs[i] = x.done(in)
	}
	x.outs = x.putAll("If", len(x.node.Results), []string{x.as(x.args[0], array.Bool)}, withGraph("then_branch", graphs[0]), withGraph("else_branch", graphs[1]))
	return x.outs[0]
}

// A loopExport is a loop that is written.
type loopExport struct {
	*exportNode
	a      op.Looping
	steps  string // the most steps, an int64 without dimensions
	args   []exportValue
	body   *exporter
	before []exportValue // carries in the body
	begin  []string      // the carries that the loop is given
}

// exportLoop writes a loop. Carries are carried, elements of sequences gathered in the body, and what is kept by step
// are outputs that Loop collects, if something reads them.
func exportLoop(x *exportNode) string {
	a, ok := x.attrs.(op.Looping)
	if !ok || a.Reverse && a.Until {
		return ""
	}
	a.Body = x.node.Attrs.(op.Looping).Body
	args, steps := x.args, ""
	if a.Counted {
		last := len(args) - 1
		steps, args = x.as(args[last], array.Int64), args[:last]
	} else {
		steps = x.put("Squeeze", []string{x.ints(a.Steps)})
	}
	l := &loopExport{exportNode: x, a: a, steps: steps, args: x.known(args)}
	l.write()
	return x.outs[0]
}

// write writes the loop and sets what its results are named.
func (l *loopExport) write() {
	m, a, types := l.a.Carries, l.a, l.node.Results
	l.body = l.inside(l.bodies[0], nil)
	iter := l.body.take("step", ir.Type{DType: array.Int64, Shape: []int{}})
	goes := l.body.take("goes", ir.Type{DType: array.Bool, Shape: []int{}})
	inner := make([]exportValue, len(l.args))
	at := iter.name
	if a.Reverse {
		last := l.body.put("Sub", []string{l.steps, l.body.number(array.Int64, 1)})
		at = l.body.put("Sub", []string{last, at})
	}
	for i, v := range l.args {
		switch t := a.Body.Args[i]; {
		case i < a.Seqs:
			element := l.body.put("Gather", []string{v.name, at}, withInt("axis", 0))
			inner[i] = exportValue{name: element, node: &ir.Node{Op: ir.Input, DType: t.DType, Shape: t.Shape}}
		case i < a.Seqs+m:
			inner[i] = l.body.take("carry", t)
			l.begin = append(l.begin, v.name)
		default:
			inner[i] = v
		}
	}
	l.body.args, l.before = inner, inner[a.Seqs:a.Seqs+m]
	outs := l.body.results()
	next := make([]string, len(outs))
	for i, v := range outs {
		next[i] = l.body.as(v, a.Body.Results[i].DType)
	}
	if a.Until {
		l.body.give(l.body.put("Not", []string{next[len(next)-1]}), ir.Type{DType: array.Bool, Shape: []int{}})
	} else {
		l.body.give(goes.name, ir.Type{DType: array.Bool, Shape: []int{}})
	}
	for j := range m {
		l.body.give(next[j], a.Body.Args[a.Seqs+j])
	}
	counts := a.Until && l.wanted[len(types)-1] || a.Until && l.collects()
	if counts { // one more carry, the number of steps
		l.body.take("count", ir.Type{DType: array.Int64, Shape: []int{}})
		l.begin = append(l.begin, l.number(array.Int64, 0))
		l.body.give(l.body.put("Add", []string{iter.name, l.body.number(array.Int64, 1)}), ir.Type{DType: array.Int64, Shape: []int{}})
	}
	scans := map[int]int{} // the output of the loop that has a result
	for k := m; k < 2*m+a.Kept(); k++ {
		if !l.wanted[k] {
			continue
		}
		scans[k] = len(l.body.graph.outputs) - 1
		if k < 2*m {
			l.body.give(l.before[k-m].name, a.Body.Args[a.Seqs+k-m])
		} else {
			l.body.give(next[k-m], a.Body.Results[k-m])
		}
	}
	n := len(l.body.graph.outputs) - 1
	graph := l.done(l.body)
	inputs := append([]string{l.steps, l.number(array.Bool, 1)}, l.begin...)
	out := l.putAll("Loop", n, inputs, withGraph("body", graph))
	l.outs = make([]string, len(types))
	copy(l.outs, out[:m])
	for k, at := range scans {
		l.outs[k] = l.collected(out[at], k, out)
	}
	if counts {
		l.outs[len(types)-1] = out[m]
	}
}

// collects reports whether something by step is read.
func (l *loopExport) collects() bool {
	for k := l.a.Carries; k < 2*l.a.Carries+l.a.Kept(); k++ {
		if l.wanted[k] {
			return true
		}
	}
	return false
}

// collected makes result k of what a loop collected: in the order of steps, with the carries behind them, and zeros for
// steps that were not taken.
func (l *loopExport) collected(v string, k int, out []string) string {
	m := l.a.Carries
	if k < 2*m { // the carry before each step, and after the last one
		v = l.put("Concat", []string{v, l.put("Unsqueeze", []string{out[k-m], l.numbers(0)})}, withInt("axis", 0))
	}
	if l.a.Reverse {
		v = l.put("Slice", []string{v, l.numbers(-1), l.numbers(-1 << 31), l.numbers(0), l.numbers(-1)})
	}
	if !l.a.Until && !l.a.Counted {
		return v
	}
	rows := l.ints(l.a.Steps)
	if k < 2*m {
		rows = l.put("Add", []string{rows, l.numbers(1)})
	}
	d := l.node.Results[k].DType
	padded := v
	if d == array.Bool {
		padded = l.cast(v, array.Uint8)
		d = array.Uint8
	}
	behind := l.put("Sub", []string{rows, l.sizeOf(v, 0)})
	padded = l.put("Pad", []string{padded, l.put("Concat", []string{l.numbers(0), behind}, withInt("axis", 0)), l.number(d, 0), l.numbers(0)})
	if d != l.node.Results[k].DType {
		padded = l.cast(padded, l.node.Results[k].DType)
	}
	return padded
}
