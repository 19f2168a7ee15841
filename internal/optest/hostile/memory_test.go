package hostile

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/mem/guard"
)

// guardMax is the size up to which memory lies between inaccessible pages.
const guardMax = 4 << 20

// maxBlocks is how many storages lie between inaccessible pages at once. Each is up to three mappings. Linux
// allows a process 65,530 mappings, and the Go runtime ends a process that has them all.
const maxBlocks = 12 << 10

// openBlocks counts the storages of all memories that are mapped.
var openBlocks atomic.Int64

// enter counts a storage, or reports that maxBlocks are in use. Garbage counts until it is collected, and
// a few bytes of the Go heap, which storages are to it, start no collection.
func enter() bool {
	if openBlocks.Add(1) <= maxBlocks {
		return true
	}
	runtime.GC()
	for range 100 { // unmapping is done by other goroutines
		if openBlocks.Load() <= maxBlocks {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	openBlocks.Add(-1)
	return false
}

// A memory hands out storages between inaccessible pages. Fresh memory holds the
// poison, so that a result that depends on what was there before shows when the same
// call sees another poison; what is left of the pages holds the canary. Memory is
// unmapped when its storage is unreachable or given back, so that a use afterwards
// faults.
type memory struct {
	mu     sync.Mutex
	poison byte
	start  bool // storages begin at the inaccessible page, else they end there
	live   map[*block]bool
	broken []string
}

const canary = 0xc3

// A block is the memory of one storage.
type block struct {
	m   *memory
	buf *guard.Buffer
	at  int // of the storage in the buffer
	n   int

	sealed bool // inaccessible
}

// An owner is what a storage of a block has as its owner.
type owner struct{ b *block }

// Return makes the memory inaccessible before the storage is unreachable. It stays
// mapped, so that nothing else comes to lie there while the call lasts.
func (o *owner) Return() {
	b := o.b
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	if b.m.live[b] && !b.sealed {
		b.whole()
		b.sealed = true
		seal(b.buf.Bytes())
	}
}

// take returns a storage of n bytes, aligned to 64 bytes if aligned, else only as
// far as n is.
func (m *memory) take(n int, aligned bool) *array.Storage {
	outOfMemory := func(err error) {
		panic(&array.Error{Kind: array.OutOfMemory, Op: "alloc", Msg: "no memory between inaccessible pages", Err: err})
	}
	if !enter() {
		outOfMemory(fmt.Errorf("%d storages are in use", maxBlocks))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	size := (n + 4095) &^ 4095
	buf, err := guard.End(size)
	if err != nil {
		openBlocks.Add(-1)
		outOfMemory(err)
	}
	b := &block{m: m, buf: buf, n: n}
	if !m.start {
		b.at = size - n
		if aligned {
			b.at = size - (n+63)&^63
		}
	}
	bytes := buf.Bytes()
	for i := range bytes {
		bytes[i] = canary
	}
	for i := range n {
		bytes[b.at+i] = m.poison
	}
	m.live[b] = true
	o := &owner{b}
	runtime.AddCleanup(o, (*block).close, b)
	return array.NewStorage(unsafe.Add(buf.Ptr(), b.at), n, o)
}

// A fenced is the CPU with storages of up to guardMax bytes from a memory, while there is one.
type fenced struct {
	*cpu.Device
	from atomic.Pointer[memory]
}

func (d *fenced) Default() device.Stream { return fencedStream{d.Device.Default(), d} }

// A fencedStream has the CPU as its device: routines of that ask for its instruction set.
type fencedStream struct {
	device.Stream
	d *fenced
}

func (s fencedStream) Alloc(n int) *array.Storage {
	m := s.d.from.Load()
	if m == nil || n > guardMax {
		return s.Stream.Alloc(n)
	}
	st := m.take(n, true)
	st.Device = s.d.Number()
	return st
}

// fence is the default device of a process that uses it.
var fence = sync.OnceValue(func() *fenced {
	d := &fenced{Device: device.Get(0).(*cpu.Device)}
	device.Replace(0, d)
	core.Plans.Clear()
	return d
})

// use makes the default device allocate from m until another memory is used.
func (m *memory) use() { fence().from.Store(m) }

// whole notes canaries that were written over.
func (b *block) whole() {
	if b.sealed {
		return
	}
	bytes := b.buf.Bytes()
	for i := range bytes {
		if (i < b.at || i >= b.at+b.n) && bytes[i] != canary {
			b.m.broken = append(b.m.broken, fmt.Sprintf("a byte %d from the start of a storage of %d bytes was written", i-b.at, b.n))
			return
		}
	}
}

func (b *block) close() {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	if b.m.live[b] {
		b.whole()
		delete(b.m.live, b)
		b.buf.Close()
		openBlocks.Add(-1)
	}
}

// check returns what was written outside of storages so far.
func (m *memory) check() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for b := range m.live {
		b.whole()
	}
	out := m.broken
	m.broken = nil
	return out
}
