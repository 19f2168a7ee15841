package op

import (
	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/vmath"
)

// gammaSlope is the derivative of a number x of the gamma distribution by its concentration a, where
// the probability of a smaller number is held fixed: implicit reparameterisation (M. Figurnov,
// S. Mohamed, A. Mnih, "Implicit reparameterization gradients", NeurIPS 2018). It takes x and a, of
// float64. With P the distribution function and p its density it is -(dP/da)/p, which is
//
//	x * integral from 0 to infinity of (s*(log(x)-digamma(a)) + t) * exp(s*a*t - x*(exp(s*t)-1)) dt
//
// for s = 1, and for s = -1 if a > 0. With s = 1 from x = a on, and s = -1 below, nothing cancels. Its
// relative error is below 1e-12, but near 0, where x has few digits of its own.
var gammaSlope = slope("gamma slope", gammaSlopeOf)

// logGammaSlope is the derivative of log(x) by a, which takes log(x) and a: gammaSlope over x, also where x
// itself is too small for float64.
var logGammaSlope = slope("log gamma slope", logGammaSlopeOf)

func slope(name string, expr func(s stream, x, a val) val) *Def {
	return unlisted(Def{Name: name, Arity: 2,
		Elementwise: Elementwise{Rule: Keep, Cost: 600,
			Expr: func(b *bld, _ *node, x []val) val { return expr(stream{bld: b}, x[0], x[1]) }},
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) { return array.Float64, c.Args[0].Shape }},
		Derivative: Derivative{VJP: func(v *VJP) {
			array.Failf("backward", "", "the gradient of a draw by the concentration of a gamma distribution has no gradient (Detach cuts it off)")
		}}})
}

const (
	// slopeFar is the exponent at which the integrand counts as 0.
	slopeFar = 37
	// slopeSeries is the number below which the power series of P serves, for any concentration.
	slopeSeries = 1.5
	// slopeLarge is the concentration from which the integral serves on both sides.
	slopeLarge = 8
	// maxSlopeTerms bounds the terms of the series. Numbers that it serves take 45.
	maxSlopeTerms = 200
	// gaussPairs is the number of pairs of points of the rule.
	gaussPairs = 12
)

func gammaSlopeOf(s stream, x, a val) val {
	good := s.both(s.Lt(s.f(0), x), s.finite(x), s.Lt(s.f(0), a), s.finite(a))
	a0, x0 := a, x
	x, a = s.Select(good, x, s.f(1)), s.Select(good, a, s.f(1))
	r := s.If(s.bySeries(x, a), func() []val {
		return []val{s.Mul(s.Div(x, a), s.slopeSeries(x, vmath.Log(s.bld, x), a))}
	}, func() []val {
		end, r := s.slopeIntegral(x, a)
		return []val{s.Mul(s.Mul(x, end), r)}
	})
	// A number that is too small for its type stays 0; NaN stays NaN.
	return s.Select(good, r[0], s.Mul(s.f(0), s.Mul(x0, a0)))
}

func logGammaSlopeOf(s stream, y, a val) val {
	good := s.both(s.finite(y), s.Lt(s.f(0), a), s.finite(a))
	y, a = s.Select(good, y, s.f(0)), s.Select(good, a, s.f(1))
	x := vmath.Exp(s.bld, y)
	r := s.If(s.bySeries(x, a), func() []val {
		return []val{s.Div(s.slopeSeries(x, y, a), a)}
	}, func() []val {
		end, r := s.slopeIntegral(x, a)
		return []val{s.Mul(end, r)}
	})
	return s.checked(good, r[0])
}

// bySeries reports that the power series of P serves, not the integral.
func (s stream) bySeries(x, a val) val {
	return s.Or(s.Lt(x, s.f(slopeSeries)), s.And(s.Lt(x, a), s.Lt(a, s.f(slopeLarge))))
}

// slopeSeries is the sum over n of x^n/((a+1)...(a+n)) * (digamma(a+n+1) - log(x)): a/x times the slope.
func (s stream) slopeSeries(x, logx, a val) val {
	b := s.bld
	first := s.Sub(vmath.Digamma(b, s.Add(a, s.f(1))), logx)
	r := b.While([]val{s.f(0), s.f(1), first, s.f(0)}, func(v []val) val {
		last := s.Abs(s.Mul(v[1], v[2]))
		return s.And(s.Lt(v[3], s.f(maxSlopeTerms)), s.Or(s.Lt(s.Mul(s.Abs(v[0]), s.f(0x1p-56)), last), s.Lt(s.Add(a, v[3]), x)))
	}, func(v []val) []val {
		n := s.Add(v[3], s.f(1))
		by := s.Div(s.f(1), s.Add(a, n))
		return []val{s.Add(v[0], s.Mul(v[1], v[2])), s.Mul(v[1], s.Mul(x, by)), s.Add(v[2], by), n}
	})
	return r[0]
}

