package onnx

import (
	"weft"
	"weft/nn"
)

// The domain com.microsoft: what ONNX Runtime's optimizer and the exporters for it write.
var microsoftOperators = []operator{
	{name: "Attention", run: packedAttention},
	{name: "BiasAdd", run: func(c *call) []Value { return tensors(c.tensor(0).Add(c.tensor(1)).Add(c.tensor(2))) }},
	{name: "BiasGelu", run: func(c *call) []Value { return tensors(c.tensor(0).Add(c.tensor(1)).Gelu()) }},
	{name: "BiasSplitGelu", run: biasSplitGelu},
	{name: "DequantizeLinear", run: dequantizeLinear},
	{name: "DynamicQuantizeMatMul", run: dynamicQuantizeMatMul},
	{name: "EmbedLayerNormalization", run: embedLayerNormalization},
	{name: "FastGelu", run: fastGelu},
	{name: "FusedConv", run: fusedConv},
	{name: "FusedGemm", run: fusedGemm},
	{name: "FusedMatMul", run: fusedMatMul},
	{name: "Gelu", run: unary((*weft.Tensor).Gelu)},
	{name: "GroupQueryAttention", run: groupQueryAttention, reads: []int{6}},
	{name: "MatMulIntegerToFloat", run: matMulIntegerToFloat},
	{name: "MatMulNBits", run: matMulNBits},
	{name: "MultiHeadAttention", run: multiHeadAttention},
	{name: "QAttention", run: quantizedAttention},
	{name: "QLinearAdd", run: quantizedPair((*weft.Tensor).Add)},
	{name: "QLinearAveragePool", run: quantizedUnary(func(c *call, x *weft.Tensor) *weft.Tensor {
		if !c.attrBool("channels_last", false) {
			return c.nested(averagePool, x)
		}
		return c.nested(averagePool, x.MoveAxis(-1, 1)).MoveAxis(1, -1)
	})},
	{name: "QLinearConcat", run: quantizedConcat},
	{name: "QLinearGlobalAveragePool", run: quantizedGlobalPool},
	{name: "QLinearLeakyRelu", run: quantizedUnary(func(c *call, x *weft.Tensor) *weft.Tensor {
		return nn.LeakyRelu{Slope: new(c.attrFloat("alpha", 0.01))}.Forward(x)
	})},
	{name: "QLinearMul", run: quantizedPair((*weft.Tensor).Mul)},
	{name: "QLinearSigmoid", run: quantizedUnary(func(_ *call, x *weft.Tensor) *weft.Tensor { return x.Sigmoid() })},
	{name: "QLinearSoftmax", run: quantizedUnary(quantizedSoftmax)},
	{name: "QuantizeLinear", run: quantizeLinear},
	{name: "QuickGelu", run: func(c *call) []Value {
		x := c.tensor(0)
		return tensors(x.Mul(x.Mul(c.attrFloat("alpha", 1.702)).Sigmoid()))
	}},
	{name: "RotaryEmbedding", run: cachedRotary},
	{name: "SkipLayerNormalization", run: func(c *call) []Value { return c.skipNorm(c.optional(3), c.optional(4), false) }},
	{name: "SkipSimplifiedLayerNormalization", run: func(c *call) []Value { return c.skipNorm(nil, c.optional(3), true) }},
	{name: "Tokenizer", run: tokenizer},
}

// runtimeOperators are ONNX Runtime's operators that stand in ONNX's own domain.
var runtimeOperators = []operator{
	{name: "SimplifiedLayerNormalization", run: func(c *call) []Value {
		x := c.tensor(0)
		axis, eps := c.axis(c.attrInt("axis", -1), x.Rank()), c.attrFloat("epsilon", 1e-5)
		c.attrInt("stash_type", 1) // statistics are at least float32 here
		y, _, inverse := normalized(x, c.tensor(1), nil, axis, eps, true)
		return tensors(y, inverse)
	}},
}

