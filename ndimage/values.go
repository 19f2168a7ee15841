package ndimage

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// Histogram counts the elements of regions in bins of equal width from low to high: the last bin holds both of its edges,
// elements outside are in none. The result is Int64, [bins] without Index, else [labels, bins]. It panics with
// *[weft.Error] where Labels do not fit the input, for bins below 1, and limits that are not finite and ascending.
func Histogram(x *weft.Tensor, low, high float64, bins int, opts ...RegionOpts) *weft.Tensor {
	const name = "ndimage.histogram"
	defer array.Named(name).End()
	r := array.Options(name, opts).regions(name, ordered(name, x))
	finite(name, "low", []float64{low})
	finite(name, "high", []float64{high})
	if low >= high {
		array.Failf(name, "high", "is %g, want more than low, which is %g", high, low)
	}
	if bins < 1 {
		array.Failf(name, "bins", "is %d, want at least 1", bins)
	}
	array.CheckShape(name, []int{r.count, bins}, weft.Int64)
	if r.count == 0 {
		return x.Device().ZerosOf(weft.Int64, 0, bins)
	}
	points := weft.Stack([]*weft.Tensor{r.at.To(weft.Float64), r.x.To(weft.Float64)}, 1)
	counts, _ := weft.HistogramDD(points, weft.HistogramDDOpts{Bins: []int{r.count, bins}, Ranges: [][2]float64{{-0.5, float64(r.count) - 0.5}, {low, high}}})
	if r.index == nil {
		return counts.Reshape(bins)
	}
	return r.result(counts)
}

// ValueOpts are the options of [ValueIndices].
type ValueOpts struct {
	Ignore *int64 // a value that is left out
}

// ValueIndices returns where each value of an array of integers occurs: a vector of indices for each axis, Int64, in
// row-major order. It reads the array, so that it is refused in compiled functions. It panics with *[weft.Error] for
// other element types, and for values above 2^63-1.
func ValueIndices(x *weft.Tensor, opts ...ValueOpts) map[int64][]*weft.Tensor {
	const name = "ndimage.value_indices"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	(*core.Tensor)(x).CheckArgument(name, "x")
	if !x.DType().Integer() {
		array.Failf(name, "x", "is %s, want integers", x.DType())
	}
	data := weft.Data[int64](x.To(weft.Int64).Contiguous())
	counts := map[int64]int{}
	for i, v := range data {
		if v < 0 && x.DType() == weft.Uint64 {
			array.Failf(name, "x", "has %d at place %d, more than %d", uint64(v), i, math.MaxInt64)
		}
		counts[v]++
	}
	if o.Ignore != nil {
		delete(counts, *o.Ignore)
	}
	rank := x.Rank()
	lists := make(map[int64][][]int64, len(counts))
	for v, n := range counts {
		lists[v] = make([][]int64, rank)
		for a := range rank {
			lists[v][a] = make([]int64, 0, n)
		}
	}
	shape, at := x.Shape(), make([]int, rank)
	for _, v := range data {
		if list := lists[v]; list != nil {
			for a, p := range at {
				list[a] = append(list[a], int64(p))
			}
		}
		for a := rank - 1; a >= 0; a-- {
			if at[a]++; at[a] < shape[a] {
				break
			}
			at[a] = 0
		}
	}
	out := make(map[int64][]*weft.Tensor, len(lists))
	for v, list := range lists {
		out[v] = make([]*weft.Tensor, rank)
		for a, places := range list {
			out[v][a] = weft.FromSlice(places, len(places)).On(x.Device())
		}
	}
	return out
}
