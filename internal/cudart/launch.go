package cudart

import (
	"fmt"
	"runtime"
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
		a, err := s.place(l.Args.Bufs[i], p.p.Bufs[i].Write)
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
	v, blocks := p.ways.Choose(&l.Args.Frame, addrs, d.info.Units)
	if blocks == 0 {
		return nil
	}
	k, err := d.programs.get(p, v)
	if err != nil {
		return err
	}
	err = s.issue(&l, p, k, blocks, addrs)
	var list [loop.MaxBufs]access
	for i := range addrs {
		list[i] = access{l.Args.Bufs[i].Store, p.p.Bufs[i].Write}
	}
	s.used(list[:len(addrs)]...)
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
	if c != nil {
		c.late = l.Late
		s.watchLine(c)
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
	d.counters.Native.Add(1)
	return nil
}

// checkOffsets reads the offsets of a ragged axis and refuses those that descend or lie outside.
func (s *Stream) checkOffsets(l *device.Launch, axis int, at Addr) error {
	off, err := s.offsets(l.Op, at, l.Extents[0], l.Extents[axis])
	if err == nil && l.Ends != nil {
		*l.Ends = [2]int{int(off[0]), int(off[len(off)-1])}
	}
	return err
}

// offsets returns the offsets of a number of items. It waits for them, and refuses those that descend
// or lie outside of the rows.
func (s *Stream) offsets(op string, at Addr, items, rows int) ([]int64, error) {
	off := make([]int64, items+1)
	if err := s.fetchNow(bytesAt(unsafe.Pointer(&off[0]), 8*len(off)), at); err != nil {
		return nil, s.d.failed(err)
	}
	return off, device.CheckOffsets(op, off, 0, rows)
}
