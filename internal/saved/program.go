// Package saved holds compiled functions apart from the Go code that made them: graphs with their
// types, constants and state, and the files that keep them.
//
// A file is trusted in nothing. Types and shapes of values are inferred by package op, which refuses
// arguments and parameters that do not fit. Windows are checked to lie in their memory. A graph that
// comes from a file can compute anything, and read or write nothing but its inputs and its state.
package saved

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/raw"
	"weft/internal/rewrite"
)

// OpSet is the version of the set of operations. It is raised for a release in which an operation or a
// parameter is new or means something else. A file of a later set is refused; one of an earlier set means
// what it meant.
const OpSet = 1

// A Program is a compiled function as data.
type Program struct {
	Ops     int      `json:"ops"` // the [OpSet] of the writer
	Name    string   `json:"name"`
	Level   string   `json:"level"`             // of the rewrites that its results allow
	Rules   []string `json:"rules,omitempty"`   // names of the rewrites, unless they are all of the level
	Lengths []string `json:"lengths,omitempty"` // names of free lengths
	Example []int    `json:"example,omitempty"` // lengths that the graph is checked with
	Inputs  []Value  `json:"inputs"`
	Outputs []Output `json:"outputs"`
	State   []State  `json:"state"`
	// Sources are what the inputs of the graph are, by number: i is input i, ^i is state i.
	Sources []int `json:"sources"`
	// Writes are what results of the graph are written into, as in Sources, by number of the result.
	// A result behind those is one of Outputs.
	Writes     []Write     `json:"writes,omitempty"`
	Numbers    []Number    `json:"numbers,omitempty"`
	Variables  []Variable  `json:"variables,omitempty"`
	Sets       []Set       `json:"sets,omitempty"` // in the order of calls
	Generators []Generator `json:"generators,omitempty"`
	Hold       bool        `json:"hold,omitempty"`  // calls leave generators where they are
	Sizes      []Sized     `json:"sizes,omitempty"` // the last of the lengths
	Graph      *graph      `json:"graph"`
}

// A Value is the name and the type of an input or an output.
type Value struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []Size `json:"shape"`
	// Default is one more than the number of the state that stands for an argument which is not given;
	// 0: it must be given.
	Default int `json:"default,omitempty"`
}

// A Size is a number, or a free length by its number.
type Size struct {
	Size int  `json:"size"`
	Free bool `json:"free,omitempty"` // Size is the number of a length
}

// An Output is a result of the graph, or an input that is returned as it is. A size that is free with
// the number -1 depends on lengths otherwise than by being one.
type Output struct {
	Value
	Result int `json:"result"` // of the graph; -1: Input
	Input  int `json:"input,omitempty"`
}

// A Write says that a result of the graph is written into a source when a call is over.
type Write struct {
	Result int `json:"result"`
	Source int `json:"source"`
}

// A State is memory of the program: a constant, a weight, or what calls update.
type State struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	// File and Key name a tensor of a safetensors file beside this one; File is empty if the elements
	// are inside.
	File  string `json:"file,omitempty"`
	Key   string `json:"key,omitempty"`
	Start int64  `json:"start,omitempty"` // in the file, behind the header

	View array.View `json:"-"`
}

// A Number is a number that calls give the graph: a formula, the seed or the number of a draw, or a
// constant, which version 1 had in the place of formulas.
type Number struct {
	Kind      string   `json:"kind"` // "constant", "formula", "seed", "draw"
	Value     string   `json:"value,omitempty"`
	Formula   *Formula `json:"formula,omitempty"`
	Generator int      `json:"generator,omitempty"`
	Count     int      `json:"count,omitempty"` // of draws
	Short     bool     `json:"short,omitempty"` // the number of a draw has 32 bits
}

// A Generator is the state of a generator of random numbers.
type Generator struct {
	Seed uint64 `json:"seed"`
	Draw uint64 `json:"draw"`
}

// SetGraph describes the graph of outs, whose Input i is source i. line gives the line of the user that
// a node comes from, as part of a message.
func (p *Program) SetGraph(outs []*ir.Node, line func(n *ir.Node) string) {
	p.Ops = OpSet
	p.Graph = describe(outs, line)
	p.setOutputs([][]*ir.Node{outs}, [][]int{nil})
}

