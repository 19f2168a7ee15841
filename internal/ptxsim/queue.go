package ptxsim

import (
	"fmt"
	"unsafe"

	cudart "weft/internal/cudart/driver"
)

// A queue holds work in the order of its issue.
type queue struct {
	number  int
	pending []*work
	clock   []uint32 // what work issued next is ordered after: by queue, works done
	issued  uint32
	closed  bool
}

// A work is a launch, a copy, a fill, a record of an event or a wait for one.
type work struct {
	id    uint32 // 0 for records and waits
	q     *queue
	clock []uint32
	name  string
	run   func(w *work)
	after *work // of a wait: what must be done before
	done  bool
	at    float64
}

// A workID is what races need to know of a work that is done.
type workID struct {
	queue, seq uint32
	name       string
}

type event struct {
	timed bool
	mark  *work // nil before the first record
}

// join makes clock as late as other.
func join(clock *[]uint32, other []uint32) {
	for len(*clock) < len(other) {
		*clock = append(*clock, 0)
	}
	for i, n := range other {
		(*clock)[i] = max((*clock)[i], n)
	}
}

// ordered reports whether a work is ordered before the one that runs.
func (c *context) ordered(id uint32) bool {
	w := c.works[id]
	return int(w.queue) < len(c.now.clock) && c.now.clock[w.queue] >= w.seq
}

func (c *context) describe(id uint32) string {
	w := c.works[id]
	return fmt.Sprintf("%s (queue %d)", w.name, w.queue+1)
}

// issue appends a work to a queue.
func (c *context) issue(q *queue, w *work) {
	join(&q.clock, c.host)
	if w.run != nil {
		q.issued++
		join(&q.clock, make([]uint32, q.number+1))
		q.clock[q.number] = q.issued
		w.id = uint32(len(c.works))
		c.works = append(c.works, workID{uint32(q.number), q.issued, w.name})
	}
	w.q = q
	w.clock = append([]uint32(nil), q.clock...)
	q.pending = append(q.pending, w)
}

// runnable reports whether the first work of a queue may run.
func (q *queue) runnable() bool {
	return len(q.pending) > 0 && (q.pending[0].after == nil || q.pending[0].after.done)
}

// runUntil runs work, of q first of all, until done holds or the context is lost.
func (c *context) runUntil(q *queue, done func() bool) {
	for !done() && c.lost == nil {
		next := q
		if c.rnd.IntN(2) == 0 {
			next = c.lines[c.rnd.IntN(len(c.lines))]
		}
		for len(next.pending) > 0 && !next.runnable() {
			next = next.pending[0].after.q
		}
		if len(next.pending) > 0 {
			c.runFirst(next)
		}
	}
}

// runFirst runs the first work of a queue.
func (c *context) runFirst(q *queue) {
	w := q.pending[0]
	q.pending = q.pending[1:]
	if q.closed && len(q.pending) == 0 {
		q.pending = nil
	}
	c.now = w
	defer func() {
		c.now = nil
		if r := recover(); r != nil {
			f, ok := r.(*Fault)
			if !ok {
				panic(r)
			}
			c.report(f)
		}
	}()
	if w.run != nil {
		c.clock++
		w.run(w)
	}
	w.done, w.at = true, c.clock
}

// report loses the context by a fault.
func (c *context) report(f *Fault) {
	c.d.mu.Lock()
	c.d.faults = append(c.d.faults, *f)
	c.d.mu.Unlock()
	c.lost = &cudart.DriverError{Call: f.Work, Code: f.Code, Text: f.Error()}
}

// fault is panicked with where a work makes a mistake.
func (c *context) fault(a uint64, format string, args ...any) *Fault {
	return &Fault{Work: c.now.name, Addr: cudart.Addr(a), Reason: fmt.Sprintf(format, args...), Code: cudart.CodeFault}
}

// queueCall takes the lock for a call about a queue.
func (c *context) queueCall(call string, h cudart.Queue) (*queue, error) {
	if err := c.call(call); err != nil {
		return nil, err
	}
	q := c.queues[h]
	if q == nil {
		return nil, driverError(call, codeInvalidHandle, "invalid resource handle")
	}
	return q, nil
}

func (c *context) NewQueue(priority int) (cudart.Queue, error) {
	err := c.call("cuStreamCreateWithPriority")
	defer c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	q := &queue{number: len(c.lines)}
	c.lines = append(c.lines, q)
	h := cudart.Queue(c.handle())
	c.queues[h] = q
	return h, nil
}

