package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/vmath"
)

// Random numbers of distributions whose parameters differ by element. Most are made by rejection:
// candidates are drawn until one is accepted. Element i of draw d takes candidate k from the Philox
// block i + k*2^40 of that draw. So it depends on seed, draw and position alone, however many
// candidates its neighbours took. All are computed in float64, whatever the type of the result.
//
// Each is a Composite of the parameters, the seed and the draw. Its attribute is a [Variate]. Like
// [Distribution] they are no part of the op table.
var (
	// Poisson takes the rate. Rates below 10 use the inverse of the distribution function. Others
	// use transformed rejection, PTRS (W. Hörmann, "The transformed rejection method for generating
	// Poisson random variables", Insurance: Mathematics and Economics 12, 1993).
	Poisson *Def
	// Binomial takes the number of trials and the probability of success. Fewer than 10 expected
	// successes or failures use the inverse of the distribution function. Others use BTRS
	// (W. Hörmann, "The generation of binomial random variates", Journal of Statistical Computation
	// and Simulation 46, 1993).
	Binomial *Def
	// StandardGamma takes the concentration; the rate is 1 (G. Marsaglia, W. W. Tsang, "A simple
	// method for generating gamma variables", ACM TOMS 26, 2000).
	StandardGamma *Def
	// LogGamma takes the concentration, above 0: the logarithms of the numbers of StandardGamma, which also
	// exist where those are too small for float64. Beta and Dirichlet numbers are made of them.
	LogGamma *Def
	// Geometric takes the probability of success: the number of the first trial that succeeds.
	Geometric *Def
	// TruncatedNormal takes mean, standard deviation and both bounds (C. P. Robert, "Simulation of
	// truncated normal variables", Statistics and Computing 5, 1995).
	TruncatedNormal *Def
)

const (
	// maxCandidates bounds the candidates of an element. Every method accepts each with probability
	// 0.45 or more, so 2^-100 is the chance that none is accepted.
	maxCandidates = 128
	// candidateShift is where the number of a candidate stands in the number of its block.
	candidateShift = 40
	// extraBlock is the number of a block that no candidate has.
	extraBlock = maxCandidates
	// maxInversion bounds the search of a distribution function whose mean is below 10. The
	// probability beyond is below 2^-200.
	maxInversion = 128
	// inversionMean is the mean from which rejection is faster than that search.
	inversionMean = 10
)

// A Variate is the attribute of a draw by element: the type and the shape of the result.
type Variate struct {
	DType array.DType
	Shape []int
}

// AppendKey implements ir.Attrs.
func (a Variate) AppendKey(k []byte) []byte { return ir.Ints(ir.Int(k, int(a.DType)), a.Shape) }

func init() {
	Poisson = variate("poisson", 1, poisson, nil)
	Binomial = variate("binomial", 2, binomial, nil)
	StandardGamma = variate("gamma", 1, standardGamma, func(v *VJP) {
		v.Set(3, func() *node { return mul(v.DY, Apply(gammaSlope, nil, v.Y, v.X[3])) })
	})
	LogGamma = variate("log gamma", 1, logGamma, func(v *VJP) {
		v.Set(3, func() *node { return mul(v.DY, Apply(logGammaSlope, nil, v.Y, v.X[3])) })
	})
	Geometric = variate("geometric", 1, geometric, nil)
	TruncatedNormal = variate("truncated normal", 4, truncatedNormal, nil)
}

// variate defines a draw with a number of parameters. Parameters outside their domain give NaN. The draw
// has no gradient where vjp is nil, which else takes the place, seed, draw and parameters of an element.
func variate(name string, params int, expr func(s stream, x []val) val, vjp func(v *VJP)) *Def {
	if vjp == nil {
		vjp = func(v *VJP) {
			array.Failf("backward", "", "a draw of the %s distribution has no gradient by its parameters (Detach cuts it off)", name)
		}
	}
	part := unlisted(Def{Name: "random " + name, Arity: params + 3,
		Elementwise: Elementwise{Rule: Keep, Cost: 400,
			Expr: func(b *bld, _ *node, x []val) val {
				return expr(stream{bld: b, at: x[0], seed: x[1], draw: x[2]}, x[3:])
			}},
		Typing:     Typing{Infer: func(c *Call) (array.DType, []int) { return array.Float64, c.Args[0].Shape }},
		Derivative: Derivative{VJP: vjp}})
	return unlisted(Def{Name: "draw " + name, Class: Composite, Arity: params + 2, Attrs: Variate{DType: array.Float64},
		Composed: Composed{Compose: func(a []*node, attrs ir.Attrs) *node {
			v := attrs.(Variate)
			args := []*node{position(a[0].Graph, v.Shape)}
			for _, x := range a[params:] { // seed and draw
				args = append(args, Convert(x, array.Int64))
			}
			for _, x := range a[:params] {
				args = append(args, expand(Convert(x, array.Float64), v.Shape))
			}
			y := Apply(part, nil, args...)
			if !v.DType.Float() {
				y = where(apply(Ne, y, y), num(y, -1), y)
			}
			return Convert(y, v.DType)
		}}})
}

