package mem

import (
	"cmp"
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

// keepFactor bounds the mapped bytes, as a multiple of what the program needs at once. With 2, a
// step that alternates between two sizes finds both.
const keepFactor = 2

// bound returns how many bytes may be mapped: keepFactor times the recent maximum in use, or times
// the trigger of the next collection if that is larger.
func (p *Pool) bound() int64 {
	return keepFactor * max(p.need.Load(), p.trigger.Load())
}

// tick unmaps what exceeds keepFactor times the need: the maximum in use since the last tick, or
// half of the need before it. It repeats while the need falls.
func (p *Pool) tick() {
	p.budget(p.limits(), p.system.other())
	need := p.need.Load()
	next := max(p.live.Load(), need/2)
	p.need.Store(next)
	p.trim(p.reserved.Load() - keepFactor*need)
	if next < need {
		time.AfterFunc(p.system.interval, p.tick)
		return
	}
	p.armed.Store(false)
	if p.need.Load() > p.live.Load() { // a block freed before that store did not arm the timer
		p.arm()
	}
}

// Trim returns to the system all memory that is not in use, except where blocks
// in use share its mapping. It reads the limits again, so that a limit set before it
// counts from the next allocation on.
func (p *Pool) Trim() {
	p.known.Store(nil)
	p.budget(p.limits(), p.system.other())
	p.trim(math.MaxInt64)
}

// trim unmaps free blocks until want bytes are released: least recently used classes first, within
// a class the blocks freed first.
func (p *Pool) trim(want int64) {
	if want <= 0 {
		return
	}
	p.trimming.Lock()
	defer p.trimming.Unlock()
	for _, c := range p.oldest() {
		k := &p.classes[c]
		k.lock()
		out := k.remove((want-1)/int64(classSize(c)) + 1)
		k.unlock()
		for _, r := range out {
			want -= int64(r.size)
			p.unmap(r)
		}
		if want <= 0 {
			return
		}
	}
}

// oldest returns the classes with free blocks, those asked for least lately first, and of
// those asked for at one time the largest first.
func (p *Pool) oldest() []int {
	var order []int
	var used [classes]int64
	for c := classes - 1; c >= 0; c-- {
		k, free := &p.classes[c], 0
		for i := range k.lists {
			l := &k.lists[i]
			l.mu.Lock()
			free += len(l.free)
			used[c] = max(used[c], l.used)
			l.mu.Unlock()
		}
		if free > 0 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(used[a], used[b]) })
	return order
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
		if len(l.free) == 0 {
			l.free = nil
		}
	}
	return out
}
