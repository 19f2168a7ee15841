package scatter

import (
	"slices"

	"weft/internal/grid"
	"weft/internal/loop"
)

// A runsVariant is a kernel in which a thread combines a run of sources that have one target.
type runsVariant struct {
	cell
	narrow bool // the threads of a warp have different runs: all of them help with a long one
	long   bool // pairs have 8 bytes each
}

func (v runsVariant) name() string {
	name := "scatter_runs_" + v.cell.name()
	if v.narrow {
		name += "_narrow"
	}
	return name + long(v.long)
}

// long is the end of the names of variants with numbers of 8 bytes.
func long(yes bool) string {
	if yes {
		return "_long"
	}
	return ""
}

// numbers is the type of targets and sources in pairs.
func numbers(long bool) loop.Type {
	if long {
		return loop.I64
	}
	return loop.I32
}

// Sizes of runs.
const (
	runUnroll   = 8         // sources of a thread whose loads are under way at a time
	ownTrips    = 4         // times that number is what a thread of a narrow variant combines alone
	helpBatches = 4         // loads of each lane, where a warp helps
	narrowRow   = grid.Warp // cells of a row from which on a warp has one run
)

// The argument block. Lines are walked by two axes around that of pairs.
const (
	runsKeys    = 0  // addresses: of targets
	runsSources = 8  // sources
	runsX       = 16 // the element of source 0
	runsOut     = 24 // target 0
	runsSource  = 32 // bytes from source to source
	runsTarget  = 40 // from target to target
	runsTargets = 48 // their number
	runsPairs   = 56 // of all pairs
	runsFirst   = 64 // the first pair of the launch
	runsSteps   = 72 // bytes: of sources and of targets, along the outer axis and the inner one
	runsUnits   = 104
	runsCount   = 108 // pairs of the launch, a divisor
	runsInner   = runsCount + grid.DivisorBytes
	runsBytes   = (runsInner + grid.DivisorBytes + 7) / 8 * 8
)

// A runsWriter writes a kernel of runs.
type runsWriter struct {
	writer
	v     runsVariant
	t     loop.Type // of numbers in pairs
	pairs grid.Reg  // their number

	p, k  grid.Reg   // the thread's pair, and its target
	mine  grid.Reg   // B: the thread has a run
	x, to grid.Reg   // I64: the addresses of source 0 and of the target, in the thread's line
	acc   []grid.Reg // what became of the target so far
	next  grid.Reg   // the next pair of the run
	more  grid.Reg   // B: the run may go on
}

// lower returns the kernel.
func (v runsVariant) lower() *grid.Kernel {
	w := &runsWriter{writer: writer{grid.NewBuilder(v.name(), threads)}, v: v, t: numbers(v.long)}
	w.K.Args, w.K.Abreast = runsBytes, 4
	w.pairs = w.as(w.t, w.long(runsPairs))
	w.place()
	if v.op == Copy {
		w.If(w.mine, false, func() { w.store(v.cell, w.to, grid.NoReg, w.source(w.x, w.p, grid.NoReg)) }, nil)
		return w.K
	}
	_, t := v.elem()
	for range v.n {
		w.acc = append(w.acc, w.Copy(w.Const(t, 0)))
	}
	w.next, w.more = w.Copy(w.Add(w.p, w.one())), w.Copy(w.Const(loop.B, 0))
	w.If(w.mine, false, w.own, nil)
	if v.narrow {
		w.If(w.Any(w.more), true, w.help, nil)
	}
	return w.K
}

// one returns the number 1 of pairs.
func (w *runsWriter) one() grid.Reg { return w.number(w.t, 1) }

