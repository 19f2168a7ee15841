package cudart

import (
	"runtime"
	"sync"

	"weft/internal/device"
)

// events are the events of a device.
type events struct {
	ctx  Context
	mu   sync.Mutex
	all  []Event
	free []Event // nobody uses them: to be recorded again
}

// take returns an event.
func (l *events) take() (Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free) - 1; n >= 0 {
		e := l.free[n]
		l.free = l.free[:n]
		return e, nil
	}
	e, err := l.ctx.NewEvent(false)
	if err == nil {
		l.all = append(l.all, e)
	}
	return e, err
}

// record returns an event behind the work of a queue.
func (l *events) record(q Queue) (Event, error) {
	e, err := l.take()
	if err != nil {
		return 0, err
	}
	if err := l.ctx.Record(e, q); err != nil {
		l.put(e)
		return 0, err
	}
	return e, nil
}

// put takes an event back that nobody waits for any more.
func (l *events) put(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, e)
}

// close destroys all events, in use or not.
func (l *events) close() (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.all {
		if e := l.ctx.CloseEvent(e); e != nil {
			err = e
		}
	}
	l.all, l.free = nil, nil
	return err
}

// An event is a point in the work of a stream.
type event struct {
	s   *Stream
	e   Event
	n   uint64 // number of the last work before it
	err error  // why there is no e
}

// Record returns the point behind the work issued so far.
func (s *Stream) Record() device.Event {
	e := &event{s: s}
	if e.err = s.d.enter(); e.err != nil {
		return e
	}
	defer s.d.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	e.n = s.issued
	x, err := s.d.events.record(s.q)
	if err != nil {
		e.err = s.d.failed(err)
		return e
	}
	e.e = x
	runtime.AddCleanup(e, s.d.events.put, x)
	return e
}

// Done reports whether the stream has passed the event.
func (e *event) Done() (bool, error) {
	if e.err != nil {
		return false, e.err
	}
	d := e.s.d
	if err := d.enter(); err != nil {
		return false, err
	}
	defer d.leave()
	defer runtime.KeepAlive(e)
	done, err := d.ctx.Done(e.e)
	return done, d.failed(err)
}

// Sync waits until the stream has passed the event and returns the error of the work before.
func (e *event) Sync() error {
	if e.err != nil {
		return e.err
	}
	defer runtime.KeepAlive(e)
	return e.s.passed(e.n, func() error { return e.s.d.ctx.SyncEvent(e.e) })
}

// Wait makes the work issued from now on wait for an event. One of another device is waited for at
// once.
func (s *Stream) Wait(x device.Event) error {
	e, ok := x.(*event)
	if !ok || e.s.d != s.d {
		return x.Sync()
	}
	if e.err != nil {
		return e.err
	}
	if err := s.d.enter(); err != nil {
		return err
	}
	defer s.d.leave()
	if e.s == s {
		return nil
	}
	defer runtime.KeepAlive(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.d.ctx.Wait(s.q, e.e); err != nil {
		return s.d.failed(err)
	}
	s.issued++
	return nil
}
