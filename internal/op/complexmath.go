package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
)

// Functions of complex numbers, by formulas over real functions of their parts. Errors
// are a few units in the last place of the result's absolute value; a part that is much
// smaller than the other may lose digits, as in NumPy and PyTorch. Inverse functions
// follow W. Kahan, "Branch cuts for complex elementary functions" (1987), which keeps the
// sign of zero on the cuts.
func init() {
	for name, f := range map[string]func(z pair) pair{
		"exp": expPair, "log": logPair, "sqrt": sqrtPair,
		"log2":  func(z pair) pair { return scalePair(logPair(z), 1/math.Ln2) },
		"log10": func(z pair) pair { return scalePair(logPair(z), 1/math.Ln10) },
		"exp2":  func(z pair) pair { return expPair(scalePair(z, math.Ln2)) },
		"expm1": expm1Pair,
		"log1p": log1pPair,
		"sinc":  sincPair,
		"sinh":  sinhPair,
		"cosh":  coshPair,
		"tanh":  tanhPair,
		"sin":   func(z pair) pair { return timesMinusI(sinhPair(timesI(z))) },
		"cos":   func(z pair) pair { return coshPair(timesI(z)) },
		"tan":   func(z pair) pair { return timesMinusI(tanhPair(timesI(z))) },
		"asin":  asinPair,
		"acos":  acosPair,
		"atan":  func(z pair) pair { return timesMinusI(atanhPair(timesI(z))) },
		"asinh": func(z pair) pair { return timesMinusI(asinPair(timesI(z))) },
		"acosh": acoshPair,
		"atanh": atanhPair,
		"sign":  signPair,
		"sigmoid": func(z pair) pair {
			one := pair{num(z.re, 1), num(z.re, 0)}
			return divPairs(one, addPairs(one, expPair(pair{neg(z.re), neg(z.im)})))
		},
	} {
		complexForms[name] = pairs(func(x []pair) pair { return f(x[0]) })
	}
	complexForms["pow"] = pairs(func(x []pair) pair { return powPairs(x[0], x[1]) })
}

func addPairs(z, w pair) pair { return pair{add(z.re, w.re), add(z.im, w.im)} }

func scalePair(z pair, f float64) pair { return pair{scale(z.re, f), scale(z.im, f)} }

func timesI(z pair) pair { return pair{neg(z.im), z.re} }

func timesMinusI(z pair) pair { return pair{z.im, neg(z.re)} }

// equals holds where x equals a number.
func equals(x *node, f float64) *node { return apply(Eq, x, num(x, f)) }

// copySign is |x| with the sign of y, of 0 too.
func copySign(x, y *node) *node {
	return apply(copySignOf, x, y)
}

var copySignOf *Def

func init() {
	copySignOf = unlisted(Def{Name: "copysign of parts", Arity: 2,
		Elementwise: Elementwise{Cost: 3,
			Expr: func(b *bld, n *ir.Node, x []val) val { return withSign(b, b.Abs(x[0]), x[1]) }},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { // the sign of x turns where that of the result differs
				same := apply(Eq, v.Y, v.X[0])
				return where(same, v.DY, neg(v.DY))
			})
		}}})
}

// expPair takes a large power of e apart, since the cosine may bring it back into range.
func expPair(z pair) pair {
	most := 80.0
	if z.re.DType == array.Float64 {
		most = 700
	}
	big := apply(Gt, z.re, num(z.re, most))
	e := apply(Exp, where(big, sub(z.re, num(z.re, most)), z.re))
	up := where(big, num(z.re, math.Exp(most)), num(z.re, 1))
	part := func(f *Def) *node { return mul(mul(e, apply(f, z.im)), up) }
	// Nothing, or a real number, whatever the angle. Only what overflows is replaced by the real
	// number's part 0: the formula has the gradient elsewhere.
	none := equals(z.re, math.Inf(-1))
	re := where(none, num(z.re, 0), part(Cos))
	over := apply(IsInf, mul(e, up))
	im := where(none, num(z.re, 0), where(apply(LogicalAnd, over, equals(z.im, 0)), z.im, part(Sin)))
	endless := apply(LogicalAnd, equals(z.re, math.Inf(1)), apply(LogicalNot, apply(IsFinite, z.im)))
	return pair{where(endless, z.re, re), im}
}

// expm1Pair keeps the digits of a small z: exp(x)*cos(y)-1 is expm1(x)*cos(y) - 2*sin(y/2)^2.
func expm1Pair(z pair) pair {
	e := expPair(z)
	large := apply(Gt, z.re, num(z.re, 1))
	x := where(large, num(z.re, 0), z.re)
	half := apply(Sin, scale(z.im, 0.5))
	re := sub(mul(apply(Expm1, x), apply(Cos, z.im)), scale(mul(half, half), 2))
	return pair{where(large, sub(e.re, num(e.re, 1)), re), e.im}
}

