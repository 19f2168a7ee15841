package core

import (
	"reflect"
	"slices"
	"sync"
	"weak"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/mem"
	"weft/internal/op"
)

// Recomputation, known as gradient checkpointing: a function whose tape keeps no values. A backward pass
// that needs one runs the function again, which makes a second tape. Its nodes, in the order in which
// they were made, have the values of the first one's.
//
// What the function changes outside is changed once: draws are the first run's, and writes into memory
// that the first run wrote are left out. In a trace the second run's operations would be the nodes of the
// first run's, so its arguments are nodes of their own ([op.Again]).

// A region is a run of a function without values on its tape.
type region struct {
	call func(args []*Tensor) // runs the function again
	args *GradNode            // keeps the arguments as its saved values
	runs []*Run               // of the arguments
	in   *Trace               // that the run is part of; what a trace inside records is not the region's
	cast array.DType          // of the scope of mixed precision around the first run, Invalid for none
	over bool                 // the first run has returned

	mu      sync.Mutex
	size    int         // nodes that were made
	bytes   int64       // of the values that they would keep
	left    int         // of them those that were not released
	second  []*GradNode // their counterparts, nil before they are made again
	draws   []drawn
	reads   []seen // operands of recorded operations
	written map[weak.Pointer[array.Storage]]bool

	outer  *region // around the first run
	replay *replay // of a region that stands for the second run
}

// A replay is how far the second run has come.
type replay struct {
	of           *region
	nodes        []*GradNode
	draws, reads int
}

// A drawn is what a draw gave: the state of the generator or, in a trace, the numbers of the seed and the
// draw.
type drawn struct {
	state GeneratorState
	words [2]exec.Number
}

// A seen is memory at a version.
type seen struct {
	store   weak.Pointer[array.Storage]
	version uint32
}

// A regionNode is the place of a node of a region.
type regionNode struct {
	of *region
	at int
}

// regionHere returns the innermost region that this goroutine runs, nil if there is none.
func regionHere() *region {
	if !array.Scoped.On() {
		return nil
	}
	if r := ambientHere().region; r != nil && r.in == TracingHere() {
		return r
	}
	return nil
}

// Recompute calls f, a function of values that hold tensors, as weft.Recompute says.
func Recompute[F Face](f reflect.Value, in []reflect.Value) (out []reflect.Value) {
	call := f.Call
	if f.Type().IsVariadic() {
		call = f.CallSlice
	}
	if tr := TracingHere(); !GradOn() || tr != nil && (tr.Callee || tr.Seen != nil) {
		return call(in)
	}
	r := &region{written: map[weak.Pointer[array.Storage]]bool{}, outer: regionHere(), in: TracingHere(), cast: castHere()}
	r.args = &GradNode{NodeInfo: &NodeInfo{Name: "recompute"}}
	var args []*Tensor
	given := slices.Clone(in)
	for _, v := range in {
		replaced[F](v, func(t *Tensor) *Tensor {
			t.Check("recompute")
			r.args.Save(SavedValue{V: t.v, From: t.Node(), Arg: len(args)})
			r.runs, args = append(r.runs, t.run), append(args, t)
			return t
		})
	}
	gone := new(Tensor) // in the place of arguments, which r.args keeps
	for i, v := range in {
		in[i] = replaced[F](v, func(*Tensor) *Tensor { return gone })
	}
	r.call = func(args []*Tensor) {
		k := 0
		again := make([]reflect.Value, len(in))
		for i, v := range in {
			again[i] = replaced[F](v, func(*Tensor) *Tensor { k++; return args[k-1] })
		}
		call(again)
	}
	Keeping("recompute", "argument #", args, func() {
		a := ambientHere()
		a.region, a.cast = r, newAutocast(r.cast) // both runs convert the same parameters
		inScope(a, func() { out = call(given) })
	})
	r.left, r.over = r.size, true
	if r.size == 0 {
		r.args.release()
	}
	mem.Default().Dropped(r.bytes)
	return out
}

// save is Save of a node of the region.
func (r *region) save(n *GradNode, s SavedValue) {
	if r.replay != nil {
		if k := len(r.replay.nodes); k == 0 || r.replay.nodes[k-1] != n {
			r.replay.nodes = append(r.replay.nodes, n)
		}
		n.keep(s)
		return
	}
	if n.region == nil {
		n.own().region = &regionNode{r, r.size}
		r.size++
	}
	if s.V.Store.Device == 0 && !s.V.Store.Abstract && (s.From == nil || s.From.Leaf == nil) {
		r.bytes += int64(s.V.Size() * s.V.DType.Size())
	}
	s.V.Store = nil
	n.saved = append(n.saved, s)
}

// read notes the operands of a recorded operation. In the second run it panics if memory from outside was
// written since the first.
func (r *region) read(name string, ops []Operand) {
	for i := range ops {
		t := ops[i].T
		if t == nil || t.v.Store.Abstract {
			continue
		}
		now := seen{weak.Make(t.v.Store), t.v.Store.Version()}
		if r.replay == nil {
			r.reads = append(r.reads, now)
			continue
		}
		before := r.replay.of.reads
		k := r.replay.reads
		r.replay.reads++
		if k >= len(before) {
			r.replay.of.refuse()
		}
		if was := before[k]; was.store == now.store && was.version != now.version {
			array.Failf("backward", "", "argument %d of %s, %s, was modified in place after a function of Recompute had read it, which is computed again now: it is at version %d, the first run read version %d",
				i, name, array.TypeString(t.v.DType, t.v.Shape), now.version, was.version)
		}
	}
}

