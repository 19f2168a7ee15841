package op

import (
	"math"
	"math/bits"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
)

var (
	inf      = math.Inf(1)
	nanValue = math.NaN()
)

// Shorthands for gradients and composites. They are not inlined, which would take 0.4 MB of cmd/weft.
//
//go:noinline
func apply(d *Def, x ...*ir.Node) *ir.Node { return Apply(d, nil, x...) }

//go:noinline
func add(x, y *ir.Node) *ir.Node { return apply(Add, x, y) }

//go:noinline
func sub(x, y *ir.Node) *ir.Node { return apply(Sub, x, y) }

//go:noinline
func mul(x, y *ir.Node) *ir.Node { return apply(Mul, x, y) }

//go:noinline
func div(x, y *ir.Node) *ir.Node { return apply(Div, x, y) }

//go:noinline
func neg(x *ir.Node) *ir.Node { return apply(Neg, x) }

// scale is x times a constant.
//
//go:noinline
func scale(x *ir.Node, f float64) *ir.Node { return mul(x, num(x, f)) }

//go:noinline
func where(c, x, y *ir.Node) *ir.Node { return apply(Where, c, x, y) }

// zeroUnless is dy where c holds, else 0.
//
//go:noinline
func zeroUnless(c, dy *ir.Node) *ir.Node { return where(c, dy, num(dy, 0)) }

type (
	bld  = loop.Builder
	val  = loop.Value
	node = ir.Node
)

// The arithmetic operations.
var Add, Sub, Mul, Div, FloorDiv, Mod, Neg, Abs, Sign, Minimum, Maximum, Sqrt, Rsqrt, Reciprocal, Square, Floor, Ceil, Round, Trunc, Clamp, PowInt *Def

