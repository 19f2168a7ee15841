package op

import (
	"math"

	"weft/internal/vmath"
)

// Hypergeometric functions of real numbers by their power series. Where its terms cancel they are added up again
// in two floats each. Gauss' function is taken to arguments from 0 to 1 by the transformations of DLMF 15.8.1, whichever
// leaves the greater parameters, so that terms have one sign. From hyperNear on its differential equation (DLMF
// 15.10.1) is followed by Taylor's series in steps of half the distance to 1 (J. Pearson, S. Olver, M. Porter,
// Numerical methods for the computation of the confluent and Gauss hypergeometric functions, Numer. Algorithms
// 74, 2017, section 4.7). That serves where the parameters differ by whole numbers too.
var Hyp2F1, Hyp1F1, Hyp0F1 *Def

const (
	hyperNear = 0.68
	// maxHyperTerms bounds the terms of a series, maxHyperSteps the steps towards 1, which lies 2^-1074 away at most.
	maxHyperTerms, maxHyperSteps = 12_000, 1100
	// hyperLoss is the size of terms beside their sum from which they cancel.
	hyperLoss = 3
	// hyperMean is the mean number of terms, each weighted by its size, up to which the quick sum serves: the relative error
	// of a term grows with its number.
	hyperMean = 16
	// hyperDeep is the size of terms beside their sum at which a sum ends that steps start from. Steps magnify
	// its error by up to 2^gaussWide.
	hyperDeep = 0x1p-90
	// hyperGone is the size of terms above hyperLarge, beside their sum, from which sums in two floats have no digits.
	hyperGone, hyperLarge = 0x1p97, 0x1p60
	// hyperTiny is a bottom parameter below which terms may overflow although their sum, times it, does not.
	hyperTiny = 0x1p-800
	// hyperVast is the size of parameters and arguments whose terms are taken one by one.
	hyperVast = 1e40
	// gaussWide is a size of c from which Taylor's series about 1/2 lose digits to the solution x^(1-c). There the power
	// series serves up to gaussSlow, from where steps are short.
	gaussWide, gaussSlow = 30, 0.98
	// gaussDegree bounds polynomials whose terms alternate.
	gaussDegree = 40
)

func init() {
	Hyp2F1 = wideSpecial("hyp2f1", 4000, "Gauss' hypergeometric function.", Conformance{Domains: [][2]float64{{0.2, 3}, {0.2, 3}, {0.5, 4}, {-2, 0.9}}, Flat: []int{0, 1, 2}},
		func(s stream, x []val) val { return s.gauss(x[0], x[1], x[2], x[3]) }, func(v *VJP) {
			for i, name := range []string{"a", "b", "c"} {
				noGradient(v, i, "hyp2f1", name)
			}
			v.Set(3, func() *node {
				a, b, c := v.X[0], v.X[1], v.X[2]
				product := mul(a, b)
				flat := apply(Eq, product, num(product, 0)) // a function of 1, also where its c is a pole
				up := Apply(Hyp2F1, nil, where(flat, num(a, 0), add(a, one(a))), add(b, one(b)), add(c, one(c)), v.X[3])
				return mul(v.DY, mul(div(product, where(flat, one(c), c)), up))
			})
		})
}

// twofold is x in two floats.
func (s stream) twofold(x float64) twofold { return twofold{s.f(x), s.f(0)} }

// differ is x-y in two floats.
func (s stream) differ(x, y val) twofold { hi, lo := s.exactly(x, s.Neg(y)); return twofold{hi, lo} }

func (s stream) addTwofold(x, y twofold) twofold {
	hi, lo := s.exactly(x.hi, y.hi, s.Add(x.lo, y.lo))
	return twofold{hi, lo}
}

func (s stream) mulTwofold(x, y twofold) twofold {
	p := s.Mul(x.hi, y.hi)
	low := s.Fma(x.hi, y.lo, s.Fma(x.lo, y.hi, s.Fma(x.hi, y.hi, s.Neg(p))))
	hi := s.Add(p, low)
	return twofold{hi, s.Sub(low, s.Sub(hi, p))}
}

