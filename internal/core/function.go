package core

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/lock"
	"weft/internal/op"
	"weft/internal/packed"
	"weft/internal/plan"
	"weft/internal/profile"
	"weft/internal/rewrite"
)

// maxTries is the maximum number of times that a call looks for its program. It looks again if
// another goroutine changed which leaves have gradients.
const maxTries = 1000

// maxDepth is the maximum nesting of calls of compiled functions in a trace.
const maxDepth = 200

// CompileOff makes calls run the function itself.
var CompileOff = os.Getenv("WEFT_COMPILE") == "off"

// Options say how a function is compiled.
type Options struct {
	Name string // in errors, profiles and [CompiledFunc.Reasons]
	// Line is where the function writes to which line of the user the next operation belongs, as a
	// program counter of runtime.Callers; 0 is the nearest caller outside the module, which is also
	// what nil stands for. Errors name that line: of shapes and types while the function is
	// traced, of values (an index out of range) when it is called.
	Line  *uintptr
	Level rewrite.Level
	Rules []*rewrite.Rule // nil: the rules up to Level
	Debug *Debugging      // nil: calls show nothing
	// Args are names of arguments, and Label that of captured memory or "", for what shows programs.
	Args  []string
	Label func(*array.Storage) string

	Scoped  bool // calls inside WithoutGrad record nothing: they have programs of their own
	Hold    bool // calls leave generators where they are: each draws the same
	Private bool // uses no memory that others change: tracing it waits for no other trace
}

// rules returns the rules that rewrite the graph.
func (o *Options) rules() []*rewrite.Rule {
	if o.Rules != nil {
		return o.Rules
	}
	return rewrite.UpTo(o.Level)
}

// A CompiledFunc is a function of tensors with its programs.
type CompiledFunc struct {
	Options

	making  lock.Lock  // held while a program is made
	step    lock.Lock  // held by calls that work on the host, one at a time
	mu      sync.Mutex // guards writes of the fields below
	Entries atomic.Pointer[[]*Entry]
	why     []string
	made    int // programs so far
}

// A body runs a function on tensors. It returns the tensors of its results, which may be nil, and the
// Go values that hold them if there are some, which the program keeps, or the error that the function returns.
type body func(args []*Tensor) (ts []*Tensor, rest any, err error)

// inline runs f, which calls the function, and reports true where calls are not compiled: in a trace
// and with WEFT_COMPILE=off.
func (c *CompiledFunc) inline(g *Supplied, f func()) bool {
	tr := TracingHere()
	if !CompileOff && tr == nil {
		return false
	}
	if !c.Private {
		held := g.alone(c.Name)
		defer held.Release()
	}
	if err := g.ended(c.Name); err != nil {
		panic(err)
	}
	if tr != nil {
		if tr.depth++; tr.depth > maxDepth {
			array.Failf("compile", "", "%s calls itself, or compiled functions call one another, %d deep while one is traced: a call in a trace runs the function once more, so recursion must end by Go values, not by elements%s", c.Name, maxDepth, Here())
		}
		defer func() { tr.depth-- }()
	}
	f()
	return true
}

