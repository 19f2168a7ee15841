package vmath

import (
	"math"

	"weft/internal/loop"
)

// Euler's number and its inverse in two floats.
const (
	eulerE, eulerELo = 0x1.5bf0a8b145769p+1, 0x1.4d57ee2b1013ap-53
	overE            = 0x1.78b56362cef38p-2
)

// lambertRound is a round of the iteration of F. N. Fritsch, R. E. Shafer, W. P. Crowley (Solution of the
// transcendental equation w*exp(w) = x, Comm. ACM 16, 1973), which has fourth order. x is multiplied by e^by
// before, if that is given.
func (f *form) lambertRound(x, by, w loop.Value) loop.Value {
	// z = ln(x/w) - w
	ln := Log(f.Builder, f.Div(x, w))
	if by != loop.NoValue {
		ln = f.Sub(ln, by)
	}
	z := f.Sub(ln, w)
	u := f.Add(w, f.c(1))
	q := f.Mul(f.Add(u, u), f.Fma(z, f.c(2./3), u))
	e := f.Div(f.Mul(z, f.Sub(q, z)), f.Mul(u, f.Fma(z, f.c(-2), q)))
	return f.Fma(w, e, w)
}

// LambertW is the principal branch of Lambert's function, the w of at least -1 with w*exp(w) = x: NaN below
// -1/e.
func LambertW(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value { return f.lambert(x, false) })
}

// LambertWMinus is the other real branch, the w of at most -1, for x from -1/e to 0: minus infinity at 0
// and NaN elsewhere.
func LambertWMinus(b *loop.Builder, x loop.Value) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value { return f.lambert(x, true) })
}

func (f *form) lambert(x loop.Value, minus bool) loop.Value {
	// By the branch point a polynomial in p = +-sqrt(2(e*x+1)).
	d := f.Fma(x, f.c(eulerELo), f.Fma(x, f.c(eulerE), f.c(1)))
	p := f.Sqrt(f.Max(f.c(0x1p-1000), f.Add(d, d)))
	if minus {
		p = f.Neg(p)
	}
	near := f.Fma(p, f.poly(f.clamp(p, -0.5, 0.5), lambertNear), f.c(-1))
	close := f.Lt(f.Abs(p), f.c(0.5))
	var w, c loop.Value
	by := loop.NoValue
	if minus {
		c = f.clamp(x, -0.33, -5e-324)
		l := Log(f.Builder, f.Neg(c))
		k := Log(f.Builder, f.Neg(l))
		r := f.Div(k, l)
		w = f.Add(f.Sub(l, k), f.Fma(r, f.c(1), f.Mul(f.Mul(r, f.Div(f.c(0.5), l)), f.Sub(k, f.c(2)))))
		w = f.Min(f.c(-1.4), w)
		// Denormal quotients would lose digits.
		tiny := f.Lt(f.c(-0x1p-900), c)
		c, by = f.Select(tiny, f.Mul(c, f.c(0x1p200)), c), f.Select(tiny, f.c(200*math.Ln2), f.c(0))
	} else {
		// S. Winitzki, Uniform approximations for transcendental functions (ICCSA 2003).
		c = f.clamp(x, -0.33, math.MaxFloat64)
		l := Log1p(f.Builder, c)
		w = f.Mul(l, f.Sub(f.c(1), f.Div(Log1p(f.Builder, l), f.Add(l, f.c(2)))))
		w = f.Max(f.c(-0.6), w)
	}
	w = f.lambertRound(c, by, w)
	w = f.lambertRound(c, by, w)
	if minus {
		w = f.lambertRound(c, by, w)
	}
	v := f.Select(close, near, w)
	// -1/e, rounded, lies a little below or above the branch point: there it is -1.
	v = f.Select(f.Eq(x, f.c(-overE)), f.c(-1), f.Select(f.Lt(x, f.c(-overE)), f.nan(), v))
	if minus {
		v = f.Select(f.Eq(x, f.c(0)), f.c(math.Inf(-1)), f.Select(f.Lt(f.c(0), x), f.nan(), v))
	} else {
		v = f.Select(f.Eq(x, f.inf()), x, v)
		v = f.Select(f.Lt(f.Abs(x), f.c(0x1p-60)), x, v)
	}
	return f.Select(f.Eq(x, x), v, x)
}
