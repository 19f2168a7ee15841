package op

import (
	"math"

	"weft/internal/vmath"
)

// Bessel functions of real order take the order and x. Kve is exp(x) times Kv, Ive exp(-|x|) times Iv.
var Jv, Yv, Iv, Ive, Kv, Kve *Def

func init() {
	half := func(x, y *node) *node { return scale(add(x, y), 0.5) }
	for _, f := range []struct {
		def       **Def
		name, doc string
		cost      int
		order     [2]float64
		expr      func(s stream, v, x val) val
		// slope is the derivative by x, of the functions of the orders below and above.
		slope func(x, y, below, above *node) *node
	}{
		{&Jv, "jv", "The Bessel function of the first kind of real order.", 2500, [2]float64{-3, 3},
			func(s stream, v, x val) val { return s.besselJY(v, x, false) },
			func(x, y, below, above *node) *node { return half(below, neg(above)) }},
		{&Yv, "yv", "The Bessel function of the second kind of real order.", 2500, [2]float64{-3, 3},
			func(s stream, v, x val) val { return s.besselJY(v, x, true) },
			func(x, y, below, above *node) *node { return half(below, neg(above)) }},
		{&Iv, "iv", "The modified Bessel function of the first kind of real order.", 1500, [2]float64{-3, 3},
			func(s stream, v, x val) val { return s.besselIv(v, x, false) },
			func(x, y, below, above *node) *node { return half(below, above) }},
		{&Ive, "ive", "exp(-|x|)*iv(v, x).", 1500, [2]float64{-3, 3},
			func(s stream, v, x val) val { return s.besselIv(v, x, true) },
			func(x, y, below, above *node) *node { return sub(half(below, above), mul(apply(Sign, x), y)) }},
		{&Kv, "kv", "The modified Bessel function of the second kind of real order.", 1500, [2]float64{-3, 3},
			func(s stream, v, x val) val { return s.besselKv(v, x, false) },
			func(x, y, below, above *node) *node { return neg(half(below, above)) }},
		{&Kve, "kve", "exp(x)*kv(v, x).", 1500, [2]float64{-3, 3},
			func(s stream, v, x val) val { return s.besselKv(v, x, true) },
			func(x, y, below, above *node) *node { return sub(y, half(below, above)) }},
	} {
		*f.def = wideSpecial(f.name, f.cost, f.doc, Conformance{Domains: [][2]float64{f.order, {0.3, 6}}, Flat: []int{0}},
			func(s stream, x []val) val { return f.expr(s, x[0], x[1]) }, func(v *VJP) {
				order, x := v.X[0], v.X[1]
				noGradient(v, 0, f.name, "v")
				v.Set(1, func() *node {
					at := func(by float64) *node { return Apply(*f.def, nil, add(order, num(order, by)), x) }
					return mul(v.DY, f.slope(x, v.Y, at(-1), at(1)))
				})
			})
	}
}

// maxOrderTerms bounds the terms of the trapezoidal rule: x of 1e-300 takes 7000, x from 1e-3 on at most 150.
const maxOrderTerms = 8000

// besselKv is K of real order at x.
func (s stream) besselKv(v0, x0 val, scaled bool) val {
	good := s.both(s.Lt(s.f(0), x0), s.finite(x0), s.finite(v0))
	v, x := s.Select(good, s.Abs(v0), s.f(0)), s.Select(good, x0, s.f(1))
	y := s.secondModified(v, x, scaled)
	// At 0 infinite, at infinity 0.
	edge := s.Select(s.Eq(x0, s.f(0)), s.f(math.Inf(1)), s.Select(s.Eq(x0, s.f(math.Inf(1))), s.f(0), s.f(math.NaN())))
	edge = s.Select(s.Eq(v0, v0), edge, v0)
	return s.Select(good, y, edge)
}

// maxUpwards is the greatest order that is reached by a recurrence.
const maxUpwards = 400

// secondModified is K of order v at positive finite x.
func (s stream) secondModified(v, x val, scaled bool) val {
	few := s.Le(v, s.f(maxUpwards))
	low := s.If(few, func() []val {
		mu, n := s.splitOrder(s.Select(few, v, s.f(0)))
		k, k1 := s.modifiedSecond(mu, x)
		y := s.upwards(mu, n, x, k, k1, 1)
		y = s.Select(s.Eq(y, y), y, s.f(math.Inf(1)))
		if !scaled {
			half := vmath.Exp(s.bld, s.Mul(x, s.f(-0.5)))
			y = s.Select(s.Lt(x, s.f(700)), s.Mul(y, vmath.Exp(s.bld, s.Neg(x))), s.Mul(s.Mul(y, half), half))
		}
		return []val{y}
	}, s.zeros(1))
	many := s.Not(few)
	high := s.If(many, func() []val {
		return []val{s.kvIntegral(s.Select(many, v, s.f(maxUpwards)), s.Select(many, x, s.f(1)), scaled)}
	}, s.zeros(1))
	return s.Select(few, low[0], high[0])
}

