//go:build linux && !android && (amd64 || arm64)

package cuda

import (
	"os"
	"regexp"

	"github.com/ebitengine/purego"
)

// libraryFiles are tried in order: the loader's path first, then where distributions, containers,
// the Windows subsystem for Linux and NixOS keep the library outside of it.
var libraryFiles = []string{
	"libcuda.so.1",
	"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
	"/usr/lib/aarch64-linux-gnu/libcuda.so.1",
	"/usr/lib64/libcuda.so.1",
	"/usr/lib/libcuda.so.1",
	"/usr/lib/wsl/lib/libcuda.so.1",
	"/usr/local/nvidia/lib64/libcuda.so.1",
	"/run/opengl-driver/lib/libcuda.so.1",
}

func loadFile(file string) (uintptr, error) {
	return purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

func lookUp(library uintptr, symbol string) uintptr {
	p, err := purego.Dlsym(library, symbol)
	if err != nil {
		return 0
	}
	return p
}

//go:uintptrescapes
func callAddress(address uintptr, args ...uintptr) int32 {
	r, _, _ := purego.SyscallN(address, args...)
	return int32(r) // a CUresult has 32 bits: the others of the register hold anything
}

var releaseNumber = regexp.MustCompile(`\b\d{3,}\.\d+(\.\d+)?\b`)

// release returns the release of the driver, such as "580.159.03", "" if the kernel does not tell.
func release() string {
	text, err := os.ReadFile("/proc/driver/nvidia/version")
	if err != nil {
		return ""
	}
	return string(releaseNumber.Find(text))
}
