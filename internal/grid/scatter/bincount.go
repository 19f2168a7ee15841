package scatter

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// sharedBins is the number of counts up to which a block counts in shared memory first.
const sharedBins = 1 << 12

// perBlock is the number of elements for which a block of its own is worth its start.
const perBlock = 1 << 13

// A BinCount counts how often each of the integers from 0 on occurs. Counts begin as zeros. They are
// integers, so that the order of additions, which are atomic, does not show.
type BinCount struct {
	X, Counts uint64 // addresses, of int64
	N, Bins   int    // elements and counts
	Report    uint64
}

// A binVariant is a kernel of [BinCount].
type binVariant struct{ shared bool }

func (v binVariant) name() string {
	if v.shared {
		return "bincount_shared"
	}
	return "bincount"
}

// The argument block.
const (
	binX      = 0 // addresses
	binCounts = 8
	binReport = 16
	binFirst  = 24 // the position of the first element
	binBins   = 32
	binN      = 40 // elements of the launch
	binBytes  = 48
)

// Launches returns the launches that count, on a GPU with a number of multiprocessors.
func (b BinCount) Launches(units int) (list []grid.Launch) {
	v := binVariant{b.Bins <= sharedBins}
	for first := 0; first < b.N; first += maxBox {
		n := min(maxBox, b.N-first)
		var a grid.Args
		a.Long(int(b.X)+8*first, int(b.Counts), int(b.Report), first, b.Bins, n)
		list = append(list, grid.NewLaunch(v.name(), v.lower, min(grid.Ceil(n, perBlock), 8*units), a))
	}
	return list
}

// lower returns the kernel.
func (v binVariant) lower() *grid.Kernel {
	w := writer{grid.NewBuilder(v.name(), threads)}
	w.K.Args = binBytes
	thread, bins := w.Thread(), w.long(binBins)
	eachBin := func(f func(bin grid.Reg)) {
		bin, n := w.Copy(thread), w.as(loop.I32, bins)
		w.While(false, func() grid.Reg { return w.Lt(bin, n) }, func() {
			f(bin)
			w.Update(bin, loop.OpAdd, bin, w.I32(threads))
		})
	}
	if v.shared {
		w.K.Shared = 4 * sharedBins
		eachBin(func(bin grid.Reg) { w.Store(grid.Shared, grid.W32, w.Moved(w.I64(0), bin, 4), 0, grid.NoReg, w.I32(0)) })
		w.Barrier()
	}
	i, n, step := w.Copy(w.item()), w.as(loop.I32, w.long(binN)), w.Mul(w.Blocks(), w.I32(threads))
	w.While(false, func() grid.Reg { return w.Lt(i, n) }, func() {
		var in, x, at [unroll]grid.Reg
		for u := range unroll {
			in[u], at[u] = w.Lt(i, n), w.Copy(i)
			x[u] = w.Load(grid.Global, grid.W64, loop.I64, w.Moved(w.long(binX), i, 8), 0, in[u])
			w.Update(i, loop.OpAdd, i, step)
		}
		for u, k := range x {
			bad := w.And(in[u], w.Do(loop.OpLeU, loop.B, 0, bins, k))
			add := grid.Ins{Op: grid.Add, Space: grid.Global, Pred: w.And(in[u], w.Not(bad))}
			if v.shared {
				add.Space, add.A, add.B = grid.Shared, w.I32(1), w.Moved(w.I64(0), k, 4)
			} else {
				add.A, add.B = w.I64(1), w.Moved(w.long(binCounts), k, 8)
			}
			w.Ins(add)
			w.If(bad, false, func() { w.Report(w.long(binReport), k, w.Add(w.long(binFirst), w.Wide(at[u]))) }, nil)
		}
	})
	if v.shared {
		w.Barrier()
		eachBin(func(bin grid.Reg) {
			c := w.Load(grid.Shared, grid.W32, loop.I32, w.Moved(w.I64(0), bin, 4), 0, grid.NoReg)
			some := w.Do(loop.OpNe, loop.B, 0, c, w.I32(0))
			w.Ins(grid.Ins{Op: grid.Add, Space: grid.Global, A: w.Wide(c), B: w.Moved(w.long(binCounts), bin, 8), Pred: some})
		})
	}
	return w.K
}
