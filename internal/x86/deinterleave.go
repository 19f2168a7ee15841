package x86

import (
	"slices"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Strided access with a step of 2 to 4 elements, such as the parts of complex numbers and the
// channels of pictures, or with a negative step: load whole vectors and deinterleave them by
// shuffles. Requires a full (unmasked) strip.

// canDeinterleave reports whether the lanes of buffer b, whose elements have 4 or 8 bytes or lie in
// reverse order, are accessed so. Requires no offset and no mask.
func (c *compiler) canDeinterleave(b int, off loop.Value) bool {
	x := &c.p.Bufs[b]
	step, size := x.Steps[c.p.Lane], x.DType.Size()
	return off == loop.NoValue && c.masks == nil && step > loop.Any && (size >= 4 || step == loop.Back && size == c.lay.es)
}

// interleavedAt returns the address of the first lane of register i, and its number of lanes.
func (c *compiler) interleavedAt(b, i int) (m lmem, lanes int) {
	size := c.p.Bufs[b].DType.Size()
	lanes = c.vb / size
	at := (i*lanes + c.lay.first*c.lay.lanes) * c.p.Bufs[b].Steps[c.p.Lane].Elements()
	return lmem{base: c.ptr[b], disp: c.disp + int32(at*size)}, lanes
}

// A cover says, by lane, which vector holds its element, and at which index.
type cover struct {
	start         []int // of the vectors, in elements
	vector, place [16]int
}

// coverLanes returns vectors that cover lanes with a stride of by elements. No vector goes beyond
// the last lane's element. With own, no two lanes have the same place, whatever their vectors.
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

// loadDeinterleaved reads register i. AVX2 blends vectors and then permutes the result; AVX-512
// does both by one permutation of two registers.
func (c *compiler) loadDeinterleaved(b int, d vr, i int) {
	m, lanes := c.interleavedAt(b, i)
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

// reverse returns a register with the lanes of r in reverse order: 4-byte words by a permutation,
// lanes within words by a shuffle.
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

// storeStrided writes register i element by element: nothing between them is touched. Lanes in
// reverse order are one vector.
func (c *compiler) storeStrided(b int, r vr, i int) {
	m, lanes := c.interleavedAt(b, i)
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

// storeInterleaved interleaves the values of n stores to n adjacent buffers with stride n, such as
// the parts of complex numbers, and stores whole vectors. It returns n if the first n
// instructions of b are such stores, else 0.
func (c *compiler) storeInterleaved(b []loop.Value) int {
	in := &c.p.Ins[b[0]]
	if in.Op != loop.OpStore || !c.canDeinterleave(int(in.Imm), loop.NoValue) {
		return 0
	}
	n := c.p.Bufs[in.Imm].Steps[c.p.Lane].Elements()
	if n < 2 || n > len(b) {
		return 0
	}
	values := c.inOrder(b[:n])
	if values == nil {
		return 0
	}
	first := int(c.p.Ins[values[0]].Imm)
	store := asm.VMOVUPS
	if c.streaming {
		store = asm.VMOVNTPS
	}
	for i := range c.count(c.p.Ins[in.A].Type) {
		m, lanes := c.interleavedAt(first, i)
		r := make([]vr, n)
		for k, v := range values {
			r[k] = c.get(c.p.Ins[v].A, i)
		}
		for q, d := range c.interleave(r, c.vb/lanes) {
			c.store(store, m.add(q*c.vb), d)
		}
	}
	return n
}

// inOrder returns stores in the order in which their buffers are adjacent, or nil if they are not.
func (c *compiler) inOrder(b []loop.Value) []loop.Value {
	if slices.ContainsFunc(b, func(v loop.Value) bool { return c.p.Ins[v].Op != loop.OpStore }) {
		return nil
	}
	for _, v := range b {
		order := []loop.Value{v}
		for {
			i := slices.IndexFunc(b, func(v loop.Value) bool {
				in := &c.p.Ins[v]
				return c.p.Bufs[in.Imm].Pair == int(c.p.Ins[order[len(order)-1]].Imm)+1 && !slices.Contains(order, v)
			})
			if i < 0 {
				break
			}
			order = append(order, b[i])
		}
		if len(order) == len(b) {
			return order
		}
	}
	return nil
}

// interleave returns registers in which the elements of r, of size bytes, alternate: the first of
// each of r, then the second of each.
func (c *compiler) interleave(r []vr, size int) []vr {
	d := make([]vr, len(r))
	words, n := size/4, c.vb/4
	// elementAt is which of r has the element at word i of register q, and where.
	elementAt := func(q, i int) (source, word int) {
		e := (q*n + i) / words
		return e % len(r), e/len(r)*words + i%words
	}
	low, high := asm.VUNPCKLPS, asm.VUNPCKHPS
	if size == 8 {
		low, high = asm.VUNPCKLPD, asm.VUNPCKHPD
	}
	switch {
	case c.isa == jit.AVX512: // one after the other is put to those that are there
		for q := range d {
			d[q] = c.newV()
			c.mov(d[q], r[0])
			for k := 1; k < len(r); k++ {
				var order [64]byte
				for i := range n {
					source, word := elementAt(q, i)
					switch {
					case source == k:
						word += n
					case k > 1:
						word = i
					}
					order[4*i] = byte(word)
				}
				c.op2(asm.VPERMT2PS, d[q], c.listReg(order[:c.vb]), r[k]).rmw()
			}
		}
	case len(r) == 3: // no two elements of one want the same place
		var placed [3]vr
		var from [3][3]int64 // by result and source, words
		for k := range placed {
			var order [64]byte
			for q := range d {
				for i := range n {
					if source, word := elementAt(q, i); source == k {
						order[4*i] = byte(word)
						from[q][k] |= 1 << i
					}
				}
			}
			placed[k] = c.v2(asm.VPERMPS, c.listReg(order[:c.vb]), r[k])
		}
		for q := range d {
			d[q] = c.v2i(asm.VPBLENDD, placed[0], placed[1], from[q][1])
			d[q] = c.v2i(asm.VPBLENDD, d[q], placed[2], from[q][2])
		}
	case len(r) == 2:
		d = c.halves(c.v2(low, r[0], r[1]), c.v2(high, r[0], r[1]))
	case size == 8:
		a := c.halves(c.v2(low, r[0], r[1]), c.v2(low, r[2], r[3]))
		b := c.halves(c.v2(high, r[0], r[1]), c.v2(high, r[2], r[3]))
		d = []vr{a[0], b[0], a[1], b[1]}
	default:
		x := []vr{c.v2(low, r[0], r[1]), c.v2(high, r[0], r[1])}
		y := []vr{c.v2(low, r[2], r[3]), c.v2(high, r[2], r[3])}
		var a, b []vr
		for k := range x {
			h := c.halves(c.v2(asm.VUNPCKLPD, x[k], y[k]), c.v2(asm.VUNPCKHPD, x[k], y[k]))
			a, b = append(a, h[0]), append(b, h[1])
		}
		d = append(a, b...)
	}
	return d
}

// halves returns the lower halves of two registers, and the upper ones.
func (c *compiler) halves(x, y vr) []vr {
	return []vr{c.v2i(asm.VPERM2I128, x, y, 0x20), c.v2i(asm.VPERM2I128, x, y, 0x31)}
}
