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

// CountNonZeroKeep is [Tensor.CountNonZero] whose result keeps the reduced axes with size 1, so that
// it broadcasts against t: NumPy's keepdims. It panics as CountNonZero does.
func (t *Tensor) CountNonZeroKeep(axes ...int) *Tensor { return t.reduce(op.CountNonZero, true, axes) }

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
// bfloat16 the mean is rounded once. Where the sum of the two overflows, which NumPy makes infinite, it is the mean of
// their halves. [Tensor.Quantile] of 0.5 interpolates and may round differently.
func (t *Tensor) Median(axes ...int) *Tensor { return t.quantile("median", 0.5, false, axes, middle) }

// MedianKeep is [Tensor.Median] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types, NaN and errors are as for Median.
func (t *Tensor) MedianKeep(axes ...int) *Tensor {
	return t.quantile("median", 0.5, true, axes, middle)
}

// Quantile is the value below which a part q, from 0 to 1, of the elements lies, over axes or over
// all if none is given. Between two sorted elements it interpolates linearly; between a number and
// an infinity that is infinite. NaN if one is. It takes floats and has gradients.
func (t *Tensor) Quantile(q float64, axes ...int) *Tensor {
	return t.quantile("quantile", q, false, axes, interpolated)
}

// QuantileKeep is [Tensor.Quantile] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types, NaN and errors are as for Quantile.
func (t *Tensor) QuantileKeep(q float64, axes ...int) *Tensor {
	return t.quantile("quantile", q, true, axes, interpolated)
}

// Percentile is [Tensor.Quantile] of p hundredths, p from 0 to 100. It reduces the given axes,
// which may count from the back, or all if none is given; the result does not have them. Types,
// NaN and errors are as for Quantile.
func (t *Tensor) Percentile(p float64, axes ...int) *Tensor {
	if !(p >= 0 && p <= 100) {
		array.Failf("percentile", "p", "%v is not from 0 to 100", p)
	}
	return t.quantile("percentile", p/100, false, axes, interpolated)
}

// blend returns the value between two neighbours in order at weight w, from 0 to 1: [interpolated] or [middle].
type blend func(low, high, w *Tensor) *Tensor

func (t *Tensor) quantile(opName string, q float64, keep bool, axes []int, value blend) *Tensor {
	y := t.quantiles(opName, []float64{q}, QuantileOpts{Axes: axes, Keep: keep}, value)
	return (*Tensor)(y.Reshape(y.v().Shape[1:]...).c().Own())
}

// QuantileOpts are the options of [Tensor.Quantiles].
type QuantileOpts struct {
	Axes []int // over which; none: all
	Keep bool  // these axes stay, with size 1
	// Method says what is between two elements in order: "linear", which "" is too,
	// "lower", "higher", "midpoint" or "nearest" (of equally near ones the even place); or one of NumPy's other
	// names for the definitions of R. Hyndman and Y. Fan, "Sample quantiles in statistical packages" (1996):
	// "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
	// "median_unbiased", "normal_unbiased".
	Method string
}

// Quantiles returns several quantiles, which are along the first axis of the result; see
// [Tensor.Quantile].
func (t *Tensor) Quantiles(q []float64, opts ...QuantileOpts) *Tensor {
	defer array.Named("quantiles").End()
	return t.quantiles("quantile", q, array.Options("quantile", opts), interpolated)
}

func (t *Tensor) quantiles(opName string, q []float64, o QuantileOpts, value blend) *Tensor {
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
		low, high, part, ok := betweenPlaces(o.Method, q, n)
		if !ok {
			array.Failf(opName, "Method", "%q is not linear, lower, higher, midpoint, nearest or another of NumPy's", o.Method)
		}
		lower[i], upper[i], weight[i] = low, high, part
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
	y := Where(greatest.IsNaN(), greatest, value(low, high, w))
	return (*Tensor)(y.To(t.v().DType).T().Reshape(shape...).c().Own())
}

// spacings are, of the definitions 4 to 9 of Hyndman and Fan, alpha and beta: the quantile q of n elements lies at place
// n*q + alpha + q*(1-alpha-beta) - 1.
var spacings = map[string][2]float64{"interpolated_inverted_cdf": {0, 1}, "hazen": {0.5, 0.5}, "weibull": {0, 0}, "median_unbiased": {1. / 3, 1. / 3}, "normal_unbiased": {3. / 8, 3. / 8}}

