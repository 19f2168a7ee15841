package onnx

import (
	"weft"
	"weft/nn"
)

// Activations: functions of each element, and softmax and its like.
var activationOperators = []operator{
	{name: "Celu", run: celu},
	{name: "Elu", run: elu},
	{name: "Gelu", run: gelu},
	{name: "HardSigmoid", run: hardSigmoid},
	{name: "HardSwish", run: hardSwish},
	{name: "Hardmax", run: softmax(hardmax)},
	{name: "LeakyRelu", run: leakyRelu},
	{name: "LogSoftmax", run: softmax((*weft.Tensor).LogSoftmax)},
	{name: "Mish", run: unary(func(x *weft.Tensor) *weft.Tensor { return x.Mul(x.Softplus().Tanh()) })},
	{name: "PRelu", run: prelu},
	{name: "Relu", run: unary((*weft.Tensor).Relu)},
	{name: "Selu", run: selu},
	{name: "Shrink", run: shrink},
	{name: "Sigmoid", run: unary((*weft.Tensor).Sigmoid)},
	{name: "Softmax", run: softmax((*weft.Tensor).Softmax)},
	{name: "Softplus", run: unary((*weft.Tensor).Softplus)},
	{name: "Softsign", run: unary(func(x *weft.Tensor) *weft.Tensor { return x.Div(x.Abs().Add(1)) })},
	{name: "SwiGLU", run: swiGLU},
	{name: "Swish", run: swish},
	{name: "Tanh", run: unary((*weft.Tensor).Tanh)},
	{name: "ThresholdedRelu", run: thresholdedRelu},
}

// negative is the negative part of x. Functions of it that overflow for great numbers have finite gradients.
func negative(x *weft.Tensor) *weft.Tensor { return weft.Where(x.Gt(0), 0, x) }

func celu(c *call) []Value {
	x, alpha := c.tensor(0), c.attrFloat("alpha", 1)
	if alpha == 0 {
		c.fail("attribute %q is 0", "alpha")
	}
	return tensors(x.Relu().Add(negative(x).Div(alpha).Expm1().Mul(alpha)))
}

func elu(c *call) []Value {
	x, alpha := c.tensor(0), c.attrFloat("alpha", 1)
	return tensors(eluOf(x, alpha))
}

func eluOf(x *weft.Tensor, alpha float64) *weft.Tensor {
	return weft.Where(x.Gt(0), x, negative(x).Expm1().Mul(alpha))
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

func hardSigmoid(c *call) []Value {
	return tensors(hardSigmoidOf(c.tensor(0), c.attrFloat("alpha", 0.2), c.attrFloat("beta", 0.5)))
}

func hardSigmoidOf(x *weft.Tensor, alpha, beta float64) *weft.Tensor {
	return x.Mul(alpha).Add(beta).Clamp(0, 1)
}

func hardSwish(c *call) []Value {
	x := c.tensor(0)
	return tensors(x.Mul(hardSigmoidOf(x, 1.0/6, 0.5)))
}

// hardmax is 1 at the first of the greatest elements along an axis, 0 elsewhere.
func hardmax(x *weft.Tensor, axis int) *weft.Tensor {
	if x.Size() == 0 {
		return x
	}
	shape := make([]int, x.Rank())
	for i := range shape {
		shape[i] = 1
	}
	shape[axis] = x.Dim(axis)
	at := x.Device().ArangeOf(weft.Int64, x.Dim(axis)).Reshape(shape...)
	return at.Eq(x.Detach().ArgMax(axis).Unsqueeze(axis)).To(x.DType())
}

func leakyRelu(c *call) []Value {
	x, alpha := c.tensor(0), c.attrFloat("alpha", 0.01)
	return tensors(leakyReluOf(x, alpha))
}

func leakyReluOf(x *weft.Tensor, alpha float64) *weft.Tensor {
	return weft.Where(x.Ge(0), x, x.Mul(alpha))
}

func prelu(c *call) []Value {
	x, slope := c.tensor(0), c.tensor(1)
	if !same(c.broadcast(x.Shape(), slope.Shape()), x.Shape()) {
		c.fail("slopes of the shape %v do not broadcast to %v", slope.Shape(), x.Shape())
	}
	return tensors(weft.Where(x.Ge(0), x, x.Mul(slope)))
}

func selu(c *call) []Value {
	x := c.tensor(0)
	alpha, gamma := c.attrFloat("alpha", 1.67326319217681884765625), c.attrFloat("gamma", 1.05070102214813232421875)
	return tensors(eluOf(x, alpha).Mul(gamma))
}

// shrink moves elements by bias toward 0, and those that are at most lambd away become 0.
func shrink(c *call) []Value {
	v := c.tensor(0)
	bias, lambd := c.attrFloat("bias", 0), c.attrFloat("lambd", 0.5)
	x := v
	if !v.DType().Float() {
		x = v.To(weft.Float64)
	}
	y := weft.Where(x.Lt(-lambd), x.Add(bias), weft.Where(x.Gt(lambd), x.Sub(bias), 0))
	return tensors(y.To(v.DType()))
}

func swish(c *call) []Value {
	x, alpha := c.tensor(0), c.attrFloat("alpha", 1)
	return tensors(swishOf(x, alpha))
}

func swishOf(x *weft.Tensor, alpha float64) *weft.Tensor {
	if alpha == 1 {
		return x.Silu()
	}
	return x.Mul(x.Mul(alpha).Sigmoid())
}

func swiGLU(c *call) []Value {
	a, b, alpha := c.tensor(0), c.tensor(1), c.attrFloat("alpha", 1)
	if !same(a.Shape(), b.Shape()) || a.DType() != b.DType() {
		c.fail("the halves are %s%v and %s%v: want the same", a.DType(), a.Shape(), b.DType(), b.Shape())
	}
	return tensors(swishOf(a, alpha).Mul(b))
}

func thresholdedRelu(c *call) []Value {
	x, alpha := c.tensor(0), c.attrFloat("alpha", 1)
	return tensors(thresholdedReluOf(x, alpha))
}

func thresholdedReluOf(x *weft.Tensor, alpha float64) *weft.Tensor {
	return weft.Where(x.Gt(alpha), x, 0)
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
