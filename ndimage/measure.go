package ndimage

import (
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
func (r regions) counts() *weft.Tensor { return r.sums(weft.OnesLike(r.x).To(weft.Float64)) }

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
		array.Failf(name, "input", "is %s, want real numbers", r.x.DType())
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
		array.Failf(name, "input", "has no axes")
	}
	return weft.Stack(parts, -1)
}

// An extremum is what is known of a region's elements.
type extremum struct {
	values      []float64
	least, most int // places of the first ones
}

// gathered returns the elements of each region and the places of extremes, in the order of results.
func (r regions) gathered(name string) []extremum {
	if r.x.DType().Complex() {
		array.Failf(name, "input", "is %s, whose elements have no order", r.x.DType())
	}
	at, x := weft.Data[int64](r.at.Contiguous()), weft.Data[float64](r.wide().Contiguous())
	all := make([]extremum, r.count+1)
	for i := range all {
		all[i] = extremum{least: -1, most: -1}
	}
	for i, k := range at {
		e := &all[k]
		if e.values = append(e.values, x[i]); e.least < 0 || x[i] < x[e.least] {
			e.least = i
		}
		if e.most < 0 || x[i] > x[e.most] {
			e.most = i
		}
	}
	if r.index == nil {
		return all[:1]
	}
	out := make([]extremum, len(r.index))
	for i, k := range r.index {
		out[i] = all[k]
	}
	return out
}

// ordered returns f of each region in the element type of the input, or in d if that is not Invalid.
func (r regions) ordered(es []extremum, d weft.DType, f func(e extremum) float64) *weft.Tensor {
	out := make([]float64, len(es))
	for i, e := range es {
		if len(e.values) > 0 {
			out[i] = f(e)
		}
	}
	t := weft.FromSlice(out, len(out)).To(d)
	if r.index == nil {
		t = t.Reshape()
	}
	return t.On(r.x.Device())
}

// Minimum returns the least elements of regions, in the input's type: 0 of empty ones. It reads the elements, so that it
// is refused in compiled functions; it has no gradient.
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
	r := array.Options(name, opts).regions(name, x)
	es, d, shape := r.gathered(name), x.DType(), x.Shape()
	all := weft.Data[float64](r.wide().Contiguous())
	low = r.ordered(es, d, func(e extremum) float64 { return all[e.least] })
	high = r.ordered(es, d, func(e extremum) float64 { return all[e.most] })
	for _, e := range es {
		if e.least < 0 {
			lowAt, highAt = append(lowAt, nil), append(highAt, nil)
			continue
		}
		lowAt, highAt = append(lowAt, unravel(shape, e.least)), append(highAt, unravel(shape, e.most))
	}
	return low, high, lowAt, highAt
}

// Median returns the medians of regions as Float64: the mean of the two in the middle of an even number of elements,
// NaN of empty ones. See [Minimum].
func Median(x *weft.Tensor, opts ...RegionOpts) *weft.Tensor {
	const name = "ndimage.median"
	defer array.Named(name).End()
	r := array.Options(name, opts).regions(name, x)
	es := r.gathered(name)
	for i := range es {
		if len(es[i].values) == 0 {
			es[i].values = []float64{math.NaN()}
		}
	}
	return r.ordered(es, weft.Float64, func(e extremum) float64 {
		v := slices.Clone(e.values)
		slices.Sort(v)
		return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	})
}