func init() {
	Add = define(Def{Name: "add", Arity: 2, ONNX: "Add", Doc: "x + y; on bool, or.",
		Elementwise: Elementwise{Expr: func(b *bld, n *node, x []val) val {
			if n.DType == array.Bool {
				return b.Or(x[0], x[1])
			}
			return b.Add(x[0], x[1])
		}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return v.DY })
			v.Set(1, func() *node { return v.DY })
		}}})
	Sub = define(Def{Name: "sub", Arity: 2, ONNX: "Sub", Doc: "x - y.",
		Elementwise: Elementwise{Rule: NoBool,
			Expr: func(b *bld, n *node, x []val) val { return b.Sub(x[0], x[1]) }},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return v.DY })
			v.Set(1, func() *node { return neg(v.DY) })
		}}})
	Mul = define(Def{Name: "mul", Arity: 2, ONNX: "Mul", Doc: "x * y; on bool, and.",
		Elementwise: Elementwise{Expr: func(b *bld, n *node, x []val) val {
			if n.DType == array.Bool {
				return b.And(x[0], x[1])
			}
			return b.Mul(x[0], x[1])
		}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return mul(v.DY, v.X[1]) })
			v.Set(1, func() *node { return mul(v.DY, v.X[0]) })
		}}})
	Div = define(Def{Name: "div", Arity: 2, ONNX: "Div", Doc: "x / y, true division: integers give float32.",
		Elementwise: Elementwise{Rule: Float,
			Expr: func(b *bld, n *node, x []val) val { return b.Div(x[0], x[1]) }},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return div(v.DY, v.X[1]) })
			v.Set(1, func() *node { return neg(div(mul(v.DY, v.Y), v.X[1])) })
		}}})
	FloorDiv = define(Def{Name: "floordiv", Arity: 2,
		Doc: "The quotient rounded down as if it were exact, so that it fits Mod: 1//0.1 is 9. Floats by 0 give x/0, integers 0.",
		Elementwise: Elementwise{Rule: NoBool, Cost: 40,
			Expr: func(b *bld, n *node, x []val) val {
				if n.DType.Float() {
					return floatFloorDiv(b, x[0], x[1])
				}
				if unsigned(n.DType) {
					return b.QuoU(x[0], x[1])
				}
				return intFloorDiv(b, x[0], x[1])
			}},
		Derivative: Derivative{PiecewiseConstant: true}})
	Mod = define(Def{Name: "mod", Arity: 2, ONNX: "Mod",
		Doc: "The remainder of FloorDiv, with the sign of y; integers by 0 give 0.",
		Elementwise: Elementwise{Rule: NoBool, Cost: 40,
			Expr: func(b *bld, n *node, x []val) val {
				if n.DType.Float() {
					return floatMod(b, x[0], x[1])
				}
				if unsigned(n.DType) {
					return b.RemU(x[0], x[1])
				}
				zero := b.Int(b.Type(x[0]), 0)
				if isNumber(b, x[1]) {
					return b.Select(b.Eq(x[1], zero), zero, b.Sub(x[0], b.Mul(intFloorDiv(b, x[0], x[1]), x[1])))
				}
				r := b.Rem(x[0], x[1])
				fix := b.And(b.Ne(r, zero), b.Xor(b.Lt(r, zero), b.Lt(x[1], zero)))
				return b.Select(fix, b.Add(r, x[1]), r)
			}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return v.DY })
			v.Set(1, func() *node { return neg(mul(v.DY, apply(FloorDiv, v.X[0], v.X[1]))) })
		}}})
	Neg = define(Def{Name: "neg", Arity: 1, ONNX: "Neg", Doc: "-x.",
		Elementwise: Elementwise{Rule: NoBool,
			Expr: func(b *bld, n *node, x []val) val { return b.Neg(x[0]) }},
		Derivative: Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return neg(v.DY) }) }}})
	Abs = define(Def{Name: "abs", Arity: 1, ONNX: "Abs", Doc: "|x|.",
		Elementwise: Elementwise{Rule: NoBool,
			Expr: func(b *bld, n *node, x []val) val {
				if n.DType.Unsigned() {
					return x[0]
				}
				return b.Abs(x[0])
			}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				x := v.X[0]
				return mul(v.DY, where(apply(IsNaN, x), num(x, 0), apply(Sign, x)))
			})
		}}})
	Sign = define(Def{Name: "sign", Arity: 1, ONNX: "Sign", Doc: "-1, 0 or 1; NaN stays.",
		Elementwise: Elementwise{Rule: NoBool,
			Expr: func(b *bld, n *node, x []val) val {
				t := b.Type(x[0])
				zero := b.Number(t, 0)
				if unsigned(n.DType) {
					return b.Cvt(t, b.Ne(x[0], zero))
				}
				r := b.Select(b.Lt(zero, x[0]), b.Number(t, 1), b.Select(b.Lt(x[0], zero), b.Number(t, -1), zero))
				if t.Float() {
					return b.Select(b.Ne(x[0], x[0]), x[0], r)
				}
				return r
			}},
		Derivative: Derivative{PiecewiseConstant: true}})
	Minimum = define(Def{Name: "minimum", Arity: 2, ONNX: "Min", Doc: "The lesser; NaN if either is.",
		Elementwise: Elementwise{IntegerLimits: [3]Side{TooHigh, TooHigh},
			Expr: func(b *bld, n *node, x []val) val {
				if n.DType == array.Bool {
					return b.And(x[0], x[1])
				}
				return lesser(b, n.DType, x[0], x[1])
			}},
		Derivative: Derivative{VJP: extremeVJP(func() *Def { return Lt })}})
	Maximum = define(Def{Name: "maximum", Arity: 2, ONNX: "Max", Doc: "The greater; NaN if either is.",
		Elementwise: Elementwise{IntegerLimits: [3]Side{TooLow, TooLow},
			Expr: func(b *bld, n *node, x []val) val {
				if n.DType == array.Bool {
					return b.Or(x[0], x[1])
				}
				return greater(b, n.DType, x[0], x[1])
			}},
		Derivative: Derivative{VJP: extremeVJP(func() *Def { return Gt })}})
	Sqrt = define(Def{Name: "sqrt", Arity: 1, ONNX: "Sqrt", Doc: "The square root.",
		Elementwise: Elementwise{Rule: Float, Cost: 6,
			Expr: func(b *bld, n *node, x []val) val { return b.Sqrt(x[0]) }},
		Derivative:  Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return div(scale(v.DY, 0.5), v.Y) }) }},
		Conformance: Conformance{Domain: [2]float64{0.1, 4}}})
	Rsqrt = define(Def{Name: "rsqrt", Arity: 1, Class: Composite, Doc: "1/sqrt(x), each step rounded.",
		Composed:    Composed{Compose: func(x []*node, _ ir.Attrs) *node { return apply(Reciprocal, apply(Sqrt, x[0])) }},
		Typing:      Typing{Wide: true},
		Conformance: Conformance{Domain: [2]float64{0.1, 4}}})
	Reciprocal = define(Def{Name: "reciprocal", Arity: 1, ONNX: "Reciprocal", Doc: "1/x.",
		Elementwise: Elementwise{Rule: Float, Cost: 4,
			Expr: func(b *bld, n *node, x []val) val { return b.Div(b.Float(b.Type(x[0]), 1), x[0]) }},
		Derivative:  Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return neg(mul(v.DY, mul(v.Y, v.Y))) }) }},
		Conformance: Conformance{Domain: [2]float64{0.3, 3}}})
	Square = define(Def{Name: "square", Arity: 1, Doc: "x*x.",
		Elementwise: Elementwise{Rule: NoBool,
			Expr: func(b *bld, n *node, x []val) val { return b.Mul(x[0], x[0]) }},
		Derivative: Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return mul(v.DY, scale(v.X[0], 2)) }) }}})
	for _, r := range []struct {
		def             **Def
		name, onnx, doc string
		op              loop.Op
	}{
		{&Floor, "floor", "Floor", "Rounds down; integers stay.", loop.OpFloor},
		{&Ceil, "ceil", "Ceil", "Rounds up; integers stay.", loop.OpCeil},
		{&Round, "round", "Round", "Rounds to nearest, ties to even; integers stay.", loop.OpRint},
		{&Trunc, "trunc", "", "Rounds toward zero; integers stay.", loop.OpTrunc},
	} {
		*r.def = define(Def{Name: r.name, Arity: 1, ONNX: r.onnx, Doc: r.doc,
			Elementwise: Elementwise{Rule: NoBool,
				Expr: func(b *bld, n *node, x []val) val {
					if !n.DType.Float() {
						return x[0]
					}
					return b.Unary(r.op, x[0])
				}},
			Derivative: Derivative{PiecewiseConstant: true}})
	}
	Clamp = define(Def{Name: "clamp", Arity: 3, ONNX: "Clip", Doc: "min(max(x, lo), hi); NaN stays.",
		Elementwise: Elementwise{Rule: NoBool, IntegerLimits: [3]Side{0, TooLow, TooHigh},
			Expr: func(b *bld, n *node, x []val) val {
				return lesser(b, n.DType, greater(b, n.DType, x[0], x[1]), x[2])
			}},
		Derivative: Derivative{VJP: func(v *VJP) {
			x, lo, hi := v.X[0], v.X[1], v.X[2]
			v.Set(0, func() *node { return zeroUnless(apply(LogicalAnd, apply(Ge, x, lo), apply(Le, x, hi)), v.DY) })
			v.Set(1, func() *node { return zeroUnless(apply(LogicalAnd, apply(Lt, x, lo), apply(Le, lo, hi)), v.DY) })
			v.Set(2, func() *node { return zeroUnless(apply(LogicalOr, apply(Gt, x, hi), apply(Gt, lo, hi)), v.DY) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{5, 7}, {}, {}}}, {Shapes: [][]int{{4, 3}, {3}, {4, 1}}}}}})
	PowInt = define(Def{Name: "powint", Arity: 1, Attrs: Power(0),
		Doc: "x to the constant integer power by a fixed chain: squarings from the highest bit down, times x where a bit is set; negative powers are the reciprocal (floats only).",
		Elementwise: Elementwise{Rule: NoBool,
			Expr: func(b *bld, n *node, x []val) val { return powChain(b, x[0], int(n.Attrs.(Power))) }},
		Derivative: Derivative{VJP: func(v *VJP) {
			k := v.Node.Attrs.(Power)
			v.Set(0, func() *node {
				if k == 0 {
					return mul(v.DY, num(v.DY, 0))
				}
				return mul(v.DY, scale(Apply(PowInt, k-1, v.X[0]), float64(k)))
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{13}}, Attrs: Power(10)}, {Shapes: [][]int{{3, 5}}, Attrs: Power(3)}, {Shapes: [][]int{{5}}, Attrs: Power(0)}}}})
}

