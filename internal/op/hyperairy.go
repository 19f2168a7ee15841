package op

import (
	"math"

	"weft/internal/vmath"
)

// Airy's functions of complex numbers. By 0 they are the power series of DLMF 9.4 in two floats, hypergeometric in
// z^3/9: the terms of Ai cancel by the positive real line. Far out they are the expansions of DLMF 9.7. With the
// expansions' A = exp(-zeta)*S(-1/zeta) and B = exp(zeta)*S(1/zeta), the connection formulas 9.2.11 and 9.2.12 make
// of them, in the upper half plane, Ai = A and Bi = 2*B+i*A up to the angle 2*pi/3, then Ai = A+i*B and Bi = B+i*A.
var airyParts [4]struct{ re, im *Def }

const (
	// airyFar is the length of z from which the expansions have all digits, airyFarRight that of Ai by the positive
	// real line, where the series cancels and needs a number with double the digits.
	airyFar, airyFarRight = 9.13, 8.6
	// airyTerms are the terms of the expansions.
	airyTerms = 36
	// airyWidest is the size of a part from which two floats do not hold the angle of the waves.
	airyWidest = 3e10
)

// airySums are the coefficients of the expansions, for functions and for derivatives, of even and of odd powers.
var airySums = func() (sums [2][2][]float64) {
	u := 1.0
	for k := range airyTerms {
		n := 6 * float64(k)
		if k > 0 {
			u = u * (n - 5) * (n - 3) * (n - 1) / (216 * float64(k) * float64(2*k-1))
		}
		sums[0][k%2] = append(sums[0][k%2], u)
		sums[1][k%2] = append(sums[1][k%2], u*(n+1)/(1-n))
	}
	return sums
}()

// airyStart are Ai(0) and -Ai'(0), and the root of 3 times each, in two floats.
var airyStart = [2][2][2]float64{
	{{0.3550280538878172, 2.05233632436212e-17}, {0.2588194037928068, -2.522243111610832e-17}},
	{{0.6149266274460007, 5.0899207794891416e-17}, {0.4482883573538264, -2.5363237774417305e-17}},
}

func init() {
	for i, name := range []string{"airy_ai", "airy_aip", "airy_bi", "airy_bip"} {
		slope, second := i%2 == 1, i >= 2
		d := &airyParts[i]
		// The derivative of the derivative is z times the function.
		by := func(v *VJP) pair {
			if !slope {
				return pair{Apply(airyParts[i+1].re, nil, v.X...), Apply(airyParts[i+1].im, nil, v.X...)}
			}
			w := pair{Apply(airyParts[i-1].re, nil, v.X...), Apply(airyParts[i-1].im, nil, v.X...)}
			return mulPairs(pair{v.X[0], v.X[1]}, w)
		}
		d.re = incomplete(name+", real", 2, func(s stream, x []val) val { re, _ := s.airy(x[0], x[1], slope, second); return re }, func(v *VJP) {
			v.Set(0, func() *node { return mul(v.DY, by(v).re) })
			v.Set(1, func() *node { return neg(mul(v.DY, by(v).im)) })
		})
		d.im = incomplete(name+", imaginary", 2, func(s stream, x []val) val { _, im := s.airy(x[0], x[1], slope, second); return im }, func(v *VJP) {
			v.Set(0, func() *node { return mul(v.DY, by(v).im) })
			v.Set(1, func() *node { return mul(v.DY, by(v).re) })
		})
		complexForms[name] = pairs(func(x []pair) pair {
			re, im := x[0].re, expand(x[0].im, x[0].re.Shape)
			return pair{Apply(d.re, nil, re, im), Apply(d.im, nil, re, im)}
		})
	}
}

// airy is Ai(x+iy) or its derivative, or the second function, Bi.
func (s stream) airy(x0, y0 val, slope, second bool) (re, im val) {
	zero, one := s.f(0), s.f(1)
	within := s.And(s.Le(s.Abs(x0), s.f(airyWidest)), s.Le(s.Abs(y0), s.f(airyWidest)))
	z := number{s.Select(within, x0, one), s.Select(within, s.Abs(y0), zero)}
	length := s.Fma(z.re, z.re, s.sq(z.im))
	far := s.Lt(s.f(airyFar*airyFar), length)
	if !second {
		right := s.Lt(z.im, s.Mul(s.f(math.Sqrt(3)), z.re))
		far = s.Or(far, s.And(right, s.Lt(s.f(airyFarRight*airyFarRight), length)))
	}
	wide := s.If(far, func() []val {
		w := s.airyAfar(number{s.Select(far, z.re, s.f(10)), s.Select(far, z.im, zero)}, slope, second)
		return []val{w.re, w.im}
	}, s.zeros(2))
	near := s.Not(far)
	close := s.If(near, func() []val {
		w := s.airyByZero(near, number{s.Select(near, z.re, zero), s.Select(near, z.im, zero)}, slope, second)
		return []val{w.re, w.im}
	}, s.zeros(2))
	re, im = s.Select(far, wide[0], close[0]), s.Select(far, wide[1], close[1])
	// Beyond, what falls to 0 or grows to infinity has its value.
	falls := s.both(s.Eq(y0, y0), s.Lt(s.f(airyWidest), s.Max(x0, s.Abs(y0))), s.Lt(s.Abs(y0), s.Mul(s.f(1.7), x0)))
	end := zero
	if second {
		falls = s.And(falls, s.Eq(y0, zero))
		end = s.f(math.Inf(1))
	}
	re = s.Select(within, re, s.checked(falls, end))
	im = s.Select(within, s.Mul(withSign(s.bld, one, y0), im), s.checked(falls, zero))
	// Real numbers have real values, or none.
	return re, s.Select(s.both(s.Eq(y0, zero), s.Eq(re, re)), y0, im)
}

