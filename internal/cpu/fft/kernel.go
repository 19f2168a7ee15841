package fft

import (
	"unsafe"

	"weft/internal/jit"
	"weft/internal/processor"
)

// A key names a kernel.
type key struct {
	isa    jit.ISA
	size   int // bytes of a real number
	radix  int
	tw     twiddling
	scaled bool
	// Complex numbers outside of scratch memory are interleaved; inside, a vector of real parts is
	// followed by one of imaginary parts.
	loads, stores bool // inputs, outputs are interleaved
	swapIn        bool // real and imaginary parts are exchanged when they are loaded
	swapOut       bool // and when they are stored
	ahead         prefetch
	stages        int // of the columns, if the kernel prefetches
}

// A prefetch says how a kernel prefetches memory of other kernels.
type prefetch uint8

const (
	nothing prefetch = iota
	fetch            // what is read
	claim            // what is written
)

// lines is the number of cache lines that a vector's kernel prefetches: the stages of columns share the bytes of
// a row, which each of them reads once.
func (k key) lines() int {
	per := 2 * vector(k.isa) / processor.Line * k.radix
	return (per + k.stages - 1) / k.stages
}

// numbers is the number of twiddle factors of an outer step, which are the same for all its columns.
func (k key) numbers() int {
	switch k.tw {
	case uniform:
		return k.radix - 1
	case whole:
		return k.factors()
	}
	return 0
}

// mirrored reports that lanes of input and output i are in descending order: passes over halves of one row
// join elements k+lane and n-k-lane.
func (k key) mirrored(i int) bool { return k.halves() && k.tw == varying && i == 1 }

// stream returns where real numbers k of a kernel lie: see [opReal]. flip is swapIn or swapOut, which for
// real numbers is the reverse order of the row.
func stream(k int, flip bool) int {
	if flip {
		return 3 - k
	}
	return k
}

// factors is the number of vectors of twiddle factors of a vector of columns. Varying factors have one
// vector for each output.
func (k key) factors() int {
	if k.real() {
		return 3
	}
	return max(k.radix, 1)
}

// A frame holds the arguments of a kernel: outer steps over inner vectors that lie one behind the other.
type frame struct {
	src, dst, tw       unsafe.Pointer
	srcStep, dstStep   int // bytes between inputs, between outputs of a butterfly
	srcOuter, dstOuter int // bytes from one outer step to the next
	outer, inner       int // at least 1
	srcTurn, dstTurn   int // of passes over halves: by how many bytes the steps shrink from one outer step to the next
	apart              int // bytes between real numbers k and k+2 of a kernel, see opReal
	scale              [8]byte
	ahead              uintptr        // what is prefetched next: no pointer, since it may lie behind arrays
	spill              unsafe.Pointer // maxSpills vectors
	srcAt, dstAt       uintptr        // of the kernel
}

// maxSpills is the number of vectors for which a frame has memory.
const maxSpills = 64

// vector is the number of bytes of a vector of real numbers. Portable Go takes the larger size.
func vector(isa jit.ISA) int {
	if isa == jit.AVX2 {
		return 32
	}
	return 64
}

// column returns which column of a block is at place at of its vectors: interleaved numbers are taken
// apart within parts of 16 bytes.
func column(isa jit.ISA, size, at int) int {
	half := vector(isa) / size / 2
	switch {
	case isa == jit.Portable:
		return at
	case size == 8:
		return at%2*half + at/2
	}
	return at/2%2*half + at/4*2 + at%2
}