// betweenPlaces returns the places of n elements in order between which the quantile q lies, and how far the way from
// the first to the second. ok is false if there is no such method.
func betweenPlaces(method string, q float64, n int) (low, high int, part float64, ok bool) {
	size := float64(n)
	at := q * (size - 1)
	switch method {
	case "", "linear", "lower", "higher", "midpoint", "nearest":
	case "inverted_cdf", "averaged_inverted_cdf":
		at = float64(size*q) - 1
	case "closest_observation":
		at = float64(size*q) - 1.5
	default:
		s, known := spacings[method]
		if !known {
			return 0, 0, 0, false
		}
		at = float64(size*q) + (s[0] + float64(q*(1-s[0]-s[1]))) - 1
	}
	down, up := math.Floor(at), math.Ceil(at)
	switch method {
	case "lower":
		up = down
	case "higher", "inverted_cdf":
		down = up
	case "midpoint":
		part = 0.5
	case "averaged_inverted_cdf":
		if part = 0.5; up > down {
			down = up
		} else {
			up++
		}
	case "nearest":
		down = math.RoundToEven(at)
		up = down
	case "closest_observation": // of two that are as near the one with the even number, counted from 1
		if up > down || math.Mod(down, 2) == 0 {
			down++
		}
		up = down
	default:
		part = at - down
	}
	last := size - 1
	low, high = int(max(0, min(down, last))), int(max(0, min(up, last)))
	if low == high {
		part = 0
	}
	return low, high, part, true
}

// interpolated goes from low, at weight 0, to high, at weight 1.
func interpolated(low, high, w *Tensor) *Tensor {
	y := low.Lerp(high, w)
	// The difference of the two may be infinite: a mean of infinities is one, or NaN of both signs.
	y = Where(y.IsFinite(), y, Where(w.Eq(0), low, low.Mul(w.Neg().Add(1)).Add(high.Mul(w))))
	// Between equal infinities, and of an element and itself, is nothing.
	return Where(low.Eq(high), low, y)
}

// middle is the mean of low and high, and low where they are equal. It is for weights of 0, where low and high are the
// same element, and 0.5.
func middle(low, high, _ *Tensor) *Tensor {
	sum := low.Add(high)
	// Halves first where the sum overflows: numbers that large have exact halves.
	y := Where(sum.IsFinite(), sum.Mul(0.5), low.Mul(0.5).Add(high.Mul(0.5)))
	return Where(low.Eq(high), low, y)
}

// Diff returns the differences of neighbours along an axis, n times over: the axis is n shorter, or empty. The
// axis may count from the back. The result has t's type; integers wrap, and of Bool it is whether neighbours
// differ. It panics with *[Error] where n is negative. NumPy's diff.
func (t *Tensor) Diff(axis, n int) *Tensor {
	const name = "diff"
	defer array.Named(name).End()
	t.c().Check(name)
	a := array.Axis(name, axis, t.Rank())
	if n < 0 {
		array.Failf(name, "n", "%d is negative", n)
	}
	if n == 0 || t.v().Shape[a] == 0 {
		return t.Clone()
	}
	for ; n > 0 && t.v().Shape[a] > 0; n-- {
		x := t.MoveAxis(a, 0)
		later, earlier := x.Slice(Range(1, End)).MoveAxis(0, a), x.Slice(Range(0, -1)).MoveAxis(0, a)
		if t.v().DType == Bool {
			t = later.Ne(earlier)
		} else {
			t = later.Sub(earlier)
		}
	}
	return (*Tensor)(t.c().Own())
}

// GradientOpts are the options of [Tensor.Gradient].
type GradientOpts struct {
	SecondOrderEdges bool // differences of three elements at the edges too: NumPy's edge_order=2
}

