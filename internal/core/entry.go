package core

import (
	"errors"
	"runtime"
	"slices"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/lock"
	"weft/internal/op"
	"weft/internal/plan"
)

// An Entry is a program for one signature.
type Entry struct {
	sig     signature
	device  uint8
	Code    *exec.Compiled
	Outs    []*ir.Node // as traced
	Traced  []origin   // of its nodes
	From    []origin   // of the nodes that the plan was made of
	options *Options
	dst     []plan.Sig // layouts in which outputs are wanted

	used     atomic.Bool // since eviction last looked at it
	verified atomic.Bool // by Debug
	sources  []Source
	numbers  int
	host     []func(nums []exec.Number) (undo func())
	live     []liveNumbers // what host does, for [Export]
	leaves   []*leafState
	writes   bool // into what was there before the call
	ordered  bool // does something on the host that calls must not do at once
	calls    bool // functions of the user
	held     map[*array.Storage]bool
	given    []*Tensor // the arguments of the trace
	rest     any       // see [body]
	roots    []resultTensor
	Err      error

	into    []int       // by output: the source that it is written to, or -1
	changes []bool      // by source: the call writes it
	fixed   []lock.Want // of captured memory
}

// A resultTensor is a tensor among the results: an output, an argument, or one that is captured. Where
// it is nil, out and arg are -1.
type resultTensor struct {
	traced   *Tensor
	out, arg int
	captured *Tensor
}

// ready reports whether the leaves that must have gradients, and only those, have them.
func (e *Entry) ready(g *Supplied) bool {
	for _, l := range e.leaves {
		if !l.ready(g) {
			return false
		}
	}
	return true
}

// run runs the program. If a leaf has lost or got a gradient meanwhile, it does nothing and reports
// false.
func (e *Entry) run(c *CompiledFunc, g *Supplied) ([]*Tensor, bool) {
	e.bind(c, g)
	defer g.end()
	var err error
	g.held, err = lock.Acquire(g.Ctx, g.wants, jit.Goroutine, e.calls || c.Debug != nil)
	if err != nil {
		panic(g.Refused(c.Name, err))
	}
	if len(e.leaves) > 0 && !(e.ready(g) && e.locked(g)) {
		return nil, false
	}
	ins, outs := g.ins, g.outs
	for i := range e.sources {
		s := &e.sources[i]
		switch s.Kind {
		case fromCapture:
			if s.At.Store.Released() {
				array.Failf("compile", "", "a tensor that the function captures, %s, was released, or its scope closed%s", array.TypeString(s.At.DType, s.At.Shape), At(s.PC))
			}
		case FromArgument:
			if e.writes && e.held[ins[i].Store] {
				array.Failf("compile", "", "tensor %d of the arguments shares its memory with one that the function captures, and the function writes%s: capture it or give it, not both", s.Index, At(s.PC))
			}
		case fromGrad:
			ins[i].Store = s.leaf.history(g).Grad.v.Store
		}
	}
	var nums []exec.Number
	var undo []func()
	done := false
	if len(e.host) > 0 {
		defer func() {
			if !done {
				for _, f := range slices.Backward(undo) {
					f()
				}
			}
		}()
		nums = make([]exec.Number, e.numbers)
		for _, f := range e.host {
			if u := f(nums); u != nil {
				undo = append(undo, u)
			}
		}
	}
	var written []*Tensor
	var parts [][]op.StridedWindow
	for _, i := range e.into {
		if i < 0 {
			continue
		}
		if ins[i].Store.ReadOnly() {
			array.Failf("compile", "", "the function writes into memory that must not be written, of %s", array.TypeString(ins[i].DType, ins[i].Shape))
		}
		t := e.sources[i].tensor
		if t == nil {
			t = &Tensor{v: *ins[i]}
		}
		written, parts = append(written, t), append(parts, e.sources[i].part)
	}
	if written != nil {
		w := OpenWrites(written)
		defer func() {
			if done { // else anything can stand there
				w.parts = parts
			}
			w.Done()
		}()
	}
	if err := g.ended(c.Name); err != nil {
		panic(err)
	}
	if c.Debug != nil {
		err = e.debugged(c.Debug, g.Ctx, ins, nums, outs)
	} else {
		err = e.Code.Run(g.Ctx, g.stream().of(e.Code), ins, nums, outs)
	}
	if err != nil {
		if ended := g.ended(c.Name); ended != nil {
			panic(ended)
		}
		failed("compile", err)
	}
	done = true
	for _, l := range e.leaves {
		l.store(g, outs)
	}
	runtime.KeepAlive(g)
	return e.results(g, outs), true
}