// CloseQueue drops a queue. What was issued to it runs all the same.
func (c *context) CloseQueue(h cudart.Queue) error {
	q, err := c.queueCall("cuStreamDestroy_v2", h)
	defer c.mu.Unlock()
	if err == nil {
		delete(c.queues, h)
		q.closed = true
	}
	return err
}

func (c *context) Sync(h cudart.Queue) error {
	const call = "cuStreamSynchronize"
	q, err := c.queueCall(call, h)
	defer c.mu.Unlock()
	if err != nil {
		return err
	}
	return c.drain(call, q)
}

// drain runs all that was issued to a queue.
func (c *context) drain(call string, q *queue) error {
	c.runUntil(q, func() bool { return len(q.pending) == 0 })
	if c.lost != nil {
		return c.lostBy(call)
	}
	join(&c.host, q.clock)
	return nil
}

func (c *context) NewEvent(timed bool) (cudart.Event, error) {
	err := c.call("cuEventCreate")
	defer c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	h := cudart.Event(c.handle())
	c.events[h] = &event{timed: timed}
	return h, nil
}

// eventCall takes the lock for a call about an event.
func (c *context) eventCall(call string, h cudart.Event) (*event, error) {
	if err := c.call(call); err != nil {
		return nil, err
	}
	e := c.events[h]
	if e == nil {
		return nil, driverError(call, codeInvalidHandle, "invalid resource handle")
	}
	return e, nil
}

func (c *context) CloseEvent(h cudart.Event) error {
	_, err := c.eventCall("cuEventDestroy_v2", h)
	defer c.mu.Unlock()
	if err == nil {
		delete(c.events, h)
	}
	return err
}

func (c *context) Record(h cudart.Event, qh cudart.Queue) error {
	const call = "cuEventRecord"
	e, err := c.eventCall(call, h)
	defer c.mu.Unlock()
	if err != nil {
		return err
	}
	q := c.queues[qh]
	if q == nil {
		return driverError(call, codeInvalidHandle, "invalid resource handle")
	}
	e.mark = &work{name: call}
	c.issue(q, e.mark)
	return nil
}

func (c *context) Wait(qh cudart.Queue, h cudart.Event) error {
	const call = "cuStreamWaitEvent"
	e, err := c.eventCall(call, h)
	defer c.mu.Unlock()
	if err != nil {
		return err
	}
	q := c.queues[qh]
	if q == nil {
		return driverError(call, codeInvalidHandle, "invalid resource handle")
	}
	if e.mark != nil {
		c.issue(q, &work{name: call, after: e.mark})
		join(&q.clock, e.mark.clock)
	}
	return nil
}

// Done reports whether the work before an event is done. Each call may run a work, so that a program
// that asks again and again gets there.
func (c *context) Done(h cudart.Event) (bool, error) {
	const call = "cuEventQuery"
	e, err := c.eventCall(call, h)
	defer c.mu.Unlock()
	if err != nil {
		return false, err
	}
	if e.mark == nil {
		return true, nil
	}
	if !e.mark.done {
		once := false
		c.runUntil(e.mark.q, func() bool { was := once; once = true; return was })
	}
	if c.lost != nil {
		return false, c.lostBy(call)
	}
	if e.mark.done {
		join(&c.host, e.mark.clock)
	}
	return e.mark.done, nil
}

func (c *context) SyncEvent(h cudart.Event) error {
	const call = "cuEventSynchronize"
	e, err := c.eventCall(call, h)
	defer c.mu.Unlock()
	if err != nil || e.mark == nil {
		return err
	}
	c.runUntil(e.mark.q, func() bool { return e.mark.done })
	if c.lost != nil {
		return c.lostBy(call)
	}
	join(&c.host, e.mark.clock)
	return nil
}

// Elapsed returns a time that counts works, not seconds.
func (c *context) Elapsed(a, b cudart.Event) (float32, error) {
	const call = "cuEventElapsedTime"
	x, err := c.eventCall(call, a)
	defer c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	y := c.events[b]
	if y == nil || !x.timed || !y.timed || x.mark == nil || y.mark == nil {
		return 0, driverError(call, codeInvalidHandle, "invalid resource handle")
	}
	if !x.mark.done || !y.mark.done {
		return 0, driverError(call, codeNotReady, "device not ready")
	}
	return float32(y.mark.at-x.mark.at) / 1000, nil
}

