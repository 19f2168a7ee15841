package ptxsim

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

const (
	pageShift = 12
	pageBytes = 1 << pageShift
	// Allocations begin in chunks of their own, at a random multiple of 512 bytes, with at least
	// a chunk between them. Addresses are never used again.
	chunkShift = 21
	firstChunk = 0x7f00_0000_0000
)

// A page is 4 KiB of simulated memory.
type page struct {
	data  []byte
	init  *[pageBytes / 8]byte // a bit for each byte that was written; nil: all were
	cells []cell               // who used the memory last, by granules; nil before the first use
	shift uint8                // of a granule: 2, 1 or 0
}

// A region is an allocation: memory of the GPU, pinned memory, or the shared memory of a block.
type region struct {
	base  uint64
	size  int
	pages []*page
	host  []byte // of pinned memory
	freed bool
}

// at returns the page of an offset inside of the region.
func (r *region) at(off int) *page {
	if r.pages == nil {
		r.pages = make([]*page, (r.size+pageBytes-1)/pageBytes)
	}
	i := off >> pageShift
	if r.pages[i] == nil {
		n := min(pageBytes, r.size-i*pageBytes)
		p := &page{shift: 2}
		if r.host != nil {
			p.data = r.host[i*pageBytes:][:n:n]
		} else {
			p.data = make([]byte, n)
			p.init = new([pageBytes / 8]byte)
			poison(p.data, r.base+uint64(i))
		}
		r.pages[i] = p
	}
	return r.pages[i]
}

// reset makes the memory of a block new.
func (r *region) reset() {
	for _, p := range r.pages {
		if p != nil {
			clear(p.init[:])
		}
	}
}

// poison fills memory that was never written with bits that mean nothing.
func poison(b []byte, seed uint64) {
	x := seed*0x9e3779b97f4a7c15 | 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x>>32) | 0x41
	}
}

// written reports whether n bytes at o, at most 16 and aligned, were written.
func (p *page) written(o, n int) bool {
	if p.init == nil {
		return true
	}
	if n >= 8 {
		for i := o >> 3; i < (o+n)>>3; i++ {
			if p.init[i] != 0xff {
				return false
			}
		}
		return true
	}
	m := byte(1<<n-1) << (o & 7)
	return p.init[o>>3]&m == m
}

// mark notes that n bytes at o, at most 16 and aligned, were written.
func (p *page) mark(o, n int) {
	if p.init == nil {
		return
	}
	if n >= 8 {
		for i := o >> 3; i < (o+n)>>3; i++ {
			p.init[i] = 0xff
		}
		return
	}
	p.init[o>>3] |= byte(1<<n-1) << (o & 7)
}

// setInit sets or clears the bit of a byte.
func (p *page) setInit(o int, was bool) {
	if p.init == nil {
		return
	}
	if was {
		p.init[o>>3] |= 1 << (o & 7)
	} else {
		p.init[o>>3] &^= 1 << (o & 7)
	}
}

// load returns the n bytes at o as an integer. The host may write 4 bytes of pinned memory meanwhile.
func load(b []byte, o, n int) uint64 {
	p := unsafe.Pointer(&b[o])
	switch n {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(atomic.LoadUint32((*uint32)(p)))
	}
	return *(*uint64)(p)
}

func store(b []byte, o, n int, x uint64) {
	p := unsafe.Pointer(&b[o])
	switch n {
	case 1:
		*(*uint8)(p) = uint8(x)
	case 2:
		*(*uint16)(p) = uint16(x)
	case 4:
		*(*uint32)(p) = uint32(x)
	default:
		*(*uint64)(p) = x
	}
}

// find returns the region of an address of the GPU or of pinned memory, nil where there is none. The
// address may be before or behind the region.
func (c *context) find(a uint64) *region {
	if i := (a - firstChunk) >> chunkShift; a >= firstChunk && i < uint64(len(c.chunks)) {
		return c.chunks[i]
	}
	return c.findPinned(a)
}

// alloc makes a region. Requires c's lock.
func (c *context) alloc(n int) *region {
	chunks := n>>chunkShift + 2
	first := len(c.chunks)
	for range chunks + c.rnd.IntN(3) {
		c.chunks = append(c.chunks, nil)
	}
	r := &region{size: n, base: firstChunk + uint64(first)<<chunkShift + 512*uint64(c.rnd.IntN(1<<chunkShift/512))}
	for i := range chunks {
		c.chunks[first+i] = r
	}
	return r
}

// spans calls each for the parts of a range of bytes that lie in one page.
func (r *region) spans(off, n int, each func(p *page, o, n int)) {
	for n > 0 {
		p := r.at(off)
		o := off & (pageBytes - 1)
		k := min(n, len(p.data)-o)
		each(p, o, k)
		off, n = off+k, n-k
	}
}

// initialised returns the count of bytes in [o, o+n) that were written.
func (p *page) initialised(o, n int) int {
	if p.init == nil {
		return n
	}
	s := 0
	for i := o; i < o+n; {
		if i&7 == 0 && i+8 <= o+n {
			s += bits.OnesCount8(p.init[i>>3])
			i += 8
			continue
		}
		s += int(p.init[i>>3] >> (i & 7) & 1)
		i++
	}
	return s
}
