package op

import (
	"math"

	"weft/internal/vmath"
)

// twofolds is a complex number in two floats for each part.
type twofolds struct{ re, im twofold }

func (s stream) addTwofolds(a, b twofolds) twofolds {
	return twofolds{s.addTwofold(a.re, b.re), s.addTwofold(a.im, b.im)}
}

func (s stream) mulTwofolds(a, b twofolds) twofolds {
	minus := twofold{s.Neg(a.im.hi), s.Neg(a.im.lo)}
	return twofolds{
		s.addTwofold(s.mulTwofold(a.re, b.re), s.mulTwofold(minus, b.im)),
		s.addTwofold(s.mulTwofold(a.re, b.im), s.mulTwofold(a.im, b.re)),
	}
}

func (s stream) scaleTwofolds(a twofolds, by twofold) twofolds {
	return twofolds{s.mulTwofold(a.re, by), s.mulTwofold(a.im, by)}
}

// longest is the greater size of the parts.
func (s stream) longest(a twofolds) val { return s.Max(s.Abs(a.re.hi), s.Abs(a.im.hi)) }

// hyperTwofold is the sum of x^k/((b)_k*k!) in two floats, for a positive b.
func (s stream) hyperTwofold(active val, b twofold, x twofolds) twofolds {
	zero, one := s.f(0), s.f(1)
	parts := func(v []val) twofolds { return twofolds{twofold{v[0], v[1]}, twofold{v[2], v[3]}} }
	start := s.Select(active, one, zero)
	v := s.While([]val{one, zero, zero, zero, start, zero, zero, zero, start, zero}, func(v []val) val {
		size := s.longest(parts(v[4:]))
		falls := s.And(s.Lt(size, s.Mul(s.longest(parts(v)), s.f(0x1p-110))), s.Le(size, v[8]))
		return s.both(s.Not(falls), s.Lt(zero, size), s.Lt(size, s.f(math.Inf(1))), s.Lt(v[9], s.f(maxHyperTerms)))
	}, func(v []val) []val {
		k, next := twofold{v[9], zero}, twofold{s.Add(v[9], one), zero}
		down := s.mulTwofold(next, s.addTwofold(b, k))
		t := s.scaleTwofolds(s.mulTwofolds(parts(v[4:]), x), s.divTwofold(twofold{one, zero}, down))
		y := s.addTwofolds(parts(v), t)
		return []val{
			y.re.hi, y.re.lo, y.im.hi, y.im.lo, t.re.hi, t.re.lo, t.im.hi, t.im.lo,
			s.longest(parts(v[4:])), next.hi,
		}
	})
	return parts(v)
}

// angle is the cosine and the sine of an angle in two floats.
func (s stream) angle(x twofold) number {
	cos, sin := vmath.Cos(s.bld, x.hi), vmath.Sin(s.bld, x.hi)
	// The rounding of a large angle is an angle itself.
	part := s.If(s.Lt(s.f(1e-8), s.Abs(x.lo)), func() []val {
		return []val{vmath.Cos(s.bld, x.lo), vmath.Sin(s.bld, x.lo)}
	}, func() []val { return []val{s.f(1), x.lo} })
	return number{s.Fma(s.Neg(part[1]), sin, s.Mul(part[0], cos)), s.Fma(part[1], cos, s.Mul(part[0], sin))}
}
