package cpu

import (
	"sync"

	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86"
)

const (
	// streamMin is the size in bytes of all buffers from which outputs are written past
	// the caches: a last-level cache then keeps nothing that is worth reading the lines
	// that are replaced, not even for the next reader.
	streamMin = 32 << 20

	// narrowMin is the size in bytes of all buffers from which a light kernel, one
	// that waits for memory, uses vectors of 256 bits where 512 are to be had: what
	// comes from the last-level cache and from memory comes faster that way, by a
	// tenth to a quarter. Not so where AVX2 takes several instructions for one of
	// AVX-512, converting to int64 lane by lane ten times as long, or both take several:
	// see x86.Wide.
	narrowMin = 4 << 20

	// narrowCost is the most instructions an element of a light kernel.
	narrowCost = 12
)

// A variant is other code for the same program, compiled when first wanted.
type variant struct {
	once sync.Once
	code *jit.Code // nil if that is not possible
}

func (v *variant) get(compile func(*loop.Program, jit.ISA) (*x86.Kernel, error), p *loop.Program, isa jit.ISA) *jit.Code {
	v.once.Do(func() {
		if k, err := compile(p, isa); err == nil && k.Scratch <= loop.ScratchLen {
			v.code, _ = jit.Map(k.Code)
		}
	})
	return v.code
}

// codeFor returns the code for a launch: a variant if it is over one long axis or
// sums long rows.
func (p *Program) codeFor(l *device.Launch) *jit.Code {
	if p.code == nil || p.large || !p.variants() {
		return p.code
	}
	isa := p.width(l)
	if p.streams(l) {
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

// width returns the instruction set for a launch: see narrowMin.
func (p *Program) width(l *device.Launch) jit.ISA {
	bytes, gathers := p.bytes(l)
	if p.isa != jit.AVX512 || l.Cost > narrowCost || gathers || bytes < narrowMin {
		return p.isa
	}
	p.wide.Do(func() { p.wide.is = x86.Wide(p.p) })
	if p.wide.is {
		return p.isa
	}
	return jit.AVX2
}

// bytes returns how many bytes of memory a launch goes through, without those of elements
// that are gathered one by one, and whether there are such.
func (p *Program) bytes(l *device.Launch) (bytes int, gathers bool) {
	lane := len(p.p.Axes) - 1
	for i := range p.p.Bufs {
		b := &p.p.Bufs[i]
		switch b.Steps[lane] {
		case loop.Zero:
		case loop.Any:
			gathers = true
		default:
			by := b.Steps[lane].Elements()
			n := b.DType.Size() * max(by, -by)
			for a, e := range l.Extents {
				if b.Steps[a] != loop.Zero {
					n *= e
				}
			}
			bytes += n
		}
	}
	return bytes, gathers
}

// variants reports that other code may be faster: over rows not where each element
// takes long, as an extreme does, or where memory is crossed by steps.
func (p *Program) variants() bool {
	axes := p.p.Axes
	if last := axes[len(axes)-1].Kind; last == loop.Parallel {
		return len(axes) == 1
	} else if last == loop.Serial {
		return false
	}
	for i := range p.p.Ins {
		if in := &p.p.Ins[i]; in.Op == loop.OpReduce && loop.Reduction(in.Imm) != loop.Sum {
			return false
		}
	}
	return true
}

// streams reports whether the launch should write past the caches: it is over one
// axis, on long arrays, all outputs are aligned, and none of them is read too.
func (p *Program) streams(l *device.Launch) bool {
	if p.p.Axes[0].Kind != loop.Parallel || len(p.p.Axes) > 1 {
		return false
	}
	if bytes, _ := p.bytes(l); bytes < streamMin {
		return false
	}
	for i := range p.p.Bufs {
		b := &p.p.Bufs[i]
		if !b.Write {
			continue
		}
		at := l.Args.Ptr[i]
		if b.Steps[0] != loop.Unit || uintptr(at)&63 != 0 {
			return false
		}
		for j := range p.p.Bufs {
			if j != i && l.Args.Ptr[j] == at {
				return false
			}
		}
	}
	return true
}
