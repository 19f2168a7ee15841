package mem

import (
	"fmt"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"weft/internal/profile"
)

// Pool hands out blocks. It is safe for concurrent use. The one of the package functions has the
// host's memory. A device with memory of its own makes another one.
type Pool struct {
	live     atomic.Int64 // bytes handed out, in whole blocks
	_        [120]byte    // live changes with every call, what follows hardly ever
	peak     atomic.Int64
	reserved atomic.Int64 // bytes mapped
	ceiling  atomic.Int64 // reserved bytes above which a freed block is not kept
	keep     atomic.Int64 // bytes that may be held free
	trigger  atomic.Int64 // live bytes that start a collection
	lowered  atomic.Int64 // live bytes below which the trigger comes down
	heap     atomic.Int64 // bytes of the Go heap after the last collection
	need     atomic.Int64 // the most live bytes since the last tick, and half as much of those before
	clock    atomic.Int64 // mappings made so far: the time by which lists are old

	dropped     atomic.Int64 // bytes known to be garbage since the last collection
	collecting  atomic.Bool
	quick       atomic.Bool // the Go heap is small: who passes the trigger collects
	armed       atomic.Bool // the trim timer runs
	collections atomic.Int64
	failed      atomic.Int64
	owner       atomic.Int32 // the number of the device whose memory it is, plus 1; 0: none

	known    atomic.Pointer[known]
	trimming sync.Mutex
	classes  [classes]class
	system   system
}

// system is where a pool gets memory, limits and time; tests replace it.
type system struct {
	alloc    func(size uintptr) (unsafe.Pointer, error)
	free     func(mem unsafe.Pointer, size uintptr)
	limits   func() limits
	other    func() int64 // bytes the rest of the process holds
	collect  func()
	heap     func() int64  // bytes of the Go heap in use
	percent  func() int64  // GOGC
	interval time.Duration // between trims
	floor    int64         // the least headroom between collections
}

// known is what the limits were when last read.
type known struct {
	limits
	at time.Time
}

// boundAge is how long limits are believed. Reading them takes some ten file
// operations.
const boundAge = 5 * time.Second

// trimInterval is the time between trims. It is longer than most training steps,
// which free what their next round needs: mapping it anew costs 0.1 to 0.7 s/GiB.
const trimInterval = 5 * time.Second

// class is the free lists of one size. Large blocks have one list. Small ones have
// several; a goroutine prefers one.
type class struct {
	lists []list
	one   [1]list
}

type list struct {
	mu     sync.Mutex
	free   []spare // the last is handed out first
	used   int64   // the pool's clock when a block was last asked for here
	hits   int64
	misses int64
	_      [56]byte // keeps two locks off one cache line
}

var std = NewPool()

// Default returns the pool of the package functions. It belongs to the host's device, also where
// others use it: scratch memory of workers, elements read from files, copies on their way to
// another device.
func Default() *Pool { return std }

// Attach says whose memory the pool hands out: profiles record it under the number of that device.
// It panics if the pool belongs to another device.
func (p *Pool) Attach(device uint8) {
	if n := int32(device) + 1; !p.owner.CompareAndSwap(0, n) && p.owner.Load() != n {
		panic(fmt.Sprintf("mem: Attach: the memory of device %d is given to device %d", p.owner.Load()-1, device))
	}
}

// report tells a recorder that live bytes are in use.
func (p *Pool) report(r *profile.Recorder, live int64) {
	if owner := p.owner.Load(); owner > 0 {
		r.Memory(uint8(owner-1), live, p.reserved.Load())
	}
}

// Alloc returns a block of n bytes with arbitrary content from the default pool.
func Alloc(n int) (Block, error) { return std.Alloc(n) }

// AllocZeroed returns a block of n zero bytes from the default pool.
func AllocZeroed(n int) (Block, error) { return std.AllocZeroed(n) }

// CheckHeap is [Pool.CheckHeap] of the default pool.
func CheckHeap(n int) error { return std.CheckHeap(n) }

// Free returns a block to the pool it is from.
func Free(b Block) { b.release() }

// mapped is how many bytes the pools of the process have from the system, which share its limits.
var mapped atomic.Int64

// NewPool returns an empty pool.
func NewPool() *Pool {
	p := newPool(system{
		alloc: func(size uintptr) (unsafe.Pointer, error) {
			at, err := osMap(size)
			if err == nil {
				mapped.Add(int64(size))
			}
			return at, err
		},
		free: func(at unsafe.Pointer, size uintptr) {
			osUnmap(at, size)
			mapped.Add(-int64(size))
		},
		limits: systemLimits, collect: collect, heap: goHeap, percent: gcPercent, interval: trimInterval,
		floor: headroomMin,
	})
	p.system.other = func() int64 { return goMemory() + max(mapped.Load()-p.reserved.Load(), 0) }
	return p
}

// Of each class there are four lists to a processor: goroutines find theirs by chance, and
// two that meet on one wait for each other. Beyond 16 processors more would only keep
// more unused blocks apart.
const (
	listsPerProc = 4
	maxListProcs = 16
)

