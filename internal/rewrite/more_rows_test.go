package rewrite_test

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// More rows: windows, truth values, reductions, powers, products of matrices.

func reduce(name string, x *node, lo, hi int) *node {
	return op.Apply(op.Lookup(name), op.Group{Lo: lo, Hi: hi}, x)
}

func reshapeTo(x *node, shape ...int) *node { return op.Apply(op.Reshape, op.Shape(shape), x) }

// cut is every step-th element from start, count of them, along one axis.
func cut(x *node, axis, start, step, count int) *node {
	w := op.AllOf(x.Shape)
	w.Start[axis], w.Step[axis], w.Count[axis] = start, step, count
	return op.Apply(op.Slice, w, x)
}

func window(x *node, start, step, count []int) *node {
	return op.Apply(op.Slice, op.Window{Start: start, Step: step, Count: count}, x)
}

func strided(x *node, offset int, shape []int, strides ...int) *node {
	if len(x.Shape) != 1 {
		x = reshapeTo(x, x.Size())
	}
	return op.Apply(op.Strided, op.StridedWindow{Offset: offset, Shape: shape, Strides: strides}, x)
}

// put is x with y written over a window on its elements.
func put(x, y *node, offset int, strides ...int) *node {
	return op.Apply(op.Put, op.StridedWindow{Offset: offset, Shape: y.Shape, Strides: strides}, x, y)
}

func choose(c, x, y *node) *node { return op.Apply(op.Lookup("select"), nil, c, x, y) }

func boolean(x *node, b bool) *node {
	v := ir.Value{}
	if b {
		v.Int = 1
	}
	return x.Graph.Node(ir.Const, v, array.Bool, nil, false)
}

func cast(x *node, d array.DType) *node { return op.Apply(op.Cast, op.To(d), x) }

func power(x *node, k int) *node { return op.Apply(op.PowInt, op.Power(k), x) }

func pad(x *node, fill float64, pads ...int) *node {
	return op.Apply(op.Pad, op.Padding{Pads: pads, Value: fill}, x)
}

func cat(axis int, x ...*node) *node { return op.Apply(op.Cat, op.Axis(axis), x...) }

func swap(x *node) *node { return op.Transpose(x, len(x.Shape)-2, len(x.Shape)-1) }

// pair is a rule on two arguments: of d, want.
func pair(d *op.Def, i, j int) func(x []*node) *node {
	return func(x []*node) *node { return apply(d, x[i], x[j]) }
}

