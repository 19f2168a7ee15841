//go:build unix

package mapped

import (
	"errors"
	"fmt"
	"io/fs"
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

// osUnload unmaps pages that were not written: they stay in the system's cache of the file. A system that refuses
// leaves them.
func osUnload(mem unsafe.Pointer, size int) {
	_ = unix.Madvise(unsafe.Slice((*byte)(mem), size), unix.MADV_DONTNEED)
}

// canBeCut says that the system lets files be cut while they are mapped.
const canBeCut = true

// OpenOwn opens a file to be shared as memory, in a folder where others may write. It refuses a
// link, a file of another user, and a file with a second name. Such a path may have been planted to
// make this process write into another file.
func OpenOwn(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errLink}
	}
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	switch err = unix.Fstat(int(f.Fd()), &st); {
	case err == nil && int(st.Uid) != os.Geteuid():
		err = errOwner
	case err == nil && st.Nlink > 1:
		err = errLink
	}
	if err != nil {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return f, nil
}

var (
	errLink  = fmt.Errorf("is a link or has a second name: %w", fs.ErrPermission)
	errOwner = fmt.Errorf("belongs to another user: %w", fs.ErrPermission)
)
