package onnx

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// frames are the values of a graph's slots in runs by programs. fixed has constants and weights, and nothing else. The
// others are copies of it that wait for a run.
type frames struct {
	fixed  []Value
	stores map[*array.Storage]bool // their memory
	// between are slots of inputs and of what pieces make for one another.
	between []int
	free    sync.Pool // of *[]Value
}

// frames returns the frames of a graph, made at the first call.
func (r *run) frames(g *graph) *frames {
	f := g.frames.Load()
	if f == nil {
		f = &frames{fixed: r.environment(g), stores: map[*array.Storage]bool{}, between: g.between()}
		for i := range f.fixed {
			if v := &f.fixed[i]; v.kind == TensorKind {
				f.stores[(*core.Tensor)(v.tensor).View().Store] = true
			}
		}
		g.keepPacked(f.fixed)
		f.free.New = func() any {
			env := slices.Clone(f.fixed)
			return &env
		}
		g.frames.Store(f)
	}
	return f
}

// compiled runs a graph by programs.
func (r *run) compiled(g *graph, in, captured []Value) []Value {
	f := r.frames(g)
	frame := f.free.Get().(*[]Value)
	env := *frame
	g.enter(env, in, captured)
	r.pieces(g, f, env)
	out := g.results(env)
	g.leave(env)
	f.free.Put(frame)
	return out
}

// leave takes from a frame what a run wrote there.
func (g *graph) leave(env []Value) {
	for _, slot := range g.inputs {
		env[slot] = Value{}
	}
	for _, c := range g.captures {
		env[c.inner] = Value{}
	}
	for _, p := range g.pieces() {
		for _, slot := range p.outs {
			env[slot] = Value{}
		}
		if p.eager || core.CompileOff {
			g.forget(env, p.from, p.to)
		}
	}
}

// forget takes what nodes made from a frame.
func (g *graph) forget(env []Value, from, to int) {
	for _, n := range g.nodes[from:to] {
		for _, slot := range n.out {
			if slot >= 0 {
				env[slot] = Value{}
			}
		}
	}
}

// pieces runs the parts of a graph. A program that turns out to need elements on the host is split at the node
// that needs them, for this call and later ones. Other calls may split pieces meanwhile, so their numbers change, and the
// next piece is the one that begins where the last has ended.
func (r *run) pieces(g *graph, f *frames, env []Value) {
	for k, at := 0, 0; ; {
		list := g.pieces()
		for k < len(list) && list[k].from < at {
			k++
		}
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
		if err == nil {
			g.release(f, p, env)
			at = p.to
			continue
		}
		var split *errSplit
		if !errors.As(err, &split) {
			panic(failure{err})
		}
		if p.eager {
			panic(failure{errHost})
		}
		g.split(p, split.node)
	}
}

// A program is the compiled function of a piece. Its arguments are the tensors that are not known. All else that the
// piece reads is the signature of one of its programs, and what it makes beside tensors comes back with them.
type program struct {
	f    *core.Func
	last atomic.Pointer[any] // signature of the latest call, a string
}

// signature returns the text in b as a value that is made once for equal texts in a row.
func (p *program) signature(b []byte) any {
	if s := p.last.Load(); s != nil && (*s).(string) == string(b) {
		return *s
	}
	var s any = string(b)
	p.last.Store(&s)
	return s
}

// program runs a piece as a program, of one of the signatures that it was called with.
func (r *run) program(g *graph, p *piece, env []Value) error {
	prog := p.program.Load()
	for prog == nil { // again if bind drops it at once
		p.program.CompareAndSwap(nil, &program{f: core.NewFunc(nil, core.Options{Name: "onnx", Scoped: true})})
		prog = p.program.Load()
	}
	var few [8]*core.Tensor
	var text [64]byte
	args, b := few[:0], text[:0]
	for _, slot := range p.ins {
		args, b = appendArguments(args, b, &env[slot])
	}
	ts, rest, err := prog.f.CallWith(r.ctx, args, prog.signature(b), func(args []*core.Tensor) ([]*core.Tensor, any, error) {
		return r.m.trace(g, p, env, args)
	})
	if err != nil {
		if ended := r.endedError(); ended != nil {
			return ended
		}
		return err
	}
	made := rest.([]Value)
	for i, slot := range p.outs {
		env[slot], ts = withTensors(made[i], ts)
	}
	return nil
}

