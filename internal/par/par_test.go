package par

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"weft/internal/mem/guard"
)

// cover runs over n indices and checks that every one is visited once, in chunks
// of the grain, by workers below the thread count that do not overlap.
func cover(t *testing.T, n, grain, threads int) {
	t.Helper()
	seen := make([]atomic.Int32, n)
	width := Width(n, grain, threads)
	busy := make([]atomic.Int32, width)
	Run(n, grain, threads, func(worker, begin, end int) {
		if worker < 0 || worker >= width {
			t.Errorf("worker %d, width %d", worker, width)
			return
		}
		if busy[worker].Add(1) != 1 {
			t.Errorf("worker %d runs two chunks at once", worker)
		}
		if grain > 0 && (begin%grain != 0 || end != min(begin+grain, n)) {
			t.Errorf("chunk %d:%d with grain %d of %d", begin, end, grain, n)
		}
		for i := begin; i < end; i++ {
			seen[i].Add(1)
		}
		busy[worker].Add(-1)
	})
	for i := range seen {
		if c := seen[i].Load(); c != 1 {
			t.Fatalf("Run(%d, %d, %d): index %d visited %d times", n, grain, threads, i, c)
		}
	}
}

func TestRunCovers(t *testing.T) {
	for _, procs := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("GOMAXPROCS=%d", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			for _, n := range []int{0, 1, 2, 63, 64, 65, 1000, 4097} {
				for _, grain := range []int{-1, 0, 1, 2, 64, 5000} {
					for _, threads := range []int{0, 1, 2, 3, 5, 16} {
						cover(t, n, grain, threads)
					}
				}
			}
		})
	}
	Run(-5, 1, 2, func(worker, begin, end int) { t.Error("called for a negative range") })
}

