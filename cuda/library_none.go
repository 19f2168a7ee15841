//go:build !(linux && !android && (amd64 || arm64)) && !(windows && (amd64 || arm64))

package cuda

import (
	"fmt"
	"runtime"
)

// libraryFiles has a name for the error alone: NVIDIA has no driver for this system.
var libraryFiles = []string{"libcuda"}

func loadFile(file string) (uintptr, error) {
	return 0, fmt.Errorf("%s: weft knows none for %s/%s", file, runtime.GOOS, runtime.GOARCH)
}

func lookUp(uintptr, string) uintptr { return 0 }

func callAddress(uintptr, ...uintptr) int32 { panic("cuda: no library is loaded") }

func release() string { return "" }
