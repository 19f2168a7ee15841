package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/vmath"
)

// Distribution functions of the gamma and beta distributions: the regularised incomplete gamma and beta
// functions (NIST Digital Library of Mathematical Functions, chapter 8). Both are computed in float64,
// whatever the type, as a density times an integral. With u the variable of integration, u = x*exp(+-t)
// for gamma and logit(u) = logit(x) - t for beta make the integrand 1 at t = 0, without a cancellation,
// and log-concave: from there on it falls. Gauss and Legendre's rule serves, or a power series of
// positive terms where the integrand falls slowly. The tail that is computed is the one beyond x, seen
// from the mean; the other one is 1 less it.
var (
	// GammaCDF takes x and the concentration a: the probability of a gamma number of rate 1 of at most x.
	GammaCDF = incomplete("gamma distribution", 2, func(s stream, x []val) val { return s.gammaTail(x[0], x[1], false) },
		func(v *VJP) {
			x, a := v.X[0], v.X[1]
			v.Set(0, func() *node { return mul(v.DY, Apply(GammaDensity, nil, x, a)) })
			v.Set(1, func() *node { return neg(mul(v.DY, gammaByConcentration(x, a))) })
		})
	// GammaSurvival is 1 less GammaCDF, without a cancellation where that is near 1.
	GammaSurvival = incomplete("gamma survival", 2, func(s stream, x []val) val { return s.gammaTail(x[0], x[1], true) },
		func(v *VJP) {
			x, a := v.X[0], v.X[1]
			v.Set(0, func() *node { return neg(mul(v.DY, Apply(GammaDensity, nil, x, a))) })
			v.Set(1, func() *node { return mul(v.DY, gammaByConcentration(x, a)) })
		})
	// GammaDensity takes the arguments of GammaCDF, and is its derivative by x.
	GammaDensity *Def
	// BetaCDF takes x, y = 1-x and the parameters a and b: the probability of a beta number of at most x.
	// Requires the smaller of x and y to be exact, so that a number near 1 has its digits too. Its
	// gradient by x counts y as a function of x, and y has none.
	BetaCDF = incomplete("beta distribution", 4, func(s stream, x []val) val { return s.betaCDF(x[0], x[1], x[2], x[3]) },
		func(v *VJP) {
			v.Set(0, func() *node { return mul(v.DY, Apply(BetaDensity, nil, v.X...)) })
			for i := 2; i < 4; i++ {
				v.Set(i, func() *node {
					array.Failf("backward", "", "the distribution function of beta numbers has no gradient by their parameters (Detach cuts it off)")
					return nil
				})
			}
		})
	// BetaDensity takes the arguments of BetaCDF, and is its derivative by x.
	BetaDensity *Def
)

func init() {
	GammaDensity = incomplete("gamma density", 2, func(s stream, x []val) val { return s.gammaDensity(x[0], x[1]) },
		func(v *VJP) {
			x, a := v.X[0], v.X[1]
			v.Set(0, func() *node { return mul(v.DY, sub(densityRise(v.Y, x, a, one(a)), v.Y)) })
			v.Set(1, func() *node {
				return mul(v.DY, zeroUnless(apply(Gt, x, num(x, 0)), mul(v.Y, sub(apply(Log, x), apply(Digamma, a)))))
			})
		})
	BetaDensity = incomplete("beta density", 4, func(s stream, x []val) val { return s.betaDensity(x[0], x[1], x[2], x[3]) },
		func(v *VJP) {
			x, y, a, b := v.X[0], v.X[1], v.X[2], v.X[3]
			total := func() *node { return apply(Digamma, add(a, b)) }
			v.Set(0, func() *node {
				up, down := densityRise(v.Y, x, a, mul(b, add(b, one(b)))), densityRise(v.Y, y, b, mul(a, add(a, one(a))))
				return mul(v.DY, sub(up, down))
			})
			v.Set(2, func() *node { return mul(v.DY, mul(v.Y, add(sub(apply(Log, x), apply(Digamma, a)), total()))) })
			v.Set(3, func() *node { return mul(v.DY, mul(v.Y, add(sub(apply(Log, y), apply(Digamma, b)), total()))) })
		})
}