// log1pPair takes the length of 1+z from its distance to 1 where z is small.
func log1pPair(z pair) pair {
	w := pair{add(z.re, num(z.re, 1)), z.im}
	small := apply(LogicalAnd, apply(Lt, apply(Abs, z.re), num(z.re, 0.5)), apply(Lt, apply(Abs, z.im), num(z.im, 0.5)))
	x, y := where(small, z.re, num(z.re, 0)), where(small, z.im, num(z.im, 0))
	l := logPair(pair{where(small, num(w.re, 1), w.re), where(small, num(w.im, 1), w.im)})
	near := scale(apply(Log1p, add(mul(x, add(x, num(x, 2))), mul(y, y))), 0.5)
	return pair{where(small, near, l.re), apply(Atan2, w.im, w.re)}
}

// sincPair is sin(pi*z)/(pi*z), near 0 its power series, whose derivatives have all digits too.
func sincPair(z pair) pair {
	near := apply(Lt, absPair(z), num(z.re, 0.5))
	far := pair{where(near, num(z.re, 1), z.re), where(near, num(z.im, 0), z.im)}
	whole := apply(Round, far.re)
	odd := apply(Ne, scale(apply(Floor, scale(whole, 0.5)), 2), whole)
	s := timesMinusI(sinhPair(timesI(scalePair(pair{sub(far.re, whole), far.im}, math.Pi))))
	s = divPairs(pair{where(odd, neg(s.re), s.re), where(odd, neg(s.im), s.im)}, scalePair(far, math.Pi))
	w := pair{where(near, z.re, num(z.re, 0)), where(near, z.im, num(z.im, 0))}
	w = scalePair(mulPairs(w, w), math.Pi*math.Pi)
	const terms = 12
	series := pair{num(z.re, 0), num(z.re, 0)}
	for k := terms; k >= 0; k-- { // the coefficient of w^k is (-1)^k/(2k+1)!
		c := 1 / math.Gamma(2*float64(k)+2)
		if k%2 == 1 {
			c = -c
		}
		series = addPairs(mulPairs(series, w), pair{num(z.re, c), num(z.re, 0)})
	}
	return pair{where(near, series.re, s.re), where(near, series.im, s.im)}
}

// logPair takes the logarithm of a length near 1 from its distance to 1.
func logPair(z pair) pair {
	// Order the parts by size. A select, unlike max and min, has gradients where the parts are
	// equal or one is 0.
	upright := apply(Lt, apply(Abs, z.re), apply(Abs, z.im))
	long, short := apply(Abs, where(upright, z.im, z.re)), where(upright, z.re, z.im)
	r := absPair(z)
	near := apply(LogicalAnd, apply(Gt, r, num(r, 0.7)), apply(Lt, r, num(r, 1.5)))
	d := add(mul(sub(long, num(r, 1)), add(long, num(r, 1))), mul(short, short))
	d = where(near, d, num(d, 0))
	re := where(near, scale(apply(Log1p, d), 0.5), apply(Log, where(near, num(r, 1), r)))
	return pair{re, apply(Atan2, z.im, z.re)}
}

// sqrtPair is the root in the right half plane.
func sqrtPair(z pair) pair {
	// An eighth and back: the sum of a length and a part must not overflow.
	right := apply(Ge, z.re, num(z.re, 0))
	small := scale(where(right, z.re, neg(z.re)), 0.125)
	t := apply(Sqrt, add(small, scale(absPair(z), 0.125))) // half the greater part
	zero := equals(t, 0)
	t = where(zero, num(t, 1), t)
	long := scale(t, 2)
	short := scale(div(z.im, t), 0.25)
	re := where(zero, num(t, 0), where(right, long, apply(Abs, short)))
	im := where(zero, z.im, where(right, short, copySign(long, z.im)))
	endless := equals(apply(Abs, z.im), math.Inf(1))
	back := equals(z.re, math.Inf(-1))
	re = where(endless, num(t, math.Inf(1)), where(back, where(apply(IsNaN, z.im), z.im, num(t, 0)), re))
	im = where(apply(LogicalOr, endless, back), copySign(num(t, math.Inf(1)), z.im), im)
	return pair{re, im}
}

func sinhPair(z pair) pair {
	return pair{mul(apply(Sinh, z.re), apply(Cos, z.im)), mul(apply(Cosh, z.re), apply(Sin, z.im))}
}

func coshPair(z pair) pair {
	return pair{mul(apply(Cosh, z.re), apply(Cos, z.im)), mul(apply(Sinh, z.re), apply(Sin, z.im))}
}

