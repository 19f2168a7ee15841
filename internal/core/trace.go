package core

import (
	"slices"
	"sync"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/lock"
	"weft/internal/op"
)

// A Trace is a Go function of tensors on its way to become one graph. While the function
// runs, nothing is computed: what would run a plan adds the plan's graph to that of the trace.
//
// Tensors made meanwhile have abstract storages, without memory. For each storage, abstract
// or captured, the trace keeps a cell: the node that the memory would hold by now. Reading a
// view is a window on that node, writing into it makes another node the cell's. A storage
// with memory that is read is an input of the graph, one that is written is an output too.
type Trace struct {
	Calls   []string // functions that run now, outermost first, for errors
	G       *ir.Graph
	Device  uint8
	placed  bool    // an argument, or memory that was used, is on Device
	Thread  uintptr // which goroutine
	over    atomic.Bool
	Refused error
	depth   int // of calls of compiled functions inside one another
	outside int // how deep in functions that run as if there were no trace
	Line    *uintptr
	Inner   *Trace                     // one that runs inside this one, of a function for one example
	Outer   *Trace                     // the one that this one runs inside
	Seen    map[*array.Storage]*Tensor // of Vmap: what was captured
	Made    map[*array.Storage]bool    // of Vmap: memory of what was computed while f ran

	cells   map[*array.Storage]*cell
	windows map[windowKey]windowOn
	from    []origin // by node

	Sources    []Source           // inputs, by number
	Numbers    int                // given anew by each call
	tight      bool               // captured memory ends with the tensor that is first seen in it
	apart      bool               // the graph is saved: it must not depend on what sizes are multiples of
	Callee     bool               // the trace is of a function that others run: draws are arguments of it
	Backwards  int                // how many Backwards of functions of the user's own it is traced inside
	drawn      []Drawing          // by it
	drew       map[*Generator]int // unless nil, calls leave generators where they are: the draws so far
	Host       []func(nums []exec.Number) (undo func())
	live       []liveNumbers // what Host does
	Undo       []func()
	Leaves     []*leafState
	byLeaf     map[*History]*leafState
	held       []lock.Held                       // locks of leaves
	args       map[*array.Storage]*array.Storage // of arguments: their stand-ins
	argSources []*argSource                      // the memory of arguments
	constants  []constant                        // constants that are not scalars, all with different elements
	literals   map[*array.Storage]bool           // memory of arrays that the traced function made of Go values
	shared     uintptr                           // the line that captured the memory of an argument, if one did
}

// An origin is where a node comes from: the user's line, and the operation that it wrote.
type origin struct {
	pc     uintptr
	op     string
	called string // what the user called, where that is another name ([array.Named])
}

// A Source says where a call finds an input.
type Source struct {
	Kind  sourceKind
	At    array.View // of the elements that are read, in the order of memory
	Index int        // of the argument
	leaf  *leafState // whose gradient it is
	PC    uintptr    // of the line that captured it
	Cell  *cell

	tensor *Tensor            // of what is captured and written
	part   []op.StridedWindow // of what is written, unless it is all
}

type sourceKind uint8

const (
	FromArgument sourceKind = iota
	fromCapture
	fromGrad
)

// cell stands for a storage during a trace: node is the value that the memory would hold now.
type cell struct {
	at       array.View // which elements of the storage, in order; with gaps only as [nested] allows
	node     *ir.Node   // their value, nil: undefined
	seen     map[string]*ir.Node
	source   int // -1: none
	Written  bool
	part     []op.StridedWindow // the windows that were written, unless all was
	detached bool               // a copy without gradient (see stoppedView): a write would not reach the original
}

// MaxWindows is the maximum number of written windows that a cell remembers.
const MaxWindows = 16

// windowKey identifies a view of a storage.
type windowKey struct {
	store  *array.Storage
	layout string
}

// windowOn is the view op d, with attributes a, that made a view of another view.
type windowOn struct {
	of array.View
	d  *op.Def
	a  ir.Attrs
}

// Running has the running traces by goroutine. Operations look there only while [array.Tracing]
// is on.
var Running sync.Map // uintptr -> *trace

