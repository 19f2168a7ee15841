package onnx

import (
	"math"
	"slices"

	"weft"
)

// Resizing.
var resizeOperators = []operator{
	{name: "Resize", since: 10, run: upsample, reads: []int{1}},
	{name: "Resize", since: 11, run: resize, reads: []int{1, 2, 3}},
	{name: "Upsample", run: upsample, reads: []int{1}},
}

// simpleNearest is the next element where an axis shrinks, the one before where it grows.
const simpleNearest = "simple"

// A resizing is how elements are found along an axis.
type resizing struct {
	mode, nearest, transform string
	cubic                    float64
	antialias                bool
	excludeOutside           bool
	extrapolation            float64
}

// upsample is Resize of opset 10, and Upsample before. Both lay the first elements on each other. Where they
// shrink, the nearest element is the next one, as ONNX's tests of that version and ONNX Runtime have it.
func upsample(c *call) []Value {
	x := c.tensor(0)
	o := resizing{mode: c.attrString("mode", "nearest"), nearest: simpleNearest, transform: "asymmetric", cubic: -0.75}
	if o.mode == "bilinear" {
		o.mode = "linear"
	}
	var scales []float64
	if c.node.op.name == "Upsample" && c.opset() < 9 {
		c.need("scales")
		for _, s := range c.attrFloats("scales") {
			scales = append(scales, float64(s))
		}
	} else {
		scales = c.floats(1)
	}
	if len(scales) != x.Rank() {
		c.fail("%d scales are given: the input has %d axes", len(scales), x.Rank())
	}
	sizes := x.Shape()
	for i := range sizes {
		sizes[i] = c.scaled(sizes[i], scales[i])
	}
	return []Value{c.resized(o, x, sizes, scales, nil)}
}

// scaled is a size times a scale, rounded down.
func (c *call) scaled(size int, scale float64) int {
	if !(scale > 0) || float64(size)*scale > math.MaxInt32 {
		c.fail("%d elements are not scaled by %v", size, scale)
	}
	return int(float64(size) * scale)
}

func resize(c *call) []Value {
	x := c.tensor(0)
	o := resizing{mode: c.attrString("mode", "nearest"), nearest: c.attrString("nearest_mode", "round_prefer_floor"),
		transform: c.attrString("coordinate_transformation_mode", "half_pixel"), cubic: c.attrFloat("cubic_coeff_a", -0.75),
		antialias: c.attrBool("antialias", false), excludeOutside: c.attrBool("exclude_outside", false),
		extrapolation: c.attrFloat("extrapolation_value", 0)}
	if o.nearest == simpleNearest {
		c.fail("attribute %q is %q", "nearest_mode", o.nearest)
	}
	policy := c.attrString("keep_aspect_ratio_policy", "stretch")
	axes := c.attrInts("axes")
	if axes == nil {
		axes = from(0, x.Rank())
	}
	axes = c.axes(axes, x.Rank())
	sizes, scales := x.Shape(), make([]float64, x.Rank())
	for i := range scales {
		scales[i] = 1
	}
	if c.has(2) && c.tensor(2).Size() > 0 {
		given := c.floats(2)
		if len(given) != len(axes) {
			c.fail("%d scales are given: want %d", len(given), len(axes))
		}
		for i, a := range axes {
			scales[a], sizes[a] = given[i], c.scaled(sizes[a], given[i])
		}
	} else {
		given := c.intsOr(3)
		if len(given) != len(axes) {
			c.fail("%d sizes are given: want %d", len(given), len(axes))
		}
		least, greatest := math.Inf(1), 0.0
		for i, a := range axes {
			if given[i] < 0 || given[i] > math.MaxInt32 || x.Dim(a) == 0 && given[i] > 0 {
				c.fail("axis %d of %d elements is not resized to %d", a, x.Dim(a), given[i])
			}
			sizes[a] = given[i]
			if x.Dim(a) > 0 {
				scales[a] = float64(given[i]) / float64(x.Dim(a))
			}
			least, greatest = min(least, scales[a]), max(greatest, scales[a])
		}
		switch policy {
		case "stretch":
		case "not_larger", "not_smaller":
			s := least
			if policy == "not_smaller" {
				s = greatest
			}
			for _, a := range axes {
				scales[a], sizes[a] = s, int(s*float64(x.Dim(a))+0.5)
			}
		default:
			c.fail("attribute %q is %q", "keep_aspect_ratio_policy", policy)
		}
	}
	var roi []float64 // begin and end of each axis
	if o.transform == "tf_crop_and_resize" {
		given := c.floats(1)
		if len(given) != 2*len(axes) {
			c.fail("the region has %d numbers: want %d", len(given), 2*len(axes))
		}
		for range x.Rank() {
			roi = append(roi, 0, 1)
		}
		for i, a := range axes {
			roi[2*a], roi[2*a+1] = given[i], given[len(axes)+i]
		}
	}
	return []Value{c.resized(o, x, sizes, scales, roi)}
}

