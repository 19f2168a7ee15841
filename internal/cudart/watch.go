package cudart

import (
	"context"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/device"
	"weft/internal/grid"
)

// A line is pinned memory that a kernel shares with the host: a line of the cache, so that launches
// share none.
type line [lineBytes / 8]uint64

const lineBytes = 64

func (l *line) address() uint64 { return uint64(uintptr(unsafe.Pointer(l))) }

// A kernelLine is a line in use by a kernel.
type kernelLine interface {
	// end takes the line back when the kernel is done, and returns the error that it tells.
	end(d *Device) error
	// forget ends the use of the line by the host, where nobody will wait for the kernel.
	forget()
}

// A watch ends the use of a line when its kernel is done. The kernel's stream has it, and so have the
// streams whose work may use what the kernel wrote: each of them tells the error.
type watch struct {
	mu      sync.Mutex
	line    kernelLine // nil when its use ended
	err     error      // that the line told
	streams uint64     // that have the watch, a bit for each number
}

// end ends the use of the line, for the first stream that has passed the kernel, and returns the
// error that it told.
func (w *watch) end(d *Device) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.line != nil {
		w.err = w.line.end(d)
		w.line = nil
	}
	return w.err
}

func (w *watch) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.line != nil {
		w.line.forget()
		w.line = nil
	}
}

// join reports whether a stream is to have the watch that has not had it.
func (w *watch) join(stream int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	had := w.streams&(1<<stream) != 0
	w.streams |= 1 << stream
	return !had && (w.line != nil || w.err != nil)
}

// watched is a watch with the number of the work after which it ends.
type watched struct {
	n uint64
	*watch
}

// watchLine ends the use of a line behind the work issued so far. s.mu is held.
func (s *Stream) watchLine(l kernelLine) {
	s.watched = append(s.watched, watched{s.issued, &watch{line: l, streams: 1 << s.number}})
}

// hear makes s tell the errors of work up to number n of stream number x, whose results its next work
// reads. Requires: s waited for that work.
func (s *Stream) hear(x int, n uint64) error {
	if x == s.number {
		return nil
	}
	s.mu.Lock()
	heard := s.heard[x] >= n
	s.mu.Unlock()
	if heard {
		return nil
	}
	if err := s.d.enter(); err != nil {
		return err
	}
	defer s.d.leave()
	of := s.d.stream(x)
	for _, l := range [...]*Stream{s.d.stream(min(x, s.number)), s.d.stream(max(x, s.number))} {
		l.mu.Lock()
		defer l.mu.Unlock()
	}
	s.heard[x] = max(s.heard[x], n)
	if w := of.bad; w != nil && w.join(s.number) {
		s.watched = append(s.watched, watched{s.issued, w})
	}
	for i := range of.watched {
		if w := &of.watched[i]; w.n <= n && w.join(s.number) {
			s.watched = append(s.watched, watched{s.issued, w.watch})
		}
	}
	return s.limitWatched()
}

// limitWatched waits for the work issued so far if too many watches wait for it. s.mu is held.
func (s *Stream) limitWatched() error {
	if len(s.watched) < mostWatched {
		return nil
	}
	if s.done < s.issued {
		if err := s.d.ctx.Sync(s.q); err != nil {
			return s.d.unnamed(err)
		}
	}
	s.complete(s.issued)
	return nil
}

// A cancel is a line whose first 4 bytes a kernel with loops reads: it ends early where they are not 0.
type cancel struct {
	ctx  context.Context
	line *line
	late func(error) error
	halt func() bool // of the context

	mu   sync.Mutex
	over bool
}

// newCancel returns a line that is set when a context ends.
func (d *Device) newCancel(ctx context.Context) (*cancel, error) {
	l, err := d.lines.take(&d.pinned)
	if err != nil {
		return nil, err
	}
	c := &cancel{ctx: ctx, line: l}
	atomic.StoreUint32(c.word(), 0)
	c.halt = context.AfterFunc(ctx, c.set)
	return c, nil
}