func init() {
	rows = append(rows, []row{
		// shape.go
		{"reshape of a reshape", "f32[2,3]", func(x []*node) *node { return reshapeTo(reshapeTo(x[0], 6), 3, 2) }, func(x []*node) *node { return reshapeTo(x[0], 3, 2) }},
		{"reshape of a reshape", "c64[2,3]", func(x []*node) *node { return reshapeTo(reshapeTo(x[0], 6), 2, 3) }, same},
		{"elementwise work on reshaped work", "f32[2,6] f32[2,6]", func(x []*node) *node {
			return apply(op.Maximum, reshapeTo(mul(x[0], x[1]), 4, 3), num(x[0], 0))
		}, func(x []*node) *node { return reshapeTo(apply(op.Maximum, mul(x[0], x[1]), num(x[0], 0)), 4, 3) }},
		{"elementwise work on reshaped work", "f32[2,6]", func(x []*node) *node {
			return sub(reshapeTo(apply(op.Sqrt, x[0]), 12), reshapeTo(x[0], 12))
		}, func(x []*node) *node { return reshapeTo(sub(apply(op.Sqrt, x[0]), x[0]), 12) }},
		{"expansion of an expansion", "f32[3]", func(x []*node) *node { return expandTo(expandTo(x[0], 1, 3), 4, 3) }, func(x []*node) *node { return expandTo(x[0], 4, 3) }},
		{"permutation of a permutation", "f32[2,3,4]", func(x []*node) *node { return op.Transpose(op.Transpose(x[0], 0, 1), 1, 2) }, func(x []*node) *node { return op.Apply(op.Permute, op.Order{1, 2, 0}, x[0]) }},
		{"permutation of a permutation", "bool[2,3]", func(x []*node) *node { return swap(swap(x[0])) }, same},
		{"slice of all", "f32[2,3]", func(x []*node) *node { return cut(x[0], 0, 0, 1, 2) }, same},
		{"slice of a slice", "f32[20]", func(x []*node) *node { return cut(cut(x[0], 0, 18, -2, 8), 0, 1, 3, 3) }, func(x []*node) *node { return cut(x[0], 0, 16, -6, 3) }},
		{"slice of a slice", "f32[2,9]", func(x []*node) *node { return cut(cut(x[0], 1, 1, 2, 4), 0, 1, 1, 1) }, func(x []*node) *node {
			return op.Apply(op.Slice, op.Window{Start: []int{1, 1}, Step: []int{1, 2}, Count: []int{1, 4}}, x[0])
		}},
		{"slice of a permutation", "f32[4,5]", func(x []*node) *node { return cut(swap(x[0]), 0, 1, 2, 2) }, func(x []*node) *node { return swap(cut(x[0], 1, 1, 2, 2)) }},
		{"slice of an expansion", "f32[1,5]", func(x []*node) *node { return cut(cut(expandTo(x[0], 3, 4, 5), 2, 1, 1, 2), 1, 2, 1, 2) }, func(x []*node) *node { return expandTo(cut(x[0], 1, 1, 1, 2), 3, 2, 2) }},
		{"slice of elementwise work", "f32[4,5] f32[5]", func(x []*node) *node { return cut(mul(apply(op.Exp, x[0]), x[1]), 1, 1, 2, 2) }, func(x []*node) *node {
			return mul(apply(op.Exp, cut(x[0], 1, 1, 2, 2)), cut(x[1], 0, 1, 2, 2))
		}},
		{"slice of a reduction", "f32[6,70]", func(x []*node) *node { return cut(reduce("reduce_sum", x[0], 1, 2), 0, 1, 2, 3) }, func(x []*node) *node { return reduce("reduce_sum", cut(x[0], 0, 1, 2, 3), 1, 2) }},
		{"slice of a reduction", "f32[70,6]", func(x []*node) *node { return cut(reduce("reduce_max", x[0], 0, 1), 1, 1, 1, 3) }, func(x []*node) *node { return reduce("reduce_max", cut(x[0], 1, 1, 1, 3), 0, 1) }},
		{"slice of a joint array", "f32[2,3] f32[4,3] f32[1,3]", func(x []*node) *node { return cut(cat(0, x...), 0, 5, -1, 3) }, func(x []*node) *node { return cut(x[1], 0, 3, -1, 3) }},
		{"slice of a joint array", "f32[2,3] f32[4,3] f32[1,3]", func(x []*node) *node { return cut(cat(0, x...), 0, 3, 1, 4) }, func(x []*node) *node { return cut(cat(0, x[1], x[2]), 0, 1, 1, 4) }},
		{"slice of what was put there", "f32[2,3]", func(x []*node) *node { return window(pad(x[0], 2, 1, 1, 0, 2), []int{1, 0}, []int{1, 1}, []int{2, 3}) }, func(x []*node) *node {
			return op.Apply(op.Slice, op.AllOf([]int{2, 3}), x[0])
		}},
		{"slice of what was put there", "i32[4]", func(x []*node) *node { return cut(pad(x[0], 7, 2, 3), 0, 6, 1, 3) }, func(x []*node) *node { return expandTo(num(x[0], 7), 3) }},
		{"put everywhere", "f32[4]", func(x []*node) *node { return pad(x[0], 7, 0, 0) }, same},
		{"diagonal of a diagonal", "f32[4]", func(x []*node) *node {
			return op.Apply(op.Diagonal, op.Offset(1), op.Apply(op.Place, op.Placement{Shape: []int{5, 5}, View: op.Offset(1)}, x[0]))
		}, same},
		{"elementwise work on expansions", "f32[3] f32[2,3]", func(x []*node) *node { return add(expandTo(x[0], 2, 3), x[1]) }, pair(op.Add, 0, 1)},
		{"elementwise work on expansions", "f32[3,1] f32[]", func(x []*node) *node { return mul(expandTo(x[0], 3, 4), expandTo(x[1], 3, 4)) }, func(x []*node) *node { return expandTo(mul(x[0], x[1]), 3, 4) }},
		{"elementwise work on expansions", "f32[1]", func(x []*node) *node { return cast(expandTo(x[0], 4), array.Float64) }, func(x []*node) *node { return expandTo(cast(x[0], array.Float64), 4) }},
		{"joint array of one", "f32[3] f32[0] f32[2]", func(x []*node) *node { return cat(0, x...) }, func(x []*node) *node { return cat(0, x[0], x[2]) }},
		{"joint array of one", "f32[3]", func(x []*node) *node { return cat(0, x...) }, same},
		{"joint array of repetitions", "f32[1,3]", func(x []*node) *node { return cat(0, x[0], x[0], x[0]) }, func(x []*node) *node { return expandTo(x[0], 3, 3) }},
		{"joint array of repetitions", "i32[3]", func(x []*node) *node { return add(cat(0, expandTo(num(x[0], 2), 1), expandTo(num(x[0], 2), 2)), x[0]) }, func(x []*node) *node {
			return add(expandTo(num(x[0], 2), 3), x[0])
		}},
		{"joint array of joint arrays", "f32[3] f32[1] f32[2]", func(x []*node) *node { return cat(0, cat(0, x[0], x[1]), x[2]) }, func(x []*node) *node { return cat(0, x...) }},
		{"joint array of neighbouring slices", "f32[9] f32[2]", func(x []*node) *node { return cat(0, x[1], cut(x[0], 0, 1, 1, 3), cut(x[0], 0, 4, 1, 2)) }, func(x []*node) *node {
			return cat(0, x[1], cut(x[0], 0, 1, 1, 5))
		}},
		{"parts of a complex number", "f32[9] f32[9]", func(x []*node) *node {
			z := x[0].Graph.Node(op.Complex, nil, array.Complex64, []int{9}, false, x[0], x[1])
			return add(x[0].Graph.Node(op.Imag, nil, array.Float32, []int{9}, false, z), x[0].Graph.Node(op.Real, nil, array.Float32, []int{9}, false, z))
		}, pair(op.Add, 1, 0)},
		{"index by a constant", "f32[4,5]", func(x []*node) *node {
			return op.Apply(op.IndexSelect, op.Axis(1), x[0], expandTo(x[0].Graph.Number(-2, array.Int64, false), 3))
		}, func(x []*node) *node { return expandTo(cut(x[0], 1, 3, 1, 1), 4, 3) }},
		{"index by all places", "f32[5]", func(x []*node) *node {
			return op.Apply(op.IndexSelect, op.Axis(0), x[0], op.Apply(op.Iota, op.Axis(0), x[0]))
		}, same},

		// writes.go
		{"read of what was written", "f32[4,5] f32[2,3]", func(x []*node) *node { return strided(put(x[0], x[1], 6, 5, 1), 6, []int{2, 3}, 5, 1) }, func(x []*node) *node { return x[1] }},
		{"read of what was written", "f32[4,5] f32[2,3]", func(x []*node) *node { return window(put(x[0], x[1], 6, 5, 1), []int{1, 1}, []int{1, 1}, []int{2, 3}) }, func(x []*node) *node { return x[1] }},
		{"read of what was written", "f32[4,5] f32[2,5]", func(x []*node) *node { return cut(put(x[0], x[1], 0, 5, 1), 0, 2, 1, 2) }, func(x []*node) *node { return cut(x[0], 0, 2, 1, 2) }},
		{"read of what was written", "f32[9] f32[3]", func(x []*node) *node { return strided(put(x[0], x[1], 8, -1), 0, []int{2}, 3) }, func(x []*node) *node { return strided(x[0], 0, []int{2}, 3) }},
		{"write over a write", "f32[9] f32[3] f32[3]", func(x []*node) *node { return put(put(x[0], x[1], 8, -2), x[2], 8, -2) }, func(x []*node) *node { return put(x[0], x[2], 8, -2) }},
		{"write over all", "f32[2,3] f32[3,2]", func(x []*node) *node { return put(x[0], x[1], 0, 2, 1) }, func(x []*node) *node { return reshapeTo(x[1], 2, 3) }},
		{"write of nothing new", "i8[2,3]", func(x []*node) *node { return put(x[0], cut(x[0], 1, 2, -1, 2), 2, 3, -1) }, same},
		{"write of nothing new", "f32[2,3] f32[0]", func(x []*node) *node { return put(x[0], x[1], 0, 1) }, same},

		{"indexed write over a write", "f32[9] f32[3] f32[3] i64[3]", func(x []*node) *node {
			at := apply(op.Abs, apply(op.Sign, x[3])) // within the array
			return op.Apply(op.IndexCopy, op.Axis(0), x[2], at, op.Apply(op.IndexCopy, op.Axis(0), x[1], at, x[0]))
		}, func(x []*node) *node {
			return op.Apply(op.IndexCopy, op.Axis(0), x[2], apply(op.Abs, apply(op.Sign, x[3])), x[0])
		}},
		{"write of the same number", "f32[9]", func(x []*node) *node {
			return add(x[0], put(zeros(x[0]), expandTo(num(x[0], 0), 3), 2, 2))
		}, func(x []*node) *node { return add(x[0], zeros(x[0])) }},

		// logic.go
		{"and or with itself", "bool[9]", func(x []*node) *node { return apply(op.LogicalOr, x[0], x[0]) }, same},
		{"and or with itself", "u8[9]", func(x []*node) *node { return apply(op.BitXor, x[0], x[0]) }, zeros2},
		{"and or with a constant", "bool[9]", func(x []*node) *node { return apply(op.LogicalAnd, boolean(x[0], true), x[0]) }, same},
		{"and or with a constant", "bool[9]", func(x []*node) *node { return apply(op.LogicalOr, x[0], boolean(x[0], true)) }, func(x []*node) *node { return expandTo(boolean(x[0], true), 9) }},
		{"and or with a constant", "bool[9]", func(x []*node) *node { return apply(op.LogicalXor, x[0], boolean(x[0], true)) }, one(op.LogicalNot)},
		{"and or with a constant", "i32[9]", func(x []*node) *node { return apply(op.BitAnd, x[0], num(x[0], -1)) }, same},
		{"and or with a constant", "i32[9]", func(x []*node) *node { return apply(op.BitXor, x[0], num(x[0], -1)) }, one(op.BitNot)},
		{"and or with a constant", "u8[9]", func(x []*node) *node { return apply(op.BitAnd, x[0], num(x[0], 0)) }, zeros2},
		{"not not", "bool[9]", func(x []*node) *node { return apply(op.LogicalNot, apply(op.LogicalNot, x[0])) }, same},
		{"not not", "u8[9]", func(x []*node) *node { return apply(op.BitNot, apply(op.BitNot, x[0])) }, same},
		{"not of a comparison", "f32[40] f32[40]", func(x []*node) *node { return apply(op.LogicalNot, apply(op.Eq, x[0], x[1])) }, pair(op.Ne, 0, 1)},
		{"not of a comparison", "i32[40] i32[40]", func(x []*node) *node { return apply(op.LogicalNot, apply(op.Lt, x[0], x[1])) }, pair(op.Ge, 0, 1)},
		{"comparison with itself", "f32[40]", func(x []*node) *node { return apply(op.Ne, x[0], x[0]) }, one(op.IsNaN)},
		{"comparison with itself", "f32[40]", func(x []*node) *node { return apply(op.Le, x[0], x[0]) }, func(x []*node) *node { return apply(op.LogicalNot, apply(op.IsNaN, x[0])) }},
		{"comparison with itself", "f32[4]", func(x []*node) *node { return apply(op.Gt, x[0], x[0]) }, func(x []*node) *node { return expandTo(boolean(x[0], false), 4) }},
		{"comparison with itself", "i32[4]", func(x []*node) *node { return apply(op.Le, x[0], x[0]) }, func(x []*node) *node { return expandTo(boolean(x[0], true), 4) }},
		{"choice by a constant", "f32[4] f32[]", func(x []*node) *node { return choose(boolean(x[0], false), x[0], x[1]) }, func(x []*node) *node { return expandTo(x[1], 4) }},
		{"choice between the same", "bool[4] f32[]", func(x []*node) *node { return choose(x[0], x[1], x[1]) }, func(x []*node) *node { return expandTo(x[1], 4) }},
		{"choice by not", "bool[4] f32[4] f32[4]", func(x []*node) *node { return choose(apply(op.LogicalNot, x[0]), x[1], x[2]) }, func(x []*node) *node { return choose(x[0], x[2], x[1]) }},
		{"choice by the same twice", "bool[4] f32[4] f32[4] f32[4]", func(x []*node) *node { return choose(x[0], choose(x[0], x[1], x[2]), x[3]) }, func(x []*node) *node { return choose(x[0], x[1], x[3]) }},
		{"choice by the same twice", "bool[4] f32[4] f32[4] f32[4]", func(x []*node) *node { return choose(x[0], x[1], choose(x[0], x[2], x[3])) }, func(x []*node) *node { return choose(x[0], x[1], x[3]) }},
		{"choices by one condition", "bool[4] f32[4] f32[4] f32[]", func(x []*node) *node {
			return sub(choose(x[0], x[1], num(x[1], 0)), choose(x[0], x[3], x[2]))
		}, func(x []*node) *node { return choose(x[0], sub(x[1], x[3]), sub(num(x[1], 0), x[2])) }},
		{"choice of truth", "bool[4]", func(x []*node) *node { return choose(x[0], boolean(x[0], true), boolean(x[0], false)) }, same},
		{"choice of truth", "bool[4]", func(x []*node) *node { return choose(x[0], boolean(x[0], false), boolean(x[0], true)) }, one(op.LogicalNot)},
		{"product with a choice", "bool[4] f32[4] f32[4]", func(x []*node) *node { return mul(x[1], choose(x[0], num(x[1], 0), x[2])) }, func(x []*node) *node { return choose(x[0], num(x[1], 0), mul(x[2], x[1])) }},
		{"product with a choice", "bool[4] f32[4] f32[4]", func(x []*node) *node { return div(choose(x[0], x[2], num(x[1], 0)), x[1]) }, func(x []*node) *node { return choose(x[0], div(x[2], x[1]), num(x[1], 0)) }},
		{"conversion to the same type", "f32[4]", func(x []*node) *node { return cast(x[0], array.Float32) }, same},
		{"conversion of a conversion", "f32[40]", func(x []*node) *node { return cast(cast(x[0], array.Float64), array.Float16) }, func(x []*node) *node { return cast(x[0], array.Float16) }},
		{"conversion of a conversion", "f16[40]", func(x []*node) *node { return cast(cast(x[0], array.Float32), array.Float16) }, same},
		{"conversion of a conversion", "i8[40]", func(x []*node) *node { return cast(cast(x[0], array.Int64), array.Uint8) }, func(x []*node) *node { return cast(x[0], array.Uint8) }},
		{"conversion of a conversion", "u8[40]", func(x []*node) *node { return cast(cast(x[0], array.Float32), array.Int32) }, func(x []*node) *node { return cast(x[0], array.Int32) }},

		// reduction.go
		{"reduction of one", "f32[4,1]", func(x []*node) *node { return reduce("reduce_max", x[0], 1, 2) }, same},
		{"reduction of one", "f32[4,1]", func(x []*node) *node { return reduce("reduce_prod", x[0], 1, 2) }, same},
		{"reduction of one", "i64[1,4]", func(x []*node) *node { return reduce("reduce_sum", x[0], 0, 1) }, same},
		{"sum of one float", "f32[3,1,4]", func(x []*node) *node { return reduce("reduce_sum", x[0], 1, 2) }, func(x []*node) *node { return add(x[0], num(x[0], 0)) }},
		{"sum of one", "f32[1,4]", func(x []*node) *node { return reduce("reduce_sum", x[0], 0, 1) }, same},
		{"reduction of repetitions", "f32[4,1]", func(x []*node) *node { return reduce("reduce_min", expandTo(x[0], 4, 9), 1, 2) }, same},
		{"reduction of repetitions", "bool[4]", func(x []*node) *node { return reduce("reduce_any", expandTo(x[0], 3, 4), 0, 1) }, func(x []*node) *node { return expandTo(x[0], 1, 4) }},
		{"sum of repeated integers", "i32[4,1]", func(x []*node) *node { return reduce("reduce_sum", expandTo(x[0], 4, 9), 1, 2) }, func(x []*node) *node { return mul(x[0], num(x[0], 9)) }},
		{"sum of repetitions", "f32[]", func(x []*node) *node { return reduce("reduce_sum", expandTo(x[0], 7), 0, 1) }, func(x []*node) *node { return expandTo(mul(x[0], num(x[0], 7)), 1) }},
		{"sum of negative integers", "i32[4,3]", func(x []*node) *node { return reduce("reduce_sum", neg(x[0]), 1, 2) }, func(x []*node) *node { return neg(reduce("reduce_sum", x[0], 1, 2)) }},
		{"sum of negatives", "f32[4,3]", func(x []*node) *node { return reduce("reduce_sum", neg(x[0]), 0, 1) }, func(x []*node) *node { return neg(reduce("reduce_sum", x[0], 0, 1)) }},
		{"extreme along axes of negatives", "f32[4,30]", func(x []*node) *node { return reduce("reduce_max", neg(x[0]), 1, 2) }, func(x []*node) *node { return neg(reduce("reduce_min", x[0], 1, 2)) }},
		{"extreme along axes of negatives", "f64[40,3]", func(x []*node) *node { return reduce("reduce_min", neg(x[0]), 0, 1) }, func(x []*node) *node { return neg(reduce("reduce_max", x[0], 0, 1)) }},
		{"sum of multiples of integers", "i64[4,3] i64[4,1]", func(x []*node) *node { return reduce("reduce_sum", mul(x[0], x[1]), 1, 2) }, func(x []*node) *node { return mul(reduce("reduce_sum", x[0], 1, 2), x[1]) }},
		{"sum of multiples", "f32[4,3] f32[]", func(x []*node) *node { return reduce("reduce_sum", div(x[0], x[1]), 1, 2) }, func(x []*node) *node { return div(reduce("reduce_sum", x[0], 1, 2), x[1]) }},
		{"sum of multiples", "f32[4,3] f32[3]", func(x []*node) *node { return reduce("reduce_sum", mul(x[1], x[0]), 0, 1) }, func(x []*node) *node { return mul(reduce("reduce_sum", x[0], 0, 1), x[1]) }},
		{"all of not", "bool[4,3]", func(x []*node) *node { return reduce("reduce_all", apply(op.LogicalNot, x[0]), 0, 2) }, func(x []*node) *node { return apply(op.LogicalNot, reduce("reduce_any", x[0], 0, 2)) }},
		{"reduction of a reduction of integers", "i64[4,3,2]", func(x []*node) *node { return reduce("reduce_sum", reduce("reduce_sum", x[0], 1, 2), 0, 1) }, func(x []*node) *node { return reduce("reduce_sum", x[0], 0, 2) }},
		{"reduction of a reduction", "f32[4,1,2]", func(x []*node) *node { return reduce("reduce_max", reduce("reduce_max", x[0], 2, 3), 0, 1) }, func(x []*node) *node { return reduce("reduce_max", x[0], 0, 3) }},
		{"reduction of a joint array of integers", "i64[4,3] i64[4,2]", func(x []*node) *node { return reduce("reduce_sum", cat(1, x...), 0, 2) }, func(x []*node) *node {
			return add(reduce("reduce_sum", x[0], 0, 2), reduce("reduce_sum", x[1], 0, 2))
		}},
		{"reduction of a joint array of integers", "bool[4,3] bool[1,3]", func(x []*node) *node { return reduce("reduce_any", cat(0, x...), 0, 1) }, func(x []*node) *node {
			return apply(op.LogicalOr, reduce("reduce_any", x[0], 0, 1), reduce("reduce_any", x[1], 0, 1))
		}},
		{"reduction of a joint array", "f32[4,3] f32[4,2]", func(x []*node) *node { return reduce("reduce_prod", cat(1, x...), 1, 2) }, func(x []*node) *node {
			return mul(reduce("reduce_prod", x[0], 1, 2), reduce("reduce_prod", x[1], 1, 2))
		}},
		{"reduction of a joint array of integers", "i64[4,3] i64[4,2]", func(x []*node) *node { return reduce("reduce_max", cat(1, x...), 1, 2) }, func(x []*node) *node {
			return apply(op.Maximum, reduce("reduce_max", x[0], 1, 2), reduce("reduce_max", x[1], 1, 2))
		}},
		{"reduction of a joint array", "f32[4,3] f32[4,2]", func(x []*node) *node { return reduce("reduce_min", cat(1, x...), 1, 2) }, func(x []*node) *node {
			return apply(op.Minimum, reduce("reduce_min", x[0], 1, 2), reduce("reduce_min", x[1], 1, 2))
		}},
		{"reduction of a reduction of integers", "i64[4,3,2]", func(x []*node) *node {
			return reduce("reduce_sum", reshapeTo(reduce("reduce_sum", x[0], 1, 2), 4, 2), 1, 2)
		}, func(x []*node) *node {
			return reshapeTo(reduce("reduce_sum", x[0], 1, 3), 4, 1)
		}},
		{"reduction of a reshaped reduction", "f64[4,3,2]", func(x []*node) *node {
			return reduce("reduce_sum", reshapeTo(reduce("reduce_sum", x[0], 2, 3), 4, 3), 0, 2)
		}, func(x []*node) *node {
			return reshapeTo(reduce("reduce_sum", x[0], 0, 3), 1, 1)
		}},
		{"reduction of a reshaped reduction", "f64[4,3]", func(x []*node) *node {
			return reduce("reduce_max", reshapeTo(reduce("reduce_max", x[0], 0, 1), 3), 0, 1)
		}, func(x []*node) *node {
			return reshapeTo(reduce("reduce_max", x[0], 0, 2), 1)
		}},
		{"sum of reshaped multiples", "f64[4,1,3]", func(x []*node) *node { return reduce("reduce_sum", reshapeTo(div(x[0], num(x[0], 3)), 4, 3), 1, 2) }, func(x []*node) *node {
			return div(reduce("reduce_sum", reshapeTo(x[0], 4, 3), 1, 2), num(x[0], 3))
		}},
		{"product of negatives", "f32[4,3]", func(x []*node) *node { return reduce("reduce_prod", neg(x[0]), 1, 2) }, func(x []*node) *node { return neg(reduce("reduce_prod", x[0], 1, 2)) }},
		{"product of negatives", "i32[4,3]", func(x []*node) *node { return reduce("reduce_prod", neg(x[0]), 0, 1) }, func(x []*node) *node { return reduce("reduce_prod", x[0], 0, 1) }},
		{"product of multiples", "f64[4,3] f64[]", func(x []*node) *node { return reduce("reduce_prod", mul(x[1], x[0]), 1, 2) }, func(x []*node) *node {
			return mul(reduce("reduce_prod", x[0], 1, 2), power(x[1], 3))
		}},
		{"product of multiples", "f64[4,3] f64[3]", func(x []*node) *node { return reduce("reduce_prod", div(x[0], x[1]), 0, 1) }, func(x []*node) *node {
			return div(reduce("reduce_prod", x[0], 0, 1), power(x[1], 4))
		}},
		{"log of a product", "f64[4,3]", func(x []*node) *node {
			return apply(op.Log, reshapeTo(reduce("reduce_prod", apply(op.Exp, x[0]), 1, 2), 4))
		}, func(x []*node) *node {
			return reshapeTo(reduce("reduce_sum", apply(op.Log, apply(op.Exp, x[0])), 1, 2), 4)
		}},
		{"log of a product", "f64[4,3]", func(x []*node) *node { return apply(op.Log, reduce("reduce_prod", apply(op.Exp, x[0]), 1, 2)) }, func(x []*node) *node {
			return reduce("reduce_sum", apply(op.Log, apply(op.Exp, x[0])), 1, 2)
		}},

		// power.go
		{"chain of one factor", "f32[40]", func(x []*node) *node { return power(x[0], 0) }, func(x []*node) *node { return expandTo(num(x[0], 1), 40) }},
		{"chain of one factor", "i32[40]", func(x []*node) *node { return power(x[0], 1) }, same},
		{"chain of one factor", "f16[40]", func(x []*node) *node { return power(x[0], 2) }, one(op.Square)},
		{"chain of one factor", "bf16[40]", func(x []*node) *node { return power(x[0], -1) }, one(op.Reciprocal)},
		{"power zero", "f32[40]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], minusZero)) }, func(x []*node) *node { return expandTo(num(x[0], 1), 40) }},
		{"power zero", "f64[40]", func(x []*node) *node { return apply(op.Pow, num(x[0], 1), x[0]) }, func(x []*node) *node { return expandTo(num(x[0], 1), 40) }},
		{"power zero", "i32[40]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 0)) }, func(x []*node) *node { return expandTo(num(x[0], 1), 40) }},
		{"power one", "f32[99]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 1)) }, same},
		{"power one", "f64[99]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 1)) }, same},
		{"power one", "i8[99]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 1)) }, same},
		{"power of integers", "i32[40]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 10)) }, func(x []*node) *node { return power(x[0], 10) }},
		{"small power", "f32[40]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 3)) }, func(x []*node) *node { return power(x[0], 3) }},
		{"small power", "f64[40]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], -1)) }, func(x []*node) *node { return power(x[0], -1) }},
		{"power by products", "f64[40]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 10)) }, func(x []*node) *node { return power(x[0], 10) }},
		{"power by roots", "f64[40]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 0.5)) }, one(op.Sqrt)},
		{"power by roots", "f64[40]", func(x []*node) *node { return apply(op.Pow, apply(op.Exp, x[0]), num(x[0], -0.5)) }, func(x []*node) *node {
			return apply(op.Reciprocal, apply(op.Sqrt, apply(op.Exp, x[0])))
		}},
		{"powers of one base", "f64[40] f64[40]", func(x []*node) *node {
			return mul(apply(op.Pow, num(x[0], 3), x[0]), apply(op.Pow, num(x[0], 3), x[1]))
		}, func(x []*node) *node {
			return apply(op.Pow, num(x[0], 3), add(x[0], x[1]))
		}},
		{"product of exponentials", "f64[40] f64[40]", func(x []*node) *node { return mul(apply(op.Exp, x[0]), apply(op.Exp, x[1])) }, func(x []*node) *node { return apply(op.Exp, add(x[0], x[1])) }},
		{"quotient by an exponential", "f64[40] f64[40]", func(x []*node) *node { return div(x[0], apply(op.Exp, x[1])) }, func(x []*node) *node { return mul(x[0], apply(op.Exp, neg(x[1]))) }},

		{"product of exponentials", "f64[40] f64[40] f64[40]", func(x []*node) *node {
			return div(mul(apply(op.Exp, x[0]), x[1]), apply(op.Exp, x[2]))
		}, func(x []*node) *node { return mul(x[1], apply(op.Exp, sub(x[0], x[2]))) }},
		{"powers of one base", "f64[40] f64[40]", func(x []*node) *node {
			return div(mul(mul(power(x[0], 3), x[1]), x[0]), apply(op.Sqrt, x[0]))
		}, func(x []*node) *node { return mul(x[1], apply(op.Pow, x[0], num(x[0], 3.5))) }},
		{"powers of one base", "f64[40] f64[40]", func(x []*node) *node { return mul(apply(op.Pow, x[0], x[1]), x[0]) }, func(x []*node) *node {
			return apply(op.Pow, x[0], add(x[1], num(x[0], 1)))
		}},
		{"powers of one base", "f64[40] f64[40]", func(x []*node) *node { return div(x[1], mul(power(x[0], 2), x[0])) }, func(x []*node) *node { return div(x[1], power(x[0], 3)) }},
		{"powers of one base", "f64[40] f64[40]", func(x []*node) *node { return div(div(x[1], x[0]), power(x[0], 3)) }, func(x []*node) *node { return div(x[1], power(x[0], 4)) }},
		{"power by roots", "f64[40]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 1.5)) }, func(x []*node) *node { return mul(x[0], apply(op.Sqrt, x[0])) }},
		{"power by roots", "f64[40]", func(x []*node) *node { return apply(op.Pow, apply(op.Exp, x[0]), num(x[0], -2.5)) }, func(x []*node) *node {
			e := apply(op.Exp, x[0])
			return apply(op.Reciprocal, mul(power(e, 2), apply(op.Sqrt, e)))
		}},
		{"power by roots", "f64[40]", func(x []*node) *node { return apply(op.Pow, x[0], num(x[0], 0.25)) }, func(x []*node) *node { return apply(op.Sqrt, apply(op.Sqrt, x[0])) }},
		{"power of two", "f64[40]", func(x []*node) *node { return apply(op.Pow, num(x[0], 2), x[0]) }, one(op.Exp2)},
		{"power of a power of integers", "i32[40]", func(x []*node) *node { return power(power(x[0], 3), 4) }, func(x []*node) *node { return power(x[0], 12) }},
		{"power of a power of integers", "u8[40]", func(x []*node) *node { return apply(op.Square, power(x[0], 5)) }, func(x []*node) *node { return power(x[0], 10) }},
		{"power of a power", "f64[40]", func(x []*node) *node { return power(apply(op.Square, x[0]), -2) }, func(x []*node) *node { return power(x[0], -4) }},

		// matmul.go
		{"transposed product", "f32[4,300] f32[300,5]", func(x []*node) *node { return swap(apply(op.MatMul2, x[0], x[1])) }, func(x []*node) *node { return apply(op.MatMul2, swap(x[1]), swap(x[0])) }},
		{"transposed product", "f64[2,4,3] f64[2,3,5]", func(x []*node) *node { return swap(apply(op.MatMul2, x[0], x[1])) }, func(x []*node) *node { return apply(op.MatMul2, swap(x[1]), swap(x[0])) }},
		{"slice of a product", "f32[40,300] f32[300,50]", func(x []*node) *node {
			return window(apply(op.MatMul2, x[0], x[1]), []int{1, 2}, []int{3, 1}, []int{7, 1})
		}, func(x []*node) *node {
			return apply(op.MatMul2, cut(x[0], 0, 1, 3, 7), cut(x[1], 1, 2, 1, 1))
		}},
		{"batch with one matrix", "f32[3,4,300] f32[300,5]", func(x []*node) *node { return apply(op.MatMul2, x[0], expandTo(x[1], 3, 300, 5)) }, func(x []*node) *node {
			return reshapeTo(apply(op.MatMul2, reshapeTo(x[0], 12, 300), x[1]), 3, 4, 5)
		}},
		{"batch with one matrix", "f32[1,4,3] f32[1,3,5]", func(x []*node) *node { return apply(op.MatMul2, x[0], x[1]) }, func(x []*node) *node {
			return reshapeTo(apply(op.MatMul2, reshapeTo(x[0], 4, 3), reshapeTo(x[1], 3, 5)), 1, 4, 5)
		}},
		{"product over one term", "f32[4,1] f32[1,5]", pair(op.MatMul2, 0, 1), pair(op.Mul, 0, 1)},
		{"outer product", "f32[4,1] f32[1,5]", pair(op.MatMul2, 0, 1), pair(op.Term, 0, 1)},
		{"outer product", "f64[2,40,1] f64[2,1,50]", pair(op.MatMul2, 0, 1), pair(op.Term, 0, 1)},
		{"product with zeros", "f32[4,3] f32[3,5]", func(x []*node) *node { return apply(op.MatMul2, zeros(x[0]), x[1]) }, func(x []*node) *node { return expandTo(num(x[0], 0), 4, 5) }},
		{"factor of an operand", "f32[4,3] f32[3,5] f32[]", func(x []*node) *node { return apply(op.MatMul2, x[0], mul(x[1], x[2])) }, func(x []*node) *node { return mul(apply(op.MatMul2, x[0], x[1]), x[2]) }},
		{"factor of an operand", "f32[4,3] f32[3,5]", func(x []*node) *node { return apply(op.MatMul2, mul(x[0], num(x[0], 3)), x[1]) }, func(x []*node) *node {
			return mul(apply(op.MatMul2, x[0], x[1]), num(x[0], 3))
		}},
		{"negative operand", "f32[4,3] f32[3,5]", func(x []*node) *node { return apply(op.MatMul2, x[0], neg(x[1])) }, func(x []*node) *node { return neg(apply(op.MatMul2, x[0], x[1])) }},
		{"product with a diagonal", "f32[3] f32[3,5]", func(x []*node) *node {
			return apply(op.MatMul2, put(expandTo(num(x[0], 0), 3, 3), x[0], 0, 4), x[1])
		}, func(x []*node) *node { return mul(x[1], reshapeTo(x[0], 3, 1)) }},
		{"product with a diagonal", "f32[3] f32[3,5]", func(x []*node) *node {
			return apply(op.MatMul2, op.Apply(op.Place, op.Placement{Shape: []int{3, 3}, View: op.Offset(0)}, x[0]), x[1])
		}, func(x []*node) *node { return mul(x[1], reshapeTo(x[0], 3, 1)) }},
		{"product with a diagonal", "f32[3] f32[5,3]", func(x []*node) *node {
			return apply(op.MatMul2, x[1], op.Apply(op.Place, op.Placement{Shape: []int{3, 3}, View: op.Offset(0)}, x[0]))
		}, func(x []*node) *node { return mul(x[1], reshapeTo(x[0], 1, 3)) }},
	}...)
	rows = append(rows, stableRows()...)
}

// stableRows returns the rows of stable.go and factors.go.
func stableRows() []row {
	f := func(d *op.Def) func(x *node) *node { return func(x *node) *node { return apply(d, x) } }
	exp, log, log1p, expm1, sigmoid, softplus, recip := f(op.Exp), f(op.Log), f(op.Log1p), f(op.Expm1), f(op.Sigmoid), f(op.Softplus), f(op.Reciprocal)
	abs, square := f(op.Abs), f(op.Square)
	plus := func(x *node, k float64) *node { return add(x, num(x, k)) }
	less := func(k float64, x *node) *node { return sub(num(x, k), x) }
	total := func(x *node) *node { return reduce("reduce_sum", x, 1, 2) }
	most := func(x *node) *node { return reduce("reduce_max", x, 1, 2) }
	softmax := func(x *node) *node {
		e := exp(sub(x, most(x)))
		return div(e, total(e))
	}
	series := func(z *node) *node {
		t, s := recip(square(z)), num(z, -127.53125)
		for _, c := range []float64{22.0625, -4.625, 1.25, -0.5, 0.5} {
			s = plus(mul(s, t), c)
		}
		return add(z, div(s, z))
	}
	within := func(x, y *node, lo float64) *node {
		return choose(apply(op.Ge, x, num(x, lo)), y, num(x, math.NaN()))
	}
	log1mexp := func(x *node) *node {
		return choose(apply(op.Gt, x, num(x, -math.Ln2)), add(log(expm1(neg(x))), x), log1p(neg(exp(x))))
	}
	of := func(f func(x *node) *node) func(x []*node) *node { return func(x []*node) *node { return f(x[0]) } }
	unlessNaN := func(x *node) *node { return choose(apply(op.IsNaN, x), x, num(x, 1)) }
	return []row{
		{"inverse of a function", "f32[9]", of(func(x *node) *node { return log(exp(x)) }), same},
		{"inverse of a function", "f64[9]", of(func(x *node) *node { return exp(log(x)) }), of(func(x *node) *node { return within(x, x, 0) })},
		{"inverse of a function", "f64[9]", of(func(x *node) *node { return apply(op.Sin, apply(op.Asin, x)) }), of(func(x *node) *node {
			return choose(apply(op.Le, abs(x), num(x, 1)), x, num(x, math.NaN()))
		})},
		{"root of a square", "f32[9]", of(func(x *node) *node { return apply(op.Sqrt, square(x)) }), one(op.Abs)},
		{"log of a root", "f32[9]", of(func(x *node) *node { return log(apply(op.Sqrt, x)) }), of(func(x *node) *node { return mul(log(x), num(x, 0.5)) })},
		{"log of a root", "f32[9]", of(func(x *node) *node { return log(square(x)) }), of(func(x *node) *node { return mul(log(abs(x)), num(x, 2)) })},
		{"log of a root", "f32[9]", of(func(x *node) *node { return log(recip(x)) }), of(func(x *node) *node { return neg(log(x)) })},
		{"log of a root", "f64[9]", of(func(x *node) *node { return log(power(x, 4)) }), of(func(x *node) *node { return mul(log(abs(x)), num(x, 4)) })},
		{"softplus", "f32[9]", of(func(x *node) *node { return log(plus(exp(x), 1)) }), one(op.Softplus)},
		{"softplus", "f64[9]", of(func(x *node) *node { return log1p(exp(x)) }), one(op.Softplus)},
		{"log of 1-exp", "f64[9]", of(func(x *node) *node { return log(less(1, exp(x))) }), of(log1mexp)},
		{"log of a difference of exponentials", "f64[9] f64[9]", func(x []*node) *node { return log(sub(exp(x[0]), exp(x[1]))) }, func(x []*node) *node {
			d := sub(x[1], x[0])
			return add(x[0], log1mexp(d))
		}},
		{"log of a sum of exponentials", "f64[9] f64[9]", func(x []*node) *node { return log(add(exp(x[0]), exp(x[1]))) }, func(x []*node) *node {
			d := choose(apply(op.Eq, x[0], x[1]), num(x[0], 0), abs(sub(x[0], x[1])))
			return add(apply(op.Maximum, x[0], x[1]), log1p(exp(neg(d))))
		}},
		{"log of a sum of several", "f64[9]", of(func(x *node) *node { return log(plus(exp(x), 2)) }), of(func(x *node) *node {
			k := num(x, math.Ln2)
			return add(apply(op.Maximum, x, k), log1p(exp(neg(choose(apply(op.Eq, x, k), num(x, 0), abs(sub(x, k)))))))
		})},
		{"log of a sum of several", "f64[9] f64[9]", func(x []*node) *node { return log(plus(add(exp(x[0]), exp(x[1])), 1)) }, func(x []*node) *node {
			m := apply(op.Maximum, apply(op.Maximum, x[0], x[1]), num(x[0], 0))
			m = choose(apply(op.IsFinite, m), m, num(m, 0))
			return add(log(add(add(exp(sub(x[0], m)), exp(sub(x[1], m))), exp(sub(num(m, 0), m)))), m)
		}},
		{"logsumexp", "f64[3,9]", of(func(x *node) *node { return log(div(reshapeTo(total(exp(x)), 3), num(x, 9))) }), of(func(x *node) *node {
			m := choose(apply(op.IsFinite, most(x)), most(x), num(x, 0))
			return reshapeTo(add(log(div(total(exp(sub(x, m))), num(x, 9))), m), 3)
		})},
		{"logsumexp", "f64[3,9]", of(func(x *node) *node { return log(reshapeTo(total(exp(x)), 3)) }), of(func(x *node) *node {
			m := choose(apply(op.IsFinite, most(x)), most(x), num(x, 0))
			return reshapeTo(add(log(total(exp(sub(x, m)))), m), 3)
		})},
		{"log of softmax", "f64[3,9]", of(func(x *node) *node { return log(softmax(x)) }), of(func(x *node) *node {
			d := sub(x, most(x))
			return sub(d, log(total(exp(d))))
		})},
		{"x less logsumexp", "f64[3,9] f64[3,1]", func(x []*node) *node {
			return sub(x[0], expandTo(add(log(total(exp(sub(x[0], x[1])))), x[1]), 3, 9))
		}, func(x []*node) *node { return sub(sub(x[0], x[1]), log(total(exp(sub(x[0], x[1]))))) }},
		{"log of 1-exp", "f64[9]", of(func(x *node) *node { return log(neg(expm1(x))) }), of(log1mexp)},
		{"log of sigmoid", "f32[9]", of(func(x *node) *node { return log(sigmoid(x)) }), of(func(x *node) *node { return neg(softplus(neg(x))) })},
		{"log of sigmoid", "f32[9]", of(func(x *node) *node { return log(sigmoid(neg(x))) }), of(func(x *node) *node { return neg(softplus(x)) })},
		{"log of a view", "f64[2,3]", of(func(x *node) *node { return log(reshapeTo(sigmoid(x), 6)) }), of(func(x *node) *node { return reshapeTo(log(sigmoid(x)), 6) })},
		{"log of a view", "f64[2,3]", of(func(x *node) *node { return less(1, reshapeTo(sigmoid(x), 6)) }), of(func(x *node) *node { return reshapeTo(less(1, sigmoid(x)), 6) })},
		{"log of a view", "f64[2,3]", of(func(x *node) *node { return neg(op.Apply(op.Permute, op.Order{1, 0}, sigmoid(x))) }), of(func(x *node) *node { return op.Apply(op.Permute, op.Order{1, 0}, neg(sigmoid(x))) })},
		{"log1p of minus sigmoid", "f32[9]", of(func(x *node) *node { return log1p(neg(sigmoid(x))) }), of(func(x *node) *node { return neg(softplus(x)) })},
		{"log1p", "f32[9]", of(func(x *node) *node { return log(plus(x, 1)) }), one(op.Log1p)},
		{"log1p", "f64[9]", of(func(x *node) *node { return log(less(1, x)) }), of(func(x *node) *node { return log1p(neg(x)) })},
		{"expm1", "f64[9]", of(func(x *node) *node { return sub(exp(x), num(x, 1)) }), one(op.Expm1)},
		{"expm1", "f64[9]", of(func(x *node) *node { return plus(exp(x), -1) }), one(op.Expm1)},
		{"expm1", "f32[9]", of(func(x *node) *node { return less(1, exp(x)) }), of(func(x *node) *node { return neg(expm1(x)) })},
		{"1 less sigmoid", "f64[9]", of(func(x *node) *node { return less(1, sigmoid(x)) }), of(func(x *node) *node { return sigmoid(neg(x)) })},
		{"1 less sigmoid", "f64[9]", of(func(x *node) *node { return plus(neg(sigmoid(neg(x))), 1) }), of(sigmoid)},
		{"1 less erf", "f64[9]", of(func(x *node) *node { return less(1, apply(op.Erf, x)) }), one(op.Erfc)},
		{"1 less erf", "f64[9]", of(func(x *node) *node { return plus(apply(op.Erf, x), 1) }), of(func(x *node) *node { return apply(op.Erfc, neg(x)) })},
		{"1 less erf", "f32[9]", of(func(x *node) *node { return less(1, apply(op.Erfc, x)) }), one(op.Erf)},
		{"1 less erf", "f64[9]", of(func(x *node) *node { return sub(apply(op.Erf, x), num(x, 1)) }), of(func(x *node) *node { return neg(apply(op.Erfc, x)) })},
		{"1 less erf", "f64[9]", of(func(x *node) *node { return plus(apply(op.Erfc, x), -1) }), of(func(x *node) *node { return neg(apply(op.Erf, x)) })},
		{"1 less erf", "f64[9]", of(func(x *node) *node { return less(-1, apply(op.Erf, x)) }), of(func(x *node) *node { return neg(apply(op.Erfc, neg(x))) })},
		{"1 less erf", "f32[9]", of(func(x *node) *node { return sub(neg(apply(op.Erf, x)), num(x, 1)) }), of(func(x *node) *node { return neg(apply(op.Erfc, neg(x))) })},
		{"1 less erf", "f64[9]", of(func(x *node) *node { return less(2, apply(op.Erfc, x)) }), of(func(x *node) *node { return apply(op.Erfc, neg(x)) })},
		{"log of erfc", "f64[9]", of(func(x *node) *node { return log(apply(op.Erfc, x)) }), of(func(x *node) *node {
			z, l := apply(op.Maximum, x, num(x, 26)), apply(op.Minimum, x, num(x, 26))
			return choose(apply(op.Gt, x, num(x, 26)), sub(log(div(num(z, 1/math.Sqrt(math.Pi)), series(z))), square(z)), log(apply(op.Erfc, l)))
		})},
		{"exponential by erfc", "f64[9] f64[9]", func(x []*node) *node {
			return mul(div(x[1], apply(op.Erfc, x[0])), exp(neg(square(x[0]))))
		}, func(x []*node) *node {
			z, l := apply(op.Maximum, x[0], num(x[0], 26)), apply(op.Minimum, x[0], num(x[0], 26))
			return mul(x[1], choose(apply(op.Gt, x[0], num(x[0], 26)), mul(series(z), num(z, math.Sqrt(math.Pi))), div(exp(neg(square(l))), apply(op.Erfc, l))))
		}},
		{"exponential by erfc", "f64[9]", func(x []*node) *node {
			return div(mul(exp(neg(square(x[0]))), num(x[0], -2/math.Sqrt(math.Pi))), apply(op.Erfc, x[0]))
		}, func(x []*node) *node {
			z, l := apply(op.Maximum, x[0], num(x[0], 26)), apply(op.Minimum, x[0], num(x[0], 26))
			near := mul(div(exp(neg(square(l))), apply(op.Erfc, l)), num(z, 1/math.Sqrt(math.Pi)))
			return neg(mul(num(z, 2), choose(apply(op.Gt, x[0], num(x[0], 26)), series(z), near)))
		}},
		{"exponential of softplus", "f64[9]", of(func(x *node) *node { return exp(softplus(x)) }), of(func(x *node) *node { return plus(exp(x), 1) })},
		{"exponential of softplus", "f64[9]", of(func(x *node) *node { return exp(neg(softplus(x))) }), of(func(x *node) *node { return sigmoid(neg(x)) })},
		{"exponential of softplus", "f64[9]", of(func(x *node) *node { return exp(log1p(x)) }), of(func(x *node) *node { return within(x, plus(x, 1), -1) })},
		{"sigmoid of a logit", "f64[9]", of(func(x *node) *node { return sigmoid(log(div(x, less(1, x)))) }), of(func(x *node) *node {
			return choose(apply(op.LogicalAnd, apply(op.Ge, x, num(x, 0)), apply(op.Le, x, num(x, 1))), x, num(x, math.NaN()))
		})},
		{"sigmoid of a logit", "f64[9]", of(func(x *node) *node { return sigmoid(sub(log(x), log1p(neg(x)))) }), of(func(x *node) *node {
			return choose(apply(op.LogicalAnd, apply(op.Ge, x, num(x, 0)), apply(op.Le, x, num(x, 1))), x, num(x, math.NaN()))
		})},

		{"1 by 1+exp", "f32[9]", of(func(x *node) *node { return recip(plus(exp(neg(x)), 1)) }), of(sigmoid)},
		{"quotient by 1+exp", "f32[9]", of(func(x *node) *node { return div(x, plus(exp(x), 1)) }), of(func(x *node) *node { return mul(x, sigmoid(neg(x))) })},
		{"sigmoid times an exponential", "f32[9] f32[9]", func(x []*node) *node { return mul(mul(x[1], exp(neg(x[0]))), sigmoid(x[0])) }, func(x []*node) *node { return mul(x[1], sigmoid(neg(x[0]))) }},
		{"sigmoid times an exponential", "f32[9]", func(x []*node) *node { return div(sigmoid(x[0]), exp(x[0])) }, func(x []*node) *node { return sigmoid(neg(x[0])) }},
		{"odds", "f32[9]", of(func(x *node) *node { return div(sigmoid(x), sigmoid(neg(x))) }), of(exp)},
		{"positive by itself", "f32[9] f32[9]", func(x []*node) *node {
			return mul(mul(x[1], recip(sigmoid(x[0]))), mul(sigmoid(x[0]), sigmoid(neg(x[0]))))
		}, func(x []*node) *node { return mul(x[1], sigmoid(neg(x[0]))) }},
		{"positive by itself", "f32[9]", of(func(x *node) *node { return mul(exp(x), recip(exp(x))) }), of(unlessNaN)},
		{"positive by itself", "f64[9] f64[9]", func(x []*node) *node {
			t := apply(op.Tanh, x[0])
			return div(mul(x[1], sub(num(t, 1), mul(t, t))), sub(num(t, 1), mul(t, t)))
		}, func(x []*node) *node { return mul(x[1], unlessNaN(x[0])) }},
		{"exponential times its inverse", "f32[9] f32[9]", func(x []*node) *node { return mul(mul(x[1], exp(x[0])), exp(neg(x[0]))) }, func(x []*node) *node { return mul(x[1], unlessNaN(x[0])) }},
		{"power by a higher power", "f32[9] f32[9]", func(x []*node) *node { return mul(x[1], div(x[0], square(x[0]))) }, func(x []*node) *node { return mul(x[1], recip(x[0])) }},
		{"power by a higher power", "f64[9]", of(func(x *node) *node { return div(power(x, 4), power(x, 7)) }), of(func(x *node) *node { return recip(power(x, 3)) })},
		{"slopes of hyperbolic functions and their inverses", "f64[9] f64[9]", func(x []*node) *node {
			return mul(div(x[1], apply(op.Sqrt, plus(square(apply(op.Sinh, x[0])), 1))), apply(op.Cosh, x[0]))
		}, func(x []*node) *node { return mul(x[1], unlessNaN(x[0])) }},
		{"exponential by a difference of two", "f64[9] f64[9]", func(x []*node) *node { return div(exp(x[0]), sub(exp(x[0]), exp(x[1]))) }, func(x []*node) *node {
			return neg(recip(expm1(sub(x[1], x[0]))))
		}},
		{"sigmoid times 1+exp", "f32[9] f32[9]", func(x []*node) *node {
			return mul(mul(x[1], plus(exp(neg(x[0])), 1)), mul(sigmoid(x[0]), sigmoid(neg(x[0]))))
		}, func(x []*node) *node { return mul(x[1], sigmoid(neg(x[0]))) }},
		{"less its multiple by sigmoid", "f32[9] f32[9]", func(x []*node) *node { return sub(div(x[1], x[0]), div(mul(sigmoid(x[0]), x[1]), x[0])) }, func(x []*node) *node {
			return div(mul(x[1], sigmoid(neg(x[0]))), x[0])
		}},
		{"sum by a sum of exponentials", "f64[3,9] f64[3,9]", func(x []*node) *node { return div(total(mul(x[1], exp(x[0]))), total(exp(x[0]))) }, func(x []*node) *node {
			return total(mul(x[1], softmax(x[0])))
		}},
		{"exponential by a sum of two", "f64[9] f64[9]", func(x []*node) *node { return div(exp(x[0]), add(exp(x[0]), exp(x[1]))) }, func(x []*node) *node { return sigmoid(sub(x[0], x[1])) }},
		{"exponential by a sum of several", "f64[9] f64[9] f64[9]", func(x []*node) *node {
			return mul(x[2], div(exp(x[0]), add(add(exp(x[0]), exp(x[1])), exp(x[2]))))
		}, func(x []*node) *node {
			m := apply(op.Maximum, apply(op.Maximum, x[0], x[1]), x[2])
			m = choose(apply(op.IsFinite, m), m, num(m, 0))
			e := exp(sub(x[0], m))
			return mul(x[2], div(e, add(add(e, exp(sub(x[1], m))), exp(sub(x[2], m)))))
		}},
		{"exponential by a sum of several", "f64[9]", of(func(x *node) *node { return div(exp(x), plus(exp(x), 2)) }), of(func(x *node) *node {
			e, above := exp(neg(abs(x))), apply(op.Gt, x, num(x, 0))
			return div(choose(above, num(x, 1), e), choose(above, plus(mul(e, num(x, 2)), 1), plus(e, 2)))
		})},
		{"softmax", "f64[3,9]", of(func(x *node) *node { return div(exp(x), total(exp(x))) }), of(softmax)},
		{"softmax", "f64[3,9] f64[3]", func(x []*node) *node {
			g := reshapeTo(div(x[1], reshapeTo(total(exp(x[0])), 3)), 3, 1)
			return mul(expandTo(g, 3, 9), exp(x[0]))
		}, func(x []*node) *node { return mul(reshapeTo(x[1], 3, 1), softmax(x[0])) }},
		{"quotients by a sum of exponentials", "f64[3,9] f64[3,9] f64[3,1]", func(x []*node) *node {
			s := total(exp(x[0]))
			return sub(div(x[1], s), div(x[2], s))
		}, func(x []*node) *node { return div(sub(x[1], x[2]), total(exp(x[0]))) }},
		{"sum of quotients by a sum of exponentials", "f64[3,9] f64[3,9]", func(x []*node) *node { return total(div(x[1], total(exp(x[0])))) }, func(x []*node) *node {
			return div(total(x[1]), total(exp(x[0])))
		}},
		{"softmax times a difference", "f64[3,9] f64[3,9] f64[3,1]", func(x []*node) *node {
			y := softmax(x[0])
			return mul(sub(div(x[1], y), x[2]), y)
		}, func(x []*node) *node { return sub(x[1], mul(softmax(x[0]), x[2])) }},
		{"sigmoids times a difference", "f64[9] f64[9] f64[9]", func(x []*node) *node {
			s, r := sigmoid(x[0]), sigmoid(neg(x[0]))
			return mul(mul(s, sub(div(x[1], s), x[2])), r)
		}, func(x []*node) *node {
			both := mul(sigmoid(x[0]), sigmoid(neg(x[0])))
			return sub(mul(div(x[1], sigmoid(x[0])), both), mul(x[2], both))
		}},
		{"factors that cancel", "f64[9] f64[9]", func(x []*node) *node { return div(mul(x[0], x[1]), x[0]) }, func(x []*node) *node { return x[1] }},
		{"nested quotients", "f64[9] f64[9] f64[9]", func(x []*node) *node { return div(x[0], div(x[1], x[2])) }, func(x []*node) *node { return div(mul(x[0], x[2]), x[1]) }},
		{"distribution", "f64[9] f64[9] f64[9] f64[9]", func(x []*node) *node { return mul(add(x[0], mul(div(x[1], x[3]), x[2])), x[3]) }, func(x []*node) *node {
			return add(mul(x[0], x[3]), mul(x[1], x[2]))
		}},
		{"distribution", "f64[9] f64[9] f64[9]", func(x []*node) *node { return mul(add(div(x[0], x[1]), x[2]), x[1]) }, func(x []*node) *node { return add(x[0], mul(x[2], x[1])) }},
	}
}
