package exec

import (
	"bytes"
	"fmt"
	"math"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/loop"
)

// Checked returns a device that runs every kernel and every routine on d and on oracle, both
// of which reach the host's memory, and fails where their results differ. NaN is NaN,
// whatever its payload.
func Checked(d, oracle device.Device) device.Device {
	return &checked{Device: d, oracle: oracle}
}

type checked struct {
	device.Device
	oracle device.Device
}

// A checkedProgram is a program on both devices.
type checkedProgram struct {
	device.Program
	oracle device.Program
}

func (d *checked) Compile(p *loop.Program) (device.Program, error) {
	a, err := d.Device.Compile(p)
	if err != nil {
		return nil, err
	}
	b, err := d.oracle.Compile(p)
	return &checkedProgram{a, b}, err
}

func (d *checked) Default() device.Stream { return &checkedStream{d.Device.Default(), d} }

func (d *checked) Routine(id ir.RoutineID) device.Routine {
	a, b := d.Device.Routine(id), d.oracle.Routine(id)
	if a == nil || b == nil {
		return a
	}
	return func(c *device.Call) error {
		var writes []written
		for i := range c.Out {
			if o := &c.Out[i]; o.Store != nil {
				writes = append(writes, written{o.Store, o.Offset * o.DType.Size(), o.DType})
			}
		}
		on := func(d device.Device, r device.Routine, pick func(p *checkedProgram) device.Program) func() error {
			return func() error {
				call := *c
				call.Stream = d.Default()
				if p, ok := c.Tail.Program.(*checkedProgram); ok {
					call.Tail.Program = pick(p)
				}
				return r(&call)
			}
		}
		if p, ok := c.Tail.Program.(*checkedProgram); ok {
			writes = append(writes, p.writes(c.Tail.Args)...)
		}
		return compare(c.Node.Op.OpName(), writes, on(d.Device, a, func(p *checkedProgram) device.Program { return p.Program }),
			on(d.oracle, b, func(p *checkedProgram) device.Program { return p.oracle }))
	}
}

// writes is what a launch writes.
func (p *checkedProgram) writes(a *device.Args) (list []written) {
	for i, b := range p.Loop().Bufs {
		if b.Write {
			list = append(list, written{a.Bufs[i].Store, a.Bufs[i].Offset, b.DType})
		}
	}
	return list
}

type checkedStream struct {
	device.Stream
	d *checked
}

func (s *checkedStream) Device() device.Device { return s.d }

func (s *checkedStream) Launch(l device.Launch) error {
	p := l.Program.(*checkedProgram)
	a, b := l, l
	a.Program, b.Program = p.Program, p.oracle
	return compare(p.Loop().Name, p.writes(l.Args), func() error { return s.Stream.Launch(a) }, func() error { return s.d.oracle.Default().Launch(b) })
}

func (s *checkedStream) LaunchAll(ls []device.Launch) error {
	for _, l := range ls {
		if err := s.Launch(l); err != nil {
			return err
		}
	}
	return nil
}

// written is memory that is written from some place on, as elements of a type.
type written struct {
	store  *array.Storage
	offset int
	dtype  array.DType
}

// compare runs two ways of writing the same, the second one on the memory as it was before, and
// compares what they leave; that of the first stays.
func compare(name string, writes []written, run, oracle func() error) error {
	memory := map[*array.Storage][]byte{} // of each once
	for _, w := range writes {
		if p := w.store.Host(); p != nil {
			memory[w.store] = unsafe.Slice((*byte)(p), w.store.Bytes)
		}
	}
	before, got := map[*array.Storage][]byte{}, map[*array.Storage][]byte{}
	for s, b := range memory {
		before[s] = bytes.Clone(b)
	}
	if err := run(); err != nil {
		return err
	}
	for s, b := range memory {
		got[s] = bytes.Clone(b)
		copy(b, before[s])
	}
	if err := oracle(); err != nil {
		return err
	}
	var fault error
	for s, b := range memory {
		for i := 0; i < len(b) && fault == nil; i++ {
			if b[i] != got[s][i] && !nan(s, i, writes, b, got[s]) {
				fault = fmt.Errorf("kernel %q differs from the interpreter's at byte %d of what it writes", name, i)
			}
		}
		copy(b, got[s])
	}
	return fault
}

// nan reports that byte i of a storage lies in an element that is NaN both times.
func nan(s *array.Storage, i int, writes []written, a, b []byte) bool {
	for _, w := range writes {
		d := w.dtype
		if d.Complex() {
			d = d.Part()
		}
		n := d.Size()
		if w.store != s || !d.Float() || i < w.offset {
			continue
		}
		at := w.offset + (i-w.offset)/n*n
		if at+n <= len(a) && IsNaN(d, a[at:]) && IsNaN(d, b[at:]) {
			return true
		}
	}
	return false
}

// IsNaN reports that an element of a float type is NaN.
func IsNaN(d array.DType, b []byte) bool { f := Element(d, b); return f != f }

// Element is an element of a real type as a number.
func Element(d array.DType, b []byte) float64 {
	p := unsafe.Pointer(unsafe.SliceData(b))
	switch d {
	case array.Float64:
		return math.Float64frombits(*(*uint64)(p))
	case array.Float32:
		return float64(math.Float32frombits(*(*uint32)(p)))
	case array.Float16:
		return float64((*(*half.Float16)(p)).Float32())
	case array.BFloat16:
		return float64((*(*half.BFloat16)(p)).Float32())
	}
	x := int64(0)
	for i := d.Size() - 1; i >= 0; i-- {
		x = x<<8 | int64(b[i])
	}
	return float64(x)
}
