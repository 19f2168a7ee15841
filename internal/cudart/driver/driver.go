// Package driver is the interface between package cudart and the driver of a GPU. It stands apart so
// that the simulator and tests of printers need nothing of the device above it.
package driver

import (
	"fmt"
	"unsafe"
)

// A Driver finds the GPUs of a machine. The methods of drivers and contexts may be called
// from several goroutines at once. Failures of the driver are [*DriverError].
type Driver interface {
	// Count returns the number of GPUs.
	Count() (int, error)
	// Info describes a GPU, from number 0.
	Info(ordinal int) (Info, error)
	// Open makes a GPU ready for work.
	Open(ordinal int) (Context, error)
}

// An Info describes a GPU.
type Info struct {
	Name         string
	Major, Minor int // compute capability
	Units        int // multiprocessors
	Memory       int // bytes
	Shared       int // bytes of shared memory that a block may take
	L2           int // bytes of the cache of the whole GPU
	Driver       string
	CUDA         int // version of the driver's interface: 1000 times the major, 10 times the minor number; 0 if unknown
}

// An Addr is an address in the memory of a GPU.
type Addr uint64

// Handles of what a driver has made. Zero is none.
type (
	Module uint64
	Func   uint64
	Queue  uint64 // a stream of the driver; 0 is not used
	Event  uint64
)

// A Context is an open GPU. Work of a queue runs in order, later; what its methods are given is
// theirs until that is done, except where a method says otherwise.
type Context interface {
	Alloc(bytes int) (Addr, error)
	Free(a Addr) error
	// Free and total bytes of memory.
	MemInfo() (free, total int, err error)
	// AllocPinned returns memory of the host that copies reach at full speed and kernels by its
	// address.
	AllocPinned(bytes int) (unsafe.Pointer, error)
	FreePinned(p unsafe.Pointer) error

	// Load compiles the text of a module. It may be called with any text twice.
	Load(text string) (Module, error)
	Function(m Module, name string) (Func, error)
	Unload(m Module) error

	NewQueue(priority int) (Queue, error)
	CloseQueue(q Queue) error
	// Launch runs blocks of threads. args are copied before it returns.
	Launch(q Queue, f Func, blocks, threads, shared int, args []byte) error
	// CopyIn copies to the GPU. The host's memory is read before it returns unless it is pinned.
	CopyIn(q Queue, dst Addr, src unsafe.Pointer, bytes int) error
	// CopyOut copies to the host. The copy is done when it returns unless dst is pinned.
	CopyOut(q Queue, dst unsafe.Pointer, src Addr, bytes int) error
	Copy(q Queue, dst, src Addr, bytes int) error
	// Fill writes n times the low size bytes of bits, size being 1, 2 or 4.
	Fill(q Queue, dst Addr, n int, bits uint32, size int) error

	NewEvent(timed bool) (Event, error)
	CloseEvent(e Event) error
	// Record puts the event behind the work issued to q.
	Record(e Event, q Queue) error
	// Wait makes work issued to q from now on wait for e.
	Wait(q Queue, e Event) error
	Done(e Event) (bool, error)
	SyncEvent(e Event) error
	// Elapsed returns the milliseconds from a to b, both timed and done.
	Elapsed(a, b Event) (float32, error)
	// Sync waits for the work of a queue and returns its error.
	Sync(q Queue) error

	Close() error
}

// A DriverError is a failure of a driver's call.
type DriverError struct {
	Call string // such as "cuMemAlloc_v2"
	Code int    // a CUresult
	Text string // what the driver says of it
}

func (e *DriverError) Error() string { return fmt.Sprintf("%s: %s (error %d)", e.Call, e.Text, e.Code) }

// Codes of [DriverError] that decide what happens next, numbered as CUresult is.
const (
	CodeInvalid     = 1 // an argument; of a launch: nothing ran
	CodeOutOfMemory = 2
	CodeNoDevice    = 100
	CodeBadText     = 218 // the text of a module does not compile
	CodeFault       = 700 // an address that a kernel may not use: the context is lost
	CodeResources   = 701 // a launch wants more than a multiprocessor has: nothing ran
	CodeTimeout     = 702
	CodeLaunch      = 719 // a kernel failed: the context is lost
)
