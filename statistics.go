package weft

import (
	"math"
	"slices"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// CountNonZero counts the elements that are not 0 over axes, all if none is given: int64.
// NaN is not 0.
func (t *Tensor) CountNonZero(axes ...int) *Tensor { return t.reduce(op.CountNonZero, false, axes) }

// BinCount counts how often each integer from 0 to the greatest element of t occurs: the
// result is int64 and has minSize elements or more. t holds integers that are not negative,
// of any shape. With weights, floats of t's shape, BinCount adds up the weights of equal elements
// instead, in row-major order, and gradients go to the weights; nil means none.
func (t *Tensor) BinCount(weights *Tensor, minSize int) *Tensor {
	defer array.Named("bincount").End()
	t.c().Check("bincount")
	if weights != nil {
		weights.c().Check("bincount")
	}
	if d := t.v().DType; !d.Integer() {
		array.Failf("bincount", "", "takes integers, got %s", d)
	}
	if minSize < 0 {
		array.Failf("bincount", "minSize", "%d is negative", minSize)
	}
	x, n := core.Places(t.c()).To(Int64).Reshape(t.Size()), minSize
	if t.Size() > 0 {
		if weights != nil { // index_add counts negative places from the back
			if least := (*Tensor)(x).Min().ItemInt(); least < 0 {
				array.Failf("bincount", "", "takes integers that are not negative, got %d", least)
			}
		}
		greatest := (*Tensor)(x).Max().ItemInt()
		if greatest >= math.MaxInt/8 {
			array.Failf("bincount", "", "%d is too large to count up to", greatest)
		}
		n = max(n, int(greatest)+1)
	}
	return (*Tensor)(x).binned(weights, t.v().Shape, n)
}

// binned counts or adds up the weights of integers from 0 to n-1.
func (t *Tensor) binned(weights *Tensor, shape []int, n int) *Tensor {
	if weights == nil {
		array.CheckShape("bincount", []int{n}, Int64)
		return (*Tensor)(core.WithAttrs(op.BinCount, op.Count(n), t.c()))
	}
	if !weights.v().DType.Float() || !array.Equal(weights.v().Shape, shape) {
		array.Failf("bincount", "weights", "are %s, want floats of shape %s", array.TypeString(weights.v().DType, weights.v().Shape), array.ShapeString(shape))
	}
	zeros := core.Full("bincount", core.Whole(0), t.v().Store.Device, weights.v().DType, []int{n})
	return (*Tensor)(zeros).IndexAdd(0, t, weights.Reshape(t.Size()))
}

// HistogramOpts are the options of [Tensor.Histogram].
type HistogramOpts struct {
	Bins     *int     // of equal width, unless there are Edges; 1 or more, nil means 10
	Min, Max *float64 // where the bins begin and end; nil means at the least and the greatest element
	Edges    *Tensor  // of the bins, one more than these, in ascending order
	Weights  *Tensor  // of t's shape, to be added up instead of counting
	Density  bool     // divide by the total and by the width of each bin
}

// Histogram counts, as NumPy does, how many elements of t, a tensor of numbers of any
// shape, are in each of some bins that lie side by side, and returns the counts and the edges
// of the bins. A bin holds its lower edge; the last one holds both. Elements outside and
// NaN are in none. Counts are int64; with weights or as densities they are floats. Edges
// have t's type, float64 if that is not a float. Where elements that are not finite have to say
// where bins begin it panics with *Error.
func (t *Tensor) Histogram(opts ...HistogramOpts) (counts, edges *Tensor) {
	defer array.Named("histogram").End()
	o := array.Options("histogram", opts)
	t.c().Check("histogram")
	if o.Weights != nil {
		o.Weights.c().Check("histogram")
	}
	x, d := t.Reshape(t.Size()), t.v().DType
	switch {
	case !d.Float():
		d = Float64
		x = x.To(d)
	case d.Size() < 4:
		x = x.To(Float32)
	}
	edges = o.Edges
	var last float64 // edge
	if edges == nil {
		edges, last = o.even(x)
		if x.v().DType == Float32 {
			last = float64(float32(last))
		}
	} else {
		edges.c().Check("histogram")
		if r := edges.Rank(); r != 1 || edges.Size() < 2 {
			array.Failf("histogram", "edges", "have shape %s, want one dimension with two elements or more", array.ShapeString(edges.v().Shape))
		}
		edges = edges.To(x.v().DType)
		if n := edges.Size(); !edges.Slice(Range(0, n-1)).Le(edges.Slice(Range(1, n))).All().bool() {
			array.Failf("histogram", "edges", "do not ascend")
		}
		last = edges.Slice(Index(-1)).Item()
	}
	n := edges.Size() - 1
	// The next number behind the last edge ends the last bin.
	behind := math.Nextafter(last, math.Inf(1))
	switch {
	case math.IsInf(last, 1):
		behind = math.NaN()
	case x.v().DType == Float32:
		behind = float64(math.Nextafter32(float32(last), float32(math.Inf(1))))
	}
	ends := Cat([]*Tensor{edges.Slice(Range(0, n)), (*Tensor)(core.Full("histogram", numberOperand("histogram", behind), x.v().Store.Device, x.v().DType, []int{1}))}, 0)
	counts = (*Tensor)(ends.SearchSorted(x, SearchOpts{Right: true}).binned(o.Weights, t.v().Shape, n+2).Slice(Range(1, n+1)).c().Own())
	if o.Density {
		if !counts.v().DType.Float() {
			counts = counts.To(x.v().DType)
		}
		width := edges.Slice(Range(1, n+1)).Sub(edges.Slice(Range(0, n)))
		counts = counts.Div(counts.Sum()).Div(width.To(counts.v().DType))
	}
	return counts, edges.To(d)
}

// even makes the edges of bins of equal width for x, and says what the last one is.
func (o *HistogramOpts) even(x *Tensor) (edges *Tensor, last float64) {
	bins := array.Or(o.Bins, 10)
	if bins < 1 {
		array.Failf("histogram", "Bins", "are %d, want 1 or more", bins)
	}
	lo, hi := array.Or(o.Min, 0), array.Or(o.Max, 1)
	if x.Size() > 0 && o.Min == nil {
		lo = x.Min().Item()
	}
	if x.Size() > 0 && o.Max == nil {
		hi = x.Max().Item()
	}
	if !(lo <= hi) || lo-lo != 0 || hi-hi != 0 {
		array.Failf("histogram", "", "bins cannot go from %v to %v", lo, hi)
	}
	if lo == hi {
		lo, hi = lo-0.5, hi+0.5
	}
	n := array.AddSizes("histogram", bins, 1)
	e := filled("histogram", x.v().Store.Device, Float64, core.CheckHeap("histogram", n, Float64), func(data []float64) {
		step := (hi - lo) / float64(bins)
		for i := range data {
			data[i] = lo + float64(float64(i)*step)
		}
		data[bins] = hi
	})
	return e.To(x.v().DType), hi
}

// bool reads a Bool tensor of one element.
func (t *Tensor) bool() bool { return t.Item() != 0 }

// Median is the middle of the sorted elements over axes, over all if none is given. Of an even
// number it is the mean of the two in the middle, as in NumPy. PyTorch returns the lower one, which
// [Tensor.Quantiles] gives. NaN if one is, and of -Inf and +Inf. It takes floats; of float16 and
// bfloat16 the mean is rounded once.
func (t *Tensor) Median(axes ...int) *Tensor { return t.quantile("median", 0.5, axes) }

// Quantile is the value below which a part q, from 0 to 1, of the elements lies, over axes or over
// all if none is given. Between two sorted elements it interpolates linearly; between a number and
// an infinity that is infinite. NaN if one is. It takes floats and has gradients.
func (t *Tensor) Quantile(q float64, axes ...int) *Tensor { return t.quantile("quantile", q, axes) }

// Percentile is [Tensor.Quantile] of p hundredths, p from 0 to 100. It reduces the given axes,
// which may count from the back, or all if none is given; the result does not have them. Types,
// NaN and errors are as for Quantile.
func (t *Tensor) Percentile(p float64, axes ...int) *Tensor {
	if !(p >= 0 && p <= 100) {
		array.Failf("percentile", "p", "%v is not from 0 to 100", p)
	}
	return t.quantile("percentile", p/100, axes)
}

func (t *Tensor) quantile(opName string, q float64, axes []int) *Tensor {
	y := t.quantiles(opName, []float64{q}, QuantileOpts{Axes: axes})
	return (*Tensor)(y.Reshape(y.v().Shape[1:]...).c().Own())
}

// QuantileOpts are the options of [Tensor.Quantiles].
type QuantileOpts struct {
	Axes []int // over which; none: all
	Keep bool  // these axes stay, with size 1
	// Method says what is between two elements in order: "linear", which "" is too,
	// "lower", "higher", "midpoint" or "nearest" (of equally near ones the even place).
	Method string
}

// Quantiles returns several quantiles, which are along the first axis of the result; see
// [Tensor.Quantile].
func (t *Tensor) Quantiles(q []float64, opts ...QuantileOpts) *Tensor {
	defer array.Named("quantiles").End()
	return t.quantiles("quantile", q, array.Options("quantile", opts))
}

func (t *Tensor) quantiles(opName string, q []float64, o QuantileOpts) *Tensor {
	t.c().Check(opName)
	if !t.v().DType.Float() {
		array.Failf(opName, "", "takes floats, got %s: convert with To first", t.v().DType)
	}
	axes := array.Axes(opName, o.Axes, t.Rank())
	shape, order := []int{len(q)}, []int{}
	n := 1
	for a, size := range t.v().Shape {
		if slices.Contains(axes, a) {
			n *= size
			if size = 1; !o.Keep {
				continue
			}
		} else {
			order = append(order, a)
		}
		shape = append(shape, size)
	}
	if n == 0 {
		array.Failf(opName, "", "has no value over no elements: shape %s, axes %s", array.ShapeString(t.v().Shape), array.ShapeString(axes))
	}
	lower, upper, weight := make([]int, len(q)), make([]int, len(q)), make([]float64, len(q))
	for i, q := range q {
		if !(q >= 0 && q <= 1) {
			array.Failf(opName, "q", "%v is not from 0 to 1", q)
		}
		at := q * float64(n-1)
		low := math.Floor(at)
		high := math.Ceil(at)
		switch o.Method {
		case "", "linear":
			weight[i] = at - low
		case "lower":
			high = low
		case "higher":
			low = high
		case "midpoint":
			if high > low {
				weight[i] = 0.5
			}
		case "nearest":
			low = math.RoundToEven(at)
			high = low
		default:
			array.Failf(opName, "method", "%q is not linear, lower, higher, midpoint or nearest", o.Method)
		}
		lower[i], upper[i] = int(low), int(high)
	}
	// The last place is for NaN, which is the greatest.
	places := op.Ranks{Axis: 1, At: append(slices.Concat(lower, upper), n-1)}
	some := core.ApplyAll(op.KthValue, places, core.Operand{T: t.Permute(append(order, axes...)...).Reshape(t.Size()/n, n).c()})[0]
	low, high, greatest := (*Tensor)(some).Slice(All, Range(0, len(q))), (*Tensor)(some).Slice(All, Range(len(q), 2*len(q))), (*Tensor)(some).Slice(All, Range(2*len(q), End))
	d := t.v().DType
	if d.Half() { // rounded once, at the end
		low, high, greatest, d = low.To(Float32), high.To(Float32), greatest.To(Float32), Float32
	}
	w := t.Device().From(weight).To(d)
	y := low.Lerp(high, w)
	// The difference of the two may be infinite: a mean of infinities is one, or NaN of both signs.
	y = Where(y.IsFinite(), y, Where(w.Eq(0), low, low.Mul(w.Neg().Add(1)).Add(high.Mul(w))))
	// Between equal infinities, and of an element and itself, is nothing.
	y = Where(low.Eq(high), low, y)
	y = Where(greatest.IsNaN(), greatest, y)
	return (*Tensor)(y.To(t.v().DType).T().Reshape(shape...).c().Own())
}
