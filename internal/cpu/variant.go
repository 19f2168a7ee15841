package cpu

import (
	"cmp"
	"slices"
	"sync"

	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/loop"
	"weft/internal/processor"
	"weft/internal/x86"
)

const (
	// streamRow is the least number of elements in each of several rows for non-temporal stores:
	// lines that two rows share are written by ordinary stores.
	streamRow = 128

	// narrowMin is the size in bytes of all buffers from which a light kernel, which waits for
	// memory, uses 256-bit vectors on a machine with AVX-512. Loads from the last-level cache
	// and from memory are then faster by a tenth to a quarter. The exceptions are operations
	// that take AVX2 several instructions: a conversion to int64, lane by lane, takes it ten
	// times as long. See x86.Wide.
	narrowMin = 4 << 20

	// narrowCost is the most instructions per element of a light kernel.
	narrowCost = 12

	// shortLight is the length from which rows of a light kernel gain from vectors of 512
	// bits: sums and extremes of 3 to 40 elements take 1.2 to 1.8 times as long with them
	// (Zen 5).
	shortLight = 48
)

// A variant is alternative code for a program. The first launch that needs it compiles it.
type variant struct {
	once sync.Once
	code *x86.Code // nil if that is not possible
}

func (v *variant) get(compile func(*loop.Program, jit.ISA) (*x86.Kernel, error), p *loop.Program, isa jit.ISA) *x86.Code {
	v.once.Do(func() {
		if k, err := compile(p, isa); err == nil {
			v.code, _ = k.Map()
		}
	})
	return v.code
}

// codeFor returns the code for a launch: a variant if it is elementwise on long arrays or
// sums long rows.
func (p *Program) codeFor(l *launch.Launch) *x86.Code {
	if p.code == nil {
		return nil
	}
	isa := p.isa
	if p.variants() {
		isa = p.width(l)
	}
	if p.streams(l) {
		if c := p.nonTemporal.get(x86.CompileStreaming, p.p, isa); c != nil {
			p.counters.Streamed.Add(1)
			return c
		}
	}
	if isa != p.isa {
		if c := p.narrow.get(x86.Compile, p.p, isa); c != nil {
			p.counters.Narrowed.Add(1)
			return c
		}
	}
	return p.code
}

// width returns the instruction set for a launch: see narrowMin.
func (p *Program) width(l *launch.Launch) jit.ISA {
	if p.isa != jit.AVX512 {
		return p.isa
	}
	bytes, gathers := p.bytes(l)
	if n := p.p.Axes[p.p.Lane].Extent; n > 0 {
		if !p.short(n, l.Cost) {
			return p.isa
		}
	} else if l.Cost > narrowCost || gathers || bytes < narrowMin {
		return p.isa
	}
	p.wide.Do(func() { p.wide.is = x86.Wide(p.p) })
	if p.wide.is {
		return p.isa
	}
	return jit.AVX2
}

// short reports whether rows of n elements take less time with vectors of 256 bits: see
// shortLight.
func (p *Program) short(n, cost int) bool {
	return n < shortLight && cost <= narrowCost && !slices.ContainsFunc(p.p.Bufs, func(b loop.Buf) bool { return b.DType.Size() != 4 })
}

