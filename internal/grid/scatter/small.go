package scatter

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// A smallVariant is a kernel in which one block sorts the pairs of a tile by all their digits. Pairs stay
// in the registers of threads, and go through shared memory from one digit to the next.
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
func (o *sort) small(keys, sources int) Launch {
	var a arguments
	a.long(keys, sources, o.pairs, o.passes*digitBits)
	v := smallVariant{o.long}
	return Launch{v.name(), v.lower, 1, a}
}

// A smallWriter writes the kernel.
type smallWriter struct {
	writer
	t                  loop.Type // of keys
	thread, lane, warp grid.Reg
	first              grid.Reg // the thread's first pair
	shift              grid.Reg // the lowest bit of the digit
}

// lower returns the kernel.
func (v smallVariant) lower() *grid.Kernel {
	w := &smallWriter{writer: writer{grid.NewBuilder(v.name(), threads)}, t: numbers(v.long)}
	w.K.Args, w.K.Shared = smallBytes, 4*threads*radix+4*radix
	w.thread = w.Thread()
	w.lane, w.warp = w.And(w.thread, w.I32(grid.Warp-1)), w.Do(loop.OpShrU, loop.I32, 0, w.thread, w.I32(5))
	w.first = w.Mul(w.thread, w.I32(perThread))
	pairs, bits := w.as(loop.I32, w.long(smallPairs)), w.as(loop.I32, w.long(smallBits))
	at := func(addr, i int) grid.Reg { return w.place(w.long(addr), w.Add(w.first, w.I32(int32(i))), w.t.Size()) }
	inside := func(i int) grid.Reg { return w.Lt(w.Add(w.first, w.I32(int32(i))), pairs) }
	// Pairs behind the last one have the greatest key. They come last, since the sort is stable.
	greatest := w.Sub(w.Do(loop.OpShl, w.t, 0, w.number(w.t, 1), w.as(w.t, bits)), w.number(w.t, 1))
	keys, sources := make([]grid.Reg, perThread), make([]grid.Reg, perThread)
	for i := range keys {
		in := inside(i)
		key := w.Load(grid.Global, elemOf(w.t), w.t, at(smallKeys, i), 0, in)
		keys[i] = w.Copy(w.Select(in, key, greatest))
		sources[i] = w.Copy(w.Add(w.first, w.I32(int32(i))))
	}
	w.shift = w.Copy(w.I32(0))
	w.While(true, func() grid.Reg { return w.Lt(w.shift, bits) }, func() {
		places := w.places(keys)
		w.exchange(keys, places)
		w.exchange(sources, places)
		w.Update(w.shift, loop.OpAdd, w.shift, w.I32(digitBits))
	})
	for i := range keys {
		in := inside(i)
		w.Store(grid.Global, elemOf(w.t), at(smallKeys, i), 0, in, keys[i])
		w.Store(grid.Global, elemOf(w.t), at(smallTo, i), 0, in, w.as(w.t, sources[i]))
	}
	return w.K
}

// digitOf returns the digit of a key.
func (w *smallWriter) digitOf(key grid.Reg) grid.Reg {
	x := w.Do(loop.OpShrU, w.t, 0, key, w.as(w.t, w.shift))
	return w.And(w.as(loop.I32, x), w.I32(radix-1))
}

// places returns where the pairs of the thread go: behind all pairs with lower digits, pairs of lower threads
// with the same digit, and its own ones before.
func (w *smallWriter) places(keys []grid.Reg) []grid.Reg {
	const totals = 4 * threads * radix
	w.clear(w.thread)
	own := make([]grid.Reg, len(keys))
	for i, key := range keys {
		own[i] = w.count(w.counter(w.digitOf(key), w.thread), grid.NoReg)
	}
	w.Barrier()
	for d, n := range w.scanDigits(w.lane, w.warp) {
		digit := w.Add(w.Mul(w.warp, w.I32(warpDigits)), w.I32(int32(d)))
		w.Store(grid.Shared, grid.W32, w.Wide(w.Mul(digit, w.I32(4))), totals, w.Eq(w.lane, w.I32(0)), n)
	}
	w.Barrier()
	total := w.Load(grid.Shared, grid.W32, loop.I32, w.Wide(w.Mul(w.lane, w.I32(4))), totals, grid.NoReg)
	lower := w.Sub(w.upTo(total, w.lane), total)
	places := make([]grid.Reg, len(keys))
	for i, key := range keys {
		digit := w.digitOf(key)
		before := w.Load(grid.Shared, grid.W32, loop.I32, w.counter(digit, w.thread), 0, grid.NoReg)
		places[i] = w.Add(w.FromLane(lower, digit), w.Add(before, own[i]))
	}
	w.Barrier()
	return places
}

// exchange moves values to the threads of their new places.
func (w *smallWriter) exchange(x, places []grid.Reg) {
	t := w.Type(x[0])
	at := func(place grid.Reg) grid.Reg { return w.Wide(w.Mul(place, w.I32(int32(t.Size())))) }
	for i, r := range x {
		w.Store(grid.Shared, elemOf(t), at(places[i]), 0, grid.NoReg, r)
	}
	w.Barrier()
	for i, r := range x {
		w.Set(r, w.Load(grid.Shared, elemOf(t), t, at(w.first), i*t.Size(), grid.NoReg))
	}
	w.Barrier()
}
