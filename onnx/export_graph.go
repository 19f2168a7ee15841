package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"weft/half"
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/saved"
)

// An exporter makes a graph of ONNX of a program, step by step.
type exporter struct {
	p       *saved.Program
	outline *saved.Outline
	graph   *graphProto
	values  []exportValue     // of steps
	taken   map[string]bool   // names of values
	cache   map[string]string // the names of constants and sizes, by what they are
	weights map[int]string    // the names of state that is read
	used    []weight
	missing []string      // operations without an entry
	root    *graphProto   // the model's, which has the initializers
	args    []exportValue // of the function that is written, nil in the model's graph
}

// An exportValue is a value of the program: a tensor with a name, or a number.
type exportValue struct {
	name  string
	node  *ir.Node    // its type, and the number that a constant is
	value *saved.Expr // of a constant that depends on lengths
	outs  []string    // the names of the results of an operation with several, "" for those that nothing reads
}

// An exportNode is an operation to be written.
type exportNode struct {
	*exporter
	node   *ir.Node
	attrs  ir.Attrs
	args   []exportValue
	bodies []*saved.Outline
	wanted []bool   // which results of an operation with several are read
	outs   []string // what write returns beside a name, for an operation with several results
}

// step writes step number i.
func (e *exporter) step(i int) {
	s := &e.outline.Steps[i]
	v := exportValue{node: s.Node, value: s.Value}
	switch {
	case s.Node.Op == ir.Const:
	case s.Node.Op == ir.Input && e.args != nil:
		v.name = e.args[s.Node.Arg()].name
	case s.Node.Op == ir.Input:
		v.name = e.source(e.p.Sources[s.Node.Arg()])
	default:
		x := exportNode{exporter: e, node: s.Node, attrs: s.Attrs, args: make([]exportValue, len(s.Args)), bodies: s.Bodies}
		for k, a := range s.Args {
			x.args[k] = e.values[a]
		}
		if s.Node.Results != nil {
			x.wanted = e.read(i)
		}
		v.name = x.write()
		v.outs = x.outs
	}
	e.values = append(e.values, v)
}

// read returns which results of step i, an operation with several, are read.
func (e *exporter) read(i int) []bool {
	used := make([]bool, len(e.outline.Steps[i].Node.Results))
	for k := range e.outline.Steps {
		if s := &e.outline.Steps[k]; s.Node.Op == ir.Result && s.Args[0] == i {
			used[s.Attrs.(ir.Arg)] = true
		}
	}
	return used
}

// write writes the operation by its entry and returns the name of its result.
func (x *exportNode) write() string {
	f := exports[x.node.Op.OpName()]
	if slices.ContainsFunc(x.args, func(a exportValue) bool { return a.name == "" && a.node.Op != ir.Const }) {
		return "" // of an operation that is missing
	}
	name := ""
	if f != nil {
		name = f(x)
	}
	if name == "" {
		what := x.node.Op.OpName()
		if s, ok := x.attrs.(fmt.Stringer); ok && x.node.Op == op.Host {
			what = s.String()
		} else if x.node.Results == nil {
			what += " of " + x.node.DType.String()
		}
		if x.node.Op != ir.Result {
			x.missing = append(x.missing, what)
		}
	}
	return name
}

// source returns the name of what the graph reads: input i, or state ^i.
func (e *exporter) source(i int) string {
	if i >= 0 {
		return e.p.Inputs[i].Name
	}
	s := &e.p.State[^i]
	if e.weights[^i] == "" {
		e.weights[^i] = s.Name
		t := &tensorProto{name: s.Name, elem: elementOf(s.View.DType)}
		for _, n := range s.View.Shape {
			t.dims = append(t.dims, int64(n))
		}
		e.used = append(e.used, weight{tensor: t, view: &s.View})
	}
	return s.Name
}

// outputs gives results the names of outputs.
func (e *exporter) outputs() {
	rename := map[string]string{}
	made := map[string]bool{}
	for _, n := range e.graph.nodes {
		for _, o := range n.outputs {
			made[o] = true
		}
	}
	for i := range e.p.Outputs {
		o := &e.p.Outputs[i]
		from := ""
		if o.Result < 0 {
			from = e.p.Inputs[o.Input].Name
		} else {
			v := e.values[e.outline.Outs[o.Result]]
			from = e.as(v, v.node.DType)
		}
		if made[from] && rename[from] == "" {
			rename[from] = o.Name
			continue
		}
		if to := rename[from]; to != "" {
			from = to
		}
		e.graph.nodes = append(e.graph.nodes, &nodeProto{name: o.Name, op: "Identity", inputs: []string{from}, outputs: []string{o.Name}})
	}
	for _, n := range e.graph.nodes {
		for _, list := range [][]string{n.inputs, n.outputs} {
			for i, name := range list {
				if to := rename[name]; to != "" {
					list[i] = to
				}
			}
		}
	}
}

