package weft

import (
	"os"
	"strconv"
	"strings"
	"time"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/device"
)

// A Device has memory for tensors and computes with what lies there. Devices are compared with ==.
// The zero Device is [CPU]. Other devices come from [CUDA], [DeviceByName] and [Devices].
//
// There is no default device to set: constructors of the package such as [Zeros] make tensors on
// the CPU, methods of a Device make them there, and [Tensor.On] moves. A program that takes a device
// by a flag gives it to [DeviceByName].
type Device struct{ number uint8 }

// CPU is the host: its processor and its memory.
var CPU Device

// CUDA returns GPU i of NVIDIA, from 0 on, and opens it at the first call. The program imports
// package weft/cuda for its effect; the error, an *[Error], says so where it does not. Without a
// driver, or without that GPU, the error says what was looked for.
func CUDA(i int) (Device, error) { return openDevice("cuda", i) }

func openDevice(kind string, i int) (Device, error) {
	d, err := device.Open(kind, i)
	if err != nil {
		return Device{}, err
	}
	return Device{d.Number()}, nil
}

// Devices returns the devices that can be used: the CPU, then the devices of packages that the program
// imports, such as weft/cuda. It opens them. Devices that cannot be opened are left out: [CUDA]
// says why.
func Devices() []Device {
	for _, kind := range device.KindNames() {
		k, err := device.FindKind(kind)
		if err != nil {
			continue
		}
		n, _ := k.Count()
		for i := range n {
			_, _ = device.Open(kind, i)
		}
	}
	all := make([]Device, len(device.List()))
	for i := range all {
		all[i].number = uint8(i)
	}
	return all
}

// DeviceByName returns a device by its name: "cpu", "cuda" or "cuda:1". No number is number 0. For
// "" it takes the name from the environment variable WEFT_DEVICE; if that is empty too, the CPU. The
// error is an *[Error].
func DeviceByName(name string) (Device, error) {
	from := ""
	if name == "" {
		if name = os.Getenv("WEFT_DEVICE"); name == "" {
			return CPU, nil
		}
		from = "WEFT_DEVICE: "
	}
	for i, d := range device.List() {
		if d.Name() == name || d.Name() == name+":0" {
			return Device{uint8(i)}, nil
		}
	}
	kind, number, numbered := strings.Cut(name, ":")
	i := 0
	if numbered {
		var err error
		if i, err = strconv.Atoi(number); err != nil || i < 0 {
			return CPU, array.Errorf("device", "name", "%s%q is not like cpu, cuda or cuda:1", from, name)
		}
	}
	dev, err := openDevice(kind, i)
	if e, ok := err.(*array.Error); ok && from != "" {
		own := *e
		own.Msg = from + own.Msg
		err = &own
	}
	return dev, err
}

func (d Device) device() device.Device { return device.Get(d.number) }

func (d Device) info() device.Info {
	if i, ok := d.device().(device.Informer); ok {
		return i.Info()
	}
	return device.Info{}
}

// Name returns the name that [DeviceByName] takes, such as "cpu" or "cuda:0".
func (d Device) Name() string { return d.device().Name() }

// String is [Device.Name].
func (d Device) String() string { return d.Name() }

// Kind returns the sort of device, "cpu" or "cuda".
func (d Device) Kind() string {
	kind, _, _ := strings.Cut(d.Name(), ":")
	return kind
}

// Index returns the number of the device within its kind, from 0 on.
func (d Device) Index() int {
	_, number, _ := strings.Cut(d.Name(), ":")
	i, _ := strconv.Atoi(number)
	return i
}

// Card returns the name of the GPU or the processor, such as "NVIDIA H100 80GB HBM3", or "" if it is
// not known.
func (d Device) Card() string { return d.info().Card }

// Memory returns the number of bytes that the device has in all, used ones included, or 0 if it is
// not known. That of the CPU is the main memory of the machine. [Device.MemoryStats] tells what is
// used.
func (d Device) Memory() int64 { return d.info().Memory }

// MemoryStats are figures of the memory that tensors and kernels of one device use, in bytes. Tensors
// of at most 1024 bytes may lie in memory of Go, which is not counted. Memory of [FromSlice] and
// of mapped files is not counted either.
type MemoryStats struct {
	Allocated int64 // in use, in whole blocks; what nothing refers to counts until the collector runs
	Peak      int64 // the most that Allocated has been
	Reserved  int64 // taken from the device: Allocated, and what is kept for the next allocations
	Failed    int64 // number of allocations that failed
}

// MemoryStats returns the figures of the device's memory so far.
func (d Device) MemoryStats() MemoryStats {
	s := d.device().Memory().Stats()
	return MemoryStats{s.Live, s.Peak, s.Reserved, s.Failed}
}

// Capability returns the compute capability of a CUDA device, such as 9 and 0. Other devices have
// none: 0 and 0.
func (d Device) Capability() (major, minor int) {
	i := d.info()
	return i.Major, i.Minor
}

