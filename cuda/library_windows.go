//go:build amd64 || arm64

package cuda

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/windows"
)

// libraryFiles are looked for in the folder of the system alone, where the driver's installer
// puts the library: not beside the program.
var libraryFiles = []string{"nvcuda.dll"}

func loadFile(file string) (uintptr, error) {
	h, err := windows.LoadLibraryEx(file, 0, windows.LOAD_LIBRARY_SEARCH_SYSTEM32)
	if err != nil {
		return 0, fmt.Errorf("%s in the folder of the system: %w", file, err)
	}
	return uintptr(h), nil
}

func lookUp(library uintptr, symbol string) uintptr {
	p, err := windows.GetProcAddress(windows.Handle(library), symbol)
	if err != nil {
		return 0
	}
	return p
}

//go:uintptrescapes
func callAddress(address uintptr, args ...uintptr) int32 {
	r, _, _ := syscall.SyscallN(address, args...)
	return int32(r) // a CUresult has 32 bits: the others of the register hold anything
}

// release returns the release of the driver, "" because its library does not tell.
func release() string { return "" }
