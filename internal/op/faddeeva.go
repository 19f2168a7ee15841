package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/vmath"
)

// Faddeeva's function w(z) = exp(-z*z)*erfc(-iz) and what follows from it. It is the trapezoidal rule for
// the integral of DLMF 7.7.2 with a term for the pole that the rule has passed (M. Al Azah, S. N.
// Chandler-Wilde, Computation of the complex error function using modified trapezoidal rules, SIAM J. Numer.
// Anal. 59, 2021). With steps of 1/2 its error is exp(-4*pi^2). Points lie at multiples of 1/2 or between, on
// that side of z which is further away. The terms of the real part are positive, so that it has its digits where
// the imaginary part is much greater.
var (
	// WofzReal and WofzImag take the parts of z: the parts of w(z).
	WofzReal, WofzImag *Def
	// Wofz is w of complex or real numbers.
	Wofz *Def
	// VoigtProfile takes x, sigma and gamma.
	VoigtProfile *Def
	// Erfi is the imaginary error function.
	Erfi *Def
)

const (
	// wofzPoints are the points of the rule on one side. Beyond them exp(-t*t) is below 1e-17.
	wofzPoints = 13
	// wofzFar is the length of z from which w is i/(sqrt(pi)*z).
	wofzFar = 1e8
	// wofzSlopeFar is the length of z from which derivatives are wofzTerms terms of their expansions.
	wofzSlopeFar, wofzTerms = 30, 7
	// bellMost is a size whose square is finite.
	bellMost = 1e150
	// rootTwoLow is the root of 2 less its nearest float64.
	rootTwoLow = -9.667293313452913e-17
)

func init() {
	domains := Conformance{Domains: [][2]float64{{-3, 3}, {-0.5, 3}}}
	slopes := func(x, y *node) (re, im *node) {
		w := pair{Apply(WofzReal, nil, x, y), Apply(WofzImag, nil, x, y)}
		d := wofzSlope(pair{x, y}, w)
		return d.re, d.im
	}
	WofzReal = wideSpecial("wofz_real", 400, "The real part of Faddeeva's function of x+iy.", domains,
		func(s stream, x []val) val { re, _ := s.wofz(x[0], x[1]); return re }, func(v *VJP) {
			v.Set(0, func() *node { re, _ := slopes(v.X[0], v.X[1]); return mul(v.DY, re) })
			v.Set(1, func() *node { _, im := slopes(v.X[0], v.X[1]); return neg(mul(v.DY, im)) })
		})
	WofzImag = wideSpecial("wofz_imag", 400, "The imaginary part of Faddeeva's function of x+iy.", domains,
		func(s stream, x []val) val { _, im := s.wofz(x[0], x[1]); return im }, func(v *VJP) {
			v.Set(0, func() *node { _, im := slopes(v.X[0], v.X[1]); return mul(v.DY, im) })
			v.Set(1, func() *node { re, _ := slopes(v.X[0], v.X[1]); return mul(v.DY, re) })
		})
	Wofz = unlisted(Def{Name: "wofz", Class: Composite, Arity: 1, Doc: "Faddeeva's function.",
		Composed: Composed{Compose: func(x []*node, _ ir.Attrs) *node {
			z := inComplex(x[0])
			return join2(Apply(WofzReal, nil, z.re, z.im), Apply(WofzImag, nil, z.re, z.im))
		}}})
	VoigtProfile = wideSpecial("voigt_profile", 450, "The density of the sum of a normal and a Cauchy number.", Conformance{Domains: [][2]float64{{-3, 3}, {0.5, 2}, {0.1, 2}}},
		func(s stream, x []val) val { return s.voigt(x[0], x[1], x[2]) }, func(v *VJP) {
			x, sigma, gamma := v.X[0], v.X[1], v.X[2]
			// With z = (x+i*gamma)/(sigma*sqrt(2)) and the profile Re(w)/(sigma*sqrt(2*pi)), or Cauchy's density
			// gamma/(pi*(x^2+gamma^2)).
			none := apply(Eq, sigma, num(sigma, 0))
			width := where(none, one(sigma), sigma)
			parts := func(order int) pair {
				d := scale(width, math.Sqrt2)
				z := pair{div(x, d), div(gamma, d)}
				w := pair{Apply(WofzReal, nil, z.re, z.im), Apply(WofzImag, nil, z.re, z.im)}
				to := wofzSlope(z, w)
				if order == 2 {
					to = wofzBend(z, w, to)
				}
				by := div(num(sigma, math.Pow(2, -float64(order)/2)/math.Sqrt(2*math.Pi)), width)
				for range order {
					by = div(by, width)
				}
				return pair{mul(to.re, by), mul(to.im, by)}
			}
			square := mul(x, x)
			length := where(none, add(square, mul(gamma, gamma)), one(x)) // of x = gamma = 0 it would not divide
			cauchy := func(top *node, by float64) *node { return scale(div(top, mul(length, length)), by/math.Pi) }
			v.Set(0, func() *node { return mul(v.DY, where(none, cauchy(mul(x, gamma), -2), parts(1).re)) })
			v.Set(1, func() *node {
				// The derivative is sigma times the second one by x.
				bend := div(cauchy(mul(gamma, sub(scale(square, 3), mul(gamma, gamma))), 2), length)
				return mul(v.DY, mul(sigma, where(none, bend, parts(2).re)))
			})
			v.Set(2, func() *node {
				return mul(v.DY, where(none, cauchy(sub(square, mul(gamma, gamma)), 1), neg(parts(1).im)))
			})
		})
	Erfi = wideSpecial("erfi", 120, "The imaginary error function, erf(ix)/i.", Conformance{Domains: [][2]float64{{}}},
		func(s stream, x []val) val { return s.erfi(x[0]) }, func(v *VJP) {
			x := v.X[0]
			v.Set(0, func() *node { return mul(v.DY, scale(apply(Exp, mul(x, x)), 2/math.Sqrt(math.Pi))) })
		})
}

