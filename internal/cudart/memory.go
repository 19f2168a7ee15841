package cudart

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"weft/internal/mem"
	"weft/internal/profile"
)

// Sizes of PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp): cuMemAlloc takes 35 to
// 105 us and cuMemFree waits for the GPU, so memory is taken from the driver in segments, and kept.
const (
	minBlock     = 512      // sizes are multiples of it
	smallMax     = 1 << 20  // the largest block of small segments
	smallSegment = 2 << 20  // bytes of a small segment
	largeMin     = 10 << 20 // the least block that has a segment of its own
	largeSegment = 20 << 20 // bytes of a segment for blocks between these two
	roundSegment = 2 << 20  // segments of one block are multiples of it
)

// roundBlock returns the size of a block for a number of bytes.
func roundBlock(bytes int) int { return max((bytes+minBlock-1)&^(minBlock-1), minBlock) }

// segmentSize returns the size of a new segment for a block.
func segmentSize(block int) int {
	switch {
	case block <= smallMax:
		return smallSegment
	case block < largeMin:
		return largeSegment
	}
	return (block + roundSegment - 1) &^ (roundSegment - 1)
}

// MemoryStats are the figures of a GPU's allocator. Sizes are in bytes. Live, Peak and Reserved
// count whole blocks and whole segments; a miss is a segment that the driver was asked for.
type MemoryStats struct {
	mem.Stats
	Requested    int64 // asked for by what is live: Live without rounding
	Active       int64 // Live, and freed memory that another stream may still use
	PeakActive   int64
	PeakReserved int64
	Segments     int64 // that the driver gave
	Allocations  int64 // so far
	Frees        int64 // so far
	Retries      int64 // allocations that the driver refused until memory was given back
}

// A block is a part of a segment. All its fields are guarded by the allocator's lock, except addr,
// which never changes.
type block struct {
	addr       Addr
	size       int
	asked      int // bytes, while it is taken
	pool       *pool
	prev, next *block // neighbours in the segment
	free       bool
}

// whole reports that the block is its segment.
func (b *block) whole() bool { return b.prev == nil && b.next == nil }

// A pool has the free blocks of a queue and size class. Work of one queue runs in order, so a block
// that is free may be taken at once, though earlier work still uses it.
type pool struct {
	small bool
	free  []*block // by size, then by address
}

func byRoom(x, y *block) int {
	return cmp.Or(cmp.Compare(x.size, y.size), cmp.Compare(x.addr, y.addr))
}

// fit removes the smallest free block of at least size bytes; nil if there is none.
func (p *pool) fit(size int) *block {
	i, _ := slices.BinarySearchFunc(p.free, &block{size: size}, byRoom)
	if i == len(p.free) {
		return nil
	}
	b := p.free[i]
	p.free = slices.Delete(p.free, i, i+1)
	b.free = false
	return b
}

func (p *pool) add(b *block) {
	i, _ := slices.BinarySearchFunc(p.free, b, byRoom)
	p.free = slices.Insert(p.free, i, b)
	b.free = true
}

func (p *pool) remove(b *block) {
	i, _ := slices.BinarySearchFunc(p.free, b, byRoom)
	p.free = slices.Delete(p.free, i, i+1)
	b.free = false
}

// pools belong to one queue.
type pools struct{ small, large pool }

func newPools() *pools { return &pools{small: pool{small: true}} }

func (p *pools) of(size int) *pool {
	if size <= smallMax {
		return &p.small
	}
	return &p.large
}

// An allocator has the memory of a GPU.
type allocator struct {
	alloc func(bytes int) (Addr, error)
	close func(Addr) error
	// quiet waits for all work, before memory goes back to the driver.
	quiet func() error
	// settle collects dead tensors and waits for what gives their memory back.
	settle func()
	floor  int64 // the least growth of live bytes between two collections

	mu       sync.Mutex
	segments map[Addr]struct{}
	pools    []*pools
	waiting  []waiting
	trigger  int64 // live bytes from which a new segment is preceded by a collection
	settling bool
	settled  sync.Cond // settling ended
	stats    MemoryStats
	owner    int // the number of the device plus 1; 0 before Attach
}

// waiting is freed memory that other queues may use until events have passed.
type waiting struct {
	b      *block
	events []Event
}

// raise keeps a peak.
func raise(peak *int64, n int64) { *peak = max(*peak, n) }

// take returns a block of at least the given bytes. The error is the driver's, also when there is no
// memory after dead tensors were collected.
func (a *allocator) take(of *pools, bytes int, events *events) (*block, error) {
	size := roundBlock(bytes)
	p := of.of(size)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.reap(events, false); err != nil {
		return nil, err
	}
	b := p.fit(size)
	if b == nil {
		var err error
		if b, err = a.grow(p, size, events); err != nil {
			return nil, err
		}
	} else {
		a.stats.Hits++
	}
	a.split(b, size)
	b.asked = bytes
	s := &a.stats
	s.Allocations++
	s.Live += int64(b.size)
	s.Active += int64(b.size)
	s.Requested += int64(bytes)
	raise(&s.Peak, s.Live)
	raise(&s.PeakActive, s.Active)
	a.report()
	return b, nil
}

// split cuts what is left of a block off, if it is worth it.
func (a *allocator) split(b *block, size int) {
	least := smallMax + 1
	if b.pool.small {
		least = minBlock
	}
	if b.size-size < least {
		return
	}
	rest := &block{addr: b.addr + Addr(size), size: b.size - size, pool: b.pool, prev: b, next: b.next}
	if rest.next != nil {
		rest.next.prev = rest
	}
	b.next, b.size = rest, size
	b.pool.add(rest)
}

