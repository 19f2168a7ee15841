package mem

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// Memory that stays unused goes back by halves, and what is used stays.
func TestTrimIdle(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	const n = 1 << 20
	var blocks []Block
	for range 16 {
		blocks = append(blocks, mustAlloc(t, p, n))
	}
	for _, b := range blocks {
		p.Free(b)
	}
	if active, released := p.trimIdle(); !active || released != 0 {
		t.Errorf("right after use: active %v, released %d", active, released)
	}
	want := []int{8, 4, 2, 1, 1, 0}
	for i, w := range want {
		if active, released := p.trimIdle(); active || released != w {
			t.Errorf("idle round %d: active %v, released %d, want %d", i, active, released, w)
		}
	}
	if mapped.Load() != 0 {
		t.Errorf("%d bytes still mapped", mapped.Load())
	}

	// One block in constant use, one not.
	a, b := mustAlloc(t, p, n), mustAlloc(t, p, n)
	p.Free(a)
	p.Free(b)
	p.trimIdle()
	for i, w := range []int{1, 0, 0, 0} {
		p.Free(mustAlloc(t, p, n))
		if active, released := p.trimIdle(); !active || released != w {
			t.Errorf("round %d in use: active %v, released %d, want %d", i, active, released, w)
		}
	}
	p.Trim()
}

// A mapping that small blocks share goes back once all of it is free, and not
// before.
func TestTrimShared(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	const n = 4096
	per := blocksPerMap(n)
	var blocks []Block
	for range 3 * per {
		blocks = append(blocks, mustAlloc(t, p, n))
	}
	all := mapped.Load()
	for i, b := range blocks {
		if i != per+3 {
			p.Free(b)
		}
	}
	p.Trim()
	if got := mapped.Load(); got != all/3 {
		t.Errorf("%d of %d bytes mapped, want a third", got, all)
	}
	held := blocks[per+3]
	held.Bytes()[0] = 1
	p.Free(held)
	p.Trim()
	if mapped.Load() != 0 {
		t.Errorf("%d bytes still mapped", mapped.Load())
	}
}

// The timer returns everything without anyone asking, then rests, and is there
// again for the next block. It never holds a goroutine while it waits.
func TestTrimTimer(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.interval = time.Millisecond
	for range 2 {
		var blocks []Block
		for range 100 {
			blocks = append(blocks, mustAlloc(t, p, 2000), mustAlloc(t, p, 1<<20))
		}
		before := runtime.NumGoroutine()
		for _, b := range blocks {
			p.Free(b)
		}
		for mapped.Load() != 0 || p.armed.Load() {
			time.Sleep(time.Millisecond)
		}
		for runtime.NumGoroutine() > before { // a goroutine left behind hangs the test
			time.Sleep(time.Millisecond)
		}
	}
}

// A limit bounds what is kept, and a new mapping makes room first.
func TestBudget(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	other := int64(10 << 20)
	p.system.other = func() int64 { return other }
	p.system.limits = func() limits { return limits{soft: 100 << 20, hard: noLimit} }
	var blocks []Block
	for range 8 {
		blocks = append(blocks, mustAlloc(t, p, 8<<20))
	}
	for _, b := range blocks {
		p.Free(b)
	}
	if kept := mapped.Load(); kept > 50<<20 || kept < 40<<20 {
		t.Errorf("%d bytes kept with a limit of 100 MiB, want at most half and not much less", kept)
	}
	// 10 MiB elsewhere, at most 50 kept, 48 asked for: more than 90.
	b := mustAlloc(t, p, 48<<20)
	if got := mapped.Load(); got > 80<<20 {
		t.Errorf("%d bytes mapped, want at most 80 MiB", got)
	}
	other = 100 << 20 // the rest of the process grows: nothing more is kept
	c := mustAlloc(t, p, 1<<20)
	p.Free(b)
	p.Free(c)
	if got := mapped.Load(); got != 0 {
		t.Errorf("%d bytes mapped with no room, want 0", got)
	}
}

