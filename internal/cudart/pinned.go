package cudart

import (
	"slices"
	"sync"
	"unsafe"
)

// pinnedBytes is the size of a pinned buffer. A copy of it takes 20 us at 50 GB/s, to issue one 3 us.
const pinnedBytes = 1 << 20

// pinned are buffers of the host that copies of the GPU reach at full speed: pageable memory goes
// through them, at 7 to 13 GB/s without.
type pinned struct {
	ctx  Context
	mu   sync.Mutex
	all  []unsafe.Pointer
	free []unsafe.Pointer
}

// take returns a buffer.
func (p *pinned) take() (unsafe.Pointer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free) - 1; n >= 0 {
		b := p.free[n]
		p.free = p.free[:n]
		return b, nil
	}
	b, err := p.ctx.AllocPinned(pinnedBytes)
	if err != nil {
		return nil, err
	}
	p.all = append(p.all, b)
	return b, nil
}

// put takes buffers back that no work uses.
func (p *pinned) put(b ...unsafe.Pointer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, b...)
}

// close gives the buffers back to the driver, in use or not.
func (p *pinned) close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.all {
		if e := p.ctx.FreePinned(b); e != nil {
			err = e
		}
	}
	p.all, p.free = nil, nil
	return err
}

// bytesAt returns n bytes of the host's memory.
func bytesAt(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// An uploader passes bytes on to a GPU through pinned buffers. Its stream's lock guards it.
type uploader struct {
	buf   unsafe.Pointer // the one that is being filled, nil if there is none
	at    int
	spent []spent // full ones, in the order of their copies
}

// spent is a buffer whose copies are done when an event has passed.
type spent struct {
	buf unsafe.Pointer
	e   Event
}

// uploadAhead is the number of full buffers whose copies an upload lets wait.
const uploadAhead = 4

// room returns pinned memory for up to n bytes.
func (s *Stream) room(n int) (unsafe.Pointer, int, error) {
	d, u := s.d, &s.up
	if u.buf != nil && u.at == pinnedBytes {
		e, err := d.events.record(s.q)
		if err != nil {
			return nil, 0, err
		}
		u.spent = append(u.spent, spent{u.buf, e})
		u.buf = nil
	}
	if u.buf == nil {
		if len(u.spent) > 0 {
			first := u.spent[0]
			done, err := d.ctx.Done(first.e)
			if err == nil && !done && len(u.spent) >= uploadAhead {
				done, err = true, d.ctx.SyncEvent(first.e)
			}
			if err != nil {
				return nil, 0, err
			}
			if done {
				d.events.put(first.e)
				u.spent = slices.Delete(u.spent, 0, 1)
				u.buf = first.buf
			}
		}
		if u.buf == nil {
			b, err := d.pinned.take()
			if err != nil {
				return nil, 0, err
			}
			u.buf = b
		}
		u.at = 0
	}
	n = min(n, pinnedBytes-u.at)
	p := unsafe.Add(u.buf, u.at)
	u.at = min((u.at+n+15)&^15, pinnedBytes)
	return p, n, nil
}

// idle takes the buffers of an uploader back, whose stream has done its work. One stays.
func (u *uploader) idle(d *Device) {
	u.at = 0
	for _, x := range u.spent {
		d.events.put(x.e)
		d.pinned.put(x.buf)
	}
	u.spent = u.spent[:0]
}

// upload issues a copy of the host's memory, which it has read when it returns. The stream's lock is
// held.
func (s *Stream) upload(dst Addr, src []byte) error {
	for len(src) > 0 {
		p, k, err := s.room(len(src))
		if err != nil {
			return err
		}
		copy(bytesAt(p, k), src)
		if err := s.d.ctx.CopyIn(s.q, dst, p, k); err != nil {
			return err
		}
		s.issued++
		dst, src = dst+Addr(k), src[k:]
	}
	return nil
}

// download is what is copied from pinned memory to the host when the work before is done.
type download struct {
	dst  []byte
	keep any // the storage that dst lies in
	from unsafe.Pointer
	n    uint64 // number of the work
}

// lateDownload is the largest copy to the host that is left to the next Sync.
const lateDownload = 64 << 10

// fetch copies n bytes to the host: now, or by the next Sync where they are few.
func (s *Stream) fetch(dst []byte, keep any, src Addr) error {
	if len(dst) > lateDownload {
		return s.fetchNow(dst, src)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down == nil {
		b, err := s.d.pinned.take()
		if err != nil {
			return err
		}
		s.down = b
	}
	if s.downAt+len(dst) > pinnedBytes {
		if err := s.d.ctx.Sync(s.q); err != nil {
			return err
		}
		s.complete(s.issued)
	}
	p := unsafe.Add(s.down, s.downAt)
	if err := s.d.ctx.CopyOut(s.q, p, src, len(dst)); err != nil {
		return err
	}
	s.issued++
	s.downAt += (len(dst) + 15) &^ 15
	s.downs = append(s.downs, download{dst, keep, p, s.issued})
	return nil
}

// fetchNow copies to the host and waits for it: one buffer is copied on while the next is filled.
func (s *Stream) fetchNow(dst []byte, src Addr) (err error) {
	d := s.d
	var bufs [2]unsafe.Pointer
	var filled [2]Event
	var sizes [2]int
	defer func() {
		if err != nil {
			return // copies may still write into the buffers: they stay until the device is closed
		}
		for i, b := range bufs {
			if b != nil {
				d.pinned.put(b)
				d.events.put(filled[i])
			}
		}
	}()
	out := dst
	for i := 0; len(dst) > 0 || sizes != [2]int{}; i++ {
		k := i & 1
		if sizes[k] > 0 {
			if err := d.ctx.SyncEvent(filled[k]); err != nil {
				return err
			}
			out = out[copy(out, bytesAt(bufs[k], sizes[k])):]
			sizes[k] = 0
		}
		if len(dst) == 0 {
			continue
		}
		if bufs[k] == nil {
			if filled[k], err = d.events.take(false); err != nil {
				return err
			}
			if bufs[k], err = d.pinned.take(); err != nil {
				return err
			}
		}
		n := min(len(dst), pinnedBytes)
		if err := d.ctx.CopyOut(s.q, bufs[k], src, n); err != nil {
			return err
		}
		if err := d.ctx.Record(filled[k], s.q); err != nil {
			return err
		}
		s.count()
		sizes[k], dst, src = n, dst[n:], src+Addr(n)
	}
	return nil
}
