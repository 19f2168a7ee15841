package weft

import (
	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// A Fused is a formula with several results that are computed together and
// written into tensors that exist, such as the update of a parameter and its
// momentum. It is for packages of this module.
type Fused struct {
	def     *op.Def // stands for the formula in the plan cache
	compose func(args []*ir.Node) []*ir.Node
}

// NewFused returns the formula that compose builds from nodes of its arguments.
func NewFused(name string, compose func(args []*ir.Node) []*ir.Node) *Fused {
	h := uint64(0xf05ed)
	for _, c := range []byte(name) {
		h = mix(h, uint64(c))
	}
	return &Fused{def: &op.Def{Name: name, Hash: h}, compose: compose}
}

// Into computes the formula of args, tensors or Go numbers, and writes result i,
// which must have that shape and element type, into dst[i]. Every result is
// computed from the arguments as they were before. Numbers are given at run
// time: another value needs no other plan. No gradient is recorded; a leaf that
// needs one is written through its [Tensor.NoGrad].
func (f *Fused) Into(dst []*Tensor, args ...any) {
	p, ops, direct := f.prepare(dst, args)
	ins := make([]*array.View, 0, len(args))
	nums := make([]exec.Number, 0, p.nums)
	for _, o := range ops[:len(args)] {
		if o.t == nil {
			nums = append(nums, o.num)
		} else {
			ins = append(ins, &o.t.v)
		}
	}
	outs := make([]array.View, len(dst))
	if direct {
		for i, t := range dst {
			outs[i] = t.v
		}
	}
	runPlan(f.def.Name, p.compiled(), ins, nums, outs)
	for i, t := range dst {
		if !direct {
			copyViews(&t.v, &outs[i])
			free(outs[i].Store)
		}
		t.wrote()
	}
}

// InPlace reports whether Into, with the same operands, is one kernel that writes
// the results where they belong, without a copy.
func (f *Fused) InPlace(dst []*Tensor, args ...any) bool {
	_, _, direct := f.prepare(dst, args)
	return direct
}

// prepare checks and plans. direct tells that the results can be computed where
// they belong.
func (f *Fused) prepare(dst []*Tensor, args []any) (p *planned, ops []operand, direct bool) {
	if f == nil || f.compose == nil {
		array.Failf("fused", "", "the Fused is nil or composes nothing")
	}
	name := f.def.Name
	ops = make([]operand, len(args), len(args)+len(dst))
	for i, x := range args {
		ops[i] = asOperand(name, x)
		if t := ops[i].t; t != nil {
			t.check(name)
		}
	}
	for _, t := range dst {
		t.writable(name)
		ops = append(ops, operand{t: t})
	}
	p = f.lookup(len(args), ops)
	direct = p.compiled().Plan.InPlace
	for _, t := range dst {
		direct = direct && t.v.Contiguous()
		for _, o := range ops[:len(args)] {
			if o.t != nil && o.t.v.Overlaps(&t.v) && !o.t.v.Same(&t.v) {
				direct = false
			}
		}
	}
	return p, ops, direct
}

// lookup returns the formula planned for operands, of which the first n are
// arguments and the others receive the results.
func (f *Fused) lookup(n int, ops []operand) *planned {
	return lookupInto(f.def, nil, ops, n, func(p *planned, args []*ir.Node) ([]*ir.Node, []plan.Sig) {
		outs := f.compose(args)
		if have := len(p.sigs) - n; len(outs) != have || have == 0 {
			array.Failf(f.def.Name, "dst", "has %d places for %d results", have, len(outs))
		}
		for i, x := range outs {
			if s := &p.sigs[n+i]; x.DType != s.dtype || !array.Equal(x.Shape, s.shape) {
				array.Failf(f.def.Name, "", "result %d is %s, its place %s", i, array.TypeString(x.DType, x.Shape), array.TypeString(s.dtype, s.shape))
			}
		}
		return outs, nil
	})
}
