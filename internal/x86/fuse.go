package x86

import (
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Some instructions do the work of two of the loop language: a product and sum
// can change signs, AVX-512 has any function of three bits, a test of common bits, and
// rounds an exponent down itself. The first of two such instructions, if nothing else uses it, is not
// lowered by itself; its user finds it here.

// findFused notes what is left to the user of its value.
func (c *compiler) findFused() {
	c.fused = zeroed(c.fused, len(c.p.Ins))
	for _, r := range c.p.Regions {
		c.findFusedIn(r.Head)
		c.findFusedIn(r.Body)
		c.findFusedIn(r.Else)
	}
}

// findFusedIn looks for pairs within a block: beyond it the operands of the first
// may have changed.
func (c *compiler) findFusedIn(block []loop.Value) {
	for at, v := range block {
		if c.dead(v) { // its operands may be others' alone
			continue
		}
		in := &c.p.Ins[v]
		switch in.Op {
		case loop.OpFma:
			c.take1(block[:at], in.C, loop.OpNeg)
			c.take1(block[:at], in.A, loop.OpNeg)
		case loop.OpMul:
			if in.Type.Float() {
				c.take1(block[:at], in.A, loop.OpNeg)
			}
		case loop.OpScaleB:
			if c.isa == AVX512 {
				c.take1(block[:at], in.B, loop.OpFloor)
			}
		case loop.OpOr, loop.OpXor:
			if c.isa == AVX512 && in.Type != loop.B && !c.take1(block[:at], in.B, loop.OpAnd) {
				c.take1(block[:at], in.A, loop.OpAnd)
			}
		case loop.OpEq, loop.OpNe:
			if zero := &c.p.Ins[in.B]; c.isa == AVX512 && zero.Op == loop.OpConst && zero.Imm == 0 && zero.Type.Int() {
				c.take1(block[:at], in.A, loop.OpAnd)
			}
		}
	}
}

// take1 marks v, the last use of the result of an op in a block.
func (c *compiler) take1(block []loop.Value, v loop.Value, op loop.Op) bool {
	const near = 40 // values live until their user: not for long
	if c.p.Ins[v].Op != op || c.users[v+1] != 1 {
		return false
	}
	for i := len(block) - 1; i >= max(0, len(block)-near); i-- {
		if block[i] == v {
			c.fused[v] = true
			return true
		}
	}
	return false
}

// left returns the instruction of a value that was left to its user, or nil.
func (c *compiler) left(v loop.Value) *loop.Ins {
	if c.fused[v] && c.vals[v].state == undefined {
		return &c.p.Ins[v]
	}
	return nil
}

// Variants of pFma and pFmaD, in imm.
const (
	fmaNegC = 1 // a1*a2 - a3
	fmaNegA = 2 // -a1*a2 + a3
)

// fma emits a product and sum; signs of its operands may be left to it. A product
// alone whose first factor Neg has left to it is -a*b - 0, the sign of a zero included.
func (c *compiler) fma(v loop.Value, in *loop.Ins) {
	x, z, variant := in.A, in.C, int64(0)
	if n := c.left(x); n != nil {
		x, variant = n.A, fmaNegA
	}
	var addend vr
	if z == loop.NoValue {
		addend, variant = c.constReg(in.Type, 0), variant|fmaNegC
	} else if n := c.left(z); n != nil {
		z, variant = n.A, variant|fmaNegC
	}
	for i, d := range c.result(v) {
		if z != loop.NoValue {
			addend = c.get(z, i)
		}
		c.op3(direct[c.isa][loop.OpFma][in.Type], d, c.get(x, i), c.get(in.B, i), addend).imm = variant
	}
}

// bits lowers Or and Xor of what And is left to them, and reports whether one is.
func (c *compiler) bits(v loop.Value, in *loop.Ins) bool {
	and, other := c.left(in.B), in.A
	if and == nil {
		and, other = c.left(in.A), in.B
	}
	if and == nil {
		return false
	}
	op, table := asm.VPTERNLOGD, int64(0xF8) // a | b&c
	if in.Op == loop.OpXor {
		table = 0x78
	}
	if in.Type == loop.I64 {
		op = asm.VPTERNLOGQ
	}
	for i, d := range c.result(v) {
		a, b, x := c.get(other, i), c.get(and.A, i), c.get(and.B, i)
		c.mov(d, a)
		c.op2(op, d, b, x).with(table).rmw()
	}
	return true
}