// position returns the place of each element in row-major order, int64.
func position(g *ir.Graph, shape []int) *node {
	like := full(g, 0, array.Int64, shape)
	at, stride := like, 1
	for axis := len(shape) - 1; axis >= 0; axis-- {
		if shape[axis] > 1 {
			at = add(at, mul(Apply(Iota, Axis(axis), like), g.Number(float64(stride), array.Int64, false)))
		}
		stride *= shape[axis]
	}
	return at
}

// A stream is the random words of one element. narrow says that the result is rounded to at most 24 bits.
type stream struct {
	*bld
	at, seed, draw val
	narrow         bool
}

// words returns a block; number is below 2^23.
func (s stream) words(number val) [4]val {
	return philox(s.bld, s.Or(s.at, s.Shl(number, s.Int(loop.I64, candidateShift))), s.seed, s.draw)
}

func (s stream) f(x float64) val { return s.Float(loop.F64, x) }

func (s stream) sq(x val) val { return s.Mul(x, x) }

// unit32 is a word as a fraction above 0 and at most 1.
func (s stream) unit32(w val) val {
	k := s.Add(s.And(w, s.Int(loop.I64, low32)), s.Int(loop.I64, 1))
	return s.Mul(s.Cvt(loop.F64, k), s.f(0x1p-32))
}

// finite reports that x is neither infinite nor NaN.
func (s stream) finite(x val) val { return s.Lt(s.Abs(x), s.f(math.Inf(1))) }

// both reports that all of x hold.
func (s stream) both(x ...val) val {
	r := x[0]
	for _, y := range x[1:] {
		r = s.And(r, y)
	}
	return r
}

// checked returns y where ok holds, else NaN.
func (s stream) checked(ok, y val) val { return s.Select(ok, y, s.f(math.NaN())) }

// rejection draws candidates until one is accepted, at most maxCandidates. It returns otherwise where
// none was.
func (s stream) rejection(candidate func(w [4]val) (x, accepted val), otherwise val) val {
	b := s.bld
	limit, next := b.Int(loop.I64, maxCandidates), b.Int(loop.I64, 1)
	r := b.While([]val{otherwise, b.Int(loop.I64, 0)}, func(v []val) val {
		return b.Lt(v[1], limit)
	}, func(v []val) []val {
		x, accepted := candidate(s.words(v[1]))
		return []val{b.Select(accepted, x, v[0]), b.Select(accepted, limit, b.Add(v[1], next))}
	})
	return r[0]
}

// inversion returns the number at which a distribution function over 0, 1, 2, ... passes a uniform
// number. first is the probability of 0; ratio returns that of k+1 over that of k. No result is
// above last.
func (s stream) inversion(first, last val, ratio func(k, next val) val) val {
	b := s.bld
	w := s.words(b.Int(loop.I64, 0))
	r := b.While([]val{s.f(0), unit53(b, w[0], w[1]), first}, func(v []val) val {
		return b.And(b.Le(v[2], v[1]), b.Lt(v[0], last))
	}, func(v []val) []val {
		next := b.Add(v[0], s.f(1))
		return []val{next, b.Sub(v[1], v[2]), b.Mul(v[2], ratio(v[0], next))}
	})
	return r[0]
}

// stirlingTail is log(k!) - ((k+1/2)*log(k+1) - (k+1) + log(2*pi)/2) for k below 16, computed with 50
// decimal digits.
var stirlingTail = []float64{
	0.08106146679532726, 0.0413406954559093, 0.02767792568499834, 0.020790672103765093,
	0.016644691189821193, 0.013876128823070748, 0.01189670994589177, 0.010411265261972096,
	0.009255462182712733, 0.00833056343336287, 0.007573675487951841, 0.00694284010720953,
	0.006408994188004207, 0.0059513701127588475, 0.005554733551962801, 0.0052076559196096404,
}

