package array

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/dirty"
	"weft/internal/lock"
)

// A Storage is the memory that views share: the one place between a tensor and
// its bytes. They may be on a device that the host does not reach, or not computed
// yet (see [Storage.Defer]). Reachability of the storage decides the lifetime of
// the memory.
//
// It is 64 bytes long, so that memory behind it in one object begins at a cache
// line.
type Storage struct {
	owner any            // keeps the memory alive: the block, the caller's slice, the map
	ptr   unsafe.Pointer // the first byte on the host; atomic, since Forget may run beside a reader

	// aside is what few storages have, nil for the others.
	aside atomic.Pointer[aside]

	// Lock says who uses the memory.
	Lock lock.Lock

	Bytes int

	// version counts the writes after the first; views share it.
	version atomic.Uint32

	// saved is the number of tapes that hold a value of this storage: only then
	// does a write record where it came from.
	saved atomic.Int32

	// state is the number of functions that were given a Go slice of the memory,
	// and the bits released, readOnly, special and leased.
	state atomic.Uint32

	// Device is the number of the device that owns the memory; 0 is the default
	// CPU.
	Device uint8

	// Abstract marks a storage that never has memory: it stands for a value of a
	// function that is being compiled, whose trace is its owner.
	Abstract bool
}

// Bits of the state of a storage.
const (
	released = 1 << 31 // the memory was given back before the header became unreachable
	readOnly = 1 << 30 // the memory must not be written
	special  = 1 << 29 // the storage has, or once had, something aside
	leased   = 1 << 28 // the owner takes the memory back, for others to use
	handed   = 1 << 27 // a function had, or has, a Go slice of the memory
	allBits  = released | readOnly | special | leased | handed
)

// An aside is never written after it is made.
type aside struct {
	deferred func()         // stands in for the content until it is asked for
	waits    any            // what the content waits for, of [Storage.Wait]
	monitor  *dirty.Monitor // of a storage that is tracked
	writer   uintptr        // the program counter of the last write into a saved storage
	attached Dropper        // what others keep of the content, of [Storage.Attach]
}

// setAside changes what the storage has aside.
func (s *Storage) setAside(change func(a *aside)) {
	s.state.Or(special)
	for {
		old := s.aside.Load()
		var a aside
		if old != nil {
			a = *old
		}
		change(&a)
		fresh := &a
		if a.deferred == nil && a.monitor == nil && a.writer == 0 && a.attached == nil {
			fresh = nil
		}
		if s.aside.CompareAndSwap(old, fresh) {
			return
		}
	}
}

// Monitor returns what marks writes into the storage, nil unless it is tracked.
func (s *Storage) Monitor() *dirty.Monitor {
	if a := s.aside.Load(); a != nil {
		return a.monitor
	}
	return nil
}

// Track makes the storage have a monitor, and returns it.
func (s *Storage) Track() (m *dirty.Monitor) {
	s.setAside(func(a *aside) {
		if a.monitor == nil {
			a.monitor = dirty.NewMonitor()
		}
		m = a.monitor
	})
	return m
}

// WillMark panics if the storage is tracked and nobody is inside its monitor who will mark
// what is about to be written, where tests ask for it. What runs kernels says it of every
// memory that they write into, so that no way to write can forget to mark.
func (s *Storage) WillMark() {
	if dirty.Verify {
		if m := s.Monitor(); m != nil {
			m.Inside()
		}
	}
}

// A Dropper keeps something that follows from the content of a storage. Drop forgets it: the memory is given
// back, or about to be written in a way that is not counted. Both may be called by several goroutines at once.
type Dropper interface{ Drop() }

// Attach makes the storage have d beside its content, unless it has one.
func (s *Storage) Attach(d Dropper) {
	s.setAside(func(a *aside) {
		if a.attached == nil {
			a.attached = d
		}
	})
}

// Attached returns what the storage has beside its content, or nil.
func (s *Storage) Attached() Dropper {
	if a := s.aside.Load(); a != nil {
		return a.attached
	}
	return nil
}

// dropAttached makes what is attached forget what it keeps.
func (s *Storage) dropAttached() {
	if d := s.Attached(); d != nil {
		d.Drop()
	}
}

// NewStorage wraps memory that owner keeps alive. If owner has the method Return, it is called
// when the storage was released and nobody uses the memory.
func NewStorage(p unsafe.Pointer, bytes int, owner any) *Storage {
	s := &Storage{ptr: p, Bytes: bytes, owner: owner}
	if _, ok := owner.(returner); ok {
		s.state.Store(leased)
	}
	return s
}

