package rewrite_test

import (
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/rewrite"
)

// What looks like something that rules know, and is another computation for some bits: of
// zeros with a sign, NaN, infinities, numbers without sign or in another order; or a kernel more
// for nothing.
var stays = []row{
	{rule: "-0+0 is 0", types: "f32[4]", before: func(x []*node) *node { return add(x[0], num(x[0], 0)) }},
	{rule: "-0-(-0) is 0", types: "f32[4]", before: func(x []*node) *node { return sub(x[0], num(x[0], minusZero)) }},
	{rule: "0-0 is 0", types: "f32[4]", before: func(x []*node) *node { return sub(num(x[0], 0), x[0]) }},
	{rule: "NaN*0", types: "f64[4]", before: func(x []*node) *node { return mul(x[0], num(x[0], 0)) }},
	{rule: "inf-inf", types: "f64[4]", before: func(x []*node) *node { return sub(x[0], x[0]) }},
	{rule: "0/0", types: "f64[4]", before: func(x []*node) *node { return div(x[0], x[0]) }},
	{rule: "-(x-x)", types: "f32[4] f32[4]", before: func(x []*node) *node { return neg(sub(x[0], x[1])) }},
	{rule: "(x+c)-c rounds", types: "f32[4]", before: func(x []*node) *node { return sub(add(x[0], num(x[0], 3)), num(x[0], 3)) }},
	{rule: "(x*c)*d rounds", types: "f32[4]", before: func(x []*node) *node { return mul(mul(x[0], num(x[0], 3)), num(x[0], 5)) }},
	{rule: "x/3", types: "f32[4]", before: func(x []*node) *node { return div(x[0], num(x[0], 3)) }},
	{rule: "a mean over 4 is as that over 3", types: "f32[6,4]", before: func(x []*node) *node { y := reduce("reduce_sum", x[0], 1, 2); return div(y, num(y, 4)) }},
	{rule: "one quotient", types: "f32[1]", before: func(x []*node) *node { return div(x[0], num(x[0], 4)) }},
	{rule: "1/2^-16 is not a float16", types: "f16[4]", before: func(x []*node) *node { return div(x[0], num(x[0], 0x1p-16)) }},
	{rule: "|-x| without sign", types: "u8[4]", before: func(x []*node) *node { return apply(op.Abs, neg(x[0])) }},
	{rule: "|x*x| wraps", types: "i8[4]", before: func(x []*node) *node { return apply(op.Abs, apply(op.Square, x[0])) }},
	{rule: "x*255 is no -x", types: "u8[4]", before: func(x []*node) *node { return mul(x[0], num(x[0], 254)) }},
	{rule: "not x<y of NaN", types: "f32[4] f32[4]", before: func(x []*node) *node { return apply(op.LogicalNot, apply(op.Lt, x[0], x[1])) }},
	{rule: "which zero is greatest", types: "f32[4] f32[4]", before: func(x []*node) *node { return apply(op.Maximum, x[1], x[0]) }},
	{rule: "int32 by float16", types: "i32[4]", before: func(x []*node) *node { return cast(cast(x[0], array.Float16), array.Float32) }},
	{rule: "floats saturate", types: "i16[4]", before: func(x []*node) *node { return cast(cast(x[0], array.Float64), array.Uint8) }},
	{rule: "float32 by int", types: "f32[4]", before: func(x []*node) *node { return cast(cast(x[0], array.Int64), array.Float32) }},
	{rule: "sum of -0", types: "f32[4,1]", before: func(x []*node) *node { return reduce("reduce_sum", x[0], 1, 2) }, after: func(x []*node) *node { return add(x[0], num(x[0], 0)) }},
	{rule: "order of a sum", types: "f32[4,5,6]", before: func(x []*node) *node { return reduce("reduce_sum", reduce("reduce_sum", x[0], 2, 3), 1, 2) }},
	{rule: "a column alone adds as a row", types: "f32[70,6]", before: func(x []*node) *node { return cut(reduce("reduce_sum", x[0], 0, 1), 1, 1, 1, 1) }},
	{rule: "used twice", types: "f32[6]", before: func(x []*node) *node {
		e := apply(op.Exp, x[0])
		return add(cut(e, 0, 0, 1, 3), cut(e, 0, 3, 1, 3))
	}},
	{rule: "part of what was put", types: "f32[4]", before: func(x []*node) *node { return cut(pad(x[0], 0, 2, 2), 0, 1, 1, 4) }},
	{rule: "backwards", types: "f32[4]", before: func(x []*node) *node { return cut(x[0], 0, 3, -1, 4) }},
	{rule: "columns beside a column", types: "f32[4,5] f32[4,1]", before: func(x []*node) *node { return cut(put(x[0], x[1], 2, 5, 1), 1, 1, 1, 2) }},
	{rule: "backwards over forwards", types: "f32[6] f32[6]", before: func(x []*node) *node { return put(x[0], x[1], 5, -1) }},
	{rule: "another diagonal", types: "f32[4]", before: func(x []*node) *node {
		return op.Apply(op.Diagonal, op.Offset(0), op.Apply(op.Place, op.Placement{Shape: []int{5, 5}, View: op.Offset(1)}, x[0]))
	}},
	{rule: "pow rounds otherwise", types: "f32[4]", before: func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 2)) }},
	{rule: "sqrt of -inf", types: "f32[4]", before: func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 0.5)) }},
	{rule: "one term", types: "f32[4,1] f32[1,4]", before: pair(op.MatMul2, 0, 1), after: pair(op.Term, 0, 1)},
	{rule: "log1p is Stable", types: "f32[4]", before: func(x []*node) *node { return apply(op.Log, add(x[0], num(x[0], 1))) }},
}

// Exact rules leave what is not the same to the bit, or make something else of it that is.
func TestExactRulesKeepBits(t *testing.T) {
	for _, w := range stays {
		in := w.inputs(ir.New())
		n := w.before(in)
		res := rewrite.Run([]*node{n}, rewrite.Exact)
		if w.after != nil {
			n = w.after(in)
		}
		if got, want := show(res.Outs[0]), show(rewrite.RunRules([]*node{n}, []*rewrite.Rule{find("order of operands")}, nil).Outs[0]); got != want {
			t.Errorf("%s: %s becomes %s\n%s", w.rule, want, got, res.Report.String())
		}
	}
}
