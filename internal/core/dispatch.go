package core

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cache"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
	"weft/internal/profile"
)

// KeepAlive keeps t's memory from being collected before this call.
func KeepAlive(t *Tensor) { runtime.KeepAlive(t.v.Store) }

// Planned is an operation planned for one set of types, shapes and strides on one device. The types
// and shapes of its results are known at once. Its kernels are compiled when it first runs.
type Planned struct {
	planKey
	A       ir.Attrs
	Device  uint8
	nums    int         // Go numbers among the arguments
	Outs    []ir.Type   // of the results
	float   bool        // a result has gradients
	defined bool        // the Def alone determines the results, without a composer
	DType   array.DType // of the first result
	Shape   []int

	mu    sync.Mutex
	nodes []*ir.Node // of the results, until the plan is compiled where the Def gives them again
	dst   []plan.Sig // layouts in which the results are wanted, nil for row-major order
	ready atomic.Pointer[exec.Compiled]

	vjps [8]atomic.Pointer[vjp] // by the set of the first three arguments that need a gradient
	more sync.Map               // further ones by the set of all arguments, a string: *vjp
}

// planKey holds the properties that a plan depends on.
type planKey struct {
	def   *op.Def
	attrs string // the key of the attributes
	Nargs int    // operands that are arguments; results are written into the others
	Sigs  []sig
}

// sig holds the properties of an operand that a plan depends on.
type sig struct {
	num     bool
	kind    array.Category
	big     bool // a number beyond an int64
	DType   array.DType
	device  uint8
	Shape   []int
	Strides []int
}

func (s *sig) matches(o *Operand) bool {
	if o.T == nil {
		return s.num && s.kind == o.Num.Kind && s.big == o.Num.Big
	}
	v := &o.T.v
	return !s.num && s.DType == v.DType && s.device == v.Store.Device && array.Equal(s.Shape, v.Shape) && array.Equal(s.Strides, v.Strides)
}

const minPlans = 1 << 11

const maxPlans = 1 << 14

// Plans caches planned operations.
var Plans = cache.NewGrowing[planKey, *Planned](minPlans, maxPlans)

// Mix adds x to a hash.
func Mix(h, x uint64) uint64 {
	h ^= x
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}

func hashOperands(h uint64, ops []Operand) uint64 {
	for i := range ops {
		o := &ops[i]
		if o.T == nil {
			k := 0xf00 + uint64(o.Num.Kind)
			if o.Num.Big {
				k = 0xfff
			}
			h = Mix(h, k)
			continue
		}
		v := &o.T.v
		h = Mix(h, uint64(v.Store.Device)<<16|uint64(v.DType)<<8|uint64(len(v.Shape)))
		for k, n := range v.Shape {
			h = Mix(h, uint64(n)*31+uint64(v.Strides[k]))
		}
	}
	return h
}

// keys are buffers for the keys of attributes.
var keys = sync.Pool{New: func() any { return new([]byte) }}

// Lookup returns the planned operation, which it plans the first time. With nil attributes it uses
// the Def's attributes. Where the operation runs on another device than the host, it replaces 0-d
// operands on the host by copies there.
func Lookup(d *op.Def, a ir.Attrs, ops []Operand) *Planned {
	p := LookupInto(d, a, ops, len(ops), nil)
	if p == nil {
		moveScalars(DeviceOf(d.Name, ops), ops)
		p = LookupInto(d, a, ops, len(ops), nil)
	}
	return p
}

// composer builds the results of an operation over graph nodes, and returns the layouts in which
// they are wanted.
type composer func(p *Planned, args []*ir.Node) (outs []*ir.Node, dst []plan.Sig)

// LookupInto is [Lookup] for an operation that writes into memory that exists: the first nargs
// operands are arguments, the others receive the results. compose builds the results; nil stands
// for the Def itself. It moves no operand, so that a caller's tensors may stay on its stack: it
// returns nil if all operands are arguments and scalars must be moved.
func LookupInto(d *op.Def, a ir.Attrs, ops []Operand, nargs int, compose composer) *Planned {
	if a == nil {
		a = d.Attrs
	}
	h := hashOperands(d.Hash, ops)
	var k []byte
	if a != nil {
		buf := keys.Get().(*[]byte)
		k = a.AppendKey((*buf)[:0])
		*buf = k
		defer keys.Put(buf)
		for _, c := range k {
			h = Mix(h, uint64(c))
		}
	}
	attrs := unsafe.String(unsafe.SliceData(k), len(k))
	for e := Plans.First(h); e != nil; e = e.Next() {
		if k := e.Key(h); k != nil && k.is(d, attrs, nargs, ops) {
			return e.Use()
		}
	}
	return makePlanned(d, a, string(k), h, ops, nargs, compose)
}

