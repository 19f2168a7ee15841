package op

import (
	"math"

	"weft/internal/ir"
	"weft/internal/vmath"
)

// Lambert's function of complex numbers on any branch (R. M. Corless, G. H. Gonnet, D. E. G. Hare, D. J. Jeffrey,
// D. E. Knuth, On the Lambert W function, Adv. Comput. Math. 5, 1996): Halley's iteration from the first terms of
// its expansions. By the branch point -1/e it is the series in p = sqrt(2*(e*z+1)), whose radicand has all digits.
var (
	// lambertReal and lambertImag take the branch and the parts of z.
	lambertReal, lambertImag *Def
	// LambertWComplex takes z and the branch.
	LambertWComplex *Def
)

// lambertByPoint are the coefficients of the series by the branch point (equations 4.22 to 4.24).
var lambertByPoint = []float64{
	-1, 1, -1. / 3, 11. / 72, -43. / 540, 769. / 17280, -221. / 8505, 0.015635632532333921, -0.0096168920242994317, 0.0060145432529561179, -0.0038112980348919992,
	0.0024408779911439827, -0.0015769303446867843, 0.0010262633205076072, -0.0006720616311561362, 0.00044247306181462091, -0.00029267722472962744, 0.00019438727605453932,
	-0.00012957426685274882, 8.6650358052081272e-5, -5.8113607504413817e-5, 3.9076684867439052e-5, -2.6338064747231099e-5, 1.7790345805079585e-5, -1.2040352739559977e-5,
}

const (
	// lambertSeries is the size of p up to which the series has all digits, lambertStart up to which it serves as a start.
	lambertSeries, lambertStart = 0.3, 1.2
	// maxHalley bounds the iterations. Most numbers take 3 or 4.
	maxHalley = 40
	// Euler's number in two floats.
	eulerHigh, eulerLow = math.E, 1.4456468917292502e-16
)

func init() {
	// The derivative is exp(-w)/(1+w).
	slopes := func(v *VJP) (re, im *node) {
		w := pair{Apply(lambertReal, nil, v.X...), Apply(lambertImag, nil, v.X...)}
		d := divPairs(expPair(pair{neg(w.re), neg(w.im)}), pair{add(w.re, one(w.re)), w.im})
		return d.re, d.im
	}
	lambertReal = incomplete("lambertw, real", 3, func(s stream, x []val) val { re, _ := s.lambert(x[0], x[1], x[2]); return re }, func(v *VJP) {
		v.Set(1, func() *node { re, _ := slopes(v); return mul(v.DY, re) })
		v.Set(2, func() *node { _, im := slopes(v); return neg(mul(v.DY, im)) })
	})
	lambertImag = incomplete("lambertw, imaginary", 3, func(s stream, x []val) val { _, im := s.lambert(x[0], x[1], x[2]); return im }, func(v *VJP) {
		v.Set(1, func() *node { _, im := slopes(v); return mul(v.DY, im) })
		v.Set(2, func() *node { re, _ := slopes(v); return mul(v.DY, re) })
	})
	LambertWComplex = unlisted(Def{Name: "lambertw of complex numbers", Class: Composite, Arity: 1, Attrs: Count(0), Doc: "A branch of Lambert's function.",
		Composed: Composed{Compose: func(x []*node, a ir.Attrs) *node {
			z := inComplex(x[0])
			k := num(z.re, float64(a.(Count)))
			return join2(Apply(lambertReal, nil, k, z.re, z.im), Apply(lambertImag, nil, k, z.re, z.im))
		}}})
}

// root is the square root with a positive real part, or 0 and a positive imaginary part.
func (s stream) root(z number) number {
	size := s.f(0.5)
	long := s.Mul(size, s.Add(vmath.Hypot(s.bld, z.re, z.im), s.Abs(z.re)))
	t := s.Sqrt(long)
	short := s.Div(s.Mul(size, z.im), s.Select(s.Eq(t, s.f(0)), s.f(1), t))
	right := s.Le(s.f(0), z.re)
	return number{s.Select(right, t, s.Abs(short)), s.Select(right, short, s.Mul(t, withSign(s.bld, s.f(1), z.im)))}
}

