package op

import (
	"math"

	"weft/internal/vmath"
)

// Incomplete elliptic integrals of the amplitude and the parameter m by Carlson's symmetric integrals (DLMF 19.25.5,
// 19.25.9 and 19.25.10, chosen so that all terms are positive).
var (
	// EllipKInc and EllipEInc take the amplitude and m.
	EllipKInc, EllipEInc *Def
	// ellipKSlope and ellipESlope are their derivatives by m.
	ellipKSlope, ellipESlope *Def
)

func init() {
	domains := Conformance{Domains: [][2]float64{{-4, 4}, {-2, 0.8}}}
	// sin, cos and the root of 1-m*sin^2.
	parts := func(v *VJP) (sin, cos, root *node) {
		sin, cos = apply(Sin, v.X[0]), apply(Cos, v.X[0])
		return sin, cos, apply(Sqrt, sub(one(sin), mul(v.X[1], mul(sin, sin))))
	}
	// The second derivatives by m at 0 are this times 3 and times -1.
	fourth := func(v *VJP, sin, cos *node) *node {
		sc := mul(sin, cos)
		return scale(sub(scale(sub(v.X[0], sc), 3), scale(mul(sc, mul(sin, sin)), 2)), 1./32)
	}
	atZero := func(v *VJP, limit *node, f func(m *node) *node) *node {
		m := v.X[1]
		zero := apply(Eq, m, num(m, 0))
		return mul(v.DY, where(zero, limit, f(where(zero, one(m), m))))
	}
	EllipKInc = wideSpecial("ellipkinc", 700, "The incomplete elliptic integral of the first kind of an amplitude and the parameter m.", domains,
		func(s stream, x []val) val { f, _ := s.elliptic(x[0], x[1]); return f }, func(v *VJP) {
			v.Set(0, func() *node { _, _, root := parts(v); return div(v.DY, root) })
			v.Set(1, func() *node { return mul(v.DY, Apply(ellipKSlope, nil, v.X...)) })
		})
	EllipEInc = wideSpecial("ellipeinc", 700, "The incomplete elliptic integral of the second kind of an amplitude and the parameter m.", domains,
		func(s stream, x []val) val { _, e := s.elliptic(x[0], x[1]); return e }, func(v *VJP) {
			v.Set(0, func() *node { _, _, root := parts(v); return mul(v.DY, root) })
			v.Set(1, func() *node { return mul(v.DY, Apply(ellipESlope, nil, v.X...)) })
		})
	ellipKSlope = incomplete("ellipkinc by m", 2, func(s stream, x []val) val { return s.ellipticSlope(x[0], x[1], true) }, func(v *VJP) {
		v.Set(0, func() *node {
			sin, _, root := parts(v)
			return mul(v.DY, div(mul(sin, sin), scale(mul(root, mul(root, root)), 2)))
		})
		v.Set(1, func() *node {
			sin, cos, root := parts(v)
			return atZero(v, scale(fourth(v, sin, cos), 3), func(m *node) *node {
				// 2*m*(1-m)*F' = E - (1-m)*F - m*sin*cos/root, once more by m.
				rest := sub(one(m), m)
				sc := div(mul(sin, cos), root)
				cube := div(mul(m, mul(sc, mul(sin, sin))), scale(mul(root, root), 2))
				top := sub(add(Apply(ellipESlope, nil, v.X...), Apply(EllipKInc, nil, v.X...)), add(sc, cube))
				top = sub(top, mul(v.Y, sub(num(m, 3), scale(m, 5))))
				return div(top, scale(mul(m, rest), 2))
			})
		})
	})
	ellipESlope = incomplete("ellipeinc by m", 2, func(s stream, x []val) val { return s.ellipticSlope(x[0], x[1], false) }, func(v *VJP) {
		v.Set(0, func() *node {
			sin, _, root := parts(v)
			return neg(mul(v.DY, div(mul(sin, sin), scale(root, 2))))
		})
		v.Set(1, func() *node {
			sin, cos, _ := parts(v)
			return atZero(v, neg(fourth(v, sin, cos)), func(m *node) *node {
				return neg(div(add(v.Y, Apply(ellipKSlope, nil, v.X...)), scale(m, 2)))
			})
		})
	})
}

// An amplitude is an angle less whole half turns.
type amplitude struct {
	turns, sin, square val // the half turns, the sine's absolute value, the squared cosine
	cos, side          val // the cosine's absolute value, and the rest's sign
	rest, delta        val // 1-m and 1-m*sin^2
	ok                 val
}

