package onnx

import (
	"weft"
	"weft/nn"
)

// Normalisation.
var normOperators = []operator{
	{name: "BatchNormalization", run: batchNormalization},
	{name: "GroupNormalization", run: groupNormalization},
	{name: "InstanceNormalization", run: instanceNormalization},
	{name: "LRN", run: localResponseNormalization},
	{name: "LayerNormalization", run: layerNormalization},
	{name: "LpNormalization", run: lpNormalization},
	{name: "MeanVarianceNormalization", run: meanVarianceNormalization},
	{name: "RMSNormalization", run: rmsNormalization},
}

// wide is x in the type in which sums over many elements are computed: at least float32.
func wide(x *weft.Tensor) *weft.Tensor {
	if x.DType().Half() {
		return x.To(weft.Float32)
	}
	return x
}

// from are the axes from the given one to before rank.
func from(axis, rank int) []int {
	var axes []int
	for i := axis; i < rank; i++ {
		axes = append(axes, i)
	}
	return axes
}

// perChannel gives a vector of channels the axes of x [N C ...].
func (c *call) perChannel(v, x *weft.Tensor) *weft.Tensor {
	if v.Rank() != 1 || x.Rank() < 2 || v.Dim(0) != x.Dim(1) {
		c.fail("a vector of channels has the shape %v: the tensor has %v", v.Shape(), x.Shape())
	}
	shape := make([]int, x.Rank())
	for i := range shape {
		shape[i] = 1
	}
	shape[1] = v.Dim(0)
	return v.Reshape(shape...)
}

// batchNormalization has statistics of channels, or, before opset 9 with spatial = 0, of each element of an
// example. It is in training mode by its attribute since opset 14, and where more than one output is used
// before.
func batchNormalization(c *call) []Value {
	x, scale, bias, mean, variance := c.tensor(0), c.tensor(1), c.tensor(2), c.tensor(3), c.tensor(4)
	eps, momentum := c.attrFloat("epsilon", 1e-5), c.attrFloat("momentum", 0.9)
	training := c.attrBool("training_mode", false) || c.opset() < 14 && c.outputs() > 1
	channels, axes := c.perChannel, append([]int{0}, from(2, x.Rank())...)
	if x.Rank() == 1 {
		axes = []int{0}
	}
	if !c.attrBool("spatial", true) {
		axes = axes[:1]
		channels = func(v, x *weft.Tensor) *weft.Tensor {
			if x.Rank() == 0 || !same(v.Shape(), x.Shape()[1:]) {
				c.fail("statistics of elements have the shape %v: the tensor has %v", v.Shape(), x.Shape())
			}
			return v.Unsqueeze(0)
		}
	}
	d := x.DType()
	var results []*weft.Tensor
	if training {
		v, m := x.To(mean.DType()).VarMean(axes...)
		results = append(results, mean.Mul(momentum).Add(m.Mul(1-momentum)), variance.Mul(momentum).Add(v.Mul(1-momentum)))
		if c.opset() < 14 {
			results = append(results, m, v)
		}
		mean, variance = m, v
	}
	// x*factor + shift has one product and one sum for each element, which convolutions take as epilogue.
	factor := scale.Mul(variance.Add(eps).Rsqrt())
	shift := bias.Sub(mean.Mul(factor))
	y := x.Mul(channels(factor, x)).Add(channels(shift, x)).To(d)
	return tensors(append([]*weft.Tensor{y}, results...)...)
}

// standardized is x with mean 0 and variance 1 over axes, at least float32.
func standardized(x *weft.Tensor, eps float64, axes ...int) *weft.Tensor {
	x = wide(x)
	centred := x.Sub(x.MeanKeep(axes...))
	return centred.Mul(centred.Square().MeanKeep(axes...).Add(eps).Rsqrt())
}

func instanceNormalization(c *call) []Value {
	x, scale, bias := c.tensor(0), c.tensor(1), c.tensor(2)
	eps := c.attrFloat("epsilon", 1e-5)
	if x.Rank() < 3 {
		c.fail("the input has %d axes: want at least 3", x.Rank())
	}
	y := standardized(x, eps, from(2, x.Rank())...)
	return tensors(y.Mul(c.perChannel(scale, x)).Add(c.perChannel(bias, x)).To(x.DType()))
}

// groupNormalization has a scale and a bias for each channel since opset 21, for each group before.
func groupNormalization(c *call) []Value {
	x, scale, bias := c.tensor(0), c.tensor(1), c.tensor(2)
	eps := c.attrFloat("epsilon", 1e-5)
	c.need("num_groups")
	groups := c.attrInt("num_groups", 0)
	c.attrInt("stash_type", 1) // statistics are at least float32 here
	if x.Rank() < 2 || groups < 1 || x.Dim(1)%groups != 0 {
		c.fail("%d groups do not divide the channels of %v", groups, x.Shape())
	}
	parts := x.Reshape(append([]int{x.Dim(0), groups, x.Dim(1) / groups}, x.Shape()[2:]...)...)
	y := standardized(parts, eps, from(2, parts.Rank())...)
	if c.opset() < 21 {
		y = y.Mul(c.perChannel(scale, parts)).Add(c.perChannel(bias, parts)).Reshape(x.Shape()...)
	} else {
		y = y.Reshape(x.Shape()...).Mul(c.perChannel(scale, x)).Add(c.perChannel(bias, x))
	}
	return tensors(y.To(x.DType()))
}

