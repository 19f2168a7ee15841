// Package product computes matrix products on a GPU: kernels of package grid with the bits of the
// CPU's products. A right operand that consists of windows of pictures is read in place.
//
// # Bits
//
// A sum is cut into blocks of numbers.KBlock terms. A block is one chain of fused multiply-adds in
// ascending order, from +0; blocks are added in ascending order. Terms that fill a tile behind the
// last one are -0 times +0: adding their product changes nothing, not even -0. For the same reason
// the sum of blocks starts from -0. A product without terms is a block of such terms: +0. Convolutions
// count a block that is -0 as +0, which adding +0 does.
//
// # How
//
// A block of threads computes a tile of C. It takes tiles of A and B through shared memory, in two
// buffers: while one is multiplied, the other is filled with the next tile from registers, into which
// the tile behind that begins to be read. So a read of global memory has as long as a tile takes. The
// body of the loop has one barrier and no branch. Factors are read a step ahead, across the barrier too.
//
// Elements of float32 are sums in the registers of a thread. Sums of float64 come from mma.sync, whose
// elements are the same chain.
package product

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
	"weft/internal/numbers"
)

// A Tile is what a block of threads computes, by size.
type Tile uint8

const (
	Large   Tile = iota // of the most multiply-adds for an element that is read; not of Windows
	Compact             // of fewer registers or less shared memory
	Medium              // for products of few tiles
	Thin                // of few rows
	numTiles
)

// A tileShape says how a tile is shared between threads.
type tileShape struct {
	m, n    int
	depth   int // terms of a tile; it divides numbers.KBlock
	threads int
	// Of float32: the rows and columns of a thread, and the number of lanes of a warp that stand beside
	// each other.
	rows, cols, beside int
	// Of float64: the number of warps one below the other. Others stand beside them.
	down int
	mma  grid.Shape // of float64, where the GPU has it
	// sumsShared: the sums of blocks of terms stay in shared memory.
	sumsShared bool
	// abreast is the number of blocks of threads that a multiprocessor has registers for.
	abreast int
	// speed is the number of multiply-adds of a multiprocessor in a nanosecond, for costs.
	speed float64
}

var shapes = map[array.DType][numTiles]tileShape{
	array.Float32: {
		Large:   {m: 128, n: 128, depth: 8, threads: 128, rows: 16, cols: 8, beside: 8, sumsShared: true, abreast: 2, speed: 184},
		Compact: {m: 128, n: 128, depth: 8, threads: 256, rows: 8, cols: 8, beside: 16, sumsShared: true, abreast: 1, speed: 176},
		Medium:  {m: 64, n: 64, depth: 16, threads: 256, rows: 4, cols: 4, beside: 16, abreast: 2, speed: 123},
		Thin:    {m: 16, n: 64, depth: 16, threads: 256, rows: 2, cols: 2, beside: 32, abreast: 4, speed: 57},
	},
	array.Float64: {
		Large:   {m: 128, n: 128, depth: 16, threads: 256, down: 2, mma: grid.M16N8K4, sumsShared: true, abreast: 1, speed: 220},
		Compact: {m: 128, n: 64, depth: 16, threads: 256, down: 4, mma: grid.M16N8K4, abreast: 1, speed: 187},
		Medium:  {m: 64, n: 64, depth: 16, threads: 256, down: 4, mma: grid.M16N8K8, abreast: 1, speed: 150},
		Thin:    {m: 16, n: 64, depth: 16, threads: 256, down: 1, mma: grid.M16N8K8, abreast: 2, speed: 52},
	},
}

// Tiles are all tiles.
var Tiles = [...]Tile{Large, Compact, Medium, Thin}

func (t Tile) String() string { return [...]string{"large", "compact", "medium", "thin"}[t] }

// Size returns the rows and columns of a tile.
func (t Tile) Size(d array.DType) (m, n int) { return shapes[d][t].m, shapes[d][t].n }

// A Layout is how tiles of an operand are read.
type Layout struct {
	Of     array.DType // the elements': the product's type, or a half of float32
	AlongK bool        // neighbouring threads read neighbouring terms, not rows of A or columns of B
	Vector bool        // several elements at a time
}

// A Variant is a kernel of products.
type Variant struct {
	DType  array.DType // of C: Float32 or Float64
	Tile   Tile
	A, B   Layout
	Vector bool // rows of C are written several elements at a time
	Blocks bool // there may be more than numbers.KBlock terms
	Wide   bool // compute capability 9.0 and up: matrices of float64 by a shape of 16 rows

	Positive bool // a block of terms that is -0 counts as +0
	Windows  bool // a [Windows]: B is read from pictures
	Digits   bool // of Windows: the terms of A have several strides

	Add bool // not a product but the sum of blocks of terms; of the fields above DType and Vector matter
}