// Gradient is the slope of t along an axis by central differences of neighbours, and differences of two at
// the edges. spacing is a Go number, the distance of neighbours, or a vector of floats, where they lie. The axis
// may count from the back. An infinite real element does not count in its own slope if all distances are equal.
// The result has t's shape and type; integers give float32. It panics with *[Error]
// for fewer than two elements, or three with SecondOrderEdges. NumPy's gradient along one axis;
// [Tensor.Backward] computes gradients of programs.
func (t *Tensor) Gradient(axis int, spacing any, opts ...GradientOpts) *Tensor {
	const name = "gradient"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	t.c().Check(name)
	at := core.AsOperand[Tensor](name, "spacing", spacing)
	a := array.Axis(name, axis, t.Rank())
	least := 2
	if o.SecondOrderEdges {
		least = 3
	}
	n := t.v().Shape[a]
	if n < least {
		array.Failf(name, "", "takes %d elements or more along axis %d of shape %s", least, a, array.ShapeString(t.v().Shape))
	}
	x := t.floated().MoveAxis(a, -1)
	part := func(v *Tensor, from, to int) *Tensor { return v.Slice(Ellipsis, Range(from, to)) }
	var h *Tensor // distances of neighbours
	if at.T == nil {
		h = x.Device().FullOf(x.v().DType, spacing, n-1)
	} else {
		at.T.Check(name)
		p := (*Tensor)(at.T)
		if p.Rank() != 1 || p.Size() != n || !p.v().DType.Float() {
			array.Failf(name, "spacing", "is %s, want a number or %d floats", array.TypeString(p.v().DType, p.v().Shape), n)
		}
		h = part(p, 1, n).Sub(part(p, 0, n-1)).To(x.v().DType)
	}
	d := part(x, 1, n).Sub(part(x, 0, n-1)).Div(h)
	before, after := part(h, 0, n-2), part(h, 1, n-1)
	// Between two slopes weighted by the distance of the other one.
	w := before.Div(before.Add(after))
	inner := part(d, 0, n-2).Mul(w.RSub(1)).Add(part(d, 1, n-1).Mul(w))
	switch {
	case at.T == nil: // the element in the middle does not count, infinite or not
		inner = part(x, 2, n).Sub(part(x, 0, n-2)).Div(before.Add(after))
	case !x.v().DType.Complex():
		inner = besideInfinite(inner, part(x, 0, n-2), part(x, 1, n-1), part(x, 2, n), before, after)
	}
	first, last := part(d, 0, 1), part(d, n-2, n-1)
	if o.SecondOrderEdges {
		first = secondOrder(part(d, 0, 1), part(d, 1, 2), part(h, 0, 1), part(h, 1, 2))
		last = secondOrder(part(d, n-2, n-1), part(d, n-3, n-2), part(h, n-2, n-1), part(h, n-3, n-2))
	}
	return Cat([]*Tensor{first, inner, last}, -1).MoveAxis(-1, a)
}

// besideInfinite returns the slopes inner between the elements low, middle and high at distances h and k, and where
// middle is infinite those by NumPy's sum of the weighted elements: the two slopes beside it would cancel to NaN.
// middle does not count if all distances are equal.
func besideInfinite(inner, low, middle, high, h, k *Tensor) *Tensor {
	infinite := middle.Detach().IsInf()
	equal := h.Eq(k).All()
	own := Where(equal, 0, Where(infinite, middle, 0).Mul(k.Sub(h)).Div(h.Mul(k)))
	ends := Where(infinite, high, 0).Mul(h.Div(k)).Sub(Where(infinite, low, 0).Mul(k.Div(h))).Div(h.Add(k))
	return Where(infinite, ends.Add(own), inner)
}

// secondOrder is the slope at the edge of a parabola whose slopes between three points are d, at the edge,
// and e, and whose distances are h and k.
func secondOrder(d, e, h, k *Tensor) *Tensor {
	return d.Add(d.Sub(e).Mul(h.Div(h.Add(k))))
}

// Average is the mean of t over axes weighted by weights, floats of t's shape, or a vector as long as the one
// axis that is given: the sum of products over the sum of weights. The axes may count from the back, none for
// all; the result does not have them. Element types meet by promotion; integers give float32. Weights that add up
// to 0 give NaN or infinities. It panics with *[Error] for weights of another shape. NumPy's average.
func (t *Tensor) Average(weights *Tensor, axes ...int) *Tensor {
	const name = "average"
	defer array.Named(name).End()
	t.c().Check(name)
	weights.c().CheckArgument(name, "weights")
	w := weights
	if w.Rank() == 1 && t.Rank() != 1 && len(axes) == 1 {
		a := array.Axis(name, axes[0], t.Rank())
		if w.Size() != t.v().Shape[a] {
			array.Failf(name, "weights", "has shape %s, want [%d]", array.ShapeString(w.v().Shape), t.v().Shape[a])
		}
		shape := slices.Repeat([]int{1}, t.Rank())
		shape[a] = w.Size()
		w = w.Reshape(shape...).Expand(t.v().Shape...)
	}
	if !array.Equal(w.v().Shape, t.v().Shape) {
		array.Failf(name, "weights", "has shape %s, want %s", array.ShapeString(weights.v().Shape), array.ShapeString(t.v().Shape))
	}
	return t.floated().Mul(w).Sum(axes...).Div(w.Sum(axes...))
}

