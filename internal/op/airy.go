package op

import (
	"math"

	"weft/internal/vmath"
)

// Airy's functions of real numbers (DLMF chapter 9). From airySeriesFrom to airySeriesTo they are their power series
// (DLMF 9.4). Below they are Hankel's functions of orders 1/3 and 2/3, and above Ai is the modified function of the
// second kind (DLMF 9.6.2 to 9.6.9). There Bi, which is a sum of positive terms, is its series up to
// airyFar, and beyond the expansion of DLMF 9.7.7.
var AiryAi, AiryAip, AiryBi, AiryBip *Def

const (
	airySeriesFrom, airySeriesTo = -2.1, 0.5
	// airyFar is where the terms of the expansion have fallen below the last digit.
	airyFar = 10
	// twoThirdsLow is 2/3 less its nearest float64.
	twoThirdsLow = 3.700743415417188e-17
	// airyMost is the size from which x^(3/2) might overflow.
	airyMost = 1e200
	// maxAiryTerms bounds the terms of the series.
	maxAiryTerms = 80
)

func init() {
	for i, f := range []struct {
		def       **Def
		name, doc string
	}{
		{&AiryAi, "airy_ai", "Airy's function Ai."}, {&AiryAip, "airy_aip", "The derivative of Airy's function Ai."},
		{&AiryBi, "airy_bi", "Airy's function Bi."}, {&AiryBip, "airy_bip", "The derivative of Airy's function Bi."},
	} {
		*f.def = wideSpecial(f.name, 1500, f.doc, Conformance{Domains: [][2]float64{{-4, 3}}},
			func(s stream, x []val) val { return s.airy(x[0], i >= 2, i%2 == 1) }, func(v *VJP) {
				v.Set(0, func() *node {
					switch f.def {
					case &AiryAi:
						return mul(v.DY, apply(AiryAip, v.X[0]))
					case &AiryBi:
						return mul(v.DY, apply(AiryBip, v.X[0]))
					case &AiryAip:
						return mul(v.DY, mul(v.X[0], apply(AiryAi, v.X[0])))
					}
					return mul(v.DY, mul(v.X[0], apply(AiryBi, v.X[0])))
				})
			})
	}
}

// airySums are Ai, Ai', Bi and Bi' by their power series.
func (s stream) airySums(active, x0 val) (ai, aip, bi, bip val) {
	one := s.f(1)
	x := s.Select(active, x0, s.f(0))
	square := s.sq(x)
	cube := s.Mul(square, x)
	// What the cube's roundings make: its relative error, by which x is wrong a third.
	lost := s.Add(s.Mul(s.Fma(x, x, s.Neg(square)), x), s.Fma(square, x, s.Neg(cube)))
	less := s.Select(s.Eq(cube, s.f(0)), s.f(0), s.Div(lost, s.Mul(cube, s.f(3))))
	first := s.Mul(square, s.f(0.5))
	v := s.While([]val{one, one, one, one, first, first, one, one, one}, func(v []val) val {
		size := s.Max(s.Max(s.Abs(v[1]), s.Abs(v[3])), s.Max(s.Abs(v[5]), s.Abs(v[7])))
		return s.And(s.Lt(s.f(0x1p-58), size), s.Lt(v[8], s.f(maxAiryTerms)))
	}, func(v []val) []val {
		k := s.Mul(v[8], s.f(3))
		less, more, two := s.Sub(k, one), s.Add(k, one), s.Add(k, s.f(2))
		f := s.Mul(v[1], s.Div(cube, s.Mul(less, k)))
		g := s.Mul(v[3], s.Div(cube, s.Mul(k, more)))
		df := s.Mul(v[5], s.Div(cube, s.Mul(k, two)))
		dg := s.Mul(v[7], s.Div(cube, s.Mul(k, s.Sub(k, s.f(2)))))
		return []val{s.Add(v[0], f), f, s.Add(v[2], g), g, s.Add(v[4], df), df, s.Add(v[6], dg), dg, s.Add(v[8], one)}
	})
	const c1, c2 = 0.35502805388781724, 0.2588194037928068
	f, g, df, dg := v[0], s.Mul(v[2], x), v[4], v[6]
	sum := func(f, g val, by, sign float64) val { return s.Fma(s.f(by*c1), f, s.Mul(s.f(sign*by*c2), g)) }
	ai, aip = sum(f, g, 1, -1), sum(df, dg, 1, -1)
	bi, bip = sum(f, g, math.Sqrt(3), 1), sum(df, dg, math.Sqrt(3), 1)
	step := s.Mul(x, less)
	up := s.Mul(square, less)
	return s.Fma(step, aip, ai), s.Fma(up, ai, aip), s.Fma(step, bip, bi), s.Fma(up, bi, bip)
}

