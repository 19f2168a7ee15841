package mapped

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

func osMap(f *os.File, size int, access Access) (unsafe.Pointer, error) {
	protect, view := uint32(windows.PAGE_READONLY), uint32(windows.FILE_MAP_READ)
	switch access {
	case CopyOnWrite:
		protect, view = windows.PAGE_WRITECOPY, windows.FILE_MAP_COPY
	case Shared:
		protect, view = windows.PAGE_READWRITE, windows.FILE_MAP_READ|windows.FILE_MAP_WRITE
	}
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, protect, 0, 0, nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	// The view keeps what it needs.
	defer windows.CloseHandle(h)
	addr, err := windows.MapViewOfFile(h, view, 0, 0, uintptr(size))
	if err != nil {
		return nil, os.NewSyscallError("MapViewOfFile", err)
	}
	// The address is memory outside the Go heap, so it never moves.
	return *(*unsafe.Pointer)(unsafe.Pointer(&addr)), nil
}

func osUnmap(mem unsafe.Pointer, _ int) { _ = windows.UnmapViewOfFile(uintptr(mem)) }

// osUnload does nothing: the system has no call that drops clean pages of a view and keeps it.
func osUnload(unsafe.Pointer, int) {}

// canBeCut is false: the system refuses to cut a file that is mapped.
const canBeCut = false

// OpenOwn opens a file to be shared as memory. The folder of temporary files is the user's own.
func OpenOwn(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }
