package op

import (
	"math"

	"weft/internal/vmath"
)

// Struve's functions of real order: their power series (DLMF 11.2.1 and 11.2.2), and far from 0 Bessel's
// functions with the expansion of the difference (DLMF 11.6.1 and 11.6.2). Orders of a half below a negative whole
// number are Bessel's functions alone (DLMF 11.4.3).
var Struve, ModStruve *Def

const (
	// struveFar is the argument from which the expansions serve; terms of the series below are at most 1e16.
	struveFar = 36
	// modStruveFar is the same of the modified function, whose terms have one sign.
	modStruveFar = 60
)

func init() {
	for _, f := range []struct {
		def       **Def
		name, doc string
		modified  bool
	}{{&Struve, "struve", "Struve's function of real order.", false}, {&ModStruve, "modstruve", "The modified Struve function of real order.", true}} {
		*f.def = wideSpecial(f.name, 3000, f.doc, Conformance{Domains: [][2]float64{{-1, 3}, {0.3, 6}}, Flat: []int{0}},
			func(s stream, x []val) val { return s.struve(x[0], x[1], f.modified) }, func(v *VJP) {
				noGradient(v, 0, f.name, "v")
				v.Set(1, func() *node {
					order, x := v.X[0], v.X[1]
					zero := apply(Eq, x, num(x, 0))
					by := where(zero, num(x, 0), div(mul(order, v.Y), where(zero, one(x), x)))
					return mul(v.DY, sub(Apply(*f.def, nil, sub(order, one(order)), x), by))
				})
			})
	}
}

// struve is H of order v at x, or L.
func (s stream) struve(v0, x0 val, modified bool) val {
	zero, one := s.f(0), s.f(1)
	whole := s.Eq(v0, s.Floor(v0))
	known := s.both(s.Eq(x0, x0), s.Le(s.Abs(v0), s.f(maxOrder)), s.Or(s.Le(zero, x0), whole))
	v, x := s.Select(known, v0, zero), s.Select(known, s.Abs(x0), one)
	least, sign := s.f(struveFar), -0.25
	if modified {
		least, sign = s.f(modStruveFar), 0.25
	}
	half := s.ends(s.Add(v, s.f(1.5)))
	far := s.both(s.Lt(least, x), s.Le(s.Abs(v), x), s.Not(half))
	near := s.both(s.Not(far), s.Not(half), s.finite(x), s.Lt(zero, x))
	low := s.If(near, func() []val {
		v, x := s.Select(near, v, zero), s.Select(near, x, one)
		square := s.sq(x)
		z := twofold{s.Mul(square, s.f(sign)), s.Mul(s.Fma(x, x, s.Neg(square)), s.f(sign))}
		sum, _ := s.hyper(near, s.Lt(x, zero), []twofold{s.twofold(1)}, []twofold{s.twofold(1.5), s.differ(v, s.f(-1.5))}, z)
		// (x/2)^(v+1)/(gamma(3/2)*gamma(v+3/2))
		return []val{s.Mul(sum.hi, s.powerOverBeside(v, x, 0.5, s.Mul(s.Sqrt(x), s.f(math.Sqrt2/math.Sqrt(math.Pi)))))}
	}, s.zeros(1))[0]
	bessel := func(active, v val, second bool) val {
		return s.If(active, func() []val {
			v, x := s.Select(active, v, zero), s.Select(active, x, one)
			if modified {
				return []val{s.besselIv(v, x, false)}
			}
			return []val{s.besselJY(v, x, second)}
		}, s.zeros(1))[0]
	}
	order := s.Neg(v)
	high := bessel(far, order, true)
	if !modified {
		high = bessel(far, v, true)
	}
	// Of orders -n-1/2 it is (-1)^n*J, or I, of order n+1/2.
	odd := s.parity(s.Sub(order, s.f(0.5)))
	alone := bessel(half, order, false)
	if !modified {
		alone = s.Select(s.Eq(odd, zero), alone, s.Neg(alone))
	}
	rest := s.If(far, func() []val { return []val{s.struveRest(far, v, x, modified)} }, s.zeros(1))[0]
	y := s.Select(half, alone, s.Select(far, s.Add(high, rest), low))
	if modified {
		y = s.Select(s.both(far, s.Not(s.finite(high))), high, y)
	}
	// At 0 it has the sign of gamma(v+3/2) below order -1.
	floor := s.Floor(s.Add(v, s.f(1.5)))
	even := s.Eq(s.parity(floor), zero)
	edge := s.Select(s.Or(even, s.Lt(zero, floor)), s.f(math.Inf(1)), s.f(math.Inf(-1)))
	edge = s.Select(s.Lt(s.f(-1), v), zero, s.Select(s.Eq(v, s.f(-1)), s.f(2/math.Pi), edge))
	y = s.Select(s.Eq(x, zero), s.Select(half, zero, edge), y)
	limit := s.Select(s.Lt(one, v), s.f(math.Inf(1)), s.Select(s.Eq(v, one), s.f(2/math.Pi), zero))
	if modified {
		limit = s.f(math.Inf(1))
	}
	y = s.Select(s.And(s.Eq(x, s.f(math.Inf(1))), s.Not(half)), limit, y)
	y = s.Select(s.And(s.Lt(x0, zero), s.Eq(s.parity(v), zero)), s.Neg(y), y)
	// L of order v underflows up to v/2 and overflows from v on, and so does H.
	vast := s.both(s.Lt(s.f(maxOrder), v0), s.Lt(v0, s.f(math.Inf(1))), s.Eq(x0, x0), s.Or(s.Le(zero, x0), whole))
	size := s.Abs(x0)
	end := s.Select(s.Le(size, s.Mul(v0, s.f(0.5))), zero, s.checked(s.Le(v0, size), s.f(math.Inf(1))))
	end = s.Select(s.And(s.Lt(x0, zero), s.Eq(s.parity(v0), zero)), s.Neg(end), end)
	return s.Select(vast, end, s.checked(known, y))
}

