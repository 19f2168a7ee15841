package running

import (
	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/par"
)

// Grain is the least number of elements of a chunk.
const Grain = 1 << 15

// Lines describe the axis of a scan in an array: outer blocks of n rows of inner elements that
// lie side by side.
type Lines struct {
	Outer, N, Inner int
	Reverse         bool
}

// Along returns the lines along an axis of an array.
func Along(shape []int, axis int, reverse bool) Lines {
	return Lines{array.Size(shape[:axis]), shape[axis], array.Size(shape[axis+1:]), reverse}
}

// Blocks calls f for parts of the array on all threads. A part has some columns of one block. f
// gets the offset of the row that the scan reaches first, and the step to the next row.
func (r Lines) Blocks(f func(first, step, columns int)) {
	r.parts(max(Grain/max(r.N, 1), 16), f)
}

// parts is Blocks with a width of parts in columns.
func (r Lines) parts(width int, f func(first, step, columns int)) {
	if r.Outer*r.N*r.Inner == 0 {
		return
	}
	width = min(r.Inner, width)
	parts := (r.Inner + width - 1) / width
	par.Run(r.Outer*parts, max(Grain/(r.N*width), 1), 0, func(_, begin, end int) {
		for u := begin; u < end; u++ {
			lo := u % parts * width
			first, step := u/parts*r.N*r.Inner+lo, r.Inner
			if r.Reverse {
				first, step = first+(r.N-1)*r.Inner, -r.Inner
			}
			f(first, step, min(width, r.Inner-lo))
		}
	})
}

// together is the number of rows multiplied at once along the last axis. A single row would wait
// for the latency of each product.
const together = 4

// IntSums adds integers, where the order does not matter.
func (r Lines) IntSums(y, x []int64) {
	if r.Inner > 1 {
		r.strips(func(first, step, columns int) {
			copy(y[first:first+columns], x[first:])
			for i := 1; i < r.N; i++ {
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
	par.Run(r.Outer, max(Grain/r.N, 1), 0, func(_, begin, end int) {
		for ; begin < end; begin++ {
			at, step, s := begin*r.N, 1, int64(0)
			if r.Reverse {
				at, step = at+r.N-1, -1
			}
			for range r.N {
				s += x[at]
				y[at] = s
				at += step
			}
		}
	})
}

// FloatSums adds in the order of the package.
func FloatSums[T float32 | float64](isa jit.ISA, r Lines, y, x []T) {
	switch {
	case len(x) == 0:
	case r.Inner > 1:
		r.strips(func(first, step, columns int) { Columns(isa, y, x, first, step, r.N, columns) })
	default:
		par.Run(r.Outer, max(Grain/r.N, 1), 0, func(_, begin, end int) {
			Sums(isa, y[begin*r.N:end*r.N], x[begin*r.N:end*r.N], r.N, r.Reverse)
		})
	}
}

// strips is Blocks with columns that fill cache lines, and as few parts as keep all threads busy.
// The rows of a part are read together.
func (r Lines) strips(f func(first, step, columns int)) {
	const most = 1 << 10 // columns, whose sums so far stay in the L1 cache
	width := (r.Inner + 2*par.Threads() - 1) / (2 * par.Threads())
	r.parts(min(max((width+15)&^15, 64), most), f)
}

// Products multiplies in order. float32 is multiplied in float64, and each product is rounded to
// float32.
func Products[T int64 | float32 | float64, A int64 | float64](r Lines, y, x []T) {
	if _, same := any(T(0)).(A); same && r.Inner > 1 {
		r.Blocks(func(first, step, columns int) {
			copy(y[first:first+columns], x[first:])
			for i := 1; i < r.N; i++ {
				at := first + i*step
				before, x, y := y[at-step:][:columns], x[at:][:columns], y[at:][:columns]
				for j, v := range x {
					y[j] = before[j] * v
				}
			}
		})
		return
	}
	if r.Inner > 1 {
		r.strips(func(first, step, columns int) {
			p := make([]A, columns)
			for j := range p {
				p[j] = 1
			}
			for at := first; at < first+r.N*step; at += step {
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
	par.Run(r.Outer, max(Grain/r.N, 1), 0, func(_, begin, end int) {
		row := func(v []T, k int) []T { return v[(begin+k)*r.N:][:r.N] }
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

// Recur computes x[i] + a[i]*y[i-1], or in reverse x[i] + a[i+1]*y[i+1]. float32 is computed in
// float64, and each result is rounded to float32.
func Recur[T float32 | float64](r Lines, y, x, a []T) {
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
		if r.Reverse {
			factor = -step
		}
		for i := 1; i < r.N; i++ {
			k := first + i*step
			for j := range columns {
				s[j] = float64(x[k+j]) + float64(float64(a[k+j+factor])*s[j])
				y[k+j] = T(s[j])
			}
		}
	})
}
