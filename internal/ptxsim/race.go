package ptxsim

import "slices"

// A cell says who used a granule of memory last: a work of a queue, and within a launch the thread
// and the barriers that its block and its warp had passed. So one cell serves races of threads and
// races of queues. For shared memory the run of a block stands for the work.
type cell struct {
	writer, reader          uint32 // works; 0 none
	others                  uint32 // a set of earlier readers that the reader is not ordered after
	writeThread, readThread uint32
	writeEpoch, readEpoch   uint16 // barriers of the block, and flags
	writeWarp, readWarp     uint16 // barriers of the warp, and flags
}

const (
	epochMask  = 1<<14 - 1
	atomicUse  = 1 << 15 // of writeEpoch and readEpoch: an atomic or volatile access
	manyUse    = 1 << 14 // of readEpoch: several warps of a block read; of readWarp: several lanes of a warp
	everywhere = ^uint32(0)
)

// An actor is who accesses memory.
type actor struct {
	work   uint32
	thread uint32 // within the launch
	block  uint32 // threads of a block: threads t and u are of one block if t/block == u/block
	epoch  uint16 // barriers of the block
	warp   uint16 // barriers of the warp
	atomic bool
	c      *context // orders works; nil in shared memory
	okPast uint32   // a work that was found to be before
}

func (a *actor) sameBlock(thread uint32) bool { return thread/a.block == a.thread/a.block }

func (a *actor) sameWarp(thread uint32) bool {
	return a.sameBlock(thread) && thread%a.block/32 == a.thread%a.block/32
}

// after reports whether a barrier lies between the access of a thread and the actor.
func (a *actor) after(thread uint32, epoch, warp uint16) bool {
	return a.sameBlock(thread) && (epoch&epochMask != a.epoch || a.sameWarp(thread) && warp&epochMask != a.warp)
}

// clashes reports whether the last write, by the actor's own work, is a race with it.
func (c *cell) clashes(a *actor) bool {
	return c.writeThread != a.thread && !a.after(c.writeThread, c.writeEpoch, c.writeWarp) &&
		!(a.atomic && c.writeEpoch&atomicUse != 0)
}

// readClashes reports whether a read, by the actor's own work, is a race with its write.
func (c *cell) readClashes(a *actor) bool {
	several := c.readEpoch&manyUse != 0
	switch {
	case a.atomic && c.readEpoch&atomicUse != 0:
		return false
	case c.readThread == everywhere:
		return true
	case c.readThread == a.thread && !several && c.readWarp&manyUse == 0:
		return false
	case several:
		return !a.sameBlock(c.readThread) || c.readEpoch&epochMask == a.epoch
	}
	return !a.after(c.readThread, c.readEpoch, c.readWarp)
}

// before reports whether a work is ordered before the actor's.
func (a *actor) before(work uint32) bool {
	if work == 0 || work == a.okPast || a.c == nil {
		return true
	}
	if a.c.ordered(work) {
		a.okPast = work
		return true
	}
	return false
}

// split makes the granules of a page smaller.
func (p *page) split(shift uint8) {
	old := p.cells
	if old != nil {
		by := p.shift - shift
		p.cells = make([]cell, len(old)<<by)
		for i := range p.cells {
			p.cells[i] = old[i>>by]
		}
	}
	p.shift = shift
}

// granules returns the cells of n bytes at o.
func (p *page) granules(o, n int) []cell {
	if both := uint(o|n) & 3; both != 0 && p.shift > 0 {
		shift := uint8(0)
		if both&1 == 0 {
			shift = 1
		}
		if shift < p.shift {
			p.split(shift)
		}
	}
	if p.cells == nil {
		p.cells = make([]cell, (len(p.data)+1<<p.shift-1)>>p.shift)
	}
	return p.cells[o>>p.shift : (o+n+1<<p.shift-1)>>p.shift]
}

// read notes a read of n bytes at o. It returns what it races with, "" for nothing.
func (p *page) read(a *actor, o, n int) string {
	cells := p.granules(o, n)
	for i := range cells {
		c := &cells[i]
		if c.writer == a.work {
			if c.clashes(a) {
				return "a write of another thread without a barrier between"
			}
		} else if c.writer != 0 && !a.before(c.writer) {
			return "a write of " + a.c.describe(c.writer) + " without an event between"
		}
		c.noteRead(a)
	}
	return ""
}

func (c *cell) noteRead(a *actor) {
	epoch := a.epoch
	if a.atomic {
		epoch |= atomicUse
	}
	if c.reader != a.work {
		if c.reader != 0 && a.c != nil && !a.before(c.reader) {
			c.others = a.c.readers.add(c.others, c.reader)
		}
		c.reader, c.readThread, c.readEpoch, c.readWarp = a.work, a.thread, epoch, a.warp
		return
	}
	if !a.atomic {
		c.readEpoch &^= atomicUse
	}
	switch {
	case c.readThread == everywhere:
	case !a.sameBlock(c.readThread):
		c.readThread = everywhere
	case c.readEpoch&epochMask != a.epoch:
		c.readThread, c.readEpoch, c.readWarp = a.thread, epoch, a.warp
	case c.readEpoch&manyUse != 0:
	case !a.sameWarp(c.readThread):
		c.readEpoch |= manyUse
	case c.readWarp&epochMask != a.warp:
		c.readThread, c.readEpoch, c.readWarp = a.thread, epoch, a.warp
	case c.readThread != a.thread:
		c.readWarp |= manyUse
	}
}

// write notes a write of n bytes at o. It returns what it races with, "" for nothing.
func (p *page) write(a *actor, o, n int) string {
	cells := p.granules(o, n)
	epoch := a.epoch
	if a.atomic {
		epoch |= atomicUse
	}
	for i := range cells {
		c := &cells[i]
		if c.writer == a.work {
			if c.clashes(a) {
				return "a write of another thread without a barrier between"
			}
		} else if c.writer != 0 && !a.before(c.writer) {
			return "a write of " + a.c.describe(c.writer) + " without an event between"
		}
		if c.reader == a.work {
			if c.readClashes(a) {
				return "a read of another thread without a barrier between"
			}
		} else if c.reader != 0 && !a.before(c.reader) {
			return "a read of " + a.c.describe(c.reader) + " without an event between"
		}
		if c.others != 0 {
			for _, r := range a.c.readers.sets[c.others] {
				if !a.before(r) {
					return "a read of " + a.c.describe(r) + " without an event between"
				}
			}
		}
		*c = cell{writer: a.work, writeThread: a.thread, writeEpoch: epoch, writeWarp: a.warp}
	}
	return ""
}

// readerSets numbers sets of works, so that a cell holds one in a word. Set 0 is empty.
type readerSets struct {
	sets [][]uint32
	next map[[2]uint32]uint32
}

// add returns the set with a work more.
func (s *readerSets) add(set, work uint32) uint32 {
	if s.next == nil {
		s.sets, s.next = [][]uint32{nil}, map[[2]uint32]uint32{}
	}
	if slices.Contains(s.sets[set], work) {
		return set
	}
	key := [2]uint32{set, work}
	n, ok := s.next[key]
	if !ok {
		n = uint32(len(s.sets))
		s.sets = append(s.sets, append(slices.Clone(s.sets[set]), work))
		s.next[key] = n
	}
	return n
}