func (s stream) divTwofold(x, y twofold) twofold {
	q := s.Div(x.hi, y.hi)
	rest := s.Sub(s.Add(s.Fma(s.Neg(q), y.hi, x.hi), x.lo), s.Mul(q, y.lo))
	low := s.Div(rest, y.hi)
	hi := s.Add(q, low)
	return twofold{hi, s.Sub(low, s.Sub(hi, q))}
}

func (s stream) selectTwofold(c val, x, y twofold) twofold {
	return twofold{s.Select(c, x.hi, y.hi), s.Select(c, x.lo, y.lo)}
}

// hyper is the sum of the product of all (top)_k, divided by the product of all (bottom)_k and by k!, times x^k. The
// second result has the factors k too: x times the derivative. Sums of terms that cancel or are many are taken in two
// floats, and lanes that are deep with a relative error of hyperDeep.
func (s stream) hyper(active, deep val, top, bottom []twofold, x twofold) (y, slope twofold) {
	zero, one := s.f(0), s.f(1)
	// All parameters count before terms come to fall.
	least := zero
	for _, p := range append(top[:len(top):len(top)], bottom...) {
		least = s.Min(least, p.hi)
	}
	least = s.Min(s.Neg(least), s.f(maxHyperTerms))
	more := func(enough, sum, term, last, k val) val {
		falls := s.And(s.Lt(s.Abs(term), s.Mul(s.Abs(sum), enough)), s.both(s.Le(s.Abs(term), s.Abs(last)), s.Le(least, k)))
		return s.both(s.Not(falls), s.Lt(zero, s.Abs(term)), s.Lt(s.Abs(term), s.f(math.Inf(1))), s.Lt(k, s.f(maxHyperTerms)))
	}
	enough := s.f(0x1p-57)
	factors := func(k, next val) (up, down val) {
		up, down = x.hi, next
		for _, p := range top {
			up = s.Mul(up, s.Add(p.hi, k))
		}
		for _, p := range bottom {
			down = s.Mul(down, s.Add(p.hi, k))
		}
		return up, s.Select(s.Eq(up, zero), one, down)
	}
	// Of vast numbers products of the factors of two terms overflow.
	size := s.Abs(x.hi)
	for _, p := range append(top[:len(top):len(top)], bottom...) {
		size = s.Max(size, s.Abs(p.hi))
	}
	vast := s.And(active, s.Lt(s.f(hyperVast), size))
	from := s.hyperStart(top, bottom, x)
	begin := func(active val) []val {
		sum, most := s.addTwofold(from.one, from.term), s.Max(s.Abs(from.one.hi), s.Abs(from.term.hi))
		sum.hi, most = s.Select(from.tiny, sum.hi, one), s.Select(from.tiny, most, one)
		start := s.Select(active, s.Select(from.tiny, from.term.hi, one), zero)
		return []val{sum.hi, start, start, s.Select(from.tiny, one, zero), s.Select(from.tiny, from.term.hi, zero), most}
	}
	v := s.While(begin(s.And(active, s.Not(vast))), func(v []val) val { return more(enough, v[0], v[1], v[2], v[3]) }, func(v []val) []val {
		k, next := v[3], s.Add(v[3], one)
		after := s.Add(next, one)
		up, down := factors(k, next)
		up2, down2 := factors(next, after)
		// Behind the last term of a sum that ends the bottom may be 0.
		over := s.Div(v[1], s.Mul(down, s.Select(s.Eq(up, zero), one, down2)))
		t := s.Mul(s.Mul(over, down2), up)
		t2 := s.Mul(s.Mul(over, up), up2)
		most := s.Max(s.Abs(t), s.Abs(t2))
		return []val{s.Add(v[0], s.Add(t, t2)), t2, t, after, s.Fma(next, t, s.Fma(after, t2, v[4])), s.Max(v[5], most)}
	})
	v = s.If(vast, func() []val {
		return s.While(begin(vast), func(v []val) val { return more(enough, v[0], v[1], v[2], v[3]) }, func(v []val) []val {
			k, next := v[3], s.Add(v[3], one)
			up, down := factors(k, next)
			t := s.Mul(v[1], s.Div(up, down))
			return []val{s.Add(v[0], t), t, v[1], next, s.Fma(next, t, v[4]), s.Max(v[5], s.Abs(t))}
		})
	}, func() []val { return v })
	many := s.And(s.Not(vast), s.Or(deep, s.Lt(s.Mul(s.Abs(v[0]), s.f(hyperMean)), s.Abs(v[4]))))
	lost := s.both(active, s.Or(many, s.Lt(s.Mul(s.Abs(v[0]), s.f(hyperLoss)), v[5])), s.finite(v[5]))
	long2 := s.If(lost, func() []val {
		unit, none := twofold{one, zero}, twofold{zero, zero}
		sum := s.selectTwofold(from.tiny, s.addTwofold(from.one, from.term), unit)
		t := s.selectTwofold(lost, s.selectTwofold(from.tiny, from.term, unit), none)
		slope := s.selectTwofold(from.tiny, from.term, none)
		w := s.While([]val{sum.hi, sum.lo, t.hi, t.lo, t.hi, s.Select(from.tiny, one, zero), slope.hi, slope.lo}, func(v []val) val { return more(s.Select(deep, s.f(hyperDeep), enough), v[0], v[2], v[4], v[5]) }, func(v []val) []val {
			k := v[5]
			next := twofold{s.Add(k, one), zero}
			up, down := x, next
			for _, p := range top {
				up = s.mulTwofold(up, s.addTwofold(p, twofold{k, zero}))
			}
			for _, p := range bottom {
				down = s.mulTwofold(down, s.addTwofold(p, twofold{k, zero}))
			}
			t := s.selectTwofold(s.Eq(up.hi, zero), twofold{zero, zero}, s.mulTwofold(twofold{v[2], v[3]}, s.divTwofold(up, down)))
			sum := s.addTwofold(twofold{v[0], v[1]}, t)
			slope := s.addTwofold(twofold{v[6], v[7]}, s.mulTwofold(next, t))
			return []val{sum.hi, sum.lo, t.hi, t.lo, v[2], next.hi, slope.hi, slope.lo}
		})
		return []val{w[0], w[1], w[6], w[7]}
	}, s.zeros(4))
	y = s.selectTwofold(lost, twofold{long2[0], long2[1]}, twofold{v[0], zero})
	slope = s.selectTwofold(lost, twofold{long2[2], long2[3]}, twofold{v[4], zero})
	// What has no digits left is not a number: not two floats' either, or terms that grow beyond all numbers with signs
	// in turns.
	gone := s.both(lost, s.Lt(s.f(hyperLarge), v[5]), s.Lt(s.Mul(s.Abs(y.hi), s.f(hyperGone)), v[5]))
	turns := s.Xor(s.Lt(v[1], zero), s.Lt(v[2], zero))
	gone = s.Or(gone, s.both(active, turns, s.Not(s.finite(v[5]))))
	scaled := func(of twofold) twofold {
		return twofold{s.Div(of.hi, from.one.hi), s.Select(s.Or(from.tiny, s.Not(s.finite(of.hi))), zero, of.lo)}
	}
	y = scaled(y)
	y.hi = s.checked(s.Not(gone), y.hi)
	return y, scaled(slope)
}