// tail is stirlingTail of a whole number k, by Stirling's series from 16 on.
func (s stream) tail(k val) val {
	r := s.Div(s.f(1), s.Add(k, s.f(1)))
	q := s.sq(r)
	series := s.Mul(r, s.Sub(s.f(1.0/12), s.Mul(q, s.Sub(s.f(1.0/360), s.Mul(q, s.f(1.0/1260))))))
	return s.Select(s.Lt(k, s.f(16)), s.Lookup(stirlingTail, s.Cvt(loop.I64, k)), series)
}

// hat is the transformation of a pair of uniform numbers that PTRS and BTRS share: a candidate k, the
// second number over the density of candidates there, and whether k is accepted at once or refused.
func (s stream) hat(w [4]val, a, b, centre, vr val) (k, v, at, ok, bad val) {
	u := s.Sub(unit53(s.bld, w[0], w[1]), s.f(0.5))
	v = s.Sub(s.f(1), unit53(s.bld, w[2], w[3]))
	us := s.Sub(s.f(0.5), s.Abs(u))
	k = s.Floor(s.Add(s.Mul(s.Add(s.Div(s.Add(a, a), us), b), u), centre))
	ok = s.And(s.Le(s.f(0.07), us), s.Le(v, vr))
	bad = s.Or(s.Lt(k, s.f(0)), s.And(s.Lt(us, s.f(0.013)), s.Lt(us, v)))
	return k, v, s.Add(s.Div(a, s.sq(us)), b), ok, bad
}

func poisson(s stream, x []val) val {
	valid := s.And(s.Le(s.f(0), x[0]), s.finite(x[0]))
	rate := s.Select(valid, x[0], s.f(0))
	r := s.If(s.Lt(rate, s.f(inversionMean)), func() []val {
		return []val{s.inversion(vmath.Exp(s.bld, s.Neg(rate)), s.f(maxInversion), func(_, next val) val {
			return s.Div(rate, next)
		})}
	}, func() []val { return []val{s.ptrs(rate)} })
	return s.checked(valid, r[0])
}

// ptrs draws from the Poisson distribution of a rate of 10 or more.
func (s stream) ptrs(rate val) val {
	b := s.Add(s.f(0.931), s.Mul(s.f(2.53), s.Sqrt(rate)))
	a := s.Add(s.f(-0.059), s.Mul(s.f(0.02483), b))
	scale := s.Add(s.f(1.1239), s.Div(s.f(1.1328), s.Sub(b, s.f(3.4))))
	vr := s.Sub(s.f(0.9277), s.Div(s.f(3.6224), s.Sub(b, s.f(2))))
	centre := s.Add(rate, s.f(0.43))
	return s.rejection(func(w [4]val) (k, accepted val) {
		k, v, at, ok, bad := s.hat(w, a, b, centre, vr)
		// The logarithm of the probability of k, around its mode: with c = k+1 and d = rate/c - 1 it is
		// k*log(1+d) - c*d - log(c)/2 - log(2*pi)/2 - tail(k).
		c := s.Add(k, s.f(1))
		d := s.Div(s.Sub(rate, c), c)
		p := s.Sub(s.Mul(k, vmath.Log1p(s.bld, d)), s.Mul(c, d))
		p = s.Sub(p, s.Mul(s.f(0.5), vmath.Log(s.bld, c)))
		p = s.Sub(s.Sub(p, s.f(halfLogTau)), s.tail(k))
		below := s.Le(vmath.Log(s.bld, s.Div(s.Mul(v, scale), at)), p)
		return k, s.Or(ok, s.And(s.Not(bad), below))
	}, s.Floor(rate))
}

const halfLogTau = 0.91893853320467274178032973640562 // log(2*pi)/2

