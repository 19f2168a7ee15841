package x86

import (
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Integers are divided in double precision, where it comes to that; by a number that is
// the same for all lanes they are divided by products (Granlund and Montgomery, Division
// by Invariant Integers using Multiplication, figure 4.1).

// A divisor is what there is to know of a number that lanes are divided by.
type divisor struct {
	v             loop.Value
	u             int
	magic         vr
	first, second vr // shifts
	zero          vr // see zeroMask
}

// A quotient is the result of a division; the remainder stands there if it came with it.
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
	for i, d := range c.result(v) {
		a, b, r := c.get(in.A, i), c.get(in.B, i), x.q[i]
		switch {
		case in.Op == loop.OpQuo || in.Op == loop.OpQuoU:
		case x.r != nil:
			r = x.r[i]
		default:
			r = c.opV(loop.OpSub, t, a, c.opV(loop.OpMul, t, r, b))
		}
		// Division by zero gives zero.
		zero := vr(0)
		if c.vals[in.B].uni {
			zero = c.divisor(in, x.u).zero
		} else {
			zero = c.zeroMask(t, b)
		}
		if c.isa == jit.AVX512 {
			c.op1(moves[t], d, r).mask(zero).z()
		} else {
			c.op2(asm.VPANDN, d, zero, r)
		}
	}
}

// zeroMask returns the mask of the lanes of one register that are 0; on AVX-512, of
// those that are not.
func (c *compiler) zeroMask(t loop.Type, a vr) vr {
	m, op := c.newM(), loop.OpEq
	if c.isa == jit.AVX512 {
		op = loop.OpNe
	}
	c.compareReg(op, t, m, a, c.constReg(t, 0))
	return m
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
	n := c.count(in.Type)
	switch {
	case c.vals[in.B].uni:
		y := c.divisor(in, u)
		for i := range n {
			x.q = append(x.q, c.byMagic(in, y, i))
		}
	case in.Type == loop.I32:
		for i := range n {
			x.q = append(x.q, c.divide32(in, u, i))
		}
	default:
		for range n {
			x.q, x.r = append(x.q, c.newV()), append(x.r, c.newV())
		}
		if c.isa == jit.AVX2 {
			c.divideNear(in, &x)
		} else {
			c.divideFar(in, &x)
		}
	}
	c.quotients = append(c.quotients, x)
	return &c.quotients[len(c.quotients)-1]
}

// magnitude returns a without its sign, if it has one.
func (c *compiler) magnitude(t loop.Type, u int, a vr) vr {
	if u == 1 {
		return a
	}
	return c.opV(loop.OpAbs, t, a, 0)
}

// turn gives the sign of s to a size.
func (c *compiler) turn(t loop.Type, u int, d, a, s vr) {
	if u == 1 {
		c.mov(d, a)
		return
	}
	s = c.signs(t, s)
	c.do(loop.OpSub, t, d, c.opV(loop.OpXor, t, a, s), s)
}

// divisor returns what there is to know of a divisor, once.
func (c *compiler) divisor(in *loop.Ins, u int) *divisor {
	for i := range c.divisors {
		if x := &c.divisors[i]; x.v == in.B && x.u == u {
			return x
		}
	}
	t, b := in.Type, c.get(in.B, 0)
	x := divisor{v: in.B, u: u, zero: c.zeroMask(t, b)}
	one := c.constReg(t, 1)
	y := c.opV(loop.OpMaxU, t, c.magnitude(t, u, b), one)
	// 2^bits is the first power that is not below, and magic what is beyond it of
	// 2^(width+bits) / y.
	bits := c.opV(loop.OpSub, t, c.constReg(t, uint64(8*t.Size())), c.opV(loop.OpLzCnt, t, c.opV(loop.OpSub, t, y, one), 0))
	above := c.opV(loop.OpSub, t, c.opV(loop.OpShl, t, one, bits), y)
	g, h := c.newG(), c.newG()
	c.op1(elements[t.Size()].low, g, y.x())
	c.op1(elements[t.Size()].low, h, above.x())
	if t == loop.I32 {
		c.mov(raxReg, h)
		c.updi(asm.SHL, raxReg, 32)
		c.gconst(rdxReg, 0)
	} else {
		c.mov(rdxReg, h)
		c.gconst(raxReg, 0)
	}
	c.emit(asm.DIV, 0, g)
	c.mov(h, raxReg)
	c.updi(asm.ADD, h, 1)
	x.magic = c.broadcast(h, t.Size())
	x.first = c.opV(loop.OpMin, t, bits, one)
	x.second = c.opV(loop.OpSub, t, bits, x.first)
	c.divisors = append(c.divisors, x)
	return &c.divisors[len(c.divisors)-1]
}