func makePlanned(d *op.Def, a ir.Attrs, attrs string, h uint64, ops []Operand, nargs int, compose composer) *Planned {
	number := DeviceOf(d.Name, ops)
	p := &Planned{planKey: planKey{def: d, attrs: attrs, Nargs: nargs}, Device: number, A: ir.CopyAttrs(a)}
	for i := range ops {
		o := &ops[i]
		if o.T != nil && o.T.v.Store.Device != number {
			if nargs == len(ops) {
				return nil
			}
			// A copy of what is written would be written.
			failDevices(d.Name, o.T.v.Store.Device, number)
		}
		if o.T == nil {
			p.Sigs = append(p.Sigs, sig{num: true, kind: o.Num.Kind, big: o.Num.Big})
			p.nums++
			continue
		}
		p.Sigs = append(p.Sigs, sig{DType: o.T.v.DType, device: o.T.v.Store.Device, Shape: o.T.v.Shape, Strides: o.T.v.Strides})
	}
	if d.Unkept {
		p.infer(compose)
		return p
	}
	p, _ = Plans.Get(h, func(k *planKey) bool { return k.is(d, attrs, nargs, ops) }, p.planKey, func() (*Planned, error) {
		defer profile.InPhase("types and shapes")()
		p.infer(compose)
		return p, nil
	})
	return p
}

// is reports whether the key equals the key of this operation, attributes and operands.
func (p *planKey) is(d *op.Def, attrs string, nargs int, ops []Operand) bool {
	if p.def != d || p.attrs != attrs || p.Nargs != nargs || len(p.Sigs) != len(ops) {
		return false
	}
	for i := range ops {
		if !p.Sigs[i].matches(&ops[i]) {
			return false
		}
	}
	return true
}

// infer sets the types and shapes of the results, and checks the arguments.
func (p *Planned) infer(compose composer) {
	args := p.Inputs(ir.New())
	if compose != nil {
		p.nodes, p.dst = compose(p, args)
	} else {
		defer array.Named(p.def.Name).End() // rather than a part of a composite
		p.nodes, p.defined = op.ApplyAll(p.def, p.A, args...), true
	}
	for _, n := range p.nodes {
		p.Outs = append(p.Outs, ir.Type{DType: n.DType, Shape: n.Shape})
		p.float = p.float || n.DType.Differentiable()
	}
	p.DType, p.Shape = p.Outs[0].DType, p.Outs[0].Shape
}

