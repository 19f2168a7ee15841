package codegen

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/par"
)

// ChunkBytes is about how many bytes a chunk of work copies: some 10 us. That is much longer than
// fetching a chunk takes, and much shorter than the work for which threads are woken.
const ChunkBytes = 128 << 10

// Threads returns the thread count to pass to [par.Run] for work of ns nanoseconds: 0, which
// means all threads, if the work is worth waking them, else 1.
func Threads(ns int) int {
	if par.Pays(ns, ns) {
		return 0
	}
	return 1
}

// A Dim is a dimension of a copy: its size, and the bytes from one index to the
// next in source and destination.
type Dim struct{ N, Src, Dst int }

// Merge joins neighbouring dimensions over which source and destination have one stride.
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

// Ptr returns the address of a view's first element, nil if it has no memory.
func Ptr(v *array.View) unsafe.Pointer {
	if v.Store.Host() == nil {
		return nil
	}
	return v.Ptr()
}

// Elements returns the elements of a contiguous array.
func Elements[T any](v *array.View) []T { return unsafe.Slice((*T)(Ptr(v)), v.Size()) }
