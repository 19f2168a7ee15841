// Package scan computes running sums, products and extremes and linear recurrences along an axis on
// a GPU: kernels of package grid with the CPU's bits.
//
// # Bits
//
// Running sums of floats are added in the order that package numbers gives: in blocks of 64 bytes, and
// groups of 16 blocks, 16 groups, and so on. Running products of floats and recurrences are computed
// in order, float32 in float64. Integers and extremes have the same results in any order, so they take the order
// of sums.
//
// # How
//
// Other work is reduced and then scanned (Blelloch, Prefix sums and their applications, 1990). One
// launch computes the totals of units. Launches of groups of 16 turn totals into carries. The last
// launch computes the results from the carry into each unit; a sequence of one unit takes that alone.
// Along the last axis a unit is a tile of 256 blocks, which a block of threads scans through shuffles
// and shared memory. Along other axes it is 16 blocks of a column, which a thread scans, and neighbouring
// threads have neighbouring columns.
//
// What must be computed in order takes a thread a sequence. Rows go through shared memory, so that
// neighbouring threads read neighbouring elements.
package scan

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
	"weft/internal/numbers"
)

// An Op is what is computed.
type Op uint8

const (
	Sum Op = iota
	Prod
	Max // and its places, the last of equal ones; a NaN is the greatest
	Min // and its places, the last of equal ones; a NaN is the least
	Recurrence
	numOps
)

func (o Op) String() string { return [...]string{"sum", "prod", "max", "min", "recurrence"}[o] }

// extreme reports Max and Min.
func (o Op) extreme() bool { return o == Max || o == Min }

// A Kind is how a kernel cuts the work.
type Kind uint8

const (
	Rows          Kind = iota // a block of threads has a tile of a contiguous row, or several short rows
	Columns                   // a thread has a unit of a column
	Carries                   // a thread has a group of 16 totals, which it replaces by carries
	SerialRows                // a warp has 32 contiguous rows
	SerialColumns             // a thread has a column
	numKinds
)

func (k Kind) String() string {
	return [...]string{"rows", "columns", "carries", "serial_rows", "serial_columns"}[k]
}

// A Variant is a kernel.
type Variant struct {
	Op      Op
	DType   array.DType // of elements, or another one that is computed by the same kernel
	Kind    Kind
	Totals  bool // the kernel writes totals alone
	Vector  bool // of Rows: neighbouring elements are read and written at a time
	Reverse bool // of rows: from their ends
}

// Name identifies the variant.
func (v Variant) Name() string {
	flag := func(on bool, yes string) string {
		if on {
			return yes
		}
		return ""
	}
	return fmt.Sprintf("scan_%s_%s_%s%s%s%s", v.Op, v.DType, v.Kind, flag(v.Totals, "_totals"), flag(v.Vector, "_v"), flag(v.Reverse, "_r"))
}

// legal reports whether there is such a variant.
func (v Variant) legal() bool {
	rows := v.Kind == Rows || v.Kind == SerialRows
	switch {
	case v.serial() != (v.Kind >= SerialRows) || v.DType != kindOf(v.Op, v.DType, v.Kind):
		return false
	case v.Kind >= SerialRows && v.Totals || v.Kind != Rows && v.Vector || !rows && v.Reverse:
		return false
	}
	return !v.Reverse || v.Op == Sum || v.Op == Recurrence
}

// serial reports what must be computed in order.
func (v Variant) serial() bool { return v.Op == Recurrence || v.Op == Prod && v.DType.Float() }

// kindOf returns the type whose kernel computes elements of type d, Invalid if there is none.
func kindOf(o Op, d array.DType, k Kind) array.DType {
	switch {
	case o.extreme() && d.Category() > array.CatFloat:
		return array.Invalid
	case o.extreme() && k == Carries: // of ranks
		if d.Size() < 8 {
			return array.Uint32
		}
		return array.Uint64
	case o.extreme() && d == array.Bool:
		return array.Uint8
	case o.extreme() || d == array.Float32 || d == array.Float64:
		return d
	case o != Recurrence && (d == array.Int64 || d == array.Uint64):
		return array.Int64
	}
	return array.Invalid
}