// wofzSlope is the derivative of w at z, 2i/sqrt(pi) - 2*z*w.
func wofzSlope(z, w pair) pair {
	p := mulPairs(z, w)
	return wofzAfar(z, 1, pair{scale(p.re, -2), sub(num(p.im, 2/math.Sqrt(math.Pi)), scale(p.im, 2))})
}

// wofzBend is the second derivative of w at z; slope is the first one.
func wofzBend(z, w, slope pair) pair {
	return wofzAfar(z, 2, scalePair(addPairs(w, mulPairs(z, slope)), -2))
}

// wofzAfar is a derivative of w of an order of 1 or 2: near, whose terms cancel far from 0, or there in the upper half
// plane the derivative of w = i/sqrt(pi) times the sum of (2k-1)!!/2^k/z^(2k+1) (DLMF 7.12.1).
func wofzAfar(z pair, order int, near pair) pair {
	length := add(mul(z.re, z.re), mul(z.im, z.im))
	far := apply(LogicalAnd, apply(Ge, z.im, num(z.im, 0)), apply(Gt, length, num(length, wofzSlopeFar*wofzSlopeFar)))
	at := pair{where(far, z.re, num(z.re, wofzSlopeFar)), where(far, z.im, num(z.im, 0))}
	r := divPairs(pair{one(at.re), num(at.re, 0)}, at)
	square := mulPairs(r, r)
	var coefs [wofzTerms]float64
	c := 1 / math.Sqrt(math.Pi)
	for k := range coefs {
		n := float64(2 * k)
		coefs[k] = -c * (n + 1)
		if order == 2 {
			coefs[k] *= -(n + 2)
		}
		c *= (n + 1) / 2
	}
	sum := pair{num(at.re, coefs[wofzTerms-1]), num(at.re, 0)}
	for k := wofzTerms - 2; k >= 0; k-- {
		sum = mulPairs(sum, square)
		sum.re = add(sum.re, num(at.re, coefs[k]))
	}
	sum = timesI(mulPairs(sum, square))
	if order == 2 {
		sum = mulPairs(sum, r)
	}
	return pair{where(far, sum.re, near.re), where(far, sum.im, near.im)}
}

// inComplex is x in parts, of float64 for float64 and complex128, or else of float32.
func inComplex(x *node) pair {
	part := array.Float32
	if x.DType.Part() == array.Float64 {
		part = array.Float64
	}
	p := pairOf(x, part)
	p.im = expand(p.im, p.re.Shape)
	return p
}

// A bellAt is exp(-z*z) of z = x+iy.
type bellAt struct{ size, cos, sin val } // size*(cos - i*sin)