// lambert is the branch k of Lambert's function at x+iy. Below the real line it is the conjugate of the branch -k above.
func (s stream) lambert(k0, x0, y0 val) (re, im val) {
	zero, one := s.f(0), s.f(1)
	side := withSign(s.bld, one, y0)
	none := s.And(s.Eq(x0, zero), s.Eq(y0, zero))
	known := s.both(s.finite(x0), s.finite(y0), s.Not(none))
	k := s.Mul(side, k0)
	z := number{s.Select(known, x0, one), s.Select(known, s.Abs(y0), zero)}
	main, lower := s.Eq(k, zero), s.Eq(k, s.f(-1))
	// By the branch point.
	e := number{s.Fma(z.re, s.f(eulerLow), s.Fma(z.re, s.f(eulerHigh), one)), s.Fma(z.im, s.f(eulerLow), s.Mul(z.im, s.f(eulerHigh)))}
	p := s.root(number{s.Add(e.re, e.re), s.Add(e.im, e.im)})
	size := s.Fma(p.re, p.re, s.sq(p.im))
	minus := s.Select(main, one, s.f(-1))
	series := s.realSeries(number{s.Mul(minus, p.re), s.Mul(minus, p.im)}, lambertByPoint)
	both := s.Or(main, lower)
	near := s.And(both, s.Lt(size, s.f(lambertSeries*lambertSeries)))
	close := s.And(both, s.Lt(size, s.f(lambertStart*lambertStart)))
	// The first terms for large and small numbers: of branch -1 by its cut from log(-z).
	l := s.ln(z)
	l.im = s.Fma(s.f(2*math.Pi), k, l.im)
	w := s.minus(l, s.ln(l))
	cut := s.both(lower, s.Lt(z.re, zero), s.Lt(s.Fma(z.re, z.re, s.sq(z.im)), s.f(0.25)))
	back := s.ln(number{s.Neg(z.re), s.Neg(z.im)})
	back.im = s.Select(s.Eq(z.im, zero), zero, back.im)
	cutStart := s.minus(back, s.ln(number{s.Neg(back.re), s.Neg(back.im)}))
	// S. Winitzki, Uniform approximations for transcendental functions (ICCSA 2003).
	u := s.ln(number{s.Add(one, z.re), z.im})
	v := s.over(s.ln(number{s.Add(one, u.re), u.im}), number{s.Add(u.re, s.f(2)), u.im})
	middle := s.times(u, number{s.Sub(one, v.re), s.Neg(v.im)})
	right := s.And(main, s.Le(s.f(-0.25), z.re))
	start := func(series, middle, back, w val) val {
		return s.Select(close, series, s.Select(right, middle, s.Select(cut, back, w)))
	}
	w = number{start(series.re, middle.re, cutStart.re, w.re), start(series.im, middle.im, cutStart.im, w.im)}
	first := s.Select(near, zero, one)
	r := s.While([]val{w.re, w.im, first, zero}, func(v []val) val { return s.And(s.Lt(s.f(1e-31), v[2]), s.Lt(v[3], s.f(maxHalley))) }, func(v []val) []val {
		w := number{v[0], v[1]}
		// Of denormal z exp(-w) is infinite: a part of it is taken before.
		before := s.Select(s.Lt(w.re, s.f(-600)), s.f(300), zero)
		e := vmath.Exp(s.bld, before)
		g := s.minus(w, s.times(number{s.Mul(z.re, e), s.Mul(z.im, e)}, s.turned(number{s.Sub(s.Neg(w.re), before), s.Neg(w.im)})))
		up := number{s.Add(w.re, one), w.im}
		bend := s.over(s.times(number{s.Add(w.re, s.f(2)), w.im}, g), number{s.Add(up.re, up.re), s.Add(up.im, up.im)})
		d := s.over(g, s.minus(up, bend))
		next := s.minus(w, d)
		length := func(z number) val { return s.Fma(z.re, z.re, s.sq(z.im)) }
		return []val{next.re, next.im, s.Div(length(d), length(next)), s.Add(v[3], one)}
	})
	w = number{r[0], r[1]}
	// Next to 0 the main branch is z, which the logarithms have lost.
	tiny := s.And(main, s.Lt(s.Max(s.Abs(z.re), z.im), s.f(1e-17)))
	w = number{s.Select(tiny, z.re, w.re), s.Select(tiny, z.im, w.im)}
	endless := s.And(s.Eq(s.Abs(x0), s.f(math.Inf(1))), s.Eq(y0, zero))
	turn := s.Fma(s.f(2*math.Pi), k, s.Select(s.Lt(x0, zero), s.f(math.Pi), zero))
	re = s.Select(endless, s.f(math.Inf(1)), s.Select(none, s.Select(main, zero, s.f(math.Inf(-1))), s.checked(known, w.re)))
	im = s.Select(endless, turn, s.Select(none, zero, s.checked(known, w.im)))
	return re, s.Mul(side, im)
}
