package move

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"weft/internal/par"
)

// maskBlock is the number of elements under a mask that are a chunk.
const maskBlock = 1 << 16

// truths reads a mask of bytes 0 and 1.
func truths(mask unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(mask), n) }

// count returns the number of ones.
func count(b []byte) int {
	n := 0
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.NativeEndian.Uint64(b))
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
	par.Run(len(r)-1, 1, threads(n/16), func(_, begin, end int) {
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
func masked(mask unsafe.Pointer, n int, ranks []int, f func(at int, m []byte, from, to int)) {
	m := truths(mask, n)
	par.Run(len(ranks)-1, 1, threads(n/2), func(_, begin, end int) {
		for b := begin; b < end; b++ {
			at := b * maskBlock
			f(at, m[at:min(n, at+maskBlock)], ranks[b], ranks[b+1])
		}
	})
}

// Select writes the elements of src, of size bytes, whose byte of the mask is 1 one
// behind the other.
func Select(dst, src, mask unsafe.Pointer, n, size int, ranks []int) {
	switch size {
	case 1:
		selectBy[uint8](dst, src, mask, n, ranks)
	case 2:
		selectBy[uint16](dst, src, mask, n, ranks)
	case 4:
		selectBy[uint32](dst, src, mask, n, ranks)
	case 8:
		selectBy[uint64](dst, src, mask, n, ranks)
	}
}

type word interface {
	uint8 | uint16 | uint32 | uint64
}

func selectBy[T word](dst, src, mask unsafe.Pointer, n int, ranks []int) {
	all, x := unsafe.Slice((*T)(dst), ranks[len(ranks)-1]), unsafe.Slice((*T)(src), n)
	masked(mask, n, ranks, func(at int, m []byte, from, to int) {
		out, x := all[from:to], x[at:at+len(m)]
		// Every element is written, and overwritten if it is not wanted: a branch
		// would be guessed wrong half of the time.
		for i, k := 0, 0; k < len(out) && i < len(m) && i < len(x); i++ {
			out[k] = x[i]
			k += int(m[i])
		}
	})
}

// Place is the opposite of [Select]: zeros where the mask is 0.
func Place(dst, src, mask unsafe.Pointer, n, size int, ranks []int) {
	switch size {
	case 1:
		placeBy[uint8](dst, src, mask, n, ranks)
	case 2:
		placeBy[uint16](dst, src, mask, n, ranks)
	case 4:
		placeBy[uint32](dst, src, mask, n, ranks)
	case 8:
		placeBy[uint64](dst, src, mask, n, ranks)
	}
}

func placeBy[T word](dst, src, mask unsafe.Pointer, n int, ranks []int) {
	all, out := unsafe.Slice((*T)(src), ranks[len(ranks)-1]), unsafe.Slice((*T)(dst), n)
	masked(mask, n, ranks, func(at int, m []byte, from, to int) {
		x, out := all[from:to], out[at:at+len(m)]
		clear(out)
		for i, k := 0, 0; k < len(x) && i < len(m) && i < len(out); i++ {
			out[i] = x[k] * T(m[i])
			k += int(m[i])
		}
	})
}

// NonZero writes the positions of the ones of a mask.
func NonZero(dst []int64, mask unsafe.Pointer, n int, ranks []int) {
	masked(mask, n, ranks, func(at int, m []byte, from, to int) {
		out := dst[from:to]
		for i, k := 0, 0; k < len(out) && i < len(m); i++ {
			out[k] = int64(at + i)
			k += int(m[i])
		}
	})
}
