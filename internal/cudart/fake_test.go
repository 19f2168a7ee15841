package cudart

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"
)

// A fake is a driver of one GPU in Go's memory. Queues run late: at waits, and a random part of what
// is issued earlier.
type fake struct {
	info   Info
	count  int
	memory int // bytes
	chance *rand.Rand

	mu     sync.Mutex
	calls  int
	failAt int // the call that fails, 0 for none
	code   int // that it fails with
	failed string
	lost   error // after a failure of work

	next    uint64
	live    map[Addr][]byte
	used    int
	pinned  map[unsafe.Pointer][]byte
	queues  map[Queue]*fakeQueue
	events  map[Event]*fakePoint
	modules map[Module]string
	funcs   map[Func]string
	texts   []string
	opened  int
	// load refuses texts; launch is what a kernel does.
	load   func(text string) error
	launch func(name string, args []byte) error
}

type fakeQueue struct {
	todo   []func()
	issued int
	done   int
}

// A fakePoint is where an event was recorded.
type fakePoint struct {
	q *fakeQueue
	n int
}

func newFake(seed uint64) *fake {
	return &fake{
		info: Info{Name: "fake", Major: 9, Units: 8, Memory: 1 << 30, Shared: 1 << 16, L2: 1 << 20, Driver: "1"}, count: 1,
		memory: 1 << 30, chance: rand.New(rand.NewPCG(seed, 0)), next: 1 << 20,
		live: map[Addr][]byte{}, pinned: map[unsafe.Pointer][]byte{}, queues: map[Queue]*fakeQueue{},
		events: map[Event]*fakePoint{}, modules: map[Module]string{}, funcs: map[Func]string{},
	}
}

