package op

import (
	"math"

	"weft/internal/vmath"
)

// Inverses of the incomplete gamma and beta functions, by Newton's method: the logarithm of a tail is a
// concave function of log(x), and of logit(x), so that from any start one step and what follows it
// approach the solution from one side. The smaller tail is the one that is solved for.

const (
	// maxInverseRounds bounds the rounds. Most arguments take 3 to 6.
	maxInverseRounds = 60
	// inverseDone is the step whose square no longer matters.
	inverseDone = 1e-9
	// inverseStep bounds a step.
	inverseStep = 8
)

// solve is the x whose tail is t, from a start: evaluate gives the tail at x and its slope by log(x).
func (s stream) solve(start, t, isUpper val, evaluate func(x val) (tail, slope val)) val {
	b := s.bld
	r := s.While([]val{start, s.f(1), s.f(0)}, func(v []val) val {
		return s.And(s.Lt(s.f(inverseDone), v[1]), s.Lt(v[2], s.f(maxInverseRounds)))
	}, func(v []val) []val {
		tail, slope := evaluate(v[0])
		tail = s.Max(s.f(1e-300), tail)
		d := s.Div(s.Mul(vmath.Log(b, s.Div(tail, t)), tail), slope)
		d = s.Select(s.Eq(isUpper, s.f(1)), d, s.Neg(d))
		d = s.Max(s.f(-inverseStep), s.Min(s.f(inverseStep), s.Select(s.Eq(d, d), d, s.f(0))))
		return []val{s.Fma(v[0], vmath.Expm1(b, d), v[0]), s.Abs(d), s.Add(v[2], s.f(1))}
	})
	return r[0]
}

// A target is the smaller tail of a probability: t, and 1 if that is the upper one, else 0.
type target struct{ inside, t, isUpper, lower, upper val }

// target takes a probability of the lower or the upper tail.
func (s stream) target(p0, good val, upper bool) target {
	inside := s.both(good, s.Lt(s.f(0), p0), s.Lt(p0, s.f(1)))
	p := s.Select(inside, p0, s.f(0.5))
	q := s.Sub(s.f(1), p)
	small := s.Le(p, s.f(0.5))
	t := s.Select(small, p, q)
	if upper {
		return target{inside, t, s.Select(small, s.f(1), s.f(0)), q, p}
	}
	return target{inside, t, s.Select(small, s.f(0), s.f(1)), p, q}
}

// ended returns y, and low or high where the probability of the lower tail is 0 or 1.
func (s stream) ended(y, p0, good val, g target, upper bool, low, high float64) val {
	if upper {
		low, high = high, low
	}
	end := s.Select(s.Eq(p0, s.f(0)), s.f(low), s.f(high))
	valid := s.both(good, s.Le(s.f(0), p0), s.Le(p0, s.f(1)))
	return s.checked(valid, s.Select(g.inside, y, end))
}

// quantile is the normal number of the lower or the upper tail of a target.
func (s stream) quantile(g target) val {
	z := vmath.Ndtri(s.bld, g.t)
	return s.Select(s.Eq(g.isUpper, s.f(1)), s.Neg(z), z)
}

// gammaInverse is the x at which a tail of the gamma distribution is p0.
func (s stream) gammaInverse(a0, p0 val, upper bool) val {
	b, one := s.bld, s.f(1)
	good := s.both(s.Lt(s.f(0), a0), s.finite(a0))
	g := s.target(p0, good, upper)
	a := s.Select(g.inside, a0, one)
	// Starts: Wilson and Hilferty's, the first term of the series, and of the asymptotic one.
	ninth := s.Div(s.f(1./9), a)
	c := s.Add(s.Sub(one, ninth), s.Mul(s.quantile(g), s.Sqrt(ninth)))
	cube := s.Mul(a, s.Mul(c, s.sq(c)))
	next := s.Add(a, one)
	near := vmath.Exp(b, s.Div(s.Add(vmath.Log(b, g.lower), vmath.Lgamma1p(b, a)), a))
	first := s.Select(s.Lt(near, next), s.Mul(near, vmath.Exp(b, s.Div(near, next))), near)
	l := s.Neg(vmath.Log(b, g.t))
	far := s.Max(s.f(0.1), s.Sub(s.Fma(s.Sub(a, one), vmath.Log(b, l), l), vmath.Lgamma(b, a)))
	far = s.Select(s.And(s.Eq(g.isUpper, one), s.Lt(s.f(0.3), near)), far, first)
	start := s.Select(s.And(s.Lt(s.f(0.2), c), s.Le(one, a)), cube, s.Select(s.Lt(a, one), far, first))
	start = s.Max(s.f(1e-290), s.Min(s.f(1e300), start))
	x := s.solve(start, g.t, g.isUpper, func(x val) (val, val) {
		tail, isUpper := s.gammaSide(x, a)
		return s.Select(s.Eq(isUpper, g.isUpper), tail, s.Sub(one, tail)), s.gammaWeight(x, a)
	})
	x = s.Select(s.Lt(near, s.f(1e-280)), near, x)
	return s.ended(x, p0, good, g, upper, 0, math.Inf(1))
}

