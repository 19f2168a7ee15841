//go:build unix

package mem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// osMap returns size bytes of zeroed memory, aligned to huge pages if it is at
// least one long.
func osMap(size uintptr) (unsafe.Pointer, error) {
	const prot, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANON
	if size < hugePage {
		return unix.MmapPtr(-1, 0, nil, size, prot, flags)
	}
	mem, err := unix.MmapPtr(-1, 0, nil, size+hugePage, prot, flags)
	if err != nil {
		return nil, err
	}
	head := -uintptr(mem) & (hugePage - 1)
	if head > 0 {
		osUnmap(mem, head)
	}
	mem = unsafe.Add(mem, head)
	osUnmap(unsafe.Add(mem, size), hugePage-head)
	adviseHuge(mem, size)
	return mem, nil
}

// osUnmap gives memory back. A system that is at its limit of mappings (65530 on Linux, of
// the whole process) refuses to cut a piece out of one: then the pages are given back and
// the addresses stay taken.
func osUnmap(mem unsafe.Pointer, size uintptr) {
	if err := unix.MunmapPtr(mem, size); err != nil {
		_ = unix.Madvise(unsafe.Slice((*byte)(mem), size), unix.MADV_DONTNEED)
	}
}
