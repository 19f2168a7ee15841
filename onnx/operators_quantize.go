package onnx

import (
	"weft"
)

// Quantisation, and products of quantised tensors.
var quantizeOperators = []operator{
	{name: "ConvInteger", run: convInteger},
	{name: "DequantizeLinear", run: dequantizeLinear},
	{name: "DynamicQuantizeLinear", run: dynamicQuantizeLinear},
	{name: "MatMulInteger", run: func(c *call) []Value {
		return tensors(c.wholeProduct(c.tensor(0), c.tensor(1), c.optional(2), c.optional(3)).To(weft.Int32))
	}},
	{name: "QLinearConv", run: qLinearConv},
	{name: "QLinearMatMul", run: qLinearMatMul},
	{name: "QuantizeLinear", run: quantizeLinear},
}

// limits are the least and the greatest integer of a type.
func (e ElementType) limits() (lo, hi int64) {
	if bits := elements[e].bits; bits < 8 {
		if e.DType().Unsigned() {
			return 0, 1<<bits - 1
		}
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	return e.DType().Limits()
}

// spread gives scales or zero points the shape with which they broadcast to x: one for all elements, one for
// each index of the axis, or one for each block of indices.
func (c *call) spread(p, x *weft.Tensor, axis, block int) *weft.Tensor {
	if p.Size() == 1 {
		return p.Reshape()
	}
	axis = c.axis(axis, x.Rank())
	if block == 0 {
		if p.Rank() != 1 || p.Dim(0) != x.Dim(axis) {
			c.fail("scales or zero points have the shape %v: axis %d of %v needs one for each index", p.Shape(), axis, x.Shape())
		}
		shape := make([]int, x.Rank())
		for i := range shape {
			shape[i] = 1
		}
		shape[axis] = p.Dim(0)
		return p.Reshape(shape...)
	}
	if block < 0 || p.Rank() != x.Rank() || p.Dim(axis) != (x.Dim(axis)+block-1)/block {
		c.fail("scales or zero points have the shape %v: it does not divide axis %d of %v in blocks of %d", p.Shape(), axis, x.Shape(), block)
	}
	block = min(block, max(x.Dim(axis), 1))
	spans := make([]weft.Span, axis+1)
	for i := range spans {
		spans[i] = weft.All
	}
	spans[axis] = weft.Range(0, x.Dim(axis))
	return p.RepeatInterleave(axis, block).Slice(spans...)
}

// rounded makes elements of a type of numbers that are divided by their scale: integers are rounded to even
// ones at ties, moved by the zero point and clamped.
func (c *call) rounded(x, zero *weft.Tensor, to ElementType, saturate bool) Value {
	if !to.DType().Integer() || to >= Float8E4M3FN && to <= Float8E5M2FNUZ || to == Float4E2M1 || to == Float8E8M0 {
		if zero != nil && to == Float4E2M1 {
			x = x.Add(decode(to, zero))
		}
		return c.encoded(x, to, saturate, "nearest")
	}
	lo, hi := to.limits()
	x = x.Round()
	if x.DType().Half() {
		x = x.To(weft.Float32)
	}
	if zero != nil {
		x = x.Add(zero.To(x.DType()))
	}
	return c.encoded(x.Clamp(float64(lo), float64(hi)), to, saturate, "nearest")
}

func quantizeLinear(c *call) []Value {
	x, scale, zero := c.tensor(0), c.decoded(1), c.optional(2)
	axis, block, saturate := c.attrInt("axis", 1), c.attrInt("block_size", 0), c.attrBool("saturate", true)
	to, precision := ElementType(c.attrInt("output_dtype", 0)), ElementType(c.attrInt("precision", 0))
	switch {
	case zero != nil && to != Undefined && to != c.value(2).elem:
		c.fail("output_dtype is %v, the zero point %v", to, c.value(2).elem)
	case zero != nil:
		to = c.value(2).elem
		zero = c.spread(zero, x, axis, block)
	case to == Undefined:
		to = Uint8
	}
	if !to.known() || to == String {
		c.fail("output_dtype is the %v", to)
	}
	if !x.DType().Float() {
		x = x.To(weft.Float32)
	}
	scale = c.spread(scale, x, axis, block)
	d := x.DType()
	if precision != Undefined {
		d = precision.DType()
	}
	return []Value{c.rounded(x.To(d).Div(scale.To(d)), zero, to, saturate)}
}

func dequantizeLinear(c *call) []Value {
	v, x, scale, zero := c.value(0), c.decoded(0), c.decoded(1), c.optional(2)
	axis, block, to := c.attrInt("axis", 1), c.attrInt("block_size", 0), ElementType(c.attrInt("output_dtype", 0))
	d := scale.DType()
	if to != Undefined {
		d = to.DType()
	}
	if !d.Float() {
		c.fail("the result is to be of %v: want floats", d)
	}
	scale = c.spread(scale, x, axis, block)
	if x.DType().Integer() {
		if zero != nil {
			x = x.To(weft.Int32).Sub(c.spread(zero, x, axis, block).To(weft.Int32))
		}
	} else if zero != nil && v.elem == Float4E2M1 {
		x = x.Sub(c.spread(c.decoded(2), x, axis, block))
	}
	wide := weft.Float32
	if d == weft.Float64 {
		wide = d
	}
	return tensors(x.To(wide).Mul(scale.To(wide)).To(d))
}

func dynamicQuantizeLinear(c *call) []Value {
	x := c.tensor(0)
	hi, lo := x.Max().Maximum(0), x.Min().Minimum(0)
	scale := weft.Where(hi.Eq(lo), weft.OnesOf(x.DType()), hi.Sub(lo).Div(255)) // 1 of zeros alone, as in ONNX Runtime
	zero := lo.Neg().Div(scale).Clamp(0, 255).Round()
	y := c.rounded(x.Div(scale), zero, Uint8, true)
	return []Value{y, TensorOf(scale), TensorOf(zero.To(weft.Uint8))}
}

// exactFloat is the type of floats in which sums of n products of differences of bytes are exact.
func exactFloat(n int) weft.DType {
	if n <= 1<<24/(255*255) {
		return weft.Float32
	}
	return weft.Float64
}

// wholeProduct is the matrix product of integers less their zero points, as floats that are exact. A vector of
// zero points has one for each row of a and each column of b.
func (c *call) wholeProduct(a, b, aZero, bZero *weft.Tensor) *weft.Tensor {
	d := exactFloat(a.Dim(-1))
	x, y := a.To(d), b.To(d)
	if aZero != nil {
		x = x.Sub(perRow(aZero).To(d))
	}
	if bZero != nil {
		y = y.Sub(bZero.To(d))
	}
	return x.MatMul(y)
}

// perRow gives a vector of numbers for rows an axis for the columns.
func perRow(p *weft.Tensor) *weft.Tensor {
	if p.Rank() == 1 && p.Size() > 1 {
		return p.Unsqueeze(1)
	}
	return p
}

func qLinearMatMul(c *call) []Value {
	y := c.wholeProduct(c.tensor(0), c.tensor(3), c.optional(2), c.optional(5))
	return []Value{c.rescaled(y, perRow(c.tensor(1)), c.tensor(4), c.tensor(6), perRow(c.tensor(7)), c.value(7).elem)}
}

// rescaled quantises y*a*b/scale.
func (c *call) rescaled(y, a, b, scale, zero *weft.Tensor, to ElementType) Value {
	f := weft.Float32
	factor := a.To(f).Mul(b.To(f)).Div(perRow(scale).To(f))
	return c.rounded(y.To(f).Mul(factor), zero, to, true)
}

// wholeConvolution is a convolution of integers less their zero points, as floats that are exact. A vector of
// the filters' zero points has one for each of them.
func (c *call) wholeConvolution(x, w, xZero, wZero, bias *weft.Tensor) *weft.Tensor {
	d := exactFloat(w.Size() / max(w.Dim(0), 1))
	x, w = x.To(d), w.To(d)
	if xZero != nil {
		x = x.Sub(xZero.Reshape().To(d))
	}
	if wZero != nil {
		w = w.Sub(c.spread(wZero, w, 0, 0).To(d))
	}
	if bias != nil {
		bias = bias.To(d)
	}
	inner := *c
	inner.in = tensors(x, w, bias)
	out := convolution(&inner)
	c.asked |= inner.asked
	return out[0].tensor
}

func convInteger(c *call) []Value {
	return tensors(c.wholeConvolution(c.tensor(0), c.tensor(1), c.optional(2), c.optional(3), nil).To(weft.Int32))
}

func qLinearConv(c *call) []Value {
	y := c.wholeConvolution(c.tensor(0), c.tensor(3), c.optional(2), c.optional(5), nil)
	if b := c.optional(8); b != nil { // integers of 32 bits, added where floats have them exactly
		y = y.To(weft.Float64).Add(c.perChannel(b, y).To(weft.Float64))
	}
	scale := c.spread(c.tensor(4), y, 1, 0)
	return []Value{c.rescaled(y, c.tensor(1).Reshape(), scale, c.tensor(6).Reshape(), c.tensor(7).Reshape(), c.value(7).elem)}
}