func layerNormalization(c *call) []Value {
	x, scale, bias := c.tensor(0), c.tensor(1), c.optional(2)
	axis, eps := c.axis(c.attrInt("axis", -1), x.Rank()), c.attrFloat("epsilon", 1e-5)
	c.attrInt("stash_type", 1) // statistics are at least float32 here, and given as float32
	d := x.DType()
	axes, shape := from(axis, x.Rank()), x.Shape()[axis:]
	if !c.wants(1) && !c.wants(2) && d == weft.Float32 && same(scale.Shape(), shape) && (bias == nil || same(bias.Shape(), shape)) {
		l := nn.LayerNorm{Weight: scale, Bias: bias, Shape: shape, Eps: eps}
		return tensors(l.Forward(x))
	}
	w := wide(x)
	mean := w.MeanKeep(axes...)
	centred := w.Sub(mean)
	inverse := centred.Square().MeanKeep(axes...).Add(eps).Rsqrt()
	y := centred.Mul(inverse).To(d).Mul(scale)
	if bias != nil {
		y = y.Add(bias)
	}
	return tensors(y.To(d), mean.To(weft.Float32), inverse.To(weft.Float32))
}

func rmsNormalization(c *call) []Value {
	x, scale := c.tensor(0), c.tensor(1)
	axis, eps := c.axis(c.attrInt("axis", -1), x.Rank()), c.attrFloat("epsilon", 1e-5)
	c.attrInt("stash_type", 1) // statistics are at least float32 here
	shape := x.Shape()[axis:]
	if x.DType() == weft.Float32 && scale.DType() == weft.Float32 && same(scale.Shape(), shape) {
		l := nn.RMSNorm{Weight: scale, Shape: shape, Eps: eps}
		return tensors(l.Forward(x))
	}
	w := wide(x)
	y := w.Mul(w.Square().MeanKeep(from(axis, x.Rank())...).Add(eps).Rsqrt()).To(x.DType()).Mul(scale)
	return tensors(y.To(scale.DType()))
}

// meanVarianceNormalization adds 1e-9 to the standard deviation, as the function in ONNX's documentation.
func meanVarianceNormalization(c *call) []Value {
	x := c.tensor(0)
	axes := c.attrInts("axes")
	if axes == nil {
		axes = []int{0, 2, 3}
	}
	axes = c.axes(axes, x.Rank())
	w := wide(x)
	centred := w.Sub(w.MeanKeep(axes...))
	return tensors(centred.Div(centred.Square().MeanKeep(axes...).Sqrt().Add(1e-9)).To(x.DType()))
}

// localResponseNormalization divides by a power of the mean of squares of neighbouring channels.
func localResponseNormalization(c *call) []Value {
	x := c.tensor(0)
	c.need("size")
	size, alpha, beta, bias := c.attrInt("size", 1), c.attrFloat("alpha", 1e-4), c.attrFloat("beta", 0.75), c.attrFloat("bias", 1)
	if size < 1 || x.Rank() < 2 {
		c.fail("a window of %d channels does not fit in %v", size, x.Shape())
	}
	channels := x.Dim(1)
	before, after := min((size-1)/2, channels), min(size/2, channels)
	pads := make([]int, 2*x.Rank())
	pads[2], pads[3] = before, after
	squares := wide(x).Square().Pad(0, pads...)
	var sum *weft.Tensor
	for k := range before + after + 1 {
		part := squares.Slice(weft.All, weft.Range(k, k+channels))
		if sum == nil {
			sum = part
		} else {
			sum = sum.Add(part)
		}
	}
	return tensors(wide(x).Div(sum.Mul(alpha / float64(size)).Add(bias).Pow(beta)).To(x.DType()))
}

// lpNormalization leaves vectors of zeros as they are.
func lpNormalization(c *call) []Value {
	x := c.tensor(0)
	axis, p := c.axis(c.attrInt("axis", -1), x.Rank()), c.attrInt("p", 2)
	var norm *weft.Tensor
	switch p {
	case 1:
		norm = wide(x).Abs().SumKeep(axis)
	case 2:
		sum := wide(x).Square().SumKeep(axis)
		norm = weft.Where(sum.Eq(0), 1, sum).Sqrt()
	default:
		c.fail("attribute %q is %d: want 1 or 2", "p", p)
	}
	return tensors(wide(x).Div(weft.Where(norm.Eq(0), 1, norm)).To(x.DType()))
}
