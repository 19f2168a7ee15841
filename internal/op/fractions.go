package op

// Continued fractions and a series for the incomplete gamma and beta functions of moderate parameters. Their
// convergents are quotients p/q of sequences that one recurrence makes, so a term costs no division. They
// stop at the distance of two convergents, w/(q(n)*q(n-1)), where w is the product of partial numerators.

const (
	// fractionMost is the greatest parameter that these serve: below it q, p and w stay within float64.
	fractionMost = 200
	// fractionStart is the first q.
	fractionStart = 0x1p-400
	// fractionDone is the distance of two convergents, relative to their value, that no longer matters.
	fractionDone = 0x1p-56
	// maxFractionTerms bounds the terms. Arguments that these serve take at most 60 of a fraction.
	maxFractionTerms = 100
	// maxStieltjesTerms bounds the terms of Stieltjes' fraction, which has some 170/x.
	maxStieltjesTerms = 400
	// stieltjesFrom and stieltjesTo are the range of x that it serves, for a below 1.
	stieltjesFrom, stieltjesTo = 0.8, 5
	// leastInverse is a number with a finite square of its inverse. The series of numbers below it has two terms.
	leastInverse = 0x1p-400
)

// fraction is the value of a continued fraction c(0)/(b(0) + c(1)/(b(1) + ...)), where each term with n from 1
// on gives c(n) and b(n). Lanes outside of active get anything.
func (s stream) fraction(active, c0, b0 val, term func(n val) (c, b val)) val {
	start := s.f(fractionStart)
	none := s.f(0)
	w0 := s.Select(active, s.Mul(s.Mul(start, start), c0), none)
	r := s.While([]val{none, start, s.Mul(start, c0), s.Mul(start, b0), w0, s.f(1)}, func(v []val) val {
		near := s.Abs(s.Mul(s.Mul(v[2], v[1]), s.f(fractionDone)))
		return s.And(s.Lt(near, s.Abs(v[4])), s.Lt(v[5], s.f(maxFractionTerms)))
	}, func(v []val) []val {
		// Two terms: a test costs as much as one.
		next := s.Add(v[5], s.f(1))
		c, b := term(v[5])
		c2, b2 := term(next)
		p, q := s.Fma(b, v[2], s.Mul(c, v[0])), s.Fma(b, v[3], s.Mul(c, v[1]))
		p2, q2 := s.Fma(b2, p, s.Mul(c2, v[2])), s.Fma(b2, q, s.Mul(c2, v[3]))
		return []val{p, q, p2, q2, s.Mul(v[4], s.Mul(c, c2)), s.Add(next, s.f(1))}
	})
	return s.Div(r[2], r[3])
}

// gammaFraction is the upper incomplete gamma function over x^a*exp(-x), by Legendre's continued fraction
// (DLMF 8.9.2). It converges fast from x = max(a, 4) on.
func (s stream) gammaFraction(active, x, a val) val {
	b0 := s.Add(s.Sub(x, a), s.f(1))
	return s.fraction(active, s.f(1), b0, func(n val) (c, b val) {
		return s.Mul(n, s.Sub(a, n)), s.Fma(s.f(2), n, b0)
	})
}

// gammaStieltjes is gammaFraction by Stieltjes' form of the fraction (DLMF 8.9.1 with its terms multiplied out):
//
//	1/(x + (1-a)/(1 + 1/(x + (2-a)/(1 + 2/(x + ...)))))
//
// For a below 1 all of its terms are positive, so that convergents have no cancellation. Legendre's cancels, but needs half
// the terms.
func (s stream) gammaStieltjes(active, x, a val) val {
	start, none, one := s.f(fractionStart), s.f(0), s.f(1)
	w0 := s.Select(active, s.Mul(start, start), none)
	r := s.While([]val{none, start, start, s.Mul(start, x), w0, one}, func(v []val) val {
		near := s.Mul(s.Mul(v[2], v[1]), s.f(fractionDone))
		return s.And(s.Lt(near, v[4]), s.Lt(v[5], s.f(maxStieltjesTerms/2)))
	}, func(v []val) []val {
		n := v[5]
		c := s.Sub(n, a)
		p, q := s.Fma(c, v[0], v[2]), s.Fma(c, v[1], v[3])
		p2, q2 := s.Fma(x, p, s.Mul(n, v[2])), s.Fma(x, q, s.Mul(n, v[3]))
		return []val{p, q, p2, q2, s.Mul(v[4], s.Mul(c, n)), s.Add(n, one)}
	})
	return s.Div(r[2], r[3])
}

// gammaSeries is the lower incomplete gamma function times a over x^a*exp(-x), less 1: the sum of
// x^n/((a+1)...(a+n)) from n = 1 on (DLMF 8.11.4). With r(n) = (a+n)/x sum and last term have the common
// denominator r(2)...r(n).
func (s stream) gammaSeries(active, x, a val) val {
	one, next := s.f(1), s.Add(a, s.f(1))
	over := s.Div(one, s.Max(s.f(leastInverse), x))
	at := s.Mul(a, over)
	r := s.While([]val{s.Select(active, one, s.f(0x1p100)), one, s.f(2)}, func(v []val) val {
		return s.And(s.Lt(v[0], s.f(0x1p58)), s.Lt(v[2], s.f(maxTailTerms)))
	}, func(v []val) []val {
		// Two terms: a test costs as much as one.
		r, r2 := s.Fma(v[2], over, at), s.Fma(s.Add(v[2], one), over, at)
		sum := s.Fma(s.Fma(v[0], r, one), r2, one)
		return []val{sum, s.Mul(v[1], s.Mul(r, r2)), s.Add(v[2], s.f(2))}
	})
	return s.Div(s.Mul(r[0], x), s.Mul(r[1], next))
}

// betaFraction is the incomplete beta function over x^a*y^b, by the even part of its continued fraction (A. R.
// DiDonato, A. H. Morris, ACM TOMS 18, 1992, section 9), whose terms are multiplied by the denominators in
// them.
func (s stream) betaFraction(active val, p betaPoint) val {
	one := s.f(1)
	a, b, x := p.a, p.b, p.x
	lambda, up, total := s.Add(p.d, one), s.Add(p.y, one), s.Sub(s.Add(a, b), one)
	square := s.sq(x)
	below := s.Sub(a, one)
	return s.fraction(active, s.Add(a, one), s.Mul(a, lambda), func(n val) (val, val) {
		at := s.Add(below, n)                                // a+n-1
		e, next := s.Add(at, n), s.Add(s.Add(at, n), s.f(2)) // a+2n-1, a+2n+1
		last := s.Select(s.Eq(n, one), one, s.Sub(e, s.f(2)))
		nb := s.Mul(n, s.Sub(b, n))
		c := s.Mul(s.Mul(at, s.Add(total, n)), s.Mul(s.Mul(nb, square), s.Mul(next, last)))
		inner := s.Fma(s.Mul(nb, x), next, s.Mul(s.Mul(n, e), next))
		d := s.Fma(s.Mul(s.Add(at, one), e), s.Fma(n, up, lambda), inner)
		return c, d
	})
}