// densityRise is (a-1)*density/x, the part of a density's derivative that comes of x^(a-1). At x = 0 it is
// its limit, for a = 2 the given one.
func densityRise(density, x, a, two *node) *node {
	inf := func(sign int) *node { return num(a, math.Inf(sign)) }
	edge := where(apply(Lt, a, num(a, 2)), where(apply(Eq, a, one(a)), num(a, 0), where(apply(Lt, a, one(a)), inf(-1), inf(1))), num(a, 0))
	edge = where(apply(Eq, a, num(a, 2)), two, edge)
	zero := apply(Eq, x, num(x, 0))
	rise := div(mul(where(zero, num(density, 0), density), sub(a, one(a))), where(zero, one(x), x))
	return where(zero, edge, rise)
}

// incomplete defines a function of floats that is computed in float64.
func incomplete(name string, arity int, expr func(s stream, x []val) val, vjp func(v *VJP)) *Def {
	return unlisted(Def{Name: name, Arity: arity,
		Elementwise: Elementwise{Rule: Float, Cost: 1500,
			Expr: func(b *bld, n *node, x []val) val {
				s, wide := stream{bld: b}, make([]val, len(x))
				for i := range x {
					wide[i] = b.Cvt(loop.F64, x[i])
				}
				return b.Cvt(b.Type(x[0]), expr(s, wide))
			}},
		Derivative: Derivative{VJP: vjp}})
}

// gammaByConcentration is minus the derivative of the gamma distribution's function by its concentration.
func gammaByConcentration(x, a *node) *node {
	in := apply(Gt, x, num(x, 0))
	wide := Convert(where(in, x, one(x)), array.Float64)
	shape := array.Broadcast("backward", x.Shape, a.Shape)
	slope := Apply(gammaSlope, nil, expand(wide, shape), expand(Convert(a, array.Float64), shape))
	d := mul(slope, Convert(Apply(GammaDensity, nil, x, a), array.Float64))
	return Convert(zeroUnless(in, d), x.DType)
}

const (
	// tailPanel is the width of a panel of Gauss and Legendre's rule. The integrands have their
	// singularities at a distance of pi from the real line.
	tailPanel = 4
	// maxPanels bounds the panels of a quadrature. Logits of float64 take at most 400.
	maxPanels = 500
	// stirlingFrom is the number from which Stirling's series has the digits of float64.
	stirlingFrom = 8
	// nearTerms are the terms of the alternating series for numbers up to slopeSeries.
	nearTerms = 25
	// maxTailTerms bounds the terms of a power series. Numbers that it serves take at most 160.
	maxTailTerms = 2000
	// twofoldMost is the greatest parameter whose logarithm of gamma has the digits for a weight.
	twofoldMost = 1000
	// scaleUp keeps the digits of weights that are denormal numbers; below are its logarithm and what that lacks.
	scaleUp, scaleUpLn, scaleUpLnLow = 0x1p512, 512 * 0x1.62e42fefa39efp-1, 512 * 0x1.abc9e3b39803fp-56
)

// quadrature is the integral of f from 0 to end, by panels of Gauss and Legendre's rule.
func (s stream) quadrature(end, panels val, f func(t val) val) val {
	b := s.bld
	panels = s.Min(panels, s.f(maxPanels))
	width := s.Div(end, panels)
	r := b.While([]val{s.f(0), s.f(0)}, func(v []val) val { return s.Lt(v[1], panels) }, func(v []val) []val {
		return []val{s.Add(v[0], s.panel(s.Mul(width, v[1]), width, f)), s.Add(v[1], s.f(1))}
	})
	return s.Mul(width, r[0])
}

// besidesLog is q - log(1+q) for q above -1.
func (s stream) besidesLog(q val) val {
	// log(1+q) = 2*atanh(z) with z = q/(2+q), and q - 2z = q*z.
	z := s.Div(q, s.Add(s.f(2), q))
	w := s.sq(z)
	series := s.f(1.0 / 25)
	for k := 23; k > 1; k -= 2 {
		series = s.Fma(series, w, s.f(1/float64(k)))
	}
	near := s.Mul(z, s.Sub(q, s.Mul(s.Mul(s.f(2), w), series)))
	return s.Select(s.Lt(s.Abs(q), s.f(0.3)), near, s.Sub(q, vmath.Log1p(s.bld, q)))
}

