package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/vmath"
)

// Functions of C's math library and NumPy's on the parts of floats, and what NumPy has beside them for
// pairs of numbers.
var Cbrt, FMod, CopySign, FMin, FMax, Heaviside, SignBit, GCD, LCM, NextAfter, Ldexp, Frexp, Degrees, Radians *Def

// The two results of Frexp.
var frexpMantissa, frexpExponent *Def

// Functions composed of others.
var LogAddExp, LogAddExp2, Logit, XLogY, Sinc *Def

func init() {
	Cbrt = define(Def{Name: "cbrt", Arity: 1, Doc: "The cube root, of negative numbers too.",
		Elementwise: Elementwise{Rule: Float, Cost: 40,
			Expr: func(b *bld, n *node, x []val) val { return vmath.Cbrt(b, x[0]) }},
		Derivative:  Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return div(v.DY, scale(mul(v.Y, v.Y), 3)) }) }},
		Conformance: Conformance{Domain: [2]float64{0.3, 3}}})
	for _, c := range []struct {
		def       **Def
		name, doc string
		by        float64
	}{
		{&Degrees, "degrees", "An angle in radians as degrees: x times 180/pi, which is rounded first.", 180 / math.Pi},
		{&Radians, "radians", "An angle in degrees as radians: x times pi/180, which is rounded first.", math.Pi / 180},
	} {
		*c.def = define(Def{Name: c.name, Arity: 1, Doc: c.doc,
			Elementwise: Elementwise{Rule: Float,
				Expr: func(b *bld, n *node, x []val) val { return b.Mul(x[0], b.Number(b.Type(x[0]), c.by)) }},
			Derivative: Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return scale(v.DY, c.by) }) }}})
	}
	FMod = define(Def{Name: "fmod", Arity: 2, Doc: "The remainder of the quotient rounded toward zero, exactly, with the sign of x; integers by 0 give 0.",
		Elementwise: Elementwise{Rule: NoBool, Cost: 40,
			Expr: func(b *bld, n *node, x []val) val {
				switch {
				case n.DType.Float():
					return floatFMod(b, x[0], x[1])
				case unsigned(n.DType):
					return b.RemU(x[0], x[1])
				}
				return b.Rem(x[0], x[1])
			}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return v.DY })
			// The quotient is whole but for its rounding.
			v.Set(1, func() *node { return neg(mul(v.DY, apply(Round, div(sub(v.X[0], v.Y), v.X[1])))) })
		}}})
	CopySign = define(Def{Name: "copysign", Arity: 2, Doc: "The magnitude of x with the sign of y, of zeros and NaN too.",
		Elementwise: Elementwise{Rule: Float,
			Expr: func(b *bld, n *node, x []val) val { return withSignBit(b, x[0], x[1]) }},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return mul(v.DY, mul(apply(Sign, v.X[0]), apply(CopySign, one(v.X[1]), v.X[1]))) })
			v.Set(1, func() *node { return zerosAs(v.DY) })
		}}})
	Heaviside = define(Def{Name: "heaviside", Arity: 2, Doc: "0 where x is below 0, y where it is 0, 1 above; NaN stays.",
		Elementwise: Elementwise{Rule: Float,
			Expr: func(b *bld, n *node, x []val) val {
				t := b.Type(x[0])
				zero := b.Number(t, 0)
				step := b.Select(b.Lt(zero, x[0]), b.Number(t, 1), b.Select(b.Lt(x[0], zero), zero, x[1]))
				return b.Select(b.Ne(x[0], x[0]), x[0], step)
			}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return zerosAs(v.DY) })
			v.Set(1, func() *node { return zeroUnless(apply(Eq, v.X[0], num(v.X[0], 0)), v.DY) })
		}}})
	SignBit = define(Def{Name: "signbit", Arity: 1, Doc: "Whether the sign bit is set: of negative numbers, -0, and NaN that have it.",
		Elementwise: Elementwise{Rule: Compare,
			Expr: func(b *bld, n *node, x []val) val {
				switch t := b.Type(x[0]); {
				case t.Float():
					return b.Lt(b.Bits(bitsOf(t), x[0]), b.Int(bitsOf(t), 0))
				case t == loop.B || unsigned(n.Args[0].DType):
					return b.Bool(false)
				default:
					return b.Lt(x[0], b.Int(t, 0))
				}
			}}})
	defineExtremes()
	defineWhole()
	defineParts()
	defineComposed()
}