// kvIntegral is K of order v at positive finite x, half the integral of exp(v*t - x*cosh(t)) over all t (DLMF
// 10.32.9), for large orders. With u the distance from the integrand's peak at asinh(v/x), it is a constant
// times the integral of
//
//	exp(-(q+v)/2*(exp(u)-1-u) - (q-v)/2*(exp(-u)-1+u)), q = hypot(v, x)
//
// without a cancellation, and the trapezoidal rule converges geometrically.
func (s stream) kvIntegral(v, x val, scaled bool) val {
	b, half := s.bld, s.f(0.5)
	q := vmath.Hypot(b, v, x)
	sum := s.Add(q, v)
	up, down := s.Mul(half, sum), s.Mul(half, s.Mul(x, s.Div(x, sum)))
	// At u+iy the integrand is up to exp(q*ln(sec(y))) greater, and the rule's error is that times
	// exp(-2*pi*y/h): 1e-16 for y = 1.2, and for the best y where q is large.
	h := s.Select(s.Lt(q, s.f(20)), s.Div(s.f(7.54), s.Fma(q, s.f(1.02), s.f(38))), s.Div(s.f(0.58), s.Sqrt(q)))
	exp := func(x val) val { return vmath.Exp(b, x) }
	r := s.While([]val{s.f(1), s.f(1), s.f(1)}, func(w []val) val {
		return s.And(s.Lt(s.Mul(s.f(0x1p-58), w[0]), w[1]), s.Lt(w[2], s.f(maxOrderTerms)))
	}, func(w []val) []val {
		u := s.Mul(h, w[2])
		e, back := s.expBeyond(u), s.expBeyond(s.Neg(u))
		term := s.Add(exp(s.Neg(s.Fma(up, e, s.Mul(down, back)))), exp(s.Neg(s.Fma(up, back, s.Mul(down, e)))))
		return []val{s.Add(w[0], term), term, s.Add(w[2], s.f(1))}
	})
	// ((q+v)/x)^v * exp(-q), which is exp(x) times it where x - q = -v*v/(q+x).
	decay := s.Neg(q)
	if scaled {
		decay = s.Neg(s.Mul(v, s.Div(v, s.Add(q, x))))
	}
	ratio := s.Div(sum, x)
	value := s.Mul(s.Mul(half, h), r[0])
	// In two factors where one overflows.
	root := vmath.Pow(b, ratio, s.Mul(half, v))
	y := s.Mul(s.Mul(root, s.Mul(value, exp(decay))), root)
	direct := s.Mul(vmath.Pow(b, ratio, v), s.Mul(value, exp(decay)))
	far := exp(s.Fma(v, vmath.Log(b, ratio), s.Add(decay, vmath.Log(b, value))))
	extreme := s.Or(s.Lt(decay, s.f(-600)), s.Lt(s.f(1e300), vmath.Pow(b, ratio, v)))
	y = s.Select(s.Lt(s.f(1e150), root), y, direct)
	// The rounding of a ratio near 1 would cost large orders digits.
	wide := s.And(s.Lt(s.f(3e3), v), s.Lt(v, x))
	beyond := s.Add(s.Div(v, x), s.Mul(s.Div(v, s.Add(q, x)), s.Div(v, x)))
	exponent := s.Fma(v, vmath.Log1p(b, beyond), decay)
	return s.Select(wide, s.Mul(value, exp(exponent)), s.Select(extreme, far, y))
}

