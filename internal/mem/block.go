package mem

import (
	"sync/atomic"
	"unsafe"
)

// Block is a piece of memory outside the Go heap. It is a handle: copies refer to
// the same memory, and none may be used after one is freed. The zero Block is no
// memory at all.
type Block struct {
	ptr   unsafe.Pointer
	r     *region
	n     int
	index uint32
	gen   uint32
}

// Ptr returns the address of the first byte, a multiple of [Alignment].
func (b Block) Ptr() unsafe.Pointer { return b.ptr }

// Len returns the number of bytes asked for.
func (b Block) Len() int { return b.n }

// Cap returns the number of bytes usable: the size of the block's class.
func (b Block) Cap() int {
	if b.r == nil {
		return 0
	}
	return b.r.block
}

// Bytes returns the memory as a slice of length Len and capacity Cap. The slice
// does not keep the block from being freed.
func (b Block) Bytes() []byte {
	if b.r == nil {
		return nil
	}
	return unsafe.Slice((*byte)(b.ptr), b.r.block)[:b.n]
}

// Live reports whether b has memory and has not been freed.
func (b Block) Live() bool {
	return b.r != nil && b.r.gens[b.index].Load() == b.gen
}

// region is one mapping, cut into blocks of one class.
type region struct {
	pool  *Pool
	mem   unsafe.Pointer
	size  uintptr // bytes mapped
	class int
	block int // bytes of a block
	// gens counts each block's changes of state: even while free, odd while in
	// use, 0 while never used and so still zero.
	gens []atomic.Uint32
	// leases holds the lease of each free block that has one; who takes or frees a
	// block may touch its entry.
	leases []*Lease
	free   int         // blocks found on free lists by a trim in progress
	gone   atomic.Bool // unmapped
}

// at returns the address of a block.
func (r *region) at(index uint32) unsafe.Pointer {
	return unsafe.Add(r.mem, uintptr(index)*uintptr(r.block))
}

// spare is a free block.
type spare struct {
	r     *region
	index uint32
}

// use makes a spare block a live one. Only its taker may call it.
func (s spare) use(n int) (b Block, fresh bool) {
	g := &s.r.gens[s.index]
	old := g.Load()
	g.Store(old + 1)
	return Block{s.r.at(s.index), s.r, n, s.index, old + 1}, old == 0
}

// retire makes a live block a spare one and reports whether it was live.
func (b Block) retire() bool {
	next := b.gen + 1
	if next == 0 {
		next = 2 // 0 would claim that the memory is zero
	}
	return b.gen&1 == 1 && b.r.gens[b.index].CompareAndSwap(b.gen, next)
}
