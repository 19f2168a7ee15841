package op

import (
	"math"

	"weft/internal/ir"
	"weft/internal/vmath"
)

// The gamma function and its logarithm of complex numbers, by formulas of their parts. Right of the imaginary axis
// the logarithm is Stirling's series (DLMF 5.11.1) of a number moved to the right by the recurrence, whose
// product keeps count of its turns (D. E. G. Hare, Computing the principal branch of log-Gamma, J. Algorithms 25,
// 1997). By the zeros at 1 and 2 it is the series of DLMF 5.7.3, which moves one to the right. Left of the axis
// is the reflection (DLMF 5.5.3).
var (
	// LogGammaReal, LogGammaImag, GammaReal and GammaImag take the parts of z.
	LogGammaReal, LogGammaImag, GammaReal, GammaImag *Def
	// LogGammaComplex is the logarithm of gamma of complex numbers, whose cut is the negative real line.
	LogGammaComplex *Def
	// polyGammaReal and polyGammaImag take n, x and y: the parts of digamma's derivative of order n at x+iy.
	polyGammaReal, polyGammaImag *Def
)

const (
	// stirlingLeast is the part from which Stirling's series serves.
	stirlingLeast = 7
	// piLow is pi less its nearest float64.
	piLow = 1.2246467991473532e-16
	// maxGammaSteps bounds the steps of the recurrence of digamma's derivatives.
	maxGammaSteps = 10_000
)

// gammaNearTwo are the coefficients of log(gamma(2+w)) in powers of w from the first on: 1 less Euler's number, and
// (-1)^k*(zeta(k)-1)/k.
var gammaNearTwo = []float64{
	0.42278433509846714, 0.32246703342411322, -0.067352301053198095, 0.020580808427784548, -0.0073855510286739853,
	0.0028905103307415233, -0.001192753911703261, 0.00050966952474304242, -0.00022315475845357938,
	9.9457512781808534e-5, -4.4926236738133142e-5, 2.0507212775670692e-5, -9.4394882752683959e-6,
	4.3748667899074878e-6, -2.0392157538013662e-6, 9.5514121304074198e-7, -4.492469198764566e-7,
	2.1207184805554666e-7, -1.00432248239681e-7, 4.7698101693639806e-8, -2.2711094608943165e-8,
	1.0838659214896954e-8, -5.1834750419700467e-9, 2.4836745438024783e-9, -1.1921401405860912e-9,
	5.731367241678862e-10, -2.7595228851242331e-10, 1.3304764374244489e-10, -6.4229645638381e-11,
	3.1044247747322273e-11, -1.5021384080754142e-11, 7.2759744802390797e-12, -3.5277424765759151e-12,
	1.7119917905596179e-12, -8.3153858414202848e-13, 4.0422005252894401e-13, -1.9664756310966165e-13,
	9.5736303878385558e-14, -4.6640760264283742e-14, 2.2737369600659723e-14, -1.1091399470834522e-14,
	5.4136591567253631e-15, -2.643880017860995e-15, 1.2918959062789967e-15, -6.3159355041984486e-16,
	3.0893162669633928e-16, -1.5117930628108197e-16, 7.4014868569523202e-17, -3.6252180481206537e-17,
	1.7763568421861632e-17,
}

// stirlingCoefs are the coefficients of Stirling's series in powers of 1/z^2.
var stirlingCoefs = []float64{
	1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156, -3617. / 122400,
}

