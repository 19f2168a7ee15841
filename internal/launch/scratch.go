package launch

import (
	"sync"
	"unsafe"

	"weft/internal/loop"
)

// Sizes of scratch memory: of most kernels, and of the few that need more.
const (
	SmallScratch = 32 << 10
	MaxScratch   = 4 << 20
)

// A Frame is what machine code runs on: the arguments, and behind them scratch memory for spilled
// registers, staging areas and the registers of a suspended kernel.
type Frame struct {
	loop.Frame
	Scratch [SmallScratch]byte
}

// FrameScratch is the byte offset of scratch memory in a frame of any size.
const FrameScratch = int(unsafe.Offsetof(Frame{}.Scratch))

// A largeFrame is a frame for the few kernels with more than SmallScratch bytes of state.
type largeFrame struct {
	loop.Frame
	_ [MaxScratch]byte
}

// The pools hold the first field of frames. All pointers in it are nil.
var (
	frames      = sync.Pool{New: func() any { return &new(Frame).Frame }}
	largeFrames = sync.Pool{New: func() any { return &new(largeFrame).Frame }}
)

// OnScratch enters machine code on a copy of a frame that has scratch memory behind it, until the code
// is done or refill, which is as [Code] has it, gives up. The code uses the first bufs pointers and
// words words, and scratch bytes. enter returns the status of the code.
func OnScratch(f *loop.Frame, bufs, words, scratch int, refill func() bool, enter func(x *loop.Frame) uint64) (done bool) {
	pool := &frames
	if scratch > SmallScratch {
		pool = &largeFrames
	}
	x := pool.Get().(*loop.Frame)
	done = OnFrame(x, f, bufs, words, refill, enter)
	pool.Put(x)
	return done
}

// OnFrame is OnScratch on x, which has the scratch memory behind it.
func OnFrame(x, f *loop.Frame, bufs, words int, refill func() bool, enter func(x *loop.Frame) uint64) (done bool) {
	// One by one: wider loads would wait for the stores of single words just before.
	for i := range f.Ptr[:bufs] {
		x.Ptr[i] = f.Ptr[i]
	}
	for i := range f.Word[:words] {
		x.Word[i] = f.Word[i]
	}
	x.Word[loop.WordResume] = 0
	done = true
	for done && enter(x) == loop.Resume {
		done = refill == nil || refill()
		x.Word[loop.WordFuel] = f.Word[loop.WordFuel]
	}
	for i := range x.Ptr[:bufs] {
		x.Ptr[i] = nil
	}
	return done
}
