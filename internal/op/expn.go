package op

import (
	"math"

	"weft/internal/vmath"
)

// Expn takes the order n, rounded down to a whole number, and x: the integral of exp(-x*t)/t^n over t from 1 on.
var Expn *Def

func init() {
	Expn = wideSpecial("expn", 600, "The exponential integral of whole order n at x.", Conformance{Domains: [][2]float64{{1, 5}, {0.3, 5}}, Flat: []int{0}},
		func(s stream, x []val) val { return s.expnOf(x[0], x[1]) }, func(v *VJP) {
			n, x := v.X[0], v.X[1]
			noGradient(v, 0, "expn", "n")
			v.Set(1, func() *node { return neg(mul(v.DY, Apply(Expn, nil, sub(n, one(n)), x))) })
		})
}

const (
	// expnSeries is the number below which the power series serves, of expnTerms terms.
	expnSeries, expnTerms = 1, 24
	// expnLeast is the least order. Those below 1 take -n steps of a recurrence.
	expnLeast = -50
	// expnTogether is a number of terms of the fraction whose product is far from overflowing.
	expnTogether = 4
)

func (s stream) expnOf(n0, x0 val) val {
	b, zero, one := s.bld, s.f(0), s.f(1)
	n0 = s.Floor(n0)
	known := s.both(s.Le(s.f(expnLeast), n0), s.finite(n0))
	good := s.both(known, s.Lt(zero, x0))
	n, x := s.Select(good, s.Min(n0, s.f(1e15)), one), s.Select(good, s.Min(x0, s.f(800)), s.f(10))
	series := s.And(s.Lt(x, s.f(expnSeries)), s.Le(one, n))
	low := s.If(series, func() []val {
		// DLMF 8.19.8, where the term k = n-1 has a logarithm instead of a pole.
		last := s.Sub(n, one)
		first := s.Select(series, zero, s.f(expnTerms))
		r := s.While([]val{zero, one, zero, first}, func(v []val) val { return s.Lt(v[3], s.f(expnTerms)) }, func(v []val) []val {
			k := v[3]
			pole := s.Eq(k, last)
			next, apart := s.Add(k, one), s.Select(pole, one, s.Sub(k, last))
			over := s.Div(v[1], s.Mul(next, apart))
			sum := s.Add(v[0], s.Select(pole, zero, s.Mul(over, next)))
			return []val{sum, s.Neg(s.Mul(s.Mul(over, apart), x)), s.Select(pole, v[1], v[2]), next}
		})
		return []val{s.Sub(s.Mul(r[2], s.Sub(vmath.Digamma(b, n), vmath.Log(b, x))), r[0])}
	}, s.zeros(1))
	below := s.Lt(n, one)
	far := s.Not(s.Or(series, below))
	high := s.If(far, func() []val {
		// The even part of DLMF 8.19.17, from its last term back, expnTogether terms to a division.
		b0 := s.Add(x, n)
		terms := s.Min(s.f(maxFractionTerms), s.Add(s.Div(s.f(90), x), s.f(12)))
		terms = s.Mul(s.f(expnTogether), s.Ceil(s.Mul(terms, s.f(1./expnTogether))))
		r := s.While([]val{zero, s.Select(far, terms, zero)}, func(v []val) val { return s.Lt(zero, v[1]) }, func(v []val) []val {
			k, top, bottom := v[1], v[0], one
			for range expnTogether {
				c := s.Neg(s.Mul(k, s.Add(n, s.Sub(k, one))))
				top, bottom = s.Mul(c, bottom), s.Fma(s.Fma(s.f(2), k, b0), bottom, top)
				k = s.Sub(k, one)
			}
			return []val{s.Div(top, bottom), k}
		})
		return []val{s.Div(vmath.Exp(b, s.Neg(x)), s.Add(b0, r[0]))}
	}, s.zeros(1))
	// DLMF 8.19.12 from order 0 down: all its terms are positive.
	down := s.If(below, func() []val {
		e := vmath.Exp(b, s.Neg(x))
		r := s.While([]val{s.Div(e, x), s.Select(below, one, s.f(-expnLeast+1))}, func(v []val) val { return s.Le(v[1], s.Neg(n)) }, func(v []val) []val {
			return []val{s.Div(s.Fma(v[1], v[0], e), x), s.Add(v[1], one)}
		})
		return []val{r[0]}
	}, s.zeros(1))
	y := s.Select(below, down[0], s.Select(series, low[0], high[0]))
	pole := s.Select(s.Lt(one, n0), s.Div(one, s.Sub(n0, one)), s.f(math.Inf(1)))
	y = s.Select(s.Eq(x0, zero), pole, y)
	return s.checked(s.both(known, s.Le(zero, x0)), y)
}