func init() {
	domains := Conformance{Domains: [][2]float64{{0.3, 4}, {0.2, 3}}}
	slopes := func(v *VJP) (re, im *node) {
		x, y := v.X[0], v.X[1]
		return Apply(polyGammaReal, nil, num(x, 0), x, y), Apply(polyGammaImag, nil, num(x, 0), x, y)
	}
	parts := func(name, doc string, real **Def, imag **Def, slope func(v *VJP, re, im *node) (*node, *node), f func(s stream, x, y val) (re, im val)) {
		*real = wideSpecial(name+"_real", 700, "The real part of "+doc+" of x+iy.", domains,
			func(s stream, x []val) val { re, _ := f(s, x[0], x[1]); return re }, func(v *VJP) {
				v.Set(0, func() *node { re, im := slopes(v); re, _ = slope(v, re, im); return mul(v.DY, re) })
				v.Set(1, func() *node { re, im := slopes(v); _, im = slope(v, re, im); return neg(mul(v.DY, im)) })
			})
		*imag = wideSpecial(name+"_imag", 700, "The imaginary part of "+doc+" of x+iy.", domains,
			func(s stream, x []val) val { _, im := f(s, x[0], x[1]); return im }, func(v *VJP) {
				v.Set(0, func() *node { re, im := slopes(v); _, im = slope(v, re, im); return mul(v.DY, im) })
				v.Set(1, func() *node { re, im := slopes(v); re, _ = slope(v, re, im); return mul(v.DY, re) })
			})
	}
	parts("loggamma", "the logarithm of gamma", &LogGammaReal, &LogGammaImag, func(_ *VJP, re, im *node) (*node, *node) { return re, im }, stream.logGamma)
	parts("gamma", "gamma", &GammaReal, &GammaImag, func(v *VJP, re, im *node) (*node, *node) {
		u, w := Apply(GammaReal, nil, v.X...), Apply(GammaImag, nil, v.X...)
		return sub(mul(u, re), mul(w, im)), add(mul(u, im), mul(w, re))
	}, stream.gammaComplex)
	LogGammaComplex = unlisted(Def{Name: "loggamma", Class: Composite, Arity: 1, Doc: "The logarithm of gamma of complex numbers.",
		Composed: Composed{Compose: func(x []*node, _ ir.Attrs) *node {
			z := inComplex(x[0])
			return join2(Apply(LogGammaReal, nil, z.re, z.im), Apply(LogGammaImag, nil, z.re, z.im))
		}}})
	complexForms["gamma"] = pairs(func(x []pair) pair {
		re, im := x[0].re, expand(x[0].im, x[0].re.Shape)
		return pair{Apply(GammaReal, nil, re, im), Apply(GammaImag, nil, re, im)}
	})
	next := func(v *VJP) (re, im *node) {
		n := add(v.X[0], one(v.X[0]))
		return Apply(polyGammaReal, nil, n, v.X[1], v.X[2]), Apply(polyGammaImag, nil, n, v.X[1], v.X[2])
	}
	polyGammaReal = incomplete("polygamma, real", 3, func(s stream, x []val) val { re, _ := s.polyGamma(x[0], x[1], x[2]); return re }, func(v *VJP) {
		v.Set(1, func() *node { re, _ := next(v); return mul(v.DY, re) })
		v.Set(2, func() *node { _, im := next(v); return neg(mul(v.DY, im)) })
	})
	polyGammaImag = incomplete("polygamma, imaginary", 3, func(s stream, x []val) val { _, im := s.polyGamma(x[0], x[1], x[2]); return im }, func(v *VJP) {
		v.Set(1, func() *node { _, im := next(v); return mul(v.DY, im) })
		v.Set(2, func() *node { re, _ := next(v); return mul(v.DY, re) })
	})
}

// A number is a complex number in parts.
type number struct{ re, im val }

func (s stream) times(a, b number) number {
	return number{s.Fma(a.re, b.re, s.Neg(s.Mul(a.im, b.im))), s.Fma(a.re, b.im, s.Mul(a.im, b.re))}
}

func (s stream) plus(a, b number) number { return number{s.Add(a.re, b.re), s.Add(a.im, b.im)} }

func (s stream) minus(a, b number) number { return number{s.Sub(a.re, b.re), s.Sub(a.im, b.im)} }

// over is a/b, by the greater part of b.
func (s stream) over(a, b number) number {
	long := s.Max(s.Abs(b.re), s.Abs(b.im))
	u, v := s.Div(b.re, long), s.Div(b.im, long)
	by := s.Div(s.f(1), s.Fma(u, u, s.sq(v)))
	x, y := s.Div(a.re, long), s.Div(a.im, long)
	return number{s.Mul(s.Fma(x, u, s.Mul(y, v)), by), s.Mul(s.Fma(y, u, s.Neg(s.Mul(x, v))), by)}
}

