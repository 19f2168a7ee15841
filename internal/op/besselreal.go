package op

import (
	"math"
	"slices"

	"weft/internal/vmath"
)

// Bessel functions of real order. An order v is mu + n with n whole and |mu| at most 1/2. Functions of orders
// mu and mu+1 come from N. M. Temme's series (Journal of Computational Physics 19, 1975, and 21, 1976) for x
// below 2, and from there on from integrals along the path of steepest descent, where the integrand is a bell
// and the trapezoidal rule takes 12 to 31 points. K has a sum instead of the integral. Recurrences in the order give the others, upwards where
// that is stable, downwards (J. C. P. Miller's algorithm, DLMF 3.6) where not.

const (
	// temmeBelow is where the series ends.
	temmeBelow = 2
	// maxSeriesTerms bounds the terms of power series in x*x/4. What they serve takes at most 150.
	maxSeriesTerms = 500
	// maxOrder bounds the orders of Jv and Yv, whose recurrences take a step for each.
	maxOrder = 10_000
	// bellEnd is the exponent at which a bell counts as 0.
	bellEnd = 38
)

// rgammaSeries are the coefficients of 1/gamma(1+z) in powers of z (DLMF 5.7.1).
var rgammaSeries = []float64{
	1, 0.5772156649015329, -0.6558780715202539, -0.04200263503409524, 0.16653861138229148, -0.04219773455554433, -0.009621971527876973,
	0.0072189432466631, -0.0011651675918590652, -0.00021524167411495098, 0.0001280502823881162, -2.013485478078824e-05, -1.2504934821426706e-06,
	1.133027231981696e-06, -2.056338416977607e-07, 6.116095104481416e-09, 5.002007644469223e-09, -1.18127457048702e-09, 1.0434267116911005e-10,
	7.782263439905071e-12, -3.696805618642206e-12,
}

// splitOrder returns mu and n of an order of at least 0.
func (s stream) splitOrder(v val) (mu, n val) {
	n = s.Floor(s.Add(v, s.f(0.5)))
	return s.Sub(v, n), n
}

// sinCosPi is the sine and the cosine of pi*x, exact at multiples of 1/2.
func (s stream) sinCosPi(x val) (sin, cos val) {
	n := s.Floor(s.Add(x, s.f(0.5)))
	mu := s.Sub(x, n)
	odd := s.parity(n)
	sign := s.Sub(s.f(1), s.Mul(s.f(2), odd))
	sin = vmath.Sin(s.bld, s.Mul(mu, s.f(math.Pi)))
	cos = vmath.Sin(s.bld, s.Mul(s.Sub(s.f(0.5), s.Abs(mu)), s.f(math.Pi)))
	return s.Mul(sign, sin), s.Mul(sign, cos)
}

// bell returns the integrals from 0 to infinity of functions f(w)*exp(-rate*w*w), which are even and have
// singularities at a distance of about width from the real line. Where active does not hold they are cheap.
func (s stream) bell(active, rate val, width float64, count int, f func(w val) []val) []val {
	// At w+iy the bell is up to exp(rate*y*y) greater, and the rule's error is that times exp(-2*pi*y/h): for
	// the best y, at most width.
	rate = s.Select(active, rate, s.f(1e4))
	h := s.Select(s.Lt(s.f(bellEnd/(width*width)), rate), s.Div(s.f(math.Pi/math.Sqrt(bellEnd)), s.Sqrt(rate)),
		s.Div(s.f(2*math.Pi*width), s.Fma(rate, s.f(width*width), s.f(bellEnd))))
	square := s.Mul(rate, s.sq(h))
	init := make([]val, count+1)
	for i, y := range f(s.f(0)) {
		init[i] = s.Mul(y, s.f(0.5))
	}
	init[count] = s.f(1)
	out := s.While(init, func(v []val) val { return s.Lt(s.Mul(square, s.sq(v[count])), s.f(bellEnd)) }, func(v []val) []val {
		k := v[count]
		e := vmath.Exp(s.bld, s.Neg(s.Mul(square, s.sq(k))))
		next := make([]val, count+1)
		for i, y := range f(s.Mul(h, k)) {
			next[i] = s.Fma(y, e, v[i])
		}
		next[count] = s.Add(k, s.f(1))
		return next
	})
	for i := range count {
		out[i] = s.Mul(out[i], h)
	}
	return out[:count]
}

