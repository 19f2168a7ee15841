// Package arg finds places of extremes on a GPU: kernels of package grid with the choice of the
// CPU's argmin and argmax.
//
// # Choice
//
// The place is that of the first extreme, or of the first NaN if there is one. Elements are compared
// as integers, their keys: both zeros have one key, and every NaN has the most extreme one. Threads
// look at elements in ascending order and keep the first; of equal keys of several threads the lower
// place wins. So the result does not depend on how elements are shared between threads.
//
// # How
//
// A line is the elements along the axis. A thread, a warp or a block looks at one. Few long lines
// are cut into parts: a first launch finds a candidate in each, a second one chooses among those.
package arg

import (
	"fmt"
	"math"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

const (
	threads = 256 // of a block
	warps   = threads / grid.Warp
	maxDims = 4 // axes beside the lines, of a launch
	unroll  = 4 // loads of a thread that are under way at a time
)

// A Kind says what looks at a line, or at a part of one.
type Kind uint8

const (
	OfThread Kind = iota // neighbouring threads look at neighbouring lines
	OfWarp
	OfBlock
	numKinds
)

// A Variant is a kernel.
type Variant struct {
	DType    array.DType
	Greatest bool
	Kind     Kind
	Vector   bool // elements of a line are neighbours, read several at a time
	Chosen   bool // looks only at candidates, whose places are in memory
	Items    bool // lines are the columns of the items of a list
}

// Name identifies the variant.
func (v Variant) Name() string {
	name := "argmin"
	if v.Greatest {
		name = "argmax"
	}
	name += fmt.Sprintf("_%s_%s", v.DType, [...]string{"thread", "warp", "block"}[v.Kind])
	switch {
	case v.Vector:
		name += "_v"
	case v.Chosen:
		name += "_chosen"
	case v.Items:
		name += "_items"
	}
	return name
}

// dtypes are the element types that have an order.
var dtypes = []array.DType{array.Bool, array.Uint8, array.Int8, array.Uint16, array.Int16, array.Float16, array.BFloat16,
	array.Uint32, array.Int32, array.Float32, array.Uint64, array.Int64, array.Float64}

// Variants returns all variants.
func Variants() (out []Variant) {
	for _, d := range dtypes {
		for _, greatest := range []bool{false, true} {
			for kind := range numKinds {
				out = append(out, Variant{DType: d, Greatest: greatest, Kind: kind})
				if kind != OfThread {
					out = append(out, Variant{DType: d, Greatest: greatest, Kind: kind, Vector: true})
				}
				if kind != OfBlock {
					out = append(out, Variant{DType: d, Greatest: greatest, Kind: kind, Items: true})
				}
			}
			out = append(out, Variant{DType: d, Greatest: greatest, Kind: OfWarp, Chosen: true})
		}
	}
	return out
}

// lanes returns how many elements of a type are moved at a time.
func lanes(d array.DType) int { return min(4, 16/d.Size()) }

// The argument block. Lines of items have a number of columns and the distance of two rows, in
// elements, in the place of the number of lines and of the first dimensions.
const (
	argX      = 0                            // address of the first element
	argStep   = argX + 8                     // bytes from element to element of a line
	argOut    = argStep + 8                  // address of the results
	argPlaces = argOut + 8                   // address of the candidates, or of the offsets of items
	argN      = argPlaces + 8                // elements of a line
	argStride = argN + 8                     // bytes from line to line, by dimension
	argPart   = argStride + 8*maxDims        // elements of a part of a line
	argUnits  = argPart + 4                  // lines and parts of them
	argLines  = argUnits + 4                 // lines, or columns of items: a divisor
	argCount  = argLines + grid.DivisorBytes // sizes of the inner dimensions: divisors
	argBytes  = argCount + (maxDims-1)*grid.DivisorBytes
)

// A writer writes a kernel.
type writer struct {
	*grid.Builder
	v     Variant
	key   loop.Type // of keys
	count loop.Type // of places in a part: I64 for items

	thread, unit grid.Reg // I32
	line, column grid.Reg // I32: the number of the line, or of the item and of its column
	base         grid.Reg // I64: the address of the part's first element
	n            grid.Reg // elements of the part
	first        grid.Reg // I64: the place of the part's first element in the line
	best, at     grid.Reg
}

// Lower returns the kernel of a variant.
func Lower(v Variant) *grid.Kernel {
	w := &writer{Builder: grid.NewBuilder(v.Name(), threads), v: v, key: loop.I32, count: loop.I32}
	if v.DType.Size() == 8 {
		w.key = loop.I64
	}
	if v.Items {
		w.count = loop.I64
	}
	w.K.Args = argBytes
	if v.Kind == OfBlock {
		w.K.Shared = 2 * 8 * warps
	}
	w.thread = w.Thread()
	w.unit = w.Block()
	units := w.Arg(loop.I32, argUnits)
	switch v.Kind {
	case OfThread:
		w.unit = w.Add(w.Mul(w.unit, w.I32(threads)), w.thread)
		w.If(w.Lt(w.unit, units), false, w.write, nil)
	case OfWarp:
		w.unit = w.Add(w.Mul(w.unit, w.I32(warps)), w.shift(w.thread, 5))
		w.If(w.Lt(w.unit, units), true, w.write, nil)
	default:
		w.write()
	}
	return w.K
}

func (w *writer) write() {
	if w.v.Items {
		w.placeItem()
	} else {
		w.placeLine()
	}
	w.look()
	leader := grid.NoReg
	if w.v.Kind != OfThread {
		w.foldWarp(grid.Warp)
		if w.v.Kind == OfBlock {
			w.foldBlock()
		}
		leader = w.Eq(w.inUnit(), w.I32(0))
	}
	at := w.Wide(w.at)
	switch {
	case w.v.Chosen:
		at = w.Load(grid.Global, grid.W64, loop.I64, w.candidate(at), 0, leader)
	case w.v.Items:
		at = w.Select(w.Eq(w.n, w.I64(0)), w.I64(-1), at)
	default:
		at = w.Add(at, w.first)
	}
	w.Store(grid.Global, grid.W64, w.out(), 0, leader, at)
}

func (w *writer) shift(x grid.Reg, n int32) grid.Reg {
	return w.Do(loop.OpShrU, loop.I32, 0, x, w.I32(n))
}

// number returns a constant of the type that counts.
func (w *writer) number(n int) grid.Reg { return w.Const(w.count, uint64(n)) }

// inUnit returns the number of the thread among those that look at its line.
func (w *writer) inUnit() grid.Reg {
	switch w.v.Kind {
	case OfThread:
		return w.I32(0)
	case OfWarp:
		return w.And(w.thread, w.I32(grid.Warp-1))
	}
	return w.thread
}

// width returns the number of threads that look at a line.
func (w *writer) width() int {
	return [...]int{OfThread: 1, OfWarp: grid.Warp, OfBlock: threads}[w.v.Kind]
}

// placeLine finds the part of a line.
func (w *writer) placeLine() {
	part, line := w.Divide(w.unit, argLines)
	w.line = line
	step := w.Arg(loop.I64, argStep)
	w.base = w.Copy(w.Arg(loop.I64, argX))
	rest := w.line
	for d := maxDims - 1; d >= 0; d-- {
		at := rest
		if d > 0 {
			rest, at = w.Divide(rest, argCount+grid.DivisorBytes*(d-1))
		}
		w.Update(w.base, loop.OpAdd, w.base, w.Mul(w.Wide(at), w.Arg(loop.I64, argStride+8*d)))
	}
	size := w.Wide(w.Arg(loop.I32, argPart))
	w.first = w.Mul(w.Wide(part), size)
	if !w.v.Chosen { // candidates are of the whole line
		w.Update(w.base, loop.OpAdd, w.base, w.Mul(w.first, step))
	}
	n := w.Do(loop.OpMin, loop.I64, 0, size, w.Sub(w.Arg(loop.I64, argN), w.first))
	w.n = w.Do(loop.OpCvt, loop.I32, 0, n)
}

// placeItem finds the column of an item.
func (w *writer) placeItem() {
	w.line, w.column = w.Divide(w.unit, argLines)
	offsets := w.Add(w.Arg(loop.I64, argPlaces), w.Mul(w.Wide(w.line), w.I64(8)))
	begin := w.Load(grid.Global, grid.W64, loop.I64, offsets, 0, grid.NoReg)
	end := w.Load(grid.Global, grid.W64, loop.I64, offsets, 8, grid.NoReg)
	w.n = w.Sub(end, begin)
	column := w.Mul(w.Wide(w.column), w.I64(int64(w.v.DType.Size())))
	w.base = w.Add(w.Add(w.Arg(loop.I64, argX), column), w.Mul(begin, w.Arg(loop.I64, argStep)))
}

// out returns the address of the result.
func (w *writer) out() grid.Reg {
	at := w.Wide(w.unit)
	if w.v.Items {
		at = w.Add(w.Mul(w.Wide(w.line), w.Arg(loop.I64, argStride)), w.Wide(w.column))
	}
	return w.Add(w.Arg(loop.I64, argOut), w.Mul(at, w.I64(8)))
}

// candidate returns the address of candidate number i (I64) of the line.
func (w *writer) candidate(i grid.Reg) grid.Reg {
	at := w.Add(w.Mul(i, w.Wide(w.Arg(loop.I32, argLines))), w.Wide(w.line))
	return w.Add(w.Arg(loop.I64, argPlaces), w.Mul(at, w.I64(8)))
}

// look finds the thread's extreme of the part.
func (w *writer) look() {
	per := 1
	if w.v.Vector {
		per = lanes(w.v.DType)
	}
	first := w.inUnit()
	if w.count == loop.I64 {
		first = w.Wide(first)
	}
	first = w.Mul(first, w.number(per))
	// A thread whose elements all have the least extreme key keeps its first one. One without elements
	// keeps a place behind the part, and loses against all others.
	w.best, w.at = w.Copy(w.worst()), w.Copy(first)
	stride := w.Arg(loop.I64, argStep)
	if w.v.Vector {
		stride = w.I64(int64(w.v.DType.Size()))
	}
	at := w.Copy(w.Add(w.base, w.Mul(w.Wide(first), stride)))
	jump := w.Mul(stride, w.I64(int64(w.width()*per)))
	done := w.Copy(w.number(0)) // elements that all threads have looked at
	w.While(w.v.Kind != OfThread, func() grid.Reg { return w.Lt(done, w.n) }, func() {
		var places, inside [unroll]grid.Reg
		var elements [unroll][]grid.Reg
		for u := range unroll {
			places[u] = w.Add(w.Add(first, done), w.number(u*w.width()*per))
			inside[u] = w.Lt(places[u], w.n)
			from := at
			if w.v.Chosen {
				place := w.Load(grid.Global, grid.W64, loop.I64, w.candidate(w.Wide(places[u])), 0, inside[u])
				from = w.Add(w.base, w.Mul(place, stride))
			}
			elements[u] = w.LoadN(grid.Global, w.elem(), w.key, per, from, 0, inside[u])
			if !w.v.Chosen {
				w.Update(at, loop.OpAdd, at, jump)
			}
		}
		for u, list := range elements {
			for i, x := range list {
				x = w.keyOf(x)
				better := w.And(inside[u], w.beats(x, w.best))
				w.Set(w.best, w.Select(better, x, w.best))
				w.Set(w.at, w.Select(better, w.Add(places[u], w.number(i)), w.at))
			}
		}
		w.Update(done, loop.OpAdd, done, w.number(unroll*w.width()*per))
	})
}

// elem is how an element becomes an integer.
func (w *writer) elem() grid.Elem {
	switch d := w.v.DType; d.Size() {
	case 1:
		if d == array.Int8 {
			return grid.S8
		}
		return grid.U8
	case 2:
		if d == array.Int16 {
			return grid.S16
		}
		return grid.U16
	case 4:
		return grid.W32
	}
	return grid.W64
}

// beats returns whether key x is more extreme than y.
func (w *writer) beats(x, y grid.Reg) grid.Reg {
	if w.v.Greatest {
		return w.Lt(y, x)
	}
	return w.Lt(x, y)
}

// worst returns the key that beats none.
func (w *writer) worst() grid.Reg { return w.limit(!w.v.Greatest) }

// limit returns the greatest or the least key.
func (w *writer) limit(greatest bool) grid.Reg {
	switch {
	case w.key == loop.I32 && greatest:
		return w.I32(math.MaxInt32)
	case w.key == loop.I32:
		return w.I32(math.MinInt32)
	case greatest:
		return w.I64(math.MaxInt64)
	}
	return w.I64(math.MinInt64)
}

// infinities has the bits of floats' infinities.
var infinities = map[array.DType]uint64{array.Float16: 0x7C00, array.BFloat16: 0x7F80, array.Float32: 0x7F800000, array.Float64: 0x7FF << 52}

// keyOf returns the key of an element's bits.
func (w *writer) keyOf(x grid.Reg) grid.Reg {
	d := w.v.DType
	bits := 8 * d.Size()
	switch {
	case d.Float():
		number := func(n uint64) grid.Reg { return w.Const(w.key, n) }
		size := w.And(x, number(1<<(bits-1)-1))
		negative := w.Do(loop.OpNe, loop.B, 0, x, size)
		k := w.Select(negative, w.Sub(number(0), size), size)
		return w.Select(w.Lt(number(infinities[d]), size), w.limit(w.v.Greatest), k)
	case d == array.Uint32 || d == array.Uint64:
		return w.Do(loop.OpXor, w.key, 0, x, w.Const(w.key, 1<<(bits-1)))
	}
	return x
}

// foldWarp leaves the extreme of the first n lanes in the first one.
func (w *writer) foldWarp(n int) {
	for d := n / 2; d > 0; d /= 2 {
		best, at := w.Down(w.best, d), w.Down(w.at, d)
		first := w.And(w.Eq(best, w.best), w.Lt(at, w.at))
		better := w.Or(w.beats(best, w.best), first)
		w.Set(w.best, w.Select(better, best, w.best))
		w.Set(w.at, w.Select(better, at, w.at))
	}
}

// foldBlock leaves the extreme of all warps in the first thread.
func (w *writer) foldBlock() {
	slot := w.Wide(w.Mul(w.shift(w.thread, 5), w.I32(8)))
	leads := w.Eq(w.And(w.thread, w.I32(grid.Warp-1)), w.I32(0))
	elem := map[loop.Type]grid.Elem{loop.I32: grid.W32, loop.I64: grid.W64}[w.key]
	w.Store(grid.Shared, elem, slot, 0, leads, w.best)
	w.Store(grid.Shared, grid.W32, slot, 8*warps, leads, w.at)
	w.Barrier()
	slot = w.Wide(w.Mul(w.And(w.thread, w.I32(warps-1)), w.I32(8)))
	w.Set(w.best, w.Load(grid.Shared, elem, w.key, slot, 0, grid.NoReg))
	w.Set(w.at, w.Load(grid.Shared, grid.W32, loop.I32, slot, 8*warps, grid.NoReg))
	w.foldWarp(warps)
}
