package cudart

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/ptx"
)

// A Program is a kernel of a GPU. Its code is made at a launch: there is a variant of it for each way
// to cut the work.
type Program struct {
	d       *Device
	p       *loop.Program
	ways    *grid.Ways
	fuel    bool // it has loops that may not end
	kernels [grid.NumVariants]atomic.Pointer[kernel]
}

// A kernel is a variant of a program, loaded.
type kernel struct {
	fn              Func
	name            string
	threads, shared int
	err             error // why there is no fn
}

func (p *Program) Loop() *loop.Program { return p.p }

// Source returns the text of the variant that is likely to run.
func (p *Program) Source() string {
	text, _, err := p.d.print([]want{p.want(p.likely())})
	if err != nil {
		return err.Error()
	}
	return text
}

// likely is the variant of most launches.
func (p *Program) likely() grid.Variant {
	for _, v := range []grid.Variant{grid.FlatWide, grid.FlatVector, grid.Flat} {
		if grid.Legal(p.p, v) {
			return v
		}
	}
	return grid.WarpRows
}

// programs are the kernels of a device. A text has all programs that were compiled since the last one:
// a kernel alone takes the driver 28 ms, in a text of a hundred 1.3 ms.
type programs struct {
	d     *Device
	known *jit.Cache[string, *Program]

	mu      sync.Mutex // held while a text is loaded
	modules []Module

	routines sync.Map // the kernels of routines: *atomic.Pointer[kernel] by name

	waits struct {
		sync.Mutex
		list []*Program // compiled, and in no text
	}
}

func (l *programs) init(d *Device) {
	l.d, l.known = d, jit.NewCache[string, *Program](0)
}

// Compile returns the kernel of a program. The driver gets its text at the first launch that needs one.
func (d *Device) Compile(p *loop.Program) (device.Program, error) {
	l := &d.programs
	return l.known.Get(p.Key(), func() (*Program, error) {
		k := &Program{d: d, p: p, ways: grid.WaysOf(p)}
		for i := range p.Ins {
			if in := &p.Ins[i]; in.Op == loop.OpLoop && p.Fuel(p.Region(in)) {
				k.fuel = true
			}
		}
		l.waits.Lock()
		defer l.waits.Unlock()
		l.waits.list = append(l.waits.list, k)
		return k, nil
	})
}

// want is a kernel to be loaded.
type want struct {
	of    *Program // nil for a routine
	op    string   // for errors
	to    *atomic.Pointer[kernel]
	lower func() (*grid.Kernel, error)
}

// want returns what is wanted for a variant of a program.
func (p *Program) want(v grid.Variant) want {
	return want{p, p.p.Name, &p.kernels[v], func() (*grid.Kernel, error) { return grid.Lower(p.p, v) }}
}

// get returns a variant of a program, loaded.
func (l *programs) get(p *Program, v grid.Variant) (*kernel, error) {
	if k := p.kernels[v].Load(); k != nil {
		return k, k.err
	}
	return l.load(p.want(v))
}

// routine returns a kernel of a routine by its name, loaded.
func (l *programs) routine(op, name string, lower func() *grid.Kernel) (*kernel, error) {
	at, ok := l.routines.Load(name)
	if !ok {
		at, _ = l.routines.LoadOrStore(name, new(atomic.Pointer[kernel]))
	}
	to := at.(*atomic.Pointer[kernel])
	if k := to.Load(); k != nil {
		return k, k.err
	}
	return l.load(want{nil, op, to, func() (*grid.Kernel, error) { return lower(), nil }})
}

// load loads a kernel together with the programs that wait. A kernel that is refused has an error.
func (l *programs) load(w want) (*kernel, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := w.to.Load(); k != nil {
		return k, k.err
	}
	l.waits.Lock()
	list := []want{w}
	for _, p := range l.waits.list {
		if x := p.want(p.likely()); p != w.of && x.to.Load() == nil {
			list = append(list, x)
		}
	}
	l.waits.list = nil
	l.waits.Unlock()
	err := l.text(list)
	if code(err) == CodeBadText && len(list) > 1 || errors.Is(err, errNoText) {
		// One of them is at fault: each by itself says which.
		for _, x := range list {
			if e := l.text([]want{x}); x.to == w.to {
				err = e
			}
		}
	}
	switch {
	case code(err) == CodeBadText || errors.Is(err, errNoText):
		w.to.Store(&kernel{err: &array.Error{Kind: array.DeviceFailed, Op: w.op, Msg: l.d.name + " has no code for a program", Err: err}})
	case err != nil:
		return nil, l.d.failed(err)
	}
	k := w.to.Load()
	return k, k.err
}

// text loads kernels as one text, all of them or none.
func (l *programs) text(list []want) error {
	d := l.d
	text, kernels, err := d.print(list)
	if err != nil {
		return errors.Join(errNoText, err)
	}
	m, err := d.ctx.Load(text)
	if err != nil {
		return err
	}
	l.modules = append(l.modules, m)
	for i := range list {
		if kernels[i].fn, err = d.ctx.Function(m, kernels[i].name); err != nil {
			return err
		}
	}
	for i, w := range list {
		w.to.Store(kernels[i])
	}
	d.counters.Compiled.Add(int64(len(list)))
	return nil
}

// errNoText says that no text could be made of a program.
var errNoText = errors.New("the program cannot be printed")

// print returns the text of kernels, in the order of their names, which are hashes of what they
// compute. kernels are in the order of the list.
func (d *Device) print(list []want) (string, []*kernel, error) {
	kernels, low := make([]*kernel, len(list)), make([]*grid.Kernel, len(list))
	for i, w := range list {
		k, err := w.lower()
		if err != nil {
			return "", nil, err
		}
		low[i] = k
		kernels[i] = &kernel{name: k.Name, threads: k.Threads, shared: ptx.DynamicShared(k)}
	}
	slices.SortFunc(low, func(x, y *grid.Kernel) int { return strings.Compare(x.Name, y.Name) })
	text, err := ptx.Print(ptx.Target{Major: d.info.Major, Minor: d.info.Minor}, low...)
	return text, kernels, err
}

// close unloads everything.
func (l *programs) close() (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.modules {
		if e := l.d.ctx.Unload(m); e != nil {
			err = e
		}
	}
	l.modules = nil
	return err
}
