package codegen

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/par"
)

// ChunkBytes is about what a chunk of work covers that moves memory: some 10 us, long beside
// taking a chunk, and short beside what threads are woken for.
const ChunkBytes = 128 << 10

// Threads returns what [par.Run] wants to hear for work of ns nanoseconds:
// 0, which is all threads, if it pays for waking them, else 1.
func Threads(ns int) int {
	if par.Pays(ns, ns) {
		return 0
	}
	return 1
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
