package x86

import (
	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Elements of 1 and 2 bytes with stride 2 to 4, such as the channels of images, are deinterleaved:
// load 16 bytes per 128-bit part of a register, then shuffle bytes so that each element is in its
// lane.

// canDeinterleaveSmall reports whether buffer b is read so. Requires no offset and no mask.
func (c *compiler) canDeinterleaveSmall(b int, off loop.Value) bool {
	x := &c.p.Bufs[b]
	size, by := x.DType.Size(), x.Steps[c.p.Lane].Elements()
	switch {
	case off != loop.NoValue || c.masks != nil || x.Write || size > 2 || size > c.lay.es || by < 2 || x.DType == array.Float16:
		return false
	case signed(x.DType) == 1 && c.lay.es == 8 && c.isa == jit.AVX2: // no shift extends their sign
		return false
	}
	return c.smallBytes(by, size) >= 8
}

// smallBytes returns the number of bytes from the first element of a register to the end of the
// last.
func (c *compiler) smallBytes(by, size int) int { return ((c.lay.lanes-1)*by + 1) * size }

// loadDeinterleavedSmall reads register i.
func (c *compiler) loadDeinterleavedSmall(b int, d vr, i int) {
	e := c.p.Bufs[b].DType
	size, by, es := e.Size(), c.p.Bufs[b].Steps[c.p.Lane].Elements(), c.lay.es
	m := lmem{base: c.ptr[b], disp: c.disp + int32((i+c.lay.first)*c.lay.lanes*by*size)}
	// Nothing is read behind the last element.
	all, width, load := c.smallBytes(by, size), 16, asm.VMOVUPS
	if all < width {
		width, load = 8, asm.VMOVQ
	}
	parts, each := c.vb/16, 16/es
	starts := make([][]int, parts) // of loads, in bytes
	var of, place [64]int          // by lane, which of them has it, and where
	rounds := 0
	for p := range parts {
		for l := p * each; l < (p+1)*each; {
			start := min(l*by*size, all-width)
			for ; l < (p+1)*each && l*by*size+size <= start+width; l++ {
				of[l], place[l] = len(starts[p]), l*by*size-start
			}
			starts[p] = append(starts[p], start)
		}
		rounds = max(rounds, len(starts[p]))
	}
	upper := signed(e) == 1 && size < es || e == array.BFloat16 // elements are the upper bytes of lanes
	insert := [...]asm.Op{jit.AVX2: asm.VINSERTI128, jit.AVX512: asm.VINSERTI32X4}[c.isa]
	r := d
	if e == array.Bool {
		r = c.newV()
	}
	for k := range rounds {
		x := c.newV()
		c.load(load, x.x(), m.add(starts[0][min(k, len(starts[0])-1)]))
		for p := 1; p < parts; p++ {
			if k >= len(starts[p]) {
				continue
			}
			if at := m.add(starts[p][k]); width == 16 {
				c.op2m(insert, x, x, at).with(int64(p))
			} else {
				half := c.newV().x()
				c.load(load, half, at)
				c.op2i(insert, x, x, half, int64(p))
			}
		}
		var table [64]byte
		for j := range table {
			table[j] = 0x80 // gives 0
		}
		for l := range c.lay.lanes {
			if of[l] != k {
				continue
			}
			at := l * es
			if upper {
				at += es - size
			}
			for j := range size {
				table[at+j] = byte(place[l] + j)
			}
		}
		if k == 0 {
			c.op2(asm.VPSHUFB, r, x, c.listReg(table[:c.vb]))
		} else {
			c.op2([...]asm.Op{jit.AVX2: asm.VPOR, jit.AVX512: asm.VPORD}[c.isa], r, r, c.v2(asm.VPSHUFB, x, c.listReg(table[:c.vb])))
		}
	}
	switch {
	case signed(e) == 1 && size < es:
		c.op1i([...]asm.Op{2: asm.VPSRAW, 4: asm.VPSRAD, 8: asm.VPSRAQ}[es], r, r, int64(8*(es-size)))
	case e == array.Bool:
		c.boolLanes(d, r)
	}
}