// ratioBesidesLog is r - 1 - log(r), where q = r-1 is given with more digits.
func (s stream) ratioBesidesLog(r, q val) val {
	return s.Select(s.Lt(r, s.f(0.7)), s.Sub(q, vmath.Log(s.bld, r)), s.besidesLog(q))
}

// stirlingRest is log(Gamma(z)) - ((z-1/2)*log(z) - z + log(2*pi)/2) for z above 0.
func (s stream) stirlingRest(z val) val {
	r := s.Div(s.f(1), z)
	q := s.sq(r)
	series := s.f(-3617.0 / 122400)
	for _, c := range []float64{1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12} {
		series = s.Fma(series, q, s.f(c))
	}
	half := s.f(0.5)
	small := s.Add(s.Sub(vmath.Lgamma(s.bld, z), s.f(halfLogTau)), s.Sub(z, s.Mul(s.Sub(z, half), vmath.Log(s.bld, z))))
	return s.Select(s.Lt(z, s.f(stirlingFrom)), small, s.Mul(r, series))
}

// A twofold is hi + lo, a number with more digits than a float64 has.
type twofold struct{ hi, lo val }

// twoPlus is x + y.
func (s stream) twoPlus(x, y twofold) twofold {
	hi, lo := s.difference(x.hi, s.Neg(y.hi))
	return twofold{hi, s.Add(lo, s.Add(x.lo, y.lo))}
}

// twoMinus is -x.
func (s stream) twoMinus(x twofold) twofold { return twofold{s.Neg(x.hi), s.Neg(x.lo)} }

// twoTimes is x*a.
func (s stream) twoTimes(x twofold, a val) twofold {
	hi := s.Mul(x.hi, a)
	return twofold{hi, s.Fma(x.lo, a, s.Fma(x.hi, a, s.Neg(hi)))}
}

// twoExp is e^x.
func (s stream) twoExp(x twofold) val { return vmath.ExpPair(s.bld, x.hi, x.lo) }

// twoLn is ln(x) for positive finite x.
func (s stream) twoLn(x val) twofold {
	hi, lo := vmath.LnPair(s.bld, x)
	return twofold{hi, lo}
}

// lgamma is ln(gamma(a)) for positive a up to twofoldMost.
func (s stream) lgamma(a val) twofold {
	hi, lo := vmath.LgammaPair(s.bld, s.Min(a, s.f(twofoldMost)))
	return twofold{hi, lo}
}

// A gammaShape is the shape of a gamma distribution. Its weight is multiplied by a power of two, scale, whose
// logarithm is lnScale; lg is ln(gamma(1+a)) for a up to twofoldMost, and less that without the scale.
type gammaShape struct {
	a              val
	lg, less       twofold
	scale, lnScale val
}

// shape is a gammaShape whose scale is 1.
func (s stream) shape(a val) gammaShape {
	lg := s.lgamma1p(a, s.f(0))
	return gammaShape{a, lg, lg, s.f(1), s.f(0)}
}

// scaledShape is a gammaShape whose weight is multiplied by scaleUp where up holds.
func (s stream) scaledShape(a, up val) gammaShape {
	by, lg := s.Select(up, s.f(scaleUpLn), s.f(0)), s.lgamma1p(a, s.f(0))
	less := s.twoPlus(lg, twofold{s.Neg(by), s.Select(up, s.f(-scaleUpLnLow), s.f(0))})
	return gammaShape{a, lg, less, s.Select(up, s.f(scaleUp), s.f(1)), by}
}

// gammaWeight is x^a * exp(-x) / gamma(1+a).
func (s stream) gammaWeight(x val, g gammaShape) val {
	small := s.Le(g.a, s.f(twofoldMost))
	power := s.twoTimes(s.twoLn(x), s.Select(small, g.a, s.f(1)))
	high, low := s.difference(power.hi, x)
	direct := s.twoExp(s.twoPlus(twofold{high, s.Add(low, power.lo)}, s.twoMinus(g.less)))
	return s.If(small, func() []val { return []val{direct} }, func() []val {
		exponent := s.Add(s.Mul(g.a, s.ratioBesidesLog(s.Div(x, g.a), s.Div(s.Sub(x, g.a), g.a))), s.stirlingRest(g.a))
		return []val{s.Div(vmath.Exp(s.bld, s.Sub(g.lnScale, exponent)), s.Sqrt(s.Mul(g.a, s.f(2*math.Pi))))}
	})[0]
}

