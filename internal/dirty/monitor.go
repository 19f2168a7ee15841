package dirty

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// Verify makes what writes into a memory make sure that the write will be marked. Tests set
// it; without it a monitor can come to a memory while that is written.
var Verify bool

// A Monitor is what writers and flushes of one memory meet at. Any number of writers, or
// one flush that copies, is inside at a time; a flush that waits is let in before further
// writers. Marks are made by writers before they leave, so what a flush copies is whole
// writes, and what is written later is marked later.
//
// Memory that is lent to a function of the user is not waited for, since the function may
// write, or flush, itself: a flush leaves those bytes dirty.
type Monitor struct {
	number uint64 // in which order several are entered

	// inside is the number of writers inside, and flushing while flushes wait: a writer whom
	// none keeps waiting comes in by one addition.
	inside atomic.Int64

	mu      sync.Mutex
	change  sync.Cond
	waiting int // flushes
	sets    []*Set
	lent    []Interval
}

// flushing is the bit of [Monitor.inside] that makes writers look at what waits.
const flushing = 1 << 40

var monitors atomic.Uint64

// NewMonitor returns a monitor without sets.
func NewMonitor() *Monitor {
	m := &Monitor{number: monitors.Add(1)}
	m.change.L = &m.mu
	return m
}

// Compare orders monitors, for who enters several.
func (m *Monitor) Compare(n *Monitor) int { return cmp.Compare(m.number, n.number) }

// Watch adds a set that further marks go to.
func (m *Monitor) Watch(s *Set) {
	m.mu.Lock()
	m.sets = append(m.sets, s)
	m.mu.Unlock()
}

// Unwatch removes a set.
func (m *Monitor) Unwatch(s *Set) {
	m.mu.Lock()
	m.sets = slices.DeleteFunc(m.sets, func(x *Set) bool { return x == s })
	m.mu.Unlock()
}

// Enter lets a writer in, who may not be inside already.
func (m *Monitor) Enter() {
	if m.inside.Add(1)&flushing == 0 {
		return
	}
	m.mu.Lock()
	if m.waiting > 0 {
		m.leave(true) // which the flush may wait for
		for m.waiting > 0 {
			m.change.Wait()
		}
		m.inside.Add(1)
	}
	m.mu.Unlock()
}

// Inside panics if there is no writer inside: the memory is being written by a way that
// does not mark.
func (m *Monitor) Inside() {
	if m.inside.Load()&^flushing == 0 {
		panic("dirty: tracked memory is written and nothing marks it")
	}
}

// Mark marks what a writer wrote, a strided view as in [Set.AddStrided], and lets it out if
// it leaves.
func (m *Monitor) Mark(start, size int, shape, strides []int, leaves bool) {
	m.mu.Lock()
	for _, s := range m.sets {
		s.AddStrided(start, size, shape, strides)
	}
	m.leave(leaves)
	m.mu.Unlock()
}

// MarkEach is Mark of intervals.
func (m *Monitor) MarkEach(list []Interval, leaves bool) {
	m.mu.Lock()
	for _, s := range m.sets {
		for _, p := range list {
			s.Add(p.Start, p.Stop)
		}
	}
	m.leave(leaves)
	m.mu.Unlock()
}

// leave lets a writer out if it leaves. The caller holds m.mu.
func (m *Monitor) leave(leaves bool) {
	if leaves && m.inside.Add(-1) == flushing {
		m.change.Broadcast()
	}
}

// Lend says that a function of the user has bytes from now on.
func (m *Monitor) Lend(start, stop int) {
	m.mu.Lock()
	for m.waiting > 0 {
		m.change.Wait()
	}
	m.lent = append(m.lent, Interval{start, stop})
	m.mu.Unlock()
}

// Return says that a function of the user has bytes no more, and marks them.
func (m *Monitor) Return(start, stop int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(m.lent, Interval{start, stop})
	m.lent = slices.Delete(m.lent, i, i+1)
	for _, s := range m.sets {
		s.Add(start, stop)
	}
}

// Add marks bytes for one of the sets.
func (m *Monitor) Add(s *Set, list ...Interval) {
	m.mu.Lock()
	for _, p := range list {
		s.Add(p.Start, p.Stop)
	}
	m.mu.Unlock()
}

// List returns what a set has, and empties it if it is taken.
func (m *Monitor) List(s *Set, take bool) []Interval {
	m.mu.Lock()
	defer m.mu.Unlock()
	if take {
		return s.Taken()
	}
	return s.List()
}

// SetGap is that of a set.
func (m *Monitor) SetGap(s *Set, gap int) {
	m.mu.Lock()
	s.SetGap(gap)
	m.mu.Unlock()
}

// Still calls f, which copies, while no writer is inside. Of the intervals in list it
// gives f the items that nobody has been lent a byte of, and adds the others to s.
func (m *Monitor) Still(s *Set, list []Interval, f func(free []Interval)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting++
	for m.inside.Or(flushing); m.inside.Load() != flushing; {
		m.change.Wait()
	}
	defer func() {
		if m.waiting--; m.waiting == 0 {
			m.inside.And(^flushing)
			m.change.Broadcast()
		}
	}()
	for _, l := range m.lent {
		if l = s.clip(l); l.Start == l.Stop {
			continue
		}
		l = s.whole(l)
		var free []Interval
		for _, p := range list {
			if p.Stop <= l.Start || l.Stop <= p.Start {
				free = append(free, p)
				continue
			}
			s.Add(max(p.Start, l.Start), min(p.Stop, l.Stop))
			if p.Start < l.Start {
				free = append(free, Interval{p.Start, l.Start})
			}
			if l.Stop < p.Stop {
				free = append(free, Interval{l.Stop, p.Stop})
			}
		}
		list = free
	}
	f(list)
}
