package weft

import (
	"context"
	"iter"
	"slices"
	"sync"

	"weft/internal/array"
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
		ops := eagerOperands(make([]operand, 0, 8), d, args)
		if dst != nil {
			writeAll(d, a, dst, ops)
			return dst
		}
		return applyAll(d, a, ops...)
	}
	eager.New = func(d array.DType, shape []int) *Tensor { return unset("empty", 0, d, shape) }
	eager.Mark = func(name string, t *Tensor) {
		t.writable(name)
		computeReaders(t.v.Store)
		t.wrote()
	}
	eager.Plain = func(t *Tensor) bool {
		s := t.v.Store
		if s.Released() || s.ReadOnly() || s.Monitor() != nil || t.hist != nil || array.Deferring.On() {
			return false
		}
		t.wrote()
		return true
	}
	eager.Begin = func(lo, hi int, ts []*Tensor) func() {
		tracked := false
		for _, t := range ts {
			computeReaders(t.v.Store)
			tracked = tracked || t.v.Store.Monitor() != nil
		}
		if !tracked {
			return func() {}
		}
		rows := make([]*Tensor, len(ts))
		for i, t := range ts {
			rows[i] = (&Tensor{v: t.v}).Slice(Range(lo, hi))
		}
		return openWrites(rows).done
	}
	eager.Sizes = func(t *Tensor) []int {
		t.notNil("shape")
		return slices.Clip(t.v.Shape)
	}
	eager.Take = func(t *Tensor) array.View {
		t.check("view")
		return hostView(t)
	}
	eager.Keep = func(t *Tensor) (array.View, func()) {
		t.check("view")
		if !t.v.Store.Lend() {
			failReleased("view", &t.v)
		}
		return t.v, t.v.Store.Unlend
	}
	eager.Alone = func(opName string, t *Tensor, f func()) {
		t.check(opName)
		st := t.v.Store
		held, err := lock.Acquire(context.Background(), []lock.Want{{Lock: &st.Lock, Write: true, Of: st}}, jit.Goroutine, false)
		if err != nil {
			panic((&supplied{}).refused(opName, err))
		}
		defer held.Release()
		f()
	}
	eager.Wrap = fromView
	eager.Copy = copyLeaf
	eager.Needs = func(t *Tensor) bool { return t.RequiresGrad() && gradOn() }
	eager.Is = func(t, u *Tensor) bool { return t.v.Same(&u.v) }
	eager.Mine = (*Tensor).own
	eager.Fuse = func(name string, compose func([]*ir.Node) []*ir.Node) eager.Fused[*Tensor] {
		return newGiven(name, compose)
	}
	eager.Thaw = func(t *Tensor) {
		t.notNil("unfreeze")
		t.freeze(false)
	}
	eager.Show = func(d *op.Def, a ir.Attrs, args []any) string {
		return lookup(d, a, eagerOperands(nil, d, args)).explain(graphtext.Names{})
	}
}

// A givenFused is a formula for package eager, which passes tensors and Go numbers as any.
type givenFused struct{ f *fused }

func newGiven(name string, compose func([]*ir.Node) []*ir.Node) *givenFused {
	return &givenFused{newFused(name, compose)}
}

var operandLists = sync.Pool{New: func() any { return new([]operand) }}

// with calls do with args as operands. do must not keep them.
func (f *givenFused) with(args []any, do func(ops []operand)) {
	f.f.notNil()
	list := operandLists.Get().(*[]operand)
	ops := (*list)[:0]
	for _, x := range args {
		ops = append(ops, asOperand(f.f.def.Name, "", x))
	}
	do(ops)
	clear(ops)
	*list = ops
	operandLists.Put(list)
}

func (f *givenFused) Into(dst []*Tensor, args ...any) {
	f.with(args, func(ops []operand) { f.f.Into(dst, ops) })
}

func (f *givenFused) IntoAll(calls iter.Seq2[[]*Tensor, []any]) {
	if calls == nil {
		array.Failf("fused", "calls", "is nil")
	}
	f.f.IntoAll(func(yield func([]*Tensor, []operand) bool) {
		for dst, args := range calls {
			more := false
			f.with(args, func(ops []operand) { more = yield(dst, ops) })
			if !more {
				return
			}
		}
	})
}

func (f *givenFused) IntoRows(places *Tensor, dst []*Tensor, args ...any) {
	f.with(args, func(ops []operand) { f.f.IntoRows(places, dst, ops) })
}

func (f *givenFused) InPlace(dst []*Tensor, args ...any) (in bool) {
	f.with(args, func(ops []operand) { in = f.f.InPlace(dst, ops) })
	return in
}

func eagerOperands(ops []operand, d *op.Def, args []any) []operand {
	if len(args) == 0 {
		array.Failf(d.Name, "", "has no arguments")
	}
	for _, x := range args {
		ops = append(ops, asOperand(d.Name, "", x))
	}
	return ops
}

// writeAll computes d of args into dst, tensors.
func writeAll(d *op.Def, a ir.Attrs, dst []*Tensor, args []operand) {
	recorded := gradOn()
	ins := make([]*Tensor, 0, len(args))
	for i := range args {
		t := args[i].t
		if t == nil {
			continue
		}
		t.check(d.Name)
		if recorded && t.node() != nil {
			array.Failf(d.Name, "", "writes into tensors that are there, which is not recorded, and argument %d needs a gradient: call inside WithoutGrad, or give it as Detach()", i)
		}
		ins = append(ins, t)
	}
	ops := args[:len(args):len(args)]
	for _, t := range dst {
		o := tensorOperand(d.Name, t)
		t.writable(d.Name)
		ops = append(ops, o)
	}
	p := lookupInto(d, a, ops, len(args), func(p *planned, args []*ir.Node) ([]*ir.Node, []plan.Sig) {
		nodes := op.ApplyAll(d, p.a, args...)
		if len(nodes) != len(dst) {
			array.Failf(d.Name, "dst", "has %d places for %d results", len(dst), len(nodes))
		}
		into := make([]plan.Sig, len(dst))
		for i, x := range nodes {
			s := &p.sigs[p.nargs+i]
			if x.DType != s.dtype || !array.Equal(x.Shape, s.shape) {
				array.Failf(d.Name, "dst", "result %d is %s, its place %s", i, array.TypeString(x.DType, x.Shape), array.TypeString(s.dtype, s.shape))
			}
			into[i] = plan.Sig{DType: s.dtype, Shape: s.shape, Strides: s.strides}
		}
		return nodes, into
	})
	w := openWrites(dst)
	defer w.done()
	views := make([]array.View, len(dst))
	if tr := tracingOf(ops); tr != nil {
		tr.compute(p, args, views)
		for i, t := range dst {
			tr.copy(&t.v, &views[i])
		}
		return
	}
	direct := true // no memory is written while it is read
	for i, t := range dst {
		views[i] = t.v
		for _, x := range ins {
			direct = direct && (!x.v.Overlaps(&t.v) || x.v.Same(&t.v) && p.compiled().Plan.InPlace)
		}
		for _, other := range dst[:i] {
			direct = direct && !other.v.Overlaps(&t.v)
		}
	}
	if direct {
		p.compute(args, views)
	} else {
		clear(views)
		lookup(d, a, args).compute(args, views)
		for i, t := range dst {
			copyViews(&t.v, &views[i])
			free(views[i].Store)
		}
	}
}

// fromView makes a tensor of a strided window.
func fromView(v array.View) *Tensor { return &Tensor{v: v} }
