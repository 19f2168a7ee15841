package weft

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/lock"
	"weft/internal/op"
	"weft/internal/plan"
	"weft/internal/profile"
	"weft/internal/rewrite"
	"weft/internal/tracing"
)

// maxTraces is the maximum number of programs that a Compiled keeps.
const maxTraces = 32

// maxTries is the maximum number of times that a call looks for its program. It looks again if
// another goroutine changed which leaves have gradients.
const maxTries = 1000

// maxDepth is the maximum nesting of calls of compiled functions in a trace.
const maxDepth = 200

// maxWhy is the maximum number of lines of [Compiled.Why].
const maxWhy = 64

// compileOff makes calls run the function itself.
var compileOff = os.Getenv("WEFT_COMPILE") == "off"

// A compiledFunc is a function of tensors with its programs.
type compiledFunc struct {
	name    string
	line    *uintptr
	level   tracing.Level
	scoped  bool       // calls inside WithoutGrad record nothing: they have programs of their own
	hold    bool       // draws leave generators where they are
	private bool       // uses nothing that others change
	debug   *debugging // set in the copy that Debug returns, else nil

	making  lock.Lock  // held while a program is made
	mu      sync.Mutex // guards writes of the two fields below
	step    lock.Lock  // held by calls that work on the host, one at a time
	entries atomic.Pointer[[]*entry]
	why     []string
}

// A body runs a function on tensors. It returns the tensors of its results and the rest of them, or
// the error that the function returns.
type body func(args []*Tensor) (ts []*Tensor, rest any, err error)

// inline runs f, which calls the function, and reports true where calls are not compiled: in a trace
// and with WEFT_COMPILE=off.
func (c *compiledFunc) inline(g *supplied, f func()) bool {
	tr := tracingHere()
	if !compileOff && tr == nil {
		return false
	}
	if !c.private {
		held := g.alone(c.name)
		defer held.Release()
	}
	if err := g.ended(c.name); err != nil {
		panic(err)
	}
	if tr != nil {
		if tr.depth++; tr.depth > maxDepth {
			array.Failf("compile", "", "%s calls itself, or compiled functions call one another, %d deep while one is traced: a call in a trace runs the function once more, so recursion must end by Go values, not by elements%s", c.name, maxDepth, here())
		}
		defer func() { tr.depth-- }()
	}
	f()
	return true
}

// run runs the program for the arguments. It traces f if there is none. It returns the program and the
// tensors of the results.
func (c *compiledFunc) run(g *supplied, f body) (*entry, []*Tensor) {
	for range maxTries {
		e := c.find(g)
		if e == nil {
			if e = c.make(g, f); e.code == nil {
				return e, nil // the function returned an error
			}
		}
		if ts, ok := e.run(c, g); ok {
			return e, ts
		}
	}
	array.Failf("compile", "", "leaves lost or got gradients while the function was compiled: another goroutine changes them")
	return nil, nil
}

func (c *compiledFunc) reasons() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.why, "\n")
}

// find returns the program for the arguments, nil if there is none.
func (c *compiledFunc) find(g *supplied) *entry {
	list := c.entries.Load()
	if list == nil {
		return nil
	}
	noGrad := c.scoped && !gradOn()
	for _, e := range *list {
		if e.sig.noGrad == noGrad && e.sig.fits(g) && e.ready(g) {
			return e
		}
	}
	return nil
}

