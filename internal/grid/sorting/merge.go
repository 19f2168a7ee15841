package sorting

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// sortFew sorts the records of a thread by a network: neighbours are exchanged in turns of odd and even
// ones.
func (w *writer) sortFew(v []record) {
	for turn := range v {
		for i := turn % 2; i+1 < len(v); i += 2 {
			swap := w.less(v[i+1], v[i])
			v[i], v[i+1] = w.choose(swap, v[i+1], v[i]), w.choose(swap, v[i], v[i+1])
		}
	}
}

// split returns how many of the first n records of the merged runs are of run a. Numbers are of one
// type; less reports whether record i of a stands before record j of b.
func (w *writer) split(n, lenA, lenB grid.Reg, less func(i, j grid.Reg) grid.Reg) grid.Reg {
	t := w.Type(n)
	one := w.Const(t, 1)
	lo := w.Copy(w.most(w.Sub(n, lenB), w.Const(t, 0)))
	hi := w.Copy(w.least(n, lenA))
	w.While(false, func() grid.Reg { return w.Lt(lo, hi) }, func() {
		mid := w.Do(loop.OpShrU, t, 0, w.Add(lo, hi), one)
		c := less(mid, w.Sub(w.Sub(n, one), mid))
		w.Set(lo, w.Select(c, w.Add(mid, one), lo))
		w.Set(hi, w.Select(c, hi, mid))
	})
	return lo
}

// mergeFew returns few records of the merged runs of shared memory that begin at a and b, from the n-th
// on. Behind the last record it returns ends. All numbers are I32.
func (w *writer) mergeFew(n, a, lenA, b, lenB grid.Reg) (out []record) {
	first := w.split(w.least(n, w.Add(lenA, lenB)), lenA, lenB, func(i, j grid.Reg) grid.Reg {
		return w.less(w.get(w.Add(a, i), grid.NoReg), w.get(w.Add(b, j), grid.NoReg))
	})
	i, j := w.Add(a, first), w.Add(b, w.Sub(w.least(n, w.Add(lenA, lenB)), first))
	endA, endB := w.Add(a, lenA), w.Add(b, lenB)
	next := func(i, end grid.Reg) record {
		in := w.Lt(i, end)
		return w.choose(in, w.get(i, in), w.end())
	}
	x, y := next(i, endA), next(j, endB)
	for k := range few {
		takeX := w.less(x, y)
		out = append(out, w.choose(takeX, x, y))
		if k == few-1 {
			break
		}
		one := w.I32(1)
		i, j = w.Select(takeX, w.Add(i, one), i), w.Select(takeX, j, w.Add(j, one))
		z := next(w.Select(takeX, i, j), w.Select(takeX, endA, endB))
		x, y = w.choose(takeX, z, x), w.choose(takeX, y, z)
	}
	return out
}

// putFew writes the records of a thread to shared memory, from slot first on.
func (w *writer) putFew(first grid.Reg, v []record) {
	for k, r := range v {
		w.put(w.Add(first, w.I32(int32(k))), r)
	}
}

// merge writes the kernel that merges pairs of runs: a block of threads writes a tile of the result.
func (w *writer) merge() {
	t := w.Thread()
	row, tile := w.Divide(w.Block(), argTiles)
	n, run := w.long(argN), w.long(argRun)
	base := w.Mul(w.Wide(row), w.long(argPitch))
	first := w.Mul(w.Wide(tile), w.I64(tileSize)) // of the tile
	pair := w.And(first, w.Not(w.Sub(w.Add(run, run), w.I64(1))))
	lenA := w.least(run, w.Sub(n, pair))
	lenB := w.least(run, w.Sub(w.Sub(n, pair), lenA))
	a := w.Add(base, pair)
	b := w.Add(a, lenA)
	from := w.Sub(first, pair)
	to := w.least(w.Add(from, w.I64(tileSize)), w.Add(lenA, lenB))
	// Even threads find where the tile begins in the runs, odd ones where it ends.
	odd := w.Lt(w.I32(0), w.And(t, w.I32(1)))
	found := w.split(w.Select(odd, to, from), lenA, lenB, func(i, j grid.Reg) grid.Reg {
		return w.less(w.loadRecord(argFrom, w.Add(a, i), grid.NoReg), w.loadRecord(argFrom, w.Add(b, j), grid.NoReg))
	})
	fromA, toA := w.FromLane(found, w.I32(0)), w.FromLane(found, w.I32(1))
	fromB, toB := w.Sub(from, fromA), w.Sub(to, toA)
	narrow := func(x grid.Reg) grid.Reg { return w.Do(loop.OpCvt, loop.I32, 0, x) }
	countA, countB := narrow(w.Sub(toA, fromA)), narrow(w.Sub(toB, fromB))
	count := w.Add(countA, countB)
	startA, startB := w.Add(a, fromA), w.Sub(w.Add(b, fromB), w.Wide(countA))
	for k := range few {
		i := w.Add(t, w.I32(int32(k*threads)))
		w.put(i, w.loadRecord(argFrom, w.Add(w.Select(w.Lt(i, countA), startA, startB), w.Wide(i)), w.Lt(i, count)))
	}
	w.Barrier()
	own := w.left(t, w.I32(3))
	v := w.mergeFew(own, w.I32(0), countA, countA, countB)
	w.Barrier()
	w.putFew(own, v)
	w.Barrier()
	for k := range few {
		i := w.Add(t, w.I32(int32(k*threads)))
		w.storeRecord(argTo, w.Add(w.Add(base, first), w.Wide(i)), w.Lt(i, count), w.get(i, grid.NoReg))
	}
}
