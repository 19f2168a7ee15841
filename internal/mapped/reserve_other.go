//go:build !linux

package mapped

import "os"

// Reserve makes f, which is empty, n zero bytes long and takes the blocks for them: what is
// missing when a page is touched would be a fault.
func Reserve(f *os.File, n int) error { return writeZeros(f, n) }

// SharedFolder is where files are that processes share as memory.
func SharedFolder() string { return os.TempDir() }
