package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/vmath"
)

// Special functions of several arguments (package special), computed in float64.
var (
	// GammaInc and GammaIncC take the shape a and x; GammaIncInv and GammaIncCInv take a and a probability.
	GammaInc, GammaIncC, GammaIncInv, GammaIncCInv *Def
	// BetaInc takes a, b and x; BetaIncInv takes a, b and a probability.
	BetaInc, BetaIncInv *Def
	// BetaRoot is sqrt(x/(1-x)) of the x that BetaIncInv is, which has digits where x is near 1 too.
	BetaRoot     *Def
	Beta, BetaLn *Def
	// Binom takes n and k, Poch takes x and m.
	Binom, Poch *Def
	// Zeta takes the exponent and the first summand's base.
	Zeta *Def
)

// wideSpecial defines a special function of floats that is computed in float64. It has an argument for each of
// c.Domains.
func wideSpecial(name string, cost int, doc string, c Conformance, expr func(s stream, x []val) val, vjp func(v *VJP)) *Def {
	return special(Def{Name: name, Arity: len(c.Domains), Doc: doc, Conformance: c,
		Elementwise: Elementwise{Rule: Float, Cost: cost,
			Expr: func(b *bld, n *node, x []val) val {
				s, wide := stream{bld: b, narrow: b.Type(x[0]) != loop.F64}, make([]val, len(x))
				for i := range x {
					wide[i] = b.Cvt(loop.F64, x[i])
				}
				return b.Cvt(b.Type(x[0]), expr(s, wide))
			}},
		Derivative: Derivative{VJP: vjp}})
}

// noGradient is the gradient of an argument by which a function has none.
func noGradient(v *VJP, i int, name, arg string) {
	v.Set(i, func() *node {
		array.Failf("backward", "", "%s has no gradient by %s (Detach cuts it off)", name, arg)
		return nil
	})
}

