// Package cpu implements the CPU as a device. It compiles loop programs for an instruction set,
// cuts launches into chunks, distributes them over threads, and implements the routines.
package cpu

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/device"
	"weft/internal/interp"
	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/loop"
	"weft/internal/mapped"
	"weft/internal/mem"
	"weft/internal/op"
	"weft/internal/processor"
	"weft/internal/x86"
)

// A Device is the CPU with one instruction set. Devices with different instruction sets can be
// in use at the same time, each with its own kernels and routines.
type Device struct {
	isa      jit.ISA
	number   uint8
	cache    *jit.Cache[string, *Program]
	rows     sync.Map // programs of attention, by rowKey
	memory   *mem.Pool
	counters *device.Counters // of its own: what threads write lies apart from what they read
	stream   stream
}

// New returns the CPU with instruction set isa on the memory of the host. It requires one of
// [jit.ISAs].
func New(isa jit.ISA) *Device { return NewIn(mem.Default(), isa) }

// NewIn returns the CPU with instruction set isa and the memory of a pool. It requires one of
// [jit.ISAs]. Scratch memory of workers is the host's also there.
func NewIn(memory *mem.Pool, isa jit.ISA) *Device {
	d := &Device{isa: isa, cache: jit.NewCache[string, *Program](0), memory: memory, counters: new(device.Counters)}
	d.stream.d = d
	return d
}

// ISA returns the instruction set of the device's kernels and routines.
func (d *Device) ISA() jit.ISA { return d.isa }

// Info describes the processor and the main memory.
func (d *Device) Info() device.Info {
	return device.Info{Card: processor.Name(), Memory: mem.Physical()}
}

func (d *Device) Name() string               { return "cpu" }
func (d *Device) Attach(number uint8)        { d.number = number }
func (d *Device) Number() uint8              { return d.number }
func (d *Device) Default() device.Stream     { return &d.stream }
func (d *Device) Model() *device.Model       { return &model }
func (d *Device) Memory() device.Memory      { return d.memory }
func (d *Device) Counters() *device.Counters { return d.counters }

// NewStream returns the one stream: work is done when it is issued.
func (d *Device) NewStream() (device.Stream, error) { return &d.stream, nil }

// Sync returns nil for the same reason.
func (d *Device) Sync() error { return nil }

// Fallback is nil: the host reaches the memory.
func (d *Device) Fallback() device.Device { return nil }

// A Program is a kernel compiled for a backend.
type Program struct {
	launch.Kernel
	p        *loop.Program
	isa      jit.ISA
	code     *x86.Code
	in       *interp.Kernel
	counters *device.Counters // of the device

	// Of a program for rows of a known length: see forLength. code is nil until it is specialised.
	general  *Program
	launches atomic.Int64 // counted until the program is specialised
	special  sync.Once

	narrow, nonTemporal variant
	wide                struct { // see x86.Wide
		sync.Once
		is bool
	}
}

func (p *Program) Loop() *loop.Program { return p.p }

// Source returns the kernel's machine code as text.
func (p *Program) Source() string { return p.SourceOf(p.p) }

// SourceOf is Source with the lines of an equal program: kernels are shared, lines are not.
func (p *Program) SourceOf(q *loop.Program) string {
	if p.Interpreted() {
		return "interpreted\n"
	}
	s, err := x86.Explain(q, p.isa)
	if err != nil {
		return err.Error()
	}
	return s
}

// Interpreted reports that there is no machine code.
func (p *Program) Interpreted() bool {
	if p.general != nil {
		p = p.general
	}
	return p.code == nil
}

