package vmath

import "weft/internal/loop"

// Hypot is the length of the vector (x, y).
func Hypot(b *loop.Builder, x, y loop.Value) loop.Value {
	t := b.Type(x)
	f := formOf(b, loop.F64)
	x, y = f.Abs(b.Cvt(loop.F64, x)), f.Abs(b.Cvt(loop.F64, y))
	if t == loop.F32 { // squares neither overflow nor vanish in float64
		r := b.Cvt(t, f.Sqrt(f.Fma(x, x, f.Mul(y, y))))
		return infinite(f, b, t, x, y, r)
	}
	// The greater one is scaled to where its square is a normal number, and so is that of
	// the other one as far as it matters.
	most := f.Max(x, y)
	big, small := f.Lt(f.c(0x1p500), most), f.Lt(most, f.c(0x1p-450))
	up := f.Select(big, f.c(0x1p-600), f.Select(small, f.c(0x1p600), f.c(1)))
	down := f.Select(big, f.c(0x1p600), f.Select(small, f.c(0x1p-600), f.c(1)))
	greater, lesser := f.Mul(most, up), f.Mul(f.Min(x, y), up)
	r := f.Mul(f.Sqrt(f.Fma(greater, greater, f.Mul(lesser, lesser))), down)
	return infinite(f, b, t, x, y, r)
}

// infinite is r of type t, or infinity where x or y is, whatever the other one is.
func infinite(f *form, b *loop.Builder, t loop.Type, x, y, r loop.Value) loop.Value {
	either := f.Or(f.Eq(x, f.inf()), f.Eq(y, f.inf()))
	return b.Select(either, formOf(b, t).inf(), r)
}
