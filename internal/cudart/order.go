package cudart

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/device"
)

// Streams take turns in using memory. Work waits for the last write of another stream to what it
// reads, and for all uses by other streams of what it writes. Each stream numbers its work, and
// knows up to which number it has waited for each other stream, so most work waits for nothing anew.
// What reads the results of another stream tells that stream's late errors too.

// uses are the numbers of the last work of each stream that used some memory.
type uses struct {
	own   atomic.Uint64 // of the stream that the memory belongs to
	write atomic.Uint64 // of the last write: maxStreams times the number, plus the stream's
	mu    sync.Mutex
	other map[int]uint64 // by stream
}

// An access is memory that a piece of work uses.
type access struct {
	st    *array.Storage
	write bool
}

// follow makes the next work of the stream wait for what other streams do with memory.
func (s *Stream) follow(st *array.Storage, write bool) error {
	st.Ready()
	l, ok := st.Owner().(*lease)
	if !ok || l.held.s.d != s.d {
		return nil // address refuses it
	}
	h := l.held
	if w := h.uses.write.Load(); w != 0 {
		x, n := int(w%maxStreams), w/maxStreams
		if err := s.after(x, n); err != nil {
			return err
		}
		if err := s.hear(x, n); err != nil {
			return err
		}
	}
	if !write {
		return nil
	}
	if err := s.after(h.s.number, h.uses.own.Load()); err != nil {
		return err
	}
	for set := h.others.Load(); set != 0; set &= set - 1 {
		x := bits.TrailingZeros64(set)
		h.uses.mu.Lock()
		n := h.uses.other[x]
		h.uses.mu.Unlock()
		if err := s.after(x, n); err != nil {
			return err
		}
	}
	return nil
}

// place is [Stream.address] of memory that the next work uses, which follows other streams.
func (s *Stream) place(r device.Ref, write bool) (Addr, error) {
	if err := s.follow(r.Store, write); err != nil {
		return 0, err
	}
	return s.address(r)
}

// after makes the next work of the stream wait for work number n of stream x.
func (s *Stream) after(x int, n uint64) error {
	if x == s.number {
		return nil
	}
	s.mu.Lock()
	waited := s.waited[x] >= n
	s.mu.Unlock()
	if waited {
		return nil
	}
	return s.Wait(s.d.stream(x).Record(false))
}

// used notes that the work just issued uses memory.
func (s *Stream) used(list ...access) {
	s.mu.Lock()
	n := s.issued
	s.mu.Unlock()
	for _, a := range list {
		l, ok := a.st.Owner().(*lease)
		if !ok {
			continue
		}
		h := l.held
		if h.s == s {
			for old := h.uses.own.Load(); old < n && !h.uses.own.CompareAndSwap(old, n); old = h.uses.own.Load() {
			}
		} else {
			h.uses.mu.Lock()
			if h.uses.other == nil {
				h.uses.other = map[int]uint64{}
			}
			h.uses.other[s.number] = max(n, h.uses.other[s.number])
			h.uses.mu.Unlock()
		}
		if a.write {
			h.uses.write.Store(n*maxStreams + uint64(s.number))
		}
	}
}

// ordered returns a routine whose calls follow the work of other streams.
func ordered(r device.Routine) device.Routine {
	return func(c *device.Call) error {
		s := c.Stream.(*Stream)
		var few [8]access
		list := few[:0]
		for i := range c.Args {
			list = append(list, access{c.Args[i].Store, false})
		}
		for i := range c.Out {
			if st := c.Out[i].Store; st != nil {
				list = append(list, access{st, true})
			}
		}
		for _, a := range list {
			if err := s.follow(a.st, a.write); err != nil {
				return err
			}
		}
		err := r(c)
		s.used(list...)
		return err
	}
}
