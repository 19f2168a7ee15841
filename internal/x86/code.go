package x86

import (
	"unsafe"

	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/loop"
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

// Run implements [launch.Code]. Machine code is entered once, and once more after each refill.
func (c *Code) Run(f *loop.Frame, refill func() bool) (done bool) {
	if c.scratch == 0 { // so nothing suspends the kernel
		jit.Call(c.code, 0, unsafe.Pointer(f))
		return true
	}
	return launch.OnScratch(f, c.bufs, c.words, c.scratch, refill, c.enter)
}

func (c *Code) enter(x *loop.Frame) uint64 { return jit.Call(c.code, 0, unsafe.Pointer(x)) }
