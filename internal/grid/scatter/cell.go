package scatter

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// An Op is what becomes of a target and its sources.
type Op uint8

const (
	Copy Op = iota // the last source
	Sum            // the target and all sources; whether one is true, of truth values
	Min            // the least; NaN if one is, and -0 is less than 0
	Max
)

func (o Op) String() string { return [...]string{"copy", "sum", "min", "max"}[o] }

// A cell is what a thread reads and writes at a time: an element, or neighbours.
type cell struct {
	op    Op
	alone bool        // what is in the target does not count
	dtype array.DType // Uint8, Uint16, Int32 or Int64 of copies, by the size of what they move
	n     int         // elements
}

// bytes is the size of a cell.
func (c cell) bytes() int { return c.n * c.dtype.Size() }

// name identifies the cell.
func (c cell) name() string {
	name := fmt.Sprintf("%s_%s_%d", c.op, c.dtype, c.n)
	if c.alone {
		name += "_alone"
	}
	return name
}

// cells returns all cells.
func cells() (out []cell) {
	add := func(c cell, most int) {
		for c.n = 1; c.n <= most; c.n *= 2 {
			out = append(out, c)
		}
	}
	for _, d := range []array.DType{array.Uint8, array.Uint16, array.Int32} {
		add(cell{op: Copy, dtype: d}, 1)
	}
	add(cell{op: Copy, dtype: array.Int64}, 2)
	for _, d := range dtypes {
		most := min(4, 16/d.Size())
		add(cell{op: Sum, dtype: d}, most)
		for _, o := range []Op{Min, Max} {
			add(cell{op: o, dtype: d}, most)
			add(cell{op: o, dtype: d, alone: true}, most)
		}
	}
	return out
}

// The types of indices, and of sums and extremes.
var (
	indexTypes = []array.DType{array.Int32, array.Int64}
	dtypes     = []array.DType{array.Bool, array.Uint8, array.Int8, array.Uint16, array.Int16,
		array.Uint32, array.Int32, array.Float32, array.Uint64, array.Int64, array.Float64}
)

// wider returns the cell of twice the size, and whether there is one.
func (c cell) wider() (cell, bool) {
	switch {
	case c.op != Copy || c.dtype == array.Int64:
		c.n *= 2
		return c, c.n <= 4 && c.bytes() <= 16
	case c.dtype == array.Uint8:
		c.dtype = array.Uint16
	case c.dtype == array.Uint16:
		c.dtype = array.Int32
	default:
		c.dtype = array.Int64
	}
	return c, true
}

// elem returns an element in memory, and the type of its register.
func (c cell) elem() (grid.Elem, loop.Type) {
	switch d := c.dtype; {
	case d.Size() == 1 && d != array.Int8:
		return grid.U8, loop.I32
	case d.Size() == 1:
		return grid.S8, loop.I32
	case d == array.Int16:
		return grid.S16, loop.I32
	case d.Size() == 2:
		return grid.U16, loop.I32
	case d.Size() == 4:
		return grid.W32, loop.TypeOf(d)
	default:
		return grid.W64, loop.TypeOf(d)
	}
}

// load returns a cell of memory.
func (w writer) load(c cell, addr, pred grid.Reg) []grid.Reg {
	e, t := c.elem()
	return w.LoadN(grid.Global, e, t, c.n, addr, 0, pred)
}

// store writes a cell.
func (w writer) store(c cell, addr, pred grid.Reg, x []grid.Reg) {
	e, _ := c.elem()
	w.Store(grid.Global, e, addr, 0, pred, x...)
}

// combine returns what becomes of a target by one source more.
func (w writer) combine(c cell, target, source []grid.Reg) []grid.Reg {
	out := make([]grid.Reg, c.n)
	for i, x := range target {
		out[i] = w.one(c, x, source[i])
	}
	return out
}

// one is combine of one element.
func (w writer) one(c cell, x, y grid.Reg) grid.Reg {
	_, t := c.elem()
	do := func(op loop.Op) grid.Reg { return w.Do(op, t, 0, x, y) }
	switch {
	case c.op == Copy:
		return y
	case c.op == Sum && c.dtype == array.Bool:
		return do(loop.OpOr)
	case c.op == Sum:
		return do(loop.OpAdd)
	}
	// The first of each pair is of Min.
	ops := [2]loop.Op{loop.OpMin, loop.OpMax}
	if c.dtype == array.Uint32 || c.dtype == array.Uint64 {
		ops = [2]loop.Op{loop.OpMinU, loop.OpMaxU}
	}
	if !c.dtype.Float() {
		return do(ops[c.op-Min])
	}
	// Of equal numbers only the zeros differ in their bits.
	bits := loop.I32
	if t == loop.F64 {
		bits = loop.I64
	}
	asBits := func(x grid.Reg) grid.Reg { return w.Do(loop.OpBits, bits, 0, x) }
	zero := w.Do([2]loop.Op{loop.OpOr, loop.OpAnd}[c.op-Min], bits, 0, asBits(x), asBits(y))
	return w.Select(w.Eq(x, y), w.Do(loop.OpBits, t, 0, zero), do(ops[c.op-Min]))
}
