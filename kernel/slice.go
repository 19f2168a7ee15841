package kernel

import (
	"iter"
	"math"
	"slices"

	"weft/internal/array"
)

// A Seq is elements of an array in row-major order: what a slice of it holds. A kernel ranges
// over it, or gives it to [Sum], [Mean], [Median], [Min] or [Max]:
//
//	for v := range a.Slice(-1, 2) { ... } // the elements at offsets -1, 0 and 1
//
// A slice has no memory of its own. Compiled, bounds that are constants are part of the
// neighbourhood of a stencil; others need StencilOpts.Neighborhood.
type Seq[T any] = iter.Seq[T]

// between calls yield for the places of [lo, hi) along each axis, the last one fastest.
func between[T any](lo, hi []int, at func(index ...int) T) Seq[T] {
	return func(yield func(T) bool) {
		index := slices.Clone(lo)
		for k := range lo {
			if lo[k] >= hi[k] {
				return
			}
		}
		for yield(at(index...)) {
			k := len(index) - 1
			for index[k]++; index[k] >= hi[k]; index[k]++ {
				if k == 0 {
					return
				}
				index[k] = lo[k]
				k--
			}
		}
	}
}

// Slice returns the elements at offsets from lo to below hi.
func (a Near1[T]) Slice(lo, hi int) Seq[T] {
	return between([]int{lo}, []int{hi}, func(d ...int) T { return a.At(d[0]) })
}

// Slice returns the elements at offsets from lo to below hi along each axis.
func (a Near2[T]) Slice(lo0, hi0, lo1, hi1 int) Seq[T] {
	return between([]int{lo0, lo1}, []int{hi0, hi1}, func(d ...int) T { return a.At(d[0], d[1]) })
}

// Slice returns the elements at offsets from lo to below hi along each axis.
func (a Near3[T]) Slice(lo0, hi0, lo1, hi1, lo2, hi2 int) Seq[T] {
	return between([]int{lo0, lo1, lo2}, []int{hi0, hi1, hi2}, func(d ...int) T { return a.At(d[0], d[1], d[2]) })
}

// Slice returns the elements at offsets from lo to below hi along each axis.
func (a Near4[T]) Slice(lo0, hi0, lo1, hi1, lo2, hi2, lo3, hi3 int) Seq[T] {
	return between([]int{lo0, lo1, lo2, lo3}, []int{hi0, hi1, hi2, hi3}, func(d ...int) T { return a.At(d[0], d[1], d[2], d[3]) })
}

// Slice returns the elements at offsets from lo to below hi along each axis.
func (a Near5[T]) Slice(lo0, hi0, lo1, hi1, lo2, hi2, lo3, hi3, lo4, hi4 int) Seq[T] {
	return between([]int{lo0, lo1, lo2, lo3, lo4}, []int{hi0, hi1, hi2, hi3, hi4}, func(d ...int) T { return a.At(d[0], d[1], d[2], d[3], d[4]) })
}

// Slice returns the elements at offsets from lo to below hi along each axis.
func (a Near6[T]) Slice(lo0, hi0, lo1, hi1, lo2, hi2, lo3, hi3, lo4, hi4, lo5, hi5 int) Seq[T] {
	return between([]int{lo0, lo1, lo2, lo3, lo4, lo5}, []int{hi0, hi1, hi2, hi3, hi4, hi5}, func(d ...int) T { return a.At(d[0], d[1], d[2], d[3], d[4], d[5]) })
}

// Slice returns the elements at indices from lo to below hi.
func (a Array1[T]) Slice(lo, hi int) Seq[T] {
	return between([]int{lo}, []int{hi}, func(i ...int) T { return a.At(i[0]) })
}

// Slice returns the elements at indices from lo to below hi.
func (a Clamped1[T]) Slice(lo, hi int) Seq[T] {
	return between([]int{lo}, []int{hi}, func(i ...int) T { return a.At(i[0]) })
}

// Slice returns the elements at indices from lo to below hi.
func (a Wrapped1[T]) Slice(lo, hi int) Seq[T] {
	return between([]int{lo}, []int{hi}, func(i ...int) T { return a.At(i[0]) })
}

// Slice returns the elements at indices from lo to below hi.
func (a Zeroed1[T]) Slice(lo, hi int) Seq[T] {
	return between([]int{lo}, []int{hi}, func(i ...int) T { return a.At(i[0]) })
}

// A number is an integer or a float of a Go type.
type number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// some refuses a sequence that is nil.
func some[T any](name string, s Seq[T]) {
	if s == nil {
		array.Failf(name, "", "the sequence is nil (Slice gives one)")
	}
}

// Sum returns the sum of the elements, added in their order.
func Sum[T number](s Seq[T]) T {
	some("sum", s)
	var sum T
	for v := range s {
		sum += v
	}
	return sum
}

// Mean returns [Sum] divided by the number of elements, NaN if there are none.
func Mean[T ~float32 | ~float64](s Seq[T]) T {
	some("mean", s)
	n := 0
	var sum T
	for v := range s {
		sum += v
		n++
	}
	return sum / T(n)
}

// Min returns the least element, 0 if there are none. NaN counts as the least.
func Min[T number](s Seq[T]) T { return extreme(s, func(x, y T) T { return min(x, y) }) }

// Max returns the greatest element, 0 if there are none. NaN counts as the greatest.
func Max[T number](s Seq[T]) T { return extreme(s, func(x, y T) T { return max(x, y) }) }

func extreme[T number](s Seq[T], of func(x, y T) T) T {
	some("extreme", s)
	var most T
	first := true
	for v := range s {
		if !first {
			v = of(most, v)
		}
		most, first = v, false
	}
	return most
}

// Median returns the middle element in order, and the mean of the two middle ones if their
// number is even. It is NaN if there are none, or if one is NaN.
func Median[T ~float32 | ~float64](s Seq[T]) T {
	some("median", s)
	v := slices.Sorted(s) // NaN before other numbers
	n := len(v)
	if n == 0 || v[0] != v[0] {
		return T(math.NaN())
	}
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) * 0.5
}
