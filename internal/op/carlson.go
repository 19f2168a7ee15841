package op

import (
	"math"

	"weft/internal/vmath"
)

// Carlson's symmetric elliptic integrals of real numbers (DLMF 19.16). A duplication brings the arguments together
// until a series serves (B. C. Carlson, Numerical computation of real or complex elliptic integrals, Numer.
// Algorithms 10, 1995).
var (
	ElliprC, ElliprD, ElliprF, ElliprG, ElliprJ *Def
	// carlsonPowers is the integral over t from 0 on of (t+x)^-i * (t+y)^-j * (t+z)^-k * (t+p)^-l. It takes x, y, z, p
	// and the exponents i, j, k, l, whose sum is at least 7/2. Each of its derivatives is one of these integrals.
	carlsonPowers *Def
)

const (
	// carlsonNear is the relative distance of the arguments from which the series of degree 7 serves.
	carlsonNear = 0x1p-7
	// arcNear is the size of (b*b-a*a)/(a*a) below which the series of arcTerms terms serves for an arc.
	arcNear, arcTerms = 0x1p-5, 10
	// maxDuplications bounds the rounds. Arguments of one size take 6, the ends of float64's range 270.
	maxDuplications = 300
	// The trapezoidal rule for carlsonPowers in ln(t): the step whose error is below float64's, how far beyond the least
	// and the greatest argument the integrand counts, and a bound of the points.
	powersStep, powersBelow, powersAbove, maxPowers = 0.5, 38, 18, 6000
)

func init() {
	domains := func(n int) Conformance {
		c := Conformance{}
		for range n {
			c.Domains = append(c.Domains, [2]float64{0.3, 4})
		}
		return c
	}
	ElliprF = wideSpecial("elliprf", 300, "Carlson's elliptic integral of the first kind.", domains(3), func(s stream, x []val) val { return s.carlsonF(x[0], x[1], x[2]) }, func(v *VJP) {
		for i := range 3 {
			v.Set(i, func() *node {
				return scale(mul(v.DY, apply(ElliprD, v.X[(i+1)%3], v.X[(i+2)%3], v.X[i])), -1./6)
			})
		}
	})
	ElliprD = wideSpecial("elliprd", 400, "Carlson's elliptic integral of the second kind.", domains(3), func(s stream, x []val) val { return s.carlsonD(x[0], x[1], x[2]) }, func(v *VJP) {
		powersSlopes(v, 1.5, v.X[0], v.X[1], v.X[2], v.X[2], []float64{0.5, 0.5, 1.5, 0})
	})
	ElliprJ = wideSpecial("elliprj", 1500, "Carlson's elliptic integral of the third kind.", domains(4), func(s stream, x []val) val { return s.carlsonJ(x[0], x[1], x[2], x[3]) }, jSlopes)
	ElliprC = wideSpecial("elliprc", 150, "Carlson's degenerate elliptic integral.", domains(2), func(s stream, x []val) val { return s.carlsonC(x[0], x[1]) }, func(v *VJP) {
		x, y := v.X[0], v.X[1]
		positive := apply(Lt, num(y, 0), y)
		above := where(positive, y, one(y))
		// The principal value has no cancellation.
		below := where(positive, num(y, -1), y)
		apart, root := scale(sub(below, x), 2), apply(Sqrt, x)
		v.Set(0, func() *node {
			return mul(v.DY, where(positive, scale(apply(ElliprD, above, above, x), -1./6), div(sub(v.Y, div(one(x), root)), apart)))
		})
		v.Set(1, func() *node {
			return mul(v.DY, where(positive, scale(apply(ElliprD, x, above, above), -1./3), div(sub(root, mul(v.Y, below)), mul(below, apart))))
		})
	})
	ElliprG = wideSpecial("elliprg", 400, "Carlson's symmetric elliptic integral of the second kind.", domains(3), func(s stream, x []val) val { return s.carlsonG(x[0], x[1], x[2]) }, func(v *VJP) {
		for i := range 3 {
			v.Set(i, func() *node {
				x, zero := v.X[i], apply(Eq, v.X[i], num(v.X[i], 0))
				d := mul(x, apply(ElliprD, v.X[(i+1)%3], v.X[(i+2)%3], where(zero, one(x), x)))
				return mul(v.DY, sub(scale(apply(ElliprF, v.X...), 0.25), scale(where(zero, num(x, 0), d), 1./12)))
			})
		}
	})
	carlsonPowers = incomplete("carlson's powers", 8, func(s stream, x []val) val { return s.carlsonPowers(x[:4], x[4:]) }, func(v *VJP) {
		for i := range 4 {
			v.Set(i, func() *node {
				x := append([]*node(nil), v.X...)
				x[4+i] = add(x[4+i], one(x[4+i]))
				return neg(mul(v.DY, mul(v.X[4+i], apply(carlsonPowers, x...))))
			})
		}
	})
}