// zerosAs is 0 in the shape and type of x.
func zerosAs(x *node) *node { return expand(num(x, 0), x.Shape) }

// bitsOf is the integer type as wide as a float type.
func bitsOf(t loop.Type) loop.Type {
	if t == loop.F64 {
		return loop.I64
	}
	return loop.I32
}

// withSignBit is the magnitude of x with the sign bit of y.
func withSignBit(b *bld, x, y val) val {
	t := b.Type(x)
	it := bitsOf(t)
	sign := b.And(b.Bits(it, y), b.Int(it, math.MinInt64>>(64-8*t.Size())))
	return b.Bits(t, b.Or(b.Bits(it, b.Abs(x)), sign))
}

// floatFMod is fmod of C99.
func floatFMod(b *bld, x, y val) val {
	t := b.Type(x)
	r, _ := floatRem(b, x, y)
	bad := b.Or(b.Or(b.Ne(x, x), b.Ne(y, y)), b.Or(b.Eq(y, b.Number(t, 0)), b.Eq(b.Abs(x), b.Float(t, inf))))
	return b.Select(bad, b.Float(t, nanValue), withSignBit(b, r, x))
}

// defineExtremes defines the extremes that leave out NaN.
func defineExtremes() {
	for _, c := range []struct {
		def       **Def
		name, doc string
		limit     Side
		whole     func(b *bld, x, y val) val // of bool
		extreme   func(b *bld, d array.DType, x, y val) val
		wins      **Def
	}{
		{&FMin, "fmin", "The lesser; where one is NaN the other.", TooHigh, (*bld).And, lesser, &Lt},
		{&FMax, "fmax", "The greater; where one is NaN the other.", TooLow, (*bld).Or, greater, &Gt},
	} {
		*c.def = define(Def{Name: c.name, Arity: 2, Doc: c.doc,
			Elementwise: Elementwise{IntegerLimits: [3]Side{c.limit, c.limit},
				Expr: func(b *bld, n *node, x []val) val {
					switch {
					case n.DType == array.Bool:
						return c.whole(b, x[0], x[1])
					case !n.DType.Float():
						return c.extreme(b, n.DType, x[0], x[1])
					}
					y := b.Select(b.Ne(x[1], x[1]), x[0], c.extreme(b, n.DType, x[0], x[1]))
					return b.Select(b.Ne(x[0], x[0]), x[1], y)
				}},
			Derivative: Derivative{VJP: func(v *VJP) {
				// As Maximum's where both are numbers; else the number has the gradient, of two NaN the second.
				part := func(i int) *node {
					x, y := v.X[i], v.X[1-i]
					tie := where(apply(Eq, x, y), scale(v.DY, 0.5), num(v.DY, 0))
					alone := apply(IsNaN, y)
					if i == 0 {
						alone = apply(LogicalAnd, alone, apply(LogicalNot, apply(IsNaN, x)))
					}
					return where(apply(LogicalOr, apply(*c.wins, x, y), alone), v.DY, tie)
				}
				v.Set(0, func() *node { return part(0) })
				v.Set(1, func() *node { return part(1) })
			}}})
	}
}

// defineWhole defines what integers alone have.
func defineWhole() {
	// Euclid's algorithm on magnitudes: at most 92 steps for 64 bits (Knuth, volume 2, 4.5.3).
	gcd := func(b *bld, d array.DType, x, y val) (r, ax, ay val) {
		ax, ay = x, y
		if !unsigned(d) {
			ax, ay = b.Abs(x), b.Abs(y)
		}
		zero := b.Int(b.Type(x), 0)
		r = b.While([]val{ax, ay}, func(v []val) val { return b.Ne(v[1], zero) },
			func(v []val) []val { return []val{v[1], b.RemU(v[0], v[1])} })[0]
		return r, ax, ay
	}
	GCD = define(Def{Name: "gcd", Arity: 2, Doc: "The greatest common divisor of the magnitudes; 0 of two zeros.",
		Elementwise: Elementwise{Rule: Ints, Cost: 200,
			Expr: func(b *bld, n *node, x []val) val { r, _, _ := gcd(b, n.DType, x[0], x[1]); return r }}})
	LCM = define(Def{Name: "lcm", Arity: 2, Doc: "The least common multiple of the magnitudes, which wraps; 0 where one is 0.",
		Elementwise: Elementwise{Rule: Ints, Cost: 200,
			Expr: func(b *bld, n *node, x []val) val {
				r, ax, ay := gcd(b, n.DType, x[0], x[1])
				return b.Mul(b.QuoU(ax, r), ay)
			}}})
}

