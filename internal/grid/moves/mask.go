package moves

import (
	"fmt"

	"weft/internal/grid"
	"weft/internal/loop"
)

// A mask is cut into chunks, one for each block of threads. The first kernel counts the ones of each
// chunk, the second adds the counts up, and the third moves elements: each block knows how many ones
// stand before its chunk. Sums are integers, in a fixed order.

// run is the number of elements of a mask that a thread has.
const run = 16

// chunk is the number of elements of a mask that a block of threads has.
const chunk = run * threads

// sumThreads is the number of threads of the one block that adds counts up.
const sumThreads = 1024

// A MaskOp is what is done where a mask is true.
type MaskOp uint8

const (
	CountTrue  MaskOp = iota // the number of places, as int64
	Positions                // the places themselves, as int64
	MaskSelect               // the elements there, one behind the other
	MaskPlace                // the inverse: elements one behind the other go there, and zeros elsewhere
)

// A Mask is an operation on a mask of N bytes, each 0 or 1. Packed has an element for each 1, Spread one
// for each byte. MaskSelect reads Spread and writes Packed, MaskPlace the other way round; CountTrue
// and Positions write Packed.
type Mask struct {
	Op             MaskOp
	Size           int // of an element, in bytes
	N              int
	At             uint64
	Packed, Spread uint64
	Number         int    // of elements of Packed
	Report         uint64 // the address of a [grid.Report], of a mask that is true at another number of places; not of CountTrue
	Scratch        uint64 // of ScratchBytes, aligned to 8
}

// ScratchBytes returns the size of the memory in which the kernels pass on what they count.
func (m *Mask) ScratchBytes() int { return 12 * grid.Ceil(m.N, chunk) }

// Launches returns the launches of m.
func (m *Mask) Launches() []grid.Launch {
	chunks := grid.Ceil(m.N, chunk)
	before, counts := m.Scratch, m.Scratch+uint64(8*chunks)
	var list []grid.Launch
	if chunks > 0 {
		list = append(list, maskVariant{kernel: maskCount}.launch(chunks, int(m.At), m.N, int(counts)))
	}
	if m.Op == CountTrue {
		return append(list, maskVariant{kernel: maskTotal}.launch(1, int(counts), chunks, int(m.Packed)))
	}
	list = append(list, sumsLaunch(counts, chunks, before, m.Number, m.Report))
	if chunks == 0 || m.Number == 0 && m.Op != MaskPlace {
		return list
	}
	return append(list, maskVariant{maskMove, m.Op, m.Size}.launch(chunks, int(m.At), m.N, int(before), int(m.Packed), m.Number, int(m.Spread)))
}

// sumsLaunch returns the launch that writes the sums before each of n counts, and compares that of all
// with a number.
func sumsLaunch(counts uint64, n int, before uint64, number int, report uint64) grid.Launch {
	return maskVariant{kernel: maskSums}.launch(1, int(counts), n, int(before), number, int(report))
}

// launch returns the launch of a kernel with arguments of 8 bytes.
func (v maskVariant) launch(blocks int, x ...int) grid.Launch {
	var a grid.Args
	a.Long(x...)
	return grid.NewLaunch(v.name(), v.lower, blocks, a)
}

// maskKernel is one of the kernels of masks.
type maskKernel uint8

const (
	maskCount maskKernel = iota
	maskTotal            // adds counts up, to one number
	maskSums             // adds up the counts before each chunk
	maskMove
)

// maskVariant is a kernel of masks.
type maskVariant struct {
	kernel maskKernel
	op     MaskOp // of maskMove
	unit   int    // the same; 0 of Positions
}

func (v maskVariant) name() string {
	if v.kernel < maskMove {
		return [...]string{maskCount: "mask_count", maskTotal: "mask_total", maskSums: "mask_sums"}[v.kernel]
	}
	return fmt.Sprintf("mask_%d_%d", v.op, v.unit)
}

// The argument blocks of the kernels.
const (
	maskAt = 0 // of the counting and of the moving kernel
	maskN  = 8

	countTo    = 16 // addresses
	countBytes = 24

	sumsOf      = 0 // address
	sumsChunks  = 8
	sumsTo      = 16 // address
	totalBytes  = 24
	sumsNumber  = 24
	sumsReport  = 32
	sumsBytes   = 40
	moveBefore  = 16 // addresses
	movePacked  = 24
	moveNumber  = 32
	moveSpread  = 40
	maskMoveEnd = 48
)