// Bind returns the free lengths, without sizes, of arguments of these types. It panics with *array.Error if the program
// does not take them.
func (p *Program) Bind(types []ir.Type) []int {
	if len(types) != len(p.Inputs) {
		array.Failf(p.Name, "", "takes %s, got %d", array.Count(len(p.Inputs), "argument"), len(types))
	}
	lengths := make([]int, p.free())
	from := make([]string, p.free())
	for i, t := range types {
		in := &p.Inputs[i]
		if t.DType.String() != in.DType || len(t.Shape) != len(in.Shape) {
			array.Failf(p.Name, in.Name, "is %s, want %s", array.TypeString(t.DType, t.Shape), p.Type(in))
		}
		for axis, s := range in.Shape {
			n := t.Shape[axis]
			switch {
			case !s.Free && s.Size != n:
				array.Failf(p.Name, in.Name, "is %s, want %s", array.TypeString(t.DType, t.Shape), p.Type(in))
			case !s.Free:
			case from[s.Size] == "":
				lengths[s.Size], from[s.Size] = n, fmt.Sprintf("%s has %d", in.Name, n)
			case lengths[s.Size] != n:
				array.Failf(p.Name, in.Name, "is %s, want %s: %s is %d here, and %s", array.TypeString(t.DType, t.Shape), p.Type(in), p.Lengths[s.Size], n, from[s.Size])
			}
		}
	}
	return lengths
}

// AddDefault adds the value of an argument that is not given.
func (p *Program) AddDefault(input int, v array.View) {
	in := &p.Inputs[input]
	p.State = append(slices.Clip(p.State), State{Name: "default of " + in.Name, DType: v.DType.String(), Shape: v.Shape, View: v})
	in.Default = len(p.State)
}

// Type is the type of a value as text, such as float32[n 784].
func (p *Program) Type(v *Value) string {
	s := v.DType + "["
	for i, n := range v.Shape {
		if i > 0 {
			s += " "
		}
		if n.Free {
			s += p.Lengths[n.Size]
		} else {
			s += fmt.Sprint(n.Size)
		}
	}
	return s + "]"
}

// Build adds the graph for lengths to another one. source gives the node of a source by its number, and
// number that of a number of the calls. It panics with *array.Error where the graph, with these lengths,
// is not one that operations give.
func (p *Program) Build(to *ir.Graph, lengths []int, source func(i int) *ir.Node, number func(o ir.Op, a ir.Attrs, d array.DType, weak bool) *ir.Node) []*ir.Node {
	outs, _ := p.build(to, lengths, source, number)
	return outs
}

func (p *Program) build(to *ir.Graph, lengths []int, source func(i int) *ir.Node, number func(o ir.Op, a ir.Attrs, d array.DType, weak bool) *ir.Node) (outs, nodes []*ir.Node) {
	e := &env{lengths: lengths}
	err := guard(func() {
		outs = p.Graph.build(to, e, func(o ir.Op, a ir.Attrs, d array.DType, weak bool) *ir.Node {
			if o != ir.Input {
				return number(o, a, d, weak)
			}
			i, ok := a.(ir.Arg)
			if !ok || i < 0 || int(i) >= len(p.Sources) {
				malformed("the graph reads source %v, which is not there", a)
			}
			return source(int(i))
		})
	})
	if err != nil {
		panic(err)
	}
	return outs, e.nodes
}

// Rewrites returns the rules that rewrite the graph before it is planned. A rule that is gone has been
// found to be no gain.
func (p *Program) Rewrites() []*rewrite.Rule {
	level := rewrite.Exact
	for _, l := range []rewrite.Level{rewrite.Stable, rewrite.Fast} {
		if l.String() == p.Level {
			level = l
		}
	}
	if p.Rules == nil {
		return rewrite.UpTo(level)
	}
	rules := []*rewrite.Rule{}
	for _, r := range rewrite.Rules() {
		if slices.Contains(p.Rules, r.Name) {
			rules = append(rules, r)
		}
	}
	return rules
}

// TypeOf returns the type of a source for lengths: i is input i, ^i is state i.
func (p *Program) TypeOf(source int, lengths []int) ir.Type {
	if source < 0 {
		s := &p.State[^source]
		return ir.Type{DType: dtypeOf(s.DType), Shape: s.Shape}
	}
	in := &p.Inputs[source]
	t := ir.Type{DType: dtypeOf(in.DType), Shape: make([]int, len(in.Shape))}
	for i, s := range in.Shape {
		if t.Shape[i] = s.Size; s.Free {
			t.Shape[i] = lengths[s.Size]
		}
	}
	return t
}

