// Package lock records who uses a block of memory: runs that keep it from being freed, and calls of
// compiled functions that read or write it.
//
// A [Lock] is one word beside the memory: a reference count and a readers-writer lock. A use keeps
// the memory and excludes nobody. A reading call excludes writing calls, a writing call excludes
// all others. A call takes all its locks with [Acquire] and holds them until it returns. All calls
// lock in the order of addresses, which rules out deadlock (lock ordering).
//
// A call that runs user functions holds its locks while these functions make inner calls. Such
// calls are registered by goroutine. An inner call shares the locks that its goroutine already
// holds. An inner call fails with [ErrInside] if it or the outer call writes the shared memory, and
// with [ErrCircle] if waiting would deadlock.
package lock

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Lock is the lock word of one block of memory. The zero value is an unlocked one.
type Lock struct{ word atomic.Uint64 }

// Fields of the word: the counts of uses and of reading calls, then flags.
const (
	use     = 1
	uses    = 1<<24 - 1
	read    = 1 << 24
	reads   = uses << 24
	writing = 1 << 48
	queued  = 1 << 49 // calls wait in the queue: new calls go behind them
	gone    = 1 << 50 // the memory was claimed to be freed
	busy    = uses | reads | writing
)

// Use begins a use of the memory.
func (l *Lock) Use() { l.word.Add(use) }

// Unuse ends a use. It reports whether the memory has no use and no call left.
func (l *Lock) Unuse() (last bool) { return l.word.Add(^uint64(use-1))&busy == 0 }

// Claim reports true to exactly one caller once nobody uses the memory; that caller frees it. It is
// called by whoever ends the last use of released memory, and by whoever releases it.
func (l *Lock) Claim() bool {
	for {
		w := l.word.Load()
		if w&(busy|gone) != 0 {
			return false
		}
		if l.word.CompareAndSwap(w, w|gone) {
			return true
		}
	}
}

// try takes the lock if that is possible without waiting. first says that the call is at the head
// of the queue.
func (l *Lock) try(write, first bool) bool {
	for {
		w := l.word.Load()
		if w&queued != 0 && !first || w&writing != 0 || write && w&reads != 0 {
			return false
		}
		n := w + read
		if write {
			n = w | writing
		}
		if l.word.CompareAndSwap(w, n) {
			return true
		}
	}
}

// unlock gives the lock back and reports whether nobody uses the memory now.
func (l *Lock) unlock(write bool) (last bool) {
	less := uint64(read)
	if write {
		less = writing
	}
	w := l.word.Add(-less)
	if w&queued != 0 && w&(writing|reads) == 0 {
		waiting.mu.Lock()
		waiting.grant(l)
		waiting.mu.Unlock()
	}
	return w&busy == 0
}

// A Want is a lock that a call asks for.
type Want struct {
	Lock  *Lock
	Write bool
	// Around says that the call touches the memory by inner calls of its goroutine alone. These
	// may read it. They may write it if Write is set, unless they have an Around of their own.
	Around bool
	// Of, unless nil, is told when the lock was given back and nobody uses the memory.
	Of interface{ Unused() }
}

// Errors of [Acquire], in addition to the context's error.
var (
	// ErrInside says that the goroutine is inside a call that uses the memory.
	ErrInside = errors.New("a call that is under way on the same goroutine uses the memory")
	// ErrCircle says that the call would deadlock.
	ErrCircle = errors.New("calls wait for one another in a circle")
)

// A Held is the set of locks that a call holds.
type Held struct {
	wants  []Want
	caller *caller // nil if the call is not registered
	before int     // number of locks that its goroutine held before
}

// Acquire takes all locks of a list, or takes none and returns an error. It waits for other calls
// until ctx ends; ctx may be nil. goroutine returns the identity of the calling goroutine, and is
// called only when needed. calls is true if the call runs user functions. Requires: the caller does
// not change the list before Release.
func Acquire(ctx context.Context, wants []Want, goroutine func() uintptr, calls bool) (Held, error) {
	if !calls {
		taken := 0
		for taken < len(wants) && wants[taken].Lock.try(wants[taken].Write, false) {
			taken++
		}
		if taken == len(wants) {
			return Held{wants: wants}, nil
		}
		releaseAll(wants[:taken])
	}
	return acquire(ctx, slices.Clone(wants), goroutine(), calls)
}

