package mem

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// osMap returns size bytes of zeroed memory.
func osMap(size uintptr) (unsafe.Pointer, error) {
	addr, err := windows.VirtualAlloc(0, size, windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	// The address is memory outside the Go heap, so it never moves.
	return *(*unsafe.Pointer)(unsafe.Pointer(&addr)), nil
}

func osUnmap(mem unsafe.Pointer, _ uintptr) {
	_ = windows.VirtualFree(uintptr(mem), 0, windows.MEM_RELEASE) // what is refused stays taken
}

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

func physicalMemory() (memory, swap int64) {
	// MEMORYSTATUSEX of the Windows API.
	var status struct {
		length, load         uint32
		totalPhys, availPhys uint64
		totalPage            uint64 // main memory and page files
		rest                 [4]uint64
	}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return noLimit, noLimit
	}
	return int64(status.totalPhys), int64(max(status.totalPage, status.totalPhys) - status.totalPhys)
}
