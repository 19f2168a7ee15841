package cache

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

type testKey struct {
	name string
	a, b int
}

func keyOf(i int) testKey { return testKey{"kernel", i, i * i} }

func TestCacheSingleFlight(t *testing.T) {
	c := NewKeyed[testKey, *int](0)
	var compiled atomic.Int32
	release := make(chan struct{})
	var wg sync.WaitGroup
	results := make([]*int, 16)
	for i := range results {
		wg.Go(func() {
			results[i], _ = c.Get(keyOf(1), func() (*int, error) {
				compiled.Add(1)
				<-release
				return new(int), nil
			})
		})
	}
	if v, err := c.Get(keyOf(2), func() (*int, error) { return new(int), nil }); v == nil || err != nil {
		t.Error("a compilation in progress blocks another key")
	}
	close(release)
	wg.Wait()
	if n := compiled.Load(); n != 1 {
		t.Errorf("compiled %d times, want 1", n)
	}
	for _, r := range results {
		if r == nil || r != results[0] {
			t.Fatal("callers got different values")
		}
	}
	if v, ok := c.Lookup(keyOf(1)); !ok || v != results[0] {
		t.Error("Lookup does not find the value")
	}
	if _, ok := c.Lookup(keyOf(3)); ok {
		t.Error("Lookup finds what was never compiled")
	}
	if s := c.Stats(); s != (Stats{Entries: 2, Made: 2}) {
		t.Errorf("stats %+v", s)
	}
}

func TestCacheErrorsAndPanics(t *testing.T) {
	c := NewKeyed[testKey, int](0)
	fail := errors.New("no")
	if _, err := c.Get(keyOf(1), func() (int, error) { return 0, fail }); err != fail {
		t.Errorf("error %v", err)
	}
	entered, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic did not reach its caller")
			}
		}()
		c.Get(keyOf(1), func() (int, error) {
			close(entered)
			<-release
			panic("boom")
		})
	})
	<-entered
	for range 4 {
		wg.Go(func() {
			if v, err := c.Get(keyOf(1), func() (int, error) { return 5, nil }); v != 5 || err != nil {
				t.Errorf("after a panic elsewhere: %d, %v", v, err)
			}
		})
	}
	close(release)
	wg.Wait()
	if s := c.Stats(); s != (Stats{Entries: 1, Made: 1, Failed: 2}) {
		t.Errorf("stats %+v", s)
	}
}

// What is used stays, what is not goes, and the size is bounded.
func TestCacheEviction(t *testing.T) {
	const limit = 64
	c := NewKeyed[testKey, int](limit)
	for i := range 1000 {
		c.Get(keyOf(i), func() (int, error) { return i, nil })
		for hot := range min(i+1, 10) {
			if v, ok := c.Lookup(keyOf(hot)); !ok || v != hot {
				t.Fatalf("entry %d, in constant use, is gone after %d", hot, i)
			}
		}
	}
	found := 0
	for i := range 1000 {
		if v, ok := c.Lookup(keyOf(i)); ok {
			found++
			if v != i {
				t.Errorf("key %d holds %d", i, v)
			}
		}
	}
	if found != limit {
		t.Errorf("%d entries found, want %d", found, limit)
	}
	if s := c.Stats(); s.Entries != limit || s.Evictions != 1000-limit {
		t.Errorf("stats %+v", s)
	}
}

func TestCacheConcurrent(t *testing.T) {
	c := NewKeyed[testKey, int](32)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5000 {
				i := rand.IntN(100)
				if v, err := c.Get(keyOf(i), func() (int, error) { return i, nil }); v != i || err != nil {
					t.Errorf("key %d: %d, %v", i, v, err)
				}
			}
		})
	}
	wg.Wait()
	if s := c.Stats(); s.Entries != 32 || s.Made != s.Evictions+32 {
		t.Errorf("stats %+v", s)
	}
}

// Evicted entries are collected: the cache keeps no reference to them.
func TestCacheDropsEvicted(t *testing.T) {
	c := NewKeyed[int, *[1024]byte](4)
	var dropped atomic.Int32
	for i := range 100 {
		c.Get(i, func() (*[1024]byte, error) {
			p := new([1024]byte)
			runtime.AddCleanup(p, func(struct{}) { dropped.Add(1) }, struct{}{})
			return p, nil
		})
	}
	for dropped.Load() < 96 {
		runtime.GC()
		runtime.Gosched()
	}
	if s := c.Stats(); s.Entries != 4 {
		t.Errorf("stats %+v", s)
	}
}

func TestCacheHitDoesNotAllocate(t *testing.T) {
	c := NewKeyed[testKey, *int](0)
	c.Get(keyOf(1), func() (*int, error) { return new(int), nil })
	if n := testing.AllocsPerRun(1000, func() { c.Lookup(keyOf(1)) }); n != 0 {
		t.Errorf("%v allocations per hit, want 0", n)
	}
}

func BenchmarkCacheHit(b *testing.B) {
	c := NewKeyed[testKey, *int](0)
	for i := range 1000 {
		c.Get(keyOf(i), func() (*int, error) { return new(int), nil })
	}
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i = (i + 1) % 1000 {
			c.Lookup(keyOf(i))
		}
	})
}

// The table grows while others look up; nobody compiles twice.
func TestCacheGrowsUnderReaders(t *testing.T) {
	c := NewKeyed[testKey, int](1 << 12)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 1 << 11 {
				if v, err := c.Get(keyOf(i), func() (int, error) { return i, nil }); v != i || err != nil {
					t.Errorf("goroutine %d: %d, %v for %d", g, v, err, i)
				}
				if v, ok := c.Lookup(keyOf(i / 2)); ok && v != i/2 {
					t.Errorf("goroutine %d: looked up %d for %d", g, v, i/2)
				}
			}
		})
	}
	wg.Wait()
	if s := c.Stats(); s.Made != 1<<11 || s.Entries != 1<<11 {
		t.Errorf("stats %+v", s)
	}
	for i := range 1 << 11 {
		if v, ok := c.Lookup(keyOf(i)); !ok || v != i {
			t.Fatalf("entry %d: %d, %v", i, v, ok)
		}
	}
}

// A cache that grows stays small while keys are new, and holds a working set that comes
// again after some rounds.
func TestGrowing(t *testing.T) {
	c := NewGrowing[int, int](4, 64)
	get := func(i int) {
		if v, err := c.Get(uint64(i)*0x9e3779b97f4a7c15, func(k *int) bool { return *k == i }, i, func() (int, error) { return i, nil }); v != i || err != nil {
			t.Fatalf("key %d: %d, %v", i, v, err)
		}
	}
	for i := range 1000 {
		get(i)
	}
	if s := c.Stats(); s.Entries != 4 || s.Made != 1000 {
		t.Errorf("after new keys: %+v, want 4 entries", s)
	}
	for range 10 {
		for i := range 40 {
			get(2000 + i)
		}
	}
	before := c.Stats()
	for i := range 40 {
		get(2000 + i)
	}
	if s := c.Stats(); s.Made != before.Made || s.Entries > 64 {
		t.Errorf("a working set of 40 is made again: %+v, then %+v", before, s)
	}
	for i := range 1000 {
		get(5000 + i)
	}
	if s := c.Stats(); s.Entries > 64 {
		t.Errorf("%d entries, want 64 at most", s.Entries)
	}
}