func releaseAll(wants []Want) {
	for i := range wants {
		wants[i].release()
	}
}

// Release gives back all locks that the call holds.
func (h *Held) Release() {
	if h.caller != nil {
		h.caller.leave(h)
	}
	releaseAll(h.wants)
	*h = Held{}
}

func (w *Want) release() {
	if w.Lock.unlock(w.Write) && w.Of != nil {
		w.Of.Unused()
	}
}

// A caller is a goroutine that is inside registered calls or waits for a lock.
type caller struct {
	goroutine uintptr
	depth     int    // nesting of registered calls
	held      []Want // locks of the registered calls, then those that a waiting call has so far
	wait      *waiter
}

// A waiter is a place in the queue of a lock.
type waiter struct {
	Want
	of   *caller
	done chan error // nil: it has the lock
}

// A table is the wait-for graph of callers and locks. Only waiting and registered calls touch it.
type table struct {
	mu      sync.Mutex
	queues  map[*Lock][]*waiter
	callers map[uintptr]*caller // by goroutine, of registered calls
	waits   map[*caller]bool
}

var waiting = table{queues: map[*Lock][]*waiter{}, callers: map[uintptr]*caller{}, waits: map[*caller]bool{}}

// Holds reports whether the goroutine is inside a registered call that writes the memory of l.
func Holds(l *Lock, goroutine func() uintptr) bool {
	if l.word.Load()&writing == 0 {
		return false
	}
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	c := waiting.callers[goroutine()]
	return c != nil && slices.ContainsFunc(c.held, func(w Want) bool { return w.Lock == l && w.Write })
}

// errAgain tells a call to give back its locks and start over, so that others can proceed.
var errAgain = errors.New("again")

// acquire is the slow path of Acquire: a registered call, or one that has to wait. It may change
// list.
func acquire(ctx context.Context, list []Want, goroutine uintptr, calls bool) (Held, error) {
	for {
		h, err := waiting.acquire(ctx, list, goroutine, calls)
		if err != errAgain {
			return h, err
		}
	}
}

func (t *table) acquire(ctx context.Context, list []Want, goroutine uintptr, calls bool) (h Held, err error) {
	// Sort by address and merge duplicates.
	slices.SortStableFunc(list, func(a, b Want) int {
		return cmp.Compare(uintptr(unsafe.Pointer(a.Lock)), uintptr(unsafe.Pointer(b.Lock)))
	})
	k := 0
	for _, w := range list {
		if k > 0 && list[k-1].Lock == w.Lock {
			list[k-1].Write = list[k-1].Write || w.Write
			continue
		}
		list[k] = w
		k++
	}
	list = list[:k]

	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.callers[goroutine]
	if c == nil {
		c = &caller{goroutine: goroutine}
	}
	h.before = len(c.held)
	rest := list[:0]
	var lent []Want // held around the call
	for _, w := range list {
		i := len(c.held) - 1 // of the innermost call
		for i >= 0 && c.held[i].Lock != w.Lock {
			i--
		}
		switch {
		case i < 0:
			rest = append(rest, w)
		case c.held[i].Around && (!w.Write || c.held[i].Write && !w.Around):
			lent = append(lent, w)
		case c.held[i].Write || w.Write:
			return Held{}, ErrInside
		}
	}
	for i := range rest {
		if err := t.take(ctx, c, rest[i]); err != nil {
			c.held = c.held[:h.before]
			t.mu.Unlock() // giving back asks for it
			releaseAll(rest[:i])
			t.mu.Lock()
			return Held{}, err
		}
		c.held = append(c.held, rest[i])
	}
	c.held = append(c.held, lent...)
	h.wants = rest
	if !calls {
		c.held = c.held[:h.before]
		return h, nil
	}
	c.depth++
	t.callers[goroutine] = c
	h.caller = c
	return h, nil
}

