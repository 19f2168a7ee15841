package op

import "weft/internal/vmath"

// Kummer's function of moderate parameters. Its series in z = |x| has terms of one sign from k = -top on, where top is
// the numerator's parameter, a or b-a. So only the first kummerHead terms may cancel the others. They are added up one
// by one, the others four at a time with one division.
const (
	// kummerHead is the number of terms in the head, kummerLow the least top: below it terms behind the head change sign.
	kummerHead, kummerLow = 4, -3.5
	// kummerMost bounds b and top, kummerLeastB is the least b. kummerReach bounds the mean number of terms, each
	// weighted by its size: the relative error of a term grows with its number.
	kummerMost, kummerLeastB, kummerReach = 20, 0.05, 16
	// kummerTerms bounds the terms.
	kummerTerms = 160
	// kummerLoss is the size of terms of the head beside the sum from which all are added up in two floats,
	// kummerLossNarrow where the result has at most 24 bits.
	kummerLoss, kummerLossNarrow = 2.5, 0x1p14
	// kummerEnough is the size of the last term beside the sum, kummerEnoughNarrow where the result has at most 24 bits.
	kummerEnough, kummerEnoughNarrow, kummerEnoughTwofold = 0x1p-55, 0x1p-36, 0x1p-58
)

// kummer is Kummer's function of a, b and x, for x below 0 by Kummer's transformation (DLMF 13.2.39).
func (s stream) kummer(a, b, x val) val {
	zero, one := s.f(0), s.f(1)
	size := s.Abs(x)
	left := s.Or(s.And(s.Lt(x, zero), s.Not(s.ends(a))), s.Eq(a, b))
	ba := s.differ(b, a)
	top := s.selectTwofold(left, ba, twofold{a, zero})
	beyond := s.Max(s.Sub(top.hi, b), zero)
	usual := s.both(s.Le(s.f(kummerLeastB), b), s.Lt(s.Max(b, top.hi), s.f(kummerMost)), s.Lt(s.f(kummerLow), top.hi),
		s.Lt(s.Add(size, beyond), s.f(kummerReach)))
	pick := func(x val) val { return s.Select(usual, x, one) }
	p := kummerSum{top: twofold{pick(top.hi), s.Select(usual, top.lo, zero)}, b: pick(b)}
	p.z = s.Select(usual, s.Select(left, s.Neg(x), x), zero)
	p.least = s.Max(s.f(kummerHead), s.Mul(s.f(2), s.Add(s.Abs(p.z), s.Select(usual, beyond, zero))))
	sum := s.kummerSlope(s.kummerSum(usual, p), p)
	y := s.Mul(sum, vmath.Exp(s.bld, s.Select(s.And(usual, left), x, zero)))
	rest := s.Not(usual)
	return s.If(rest, func() []val {
		pick := func(x val) val { return s.Select(rest, x, one) }
		return []val{s.kummerAnywhere(pick(a), pick(b), pick(x))}
	}, func() []val { return []val{y} })[0]
}

// A kummerSum is the series of (top)_k/((b)_k*k!)*z^k. From its term least on each is at most half of the one before.
type kummerSum struct {
	top         twofold
	b, z, least val
	base        val // z times top+kummerHead: behind the head, where least is less by kummerHead
}

// factors are what the term kummerHead+k is multiplied with and divided by to give the next one: z*(top+kummerHead+k) and
// n*(n-1+b) with n = kummerHead+k+1. Sums of a parameter and k would have the same rounding for many k.
func (p kummerSum) factors(s stream, k val) (up, down val) {
	last, n := s.Add(k, s.f(kummerHead)), s.Add(k, s.f(kummerHead+1))
	return s.Fma(p.z, k, p.base), s.Fma(n, last, s.Mul(n, p.b))
}

// more reports whether there are terms left that count.
func (p kummerSum) more(s stream, sum, term, k val, enough float64) val {
	counts := s.Or(s.Lt(s.Mul(s.Abs(sum), s.f(enough)), s.Abs(term)), s.Lt(k, p.least))
	return s.And(counts, s.Lt(k, s.f(kummerTerms)))
}