// launch returns the launch of the variant's kernel.
func (v Variant) launch(blocks int, args grid.Args) grid.Launch {
	return grid.NewLaunch(v.Name(), func() *grid.Kernel { return Lower(v) }, blocks, args)
}

// Variants returns all variants.
func Variants() (out []Variant) {
	for o := range numOps {
		for _, d := range array.DTypes() {
			for k := range numKinds {
				for i := range 8 {
					if v := (Variant{o, d, k, i&1 != 0, i&2 != 0, i&4 != 0}); v.legal() {
						out = append(out, v)
					}
				}
			}
		}
	}
	return out
}

const (
	fan     = numbers.ScanGroup // blocks of a group, groups of the next level and so on
	lanes   = 4                 // threads of a block of elements in a tile
	tile    = fan * fan         // blocks of a tile
	threads = 256               // of a block
)

// per returns the number of neighbouring elements that a thread scans: with 4 lanes they are a block of
// numbers.ScanBlockBytes of float32 and float64.
func per(d array.DType) int { return min(4, numbers.ScanBlockBytes/lanes/d.Size()) }

// deep returns the number of elements of a column that a thread scans at a time. Of floats it is a
// block.
func deep(o Op, d array.DType) int {
	if o.extreme() {
		return 8
	}
	return numbers.ScanBlockBytes / d.Size()
}

// The argument block, in order:
//
//   - addresses of the arguments, the result and the places
//   - addresses of totals, which become carries, and of the totals or carries of groups of them
//   - the length of sequences; the number of rows, or the elements of an outer block
//   - elements from a column's first one to where a scan begins, and from there to the next one
//   - the part of the sequences' units, groups or columns
//   - of Rows: the tiles of a row, a divisor
//   - whether there are carries
//   - of Rows: the blocks of a row in a tile, at least, less one; of Carries: the totals of a sequence
//   - of Rows: the logarithm of those blocks
const (
	argX      = 0
	argA      = argX + 8
	argY      = argA + 8
	argPlaces = argY + 8
	argTotals = argPlaces + 8
	argAbove  = argTotals + 16
	argN      = argAbove + 16
	argOuter  = argN + 8
	argStart  = argOuter + 8
	argStep   = argStart + 8
	argPart   = argStep + 8
	argTiles  = argPart + grid.PartBytes
	argCarry  = argTiles + grid.DivisorBytes
	argMask   = argCarry + 4
	argLog    = argMask + 4
	argBytes  = argLog + 4
)

// A writer writes a kernel.
type writer struct {
	*grid.Builder
	v     Variant
	elem  grid.Elem // in memory
	t     loop.Type // of an element's register
	size  int       // bytes of an element
	types []loop.Type
}

// Lower returns the kernel of a variant.
func Lower(v Variant) *grid.Kernel {
	n := threads
	if v.Kind == SerialRows {
		n = grid.Warp
	}
	w := &writer{Builder: grid.NewBuilder(v.Name(), n), v: v, size: v.DType.Size()}
	w.elem, w.t = w.element()
	w.types = []loop.Type{w.t}
	if v.Op.extreme() {
		w.types = append(w.types, loop.I64)
	}
	w.K.Args = argBytes
	if v.Kind == Carries {
		w.K.Abreast = 2 // for the registers of totals that are read together
	}
	[...]func(){Rows: w.rows, Columns: w.columns, Carries: w.carries, SerialRows: w.serialRows, SerialColumns: w.serialColumns}[v.Kind]()
	return w.K
}

// element returns how an element of the variant is read: extremes as bits.
func (w *writer) element() (grid.Elem, loop.Type) {
	switch d := w.v.DType; {
	case d == array.Float32 && !w.v.Op.extreme():
		return grid.W32, loop.F32
	case d == array.Float64 && !w.v.Op.extreme():
		return grid.W64, loop.F64
	default:
		return grid.Bits(d)
	}
}

func (w *writer) long(arg int) grid.Reg { return w.Arg(loop.I64, arg) }