// A hard limit is an error before it is a kill.
func TestHardLimit(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.limits = func() limits { return limits{soft: 64 << 20, hard: 64 << 20} }
	a := mustAlloc(t, p, 40<<20)
	b, err := p.Alloc(32 << 20)
	e, ok := err.(*Error)
	if !ok || e.Size != 32<<20 || e.Limit != 64<<20 || e.Live != int64(a.Cap()) || e.Err != nil || b.Live() {
		t.Fatalf("past the limit: %#v", err)
	}
	if n := p.Stats().Collections; n != 1 {
		t.Errorf("%d collections before giving up, want 1", n)
	}
	if _, err := p.Alloc(65 << 20); err == nil || p.Stats().Collections != 1 {
		t.Errorf("larger than the limit: %v, %d collections, want an error and no collection", err, p.Stats().Collections)
	}
	p.Free(a)
	p.Free(mustAlloc(t, p, 32<<20))
	p.Trim()
}

// Memory of the Go heap is refused where it would pass the limit.
func TestRoom(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.limits = func() limits { return limits{soft: 64 << 20, hard: 64 << 20} }
	a := mustAlloc(t, p, 40<<20)
	if err := p.Room(16 << 20); err != nil {
		t.Errorf("16 of 24 MiB: %v", err)
	}
	for _, n := range []int{32 << 20, 1 << 40, math.MaxInt} {
		e, ok := p.Room(n).(*Error)
		if !ok || e.Size != n || e.Limit != 64<<20 {
			t.Errorf("%d bytes: %#v", n, e)
		}
	}
	p.Free(a)
	if err := p.Room(32 << 20); err != nil {
		t.Errorf("32 of 64 MiB: %v", err)
	}
	p.Trim()
}

// Garbage that only the pool knows the size of gets collected in time.
func TestPacing(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.floor = 32 << 20
	p.trigger.Store(p.system.floor)
	const n, rounds = 1 << 20, 2000
	for range rounds {
		mustLend(t, p, n)
		for p.collecting.Load() { // this loop makes garbage faster than any real one
			time.Sleep(time.Millisecond)
		}
	}
	s := p.Stats()
	if s.Collections == 0 || s.Peak >= n*rounds/4 {
		t.Errorf("stats %+v after %d MiB of garbage", s, n*rounds>>20)
	}
}

// Past the limit an allocation waits for a collection that is under way.
func TestWaitsPastLimit(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.limits = func() limits { return limits{soft: 50 << 20, hard: noLimit} }
	p.trigger.Store(30 << 20)
	p.quick.Store(false)
	garbage, more := mustAlloc(t, p, 28<<20), 0
	p.system.collect = func() {
		for p.live.Load() < 48<<20 {
			time.Sleep(100 * time.Microsecond)
		}
		p.Free(garbage)
	}
	var blocks []Block
	for p.live.Load() >= 28<<20 && more < 100 {
		blocks = append(blocks, mustAlloc(t, p, 1<<20))
		more++
	}
	if peak := p.Stats().Peak; peak > 60<<20 {
		t.Errorf("peak %d bytes with a limit of 50 MiB", peak)
	}
	for _, b := range blocks {
		p.Free(b)
	}
	for p.collecting.Load() {
		time.Sleep(time.Millisecond)
	}
	p.Trim()
}

// One request collects once, off the caller's path.
func TestPacingSingleFlight(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.trigger.Store(10 << 20)
	p.quick.Store(false)
	p.last.fast = fastRounds
	p.system.floor = 20 << 20 // more than a slow collection would give
	started, release := make(chan struct{}, 100), make(chan struct{})
	p.system.collect = func() { started <- struct{}{}; <-release }
	begin := time.Now()
	p.last.end = begin
	var since time.Duration
	var blocks []Block
	for range 24 { // returns although the collection cannot finish
		blocks = append(blocks, mustAlloc(t, p, 1<<20))
		if len(blocks) == 11 { // past the trigger
			<-started
			since = time.Since(begin)
		}
	}
	// As long as it took to get there, or this would not count as allocating fast.
	for time.Since(begin) < 2*since {
		time.Sleep(time.Millisecond)
	}
	close(release)
	for p.collecting.Load() {
		time.Sleep(time.Millisecond)
	}
	if n := p.Stats().Collections; n != 1 {
		t.Errorf("%d collections, want 1", n)
	}
	// What came after it began does not count as left.
	if got := p.trigger.Load(); got != 30<<20 {
		t.Errorf("next at %d, want 20 MiB more than the 10 in use when it began", got)
	}
	for _, b := range blocks {
		p.Free(b)
	}
	p.Trim()
}