// Name identifies the variant.
func (v Variant) Name() string {
	flag := func(on bool, yes string) string {
		if on {
			return yes
		}
		return ""
	}
	if v.Add {
		return "matmul_add_" + v.DType.String() + flag(v.Vector, "_v")
	}
	side := func(l Layout) string {
		return l.Of.String() + flag(l.AlongK, "k") + flag(l.Vector, "v")
	}
	name := fmt.Sprintf("%s_%v_%s_%s%s%s%s%s%s", v.DType, v.Tile, side(v.A), side(v.B),
		flag(v.Vector, "_v"), flag(v.Blocks, "_b"), flag(v.Wide, "_w"), flag(v.Digits, "_d"), flag(v.Positive, "_p"))
	if v.Windows {
		return "windows_" + name
	}
	return "matmul_" + name
}

// launch returns the launch of the variant's kernel.
func (v Variant) launch(blocks int, args []byte) grid.Launch {
	return grid.NewLaunch(v.Name(), func() *grid.Kernel { return Lower(v) }, blocks, args)
}

// Variants returns all variants of matrices for a capability.
func Variants(wide bool) (out []Variant) {
	for _, d := range []array.DType{array.Float32, array.Float64} {
		out = append(out, Variant{DType: d, Add: true}, Variant{DType: d, Add: true, Vector: true})
	}
	for _, positive := range []bool{false, true} {
		each(wide, false, func(v Variant) {
			v.Positive = positive
			out = append(out, v)
		})
	}
	return out
}

// WindowVariants returns all variants of Windows for a capability.
func WindowVariants(wide bool) (out []Variant) {
	each(wide, true, func(v Variant) {
		v.Windows = true
		if v.shape().sumsShared && !v.Blocks {
			return
		}
		for i := range 4 {
			v.Digits, v.Positive = i&1 != 0, i&2 != 0
			out = append(out, v)
		}
	})
	return out
}

// each calls f with all variants of matrices, or with the ones that Windows have too.
func each(wide, windows bool, f func(v Variant)) {
	flags := []bool{false, true}
	layouts := func(of []array.DType) (out []Layout) {
		for _, d := range of {
			for i := range 4 {
				out = append(out, Layout{d, i&1 != 0, i&2 != 0})
			}
		}
		return out
	}
	for _, d := range []array.DType{array.Float32, array.Float64} {
		of := []array.DType{d}
		if d == array.Float32 {
			of = append(of, array.Float16, array.BFloat16)
		}
		for tile := range numTiles {
			if windows && tile == Large {
				continue
			}
			for _, a := range layouts(of) {
				for _, b := range layouts(of) {
					for _, vector := range flags {
						for _, blocks := range flags {
							if b.Vector && windows {
								continue
							}
							f(Variant{DType: d, Tile: tile, A: a, B: b, Vector: vector, Blocks: blocks, Wide: wide && d == array.Float64})
						}
					}
				}
			}
		}
	}
}

// lanes returns how many elements of a type are moved at a time.
func lanes(d array.DType) int { return min(4, 16/d.Size()) }

// elems has the elements in memory.
var elems = map[array.DType]grid.Elem{array.Float16: grid.Half, array.BFloat16: grid.BHalf, array.Float32: grid.W32, array.Float64: grid.W64}

// The argument block, in order:
//
//   - addresses of A, B and C
//   - byte strides of places and of terms of A and B, then of rows and columns of C
//   - the bytes to a thread's next read in a tile and to the next tile, of A and of B
//   - the number of tiles of terms, and terms of the last one
//   - sizes
//   - the batch's sizes and byte strides of A, B and C
//   - of Windows what windows.go adds
//
// The loop reads what it needs there, which takes no register.
const (
	argPtr     = 0
	argStrides = 24
	argNext    = argStrides + 48
	argDeep    = argNext + 32
	argLast    = argDeep + 4
	argM       = argLast + 4
	argN       = argM + 4
	argTilesM  = argN + 4
	argTilesN  = argTilesM + 4
	argCount   = argTilesN + 4
	argBatch   = argCount + 4*maxBatch
	argBytes   = argBatch + 3*8*maxBatch
)

// maxBatch is the number of batch dimensions of a launch.
const maxBatch = 4

// A writer writes a kernel.
type writer struct {
	*grid.Builder
	v     Variant
	shape tileShape
	t     loop.Type // of sums
	size  int       // bytes of an element in shared memory
	a, b  side
	now   factors // of the step that is multiplied
	next  factors

	thread        grid.Reg // its number
	m0, n0, batch grid.Reg // the first row and column of the tile, the number in the batch
	firstTerm     grid.Reg // of Windows, I32: the first term of the block of terms
	sums          []group
	totals        int // bytes before the sums of blocks in shared memory; 0 if they are not there
	mma           grid.Shape
}

// A group is sums of neighbouring columns that a thread holds.
type group struct {
	row, col  int // from the first of the thread
	sum, both []grid.Reg
}

// Lower returns the kernel of a variant.
func Lower(v Variant) *grid.Kernel {
	if v.Add {
		return lowerAdd(v)
	}
	s := v.shape()
	w := &writer{Builder: grid.NewBuilder(v.Name(), s.threads), v: v, shape: s, t: loop.F32, size: v.DType.Size(), mma: grid.M8N8K4}
	if v.DType == array.Float64 {
		w.t = loop.F64
	}
	if v.Wide {
		w.mma = s.mma
	}
	w.K.Args, w.K.Abreast = argBytes, w.shape.abreast
	if v.Windows {
		w.K.Args = argWindowsBytes
	}
	if v.Windows && (v.A.Of != v.DType || v.Tile == Medium && v.B.AlongK) {
		w.K.Abreast = max(1, w.K.Abreast-1)
	}
	w.write()
	return w.K
}

