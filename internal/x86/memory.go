package x86

import (
	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// elementOps are the instructions for elements of one size in memory.
type elementOps struct {
	get, put asm.Op // of a general register, or one for all
	low      asm.Op // of the lowest lane of a vector
	spread   asm.Op // one element for all lanes
	vector   asm.Op // a vector under an opmask
	masked   asm.Op // a vector under a vector of masks, on AVX2
	gather   asm.Op // elements at offsets of 8 bytes
}

var elements = [9]elementOps{
	1: {get: asm.MOVZX8, put: asm.MOV8},
	2: {get: asm.MOVZX16, put: asm.MOV16},
	4: {asm.MOV32, asm.MOV32, asm.VMOVD, asm.VBROADCASTSS, asm.VMOVUPS, asm.VMASKMOVPS, asm.VPGATHERQD},
	8: {asm.MOV, asm.MOV, asm.VMOVQ, asm.VBROADCASTSD, asm.VMOVUPD, asm.VMASKMOVPD, asm.VPGATHERQQ},
}

// activeFor is active for register i of a value of type t.
func (c *compiler) activeFor(t loop.Type, i int) vr {
	if c.masks == nil {
		return 0
	}
	return c.maskFor(c.active, t, i)
}

// bulk reports that the lanes of buffer b lie side by side and can be moved as
// vectors: AVX2 has no masks for elements of 1 and 2 bytes.
func (c *compiler) bulk(b int) bool {
	x := &c.p.Bufs[b]
	return x.Steps[c.p.Lane] == loop.Unit && (x.DType.Size() >= 4 || c.isa == jit.AVX512 || c.masks == nil)
}

// lowerLoad lowers OpLoad and OpLoadAt.
func (c *compiler) lowerLoad(v loop.Value, in *loop.Ins) {
	b := int(in.Imm)
	switch {
	case c.lay.uni:
		c.set(v, c.loadOne(c.p.Bufs[b].DType, c.oneAt(b, in.A)))
	case in.Op == loop.OpLoad && c.bulk(b):
		for i, d := range c.result(v) {
			c.loadUnit(b, in.Type, d, i)
		}
	default:
		d := c.result(v)
		for s := range c.lay.k {
			if c.p.Bufs[b].DType.Size() < 4 {
				c.loadLanes(b, d[s], s, in.A)
			} else {
				c.gather(b, in.Type, d, s, in.A)
			}
		}
	}
}

// lowerStore lowers OpStore and OpStoreAt.
func (c *compiler) lowerStore(in *loop.Ins) {
	b := int(in.Imm)
	switch {
	case c.lay.uni:
		c.storeOne(c.p.Bufs[b].DType, c.oneAt(b, in.B), c.get(in.A, 0))
	case in.Op == loop.OpStore && c.bulk(b):
		t := c.p.Ins[in.A].Type
		for i := range c.count(t) {
			c.storeUnit(b, t, c.get(in.A, i), i)
		}
	default:
		for s := range c.lay.k {
			c.storeLanes(b, in.A, s, in.B)
		}
	}
}

// oneAt is the place of an element that all lanes share, at an offset if there is
// one.
func (c *compiler) oneAt(b int, off loop.Value) lmem {
	m := lmem{base: c.ptr[b]}
	if off != loop.NoValue {
		m.index, m.scale = c.newG(), uint8(c.p.Bufs[b].DType.Size())
		c.op1(asm.VMOVQ, m.index, c.get(off, 0).x())
	}
	return m
}

// loadOne reads an element into all lanes of a new register.
func (c *compiler) loadOne(t array.DType, m lmem) vr {
	switch {
	case t == array.Float16:
		h := c.narrow(c.newV())
		c.load(asm.VPBROADCASTW, h, m)
		return c.v1(asm.VCVTPH2PS, h)
	case t == array.BFloat16:
		return c.v1i(asm.VPSLLD, c.loadV(asm.VPBROADCASTW, m), 16)
	case t.Size() > 1:
		return c.loadV(elements[t.Size()].spread, m)
	}
	g := c.loadG(asm.MOVZX8, m)
	if t == array.Bool {
		return c.boolMask(g)
	}
	return c.broadcast(g, 4)
}

// storeOne writes lane 0 of r.
func (c *compiler) storeOne(t array.DType, m lmem, r vr) {
	switch {
	case t == array.Float16:
		h := c.newV().x()
		c.op1i(asm.VCVTPS2PH, h, r.x(), 0)
		c.store(asm.VPEXTRW, m, h).with(0)
		return
	case t == array.BFloat16:
		c.store(asm.VPEXTRW, m, c.roundUpper(r).x()).with(1)
		return
	case t.Size() > 1:
		c.store(elements[t.Size()].low, m, r.x())
		return
	}
	g := c.newG()
	if t == array.Bool && c.isa == jit.AVX512 {
		c.op1(asm.KMOVW, g, r)
	} else {
		c.op1(asm.VMOVD, g, r.x())
	}
	if t == array.Bool {
		c.updi(asm.AND, g, 1)
	}
	c.store(asm.MOV8, m, g)
}

// at addresses register i of an element group of a buffer that moves by one
// element a lane.
func (c *compiler) at(b, i int) lmem {
	size := c.p.Bufs[b].DType.Size()
	// Registers of 4- and 8-byte elements hold a full vector; a smaller element
	// has a register a step.
	bytes := c.vb
	if size < 4 {
		bytes = c.lay.lanes * size
	}
	return lmem{base: c.ptr[b], index: c.lay.idx, scale: uint8(size), disp: int32(i*bytes + c.lay.first*c.lay.lanes*size)}
}

func (c *compiler) loadUnit(b int, t loop.Type, d vr, i int) {
	m, k := c.at(b, i), c.activeFor(t, i)
	switch e := c.p.Bufs[b].DType; {
	case e.Size() < 4:
		c.loadSmall(e, d, m, k)
	case k == 0:
		c.load(asm.VMOVUPS, d, m)
	case c.isa == jit.AVX512:
		c.load(elements[e.Size()].vector, d, m).mask(k).z()
	default:
		c.op2m(elements[e.Size()].masked, d, k, m)
	}
}

// loadSmall reads a step of elements that are smaller than their lanes.
func (c *compiler) loadSmall(e array.DType, d vr, m lmem, k vr) {
	load, r := asm.VPMOVZXBD, d
	switch {
	case e == array.Float16:
		load = asm.VCVTPH2PS
	case e == array.BFloat16:
		load = asm.VPMOVZXWD
	case c.lay.es == 8:
		load = asm.VPMOVZXBQ
	}
	if e == array.Bool {
		r = c.newV()
	}
	if i := c.load(load, r, m); k != 0 {
		i.mask(k).z()
	}
	switch e {
	case array.Bool:
		c.nonzero(d, r)
	case array.BFloat16:
		c.op1i(asm.VPSLLD, d, d, 16)
	}
}

func (c *compiler) storeUnit(b int, t loop.Type, r vr, i int) {
	m, k := c.at(b, i), c.activeFor(t, i)
	size := c.p.Bufs[b].DType.Size()
	switch {
	case size < 4:
		c.storeSmall(c.p.Bufs[b].DType, m, r, k)
	case k == 0 && c.streaming:
		c.store(asm.VMOVNTPS, m, r)
	case k == 0:
		c.store(asm.VMOVUPS, m, r)
	case c.isa == jit.AVX512:
		c.store(elements[size].vector, m, r).mask(k)
	case c.masks[0] == c.lay.tail:
		c.storePieces(t, r, m, i)
	default:
		c.emit(elements[size].masked, 0, 0, k, r).at(0, m)
	}
}

// storeSmall writes a step of elements that are smaller than their lanes.
func (c *compiler) storeSmall(e array.DType, m lmem, r, k vr) {
	narrow, store, n := asm.VPMOVDB, asm.VMOVUPS, c.newV().x()
	switch {
	case e == array.Bool:
		mask := r
		r = c.newV()
		c.ones(c.maskType(), r, mask)
	case e == array.Float16:
		narrow, n = asm.VCVTPS2PH, c.narrow(n)
	case e == array.BFloat16:
		r = c.v1i(asm.VPSRLD, c.roundUpper(r), 16)
		narrow, n = asm.VPMOVDW, c.narrow(n)
	}
	if c.lay.es == 8 {
		narrow, store = asm.VPMOVQB, asm.VMOVQ
	}
	var i *ins
	switch {
	case k != 0:
		i = c.store(narrow, m, r).mask(k)
	case c.isa == jit.AVX512 || e == array.Float16:
		i = c.op1(narrow, n, r)
	case c.lay.es == 8:
		hi := c.half(r, 1)
		c.op2i(asm.VSHUFPS, n, r.x(), hi, 0x88)
		c.op2(asm.VPACKUSDW, n, n, n)
		c.op2(asm.VPACKUSWB, n, n, n)
		store = asm.VMOVD
	default:
		if e == array.Uint8 {
			r = c.v2(asm.VPAND, r, c.constReg(loop.I32, 0xFF))
		}
		c.op2(asm.VPACKUSDW, n, r.x(), c.half(r, 1))
		if e.Size() == 1 {
			c.op2(asm.VPACKUSWB, n, n, n)
			store = asm.VMOVQ
		}
	}
	if e == array.Float16 {
		i.with(0)
	}
	if k != 0 {
		return
	}
	if store == asm.VMOVUPS && c.streaming && m.base != frameReg {
		store = asm.VMOVNTPS
	}
	c.store(store, m, n)
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
	c.branchi(rest, asm.CondGE, int64(lanes), whole)
	c.branchi(rest, asm.CondLE, 0, done)
	at, x := c.newG(), c.newV()
	c.mov(at, m.index)
	c.mov(x, r)
	here := m
	here.index = at
	for n := lanes / 2; n > 0; n /= 2 {
		skip := c.asm.NewLabel()
		c.emit(asm.TEST, 0, rest).with(int64(n))
		c.jcc(asm.CondE, skip)
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