func init() {
	GammaInc = wideSpecial("gammainc", 1500, "The regularised lower incomplete gamma function of a and x.", Conformance{Domains: [][2]float64{{0.5, 4}, {0.2, 5}}, Flat: []int{0}},
		func(s stream, x []val) val { return s.gammaInc(x[0], x[1], false) }, func(v *VJP) {
			a, x := v.X[0], v.X[1]
			v.Set(0, func() *node { return neg(mul(v.DY, gammaByConcentration(x, a))) })
			v.Set(1, func() *node { return mul(v.DY, Apply(GammaDensity, nil, x, a)) })
		})
	GammaIncC = wideSpecial("gammaincc", 1500, "The regularised upper incomplete gamma function of a and x.", Conformance{Domains: [][2]float64{{0.5, 4}, {0.2, 5}}, Flat: []int{0}},
		func(s stream, x []val) val { return s.gammaInc(x[0], x[1], true) }, func(v *VJP) {
			a, x := v.X[0], v.X[1]
			v.Set(0, func() *node { return mul(v.DY, gammaByConcentration(x, a)) })
			v.Set(1, func() *node { return neg(mul(v.DY, Apply(GammaDensity, nil, x, a))) })
		})
	for _, f := range []struct {
		def   **Def
		name  string
		upper bool
	}{{&GammaIncInv, "gammaincinv", false}, {&GammaIncCInv, "gammainccinv", true}} {
		*f.def = wideSpecial(f.name, 8000, "The inverse of an incomplete gamma function by x.", Conformance{Domains: [][2]float64{{0.5, 4}, {0.1, 0.9}}, Flat: []int{0}},
			func(s stream, x []val) val { return s.gammaInverse(x[0], x[1], f.upper) }, func(v *VJP) {
				a := v.X[0]
				v.Set(0, func() *node {
					shape := array.Broadcast("backward", v.Y.Shape, a.Shape)
					slope := Apply(gammaSlope, nil, expand(Convert(v.Y, array.Float64), shape), expand(Convert(a, array.Float64), shape))
					return mul(v.DY, Convert(slope, v.Y.DType))
				})
				v.Set(1, func() *node {
					d := div(v.DY, Apply(GammaDensity, nil, v.Y, a))
					if f.upper {
						d = neg(d)
					}
					return d
				})
			})
	}
	BetaInc = wideSpecial("betainc", 2000, "The regularised incomplete beta function of a, b and x.", Conformance{Domains: [][2]float64{{2.2, 4}, {2.2, 4}, {0.1, 0.9}}, Flat: []int{0, 1}},
		func(s stream, x []val) val { return s.betaInc(x[0], x[1], x[2]) }, func(v *VJP) {
			noGradient(v, 0, "betainc", "a")
			noGradient(v, 1, "betainc", "b")
			v.Set(2, func() *node { return mul(v.DY, betaDensityAt(v.X[2], v.X[0], v.X[1])) })
		})
	BetaIncInv = wideSpecial("betaincinv", 10000, "The inverse of betainc by x.", Conformance{Domains: [][2]float64{{2.2, 4}, {2.2, 4}, {0.1, 0.9}}, Flat: []int{0, 1}},
		func(s stream, x []val) val { return s.betaInverse(x[0], x[1], x[2], false) }, func(v *VJP) {
			noGradient(v, 0, "betaincinv", "a")
			noGradient(v, 1, "betaincinv", "b")
			v.Set(2, func() *node { return div(v.DY, betaDensityAt(v.Y, v.X[0], v.X[1])) })
		})
	BetaRoot = incomplete("beta root", 3, func(s stream, x []val) val { return s.betaInverse(x[0], x[1], x[2], true) }, func(v *VJP) {
		noGradient(v, 0, "the inverse of the beta distribution", "its parameters")
		noGradient(v, 1, "the inverse of the beta distribution", "its parameters")
		v.Set(2, func() *node {
			// With y = 1-x the root is sqrt(x/y), whose derivative by x is 1/(2*root*y*y).
			y := div(one(v.Y), add(mul(v.Y, v.Y), one(v.Y)))
			density := Apply(BetaDensity, nil, mul(mul(v.Y, v.Y), y), y, v.X[0], v.X[1])
			return div(v.DY, mul(scale(mul(v.Y, density), 2), mul(y, y)))
		})
	})
	slope := func(a, b *node) *node { return sub(apply(Digamma, a), apply(Digamma, add(a, b))) }
	Beta = wideSpecial("beta", 300, "The beta function.", Conformance{Domains: [][2]float64{{0.3, 4}, {0.3, 4}}},
		func(s stream, x []val) val { return s.betaOf(x[0], x[1], false) }, func(v *VJP) {
			a, b := v.X[0], v.X[1]
			v.Set(0, func() *node { return mul(v.DY, mul(v.Y, slope(a, b))) })
			v.Set(1, func() *node { return mul(v.DY, mul(v.Y, slope(b, a))) })
		})
	BetaLn = wideSpecial("betaln", 300, "The logarithm of the beta function's absolute value.", Conformance{Domains: [][2]float64{{0.3, 4}, {0.3, 4}}},
		func(s stream, x []val) val { return s.betaOf(x[0], x[1], true) }, func(v *VJP) {
			a, b := v.X[0], v.X[1]
			v.Set(0, func() *node { return mul(v.DY, slope(a, b)) })
			v.Set(1, func() *node { return mul(v.DY, slope(b, a)) })
		})
	Binom = wideSpecial("binom", 500, "The binomial coefficient of real n and k.", Conformance{Domains: [][2]float64{{4.1, 7}, {0.1, 3.9}}},
		func(s stream, x []val) val { return s.binomial(x[0], x[1]) }, func(v *VJP) {
			n, k := v.X[0], v.X[1]
			rest := func() *node { return apply(Digamma, add(sub(n, k), one(n))) }
			v.Set(0, func() *node { return mul(v.DY, mul(v.Y, sub(apply(Digamma, add(n, one(n))), rest()))) })
			v.Set(1, func() *node { return mul(v.DY, mul(v.Y, sub(rest(), apply(Digamma, add(k, one(k)))))) })
		})
	Poch = wideSpecial("poch", 500, "gamma(x+m)/gamma(x).", Conformance{Domains: [][2]float64{{0.3, 4}, {0.1, 3.9}}},
		func(s stream, x []val) val { return s.pochhammer(x[0], x[1]) }, func(v *VJP) {
			x, m := v.X[0], v.X[1]
			v.Set(0, func() *node { return mul(v.DY, mul(v.Y, slope2(x, m))) })
			v.Set(1, func() *node { return mul(v.DY, mul(v.Y, apply(Digamma, add(x, m)))) })
		})
	Zeta = wideSpecial("zeta", 1200, "Hurwitz' zeta function of x and q; q = 1 is Riemann's.", Conformance{Domains: [][2]float64{{1.5, 6}, {0.4, 4}}, Flat: []int{0}},
		func(s stream, x []val) val { return s.zetaOf(x[0], x[1]) }, func(v *VJP) {
			x, q := v.X[0], v.X[1]
			noGradient(v, 0, "zeta", "x")
			v.Set(1, func() *node { return neg(mul(v.DY, mul(x, Apply(Zeta, nil, add(x, one(x)), q)))) })
		})
}

// slope2 is digamma(x+m) - digamma(x).
func slope2(x, m *node) *node { return sub(apply(Digamma, add(x, m)), apply(Digamma, x)) }

