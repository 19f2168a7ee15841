package x86

import (
	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// at addresses register i of an element group of a buffer that moves by one
// element a lane.
func (c *compiler) at(b, i int) lmem {
	size := c.p.Bufs[b].DType.Size()
	// Registers of 4- and 8-byte elements hold a full vector; a byte element
	// has a register a step.
	bytes := c.vb
	if size == 1 {
		bytes = c.lay.lanes
	}
	return lmem{base: c.ptr[b], index: c.lay.idx, scale: uint8(size), disp: int32(i*bytes + c.lay.first*c.lay.lanes*size)}
}

// active returns the mask of a step, 0 if all its lanes are active.
func (c *compiler) active(s int) vr {
	if c.masks == nil {
		return 0
	}
	return c.masks[s]
}

// activeFor is active for register i of a value of type t.
func (c *compiler) activeFor(t loop.Type, i int) vr {
	if c.masks == nil {
		return 0
	}
	return c.maskFor(c.active, t, i)
}

func (c *compiler) lowerLoad(v loop.Value, in *loop.Ins) {
	b := int(in.Imm)
	switch {
	case c.lay.uni:
		c.set(v, c.loadOne(c.p.Bufs[b].DType, lmem{base: c.ptr[b]}))
	case c.p.Bufs[b].Steps[c.p.Lane] == loop.Unit:
		for i, d := range c.result(v) {
			c.loadUnit(b, in.Type, d, i)
		}
	default:
		c.loadStrided(v, in)
	}
}

// loadOne reads an element into all lanes of a new register.
func (c *compiler) loadOne(t array.DType, m lmem) vr {
	switch t.Size() {
	case 4, 8:
		r := c.newV()
		c.load(broadcasts[loop.TypeOf(t)], r, m)
		return r
	}
	g := c.newG()
	c.load(asm.MOVZX8, g, m)
	if t == array.Bool {
		return c.boolMask(g)
	}
	r := c.newV()
	c.broadcast(r, g, 4)
	return r
}

func (c *compiler) loadUnit(b int, t loop.Type, d vr, i int) {
	m := c.at(b, i)
	k := c.activeFor(t, i)
	if c.p.Bufs[b].DType.Size() > 1 {
		switch {
		case k == 0:
			c.load(asm.VMOVUPS, d, m)
		case c.isa == AVX512:
			op := asm.VMOVUPS
			if t.Size() == 8 {
				op = asm.VMOVUPD
			}
			c.load(op, d, m).mask(k).z()
		default:
			op := asm.VMASKMOVPS
			if t.Size() == 8 {
				op = asm.VMASKMOVPD
			}
			x := c.emit(op, fDef, d, k, 0)
			x.memAt, x.mem = 2, m
		}
		return
	}
	wide := asm.VPMOVZXBD
	if c.lay.es == 8 {
		wide = asm.VPMOVZXBQ
	}
	bytes := d
	if t == loop.B {
		bytes = c.newV()
	}
	switch {
	case k == 0:
		c.load(wide, bytes, m)
	case c.isa == AVX512:
		c.load(wide, bytes, m).mask(k).z()
	default:
		c.eachLane(k, func(j vr) {
			g := c.newG()
			e := c.newG()
			c.mov(e, c.lay.idx)
			c.upd(asm.ADD, e, j)
			c.load(asm.MOVZX8, g, lmem{base: m.base, index: e, scale: 1, disp: m.disp})
			c.stagePut(0, j, g)
		})
		c.load(asm.VMOVUPS, bytes, c.stageMem(0))
	}
	if t == loop.B {
		c.nonzero(d, bytes)
	}
}

// nonzero makes a mask of the lanes, as wide as masks are, that are not zero.
func (c *compiler) nonzero(d, a vr) {
	if c.isa == AVX512 {
		op := asm.VPTESTMD
		if c.lay.es == 8 {
			op = asm.VPTESTMQ
		}
		c.op2(op, d, a, a)
		return
	}
	op := asm.VPCMPEQD
	if c.lay.es == 8 {
		op = asm.VPCMPEQQ
	}
	z := c.newV()
	c.op2(op, z, a, c.constReg(loop.F32, 0))
	c.notMask(d, z)
}

func (c *compiler) lowerStore(in *loop.Ins) {
	b := int(in.Imm)
	d := c.p.Bufs[b].DType
	switch {
	case c.lay.uni:
		c.storeOne(d, lmem{base: c.ptr[b]}, c.get(in.A, 0))
	case c.p.Bufs[b].Steps[c.p.Lane] == loop.Unit:
		t := loop.TypeOf(d)
		for i := range c.count(t) {
			c.storeUnit(b, t, c.get(in.A, i), i)
		}
	default:
		c.storeStrided(in)
	}
}

// storeOne writes lane 0 of r.
func (c *compiler) storeOne(t array.DType, m lmem, r vr) {
	switch {
	case t.Size() == 8:
		c.store(asm.VMOVQ, m, r.x())
	case t.Size() == 4:
		c.store(asm.VMOVD, m, r.x())
	default:
		g := c.newG()
		if t == array.Bool && c.isa == AVX512 {
			c.op1(asm.KMOVW, g, r)
		} else {
			c.op1(asm.VMOVD, g, r.x())
		}
		if t == array.Bool {
			c.updi(asm.AND, g, 1)
		}
		c.store(asm.MOV8, m, g)
	}
}

func (c *compiler) storeUnit(b int, t loop.Type, r vr, i int) {
	m := c.at(b, i)
	k := c.activeFor(t, i)
	if c.p.Bufs[b].DType.Size() > 1 {
		switch {
		case k == 0 && c.streaming:
			c.store(asm.VMOVNTPS, m, r)
		case k == 0:
			c.store(asm.VMOVUPS, m, r)
		case c.isa == AVX512:
			op := asm.VMOVUPS
			if t.Size() == 8 {
				op = asm.VMOVUPD
			}
			c.store(op, m, r).mask(k)
		case c.masks[0] == c.lay.tail:
			c.storePieces(t, r, m, i)
		default:
			op := asm.VMASKMOVPS
			if t.Size() == 8 {
				op = asm.VMASKMOVPD
			}
			x := c.emit(op, 0, 0, k, r)
			x.memAt, x.mem = 0, m
		}
		return
	}
	r = c.bytesOf(t, r)
	if c.isa == AVX512 {
		op := asm.VPMOVDB
		if c.lay.es == 8 {
			op = asm.VPMOVQB
		}
		if k != 0 {
			c.store(op, m, r).mask(k)
			return
		}
		n := c.newV()
		c.op1(op, n.x(), r)
		if c.lay.es == 8 {
			c.store(asm.VMOVQ, m, n.x())
		} else {
			c.store(asm.VMOVUPS, m, n.x())
		}
		return
	}
	if k != 0 {
		c.store(asm.VMOVUPS, c.stageMem(0), r)
		c.eachLane(k, func(j vr) {
			g := c.stageGet(0, j)
			e := c.newG()
			c.mov(e, c.lay.idx)
			c.upd(asm.ADD, e, j)
			c.store(asm.MOV8, lmem{base: m.base, index: e, scale: 1, disp: m.disp}, g)
		})
		return
	}
	lo, hi, n := c.newV(), c.newV(), c.newV()
	if c.lay.es == 8 {
		c.op1i(asm.VEXTRACTI128, hi.x(), r, 1)
		c.op2i(asm.VSHUFPS, lo.x(), r.x(), hi.x(), 0x88)
		c.op2(asm.VPACKUSDW, n.x(), lo.x(), lo.x())
		c.op2(asm.VPACKUSWB, n.x(), n.x(), n.x())
		c.store(asm.VMOVD, m, n.x())
		return
	}
	c.op2(asm.VPAND, lo, r, c.constReg(loop.I32, 0xFF))
	c.op1i(asm.VEXTRACTI128, hi.x(), lo, 1)
	c.op2(asm.VPACKUSDW, n.x(), lo.x(), hi.x())
	c.op2(asm.VPACKUSWB, n.x(), n.x(), n.x())
	c.store(asm.VMOVQ, m, n.x())
}

// storePieces writes what is left of a row at its end, on AVX2: halves, quarters
// and so on of a register, as the bits of the count say. A masked store costs
// AMD processors some 30 ns.
func (c *compiler) storePieces(t loop.Type, r vr, m lmem, part int) {
	lanes := c.vb / t.Size()
	rest := c.newG()
	c.mov(rest, c.lay.rest)
	if part > 0 {
		c.updi(asm.SUB, rest, int64(part*lanes))
	}
	whole, done := c.asm.NewLabel(), c.asm.NewLabel()
	c.cmpi(rest, int64(lanes))
	c.jcc(condGE, whole)
	c.cmpi(rest, 0)
	c.jcc(condLE, done)
	at, x := c.newG(), c.newV()
	c.mov(at, m.index)
	c.mov(x, r)
	here := m
	here.index = at
	for n := lanes / 2; n > 0; n /= 2 {
		skip := c.asm.NewLabel()
		c.emit(asm.TEST, 0, rest).with(int64(n))
		c.jcc(condE, skip)
		switch n * t.Size() {
		case 16:
			c.store(asm.VMOVUPS, here, x.x())
			c.op1i(asm.VEXTRACTI128, x.x(), x, 1)
		case 8:
			c.store(asm.VMOVQ, here, x.x())
			c.op1i(asm.VPSHUFD, x.x(), x.x(), 0x0E)
		case 4:
			c.store(asm.VMOVD, here, x.x())
		}
		c.updi(asm.ADD, at, int64(n))
		c.label(skip)
	}
	c.jmp(done)
	c.label(whole)
	c.store(asm.VMOVUPS, m, r)
	c.label(done)
}

// bytesOf returns r with what a byte store writes in the low byte of each lane.
func (c *compiler) bytesOf(t loop.Type, r vr) vr {
	if t != loop.B {
		return r
	}
	d := c.newV()
	if c.isa == AVX512 {
		op := asm.VMOVAPS
		one := c.constReg(loop.I32, 1)
		if c.lay.es == 8 {
			op, one = asm.VMOVAPD, c.constReg(loop.I64, 1)
		}
		c.op1(op, d, one).mask(r).z()
		return d
	}
	if c.lay.es == 8 {
		c.op1i(asm.VPSRLQ, d, r, 63)
	} else {
		c.op1i(asm.VPSRLD, d, r, 31)
	}
	return d
}