// make traces the function for the arguments.
func (c *compiledFunc) make(g *supplied, f body) *entry {
	held := g.hold(c.name, &c.making)
	defer held.Release()
	if e := c.find(g); e != nil {
		return e
	}
	sig := g.signature(c.scoped && !gradOn())
	e := c.trace(g, sig, f)
	if e.code == nil {
		return e
	}
	var list []*entry
	if old := c.entries.Load(); old != nil {
		list = *old
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	why := fmt.Sprintf("traced %s: the first call", c.name)
	if len(list) > 0 {
		why = fmt.Sprintf("traced %s: %s", c.name, list[0].sig.differs(&sig))
	}
	if c.why = append(c.why, why); len(c.why) > maxWhy {
		c.why = c.why[1:]
	}
	list = append([]*entry{e}, list[:min(len(list), maxTraces-1)]...)
	c.entries.Store(&list)
	return e
}

// uncompiled is the lock of calls with WEFT_COMPILE=off.
var uncompiled lock.Lock

// alone runs calls of uncompiled functions one at a time, because the memory that they use is not
// known. A call in a trace does not wait.
func (g *supplied) alone(name string) lock.Held {
	if tracingHere() != nil {
		return lock.Held{}
	}
	return g.hold(name, &uncompiled)
}

// oneTrace lets one trace run at a time, because a trace changes leaves.
var oneTrace lock.Lock

// hold takes a lock while a program is made. It does nothing if the goroutine holds the lock.
func (g *supplied) hold(name string, l *lock.Lock) lock.Held {
	held, err := lock.Acquire(g.ctx, []lock.Want{{Lock: l, Write: true}}, jit.Goroutine, true)
	if err != nil && !errors.Is(err, lock.ErrInside) {
		panic(g.refused(name, err))
	}
	return held
}

// trace runs the function on abstract tensors and compiles the graph that it records.
func (c *compiledFunc) trace(g *supplied, sig signature, f body) *entry {
	defer profile.InPhase("trace")()
	var held lock.Held
	if !c.private {
		held = g.hold(c.name, &oneTrace)
		defer func() { held.Release() }() // unless it was
	}
	tr := newTrace(c.line)
	if c.hold {
		tr.drew = map[*Generator]int{}
	}
	ended := false
	defer func() {
		if !ended {
			tr.end()
		}
	}()
	args := tr.arguments(g, sig)
	e := &entry{sig: sig, given: args}
	ts, rest, err := f(args)
	if err != nil {
		e.err = err
		return e
	}
	e.rest = rest
	dst := tr.finish(e, ts)
	ended = true
	tr.end()
	held.Release()
	e.level, e.dst = c.level, dst
	e.compile(c.name)
	return e
}

// arguments makes abstract tensors for the arguments of a call.
func (tr *trace) arguments(g *supplied, sig signature) []*Tensor {
	stores := make([]*array.Storage, len(g.tensors))
	out := make([]*Tensor, len(g.tensors))
	if len(g.tensors) > 0 {
		tr.device = g.tensors[0].v.Store.Device
	}
	shift := make([]int, len(g.tensors)) // of the offset
	for i, t := range g.tensors {
		if t.v.Store.Device != tr.device {
			array.Failf("compile", "", "arguments are on two devices")
		}
		if k := sig.tensors[i].same; k >= 0 {
			stores[i], shift[i] = stores[k], shift[k]
		} else {
			at := block(&t.v, false)
			for j := i + 1; j < len(g.tensors); j++ {
				if sig.tensors[j].same != i {
					continue
				}
				o := &g.tensors[j].v
				if o.DType != at.DType {
					array.Failf("compile", "", "arguments %d and %d are views of the same memory with different element types", i, j)
				}
				l, h := o.Span()
				lo, hi := at.Span()
				if l != h && (l < lo || h > hi) {
					lo, hi = min(lo, l), max(hi, h)
					at = array.View{Store: at.Store, DType: at.DType, Offset: lo, Shape: []int{hi - lo}, Strides: []int{1}}
				}
			}
			stores[i], shift[i] = tr.storage(t.v.Store.Bytes), at.Offset
			s := source{kind: fromArgument, index: i, at: at}
			s.at.Store, s.at.Offset = stores[i], 0
			tr.args[t.v.Store] = stores[i]
			tr.input(s)
			// Where the elements are from the first of the argument's.
			tr.sources[len(tr.sources)-1].at.Offset = at.Offset - t.v.Offset
			tr.cells[stores[i]].at.Offset = 0
		}
		a := &Tensor{v: array.View{Store: stores[i], DType: t.v.DType, Offset: t.v.Offset - shift[i], Shape: t.v.Shape, Strides: t.v.Strides}}
		switch k := sig.tensors[i].twin; {
		case k >= 0: // the same leaf again
			a.hist = out[k].hist
		case sig.tensors[i].leaf:
			a.RequireGrad()
			l := t.node().leaf
			a.hist.sparse.Store(l.sparse.Load())
			func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				tr.aside(l.fill)
				a.hist.grad = l.grad // the function adds to this gradient
			}()
		}
		out[i] = a
	}
	return out
}

