package onnx

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/wire"
)

// A graph is one that can be run: values have numbers, called slots, and nodes stand in an order in which
// each comes after what it reads.
type graph struct {
	name    string
	nodes   []*node
	names   []string // of the slots
	inputs  []int
	outputs []int
	consts  []binding // known from the file
	weights []string  // by slot: the name of a weight, "" of others; shorter than names if the rest has none
	// weightTypes are the types of weights in the file, by slot.
	weightTypes map[int]string
	captures    []capture // of a subgraph: values of the graph around it
	free        bool      // inputs have sizes that the file does not tell
	repeats     []repeat  // equal layers, in order
	search      int       // what is left of maxSearch
	folded      sync.Once
	plan        atomic.Pointer[[]*piece]
	frames      atomic.Pointer[frames] // of runs by programs
}

type binding struct {
	slot  int
	value Value
}

type capture struct{ outer, inner int }

type node struct {
	name    string // or the first output
	domain  string
	opset   int
	op      *operator
	in, out []int // slots; -1: not given, not used
	reads   []int // in, and what subgraphs capture
	attrs   []attribute
	like    *node // the first that computes the same of the same inputs, maybe itself; nil: none is known
}

type attribute struct {
	name    string
	kind    int
	i       int
	f       float32
	s       string
	ints    []int
	floats  []float32
	strings []string
	value   Value // of tensors, sparse ones too
	graph   *graph
	typ     *Type
}

// maxAttributes is the number of attributes that a node may have.
const maxAttributes = 64

// maxInlined is the number of nodes that functions may grow a model to, for functions that call others
// grow it exponentially.
const maxInlined = 1 << 20

// maxNested is how deep subgraphs may lie in each other. Messages nest less, but a function whose subgraph
// calls it nests forever.
const maxNested = wire.MaxDepth

// A builder makes graphs of messages.
type builder struct {
	src         *source
	model       *modelProto
	functions   map[functionKey]*functionProto
	weights     map[string]*weft.Tensor
	buffers     map[string]bool // weights that gradients do not flow to
	unsupported []UnsupportedNode
	inlined     int
}

type functionKey struct{ domain, name, overload string }

// A scope has the slots of the names of a graph that is made.
type scope struct {
	g      *graph
	slots  map[string]int
	outer  *scope
	depth  int // the number of graphs around it
	opsets map[string]int
}

func (s *scope) define(name string) int {
	s.g.names = append(s.g.names, name)
	s.slots[name] = len(s.g.names) - 1
	return s.slots[name]
}

// find returns the slot of a name, captured from the graphs around if it is theirs; -1 if nothing has it.
func (s *scope) find(name string) int {
	if slot, ok := s.slots[name]; ok {
		return slot
	}
	if s.outer == nil {
		return -1
	}
	outer := s.outer.find(name)
	if outer < 0 {
		return -1
	}
	inner := s.define(name)
	s.g.captures = append(s.g.captures, capture{outer, inner})
	return inner
}

// graph makes a graph. top is whether it is the model's, whose initializers may be weights.
func (b *builder) graph(p *graphProto, outer *scope, opsets map[string]int) (*graph, error) {
	s := &scope{g: &graph{name: p.name, weightTypes: map[int]string{}}, slots: map[string]int{}, outer: outer, opsets: opsets}
	if outer != nil {
		s.depth = outer.depth + 1
	}
	if s.depth > maxNested {
		return nil, errorf("subgraphs lie more than %d deep in each other: a function calls itself", maxNested)
	}
	initial := map[string]bool{}
	nodes, err := b.inline(p.nodes)
	if err != nil {
		return nil, err
	}
	weights := b.weightsOf(p, outer == nil, nodes)
	for _, t := range p.initializers {
		if err := b.initializer(s, t, weights); err != nil {
			return nil, err
		}
		initial[t.name] = true
	}
	for _, t := range p.sparse {
		v, err := b.src.sparse(t)
		if err != nil {
			return nil, err
		}
		if initial[t.values.name] {
			return nil, errorf("two initializers are named %q", t.values.name)
		}
		initial[t.values.name] = true
		s.g.consts = append(s.g.consts, binding{s.define(t.values.name), v.asKnown()})
	}
	for _, in := range p.inputs {
		if initial[in.name] {
			continue // older files name initializers as inputs too
		}
		if _, twice := s.slots[in.name]; twice || in.name == "" {
			return nil, errorf("two inputs of graph %q are named %q", p.name, in.name)
		}
		s.g.inputs = append(s.g.inputs, s.define(in.name))
	}
	if err := b.nodes(s, nodes); err != nil {
		return nil, err
	}
	for _, out := range p.outputs {
		slot := s.find(out.name)
		if slot < 0 {
			return nil, errorf("output %q of graph %q is not computed by a node", out.name, p.name)
		}
		s.g.outputs = append(s.g.outputs, slot)
	}
	s.g.prune()
	return s.g, nil
}

