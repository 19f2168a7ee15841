package op

// Gauss' function by the radial coordinate v = x/(1+r)^2, r = sqrt(1-x), which maps the plane without its cut from 1 on
// to the unit disc (M. Hogervorst, S. Rychkov, Radial coordinates for conformal blocks, Phys. Rev. D 87, 2013): x of
// -2 and 0.95 are v of -0.27 and 0.63. With (1+v)^(2a) taken out the function of v solves Heun's equation with the
// singular points 0, 1, -1 and infinity (DLMF 31.2.1), so that its power series has a recurrence of three terms
// (DLMF 31.3.3):
//
//	(k+1)(k+c) t[k+1] = 2(2b-c)(k+a)v t[k] + (k-1+2a)(k+2a-c)v^2 t[k-1]
//
// Exchanging a and b, and Euler's transformation (DLMF 15.8.1), are chosen so that its factors are positive for large k.
const (
	// radialMost is the size of parameters, radialLeast the least c, and radialFar the size of v up to which the series serves.
	radialMost, radialLeast, radialFar = 25, 0.05, 0.9
	// radialLoss is the size of terms beside their sum from which the slower formulas are taken, radialLossNarrow where
	// the result has at most 24 bits.
	radialLoss, radialLossNarrow = 8, 0x1p13
	// radialMean is the mean number of terms, each weighted by its size, from which they are.
	radialMean, radialMeanNarrow = 24, 0x1p13
	// radialEnough is the size of the last term beside the sum.
	radialEnough, radialEnoughNarrow = 0x1p-57, 0x1p-38
	// maxRadialTerms bounds the terms. A v of 0.9 takes some 400.
	maxRadialTerms = 900
)

// gauss is Gauss' hypergeometric function.
func (s stream) gauss(a, b, c, x val) val {
	zero, one := s.f(0), s.f(1)
	size := s.Max(s.Max(s.Abs(a), s.Abs(b)), c)
	usual := s.both(s.Lt(s.f(radialLeast), c), s.Lt(size, s.f(radialMost)), s.Lt(x, one), s.Not(s.Or(s.ends(a), s.ends(b))))
	pick := func(x, otherwise val) val { return s.Select(usual, x, otherwise) }
	p := s.radialPoint(pick(x, zero))
	usual = s.And(usual, s.Lt(s.Abs(p.v), s.f(radialFar)))
	y, ok := s.radial(usual, pick(a, one), pick(b, one), pick(c, one), p)
	rest := s.Not(s.And(usual, ok))
	return s.If(rest, func() []val {
		pick := func(x, otherwise val) val { return s.Select(rest, x, otherwise) }
		return []val{s.gaussAnywhere(pick(a, one), pick(b, one), pick(c, one), pick(x, zero))}
	}, func() []val { return []val{y} })[0]
}

// A radialPoint is v, what it lacks relative to it, (1+r)/2 = 1/(1+v) and 1-x.
type radialPoint struct {
	v, low     val
	half, less twofold
}

func (s stream) radialPoint(x val) radialPoint {
	var p radialPoint
	one := s.f(1)
	p.less = s.differ(one, x)
	r := s.Sqrt(p.less.hi)
	hi, lo := s.exactly(one, r, s.Div(s.Add(s.Fma(s.Neg(r), r, p.less.hi), p.less.lo), s.Add(r, r)))
	p.half = twofold{s.Mul(hi, s.f(0.5)), s.Mul(lo, s.f(0.5))}
	square := s.sq(hi)
	p.v = s.Div(x, square)
	lost := s.Fma(s.Neg(p.v), s.Fma(hi, hi, s.Neg(square)), s.Fma(s.Neg(p.v), square, x))
	lost = s.Div(lost, s.Select(s.Eq(x, s.f(0)), one, x))
	p.low = s.Sub(lost, s.Div(s.Add(lo, lo), hi))
	return p
}

// radial is the series, and whether its terms do not cancel.
func (s stream) radial(active, a0, b0, c val, p radialPoint) (y, ok val) {
	zero, one, two := s.f(0), s.f(1), s.f(2)
	loss, mean, enough := s.f(radialLoss), s.f(radialMean), s.f(radialEnough)
	if s.narrow {
		loss, mean, enough = s.f(radialLossNarrow), s.f(radialMeanNarrow), s.f(radialEnoughNarrow)
	}
	left := s.Lt(p.v, zero)
	high, low := s.Max(a0, b0), s.Min(a0, b0)
	u, w := s.Select(left, high, low), s.Select(left, low, high)
	power := s.addTwofold(s.differ(c, u), twofold{s.Neg(w), zero})
	euler := s.Lt(zero, s.Select(left, s.Neg(power.hi), power.hi))
	a := s.selectTwofold(euler, s.differ(c, w), twofold{u, zero})
	aDouble, bDouble := s.Fma(two, u, s.Neg(c)), s.Fma(two, w, s.Neg(c))
	less := s.Select(euler, s.Neg(bDouble), aDouble) // 2a-c
	by := s.Mul(s.Mul(two, s.Select(euler, s.Neg(aDouble), bDouble)), p.v)
	a1, a2 := s.Mul(by, a.hi), s.Add(a.hi, a.hi)
	vv := s.sq(p.v)
	start := s.Select(active, one, zero)
	r := s.While([]val{zero, start, one, zero, zero, one}, func(t []val) val {
		return s.And(s.Lt(s.Mul(s.Abs(t[2]), enough), s.Max(s.Abs(t[0]), s.Abs(t[1]))), s.Lt(t[4], s.f(maxRadialTerms)))
	}, func(t []val) []val {
		k := t[4]
		k1, k2 := s.Add(k, one), s.Add(k, two)
		d1, d2 := s.Mul(k1, s.Add(k, c)), s.Mul(k2, s.Add(k1, c))
		inverse := s.Div(one, s.Mul(d1, d2))
		b1 := s.Mul(s.Mul(vv, s.Add(s.Sub(k, one), a2)), s.Add(k, less))
		b2 := s.Mul(s.Mul(vv, s.Add(k, a2)), s.Add(k1, less))
		n1 := s.Fma(s.Fma(by, k, a1), t[1], s.Mul(b1, t[0]))
		n2 := s.Fma(s.Fma(by, k1, a1), n1, s.Mul(s.Mul(b2, d1), t[1]))
		x, y := s.Mul(n1, s.Mul(d2, inverse)), s.Mul(n2, inverse)
		return []val{x, y, s.Add(t[2], s.Add(x, y)), s.Fma(k1, x, s.Fma(k2, y, t[3])), k2, s.Max(t[5], s.Max(s.Abs(x), s.Abs(y)))}
	})
	sum := s.Fma(r[3], p.low, r[2])
	exponent := func(power twofold, of twofold) twofold {
		ln := s.twoLn(of.hi)
		return s.mulTwofold(power, s.addTwofold(ln, twofold{s.Div(of.lo, of.hi), zero}))
	}
	none := twofold{zero, zero}
	front := exponent(twofold{s.Neg(a2), s.Mul(s.f(-2), a.lo)}, p.half)
	front = s.addTwofold(front, exponent(s.selectTwofold(euler, power, none), p.less))
	few := s.Lt(s.Abs(r[3]), s.Mul(s.Abs(sum), mean))
	return s.Mul(sum, s.twoExp(front)), s.both(few, s.Lt(r[5], s.Mul(s.Abs(sum), loss)), s.Lt(r[4], s.f(maxRadialTerms)))
}