// pinnedAt returns whether the n bytes at p are pinned memory.
func (c *context) pinnedAt(p unsafe.Pointer, n int) bool {
	r := c.findPinned(uint64(uintptr(p)))
	return r != nil && uint64(uintptr(p))-r.base+uint64(n) <= uint64(r.size)
}

func (c *context) findPinned(a uint64) *region {
	for _, r := range c.pinned {
		if a >= r.base && a-r.base < uint64(r.size) {
			return r
		}
	}
	return nil
}

// copyCall begins a copy between the GPU and the host's memory at p, and returns the queue, nil if
// there is nothing to do. It takes c's lock.
func (c *context) copyCall(call string, h cudart.Queue, p unsafe.Pointer, bytes int) (*queue, error) {
	q, err := c.queueCall(call, h)
	switch {
	case err != nil || bytes == 0:
		return nil, err
	case bytes < 0 || p == nil:
		return nil, driverError(call, cudart.CodeInvalid, "invalid argument")
	}
	return q, nil
}

func (c *context) CopyIn(h cudart.Queue, dst cudart.Addr, src unsafe.Pointer, bytes int) error {
	const call = "cuMemcpyHtoDAsync_v2"
	q, err := c.copyCall(call, h, src, bytes)
	defer c.mu.Unlock()
	if q == nil {
		return err
	}
	w := &work{name: call}
	if c.pinnedAt(src, bytes) {
		from := uint64(uintptr(src))
		w.run = func(w *work) { c.copyRange(w, uint64(dst), from, bytes) }
	} else {
		data := append([]byte(nil), unsafe.Slice((*byte)(src), bytes)...)
		w.run = func(w *work) {
			n := 0
			c.each(w, uint64(dst), bytes, true, func(p *page, o, k int) {
				n += copy(p.data[o:o+k], data[n:])
				p.markRange(o, k)
			})
		}
	}
	c.issue(q, w)
	return nil
}

func (c *context) CopyOut(h cudart.Queue, dst unsafe.Pointer, src cudart.Addr, bytes int) error {
	const call = "cuMemcpyDtoHAsync_v2"
	q, err := c.copyCall(call, h, dst, bytes)
	defer c.mu.Unlock()
	if q == nil {
		return err
	}
	w := &work{name: call}
	if c.pinnedAt(dst, bytes) {
		to := uint64(uintptr(dst))
		w.run = func(w *work) { c.copyRange(w, to, uint64(src), bytes) }
		c.issue(q, w)
		return nil
	}
	out := unsafe.Slice((*byte)(dst), bytes)
	w.run = func(w *work) {
		n := 0
		c.each(w, uint64(src), bytes, false, func(p *page, o, k int) { n += copy(out[n:], p.data[o:o+k]) })
	}
	c.issue(q, w)
	return c.drain(call, q)
}

func (c *context) Copy(h cudart.Queue, dst, src cudart.Addr, bytes int) error {
	const call = "cuMemcpyDtoDAsync_v2"
	q, err := c.queueCall(call, h)
	defer c.mu.Unlock()
	if err != nil || bytes == 0 {
		return err
	}
	if bytes < 0 {
		return driverError(call, cudart.CodeInvalid, "invalid argument")
	}
	c.issue(q, &work{name: call, run: func(w *work) { c.copyRange(w, uint64(dst), uint64(src), bytes) }})
	return nil
}

func (c *context) Fill(h cudart.Queue, dst cudart.Addr, n int, bits uint32, size int) error {
	call := map[int]string{1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}[size]
	if call == "" {
		return driverError("cuMemsetD8Async", cudart.CodeInvalid, "elements of %d bytes", size)
	}
	q, err := c.queueCall(call, h)
	defer c.mu.Unlock()
	if err != nil || n == 0 {
		return err
	}
	if n < 0 || uint64(dst)%uint64(size) != 0 {
		return driverError(call, cudart.CodeInvalid, "invalid argument")
	}
	c.issue(q, &work{name: call, run: func(w *work) {
		c.each(w, uint64(dst), n*size, true, func(p *page, o, k int) {
			for i := o; i < o+k; i += size {
				store(p.data, i, size, uint64(bits))
			}
			p.markRange(o, k)
		})
	}})
	return nil
}
