package weft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
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

// A Compiled is a Go function of tensors that runs as one program: see [Compile]. It is safe
// for concurrent use by several goroutines. Memory that was there before a call, of captured
// tensors, arguments and gradients of leaves, is locked while the call runs. A call that writes it
// waits for all calls, of this and of other functions, that use it. Calls that only read it run at
// once. So none sees a state between two, and no update is lost. Eager operations and [Data] do not
// wait: they must not touch memory that a call may be writing.
//
// A function of the user that runs inside a call, such as an operation of package sym, may call
// others. A call there that would wait for itself is an *[Error].
type Compiled[F any] struct {
	fn F
	c  *compiledFunc
}

// Compile returns f compiled: the first [Compiled.Call] runs f once on tensors without memory,
// which notes its operations, and makes one program of them that later calls run instead of f.
// What f computes is what it would compute without Compile, to the bit.
//
//	step := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor {
//		loss := nn.CrossEntropy(net.Forward(x), y)
//		loss.Backward()
//		opt.Step()
//		opt.ZeroGrad()
//		return loss
//	})
//	loss, err := step.Call(x, y)
//
// Arguments and results may be tensors, lists of package ragged, and structs, arrays, slices
// and maps of them; an error may be the last result. Numbers, strings and pointers, such as to a module, are part of what
// is compiled: another value compiles anew, as does another shape, layout or element type. The
// 32 programs made last are kept; [Compiled.Why] says why there is more than one.
//
// Tensors that f captures are read and written where they are, in each call: parameters,
// running means, the state of optimizers. Learning rates, numbers of steps and random draws
// are those of the call. Gradients that f leaves in leaves are put there by each call; a
// gradient that nobody needs after the step costs nothing if f forgets it (ZeroGrad last).
//
// Everything else that f does in Go happens while it is traced, and not again: it must not print or
// count, and Go variables that it captures keep the values, and tensors, that they had. It runs on
// one goroutine. Reading elements on the host fails with an error that names the line: Item, Data,
// Borrow, a branch on elements, a selection by a mask. Printing shows type and shape. Results, and
// what is written into captured tensors, carry no gradients: take those inside f. What no result
// needs, and no write, is not computed and raises no error.
//
// With the environment variable WEFT_COMPILE=off calls run f itself. Compile panics with
// *[Error] if f is no function of such types.
func Compile[F any](f F) *Compiled[F] {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		array.Failf("compile", "f", "is %T: want a function of tensors", f)
	}
	return &Compiled[F]{fn: f, c: newCompiledFunc(v)}
}

// Call calls the compiled function and returns its result, nil if it has none; a function of
// several results, or of results other than a tensor, is called by [Compiled.Func]. The error
// is an *[Error], of what fails in the call or in tracing it, with the line of f at fault, or
// the error that f returns.
func (c *Compiled[F]) Call(args ...any) (*Tensor, error) {
	c.notNil("call")
	return c.c.call(context.Background(), args)
}

// CallContext is [Compiled.Call] that stops when ctx ends: between operations, steps of loops and
// pieces of kernels. It returns an *[Error] that wraps the cause. What the function writes may then
// be written in part.
func (c *Compiled[F]) CallContext(ctx context.Context, args ...any) (*Tensor, error) {
	c.notNil("call")
	if ctx == nil {
		return nil, array.Errorf("compile", "ctx", "is nil")
	}
	return c.c.call(ctx, args)
}

// Func returns the compiled function as a function of f's type. It panics with *[Error] where
// Call returns one, unless the last result is an error.
func (c *Compiled[F]) Func() F {
	c.notNil("func")
	return c.c.makeFunc().Interface().(F)
}

// Why says why the function was traced, a line each time, the latest last.
func (c *Compiled[F]) Why() string {
	c.notNil("why")
	return c.c.reasons()
}

func (c *compiledFunc) reasons() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.why, "\n")
}

func (c *Compiled[F]) notNil(opName string) {
	if c == nil || c.c == nil {
		array.Failf("compile", "", "%s of a Compiled that is nil or zero (Compile makes one)", opName)
	}
}