// bind fills the working memory of a call: the views of the inputs, and the locks of their memory
// and of leaves whose gradients the call changes. It writes fields one by one: copying a struct
// right after its fields were stored stalls on store forwarding.
func (e *Entry) bind(c *CompiledFunc, g *Supplied) {
	n := len(e.sources)
	g.ins, g.views = slices.Grow(g.ins[:0], n)[:n], slices.Grow(g.views[:0], n)[:n]
	k := len(e.fixed)
	g.wants = append(slices.Grow(g.wants[:0], n), e.fixed...)[:n]
	for i := range e.sources {
		s := &e.sources[i]
		if s.Kind == fromCapture {
			g.ins[i] = &s.At
			continue
		}
		v := &g.views[i]
		v.DType, v.Offset, v.Shape, v.Strides = s.At.DType, s.At.Offset, s.At.Shape, s.At.Strides
		if s.Kind == FromArgument {
			t := g.Tensors[s.Index]
			v.Store = t.v.Store
			v.Offset += t.v.Offset
		} else if v.Store = s.leaf.gradient(g); v.Store == nil {
			continue // the leaf lost its gradient
		}
		g.ins[i] = v
		w := &g.wants[k]
		w.Lock, w.Write, w.Of = &v.Store.Lock, e.changes[i], v.Store
		k++
	}
	g.wants = g.wants[:k]
	for _, l := range e.leaves {
		g.wants = append(g.wants, lock.Want{Lock: &l.history(g).calls, Write: true})
	}
	if e.ordered {
		g.wants = append(g.wants, lock.Want{Lock: &c.step, Write: true})
	}
	n = len(e.Outs)
	g.outs = slices.Grow(g.outs[:0], n)[:n]
}

// locked reports whether the gradients of leaves are still where they were before the locks were taken.
func (e *Entry) locked(g *Supplied) bool {
	for i := range e.sources {
		if s := &e.sources[i]; s.Kind == fromGrad {
			st := s.leaf.gradient(g)
			if st == nil || !slices.ContainsFunc(g.wants, func(w lock.Want) bool { return w.Lock == &st.Lock }) {
				return false
			}
		}
	}
	return true
}

// Refused returns the error of a call that cannot take its locks.
func (g *Supplied) Refused(name string, err error) error {
	switch {
	case errors.Is(err, lock.ErrInside):
		return &array.Error{Kind: array.Misuse, Op: name, Msg: "is called by a function that runs inside a call, on the same goroutine, and one of the two writes memory that both use: the inner call would wait for ever. Make it after the outer one", Err: err}
	case errors.Is(err, lock.ErrCircle):
		return &array.Error{Kind: array.Misuse, Op: name, Msg: "is called by a function that runs inside a call, and waits for memory of another call that waits for memory of this one: both would wait for ever. Make it after the outer one", Err: err}
	}
	if ended := g.ended(name); ended != nil {
		return ended
	}
	return err
}

// stream returns the stream of the first argument that has one, nil if none has.
func (g *Supplied) stream() *Stream {
	if !streamTracked.Load() {
		return nil
	}
	for _, t := range g.Tensors {
		if s := t.run.stream(); s != nil {
			return s
		}
	}
	return nil
}

// results returns the tensors among the results of a call.
func (e *Entry) results(g *Supplied, outs []array.View) []*Tensor {
	var r *Run
	for _, t := range g.Tensors {
		if t.run == nil || t.run == r {
			continue
		}
		if r == nil {
			r = t.run
		} else {
			r = r.merge("compile", t.run)
		}
	}
	if len(e.roots) == 1 && e.roots[0].out >= 0 { // one piece of memory
		one := &struct {
			t    Tensor
			list [1]*Tensor
		}{t: Tensor{v: outs[e.roots[0].out], run: r}}
		one.list[0] = &one.t
		one.t.Track()
		return one.list[:]
	}
	ts := make([]*Tensor, len(e.roots))
	for i, x := range e.roots {
		switch {
		case x.arg >= 0:
			ts[i] = g.Tensors[x.arg]
		case x.captured != nil:
			ts[i] = x.captured
		case x.out >= 0:
			ts[i] = &Tensor{v: outs[x.out], run: r}
			ts[i].Track()
		}
	}
	return ts
}