// lower returns the kernel.
func (v maskVariant) lower() *grid.Kernel {
	n := threads
	if v.kernel == maskTotal || v.kernel == maskSums {
		n = sumThreads
	}
	w := writer{grid.NewBuilder(v.name(), n)}
	w.K.Shared = scanBytes
	switch v.kernel {
	case maskCount:
		w.K.Args = countBytes
		w.countChunk()
	case maskTotal:
		w.K.Args = totalBytes
		total := w.sumCounts(nil)
		w.If(w.Eq(w.Thread(), w.I32(0)), false, func() { w.Store(grid.Global, grid.W64, w.long(sumsTo), 0, grid.NoReg, total) }, nil)
	case maskSums:
		w.K.Args = sumsBytes
		total := w.sumCounts(func(chunk, before, in grid.Reg) {
			w.Store(grid.Global, grid.W64, w.Add(w.long(sumsTo), w.Mul(chunk, w.I64(8))), 0, in, before)
		})
		wrong := w.Not(w.Eq(total, w.long(sumsNumber)))
		w.If(w.And(wrong, w.Eq(w.Thread(), w.I32(0))), false, func() { w.Report(w.long(sumsReport), total, w.I64(0)) }, nil)
	default:
		w.K.Args = maskMoveEnd
		w.moveChunk(v)
	}
	return w.K
}

// scanBytes is the shared memory of scan, before what else a kernel has there.
const scanBytes = 4 * grid.Warp

// scan returns the sum of x, I32, in the threads before, and in all threads of the block. They must
// have passed a barrier since the last scan.
func (w writer) scan(x grid.Reg) (before, all grid.Reg) {
	lane := w.And(w.Thread(), w.I32(grid.Warp-1))
	warp := w.Do(loop.OpShrU, loop.I32, 0, w.Thread(), w.I32(5))
	inWarp := w.scanWarp(x, lane)
	address := func(x grid.Reg) grid.Reg { return w.Wide(w.Mul(x, w.I32(4))) }
	w.Store(grid.Shared, grid.W32, address(warp), 0, w.Eq(lane, w.I32(grid.Warp-1)), inWarp)
	w.Barrier()
	warps := w.Load(grid.Shared, grid.W32, loop.I32, address(lane), 0, w.Lt(lane, w.I32(int32(w.K.Threads/grid.Warp))))
	sums := w.scanWarp(warps, lane)
	first := w.Sub(w.FromLane(sums, warp), w.FromLane(warps, warp))
	return w.Add(first, w.Sub(inWarp, x)), w.FromLane(sums, w.I32(grid.Warp-1))
}

// scanWarp returns the sum of x in this lane and those before.
func (w writer) scanWarp(x, lane grid.Reg) grid.Reg {
	for d := int32(1); d < grid.Warp; d *= 2 {
		y := w.FromLane(x, w.Sub(lane, w.I32(d)))
		x = w.Add(x, w.Select(w.Lt(lane, w.I32(d)), w.I32(0), y))
	}
	return x
}

// truths returns the thread's truth values as bytes of four words, and the number, I64, of the first.
// Values behind the last one are 0.
func (w writer) truths() (words []grid.Reg, first grid.Reg) {
	first = w.Add(w.Mul(w.Wide(w.Block()), w.I64(chunk)), w.Wide(w.Mul(w.Thread(), w.I32(run))))
	at := w.Add(w.long(maskAt), first)
	left := w.Sub(w.long(maskN), first)
	for range run / 4 {
		words = append(words, w.Copy(w.I32(0)))
	}
	aligned := w.Eq(w.And(w.long(maskAt), w.I64(15)), w.I64(0))
	w.If(w.And(aligned, w.Le(w.I64(run), left)), false, func() {
		w.Ins(grid.Ins{Op: grid.Load, Space: grid.Global, Elem: grid.W32, A: at, Regs: words})
	}, func() {
		for i := range run {
			b := w.Load(grid.Global, grid.U8, loop.I32, at, i, w.Lt(w.I64(int64(i)), left))
			w.Update(words[i/4], loop.OpOr, words[i/4], w.Do(loop.OpShl, loop.I32, 0, b, w.I32(int32(8*(i%4)))))
		}
	})
	return words, first
}

// ones returns the number of ones of words.
func (w writer) ones(words []grid.Reg) grid.Reg {
	n := w.I32(0)
	for _, x := range words {
		n = w.Add(n, w.Do(loop.OpPopCount, loop.I32, 0, x))
	}
	return n
}

// countChunk counts the ones of the block's chunk.
func (w writer) countChunk() {
	words, _ := w.truths()
	_, all := w.scan(w.ones(words))
	to := w.Add(w.long(countTo), w.Mul(w.Wide(w.Block()), w.I64(4)))
	w.Store(grid.Global, grid.W32, to, 0, w.Eq(w.Thread(), w.I32(0)), all)
}

