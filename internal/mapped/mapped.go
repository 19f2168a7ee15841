// Package mapped gives arrays memory that lies in files: the operating system reads
// pages when they are touched, and processes that map one file share them.
//
// A file that is cut while it is mapped takes its pages away, and touching one of them
// is a fault, which would end the process. So the size of the file is looked up whenever
// memory is used, and an array whose bytes are no longer there is refused with a typed
// error. What is cut off between that and the end of the use faults, which from then on
// is a panic on the goroutine that used the memory (debug.SetPanicOnFault stays on there)
// and on weft's workers. On Windows a mapped file cannot be cut.
package mapped

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/par"
)

// Access says what writes into the memory do.
type Access uint8

const (
	ReadOnly    Access = iota // they are refused
	CopyOnWrite               // they change the memory of this process, never the file
	Shared                    // they change the file, and the memory of all that share it
)

// A Mapping is a file in memory. The memory goes when it was closed and all storages
// were given back, or when nothing of it can be reached any more.
type Mapping struct {
	*region
	access Access
	users  atomic.Int64 // storages that were not given back, and 1 until Close
}

// A region is what the cleanup of a Mapping knows.
type region struct {
	file *os.File
	ptr  unsafe.Pointer
	size int
	once sync.Once
}

// Open maps the whole of f, which it takes over: f is closed when the memory goes, or
// at once if there is an error.
func Open(f *os.File, access Access) (*Mapping, error) {
	m, err := open(f, access)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s cannot be mapped: %w", f.Name(), err)
	}
	return m, nil
}

func open(f *os.File, access Access) (*Mapping, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	if st.Size() > array.MaxBytes {
		return nil, fmt.Errorf("%d bytes do not fit into memory", st.Size())
	}
	r := &region{file: f, size: int(st.Size())}
	if r.size > 0 {
		if r.ptr, err = osMap(f, r.size, access); err != nil {
			return nil, err
		}
	}
	par.SetPanicOnFault(true)
	m := &Mapping{region: r, access: access}
	m.users.Store(1)
	runtime.AddCleanup(m, (*region).close, r)
	return m, nil
}

func (r *region) close() {
	r.once.Do(func() {
		if r.ptr != nil {
			osUnmap(r.ptr, r.size)
		}
		r.file.Close()
	})
}

// Size returns the bytes of the file when it was mapped.
func (m *Mapping) Size() int { return m.size }

// ReadAt reads from the file.
func (m *Mapping) ReadAt(b []byte, off int64) (int, error) { return m.file.ReadAt(b, off) }

// Close says that no more storages are wanted. The memory stays while there are any.
func (m *Mapping) Close() { m.drop() }

func (m *Mapping) drop() {
	if m.users.Add(-1) == 0 {
		m.close()
	}
}

// A user is what a storage holds of a mapping.
type user struct{ m *Mapping }

// Return gives the memory of the storage back.
func (u user) Return() { u.m.drop() }

// Storage returns n bytes of the file, which are there, from offset on.
func (m *Mapping) Storage(offset, n int) *array.Storage {
	if n == 0 {
		st := array.NewStorage(nil, 0, nil)
		m.protect(st)
		return st
	}
	m.users.Add(1)
	st := array.NewStorage(unsafe.Add(m.ptr, offset), n, user{m})
	m.protect(st)
	st.Guard(func() { m.check(offset + n) })
	return st
}

func (m *Mapping) protect(st *array.Storage) {
	if m.access == ReadOnly {
		st.Protect()
	}
}

// check panics if the file has lost bytes before end.
func (m *Mapping) check(end int) {
	debug.SetPanicOnFault(true)
	n, err := osSize(m.file)
	if err != nil {
		panic(&array.Error{Kind: array.DeviceFailed, Op: "map", Msg: "the size of a mapped file cannot be had", Err: err})
	}
	if n < int64(end) {
		panic(&array.Error{Kind: array.DeviceFailed, Op: "map", Msg: fmt.Sprintf("%s was cut to %d bytes while an array up to byte %d is mapped", m.file.Name(), n, end)})
	}
}

// writeZeros appends n zero bytes to f.
func writeZeros(f *os.File, n int) error {
	zeros := make([]byte, min(n, 1<<20))
	for n > 0 {
		k, err := f.Write(zeros[:min(n, len(zeros))])
		if err != nil {
			return err
		}
		n -= k
	}
	return nil
}
