package onnx

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/raw"
)

// A run is one run of a model's graph and its subgraphs.
type run struct {
	m       *Model
	ctx     context.Context // ends the run between nodes and inside programs; nil in a trace, which many calls use
	tracing bool            // nodes make a graph: elements are not known but of values that say so
	plain   bool            // node by node, as gradients need it
	once    bool            // computes what is known, for all later calls
	known   *known          // of the trace, else nil
	traced  int             // the nodes of subgraphs that a trace or what is known ran, counted at each step of a loop
}

// endedError returns the error of a run whose context has ended, else nil.
func (r *run) endedError() error {
	if r.ctx == nil || r.ctx.Err() == nil {
		return nil
	}
	return &Error{Text: "the run was ended", Err: context.Cause(r.ctx)}
}

// A piece is a part of a graph's nodes that runs as one program, or one node that runs by itself.
type piece struct {
	from, to int
	eager    bool
	ins      []int                     // slots that the piece reads of what comes before
	outs     []int                     // slots that it makes and later nodes or the outputs read
	program  *core.GoFunc[weft.Tensor] // of a packedFunc
}

// errSplit says at which node a program must be split.
type errSplit struct{ node int }

func (e *errSplit) Error() string { return errHost.Error() }

// Is makes a split that a body asks for one of the node that has the body.
func (e *errSplit) Is(target error) bool { return target == errHost }

// A packedFunc computes a piece.
type packedFunc = func(in []packed) ([]packed, error)

// graph runs a graph.
func (r *run) graph(g *graph, in, captured []Value) []Value {
	if err := r.endedError(); err != nil {
		panic(failure{err})
	}
	g.folded.Do(func() { core.OutsideTrace(func() { r.fold(g) }) })
	env := r.environment(g)
	for i, slot := range g.inputs {
		env[slot] = in[i]
	}
	for i, c := range g.captures {
		env[c.inner] = captured[i]
	}
	if r.plain || r.tracing {
		if err := r.walk(g, 0, len(g.nodes), env); err != nil {
			panic(failure{err})
		}
	} else {
		r.pieces(g, env)
	}
	out := make([]Value, len(g.outputs))
	for i, slot := range g.outputs {
		out[i] = env[slot]
	}
	return out
}

// fold computes the nodes whose inputs are constants of the file, once. One that fails or is a long loop stays, so that
// the run that needs it says why, or can be ended.
func (r *run) fold(g *graph) {
	aside := &run{m: r.m, plain: true, once: true}
	env := make([]Value, len(g.names))
	for _, c := range g.consts {
		env[c.slot] = c.value
	}
	var left []*node
	for _, n := range g.nodes {
		known := !n.op.random && !slices.ContainsFunc(n.reads, func(slot int) bool { return env[slot].kind == NoValue })
		aside.traced = 0
		if !known || aside.node(n, env) != nil {
			left = append(left, n)
			continue
		}
		for _, slot := range n.out {
			if slot >= 0 {
				g.consts = append(g.consts, binding{slot, env[slot]})
			}
		}
	}
	g.nodes = left
	g.alike()
}

// environment returns the values of a graph's slots before its nodes ran.
func (r *run) environment(g *graph) []Value {
	env := make([]Value, len(g.names))
	for _, c := range g.consts {
		env[c.slot] = c.value
	}
	for slot, name := range g.weights {
		if name != "" {
			env[slot] = TensorOf(r.m.Weights[name])
		}
	}
	return env
}

// maxTraced is the number of nodes that subgraphs may add to one program, or run in a node that is computed once for
// all calls. Loops within loops would make a program that grows exponentially with their depth, and a trace does not
// end with a call's context. The node whose subgraph exceeds it runs by itself, with a program for its body.
const maxTraced = 1 << 14

// subgraph runs a graph of a node, with values of the graph around it.
func (r *run) subgraph(g *graph, outer, in []Value) []Value {
	if len(in) != len(g.inputs) {
		panic(failure{errorf("graph %q is given %d inputs: it has %d", g.name, len(in), len(g.inputs))})
	}
	if r.tracing || r.once {
		if r.traced += 1 + len(g.nodes); r.traced > maxTraced {
			panic(failure{errHost})
		}
	}
	captured := make([]Value, len(g.captures))
	for i, c := range g.captures {
		captured[i] = outer[c.outer]
	}
	return r.graph(g, in, captured)
}

// walk runs nodes one after the other.
func (r *run) walk(g *graph, from, to int, env []Value) error {
	for i := from; i < to; i++ {
		n := g.nodes[i]
		err := r.endedError()
		if err == nil {
			err = r.node(n, env)
		}
		if err == nil {
			continue
		}
		if errors.Is(err, errHost) {
			return &errSplit{i}
		}
		return inNode(n, err)
	}
	return nil
}

func inNode(n *node, err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	return &Error{Node: n.name, Op: operatorName(n.domain, n.op.name), OpSet: n.opset, Err: err}
}

