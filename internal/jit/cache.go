package jit

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// CacheSize is the number of kernels a cache holds unless told otherwise.
const CacheSize = 4096

// Cache maps keys to what was compiled for them. It holds a bounded number of
// entries and evicts the ones not used lately; eviction only drops the cache's
// reference, so code that is running or held elsewhere lives on. A hit takes no
// lock, writes no shared memory once an entry is known to be in use, and does not
// allocate. At most one goroutine compiles for a key at a time.
//
// A key holds content (programs, dtypes, an instruction set), never addresses or
// counters, so that equal work has equal keys.
type Cache[K comparable, V any] struct {
	seed maphash.Seed
	// A power of two, and as many as there are entries: the collector reads them
	// all. Chains change under mu only.
	buckets atomic.Pointer[[]atomic.Pointer[entry[K, V]]]

	mu      sync.Mutex
	flights []*flight[K, V]
	ring    []*entry[K, V] // the entries in clock order
	hand    int
	limit   int
	stats   CacheStats
}

// CacheStats counts what happened to a [Cache]. Hits are not counted: that would
// make them write shared memory.
type CacheStats struct {
	Entries   int
	Compiled  uint64 // successful compilations
	Failed    uint64 // compilations that returned an error or panicked
	Evictions uint64
}

type entry[K comparable, V any] struct {
	key   K
	hash  uint64
	value V
	next  atomic.Pointer[entry[K, V]]
	used  atomic.Bool // since the clock hand last passed
}

// flight is a compilation in progress. ok is false if it panicked.
type flight[K comparable, V any] struct {
	key   K
	hash  uint64 // of key, which may be long
	done  chan struct{}
	value V
	err   error
	ok    bool
}

// NewCache returns an empty cache of at most limit entries, [CacheSize] if limit
// is not positive.
func NewCache[K comparable, V any](limit int) *Cache[K, V] {
	if limit <= 0 {
		limit = CacheSize
	}
	c := &Cache[K, V]{seed: maphash.MakeSeed(), limit: limit}
	c.rehash(16)
	return c
}

// rehash makes n buckets. A reader may meanwhile miss an entry, which it then
// looks for again under mu, but not run in circles: a link leads to an entry that
// was moved before, or on along an old chain. c.mu is held.
func (c *Cache[K, V]) rehash(n int) {
	b := make([]atomic.Pointer[entry[K, V]], n)
	for _, e := range c.ring {
		chain := &b[e.hash&uint64(n-1)]
		e.next.Store(chain.Load())
		chain.Store(e)
	}
	c.buckets.Store(&b)
}

func (c *Cache[K, V]) bucket(hash uint64) *atomic.Pointer[entry[K, V]] {
	b := *c.buckets.Load()
	return &b[hash&uint64(len(b)-1)]
}

// Lookup returns the entry for key, if there is one. It may miss one that is
// there while another is added; Get does not.
func (c *Cache[K, V]) Lookup(key K) (value V, ok bool) {
	return c.lookup(key, maphash.Comparable(c.seed, key))
}

func (c *Cache[K, V]) lookup(key K, hash uint64) (value V, ok bool) {
	for e := c.bucket(hash).Load(); e != nil; e = e.next.Load() {
		if e.hash == hash && e.key == key {
			if !e.used.Load() {
				e.used.Store(true)
			}
			return e.value, true
		}
	}
	return value, false
}

// Get returns the entry for key, and calls compile to make it if there is none.
// Goroutines that ask for the same key meanwhile wait and share the outcome. An
// error is handed to all of them and not kept. If compile panics, the panic goes
// to its own caller and one of those that wait compiles again. compile may use
// the cache for other keys.
func (c *Cache[K, V]) Get(key K, compile func() (V, error)) (V, error) {
	hash := maphash.Comparable(c.seed, key)
	for {
		if v, ok := c.lookup(key, hash); ok {
			return v, nil
		}
		c.mu.Lock()
		if v, ok := c.lookup(key, hash); ok {
			c.mu.Unlock()
			return v, nil
		}
		var f *flight[K, V]
		at := slices.IndexFunc(c.flights, func(f *flight[K, V]) bool { return f.hash == hash && f.key == key })
		if at >= 0 {
			f = c.flights[at]
		} else {
			f = &flight[K, V]{key: key, hash: hash, done: make(chan struct{})}
			c.flights = append(c.flights, f)
		}
		c.mu.Unlock()
		if at < 0 {
			return c.compile(f, compile)
		}
		<-f.done
		if f.ok {
			return f.value, f.err
		}
	}
}

func (c *Cache[K, V]) compile(f *flight[K, V], compile func() (V, error)) (V, error) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		at := slices.Index(c.flights, f)
		c.flights = slices.Delete(c.flights, at, at+1)
		if f.ok && f.err == nil {
			c.stats.Compiled++
			c.insert(f.key, f.hash, f.value)
		} else {
			c.stats.Failed++
		}
		close(f.done)
	}()
	f.value, f.err = compile()
	f.ok = true
	return f.value, f.err
}

// insert adds an entry, in the place of one not used since the clock hand last
// passed it if the cache is full. c.mu is held.
func (c *Cache[K, V]) insert(key K, hash uint64, value V) {
	e := &entry[K, V]{key: key, hash: hash, value: value}
	if n := len(*c.buckets.Load()); len(c.ring) == n && n < c.limit {
		c.rehash(2 * n)
	}
	if len(c.ring) < c.limit {
		c.ring = append(c.ring, e)
	} else {
		for c.ring[c.hand].used.Swap(false) {
			c.hand = (c.hand + 1) % c.limit
		}
		c.unlink(c.ring[c.hand])
		c.ring[c.hand] = e
		c.hand = (c.hand + 1) % c.limit
		c.stats.Evictions++
	}
	b := c.bucket(hash)
	e.next.Store(b.Load())
	b.Store(e)
}

// unlink takes e out of its chain. Readers that stand on e still find their way
// on, for e keeps its own link.
func (c *Cache[K, V]) unlink(e *entry[K, V]) {
	link := c.bucket(e.hash)
	for at := link.Load(); at != e; at = link.Load() {
		link = &at.next
	}
	link.Store(e.next.Load())
}

// Stats returns the counts so far.
func (c *Cache[K, V]) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Entries = len(c.ring)
	return s
}