// betaInverse is the x at which a tail of the beta distribution is p0. It solves for the odds x/(1-x).
func (s stream) betaInverse(a0, b0, p0 val, upper bool) val {
	bb, one := s.bld, s.f(1)
	good := s.both(s.Lt(s.f(0), a0), s.finite(a0), s.Lt(s.f(0), b0), s.finite(b0))
	g := s.target(p0, good, upper)
	a, b := s.Select(g.inside, a0, one), s.Select(g.inside, b0, one)
	// Starts: M. Abramowitz and I. Stegun 26.5.22, and the first terms of the series at both ends.
	z := s.Neg(s.quantile(g))
	lambda := s.Mul(s.Sub(s.sq(z), s.f(3)), s.f(1./6))
	ia, ib := s.Div(one, s.Sub(s.Add(a, a), one)), s.Div(one, s.Sub(s.Add(b, b), one))
	h := s.Div(s.f(2), s.Add(ia, ib))
	root := s.Add(h, lambda)
	w := s.Div(s.Mul(z, s.Sqrt(s.Max(s.f(0), root))), h)
	w = s.Sub(w, s.Mul(s.Sub(ib, ia), s.Sub(s.Add(lambda, s.f(5./6)), s.Div(s.f(2./3), h))))
	mid := s.Mul(s.Div(a, b), vmath.Exp(bb, s.Mul(s.f(-2), w)))
	lnB := s.logBeta(a, b)
	low := vmath.Exp(bb, s.Div(s.Add(vmath.Log(bb, s.Mul(g.lower, a)), lnB), a))
	high := vmath.Exp(bb, s.Div(s.Add(vmath.Log(bb, s.Mul(g.upper, b)), lnB), b))
	half := s.f(0.5)
	start := s.Select(s.Lt(low, half), s.Div(low, s.Sub(one, low)), s.Select(s.Lt(high, half), s.Div(s.Sub(one, high), high), one))
	start = s.Select(s.both(s.Lt(one, a), s.Lt(one, b), s.Lt(s.f(0), root)), mid, start)
	start = s.Max(s.f(1e-290), s.Min(s.f(1e290), start))
	odds := s.solve(start, g.t, g.isUpper, func(r val) (val, val) {
		by := s.Div(one, s.Add(one, r))
		p := s.betaPoint(s.Select(s.Lt(r, s.f(1e150)), s.Mul(r, by), one), by, a, b)
		tail := s.betaSide(p)
		same := s.Eq(s.Select(p.swapped, one, s.f(0)), g.isUpper)
		return s.Select(same, tail, s.Sub(one, tail)), s.betaWeight(p)
	})
	x := s.Select(s.Lt(odds, s.f(1e150)), s.Div(odds, s.Add(one, odds)), one)
	x = s.Select(s.Lt(low, s.f(1e-280)), low, x)
	return s.ended(x, p0, good, g, upper, 0, 1)
}

// logBeta is ln(gamma(a)*gamma(b)/gamma(a+b)) for positive arguments (A. R. DiDonato, A. H. Morris, ACM TOMS
// 18, 1992, whose differences of Stirling's series do not cancel).
func (s stream) logBeta(a0, b0 val) val {
	b := s.bld
	x, y := s.Min(a0, b0), s.Max(a0, b0)
	total := s.Add(x, y)
	d := s.Sub(s.stirlingRest(y), s.stirlingRest(total))
	h := s.Div(x, y)
	l := vmath.Log1p(b, h)
	one := s.Sub(s.Sub(vmath.Lgamma(b, x), s.Mul(s.Sub(y, s.f(0.5)), l)), s.Sub(s.Mul(x, s.Sub(vmath.Log(b, total), s.f(1))), d))
	u := s.Mul(s.Sub(x, s.f(0.5)), s.Sub(vmath.Log(b, h), l))
	both := s.Add(s.Sub(s.f(halfLogTau), s.Mul(s.f(0.5), vmath.Log(b, y))), s.Add(s.Add(d, s.stirlingRest(x)), s.Sub(u, s.Mul(y, l))))
	small := vmath.Log(b, s.quotientBeta(x, y))
	v := s.Select(s.Lt(y, s.f(20)), small, s.Select(s.Lt(x, s.f(stirlingFrom)), one, both))
	v = s.Select(s.Lt(x, s.f(1e-300)), s.Neg(vmath.Log(b, x)), v)
	return v
}

