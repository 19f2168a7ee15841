package array

import (
	"sync/atomic"
	"unsafe"
)

// A Storage is the memory that views share. Its reachability decides the
// lifetime of the memory.
type Storage struct {
	// Ptr is the first byte on the host; nil for an empty storage or one that
	// only its device can reach.
	Ptr   unsafe.Pointer
	Bytes int

	// Device is the number of the device that owns the memory; 0 is the CPU.
	Device uint8

	// Released is set when the memory was given back before the header became
	// unreachable; a use afterwards is refused.
	Released atomic.Bool

	// version counts the writes after the first; views share it.
	version atomic.Uint32

	// saved is the number of tapes that hold a value of this storage: only then
	// does a write record where it came from.
	saved atomic.Int32

	// lent is the number of functions that were given a Go slice of the memory.
	lent atomic.Int32

	// writer is the program counter of the last write into a saved storage.
	writer atomic.Uintptr

	owner any // keeps the memory alive: the block, the caller's slice, the map
}

// NewStorage wraps memory that owner keeps alive.
func NewStorage(p unsafe.Pointer, bytes int, owner any) *Storage {
	return &Storage{Ptr: p, Bytes: bytes, owner: owner}
}

// Owner returns what keeps the memory alive.
func (s *Storage) Owner() any { return s.owner }

// SetOwner replaces it.
func (s *Storage) SetOwner(o any) { s.owner = o }

// Version returns the number of writes so far.
func (s *Storage) Version() uint32 { return s.version.Load() }

// Bump counts a write. The program counter of the caller is recorded when a
// tape has saved a value of this storage.
func (s *Storage) Bump(pc func() uintptr) {
	s.version.Add(1)
	if s.saved.Load() > 0 && pc != nil {
		s.writer.Store(pc())
	}
}

// Save and Unsave count the tapes that hold a value of this storage.
func (s *Storage) Save()   { s.saved.Add(1) }
func (s *Storage) Unsave() { s.saved.Add(-1) }

// Saved reports whether a tape holds a value of this storage.
func (s *Storage) Saved() bool { return s.saved.Load() > 0 }

// Lend and Unlend count the functions that have a Go slice of the memory: until
// they return it must stay.
func (s *Storage) Lend()   { s.lent.Add(1) }
func (s *Storage) Unlend() { s.lent.Add(-1) }

// Lent reports whether a function has a Go slice of the memory.
func (s *Storage) Lent() bool { return s.lent.Load() > 0 }

// Writer returns the program counter of the last recorded write, 0 if none.
func (s *Storage) Writer() uintptr { return s.writer.Load() }

type small64 struct {
	Storage
	buf [64]byte
}
type small256 struct {
	Storage
	buf [256]byte
}
type small1024 struct {
	Storage
	buf [1024]byte
}

// SmallMax is the largest storage that sits inside its Go object.
const SmallMax = 1024

// NewSmall returns a zeroed storage of at most [SmallMax] bytes inside one Go
// object.
func NewSmall(bytes int) *Storage {
	switch {
	case bytes <= 64:
		s := new(small64)
		s.Ptr, s.Bytes = unsafe.Pointer(&s.buf), bytes
		return &s.Storage
	case bytes <= 256:
		s := new(small256)
		s.Ptr, s.Bytes = unsafe.Pointer(&s.buf), bytes
		return &s.Storage
	default:
		s := new(small1024)
		s.Ptr, s.Bytes = unsafe.Pointer(&s.buf), bytes
		return &s.Storage
	}
}
