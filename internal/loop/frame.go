package loop

import (
	"sync"
	"unsafe"
)

// Limits of a program's arguments.
const (
	MaxBufs    = 16
	MaxAxes    = 8
	maxWords   = 176
	ScratchLen = 32 << 10
	LargeLen   = 4 << 20 // see LargeFrame
)

// A Frame is the argument block of one entry into a kernel, the same for every
// backend: buffers as pointers, then words. A worker owns its frame for the
// length of a call and the kernel may use Scratch for spills and saved state.
//
// Words are laid out as: fuel, resume point, then scalars, extents and starts of
// the axes, and strides in bytes, buffer by buffer, axis by axis.
type Frame struct {
	Ptr     [MaxBufs]unsafe.Pointer
	Word    [maxWords]uint64
	Scratch [ScratchLen]byte
}

// ScalarRoom returns the number of scalar arguments that a program with the given number of axes
// may have, whatever its buffers.
func ScalarRoom(axes int) int { return maxWords - wordArgs - (2+MaxBufs)*axes }

// Fixed words.
const (
	WordFuel   = 0 // iterations left of loops that burn fuel
	WordResume = 1 // 0 to start; else where a kernel that ran out of fuel goes on (its own)
	wordArgs   = 2
)

// Byte offsets in a Frame for generated code.
const (
	FramePtr     = 0
	FrameWord    = MaxBufs * 8
	FrameScratch = FrameWord + maxWords*8
)

// Statuses that a kernel returns.
const (
	Done   = 0
	Resume = 1 // out of fuel: refill and enter again with the same frame
)

// ScalarWord returns the word of scalar argument i.
func (p *Program) ScalarWord(i int) int { return wordArgs + i }

// ExtentWord returns the word that holds the extent of an axis.
func (p *Program) ExtentWord(axis int) int { return wordArgs + len(p.Scalars) + axis }

// StartWord returns the word that holds what OpIndex adds along an axis, so that
// a chunk of a larger range sees logical indices.
func (p *Program) StartWord(axis int) int {
	return wordArgs + len(p.Scalars) + len(p.Axes) + axis
}

// StrideWord returns the word that holds the byte stride of a buffer along an
// axis. It is set for steps Unit and Any.
func (p *Program) StrideWord(buf, axis int) int {
	return wordArgs + len(p.Scalars) + (2+buf)*len(p.Axes) + axis
}

// Words returns the number of words in use.
func (p *Program) Words() int { return p.StrideWord(len(p.Bufs), 0) }

// Frames are large; they are pooled.
var frames = sync.Pool{New: func() any { return new(Frame) }}

// NewFrame returns a frame whose words hold anything.
func NewFrame() *Frame { return frames.Get().(*Frame) }

// A LargeFrame has LargeLen bytes of scratch memory, which few kernels take.
type LargeFrame struct {
	Frame
	_ [LargeLen - ScratchLen]byte // behind that of the frame
}

var largeFrames = sync.Pool{New: func() any { return new(LargeFrame) }}

// Enlarge calls run with a large frame that has the pointers and words of f.
func (f *Frame) Enlarge(run func(f *Frame)) {
	l := largeFrames.Get().(*LargeFrame)
	l.Ptr, l.Word = f.Ptr, f.Word
	run(&l.Frame)
	clear(l.Ptr[:])
	largeFrames.Put(l)
}

// Free gives a frame back; n is the number of pointers in use.
func (f *Frame) Free(n int) {
	clear(f.Ptr[:n])
	frames.Put(f)
}