// powerOverBeside is (x/2)^w/gamma(w+1) times factor, with w = v+half. What the rounded w lacks, up to 2^-48 for an order
// of 30, counts ln(x/2)-digamma(w+1) times.
func (s stream) powerOverBeside(v, x val, half float64, factor val) val {
	b, one := s.bld, s.f(1)
	w := s.differ(v, s.f(-half))
	power := s.powerOver(w.hi, x)
	y := s.Mul(power, factor)
	inexact := s.Not(s.Eq(w.lo, s.f(0)))
	y = s.If(inexact, func() []val {
		at := s.Select(inexact, s.Add(w.hi, one), one)
		slope := s.Sub(vmath.Log(b, s.Mul(x, s.f(0.5))), vmath.Digamma(b, at))
		return []val{s.Select(inexact, s.Fma(y, s.Mul(slope, w.lo), y), y)}
	}, func() []val { return []val{y} })[0]
	// The power of a small x may overflow where its product with the factor does not.
	over := s.both(s.Not(s.finite(power)), s.Lt(x, one))
	return s.If(over, func() []val {
		root := vmath.Pow(b, s.Mul(x, s.f(0.5)), s.Mul(w.hi, s.f(0.5)))
		large := s.Div(s.Mul(s.Mul(root, factor), root), vmath.Gamma(b, s.Add(w.hi, one)))
		return []val{s.Select(over, large, y)}
	}, func() []val { return []val{y} })[0]
}

// parity is 0 for even and 1 for odd whole numbers.
func (s stream) parity(x val) val { return s.Sub(x, s.Mul(s.f(2), s.Floor(s.Mul(x, s.f(0.5))))) }

// struveRest is H-Y of order v, or L-I of order v and -v: the sum of gamma(k+1/2)/gamma(v+1/2-k)*(x/2)^(v-1-2k)/pi,
// with signs that turn.
func (s stream) struveRest(active, v0, x0 val, modified bool) val {
	one := s.f(1)
	v, x := s.Select(active, v0, s.f(0)), s.Select(active, x0, s.f(1e3))
	sign := 4.0
	if modified {
		sign = -4
	}
	over := s.Div(s.Div(s.f(sign), x), x)
	w := s.While([]val{one, one, one, s.f(0)}, func(w []val) val {
		more := s.And(s.Lt(s.Mul(s.Abs(w[0]), s.f(0x1p-57)), s.Abs(w[1])), s.Le(s.Abs(w[1]), s.Abs(w[2])))
		return s.And(more, s.Lt(w[3], s.f(maxSeriesTerms)))
	}, func(w []val) []val {
		k := w[3]
		t := s.Mul(w[1], s.Mul(s.Mul(s.Add(k, s.f(0.5)), s.Sub(s.Sub(v, s.f(0.5)), k)), over))
		return []val{s.Add(w[0], t), t, w[1], s.Add(k, one)}
	})
	// (x/2)^(v-1)*gamma(1/2)/(pi*gamma(v+1/2)), whose power is that over gamma(v+1/2) less a half.
	front := s.powerOverBeside(v, x, -0.5, s.Div(s.f(math.Sqrt2/math.Sqrt(math.Pi)), s.Sqrt(x)))
	y := s.Mul(front, w[0])
	if modified {
		return s.Neg(y)
	}
	return y
}