// slopeIntegral is the integral by Gauss and Legendre's rule over the part in which it is not 0: up to end,
// which it is to be multiplied by.
func (s stream) slopeIntegral(x, a val) (end, integral val) {
	_, end, sign, d := s.gammaReach(x, a)
	slope := s.Mul(sign, s.logOverMean(x, a))
	return end, s.panel(s.f(0), end, func(t val) val {
		e := s.Sub(s.Mul(s.Neg(d), t), s.Mul(x, s.expBeyond(s.Mul(sign, t))))
		return s.Mul(s.Add(slope, t), vmath.Exp(s.bld, e))
	})
}

// gammaReach returns on which side of its mean a number lies, and for the integral over the numbers beyond
// it where that ends, its sign s and d: the exponent is -d*t - x*(exp(s*t)-1-s*t).
func (s stream) gammaReach(x, a val) (above, end, sign, d val) {
	above = s.Le(a, x)
	sign = s.Select(above, s.f(1), s.f(-1))
	d = s.Mul(sign, s.Sub(x, a))
	// The bracket is at least t*t/2 above, t*t/(2+t) below.
	far := s.f(slopeFar)
	up := s.until(d, s.Mul(x, s.f(0.5)))
	up = s.Min(up, vmath.Log1p(s.bld, s.Div(s.Add(far, s.Mul(a, up)), x)))
	down := s.Div(s.Add(far, x), a)
	for range 2 {
		down = s.until(d, s.Div(x, s.Add(s.f(2), down)))
	}
	return above, s.Select(above, up, down), sign, d
}

// until is the t at which d*t + c*t*t is slopeFar.
func (s stream) until(d, c val) val {
	return s.Div(s.f(2*slopeFar), s.Add(d, s.Sqrt(s.Add(s.sq(d), s.Mul(s.f(4*slopeFar), c)))))
}

// panel is the integral of f from start to start+width by Gauss and Legendre's rule, divided by width.
func (s stream) panel(start, width val, f func(t val) val) val {
	b := s.bld
	r := b.While([]val{s.f(0), b.Int(loop.I64, 0)}, func(v []val) val {
		return b.Lt(v[1], b.Int(loop.I64, gaussPairs))
	}, func(v []val) []val {
		at := s.Lookup(gaussNodes, v[1])
		y := s.Add(f(s.Add(start, s.Mul(width, at))), f(s.Add(start, s.Mul(width, s.Sub(s.f(1), at)))))
		return []val{s.Add(v[0], s.Mul(s.Lookup(gaussWeights, v[1]), y)), b.Add(v[1], b.Int(loop.I64, 1))}
	})
	return r[0]
}

// logOverMean is log(x) - digamma(a). For large a, where both are nearly equal, it is log(x/a) and the
// asymptotic series of log(a) - digamma(a).
func (s stream) logOverMean(x, a val) val {
	r := s.Div(s.f(1), a)
	q := s.sq(r)
	tail := s.f(691.0 / 32760)
	for _, c := range []float64{1.0 / 132, 1.0 / 240, 1.0 / 252, 1.0 / 120, 1.0 / 12} {
		tail = s.Sub(s.f(c), s.Mul(q, tail))
	}
	large := s.Add(vmath.Log1p(s.bld, s.Mul(s.Sub(x, a), r)), s.Mul(r, s.Add(s.f(0.5), s.Mul(r, tail))))
	return s.Select(s.Lt(a, s.f(slopeLarge)), s.Sub(vmath.Log(s.bld, x), vmath.Digamma(s.bld, a)), large)
}

// expBeyond is exp(u) - 1 - u.
func (s stream) expBeyond(u val) val {
	q := s.f(1)
	for k := 12; k > 2; k-- {
		q = s.Add(s.f(1), s.Mul(s.Mul(u, s.f(1/float64(k))), q))
	}
	return s.Select(s.Lt(s.Abs(u), s.f(0.25)), s.Mul(s.Mul(s.sq(u), s.f(0.5)), q), s.Sub(vmath.Expm1(s.bld, u), u))
}

// gaussNodes and gaussWeights are Gauss and Legendre's rule of 24 points for 0 to 1, computed with 40
// decimal digits: the first half of the points, which lie symmetrically, and zeros up to the length that
// tables have.
var gaussNodes = []float64{
	0.00240639000148932, 0.012635722014345251, 0.030862723998633622, 0.056792236497799485,
	0.08999900701304854, 0.12993790421072282, 0.17595317403151223, 0.22728926430558022,
	0.2831032461869774, 0.3424786601519183, 0.40444056626319186, 0.4679715535686972,
	0.0, 0.0, 0.0, 0.0,
}

var gaussWeights = []float64{
	0.0061706148999936, 0.014265694314466832, 0.022138719408709904, 0.02964929245771839,
	0.03667324070554015, 0.04309508076597664, 0.04880932605205694, 0.05372213505798282,
	0.0577528340268628, 0.060835236463901696, 0.06291872817341415, 0.06396909767337608,
	0.0, 0.0, 0.0, 0.0,
}
