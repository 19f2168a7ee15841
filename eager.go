package weft

import (
	"context"
	"iter"
	"slices"
	"sync"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/eager"
	"weft/internal/graphtext"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/lock"
	"weft/internal/op"
	"weft/internal/plan"
)

// What package eager runs operations of other packages by.
func init() {
	eager.Run = func(d *op.Def, a ir.Attrs, dst []*Tensor, args []any) []*Tensor {
		ops := eagerOperands(make([]core.Operand, 0, 8), d, args)
		if dst != nil {
			writeAll(d, a, dst, ops)
			return dst
		}
		return outer(core.ApplyAll(d, a, ops...))
	}
	eager.New = func(d array.DType, shape []int) *Tensor { return (*Tensor)(core.Unset("empty", 0, d, shape)) }
	eager.Mark = func(name string, t *Tensor) {
		t.c().Writable(name)
		core.ComputeReaders(t.v().Store)
		t.c().Wrote()
	}
	eager.Plain = func(t *Tensor) bool {
		s := t.v().Store
		if s.Released() || s.ReadOnly() || s.Monitor() != nil || t.c().Hist() != nil || array.Deferring.On() {
			return false
		}
		t.c().Wrote()
		return true
	}
	eager.Begin = func(lo, hi int, ts []*Tensor) func() {
		tracked := false
		for _, t := range ts {
			core.ComputeReaders(t.v().Store)
			tracked = tracked || t.v().Store.Monitor() != nil
		}
		if !tracked {
			return func() {}
		}
		rows := make([]*Tensor, len(ts))
		for i, t := range ts {
			rows[i] = (made(*t.v())).Slice(Range(lo, hi))
		}
		return core.OpenWrites(inner(rows)).Done
	}
	eager.Sizes = func(t *Tensor) []int {
		t.c().NotNil("shape")
		return slices.Clip(t.v().Shape)
	}
	eager.Take = func(t *Tensor) array.View {
		t.c().Check("view")
		return core.HostView(t.c())
	}
	eager.Keep = func(t *Tensor) (array.View, func()) {
		t.c().Check("view")
		if !t.v().Store.Lend() {
			core.FailReleased("view", t.v())
		}
		return *t.v(), t.v().Store.Unlend
	}
	eager.Alone = func(opName string, t *Tensor, f func()) {
		t.c().Check(opName)
		st := t.v().Store
		held, err := lock.Acquire(context.Background(), []lock.Want{{Lock: &st.Lock, Write: true, Of: st}}, jit.Goroutine, false)
		if err != nil {
			panic((&core.Supplied{}).Refused(opName, err))
		}
		defer held.Release()
		f()
	}
	eager.Wrap = fromView
	eager.Copy = func(t *Tensor) *Tensor { return (*Tensor)(core.CopyLeaf(t.c())) }
	eager.Needs = func(t *Tensor) bool { return t.RequiresGrad() && core.GradOn() }
	eager.Is = func(t, u *Tensor) bool { return t.v().Same(u.v()) }
	eager.Mine = func(t *Tensor) *Tensor { return (*Tensor)(t.c().Own()) }
	eager.Fuse = func(name string, compose func([]*ir.Node) []*ir.Node) eager.Fused[*Tensor] {
		return newGiven(name, compose)
	}
	eager.Thaw = func(t *Tensor) {
		t.c().NotNil("unfreeze")
		t.c().Freeze(false)
	}
	eager.Show = func(d *op.Def, a ir.Attrs, args []any) string {
		return core.Lookup(d, a, eagerOperands(nil, d, args)).Explain(graphtext.Names{})
	}
}

// A givenFused is a formula for package eager, which passes tensors and Go numbers as any.
type givenFused struct{ f *core.Fused }

func newGiven(name string, compose func([]*ir.Node) []*ir.Node) *givenFused {
	return &givenFused{core.NewFused(name, compose)}
}

var operandLists = sync.Pool{New: func() any { return new([]core.Operand) }}