// A temme holds what Temme's series of both kinds have in common.
type temme struct{ ff, p, q val }

// temmeStart is gamma(1+mu)*gamma(1-mu)*(gamma1*cosh(e) + gamma2*sinh(e)/e*ln(2/x)) with e = mu*ln(2/x), and
// e^e*gamma(1+mu), e^-e*gamma(1-mu).
func (s stream) temmeStart(mu, x val) temme {
	b, one := s.bld, s.f(1)
	n := len(rgammaSeries)
	even, odd := s.f(rgammaSeries[n-1]), s.f(rgammaSeries[n-2])
	z := s.sq(mu)
	for i := n - 3; i > 0; i -= 2 {
		even, odd = s.Fma(even, z, s.f(rgammaSeries[i])), s.Fma(odd, z, s.f(rgammaSeries[i-1]))
	}
	even = s.Fma(even, z, s.f(rgammaSeries[0]))
	// even is the sum of even powers, odd that of odd ones over mu.
	plus, minus := s.Fma(odd, mu, even), s.Fma(s.Neg(odd), mu, even)
	// Half of a denormal number would lose digits.
	ln := s.Sub(s.f(math.Ln2), vmath.Log(b, x))
	e := s.Mul(mu, ln)
	grow := s.Mul(vmath.Pow(b, x, s.Neg(mu)), vmath.Exp2(b, mu))
	back := s.Div(one, grow)
	square := s.sq(e)
	over := s.f(1. / 6227020800)
	for _, c := range []float64{1. / 39916800, 1. / 362880, 1. / 5040, 1. / 120, 1. / 6, 1} {
		over = s.Fma(over, square, s.f(c))
	}
	far := s.Lt(s.f(0.25), square)
	over = s.Select(far, s.Div(s.Mul(s.f(0.5), s.Sub(grow, back)), s.Select(far, e, one)), over)
	ff := s.Sub(s.Mul(s.Mul(even, over), ln), s.Mul(odd, s.Mul(s.f(0.5), s.Add(grow, back))))
	return temme{ff: s.Div(ff, s.Mul(plus, minus)), p: s.Div(grow, plus), q: s.Div(back, minus)}
}

// secondKindNear is Y of orders mu and mu+1, for x below 2.
func (s stream) secondKindNear(active, mu0, x0 val) (y, next val) {
	mu, x := s.Select(active, mu0, s.f(0)), s.Select(active, x0, s.f(1e-3))
	t := s.temmeStart(mu, x)
	half := s.Mul(mu, s.f(math.Pi/2))
	sinc := s.Select(s.Eq(mu, s.f(0)), s.f(1), s.Div(vmath.Sin(s.bld, half), s.Select(s.Eq(mu, s.f(0)), s.f(1), half)))
	r := s.Mul(s.Mul(s.f(math.Pi), half), s.sq(sinc))
	ff, p, q := s.Mul(t.ff, s.f(2/math.Pi)), s.Mul(t.p, s.f(1/math.Pi)), s.Mul(t.q, s.f(1/math.Pi))
	d := s.Neg(s.sq(s.Mul(x, s.f(0.5))))
	sum, sum1 := s.temmeSums(mu, d, ff, p, q, r)
	return s.Neg(sum), s.Neg(s.Div(s.Add(sum1, sum1), x))
}

// temmeSums adds up the series: of c*(ff + r*q) and of c*(p - k*(ff + r*q)).
func (s stream) temmeSums(mu, d, ff, p, q, r val) (sum, sum1 val) {
	square := s.sq(mu)
	start := s.Fma(r, q, ff)
	v := s.While([]val{start, p, ff, p, q, s.f(1), s.f(1), s.f(1)}, func(v []val) val {
		return s.both(s.Lt(s.Mul(s.Abs(v[0]), s.f(0x1p-56)), v[7]), s.Lt(v[6], s.f(60)))
	}, func(v []val) []val {
		k := v[6]
		rest := s.Fma(k, k, s.Neg(square))
		over := s.Div(s.f(1), s.Mul(k, rest))
		each := s.Mul(over, k) // 1/(k*k - mu*mu)
		ff := s.Mul(s.Fma(k, v[2], s.Add(v[3], v[4])), each)
		c := s.Mul(v[5], s.Mul(d, s.Mul(over, rest)))
		p, q := s.Mul(v[3], s.Mul(each, s.Add(k, mu))), s.Mul(v[4], s.Mul(each, s.Sub(k, mu)))
		del := s.Mul(c, s.Fma(r, q, ff))
		del1 := s.Sub(s.Mul(c, p), s.Mul(k, del))
		return []val{s.Add(v[0], del), s.Add(v[1], del1), ff, p, q, c, s.Add(k, s.f(1)), s.Add(s.Abs(del), s.Abs(del1))}
	})
	return v[0], v[1]
}