// Compile returns the kernel of a program. A program that the machine-code backend refuses, or
// fails on, is interpreted, and counted as refused. The kernel of a program for rows of a known
// length compiles code for the length later, see [GeneralLaunches].
func (d *Device) Compile(p *loop.Program) (device.Program, error) {
	return d.cache.Get(p.Key(), func() (*Program, error) {
		if jit.Recording() {
			record(p)
		}
		if p.Axes[p.Lane].Extent > 0 {
			return d.forLength(p)
		}
		d.counters.Compiled.Add(1)
		k := d.program(p)
		if d.isa != jit.Portable {
			c, err := x86.Compile(p, k.isa)
			if err == nil {
				k.code, err = c.Map()
			}
			if err == nil {
				k.Native = true
				return k, nil
			}
			d.counters.Refused.Add(1)
		}
		k.in = interp.Compile(p)
		return k, nil
	})
}

// program returns the kernel of a program before it has code.
func (d *Device) program(p *loop.Program) *Program {
	return &Program{Kernel: launch.Kernel{Program: p, Counts: &d.counters.Counts}, p: p, isa: d.isa, counters: d.counters}
}

// runs returns what runs the program's chunks: code of it, or the interpreter where that is nil.
func (p *Program) runs(code *x86.Code) launch.Code {
	if code == nil {
		return p.in
	}
	return code
}

// record records a program and all code that a device can make of it. Launches choose a variant by
// threads and addresses, so recording at launches would differ from run to run.
func record(p *loop.Program) {
	jit.RecordKernel(jit.Portable, "program", p.Canonical, nil)
	for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
		// Both calls record their code. Compile counts an error as the backend's refusal.
		_, _ = x86.Compile(p, isa)
		_, _ = x86.CompileStreaming(p, isa)
	}
}

type stream struct{ d *Device }

func (s *stream) Device() device.Device { return s.d }

// Work is done when it is issued: to wait for it takes nothing.

func (s *stream) Sync() error               { return nil }
func (s *stream) Close() error              { return nil }
func (s *stream) Wait(e device.Event) error { return e.Sync() }

func (s *stream) Record(timed bool) device.Event {
	if timed {
		return event{time.Now()}
	}
	return event{}
}

// An event is when it was recorded.
type event struct{ at time.Time }

func (e event) Sync() error         { return nil }
func (e event) Done() (bool, error) { return true, nil }

func (e event) Since(start device.Event) (time.Duration, error) {
	return e.at.Sub(start.(event).at), nil
}

// address returns the address of a reference, nil if its storage is empty.
func address(r device.Ref) unsafe.Pointer {
	if p := r.Store.Host(); p != nil {
		return unsafe.Add(p, r.Offset)
	}
	return nil
}

// use keeps the memory of r, which is about to be accessed, until the storage's Unuse.
func use(r device.Ref) error {
	if !r.Store.Use() {
		return array.Errorf("copy", "", "the memory was released, or its scope closed")
	}
	return nil
}

// Copy copies n bytes.
func (s *stream) Copy(dst, src device.Ref, n int) error {
	if mapped.Any() {
		defer mapped.Explain()
	}
	if n > 0 {
		if err := use(dst); err != nil {
			return err
		}
		defer dst.Store.Unuse()
		if err := use(src); err != nil {
			return err
		}
		defer src.Store.Unuse()
		copy(unsafe.Slice((*byte)(address(dst)), n), unsafe.Slice((*byte)(address(src)), n))
	}
	return nil
}

// Fill writes n elements with the same bits.
func (s *stream) Fill(dst device.Ref, n int, bits uint64, size int) error {
	if mapped.Any() {
		defer mapped.Explain()
	}
	if n <= 0 {
		return nil
	}
	if err := use(dst); err != nil {
		return err
	}
	defer dst.Store.Unuse()
	at := address(dst)
	switch size {
	case 1:
		*(*uint8)(at) = uint8(bits)
	case 2:
		*(*uint16)(at) = uint16(bits)
	case 4:
		*(*uint32)(at) = uint32(bits)
	default:
		*(*uint64)(at) = bits
	}
	// What is there is copied behind itself, from the nearest cache.
	b := unsafe.Slice((*byte)(at), n*size)
	for done := size; done < len(b); {
		done += copy(b[done:], b[:min(done, 1<<12)])
	}
	return nil
}