// leave ends a registered call.
func (c *caller) leave(h *Held) {
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	c.held = c.held[:h.before]
	if c.depth--; c.depth == 0 {
		delete(waiting.callers, c.goroutine)
	}
}

// take waits for a lock and takes it. Requires t.mu, which it unlocks while it waits.
func (t *table) take(ctx context.Context, c *caller, want Want) error {
	if want.Lock.try(want.Write, false) {
		return nil
	}
	w := &waiter{Want: want, of: c, done: make(chan error, 1)}
	t.queues[want.Lock] = append(t.queues[want.Lock], w)
	want.Lock.word.Or(queued)
	c.wait = w
	t.waits[c] = true
	defer func() {
		c.wait = nil
		delete(t.waits, c)
	}()
	t.grant(want.Lock)
	for { // there may be several cycles
		path := t.circle(c)
		if path == nil {
			break
		}
		t.open(path)
	}
	t.mu.Unlock()
	var ended <-chan struct{}
	if ctx != nil {
		ended = ctx.Done()
	}
	select {
	case err := <-w.done:
		t.mu.Lock()
		return err
	case <-ended:
	}
	t.mu.Lock()
	if t.remove(w) {
		return context.Cause(ctx)
	}
	return <-w.done // granted or refused before the context ended it
}

// grant gives a lock to the waiters at the head of its queue until one conflicts. Requires t.mu.
func (t *table) grant(l *Lock) {
	q := t.queues[l]
	for len(q) > 0 && l.try(q[0].Write, true) {
		q[0].done <- nil
		q = q[1:]
	}
	if len(q) == 0 {
		delete(t.queues, l)
		l.word.And(^uint64(queued))
		return
	}
	t.queues[l] = q
}

// remove takes a waiter out of its queue and reports whether it was there. Requires t.mu.
func (t *table) remove(w *waiter) bool {
	q := t.queues[w.Lock]
	i := slices.Index(q, w)
	if i < 0 {
		return false
	}
	t.queues[w.Lock] = slices.Delete(slices.Clone(q), i, i+1)
	t.grant(w.Lock)
	return true
}

// open breaks a cycle of callers that wait for one another. If one of them is not inside another
// call, it starts over. Otherwise the last one is refused.
func (t *table) open(path []*caller) {
	victim, err := path[len(path)-1], ErrCircle
	for _, c := range path {
		if c.depth == 0 {
			victim, err = c, errAgain
		}
	}
	if t.remove(victim.wait) {
		victim.wait.done <- err
	}
}

// circle returns the callers of a cycle through c in the wait-for graph, or nil.
func (t *table) circle(c *caller) []*caller {
	seen := map[*caller]bool{}
	var path []*caller
	var walk func(x *caller) bool
	walk = func(x *caller) bool {
		w := x.wait
		if w == nil || seen[x] || !slices.Contains(t.queues[w.Lock], w) {
			return false // it runs, or was just granted its lock
		}
		seen[x] = true
		path = append(path, x)
		for y := range t.blockers(w) {
			if y == c || walk(y) {
				return true
			}
		}
		path = path[:len(path)-1]
		return false
	}
	if !walk(c) {
		return nil
	}
	return path
}

// blockers returns the callers that a waiter waits for: known holders and those before it in the
// queue.
func (t *table) blockers(w *waiter) map[*caller]bool {
	out := map[*caller]bool{}
	add := func(c *caller) {
		if c != w.of && slices.ContainsFunc(c.held, func(o Want) bool { return o.Lock == w.Lock && (o.Write || w.Write) }) {
			out[c] = true
		}
	}
	for _, c := range t.callers {
		add(c)
	}
	for c := range t.waits {
		add(c)
	}
	for _, o := range t.queues[w.Lock] {
		if o == w {
			break
		}
		if o.Write || w.Write {
			out[o.of] = true
		}
	}
	return out
}