// realSeries is the polynomial with real coefficients at z: a division by t^2 - 2*re(z)*t + |z|^2 (D. E. Knuth, The
// Art of Computer Programming, 4.6.4).
func (s stream) realSeries(z number, coefs []float64) number {
	p, q := s.Add(z.re, z.re), s.Neg(s.Fma(z.re, z.re, s.sq(z.im)))
	high, low := s.f(0), s.f(coefs[len(coefs)-1])
	for i := len(coefs) - 2; i >= 1; i-- {
		high, low = low, s.Fma(p, low, s.Fma(q, high, s.f(coefs[i])))
	}
	return number{s.Fma(z.re, low, s.Fma(q, high, s.f(coefs[0]))), s.Mul(z.im, low)}
}

// ln is the principal logarithm.
func (s stream) ln(z number) number {
	b := s.bld
	x, y := s.Abs(z.re), s.Abs(z.im)
	long, short := s.Max(x, y), s.Min(x, y)
	ratio := s.Div(short, s.Select(s.Lt(s.f(0), long), long, s.f(1)))
	far := s.Fma(s.f(0.5), vmath.Log1p(b, s.sq(ratio)), vmath.Log(b, long))
	// By the unit circle the length's distance to 1 counts.
	d := s.Fma(s.Sub(long, s.f(1)), s.Add(long, s.f(1)), s.sq(short))
	near := s.both(s.Lt(s.f(0.5), long), s.Lt(long, s.f(1.5)), s.Lt(s.f(-0.5), d))
	re := s.Select(near, s.Mul(s.f(0.5), vmath.Log1p(b, s.Select(near, d, s.f(0)))), far)
	return number{re, vmath.Atan2(b, z.im, z.re)}
}

// turned is exp(z).
func (s stream) turned(z number) number {
	e := vmath.Exp(s.bld, z.re)
	return number{s.timesZero(vmath.Cos(s.bld, z.im), e), s.timesZero(vmath.Sin(s.bld, z.im), e)}
}

// A gammaPoint is z = x+iy above the real line, and what gamma left of the imaginary axis is made of.
type gammaPoint struct {
	x, y, ok, left, side val
	// right is the logarithm of gamma(z), or of gamma(1-conj(z)) left of the axis, low what it lacks.
	right, low number
	// rest is 1-exp(2*i*pi*z).
	rest number
}

func (s stream) gammaPoint(x0, y0 val) gammaPoint {
	b, zero, one := s.bld, s.f(0), s.f(1)
	ok := s.both(s.finite(x0), s.finite(y0), s.Not(s.both(s.Eq(y0, zero), s.Le(x0, zero), s.Eq(x0, s.Floor(x0)))))
	p := gammaPoint{x: s.Select(ok, x0, one), y: s.Select(ok, s.Abs(y0), zero), ok: ok, side: withSign(b, one, y0)}
	p.left = s.Lt(p.x, zero)
	p.right, p.low = s.logGammaRight(s.Select(p.left, s.Sub(one, p.x), p.x), p.y)
	sin, _ := s.sinCosPi(p.x)
	wave, _ := s.sinCosPi(s.Select(s.Lt(s.Abs(p.x), s.f(1e15)), s.Add(p.x, p.x), zero))
	down := s.Mul(s.f(-2*math.Pi), p.y)
	e := vmath.Exp(b, down)
	p.rest = number{s.Fma(s.Mul(s.f(2), e), s.sq(sin), s.Neg(vmath.Expm1(b, down))), s.Neg(s.Mul(e, wave))}
	return p
}

// logGamma is the logarithm of gamma(x+iy).
func (s stream) logGamma(x0, y0 val) (re, im val) {
	p := s.gammaPoint(x0, y0)
	// In the upper half plane log(2*pi) - i*pi/2 + i*pi*z - log(1-exp(2*i*pi*z)) - loggamma(1-z).
	rest := s.ln(p.rest)
	mirrored := number{
		s.Sub(s.Sub(s.Fma(s.f(-math.Pi), p.y, s.f(2*halfLogTau)), rest.re), p.right.re),
		s.Add(s.Sub(s.Mul(s.f(math.Pi), s.Sub(p.x, s.f(0.5))), rest.im), p.right.im),
	}
	re, im = s.Select(p.left, mirrored.re, p.right.re), s.Select(p.left, mirrored.im, p.right.im)
	endless := s.And(s.Eq(x0, s.f(math.Inf(1))), s.Eq(y0, s.f(0)))
	re = s.Select(endless, x0, s.checked(p.ok, re))
	return re, s.Mul(p.side, s.Select(endless, s.f(0), s.checked(p.ok, im)))
}