// CovOpts are the options of [Tensor.Cov].
type CovOpts struct {
	Columns    bool // variables are columns, not rows: NumPy's rowvar=False
	Population bool // divide by n, not by n-1: NumPy's bias=True
	// FWeights says how often each observation occurs: a vector with an integer from 0 on for each. The result is that
	// of an array which repeats observations. nil means once.
	FWeights *Tensor
	// AWeights says how much each observation counts: a vector with a real number from 0 on for each. Only their ratios matter
	// if Population is set. Gradients flow to them. nil means 1.
	AWeights *Tensor
}

// weights returns the product of the weights of n observations in an element type, and the divisor of the sums; nil
// and 0 without weights.
func (o *CovOpts) weights(name string, n int, d DType) (w, over *Tensor) {
	for _, v := range []struct {
		arg  string
		t    *Tensor
		fits bool
	}{{"FWeights", o.FWeights, o.FWeights == nil || o.FWeights.v().DType.Integer()}, {"AWeights", o.AWeights, o.AWeights == nil || !o.AWeights.v().DType.Complex()}} {
		if v.t == nil {
			continue
		}
		v.t.c().CheckArgument(name, v.arg)
		if v.t.Rank() != 1 || v.t.Size() != n || !v.fits {
			array.Failf(name, v.arg, "is %s, want a vector of %d numbers, integers as FWeights", array.TypeString(v.t.v().DType, v.t.v().Shape), n)
		}
		if core.TracingViews(v.t.v()) == nil && v.t.Detach().Lt(0).Any().bool() {
			array.Failf(name, v.arg, "has a negative number")
		}
		if v.t = v.t.To(d); w == nil {
			w = v.t
		} else {
			w = w.Mul(v.t)
		}
	}
	if w == nil {
		return nil, nil
	}
	over = w.Sum()
	switch {
	case o.Population:
	case o.AWeights == nil:
		over = over.Sub(1)
	default:
		over = over.Sub(w.Mul(o.AWeights.To(d)).Sum().Div(over))
	}
	return w, over.Maximum(0)
}

// Cov is the matrix of the covariances of variables, the rows of t, over observations, its columns: [k n] gives
// [k k], and a vector, one variable, a number. Sums are divided by n-1, or as NumPy does where there are weights. The
// type is t's; integers give float32. Of complex numbers the second factor is conjugated. It panics with *[Error] for
// other ranks, and weights that are negative or not one an observation. NumPy's cov.
func (t *Tensor) Cov(opts ...CovOpts) *Tensor {
	const name = "cov"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	t.c().Check(name)
	if r := t.Rank(); r < 1 || r > 2 {
		array.Failf(name, "", "takes vectors and matrices, got %s", array.TypeString(t.v().DType, t.v().Shape))
	}
	x := t.floated()
	if t.Rank() == 1 {
		x = x.Unsqueeze(0)
	} else if o.Columns {
		x = x.T()
	}
	n := x.v().Shape[1]
	over := float64(max(n-1, 0))
	if o.Population {
		over = float64(n)
	}
	y := x.wider(func(x *Tensor) *Tensor {
		if w, over := o.weights(name, n, x.v().DType.Part()); w != nil {
			far := x.Sub(x.Mul(w).SumKeep(1).Div(w.Sum()))
			return far.Mul(w).MatMul(far.T().Conj()).Div(over)
		}
		far := x.Sub(x.MeanKeep(1))
		return far.MatMul(far.T().Conj()).Div(over)
	})
	if t.Rank() == 1 {
		return (*Tensor)(y.Reshape().c().Own())
	}
	return y
}

// CorrCoef is the matrix of the correlation coefficients of variables, the rows of t, over observations, its
// columns, limited to -1 and 1, of complex ones each part; of a vector 1. Options, types and errors are as for
// [Tensor.Cov]. A variable that does not vary gives NaN. NumPy's corrcoef.
func (t *Tensor) CorrCoef(opts ...CovOpts) *Tensor {
	defer array.Named("corrcoef").End()
	t.c().Check("corrcoef")
	c := t.Cov(array.Options("corrcoef", opts))
	if c.Rank() == 0 {
		return c.Div(c)
	}
	if c.v().DType.Complex() {
		d := c.Diagonal(0).Real().Sqrt()
		c = c.Div(d.Unsqueeze(1)).Div(d)
		return Complex(c.Real().Clamp(-1, 1), c.Imag().Clamp(-1, 1))
	}
	d := c.Diagonal(0).Sqrt()
	return c.Div(d.Unsqueeze(1)).Div(d).Clamp(-1, 1)
}

