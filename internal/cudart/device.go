package cudart

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/mem"
)

// leastCUDA is the oldest interface of a driver that reads the text of package ptx.
const leastCUDA = 12000

// A Device is an open GPU.
type Device struct {
	ctx    Context
	info   Info
	name   string
	number uint8
	host   device.Device
	model  device.Model
	each   bool // WEFT_CUDA_SYNC: every piece of work is waited for

	// life is held for reading by whoever calls the driver, and for writing by Close.
	life    sync.RWMutex
	closed  bool
	failure atomic.Pointer[error] // the first error that ended all use

	memory   allocator
	counters device.Counters
	events   events
	pinned   pinned
	programs programs
	lines    lines
	leases   sync.Pool // those that were returned

	streams struct {
		sync.Mutex
		all  []*Stream // by number
		idle []*Stream // closed, to be opened again
	}
}

// Open makes a GPU of a driver ready. Routines that it lacks run on host, through which elements
// also pass between Go and the GPU. Errors are an [*array.Error] that wraps [ErrNoDriver],
// [ErrNoDevice], [ErrCapability], [ErrOldDriver] or the driver's error.
func Open(driver Driver, ordinal int, host device.Device) (*Device, error) {
	if of := host.Fallback(); of != nil { // host stands for it, as a device that works late does in tests
		host = of
	}
	name := fmt.Sprintf("cuda:%d", ordinal)
	refuse := func(cause error, format string, args ...any) (*Device, error) {
		return nil, &array.Error{Kind: array.DeviceFailed, Op: name, Msg: fmt.Sprintf(format, args...), Err: cause}
	}
	if driver == nil {
		return refuse(ErrNoDriver, "cannot be opened")
	}
	n, err := driver.Count()
	switch {
	case code(err) == CodeNoDevice:
		n = 0
	case err != nil:
		return refuse(errors.Join(ErrNoDriver, err), "cannot be opened")
	}
	if ordinal < 0 || ordinal >= n {
		return refuse(ErrNoDevice, "the machine has %s", array.Count(n, "GPU"))
	}
	info, err := driver.Info(ordinal)
	if err != nil {
		return refuse(err, "cannot be asked what it is")
	}
	if info.Major < 8 {
		return refuse(ErrCapability, "%s has compute capability %d.%d", info.Name, info.Major, info.Minor)
	}
	if info.CUDA != 0 && info.CUDA < leastCUDA {
		return refuse(ErrOldDriver, "driver %s has CUDA %d.%d, and CUDA %d.%d is needed", info.Driver, info.CUDA/1000, info.CUDA%1000/10, leastCUDA/1000, leastCUDA%1000/10)
	}
	ctx, err := driver.Open(ordinal)
	if err != nil {
		return refuse(err, "cannot be opened")
	}
	d := &Device{ctx: ctx, info: info, name: name, host: host, model: modelOf(&info), each: os.Getenv("WEFT_CUDA_SYNC") == "1"}
	d.events.ctx = ctx
	d.pinned.ctx = ctx
	d.programs.init(d)
	d.memory.init(d)
	if _, err := d.NewStream(); err != nil {
		return nil, errors.Join(err, ctx.Close())
	}
	return d, nil
}

// init makes the allocator one of a device.
func (a *allocator) init(d *Device) {
	a.alloc, a.close, a.quiet, a.settle = d.ctx.Alloc, d.ctx.Free, d.quiet, mem.Collect
	a.floor = int64(min(headroom, d.info.Memory/8))
	a.segments = map[Addr]struct{}{}
	a.settled.L = &a.mu
}

// headroom is the least number of bytes by which live memory grows between two collections.
const headroom = 256 << 20

func (d *Device) Name() string               { return d.name }
func (d *Device) Attach(number uint8)        { d.number = number }
func (d *Device) Number() uint8              { return d.number }
func (d *Device) Default() device.Stream     { return d.streams.all[0] }
func (d *Device) Model() *device.Model       { return &d.model }
func (d *Device) Fallback() device.Device    { return d.host }
func (d *Device) Memory() device.Memory      { return &d.memory }
func (d *Device) Counters() *device.Counters { return &d.counters }

// Routine returns nil for the routines that run on the host.
func (d *Device) Routine(id ir.RoutineID) device.Routine {
	if r := routines[id]; r != nil {
		return ordered(r)
	}
	return nil
}

// Info says what the GPU is.
func (d *Device) Info() device.Info {
	return device.Info{Card: d.info.Name, Memory: int64(d.info.Memory), Major: d.info.Major, Minor: d.info.Minor}
}

// MemoryStats returns the figures of the allocator, more of them than Memory has.
func (d *Device) MemoryStats() MemoryStats { return d.memory.figures() }

// Err returns the error that ended all use of the device, nil if there was none.
func (d *Device) Err() error {
	if err := d.enter(); err != nil {
		return err
	}
	d.leave()
	return nil
}

// Sync waits for the work of all streams, and returns the first error of it.
func (d *Device) Sync() (err error) {
	for _, s := range d.opened() {
		if e := s.Sync(); e != nil && err == nil {
			err = e
		}
	}
	return err
}

// Trim gives memory that no tensor has back to the driver. It waits for the work issued so far.
func (d *Device) Trim() error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.leave()
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	return d.failed(d.memory.giveBack(&d.events))
}

// opened returns the streams that were ever made.
func (d *Device) opened() []*Stream {
	d.streams.Lock()
	defer d.streams.Unlock()
	return append([]*Stream(nil), d.streams.all...)
}

// quiet waits for the work of all queues. Errors stay with their streams, except the driver's.
func (d *Device) quiet() error {
	for _, s := range d.opened() {
		if err := d.ctx.Sync(s.q); err != nil {
			return err
		}
	}
	return nil
}

// Close waits for the work issued so far and gives everything back to the driver. Tensors of the
// device are refused afterwards. It returns the first error of the work.
func (d *Device) Close() error {
	err := d.Sync()
	d.life.Lock()
	defer d.life.Unlock()
	if d.closed {
		return d.errorf(nil, "%s was closed", d.name)
	}
	d.closed = true
	keep := func(e error) {
		if e != nil && err == nil {
			err = d.failed(e)
		}
	}
	for _, s := range d.opened() {
		s.close()
		keep(d.ctx.CloseQueue(s.q))
	}
	keep(d.programs.close())
	keep(d.memory.drop())
	keep(d.events.close())
	keep(d.pinned.close())
	keep(d.ctx.Close())
	return err
}

// modelOf returns the costs by which plans for a GPU are made. Kernels wait for memory: a pass over
// it costs more than computing anew what is cheap, and a launch takes 3 us to issue.
func modelOf(info *Info) device.Model {
	const never = math.MaxInt
	return device.Model{Costs: device.Costs{
		Line: 128,
		Band: info.L2 / 2,
		Rows: 96 << 10,
		Far:  info.L2,

		// Kernels that read across read eight times as much, which a cache of this size gives in the time
		// of a launch. Epilogues run nowhere.
		Transpose:          1 << 20,
		TransposedEpilogue: never,
		ReadTogether:       never,
		Gather:             1,

		PartRows:     2 * info.Units,
		PartElements: 1 << 16,

		ShortElements: never,
		ShortWork:     never,

		Recompute:          16,
		RecomputeOps:       6,
		RecomputeBroadcast: 8,
		Store:              128,
	}}
}
