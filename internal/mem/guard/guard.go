// Package guard makes buffers that touch unmapped pages, for tests that prove that
// code does not read or write outside its operands. An access outside faults at
// once; under debug.SetPanicOnFault it panics (on Windows only in Go code, not in
// machine code).
package guard

import (
	"fmt"
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
	var err error
	if b.mapping, err = reserve(b.size, page, inner); err != nil {
		return nil, fmt.Errorf("guard: %d bytes: %w", n, err)
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

// Close unmaps the buffer. A second Close does nothing.
func (b *Buffer) Close() {
	if b.mapping != nil {
		unmap(b.mapping, b.size)
		*b = Buffer{}
	}
}