// quotientBeta is gamma(a)*gamma(b)/gamma(a+b).
func (s stream) quotientBeta(a, b val) val {
	return s.Mul(vmath.Gamma(s.bld, a), s.Div(vmath.Gamma(s.bld, b), vmath.Gamma(s.bld, s.Add(a, b))))
}

// betaOf is the beta function, and its logarithm's absolute value if logged.
func (s stream) betaOf(a, b val, logged bool) val {
	positive := s.both(s.Lt(s.f(0), a), s.Lt(s.f(0), b))
	large := s.both(positive, s.Le(s.f(20), s.Max(a, b)), s.finite(a), s.finite(b))
	x, y := s.Select(large, a, s.f(20)), s.Select(large, b, s.f(20))
	q := s.quotientBeta(a, b)
	// Of huge sums gamma's reciprocal is 0, and where a is tiny 1/a.
	ln := s.logBeta(x, y)
	if logged {
		tiny := s.both(positive, s.Lt(s.Min(a, b), s.f(1e-300)))
		small := s.Select(tiny, s.Neg(vmath.Log(s.bld, s.Min(a, b))), vmath.Log(s.bld, s.Abs(q)))
		return s.Select(large, ln, small)
	}
	return s.Select(large, vmath.Exp(s.bld, ln), q)
}

// zetaOf is the sum of (k+q)^-x over k from 0 on (Hurwitz' zeta function) by the formula of Euler and
// Maclaurin (DLMF 25.11.5) from zetaFrom on.
func (s stream) zetaOf(x0, q0 val) val {
	b, one := s.bld, s.f(1)
	whole := s.Eq(s.Floor(q0), q0)
	negative := s.Le(q0, s.f(0))
	good := s.both(s.Lt(one, x0), s.Lt(s.f(-maxZetaTerms), q0), s.Or(s.Not(negative), s.Eq(s.Floor(x0), x0)), s.Eq(q0, q0))
	good = s.And(good, s.Not(s.And(negative, whole)))
	x, q := s.Select(good, x0, s.f(2)), s.Select(good, q0, one)
	x = s.Min(s.f(1100), x) // beyond only q matters, as 0, 1 or infinity
	up := s.Max(s.f(zetaFrom), s.Sub(s.f(zetaFrom), s.Floor(q)))
	at := s.Add(q, up)
	minus := s.Neg(x)
	power := vmath.Pow(b, at, minus)
	r := s.Div(one, at)
	t := s.sq(r)
	rest := s.f(0)
	for j := len(zetaCoefs) - 1; j >= 0; j-- {
		k := float64(2 * j)
		rest = s.Fma(s.Mul(t, rest), s.Mul(s.Add(x, s.f(k+1)), s.Add(x, s.f(k+2))), s.f(zetaCoefs[j]))
	}
	sum := s.Mul(power, s.Add(s.Add(s.Div(at, s.Sub(x, one)), s.f(0.5)), s.Mul(s.Mul(x, r), rest)))
	v := s.While([]val{sum, s.Sub(up, one)}, func(v []val) val { return s.Le(s.f(0), v[1]) }, func(v []val) []val {
		return []val{s.Add(v[0], vmath.Pow(b, s.Add(q, v[1]), minus)), s.Sub(v[1], one)}
	})
	huge := s.Select(s.Eq(q0, one), one, s.Select(s.Lt(one, q0), s.f(0), s.f(math.Inf(1))))
	y := s.Select(s.And(s.Eq(x0, s.f(math.Inf(1))), s.Lt(s.f(0), q0)), huge, v[0])
	y = s.Select(s.Eq(q0, s.f(math.Inf(1))), s.f(0), y)
	y = s.checked(good, y)
	pole := s.both(negative, whole, s.Lt(one, x0))
	return s.Select(s.Or(pole, s.And(s.Eq(x0, one), s.Eq(q0, q0))), s.f(math.Inf(1)), y)
}

const (
	// zetaFrom is the least number of terms, and where the series of Bernoulli numbers has the digits of float64.
	zetaFrom = 10
	// maxZetaTerms bounds how far below 0 the second argument may be.
	maxZetaTerms = 10000
)

// zetaCoefs are the Bernoulli numbers B(2j) over (2j)!.
var zetaCoefs = []float64{
	1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000, 1. / 74724249600,
	-3617. / 10670622842880000, 43867. / 5109094217170944000, -174611. / 802857662698291200000, 77683. / 14101100039391805440000,
}
