package core

import (
	"context"
	"hash/fnv"
	"reflect"
	"slices"

	"weft/half"
	"weft/internal/array"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/lock"
	"weft/internal/op"
	"weft/internal/plan"
)

// What packages beside the face do with tensors that users cannot: operations of their own, memory
// of tensors, writes that no operation makes. They convert: (*core.Tensor)(t).

// Call computes an operation and returns its results. One plan is made for each d, key of
// attributes, types, shapes and strides; numbers are given at run time. d is mostly of class
// Composite and of the caller's own.
//
// Without dst results are new tensors, recorded for gradients. Else result i is written into
// dst[i], which has its shape and element type, any layout, and may overlap arguments; nothing is
// recorded then, and an argument that needs a gradient is refused.
func Call(d *op.Def, a ir.Attrs, dst []*Tensor, args ...Operand) []*Tensor {
	if len(args) == 0 {
		array.Failf(d.Name, "", "has no arguments")
	}
	if dst != nil {
		writeAll(d, a, dst, args)
		return dst
	}
	return ApplyAll(d, a, args...)
}

// Explain returns the plan of [Call] for these arguments: loop programs and machine code.
func Explain(d *op.Def, a ir.Attrs, args ...Operand) string {
	return Lookup(d, a, args).Explain(graphtext.Names{})
}

// writeAll computes d of args into dst, tensors.
func writeAll(d *op.Def, a ir.Attrs, dst []*Tensor, args []Operand) {
	recorded := GradOn()
	ins := make([]*Tensor, 0, len(args))
	for i := range args {
		t := args[i].T
		if t == nil {
			continue
		}
		t.Check(d.Name)
		if recorded && t.Node() != nil {
			array.Failf(d.Name, "", "writes into tensors that are there, which is not recorded, and argument %d needs a gradient: call inside WithoutGrad, or give it as Detach()", i)
		}
		ins = append(ins, t)
	}
	ops := args[:len(args):len(args)]
	for _, t := range dst {
		o := Of(d.Name, t)
		t.Writable(d.Name)
		ops = append(ops, o)
	}
	p := LookupInto(d, a, ops, len(args), func(p *Planned, args []*ir.Node) ([]*ir.Node, []plan.Sig) {
		nodes := op.ApplyAll(d, p.A, args...)
		if len(nodes) != len(dst) {
			array.Failf(d.Name, "dst", "has %d places for %d results", len(dst), len(nodes))
		}
		into := make([]plan.Sig, len(dst))
		for i, x := range nodes {
			s := &p.Sigs[p.Nargs+i]
			if x.DType != s.DType || !array.Equal(x.Shape, s.Shape) {
				array.Failf(d.Name, "dst", "result %d is %s, its place %s", i, array.TypeString(x.DType, x.Shape), array.TypeString(s.DType, s.Shape))
			}
			into[i] = plan.Sig{DType: s.DType, Shape: s.Shape, Strides: s.Strides}
		}
		return nodes, into
	})
	w := OpenWrites(dst)
	defer w.Done()
	views := make([]array.View, len(dst))
	if tr := TracingOf(ops); tr != nil {
		tr.Compute(p, args, views)
		for i, t := range dst {
			tr.Copy(&t.v, &views[i])
		}
		return
	}
	direct := true // no memory is written while it is read
	for i, t := range dst {
		views[i] = t.v
		for _, x := range ins {
			direct = direct && (!x.v.Overlaps(&t.v) || x.v.Same(&t.v) && p.Compiled().Plan.InPlace)
		}
		for _, other := range dst[:i] {
			direct = direct && !other.v.Overlaps(&t.v)
		}
	}
	if direct {
		p.Compute(args, views)
	} else {
		clear(views)
		Lookup(d, a, args).Compute(args, views)
		for i, t := range dst {
			CopyViews(nil, &t.v, &views[i])
			Free(views[i].Store)
		}
	}
}

// A Composite is a formula with one or more results that are computed together by one plan and
// recorded for gradients, such as a normalisation with its mean and variance.
type Composite struct{ def *op.Def }

