//go:build unix

package mapped

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func osMap(f *os.File, size int, access Access) (unsafe.Pointer, error) {
	prot, flags := unix.PROT_READ, unix.MAP_SHARED
	switch access {
	case CopyOnWrite:
		prot, flags = unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|noReserve
	case Shared:
		prot = unix.PROT_READ | unix.PROT_WRITE
	}
	return unix.MmapPtr(int(f.Fd()), 0, nil, uintptr(size), prot, flags)
}

func osUnmap(mem unsafe.Pointer, size int) { _ = unix.MunmapPtr(mem, uintptr(size)) }

// osSize returns the size of a file that may be closed already, without allocating.
func osSize(f *os.File) (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return 0, err
	}
	return st.Size, nil
}
