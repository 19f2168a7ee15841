package cpu

import (
	"slices"
	"sync"

	"weft/internal/device"
	"weft/internal/par"
)

// A group is launches of which none depends on another. The threads are worth waking for
// it if all together are, and take pieces of any: the units of the launches are numbered
// through.
type group struct {
	tasks []task
	ends  []int // of each task's units

	// What all together are: work, the same as a reason to wake threads that spin,
	// and as time.
	work, hot, time int
}

var groups = sync.Pool{New: func() any { return new(group) }}

// LaunchAll runs launches at once.
func (s *stream) LaunchAll(ls []device.Launch) error {
	g := groups.Get().(*group)
	for _, l := range ls {
		s.launch(l, g)
	}
	err := g.run()
	clear(g.tasks)
	*g = group{tasks: g.tasks[:0], ends: g.ends[:0]}
	groups.Put(g)
	return err
}

// add puts a launch of n elements of so much work each into the group.
func (g *group) add(p *Program, l device.Launch, n, unit int) {
	g.tasks = append(g.tasks, task{p: p, l: l, n: n, unit: unit})
	g.work += n * unit
	g.hot += n * max(unit, hotMin)
	g.time += n * pace(unit)
}

func (g *group) run() error {
	threads := 1
	if g.work >= coldWork || g.hot >= hotWork && par.Hot() {
		threads = par.Threads()
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
	chunk := min(g.time/(4*threads)+1, chunkWork)
	units := 0
	for i := range g.tasks {
		t := &g.tasks[i]
		t.code = t.p.codeFor(&t.l)
		n := t.cut(chunk, 1)
		if n == 0 { // the whole is a unit
			t.axis, t.step, t.pieces, n = 0, t.l.Extents[0], 1, 1
		}
		units += n
		g.ends = append(g.ends, units)
	}
	Counters.Threaded.Add(1)
	Counters.Grouped.Add(int64(len(g.tasks)))
	par.RunTask(units, 1, threads, g)
	for i := range g.tasks {
		if e := g.tasks[i].err.Load(); e != nil {
			return *e
		}
	}
	return nil
}

// Chunk runs a unit: of the first task that ends behind it.
func (g *group) Chunk(worker, begin, end int) {
	i, _ := slices.BinarySearch(g.ends, end)
	first := 0
	if i > 0 {
		first = g.ends[i-1]
	}
	g.tasks[i].Chunk(worker, begin-first, end-first)
}
