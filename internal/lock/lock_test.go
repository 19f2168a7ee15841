package lock

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// as returns a goroutine identity for Acquire.
func as(n int) func() uintptr { return func() uintptr { return uintptr(n) } }

// within fails the test if f does not return within a minute.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("hangs")
	}
}

// waits returns when n calls wait for l.
func waits(l *Lock, n int) {
	for {
		waiting.mu.Lock()
		k := len(waiting.queues[l])
		waiting.mu.Unlock()
		if k == n {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func must(t *testing.T, wants []Want, goroutine int, calls bool) Held {
	t.Helper()
	h, err := Acquire(context.Background(), wants, as(goroutine), calls)
	if err != nil {
		t.Error(err)
	}
	return h
}

// Calls that take several locks in any order, some for writing, exclude one another as their wants
// say. All return, and the table is empty afterwards.
func TestCallsExcludeEachOther(t *testing.T) {
	const locks = 5
	var l [locks]Lock
	var readers, writers [locks]atomic.Int32
	var plain [locks]int // which the race detector watches
	within(t, func() {
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 1))
				for range 2000 {
					var wants []Want
					for _, i := range r.Perm(locks)[:1+r.IntN(locks)] {
						wants = append(wants, Want{Lock: &l[i], Write: r.IntN(3) == 0})
						if r.IntN(8) == 0 {
							wants = append(wants, Want{Lock: &l[i]})
						}
					}
					h := must(t, wants, g, r.IntN(2) == 0)
					strongest := map[*Lock]bool{}
					for _, w := range wants {
						strongest[w.Lock] = strongest[w.Lock] || w.Write
					}
					for i := range l {
						write, ok := strongest[&l[i]]
						switch {
						case write:
							if writers[i].Add(1) != 1 || readers[i].Load() != 0 {
								t.Error("a writer is not alone")
							}
							plain[i]++
							writers[i].Add(-1)
						case ok:
							readers[i].Add(1)
							if writers[i].Load() != 0 {
								t.Error("a reader is beside a writer")
							}
							_ = plain[i]
							readers[i].Add(-1)
						}
					}
					h.Release()
				}
			})
		}
		wg.Wait()
	})
	for i := range l {
		if w := l[i].word.Load(); w != 0 {
			t.Errorf("lock %d is left as %x", i, w)
		}
	}
	if len(waiting.queues)+len(waiting.callers)+len(waiting.waits) > 0 {
		t.Errorf("left behind: %+v", &waiting)
	}
}

// Readers hold the lock together, registered ones too. A reader that comes after a waiting writer
// queues behind it, so that readers cannot starve it.
func TestReadersTogetherAndWritersInTurn(t *testing.T) {
	var l Lock
	read, write := []Want{{Lock: &l}}, []Want{{Lock: &l, Write: true}}
	within(t, func() {
		a, b, c := must(t, read, 1, false), must(t, read, 2, true), must(t, read, 3, false)
		var order []string
		var wg sync.WaitGroup
		wg.Go(func() {
			h := must(t, write, 4, false)
			order = append(order, "write")
			h.Release()
		})
		waits(&l, 1)
		wg.Go(func() {
			h := must(t, read, 5, false)
			order = append(order, "read")
			h.Release()
		})
		waits(&l, 2)
		inner := must(t, read, 2, false) // of what the goroutine reads already
		inner.Release()
		a.Release()
		b.Release()
		c.Release()
		wg.Wait()
		if len(order) != 2 || order[0] != "write" {
			t.Errorf("order %v", order)
		}
	})
}

// Of two calls whose inner calls want each other's memory, one is refused and the other proceeds.
// The same holds with a third call in the cycle. If that third call is not an inner one it starts
// over, and all proceed.
func TestCircleIsRefused(t *testing.T) {
	for _, between := range []bool{false, true} {
		var l [3]Lock // in the order in which calls take them
		c, b, a := &l[0], &l[1], &l[2]
		write := func(l ...*Lock) (w []Want) {
			for _, l := range l {
				w = append(w, Want{Lock: l, Write: true})
			}
			return w
		}
		within(t, func() {
			one, two := must(t, write(a), 1, true), must(t, write(b), 2, true)
			var wg sync.WaitGroup
			errs := make([]error, 3)
			call := func(i, g int, l ...*Lock) {
				h, err := Acquire(context.Background(), write(l...), as(g), false)
				errs[i] = err
				h.Release()
			}
			wanted := b
			if between {
				wg.Go(func() { call(2, 3, b, c) }) // takes c and waits for b
				waits(b, 1)
				wanted = c
			}
			wg.Go(func() {
				call(0, 1, wanted)
				one.Release()
			})
			if between {
				waits(c, 1)
			} else {
				waits(b, 1)
			}
			call(1, 2, a)
			two.Release()
			wg.Wait()
			if !between && (errs[0] == nil) == (errs[1] == nil) || between && slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
				t.Errorf("the calls ended with %v", errs)
			}
			for _, err := range errs[:2] {
				if err != nil && !errors.Is(err, ErrCircle) {
					t.Error(err)
				}
			}
		})
	}
}

// An inner call shares what the outer one reads, and is refused where one of them writes.
func TestInnerCalls(t *testing.T) {
	var l Lock
	for _, outer := range []bool{false, true} {
		for _, inner := range []bool{false, true} {
			within(t, func() {
				h := must(t, []Want{{Lock: &l, Write: outer}}, 1, true)
				if Holds(&l, as(1)) != outer || Holds(&l, as(2)) {
					t.Error("Holds is wrong")
				}
				for _, calls := range []bool{false, true} {
					k, err := Acquire(context.Background(), []Want{{Lock: &l, Write: inner}}, as(1), calls)
					if refused := outer || inner; refused != errors.Is(err, ErrInside) || !refused && err != nil {
						t.Errorf("outer call writes %v, inner %v: %v", outer, inner, err)
					}
					k.Release()
				}
				h.Release()
			})
		}
	}
	if w := l.word.Load(); w != 0 {
		t.Errorf("left as %x", w)
	}
}