// bytes returns how many bytes of memory a launch goes through, without elements that are
// gathered one by one. gathers reports whether there are such elements.
func (p *Program) bytes(l *launch.Launch) (bytes int, gathers bool) {
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

// variants reports whether the program may have faster variants. A program over rows has none if
// an element takes long, as in a maximum, or if its last axis is serial.
func (p *Program) variants() bool {
	axes := p.p.Axes
	if last := axes[len(axes)-1].Kind; last == loop.Parallel {
		return len(axes) == 1
	} else if last == loop.Serial {
		return false
	}
	if axes[len(axes)-1].Extent > 0 {
		return true
	}
	for i := range p.p.Ins {
		if in := &p.p.Ins[i]; in.Op == loop.OpReduce && loop.Reduction(in.Imm) != loop.Sum {
			return false
		}
	}
	return true
}

// streams reports whether the launch should use non-temporal stores: it goes over long rows of
// long arrays, and does not read what it writes. A row may begin anywhere: the code uses
// ordinary stores up to the next cache line, which must begin after the same number of elements
// in all outputs. A reduction, which writes one value a row, uses ordinary stores.
func (p *Program) streams(l *launch.Launch) bool {
	lane := p.p.Lane
	if lane != len(l.Extents)-1 || lane > 0 && l.Extents[lane] < streamRow {
		return false
	}
	for i, a := range p.p.Axes {
		if a.Kind != loop.Parallel && (a.Kind != loop.Reduce || i != lane) || a.Extent > 0 {
			return false
		}
	}
	if p.memory(l) < processor.Host.NonTemporalFrom {
		return false
	}
	first, size := -1, 0 // the narrowest output, and of its elements
	for i := range p.p.Bufs {
		b := &p.p.Bufs[i]
		if !p.rowOf(b) {
			continue
		}
		if b.Steps[lane] != loop.Unit || p.p.Axes[lane].Kind == loop.Reduce && p.reads(i) {
			return false
		}
		if first < 0 || b.DType.Size() < size {
			first, size = i, b.DType.Size()
		}
		for j := range p.p.Bufs {
			if j != i && l.Frame.Ptr[j] == l.Frame.Ptr[i] {
				return false
			}
		}
	}
	if first < 0 {
		return false
	}
	before := int(-uintptr(l.Frame.Ptr[first])&(processor.Line-1)) / size
	for i := range p.p.Bufs {
		b := &p.p.Bufs[i]
		if !p.rowOf(b) {
			continue
		}
		if (uintptr(l.Frame.Ptr[i])+uintptr(before*b.DType.Size()))&(processor.Line-1) != 0 {
			return false
		}
		for a := range lane {
			if p.stride(l, i, a)*size != p.stride(l, first, a)*b.DType.Size() {
				return false
			}
		}
	}
	return true
}

// rowOf reports whether a buffer is an output with more than one value per row.
func (p *Program) rowOf(b *loop.Buf) bool {
	return b.Write && (b.Steps[p.p.Lane] != loop.Zero || p.p.Axes[p.p.Lane].Kind != loop.Reduce)
}

// reads reports whether the program reads buffer i. One pass of a row may have written it for a
// later pass.
func (p *Program) reads(i int) bool {
	return slices.ContainsFunc(p.p.Ins, func(in loop.Ins) bool {
		return (in.Op == loop.OpLoad || in.Op == loop.OpLoadAt) && int(in.Imm) == i
	})
}

// stride returns the byte stride of buffer i along an axis before the lane axis.
func (p *Program) stride(l *launch.Launch, i, axis int) int {
	if p.p.Bufs[i].Steps[axis] == loop.Zero {
		return 0
	}
	return int(int64(l.Frame.Word[p.p.StrideWord(i, axis)]))
}

// memory returns how many bytes of memory a launch goes through. Several windows on one array
// count once.
func (p *Program) memory(l *launch.Launch) int {
	type span struct {
		from, to uintptr
		bytes    int // of those between that are touched
	}
	var spans []span
	lane := p.p.Lane
	for i := range p.p.Bufs {
		b := &p.p.Bufs[i]
		if b.Steps[lane] == loop.Any {
			continue
		}
		by := b.Steps[lane].Elements()
		s := span{bytes: b.DType.Size()}
		s.from = uintptr(l.Frame.Ptr[i])
		s.to = s.from + uintptr(s.bytes)
		for a, n := range l.Extents {
			step := by * b.DType.Size()
			if a != lane {
				step = p.stride(l, i, a)
			}
			if step == 0 || n == 0 {
				continue
			}
			s.bytes *= n
			if a == lane {
				s.bytes *= max(by, -by)
			}
			if way := uintptr((n - 1) * step); step < 0 {
				s.from += way
			} else {
				s.to += way
			}
		}
		at, _ := slices.BinarySearchFunc(spans, s, func(x, y span) int { return cmp.Compare(x.from, y.from) })
		spans = slices.Insert(spans, at, s)
	}
	total := 0
	for len(spans) > 0 {
		s := spans[0]
		n := 1
		for ; n < len(spans) && spans[n].from < s.to; n++ {
			s.to, s.bytes = max(s.to, spans[n].to), s.bytes+spans[n].bytes
		}
		total += min(s.bytes, int(s.to-s.from))
		spans = spans[n:]
	}
	return total
}