// lesser and greater are the extremes of values of type d.
func lesser(b *bld, d array.DType, x, y val) val {
	if unsigned(d) {
		return b.MinU(x, y)
	}
	return b.Min(x, y)
}

func greater(b *bld, d array.DType, x, y val) val {
	if unsigned(d) {
		return b.MaxU(x, y)
	}
	return b.Max(x, y)
}

// extremeVJP sends the gradient to the argument that wins; equal ones share it.
func extremeVJP(wins func() *Def) func(v *VJP) {
	return func(v *VJP) {
		half := func(i int) *node {
			x, y := v.X[i], v.X[1-i]
			tie := where(apply(Eq, x, y), scale(v.DY, 0.5), num(v.DY, 0))
			return where(apply(wins(), x, y), v.DY, tie)
		}
		v.Set(0, func() *node { return half(0) })
		v.Set(1, func() *node { return half(1) })
	}
}

func powChain(b *bld, x val, k int) val {
	if k == 0 {
		return b.Number(b.Type(x), 1)
	}
	n := uint64(k)
	if k < 0 {
		n = -n
	}
	r := x
	for i := bits.Len64(n) - 2; i >= 0; i-- {
		r = b.Mul(r, r)
		if n>>i&1 != 0 {
			r = b.Mul(r, x)
		}
	}
	if k < 0 {
		if !b.Type(x).Float() {
			array.Failf("powint", "", "integers to the power %d: convert with To first", k)
		}
		return b.Div(b.Number(b.Type(x), 1), r)
	}
	return r
}

