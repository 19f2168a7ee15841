package x86

import (
	"encoding/binary"

	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// tableRegs returns the registers that hold table n as constants: one on AVX-512. On
// AVX2 there are two, the first entries and the others, or, as only elements of 4
// bytes can be chosen there, the low halves of entries and the high ones.
func (c *compiler) tableRegs(n uint64) [2]vr {
	regs := &c.tables[n]
	if regs[0] != 0 {
		return *regs
	}
	t := &c.p.Tables[n]
	var b [loop.TableBytes]byte
	for i, x := range t.Bits {
		switch {
		case t.Type == loop.F32:
			binary.LittleEndian.PutUint32(b[4*i:], uint32(x))
		case c.isa == jit.AVX512:
			binary.LittleEndian.PutUint64(b[8*i:], x)
		default:
			binary.LittleEndian.PutUint32(b[4*i:], uint32(x))
			binary.LittleEndian.PutUint32(b[c.vb+4*i:], uint32(x>>32))
		}
	}
	for i := range len(b) / c.vb {
		regs[i] = c.listReg(b[i*c.vb:][:c.vb])
	}
	return *regs
}

// lookup looks x up for one register. VPERMPS and VPERMPD look at the low bits of the
// index only.
func (c *compiler) lookup(in *loop.Ins, d, x vr) {
	table := c.tableRegs(in.Imm)
	switch {
	case c.isa == jit.AVX512 && in.Type == loop.F32:
		c.op2(asm.VPERMPS, d, x, table[0])
	case c.isa == jit.AVX512:
		c.op2(asm.VPERMPD, d, x, table[0])
	case in.Type == loop.F32: // the fourth bit, as the sign, chooses between the two
		lo, hi := c.v2(asm.VPERMPS, x, table[0]), c.v2(asm.VPERMPS, x, table[1])
		c.blend(in.Type, d, c.v1i(asm.VPSLLD, x, 32-4), hi, lo)
	default:
		x = c.v1i(asm.VPSHUFD, x, 0xA0)
		lo, hi := c.v2(asm.VPERMPS, x, table[0]), c.v2(asm.VPERMPS, x, table[1])
		c.op2i(asm.VBLENDPS, d, lo, hi, 0xAA)
	}
}
