package x86

import (
	"math/bits"

	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Lanes that are not contiguous are gathered, or accessed one by one: vectors are written to a
// staging area in scratch memory, and a scalar loop walks the active lanes.

// strideRegs hold what strided access along the lane axis needs: the bytes from one step to the
// next, and vectors with the byte offsets of lanes from the first lane of a step.
type strideRegs struct {
	step vr
	lane [2]vr
}

// strideIndex prepares access to a buffer that moves by a stride along the lane
// axis, before the loops of a pass.
func (c *compiler) strideIndex(b int) {
	m := wordMem(c.p.StrideWord(b, c.p.Lane))
	r := strideRegs{step: c.newG()}
	c.load(asm.MOV, r.step, m)
	c.op1i(asm.IMUL, r.step, r.step, int64(c.lay.lanes))
	if c.p.Bufs[b].DType.Size() >= 4 {
		s := c.loadV(asm.VPBROADCASTQ, m)
		for q := range c.lay.parts {
			n := c.loadV(asm.VMOVUPS, c.iota(8, q*c.vb/8))
			r.lane[q] = c.newV()
			c.compute(loop.OpMul, loop.I64, r.lane[q], s, n)
		}
	}
	c.stride[b] = r
}

// strided reports whether the lanes of buffer b have a stride in the frame. This includes steps of
// a few elements, which [compiler.loadDeinterleaved] reads where it can.
func (c *compiler) strided(b int) bool {
	return c.p.Bufs[b].Steps[c.p.Lane] >= loop.Any
}

// stepBase returns a register with the address of the first lane of step s of a strided buffer.
func (c *compiler) stepBase(b, s int) vr {
	s += c.lay.first
	if s == 0 {
		return c.ptr[b]
	}
	r := c.newG()
	c.mov(r, c.ptr[b])
	for range s {
		c.upd(asm.ADD, r, c.stride[b].step)
	}
	return r
}

// gather reads the active lanes of step s, elements of t, at offsets if there are
// any; the rest becomes zero.
func (c *compiler) gather(b int, t loop.Type, d []vr, s int, off loop.Value) {
	k, op := c.active(s), elements[t.Size()].gather
	if c.gatherShort(b, t, d, s, off) {
		return
	}
	m, index := c.gatherAt(b, s, off)
	if t.Size() == 8 {
		for q := range c.lay.parts {
			m.index = index[q]
			c.gatherReg(op, d[s*c.lay.parts+q], m, c.partMask(k, q))
		}
		return
	}
	var h [2]vr
	for q := range h {
		h[q], m.index = c.newV(), index[q]
		km := c.partMask(k, q)
		if k != 0 && c.isa == jit.AVX2 {
			km = c.half(k, q) // as wide as the elements
		}
		c.gatherReg(op, c.narrow(h[q]), m, km)
	}
	c.concat(d[s], h[0], h[1])
}

// gatherShort is gather for lanes whose addresses differ by offsets of type I32 alone. It reports
// whether it applies.
func (c *compiler) gatherShort(b int, t loop.Type, d []vr, s int, off loop.Value) bool {
	if off == loop.NoValue || c.p.Ins[off].Type != loop.I32 || c.p.Bufs[b].Steps[c.p.Lane] != loop.Zero {
		return false
	}
	m := lmem{base: c.ptr[b], index: c.get(off, s), scale: uint8(t.Size())}
	k, op := c.active(s), elements[t.Size()].gather32
	if t.Size() == 4 {
		c.gatherReg(op, d[s], m, k)
		return true
	}
	for q := range c.lay.parts {
		m.index = c.half(c.get(off, s), q)
		c.gatherReg(op, d[s*c.lay.parts+q], m, c.partMask(k, q))
	}
	return true
}

// offsetPart returns the offsets of part q of a step as 8 bytes each.
func (c *compiler) offsetPart(off loop.Value, s, q int) vr {
	if c.p.Ins[off].Type == loop.I64 {
		return c.part(off, s, q)
	}
	return c.v1(asm.VPMOVSXDQ, c.half(c.get(off, s), q))
}

// gatherAt returns the base of step s, and the offsets of its lanes by part.
func (c *compiler) gatherAt(b, s int, off loop.Value) (m lmem, index [2]vr) {
	size := c.p.Bufs[b].DType.Size()
	m = lmem{base: c.ptr[b], scale: uint8(size)}
	step := c.p.Bufs[b].Steps[c.p.Lane]
	switch step {
	case loop.Unit:
		m.base = c.newG()
		c.load(asm.LEA, m.base, lmem{base: c.ptr[b], index: c.lay.idx, scale: m.scale, disp: int32((s + c.lay.first) * c.lay.lanes * size)})
	case loop.Zero:
	default:
		m.base, m.scale = c.stepBase(b, s), 1
	}
	for q := range c.lay.parts {
		if off == loop.NoValue {
			index[q] = c.stride[b].lane[q]
			continue
		}
		o, x := c.offsetPart(off, s, q), c.newV()
		index[q] = x
		switch step {
		case loop.Zero:
			index[q] = o
		case loop.Unit:
			c.op2m(asm.VPADDQ, x, o, c.iota(8, q*c.vb/8))
		default:
			c.op1i(asm.VPSLLQ, x, o, int64(bits.TrailingZeros(uint(size))))
			c.op2(asm.VPADDQ, x, x, c.stride[b].lane[q])
		}
	}
	return m, index
}

func (c *compiler) gatherReg(op asm.Op, d vr, m lmem, k vr) {
	// The instruction clears the mask.
	km := c.newM()
	if k == 0 {
		c.emit(pOnes, fDef, km)
	} else {
		c.mov(km, k&idMask)
	}
	c.emit(pZero, fDef, d&idMask)
	if c.isa == jit.AVX512 {
		c.load(op, d, m).rmw().mask(km)
	} else {
		c.emit(op, fDef|fRMW, d, 0, km|d&^idMask).at(1, m)
	}
}

// loadLanes reads elements of 1 and 2 bytes one by one, at offsets if there are any.
func (c *compiler) loadLanes(b int, d vr, s int, off loop.Value) {
	base, e := c.laneBase(b, s, off), c.p.Bufs[b].DType
	c.eachLane(c.active(s), func(j vr) {
		g := c.loadG(elements[e.Size()].get, c.laneAt(b, base, s, j, off))
		c.store(elements[e.Size()].put, c.stageAt(0, j, e.Size()), g)
	})
	c.loadSmall(e, d, c.stageMem(0), 0)
}

// storeLanes writes elements one by one, at offsets if there are any.
func (c *compiler) storeLanes(b int, v loop.Value, s int, off loop.Value) {
	e := c.p.Bufs[b].DType
	if e.Size() < 4 {
		c.storeSmall(e, c.stageMem(0), v, s, 0)
	} else {
		c.stageStore(0, v, s)
	}
	base := c.laneBase(b, s, off)
	c.eachLane(c.active(s), func(j vr) {
		m, g := c.laneAt(b, base, s, j, off), c.newG()
		c.load(elements[e.Size()].get, g, c.stageAt(0, j, e.Size()))
		c.store(elements[e.Size()].put, m, g)
	})
}

// laneBase returns the address of the first lane of step s, and writes offsets to staging area 1.
func (c *compiler) laneBase(b, s int, off loop.Value) vr {
	if off != loop.NoValue {
		c.stageStore(1, off, s)
	}
	if c.strided(b) {
		return c.stepBase(b, s)
	}
	return c.ptr[b]
}

// laneAt returns the address of lane j of step s, plus its offset.
func (c *compiler) laneAt(b int, base vr, s int, j vr, off loop.Value) lmem {
	size := c.p.Bufs[b].DType.Size()
	m := lmem{base: base, scale: uint8(size)}
	if off != loop.NoValue {
		m.index = c.newG()
		if size := c.p.Ins[off].Type.Size(); size == 8 {
			c.load(asm.MOV, m.index, c.stageAt(1, j, 8))
		} else {
			c.load(asm.MOVSXD, m.index, c.stageAt(1, j, 4))
		}
	}
	switch c.p.Bufs[b].Steps[c.p.Lane] {
	case loop.Unit:
		if off == loop.NoValue {
			m.index = c.newG()
			c.mov(m.index, j)
		} else {
			c.upd(asm.ADD, m.index, j)
		}
		c.upd(asm.ADD, m.index, c.lay.idx)
		m.disp = int32((s + c.lay.first) * c.lay.lanes * size)
	case loop.Zero:
	default:
		m.base = c.newG()
		c.load(asm.MOV, m.base, wordMem(c.p.StrideWord(b, c.p.Lane)))
		c.upd(asm.IMUL, m.base, j)
		c.upd(asm.ADD, m.base, base)
	}
	return m
}

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

// stageStore writes step s of a value to staging area n.
func (c *compiler) stageStore(n int, v loop.Value, s int) {
	if c.p.Ins[v].Type.Size() != 8 {
		c.store(asm.VMOVUPS, c.stageMem(n), c.get(v, s))
		return
	}
	for q := range c.lay.parts {
		c.store(asm.VMOVUPS, c.stageMem(n).add(q*c.vb), c.part(v, s, q))
	}
}

// eachLane runs f for every lane of a step that mask k has, 0 meaning all.
func (c *compiler) eachLane(k vr, f func(j vr)) { c.eachBit(c.bitsOf(k), k == 0, f) }

// eachBit runs f for the number of every set bit of a register, the lowest first, and leaves the
// register zero. The argument some says that a bit is set.
func (c *compiler) eachBit(bits vr, some bool, f func(n vr)) {
	done := c.asm.NewLabel()
	if !some {
		c.use2(asm.TEST, bits, bits)
		c.jcc(asm.CondE, done)
	}
	head := c.loop(false)
	n := c.newG()
	c.op1(asm.TZCNT, n, bits)
	f(n)
	c.op1(asm.BLSR, bits, bits)
	c.jcc(asm.CondNE, head)
	c.end()
	c.label(done)
}