// A hyperStart is where the sum of [stream.hyper] starts. The terms beside a tiny bottom overflow where their sum times it
// does not: that is summed, from the second term on.
type hyperStart struct {
	tiny val     // whether a bottom is
	one  twofold // the tiny bottom: what the sum has as its first term and as a factor. It is 1 if none is tiny
	term twofold // the second term times one
}

func (s stream) hyperStart(top, bottom []twofold, x twofold) hyperStart {
	zero, unit := s.f(0), twofold{s.f(1), s.f(0)}
	h := hyperStart{s.Lt(unit.hi, zero), unit, x}
	for _, p := range top {
		h.term = s.mulTwofold(h.term, p)
	}
	for _, p := range bottom {
		tiny := s.And(s.Lt(s.Abs(p.hi), s.f(hyperTiny)), s.Lt(zero, s.Abs(p.hi)))
		h.tiny, h.one = s.Or(h.tiny, tiny), s.selectTwofold(tiny, p, h.one)
		h.term = s.selectTwofold(tiny, h.term, s.divTwofold(h.term, p))
	}
	return h
}

// ends reports that a parameter is a negative whole number or 0, so that its series ends.
func (s stream) ends(x val) val { return s.And(s.Le(x, s.f(0)), s.Eq(x, s.Floor(x))) }

