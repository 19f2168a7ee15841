package weft

import (
	"sync"
	"sync/atomic"
)

// A table finds values by hash, without a lock; who adds holds it. Its buckets are
// as many as there are values, because the collector reads them all.
type table[V any] struct {
	sync.Mutex
	n       int
	limit   int // the table starts over when it holds so many
	buckets atomic.Pointer[[]atomic.Pointer[entry[V]]]
}

// An entry is never changed after it can be found.
type entry[V any] struct {
	hash  uint64
	value V
	next  *entry[V] // in its bucket: other hashes too
}

// first returns the first entry of the bucket of h.
func (t *table[V]) first(h uint64) *entry[V] {
	b := t.buckets.Load()
	if b == nil {
		return nil
	}
	return (*b)[h&uint64(len(*b)-1)].Load()
}

// add enters a value. The caller holds the lock.
func (t *table[V]) add(h uint64, v V) {
	b := t.buckets.Load()
	if b == nil || t.n == t.limit {
		fresh := make([]atomic.Pointer[entry[V]], 16)
		t.n, b = 0, &fresh
	} else if t.n == len(*b) {
		b = t.grown(*b)
	}
	t.n++
	chain := &(*b)[h&uint64(len(*b)-1)]
	chain.Store(&entry[V]{h, v, chain.Load()})
	t.buckets.Store(b)
}

// grown returns twice the buckets, with new entries: readers are on the old ones.
func (t *table[V]) grown(old []atomic.Pointer[entry[V]]) *[]atomic.Pointer[entry[V]] {
	b := make([]atomic.Pointer[entry[V]], 2*len(old))
	for i := range old {
		for e := old[i].Load(); e != nil; e = e.next {
			chain := &b[e.hash&uint64(len(b)-1)]
			chain.Store(&entry[V]{e.hash, e.value, chain.Load()})
		}
	}
	return &b
}

// clear forgets all values.
func (t *table[V]) clear() {
	t.Lock()
	defer t.Unlock()
	t.n = 0
	t.buckets.Store(nil)
}
