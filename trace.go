package weft

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

// A trace is a Go function of tensors on its way to become one graph. While the function
// runs, nothing is computed: what would run a plan adds the plan's graph to that of the trace.
//
// Tensors made meanwhile have abstract storages, without memory. For each storage, abstract
// or captured, the trace keeps a cell: the node that the memory would hold by now. Reading a
// view is a window on that node, writing into it makes another node the cell's. A storage
// with memory that is read is an input of the graph, one that is written is an output too.
type trace struct {
	calls   []string // functions that run now, outermost first, for errors
	g       *ir.Graph
	device  uint8
	thread  uintptr // which goroutine
	over    atomic.Bool
	refused error
	depth   int // of calls of compiled functions inside one another
	outside int // how deep in functions that run as if there were no trace
	line    *uintptr
	inner   *trace                     // one that runs inside this one, of a function for one example
	outer   *trace                     // the one that this one runs inside
	seen    map[*array.Storage]*Tensor // of Vmap: what was captured
	made    map[*array.Storage]bool    // of Vmap: memory of what was computed while f ran

	cells   map[*array.Storage]*cell
	windows map[windowKey]windowOn
	from    []origin // by node

	sources   []source           // inputs, by number
	numbers   int                // given anew by each call
	callee    bool               // the trace is of a function that others run: draws are arguments of it
	drawn     []drawing          // by it
	drew      map[*Generator]int // unless nil, calls leave generators where they are: the draws so far
	host      []func(nums []exec.Number) (undo func())
	undo      []func()
	leaves    []*leafState
	byLeaf    map[*history]*leafState
	held      []lock.Held                       // locks of leaves
	args      map[*array.Storage]*array.Storage // of arguments: their stand-ins
	constants []*Tensor                         // constants that are not scalars, all with different elements
	shared    uintptr                           // the line that captured the memory of an argument, if one did
}

// An origin is where a node comes from: the user's line, and the operation that it wrote.
type origin struct {
	pc     uintptr
	op     string
	called string // what the user called, where that is another name ([array.Named])
}

// A source says where a call finds an input.
type source struct {
	kind  sourceKind
	at    array.View // of the elements that are read: in order, without gaps
	index int        // of the argument
	leaf  *leafState // whose gradient it is
	pc    uintptr    // of the line that captured it
	cell  *cell

	tensor *Tensor            // of what is captured and written
	part   []op.StridedWindow // of what is written, unless it is all
}

type sourceKind uint8

const (
	fromArgument sourceKind = iota
	fromCapture
	fromGrad
)

// A cell is what a storage holds at some moment of a trace.
type cell struct {
	at      array.View // which elements of the storage: in order, without gaps
	node    *ir.Node   // their value, nil: undefined
	seen    map[string]*ir.Node
	source  int // -1: none
	written bool
	part    []op.StridedWindow // what was written, unless it was all
	taken   bool               // without a gradient: writing into it does not write where that is
}

// maxWindows is how many windows on a cell are told apart.
const maxWindows = 16

// A windowKey is a view of a storage.
type windowKey struct {
	store  *array.Storage
	layout string
}

// A windowOn is by what operation a view was taken of another one.
type windowOn struct {
	of array.View
	d  *op.Def
	a  ir.Attrs
}

// running has the traces under way by goroutine. Only while [array.Tracing] is on does an
// operation ask whether it belongs to one.
var running sync.Map // uintptr -> *trace

// tracingHere returns the trace of this goroutine, nil if there is none.
func tracingHere() *trace {
	if !array.Tracing.On() {
		return nil
	}
	if tr, ok := running.Load(jit.Goroutine()); ok && tr.(*trace).outside == 0 {
		return tr.(*trace)
	}
	return nil
}

// tracingOf returns the trace that operands belong to: that of the goroutine too, if they are
// all captured.
func tracingOf(ops []operand) *trace {
	if !array.Tracing.On() {
		return nil
	}
	for i := range ops {
		if t := ops[i].t; t != nil {
			if tr := traceOf(t.v.Store); tr != nil {
				return tr
			}
		}
	}
	return tracingHere()
}