func (c *cancel) word() *uint32 { return (*uint32)(unsafe.Pointer(c.line)) }

func (c *cancel) set() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		atomic.StoreUint32(c.word(), 1)
	}
}

// address is the line's, 0 without one.
func (c *cancel) address() uint64 {
	if c == nil {
		return 0
	}
	return c.line.address()
}

// stop ends the use of the line, and reports whether it was set.
func (c *cancel) stop() bool {
	c.halt()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	return atomic.LoadUint32(c.word()) != 0
}

func (c *cancel) forget() { c.stop() }

// end returns the error of a context that ended the kernel.
func (c *cancel) end(d *Device) error {
	if c == nil {
		return nil
	}
	set := c.stop()
	d.lines.put(c.line)
	switch {
	case !set:
		return nil
	case c.late != nil:
		return c.late(c.ctx.Err())
	}
	return c.ctx.Err()
}

// A report is a line in which the kernels of a routine note the first number that they refuse.
type report struct {
	line   *line
	refuse func(number int64, position int) error
	late   func(error) error
}

// mostWatched is the number of watches from which a routine waits for the work before it, so that
// they do not pile up where nobody waits. Tests lower it.
var mostWatched = 4096

// reporting calls issue, which starts kernels that note by [grid.Builder.Report], at the address that
// it gets, what they refuse. The call that waits for them returns the error that refuse makes of the
// number at the lowest position, where the CPU's routine fails at once. Later work goes on.
func (s *Stream) reporting(c *device.Call, refuse func(number int64, position int) error, issue func(at uint64) error) error {
	r, err := s.d.newReport(c.Late, refuse)
	if err != nil {
		return err
	}
	err = issue(r.line.address())
	if e := s.watch(r); err == nil {
		err = e
	}
	return err
}

func (d *Device) newReport(late func(error) error, refuse func(number int64, position int) error) (*report, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	l, err := d.lines.take(&d.pinned)
	if err != nil {
		return nil, d.failed(err)
	}
	r := &report{l, refuse, late}
	r.noted().Clear()
	return r, nil
}

// watch ends the use of l behind the work issued so far. That counts as a piece of work, so that a
// stream that heard what came before hears this too.
func (s *Stream) watch(l kernelLine) error {
	d := s.d
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := s.done == s.issued
	s.issued++
	s.watchLine(l)
	if !idle && !d.each {
		return s.limitWatched()
	}
	if !idle {
		if err := d.ctx.Sync(s.q); err != nil {
			return d.unnamed(err)
		}
	}
	s.complete(s.issued)
	if !d.each {
		return nil // the next Sync tells
	}
	return s.tell()
}

// tell returns the first error since the last wait, once. s.mu is held.
func (s *Stream) tell() error {
	w := s.bad
	s.bad = nil
	if w == nil {
		return nil
	}
	return w.end(s.d)
}

func (r *report) noted() *grid.Report { return (*grid.Report)(r.line[:]) }

// end returns the error of a number that was refused.
func (r *report) end(d *Device) error {
	number, position, ok := r.noted().Refused()
	d.lines.put(r.line)
	if !ok {
		return nil
	}
	err := r.refuse(number, position)
	if r.late != nil {
		err = r.late(err)
	}
	return err
}

func (r *report) forget() {}

// lines are the lines of a device that no kernel uses.
type lines struct {
	mu   sync.Mutex
	free []*line
}

// take returns a line, which holds anything.
func (l *lines) take(p *pinned) (*line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.free) == 0 {
		b, err := p.take()
		if err != nil {
			return nil, err
		}
		for at := 0; at < pinnedBytes; at += lineBytes {
			l.free = append(l.free, (*line)(unsafe.Add(b, at)))
		}
	}
	n := len(l.free) - 1
	x := l.free[n]
	l.free = l.free[:n]
	return x, nil
}

func (l *lines) put(x *line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, x)
}
