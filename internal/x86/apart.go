package x86

import (
	"slices"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Lanes that are two to four elements apart, as the parts of complex numbers and the
// channels of pictures are, or that lie the other way round, are put
// together of whole vectors where all are active.

// apart reports that buffer b is one whose lanes can be accessed so, at no offset.
func (c *compiler) apart(b int, off loop.Value) bool {
	x := &c.p.Bufs[b]
	step, size := x.Steps[c.p.Lane], x.DType.Size()
	return off == loop.NoValue && c.masks == nil && step > loop.Any && (size >= 4 || step == loop.Back && size == c.lay.es)
}

// apartAt is the place of the first lane of register i, and how many lanes it has.
func (c *compiler) apartAt(b, i int) (m lmem, lanes int) {
	size := c.p.Bufs[b].DType.Size()
	lanes = c.vb / size
	at := (i*lanes + c.lay.first*c.lay.lanes) * c.p.Bufs[b].Steps[c.p.Lane].Elements()
	return lmem{base: c.ptr[b], disp: c.disp + int32(at*size)}, lanes
}

// A cover of lanes has, by lane, the vector and the place in it where its element is.
type cover struct {
	start         []int // of the vectors, in elements
	vector, place [16]int
}

// coverLanes covers lanes that are so many elements apart by vectors that do not go
// beyond the last one; with own, each element has a place that no other has in its vector.
func coverLanes(by, lanes int, own bool) (x cover) {
	taken := 0
	for k := range by { // neighbours share an element
		x.start = append(x.start, k*(lanes-1))
	}
	for l := range lanes {
		k := 0
		for by*l >= x.start[k]+lanes {
			k++
		}
		x.vector[l], x.place[l] = k, by*l-x.start[k]
		taken |= 1 << x.place[l]
	}
	if !own || taken == 1<<lanes-1 {
		return x
	}
	x.start = nil
	for l := range lanes { // a vector each, in which the element is in its place
		x.start = append(x.start, (by-1)*l)
		x.vector[l], x.place[l] = l, l
	}
	return x
}

// loadApart reads register i. On AVX2 places are brought together and then put in order;
// AVX-512 does both at once.
func (c *compiler) loadApart(b int, d vr, i int) {
	m, lanes := c.apartAt(b, i)
	if c.p.Bufs[b].Steps[c.p.Lane] == loop.Back {
		x := c.loadV(asm.VMOVUPS, m.add(c.vb/lanes-c.vb))
		if c.p.Bufs[b].DType == array.Bool {
			c.nonzero(d, c.reverse(x, lanes))
		} else {
			c.mov(d, c.reverse(x, lanes))
		}
		return
	}
	by, size := c.p.Bufs[b].Steps[c.p.Lane].Elements(), c.vb/lanes
	x := coverLanes(max(by, -by), lanes, c.isa == jit.AVX2)
	if by < 0 { // from the last lane on, which then is the first
		m = m.add(by * (lanes - 1) * size)
		slices.Reverse(x.vector[:lanes])
		slices.Reverse(x.place[:lanes])
	}
	words := size / 4
	c.load(asm.VMOVUPS, d, m)
	var order [64]byte // of 4-byte words
	for k, at := range x.start {
		from := int64(0)
		for l := range lanes {
			for w := range words {
				p := x.place[l]*words + w
				switch at := &order[4*(l*words+w)]; {
				case x.vector[l] == k && k > 0 && c.isa == jit.AVX512:
					*at = byte(c.vb/4 + p)
				case x.vector[l] < k && k > 1 && c.isa == jit.AVX512:
					*at = byte(l*words + w) // it is there
				default:
					*at = byte(p)
				}
				if x.vector[l] == k {
					from |= 1 << p
				}
			}
		}
		if k == 0 {
			continue
		}
		next := c.loadV(asm.VMOVUPS, m.add(at*size))
		if c.isa == jit.AVX512 {
			c.op2(asm.VPERMT2PS, d, c.listReg(order[:c.vb]), next).rmw()
		} else {
			c.op2i(asm.VPBLENDD, d, d, next, from)
		}
	}
	if c.isa == jit.AVX2 {
		c.op2(asm.VPERMPS, d, c.listReg(order[:c.vb]), d)
	}
}

// reverse returns a register with the lanes of r the other way round: words of 4 bytes, and
// what is in them.
func (c *compiler) reverse(r vr, lanes int) vr {
	var order, within [64]byte
	size := c.vb / lanes
	words := max(size/4, 1)
	for w := range c.vb / 4 {
		order[4*w] = byte(c.vb/4 - words - w/words*words + w%words)
	}
	d := c.v2(asm.VPERMPS, c.listReg(order[:c.vb]), r)
	if size >= 4 {
		return d
	}
	for i := range within {
		within[i] = byte(i%16/4*4 + (4 - size - i%4/size*size) + i%size)
	}
	return c.v2(asm.VPSHUFB, d, c.listReg(within[:c.vb]))
}

// storeApart writes register i element by element: nothing between them is touched.
func (c *compiler) storeApart(b int, r vr, i int) {
	m, lanes := c.apartAt(b, i)
	by, size := c.p.Bufs[b].Steps[c.p.Lane].Elements(), c.vb/lanes
	if by == -1 {
		if c.p.Bufs[b].DType == array.Bool {
			x := c.newV()
			c.ones(c.maskType(), x, r)
			r = x
		}
		c.store(asm.VMOVUPS, m.add(size-c.vb), c.reverse(r, lanes))
		return
	}
	quarter := r
	for l := range lanes {
		at, in := m.add(by*l*size), l%(16/size)
		switch {
		case l > 0 && in == 0:
			extract := [...]asm.Op{jit.AVX2: asm.VEXTRACTI128, jit.AVX512: asm.VEXTRACTI32X4}[c.isa]
			quarter = c.newV()
			c.op1i(extract, quarter.x(), r, int64(l*size/16))
			fallthrough
		case in == 0:
			c.store(elements[size].low, at, quarter.x())
		case size == 8:
			c.store(asm.VMOVHPS, at, quarter.x())
		default:
			c.store(asm.VPEXTRD, at, quarter.x()).with(int64(in))
		}
	}
}

// storePair writes the values of two stores to buffers of a pair, which are next to each
// other, and reports whether they are such.
func (c *compiler) storePair(x, y *loop.Ins) bool {
	if x.Op != loop.OpStore || y.Op != loop.OpStore {
		return false
	}
	if c.p.Bufs[x.Imm].Pair == int(y.Imm)+1 {
		x, y = y, x
	}
	if c.p.Bufs[y.Imm].Pair != int(x.Imm)+1 || !c.apart(int(x.Imm), loop.NoValue) {
		return false
	}
	size := c.p.Bufs[x.Imm].DType.Size()
	for i := range c.count(c.p.Ins[x.A].Type) {
		m, _ := c.apartAt(int(x.Imm), i)
		a, b := c.get(x.A, i), c.get(y.A, i)
		if c.isa == jit.AVX512 {
			for q := range 2 {
				d := c.newV()
				c.mov(d, a)
				c.op2(asm.VPERMT2PS, d, c.interleaved(size/4, q), b).rmw()
				c.store(asm.VMOVUPS, m.add(q*c.vb), d)
			}
			continue
		}
		unpack := [...]asm.Op{asm.VUNPCKLPS, asm.VUNPCKHPS}
		if size == 8 {
			unpack = [...]asm.Op{asm.VUNPCKLPD, asm.VUNPCKHPD}
		}
		lo, hi := c.v2(unpack[0], a, b), c.v2(unpack[1], a, b) // of each half
		c.store(asm.VMOVUPS, m, c.v2i(asm.VPERM2I128, lo, hi, 0x20))
		c.store(asm.VMOVUPS, m.add(c.vb), c.v2i(asm.VPERM2I128, lo, hi, 0x31))
	}
	return true
}

// interleaved is the order of half q of two interleaved registers, of elements of so many
// 4-byte words.
func (c *compiler) interleaved(words, q int) vr {
	var order [64]byte
	n := c.vb / 4
	for i := range n {
		e, w := (q*n+i)/words, i%words
		order[4*i] = byte(e/2*words + w + e%2*n)
	}
	return c.listReg(order[:c.vb])
}