// maxProduct is the number of factors up to which products are taken factor by factor.
const maxProduct = 128

// lgamma1p is ln(gamma(1+x+rest)) for x from 0 to twofoldMost and a tiny rest, which digamma multiplies.
func (s stream) lgamma1p(x, rest val) twofold {
	hi, lo, ln := vmath.Lgamma1pPair(s.bld, s.Min(x, s.f(twofoldMost)))
	digamma := s.Select(s.Lt(x, s.f(0.75)), s.f(-0.5), ln)
	return twofold{hi, s.Fma(rest, digamma, lo)}
}

// A gammaNext is gamma(1+x) as by*e^ln, where over is 1/by.
type gammaNext struct {
	ln       twofold
	by, over val
}

// gamma1p is gamma(1+x+rest) for x of a size up to twofoldMost and a tiny rest. Below 0 it is pi*x/(sin(pi*x)*gamma(1-x))
// (DLMF 5.5.3).
func (s stream) gamma1p(x, rest val) gammaNext {
	zero, one := s.f(0), s.f(1)
	below := s.Lt(x, zero)
	ln := s.lgamma1p(s.Abs(x), s.Select(below, s.Neg(rest), rest))
	sines := s.If(below, func() []val {
		sin, cos := s.sinCosPi(s.Select(below, x, s.f(-0.5)))
		sin = s.Fma(s.Mul(cos, rest), s.f(math.Pi), sin)
		angle := s.Mul(s.Select(below, x, s.f(-0.5)), s.f(math.Pi))
		return []val{s.Div(angle, sin), s.Div(sin, angle)}
	}, s.zeros(2))
	pick := func(v val) val { return s.Select(below, v, one) }
	return gammaNext{s.selectTwofold(below, s.twoMinus(ln), ln), pick(sines[0]), pick(sines[1])}
}

// binomial is the binomial coefficient of n and k: for small whole k, or n-k, a product whose parts are whole
// where n is.
func (s stream) binomial(n, k0 val) val {
	one, zero := s.f(1), s.f(0)
	whole := func(v val) val { return s.Eq(s.Floor(v), v) }
	rest, lost := s.difference(n, k0)
	k := s.Select(s.both(whole(n), whole(k0), s.Le(zero, rest), s.Lt(rest, k0)), rest, k0)
	few := s.both(whole(k), s.Le(zero, k), s.Le(k, s.f(maxProduct)), s.finite(n))
	count := s.Select(few, k, zero)
	r := s.While([]val{one, one}, func(v []val) val { return s.Le(v[1], count) }, func(v []val) []val {
		return []val{s.Div(s.Mul(v[0], s.Sub(n, s.Sub(k, v[1]))), v[1]), s.Add(v[1], one)}
	})
	usual := s.Le(s.Max(s.Max(s.Abs(n), s.Abs(k0)), s.Abs(rest)), s.f(twofoldMost))
	or := func(v val) val { return s.Select(usual, v, zero) }
	up, first, second := s.gamma1p(or(n), zero), s.gamma1p(or(k0), zero), s.gamma1p(or(rest), or(lost))
	direct := s.twoExp(s.twoPlus(up.ln, s.twoMinus(s.twoPlus(first.ln, second.ln))))
	direct = s.Mul(direct, s.Mul(up.by, s.Mul(first.over, second.over)))
	y := s.If(s.Or(usual, few), func() []val { return []val{s.Select(few, r[0], direct)} }, func() []val {
		return []val{s.binomialFar(n, k0, rest)}
	})[0]
	y = s.Select(s.both(whole(n), whole(k0), s.Le(zero, n), s.Or(s.Lt(k0, zero), s.Lt(n, k0))), s.Select(few, y, zero), y)
	return s.checked(s.Not(s.both(whole(n), s.Lt(n, zero))), y)
}

// binomialFar is the binomial coefficient of large numbers; rest is n-k.
func (s stream) binomialFar(n, k, rest val) val {
	one := s.f(1)
	// 1/((n+1) B(1+n-k, 1+k)), or sin(pi*(k-n))/pi * B(1+n, k-n)
	beyond := s.both(s.Lt(rest, s.f(0)), s.Lt(s.f(-1), n))
	next := s.Add(n, one)
	beta := s.betaOf(s.Select(beyond, next, s.Add(rest, one)), s.Select(beyond, s.Neg(rest), s.Add(k, one)), false)
	sinK, cosK := s.sinCosPi(s.Abs(k))
	sinN, cosN := s.sinCosPi(s.Abs(n))
	sinN = s.Select(s.Lt(n, s.f(0)), s.Neg(sinN), sinN)
	sin := s.Sub(s.Mul(sinK, cosN), s.Mul(cosK, sinN))
	return s.Select(beyond, s.Mul(s.Mul(sin, s.f(1/math.Pi)), beta), s.Div(one, s.Mul(next, beta)))
}

