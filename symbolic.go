package weft

import (
	"slices"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/eager"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
)

// What package sym replays expressions by.
func init() {
	eager.Infer = func(types []ir.Type, f func([]*Tensor) []*Tensor) []ir.Type {
		outer := core.TracingHere()
		tr := core.NewTrace(nil)
		defer func() {
			tr.End()
			if outer != nil {
				core.Running.Store(tr.Thread, outer)
			}
		}()
		ts := make([]*Tensor, len(types))
		for i, t := range types {
			array.CheckShape("sym", t.Shape, t.DType)
			ts[i] = made(tr.Fresh(t.DType, t.Shape))
		}
		var outs []*Tensor
		core.Recording(true, func() { outs = f(ts) })
		res := make([]ir.Type, len(outs))
		for i, t := range outs {
			res[i] = ir.Type{DType: t.v().DType, Shape: t.v().Shape}
		}
		return res
	}
	eager.Function = func(name string, line *uintptr, types []ir.Type, f func([]*Tensor) []*Tensor) (*op.Function, []eager.Drawing) {
		return core.FunctionOf(name, line, types, func(ts []*core.Tensor) []*core.Tensor { return inner(f(outer(ts))) })
	}
	eager.Draws = func(d eager.Drawing, n int) (seed, numbers *Tensor) {
		x := d.(core.Drawing)
		each := x.Count
		x.Count *= n
		var a, b exec.Number
		var first *Tensor
		tr := core.TracingHere()
		if tr == nil {
			s := x.From.Skip(x.Count)
			if a, b = core.Word(s.Seed).Num, core.Word(s.Draw).Num; x.Short {
				b.Int &= core.Low32
			}
			seed, first = ScalarOf(Int64, a.Int), ScalarOf(Int64, b.Int)
		} else {
			a, b = tr.Draws(x)
			seed, first = made(tr.Scalar(a, Int64)), made(tr.Scalar(b, Int64))
		}
		// Each run goes on where the one before it ended.
		return seed, OnesOf(Int64, n).CumSum(0).Sub(1).Mul(each).Add(first)
	}
	eager.Constant = func(t *Tensor) (*Tensor, bool) {
		if tr := core.TracingHere(); tr != nil {
			x, same := tr.Fixed(t.c())
			return (*Tensor)(x), same
		}
		return t, false
	}
	eager.Jacobian = func(y *Tensor, x []*Tensor, create bool) []*Tensor {
		m := y.Size()
		out := make([]*Tensor, len(x))
		if y.c().Node() != nil && m > 0 {
			seeds := Eye(m).To(y.v().DType).c().On(y.v().Store.Device).Reshape(append([]int{m}, y.v().Shape...)...)
			out = outer(core.WalkRows("jacobian", inner([]*Tensor{y}), inner(x), core.WalkOpts{Seeds: inner([]*Tensor{(*Tensor)(seeds)}), Create: create, Retain: true, AllowUnused: true}, m))
		}
		for i, g := range out {
			shape := append(slices.Clone(y.v().Shape), x[i].v().Shape...)
			if g == nil {
				array.CheckShape("jacobian", shape, x[i].v().DType)
				out[i] = ZerosOf(x[i].v().DType, shape...)
			} else {
				out[i] = g.Reshape(shape...)
			}
		}
		return out
	}
}
