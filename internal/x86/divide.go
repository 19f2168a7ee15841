package x86

import (
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Integers are divided in double precision, by a product with the inverse of the divisor
// where that is the same for many lanes.

// A divisor is what there is to know of one, in registers.
type divisor struct {
	v       loop.Value
	u       int
	inverse vr // in doubles, and a little more; of 64 bits a little less
	size    vr // of 64 bits: without sign
}

// A quotient is the result of a division in sizes, without signs if it is of 64 bits. The
// remainder of 32 bits is not needed for it.
type quotient struct {
	a, b loop.Value
	u    int
	q, r []vr
}

// without is 1 if an operation takes numbers without sign.
func without(op loop.Op) int {
	if op >= loop.OpQuoU {
		return 1
	}
	return 0
}

// divide lowers OpQuo, OpRem, OpQuoU and OpRemU.
func (c *compiler) divide(v loop.Value, in *loop.Ins) {
	t, x := in.Type, c.quotient(in)
	rem := in.Op == loop.OpRem || in.Op == loop.OpRemU
	for i, d := range c.result(v) {
		a, b, r := c.get(in.A, i), c.get(in.B, i), x.q[i]
		switch {
		case t == loop.I32 && rem:
			r = c.v2(asm.VPSUBD, a, c.v2(asm.VPMULLD, r, b))
		case t == loop.I64:
			s := a
			if rem {
				r = x.r[i]
			} else {
				s = c.opV(loop.OpXor, t, a, b)
			}
			if x.u == 0 {
				s = c.signs(t, s)
				r = c.opV(loop.OpSub, t, c.opV(loop.OpXor, t, r, s), s)
			}
		}
		// Division by zero gives zero.
		zero, m := c.constReg(t, 0), c.newM()
		if c.isa == jit.AVX512 {
			c.compareReg(loop.OpNe, t, m, b, zero)
			c.op1(moves[t], d, r).mask(m).z()
		} else {
			c.compareReg(loop.OpEq, t, m, b, zero)
			c.op2(asm.VPANDN, d, m, r)
		}
	}
}

// quotient divides, unless that was done before in this block or around it.
func (c *compiler) quotient(in *loop.Ins) *quotient {
	u := without(in.Op)
	for i := range c.quotients {
		if x := &c.quotients[i]; x.a == in.A && x.b == in.B && x.u == u {
			return x
		}
	}
	x := quotient{a: in.A, b: in.B, u: u}
	for i := range c.count(in.Type) {
		if in.Type == loop.I32 {
			x.q = append(x.q, c.divide32(in, u, i))
		} else {
			q, r := c.divide64(in, u, i)
			x.q, x.r = append(x.q, q), append(x.r, r)
		}
	}
	c.quotients = append(c.quotients, x)
	return &c.quotients[len(c.quotients)-1]
}

// divisor returns what there is to know of register i of a divisor.
func (c *compiler) divisor(in *loop.Ins, u, i int) divisor {
	t, uni := in.Type, c.vals[in.B].uni
	for _, x := range c.divisors {
		if uni && x.v == in.B && x.u == u {
			return x
		}
	}
	x := divisor{v: in.B, u: u, size: c.get(in.B, i)}
	y, near := c.newV(), 0x1.0000000000004p0
	if t == loop.I32 {
		c.widen(t, loop.F64, u, y, c.half(x.size, 0))
	} else {
		if u == 0 {
			x.size = c.opV(loop.OpAbs, t, x.size, 0)
		}
		c.convertReg(t, loop.F64, 1, y, x.size)
		near = 0x1.ffffffffffff8p-1
	}
	x.inverse = c.v2(asm.VDIVPD, c.floatReg(loop.F64, near), y)
	if uni {
		c.divisors = append(c.divisors, x)
	}
	return x
}

// divide32 truncates the quotient of doubles, which is never rounded up to an integer,
// or the product with the inverse: as that is larger by 2^-50 it is not below an
// integer that the quotient is, nor does it reach one that it is not.
func (c *compiler) divide32(in *loop.Ins, u, i int) vr {
	t, a, b := in.Type, c.get(in.A, i), c.get(in.B, i)
	var h [2]vr
	for q := range h {
		x, y := c.newV(), c.newV()
		c.widen(t, loop.F64, u, x, c.half(a, q))
		if c.vals[in.B].uni {
			h[q] = c.v2(asm.VMULPD, x, c.divisor(in, u, i).inverse)
			continue
		}
		c.widen(t, loop.F64, u, y, c.half(b, q))
		h[q] = c.v2(asm.VDIVPD, x, y)
	}
	r := c.newV()
	c.shortenFitting(loop.F64, t, u, r, h)
	return r
}

// divide64 divides sizes in steps. The inverse is smaller by 2^-50, so that the first
// quotient is not too large, and too small by less than 2^15. The remainder, divided
// again, misses at most one.
func (c *compiler) divide64(in *loop.Ins, u, i int) (q, r vr) {
	t, y := in.Type, c.divisor(in, u, i)
	q, r = c.constReg(t, 0), c.get(in.A, i)
	if u == 0 {
		r = c.opV(loop.OpAbs, t, r, 0)
	}
	for range 2 {
		x, n := c.newV(), c.newV()
		c.convertReg(t, loop.F64, 1, x, r)
		x = c.v2(asm.VMULPD, x, y.inverse)
		if c.isa == jit.AVX2 {
			n = c.whole64(x)
		} else {
			c.op1(asm.VCVTTPD2UQQ, n, x)
		}
		q = c.opV(loop.OpAdd, t, q, n)
		r = c.opV(loop.OpSub, t, r, c.opV(loop.OpMul, t, n, y.size))
	}
	m, one, more := c.newM(), c.newV(), c.newV()
	c.compareReg(loop.OpLeU, t, m, y.size, r)
	c.ones(t, one, m)
	c.blend(t, more, m, y.size, c.constReg(t, 0))
	return c.opV(loop.OpAdd, t, q, one), c.opV(loop.OpSub, t, r, more)
}