// bellOf is exp(-z*z) with all digits: the roundings of the exponent's parts, of x and of y are taken along.
func (s stream) bellOf(x, y, xLow, yLow val) bellAt {
	xx, yy, xy := s.sq(x), s.sq(y), s.Mul(x, y)
	rest := func(p, a, b val) val { return s.Fma(a, b, s.Neg(p)) }
	d, lost := s.difference(yy, xx)
	two := s.f(2)
	low := s.Add(lost, s.Sub(rest(yy, y, y), rest(xx, x, x)))
	low = s.Fma(two, s.Fma(y, yLow, s.Neg(s.Mul(x, xLow))), low)
	d, low = s.exactly(d, low)
	e := vmath.Exp(s.bld, d)
	size := s.Select(s.both(s.finite(e), s.Lt(s.f(0), e)), s.Fma(e, low, e), e)
	turn, turnLow := s.Mul(two, xy), s.Mul(two, s.Fma(x, yLow, s.Fma(y, xLow, rest(xy, x, y))))
	cos, sin := vmath.Cos(s.bld, turn), vmath.Sin(s.bld, turn)
	// The rounding of a large angle is an angle itself.
	large := s.Lt(s.f(1e-8), s.Abs(turnLow))
	part := s.If(large, func() []val {
		return []val{vmath.Cos(s.bld, turnLow), vmath.Sin(s.bld, turnLow)}
	}, func() []val { return []val{s.f(1), turnLow} })
	return bellAt{size, s.Fma(s.Neg(part[1]), sin, s.Mul(part[0], cos)), s.Fma(part[1], cos, s.Mul(part[0], sin))}
}

// wofz is w(x+iy).
func (s stream) wofz(x, y val) (re, im val) { return s.wofzOf(x, y, s.f(0), s.f(0)) }

// wofzOf is w of parts that have roundings.
func (s stream) wofzOf(x0, y0, xLow, yLow val) (re, im val) {
	zero, one := s.f(0), s.f(1)
	number := s.both(s.Eq(x0, x0), s.Eq(y0, y0))
	x, y := s.Select(number, s.Abs(x0), one), s.Select(number, s.Abs(y0), one)
	a, b := s.Min(x, s.f(wofzFar)), s.Min(y, s.f(wofzFar))
	mirrored := func(x, low val) val { return s.Select(s.Lt(x, zero), s.Neg(low), low) }
	e := s.bellOf(s.Min(x, s.f(bellMost)), s.Min(y, s.f(bellMost)), mirrored(x0, xLow), mirrored(y0, yLow))
	re, im = s.wofzAbove(a, b, e)
	far := s.Or(s.Lt(s.f(wofzFar), x), s.Lt(s.f(wofzFar), y))
	// i/(sqrt(pi)*z), scaled by the greater part, where that is infinite 0.
	most := s.Max(x, y)
	u, v := s.Div(x, most), s.Div(y, most)
	by := s.Div(s.Div(s.f(1/math.Sqrt(math.Pi)), most), s.Fma(u, u, s.sq(v)))
	endless := s.Eq(most, s.f(math.Inf(1)))
	part := func(u val) val { return s.Select(endless, zero, s.Mul(u, by)) }
	re, im = s.Select(far, part(v), re), s.Select(far, part(u), im)
	// Below the real line w(z) = 2*exp(-z*z) - w(-z).
	below := s.Lt(y0, zero)
	left := s.Lt(x0, zero)
	twice := s.Mul(s.f(2), e.size)
	re = s.Select(below, s.Sub(s.timesZero(e.cos, twice), re), re)
	im = s.Select(below, s.Add(s.timesZero(e.sin, twice), im), im)
	im = s.Select(left, s.Neg(im), im)
	// The exponential of what is infinite in two directions has none.
	lost := s.both(below, endless, s.Eq(y, most), s.Lt(zero, x))
	ok := s.both(number, s.Not(lost))
	return s.checked(s.Or(ok, s.both(s.Eq(x0, zero), s.Not(lost))), s.Select(number, re, s.f(math.NaN()))), s.Select(s.Eq(x0, zero), x0, s.checked(ok, im))
}