// maxTraces bounds the programs that a Compiled keeps.
const maxTraces = 32

// maxTries is how often a call looks for its program while others give leaves gradients, or take
// them, that it was made for.
const maxTries = 1000

// maxDepth is how deep calls of compiled functions in a trace may lie inside one another.
const maxDepth = 200

// maxWhy bounds the lines of Why.
const maxWhy = 64

// compileOff makes calls run the function itself.
var compileOff = os.Getenv("WEFT_COMPILE") == "off"

// A compiledFunc is a function with its programs.
type compiledFunc struct {
	f       reflect.Value
	t       reflect.Type
	name    string
	failed  bool // the last result is an error
	direct  func(args []*Tensor) []*Tensor
	line    *uintptr
	level   tracing.Level
	hold    bool       // draws leave generators where they are
	private bool       // uses nothing that others change
	debug   *DebugOpts // nil but for what Debug returns

	making  lock.Lock  // of who makes a program
	mu      sync.Mutex // of the two below, to change them
	step    lock.Lock  // of calls that do something on the host, one at a time
	entries atomic.Pointer[[]*entry]
	why     []string
}

var (
	tensorType = reflect.TypeFor[*Tensor]()
	errorType  = reflect.TypeFor[error]()
)

func newCompiledFunc(f reflect.Value) *compiledFunc {
	c := &compiledFunc{f: f, t: f.Type(), name: "function"}
	if rf := runtime.FuncForPC(f.Pointer()); rf != nil {
		c.name = rf.Name()
	}
	n := c.t.NumOut()
	c.failed = n > 0 && c.t.Out(n-1) == errorType
	seen := map[reflect.Type]bool{}
	for i := range c.t.NumIn() {
		checkType(c.t.In(i), fmt.Sprintf("argument %d", i), seen)
	}
	for i := range n {
		if i < n-1 || !c.failed {
			checkType(c.t.Out(i), fmt.Sprintf("result %d", i), seen)
		}
	}
	return c
}

// checkType refuses types that values of a compiled function cannot have.
func checkType(t reflect.Type, what string, seen map[reflect.Type]bool) {
	if _, ok := tracing.Kinds[t]; ok || t == tensorType || seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		checkType(t.Elem(), what, seen)
	case reflect.Map:
		switch t.Key().Kind() {
		case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		default:
			array.Failf("compile", "f", "%s has a map by %s: want strings or integers", what, t.Key())
		}
		checkType(t.Elem(), what, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				array.Failf("compile", "f", "%s is %s by value, which has fields that are not exported: give a pointer, which is part of what is compiled", what, t)
			}
			checkType(f.Type, what, seen)
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr:
		array.Failf("compile", "f", "%s is %s, which a compiled function cannot take or return", what, t)
	}
}

// argument is the type of argument i of a call.
func (c *compiledFunc) argument(i int) reflect.Type {
	last := c.t.NumIn() - 1
	if c.t.IsVariadic() && i >= last {
		return c.t.In(last).Elem()
	}
	return c.t.In(i)
}

