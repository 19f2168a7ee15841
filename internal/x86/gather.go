package x86

import (
	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// strideIndex prepares access to a buffer that moves by a stride along the lane
// axis, before the loops of a pass.
func (c *compiler) strideIndex(b int) {
	m := wordMem(c.p.StrideWord(b, c.p.Lane))
	step := c.newG()
	c.load(asm.MOV, step, m)
	c.op1i(asm.IMUL, step, step, int64(c.lay.lanes))
	r := strideRegs{step: step}
	if c.p.Bufs[b].DType.Size() > 1 {
		s := c.newV()
		c.load(asm.VPBROADCASTQ, s, m)
		for q := range c.lay.parts {
			r.lane[q] = c.newV()
			n := c.newV()
			c.load(asm.VMOVUPS, n, c.iota(8, q*c.vb/8))
			if c.isa == AVX512 {
				c.op2(asm.VPMULLQ, r.lane[q], s, n)
			} else {
				c.mul64(r.lane[q], s, n)
			}
		}
	}
	c.stride[b] = r
}

// stepBase returns a register with where step s of a strided buffer begins.
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

// gather reads step s of d, elements of t at base + index*scale, where k is
// active; the rest becomes zero.
func (c *compiler) gather(t loop.Type, d []vr, s int, base vr, index [2]vr, scale uint8, k vr) {
	if t.Size() == 8 {
		for q := range c.lay.parts {
			km := k
			if k != 0 {
				km = c.partMask(k, q)
			}
			c.gatherReg(asm.VPGATHERQQ, d[s*c.lay.parts+q], base, index[q], scale, km)
		}
		return
	}
	var h [2]vr
	for q := range 2 {
		h[q] = c.newV()
		narrow, km := h[q].y(), k
		if c.isa == AVX2 {
			narrow = h[q].x()
			if k != 0 {
				km = c.half(k, q)
			}
		} else if k != 0 {
			km = c.partMask(k, q)
		}
		c.gatherReg(asm.VPGATHERQD, narrow, base, index[q], scale, km)
	}
	c.concat(d[s], h[0], h[1])
}

// concat makes a register of the low halves of two.
func (c *compiler) concat(d, lo, hi vr) {
	if c.isa == AVX2 {
		c.op2i(asm.VINSERTI128, d, lo, hi.x(), 1)
	} else {
		c.op2i(asm.VINSERTI64X4, d, lo, hi.y(), 1)
	}
}

func (c *compiler) gatherReg(op asm.Op, d, base, index vr, scale uint8, k vr) {
	m := lmem{base: base, index: index, scale: scale}
	// The instruction clears the mask.
	km := c.newM()
	if k == 0 {
		c.emit(pOnes, fDef, km)
	} else {
		c.mov(km, k&idMask)
	}
	c.emit(pZero, fDef, d&idMask)
	if c.isa == AVX512 {
		c.load(op, d, m).rmw().mask(km)
		return
	}
	i := c.emit(op, fDef|fRMW, d, 0, km|d&^idMask)
	i.memAt, i.mem = 1, m
}

func (c *compiler) loadStrided(v loop.Value, in *loop.Ins) {
	b := int(in.Imm)
	d := c.result(v)
	for s := range c.lay.k {
		if c.p.Bufs[b].DType.Size() > 1 {
			c.gather(in.Type, d, s, c.stepBase(b, s), c.stride[b].lane, 1, c.active(s))
			continue
		}
		c.loadLanes(b, d, s, 0)
	}
}

// loadLanes reads bytes lane by lane, at offsets in staging area 1 if at is not
// zero.
func (c *compiler) loadLanes(b int, d []vr, s, at int) {
	base := c.laneBase(b, s)
	c.eachLane(c.active(s), func(j vr) {
		g := c.newG()
		c.load(asm.MOVZX8, g, c.laneAt(b, base, s, j, at))
		c.stagePut(0, j, g)
	})
	c.stageLoad(0, loop.TypeOf(c.p.Bufs[b].DType), d, s)
}

// laneBase is where the first lane of step s begins.
func (c *compiler) laneBase(b, s int) vr {
	if c.p.Bufs[b].Steps[c.p.Lane] == loop.Any {
		return c.stepBase(b, s)
	}
	return c.ptr[b]
}

// laneAt is the place of lane j of step s, plus its offset in staging area at.
func (c *compiler) laneAt(b int, base vr, s int, j vr, at int) lmem {
	size := c.p.Bufs[b].DType.Size()
	m := lmem{base: base, scale: uint8(size)}
	if at > 0 {
		m.index = c.newG()
		c.load(asm.MOV, m.index, c.stageAt(at, j, 8))
	}
	switch c.p.Bufs[b].Steps[c.p.Lane] {
	case loop.Unit:
		if at == 0 {
			m.index = c.newG()
			c.mov(m.index, j)
		} else {
			c.upd(asm.ADD, m.index, j)
		}
		c.upd(asm.ADD, m.index, c.lay.idx)
		m.disp = int32((s + c.lay.first) * c.lay.lanes * size)
	case loop.Any:
		t := c.newG()
		c.load(asm.MOV, t, wordMem(c.p.StrideWord(b, c.p.Lane)))
		c.upd(asm.IMUL, t, j)
		c.upd(asm.ADD, t, base)
		m.base = t
	}
	return m
}

func (c *compiler) storeStrided(in *loop.Ins) { c.storeLanes(in, 0) }

// storeLanes writes lane by lane, at offsets in staging area 1 if at is not zero.
func (c *compiler) storeLanes(in *loop.Ins, at int) {
	b := int(in.Imm)
	size := c.p.Bufs[b].DType.Size()
	for s := range c.lay.k {
		c.stageStore(0, in.A, s)
		if at > 0 {
			c.stageStore(at, in.B, s)
		}
		base := c.laneBase(b, s)
		c.eachLane(c.active(s), func(j vr) {
			m := c.laneAt(b, base, s, j, at)
			var g vr
			op := asm.MOV8
			switch size {
			case 4:
				op = asm.MOV32
			case 8:
				op = asm.MOV
			}
			if size > 1 {
				g = c.newG()
				c.load(op, g, c.stageAt(0, j, size))
			} else {
				g = c.stageGet(0, j)
			}
			c.store(op, m, g)
		})
	}
}

// offsetOne returns the place at an offset that is the same for all lanes.
func (c *compiler) offsetOne(b int, off loop.Value) lmem {
	g := c.newG()
	c.op1(asm.VMOVQ, g, c.get(off, 0).x())
	return lmem{base: c.ptr[b], index: g, scale: uint8(c.p.Bufs[b].DType.Size())}
}

func (c *compiler) lowerLoadAt(v loop.Value, in *loop.Ins) {
	b := int(in.Imm)
	t := c.p.Bufs[b].DType
	if c.lay.uni {
		c.set(v, c.loadOne(t, c.offsetOne(b, in.A)))
		return
	}
	d := c.result(v)
	for s := range c.lay.k {
		if t.Size() == 1 {
			c.stageStore(1, in.A, s)
			c.loadLanes(b, d, s, 1)
			continue
		}
		base, index, scale := c.atIndex(b, t, in.A, s)
		c.gather(in.Type, d, s, base, index, scale, c.active(s))
	}
}

// atIndex returns base and vector index of OpLoadAt for a step.
func (c *compiler) atIndex(b int, t array.DType, off loop.Value, s int) (base vr, index [2]vr, scale uint8) {
	base, scale = c.ptr[b], uint8(t.Size())
	for q := range c.lay.parts {
		index[q] = c.part(off, s, q)
	}
	switch c.p.Bufs[b].Steps[c.p.Lane] {
	case loop.Unit:
		base = c.newG()
		c.load(asm.LEA, base, lmem{base: c.ptr[b], index: c.lay.idx, scale: scale, disp: int32((s + c.lay.first) * c.lay.lanes * t.Size())})
		for q := range c.lay.parts {
			x := c.newV()
			c.op2m(asm.VPADDQ, x, index[q], c.iota(8, q*c.vb/8))
			index[q] = x
		}
	case loop.Any:
		base, scale = c.stepBase(b, s), 1
		for q := range c.lay.parts {
			x := c.newV()
			c.op1i(asm.VPSLLQ, x, index[q], map[int]int64{4: 2, 8: 3}[t.Size()])
			c.op2(asm.VPADDQ, x, x, c.stride[b].lane[q])
			index[q] = x
		}
	}
	return base, index, scale
}

func (c *compiler) lowerStoreAt(in *loop.Ins) {
	b := int(in.Imm)
	if c.lay.uni {
		c.storeOne(c.p.Bufs[b].DType, c.offsetOne(b, in.B), c.get(in.A, 0))
		return
	}
	c.storeLanes(in, 1)
}