// write writes the whole kernel.
func (w *writer) write() {
	w.thread = w.Thread()
	w.place()
	ruleA, ruleB := w.rules()
	w.a = w.side(0, w.v.A, ruleA, w.shape.m, 0)
	w.b = w.side(1, w.v.B, ruleB, w.shape.n, w.a.bytes(w.size))
	w.K.Shared = 2 * (w.a.bytes(w.size) + w.b.bytes(w.size))
	row, col := w.initSums()
	w.initTotals()
	w.now, w.next = w.factors(), w.factors()
	w.places(row, col)

	tile := w.Copy(w.I32(0)) // the number of the tile that is multiplied, from 1
	w.fetch(tile)
	w.put(tile)
	w.fetch(w.Add(tile, w.I32(1)))
	w.Barrier()
	w.read(&w.now, 0)
	all := w.Arg(loop.I32, argDeep)
	if !w.v.Blocks {
		w.While(true, func() grid.Reg { return w.Lt(tile, all) }, func() { w.turn(tile) })
	} else {
		end := w.Var(loop.I32) // the number of the last tile of the block of terms
		w.While(true, func() grid.Reg { return w.Lt(tile, all) }, func() {
			next := w.Add(tile, w.I32(int32(numbers.KBlock/w.shape.depth)))
			w.Set(end, w.Select(w.Lt(next, all), next, all))
			w.While(true, func() grid.Reg { return w.Lt(tile, end) }, func() { w.turn(tile) })
			w.endBlock()
		})
	}
	w.store(row, col)
}

// turn multiplies the next tile, and makes the one behind it ready.
func (w *writer) turn(tile grid.Reg) {
	w.Update(tile, loop.OpAdd, tile, w.I32(1))
	bytes := int32(w.a.bytes(w.size) + w.b.bytes(w.size))
	by := w.Select(w.Eq(w.And(tile, w.I32(1)), w.I32(0)), w.I32(-bytes), w.I32(bytes)) // to the other buffer
	steps, all := w.steps(), w.products()
	for step := range steps {
		if step == steps-1 {
			w.Barrier()
			for _, s := range []*side{&w.a, &w.b} {
				w.Update(s.from, loop.OpAdd, s.from, by)
			}
		}
		w.read(&w.next, (step+1)%steps)
		w.multiply(&w.now, 0, all/2)
		if step == steps-2 {
			for _, s := range []*side{&w.a, &w.b} {
				w.Update(s.to, loop.OpAdd, s.to, by)
			}
			w.put(tile)
			w.fetch(w.Add(tile, w.I32(1)))
		}
		w.multiply(&w.now, all/2, all)
		w.now, w.next = w.next, w.now
	}
}

// tileGroup is the number of rows of tiles that go together, column by column: their parts of A and B
// stay in the cache of the GPU.
const tileGroup = 8

// place finds the block's tile.
func (w *writer) place() {
	id := w.Block()
	tilesM, tilesN := w.Arg(loop.I32, argTilesM), w.Arg(loop.I32, argTilesN)
	tiles := w.Mul(tilesM, tilesN)
	w.batch = w.QuoU(id, tiles)
	id = w.RemU(id, tiles)
	grouped := w.Mul(tilesN, w.I32(tileGroup))
	first := w.Mul(w.QuoU(id, grouped), w.I32(tileGroup))
	high := w.Do(loop.OpMin, loop.I32, 0, w.Sub(tilesM, first), w.I32(tileGroup))
	id = w.RemU(id, grouped)
	w.m0 = w.Mul(w.Add(first, w.RemU(id, high)), w.I32(int32(w.shape.m)))
	w.n0 = w.Mul(w.QuoU(id, high), w.I32(int32(w.shape.n)))
	if w.v.Windows {
		block := w.RemU(w.batch, w.Arg(loop.I32, argCount+4*(maxBatch-1)))
		w.firstTerm = w.Add(w.Arg(loop.I32, argFirst), w.Mul(block, w.I32(numbers.KBlock)))
	}
}

// pointer returns the address of A, B or C, numbered from 0, in the block's element of the batch.
func (w *writer) pointer(i int) grid.Reg {
	ptr := w.Copy(w.Arg(loop.I64, argPtr+8*i))
	w.If(w.Lt(w.I32(0), w.batch), true, func() {
		rest := w.batch
		for d := maxBatch - 1; d >= 0; d-- {
			count := w.Arg(loop.I32, argCount+4*d)
			w.Update(ptr, loop.OpAdd, ptr, w.Mul(w.Wide(w.RemU(rest, count)), w.Arg(loop.I64, argBatch+8*(maxBatch*i+d))))
			rest = w.QuoU(rest, count)
		}
	}, nil)
	return ptr
}