// gammaNegative reports that gamma(x) is below 0.
func (s stream) gammaNegative(x val) val {
	return s.And(s.Lt(x, s.f(0)), s.Not(s.Eq(s.parity(s.Floor(x)), s.f(0))))
}

// gaussAnywhere is Gauss' function of any numbers.
func (s stream) gaussAnywhere(a0, b0, c0, x0 val) val {
	bb, zero, one := s.bld, s.f(0), s.f(1)
	known := s.both(s.finite(a0), s.finite(b0), s.finite(c0), s.finite(x0))
	pick := func(x val, otherwise float64) val { return s.Select(known, x, s.f(otherwise)) }
	a, b, c, x := pick(a0, 1), pick(b0, 1), pick(c0, 1), pick(x0, 0)
	finite := s.Or(s.ends(a), s.ends(b))
	// A polynomial whose degree is above that of the pole of a whole negative c is infinite.
	degree := s.Select(s.ends(a), s.Select(s.ends(b), s.Max(a, b), a), s.Select(s.ends(b), b, s.f(-1e300)))
	pole := s.both(s.ends(c), s.Lt(degree, c), s.Not(s.Eq(x, zero)))
	binomial := s.both(s.Or(s.Eq(a, c), s.Eq(b, c)), s.Lt(x, one), s.Not(s.ends(c)))
	inside := s.both(known, s.Not(pole), s.Or(finite, s.Lt(x, one)))
	// The parameters of both forms, and the power of 1-x in front.
	less := s.differ(one, x)
	ca, cb := s.differ(c, a), s.differ(c, b)
	left := s.And(s.Lt(x, zero), s.Not(finite))
	first := [2]twofold{{a, zero}, s.selectTwofold(left, cb, twofold{b, zero})}
	second := [2]twofold{s.selectTwofold(left, twofold{b, zero}, ca), s.selectTwofold(left, ca, cb)}
	power := s.addTwofold(ca, twofold{s.Neg(b), zero})
	none := twofold{zero, zero}
	powers := [2]twofold{s.selectTwofold(left, twofold{s.Neg(a), zero}, none), s.selectTwofold(left, twofold{s.Neg(b), zero}, power)}
	low := func(p [2]twofold) val { return s.Min(p[0].hi, p[1].hi) }
	// A long polynomial whose terms alternate cancels beyond two floats.
	short := s.Or(s.Lt(s.f(-gaussDegree), low(second)), s.And(s.ends(ca.hi), s.ends(cb.hi)))
	over := s.And(s.Or(s.Lt(low(first), low(second)), s.both(s.Not(left), s.Or(s.ends(ca.hi), s.ends(cb.hi)), short)), s.Not(finite))
	over = s.And(over, s.Not(s.And(left, s.ends(cb.hi))))
	// Next to 1 a high power of 1-x is 0, and what it multiplies infinite.
	ln := vmath.Log(bb, s.positive(less.hi))
	over = s.And(over, s.Or(left, s.Lt(s.f(-600), s.Mul(power.hi, ln))))
	p, q := s.selectTwofold(over, second[0], first[0]), s.selectTwofold(over, second[1], first[1])
	front := s.selectTwofold(over, powers[1], powers[0])
	w := s.selectTwofold(left, s.divTwofold(twofold{s.Neg(x), zero}, less), twofold{x, zero})
	rest := s.selectTwofold(left, s.divTwofold(twofold{one, zero}, less), less)
	far := s.both(inside, s.Not(s.Or(finite, binomial)), s.Lt(s.f(hyperNear), w.hi), s.Not(s.ends(p.hi)), s.Not(s.ends(q.hi)))
	from := s.Select(s.Lt(s.Abs(c), s.f(gaussWide)), s.f(0.5), s.f(gaussSlow))
	far = s.And(far, s.Lt(from, w.hi))
	total, slope := s.hyper(s.And(inside, s.Not(binomial)), far, []twofold{p, q}, []twofold{{c, zero}}, s.selectTwofold(far, twofold{from, zero}, w))
	y := s.If(far, func() []val {
		unit := s.twofold(1)
		pick := func(x twofold) twofold { return s.selectTwofold(far, x, unit) }
		g := gaussWay{pick(p), pick(q), pick(twofold{c, zero})}
		return []val{s.gaussSteps(g, s.Sub(one, from), s.selectTwofold(far, rest, s.twofold(0.5)), total, s.divTwofold(slope, twofold{from, zero}))}
	}, func() []val { return []val{total.hi} })[0]
	front = s.selectTwofold(binomial, twofold{s.Neg(s.Select(s.Eq(a, c), b, a)), zero}, front)
	y = s.Select(binomial, one, y)
	y = s.Select(s.Eq(front.hi, zero), y, s.Mul(s.powerOf(less, front), y))
	// Gauss' sum at 1 (DLMF 15.4.20).
	atOne := s.And(s.Eq(x, one), s.Not(finite))
	sum := s.If(atOne, func() []val {
		return []val{s.Mul(s.quotientGamma(c, ca.hi), s.quotientGamma(power.hi, cb.hi))}
	}, s.zeros(1))[0]
	// It is infinite with the sign of gamma(c)*gamma(a+b-c)/(gamma(a)*gamma(b)) (DLMF 15.4.21 and 15.4.23).
	negative := s.Xor(s.Xor(s.gammaNegative(a), s.gammaNegative(b)), s.gammaNegative(c))
	infinite := s.Select(negative, s.f(math.Inf(-1)), s.f(math.Inf(1)))
	y = s.Select(atOne, s.Select(s.Lt(zero, power.hi), sum, infinite), y)
	y = s.Select(s.Or(pole, s.And(s.Lt(one, x), s.Not(finite))), s.f(math.Inf(1)), y)
	return s.checked(known, s.Select(s.Or(s.Eq(a, zero), s.Eq(b, zero)), one, y))
}