// byMagic divides register i.
func (c *compiler) byMagic(in *loop.Ins, y *divisor, i int) vr {
	t, a, d := in.Type, c.get(in.A, i), c.newV()
	n := c.magnitude(t, y.u, a)
	high := c.opV(loop.OpMulHiU, t, n, y.magic)
	n = c.opV(loop.OpAdd, t, high, c.opV(loop.OpShrU, t, c.opV(loop.OpSub, t, n, high), y.first))
	n = c.opV(loop.OpShrU, t, n, y.second)
	if y.u == 1 {
		return n
	}
	c.turn(t, y.u, d, n, c.opV(loop.OpXor, t, a, c.get(in.B, i)))
	return d
}

// divide32 truncates the quotient of doubles, which is never rounded up to an integer.
func (c *compiler) divide32(in *loop.Ins, u, i int) vr {
	t, a, b := in.Type, c.get(in.A, i), c.get(in.B, i)
	var h [2]vr
	for q := range h {
		x, y := c.newV(), c.newV()
		c.widen(t, loop.F64, u, x, c.half(a, q))
		c.widen(t, loop.F64, u, y, c.half(b, q))
		h[q] = c.v2(asm.VDIVPD, x, y)
	}
	r := c.newV()
	c.shortenFitting(loop.F64, t, u, r, h)
	return r
}

// divideNear is divide32 of 64-bit integers, on AVX2, if all of them are below 2^51.
func (c *compiler) divideNear(in *loop.Ins, x *quotient) {
	c.nearOrFar(in.Type, x.u, []loop.Value{in.A, in.B}, func() {
		for i := range x.q {
			a, b, r := c.newV(), c.newV(), c.newV()
			c.nearDouble(a, c.get(in.A, i))
			c.nearDouble(b, c.get(in.B, i))
			q := c.v1i(asm.VROUNDPD, c.v2(asm.VDIVPD, a, b), 3|8)
			c.op3(pFmaD, r, q, b, a).imm = fmaNegA
			c.nearInt64(x.q[i], q)
			c.nearInt64(x.r[i], r)
		}
	}, func() { c.divideFar(in, x) })
}

// divideFar divides sizes in steps. The inverse of the divisor is smaller by 2^-50, so
// that the first quotient is not too large, and too small by less than 2^15. The
// remainder, divided again, misses at most one.
func (c *compiler) divideFar(in *loop.Ins, x *quotient) {
	t := in.Type
	to := func(a vr) vr { f := c.newV(); c.convertReg(t, loop.F64, 1, f, a); return f }
	for i := range x.q {
		a, b := c.get(in.A, i), c.get(in.B, i)
		q, r, y := c.constReg(t, 0), c.magnitude(t, x.u, a), c.magnitude(t, x.u, b)
		inverse := c.v2(asm.VDIVPD, c.floatReg(loop.F64, 0x1.ffffffffffff8p-1), to(y))
		for range 2 {
			n := c.v2(asm.VMULPD, to(r), inverse)
			if c.isa == jit.AVX2 {
				n = c.whole64(n)
			} else {
				n = c.v1(asm.VCVTTPD2UQQ, n)
			}
			q = c.opV(loop.OpAdd, t, q, n)
			r = c.opV(loop.OpSub, t, r, c.opV(loop.OpMul, t, n, y))
		}
		m, one, more := c.newM(), c.newV(), c.newV()
		c.compareReg(loop.OpLeU, t, m, y, r)
		c.ones(t, one, m)
		c.blend(t, more, m, y, c.constReg(t, 0))
		c.turn(t, x.u, x.q[i], c.opV(loop.OpAdd, t, q, one), c.opV(loop.OpXor, t, a, b))
		c.turn(t, x.u, x.r[i], c.opV(loop.OpSub, t, r, more), a)
	}
}
