package mem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge asks for huge pages. A kernel without them refuses, which is fine.
func adviseHuge(mem unsafe.Pointer, size uintptr) {
	_ = unix.Madvise(unsafe.Slice((*byte)(mem), size), unix.MADV_HUGEPAGE)
}

func physicalMemory() (memory, swap int64) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return noLimit, noLimit
	}
	return int64(uint64(info.Totalram) * uint64(info.Unit)), int64(uint64(info.Totalswap) * uint64(info.Unit))
}