// quotientGamma is gamma(x)/gamma(y), 0 at the poles of the latter.
func (s stream) quotientGamma(x, y val) val {
	b := s.bld
	large := vmath.Exp(b, s.Sub(vmath.Lgamma(b, x), vmath.Lgamma(b, y)))
	q := s.Div(vmath.Gamma(b, x), vmath.Gamma(b, y))
	return s.Select(s.ends(y), s.f(0), s.Select(s.both(s.Lt(s.f(100), s.Max(x, y)), s.Lt(s.f(0), s.Min(x, y))), large, q))
}

// positive is x where it is above 0, else 1.
func (s stream) positive(x val) val { return s.Select(s.Lt(s.f(0), x), x, s.f(1)) }

// powerOf is x^e of a positive x. The exponent of e has the roundings of both.
func (s stream) powerOf(x, e twofold) val {
	zero, hi := s.f(0), s.positive(x.hi)
	ln := s.addTwofold(s.twoLn(hi), twofold{s.Div(x.lo, hi), zero})
	usual := s.Lt(s.Abs(s.Mul(e.hi, ln.hi)), s.f(800))
	exponent := s.mulTwofold(s.selectTwofold(usual, e, s.twofold(0)), ln)
	return s.Select(usual, s.twoExp(exponent), vmath.Pow(s.bld, x.hi, e.hi))
}

// A gaussWay is the parameters of a function that is followed towards 1.
type gaussWay struct{ a, b, c twofold }

