package weft

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/half"
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

func keepAlive(t *Tensor) { runtime.KeepAlive(t.v.Store) }

// An operand is an argument of an operation: a tensor or a Go number.
type operand struct {
	t    *Tensor
	num  exec.Number
	imag float64 // of a complex number
}

// numbers appends the numbers that stand for an operand: a complex one is two.
func (o *operand) numbers(to []exec.Number) []exec.Number {
	if o.num.Kind != array.CatComplex {
		return append(to, o.num)
	}
	return append(to, exec.Number{Float: o.num.Float, Kind: array.CatFloat}, exec.Number{Float: o.imag, Kind: array.CatFloat})
}

// tensorOperand is a tensor as an operand of op. A nil tensor must not be taken
// for a number.
func tensorOperand(opName string, t *Tensor) operand {
	t.notNil(opName)
	return operand{t: t}
}

func failNil(opName string) {
	array.Failf(opName, "", "the tensor is nil (a Grad is nil until Backward has reached its leaf)")
}

func failNilArgument(opName, arg string) {
	array.Failf(opName, arg, "is nil (a Grad is nil until Backward has reached its leaf)")
}

// argument refuses a nil tensor and the zero Tensor as the argument arg of op.
func (t *Tensor) argument(opName, arg string) {
	if t == nil {
		failNilArgument(opName, arg)
	}
	if t.v.Store == nil {
		array.Failf(opName, arg, "is the zero Tensor: functions such as Zeros and From make one")
	}
}

// asOperand turns the argument arg, of type any, into an operand of op.
func asOperand(opName, arg string, x any) operand {
	switch x := x.(type) {
	case *Tensor:
		x.argument(opName, arg)
		return operand{t: x}
	case float64:
		return operand{num: exec.Number{Float: x, Kind: array.CatFloat}}
	case int:
		return whole(int64(x))
	case float32:
		return operand{num: exec.Number{Float: float64(x), Kind: array.CatFloat}}
	case bool:
		if x {
			return operand{num: exec.Number{Int: 1, Kind: array.CatBool}}
		}
		return operand{num: exec.Number{Kind: array.CatBool}}
	case int64:
		return whole(x)
	case int32:
		return whole(int64(x))
	case int16:
		return whole(int64(x))
	case int8:
		return whole(int64(x))
	case uint8:
		return whole(int64(x))
	case uint16:
		return whole(int64(x))
	case uint32:
		return whole(int64(x))
	case uint64:
		return operand{num: exec.Number{Int: int64(x), Kind: array.CatInt, Big: x > math.MaxInt64}}
	case uint:
		return asOperand(opName, arg, uint64(x))
	case complex128:
		return operand{num: exec.Number{Float: real(x), Kind: array.CatComplex}, imag: imag(x)}
	case complex64:
		return asOperand(opName, arg, complex128(x))
	case half.Float16:
		return operand{num: exec.Number{Float: float64(x.Float32()), Kind: array.CatFloat}}
	case half.BFloat16:
		return operand{num: exec.Number{Float: float64(x.Float32()), Kind: array.CatFloat}}
	case liveNumber:
		return operand{num: x.Number}
	}
	if x == nil {
		failNilArgument(opName, arg)
	}
	array.Failf(opName, arg, "takes a *Tensor or a Go number (bool, integer, float or complex), not %T", x)
	return operand{}
}

// whole is a Go integer as an operand.
func whole(x int64) operand { return operand{num: exec.Number{Int: x, Kind: array.CatInt}} }

// weakType is the element type that stands for a Go number in promotion.
func (o *operand) weakType() DType {
	if o.num.Big {
		return Uint64
	}
	return weakType(o.num.Kind)
}

func weakType(c array.Category) DType {
	return [...]DType{array.CatBool: Bool, array.CatInt: Int64, array.CatFloat: Float32, array.CatComplex: Complex64}[c]
}