// Each thread begins with a part of its own, and one that is done takes from the others.
func TestPartsOfThreads(t *testing.T) {
	const n, grain, threads = 31, 2, 3
	var begins [threads][]int
	var began sync.WaitGroup
	began.Add(threads)
	rest := make(chan struct{})
	var mu sync.Mutex
	done := 0
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	Run(n, grain, threads, func(worker, begin, end int) {
		mu.Lock()
		first := begins[worker] == nil
		begins[worker] = append(begins[worker], begin)
		mu.Unlock()
		if first {
			began.Done()
			began.Wait()
			if worker == 1 {
				<-rest // all other chunks are the others'
				return
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if done += end - begin; done == n-grain {
			close(rest)
		}
	})
	for w, first := range [threads]int{0, 12, 22} { // of 16 chunks six, five and five
		if begins[w][0] != first {
			t.Errorf("worker %d began with chunk %d, want %d", w, begins[w][0], first)
		}
	}
	if len(begins[1]) != 1 {
		t.Errorf("a worker that waited did the chunks %v", begins[1])
	}
}

// More threads than processors are granted when asked for: all five must be in
// their chunk at the same time for any to leave it.
func TestMoreThreadsThanProcs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	defer SetThreads(SetThreads(5))
	if Threads() != 5 {
		t.Fatalf("Threads() = %d after SetThreads(5)", Threads())
	}
	var in sync.WaitGroup
	in.Add(5)
	var workers [5]atomic.Int32
	Run(5, 1, 0, func(worker, begin, end int) {
		workers[worker].Add(1)
		in.Done()
		in.Wait()
	})
	for w := range workers {
		if c := workers[w].Load(); c != 1 {
			t.Errorf("worker %d ran %d chunks, want 1", w, c)
		}
	}
}

func TestSetThreads(t *testing.T) {
	before := SetThreads(3)
	if old := SetThreads(-1); old != 3 || Threads() != runtime.GOMAXPROCS(0) {
		t.Errorf("old %d, Threads %d", old, Threads())
	}
	SetThreads(before)
}

func TestWidth(t *testing.T) {
	for _, c := range []struct{ n, grain, threads, want int }{
		{0, 1, 4, 1}, {1, 1, 4, 1}, {10, 3, 8, 4}, {100, 1, 8, 8}, {100, 1, 1, 1}, {1 << 40, 1, 1 << 30, maxWorkers + 1},
	} {
		if got := Width(c.n, c.grain, c.threads); got != c.want {
			t.Errorf("Width(%d, %d, %d) = %d, want %d", c.n, c.grain, c.threads, got, c.want)
		}
	}
}

// onWorker runs f once on a goroutine of the pool. The caller's chunk, if it gets
// one, waits for that.
func onWorker(f func()) {
	var once sync.Once
	started := make(chan struct{})
	Run(2, 1, 2, func(worker, begin, end int) {
		if worker == 0 {
			<-started
			return
		}
		once.Do(func() {
			close(started)
			f()
		})
	})
}

func TestPanicOnWorker(t *testing.T) {
	want := errors.New("carried")
	for range 50 {
		got := func() (v any) {
			defer func() { v = recover() }()
			onWorker(func() { panic(want) })
			return nil
		}()
		if got != any(want) {
			t.Fatalf("recovered %v, want the value the worker panicked with", got)
		}
		cover(t, 100, 3, 4)
	}
}

// A chunk on the caller that panics must not leave before the others have ended,
// and the rest must not be started.
func TestPanicWaits(t *testing.T) {
	var running, ran atomic.Int32
	func() {
		defer func() {
			if v := recover(); v != "stop" {
				t.Errorf("recovered %v", v)
			}
			if n := running.Load(); n != 0 {
				t.Errorf("%d chunks still running after the panic", n)
			}
		}()
		var once sync.Once
		other := make(chan struct{})
		Run(1_000_000, 1, 4, func(worker, begin, end int) {
			ran.Add(1)
			if worker == 0 {
				<-other
				panic("stop")
			}
			running.Add(1)
			once.Do(func() { close(other) })
			time.Sleep(time.Millisecond)
			running.Add(-1)
		})
	}()
	if n := ran.Load(); n == 1_000_000 {
		t.Error("all chunks ran in spite of the panic")
	}
}

// A fault on a worker becomes a panic on the caller where that was asked for.
func TestPanicOnFault(t *testing.T) {
	if !guard.Available {
		t.Skip("SKIPPED: no inaccessible pages on this platform")
	}
	defer SetPanicOnFault(SetPanicOnFault(true))
	buf, err := guard.End(64)
	if err != nil {
		t.Fatal(err)
	}
	defer buf.Close()
	outside := unsafe.Add(buf.Ptr(), 64)
	defer func() {
		if a, ok := recover().(interface{ Addr() uintptr }); !ok || a.Addr() != uintptr(outside) {
			t.Error("the fault was not carried")
		}
	}()
	onWorker(func() { *(*byte)(outside) = 1 })
}

func TestPanicNil(t *testing.T) {
	defer func() {
		if _, ok := recover().(*runtime.PanicNilError); !ok {
			t.Error("panic(nil) was not carried")
		}
	}()
	onWorker(func() { panic(nil) })
}

// Goexit, which is what testing's FailNow does, ends the caller from a chunk on
// either side, and costs the pool no worker.
func TestGoexit(t *testing.T) {
	for i := range 20 {
		returned := false
		done := make(chan struct{})
		go func() {
			defer close(done)
			if i%2 == 0 {
				onWorker(runtime.Goexit)
			} else {
				caller := make(chan struct{}) // has a chunk
				Run(2, 1, 2, func(worker, begin, end int) {
					if worker == 0 {
						close(caller)
						runtime.Goexit()
					}
					<-caller
				})
			}
			returned = true
		}()
		<-done
		if returned {
			t.Fatal("Run returned after Goexit in a chunk")
		}
		onWorker(func() {}) // hangs if the worker is lost
	}
}

func TestNested(t *testing.T) {
	var total atomic.Int64
	Run(8, 1, 4, func(_, begin, end int) {
		Run(16, 1, 4, func(_, b, e int) {
			Run(32, 4, 4, func(_, b, e int) { total.Add(int64(e - b)) })
		})
	})
	if got := total.Load(); got != 8*16*32 {
		t.Errorf("%d innermost indices, want %d", got, 8*16*32)
	}
}

func TestManyCallers(t *testing.T) {
	var wg sync.WaitGroup
	for c := range 16 {
		wg.Go(func() {
			for r := range 60 {
				cover(t, 50+c, 1+r%7, 2+r%4)
			}
		})
	}
	wg.Wait()
	if w := working.Load(); w != 0 {
		t.Errorf("%d still counted as working", w)
	}
}

// Spinning and parked workers must let collections and other goroutines through.
func TestCollectionsFinish(t *testing.T) {
	for range 20 {
		cover(t, 100, 1, 4)
		runtime.GC()
	}
}

// Idle workers park, and a Run finds them again.
func TestPark(t *testing.T) {
	for range 3 {
		cover(t, 64, 1, 3)
		for Hot() {
			time.Sleep(time.Millisecond)
		}
		p := *pool.all.Load()
		for !slices.ContainsFunc(p, func(w *worker) bool { return w.parked.Load() }) {
			time.Sleep(time.Millisecond)
		}
		onWorker(func() {})
	}
}

// Questions for workers that follow one another closely are answered as if one spun,
// so that the next Run wakes it.
func TestSteady(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for spinning.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	for range 1000 {
		asked.Store(-int64(time.Hour))
		if Hot() {
			t.Fatal("a first question found a worker")
		}
		if Hot() { // unless this goroutine lost its processor
			runtime.GOMAXPROCS(1)
			if asked.Store(int64(time.Since(started))); Hot() {
				t.Error("there is no processor for a worker")
			}
			return
		}
	}
	t.Error("no question found a worker")
}

type nothing struct{ sum atomic.Int64 }

func (n *nothing) Chunk(_, begin, end int) { n.sum.Add(int64(end - begin)) }

func TestRunTaskDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("SKIPPED: sync.Pool drops items at random under the race detector")
	}
	var task nothing
	RunTask(64, 1, 2, &task)
	if n := testing.AllocsPerRun(500, func() { RunTask(64, 1, 2, &task) }); n >= 1 {
		t.Errorf("%v allocations per Run, want 0", n)
	}
}