func init() {
	array.Calls = func() *[]string {
		if tr := TracingHere(); tr != nil {
			return &tr.Calls
		}
		return nil
	}
}

// TracingHere returns the trace of this goroutine, nil if there is none.
func TracingHere() *Trace {
	if !array.Tracing.On() {
		return nil
	}
	if tr, ok := Running.Load(jit.Goroutine()); ok && tr.(*Trace).outside == 0 {
		return tr.(*Trace)
	}
	return nil
}

// TracingOf returns the trace that operands belong to: that of the goroutine too, if they are
// all captured.
func TracingOf(ops []Operand) *Trace {
	if !array.Tracing.On() {
		return nil
	}
	for i := range ops {
		if t := ops[i].T; t != nil {
			if tr := traceOf(t.v.Store); tr != nil {
				return tr
			}
		}
	}
	return TracingHere()
}

// TracingViews returns the trace that one of the views belongs to, or that runs here; nil if none.
func TracingViews(vs ...*array.View) *Trace {
	if !array.Tracing.On() {
		return nil
	}
	for _, v := range vs {
		if tr := traceOf(v.Store); tr != nil {
			return tr
		}
	}
	return TracingHere()
}

// traceOf returns the trace that owns an abstract storage.
func traceOf(st *array.Storage) *Trace {
	if st == nil || !st.Abstract {
		return nil
	}
	tr := st.Owner().(*Trace)
	tr.refuseOver()
	for tr.Inner != nil {
		tr = tr.Inner
	}
	return tr
}

func (tr *Trace) refuseOver() {
	if tr.over.Load() {
		array.Failf("compile", "", "a tensor that a compiled function made while it was traced is used after that: results are what the function returns, other variables of Go keep nothing of a call%s", Here())
	}
}

// At is the place of a program counter for messages.
func At(pc uintptr) string {
	if line := array.Place(pc); line != "" {
		return " (at " + line + ")"
	}
	return ""
}

// Here is the user's line for messages.
func Here() string { return At(callerHere()) }

// callerHere is the user's line that this goroutine is at.
func callerHere() uintptr {
	if tr := TracingHere(); tr != nil {
		return tr.caller()
	}
	return array.Caller()
}

// RefuseHost panics where a function that is being traced does on the host what no call
// would do again.
func RefuseHost(opName, what string) {
	if TracingHere() != nil {
		failHost(opName, what)
	}
}

func failHost(opName, what string) {
	err := array.Errorf(opName, "", "%s inside a compiled function, which is traced once for many calls: %s%s", what, "elements are known only when it is called. Return the tensor, choose between values with Where or Cond, loop with While, or do it outside", Here())
	if tr := TracingHere(); tr != nil && tr.Refused == nil {
		tr.Refused = err // also where nobody lets the panic pass, as package fmt
	}
	panic(err)
}

// once reports whether the trace is made for one call, as by Vmap. There, values that do not depend
// on examples are the same when f runs and when its graph runs. A trace around it may be run many
// times.
func (tr *Trace) once() bool { return tr.Seen != nil && tr.Outer == nil }

// known reports whether the results of an operation are computed while f runs, so that f can read
// their elements. Requires a trace made for one call and operands that all have elements. Results
// written into existing memory are not known.
func (tr *Trace) known(ops []Operand, outs []array.View) bool {
	if !tr.once() {
		return false
	}
	some := false
	for i := range ops {
		if t := ops[i].T; t != nil {
			if some = true; t.v.Store.Abstract || tr.wrote(t) {
				return false
			}
		}
	}
	return some && !slices.ContainsFunc(outs, func(v array.View) bool { return v.Store != nil })
}

// wrote reports that t's memory holds what the trace wrote there, which only its graph computes.
func (tr *Trace) wrote(t *Tensor) bool {
	c := tr.cells[t.v.Store]
	return c != nil && c.Written
}

// keep notes results of known: the graph may read their memory, so that it is not given back
// while f runs.
func (tr *Trace) keep(outs []array.View) {
	if tr.Made == nil {
		tr.Made = map[*array.Storage]bool{}
	}
	for i := range outs {
		tr.Made[outs[i].Store] = true
	}
}

