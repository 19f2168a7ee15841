package onnx

import (
	"weft"
	"weft/nn"
)

// Layers of networks: activations, normalisation, convolution and pooling.
var nnOperators = []operator{
	{name: "BatchNormalization", run: batchNormalization},
	{name: "Conv", run: convolution},
	{name: "Dropout", run: dropout, reads: []int{1, 2}, random: true},
	{name: "Gelu", run: gelu},
	{name: "Gemm", run: gemm},
	{name: "GlobalAveragePool", run: globalPool((*weft.Tensor).MeanKeep)},
	{name: "GlobalMaxPool", run: globalPool((*weft.Tensor).MaxKeep)},
	{name: "LayerNormalization", run: layerNormalization},
	{name: "LogSoftmax", run: softmax((*weft.Tensor).LogSoftmax)},
	{name: "MaxPool", run: maxPool},
	{name: "Relu", run: unary((*weft.Tensor).Relu)},
	{name: "Sigmoid", run: unary((*weft.Tensor).Sigmoid)},
	{name: "Softmax", run: softmax((*weft.Tensor).Softmax)},
	{name: "Tanh", run: unary((*weft.Tensor).Tanh)},
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

func batchNormalization(c *call) []Value {
	x, scale, bias, mean, variance := c.tensor(0), c.tensor(1), c.tensor(2), c.tensor(3), c.tensor(4)
	eps, momentum := c.attrFloat("epsilon", 1e-5), c.attrFloat("momentum", 0.9)
	training := c.attrBool("training_mode", false)
	if c.attrInt("spatial", 1) != 1 {
		c.fail("statistics of each element (spatial = 0) are not computed")
	}
	d := x.DType()
	var results []*weft.Tensor
	if training {
		axes := []int{0}
		for i := 2; i < x.Rank(); i++ {
			axes = append(axes, i)
		}
		wide := x.To(mean.DType())
		v, m := wide.VarMean(axes...)
		results = append(results, mean.Mul(momentum).Add(m.Mul(1-momentum)), variance.Mul(momentum).Add(v.Mul(1-momentum)))
		mean, variance = m, v
	}
	// x*factor + shift has one product and one sum for each element, which convolutions take as epilogue.
	factor := scale.Mul(variance.Add(eps).Rsqrt())
	shift := bias.Sub(mean.Mul(factor))
	y := x.Mul(c.perChannel(factor, x)).Add(c.perChannel(shift, x)).To(d)
	return tensors(append([]*weft.Tensor{y}, results...)...)
}

// windows are the attributes that convolutions and pooling share, for n axes.
type windows struct {
	kernel, stride, dilation []int
	before, after            []int // padding
}

// windows reads the attributes of windows over the last axes of x. kernel is nil where the attribute gives it.
func (c *call) windows(x *weft.Tensor, kernel []int) windows {
	n := x.Rank() - 2
	if n < 1 {
		c.fail("the input has %d axes: want at least 3", x.Rank())
	}
	list := func(name string, length, fill int) []int {
		a := c.attrInts(name)
		if a == nil {
			a = make([]int, length)
			for i := range a {
				a[i] = fill
			}
		}
		if len(a) != length {
			c.fail("attribute %q has %d numbers: want %d", name, len(a), length)
		}
		return a
	}
	if kernel == nil {
		c.need("kernel_shape")
		kernel = list("kernel_shape", n, 1)
	} else {
		c.attrInts("kernel_shape")
	}
	w := windows{kernel: kernel, stride: list("strides", n, 1), dilation: list("dilations", n, 1)}
	pads := list("pads", 2*n, 0)
	w.before, w.after = pads[:n], pads[n:]
	for i := range n {
		if w.stride[i] < 1 || w.dilation[i] < 1 || w.kernel[i] < 1 {
			c.fail("kernel %v, strides %v and dilations %v must be at least 1", w.kernel, w.stride, w.dilation)
		}
	}
	auto := c.attrString("auto_pad", "NOTSET")
	switch auto {
	case "NOTSET":
		return w
	case "VALID", "SAME_UPPER", "SAME_LOWER":
	default:
		c.fail("auto_pad is %q", auto)
	}
	w.before, w.after = make([]int, n), make([]int, n)
	for i := range n {
		if auto == "VALID" {
			continue
		}
		in := x.Dim(2 + i)
		out := (in + w.stride[i] - 1) / w.stride[i]
		total := max((out-1)*w.stride[i]+(w.kernel[i]-1)*w.dilation[i]+1-in, 0)
		w.before[i] = total / 2
		if auto == "SAME_LOWER" {
			w.before[i] = total - total/2
		}
		w.after[i] = total - w.before[i]
	}
	return w
}

// even returns x padded by fill so that the padding that is left is the same on both sides, and that padding.
func (w *windows) even(c *call, x *weft.Tensor, fill float64) (*weft.Tensor, []int) {
	same, pads := true, make([]int, 2*x.Rank())
	for i := range w.before {
		same = same && w.before[i] == w.after[i] && w.before[i] >= 0
		pads[2*(i+2)], pads[2*(i+2)+1] = w.before[i], w.after[i]
	}
	if same {
		return x, w.before
	}
	return padded(c, x, fill, pads), make([]int, len(w.before))
}

// padded is x with elements before and after each axis, where negative numbers crop.
func padded(c *call, x *weft.Tensor, fill float64, pads []int) *weft.Tensor {
	grow := make([]int, len(pads))
	for axis := range x.Rank() {
		before, after := pads[2*axis], pads[2*axis+1]
		if before+x.Dim(axis)+after < 0 {
			c.fail("padding %v leaves less than nothing of %v", pads, x.Shape())
		}
		grow[2*axis], grow[2*axis+1] = max(before, 0), max(after, 0)
	}
	y := x.Pad(fill, grow...)
	spans := make([]weft.Span, x.Rank())
	for axis := range spans {
		spans[axis] = weft.Range(max(-pads[2*axis], 0), y.Dim(axis)-max(-pads[2*axis+1], 0))
	}
	return y.Slice(spans...)
}

func pair(a []int) *[2]int { return &[2]int{a[0], a[1]} }

func convolution(c *call) []Value {
	x, w, bias := c.tensor(0), c.tensor(1), c.optional(2)
	if w.Rank() != x.Rank() {
		c.fail("filters have %d axes: the input has %d", w.Rank(), x.Rank())
	}
	win := c.windows(x, w.Shape()[2:])
	groups := c.attrInt("group", 1)
	x, pad := win.even(c, x, 0)
	switch x.Rank() {
	case 3:
		return tensors(x.Conv1d(w, bias, weft.Conv1dOpts{Stride: &win.stride[0], Padding: pad[0], Dilation: &win.dilation[0], Groups: &groups}))
	case 4:
		return tensors(x.Conv2d(w, bias, weft.ConvOpts{Stride: pair(win.stride), Padding: *pair(pad), Dilation: pair(win.dilation), Groups: &groups}))
	}
	c.fail("convolutions of %d axes are not computed", x.Rank()-2)
	return nil
}

// dropout is nothing where the model is not in training mode.
func dropout(c *call) []Value {
	x := c.value(0)
	c.attrInt("seed", 0)
	c.attrFloat("ratio", 0.5)
	c.attrInt("is_test", 1)
	if c.has(2) && c.bool(2) {
		c.fail("dropout in training mode is not computed")
	}
	mask := weft.OnesOf(weft.Bool, c.tensor(0).Shape()...)
	if c.opset() < 10 {
		mask = mask.To(x.tensor.DType())
	}
	return []Value{x, TensorOf(mask)}
}

func gelu(c *call) []Value {
	x := c.tensor(0)
	switch a := c.attrString("approximate", "none"); a {
	case "none":
		return tensors(x.Gelu())
	case "tanh":
		return tensors(nn.Gelu{Tanh: true}.Forward(x))
	default:
		c.fail("attribute %q is %q", "approximate", a)
	}
	return nil
}

func gemm(c *call) []Value {
	a, b, bias := c.tensor(0), c.tensor(1), c.optional(2)
	alpha, beta := c.attrFloat("alpha", 1), c.attrFloat("beta", 1)
	transA, transB := c.attrBool("transA", false), c.attrBool("transB", false)
	c.attrInt("broadcast", 0)
	if a.Rank() != 2 || b.Rank() != 2 {
		c.fail("the operands have %d and %d axes: want matrices", a.Rank(), b.Rank())
	}
	if transA {
		a = a.T()
	}
	if transB {
		b = b.T()
	}
	y := a.MatMul(b)
	if alpha != 1 {
		y = y.Mul(alpha)
	}
	if bias != nil {
		if beta != 1 {
			bias = bias.Mul(beta)
		}
		y = y.Add(bias)
	}
	return tensors(y.To(a.DType()))
}

func globalPool(f func(x *weft.Tensor, axes ...int) *weft.Tensor) func(c *call) []Value {
	return func(c *call) []Value {
		x := c.tensor(0)
		var axes []int
		for i := 2; i < x.Rank(); i++ {
			axes = append(axes, i)
		}
		return tensors(f(x, axes...))
	}
}

func layerNormalization(c *call) []Value {
	x, scale, bias := c.tensor(0), c.tensor(1), c.optional(2)
	axis, eps := c.axis(c.attrInt("axis", -1), x.Rank()), c.attrFloat("epsilon", 1e-5)
	c.attrInt("stash_type", 1) // statistics are at least float32 here
	d := x.DType()
	var axes []int
	for i := axis; i < x.Rank(); i++ {
		axes = append(axes, i)
	}
	shape := x.Shape()[axis:]
	if !c.wants(1) && !c.wants(2) && d == weft.Float32 && same(scale.Shape(), shape) && (bias == nil || same(bias.Shape(), shape)) {
		l := nn.LayerNorm{Weight: scale, Bias: bias, Shape: shape, Eps: eps}
		return tensors(l.Forward(x))
	}
	wide := x
	if d == weft.Float16 || d == weft.BFloat16 {
		wide = x.To(weft.Float32)
	}
	mean := wide.MeanKeep(axes...)
	centred := wide.Sub(mean)
	inverse := centred.Square().MeanKeep(axes...).Add(eps).Rsqrt()
	y := centred.Mul(inverse).To(d).Mul(scale)
	if bias != nil {
		y = y.Add(bias)
	}
	return tensors(y.To(d), mean, inverse)
}

func same(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// softmax is over one axis since opset 13, and over all axes from one on before.
func softmax(f func(x *weft.Tensor, axis int) *weft.Tensor) func(c *call) []Value {
	return func(c *call) []Value {
		x := c.tensor(0)
		if c.opset() >= 13 {
			return tensors(f(x, c.axis(c.attrInt("axis", -1), x.Rank())))
		}
		axis := c.axis(c.attrInt("axis", 1), x.Rank())
		return tensors(f(flattened(x, axis), 1).Reshape(x.Shape()...))
	}
}

// flattened is a matrix: the axes before axis, and those from it on.
func flattened(x *weft.Tensor, axis int) *weft.Tensor {
	rows, columns := 1, 1
	for i, n := range x.Shape() {
		if i < axis {
			rows *= n
		} else {
			columns *= n
		}
	}
	return x.Reshape(rows, columns)
}

func maxPool(c *call) []Value {
	x := c.tensor(0)
	w := c.windows(x, nil)
	ceil := c.attrBool("ceil_mode", false)
	if c.attrInt("storage_order", 0) != 0 || c.wants(1) {
		c.fail("the places of the greatest elements are not computed")
	}
	if x.Rank() != 4 || !same(w.before, w.after) || !x.DType().Float() {
		c.fail("pooling of %d axes, of integers or with other padding at the end is not computed", x.Rank()-2)
	}
	return tensors(nn.MaxPool2d{Window: *pair(w.kernel), Stride: pair(w.stride), Padding: *pair(w.before), Dilation: pair(w.dilation), Ceil: ceil}.Forward(x))
}
