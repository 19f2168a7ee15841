//go:build unix

package guard

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Available reports whether the pages around a buffer are inaccessible here.
const Available = true

func pageSize() int { return unix.Getpagesize() }

// reserve maps size inaccessible bytes and opens inner of them, first on.
func reserve(size, first, inner uintptr) (unsafe.Pointer, error) {
	mem, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	open := unsafe.Slice((*byte)(unsafe.Add(mem, first)), inner)
	if err := unix.Mprotect(open, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		unmap(mem, size)
		return nil, err
	}
	return mem, nil
}

func unmap(mem unsafe.Pointer, size uintptr) { _ = unix.MunmapPtr(mem, size) }