// IsTraced reports whether t's elements cannot be read. Either t is a value of a trace, which may
// be over, or this goroutine traces a function that may run many times.
func (t *Tensor) IsTraced() bool {
	if t.v.Store == nil || t.v.Store.Abstract {
		return t.v.Store != nil
	}
	tr := TracingHere()
	return tr != nil && (!tr.once() || tr.wrote(t))
}

// RefuseRead is [RefuseHost] for elements of t.
func RefuseRead(opName string, t *Tensor) {
	if !array.Tracing.On() && !t.v.Store.Abstract {
		return
	}
	if tr := TracingViews(&t.v); tr != nil && (t.v.Store.Abstract || !tr.once() || tr.wrote(t)) {
		failHost(opName, "reads a traced value on the host (a branch, Item, Data)")
	}
}

// DetachedView returns t's data cut from the tape. In the trace of a function that is
// differentiated afterwards that is an op.Stop node, so that the outer gradient sees the cut.
func (t *Tensor) DetachedView() array.View {
	if !array.Tracing.On() || t.Node() == nil {
		return t.v
	}
	return stoppedView(t.v)
}

// stoppedView returns v's value as a constant to gradients of the trace's graph: an op.Stop node
// or, for a value known while tracing, a copy. Outside such a trace it returns v.
func stoppedView(v array.View) array.View {
	tr := TracingViews(&v)
	if tr == nil || !tr.Callee {
		return v
	}
	if !v.Store.Abstract && tr.once() { // a copy, which has no gradient in the trace
		var c array.View
		tr.Aside(func() { c = (&Tensor{v: v}).Clone().v })
		tr.keep([]array.View{c})
		tr.cellOf(&c).detached = true // a write would not reach v
		return c
	}
	c := tr.Result(op.Apply(op.Stop, nil, tr.Value(&v)))
	tr.cells[c.Store].detached = true
	return c
}

// NewTrace begins a trace on this goroutine.
func NewTrace(line *uintptr) *Trace {
	tr := &Trace{G: ir.New(), Thread: jit.Goroutine(), Line: line, cells: map[*array.Storage]*cell{}, windows: map[windowKey]windowOn{}, byLeaf: map[*History]*leafState{}, args: map[*array.Storage]*array.Storage{}}
	if outer := TracingHere(); outer != nil {
		tr.Backwards = outer.Backwards
	}
	array.Tracing.Enter()
	Running.Store(tr.Thread, tr)
	return tr
}

// End is called when the function has returned, or panicked, and brings what it changed in Go
// back to what it was.
func (tr *Trace) End() {
	Running.Delete(tr.Thread)
	array.Tracing.Leave()
	tr.over.Store(true)
	for _, f := range slices.Backward(tr.Undo) {
		f()
	}
	for _, l := range tr.Leaves {
		l.end()
	}
	for i := range slices.Backward(tr.held) {
		tr.held[i].Release()
	}
}

// Storage returns an abstract storage.
func (tr *Trace) Storage(bytes int) *array.Storage {
	return array.NewAbstract(bytes, tr.Device, tr, func() {
		tr.refuseOver()
		failHost("compile", "uses the memory of a traced value")
	})
}

// Fresh returns a new view, in row-major order, whose elements are undefined.
func (tr *Trace) Fresh(d array.DType, shape []int) array.View {
	v := array.View{Store: tr.Storage(array.Size(shape) * d.Size()), DType: d, Shape: shape, Strides: array.RowMajor(shape)}
	tr.cells[v.Store] = &cell{at: v, source: -1}
	return v
}

// Result returns a new view whose value a node is.
func (tr *Trace) Result(n *ir.Node) array.View {
	v := tr.Fresh(n.DType, n.Shape)
	tr.cells[v.Store].node = n
	return v
}

// mark notes where the nodes from number first on come from.
func (tr *Trace) mark(first int, opName string) {
	if len(tr.G.Nodes) <= len(tr.from) {
		return
	}
	o := origin{pc: tr.caller(), op: opName}
	if len(tr.Calls) > 0 {
		o.called = tr.Calls[0]
	}
	for len(tr.from) < first {
		tr.from = append(tr.from, origin{})
	}
	for len(tr.from) < len(tr.G.Nodes) {
		tr.from = append(tr.from, o)
	}
}