// wofzAbove is w(x+iy) for numbers from 0 to wofzFar, where e is exp(-z*z).
func (s stream) wofzAbove(x, y val, e bellAt) (re, im val) {
	zero, one := s.f(0), s.f(1)
	// The distance of x to the nearest multiple of 1/2.
	r := s.Sub(x, s.Mul(s.f(0.5), s.Floor(s.Fma(s.f(2), x, s.f(0.5)))))
	whole := s.And(s.Lt(s.f(0.125), s.Abs(r)), s.Lt(y, x)) // points are multiples of 1/2
	xx, yy := s.sq(x), s.sq(y)
	square := s.Add(xx, yy)
	offset := s.Select(whole, zero, s.f(0.25))
	sumRe, sumIm := zero, zero
	for k := range wofzPoints {
		at := float64(k) / 2
		w, mid := math.Exp(-at*at), math.Exp(-(at+0.25)*(at+0.25))
		if k == 0 {
			w = 0.5
		}
		t := s.Add(offset, s.f(at))
		below, above := s.Sub(x, t), s.Add(x, t)
		by := s.Div(s.Select(whole, s.f(w), s.f(mid)), s.Mul(s.Fma(below, below, yy), s.Fma(above, above, yy)))
		tt := s.sq(t)
		sumRe, sumIm = s.Fma(by, s.Add(square, tt), sumRe), s.Fma(by, s.Sub(square, tt), sumIm)
	}
	re, im = s.Mul(s.Mul(y, s.f(1/math.Pi)), sumRe), s.Mul(s.Mul(x, s.f(1/math.Pi)), sumIm)
	// The pole's term 2*exp(-z*z)/(1 +- exp(-4*pi*i*z)), while the rule's points are above it.
	inside := s.And(s.Lt(y, s.f(2*math.Pi)), s.Lt(x, s.f(28)))
	sign := s.Select(whole, s.f(-1), one)
	b := s.Select(inside, y, zero)
	shrink := vmath.Exp(s.bld, s.Mul(s.f(-4*math.Pi), b))
	turn := s.Mul(s.f(4*math.Pi), r)
	cos, sin := s.Mul(sign, vmath.Cos(s.bld, turn)), s.Mul(sign, vmath.Sin(s.bld, turn))
	rise := s.Add(shrink, cos)
	size := s.Mul(s.f(2), s.Div(s.Mul(e.size, shrink), s.Fma(rise, rise, s.sq(sin))))
	poleRe := s.Mul(size, s.Fma(rise, e.cos, s.Mul(sin, e.sin)))
	poleIm := s.Mul(size, s.Fma(sin, e.cos, s.Neg(s.Mul(rise, e.sin))))
	return s.Add(re, s.Select(inside, poleRe, zero)), s.Add(im, s.Select(inside, poleIm, zero))
}

// voigt is the profile of x for a normal number's deviation sigma and a Cauchy number's half width gamma.
func (s stream) voigt(x, sigma, gamma val) val {
	zero, one := s.f(0), s.f(1)
	none := s.Eq(sigma, zero)
	by := s.Select(none, one, sigma)
	d := s.Mul(by, s.f(math.Sqrt2))
	dLow := s.Fma(by, s.f(rootTwoLow), s.Fma(by, s.f(math.Sqrt2), s.Neg(d)))
	over := func(x val) (q, low val) {
		q = s.Div(x, d)
		low = s.Div(s.Fma(s.Neg(q), dLow, s.Fma(s.Neg(q), d, x)), d)
		return q, s.Select(s.And(s.Lt(s.Abs(q), s.f(1e3)), s.Eq(low, low)), low, zero)
	}
	u, uLow := over(x)
	v, vLow := over(gamma)
	re, _ := s.wofzOf(u, v, uLow, vLow)
	y := s.Div(s.Mul(re, s.f(1/math.Sqrt(2*math.Pi))), by)
	// Cauchy's density, and that of no width.
	size := s.Max(s.Abs(x), s.Abs(gamma))
	u, v = s.Div(x, size), s.Div(gamma, size)
	cauchy := s.Div(s.Div(s.Mul(v, s.f(1/math.Pi)), size), s.Fma(u, u, s.sq(v)))
	cauchy = s.Select(s.Eq(s.Abs(x), s.f(math.Inf(1))), zero, cauchy)
	point := s.Select(s.Eq(x, zero), s.f(math.Inf(1)), s.Select(s.Eq(x, x), zero, x))
	return s.Select(none, s.Select(s.Eq(gamma, zero), point, cauchy), y)
}

// erfi is 2/sqrt(pi)*exp(x*x)*dawsn(x): the exponential in two halves, which overflow later.
func (s stream) erfi(x val) val {
	a := s.Min(s.Abs(x), s.f(40))
	p := s.sq(a)
	low := s.Fma(a, a, s.Neg(p))
	e := vmath.Exp(s.bld, s.Mul(p, s.f(0.5)))
	e2 := s.Fma(e, low, e)
	y := s.Mul(s.Mul(s.Mul(s.f(2/math.Sqrt(math.Pi)), vmath.Dawsn(s.bld, x)), e), e2)
	return s.Select(s.Lt(s.Abs(x), s.f(30)), y, s.Mul(x, s.f(math.Inf(1))))
}
