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
	defer array.Named(name).End()
	o := asOperand(name, "x", x)
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
	grad := gradOn()
	direct := tracingOf(append(ops, operand{t: t})) == nil && p.dtype == t.v.DType && p.def.Class != op.Move && p.compiled().Plan.InPlace && t.v.Contiguous()
	for i := range ops {
		if x := ops[i].t; x != nil && direct && x.v.Overlaps(&t.v) && !x.v.Same(&t.v) {
			direct = false
		}
	}
	w := openWrite(&t.v)
	defer w.done()
	// The tape saves arguments as they are before the write.
	res := &Tensor{v: array.View{DType: p.dtype, Shape: p.shape}, run: r}
	if direct {
		res.v = t.v
		if grad {
			record(p, ops, res)
			res.node().keepOld(t.v.Store)
		}
		p.compute(ops, unsafe.Slice(&res.v, 1))
	} else {
		p.compute(ops, unsafe.Slice(&res.v, 1))
		if grad {
			record(p, ops, res)
			res.node().keepOld(t.v.Store)
		}
		captureHere(res)
		copyViews(&t.v, &res.v)
		if res.v.Store != t.v.Store && res.hist == nil {
			free(res.v.Store)
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
		c := laidOut(&s.v, s.v.Strides)
		st.Unsave()
		c.Store.Save()
		s.v, s.version = c, c.Store.Version()
	}
}

// keepOldSince is keepOld for n and what it was computed from after the tape's entry
// with that number.
func (n *gradNode) keepOldSince(seq uint64, st *array.Storage) {
	seen := map[*gradNode]bool{}
	var walk func(n *gradNode)
	walk = func(n *gradNode) {
		if n == nil || n.seq <= seq || seen[n] {
			return
		}
		seen[n] = true
		n.keepOld(st)
		for _, m := range n.in {
			walk(m)
		}
	}
	walk(n)
}

// laidOut returns a copy of v with the given strides.
func laidOut(v *array.View, strides []int) array.View {
	c := array.View{DType: v.DType, Shape: v.Shape, Strides: strides}
	lo, hi := c.Span()
	if tr := tracingViews(v); tr != nil {
		w := tr.fresh(c.DType, []int{hi - lo})
		c.Store, c.Offset = w.Store, -lo
		copyViews(&c, v)
		return c
	}
	c.Store, c.Offset = alloc(v.Store.Device, (hi-lo)*c.DType.Size()), -lo
	copyViews(&c, v)
	return c
}

// writable panics if writing into t is not allowed.
func (t *Tensor) writable(name string) {
	t.check(name)
	if t.v.Store.ReadOnly() {
		array.Failf(name, "", "the memory of %s is read-only, it is that of a file: Clone it first, or map the file for copy-on-write", array.TypeString(t.v.DType, t.v.Shape))
	}
	t.notExpanded(name)
	if tr := tracingViews(&t.v); tr != nil && tr.made[t.v.Store] {
		tr.capture(t) // with the history that it has before
	}
	if !gradOn() {
		if tr := tracingViews(&t.v); tr != nil && tr.callee && t.node() != nil {
			array.Failf(name, "", "writes, inside WithoutGrad in a function that is mapped or that a loop or a branch runs, into a value that needs a gradient%s: Clone it", here())
		}
		return
	}
	if n := t.node(); n != nil {
		if n.leaf != nil {
			array.Failf(name, "", "the receiver is a leaf that requires a gradient: write into it inside WithoutGrad, which does not record")
		}
		if b, _ := t.root(); b.node().leaf != nil {
			array.Failf(name, "", "the receiver is a view of a leaf that requires a gradient: write into it inside WithoutGrad, which does not record")
		}
	}
}

// notExpanded panics if several elements of t are one.
func (t *Tensor) notExpanded(name string) {
	if !t.v.Writable() {
		array.Failf(name, "", "%s with strides %v is an expanded view, several of its elements are one: Clone it first", array.ShapeString(t.v.Shape), t.v.Strides)
	}
}

// wrote counts a write into t's memory.
func (t *Tensor) wrote() { t.v.Store.Bump(array.Caller) }

// rebase makes n, which may be nil, the producer of what was just written into t.
func (t *Tensor) rebase(n *gradNode) {
	b := t
	for b.hist != nil && b.hist.taken != nil {
		b = b.hist.of
	}
	if tr := tracingViews(&b.v); tr != nil && tr.given(&b.v) {
		tr.keepHistory(b)
	}
	if b == t {
		if n != nil || t.hist != nil && !t.hist.frozen.Load() {
			t.setNode(n)
		}
		return
	}
	if bn := b.node(); n != nil || bn != nil {
		_, chain := t.root()
		b.setNode(putNode(bn, n, &place{chain, array.View{DType: b.v.DType, Shape: b.v.Shape, Strides: b.v.Strides}}))
	}
}

