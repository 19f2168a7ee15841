package op

import (
	"math"
	"weft/internal/array"

	"weft/internal/vmath"
)

// Elementary functions. Their formulas are in package vmath.
var Exp, Expm1, Exp2, Log, Log1p, Log2, Log10, Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Erf, Erfc, Erfinv, Lgamma, Digamma, Trigamma, Pow *Def

// Activations.
var Sigmoid, Relu, Gelu, Silu, Softplus *Def

// one is 1 in the type of x.
//
//go:noinline
func one(x *node) *node { return num(x, 1) }

func init() {
	type fn = func(b *bld, x val) val
	for _, f := range []struct {
		def        **Def
		name, onnx string
		cost       int
		domain     [2]float64
		doc        string
		expr       fn
		grad       func(x, y *node) *node // the derivative
	}{
		{&Exp, "exp", "Exp", 14, [2]float64{}, "e to the x.", vmath.Exp, func(x, y *node) *node { return y }},
		{&Expm1, "expm1", "", 20, [2]float64{}, "exp(x)-1, exact near 0.", vmath.Expm1, func(x, y *node) *node { return add(y, one(y)) }},
		{&Exp2, "exp2", "", 14, [2]float64{}, "2 to the x.", vmath.Exp2, func(x, y *node) *node { return scale(y, math.Ln2) }},
		{&Log, "log", "Log", 18, [2]float64{0.2, 4}, "The natural logarithm.", vmath.Log, func(x, y *node) *node { return apply(Reciprocal, x) }},
		{&Log1p, "log1p", "", 24, [2]float64{-0.7, 3}, "log(1+x), exact near 0.", vmath.Log1p, func(x, y *node) *node { return apply(Reciprocal, add(x, one(x))) }},
		{&Log2, "log2", "", 20, [2]float64{0.2, 4}, "The logarithm to base 2.", vmath.Log2, func(x, y *node) *node { return apply(Reciprocal, scale(x, math.Ln2)) }},
		{&Log10, "log10", "", 20, [2]float64{0.2, 4}, "The logarithm to base 10.", vmath.Log10, func(x, y *node) *node { return apply(Reciprocal, scale(x, math.Ln10)) }},
		{&Sin, "sin", "Sin", 22, [2]float64{}, "The sine of x in radians.", vmath.Sin, func(x, y *node) *node { return apply(Cos, x) }},
		{&Cos, "cos", "Cos", 22, [2]float64{}, "The cosine of x in radians.", vmath.Cos, func(x, y *node) *node { return neg(apply(Sin, x)) }},
		{&Tan, "tan", "Tan", 30, [2]float64{-1.2, 1.2}, "The tangent of x in radians.", vmath.Tan, func(x, y *node) *node { return add(mul(y, y), one(y)) }},
		{&Asin, "asin", "Asin", 26, [2]float64{-0.9, 0.9}, "The arc sine, in radians.", vmath.Asin, func(x, y *node) *node { return apply(Rsqrt, sub(one(x), mul(x, x))) }},
		{&Acos, "acos", "Acos", 26, [2]float64{-0.9, 0.9}, "The arc cosine, in radians.", vmath.Acos, func(x, y *node) *node { return neg(apply(Rsqrt, sub(one(x), mul(x, x)))) }},
		{&Atan, "atan", "Atan", 24, [2]float64{}, "The arc tangent, in radians.", vmath.Atan, func(x, y *node) *node { return apply(Reciprocal, add(mul(x, x), one(x))) }},
		{&Sinh, "sinh", "Sinh", 26, [2]float64{}, "The hyperbolic sine.", vmath.Sinh, func(x, y *node) *node { return apply(Cosh, x) }},
		{&Cosh, "cosh", "Cosh", 26, [2]float64{}, "The hyperbolic cosine.", vmath.Cosh, func(x, y *node) *node { return apply(Sinh, x) }},
		{&Tanh, "tanh", "Tanh", 22, [2]float64{}, "The hyperbolic tangent.", vmath.Tanh, func(x, y *node) *node { return sub(one(y), mul(y, y)) }},
		{&Asinh, "asinh", "Asinh", 60, [2]float64{}, "The inverse of the hyperbolic sine.", vmath.Asinh, func(x, y *node) *node { return apply(Rsqrt, add(mul(x, x), one(x))) }},
		{&Acosh, "acosh", "Acosh", 60, [2]float64{1.2, 4}, "The inverse of the hyperbolic cosine.", vmath.Acosh, func(x, y *node) *node { return apply(Rsqrt, sub(mul(x, x), one(x))) }},
		{&Atanh, "atanh", "Atanh", 50, [2]float64{-0.9, 0.9}, "The inverse of the hyperbolic tangent.", vmath.Atanh, func(x, y *node) *node { return apply(Reciprocal, sub(one(x), mul(x, x))) }},
		{&Erf, "erf", "Erf", 28, [2]float64{}, "The error function.", vmath.Erf, func(x, y *node) *node { return scale(apply(Exp, neg(mul(x, x))), 2/math.Sqrt(math.Pi)) }},
		{&Erfc, "erfc", "", 50, [2]float64{}, "1 less the error function, accurate where that is near 1.", vmath.Erfc, func(x, y *node) *node { return scale(apply(Exp, neg(mul(x, x))), -2/math.Sqrt(math.Pi)) }},
		{&Erfinv, "erfinv", "", 70, [2]float64{-0.9, 0.9}, "The inverse of the error function.", vmath.Erfinv, func(x, y *node) *node { return scale(apply(Exp, mul(y, y)), math.Sqrt(math.Pi)/2) }},
		{&Lgamma, "lgamma", "", 90, [2]float64{0.2, 6}, "The logarithm of the absolute value of the gamma function.", vmath.Lgamma, func(x, y *node) *node { return apply(Digamma, x) }},
		{&Digamma, "digamma", "", 90, [2]float64{0.2, 6}, "The derivative of lgamma.", vmath.Digamma, func(x, y *node) *node { return apply(Trigamma, x) }},
		{&Trigamma, "trigamma", "", 60, [2]float64{0.2, 6}, "The derivative of digamma.", vmath.Trigamma, func(x, y *node) *node { return tetragamma(x) }},
		{&Sigmoid, "sigmoid", "Sigmoid", 20, [2]float64{}, "1/(1+exp(-x)).", vmath.Sigmoid, func(x, y *node) *node { return mul(y, sub(one(y), y)) }},
		{&Softplus, "softplus", "Softplus", 34, [2]float64{}, "log(1+exp(x)) without overflow.", vmath.Softplus, func(x, y *node) *node { return apply(Sigmoid, x) }},
		{&Gelu, "gelu", "Gelu", 34, [2]float64{}, "x times the normal distribution function of x (the erf form).", vmath.Gelu, func(x, y *node) *node {
			cdf := scale(add(apply(Erf, scale(x, math.Sqrt2/2)), one(x)), 0.5)
			pdf := scale(apply(Exp, scale(mul(x, x), -0.5)), 1/math.Sqrt(2*math.Pi))
			return add(cdf, mul(x, pdf))
		}},
		{&Silu, "silu", "", 24, [2]float64{}, "x*sigmoid(x).", vmath.Silu, func(x, y *node) *node {
			s := apply(Sigmoid, x)
			return mul(s, add(mul(x, sub(one(s), s)), one(s)))
		}},
	} {
		*f.def = define(Def{Name: f.name, Arity: 1, ONNX: f.onnx, Doc: f.doc,
			Elementwise: Elementwise{Rule: Float, Cost: f.cost,
				Expr: func(b *bld, n *node, x []val) val { return f.expr(b, x[0]) }},
			Derivative:  Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return mul(v.DY, f.grad(v.X[0], v.Y)) }) }},
			Conformance: Conformance{Domain: f.domain}})
	}
	Atan2 = define(Def{Name: "atan2", Arity: 2, Doc: "The angle, in radians, of the point with ordinate x and abscissa y: the first argument is the ordinate.",
		Elementwise: Elementwise{Rule: Float, Cost: 34,
			Expr: func(b *bld, n *node, x []val) val { return vmath.Atan2(b, x[0], x[1]) }},
		Derivative: Derivative{VJP: func(v *VJP) {
			y, x := v.X[0], v.X[1]
			// At the origin, where there is no angle, the gradient is 0.
			r2 := func() *node {
				s := add(mul(x, x), mul(y, y))
				return where(apply(Eq, s, num(s, 0)), one(s), s)
			}
			v.Set(0, func() *node { return mul(v.DY, div(x, r2())) })
			v.Set(1, func() *node { return neg(mul(v.DY, div(y, r2()))) })
		}}})
	Pow = define(Def{Name: "pow", Arity: 2, ONNX: "Pow",
		Doc: "x to the y; integers by repeated squaring, where negative powers give 0 unless x is 1 or -1.",
		Elementwise: Elementwise{Rule: NoBool, Cost: 60,
			Expr: func(b *bld, n *node, x []val) val {
				if n.DType.Float() {
					return vmath.Pow(b, x[0], x[1])
				}
				return intPow(b, n.DType, x[0], x[1])
			}},
		Derivative: Derivative{VJP: func(v *VJP) {
			x, y := v.X[0], v.X[1]
			v.Set(0, func() *node {
				d := mul(y, apply(Pow, x, sub(y, num(y, 1))))
				return mul(v.DY, where(apply(Eq, y, num(y, 0)), num(x, 0), d))
			})
			v.Set(1, func() *node {
				// At x = 0 with y >= 0 the limit of x^y log x is 0.
				l := apply(Log, x)
				flat := apply(LogicalAnd, apply(Eq, x, num(x, 0)), apply(Ge, y, num(y, 0)))
				return mul(v.DY, where(flat, num(x, 0), mul(v.Y, l)))
			})
		}},
		Conformance: Conformance{Domain: [2]float64{0.2, 3}}})
	Relu = define(Def{Name: "relu", Arity: 1, ONNX: "Relu", Doc: "max(x, 0).",
		Elementwise: Elementwise{Rule: NoBool,
			Expr: func(b *bld, n *node, x []val) val {
				if unsigned(n.DType) {
					return x[0]
				}
				return b.Max(x[0], b.Number(b.Type(x[0]), 0))
			}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return zeroUnless(apply(Gt, v.Y, num(v.Y, 0)), v.DY) })
		}}})
}

