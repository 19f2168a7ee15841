package conv

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// threads is the number of threads of a block.
const threads = 256

// A writer writes a kernel whose arguments are a struct A of integers of 4 and 8 bytes.
type writer[A any] struct {
	*grid.Builder
	args A // not read: the address of a field says where it stands
}

func newWriter[A any](name string) *writer[A] {
	w := &writer[A]{Builder: grid.NewBuilder(name, threads)}
	w.K.Args = (int(unsafe.Sizeof(w.args)) + 7) &^ 7
	return w
}

// short and long return a field of the arguments.
func (w *writer[A]) short(field *int32) grid.Reg {
	return w.Arg(loop.I32, w.place(unsafe.Pointer(field)))
}
func (w *writer[A]) long(field *int64) grid.Reg {
	return w.Arg(loop.I64, w.place(unsafe.Pointer(field)))
}

func (w *writer[A]) place(field unsafe.Pointer) int {
	return int(uintptr(field) - uintptr(unsafe.Pointer(&w.args)))
}

// argBytes returns the argument block of a kernel.
func argBytes[A any](args A) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, args)
	if err != nil {
		panic(err) // A is not a struct of integers
	}
	return append(b, make([]byte, -len(b)&7)...)
}

// elem is an element type in memory, typeOf that of its register.
func elem(d array.DType) grid.Elem {
	switch d {
	case array.Float16:
		return grid.Half
	case array.BFloat16:
		return grid.BHalf
	case array.Float64:
		return grid.W64
	}
	return grid.W32
}

func typeOf(d array.DType) loop.Type {
	if d == array.Float64 {
		return loop.F64
	}
	return loop.F32
}

// zero and minusZero return constants.
func zero(b *grid.Builder, t loop.Type) grid.Reg { return b.Const(t, 0) }

func minusZero(b *grid.Builder, t loop.Type) grid.Reg { return b.Const(t, 1<<(8*t.Size()-1)) }

// offset returns base plus the bytes of numbers (I32) by strides (I64).
func (w *writer[A]) offset(base grid.Reg, pairs ...grid.Reg) grid.Reg {
	for i := 0; i < len(pairs); i += 2 {
		base = w.Add(base, w.Mul(w.Wide(pairs[i]), pairs[i+1]))
	}
	return base
}

// split returns the quotient and the remainder of integers that are not negative.
func (w *writer[A]) split(x, n grid.Reg) (quo, rem grid.Reg) {
	quo = w.QuoU(x, n)
	return quo, w.Sub(x, w.Mul(quo, n))
}

// loop writes body for i (I32) from 0 to n-1, which all threads of a warp agree on.
func (w *writer[A]) loop(n grid.Reg, body func(i grid.Reg)) {
	i := w.Copy(w.I32(0))
	w.While(true, func() grid.Reg { return w.Lt(i, n) }, func() {
		body(i)
		w.Update(i, loop.OpAdd, i, w.I32(1))
	})
}

// inside reports 0 <= x < n.
func (w *writer[A]) inside(x, n grid.Reg) grid.Reg { return w.Do(loop.OpLtU, loop.B, 0, x, n) }

// foldArgs are the arguments of the kernel that adds sums of blocks.
type foldArgs struct {
	Out, Sums       int64 // addresses
	Results, Blocks int32
}

// abreast is the number of blocks whose sums are read together.
const abreast = 8

// fold returns the launch that adds the sums of blocks, which stand behind each other, in ascending
// order: to what out has already if more holds.
func fold(d array.DType, out, sums uint64, results, blocks int, more bool) grid.Launch {
	name := fmt.Sprintf("conv_fold_%s", d)
	if more {
		name += "_more"
	}
	return grid.NewLaunch(name, func() *grid.Kernel { return lowerFold(name, d, more) }, (results+threads-1)/threads,
		argBytes(foldArgs{int64(out), int64(sums), int32(results), int32(blocks)}))
}

func lowerFold(name string, d array.DType, more bool) *grid.Kernel {
	w := newWriter[foldArgs](name)
	e, t := elem(d), typeOf(d)
	i := w.Add(w.Mul(w.Block(), w.I32(threads)), w.Thread())
	results, blocks := w.short(&w.args.Results), w.short(&w.args.Blocks)
	exists := w.Lt(i, results)
	size := w.I64(int64(d.Size()))
	out, at := w.offset(w.long(&w.args.Out), i, size), w.Copy(w.offset(w.long(&w.args.Sums), i, size))
	step := w.Mul(w.Wide(results), size)
	sum := w.Copy(minusZero(w.Builder, t)) // adding to it changes nothing
	if more {
		w.Set(sum, w.Load(grid.Global, e, t, out, 0, exists))
	}
	add := func(n int) {
		var x []grid.Reg
		for range n {
			x = append(x, w.Load(grid.Global, e, t, at, 0, exists))
			w.Update(at, loop.OpAdd, at, step)
		}
		for _, x := range x {
			w.Update(sum, loop.OpAdd, sum, x)
		}
	}
	left := w.Copy(blocks)
	w.While(true, func() grid.Reg { return w.Le(w.I32(abreast), left) }, func() {
		add(abreast)
		w.Update(left, loop.OpSub, left, w.I32(abreast))
	})
	w.While(true, func() grid.Reg { return w.Lt(w.I32(0), left) }, func() {
		add(1)
		w.Update(left, loop.OpSub, left, w.I32(1))
	})
	w.Store(grid.Global, e, out, 0, exists, sum)
	return w.K
}