// place finds the pair of the thread, and whether it has to do with a run.
func (w *runsWriter) place() {
	unit := w.item()
	exists := w.Lt(unit, w.short(runsUnits))
	rest, inner := w.Divide(w.Select(exists, unit, w.I32(0)), runsInner)
	outer, pair := w.Divide(rest, runsCount)
	w.p = w.Add(w.as(w.t, pair), w.as(w.t, w.long(runsFirst)))
	w.k = w.key(w.p, exists)
	// A copy wants the last pair of a run, all else the first.
	beside := w.Sub(w.p, w.one())
	there := w.And(exists, w.Lt(w.number(w.t, 0), w.p))
	if w.v.op == Copy {
		beside = w.Add(w.p, w.one())
		there = w.And(exists, w.Lt(beside, w.pairs))
	}
	same := w.And(there, w.Eq(w.key(beside, there), w.k))
	w.mine = w.And(w.And(exists, w.Not(same)), w.Lt(w.k, w.as(w.t, w.long(runsTargets))))
	step := func(i int) grid.Reg {
		steps := runsSteps + 16*i
		return w.Add(w.Mul(w.Wide(outer), w.long(steps)), w.Mul(w.Wide(inner), w.long(steps+8)))
	}
	w.x = w.Add(w.long(runsX), step(0))
	w.to = w.Add(w.Add(w.long(runsOut), step(1)), w.Mul(w.Wide(w.k), w.long(runsTarget)))
}

// key returns the target of a pair.
func (w *runsWriter) key(p, pred grid.Reg) grid.Reg {
	return w.Load(grid.Global, elemOf(w.t), w.t, w.Moved(w.long(runsKeys), p, w.t.Size()), 0, pred)
}

// source returns the source of a pair, in the line whose source 0 is at x.
func (w *runsWriter) source(x, p, pred grid.Reg) []grid.Reg {
	number := w.Load(grid.Global, elemOf(w.t), w.t, w.Moved(w.long(runsSources), p, w.t.Size()), 0, pred)
	return w.load(w.v.cell, w.Add(x, w.Mul(w.Wide(number), w.long(runsSource))), pred)
}

// belongs returns whether a pair is one of a target.
func (w *runsWriter) belongs(p, target grid.Reg) grid.Reg {
	there := w.Lt(p, w.pairs)
	return w.And(there, w.Eq(w.key(p, there), target))
}

// own combines the run of a thread, all of it or the begin.
func (w *runsWriter) own() {
	first := w.source(w.x, w.p, grid.NoReg)
	if !w.v.alone {
		first = w.combine(w.v.cell, w.load(w.v.cell, w.to, grid.NoReg), first)
	}
	for i, r := range first {
		w.Set(w.acc[i], r)
	}
	w.Set(w.more, w.Const(loop.B, 1))
	goes := func() grid.Reg { return w.more }
	if w.v.narrow {
		end := w.Add(w.p, w.number(w.t, ownTrips*runUnroll))
		goes = func() grid.Reg { return w.And(w.more, w.Lt(w.next, end)) }
	}
	w.While(false, goes, func() {
		var in [runUnroll]grid.Reg
		var sources [runUnroll][]grid.Reg
		for u := range in {
			in[u] = w.belongs(w.Add(w.next, w.number(w.t, u)), w.k)
		}
		for u := range sources {
			sources[u] = w.source(w.x, w.Add(w.next, w.number(w.t, u)), in[u])
		}
		for u, source := range sources {
			for i, r := range w.combine(w.v.cell, w.acc, source) {
				w.Set(w.acc[i], w.Select(in[u], r, w.acc[i]))
			}
		}
		w.Set(w.more, in[runUnroll-1])
		w.Update(w.next, loop.OpAdd, w.next, w.number(w.t, runUnroll))
	})
	if !w.v.narrow {
		w.store(w.v.cell, w.to, grid.NoReg, w.acc)
		return
	}
	w.store(w.v.cell, w.to, w.Not(w.more), w.acc)
}