// call calls with Go values.
func (c *compiledFunc) call(ctx context.Context, args []any) (*Tensor, error) {
	n := c.t.NumOut()
	if c.failed {
		n--
	}
	if n > 1 || n == 1 && c.t.Out(0) != tensorType {
		return nil, array.Errorf("compile", "", "Call returns one tensor or none, the function %d results of other types: use Func", n)
	}
	g := supplied{tensors: make([]*Tensor, 0, 4)}
	if ctx.Done() != nil { // one that cannot end needs no looking
		g.ctx = ctx
	}
	err := Try(func() {
		if !c.t.IsVariadic() && len(args) != c.t.NumIn() || len(args) < c.t.NumIn()-1 {
			array.Failf("compile", "", "the function takes %d arguments, got %d", c.t.NumIn(), len(args))
		}
		for i, x := range args {
			want := c.argument(i)
			if t, ok := x.(*Tensor); ok && want == tensorType && t != nil {
				g.add(t)
				continue
			}
			if x != nil && !reflect.TypeOf(x).AssignableTo(want) {
				array.Failf("compile", "", "argument %d is %T, want %s", i, x, want)
			}
			v := reflect.New(want).Elem() // an interface too, of which the type inside counts
			if x != nil {
				v.Set(reflect.ValueOf(x))
			}
			g.collect(v)
		}
	})
	if err != nil {
		return nil, err
	}
	values := func() (in []reflect.Value) {
		for i, x := range args {
			v := reflect.ValueOf(x)
			if x == nil {
				v = reflect.Zero(c.argument(i))
			}
			in = append(in, v)
		}
		return in
	}
	var e *entry
	var ts []*Tensor
	var plain []reflect.Value
	if err := Try(func() { e, ts, plain = c.run(&g, values) }); err != nil {
		return nil, err
	}
	if e == nil { // f ran itself
		if c.failed && !plain[n].IsNil() {
			return nil, plain[n].Interface().(error)
		}
		if n == 1 {
			return plain[0].Interface().(*Tensor), nil
		}
		return nil, nil
	}
	if e.err != nil {
		return nil, e.err
	}
	if n == 1 && len(ts) == 1 {
		return ts[0], nil
	}
	return nil, nil
}

// makeFunc returns the compiled function with the type of the original.
func (c *compiledFunc) makeFunc() reflect.Value {
	return reflect.MakeFunc(c.t, func(in []reflect.Value) []reflect.Value {
		var out []reflect.Value
		err := Try(func() {
			g := supplied{}
			args := in
			if c.t.IsVariadic() {
				last := in[len(in)-1]
				args = slices.Clone(in[:len(in)-1])
				for i := range last.Len() {
					args = append(args, last.Index(i))
				}
			}
			for _, v := range args {
				g.collect(v)
			}
			e, ts, plain := c.run(&g, func() []reflect.Value { return args })
			if e == nil { // f ran itself
				out = plain
				return
			}
			if e.code == nil { // it returned an error
				out = c.zeros(e.err)
				return
			}
			k := 0
			for _, v := range e.results {
				out = append(out, replaced(v, func(*Tensor) *Tensor { k++; return ts[k-1] }))
			}
			if c.failed {
				out = append(out, errorValue(e.err))
			}
		})
		if err == nil {
			return out
		}
		if !c.failed {
			panic(err)
		}
		return c.zeros(err)
	})
}

// zeros are the results of a function that returns an error.
func (c *compiledFunc) zeros(err error) []reflect.Value {
	var out []reflect.Value
	for i := range c.t.NumOut() - 1 {
		out = append(out, reflect.Zero(c.t.Out(i)))
	}
	return append(out, errorValue(err))
}

func errorValue(err error) reflect.Value {
	v := reflect.New(errorType).Elem()
	if err != nil {
		v.Set(reflect.ValueOf(err))
	}
	return v
}

// run runs the program for the arguments, tracing the function where there is none, and
// returns it with the tensors of the results; or it runs the function itself, whose results
// are plain.
func (c *compiledFunc) run(g *supplied, values func() []reflect.Value) (e *entry, ts []*Tensor, plain []reflect.Value) {
	if compileOff || tracingHere() != nil {
		held := g.alone(c.name)
		defer held.Release()
		if err := g.ended(c.name); err != nil {
			panic(err)
		}
		if tr := tracingHere(); tr != nil {
			if tr.depth++; tr.depth > maxDepth {
				array.Failf("compile", "", "%s calls itself, or compiled functions call one another, %d deep while one is traced: a call in a trace runs the function once more, so recursion must end by Go values, not by elements%s", c.name, maxDepth, here())
			}
			defer func() { tr.depth-- }()
		}
		return nil, nil, c.f.Call(values())
	}
	for range maxTries {
		if e = c.find(g); e == nil {
			if e = c.make(g, values); e.code == nil {
				return e, nil, nil // it returned an error
			}
		}
		if ts, ok := e.run(c, g); ok {
			return e, ts, nil
		}
	}
	array.Failf("compile", "", "leaves lost or got gradients while the function was compiled: another goroutine changes them")
	return nil, nil, nil
}

