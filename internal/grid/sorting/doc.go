// Package sorting sorts elements along an axis, selects from their order, and searches sorted rows, on a
// GPU: kernels of package grid with the CPU's bits.
//
// # Bits
//
// An element is sorted as a record: its rank, an integer whose order is that of the elements, and its
// place in the row. No two records of a row are equal, so every way to sort gives the same result, and
// equal elements keep their order. Both zeros have one rank; every NaN has the greatest. Results are
// elements read again at their places, with the bits that they had.
//
// # How
//
// A block of threads sorts a tile of records in shared memory: each thread sorts a few in
// registers, and runs are merged until they are as long as the tile, or the row. A tile has several short
// rows. Longer rows are merged in global memory, where a block of threads writes a tile of the result
// in each pass. Each thread merges a few records. It finds where they begin by a binary search
// (Green, McColl and Bader, GPU merge path, 2012).
//
// To select few of a long row, each tile gives its first records alone. They are sorted again until
// they are one tile.
package sorting

import (
	"fmt"
	"math"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// A Kind is what a kernel does.
type Kind uint8

const (
	Tile   Kind = iota // sorts the elements of tiles of rows
	Again              // sorts the records of tiles of rows
	Merge              // merges pairs of runs of records
	Give               // writes elements and places of sorted records
	Search             // finds places in sorted rows
	Mark               // marks where runs of equal elements begin in a sorted row
	Number             // writes the numbers of the runs at the places of their elements
	numKinds
)

func (k Kind) String() string {
	return [...]string{"tile", "again", "merge", "give", "search", "mark", "number"}[k]
}

// A Variant is a kernel.
type Variant struct {
	Kind  Kind
	DType array.DType // of elements; of Merge, and of Again that writes records, Uint32 or Uint64 by the size of ranks; of Number, Uint64
	Final bool        // of Tile and Again: writes elements and places, not records
}

// Name identifies the variant.
func (v Variant) Name() string {
	if v.Final {
		return fmt.Sprintf("sort_%s_%s_final", v.Kind, v.DType)
	}
	return fmt.Sprintf("sort_%s_%s", v.Kind, v.DType)
}

// typed reports whether the kernel reads elements.
func (v Variant) typed() bool {
	return v.Final || v.Kind != Merge && v.Kind != Again && v.Kind != Number
}

// kernelType returns the type in the variant of a kernel for elements of a type.
func (v Variant) kernelType(d array.DType) array.DType {
	switch {
	case v.typed() && d == array.Bool:
		return array.Uint8
	case v.typed():
		return d
	case d.Size() < 8 && v.Kind != Number:
		return array.Uint32
	}
	return array.Uint64
}

// launch returns the launch of the variant's kernel.
func (v Variant) launch(blocks int, args grid.Args) grid.Launch {
	return grid.NewLaunch(v.Name(), func() *grid.Kernel { return Lower(v) }, blocks, args)
}

// Variants returns all variants.
func Variants() (out []Variant) {
	for k := range numKinds {
		for _, d := range array.DTypes() {
			for _, final := range []bool{false, true} {
				v := Variant{k, d, final}
				if d.Category() <= array.CatFloat && v.kernelType(d) == d && (!final || k <= Again) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

const (
	threads  = 256           // of a block
	few      = 8             // records that a thread sorts or merges
	tileSize = few * threads // records of a tile
)

// The argument block, in order:
//
//   - addresses of the elements, of the results, and of the parts of records that are read and written;
//     of Mark and Number of sums and of a [grid.Report] in their place
//   - what an element's rank is changed by: its sign, and all bits if the greatest element is the first
//   - elements or records of a row that are sorted, and elements of a row
//   - results of a row, or records that a tile of a row writes
//   - elements from a row's element to the next one
//   - records from a row to the next one, as they are read and as they are written
//   - of Merge the length of a run; of Give the place in a row of the first record
//   - the part of the results of Give and Search
//   - the tiles of a row and the columns of an outer block, divisors
//   - the number of rows
//   - the logarithms of the records that a row has room for, and of the rows of a tile
//   - whether neighbouring threads have neighbouring rows, and not elements; or, of Search, whether
//     places are to the right of equal elements
const (
	argX       = 0
	argY       = argX + 8
	argPlaces  = argY + 8
	argFrom    = argPlaces + 8
	argTo      = argFrom + 16
	argFlip    = argTo + 16
	argN       = argFlip + 8
	argLength  = argN + 8
	argCount   = argLength + 8
	argStep    = argCount + 8
	argPitch   = argStep + 8
	argPitchTo = argPitch + 8
	argRun     = argPitchTo + 8
	argPart    = argRun + 8
	argTiles   = argPart + grid.PartBytes
	argInner   = argTiles + grid.DivisorBytes
	argRows    = argInner + grid.DivisorBytes
	argLog     = argRows + 4
	argLogRow  = argLog + 4
	argSide    = argLogRow + 4
	argBytes   = argSide + 4
)

// A record is a rank and a place: of ranks of at most 4 bytes one I64, the rank above the place; else
// the rank, an I64, and the place, an I32 without sign. Ranks are as numbers with a sign.
type record []grid.Reg

// A writer writes a kernel.
type writer struct {
	*grid.Builder
	v    Variant
	elem grid.Elem // of elements
	t    loop.Type // of the register of an element
	size int       // bytes of an element
	wide bool      // ranks have 8 bytes
}

// Lower returns the kernel of a variant.
func Lower(v Variant) *grid.Kernel {
	w := &writer{Builder: grid.NewBuilder(v.Name(), threads), v: v, size: v.DType.Size(), wide: v.DType.Size() == 8}
	w.elem, w.t = grid.Bits(v.DType)
	w.K.Args = argBytes
	if v.Kind <= Merge {
		w.K.Shared = padded(tileSize) * 8
		if w.wide {
			w.K.Shared += padded(tileSize) * 4
		}
	}
	[...]func(){Tile: w.tile, Again: w.tile, Merge: w.merge, Give: w.give, Search: w.search, Mark: w.mark, Number: w.number}[v.Kind]()
	return w.K
}

func (w *writer) long(arg int) grid.Reg { return w.Arg(loop.I64, arg) }

func (w *writer) right(x, n grid.Reg) grid.Reg { return w.Do(loop.OpShrU, loop.I32, 0, x, n) }
func (w *writer) left(x, n grid.Reg) grid.Reg  { return w.Do(loop.OpShl, loop.I32, 0, x, n) }

func (w *writer) least(x, y grid.Reg) grid.Reg { return w.Do(loop.OpMin, w.Type(x), 0, x, y) }
func (w *writer) most(x, y grid.Reg) grid.Reg  { return w.Do(loop.OpMax, w.Type(x), 0, x, y) }

// low is the part of a record of one register that is the place.
func (w *writer) low() grid.Reg { return w.I64(math.MaxUint32) }

// recordOf returns the record of an element at a place, an I64.
func (w *writer) recordOf(x, place grid.Reg) record {
	rank := w.Do(loop.OpXor, w.t, 0, w.Rank(w.v.DType, x), w.Arg(w.t, argFlip))
	if w.wide {
		return record{rank, w.Do(loop.OpCvt, loop.I32, 0, place)}
	}
	high := w.Do(loop.OpShl, loop.I64, 0, w.Wide(rank), w.I64(32))
	return record{w.Or(high, place)}
}

// place returns the place of a record, an I64.
func (w *writer) place(r record) grid.Reg {
	if w.wide {
		return w.And(w.Wide(r[1]), w.low())
	}
	return w.And(r[0], w.low())
}

// end returns a record that stands behind all others.
func (w *writer) end() record {
	if w.wide {
		return record{w.I64(math.MaxInt64), w.I32(-1)}
	}
	return record{w.I64(math.MaxInt64)}
}

// less reports whether a stands before b.
func (w *writer) less(a, b record) grid.Reg {
	if !w.wide {
		return w.Lt(a[0], b[0])
	}
	return w.Or(w.Lt(a[0], b[0]), w.And(w.Eq(a[0], b[0]), w.Do(loop.OpLtU, loop.B, 0, a[1], b[1])))
}

// choose returns a where c holds, else b.
func (w *writer) choose(c grid.Reg, a, b record) (out record) {
	for i := range a {
		out = append(out, w.Select(c, a[i], b[i]))
	}
	return out
}

// part is the size, the element and the type of part i of a record.
func part(i int) (int, grid.Elem, loop.Type) {
	if i == 0 {
		return 8, grid.W64, loop.I64
	}
	return 4, grid.W32, loop.I32
}

// parts is the number of registers of a record.
func (w *writer) parts() int {
	if w.wide {
		return 2
	}
	return 1
}

// loadRecord returns record i, an I64, of the array whose addresses stand at a byte of the argument block.
func (w *writer) loadRecord(arg int, i, pred grid.Reg) (out record) {
	for k := range w.parts() {
		size, elem, t := part(k)
		out = append(out, w.Load(grid.Global, elem, t, w.Moved(w.long(arg+8*k), i, size), 0, pred))
	}
	return out
}

// storeRecord writes it.
func (w *writer) storeRecord(arg int, i, pred grid.Reg, r record) {
	for k, x := range r {
		size, elem, _ := part(k)
		w.Store(grid.Global, elem, w.Moved(w.long(arg+8*k), i, size), 0, pred, x)
	}
}

// padded returns the slot of a record in shared memory: after few records one is left free, so that
// threads that go through few records each use different banks.
func padded(i int) int { return i + i/few }

// slot returns the address of record i, an I32, in shared memory, by part.
func (w *writer) slot(i grid.Reg) (out [2]grid.Reg) {
	i = w.Add(i, w.right(i, w.I32(3)))
	out[0] = w.Wide(w.left(i, w.I32(3)))
	if w.wide {
		out[1] = w.Wide(w.Add(w.left(i, w.I32(2)), w.I32(int32(padded(tileSize)*8))))
	}
	return out
}

// get returns record i of shared memory, zeros where pred does not hold.
func (w *writer) get(i, pred grid.Reg) (out record) {
	at := w.slot(i)
	for k := range w.parts() {
		_, elem, t := part(k)
		out = append(out, w.Load(grid.Shared, elem, t, at[k], 0, pred))
	}
	return out
}

// put writes record i of shared memory.
func (w *writer) put(i grid.Reg, r record) {
	at := w.slot(i)
	for k, x := range r {
		_, elem, _ := part(k)
		w.Store(grid.Shared, elem, at[k], 0, grid.NoReg, x)
	}
}