// A planned is an operation made ready for one set of types, shapes and strides
// on one device. What its results are is known at once; its kernels are compiled
// when it first runs.
type planned struct {
	planKey
	a       ir.Attrs
	device  uint8
	nums    int       // Go numbers among the arguments
	outs    []ir.Type // of the results
	float   bool      // a result has gradients
	defined bool      // by the Def alone
	dtype   DType     // of the first result
	shape   []int

	mu    sync.Mutex
	nodes []*ir.Node // of the results, until the plan is compiled where the Def gives them again
	dst   []plan.Sig // layouts in which the results are wanted, nil for row-major order
	ready atomic.Pointer[exec.Compiled]

	vjps [8]atomic.Pointer[vjp] // by which of the first three arguments need a gradient
	more sync.Map               // by which of all do, a string: *vjp
}

// A planKey is what a plan depends on.
type planKey struct {
	def   *op.Def
	attrs string // the key of the attributes
	nargs int    // operands that are arguments; results are written into the others
	sigs  []sig
}

// A sig is what of an operand a plan depends on.
type sig struct {
	num     bool
	kind    array.Category
	big     bool // a number beyond an int64
	dtype   DType
	device  uint8
	shape   []int
	strides []int
}

func (s *sig) matches(o *operand) bool {
	if o.t == nil {
		return s.num && s.kind == o.num.Kind && s.big == o.num.Big
	}
	v := &o.t.v
	return !s.num && s.dtype == v.DType && s.device == v.Store.Device && array.Equal(s.shape, v.Shape) && array.Equal(s.strides, v.Strides)
}

// Plans are kept of some ten thousand shapes in use, and of few while none comes again: the
// collector reads them all.
const (
	minPlans = 1 << 11
	maxPlans = 1 << 14
)

// plans caches planned operations.
var plans = cache.NewGrowing[planKey, *planned](minPlans, maxPlans)

func mix(h, x uint64) uint64 {
	h ^= x
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}

func hashOperands(h uint64, ops []operand) uint64 {
	for i := range ops {
		o := &ops[i]
		if o.t == nil {
			k := 0xf00 + uint64(o.num.Kind)
			if o.num.Big {
				k = 0xfff
			}
			h = mix(h, k)
			continue
		}
		v := &o.t.v
		h = mix(h, uint64(v.Store.Device)<<16|uint64(v.DType)<<8|uint64(len(v.Shape)))
		for k, n := range v.Shape {
			h = mix(h, uint64(n)*31+uint64(v.Strides[k]))
		}
	}
	return h
}

// keys are buffers for the keys of attributes.
var keys = sync.Pool{New: func() any { return new([]byte) }}

// lookup returns the planned operation, planning it the first time. No
// attributes stand for those of the Def.
func lookup(d *op.Def, a ir.Attrs, ops []operand) *planned {
	return lookupInto(d, a, ops, len(ops), nil)
}

// A composer builds the results of an operation over graph nodes and says in
// which layouts they are wanted.
type composer func(p *planned, args []*ir.Node) (outs []*ir.Node, dst []plan.Sig)

// lookupInto is lookup for operands of which the first nargs are arguments and the
// others receive results; compose, nil for the Def itself, is a function of d.
func lookupInto(d *op.Def, a ir.Attrs, ops []operand, nargs int, compose composer) *planned {
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
			h = mix(h, uint64(c))
		}
	}
	attrs := unsafe.String(unsafe.SliceData(k), len(k))
	for e := plans.First(h); e != nil; e = e.Next() {
		if k := e.Key(h); k != nil && k.is(d, attrs, nargs, ops) {
			return e.Use()
		}
	}
	return makePlanned(d, a, string(k), h, ops, nargs, compose)
}

func makePlanned(d *op.Def, a ir.Attrs, attrs string, h uint64, ops []operand, nargs int, compose composer) *planned {
	p := &planned{planKey: planKey{def: d, attrs: attrs, nargs: nargs}, device: deviceOf(d.Name, ops), a: ir.CopyAttrs(a)}
	for i := range ops {
		o := &ops[i]
		if o.t == nil {
			p.sigs = append(p.sigs, sig{num: true, kind: o.num.Kind, big: o.num.Big})
			p.nums++
			continue
		}
		p.sigs = append(p.sigs, sig{dtype: o.t.v.DType, device: o.t.v.Store.Device, shape: o.t.v.Shape, strides: o.t.v.Strides})
	}
	p, _ = plans.Get(h, func(k *planKey) bool { return k.is(d, attrs, nargs, ops) }, p.planKey, func() (*planned, error) {
		defer profile.InPhase("types and shapes")()
		p.infer(compose)
		return p, nil
	})
	return p
}

