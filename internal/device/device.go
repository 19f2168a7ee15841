// Package device is the interface between what runs plans and what has memory
// and executes kernels, and the registry of devices.
package device

import (
	"context"
	"fmt"
	"sync"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
)

// A Device compiles kernels and has memory.
type Device interface {
	// Name is what a user calls it, such as "cpu".
	Name() string
	// Default is the stream that eager work runs on.
	Default() Stream
	// Compile makes a kernel of a verified program. Equal programs give the same
	// kernel.
	Compile(p *loop.Program) (Program, error)
	// Routine returns the device's implementation of the op of that name, nil if
	// it has none.
	Routine(name string) Routine
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
	// Frame holds pointers and words; it is the caller's again when Launch
	// returns.
	Frame *loop.Frame
	// Extents of the program's axes, as in the frame.
	Extents []int
	// Cost is a rough number of vector instructions an element.
	Cost int
	// Context cancels programs with loops that burn fuel; nil means never.
	Context context.Context
}

// A Routine computes a node from arrays of any strides into a contiguous one.
type Routine func(s Stream, n *ir.Node, args Args, out array.View)

// Args are the arguments of a routine; an absent one has no storage.
type Args [3]array.View

// A Stream runs work in order. The CPU's runs it at once.
type Stream interface {
	Device() Device
	// Alloc returns memory that work issued to the stream later may use. It
	// panics with an *array.Error when there is none.
	Alloc(bytes int) *array.Storage
	// Free gives memory back after the work issued so far.
	Free(s *array.Storage)
	Launch(l Launch) error
	// Sync waits for the work issued so far and returns its error.
	Sync() error
}

var registry struct {
	sync.Mutex
	devices []Device
}

// Register adds a device and returns its number; the CPU registers first and is
// number 0.
func Register(d Device) uint8 {
	registry.Lock()
	defer registry.Unlock()
	registry.devices = append(registry.devices, d)
	return uint8(len(registry.devices) - 1)
}

// Get returns a registered device.
func Get(number uint8) Device {
	registry.Lock()
	defer registry.Unlock()
	if int(number) >= len(registry.devices) {
		panic(&array.Error{Kind: array.DeviceFailed, Op: "device", Msg: fmt.Sprintf("number %d is not registered", number)})
	}
	return registry.devices[number]
}
