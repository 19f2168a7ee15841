// Package cache holds what was compiled, planned or read, for as many keys as it
// has room for. It is made for reading: a hit takes no lock, writes no shared
// memory once an entry is known to be in use, and does not allocate.
package cache

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// Size is the number of entries that a cache holds unless told otherwise.
const Size = 4096

// A Cache maps keys, which their owner hashes and compares, to values. It holds a
// bounded number of entries and evicts the ones not used lately; eviction only
// drops the cache's reference, so a value that is held elsewhere lives on. At most
// one goroutine makes the value of a key at a time.
//
// A key holds content (programs, element types, an instruction set), never
// addresses or counters, so that equal work has equal keys.
type Cache[K, V any] struct {
	// A power of two, and as many as there are entries: the collector reads them
	// all. Chains change under mu only.
	buckets atomic.Pointer[[]atomic.Pointer[Entry[K, V]]]

	mu      sync.Mutex
	flights []*flight[K, V]
	ring    []*Entry[K, V] // the entries in clock order
	hand    int
	room    int      // number of entries kept
	limit   int      // the most that room grows to once evicted entries were asked for again
	gone    []uint64 // hashes of evicted entries, each at its place, while room may grow
	stats   Stats
}

// Stats counts what happened to a [Cache]. Hits are not counted: that would
// make them write shared memory.
type Stats struct {
	Entries   int
	Made      uint64 // values made
	Failed    uint64 // that returned an error or panicked
	Evictions uint64
}

// An Entry is a key and its value.
type Entry[K, V any] struct {
	key   K
	hash  uint64
	value V
	next  atomic.Pointer[Entry[K, V]]
	used  atomic.Bool // since the clock hand last passed
}

// A flight is a value in the making. ok is false if it panicked.
type flight[K, V any] struct {
	key   K
	hash  uint64 // of key, which may be long
	done  chan struct{}
	value V
	err   error
	ok    bool
}

// New returns an empty cache of at most limit entries, [Size] if limit is not
// positive.
func New[K, V any](limit int) *Cache[K, V] {
	if limit <= 0 {
		limit = Size
	}
	c := &Cache[K, V]{room: limit, limit: limit}
	c.rehash(16)
	return c
}

// NewGrowing returns an empty cache that keeps room entries, twice as many each time that
// one is asked for again that it evicted, and at most limit: keys that never come again do
// not fill it. Both are powers of two.
func NewGrowing[K, V any](room, limit int) *Cache[K, V] {
	c := New[K, V](limit)
	c.room = room
	return c
}

// rehash makes n buckets. A reader may meanwhile miss an entry, which it then
// looks for again under mu, but not run in circles: a link leads to an entry that
// was moved before, or on along an old chain. c.mu is held.
func (c *Cache[K, V]) rehash(n int) {
	b := make([]atomic.Pointer[Entry[K, V]], n)
	for _, e := range c.ring {
		chain := &b[e.hash&uint64(n-1)]
		e.next.Store(chain.Load())
		chain.Store(e)
	}
	c.buckets.Store(&b)
}

func (c *Cache[K, V]) bucket(hash uint64) *atomic.Pointer[Entry[K, V]] {
	b := *c.buckets.Load()
	return &b[hash&uint64(len(b)-1)]
}

// Find returns the value of the key that has the hash and for which is holds. It
// may miss one that is there while another is added; Get does not.
func (c *Cache[K, V]) Find(hash uint64, is func(key *K) bool) (value V, ok bool) {
	for e := c.First(hash); e != nil; e = e.Next() {
		if e.hash == hash && is(&e.key) {
			return e.Use(), true
		}
	}
	return value, false
}

// First returns the first of the entries among which the one of a hash is, nil if
// there are none: for those to whom the call of a function for each matters.
func (c *Cache[K, V]) First(hash uint64) *Entry[K, V] { return c.bucket(hash).Load() }

// Next returns the next of them, or nil.
func (e *Entry[K, V]) Next() *Entry[K, V] { return e.next.Load() }

// Key returns the entry's key if it has the hash, else nil.
func (e *Entry[K, V]) Key(hash uint64) *K {
	if e.hash != hash {
		return nil
	}
	return &e.key
}

// Use returns the entry's value and notes that it is in use.
func (e *Entry[K, V]) Use() V {
	if !e.used.Load() {
		e.used.Store(true)
	}
	return e.value
}

