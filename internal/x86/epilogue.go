package x86

import (
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// The epilogue computes the lanes behind the last full strip in one of two ways. Short code, and
// code for interleaved steps, has a copy for one vector that runs under a mask. Long code,
// where the copy would double the time of compilation, goes around once more on scratch memory:
// the rest of the arrays is copied there before, and the results are copied back.

// longCode is the number of instructions from which code is not copied.
const longCode = 40

// repeatable reports that a block may compute lanes that do not exist: it may be
// reordered, which excludes loops and indexed access, and reads and writes elements of
// 4 or 8 bytes in their order only.
func (c *compiler) repeatable(block []loop.Value, s *survey) bool {
	for b := range c.p.Bufs {
		x := &c.p.Bufs[b]
		step, whole := x.Steps[c.p.Lane], x.DType.Size() >= 4
		if (s.reads|s.writes)>>b&1 != 0 && (step != loop.Unit || !whole) && (step != loop.Zero || s.writes>>b&1 != 0) {
			return false
		}
	}
	return !s.indexed && c.p.Unordered(block, false, false)
}

// repeated runs body, which takes a vector at a time, over all lanes up to n with
// one copy of its code.
func (c *compiler) repeated(body []loop.Value, s *survey, n vr, over bool) {
	i := c.lay.idx
	strip := c.lay.lanes
	rows := c.ptr
	var area [loop.MaxBufs]int // offsets in the frame
	for b := range c.p.Bufs {
		if c.p.Bufs[b].Steps[c.p.Lane] == loop.Unit && (s.reads|s.writes)>>b&1 != 0 {
			area[b] = c.alloc(strip*c.p.Bufs[b].DType.Size(), c.vb)
			c.ptr[b] = c.newG()
			c.mov(c.ptr[b], rows[b])
		}
	}
	finish, done := c.asm.NewLabel(), c.asm.NewLabel()
	around := c.newG() // whether it went around on scratch memory
	if over {
		c.gconst(around, 0)
	}
	head, last := c.wholeStrips(n, strip, over, func() { c.block(body) })
	c.branch(i, asm.CondGE, n, finish)
	c.maskRest(n)
	for b, at := range area {
		if at == 0 {
			continue
		}
		t := c.p.TypeOf(b)
		if s.reads>>b&1 != 0 {
			c.eachRegister(t, at, func(x vr, j int, m lmem) {
				c.loadUnit(b, t, x, j)
				c.store(asm.VMOVUPS, m, x)
			})
		}
		x := c.loadG(asm.LEA, lmem{index: i, scale: uint8(c.p.Bufs[b].DType.Size())})
		c.load(asm.LEA, c.ptr[b], frameMem(at))
		c.upd(asm.SUB, c.ptr[b], x)
	}
	c.masks = nil
	c.load(asm.LEA, last, lmem{base: i, disp: -1}) // once
	if over {
		c.gconst(around, 1)
	}
	c.jmp(head)
	c.end()
	c.label(finish)
	if over {
		c.branchi(around, asm.CondE, 0, done)
	} else { // then the index is beyond n
		c.branch(i, asm.CondLE, n, done)
	}
	c.updi(asm.SUB, i, int64(strip))
	c.maskRest(n)
	c.ptr = rows
	for b, at := range area {
		if at != 0 && c.p.Bufs[b].Write {
			t := c.p.TypeOf(b)
			c.eachRegister(t, at, func(x vr, j int, m lmem) {
				c.load(asm.VMOVUPS, x, m)
				c.storeUnit(b, t, x, j)
			})
		}
	}
	c.masks = nil
	c.label(done)
}

// eachRegister calls f with a new register for each that a strip of a buffer
// takes, its number, and its place in the area at an offset in the frame.
func (c *compiler) eachRegister(t loop.Type, at int, f func(x vr, j int, m lmem)) {
	for j := range c.count(t) {
		f(c.newV(), j, frameMem(at+j*c.vb))
	}
}