// NewComposite returns the formula that compose builds from nodes of its arguments. gradient,
// which may be nil, sets the gradients of the arguments; without it the parts are
// differentiated and what they need is computed again.
func NewComposite(name string, compose func(args []*ir.Node) []*ir.Node, gradient func(v *op.VJP)) Composite {
	h := fnv.New64a()
	h.Write([]byte("composite " + name))
	return Composite{&op.Def{Name: name, Hash: h.Sum64(), Class: op.Composite, Arity: -1,
		Composed:   op.Composed{ComposeAll: func(args []*ir.Node, _ ir.Attrs) []*ir.Node { return compose(args) }},
		Derivative: op.Derivative{VJP: gradient}}}
}

// Apply computes the formula of args and returns its results.
func (c Composite) Apply(args ...Operand) []*Tensor { return Call(c.def, nil, nil, args...) }

// Make returns a new tensor on a device whose elements are undefined: the caller writes all of them.
func Make(number uint8, d array.DType, shape []int) *Tensor { return Unset("empty", number, d, shape) }

// FromView returns a tensor of a strided window. Of memory of the host it is a copy where the device
// does not reach that.
func FromView(v array.View) *Tensor {
	if !Reached(v.Store.Device) && here(&v) {
		return upload(v)
	}
	return &Tensor{v: v}
}

// Retyped returns the window v of t's memory, whose elements may be of another type than t's. It
// has t's scope and stream, and nothing is recorded: gradients do not flow between it and t.
func (t *Tensor) Retyped(v array.View) *Tensor {
	t.Check("view")
	return &Tensor{v: v, run: t.run, view: true}
}

// DTypeOf returns the type of tensors that hold elements of a Go type.
func DTypeOf(t reflect.Type) (array.DType, bool) {
	switch t {
	case reflect.TypeFor[half.Float16]():
		return array.Float16, true
	case reflect.TypeFor[half.BFloat16]():
		return array.BFloat16, true
	}
	d, ok := kinds[t.Kind()]
	return d, ok
}

var kinds = map[reflect.Kind]array.DType{reflect.Bool: array.Bool, reflect.Int8: array.Int8, reflect.Int16: array.Int16, reflect.Int32: array.Int32,
	reflect.Int64: array.Int64, reflect.Int: array.Int64, reflect.Uint8: array.Uint8, reflect.Uint16: array.Uint16, reflect.Uint32: array.Uint32,
	reflect.Uint64: array.Uint64, reflect.Uint: array.Uint64, reflect.Float32: array.Float32, reflect.Float64: array.Float64,
	reflect.Complex64: array.Complex64, reflect.Complex128: array.Complex128}

// Sizes returns the sizes of the axes without a copy: the caller must neither write to the slice
// nor append to a part of it.
func (t *Tensor) Sizes() []int {
	t.NotNil("shape")
	return slices.Clip(t.v.Shape)
}

// Layout returns the strided window that t is, to compare it with others: it neither waits nor
// copies. It refuses memory that was given back.
func (t *Tensor) Layout() *array.View {
	t.Check("view")
	return &t.v
}

// Read returns the strided window on the host that t is, or a copy there. It refuses memory that was
// given back.
func (t *Tensor) Read() array.View {
	t.Check("view")
	return HostView(t)
}

// Lend returns the strided window on the host that t is, or a copy there. Its memory cannot be given
// back before done is called: for what hands it to others' code.
func (t *Tensor) Lend() (v array.View, done func()) {
	t.Check("view")
	if !Reached(t.v.Store.Device) {
		return HostView(t), func() {}
	}
	if !t.v.Store.Lend() {
		FailReleased("view", &t.v)
	}
	return t.v, t.v.Store.Unlend
}

// Same reports that t and u are the same window on the same memory, which it does not read.
func (t *Tensor) Same(u *Tensor) bool { return t.v.Same(&u.v) }

// Recorded reports that operations on t are recorded: it needs a gradient, and the caller is not
// inside WithoutGrad.
func (t *Tensor) Recorded() bool { return t.RequiresGrad() && GradOn() }

