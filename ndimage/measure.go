package ndimage

import (
	"cmp"
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// RegionOpts say which elements are measured. Without Labels that is the whole array, without Index all elements
// whose label is above 0, together: the result has shape []. With Index it has an element for each of its labels.
type RegionOpts struct {
	Labels *weft.Tensor // integers of input's shape
	Index  []int        // the labels that are measured, each by itself
}

// regions says for each element of the input, flattened, which region it belongs to.
type regions struct {
	x     *weft.Tensor // the elements, flattened
	at    *weft.Tensor // the region of each, Int64: count for none
	count int          // of regions
	index []int        // for each result its region; nil for one result of shape []
}

// regions checks the arguments.
func (o RegionOpts) regions(name string, x *weft.Tensor) regions {
	flat := input(name, x).Reshape(-1)
	r := regions{x: flat, count: 1}
	l := o.Labels
	if l == nil {
		if o.Index != nil {
			array.Failf(name, "Index", "is given without Labels")
		}
		r.at = x.Device().ZerosOf(weft.Int64, flat.Size())
		return r
	}
	(*core.Tensor)(l).CheckArgument(name, "Labels")
	if !l.DType().Integer() && l.DType() != weft.Bool {
		array.Failf(name, "Labels", "is %s, want integers", l.DType())
	}
	if !array.Equal(l.Shape(), x.Shape()) {
		array.Failf(name, "Labels", "has shape %s, input %s", array.ShapeString(l.Shape()), array.ShapeString(x.Shape()))
	}
	l = l.Reshape(-1).To(weft.Int64)
	if o.Index == nil {
		r.at = l.Le(0).To(weft.Int64)
		return r
	}
	sorted := make([]int64, len(o.Index))
	for i, v := range o.Index {
		sorted[i] = int64(v)
	}
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	r.index = make([]int, len(o.Index))
	for i, v := range o.Index {
		r.index[i], _ = slices.BinarySearch(sorted, int64(v))
	}
	if r.count = len(sorted); r.count == 0 {
		r.at = l.Mul(0)
		return r
	}
	s := weft.FromSlice(sorted, len(sorted)).On(x.Device())
	at := s.SearchSorted(l).Clamp(0, r.count-1)
	r.at = weft.Where(s.IndexSelect(0, at).Eq(l), at, r.count)
	return r
}

// result returns values of regions as the function's result.
func (r regions) result(values *weft.Tensor) *weft.Tensor {
	if r.index == nil {
		return values.Slice(weft.Range(0, 1)).Reshape()
	}
	at := make([]int64, len(r.index))
	for i, v := range r.index {
		at[i] = int64(v)
	}
	return values.IndexSelect(0, weft.FromSlice(at, len(at)).On(values.Device()))
}

// sums adds up elements of regions.
func (r regions) sums(x *weft.Tensor) *weft.Tensor {
	return x.Device().ZerosOf(x.DType(), r.count+1).ScatterAdd(0, r.at, x)
}

// wide returns the elements in the type that sums have: float64, or complex128.
func (r regions) wide() *weft.Tensor {
	if r.x.DType().Complex() {
		return r.x.To(weft.Complex128)
	}
	return r.x.To(weft.Float64)
}

// counts returns how many elements regions have.
func (r regions) counts() *weft.Tensor { return r.sums(r.x.Device().OnesOf(weft.Float64, r.x.Size())) }

// SumLabels returns the sums of elements of regions, as Float64, or Complex128 of complex numbers. It has a
// gradient. It panics with *[weft.Error] where Labels do not fit the input.
func SumLabels(x *weft.Tensor, opts ...RegionOpts) *weft.Tensor {
	const name = "ndimage.sum_labels"
	defer array.Named(name).End()
	r := array.Options(name, opts).regions(name, x)
	return r.result(r.sums(r.wide()))
}

// Mean returns the means of elements of regions: NaN of empty ones. See [SumLabels].
func Mean(x *weft.Tensor, opts ...RegionOpts) *weft.Tensor {
	const name = "ndimage.mean"
	defer array.Named(name).End()
	r := array.Options(name, opts).regions(name, x)
	return r.result(r.sums(r.wide()).Div(r.counts()))
}

// variance returns the mean squares of deviations from the means of regions.
func (r regions) variance() *weft.Tensor {
	x, n := r.wide(), r.counts()
	d := x.Sub(r.sums(x).Div(n).IndexSelect(0, r.at))
	if d.DType().Complex() {
		d = d.Abs()
	}
	return r.result(r.sums(d.Mul(d)).Div(n))
}

// Variance returns the variances of elements of regions, which are mean squares: NaN of empty ones. See [SumLabels].
func Variance(x *weft.Tensor, opts ...RegionOpts) *weft.Tensor {
	const name = "ndimage.variance"
	defer array.Named(name).End()
	return array.Options(name, opts).regions(name, x).variance()
}

// StandardDeviation returns the roots of [Variance].
func StandardDeviation(x *weft.Tensor, opts ...RegionOpts) *weft.Tensor {
	const name = "ndimage.standard_deviation"
	defer array.Named(name).End()
	return array.Options(name, opts).regions(name, x).variance().Sqrt()
}

// CenterOfMass returns the means of indices of regions, weighted by elements: Float64 [rank], or [labels, rank]
// with Index. See [SumLabels].
func CenterOfMass(x *weft.Tensor, opts ...RegionOpts) *weft.Tensor {
	const name = "ndimage.center_of_mass"
	defer array.Named(name).End()
	r := array.Options(name, opts).regions(name, x)
	if r.x.DType().Complex() {
		array.Failf(name, "x", "is %s, want real numbers", r.x.DType())
	}
	shape, w := x.Shape(), r.wide()
	mass := r.sums(w)
	var parts []*weft.Tensor
	for i, n := range shape {
		to := make([]int, len(shape))
		for k := range to {
			to[k] = 1
		}
		to[i] = n
		places := x.Device().ArangeOf(weft.Float64, n).Reshape(to...).Expand(shape...).Reshape(-1)
		parts = append(parts, r.result(r.sums(w.Mul(places)).Div(mass)))
	}
	if parts == nil {
		array.Failf(name, "x", "has no axes")
	}
	return weft.Stack(parts, -1)
}

// firstExtremes returns the places of the first least and greatest elements of regions, the first NaN for both, and
// len(x) for regions without elements.
func firstExtremes[T cmp.Ordered](x []T, at []int64, count int) (least, most []int64) {
	least, most = make([]int64, count+1), make([]int64, count+1)
	for k := range least {
		least[k], most[k] = int64(len(x)), int64(len(x))
	}
	for i, k := range at {
		v := x[i]
		if l := least[k]; l == int64(len(x)) || v < x[l] || v != v && x[l] == x[l] {
			least[k] = int64(i)
		}
		if m := most[k]; m == int64(len(x)) || v > x[m] || v != v && x[m] == x[m] {
			most[k] = int64(i)
		}
	}
	return least[:count], most[:count]
}

// extremes returns firstExtremes in the order of results.
func (r regions) extremes() (least, most []int64) {
	at := weft.Data[int64](r.at.Contiguous())
	switch x := r.x.Detach(); {
	case x.DType() == weft.Uint64:
		least, most = firstExtremes(weft.Data[uint64](x.Contiguous()), at, r.count)
	case x.DType().Integer():
		least, most = firstExtremes(weft.Data[int64](x.To(weft.Int64).Contiguous()), at, r.count)
	default:
		least, most = firstExtremes(weft.Data[float64](x.To(weft.Float64).Contiguous()), at, r.count)
	}
	return r.picked(least), r.picked(most)
}

// picked returns what belongs to the results, of what belongs to the regions.
func (r regions) picked(of []int64) []int64 {
	if r.index == nil {
		return of
	}
	out := make([]int64, len(r.index))
	for i, k := range r.index {
		out[i] = of[k]
	}
	return out
}

// Minimum returns the least elements of regions, in the input's type: 0 of empty ones, NaN of regions with a NaN. It has a
// gradient, to the first least element. It reads the elements, so that it is refused in compiled functions.
func Minimum(x *weft.Tensor, opts ...RegionOpts) *weft.Tensor {
	low, _, _, _ := extrema("ndimage.minimum", x, opts)
	return low
}

// Maximum returns the greatest elements of regions. See [Minimum].
func Maximum(x *weft.Tensor, opts ...RegionOpts) *weft.Tensor {
	_, high, _, _ := extrema("ndimage.maximum", x, opts)
	return high
}

// MinimumPosition returns the indices of the first least element of each region: a list for each label of Index, or
// one; nil for empty ones. See [Minimum].
func MinimumPosition(x *weft.Tensor, opts ...RegionOpts) [][]int {
	_, _, at, _ := extrema("ndimage.minimum_position", x, opts)
	return at
}

// MaximumPosition returns the indices of the first greatest element of each region. See [MinimumPosition].
func MaximumPosition(x *weft.Tensor, opts ...RegionOpts) [][]int {
	_, _, _, at := extrema("ndimage.maximum_position", x, opts)
	return at
}

// Extrema returns what [Minimum], [Maximum], [MinimumPosition] and [MaximumPosition] return.
func Extrema(x *weft.Tensor, opts ...RegionOpts) (minima, maxima *weft.Tensor, minPositions, maxPositions [][]int) {
	return extrema("ndimage.extrema", x, opts)
}

func extrema(name string, x *weft.Tensor, opts []RegionOpts) (low, high *weft.Tensor, lowAt, highAt [][]int) {
	defer array.Named(name).End()
	ordered(name, x)
	r := array.Options(name, opts).regions(name, x)
	least, most := r.extremes()
	shape, size := x.Shape(), x.Size()
	all := weft.Cat([]*weft.Tensor{r.x, x.Device().ZerosOf(x.DType(), 1)}, 0) // 0 for regions without elements
	read := func(at []int64) (values *weft.Tensor, places [][]int) {
		values = all.IndexSelect(0, weft.FromSlice(at, len(at)).On(x.Device()))
		if r.index == nil {
			values = values.Reshape()
		}
		places = make([][]int, len(at))
		for i, k := range at {
			if k < int64(size) {
				places[i] = unravel(shape, int(k))
			}
		}
		return values, places
	}
	low, lowAt = read(least)
	high, highAt = read(most)
	return low, high, lowAt, highAt
}

// Median returns the medians of regions as Float64: the mean of the two in the middle of an even number of elements,
// NaN of regions that are empty or have a NaN. It reads the elements, so that it is refused in compiled functions; it has no gradient.
func Median(x *weft.Tensor, opts ...RegionOpts) *weft.Tensor {
	const name = "ndimage.median"
	defer array.Named(name).End()
	ordered(name, x)
	r := array.Options(name, opts).regions(name, x)
	values := make([][]float64, r.count+1)
	data := weft.Data[float64](r.wide().Detach().Contiguous())
	for i, k := range weft.Data[int64](r.at.Contiguous()) {
		values[k] = append(values[k], data[i])
	}
	medians := make([]float64, r.count+1)
	for k, v := range values[:r.count] {
		slices.Sort(v) // NaN first
		switch n := len(v); {
		case n == 0 || v[0] != v[0]:
			medians[k] = math.NaN()
		default:
			medians[k] = (v[(n-1)/2] + v[n/2]) / 2
		}
	}
	return r.result(weft.FromSlice(medians, len(medians)).On(x.Device()))
}