// powersOf is by times the integral with these exponents.
func powersOf(by float64, args []*node, exponents []float64) *node {
	x := append([]*node(nil), args...)
	for i, e := range exponents {
		x = append(x, num(args[i], e))
	}
	return scale(apply(carlsonPowers, x...), by)
}

// powersSlopes sets the gradients of by times the integral with these exponents.
func powersSlopes(v *VJP, by float64, x, y, z, p *node, exponents []float64) {
	for i := range v.X {
		v.Set(i, func() *node {
			e := append([]float64(nil), exponents...)
			e[i]++
			return mul(v.DY, powersOf(-by*exponents[i], []*node{x, y, z, p}, e))
		})
	}
}

// jSlopes are the gradients of the integral of the third kind. Of the principal value, for p below 0, they are the
// formulas of partial fractions, which do not cancel there.
func jSlopes(v *VJP) {
	x, p := v.X[:3], v.X[3]
	positive := apply(Lt, num(p, 0), p)
	above, below := where(positive, p, one(p)), where(positive, num(p, -1), p)
	exponents := []float64{0.5, 0.5, 0.5, 1}
	slope := func(i int) *node {
		e := append([]float64(nil), exponents...)
		e[i]++
		return powersOf(-1.5*exponents[i], []*node{x[0], x[1], x[2], above}, e)
	}
	principal := func(i int) *node {
		return div(sub(v.Y, apply(ElliprD, x[(i+1)%3], x[(i+2)%3], x[i])), scale(sub(below, x[i]), 2))
	}
	for i := range 3 {
		v.Set(i, func() *node { return mul(v.DY, where(positive, slope(i), principal(i))) })
	}
	v.Set(3, func() *node {
		sum := scale(v.Y, 1.5)
		for i := range 3 {
			sum = add(sum, mul(x[i], principal(i)))
		}
		return mul(v.DY, where(positive, slope(3), neg(div(sum, below))))
	})
}

// A duplication holds the roots of x, y and z, and the sum l of the products of two of them with what its float lacks.
// Without that each round would err by a unit in the last place.
type duplication struct {
	stream
	x, y, z, l, low val
	zLow            val // what z lacks
}

func (s stream) duplication(x, y, z val) duplication {
	d := duplication{stream: s, x: s.Sqrt(x), y: s.Sqrt(y), z: s.Sqrt(z)}
	or := func(root val) val { return s.Select(s.Lt(s.f(0), root), root, s.f(1)) }
	ox, oy, oz := or(d.x), or(d.y), or(d.z)
	half := s.Div(s.f(0.5), s.Mul(s.Mul(ox, oy), oz))
	rest := func(x, root, a, b val) val { return s.Mul(s.Fma(s.Neg(root), root, x), s.Mul(s.Mul(a, b), half)) }
	d.zLow = rest(z, d.z, ox, oy)
	top, side := s.Mul(d.x, d.y), s.Add(d.x, d.y)
	sideLow := s.Add(s.Add(s.Sub(s.Max(d.x, d.y), side), s.Min(d.x, d.y)), s.Add(rest(x, d.x, oy, oz), rest(y, d.y, ox, oz)))
	next := s.Mul(d.z, side)
	d.l = s.Add(top, next)
	low := s.Add(s.Add(s.Sub(s.Max(top, next), d.l), s.Min(top, next)), s.Add(s.Fma(d.x, d.y, s.Neg(top)), s.Fma(d.z, side, s.Neg(next))))
	products := s.Fma(d.y, rest(x, d.x, oy, oz), s.Fma(d.x, rest(y, d.y, ox, oz), s.Fma(d.z, sideLow, s.Mul(side, d.zLow))))
	d.low = s.Add(low, products)
	return d
}