// node runs a node. One whose inputs are known is computed at once, while a program is traced too, so that
// chains of sizes never become part of it.
func (r *run) node(n *node, env []Value) error {
	known := !n.op.random
	for _, slot := range n.reads {
		known = known && env[slot].allKnown()
	}
	var key knownKey
	keep := false
	if known && r.tracing {
		if key, keep = r.known.key(n, env); keep {
			if out, ok := r.known.made[key]; ok {
				n.give(env, out)
				return nil
			}
		}
	}
	c := call{node: n, env: env, x: r, in: make([]Value, len(n.in))}
	for i, slot := range n.in {
		if slot >= 0 {
			c.in[i] = env[slot]
		}
	}
	var out []Value
	var err error
	switch {
	case known && r.tracing:
		aside := *r
		aside.tracing, aside.plain, aside.once, aside.traced = false, true, true, 0
		c.x = &aside
		core.OutsideTrace(func() { out, err = c.run() })
	case n.op.eager && r.tracing:
		return errHost
	default:
		out, err = c.run()
	}
	if err != nil {
		return err
	}
	for i, slot := range n.out {
		if slot < 0 {
			continue
		}
		if i >= len(out) || out[i].kind == NoValue {
			return errorf("output %d is not computed", i)
		}
		if known {
			out[i] = out[i].asKnown()
		}
		out[i] = r.known.share(out[i])
	}
	if keep {
		r.known.made[key] = out
	}
	n.give(env, out)
	return nil
}

// give puts results into the slots of the outputs that are used.
func (n *node) give(env, out []Value) {
	for i, slot := range n.out {
		if slot >= 0 {
			env[slot] = out[i]
		}
	}
}

// run runs the operator, whose panics are the error.
func (c *call) run() (out []Value, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case failure:
			err = e.err
		case *array.Error:
			err = e
		default:
			panic(e)
		}
	}()
	out = c.node.op.run(c)
	c.done()
	return out, nil
}

// pieces runs a graph by programs. One that turns out to need elements on the host is split at the node
// that needs them, for this call and later ones.
func (r *run) pieces(g *graph, env []Value) {
	for k := 0; ; k++ {
		list := g.pieces()
		if k >= len(list) {
			return
		}
		p := list[k]
		var err error
		if p.eager || core.CompileOff {
			err = r.walk(g, p.from, p.to, env)
		} else {
			err = r.program(g, p, env)
		}
		var split *errSplit
		if errors.As(err, &split) {
			if p.eager {
				panic(failure{errHost})
			}
			g.split(p, split.node)
			k--
			continue
		}
		if err != nil {
			panic(failure{err})
		}
	}
}

// pieces returns the parts of the graph, made at the first call.
func (g *graph) pieces() []*piece {
	if list := g.plan.Load(); list != nil {
		return *list
	}
	var list []*piece
	from := 0
	for i, n := range g.nodes {
		if n.op.eager {
			list = append(list, g.piece(from, i, false), g.piece(i, i+1, true))
			from = i + 1
		}
	}
	list = append(list, g.piece(from, len(g.nodes), false))
	list = slices.DeleteFunc(list, func(p *piece) bool { return p.from == p.to })
	g.plan.CompareAndSwap(nil, &list)
	return *g.plan.Load()
}

// piece returns nodes from to to as a piece.
func (g *graph) piece(from, to int, eager bool) *piece {
	p := &piece{from: from, to: to, eager: eager}
	if eager {
		return p
	}
	made, read := map[int]bool{}, map[int]bool{}
	fixed := map[int]bool{}
	for _, c := range g.consts {
		fixed[c.slot] = true
	}
	for slot, name := range g.weights {
		fixed[slot] = fixed[slot] || name != ""
	}
	for _, n := range g.nodes[from:to] {
		for _, slot := range n.reads {
			if !made[slot] && !fixed[slot] && !read[slot] {
				read[slot] = true
				p.ins = append(p.ins, slot)
			}
		}
		for _, slot := range n.out {
			made[slot] = true
		}
	}
	need := func(slot int) {
		if slot >= 0 && made[slot] && !slices.Contains(p.outs, slot) {
			p.outs = append(p.outs, slot)
		}
	}
	for _, n := range g.nodes[to:] {
		for _, slot := range n.reads {
			need(slot)
		}
	}
	for _, slot := range g.outputs {
		need(slot)
	}
	return p
}

// split makes node at of a piece one that runs by itself.
func (g *graph) split(p *piece, at int) {
	for {
		old := g.plan.Load()
		i := slices.Index(*old, p)
		if i < 0 {
			return // another call has
		}
		parts := []*piece{g.piece(p.from, at, false), g.piece(at, at+1, true), g.piece(at+1, p.to, false)}
		parts = slices.DeleteFunc(parts, func(p *piece) bool { return p.from == p.to })
		list := slices.Replace(slices.Clone(*old), i, i+1, parts...)
		if g.plan.CompareAndSwap(old, &list) {
			return
		}
	}
}