// nested runs another operator with this node's attributes.
func (c *call) nested(f func(c *call) []Value, in ...*weft.Tensor) *weft.Tensor {
	inner := *c
	inner.in = tensors(in...)
	out := f(&inner)
	c.asked |= inner.asked
	return out[0].tensor
}

// normalized divides x by the root of its mean square, after it took away its mean unless plain, over the axes
// from one on.
func normalized(x, scale, bias *weft.Tensor, axis int, eps float64, plain bool) (y, mean, inverse *weft.Tensor) {
	d := x.DType()
	if d.Half() {
		x = x.To(weft.Float32)
	}
	var axes []int
	for i := axis; i < x.Rank(); i++ {
		axes = append(axes, i)
	}
	if !plain {
		mean = x.MeanKeep(axes...)
		x = x.Sub(mean)
	}
	inverse = x.Square().MeanKeep(axes...).Add(eps).Rsqrt()
	y = x.Mul(inverse).Mul(scale.To(x.DType()))
	if bias != nil {
		y = y.Add(bias.To(x.DType()))
	}
	return y.To(d), mean, inverse
}

// skipNorm normalises the sum of inputs 0 and 1 and of a bias.
func (c *call) skipNorm(beta, bias *weft.Tensor, plain bool) []Value {
	x := c.tensor(0).Add(c.tensor(1))
	if bias != nil {
		x = x.Add(bias)
	}
	y, mean, inverse := normalized(x, c.tensor(2), beta, x.Rank()-1, c.attrFloat("epsilon", 1e-12), plain)
	if mean == nil {
		mean = weft.ZerosOf(inverse.DType(), inverse.Shape()...)
	}
	return tensors(y, mean, inverse, x)
}

func embedLayerNormalization(c *call) []Value {
	ids, positions := c.tensor(0), c.optional(8)
	rows := func(table, ids *weft.Tensor) *weft.Tensor {
		return table.IndexSelect(0, ids.Flatten(0)).Reshape(append(ids.Shape(), table.Dim(1))...)
	}
	if ids.Rank() != 2 {
		c.fail("the input has %d axes: want [batch length]", ids.Rank())
	}
	x := rows(c.tensor(2), ids)
	if positions != nil {
		x = x.Add(rows(c.tensor(3), positions))
	} else {
		x = x.Add(c.tensor(3).Slice(weft.Range(0, ids.Dim(1))))
	}
	if c.has(1) {
		x = x.Add(rows(c.tensor(4), c.tensor(1)))
	}
	c.attrInt("mask_index_type", 0)
	y, _, _ := normalized(x, c.tensor(5), c.tensor(6), 2, c.attrFloat("epsilon", 1e-12), false)
	lengths := weft.ZerosOf(weft.Int32, ids.Dim(0))
	if m := c.optional(7); m != nil {
		lengths = m.Eq(1).To(weft.Int32).Sum(1).To(weft.Int32)
	}
	return tensors(y, lengths, x)
}

// ---- activations and products

func fastGelu(c *call) []Value {
	x := c.tensor(0)
	if b := c.optional(1); b != nil {
		x = x.Add(b)
	}
	return tensors(nn.Gelu{Tanh: true}.Forward(x))
}

// biasSplitGelu multiplies one half of the last axis by the activation of the other.
func biasSplitGelu(c *call) []Value {
	x := c.tensor(0).Add(c.tensor(1))
	n := x.Dim(-1) / 2
	return tensors(x.Slice(weft.Ellipsis, weft.Range(0, n)).Mul(x.Slice(weft.Ellipsis, weft.Range(n, 2*n)).Gelu()))
}

// activated applies the activation that the node names, with numbers of its own or their defaults.
func (c *call) activated(x *weft.Tensor, name string, numbers []float32) *weft.Tensor {
	number := func(i int, def float64) float64 {
		if i < len(numbers) {
			return float64(numbers[i])
		}
		return def
	}
	switch name {
	case "":
		return x
	case "Relu":
		return x.Relu()
	case "Tanh":
		return x.Tanh()
	case "Sigmoid":
		return x.Sigmoid()
	case "LeakyRelu":
		return nn.LeakyRelu{Slope: new(number(0, 0.01))}.Forward(x)
	case "Clip":
		return x.Clamp(number(0, 0), number(1, 0))
	case "HardSigmoid":
		return x.Mul(number(0, 0.2)).Add(number(1, 0.5)).Clamp(0.0, 1.0)
	}
	c.fail("activation %q is not computed", name)
	return nil
}

