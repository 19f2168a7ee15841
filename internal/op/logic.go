package op

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
)

// Comparisons, truth values, choice and conversion.
var Eq, Ne, Lt, Le, Gt, Ge, LogicalAnd, LogicalOr, LogicalXor, LogicalNot, IsNaN, IsInf, IsFinite, Where, Cast *Def

func init() {
	for _, c := range []struct {
		def             **Def
		name, onnx, doc string
		op, without     loop.Op // of operands with a sign, and of those without
		swap            bool    // the second operand comes first
	}{
		{&Eq, "eq", "Equal", "x == y.", loop.OpEq, loop.OpEq, false},
		{&Ne, "ne", "", "x != y.", loop.OpNe, loop.OpNe, false},
		{&Lt, "lt", "Less", "x < y.", loop.OpLt, loop.OpLtU, false},
		{&Le, "le", "LessOrEqual", "x <= y.", loop.OpLe, loop.OpLeU, false},
		{&Gt, "gt", "Greater", "x > y.", loop.OpLt, loop.OpLtU, true},
		{&Ge, "ge", "GreaterOrEqual", "x >= y.", loop.OpLe, loop.OpLeU, true},
	} {
		*c.def = define(Def{Name: c.name, Arity: 2, ONNX: c.onnx, Doc: c.doc,
			Elementwise: Elementwise{Rule: Compare,
				Expr: func(b *bld, n *node, x []val) val {
					y, z, o := x[0], x[1], c.op
					if b.Type(y) == loop.B && n.Op != Eq && n.Op != Ne {
						y, z = b.Cvt(loop.I32, y), b.Cvt(loop.I32, z)
					}
					if c.swap {
						y, z = z, y
					}
					if unsigned(n.Args[0].DType) {
						o = c.without
					}
					return b.Binary(o, y, z)
				}}})
	}
	for _, c := range []struct {
		def             **Def
		name, onnx, doc string
		expr            func(b *bld, x, y val) val
	}{
		{&LogicalAnd, "logical_and", "And", "Both are true (not 0).", (*bld).And},
		{&LogicalOr, "logical_or", "Or", "Either is true (not 0).", (*bld).Or},
		{&LogicalXor, "logical_xor", "Xor", "One alone is true (not 0).", (*bld).Xor},
	} {
		*c.def = define(Def{Name: c.name, Arity: 2, ONNX: c.onnx, Doc: c.doc,
			Elementwise: Elementwise{Rule: Logic,
				Expr: func(b *bld, n *node, x []val) val { return c.expr(b, x[0], x[1]) }}})
	}
	LogicalNot = define(Def{Name: "logical_not", Arity: 1, ONNX: "Not", Doc: "True where x is 0.",
		Elementwise: Elementwise{Rule: Logic,
			Expr: func(b *bld, n *node, x []val) val { return b.Not(x[0]) }}})
	for _, c := range []struct {
		def             **Def
		name, onnx, doc string
		ints            bool // the answer for other types than floats
		expr            func(b *bld, x val) val
	}{
		{&IsNaN, "isnan", "IsNaN", "x is NaN.", false, func(b *bld, x val) val { return b.Ne(x, x) }},
		{&IsInf, "isinf", "IsInf", "x is an infinity.", false, func(b *bld, x val) val { return b.Eq(b.Abs(x), b.Float(b.Type(x), inf)) }},
		{&IsFinite, "isfinite", "", "x is neither NaN nor infinite.", true, func(b *bld, x val) val { return b.Lt(b.Abs(x), b.Float(b.Type(x), inf)) }},
	} {
		*c.def = define(Def{Name: c.name, Arity: 1, ONNX: c.onnx, Doc: c.doc,
			Elementwise: Elementwise{Rule: Compare,
				Expr: func(b *bld, n *node, x []val) val {
					if !b.Type(x[0]).Float() {
						return b.Bool(c.ints)
					}
					return c.expr(b, x[0])
				}}})
	}
	Where = define(Def{Name: "where", Arity: 3, ONNX: "Where", Doc: "c ? x : y.", Class: Composite,
		Elementwise: Elementwise{Rule: Keep},
		Composed: Composed{Compose: func(x []*node, _ ir.Attrs) *node {
			meet := Promote(x[1], x[2])
			if apart(deciding(x[1:])) {
				NoCommon("where", x[1].DType, x[2].DType)
			}
			return Apply(selectDef, nil, Convert(x[0], array.Bool), Convert(x[1], meet), Convert(x[2], meet))
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 5}, {5}, {4, 1}}, DTypes: []array.DType{array.Bool, array.Float64, array.Float64}}}}})
	selectDef = define(Def{Name: "select", Arity: 3, Doc: "Where with a bool condition and equal types.",
		Elementwise: Elementwise{Rule: Keep,
			Expr: func(b *bld, n *node, x []val) val { return b.Select(x[0], x[1], x[2]) }},
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			if x, y := c.Args[1].DType, c.Args[2].DType; x != y || c.Args[0].DType != array.Bool {
				c.Failf("", "takes a bool and two of one type, got %s, %s and %s", c.Args[0].DType, x, y)
			}
			return c.Args[1].DType, array.Broadcast("where", c.Args[0].Shape, c.Args[1].Shape, c.Args[2].Shape)
		}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(1, func() *node { return where(v.X[0], v.DY, num(v.DY, 0)) })
			v.Set(2, func() *node { return where(v.X[0], num(v.DY, 0), v.DY) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 5}, {5}, {4, 1}}, DTypes: []array.DType{array.Bool, array.Float64, array.Float64}}}}})
	Cast = define(Def{Name: "cast", Arity: 1, Attrs: To(0), ONNX: "Cast",
		Doc: "x in another type. Floats to integers truncate and saturate, those without sign at 0 too, and NaN gives 0; integers to narrower ones wrap, as do those with a sign to ones without and back; to bool is x != 0.",
		Elementwise: Elementwise{Rule: Keep,
			Expr: func(b *bld, n *node, x []val) val {
				sign := 0
				if unsigned(n.Args[0].DType) {
					sign |= loop.FromUnsigned
				}
				if unsigned(n.DType) {
					sign |= loop.ToUnsigned
				}
				if n.DType.Half() {
					return b.Half(n.DType, x[0], sign)
				}
				return b.CvtSigned(loop.TypeOf(n.DType), x[0], sign)
			}},
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			d := array.DType(c.Attrs.(To))
			if !d.Supported() {
				c.Failf("dtype", "%s is not supported", d)
			}
			return d, c.Args[0].Shape
		}},
		Derivative: Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return Convert(v.DY, v.X[0].DType) }) }},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{3, 4}}, Attrs: To(array.Float32)}, {Shapes: [][]int{{3, 4}}, Attrs: To(array.Int32)},
			{Shapes: [][]int{{7}}, Attrs: To(array.Uint8)}, {Shapes: [][]int{{7}}, Attrs: To(array.Bool)}}}})
}

// selectDef is the pointwise core of Where.
var selectDef *Def