// with calls do with args as operands. do must not keep them.
func (f *givenFused) with(args []any, do func(ops []core.Operand)) {
	f.f.NotNil()
	list := operandLists.Get().(*[]core.Operand)
	ops := (*list)[:0]
	for _, x := range args {
		ops = append(ops, asOperand(f.f.Def.Name, "", x))
	}
	do(ops)
	clear(ops)
	*list = ops
	operandLists.Put(list)
}

func (f *givenFused) Into(dst []*Tensor, args ...any) {
	f.with(args, func(ops []core.Operand) { f.f.Into(inner(dst), ops) })
}

func (f *givenFused) IntoAll(calls iter.Seq2[[]*Tensor, []any]) {
	if calls == nil {
		array.Failf("fused", "calls", "is nil")
	}
	f.f.IntoAll(func(yield func([]*core.Tensor, []core.Operand) bool) {
		for dst, args := range calls {
			more := false
			f.with(args, func(ops []core.Operand) { more = yield(inner(dst), ops) })
			if !more {
				return
			}
		}
	})
}

func (f *givenFused) IntoRows(places *Tensor, dst []*Tensor, args ...any) {
	f.with(args, func(ops []core.Operand) { f.f.IntoRows(places.c(), inner(dst), ops) })
}

func (f *givenFused) InPlace(dst []*Tensor, args ...any) (in bool) {
	f.with(args, func(ops []core.Operand) { in = f.f.InPlace(inner(dst), ops) })
	return in
}

func eagerOperands(ops []core.Operand, d *op.Def, args []any) []core.Operand {
	if len(args) == 0 {
		array.Failf(d.Name, "", "has no arguments")
	}
	for _, x := range args {
		ops = append(ops, asOperand(d.Name, "", x))
	}
	return ops
}

// writeAll computes d of args into dst, tensors.
func writeAll(d *op.Def, a ir.Attrs, dst []*Tensor, args []core.Operand) {
	recorded := core.GradOn()
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
		ins = append(ins, (*Tensor)(t))
	}
	ops := args[:len(args):len(args)]
	for _, t := range dst {
		o := core.TensorOperand(d.Name, t.c())
		t.c().Writable(d.Name)
		ops = append(ops, o)
	}
	p := core.LookupInto(d, a, ops, len(args), func(p *core.Planned, args []*ir.Node) ([]*ir.Node, []plan.Sig) {
		nodes := op.ApplyAll(d, p.A, args...)
		if len(nodes) != len(dst) {
			array.Failf(d.Name, "dst", "has %d places for %d results", len(dst), len(nodes))
		}
		into := make([]plan.Sig, len(dst))
		for i, x := range nodes {
			s := &p.Sigs[p.Nargs+i]
			if x.DType != s.Dtype || !array.Equal(x.Shape, s.Shape) {
				array.Failf(d.Name, "dst", "result %d is %s, its place %s", i, array.TypeString(x.DType, x.Shape), array.TypeString(s.Dtype, s.Shape))
			}
			into[i] = plan.Sig{DType: s.Dtype, Shape: s.Shape, Strides: s.Strides}
		}
		return nodes, into
	})
	w := core.OpenWrites(inner(dst))
	defer w.Done()
	views := make([]array.View, len(dst))
	if tr := core.TracingOf(ops); tr != nil {
		tr.Compute(p, args, views)
		for i, t := range dst {
			tr.Copy(t.v(), &views[i])
		}
		return
	}
	direct := true // no memory is written while it is read
	for i, t := range dst {
		views[i] = *t.v()
		for _, x := range ins {
			direct = direct && (!x.v().Overlaps(t.v()) || x.v().Same(t.v()) && p.Compiled().Plan.InPlace)
		}
		for _, other := range dst[:i] {
			direct = direct && !other.v().Overlaps(t.v())
		}
	}
	if direct {
		p.Compute(args, views)
	} else {
		clear(views)
		core.Lookup(d, a, args).Compute(args, views)
		for i, t := range dst {
			core.CopyViews(t.v(), &views[i])
			core.Free(views[i].Store)
		}
	}
}

// fromView makes a tensor of a strided window.
func fromView(v array.View) *Tensor { return made(v) }
