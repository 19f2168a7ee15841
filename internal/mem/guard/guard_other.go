//go:build !unix && !windows

package guard

import (
	"os"
	"unsafe"
)

// Available reports whether the pages around a buffer are inaccessible here.
const Available = false

func pageSize() int { return os.Getpagesize() }

// reserve returns plain memory: there are no pages to protect. The Buffer that
// points into it keeps it alive.
func reserve(size, _, _ uintptr) (unsafe.Pointer, error) {
	return unsafe.Pointer(unsafe.SliceData(make([]byte, size))), nil
}

func unmap(unsafe.Pointer, uintptr) {}
