// Package deferred is a device for tests: it runs the work of another device late, on another
// goroutine, and its memory is out of the host's reach, as on a GPU. Code that passes its tests
// on this device waits where it must and copies where it must.
package deferred

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/profile"
)

// A Device runs work late, on an inner device. Memory and counters of that are its own.
type Device struct {
	inner  device.Device
	host   device.Device
	stream stream
}

// New returns a device that runs its work on inner and has the routines of inner, except those
// that call functions of the user: they belong to the goroutine that asked. They run on host, which
// also has the memory that copies pass through. Requires: the host reaches the memory of both, and
// nothing else uses these two devices.
func New(inner, host device.Device) *Device {
	d := &Device{inner: inner, host: host}
	d.stream.d, d.stream.inner = d, inner.Default()
	d.stream.changed.L = &d.stream.mu
	return d
}

func (d *Device) Name() string               { return "deferred " + d.inner.Name() }
func (d *Device) Number() uint8              { return d.inner.Number() }
func (d *Device) Default() device.Stream     { return &d.stream }
func (d *Device) Model() *device.Model       { return d.inner.Model() }
func (d *Device) Fallback() device.Device    { return d.host }
func (d *Device) Memory() device.Memory      { return d.inner.Memory() }
func (d *Device) Counters() *device.Counters { return d.inner.Counters() }

// NewStream returns the one stream.
func (d *Device) NewStream() (device.Stream, error) { return &d.stream, nil }

func (d *Device) Sync() error { return d.stream.Sync() }

// ISA returns the instruction set of the inner device, a CPU.
func (d *Device) ISA() jit.ISA { return d.inner.(interface{ ISA() jit.ISA }).ISA() }

// Attach also tells the number to the host's device: elements that it holds stand for the device's.
func (d *Device) Attach(number uint8) {
	d.inner.Attach(number)
	d.host.Attach(number)
}

func (d *Device) Compile(p *loop.Program) (device.Program, error) { return d.inner.Compile(p) }

// Routine returns the inner device's routine, issued to the stream of the call.
func (d *Device) Routine(id ir.RoutineID) device.Routine {
	r := d.inner.Routine(id)
	if r == nil || id == ir.RoutineHost {
		return nil
	}
	return func(c *device.Call) error {
		s := c.Stream.(*stream)
		call := &device.Call{Stream: s.inner, Node: c.Node, Args: slices.Clone(c.Args), Out: slices.Clone(c.Out), Epilogue: c.Epilogue}
		for _, views := range [...][]array.View{call.Args, call.Out} {
			for i := range views {
				if views[i].Store == nil {
					continue
				}
				st, err := s.backing(views[i].Store)
				if err != nil {
					return err
				}
				views[i].Store = st
			}
		}
		if c.Epilogue.Program != nil {
			l, err := s.bound(&c.Epilogue.Launch)
			if err != nil {
				return err
			}
			call.Epilogue.Launch = l
		}
		s.issue(c.Late, func() error { return r(call) })
		return nil
	}
}

// mostWaiting is the number of pieces of work, and mostFreed the bytes given back, after which
// the stream begins without being waited for.
const (
	mostWaiting = 256
	mostFreed   = 64 << 20
)

// A stream is a queue that begins to run when somebody waits for it.
type stream struct {
	d     *Device
	inner device.Stream

	mu      sync.Mutex
	changed sync.Cond // done or running
	todo    []work
	issued  int
	done    int
	freed   int // bytes that go back when the work before is done
	running bool
	err     error // the first since the last Sync
}

// work is one piece of work, and what completes its error.
type work struct {
	run  func() error
	late func(error) error
}

// A block is the memory of a storage: out of the host's reach, in a storage of the inner device.
type block struct {
	s  *stream
	st *array.Storage
}

// Return gives the memory back after the work issued so far.
func (b *block) Return() {
	b.s.issue(nil, func() error {
		b.s.inner.Free(b.st)
		return nil
	})
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	if b.s.freed += b.st.Bytes; b.s.freed > mostFreed {
		b.s.begin()
	}
}

func (s *stream) Device() device.Device { return s.d }

func (s *stream) Alloc(bytes int) *array.Storage {
	st := array.NewStorage(nil, bytes, &block{s, s.inner.Alloc(bytes)})
	st.Device = s.d.Number()
	return st
}

func (s *stream) Free(st *array.Storage) { st.Release() }

// backing returns the memory of a storage of the device. Work is bound to that at issue: what
// the storage is given later, such as by [array.Storage.Settle], does not concern it.
func (s *stream) backing(st *array.Storage) (*array.Storage, error) {
	st.Ready()
	if b, ok := st.Owner().(*block); ok {
		return b.st, nil
	}
	if st.Bytes == 0 {
		return st, nil
	}
	if st.Released() {
		return nil, array.Errorf("", "", "the memory was released, or its scope closed")
	}
	return nil, &array.Error{Kind: array.DeviceFailed, Op: "device", Msg: fmt.Sprintf("work on %s was given %d bytes of other memory", s.d.Name(), st.Bytes)}
}

