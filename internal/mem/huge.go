package mem

import "unsafe"

// MakeHuge returns a slice of n zeros on the Go heap, as make does, for elements without pointers that are read in streams.
// It asks the system for huge pages, so that the first writes fault less often and later reads miss the TLB less often.
func MakeHuge[T float32 | float64 | complex128](n int) []T {
	x := make([]T, n)
	size := uintptr(n) * unsafe.Sizeof(*new(T))
	if size < 2*hugePage {
		return x
	}
	at := unsafe.Pointer(&x[0])
	skip := -uintptr(at) % hugePage
	adviseHuge(unsafe.Add(at, skip), (size-skip)/hugePage*hugePage)
	return x
}
