package launch

import (
	"sync/atomic"

	"weft/internal/loop"
	"weft/internal/par"
)

// A Task is a launch of N elements with Unit work each. It is cut into units: a unit has one index of
// each axis before one, and a piece of that axis.
type Task struct {
	Launch
	N, Unit int

	axis, step, pieces int
	err                atomic.Pointer[error]
}

// One reports that the task is one chunk on one thread.
func (t *Task) One(threads int) bool { return t.N*t.Unit <= ChunkWork && threads == 1 }

// Cut divides the launch into units of at most chunk work, evenly for the threads. It returns
// the number of units, 0 for one row that is not cut.
func (t *Task) Cut(chunk, threads int) (units int) {
	p, extents, unit := t.Kernel.Program, t.Extents, t.Unit
	lane := p.Lane
	// The first axis such that one index of it is at most a chunk; a row that is
	// reduced, or whose length the code is made for, is never cut.
	whole := p.Axes[lane].Kind == loop.Reduce || p.Axes[lane].Extent > 0
	axis, inner := 0, t.N
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
	t.axis, t.step = axis, max(chunk/(max(inner, 1)*ElementWork(unit)), 1)
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

// Whole makes the whole task one unit if units is 0. It returns the number of units.
func (t *Task) Whole(units int) int {
	if units == 0 {
		t.axis, t.step, t.pieces, units = 0, t.Extents[0], 1, 1
	}
	return units
}

// Spread runs the units that Cut returned on up to threads threads.
func (t *Task) Spread(units, threads int) error {
	if units == 0 {
		return t.Kernel.Enter(t.Code, t.Frame, t.Context)
	}
	if threads > 1 {
		t.Kernel.Counts.Threaded.Add(1)
	}
	par.RunTask(units, 1, threads, t)
	return t.Err()
}

// Err returns the error of a chunk, if there is one.
func (t *Task) Err() error {
	if e := t.err.Load(); e != nil {
		return *e
	}
	return nil
}

// Chunk runs units begin to end.
func (t *Task) Chunk(_, begin, end int) {
	f := loop.NewFrame()
	k := t.Kernel
	p := k.Program
	defer f.Free(len(p.Bufs))
	words := p.Words()
	for u := begin; u < end; u++ {
		if t.err.Load() != nil {
			return
		}
		copy(f.Ptr[:len(p.Bufs)], t.Frame.Ptr[:])
		copy(f.Word[2:words], t.Frame.Word[2:words])
		at := u % t.pieces * t.step
		k.Narrow(f, t.axis, at, min(t.step, t.Extents[t.axis]-at))
		rest := u / t.pieces
		for a := t.axis - 1; a >= 0; a-- {
			k.Narrow(f, a, rest%t.Extents[a], 1)
			rest /= t.Extents[a]
		}
		if err := k.Enter(t.Code, f, t.Context); err != nil {
			t.err.CompareAndSwap(nil, &err)
			return
		}
	}
}
