package x86

import (
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// A table is constants of a full vector each: one or two on AVX-512, twice as many on
// AVX2.

// tableRegs returns the first register of table n and how many it takes; the others
// follow.
func (c *compiler) tableRegs(n uint64) (first vr, count int) {
	t := &c.p.Tables[n]
	size := t.Type.Size()
	count = len(t.Bits) * size / c.vb
	if c.tables[n] == 0 {
		b := make([]byte, 0, 128)
		for _, x := range t.Bits {
			for i := range size {
				b = append(b, byte(x>>(8*i)))
			}
		}
		c.tables[n] = vr(len(c.vregs))
		for i := range count {
			r := c.newV()
			x := &c.vregs[r]
			x.konst, x.remat, x.at = true, asm.VMOVUPS, int32(c.asm.ConstBytes(b[i*c.vb:][:c.vb]).Label)
			c.consts = append(c.consts, constant{r: r})
		}
	}
	return c.tables[n], count
}

// Instructions that choose elements of one register, and of two, by the low bits of
// the lanes of an index. AVX2 has only the first of these, for 4-byte elements.
var (
	permutes  = row(asm.VPERMPS, asm.VPERMPD)
	permutes2 = row(asm.VPERMI2PS, asm.VPERMI2PD)
)

// lookup lowers OpLookup.
func (c *compiler) lookup(v loop.Value, in *loop.Ins) {
	table, count := c.tableRegs(in.Imm)
	for i, d := range c.result(v) {
		switch x := c.get(in.A, i); {
		case c.isa == AVX2:
			c.lookupHalves(in.Type, d, x, table, count)
		case count == 1:
			c.op2(permutes[in.Type], d, x, table)
		default:
			c.mov(d, x)
			c.op2(permutes2[in.Type], d, table, table+1).rmw()
		}
	}
}

// lookupHalves chooses among the elements of each register of a table, and then among
// what that gives, bit by bit of the index x.
func (c *compiler) lookupHalves(t loop.Type, d, x, table vr, count int) {
	i, shl := intOf[t], &shifts[0]
	bit, pair := int64(8*t.Size())-4, x // how far the bit above those that VPERMPS takes is from the sign
	if t == loop.F64 {
		// The index of both halves of an element.
		twice := c.v1i(asm.VPSHUFD, c.v1i(shl[i], x, 1), 0xA0)
		bit, pair = bit+1, c.v2(asm.VPOR, twice, c.constReg(loop.I64, 1<<32))
	}
	var r [4]vr
	for j := range count {
		r[j] = c.v2(asm.VPERMPS, pair, table+vr(j))
	}
	for ; count > 1; count /= 2 {
		m := c.v1i(shl[i], x, bit)
		bit--
		for j := range count / 2 {
			a, b := r[2*j], r[2*j+1]
			if r[j] = c.newV(); count == 2 {
				r[j] = d
			}
			c.blend(t, r[j], m, b, a)
		}
	}
}