// tetragamma is the derivative of trigamma, out of operations that have gradients of any
// order: no one needs it often. From 1/2 on it takes ten steps up, to where the series of
// Bernoulli numbers is good to 1e-14; below, trigamma(x) = (pi/sin(pi*x))^2 - trigamma(1-x).
func tetragamma(x *node) *node {
	power := func(x *node, k int) *node { return Apply(PowInt, Power(k), x) }
	low := apply(Lt, x, num(x, 0.5))
	z := where(low, sub(one(x), x), x)
	y := add(z, num(z, 10))
	s := add(power(y, -2), power(y, -3))
	for k, b := range []float64{1. / 2, -1. / 6, 1. / 6, -3. / 10, 5. / 6, -691. / 210} { // (2k+1) times those numbers
		s = add(s, scale(power(y, -2*k-4), b))
	}
	for k := range 10 {
		s = add(s, scale(power(add(z, num(z, float64(k))), -3), 2))
	}
	r := scale(where(low, sub(x, apply(Round, x)), num(x, 0.5)), math.Pi)
	turn := scale(mul(apply(Cos, r), power(apply(Sin, r), -3)), 2*math.Pi*math.Pi*math.Pi)
	return neg(add(s, where(low, turn, num(x, 0))))
}

// intPow is integer x of type d to the y by squaring; it takes as many rounds as y has
// bits.
func intPow(b *bld, d array.DType, x, y val) val {
	t := b.Type(x)
	zero, unit := b.Int(t, 0), b.Int(t, 1)
	minus := b.Int(t, -1)
	e := y
	if !unsigned(d) {
		e = b.Max(y, zero)
	}
	r := b.While([]val{unit, x, e}, func(v []val) val {
		return b.Ne(v[2], zero)
	}, func(v []val) []val {
		odd := b.Ne(b.And(v[2], unit), zero)
		return []val{b.Select(odd, b.Mul(v[0], v[1]), v[0]), b.Mul(v[1], v[1]), b.ShrU(v[2], unit)}
	})[0]
	if unsigned(d) {
		return r
	}
	even := b.Eq(b.And(y, unit), zero)
	inverse := b.Select(b.Eq(x, unit), unit, b.Select(b.Eq(x, minus), b.Select(even, unit, minus), zero))
	return b.Select(b.Lt(y, zero), inverse, r)
}

// MaxPower is the greatest exponent of PowInt: up to there its chain of products is short
// (10 at most) and as accurate as Pow; later chains lose digits.
const MaxPower = 64

// PowBy returns x to a constant power: PowInt for small integers, else Pow.
func PowBy(x *node, y float64) *node {
	if k := int(y); float64(k) == y && k >= -MaxPower && k <= MaxPower && (k >= 0 || x.DType.Differentiable()) {
		return Apply(PowInt, Power(k), x)
	}
	return apply(Pow, x, x.Graph.Number(y, x.DType.Part(), true))
}
