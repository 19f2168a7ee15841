package exec

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/loop"
)

// Checked returns a device that runs every kernel and every routine on d and then on oracle, a
// device of the host's memory, and fails where their results differ. NaN is NaN, whatever its
// payload.
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
		p, isEpilogue := c.Epilogue.Program.(*checkedProgram)
		t := d.begin(c.Node.Op.OpName())
		for i := range c.Args {
			t.reads(c.Args[i].Store)
		}
		for i := range c.Out {
			if o := &c.Out[i]; o.Store != nil {
				t.writes = append(t.writes, written{o.Store, o.Offset * o.DType.Size(), o.DType})
			}
		}
		if isEpilogue {
			t.launch(p, c.Epilogue.Args)
		}
		run := func() error {
			call := *c
			call.Stream = d.Device.Default()
			if isEpilogue {
				call.Epilogue.Program = p.Program
			}
			return a(&call)
		}
		return t.compare(run, func() error {
			call := *c
			call.Stream = d.oracle.Default()
			call.Args, call.Out = t.views(c.Args), t.views(c.Out)
			if isEpilogue {
				call.Epilogue.Program, call.Epilogue.Args = p.oracle, t.args(p, c.Epilogue.Args)
			}
			return b(&call)
		})
	}
}

type checkedStream struct {
	device.Stream
	d *checked
}

func (s *checkedStream) Device() device.Device { return s.d }

func (s *checkedStream) Launch(l device.Launch) error {
	p := l.Program.(*checkedProgram)
	t := s.d.begin(p.Loop().Name)
	t.launch(p, l.Args)
	a, b := l, l
	a.Program, b.Program = p.Program, p.oracle
	return t.compare(func() error { return s.Stream.Launch(a) }, func() error {
		b.Args = t.args(p, l.Args)
		return s.d.oracle.Default().Launch(b)
	})
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

// A trial is one piece of work that is done twice: on the device, and by the oracle on twins of the
// memory.
type trial struct {
	d      *checked
	name   string
	read   []*array.Storage
	writes []written
	twins  map[*array.Storage]*array.Storage
}

func (d *checked) begin(name string) *trial {
	return &trial{d: d, name: name, twins: map[*array.Storage]*array.Storage{}}
}

// reads adds memory that is read.
func (t *trial) reads(st *array.Storage) {
	if st != nil {
		t.read = append(t.read, st)
	}
}

// launch adds the memory of a launch.
func (t *trial) launch(p *checkedProgram, a *device.Args) {
	for i, b := range p.Loop().Bufs {
		t.reads(a.Bufs[i].Store)
		if b.Write {
			t.writes = append(t.writes, written{a.Bufs[i].Store, a.Bufs[i].Offset, b.DType})
		}
	}
}

// twin returns the memory that stands for st, itself if it has none.
func (t *trial) twin(st *array.Storage) *array.Storage {
	if w := t.twins[st]; w != nil {
		return w
	}
	return st
}

// views returns views on the twins.
func (t *trial) views(list []array.View) []array.View {
	out := slices.Clone(list)
	for i := range out {
		out[i].Store = t.twin(out[i].Store)
	}
	return out
}

// args returns the arguments of a launch on the twins.
func (t *trial) args(p *checkedProgram, a *device.Args) *device.Args {
	own := device.NewArgs()
	own.Word = a.Word
	for i := range p.Loop().Bufs {
		own.Bufs[i] = device.Ref{Store: t.twin(a.Bufs[i].Store), Offset: a.Bufs[i].Offset}
	}
	return own
}

// fetch returns a copy of the bytes of a storage in memory of the host.
func (t *trial) fetch(st *array.Storage) (*array.Storage, error) {
	c := t.d.oracle.Default().Alloc(st.Bytes)
	s := t.d.Device.Default()
	if err := s.Copy(device.Ref{Store: c}, device.Ref{Store: st}, st.Bytes); err != nil {
		return nil, err
	}
	return c, s.Sync()
}

// compare runs the work on the device, then the oracle's on the memory as it was before, and
// compares what they wrote. What the device wrote stays.
func (t *trial) compare(run, oracle func() error) (err error) {
	for _, w := range t.writes {
		if t.twins[w.store] == nil {
			if t.twins[w.store], err = t.fetch(w.store); err != nil {
				return err
			}
		}
	}
	for _, st := range t.read {
		if t.twins[st] == nil && st.Host() == nil {
			if t.twins[st], err = t.fetch(st); err != nil {
				return err
			}
		}
	}
	if err := run(); err != nil {
		return err
	}
	if err := t.d.Device.Default().Sync(); err != nil {
		return err
	}
	if err := oracle(); err != nil {
		return err
	}
	seen := map[*array.Storage]bool{}
	for _, w := range t.writes {
		if seen[w.store] {
			continue
		}
		seen[w.store] = true
		c, err := t.fetch(w.store)
		if err != nil {
			return err
		}
		got, want := bytesOf(c), bytesOf(t.twins[w.store])
		for i := range got {
			if got[i] != want[i] && !nan(w.store, i, t.writes, want, got) {
				return fmt.Errorf("kernel %q differs from the interpreter's at byte %d of what it writes", t.name, i)
			}
		}
	}
	return nil
}

// bytesOf returns the bytes of a storage of the host.
func bytesOf(st *array.Storage) []byte { return unsafe.Slice((*byte)(st.Host()), st.Bytes) }

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
		if at+n <= len(a) && isNaN(d, a[at:]) && isNaN(d, b[at:]) {
			return true
		}
	}
	return false
}

// isNaN reports that an element of a float type is NaN.
func isNaN(d array.DType, b []byte) bool { f := Element(d, b); return f != f }

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
