package mem

import (
	"runtime"
	"runtime/metrics"
	"time"
)

const (
	// headroomMin is the least number of bytes that may be handed out between two
	// collections. A collection of a small Go heap takes 40 to 140 us.
	headroomMin = 16 << 20

	// quickHeap is the Go heap up to which an allocation that passes the trigger
	// collects itself instead of asking for a collection in the background.
	quickHeap = 16 << 20

	// backlogMin is the least number of bytes that may be handed out while a collection
	// in the background runs.
	backlogMin = 16 << 20
)

// pace runs one collection and sets the next trigger from what it left. before is the number of
// bytes handed out when it was decided to collect. Blocks handed out since do not count as left:
// they may be garbage already. Counting them would let a program that allocates fast push the
// trigger away.
func (p *Pool) pace(before int64) {
	p.dropped.Store(0)
	p.collectAndSettle()
	heap := p.system.heap()
	p.quick.Store(heap <= quickHeap)
	p.heap.Store(heap)
	p.aim(max(p.live.Load()-(p.allocated()-before), 0))
	p.collecting.Store(false)
}

// aim sets the trigger for left bytes in use.
func (p *Pool) aim(left int64) {
	p.trigger.Store(nextTrigger(left, p.headroom(left, p.heap.Load()), p.limits().soft))
	if left /= 2; left < p.system.floor {
		left = 0
	}
	p.lowered.Store(left)
}

// lower reduces the trigger after Release gave back half of the bytes in use. Otherwise a program
// that once used much memory would accumulate that much garbage. A collection under way sets it by
// itself.
func (p *Pool) lower(live int64) {
	if p.collecting.CompareAndSwap(false, true) {
		p.aim(live)
		p.collecting.Store(false)
	}
}

// headroom returns the bytes that may be handed out before the next collection, with left bytes in
// use here and heap bytes in the Go heap. It is GOGC percent of both, as in the Go runtime, but at
// least the floor.
func (p *Pool) headroom(left, heap int64) int64 {
	return max(p.system.floor, p.system.percent()*(left+heap)/100)
}

// nextTrigger returns the live bytes at which to collect next. Four fifths of the
// limit is the latest point, with a sixteenth of the limit to spare so that a
// program that really needs its memory does not collect all the time.
func nextTrigger(left, room, limit int64) int64 {
	next := left + room
	if latest := limit / 5 * 4; next > latest {
		next = max(latest, left+limit/16)
	}
	return next
}

// allocated returns the bytes handed out so far.
func (p *Pool) allocated() int64 {
	n := int64(0)
	for c := range p.classes {
		for i := range p.classes[c].lists {
			l := &p.classes[c].lists[i]
			l.mu.Lock()
			n += (l.hits + l.misses) * int64(classSize(c))
			l.mu.Unlock()
		}
	}
	return n
}

// Bounds on waiting for other goroutines. All of them guard against waiting for oneself:
// the caller may hold something that a cleanup needs.
const (
	// A collection waits for the cleanups that it queued. First it yields, so that this processor
	// runs cleanups too; then it sleeps, 2 ms in all.
	cleanupTries  = 430
	cleanupYields = 400
	cleanupPause  = 50 * time.Microsecond
	// An allocation that the system refused waits 200 ms for a collection under way.
	awaitTries = 200
	awaitPause = time.Millisecond
	// An allocation that runs ahead of a collection waits 10 ms.
	backlogTries = 50
	backlogPause = 200 * time.Microsecond
)

// collectAndSettle collects and waits for the cleanups that free blocks.
func (p *Pool) collectAndSettle() {
	p.collections.Add(1)
	p.system.collect()
}

// collect runs a collection and waits until the cleanups that it queued have run.
func collect() {
	runtime.GC()
	for tries := 0; tries < cleanupTries && cleanupsWait(); tries++ {
		if tries < cleanupYields {
			runtime.Gosched()
			continue
		}
		time.Sleep(cleanupPause)
	}
}

// Collect runs a garbage collection and waits, some milliseconds at most, for the cleanups that it
// queued: devices with memory of their own get back what dead tensors have.
func Collect() { collect() }

// cleanupsWait reports whether a cleanup is queued that has not run.
func cleanupsWait() bool {
	s := [...]metrics.Sample{{Name: "/gc/cleanups/executed:cleanups"}, {Name: "/gc/cleanups/queued:cleanups"}}
	metrics.Read(s[:])
	return s[0].Value.Kind() == metrics.KindUint64 && s[0].Value.Uint64() < s[1].Value.Uint64()
}

// gcPercent returns GOGC, and its default where it is off: no memory pressure on the Go
// heap is seen then, so that garbage here would grow up to the limit.
func gcPercent() int64 {
	s := [...]metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s[:])
	if s[0].Value.Kind() != metrics.KindUint64 || s[0].Value.Uint64() > maxPercent {
		return defaultPercent
	}
	return int64(s[0].Value.Uint64())
}

const (
	defaultPercent = 100
	maxPercent     = 10000
)

// goHeap returns the bytes of the Go heap that the last collection found in use.
func goHeap() int64 {
	s := [...]metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s[:])
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(s[0].Value.Uint64())
}

// awaitCollection waits for the collection under way, if there is one, but not
// long: the caller may hold something up that the cleanups need.
func (p *Pool) awaitCollection() {
	for tries := 0; tries < awaitTries && p.collecting.Load(); tries++ {
		time.Sleep(awaitPause)
	}
}

// backlogFrom returns the live bytes from which allocations are held up while the
// collection that the trigger asked for runs.
func backlogFrom(trigger int64) int64 { return trigger + max(trigger, backlogMin) }

// backlog holds an allocation up while a collection is under way and much more
// is in use than started it, so that garbage cannot pile up faster than it is
// found.
func (p *Pool) backlog(live int64) {
	for tries := 0; tries < backlogTries && p.collecting.Load() && live > backlogFrom(p.trigger.Load()); tries++ {
		time.Sleep(backlogPause)
		live = p.live.Load()
	}
}
