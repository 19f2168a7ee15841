package op

import (
	"math"

	"weft/internal/loop"
	"weft/internal/vmath"
)

// Special functions of one argument (package special). They are computed in float64, float32 among them.
var (
	Gamma, Erfcinv, Erfcx, Ndtr, LogNdtr, Ndtri, Dawsn *Def
	J0, J1, Y0, Y1                                     *Def
	I0, I1, I0e, I1e, K0, K1, K0e, K1e                 *Def
	Exp1, Expi, Si, Ci, Spence, EllipK, EllipE         *Def
	// LambertW is the principal branch, LambertWMinus the other one that is real.
	LambertW, LambertWMinus *Def
)

func init() {
	bell := func(x *node, by float64) *node { return scale(apply(Exp, scale(mul(x, x), -0.5)), by) }
	// An odd function of order 1 over x, which is limit at 0.
	ratio := func(y, x *node, limit float64) *node {
		zero := apply(Eq, x, num(x, 0))
		return where(zero, num(x, limit), div(y, where(zero, one(x), x)))
	}
	for _, f := range []struct {
		def    **Def
		name   string
		cost   int
		domain [2]float64
		doc    string
		expr   func(b *loop.Builder, x loop.Value) loop.Value
		grad   func(x, y *node) *node
	}{
		{&Gamma, "gamma", 120, [2]float64{0.2, 5}, "The gamma function.", vmath.Gamma, func(x, y *node) *node { return mul(y, apply(Digamma, x)) }},
		{&Erfcinv, "erfcinv", 90, [2]float64{0.1, 1.9}, "The inverse of erfc.", vmath.Erfcinv, func(x, y *node) *node { return scale(apply(Exp, mul(y, y)), -math.Sqrt(math.Pi)/2) }},
		{&Erfcx, "erfcx", 60, [2]float64{}, "exp(x*x)*erfc(x), without overflow or cancellation.", vmath.Erfcx, func(x, y *node) *node { return sub(scale(mul(x, y), 2), num(x, 2/math.Sqrt(math.Pi))) }},
		{&Ndtr, "ndtr", 60, [2]float64{}, "The distribution function of the normal distribution.", vmath.Ndtr, func(x, y *node) *node { return bell(x, 1/math.Sqrt(2*math.Pi)) }},
		{&LogNdtr, "log_ndtr", 180, [2]float64{}, "The logarithm of ndtr.", vmath.LogNdtr, func(x, y *node) *node {
			return scale(apply(Exp, sub(scale(mul(x, x), -0.5), y)), 1/math.Sqrt(2*math.Pi))
		}},
		{&Ndtri, "ndtri", 90, [2]float64{0.05, 0.95}, "The inverse of ndtr.", vmath.Ndtri, func(x, y *node) *node { return scale(apply(Exp, scale(mul(y, y), 0.5)), math.Sqrt(2*math.Pi)) }},
		{&Dawsn, "dawsn", 50, [2]float64{}, "Dawson's integral.", vmath.Dawsn, func(x, y *node) *node { return sub(one(x), scale(mul(x, y), 2)) }},
		{&J0, "j0", 60, [2]float64{}, "Bessel's function of the first kind of order 0.", vmath.J0, func(x, y *node) *node { return neg(apply(J1, x)) }},
		{&J1, "j1", 60, [2]float64{}, "Bessel's function of the first kind of order 1.", vmath.J1, func(x, y *node) *node { return sub(apply(J0, x), ratio(y, x, 0.5)) }},
		{&Y0, "y0", 90, [2]float64{0.3, 6}, "Bessel's function of the second kind of order 0.", vmath.Y0, func(x, y *node) *node { return neg(apply(Y1, x)) }},
		{&Y1, "y1", 90, [2]float64{0.3, 6}, "Bessel's function of the second kind of order 1.", vmath.Y1, func(x, y *node) *node { return sub(apply(Y0, x), div(y, x)) }},
		{&I0, "i0", 50, [2]float64{}, "The modified Bessel function of the first kind of order 0.", vmath.I0, func(x, y *node) *node { return apply(I1, x) }},
		{&I1, "i1", 50, [2]float64{}, "The modified Bessel function of the first kind of order 1.", vmath.I1, func(x, y *node) *node { return sub(apply(I0, x), ratio(y, x, 0.5)) }},
		{&I0e, "i0e", 50, [2]float64{}, "exp(-|x|)*i0(x).", vmath.I0e, func(x, y *node) *node { return sub(apply(I1e, x), mul(apply(Sign, x), y)) }},
		{&I1e, "i1e", 50, [2]float64{}, "exp(-|x|)*i1(x).", vmath.I1e, func(x, y *node) *node {
			return sub(apply(I0e, x), add(ratio(y, x, 0.5), mul(apply(Sign, x), y)))
		}},
		{&K0, "k0", 90, [2]float64{0.1, 6}, "The modified Bessel function of the second kind of order 0.", vmath.K0, func(x, y *node) *node { return neg(apply(K1, x)) }},
		{&K1, "k1", 90, [2]float64{0.1, 6}, "The modified Bessel function of the second kind of order 1.", vmath.K1, func(x, y *node) *node { return neg(add(apply(K0, x), div(y, x))) }},
		{&K0e, "k0e", 90, [2]float64{0.1, 6}, "exp(x)*k0(x).", vmath.K0e, func(x, y *node) *node { return sub(y, apply(K1e, x)) }},
		{&K1e, "k1e", 90, [2]float64{0.1, 6}, "exp(x)*k1(x).", vmath.K1e, func(x, y *node) *node { return sub(y, add(apply(K0e, x), div(y, x))) }},
		{&Exp1, "exp1", 80, [2]float64{0.1, 6}, "The exponential integral E1.", vmath.Exp1, func(x, y *node) *node { return neg(div(apply(Exp, neg(x)), x)) }},
		{&Expi, "expi", 140, [2]float64{0.1, 6}, "The exponential integral Ei.", vmath.Expi, func(x, y *node) *node { return div(apply(Exp, x), x) }},
		{&Si, "si", 60, [2]float64{}, "The sine integral.", vmath.Si, func(x, y *node) *node { return ratio(apply(Sin, x), x, 1) }},
		{&Ci, "ci", 90, [2]float64{0.1, 6}, "The cosine integral.", vmath.Ci, func(x, y *node) *node { return div(apply(Cos, x), x) }},
		{&Spence, "spence", 130, [2]float64{0.1, 0.9}, "The dilogarithm of 1-x.", vmath.Spence, func(x, y *node) *node {
			unit := apply(Eq, x, one(x))
			d := div(apply(Log, x), where(unit, one(x), sub(one(x), x)))
			return where(unit, num(x, -1), d)
		}},
		{&EllipK, "ellipk", 60, [2]float64{-2, 0.9}, "The complete elliptic integral of the first kind, of the parameter m.", vmath.EllipK, func(x, y *node) *node {
			zero := apply(Eq, x, num(x, 0))
			m := where(zero, one(x), x)
			rest := where(zero, one(x), sub(one(x), x))
			d := div(sub(div(apply(EllipE, x), rest), y), scale(m, 2))
			return where(zero, num(x, math.Pi/8), d)
		}},
		{&EllipE, "ellipe", 60, [2]float64{-2, 0.9}, "The complete elliptic integral of the second kind, of the parameter m.", vmath.EllipE, func(x, y *node) *node {
			zero := apply(Eq, x, num(x, 0))
			d := div(sub(y, apply(EllipK, x)), scale(where(zero, one(x), x), 2))
			return where(zero, num(x, -math.Pi/8), d)
		}},
		{&LambertW, "lambertw", 200, [2]float64{-0.3, 4}, "The principal branch of Lambert's function, the inverse of w*exp(w).", vmath.LambertW, lambertSlope},
		{&LambertWMinus, "lambertw_minus", 260, [2]float64{-0.35, -0.02}, "The branch -1 of Lambert's function.", vmath.LambertWMinus, lambertSlope},
	} {
		*f.def = special(Def{Name: f.name, Arity: 1, Doc: f.doc,
			Elementwise: Elementwise{Rule: Float, Cost: f.cost,
				Expr: func(b *bld, n *node, x []val) val { return f.expr(b, x[0]) }},
			Derivative:  Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return mul(v.DY, f.grad(v.X[0], v.Y)) }) }},
			Conformance: Conformance{Domain: f.domain}})
	}
}

// lambertSlope is the derivative of Lambert's function: exp(-w)/(1+w).
func lambertSlope(x, y *node) *node { return div(apply(Exp, neg(y)), add(y, one(y))) }