// grow returns a block of a new segment, or one that became free meanwhile. a.mu is held, and
// released while dead tensors are collected.
func (a *allocator) grow(p *pool, size int, events *events) (*block, error) {
	if a.trigger == 0 {
		a.trigger = a.floor
	}
	if a.stats.Live+int64(size) > a.trigger && !a.settling {
		a.collect()
		if b := p.fit(size); b != nil {
			a.stats.Hits++
			return b, nil
		}
	}
	b, err := a.segment(p, size)
	if !outOfMemory(err) {
		return b, err
	}
	a.stats.Retries++
	// What is kept goes back; then what dead tensors have.
	if err := a.giveBack(events); err != nil {
		return nil, err
	}
	if b, err = a.segment(p, size); !outOfMemory(err) {
		return b, err
	}
	a.collect()
	if b := p.fit(size); b != nil {
		a.stats.Hits++
		return b, nil
	}
	if err := a.giveBack(events); err != nil {
		return nil, err
	}
	if b, err = a.segment(p, size); outOfMemory(err) {
		a.stats.Failed++
	}
	return b, err
}

// Attach tells the number of the device, under which profiles record the memory. It panics if the
// allocator has another number.
func (a *allocator) Attach(number uint8) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := int(number) + 1; a.owner != 0 && a.owner != n {
		panic(fmt.Sprintf("cudart: Attach: the memory of device %d is given to device %d", a.owner-1, number))
	}
	a.owner = int(number) + 1
}

// report tells a profile how much memory is in use. a.mu is held.
func (a *allocator) report() {
	if r := profile.On(); r != nil && a.owner > 0 {
		r.Memory(uint8(a.owner-1), a.stats.Live, a.stats.Reserved)
	}
}

// segment asks the driver for a segment, as one block.
func (a *allocator) segment(p *pool, size int) (*block, error) {
	n := segmentSize(size)
	start := time.Now()
	at, err := a.alloc(n)
	if err != nil {
		return nil, err
	}
	if r := profile.On(); r != nil && a.owner > 0 {
		r.Mapped(uint8(a.owner-1), start, int64(n))
	}
	s := &a.stats
	s.Misses++
	s.Segments++
	a.segments[at] = struct{}{}
	s.Reserved += int64(n)
	raise(&s.PeakReserved, s.Reserved)
	return &block{addr: at, size: n, pool: p}, nil
}

// collect collects dead tensors, or waits for who does. a.mu is held, and released meanwhile.
func (a *allocator) collect() {
	if a.settling {
		for a.settling {
			a.settled.Wait()
		}
		return
	}
	a.settling = true
	a.stats.Collections++
	a.mu.Unlock()
	a.settle()
	a.mu.Lock()
	a.settling = false
	a.trigger = a.stats.Live + max(a.stats.Live, a.floor)
	a.settled.Broadcast()
}

// put takes a block back. Memory that other queues use is free when their events have passed.
func (a *allocator) put(b *block, others []Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.stats
	s.Frees++
	s.Live -= int64(b.size)
	s.Requested -= int64(b.asked)
	a.report()
	if len(others) > 0 {
		a.waiting = append(a.waiting, waiting{b, others})
		return
	}
	a.release(b)
}

// release makes a block free and merges it with free neighbours. a.mu is held.
func (a *allocator) release(b *block) {
	a.stats.Active -= int64(b.size)
	p := b.pool
	if l := b.prev; l != nil && l.free {
		p.remove(l)
		l.size += b.size
		l.next = b.next
		b = l
	}
	if r := b.next; r != nil && r.free {
		p.remove(r)
		b.size += r.size
		b.next = r.next
	}
	if b.next != nil {
		b.next.prev = b
	}
	p.add(b)
}

// reap frees blocks whose events have passed, or waits for all of them. a.mu is held.
func (a *allocator) reap(events *events, wait bool) error {
	for i := 0; i < len(a.waiting); {
		w := &a.waiting[i]
		for len(w.events) > 0 {
			done, err := true, error(nil)
			if wait {
				err = events.ctx.SyncEvent(w.events[0])
			} else {
				done, err = events.ctx.Done(w.events[0])
			}
			if err != nil {
				return err
			}
			if !done {
				break
			}
			events.put(w.events[0])
			w.events = w.events[1:]
		}
		if len(w.events) > 0 {
			i++
			continue
		}
		b := w.b
		a.waiting = slices.Delete(a.waiting, i, i+1)
		a.release(b)
	}
	return nil
}

// giveBack returns free segments to the driver. a.mu is held.
func (a *allocator) giveBack(events *events) error {
	if err := a.quiet(); err != nil {
		return err
	}
	if err := a.reap(events, true); err != nil {
		return err
	}
	for _, ps := range a.pools {
		for _, p := range []*pool{&ps.small, &ps.large} {
			var err error
			p.free = slices.DeleteFunc(p.free, func(b *block) bool {
				if err != nil || !b.whole() {
					return false
				}
				if err = a.close(b.addr); err != nil {
					return false
				}
				delete(a.segments, b.addr)
				a.stats.Segments--
				a.stats.Reserved -= int64(b.size)
				return true
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// add makes the pools of a new queue known.
func (a *allocator) add(p *pools) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pools = append(a.pools, p)
}

// Stats returns the figures that every device has.
func (a *allocator) Stats() mem.Stats { return a.figures().Stats }

// figures returns the figures so far.
func (a *allocator) figures() MemoryStats {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stats
}

// drop returns all segments to the driver, in use or not.
func (a *allocator) drop() (err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for at := range a.segments {
		if e := a.close(at); e != nil {
			err = e
		}
	}
	a.pools, a.waiting, a.segments = nil, nil, nil
	a.stats.Live, a.stats.Active, a.stats.Reserved, a.stats.Requested, a.stats.Segments = 0, 0, 0, 0, 0
	return err
}
