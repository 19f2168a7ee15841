package vmath

import "weft/internal/loop"

// Cbrt is the cube root.
func Cbrt(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		a := f.Abs(x)
		tiny := f.Lt(a, f.c(f.minNormal()))
		u := f.Mul(a, f.Select(tiny, f.c(0x1p54), f.c(1)))
		k := f.Floor(f.Mul(f.Add(f.LogB(u), f.c(0.5)), f.c(1./3)))
		m := f.Mul(u, f.ScaleB(f.c(1), f.Mul(k, f.c(-3)))) // in [1, 8)
		// Halley's method, from two digits on: each step triples the number of correct digits.
		y := f.poly(m, []float64{0.6929, 0.352, -0.03983, 0.002045})
		two := f.Add(m, m)
		for range 2 {
			c := f.Mul(f.Mul(y, y), y)
			y = f.Mul(y, f.Div(f.Add(c, two), f.Add(f.Add(c, c), m)))
		}
		sq := f.Mul(y, y)
		rest := f.Fma(f.Neg(f.Fma(y, y, f.Neg(sq))), y, f.Fma(f.Neg(sq), y, m)) // m - y^3
		y = f.Add(y, f.Div(rest, f.Mul(sq, f.c(3))))
		y = f.Mul(y, f.ScaleB(f.c(1), f.Sub(k, f.Select(tiny, f.c(18), f.c(0)))))
		usual := f.And(f.Lt(f.c(0), a), f.Lt(a, f.inf()))
		return f.Select(usual, f.withSign(y, f.sign(x)), x)
	})
}
