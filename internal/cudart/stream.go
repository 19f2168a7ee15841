package cudart

import (
	"runtime"
	"sync"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/mapped"
)

// maxStreams is the number of streams that may be open: memory that is used on several has a bit for
// each.
const maxStreams = 64

// A Stream is a queue of a GPU.
type Stream struct {
	d      *Device
	q      Queue
	number int
	memory *pools

	mu      sync.Mutex
	issued  uint64 // pieces of work given to the driver
	done    uint64 // those that are known to be over
	up      uploader
	down    unsafe.Pointer // pinned memory of downs, nil before the first
	downAt  int            // bytes in use
	downs   []download
	watched []watched
	waited  [maxStreams]uint64 // numbers of work of other streams that work issued from now on comes after
	heard   [maxStreams]uint64 // numbers of work of other streams whose errors this stream tells too
	bad     *watch             // the first with an error since the last Sync, nil without one
	args    []byte             // of the launch under way
}

// NewStream opens a stream. Closed streams are opened again.
func (d *Device) NewStream() (device.Stream, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	l := &d.streams
	l.Lock()
	defer l.Unlock()
	if n := len(l.idle) - 1; n >= 0 {
		s := l.idle[n]
		l.idle = l.idle[:n]
		return s, nil
	}
	if len(l.all) == maxStreams {
		return nil, array.Errorf("stream", "", "%s has %d streams open, which is the most", d.name, maxStreams)
	}
	q, err := d.ctx.NewQueue(0)
	if err != nil {
		return nil, d.failed(err)
	}
	s := &Stream{d: d, q: q, number: len(l.all), memory: newPools()}
	d.memory.add(s.memory)
	l.all = append(l.all, s)
	return s, nil
}

// stream returns the stream of a number.
func (d *Device) stream(number int) *Stream {
	d.streams.Lock()
	defer d.streams.Unlock()
	return d.streams.all[number]
}

func (s *Stream) Device() device.Device { return s.d }

// Number tells the streams of a device apart, 0 being the default one. A stream that has it tells
// profiles the times of its work.
func (s *Stream) Number() int { return s.number }

// count counts a piece of work that was issued.
func (s *Stream) count() {
	s.mu.Lock()
	s.issued++
	s.mu.Unlock()
}

// Sync waits for the work issued so far and returns its error.
func (s *Stream) Sync() error {
	s.mu.Lock()
	n := s.issued
	s.mu.Unlock()
	return s.passed(n, func() error { return s.d.ctx.Sync(s.q) })
}

