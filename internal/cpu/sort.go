package cpu

import (
	"cmp"
	"slices"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/gen"
	"weft/internal/device"
	"weft/internal/op"
	"weft/internal/par"
)

// sortGrain is the number of elements that are worth a chunk of their own.
const sortGrain = 1 << 12

// sortAlong sorts the elements along an axis and gives the places where they were.
func sortAlong(c *device.Call) error {
	switch c.Out[0].DType {
	case array.Bool, array.Uint8:
		sortOf[uint8](c)
	case array.Int32:
		sortOf[int32](c)
	case array.Int64:
		sortOf[int64](c)
	case array.Float32:
		sortOf[float32](c)
	case array.Float64:
		sortOf[float64](c)
	default:
		return array.Errorf("sort", "", "is not defined for %s", c.Out[0].DType)
	}
	return nil
}

// A placed is an element and its place.
type placed[T any] struct {
	x  T
	at int64
}

func sortOf[T uint8 | int32 | int64 | float32 | float64](c *device.Call) {
	a := c.Node.Attrs.(op.Sorting)
	shape := c.Out[0].Shape
	n := shape[a.Axis]
	outer, inner := array.Size(shape[:a.Axis]), array.Size(shape[a.Axis+1:])
	size := outer * n * inner
	if size == 0 {
		return
	}
	src := unsafe.Slice((*T)(gen.Ptr(&c.Args[0])), size)
	values := unsafe.Slice((*T)(gen.Ptr(&c.Out[0])), size)
	places := unsafe.Slice((*int64)(gen.Ptr(&c.Out[1])), size)
	// Equal elements are told apart by their places, so that the order is the same
	// whatever the algorithm.
	order := func(p, q placed[T]) int {
		k := cmp.Compare(p.x, q.x)
		if p.x != p.x || q.x != q.x { // NaN is the least to Go, the greatest here
			k = -k
		}
		if a.Descending {
			k = -k
		}
		if k == 0 {
			k = cmp.Compare(p.at, q.at)
		}
		return k
	}
	par.Run(outer*inner, max(sortGrain/n, 1), 0, func(_, begin, end int) {
		row := make([]placed[T], n)
		for u := begin; u < end; u++ {
			first := u/inner*n*inner + u%inner
			for i := range row {
				row[i] = placed[T]{src[first+i*inner], int64(i)}
			}
			slices.SortFunc(row, order)
			for i, p := range row {
				values[first+i*inner], places[first+i*inner] = p.x, p.at
			}
		}
	})
}
