package weft

import (
	"slices"

	"weft/internal/array"
	"weft/internal/eager"
	"weft/internal/ir"
)

// What package sym replays expressions by.
func init() {
	eager.Infer = func(types []ir.Type, f func([]*Tensor) []*Tensor) []ir.Type {
		outer := tracingHere()
		tr := newTrace(nil)
		defer func() {
			tr.end()
			if outer != nil {
				running.Store(tr.thread, outer)
			}
		}()
		ts := make([]*Tensor, len(types))
		for i, t := range types {
			array.CheckShape("sym", t.Shape, t.DType)
			ts[i] = &Tensor{v: tr.fresh(t.DType, t.Shape)}
		}
		outs := f(ts)
		res := make([]ir.Type, len(outs))
		for i, t := range outs {
			res[i] = ir.Type{DType: t.v.DType, Shape: t.v.Shape}
		}
		return res
	}
	eager.Compile = func(name string, line *uintptr, f func([]*Tensor) []*Tensor) (call func([]*Tensor) []*Tensor, why func() string) {
		c := &Compiled[any]{c: &compiledFunc{name: name, direct: f, line: line}}
		call = func(args []*Tensor) []*Tensor {
			if compileOff || tracingHere() != nil {
				return f(args)
			}
			_, ts, _ := c.c.run(&supplied{tensors: args}, nil)
			return ts
		}
		return call, c.Why
	}
	eager.Jacobian = func(y *Tensor, x []*Tensor, create bool) []*Tensor {
		m := y.Size()
		out := make([]*Tensor, len(x))
		if y.node() != nil && m > 0 {
			seeds := Eye(m).To(y.v.DType).on(y.v.Store.Device).Reshape(append([]int{m}, y.v.Shape...)...)
			out = walkRows("jacobian", []*Tensor{y}, x, GradOpts{Seeds: []*Tensor{seeds}, Create: create, Retain: true, AllowUnused: true}, m)
		}
		for i, g := range out {
			shape := append(slices.Clone(y.v.Shape), x[i].v.Shape...)
			if g == nil {
				array.CheckShape("jacobian", shape, x[i].v.DType)
				out[i] = ZerosOf(x[i].v.DType, shape...)
			} else {
				out[i] = g.Reshape(shape...)
			}
		}
		return out
	}
}
