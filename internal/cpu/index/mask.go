package index

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/par"
)

// maskBlock is the number of elements under a mask per chunk.
const maskBlock = 1 << 16

// Elements a nanosecond, on one thread: ones that are counted, elements that a kernel moves, and
// positions that are written. Go moves one.
const countedPerNS, movedPerNS, writtenPerNS = 32, 4, 2

// truths returns the bytes of a mask, each 0 or 1.
func truths(mask unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(mask), n) }

// eight returns the first eight bytes of b.
func eight(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// A Mask is N bytes, each 0 or 1.
type Mask struct {
	ISA jit.ISA
	Ptr unsafe.Pointer
	N   int
}

// count returns the number of ones in part of a mask.
func (m *Mask) count(b []byte) int {
	n := 0
	if groups := len(b) / maskGroup; groups > 0 && m.ISA != jit.Portable {
		f := countFrame{mask: unsafe.Pointer(&b[0]), groups: groups}
		jit.Call(codegen.Kernel(codes, key{routine: countRoutine}), 0, unsafe.Pointer(&f))
		n, b = f.ones, b[groups*maskGroup:]
	}
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(eight(b))
	}
	for _, x := range b {
		n += int(x)
	}
	return n
}

// Ranks returns the number of ones before each block of the mask, and last the number of all
// ones.
func (m *Mask) Ranks() []int {
	t := truths(m.Ptr, m.N)
	r := make([]int, (m.N+maskBlock-1)/maskBlock+1)
	par.Run(len(r)-1, 1, codegen.Threads(m.N/countedPerNS), func(_, begin, end int) {
		for b := begin; b < end; b++ {
			r[b+1] = m.count(t[b*maskBlock : min(m.N, (b+1)*maskBlock)])
		}
	})
	for b := range len(r) - 1 {
		r[b+1] += r[b]
	}
	return r
}

// blocks calls f for each block: from element at, with the part of the mask, and
// the ranks where it begins and ends.
func (m *Mask) blocks(threads int, ranks []int, f func(at int, m []byte, from, to int)) {
	t := truths(m.Ptr, m.N)
	par.Run(len(ranks)-1, 1, threads, func(_, begin, end int) {
		for b := begin; b < end; b++ {
			at := b * maskBlock
			f(at, t[at:min(m.N, at+maskBlock)], ranks[b], ranks[b+1])
		}
	})
}

// Select compresses: it writes the elements of src whose mask is 1 one behind the other.
// Elements have size bytes.
func (m *Mask) Select(dst, src unsafe.Pointer, size int, ranks []int) {
	p := packing{packed: dst, spread: src, size: size}
	p.run(m, ranks)
}

// Expand is the inverse of [Mask.Select]. It writes zeros where the mask is 0.
func (m *Mask) Expand(dst, src unsafe.Pointer, size int, ranks []int) {
	p := packing{packed: src, spread: dst, size: size, expand: true}
	p.run(m, ranks)
}

// A packing moves elements between an array (spread) and the array of its elements whose mask
// is 1 (packed).
type packing struct {
	packed, spread unsafe.Pointer
	size           int
	expand         bool // from packed to spread
	code           *jit.Code
}

func (p *packing) run(m *Mask, ranks []int) {
	if p.size == 16 { // two words, each with its byte of a mask
		t := make([]byte, 2*m.N)
		for i, b := range truths(m.Ptr, m.N) {
			t[2*i], t[2*i+1] = b, b
		}
		m, p.size = &Mask{ISA: m.ISA, Ptr: unsafe.Pointer(unsafe.SliceData(t)), N: len(t)}, 8
		ranks = m.Ranks()
		defer runtime.KeepAlive(t)
	}
	ns := m.N
	if m.ISA != jit.Portable {
		p.code = codegen.Kernel(codes, key{routine: packRoutine, wide: m.ISA == jit.AVX512 && p.size >= 4, size: p.size, expand: p.expand})
		ns /= movedPerNS
	}
	m.blocks(codegen.Threads(ns), ranks, p.block)
}

func (p *packing) block(at int, m []byte, from, to int) {
	if n := len(m) / maskGroup; p.code != nil && n > 0 && to-from >= maskGroup {
		f := packFrame{packed: p.at(from), last: p.at(to - maskGroup), spread: unsafe.Add(p.spread, at*p.size), mask: unsafe.Pointer(&m[0]), groups: n}
		jit.Call(p.code, 0, unsafe.Pointer(&f))
		runtime.KeepAlive(p.packed)
		done := (n - f.groups) * maskGroup
		at, m, from = at+done, m[done:], from+int(f.packed-p.at(from))/p.size
	}
	switch p.size {
	case 1:
		packRest[uint8](p, at, m, from, to)
	case 2:
		packRest[uint16](p, at, m, from, to)
	case 4:
		packRest[uint32](p, at, m, from, to)
	case 8:
		packRest[uint64](p, at, m, from, to)
	}
}

// at returns the address of element i of packed.
func (p *packing) at(i int) uintptr { return uintptr(p.packed) + uintptr(i*p.size) }

type word interface {
	uint8 | uint16 | uint32 | uint64
}

// packRest computes in Go what the kernel leaves: the last packed elements, which may lie far
// from each other in spread.
func packRest[T word](p *packing, at int, m []byte, from, to int) {
	few, all := unsafe.Slice((*T)(p.packed), to)[from:], unsafe.Slice((*T)(p.spread), at+len(m))[at:]
	if p.expand {
		clear(all)
	}
	k := 0
	for i := 0; i < len(m); i += 8 {
		w := m[i:min(i+8, len(m))]
		if len(w) == 8 && eight(w) == 0 {
			continue
		}
		// Every element is written, and overwritten if it is not wanted: a branch
		// would be guessed wrong half of the time.
		for j, b := range w {
			if k == len(few) {
				return
			}
			if p.expand {
				all[i+j] = few[k] * T(b)
			} else {
				few[k] = all[i+j]
			}
			k += int(b)
		}
	}
}

// NonZero writes the positions of the ones.
func (m *Mask) NonZero(dst []int64, ranks []int) {
	m.blocks(codegen.Threads(m.N/writtenPerNS), ranks, func(at int, m []byte, from, to int) {
		out := dst[from:to]
		for i, k := 0, 0; k < len(out) && i < len(m); i++ {
			out[k] = int64(at + i)
			k += int(m[i])
		}
	})
}
