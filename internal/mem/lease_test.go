package mem

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func mustLend(t testing.TB, p *Pool, n int) *Lease {
	t.Helper()
	l, err := p.Lend(n)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// settle collects until the pool has want live bytes.
func settle(t *testing.T, p *Pool, want int64) {
	t.Helper()
	for tries := 0; tries < 100 && p.Stats().Live != want; tries++ {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if live := p.Stats().Live; live != want {
		t.Fatalf("%d bytes live, want %d", live, want)
	}
}

func TestLeaseReturned(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	l := mustLend(t, p, 5000)
	at := l.Ptr()
	l.Return()
	if live := p.Stats().Live; live != 0 {
		t.Fatalf("%d bytes live after Return", live)
	}
	again := mustLend(t, p, 5000)
	if again != l || again.Ptr() != at {
		t.Error("the lease of a free block was not handed out again")
	}
	again.Return()
	if n := testing.AllocsPerRun(100, func() { mustLend(t, p, 5000).Return() }); n != 0 {
		t.Errorf("lending a block that has a lease allocates %v objects", n)
	}
	defer func() {
		if recover() == nil {
			t.Error("a lease was returned twice")
		}
		settle(t, p, 0)
	}()
	again.Return()
}

// A lease that nobody returns goes back with the collection that finds it, the
// first time and after it was returned and lent again.
func TestLeaseCollected(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	for _, n := range []int{2000, 1 << 20} {
		for range 3 {
			mustLend(t, p, n).Return()
			mustLend(t, p, n)
			mustLend(t, p, n)
			settle(t, p, 0)
		}
		l := mustLend(t, p, n)
		for range 3 {
			runtime.GC()
		}
		if live := p.Stats().Live; live == 0 {
			t.Error("a lease in use was collected")
		}
		l.Return()
	}
}

// A block with a lease serves as a plain block too, and the lease waits.
func TestLeaseOfPlainBlock(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	l := mustLend(t, p, 1<<20)
	l.Return()
	b := mustAlloc(t, p, 1<<20)
	if b.Ptr() != l.Ptr() {
		t.Fatal("the free block was not used")
	}
	for range 3 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if !b.Live() {
		t.Fatal("the lease freed a block that it did not lend")
	}
	p.Free(b)
	if again := mustLend(t, p, 1<<20); again != l {
		t.Error("the lease was lost")
	}
}

// A mapping that goes away takes its leases with it; their cleanups do nothing.
func TestLeaseUnmapped(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	for _, n := range []int{2000, 1 << 20} {
		mustLend(t, p, n).Return()
		p.Trim()
		if m := mapped.Load(); m != 0 {
			t.Fatalf("%d bytes mapped after Trim", m)
		}
		collect() // runs the cleanups
		settle(t, p, 0)
	}
	// A full pool unmaps at once what is returned.
	l := mustLend(t, p, 1<<20)
	p.keep.Store(-1)
	l.Return()
	if m := mapped.Load(); m != 0 {
		t.Fatalf("%d bytes mapped", m)
	}
	collect()
	settle(t, p, 0)
}

func TestLeaseConcurrent(t *testing.T) {
	var mapped atomic.Int64
	p := testPool(&mapped)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 300 {
				l := mustLend(t, p, 2000)
				*(*int)(l.Ptr()) = g
				if i%3 == 0 {
					p.Free(mustAlloc(t, p, 2000))
				}
				if i%100 == 50 {
					p.Trim()
				}
				if *(*int)(l.Ptr()) != g {
					t.Error("two holders of one block")
				}
				if i%2 == 0 {
					l.Return()
				}
				runtime.KeepAlive(l)
			}
		})
	}
	wg.Wait()
	settle(t, p, 0)
}
