package x86

import (
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Rows of another extent each: where one begins and ends is read from the offsets.

// ragged reads how long the ragged axis is in this row, and moves the cursors of buffers that
// step on it to where it begins.
func (c *compiler) ragged() {
	a := c.p.Ragged()
	if a < 0 {
		return
	}
	at := c.ptr[c.p.Axes[a].Offsets-1]
	begin := c.loadG(asm.MOV, lmem{base: at})
	c.extent[a] = c.loadG(asm.MOV, lmem{base: at, disp: 8})
	c.upd(asm.SUB, c.extent[a], begin)
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