// kummerSum adds up the series where active holds.
func (s stream) kummerSum(active val, p kummerSum) val {
	loss, enough := kummerLoss, kummerEnough
	if s.narrow {
		loss, enough = kummerLossNarrow, kummerEnoughNarrow
	}
	// The head. What top lacks counts where top is beside a negative whole number.
	var up, down [kummerHead]val
	for j := range up {
		k := s.f(float64(j))
		up[j] = s.Mul(p.z, s.Add(s.Add(p.top.hi, k), p.top.lo))
		down[j] = s.Mul(s.Add(p.b, k), s.f(float64(j+1)))
	}
	d01, d23 := s.Mul(down[0], down[1]), s.Mul(down[2], down[3])
	inverse := s.Div(s.f(1), s.Mul(d01, d23))
	u01 := s.Mul(up[0], up[1])
	u012 := s.Mul(u01, up[2])
	t1, t2 := s.Mul(up[0], s.Mul(s.Mul(down[1], d23), inverse)), s.Mul(u01, s.Mul(d23, inverse))
	t3, t4 := s.Mul(u012, s.Mul(down[3], inverse)), s.Mul(s.Mul(u012, up[3]), inverse)
	most := s.Max(s.Max(s.f(1), s.Abs(t1)), s.Max(s.Abs(t2), s.Abs(t3)))
	head := s.Add(s.Add(s.f(1), t1), s.Add(t2, s.Add(t3, t4)))
	start := s.Select(active, t4, s.f(0))
	behind := p
	behind.base = s.Mul(p.z, s.Add(p.top.hi, s.f(kummerHead)))
	behind.least = s.Sub(p.least, s.f(kummerHead))
	v := s.While([]val{head, start, s.f(0)}, func(v []val) val { return behind.more(s, v[0], v[1], v[2], enough) }, func(v []val) []val {
		return behind.four(s, v[0], v[1], v[2])
	})
	lost := s.And(active, s.Lt(s.Mul(s.Abs(v[0]), s.f(loss)), most))
	return s.If(lost, func() []val { return []val{s.kummerTwofold(lost, p)} }, func() []val { return []val{v[0]} })[0]
}

// kummerSlope is sum plus what the low part of top adds, which [stream.kummerSum] leaves out where all terms have one sign.
// The greatest term is k = z*(top+k)/(k-1+b), and there the logarithm of (top)_k has the derivative ln((top+k)/top).
func (s stream) kummerSlope(sum val, p kummerSum) val {
	one, half := s.f(1), s.f(0.5)
	counts := s.And(s.Lt(one, p.top.hi), s.Not(s.Eq(p.top.lo, s.f(0))))
	return s.If(counts, func() []val {
		b, top := s.Sub(s.Sub(p.z, p.b), s.f(-1)), s.Select(counts, p.top.hi, one)
		k := s.Mul(half, s.Add(b, s.Sqrt(s.Fma(b, b, s.Mul(s.Mul(s.f(4), s.Abs(p.z)), top)))))
		slope := vmath.Log(s.bld, s.Add(one, s.Div(k, s.Sub(top, half))))
		return []val{s.Select(counts, s.Fma(sum, s.Mul(slope, p.top.lo), sum), sum)}
	}, func() []val { return []val{sum} })[0]
}

// four adds the four terms behind the term kummerHead+k to sum. They are
//
//	t*u0/d0 * (1 + u1/d1 * (1 + u2/d2 * (1 + u3/d3)))
func (p kummerSum) four(s stream, sum, t, k val) []val {
	var up, down [4]val
	at := k
	for j := range up {
		if j > 0 {
			at = s.Add(k, s.f(float64(j)))
		}
		up[j], down[j] = p.factors(s, at)
	}
	d23 := s.Mul(down[2], down[3])
	d123 := s.Mul(down[1], d23)
	inner := s.Fma(up[2], s.Add(up[3], down[3]), d23)
	terms := s.Mul(up[0], s.Fma(up[1], inner, d123))
	over := s.Div(t, s.Mul(down[0], d123))
	product := s.Mul(s.Mul(up[0], up[1]), s.Mul(up[2], up[3]))
	return []val{s.Fma(over, terms, sum), s.Mul(over, product), s.Add(k, s.f(4))}
}

// kummerTwofold is the sum with terms in two floats, whose second ones are not rounded into the first.
func (s stream) kummerTwofold(active val, p kummerSum) val {
	zero, one := s.f(0), s.f(1)
	start := s.Select(active, one, zero)
	v := s.While([]val{one, zero, start, zero, zero}, func(v []val) val { return p.more(s, v[0], v[2], v[4], kummerEnoughTwofold) }, func(v []val) []val {
		k, next := v[4], s.Add(v[4], one)
		a, aLow := s.difference(k, s.Neg(p.top.hi))
		aLow = s.Add(aLow, p.top.lo)
		b, bLow := s.difference(k, s.Neg(p.b))
		up, down := s.Mul(p.z, a), s.Mul(b, next)
		upLow := s.Fma(p.z, aLow, s.Fma(p.z, a, s.Neg(up)))
		downLow := s.Fma(bLow, next, s.Fma(b, next, s.Neg(down)))
		inverse := s.Div(one, down)
		ratio := s.Mul(up, inverse)
		left := s.Fma(s.Neg(ratio), downLow, s.Add(s.Fma(s.Neg(ratio), down, up), upLow))
		ratioLow := s.Mul(left, inverse)
		t := s.Mul(v[2], ratio)
		tLow := s.Fma(v[3], ratio, s.Fma(v[2], ratioLow, s.Fma(v[2], ratio, s.Neg(t))))
		sum, sumLow := s.difference(v[0], s.Neg(t))
		return []val{sum, s.Add(v[1], s.Add(sumLow, tLow)), t, tLow, next}
	})
	return s.Add(v[0], v[1])
}
