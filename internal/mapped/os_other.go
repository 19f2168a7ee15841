//go:build !unix && !windows

package mapped

import (
	"errors"
	"io"
	"os"
	"unsafe"

	"weft/internal/mem"
)

// Where the system has no mappings, a file is read as a whole, and cannot be shared.
func osMap(f *os.File, size int, access Access) (unsafe.Pointer, error) {
	if access == Shared {
		return nil, errors.ErrUnsupported
	}
	if err := mem.CheckHeap(size); err != nil {
		return nil, err
	}
	words := make([]uint64, (size+7)/8)
	p := unsafe.Pointer(unsafe.SliceData(words))
	_, err := io.ReadFull(f, unsafe.Slice((*byte)(p), size))
	return p, err
}

// osUnmap leaves the memory to the collector: storages point to it.
func osUnmap(unsafe.Pointer, int) {}

// osUnload does nothing: the memory is a copy of the file, which nobody would read again.
func osUnload(unsafe.Pointer, int) {}

// canBeCut is false: memory is a copy of the file.
const canBeCut = false

// OpenOwn opens a file to be shared as memory. The folder of temporary files is the user's own.
func OpenOwn(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }
