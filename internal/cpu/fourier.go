package cpu

import (
	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/fft"
	"weft/internal/cpu/transpose"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
)

// fourierTransform returns the routine of one of the transforms.
func fourierTransform(id ir.RoutineID) device.Routine {
	return func(c *device.Call) error {
		x, y, a := &c.Args[0], &c.Out[0], c.Node.Attrs.(op.Fourier)
		if y.Size() == 0 {
			return nil
		}
		fourierAlong(c, id, x, y, a)
		for _, axis := range a.More {
			a.Axis = axis
			fourierAlong(c, id, y, y, a)
		}
		return nil
	}
}

// fourierAlong transforms x along one axis to y, which may be x for transforms of complex numbers.
func fourierAlong(c *device.Call, id ir.RoutineID, x, y *array.View, a op.Fourier) {
	n := max(x.Shape[a.Axis], y.Shape[a.Axis]) // IRFFT has an argument of half the size, RFFT a result
	if x.Size() == 0 {
		n = 0
	}
	t := fft.Transform{ISA: isaOf(c), Size: y.DType.Part().Size(), N: n, Inverse: a.Inverse}
	if a.Norm != op.NoNorm {
		t.Scale = a.Norm.Factor(n)
	}
	if before, behind := around(x.Shape, a.Axis); id == ir.RoutineFFT && x.Contiguous() && y.Contiguous() && t.TakesColumns(behind) {
		t.Columns(y.Ptr(), x.Ptr(), before, behind)
		return
	}
	in, freeIn := lastAxis(c, x, a.Axis, true, x == y)
	defer freeIn()
	out, freeOut := lastAxis(c, y, a.Axis, false, false)
	defer freeOut()
	rows := y.Size() / y.Shape[a.Axis]
	dst, src := codegen.Ptr(&out), codegen.Ptr(&in)
	switch id {
	case ir.RoutineFFT:
		row := n * x.DType.Size()
		t.Rows(dst, src, rows, row, row)
	case ir.RoutineRFFT:
		t.RealRows(dst, src, rows)
	default:
		t.HalfRows(dst, src, rows)
	}
	if out.Store != y.Store {
		turned := moveLast(y, a.Axis)
		transpose.Copy(t.ISA, &turned, &out)
	}
}

// cosineTransform is the routine of cosine and sine transforms.
func cosineTransform(c *device.Call) error {
	x, y, a := &c.Args[0], &c.Out[0], c.Node.Attrs.(op.Cosine)
	if y.Size() == 0 {
		return nil
	}
	n := y.Shape[a.Axis]
	t := fft.Transform{ISA: isaOf(c), Size: y.DType.Size(), N: n}
	if a.Norm != op.NoNorm {
		t.Scale = a.Norm.Factor(2 * n)
	}
	in, freeIn := lastAxis(c, x, a.Axis, true, false)
	defer freeIn()
	out, freeOut := lastAxis(c, y, a.Axis, false, false)
	defer freeOut()
	t.CosineRows(fft.Cosine{Third: a.Third, Sine: a.Sine, First: a.First}, codegen.Ptr(&out), codegen.Ptr(&in), y.Size()/n)
	if out.Store != y.Store {
		turned := moveLast(y, a.Axis)
		transpose.Copy(t.ISA, &turned, &out)
	}
	return nil
}

// around returns the numbers of elements before and behind an axis.
func around(shape []int, axis int) (before, behind int) {
	return array.Size(shape[:axis]), array.Size(shape[axis+1:])
}

// moveLast is v with an axis moved to the end.
func moveLast(v *array.View, axis int) array.View {
	order := func(s []int) []int {
		out := append(append([]int{}, s[:axis]...), s[axis+1:]...)
		return append(out, s[axis])
	}
	return array.View{Store: v.Store, DType: v.DType, Offset: v.Offset, Shape: order(v.Shape), Strides: order(v.Strides)}
}

// lastAxis returns memory with the elements of v, in which those along an axis lie one behind the other:
// v's own, unless it is to be apart, or a copy; with fill it holds them.
func lastAxis(c *device.Call, v *array.View, axis int, fill, apart bool) (w array.View, free func()) {
	w = moveLast(v, axis)
	if w.Contiguous() && !apart {
		return w, func() {}
	}
	turned := w
	w.Store, w.Offset, w.Strides = c.Stream.Alloc(v.Size()*v.DType.Size()), 0, array.RowMajor(w.Shape)
	if fill {
		transpose.Copy(isaOf(c), &w, &turned)
	}
	return w, func() { c.Stream.Free(w.Store) }
}