// resized resizes one axis after the other.
func (c *call) resized(o resizing, x *weft.Tensor, sizes []int, scales, roi []float64) Value {
	if !slices.Contains([]string{"nearest", "linear", "cubic"}, o.mode) {
		c.fail("attribute %q is %q", "mode", o.mode)
	}
	c.size(sizes, x.DType())
	y := x
	if o.mode != "nearest" {
		if y = wide(x); !y.DType().Float() {
			y = x.To(weft.Float64)
		}
	}
	for axis, size := range sizes {
		lo, hi := 0.0, 1.0
		if roi != nil {
			lo, hi = roi[2*axis], roi[2*axis+1]
		}
		if size == y.Dim(axis) && math.Abs(scales[axis]-1) < 1e-9 && lo == 0 && hi == 1 {
			continue
		}
		y = c.along(o, y, axis, size, scales[axis], lo, hi)
	}
	if o.mode != "nearest" && !x.DType().Float() {
		if lo, hi := x.DType().Limits(); x.DType().Size() < 8 {
			y = y.Clamp(float64(lo), float64(hi))
		}
		y = y.Round()
	}
	return like(c.value(0), y.To(x.DType()))
}

// source is the place in x, of n elements, of element i of size elements. Sizes are whole here, also where they are a
// scale's, as in PyTorch and ONNX Runtime; ONNX's tests of align_corners have them not rounded. It is computed in
// float32, as ONNX's reference and ONNX Runtime do: which of two elements is the nearest depends on its rounding.
func (o *resizing) source(c *call, i, n, size int, scale, lo, hi float32) float32 {
	at, in, out := float32(i), float32(n), float32(size)
	half := float32(float32((at+0.5)/scale) - 0.5)
	switch o.transform {
	case "align_corners":
		if size == 1 {
			return 0
		}
		return at * (in - 1) / (out - 1)
	case "asymmetric":
		return at / scale
	case "tf_crop_and_resize":
		if size == 1 {
			return (lo + hi) * (in - 1) / 2
		}
		return float32(lo*(in-1)) + float32(at*(hi-lo)*(in-1)/(out-1))
	case "pytorch_half_pixel":
		if size == 1 {
			return 0
		}
		return half
	case "half_pixel":
		return half
	case "half_pixel_symmetric":
		return float32(in/2*(1-out/(scale*in))) + half
	}
	c.fail("attribute %q is %q", "coordinate_transformation_mode", o.transform)
	return 0
}

// kernel is the weight of an element at a distance.
func (o *resizing) kernel(d float64) float64 {
	d = math.Abs(d)
	a := o.cubic
	switch {
	case o.mode == "linear":
		return max(1-d, 0)
	case d <= 1:
		return ((a+2)*d-(a+3))*d*d + 1
	case d < 2:
		return ((a*d-5*a)*d+8*a)*d - 4*a
	}
	return 0
}