// unique returns a name that no value has yet.
func (e *exporter) unique(base string) string {
	name := base
	for i := 1; e.taken[name]; i++ {
		name = fmt.Sprint(base, "_", i)
	}
	e.taken[name] = true
	return name
}

// put adds an operator of one result and returns that.
func (e *exporter) put(operator string, inputs []string, attributes ...*attributeProto) string {
	return e.putAll(operator, 1, inputs, attributes...)[0]
}

// putAll adds an operator of n results and returns them.
func (e *exporter) putAll(operator string, n int, inputs []string, attributes ...*attributeProto) []string {
	base := fmt.Sprint(operator, "_", len(e.graph.nodes))
	out := make([]string, n)
	for i := range out {
		if out[i] = e.unique(base); i == 0 {
			base = out[0]
		}
	}
	e.graph.nodes = append(e.graph.nodes, &nodeProto{name: base, op: operator, inputs: inputs, outputs: out, attributes: attributes})
	return slices.Clone(out) // names of outputs change in the node
}

func withInt(name string, i int) *attributeProto {
	return &attributeProto{name: name, kind: attrInt, i: int64(i)}
}

func withGraph(name string, g *graphProto) *attributeProto {
	return &attributeProto{name: name, kind: attrGraph, g: g}
}

func withString(name, s string) *attributeProto {
	return &attributeProto{name: name, kind: attrString, s: []byte(s)}
}

func withInts(name string, list ...int) *attributeProto {
	a := &attributeProto{name: name, kind: attrInts}
	for _, i := range list {
		a.ints = append(a.ints, int64(i))
	}
	return a
}

// as returns the name of a value in an element type: a constant is written in it, others are cast.
func (e *exporter) as(v exportValue, d array.DType) string {
	if v.node.Op == ir.Const {
		if v.value != nil {
			return e.cast(e.put("Squeeze", []string{e.size(v.value)}), d)
		}
		n := v.node.Value()
		if v.node.DType.Float() {
			return e.number(d, n.Float)
		}
		if d.Float() {
			return e.number(d, float64(n.Int))
		}
		return e.constant(d, nil, intBytes(d, n.Int))
	}
	if v.node.DType == d {
		return v.name
	}
	return e.cast(v.name, d)
}

func (e *exporter) cast(name string, d array.DType) string {
	return e.put("Cast", []string{name}, withInt("to", int(elementOf(d))))
}

// number returns a constant without dimensions.
func (e *exporter) number(d array.DType, x float64) string {
	var b []byte
	switch d {
	case array.Float64:
		b = binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))
	case array.Float32:
		b = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x)))
	case array.Float16:
		b = binary.LittleEndian.AppendUint16(nil, uint16(half.NewFloat16(x)))
	case array.BFloat16:
		b = binary.LittleEndian.AppendUint16(nil, uint16(half.NewBFloat16(x)))
	default:
		b = intBytes(d, int64(x))
	}
	return e.constant(d, nil, b)
}

// intBytes are the bytes of an integer or a truth value.
func intBytes(d array.DType, x int64) []byte {
	if d == array.Bool && x != 0 {
		x = 1
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(x))[:d.Size()]
}

// constant returns the name of an initializer.
func (e *exporter) constant(d array.DType, dims []int64, elements []byte) string {
	key := fmt.Sprint("constant ", d, dims, elements)
	if e.cache[key] == "" {
		name := e.unique("constant")
		e.root.initializers = append(e.root.initializers, &tensorProto{name: name, dims: dims, elem: elementOf(d), raw: elements})
		e.cache[key] = name
	}
	return e.cache[key]
}

// numbers returns a constant vector of int64.
func (e *exporter) numbers(list ...int) string {
	var b []byte
	for _, i := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(i))
	}
	return e.constant(array.Int64, []int64{int64(len(list))}, b)
}

// free reports whether one of the integers depends on lengths.
func (e *exporter) free(list ...int) bool {
	return slices.ContainsFunc(list, func(n int) bool { return e.outline.Expr(n) != nil })
}