// Alloc returns host memory. Small storages lie inside their Go object. Larger ones come from
// the pool, and return to it when the storage is unreachable.
func (s *stream) Alloc(bytes int) *array.Storage {
	if bytes <= array.SmallMax {
		st := array.NewSmall(bytes)
		st.Device = s.d.number
		return st
	}
	l, err := s.d.memory.Lend(bytes)
	if err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: "alloc", Msg: "the result does not fit in memory", Err: err})
	}
	st := array.NewStorage(l.Ptr(), bytes, l)
	st.Device = s.d.number
	return st
}

// Free returns the memory of a storage to the pool before the storage is unreachable. A storage
// that does not come from the pool is only marked as free.
func (s *stream) Free(st *array.Storage) {
	st.Release()
}

// bind fills in the addresses of arguments.
func (p *Program) bind(a *device.Args) {
	for i := range p.p.Bufs { // address, for each
		b := &a.Bufs[i]
		at := b.Store.Host()
		if at != nil {
			at = unsafe.Add(at, b.Offset)
		}
		a.Ptr[i] = at
	}
}

// Launch runs the program over the rectangle, in chunks.
func (s *stream) Launch(l device.Launch) error { return s.launch(&l, nil) }

// launch runs a launch, or adds it to g if g is not nil.
func (s *stream) launch(l *device.Launch, g *group) error {
	p := l.Program.(*Program)
	p.bind(l.Args)
	if a := p.p.Ragged(); a >= 0 {
		return p.launchItems(*l, a)
	}
	n := 1
	for _, e := range l.Extents {
		n *= e
	}
	p = p.serving(n)
	if n == 0 && p.Idle(l.Extents) {
		return nil
	}
	unit := p.Unit(l.Cost)
	if g != nil {
		g.add(p, l, n, unit)
		return nil
	}
	threads := launch.Threads(n, unit)
	if n*unit <= launch.ChunkWork && threads == 1 {
		return p.Enter(p.runs(p.code), &l.Args.Frame, l.Context)
	}
	return (&task{launch.Task{Launch: p.plain(l), N: n, Unit: unit}, p}).spread(threads)
}

// A task is a launch that may use a variant of the program's code.
type task struct {
	launch.Task
	p *Program
}

// plain returns a launch of the program as package launch takes it. Requires: bind was called.
func (p *Program) plain(l *device.Launch) launch.Launch {
	return launch.Launch{Kernel: &p.Kernel, Code: p.runs(p.code), Frame: &l.Args.Frame, Extents: l.Extents, Cost: l.Cost, Context: l.Context}
}

// run runs a task outside of a group: directly if it is one chunk on one thread, else by spread.
func (t *task) run(threads int) error {
	if t.One(threads) {
		return t.Kernel.Enter(t.Code, t.Frame, t.Context)
	}
	return t.spread(threads)
}

// spread cuts a launch of more than one chunk into units and runs them on up to threads threads.
func (t *task) spread(threads int) error {
	units := t.Cut(launch.ChunkWork, threads)
	if units > 0 {
		t.vary()
	}
	return t.Spread(units, threads)
}

// vary chooses the variant of the code.
func (t *task) vary() { t.Code = t.p.runs(t.p.codeFor(&t.Launch)) }

// withEpilogue calls the routine with the epilogue of the call, nil if it has none.
func withEpilogue(c *device.Call, routine func(t tile.Epilogue)) error {
	if c.Epilogue.Program == nil {
		routine(nil)
		return nil
	}
	p := c.Epilogue.Program.(*Program)
	p.bind(c.Epilogue.Args)
	l := p.plain(&c.Epilogue.Launch)
	if c.Node.Op == op.Copy { // the pieces are all that there is to do
		l.Code = p.runs(p.codeFor(&l))
	}
	t := launch.NewEpilogue(l, c.Epilogue.Columns, c.Epilogue.Result, c.Out[0].DType.Size())
	routine(t)
	return t.Close()
}