func tracingViews(vs ...*array.View) *trace {
	if !array.Tracing.On() {
		return nil
	}
	for _, v := range vs {
		if tr := traceOf(v.Store); tr != nil {
			return tr
		}
	}
	return tracingHere()
}

// traceOf returns the trace that owns an abstract storage.
func traceOf(st *array.Storage) *trace {
	if st == nil || !st.Abstract {
		return nil
	}
	tr := st.Owner().(*trace)
	tr.refuseOver()
	for tr.inner != nil {
		tr = tr.inner
	}
	return tr
}

func (tr *trace) refuseOver() {
	if tr.over.Load() {
		array.Failf("compile", "", "a tensor that a compiled function made while it was traced is used after that: results are what the function returns, other variables of Go keep nothing of a call%s", here())
	}
}

// at is the place of a program counter for messages.
func at(pc uintptr) string {
	if line := array.Place(pc); line != "" {
		return " (at " + line + ")"
	}
	return ""
}

// here is the user's line for messages.
func here() string {
	if tr := tracingHere(); tr != nil {
		return at(tr.caller())
	}
	return at(array.Caller())
}

// refuseHost panics where a function that is being traced does on the host what no call
// would do again.
func refuseHost(opName, what string) {
	if tracingHere() != nil {
		failHost(opName, what)
	}
}

func failHost(opName, what string) {
	err := array.Errorf(opName, "", "%s inside a compiled function, which is traced once for many calls: %s%s", what, "elements are known only when it is called. Return the tensor, choose between values with Where, or do it outside", here())
	if tr := tracingHere(); tr != nil && tr.refused == nil {
		tr.refused = err // also where nobody lets the panic pass, as package fmt
	}
	panic(err)
}

// once reports whether the trace is made for one call, as by Vmap. There, values that do not depend
// on examples are the same when f runs and when its graph runs. A trace around it may be run many
// times.
func (tr *trace) once() bool { return tr.seen != nil && tr.outer == nil }

// known reports whether the results of an operation are computed while f runs, so that f can read
// their elements. Requires a trace made for one call and operands that all have elements. Results
// written into existing memory are not known.
func (tr *trace) known(ops []operand, outs []array.View) bool {
	if !tr.once() {
		return false
	}
	some := false
	for i := range ops {
		if t := ops[i].t; t != nil {
			if some = true; t.v.Store.Abstract || tr.wrote(t) {
				return false
			}
		}
	}
	return some && !slices.ContainsFunc(outs, func(v array.View) bool { return v.Store != nil })
}

// wrote reports that t's memory holds what the trace wrote there, which only its graph computes.
func (tr *trace) wrote(t *Tensor) bool {
	c := tr.cells[t.v.Store]
	return c != nil && c.written
}

// keep notes results of known: the graph may read their memory, so that it is not given back
// while f runs.
func (tr *trace) keep(outs []array.View) {
	if tr.made == nil {
		tr.made = map[*array.Storage]bool{}
	}
	for i := range outs {
		tr.made[outs[i].Store] = true
	}
}

// isTraced reports whether t's elements cannot be read. Either t is a value of a trace, which may
// be over, or this goroutine traces a function that may run many times.
func (t *Tensor) isTraced() bool {
	if t.v.Store == nil || t.v.Store.Abstract {
		return t.v.Store != nil
	}
	tr := tracingHere()
	return tr != nil && (!tr.once() || tr.wrote(t))
}

// refuseRead is refuseHost for elements of t.
func refuseRead(opName string, t *Tensor) {
	if !array.Tracing.On() && !t.v.Store.Abstract {
		return
	}
	if tr := tracingViews(&t.v); tr != nil && (t.v.Store.Abstract || !tr.once() || tr.wrote(t)) {
		failHost(opName, "reads a traced value on the host (a branch, Item, Data)")
	}
}

