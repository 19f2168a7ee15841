//go:build windows && amd64

package jit

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func pageSize() int { return windows.Getpagesize() }

func mapExec(code []byte, size uintptr) (unsafe.Pointer, error) {
	addr, err := windows.VirtualAlloc(0, size, windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, &UnavailableError{"map", int(size), err}
	}
	// The address is memory outside the Go heap, so it never moves.
	mem := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	fill(unsafe.Slice((*byte)(mem), size), code)
	var old uint32
	if err := windows.VirtualProtect(addr, size, windows.PAGE_EXECUTE_READ, &old); err != nil {
		unmapExec(mem, size)
		return nil, &UnavailableError{"protect", int(size), err}
	}
	return mem, nil
}

func unmapExec(mem unsafe.Pointer, _ uintptr) {
	_ = windows.VirtualFree(uintptr(mem), 0, windows.MEM_RELEASE)
}
