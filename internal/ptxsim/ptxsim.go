// Package ptxsim is a GPU in plain Go, for tests: a driver of package cudart that parses the text of
// kernels and runs it, thread by thread. It finds what a real GPU hides: memory that was never
// written, accesses out of bounds, races of threads and of queues. It follows NVIDIA's manual of the
// PTX instruction set and shares no code with the printer of kernels.
//
// Work of a queue runs late, when somebody waits for it, in an order that depends on the seed.
package ptxsim

import (
	"fmt"
	"math/rand/v2"
	"sync"

	cudart "weft/internal/cudart/driver"
)

var (
	_ cudart.Driver  = (*Driver)(nil)
	_ cudart.Context = (*context)(nil)
)

// Options says what GPUs there are, and what goes wrong.
type Options struct {
	Seed         uint64
	Devices      int // 0 is one; below 0, none
	Major, Minor int // compute capability; 0 is 9.0
	Memory       int // bytes; 0 is 1 GiB
	Shared       int // bytes of shared memory of a block; 0 is 227 KiB
	Steps        int // instructions of a warp until its kernel counts as hung; 0 is 1<<24

	// NoRaces turns the search for races off.
	NoRaces bool

	// Fail is asked before the n-th call, from 1, of a name: one of the driver's, or "run KERNEL"
	// when a kernel begins to run. Its error is what the call returns. A *cudart.DriverError with
	// a code from 700 to 719, but 701, loses the context. Fail must not call the driver.
	Fail func(call string, n int) error
}

// A Driver is a machine with simulated GPUs.
type Driver struct {
	opts   Options
	mu     sync.Mutex
	calls  map[string]int
	faults []Fault
	opens  uint64
}

// New returns a driver of simulated GPUs.
func New(opts Options) *Driver {
	if opts.Devices == 0 {
		opts.Devices = 1
	}
	if opts.Major == 0 {
		opts.Major = 9
	}
	if opts.Memory == 0 {
		opts.Memory = 1 << 30
	}
	if opts.Shared == 0 {
		opts.Shared = 227 << 10
	}
	if opts.Steps == 0 {
		opts.Steps = 1 << 24
	}
	return &Driver{opts: opts, calls: map[string]int{}}
}

// Faults returns the mistakes that were found so far in all contexts of the driver.
func (d *Driver) Faults() []Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Fault(nil), d.faults...)
}

// Calls returns how often a call of the driver was made, or a kernel begun ("run KERNEL").
func (d *Driver) Calls(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[name]
}

// enter counts a call and asks whether it shall fail.
func (d *Driver) enter(call string) error {
	d.mu.Lock()
	d.calls[call]++
	n := d.calls[call]
	d.mu.Unlock()
	if d.opts.Fail != nil {
		return d.opts.Fail(call, n)
	}
	return nil
}

func driverError(call string, code int, format string, a ...any) error {
	return &cudart.DriverError{Call: call, Code: code, Text: fmt.Sprintf(format, a...)}
}

// Codes of CUresult that package cudart does not name.
const (
	codeInvalidDevice = 101
	codeNoImage       = 209 // no code for this GPU
	codeInvalidHandle = 400
	codeNotFound      = 500
	codeNotReady      = 600
)

// Count returns the number of GPUs.
func (d *Driver) Count() (int, error) {
	if err := d.enter("cuInit"); err != nil {
		return 0, err
	}
	if err := d.enter("cuDeviceGetCount"); err != nil {
		return 0, err
	}
	if d.opts.Devices < 0 {
		return 0, driverError("cuInit", cudart.CodeNoDevice, "no CUDA-capable device is detected")
	}
	return d.opts.Devices, nil
}

// Info describes a GPU.
func (d *Driver) Info(ordinal int) (cudart.Info, error) {
	if err := d.enter("cuDeviceGetAttribute"); err != nil {
		return cudart.Info{}, err
	}
	if ordinal < 0 || ordinal >= d.opts.Devices {
		return cudart.Info{}, driverError("cuDeviceGet", codeInvalidDevice, "invalid device ordinal")
	}
	return cudart.Info{Name: "ptxsim", Major: d.opts.Major, Minor: d.opts.Minor, Units: 4, Memory: d.opts.Memory,
		Shared: d.opts.Shared, L2: 1 << 20, Driver: "simulated 13.0", CUDA: 13000}, nil
}

// Open makes a GPU ready for work.
func (d *Driver) Open(ordinal int) (cudart.Context, error) {
	const call = "cuDevicePrimaryCtxRetain"
	if err := d.enter(call); err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= d.opts.Devices {
		return nil, driverError(call, codeInvalidDevice, "invalid device ordinal")
	}
	d.mu.Lock()
	d.opens++
	seed := d.opts.Seed + d.opens<<32
	d.mu.Unlock()
	c := &context{
		d: d, rnd: rand.New(rand.NewPCG(seed, uint64(ordinal))),
		regions: map[cudart.Addr]*region{}, modules: map[cudart.Module]*module{},
		funcs: map[cudart.Func]*kernel{}, queues: map[cudart.Queue]*queue{}, events: map[cudart.Event]*event{},
		works: make([]workID, 1),
	}
	return c, nil
}