// logGammaRight is the logarithm for x and y of at least 0, but not both 0, and what it lacks.
func (s stream) logGammaRight(x, y val) (ln, rest number) {
	zero, one := s.f(0), s.f(1)
	two := number{s.Sub(x, s.f(2)), y}
	unit := number{s.Sub(x, one), y}
	size := func(w number) val { return s.Fma(w.re, w.re, s.sq(w.im)) }
	byTwo := s.And(s.Le(size(two), one), s.Le(s.f(1.25), x))
	byOne := s.And(s.Le(size(unit), one), s.Not(byTwo))
	near := s.Or(byTwo, byOne)
	low := s.If(near, func() []val {
		w := number{s.Select(byTwo, two.re, s.Select(byOne, unit.re, zero)), s.Select(near, y, zero)}
		t := s.times(w, s.realSeries(w, gammaNearTwo))
		ln := s.ln(number{s.Select(byOne, x, one), s.Select(byOne, y, zero)})
		return []val{s.Select(byOne, s.Sub(t.re, ln.re), t.re), s.Select(byOne, s.Sub(t.im, ln.im), t.im)}
	}, s.zeros(2))
	far := s.Not(near)
	high := s.If(far, func() []val {
		move := s.both(far, s.Lt(x, s.f(stirlingLeast)), s.Lt(y, s.f(stirlingLeast)))
		steps := s.Select(move, s.Ceil(s.Sub(s.f(stirlingLeast), x)), zero)
		v := s.While([]val{one, zero, zero, zero}, func(v []val) val { return s.Lt(v[2], steps) }, func(v []val) []val {
			p := s.times(number{v[0], v[1]}, number{s.Add(x, v[2]), y})
			turned := s.And(s.Le(zero, v[1]), s.Lt(p.im, zero))
			return []val{p.re, p.im, s.Add(v[2], one), s.Add(v[3], s.Select(turned, one, zero))}
		})
		at := number{s.Select(far, s.Add(x, steps), s.f(10)), y}
		ln, less := s.ln(at), s.Sub(at.re, s.f(0.5))
		r := s.over(number{one, zero}, at)
		tail := s.times(r, s.realSeries(s.times(r, r), stirlingCoefs))
		moved := s.ln(number{v[0], v[1]})
		product := func(x, y val) (hi, lo val) { hi = s.Mul(x, y); return hi, s.Fma(x, y, s.Neg(hi)) }
		p, pLow := product(less, ln.re)
		q, qLow := product(s.Neg(y), ln.im)
		re, reLow := s.exactly(p, q, s.Neg(at.re), s.f(halfLogTau), s.Neg(moved.re), tail.re, s.Add(pLow, qLow))
		p, pLow = product(less, ln.im)
		q, qLow = product(y, ln.re)
		im, imLow := s.exactly(p, q, s.Neg(y), s.Mul(s.f(-2*math.Pi), v[3]), s.Neg(moved.im), tail.im, s.Add(pLow, qLow))
		return []val{re, im, reLow, imLow}
	}, s.zeros(4))
	return number{s.Select(near, low[0], high[0]), s.Select(near, low[1], high[1])}, number{s.Select(near, zero, high[2]), s.Select(near, zero, high[3])}
}

// exactly is the sum of numbers and what it lacks (D. E. Knuth, The Art of Computer Programming, 4.2.2).
func (s stream) exactly(x ...val) (sum, low val) {
	sum, low = x[0], s.f(0)
	for _, y := range x[1:] {
		t := s.Add(sum, y)
		part := s.Sub(t, sum)
		low = s.Add(low, s.Add(s.Sub(sum, s.Sub(t, part)), s.Sub(y, part)))
		sum = t
	}
	t := s.Add(sum, low)
	return t, s.Add(s.Sub(sum, t), low)
}

