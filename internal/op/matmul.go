package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Matrix products.
var MatMul, MatMul2, Term, Linear *Def

func swapLast(x *node) *node { return Transpose(x, len(x.Shape)-2, len(x.Shape)-1) }

func init() {
	MatMul2 = define(Def{Name: "matmul2", Class: Routine, Arity: 2,
		Doc: "The matrix product over the last two axes; axes before them are equal. An element is the sum over ascending k of products, by fma, in blocks.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				c.floats(2, 2)
				x, y := c.Args[0], c.Args[1]
				r := len(x.Shape)
				if r < 2 || len(y.Shape) != r || !array.Equal(x.Shape[:r-2], y.Shape[:r-2]) || x.Shape[r-1] != y.Shape[r-2] {
					c.Failf("", "shapes do not fit: %s x %s", array.ShapeString(x.Shape), array.ShapeString(y.Shape))
				}
				out := append([]int(nil), x.Shape...)
				out[r-1] = y.Shape[r-1]
				array.CheckShape("matmul", out, x.DType)
				return x.DType, out
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineMatMul, AcceptsHalf: true, Tiled: 1},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return apply(MatMul2, v.DY, swapLast(v.X[1])) })
			v.Set(1, func() *node { return apply(MatMul2, swapLast(v.X[0]), v.DY) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{5, 7}, {7, 3}}}, {Shapes: [][]int{{2, 3, 4}, {2, 4, 5}}}, {Shapes: [][]int{{3, 0}, {0, 2}}}}}})
	Term = define(Def{Name: "term", Arity: 2, Doc: "x * y + 0, rounded once: an element of a matrix product over one term, which is x * y, but never -0 where a factor is 0.",
		Elementwise: Elementwise{Rule: Float,
			Expr: func(b *bld, n *node, x []val) val { return b.Fma(x[0], x[1], b.Float(b.Type(x[0]), 0)) }},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return mul(v.DY, v.X[1]) })
			v.Set(1, func() *node { return mul(v.DY, v.X[0]) })
		}}})
	MatMul = define(Def{Name: "matmul", Class: Composite, Arity: 2, ONNX: "MatMul",
		Doc:      "NumPy's matmul: vectors are rows on the left and columns on the right, axes before the last two broadcast.",
		Composed: Composed{Compose: func(x []*node, _ ir.Attrs) *node { return composeMatMul(x[0], x[1]) }},
		Typing:   Typing{Wide: true},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{7}, {7}}}, {Shapes: [][]int{{3, 7}, {7}}}, {Shapes: [][]int{{7}, {7, 3}}},
			{Shapes: [][]int{{5, 7}, {7, 3}}}, {Shapes: [][]int{{2, 3, 4}, {4, 5}}}, {Shapes: [][]int{{2, 1, 3, 4}, {3, 4, 2}}}}}})
	Linear = define(Def{Name: "linear", Class: Composite, Arity: -1, Doc: "matmul(x, transpose(w)) + b in one plan: w is [out in], b [out], if given.", ONNX: "Gemm",
		Composed: Composed{Compose: func(x []*node, _ ir.Attrs) *node {
			(&Call{Def: Linear, Args: x}).count(2, 3)
			w := x[1]
			if len(w.Shape) != 2 {
				array.Failf("linear", "w", "has shape %s, want [out in]", array.ShapeString(w.Shape))
			}
			if r := len(x[0].Shape); r == 0 || x[0].Shape[r-1] != w.Shape[1] {
				array.Failf("linear", "x", "has shape %s, want [... %d]: the weights are %s, outputs first", array.ShapeString(x[0].Shape), w.Shape[1], array.ShapeString(w.Shape))
			}
			if !Promote(x[0], w).Differentiable() {
				array.Failf("linear", "", "takes floats, got %s and %s: convert with To first", x[0].DType, w.DType)
			}
			y := composeMatMul(x[0], swapLast(w))
			if len(x) == 2 {
				return y
			}
			if b := x[2]; !array.Equal(b.Shape, w.Shape[:1]) {
				array.Failf("linear", "b", "has shape %s, want [%d]", array.ShapeString(b.Shape), w.Shape[0])
			}
			return add(y, x[2])
		}},
		Typing: Typing{Wide: true},
		// Not through the parts: the gradient of the weights would be computed inputs
		// first and turned.
		Derivative: Derivative{VJP: func(v *VJP) {
			x, w := Convert(v.X[0], v.DY.DType), Convert(v.X[1], v.DY.DType)
			rows := func(x *node) *node {
				n := x.Shape[len(x.Shape)-1]
				return reshape(x, []int{array.Size(x.Shape[:len(x.Shape)-1]), n})
			}
			v.Set(0, func() *node {
				return Convert(reshape(apply(MatMul2, rows(v.DY), w), x.Shape), v.X[0].DType)
			})
			v.Set(1, func() *node {
				return Convert(apply(MatMul2, swapLast(rows(v.DY)), rows(x)), v.X[1].DType)
			})
			if len(v.X) == 3 {
				v.Set(2, func() *node { return Convert(v.DY, v.X[2].DType) })
			}
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{5, 7}, {3, 7}, {3}}}, {Shapes: [][]int{{2, 5, 7}, {3, 7}}}, {Shapes: [][]int{{7}, {3, 7}, {3}}}}}})
}

