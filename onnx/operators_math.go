package onnx

import "weft"

// Elementwise operators. One with a file of its own subject (activations, quantisation) stands there.
var mathOperators = []operator{
	{name: "Abs", run: unary((*weft.Tensor).Abs)},
	{name: "Acos", run: unary((*weft.Tensor).Acos)},
	{name: "Acosh", run: unary((*weft.Tensor).Acosh)},
	{name: "Add", run: pairwise((*weft.Tensor).Add)},
	{name: "And", run: pairwise((*weft.Tensor).LogicalAnd)},
	{name: "Asin", run: unary((*weft.Tensor).Asin)},
	{name: "Asinh", run: unary((*weft.Tensor).Asinh)},
	{name: "Atan", run: unary((*weft.Tensor).Atan)},
	{name: "Atanh", run: unary((*weft.Tensor).Atanh)},
	{name: "Ceil", run: unary((*weft.Tensor).Ceil)},
	{name: "Cos", run: unary((*weft.Tensor).Cos)},
	{name: "Cosh", run: unary((*weft.Tensor).Cosh)},
	{name: "Div", run: divide},
	{name: "Equal", run: equal},
	{name: "Erf", run: unary((*weft.Tensor).Erf)},
	{name: "Exp", run: unary((*weft.Tensor).Exp)},
	{name: "Floor", run: unary((*weft.Tensor).Floor)},
	{name: "Greater", run: pairwise((*weft.Tensor).Gt)},
	{name: "GreaterOrEqual", run: pairwise((*weft.Tensor).Ge)},
	{name: "Less", run: pairwise((*weft.Tensor).Lt)},
	{name: "LessOrEqual", run: pairwise((*weft.Tensor).Le)},
	{name: "Log", run: unary((*weft.Tensor).Log)},
	{name: "MatMul", run: pairwise(func(a *weft.Tensor, b any) *weft.Tensor { return a.MatMul(b.(*weft.Tensor)) })},
	{name: "Mul", run: pairwise((*weft.Tensor).Mul)},
	{name: "Neg", run: unary((*weft.Tensor).Neg)},
	{name: "Not", run: unary((*weft.Tensor).LogicalNot)},
	{name: "Or", run: pairwise((*weft.Tensor).LogicalOr)},
	{name: "Pow", run: power},
	{name: "Reciprocal", run: unary((*weft.Tensor).Reciprocal)},
	{name: "Sin", run: unary((*weft.Tensor).Sin)},
	{name: "Sinh", run: unary((*weft.Tensor).Sinh)},
	{name: "Sqrt", run: unary((*weft.Tensor).Sqrt)},
	{name: "Sub", run: pairwise((*weft.Tensor).Sub)},
	{name: "Tan", run: unary((*weft.Tensor).Tan)},
	{name: "Where", run: where},
	{name: "Xor", run: pairwise((*weft.Tensor).LogicalXor)},
}

// unary is an operator of one tensor.
func unary(f func(x *weft.Tensor) *weft.Tensor) func(c *call) []Value {
	return func(c *call) []Value { return tensors(f(c.tensor(0))) }
}

// pairwise is an operator of two tensors, whose shapes broadcast.
func pairwise(f func(x *weft.Tensor, y any) *weft.Tensor) func(c *call) []Value {
	return func(c *call) []Value { return tensors(f(c.tensor(0), c.tensor(1))) }
}

// divide truncates the quotients of integers toward zero, as C does.
func divide(c *call) []Value {
	x, y := c.tensor(0), c.tensor(1)
	if !x.DType().Integer() {
		return tensors(x.Div(y))
	}
	q := x.FloorDiv(y)
	if x.DType().Unsigned() {
		return tensors(q)
	}
	// One more where the quotient was negative and not whole.
	up := x.Mod(y).Ne(0).LogicalAnd(x.Lt(0).LogicalXor(y.Lt(0)))
	return tensors(q.Add(up.To(x.DType())))
}

func equal(c *call) []Value {
	x, y := c.value(0), c.value(1)
	if x.kind != StringsKind {
		return tensors(c.tensor(0).Eq(c.tensor(1)))
	}
	c.strings(1)
	// Equal strings have equal numbers.
	number := map[string]int64{}
	numbers := func(v Value) *weft.Tensor {
		list := make([]int64, len(v.strings))
		for i, s := range v.strings {
			if _, ok := number[s]; !ok {
				number[s] = int64(len(number))
			}
			list[i] = number[s]
		}
		return weft.FromSlice(list, v.shape...)
	}
	return tensors(numbers(x).Eq(numbers(y)))
}

// power has the type of the base.
func power(c *call) []Value {
	x, y := c.tensor(0), c.tensor(1)
	d := x.DType()
	if v := c.value(1); v.known && y.Size() == 1 && y.Rank() <= x.Rank() { // squares are products
		if n := c.float(1); n == 2 || n == 3 || n == 0.5 {
			if n == 0.5 {
				return tensors(x.Sqrt().To(d))
			}
			return tensors(x.Pow(int(n)))
		}
	}
	if d.Integer() && y.DType().Float() {
		return tensors(x.To(weft.Float64).Pow(y).To(d))
	}
	return tensors(x.Pow(y).To(d))
}

func where(c *call) []Value {
	if c.value(1).kind == StringsKind {
		c.fail("strings are not selected from")
	}
	return tensors(weft.Where(c.tensor(0), c.tensor(1), c.tensor(2)))
}