// gammaTail is the probability of a gamma number of at most x, or of one above x.
func (s stream) gammaTail(x0, a0 val, upper bool) val {
	good := s.both(s.Eq(x0, x0), s.Lt(s.f(0), a0), s.finite(a0))
	inside := s.both(good, s.Lt(s.f(0), x0), s.finite(x0))
	x, a := s.Select(inside, x0, s.f(1)), s.Select(inside, a0, s.f(1))
	tail, isUpper, _ := s.gammaSide(x, s.shape(a))
	low, high := s.f(0), s.f(1)
	if upper {
		isUpper, low, high = s.Sub(s.f(1), isUpper), high, low
	}
	y := s.Select(s.Eq(isUpper, s.f(1)), s.Sub(s.f(1), tail), tail)
	y = s.Max(s.f(0), s.Min(s.f(1), y))
	return s.checked(good, s.Select(inside, y, s.Select(s.Lt(s.f(0), x0), high, low)))
}

// gammaSide is the probability of a gamma number of at most x, and 0, or of one above x, and 1: of that side
// which is computed without a cancellation. The weight is x^a * exp(-x) / gamma(a). Both are multiplied by the
// shape's scale. Requires positive finite arguments.
func (s stream) gammaSide(x val, g gammaShape) (tail, isUpper, weight val) {
	a, one, none := g.a, s.f(1), s.f(0)
	above := s.Le(s.f(slopeSeries), x)
	above = s.And(above, s.Le(a, x))
	quick := s.Le(a, s.f(fractionMost))
	positive := s.both(s.Lt(a, s.f(1)), s.Le(s.f(stieltjesFrom), x), s.Lt(x, s.f(stieltjesTo)), s.Le(a, x))
	// Where the lower side is more than about a half, 1 less it by an alternating series.
	low, power := s.Lt(x, s.f(0.5)), s.Mul(a, s.twoLn(x).hi)
	mostly := s.Or(s.And(low, s.Lt(s.f(-0.4), power)), s.both(s.Not(low), s.Lt(x, s.f(slopeSeries)), s.Lt(a, x)))
	mostly = s.And(mostly, s.Not(positive))
	first := s.gammaWeight(x, g)
	weight = s.Mul(first, a)
	by := func(active val, f func() val) val {
		return s.If(active, func() []val { return []val{f()} }, func() []val { return []val{none} })[0]
	}
	below := s.both(quick, s.Not(s.Or(above, positive)), s.Not(mostly))
	lower := by(below, func() val { return s.Fma(first, s.gammaSeries(below, x, a), first) })
	beyond := s.both(quick, above, s.Not(positive))
	// Where x is cut the weight is 0. The fraction would overflow.
	upper := by(beyond, func() val { return s.Mul(weight, s.gammaFraction(beyond, s.Min(x, s.f(0x1p100)), a)) })
	upper = s.If(positive, func() []val {
		return []val{s.Select(positive, s.Mul(weight, s.gammaStieltjes(positive, x, a)), upper)}
	}, func() []val { return []val{upper} })[0]
	near := by(mostly, func() val { return s.Mul(g.scale, s.gammaNear(x, g)) })
	far := s.Not(s.Or(quick, mostly))
	integral := by(far, func() val { return s.Mul(weight, s.gammaIntegral(x, a)) })
	tail = s.Select(below, lower, s.Select(s.Or(beyond, positive), upper, s.Select(mostly, near, integral)))
	isUpper = s.Select(s.Or(mostly, s.Le(a, x)), one, none)
	isUpper = s.Select(below, none, isUpper)
	return tail, isUpper, weight
}

// gammaIntegral is that side of the mean of a gamma number over its weight, by quadrature.
func (s stream) gammaIntegral(x, a val) val {
	_, end, sign, d := s.gammaReach(x, a)
	return s.quadrature(end, s.f(2), func(t val) val {
		return vmath.Exp(s.bld, s.Sub(s.Neg(s.Mul(d, t)), s.Mul(x, s.expBeyond(s.Mul(sign, t)))))
	})
}

