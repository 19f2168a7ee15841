package par

import (
	"runtime"
	"sync"
	"sync/atomic"

	"weft/internal/profile"
)

// Task is a loop body that [RunTask] runs without allocating: a pointer to a
// struct that holds what a closure would capture.
type Task interface {
	// Chunk does the indices begin to end-1. worker is at least 0 and less than
	// the thread count of the Run; no two calls with the same worker overlap
	// within one Run, so it may index scratch that belongs to the Run. The
	// caller of Run is worker 0.
	Chunk(worker, begin, end int)
}

// body adapts a function to Task. A func value is pointer-shaped, so the
// conversion does not allocate.
type body func(worker, begin, end int)

func (f body) Chunk(worker, begin, end int) { f(worker, begin, end) }

// job is one Run while it is shared with workers.
type job struct {
	task  Task
	n     int64
	parts []part // one a thread, in order
	_     [64]byte
	// finished counts the helpers that are done. A caller that stops spinning
	// subtracts the number that joined, so that whoever brings it back to zero
	// knows that the caller sleeps.
	finished atomic.Int64
	_        [64]byte
	grain    int64
	wake     chan struct{}  // capacity 1: the last helper wakes the caller
	share    *profile.Share // what helpers take down, nil for nothing
	offered  []*worker

	mu       sync.Mutex
	panicked bool // a chunk panicked or called Goexit; guarded by mu
	goexit   bool
	value    any
}

// A part of the range is what one thread begins with.
type part struct {
	next atomic.Int64 // first index not handed out
	end  int64
	_    [112]byte // the processor fetches lines in pairs
}

var jobs = sync.Pool{New: func() any { return &job{wake: make(chan struct{}, 1)} }}

var defaultThreads atomic.Int64 // 0: GOMAXPROCS

// Threads returns how many threads a Run uses when it does not say: what
// [SetThreads] set, or GOMAXPROCS.
func Threads() int {
	if n := defaultThreads.Load(); n > 0 {
		return int(n)
	}
	return runtime.GOMAXPROCS(0)
}

// SetThreads sets the default of [Threads] for the process and returns the number
// set before (0: GOMAXPROCS). n <= 0 restores GOMAXPROCS. More threads than
// GOMAXPROCS are granted, which tests use.
func SetThreads(n int) (old int) {
	return int(defaultThreads.Swap(int64(max(n, 0))))
}

// Width returns the number of threads, the caller's included, that a Run with
// these arguments may use: an upper bound of worker+1, to size scratch by.
func Width(n, grain, threads int) int {
	if n <= 0 {
		return 1
	}
	if threads <= 0 {
		threads = Threads()
	}
	grain = grainFor(n, grain, threads)
	chunks := (n-1)/grain + 1
	return max(min(threads, chunks, maxWorkers+1), 1)
}

func grainFor(n, grain, threads int) int {
	if grain > 0 {
		return grain
	}
	// Four chunks a thread even out cores of unequal speed.
	return max(n/(4*threads), 1)
}

// Run calls f over chunks of the range 0 to n-1 and returns when all are done.
// Every chunk begins at a multiple of grain and is grain long, but for the last;
// grain <= 0 picks one from n and threads. threads <= 0 means [Threads]; a number
// above GOMAXPROCS is granted. See [Task] for worker. A panic in f is carried to
// the caller with its value, after all chunks in progress have ended; the
// remaining chunks are not started. n <= 0 does nothing.
//
// f escapes to the heap; [RunTask] avoids that.
func Run(n, grain, threads int, f func(worker, begin, end int)) {
	RunTask(n, grain, threads, body(f))
}

// RunTask is [Run] with the body as an interface. It does not allocate when t
// holds a pointer.
func RunTask(n, grain, threads int, t Task) {
	if n <= 0 {
		return
	}
	if threads <= 0 {
		threads = Threads()
	}
	grain = grainFor(n, grain, threads)
	if threads == 1 || n <= grain {
		inline(n, grain, t)
		return
	}
	j := jobs.Get().(*job)
	j.task, j.n, j.grain = t, int64(n), int64(grain)
	width := Width(n, grain, threads)
	j.divide(width)
	if r := profile.On(); r != nil {
		j.share = r.Share()
	}
	j.lead(width - 1)
	panicked, goexit, value := j.panicked, j.goexit, j.value
	j.task, j.value, j.panicked, j.goexit, j.share = nil, nil, false, false, nil
	jobs.Put(j)
	if panicked {
		if goexit {
			runtime.Goexit()
		}
		panic(value)
	}
}

