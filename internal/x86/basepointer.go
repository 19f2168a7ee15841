package x86

import (
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// A uniform offset is added to the base pointer of a buffer: contiguous lanes stay contiguous, so
// the code for accesses without an offset serves. The constant part of the offset goes into the
// displacements of instructions.

// A basePointer is a register with the address ptr + root*size, for an offset root that all lanes
// share.
type basePointer struct {
	root    loop.Value
	ptr, at vr
	size    int
}

// withBase runs f with a uniform offset added to the base pointer of buffer b, and reports whether
// it did. It does not if the offset is not uniform or if all lanes share one element of b.
func (c *compiler) withBase(b int, off loop.Value, f func()) bool {
	if c.lay.uni || !c.known(off) || c.p.Bufs[b].Steps[c.p.Lane] == loop.Zero {
		return false
	}
	ptr, streaming := c.ptr[b], c.streaming
	root, more := c.splitOffset(off, c.p.Bufs[b].DType.Size())
	if root != loop.NoValue {
		c.ptr[b] = c.basePlus(b, root)
	}
	c.streaming = false // non-temporal stores need aligned vectors
	if c.bulk(b) || c.canDeinterleave(b, loop.NoValue) || c.canDeinterleaveSmall(b, loop.NoValue) {
		c.disp = more
	} else if more != 0 {
		c.ptr[b] = c.loadG(asm.LEA, lmem{base: c.ptr[b], disp: more})
	}
	f()
	c.ptr[b], c.disp, c.streaming = ptr, 0, streaming
	return true
}

// splitOffset splits an offset into a value, NoValue for 0, and a displacement in bytes.
func (c *compiler) splitOffset(off loop.Value, size int) (root loop.Value, more int32) {
	const most = 1 << 28               // strips come on top
	if c.p.Ins[off].Type == loop.I32 { // sums may wrap
		return off, 0
	}
	for {
		in := &c.p.Ins[off]
		var k *loop.Ins
		switch in.Op {
		case loop.OpConst:
			k = in
		case loop.OpAdd:
			k = &c.p.Ins[in.B]
			if k.Op != loop.OpConst {
				in = &loop.Ins{A: in.B}
				k = &c.p.Ins[c.p.Ins[off].A]
			}
		case loop.OpSub:
			k = &c.p.Ins[in.B]
		default:
			return off, more
		}
		n := int64(k.Imm)
		if k.Op != loop.OpConst || n < -most || n > most {
			return off, more
		}
		if c.p.Ins[off].Op == loop.OpSub {
			n = -n
		}
		if n = int64(more) + n*int64(size); n < -most || n > most {
			return off, more
		}
		more = int32(n)
		if k == in {
			return loop.NoValue, more
		}
		off = in.A
	}
}

// basePlus returns a register with the address root elements behind the base pointer of buffer b.
func (c *compiler) basePlus(b int, root loop.Value) vr {
	size := c.p.Bufs[b].DType.Size()
	for _, m := range c.bases {
		if m.root == root && m.ptr == c.ptr[b] && m.size == size {
			return m.at
		}
	}
	g := c.offsetOf(root)
	at := c.loadG(asm.LEA, lmem{base: c.ptr[b], index: g, scale: uint8(size)})
	c.bases = append(c.bases, basePointer{root, c.ptr[b], at, size})
	return at
}

// offsetOf returns a uniform offset in a general register.
func (c *compiler) offsetOf(off loop.Value) vr {
	g := c.g(off)
	if c.p.Ins[off].Type == loop.I32 {
		d := c.newG()
		c.op1(asm.MOVSXD, d, g)
		return d
	}
	return g
}

// hoistBase computes the base pointer for an access before the loops of a pass, if its offset is
// known there.
func (c *compiler) hoistBase(b int, off loop.Value) {
	steps := c.p.Bufs[b].Steps
	if !c.known(off) || steps[c.p.Lane] == loop.Zero || c.strided(b) {
		return // strided ones have pointers of their own in each pass
	}
	if root, _ := c.splitOffset(off, c.p.Bufs[b].DType.Size()); root != loop.NoValue && c.known(root) {
		c.basePlus(b, root)
	}
}
