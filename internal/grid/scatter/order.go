package scatter

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// A tileWriter writes kernels in which a block orders the pairs of a tile by a digit. Each thread has
// neighbouring pairs in registers. They go to their places through shared memory.
type tileWriter struct {
	writer
	t                  loop.Type // of keys
	thread, lane, warp grid.Reg
	shift              grid.Reg // the lowest bit of the digit
}

// newTile returns the writer of a kernel.
func newTile(name string, long bool, argBytes int) *tileWriter {
	w := &tileWriter{writer: writer{grid.NewBuilder(name, threads)}, t: numbers(long)}
	w.K.Args, w.K.Shared = argBytes, 4*threads*radix+4*radix
	w.thread = w.Thread()
	w.lane, w.warp = w.split(w.thread)
	return w
}

// digit returns the digit of a key.
func (w *tileWriter) digit(key grid.Reg) grid.Reg { return w.digitAt(key, w.shift) }

// greatest is the key of pairs that fill a tile: they come last, since the sort is stable.
func (w *tileWriter) greatest() grid.Reg { return w.number(w.t, -1) }

// own returns the number of a pair of the thread in the tile.
func (w *tileWriter) own(i int) grid.Reg {
	return w.Add(w.Mul(w.thread, w.I32(perThread)), w.I32(int32(i)))
}

// places returns where the pairs of the thread go: behind all pairs with lower digits, pairs of lower threads
// with the same digit, and its own ones before. It also returns the number of pairs with the digit that is
// the lane's number, and with lower ones.
func (w *tileWriter) places(keys []grid.Reg) (places []grid.Reg, total, lower grid.Reg) {
	const totals = 4 * threads * radix
	w.clear(w.thread)
	own := make([]grid.Reg, len(keys))
	for i, key := range keys {
		own[i] = w.count(w.counter(w.digit(key), w.thread), grid.NoReg)
	}
	w.Barrier()
	w.scanDigits(totals)
	w.Barrier()
	total = w.Load(grid.Shared, grid.W32, loop.I32, w.Wide(w.Mul(w.lane, w.I32(4))), totals, grid.NoReg)
	lower = w.Sub(w.upTo(total, w.lane), total)
	for i, key := range keys {
		digit := w.digit(key)
		before := w.Load(grid.Shared, grid.W32, loop.I32, w.counter(digit, w.thread), 0, grid.NoReg)
		places = append(places, w.Add(w.FromLane(lower, digit), w.Add(before, own[i])))
	}
	w.Barrier()
	return places, total, lower
}

// scanDigits replaces the counts of each digit in shared memory by the sums over lower threads, and writes
// the sums over all of them.
func (w *tileWriter) scanDigits(totals int) {
	first := w.Mul(w.warp, w.I32(warpDigits))
	at := w.counter(first, w.lane)
	for d := range warpDigits {
		before := w.I32(0)
		for j := range warps {
			off := 4 * (threads*d + grid.Warp*j)
			n := w.Load(grid.Shared, grid.W32, loop.I32, at, off, grid.NoReg)
			all := w.upTo(n, w.lane)
			w.Store(grid.Shared, grid.W32, at, off, grid.NoReg, w.Add(before, w.Sub(all, n)))
			before = w.Add(before, w.FromLane(all, w.I32(grid.Warp-1)))
		}
		to := w.Wide(w.Mul(w.Add(first, w.I32(int32(d))), w.I32(4)))
		w.Store(grid.Shared, grid.W32, to, totals, w.Eq(w.lane, w.I32(0)), before)
	}
}

// exchange replaces values by those that come to the places from first on, which are step apart.
func (w *tileWriter) exchange(x, places []grid.Reg, first grid.Reg, step int) {
	t := w.Type(x[0])
	at := func(place grid.Reg) grid.Reg { return w.Wide(w.Mul(place, w.I32(int32(t.Size())))) }
	for i, r := range x {
		w.Store(grid.Shared, elemOf(t), at(places[i]), 0, grid.NoReg, r)
	}
	w.Barrier()
	for i, r := range x {
		w.Set(r, w.Load(grid.Shared, elemOf(t), t, at(first), i*step*t.Size(), grid.NoReg))
	}
	w.Barrier()
}

// An orderVariant is a kernel that orders pairs by a digit.
type orderVariant struct {
	first bool // sources are the places of the pairs
	long  bool
}

func (v orderVariant) name() string {
	if v.first {
		return "scatter_order_first" + long(v.long)
	}
	return "scatter_order" + long(v.long)
}