// pochhammer is gamma(x+m)/gamma(x): for small whole m a product, and for other numbers that are not positive a quotient
// of gamma1p.
func (s stream) pochhammer(x, m val) val {
	b, one, zero := s.bld, s.f(1), s.f(0)
	few := s.both(s.Eq(s.Floor(m), m), s.Le(s.Abs(m), s.f(maxProduct)))
	count, back := s.Select(few, s.Abs(m), zero), s.Lt(m, zero)
	r := s.While([]val{one, zero}, func(v []val) val { return s.Lt(v[1], count) }, func(v []val) []val {
		next := s.Add(v[1], one)
		return []val{s.Mul(v[0], s.Select(back, s.Sub(x, next), s.Add(x, v[1]))), next}
	})
	product := s.Select(back, s.Div(one, r[0]), r[0])
	// At poles a quotient has the limits.
	few = s.And(few, s.Not(s.both(back, s.Eq(r[0], zero))))
	total, lost := s.difference(x, s.Neg(m))
	positive := s.both(s.Lt(zero, x), s.Lt(zero, total))
	usual := s.And(positive, s.Le(s.Max(x, total), s.f(twofoldMost)))
	or := func(v val) val { return s.Select(usual, v, one) }
	up := s.lgamma(or(total))
	up.lo = s.Fma(s.Select(usual, lost, zero), vmath.Log(b, s.Max(one, or(total))), up.lo)
	direct := s.twoExp(s.twoPlus(up, s.twoMinus(s.lgamma(or(x)))))
	mirror := s.both(s.Not(positive), s.Not(few), s.Not(s.ends(x)), s.Not(s.And(s.ends(total), s.Eq(lost, zero))), s.Le(s.Max(s.Abs(x), s.Abs(total)), s.f(twofoldMost)))
	direct = s.If(mirror, func() []val {
		or := func(v val) val { return s.Select(mirror, v, s.f(0.5)) }
		from, to := s.gamma1p(or(x), zero), s.gamma1p(or(total), s.Select(mirror, lost, zero))
		ends := s.Mul(s.Div(or(x), or(total)), s.Sub(one, s.Div(s.Select(mirror, lost, zero), or(total))))
		y := s.Mul(s.twoExp(s.twoPlus(to.ln, s.twoMinus(from.ln))), s.Mul(to.by, from.over))
		return []val{s.Select(mirror, s.Mul(y, ends), direct)}
	}, func() []val { return []val{direct} })[0]
	return s.If(s.Or(s.Or(usual, few), mirror), func() []val { return []val{s.Select(few, product, direct)} }, func() []val {
		// The difference of Stirling's series.
		p := s.twoTimes(s.twoLn(s.Select(positive, total, one)), m)
		near := s.Sub(s.Mul(s.Sub(x, s.f(0.5)), vmath.Log1p(b, s.Div(m, x))), m)
		near = s.Add(near, s.Sub(s.stirlingRest(total), s.stirlingRest(x)))
		large := s.twoExp(s.twoPlus(p, twofold{near, zero}))
		return []val{s.Select(positive, large, s.Div(vmath.Gamma(b, total), vmath.Gamma(b, x)))}
	})[0]
}

// betaDensityAt is the density of beta numbers at x.
func betaDensityAt(x, a, b *node) *node { return Apply(BetaDensity, nil, x, sub(one(x), x), a, b) }

// gammaInc is the incomplete gamma function, with SciPy's limits at the edges.
func (s stream) gammaInc(a, x val, upper bool) val {
	one, none := s.f(1), s.f(0)
	if upper {
		one, none = none, one
	}
	y := s.gammaTail(x, a, upper)
	y = s.Select(s.And(s.Eq(a, s.f(0)), s.Lt(s.f(0), x)), one, y)
	y = s.Select(s.both(s.Lt(s.f(0), a), s.Not(s.finite(a)), s.finite(x)), none, y)
	return s.checked(s.Le(s.f(0), x), y)
}

// betaInc is the incomplete beta function, with SciPy's limits at the edges.
func (s stream) betaInc(a, b, x val) val {
	y := s.betaCDF(x, s.Sub(s.f(1), x), a, b)
	zero := s.f(0)
	y = s.Select(s.both(s.Eq(a, zero), s.Lt(zero, b), s.Lt(zero, x)), s.f(1), y)
	y = s.Select(s.both(s.Eq(b, zero), s.Lt(zero, a), s.Lt(x, s.f(1))), zero, y)
	return s.checked(s.And(s.Le(zero, x), s.Le(x, s.f(1))), y)
}