// gammaNear is the probability of a gamma number above x for small a and x, where it is at most about a half
// (W. Gautschi, ACM TOMS 5, 1979).
func (s stream) gammaNear(x val, g gammaShape) val {
	a := g.a
	r := s.While([]val{s.f(0), s.f(1), s.f(1)}, func(v []val) val { return s.Lt(v[2], s.f(nearTerms)) }, func(v []val) []val {
		term := s.Div(s.Mul(v[1], s.Neg(x)), v[2])
		return []val{s.Add(v[0], s.Div(term, s.Add(a, v[2]))), term, s.Add(v[2], s.f(1))}
	})
	ln := s.twoPlus(s.twoTimes(s.twoLn(x), a), s.twoMinus(g.lg))
	e := vmath.Expm1(s.bld, s.Add(ln.hi, ln.lo))
	return s.Neg(s.Fma(s.Mul(s.Add(e, s.f(1)), a), r[0], e))
}

func (s stream) gammaDensity(x0, a0 val) val {
	good := s.both(s.Eq(x0, x0), s.Lt(s.f(0), a0), s.finite(a0))
	inside := s.both(good, s.Lt(s.f(0), x0), s.finite(x0))
	x, a := s.Select(inside, x0, s.f(1)), s.Select(inside, a0, s.f(1))
	// At 0 it is infinite, 1 or 0.
	edge := s.Select(s.Lt(a0, s.f(1)), s.f(math.Inf(1)), s.Select(s.Eq(a0, s.f(1)), s.f(1), s.f(0)))
	edge = s.Select(s.Eq(x0, s.f(0)), edge, s.f(0))
	return s.checked(good, s.Select(inside, s.Div(s.Mul(a, s.gammaWeight(x, s.shape(a))), x), edge))
}

// series is 1 + r(0)*(1 + r(1)*(1 + ...)) of ratios that are positive and come to fall below 1.
func (s stream) series(ratio func(n val) val) val {
	r := s.While([]val{s.f(1), s.f(1), s.f(0)}, func(v []val) val {
		return s.And(s.Lt(s.Mul(v[0], s.f(0x1p-58)), v[1]), s.Lt(v[2], s.f(maxTailTerms)))
	}, func(v []val) []val {
		term := s.Mul(v[1], ratio(v[2]))
		return []val{s.Add(v[0], term), term, s.Add(v[2], s.f(1))}
	})
	return r[0]
}

func (s stream) betaDensity(x0, y0, a0, b0 val) val {
	p := s.betaPoint(x0, y0, a0, b0)
	one := s.f(1)
	at := func(x, a, b val) val {
		return s.Select(s.Lt(a, one), s.f(math.Inf(1)), s.Select(s.Eq(a, one), b, s.f(0)))
	}
	edge := s.Select(s.Eq(x0, s.f(0)), at(x0, a0, b0), s.Select(s.Eq(y0, s.f(0)), at(y0, b0, a0), s.f(0)))
	return s.checked(p.good, s.Select(p.inside, s.Div(s.betaWeight(p, s.betaShape(p.a, p.b)), s.Mul(p.x, p.y)), edge))
}

// A betaPoint holds arguments with x at most the mean: swapped says whether x was 1-x.
type betaPoint struct {
	x, y, a, b            val
	d                     val // a*y - b*x, at least 0
	good, inside, swapped val
}

