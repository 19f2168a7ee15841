package vmath

import "weft/internal/loop"

// Inverse hyperbolic functions are logarithms of 1 + t. The second part tlo holds the bits that t
// lacks (double-float arithmetic). float32 is computed in float64, which needs no second part.

// ln1pLong returns ln(1+t+tlo) as ln1pSum gives it.
func (f *form) ln1pLong(t, tlo loop.Value) (hi, lo loop.Value) {
	hi, lo = f.ln1pSum(t)
	return hi, f.Add(lo, f.Div(tlo, f.Add(t, f.c(1))))
}

// twoSum returns a+b rounded, and the rounding error, for a and b in any order (Knuth's TwoSum).
func (f *form) twoSum(a, b loop.Value) (hi, lo loop.Value) {
	hi = f.Add(a, b)
	v := f.Sub(hi, a)
	return hi, f.Add(f.Sub(a, f.Sub(hi, v)), f.Sub(b, v))
}

// ln2Of returns y, but ln(2a) where a is large. Requires a of at least 0. Infinity and NaN stay.
func (f *form) ln2Of(a, y loop.Value) loop.Value {
	return f.rare(f.reaches(a, 0x1p28), y, func() loop.Value {
		ln := f.logNormal(&natural, f.Mul(a, f.c(0x1p-4)), f.c(5))
		return f.Select(f.Lt(a, f.inf()), ln, a)
	})
}

// Asinh is the inverse of the hyperbolic sine.
func Asinh(b *loop.Builder, x loop.Value) loop.Value {
	t := b.Type(x)
	f := formOf(b, loop.F64)
	x = b.Cvt(loop.F64, x)
	a := f.Abs(x)
	// asinh(a) = ln(1 + a + (sqrt(1+a^2) - 1)), the last term being a^2/(1 + sqrt(1+a^2)).
	c := f.Min(f.c(0x1p30), a) // beyond is ln2Of
	z := f.Mul(c, c)
	var hi, lo loop.Value
	if t == loop.F32 {
		hi, lo = f.ln1pSum(f.Add(c, f.Div(z, f.Add(f.c(1), f.Sqrt(f.Add(z, f.c(1)))))))
	} else {
		zlo := f.Fma(c, c, f.Neg(z))
		d, dlo := f.twoSum(z, f.c(1))
		s := f.Sqrt(d)
		slo := f.Div(f.Add(f.Fma(f.Neg(s), s, d), f.Add(dlo, zlo)), f.Add(s, s))
		den, denlo := f.fastSum(s, f.c(1))
		q := f.Div(z, den)
		qlo := f.Div(f.Add(f.Fma(f.Neg(q), den, z), f.Fma(f.Neg(q), f.Add(denlo, slo), zlo)), den)
		u, ulo := f.fastSum(c, q)
		hi, lo = f.ln1pLong(u, f.Add(ulo, qlo))
	}
	y := f.ln2Of(a, f.Add(hi, lo))
	return b.Cvt(t, f.withSign(y, f.sign(x)))
}

// Acosh is the inverse of the hyperbolic cosine, of 1 and more.
func Acosh(b *loop.Builder, x loop.Value) loop.Value {
	t := b.Type(x)
	f := formOf(b, loop.F64)
	x = b.Cvt(loop.F64, x)
	// acosh(x) = ln(1 + u + sqrt(u^2 + 2u)), u being x - 1.
	c := f.Max(f.c(1), f.Min(f.c(0x1p30), x))
	u, ulo := f.fastSum(c, f.c(-1))
	v, vlo := f.twoSum(u, f.c(2))
	p := f.Mul(u, v)
	s := f.Sqrt(p)
	var hi, lo loop.Value
	if t == loop.F32 {
		hi, lo = f.ln1pSum(f.Add(u, s))
	} else {
		plo := f.Fma(u, v, f.Neg(p))
		plo = f.Add(plo, f.Fma(u, vlo, f.Mul(ulo, f.Add(u, v))))
		slo := f.Div(f.Add(f.Fma(f.Neg(s), s, p), plo), f.Max(f.Add(s, s), f.c(0x1p-100)))
		w, wlo := f.fastSum(s, u)
		hi, lo = f.ln1pLong(w, f.Add(wlo, f.Add(slo, ulo)))
	}
	y := f.Select(f.Ge(x, f.c(1)), f.ln2Of(f.Abs(x), f.Add(hi, lo)), f.nan())
	return b.Cvt(t, y)
}

// Atanh is the inverse of the hyperbolic tangent.
func Atanh(b *loop.Builder, x loop.Value) loop.Value {
	t := b.Type(x)
	f := formOf(b, loop.F64)
	x = b.Cvt(loop.F64, x)
	a := f.Abs(x)
	// atanh(a) = ln(1 + 2a/(1-a))/2.
	c := f.Min(f.c(1-0x1p-53), a)
	two := f.Add(c, c)
	d, dlo := f.fastSum(f.c(1), f.Neg(c))
	q := f.Div(two, d)
	var hi, lo loop.Value
	if t == loop.F32 {
		hi, lo = f.ln1pSum(q)
	} else {
		hi, lo = f.ln1pLong(q, f.Div(f.Fma(f.Neg(q), dlo, f.Fma(f.Neg(q), d, two)), d))
	}
	y := f.Mul(f.Add(hi, lo), f.c(0.5))
	y = f.Select(f.Lt(a, f.c(1)), y, f.Select(f.Eq(a, f.c(1)), f.inf(), f.nan()))
	return b.Cvt(t, f.withSign(y, f.sign(x)))
}
