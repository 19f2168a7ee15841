package cudart

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/device"
)

// A lease is the owner of a storage: memory of a stream that goes back when the storage was released, or
// with the lease when that is unreachable. To have the collector watch an object costs more than all
// else about a block, so a lease that was returned is used again, watched as it is.
type lease struct {
	addr Addr
	held *held
	// The runtime keeps what it watches in a page in one list, which it walks to add to its end:
	// few leases to a page.
	_ [112]byte
}

// held is what the cleanup of a lease knows.
type held struct {
	s      *Stream // whose work orders the memory
	b      *block
	others atomic.Uint64 // streams beside s whose work uses the memory, a bit for each number
	uses   uses
	gone   atomic.Bool
}

// Return gives the memory back after the work issued so far. l may not be used afterwards.
func (l *lease) Return() {
	d := l.held.s.d
	l.held.drop()
	d.leases.Put(l)
}

// lease returns a lease of a block.
func (s *Stream) lease(b *block) *lease {
	l, ok := s.d.leases.Get().(*lease)
	if !ok {
		l = &lease{held: new(held)}
		runtime.AddCleanup(l, (*held).drop, l.held)
	}
	l.addr = b.addr
	h := l.held
	h.s, h.b = s, b
	h.others.Store(0)
	h.uses.own.Store(0)
	h.uses.write.Store(0)
	clear(h.uses.other)
	h.gone.Store(false)
	return l
}

// drop gives the memory back, once. Cleanups call it on any goroutine.
func (h *held) drop() {
	if h.gone.Swap(true) {
		return
	}
	d := h.s.d
	if d.enter() != nil {
		return // the memory went with the device
	}
	defer d.leave()
	var passed []Event
	for set := h.others.Load(); set != 0; set &= set - 1 {
		s := d.stream(bits.TrailingZeros64(set))
		e, err := d.events.record(s.q)
		if err != nil {
			if d.failed(err); outOfMemory(err) {
				err = d.ctx.Sync(s.q)
			}
			if err != nil {
				d.failed(err)
				return
			}
			continue
		}
		passed = append(passed, e)
	}
	d.memory.put(h.b, passed)
}

// Alloc returns memory that work of the stream may use. It panics with an *array.Error when there is
// none, or the device failed.
func (s *Stream) Alloc(bytes int) *array.Storage {
	d := s.d
	if bytes == 0 {
		st := array.NewStorage(nil, 0, nil)
		st.Device = d.number
		return st
	}
	if err := d.enter(); err != nil {
		panic(err)
	}
	defer d.leave()
	b, err := d.memory.take(s.memory, bytes, &d.events)
	switch {
	case outOfMemory(err):
		panic(d.noMemory(bytes, err))
	case err != nil:
		panic(d.failed(err))
	}
	st := array.NewStorage(nil, bytes, s.lease(b))
	st.Device = d.number
	return st
}

// Free gives memory back after the work issued so far.
func (s *Stream) Free(st *array.Storage) { st.Release() }

// address returns where the memory of a reference is, and notes that s uses it. Work is bound to
// that at issue: what the storage is given later, such as by [array.Storage.Settle], does not concern it.
func (s *Stream) address(r device.Ref) (Addr, error) {
	st := r.Store
	st.Ready()
	l, ok := st.Owner().(*lease)
	switch {
	case ok && l.held.s == s:
		return l.addr + Addr(r.Offset), nil
	case ok && l.held.s.d == s.d:
		l.held.others.Or(1 << s.number)
		return l.addr + Addr(r.Offset), nil
	case st.Bytes == 0:
		return 0, nil
	case st.Released():
		return 0, array.Errorf("", "", "the memory was released, or its scope closed")
	}
	return 0, s.d.errorf(nil, "work on %s was given %d bytes of other memory", s.d.name, st.Bytes)
}