func (s stream) amplitudeOf(phi, m val) amplitude {
	b, one := s.bld, s.f(1)
	var a amplitude
	a.ok = s.both(s.finite(phi), s.Le(m, one), s.finite(m))
	angle := s.Select(a.ok, phi, one)
	a.rest = s.Sub(one, s.Select(a.ok, m, s.f(0)))
	a.turns = s.Floor(s.Fma(angle, s.f(1/math.Pi), s.f(0.5)))
	// Near a quarter turn the rounded quotient may name the neighbour: the signs of sine and cosine decide.
	turned := func(y val) val { return s.Select(s.Eq(s.parity(a.turns), s.f(0)), y, s.Neg(y)) }
	sin, cos := vmath.Sin(b, angle), vmath.Cos(b, angle)
	past := s.Lt(turned(cos), s.f(0))
	a.turns = s.Select(past, s.Add(a.turns, withSign(b, one, turned(sin))), a.turns)
	a.side = withSign(b, one, turned(sin))
	a.sin, a.cos = s.Abs(sin), s.Abs(cos)
	a.square = s.sq(a.cos)
	a.delta = s.Fma(a.rest, s.sq(a.sin), a.square)
	return a
}

// elliptic returns both integrals.
func (s stream) elliptic(phi, m0 val) (f, e val) {
	b, zero, one := s.bld, s.f(0), s.f(1)
	a := s.amplitudeOf(phi, m0)
	m := s.Select(a.ok, m0, zero)
	positive := s.Lt(zero, m)
	// At a quarter turn of m = 1 the first integral is infinite.
	pole := s.Le(a.delta, zero)
	active := s.And(a.ok, s.Not(pole))
	rf, sum, last := s.carlson(active, a.square, s.Select(positive, one, a.delta), s.Select(positive, a.delta, one))
	f = s.Select(pole, s.f(math.Inf(1)), s.Mul(a.sin, rf))
	third := s.Mul(s.Mul(a.sin, s.sq(a.sin)), s.Mul(m, s.Fma(s.f(1./3), last, sum)))
	low := s.Sub(s.Mul(a.sin, rf), third)
	high := s.Fma(m, s.Div(s.Mul(a.sin, a.cos), s.Sqrt(s.Max(a.delta, s.f(1e-320)))), s.timesZero(a.rest, s.Fma(a.sin, rf, third)))
	e = s.Select(positive, s.Select(pole, one, high), low)
	turned := s.Not(s.Eq(a.turns, zero))
	whole := s.If(turned, func() []val {
		return []val{vmath.EllipK(b, m), vmath.EllipE(b, m)}
	}, s.zeros(2))
	add := func(y, whole val) val {
		y = s.Mul(a.side, y)
		return s.checked(a.ok, s.Select(turned, s.Fma(s.Add(a.turns, a.turns), whole, y), y))
	}
	f, e = add(f, whole[0]), add(e, whole[1])
	// Infinite parameters and angles.
	flat := s.both(s.Eq(m0, s.f(math.Inf(-1))), s.finite(phi))
	endless := s.both(s.Eq(s.Abs(phi), s.f(math.Inf(1))), s.Le(m0, one), s.finite(m0))
	f = s.Select(flat, zero, s.Select(endless, phi, f))
	e = s.Select(flat, s.f(math.Inf(1)), s.Select(endless, phi, e))
	return f, e
}

// ellipticSlope is the derivative by m of the first integral or of the second.
func (s stream) ellipticSlope(phi, m val, first bool) val {
	zero, one := s.f(0), s.f(1)
	a := s.amplitudeOf(phi, m)
	active := s.And(a.ok, s.Lt(zero, a.delta))
	order := func(delta val) (y, z val) {
		if first {
			return one, delta
		}
		return delta, one
	}
	y, z := order(a.delta)
	_, sum, last := s.carlson(active, a.square, y, z)
	y, z = order(a.rest)
	_, wholeSum, wholeLast := s.carlson(s.And(active, s.Lt(zero, a.rest)), zero, y, z)
	rd, whole := s.Fma(s.f(3), sum, last), s.Fma(s.f(3), wholeSum, wholeLast)
	by := 1. / 6
	if !first {
		by = -by
	}
	part := s.Mul(a.side, s.Mul(s.Mul(a.sin, s.sq(a.sin)), rd))
	return s.checked(active, s.Mul(s.f(by), s.Fma(s.Add(a.turns, a.turns), whole, part)))
}