func (s stream) betaPoint(x0, y0, a0, b0 val) betaPoint {
	good := s.both(s.Eq(x0, x0), s.Eq(y0, y0), s.Lt(s.f(0), a0), s.finite(a0), s.Lt(s.f(0), b0), s.finite(b0))
	inside := s.both(good, s.Lt(s.f(0), x0), s.Lt(s.f(0), y0), s.Lt(x0, s.f(2)), s.Lt(y0, s.f(2)))
	or := func(v val, otherwise float64) val { return s.Select(inside, v, s.f(otherwise)) }
	x, y, a, b := or(x0, 0.5), or(y0, 0.5), or(a0, 1), or(b0, 1)
	low := s.Le(x, y)
	// With the smaller of x and y, u, that distance is p - p*u - q*u, here in twice the digits.
	u, p, q := s.Select(low, x, y), s.Select(low, a, b), s.Select(low, b, a)
	pu, qu := s.Mul(p, u), s.Mul(q, u)
	lost := s.Add(s.Fma(p, u, s.Neg(pu)), s.Fma(q, u, s.Neg(qu)))
	h, l := s.difference(p, pu)
	h, l2 := s.difference(h, qu)
	d := s.Add(h, s.Add(l, s.Sub(l2, lost)))
	d = s.Select(low, d, s.Neg(d))
	swapped := s.Lt(d, s.f(0))
	return betaPoint{x: s.Select(swapped, y, x), y: s.Select(swapped, x, y), a: s.Select(swapped, b, a), b: s.Select(swapped, a, b),
		d: s.Abs(d), good: good, inside: inside, swapped: swapped}
}

// difference is x-y rounded, and what it lacks (D. Knuth, The Art of Computer Programming 2, 4.2.2).
func (s stream) difference(x, y val) (high, low val) {
	high = s.Sub(x, y)
	back := s.Sub(high, x)
	return high, s.Sub(s.Sub(x, s.Sub(high, back)), s.Add(y, back))
}

// A betaShape holds the parameters of a beta distribution. Its weight is multiplied by a power of two, scale, whose
// logarithm is lnScale; ln is the beta function's logarithm less that, and unscaled without it.
type betaShape struct {
	a, b           val
	ln, unscaled   twofold
	scale, lnScale val
}

// betaShape is a betaShape whose scale is 1.
func (s stream) betaShape(a, b val) betaShape {
	ln := s.lnBeta(a, b)
	return betaShape{a, b, ln, ln, s.f(1), s.f(0)}
}

// scaledBeta is a betaShape whose weight is multiplied by scaleUp where up holds.
func (s stream) scaledBeta(a, b, up val) betaShape {
	by, ln := s.Select(up, s.f(scaleUpLn), s.f(0)), s.lnBeta(a, b)
	less := s.twoPlus(ln, twofold{s.Neg(by), s.Select(up, s.f(-scaleUpLnLow), s.f(0))})
	return betaShape{a, b, less, ln, s.Select(up, s.f(scaleUp), s.f(1)), by}
}

// betaWeight is x^a * y^b / B(a, b).
func (s stream) betaWeight(p betaPoint, shape betaShape) val {
	total := s.Add(p.a, p.b)
	small := s.Le(total, s.f(twofoldMost))
	a, b := s.Select(small, p.a, s.f(1)), s.Select(small, p.b, s.f(1))
	// The smaller of x and y has all its digits.
	low := s.Lt(p.x, p.y)
	near, far := s.Select(low, p.x, p.y), s.Select(low, p.y, p.x)
	rest := s.Div(s.Mul(s.Select(low, b, a), s.Sub(s.Sub(s.f(1), far), near)), far)
	ln := s.twoPlus(s.twoPlus(s.twoTimes(s.twoLn(p.x), a), s.twoTimes(s.twoLn(p.y), b)), s.twoMinus(shape.ln))
	direct := s.twoExp(twofold{ln.hi, s.Add(ln.lo, rest)})
	return s.If(small, func() []val { return []val{direct} }, func() []val {
		down := s.ratioBesidesLog(s.Mul(s.Div(total, p.a), p.x), s.Neg(s.Div(p.d, p.a)))
		up := s.besidesLog(s.Div(p.d, p.b))
		exponent := s.Sub(s.stirlingRest(total), s.Add(s.stirlingRest(p.a), s.stirlingRest(p.b)))
		exponent = s.Sub(exponent, s.Add(s.Mul(p.a, down), s.Mul(p.b, up)))
		scale := s.Sqrt(s.Mul(s.Mul(s.Div(p.a, total), p.b), s.f(1/(2*math.Pi))))
		return []val{s.Mul(scale, vmath.Exp(s.bld, s.Add(shape.lnScale, exponent)))}
	})[0]
}

// eulerGamma is Euler's constant.
const eulerGamma = 0.57721566490153286061

