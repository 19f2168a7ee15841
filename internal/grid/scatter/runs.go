package scatter

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// A runsVariant is a kernel in which a thread combines a run of sources that have one target.
type runsVariant struct {
	cell
	long bool // pairs have 8 bytes each
}

func (v runsVariant) name() string { return "scatter_runs_" + v.cell.name() + long(v.long) }

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

// lower returns the kernel.
func (v runsVariant) lower() *grid.Kernel {
	w := writer{grid.NewBuilder(v.name(), threads)}
	w.K.Args, w.K.Abreast = runsBytes, 4
	unit := w.item()
	w.If(w.Lt(unit, w.short(runsUnits)), false, func() { v.unit(w, unit) }, nil)
	return w.K
}

func (v runsVariant) unit(w writer, unit grid.Reg) {
	t := numbers(v.long)
	rest, inner := w.Divide(unit, runsInner)
	outer, pair := w.Divide(rest, runsCount)
	p := w.Add(w.as(t, pair), w.as(t, w.long(runsFirst)))
	pairs, size := w.as(t, w.long(runsPairs)), t.Size()
	key := func(p, pred grid.Reg) grid.Reg {
		return w.Load(grid.Global, elemOf(t), t, w.place(w.long(runsKeys), p, size), 0, pred)
	}
	k := key(p, grid.NoReg)
	// A copy wants the last pair of a run, all else the first.
	beside := w.Add(p, w.number(t, -1))
	there := w.Lt(w.number(t, 0), p)
	if v.op == Copy {
		beside = w.Add(p, w.number(t, 1))
		there = w.Lt(beside, pairs)
	}
	same := w.And(there, w.Eq(key(beside, there), k))
	mine := w.And(w.Not(same), w.Lt(k, w.as(t, w.long(runsTargets))))
	w.If(mine, false, func() {
		step := func(i int) grid.Reg {
			steps := runsSteps + 16*i
			return w.Add(w.Mul(w.Wide(outer), w.long(steps)), w.Mul(w.Wide(inner), w.long(steps+8)))
		}
		x := w.Add(w.long(runsX), step(0))
		to := w.Add(w.Add(w.long(runsOut), step(1)), w.Mul(w.wide(k), w.long(runsTarget)))
		load := func(p, pred grid.Reg) []grid.Reg {
			source := w.Load(grid.Global, elemOf(t), t, w.place(w.long(runsSources), p, size), 0, pred)
			return w.load(v.cell, w.Add(x, w.Mul(w.wide(source), w.long(runsSource))), pred)
		}
		if v.op == Copy {
			w.store(v.cell, to, grid.NoReg, load(p, grid.NoReg))
			return
		}
		first := load(p, grid.NoReg)
		if !v.alone {
			first = w.combine(v.cell, w.load(v.cell, to, grid.NoReg), first)
		}
		acc := make([]grid.Reg, v.n)
		for i, r := range first {
			acc[i] = w.Copy(r)
		}
		q, more := w.Copy(w.Add(p, w.number(t, 1))), w.Copy(w.Const(loop.B, 1))
		w.While(false, func() grid.Reg { return more }, func() {
			var in [unroll]grid.Reg
			var sources [unroll][]grid.Reg
			for u := range unroll {
				there := w.Lt(q, pairs)
				in[u] = w.And(there, w.Eq(key(q, there), k))
				w.Update(q, loop.OpAdd, q, w.number(t, 1))
			}
			for u := range unroll {
				sources[u] = load(w.Add(q, w.number(t, u-unroll)), in[u])
			}
			for u, source := range sources {
				for i, r := range w.combine(v.cell, acc, source) {
					w.Set(acc[i], w.Select(in[u], r, acc[i]))
				}
			}
			w.Set(more, in[unroll-1])
		})
		w.store(v.cell, to, grid.NoReg, acc)
	}, nil)
}
