package x86

import (
	"sync"
	"unsafe"

	"weft/internal/jit"
	"weft/internal/loop"
)

const (
	scratchLen = 32 << 10
	largeLen   = 4 << 20 // of a largeFrame
)

// A frame is what machine code runs on: the arguments, and behind them scratch memory for spilled
// registers, staging areas and the registers of a suspended kernel.
type frame struct {
	loop.Frame
	scratch [scratchLen]byte
}

// frameScratch is the byte offset of scratch memory, the same in both kinds of frame.
const frameScratch = int(unsafe.Offsetof(frame{}.scratch))

// A largeFrame is a frame for the few kernels with more than scratchLen bytes of state.
type largeFrame struct {
	loop.Frame
	_ [largeLen]byte
}

// The pools hold the first field of frames. All pointers in it are nil.
var (
	frames      = sync.Pool{New: func() any { return &new(frame).Frame }}
	largeFrames = sync.Pool{New: func() any { return &new(largeFrame).Frame }}
)

// A Code is a kernel in executable memory. It is immutable and safe for concurrent use.
type Code struct {
	code        *jit.Code
	bufs, words int // arguments in use
	scratch     int // bytes in use
}

// Map puts the kernel into executable memory. The error matches [jit.ErrUnavailable] where the
// system refuses that.
func (k *Kernel) Map() (*Code, error) {
	code, err := jit.Map(k.Code)
	if err != nil {
		return nil, err
	}
	return &Code{code: code, bufs: k.bufs, words: k.words, scratch: k.Scratch}, nil
}

// Run runs the chunk that the frame describes, as [weft/internal/interp.Kernel.Run] does. Loops burn
// fuel from word [loop.WordFuel]. When it is used up, Run calls refill, which stores new fuel in that
// word, or returns false to give up: then Run returns false and the outputs are half written. A nil
// refill always goes on. Machine code is entered once, and once more after each refill.
func (c *Code) Run(f *loop.Frame, refill func() bool) (done bool) {
	if c.scratch == 0 { // so nothing suspends the kernel
		jit.Call(c.code, 0, unsafe.Pointer(f))
		return true
	}
	pool := &frames
	if c.scratch > scratchLen {
		pool = &largeFrames
	}
	x := pool.Get().(*loop.Frame)
	done = c.runOn(x, f, refill)
	pool.Put(x)
	return done
}

// runOn is Run on x, which has the scratch memory that the kernel needs behind it.
func (c *Code) runOn(x, f *loop.Frame, refill func() bool) (done bool) {
	// One by one: wider loads would wait for the stores of single words just before.
	for i := range f.Ptr[:c.bufs] {
		x.Ptr[i] = f.Ptr[i]
	}
	for i := range f.Word[:c.words] {
		x.Word[i] = f.Word[i]
	}
	x.Word[loop.WordResume] = 0
	done = true
	for done && jit.Call(c.code, 0, unsafe.Pointer(x)) == loop.Resume {
		done = refill == nil || refill()
		x.Word[loop.WordFuel] = f.Word[loop.WordFuel]
	}
	for i := range x.Ptr[:c.bufs] {
		x.Ptr[i] = nil
	}
	return done
}