// inverse is 1/(sqrt(z)*(z+l)), for z of at least 0.
func (d duplication) inverse(z val) val {
	sum := d.sum(z)
	y := d.Mul(d.z, sum)
	return d.overRounded(d.f(0), y, d.Fma(d.zLow, sum, d.Fma(d.z, sum, d.Neg(y))))
}

// sum is x+l, next a quarter of it.
func (d duplication) sum(x val) val  { return d.Add(d.Add(x, d.low), d.l) }
func (d duplication) next(x val) val { return d.Mul(d.sum(x), d.f(0.25)) }

// carlson returns the symmetric integrals RF and RD of numbers of at least 0, where z is not 0 and one other may be. RD
// is 3*sum+last.
func (s stream) carlson(active, x0, y0, z0 val) (rf, sum, last val) {
	one := s.f(1)
	pick := func(x val) val { return s.Select(active, x, one) }
	v := s.While([]val{pick(x0), pick(y0), pick(z0), s.f(0), one, s.f(0), s.f(0)}, func(v []val) val {
		low, high := s.Min(v[0], s.Min(v[1], v[2])), s.Max(v[0], s.Max(v[1], v[2]))
		return s.And(s.Lt(s.Mul(high, s.f(carlsonNear)), s.Sub(high, low)), s.Lt(v[5], s.f(maxDuplications)))
	}, func(v []val) []val {
		d := s.duplication(v[0], v[1], v[2])
		sum := s.addTwofold(twofold{v[3], v[6]}, twofold{s.Mul(v[4], d.inverse(v[2])), s.f(0)})
		return []val{d.next(v[0]), d.next(v[1]), d.next(v[2]), sum.hi, s.Mul(v[4], s.f(0.25)), s.Add(v[5], one), sum.lo}
	})
	a := s.Div(s.Add(s.Add(v[0], v[1]), v[2]), s.f(3))
	away := func(x val) val { return s.Div(s.Sub(a, x), a) }
	x, y := away(v[0]), away(v[1])
	z := s.Neg(s.Add(x, y))
	off := s.Mul(s.Sub(away(v[2]), z), s.f(1./3)) // how far the mean is above its float's, relative to it
	e2, e3 := s.Sub(s.Mul(x, y), s.sq(z)), s.Mul(s.Mul(x, y), z)
	// DLMF 19.36.1
	square := s.sq(e2)
	root := s.Sqrt(a)
	rest := s.terms(1./16, s.Mul(square, e3), 3./104, s.sq(e3), -5./208, s.Mul(square, e2), -3./44, s.Mul(e2, e3), 1./24, square, 1./14, e3, -1./10, e2, 0.5, off)
	rf = s.overRounded(rest, root, s.Div(s.Mul(s.Fma(s.Neg(root), root, a), s.f(0.5)), root))
	return rf, v[3], s.Fma(v[4], s.nearlyEqual(v[0], v[1], v[2], v[2]), s.Mul(s.f(3), v[6]))
}

// terms is a sum of coefficients times values, the greatest last.
func (s stream) terms(terms ...any) val {
	sum := s.f(0)
	for i := 0; i < len(terms); i += 2 {
		sum = s.Fma(s.f(terms[i].(float64)), terms[i+1].(val), sum)
	}
	return sum
}

// overRounded is (1+rest)/(y+low), where rest is small and low is what the float y lacks.
func (s stream) overRounded(rest, y, low val) val {
	inverse := s.Div(s.f(1), y)
	more := s.Fma(s.Neg(inverse), low, s.Fma(s.Neg(inverse), y, s.f(1)))
	return s.Fma(inverse, s.Add(rest, more), inverse)
}