// run runs the program for the arguments. It traces f if there is none. It returns the program and the
// tensors of the results.
func (c *CompiledFunc) run(g *Supplied, f body) (*Entry, []*Tensor) {
	for range maxTries {
		e := c.find(g)
		if e == nil {
			if e = c.create(g, f); e.Code == nil {
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

// find returns the program for the arguments, nil if there is none.
func (c *CompiledFunc) find(g *Supplied) *Entry {
	list := c.Entries.Load()
	if list == nil {
		return nil
	}
	mode := c.modeHere()
	for _, e := range *list {
		if e.sig.mode == mode && e.sig.fits(g) && e.ready(g) {
			return e.Use()
		}
	}
	return nil
}

// create traces the function for the arguments.
func (c *CompiledFunc) create(g *Supplied, f body) *Entry {
	held := g.hold(c.Name, &c.making)
	defer held.Release()
	if e := c.find(g); e != nil {
		return e
	}
	sig := g.signature(c.modeHere())
	e := c.trace(g, sig, f)
	if e.Code == nil {
		return e
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(e)
	return e
}

// uncompiled is the lock of calls with WEFT_COMPILE=off.
var uncompiled lock.Lock

// alone runs calls of uncompiled functions one at a time, because the memory that they use is not
// known. A call in a trace does not wait.
func (g *Supplied) alone(name string) lock.Held {
	if TracingHere() != nil {
		return lock.Held{}
	}
	return g.hold(name, &uncompiled)
}

// oneTrace lets one trace run at a time, because a trace changes leaves.
var oneTrace lock.Lock

// hold takes a lock while a program is made. It does nothing if the goroutine holds the lock.
func (g *Supplied) hold(name string, l *lock.Lock) lock.Held {
	held, err := lock.Acquire(g.Ctx, []lock.Want{{Lock: l, Write: true}}, jit.Goroutine, true)
	if err != nil && !errors.Is(err, lock.ErrInside) {
		panic(g.Refused(name, err))
	}
	return held
}

// trace runs the function on abstract tensors and compiles the graph that it records.
func (c *CompiledFunc) trace(g *Supplied, sig signature, f body) *Entry {
	defer profile.InPhase("trace")()
	e := c.record(g, sig, f, together)
	if e.Err == nil {
		e.compile(c.Name)
	}
	return e
}

// A parting says whether a graph is recorded to be saved, apart from the tensors that the function
// captures.
type parting uint8

const (
	together   parting = iota
	apart              // captured tensors among the results become results of the graph
	apartTight         // and captured memory ends with the tensor that is first seen in it
)

// record runs the function on abstract tensors and returns the graph that it records.
func (c *CompiledFunc) record(g *Supplied, sig signature, f body, apart parting) *Entry {
	var held lock.Held
	if !c.Private {
		held = g.hold(c.Name, &oneTrace)
		defer held.Release()
	}
	tr := NewTrace(c.Line)
	tr.apart, tr.tight = apart != together, apart == apartTight
	if c.Hold {
		tr.drew = map[*Generator]int{}
	}
	ended := false
	defer func() {
		if !ended {
			tr.End()
		}
	}()
	args := tr.arguments(g, sig)
	e := &Entry{sig: sig, given: args, options: &c.Options}
	ts, rest, err := f(args)
	if err != nil {
		e.Err = err
		return e
	}
	e.rest = rest
	dst := tr.finish(e, ts)
	ended = true
	tr.End()
	e.dst = dst
	return e
}

// finish collects the outputs of the graph, which are results, writes and gradients, and their layouts.
func (tr *Trace) finish(e *Entry, results []*Tensor) (dst []plan.Sig) {
	if tr.Refused != nil {
		panic(tr.Refused)
	}
	out := func(n *ir.Node, strides []int, source int) int {
		e.Outs = append(e.Outs, n)
		e.into = append(e.into, source)
		s := plan.Sig{}
		if strides != nil {
			s = plan.Sig{DType: n.DType, Shape: n.Shape, Strides: strides}
		}
		dst = append(dst, s)
		return len(e.Outs) - 1
	}
	for _, t := range results {
		if t == nil {
			e.roots = append(e.roots, resultTensor{out: -1, arg: -1})
			continue
		}
		t.Check("compile")
		r := resultTensor{traced: t, out: -1, arg: slices.Index(e.given, t)}
		switch {
		case r.arg >= 0:
		case !t.v.Store.Abstract && !tr.literals[t.v.Store] && !tr.apart:
			r.captured = t
		default:
			var strides []int
			if _, ok := dense(&t.v); ok && !t.v.Contiguous() {
				strides = t.v.Strides
			}
			r.out = out(tr.Value(&t.v), strides, -1)
		}
		e.roots = append(e.roots, r)
	}
	for _, l := range tr.Leaves {
		l.h.Mu.Lock()
		l.final, l.out = l.h.Grad, -1
		l.h.Mu.Unlock()
		l.arg = slices.IndexFunc(e.given, func(t *Tensor) bool { return t.hist == l.h })
		if l.arg >= 0 && !e.sig.tensors[l.arg].leaf {
			array.Failf("compile", "", "tensor %d of the arguments became a leaf by RequireGrad inside the function, and Backward leaves a gradient in it: call RequireGrad before the call, or on its Detach()", l.arg)
		}
		if l.final != nil && l.final != l.grad && l.final.v.Store.Abstract {
			l.out = out(tr.Value(&l.final.v), nil, -1)
		}
		e.writes = true
	}
	e.held = map[*array.Storage]bool{}
	for i := range tr.Sources {
		s := &tr.Sources[i]
		if s.Kind == fromCapture {
			e.held[s.At.Store] = true
			if s.PC == 0 {
				s.PC = tr.caller()
			}
		}
		if tr.literals[s.At.Store] {
			s.Cell.Written = false // each call wrote into a copy
		}
		if s.Cell.Written {
			out(s.Cell.node, s.At.Strides, i)
			e.writes = true
		}
	}
	e.ordered = len(tr.Undo) > 0
	e.writes = e.writes || e.ordered
	e.changes = make([]bool, len(tr.Sources))
	for _, i := range e.into {
		if i >= 0 {
			e.changes[i] = true
		}
	}
	for i := range tr.Sources {
		if s := &tr.Sources[i]; s.Kind == fromCapture {
			if !e.changes[i] {
				packed.Keep(s.At.Store)
			}
			e.fixed = append(e.fixed, lock.Want{Lock: &s.At.Store.Lock, Write: e.changes[i], Of: s.At.Store})
		}
	}
	e.calls = CallsHost(e.Outs)
	tr.checkArguments()
	if tr.shared != 0 && e.writes {
		array.Failf("compile", "", "an argument shares its memory with a tensor that the function captures, and the function writes%s: capture it or give it, not both", At(tr.shared))
	}
	e.device, e.sources, e.numbers, e.host, e.live, e.leaves, e.From = tr.Device, tr.Sources, tr.Numbers, tr.Host, tr.live, tr.Leaves, tr.from
	return dst
}

// CallsHost reports whether the graph has operations of the user, also in loops and branches.
func CallsHost(outs []*ir.Node) bool {
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
			if CallsHost(a.Body.Nodes()) {
				return true
			}
		case op.Branches:
			if CallsHost(a.Then.Nodes()) || CallsHost(a.Else.Nodes()) {
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
func (e *Entry) compile(name string) {
	for i := range e.sources {
		s := &e.sources[i]
		if s.Kind == fromCapture && s.Cell.Written {
			s.tensor = &Tensor{v: s.At}
		}
		s.part, s.Cell = s.Cell.part, nil
	}
	sigs, outs := e.sigs(), e.Outs
	e.Traced = e.From
	if len(outs) > 0 {
		r := rewrite.RunRules(outs, e.options.rules(), nil)
		report(&r.Report)
		outs = r.Outs
		from := make([]origin, len(r.Origin))
		for i, id := range r.Origin {
			if id >= 0 && int(id) < len(e.From) {
				from[i] = e.From[id]
			}
		}
		e.From = from
	}
	p := &plan.Plan{Inputs: len(sigs), Slots: make([]plan.Slot, len(sigs))}
	if len(outs) > 0 {
		built := profile.InPhase("plan")
		p = plan.BuildInto(outs, sigs, e.dst, e.into, device.Get(e.device).Model())
		built()
	}
	e.Code = Compile(name, p, e.device)
	e.Code.Failed, e.Code.Lines = e.failed, e.lines
	for i := range e.roots {
		e.roots[i].traced = nil
	}
}

// sigs describes the inputs.
func (e *Entry) sigs() []plan.Sig {
	sigs := make([]plan.Sig, len(e.sources))
	for i := range e.sources {
		sigs[i] = plan.SigOf(&e.sources[i].At)
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

// failedKernel returns an error of the device with the operations that a kernel computes, as the user
// called them, and the line of the last.
func (e *Entry) failedKernel(k *plan.Kernel, x *array.Error) error {
	if x.Kind != array.DeviceFailed && x.Kind != array.OutOfMemory {
		return x
	}
	const most = 4
	var names []string
	line := ""
	for _, id := range k.Nodes {
		if int(id) >= len(e.From) {
			continue
		}
		o := e.From[id]
		if at := At(o.pc); at != "" {
			line = at
		}
		if name := cmp.Or(o.called, o.op); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return x
	}
	if len(names) > most {
		names = append(names[:most], "...")
	}
	c := *x
	c.Op = strings.Join(names, "+")
	c.Msg = strings.TrimSuffix(c.Msg, line) + line // which a device that works late has added
	return &c
}

// failed returns the error of a step with the line of the user's code that it comes from.
func (e *Entry) failed(step *plan.Step, err error) error {
	n := step.Node
	if n == nil && step.Kernel != nil && step.Kernel.Ragged != nil {
		n = step.Kernel.Ragged.Node
	}
	x, ok := err.(*array.Error)
	if ok && n == nil && step.Kernel != nil {
		return e.failedKernel(step.Kernel, x)
	}
	if !ok || n == nil || n.ID >= len(e.From) {
		return err
	}
	c, o := *x, e.From[n.ID]
	if o.called != "" {
		c.Op = o.called
	} else if c.Op == "" {
		c.Op = o.op
	}
	line := At(o.pc)
	c.Msg = strings.TrimSuffix(c.Msg, line) + line
	return &c
}