// DigitizeOpts are the options of [Tensor.Digitize].
type DigitizeOpts struct {
	Right bool // a bin holds its upper edge, not its lower one
}

// Digitize returns the number, int64, of the bin that each element of t is in, in t's shape: bin i is from edge
// i-1 to before edge i, bin 0 before all edges. Edges are a vector in ascending or descending order; a
// compiled function searches in both. Element types meet by promotion. NumPy's digitize.
func (t *Tensor) Digitize(edges *Tensor, opts ...DigitizeOpts) *Tensor {
	const name = "digitize"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	t.c().Check(name)
	edges.c().CheckArgument(name, "edges")
	n := edges.Size()
	if edges.Rank() != 1 {
		array.Failf(name, "edges", "has shape %s, want a vector", array.ShapeString(edges.v().Shape))
	}
	ascending := func() *Tensor { return edges.SearchSorted(t, SearchOpts{Right: !o.Right}) }
	descending := func() *Tensor { return edges.Flip(0).SearchSorted(t, SearchOpts{Right: !o.Right}).RSub(n) }
	if n < 2 {
		return ascending()
	}
	descends := edges.Slice(Index(-1)).Lt(edges.Slice(Index(0)))
	switch {
	case core.TracingViews(descends.v()) != nil: // its value is known only when the function is called
		return Where(descends, descending(), ascending())
	case descends.bool():
		return descending()
	}
	return ascending()
}

// HistogramDDOpts are the options of [HistogramDD].
type HistogramDDOpts struct {
	Bins    []int        // of equal width along each axis, one number for all; none means 10
	Ranges  [][2]float64 // where the bins of each axis begin and end; none means at the extremes of the points
	Weights *Tensor      // a vector with a number for each point, to be added up instead of counting
	Density bool         // divide by the total and by the volume of each bin
}

// HistogramDD counts how many of the points, rows of coordinates of shape [n d], are in each of the boxes of a
// grid of d axes, and returns the counts and the edges of the bins along each axis. Bins hold their edges as
// the bins of [Tensor.Histogram] do; points outside and NaN are in none. Counts are int64; with weights or as
// densities they are floats. NumPy's histogramdd, and histogram2d for d = 2.
func HistogramDD(points *Tensor, opts ...HistogramDDOpts) (counts *Tensor, edges []*Tensor) {
	const name = "histogramdd"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	points.c().CheckArgument(name, "points")
	if points.Rank() != 2 || points.v().Shape[1] == 0 {
		array.Failf(name, "points", "have shape %s, want a row for each and a column for each axis", array.ShapeString(points.v().Shape))
	}
	n, d := points.v().Shape[0], points.v().Shape[1]
	bins := o.Bins
	switch len(bins) {
	case 0:
		bins = slices.Repeat([]int{10}, d)
	case 1:
		bins = slices.Repeat(bins, d)
	}
	if len(bins) != d || o.Ranges != nil && len(o.Ranges) != d {
		array.Failf(name, "Bins", "or Ranges are %d and %d, want one for each of %d axes", len(bins), len(o.Ranges), d)
	}
	shape := make([]int, d)
	places := make([]*Tensor, d)
	for i, k := range bins {
		one := HistogramOpts{Bins: new(k)}
		if o.Ranges != nil {
			one.Min, one.Max = new(o.Ranges[i][0]), new(o.Ranges[i][1])
		}
		x := points.Slice(All, Index(i)).Contiguous()
		_, e := x.Histogram(one)
		edges = append(edges, e)
		x = x.To(e.v().DType)
		// Bin 0 is before the first edge, bin k+1 behind the last one, which belongs to bin k.
		at := e.SearchSorted(x, SearchOpts{Right: true})
		places[i] = Where(x.Eq(e.Slice(Index(-1))), k, at)
		shape[i] = array.AddSizes(name, k, 2)
	}
	size := array.CheckShape(name, shape, Int64)
	flat := RavelMultiIndex(places, shape...)
	if o.Weights != nil {
		o.Weights.c().CheckArgument(name, "Weights")
	}
	all := flat.binned(o.Weights, []int{n}, size).Reshape(shape...)
	inner := make([]Span, d)
	for i, k := range bins {
		inner[i] = Range(1, k+1)
	}
	counts = all.Slice(inner...).Clone()
	if o.Density {
		counts = counts.floated().Div(counts.Sum())
		for i, e := range edges {
			s := slices.Repeat([]int{1}, d)
			s[i] = bins[i]
			counts = counts.Div(e.Diff(0, 1).To(counts.v().DType).Reshape(s...))
		}
	}
	return counts, edges
}