// caller is the user's line.
func (tr *Trace) caller() uintptr {
	if tr.Line != nil && *tr.Line != 0 {
		return *tr.Line
	}
	return array.Caller()
}

// OnOneLine runs f, which calls nothing of the user. What this goroutine traces meanwhile comes from
// the line that the user is at now: finding it once takes less time than for each operation, and it
// is found where f nests deep calls.
func OnOneLine(f func()) {
	tr := TracingHere()
	if tr == nil {
		f()
		return
	}
	old, line := tr.Line, tr.caller()
	tr.Line = &line
	defer func() { tr.Line = old }()
	f()
}

// add copies the graph of roots into that of the trace: ins stand for its inputs, nums for its
// numbers, which become constants unless each call gives them.
func (tr *Trace) add(opName string, roots, ins []*ir.Node, nums []exec.Number) []*ir.Node {
	first := len(tr.G.Nodes)
	reach := ir.Reach(roots)
	nodes := make([]*ir.Node, len(reach))
	room := 0
	for id, need := range reach {
		if need {
			room += len(roots[0].Graph.Nodes[id].Args)
		}
	}
	all := make([]*ir.Node, 0, room) // arguments of all nodes
	for id, need := range reach {
		if !need {
			continue
		}
		switch n := roots[0].Graph.Nodes[id]; n.Op {
		case ir.Input:
			nodes[id] = ins[n.Arg()]
		case ir.Scalar, ir.Between:
			nodes[id] = tr.number(opName, n, nums[n.Arg()])
		default:
			at := len(all)
			for _, a := range n.Args {
				all = append(all, nodes[a.ID])
			}
			nodes[id] = tr.G.Copy(n, all[at:len(all):len(all)])
		}
	}
	tr.mark(first, opName)
	out := make([]*ir.Node, len(roots))
	for i, r := range roots {
		out[i] = nodes[r.ID]
	}
	return out
}

// number is what a plan's number, or whether it lies between bounds, is in the trace.
func (tr *Trace) number(opName string, n *ir.Node, x exec.Number) *ir.Node {
	lo, hi := n.Bounds()
	if x.Live > 0 {
		if b, ok := n.Attrs.(ir.Bounds); ok {
			b.Arg = int(x.Live - 1)
			return tr.G.Node(n.Op, b, n.DType, nil, n.Weak)
		}
		return tr.G.Scalar(int(x.Live-1), n.DType, n.Weak)
	}
	if n.Op == ir.Between {
		x = x.Within(lo, hi)
	} else if n.DType.Integer() {
		if err := x.Fits(opName, n.DType, lo, hi); err != nil {
			panic(err)
		}
	}
	return tr.constant(x, n.DType, n.Weak)
}

// constant is a number as an element of d.
func (tr *Trace) constant(x exec.Number, d array.DType, weak bool) *ir.Node {
	if d.Float() {
		return tr.G.Node(ir.Const, ir.Value{Float: x.Real(d)}, d, nil, weak)
	}
	bits := int64(x.Bits(d))
	if rest := 64 - 8*d.Size(); rest > 0 && !d.Unsigned() && d != array.Bool {
		bits = bits << rest >> rest
	}
	return tr.G.Node(ir.Const, ir.Value{Int: bits}, d, nil, weak)
}

// Scalar is a 0-d tensor of a number.
func (tr *Trace) Scalar(x exec.Number, d array.DType) array.View {
	if x.Live > 0 {
		return tr.Result(tr.G.Scalar(int(x.Live-1), d, false))
	}
	return tr.Result(tr.constant(x, d, false))
}

// A liveNumbers says what a function of [Trace.Host] does.
type liveNumbers struct {
	draw   *Drawing // the seed and the first of these draws
	number *HostNumber
	set    *HostVariable // to number
	pc     uintptr       // of the line
}