// plain builds the graph by itself, with an input for each source and each number as it is.
func (p *Program) plain(lengths []int) (outs, nodes []*ir.Node) {
	g := ir.New()
	return p.build(g, lengths, func(i int) *ir.Node {
		t := p.TypeOf(p.Sources[i], lengths)
		return g.Input(i, t.DType, t.Shape)
	}, func(o ir.Op, a ir.Attrs, d array.DType, weak bool) *ir.Node {
		p.NumberAt(a)
		return g.Node(o, a, d, nil, weak)
	})
}

// NumberAt returns which number of the calls a leaf with these attributes is. It panics with
// *array.Error if it is none.
func (p *Program) NumberAt(a ir.Attrs) int {
	i := -1
	switch a := a.(type) {
	case ir.Arg:
		i = int(a)
	case ir.Bounds:
		i = a.Arg
	}
	if i < 0 || i >= len(p.Numbers) {
		malformed("the graph reads number %v, which is not there", a)
	}
	return i
}

// outputType is the type of an output for lengths, of results of the graph.
func (p *Program) outputType(o *Output, outs []*ir.Node, lengths []int) ir.Type {
	if o.Result < 0 {
		return p.TypeOf(o.Input, lengths)
	}
	return ir.Type{DType: outs[o.Result].DType, Shape: outs[o.Result].Shape}
}

// setOutputs sets the types of outputs from trials: results of the graph for sets of lengths.
func (p *Program) setOutputs(outs [][]*ir.Node, lengths [][]int) {
	p.Outputs = slices.Clone(p.Outputs)
	for i := range p.Outputs {
		o := &p.Outputs[i]
		first := p.outputType(o, outs[0], lengths[0])
		o.DType, o.Shape = first.DType.String(), []Size{}
		for axis, n := range first.Shape {
			s := Size{Size: n}
			free := func(length int) bool { // whether the size is that length, or with -1 the first one, in all trials
				for t := range outs {
					want := n
					if length >= 0 {
						want = lengths[t][length]
					}
					if x := p.outputType(o, outs[t], lengths[t]).Shape; axis >= len(x) || x[axis] != want {
						return false
					}
				}
				return true
			}
			if !free(-1) {
				s = Size{Size: -1, Free: true}
				for k := range lengths[0] {
					if free(k) {
						s.Size = k
						break
					}
				}
			}
			o.Shape = append(o.Shape, s)
		}
	}
}

// SameEffects panics with *array.Error unless a trace of the same function, for other lengths, gives
// inputs as results, writes and draws where p does.
func (p *Program) SameEffects(q *Program) {
	given := func(a, b Output) bool { return a.Input == b.Input && (a.Result < 0) == (b.Result < 0) }
	if !slices.EqualFunc(p.Outputs, q.Outputs, given) || !slices.Equal(p.Writes, q.Writes) || !p.sameNumbers(q) {
		differ("it returns, writes or draws otherwise", "")
	}
}

// VerifySame panics with *array.Error unless the program computes what q does, a trace of the same function
// for these lengths, for which the graphs may differ in form: exact rewriting makes one graph of both.
func (p *Program) VerifySame(q *Program, lengths []int) {
	outs, _ := q.plain(nil)
	got, _ := p.plain(lengths)
	for i, x := range outs {
		if got[i].DType != x.DType || !array.Equal(got[i].Shape, x.Shape) {
			differ(fmt.Sprintf("result %d is %s, and would be %s from a file", i, array.TypeString(x.DType, x.Shape), array.TypeString(got[i].DType, got[i].Shape)), "")
		}
	}
	g := ir.New()
	leaf := func(n *ir.Node) *ir.Node { return g.Node(n.Op, n.Attrs, n.DType, n.Shape, n.Weak) }
	both := append(op.Import(g, outs, leaf), op.Import(g, got, leaf)...)
	same := rewrite.Run(both, rewrite.Exact).Outs
	for i := range outs {
		if same[i] != same[len(outs)+i] && outs[i].Size() > 0 {
			differ(fmt.Sprintf("result %d is %s for the lengths %v, and would be %s from a file", i, same[i], lengths, same[len(outs)+i]), "")
		}
	}
}

