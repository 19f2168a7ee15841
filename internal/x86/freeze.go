package x86

import (
	"slices"

	"weft/internal/jit"
	"weft/internal/loop"
)

// The next value of a loop-carried variable is computed in its own register at the end of the trip,
// if one instruction does it, which saves a move. Lanes that have left a loop keep their values: on
// AVX-512 the instructions that compute next values and the condition run under the mask of the
// lanes that go on.

// A flag is a loop-carried truth value that ends a loop. The condition negates it, nothing else in
// the loop reads it, and the other conjuncts of the condition are uniform. So the flag is the
// complement of the mask of the lanes that go on, and no register holds it.
type flag struct {
	n      int          // number of the parameter, -1 if there is none
	others []loop.Value // the uniform conjuncts of the condition
	rest   []loop.Value // the conjuncts that are not uniform
}

// conjuncts splits the condition of a loop that lanes leave at different times into the conjuncts
// that are uniform and the rest, and returns the ANDs that joined them as well.
func (c *compiler) conjuncts(r *loop.Region) (joins, same, rest []loop.Value) {
	var split func(v loop.Value)
	split = func(v loop.Value) {
		switch in := &c.p.Ins[v]; {
		case c.uniform[v]:
			same = append(same, v)
		case in.Op == loop.OpAnd && c.users.Of(v) == 1 && slices.Contains(r.Head, v):
			joins = append(joins, v)
			split(in.A)
			split(in.B)
		default:
			rest = append(rest, v)
		}
	}
	split(r.Cond)
	return joins, same, rest
}

// findFlag returns the flag of a loop, if it has one, and the conjuncts of its condition. It sets
// fused for the negation of the flag and for the ANDs, which are then not computed.
func (c *compiler) findFlag(r *loop.Region) flag {
	joins, others, rest := c.conjuncts(r)
	f := flag{n: -1, others: others, rest: rest}
	if v := rest[0]; len(rest) == 1 {
		if in := &c.p.Ins[v]; in.Op == loop.OpNot && c.users.Of(v) == 1 && c.users.Of(in.A) == 1 && slices.Contains(r.Head, v) {
			if f.n = slices.Index(r.Params, in.A); f.n >= 0 {
				joins = append(joins, v)
			}
		}
	}
	if f.n < 0 && len(others) == 0 {
		f.rest = []loop.Value{r.Cond}
		return f
	}
	for _, v := range joins {
		c.fused[v] = true
	}
	return f
}

// notInto sets the mask d to d AND NOT v, at step s.
func (c *compiler) notInto(d vr, v loop.Value, s int) {
	if in := &c.p.Ins[v]; in.Op != loop.OpConst || in.Imm != 0 {
		c.op2(andns[c.isa], d, c.get(v, s), d)
	}
}

// chooseInto lowers a select whose third operand is the loop-carried value q itself: it overwrites
// q in the lanes that go on and where the condition holds.
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

// leaveNext sets fused for the next values of a loop that are computed in the register of their
// variable. That takes one instruction that reads no other loop-carried value, which may be
// overwritten by then, and nothing that is fused itself.
//
// Under masks, a select between a value and the loop-carried value itself becomes one masked move,
// before any other variable is overwritten.
func (c *compiler) leaveNext(r *loop.Region, f flag) {
	for n, v := range r.Next {
		if n == f.n {
			continue
		}
		in, q := &c.p.Ins[v], r.Params[n]
		if c.inGPR[q] {
			if c.inGPR[v] && in.A == q && in.Op >= loop.OpAdd && in.Op < loop.OpEq && c.users.Of(v) == 1 && (in.B == loop.NoValue || !slices.Contains(r.Params, c.origin(in.B))) {
				c.fused[v] = slices.Contains(r.Body, v)
			}
			continue
		}
		masked := c.masked(r, q)
		if masked {
			gone := func(o loop.Value) bool { // it may have been chosen already
				o = c.origin(o)
				return slices.Contains(r.Params, o) && !c.uniform[o]
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

// masked reports a loop-carried value that lanes must keep when they have left: something reads
// it behind the loop, and it is not uniform.
func (c *compiler) masked(r *loop.Region, q loop.Value) bool {
	return !c.uniformBranch(r) && !c.uniform[q] && c.resultRead[q]
}

// nextInto computes register i of a fused next value into d, in the lanes of mask k, or in all lanes
// if k is 0.
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

// leaveCondition sets fused for the comparisons of a condition that write the mask of lanes
// directly, under that mask.
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

// narrowMask clears the lanes of m, the mask of step s, where condition v does not hold.
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