// modifiedSecond is exp(x)*K of orders mu and mu+1, for positive finite x.
func (s stream) modifiedSecond(mu, x val) (y, next val) {
	b, half := s.bld, s.f(0.5)
	near := s.Lt(x, s.f(modifiedFrom))
	low := s.If(near, func() []val {
		mu, x := s.Select(near, mu, s.f(0)), s.Select(near, x, s.f(1e-3))
		t := s.temmeStart(mu, x)
		sum, sum1 := s.temmeSums(mu, s.sq(s.Mul(x, half)), t.ff, s.Mul(t.p, half), s.Mul(t.q, half), s.f(0))
		e := vmath.Exp(b, x)
		return []val{s.Mul(sum, e), s.Div(s.Mul(sum1, s.Add(e, e)), x)}
	}, s.zeros(2))
	far := s.Not(near)
	high := s.If(far, func() []val {
		k, k1 := s.modifiedFar(far, mu, x)
		return []val{k, k1}
	}, s.zeros(2))
	return s.Select(near, low[0], high[0]), s.Select(near, low[1], high[1])
}

// modifiedFar is exp(x)*K of orders mu and mu+1, for x from modifiedFrom on, by J. C. P. Miller's algorithm for Kummer's
// functions u(n) = U(mu+1/2+n, 2mu+1, 2x) over n! (DLMF 13.3.7), where
//
//	u(n-1) = 2n*(n+x)*u(n) - n*(n+1)*e(n)*u(n+1), e(n) = (n+1/2)^2 - mu^2,
//
// and the sum of n!*c(n)*u(n) is (2x)^(-mu-1/2), where c(n+1) = e(n)/(n+1)*c(n) (N. M. Temme, Journal of Computational
// Physics 19, 1975). All terms are positive.
func (s stream) modifiedFar(active, mu0, x0 val) (y, next val) {
	one, half := s.f(1), s.f(0.5)
	mu, x := s.Select(active, mu0, s.f(0)), s.Select(active, x0, s.f(1e4))
	square := s.sq(mu)
	most := s.Min(x, s.f(1e25)) // beyond, the first term is all, and powers would overflow
	// Terms fall as exp(-2*sqrt(2*n*x)) where n is above x. Two of them are a step.
	last := s.Mul(s.f(2), s.Floor(s.Add(s.Div(s.f(modifiedTerms/2), x), s.f(5.2))))
	step := func(n, u, before, sum val) (val, val) {
		e := s.Sub(s.sq(s.Add(n, half)), square)
		sum = s.Fma(e, sum, u)
		by := s.Mul(s.Mul(n, s.Add(n, one)), e)
		return s.Fma(s.Mul(s.Add(n, n), s.Add(n, most)), u, s.Neg(s.Mul(by, before))), sum
	}
	v := s.While([]val{s.f(0x1p-1000), s.f(0), s.f(0), last}, func(v []val) val { return s.Lt(s.f(0), v[3]) }, func(v []val) []val {
		n := v[3]
		u1, sum := step(n, v[0], v[1], v[2])
		u2, sum := step(s.Sub(n, one), u1, v[0], sum)
		return []val{u2, u1, sum, s.Sub(n, s.f(2))}
	})
	e0 := s.Sub(s.f(0.25), square)
	over := s.Div(one, v[0])
	k := s.Div(s.Sqrt(s.Div(s.f(math.Pi/2), x)), s.Mul(s.Fma(e0, v[2], v[0]), over))
	ratio := s.Sub(s.Add(s.Add(mu, half), x), s.Mul(e0, s.Mul(v[1], over)))
	return k, s.Mul(k, s.Div(ratio, x))
}

const (
	// modifiedFrom is where [stream.modifiedFar] serves.
	modifiedFrom = 1.5
	// modifiedTerms over x is about the number of terms that it takes.
	modifiedTerms = 176
)