// tanhPair does without exponentials where they would overflow.
func tanhPair(z pair) pair {
	far := apply(Gt, apply(Abs, z.re), num(z.re, 20))
	a := where(far, num(z.re, 0), z.re)
	t := apply(Tan, z.im)
	beta := add(num(t, 1), mul(t, t))
	s := apply(Sinh, a)
	den := add(num(t, 1), mul(beta, mul(s, s)))
	re := div(mul(mul(beta, apply(Sqrt, add(num(s, 1), mul(s, s)))), s), den)
	im := div(t, den)
	one := copySign(num(z.re, 1), z.re)
	tail := mul(scale(mul(apply(Sin, z.im), apply(Cos, z.im)), 4), apply(Exp, scale(apply(Abs, z.re), -2)))
	return pair{where(far, one, re), where(far, tail, im)}
}

// asinhReal is the inverse hyperbolic sine of a real number.
func asinhReal(x *node) *node {
	a := copySign(x, num(x, 1)) // whose gradient is that of x also at 0
	huge := apply(Gt, a, num(a, 1e9))
	b := where(huge, num(a, 1), a)
	r := apply(Log1p, add(b, div(mul(b, b), add(num(b, 1), apply(Sqrt, add(mul(b, b), num(b, 1)))))))
	r = where(huge, add(apply(Log, where(huge, a, num(a, 1))), num(a, math.Ln2)), r)
	return copySign(r, x)
}

func roots(z pair, sign float64) (up, down pair) { // sqrt(z + sign), sqrt(z - sign)
	u := num(z.re, sign)
	return sqrtPair(pair{add(z.re, u), z.im}), sqrtPair(pair{sub(z.re, u), z.im})
}

func asinPair(z pair) pair {
	above := sqrtPair(pair{add(num(z.re, 1), z.re), z.im})
	below := sqrtPair(pair{sub(num(z.re, 1), z.re), neg(z.im)})
	re := apply(Atan2, z.re, sub(mul(above.re, below.re), mul(above.im, below.im)))
	im := sub(mul(below.re, above.im), mul(below.im, above.re)) // of conj(below)*above
	return pair{re, asinhReal(im)}
}

func acosPair(z pair) pair {
	above := sqrtPair(pair{add(num(z.re, 1), z.re), z.im})
	below := sqrtPair(pair{sub(num(z.re, 1), z.re), neg(z.im)})
	re := scale(apply(Atan2, below.re, above.re), 2)
	im := sub(mul(above.re, below.im), mul(above.im, below.re)) // of conj(above)*below
	return pair{re, asinhReal(im)}
}

func acoshPair(z pair) pair {
	up, down := roots(z, 1)
	re := add(mul(down.re, up.re), mul(down.im, up.im)) // of conj(down)*up
	return pair{asinhReal(re), scale(apply(Atan2, down.im, up.re), 2)}
}

func atanhPair(z pair) pair {
	a, b := z.re, z.im
	q := add(apply(Square, sub(num(a, 1), a)), mul(b, b))
	p := add(apply(Square, add(num(a, 1), a)), mul(b, b))
	// The logarithm of p/q by whichever way keeps digits.
	re := scale(where(apply(Lt, a, num(a, 0)), neg(apply(Log1p, div(scale(a, -4), p))), apply(Log1p, div(scale(a, 4), q))), 0.25)
	im := scale(apply(Atan2, scale(b, 2), sub(mul(sub(num(a, 1), a), add(num(a, 1), a)), mul(b, b))), 0.5)
	return pair{re, im}
}

// signPair is z over its length, 0 of 0.
func signPair(z pair) pair {
	r := absPair(z)
	zero := equals(r, 0)
	r = where(zero, num(r, 1), r)
	part := func(x *node) *node { return where(zero, copySign(num(x, 0), x), div(x, r)) } // a constant at 0
	return pair{part(z.re), part(z.im)}
}

// powPairs is exp(w*log(z)); 1 where w is 0, and 0 of 0 where w has a positive real part.
func powPairs(z, w pair) pair {
	zero := apply(LogicalAnd, equals(z.re, 0), equals(z.im, 0))
	l := logPair(pair{where(zero, num(z.re, 1), z.re), z.im})
	e := expPair(pair{sub(mul(w.re, l.re), mul(w.im, l.im)), add(mul(w.re, l.im), mul(w.im, l.re))})
	none := apply(LogicalAnd, equals(w.re, 0), equals(w.im, 0))
	vanish := apply(LogicalAnd, zero, apply(Gt, w.re, num(w.re, 0)))
	nan := apply(LogicalAnd, zero, apply(LogicalNot, apply(LogicalOr, none, vanish)))
	part := func(x *node, at0 float64) *node {
		x = where(nan, num(x, math.NaN()), where(vanish, num(x, 0), x))
		return where(none, num(x, at0), x)
	}
	return pair{part(e.re, 1), part(e.im, 0)}
}