// A leafState is what a function does with the gradient of a leaf.
type leafState struct {
	h    *History
	arg  int  // the argument that is the leaf, -1: it is captured
	read bool // the function reads the gradient that the leaf has before the call

	// Before the trace.
	grad *Tensor
	mine bool
	rows *RowGrad

	final *Tensor // what it leaves there
	out   int     // of the graph, -1: final is what was there, or captured
}

// Enter makes calls that change the gradient of a leaf wait until the trace of this goroutine, which
// does so for a time, is over. It comes before [History.Touch].
func (h *History) Enter() {
	if tr := TracingHere(); tr != nil && tr.byLeaf[h] == nil {
		tr.held = append(tr.held, (&Supplied{}).hold("compile", &h.calls))
	}
}

// Touch notes that the trace of this goroutine uses the gradient of a leaf; read, that what
// was there before counts. The caller holds h.mu.
func (h *History) Touch(read bool) {
	tr := TracingHere()
	if tr == nil || tr.byLeaf[h] != nil {
		return
	}
	if read && h.Rows != nil {
		tr.outside++
		h.Fill()
		tr.outside--
	}
	l := &leafState{h: h, read: read, grad: h.Grad, mine: h.Mine, rows: h.Rows}
	tr.byLeaf[h] = l
	tr.Leaves = append(tr.Leaves, l)
	h.Mine, h.Rows = false, nil // nothing is given back
	if read && h.Grad != nil {
		if tr.cells[h.Grad.v.Store] != nil {
			array.Failf("compile", "", "the gradient of a leaf is captured and used by Backward too%s", Here())
		}
		tr.Input(Source{Kind: fromGrad, At: block(&h.Grad.v, true), leaf: l})
	}
}

// end brings the leaf back to what it was.
func (l *leafState) end() {
	l.h.Mu.Lock()
	l.h.Grad, l.h.Mine, l.h.Rows = l.grad, l.mine, l.rows
	l.h.Mu.Unlock()
}

func (l *leafState) history(g *Supplied) *History {
	if l.arg >= 0 {
		return g.Tensors[l.arg].hist
	}
	return l.h
}

// gradient returns the memory of the leaf's gradient, nil if it has none.
func (l *leafState) gradient(g *Supplied) *array.Storage {
	h := l.history(g)
	h.Mu.Lock()
	defer h.Mu.Unlock()
	if h.Grad == nil {
		return nil
	}
	return h.Grad.v.Store
}

// ready reports whether the leaf has a gradient exactly if it had one before the trace.
func (l *leafState) ready(g *Supplied) bool {
	if !l.read {
		return true
	}
	h := l.history(g)
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.Fill()
	if (h.Grad == nil) != (l.grad == nil) {
		return false
	}
	return l.grad == nil || h.Grad.v.Same(&array.View{Store: h.Grad.v.Store, DType: l.grad.v.DType, Offset: l.grad.v.Offset, Shape: l.grad.v.Shape, Strides: l.grad.v.Strides})
}

// store puts the gradient that a call computed into the leaf.
func (l *leafState) store(g *Supplied, outs []array.View) {
	if l.final != nil && l.final == l.grad {
		return // written where it was
	}
	h := l.history(g)
	h.Mu.Lock()
	defer h.Mu.Unlock()
	if h.Mine && h.lent == 0 && h.Grad != nil {
		Free(h.Grad.v.Store)
	}
	if h.Rows != nil && h.lent == 0 {
		h.Rows.free()
	}
	h.Grad, h.Mine, h.Rows = l.final, false, nil
	if l.out >= 0 {
		h.Grad, h.Mine = &Tensor{v: outs[l.out]}, true
	}
}
