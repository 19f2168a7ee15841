package cudart

import (
	"cmp"
	"math"
	"runtime"
	"sync"
	"time"

	"weft/internal/device"
)

// events are the events of a device.
type events struct {
	ctx  Context
	mu   sync.Mutex
	all  []Event
	free [2][]Event // nobody uses them: to be recorded again; those with times are the second
}

// take returns an event.
func (l *events) take(timed bool) (Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := l.list(timed)
	if n := len(*free) - 1; n >= 0 {
		e := (*free)[n]
		*free = (*free)[:n]
		return e, nil
	}
	e, err := l.ctx.NewEvent(timed)
	if err == nil {
		l.all = append(l.all, e)
	}
	return e, err
}

// list is where free events with times are, or those without.
func (l *events) list(timed bool) *[]Event {
	if timed {
		return &l.free[1]
	}
	return &l.free[0]
}

// record returns an event without a time behind the work of a queue.
func (l *events) record(q Queue) (Event, error) { return l.recordTimed(q, false) }

func (l *events) recordTimed(q Queue, timed bool) (Event, error) {
	e, err := l.take(timed)
	if err != nil {
		return 0, err
	}
	if err := l.ctx.Record(e, q); err != nil {
		l.giveBack(e, timed)
		return 0, err
	}
	return e, nil
}

// put takes an event without a time back that nobody waits for any more.
func (l *events) put(e Event) { l.giveBack(e, false) }

func (l *events) putTimed(e Event) { l.giveBack(e, true) }

func (l *events) giveBack(e Event, timed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := l.list(timed)
	*free = append(*free, e)
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
	l.all, l.free = nil, [2][]Event{}
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
func (s *Stream) Record(timed bool) device.Event {
	e := &event{s: s}
	if e.err = s.d.enter(); e.err != nil {
		return e
	}
	defer s.d.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	e.n = s.issued
	x, err := s.d.events.recordTimed(s.q, timed)
	if err != nil {
		e.err = s.d.failed(err)
		return e
	}
	e.e = x
	if timed {
		runtime.AddCleanup(e, s.d.events.putTimed, x)
	} else {
		runtime.AddCleanup(e, s.d.events.put, x)
	}
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

// Since returns the time from an event to this one. Errors of work before them stay for Sync.
func (e *event) Since(start device.Event) (time.Duration, error) {
	from := start.(*event)
	if err := cmp.Or(from.err, e.err); err != nil {
		return 0, err
	}
	d := e.s.d
	if err := d.enter(); err != nil {
		return 0, err
	}
	defer d.leave()
	defer runtime.KeepAlive(e)
	defer runtime.KeepAlive(from)
	for _, x := range []*event{from, e} {
		if err := d.ctx.SyncEvent(x.e); err != nil {
			return 0, d.failed(err)
		}
	}
	ms, err := d.ctx.Elapsed(from.e, e.e)
	return time.Duration(math.Round(float64(ms) * 1e6)), d.failed(err)
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
	s.waited[e.s.number] = max(s.waited[e.s.number], e.n)
	return nil
}