// initializer defines a constant or a weight.
func (b *builder) initializer(s *scope, t *tensorProto, weights map[string]bool) error {
	if _, twice := s.slots[t.name]; twice || t.name == "" {
		return errorf("two initializers are named %q", t.name)
	}
	v, err := b.src.value(t)
	if err != nil {
		return err
	}
	slot := s.define(t.name)
	if trains, ok := weights[t.name]; ok {
		b.weights[t.name] = v.tensor
		b.buffers[t.name] = !trains
		s.g.weights = append(s.g.weights, make([]string, slot+1-len(s.g.weights))...)
		s.g.weights[slot] = t.name
		s.g.weightTypes[slot] = array.TypeString(v.tensor.DType(), v.tensor.Shape())
		return nil
	}
	s.g.consts = append(s.g.consts, binding{slot, v.asKnown()})
	return nil
}

// weightsOf returns which initializers of a model are weights, and whether they are trained. Weights are
// floats with an axis. Running statistics are not trained, and what operators read on the host, such as
// the scales of Resize, are constants.
func (b *builder) weightsOf(p *graphProto, top bool, nodes []*nodeProto) map[string]bool {
	weights := map[string]bool{}
	if !top {
		return weights
	}
	for _, t := range p.initializers {
		if len(t.dims) > 0 && t.elem.known() && t.elem.DType().Float() {
			weights[t.name] = true
		}
	}
	same := map[string]string{} // torch.onnx lets equal initializers be one, seen through Identity
	for _, n := range nodes {
		if n.domain == "" && n.op == "Identity" && len(n.inputs) == 1 && len(n.outputs) == 1 {
			same[n.outputs[0]] = n.inputs[0]
		}
	}
	for _, n := range nodes {
		if n.domain == "" && n.op == "BatchNormalization" && len(n.inputs) == 5 {
			for _, name := range n.inputs[3:] {
				if of, ok := same[name]; ok {
					name = of
				}
				if _, ok := weights[name]; ok {
					weights[name] = false
				}
			}
		}
		if o := lookup(n.domain, n.op, newest[n.domain]); o != nil {
			for _, i := range o.reads {
				if i < len(n.inputs) {
					delete(weights, n.inputs[i])
				}
			}
		}
	}
	return weights
}