func TestNextTrigger(t *testing.T) {
	for _, c := range []struct{ left, room, limit, want int64 }{
		{0, 256, noLimit, 256},
		{200, 256, noLimit, 456},
		{200, 256, 1000, 456},
		{500, 400, 1000, 800}, // latest: four fifths of the limit
		{790, 600, 1600, 1280},
		{1500, 256, 1600, 1600}, // all needed: a sixteenth to spare
		{0, 256, 100, 80},       // a limit below the headroom
	} {
		if got := nextTrigger(c.left, c.room, c.limit); got != c.want {
			t.Errorf("nextTrigger(%d, %d, %d) = %d, want %d", c.left, c.room, c.limit, got, c.want)
		}
	}
}

func TestHeadroom(t *testing.T) {
	const m = 1 << 20
	for _, c := range []struct{ left, heap, want int64 }{
		{0, 0, 16 * m},
		{1000 * m, 0, 16 * m}, // a small heap costs nothing to mark, whatever is in use
		{0, 2 * m, 32 * m},
		{0, 100 * m, 256 * m},
		{700 * m, 100 * m, 700 * m},
		{2000 * m, 100 * m, 816 * m},
		{0, 1000 * m, 1000 * m},
	} {
		if got := headroom(16*m, c.left, c.heap); got != c.want {
			t.Errorf("headroom with %d in use and a heap of %d: %d, want %d", c.left, c.heap, got, c.want)
		}
	}
}

// The trigger follows when memory in use is given back by hand.
func TestTriggerComesDown(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.floor = 16 << 20
	p.trigger.Store(400 << 20)
	p.calm.Store(false)
	p.slow.Store(0)
	b := mustAlloc(t, p, 4<<20)
	p.lower()
	if got := p.trigger.Load(); got != 20<<20 {
		t.Errorf("trigger %d with 4 MiB in use, want 20 MiB", got)
	}
	p.trigger.Store(10 << 20)
	p.lower()
	if got := p.trigger.Load(); got != 10<<20 {
		t.Errorf("trigger %d, want it never raised", got)
	}
	p.Free(b)
	p.Trim()
}

// quickPool is a testPool with so much room, in which who passes the trigger collects.
func quickPool(mapped *atomic.Int64, room int64) *Pool {
	p := testPool(mapped)
	p.system.floor = room
	p.trigger.Store(room)
	p.quick.Store(true)
	return p
}

// With a small heap who passes the trigger collects at once: a loop that drops
// every result stays within two headrooms, however fast it is.
func TestPacingQuick(t *testing.T) {
	var mapped atomic.Int64
	p := quickPool(&mapped, 16<<20)
	const n, rounds = 1 << 20, 500
	for range rounds {
		mustLend(t, p, n)
	}
	s := p.Stats()
	if s.Collections < 5 || s.Peak > 64<<20 {
		t.Errorf("stats %+v after %d MiB of garbage, want a peak near 16 MiB", s, n*rounds>>20)
	}
}

