// Package moves has the kernels of routines that move elements on a GPU: selection by index and by mask,
// transposed copies, indices themselves. They know the sizes of elements, not their types.
//
// # Boxes
//
// A routine walks over a box: a shape, along which each array has strides. Axes of size 1 go, and
// neighbouring axes that all arrays walk like one are joined. A thread has the number of an element
// and divides it by the sizes, each division being a multiplication. Neighbouring threads have
// neighbouring elements of the result. A box beyond the limits of a launch becomes several.
//
// # Bad indices
//
// A kernel notes an index out of range in a report and reads nothing there. The result has zeros
// instead.
package moves

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// threads is the number of threads of a block.
const threads = 256

// power returns the largest power of two, at most most, that divides x.
func power(x, most int) int {
	for x%most != 0 {
		most /= 2
	}
	return most
}

// A writer writes a kernel.
type writer struct{ *grid.Builder }

func (w writer) long(at int) grid.Reg  { return w.Arg(loop.I64, at) }
func (w writer) short(at int) grid.Reg { return w.Arg(loop.I32, at) }

// unit has the elements that make up one of a size in bytes, up to 16.
func unit(size int) (e grid.Elem, t loop.Type, n int) {
	switch size {
	case 1:
		return grid.U8, loop.I32, 1
	case 2:
		return grid.U16, loop.I32, 1
	case 4:
		return grid.W32, loop.I32, 1
	case 8:
		return grid.W64, loop.I64, 1
	}
	return grid.W64, loop.I64, 2
}

// load returns a unit of memory.
func (w writer) load(size int, addr, pred grid.Reg) []grid.Reg {
	e, t, n := unit(size)
	return w.LoadN(grid.Global, e, t, n, addr, 0, pred)
}

// store writes a unit.
func (w writer) store(size int, addr, pred grid.Reg, x []grid.Reg) {
	e, _, _ := unit(size)
	w.Store(grid.Global, e, addr, 0, pred, x...)
}
