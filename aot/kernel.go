package aot

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cache"
	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/loop"
)

// A Frame is the block of arguments of a kernel: pointers to its buffers, and words.
type Frame = loop.Frame

// A Kernel is a loop program as code.
type Kernel struct {
	Does                string // its operations
	Go                  func(f *Frame)
	Scalars, Axes, Lane int
	Reduces             bool    // along the axis Lane
	Cost                int     // of an element, in vector instructions
	Moves               []uint8 // by buffer: bits of the axes along which it moves
	Sizes               []uint8 // by buffer: bytes of an element
	Scratch             int     // bytes of scratch memory that machine code uses at most
}

// program returns the layout of the kernel's arguments.
func (k *Kernel) program() *loop.Program {
	p := &loop.Program{Name: k.Does, Scalars: make([]loop.Type, k.Scalars), Axes: make([]loop.Axis, k.Axes), Lane: k.Lane, Bufs: make([]loop.Buf, len(k.Moves))}
	if k.Reduces {
		p.Axes[k.Lane].Kind = loop.Reduce
	}
	for i, moves := range k.Moves {
		steps := make([]loop.Step, k.Axes)
		for a := range steps {
			if moves>>a&1 != 0 {
				steps[a] = loop.Any
			}
		}
		p.Bufs[i].Steps = steps
	}
	return p
}

// plain runs a kernel as Go, which the scheduler can interrupt anywhere.
type plain func(f *Frame)

// Run implements [launch.Code].
func (k plain) Run(f *Frame, _ func() bool) bool {
	k(f)
	return true
}

// machine runs a kernel as machine code.
type machine struct {
	enter                func(f *Frame) uint64
	bufs, words, scratch int
}

// Run implements [launch.Code].
func (m *machine) Run(f *Frame, refill func() bool) bool {
	if m.scratch == 0 { // so nothing suspends the kernel
		m.enter(f)
		return true
	}
	return launch.OnScratch(f, m.bufs, m.words, m.scratch, refill, m.enter)
}

// A coded kernel is one with the code for an instruction set.
type coded struct {
	launch.Kernel
	code launch.Code
}

var counts launch.Counts

// prepare makes the tables that runs read.
func (p *Program) prepare() {
	for isa := range p.backends {
		p.backends[isa] = make([]coded, len(p.Kernels))
	}
	for i := range p.Kernels {
		k := &p.Kernels[i]
		q := k.program()
		for isa := range p.backends {
			c := coded{launch.Kernel{Program: q, Counts: &counts}, plain(k.Go)}
			if jit.ISA(isa) != jit.Portable {
				if e := p.Machine(i, jit.ISA(isa) == jit.AVX512); e != nil {
					c.Native, c.code = true, &machine{e, len(q.Bufs), q.Words(), k.Scratch}
				}
			}
			p.backends[isa][i] = c
		}
	}
	p.constants = stored(p.Constants)
	p.plans = cache.NewKeyed[[MaxLengths]int, *Plan](keptPlans)
}

// stored returns the bytes of a file of constants as memory: the executable has them, and they are used
// there if they are aligned for every type of elements. Else they are copied.
func stored(file string) *array.Storage {
	at := unsafe.Pointer(unsafe.StringData(file))
	if len(file) == 0 || uintptr(at)%alignment == 0 {
		return array.NewStorage(at, len(file), nil)
	}
	s := memory{}.Alloc(len(file))
	copy(unsafe.Slice((*byte)(s.Host()), len(file)), file)
	return s
}

// alignment is that of the widest element.
const alignment = 8

// bound returns a launch on the memory of the run, at an index of the axes around it. The frame is the
// caller's to free.
func (r *run) bound(l *Launch, index []int) launch.Launch {
	k := &r.p.backends[r.isa][l.Kernel]
	f := loop.NewFrame()
	for i, o := range l.Operands {
		at := r.base[o.Slot] + o.Bytes
		for a, j := range index {
			at += j * l.Around[a].Bytes[i]
		}
		f.Ptr[i] = unsafe.Add(r.slots[o.Slot].Host(), at)
	}
	words := f.Word[loop.WordResume+1:]
	copy(words, l.Words)
	for _, n := range l.Numbers {
		words[n.Word] = n.of(r.numbers)
	}
	extents := make([]int, len(k.Program.Axes))
	for a := range extents {
		extents[a] = int(f.Word[k.Program.ExtentWord(a)])
	}
	return launch.Launch{Kernel: &k.Kernel, Code: k.code, Frame: f, Extents: extents, Cost: r.p.Kernels[l.Kernel].Cost}
}

// of returns the word.
func (n *Number) of(numbers []uint64) uint64 {
	x := numbers[n.From]
	if n.Single {
		return uint64(math.Float32bits(float32(math.Float64frombits(x))))
	}
	return x
}

// launch runs a kernel at each index of the axes around it.
func (r *run) launch(l *Launch) {
	index := make([]int, len(l.Around))
	for more := true; more; {
		b := r.bound(l, index)
		err := b.Run()
		b.Frame.Free(len(l.Operands))
		r.check(err)
		more = false
		for a := len(index) - 1; a >= 0 && !more; a-- {
			if index[a]++; index[a] < l.Around[a].Extent {
				more = true
			} else {
				index[a] = 0
			}
		}
	}
}
