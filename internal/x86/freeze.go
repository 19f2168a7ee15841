package x86

import (
	"slices"

	"weft/internal/jit"
	"weft/internal/loop"
)

// What a loop carries is computed where it is carried, at the end of the trip, if one
// instruction does it: no register is moved. Lanes that have left a loop keep their
// values; on AVX-512 the instructions that compute the next ones and the condition see to
// that themselves, under the mask of lanes that go on.

// leaveNext notes which next values of a loop are computed where they are carried: by
// one instruction that reads no other carried value, as that may be gone by then, nor
// what is left to it.
func (c *compiler) leaveNext(r *loop.Region) {
	for n, v := range r.Next {
		in := &c.p.Ins[v]
		masked := c.masked(r, r.Params[n])
		if masked && c.isa == jit.AVX2 {
			continue
		}
		single := (direct[c.isa][in.Op][in.Type] != 0 || in.Op == loop.OpLookup) && !(in.Type.Float() && (in.Op == loop.OpMin || in.Op == loop.OpMax))
		if !single || in.Type.Size() < 4 || masked && in.Op == loop.OpFma && in.C != r.Params[n] {
			continue
		}
		others := false
		for _, o := range in.Operands() {
			others = others || o != loop.NoValue && (c.fused[o] || c.origin(o) != r.Params[n] && slices.Contains(r.Params, c.origin(o)))
		}
		if !others {
			c.take1(r.Body, v, in.Op)
		}
	}
}

// masked reports a carried value that keeps, in lanes that have left, what it was.
func (c *compiler) masked(r *loop.Region, q loop.Value) bool {
	return !c.together(r) && !c.same[q] && c.kept[q]
}

// nextInto computes register i of a next value that was left, in the lanes of d that
// k has, or all if that is 0.
func (c *compiler) nextInto(in *loop.Ins, i int, d, k vr) {
	if k == 0 {
		if in.Op == loop.OpFma {
			c.op3(direct[c.isa][in.Op][in.Type], d, c.get(in.A, i), c.get(in.B, i), c.get(in.C, i))
		} else {
			c.arith(in, d, c.get(in.A, i), c.second(in, i))
		}
		return
	}
	if in.Op == loop.OpFma {
		c.op2(fmaOps[in.Type-loop.F32][0].f231, d, c.get(in.A, i), c.get(in.B, i))
	} else {
		c.arith(in, d, c.get(in.A, i), c.second(in, i))
	}
	c.code[len(c.code)-1].mask(k).rmw()
}

// leaveCondition notes which parts of a condition at the end of a head narrow the mask
// of lanes themselves.
func (c *compiler) leaveCondition(head []loop.Value, v loop.Value) {
	switch in := &c.p.Ins[v]; in.Op {
	case loop.OpAnd:
		if c.take1(head, v, in.Op); c.left(v) != nil {
			c.leaveCondition(head, in.A)
			c.leaveCondition(head, in.B)
		}
	case loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe, loop.OpLtU, loop.OpLeU:
		if t := c.p.Ins[in.A].Type; t != loop.B && (t.Size() == 4 || c.lay.parts == 1) && !c.fused[in.A] {
			c.take1(head, v, in.Op)
		}
	}
}

// narrowMask keeps of m, the mask of step s, the lanes where condition v holds.
func (c *compiler) narrowMask(m vr, v loop.Value, s int) {
	in := c.left(v)
	switch {
	case in == nil:
		c.do(loop.OpAnd, loop.B, m, m, c.get(v, s))
	case in.Op == loop.OpAnd:
		a, b := in.A, in.B
		// A float comparison is likelier to be waited for: last.
		if x := c.left(a); x != nil && x.Op != loop.OpAnd && c.p.Ins[x.A].Type.Float() {
			a, b = b, a
		}
		c.narrowMask(m, a, s)
		c.narrowMask(m, b, s)
	default:
		c.compareReg(in.Op, c.p.Ins[in.A].Type, m, c.get(in.A, s), c.get(in.B, s))
		c.code[len(c.code)-1].mask(m)
	}
}
