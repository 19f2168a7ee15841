package weft

import (
	"iter"
	"sync"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/eager"
	"weft/internal/ir"
	"weft/internal/op"
)

// What package eager runs operations of other packages by.
func init() {
	eager.Run = func(d *op.Def, a ir.Attrs, dst []*Tensor, args []any) []*Tensor {
		return outer(core.Call(d, a, inner(dst), eagerOperands(make([]core.Operand, 0, 8), d, args)...))
	}
	eager.New = func(d array.DType, shape []int) *Tensor { return (*Tensor)(core.Make(d, shape)) }
	eager.Mark = func(name string, t *Tensor) { t.c().Mark(name) }
	eager.Plain = func(t *Tensor) bool { return t.c().MarkPlain() }
	eager.Begin = func(lo, hi int, ts []*Tensor) func() { return core.OpenRows(lo, hi, inner(ts)...) }
	eager.Sizes = func(t *Tensor) []int { return t.c().Sizes() }
	eager.Take = func(t *Tensor) array.View { return t.c().Read() }
	eager.Keep = func(t *Tensor) (array.View, func()) { return t.c().Lend() }
	eager.Alone = func(opName string, t *Tensor, f func()) { t.c().Exclusively(opName, f) }
	eager.Wrap = func(v array.View) *Tensor { return (*Tensor)(core.FromView(v)) }
	eager.Copy = func(t *Tensor) *Tensor { return (*Tensor)(core.CopyLeaf(t.c())) }
	eager.Needs = func(t *Tensor) bool { return t.c().Recorded() }
	eager.Is = func(t, u *Tensor) bool { return t.c().Same(u.c()) }
	eager.Mine = func(t *Tensor) *Tensor { return (*Tensor)(t.c().Own()) }
	eager.Fuse = func(name string, compose func([]*ir.Node) []*ir.Node) eager.Fused[*Tensor] {
		return newGiven(name, compose)
	}
	eager.Thaw = func(t *Tensor) { t.c().Unfreeze() }
	eager.Show = func(d *op.Def, a ir.Attrs, args []any) string {
		return core.Explain(d, a, eagerOperands(nil, d, args)...)
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