// nearlyEqual is the integral of the third kind of numbers that are nearly equal (DLMF 19.36.2).
func (s stream) nearlyEqual(x0, y0, z0, p0 val) val {
	a := s.Div(s.Fma(s.f(2), p0, s.Add(s.Add(x0, y0), z0)), s.f(5))
	away := func(x val) val { return s.Div(s.Sub(a, x), a) }
	x, y, z := away(x0), away(y0), away(z0)
	p := s.Mul(s.Add(s.Add(x, y), z), s.f(-0.5))
	off := s.Mul(s.Sub(away(p0), p), s.f(0.4))
	xyz, pp := s.Mul(s.Mul(x, y), z), s.sq(p)
	e2 := s.Fma(s.f(-3), pp, s.Fma(x, y, s.Mul(z, s.Add(x, y))))
	e3 := s.Fma(s.Mul(s.f(2), p), s.Fma(s.f(2), pp, e2), xyz)
	e4 := s.Mul(p, s.Fma(s.f(2), xyz, s.Mul(p, s.Fma(s.f(3), pp, e2))))
	e5 := s.Mul(xyz, pp)
	square := s.sq(e2)
	rest := s.terms(-9./68, s.Fma(e3, e4, s.Mul(e2, e5)), 45./272, s.Mul(square, e3), 3./20, s.Mul(e2, e4), 3./40, s.sq(e3), -1./16, s.Mul(square, e2),
		3./26, e5, -9./52, s.Mul(e2, e3), -3./22, e4, 9./88, square, 1./6, e3, -3./14, e2, 1.5, off)
	root := s.Sqrt(a)
	cube := s.Mul(a, root)
	low := s.Fma(s.Fma(s.Neg(root), root, a), s.Mul(root, s.f(0.5)), s.Fma(a, root, s.Neg(cube)))
	return s.overRounded(rest, cube, low)
}

// A scaling multiplies arguments by a power of 4 so that the greatest is about 1: an integral of degree -n/2 is to be
// multiplied by the root n times.
type scaling struct{ by, root val }

func (s stream) scalingBy(greatest val) scaling {
	usual := s.Max(s.f(0x1p-1022), s.Min(s.f(math.MaxFloat64), greatest))
	half := s.Floor(s.Mul(s.LogB(usual), s.f(0.5)))
	return scaling{s.ScaleB(s.f(1), s.Mul(s.f(-2), half)), s.ScaleB(s.f(1), s.Neg(half))}
}

// symmetric holds x, y and z in order, scaled. Of numbers that are not proper, which are 0 or more and finite, they are 1.
type symmetric struct {
	scaling
	low, mid, high val
	proper, ended  val // ended: 0 or more and one of them infinite
}

func (s stream) symmetric(x, y, z val, others ...val) symmetric {
	var o symmetric
	low, high := s.Min(s.Min(x, y), z), s.Max(s.Max(x, y), z)
	positive, greatest := s.Le(s.f(0), low), high
	for _, p := range others {
		positive, greatest = s.And(positive, s.Eq(p, p)), s.Max(greatest, s.Abs(p))
	}
	o.proper = s.And(positive, s.finite(greatest))
	o.ended = s.And(positive, s.Not(o.proper))
	o.scaling = s.scalingBy(s.Select(o.proper, greatest, s.f(1)))
	scaled := func(x val) val { return s.Select(o.proper, s.Mul(x, o.by), s.f(1)) }
	o.low, o.high = scaled(low), scaled(high)
	o.mid = scaled(s.Max(s.Min(x, y), s.Min(s.Max(x, y), z)))
	return o
}

// finish returns y, infinity where the integral has a pole, 0 at infinity and NaN of negative numbers.
func (s stream) finish(o symmetric, pole, y val) val {
	y = s.Select(pole, s.f(math.Inf(1)), y)
	return s.Select(o.proper, y, s.checked(o.ended, s.f(0)))
}

func (s stream) carlsonF(x, y, z val) val {
	o := s.symmetric(x, y, z)
	pole := s.Le(o.mid, s.f(0))
	rf, _, _ := s.carlson(s.Not(pole), o.low, o.mid, o.high)
	return s.finish(o, pole, s.Mul(rf, o.root))
}

func (s stream) carlsonD(x, y, z val) val {
	o := s.symmetric(x, y, z)
	scaled := func(x val) val { return s.Select(o.proper, s.Mul(x, o.by), s.f(1)) }
	pole := s.Or(s.Le(z, s.f(0)), s.Le(s.Max(x, y), s.f(0)))
	_, sum, last := s.carlson(s.Not(pole), scaled(x), scaled(y), scaled(z))
	rd := s.Fma(s.f(3), sum, last)
	return s.finish(o, pole, s.Mul(s.Mul(rd, o.root), s.Mul(o.root, o.root)))
}

