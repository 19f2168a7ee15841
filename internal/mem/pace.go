package mem

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// headroomMin is what may pile up between two collections of a small heap: few
	// enough bytes to come back while the caches still have them, and about as much
	// work to fill as such a collection, which takes some 0.1 ms.
	headroomMin = 4 << 20

	// Where a collection takes longer, with more processors or busy ones, it is what
	// can be filled in that time, at so many bytes a nanosecond, but at most
	// headroomSlow.
	fillRate     = 40
	headroomSlow = 16 << 20

	// So many blocks as large as the one asked for may pass the trigger, or so many
	// bytes: a collection for every result or two would cost more than its cache
	// misses.
	slackBlocks = 3
	slackMax    = 12 << 20

	// calmShare is the part of the time that collections may take of a program that
	// allocates slowly, as one does that computes much with each result: less
	// garbage piles up there, and less room is left to large blocks.
	calmShare = 20

	// hurryShare is that part of a program that allocates fast: its room is what piles up in so
	// many times as long as a collection takes, within bounds.
	hurryShare = 6

	// So many rounds make an allocation rate: a program that starts fills its arrays,
	// and its first collections read what no cache has.
	fastRounds = 3

	// backlogMin is what processors may at least allocate in the time of a
	// collection.
	backlogMin = 16 << 20

	// headroomMax is the least bound on what may pile up when collections cost
	// more.
	headroomMax = 256 << 20

	// heapFactor is how many bytes here are worth marking one byte of Go heap.
	heapFactor = 8

	// quickHeap is the Go heap up to which an allocation collects by itself.
	quickHeap = 16 << 20
)

// pace runs the one collection that passing the trigger asked for, and sets the
// next trigger by what is left. What was handed out meanwhile does not count as
// left: it may be garbage already, and counting it would let a program that
// allocates fast push the trigger away from itself. The block that was asked for, when
// before bytes had been handed out, is the first of what piles up next; there is room
// for it and a little more, or each one like it would collect.
func (p *Pool) pace(before, block int64) {
	start, piled := p.system.now(), p.live.Load()
	p.collectAndSettle()
	took := int64(p.system.now().Sub(start))
	left := max(p.live.Load()-(p.allocated()-before), 0)
	p.judge(took, int64(start.Sub(p.last.end)), piled-p.last.left, left)
	p.last.left, p.last.end = left, p.system.now()
	heap := p.system.heap()
	p.quick.Store(heap <= quickHeap)
	room := max(p.room(left, heap), block+p.system.floor/2)
	p.trigger.Store(nextTrigger(left, room, p.limits().soft))
	p.collecting.Store(false)
}

// judge sets calm and slow after a collection that took so long, and so long after
// the one before, in which time so many bytes piled up; left bytes are in use.
func (p *Pool) judge(took, since, piled, left int64) {
	// One that had to wait for processors says little about the next.
	if p.last.took > 0 {
		took = min(took, p.last.took*5/4)
	}
	p.last.took = took
	// What piles up in the time that is due to the next collection.
	due := int64(float64(piled) / float64(max(since, 1)) * float64(calmShare*took))
	if due >= 2*p.system.floor {
		p.last.fast = min(p.last.fast+1, fastRounds)
	} else {
		p.last.fast = 0
	}
	calm := p.last.fast < fastRounds
	p.calm.Store(calm)
	p.due.Store(due / calmShare * hurryShare)
	if calm {
		// Marking the Go heap is part of the time that it took.
		p.slow.Store(max(min(due, left/5*2), min(due, 2*p.system.floor)/2, p.system.floor/2))
	} else {
		p.slow.Store(min(fillRate*took, headroomSlow))
	}
}

// lower brings the trigger down after memory was given back by hand, so that a
// program that once used much does not let as much garbage pile up.
func (p *Pool) lower() {
	live := p.live.Load()
	next := nextTrigger(live, p.room(live, p.system.heap()), p.limits().soft)
	for old := p.trigger.Load(); next < old && !p.collecting.Load(); old = p.trigger.Load() {
		if p.trigger.CompareAndSwap(old, next) {
			return
		}
	}
}

// room returns how many bytes may be handed out before the next collection, when
// left bytes are in use and the Go heap holds heap bytes.
func (p *Pool) room(left, heap int64) int64 {
	if p.calm.Load() {
		return p.slow.Load()
	}
	least := max(p.system.floor, p.slow.Load())
	return max(least, min(p.due.Load(), headroom(least, left, heap)))
}

// slack is how far an allocation of a block may pass the trigger: what it takes of large
// blocks to make a collection worth its time, less what the room already has for its being slow.
// Both, one behind the other, only took results further out of the caches.
func (p *Pool) slack(block int64) int64 {
	if p.calm.Load() {
		return 0
	}
	wider := max(p.slow.Load()-p.system.floor, 0)
	return max(min(slackBlocks*block, slackMax)-wider, 0)
}

// headroom is the most room of a program that is not calm: by the size of the heap that is
// marked, at most as much again as there is.
func headroom(floor, left, heap int64) int64 {
	return max(floor, min(floor+heapFactor*heap, max(headroomMax, left, heap)))
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

// How long is waited for what other goroutines do, at most. All are bounds against
// waiting for oneself: the caller may hold something up that a cleanup needs.
const (
	// Cleanups have run when so many turns of the scheduler freed nothing; each that
	// frees something starts the count again.
	quietTurns  = 3
	settleTurns = 1000
	// First turns of the scheduler, which are enough where a processor is idle, then
	// pauses: 2 ms in all.
	cleanupTries  = 60
	cleanupYields = 20
	cleanupPause  = 50 * time.Microsecond
	// An allocation that the system refused waits 200 ms for a collection under way,
	awaitTries = 200
	awaitPause = time.Millisecond
	// and one that runs ahead of a collection 10 ms.
	backlogTries = 50
	backlogPause = 200 * time.Microsecond
)

// collectAndSettle collects and waits for the cleanups that free blocks, which
// run on goroutines of their own after the collection.
func (p *Pool) collectAndSettle() {
	p.collections.Add(1)
	p.system.collect()
	for quiet, tries := 0, 0; quiet < quietTurns && tries < settleTurns; tries++ {
		before := p.live.Load()
		runtime.Gosched()
		if p.live.Load() == before {
			quiet++
		} else {
			quiet = 0
		}
	}
}

// A mark is garbage from birth; its cleanup tells that those of a collection run.
type mark struct{ done *atomic.Bool }

// collect runs a collection and waits until the cleanups that it found run, but
// not long: the caller may hold something up that one of them needs.
func collect() {
	m := &mark{new(atomic.Bool)}
	done := m.done
	runtime.AddCleanup(m, func(done *atomic.Bool) { done.Store(true) }, done)
	runtime.GC()
	for tries := 0; tries < cleanupTries && !done.Load(); tries++ {
		if tries < cleanupYields {
			runtime.Gosched()
			continue
		}
		time.Sleep(cleanupPause)
	}
}

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