// Garbage that piles up slowly beside what a collection takes has half the room at
// the least, and large blocks no more; fast allocation has all of it, but not from
// one collection, which may be that of a program that starts.
func TestCalm(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	floor := p.system.floor
	p.judge(1000, 1e9, floor, 0)
	if got := p.room(0, 0); !p.calm.Load() || got != floor/2 || p.slack(1<<20) != 0 {
		t.Errorf("calm %v with room for %d bytes and slack for %d, want half of %d and none", p.calm.Load(), got, p.slack(1<<20), floor)
	}
	p.last.took = 0
	for n := 1; n < fastRounds; n++ {
		p.judge(1e6, 1e6, floor, 4*floor)
		if got := p.room(0, 0); !p.calm.Load() || got != 4*floor/5*2 {
			t.Errorf("after %d fast rounds calm %v with room for %d, want two fifths of the %d in use", n, p.calm.Load(), got, 4*floor)
		}
	}
	p.judge(1e6, 1e6, floor, 0)
	if got := p.room(0, 0); p.calm.Load() || got < floor || p.slack(1<<20) != 3<<20 {
		t.Errorf("after %d fast rounds calm %v with room for %d and slack for %d", fastRounds, p.calm.Load(), got, p.slack(1<<20))
	}
	p.judge(1e9, 1e6, floor/100, 0) // waited for processors
	if p.last.took != 1e6*5/4 {
		t.Errorf("a collection of 1 s counts as %d ns after one of 1 ms", p.last.took)
	}
}

// Large blocks pass the trigger by what slow collections have not widened the room by already.
func TestSlackOfSlowCollections(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.floor = 4 << 20
	p.calm.Store(false)
	for _, c := range []struct{ slow, block, want int64 }{
		{0, 1 << 20, 3 << 20},
		{4 << 20, 4 << 20, 12 << 20},
		{12 << 20, 4 << 20, 4 << 20},
		{12 << 20, 1 << 20, 0},
		{16 << 20, 64 << 20, 0},
	} {
		p.slow.Store(c.slow)
		if got := p.slack(c.block); got != c.want {
			t.Errorf("slack for %d with room for %d: %d, want %d", c.block, c.slow, got, c.want)
		}
	}
}

// The room of a fast program is what piles up while collections take their share of the time,
// and bounded by the heap that they mark.
func TestRoomByRate(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.floor = 4 << 20
	for range fastRounds + 1 {
		p.judge(20e6, 100e6, 25<<20, 0) // 20 ms each tenth of a second, in which 25 MiB pile up
	}
	for _, c := range []struct{ heap, least, most int64 }{
		{100 << 20, 29 << 20, 30 << 20}, // by the rate: 5 MiB in 20 ms, six times
		{1 << 20, 20 << 20, 24 << 20},   // by the heap
	} {
		if got := p.room(0, c.heap); got < c.least || got > c.most {
			t.Errorf("room with a heap of %d: %d, want %d to %d", c.heap, got, c.least, c.most)
		}
	}
}

// A program whose results are given back at once, each larger than the room, collects
// once, not for each.
func TestPacingLargeBlocks(t *testing.T) {
	var mapped atomic.Int64
	p := quickPool(&mapped, 4<<20)
	p.system.collect = func() {}
	held := mustAlloc(t, p, 4<<20)
	for range 100 {
		p.Free(mustAlloc(t, p, 4<<20))
	}
	if n := p.Stats().Collections; n > 2 {
		t.Errorf("%d collections, want 2 at most", n)
	}
	p.Free(held)
	p.Trim()
}

// A program that drops each result for the next, as large as the room, is a fast one
// even if it began slowly: several may pile up between two collections.
func TestPacingLargeGarbage(t *testing.T) {
	var mapped atomic.Int64
	p := quickPool(&mapped, 4<<20)
	now := time.Now()
	p.last.end = now
	p.system.now = func() time.Time { return now }
	var dropped []Block
	p.system.collect = func() {
		now = now.Add(2 * time.Millisecond) // long beside the allocations
		for _, b := range dropped {
			p.Free(b)
		}
		dropped = dropped[:0]
	}
	held := mustAlloc(t, p, 4<<20)
	for i := range 66 {
		now = now.Add(20 * time.Microsecond)
		if i < 6 {
			now = now.Add(100 * time.Millisecond)
		}
		dropped = append(dropped, mustAlloc(t, p, 4<<20))
	}
	if n := p.Stats().Collections; n > 36 {
		t.Errorf("%d collections for 66 blocks, want one for two at most", n)
	}
	p.system.collect()
	p.Free(held)
	p.Trim()
}