// help combines what is left of long runs, one after the other. The lanes of the warp read the sources,
// and each combines all of them in order.
func (w *runsWriter) help() {
	lane := w.And(w.Thread(), w.I32(grid.Warp-1))
	number := func(c grid.Reg) grid.Reg { return w.Select(c, w.I32(1), w.I32(0)) }
	more, owner := number(w.more), w.Copy(w.I32(0))
	w.While(true, func() grid.Reg { return w.Lt(owner, w.I32(grid.Warp)) }, func() {
		w.If(w.Eq(w.FromLane(more, owner), w.I32(1)), true, func() {
			k, x := w.FromLane(w.k, owner), w.FromLane(w.x, owner)
			next, goes := w.Copy(w.FromLane(w.next, owner)), w.Copy(w.Const(loop.B, 1))
			acc := make([]grid.Reg, w.v.n)
			for i, r := range w.acc {
				acc[i] = w.Copy(w.FromLane(r, owner))
			}
			w.While(true, func() grid.Reg { return goes }, func() {
				var in [helpBatches]grid.Reg
				var sources [helpBatches][]grid.Reg
				mine := w.Add(next, w.as(w.t, lane))
				for b := range in {
					in[b] = w.belongs(w.Add(mine, w.number(w.t, grid.Warp*b)), k)
				}
				for b := range sources {
					sources[b] = w.source(x, w.Add(mine, w.number(w.t, grid.Warp*b)), in[b])
				}
				for b, source := range sources {
					w.inOrder(acc, source, number(in[b]))
				}
				w.Set(goes, w.All(in[helpBatches-1]))
				w.Update(next, loop.OpAdd, next, w.number(w.t, grid.Warp*helpBatches))
			})
			w.store(w.v.cell, w.to, w.Eq(lane, owner), acc)
		}, nil)
		w.Update(owner, loop.OpAdd, owner, w.I32(1))
	})
}

// inOrder combines acc with the sources of the lanes for which in is 1, in ascending order.
func (w *runsWriter) inOrder(acc, source []grid.Reg, in grid.Reg) {
	j := w.Copy(w.I32(0))
	w.While(true, func() grid.Reg { return w.Lt(j, w.I32(grid.Warp)) }, func() {
		for u := range int32(runUnroll) {
			from := w.Add(j, w.I32(u))
			there := w.Eq(w.FromLane(in, from), w.I32(1))
			y := make([]grid.Reg, len(source))
			for i, r := range source {
				y[i] = w.FromLane(r, from)
			}
			for i, r := range w.combine(w.v.cell, acc, y) {
				w.Set(acc[i], w.Select(there, r, acc[i]))
			}
		}
		w.Update(j, loop.OpAdd, j, w.I32(runUnroll))
	})
}

// runs returns the launches that combine runs of pairs.
func (s *Scatter) runs(o *sort, keys, sources int) (list []grid.Launch) {
	c := s.cell()
	source, target := s.DType.Size(), s.DType.Size()
	outer, inner := dim{n: 1}, dim{n: 1}
	if s.shared() {
		lines, along := s.lines()
		c, lines = s.widen(c, lines, along)
		source, target = along[ofX], along[ofOut]
		for _, d := range lines {
			if d.steps[ofX] < source {
				inner = d
			} else {
				outer = d
			}
		}
	}
	v := runsVariant{c, c.op != Copy && inner.n < narrowRow, o.long}
	// Operands are sources and targets, and pairs.
	pairs := dim{o.pairs, [3]int{2: 1}}
	outer.steps, inner.steps = [3]int{outer.steps[ofX], outer.steps[ofOut]}, [3]int{inner.steps[ofX], inner.steps[ofOut]}
	box{outer, pairs, inner}.inLaunches([3]int{int(s.X), int(s.Out)}, func(b box, begin [3]int) {
		var a grid.Args
		a.Long(keys, sources, begin[0], begin[1], source, target, o.targets, o.pairs, begin[2])
		a.Long(b[0].steps[0], b[2].steps[0], b[0].steps[1], b[2].steps[1])
		a.Short(b.size())
		a.Divisors(b[1].n, b[2].n)
		a.Pad()
		list = append(list, grid.NewLaunch(v.name(), v.lower, grid.Ceil(b.size(), threads), a))
	})
	return list
}

// inLaunches calls f for parts of a box that launches can take, which have all of its axes.
func (b box) inLaunches(begin [3]int, f func(b box, begin [3]int)) {
	if b.size() <= maxBox {
		f(b, begin)
		return
	}
	axis := slices.IndexFunc(b, func(d dim) bool { return d.n > 1 })
	b.halves(axis, begin, func(part box, begin [3]int) { part.inLaunches(begin, f) })
}