func newPool(s system) *Pool {
	p := &Pool{system: s}
	p.trigger.Store(s.floor)
	p.quick.Store(s.heap() <= quickHeap)
	shards := listsPerProc << bits.Len(uint(min(runtime.GOMAXPROCS(0), maxListProcs)-1))
	for c := range p.classes {
		if k := &p.classes[c]; classSize(c) <= ownMap {
			k.lists = make([]list, shards)
		} else {
			k.lists = k.one[:]
		}
	}
	return p
}

// Alloc returns a block of n bytes with arbitrary content. It fails with an
// [*Error] when there is no memory, and panics if n is negative.
func (p *Pool) Alloc(n int) (Block, error) {
	b, _, err := p.alloc(n)
	return b, err
}

// AllocZeroed is [Pool.Alloc] with the n bytes zero. Bytes between Len and Cap
// are arbitrary.
func (p *Pool) AllocZeroed(n int) (Block, error) {
	b, fresh, err := p.alloc(n)
	if err == nil && !fresh {
		clear(b.Bytes())
	}
	return b, err
}

func (p *Pool) alloc(n int) (b Block, fresh bool, err error) {
	if n < 0 {
		panic(fmt.Sprintf("mem: Alloc: negative size %d", n))
	}
	c := classOf(n)
	if c >= classes {
		p.failed.Add(1)
		return Block{}, false, &Error{Size: n, Live: p.live.Load(), Limit: int64(classSize(classes - 1))}
	}
	p.collectFor(int64(classSize(c)))
	s, ok := p.take(c)
	if !ok {
		if s, err = p.grow(c, n); err != nil {
			p.failed.Add(1)
			return Block{}, false, err
		}
	}
	b, fresh = s.use(n)
	live := p.live.Add(int64(s.r.block))
	raise(&p.peak, live)
	raise(&p.need, live)
	if r := profile.On(); r != nil {
		p.report(r, live)
	}
	return b, fresh, nil
}

// raise makes at least x of what v holds.
func raise(v *atomic.Int64, x int64) {
	for old := v.Load(); x > old && !v.CompareAndSwap(old, x); old = v.Load() {
	}
}

// collectFor collects before a block is handed out that would pass the trigger, so
// that what is found can serve for it.
func (p *Pool) collectFor(block int64) {
	live, trigger := p.live.Load()+block, p.trigger.Load()
	switch {
	case live <= trigger:
	case p.collecting.CompareAndSwap(false, true):
		if before := p.allocated(); p.quick.Load() {
			p.pace(before)
		} else {
			go p.pace(before)
		}
	case live > backlogFrom(trigger):
		p.backlog(live)
	}
}

// Dropped says that blocks of that many bytes have become garbage. It collects when the sum since the last
// collection is the least headroom and a quarter of what is in use: who drops memory in order to use less
// cannot wait for the trigger, which lets what is in use double.
func (p *Pool) Dropped(bytes int64) {
	if sum := p.dropped.Add(bytes); sum < max(p.system.floor, p.live.Load()/4) || !p.collecting.CompareAndSwap(false, true) {
		return
	}
	if before := p.allocated(); p.quick.Load() {
		p.pace(before)
	} else {
		go p.pace(before)
	}
}

// home picks a list by the address of the stack, which differs between
// goroutines and mostly stays with one.
func (k *class) home() int {
	var here byte
	h := uint64(uintptr(unsafe.Pointer(&here))>>11) * 0x9E3779B97F4A7C15
	return int(h>>40) & (len(k.lists) - 1)
}

// take pops a free block of class c.
func (p *Pool) take(c int) (s spare, ok bool) {
	k, now := &p.classes[c], p.clock.Load()
	home := k.home()
	for i := range k.lists {
		l := &k.lists[(home+i)&(len(k.lists)-1)]
		l.mu.Lock()
		l.used = now
		if n := len(l.free) - 1; n >= 0 {
			s = l.free[n]
			l.free[n] = spare{}
			l.free = l.free[:n]
			l.hits++
			l.mu.Unlock()
			return s, true
		}
		if i == len(k.lists)-1 {
			l.misses++
		}
		l.mu.Unlock()
	}
	return spare{}, false
}

// Free returns b to the pool it is from. It panics if b was freed before or is the zero
// Block.
func (p *Pool) Free(b Block) { b.release() }

func (b Block) release() {
	if b.r == nil {
		panic("mem: Free of a zero Block")
	}
	if !b.retire() {
		panic("mem: Free of a Block that was freed before")
	}
	p := b.r.pool
	size := int64(b.r.block)
	live := p.live.Add(-size)
	if live < p.lowered.Load() {
		p.lower(live)
	}
	if r := profile.On(); r != nil {
		p.report(r, live)
	}
	if len(b.r.gens) == 1 {
		if reserved := p.reserved.Load(); reserved > p.ceiling.Load() || reserved-live > p.keep.Load() {
			p.unmap(b.r)
			return
		}
	}
	k := &p.classes[b.r.class]
	l := &k.lists[k.home()]
	l.mu.Lock()
	l.free = append(l.free, spare{b.r, b.index})
	l.mu.Unlock()
	p.arm()
}

