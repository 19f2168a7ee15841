// Package scatter has the kernels of routines that write elements at indices on a GPU: copies, sums and
// extremes, with the bits of the CPU.
//
// # Order
//
// What several sources give to one target depends on their order: sums round, and of copies the last
// one stays. It is the row-major order of the sources, as on the CPU. No float is added by an atomic
// operation.
//
// # How
//
// A line is the sources that differ along the axis alone. Lines never share a target. Where lines are
// many or short, a thread walks each of them and updates its targets in memory.
//
// Few long lines are sorted: pairs of target and source, by target. The sort is a radix sort from the
// lowest digit (D. Knuth, The Art of Computer Programming, volume 3, 5.2.5), which is stable. Then the
// sources of a target are a run of pairs in ascending order, and a thread combines each run. Where all
// lines have the same indices, those are sorted once.
//
// # Bad indices
//
// A kernel notes an index out of range in a report, and writes nothing for it.
package scatter

import (
	"slices"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

const (
	threads = 256 // of a block
	warps   = threads / grid.Warp
	unroll  = 4 // sources of a thread whose loads are under way at a time
)

// A writer writes a kernel.
type writer struct{ *grid.Builder }

func (w writer) long(at int) grid.Reg  { return w.Arg(loop.I64, at) }
func (w writer) short(at int) grid.Reg { return w.Arg(loop.I32, at) }

// as returns an integer as one of type t.
func (w writer) as(t loop.Type, x grid.Reg) grid.Reg {
	if w.Type(x) == t {
		return x
	}
	return w.Do(loop.OpCvt, t, 0, x)
}

// number returns an integer constant of type t.
func (w writer) number(t loop.Type, n int) grid.Reg { return w.Const(t, uint64(n)) }

// elemOf is an element in memory that is an integer of type t.
func elemOf(t loop.Type) grid.Elem {
	if t == loop.I64 {
		return grid.W64
	}
	return grid.W32
}

// index loads an index as an I64.
func (w writer) index(d array.DType, addr, pred grid.Reg) grid.Reg {
	if d == array.Int32 {
		return w.Wide(w.Load(grid.Global, grid.W32, loop.I32, addr, 0, pred))
	}
	return w.Load(grid.Global, grid.W64, loop.I64, addr, 0, pred)
}

// checked returns an index counted from the front, and whether it is out of range for size where in
// holds.
func (w writer) checked(raw, size, in grid.Reg) (index, bad grid.Reg) {
	index = w.Select(w.Lt(raw, w.I64(0)), w.Add(raw, size), raw)
	return index, w.And(in, w.Do(loop.OpLeU, loop.B, 0, size, index))
}

// maxDims is the number of dimensions of the box of a launch.
const maxDims = 4

// A dim is an axis of a box: its size, and the steps of operands along it. What a step counts is the
// operand's affair.
type dim struct {
	n     int
	steps [3]int
}

// A box is a shape that several operands are walked along, outermost axis first.
type box []dim

func (b box) size() int {
	n := 1
	for _, d := range b {
		n *= d.n
	}
	return n
}

// joined returns the box without axes of size 1, and with neighbours joined that all operands walk like
// one axis.
func (b box) joined() (out box) {
	for _, d := range b {
		last := len(out) - 1
		if d.n == 1 {
			continue
		}
		outer := d.steps
		for k := range outer {
			outer[k] *= d.n
		}
		if last >= 0 && out[last].steps == outer {
			out[last] = dim{out[last].n * d.n, d.steps}
		} else {
			out = append(out, d)
		}
	}
	return out
}

// maxBox is the number of elements of a launch, whose numbers have 4 bytes. Tests lower it.
var maxBox = 1 << 30

// each calls f for parts of a joined box that launches can take, with where the operands begin.
func (b box) each(begin [3]int, f func(part box, begin [3]int)) {
	size := b.size()
	switch {
	case size == 0:
	case size <= maxBox && len(b) <= maxDims:
		f(b, begin)
	default:
		b.halves(0, begin, func(part box, begin [3]int) { part.joined().each(begin, f) })
	}
}

// halves calls f for the halves of a box along an axis, with where the operands begin.
func (b box) halves(axis int, begin [3]int, f func(part box, begin [3]int)) {
	n := b[axis].n
	for _, r := range [...][2]int{{0, n / 2}, {n / 2, n}} {
		part, at := slices.Clone(b), begin
		part[axis].n = r[1] - r[0]
		for k, s := range b[axis].steps {
			at[k] += r[0] * s
		}
		f(part, at)
	}
}

// boxBytes is the number of bytes of a box among the arguments.
const boxBytes = 8*3*maxDims + 8 + (maxDims-1)*grid.DivisorBytes

// append appends the box, padded: the steps of the operands, the number of elements, and sizes as
// divisors.
func (b box) append(a *grid.Args) {
	all := make(box, maxDims)
	for i := range all {
		all[i].n = 1
	}
	copy(all[maxDims-len(b):], b)
	for k := range 3 {
		for _, d := range all {
			a.Long(d.steps[k])
		}
	}
	a.Long(b.size())
	for _, d := range all[1:] {
		a.Divisors(d.n)
	}
	a.Pad()
}

// inBox returns whether element i, I32, is in a box at a byte of the arguments.
func (w writer) inBox(i grid.Reg, at int) grid.Reg { return w.Lt(i, w.short(at+8*3*maxDims)) }

// walk returns the first operands, I64, moved from begin to element i, I32, of the box.
func (w writer) walk(i grid.Reg, at int, begin ...grid.Reg) []grid.Reg {
	for d := maxDims - 1; d >= 0; d-- {
		x := i
		if d > 0 {
			i, x = w.Divide(i, at+8*3*maxDims+8+grid.DivisorBytes*(d-1))
		}
		for k := range begin {
			begin[k] = w.Add(begin[k], w.Mul(w.Wide(x), w.long(at+8*(maxDims*k+d))))
		}
	}
	return begin
}

// item returns the number of the thread in the launch.
func (w writer) item() grid.Reg { return w.Add(w.Mul(w.Block(), w.I32(threads)), w.Thread()) }