// AMinMax returns the least and the greatest elements over axes, which may count from the back, none for all:
// [Tensor.Min] and [Tensor.Max], whose types and errors they have. PyTorch's aminmax.
func (t *Tensor) AMinMax(axes ...int) (least, greatest *Tensor) {
	defer array.Named("aminmax").End()
	return t.Min(axes...), t.Max(axes...)
}

// Ptp is the greatest less the least element over axes, which may count from the back, none for all; the result
// does not have them. The type stays, and integers wrap. NaN if one is. It panics with *[Error] where there is
// no element, and for Bool and complex numbers. NumPy's ptp, peak to peak.
func (t *Tensor) Ptp(axes ...int) *Tensor {
	defer array.Named("ptp").End()
	return t.Max(axes...).Sub(t.Min(axes...))
}

// Mode returns the element that occurs most often along an axis, of several the least, and how often it does,
// int64. The axis may count from the back; the results do not have it. A NaN equals nothing. It panics with
// *[Error] where there is no element, and for complex numbers. SciPy's stats.mode.
func (t *Tensor) Mode(axis int) (values, counts *Tensor) {
	const name = "mode"
	defer array.Named(name).End()
	t.c().Check(name)
	a := array.Axis(name, axis, t.Rank())
	n := t.v().Shape[a]
	if n == 0 {
		array.Failf(name, "", "has no value over no elements: shape %s, axis %d", array.ShapeString(t.v().Shape), a)
	}
	sorted, _ := t.MoveAxis(a, -1).Sort(-1)
	at := t.Device().Arange(n)
	same := sorted.Slice(Ellipsis, Range(1, End)).Eq(sorted.Slice(Ellipsis, Range(0, n-1)))
	begins := Where(same, 0, at.Slice(Range(1, End)))
	first := sorted.Slice(Ellipsis, Range(0, 1)).Ne(sorted.Slice(Ellipsis, Range(0, 1))).To(Int64).Mul(0)
	start, _ := Cat([]*Tensor{first, begins}, -1).CumMax(-1)
	lengths := at.Sub(start).Add(1)
	most, place := lengths.MaxWithIndex(-1)
	return (*Tensor)(sorted.Gather(-1, place.Unsqueeze(-1)).Squeeze(-1).c().Own()), most
}

// Unwrap returns t with multiples of 2 pi added along an axis so that neighbours are at most pi apart. The axis
// may count from the back. The result has t's shape and type; integers give float32. NumPy's unwrap.
func (t *Tensor) Unwrap(axis int) *Tensor {
	const name = "unwrap"
	defer array.Named(name).End()
	t.c().Check(name)
	a := array.Axis(name, axis, t.Rank())
	x := t.floated()
	if t.v().Shape[a] == 0 {
		return x.Clone()
	}
	d := x.Diff(a, 1).Detach()
	turned := d.Add(math.Pi).Mod(2 * math.Pi).Sub(math.Pi)
	turned = Where(turned.Eq(-math.Pi).LogicalAnd(d.Gt(0)), math.Pi, turned)
	by := Where(d.Abs().Lt(math.Pi), 0, turned.Sub(d)).CumSum(a)
	zero := x.Detach().MoveAxis(a, 0).Slice(Range(0, 1)).Mul(0).MoveAxis(0, a)
	return x.Add(Cat([]*Tensor{zero, by}, a))
}

// LogCumSumExp returns log(cumsum(exp(t))) along an axis, which may count from the back, without overflow, in t's
// shape and type; integers give float32. It takes log2(n) passes, each adding two sums of equally many
// elements. It panics with *[Error] for complex numbers. PyTorch's logcumsumexp.
func (t *Tensor) LogCumSumExp(axis int) *Tensor {
	const name = "logcumsumexp"
	defer array.Named(name).End()
	t.c().Check(name)
	a := array.Axis(name, axis, t.Rank())
	x := t.floated().MoveAxis(a, 0)
	n := t.v().Shape[a]
	for step := 1; step < n; step *= 2 {
		sums := x.Slice(Range(step, End)).LogAddExp(x.Slice(Range(0, n-step)))
		x = Cat([]*Tensor{x.Slice(Range(0, step)), sums}, 0)
	}
	return x.MoveAxis(0, a).Clone()
}
