package weft

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// assignOp computes d of t and x into t.
func (t *Tensor) assignOp(d *op.Def, name string, x any) *Tensor {
	o := asOperand(name, x)
	return t.assign(d, nil, name, operand{t: t}, o)
}

// assign computes d of the operands, the first of which may be t, into t.
func (t *Tensor) assign(d *op.Def, a ir.Attrs, name string, ops ...operand) *Tensor {
	t.writable(name)
	for _, o := range ops {
		if o.t != nil && !array.BroadcastsTo(o.t.v.Shape, t.v.Shape) {
			array.Failf(name, "x", "has shape %s, which does not broadcast to the receiver's %s", array.ShapeString(o.t.v.Shape), array.ShapeString(t.v.Shape))
		}
	}
	p := lookup(d, a, ops)
	if p.dtype.Category() > t.v.DType.Category() {
		array.Failf(name, "", "a result of type %s cannot be written into %s: convert the receiver with To first", p.dtype, t.v.DType)
	}
	r := mergeRuns(name, ops)
	grad := r.gradOn() && t.run.gradOn()
	direct := p.dtype == t.v.DType && p.run != nil && p.run.Plan.InPlace && t.v.Contiguous()
	for i := range ops {
		if x := ops[i].t; x != nil && direct && x.v.Overlaps(&t.v) && !x.v.Same(&t.v) {
			direct = false
		}
	}
	// The tape saves arguments as they are before the write.
	res := &Tensor{v: array.View{DType: p.dtype, Shape: p.shape}, run: r}
	if direct {
		res.v = t.v
		if grad {
			record(p, ops, res)
			res.node().keepOld(t.v.Store)
		}
		p.compute(ops, &res.v)
	} else {
		p.compute(ops, &res.v)
		if grad {
			record(p, ops, res)
			res.node().keepOld(t.v.Store)
		}
		copyViews(&t.v, &res.v)
		if res.v.Store != t.v.Store && res.hist == nil {
			engine.stream.Free(res.v.Store)
		}
	}
	t.wrote()
	if !grad {
		return t
	}
	n := res.node()
	if direct && n != nil {
		// A saved result is the value just written.
		for i := range n.saved {
			if n.saved[i].result {
				n.saved[i].version = t.v.Store.Version()
			}
		}
	}
	if n != nil && p.dtype != t.v.DType {
		c := lookup(op.Cast, op.To(t.v.DType), []operand{{t: &Tensor{v: res.v}}})
		n = newNode(c, []*gradNode{n})
	}
	t.rebase(n)
	return t
}

// keepOld replaces saved arguments in the memory st, which is about to be written
// to by the operation itself, by copies of the same layout.
func (n *gradNode) keepOld(st *array.Storage) {
	if n == nil {
		return
	}
	for i := range n.saved {
		s := &n.saved[i]
		if s.v.Store != st || s.result {
			continue
		}
		lo, hi := s.v.Span()
		c := s.v
		c.Store, c.Offset = engine.stream.Alloc((hi-lo)*c.DType.Size()), c.Offset-lo
		copyViews(&c, &s.v)
		st.Unsave()
		c.Store.Save()
		s.v, s.version = c, c.Store.Version()
	}
}

// writable panics if writing into t is not allowed.
func (t *Tensor) writable(name string) {
	t.check(name)
	if !t.v.Writable() {
		array.Failf(name, "", "%s with strides %v is an expanded view, several of its elements are one: Clone it first", array.ShapeString(t.v.Shape), t.v.Strides)
	}
	if !t.run.gradOn() {
		return
	}
	if n := t.node(); n != nil {
		if n.leaf != nil {
			array.Failf(name, "", "the receiver is a leaf that requires a gradient: write into its NoGrad() instead, which is not recorded")
		}
		if b := t.hist.base; b != nil {
			if bn := b.node(); bn != nil && bn.leaf != nil {
				array.Failf(name, "", "the receiver is a view of a leaf that requires a gradient: write into a view of its NoGrad() instead")
			}
		}
	}
}

// wrote counts a write into t's memory.
func (t *Tensor) wrote() { t.v.Store.Bump(callerOutside) }

// rebase makes n, which may be nil, the producer of what was just written into t.
func (t *Tensor) rebase(n *gradNode) {
	if t.hist == nil {
		if n != nil {
			t.setNode(n)
		}
		return
	}
	b := t.hist.base
	if b == nil {
		t.setNode(n)
		return
	}
	bn := b.node()
	if n == nil && bn == nil {
		return
	}
	b.setNode(putNode(bn, n, t.hist.chain, b))
	t.hist.node = nil // made again from the base when asked for
}

// putNode is the tape's entry for writing a value into a window of base.
func putNode(base, value *gradNode, chain []*planned, b *Tensor) *gradNode {
	n := &gradNode{seq: tapeSeq.Add(1), name: "assign", dtype: b.v.DType, shape: b.v.Shape, in: []*gradNode{base, value}}
	n.back = func(dy *Tensor, create bool) []*Tensor {
		if !create {
			dy = dy.NoGrad()
		}
		through := func(t *Tensor) *Tensor {
			for _, p := range chain {
				t = window(p.def, p.a, t)
			}
			return t
		}
		out := make([]*Tensor, 2)
		if value != nil {
			out[1] = through(dy).Clone()
		}
		if base != nil {
			out[0] = dy.Clone()
			through(out[0]).Assign(0)
		}
		return out
	}
	return n
}