// Unload takes memory of t that lies in a file and was not written out of the process: the next use reads it again.
// Requires: nobody writes t meanwhile.
func (t *Tensor) Unload() { t.v.Store.Unload() }

// CanAdopt reports whether [Tensor.Adopt] may give t the memory of x: both are whole tensors of one type and shape, in
// row-major order and on one device, and x is not computed from what needs a gradient.
func (t *Tensor) CanAdopt(x *Tensor) bool {
	n := x.Node()
	return !t.view && !x.view && (n == nil || n.Leaf != nil) && t.v.DType == x.v.DType && array.Equal(t.v.Shape, x.v.Shape) && t.v.Contiguous() && x.v.Contiguous() &&
		t.v.Store.Device == x.v.Store.Device && TracingViews(&t.v) == nil && TracingViews(&x.v) == nil
}

// Adopt makes the memory of x that of t, and gives back what t had. Requires: CanAdopt, and no other tensor has
// memory of t.
func (t *Tensor) Adopt(x *Tensor) {
	old := t.v.Store
	t.v = x.v
	old.Release()
}

// Unfreeze makes a leaf again of one that RequireGrad(false) made a tensor like any other.
func (t *Tensor) Unfreeze() {
	t.NotNil("unfreeze")
	t.Freeze(false)
}

// Mark says that memory of t is about to be written without an operation: it refuses memory that
// was given back or must not be written, and counts the write, so that a backward pass which needs
// the old elements reports it. opName is the name in errors.
func (t *Tensor) Mark(opName string) {
	t.Writable(opName)
	ComputeReaders(t.v.Store)
	t.Wrote()
}

// MarkPlain is [Tensor.Mark] of contiguous memory that is written with nothing more to do. It is
// false, and nothing is counted, where Mark would refuse, or where memory is tracked or somebody
// may wait to read it, so that [OpenRows] is needed.
func (t *Tensor) MarkPlain() bool {
	s := t.v.Store
	if s.Released() || s.ReadOnly() || s.Monitor() != nil || t.hist != nil || array.Deferring.On() {
		return false
	}
	t.Wrote()
	return true
}

// OpenRows says that rows lo to before hi of each of ts, which are contiguous, are written without
// an operation until done is called: what waits to read their memory is computed first, and tracked
// memory knows which bytes change. Nothing else may be written meanwhile.
func OpenRows(lo, hi int, ts ...*Tensor) (done func()) {
	tracked := false
	for _, t := range ts {
		ComputeReaders(t.v.Store)
		tracked = tracked || t.v.Store.Monitor() != nil
	}
	if !tracked {
		return func() {}
	}
	rows := make([]*Tensor, len(ts))
	for i, t := range ts {
		shape := append([]int{hi - lo}, t.v.Shape[1:]...)
		rows[i] = &Tensor{v: t.v.Window(lo*t.v.Strides[0], shape, t.v.Strides)}
	}
	return OpenWrites(rows).Done
}

// Around takes locks that calls of compiled functions which the goroutine makes until done share. It panics
// with *array.Error if one cannot be had, or ctx ends.
func Around(ctx context.Context, opName string, wants []lock.Want) (done func()) {
	held, err := lock.Acquire(ctx, wants, jit.Goroutine, true)
	if err != nil {
		g := newSupplied(ctx)
		err := g.Refused(opName, err)
		g.Free()
		panic(err)
	}
	return held.Release
}

// Exclusively calls f, which writes into t, while no compiled function reads or writes the memory.
// It panics with *array.Error inside a call of one that does.
func (t *Tensor) Exclusively(opName string, f func()) {
	t.Check(opName)
	st := t.v.Store
	held, err := lock.Acquire(context.Background(), []lock.Want{{Lock: &st.Lock, Write: true, Of: st}}, jit.Goroutine, false)
	if err != nil {
		panic((&Supplied{}).Refused(opName, err))
	}
	defer held.Release()
	f()
}