// trace runs the nodes of a piece in a trace. env has what the piece reads in the call that traces. It returns the
// tensors that the piece makes, and the values that they are part of.
func (m *Model) trace(g *graph, p *piece, env []Value, args []*core.Tensor) ([]*core.Tensor, any, error) {
	r := &run{m: m, tracing: true, known: newKnown()}
	f := r.frames(g)
	frame := f.free.Get().(*[]Value)
	inner := *frame
	for _, slot := range p.ins {
		inner[slot], args = withArguments(env[slot], args)
	}
	var err error
	core.OnOneLine(func() { err = r.walk(g, p.from, p.to, inner) })
	if err != nil {
		return nil, nil, err
	}
	made := make([]Value, len(p.outs))
	var ts []*core.Tensor
	for i, slot := range p.outs {
		made[i], ts = withoutTensors(inner[slot], ts)
	}
	for _, slot := range p.ins {
		inner[slot] = f.fixed[slot]
	}
	g.forget(inner, p.from, p.to)
	f.free.Put(frame)
	return ts, made, nil
}

// appendArguments appends the tensors of v that are not known to args, and what else is in v to b.
func appendArguments(args []*core.Tensor, b []byte, v *Value) ([]*core.Tensor, []byte) {
	b = append(b, byte(v.kind), byte(v.elem))
	switch {
	case v.kind == TensorKind && v.known:
		core.OutsideTrace(func() {
			t := (*core.Tensor)(v.tensor.Detach().Contiguous())
			h := core.ToHost(t)
			defer core.Leave(&h)
			b = append(b, 1, byte(h.DType))
			b = append(ir.Ints(b, h.Shape), core.Bytes(&h)...)
		})
	case v.kind == TensorKind:
		args, b = append(args, (*core.Tensor)(v.tensor)), append(b, 0)
	case v.kind == StringsKind:
		b = binary.AppendUvarint(ir.Ints(b, v.shape), uint64(len(v.strings)))
		for _, s := range v.strings {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	default:
		b = binary.AppendUvarint(b, uint64(len(v.items)))
		for i := range v.items {
			args, b = appendArguments(args, b, &v.items[i])
		}
	}
	return args, b
}

// withArguments returns v with the first tensors of args, which it takes off, in place of those that are not known.
// Others are copies, for a program keeps them.
func withArguments(v Value, args []*core.Tensor) (Value, []*core.Tensor) {
	switch {
	case v.known:
		core.OutsideTrace(func() { v.tensor = v.tensor.Detach().Contiguous().Clone() })
	case v.kind == TensorKind:
		v.tensor, args = (*weft.Tensor)(args[0]), args[1:]
	}
	v.items = slices.Clone(v.items)
	for i := range v.items {
		v.items[i], args = withArguments(v.items[i], args)
	}
	return v, args
}

// withoutTensors returns v without its tensors, which it appends to ts.
func withoutTensors(v Value, ts []*core.Tensor) (Value, []*core.Tensor) {
	if v.kind == TensorKind {
		ts, v.tensor = append(ts, (*core.Tensor)(v.tensor)), nil
	}
	v.items = slices.Clone(v.items)
	for i := range v.items {
		v.items[i], ts = withoutTensors(v.items[i], ts)
	}
	return v, ts
}

// withTensors returns v with the first tensors of ts, which it takes off.
func withTensors(v Value, ts []*core.Tensor) (Value, []*core.Tensor) {
	if v.kind == TensorKind {
		v.tensor, ts = (*weft.Tensor)(ts[0]), ts[1:]
	}
	v.items = slices.Clone(v.items)
	for i := range v.items {
		v.items[i], ts = withTensors(v.items[i], ts)
	}
	return v, ts
}

// bind drops the programs of the graph if one of the weights was replaced: they read the tensors that they were
// traced with. Subgraphs are given weights as arguments.
func (m *Model) bind() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bound == nil {
		m.bound = make([]*weft.Tensor, len(m.graph.weights))
	}
	same := true
	for slot, name := range m.graph.weights {
		if name != "" {
			if t := m.Weights[name]; t != m.bound[slot] {
				m.bound[slot], same = t, false
			}
		}
	}
	if same {
		return
	}
	m.graph.frames.Store(nil)
	if list := m.graph.plan.Load(); list != nil {
		for _, p := range *list {
			p.program.Store(nil)
		}
	}
}