// copyPlans copies src's elements, converted, into dst's memory; the two must not
// overlap.
func copyViews(dst, src *array.View) {
	ops := []operand{{t: &Tensor{v: *src}}, {t: &Tensor{v: *dst}}}
	h := hashOperands(0xc0, ops)
	var p *planned
	for e := plans.first(h); e != nil; e = e.next {
		if e.hash == h && e.value.def == copyDef && e.value.matches(ops) {
			p = e.value
			break
		}
	}
	if p == nil {
		p = makeCopy(h, ops)
	}
	runPlan(p.run, []*array.View{src}, nil, unsafe.Slice(dst, 1))
}

// copyDef marks copies in the plan cache.
var copyDef = &op.Def{Name: "copy"}

func makeCopy(h uint64, ops []operand) *planned {
	src, dst := &ops[0].t.v, &ops[1].t.v
	g := ir.New()
	x := op.Convert(g.Input(0, src.DType, src.Shape), dst.DType)
	if !array.Equal(src.Shape, dst.Shape) {
		x = op.Apply(op.Expand, op.Shape(dst.Shape), x)
	}
	p := &planned{def: copyDef, dtype: dst.DType, shape: dst.Shape}
	for i := range ops {
		v := &ops[i].t.v
		p.sigs = append(p.sigs, sig{dtype: v.DType, shape: v.Shape, strides: v.Strides})
	}
	p.run = compile(plan.Build([]*ir.Node{x}, []plan.Sig{plan.SigOf(src)}, []plan.Sig{plan.SigOf(dst)}))
	plans.Lock()
	defer plans.Unlock()
	plans.add(h, p)
	return p
}

// copyInto writes src, broadcast and converted, into dst, also when they overlap.
func copyInto(dst, src *Tensor) {
	s := src.v
	if s.Overlaps(&dst.v) {
		if s.Same(&dst.v) {
			return
		}
		s = (&Tensor{v: s}).Clone().v
	}
	copyViews(&dst.v, &s)
}

// Assign writes x, a *Tensor or a Go number, broadcast to t's shape, into t, and
// returns t. Overlapping memory is right: x.Slice(Range(1, n)).Assign(x.Slice(Range(0, n-1))).
// A float cannot be written into integers.
func (t *Tensor) Assign(x any) *Tensor {
	o := asOperand("assign", x)
	t.writable("assign")
	if o.t == nil {
		if o.num.Kind > t.v.DType.Category() && !(o.num.Kind == array.CatInt && t.v.DType == Bool) {
			array.Failf("assign", "x", "is a float, which cannot be written into %s: convert the receiver with To first", t.v.DType)
		}
		o.t = fullOf(o.num, t.v.DType)
	}
	o.t.check("assign")
	if c := o.t.v.DType.Category(); c == array.CatFloat && c > t.v.DType.Category() {
		array.Failf("assign", "x", "is %s and cannot be written into %s: convert it with To", o.t.v.DType, t.v.DType)
	}
	if !array.BroadcastsTo(o.t.v.Shape, t.v.Shape) {
		array.Failf("assign", "x", "has shape %s, which does not broadcast to the receiver's %s", array.ShapeString(o.t.v.Shape), array.ShapeString(t.v.Shape))
	}
	grad := t.run.gradOn() && o.t.run.gradOn() && t.v.DType.Float()
	var n *gradNode
	if grad && o.t.RequiresGrad() {
		x := window(op.Expand, op.Shape(t.v.Shape), o.t)
		if x.v.DType != t.v.DType {
			x = x.To(t.v.DType)
		}
		n = x.node()
	}
	if t.Size() > 0 {
		copyInto(t, o.t)
	}
	t.wrote()
	if grad {
		t.rebase(n)
	}
	return t
}

// In-place arithmetic: each writes the result into t and returns it. x is a
// *Tensor or a Go number that broadcasts to t's shape.

// AddAssign is t += x.
func (t *Tensor) AddAssign(x any) *Tensor { return t.assignOp(op.Add, "addassign", x) }

// SubAssign is t -= x.
func (t *Tensor) SubAssign(x any) *Tensor { return t.assignOp(op.Sub, "subassign", x) }

// MulAssign is t *= x.
func (t *Tensor) MulAssign(x any) *Tensor { return t.assignOp(op.Mul, "mulassign", x) }

// DivAssign is t /= x; t must hold floats.
func (t *Tensor) DivAssign(x any) *Tensor { return t.assignOp(op.Div, "divassign", x) }

// Update writes f(t) into t, f being one of the methods, such as
// (*Tensor).Relu: the in-place form of any elementwise method.
func (t *Tensor) Update(f func(*Tensor) *Tensor) *Tensor {
	r := f(t)
	r.notNil("update")
	if r.run.gradOn() && t.run.gradOn() {
		return t.Assign(r)
	}
	return t.Assign(r.Detach())
}

// Zero writes 0 everywhere.
func (t *Tensor) Zero() *Tensor { return t.Assign(0) }

// Fill writes a Go number everywhere.
func (t *Tensor) Fill(x any) *Tensor { return t.Assign(x) }