// ints returns a vector of int64 that holds integers of attributes.
func (e *exporter) ints(list ...int) string {
	if !e.free(list...) {
		return e.numbers(list...)
	}
	var parts []string
	for i := 0; i < len(list); {
		if x := e.outline.Expr(list[i]); x != nil {
			parts = append(parts, e.size(x))
			i++
			continue
		}
		k := i
		for ; k < len(list) && e.outline.Expr(list[k]) == nil; k++ {
		}
		parts = append(parts, e.numbers(list[i:k]...))
		i = k
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return e.put("Concat", parts, withInt("axis", 0))
}

// size returns a vector of one int64, an expression of lengths.
func (e *exporter) size(x *saved.Expr) string {
	key := "size " + expressionKey(x)
	if e.cache[key] != "" {
		return e.cache[key]
	}
	v := ""
	with := func(operator string, y string) { v = e.put(operator, []string{v, y}) }
	for _, a := range x.Factors {
		if f := e.atom(a); v == "" {
			v = f
		} else {
			with("Mul", f)
		}
	}
	switch {
	case v == "":
		v = e.numbers(int(x.Scale))
	case x.Scale != 1:
		with("Mul", e.numbers(int(x.Scale)))
	}
	if x.And != nil {
		with("Add", e.size(x.And))
	}
	if x.Offset != 0 {
		with("Add", e.numbers(int(x.Offset)))
	}
	if x.Over > 1 { // rounded down: the remainder has the sign of the divisor
		over := e.numbers(int(x.Over))
		with("Sub", e.put("Mod", []string{v, over}))
		with("Div", over)
	}
	if x.Mod > 1 {
		with("Mod", e.numbers(int(x.Mod)))
	}
	if x.Least != nil {
		with("Max", e.size(x.Least))
	}
	if x.Most != nil {
		with("Min", e.size(x.Most))
	}
	e.cache[key] = v
	return v
}

// expressionKey is an expression as text.
func expressionKey(x *saved.Expr) string {
	key := fmt.Sprint(x.Scale, x.Factors, x.Offset, x.Over, x.Mod)
	for _, y := range []*saved.Expr{x.And, x.Least, x.Most} {
		if key += ";"; y != nil {
			key += "(" + expressionKey(y) + ")"
		}
	}
	return key
}

// atom returns a vector of one int64, the size of an axis.
func (e *exporter) atom(a saved.Atom) string {
	if a.Node >= 0 {
		return e.sizeOf(e.values[a.Node].name, a.Axis)
	}
	for i := range e.p.Inputs {
		for axis, s := range e.p.Inputs[i].Shape {
			if s.Free && s.Size == a.Axis {
				return e.sizeOf(e.p.Inputs[i].Name, axis)
			}
		}
	}
	return ""
}

// sizeOf returns a vector of one int64, the size of an axis of a tensor.
func (e *exporter) sizeOf(name string, axis int) string {
	key := fmt.Sprint("axis ", axis, " of ", name)
	if e.cache[key] == "" {
		e.cache[key] = e.put("Shape", []string{name}, withInt("start", axis), withInt("end", axis+1))
	}
	return e.cache[key]
}

// formula writes the operations that make up the value of a node, on its arguments. What it is made of
// must not depend on lengths otherwise than by shapes of values.
func (x *exportNode) formula(f func(args []*ir.Node) *ir.Node) string {
	g := ir.New()
	args := make([]*ir.Node, len(x.args))
	for i, a := range x.args {
		args[i] = g.Input(i, a.node.DType, a.node.Shape)
	}
	out := f(args)
	values := make([]exportValue, len(g.Nodes))
	for id, need := range ir.Reach([]*ir.Node{out}) {
		if !need {
			continue
		}
		n := g.Nodes[id]
		v := exportValue{node: n}
		switch n.Op {
		case ir.Const:
		case ir.Input:
			a := x.args[n.Arg()]
			v.name = x.as(a, a.node.DType)
		default:
			y := exportNode{exporter: x.exporter, node: n, attrs: n.Attrs, args: make([]exportValue, len(n.Args))}
			for k, a := range n.Args {
				y.args[k] = values[a.ID]
			}
			v.name = y.write()
		}
		values[id] = v
	}
	return values[out.ID].name
}

// meet returns the type in which the arguments meet.
func (x *exportNode) meet() array.DType {
	nodes := make([]*ir.Node, len(x.args))
	for i, a := range x.args {
		nodes[i] = a.node
	}
	return op.Promote(nodes...)
}

// all returns the names of the arguments in a type.
func (x *exportNode) all(d array.DType) []string {
	names := make([]string, len(x.args))
	for i, a := range x.args {
		names[i] = x.as(a, d)
	}
	return names
}

// arg returns the name of argument i in its own type.
func (x *exportNode) arg(i int) string { return x.as(x.args[i], x.args[i].node.DType) }
