package op

import (
	"math"

	"weft/internal/vmath"
)

// Inverses of the incomplete gamma and beta functions, by Halley's method: the logarithm of a tail is a concave
// function of log(x), and of logit(x), whose second derivative costs two operations. The smaller tail is the one
// that is solved for.

const (
	// maxInverseRounds bounds the rounds. Most arguments take 2 to 4.
	maxInverseRounds = 60
	// inverseDone is the square of a step whose cube no longer matters, where the curvature is 1.
	inverseDone = 9e-12
	// inverseStep bounds a step.
	inverseStep = 8
	// firstTerms is a number whose power series are their first two terms.
	firstTerms = 1e-8
	// tinyShape is a parameter with which gamma numbers are 0 alone, and beta numbers 0 and 1, in the digits of float64.
	tinyShape = 0x1p-150
	// refineBelow is the parameter below which inverses of the beta distribution take one more step by a series.
	refineBelow, maxRefineTerms = 0.25, 300
	// unevenBelow and unevenRatio bound the lesser parameter where lnBeta takes digamma's integral, with an error of
	// 4e-4*unevenRatio^6.
	unevenBelow, unevenRatio = 0x1p-5, 0x1p-8
)

// solve is the x whose tail is t, from a start: evaluate gives the tail at x, its slope by log(x) without a sign, the
// slope's slope over itself, and of that the slope, without a sign.
func (s stream) solve(start, t, isUpper val, evaluate func(x val) (tail, slope, bend, curve val)) val {
	b, one := s.bld, s.f(1)
	upper := s.Eq(isUpper, one)
	r := s.While([]val{start, one, s.f(0)}, func(v []val) val {
		return s.And(s.Lt(s.f(inverseDone), v[1]), s.Lt(v[2], s.f(maxInverseRounds)))
	}, func(v []val) []val {
		tail, slope, bend, curve := evaluate(v[0])
		tail = s.Max(s.f(math.SmallestNonzeroFloat64), tail)
		newton := s.Div(s.Mul(vmath.Log(b, s.Div(tail, t)), tail), slope)
		rate := s.Div(slope, tail)
		// Of the logarithm of the tail the second derivative over the first.
		bend = s.Select(upper, s.Add(bend, rate), s.Sub(bend, rate))
		d := s.Select(upper, newton, s.Neg(newton))
		by := s.Fma(s.Mul(d, s.f(0.5)), bend, one)
		d = s.Div(d, s.Max(s.f(0.5), s.Min(s.f(2), by)))
		d = s.Max(s.f(-inverseStep), s.Min(s.f(inverseStep), s.Select(s.Eq(d, d), d, s.f(0))))
		// The next derivative, which the method leaves out.
		size := s.Mul(s.sq(d), s.Add(s.Add(one, curve), s.Mul(s.Abs(bend), s.Add(s.Abs(bend), rate))))
		return []val{s.Fma(v[0], vmath.Expm1(b, d), v[0]), size, s.Add(v[2], one)}
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
	// Where a is tiny the upper tail is a multiple of it, and those near 0 count.
	tiny := s.Lt(a0, s.f(tinyShape))
	if upper {
		multiple := s.Mul(s.Div(p0, a0), s.f(tinyShape))
		rare := s.both(tiny, good, s.Lt(multiple, s.f(1e-30)))
		a0, p0 = s.Select(rare, s.f(tinyShape), a0), s.Select(rare, multiple, p0)
		tiny = s.And(tiny, s.Not(rare))
	}
	g := s.target(p0, good, upper)
	a := s.Select(s.And(g.inside, s.Not(tiny)), a0, one)
	shape := s.scaledShape(a, s.Lt(g.t, s.f(1e-280)))
	t := s.Mul(g.t, shape.scale)
	// Starts: Wilson and Hilferty's, the first term of the series, and of the asymptotic one.
	ninth := s.Div(s.f(1./9), a)
	c := s.Add(s.Sub(one, ninth), s.Mul(s.quantile(g), s.Sqrt(ninth)))
	cube := s.Mul(a, s.Mul(c, s.sq(c)))
	next := s.Add(a, one)
	lnNear := s.twoOver(s.twoPlus(s.twoLn(g.lower), shape.lg), a)
	near := s.twoExp(lnNear)
	first := s.Select(s.Lt(near, next), s.Mul(near, vmath.Exp(b, s.Div(near, next))), near)
	l := s.Neg(vmath.Log(b, g.t))
	lg := s.lgamma(a).hi
	far := s.Max(s.f(0.1), s.Sub(s.Fma(s.Sub(a, one), vmath.Log(b, l), l), lg))
	isUpper := s.Eq(g.isUpper, one)
	// Far out Wilson and Hilferty's number is too large.
	beyond := s.both(isUpper, s.Lt(g.t, s.f(1e-12)), s.Lt(s.Mul(s.f(4), a), far))
	far = s.Select(s.And(isUpper, s.Lt(s.f(0.3), near)), far, first)
	start := s.Select(s.And(s.Lt(s.f(0.2), c), s.Le(one, a)), s.Select(beyond, far, cube), s.Select(s.Lt(a, one), far, first))
	start = s.Max(s.f(1e-290), s.Min(s.f(1e300), start))
	x := s.solve(start, t, g.isUpper, func(x val) (tail, slope, bend, curve val) {
		tail, isUpper, weight := s.gammaSide(x, shape)
		return s.Select(s.Eq(isUpper, g.isUpper), tail, s.Sub(shape.scale, tail)), weight, s.Sub(a, x), x
	})
	x = s.Select(s.Lt(near, s.f(firstTerms)), s.twoExp(s.twoPlus(lnNear, twofold{s.Div(near, next), s.f(0)})), x)
	x = s.Select(tiny, s.f(0), x)
	return s.ended(x, p0, good, g, upper, 0, math.Inf(1))
}

// twoOver is x/a.
func (s stream) twoOver(x twofold, a val) twofold {
	hi := s.Div(x.hi, a)
	return twofold{hi, s.Div(s.Add(s.Fma(s.Neg(hi), a, x.hi), x.lo), a)}
}

// betaInverse is the x at which the beta distribution's function is p0, or, if rooted, sqrt(x/(1-x)).
func (s stream) betaInverse(a0, b0, p0 val, rooted bool) val {
	one, half := s.f(1), s.f(0.5)
	good := s.both(s.Lt(s.f(0), a0), s.finite(a0), s.Lt(s.f(0), b0), s.finite(b0))
	// Where b is tiny probabilities are multiples of it, and those near 0 count.
	times := s.Div(p0, b0)
	multiple := s.Mul(times, s.f(tinyShape))
	rare := s.both(s.Lt(b0, s.f(tinyShape)), s.Le(s.f(tinyShape), a0), s.Lt(s.f(0), b0), s.Lt(multiple, s.f(1e-30)))
	// Up to odds of r it is about 1/a + ln(r).
	rare = s.And(rare, s.Lt(times, s.Add(s.Div(one, a0), s.f(800))))
	b0, p0 = s.Select(rare, s.f(tinyShape), b0), s.Select(rare, multiple, p0)
	g := s.target(p0, good, false)
	tiny := s.Lt(s.Min(a0, b0), s.f(tinyShape))
	regular := s.And(g.inside, s.Not(tiny))
	a, b := s.Select(regular, a0, one), s.Select(regular, b0, one)
	shape := s.scaledBeta(a, b, s.Lt(g.t, s.f(1e-280)))
	// The first terms of the series at both ends, as logarithms.
	low := s.twoOver(s.twoPlus(s.twoPlus(s.twoLn(g.lower), s.twoLn(a)), shape.unscaled), a)
	lnUpper := s.twoLn(g.upper)
	lnUpper.lo = s.Add(lnUpper.lo, s.Div(s.Sub(s.Sub(one, g.upper), g.lower), g.upper))
	high := s.twoOver(s.twoPlus(s.twoPlus(lnUpper, s.twoLn(b)), shape.unscaled), b)
	odds := s.betaOdds(shape, g, low.hi, high.hi)
	odds = s.betaRefined(odds, a, b, g, low, high)
	second := func(ln twofold, a, b val) (both twofold, serves val) {
		x := s.twoExp(ln)
		more := s.Div(s.Mul(x, s.Sub(b, one)), s.Add(a, one))
		if rooted {
			more = s.Add(more, x) // of x/(1-x)
		}
		return s.twoPlus(ln, twofold{more, s.f(0)}), s.Lt(s.Mul(x, s.Max(one, b)), s.f(firstTerms))
	}
	low, atLow := second(low, a, b)
	high, atHigh := second(high, b, a)
	// Beside a tiny parameter the other end's logarithm is a quotient without digits.
	atLow, atHigh = s.And(atLow, s.Lt(odds, one)), s.And(atHigh, s.Lt(one, odds))
	// Of tiny parameters b/(a+b) is the probability of 0.
	share := s.Select(s.Lt(s.Max(a0, b0), s.f(tinyShape)), s.Div(b0, s.Add(a0, b0)), s.Select(s.Lt(a0, b0), one, s.f(0)))
	edge := func(zero, middle, most float64) val {
		return s.Select(s.Lt(p0, share), s.f(zero), s.Select(s.Lt(share, p0), s.f(most), s.f(middle)))
	}
	if rooted {
		y := s.Select(atLow, s.twoExp(s.twoTimes(low, half)), s.Select(atHigh, s.twoExp(s.twoTimes(high, s.f(-0.5))), s.Sqrt(odds)))
		return s.ended(s.Select(tiny, edge(0, 1, math.Inf(1)), y), p0, good, g, false, 0, math.Inf(1))
	}
	y := s.Select(s.Lt(odds, s.f(1e150)), s.Div(odds, s.Add(one, odds)), one)
	y = s.Select(atLow, s.twoExp(low), y)
	return s.ended(s.Select(tiny, edge(0, 0.5, 1), y), p0, good, g, false, 0, 1)
}

// betaRefined is Newton's step for the logarithm of x, or of 1-x, by the power series of DLMF 8.17.7 where a parameter is
// small. There the tail hardly depends on x, so that its rounding is an error of 1/a in x. With the leading power taken
// out the series has a for a factor, so that the quotient by a has all digits. It does not serve where the other tail
// is smaller than that factor, and better. low and high are the logarithms without the series.
func (s stream) betaRefined(odds, a0, b0 val, g target, low, high twofold) val {
	one, two := s.f(1), s.f(2)
	back := s.Lt(one, odds)
	a, b := s.Select(back, b0, a0), s.Select(back, a0, b0)
	r := s.Select(back, s.Div(one, odds), odds)
	x := s.Div(r, s.Add(one, r))
	serves := s.both(s.Lt(a, s.f(refineBelow)), s.Lt(s.Mul(x, b), two), s.Lt(s.f(firstTerms), x))
	near, other := s.Select(back, g.upper, g.lower), s.Select(back, g.lower, g.upper)
	serves = s.And(serves, s.Lt(s.Mul(a, near), other))
	return s.If(serves, func() []val {
		none := s.f(0)
		pick := func(v, otherwise val) val { return s.Select(serves, v, otherwise) }
		a, b, x := pick(a, one), pick(b, one), pick(x, s.f(0.5))
		v := s.While([]val{none, none, one, none}, func(v []val) val {
			return s.both(s.Lt(s.Mul(s.Abs(v[1]), s.f(0x1p-58)), s.Abs(v[2])), s.Lt(v[3], s.f(maxRefineTerms)))
		}, func(v []val) []val {
			n := s.Add(v[3], one)
			t := s.Mul(s.Mul(v[2], x), s.Div(s.Sub(n, b), n))
			return []val{s.Add(v[0], s.Div(t, s.Add(a, n))), s.Add(v[1], t), t, n}
		})
		sum := s.Mul(a, v[0])
		d := s.twoPlus(s.twoLn(x), s.twoMinus(s.selectTwofold(back, high, low)))
		off := s.Add(s.Add(d.hi, s.Div(vmath.Log1p(s.bld, sum), a)), d.lo)
		step := s.Mul(off, s.Div(s.Add(one, sum), s.Add(one, v[1])))
		x = s.Fma(s.Neg(x), step, x)
		y := s.Div(x, s.Sub(one, x))
		return []val{s.Select(s.Lt(s.Abs(step), s.f(0x1p-30)), s.Select(back, s.Div(one, y), y), odds)}
	}, func() []val { return []val{odds} })[0]
}

// betaOdds solves for the odds x/(1-x). lnLow and lnHigh are logarithms of about x and 1-x, near 0 and 1.
func (s stream) betaOdds(shape betaShape, g target, lnLow, lnHigh val) val {
	bb, one, half := s.bld, s.f(1), s.f(0.5)
	a, b := shape.a, shape.b
	// A start in the middle: M. Abramowitz and I. Stegun 26.5.22.
	z := s.Neg(s.quantile(g))
	lambda := s.Mul(s.Sub(s.sq(z), s.f(3)), s.f(1./6))
	ia, ib := s.Div(one, s.Sub(s.Add(a, a), one)), s.Div(one, s.Sub(s.Add(b, b), one))
	h := s.Div(s.f(2), s.Add(ia, ib))
	root := s.Add(h, lambda)
	w := s.Div(s.Mul(z, s.Sqrt(s.Max(s.f(0), root))), h)
	w = s.Sub(w, s.Mul(s.Sub(ib, ia), s.Sub(s.Add(lambda, s.f(5./6)), s.Div(s.f(2./3), h))))
	mid := s.Mul(s.Div(a, b), vmath.Exp(bb, s.Mul(s.f(-2), w)))
	low, high := vmath.Exp(bb, lnLow), vmath.Exp(bb, lnHigh)
	start := s.Select(s.Lt(low, half), s.Div(low, s.Sub(one, low)), s.Select(s.Lt(high, half), s.Div(s.Sub(one, high), high), one))
	start = s.Select(s.both(s.Lt(one, a), s.Lt(one, b), s.Lt(s.f(0), root)), mid, start)
	start = s.Max(s.f(1e-290), s.Min(s.f(1e290), start))
	return s.solve(start, s.Mul(g.t, shape.scale), g.isUpper, func(r val) (tail, slope, bend, curve val) {
		by := s.Div(one, s.Add(one, r))
		p := s.betaPoint(s.Select(s.Lt(r, s.f(1e150)), s.Mul(r, by), one), by, a, b)
		tail, weight := s.betaSide(p, shape)
		same := s.Eq(s.Select(p.swapped, one, s.f(0)), g.isUpper)
		return s.Select(same, tail, s.Sub(shape.scale, tail)), weight, s.Select(p.swapped, s.Neg(p.d), p.d),
			s.Mul(s.Mul(s.Add(a, b), p.x), p.y)
	})
}

// lnBeta is ln(gamma(a)*gamma(b)/gamma(a+b)) for positive finite arguments.
func (s stream) lnBeta(a, b val) twofold {
	small := s.Le(s.Add(a, b), s.f(twofoldMost))
	or := func(v val) val { return s.Select(small, v, s.f(1)) }
	total, rest := s.difference(or(a), s.Neg(or(b)))
	lg := s.lgamma(total)
	// What the sum lacks is multiplied by digamma(1+total)-1/total (DLMF 5.5.2 and 5.11.2).
	below := s.Max(total, s.f(0x1p-1000))
	above := s.Add(s.f(1), below)
	inverse := s.Div(s.f(1), s.Mul(below, above))
	over := s.Mul(below, inverse)
	square := s.sq(over)
	stirling := s.Fma(square, s.Fma(square, s.f(1./120), s.f(-1./12)), s.Mul(over, s.f(-0.5)))
	digamma := s.Sub(s.Add(vmath.Log(s.bld, above), stirling), s.Mul(above, inverse))
	lg.lo = s.Fma(rest, digamma, lg.lo)
	direct := s.twoPlus(s.twoPlus(s.lgamma(or(a)), s.lgamma(or(b))), s.twoMinus(lg))
	r := s.If(small, func() []val { return []val{direct.hi, direct.lo} }, func() []val { return []val{s.logBeta(a, b), s.f(0)} })
	x, y := s.Min(a, b), s.Max(a, b)
	uneven := s.both(small, s.Lt(x, s.f(unevenBelow)), s.Lt(x, s.Mul(y, s.f(unevenRatio))), s.Lt(s.f(0x1p-900), y))
	r = s.If(uneven, func() []val {
		near := s.lnBetaUneven(s.Select(uneven, x, s.f(unevenBelow)), s.Select(uneven, y, s.f(1)))
		return []val{s.Select(uneven, near.hi, r[0]), s.Select(uneven, near.lo, r[1])}
	}, func() []val { return r })
	return twofold{r[0], r[1]}
}

// lnBetaUneven is lnBeta of an x below unevenBelow and below unevenRatio*y. It is -ln(x) and a multiple of x, which
// has the digits of float64: ln(gamma(1+x)) less digamma's integral from y to y+x, by Gauss' formula of three points
// (DLMF 3.5(v)). So inverses can divide it by x, where differences of lgamma have no digits.
func (s stream) lnBetaUneven(x, y val) twofold {
	return s.twoPlus(s.twoMinus(s.twoLn(x)), s.lnBetaBeside(x, y))
}

// lnBetaBeside is that multiple.
func (s stream) lnBetaBeside(x, y val) twofold {
	half, third := s.Mul(x, s.f(0.5)), s.Mul(x, s.f(0.38729833462074168852)) // sqrt(3/5)/2
	middle := s.Add(y, half)
	at := func(y val) val { return vmath.Digamma(s.bld, y) }
	mean := s.Fma(s.Add(at(s.Sub(middle, third)), at(s.Add(middle, third))), s.f(5./18), s.Mul(at(middle), s.f(4./9)))
	one := s.lgamma1p(x, s.f(0))
	return s.twoPlus(one, twofold{s.Neg(s.Mul(x, mean)), s.f(0)})
}

// logBeta is ln(gamma(a)*gamma(b)/gamma(a+b)) for positive arguments, the greater one at least 20 (A. R. DiDonato,
// A. H. Morris, ACM TOMS 18, 1992, whose differences of Stirling's series do not cancel).
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
	v := s.Select(s.Lt(x, s.f(stirlingFrom)), one, both)
	return s.Select(s.Lt(x, s.f(1e-300)), s.Neg(vmath.Log(b, x)), v)
}

// lnBetaFar is lnBeta of x below stirlingFrom and y of at least 20: ln(gamma(x)) - x*ln(y), which cancel beside the zeros,
// in two floats, and with h = x/y and l = ln(1+h) the small y*(h-l) - (x-1/2)*l and the difference of Stirling's rests.
func (s stream) lnBetaFar(x, y val) val {
	h := s.Div(x, y)
	rests := s.Sub(s.stirlingRest(y), s.stirlingRest(s.Add(x, y)))
	small := s.Fma(y, s.besidesLog(h), s.Sub(rests, s.Mul(s.Sub(x, s.f(0.5)), vmath.Log1p(s.bld, h))))
	large := s.twoPlus(s.lgamma(x), s.twoMinus(s.twoTimes(s.twoLn(y), x)))
	return s.Add(large.hi, s.Add(large.lo, small))
}

// quotientBeta is gamma(a)*gamma(b)/gamma(a+b).
func (s stream) quotientBeta(a, b val) val {
	return s.Mul(vmath.Gamma(s.bld, a), s.Div(vmath.Gamma(s.bld, b), vmath.Gamma(s.bld, s.Add(a, b))))
}

// betaOf is the beta function, and its logarithm's absolute value if logged.
func (s stream) betaOf(a, b val, logged bool) val {
	positive := s.both(s.Lt(s.f(0), a), s.Lt(s.f(0), b), s.finite(a), s.finite(b))
	ln := s.lnBeta(s.Select(positive, a, s.f(1)), s.Select(positive, b, s.f(1)))
	y := s.twoExp(ln)
	if logged {
		large := s.And(positive, s.Le(s.f(20), s.Max(a, b)))
		y = s.If(large, func() []val { return []val{s.logBeta(s.Select(large, a, s.f(20)), s.Select(large, b, s.f(20)))} },
			func() []val { return []val{s.Add(ln.hi, ln.lo)} })[0]
		least := s.Min(a, b)
		far := s.both(large, s.Lt(least, s.f(stirlingFrom)), s.Lt(s.f(1e-300), least))
		y = s.If(far, func() []val {
			return []val{s.Select(far, s.lnBetaFar(s.Select(far, least, s.f(1)), s.Select(far, s.Max(a, b), s.f(20))), y)}
		}, func() []val { return []val{y} })[0]
	}
	return s.If(positive, func() []val { return []val{y} }, func() []val {
		q := s.quotientBeta(a, b)
		if logged {
			q = vmath.Log(s.bld, s.Abs(q))
		}
		return []val{q}
	})[0]
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
	power := vmath.Pow(b, at, s.Sub(one, x)) // 1-x is exact
	r := s.Div(one, at)
	t := s.sq(r)
	rest := s.f(0)
	for j := len(zetaCoefs) - 1; j >= 0; j-- {
		k := float64(2 * j)
		rest = s.Fma(s.Mul(t, rest), s.Mul(s.Add(x, s.f(k+1)), s.Add(x, s.f(k+2))), s.f(zetaCoefs[j]))
	}
	sum := s.Mul(power, s.Fma(r, s.Fma(s.Mul(x, r), rest, s.f(0.5)), s.Div(one, s.Sub(x, one))))
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
