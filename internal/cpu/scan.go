package cpu

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/running"
	"weft/internal/device"
	"weft/internal/op"
	"weft/internal/par"
)

// scanGrain is the least number of elements of a chunk.
const scanGrain = 1 << 15

// A line describes the axis of a scan in an array: outer blocks of n rows of inner elements that
// lie side by side.
type line struct {
	outer, n, inner int
	reverse         bool
}

func runningOf(shape []int, axis int, reverse bool) line {
	return line{array.Size(shape[:axis]), shape[axis], array.Size(shape[axis+1:]), reverse}
}

// blocks calls f for parts of the array on all threads. A part has some columns of one block. f
// gets the offset of the row that the scan reaches first, and the step to the next row.
func (r line) blocks(f func(first, step, columns int)) {
	r.parts(max(scanGrain/max(r.n, 1), 16), f)
}

// parts is blocks with a width of parts in columns.
func (r line) parts(width int, f func(first, step, columns int)) {
	if r.outer*r.n*r.inner == 0 {
		return
	}
	width = min(r.inner, width)
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

// elements returns the elements of a contiguous argument or result.
func elements[T any](v *array.View) []T { return unsafe.Slice((*T)(codegen.Ptr(v)), v.Size()) }

// together is the number of rows multiplied at once along the last axis. A single row would wait
// for the latency of each product.
const together = 4

type number interface{ int64 | float32 | float64 }

// intSums adds integers, where the order does not matter.
func intSums(c *device.Call) {
	a := c.Node.Attrs.(op.Scan)
	x, y := elements[int64](&c.Args[0]), elements[int64](&c.Out[0])
	r := runningOf(c.Out[0].Shape, a.Axis, a.Reverse)
	if r.inner > 1 {
		r.strips(func(first, step, columns int) {
			copy(y[first:first+columns], x[first:])
			for i := 1; i < r.n; i++ {
				at := first + i*step
				before, x, y := y[at-step:at-step+columns], x[at:at+columns], y[at:at+columns]
				for j := range y {
					y[j] = before[j] + x[j]
				}
			}
		})
		return
	}
	if len(x) == 0 {
		return
	}
	par.Run(r.outer, max(scanGrain/r.n, 1), 0, func(_, begin, end int) {
		for ; begin < end; begin++ {
			at, step, s := begin*r.n, 1, int64(0)
			if a.Reverse {
				at, step = at+r.n-1, -1
			}
			for range r.n {
				s += x[at]
				y[at] = s
				at += step
			}
		}
	})
}

// floatSums adds in the order of package running.
func floatSums[T float32 | float64](c *device.Call) {
	a := c.Node.Attrs.(op.Scan)
	r := runningOf(c.Out[0].Shape, a.Axis, a.Reverse)
	x, y, isa := elements[T](&c.Args[0]), elements[T](&c.Out[0]), isaOf(c)
	switch {
	case len(x) == 0:
	case r.inner > 1:
		r.strips(func(first, step, columns int) { running.Columns(isa, y, x, first, step, r.n, columns) })
	default:
		par.Run(r.outer, max(scanGrain/r.n, 1), 0, func(_, begin, end int) {
			running.Sums(isa, y[begin*r.n:end*r.n], x[begin*r.n:end*r.n], r.n, a.Reverse)
		})
	}
}

// strips is blocks with columns that fill cache lines, and as few parts as keep all threads busy.
// The rows of a part are read together.
func (r line) strips(f func(first, step, columns int)) {
	const most = 1 << 10 // columns, whose sums so far stay in the L1 cache
	width := (r.inner + 2*par.Threads() - 1) / (2 * par.Threads())
	r.parts(min(max((width+15)&^15, 64), most), f)
}

// products multiplies in order. float32 is multiplied in float64, and each product is rounded to
// float32.
func products[T number, A int64 | float64](c *device.Call) {
	x, y := elements[T](&c.Args[0]), elements[T](&c.Out[0])
	r := runningOf(c.Out[0].Shape, int(c.Node.Attrs.(op.Axis)), false)
	if _, same := any(T(0)).(A); same && r.inner > 1 {
		r.blocks(func(first, step, columns int) {
			copy(y[first:first+columns], x[first:])
			for i := 1; i < r.n; i++ {
				at := first + i*step
				before, x, y := y[at-step:][:columns], x[at:][:columns], y[at:][:columns]
				for j, v := range x {
					y[j] = before[j] * v
				}
			}
		})
		return
	}
	if r.inner > 1 {
		r.strips(func(first, step, columns int) {
			p := make([]A, columns)
			for j := range p {
				p[j] = 1
			}
			for at := first; at < first+r.n*step; at += step {
				x, y := x[at:][:len(p)], y[at:][:len(p)]
				for j, v := range x {
					p[j] *= A(v)
					y[j] = T(p[j])
				}
			}
		})
		return
	}
	if len(x) == 0 {
		return
	}
	par.Run(r.outer, max(scanGrain/r.n, 1), 0, func(_, begin, end int) {
		row := func(v []T, k int) []T { return v[(begin+k)*r.n:][:r.n] }
		for ; end-begin >= together; begin += together {
			x0, x1, x2, x3 := row(x, 0), row(x, 1), row(x, 2), row(x, 3)
			y0, y1, y2, y3 := row(y, 0), row(y, 1), row(y, 2), row(y, 3)
			x1, x2, x3, y0, y1, y2, y3 = x1[:len(x0)], x2[:len(x0)], x3[:len(x0)], y0[:len(x0)], y1[:len(x0)], y2[:len(x0)], y3[:len(x0)]
			p0, p1, p2, p3 := A(1), A(1), A(1), A(1)
			for i, v := range x0 {
				p0, p1, p2, p3 = p0*A(v), p1*A(x1[i]), p2*A(x2[i]), p3*A(x3[i])
				y0[i], y1[i], y2[i], y3[i] = T(p0), T(p1), T(p2), T(p3)
			}
		}
		for ; begin < end; begin++ {
			p, y := A(1), row(y, 0)
			for i, v := range row(x, 0) {
				p *= A(v)
				y[i] = T(p)
			}
		}
	})
}

// scanOf returns the routine that selects by element type: floats of 4 or 8 bytes, or integers
// of 8 bytes, signed or not.
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

// recur computes x[i] + a[i]*y[i-1], or in reverse x[i] + a[i+1]*y[i+1]. float32 is computed in
// float64, and each result is rounded to float32.
func recur[T float32 | float64](c *device.Call) {
	at := c.Node.Attrs.(op.Scan)
	x, a, y := elements[T](&c.Args[0]), elements[T](&c.Args[1]), elements[T](&c.Out[0])
	r := runningOf(c.Out[0].Shape, at.Axis, at.Reverse)
	r.strips(func(first, step, columns int) {
		var few [16]float64
		s := few[:]
		if columns > len(s) {
			s = make([]float64, columns)
		}
		for j, v := range x[first : first+columns] {
			s[j], y[first+j] = float64(v), v
		}
		factor := 0
		if at.Reverse {
			factor = -step
		}
		for i := 1; i < r.n; i++ {
			k := first + i*step
			for j := range columns {
				s[j] = float64(x[k+j]) + float64(float64(a[k+j+factor])*s[j])
				y[k+j] = T(s[j])
			}
		}
	})
}

// cumExtreme returns the routine of cumulative maxima or minima and their indices. Among equal
// elements the last counts.
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
