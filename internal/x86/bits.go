package x86

import (
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Rotations, bit counts and high products, for which the processor has instructions in part only.

// bits emits d = op(a, b) for integers.
func (c *compiler) bits(op loop.Op, t loop.Type, d, a, b vr) {
	width := int64(8 * t.Size())
	wide := c.constReg(t, uint64(width))
	switch op {
	case loop.OpRotL: // shifts by the width give 0
		n := c.opV(loop.OpAnd, t, b, c.constReg(t, uint64(width-1)))
		c.do(loop.OpOr, t, d, c.opV(loop.OpShl, t, a, n), c.opV(loop.OpShrU, t, a, c.opV(loop.OpSub, t, wide, n)))
	case loop.OpPopCount:
		c.popCount(t, d, a)
	case loop.OpTzCnt: // the bits below the lowest are those above none
		below := c.opV(loop.OpSub, t, a, c.constReg(t, 1))
		below = c.opV(loop.OpAnd, t, below, c.opV(loop.OpNot, t, a, 0))
		c.do(loop.OpSub, t, d, wide, c.opV(loop.OpLzCnt, t, below, 0))
	case loop.OpLzCnt:
		c.leadingZeros(t, d, a)
	case loop.OpMulHi, loop.OpMulHiU:
		c.highProduct(op, t, d, a, b, c.v1i(asm.VPSRLQ, b, 32))
	default:
		panic("x86: " + op.String())
	}
}

// rotate emits a rotation by a constant.
func (c *compiler) rotate(t loop.Type, d, a vr, n int64) {
	if c.isa == jit.AVX512 {
		c.op1i(row(asm.VPROLD, asm.VPROLQ, 0, 0)[t], d, a, n)
		return
	}
	left, right := shifts[0][t], shifts[loop.OpShrU-loop.OpShl][t]
	c.do(loop.OpOr, t, d, c.v1i(left, a, n), c.v1i(right, a, int64(8*t.Size())-n))
}

// opV is compute with a new vector for the result.
func (c *compiler) opV(op loop.Op, t loop.Type, a, b vr) vr {
	d := c.newV()
	c.compute(op, t, d, a, b)
	return d
}

// bytesReg returns a register with b in every 128-bit part.
func (c *compiler) bytesReg(b [16]byte) vr {
	list := make([]byte, 0, 64)
	for len(list) < c.vb {
		list = append(list, b[:]...)
	}
	return c.listReg(list)
}

// popCount looks up the counts of half bytes and adds them.
func (c *compiler) popCount(t loop.Type, d, a vr) {
	counts := c.bytesReg([16]byte{0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4})
	low := c.constReg(t, 0x0F0F0F0F0F0F0F0F>>(64-8*t.Size()))
	n := c.v2(asm.VPADDB, c.v2(asm.VPSHUFB, counts, c.opV(loop.OpAnd, t, a, low)),
		c.v2(asm.VPSHUFB, counts, c.opV(loop.OpAnd, t, c.v1i(asm.VPSRLD, a, 4), low)))
	if t == loop.I64 {
		c.op2(asm.VPSADBW, d, n, c.constReg(t, 0))
		return
	}
	n = c.v2(asm.VPADDB, n, c.v1i(asm.VPSRLD, n, 8))
	n = c.v2(asm.VPADDB, n, c.v1i(asm.VPSRLD, n, 16))
	c.do(loop.OpAnd, t, d, n, c.constReg(t, 0x3F))
}

// leadingZeros counts zeros, on AVX2, by the exponent of the number as a float. The bit below the
// highest is cleared, so that rounding does not reach the next power of two. Negative numbers have
// their sign above the exponent, and 0 has an exponent that gives a shift beyond the width.
func (c *compiler) leadingZeros(t loop.Type, d, a vr) {
	x := a
	top := c.v2(asm.VPANDN, c.v1i(asm.VPSRLD, x, 1), x)
	exp := c.v1i(asm.VPSRLD, c.v1(asm.VCVTDQ2PS, top), 23)
	n := c.v2(asm.VPSUBUSW, c.constReg(loop.I32, 127+31), exp)
	if t == loop.I32 {
		c.op2(asm.VPMINSD, d, n, c.constReg(t, 32))
		return
	}
	n = c.v2(asm.VPMINSD, n, c.constReg(loop.I32, 32)) // of both halves; that of the lower counts if the upper is 0
	upper := c.v1i(asm.VPSRLQ, n, 32)
	none := c.v2(asm.VPCMPEQQ, upper, c.constReg(t, 32))
	lower := c.v2(asm.VPAND, c.v2(asm.VPAND, n, none), c.constReg(t, 1<<32-1))
	c.op2(asm.VPADDQ, d, upper, lower)
}

// signs returns -1 where a is below 0, and 0 elsewhere; of bytes on AVX2 alone.
func (c *compiler) signs(t loop.Type, a vr) vr {
	if (t == loop.I64 || t == loop.I8) && c.isa == jit.AVX2 {
		return c.v2(gts[t], c.constReg(t, 0), a)
	}
	return c.v1i(shifts[loop.OpShr-loop.OpShl][t], a, int64(8*t.Size()-1))
}

// highProduct emits the high half of a product, by products of 32-bit halves. bh is b shifted down
// by 32.
func (c *compiler) highProduct(op loop.Op, t loop.Type, d, a, b, bh vr) {
	up := func(x vr) vr { return c.v1i(asm.VPSRLQ, x, 32) }
	add := func(x, y vr) vr { return c.v2(asm.VPADDQ, x, y) }
	ah := up(a)
	if t == loop.I32 {
		mul := asm.VPMULDQ
		if op == loop.OpMulHiU {
			mul = asm.VPMULUDQ
		}
		c.andOr(d, c.v2(mul, ah, bh), c.constReg(loop.I64, 0xFFFFFFFF<<32), up(c.v2(mul, a, b)))
		return
	}
	mul := func(x, y vr) vr { return c.v2(asm.VPMULUDQ, x, y) }
	low := c.constReg(t, 1<<32-1)
	one := add(mul(ah, b), up(mul(a, b))) // no sum here has more than 64 bits
	other := add(mul(a, bh), c.opV(loop.OpAnd, t, one, low))
	r := add(mul(ah, bh), add(up(one), up(other)))
	if op == loop.OpMulHi { // a number below 0 was taken for one that is larger by 2^64
		r = c.v2(asm.VPSUBQ, r, c.opV(loop.OpAnd, t, c.signs(t, a), b))
		r = c.v2(asm.VPSUBQ, r, c.opV(loop.OpAnd, t, c.signs(t, b), a))
	}
	c.mov(d, r)
}