func binomial(s stream, x []val) val {
	n, p := x[0], x[1]
	valid := s.both(s.Le(s.f(0), n), s.Eq(n, s.Floor(n)), s.finite(n), s.Le(s.f(0), p), s.Le(p, s.f(1)))
	n, p = s.Select(valid, n, s.f(0)), s.Select(valid, p, s.f(0))
	failures := s.Lt(s.f(0.5), p) // are counted: they are the rarer
	p = s.Select(failures, s.Sub(s.f(1), p), p)
	odds := s.Div(p, s.Sub(s.f(1), p))
	k := s.If(s.Lt(s.Mul(n, p), s.f(inversionMean)), func() []val {
		none := vmath.Exp(s.bld, s.Mul(n, vmath.Log1p(s.bld, s.Neg(p))))
		return []val{s.inversion(none, s.Min(n, s.f(maxInversion)), func(k, next val) val {
			return s.Mul(s.Div(s.Sub(n, k), next), odds)
		})}
	}, func() []val { return []val{s.btrs(n, p, odds)} })[0]
	return s.checked(valid, s.Select(failures, s.Sub(n, k), k))
}

// btrs draws from the binomial distribution of n trials with probability p, at most 1/2, where n*p is
// 10 or more; odds is p/(1-p).
func (s stream) btrs(n, p, odds val) val {
	mean := s.Mul(n, p)
	spread := s.Sqrt(s.Mul(mean, s.Sub(s.f(1), p)))
	b := s.Add(s.f(1.15), s.Mul(s.f(2.53), spread))
	a := s.Add(s.Add(s.f(-0.0873), s.Mul(s.f(0.0248), b)), s.Mul(s.f(0.01), p))
	vr := s.Sub(s.f(0.92), s.Div(s.f(4.2), b))
	alpha := s.Mul(s.Add(s.f(2.83), s.Div(s.f(5.1), b)), spread)
	mode := s.Floor(s.Mul(s.Add(n, s.f(1)), p))
	// side is (k+1/2) * log((k+1) / (odds*(n-k+1))).
	side := func(k val) val {
		down := s.Mul(odds, s.Add(s.Sub(n, k), s.f(1)))
		return s.Mul(s.Add(k, s.f(0.5)), vmath.Log1p(s.bld, s.Div(s.Sub(s.Add(k, s.f(1)), down), down)))
	}
	top := s.Add(s.Add(side(mode), s.tail(mode)), s.tail(s.Sub(n, mode)))
	return s.rejection(func(w [4]val) (k, accepted val) {
		k, v, at, ok, bad := s.hat(w, a, b, s.Add(mean, s.f(0.5)), vr)
		bad = s.Or(bad, s.Lt(n, k))
		// The logarithm of the probability of k over that of the mode.
		left := s.Sub(n, k)
		up := s.Mul(s.Add(n, s.f(1)), vmath.Log1p(s.bld, s.Div(s.Sub(k, mode), s.Add(left, s.f(1)))))
		q := s.Sub(s.Sub(s.Sub(s.Add(top, up), side(k)), s.tail(k)), s.tail(left))
		below := s.Le(vmath.Log(s.bld, s.Div(s.Mul(v, alpha), at)), q)
		return k, s.Or(s.And(ok, s.Le(k, n)), s.And(s.Not(bad), below))
	}, mode)
}

// normalOf is a normal number of the first three words of a block.
func (s stream) normalOf(w [4]val) val {
	const tau = 6.283185307179586476925286766559
	r := s.Sub(s.f(1), unit53(s.bld, w[0], w[1]))
	r = s.Sqrt(s.Mul(vmath.Log(s.bld, r), s.f(-2)))
	return s.Mul(r, vmath.Cos(s.bld, s.Mul(s.unit32(w[2]), s.f(tau))))
}

// fromOne draws a gamma number of concentration a, or of a+1 where small: a is below 1. A number of
// concentration a is the second one times u^(1/a), and power is log(u)/a.
func (s stream) fromOne(a val) (y, small val, power func() val) {
	small = s.Lt(a, s.f(1))
	d := s.Sub(s.Select(small, s.Add(a, s.f(1)), a), s.f(1.0/3))
	c := s.Div(s.f(1), s.Sqrt(s.Mul(d, s.f(9))))
	g := s.rejection(func(w [4]val) (y, accepted val) {
		z := s.normalOf(w)
		t := s.Add(s.f(1), s.Mul(c, z))
		v := s.Mul(s.sq(t), t)
		most := s.Add(s.Mul(s.f(0.5), s.sq(z)), s.Mul(d, s.Add(s.Sub(s.f(1), v), vmath.Log(s.bld, v))))
		return s.Mul(d, v), s.And(s.Lt(s.f(0), v), s.Lt(vmath.Log(s.bld, s.unit32(w[3])), most))
	}, d)
	return g, small, func() val {
		w := s.words(s.Int(loop.I64, extraBlock))
		u := s.Sub(s.f(1), unit53(s.bld, w[0], w[1]))
		return s.Div(vmath.Log(s.bld, u), a)
	}
}