// fusedConv adds a tensor after the convolution, before the activation.
func fusedConv(c *call) []Value {
	y := c.nested(convolution, c.tensor(0), c.tensor(1), c.optional(2))
	if z := c.optional(3); z != nil {
		y = y.Add(z)
	}
	return tensors(c.activated(y, c.attrString("activation", ""), c.attrFloats("activation_params")))
}

func fusedGemm(c *call) []Value {
	y := c.nested(gemm, c.tensor(0), c.tensor(1), c.optional(2))
	numbers := []float32{}
	for _, name := range []string{"activation_alpha", "activation_beta", "activation_gamma"} {
		if c.given(name) {
			numbers = append(numbers, float32(c.attrFloat(name, 0)))
		}
	}
	return tensors(c.activated(y, c.attrString("activation", ""), numbers))
}

// fusedMatMul is a product of transposed operands: trans swaps the last axes, transBatch moves the first axis to
// the place before the last.
func fusedMatMul(c *call) []Value {
	turned := func(x *weft.Tensor, trans, batch bool) *weft.Tensor {
		n := x.Rank()
		if n < 2 {
			return x
		}
		if batch {
			x = x.MoveAxis(0, n-2)
		}
		if trans {
			x = x.Transpose(n-2, n-1)
		}
		return x
	}
	a := turned(c.tensor(0), c.attrBool("transA", false), c.attrBool("transBatchA", false))
	b := turned(c.tensor(1), c.attrBool("transB", false), c.attrBool("transBatchB", false))
	y := a.MatMul(b)
	if alpha := c.attrFloat("alpha", 1); alpha != 1 {
		y = y.Mul(alpha)
	}
	return tensors(y)
}

// ---- quantised

func dynamicQuantizeMatMul(c *call) []Value {
	inner := *c
	inner.in = tensors(c.tensor(0))
	q := dynamicQuantizeLinear(&inner)
	y := c.wholeProduct(q[0].tensor, c.tensor(1), q[2].tensor, c.optional(3)).To(weft.Float32)
	return c.biased(y.Mul(q[1].tensor.Mul(c.tensor(2))), 4)
}

// biased adds input i, if it is given.
func (c *call) biased(y *weft.Tensor, i int) []Value {
	if b := c.optional(i); b != nil {
		y = y.Add(b)
	}
	return tensors(y)
}

func matMulIntegerToFloat(c *call) []Value {
	d := c.tensor(2).DType()
	y := c.wholeProduct(c.tensor(0), c.tensor(1), c.optional(4), c.optional(5)).To(weft.Float32)
	y = y.Mul(perRow(c.tensor(2)).To(weft.Float32).Mul(c.tensor(3).To(weft.Float32))).To(d)
	return c.biased(y, 6)
}

// unpacked are the numbers of bits each that bytes hold along the last axis, low bits first.
func unpacked(b *weft.Tensor, bits int) *weft.Tensor {
	if bits == 8 {
		return b
	}
	shifts := make([]uint8, 8/bits)
	for i := range shifts {
		shifts[i] = uint8(i * bits)
	}
	x := b.Unsqueeze(-1).Shr(weft.FromSlice(shifts)).BitAnd(1<<bits - 1)
	shape := b.Shape()
	shape[len(shape)-1] *= len(shifts)
	return x.Reshape(shape...)
}