// bound returns a launch whose arguments are its own, on the memory behind the storages.
func (s *stream) bound(l *device.Launch) (device.Launch, error) {
	own := *l
	own.Extents = slices.Clone(l.Extents)
	own.Args = device.NewArgs()
	own.Args.Word = l.Args.Word
	for i := range l.Program.Loop().Bufs {
		st, err := s.backing(l.Args.Bufs[i].Store)
		if err != nil {
			return own, err
		}
		own.Args.Bufs[i] = device.Ref{Store: st, Offset: l.Args.Bufs[i].Offset}
	}
	return own, nil
}

func (s *stream) Launch(l device.Launch) error {
	own, err := s.bound(&l)
	if err != nil {
		return err
	}
	s.issue(l.Late, func() error {
		defer own.Args.Free(len(own.Program.Loop().Bufs))
		return s.inner.Launch(own)
	})
	return nil
}

func (s *stream) LaunchAll(ls []device.Launch) error {
	for _, l := range ls {
		if err := s.Launch(l); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) CallAll(rs []device.Routine, calls []*device.Call) error {
	for i, r := range rs {
		if err := r(calls[i]); err != nil {
			return err
		}
	}
	return nil
}

// Copy copies later. What the host's memory holds is read now.
func (s *stream) Copy(dst, src device.Ref, n int) error {
	if n <= 0 {
		return nil
	}
	var err error
	if src.Store.Host() != nil {
		held := s.d.host.Default().Alloc(n)
		if err := s.inner.Copy(device.Ref{Store: held}, src, n); err != nil {
			return err
		}
		src = device.Ref{Store: held}
	} else if src.Store, err = s.backing(src.Store); err != nil {
		return err
	}
	if dst.Store.Host() == nil {
		if dst.Store, err = s.backing(dst.Store); err != nil {
			return err
		}
	}
	s.issue(nil, func() error { return s.inner.Copy(dst, src, n) })
	return nil
}

func (s *stream) Fill(dst device.Ref, n int, bits uint64, size int) error {
	if n <= 0 {
		return nil
	}
	st, err := s.backing(dst.Store)
	if err != nil {
		return err
	}
	s.issue(nil, func() error { return s.inner.Fill(device.Ref{Store: st, Offset: dst.Offset}, n, bits, size) })
	return nil
}

// issue appends a piece of work.
func (s *stream) issue(late func(error) error, run func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.todo = append(s.todo, work{run, late})
	if s.issued++; len(s.todo) > mostWaiting {
		s.begin()
	}
}

// begin starts a goroutine that runs what was issued. s.mu is held.
func (s *stream) begin() {
	s.freed = 0
	if !s.running {
		s.running = true
		go s.drain()
	}
}

// drain runs work until there is none.
func (s *stream) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.todo) > 0 {
		w := s.todo[0]
		s.todo[0] = work{}
		s.todo = s.todo[1:]
		s.mu.Unlock()
		err := s.run(w)
		if err != nil && w.late != nil {
			err = w.late(err)
		}
		s.mu.Lock()
		if s.done++; err != nil && s.err == nil {
			s.err = err
		}
		s.changed.Broadcast()
	}
	s.todo = nil
	s.running = false
	s.changed.Broadcast()
}

// run does a piece of work. A profile sees what workers do for it as the device's.
func (s *stream) run(w work) error {
	if r := profile.On(); r != nil {
		defer r.Begin(s.d.Number(), "", 0).End()
	}
	return guarded(w.run)
}

// guarded returns what f panics with as an error.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*array.Error)
			if !ok {
				e = &array.Error{Kind: array.DeviceFailed, Op: "device", Msg: fmt.Sprintf("work panicked: %v\n%s", r, debug.Stack())}
			}
			err = e
		}
	}()
	return f()
}

// wait returns when n pieces of work are done.
func (s *stream) wait(n int) {
	for s.done < n {
		s.begin()
		s.changed.Wait()
	}
}

func (s *stream) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passed(s.issued)
}

// passed waits for n pieces of work and returns the error so far, once. s.mu is held.
func (s *stream) passed(n int) error {
	s.wait(n)
	err := s.err
	s.err = nil
	return err
}

// Close waits for the work. The stream stays.
func (s *stream) Close() error { return s.Sync() }

// An event is a number of pieces of work.
type event struct {
	s  *stream
	n  int
	at *time.Time // when the last of them was done, if that is wanted
}

func (s *stream) Record(timed bool) device.Event {
	var at *time.Time
	if timed {
		at = new(time.Time)
		s.issue(nil, func() error { *at = time.Now(); return nil })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return event{s, s.issued, at}
}

// Done waits: what is late for no reason but the test is done then.
func (e event) Done() (bool, error) { return true, e.Sync() }

func (e event) Since(start device.Event) (time.Duration, error) {
	from := start.(event)
	if err := errors.Join(from.Sync(), e.Sync()); err != nil {
		return 0, err
	}
	return e.at.Sub(*from.at), nil
}

func (e event) Sync() error {
	e.s.mu.Lock()
	defer e.s.mu.Unlock()
	return e.s.passed(e.n)
}

func (s *stream) Wait(e device.Event) error {
	if own, ok := e.(event); ok && own.s == s {
		return nil
	}
	s.issue(nil, e.Sync)
	return nil
}