// A gaussStep is what the terms of Taylor's series about 1-d have in common, at the distance h: with x = 1-d,
//
//	(k+1)(k+2) t[k+2] = (k+1) h/(x*d) * ((1-2d)k - inner) t[k+1] + h^2/(x*d) * (k+a)(k+b) t[k]
type gaussStep struct{ ratio, square, inner, bend twofold }

func (s stream) gaussStep(g gaussWay, d val, h twofold) gaussStep {
	one := s.f(1)
	at := s.twoTimes(s.differ(one, d), d)
	sum := s.addTwofold(s.addTwofold(g.a, g.b), s.twofold(1))
	ratio := s.divTwofold(h, at)
	inner := s.addTwofold(s.twoTimes(sum, d), s.addTwofold(g.c, s.twoMinus(sum)))
	return gaussStep{ratio, s.mulTwofold(ratio, h), inner, s.differ(one, s.Add(d, d))}
}

// next is the term k+2 beside t0 and t1, the terms k and k+1.
func (s stream) next(g gaussWay, p gaussStep, k val, t0, t1 twofold) twofold {
	k1, k2, at := s.Add(k, s.f(1)), s.Add(k, s.f(2)), twofold{k, s.f(0)}
	by := s.mulTwofold(p.ratio, s.addTwofold(s.twoTimes(p.bend, k), s.twoMinus(p.inner)))
	up := s.mulTwofold(p.square, s.mulTwofold(s.addTwofold(g.a, at), s.addTwofold(g.b, at)))
	t := s.addTwofold(s.twoTimes(s.mulTwofold(by, t1), k1), s.mulTwofold(up, t0))
	return s.twoOver(t, s.Mul(k1, k2))
}

// grown is sum plus t: infinite where that overflows, as t is with no value in two floats.
func (s stream) grown(sum, t twofold) twofold {
	size := s.Select(s.Eq(t.hi, t.hi), t.hi, s.Mul(sum.hi, s.f(math.Inf(1))))
	y := s.addTwofold(sum, t)
	return twofold{s.Select(s.Eq(y.hi, y.hi), y.hi, s.Add(sum.hi, size)), y.lo}
}

// gaussSteps follows the function in two floats from 1-start, where it is y with the derivative dy, to 1-rest. The solutions
// that are not wanted may grow by 2^gaussWide beside it.
func (s stream) gaussSteps(g gaussWay, start val, rest, y, dy twofold) val {
	zero, one, half, inf := s.f(0), s.f(1), s.f(0.5), s.f(math.Inf(1))
	// Products that terms are made of may overflow before terms do.
	scale := s.Select(s.Lt(s.f(0x1p700), s.Max(s.Abs(y.hi), s.Abs(dy.hi))), s.f(0x1p-128), one)
	y, dy = s.twoTimes(y, scale), s.twoTimes(dy, scale)
	v := s.While([]val{y.hi, y.lo, dy.hi, dy.lo, start, zero}, func(v []val) val {
		return s.both(s.Lt(rest.hi, v[4]), s.Lt(v[5], s.f(maxHyperSteps)), s.Lt(s.Abs(v[0]), inf), s.Lt(s.Abs(v[2]), inf))
	}, func(v []val) []val {
		d, y, dy := v[4], twofold{v[0], v[1]}, twofold{v[2], v[3]}
		left := s.addTwofold(twofold{d, zero}, s.twoMinus(rest))
		short := s.Lt(s.Mul(d, half), left.hi)
		h := s.selectTwofold(short, twofold{s.Mul(d, half), zero}, left)
		p := s.gaussStep(g, d, h)
		slope := s.mulTwofold(dy, h)
		sum := s.addTwofold(y, slope)
		w := s.While([]val{y.hi, y.lo, slope.hi, slope.lo, sum.hi, sum.lo, slope.hi, slope.lo, zero}, func(w []val) val {
			size := s.Max(s.Abs(w[0]), s.Abs(w[2]))
			return s.both(s.Lt(s.Mul(s.Abs(w[4]), s.f(hyperDeep)), size), s.Lt(w[8], s.f(maxHyperTerms)), s.Lt(s.Abs(w[4]), inf))
		}, func(w []val) []val {
			k, t1 := w[8], twofold{w[2], w[3]}
			t := s.next(g, p, k, twofold{w[0], w[1]}, t1)
			sum := s.grown(twofold{w[4], w[5]}, t)
			slope := s.grown(twofold{w[6], w[7]}, s.twoTimes(t, s.Add(k, s.f(2))))
			return []val{t1.hi, t1.lo, t.hi, t.lo, sum.hi, sum.lo, slope.hi, slope.lo, s.Add(k, one)}
		})
		next := s.divTwofold(twofold{w[6], w[7]}, h)
		return []val{w[4], w[5], next.hi, next.lo, s.Select(short, s.Mul(d, half), rest.hi), s.Add(v[5], one)}
	})
	return s.Div(v[0], scale)
}

