//go:build unix && amd64

package jit

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

func pageSize() int { return unix.Getpagesize() }

// chunkSize is the size of a mapping. Each code takes whole pages of one: a mapping for each code
// took twice as long, and a system allows some ten thousands of mappings only.
const chunkSize = 256 << 10

// chunk is what is left of the chunk in use: writable pages that were never
// executable.
var chunk struct {
	sync.Mutex
	mem  unsafe.Pointer
	size uintptr
}

// takePages returns writable pages that hold zeroes.
func takePages(size uintptr) (unsafe.Pointer, error) {
	if size > chunkSize/4 {
		return mapPages(size)
	}
	chunk.Lock()
	defer chunk.Unlock()
	if chunk.size < size {
		mem, err := mapPages(chunkSize)
		if err != nil {
			return nil, err
		}
		if chunk.size > 0 {
			unmapExec(chunk.mem, chunk.size)
		}
		chunk.mem, chunk.size = mem, chunkSize
	}
	mem := chunk.mem
	chunk.mem, chunk.size = unsafe.Add(mem, size), chunk.size-size
	return mem, nil
}

func mapPages(size uintptr) (unsafe.Pointer, error) {
	return unix.MmapPtr(-1, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

func mapExec(code []byte, size uintptr) (unsafe.Pointer, error) {
	mem, err := takePages(size)
	if err != nil {
		return nil, &UnavailableError{"map", int(size), err}
	}
	bytes := unsafe.Slice((*byte)(mem), size)
	fill(bytes, code)
	if err := unix.Mprotect(bytes, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		unmapExec(mem, size)
		return nil, &UnavailableError{"protect", int(size), err}
	}
	return mem, nil
}

func unmapExec(mem unsafe.Pointer, size uintptr) { _ = unix.MunmapPtr(mem, size) }