// defineParts defines what takes floats apart and puts them together.
func defineParts() {
	NextAfter = define(Def{Name: "nextafter", Arity: 2, Doc: "The next number of the type from x toward y; y where they are equal.",
		Elementwise: Elementwise{Rule: Float, Cost: 12,
			Expr: func(b *bld, n *node, x []val) val {
				up := neighbour
				switch n.DType {
				case array.Float16:
					up = neighbour16
				case array.BFloat16:
					up = func(b *bld, a, away val) val { return stepped(b, a, away, 1<<16) }
				}
				a, zero := b.Abs(x[0]), b.Number(b.Type(x[0]), 0)
				away := b.Or(b.Eq(x[0], zero), b.Xor(b.Lt(x[0], x[1]), b.Lt(x[0], zero)))
				y := withSignBit(b, up(b, a, away), b.Select(b.Eq(x[0], zero), x[1], x[0]))
				y = b.Select(b.Eq(x[0], x[1]), x[1], y)
				return b.Select(b.Ne(x[0], x[0]), x[0], b.Select(b.Ne(x[1], x[1]), x[1], y))
			}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return v.DY })
			v.Set(1, func() *node { return zerosAs(v.DY) })
		}}})
	Ldexp = define(Def{Name: "ldexp", Arity: 2, Doc: "x times 2 to the y, rounded once; y is truncated to a whole number.",
		Elementwise: Elementwise{Rule: Float, Cost: 12,
			Expr: func(b *bld, n *node, x []val) val {
				t := b.Type(x[0])
				p := partsOf(b, x[0])
				bound := float64(loop.ScaleBound(t))
				k := b.Add(p.exponent, b.Max(b.Float(t, -8192), b.Min(b.Float(t, 8192), b.Trunc(x[1]))))
				k = b.Max(b.Float(t, -bound), b.Min(b.Float(t, bound), k))
				y := b.Select(p.usual, b.ScaleB(p.mantissa, k), x[0])
				return b.Select(b.Ne(x[1], x[1]), x[1], y)
			}},
		Typing: Typing{Wide: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return apply(Ldexp, v.DY, v.X[1]) })
			v.Set(1, func() *node { return zerosAs(v.DY) })
		}}})
	frexpMantissa = define(Def{Name: "frexp_mantissa", Arity: 1, Doc: "The first result of frexp: from 1/2 to before 1 in magnitude; zeros, infinities and NaN stay.",
		Elementwise: Elementwise{Rule: Float, Cost: 6,
			Expr: func(b *bld, n *node, x []val) val {
				p := partsOf(b, x[0])
				return b.Select(p.usual, b.Mul(p.mantissa, b.Number(b.Type(x[0]), 0.5)), x[0])
			}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return apply(Ldexp, v.DY, neg(Apply(frexpExponent, nil, v.X[0]))) })
		}}})
	frexpExponent = define(Def{Name: "frexp_exponent", Arity: 1, Doc: "The second result of frexp, int32; 0 of zeros, infinities and NaN.",
		Elementwise: Elementwise{Rule: Keep, Cost: 6,
			Expr: func(b *bld, n *node, x []val) val {
				t := b.Type(x[0])
				p := partsOf(b, x[0])
				return b.Cvt(loop.I32, b.Select(p.usual, b.Add(p.exponent, b.Number(t, 1)), b.Number(t, 0)))
			}},
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			c.floats(1, 1)
			return array.Int32, c.Args[0].Shape
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{13}}}, {Shapes: [][]int{{3, 5}}}, {Shapes: [][]int{{}}}, {Shapes: [][]int{{0}}}}}})
	Frexp = define(Def{Name: "frexp", Arity: 1, Class: Composite, Doc: "x as a number from 1/2 to before 1 in magnitude, and the power of 2, int32, that it is multiplied by.",
		Composed: Composed{ComposeAll: func(x []*node, _ ir.Attrs) []*node {
			y := x[0]
			if y.DType.Complex() {
				array.Failf("frexp", "", "is not defined for %s", y.DType)
			}
			if !y.DType.Float() {
				y = Convert(y, array.Float32)
			}
			return []*node{apply(frexpMantissa, y), apply(frexpExponent, y)}
		}},
		Typing:      Typing{Results: 2},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{13}}}, {Shapes: [][]int{{3, 5}}}}}})
}

// neighbour is the next float beside a, which is not negative: above it if away, else below.
func neighbour(b *bld, a, away val) val { return stepped(b, a, away, 1) }

