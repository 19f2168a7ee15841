// Package device is the interface between what runs plans and what has memory
// and executes kernels, and the registry of devices.
package device

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/launch"
	"weft/internal/loop"
	"weft/internal/mem"
)

// A Device compiles kernels and has memory. All its methods may be called from several goroutines
// at once, except Attach, which [Register] and [Replace] call before anything else uses the device.
type Device interface {
	// Name is what a user calls it, such as "cpu".
	Name() string
	// Attach tells the device its number, which its storages carry.
	Attach(number uint8)
	// Number is the number that Attach told, 0 before.
	Number() uint8
	// Default is the stream that work runs on unless it was given another one.
	Default() Stream
	// NewStream opens a stream, whose work may run beside that of others. Streams take turns in using
	// memory: work waits for what other streams do with its memory. On a device that works at once
	// it returns Default.
	NewStream() (Stream, error)
	// Sync waits for the work of all streams, and returns the first error of it.
	Sync() error
	// Model is what plans for the device are made by. Nobody writes to it.
	Model() *Model
	// Compile makes a kernel of a verified program. Equal programs give the same
	// kernel.
	Compile(p *loop.Program) (Program, error)
	// Routine returns the device's implementation of a routine, nil if it has none.
	Routine(id ir.RoutineID) Routine
	// Fallback is a device with the host's memory. Routines that this device lacks run there,
	// and elements lie there that the host reads. It is nil of a device whose memory the host
	// reaches.
	Fallback() Device
	// Memory is what the device allocates from.
	Memory() Memory
	// Counters counts what the device did.
	Counters() *Counters
}

// A Memory is what the storages of one device are allocated from. Storages of at most
// [array.SmallMax] bytes that lie in Go objects are not part of it.
type Memory interface {
	// Stats returns the figures so far.
	Stats() mem.Stats
	// Attach tells the number of the device, under which profiles record the memory. It panics
	// if the memory belongs to a device with another number.
	Attach(number uint8)
}

// Counters count events of one device since it was made. Those that a device does not know stay 0.
type Counters struct {
	launch.Counts
	Compiled    atomic.Int64 // kernels compiled
	Refused     atomic.Int64 // programs that fell back to the interpreter
	Fallbacks   atomic.Int64 // calls of routines that ran on the host, for lack of one
	Grouped     atomic.Int64 // launches that shared a hand-off
	Interleaved atomic.Int64 // groups on one thread whose launches ran a part of each at a time
	Streamed    atomic.Int64 // launches with non-temporal stores
	Narrowed    atomic.Int64 // launches with narrower vectors than the processor has
}

// A Program is a compiled kernel.
type Program interface {
	// Loop is what it was compiled from.
	Loop() *loop.Program
	// Source is its text: assembly, PTX, or a note that it is interpreted.
	Source() string
}

// A Launch is one run of a program over a rectangle.
type Launch struct {
	Program Program
	// Args are the caller's again when Launch or LaunchAll returns.
	Args *Args
	// Extents of the program's axes, as in the frame.
	Extents []int
	// Cost is a rough number of vector instructions an element.
	Cost int
	// Context cancels programs with loops that burn fuel; nil means never.
	Context context.Context
	// Op names what computes items, for errors, where the program has a ragged axis, whose
	// extent is how many rows there are: the launch refuses offsets that descend, or lie
	// outside of these, with an *array.Error. Ends, if not nil, gets the first offset and the
	// last by the next Sync.
	Op   string
	Ends *[2]int
	// Late, if not nil, completes an error that the device finds after Launch has returned.
	Late func(error) error
}

// A Ref is a place in the memory of a storage.
type Ref struct {
	Store  *array.Storage
	Offset int // bytes
}

// Args are the arguments of a launch in one block: what the program's buffers are
// on, and the words of the frame. The device fills in the addresses.
type Args struct {
	Bufs [loop.MaxBufs]Ref
	loop.Frame
}

var pooled = sync.Pool{New: func() any { return new(Args) }}

// NewArgs returns arguments whose words hold anything.
func NewArgs() *Args { return pooled.Get().(*Args) }

// Free gives arguments back; n is the number of buffers in use.
func (a *Args) Free(n int) {
	for i := range a.Bufs[:n] { // clear takes three times as long for so few
		a.Bufs[i].Store, a.Ptr[i] = nil, nil
	}
	pooled.Put(a)
}

// An Epilogue is a program that a routine runs on its result: over all of it once, piece by
// piece as they are finished. It sees the result as a matrix: the last Columns axes of the
// program walk the columns, the axes before them the rows.
type Epilogue struct {
	Launch
	Columns int
	Result  uint32 // bits of the program's buffers that read the result, if nothing else does; it need not be stored then
}

