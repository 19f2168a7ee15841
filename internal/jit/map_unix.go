//go:build unix && amd64

package jit

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func pageSize() int { return unix.Getpagesize() }

func mapExec(code []byte, size uintptr) (unsafe.Pointer, error) {
	mem, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, &UnavailableError{"map", int(size), err}
	}
	bytes := unsafe.Slice((*byte)(mem), size)
	fill(bytes, code)
	if err := unix.Mprotect(bytes, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		unmapExec(mem, size)
		return nil, &UnavailableError{"protect", int(size), err}
	}
	return mem, nil
}

func unmapExec(mem unsafe.Pointer, size uintptr) { _ = unix.MunmapPtr(mem, size) }
