package x86

import (
	"slices"

	"weft/internal/jit"
	"weft/internal/loop"
)

// Some machine instructions do the work of two instructions of the loop language: an FMA can negate
// operands, and AVX-512 has a test of common bits and rounds an exponent down itself. The first of
// such a pair, if it has no other user, is fused: it is not lowered by itself, and its user finds it
// by left.

// findFused sets fused.
func (c *compiler) findFused() {
	c.fused = zeroed(c.fused, len(c.p.Ins))
	for _, r := range c.p.Regions {
		c.findFusedIn(r.Head)
		c.findFusedIn(r.Body)
		c.findFusedIn(r.Else)
	}
}

// findFusedIn looks for pairs within a block. In another block the operands of the first instruction
// may have changed.
func (c *compiler) findFusedIn(block []loop.Value) {
	for at, v := range block {
		if c.users.Dead(v) { // its operands may be others' alone
			continue
		}
		in := &c.p.Ins[v]
		switch in.Op {
		case loop.OpFma:
			c.take1(block[:at], in.C, loop.OpNeg)
			c.take1(block[:at], in.A, loop.OpNeg)
		case loop.OpScaleB:
			if c.isa == jit.AVX512 {
				c.take1(block[:at], in.B, loop.OpFloor)
			}
		case loop.OpMax:
			c.takeBounds(block[:at], in)
		case loop.OpEq, loop.OpNe:
			if zero := &c.p.Ins[in.B]; c.isa == jit.AVX512 && zero.Op == loop.OpConst && zero.Imm == 0 && zero.Type.Int() {
				c.take1(block[:at], in.A, loop.OpAnd)
			}
		}
	}
}

// take1 marks v as fused if it is an op of the block, near its end, with one user.
func (c *compiler) take1(block []loop.Value, v loop.Value, op loop.Op) {
	const near = 40 // values live until their user: not for long
	if c.p.Ins[v].Op == op && c.users.Of(v) == 1 && !c.inGPR[v] {
		c.fused[v] = slices.Contains(block[max(0, len(block)-near):], v)
	}
}

// takeBounds marks a conversion of floats and the minimum above it, if in is the maximum
// of those and both bounds are constants that F32 holds.
func (c *compiler) takeBounds(block []loop.Value, in *loop.Ins) {
	least := &c.p.Ins[in.A]
	if in.Type != loop.I32 || least.Op != loop.OpMin {
		return
	}
	lo, hi, cvt := &c.p.Ins[in.B], &c.p.Ins[least.B], &c.p.Ins[least.A]
	exact := lo.Op == loop.OpConst && hi.Op == loop.OpConst && int32(lo.Imm) <= int32(hi.Imm) && int32(lo.Imm) >= -1<<24 && int32(hi.Imm) <= 1<<24
	if !exact || cvt.Op != loop.OpCvt || cvt.Imm != 0 || !c.p.Ins[cvt.A].Type.Float() {
		return
	}
	if c.take1(block, least.A, loop.OpCvt); c.fused[least.A] {
		c.take1(block, in.A, loop.OpMin)
		c.fused[least.A] = c.fused[in.A]
	}
}

// left returns the instruction of a fused value that has not been lowered, or nil.
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

// fma emits a fused multiply-add, with the negations of its operands that are fused.
func (c *compiler) fma(v loop.Value, in *loop.Ins) {
	x, z, variant := in.A, in.C, int64(0)
	if n := c.left(x); n != nil {
		x, variant = n.A, fmaNegA
	}
	if n := c.left(z); n != nil {
		z, variant = n.A, variant|fmaNegC
	}
	for i, d := range c.result(v) {
		c.op3(direct[c.isa][loop.OpFma][in.Type], d, c.get(x, i), c.get(in.B, i), c.get(z, i)).imm = variant
	}
}