// ungraded returns t's memory cut from the tape. In a function that is differentiated when it has
// been traced that is another value, which an op.Stop node computes.
func (t *Tensor) ungraded() array.View {
	if !array.Tracing.On() || t.node() == nil {
		return t.v
	}
	return cutView(t.v)
}

// cutView returns what v holds as a constant to gradients taken of the graph of a trace.
func cutView(v array.View) array.View {
	tr := tracingViews(&v)
	if tr == nil || !tr.callee {
		return v
	}
	if !v.Store.Abstract && tr.once() { // memory of its own, which the trace knows by no gradient
		var c array.View
		tr.aside(func() { c = (&Tensor{v: v}).Clone().v })
		tr.keep([]array.View{c})
		tr.cellOf(&c).taken = true // a write would not reach v
		return c
	}
	c := tr.result(op.Apply(op.Stop, nil, tr.value(&v)))
	tr.cells[c.Store].taken = true
	return c
}

// newTrace begins a trace on this goroutine.
func newTrace(line *uintptr) *trace {
	tr := &trace{g: ir.New(), thread: jit.Goroutine(), line: line, cells: map[*array.Storage]*cell{}, windows: map[windowKey]windowOn{}, byLeaf: map[*history]*leafState{}, args: map[*array.Storage]*array.Storage{}}
	array.Tracing.Enter()
	running.Store(tr.thread, tr)
	return tr
}

// end is called when the function has returned, or panicked, and brings what it changed in Go
// back to what it was.
func (tr *trace) end() {
	running.Delete(tr.thread)
	array.Tracing.Leave()
	tr.over.Store(true)
	for _, f := range slices.Backward(tr.undo) {
		f()
	}
	for _, l := range tr.leaves {
		l.end()
	}
	for i := range slices.Backward(tr.held) {
		tr.held[i].Release()
	}
}

// storage returns an abstract storage.
func (tr *trace) storage(bytes int) *array.Storage {
	return array.NewAbstract(bytes, tr.device, tr, func() {
		tr.refuseOver()
		failHost("compile", "uses the memory of a traced value")
	})
}

// fresh returns a new view, in row-major order, whose elements are undefined.
func (tr *trace) fresh(d DType, shape []int) array.View {
	v := array.View{Store: tr.storage(array.Size(shape) * d.Size()), DType: d, Shape: shape, Strides: array.RowMajor(shape)}
	tr.cells[v.Store] = &cell{at: v, source: -1}
	return v
}

// result returns a new view whose value a node is.
func (tr *trace) result(n *ir.Node) array.View {
	v := tr.fresh(n.DType, n.Shape)
	tr.cells[v.Store].node = n
	return v
}

// mark notes where the nodes from number first on come from.
func (tr *trace) mark(first int, opName string) {
	if len(tr.g.Nodes) <= len(tr.from) {
		return
	}
	o := origin{pc: tr.caller(), op: opName}
	if len(tr.calls) > 0 {
		o.called = tr.calls[0]
	}
	for len(tr.from) < first {
		tr.from = append(tr.from, origin{})
	}
	for len(tr.from) < len(tr.g.Nodes) {
		tr.from = append(tr.from, o)
	}
}

// caller is the user's line.
func (tr *trace) caller() uintptr {
	if tr.line != nil && *tr.line != 0 {
		return *tr.line
	}
	return array.Caller()
}