// A Routine computes a node. The error says why there is no result for these
// values; one that is an *array.Error reaches the user as it is.
type Routine func(c *Call) error

// A Call is one application of a routine.
type Call struct {
	Stream   Stream
	Node     *ir.Node
	Args     []array.View // of any strides, unless the operation asks for contiguous ones
	Out      []array.View // one a result, contiguous
	Epilogue Epilogue     // of operations that are Tiled; without Program there is none

	// Late, if not nil, completes an error that the device finds after the routine has returned.
	Late func(error) error
}

// An Event is a point in the work of a stream.
type Event interface {
	// Sync waits until the stream has passed it and returns the error of the work
	// before.
	Sync() error
	// Done reports whether the stream has passed it.
	Done() (bool, error)
	// Since returns the time that the device took from one event to this one. Requires: both were
	// recorded with times, on streams of one device. It waits for both.
	Since(start Event) (time.Duration, error)
}

// A Stream runs work in order. The CPU's runs it at once; others run it later, and tell its
// first error at the next Sync. All methods may be called from several goroutines at once.
//
// A stream calls [array.Storage.Ready] on every storage before its work uses the memory. Addresses are bound at issue: work has the memory that a storage
// had when it was issued, and keeps that memory, whatever becomes of the storage.
type Stream interface {
	Device() Device
	// Alloc returns memory that work issued to the stream later may use. It panics with an
	// *array.Error when there is none. Ensures: Storage.Device is the number that Attach gave. The
	// owner of memory that must be given back has a method Return; see [array.NewStorage].
	Alloc(bytes int) *array.Storage
	// Free gives memory back after the work issued so far.
	Free(s *array.Storage)
	Launch(l Launch) error
	// LaunchAll runs launches in any order and at once. Requires: none reads or writes what
	// another one writes. After an error any of them may have run.
	LaunchAll(ls []Launch) error
	// CallAll calls routines in any order and at once. Requires: none reads or writes what
	// another one writes. After an error any of them may have run.
	CallAll(rs []Routine, calls []*Call) error
	// Copy copies n bytes. Each side is memory of the stream's device or memory
	// that the host reaches. The host's memory is read before Copy returns, and
	// written by the next Sync.
	Copy(dst, src Ref, n int) error
	// Fill writes n times the low size bytes of bits, size being 1, 2, 4 or 8.
	Fill(dst Ref, n int, bits uint64, size int) error
	// Record returns the point behind the work issued so far. Only one with a time has
	// [Event.Since].
	Record(timed bool) Event
	// Wait makes the work issued from now on wait for a point of another stream.
	Wait(e Event) error
	// Sync waits for the work issued so far and returns its error.
	Sync() error
	// Close waits for the work and gives the stream back. Its memory may be used on. The default
	// stream stays open.
	Close() error
}

// devices has the registered ones by number. It is replaced, not written to.
var devices atomic.Pointer[[]Device]

var registering sync.Mutex

// Register makes a device known by the next number and attaches it and its memory to that. The
// CPU registers first and is number 0. It panics if a registered device has the same memory.
func Register(d Device) uint8 {
	registering.Lock()
	defer registering.Unlock()
	var list []Device
	if old := devices.Load(); old != nil {
		list = append(list, *old...)
	}
	if len(list) > math.MaxUint8 {
		panic(&array.Error{Kind: array.DeviceFailed, Op: "device", Msg: "too many devices are registered"})
	}
	number := uint8(len(list))
	d.Attach(number)
	d.Memory().Attach(number)
	list = append(list, d)
	devices.Store(&list)
	return number
}

// Replace puts another device in the place of a number: tests run the default device with one
// backend after the other. Storages of the old device are used on with the number, so Replace waits
// for its work. It panics with the error of that work.
func Replace(number uint8, d Device) {
	if err := Get(number).Sync(); err != nil {
		panic(err)
	}
	registering.Lock()
	defer registering.Unlock()
	list := append([]Device(nil), *devices.Load()...)
	d.Attach(number)
	d.Memory().Attach(number)
	list[number] = d
	devices.Store(&list)
}

// Get returns a registered device.
func Get(number uint8) Device { return (*devices.Load())[number] }

// Label returns the name of a registered device, with its number behind it if another one has the
// same name.
func Label(number uint8) string {
	list := *devices.Load()
	name := list[number].Name()
	for i, d := range list {
		if i != int(number) && d.Name() == name {
			return fmt.Sprint(name, " ", number)
		}
	}
	return name
}
