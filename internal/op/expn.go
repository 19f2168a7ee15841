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
	expnSeries, expnTerms = 1.6, 32
	// expnLeast is the least order: fractions of orders below 1 end after -n terms.
	expnLeast = -50
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
			sum := s.Add(v[0], s.Select(pole, zero, s.Div(v[1], s.Select(pole, one, s.Sub(k, last)))))
			next := s.Add(k, one)
			return []val{sum, s.Neg(s.Mul(v[1], s.Div(x, next))), s.Select(pole, v[1], v[2]), next}
		})
		return []val{s.Sub(s.Mul(r[2], s.Sub(vmath.Digamma(b, n), vmath.Log(b, x))), r[0])}
	}, s.zeros(1))
	far := s.Not(series)
	high := s.If(far, func() []val {
		// The even part of DLMF 8.19.17, from its last term back. A fraction of order below 1 ends by itself.
		b0 := s.Add(x, n)
		terms := s.Max(s.Floor(s.Min(s.f(maxFractionTerms), s.Add(s.Div(s.f(90), x), s.f(12)))), s.Sub(one, n))
		r := s.While([]val{zero, s.Select(far, terms, zero)}, func(v []val) val { return s.Lt(zero, v[1]) }, func(v []val) []val {
			k := v[1]
			c := s.Neg(s.Mul(k, s.Add(n, s.Sub(k, one))))
			return []val{s.Div(c, s.Add(s.Fma(s.f(2), k, b0), v[0])), s.Sub(k, one)}
		})
		return []val{s.Div(vmath.Exp(b, s.Neg(x)), s.Add(b0, r[0]))}
	}, s.zeros(1))
	y := s.Select(series, low[0], high[0])
	pole := s.Select(s.Lt(one, n0), s.Div(one, s.Sub(n0, one)), s.f(math.Inf(1)))
	y = s.Select(s.Eq(x0, zero), pole, y)
	return s.checked(s.both(known, s.Le(zero, x0)), y)
}