// hankel returns J and Y of orders mu and mu+1 for x from 2 on, as parts of
//
//	4/pi * exp(i*(x - mu*pi/2 - pi/4)) * integral of exp(-2*x*w*w)*cosh(mu*t)/sqrt(1+i*w*w),
//
// where sinh(t/2) = w*exp(i*pi/4): DLMF 10.9.10 along its path of steepest descent.
func (s stream) hankel(active, mu0, x0 val) (j, j1, y, y1 val) {
	b, half := s.bld, s.f(0.5)
	mu, x := s.Select(active, mu0, s.f(0)), s.Select(active, x0, s.f(1e4))
	r := s.bell(active, s.Mul(s.f(2), x), 0.62, 4, func(w val) []val {
		square := s.sq(w)
		m := s.Sqrt(s.Fma(square, square, s.f(1)))
		rootRe := s.Sqrt(s.Mul(half, s.Add(m, s.f(1))))
		rootIm := s.Div(s.Mul(half, square), rootRe)
		z := s.Mul(w, s.f(math.Sqrt2/2))
		re, im := s.Add(z, rootRe), s.Add(z, rootIm)
		// exp(t*mu)
		grow := vmath.Exp(b, s.Mul(mu, vmath.Log(b, s.Fma(re, re, s.sq(im)))))
		turn := s.Mul(s.Mul(s.f(2), mu), vmath.Atan(b, s.Div(im, re)))
		back := s.Div(s.f(1), grow)
		cosh, sinh := s.Mul(half, s.Add(grow, back)), s.Mul(half, s.Sub(grow, back))
		cos, sin := vmath.Cos(b, turn), vmath.Sin(b, turn)
		cRe, cIm := s.Mul(cosh, cos), s.Mul(sinh, sin)
		sRe, sIm := s.Mul(sinh, cos), s.Mul(cosh, sin)
		// Over the root, whose square has the magnitude m.
		over := s.Div(s.f(1), m)
		aRe := s.Mul(over, s.Fma(cRe, rootRe, s.Mul(cIm, rootIm)))
		aIm := s.Mul(over, s.Fma(cIm, rootRe, s.Neg(s.Mul(cRe, rootIm))))
		// cosh((mu+1)*t) = cosh(mu*t)*(1+2i*w*w) + sinh(mu*t)*2*z*root
		w2, z2 := s.Mul(s.f(2), square), s.Mul(s.f(2), z)
		bRe := s.Add(s.Fma(s.Neg(w2), aIm, aRe), s.Mul(z2, s.Sub(sRe, sIm)))
		bIm := s.Add(s.Fma(w2, aRe, aIm), s.Mul(z2, s.Add(sRe, sIm)))
		return []val{aRe, aIm, bRe, bIm}
	})
	phase := s.Mul(s.Fma(mu, half, s.f(0.25)), s.f(math.Pi))
	cosX, sinX, cosP, sinP := vmath.Cos(b, x), vmath.Sin(b, x), vmath.Cos(b, phase), vmath.Sin(b, phase)
	c := s.Mul(s.f(4/math.Pi), s.Fma(cosX, cosP, s.Mul(sinX, sinP)))
	d := s.Mul(s.f(4/math.Pi), s.Fma(sinX, cosP, s.Neg(s.Mul(cosX, sinP))))
	j, y = s.Fma(c, r[0], s.Neg(s.Mul(d, r[1]))), s.Fma(c, r[1], s.Mul(d, r[0]))
	// The next order is a quarter turn behind.
	j1, y1 = s.Fma(d, r[2], s.Mul(c, r[3])), s.Fma(d, r[3], s.Neg(s.Mul(c, r[2])))
	return j, j1, y, y1
}

// upwards is a function of order mu+n from the functions of orders mu and mu+1, by f(k+1) = 2k/x*f(k) + sign*f(k-1).
func (s stream) upwards(mu, n, x, f0, f1 val, sign float64) val {
	over := s.Div(s.f(2), x)
	v := s.While([]val{f0, f1, s.f(0)}, func(v []val) val { return s.Lt(v[2], n) }, func(v []val) []val {
		k := s.Add(v[2], s.f(1))
		by := s.Mul(s.Add(mu, k), over)
		return []val{v[1], s.Fma(by, v[1], s.Mul(s.f(sign), v[0])), k}
	})
	return v[0]
}

