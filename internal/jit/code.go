package jit

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// ErrUnavailable matches, through errors.Is, the error of a [Map] that the
// platform or its security policy refused.
var ErrUnavailable = errors.New("jit: executable memory is unavailable")

// UnavailableError says why executable memory could not be had. It matches
// [ErrUnavailable] and unwraps to the system's own error.
type UnavailableError struct {
	Op   string // what was refused: "map", "protect" or "platform"
	Size int    // bytes asked for
	Err  error  // the system's error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("jit: no executable memory (%s of %d bytes): %v", e.Op, e.Size, e.Err)
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrUnavailable].
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }

// Code is one executable mapping. It is immutable and safe for concurrent use;
// its memory is returned some time after it becomes unreachable.
type Code struct {
	base uintptr
	size int
}

// mapping is what the cleanup of a Code needs to know.
type mapping struct {
	mem  unsafe.Pointer
	size uintptr
}

// mapped counts the calls of Map that succeeded.
var mapped atomic.Int64

// Mapped returns how many pieces of code were made executable since the process began.
func Mapped() int64 { return mapped.Load() }

// Map copies code into fresh executable memory. The copy is position-dependent
// only if the code is. An empty code is an error; a refusal by the system
// matches [ErrUnavailable].
func Map(code []byte) (*Code, error) {
	if len(code) == 0 {
		return nil, errors.New("jit: Map: no code")
	}
	page := uintptr(pageSize())
	size := (uintptr(len(code)) + page - 1) &^ (page - 1)
	mem, err := mapExec(code, size)
	if err != nil {
		return nil, err
	}
	mapped.Add(1)
	c := &Code{base: uintptr(mem), size: len(code)}
	runtime.AddCleanup(c, func(m mapping) { unmapExec(m.mem, m.size) }, mapping{mem, size})
	return c, nil
}

// Len returns the number of bytes of code.
func (c *Code) Len() int { return c.size }

// Bytes returns a copy of the code as it stands in memory, for disassembly.
func (c *Code) Bytes() []byte {
	out := make([]byte, c.size)
	// The mapping is outside the Go heap; its address is held as an integer so
	// that a Code is a pointer-free object.
	copy(out, unsafe.Slice(*(**byte)(unsafe.Pointer(&c.base)), c.size))
	runtime.KeepAlive(c)
	return out
}

// Entry returns the address of the code, for callers that are not Go; whoever has it keeps c.
func (c *Code) Entry() uintptr { return c.base }

// Call enters c at the given byte offset with frame in RDI and returns what the
// code left in RAX. It does not allocate and frame does not escape. It panics if
// offset lies outside c, or where [Available] is false. The code must follow the
// rules in the package comment.
func Call(c *Code, offset int, frame unsafe.Pointer) (status uint64) {
	if uint(offset) >= uint(c.size) {
		badOffset(offset, c.size)
	}
	status = call(c.base+uintptr(offset), frame)
	runtime.KeepAlive(c)
	return status
}

func badOffset(offset, size int) {
	panic(fmt.Sprintf("jit: Call: offset %d outside code of %d bytes", offset, size))
}

var available = sync.OnceValue(func() error {
	if !supported {
		return &UnavailableError{"platform", 0, errors.New("machine code is generated for amd64 only, not " + runtime.GOARCH)}
	}
	// mov eax, 42; ret
	c, err := Map([]byte{0xB8, 42, 0, 0, 0, 0xC3})
	if err != nil {
		return err
	}
	if got := Call(c, 0, nil); got != 42 {
		return &UnavailableError{"platform", 0, fmt.Errorf("probe returned %d, want 42", got)}
	}
	return nil
})

// Available reports whether machine code can be run here. The first call maps
// and runs a probe; later calls return its result.
func Available() bool { return available() == nil }

// Reason returns nil where [Available] is true, and otherwise why not.
func Reason() error { return available() }
