package par

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"weft/internal/processor"
)

// SpinTime is how long a worker spins for the next Run after the last one ended, before it
// parks: about what waking costs (100 to 140 us on a virtual Xeon, November 2026).
const SpinTime = 150 * time.Microsecond

// SpinBusy is how long a worker that is done, or a caller, spins while others of a Run still
// work: longer than most chunks, since the next Run follows when they end.
const SpinBusy = time.Millisecond

// maxWorkers bounds the pool whatever is asked for.
const maxWorkers = 1023

// worker is one goroutine of the pool, idle unless claimed.
type worker struct {
	claimed atomic.Bool         // an offer is pending or being worked on
	parked  atomic.Bool         // waiting on wake; whoever clears it sends
	mail    atomic.Pointer[job] // the offer; the worker or its giver clears it
	id      int                 // worker index within the offered job
	number  int                 // in the pool, from 1
	wake    chan struct{}
	_       [processor.Line]byte
}

var (
	working  atomic.Int64 // goroutines inside a shared Run, callers and workers
	spinning atomic.Int64 // idle workers that are not parked
	catch    atomic.Bool  // workers turn faults into panics

	pool struct {
		mu  sync.Mutex
		all atomic.Pointer[[]*worker] // replaced when it grows, under mu
	}
)

// SetPanicOnFault makes memory faults in chunks on workers panic instead of
// ending the process, and returns the setting before. It does for the workers
// what debug.SetPanicOnFault does for the calling goroutine, whose own setting is
// not changed. Meant for tests that put buffers against guard pages.
func SetPanicOnFault(on bool) (old bool) { return catch.Swap(on) }

// steadyTime is how close questions for workers follow one another if waking one
// pays: it then finds the next Run, or the rest of this one, before it parks again.
const steadyTime = 100 * time.Microsecond

var (
	started = time.Now()
	asked   atomic.Int64 // when Hot last found no worker, since started
)

// Hot reports whether a Run started now would find a worker that need not be
// woken, or should wake one because such Runs follow one another closely and
// there is a processor to spare.
func Hot() bool {
	if spinning.Load() > 0 {
		return true
	}
	now := int64(time.Since(started))
	return now-asked.Swap(now) < int64(steadyTime) && working.Load()+1 < processors()
}

// Pays reports that work of ns nanoseconds pays for sharing it with workers. ifSpinning is
// another estimate of the same work, for workers that need not be woken.
func Pays(ns, ifSpinning int) bool {
	return ns >= processor.WakeSleeping || ifSpinning >= processor.WakeSpinning && Hot()
}

// team returns the workers, after starting as many as are missing to want.
func team(want int) []*worker {
	if p := pool.all.Load(); p != nil && len(*p) >= want {
		return *p
	}
	pool.mu.Lock()
	defer pool.mu.Unlock()
	var ws []*worker
	if p := pool.all.Load(); p != nil {
		ws = *p
	}
	grown := append(make([]*worker, 0, want), ws...)
	for len(grown) < want {
		w := &worker{wake: make(chan struct{}, 1), number: len(grown) + 1}
		grown = append(grown, w)
		go w.loop()
	}
	pool.all.Store(&grown)
	return grown
}

func (w *worker) loop() {
	spinning.Add(1)
	faults := false
	for {
		j := w.mail.Load()
		if j == nil {
			if spinUntil(0, func() bool { return w.mail.Load() != nil }) {
				continue
			}
			w.park()
			continue
		}
		if !w.take(j) {
			continue // taken back
		}
		id := w.id
		working.Add(1)
		spinning.Add(-1)
		if on := catch.Load(); on != faults {
			debug.SetPanicOnFault(on)
			faults = on
		}
		w.work(j, id)
	}
}

// work does a share of j. If a chunk ends the goroutine, another takes its place.
func (w *worker) work(j *job, id int) {
	alive := false
	defer func() {
		spinning.Add(1)
		working.Add(-1)
		w.claimed.Store(false)
		j.finish()
		if !alive {
			spinning.Add(-1)
			go w.loop()
		}
	}()
	if j.share == nil {
		alive = j.chunks(id)
		return
	}
	end := j.share.Begin(w.number)
	alive = j.chunks(id)
	end()
}

func (w *worker) take(j *job) bool { return w.mail.CompareAndSwap(j, nil) }

// park waits to be woken with mail, or for mail that was taken back since.
func (w *worker) park() {
	spinning.Add(-1)
	w.parked.Store(true)
	// An offer made before parked was visible did not wake.
	if w.mail.Load() == nil || !w.parked.CompareAndSwap(true, false) {
		<-w.wake
	}
	spinning.Add(1)
}

// processors returns how many goroutines run at once: GOMAXPROCS, but at most what the machine has. A larger
// GOMAXPROCS would let spinning workers take processors from those that work.
func processors() int64 { return int64(min(runtime.GOMAXPROCS(0), runtime.NumCPU())) }

// spinUntil spins until ready and reports whether it is. It gives up SpinTime after nobody
// works any more, after SpinBusy, or as soon as there is no processor to spare for spinning. own is 1 if
// the caller counts as working, else 0.
func spinUntil(own int64, ready func() bool) bool {
	if ready() {
		return true
	}
	procs := processors()
	if procs == 1 {
		return false
	}
	var start, busy time.Time // busy: when somebody worked last
	for i := 0; ; i++ {
		if ready() {
			return true
		}
		// Whoever works holds a processor and so does whoever spins. Between two
		// Runs nobody is working, but the next caller needs its processor.
		if max(working.Load(), 1)+spinning.Load() > procs {
			return false
		}
		pause(8)
		if i%8 == 0 { // reading the clock costs as much as several pauses
			now := time.Now()
			if start.IsZero() {
				start, busy = now, now
			}
			if working.Load() > own {
				busy = now
			}
			if now.Sub(busy) > SpinTime || now.Sub(start) > SpinBusy {
				return false
			}
		}
	}
}
