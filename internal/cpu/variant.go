package cpu

import (
	"sync"

	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86"
)

const (
	// streamMin is the size in bytes from which an output is written past the
	// caches: beyond what a last-level cache would keep of it for the next reader.
	streamMin = 32 << 20

	// narrowMin is the size in bytes of all buffers from which a light kernel, one
	// that waits for memory, uses vectors of 256 bits where 512 are to be had: what
	// comes from the last-level cache and from memory comes faster that way, by a
	// tenth to a quarter.
	narrowMin = 4 << 20

	// narrowCost is the most instructions an element of a light kernel.
	narrowCost = 12
)

// A variant is other code for the same program, compiled when first wanted.
type variant struct {
	once sync.Once
	code *jit.Code // nil if that is not possible
}

func (v *variant) get(compile func(*loop.Program, x86.ISA) (*x86.Kernel, error), p *loop.Program, isa x86.ISA) *jit.Code {
	v.once.Do(func() {
		if k, err := compile(p, isa); err == nil {
			v.code, _ = jit.Map(k.Code)
		}
	})
	return v.code
}

// codeFor returns the code for a launch: a variant if it is over one long axis.
func (p *Program) codeFor(l *device.Launch) *jit.Code {
	if p.code == nil || len(p.p.Axes) != 1 || p.p.Axes[0].Kind != loop.Parallel {
		return p.code
	}
	n, bytes, light := l.Extents[0], 0, l.Cost <= narrowCost
	for i := range p.p.Bufs {
		switch b := &p.p.Bufs[i]; b.Steps[0] {
		case loop.Unit:
			bytes += n * b.DType.Size()
		case loop.Any: // gathered element by element
			light = false
		}
	}
	isa := p.isa
	if isa == x86.AVX512 && light && bytes >= narrowMin {
		isa = x86.AVX2
	}
	if p.streams(l, n) {
		if c := p.past.get(x86.CompileStreaming, p.p, isa); c != nil {
			Counters.Streamed.Add(1)
			return c
		}
	}
	if isa != p.isa {
		if c := p.narrow.get(x86.Compile, p.p, isa); c != nil {
			Counters.Narrowed.Add(1)
			return c
		}
	}
	return p.code
}

// streams reports whether the launch should write past the caches: all outputs are
// long and aligned, and none of them is read too.
func (p *Program) streams(l *device.Launch, n int) bool {
	for i := range p.p.Bufs {
		b := &p.p.Bufs[i]
		if !b.Write {
			continue
		}
		at := l.Frame.Ptr[i]
		if b.Steps[0] != loop.Unit || b.DType.Size() < 4 || n*b.DType.Size() < streamMin || uintptr(at)&63 != 0 {
			return false
		}
		for j := range p.p.Bufs {
			if j != i && l.Frame.Ptr[j] == at {
				return false
			}
		}
	}
	return true
}