// carlsonG takes the middle number apart, so that all terms are positive (DLMF 19.21.10).
func (s stream) carlsonG(x, y, z val) val {
	o := s.symmetric(x, y, z)
	single := s.Le(o.mid, s.f(0))
	mid := s.Select(single, s.f(1), o.mid)
	rf, sum, last := s.carlson(s.Not(single), o.low, o.high, mid)
	third := s.Fma(s.f(1./3), last, sum)
	apart := s.mulTwofold(s.differ(mid, o.low), s.differ(o.high, mid))
	apart = s.mulTwofold(apart, twofold{third, s.f(0)})
	main := s.Mul(mid, rf)
	all := s.addTwofold(apart, twofold{main, s.Fma(mid, rf, s.Neg(main))})
	all = s.addTwofold(all, twofold{s.Mul(s.Sqrt(o.low), s.Sqrt(s.Div(o.high, mid))), s.f(0)})
	y = s.Mul(s.f(0.5), s.Select(single, s.Sqrt(o.high), s.Add(all.hi, all.lo)))
	y = s.Div(y, o.root)
	return s.Select(o.proper, y, s.checked(o.ended, s.f(math.Inf(1))))
}

// arc is atan(g/a)/g where less, else asinh(g/b)/g: the degenerate integral of a^2 and b^2, whose difference is g^2.
func (s stream) arc(less, g, a, b val) val {
	safe := s.Select(s.Lt(s.f(0), g), g, s.f(1))
	y := s.Select(less, vmath.Atan(s.bld, s.Div(safe, a)), vmath.Asinh(s.bld, s.Div(safe, b)))
	return s.Select(s.Lt(s.f(0), g), s.Div(y, safe), s.Div(s.f(1), a))
}

// arcOf is arc of a and b: where they are near by its series.
func (s stream) arcOf(a, b val) val {
	square := s.Mul(s.Sub(b, a), s.Add(a, b))
	inverse := s.Div(s.f(1), a)
	e := s.Mul(s.Mul(square, inverse), inverse)
	return s.If(s.Lt(s.Abs(e), s.f(arcNear)), func() []val {
		sum := s.f(0)
		for k := arcTerms; k > 0; k-- {
			sum = s.Mul(e, s.Sub(s.f(1/float64(2*k+1)), sum))
		}
		return []val{s.Fma(s.Neg(inverse), sum, inverse)}
	}, func() []val {
		return []val{s.arc(s.Lt(a, b), s.Sqrt(s.Abs(square)), a, b)}
	})[0]
}

// carlsonC is the integral of x and y, or its principal value for y below 0 (DLMF 19.2.17 to 19.2.20).
func (s stream) carlsonC(x0, y0 val) val {
	o := s.symmetric(x0, s.Abs(y0), s.Abs(y0))
	x, y := s.Select(o.proper, s.Mul(x0, o.by), s.f(1)), s.Select(o.proper, s.Mul(y0, o.by), s.f(1))
	rx, ry := s.Sqrt(x), s.Sqrt(s.Abs(y))
	g := s.Sqrt(s.Abs(s.Sub(x, y)))
	c := s.arc(s.Lt(x, y), g, rx, ry)
	principal := s.Div(vmath.Asinh(s.bld, s.Div(rx, ry)), g)
	c = s.Select(s.Lt(y, s.f(0)), principal, c)
	return s.finish(o, s.Bool(false), s.checked(s.Not(s.Eq(y0, s.f(0))), s.Mul(c, o.root)))
}

// carlsonJ is the integral of the third kind, or its principal value for p below 0 (DLMF 19.20.14 for the middle number).
func (s stream) carlsonJ(x, y, z, p0 val) val {
	zero, one := s.f(0), s.f(1)
	o := s.symmetric(x, y, z, p0)
	pole := s.Le(o.mid, zero)
	usual := s.both(o.proper, s.Not(pole), s.Not(s.Eq(p0, zero)))
	or := func(x val) val { return s.Select(usual, x, one) }
	low, mid, high := or(o.low), or(o.mid), or(o.high)
	p := or(s.Mul(p0, o.by))
	negative := s.Lt(p, zero)
	by := s.Div(one, s.Sub(mid, s.Select(negative, p, zero)))
	more := s.Mul(by, s.Mul(s.Sub(high, mid), s.Sub(mid, low)))
	above := s.Select(negative, s.Add(mid, more), p)
	rj := s.thirdKind(low, mid, high, above)
	rj = s.If(negative, func() []val {
		rf, _, _ := s.carlson(usual, low, mid, high)
		rc := s.carlsonC(s.Mul(low, s.Div(high, mid)), s.Mul(p, s.Div(above, mid)))
		return []val{s.Select(negative, s.Mul(by, s.Fma(more, rj, s.Mul(s.f(3), s.Sub(rc, rf)))), rj)}
	}, func() []val { return []val{rj} })[0]
	rj = s.checked(usual, rj)
	return s.finish(o, pole, s.Mul(s.Mul(rj, o.root), s.Mul(o.root, o.root)))
}