// downwards is J of order mu+n from the functions of orders mu and mu+1, for orders above x.
func (s stream) downwards(mu, n, x, j0, j1 val) val {
	over := s.Div(s.f(2), x)
	from := s.Floor(s.Add(n, s.Fma(s.f(8), vmath.Cbrt(s.bld, s.Add(n, s.f(1))), s.f(20))))
	const most = 0x1p600
	v := s.While([]val{s.f(0), s.f(0x1p-900), s.f(0), from}, func(v []val) val { return s.Lt(s.f(0), v[3]) }, func(v []val) []val {
		k := v[3]
		next := s.Fma(s.Mul(s.Add(mu, k), over), v[1], s.Neg(v[0])) // of order k-1
		at := s.Select(s.Eq(k, n), v[1], v[2])
		by := s.Select(s.Lt(s.f(most), s.Abs(next)), s.f(1/most), s.f(1))
		return []val{s.Mul(v[1], by), s.Mul(next, by), s.Mul(at, by), s.Sub(k, s.f(1))}
	})
	low := s.Lt(s.Abs(j0), s.Abs(j1))
	return s.Mul(s.Div(v[2], s.Select(low, v[0], v[1])), s.Select(low, j1, j0))
}

// powerOver is (x/2)^v/gamma(v+1).
func (s stream) powerOver(v, x val) val {
	b := s.bld
	half, next := s.Mul(x, s.f(0.5)), s.Add(v, s.f(1))
	// The rounding of v+1 would cost digits of gamma.
	small := s.Lt(v, s.f(1))
	gamma := s.Mul(s.Select(small, s.f(1), v), vmath.Gamma(b, s.Select(small, next, v)))
	// Half of a denormal number would lose digits.
	tiny := s.Lt(x, s.f(0x1p-1000))
	gamma = s.If(tiny, func() []val { return []val{s.Mul(gamma, vmath.Exp2(b, v))} }, func() []val { return []val{gamma} })[0]
	direct := s.Div(vmath.Pow(b, s.Select(tiny, x, half), v), gamma)
	return s.If(s.Lt(v, s.f(140)), func() []val { return []val{direct} }, func() []val {
		exact := s.both(s.Lt(s.f(140), v), s.Le(v, s.f(twofoldMost)), s.Lt(s.f(0), half))
		order, at := s.Select(exact, v, s.f(140)), s.Select(exact, half, s.f(1))
		wide := s.twoExp(s.twoPlus(s.twoTimes(s.twoLn(at), order), s.twoMinus(s.lgamma1p(order, s.f(0)))))
		return []val{s.Select(exact, wide, vmath.Exp(b, s.Sub(s.Mul(v, vmath.Log(b, half)), vmath.Lgamma(b, next))))}
	})[0]
}

// besselSeries is the sum of (sign*x*x/4)^k/(k!*(v+1)...(v+k)).
func (s stream) besselSeries(v, x val, sign float64) val {
	z := s.Mul(s.sq(x), s.f(sign/4))
	r := s.While([]val{s.f(1), s.f(1), s.f(1)}, func(w []val) val {
		return s.both(s.Lt(s.Mul(s.Abs(w[0]), s.f(0x1p-56)), s.Abs(w[1])), s.Lt(w[2], s.f(maxSeriesTerms)))
	}, func(w []val) []val {
		term := s.Mul(w[1], s.Div(z, s.Mul(w[2], s.Add(v, w[2]))))
		return []val{s.Add(w[0], term), term, s.Add(w[2], s.f(1))}
	})
	return r[0]
}