// mapUnit is what mappings are made of: the granularity of Windows, and a multiple of
// every page size.
const mapUnit = 64 << 10

// grow maps memory for class c, keeps what is not asked for, and returns a block.
func (p *Pool) grow(c, n int) (spare, error) {
	block := classSize(c)
	count := blocksPerMap(block)
	size := (uintptr(block)*uintptr(count) + mapUnit - 1) &^ (mapUnit - 1)
	var start time.Time
	recorder, owner := profile.On(), p.owner.Load()
	if recorder != nil && owner > 0 {
		start = time.Now()
	}
	mem, err := p.obtain(size)
	if err != nil {
		// The last resort: all that is kept, and all that is garbage.
		p.Trim()
		if int64(size) < p.limits().hard {
			p.collectAndSettle()
			if s, ok := p.take(c); ok {
				return s, nil
			}
			p.Trim()
			mem, err = p.obtain(size)
		}
	}
	if err != nil {
		err.Size = n
		return spare{}, err
	}
	p.reserved.Add(int64(size))
	if !start.IsZero() {
		recorder.Mapped(uint8(owner-1), start, int64(size))
	}
	r := &region{pool: p, mem: mem, size: size, class: c, block: block, gens: make([]atomic.Uint32, count), leases: make([]*Lease, count)}
	if count > 1 {
		k := &p.classes[c]
		l := &k.lists[k.home()]
		l.mu.Lock()
		for i := count - 1; i > 0; i-- {
			l.free = append(l.free, spare{r, uint32(i)})
		}
		l.mu.Unlock()
		p.arm()
	}
	return spare{r, 0}, nil
}

// obtain asks the system for memory, within the limits.
func (p *Pool) obtain(size uintptr) (unsafe.Pointer, *Error) {
	l, other := p.limits(), p.system.other()
	p.budget(l, other)
	p.clock.Add(1)
	most := min(p.ceiling.Load(), max(p.bound(), p.live.Load()+int64(size)))
	if over := p.reserved.Load() + int64(size) - most; over > 0 {
		p.trim(over)
	}
	if p.live.Load()+other+int64(size) > l.soft {
		p.awaitCollection()
	}
	if live := p.live.Load(); l.hard < noLimit && live+other+int64(size) > l.hard {
		return nil, &Error{Live: live, Limit: l.hard}
	}
	mem, err := p.system.alloc(size)
	if err != nil {
		return nil, &Error{Live: p.live.Load(), Err: err}
	}
	return mem, nil
}

// CheckHeap returns an [*Error] if n more bytes on the Go heap would exceed the process's memory
// limit. Go ends a process that runs out of memory. Allocations whose size comes from users
// therefore call CheckHeap first.
func (p *Pool) CheckHeap(n int) error {
	if n < checkHeapMin {
		return nil
	}
	over := func() bool {
		l := p.limits()
		return l.hard < noLimit && p.live.Load()+p.system.other() > l.hard-int64(n)
	}
	if !over() {
		return nil
	}
	if int64(n) < p.limits().hard {
		p.collectAndSettle()
		p.Trim()
		if !over() {
			return nil
		}
	}
	p.failed.Add(1)
	return &Error{Size: n, Live: p.live.Load(), Limit: p.limits().hard}
}

// checkHeapMin is the least number of bytes that CheckHeap checks: less never matters.
const checkHeapMin = 1 << 20

// unmap returns a mapping whose blocks are all free.
func (p *Pool) unmap(r *region) {
	r.gone.Store(true)
	r.leases = nil
	p.system.free(r.mem, r.size)
	p.reserved.Add(-int64(r.size))
}

// limits returns the limits as they were at most boundAge ago.
func (p *Pool) limits() limits {
	k := p.known.Load()
	if k == nil || time.Since(k.at) > boundAge {
		k = &known{p.system.limits(), time.Now()}
		p.known.Store(k)
	}
	return k.limits
}

// budget sets how much may be mapped while anything is held free, which is nine
// tenths of the limit less the rest of the process, and how much may be held free,
// which is half of the limit.
func (p *Pool) budget(l limits, other int64) {
	p.ceiling.Store(l.soft/10*9 - other)
	p.keep.Store(l.soft / 2)
}

// Stats are the figures of a [Pool], or of another allocator that a device has. Sizes are in bytes.
type Stats struct {
	Live        int64 // handed out, in whole blocks
	Peak        int64 // the most that Live has been
	Reserved    int64 // mapped: Live, what is kept free, and rounding to pages
	Hits        int64 // allocations served from what was kept
	Misses      int64 // allocations that needed a mapping
	Failed      int64 // allocations that failed
	Collections int64 // garbage collections started
}

// Stats returns the counts so far.
func (p *Pool) Stats() Stats {
	s := Stats{
		Live: p.live.Load(), Peak: p.peak.Load(), Reserved: p.reserved.Load(),
		Failed: p.failed.Load(), Collections: p.collections.Load(),
	}
	for c := range p.classes {
		for i := range p.classes[c].lists {
			l := &p.classes[c].lists[i]
			l.mu.Lock()
			s.Hits += l.hits
			s.Misses += l.misses
			l.mu.Unlock()
		}
	}
	return s
}
