package cpu

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/gen"
	"weft/internal/cpu/running"
	"weft/internal/device"
	"weft/internal/op"
	"weft/internal/par"
)

// scanGrain is the number of elements that are worth a chunk of their own.
const scanGrain = 1 << 15

// A line is the axis of a running result in an array: outer blocks of n rows of inner
// elements that lie side by side.
type line struct {
	outer, n, inner int
	reverse         bool
}

func runningOf(shape []int, axis int, reverse bool) line {
	return line{array.Size(shape[:axis]), shape[axis], array.Size(shape[axis+1:]), reverse}
}

// blocks calls f for parts of the array on all threads: for rows of columns lo to hi of
// one block, the offset of the first row that the result reaches, and the step to the next.
func (r line) blocks(f func(first, step, columns int)) {
	if r.outer*r.n*r.inner == 0 {
		return
	}
	width := min(r.inner, max(scanGrain/r.n, 16)) // columns of a part
	parts := (r.inner + width - 1) / width
	par.Run(r.outer*parts, max(scanGrain/(r.n*width), 1), 0, func(_, begin, end int) {
		for u := begin; u < end; u++ {
			lo := u % parts * width
			first, step := u/parts*r.n*r.inner+lo, r.inner
			if r.reverse {
				first, step = first+(r.n-1)*r.inner, -r.inner
			}
			f(first, step, min(width, r.inner-lo))
		}
	})
}

// bySize returns the routine for the size of elements of the first result.
func bySize(f1, f2, f4, f8 device.Routine) device.Routine {
	return func(c *device.Call) error {
		switch c.Out[0].DType.Size() {
		case 1:
			return f1(c)
		case 2:
			return f2(c)
		case 4:
			return f4(c)
		}
		return f8(c)
	}
}

// elements is what an argument or result, which is contiguous, holds.
func elements[T any](v *array.View) []T { return unsafe.Slice((*T)(gen.Ptr(v)), v.Size()) }

// together is how many rows, each along the axis, are added side by side where the axis is
// the last: one alone waits for each addition.
const together = 4

// scanned runs along the axis: one for rows that lie along it, across for rows side by
// side, of which it gives one by the one before.
func scanned[T any](c *device.Call, four func(y, x []T, at [together]int, n, step int), one func(y, x []T, at, n, step int), across func(y, before, x []T)) {
	a, ok := c.Node.Attrs.(op.Scan)
	if !ok {
		a.Axis = int(c.Node.Attrs.(op.Axis))
	}
	x, y := elements[T](&c.Args[0]), elements[T](&c.Out[0])
	r := runningOf(c.Out[0].Shape, a.Axis, a.Reverse)
	if r.inner > 1 {
		r.blocks(func(first, step, columns int) {
			copy(y[first:first+columns], x[first:])
			for i := 1; i < r.n; i++ {
				at := first + i*step
				across(y[at:at+columns], y[at-step:at-step+columns], x[at:at+columns])
			}
		})
		return
	}
	if len(x) == 0 {
		return
	}
	par.Run(r.outer, max(scanGrain/r.n, 1), 0, func(_, begin, end int) {
		step, first := 1, 0
		if a.Reverse {
			step, first = -1, r.n-1
		}
		for ; end-begin >= together; begin += together {
			var at [together]int
			for k := range at {
				at[k] = (begin+k)*r.n + first
			}
			four(y, x, at, r.n, step)
		}
		for ; begin < end; begin++ {
			one(y, x, begin*r.n+first, r.n, step)
		}
	})
}

type number interface{ int64 | float32 | float64 }

func sums[T number](c *device.Call) {
	scanned(c, func(y, x []T, at [together]int, n, step int) {
		a, b, c, d := at[0], at[1], at[2], at[3]
		s0, s1, s2, s3 := x[a], x[b], x[c], x[d]
		y[a], y[b], y[c], y[d] = s0, s1, s2, s3
		for range n - 1 {
			a, b, c, d = a+step, b+step, c+step, d+step
			s0, s1, s2, s3 = s0+x[a], s1+x[b], s2+x[c], s3+x[d]
			y[a], y[b], y[c], y[d] = s0, s1, s2, s3
		}
	}, func(y, x []T, at, n, step int) {
		s := x[at]
		y[at] = s
		for range n - 1 {
			at += step
			s += x[at]
			y[at] = s
		}
	}, func(y, before, x []T) {
		before, x = before[:len(y)], x[:len(y)]
		for j := range y {
			y[j] = before[j] + x[j]
		}
	})
}

