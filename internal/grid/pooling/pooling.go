// Package pooling computes max and average pooling and their gradients on a GPU: kernels of package
// grid with the CPU's bits.
//
// # Bits
//
// A maximum visits its window column by column, and the last of equal elements stays. A mean is
// the sum of its window in row-major order, times one over the number of places. The gradients
// gather: each element walks the windows that hold it, in the order in which the CPU adds them.
//
// # How
//
// A thread computes an element of the result, its neighbour the next one. Windows of 2x2 and 3x3
// are read without loops.
package pooling

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// threads is the number of threads of a block.
const threads = 256

// An Op is what is computed.
type Op uint8

const (
	Max    Op = iota // maxima of the windows of x
	Mean             // their means
	Pick             // of x, y and dx: the element of dx at the first place of a window that has the maximum y
	Place            // of x, y and dy: the gradient of Max
	Spread           // of dy: the gradient of Mean
	numOps
)

func (o Op) String() string { return [...]string{"max", "mean", "pick", "place", "spread"}[o] }

// Back reports an operation whose result has the size of the picture, not of its windows.
func (o Op) Back() bool { return o == Place || o == Spread }

// A Variant is a kernel of pooling.
type Variant struct {
	Op    Op
	DType array.DType // Float32 or Float64
	Side  int         // rows and columns of the windows of Max and Mean: 2 or 3; 0 of any windows
	Pairs bool        // of windows of 2x2 side by side: both elements of a row are read at a time
}

// Name identifies the variant.
func (v Variant) Name() string {
	name := fmt.Sprintf("pool_%s_%s", v.Op, v.DType)
	if v.Side > 0 {
		name = fmt.Sprintf("%s_%d", name, v.Side)
	}
	if v.Pairs {
		name += "_pairs"
	}
	return name
}

// Variants returns all variants.
func Variants() (out []Variant) {
	for o := range numOps {
		for _, d := range []array.DType{array.Float32, array.Float64} {
			out = append(out, Variant{Op: o, DType: d})
			if o == Max || o == Mean {
				out = append(out, Variant{o, d, 2, false}, Variant{o, d, 2, true}, Variant{o, d, 3, false})
			}
		}
	}
	return out
}

// The argument block, in order:
//
//   - addresses: of the first element that the launch writes, and of the arguments
//   - one over the number of places, as an element
//   - bytes of a row and of a plane of pictures, then of windows
//   - the part of the result
//   - sizes of pictures and numbers of windows
//   - windows, their steps and padding
//   - the steps as divisors
const (
	argPtr    = 0
	argScale  = argPtr + 8*4
	argRowX   = argScale + 8
	argPlaneX = argRowX + 8
	argRowY   = argPlaneX + 8
	argPlaneY = argRowY + 8
	argPart   = argPlaneY + 8
	argH      = argPart + grid.PartBytes
	argW      = argH + 4
	argOH     = argW + 4
	argOW     = argOH + 4
	argKH     = argOW + 4
	argKW     = argKH + 4
	argStepH  = argKW + 4
	argStepW  = argStepH + 4
	argPadH   = argStepW + 4
	argPadW   = argPadH + 4
	argDivH   = argPadW + 4
	argDivW   = argDivH + grid.DivisorBytes
	argBytes  = argDivW + grid.DivisorBytes
)

// A writer writes a kernel.
type writer struct {
	*grid.Builder
	v    Variant
	t    loop.Type
	elem grid.Elem
	size int // bytes of an element

	plane     grid.Reg // I64
	row, col  grid.Reg // of the element that the thread computes
	zero, one grid.Reg // I32
}

// Lower returns the kernel of a variant.
func Lower(v Variant) *grid.Kernel {
	w := &writer{Builder: grid.NewBuilder(v.Name(), threads), v: v, t: loop.F32, elem: grid.W32, size: v.DType.Size()}
	if v.DType == array.Float64 {
		w.t, w.elem = loop.F64, grid.W64
	}
	w.K.Args = argBytes
	if v.Op == Place {
		w.K.Abreast = 6 // its loops in loops take more registers
	}
	w.zero, w.one = w.I32(0), w.I32(1)
	w.ForElement(argPart, func(e grid.Element) {
		w.plane, w.row, w.col = e.Plane, e.Row, e.Col
		result := [...]func() grid.Reg{Max: w.max, Mean: w.mean, Pick: w.pick, Place: w.place, Spread: w.spread}[v.Op]()
		w.Store(grid.Global, w.elem, w.Moved(w.Arg(loop.I64, argPtr), e.Number, w.size), 0, grid.NoReg, result)
	})
	return w.K
}

func (w *writer) arg(at int) grid.Reg { return w.Arg(loop.I32, at) }

// load returns an element of the type of the variant.
func (w *writer) load(addr grid.Reg) grid.Reg {
	return w.Load(grid.Global, w.elem, w.t, addr, 0, grid.NoReg)
}

// planeOf returns the address of the plane at hand of argument i, which is one of pictures or of windows.
func (w *writer) planeOf(i, bytes int) grid.Reg {
	return w.Add(w.Arg(loop.I64, argPtr+8+8*i), w.Mul(w.plane, w.Arg(loop.I64, bytes)))
}

// at returns the address of an element of a plane.
func (w *writer) at(plane, row, col grid.Reg, rowBytes int) grid.Reg {
	return w.Moved(w.Add(plane, w.Mul(w.Wide(row), w.Arg(loop.I64, rowBytes))), col, w.size)
}

func (w *writer) least(x, y grid.Reg) grid.Reg { return w.Do(loop.OpMin, loop.I32, 0, x, y) }
func (w *writer) most(x, y grid.Reg) grid.Reg  { return w.Do(loop.OpMax, loop.I32, 0, x, y) }

// minusZero is the number that changes nothing when it is added, not even -0.
func (w *writer) minusZero() grid.Reg { return w.bits(1<<31, 1<<63) }

// bits is the constant of these bits.
func (w *writer) bits(narrow uint32, wide uint64) grid.Reg {
	if w.size == 8 {
		return w.Const(w.t, wide)
	}
	return w.Const(w.t, uint64(narrow))
}

// walk writes a loop over the numbers from first to last; f gets the number and an address that
// moves on by bytes. Down turns the loop round, from last to first: addr belongs to where it
// begins. It ends early where done, if it is not NoReg, becomes true.
func (w *writer) walk(first, last grid.Reg, down bool, addr, bytes, done grid.Reg, f func(i, addr grid.Reg)) {
	op, i := loop.OpAdd, w.Copy(first)
	if down {
		op, i = loop.OpSub, w.Copy(last)
	}
	addr = w.Copy(addr)
	w.While(false, func() grid.Reg {
		more := w.Le(i, last)
		if down {
			more = w.Le(first, i)
		}
		if done != grid.NoReg {
			more = w.And(more, w.Not(done))
		}
		return more
	}, func() {
		f(i, addr)
		w.Update(i, op, i, w.one)
		w.Update(addr, op, addr, bytes)
	})
}