// Sync waits until the device has done the work that all its streams were given before the call, and
// returns the first error of that work since the last Sync. Reads, such as [Tensor.Item], [Data] and printing,
// wait by themselves.
func (d Device) Sync() error { return d.device().Sync() }

// A Stream is a queue of work of one device. Work of a stream is done in the order in which it was
// given. Work of two streams may be done at once, such as a copy beside a computation.
//
// Work is given to a stream by its tensors: [Stream.Track] makes a tensor one of the stream, and what
// is computed of it runs on that stream. Everything else runs on the device's default stream.
// Memory is safe on every stream: work waits for what other streams did before to the memory that it
// reads or writes. So results have the same bits as on one stream, and no event is needed
// for that. [Stream.Wait] is for an order beyond it.
//
// The CPU has one stream, which does work at once. A Stream may be used from several goroutines.
type Stream core.Stream

// NewStream opens a stream of the device. [Stream.Close] gives it back; a GPU has at most 64. The
// error is an *[Error].
func (d Device) NewStream() (*Stream, error) {
	s, err := core.NewStream(d.number)
	return (*Stream)(s), err
}

// DefaultStream returns the stream that work runs on unless its tensors are of another one.
func (d Device) DefaultStream() *Stream { return (*Stream)(core.DefaultStream(d.number)) }

// Device returns the device of the stream.
func (s *Stream) Device() Device { return Device{s.c().Device()} }

// Track returns t as a tensor of the stream, with the same memory: what is computed of it on the
// stream's device, and its gradient, runs on the stream. Results are tensors of the stream too. An
// operation whose operands are of several streams runs on that of the first. A tensor of another device
// may be tracked: [Tensor.On] then copies it on the stream. A write into t
// ([Tensor.Assign] and the like) runs there as well; optimizers and random numbers run on the default
// stream. Inside a compiled function Track changes
// nothing: such a function runs on the stream of its arguments.
func (s *Stream) Track(t *Tensor) *Tensor { return (*Tensor)(s.c().Track(t.c())) }

// Record returns the point behind the work that the stream was given so far.
func (s *Stream) Record() *Event { return &Event{s.c().Issue("record").Record(true), s.Device()} }

// Wait makes the work that the stream is given from now on wait for an event of another stream. One of
// another device is waited for at once.
func (s *Stream) Wait(e *Event) error { return s.c().Issue("wait").Wait(e.at("wait")) }

// Sync waits until the device has done the work that the stream was given before the call, and returns
// the first error of it.
func (s *Stream) Sync() error { return s.c().Issue("sync").Sync() }

// Close waits for the work of the stream and gives it back. Work on its tensors then runs on the
// default stream. Other methods panic with *[Error]. A second Close does nothing.
func (s *Stream) Close() error { return s.c().Close() }

// An Event is a point in the work of a stream, from [Stream.Record]. It may be used from several
// goroutines.
type Event struct {
	e  device.Event
	on Device
}

func (e *Event) at(opName string) device.Event {
	if e == nil || e.e == nil {
		array.Failf(opName, "e", "is nil or the zero Event (Stream.Record makes one)")
	}
	return e.e
}

// Sync waits until the stream has passed the event, and returns the first error of the work before.
func (e *Event) Sync() error { return e.at("sync").Sync() }

// Done reports whether the stream has passed the event.
func (e *Event) Done() (bool, error) { return e.at("done").Done() }

// Since returns the time that the device took from an earlier event to e, and waits for both. A GPU
// measures it to half a microsecond. Both events are of one device, or Since panics with
// *[Error].
func (e *Event) Since(start *Event) (time.Duration, error) {
	from := start.at("since")
	to := e.at("since")
	if e.on != start.on {
		array.Failf("since", "start", "is on %s, the event on %s", start.on, e.on)
	}
	return to.Since(from)
}

// Device returns the device whose memory t lies in, [CPU] unless a constructor of another device or
// [Tensor.On] made it. Results are on the device of their operands. Of the nil and the zero Tensor it
// panics with *[Error].
func (t *Tensor) Device() Device {
	t.c().Argument("device", "t")
	return Device{t.v().Store.Device}
}

// On returns t on a device: t itself if it is there, else a copy in row-major order. Gradients flow
// back through the copy to t's device. [Tensor.To] converts the element type. In a compiled function
// On moves only arrays that the function makes of Go values, such as [From]; other tensors are
// moved before the call, and On panics with *[Error].
func (t *Tensor) On(dev Device) *Tensor { return (*Tensor)(t.c().On(dev.number)) }

// Zeros is [Zeros] on the device.
func (d Device) Zeros(shape ...int) *Tensor { return d.ZerosOf(Float32, shape...) }

// ZerosOf is [ZerosOf] on the device.
func (d Device) ZerosOf(t DType, shape ...int) *Tensor {
	return (*Tensor)(core.Full("zeros", core.Whole(0), d.number, t, shape))
}

