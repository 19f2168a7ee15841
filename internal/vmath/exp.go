package vmath

import "weft/internal/loop"

// ln(2) as a sum of two floats; the first has all its bits: with it the first
// step of the reduction is exact, because its result fits.
const (
	ln2Hi32 = 0x1.62e43p-1
	ln2Lo32 = -0x1.05c61p-29
	ln2Hi64 = 0x1.62e42fefa39efp-1
	ln2Lo64 = 0x1.abc9e3b39803fp-56
	log2E   = 0x1.71547652b82fep+0

	log2ELo32 = 0x1.4ae0cp-26 // its rounding error as a float32
)

// A reduced argument of an exponential: x = k*ln(2) + r.
type reduced struct {
	bits  loop.Value // k plus twice the bias, in the low bits
	k     loop.Value // as a float
	r, r1 loop.Value // r, and x - k*hi(ln 2)
}

// reduce takes the multiple of ln(2) nearest to x out of x.
func (f *form) reduce(x loop.Value) reduced {
	magic := f.c(f.shift + float64(2*f.bias))
	t := f.Fma(x, f.c(log2E), magic)
	k := f.Sub(t, magic)
	r1 := f.Fma(k, f.c(-pick(f, ln2Hi32, ln2Hi64)), x)
	r := f.Fma(k, f.c(-pick(f, ln2Lo32, ln2Lo64)), r1)
	return reduced{f.toInt(t), k, r, r1}
}

// low returns the rounding error of r.
func (f *form) low(e reduced) loop.Value {
	return f.Fma(e.k, f.c(-pick(f, ln2Lo32, ln2Lo64)), f.Sub(e.r1, e.r))
}

// halves returns two powers of two with product 2^k, both normal numbers.
func (f *form) halves(bits loop.Value) (s1, s2 loop.Value) {
	h := f.ShrU(bits, f.n(1)) // bias + floor(k/2)
	return f.pow2(h), f.pow2(f.Sub(bits, h))
}

// steps subtracts the nearest multiple k of 1/16 (float32) or 1/8 from s*x, and looks up
// 2^(k-floor(k)). In float32 the entries are slightly smaller, which exp2Rest32 corrects.
func (f *form) steps(x loop.Value, s float64) (k, power loop.Value) {
	magic := f.c(pick(f, 0x1.8p19, 0x1.8p49))
	n := f.Add(x, magic)
	if s != 1 {
		n = f.Fma(x, f.c(s), magic)
	}
	return f.Sub(n, magic), f.Lookup(pick(f, exp2Table32, exp2Table64), f.toInt(n))
}

// raised is power*(1+v)*2^floor(k).
func (f *form) raised(k, power, v loop.Value) loop.Value {
	return f.ScaleB(f.Fma(power, v, power), f.Floor(k))
}

// powerOf is e^(sign*x) as power*(1+v)*2^floor(k); sign is 1 or -1.
func (f *form) powerOf(x loop.Value, sign float64) (k, power, v loop.Value) {
	k, power = f.steps(x, sign*log2E)
	if !f.wide { // what is left, to base 2
		r := f.Fma(x, f.c(sign*log2ELo32), f.Fma(x, f.c(sign*log2E), f.Neg(k)))
		return k, power, f.poly(r, exp2Rest32)
	}
	if sign < 0 {
		x = f.Neg(x)
	}
	r := f.Fma(k, f.c(-ln2Lo64), f.Fma(k, f.c(-ln2Hi64), x))
	return k, power, f.Fma(f.Mul(r, r), f.poly(r, expRest64), r)
}

// Exp is e^x.
func Exp(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	least, sign := pick[float64](f, -104, -746), 1.0
	if f.signOf(x) < 0 {
		x, sign = f.Min(f.c(-least), f.opposite(x)), -1 // factors change their signs for nothing
	} else {
		x = f.clamp(x, least, pick[float64](f, 89, 710))
	}
	return f.raised(f.powerOf(x, sign))
}

// Exp2 is 2^x.
func Exp2(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	x = f.clamp(x, pick[float64](f, -151, -1076), pick[float64](f, 129, 1025))
	k, power := f.steps(x, 1)
	r := f.Sub(x, k)
	if !f.wide {
		return f.raised(k, power, f.poly(r, exp2Rest32))
	}
	return f.raised(k, power, f.Mul(r, f.poly(r, exp2Rest64)))
}

// Expm1 is e^x-1, accurate near zero.
func Expm1(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	s := f.sign(x)
	x = f.clamp(x, pick[float64](f, -18, -38), pick[float64](f, 89, 710))
	e := f.reduce(x)
	tail := f.Fma(f.Mul(e.r, e.r), f.poly(e.r, pick(f, expm132, expm164)), f.low(e))
	// 2^k e^r - 1 = s2*(s1*r + (s1 - 1/s2) + s1*tail)
	s1, s2 := f.halves(e.bits)
	inv := f.toFloat(f.Sub(f.n(2*f.bias<<f.mant), f.toInt(s2)))
	hi, lo := f.fastSum(f.Sub(s1, inv), f.Mul(s1, e.r))
	if !f.wide { // 2^12 - 2^-13 is the one difference whose rounding costs too much
		lo = f.Sub(lo, f.Add(f.Sub(f.Sub(s1, inv), s1), inv))
	}
	y := f.Mul(f.Add(hi, f.Fma(s1, tail, lo)), s2)
	return f.withSign(y, s)
}