// along resizes one axis.
func (c *call) along(o resizing, x *weft.Tensor, axis, size int, scale, lo, hi float64) *weft.Tensor {
	n := x.Dim(axis)
	shape := x.Shape()
	shape[axis] = size
	if size == 0 || x.Size() == 0 {
		return x.Device().ZerosOf(x.DType(), c.size(shape, x.DType())...)
	}
	c.hostTable(size)
	places, outside := make([]float64, size), make([]bool, size)
	for i := range places {
		places[i] = float64(o.source(c, i, n, size, float32(scale), float32(lo), float32(hi)))
		outside[i] = o.transform == "tf_crop_and_resize" && (places[i] < 0 || places[i] > float64(n-1))
	}
	dev := x.Device()
	column := func(t *weft.Tensor) *weft.Tensor { // of the result's elements along the axis
		ones := make([]int, x.Rank())
		for i := range ones {
			ones[i] = 1
		}
		ones[axis] = size
		return t.Reshape(ones...)
	}
	var y *weft.Tensor
	if o.mode == "nearest" {
		at := make([]int64, size)
		for i, p := range places {
			at[i] = int64(min(max(o.round(c, p, scale), 0), float64(n-1)))
		}
		y = x.IndexSelect(axis, dev.From(at))
	} else {
		y = o.weighted(c, x, axis, places, scale, column)
	}
	if slices.Contains(outside, true) {
		if !y.DType().Float() {
			return weft.Where(column(dev.From(outside)), dev.FullOf(weft.Float64, o.extrapolation).To(y.DType()), y)
		}
		return weft.Where(column(dev.From(outside)), o.extrapolation, y)
	}
	return y
}

// round is the number of the nearest element.
func (o *resizing) round(c *call, p, scale float64) float64 {
	switch o.nearest {
	case simpleNearest: // of upsample alone
		if scale < 1 {
			return math.Ceil(p)
		}
		return math.Floor(p)
	case "round_prefer_floor":
		return math.Ceil(p - 0.5)
	case "round_prefer_ceil":
		return math.Floor(p + 0.5)
	case "floor":
		return math.Floor(p)
	case "ceil":
		return math.Ceil(p)
	}
	c.fail("attribute %q is %q", "nearest_mode", o.nearest)
	return 0
}

// weighted are sums of weighted neighbours: few are selected one after the other, many by a product with a
// matrix.
func (o *resizing) weighted(c *call, x *weft.Tensor, axis int, places []float64, scale float64, column func(t *weft.Tensor) *weft.Tensor) *weft.Tensor {
	n, size, shrink := x.Dim(axis), len(places), 1.0
	if o.antialias {
		shrink = min(scale, 1)
	}
	support := 1.0
	if o.mode == "cubic" {
		support = 2
	}
	start := int(math.Floor(-support/shrink)) + 1
	taps := 2 - 2*start
	c.hostTable(size, taps)
	at, weight := make([][]int64, taps), make([][]float64, taps)
	for k := range taps {
		at[k], weight[k] = make([]int64, size), make([]float64, size)
	}
	for i, p := range places {
		base := math.Ceil(p) - 1 // an element at the place itself is the right one of two
		sum := 0.0
		for k := range taps {
			place := base + float64(start+k)
			w := o.kernel((place - p) * shrink)
			if o.excludeOutside && (place < 0 || place > float64(n-1)) {
				w = 0
			}
			at[k][i], weight[k][i] = int64(min(max(place, 0), float64(n-1))), w
			sum += w
		}
		for k := range taps {
			if (o.antialias || o.excludeOutside) && sum != 0 {
				weight[k][i] /= sum
			}
		}
	}
	dev := x.Device()
	if taps > 4 {
		c.hostTable(n, size)
		matrix := make([]float64, n*size)
		for k := range taps {
			for i := range size {
				matrix[int(at[k][i])*size+i] += weight[k][i]
			}
		}
		return x.MoveAxis(axis, -1).Unsqueeze(-2).MatMul(dev.From(matrix).To(x.DType()).Reshape(n, size)).Squeeze(-2).MoveAxis(-1, axis)
	}
	var sum *weft.Tensor
	for k := range taps {
		part := x.IndexSelect(axis, dev.From(at[k])).Mul(column(dev.From(weight[k]).To(x.DType())))
		if sum == nil {
			sum = part
		} else {
			sum = sum.Add(part)
		}
	}
	return sum
}
