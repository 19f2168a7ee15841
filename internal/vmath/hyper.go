package vmath

import "weft/internal/loop"

// Tanh is the hyperbolic tangent.
func Tanh(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	// tanh a = (1-e)/(1+e) with e = exp(-2a)
	a := f.Min(f.c(pick[float64](f, 10, 20)), f.Abs(x))
	e := f.reduce(f.Mul(a, f.c(-2)))
	tail := f.Fma(f.Mul(e.r, e.r), f.poly(e.r, pick(f, expm132, expm164)), f.low(e))
	s := f.pow2(f.Sub(e.bits, f.n(f.bias)))
	// n = 1-e and d = 2-n, each as a sum of two floats.
	n, nlo := f.fastSum(f.Sub(f.c(1), s), f.Neg(f.Mul(s, e.r)))
	nlo = f.Sub(nlo, f.Mul(s, tail))
	if !f.wide { // the rounding of 1-s counts
		nlo = f.Add(nlo, f.Sub(f.Sub(f.c(1), f.Sub(f.c(1), s)), s))
	}
	n, nlo = f.fastSum(n, nlo)
	d := f.Sub(f.c(2), n)
	dlo := f.Sub(f.Sub(f.Sub(f.c(2), d), n), nlo)
	inv := f.Div(f.c(1), d)
	q := f.Mul(n, inv)
	rem := f.Add(f.Fma(f.Neg(q), d, n), f.Fma(f.Neg(q), dlo, nlo))
	return f.withSign(f.Fma(rem, inv, q), f.sign(x))
}
