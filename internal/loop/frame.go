package loop

import (
	"sync"
	"unsafe"
)

// Limits of a program's arguments.
const (
	MaxBufs  = 16
	MaxAxes  = 8
	MaxWords = 176
)

// A Frame is the argument block of one run of a kernel, the same for every
// backend: buffers as pointers, then words. It has no memory for the backend's
// own state, so a device can take it as a small buffer. A worker owns its frame
// for the length of a run.
//
// Words are laid out as: fuel, resume point, then scalars, extents and starts of
// the axes, and strides in bytes, buffer by buffer, axis by axis.
type Frame struct {
	Ptr  [MaxBufs]unsafe.Pointer
	Word [MaxWords]uint64
}

// ScalarRoom returns the number of scalar arguments that a program with the given number of axes
// may have, whatever its buffers.
func ScalarRoom(axes int) int { return MaxWords - wordArgs - (2+MaxBufs)*axes }

// Fixed words.
const (
	WordFuel   = 0 // iterations left of loops that burn fuel
	WordResume = 1 // 0 to start; else where a kernel that ran out of fuel goes on (its own)
	wordArgs   = 2
)

// Byte offsets in a Frame for generated code.
const (
	FramePtr  = 0
	FrameWord = MaxBufs * 8
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

// Frames are pooled, because the interpreter makes them escape to the heap.
var frames = sync.Pool{New: func() any { return new(Frame) }}

// NewFrame returns a frame whose words hold anything.
func NewFrame() *Frame { return frames.Get().(*Frame) }

// Free gives a frame back; n is the number of pointers in use.
func (f *Frame) Free(n int) {
	clear(f.Ptr[:n])
	frames.Put(f)
}