func (f *fake) Count() (int, error)      { return f.count, f.enterOnly("Count") }
func (f *fake) Info(n int) (Info, error) { return f.info, f.enterOnly("Info") }
func (f *fake) Open(n int) (Context, error) {
	if err := f.enter("Open"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	f.opened++
	return f, nil
}

func (f *fake) Close() error {
	defer f.always("Close")()
	f.opened--
	return nil
}

// enter begins a call, which holds f.mu unless it fails.
func (f *fake) enter(call string) error {
	f.mu.Lock()
	f.calls++
	err := f.lost
	if f.calls == f.failAt {
		f.failed = call
		err = &DriverError{Call: call, Code: f.code, Text: "injected"}
		if f.code >= CodeFault && f.code != CodeResources {
			f.lost = err
		}
	}
	if err != nil {
		f.mu.Unlock()
	}
	return err
}

// always begins a call that gives something back: it does so even if it reports an error.
func (f *fake) always(string) func() {
	f.mu.Lock()
	return f.mu.Unlock
}

func (f *fake) enterOnly(call string) error {
	err := f.enter(call)
	if err == nil {
		f.mu.Unlock()
	}
	return err
}

// id returns a number that was never used.
func (f *fake) id() uint64 { f.next++; return f.next }

func (f *fake) Alloc(bytes int) (Addr, error) {
	if err := f.enter("Alloc"); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	if f.used+bytes > f.memory {
		return 0, &DriverError{Call: "Alloc", Code: CodeOutOfMemory, Text: "out of memory"}
	}
	f.used += bytes
	at := Addr(f.next+511) &^ 511
	f.next = uint64(at) + uint64(bytes)
	f.live[at] = make([]byte, bytes)
	return at, nil
}

func (f *fake) Free(a Addr) error {
	defer f.always("Free")()
	b, ok := f.live[a]
	if !ok {
		panic(fmt.Sprintf("Free of %x, which is not memory", a))
	}
	f.used -= len(b)
	delete(f.live, a)
	return nil
}

func (f *fake) MemInfo() (free, total int, err error) { return f.memory - f.used, f.memory, nil }

func (f *fake) AllocPinned(bytes int) (unsafe.Pointer, error) {
	if err := f.enter("AllocPinned"); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	b := make([]byte, bytes)
	f.pinned[unsafe.Pointer(&b[0])] = b
	return unsafe.Pointer(&b[0]), nil
}

func (f *fake) FreePinned(p unsafe.Pointer) error {
	defer f.always("FreePinned")()
	if _, ok := f.pinned[p]; !ok {
		panic("FreePinned of what is not pinned")
	}
	delete(f.pinned, p)
	return nil
}

func (f *fake) Load(text string) (Module, error) {
	if err := f.enter("Load"); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	if f.load != nil {
		if err := f.load(text); err != nil {
			return 0, err
		}
	}
	m := Module(f.id())
	f.modules[m] = text
	f.texts = append(f.texts, text)
	return m, nil
}

func (f *fake) Function(m Module, name string) (Func, error) {
	if err := f.enter("Function"); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	fn := Func(f.id())
	f.funcs[fn] = name
	return fn, nil
}

func (f *fake) Unload(m Module) error {
	defer f.always("Unload")()
	delete(f.modules, m)
	return nil
}

func (f *fake) NewQueue(int) (Queue, error) {
	if err := f.enter("NewQueue"); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	q := Queue(f.id())
	f.queues[q] = &fakeQueue{}
	return q, nil
}

func (f *fake) CloseQueue(q Queue) error {
	defer f.always("CloseQueue")()
	delete(f.queues, q)
	return nil
}

// issue appends work to a queue and runs a random part of all queues. f.mu is held.
func (f *fake) issue(q Queue, work func()) {
	at := f.queues[q]
	at.todo = append(at.todo, work)
	at.issued++
	if f.chance.IntN(4) == 0 {
		at.run(at.done + f.chance.IntN(len(at.todo)+1))
	}
}

// run runs a queue up to its n-th piece of work.
func (q *fakeQueue) run(n int) {
	for q.done < n && len(q.todo) > 0 {
		work := q.todo[0]
		q.todo = q.todo[1:]
		q.done++
		work()
	}
}

// at returns n bytes of the GPU.
func (f *fake) at(a Addr, n int) []byte {
	for from, b := range f.live {
		if a >= from && int(a-from)+n <= len(b) {
			return b[a-from : int(a-from)+n]
		}
	}
	panic(fmt.Sprintf("work uses %d bytes at %x, which are not memory", n, a))
}

func (f *fake) Launch(q Queue, fn Func, blocks, threads, shared int, args []byte) error {
	if err := f.enter("Launch"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	own := append([]byte(nil), args...)
	name, ok := f.funcs[fn]
	if !ok {
		panic("Launch of what is not a function")
	}
	f.issue(q, func() {
		if f.launch != nil {
			if err := f.launch(name, own); err != nil && f.lost == nil {
				f.lost = err
			}
		}
	})
	return nil
}

// isPinned reports that a host's address is in pinned memory.
func (f *fake) isPinned(p unsafe.Pointer) bool {
	for from, b := range f.pinned {
		if uintptr(p) >= uintptr(from) && uintptr(p) < uintptr(from)+uintptr(len(b)) {
			return true
		}
	}
	return false
}

func (f *fake) CopyIn(q Queue, dst Addr, src unsafe.Pointer, n int) error {
	if err := f.enter("CopyIn"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	from := bytesAt(src, n)
	if !f.isPinned(src) {
		from = append([]byte(nil), from...)
	}
	f.issue(q, func() { copy(f.at(dst, n), from) })
	return nil
}

func (f *fake) CopyOut(q Queue, dst unsafe.Pointer, src Addr, n int) error {
	if err := f.enter("CopyOut"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.issue(q, func() { copy(bytesAt(dst, n), f.at(src, n)) })
	if !f.isPinned(dst) {
		f.queues[q].run(f.queues[q].issued)
	}
	return nil
}

func (f *fake) Copy(q Queue, dst, src Addr, n int) error {
	if err := f.enter("Copy"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.issue(q, func() { copy(f.at(dst, n), f.at(src, n)) })
	return nil
}

func (f *fake) Fill(q Queue, dst Addr, n int, bits uint32, size int) error {
	if err := f.enter("Fill"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.issue(q, func() {
		var b [4]byte
		binary.LittleEndian.PutUint32(b[:], bits)
		to := f.at(dst, n*size)
		for i := range to {
			to[i] = b[i%size]
		}
	})
	return nil
}

func (f *fake) NewEvent(bool) (Event, error) {
	if err := f.enter("NewEvent"); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	e := Event(f.id())
	f.events[e] = &fakePoint{}
	return e, nil
}

func (f *fake) CloseEvent(e Event) error {
	defer f.always("CloseEvent")()
	delete(f.events, e)
	return nil
}

func (f *fake) Record(e Event, q Queue) error {
	if err := f.enter("Record"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.issue(q, func() {})
	*f.events[e] = fakePoint{f.queues[q], f.queues[q].issued}
	return nil
}

func (f *fake) Wait(q Queue, e Event) error {
	if err := f.enter("Wait"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	p := *f.events[e]
	f.issue(q, func() { p.q.run(p.n) })
	return nil
}

func (f *fake) Done(e Event) (bool, error) {
	if err := f.enter("Done"); err != nil {
		return false, err
	}
	defer f.mu.Unlock()
	p := f.events[e]
	p.q.run(p.q.done + f.chance.IntN(3))
	return p.q.done >= p.n, f.lost
}

func (f *fake) SyncEvent(e Event) error {
	if err := f.enter("SyncEvent"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	p := f.events[e]
	p.q.run(p.n)
	return f.lost
}

func (f *fake) Elapsed(a, b Event) (float32, error) { return 0, f.enterOnly("Elapsed") }

func (f *fake) Sync(q Queue) error {
	if err := f.enter("Sync"); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.queues[q].run(f.queues[q].issued)
	return f.lost
}

// leaks says what was not given back, "" if nothing.
func (f *fake) leaks() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.live) + len(f.pinned) + len(f.queues) + len(f.events) + len(f.modules) + f.opened; n > 0 {
		return fmt.Sprintf("segments %v, %d pinned, %d queues, %d events, %d modules, %d contexts", maps.Keys(f.live), len(f.pinned), len(f.queues), len(f.events), len(f.modules), f.opened)
	}
	return ""
}

// opened returns a device of a fake, which the test closes and looks for leaks in.
func opened(t *testing.T, f *fake) *Device {
	d, err := Open(f, 0, host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		if s := f.leaks(); s != "" {
			t.Errorf("not given back: %s", s)
		}
	})
	return d
}
