package guard

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// Available reports whether the pages around a buffer are inaccessible here.
const Available = true

func pageSize() int { return windows.Getpagesize() }

// reserve maps size inaccessible bytes and opens inner of them, first on.
func reserve(size, first, inner uintptr) (unsafe.Pointer, error) {
	addr, err := windows.VirtualAlloc(0, size, windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return nil, err
	}
	// The address is memory outside the Go heap, so it never moves.
	mem := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	if _, err := windows.VirtualAlloc(addr+first, inner, windows.MEM_COMMIT, windows.PAGE_READWRITE); err != nil {
		unmap(mem, size)
		return nil, err
	}
	return mem, nil
}

func unmap(mem unsafe.Pointer, _ uintptr) {
	_ = windows.VirtualFree(uintptr(mem), 0, windows.MEM_RELEASE)
}