// floatMod is the C remainder moved to the sign of y, which a remainder of 0 has too.
func floatMod(b *bld, x, y val) val {
	t := b.Type(x)
	zero := b.Number(t, 0)
	r, fix := floatRem(b, x, y)
	r = b.Select(fix, b.Add(r, y), r)
	r = b.Select(b.Eq(r, zero), b.Select(b.Lt(y, zero), b.Neg(zero), zero), r)
	bad := b.Or(b.Or(b.Ne(x, x), b.Ne(y, y)), b.Or(b.Eq(y, zero), b.Eq(b.Abs(x), b.Float(t, inf))))
	return b.Select(bad, b.Float(t, nanValue), r)
}

// isNumber reports a value that is a number for all elements.
func isNumber(b *bld, x val) bool {
	o := b.Program().Ins[x].Op
	return o == loop.OpScalar || o == loop.OpConst
}

// intFloorDiv is the quotient of integers rounded down, 0 by 0.
func intFloorDiv(b *bld, x, y val) val {
	t := b.Type(x)
	zero, one, ones := b.Int(t, 0), b.Int(t, 1), b.Int(t, -1)
	if !isNumber(b, y) {
		// One less where the remainder is not 0 and signs differ.
		q, r := b.Quo(x, y), b.Rem(x, y)
		down := b.And(b.Ne(r, zero), b.Xor(b.Lt(r, zero), b.Lt(y, zero)))
		return b.Select(down, b.Sub(q, one), q)
	}
	// What depends on y alone is computed once. With y above 0 and x below it, the
	// quotient is ^(^x/y). With y below 0 it is that of -x and -y, and ^-x is x-1; -x is
	// below 0 where x is not below 1. By 0 no x is below the least number.
	least, below := b.Int(t, -1<<(8*t.Size()-1)), b.Lt(y, zero)
	limit := b.Select(b.Eq(y, zero), least, b.Select(below, one, zero))
	sx, sy := b.Select(b.Lt(x, limit), ones, zero), b.Select(below, ones, zero)
	q := b.QuoU(b.Xor(b.Add(x, sy), sx), b.Abs(y))
	return b.Xor(q, b.Xor(sx, sy))
}

