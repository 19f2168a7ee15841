package cudart

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/loop"
)

// A Program is a kernel of a GPU. Its code is made at a launch: there is a variant of it for each way
// to cut the work.
type Program struct {
	d       *Device
	p       *loop.Program
	name    string // of its kernels: a hash of what they compute
	fuel    bool   // it has loops that may not end
	kernels [variants]atomic.Pointer[kernel]
}

// A kernel is a variant of a program, loaded.
type kernel struct {
	fn              Func
	threads, shared int
	err             error // why there is no fn
}

func (p *Program) Loop() *loop.Program { return p.p }

// Source returns the text of the program's first variant.
func (p *Program) Source() string {
	text, _, err := p.d.print([]want{{p, 0}})
	if err != nil {
		return err.Error()
	}
	return text
}

// programs are the kernels of a device. A text has all programs that were compiled since the last one:
// a kernel alone takes the driver 28 ms, in a text of a hundred 1.3 ms.
type programs struct {
	d     *Device
	known *jit.Cache[string, *Program]

	mu      sync.Mutex // held while a text is loaded
	modules []Module

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
		hash := sha256.Sum256([]byte(p.Key()))
		k := &Program{d: d, p: p, name: fmt.Sprintf("k%x", hash[:12])}
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
	p *Program
	v variant
}

func (w want) name() string { return fmt.Sprintf("%s_%d", w.p.name, w.v) }

// get returns a variant of a program, loaded.
func (l *programs) get(p *Program, v variant) (*kernel, error) {
	k := p.kernels[v].Load()
	if k == nil {
		if err := l.load(want{p, v}); err != nil {
			return nil, err
		}
		k = p.kernels[v].Load()
	}
	return k, k.err
}

// load loads a kernel together with the programs that wait. A program that is refused has a kernel
// with an error.
func (l *programs) load(w want) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.p.kernels[w.v].Load() != nil {
		return nil
	}
	l.waits.Lock()
	list := []want{w}
	for _, p := range l.waits.list {
		if p != w.p && p.kernels[0].Load() == nil {
			list = append(list, want{p, 0})
		}
	}
	l.waits.list = nil
	l.waits.Unlock()
	err := l.text(list)
	if code(err) == CodeBadText && len(list) > 1 || errors.Is(err, errNoText) {
		// One of them is at fault: each by itself says which.
		for _, x := range list {
			if e := l.text([]want{x}); x == w {
				err = e
			}
		}
	}
	switch {
	case err == nil:
		return nil
	case code(err) == CodeBadText || errors.Is(err, errNoText):
		w.p.kernels[w.v].Store(&kernel{err: &array.Error{Kind: array.DeviceFailed, Op: w.p.p.Name, Msg: l.d.name + " has no code for a program", Err: err}})
		return nil
	}
	return l.d.failed(err)
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
		if kernels[i].fn, err = d.ctx.Function(m, list[i].name()); err != nil {
			return err
		}
	}
	for i, w := range list {
		w.p.kernels[w.v].Store(kernels[i])
	}
	return nil
}

// errNoText says that no text could be made of a program.
var errNoText = errors.New("the program cannot be printed")

// print returns the text of kernels, in the order of their names.
func (d *Device) print(list []want) (string, []*kernel, error) {
	slices.SortFunc(list, func(x, y want) int { return strings.Compare(x.name(), y.name()) })
	kernels := make([]*kernel, len(list))
	text, err := write(&d.info, list, kernels)
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