// besselIv is I of real order at x: the power series, whose terms are positive, Hankel's expansion (DLMF
// 10.40.1) for x above the order's square, and between them what K and the Wronskian (DLMF 10.28.2) give.
func (s stream) besselIv(v0, x0 val, scaled bool) val {
	b, zero, one, inf := s.bld, s.f(0), s.f(1), s.f(math.Inf(1))
	whole := s.Eq(s.Floor(v0), v0)
	good := s.both(s.Lt(zero, s.Abs(x0)), s.finite(x0), s.finite(v0))
	v, x := s.Select(good, s.Abs(v0), zero), s.Select(good, s.Abs(x0), one)
	square := s.sq(x)
	series := s.Or(s.Lt(x, s.f(30)), s.Lt(square, s.Mul(s.f(80), s.Add(v, one))))
	far := s.And(s.Not(series), s.Le(s.sq(v), s.Mul(s.f(2), x)))
	between := s.Not(s.Or(series, far))
	// exp(-x) times the function, or itself.
	grown := func(y val) val {
		half := vmath.Exp(b, s.Mul(x, s.f(0.5)))
		return s.Select(s.Lt(x, s.f(700)), s.Mul(y, vmath.Exp(b, x)), s.Mul(s.Mul(y, half), half))
	}
	low := s.If(series, func() []val {
		v, x := s.Select(series, v, zero), s.Select(series, x, s.f(1e-3))
		y := s.Mul(s.powerOver(v, x), s.besselSeries(v, x, 1))
		if scaled {
			y = s.Mul(y, vmath.Exp(b, s.Neg(x)))
		}
		return []val{y}
	}, s.zeros(1))
	mid := s.If(far, func() []val {
		y := s.Div(s.hankelSeries(s.Select(far, v, zero), s.Select(far, x, s.f(1e4))), s.Mul(s.Sqrt(x), s.f(math.Sqrt(2*math.Pi))))
		if !scaled {
			y = grown(y)
		}
		return []val{y}
	}, s.zeros(1))
	high := s.If(between, func() []val {
		v, x := s.Select(between, v, zero), s.Select(between, x, s.f(1e4))
		next := s.secondModified(s.Add(v, one), x, true)
		y := s.Div(one, s.Mul(x, s.Fma(s.orderRatio(between, v, x), s.secondModified(v, x, true), next)))
		if !scaled {
			y = grown(y)
			// Where K*exp(x) overflows, K does not, or the result is 0.
			lost := s.And(between, s.Not(s.Eq(y, y)))
			plain := s.If(lost, func() []val {
				v, x := s.Select(lost, v, zero), s.Select(lost, x, s.f(1e4))
				next := s.secondModified(s.Add(v, one), x, false)
				return []val{s.Div(one, s.Mul(x, s.Fma(s.orderRatio(lost, v, x), s.secondModified(v, x, false), next)))}
			}, s.zeros(1))
			y = s.Select(lost, plain[0], y)
		}
		return []val{y}
	}, s.zeros(1))
	y := s.Select(series, low[0], s.Select(far, mid[0], high[0]))
	// I(-v) = I(v) + 2/pi*sin(pi*v)*K(v)
	mixed := s.And(s.Lt(v0, zero), s.Not(whole))
	sin, cos := s.sinCosPi(s.Abs(v0))
	other := s.If(s.And(mixed, good), func() []val {
		k := s.secondModified(v, x, true)
		if scaled {
			e := vmath.Exp(b, s.Neg(x))
			k = s.Mul(s.Mul(k, e), e)
		} else {
			k = s.Mul(k, vmath.Exp(b, s.Neg(x)))
		}
		return []val{s.Mul(s.Mul(s.f(2/math.Pi), sin), k)}
	}, s.zeros(1))
	y = s.Select(mixed, s.Add(y, other[0]), y)
	floor := s.Floor(s.Abs(v0))
	edge := s.Select(s.Eq(s.parity(floor), s.f(0)), inf, s.Neg(inf))
	edge = s.Select(s.Eq(v0, zero), one, s.Select(mixed, edge, zero))
	end := inf
	if scaled {
		end = zero
	}
	y = s.Select(s.Eq(x0, zero), edge, s.Select(s.finite(x0), y, end))
	y = s.Select(s.Lt(x0, zero), s.checked(whole, s.timesZero(y, cos)), y)
	return s.checked(s.both(s.Eq(x0, x0), s.finite(v0)), y)
}

// hankelSeries is the sum of (-1)^k a_k(v)/x^k (DLMF 10.17.1).
func (s stream) hankelSeries(v, x val) val {
	fourth, over := s.Mul(s.f(4), s.sq(v)), s.Div(s.f(-1./8), x)
	r := s.While([]val{s.f(1), s.f(1), s.f(1)}, func(w []val) val {
		return s.both(s.Lt(s.Mul(s.Abs(w[0]), s.f(0x1p-56)), s.Abs(w[1])), s.Lt(w[2], s.f(maxFractionTerms)))
	}, func(w []val) []val {
		odd := s.Sub(s.Mul(s.f(2), w[2]), s.f(1))
		term := s.Mul(w[1], s.Mul(over, s.Div(s.Sub(fourth, s.sq(odd)), w[2])))
		return []val{s.Add(w[0], term), term, s.Add(w[2], s.f(1))}
	})
	return r[0]
}

// orderRatio is I of order v+1 over that of order v, by the recurrence downwards: from 0, or for large x, whose
// recurrence would take too long, from the first terms of the uniform expansion (DLMF 10.41), which are good to 1/x^2.
func (s stream) orderRatio(active, v, x val) val {
	uniform := s.Lt(s.f(1e8), x)
	steps := s.Select(uniform, s.f(8), s.Floor(s.Fma(s.f(7), s.Sqrt(x), s.f(30))))
	steps = s.Select(active, steps, s.f(0))
	over := s.Div(s.f(2), x)
	w := s.Add(v, steps)
	q := vmath.Hypot(s.bld, w, x)
	start := s.Sub(s.Div(x, s.Add(q, w)), s.Mul(s.f(0.5), s.Div(s.Div(x, q), q)))
	r := s.While([]val{s.Select(uniform, start, s.f(0)), steps}, func(w []val) val { return s.Lt(s.f(0), w[1]) }, func(w []val) []val {
		return []val{s.Div(s.f(1), s.Fma(s.Add(v, w[1]), over, w[0])), s.Sub(w[1], s.f(1))}
	})
	return r[0]
}