// kummerFar is the least size of x from which Kummer's function is its asymptotic expansion.
const kummerFar, kummerLeast = 50, 1e-3

func init() {
	Hyp1F1 = wideSpecial("hyp1f1", 2000, "Kummer's confluent hypergeometric function.", Conformance{Domains: [][2]float64{{0.2, 3}, {0.5, 4}, {-3, 3}}, Flat: []int{0, 1}},
		func(s stream, x []val) val { return s.kummer(x[0], x[1], x[2]) }, func(v *VJP) {
			noGradient(v, 0, "hyp1f1", "a")
			noGradient(v, 1, "hyp1f1", "b")
			v.Set(2, func() *node {
				a, b := v.X[0], v.X[1]
				flat := apply(Eq, a, num(a, 0))
				up := Apply(Hyp1F1, nil, where(flat, a, add(a, one(a))), add(b, one(b)), v.X[2])
				return mul(v.DY, mul(div(a, where(flat, one(b), b)), up))
			})
		})
	Hyp0F1 = wideSpecial("hyp0f1", 1500, "The confluent hypergeometric limit function.", Conformance{Domains: [][2]float64{{0.5, 4}, {-3, 3}}, Flat: []int{0}},
		func(s stream, x []val) val { return s.hyperLimit(x[0], x[1]) }, func(v *VJP) {
			noGradient(v, 0, "hyp0f1", "v")
			v.Set(1, func() *node {
				b := v.X[0]
				return mul(v.DY, div(Apply(Hyp0F1, nil, add(b, one(b)), v.X[1]), b))
			})
		})
}

