package move

import (
	"encoding/binary"
	"math/bits"
	"runtime"
	"unsafe"

	"weft/internal/jit"
	"weft/internal/par"
)

// maskBlock is the number of elements under a mask that are a chunk.
const maskBlock = 1 << 16

// truths reads a mask of bytes 0 and 1.
func truths(mask unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(mask), n) }

// eight returns the first eight bytes of b.
func eight(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// count returns the number of ones.
func count(b []byte) int {
	n := 0
	if groups := len(b) / maskGroup; groups > 0 && native() {
		f := countFrame{mask: unsafe.Pointer(&b[0]), groups: groups}
		call(codeKey{routine: countRoutine}.code(), unsafe.Pointer(&f))
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

// Ranks returns how many of the n bytes at mask, each 0 or 1, are 1 before each of
// its blocks, and last of all how many there are.
func Ranks(mask unsafe.Pointer, n int) []int {
	m := truths(mask, n)
	r := make([]int, (n+maskBlock-1)/maskBlock+1)
	par.Run(len(r)-1, 1, threads(n/32), func(_, begin, end int) {
		for b := begin; b < end; b++ {
			r[b+1] = count(m[b*maskBlock : min(n, (b+1)*maskBlock)])
		}
	})
	for b := range len(r) - 1 {
		r[b+1] += r[b]
	}
	return r
}

// masked calls f for each block: from element at, with the part of the mask, and
// the ranks where it begins and ends.
func masked(mask unsafe.Pointer, n, threads int, ranks []int, f func(at int, m []byte, from, to int)) {
	m := truths(mask, n)
	par.Run(len(ranks)-1, 1, threads, func(_, begin, end int) {
		for b := begin; b < end; b++ {
			at := b * maskBlock
			f(at, m[at:min(n, at+maskBlock)], ranks[b], ranks[b+1])
		}
	})
}

// Select writes the elements of src, of size bytes, whose byte of the mask is 1 one
// behind the other.
func Select(dst, src, mask unsafe.Pointer, n, size int, ranks []int) {
	p := packing{packed: dst, spread: src, size: size}
	p.run(mask, n, ranks)
}

// Place is the opposite of [Select]: zeros where the mask is 0.
func Place(dst, src, mask unsafe.Pointer, n, size int, ranks []int) {
	p := packing{packed: src, spread: dst, size: size, apart: true}
	p.run(mask, n, ranks)
}

// A packing moves elements between an array and those of it that are under a mask,
// side by side.
type packing struct {
	packed, spread unsafe.Pointer
	size           int
	apart          bool // from packed to spread
	code           *jit.Code
}

func (p *packing) run(mask unsafe.Pointer, n int, ranks []int) {
	ns := n
	if native() {
		p.code = codeKey{routine: packRoutine, wide: wide() && p.size >= 4, size: p.size, apart: p.apart}.code()
		ns /= 4
	}
	masked(mask, n, threads(ns), ranks, p.block)
}

func (p *packing) block(at int, m []byte, from, to int) {
	if n := len(m) / maskGroup; p.code != nil && n > 0 && to-from >= maskGroup {
		f := packFrame{packed: p.at(from), last: p.at(to - maskGroup), spread: unsafe.Add(p.spread, at*p.size), mask: unsafe.Pointer(&m[0]), groups: n}
		call(p.code, unsafe.Pointer(&f))
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

// at is the address of an element of packed.
func (p *packing) at(i int) uintptr { return uintptr(p.packed) + uintptr(i*p.size) }

type word interface {
	uint8 | uint16 | uint32 | uint64
}

// packRest does without machine code what it does not reach: the last of the packed
// elements, which may lie far apart.
func packRest[T word](p *packing, at int, m []byte, from, to int) {
	few, all := unsafe.Slice((*T)(p.packed), to)[from:], unsafe.Slice((*T)(p.spread), at+len(m))[at:]
	if p.apart {
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
			if p.apart {
				all[i+j] = few[k] * T(b)
			} else {
				few[k] = all[i+j]
			}
			k += int(b)
		}
	}
}

// NonZero writes the positions of the ones of a mask.
func NonZero(dst []int64, mask unsafe.Pointer, n int, ranks []int) {
	masked(mask, n, threads(n/2), ranks, func(at int, m []byte, from, to int) {
		out := dst[from:to]
		for i, k := 0, 0; k < len(out) && i < len(m); i++ {
			out[k] = int64(at + i)
			k += int(m[i])
		}
	})
}
