package x86

import (
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Where no vector instruction does it, lanes are worked off one by one: vectors
// are written to a staging area in scratch memory, and a scalar loop walks the
// lanes that are active.

// stageBytes holds a step of 8-byte elements.
const stageBytes = 128

// stageMem is staging area n.
func (c *compiler) stageMem(n int) lmem {
	if c.stage == 0 {
		c.stage = c.alloc(3*stageBytes, 64)
	}
	return frameMem(c.stage + n*stageBytes)
}

// stageAt is the element of lane j, of a size, in staging area n.
func (c *compiler) stageAt(n int, j vr, size int) lmem {
	m := c.stageMem(n)
	m.index, m.scale = j, uint8(size)
	return m
}

// stagePut and stageGet move an element as wide as a mask's.
func (c *compiler) stagePut(n int, j, g vr) {
	if c.lay.es == 8 {
		c.store(asm.MOV, c.stageAt(n, j, 8), g)
	} else {
		c.store(asm.MOV32, c.stageAt(n, j, 4), g)
	}
}

func (c *compiler) stageGet(n int, j vr) vr {
	g := c.newG()
	if c.lay.es == 8 {
		c.load(asm.MOV, g, c.stageAt(n, j, 8))
	} else {
		c.load(asm.MOV32, g, c.stageAt(n, j, 4))
	}
	return g
}

// stageStore writes step s of a value to staging area n.
func (c *compiler) stageStore(n int, v loop.Value, s int) {
	t := c.p.Ins[v].Type
	if t.Size() != 8 {
		r := c.get(v, s)
		if t == loop.B {
			r = c.bytesOf(t, r)
		}
		c.store(asm.VMOVUPS, c.stageMem(n), r)
		return
	}
	for q := range c.lay.parts {
		c.store(asm.VMOVUPS, c.stageMem(n).add(q*c.vb), c.part(v, s, q))
	}
}

// stageLoad reads step s of a group of registers from staging area n.
func (c *compiler) stageLoad(n int, t loop.Type, d []vr, s int) {
	if t.Size() != 8 {
		if t == loop.B {
			x := c.newV()
			c.load(asm.VMOVUPS, x, c.stageMem(n))
			c.nonzero(d[s], x)
			return
		}
		c.load(asm.VMOVUPS, d[s], c.stageMem(n))
		return
	}
	for q := range c.lay.parts {
		c.load(asm.VMOVUPS, d[s*c.lay.parts+q], c.stageMem(n).add(q*c.vb))
	}
}

// bitsOf moves a mask to a general register, a bit a lane.
func (c *compiler) bitsOf(k vr) vr {
	g := c.newG()
	switch {
	case k == 0:
		c.gconst(g, 1<<c.lay.lanes-1)
	case c.isa == AVX512:
		c.op1(c.kmov(), g, k)
	case c.lay.es == 8:
		c.op1(asm.VMOVMSKPD, g, k)
	default:
		c.op1(asm.VMOVMSKPS, g, k)
	}
	return g
}

// eachLane runs f for every lane of a step that mask k has, 0 meaning all.
func (c *compiler) eachLane(k vr, f func(j vr)) {
	bits := c.bitsOf(k)
	done := c.asm.NewLabel()
	if k != 0 {
		c.use2(asm.TEST, bits, bits)
		c.jcc(condE, done)
	}
	head := c.loop(false)
	j := c.newG()
	c.op1(asm.TZCNT, j, bits)
	f(j)
	c.op1(asm.BLSR, bits, bits)
	c.jcc(condNE, head)
	c.end()
	c.label(done)
}