// finish collects the outputs of the graph, which are results, writes and gradients, and their layouts.
func (tr *trace) finish(e *entry, results []*Tensor) (dst []plan.Sig) {
	if tr.refused != nil {
		panic(tr.refused)
	}
	out := func(n *ir.Node, strides []int, source int) int {
		e.outs = append(e.outs, n)
		e.into = append(e.into, source)
		s := plan.Sig{}
		if strides != nil {
			s = plan.Sig{DType: n.DType, Shape: n.Shape, Strides: strides}
		}
		dst = append(dst, s)
		return len(e.outs) - 1
	}
	for _, t := range results {
		t.check("compile")
		r := resultTensor{traced: t, out: -1, arg: slices.Index(e.given, t)}
		switch {
		case r.arg >= 0:
		case !t.v.Store.Abstract:
			r.captured = t
		default:
			var strides []int
			if _, ok := dense(&t.v); ok && !t.v.Contiguous() {
				strides = t.v.Strides
			}
			r.out = out(tr.value(&t.v), strides, -1)
		}
		e.roots = append(e.roots, r)
	}
	for _, l := range tr.leaves {
		l.h.mu.Lock()
		l.final, l.out = l.h.grad, -1
		l.h.mu.Unlock()
		l.arg = slices.IndexFunc(e.given, func(t *Tensor) bool { return t.hist == l.h })
		if l.final != nil && l.final != l.grad && l.final.v.Store.Abstract {
			l.out = out(tr.value(&l.final.v), nil, -1)
		}
		e.writes = true
	}
	e.held = map[*array.Storage]bool{}
	for i := range tr.sources {
		s := &tr.sources[i]
		if s.kind == fromCapture {
			e.held[s.at.Store] = true
			if s.pc == 0 {
				s.pc = tr.caller()
			}
		}
		if s.cell.written {
			out(s.cell.node, s.at.Strides, i)
			e.writes = true
		}
	}
	e.ordered = len(tr.undo) > 0
	e.writes = e.writes || e.ordered
	e.changes = make([]bool, len(tr.sources))
	for _, i := range e.into {
		if i >= 0 {
			e.changes[i] = true
		}
	}
	for i := range tr.sources {
		if s := &tr.sources[i]; s.kind == fromCapture {
			e.fixed = append(e.fixed, lock.Want{Lock: &s.at.Store.Lock, Write: e.changes[i], Of: s.at.Store})
		}
	}
	e.calls = callsHost(e.outs)
	if tr.shared != 0 && e.writes {
		array.Failf("compile", "", "an argument shares its memory with a tensor that the function captures, and the function writes%s: capture it or give it, not both", at(tr.shared))
	}
	e.device, e.sources, e.numbers, e.host, e.leaves, e.from = tr.device, tr.sources, tr.numbers, tr.host, tr.leaves, tr.from
	return dst
}

// callsHost reports whether the graph has operations of the user, also in loops and branches.
func callsHost(outs []*ir.Node) bool {
	if len(outs) == 0 {
		return false
	}
	for id, need := range ir.Reach(outs) {
		n := outs[0].Graph.Nodes[id]
		if !need {
			continue
		}
		switch a := n.Attrs.(type) {
		case op.Looping:
			if callsHost(a.Body.Nodes()) {
				return true
			}
		case op.Branches:
			if callsHost(a.Then.Nodes()) || callsHost(a.Else.Nodes()) {
				return true
			}
		}
		if n.Op == op.Host {
			return true
		}
	}
	return false
}

// compile plans the graph.
func (e *entry) compile(name string) {
	for i := range e.sources {
		s := &e.sources[i]
		if s.kind == fromCapture && s.cell.written {
			s.tensor = &Tensor{v: s.at}
		}
		s.part, s.cell = s.cell.part, nil
	}
	sigs, outs := e.sigs(), e.outs
	e.traced = e.from
	if len(outs) > 0 {
		r := rewrite.Run(outs, rewrite.Level(e.level))
		report(&r.Report)
		outs = r.Outs
		from := make([]origin, len(r.Origin))
		for i, id := range r.Origin {
			if id >= 0 && int(id) < len(e.from) {
				from[i] = e.from[id]
			}
		}
		e.from = from
	}
	p := &plan.Plan{Inputs: len(sigs), Slots: make([]plan.Slot, len(sigs))}
	if len(outs) > 0 {
		built := profile.InPhase("plan")
		p = plan.BuildInto(outs, sigs, e.dst, e.into)
		built()
	}
	e.code = compile(name, p, e.device)
	e.code.Failed = e.failed
	for i := range e.roots {
		e.roots[i].traced = nil
	}
}

// sigs describes the inputs.
func (e *entry) sigs() []plan.Sig {
	sigs := make([]plan.Sig, len(e.sources))
	for i := range e.sources {
		sigs[i] = plan.SigOf(&e.sources[i].at)
	}
	return sigs
}

// report adds the time of rewriting to a profile, by phase and by rule.
func report(r *rewrite.Report) {
	rec := profile.On()
	if rec == nil {
		return
	}
	for _, p := range r.Phases {
		rec.Add("rewrite: "+p.Phase.String(), int64(p.Passes), p.Time)
	}
	for _, u := range r.Rules {
		rec.Rule(u.Name, int64(u.Count), u.Time)
	}
}

// failed returns the error of a step with the line of the user's code that it comes from.
func (e *entry) failed(step *plan.Step, err error) error {
	n := step.Node
	if n == nil && step.Kernel != nil && step.Kernel.List != nil {
		n = step.Kernel.List.Node
	}
	x, ok := err.(*array.Error)
	if !ok || n == nil || n.ID >= len(e.from) {
		return err
	}
	c, o := *x, e.from[n.ID]
	if o.called != "" {
		c.Op = o.called
	} else if c.Op == "" {
		c.Op = o.op
	}
	c.Msg += at(o.pc)
	return &c
}
