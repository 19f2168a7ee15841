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

// A flag is a carried truth value that ends a loop: the condition negates it, and it is
// read nowhere else in the loop. What else the condition asks is the same for all lanes. So it
// is what the mask of the lanes that go on is not, and no register holds it.
type flag struct {
	n      int          // of the parameter, -1 if there is none
	others []loop.Value // what else the condition asks
}

// findFlag looks for the flag of a loop, whose negation and conjunctions it leaves to it.
func (c *compiler) findFlag(r *loop.Region) flag {
	f := flag{n: -1}
	var inside []loop.Value
	var conjunct func(v loop.Value) bool
	conjunct = func(v loop.Value) bool {
		switch in := &c.p.Ins[v]; {
		case in.Op == loop.OpAnd && c.users.Of(v) == 1 && slices.Contains(r.Head, v):
			inside = append(inside, v)
			return conjunct(in.A) && conjunct(in.B)
		case c.same[v]:
			f.others = append(f.others, v)
			return true
		case in.Op == loop.OpNot && c.users.Of(v) == 1 && c.users.Of(in.A) == 1 && slices.Contains(r.Head, v) && f.n < 0:
			inside = append(inside, v)
			f.n = slices.Index(r.Params, in.A)
			return f.n >= 0
		}
		return false
	}
	if !conjunct(r.Cond) || f.n < 0 {
		return flag{n: -1}
	}
	for _, v := range inside {
		c.fused[v] = true
	}
	return f
}

// notInto makes of d, a mask, the lanes of it in which v does not hold.
func (c *compiler) notInto(d vr, v loop.Value, s int) {
	if in := &c.p.Ins[v]; in.Op != loop.OpConst || in.Imm != 0 {
		c.op2(andns[c.isa], d, c.get(v, s), d)
	}
}

// chooseInto overwrites a carried value where the lanes that go on have a condition: its next
// value is that, or what it was.
func (c *compiler) chooseInto(in *loop.Ins, q loop.Value, masks []vr) {
	both := make([]vr, len(masks))
	for s, m := range masks {
		both[s] = c.newM()
		c.do(loop.OpAnd, loop.B, both[s], m, c.get(in.A, s))
	}
	for i := range c.countOf(q) {
		c.merge(in.Type, c.get(q, i), c.get(in.B, i), c.maskFor(func(s int) vr { return both[s] }, in.Type, i))
	}
}

// leaveNext notes which next values of a loop are computed where they are carried: by
// one instruction that reads no other carried value, as that may be gone by then, nor
// what is left to it.
//
// A choice between something and the carried value itself, which under masks is one as
// well, is one choice, before any value is carried.
func (c *compiler) leaveNext(r *loop.Region, f flag) {
	for n, v := range r.Next {
		if n == f.n {
			continue
		}
		in, q := &c.p.Ins[v], r.Params[n]
		masked := c.masked(r, q)
		if masked {
			gone := func(o loop.Value) bool { // it may have been chosen already
				o = c.origin(o)
				return slices.Contains(r.Params, o) && !c.same[o]
			}
			read := false // its register is carried elsewhere too
			for m, o := range r.Next {
				read = read || m != n && c.origin(o) == q
			}
			if in.Op == loop.OpSelect && in.C == q && !read && !c.fused[in.A] && !c.fused[in.B] && !gone(in.A) && !gone(in.B) {
				c.take1(r.Body, v, in.Op)
				continue
			}
			if c.isa == jit.AVX2 {
				continue
			}
		}
		single := (direct[c.isa][in.Op][in.Type] != 0 || in.Op == loop.OpLookup) && !(in.Type.Float() && (in.Op == loop.OpMin || in.Op == loop.OpMax))
		if !single || in.Type.Size() < 4 || masked && in.Op == loop.OpFma && in.C != q {
			continue
		}
		others := false
		for _, o := range in.Operands() {
			others = others || o != loop.NoValue && (c.fused[o] || c.origin(o) != q && slices.Contains(r.Params, c.origin(o)))
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
	c.onLine(v, func() {
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
	})
}
