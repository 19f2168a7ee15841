package onnx

import (
	"math"
	"slices"

	"weft"
)

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
	{name: "BitShift", run: bitShift},
	{name: "BitwiseAnd", run: pairwise((*weft.Tensor).BitAnd)},
	{name: "BitwiseNot", run: unary((*weft.Tensor).BitNot)},
	{name: "BitwiseOr", run: pairwise((*weft.Tensor).BitOr)},
	{name: "BitwiseXor", run: pairwise((*weft.Tensor).BitXor)},
	{name: "Bernoulli", run: bernoulli, random: true},
	{name: "Ceil", run: unary((*weft.Tensor).Ceil)},
	{name: "Clip", run: clip},
	{name: "Cos", run: unary((*weft.Tensor).Cos)},
	{name: "Cosh", run: unary((*weft.Tensor).Cosh)},
	{name: "Det", run: unary(determinant)},
	{name: "Div", run: divide},
	{name: "Einsum", run: einsum},
	{name: "Equal", run: equal},
	{name: "Erf", run: unary((*weft.Tensor).Erf)},
	{name: "Exp", run: unary((*weft.Tensor).Exp)},
	{name: "Floor", run: unary((*weft.Tensor).Floor)},
	{name: "Greater", run: pairwise((*weft.Tensor).Gt)},
	{name: "GreaterOrEqual", run: pairwise((*weft.Tensor).Ge)},
	{name: "IsInf", run: isInf},
	{name: "IsNaN", run: unary((*weft.Tensor).IsNaN)},
	{name: "Less", run: pairwise((*weft.Tensor).Lt)},
	{name: "LessOrEqual", run: pairwise((*weft.Tensor).Le)},
	{name: "Log", run: unary((*weft.Tensor).Log)},
	{name: "MatMul", run: pairwise(func(a *weft.Tensor, b any) *weft.Tensor { return a.MatMul(b.(*weft.Tensor)) })},
	{name: "Max", run: folded((*weft.Tensor).Maximum)},
	{name: "Mean", run: mean},
	{name: "Min", run: folded((*weft.Tensor).Minimum)},
	{name: "Mod", run: modulo},
	{name: "Mul", run: pairwise((*weft.Tensor).Mul)},
	{name: "Multinomial", run: multinomial, random: true},
	{name: "Neg", run: unary((*weft.Tensor).Neg)},
	{name: "Not", run: unary((*weft.Tensor).LogicalNot)},
	{name: "Or", run: pairwise((*weft.Tensor).LogicalOr)},
	{name: "Pow", run: power},
	{name: "RandomNormal", run: randomNormal, random: true},
	{name: "RandomNormalLike", run: randomNormal, random: true},
	{name: "RandomUniform", run: randomUniform, random: true},
	{name: "RandomUniformLike", run: randomUniform, random: true},
	{name: "Reciprocal", run: unary((*weft.Tensor).Reciprocal)},
	{name: "Round", run: unary((*weft.Tensor).Round)},
	{name: "Sign", run: unary((*weft.Tensor).Sign)},
	{name: "Sin", run: unary((*weft.Tensor).Sin)},
	{name: "Sinh", run: unary((*weft.Tensor).Sinh)},
	{name: "Sqrt", run: unary((*weft.Tensor).Sqrt)},
	{name: "Sub", run: pairwise((*weft.Tensor).Sub)},
	{name: "Sum", run: folded((*weft.Tensor).Add)},
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
	return tensors(quotient(c.tensor(0), c.tensor(1)))
}

// quotient is x/y, of integers rounded towards 0.
func quotient(x, y *weft.Tensor) *weft.Tensor {
	if !x.DType().Integer() {
		return x.Div(y)
	}
	q := x.FloorDiv(y)
	if x.DType().Unsigned() {
		return q
	}
	// One more where the quotient was negative and not whole.
	up := x.Mod(y).Ne(0).LogicalAnd(x.Lt(0).LogicalXor(y.Lt(0)))
	return q.Add(up.To(x.DType()))
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
	switch e := y.DType(); {
	case d.Integer() && e.Float():
		return tensors(x.To(weft.Float64).Pow(y).To(d))
	case d.Integer() && !d.Unsigned() && e == weft.Uint64: // no integer type has both; products wrap alike in all
		return tensors(x.To(weft.Uint64).Pow(y).To(d))
	case d == weft.Uint64 && e.Integer() && !e.Unsigned(): // a negative power leaves 0 of all but 1
		whole := x.Pow(y.Maximum(0).To(d))
		return tensors(weft.Where(y.Lt(0), x.Eq(1).To(d), whole))
	}
	return tensors(x.Pow(y).To(d))
}

func where(c *call) []Value {
	x, y := c.value(1), c.value(2)
	if x.kind != StringsKind {
		return []Value{like(x, weft.Where(c.tensor(0), c.tensor(1), c.tensor(2)))}
	}
	// Places in the one list of strings are selected instead.
	list := append(slices.Clone(c.strings(1)), c.strings(2)...)
	from := weft.Arange(len(x.strings)).Reshape(x.shape...)
	other := weft.Arange(len(y.strings)).Add(int64(len(x.strings))).Reshape(y.shape...)
	places := weft.Where(c.host(0), from, other)
	out := make([]string, places.Size())
	for i, place := range weft.Data[int64](places.Contiguous()) {
		out[i] = list[place]
	}
	return []Value{StringsOf(out, places.Shape()...)}
}