// kummerAnywhere is Kummer's function of any numbers: for x below 0 by Kummer's transformation (DLMF 13.2.39), and far
// from 0 by DLMF 13.7.2.
func (s stream) kummerAnywhere(a0, b0, x0 val) val {
	bb, zero, one := s.bld, s.f(0), s.f(1)
	known := s.both(s.finite(a0), s.finite(b0), s.Eq(x0, x0))
	a, b := s.Select(known, a0, one), s.Select(known, b0, one)
	x := s.Select(known, s.Max(s.f(-1e300), s.Min(x0, s.f(1e300))), zero)
	finite := s.ends(a)
	pole := s.And(s.ends(b), s.Not(s.And(finite, s.Le(b, a))))
	left := s.And(s.Lt(x, zero), s.Not(finite))
	size := s.Abs(x)
	ba := s.differ(b, a)
	top := s.selectTwofold(left, ba, twofold{a, zero})
	p, q := s.Select(left, a, ba.hi), s.Sub(one, top.hi)
	// The expansion's terms fall to about exp(-|x|)*|x|^(p+q) beside the first.
	reach := s.Mul(s.f(6), s.Add(s.Abs(p), s.Abs(q)))
	spread := s.Mul(s.f(2), s.Mul(s.Add(s.Abs(p), one), s.Add(s.Abs(q), one)))
	far := s.both(s.Lt(s.Add(s.f(kummerFar), s.Max(reach, spread)), size), s.Not(s.Or(finite, s.ends(top.hi))))
	// The expansion leaves out the solution that falls, which is 1 of small a.
	far = s.And(far, s.Or(left, s.Lt(s.f(kummerLeast), s.Abs(a))))
	endless := s.both(s.Lt(s.f(1e4), x), s.Not(finite))
	active := s.both(known, s.Not(pole), s.Not(far), s.Not(endless))
	total, _ := s.hyper(active, s.Lt(zero, zero), []twofold{top}, []twofold{{b, zero}}, twofold{s.Select(left, size, x), zero})
	y := total.hi
	wide := s.If(far, func() []val {
		over := s.Div(one, s.Select(far, size, s.f(1e3)))
		v := s.While([]val{one, s.Select(far, one, zero), zero}, func(v []val) val {
			return s.And(s.Lt(s.Mul(s.Abs(v[0]), s.f(0x1p-57)), s.Abs(v[1])), s.Lt(v[2], s.f(kummerFar)))
		}, func(v []val) []val {
			k := v[2]
			next := s.Add(k, one)
			t := s.Mul(v[1], s.Mul(s.Div(s.Mul(s.Add(p, k), s.Add(q, k)), next), over))
			return []val{s.Add(v[0], t), t, next}
		})
		// The rounding of b-a counts in the power, or in gamma(b-a).
		power := s.selectTwofold(left, twofold{s.Neg(a), zero}, s.twoMinus(ba))
		gamma := s.quotientGamma(b, top.hi)
		gamma = s.Select(left, s.Fma(gamma, s.Neg(s.Mul(vmath.Digamma(bb, s.Select(left, ba.hi, one)), ba.lo)), gamma), gamma)
		return []val{s.Mul(s.Mul(v[0], gamma), s.powerOf(twofold{s.Abs(x0), zero}, power))}
	}, s.zeros(1))[0]
	y = s.Select(far, wide, y)
	scaled := s.Or(s.And(left, s.Not(far)), s.And(far, s.Not(left)))
	e := vmath.Exp(bb, s.Mul(s.f(0.5), s.Select(scaled, x, zero)))
	y = s.Mul(s.Mul(y, e), e)
	grown := s.If(endless, func() []val { return []val{s.Mul(s.quotientGamma(b, a), s.f(math.Inf(1)))} }, s.zeros(1))[0]
	y = s.Select(endless, grown, y)
	y = s.Select(s.both(s.Eq(a, b), s.Not(finite)), vmath.Exp(bb, x), y)
	y = s.Select(s.Eq(a, zero), one, y)
	return s.checked(known, s.Select(pole, s.f(math.Inf(1)), y))
}

// limitFar is the size of x below 0 from which the limit function is Bessel's.
const limitFar, limitOrder = 300, 20

// hyperLimit is the sum of x^k/((b)_k*k!), for large negative x by Bessel's function (DLMF 10.16.9).
func (s stream) hyperLimit(b0, x0 val) val {
	bb, zero, one := s.bld, s.f(0), s.f(1)
	known := s.both(s.finite(b0), s.finite(x0), s.Not(s.ends(b0)))
	b, x := s.Select(known, b0, one), s.Select(known, x0, zero)
	// Orders above -x/limitOrder have a series whose terms cancel little.
	far := s.Lt(x, s.Min(s.f(-limitFar), s.Mul(b, s.f(-limitOrder))))
	y, _ := s.hyper(s.And(known, s.Not(far)), s.Lt(zero, zero), nil, []twofold{{b, zero}}, twofold{s.Select(far, zero, x), zero})
	wave := s.If(far, func() []val {
		size := s.Select(far, s.Neg(x), s.f(limitFar))
		order := s.Sub(b, one)
		root := s.Sqrt(size)
		at := s.Add(root, root)
		j := s.besselJY(order, at, false)
		// What the root lacks times the derivative, DLMF 10.6.2.
		slope := s.Sub(s.Mul(s.Div(order, at), j), s.besselJY(b, at, false))
		j = s.Fma(s.Div(s.Fma(s.Neg(root), root, size), root), slope, j)
		return []val{s.Mul(s.Mul(vmath.Gamma(bb, b), vmath.Pow(bb, root, s.Neg(order))), j)}
	}, s.zeros(1))[0]
	return s.checked(known, s.Select(far, wave, y.hi))
}