// putNode is the tape's entry for writing a value, which may be nil, into a place in
// base, which may be too.
func putNode(base, value *gradNode, at *place) *gradNode {
	return &gradNode{seq: tapeSeq.Add(1), in: []*gradNode{base, value}, rare: &rare{name: "assign", dtype: at.of.DType, shape: at.of.Shape, put: at}}
}

// copyViews copies src's elements, converted, into dst's memory; the two must not
// overlap.
func copyViews(dst, src *array.View) {
	if tr := tracingViews(dst, src); tr != nil {
		tr.copy(dst, src)
		return
	}
	p := lookupInto(copyDef, nil, []operand{{t: &Tensor{v: *src}}, {t: &Tensor{v: *dst}}}, 1, composeCopy)
	runPlan("copy", p.compiled(), []*array.View{src}, nil, unsafe.Slice(dst, 1))
}

// copyDef marks copies in the plan cache.
var copyDef = &op.Def{Name: "copy"}

// composeCopy is the argument converted and broadcast to what the other operand
// is.
func composeCopy(p *planned, args []*ir.Node) ([]*ir.Node, []plan.Sig) {
	dst := &p.sigs[1]
	x := op.Convert(args[0], dst.dtype)
	if !array.Equal(x.Shape, dst.shape) {
		x = op.Apply(op.Expand, op.Shape(dst.shape), x)
	}
	return []*ir.Node{x}, []plan.Sig{{DType: dst.dtype, Shape: dst.shape, Strides: dst.strides}}
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

// copyFrom is copyInto for memory that others may know.
func (t *Tensor) copyFrom(x *Tensor) {
	w := openWrite(&t.v)
	defer w.done()
	copyInto(t, x)
}

// updateFrom is copyFrom of a value of which the most may be there already, as after indexed
// and masked writes: of tracked memory only what differs is written, and marked.
func (t *Tensor) updateFrom(x *Tensor) {
	if t.v.Store.Monitor() == nil || tracingViews(&t.v, &x.v) != nil || !onHost(t) || !onHost(x) || t.v.DType != x.v.DType || !array.Equal(t.v.Shape, x.v.Shape) {
		t.copyFrom(x)
		return
	}
	c := &Tensor{v: x.v}
	if c.v.Overlaps(&t.v) {
		c = c.Clone()
	}
	from := toHost(c.Contiguous())
	defer leave(&from)
	w := openWrite(&t.v)
	defer func() { w.done() }()
	use(&t.v)
	defer leave(&t.v)
	w.part = copyChanged(&t.v, &from)
}

// Assign writes x, a *Tensor or a Go number, broadcast to t's shape, into t, and
// returns t. Overlapping memory is right: x.Slice(Range(1, n)).Assign(x.Slice(Range(0, n-1))).
// A float cannot be written into integers, nor a complex number into others.
func (t *Tensor) Assign(x any) *Tensor {
	return t.assigned("assign", "x", asOperand("assign", "x", x), (*Tensor).copyFrom)
}

// Set writes v, a *Tensor or a Go number, at the given indices of the first axes, as NumPy's
// x[i, j] = v: one element where there is an index for each axis, else the sub-array there, to
// whose shape v broadcasts. Negative indices count from the back. It returns t. The element
// is converted to t's type; a float is refused for integers, as is a Go integer that t's type
// does not hold. It panics if an index is out of range, and says which. A gradient flows on to
// v where t is part of a recorded computation, as with [Tensor.Assign]; a leaf is written
// inside [WithoutGrad]. [Tensor.Slice] with Assign writes spans, [Tensor.IndexPut]
// arrays of places.
//
//	x.Set(1.5, 2, -1) // x[2, -1] = 1.5
//	x.Set(row, 0)     // x[0] = row
func (t *Tensor) Set(v any, index ...int) *Tensor {
	t.check("set")
	t.notExpanded("set")
	t.at("set", index).assigned("set", "v", asOperand("set", "v", v), (*Tensor).copyFrom)
	return t
}

// assigned is Assign by another name, with another name of its argument and another way to
// write.
func (t *Tensor) assigned(opName, arg string, o operand, write func(t, x *Tensor)) *Tensor {
	t.writable(opName)
	if o.t == nil {
		if o.num.Kind > t.v.DType.Category() && !(o.num.Kind == array.CatInt && t.v.DType == Bool) {
			kind := map[array.Category]string{array.CatFloat: "a float", array.CatComplex: "complex"}[o.num.Kind]
			array.Failf(opName, arg, "is %s, which cannot be written into %s: convert the receiver with To first", kind, t.v.DType)
		}
		if t.filled(opName, &o) {
			return t
		}
		o.t = o.number(opName, t.v.Store.Device, t.v.DType)
	}
	o.t.check(opName)
	if c := o.t.v.DType.Category(); c >= array.CatFloat && c > t.v.DType.Category() {
		array.Failf(opName, arg, "is %s and cannot be written into %s: convert it with To", o.t.v.DType, t.v.DType)
	}
	if !array.BroadcastsTo(o.t.v.Shape, t.v.Shape) {
		array.Failf(opName, arg, "has shape %s, which does not broadcast to the receiver's %s", array.ShapeString(o.t.v.Shape), array.ShapeString(t.v.Shape))
	}
	grad := gradOn() && t.v.DType.Differentiable()
	var n *gradNode
	if grad && o.t.RequiresGrad() {
		x := window(op.Expand, op.Shape(t.v.Shape), o.t)
		if x.v.DType != t.v.DType {
			x = x.To(t.v.DType)
		}
		n = x.node()
	}
	if t.Size() > 0 {
		x := o.t.cutHere()
		captureHere(x)
		write(t, x)
	}
	t.wrote()
	if grad {
		t.rebase(n)
	}
	return t
}

// filled writes a Go number into t where that is a row of the same bits that is short enough
// for one thread; it reports false if it is not.
func (t *Tensor) filled(opName string, o *operand) bool {
	v := &t.v
	if !o.fills(opName, v) {
		return false
	}
	w := openWrite(v)
	func() {
		defer w.done()
		fill(v, o.num)
	}()
	t.wrote()
	if v.DType.Differentiable() && gradOn() {
		t.rebase(nil)
	}
	return true
}

// In-place arithmetic: each writes the result into t and returns it. x is a
// *Tensor or a Go number that broadcasts to t's shape.

// AddAssign writes t + x into t and returns t. x, a tensor or a Go number, broadcasts to t's
// shape and does not change its type: a float x is refused for integers. The write is recorded
// for gradients. It panics with *[Error] otherwise, and for a leaf that requires a gradient,
// which is written inside [WithoutGrad].
func (t *Tensor) AddAssign(x any) *Tensor { return t.assignOp(op.Add, "addassign", x) }

// SubAssign writes t - x into t and returns t. x, a tensor or a Go number, broadcasts to t's
// shape and does not change its type: a float x is refused for integers. The write is recorded
// for gradients. It panics with *[Error] otherwise, and for a leaf that requires a gradient,
// which is written inside [WithoutGrad].
func (t *Tensor) SubAssign(x any) *Tensor { return t.assignOp(op.Sub, "subassign", x) }

// MulAssign writes t * x into t and returns t. x, a tensor or a Go number, broadcasts to t's
// shape and does not change its type: a float x is refused for integers. The write is recorded
// for gradients. It panics with *[Error] otherwise, and for a leaf that requires a gradient,
// which is written inside [WithoutGrad].
func (t *Tensor) MulAssign(x any) *Tensor { return t.assignOp(op.Mul, "mulassign", x) }

// DivAssign writes t / x into t and returns t. t must hold floats or complex numbers; x, a
// tensor or a Go number, broadcasts to t's shape. It panics with *[Error] otherwise, and for a
// leaf that requires a gradient.
func (t *Tensor) DivAssign(x any) *Tensor { return t.assignOp(op.Div, "divassign", x) }

// Update writes f(t) into t, f being one of the methods, such as
// (*Tensor).Relu: the in-place form of any elementwise method, and of those that change
// some elements, such as [Tensor.IndexPut] and [Tensor.MaskedFill]. Of a tracked array
// ([Track]) the bytes are marked that change.
func (t *Tensor) Update(f func(*Tensor) *Tensor) *Tensor {
	t.writable("update")
	if f == nil {
		array.Failf("update", "f", "is nil: want a method such as (*Tensor).Relu")
	}
	before := tapeSeq.Load()
	r := f(t)
	r.notNil("update")
	if gradOn() {
		r.node().keepOldSince(before, t.v.Store)
	}
	return t.assigned("update", "f", tensorOperand("update", r), (*Tensor).updateFrom)
}

// Zero writes 0 everywhere and returns t; views of the same memory show it. It panics with
// *[Error] for memory that must not be written and for leaves, as [Tensor.Assign] does.
func (t *Tensor) Zero() *Tensor {
	defer array.Named("zero").End()
	return t.Assign(0)
}

// Fill writes a Go number, or a tensor that broadcasts, everywhere and returns t:
// [Tensor.Assign] by another name. A float is refused for integers, as is an integer that t's
// type does not hold.
func (t *Tensor) Fill(x any) *Tensor {
	defer array.Named("fill").End()
	return t.Assign(x)
}