// find returns the program for the arguments, nil if there is none.
func (c *compiledFunc) find(g *supplied) *entry {
	list := c.entries.Load()
	if list == nil {
		return nil
	}
	noGrad := c.direct == nil && !gradOn()
	for _, e := range *list {
		if e.sig.noGrad == noGrad && e.sig.fits(g) && e.ready(g) {
			return e
		}
	}
	return nil
}

// make traces the function for the arguments.
func (c *compiledFunc) make(g *supplied, values func() []reflect.Value) *entry {
	held := g.hold(c.name, &c.making)
	defer held.Release()
	if e := c.find(g); e != nil {
		return e
	}
	sig := g.signature(c.direct == nil && !gradOn())
	e := c.trace(g, sig, values)
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

// replay runs a function of another package, which records whatever the caller's scopes say.
func (c *compiledFunc) replay(args []*Tensor) (ts []*Tensor) {
	recording(true, func() { ts = c.direct(args) })
	return ts
}

// uncompiled is the lock of calls with WEFT_COMPILE=off.
var uncompiled lock.Lock

// alone makes calls of uncompiled functions run one at a time, because the memory that they use is
// not known. In a trace there is nothing to wait for.
func (g *supplied) alone(name string) lock.Held {
	if tracingHere() != nil {
		return lock.Held{}
	}
	return g.hold(name, &uncompiled)
}

// oneTrace is the lock of traces, which change leaves while they go on: one at a time.
var oneTrace lock.Lock

// hold takes a lock for a function that is made. If the goroutine has it already, it keeps it.
func (g *supplied) hold(name string, l *lock.Lock) lock.Held {
	held, err := lock.Acquire(g.ctx, []lock.Want{{Lock: l, Write: true}}, nil, jit.Goroutine, true)
	if err != nil && !errors.Is(err, lock.ErrInside) {
		panic(g.refused(name, err))
	}
	return held
}

// trace runs the function on abstract tensors and compiles what it did.
func (c *compiledFunc) trace(g *supplied, sig signature, values func() []reflect.Value) *entry {
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
	if c.direct != nil {
		for _, t := range c.replay(args) {
			e.results = append(e.results, reflect.ValueOf(t)) // of a nil tensor too
		}
	} else {
		k := 0
		next := func(*Tensor) *Tensor { k++; return args[k-1] }
		in := slices.Clone(values())
		for i, v := range in {
			in[i] = replaced(v, next)
		}
		e.results = c.f.Call(in)
	}
	if c.failed {
		last := len(e.results) - 1
		if x := e.results[last]; !x.IsNil() {
			e.err = x.Interface().(error)
			return e
		}
		e.results = e.results[:last]
	}
	dst := tr.finish(e)
	ended = true
	tr.end()
	held.Release()
	e.level, e.dst = c.level, dst
	e.compile(c.name)
	return e
}

// arguments makes abstract tensors for those of a call.
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
			l.mu.Lock()
			tr.aside(l.fill)
			a.hist.grad = l.grad // what the function adds to
			l.mu.Unlock()
		}
		out[i] = a
	}
	return out
}

// finish gathers what a call gives and leaves behind: the outputs of the graph and the layouts
// in which they are wanted.
func (tr *trace) finish(e *entry) (dst []plan.Sig) {
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
	result := func(t *Tensor) *Tensor {
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
		return t
	}
	for _, v := range e.results {
		replaced(v, result)
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

// callsHost reports that the graph has operations of the user, also in loops and branches.
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

// report tells a profile what rewriting took, by phase and by rule.
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

// failed is the error of a step with the line of the user that it comes from.
func (e *entry) failed(step *plan.Step, err error) error {
	x, ok := err.(*array.Error)
	if !ok || step.Node == nil || step.Node.ID >= len(e.from) {
		return err
	}
	c, o := *x, e.from[step.Node.ID]
	if c.Op == "" {
		c.Op = o.op
	}
	c.Msg += at(o.pc)
	return &c
}
