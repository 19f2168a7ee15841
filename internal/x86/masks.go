package x86

import (
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Masks of lanes: opmasks on AVX-512, vectors of all-ones and zeros on AVX2.

// maskType is the integer type as wide as a lane, and as an element of a mask on AVX2.
func (c *compiler) maskType() loop.Type {
	return [...]loop.Type{1: loop.I8, 2: loop.I16, 4: loop.I32, 8: loop.I64}[c.lay.es]
}

// joinMask makes the mask of a step from the masks of its two 8-byte halves.
func (c *compiler) joinMask(d, lo, hi vr) {
	if c.isa == jit.AVX512 {
		c.op2(asm.KUNPCKBW, d, hi, lo)
		return
	}
	c.join(d, lo, hi)
}

// partMask returns the part of a step's mask for part q of an 8-byte value. 0 means all lanes, in
// and out.
func (c *compiler) partMask(m vr, q int) vr {
	switch {
	case m == 0 || c.lay.parts == 1 || c.lay.uni:
		return m
	case c.isa == jit.AVX2:
		return c.v1(asm.VPMOVSXDQ, c.half(m, q))
	case q == 1:
		d := c.newM()
		c.op1i(asm.KSHIFTRW, d, m, 8)
		return d
	}
	return m
}

// maskFor returns the mask for register i of a value of type t, given the masks of steps.
func (c *compiler) maskFor(m func(s int) vr, t loop.Type, i int) vr {
	if t.Size() != 8 {
		return m(i)
	}
	return c.partMask(m(i/c.lay.parts), i%c.lay.parts)
}

// active returns the mask of a step, 0 if all its lanes are active.
func (c *compiler) active(s int) vr {
	if c.masks == nil || c.lay.uni {
		return 0
	}
	return c.masks[s]
}

// nonzero sets d to the mask of the lanes of a that are not zero. Requires lanes as wide as masks.
func (c *compiler) nonzero(d, a vr) {
	t := c.maskType()
	if c.isa == jit.AVX512 {
		c.testReg(loop.OpNe, t, d, a, a)
	} else {
		c.compareReg(loop.OpNe, t, d, a, c.constReg(t, 0))
	}
}

// ones sets d to 1 of type t in the lanes of mask m, and to 0 elsewhere.
func (c *compiler) ones(t loop.Type, d, m vr) {
	one := c.constReg(t, [...]uint64{loop.I32: 1, loop.I64: 1, loop.F32: 0x3F800000, loop.F64: 0x3FF << 52, loop.I8: 1, loop.I16: 1}[t])
	if c.isa == jit.AVX512 {
		c.op1(moves[t], d, one).mask(m).z()
	} else {
		c.op2(asm.VPAND, d, m, one)
	}
}

// bitsOf moves a mask to a general register, one bit for each lane. Mask 0 means all lanes.
func (c *compiler) bitsOf(k vr) vr {
	g := c.newG()
	switch {
	case k == 0 && c.lay.uni:
		c.gconst(g, 1)
	case k == 0:
		c.gconst(g, 1<<c.lay.lanes-1)
	case c.isa == jit.AVX512:
		c.op1(c.kmov(), g, k)
	case c.lay.es == 8:
		c.op1(asm.VMOVMSKPD, g, k)
	case c.lay.es == 2:
		b := c.newV().x()
		c.op2(asm.VPACKSSWB, b, k.x(), c.half(k, 1))
		c.op1(asm.VPMOVMSKB, g, b)
	case c.lay.es == 1:
		c.op1(asm.VPMOVMSKB, g, k)
	default:
		c.op1(asm.VMOVMSKPS, g, k)
	}
	return g
}

// kmov returns the instruction that moves the mask of a step.
func (c *compiler) kmov() asm.Op {
	return [...]asm.Op{1: asm.KMOVQ, 2: asm.KMOVD, 4: asm.KMOVW, 8: asm.KMOVB}[c.lay.es]
}

// boolMask returns a mask of all lanes or none from a truth value in a general
// register, which is overwritten.
func (c *compiler) boolMask(g vr) vr {
	t := c.newG()
	c.emit(asm.NEG, fDef|fRMW, g)
	c.gconst(t, 0)
	c.updi(asm.SBB, t, 0)
	if c.isa == jit.AVX2 {
		return c.broadcast(t, 8)
	}
	m := c.newM()
	c.op1(asm.KMOVQ, m, t)
	return m
}

// none jumps to l if no mask has an active lane.
func (c *compiler) none(masks []vr, l asm.Label) *ins {
	m, last := masks[0], len(masks)-1
	for i := 1; i < last; i++ {
		t := c.newM()
		c.do(loop.OpOr, loop.B, t, m, masks[i])
		m = t
	}
	switch {
	case c.isa == jit.AVX512:
		c.use2([...]asm.Op{1: asm.KORTESTQ, 2: asm.KORTESTD, 4: asm.KORTESTW, 8: asm.KORTESTB}[c.lay.es], m, masks[last])
	default:
		if last > 0 {
			t := c.newM()
			c.do(loop.OpOr, loop.B, t, m, masks[last])
			m = t
		}
		c.use2(asm.VPTEST, m, m)
	}
	return c.jcc(asm.CondE, l)
}

// maskRest sets masks, for a single step, to the lanes from the current index up to n.
func (c *compiler) maskRest(n vr) {
	rest, m := c.newG(), c.newM()
	c.mov(rest, n)
	c.upd(asm.SUB, rest, c.lay.idx)
	switch {
	case c.isa == jit.AVX512:
		ones, bits := c.newG(), c.newG()
		c.gconst(ones, 1<<max(c.lay.lanes, 32)-1)
		c.op2(asm.BZHI, bits, ones, rest)
		c.op1(c.kmov(), m, bits)
	case c.lay.es == 1: // up to 255 may be left
		n := c.loadV(asm.VMOVUPS, c.iota(1, 1))
		c.compareReg(loop.OpLeU, loop.I8, m, n, c.broadcast(rest, 1))
	default:
		c.op2m(gts[c.maskType()], m, c.broadcast(rest, c.lay.es), c.iota(c.lay.es, 0))
	}
	c.masks = []vr{m}
	c.lay.restMask, c.lay.rest = m, rest
}

// blend emits d = m ? a : b.
func (c *compiler) blend(t loop.Type, d, m, a, b vr) {
	switch {
	case c.isa == jit.AVX2:
		c.op3(blends[t], d, b, a, m)
	case t == loop.B:
		x, y := c.newM(), c.newM()
		c.op2(asm.KANDQ, x, m, a)
		c.op2(asm.KANDNQ, y, m, b)
		c.op2(asm.KORQ, d, x, y)
	default:
		c.op2(blendm[t], d, b, a).mask(m)
	}
}

// merge overwrites the lanes of d that are in mask k.
func (c *compiler) merge(t loop.Type, d, s, k vr) {
	if c.isa == jit.AVX512 && t != loop.B {
		c.op1(moves[t], d, s).mask(k).rmw()
	} else {
		c.blend(t, d, k, s, d)
	}
}