// divide gives each of width threads chunks that follow one another, as even as
// can be.
func (j *job) divide(width int) {
	if cap(j.parts) < width {
		j.parts = make([]part, width)
	}
	j.parts = j.parts[:width]
	chunks := (j.n-1)/j.grain + 1
	begin := int64(0)
	for i := range j.parts {
		p := &j.parts[i]
		p.next.Store(begin)
		left := int64(width - i)
		if count := (chunks + left - 1) / left; left > 1 {
			begin += count * j.grain
			chunks -= count
			p.end = begin
		} else {
			p.end = j.n
		}
	}
}

// lead is the caller's part. The join is deferred because a chunk on the caller
// may call Goexit, as testing's FailNow does, while helpers still use its memory.
func (j *job) lead(helpers int) {
	working.Add(1)
	defer working.Add(-1)
	defer j.join()
	j.offer(helpers)
	j.chunks(0)
}

func inline(n, grain int, t Task) {
	for begin := 0; begin < n; {
		end := n
		if n-begin > grain {
			end = begin + grain
		}
		t.Chunk(0, begin, end)
		begin = end
	}
}

// chunks takes chunks until none is left. It never panics; what a chunk throws is
// kept for the caller. It reports false if the goroutine is exiting.
func (j *job) chunks(worker int) (alive bool) {
	normal := false
	defer func() {
		if normal {
			return
		}
		// recover returns nil during Goexit only: a panic with a nil value
		// arrives as a *runtime.PanicNilError.
		v := recover()
		alive = v != nil
		j.fail(v)
	}()
	grain := j.grain
	for i := range j.parts {
		p := &j.parts[(worker+i)%len(j.parts)]
		for {
			begin := p.next.Add(grain) - grain
			// Indices count things in memory: the counter, which passes the end by at
			// most a grain for each thread, does not wrap.
			if begin >= p.end {
				break
			}
			end := p.end
			if end-begin > grain {
				end = begin + grain
			}
			j.task.Chunk(worker, int(begin), int(end))
		}
	}
	normal = true
	return true
}

// fail records the first failure and stops the handing out of chunks.
func (j *job) fail(v any) {
	for i := range j.parts {
		p := &j.parts[i]
		p.next.Store(p.end)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.panicked {
		j.panicked, j.goexit, j.value = true, v == nil, v
	}
}

// offer hands the job to up to want idle workers, spinning ones first.
func (j *job) offer(want int) {
	ws := team(want)
	for _, parked := range [2]bool{false, true} {
		for _, w := range ws {
			if len(j.offered) == want {
				return
			}
			if w.parked.Load() != parked || w.mail.Load() != nil {
				continue
			}
			// Written before the offer is visible, read after it is taken.
			if !w.claimed.CompareAndSwap(false, true) {
				continue
			}
			w.id = len(j.offered) + 1
			j.offered = append(j.offered, w)
			w.mail.Store(j)
			if w.parked.CompareAndSwap(true, false) {
				w.wake <- struct{}{}
			}
		}
	}
}

// join takes back the offers that no worker has taken up and waits for the
// workers that did.
func (j *job) join() {
	joined := int64(0)
	for i, w := range j.offered {
		if w.mail.CompareAndSwap(j, nil) {
			w.claimed.Store(false)
		} else {
			joined++
		}
		j.offered[i] = nil
	}
	j.offered = j.offered[:0]
	if joined == 0 {
		return
	}
	if !spinUntil(1, func() bool { return j.finished.Load() == joined }) {
		if j.finished.Add(-joined) != 0 {
			<-j.wake
		}
	}
	j.finished.Store(0)
}

// finish is a helper's last touch of the job.
func (j *job) finish() {
	wake := j.wake
	if j.finished.Add(1) == 0 {
		wake <- struct{}{}
	}
}
