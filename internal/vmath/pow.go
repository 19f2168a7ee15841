package vmath

import (
	"math"

	"weft/internal/loop"
)

// PowInt is x^n for a constant n by a fixed chain of products: from the second
// highest bit of |n| down, square, then multiply by x where the bit is set. A
// negative n inverts the result; x^0 is 1.
func PowInt(b *loop.Builder, x loop.Value, n int) loop.Value {
	one := b.Number(b.Type(x), 1)
	if n == 0 {
		return one
	}
	m := uint64(n)
	if n < 0 {
		m = -m
	}
	y := x
	top := 63
	for m>>top == 0 {
		top--
	}
	for i := top - 1; i >= 0; i-- {
		y = b.Mul(y, y)
		if m>>i&1 == 1 {
			y = b.Mul(y, x)
		}
	}
	if n < 0 {
		y = b.Div(one, y)
	}
	return y
}

// Pow is x^y with the special cases of C99 Annex F. float32 is computed in
// float64.
func Pow(b *loop.Builder, x, y loop.Value) loop.Value {
	f := of(b, x)
	inf := f.inf()
	most := inf
	if f.wide {
		most = f.c(0x1p1022) // see split
	}
	ok := f.And(f.And(f.Le(f.c(f.minNormal()), x), f.Lt(x, most)), f.Lt(f.Abs(y), inf))
	return f.rare(f.Not(ok), f.powNormal(x, y, loop.NoValue), func() loop.Value { return f.powEdges(x, y) })
}

// powEdges is x^y for any x and y.
func (f *form) powEdges(x, y loop.Value) loop.Value {
	zero, one, inf := f.c(0), f.c(1), f.inf()
	a := f.Abs(x)
	u, by := f.scaled(a)
	r := f.powNormal(u, y, by)

	// Zero and infinite x, then infinite y: zero or infinity.
	edge := f.Or(f.Eq(a, zero), f.Eq(a, inf))
	grows := f.Xor(f.Eq(a, zero), f.Lt(zero, y))
	r = f.Select(edge, f.Select(grows, inf, zero), r)
	infY := f.Eq(f.Abs(y), inf)
	away := f.Xor(f.Lt(a, one), f.Lt(zero, y))
	r = f.Select(infY, f.Select(f.Eq(a, one), one, f.Select(away, inf, zero)), r)

	// Negative x.
	half := f.Mul(y, f.c(0.5))
	whole := f.Eq(f.Trunc(y), y)
	odd := f.And(whole, f.Ne(f.Trunc(half), half))
	r = f.Select(odd, f.withSign(r, f.sign(x)), r)
	bad := f.And(f.And(f.Lt(x, zero), f.Lt(f.c(math.Inf(-1)), x)), f.Not(whole))
	bad = f.Or(bad, f.Or(f.Ne(x, x), f.Ne(y, y)))
	r = f.Select(bad, f.nan(), r)
	return f.Select(f.Or(f.Eq(x, one), f.Eq(y, zero)), one, r)
}

// powNormal is (x*2^by)^y for positive normal x below 2^(bias-1) and finite y.
func (f *form) powNormal(x, y, by loop.Value) loop.Value {
	if f.wide {
		return f.pow64(x, y, by)
	}
	return f.pow32(x, y, by)
}

func (f *form) pow32(x, y, by loop.Value) loop.Value {
	g := formOf(f.Builder, loop.F64)
	x, y = g.Cvt(g.t, x), g.Cvt(g.t, y)
	if by != loop.NoValue {
		by = g.Cvt(g.t, by)
	}
	nk, m1 := g.normal(x, 0.75, by)
	p := g.clamp(g.Mul(y, g.Fma(m1, g.poly(m1, log2Short), g.Neg(nk))), -200, 200)
	magic := g.c(g.shift + float64(g.bias))
	t := g.Add(p, magic)
	r := g.Sub(p, g.Sub(t, magic))
	s := g.pow2(g.toInt(t))
	return f.Cvt(f.t, g.Fma(g.Mul(r, g.poly(r, exp2Short)), s, s))
}

// product is the product of two sums of two floats.
func (f *form) product(ah, al, bh, bl loop.Value) (hi, lo loop.Value) {
	hi = f.Mul(ah, bh)
	lo = f.Fma(ah, bh, f.Neg(hi))
	return hi, f.Fma(ah, bl, f.Fma(al, bh, lo))
}

// powLn is ln(x*2^by) as hi + lo with about 66 bits, for positive normal x below 2^(bias-1) of
// float64.
func (f *form) powLn(x, by loop.Value) (hi, lo loop.Value) {
	nk, m1 := f.normal(x, 0.75, by)
	// s = m1/(2+m1) and its square.
	d, dlo := f.fastSum(f.c(2), m1)
	inv := f.Div(f.c(1), d)
	s := f.Mul(m1, inv)
	slo := f.Mul(inv, f.Fma(f.Neg(s), dlo, f.Fma(f.Neg(s), d, m1)))
	z, zlo := f.product(s, slo, s, slo)
	// ln(1+m1) = 2s + s^3*(2/3 + s^2*...), all but the last term in two floats.
	c, clo := f.fastSum(f.c(2.0/3), f.Mul(z, f.poly(z, powLog)))
	clo = f.Add(clo, f.c(0x1.5555555555555p-55))
	w, wlo := f.product(z, zlo, s, slo)
	v, vlo := f.product(w, wlo, c, clo)
	h, l := f.fastSum(f.Add(s, s), v)
	l = f.Add(l, f.Add(f.Add(slo, slo), vlo))
	// Plus k*ln(2).
	top, lo := f.fastSum(f.Mul(nk, f.c(-natural.top[1])), h)
	l = f.Add(l, f.Fma(nk, f.c(-natural.end[1]), lo))
	return f.fastSum(top, l)
}

// expRest is e^(p+plo) as (1+w)*2^e.k. p is bounded to where the result overflows or vanishes.
func (f *form) expRest(p, plo loop.Value) (w loop.Value, e reduced) {
	q := f.clamp(p, -760, 720)
	plo = f.Select(f.Eq(p, q), plo, f.c(0))
	e = f.reduce(q)
	r := f.Add(e.r, f.Add(plo, f.low(e)))
	return f.Fma(f.Mul(r, r), f.poly(r, exp64), r), e
}

// expSum is e^(p+plo) as u*2^e.k, bounded as in expRest.
func (f *form) expSum(p, plo loop.Value) (u loop.Value, e reduced) {
	w, e := f.expRest(p, plo)
	return f.Add(w, f.c(1)), e
}

func (f *form) pow64(x, y, by loop.Value) loop.Value {
	h, l := f.powLn(x, by)
	// Times y, which far out only has to overflow or underflow.
	y = f.clamp(y, -0x1p65, 0x1p65)
	p := f.Mul(h, y)
	plo := f.Fma(h, y, f.Neg(p))
	u, e := f.expSum(p, f.Fma(l, y, plo))
	return f.ScaleB(u, e.k)
}
