package op

import "math"

// Distribution functions of Student's t and of the F distribution, by the beta distribution's (DLMF 8.17). Their
// derivatives are the densities themselves, because at 0 a density of the beta distribution may be infinite.
var (
	// StudentCDF takes the degrees of freedom and t, StudentInverse takes them and a probability.
	StudentCDF, StudentInverse *Def
	// FisherCDF and FisherSurvival take both degrees of freedom and x.
	FisherCDF, FisherSurvival *Def
)

func init() {
	density := func(df, t *node) *node {
		power := mul(scale(add(df, one(df)), -0.5), apply(Log1p, div(mul(t, t), df)))
		return div(apply(Exp, power), mul(apply(Sqrt, df), Apply(Beta, nil, scale(df, 0.5), num(df, 0.5))))
	}
	StudentCDF = incomplete("distribution of Student's t", 2, func(s stream, x []val) val { return s.studentCDF(x[0], x[1]) }, func(v *VJP) {
		noGradient(v, 0, "the distribution of Student's t", "its degrees of freedom")
		v.Set(1, func() *node { return mul(v.DY, density(v.X[0], v.X[1])) })
	})
	StudentInverse = incomplete("inverse of Student's t", 2, func(s stream, x []val) val { return s.studentInverse(x[0], x[1]) }, func(v *VJP) {
		noGradient(v, 0, "the inverse of Student's t", "its degrees of freedom")
		v.Set(1, func() *node { return div(v.DY, density(v.X[0], v.Y)) })
	})
	// With r = m*x/n for degrees m and n it is the distribution of beta numbers at r/(1+r).
	slope := func(v *VJP) *node {
		m, n := v.X[0], v.X[1]
		by := div(m, n)
		r := mul(by, v.X[2])
		y := div(one(r), add(r, one(r)))
		return mul(mul(Apply(BetaDensity, nil, mul(r, y), y, scale(m, 0.5), scale(n, 0.5)), mul(y, y)), by)
	}
	fisher := func(name string, upper bool, signed func(*node) *node) *Def {
		return incomplete(name, 3, func(s stream, x []val) val { return s.fisher(x[0], x[1], x[2], upper) }, func(v *VJP) {
			noGradient(v, 0, name, "its degrees of freedom")
			noGradient(v, 1, name, "its degrees of freedom")
			v.Set(2, func() *node { return signed(mul(v.DY, slope(v))) })
		})
	}
	FisherCDF = fisher("F distribution", false, func(g *node) *node { return g })
	FisherSurvival = fisher("F survival", true, func(g *node) *node { return neg(g) })
}

// share is r/(1+r) for r of at least 0, infinity among them.
func (s stream) share(r val) val {
	one := s.f(1)
	return s.Select(s.Lt(r, one), s.Div(r, s.Add(one, r)), s.Div(one, s.Add(one, s.Div(one, r))))
}

// shareLacks is what the rounding took from the smaller of x = p/(p+q) and y = q/(p+q), or 0 for extreme arguments: high
// powers magnify it.
func (s stream) shareLacks(p, q twofold, x, y val) val {
	sum := s.addTwofold(p, q)
	usual := s.both(s.Lt(s.f(1e-140), s.Min(p.hi, q.hi)), s.Lt(sum.hi, s.f(1e140)))
	first := s.Le(x, y)
	r := s.divTwofold(s.selectTwofold(usual, s.selectTwofold(first, p, q), s.twofold(1)), s.selectTwofold(usual, sum, s.twofold(1)))
	return s.Select(usual, s.Add(s.Sub(r.hi, s.Select(first, x, y)), r.lo), s.f(0))
}

// studentCDF is the probability of a number of Student's distribution of at most t.
func (s stream) studentCDF(df, t val) val {
	half := s.f(0.5)
	// The odds of x are df/(t*t).
	x, y := s.share(s.Div(s.Div(df, t), t)), s.share(s.Mul(s.Div(t, df), t))
	square := s.sq(t)
	lacks := s.shareLacks(twofold{df, s.f(0)}, twofold{square, s.Fma(t, t, s.Neg(square))}, x, y)
	tail := s.Mul(half, s.betaCDF(x, y, s.Mul(half, df), half, lacks))
	return s.Select(s.Lt(t, s.f(0)), tail, s.Sub(s.f(1), tail))
}

// studentInverse is the t where [stream.studentCDF] is p. Near p = 1/2 the other end of the beta distribution has
// the digits.
func (s stream) studentInverse(df, p val) val {
	one, half := s.f(1), s.f(0.5)
	outer := s.Lt(s.f(0.25), s.Abs(s.Sub(p, half)))
	a, twice := s.Mul(half, df), s.Mul(s.f(2), s.Min(p, s.Sub(one, p)))
	inner := s.Abs(s.Fma(s.f(2), p, s.f(-1)))
	root := s.betaInverse(s.Select(outer, a, half), s.Select(outer, half, a), s.Select(outer, twice, inner), true)
	y := s.Select(outer, s.Div(s.Sqrt(df), root), s.Mul(s.Sqrt(df), root))
	return s.Select(s.Lt(p, half), s.Neg(y), y)
}

// fisher is the probability of a number of the F distribution of at most x, or of one above. It is NaN for x below 0.
func (s stream) fisher(m, n, x val, upper bool) val {
	good := s.Le(s.f(0), x)
	x = s.Select(good, x, s.f(math.NaN()))
	// Of tiny degrees the quotient counts, and halves of denormals would lose digits.
	tiny := s.Lt(s.Max(m, n), s.f(0x1p-900))
	by := s.Select(tiny, s.f(0x1p700), s.f(1))
	m, n = s.Mul(m, by), s.Mul(n, by)
	least := s.f(math.SmallestNonzeroFloat64)
	half := func(m val) val {
		y := s.Mul(m, s.f(0.5))
		return s.Select(s.Lt(s.f(0), m), s.Max(y, least), y)
	}
	a, b := half(m), half(n)
	up := s.Mul(m, x)
	r, back := s.Select(tiny, s.Mul(s.Div(m, n), x), s.Div(up, n)), s.Select(tiny, s.Div(s.Div(n, m), x), s.Div(n, up))
	// Beside a tiny parameter it matters only that the odds are not 0.
	odds := func(r, a val) val {
		return s.share(s.Select(s.both(s.Lt(a, s.f(tinyShape)), s.Lt(s.f(0), x), s.finite(x)), s.Max(r, least), r))
	}
	low, high := odds(r, a), odds(back, b)
	lacks := s.shareLacks(twofold{up, s.Fma(m, x, s.Neg(up))}, twofold{n, s.f(0)}, low, high)
	if upper {
		return s.betaCDF(high, low, b, a, lacks)
	}
	return s.betaCDF(low, high, a, b, lacks)
}