// gammaComplex is gamma(x+iy). Left of the axis the angle pi*(x-1/2) is taken without a rounding.
func (s stream) gammaComplex(x0, y0 val) (re, im val) {
	p := s.gammaPoint(x0, y0)
	zero, one := s.f(0), s.f(1)
	straight := s.turned(p.right)
	right := s.times(straight, number{s.Add(one, p.low.re), p.low.im})
	over := s.Lt(s.f(705), p.right.re)
	right = number{s.Select(over, straight.re, right.re), s.Select(over, straight.im, right.im)}
	// A part of exp(-pi*y) by itself, so that the exponents are small.
	y := s.Min(p.y, s.f(100))
	down := s.Mul(s.f(-math.Pi), y)
	e := vmath.Exp(s.bld, down)
	e = s.Fma(e, s.Fma(s.f(-math.Pi), y, s.Fma(s.f(-piLow), y, s.Neg(down))), e)
	turn := s.turned(number{s.Fma(s.f(-math.Pi), s.Sub(p.y, y), s.Neg(p.right.re)), p.right.im})
	turn = s.times(turn, number{s.Sub(one, p.low.re), p.low.im})
	sin, cos := s.sinCosPi(p.x)
	by := s.Mul(s.f(2*math.Pi), e)
	left := s.over(s.times(turn, number{s.Mul(by, sin), s.Neg(s.Mul(by, cos))}), p.rest)
	// Where the length is 0 the angle may be infinite.
	none := s.both(p.left, s.Lt(s.f(800), s.Fma(s.f(math.Pi), p.y, p.right.re)))
	part := func(right, left val) val {
		return s.checked(p.ok, s.Select(p.left, s.Select(none, zero, left), right))
	}
	re, im = part(right.re, left.re), part(right.im, left.im)
	return re, s.Mul(p.side, im)
}

// polyGamma is the derivative of order n of digamma at x+iy: (-1)^(n+1)*n! times Hurwitz' zeta function of n+1, by
// the formula of Euler and Maclaurin, whose first part is -log(z) for n = 0 (DLMF 5.15.8).
func (s stream) polyGamma(n, x0, y0 val) (re, im val) {
	b, zero, one := s.bld, s.f(0), s.f(1)
	ok := s.both(s.finite(x0), s.finite(y0), s.Lt(s.f(-maxGammaSteps), x0))
	x, y := s.Select(ok, x0, one), s.Select(ok, y0, zero)
	least := s.Select(s.Lt(s.Abs(y), s.f(zetaFrom)), s.f(zetaFrom), zero)
	steps := s.Max(zero, s.Ceil(s.Sub(least, x)))
	order := s.Add(n, one)
	power := func(z number, k val) number {
		l := s.ln(z)
		return s.turned(number{s.Neg(s.Mul(k, l.re)), s.Neg(s.Mul(k, l.im))})
	}
	v := s.While([]val{zero, zero, zero}, func(v []val) val { return s.Lt(v[2], steps) }, func(v []val) []val {
		p := power(number{s.Add(x, v[2]), y}, order)
		return []val{s.Add(v[0], p.re), s.Add(v[1], p.im), s.Add(v[2], one)}
	})
	at := number{s.Add(x, steps), y}
	r := s.over(number{one, zero}, at)
	square := s.times(r, r)
	rest := number{zero, zero}
	for j := len(zetaCoefs) - 1; j >= 0; j-- {
		k := float64(2 * j)
		by := s.Mul(s.Add(order, s.f(k+1)), s.Add(order, s.f(k+2)))
		rest = s.times(square, number{s.Mul(by, rest.re), s.Mul(by, rest.im)})
		rest.re = s.Add(rest.re, s.f(zetaCoefs[j]))
	}
	tail := s.times(r, rest)
	tail = s.times(power(at, order), number{s.Fma(order, tail.re, s.f(0.5)), s.Mul(order, tail.im)})
	first, ln := power(at, n), s.ln(at)
	whole := s.Eq(n, zero)
	lead := number{s.Select(whole, s.Neg(ln.re), s.Div(first.re, n)), s.Select(whole, s.Neg(ln.im), s.Div(first.im, n))}
	sum := s.plus(s.plus(number{v[0], v[1]}, tail), lead)
	by := s.Mul(s.Sub(s.Mul(s.f(2), s.parity(n)), one), vmath.Gamma(b, order))
	return s.checked(ok, s.Mul(by, sum.re)), s.checked(ok, s.Mul(by, sum.im))
}
