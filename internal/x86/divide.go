package x86

import (
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Division by a uniform number is a multiplication. Integers of 4 and 8 bytes follow Granlund and
// Montgomery (Division by Invariant Integers using Multiplication, figure 4.1). Integers of 1 and
// 2 bytes, which are divided in no other way, take factors that are rounded down (see
// [compiler.divisorOfBytes] and [compiler.divisorOfWords]). Any other division of integers is
// done in double precision.

// A divisor holds the factors and shifts that replace division by a uniform number. With it,
// quotients by 0 are 0: the shift, or the product of bytes, leaves nothing.
type divisor struct {
	v            loop.Value
	u            int
	magic, upper vr // and its upper half of 4 bytes, where that is a factor too
	first        vr // shifts; of 2 bytes there is but the second, a count for all lanes
	second       vr
	zero         vr // see zeroMask
}

// A quotient is the result of a division, and the remainder if the division gave it too.
type quotient struct {
	a, b loop.Value
	u    int
	q, r []vr
}

// unsignedOp is 1 if an operation takes numbers without sign.
func unsignedOp(op loop.Op) int {
	if op >= loop.OpQuoU {
		return 1
	}
	return 0
}

// divide lowers OpQuo, OpRem, OpQuoU and OpRemU.
func (c *compiler) divide(v loop.Value, in *loop.Ins) {
	t, x := in.Type, c.quotient(in)
	for i, d := range c.result(v) {
		a, b, r, uni := c.get(in.A, i), c.get(in.B, i), x.q[i], c.vals[in.B].uni
		quo := in.Op == loop.OpQuo || in.Op == loop.OpQuoU
		switch {
		case quo:
		case x.r != nil:
			r = x.r[i]
		case t == loop.I8:
			p := c.newV()
			c.mulBytes(p, r, b, uni)
			r = c.opV(loop.OpSub, t, a, p)
		default:
			r = c.opV(loop.OpSub, t, a, c.opV(loop.OpMul, t, r, b))
		}
		// Division by zero gives zero.
		switch {
		case uni && quo:
			c.mov(d, r)
		case uni:
			c.unlessZero(t, d, c.divisor(in, x.u).zero, r)
		default:
			c.unlessZero(t, d, c.zeroMask(t, b), r)
		}
	}
}

// unlessZero emits d = a in the lanes whose divisor is not 0, and 0 in the others. The argument
// zero comes from zeroMask.
func (c *compiler) unlessZero(t loop.Type, d, zero, a vr) {
	if c.isa == jit.AVX512 {
		c.op1(moves[t], d, a).mask(zero).z()
	} else {
		c.op2(asm.VPANDN, d, zero, a)
	}
}

// zeroMask returns the mask of the lanes of one register that are 0; on AVX-512, of the lanes
// that are not 0.
func (c *compiler) zeroMask(t loop.Type, a vr) vr {
	m, op := c.newM(), loop.OpEq
	if c.isa == jit.AVX512 {
		op = loop.OpNe
	}
	c.compareReg(op, t, m, a, c.constReg(t, 0))
	return m
}

// quotient returns the quotient of a division. It reuses a division of the same operands in this
// block or around it.
func (c *compiler) quotient(in *loop.Ins) *quotient {
	u := unsignedOp(in.Op)
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

// magnitude returns the absolute value of a, or a itself if its type has no sign.
func (c *compiler) magnitude(t loop.Type, u int, a vr) vr {
	if u == 1 {
		return a
	}
	return c.opV(loop.OpAbs, t, a, 0)
}

// turn emits d = a with the sign of s, for a magnitude a.
func (c *compiler) turn(t loop.Type, u int, d, a, s vr) {
	if u == 1 {
		c.mov(d, a)
		return
	}
	if c.isa == jit.AVX512 {
		m, r := c.newM(), c.newV()
		c.compareReg(loop.OpLt, t, m, s, c.constReg(t, 0))
		c.mov(r, a)
		c.do(loop.OpSub, t, r, c.constReg(t, 0), a).mask(m).rmw()
		c.mov(d, r)
		return
	}
	s = c.signs(t, s)
	c.do(loop.OpSub, t, d, c.opV(loop.OpXor, t, a, s), s)
}

// divisor returns the factors and shifts of a divisor. It computes them once in a block.
func (c *compiler) divisor(in *loop.Ins, u int) *divisor {
	for i := range c.divisors {
		if x := &c.divisors[i]; x.v == in.B && x.u == u {
			return x
		}
	}
	t, b := in.Type, c.get(in.B, 0)
	x := divisor{v: in.B, u: u, zero: c.zeroMask(t, b)}
	y := c.opV(loop.OpMaxU, t, c.magnitude(t, u, b), c.constReg(t, 1))
	switch t {
	case loop.I8:
		c.divisorOfBytes(&x, y)
	case loop.I16:
		c.divisorOfWords(&x, y)
	default:
		c.divisorOf(&x, t, y)
	}
	c.divisors = append(c.divisors, x)
	return &c.divisors[len(c.divisors)-1]
}

// divisorOf is divisor for integers of 4 and 8 bytes.
func (c *compiler) divisorOf(x *divisor, t loop.Type, y vr) {
	one := c.constReg(t, 1)
	// 2^bits is the first power that is not below, and magic what is beyond it of
	// 2^(width+bits) / y.
	bits := c.opV(loop.OpSub, t, c.constReg(t, uint64(8*t.Size())), c.opV(loop.OpLzCnt, t, c.opV(loop.OpSub, t, y, one), 0))
	above := c.opV(loop.OpSub, t, c.opV(loop.OpShl, t, one, bits), y)
	g, h := c.newG(), c.newG()
	c.op1(elements[t.Size()].low, g, y.x())
	c.op1(elements[t.Size()].low, h, above.x())
	if t == loop.I32 {
		c.updi(asm.SHL, h, 32)
		c.divideG(h, 0, h, g)
	} else {
		c.divideG(h, h, 0, g)
	}
	c.updi(asm.ADD, h, 1)
	x.magic = c.broadcast(h, t.Size())
	x.upper = c.v1i(asm.VPSRLQ, x.magic, 32)
	x.first = c.opV(loop.OpMin, t, bits, one)
	x.second = c.noneLeft(t, x.zero, c.opV(loop.OpSub, t, bits, x.first))
}

// divideG emits d = (high*2^64 + low) / by, of general registers, 0 standing for zero.
func (c *compiler) divideG(d, high, low, by vr) {
	for _, x := range [...][2]vr{{raxReg, low}, {rdxReg, high}} {
		if x[1] == 0 {
			c.gconst(x[0], 0)
		} else {
			c.mov(x[0], x[1])
		}
	}
	c.emit(asm.DIV, 0, by)
	c.mov(d, raxReg)
}

// noneLeft returns the shift count n with all bits set where a divisor is 0: the shift gives 0.
func (c *compiler) noneLeft(t loop.Type, zero, n vr) vr {
	if c.isa == jit.AVX2 {
		return c.v2(asm.VPOR, n, zero)
	}
	d := c.newV()
	c.blend(t, d, zero, n, c.constReg(t, 2*signBit(t)-1))
	return d
}

// divisorOfBytes is divisor for integers of 1 byte. With magic m, 65535 / y rounded down, and
// r what that division leaves, (x+1)*m / 2^16 is (x+1)/y less (x+1)*(r+1) / (y*2^16). The
// first reaches the next whole number only as such, and is above what is left of x/y by 1/y at
// least; the second is more than 0 and less than 1/y, as x+1 is at most 256 and r+1 at most y.
func (c *compiler) divisorOfBytes(x *divisor, y vr) {
	g, h := c.newG(), c.newG()
	c.op1(asm.VPEXTRB, g, y.x()).with(0)
	c.gconst(h, 1<<16-1)
	c.divideG(h, 0, h, g)
	x.magic = c.newV()
	c.unlessZero(loop.I8, x.magic, x.zero, c.broadcast(h, 2))
}

// divisorOfWords is divisor for integers of 2 bytes. With n the bits of y, 2^16 + m is
// 2^(16+n)-1 / y rounded down, and x/y is ((x + 1 + (x*m >> 16)) >> 1) >> (n-1): the average of
// x and the product, rounded up. This is (x*(2^16+m) + 2^16) / 2^(16+n): rounding down
// took less than x*y / (y*2^(16+n)) away, which is less than the 2^16 that are added, and
// those are less than 1/y as y is below 2^n.
func (c *compiler) divisorOfWords(x *divisor, y vr) {
	g, h, high := c.newG(), c.newG(), c.newG()
	c.op1(asm.VPEXTRW, g, y.x()).with(0)
	c.op1(asm.BSR, high, g) // n-1
	c.gconst(h, -1)
	c.op2(asm.BZHI, h, h, c.loadG(asm.LEA, lmem{base: high, disp: 17}))
	c.divideG(h, 0, h, g)
	x.magic = c.broadcast(h, 2)
	n := c.newV()
	c.op1(asm.VMOVQ, n.x(), high)
	x.second = c.noneLeft(loop.I16, x.zero, n)
}

// byMagic divides register i by a uniform divisor.
func (c *compiler) byMagic(in *loop.Ins, y *divisor, i int) vr {
	t, a, d := in.Type, c.get(in.A, i), c.newV()
	n := c.magnitude(t, y.u, a)
	switch t {
	case loop.I8:
		n = c.quotientOfBytes(n, y.magic)
	case loop.I16:
		n = c.v2(asm.VPSRLW, c.v2(asm.VPAVGW, n, c.v2(asm.VPMULHUW, n, y.magic)), y.second.x())
	default:
		high := c.newV()
		c.highProduct(loop.OpMulHiU, t, high, n, y.magic, y.upper)
		n = c.opV(loop.OpAdd, t, high, c.opV(loop.OpShrU, t, c.opV(loop.OpSub, t, n, high), y.first))
		n = c.opV(loop.OpShrU, t, n, y.second)
	}
	if y.u == 1 {
		return n
	}
	c.turn(t, y.u, d, n, c.opV(loop.OpXor, t, a, c.get(in.B, i)))
	return d
}

// quotientOfBytes divides even bytes as words, and odd ones where they stand: there 255/256
// are added instead of 1, which is enough too.
func (c *compiler) quotientOfBytes(a, magic vr) vr {
	t, lower, d := loop.I16, c.constReg(loop.I16, 0x00FF), c.newV()
	even := c.opV(loop.OpSub, t, c.opV(loop.OpAnd, t, a, lower), c.constReg(t, 1<<16-1))
	odd := c.opV(loop.OpOr, t, a, lower)
	c.andOr(d, c.v2(asm.VPMULHUW, odd, magic), c.constReg(t, 0xFF00), c.v2(asm.VPMULHUW, even, magic))
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

// divideFar divides magnitudes in steps. The inverse of the divisor is smaller by 2^-50, so
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