// Live makes a number that each call gives: what read, called at every call in the order in
// which the function's host work is, returns; undo, unless nil, is called if the call fails.
func (tr *Trace) Live(n int, read func(nums []exec.Number)) (first int32) {
	at := tr.Numbers
	tr.Numbers += n
	tr.Host = append(tr.Host, func(nums []exec.Number) func() {
		read(nums[at : at+n])
		return nil
	})
	return int32(at + 1)
}

// A Drawing is some draws of a generator, one after the other. A function has one for each run.
type Drawing struct {
	From  *Generator
	Count int
	Short bool // the number of a draw has 32 bits
}

// PlaceDraw says that the trace has a draw of a generator, on the device of that.
func (tr *Trace) PlaceDraw(g *Generator) {
	if g.device != 0 {
		tr.place(g.device)
	}
}

// Draws makes room for draws in each call: the numbers are their seed and which is the first.
func (tr *Trace) Draws(d Drawing) (seed, first exec.Number) {
	got := regionHere().drawn(func() (x drawn) {
		x.words[0], x.words[1] = tr.newDraws(d)
		return x
	})
	return got.words[0], got.words[1]
}

func (tr *Trace) newDraws(d Drawing) (seed, first exec.Number) {
	d.From = d.From.counter()
	seed, first = Word(0).Num, Word(0).Num
	if tr.Callee {
		tr.drawn = append(tr.drawn, d)
		seed.Live, first.Live = int32(tr.Numbers+1), int32(tr.Numbers+2)
		tr.Numbers += 2
		return seed, first
	}
	before := 0
	if tr.drew != nil {
		before = tr.drew[d.From]
		tr.drew[d.From] += d.Count
	}
	tr.live = append(tr.live, liveNumbers{draw: &d, pc: tr.caller()})
	at := tr.Live(2, func(nums []exec.Number) {
		var s GeneratorState
		if tr.drew == nil {
			s = d.From.Skip(d.Count)
		} else {
			s = d.From.Skip(0)
			s.Draw += uint64(before)
		}
		nums[0], nums[1] = Word(s.Seed).Num, Word(s.Draw).Num
		if d.Short {
			nums[1].Int &= low32
		}
	})
	seed.Live, first.Live = at, at+1
	return seed, first
}

// InCalls runs do. In a compiled function each call runs it again, in the order in which the function
// used InCalls and [Live]. undo takes it back, after the trace and where a call fails. A function that uses
// it cannot be saved: [SetInCalls] can.
func InCalls(do, undo func()) {
	tr := TracingHere()
	if tr == nil {
		do()
		return
	}
	tr.Aside(do)
	tr.Undo = append(tr.Undo, undo)
	tr.live = append(tr.live, liveNumbers{pc: tr.caller()})
	tr.Host = append(tr.Host, func([]exec.Number) func() {
		do()
		return undo
	})
}

// keepHistory lets a captured tensor have the history that it has now when the trace is over:
// what is written into it in calls carries no gradients.
func (tr *Trace) keepHistory(t *Tensor) {
	h := t.hist
	if h == nil {
		tr.Undo = append(tr.Undo, func() {
			if t.hist != nil { // others may read it
				t.hist = nil
			}
		})
		return
	}
	node, frozen := h.Node, h.frozen.Load()
	tr.Undo = append(tr.Undo, func() {
		if h.Node != node {
			h.Node = node
		}
		h.frozen.Store(frozen)
	})
}

// OutsideTrace runs f as if no function were traced. What f makes is memory that outlives the trace,
// such as the state of an optimizer before its first step.
func OutsideTrace(f func()) {
	if tr := TracingHere(); tr != nil {
		tr.Aside(f)
	} else {
		f()
	}
}

// Aside runs f as if there were no trace.
func (tr *Trace) Aside(f func()) {
	tr.outside++
	defer func() { tr.outside-- }()
	f()
}

// Operand returns the value of what an operation reads, and keeps in mind what was captured.
func (tr *Trace) Operand(t *Tensor) *ir.Node {
	t = t.DetachHere()
	tr.captured(t)
	return tr.Value(&t.v)
}

