package cudart

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid"
	"weft/internal/loop"
)

// LaunchAll issues the launches one after the other.
func (s *Stream) LaunchAll(ls []device.Launch) error {
	for i := range ls {
		if err := s.Launch(ls[i]); err != nil {
			return err
		}
	}
	return nil
}

// CallAll calls the routines one after the other.
func (s *Stream) CallAll(rs []device.Routine, calls []*device.Call) error {
	for i, r := range rs {
		if err := r(calls[i]); err != nil {
			return err
		}
	}
	return nil
}

// Launch issues a launch. The memory of its arguments stays until then: whoever launches is inside a
// use of it.
func (s *Stream) Launch(l device.Launch) error {
	d := s.d
	p, ok := l.Program.(*Program)
	if !ok || p.d != d {
		return d.errorf(nil, "a program of another device was launched on %s", d.name)
	}
	var at [loop.MaxBufs]uint64
	for i := range p.p.Bufs {
		a, err := s.address(l.Args.Bufs[i])
		if err != nil {
			return err
		}
		at[i] = uint64(a)
	}
	addrs := at[:len(p.p.Bufs)]
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	if axis := p.p.Ragged(); axis >= 0 {
		if err := s.checkOffsets(&l, axis, Addr(at[p.p.Axes[axis].Offsets-1])); err != nil {
			return err
		}
	}
	v, blocks := grid.Choose(p.p, &l.Args.Frame, addrs, d.info.Units)
	if blocks == 0 {
		return nil
	}
	k, err := d.programs.get(p, v)
	if err != nil {
		return err
	}
	err = s.issue(&l, p, k, blocks, addrs)
	runtime.KeepAlive(l.Args)
	return err
}

// issue gives a launch to the driver.
func (s *Stream) issue(l *device.Launch, p *Program, k *kernel, blocks int, addrs []uint64) error {
	d := s.d
	var c *cancel
	if p.fuel && l.Context != nil && l.Context.Done() != nil {
		var err error
		if c, err = d.newCancel(l.Context); err != nil {
			return d.failed(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.args = grid.AppendArgs(s.args[:0], p.p, &l.Args.Frame, addrs, c.address())
	if err := s.start(p.p.Name, k, blocks, s.args); err != nil {
		c.end(d)
		return err
	}
	d.counters.Native.Add(1)
	if c != nil {
		c.n, c.late = s.issued, l.Late
		s.cancels = append(s.cancels, c)
	}
	return s.each(p.p.Name, l.Late)
}

// start gives a kernel to the driver. The caller holds s.mu.
func (s *Stream) start(op string, k *kernel, blocks int, args []byte) error {
	d := s.d
	if err := d.ctx.Launch(s.q, k.fn, blocks, k.threads, k.shared, args); err != nil {
		if refused(err) {
			return &array.Error{Kind: array.DeviceFailed, Op: op, Msg: fmt.Sprintf("%s refused the launch of %d blocks of %d threads", d.name, blocks, k.threads), Err: err}
		}
		return d.failed(err)
	}
	s.issued++
	return nil
}

// checkOffsets reads the offsets of a ragged axis and refuses those that descend or lie outside.
func (s *Stream) checkOffsets(l *device.Launch, axis int, at Addr) error {
	off := make([]int64, l.Extents[0]+1)
	if err := s.fetchNow(bytesAt(unsafe.Pointer(&off[0]), 8*len(off)), at); err != nil {
		return s.d.failed(err)
	}
	if err := device.CheckOffsets(l.Op, off, 0, l.Extents[axis]); err != nil {
		return err
	}
	if l.Ends != nil {
		*l.Ends = [2]int{int(off[0]), int(off[len(off)-1])}
	}
	return nil
}

// A cancel is a word of pinned memory that a kernel with loops reads: it ends early where that is
// not 0.
type cancel struct {
	ctx  context.Context
	word *uint32
	n    uint64 // number of the work
	late func(error) error
	halt func() bool // of the context

	mu   sync.Mutex
	over bool
}

// cancelStep is the distance of two words: a line of the cache, so that launches share none.
const cancelStep = 64

// newCancel returns a word that is set when a context ends.
func (d *Device) newCancel(ctx context.Context) (*cancel, error) {
	w, err := d.words.take(&d.pinned)
	if err != nil {
		return nil, err
	}
	c := &cancel{ctx: ctx, word: w}
	c.halt = context.AfterFunc(ctx, c.set)
	return c, nil
}

func (c *cancel) set() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		atomic.StoreUint32(c.word, 1)
	}
}

// address is the word's, 0 without one.
func (c *cancel) address() uint64 {
	if c == nil {
		return 0
	}
	return uint64(uintptr(unsafe.Pointer(c.word)))
}

// stop ends the use of the word, and reports whether it was set.
func (c *cancel) stop() bool {
	c.halt()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	return atomic.LoadUint32(c.word) != 0
}

// end takes the word back when the kernel is done, and returns the error of a context that ended it.
func (c *cancel) end(d *Device) error {
	if c == nil {
		return nil
	}
	set := c.stop()
	d.words.put(c.word)
	switch {
	case !set:
		return nil
	case c.late != nil:
		return c.late(c.ctx.Err())
	}
	return c.ctx.Err()
}

// words are those that kernels read while they run.
type words struct {
	mu   sync.Mutex
	free []*uint32
}

func (l *words) take(p *pinned) (*uint32, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.free) == 0 {
		b, err := p.take()
		if err != nil {
			return nil, err
		}
		for at := 0; at < pinnedBytes; at += cancelStep {
			l.free = append(l.free, (*uint32)(unsafe.Add(b, at)))
		}
	}
	n := len(l.free) - 1
	w := l.free[n]
	l.free = l.free[:n]
	atomic.StoreUint32(w, 0)
	return w, nil
}

func (l *words) put(w *uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, w)
}
