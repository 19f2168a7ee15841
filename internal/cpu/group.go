package cpu

import (
	"slices"
	"sync"

	"weft/internal/cpu/tile"
	"weft/internal/device"
	"weft/internal/launch"
	"weft/internal/loop"
	"weft/internal/par"
)

// A group is launches that do not depend on each other. Whether threads are worth waking is
// decided by the work of all launches together. Threads take units of any launch: the units
// are numbered through all launches.
type group struct {
	tasks []task
	ends  []int // of each task's units

	// Totals of all launches: work, work as counted for waking threads that spin, and time.
	work, hot, time int
}

var groups = sync.Pool{New: func() any { return new(group) }}

// LaunchAll runs launches that do not depend on each other as one group.
func (s *stream) LaunchAll(ls []device.Launch) error {
	g := groups.Get().(*group)
	for i := range ls {
		s.launch(&ls[i], g)
	}
	err := g.run()
	clear(g.tasks)
	*g = group{tasks: g.tasks[:0], ends: g.ends[:0]}
	groups.Put(g)
	return err
}

// add adds a launch of n elements to the group. unit is the work per element.
func (g *group) add(p *Program, l *device.Launch, n, unit int) {
	g.tasks = append(g.tasks, task{launch.Task{Launch: p.plain(l), N: n, Unit: unit}, p})
	g.work += n * unit
	g.hot += launch.Hot(n, unit)
	g.time += n * launch.ElementWork(unit)
}

func (g *group) run() error {
	threads := 1
	if launch.Pays(g.work, g.hot) {
		threads = par.Threads()
	}
	if threads == 1 && g.sharesArray() {
		return g.interleave()
	}
	if threads == 1 || len(g.tasks) == 1 {
		for i := range g.tasks {
			if err := g.tasks[i].run(threads); err != nil {
				return err
			}
		}
		return nil
	}
	// A few units for each thread, so that the last ones end together.
	chunk := min(g.time/(4*threads)+1, launch.ChunkWork)
	units := 0
	for i := range g.tasks {
		t := &g.tasks[i]
		t.vary()
		units += t.Whole(t.Cut(chunk, 1))
		g.ends = append(g.ends, units)
	}
	counters := g.tasks[0].p.counters
	counters.Threaded.Add(1)
	counters.Grouped.Add(int64(len(g.tasks)))
	par.RunTask(units, 1, threads, g)
	for i := range g.tasks {
		if err := g.tasks[i].Err(); err != nil {
			return err
		}
	}
	return nil
}

const (
	// interleaveMin is the size from which launches that read the same array are interleaved on one
	// thread: each covers at least this many elements. Of a smaller array more stays in the
	// L2 cache from one launch to the next. docs/decisions/0152 has what it saves.
	interleaveMin = 1 << 20
	// interleavedWork is the work of a part. Its arrays stay in the L2 cache.
	interleavedWork = launch.ChunkWork / 4
)

// sharesArray reports that there are several launches, each covers interleaveMin elements, and each
// reads an array of the first one, row by row.
func (g *group) sharesArray() bool {
	for i := range g.tasks {
		t := &g.tasks[i]
		if t.N < interleaveMin || i > 0 && !g.tasks[0].reads(t) {
			return false
		}
	}
	return len(g.tasks) > 1
}

// reads reports whether both tasks read an array from the same address on, along their first
// axes.
func (t *task) reads(o *task) bool {
	for i, a := range t.p.p.Bufs {
		for j, b := range o.p.p.Bufs {
			if !a.Write && !b.Write && t.Frame.Ptr[i] == o.Frame.Ptr[j] && a.Steps[0] != loop.Zero && b.Steps[0] != loop.Zero {
				return true
			}
		}
	}
	return false
}

// interleave runs a part of each task at a time, so that the others find in the L2 cache what
// one has just read.
func (g *group) interleave() error {
	g.tasks[0].p.counters.Interleaved.Add(1)
	most := 0
	for i := range g.tasks {
		t := &g.tasks[i]
		t.vary()
		n := t.Whole(t.Cut(interleavedWork, 1))
		g.ends = append(g.ends, n)
		most = max(most, n)
	}
	for k := range most {
		for i := range g.tasks {
			t, n := &g.tasks[i], g.ends[i]
			t.Chunk(0, k*n/most, (k+1)*n/most)
			if err := t.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Chunk runs units begin to end-1. A unit belongs to the first task whose units end behind it.
func (g *group) Chunk(worker, begin, end int) {
	i, _ := slices.BinarySearch(g.ends, end)
	first := 0
	if i > 0 {
		first = g.ends[i-1]
	}
	g.tasks[i].Chunk(worker, begin-first, end-first)
}

// A row is calls of matrix products that do not depend on each other.
type row struct {
	rs    []device.Routine
	calls []*device.Call
	errs  []error
}

// CallAll calls routines at the same time on several threads, if each is too small for several
// threads but all together are not.
func (s *stream) CallAll(rs []device.Routine, calls []*device.Call) error {
	work, most := 0, 0
	if par.Threads() > 1 {
		for _, c := range calls {
			w := c.Out[0].Size() * c.Args[0].Shape[len(c.Args[0].Shape)-1]
			work, most = work+w, max(most, w)
		}
	}
	threads := 1
	if most < tile.ThreadHot {
		threads = tile.ThreadsFor(work, 0)
	}
	if threads == 1 {
		for i, r := range rs {
			if err := r(calls[i]); err != nil {
				return err
			}
		}
		return nil
	}
	s.d.counters.Threaded.Add(1)
	s.d.counters.Grouped.Add(int64(len(calls)))
	t := &row{rs, slices.Clone(calls), make([]error, len(calls))}
	par.RunTask(len(calls), 1, threads, t)
	for _, err := range t.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Chunk calls routines begin to end-1.
func (t *row) Chunk(_, begin, end int) {
	for i := begin; i < end; i++ {
		t.errs[i] = t.rs[i](t.calls[i])
	}
}