// add copies the graph of roots into that of the trace: ins stand for its inputs, nums for its
// numbers, which become constants unless each call gives them.
func (tr *trace) add(opName string, roots, ins []*ir.Node, nums []exec.Number) []*ir.Node {
	first := len(tr.g.Nodes)
	reach := ir.Reach(roots)
	nodes := make([]*ir.Node, len(reach))
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
			args := make([]*ir.Node, len(n.Args))
			for i, a := range n.Args {
				args[i] = nodes[a.ID]
			}
			if n.Results != nil {
				nodes[id] = tr.g.Several(n.Op, n.Attrs, n.Results, args...)
			} else {
				nodes[id] = tr.g.Node(n.Op, n.Attrs, n.DType, n.Shape, n.Weak, args...)
			}
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
func (tr *trace) number(opName string, n *ir.Node, x exec.Number) *ir.Node {
	lo, hi := n.Bounds()
	if x.Live > 0 {
		if b, ok := n.Attrs.(ir.Bounds); ok {
			b.Arg = int(x.Live - 1)
			return tr.g.Node(n.Op, b, n.DType, nil, n.Weak)
		}
		return tr.g.Scalar(int(x.Live-1), n.DType, n.Weak)
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
func (tr *trace) constant(x exec.Number, d DType, weak bool) *ir.Node {
	if d.Float() {
		return tr.g.Node(ir.Const, ir.Value{Float: x.Real(d)}, d, nil, weak)
	}
	bits := int64(x.Bits(d))
	if rest := 64 - 8*d.Size(); rest > 0 && !d.Unsigned() && d != Bool {
		bits = bits << rest >> rest
	}
	return tr.g.Node(ir.Const, ir.Value{Int: bits}, d, nil, weak)
}

// scalar is a 0-d tensor of a number.
func (tr *trace) scalar(x exec.Number, d DType) array.View {
	if x.Live > 0 {
		return tr.result(tr.g.Scalar(int(x.Live-1), d, false))
	}
	return tr.result(tr.constant(x, d, false))
}

// live makes a number that each call gives: what read, called at every call in the order in
// which the function's host work is, returns; undo, unless nil, is called if the call fails.
func (tr *trace) live(n int, read func(nums []exec.Number)) (first int32) {
	at := tr.numbers
	tr.numbers += n
	tr.host = append(tr.host, func(nums []exec.Number) func() {
		read(nums[at : at+n])
		return nil
	})
	return int32(at + 1)
}

// A drawing is some draws of a generator, one after the other: of a function, those of one run.
type drawing struct {
	from  *Generator
	count int
	short bool // the number of a draw has 32 bits
}

// draws makes room for draws in each call: the numbers are their seed and which is the first.
func (tr *trace) draws(d drawing) (seed, first exec.Number) {
	seed, first = word(0).num, word(0).num
	if tr.callee {
		tr.drawn = append(tr.drawn, d)
		seed.Live, first.Live = int32(tr.numbers+1), int32(tr.numbers+2)
		tr.numbers += 2
		return seed, first
	}
	before := 0
	if tr.drew != nil {
		before = tr.drew[d.from]
		tr.drew[d.from] += d.count
	}
	at := tr.live(2, func(nums []exec.Number) {
		var s GeneratorState
		if tr.drew == nil {
			s = d.from.skip(d.count)
		} else {
			s = d.from.skip(0)
			s.Draw += uint64(before)
		}
		nums[0], nums[1] = word(s.Seed).num, word(s.Draw).num
		if d.short {
			nums[1].Int &= low32
		}
	})
	seed.Live, first.Live = at, at+1
	return seed, first
}

// do does what every call does on the host, now too; end undoes it.
func (tr *trace) do(do, undo func()) {
	tr.aside(do)
	tr.undo = append(tr.undo, undo)
	tr.host = append(tr.host, func([]exec.Number) func() {
		do()
		return undo
	})
}

// keepHistory lets a captured tensor have the history that it has now when the trace is over:
// what is written into it in calls carries no gradients.
func (tr *trace) keepHistory(t *Tensor) {
	h := t.hist
	if h == nil {
		tr.undo = append(tr.undo, func() {
			if t.hist != nil { // others may read it
				t.hist = nil
			}
		})
		return
	}
	node, frozen := h.node, h.frozen.Load()
	tr.undo = append(tr.undo, func() {
		if h.node != node {
			h.node = node
		}
		h.frozen.Store(frozen)
	})
}

// aside runs f as if there were no trace.
func (tr *trace) aside(f func()) {
	tr.outside++
	defer func() { tr.outside-- }()
	f()
}

// operand returns the value of what an operation reads, and keeps in mind what was captured.
func (tr *trace) operand(t *Tensor) *ir.Node {
	t = t.cutHere()
	tr.captured(t)
	return tr.value(&t.v)
}

// captured notes t if it is a tensor that a mapped function captures.
func (tr *trace) captured(t *Tensor) {
	if st := t.v.Store; tr.seen != nil && (!st.Abstract || st.Owner() != any(tr)) {
		tr.capture(t)
	}
}

// captureHere is captured for what is copied without an operation.
func captureHere(t *Tensor) {
	if tr := tracingViews(&t.v); tr != nil {
		tr.captured(t)
	}
}

// capture notes the tensor whose memory a mapped function reads. What it computed itself of such
// tensors may be written to: then the history counts that it had before.
func (tr *trace) capture(t *Tensor) {
	r, _ := t.root()
	if !tr.made[r.v.Store] {
		tr.seen[r.v.Store] = r
	} else if !tr.wrote(r) {
		tr.seen[r.v.Store] = &Tensor{v: r.v, run: r.run, hist: &history{node: r.node()}}
	}
}

// compute adds a planned operation: a view with a Store receives the result there.
func (tr *trace) compute(p *planned, ops []operand, outs []array.View) {
	ins := make([]*ir.Node, 0, len(ops))
	var nums []exec.Number
	for i := range ops {
		if ops[i].t == nil {
			nums = ops[i].numbers(nums)
			continue
		}
		ops[i].t.check(p.def.Name)
		ins = append(ins, tr.operand(ops[i].t))
	}
	for i, n := range tr.added(&p.mu, p.def.Name, p.results, ins, nums) {
		if outs[i].Store == nil {
			outs[i] = tr.result(n)
		} else {
			tr.write(&outs[i], n)
		}
	}
}

// added adds the graph of results to that of the trace while it holds mu. Adding panics where a
// number does not fit.
func (tr *trace) added(mu *sync.Mutex, name string, results func() []*ir.Node, ins []*ir.Node, nums []exec.Number) []*ir.Node {
	mu.Lock()
	defer mu.Unlock()
	return tr.add(name, results(), ins, nums)
}

// gradient adds the gradient of an operation.
func (tr *trace) gradient(v *vjp, n *gradNode, ins []*array.View, outs []array.View) {
	nodes := make([]*ir.Node, len(ins))
	for i, x := range ins {
		if x.Store != nil && v.use[i] {
			nodes[i] = tr.value(x)
		}
	}
	for i, g := range tr.added(&v.mu, n.p.def.Name, func() []*ir.Node { return v.outs }, nodes, n.nums) {
		outs[i] = tr.result(g)
	}
}

// copy writes src, converted and broadcast, into dst.
func (tr *trace) copy(dst, src *array.View) {
	first := len(tr.g.Nodes)
	x := op.Convert(tr.value(src), dst.DType)
	if !array.Equal(x.Shape, dst.Shape) {
		x = op.Apply(op.Expand, op.Shape(dst.Shape), x)
	}
	tr.mark(first, "copy")
	tr.write(dst, x)
}

// draw is a draw of n numbers as a vector.
func (tr *trace) draw(opName string, kind op.Distribution, d DType, n int, nums []exec.Number) *ir.Node {
	k := kind.Block(d)
	m := (n + k - 1) / k
	g := ir.New()
	args := make([]*ir.Node, len(nums))
	for i := range args {
		args[i] = g.Scalar(i, Int64, true)
	}
	parts := tr.add(opName, kind.Draw(m, d, args[0], args[1], args[2:]...), nil, nums)
	first := len(tr.g.Nodes)
	for i, p := range parts {
		parts[i] = reshapeTo(p, []int{m, 1})
	}
	x := reshapeTo(op.Apply(op.Cat, op.Axis(1), parts...), []int{m * k})
	if n < m*k {
		x = op.Narrow(x, 0, 0, n)
	}
	tr.mark(first, opName)
	return x
}
