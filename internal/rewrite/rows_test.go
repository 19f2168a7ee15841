package rewrite_test

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// The names of operations as functions of nodes, for rows.
func add(x, y *node) *node { return apply(op.Add, x, y) }
func sub(x, y *node) *node { return apply(op.Sub, x, y) }
func mul(x, y *node) *node { return apply(op.Mul, x, y) }
func div(x, y *node) *node { return apply(op.Div, x, y) }
func neg(x *node) *node    { return apply(op.Neg, x) }
func same(x []*node) *node { return x[0] }

func expandTo(x *node, shape ...int) *node { return op.Apply(op.Expand, op.Shape(shape), x) }

// zeros returns zeros of the shape of x.
func zeros(x *node) *node { return expandTo(num(x, 0), x.Shape...) }

var minusZero = math.Copysign(0, -1)

func one(d *op.Def) func(x []*node) *node { return func(x []*node) *node { return apply(d, x[0]) } }

var rows = []row{
	{"order of operands", "f32[4] f32[4]", func(x []*node) *node { return mul(num(x[0], 3), add(x[1], x[0])) }, func(x []*node) *node { return mul(add(x[0], x[1]), num(x[0], 3)) }},
	{"constant folding", "f32[4]", func(x []*node) *node { return add(x[0], apply(op.Exp, add(num(x[0], 1), num(x[0], 2)))) }, func(x []*node) *node {
		return add(x[0], num(x[0], float64(float32(20.085537))))
	}},
	{"constant folding", "i64[4]", func(x []*node) *node {
		return add(x[0], mul(x[0].Graph.Node(ir.Const, ir.Value{Int: math.MaxInt64}, array.Int64, nil, false), num(x[0], 3)))
	}, func(x []*node) *node {
		return add(x[0], x[0].Graph.Node(ir.Const, ir.Value{Int: math.MaxInt64 - 2}, array.Int64, nil, false))
	}},
	{"constant folding", "u8[4]", func(x []*node) *node { return add(x[0], mul(num(x[0], 100), num(x[0], 3))) }, func(x []*node) *node { return add(x[0], num(x[0], 44)) }},
	{"constant folding", "f16[4]", func(x []*node) *node { return add(x[0], div(num(x[0], 1), num(x[0], 3))) }, func(x []*node) *node { return add(x[0], num(x[0], 0.333251953125)) }},
	{"constant folding", "bf16[4]", func(x []*node) *node { return add(x[0], div(num(x[0], 1), num(x[0], 3))) }, func(x []*node) *node { return add(x[0], num(x[0], 0.333984375)) }},
	{"constant folding", "f64[4]", func(x []*node) *node {
		return apply(op.Lookup("where"), apply(op.Lt, num(x[0], 1), num(x[0], 3)), add(x[0], apply(op.Sqrt, num(x[0], 2))), x[0])
	}, func(x []*node) *node {
		return op.Apply(op.Lookup("select"), nil, op.Convert(num(x[0], 1), array.Bool), add(x[0], num(x[0], math.Sqrt2)), x[0])
	}},

	{"add nothing", "f32[4]", func(x []*node) *node { return add(num(x[0], minusZero), x[0]) }, same},
	{"add nothing", "f32[4] f32[]", func(x []*node) *node { return add(x[1], expandTo(num(x[0], minusZero), 3)) }, func(x []*node) *node { return expandTo(x[1], 3) }},
	{"add nothing", "i32[4]", func(x []*node) *node { return add(x[0], num(x[0], 0)) }, same},
	{"add nothing", "bool[4]", func(x []*node) *node { return add(x[0], num(x[0], 0)) }, same},
	{"subtract nothing", "f64[4]", func(x []*node) *node { return sub(x[0], num(x[0], 0)) }, same},
	{"subtract nothing", "u8[4]", func(x []*node) *node { return sub(x[0], num(x[0], 0)) }, same},
	{"add zero", "f32[4]", func(x []*node) *node { return add(x[0], zeros(x[0])) }, same},
	{"subtract from nothing", "f32[4]", func(x []*node) *node { return sub(num(x[0], minusZero), x[0]) }, func(x []*node) *node { return neg(x[0]) }},
	{"subtract from nothing", "i64[4]", func(x []*node) *node { return sub(num(x[0], 0), x[0]) }, func(x []*node) *node { return neg(x[0]) }},
	{"times one", "f32[4]", func(x []*node) *node { return mul(num(x[0], 1), x[0]) }, same},
	{"times one", "f16[2,3]", func(x []*node) *node { return mul(x[0], expandTo(num(x[0], 1), 2, 3)) }, same},
	{"times one", "i8[4]", func(x []*node) *node { return mul(x[0], num(x[0], 1)) }, same},
	{"by one", "f32[4]", func(x []*node) *node { return div(x[0], num(x[0], 1)) }, same},
	{"by one", "i32[4]", func(x []*node) *node { return apply(op.FloorDiv, x[0], num(x[0], 1)) }, same},
	{"times zero of integers", "i32[4]", func(x []*node) *node { return mul(x[0], num(x[0], 0)) }, zeros2},
	{"times zero", "f32[4]", func(x []*node) *node { return mul(x[0], num(x[0], 0)) }, zeros2},
	{"zero divided", "f32[4]", func(x []*node) *node { return div(num(x[0], 0), x[0]) }, zeros2},
	{"times minus one", "f32[4]", func(x []*node) *node { return mul(x[0], num(x[0], -1)) }, one(op.Neg)},
	{"times minus one", "i8[4]", func(x []*node) *node { return mul(x[0], num(x[0], -1)) }, one(op.Neg)},
	{"times minus one", "f64[4]", func(x []*node) *node { return div(x[0], num(x[0], -1)) }, one(op.Neg)},
	{"double negation", "f32[4]", func(x []*node) *node { return neg(neg(x[0])) }, same},
	{"negation of a reshaped negation", "f32[4]", func(x []*node) *node { return neg(expandTo(neg(x[0]), 2, 4)) }, func(x []*node) *node { return expandTo(x[0], 2, 4) }},
	{"negation of a reshaped negation", "i32[2,3]", func(x []*node) *node { return neg(op.Transpose(neg(x[0]), 0, 1)) }, func(x []*node) *node { return op.Transpose(x[0], 0, 1) }},
	{"add a negative", "f32[4] f32[4]", func(x []*node) *node { return add(neg(x[0]), x[1]) }, func(x []*node) *node { return sub(x[1], x[0]) }},
	{"add a negative", "u8[4] u8[4]", func(x []*node) *node { return add(x[0], neg(x[1])) }, func(x []*node) *node { return sub(x[0], x[1]) }},
	{"subtract a negative", "f32[4] f32[4]", func(x []*node) *node { return sub(x[0], neg(x[1])) }, func(x []*node) *node { return add(x[0], x[1]) }},
	{"two negative factors", "f32[4] f32[4]", func(x []*node) *node { return mul(neg(x[0]), neg(x[1])) }, func(x []*node) *node { return mul(x[0], x[1]) }},
	{"two negative factors", "bf16[4] bf16[4]", func(x []*node) *node { return div(neg(x[0]), neg(x[1])) }, func(x []*node) *node { return div(x[0], x[1]) }},
	{"negative times a constant", "f32[4]", func(x []*node) *node { return mul(num(x[0], 0.3), neg(x[0])) }, func(x []*node) *node { return mul(x[0], num(x[0], -float64(float32(0.3)))) }},
	{"negative times a constant", "f64[4]", func(x []*node) *node { return div(neg(x[0]), num(x[0], 0)) }, func(x []*node) *node { return div(x[0], num(x[0], minusZero)) }},
	{"negative of a multiple", "f32[4]", func(x []*node) *node { return neg(mul(x[0], num(x[0], 3))) }, func(x []*node) *node { return mul(x[0], num(x[0], -3)) }},
	{"negative of a difference of integers", "i32[4] i32[4]", func(x []*node) *node { return neg(sub(x[0], x[1])) }, func(x []*node) *node { return sub(x[1], x[0]) }},
	{"negative of a difference", "f32[4] f32[4]", func(x []*node) *node { return neg(sub(x[0], x[1])) }, func(x []*node) *node { return sub(x[1], x[0]) }},
	{"difference of equal integers", "i32[4]", func(x []*node) *node { return sub(x[0], x[0]) }, zeros2},
	{"difference of equals", "f32[4]", func(x []*node) *node { return sub(x[0], x[0]) }, zeros2},
	{"terms of integers", "i32[4]", func(x []*node) *node { return sub(add(x[0], num(x[0], 5)), num(x[0], 2)) }, func(x []*node) *node { return add(x[0], num(x[0], 3)) }},
	{"terms of integers", "i32[4] i32[4]", func(x []*node) *node { return sub(add(x[0], x[1]), x[1]) }, same},
	{"terms of integers", "i32[4] i32[4]", func(x []*node) *node { return sub(x[1], add(x[0], x[1])) }, one(op.Neg)},
	{"terms of integers", "u8[4] u8[4]", func(x []*node) *node { return sub(x[1], sub(x[1], x[0])) }, same},
	{"terms of integers", "u8[4] u8[4]", func(x []*node) *node { return sub(sub(x[1], x[0]), x[1]) }, one(op.Neg)},
	{"terms", "f32[4] f32[4]", func(x []*node) *node { return add(x[1], sub(x[0], x[1])) }, same},
	{"terms", "f32[4]", func(x []*node) *node { return sub(sub(x[0], num(x[0], 5)), num(x[0], 2)) }, func(x []*node) *node { return add(x[0], num(x[0], -7)) }},
	{"terms of integers", "i32[4] i32[4]", func(x []*node) *node { return add(add(x[0], num(x[0], 5)), add(x[1], num(x[0], 7))) }, func(x []*node) *node { return add(add(x[0], x[1]), num(x[0], 12)) }},
	{"terms", "f64[4] f64[4] f64[4]", func(x []*node) *node { return add(add(x[0], x[1]), sub(x[2], x[1])) }, func(x []*node) *node { return add(x[0], x[2]) }},
	{"terms", "f64[4] f64[4] f64[4]", func(x []*node) *node { return sub(add(x[0], x[1]), sub(x[0], x[2])) }, func(x []*node) *node { return add(x[1], x[2]) }},
	{"terms", "f64[4]", func(x []*node) *node { return add(mul(x[0], num(x[0], 2)), mul(x[0], num(x[0], 3))) }, func(x []*node) *node { return mul(x[0], num(x[0], 5)) }},
	{"terms", "f64[4] f64[4]", func(x []*node) *node {
		return sub(sub(x[1], mul(x[0], num(x[0], 2))), x[0])
	}, func(x []*node) *node { return sub(x[1], mul(x[0], num(x[0], 3))) }},
	{"multiples of integers", "i32[4]", func(x []*node) *node { return mul(mul(x[0], num(x[0], 5)), num(x[0], 2)) }, func(x []*node) *node { return mul(x[0], num(x[0], 10)) }},
	{"constant factors", "f32[4]", func(x []*node) *node { return mul(mul(x[0], num(x[0], 5)), num(x[0], 3)) }, func(x []*node) *node { return mul(x[0], num(x[0], 15)) }},
	{"constant factors", "f32[4]", func(x []*node) *node { return mul(div(x[0], num(x[0], 5)), num(x[0], 15)) }, func(x []*node) *node { return mul(x[0], num(x[0], 3)) }},
	{"constant factors", "f32[4]", func(x []*node) *node { return div(mul(x[0], num(x[0], 15)), num(x[0], 5)) }, func(x []*node) *node { return mul(x[0], num(x[0], 3)) }},
	{"constant factors", "f32[4]", func(x []*node) *node { return div(div(x[0], num(x[0], 15)), num(x[0], 5)) }, func(x []*node) *node { return div(x[0], num(x[0], 75)) }},
	{"constant factors", "f32[4] f32[4]", func(x []*node) *node { return div(mul(num(x[0], 2), x[0]), mul(num(x[0], 4), x[1])) }, func(x []*node) *node { return mul(div(x[0], x[1]), num(x[0], 0.5)) }},
	{"constant factors", "f64[4]", func(x []*node) *node { return div(num(x[0], 3), mul(num(x[0], 2), x[0])) }, func(x []*node) *node { return div(num(x[0], 1.5), x[0]) }},
	{"constant factors", "f64[4] f64[4]", func(x []*node) *node { return mul(mul(mul(mul(x[0], num(x[0], 2)), x[1]), num(x[0], 3)), num(x[0], 5)) }, func(x []*node) *node { return mul(mul(x[0], x[1]), num(x[0], 30)) }},
	{"sign of a reciprocal", "f32[4]", func(x []*node) *node { return apply(op.Sign, apply(op.Reciprocal, x[0])) }, one(op.Sign)},
	{"one divided", "f32[4]", func(x []*node) *node { return div(num(x[0], 1), x[0]) }, one(op.Reciprocal)},
	{"one divided", "f16[4]", func(x []*node) *node { return div(num(x[0], 1), x[0]) }, one(op.Reciprocal)},
	{"reciprocal of a reciprocal", "f32[4]", func(x []*node) *node { return apply(op.Reciprocal, apply(op.Reciprocal, x[0])) }, same},
	{"product with itself", "f32[4]", func(x []*node) *node { return mul(x[0], x[0]) }, one(op.Square)},
	{"product with itself", "u8[4]", func(x []*node) *node { return mul(x[0], x[0]) }, one(op.Square)},
	{"square of a negative", "f32[4]", func(x []*node) *node { return apply(op.Square, neg(x[0])) }, one(op.Square)},
	{"square of a negative", "i8[4]", func(x []*node) *node { return apply(op.Square, apply(op.Abs, x[0])) }, one(op.Square)},
	{"sign within abs", "f32[4]", func(x []*node) *node { return apply(op.Abs, neg(x[0])) }, one(op.Abs)},
	{"sign within abs", "i8[4]", func(x []*node) *node { return apply(op.Abs, neg(x[0])) }, one(op.Abs)},
	{"sign within abs", "f32[40]", func(x []*node) *node { return apply(op.Abs, apply(op.Square, x[0])) }, one(op.Square)},
	{"sign within abs", "f32[40]", func(x []*node) *node { return apply(op.Abs, apply(op.Softplus, x[0])) }, one(op.Softplus)},
	{"sign within abs", "f64[40]", func(x []*node) *node { return apply(op.Abs, apply(op.Exp, x[0])) }, one(op.Exp)},
	{"product of absolute values", "f32[40] f32[40]", func(x []*node) *node { return div(apply(op.Abs, x[0]), apply(op.Abs, x[1])) }, func(x []*node) *node { return apply(op.Abs, div(x[0], x[1])) }},
	{"product of absolute values", "f16[40] f16[40]", func(x []*node) *node { return mul(apply(op.Abs, x[0]), apply(op.Abs, x[1])) }, func(x []*node) *node { return apply(op.Abs, mul(x[0], x[1])) }},
	{"twice the same", "f32[40]", func(x []*node) *node { return apply(op.Relu, apply(op.Relu, x[0])) }, one(op.Relu)},
	{"twice the same", "f32[40]", func(x []*node) *node { return apply(op.Floor, apply(op.Round, x[0])) }, one(op.Round)},
	{"twice the same", "f32[40]", func(x []*node) *node { return apply(op.Trunc, apply(op.Sign, x[0])) }, one(op.Sign)},
	{"extreme of itself", "f32[40]", func(x []*node) *node { return apply(op.Maximum, x[0], x[0]) }, same},
	{"extreme of negatives", "f32[40] f32[40]", func(x []*node) *node { return apply(op.Maximum, neg(x[0]), neg(x[1])) }, func(x []*node) *node { return neg(apply(op.Minimum, x[0], x[1])) }},
	{"division by a power of two", "f32[40]", func(x []*node) *node { return div(x[0], num(x[0], 8)) }, func(x []*node) *node { return mul(x[0], num(x[0], 0.125)) }},
	{"division by a power of two", "f16[40]", func(x []*node) *node { return div(x[0], num(x[0], -0.25)) }, func(x []*node) *node { return mul(x[0], num(x[0], -4)) }},
}

func zeros2(x []*node) *node { return zeros(x[0]) }
