package x86

import (
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/numbers"
	"weft/internal/x86/asm"
)

// Ragged axes: the begin and end of each row are read from the offsets.

// ragged reads the extent of the ragged axis in this row, and moves the cursors of buffers that
// step on it to its begin.
func (c *compiler) ragged() {
	a := c.p.Ragged()
	if a < 0 {
		return
	}
	of := c.p.Axes[a].Offsets - 1
	at := c.ptr[of]
	if a == 1 && c.p.Lane == 1 { // rows are items; their elements are contiguous, in order of rows
		c.limit = c.newG()
		c.before(func() {
			items, first := c.loadG(asm.MOV, wordMem(c.p.ExtentWord(0))), c.loadG(asm.MOV, frameMem(loop.FramePtr+8*of))
			c.load(asm.MOV, c.limit, lmem{base: first, index: items, scale: 8})
		})
	}
	begin := c.loadG(asm.MOV, lmem{base: at})
	c.extent[a] = c.loadG(asm.MOV, lmem{base: at, disp: 8})
	c.upd(asm.SUB, c.extent[a], begin)
	if c.limit != 0 {
		c.headroom = c.newG()
		c.mov(c.headroom, c.limit)
		c.upd(asm.SUB, c.headroom, begin)
	}
	for b := range c.p.Bufs {
		switch x := &c.p.Bufs[b]; x.Steps[a] {
		case loop.Zero:
		case loop.Unit:
			c.ptr[b] = c.loadG(asm.LEA, lmem{base: c.ptr[b], index: begin, scale: uint8(x.DType.Size())})
		default:
			p := c.newG()
			c.mov(p, begin)
			c.updm(asm.IMUL, p, wordMem(c.p.StrideWord(b, a)))
			c.upd(asm.ADD, p, c.ptr[b])
			c.ptr[b] = p
		}
	}
}

// mayOverrun reports whether vectors of a pass may go beyond the end of its row, up to the limit.
// They read elements of the next rows, and write into them before those rows overwrite them. So the
// end of a row, which comes often, needs no epilogue. Reductions ignore the lanes behind the row.
func (c *compiler) mayOverrun(block []loop.Value, s *survey) bool {
	if c.limit == 0 || s.indexed || c.streaming || !c.p.Unordered(block, false, false) {
		return false
	}
	for b := range c.p.Bufs {
		step := c.p.Bufs[b].Steps[c.p.Lane]
		if s.writes>>b&1 != 0 && step != loop.Unit || s.reads>>b&1 != 0 && step != loop.Unit && step != loop.Zero {
			return false
		}
	}
	return true
}

// shortRow lowers the path for a row of at most a strip that has a strip of headroom: in registers
// alone, with masks of the elements that count. The code jumps to done, or falls through if the row
// is longer.
func (c *compiler) shortRow(body []loop.Value, accs []accumulator, n vr, done asm.Label) {
	row := c.lay
	strip := numbers.VirtualBytes / row.es
	steps := strip / row.lanes
	halves := true // of few elements, only the first half of the registers has seen some
	for j := range accs {
		halves = halves && accs[j].t.Size() == row.es && len(accs[j].regs) == steps
	}
	first := steps / 2
	if halves && 4*row.k <= steps {
		// A body that needs registers itself is faster with half of them, and rows of more
		// elements another way.
		strip, steps = strip/2, steps/2
	}
	long, whole, half := c.asm.NewLabel(), c.asm.NewLabel(), c.asm.NewLabel()
	c.branchi(n, asm.CondG, int64(strip), long)
	c.branchi(c.headroom, asm.CondL, int64(strip), long)
	for j := range c.accs {
		x := &c.accs[j]
		for _, r := range x.regs[:min(len(x.regs), steps)] {
			c.mov(r, c.identity(x))
		}
		x.fresh = x.t != loop.B && strip <= numbers.VirtualBytes/x.t.Size()
	}
	length := c.lengths(n)
	c.lay.k = min(row.k, steps)
	c.lay.overrun = true
	for s := 0; s < steps; s += c.lay.k {
		switch {
		case s > 0 && halves && s <= first:
			c.branchi(n, asm.CondLE, int64(s*row.lanes), half)
		case s > 0:
			c.branchi(n, asm.CondLE, int64(s*row.lanes), whole)
		}
		c.lay.first = s
		var masks []vr
		for i := range c.lay.k {
			masks = append(masks, c.below(length, n, (s+i)*row.lanes))
		}
		c.masks = masks
		c.block(body)
	}
	c.masks, c.lay = nil, row
	c.label(whole)
	for j := range accs {
		x := &accs[j]
		for i := 0; halves && i+first < steps; i++ {
			c.compute(x.op, x.t, x.regs[i], x.regs[i], x.regs[i+first])
		}
	}
	c.label(half)
	for j := range accs {
		if x := &accs[j]; halves {
			c.fold(x, x.regs[:first], numbers.VirtualBytes)
		} else {
			c.fold(x, x.regs, numbers.VirtualBytes)
		}
	}
	for j := range c.accs {
		x := &c.accs[j]
		c.normalizeZero(x, &x.part)
		x.fresh = false
	}
	c.jmp(done)
	c.label(long)
}

// lengths returns a vector with n, at most 256, in each lane, for below.
func (c *compiler) lengths(n vr) vr {
	if c.isa == jit.AVX512 {
		return 0
	}
	return c.broadcast(n, max(c.lay.es, 2))
}

// below returns the mask of the lanes that are elements of a row of n, for a step whose first lane is
// element from.
func (c *compiler) below(length, n vr, from int) vr {
	m := c.newM()
	switch {
	case c.isa == jit.AVX512:
		// Of none or less no bits, of more than there are lanes all of them.
		rest, zero, most := c.loadG(asm.LEA, lmem{base: n, disp: int32(-from)}), c.newG(), c.newG()
		c.gconst(zero, 0)
		c.use2(asm.CMP, rest, zero)
		c.upd(asm.CMOVL, rest, zero)
		c.gconst(most, int64(c.lay.lanes))
		c.use2(asm.CMP, rest, most)
		c.upd(asm.CMOVG, rest, most)
		ones, bits := c.newG(), c.newG()
		c.gconst(ones, -1)
		c.op2(asm.BZHI, bits, ones, rest)
		c.op1(c.kmov(), m, bits)
	case c.lay.es == 1: // up to 256 is no byte
		words := func(half int) vr {
			w := c.newV()
			c.op2m(asm.VPCMPGTW, w, length, c.iota(2, from+16*half))
			return w
		}
		c.op2(asm.VPACKSSWB, m, words(0), words(1))
		c.op1i(asm.VPERMQ, m, m, 0xD8)
	default:
		c.op2m(gts[c.maskType()], m, length, c.iota(c.lay.es, from))
	}
	return m
}