// besselJY is J or Y of real order.
func (s stream) besselJY(v0, x0 val, second bool) val {
	zero, one := s.f(0), s.f(1)
	whole := s.Eq(s.Floor(v0), v0)
	good := s.both(s.Lt(zero, s.Abs(x0)), s.finite(x0), s.Le(s.Abs(v0), s.f(maxOrder)))
	v, x := s.Select(good, s.Abs(v0), zero), s.Select(good, s.Abs(x0), one)
	negative := s.Lt(v0, zero)
	turn := s.If(s.Or(negative, s.Lt(x0, zero)), func() []val { sin, cos := s.sinCosPi(s.Abs(v0)); return []val{sin, cos} }, func() []val { return []val{zero, one} })
	sin, cos := turn[0], turn[1]
	// The other kind serves for negative orders that are not whole.
	needJ := s.f(1)
	if second {
		needJ = s.Select(s.And(negative, s.Not(whole)), one, zero)
	}
	needY := s.Select(s.Or(s.Eq(needJ, zero), s.And(negative, s.Not(whole))), one, zero)
	if second {
		needY = one
	}
	wantJ, wantY := s.Eq(needJ, one), s.Eq(needY, one)
	mu, n := s.splitOrder(v)
	series := s.Or(s.Lt(x, s.f(temmeBelow)), s.Lt(s.sq(x), s.Mul(s.f(2.4), s.Add(v, one))))
	near := s.Lt(x, s.f(temmeBelow))
	far := s.And(s.Not(near), s.Or(wantY, s.Not(series)))
	h := s.If(far, func() []val {
		j, j1, y, y1 := s.hankel(far, mu, x)
		return []val{j, j1, y, y1}
	}, s.zeros(4))
	bySeries := s.And(wantJ, series)
	low := s.If(bySeries, func() []val {
		v, x := s.Select(bySeries, v, one), s.Select(bySeries, x, s.f(1e-3))
		return []val{s.Mul(s.powerOver(v, x), s.besselSeries(v, x, -1))}
	}, s.zeros(1))
	up := s.both(wantJ, s.Not(series), s.Le(v, x))
	j := s.If(up, func() []val { return []val{s.upwards(mu, s.Select(up, n, zero), x, h[0], h[1], -1)} }, s.zeros(1))
	down := s.both(wantJ, s.Not(series), s.Lt(x, v))
	below := s.If(down, func() []val {
		return []val{s.downwards(s.Select(down, mu, zero), s.Select(down, n, zero), s.Select(down, x, s.f(1e3)), h[0], h[1])}
	}, s.zeros(1))
	first := s.Select(series, low[0], s.Select(s.Le(v, x), j[0], below[0]))
	small := s.And(wantY, near)
	start := s.If(small, func() []val { y, y1 := s.secondKindNear(small, mu, x); return []val{y, y1} }, s.zeros(2))
	y := s.If(wantY, func() []val {
		return []val{s.upwards(mu, s.Select(wantY, n, zero), x, s.Select(near, start[0], h[2]), s.Select(near, start[1], h[3]), -1)}
	}, s.zeros(1))[0]
	y = s.Select(s.Eq(y, y), y, s.f(math.Inf(-1))) // inf - inf beyond the range
	mixed := s.And(negative, s.Not(whole))
	parity := s.Select(whole, cos, one)
	if second {
		// Y(-v) = sin*J + cos*Y
		r := s.Select(mixed, s.Add(s.timesZero(sin, first), s.timesZero(cos, y)), s.Select(negative, s.Mul(parity, y), y))
		pole := s.Select(mixed, s.timesZero(cos, s.f(math.Inf(-1))), s.f(math.Inf(-1)))
		r = s.checked(s.Lt(zero, x0), r)
		r = s.Select(s.Eq(x0, s.f(math.Inf(1))), zero, s.Select(s.Eq(x0, zero), pole, r))
		return s.checked(s.both(s.Eq(x0, x0), s.Le(s.Abs(v0), s.f(maxOrder))), r)
	}
	r := s.Select(mixed, s.Sub(s.timesZero(cos, first), s.timesZero(sin, y)), s.Select(negative, s.Mul(parity, first), first))
	r = s.Select(s.Lt(x0, zero), s.checked(whole, s.Mul(parity, r)), r)
	// At 0 a negative order that is not whole has the sign of gamma(v0+1).
	floor := s.Floor(s.Abs(v0))
	edge := s.Select(s.Eq(s.parity(floor), s.f(0)), s.f(math.Inf(1)), s.f(math.Inf(-1)))
	edge = s.Select(s.Eq(v0, zero), one, s.Select(mixed, edge, zero))
	r = s.Select(s.Eq(x0, zero), edge, s.Select(s.finite(x0), r, zero))
	return s.checked(s.both(s.Eq(x0, x0), s.Le(s.Abs(v0), s.f(maxOrder))), r)
}

// zeros returns a branch of n zeros.
func (s stream) zeros(n int) func() []val {
	return func() []val { return slices.Repeat([]val{s.f(0)}, n) }
}

// timesZero is a*b, and 0 where a is 0.
func (s stream) timesZero(a, b val) val {
	return s.Select(s.Eq(a, s.f(0)), s.f(0), s.Mul(a, b))
}