// refuse panics because the second run is not what the first one was.
func (r *region) refuse() {
	array.Failf("backward", "", "a function of Recompute did not do the same operations when it was computed again: it must depend on its arguments, and on what stays as it is, alone")
}

// writesAgain notes a write into t by the operation name, and reports one to be left out: in a second run,
// into memory from outside.
func (t *Tensor) writesAgain(name string) bool {
	if r := regionHere(); !r.wrote(t) {
		return false
	}
	if GradOn() && t.Node() != nil {
		array.Failf(name, "", "a function of Recompute writes in place, with a gradient, into memory from outside: return the value instead")
	}
	return true
}

// wrote notes a write into t. In the second run it reports that the first run wrote the same memory, which
// is therefore from outside.
func (r *region) wrote(t *Tensor) (repeated bool) {
	if r == nil {
		return false
	}
	st := weak.Make(t.v.Store)
	if r.replay != nil {
		return r.replay.of.written[st]
	}
	for ; r != nil && r.replay == nil; r = r.outer {
		r.written[st] = true
	}
	return r != nil && r.replay.of.written[st]
}

// drawn returns what the next draw gives: in the second run what the first one got.
func (r *region) drawn(make func() drawn) (d drawn) {
	switch {
	case r == nil:
		return make()
	case r.replay == nil:
		d = r.outer.drawn(make)
		r.draws = append(r.draws, d)
		return d
	}
	if r.replay.draws == len(r.replay.of.draws) {
		r.refuse()
	}
	r.replay.draws++
	return r.replay.of.draws[r.replay.draws-1]
}

// recomputed returns the saved values of n, a node of a region, from its counterpart. dys are the gradients that
// the pass has reached: the second run of a trace waits for them.
func (n *GradNode) recomputed(dys []*Tensor) []SavedValue {
	r := n.region.of
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		array.Failf("backward", "", "a function of Recompute runs a backward pass through what it computes, whose values are not kept: run the pass outside")
	}
	if r.second == nil {
		r.run(dys)
	}
	m := r.second[n.region.at]
	second := m.values(nil)
	if m.opName() != n.opName() || len(second) != len(n.saved) {
		r.refuse()
	}
	saved := append([]SavedValue(nil), n.saved...)
	for i := range saved {
		if v := &second[i].V; v.DType != saved[i].V.DType || !array.Equal(v.Shape, saved[i].V.Shape) {
			r.refuse()
		}
		saved[i].V = second[i].V
	}
	return saved
}

// run is the second run.
func (r *region) run(dys []*Tensor) {
	if r.in != TracingHere() {
		array.Failf("backward", "", "a pass inside a compiled function reaches values of a function of Recompute that ran outside: run both inside or both outside")
	}
	saved := r.args.values(dys)
	args := make([]*Tensor, len(saved))
	for i := range saved {
		args[i] = r.args.savedTensor(&saved[i], r.runs[i], true)
	}
	again(args, dys)
	p := &replay{of: r}
	a := ambient{region: &region{replay: p, in: TracingHere()}, cast: newAutocast(r.cast)}
	if DetectsAnomaly() {
		a.anomaly = &anomalyScope{}
	}
	inScope(a, func() { r.call(args) })
	if len(p.nodes) != r.size {
		r.refuse()
	}
	r.second = p.nodes
}

// releasedNode is called when node at of the region has been released.
func (r *region) releasedNode(at int) {
	r.mu.Lock()
	if r.second != nil && r.second[at] != nil {
		r.second[at].release()
		r.second[at] = nil
	}
	r.left--
	last := r.left == 0
	r.mu.Unlock()
	if last {
		r.args.release()
		mem.Default().Dropped(r.bytes)
	}
}

// again makes arguments of a second run in a trace nodes of their own, which depend on a gradient. An
// argument that the trace computed is enough where there is one: parameters would be copied.
func again(args, dys []*Tensor) {
	tr := TracingHere()
	if tr == nil {
		return
	}
	var token *ir.Node
	for _, dy := range dys {
		if dy != nil && dy.Size() > 0 {
			x := tr.Value(&dy.v)
			token = op.Narrow(ReshapeTo(x, []int{x.Size()}), 0, 0, 1)
		}
	}
	if token == nil {
		return
	}
	nodes := make([]*ir.Node, len(args))
	rank := func(i int) int {
		switch x := nodes[i]; {
		case x.DType.Complex() || x.Size() == 0:
			return 0
		case x.Op != ir.Input:
			return 3
		case args[i].Node() == nil:
			return 2
		}
		return 1
	}
	best := 0
	for i, t := range args {
		nodes[i] = tr.Value(&t.v)
		best = max(best, rank(i))
	}
	for i, t := range args {
		if best == 0 || rank(i) < best {
			continue
		}
		first := len(tr.G.Nodes)
		wait := op.Apply(op.Expand, op.Shape(nodes[i].Shape), ReshapeTo(token, nil))
		n := tr.G.Node(op.Again, op.Count(len(tr.G.Nodes)), nodes[i].DType, nodes[i].Shape, false, nodes[i], wait)
		tr.mark(first, "recompute")
		args[i] = &Tensor{v: tr.Result(n), run: t.run, hist: t.hist}
	}
}
