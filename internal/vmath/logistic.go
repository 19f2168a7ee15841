package vmath

import "weft/internal/loop"

// decay is e^-a for a >= 0, as (hi+lo)*s1*s2 with hi
// near 1.
func (f *form) decay(a loop.Value) (hi, lo, s1, s2 loop.Value) {
	e := f.reduce(f.Neg(f.Min(f.c(pick[float64](f, 150, 800)), a)))
	tail := f.Fma(f.Mul(e.r, e.r), f.poly(e.r, pick(f, exp32, exp64)), f.low(e))
	hi, lo = f.fastSum(f.c(1), e.r)
	hi, lo = f.fastSum(hi, f.Add(lo, tail))
	s1, s2 = f.halves(e.bits)
	return hi, lo, s1, s2
}

// sigmoid is 1/(1+e^-x) as (q+low)*s1*s2.
func (f *form) sigmoid(x loop.Value) (q, low, s1, s2 loop.Value) {
	hi, lo, s1, s2 := f.decay(f.Abs(x))
	ehi, elo := f.Mul(f.Mul(hi, s1), s2), f.Mul(f.Mul(lo, s1), s2)
	d, dlo := f.fastSum(f.c(1), ehi)
	dlo = f.Add(dlo, elo)
	neg := f.Lt(x, f.c(0))
	one := f.c(1)
	n := f.Select(neg, hi, one)
	nlo := f.Select(neg, lo, f.c(0))
	inv := f.Div(one, d)
	q = f.Mul(n, inv)
	rem := f.Add(f.Fma(f.Neg(q), d, n), f.Fma(f.Neg(q), dlo, nlo))
	return q, f.Mul(rem, inv), f.Select(neg, s1, one), f.Select(neg, s2, one)
}

// Sigmoid is 1/(1+e^-x).
func Sigmoid(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	q, low, s1, s2 := f.sigmoid(x)
	return f.Mul(f.Mul(f.Add(q, low), s1), s2)
}

// Silu is x/(1+e^-x). It is -0 at minus infinity.
func Silu(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	x = f.Max(f.c(pick[float64](f, -120, -760)), x)
	q, low, s1, s2 := f.sigmoid(x)
	p := f.Mul(x, q)
	y := f.Add(p, f.Fma(x, low, f.Fma(x, q, f.Neg(p))))
	y = f.withSign(f.Mul(f.Mul(y, s1), s2), f.sign(x)) // of a zero, which the sum loses
	return f.Select(f.Eq(x, f.inf()), x, y)
}

// Softplus is ln(1+e^x).
func Softplus(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	hi, lo, s1, s2 := f.decay(f.Abs(x))
	ehi, elo := f.Mul(f.Mul(hi, s1), s2), f.Mul(f.Mul(lo, s1), s2)
	// ln(1+ehi+elo), where elo counts with 1/(1+ehi), for which a line does.
	h, l := f.ln1pSum(ehi)
	l = f.Add(l, f.Fma(f.Mul(elo, f.c(-0.7)), ehi, elo))
	h, l = f.fastSum(h, l)
	// Knuth's sum with the linear part.
	m := f.Max(x, f.c(0))
	s := f.Add(m, h)
	v := f.Sub(s, m)
	err := f.Add(f.Sub(m, f.Sub(s, v)), f.Sub(h, v))
	y := f.Add(s, f.Add(err, l))
	return f.Select(f.Lt(f.c(pick[float64](f, 200, 1000)), x), x, y)
}