type returner interface{ Return() }

// NewAbstract returns a storage that stands for a value of owner, a trace. refuse is
// called by whoever uses its memory, and panics.
func NewAbstract(bytes int, device uint8, owner any, refuse func()) *Storage {
	s := &Storage{Bytes: bytes, Device: device, Abstract: true, owner: owner}
	s.Guard(refuse)
	return s
}

// Host returns the first byte on the host, nil for an empty storage or one that
// only its device can reach. Devices call it, and what moves elements between
// tensors and Go memory; nobody else.
func (s *Storage) Host() unsafe.Pointer {
	if s.aside.Load() != nil {
		s.Ready()
	}
	return atomic.LoadPointer(&s.ptr)
}

// address is the first byte on the host as a number, 0 if there is none now: it computes nothing.
func (s *Storage) address() uintptr { return uintptr(atomic.LoadPointer(&s.ptr)) }

// Forget makes the storage one without memory. Work that was issued keeps the memory that the
// storage had: a device binds addresses at issue, and holds their owner.
func (s *Storage) Forget() {
	atomic.StorePointer(&s.ptr, nil)
	s.owner = nil
	s.dropAttached()
	if s.Waits() != nil {
		s.setAside(func(a *aside) { a.deferred, a.waits = nil, nil })
	}
}

// Defer makes f stand in the storage for its content, which f computes: it is
// called once, before the first use of the memory, by whoever uses it. If it panics,
// every use does. f may not use the storage but through the memory that it was made
// with.
func (s *Storage) Defer(f func()) {
	once := sync.OnceFunc(func() {
		f()
		s.setAside(func(a *aside) { a.deferred = nil })
	})
	s.setAside(func(a *aside) { a.deferred = once })
}

// Guard makes every use of the memory call f first, which panics if the memory cannot
// be used. It takes the place of [Storage.Defer].
func (s *Storage) Guard(f func()) { s.setAside(func(a *aside) { a.deferred = f }) }

// Wait makes a storage without memory wait for f, which gives it content with
// [Storage.Settle], and may be called by several goroutines at once; what says what that
// comes from.
func (s *Storage) Wait(what any, f func()) {
	s.setAside(func(a *aside) { a.deferred, a.waits = f, what })
}

// Waits returns what the content waits for, nil if it is there.
func (s *Storage) Waits() any {
	if a := s.aside.Load(); a != nil {
		return a.waits
	}
	return nil
}

// Settle gives a storage that waits the memory of another one, which has its content, and
// is forgotten. Work that was issued on from goes on in that memory, which s now has.
func (s *Storage) Settle(from *Storage) {
	atomic.StorePointer(&s.ptr, atomic.LoadPointer(&from.ptr))
	s.owner = from.owner
	s.state.Or(from.state.Load() & leased)
	from.Forget()
	s.setAside(func(a *aside) { a.deferred, a.waits = nil, nil })
}

// Ready computes content that was deferred. A device calls it before its work
// uses the memory.
func (s *Storage) Ready() {
	if a := s.aside.Load(); a != nil && a.deferred != nil {
		a.deferred()
	}
}

// Owner returns what keeps the memory alive.
func (s *Storage) Owner() any { return s.owner }

// Version returns the number of writes so far.
func (s *Storage) Version() uint32 { return s.version.Load() }

// Bump counts a write. The program counter of the caller is recorded when a
// tape has saved a value of this storage.
func (s *Storage) Bump(pc func() uintptr) {
	s.version.Add(1)
	if s.saved.Load() > 0 && pc != nil {
		at := pc()
		s.setAside(func(a *aside) { a.writer = at })
	}
}

// Save and Unsave count the tapes that hold a value of this storage.
func (s *Storage) Save()   { s.saved.Add(1) }
func (s *Storage) Unsave() { s.saved.Add(-1) }

// Saved reports whether a tape holds a value of this storage.
func (s *Storage) Saved() bool { return s.saved.Load() > 0 }

// Use keeps the memory there until [Storage.Unuse], released or not. It reports false, and nothing
// is to be ended, if the memory was released before. Whoever touches memory that another goroutine
// or a function of the user may release is inside a use.
func (s *Storage) Use() bool { return s.Stays() || s.use() }

// Stays reports that the memory stays as long as the storage is reachable: it need not be used to
// be touched.
func (s *Storage) Stays() bool { return s.state.Load()&(leased|special|released) == 0 }