func BenchmarkInline(b *testing.B) {
	var task nothing
	b.ReportAllocs()
	for b.Loop() {
		RunTask(64, 64, 2, &task)
	}
}

// BenchmarkHot is the cost of a Run whose work is nothing, with one worker
// spinning.
func BenchmarkHot(b *testing.B) {
	var task nothing
	b.ReportAllocs()
	for b.Loop() {
		RunTask(2, 1, 2, &task)
	}
}

// meet is two chunks that wait for each other, so that the worker must take part.
type meet struct{ in atomic.Int64 }

func (m *meet) Chunk(_, _, _ int) {
	m.in.Add(1)
	for m.in.Load()&1 != 0 {
		pause(1)
	}
}

// BenchmarkHandOff is the time until a worker runs a chunk, and back.
func BenchmarkHandOff(b *testing.B) {
	for _, idle := range []time.Duration{0, 20 * time.Microsecond, 2 * time.Millisecond} {
		b.Run(fmt.Sprintf("idle=%v", idle), func(b *testing.B) {
			if runtime.GOMAXPROCS(0) < 2 {
				b.Skip("SKIPPED: needs two processors")
			}
			var m meet
			var spent time.Duration
			n := 0
			for b.Loop() {
				for start := time.Now(); time.Since(start) < idle; {
				}
				start := time.Now()
				RunTask(2, 1, 2, &m)
				spent += time.Since(start)
				n++
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(n), "ns/run")
		})
	}
}

// A GOMAXPROCS beyond the processors of the machine makes no room for spinning workers: they would take the
// processors of those that work.
func TestNoSpinningBeyondProcessors(t *testing.T) {
	n := runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4 * n))
	spinning.Add(int64(n))
	defer spinning.Add(-int64(n))
	asked := 0
	if spinUntil(0, func() bool { asked++; return false }) || asked > 2 {
		t.Errorf("with %d others spinning on %d processors, a worker looked for work %d times: want 2 at most", n, n, asked)
	}
}