// sumCounts adds counts up, and returns their sum as an I64. each, if not nil, gets the numbers of chunks
// and the sums before them, where there are such.
func (w writer) sumCounts(each func(chunk, before, in grid.Reg)) grid.Reg {
	first, sum, n := w.Copy(w.I64(0)), w.Copy(w.I64(0)), w.long(sumsChunks)
	w.While(true, func() grid.Reg { return w.Lt(first, n) }, func() {
		chunk := w.Add(first, w.Wide(w.Thread()))
		in := w.Lt(chunk, n)
		count := w.Load(grid.Global, grid.W32, loop.I32, w.Add(w.long(sumsOf), w.Mul(chunk, w.I64(4))), 0, in)
		before, all := w.scan(count)
		if each != nil {
			each(chunk, w.Add(sum, w.Wide(before)), in)
		}
		w.Update(sum, loop.OpAdd, sum, w.Wide(all))
		w.Update(first, loop.OpAdd, first, w.I64(sumThreads))
		w.Barrier()
	})
	return sum
}

// moveTogether is the number of elements that a thread reads before it writes them.
const moveTogether = 4

// moveChunk moves the elements of the block's chunk. The threads find out where elements go, and put
// that to shared memory. Then neighbouring threads move neighbouring elements.
func (w writer) moveChunk(v maskVariant) {
	words, number := w.truths()
	rank, all := w.scan(w.ones(words))
	before := w.Load(grid.Global, grid.W64, loop.I64, w.Add(w.long(moveBefore), w.Mul(w.Wide(w.Block()), w.I64(8))), 0, grid.NoReg)
	w.K.Shared += 2 * chunk
	local := w.Mul(w.Thread(), w.I32(run)) // the number of an element in the chunk
	start := w.Sub(number, w.Wide(local))
	entry := func(x grid.Reg) grid.Reg { return w.Wide(w.Mul(x, w.I32(2))) }
	for i := range run {
		bit := w.And(w.Do(loop.OpShrU, loop.I32, 0, words[i/4], w.I32(int32(8*(i%4)))), w.I32(1))
		is := w.Eq(bit, w.I32(1))
		if v.op == MaskPlace { // the rank of each element, or none
			w.Store(grid.Shared, grid.U16, entry(local), scanBytes+2*i, grid.NoReg, w.Select(is, rank, w.I32(noRank)))
		} else { // the elements by rank
			w.Store(grid.Shared, grid.U16, entry(rank), scanBytes, is, w.Add(local, w.I32(int32(i))))
		}
		rank = w.Add(rank, bit)
	}
	w.Barrier()
	end := all // of the loop over entries
	if v.op == MaskPlace {
		left := w.Sub(w.long(maskN), start)
		end = w.Select(w.Lt(left, w.I64(chunk)), w.Do(loop.OpCvt, loop.I32, 0, left), w.I32(chunk))
	}
	k := w.Copy(w.Thread())
	w.While(false, func() grid.Reg { return w.Lt(k, end) }, func() {
		var stores []func()
		for i := range moveTogether {
			k := w.Add(k, w.I32(int32(threads*i)))
			stores = append(stores, w.moveEntry(v, k, w.Lt(k, end), start, before, w.Load(grid.Shared, grid.U16, loop.I32, entry(k), scanBytes, w.Lt(k, end))))
		}
		for _, f := range stores {
			f()
		}
		w.Update(k, loop.OpAdd, k, w.I32(threads*moveTogether))
	})
}

// noRank is the entry of an element that stays 0.
const noRank = 1<<16 - 1

// moveEntry reads the element of entry k, and returns what writes it.
func (w writer) moveEntry(v maskVariant, k, in, start, before, entry grid.Reg) (store func()) {
	scaled := func(base int, i grid.Reg, size int) grid.Reg {
		return w.Add(w.long(base), w.Mul(i, w.I64(int64(size))))
	}
	inPacked := func(i grid.Reg) grid.Reg { return w.Lt(i, w.long(moveNumber)) }
	switch v.op {
	case Positions:
		to := w.Add(before, w.Wide(k))
		in = w.And(in, inPacked(to))
		return func() {
			w.Store(grid.Global, grid.W64, scaled(movePacked, to, 8), 0, in, w.Add(start, w.Wide(entry)))
		}
	case MaskSelect:
		to := w.Add(before, w.Wide(k))
		in = w.And(in, inPacked(to))
		x := w.load(v.unit, scaled(moveSpread, w.Add(start, w.Wide(entry)), v.unit), in)
		return func() { w.store(v.unit, scaled(movePacked, to, v.unit), in, x) }
	}
	from := w.Add(before, w.Wide(entry))
	has := w.And(w.And(in, w.Not(w.Eq(entry, w.I32(noRank)))), inPacked(from))
	x := w.load(v.unit, scaled(movePacked, from, v.unit), has)
	return func() { w.store(v.unit, scaled(moveSpread, w.Add(start, w.Wide(k)), v.unit), in, x) }
}