// program runs a piece as a program, of one of the signatures that it was called with.
func (r *run) program(g *graph, p *piece, env []Value) error {
	in := make([]packed, len(p.ins))
	for i, slot := range p.ins {
		in[i] = pack(env[slot])
	}
	f := r.m.compiled(g, p).Func(r.ctx).Interface().(packedFunc)
	out, err := f(in)
	if err != nil {
		if ended := r.endedError(); ended != nil {
			return ended
		}
		return err
	}
	for i, slot := range p.outs {
		env[slot] = out[i].value()
	}
	return nil
}

// compiled returns the compiled function of a piece.
func (m *Model) compiled(g *graph, p *piece) *core.GoFunc[weft.Tensor] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.program == nil {
		p.program = core.NewGoFunc[weft.Tensor](reflect.ValueOf(func(in []packed) ([]packed, error) {
			r := &run{m: m, tracing: true, known: newKnown()}
			env := r.environment(g)
			for i, slot := range p.ins {
				env[slot] = in[i].value()
			}
			var err error
			core.OnOneLine(func() { err = r.walk(g, p.from, p.to, env) })
			if err != nil {
				return nil, err
			}
			out := make([]packed, len(p.outs))
			for i, slot := range p.outs {
				out[i] = packResult(env[slot])
			}
			return out, nil
		}))
	}
	return p.program
}

// bind drops the programs of the graph if one of the weights was replaced: they read the tensors that they were
// traced with. Subgraphs are given weights as arguments.
func (m *Model) bind() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if maps.Equal(m.bound, m.Weights) {
		return
	}
	m.bound = maps.Clone(m.Weights)
	if list := m.graph.plan.Load(); list != nil {
		for _, p := range *list {
			p.program = nil
		}
	}
}

// A packed is a [Value] as a compiled function takes and returns it: tensors that are not known are
// arguments, all else is part of the signature.
type packed struct {
	Kind    Kind
	Elem    ElementType
	Known   bool
	Tensor  *weft.Tensor
	Bytes   string // of a known tensor among arguments
	DType   weft.DType
	Shape   []int
	Strings []string
	Items   []packed
}

func pack(v Value) packed {
	p := packResult(v)
	if v.known {
		core.OutsideTrace(func() {
			t := (*core.Tensor)(v.tensor.Detach().Contiguous())
			h := core.ToHost(t)
			defer core.Leave(&h)
			p.Bytes, p.DType, p.Shape = string(core.Bytes(&h)), t.View().DType, v.tensor.Shape()
		})
		p.Tensor = nil
	}
	for i := range p.Items {
		p.Items[i] = pack(v.items[i])
	}
	return p
}

func packResult(v Value) packed {
	p := packed{Kind: v.kind, Elem: v.elem, Known: v.known, Tensor: v.tensor, Shape: v.shape, Strings: v.strings}
	for _, x := range v.items {
		p.Items = append(p.Items, packResult(x))
	}
	return p
}

func (p packed) value() Value {
	v := Value{kind: p.Kind, elem: p.Elem, known: p.Known, tensor: p.Tensor, strings: p.Strings, shape: p.Shape}
	if p.Known && p.Tensor == nil {
		core.OutsideTrace(func() {
			v.tensor = (*weft.Tensor)(core.FromView(raw.View(p.DType, p.Shape, false, []byte(p.Bytes))))
		})
		v.shape = nil
	}
	for _, x := range p.Items {
		v.items = append(v.items, x.value())
	}
	return v
}

// own are values that nobody else has: what constants, weights or inputs are among results, or views of them, is
// copied.
func (m *Model) own(v Value, in []Value) Value {
	if v.known || v.kind == TensorKind && m.holds(v.tensor, in) {
		v.tensor, v.known = v.tensor.Clone(), false
	}
	v.strings = slices.Clone(v.strings)
	if len(v.items) > 0 {
		v.items = slices.Clone(v.items)
		for i := range v.items {
			v.items[i] = m.own(v.items[i], in)
		}
	}
	return v
}

// holds reports that a tensor lies in the memory of a weight, a constant or an input.
func (m *Model) holds(t *weft.Tensor, in []Value) bool {
	store := (*core.Tensor)(t).View().Store
	lies := func(v Value) bool {
		return v.tensor != nil && (*core.Tensor)(v.tensor).View().Store == store
	}
	for _, w := range m.Weights {
		if (*core.Tensor)(w).View().Store == store {
			return true
		}
	}
	return slices.ContainsFunc(in, func(v Value) bool { return lies(v) || slices.ContainsFunc(v.items, lies) }) ||
		slices.ContainsFunc(m.graph.consts, func(c binding) bool { return lies(c.value) })
}