// airy is Ai or Bi, or its derivative.
func (s stream) airy(x0 val, second, derivative bool) val {
	b, zero := s.bld, s.f(0)
	a := s.Min(s.Abs(x0), s.f(airyMost))
	// zeta = 2/3*a^(3/2) and what it lacks.
	root := s.Sqrt(a)
	rootLow := s.Div(s.Fma(s.Neg(root), root, a), s.Max(s.Add(root, root), s.f(1e-300)))
	p := s.Mul(a, root)
	pLow := s.Fma(a, rootLow, s.Fma(a, root, s.Neg(p)))
	zeta := s.Mul(p, s.f(2./3))
	low := s.Fma(p, s.f(twoThirdsLow), s.Fma(pLow, s.f(2./3), s.Fma(p, s.f(2./3), s.Neg(zeta))))
	pick := func(value, slope val) val {
		if derivative {
			return slope
		}
		return value
	}
	// The series.
	to := airySeriesTo
	if second {
		to = airyFar
	}
	near := s.both(s.Le(s.f(airySeriesFrom), x0), s.Le(x0, s.f(to)))
	series := s.If(near, func() []val {
		ai, aip, bi, bip := s.airySums(near, x0)
		if second {
			return []val{pick(bi, bip)}
		}
		return []val{pick(ai, aip)}
	}, s.zeros(1))[0]
	// Waves.
	left := s.Lt(x0, s.f(airySeriesFrom))
	wave := s.If(left, func() []val {
		j, j1, y, y1 := s.hankel(left, s.f(-1./3), s.Select(left, zeta, s.f(10)))
		if derivative {
			j, y = j1, y1
		}
		lowSin, lowCos := vmath.Sin(b, low), vmath.Cos(b, low)
		j, y = s.Fma(s.Neg(lowSin), y, s.Mul(lowCos, j)), s.Fma(lowSin, j, s.Mul(lowCos, y))
		cos, sin := s.f(math.Sqrt(3)/2), s.f(0.5)
		if second {
			cos, sin = sin, s.Neg(cos)
		}
		h := s.Fma(cos, j, s.Mul(sin, y))
		return []val{s.Mul(h, pick(s.Mul(root, s.f(1/math.Sqrt(3))), s.Mul(a, s.f(1/math.Sqrt(3)))))}
	}, s.zeros(1))[0]
	right := s.Lt(s.f(to), x0)
	at := s.Select(right, zeta, s.f(10))
	e := vmath.Exp(b, s.Mul(s.Min(zeta, s.f(1500)), s.f(0.5)))
	var far val
	if second {
		far = s.If(right, func() []val { return []val{s.airyExpansion(right, at, derivative)} }, s.zeros(1))[0]
		quarter := s.Sqrt(root)
		y := s.Mul(s.Mul(s.Mul(far, s.f(1/math.Sqrt(math.Pi))), e), s.Fma(e, s.Select(s.Lt(zeta, s.f(1500)), low, zero), e))
		far = pick(s.Div(y, quarter), s.Mul(y, quarter))
	} else {
		far = s.If(right, func() []val {
			y, next := s.modifiedSecond(s.f(-1./3), at)
			return []val{pick(y, next)}
		}, s.zeros(1))[0]
		by := pick(s.Mul(root, s.f(1/(math.Sqrt(3)*math.Pi))), s.Mul(a, s.f(-1/(math.Sqrt(3)*math.Pi))))
		far = s.Div(s.Div(s.Mul(s.Mul(far, by), s.Sub(s.f(1), s.Select(s.Lt(zeta, s.f(1500)), low, zero))), e), e)
	}
	y := s.Select(left, wave, s.Select(right, far, series))
	if second {
		y = s.Select(s.Lt(s.f(200), x0), s.f(math.Inf(1)), y)
	} else {
		y = s.Select(s.Lt(s.f(200), x0), zero, y)
	}
	return s.checked(s.both(s.Eq(x0, x0), s.Le(s.f(-airyMost), x0)), y)
}

// airyExpansion is the sum of u(k)/zeta^k, or of v(k)/zeta^k for the derivative (DLMF 9.7.2).
func (s stream) airyExpansion(active, zeta val, derivative bool) val {
	one := s.f(1)
	over := s.Div(s.f(1./216), zeta)
	v := s.While([]val{one, s.Select(active, one, s.f(0)), one}, func(v []val) val {
		return s.And(s.Lt(s.f(0x1p-56), s.Abs(v[1])), s.Lt(v[2], s.f(maxAiryTerms)))
	}, func(v []val) []val {
		k := v[2]
		six := s.Mul(k, s.f(6))
		up := s.Mul(s.Mul(s.Sub(six, s.f(5)), s.Sub(six, s.f(3))), s.Sub(six, one))
		u := s.Mul(s.Mul(v[1], over), s.Div(up, s.Mul(k, s.Sub(s.Add(k, k), one))))
		add := u
		if derivative {
			add = s.Mul(u, s.Div(s.Add(six, one), s.Sub(one, six)))
		}
		return []val{s.Add(v[0], add), u, s.Add(k, one)}
	})
	return v[0]
}