// passed completes the work up to number n, for which wait waits, and returns the error so far, once.
func (s *Stream) passed(n uint64, wait func() error) error {
	d := s.d
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	s.mu.Lock()
	idle := s.done >= n
	s.mu.Unlock()
	if !idle {
		if err := wait(); err != nil {
			return d.unnamed(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done < n {
		s.complete(n)
	}
	return s.tell()
}

// unnamed returns the error of a piece of work that cannot be named.
func (d *Device) unnamed(err error) error {
	err = d.failed(err)
	if e, ok := err.(*array.Error); ok && !d.each {
		e.Msg += " at work issued before (WEFT_CUDA_SYNC=1 names it)"
	}
	return err
}

// complete does what is left of work up to number n, which the GPU has done. s.mu is held.
func (s *Stream) complete(n uint64) {
	s.done = max(s.done, n)
	k := 0
	for ; k < len(s.downs) && s.downs[k].n <= n; k++ {
		copy(s.downs[k].dst, bytesAt(s.downs[k].from, len(s.downs[k].dst)))
		runtime.KeepAlive(s.downs[k].keep)
	}
	s.downs = append(s.downs[:0], s.downs[k:]...)
	clear(s.downs[len(s.downs):cap(s.downs)])
	if len(s.downs) == 0 {
		s.downAt = 0
	}
	k = 0
	for ; k < len(s.watched) && s.watched[k].n <= n; k++ {
		if w := s.watched[k].watch; w.end(s.d) != nil && s.bad == nil {
			s.bad = w
		}
	}
	s.watched = append(s.watched[:0], s.watched[k:]...)
	clear(s.watched[len(s.watched):cap(s.watched)])
	if n == s.issued {
		s.up.idle(s.d)
	}
}

// each waits for the work just issued, where WEFT_CUDA_SYNC asks for it, and names op in its error.
func (s *Stream) each(op string, late func(error) error) error {
	if !s.d.each {
		return nil
	}
	if err := s.d.ctx.Sync(s.q); err != nil {
		err = s.d.failed(err)
		if late != nil {
			err = late(err)
		}
		if e, ok := err.(*array.Error); ok && e.Op == "device" {
			e.Op = op
		}
		return err
	}
	return nil
}

// within refuses bytes outside a storage.
func within(r device.Ref, n int) error {
	if r.Offset < 0 || n > r.Store.Bytes-r.Offset {
		return array.Errorf("copy", "", "bytes %d to %d are outside of memory of %d bytes", r.Offset, r.Offset+n, r.Store.Bytes)
	}
	return nil
}

// Copy copies n bytes.
func (s *Stream) Copy(dst, src device.Ref, n int) error {
	if n <= 0 {
		return nil
	}
	if mapped.Any() {
		defer mapped.Explain()
	}
	for _, r := range [...]device.Ref{dst, src} {
		if r.Store.Use() {
			defer r.Store.Unuse()
		}
		if err := within(r, n); err != nil {
			return err
		}
	}
	to, from := dst.Store.Host(), src.Store.Host()
	var dstAt, srcAt Addr
	var err error
	if to == nil {
		if dstAt, err = s.place(dst, true); err != nil {
			return err
		}
	}
	if from == nil {
		if srcAt, err = s.place(src, false); err != nil {
			return err
		}
	}
	defer s.used(access{dst.Store, true}, access{src.Store, false})
	d := s.d
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	switch {
	case to != nil && from != nil:
		copy(bytesAt(unsafe.Add(to, dst.Offset), n), bytesAt(unsafe.Add(from, src.Offset), n))
		return nil
	case to != nil:
		err = s.fetch(bytesAt(unsafe.Add(to, dst.Offset), n), dst.Store, srcAt)
	case from != nil:
		s.mu.Lock()
		defer s.mu.Unlock()
		err = s.upload(dstAt, bytesAt(unsafe.Add(from, src.Offset), n))
	default:
		s.mu.Lock()
		defer s.mu.Unlock()
		if err = d.ctx.Copy(s.q, dstAt, srcAt, n); err == nil {
			s.issued++
		}
	}
	runtime.KeepAlive(dst.Store)
	runtime.KeepAlive(src.Store)
	if err != nil {
		return d.failed(err)
	}
	return s.each("copy", nil)
}

// Fill writes n elements with the same bits.
func (s *Stream) Fill(dst device.Ref, n int, bits uint64, size int) error {
	if n <= 0 {
		return nil
	}
	if dst.Store.Use() {
		defer dst.Store.Unuse()
	}
	if err := within(dst, n*size); err != nil {
		return err
	}
	at, err := s.place(dst, true)
	if err != nil {
		return err
	}
	defer s.used(access{dst.Store, true})
	d := s.d
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	if size == 8 && uint32(bits) == uint32(bits>>32) {
		n, size = 2*n, 4
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if size < 8 {
		if err = d.ctx.Fill(s.q, at, n, uint32(bits), size); err == nil {
			s.issued++
		}
	} else {
		err = s.fill8(at, n, bits)
	}
	runtime.KeepAlive(dst.Store)
	if err != nil {
		return d.failed(err)
	}
	return s.each("fill", nil)
}

// fill8 writes n times 8 bytes, for which the driver has no call: some of them, and copies of those
// behind themselves. s.mu is held.
func (s *Stream) fill8(at Addr, n int, bits uint64) error {
	var first [256]uint64
	for i := range first {
		first[i] = bits
	}
	have, all := min(8*len(first), 8*n), 8*n
	if err := s.upload(at, bytesAt(unsafe.Pointer(&first), have)); err != nil {
		return err
	}
	for have < all {
		k := min(have, all-have)
		if err := s.d.ctx.Copy(s.q, at+Addr(have), at, k); err != nil {
			return err
		}
		s.issued++
		have += k
	}
	return nil
}

// Close gives the stream back, to be opened again. Its memory may be used on.
func (s *Stream) Close() error {
	err := s.Sync()
	l := &s.d.streams
	l.Lock()
	defer l.Unlock()
	if s != l.all[0] {
		l.idle = append(l.idle, s)
	}
	return err
}

// close forgets work that nobody will wait for, when the device is closed.
func (s *Stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watched {
		w.forget()
	}
	s.watched, s.downs = nil, nil
}