// floatFloorDiv is the quotient that goes with floatMod, in NumPy's steps: what is left
// of x without the remainder is a multiple of y, so that the division is off by its
// rounding alone, which the nearest whole number takes away.
func floatFloorDiv(b *bld, x, y val) val {
	t := b.Type(x)
	zero, unit := b.Number(t, 0), b.Number(t, 1)
	r, fix := floatRem(b, x, y)
	d := b.Div(b.Sub(x, r), y)
	d = b.Select(fix, b.Sub(d, unit), d)
	down := b.Floor(d)
	whole := b.Select(b.Lt(b.Float(t, 0.5), b.Sub(d, down)), b.Add(down, unit), down)
	q := b.Div(x, y)
	whole = b.Select(b.Eq(d, zero), b.Mul(q, zero), whole) // 0 has the sign of the quotient
	return b.Select(b.Eq(y, zero), q, whole)
}

// floatRem is the remainder fmod of C where x is finite and y neither 0 nor NaN, exactly,
// and whether y must be added to it to give it the sign of y. The quotient is taken off in
// steps of at most 2^(p-2) so that each fma is exact.
func floatRem(b *bld, x, y val) (r, fix val) {
	t := b.Type(x)
	zero := b.Number(t, 0)
	ay := b.Abs(y)
	grow := 0x1p126
	if t == loop.F64 {
		grow = 0x1p1022
	}
	r = b.While([]val{b.Abs(x)}, func(v []val) val {
		return b.And(b.Le(ay, v[0]), b.And(b.Lt(zero, ay), b.Lt(v[0], b.Float(t, inf))))
	}, func(v []val) []val {
		// Where the quotient overflows, a power of two times y is taken off: the
		// greatest ratio of two finite numbers is below the cube of grow.
		step := ay
		for range 2 {
			step = b.Select(b.Lt(b.Div(v[0], step), b.Float(t, inf)), step, b.Mul(step, b.Float(t, grow)))
		}
		q := b.Trunc(b.Div(v[0], step))
		// A quotient too wide for an exact product is cut to its leading bits; unit
		// is what the last of them is worth.
		it, keep, limit, last := loop.I32, int64(-1)<<12, 0x1p12, 0x1p-11
		exponent := int64(0xff) << 23
		if t == loop.F64 {
			it, keep, limit, last = loop.I64, -1<<27, 0x1p26, 0x1p-25
			exponent = 0x7ff << 52
		}
		bits := b.Bits(it, q)
		narrow := b.Lt(q, b.Float(t, limit))
		unit := b.Select(narrow, b.Float(t, 1), b.Mul(b.Bits(t, b.And(bits, b.Int(it, exponent))), b.Float(t, last)))
		q = b.Select(narrow, q, b.Bits(t, b.And(bits, b.Int(it, keep))))
		r := b.Fma(b.Neg(q), step, v[0])
		// Rounding may have lifted the quotient by a unit.
		return []val{b.Select(b.Lt(r, zero), b.Fma(unit, step, r), r)}
	})[0]
	r = b.Select(b.Lt(x, zero), b.Neg(r), r)
	return r, b.And(b.Ne(r, zero), b.Xor(b.Lt(r, zero), b.Lt(y, zero)))
}
