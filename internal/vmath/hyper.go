package vmath

import "weft/internal/loop"

// Tanh is the hyperbolic tangent.
func Tanh(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	if !f.wide {
		return f.tanh32(x)
	}
	// tanh a = (1-e)/(1+e) with e = exp(-2a)
	a := f.Min(f.c(20), f.Abs(x))
	e := f.reduce(f.Mul(a, f.c(-2)))
	tail := f.Fma(f.Mul(e.r, e.r), f.poly(e.r, expm164), f.low(e))
	s := f.pow2(f.Sub(e.bits, f.n(f.bias)))
	// n = 1-e and d = 2-n, each as a sum of two floats.
	one := f.Sub(f.c(1), s)
	n, nlo := f.fastSum(one, f.Neg(f.Mul(s, e.r)))
	nlo = f.Sub(nlo, f.Mul(s, tail))
	n, nlo = f.fastSum(n, nlo)
	d := f.Sub(f.c(2), n)
	dlo := f.Sub(f.Sub(f.Sub(f.c(2), d), n), nlo)
	inv := f.Div(f.c(1), d)
	q := f.Mul(n, inv)
	rem := f.Add(f.Fma(f.Neg(q), d, n), f.Fma(f.Neg(q), dlo, nlo))
	return f.withSign(f.Fma(rem, inv, q), f.sign(x))
}

// tanh32 is a polynomial for each of 16 intervals, which the upper bits of a sum tell.
// That is less than an exponential and a division, and the last sum is of a number that
// is all but exact (around zero the argument) and one that is some half of it at most.
func (f *form) tanh32(x loop.Value) loop.Value {
	a := f.Min(f.c(9.25), f.Abs(x))
	t := f.Add(a, f.c(0.625))
	i := f.ShrU(f.toInt(t), f.n(21))
	at := func(j int) loop.Value { return f.Lookup(tanh32[j], i) }
	r := f.Sub(a, at(0))
	last := len(tanh32) - 1
	p := at(last)
	for j := last - 1; j > 1; j-- {
		p = f.Fma(p, r, at(j))
	}
	y := f.Fma(p, r, f.Select(f.Lt(t, f.c(0.75)), a, at(1)))
	return f.withSign(y, f.sign(x))
}

// scales gives 2^(k-2) and 2^(-k-2), or zero where that is no normal number.
func (f *form) scales(e reduced) (up, down loop.Value) {
	up = f.pow2(f.Sub(e.bits, f.n(f.bias+2)))
	n := f.Sub(f.n(f.bitsOf(f.shift)+3*f.bias-2), e.bits) // bias - 2 - k
	return up, f.pow2(f.Max(n, f.n(0)))
}

// parts gives e^r - 1 - r (with low, what r lacks) and e^-r - 1 from the even and
// the odd part of e^r.
func (f *form) parts(r, odd, even, low loop.Value) (grow, shrink loop.Value) {
	return f.Add(even, f.Add(odd, low)), f.Sub(f.Sub(even, odd), r)
}

// Sinh is the hyperbolic sine.
func Sinh(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	a := f.Min(f.c(pick(f, 89.5, 710.5)), f.Abs(x))
	e := f.reduce(a)
	// sinh(k*ln2 + r) from the parts of e^r; below 1 as for k = 0.
	near := f.Lt(a, f.c(1))
	r := f.Select(near, a, e.r)
	z := f.Mul(r, r)
	odd := f.Mul(f.Mul(z, r), f.poly(z, pick(f, sinh32, sinh64)))
	even := f.Mul(z, f.poly(z, pick(f, cosh32, cosh64)))
	grow, shrink := f.parts(r, odd, even, f.low(e))
	up, down := f.scales(e)
	y := f.Fma(up, grow, f.Neg(f.Fma(down, shrink, down)))
	y = f.Add(up, f.Fma(up, r, y))
	y = f.Select(near, f.Add(r, odd), f.Add(y, y))
	return f.withSign(y, f.sign(x))
}

// Cosh is the hyperbolic cosine.
func Cosh(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	e := f.reduce(f.Min(f.c(pick(f, 89.5, 710.5)), f.Abs(x)))
	z := f.Mul(e.r, e.r)
	odd := f.Mul(f.Mul(z, e.r), f.poly(z, pick(f, sinhr32, sinhr64)))
	even := f.Mul(z, f.poly(z, pick(f, cosh32, cosh64)))
	grow, shrink := f.parts(e.r, odd, even, f.low(e))
	up, down := f.scales(e)
	y := f.Fma(up, grow, f.Fma(down, shrink, down))
	y = f.Add(up, f.Fma(up, e.r, y))
	return f.Add(y, y)
}
