package mem

import (
	"math"
	"slices"
	"time"
)

// arm starts the trim timer unless it runs.
func (p *Pool) arm() {
	if !p.armed.Load() && p.armed.CompareAndSwap(false, true) {
		time.AfterFunc(p.system.interval, p.tick)
	}
}

// tick returns half of what was not needed since the last one, and comes again
// while there was anything to return or the pool is in use.
func (p *Pool) tick() {
	p.budget(p.limits(), p.system.other())
	p.lower()
	active, released := p.trimIdle()
	if active || released > 0 {
		time.AfterFunc(p.system.interval, p.tick)
		return
	}
	p.armed.Store(false)
	// A block freed before that store did not arm the timer.
	if p.recent() {
		p.arm()
	}
}

// Trim returns to the system all memory that is not in use, except where blocks
// in use share its mapping.
func (p *Pool) Trim() { p.trim(math.MaxInt64) }

// trim returns memory until want bytes are released, large blocks first.
func (p *Pool) trim(want int64) {
	p.trimming.Lock()
	defer p.trimming.Unlock()
	for c := classes - 1; c >= 0 && want > 0; c-- {
		k := &p.classes[c]
		k.lock()
		out := k.remove((want-1)/int64(classSize(c)) + 1)
		k.unlock()
		for _, r := range out {
			want -= int64(r.size)
			p.unmap(r)
		}
	}
}

// trimIdle returns half of what was free all the time since the last call. active
// is whether anything was allocated or freed meanwhile.
func (p *Pool) trimIdle() (active bool, released int) {
	p.trimming.Lock()
	defer p.trimming.Unlock()
	for c := range p.classes {
		k := &p.classes[c]
		k.lock()
		low := 0
		for i := range k.lists {
			l := &k.lists[i]
			low += l.low
			active = active || l.low != len(l.free)
		}
		var out []*region
		if size := classSize(c); low >= blocksPerMap(size) {
			out = k.remove(int64(low+1) / 2)
		}
		for i := range k.lists {
			k.lists[i].low = len(k.lists[i].free)
		}
		k.unlock()
		for _, r := range out {
			p.unmap(r)
		}
		released += len(out)
	}
	return active, released
}

// recent reports whether anything was allocated or freed since the last trimIdle.
func (p *Pool) recent() bool {
	for c := range p.classes {
		for i := range p.classes[c].lists {
			l := &p.classes[c].lists[i]
			l.mu.Lock()
			changed := l.low != len(l.free)
			l.mu.Unlock()
			if changed {
				return true
			}
		}
	}
	return false
}

func (k *class) lock() {
	for i := range k.lists {
		k.lists[i].mu.Lock()
	}
}

func (k *class) unlock() {
	for i := range k.lists {
		k.lists[i].mu.Unlock()
	}
}

// remove takes off the free lists the mappings that are wholly free, the longest
// unused first, until that many blocks are gone, rounded up to mappings. The
// lists are locked.
func (k *class) remove(blocks int64) (out []*region) {
	if blocks <= 0 {
		return nil
	}
	for i := range k.lists {
		for _, s := range k.lists[i].free {
			s.r.free = 0
		}
	}
	for i := range k.lists {
		for _, s := range k.lists[i].free {
			if s.r.free++; s.r.free == len(s.r.gens) && blocks > 0 {
				blocks -= int64(len(s.r.gens))
				out = append(out, s.r)
			}
		}
	}
	for _, r := range out {
		r.free = -1
	}
	if len(out) == 0 {
		return nil
	}
	for i := range k.lists {
		l := &k.lists[i]
		l.free = slices.DeleteFunc(l.free, func(s spare) bool { return s.r.free == -1 })
		l.low = min(l.low, len(l.free))
		if len(l.free) == 0 {
			l.free = nil
		}
	}
	return out
}