// stepped moves the bits of a, not negative, by step: up if away, else down.
func stepped(b *bld, a, away val, step int64) val {
	t := b.Type(a)
	it := bitsOf(t)
	return b.Bits(t, b.Add(b.Bits(it, a), b.Select(away, b.Int(it, step), b.Int(it, -step))))
}

// neighbour16 is neighbour for a float16 in a float32. Steps are 2^-24 for subnormal numbers, and half as
// large below a power of two as above it.
func neighbour16(b *bld, a, away val) val {
	f := func(x float64) val { return b.Float(loop.F32, x) }
	e := b.LogB(b.Max(f(0x1p-14), b.Min(a, f(65504))))
	power := b.ScaleB(f(1), e)
	half := b.And(b.Eq(a, power), b.Lt(f(0x1p-14), a))
	up := b.ScaleB(f(1), b.Sub(e, f(10)))
	down := b.Select(half, b.Mul(up, f(0.5)), up)
	y := b.Select(away, b.Add(a, up), b.Sub(a, down))
	return b.Select(b.And(b.Not(away), b.Lt(f(65504), a)), f(65504), y)
}

// A parted number is mantissa * 2^exponent, the mantissa from 1 to before 2 in magnitude, where usual
// holds; else it is 0, infinite or NaN.
type parted struct{ usual, mantissa, exponent val }

func partsOf(b *bld, x val) parted {
	t := b.Type(x)
	it := bitsOf(t)
	least, up, mant, bias := 0x1p-126, 24.0, int64(23), int64(127)
	if t == loop.F64 {
		least, up, mant, bias = 0x1p-1022, 53, 52, 1023
	}
	a := b.Abs(x)
	usual := b.And(b.Lt(b.Number(t, 0), a), b.Lt(a, b.Float(t, inf)))
	tiny := b.Lt(a, b.Float(t, least))
	u := b.Select(usual, b.Select(tiny, b.Mul(a, b.Float(t, math.Ldexp(1, int(up)))), a), b.Number(t, 1))
	m := b.Or(b.And(b.Bits(it, u), b.Int(it, 1<<mant-1)), b.Int(it, bias<<mant))
	return parted{usual, withSignBit(b, b.Bits(t, m), x), b.Sub(b.LogB(u), b.Select(tiny, b.Float(t, up), b.Number(t, 0)))}
}

// floatsOf converts the arguments of an operation of floats to the type in which they meet, float32 for
// integers.
func floatsOf(name string, x []*node) []*node {
	meet := Promote(x...)
	switch {
	case meet.Complex():
		array.Failf(name, "", "is not defined for %s", meet)
	case !meet.Float():
		meet = array.Float32
	}
	y := make([]*node, len(x))
	for i := range x {
		y[i] = Convert(x[i], meet)
	}
	return y
}

