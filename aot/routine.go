package aot

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/convolution"
	"weft/internal/cpu/index"
	"weft/internal/cpu/routine"
)

// A Routine computes what is not a kernel: the results of a [Step] from its arguments.
type Routine func(c *Call) error

// A Geometry describes a convolution: N pictures of C channels, H rows and W columns, O filters of KH
// rows and KW columns.
type Geometry = convolution.Geometry

// A Pool describes the windows of a pooling.
type Pool = routine.Pool

// simple returns a routine that cannot fail.
func simple(f func(c routine.Call)) Routine {
	return func(c *Call) error {
		f(c.Call)
		return nil
	}
}

// Copy copies an array of other strides.
func Copy(c *Call) error {
	c.Call.Copy(c.columns)
	return nil
}

// MatMul multiplies matrices, or pairs of matrices of a batch.
func MatMul(c *Call) error {
	c.Call.MatMul()
	return nil
}

// Conv2d convolves pictures with filters.
func Conv2d(g Geometry) Routine { return simple(func(c routine.Call) { c.Conv2d(g) }) }

// Conv2dInput computes the gradient of the pictures of a convolution.
func Conv2dInput(g Geometry) Routine { return simple(func(c routine.Call) { c.Conv2dInput(g) }) }

// Conv2dWeight computes the gradient of the filters of a convolution.
func Conv2dWeight(g Geometry) Routine { return simple(func(c routine.Call) { c.Conv2dWeight(g) }) }

// MaxPool computes the greatest element of each window.
func MaxPool(a Pool) Routine { return simple(func(c routine.Call) { c.MaxPool(a) }) }

// MaxPoolPlace computes the gradient of MaxPool.
func MaxPoolPlace(a Pool) Routine { return simple(func(c routine.Call) { c.MaxPoolPlace(a) }) }

// MaxPoolPick picks elements where MaxPool found the greatest.
func MaxPoolPick(a Pool) Routine { return simple(func(c routine.Call) { c.MaxPoolPick(a) }) }

// MeanPool computes the mean of each window.
func MeanPool(a Pool) Routine { return simple(func(c routine.Call) { c.MeanPool(a) }) }

// MeanPoolGrad computes the gradient of MeanPool.
func MeanPoolGrad(a Pool) Routine { return simple(func(c routine.Call) { c.MeanPoolGrad(a) }) }

// ArgMax finds the index of the greatest element along an axis.
func ArgMax(axis int) Routine { return simple(func(c routine.Call) { c.ArgExtreme(axis, true) }) }

// ArgMin finds the index of the least element along an axis.
func ArgMin(axis int) Routine { return simple(func(c routine.Call) { c.ArgExtreme(axis, false) }) }

// IndexSelect selects entries along an axis.
func IndexSelect(axis int) Routine { return simple(func(c routine.Call) { c.IndexSelect(axis) }) }

// IndexAdd adds entries along an axis.
func IndexAdd(axis int) Routine { return simple(func(c routine.Call) { c.IndexAdd(axis) }) }

// IndexCopy writes entries along an axis.
func IndexCopy(axis int) Routine { return simple(func(c routine.Call) { c.IndexCopy(axis) }) }

// Gather gathers elements along an axis.
func Gather(axis int) Routine { return simple(func(c routine.Call) { c.Gather(axis) }) }

// Scatter writes elements along an axis.
func Scatter(axis int) Routine { return simple(func(c routine.Call) { c.Scatter(axis) }) }

// ScatterSum adds elements along an axis.
func ScatterSum(axis int) Routine { return simple(func(c routine.Call) { c.ScatterSum(axis) }) }

// ScatterMax keeps the greatest of elements along an axis. With alone what was there does not count.
func ScatterMax(axis int, alone bool) Routine {
	return func(c *Call) error { return c.Call.ScatterExtreme(axis, true, alone) }
}

// ScatterMin keeps the least of elements along an axis. With alone what was there does not count.
func ScatterMin(axis int, alone bool) Routine {
	return func(c *Call) error { return c.Call.ScatterExtreme(axis, false, alone) }
}

// ScatterProd multiplies elements along an axis. With alone what was there does not count.
func ScatterProd(axis int, alone bool) Routine {
	return simple(func(c routine.Call) { c.ScatterProd(axis, alone) })
}

// A Ravel joins arrays of indices to flat indices.
type Ravel = index.Ravel

// RavelIndex joins arrays of indices.
func RavelIndex(r Ravel) Routine { return simple(func(c routine.Call) { c.Ravel(r) }) }

// Places gives the indices of operation op, which are broadcast to an array of shape all, counted from
// the front.
func Places(op string, size int, all ...int) Routine {
	return simple(func(c routine.Call) { c.Places(op, size, all) })
}

// ScanSum computes running sums along an axis, in reverse from its end.
func ScanSum(axis int, reverse bool) Routine {
	return simple(func(c routine.Call) { c.ScanSum(axis, reverse) })
}

// ScanProd computes running products along an axis.
func ScanProd(axis int) Routine { return simple(func(c routine.Call) { c.ScanProd(axis) }) }

// Recurrence computes x[i] + a[i]*y[i-1] along an axis, in reverse x[i] + a[i+1]*y[i+1].
func Recurrence(axis int, reverse bool) Routine {
	return simple(func(c routine.Call) { c.Recurrence(axis, reverse) })
}

// MaskSelect gives the elements where a mask is true.
func MaskSelect(c *Call) error {
	c.Call.MaskSelect()
	return nil
}

// MaskPlace puts elements where a mask is true.
func MaskPlace(c *Call) error {
	c.Call.MaskPlace()
	return nil
}

// A Range is the range of an argument's elements, integers. Text is the format of the error: a verb for
// the element and, with Rows, for its position and Max.
type Range struct {
	Op, Arg, Text string
	Rows          bool
	Min, Max      int
}

// CheckRange copies an array whose elements are in a range. Others are an [Error].
func CheckRange(r Range) Routine {
	return func(c *Call) error {
		var position int
		var x int64
		in, out := &c.Args[0], &c.Out[0]
		if in.DType == array.Int32 {
			position, x = copyInRange[int32](r, in, out)
		} else {
			position, x = copyInRange[int64](r, in, out)
		}
		switch {
		case position < 0:
			return nil
		case r.Rows:
			return array.Errorf(r.Op, r.Arg, r.Text, x, position, r.Max)
		}
		return array.Errorf(r.Op, r.Arg, r.Text, x)
	}
}

// copyInRange copies a contiguous array. It returns the first element out of range and its position, -1
// if there is none.
func copyInRange[T int32 | int64](r Range, in, out *array.View) (position int, x int64) {
	n := in.Size()
	if n == 0 {
		return -1, 0
	}
	src, _ := in.Memory()
	dst, _ := out.Memory()
	for i, x := range unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(src))), n) {
		if int64(x) < int64(r.Min) || int64(x) > int64(r.Max) {
			return i, int64(x)
		}
	}
	copy(dst, src)
	return -1, 0
}
