package op

import (
	"math"

	"weft/internal/vmath"
)

// Fresnel's integrals: of sin and cos of pi*t*t/2 from 0 to x. Up to fresnelNear they are power series (DLMF 7.6.4 and
// 7.6.6), beyond C + iS = (1+i)/2*(1 - exp(i*pi*x*x/2)*w(sqrt(pi)/2*(1+i)*x)) with Faddeeva's function (DLMF
// 7.5.8). The angle is taken by the square of x without a rounding.
var (
	FresnelS, FresnelC *Def
	// fresnelSin and fresnelCos are their derivatives, sin and cos of pi*x*x/2.
	fresnelSin, fresnelCos *Def
)

const (
	// fresnelNear is where the series end, of fresnelTerms terms.
	fresnelNear, fresnelTerms = 1.25, 12
)

func init() {
	slope := func(v *VJP) *node { return mul(v.DY, scale(v.X[0], math.Pi)) }
	fresnelSin = incomplete("sin of pi*x*x/2", 1, func(s stream, x []val) val { return s.checked(s.finite(x[0]), s.fresnelWave(x[0]).im) }, func(v *VJP) {
		v.Set(0, func() *node { return mul(slope(v), Apply(fresnelCos, nil, v.X[0])) })
	})
	fresnelCos = incomplete("cos of pi*x*x/2", 1, func(s stream, x []val) val { return s.checked(s.finite(x[0]), s.fresnelWave(x[0]).re) }, func(v *VJP) {
		v.Set(0, func() *node { return neg(mul(slope(v), Apply(fresnelSin, nil, v.X[0]))) })
	})
	FresnelS = wideSpecial("fresnel_s", 500, "Fresnel's sine integral.", Conformance{Domains: [][2]float64{{}}},
		func(s stream, x []val) val { sin, _ := s.fresnel(x[0]); return sin }, func(v *VJP) {
			v.Set(0, func() *node { return mul(v.DY, Apply(fresnelSin, nil, v.X[0])) })
		})
	FresnelC = wideSpecial("fresnel_c", 500, "Fresnel's cosine integral.", Conformance{Domains: [][2]float64{{}}},
		func(s stream, x []val) val { _, cos := s.fresnel(x[0]); return cos }, func(v *VJP) {
			v.Set(0, func() *node { return mul(v.DY, Apply(fresnelCos, nil, v.X[0])) })
		})
}

// fresnelWave is cos + i*sin of pi*x*x/2.
func (s stream) fresnelWave(x val) number {
	a := s.Min(s.Abs(x), s.f(1e100))
	square := s.sq(a)
	low := s.Fma(a, a, s.Neg(square))
	mod := func(x val) val { return s.Fma(s.f(-4), s.Floor(s.Fma(x, s.f(0.25), s.f(0.5))), x) }
	sin, cos := s.sinCosPi(s.Mul(mod(square), s.f(0.5)))
	turn := s.Mul(mod(low), s.f(math.Pi/2))
	part := s.If(s.Lt(s.f(1e-8), s.Abs(turn)), func() []val {
		return []val{vmath.Cos(s.bld, turn), vmath.Sin(s.bld, turn)}
	}, func() []val { return []val{s.f(1), turn} })
	return s.times(number{cos, sin}, number{part[0], part[1]})
}

// wofzDiagonal is w(x+ix) for x from 1 on, where wave is exp(2i*x*x): the sum of [stream.wofzAbove] with points between
// multiples of 1/2. The points t and -t have the common denominator 4*x^4+t^4. Two pairs of points share a division.
func (s stream) wofzDiagonal(x val, wave number) number {
	one := s.f(1)
	twice := s.Mul(s.f(2), s.sq(x))
	fourth := s.sq(twice)
	sum := number{s.f(0), s.f(0)}
	add := func(t, by val) {
		sum = number{s.Fma(by, s.Add(twice, t), sum.re), s.Fma(by, s.Sub(twice, t), sum.im)}
	}
	for k := 0; k < wofzPoints; k += 2 {
		t, u := (float64(k)+0.5)/2, (float64(k)+1.5)/2
		a, b := s.Add(fourth, s.f(t*t*t*t)), s.Add(fourth, s.f(u*u*u*u))
		over := s.Div(one, s.Mul(a, b))
		add(s.f(t*t), s.Mul(s.f(math.Exp(-t*t)), s.Mul(over, b)))
		add(s.f(u*u), s.Mul(s.f(math.Exp(-u*u)), s.Mul(over, a)))
	}
	sum = number{s.Mul(s.Mul(x, s.f(1/math.Pi)), sum.re), s.Mul(s.Mul(x, s.f(1/math.Pi)), sum.im)}
	near := s.Lt(x, s.f(2*math.Pi))
	y := s.Min(x, s.f(2*math.Pi))
	shrink := vmath.Exp(s.bld, s.Mul(s.f(-4*math.Pi), y))
	turn := s.Mul(s.f(4*math.Pi), s.Sub(x, s.Mul(s.f(0.5), s.Floor(s.Fma(s.f(2), x, s.f(0.5))))))
	sin, rise := vmath.Sin(s.bld, turn), s.Add(shrink, vmath.Cos(s.bld, turn))
	size := s.Mul(s.f(2), s.Div(s.Select(near, shrink, s.f(0)), s.Fma(rise, rise, s.sq(sin))))
	re := s.Fma(size, s.Fma(rise, wave.re, s.Mul(sin, wave.im)), sum.re)
	return number{re, s.Fma(size, s.Fma(sin, wave.re, s.Neg(s.Mul(rise, wave.im))), sum.im)}
}

// fresnel is both integrals.
func (s stream) fresnel(x0 val) (sin, cos val) {
	a := s.Min(s.Abs(x0), s.f(1e100))
	// The series in (pi*x*x/2)^2.
	near := s.Lt(a, s.f(fresnelNear))
	x := s.Min(a, s.f(fresnelNear))
	t := s.Mul(s.sq(x), s.f(math.Pi/2))
	tt := s.Neg(s.sq(t))
	cosSum, sinSum := s.f(0), s.f(0)
	factorial := 1.0
	var c, d [fresnelTerms]float64
	for k := range fresnelTerms {
		n := float64(2 * k)
		c[k], d[k] = 1/(factorial*(2*n+1)), 1/(factorial*(n+1)*(2*n+3))
		factorial *= (n + 1) * (n + 2)
	}
	for k := fresnelTerms - 1; k >= 0; k-- {
		cosSum, sinSum = s.Fma(cosSum, tt, s.f(c[k])), s.Fma(sinSum, tt, s.f(d[k]))
	}
	// Beyond.
	wave := s.fresnelWave(a)
	z := s.Mul(s.Min(s.Max(a, s.f(1)), s.f(1e17)), s.f(0.886226925452758))
	p := s.times(wave, s.wofzDiagonal(z, wave))
	q := number{s.Sub(s.f(1), p.re), s.Neg(p.im)}
	half := s.f(0.5)
	sin = s.Select(near, s.Mul(s.Mul(x, t), sinSum), s.Mul(half, s.Add(q.re, q.im)))
	cos = s.Select(near, s.Mul(x, cosSum), s.Mul(half, s.Sub(q.re, q.im)))
	far := s.Lt(s.f(1e17), a)
	side := withSign(s.bld, s.f(1), x0)
	part := func(y val) val { return s.checked(s.Eq(x0, x0), s.Mul(side, s.Select(far, half, y))) }
	return part(sin), part(cos)
}