// defineComposed defines functions that others compute well enough. Their bounds are in docs/numbers.md.
func defineComposed() {
	pairs := Conformance{Samples: []Sample{{Shapes: [][]int{{133}, {133}}}, {Shapes: [][]int{{5, 7}, {7}}}, {Shapes: [][]int{{}, {5, 7}}}, {Shapes: [][]int{{0, 3}, {3}}}}}
	positive, single := pairs, Conformance{Samples: []Sample{{Shapes: [][]int{{133}}}, {Shapes: [][]int{{5, 7}}}, {Shapes: [][]int{{}}}, {Shapes: [][]int{{0, 3}}}}}
	positive.Domain = [2]float64{0.2, 3}
	unit := single
	unit.Domain = [2]float64{0.05, 0.95}
	for _, c := range []struct {
		def       **Def
		name, doc string
		base      float64 // logarithm of the base
	}{
		{&LogAddExp, "logaddexp", "log(exp(x)+exp(y)), without overflow.", 1},
		{&LogAddExp2, "logaddexp2", "log2(2^x+2^y), without overflow.", math.Ln2},
	} {
		// The share of x in the sum.
		share := func(x, y *node) *node {
			d := scale(sub(x, y), c.base)
			// Of equal infinities the difference is NaN.
			return where(apply(LogicalAnd, apply(Eq, x, y), apply(Ne, d, d)), num(x, 0.5), apply(Sigmoid, d))
		}
		*c.def = define(Def{Name: c.name, Arity: 2, Class: Composite, Doc: c.doc,
			Composed: Composed{Compose: func(args []*node, _ ir.Attrs) *node {
				x := floatsOf(c.name, args)
				rest := apply(Softplus, neg(scale(apply(Abs, sub(x[0], x[1])), c.base)))
				if c.base != 1 {
					rest = scale(rest, 1/c.base)
				}
				// Of equal numbers, infinities too, the difference is 0.
				rest = where(apply(Eq, x[0], x[1]), num(x[0], math.Ln2/c.base), rest)
				return add(apply(Maximum, x[0], x[1]), rest)
			}},
			Typing: Typing{Wide: true},
			Derivative: Derivative{VJP: func(v *VJP) {
				v.Set(0, func() *node { return mul(v.DY, share(v.X[0], v.X[1])) })
				v.Set(1, func() *node { return mul(v.DY, share(v.X[1], v.X[0])) })
			}},
			Conformance: pairs})
	}
	Logit = define(Def{Name: "logit", Arity: 1, Class: Composite, Doc: "log(x/(1-x)), the inverse of sigmoid; NaN beyond 0 and 1.",
		Composed: Composed{Compose: func(args []*node, _ ir.Attrs) *node {
			x := floatsOf("logit", args)[0]
			far := sub(apply(Log, x), apply(Log1p, neg(x)))
			near := apply(Log1p, div(sub(add(x, x), one(x)), sub(one(x), x)))
			return where(apply(Lt, apply(Abs, sub(x, num(x, 0.5))), num(x, 0.25)), near, far)
		}},
		Typing: Typing{Wide: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			// A product below would make the second derivative NaN at 0 and 1.
			v.Set(0, func() *node { return add(div(v.DY, v.X[0]), div(v.DY, sub(one(v.X[0]), v.X[0]))) })
		}},
		Conformance: unit})
	XLogY = define(Def{Name: "xlogy", Arity: 2, Class: Composite, Doc: "x*log(y); 0 where x is 0, unless y is NaN.",
		Composed: Composed{Compose: func(args []*node, _ ir.Attrs) *node {
			x := floatsOf("xlogy", args)
			zero := apply(LogicalAnd, apply(Eq, x[0], num(x[0], 0)), apply(Eq, x[1], x[1]))
			return where(zero, num(x[0], 0), mul(x[0], apply(Log, x[1])))
		}},
		Typing: Typing{Wide: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			x, y := v.X[0], v.X[1]
			flat := apply(LogicalAnd, apply(Eq, x, num(x, 0)), apply(Le, y, num(y, 0)))
			zero, safe := num(x, 0), where(flat, one(y), y) // slopes of what is not chosen are finite too
			v.Set(0, func() *node { return mul(v.DY, where(flat, zero, apply(Log, safe))) })
			v.Set(1, func() *node { return mul(v.DY, div(where(flat, zero, x), safe)) })
		}},
		Conformance: positive})
	Sinc = define(Def{Name: "sinc", Arity: 1, Class: Composite, Doc: "sin(pi*x)/(pi*x), 1 at 0 and exactly 0 at other integers.",
		Composed: Composed{Compose: func(args []*node, _ ir.Attrs) *node {
			x := floatsOf("sinc", args)[0]
			whole := apply(Round, x)
			odd := apply(Ne, scale(apply(Floor, scale(whole, 0.5)), 2), whole)
			s := apply(Sin, scale(sub(x, whole), math.Pi))
			y := div(where(odd, neg(s), s), scale(x, math.Pi))
			return where(apply(Eq, x, num(x, 0)), one(x), y)
		}},
		Typing:      Typing{Wide: true},
		Derivative:  Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return mul(v.DY, sincSlope(v.X[0])) }) }},
		Conformance: single})
}

// sincSlope is the derivative of sinc out of operations that have gradients: near 0, where its two terms
// cancel, the power series.
func sincSlope(x *node) *node {
	near := apply(Lt, apply(Abs, x), num(x, 0.5))
	z := where(near, one(x), x)
	far := div(sub(apply(Cos, scale(z, math.Pi)), apply(Sinc, z)), z)
	// The coefficient of x^(2k-1) is (-1)^k pi^(2k) 2k/(2k+1)!.
	w := where(near, x, num(x, 0))
	w2 := mul(w, w)
	const terms = 10
	series := num(x, 0)
	for k := terms; k >= 1; k-- {
		c := 2 * float64(k) * math.Pow(math.Pi, 2*float64(k)) / math.Gamma(2*float64(k)+2)
		if k%2 == 1 {
			c = -c
		}
		series = add(mul(series, w2), num(x, c))
	}
	return where(near, mul(series, w), far)
}