// nodes adds nodes in an order in which each comes after what it reads.
func (b *builder) nodes(s *scope, list []*nodeProto) error {
	makers := map[string]int{}
	for i, n := range list {
		for _, name := range n.outputs {
			if name == "" {
				continue
			}
			_, made := makers[name]
			if _, defined := s.slots[name]; made || defined {
				return &Error{Node: nodeName(n), Op: operatorName(n.domain, n.op), OpSet: s.opsets[n.domain], Text: fmt.Sprintf("its output %q is also an input, an initializer or the output of another node", name)}
			}
			makers[name] = i
		}
	}
	order, err := sorted(list, makers)
	if err != nil {
		return err
	}
	for _, i := range order {
		if err := b.node(s, list[i]); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns the order of nodes, or the error that names a cycle. Files have it mostly.
func sorted(list []*nodeProto, makers map[string]int) ([]int, error) {
	const (
		waiting = iota
		open
		done
	)
	state := make([]uint8, len(list))
	var order []int
	type step struct{ node, next int }
	needs := make([][]int, len(list))
	for i, n := range list {
		for _, name := range reads(n, nil) {
			if j, ok := makers[name]; ok {
				needs[i] = append(needs[i], j)
			}
		}
	}
	for first := range list {
		if state[first] != waiting {
			continue
		}
		stack := []step{{node: first}}
		state[first] = open
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == len(needs[top.node]) {
				state[top.node] = done
				order = append(order, top.node)
				stack = stack[:len(stack)-1]
				continue
			}
			j := needs[top.node][top.next]
			top.next++
			switch state[j] {
			case open:
				return nil, errorf("nodes %q and %q are in a cycle: each needs a result of the other", nodeName(list[top.node]), nodeName(list[j]))
			case waiting:
				state[j] = open
				stack = append(stack, step{node: j})
			}
		}
	}
	return order, nil
}

// reads appends the names that a node reads, also in its subgraphs; names that subgraphs define are among
// them, which does no harm but in the rare file that uses a name twice.
func reads(n *nodeProto, names []string) []string {
	names = append(names, n.inputs...)
	for _, a := range n.attributes {
		if n.differentiates(a) {
			names = append(names, string(a.s))
		}
		for _, g := range append(a.graphs[:len(a.graphs):len(a.graphs)], a.g) {
			if g == nil {
				continue
			}
			own := map[string]bool{}
			for _, v := range g.inputs {
				own[v.name] = true
			}
			for _, t := range g.initializers {
				own[t.name] = true
			}
			var inner []string
			for _, n := range g.nodes {
				inner = reads(n, inner)
				for _, name := range n.outputs {
					own[name] = true
				}
			}
			for _, v := range g.outputs {
				inner = append(inner, v.name)
			}
			for _, name := range inner {
				if !own[name] {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// differentiates reports whether a names the value that n, a Gradient, differentiates. The node reads it, although it is
// not an input.
func (n *nodeProto) differentiates(a *attributeProto) bool {
	return n.domain == domainTraining && n.op == "Gradient" && a.name == "y" && len(a.s) > 0
}

func nodeName(n *nodeProto) string {
	if n.name != "" || len(n.outputs) == 0 {
		return n.name
	}
	return n.outputs[0]
}

// node adds a node to the graph of a scope.
func (b *builder) node(s *scope, p *nodeProto) error {
	opset, imported := s.opsets[p.domain]
	n := &node{name: nodeName(p), domain: p.domain, opset: opset}
	fail := func(err error) error {
		return &Error{Node: n.name, Op: operatorName(p.domain, p.op), OpSet: opset, Err: err}
	}
	if n.op = lookup(p.domain, p.op, opset); n.op == nil || !imported {
		b.unsupported = append(b.unsupported, UnsupportedNode{Name: n.name, Op: p.op, Domain: p.domain, OpSet: opset})
	}
	for i, name := range p.inputs {
		slot := -1
		if name != "" {
			if slot = s.find(name); slot < 0 {
				return fail(fmt.Errorf("input %d, %q, is not an input of the graph, an initializer or a result of a node", i, name))
			}
			n.reads = append(n.reads, slot)
		}
		n.in = append(n.in, slot)
	}
	if len(p.attributes) > maxAttributes {
		return fail(fmt.Errorf("has %d attributes: at most %d are read", len(p.attributes), maxAttributes))
	}
	for _, a := range p.attributes {
		x, err := b.attribute(s, a)
		if err != nil {
			return fail(fmt.Errorf("attribute %q: %w", a.name, err))
		}
		if slices.ContainsFunc(n.attrs, func(o attribute) bool { return o.name == x.name }) {
			return fail(fmt.Errorf("attribute %q is given twice", a.name))
		}
		n.attrs = append(n.attrs, x)
		if p.differentiates(a) {
			if slot := s.find(x.s); slot >= 0 {
				n.reads = append(n.reads, slot)
			}
		}
		if x.graph != nil {
			for _, c := range x.graph.captures {
				n.reads = append(n.reads, c.outer)
			}
		}
	}
	for _, name := range p.outputs {
		slot := -1
		if name != "" {
			slot = s.define(name)
		}
		n.out = append(n.out, slot)
	}
	s.g.nodes = append(s.g.nodes, n)
	return nil
}

func (b *builder) attribute(s *scope, p *attributeProto) (attribute, error) {
	a := attribute{name: p.name, kind: p.attrKind(), i: int(p.i), f: p.f, s: string(p.s), floats: p.floats}
	for _, x := range p.ints {
		a.ints = append(a.ints, int(x))
	}
	for _, x := range p.strings {
		a.strings = append(a.strings, string(x))
	}
	var err error
	switch {
	case p.ref != "":
		return a, fmt.Errorf("refers to %q, an attribute of a function, outside of one", p.ref)
	case a.kind == attrTensor && p.t != nil:
		a.value, err = b.src.value(p.t)
		a.value = a.value.asKnown()
	case a.kind == attrSparse && p.sparse != nil:
		a.value, err = b.src.sparse(p.sparse)
		a.value, a.kind = a.value.asKnown(), attrTensor
	case a.kind == attrGraph && p.g != nil:
		a.graph, err = b.graph(p.g, s, s.opsets)
	case a.kind == attrType && p.tp != nil:
		a.typ, err = newType(p.tp)
	case a.kind == attrTensor, a.kind == attrSparse, a.kind == attrGraph, a.kind == attrType:
		err = fmt.Errorf("has no value")
	case a.kind > attrStrings || a.kind == attrUnspecified:
		err = fmt.Errorf("has the type %d, which is not read", p.kind)
	}
	return a, err
}

// attrKind is the type of an attribute, which old files leave out.
func (p *attributeProto) attrKind() int {
	switch {
	case p.kind != attrUnspecified:
		return p.kind
	case p.t != nil:
		return attrTensor
	case p.g != nil:
		return attrGraph
	case p.s != nil:
		return attrString
	case p.floats != nil:
		return attrFloats
	case p.ints != nil:
		return attrInts
	case p.strings != nil:
		return attrStrings
	case p.i != 0:
		return attrInt
	case p.f != 0:
		return attrFloat
	}
	return attrUnspecified
}

// prune leaves out nodes that no output needs.
func (g *graph) prune() {
	needed := make([]bool, len(g.names))
	for _, slot := range g.outputs {
		needed[slot] = true
	}
	var kept []*node
	for _, n := range slices.Backward(g.nodes) {
		if !slices.ContainsFunc(n.out, func(slot int) bool { return slot >= 0 && needed[slot] }) {
			continue
		}
		for i, slot := range n.out {
			if slot >= 0 && !needed[slot] {
				n.out[i] = -1
			}
		}
		for _, slot := range n.reads {
			needed[slot] = true
		}
		kept = append(kept, n)
	}
	slices.Reverse(kept)
	g.nodes = kept
}
