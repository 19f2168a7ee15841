package gen

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/par"
)

// Line is the size of a cache line.
const Line = 64

// StreamMin is the size in bytes from which a routine writes past the caches.
const StreamMin = 32 << 20

// ChunkBytes is about what a chunk of work covers that moves memory: some 10 us, long beside
// taking a chunk, and short beside what threads are woken for.
const ChunkBytes = 128 << 10

// Nanoseconds of work from which it pays to share it with threads that spin and with some that
// sleep: to wake one takes 20 to 130 us.
const threadedHot, threadedCold = 50_000, 200_000

// Threads returns what [par.Run] wants to hear for work of so many nanoseconds:
// all threads if that pays for waking them, else one.
func Threads(ns int) int {
	if ns < threadedHot || ns < threadedCold && !par.Hot() {
		return 1
	}
	return 0
}

// A Dim is a dimension of a copy: its size, and the bytes from one index to the
// next in source and destination.
type Dim struct{ N, Src, Dst int }

// Merge joins neighbours that source and destination walk as one.
func Merge(dims []Dim) []Dim {
	out := dims[:0]
	for _, d := range dims {
		if n := len(out); n > 0 && out[n-1].Src == d.Src*d.N && out[n-1].Dst == d.Dst*d.N {
			out[n-1] = Dim{out[n-1].N * d.N, d.Src, d.Dst}
			continue
		}
		out = append(out, d)
	}
	return out
}

// Ptr is the address of a view's first element, nil if it has no memory.
func Ptr(v *array.View) unsafe.Pointer {
	if v.Store.Host() == nil {
		return nil
	}
	return v.Ptr()
}