// Get returns the value that Find finds, and enters the one that make gives, with
// its key, if there is none. Goroutines that ask for the same key meanwhile wait
// and share the outcome. An error is handed to all of them and not kept. If make
// panics, the panic goes to its own caller and one of those that wait calls its
// make. make may use the cache for other keys.
func (c *Cache[K, V]) Get(hash uint64, is func(key *K) bool, key K, make func() (V, error)) (V, error) {
	for {
		if v, ok := c.Find(hash, is); ok {
			return v, nil
		}
		c.mu.Lock()
		if v, ok := c.Find(hash, is); ok {
			c.mu.Unlock()
			return v, nil
		}
		var f *flight[K, V]
		at := slices.IndexFunc(c.flights, func(f *flight[K, V]) bool { return f.hash == hash && is(&f.key) })
		if at >= 0 {
			f = c.flights[at]
		} else {
			f = &flight[K, V]{key: key, hash: hash, done: newDone()}
			c.flights = append(c.flights, f)
		}
		c.mu.Unlock()
		if at < 0 {
			return c.compile(f, make)
		}
		<-f.done
		if f.ok {
			return f.value, f.err
		}
	}
}

func newDone() chan struct{} { return make(chan struct{}) }

// Clear forgets all entries. Values in the making are entered when they are made.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ring, c.hand = nil, 0
	c.rehash(16)
}

func (c *Cache[K, V]) compile(f *flight[K, V], compile func() (V, error)) (V, error) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		at := slices.Index(c.flights, f)
		c.flights = slices.Delete(c.flights, at, at+1)
		if f.ok && f.err == nil {
			c.stats.Made++
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
	e := &Entry[K, V]{key: key, hash: hash, value: value}
	if n := len(*c.buckets.Load()); len(c.ring) == n && n < c.limit {
		c.rehash(2 * n)
	}
	if c.gone != nil && c.gone[hash%uint64(len(c.gone))] == hash && len(c.ring) == c.room {
		c.room *= 2
		if c.room == c.limit {
			c.gone = nil
		}
	}
	if len(c.ring) < c.room {
		c.ring = append(c.ring, e)
	} else {
		for c.ring[c.hand].used.Swap(false) {
			c.hand = (c.hand + 1) % c.room
		}
		old := c.ring[c.hand]
		c.unlink(old)
		c.ring[c.hand] = e
		c.hand = (c.hand + 1) % c.room
		c.stats.Evictions++
		if c.room < c.limit {
			if c.gone == nil {
				c.gone = make([]uint64, c.limit)
			}
			c.gone[old.hash%uint64(len(c.gone))] = old.hash
		}
	}
	b := c.bucket(hash)
	e.next.Store(b.Load())
	b.Store(e)
}

// unlink takes e out of its chain. Readers that stand on e still find their way
// on, for e keeps its own link.
func (c *Cache[K, V]) unlink(e *Entry[K, V]) {
	link := c.bucket(e.hash)
	for at := link.Load(); at != e; at = link.Load() {
		link = &at.next
	}
	link.Store(e.next.Load())
}

// Stats returns the counts so far.
func (c *Cache[K, V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Entries = len(c.ring)
	return s
}

// A Keyed is a cache by keys that Go compares.
type Keyed[K comparable, V any] struct {
	cache *Cache[K, V]
	seed  maphash.Seed
}

// NewKeyed returns an empty cache, as [New] does.
func NewKeyed[K comparable, V any](limit int) *Keyed[K, V] {
	return &Keyed[K, V]{New[K, V](limit), maphash.MakeSeed()}
}

// Lookup returns the value of key, if there is one; see [Cache.Find].
func (c *Keyed[K, V]) Lookup(key K) (value V, ok bool) {
	return c.cache.Find(maphash.Comparable(c.seed, key), func(k *K) bool { return *k == key })
}

// Get returns the value of key and makes it if there is none; see [Cache.Get].
func (c *Keyed[K, V]) Get(key K, make func() (V, error)) (V, error) {
	return c.cache.Get(maphash.Comparable(c.seed, key), func(k *K) bool { return *k == key }, key, make)
}

// Stats returns the counts so far.
func (c *Keyed[K, V]) Stats() Stats { return c.cache.Stats() }