// floatSums adds in blocks where it may and a row has at least one, otherwise in order.
func floatSums[T float32 | float64](c *device.Call) {
	a := c.Node.Attrs.(op.Scan)
	r := runningOf(c.Out[0].Shape, a.Axis, a.Reverse)
	if !a.Blocks || r.inner > 1 || r.n < running.Block[T]() {
		sums[T](c)
		return
	}
	x, y, isa := elements[T](&c.Args[0]), elements[T](&c.Out[0]), isaOf(c)
	par.Run(r.outer, max(scanGrain/r.n, 1), 0, func(_, begin, end int) {
		for ; begin < end; begin++ {
			from, to := begin*r.n, (begin+1)*r.n
			if a.Reverse {
				running.Back(y[from:to], x[from:to])
			} else {
				running.Sums(isa, y[from:to], x[from:to])
			}
		}
	})
}

func products[T number](c *device.Call) {
	scanned(c, func(y, x []T, at [together]int, n, step int) {
		a, b, c, d := at[0], at[1], at[2], at[3]
		s0, s1, s2, s3 := x[a], x[b], x[c], x[d]
		y[a], y[b], y[c], y[d] = s0, s1, s2, s3
		for range n - 1 {
			a, b, c, d = a+step, b+step, c+step, d+step
			s0, s1, s2, s3 = s0*x[a], s1*x[b], s2*x[c], s3*x[d]
			y[a], y[b], y[c], y[d] = s0, s1, s2, s3
		}
	}, func(y, x []T, at, n, step int) {
		s := x[at]
		y[at] = s
		for range n - 1 {
			at += step
			s *= x[at]
			y[at] = s
		}
	}, func(y, before, x []T) {
		before, x = before[:len(y)], x[:len(y)]
		for j := range y {
			y[j] = before[j] * x[j]
		}
	})
}

// scanOf returns the routine for the element type, all of which are floats of 4 or 8 bytes
// or integers of 8, whose sign changes nothing.
func scanOf(f32, f64, i64 func(c *device.Call)) device.Routine {
	return func(c *device.Call) error {
		switch c.Out[0].DType {
		case array.Float32:
			f32(c)
		case array.Float64:
			f64(c)
		default:
			i64(c)
		}
		return nil
	}
}

// recur gives x[i] + a[i]*y[i-1], or in reverse x[i] + a[i+1]*y[i+1].
func recur[T float32 | float64](c *device.Call) {
	at := c.Node.Attrs.(op.Scan)
	x, a, y := elements[T](&c.Args[0]), elements[T](&c.Args[1]), elements[T](&c.Out[0])
	r := runningOf(c.Out[0].Shape, at.Axis, at.Reverse)
	r.blocks(func(first, step, columns int) {
		copy(y[first:first+columns], x[first:])
		factor := 0
		if at.Reverse {
			factor = -step
		}
		for i := 1; i < r.n; i++ {
			k := first + i*step
			for j := range columns {
				y[k+j] = x[k+j] + T(a[k+j+factor]*y[k+j-step])
			}
		}
	})
}

// cumExtreme gives the extremes so far and their places, the last of equal ones.
func cumExtreme(greatest bool) device.Routine {
	return bySize(extremesSoFar[uint8](greatest), extremesSoFar[uint16](greatest), extremesSoFar[uint32](greatest), extremesSoFar[uint64](greatest))
}

func extremesSoFar[U bitsOf](greatest bool) device.Routine {
	return func(c *device.Call) error {
		x, y, places := elements[U](&c.Args[0]), elements[U](&c.Out[0]), elements[int64](&c.Out[1])
		o := orderOf(c.Out[0].DType)
		const nan = ^uint64(0)
		r := runningOf(c.Out[0].Shape, int(c.Node.Attrs.(op.Axis)), false)
		r.blocks(func(first, step, columns int) {
			for j := first; j < first+columns; j++ {
				best, place := o.key(uint64(x[j])<<o.shift), 0
				for i := range r.n {
					k := o.key(uint64(x[j+i*step]) << o.shift)
					if stays := o.float && best == nan; k == best || o.float && k == nan || !stays && (k > best) == greatest {
						best, place = k, i
					}
					y[j+i*step], places[j+i*step] = x[j+place*step], int64(place)
				}
			}
		})
		return nil
	}
}