// Ones is [Ones] on the device.
func (d Device) Ones(shape ...int) *Tensor { return d.OnesOf(Float32, shape...) }

// OnesOf is [OnesOf] on the device.
func (d Device) OnesOf(t DType, shape ...int) *Tensor {
	return (*Tensor)(core.Full("ones", core.Whole(1), d.number, t, shape))
}

// Full is [Full] on the device.
func (d Device) Full(x any, shape ...int) *Tensor {
	o := numberOperand("full", x)
	return (*Tensor)(core.Full("full", o, d.number, o.WeakType(), shape))
}

// FullOf is [FullOf] on the device.
func (d Device) FullOf(t DType, x any, shape ...int) *Tensor {
	return (*Tensor)(core.Full("full", numberOperand("full", x), d.number, t, shape))
}

// From is [From] on the device. FromSlice(data, shape...).On(d) takes a flat slice.
func (d Device) From(x any) *Tensor { return from(d.number, x) }

// Eye is [Eye] on the device.
func (d Device) Eye(n int, opts ...EyeOpts) *Tensor { return d.EyeOf(Float32, n, opts...) }

// EyeOf is [EyeOf] on the device.
func (d Device) EyeOf(t DType, n int, opts ...EyeOpts) *Tensor {
	o := array.Options("eye", opts)
	m := array.Or(o.Columns, n)
	if o.Columns != nil && m < 0 {
		array.Failf("eye", "Columns", "%d is negative", m)
	}
	x := (*Tensor)(core.Full("eye", core.Whole(0), d.number, t, []int{n, m}))
	if o.Diagonal > -n && o.Diagonal < m {
		x.Diagonal(o.Diagonal).Assign(1)
	}
	return x
}

// Arange is [Arange] on the device. Its numbers are ints, which give int64, or floats, which give
// float32; ints among floats are floats.
func (d Device) Arange(args ...any) *Tensor {
	ints, floats := rangeNumbers(args)
	if floats == nil {
		return arange(d.number, Int64, ints)
	}
	return arange(d.number, Float32, floats)
}

// ArangeOf is [ArangeOf] on the device. It takes the numbers that [Device.Arange] takes.
func (d Device) ArangeOf(t DType, args ...any) *Tensor {
	ints, floats := rangeNumbers(args)
	if floats == nil {
		return arange(d.number, t, ints)
	}
	return arange(d.number, t, floats)
}

// rangeNumbers returns ints as such, and other lists of ints and floats as floats.
func rangeNumbers(args []any) (ints []int, floats []float64) {
	whole := true
	for _, x := range args {
		switch x := x.(type) {
		case int:
			ints, floats = append(ints, x), append(floats, float64(x))
		case float64:
			whole, floats = false, append(floats, x)
		default:
			array.Failf("arange", "", "takes numbers of type int or float64, not %T", x)
		}
	}
	if whole {
		return ints, nil
	}
	return nil, floats
}

// Linspace is [Linspace] on the device.
func (d Device) Linspace(start, stop float64, n int) *Tensor {
	return d.LinspaceOf(Float32, start, stop, n)
}

// LinspaceOf is [LinspaceOf] on the device.
func (d Device) LinspaceOf(t DType, start, stop float64, n int) *Tensor {
	return linspace(d.number, t, start, stop, n)
}

// Rand is [Rand] on the device: the same draw of the default generator, with the same bits. For
// other distributions there is [Generator.On].
func (d Device) Rand(shape ...int) *Tensor { return defaultGenerator.On(d).Rand(shape...) }

// RandOf is [RandOf] on the device.
func (d Device) RandOf(t DType, shape ...int) *Tensor {
	return defaultGenerator.On(d).RandOf(t, shape...)
}

// Randn is [Randn] on the device: the same draw of the default generator, with the same bits.
func (d Device) Randn(shape ...int) *Tensor { return defaultGenerator.On(d).Randn(shape...) }

// RandnOf is [RandnOf] on the device.
func (d Device) RandnOf(t DType, shape ...int) *Tensor {
	return defaultGenerator.On(d).RandnOf(t, shape...)
}

// Randint is [Randint] on the device.
func (d Device) Randint(lo, hi int64, shape ...int) *Tensor {
	return defaultGenerator.On(d).Randint(lo, hi, shape...)
}

// RandintOf is [RandintOf] on the device.
func (d Device) RandintOf(t DType, lo, hi int64, shape ...int) *Tensor {
	return defaultGenerator.On(d).RandintOf(t, lo, hi, shape...)
}

// Randperm is [Randperm] on the device.
func (d Device) Randperm(n int) *Tensor { return defaultGenerator.On(d).Randperm(n) }

// RandpermOf is [RandpermOf] on the device.
func (d Device) RandpermOf(t DType, n int) *Tensor { return defaultGenerator.On(d).RandpermOf(t, n) }

// String returns the device of the event.
func (e *Event) String() string {
	return array.Describe("weft.Event", "Device", e.on)
}
