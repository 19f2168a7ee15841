// Package launch runs kernels of loop programs on the threads of the CPU: it cuts a launch over a
// rectangle into chunks, spreads them over workers, and runs epilogues on pieces of a result. What
// computes a chunk is an interface: machine code made at run time, the interpreter, or code that was
// written ahead. So the package needs the layout of a program's arguments, and no compiler.
package launch

import (
	"context"
	"sync/atomic"
	"unsafe"

	"weft/internal/loop"
	"weft/internal/par"
)

// A Code runs the chunk that a frame describes. Loops burn fuel from word [loop.WordFuel]. When it is
// used up, Run calls refill, which stores new fuel in that word, or returns false to give up: then Run
// returns false and the outputs are half written. A nil refill always goes on.
type Code interface {
	Run(f *loop.Frame, refill func() bool) (done bool)
}

// Counts count events.
type Counts struct {
	Native      atomic.Int64 // launches that machine code ran
	Interpreted atomic.Int64 // launches that the interpreter ran
	Threaded    atomic.Int64 // hand-offs of a launch or a group to several threads
	Epilogues   atomic.Int64 // pieces of routines' results on which an epilogue ran
}

// A Kernel is a loop program that can be launched. Only the layout of the program's arguments is read:
// buffers, scalars, axes and the lane axis.
type Kernel struct {
	Program *loop.Program
	Native  bool // it has machine code
	Counts  *Counts
}

// fuelPerEntry is the fuel of one call of machine code: about 100 us of the shortest loop.
const fuelPerEntry = 1 << 14

// Enter runs code of the kernel on a frame until it is done, or the context is. A nil context is never
// done.
func (k *Kernel) Enter(code Code, f *loop.Frame, ctx context.Context) error {
	if k.Native {
		k.Counts.Native.Add(1)
	} else {
		k.Counts.Interpreted.Add(1)
	}
	f.Word[loop.WordFuel] = fuelPerEntry
	if !code.Run(f, refill(f, ctx)) {
		return ctx.Err()
	}
	return nil
}

// refill returns a function that gives the frame new fuel unless the context is done, or nil for a
// context that never is: code then goes on with the fuel of the frame.
func refill(f *loop.Frame, ctx context.Context) func() bool {
	if ctx == nil || ctx.Done() == nil {
		return nil
	}
	return func() bool {
		f.Word[loop.WordFuel] = fuelPerEntry
		return ctx.Err() == nil
	}
}

// Narrow restricts the frame to n indices of an axis from at.
func (k *Kernel) Narrow(f *loop.Frame, axis, at, n int) {
	p := k.Program
	f.Word[p.ExtentWord(axis)] = uint64(n)
	f.Word[p.StartWord(axis)] += uint64(at)
	for i := range p.Bufs {
		if p.Bufs[i].Steps[axis] != loop.Zero {
			f.Ptr[i] = unsafe.Add(f.Ptr[i], at*int(int64(f.Word[p.StrideWord(i, axis)])))
		}
	}
}

// Idle reports that a launch of no elements has nothing to do. A reduction of nothing writes its
// identity.
func (k *Kernel) Idle(extents []int) bool {
	p := k.Program
	for a, e := range extents {
		if e == 0 && (a < p.Lane || a == p.Lane && p.Axes[p.Lane].Kind == loop.Parallel) {
			return true
		}
	}
	return false
}

// Limits of work. The rough cost of an element is in tenths of a nanosecond.
const (
	perNS      = 10
	ChunkWork  = 50_000 * perNS // of a chunk: an entry is not preemptible and should end in some 50 µs
	ElementMin = 3
	hotMin     = 6 // where workers spin: the more is computed, the more the cost is above the time
)

// Unit returns the work of an element, given its cost in instructions.
func (k *Kernel) Unit(cost int) int {
	if !k.Native {
		return 20 * cost
	}
	return max(cost, ElementMin)
}

// Hot returns the work of n elements of unit work each as it counts for waking threads that spin.
func Hot(n, unit int) int { return n * max(unit, hotMin) }

// ElementWork returns the time that an element takes, given its cost in instructions: an
// instruction computes several elements.
func ElementWork(unit int) int { return max(unit/4, ElementMin) }

// Pays reports whether several threads gain for work, and hot as [Hot] counts it.
func Pays(work, hot int) bool { return par.Pays(work/perNS, hot/perNS) }

// Threads returns the number of threads for n elements of unit work each.
func Threads(n, unit int) int {
	if Pays(n*unit, Hot(n, unit)) {
		return par.Threads()
	}
	return 1
}

// A Launch is one run of a kernel over a rectangle.
type Launch struct {
	Kernel  *Kernel
	Code    Code        // of the kernel
	Frame   *loop.Frame // pointers and words
	Extents []int       // of the program's axes, as in the frame
	Cost    int         // a rough number of vector instructions an element
	Context context.Context
}

// Run runs the launch, in chunks, on the threads that it pays for.
func (l *Launch) Run() error {
	n := 1
	for _, e := range l.Extents {
		n *= e
	}
	if n == 0 && l.Kernel.Idle(l.Extents) {
		return nil
	}
	t := Task{Launch: *l, N: n, Unit: l.Kernel.Unit(l.Cost)}
	threads := Threads(n, t.Unit)
	if t.One(threads) {
		return l.Kernel.Enter(l.Code, l.Frame, l.Context)
	}
	return (&t).Spread(t.Cut(ChunkWork, threads), threads)
}
