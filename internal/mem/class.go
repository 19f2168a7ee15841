package mem

import "math/bits"

const (
	// Alignment is the alignment of every block in bytes: a cache line, and one
	// AVX-512 vector.
	Alignment = 64

	minShift  = 8  // the smallest class is 256 bytes
	maxShift  = 47 // a user address space
	steps     = 4  // classes to each power of two
	classes   = (maxShift-minShift)*steps + 1
	hugePage  = 2 << 20
	ownMap    = 128 << 10 // larger classes are mapped one by one
	sharedMap = 256 << 10 // bytes of a mapping that small blocks share, at least
	sharedMin = 8         // and the blocks in it, at least
)

// classOf returns the smallest class that holds n bytes, or classes if none does.
func classOf(n int) int {
	if n <= 1<<minShift {
		return 0
	}
	u := uint(n - 1)
	e := bits.Len(u) - 1 // 2^e < n <= 2^(e+1)
	if e >= maxShift {
		return classes
	}
	// The two bits below the leading one tell the quarter.
	return (e-minShift)*steps + int(u>>(e-2)&(steps-1)) + 1
}

// classSize returns the size in bytes of the blocks in class c.
func classSize(c int) int {
	if c == 0 {
		return 1 << minShift
	}
	e := minShift + (c-1)/steps
	return 1<<e + ((c-1)%steps+1)<<(e-2)
}

// blocksPerMap returns how many blocks of the given size share a mapping.
func blocksPerMap(size int) int {
	if size > ownMap {
		return 1
	}
	return max(sharedMap/size, sharedMin)
}
