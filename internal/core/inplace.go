package core

import (
	"cmp"
	"slices"
	"unsafe"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// AssignAs computes d of the operands into t, which may be the first operand. name is in errors.
func (t *Tensor) AssignAs(d *op.Def, a ir.Attrs, name string, ops ...Operand) *Tensor {
	if array.Scoped.On() && t.writesAgain(name) {
		return t
	}
	t.Writable(name)
	for _, o := range ops {
		if o.T != nil && !array.BroadcastsTo(o.T.v.Shape, t.v.Shape) {
			array.Failf(name, "x", "has shape %s, which does not broadcast to the receiver's %s", array.ShapeString(o.T.v.Shape), array.ShapeString(t.v.Shape))
		}
	}
	p := Lookup(d, a, ops)
	if p.Device != t.v.Store.Device {
		failDevices(name, t.v.Store.Device, p.Device)
	}
	if p.DType.Category() > t.v.DType.Category() {
		array.Failf(name, "", "a result of type %s cannot be written into %s: convert the receiver with To first", p.DType, t.v.DType)
	}
	r := MergeRuns(name, ops)
	grad := GradOn()
	direct := TracingOf(append(ops, Operand{T: t})) == nil && p.DType == t.v.DType && p.def.Class != op.View && p.Compiled().Plan.InPlace && t.v.Contiguous()
	for i := range ops {
		if x := ops[i].T; x != nil && direct && x.v.Overlaps(&t.v) && !x.v.Same(&t.v) {
			direct = false
		}
	}
	w := OpenWrite(&t.v)
	defer w.Done()
	// The tape saves arguments as they are before the write.
	res := &Tensor{v: array.View{DType: p.DType, Shape: p.Shape}, run: r}
	if direct {
		res.v = t.v
		if grad {
			record(p, ops, res)
			res.Node().keepOld(t.v.Store)
		}
		p.Compute(ops, unsafe.Slice(&res.v, 1))
	} else {
		p.Compute(ops, unsafe.Slice(&res.v, 1))
		if grad {
			record(p, ops, res)
			res.Node().keepOld(t.v.Store)
		}
		captureHere(res)
		CopyViews(r.stream(), &t.v, &res.v)
		if res.v.Store != t.v.Store && res.hist == nil {
			Free(res.v.Store)
		}
	}
	t.Wrote()
	if !grad {
		return t
	}
	n := res.Node()
	if direct && n != nil {
		// A saved result is the value just written.
		for i := range n.saved {
			if n.saved[i].Result {
				n.saved[i].version = t.v.Store.Version()
			}
		}
	}
	if n != nil && p.DType != t.v.DType {
		c := Lookup(op.Cast, op.To(t.v.DType), []Operand{{T: &Tensor{v: res.v}}})
		n = newNode(c, []*GradNode{n})
	}
	t.Rebase(n)
	return t
}

// keepOld replaces saved arguments in the memory st, which is about to be written
// to by the operation itself, by copies of the same layout.
func (n *GradNode) keepOld(st *array.Storage) {
	if n == nil {
		return
	}
	for i := range n.saved {
		s := &n.saved[i]
		if s.V.Store != st || s.Result {
			continue
		}
		c := laidOut(&s.V, s.V.Strides)
		st.Unsave()
		c.Store.Save()
		s.V, s.version = c, c.Store.Version()
	}
}

// KeepOldSince is keepOld for n and what it was computed from after the tape's entry
// with that number.
func (n *GradNode) KeepOldSince(seq uint64, st *array.Storage) {
	seen := map[*GradNode]bool{}
	var walk func(n *GradNode)
	walk = func(n *GradNode) {
		if n == nil || n.Seq <= seq || seen[n] {
			return
		}
		seen[n] = true
		n.keepOld(st)
		for _, m := range n.In {
			walk(m)
		}
	}
	walk(n)
}

// laidOut returns a copy of v with the given strides.
func laidOut(v *array.View, strides []int) array.View {
	c := array.View{DType: v.DType, Shape: v.Shape, Strides: strides}
	lo, hi := c.Span()
	if tr := TracingViews(v); tr != nil {
		w := tr.Fresh(c.DType, []int{hi - lo})
		c.Store, c.Offset = w.Store, -lo
		CopyViews(nil, &c, v)
		return c
	}
	c.Store, c.Offset = Alloc(v.Store.Device, (hi-lo)*c.DType.Size()), -lo
	CopyViews(nil, &c, v)
	return c
}

// Writable panics if writing into t is not allowed.
func (t *Tensor) Writable(name string) {
	t.Check(name)
	if t.v.Store.ReadOnly() {
		array.Failf(name, "", "the memory of %s is read-only, it is that of a file: Clone it first, or map the file for copy-on-write", array.TypeString(t.v.DType, t.v.Shape))
	}
	t.NotExpanded(name)
	if array.Scoped.On() {
		t.refuseKept()
		if t.writesAgain(name) {
			array.Failf(name, "", "a function of Recompute writes into memory from outside: use Assign or AddAssign, which are left out when it is computed again")
		}
	}
	if tr := TracingViews(&t.v); tr != nil && tr.Made[t.v.Store] {
		tr.capture(t) // with the history that it has before
	}
	if !GradOn() {
		if tr := TracingViews(&t.v); tr != nil && tr.Callee && t.Node() != nil {
			array.Failf(name, "", "writes, inside WithoutGrad in a function that is mapped or that a loop or a branch runs, into a value that needs a gradient%s: Clone it", Here())
		}
		return
	}
	if n := t.Node(); n != nil {
		if n.Leaf != nil {
			if tr := TracingViews(&t.v); tr != nil && tr.Callee && tr.takes(t.v.Store) {
				array.Failf(name, "", "a step or a function of a branch writes in place into what it is given: Clone it first")
			}
			array.Failf(name, "", "the receiver is a leaf that requires a gradient: write into it inside WithoutGrad, which does not record")
		}
		if b, _ := t.root(); b.Node().Leaf != nil {
			array.Failf(name, "", "the receiver is a view of a leaf that requires a gradient: write into it inside WithoutGrad, which does not record")
		}
	}
}

// takes reports that s is the memory of an argument of the traced function.
func (tr *Trace) takes(s *array.Storage) bool {
	return slices.ContainsFunc(tr.Sources, func(x Source) bool { return x.Kind == FromArgument && x.At.Store == s })
}

// NotExpanded panics if several elements of t are one.
func (t *Tensor) NotExpanded(name string) {
	if !t.v.Writable() {
		array.Failf(name, "", "%s with strides %v is an expanded view, several of its elements are one: Clone it first", array.ShapeString(t.v.Shape), t.v.Strides)
	}
}

// Wrote counts a write into t's memory.
func (t *Tensor) Wrote() { t.v.Store.Bump(array.Caller) }

// Rebase makes n, which may be nil, the producer of the value just written into t. If t is a view,
// its root's history changes.
func (t *Tensor) Rebase(n *GradNode) {
	b := t
	for b.hist != nil && b.hist.viewOrigin != nil {
		b = b.hist.base
	}
	if tr := TracingViews(&b.v); tr != nil && tr.given(&b.v) {
		tr.keepHistory(b)
	}
	if b == t {
		if n != nil || t.hist != nil && !t.hist.frozen.Load() {
			t.SetNode(n)
		}
		return
	}
	if bn := b.Node(); n != nil || bn != nil {
		_, chain := t.root()
		b.SetNode(putNode(bn, n, &viewPath{chain, array.View{DType: b.v.DType, Shape: b.v.Shape, Strides: b.v.Strides}}))
	}
}

// putNode returns a node for writing a value into a view of base. Either may be nil: it needs no
// gradient.
func putNode(base, value *GradNode, at *viewPath) *GradNode {
	return &GradNode{Seq: TapeSeq.Add(1), In: []*GradNode{base, value}, NodeInfo: &NodeInfo{Name: "assign", DType: at.base.DType, Shape: at.base.Shape, put: at}}
}

// CopyViews copies src's elements, converted, into dst's memory; the two must not
// overlap. It runs on the default stream if s is nil.
func CopyViews(s *Stream, dst, src *array.View) {
	if tr := TracingViews(dst, src); tr != nil {
		tr.Copy(dst, src)
		return
	}
	p := LookupInto(copyDef, nil, []Operand{{T: &Tensor{v: *src}}, {T: &Tensor{v: *dst}}}, 1, composeCopy)
	RunPlan("copy", s, p.Compiled(), []*array.View{src}, nil, unsafe.Slice(dst, 1))
}

// copyDef marks copies in the plan cache.
var copyDef = &op.Def{Name: "copy"}

// composeCopy is the argument converted and broadcast to what the other operand
// is.
func composeCopy(p *Planned, args []*ir.Node) ([]*ir.Node, []plan.Sig) {
	dst := &p.Sigs[1]
	x := op.Convert(args[0], dst.DType)
	if !array.Equal(x.Shape, dst.Shape) {
		x = op.Apply(op.Expand, op.Shape(dst.Shape), x)
	}
	return []*ir.Node{x}, []plan.Sig{{DType: dst.DType, Shape: dst.Shape, Strides: dst.Strides}}
}

// CopyInto writes src, broadcast and converted, into dst, also when they overlap.
func CopyInto(dst, src *Tensor) {
	s := src.v
	if s.Overlaps(&dst.v) {
		if s.Same(&dst.v) {
			return
		}
		s = (&Tensor{v: s, run: src.run.onStream()}).Clone().v
	}
	CopyViews(cmp.Or(dst.run.stream(), src.run.stream()), &dst.v, &s)
}

// CopyFrom is [CopyInto] for memory that others may know.
func (t *Tensor) CopyFrom(x *Tensor) {
	w := OpenWrite(&t.v)
	defer w.Done()
	CopyInto(t, x)
}

// UpdateFrom is [Tensor.CopyFrom] of a value that t mostly has already, as after indexed and
// masked writes. In tracked memory it writes and marks only what differs.
func (t *Tensor) UpdateFrom(x *Tensor) {
	if t.v.Store.Monitor() == nil || TracingViews(&t.v, &x.v) != nil || !OnHost(t) || !OnHost(x) || t.v.DType != x.v.DType || !array.Equal(t.v.Shape, x.v.Shape) {
		t.CopyFrom(x)
		return
	}
	c := &Tensor{v: x.v}
	if c.v.Overlaps(&t.v) {
		c = c.Clone()
	}
	from := ToHost(c.Contiguous())
	defer Leave(&from)
	w := OpenWrite(&t.v)
	defer func() { w.Done() }()
	use(&t.v)
	defer Leave(&t.v)
	w.part = copyChanged(&t.v, &from)
}

// Assigned is Assign by another name, with another name of its argument and another way to
// write.
func (t *Tensor) Assigned(opName, arg string, o Operand, write func(t, x *Tensor)) *Tensor {
	if array.Scoped.On() && t.writesAgain(opName) {
		return t
	}
	t.Writable(opName)
	if o.T == nil {
		if o.Num.Kind > t.v.DType.Category() && !(o.Num.Kind == array.CatInt && t.v.DType == array.Bool) {
			kind := map[array.Category]string{array.CatFloat: "a float", array.CatComplex: "complex"}[o.Num.Kind]
			array.Failf(opName, arg, "is %s, which cannot be written into %s: convert the receiver with To first", kind, t.v.DType)
		}
		if t.filled(opName, &o) {
			return t
		}
		o.T = o.Number(opName, t.v.Store.Device, t.v.DType)
	}
	o.T.Check(opName)
	if c := o.T.v.DType.Category(); c >= array.CatFloat && c > t.v.DType.Category() {
		array.Failf(opName, arg, "is %s and cannot be written into %s: convert it with To", o.T.v.DType, t.v.DType)
	}
	if !array.BroadcastsTo(o.T.v.Shape, t.v.Shape) {
		array.Failf(opName, arg, "has shape %s, which does not broadcast to the receiver's %s", array.ShapeString(o.T.v.Shape), array.ShapeString(t.v.Shape))
	}
	if o.T.v.Store.Device != t.v.Store.Device {
		o.T = o.T.On(t.v.Store.Device)
	}
	grad := GradOn() && t.v.DType.Differentiable()
	var n *GradNode
	if grad && o.T.RequiresGrad() {
		x := Window(op.Expand, op.Shape(t.v.Shape), o.T)
		if x.v.DType != t.v.DType {
			x = x.To(t.v.DType)
		}
		n = x.Node()
	}
	if t.Size() > 0 {
		x := o.T.DetachHere()
		captureHere(x)
		write(t, x)
	}
	t.Wrote()
	if grad {
		t.Rebase(n)
	}
	return t
}

// filled writes a Go number into t where that is a row of the same bits that is short enough
// for one thread; it reports false if it is not.
func (t *Tensor) filled(opName string, o *Operand) bool {
	v := &t.v
	if !o.fills(opName, v) {
		return false
	}
	w := OpenWrite(v)
	func() {
		defer w.Done()
		fill(t.stream(), v, o.Num)
	}()
	t.Wrote()
	if v.DType.Differentiable() && GradOn() {
		t.Rebase(nil)
	}
	return true
}