// matMulNBits is a product with the transpose of a matrix [N K] whose rows are quantised in blocks.
func matMulNBits(c *call) []Value {
	x, packed, scale := c.tensor(0), c.tensor(1), c.tensor(2)
	for _, name := range []string{"K", "N", "block_size"} {
		c.need(name)
	}
	k, n, block, bits := c.attrInt("K", 0), c.attrInt("N", 0), c.attrInt("block_size", 0), c.attrInt("bits", 4)
	c.attrInt("accuracy_level", 0)
	if c.attrInt("weight_prepacked", 0) != 0 || c.has(4) {
		c.fail("weights in a processor's own order, or with groups in any order (g_idx), are not read")
	}
	if bits != 2 && bits != 4 && bits != 8 || block < 1 || k < 1 || n < 1 || block > 1<<20 || x.Dim(-1) != k {
		c.fail("bits = %d, block_size = %d, K = %d and N = %d do not fit inputs of the shape %v", bits, block, k, n, x.Shape())
	}
	blocks := (k + block - 1) / block
	if packed.Size() != n*blocks*((block*bits+7)/8) || scale.Size() != n*blocks {
		c.fail("there are %d bytes of weights and %d scales: want %d blocks of %d elements for each of %d rows", packed.Size(), scale.Size(), blocks, block, n)
	}
	d := x.DType()
	w := unpacked(packed.Reshape(n, blocks, packed.Size()/(n*blocks)), bits).To(d)
	if z := c.optional(3); z == nil {
		w = w.Sub(float64(int(1) << (bits - 1)))
	} else {
		if z.DType() == weft.Uint8 {
			z = unpacked(z.Reshape(n, z.Size()/n), bits).Slice(weft.All, weft.Range(0, blocks))
		}
		w = w.Sub(z.To(d).Reshape(n, blocks, 1))
	}
	w = w.Mul(scale.To(d).Reshape(n, blocks, 1)).Reshape(n, blocks*block).Slice(weft.All, weft.Range(0, k))
	return c.biased(x.MatMul(w.T()), 5)
}

// number is what quantised input i means, with the scale and the zero point in the next two.
func (c *call) number(i int) *weft.Tensor {
	x, scale := c.tensor(i), c.tensor(i+1).Reshape()
	if z := c.optional(i + 2); z != nil {
		x = x.To(weft.Int32).Sub(z.Reshape().To(weft.Int32))
	}
	return x.To(weft.Float32).Mul(scale)
}

// quantized divides y by the scale that is input i, with the zero point in the next.
func (c *call) quantized(y *weft.Tensor, i int) []Value {
	to, zero := c.value(0).elem, c.optional(i+1)
	if zero != nil {
		to, zero = c.value(i+1).elem, zero.Reshape()
	}
	return []Value{c.rounded(y.Div(c.tensor(i).Reshape()), zero, to, true)}
}

func quantizedPair(f func(x *weft.Tensor, y any) *weft.Tensor) func(c *call) []Value {
	return func(c *call) []Value { return c.quantized(f(c.number(0), c.number(3)), 6) }
}

func quantizedUnary(f func(c *call, x *weft.Tensor) *weft.Tensor) func(c *call) []Value {
	return func(c *call) []Value { return c.quantized(f(c, c.number(0)), 3) }
}

func quantizedSoftmax(c *call, x *weft.Tensor) *weft.Tensor {
	axis := c.axis(c.attrInt("axis", -1), x.Rank())
	if c.attrInt("opset", 13) >= 13 {
		return x.Softmax(axis)
	}
	return flattened(x, axis).Softmax(1).Reshape(x.Shape()...)
}

func quantizedGlobalPool(c *call) []Value {
	x := c.number(0)
	first := 2
	if c.attrBool("channels_last", false) {
		first = 1
	}
	var axes []int
	for i := first; i < x.Rank()-2+first; i++ {
		axes = append(axes, i)
	}
	return c.quantized(x.MeanKeep(axes...), 3)
}

func quantizedConcat(c *call) []Value {
	c.need("axis")
	var list []*weft.Tensor
	for i := 2; i < len(c.in); i += 3 {
		list = append(list, c.number(i))
	}
	if list == nil {
		c.fail("there is nothing to join")
	}
	y := weft.Cat(list, c.axis(c.attrInt("axis", 0), list[0].Rank()))
	return []Value{c.rounded(y.Div(c.tensor(0).Reshape()), c.tensor(1).Reshape(), c.value(1).elem, true)}
}