// Compiled returns the operation with its kernels.
func (p *Planned) Compiled() *exec.Compiled {
	if c := p.ready.Load(); c != nil {
		return c
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.ready.Load(); c != nil {
		return c
	}
	built := profile.InPhase("plan")
	pl := plan.Build(p.nodes, p.planSigs(), p.dst, device.Get(p.Device).Model())
	built()
	c := Compile(p.def.Name, pl, p.Device)
	p.ready.Store(c)
	if p.defined {
		p.nodes = nil // thousands of plans are kept, and the collector reads them all
	}
	return c
}

// results returns the nodes of the results. p.mu is held.
func (p *Planned) results() []*ir.Node {
	if p.nodes == nil {
		return p.Graph()
	}
	return p.nodes
}

// Graph returns the results as a graph of their own.
func (p *Planned) Graph() []*ir.Node { return op.ApplyAll(p.def, p.A, p.Inputs(ir.New())...) }

// Explain shows the graph, with those names for its leaves, and the plan.
func (p *Planned) Explain(names graphtext.Names) string {
	outs := p.Graph()
	return fmt.Sprintf("%s\n%s\n%s", graphtext.Formula(outs, names), graphtext.Tree(outs, names), p.Compiled().Explain())
}

// Inputs makes the graph's leaves for the operands. Tensors and numbers are numbered separately.
func (p *Planned) Inputs(g *ir.Graph) []*ir.Node {
	args := make([]*ir.Node, p.Nargs)
	nt, nn := 0, 0
	for i := range args {
		s := &p.Sigs[i]
		if s.num {
			args[i] = s.number(g, &nn)
			continue
		}
		args[i] = g.Input(nt, s.DType, s.Shape)
		nt++
	}
	return args
}

// number makes the leaf for a Go number. *n counts the caller's numbers.
func (s *sig) number(g *ir.Graph, n *int) *ir.Node {
	d := weakType(min(s.kind, array.CatFloat))
	if s.big {
		d = array.Uint64
	}
	x := g.Scalar(*n, d, true)
	*n++
	if s.kind == array.CatComplex {
		x = op.WeakComplex(x, g.Scalar(*n, array.Float32, true))
		*n++
	}
	return x
}

func (p *Planned) planSigs() []plan.Sig {
	var out []plan.Sig
	for i := range p.Nargs {
		if s := &p.Sigs[i]; !s.num {
			out = append(out, plan.Sig{DType: s.DType, Shape: s.Shape, Strides: s.Strides})
		}
	}
	return out
}

// Compile makes the kernels of a plan, which profiles call by that name.
func Compile(name string, p *plan.Plan, number uint8) *exec.Compiled {
	defer profile.InPhase("kernels")()
	c, err := exec.Compile(p, device.Get(number))
	if err != nil {
		panic(&array.Error{Kind: array.DeviceFailed, Op: "compile", Err: err, Msg: "no kernel"})
	}
	c.Name = name
	return c
}

// Apply computes an operation eagerly and records it for gradients.
func Apply(d *op.Def, a ir.Attrs, ops ...Operand) *Tensor {
	if array.Scoped.On() {
		if c := ambientHere().cast; c != nil {
			ops = c.operands(d, ops)
		}
	}
	return Lookup(d, a, ops).applyOne(ops)
}

// applyOne computes a planned operation with one result.
func (p *Planned) applyOne(ops []Operand) *Tensor {
	out := p.result(MergeRuns(p.def.Name, ops), ops)
	if out.run == nil || !out.run.Lazy || TracingOf(ops) != nil || !(p.deferOp(ops, out) || p.fuseReduction(ops, out)) {
		p.Compute(ops, unsafe.Slice(&out.v, 1))
	}
	out.Track()
	if out.hist != nil {
		record(p, ops, out)
	}
	return out
}

// result returns a tensor for the result of one operation. Where a gradient is recorded, its
// history lies in the same allocation.
func (p *Planned) result(r *Run, ops []Operand) *Tensor {
	if p.float {
		for i := range ops {
			if t := ops[i].T; t != nil && t.hist != nil && t.Node() != nil {
				if !GradOn() {
					break
				}
				one := new(struct { // one piece of memory
					t Tensor
					h History
				})
				one.t.run, one.t.hist = r, &one.h
				return &one.t
			}
		}
	}
	return &Tensor{run: r}
}

// ApplyAll is Apply for an operation with several results.
func ApplyAll(d *op.Def, a ir.Attrs, ops ...Operand) []*Tensor {
	if array.Scoped.On() {
		if c := ambientHere().cast; c != nil {
			ops = c.operands(d, ops)
		}
	}
	p := Lookup(d, a, ops)
	if len(p.Outs) == 1 {
		return []*Tensor{p.applyOne(ops)}
	}
	r := MergeRuns(d.Name, ops)
	views := make([]array.View, len(p.Outs))
	p.Compute(ops, views)
	outs := make([]*Tensor, len(views))
	for i := range outs {
		outs[i] = &Tensor{v: views[i], run: r}
		outs[i].Track()
	}
	if GradOn() {
		record(p, ops, outs...)
	}
	return outs
}

// Compute runs the plan on the operands. A result whose view in outs has a Store is written there;
// others get new memory.
func (p *Planned) Compute(ops []Operand, outs []array.View) {
	if array.Tracing.On() && p.traced(ops, outs) {
		return
	}
	var views [4]*array.View
	var numbers [4]exec.Number
	ins, nums := views[:0], numbers[:0]
	var s *Stream
	direct := true // no input has to be waited for, or kept from being released
	for i := range ops {
		t := ops[i].T
		if t == nil {
			nums = ops[i].numbers(nums)
			continue
		}
		if t.v.Store == nil || t.v.Store.Direct() == nil {
			direct = false
			t.Check(p.def.Name)
		}
		if t.run != nil && s == nil {
			s = t.run.Stream
		}
		ins = append(ins, &t.v)
	}
	for i := range outs {
		direct = direct && outs[i].Store == nil
	}
	if !direct || s != nil {
		RunPlan(p.def.Name, s, p.Compiled(), ins, nums, outs)
	} else if err := p.Compiled().RunDirect(ins, nums, outs); err != nil {
		failed(p.def.Name, err)
	}
}

// traced adds the operation to the trace that the operands belong to. It reports false if they
// belong to none.
func (p *Planned) traced(ops []Operand, outs []array.View) bool {
	tr := TracingOf(ops)
	if tr == nil {
		return false
	}
	if tr.known(ops, outs) {
		tr.Aside(func() { p.Compute(ops, outs) })
		tr.keep(outs)
	} else {
		tr.Compute(p, ops, outs)
	}
	return true
}

// RunPlan runs a plan, on the device's default stream if s is nil or of another device. Typed errors, of a number that does
// not fit or of a routine, reach the caller as they are.
func RunPlan(opName string, s *Stream, c *exec.Compiled, ins []*array.View, nums []exec.Number, outs []array.View) {
	for _, x := range ins {
		if x.Store != nil {
			x.Store.Ready()
		}
	}
	if err := c.Run(context.Context(nil), s.of(c), ins, nums, outs); err != nil {
		failed(opName, err)
	}
}

// failed panics with the error of a run.
func failed(opName string, err error) {
	if e, ok := err.(*array.Error); ok {
		if e.Op == "" {
			e.Op = opName
		}
		panic(e)
	}
	panic(&array.Error{Kind: array.DeviceFailed, Op: "run", Msg: "kernel failed", Err: err})
}

// WithAttrs computes an operation with attributes of tensors.
func WithAttrs(d *op.Def, a ir.Attrs, ts ...*Tensor) *Tensor {
	ops := make([]Operand, len(ts))
	for i, t := range ts {
		ops[i] = Of(d.Name, t)
	}
	return Apply(d, a, ops...)
}