// lower returns the kernel. A block orders tiles, one after the other, and appends their pairs to those with
// the same digit, in ascending order of addresses.
func (v orderVariant) lower() *grid.Kernel {
	w := newTile(v.name(), v.long, sortBytes)
	t := w.t
	w.shift = w.short(sortShift)
	// Lane i of each warp knows where the next pair with digit i goes.
	next := w.Copy(w.Load(grid.Global, elemOf(t), t, w.total(t, w.lane), 0, grid.NoReg))
	begin, end := w.chunk(t)
	base := w.Copy(begin)
	w.While(true, func() grid.Reg { return w.Lt(base, end) }, func() {
		keys, sources := make([]grid.Reg, perThread), make([]grid.Reg, perThread)
		for i := range keys {
			at := w.Add(base, w.as(t, w.own(i)))
			in := w.Lt(at, end)
			key := w.Load(grid.Global, elemOf(t), t, w.Moved(w.long(sortKeys), at, t.Size()), 0, in)
			keys[i] = w.Copy(w.Select(in, key, w.greatest()))
			source := at
			if !v.first {
				source = w.Load(grid.Global, elemOf(t), t, w.Moved(w.long(sortSources), at, t.Size()), 0, in)
			}
			sources[i] = w.Copy(source)
		}
		places, total, lower := w.places(keys)
		w.exchange(keys, places, w.thread, threads)
		w.exchange(sources, places, w.thread, threads)
		start := w.Sub(next, w.as(t, lower))
		for i, key := range keys {
			place := w.as(t, w.Add(w.thread, w.I32(int32(i*threads))))
			in := w.Lt(w.Add(base, place), end)
			to := w.Add(w.FromLane(start, w.digit(key)), place)
			w.Store(grid.Global, elemOf(t), w.Moved(w.long(sortKeysTo), to, t.Size()), 0, in, key)
			w.Store(grid.Global, elemOf(t), w.Moved(w.long(sortTo), to, t.Size()), 0, in, sources[i])
		}
		w.Update(next, loop.OpAdd, next, w.as(t, total))
		w.Update(base, loop.OpAdd, base, w.number(t, tile))
	})
	return w.K
}

// A smallVariant is a kernel in which one block sorts the pairs of a tile by all their digits.
type smallVariant struct{ long bool }

func (v smallVariant) name() string { return "scatter_small" + long(v.long) }

// The argument block.
const (
	smallKeys  = 0  // addresses: of targets, which are sorted in place
	smallTo    = 8  // of sources
	smallPairs = 16 // their number, up to tile
	smallBits  = 24 // of keys, a multiple of digitBits
	smallBytes = 32
)

// small returns the launch that sorts pairs in one block.
func (o *sort) small(keys, sources int) grid.Launch {
	var a grid.Args
	a.Long(keys, sources, o.pairs, o.passes*digitBits)
	v := smallVariant{o.long}
	return grid.NewLaunch(v.name(), v.lower, 1, a)
}

// lower returns the kernel.
func (v smallVariant) lower() *grid.Kernel {
	w := newTile(v.name(), v.long, smallBytes)
	pairs, bits := w.as(loop.I32, w.long(smallPairs)), w.as(loop.I32, w.long(smallBits))
	at := func(addr, i int) grid.Reg { return w.Moved(w.long(addr), w.own(i), w.t.Size()) }
	keys, sources := make([]grid.Reg, perThread), make([]grid.Reg, perThread)
	for i := range keys {
		in := w.Lt(w.own(i), pairs)
		key := w.Load(grid.Global, elemOf(w.t), w.t, at(smallKeys, i), 0, in)
		keys[i], sources[i] = w.Copy(w.Select(in, key, w.greatest())), w.Copy(w.own(i))
	}
	w.shift = w.Copy(w.I32(0))
	w.While(true, func() grid.Reg { return w.Lt(w.shift, bits) }, func() {
		places, _, _ := w.places(keys)
		w.exchange(keys, places, w.own(0), 1)
		w.exchange(sources, places, w.own(0), 1)
		w.Update(w.shift, loop.OpAdd, w.shift, w.I32(digitBits))
	})
	for i := range keys {
		in := w.Lt(w.own(i), pairs)
		w.Store(grid.Global, elemOf(w.t), at(smallKeys, i), 0, in, keys[i])
		w.Store(grid.Global, elemOf(w.t), at(smallTo, i), 0, in, w.as(w.t, sources[i]))
	}
	return w.K
}