// is reports that the key is that of an operation with attributes of that key.
func (p *planKey) is(d *op.Def, attrs string, nargs int, ops []operand) bool {
	if p.def != d || p.attrs != attrs || p.nargs != nargs || len(p.sigs) != len(ops) {
		return false
	}
	for i := range ops {
		if !p.sigs[i].matches(&ops[i]) {
			return false
		}
	}
	return true
}

// infer finds out what the results are, and checks the arguments by that.
func (p *planned) infer(compose composer) {
	args := p.inputs(ir.New())
	if compose != nil {
		p.nodes, p.dst = compose(p, args)
	} else {
		defer array.Named(p.def.Name).End() // rather than a part of a composite
		p.nodes, p.defined = op.ApplyAll(p.def, p.a, args...), true
	}
	for _, n := range p.nodes {
		p.outs = append(p.outs, ir.Type{DType: n.DType, Shape: n.Shape})
		p.float = p.float || n.DType.Differentiable()
	}
	p.dtype, p.shape = p.outs[0].DType, p.outs[0].Shape
}

// compiled returns the operation with its kernels.
func (p *planned) compiled() *exec.Compiled {
	if c := p.ready.Load(); c != nil {
		return c
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.ready.Load(); c != nil {
		return c
	}
	built := profile.InPhase("plan")
	pl := plan.Build(p.nodes, p.planSigs(), p.dst)
	built()
	c := compile(p.def.Name, pl, p.device)
	p.ready.Store(c)
	if p.defined {
		p.nodes = nil // thousands of plans are kept, and the collector reads them all
	}
	return c
}

// results returns the nodes of the results. p.mu is held.
func (p *planned) results() []*ir.Node {
	if p.nodes == nil {
		return p.graph()
	}
	return p.nodes
}

// graph returns the results as a graph of their own.
func (p *planned) graph() []*ir.Node { return op.ApplyAll(p.def, p.a, p.inputs(ir.New())...) }

// explain shows the graph, with those names for its leaves, and the plan.
func (p *planned) explain(names graphtext.Names) string {
	outs := p.graph()
	return fmt.Sprintf("%s\n%s\n%s", graphtext.Formula(outs, names), graphtext.Tree(outs, names), p.compiled().Explain())
}

// inputs makes the graph's leaves for the operands: tensors and numbers are
// counted apart.
func (p *planned) inputs(g *ir.Graph) []*ir.Node {
	args := make([]*ir.Node, p.nargs)
	nt, nn := 0, 0
	for i := range args {
		s := &p.sigs[i]
		if s.num {
			args[i] = s.number(g, &nn)
			continue
		}
		args[i] = g.Input(nt, s.dtype, s.shape)
		nt++
	}
	return args
}

// number makes the leaf for a Go number, of which the caller's are numbered from *n on.
func (s *sig) number(g *ir.Graph, n *int) *ir.Node {
	d := weakType(min(s.kind, array.CatFloat))
	if s.big {
		d = Uint64
	}
	x := g.Scalar(*n, d, true)
	*n++
	if s.kind == array.CatComplex {
		x = op.WeakComplex(x, g.Scalar(*n, Float32, true))
		*n++
	}
	return x
}

func (p *planned) planSigs() []plan.Sig {
	var out []plan.Sig
	for i := range p.nargs {
		if s := &p.sigs[i]; !s.num {
			out = append(out, plan.Sig{DType: s.dtype, Shape: s.shape, Strides: s.strides})
		}
	}
	return out
}

// compile makes the kernels of a plan, which profiles call by that name.
func compile(name string, p *plan.Plan, number uint8) *exec.Compiled {
	defer profile.InPhase("kernels")()
	c, err := exec.Compile(p, device.Get(number))
	if err != nil {
		panic(&array.Error{Kind: array.DeviceFailed, Op: "compile", Err: err, Msg: "no kernel"})
	}
	c.Name = name
	return c
}

// apply computes an operation eagerly and records it for gradients.
func apply(d *op.Def, a ir.Attrs, ops ...operand) *Tensor {
	return lookup(d, a, ops).one(ops)
}

// one computes a planned operation with one result.
func (p *planned) one(ops []operand) *Tensor {
	out := p.result(mergeRuns(p.def.Name, ops), ops)
	if out.run == nil || !out.run.lazy || tracingOf(ops) != nil || !(p.later(ops, out) || p.reduced(ops, out)) {
		p.compute(ops, unsafe.Slice(&out.v, 1))
	}
	out.track()
	if out.hist != nil {
		record(p, ops, out)
	}
	return out
}

// result is a tensor for the result of one operation, with room for a history where gradients
// flow and are recorded.
func (p *planned) result(r *run, ops []operand) *Tensor {
	if p.float {
		for i := range ops {
			if t := ops[i].t; t != nil && t.hist != nil && t.node() != nil {
				if !gradOn() {
					break
				}
				one := new(struct { // one piece of memory
					t Tensor
					h history
				})
				one.t.run, one.t.hist = r, &one.h
				return &one.t
			}
		}
	}
	return &Tensor{run: r}
}

// applyAll is apply for an operation with several results.
func applyAll(d *op.Def, a ir.Attrs, ops ...operand) []*Tensor {
	p := lookup(d, a, ops)
	if len(p.outs) == 1 {
		return []*Tensor{p.one(ops)}
	}
	r := mergeRuns(d.Name, ops)
	views := make([]array.View, len(p.outs))
	p.compute(ops, views)
	outs := make([]*Tensor, len(views))
	for i := range outs {
		outs[i] = &Tensor{v: views[i], run: r}
		outs[i].track()
	}
	if gradOn() {
		record(p, ops, outs...)
	}
	return outs
}

// compute runs the plan on the operands; a view with a Store receives the result
// there.
func (p *planned) compute(ops []operand, outs []array.View) {
	if array.Tracing.On() && p.traced(ops, outs) {
		return
	}
	var views [4]*array.View
	var numbers [4]exec.Number
	ins, nums := views[:0], numbers[:0]
	direct := true // no input has to be waited for, or kept from being released
	for i := range ops {
		t := ops[i].t
		if t == nil {
			nums = ops[i].numbers(nums)
			continue
		}
		if t.v.Store == nil || t.v.Store.Direct() == nil {
			direct = false
			t.check(p.def.Name)
		}
		ins = append(ins, &t.v)
	}
	for i := range outs {
		direct = direct && outs[i].Store == nil
	}
	if !direct {
		runPlan(p.def.Name, p.compiled(), ins, nums, outs)
	} else if err := p.compiled().RunDirect(ins, nums, outs); err != nil {
		failed(p.def.Name, err)
	}
}

// traced adds the operation to the trace that the operands belong to; it reports false if there is
// none.
func (p *planned) traced(ops []operand, outs []array.View) bool {
	tr := tracingOf(ops)
	if tr == nil {
		return false
	}
	if tr.known(ops, outs) {
		tr.aside(func() { p.compute(ops, outs) })
		tr.keep(outs)
	} else {
		tr.compute(p, ops, outs)
	}
	return true
}

// runPlan runs a plan. Typed errors, of a number that does
// not fit or of a routine, reach the caller as they are.
func runPlan(opName string, c *exec.Compiled, ins []*array.View, nums []exec.Number, outs []array.View) {
	for _, x := range ins {
		if x.Store != nil {
			x.Store.Ready()
		}
	}
	if err := c.Run(context.Context(nil), ins, nums, outs); err != nil {
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

// unary, binary and ternary are what most methods are.
func unary(d *op.Def, t *Tensor) *Tensor { return apply(d, nil, tensorOperand(d.Name, t)) }

func binary(d *op.Def, t *Tensor, x any) *Tensor {
	return apply(d, nil, tensorOperand(d.Name, t), asOperand(d.Name, "x", x))
}

func withAttrs(d *op.Def, a ir.Attrs, ts ...*Tensor) *Tensor {
	ops := make([]operand, len(ts))
	for i, t := range ts {
		ops[i] = tensorOperand(d.Name, t)
	}
	return apply(d, a, ops...)
}
