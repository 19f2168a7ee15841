// Package guard makes buffers that touch unmapped pages, for tests that prove that
// code does not read or write outside its operands. An access outside faults at
// once; under debug.SetPanicOnFault it panics (on Windows only in Go code, not in
// machine code).
package guard

import (
	"fmt"
	"sync"
	"unsafe"
)

// Buffer is zeroed memory with an inaccessible page before and after the mapping
// it lies in. It is off the Go heap and lasts until Close, which tests leave to their Cleanup.
type Buffer struct {
	mapping unsafe.Pointer
	size    uintptr
	data    unsafe.Pointer
	n       int
}

// End returns n bytes whose last is the last before an inaccessible page. The
// address of the first is aligned only as far as n is.
func End(n int) (*Buffer, error) { return guarded(n, true) }

// Start returns n bytes whose first is the first after an inaccessible page.
func Start(n int) (*Buffer, error) { return guarded(n, false) }

func guarded(n int, end bool) (*Buffer, error) {
	if n < 0 {
		panic(fmt.Sprintf("guard: negative size %d", n))
	}
	page := uintptr(pageSize())
	inner := max((uintptr(n)+page-1)&^(page-1), page)
	b := &Buffer{size: inner + 2*page, n: n}
	if b.mapping = released.take(b.size); b.mapping == nil {
		var err error
		if b.mapping, err = reserve(b.size, page, inner); err != nil {
			return nil, fmt.Errorf("guard: %d bytes: %w", n, err)
		}
	}
	offset := page
	switch {
	case end:
		offset += inner - uintptr(n)
	case n == 0:
		offset = 0 // no byte at the address is accessible
	}
	b.data = unsafe.Add(b.mapping, offset)
	return b, nil
}

// Bytes returns the buffer as a slice, valid until Close.
func (b *Buffer) Bytes() []byte { return unsafe.Slice((*byte)(b.data), b.n) }

// Ptr returns the address of the first byte.
func (b *Buffer) Ptr() unsafe.Pointer { return b.data }

// Len returns the number of bytes.
func (b *Buffer) Len() int { return b.n }

// released are mappings of a few pages for the next buffers of as many, all zero: to map and
// unmap takes longer than most tests need them.
var released pool

type pool struct {
	sync.Mutex
	bySize map[uintptr][]unsafe.Pointer
}

// Mappings of more than maxPages, and those beyond maxKept of one size, are unmapped.
const maxPages, maxKept = 16, 64

func (p *pool) take(size uintptr) unsafe.Pointer {
	p.Lock()
	defer p.Unlock()
	list := p.bySize[size]
	if len(list) == 0 {
		return nil
	}
	p.bySize[size] = list[:len(list)-1]
	return list[len(list)-1]
}

// keep reports whether there is room for a mapping.
func (p *pool) keep(mapping unsafe.Pointer, size uintptr) bool {
	page := uintptr(pageSize())
	if size > maxPages*page {
		return false
	}
	p.Lock()
	defer p.Unlock()
	if len(p.bySize[size]) == maxKept {
		return false
	}
	clear(unsafe.Slice((*byte)(unsafe.Add(mapping, page)), size-2*page))
	if p.bySize == nil {
		p.bySize = map[uintptr][]unsafe.Pointer{}
	}
	p.bySize[size] = append(p.bySize[size], mapping)
	return true
}

// Release is Close where buffers come and go: a later buffer may get the memory. What still
// used it would not fault then.
func (b *Buffer) Release() {
	if b.mapping != nil && released.keep(b.mapping, b.size) {
		*b = Buffer{}
	}
	b.Close()
}

// Close unmaps the buffer. A second Close does nothing.
func (b *Buffer) Close() {
	if b.mapping != nil {
		unmap(b.mapping, b.size)
		*b = Buffer{}
	}
}
