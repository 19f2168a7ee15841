package op

import (
	"math"

	"weft/internal/vmath"
)

// Kv and Kve take the order and x: the modified Bessel function of the second kind, and exp(x) times it.
var Kv, Kve *Def

func init() {
	for _, f := range []struct {
		def    **Def
		name   string
		doc    string
		scaled bool
	}{{&Kv, "kv", "The modified Bessel function of the second kind of real order.", false}, {&Kve, "kve", "exp(x)*kv(v, x).", true}} {
		*f.def = wideSpecial(f.name, 3000, f.doc, Conformance{Domains: [][2]float64{{-3, 3}, {0.3, 6}}, Flat: []int{0}},
			func(s stream, x []val) val { return s.besselKv(x[0], x[1], f.scaled) }, func(v *VJP) {
				order, x := v.X[0], v.X[1]
				noGradient(v, 0, f.name, "v")
				v.Set(1, func() *node {
					// K' = -K(v-1) - v/x*K
					d := neg(add(Apply(*f.def, nil, sub(order, one(order)), x), mul(div(order, x), v.Y)))
					if f.scaled {
						d = add(d, v.Y)
					}
					return mul(v.DY, d)
				})
			})
	}
}

// maxOrderTerms bounds the terms of the trapezoidal rule: x of 1e-300 takes 7000, x from 1e-3 on at most 150.
const maxOrderTerms = 8000

// besselKv is K of order v at x, half the integral of exp(v*t - x*cosh(t)) over all t (DLMF 10.32.9). With u
// the distance from the integrand's peak at asinh(v/x), it is a constant times the integral of
//
//	exp(-(q+v)/2*(exp(u)-1-u) - (q-v)/2*(exp(-u)-1+u)), q = hypot(v, x)
//
// without a cancellation, and the trapezoidal rule converges geometrically.
func (s stream) besselKv(v0, x0 val, scaled bool) val {
	b, half := s.bld, s.f(0.5)
	good := s.both(s.Lt(s.f(0), x0), s.finite(x0), s.finite(v0))
	v, x := s.Select(good, s.Abs(v0), s.f(0)), s.Select(good, x0, s.f(1))
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
	y = s.Select(extreme, far, y)
	// At 0 infinite, at infinity 0.
	edge := s.Select(s.Eq(x0, s.f(0)), s.f(math.Inf(1)), s.Select(s.Eq(x0, s.f(math.Inf(1))), s.f(0), s.f(math.NaN())))
	edge = s.Select(s.Eq(v0, v0), edge, v0)
	return s.Select(good, y, edge)
}
