// Package cpu implements the CPU as a device. It compiles loop programs for an instruction set,
// cuts launches into chunks, distributes them over threads, and implements the routines.
package cpu

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/interp"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/mapped"
	"weft/internal/mem"
	"weft/internal/par"
	"weft/internal/processor"
	"weft/internal/x86"
)

// A Device is the CPU with one instruction set. Devices with different instruction sets can be
// in use at the same time, each with its own kernels and routines.
type Device struct {
	isa      jit.ISA
	number   uint8
	cache    *jit.Cache[string, *Program]
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
		k := &Program{p: p, isa: d.isa, counters: d.counters}
		if d.isa != jit.Portable {
			c, err := x86.Compile(p, k.isa)
			if err == nil {
				k.code, err = c.Map()
			}
			if err == nil {
				return k, nil
			}
			d.counters.Refused.Add(1)
		}
		k.in = interp.Compile(p)
		return k, nil
	})
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

// fuelPerEntry is the fuel of one call of machine code: about 100 us of the shortest loop.
const fuelPerEntry = 1 << 14

// enter runs the kernel on a frame until it is done, or the context is.
func (p *Program) enter(code *x86.Code, f *loop.Frame, ctx context.Context) error {
	f.Word[loop.WordFuel] = fuelPerEntry
	var done bool
	if code == nil {
		p.counters.Interpreted.Add(1)
		done = p.in.Run(f, refill(f, ctx))
	} else {
		p.counters.Native.Add(1)
		done = code.Run(f, refill(f, ctx))
	}
	if !done {
		return ctx.Err()
	}
	return nil
}

// refill returns a function that gives the frame new fuel unless the context is done.
func refill(f *loop.Frame, ctx context.Context) func() bool {
	return func() bool {
		f.Word[loop.WordFuel] = fuelPerEntry
		return ctx == nil || ctx.Err() == nil
	}
}

// Limits of work. The rough cost of an element is in tenths of a nanosecond.
const (
	perNS      = 10
	chunkWork  = 50_000 * perNS // of a chunk: an entry is not preemptible and should end in some 50 µs
	elementMin = 3
	hotMin     = 6 // where workers spin: the more is computed, the more the cost is above the time
)

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
	lane := p.p.Lane
	if n == 0 {
		for a, e := range l.Extents {
			if e == 0 && (a < lane || a == lane && p.p.Axes[lane].Kind == loop.Parallel) {
				return nil
			}
		}
	}
	unit := max(l.Cost, elementMin)
	if p.code == nil {
		unit = 20 * l.Cost
	}
	if g != nil {
		g.add(p, *l, n, unit)
		return nil
	}
	work := n * unit
	threads := 1
	if par.Pays(work/perNS, n*max(unit, hotMin)/perNS) {
		threads = par.Threads()
	}
	if work <= chunkWork && threads == 1 {
		return p.enter(p.code, &l.Args.Frame, l.Context)
	}
	return (&task{p: p, l: *l, n: n, unit: unit}).spread(threads)
}

// elementWork returns the time that an element takes, given its cost in instructions: an
// instruction computes several elements.
func elementWork(unit int) int { return max(unit/4, elementMin) }

// run runs a task outside of a group: directly if it is one chunk on one thread, else by spread.
func (t *task) run(threads int) error {
	if t.n*t.unit <= chunkWork && threads == 1 {
		return t.p.enter(t.p.code, &t.l.Args.Frame, t.l.Context)
	}
	return t.spread(threads)
}

// spread cuts a launch of more than one chunk into units and runs them on up to threads threads.
func (t *task) spread(threads int) error {
	units := t.cut(chunkWork, threads)
	if units == 0 {
		return t.p.enter(t.p.code, &t.l.Args.Frame, t.l.Context)
	}
	t.code = t.p.codeFor(&t.l)
	if threads > 1 {
		t.p.counters.Threaded.Add(1)
	}
	par.RunTask(units, 1, threads, t)
	if e := t.err.Load(); e != nil {
		return *e
	}
	return nil
}

// cut divides the launch into units of at most chunk work, evenly for the threads. It returns
// the number of units, 0 for one row that is not cut.
func (t *task) cut(chunk, threads int) (units int) {
	p, extents, unit := t.p.p, t.l.Extents, t.unit
	lane := p.Lane
	// The first axis such that one index of it is at most a chunk; a row that is
	// reduced, or whose length the code is made for, is never cut.
	whole := p.Axes[lane].Kind == loop.Reduce || p.Axes[lane].Extent > 0
	axis, inner := 0, t.n
	for axis < lane {
		inner /= max(extents[axis], 1)
		if inner*unit <= chunk || axis == lane-1 && whole {
			break
		}
		axis++
	}
	if axis == lane {
		if whole {
			return 0
		}
		inner = 1
		for _, e := range extents[lane+1:] {
			inner *= e
		}
	}
	t.axis, t.step = axis, max(chunk/(max(inner, 1)*elementWork(unit)), 1)
	if threads > 1 { // as much for each
		pieces := (extents[axis] + threads*t.step - 1) / (threads * t.step) * threads
		t.step = (extents[axis] + pieces - 1) / pieces
	}
	if axis == lane {
		t.step = (t.step + 511) &^ 511 // whole vectors
	}
	t.pieces = (extents[axis] + t.step - 1) / t.step
	units = t.pieces
	for _, e := range extents[:axis] {
		units *= e
	}
	return units
}

// A task is a launch of n elements with unit work each. It is cut into units: a unit has one
// index of each axis before axis, and a piece of axis.
type task struct {
	p      *Program
	code   *x86.Code
	l      device.Launch
	n      int
	unit   int
	axis   int
	step   int
	pieces int
	err    atomic.Pointer[error]
}

// Chunk runs units begin to end.
func (t *task) Chunk(_, begin, end int) {
	f := loop.NewFrame()
	p := t.p.p
	defer f.Free(len(p.Bufs))
	words := p.Words()
	for u := begin; u < end; u++ {
		if t.err.Load() != nil {
			return
		}
		copy(f.Ptr[:len(p.Bufs)], t.l.Args.Ptr[:])
		copy(f.Word[2:words], t.l.Args.Word[2:words])
		at := u % t.pieces * t.step
		t.p.narrowTo(f, t.axis, at, min(t.step, t.l.Extents[t.axis]-at))
		rest := u / t.pieces
		for a := t.axis - 1; a >= 0; a-- {
			t.p.narrowTo(f, a, rest%t.l.Extents[a], 1)
			rest /= t.l.Extents[a]
		}
		if err := t.p.enter(t.code, f, t.l.Context); err != nil {
			t.err.CompareAndSwap(nil, &err)
			return
		}
	}
}

// narrowTo restricts the frame to n indices of an axis from at.
func (prog *Program) narrowTo(f *loop.Frame, axis, at, n int) {
	p := prog.p
	f.Word[p.ExtentWord(axis)] = uint64(n)
	f.Word[p.StartWord(axis)] += uint64(at)
	for i := range p.Bufs {
		if p.Bufs[i].Steps[axis] != loop.Zero {
			f.Ptr[i] = unsafe.Add(f.Ptr[i], at*int(int64(f.Word[p.StrideWord(i, axis)])))
		}
	}
}
