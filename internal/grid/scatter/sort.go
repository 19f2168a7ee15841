package scatter

import (
	"math/bits"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// Sizes of the radix sort.
const (
	digitBits  = 5
	radix      = 1 << digitBits // one digit for each lane of a warp
	perThread  = 16
	tile       = threads * perThread // pairs that a block orders at a time
	perScan    = 16                  // counts that a thread of the scan reads at a time
	warpDigits = radix / warps       // digits that a warp sums the counts of
)

// A keysVariant is a kernel that makes a target of each index.
type keysVariant struct {
	index array.DType
	long  bool
}

func (v keysVariant) name() string { return "scatter_keys_" + v.index.String() + long(v.long) }

// The argument block.
const (
	keysAt      = 0  // addresses: of the first index of the launch
	keysOut     = 8  // of its target
	keysFirst   = 16 // of index 0
	keysReport  = 24
	keysLine    = 32 // the target of the first index, were it 0
	keysSize    = 40 // of the axis
	keysTarget  = 48 // targets from one along the axis to the next
	keysTargets = 56 // their number, which stands for an index out of range
	keysBox     = 64 // of indices, whose steps are targets
	keysBytes   = (keysBox + boxBytes + 7) / 8 * 8
)

// lower returns the kernel.
func (v keysVariant) lower() *grid.Kernel {
	w := writer{grid.NewBuilder(v.name(), threads)}
	w.K.Args = keysBytes
	i, t := w.item(), numbers(v.long)
	in := w.inBox(i, keysBox)
	raw := w.index(v.index, w.Moved(w.long(keysAt), i, v.index.Size()), in)
	index, bad := w.checked(raw, w.long(keysSize), in)
	target := w.Add(w.walk(i, keysBox, w.long(keysLine))[0], w.Mul(index, w.long(keysTarget)))
	key := w.as(t, w.Select(bad, w.long(keysTargets), target))
	w.Store(grid.Global, elemOf(t), w.Moved(w.long(keysOut), i, t.Size()), 0, in, key)
	w.If(bad, false, func() {
		before := w.Sub(w.long(keysAt), w.long(keysFirst))
		position := w.Do(loop.OpShrU, loop.I64, 0, before, w.I64(int64(bits.TrailingZeros(uint(v.index.Size())))))
		w.Report(w.long(keysReport), raw, w.Add(position, w.Wide(i)))
	}, nil)
	return w.K
}

// The argument block of the kernels that count digits and order pairs by them.
const (
	sortKeys    = 0 // addresses: of targets
	sortSources = 8 // sources, where they are not the places of the pairs
	sortKeysTo  = 16
	sortTo      = 24
	sortCounts  = 32 // counts, by digit and block
	sortPairs   = 40 // their number
	sortChunk   = 48 // pairs of a block
	sortShift   = 56 // the lowest bit of the digit
	sortBytes   = 64
)

// A countVariant is a kernel that counts the digits in the pairs of each block.
type countVariant struct{ long bool }

func (v countVariant) name() string { return "scatter_count" + long(v.long) }

// digitAt returns the digit of a key from a bit on.
func (w writer) digitAt(key, shift grid.Reg) grid.Reg {
	x := w.Do(loop.OpShrU, w.Type(key), 0, key, w.as(w.Type(key), shift))
	return w.And(w.as(loop.I32, x), w.I32(radix-1))
}

// split returns the lane and the warp of a thread.
func (w writer) split(thread grid.Reg) (lane, warp grid.Reg) {
	return w.And(thread, w.I32(grid.Warp-1)), w.Do(loop.OpShrU, loop.I32, 0, thread, w.I32(5))
}

// Counts in shared memory: one for each digit and thread, so that threads count without waiting for
// each other, in banks of their own.

// counter returns the place of a thread's count of a digit.
func (w writer) counter(digit, thread grid.Reg) grid.Reg {
	return w.Wide(w.Mul(w.Add(w.Mul(digit, w.I32(threads)), thread), w.I32(4)))
}

// clear sets the counts of a thread to 0.
func (w writer) clear(thread grid.Reg) {
	at, zero := w.counter(w.I32(0), thread), w.I32(0)
	for d := range radix {
		w.Store(grid.Shared, grid.W32, at, 4*threads*d, grid.NoReg, zero)
	}
}

// count adds 1 to a count where in holds, and returns the count before.
func (w writer) count(at, in grid.Reg) grid.Reg {
	n := w.Load(grid.Shared, grid.W32, loop.I32, at, 0, in)
	w.Store(grid.Shared, grid.W32, at, 0, in, w.Add(n, w.I32(1)))
	return n
}

// chunk returns the first of the block's pairs, and the first behind them.
func (w writer) chunk(t loop.Type) (begin, end grid.Reg) {
	size := w.as(t, w.long(sortChunk))
	begin = w.Mul(w.as(t, w.Block()), size)
	return begin, w.Do(loop.OpMin, t, 0, w.Add(begin, size), w.as(t, w.long(sortPairs)))
}

// total returns the place of the block's count of a digit, which is of type t.
func (w writer) total(t loop.Type, digit grid.Reg) grid.Reg {
	return w.Moved(w.long(sortCounts), w.Add(w.Mul(digit, w.Blocks()), w.Block()), t.Size())
}

// lower returns the kernel.
func (v countVariant) lower() *grid.Kernel {
	w, t := writer{grid.NewBuilder(v.name(), threads)}, numbers(v.long)
	w.K.Args, w.K.Shared = sortBytes, 4*threads*radix
	thread := w.Thread()
	w.clear(thread)
	begin, end := w.chunk(t)
	i := w.Copy(w.Add(begin, w.as(t, thread)))
	w.While(false, func() grid.Reg { return w.Lt(i, end) }, func() {
		var in, keys [unroll]grid.Reg
		for u := range unroll {
			in[u] = w.Lt(i, end)
			keys[u] = w.Load(grid.Global, elemOf(t), t, w.Moved(w.long(sortKeys), i, t.Size()), 0, in[u])
			w.Update(i, loop.OpAdd, i, w.number(t, threads))
		}
		for u, key := range keys {
			w.count(w.counter(w.digitAt(key, w.short(sortShift)), thread), in[u])
		}
	})
	w.Barrier()
	lane, warp := w.split(thread)
	first := w.Mul(warp, w.I32(warpDigits))
	at := w.counter(first, lane)
	for d := range warpDigits {
		n := w.I32(0)
		for j := range warps {
			n = w.Add(n, w.Load(grid.Shared, grid.W32, loop.I32, at, 4*(threads*d+grid.Warp*j), grid.NoReg))
		}
		for j := grid.Warp / 2; j > 0; j /= 2 {
			n = w.Add(n, w.Down(n, j))
		}
		w.Store(grid.Global, elemOf(t), w.total(t, w.Add(first, w.I32(int32(d)))), 0, w.Eq(lane, w.I32(0)), w.as(t, n))
	}
	return w.K
}

// A scanVariant is a kernel in which one block replaces counts by the sums of those before them.
type scanVariant struct{ long bool }

func (v scanVariant) name() string { return "scatter_scan" + long(v.long) }

const (
	scanCounts = 0 // address
	scanN      = 8 // their number, a multiple of perScan
	scanBytes  = 16
)

// lower returns the kernel.
func (v scanVariant) lower() *grid.Kernel {
	w, t := writer{grid.NewBuilder(v.name(), threads)}, numbers(v.long)
	w.K.Args, w.K.Shared = scanBytes, 8*warps
	thread := w.Thread()
	lane, warp := w.split(thread)
	before, base := w.Copy(w.number(t, 0)), w.Copy(w.I32(0))
	n := w.short(scanN)
	w.While(true, func() grid.Reg { return w.Lt(base, n) }, func() {
		i := w.Add(base, w.Mul(thread, w.I32(perScan)))
		in, at := w.Lt(i, n), w.Moved(w.long(scanCounts), i, t.Size())
		const most = 16 // bytes
		var x []grid.Reg
		per := min(perScan, most/t.Size())
		for j := 0; j < perScan; j += per {
			x = append(x, w.LoadN(grid.Global, elemOf(t), t, per, at, j*t.Size(), in)...)
		}
		sum := x[0]
		for _, y := range x[1:] {
			sum = w.Add(sum, y)
		}
		all := w.upTo(sum, lane)
		slot := w.Wide(w.Mul(warp, w.I32(8)))
		w.Store(grid.Shared, elemOf(t), slot, 0, w.Eq(lane, w.I32(grid.Warp-1)), all)
		w.Barrier()
		start, total := w.Add(before, w.Sub(all, sum)), w.number(t, 0)
		for j := range warps {
			y := w.Load(grid.Shared, elemOf(t), t, w.I64(0), 8*j, grid.NoReg)
			start = w.Select(w.Lt(w.I32(int32(j)), warp), w.Add(start, y), start)
			total = w.Add(total, y)
		}
		for j := range x {
			x[j], start = start, w.Add(start, x[j])
		}
		for j := 0; j < perScan; j += per {
			w.Store(grid.Global, elemOf(t), at, j*t.Size(), in, x[j:j+per]...)
		}
		w.Update(before, loop.OpAdd, before, total)
		w.Update(base, loop.OpAdd, base, w.I32(threads*perScan))
		w.Barrier()
	})
	return w.K
}

// upTo returns the sum of x over the lanes up to the own one.
func (w writer) upTo(x, lane grid.Reg) grid.Reg {
	for d := int32(1); d < grid.Warp; d *= 2 {
		below := w.FromLane(x, w.Sub(lane, w.I32(d)))
		x = w.Select(w.Lt(lane, w.I32(d)), x, w.Add(x, below))
	}
	return x
}