// captured notes t if it is a tensor that a mapped function captures.
func (tr *Trace) captured(t *Tensor) {
	if st := t.v.Store; tr.Seen != nil && (!st.Abstract || st.Owner() != any(tr)) {
		tr.capture(t)
	}
}

// literal notes memory of an array that the traced function made of Go values, such as Arange. The
// program reads it in each call as it was made. Each call has a copy of its own of what is returned
// or written into, as each run of the function would make one.
func (tr *Trace) literal(st *array.Storage) {
	if tr.literals == nil {
		tr.literals = map[*array.Storage]bool{}
	}
	tr.literals[st] = true
}

// captureHere is captured for what is copied without an operation.
func captureHere(t *Tensor) {
	if tr := TracingViews(&t.v); tr != nil {
		tr.captured(t)
	}
}

// capture notes the tensor whose memory a mapped function reads. What it computed itself of such
// tensors may be written to: then the history counts that it had before.
func (tr *Trace) capture(t *Tensor) {
	r, _ := t.root()
	if !tr.Made[r.v.Store] {
		tr.Seen[r.v.Store] = r
	} else if !tr.wrote(r) {
		tr.Seen[r.v.Store] = &Tensor{v: r.v, run: r.run, hist: &History{Node: r.Node()}}
	}
}

// Compute adds a planned operation: a view with a Store receives the result there.
func (tr *Trace) Compute(p *Planned, ops []Operand, outs []array.View) {
	ins := make([]*ir.Node, 0, len(ops))
	var nums []exec.Number
	for i := range ops {
		if ops[i].T == nil {
			nums = ops[i].numbers(nums)
			continue
		}
		ops[i].T.Check(p.def.Name)
		ins = append(ins, tr.Operand(ops[i].T))
	}
	for i, n := range tr.added(&p.mu, p.def.Name, p.results, ins, nums) {
		if outs[i].Store == nil {
			outs[i] = tr.Result(n)
		} else {
			tr.write(&outs[i], n)
		}
	}
}

// added adds the graph of results to that of the trace while it holds mu. Adding panics where a
// number does not fit.
func (tr *Trace) added(mu *sync.Mutex, name string, results func() []*ir.Node, ins []*ir.Node, nums []exec.Number) []*ir.Node {
	mu.Lock()
	defer mu.Unlock()
	return tr.add(name, results(), ins, nums)
}

// gradient adds the gradient of an operation.
func (tr *Trace) gradient(v *vjp, n *GradNode, ins []*array.View, outs []array.View) {
	nodes := make([]*ir.Node, len(ins))
	for i, x := range ins {
		if x.Store != nil && v.used[i] {
			nodes[i] = tr.Value(x)
		}
	}
	for i, g := range tr.added(&v.mu, n.p.def.Name, func() []*ir.Node { return v.outs }, nodes, n.nums) {
		outs[i] = tr.Result(g)
	}
}

// Copy writes src, converted and broadcast, into dst.
func (tr *Trace) Copy(dst, src *array.View) {
	first := len(tr.G.Nodes)
	x := op.Convert(tr.Value(src), dst.DType)
	if !array.Equal(x.Shape, dst.Shape) {
		x = op.Apply(op.Expand, op.Shape(dst.Shape), x)
	}
	tr.mark(first, "copy")
	tr.write(dst, x)
}

// Draw is a draw of n numbers as a vector.
func (tr *Trace) Draw(opName string, kind op.Distribution, d array.DType, n int, nums []exec.Number) *ir.Node {
	k := kind.Block(d)
	m := (n + k - 1) / k
	g := ir.New()
	args := make([]*ir.Node, len(nums))
	for i := range args {
		args[i] = g.Scalar(i, array.Int64, true)
	}
	parts := tr.add(opName, kind.Draw(m, d, args[0], args[1], args[2:]...), nil, nums)
	first := len(tr.G.Nodes)
	for i, p := range parts {
		parts[i] = ReshapeTo(p, []int{m, 1})
	}
	x := ReshapeTo(op.Apply(op.Cat, op.Axis(1), parts...), []int{m * k})
	if n < m*k || tr.apart {
		x = op.Narrow(x, 0, 0, n)
	}
	tr.mark(first, opName)
	return x
}
