package vmath

import (
	"math"

	"weft/internal/loop"
)

// Half pi is a float and these.
const (
	halfPiLow32 = -0x1.777a5cp-25
	halfPiLow64 = 0x1.1a62633145c07p-54
)

// addHalfPis is n*pi/2 + x as hi + lo, for n*pi/2 >= |x| or n = 0.
func (f *form) addHalfPis(n, x loop.Value) (hi, lo loop.Value) {
	hi, lo = f.fastSum(f.Mul(n, f.c(math.Pi/2)), x)
	return hi, f.Fma(n, f.c(pick(f, halfPiLow32, halfPiLow64)), lo)
}

// arc holds what asin and acos share for a = |x|: with s = a up to 1/2 and
// s = sqrt((1-a)/2) beyond, s + tail is the arc sine of s.
type arc struct{ big, s, tail loop.Value }

func (f *form) arcOf(a loop.Value) arc {
	big := f.Lt(f.c(0.5), a)
	z := f.Select(big, f.Fma(a, f.c(-0.5), f.c(0.5)), f.Mul(a, a))
	root := f.Sqrt(z)
	s := f.Select(big, root, a)
	// What the root lacks; nothing where s is a.
	low := f.Div(f.Fma(f.Neg(root), root, z), f.Fma(root, f.c(2), f.c(f.minNormal())))
	low = f.Select(big, low, f.c(0))
	return arc{big, s, f.Fma(f.Mul(s, z), f.poly(z, pick(f, asin32, asin64)), low)}
}

// around is n*pi/2 + scale*(s+tail).
func (f *form) around(n, scale, s, tail loop.Value) loop.Value {
	hi, lo := f.addHalfPis(n, f.Mul(scale, s))
	return f.Add(hi, f.Fma(scale, tail, lo))
}

// Asin is the arc sine in radians; NaN beyond 1.
func Asin(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	r := f.arcOf(f.Abs(x))
	n := f.Select(r.big, f.c(1), f.c(0))
	scale := f.Select(r.big, f.c(-2), f.c(1))
	return f.withSign(f.around(n, scale, r.s, r.tail), f.sign(x))
}

// Acos is the arc cosine in radians; NaN beyond 1.
func Acos(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	r := f.arcOf(f.Abs(x))
	neg := f.Lt(x, f.c(0))
	n := f.Select(r.big, f.Select(neg, f.c(2), f.c(0)), f.c(1))
	scale := f.flip(f.Select(r.big, f.c(2), f.c(-1)), f.sign(x))
	return f.around(n, scale, r.s, r.tail)
}

// Atan is the arc tangent in radians.
func Atan(b *loop.Builder, x loop.Value) loop.Value {
	f := of(b, x)
	a := f.Abs(x)
	var n, q, low loop.Value
	if f.wide {
		// Around 0, 1 and infinity: atan a = pi/4 + atan((a-1)/(a+1)) = pi/2 - atan(1/a).
		mid := f.Lt(f.c(0x1.a827999fcef32p-2), a) // sqrt(2)-1
		far := f.Lt(f.c(0x1.3504f333f9de6p+1), a) // sqrt(2)+1
		num := f.Select(far, f.c(-1), f.Select(mid, f.Sub(a, f.c(1)), a))
		den := f.Select(far, a, f.Select(mid, f.Add(a, f.c(1)), f.c(1)))
		n = f.Select(far, f.c(1), f.Select(mid, f.c(0.5), f.c(0)))
		q = f.Div(num, den)
	} else {
		a = f.Min(f.c(0x1p99), a)
		far := f.Lt(f.c(1), a)
		n = f.Select(far, f.c(1), f.c(0))
		q = f.Div(f.c(-1), a)
		low = f.Select(far, f.Mul(q, f.Fma(q, a, f.c(1))), f.c(0)) // what it lacks
		q = f.Select(far, q, a)
	}
	z := f.Mul(q, q)
	p := f.poly(z, pick(f, atan32, atan64))
	cube := f.Mul(q, z)
	tail := f.Mul(cube, p)
	if !f.wide {
		// low counts with 1/(1+q^2), for which a line does; the rounding of the
		// cube counts only where q is near 1 and p is about -1/4.
		low = f.Fma(f.Mul(z, f.c(-0.5)), low, low)
		low = f.Fma(f.Fma(q, z, f.Neg(cube)), f.c(-0.25), low)
		tail = f.Fma(cube, p, low)
	}
	hi, lo := f.addHalfPis(n, q)
	return f.withSign(f.Add(hi, f.Add(tail, lo)), f.sign(x))
}

// Atan2 is the angle of the point (x, y) in radians, in [-pi, pi]. float32 is
// computed in float64.
func Atan2(b *loop.Builder, y, x loop.Value) loop.Value {
	f := formOf(b, loop.F64)
	t := b.Type(y)
	y, x = b.Cvt(loop.F64, y), b.Cvt(loop.F64, x)
	ay, ax := f.Abs(y), f.Abs(x)
	steep := f.Lt(ax, ay)
	num, den := f.Min(ay, ax), f.Max(ay, ax)
	ok := f.And(f.Lt(f.c(0x1p-900), den), f.Lt(den, f.c(0x1p1000)))
	v := f.If(ok, func() []loop.Value { return []loop.Value{num, den} }, func() []loop.Value {
		inf := f.Eq(den, f.inf())
		one, zero := f.c(1), f.c(0)
		scale := f.Select(f.Lt(den, one), f.c(0x1p100), f.c(0x1p-100))
		n := f.Select(inf, f.Select(f.Eq(num, f.inf()), one, zero), f.Mul(num, scale))
		d := f.Select(inf, one, f.Mul(den, scale))
		return []loop.Value{n, f.Select(f.Eq(d, zero), one, d)}
	})
	num, den = v[0], v[1]

	// The angle is eighths*pi/4 + turn*atan(q).
	eighths := f.c(0)
	coef := atan32
	if t == loop.F64 {
		coef = atan64
		mid := f.Lt(f.Mul(den, f.c(0x1.a827999fcef32p-2)), num)
		eighths = f.Select(mid, f.c(1), eighths)
		n := f.Select(mid, f.Sub(num, den), num)
		den = f.Select(mid, f.Add(num, den), den)
		num = n
	}
	q := f.Div(num, den)
	z := f.Mul(q, q)
	tail := f.Mul(f.Mul(q, z), f.poly(z, coef))
	left := f.Lt(f.toInt(x), f.n(0))
	eighths = f.Select(steep, f.Sub(f.c(2), eighths), eighths)
	eighths = f.Select(left, f.Sub(f.c(4), eighths), eighths)
	turn := f.Select(f.Xor(steep, left), f.c(-1), f.c(1))
	p := f.c(math.Pi / 4)
	c := f.Mul(eighths, p)
	clo := f.Fma(eighths, f.c(halfPiLow64/2), f.Fma(eighths, p, f.Neg(c)))
	hi, lo := f.fastSum(c, f.Mul(turn, q))
	r := f.Add(hi, f.Fma(turn, tail, f.Add(lo, clo)))
	return b.Cvt(t, f.withSign(r, f.sign(y)))
}
