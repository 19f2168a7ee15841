package mem

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// What the program is taken to need halves at each tick, and twice that may stay mapped.
func TestTickHalvesUnusedMemory(t *testing.T) {
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
	for i, want := range []int64{16, 16, 8, 4, 2, 1, 0} {
		p.tick()
		if got := mapped.Load() / n; got != want {
			t.Errorf("after tick %d: %d blocks mapped, want %d", i, got, want)
		}
	}

	// One block of two is in constant use.
	a, b := mustAlloc(t, p, n), mustAlloc(t, p, n)
	p.Free(a)
	p.Free(b)
	for range 8 {
		p.Free(mustAlloc(t, p, n))
		p.tick()
	}
	if got := mapped.Load() / n; got != 2 {
		t.Errorf("%d blocks mapped where one is needed, want twice that", got)
	}
	p.Trim()
}

// Sizes that nobody asks for any more do not pile up: a program that needs 1 MiB at a time,
// each time in blocks of another size, stays near twice the headroom.
func TestNewSizesReplaceOldOnes(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.floor = 4 << 20
	p.aim(0)
	most := int64(0)
	for n := 1 << 10; n <= 1<<20; n = n * 5 / 4 {
		var blocks []Block
		for range 1 << 20 / n {
			blocks = append(blocks, mustAlloc(t, p, n))
		}
		for _, b := range blocks {
			p.Free(b)
		}
		most = max(most, mapped.Load())
	}
	if most > 10<<20 {
		t.Errorf("%d bytes mapped for 1 MiB in use, want at most twice the headroom of 4 MiB", most)
	}
	p.Trim()
}

// A trim takes what was not asked for longest.
func TestTrimTakesOldSizesFirst(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	var blocks []Block
	for _, n := range []int{3 << 20, 1 << 20, 2 << 20} {
		blocks = append(blocks, mustAlloc(t, p, n))
	}
	for _, b := range blocks {
		p.Free(b)
	}
	p.Free(mustAlloc(t, p, 3<<20)) // asked for again
	before := p.Stats().Misses
	p.trim(1)
	p.Free(mustAlloc(t, p, 2<<20))
	p.Free(mustAlloc(t, p, 3<<20))
	if got := p.Stats().Misses; got != before {
		t.Errorf("%d mappings made for sizes in use, want none", got-before)
	}
	p.Free(mustAlloc(t, p, 1<<20))
	if got := p.Stats().Misses; got != before+1 {
		t.Errorf("%d mappings made, want one for the oldest size", got-before)
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

// A limit counts from the next allocation on once Trim has been called, although limits are
// otherwise believed for seconds.
func TestTrimReadsLimits(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	l := limits{soft: 10 << 20, hard: noLimit}
	p.system.limits = func() limits { return l }
	for _, step := range []struct{ soft, kept int64 }{{10 << 20, 0}, {noLimit, 8 << 20}, {10 << 20, 0}} {
		l.soft = step.soft
		p.Trim()
		p.Free(mustAlloc(t, p, 8<<20))
		if got := mapped.Load(); got != step.kept {
			t.Errorf("with a limit of %d bytes %d are kept, want %d", step.soft, got, step.kept)
		}
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

// CheckHeap refuses memory of the Go heap that would exceed the limit.
func TestCheckHeapLimit(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.limits = func() limits { return limits{soft: 64 << 20, hard: 64 << 20} }
	a := mustAlloc(t, p, 40<<20)
	if err := p.CheckHeap(16 << 20); err != nil {
		t.Errorf("16 of 24 MiB: %v", err)
	}
	for _, n := range []int{32 << 20, 1 << 40, math.MaxInt} {
		e, ok := p.CheckHeap(n).(*Error)
		if !ok || e.Size != n || e.Limit != 64<<20 {
			t.Errorf("%d bytes: %#v", n, e)
		}
	}
	p.Free(a)
	if err := p.CheckHeap(32 << 20); err != nil {
		t.Errorf("32 of 64 MiB: %v", err)
	}
	p.Trim()
}

// Garbage that only the pool knows the size of gets collected in time.
func TestPacing(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.floor = 32 << 20
	p.aim(0)
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
	p.system.floor = 20 << 20
	started, release := make(chan struct{}, 100), make(chan struct{})
	p.system.collect = func() { started <- struct{}{}; <-release }
	var blocks []Block
	for range 24 { // returns although the collection cannot finish
		blocks = append(blocks, mustAlloc(t, p, 1<<20))
		if len(blocks) == 11 { // past the trigger
			<-started
		}
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

// The headroom is GOGC percent of what is in use here and in the Go heap, and at least the
// floor.
func TestHeadroom(t *testing.T) {
	const m = 1 << 20
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.floor = 16 * m
	for _, c := range []struct{ percent, left, heap, want int64 }{
		{100, 0, 0, 16 * m},
		{100, 10 * m, 2 * m, 16 * m},
		{100, 1000 * m, 0, 1000 * m},
		{100, 700 * m, 100 * m, 800 * m},
		{50, 700 * m, 100 * m, 400 * m},
		{0, 700 * m, 0, 16 * m},
	} {
		p.system.percent = func() int64 { return c.percent }
		if got := p.headroom(c.left, c.heap); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// The trigger follows at once when most of what was in use is given back by Release, and is
// not raised by it.
func TestTriggerComesDown(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	p.system.floor = 16 << 20
	var blocks []Block
	for range 30 {
		blocks = append(blocks, mustAlloc(t, p, 4<<20))
	}
	p.aim(p.live.Load())
	if got := p.trigger.Load(); got != 240<<20 {
		t.Fatalf("trigger %d with 120 MiB in use, want twice that", got)
	}
	for _, b := range blocks[1:] {
		p.Free(b)
	}
	if got := p.trigger.Load(); got > 60<<20 {
		t.Errorf("trigger %d with 4 MiB in use, want less than half of what was in use before", got)
	}
	at := p.trigger.Load()
	p.Free(mustAlloc(t, p, 4<<20))
	if got := p.trigger.Load(); got > at {
		t.Errorf("trigger raised from %d to %d", at, got)
	}
	p.Free(blocks[0])
	p.Trim()
}

// A loop that drops large results maps no more than its headroom after the program once
// held much more, which it gave back.
func TestFreshResultsAfterLargePhase(t *testing.T) {
	var mapped atomic.Int64
	p := quickPool(&mapped, 16<<20)
	var blocks []Block
	for range 120 {
		blocks = append(blocks, mustAlloc(t, p, 1<<20))
	}
	p.aim(p.live.Load())
	for _, b := range blocks {
		p.Free(b)
	}
	before := p.Stats().Misses
	for range 200 {
		mustLend(t, p, 4<<20)
	}
	if got := p.Stats().Misses - before; got > 15 {
		t.Errorf("%d mappings for results of 4 MiB, want at most 15, a headroom of 60 MiB", got)
	}
}

// quickPool is a testPool with so much room, in which who passes the trigger collects.
func quickPool(mapped *atomic.Int64, room int64) *Pool {
	p := testPool(mapped)
	p.system.floor = room
	p.aim(0)
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