// betaCDF is the probability of a beta number of at most x0. Of tiny parameters b/(a+b) is the probability of 0. The
// smaller of x0 and y0 counts; lacks is what the rounding took from it, if given.
func (s stream) betaCDF(x0, y0, a0, b0 val, lacks ...val) val {
	least, one := s.f(tinyShape), s.f(1)
	b := s.Select(s.Lt(s.f(0), b0), s.Max(least, b0), b0)
	p := s.betaPoint(x0, y0, s.Select(s.Lt(s.f(0), a0), s.Max(least, a0), a0), b)
	tail, weight := s.betaSide(p, s.betaShape(p.a, p.b))
	tail = s.Max(s.f(0), s.Min(one, tail))
	tail = s.Select(p.swapped, s.Sub(one, tail), tail)
	// 1 less a probability that a small parameter puts next to 1 has few digits.
	uneven := s.both(s.Lt(p.a, s.f(unevenBelow)), p.inside, p.swapped, s.Lt(p.x, s.f(0.5)), s.Le(least, p.a))
	tail = s.If(uneven, func() []val {
		pick := func(v val, otherwise float64) val { return s.Select(uneven, v, s.f(otherwise)) }
		return []val{s.Select(uneven, s.betaBeyond(uneven, pick(p.x, 0.25), pick(p.a, unevenBelow), pick(p.b, 1)), tail)}
	}, func() []val { return []val{tail} })[0]
	if len(lacks) > 0 {
		change := s.Select(s.Le(x0, y0), lacks[0], s.Neg(lacks[0]))
		usual := s.both(p.inside, s.Le(least, s.Min(p.a, p.b)), s.Not(s.Eq(change, s.f(0))))
		by := s.Mul(s.Mul(s.Div(change, p.x), weight), s.Div(one, p.y))
		tail = s.Select(s.And(usual, s.finite(by)), s.Max(s.f(0), s.Min(one, s.Add(tail, by))), tail)
	}
	// Multiples of a tiny b: beyond the mean the difference from 1 would lose them.
	end := s.both(p.inside, p.swapped, s.Lt(b0, least))
	beyond := s.If(end, func() []val {
		y, a := s.Select(end, p.x, s.f(0.5)), s.Select(end, p.b, one)
		return []val{s.Sub(s.Sub(s.f(-eulerGamma), vmath.Log(s.bld, y)), vmath.Digamma(s.bld, a))}
	}, s.zeros(1))[0]
	tail = s.Select(end, s.Mul(b0, beyond), s.Select(s.Lt(b0, least), s.Mul(tail, s.Mul(b0, s.f(1/tinyShape))), tail))
	tail = s.Select(s.Lt(a0, least), s.Select(s.Lt(b0, least), s.Div(b0, s.Add(a0, b0)), one), tail)
	edge := s.Select(s.Le(x0, s.f(0)), s.f(0), one)
	return s.checked(p.good, s.Select(p.inside, tail, edge))
}

// betaBeyond is the probability of a beta number above x for a small a, from the logarithm of that of one below
// (DLMF 8.17.7): a*ln(x) - ln(a*B(a, b)) and that of 1 + a times the sum of (1-b)_k/k!*x^k/(a+k).
func (s stream) betaBeyond(active, x, a, b val) val {
	zero, one := s.f(0), s.f(1)
	r := s.While([]val{zero, s.Select(active, one, zero), one}, func(v []val) val {
		return s.And(s.Lt(s.Mul(s.Abs(v[0]), s.f(0x1p-60)), s.Abs(v[1])), s.Lt(v[2], s.f(maxTailTerms)))
	}, func(v []val) []val {
		k := v[2]
		t := s.Div(s.Mul(v[1], s.Mul(s.Sub(k, b), x)), k)
		return []val{s.Add(v[0], s.Div(t, s.Add(a, k))), t, s.Add(k, one)}
	})
	// B(a, b) is B(a, b+8) times 1 + a/(b+k) for k below 8, whose product is 1 + q.
	q := zero
	for k := range 8 {
		q = s.Fma(s.Add(one, q), s.Div(a, s.Add(b, s.f(float64(k)))), q)
	}
	beside := s.lnBetaBeside(a, s.Add(b, s.f(8)))
	less := s.Add(s.Add(beside.hi, beside.lo), vmath.Log1p(s.bld, q))
	ln := s.Fma(a, vmath.Log(s.bld, x), s.Sub(vmath.Log1p(s.bld, s.Mul(a, r[0])), less))
	return s.Neg(vmath.Expm1(s.bld, ln))
}

