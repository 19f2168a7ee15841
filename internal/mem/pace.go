package mem

import (
	"runtime"
	"time"
)

// pace runs the one collection that passing the trigger asked for, and sets the
// next trigger by what is left.
func (p *Pool) pace() {
	p.collectAndSettle()
	p.trigger.Store(nextTrigger(p.live.Load(), p.system.floor, p.limits().soft))
	p.collecting.Store(false)
}

// nextTrigger returns the live bytes at which to collect next: twice what is live
// now, but no less than floor. Four fifths of the limit is the latest point, with
// a sixteenth of the limit to spare so that a program that really needs its memory
// does not collect all the time.
func nextTrigger(live, floor, limit int64) int64 {
	next := max(2*live, floor)
	if latest := limit / 5 * 4; next > latest {
		next = max(latest, live+limit/16)
	}
	return next
}

// collectAndSettle collects and waits for the cleanups that free blocks to run,
// which they do on goroutines of their own after the collection.
func (p *Pool) collectAndSettle() {
	p.collections.Add(1)
	p.system.collect()
	// Two quiet milliseconds in a row count as settled.
	for quiet, tries := 0, 0; quiet < 2 && tries < 50; tries++ {
		before := p.live.Load()
		runtime.Gosched()
		time.Sleep(time.Millisecond)
		if p.live.Load() == before {
			quiet++
		} else {
			quiet = 0
		}
	}
}

// awaitCollection waits for the collection under way, if there is one, but not
// long: the caller may hold something up that the cleanups need.
func (p *Pool) awaitCollection() {
	for tries := 0; tries < 200 && p.collecting.Load(); tries++ {
		time.Sleep(time.Millisecond)
	}
}