// airyByZero is the function by its power series.
func (s stream) airyByZero(active val, z number, slope, second bool) number {
	constant := func(c [2]float64) twofold { return twofold{s.f(c[0]), s.f(c[1])} }
	start := airyStart[0]
	if second {
		start = airyStart[1]
	}
	third := func(n float64) twofold { return s.divTwofold(s.twofold(n), s.twofold(3)) }
	at := twofolds{twofold{z.re, s.f(0)}, twofold{z.im, s.f(0)}}
	square := s.mulTwofolds(at, at)
	w := s.scaleTwofolds(s.mulTwofolds(square, at), s.divTwofold(s.twofold(1), s.twofold(9)))
	first, other := third(2), third(4)
	if slope {
		first, other = third(5), third(1)
	}
	f := s.hyperTwofold(active, first, w)
	g := s.hyperTwofold(active, other, w)
	if slope {
		f = s.scaleTwofolds(s.mulTwofolds(square, f), s.twofold(0.5))
	} else {
		g = s.mulTwofolds(at, g)
	}
	g = s.scaleTwofolds(g, constant(start[1]))
	if !second {
		g = s.scaleTwofolds(g, s.twofold(-1))
	}
	y := s.addTwofolds(s.scaleTwofolds(f, constant(start[0])), g)
	return number{y.re.hi, y.im.hi}
}

// airyAfar is the function by its expansions, for an imaginary part of at least 0.
func (s stream) airyAfar(z number, slope, second bool) number {
	zero, one := s.f(0), s.f(1)
	// The root of z and zeta = 2/3*z^(3/2) in two floats.
	t := s.root(z)
	wide := func(z number) twofolds { return twofolds{twofold{z.re, zero}, twofold{z.im, zero}} }
	square := s.mulTwofolds(wide(t), wide(t))
	rest := s.addTwofolds(wide(z), s.scaleTwofolds(square, s.twofold(-1)))
	low := s.over(number{rest.re.hi, rest.im.hi}, number{s.Add(t.re, t.re), s.Add(t.im, t.im)})
	zeta := s.mulTwofolds(wide(z), s.addTwofolds(wide(t), wide(low)))
	zeta = s.scaleTwofolds(zeta, s.divTwofold(s.twofold(2), s.twofold(3)))
	r := s.over(number{one, zero}, number{zeta.re.hi, zeta.im.hi})
	sums := airySums[0]
	if slope {
		sums = airySums[1]
	}
	squared := s.times(r, r)
	even, odd := s.realSeries(squared, sums[0]), s.times(r, s.realSeries(squared, sums[1]))
	quarter := s.root(t)
	by := quarter
	if !slope {
		by = s.over(number{one, zero}, quarter)
	}
	by = number{s.Mul(s.f(0.5/math.Sqrt(math.Pi)), by.re), s.Mul(s.f(0.5/math.Sqrt(math.Pi)), by.im)}
	turn := s.angle(zeta.im)
	// The exponential is taken in halves, which overflow later than it.
	expanded := func(sum number, sign float64) number {
		e := vmath.Exp(s.bld, s.Mul(s.f(sign*0.5), zeta.re.hi))
		w := s.times(s.times(by, sum), number{turn.re, s.Mul(s.f(sign), turn.im)})
		low := s.Mul(s.f(sign), zeta.re.lo)
		w = number{s.Fma(w.re, low, w.re), s.Fma(w.im, low, w.im)}
		return number{s.timesZero(s.timesZero(w.re, e), e), s.timesZero(s.timesZero(w.im, e), e)}
	}
	falls, grows := expanded(s.minus(even, odd), -1), expanded(s.plus(even, odd), 1)
	left := s.both(s.Lt(z.re, zero), s.Lt(z.im, s.Mul(s.f(-math.Sqrt(3)), z.re)))
	sign := one
	if slope {
		sign = s.f(-1)
	}
	falls = number{s.Mul(sign, falls.re), s.Mul(sign, falls.im)}
	if second {
		count := s.Select(left, one, s.f(2))
		return number{s.Sub(s.Mul(count, grows.re), falls.im), s.Add(s.Mul(count, grows.im), falls.re)}
	}
	return number{s.Sub(falls.re, s.Select(left, grows.im, zero)), s.Add(falls.im, s.Select(left, grows.re, zero))}
}