// betaSide is the probability of a beta number of at most p.x. It and the weight are multiplied by the shape's
// scale.
func (s stream) betaSide(p betaPoint, shape betaShape) (tail, weight val) {
	// A fraction for moderate parameters, but where x is near 1 and it converges slowly.
	moderate := s.And(s.Le(s.Max(p.a, p.b), s.f(fractionMost)), s.Or(s.Lt(p.x, s.f(0.75)), s.And(s.Le(s.f(0.5), p.b), s.Lt(p.x, s.f(0.95)))))
	quick := s.If(moderate, func() []val { return []val{s.betaFraction(moderate, p)} }, func() []val { return []val{s.f(0)} })[0]
	slow := s.If(moderate, func() []val { return []val{s.f(0)} }, func() []val { return []val{s.betaIntegral(p)} })[0]
	weight = s.betaWeight(p, shape)
	return s.Mul(weight, s.Select(moderate, quick, slow)), weight
}

// betaIntegral is what [stream.betaSide] multiplies by betaWeight, by a series and quadrature.
func (s stream) betaIntegral(p betaPoint) val {
	b := s.bld
	total := s.Add(p.a, p.b)
	// The exponent of the integrand is -d*t - total*(w*(exp(s*t)-1-s*t) - besidesLog(w*(exp(s*t)-1))) with
	// w = x and s = -1, or w = y and s = 1.
	low := s.Le(p.x, p.y)
	w, sign := s.Select(low, p.x, p.y), s.Select(low, s.f(-1), s.f(1))
	exponent := func(t val) val {
		st := s.Mul(sign, t)
		q := s.Mul(w, vmath.Expm1(b, st))
		near := s.Sub(s.Mul(w, s.expBeyond(st)), s.besidesLog(q))
		far := s.Sub(vmath.Log1p(b, q), s.Mul(w, st))
		rest := s.Select(s.Lt(s.Abs(q), s.f(0.3)), near, far)
		return s.Sub(s.Neg(s.Mul(p.d, t)), s.Mul(total, rest))
	}
	integrand := func(t val) val { return vmath.Exp(b, exponent(t)) }
	distance := s.Sub(vmath.Log(b, p.x), vmath.Log(b, p.y)) // from 1/2, by the logit
	r := s.If(s.Lt(p.a, s.f(stirlingFrom)), func() []val {
		// The series of x, or of 1/2 below the integral down to there.
		high := s.Lt(s.f(0.75), p.x)
		u := s.Select(high, s.f(0.5), p.x)
		start := s.Select(high, distance, s.f(0))
		sum := s.series(func(n val) val {
			return s.Mul(u, s.Div(s.Add(total, n), s.Add(s.Add(p.a, s.f(1)), n)))
		})
		panels := s.Select(high, s.Add(s.f(1), s.Floor(s.Mul(start, s.f(1.0/tailPanel)))), s.f(0))
		integral := s.quadrature(start, s.Max(panels, s.f(1)), integrand)
		return []val{s.Add(integral, s.Div(s.Mul(integrand(start), sum), p.a))}
	}, func() []val {
		// The curvature of the exponent at t is at least that at 0 times exp(-t), and above 1/2 at least that
		// at 0 up to twice the distance from 1/2.
		curve := s.Mul(s.Mul(total, s.f(0.5)), s.Mul(p.x, p.y))
		end := s.Div(s.Sub(s.f(slopeFar), s.Mul(total, vmath.Log(b, p.y))), p.a)
		even := s.until(p.d, curve)
		end = s.Select(s.Le(even, s.Mul(s.f(2), distance)), s.Min(even, end), end)
		for range 3 {
			end = s.Min(end, s.until(p.d, s.Mul(curve, vmath.Exp(b, s.Neg(end)))))
		}
		return []val{s.quadrature(end, s.Add(s.f(2), s.Floor(s.Mul(end, s.f(1.0/tailPanel)))), integrand)}
	})
	return r[0]
}