// Verify panics with *array.Error unless the program's graph for lengths is that of outs: what was saved
// must compute what was traced.
func (p *Program) Verify(outs []*ir.Node, lengths []int) {
	got, _ := p.plain(lengths)
	g, to := got, outs
	if len(g) != len(to) {
		array.Failf("save", "", "%d results were saved as %d", len(to), len(g))
	}
	twin := map[*ir.Node]*ir.Node{}
	same := func(x, y *ir.Node) bool {
		if x.Op != y.Op || x.DType != y.DType || x.Weak != y.Weak || !array.Equal(x.Shape, y.Shape) || len(x.Args) != len(y.Args) || len(x.Results) != len(y.Results) {
			return false
		}
		for i, a := range x.Args {
			if twin[a] != y.Args[i] {
				return false
			}
		}
		var k, l []byte
		if x.Attrs != nil {
			k = x.Attrs.AppendKey(nil)
		}
		if y.Attrs != nil {
			l = y.Attrs.AppendKey(nil)
		}
		return string(k) == string(l) || sameInFile(x.Attrs, y.Attrs)
	}
	var walk func(x, y *ir.Node)
	walk = func(x, y *ir.Node) {
		if twin[x] != nil {
			return
		}
		if x.Op == y.Op && len(x.Args) == len(y.Args) {
			for i := range x.Args {
				walk(x.Args[i], y.Args[i])
			}
		}
		if twin[x] = y; !same(x, y) {
			array.Failf("save", "", "an operation cannot be saved: %s comes back as %s", x, y)
		}
	}
	for i := range to {
		walk(to[i], g[i])
	}
}

// sameInFile reports parameters that a file holds as the same: a kernel that reads arrays comes back with
// other code.
func sameInFile(a, b ir.Attrs) bool {
	x, err := json.Marshal(attrTokens(a))
	y, also := json.Marshal(attrTokens(b))
	return err == nil && also == nil && bytes.Equal(x, y)
}

// Takes returns an error where the operations are not possible with these lengths: a call with them is
// refused.
func (p *Program) Takes(lengths []int) error {
	return array.Try(func() { p.plain(lengths) })
}

// Unify returns one program for all lengths of programs of the same function, each traced for a set of
// lengths. The lengths have names, and of says for each axis of each input which one it is, -1 for none.
// same reports whether two arrays hold the same elements. It panics with *array.Error where the programs do different things.
func Unify(all []*Program, names []string, of, lengths [][]int, same func(a, b *array.View) bool) *Program {
	p := *all[0]
	graphs, built, outs := make([]*graph, len(all)), make([][]*ir.Node, len(all)), make([][]*ir.Node, len(all))
	for t, q := range all {
		graphs[t] = q.Graph
		outs[t], built[t] = q.plain(nil)
		if len(q.Outputs) != len(p.Outputs) || !slices.Equal(q.Sources, p.Sources) || !slices.Equal(q.Writes, p.Writes) || !q.sameNumbers(&p) {
			differ("it reads, writes or draws otherwise", "")
		}
		for i := range q.State {
			if s, first := &q.State[i], &p.State[i]; !same(&s.View, &first.View) {
				array.Failf("save", "", "the function has an array of Go values whose elements depend on a free length: %s and %s", array.TypeString(s.View.DType, s.Shape), array.TypeString(first.View.DType, first.Shape))
			}
		}
	}
	p.Graph = unify(graphs, lengths, built)
	p.Lengths, p.Example, p.Inputs = names, lengths[0], slices.Clone(p.Inputs)
	for i := range p.Inputs {
		in := &p.Inputs[i]
		in.Shape = slices.Clone(in.Shape)
		for axis, k := range of[i] {
			if k >= 0 {
				in.Shape[axis] = Size{Size: k, Free: true}
			}
		}
	}
	p.setOutputs(outs, lengths)
	return &p
}

// SameElements reports whether two arrays on the host hold the same elements.
func SameElements(a, b *array.View) bool {
	if a.DType != b.DType || !array.Equal(a.Shape, b.Shape) {
		return false
	}
	if a.Same(b) {
		return true
	}
	var x, y bytes.Buffer
	return raw.Write(&x, a) == nil && raw.Write(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// Operations returns how often the graph has each operation, also in functions that operations run.
func (p *Program) Operations() map[string]int {
	counts := map[string]int{}
	p.Graph.count(counts)
	for i := range p.Sizes {
		p.Sizes[i].Graph.count(counts)
	}
	return counts
}

func (g *graph) count(counts map[string]int) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Op != ir.Const.OpName() && leafOf(n.Op) == nil {
			counts[n.Op]++
		}
		for _, t := range n.Attrs {
			if t.fn != nil {
				t.fn.Body.count(counts)
			}
		}
	}
}
