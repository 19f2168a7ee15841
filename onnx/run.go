package onnx

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
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
	layer    bool                     // weights are among ins
	ins      []int                    // slots that the piece reads of what comes before
	outs     []int                    // slots that it makes and later nodes or the outputs read
	done     []int                    // slots of earlier pieces that no later one reads
	program  *atomic.Pointer[program] // of layers that are equal the same
}

// errSplit says at which node a program must be split.
type errSplit struct{ node int }

func (e *errSplit) Error() string { return errHost.Error() }

// Is makes a split that a body asks for one of the node that has the body.
func (e *errSplit) Is(target error) bool { return target == errHost }

// graph runs a graph.
func (r *run) graph(g *graph, in, captured []Value) []Value {
	if err := r.endedError(); err != nil {
		panic(failure{err})
	}
	g.folded.Do(func() { core.OutsideTrace(func() { r.fold(g) }) })
	if !r.plain && !r.tracing {
		return r.compiled(g, in, captured)
	}
	env := r.environment(g)
	g.enter(env, in, captured)
	if err := r.walk(g, 0, len(g.nodes), env); err != nil {
		panic(failure{err})
	}
	return g.results(env)
}

// enter gives a graph its inputs, and the values of the graph around it.
func (g *graph) enter(env, in, captured []Value) {
	for i, slot := range g.inputs {
		env[slot] = in[i]
	}
	for i, c := range g.captures {
		env[c.inner] = captured[i]
	}
}

// results are the outputs of a graph that ran.
func (g *graph) results(env []Value) []Value {
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
	g.findLayers()
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

// fixed returns the constants and weights of a graph that has run, by slot.
func (r *run) fixed(g *graph) []Value {
	if f := g.frames.Load(); f != nil && !r.plain && !r.tracing {
		return f.fixed
	}
	return r.environment(g)
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

// pieces returns the parts of the graph, made at the first call.
func (g *graph) pieces() []*piece {
	if list := g.plan.Load(); list != nil {
		return *list
	}
	var list []*piece
	from := 0
	for i, n := range g.nodes {
		if n.op.eager {
			list = append(append(list, g.compiledPieces(from, i)...), g.piece(i, i+1, true))
			from = i + 1
		}
	}
	list = append(list, g.compiledPieces(from, len(g.nodes))...)
	g.lasts(list)
	g.plan.CompareAndSwap(nil, &list)
	return *g.plan.Load()
}

// piece returns nodes from to to as a piece.
func (g *graph) piece(from, to int, eager bool) *piece {
	p := &piece{from: from, to: to, eager: eager, program: &atomic.Pointer[program]{}}
	if eager {
		return p
	}
	p.ins = g.reads(p)
	made := map[int]bool{}
	for _, n := range g.nodes[from:to] {
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

// reads returns what the nodes of a piece read of what comes before, in the order in which they do. Constants are part
// of a program, and so are weights unless the piece is a layer.
func (g *graph) reads(p *piece) (list []int) {
	seen := map[int]bool{}
	for _, c := range g.consts {
		seen[c.slot] = true
	}
	for slot, name := range g.weights {
		seen[slot] = seen[slot] || name != "" && !p.layer
	}
	for _, n := range g.nodes[p.from:p.to] {
		for _, slot := range n.reads {
			if !seen[slot] {
				seen[slot] = true
				list = append(list, slot)
			}
		}
		for _, slot := range n.out {
			seen[slot] = true
		}
	}
	return list
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

// own are values that nobody else has: what constants, weights or inputs are among results, or views of them, is
// copied. fixed are the constants and weights of the model.
func own(v Value, in, fixed []Value) Value {
	if v.known || v.kind == TensorKind && (holds(in, v.tensor) || holds(fixed, v.tensor)) {
		v.tensor, v.known = v.tensor.Clone(), false
	}
	v.strings = slices.Clone(v.strings)
	if len(v.items) > 0 {
		v.items = slices.Clone(v.items)
		for i := range v.items {
			v.items[i] = own(v.items[i], in, fixed)
		}
	}
	return v
}

// holds reports that a tensor lies in the memory of one of the values.
func holds(list []Value, t *weft.Tensor) bool {
	store := (*core.Tensor)(t).View().Store
	for i := range list {
		v := &list[i]
		if v.tensor != nil && (*core.Tensor)(v.tensor).View().Store == store || len(v.items) > 0 && holds(v.items, t) {
			return true
		}
	}
	return false
}