// thirdKind is the integral of the third kind of positive numbers, of x, y and z one may be 0.
func (s stream) thirdKind(x, y, z, p val) val {
	one := s.f(1)
	v := s.While([]val{x, y, z, p, s.f(0), one, s.f(0), s.f(0)}, func(v []val) val {
		low, high := s.Min(s.Min(v[0], v[1]), s.Min(v[2], v[3])), s.Max(s.Max(v[0], v[1]), s.Max(v[2], v[3]))
		return s.And(s.Lt(s.Mul(high, s.f(carlsonNear)), s.Sub(high, low)), s.Lt(v[6], s.f(maxDuplications)))
	}, func(v []val) []val {
		d := s.duplication(v[0], v[1], v[2])
		a, b := s.Fma(v[3], s.Add(d.x, s.Add(d.y, d.z)), s.Mul(d.x, s.Mul(d.y, d.z))), s.Mul(s.Sqrt(v[3]), d.sum(v[3]))
		sum := s.addTwofold(twofold{v[4], v[7]}, twofold{s.Mul(v[5], s.arcOf(a, b)), s.f(0)})
		return []val{d.next(v[0]), d.next(v[1]), d.next(v[2]), d.next(v[3]), sum.hi, s.Mul(v[5], s.f(0.25)), s.Add(v[6], one), sum.lo}
	})
	return s.Fma(s.f(3), v[4], s.Fma(s.f(3), v[7], s.Mul(v[5], s.nearlyEqual(v[0], v[1], v[2], v[3]))))
}

// carlsonPowers is by the trapezoidal rule in u = ln(t), whose error falls exponentially for analytic integrands.
func (s stream) carlsonPowers(x, e []val) val {
	b := s.bld
	top, low, zeros, pole := s.f(0), s.f(math.Inf(1)), s.f(1), s.Lt(s.f(1), s.f(0))
	proper := s.Eq(x[0], x[0])
	for i, v := range x {
		positive, counts := s.Lt(s.f(0), v), s.Lt(s.f(0), e[i])
		proper = s.both(proper, s.Le(s.f(0), v), s.finite(v))
		top = s.Max(top, v)
		low = s.Select(positive, s.Min(low, v), low)
		zeros = s.Select(s.Or(positive, s.Not(counts)), zeros, s.Add(zeros, s.f(1)))
		pole = s.Or(pole, s.both(s.Not(positive), counts, s.Le(s.f(1), e[i])))
	}
	pole = s.Or(pole, s.Lt(s.f(2), zeros))
	usual := s.both(proper, s.Not(pole), s.Lt(s.f(0), top))
	or := func(v, other val) val { return s.Select(usual, v, other) }
	first := s.Sub(vmath.Log(b, or(low, s.f(1))), s.Mul(or(zeros, s.f(1)), s.f(powersBelow)))
	last := s.Add(vmath.Log(b, or(top, s.f(1))), s.f(powersAbove))
	last = s.Min(last, s.Add(first, s.f(maxPowers*powersStep)))
	r := s.While([]val{first, s.f(0)}, func(v []val) val { return s.Lt(v[0], last) }, func(v []val) []val {
		t, power := vmath.Exp(b, v[0]), v[0]
		for i := range x {
			power = s.Fma(s.Neg(e[i]), vmath.Log(b, s.Add(t, or(x[i], s.f(1)))), power)
		}
		return []val{s.Add(v[0], s.f(powersStep)), s.Add(v[1], vmath.Exp(b, power))}
	})
	y := s.Select(pole, s.f(math.Inf(1)), s.Mul(r[1], s.f(powersStep)))
	return s.checked(proper, y)
}