// A call that gives up leaves the queue and lets the calls behind it in.
func TestWaitingEndsWithContext(t *testing.T) {
	var l Lock
	within(t, func() {
		h := must(t, []Want{{Lock: &l}}, 1, false)
		ctx, cancel := context.WithCancelCause(context.Background())
		cause := errors.New("enough")
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := Acquire(ctx, []Want{{Lock: &l, Write: true}}, as(2), false); !errors.Is(err, cause) {
				t.Error(err)
			}
		})
		waits(&l, 1)
		wg.Go(func() {
			h := must(t, []Want{{Lock: &l}}, 3, false)
			h.Release()
		})
		waits(&l, 2)
		cancel(cause)
		wg.Wait() // the reader came in beside the first one
		h.Release()
	})
	if w := l.word.Load(); w != 0 {
		t.Errorf("left as %x", w)
	}
}

// Released memory is claimed exactly once, by its last user.
func TestClaimAfterLastUse(t *testing.T) {
	for range 300 {
		var l Lock
		var released, claimed atomic.Int32
		var using atomic.Int32
		unused := func() {
			if released.Load() == 1 && l.Claim() {
				if claimed.Add(1); using.Load() != 0 {
					t.Error("claimed while in use")
				}
			}
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					l.Use()
					if released.Load() == 1 {
						if l.Unuse() {
							unused()
						}
						return
					}
					using.Add(1)
					using.Add(-1)
					if l.Unuse() {
						unused()
					}
				}
			})
		}
		wg.Go(func() {
			released.Store(1)
			unused()
		})
		wg.Wait()
		if n := claimed.Load(); n != 1 {
			t.Fatalf("claimed %d times", n)
		}
	}
}

func BenchmarkAcquire(b *testing.B) {
	for _, n := range []int{1, 4, 160} {
		l := make([]Lock, n)
		wants := make([]Want, n)
		for i := range l {
			wants[i] = Want{Lock: &l[i], Write: i%2 == 0}
		}
		b.Run(map[int]string{1: "1", 4: "4", 160: "160"}[n], func(b *testing.B) {
			for b.Loop() {
				h, _ := Acquire(context.Background(), wants, as(1), false)
				h.Release()
			}
		})
	}
}

// Concurrent nested calls on a few locks all return: each succeeds, or is refused because it would
// deadlock. Outermost calls are never refused.
func TestNestedCallsEnd(t *testing.T) {
	const locks = 4
	var l [locks]Lock
	var done, refused atomic.Int32
	within(t, func() {
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 2))
				some := func() (w []Want) {
					for _, i := range r.Perm(locks)[:1+r.IntN(2)] {
						w = append(w, Want{Lock: &l[i], Write: r.IntN(3) > 0})
					}
					return w
				}
				for range 500 {
					outer := must(t, some(), g, r.IntN(4) > 0)
					if outer.caller != nil {
						runtime.Gosched()
						switch inner, err := Acquire(context.Background(), some(), as(g), r.IntN(2) == 0); {
						case err == nil:
							done.Add(1)
							inner.Release()
						case errors.Is(err, ErrCircle):
							refused.Add(1)
						case !errors.Is(err, ErrInside):
							t.Error(err)
						}
					}
					outer.Release()
				}
			})
		}
		wg.Wait()
	})
	t.Logf("%d inner calls done, %d refused in a circle", done.Load(), refused.Load())
	if done.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d inner calls done, %d refused in a circle", done.Load(), refused.Load())
	}
	if len(waiting.queues)+len(waiting.callers)+len(waiting.waits) > 0 {
		t.Errorf("left behind: %+v", &waiting)
	}
}

// A call around others lends its locks to inner calls, which hold them against calls inside themselves.
func TestAround(t *testing.T) {
	var read, written Lock
	wants := func(write ...bool) []Want {
		return []Want{{Lock: &read, Write: write[0]}, {Lock: &written, Write: write[1]}}
	}
	outer := must(t, []Want{{Lock: &read, Around: true}, {Lock: &written, Write: true, Around: true}}, 1, true)
	refused := func(what string, wants []Want) {
		t.Helper()
		if _, err := Acquire(context.Background(), wants, as(1), true); !errors.Is(err, ErrInside) {
			t.Errorf("%s: %v, want ErrInside", what, err)
		}
	}
	refused("a write of what the outer call reads", wants(true, true))
	refused("another call around that writes", []Want{{Lock: &written, Write: true, Around: true}})
	around := must(t, []Want{{Lock: &written, Around: true}}, 1, true) // such as one that finds a size
	around.Release()
	inner := must(t, wants(false, true), 1, true)
	refused("a write of what the inner call writes", wants(false, true))
	refused("a read of what the inner call writes", wants(false, false))
	done := make(chan Held)
	go func() { done <- must(t, wants(false, true), 2, false) }()
	waits(&written, 1)
	inner.Release()
	again := must(t, wants(false, true), 1, false)
	again.Release()
	outer.Release()
	within(t, func() { other := <-done; other.Release() })
	if read.word.Load()|written.word.Load() != 0 || len(waiting.callers) != 0 {
		t.Error("locks or callers are left")
	}
}