// composeMatMul is the product of x and y.
func composeMatMul(x, y *node) *node {
	if len(x.Shape) == 0 || len(y.Shape) == 0 {
		array.Failf("matmul", "", "takes one dimension or more, got %s x %s", array.ShapeString(x.Shape), array.ShapeString(y.Shape))
	}
	meet := Promote(x, y)
	if meet == array.Bool {
		array.Failf("matmul", "", "is not defined for bool: convert with To first")
	}
	x, y = Convert(x, meet), Convert(y, meet)
	kx := x.Shape[len(x.Shape)-1]
	ky := y.Shape[max(len(y.Shape)-2, 0)]
	if kx != ky {
		array.Failf("matmul", "", "inner sizes differ, %d and %d: %s x %s", kx, ky, array.ShapeString(x.Shape), array.ShapeString(y.Shape))
	}
	row, col := len(x.Shape) == 1, len(y.Shape) == 1
	if row {
		x = reshape(x, []int{1, kx})
	}
	if col {
		y = reshape(y, []int{ky, 1})
	}
	var r *node
	m, n := x.Shape[len(x.Shape)-2], y.Shape[len(y.Shape)-1]
	if len(y.Shape) == 2 {
		// One matrix on the right: all rows of x are one tall matrix.
		tall := reshape(x, []int{x.Size() / max(kx, 1), kx})
		if kx == 0 {
			tall = reshape(x, []int{array.Size(x.Shape[:len(x.Shape)-1]), 0})
		}
		r = reshape(product(tall, y), append(append([]int(nil), x.Shape[:len(x.Shape)-1]...), n))
	} else {
		bx, by := x.Shape[:len(x.Shape)-2], y.Shape[:len(y.Shape)-2]
		if !array.Broadcasts(bx, by) {
			array.Failf("matmul", "", "axes before the last two do not broadcast: %s x %s", array.ShapeString(x.Shape), array.ShapeString(y.Shape))
		}
		batch := array.Broadcast("matmul", bx, by)
		x = expand(x, append(append([]int(nil), batch...), m, kx))
		y = expand(y, append(append([]int(nil), batch...), ky, n))
		r = product(x, y)
	}
	s := r.Shape
	switch {
	case row && col:
		return reshape(r, s[:len(s)-2])
	case row:
		return reshape(r, append(append([]int(nil), s[:len(s)-2]...), n))
	case col:
		return reshape(r, s[:len(s)-1])
	}
	return r
}

// product is the matrix product over the last two axes of operands of one type. That of
// integers is a sum of products, which wraps.
func product(x, y *node) *node {
	if !x.DType.Integer() {
		return apply(MatMul2, x, y)
	}
	r := len(x.Shape)
	m, k, n := x.Shape[r-2], x.Shape[r-1], y.Shape[r-1]
	batch := x.Shape[: r-2 : r-2]
	terms := mul(reshape(x, append(append([]int(nil), batch...), m, k, 1)), reshape(y, append(append([]int(nil), batch...), 1, k, n)))
	return reshape(Apply(reduceSum, Group{r - 1, r}, terms), append(append([]int(nil), batch...), m, n))
}