// folded is an operator of one tensor or more, whose shapes broadcast.
func folded(f func(x *weft.Tensor, y any) *weft.Tensor) func(c *call) []Value {
	return func(c *call) []Value {
		y := c.tensor(0)
		for _, x := range c.all()[1:] {
			y = f(y, x)
		}
		return tensors(y)
	}
}

func mean(c *call) []Value {
	y := folded((*weft.Tensor).Add)(c)[0].tensor
	return tensors(y.Div(len(c.in)).To(y.DType()))
}

// bitShift keeps signs to the right, and leaves no bits where the distance is not within the width.
func bitShift(c *call) []Value {
	x, distance := c.tensor(0), c.tensor(1)
	switch d := c.attrString("direction", ""); d {
	case "LEFT":
		return tensors(x.Shl(distance))
	case "RIGHT":
		return tensors(x.Shr(distance))
	default:
		c.fail("attribute %q is %q: want LEFT or RIGHT", "direction", d)
	}
	return nil
}

// clip has its limits as inputs since opset 11, and as attributes before.
func clip(c *call) []Value {
	x := c.tensor(0)
	if c.opset() < 11 {
		if lo := c.attrFloat("min", -math.MaxFloat32); lo != -math.MaxFloat32 {
			x = x.Maximum(lo)
		}
		if hi := c.attrFloat("max", math.MaxFloat32); hi != math.MaxFloat32 {
			x = x.Minimum(hi)
		}
		return tensors(x)
	}
	if lo := c.optional(1); lo != nil {
		x = x.Maximum(lo)
	}
	if hi := c.optional(2); hi != nil {
		x = x.Minimum(hi)
	}
	return tensors(x)
}

func einsum(c *call) []Value {
	c.need("equation")
	return tensors(weft.Einsum(c.attrString("equation", ""), c.all()...))
}

func isInf(c *call) []Value {
	x := c.tensor(0)
	low, high := c.attrBool("detect_negative", true), c.attrBool("detect_positive", true)
	inf := x.IsInf()
	if !low {
		inf = inf.LogicalAnd(x.Gt(0))
	}
	if !high {
		inf = inf.LogicalAnd(x.Lt(0))
	}
	return tensors(inf)
}

// modulo has the sign of the divisor, or with fmod that of the dividend.
func modulo(c *call) []Value {
	x, y := c.tensor(0), c.tensor(1)
	switch {
	case !c.attrBool("fmod", false):
		return tensors(x.Mod(y))
	case x.DType().Float():
		r := x.Abs().Mod(y.Abs())
		return tensors(weft.Where(x.Lt(0), r.Neg(), r))
	case x.DType().Unsigned():
		return tensors(x.Mod(y))
	}
	r := x.Mod(y)
	other := r.Ne(0).LogicalAnd(x.Lt(0).LogicalXor(y.Lt(0)))
	return tensors(weft.Where(other, r.Sub(y), r))
}

// determinant is that of the matrices [... n n], by Gaussian elimination with partial pivoting (Golub, Van
// Loan, Matrix Computations, 3.4). A column without a pivot makes it 0.
func determinant(x *weft.Tensor) *weft.Tensor {
	r := x.Rank()
	if r < 2 || x.Dim(r-1) != x.Dim(r-2) {
		panic(failure{errorf("the input has the shape %v: want square matrices", x.Shape())})
	}
	n := x.Dim(r - 1)
	batch := x.Shape()[:r-2]
	count := 1
	for _, m := range batch {
		count *= m
	}
	a := x.Reshape(count, n, n)
	det := weft.OnesOf(x.DType(), count)
	for ; n > 0 && count > 0; n-- {
		all := weft.Range(0, count)
		place := a.Slice(all, weft.Range(0, n), weft.Range(0, 1)).Abs().ArgMax(1).Reshape(count, 1, 1)
		row := a.TakeAlongAxis(1, place)
		pivot := row.Slice(all, weft.Range(0, 1), weft.Range(0, 1))
		sign := weft.Where(place.Eq(0), weft.OnesOf(x.DType(), 1), weft.OnesOf(x.DType(), 1).Neg())
		det = det.Mul(pivot.Mul(sign).Reshape(count))
		if n == 1 {
			break
		}
		// The first row takes the place of the pivot's. The rest of the rows lose their first column.
		chosen := weft.Arange(n).Reshape(1, n, 1).Eq(place)
		rest := weft.Where(chosen, a.Slice(all, weft.Range(0, 1)), a).Slice(all, weft.Range(1, n))
		factor := rest.Slice(all, weft.Range(0, n-1), weft.Range(0, 1)).Div(weft.Where(pivot.Eq(0), weft.OnesOf(x.DType(), 1), pivot))
		tail := weft.Range(1, n)
		a = rest.Slice(all, weft.Range(0, n-1), tail).Sub(factor.Mul(row.Slice(all, weft.Range(0, 1), tail)))
	}
	return det.Reshape(batch...)
}