func standardGamma(s stream, x []val) val {
	valid := s.And(s.Le(s.f(0), x[0]), s.finite(x[0]))
	a := s.Select(valid, x[0], s.f(1))
	g, small, power := s.fromOne(a)
	r := s.If(small, func() []val {
		return []val{s.Select(s.Lt(s.f(0), a), s.Mul(g, vmath.Exp(s.bld, power())), s.f(0))}
	}, func() []val { return []val{g} })
	return s.checked(valid, r[0])
}

func logGamma(s stream, x []val) val {
	valid := s.And(s.Lt(s.f(0), x[0]), s.finite(x[0]))
	g, small, power := s.fromOne(s.Select(valid, x[0], s.f(1)))
	g = vmath.Log(s.bld, g)
	r := s.If(small, func() []val { return []val{s.Add(g, power())} }, func() []val { return []val{g} })
	return s.checked(valid, r[0])
}

// geometric is the distribution function's inverse: the least k at which log(u) is at least k*log(1-p).
func geometric(s stream, x []val) val {
	valid := s.And(s.Lt(s.f(0), x[0]), s.Le(x[0], s.f(1)))
	w := s.words(s.Int(loop.I64, 0))
	u := vmath.Log1p(s.bld, s.Neg(unit53(s.bld, w[0], w[1])))
	k := s.Div(u, vmath.Log1p(s.bld, s.Neg(s.Select(valid, x[0], s.f(1)))))
	return s.checked(valid, s.Max(s.f(1), s.Neg(s.Floor(s.Neg(k)))))
}

func truncatedNormal(s stream, x []val) val {
	mean, dev, lo, hi := x[0], x[1], x[2], x[3]
	valid := s.both(s.finite(mean), s.Lt(s.f(0), dev), s.finite(dev), s.Le(lo, hi))
	a, b := s.Div(s.Sub(lo, mean), dev), s.Div(s.Sub(hi, mean), dev)
	a, b = s.Select(valid, a, s.f(0)), s.Select(valid, b, s.f(0))
	left := s.Lt(s.Add(a, b), s.f(0)) // mirrored, the interval lies right of 0 or its greater part does
	a, b = s.Select(left, s.Neg(b), a), s.Select(left, s.Neg(a), b)
	z := s.standardTruncated(a, b)
	z = s.Add(mean, s.Mul(dev, s.Select(left, s.Neg(z), z)))
	return s.checked(valid, s.Max(lo, s.Min(hi, z)))
}

// standardTruncated draws from the standard normal distribution between a and b, where a+b is at least
// 0 or both are infinite.
func (s stream) standardTruncated(a, b val) val {
	const (
		sqrtTau  = 2.506628274631000502415765284811 // sqrt(2*pi)
		twoSqrtE = 3.297442541400256293697301575628 // 2*sqrt(e)
	)
	width := s.Sub(b, a)
	root := s.Add(a, s.Sqrt(s.Add(s.sq(a), s.f(4))))
	rate := s.Mul(root, s.f(0.5))
	tail := s.Lt(s.f(0), a)
	least := s.Mul(s.Div(s.f(twoSqrtE), root), vmath.Exp(s.bld, s.Neg(s.Div(a, root))))
	// Exponential or normal candidates where the interval is wide, else uniform ones.
	wide := s.Lt(s.Select(tail, least, s.f(sqrtTau)), width)
	mode := s.Max(a, s.f(0))
	return s.rejection(func(w [4]val) (z, accepted val) {
		u := unit53(s.bld, w[0], w[1])
		flat := s.Add(a, s.Mul(u, width))
		far := s.Sub(a, s.Div(vmath.Log(s.bld, s.Sub(s.f(1), u)), rate))
		z = s.Select(wide, s.Select(tail, far, s.normalOf(w)), flat)
		chance := s.Mul(s.f(-0.5), s.sq(s.Sub(z, rate)))
		chance = s.Select(tail, chance, s.f(0))
		chance = s.Select(wide, chance, s.Mul(s.f(0.5), s.Mul(s.Sub(mode, z), s.Add(mode, z))))
		inside := s.And(s.Le(a, z), s.Le(z, b))
		return z, s.And(inside, s.Le(vmath.Log(s.bld, s.unit32(w[3])), chance))
	}, mode)
}
