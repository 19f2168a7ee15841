package weft

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

func keepAlive(t *Tensor) { runtime.KeepAlive(t.v.Store) }

// An operand is an argument of an operation: a tensor or a Go number.
type operand struct {
	t   *Tensor
	num exec.Number
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

// asOperand turns an argument of type any into an operand of op.
func asOperand(opName string, x any) operand {
	switch x := x.(type) {
	case *Tensor:
		return tensorOperand(opName, x)
	case float64:
		return operand{num: exec.Number{Float: x, Kind: array.CatFloat}}
	case int:
		return operand{num: exec.Number{Int: int64(x), Kind: array.CatInt}}
	case float32:
		return operand{num: exec.Number{Float: float64(x), Kind: array.CatFloat}}
	case bool:
		if x {
			return operand{num: exec.Number{Int: 1, Kind: array.CatBool}}
		}
		return operand{num: exec.Number{Kind: array.CatBool}}
	case int64:
		return operand{num: exec.Number{Int: x, Kind: array.CatInt}}
	case int32:
		return operand{num: exec.Number{Int: int64(x), Kind: array.CatInt}}
	case uint8:
		return operand{num: exec.Number{Int: int64(x), Kind: array.CatInt}}
	}
	if x == nil {
		failNil(opName)
	}
	array.Failf(opName, "", "takes a *Tensor or a Go number (float64, float32, int, int64, int32, uint8 or bool), not %T", x)
	return operand{}
}

// weakType is the element type that stands for a Go number in promotion.
func weakType(c array.Category) DType {
	return [...]DType{array.CatBool: Bool, array.CatInt: Int64, array.CatFloat: Float32}[c]
}

// A planned is an operation made ready for one set of types, shapes and strides.
type planned struct {
	def   *op.Def
	attrs string // the key of a
	sigs  []sig

	a     ir.Attrs
	run   *exec.Compiled // nil for windows, which are not computed
	dtype DType
	shape []int
	nums  int

	vjps [8]atomic.Pointer[vjp] // by which of the first three arguments need a gradient
	more sync.Map               // by which of all do, a string: *vjp
}

// A sig is what of an operand a plan depends on.
type sig struct {
	num     bool
	kind    array.Category
	dtype   DType
	shape   []int
	strides []int
}

func (s *sig) matches(o *operand) bool {
	if o.t == nil {
		return s.num && s.kind == o.num.Kind
	}
	v := &o.t.v
	return !s.num && s.dtype == v.DType && array.Equal(s.shape, v.Shape) && array.Equal(s.strides, v.Strides)
}

// plans caches planned operations.
var plans = table[*planned]{limit: 1 << 14}

func mix(h, x uint64) uint64 {
	h ^= x
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}

func hashOperands(h uint64, ops []operand) uint64 {
	for i := range ops {
		o := &ops[i]
		if o.t == nil {
			h = mix(h, 0xf00+uint64(o.num.Kind))
			continue
		}
		v := &o.t.v
		h = mix(h, uint64(v.DType)<<8|uint64(len(v.Shape)))
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
	if a == nil {
		a = d.Attrs
	}
	h := hashOperands(d.Hash, ops)
	if a == nil {
		if p := findPlan(d, "", h, ops); p != nil {
			return p
		}
		return makePlanned(d, nil, "", h, ops)
	}
	buf := keys.Get().(*[]byte)
	k := a.AppendKey((*buf)[:0])
	for _, c := range k {
		h = mix(h, uint64(c))
	}
	p := findPlan(d, unsafe.String(unsafe.SliceData(k), len(k)), h, ops)
	if p == nil {
		p = makePlanned(d, a, string(k), h, ops)
	}
	*buf = k
	keys.Put(buf)
	return p
}

// findPlan returns the operation if it was planned.
func findPlan(d *op.Def, attrs string, h uint64, ops []operand) *planned {
	for e := plans.first(h); e != nil; e = e.next {
		if p := e.value; e.hash == h && p.def == d && p.attrs == attrs && p.matches(ops) {
			return p
		}
	}
	return nil
}

func (p *planned) matches(ops []operand) bool {
	if len(p.sigs) != len(ops) {
		return false
	}
	for i := range ops {
		if !p.sigs[i].matches(&ops[i]) {
			return false
		}
	}
	return true
}

func makePlanned(d *op.Def, a ir.Attrs, attrs string, h uint64, ops []operand) *planned {
	p := &planned{def: d, attrs: attrs, a: ir.CopyAttrs(a)}
	for i := range ops {
		o := &ops[i]
		if o.t == nil {
			p.sigs = append(p.sigs, sig{num: true, kind: o.num.Kind})
			p.nums++
			continue
		}
		p.sigs = append(p.sigs, sig{dtype: o.t.v.DType, shape: o.t.v.Shape, strides: o.t.v.Strides})
	}
	g := ir.New()
	out := op.Apply(d, p.a, p.inputs(g)...)
	p.dtype, p.shape = out.DType, out.Shape
	if d.Class != op.Move {
		p.run = compile(plan.Build([]*ir.Node{out}, p.planSigs(), nil))
	}
	plans.Lock()
	defer plans.Unlock()
	plans.add(h, p)
	return p
}

// inputs makes the graph's leaves for the operands: tensors and numbers are
// counted apart.
func (p *planned) inputs(g *ir.Graph) []*ir.Node {
	args := make([]*ir.Node, len(p.sigs))
	nt, nn := 0, 0
	for i := range p.sigs {
		s := &p.sigs[i]
		if s.num {
			args[i] = g.Scalar(nn, weakType(s.kind), true)
			nn++
			continue
		}
		args[i] = g.Input(nt, s.dtype, s.shape)
		nt++
	}
	return args
}

func (p *planned) planSigs() []plan.Sig {
	var out []plan.Sig
	for i := range p.sigs {
		if s := &p.sigs[i]; !s.num {
			out = append(out, plan.Sig{DType: s.dtype, Shape: s.shape, Strides: s.strides})
		}
	}
	return out
}

func compile(p *plan.Plan) *exec.Compiled {
	c, err := exec.Compile(p, engine.dev)
	if err != nil {
		panic(&array.Error{Kind: array.DeviceFailed, Op: "compile", Err: err, Msg: "no kernel"})
	}
	return c
}

// apply computes an operation eagerly and records it for gradients.
func apply(d *op.Def, a ir.Attrs, ops ...operand) *Tensor {
	p := lookup(d, a, ops)
	out := &Tensor{run: mergeRuns(d.Name, ops)}
	p.compute(ops, &out.v)
	out.track()
	if out.run.gradOn() {
		record(p, ops, out)
	}
	return out
}

// compute runs the plan on the operands; a view with a Store receives the
// result there.
func (p *planned) compute(ops []operand, out *array.View) {
	var views [4]*array.View
	var numbers [4]exec.Number
	ins, nums := views[:0], numbers[:0]
	for i := range ops {
		if ops[i].t == nil {
			nums = append(nums, ops[i].num)
			continue
		}
		ops[i].t.check(p.def.Name)
		ins = append(ins, &ops[i].t.v)
	}
	runPlan(p.def.Name, p.run, ins, nums, unsafe.Slice(out, 1))
}

func runPlan(opName string, c *exec.Compiled, ins []*array.View, nums []exec.Number, outs []array.View) {
	if err := c.Run(context.Context(nil), engine.stream, ins, nums, outs); err != nil {
		if e, ok := err.(*array.Error); ok { // a number that does not fit
			e.Op = opName
			panic(e)
		}
		panic(&array.Error{Kind: array.DeviceFailed, Op: "run", Msg: "kernel failed", Err: err})
	}
}

// unary, binary and ternary are what most methods are.
func unary(d *op.Def, t *Tensor) *Tensor { return apply(d, nil, tensorOperand(d.Name, t)) }

func binary(d *op.Def, t *Tensor, x any) *Tensor {
	return apply(d, nil, tensorOperand(d.Name, t), asOperand(d.Name, x))
}

func withAttrs(d *op.Def, a ir.Attrs, ts ...*Tensor) *Tensor {
	ops := make([]operand, len(ts))
	for i, t := range ts {
		ops[i] = tensorOperand(d.Name, t)
	}
	return apply(d, a, ops...)
}