func (s *Storage) use() bool {
	bits := s.state.Load()
	if bits&(leased|special) == special {
		s.Ready() // may make it leased
		bits = s.state.Load()
	}
	if bits&leased == 0 {
		return bits&released == 0
	}
	s.Lock.Use()
	if s.state.Load()&released == 0 {
		return true
	}
	s.Unuse()
	return false
}

// Unuse ends a use.
func (s *Storage) Unuse() {
	if s.state.Load()&leased != 0 {
		s.unuse()
	}
}

func (s *Storage) unuse() {
	if s.Lock.Unuse() {
		s.Unused()
	}
}

// Unused gives released memory back. It does nothing while somebody uses the memory, or if it was
// not released, or given back before.
func (s *Storage) Unused() {
	if s.state.Load()&released == 0 || !s.Lock.Claim() {
		return
	}
	if l, ok := s.owner.(returner); ok {
		s.Forget() // the next storage of the block has the lease
		l.Return()
	} else if s.Waits() != nil {
		s.Forget() // nobody will ask for it
	}
}

// Lend and Unlend count the functions that have a Go slice of the memory: until
// they return it must stay. Lend reports false, and counts nothing, if it was released.
func (s *Storage) Lend() bool {
	s.state.Add(1)
	s.state.Or(handed)
	s.Lock.Use()
	if s.Released() {
		s.Unlend()
		return false
	}
	s.dropAttached()
	return true
}

// Unlend ends a Lend.
func (s *Storage) Unlend() {
	s.state.Add(^uint32(0))
	if s.Lock.Unuse() {
		s.Unused()
	}
}

// Lent reports whether a function has a Go slice of the memory.
func (s *Storage) Lent() bool { return s.state.Load()&^allBits > 0 }

// Unwritten reports that the memory has what it was made with: nothing was written, and no function had a Go slice.
func (s *Storage) Unwritten() bool { return s.version.Load() == 0 && s.state.Load()&handed == 0 }

// Unload takes memory that lies in a file and was not written out of the process: the next use reads it again.
// Requires: nobody begins to write.
func (s *Storage) Unload() {
	if owner, ok := s.owner.(interface{ Unload() }); ok && s.Unwritten() {
		owner.Unload()
	}
}

// Protect marks the memory as one that must not be written.
func (s *Storage) Protect() { s.state.Or(readOnly) }

// ReadOnly reports memory that must not be written.
func (s *Storage) ReadOnly() bool { return s.state.Load()&readOnly != 0 }

// Release marks the memory as given back, and reports whether it was not before: a
// use afterwards is refused. The memory goes back at once, or when the last use ends.
func (s *Storage) Release() bool {
	old := s.state.Or(released)
	if old&released != 0 {
		return false
	}
	if old&(leased|special) != 0 {
		s.Unused()
	}
	return true
}

// Plain reports whether the memory can be read at once: it was not released, is not deferred, and
// the host reaches it. Others may be readable too, which [Storage.Ready] and the device know.
func (s *Storage) Plain() bool {
	return s.state.Load()&(released|special) == 0 && atomic.LoadPointer(&s.ptr) != nil
}

// Direct returns the first byte if one load may touch the memory: it is host memory, not released,
// and lives as long as the storage is reachable. nil says nothing.
func (s *Storage) Direct() unsafe.Pointer {
	if s.state.Load()&(leased|special|released) != 0 || s.Device != 0 {
		return nil
	}
	return atomic.LoadPointer(&s.ptr)
}

// Released reports whether the memory was given back.
func (s *Storage) Released() bool { return s.state.Load()&released != 0 }

// Writer returns the program counter of the last recorded write, 0 if none.
func (s *Storage) Writer() uintptr {
	if a := s.aside.Load(); a != nil {
		return a.writer
	}
	return 0
}

type small64 struct {
	Storage
	buf [64]byte
}
type small256 struct {
	Storage
	buf [256]byte
}
type small512 struct {
	Storage
	_   [56]byte // Go puts 8 bytes before objects of more than 512 that hold pointers
	buf [512]byte
}
type small1024 struct {
	Storage
	_   [56]byte // as in small512
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
		s.ptr, s.Bytes = unsafe.Pointer(&s.buf), bytes
		return &s.Storage
	case bytes <= 256:
		s := new(small256)
		s.ptr, s.Bytes = unsafe.Pointer(&s.buf), bytes
		return &s.Storage
	case bytes <= 512:
		s := new(small512)
		s.ptr, s.Bytes = unsafe.Pointer(&s.buf), bytes
		return &s.Storage
	default:
		s := new(small1024)
		s.ptr, s.Bytes = unsafe.Pointer(&s.buf), bytes
		return &s.Storage
	}
}
